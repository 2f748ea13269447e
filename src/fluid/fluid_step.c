/* The fluid's part of a coupled step (docs/numerics.md, section 15). */
#include "fluid_impl.h"

#include <millrace/fluid_step.h>

PetscErrorCode FluidSetCovered(Fluid fluid, Vec covered, PetscInt count, const PetscBool slips[])
{
  PetscFunctionBegin;
  PetscCall(FluidSetSlips(fluid, count, slips));
  if (!fluid->covered)
    PetscCall(MacGridCreateField(fluid->grid, &fluid->covered));
  PetscCall(VecCopy(covered, fluid->covered));
  PetscCall(FluidFillPressureGhosts(fluid, fluid->covered));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetSystem(Fluid fluid, FluidSystem *system)
{
  PetscBool any;

  PetscFunctionBegin;
  if (!fluid->weights[X])
    PetscCall(MacGridCreateFaceField(fluid->grid, fluid->weights));
  PetscCall(FluidWeighMixture(fluid, fluid->weights, &any));
  *system = (FluidSystem){fluid->reference_density, fluid->weights, fluid->mixture->density,
                          any ? fluid->voids : NULL, fluid->mixture->expansion};
  PetscFunctionReturn(0);
}

/* The least of gravity's potential on the open sides, at their highest place. */
static PetscReal least_potential(Fluid fluid)
{
  const Vector3   gravity = fluid->config->gravity, low = grid_origin(fluid->grid);
  const GridBox  *box = grid_box(fluid->grid);
  const PetscReal h = grid_spacing(fluid->grid);
  PetscReal       least = PETSC_MAX_REAL;

  for (PetscInt side = 0; side < 2 * box->dimension; side++) {
    const PetscInt d = side / 2;
    PetscReal      sum = gravity.at[d] * (low.at[d] + (side % 2 ? box->cells[d] * h : 0.));

    if (box->periodic[d] || fluid->config->sides[d][side % 2].kind != SIDE_OPEN)
      continue;
    for (PetscInt a = 0; a < box->dimension; a++)
      if (a != d)
        sum += PetscMin(gravity.at[a] * low.at[a], gravity.at[a] * (low.at[a] + box->cells[a] * h));
    least = PetscMin(least, sum);
  }
  return least;
}

/* The pressure on an open side. */
typedef struct {
  OuterDensity     outer;
  Vector3          gravity;
  PetscReal        zero; /* potential of gravity at which it is zero */
  const PetscReal *u;    /* through the side, where what flows in loses head; else null */
} SidePressure;

static PetscReal pressure_on_side(const SidePressure *side, Vector3 point, PetscReal into)
{
  const PetscReal depth = vector3_dot(side->gravity, point) - side->zero; /* times gravity */
  const PetscReal density = depth < 0. ? side->outer.above : side->outer.density;

  return density * (depth - (into > 0. ? 0.5 * into * into : 0.));
}

/* Half a cell beyond the side lies 2 p - p_inside, with p the pressure on it: a jump of 2 p beside the
   -p_inside of a side without pressure. */
static PetscErrorCode BalanceSide(Fluid fluid, PetscInt d, PetscInt side, const SidePressure *pressure,
                                  Vec jump)
{
  const GridBox  *box = grid_box(fluid->grid);
  const GridRange layer = layer_at(box, d, side ? box->cells[d] : 0);
  PetscReal      *values;

  PetscFunctionBegin;
  PetscCall(VecGetArray(jump, &values));
  FOR_CELLS(&layer, i, j, k) {
    const PetscInt  c = box_index(box, i, j, k);
    const PetscReal into = pressure->u ? (side ? -1. : 1.) * pressure->u[c] : 0.;

    values[c] =
        (side ? -2. : 2.) * pressure_on_side(pressure, grid_face_centre(fluid->grid, d, i, j, k), into);
  }
  PetscCall(VecRestoreArray(jump, &values));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidBalanceOpenSides(Fluid fluid, const OuterDensities outer, InflowHead head, Vec jump[DIM])
{
  const GridBox  *box = grid_box(fluid->grid);
  const PetscReal least = least_potential(fluid);
  SidePressure    pressure = {.gravity = fluid->config->gravity};

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 2 * box->dimension; n++) {
    const PetscInt    d = n / 2, side = n % 2;
    const SideConfig *config = &fluid->config->sides[d][side];

    if (!touches_side(box, d, side) || config->kind != SIDE_OPEN)
      continue;
    pressure.outer = outer[d][side];
    pressure.zero = side_has_level(config) ? -vector3_norm(pressure.gravity) * config->level : least;
    if (head == INFLOW_COSTS_HEAD)
      PetscCall(VecGetArrayRead(fluid->velocity[d], &pressure.u));
    PetscCall(BalanceSide(fluid, d, side, &pressure, jump[d]));
    if (head == INFLOW_COSTS_HEAD)
      PetscCall(VecRestoreArrayRead(fluid->velocity[d], &pressure.u));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode FluidActWithoutAdvection(Fluid fluid, PetscReal dt, ViscosityUse viscosity, Vec faces[DIM])
{
  PetscFunctionBegin;
  fluid->report.diffusion_converged = PETSC_TRUE;
  PetscCall(FluidRefreshMixture(fluid));
  PetscCall(FluidUpdateConfinement(fluid));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(VecCopy(fluid->velocity[d], faces[d]));
  if (viscosity == VISCOSITY_ACTS) {
    if (fluid->mixture)
      PetscCall(FluidPullFaces(fluid, dt, faces));
    PetscCall(FluidDiffuseAccelerated(fluid, dt, 1., faces));
  }
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(FluidAddForces(fluid, d, fluid->scalars, faces[d], fluid->time, dt));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetAdvected(Fluid fluid, PetscInt group, Vec **velocity, Vec **advected)
{
  const PetscBool grouped = fluid_group_count(fluid) ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  *velocity = fluid->velocity;
  if (grouped)
    PetscCall(FluidGetGroupVelocity(fluid, group, velocity));
  *advected = grouped ? fluid->groups[group].advected : fluid->advected;
  if (fluid->advected_over <= 0.)
    *advected = NULL;
  PetscFunctionReturn(0);
}

PetscErrorCode FluidSetAdvecting(Fluid fluid, Vec faces[DIM])
{
  PetscFunctionBegin;
  if (!faces) {
    PetscCall(MacGridDestroyFaceField(fluid->leak_proof_correction));
    PetscFunctionReturn(0);
  }
  if (!fluid->leak_proof_correction[X])
    PetscCall(MacGridCreateFaceField(fluid->grid, fluid->leak_proof_correction));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(VecWAXPY(fluid->leak_proof_correction[d], -1., fluid->velocity[d], faces[d]));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetImpulse(Fluid fluid, PetscReal dt, Vec impulse)
{
  PetscFunctionBegin;
  PetscCall(VecCopy(fluid->pressure, impulse));
  PetscCall(VecScale(impulse, dt));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidTakeImpulse(Fluid fluid, PetscReal dt, Vec impulse)
{
  PetscFunctionBegin;
  PetscCall(VecCopy(impulse, fluid->pressure));
  PetscCall(VecScale(fluid->pressure, 1. / dt));
  PetscCall(FluidFillPressureGhosts(fluid, fluid->pressure));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetAcceleration(Fluid fluid, Vec **faces)
{
  PetscFunctionBegin;
  *faces = fluid->is_viscous ? fluid->acceleration : NULL;
  PetscFunctionReturn(0);
}
