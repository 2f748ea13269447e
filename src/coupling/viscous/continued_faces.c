/* The velocity that advection reads on constrained faces of bodies that move (docs/numerics.md, section 15):
   with w = u - W V on an open face, theta from the surface, and f the way from the surface to the constrained
   face beyond it over that to the open one,

     u = W V - f max(-|V|, min(w, |V|)),   f = (1 - theta) / theta, or (1 - theta) / (1 + theta) from the next
   face,

   the mean over the axes along which there is one. */
#include "../coupling_impl.h"

/* The constrained and the open parts of one component, and who asks. */
typedef struct {
  Coupling         coupling;
  PetscInt         d, body;
  const PetscReal *twists, *open, *surfaces;
} Continuing;

static PetscReal velocity_at(const Continuing *by, PetscInt direction, const PetscInt at[DIM])
{
  const SolidRow row = solid_row_of_body(TWIST * by->body, direction,
                                         coupling_nearest_arm(by->coupling, by->d, at, by->body), 1.);

  return solid_row_velocity(&row, by->twists);
}

static PetscReal speed_at(const Continuing *by, const PetscInt at[DIM])
{
  PetscReal sum = 0.;

  for (PetscInt d = 0; d < grid_box(by->coupling->grid)->dimension; d++)
    sum += PetscSqr(velocity_at(by, d, at));
  return PetscSqrtReal(sum);
}

static void add_source(const Continuing *by, PetscInt a, PetscInt away, const PetscInt at[DIM],
                       PetscReal factor, ContinuedFace *continued)
{
  PetscInt place[DIM] = {at[X], at[Y], at[Z]};

  if (factor == 0.)
    return;
  place[a] += away;
  continued->from[continued->count] = continued->face + away * grid_box(by->coupling->grid)->stride[a];
  continued->factor[continued->count] = factor;
  continued->velocities[continued->count++] = velocity_at(by, by->d, place);
}

/* From the face beside it along axis a, if that is open, with a weight that vanishes before it is not. A face
   whose centre is near the surface says little about the slope: the next one takes its part. */
static PetscReal continue_along(const Continuing *by, PetscInt a, PetscInt side, const PetscInt at[DIM],
                                ContinuedFace *continued)
{
  const PetscInt  step = side * grid_box(by->coupling->grid)->stride[a], near = continued->face + step;
  const PetscReal theta = PetscMin(by->open[near] + by->open[continued->face] - 0.5, 1.);
  const PetscReal weight = PetscMax(by->open[near] - 0.5, PETSC_SMALL);
  PetscReal       part = PetscMax(0., PetscMin(2. * theta - 0.5, 1.));

  if (by->surfaces[near] != 0.)
    return 0.;
  if (by->surfaces[near + step] != 0.)
    part = 1.;
  add_source(by, a, side, at, weight * part * (1. - theta) / PetscMax(theta, 0.25), continued);
  add_source(by, a, 2 * side, at, weight * (1. - part) * (1. - theta) / (1. + theta), continued);
  return weight;
}

static void continue_face(const Continuing *by, ContinuedFace *continued)
{
  const GridBox *box = grid_box(by->coupling->grid);
  PetscReal      weight = 0.;
  PetscInt       at[DIM];

  box_at(box, continued->face, at);
  continued->velocity = velocity_at(by, by->d, at);
  continued->speed = speed_at(by, at);
  for (PetscInt a = 0; a < box->dimension && continued->speed > 0.; a++)
    for (PetscInt side = -1; side <= 1; side += 2)
      weight += continue_along(by, a, side, at, continued);
  for (PetscInt n = 0; n < continued->count; n++)
    continued->factor[n] /= weight;
}

static PetscErrorCode ContinueDirection(Continuing *by)
{
  ViscousConstraints *set = &by->coupling->viscous;
  PetscInt           *count = &set->continued.count[by->d];

  PetscFunctionBegin;
  *count = 0;
  for (PetscInt n = 0; n < set->lent.constrained_count[by->d]; n++) {
    ContinuedFace continued = {.face = set->constrained[by->d][n].face};

    by->body = (PetscInt)by->surfaces[continued.face] - 1;
    if (by->open[continued.face] >= CONSTRAINED_BELOW || coupling_is_feather(by->coupling, by->body))
      continue;
    continue_face(by, &continued);
    if (!continued.count)
      continue;
    PetscCall(GrowList(*count, &set->continued_room[by->d], &set->continued_faces[by->d]));
    set->continued_faces[by->d][(*count)++] = continued;
  }
  set->continued.faces[by->d] = set->continued_faces[by->d];
  PetscFunctionReturn(0);
}

static PetscBool any_moves(Coupling coupling, const PetscReal twists[])
{
  for (PetscInt n = 0; n < TWIST * (coupling->solids.count - coupling->deforming.total); n++)
    if (twists[n] != 0.)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscErrorCode CouplingContinueFaces(Coupling coupling, PetscReal twists[],
                                     const FaceContinuation **continuation)
{
  Continuing             by = {.coupling = coupling, .twists = twists};
  const FaceConstraints *constraints = &coupling->viscous.lent;

  PetscFunctionBegin;
  *continuation = NULL;
  if (!any_moves(coupling, twists))
    PetscFunctionReturn(0);
  if (!coupling->viscous.is_placed)
    PetscCall(CouplingGetConstraints(coupling, twists, &constraints));
  for (by.d = 0; by.d < grid_box(coupling->grid)->dimension; by.d++) {
    PetscCall(VecGetArrayRead(constraints->open[by.d], &by.open));
    PetscCall(VecGetArrayRead(constraints->surfaces[by.d], &by.surfaces));
    PetscCall(ContinueDirection(&by));
    PetscCall(VecRestoreArrayRead(constraints->surfaces[by.d], &by.surfaces));
    PetscCall(VecRestoreArrayRead(constraints->open[by.d], &by.open));
  }
  *continuation = &coupling->viscous.continued;
  PetscFunctionReturn(0);
}
