/* What the stresses of a mixture do to obstacles: each passes between two places, and one of them is a closed
   face. What the fluid loses, the obstacle gains. */
#include "stress_impl.h"

typedef struct {
  Fluid            fluid;
  const GridBox   *box;
  PetscReal       *u[DIM], *normal, *shear[DIM];
  PetscReal       *given_normal[DIM], *given_shear[DIM]; /* null where no stress is given */
  PetscReal        share;                                /* of a given one: area over that of what follows */
  const PetscReal *solid;
} Stressed;

/* A stress that is given passes where the viscous one does. */
static PetscReal given_part(const Stressed *stressed, const PetscReal *given, const PetscReal *passes,
                            PetscInt c)
{
  return given && passes[c] > 0. ? stressed->share * given[c] : 0.;
}

/* Pull on closed face c of direction d by the stress in the fluid cell beside it. */
static PetscReal normal_pull(const Stressed *stressed, PetscInt d, PetscInt c)
{
  const PetscInt   back = stressed->box->stride[d];
  const PetscReal *u = stressed->u[d];

  if (stressed->solid[c] <= 0.)
    return stressed->normal[c] * (u[c + back] - u[c]) +
           given_part(stressed, stressed->given_normal[d], stressed->normal, c);
  if (stressed->solid[c - back] <= 0.)
    return -stressed->normal[c - back] * (u[c] - u[c - back]) -
           given_part(stressed, stressed->given_normal[d], stressed->normal, c - back);
  return 0.;
}

/* Pull on closed face c of direction d from the face one step along axis a. */
static PetscReal shear_pull(const Stressed *stressed, PetscInt d, PetscInt c, PetscInt a, PetscInt step)
{
  const PetscInt   along = stressed->box->stride[d], across = stressed->box->stride[a];
  const PetscInt   edge = step > 0 ? c + across : c;
  const PetscInt   e = X + Y + Z - a - d;
  const PetscReal *u = stressed->u[d], *v = stressed->u[a];

  return step * (stressed->shear[e][edge] * (u[edge] - u[edge - across] + v[edge] - v[edge - along]) +
                 given_part(stressed, stressed->given_shear[e], stressed->shear[e], edge));
}

static void add_forces(const Stressed *stressed, PetscInt d, PetscReal *forces)
{
  const Fluid fluid = stressed->fluid;

  for (PetscInt n = 0; n < fluid->closed_count[d]; n++) {
    const PetscInt c = fluid->closed[d][n], obstacle = obstacle_at(fluid, stressed->solid, d, c);

    if (obstacle < 0)
      continue;
    forces[DIM * obstacle + d] += normal_pull(stressed, d, c);
    for (PetscInt a = 0; a < stressed->box->dimension; a++)
      for (PetscInt step = -1; step <= 1; step += 2)
        if (a != d && has_free_neighbour(fluid, stressed->solid, d, c, a, step))
          forces[DIM * obstacle + d] += shear_pull(stressed, d, c, a, step);
  }
  for (PetscInt n = 0; n < fluid->no_slip_count[d]; n++) {
    const NoSlipPair pair = fluid->no_slip_pairs[d][n];
    PetscInt         edge;
    const PetscInt   e = no_slip_edge(stressed->box, d, pair, &edge);

    forces[DIM * obstacle_at(fluid, stressed->solid, d, pair.inside) + d] +=
        stressed->shear[e][edge] * (stressed->u[d][pair.face] - stressed->u[d][pair.inside]);
  }
}

static PetscErrorCode GetGiven(Fluid fluid, Stressed *stressed)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++) {
    if (fluid->mixture->stress[d])
      PetscCall(VecGetArray(fluid->mixture->stress[d], &stressed->given_normal[d]));
    if (fluid->mixture->stress[DIM + d])
      PetscCall(VecGetArray(fluid->mixture->stress[DIM + d], &stressed->given_shear[d]));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode RestoreGiven(Fluid fluid, Stressed *stressed)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++) {
    if (fluid->mixture->stress[d])
      PetscCall(VecRestoreArray(fluid->mixture->stress[d], &stressed->given_normal[d]));
    if (fluid->mixture->stress[DIM + d])
      PetscCall(VecRestoreArray(fluid->mixture->stress[DIM + d], &stressed->given_shear[d]));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode FluidAddStressForces(Fluid fluid, PetscReal *forces)
{
  const PetscReal h = grid_spacing(fluid->grid);
  const PetscInt  dimension = grid_box(fluid->grid)->dimension;
  const PetscReal scale = dimension == 3 ? h : 1.; /* area over spacing */
  Stressed        stressed = {.fluid = fluid, .box = grid_box(fluid->grid), .share = scale * h};
  StressLevel    *stress;

  PetscFunctionBegin;
  if (!fluid->is_viscous)
    PetscFunctionReturn(0);
  PetscCall(FluidSetUpStress(fluid, scale * h * h)); /* coefficients are viscosities times `scale` */
  stress = &fluid->stress->levels[0];
  PetscCall(VecGetArrayRead(fluid->solid, &stressed.solid));
  PetscCall(MacGridGetFaces(fluid->grid, fluid->velocity, stressed.u));
  PetscCall(VecGetArray(stress->normal, &stressed.normal));
  for (PetscInt e = dimension == 2 ? Z : X; e < DIM; e++)
    PetscCall(VecGetArray(stress->shear[e], &stressed.shear[e]));
  PetscCall(GetGiven(fluid, &stressed));
  for (PetscInt d = 0; d < dimension; d++)
    add_forces(&stressed, d, forces);
  PetscCall(RestoreGiven(fluid, &stressed));
  for (PetscInt e = dimension == 2 ? Z : X; e < DIM; e++)
    PetscCall(VecRestoreArray(stress->shear[e], &stressed.shear[e]));
  PetscCall(VecRestoreArray(stress->normal, &stressed.normal));
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->velocity, stressed.u));
  PetscCall(VecRestoreArrayRead(fluid->solid, &stressed.solid));
  PetscFunctionReturn(0);
}
