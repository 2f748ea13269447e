/* Incompressible FLIP, beside which the unilateral one is shown (Gerszewski 2014, 3.4): cells with a particle
   are liquid, the others hold p = 0, cells with their centre in an obstacle are closed, and the velocity of
   every liquid cell has no divergence:

     sum (P - P_n) = -dt/h sum u*,   u = u* - h/dt dP,   P = p dt^2 / (h^2 density)

   Faces of cells with their centre in a source have its velocity. */
#include "splash_impl.h"

static PetscErrorCode SetFixed(Splash splash)
{
  const GridBox   *box = grid_box(splash->grid);
  const PetscReal *solid;
  PetscReal       *fixed;
  ParticleView     view;

  PetscFunctionBegin;
  PetscCall(ParticlesGetView(splash->particles, &view));
  PetscCall(VecGetArrayRead(splash->solid, &solid));
  PetscCall(VecGetArray(splash->fixed, &fixed));
  FOR_NUMBERED_CELLS(box, tight, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    fixed[c] = view.first[tight + 1] == view.first[tight] && solid[c] == 0. ? 1. : 0.;
  }
  PetscCall(VecRestoreArray(splash->fixed, &fixed));
  PetscCall(VecRestoreArrayRead(splash->solid, &solid));
  PetscCall(MacGridExchange(splash->grid, splash->fixed));
  PetscFunctionReturn(0);
}

typedef struct {
  PetscReal *u[DIM], *old[DIM], *weights[DIM], *marks[DIM], *solid, *fixed, *held;
} BilateralFields;

static PetscErrorCode GetFields(Splash splash, BilateralFields *fields)
{
  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(splash->grid, splash->velocity, fields->u));
  PetscCall(MacGridGetFaces(splash->grid, splash->old, fields->old));
  PetscCall(MacGridGetFaces(splash->grid, splash->weights, fields->weights));
  PetscCall(MacGridGetFaces(splash->grid, splash->marks, fields->marks));
  PetscCall(VecGetArray(splash->solid, &fields->solid));
  PetscCall(VecGetArray(splash->fixed, &fields->fixed));
  PetscCall(VecGetArray(splash->held, &fields->held));
  PetscFunctionReturn(0);
}

static PetscErrorCode RestoreFields(Splash splash, BilateralFields *fields)
{
  PetscFunctionBegin;
  PetscCall(VecRestoreArray(splash->held, &fields->held));
  PetscCall(VecRestoreArray(splash->fixed, &fields->fixed));
  PetscCall(VecRestoreArray(splash->solid, &fields->solid));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->marks, fields->marks));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->weights, fields->weights));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->old, fields->old));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->velocity, fields->u));
  PetscFunctionReturn(0);
}

/* Whether the side lets liquid through; inside the box, whether neither cell is solid. */
static void set_face(const Splash splash, const BilateralFields *fields, PetscInt d, PetscInt at, PetscInt c,
                     PetscReal dt)
{
  const GridBox  *box = grid_box(splash->grid);
  const PetscInt  lower = c - box->stride[d];
  const PetscBool low_side = at == 0 && !box->periodic[d];
  const PetscBool high_side = at == box->cells[d] && !box->periodic[d];
  const PetscBool liquid_above = !high_side && fields->fixed[c] == 0. && fields->solid[c] == 0.;
  const PetscBool liquid_below = !low_side && fields->fixed[lower] == 0. && fields->solid[lower] == 0.;
  const PetscReal source = high_side ? fields->held[lower] : PetscMax(fields->held[c], fields->held[lower]);
  PetscReal       weight = low_side || high_side ? 2. : 1.;

  if ((low_side || high_side) && side_is_closed(splash, d, high_side))
    weight = 0.;
  if ((!high_side && fields->solid[c] > 0.) || (!low_side && fields->solid[lower] > 0.))
    weight = 0.;
  fields->weights[d][c] = source > 0. ? 0. : weight;
  fields->marks[d][c] = liquid_above || liquid_below || source > 0. ? 1. : 0.;
  fields->u[d][c] = weight > 0. ? fields->old[d][c] + dt * splash->fluid->gravity.at[d] : 0.;
  if (source > 0.)
    fields->u[d][c] = splash->config->sources[(PetscInt)source - 1].velocity.at[d];
}

static PetscErrorCode ForFaces(Splash splash, PetscReal dt,
                               void (*apply)(const Splash splash, const BilateralFields *fields, PetscInt d,
                                             PetscInt at, PetscInt c, PetscReal dt))
{
  const GridBox  *box = grid_box(splash->grid);
  BilateralFields fields;

  PetscFunctionBegin;
  PetscCall(GetFields(splash, &fields));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange faces = grid_faces(splash->grid, d);

    FOR_CELLS(&faces, i, j, k)
      apply(splash, &fields, d, d == X ? i : d == Y ? j : k, box_index(box, i, j, k), dt);
  }
  PetscCall(RestoreFields(splash, &fields));
  PetscCall(MacGridExchangeFaces(splash->grid, splash->velocity));
  PetscFunctionReturn(0);
}

static PetscErrorCode ApplyPressure(Splash splash, PetscReal dt)
{
  const GridBox  *box = grid_box(splash->grid);
  const PetscReal rate = grid_spacing(splash->grid) / dt;
  BilateralFields fields;
  PetscReal      *p;

  PetscFunctionBegin;
  PetscCall(GetFields(splash, &fields));
  PetscCall(VecGetArray(splash->impulse, &p));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange faces = grid_faces(splash->grid, d);

    box_subtract_gradient(box, &faces, d, rate, fields.weights[d], p, fields.u[d]);
  }
  PetscCall(VecRestoreArray(splash->impulse, &p));
  PetscCall(RestoreFields(splash, &fields));
  PetscFunctionReturn(0);
}

PetscErrorCode SplashProjectBilateral(Splash splash, PetscReal dt)
{
  const PetscReal scale = splash->fluid->density * PetscSqr(grid_spacing(splash->grid) / dt);

  PetscFunctionBegin;
  PetscCall(SetFixed(splash));
  PetscCall(ForFaces(splash, dt, set_face));
  PetscCall(PoissonSetWeights(splash->poisson, splash->weights, splash->fixed));
  PetscCall(PoissonSetTolerance(splash->poisson, splash->config->tolerance));
  PetscCall(MacGridDivergence(splash->grid, splash->velocity, splash->right_side));
  PetscCall(VecScale(splash->right_side, -dt));
  PetscCall(VecCopy(splash->pressure, splash->impulse));
  PetscCall(VecScale(splash->impulse, 1. / scale));
  PetscCall(PoissonSolve(splash->poisson, splash->right_side, splash->impulse, &splash->report.poisson));
  PetscCall(MacGridExchange(splash->grid, splash->impulse));
  PetscCall(ApplyPressure(splash, dt));
  PetscCall(VecCopy(splash->impulse, splash->pressure));
  PetscCall(VecScale(splash->pressure, scale));
  PetscFunctionReturn(0);
}
