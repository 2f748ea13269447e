/* Stresses that are given within a step, as those of elasticity (docs/numerics.md, 13a): each pulls at the
   faces whose differences the viscous stress at its place is made of, and passes where that one does. */
#include "stress_impl.h"

/* What acts on the faces of one direction. */
typedef struct {
  const GridBox   *box;
  PetscInt         d;
  const PetscReal *mass, *normal_passes, *normal;
  const PetscReal *shear_passes[DIM], *shear[DIM]; /* by the direction of the edge */
} GivenStress;

static PetscReal passing(const PetscReal *passes, const PetscReal *stress, PetscInt c)
{
  return passes[c] > 0. ? stress[c] : 0.;
}

/* Per area. */
static PetscReal pull(const GivenStress *given, PetscInt c)
{
  const PetscInt along = given->box->stride[given->d];
  PetscReal      sum = passing(given->normal_passes, given->normal, c) -
                  passing(given->normal_passes, given->normal, c - along);

  for (PetscInt a = 0; a < given->box->dimension; a++) {
    const PetscInt e = X + Y + Z - a - given->d, across = given->box->stride[a];

    if (a != given->d)
      sum += passing(given->shear_passes[e], given->shear[e], c + across) -
             passing(given->shear_passes[e], given->shear[e], c);
  }
  return sum;
}

/* Faces that move with solids keep it for these. */
static PetscErrorCode PullFaces(Fluid fluid, PetscInt d, PetscReal dt, GivenStress *given, Vec faces)
{
  const FaceConstraints *constraints = fluid->constraints;
  const GridRange        range = free_faces(fluid, d);
  const PetscReal        scale = dt / grid_spacing(fluid->grid), *surfaces = NULL;
  StressLevel           *level = &fluid->stress->levels[0];
  PetscReal             *u, *pulled;

  PetscFunctionBegin;
  given->d = d;
  PetscCall(VecGetArrayRead(level->mass[d], &given->mass));
  PetscCall(VecGetArrayRead(fluid->mixture->stress[d], &given->normal));
  if (constraints)
    PetscCall(VecGetArrayRead(constraints->surfaces[d], &surfaces));
  PetscCall(VecGetArray(fluid->stress->pull[d], &pulled));
  PetscCall(VecGetArray(faces, &u));
  FOR_CELLS(&range, i, j, k) {
    const PetscInt c = box_index(given->box, i, j, k);

    pulled[c] = scale * pull(given, c);
    if (given->mass[c] > 0. && !(surfaces && surfaces[c] > 0.))
      u[c] += pulled[c] / given->mass[c];
  }
  for (PetscInt n = 0; constraints && n < constraints->neighbour_count[d]; n++) {
    const PetscInt  c = constraints->wall_neighbours[d][n].face;
    const PetscReal reach = fluid->stress->unknowns.reach[d][n];

    if (reach < 1. && given->mass[c] > 0.) /* the mass was only that part of the face's */
      u[c] -= (1. - reach) * pulled[c] / given->mass[c];
  }
  PetscCall(VecRestoreArray(faces, &u));
  PetscCall(VecRestoreArray(fluid->stress->pull[d], &pulled));
  if (constraints)
    PetscCall(VecRestoreArrayRead(constraints->surfaces[d], &surfaces));
  PetscCall(VecRestoreArrayRead(fluid->mixture->stress[d], &given->normal));
  PetscCall(VecRestoreArrayRead(level->mass[d], &given->mass));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidPullFaces(Fluid fluid, PetscReal dt, Vec faces[DIM])
{
  const PetscInt dimension = grid_box(fluid->grid)->dimension, first_edge = dimension == 2 ? Z : X;
  GivenStress    given = {.box = grid_box(fluid->grid)};
  StressLevel   *level;

  PetscFunctionBegin;
  PetscCall(FluidRefreshMixture(fluid));
  if (!fluid->mixture->stress[X] || !fluid->is_viscous)
    PetscFunctionReturn(0);
  PetscCall(FluidSetUpStress(fluid, dt));
  if (!fluid->stress->pull[X])
    PetscCall(MacGridCreateFaceField(fluid->grid, fluid->stress->pull));
  fluid->stress->pulls = PETSC_TRUE;
  level = &fluid->stress->levels[0];
  PetscCall(VecGetArrayRead(level->normal, &given.normal_passes));
  for (PetscInt e = first_edge; e < DIM; e++) {
    PetscCall(VecGetArrayRead(level->shear[e], &given.shear_passes[e]));
    PetscCall(VecGetArrayRead(fluid->mixture->stress[DIM + e], &given.shear[e]));
  }
  for (PetscInt d = 0; d < dimension; d++)
    PetscCall(PullFaces(fluid, d, dt, &given, faces[d]));
  for (PetscInt e = first_edge; e < DIM; e++) {
    PetscCall(VecRestoreArrayRead(fluid->mixture->stress[DIM + e], &given.shear[e]));
    PetscCall(VecRestoreArrayRead(level->shear[e], &given.shear_passes[e]));
  }
  PetscCall(VecRestoreArrayRead(level->normal, &given.normal_passes));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidPredictStress(Fluid fluid, PetscReal dt)
{
  PetscFunctionBegin;
  PetscCall(FluidPullFaces(fluid, dt, fluid->next));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidCarryCells(Fluid fluid, PetscReal dt, const unsigned char *marks, PetscInt count,
                               Vec fields[])
{
  const AdvectedField carried = {CELL_VALUES, NO_SCALAR, dt, marks};

  PetscFunctionBegin;
  if (count && fluid->group_count && !fluid->config->scalar_count) /* else they are known */
    PetscCall(FluidTraceTrajectories(fluid, dt, marks));
  for (PetscInt n = 0; n < count; n++)
    PetscCall(FluidAdvect(fluid, &carried, &fields[n]));
  PetscFunctionReturn(0);
}
