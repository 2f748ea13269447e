/* Incompressibility: finds phi with div(dt/rho grad phi) = div u* and takes dt/rho grad phi off the velocity.
 */
#include "fluid_impl.h"

/* -rho h^2 / dt times the divergence: the right side for weights of one. */
static PetscErrorCode RightSide(Fluid fluid, Vec faces[DIM], PetscReal dt, Vec right_side)
{
  const PetscReal h = grid_spacing(fluid->grid);

  PetscFunctionBegin;
  PetscCall(VecSet(right_side, 0.));
  PetscCall(MacGridDivergence(fluid->grid, faces, right_side));
  PetscCall(VecScale(right_side, -fluid->config->density * h * h / dt));
  PetscCall(FluidClearSolids(fluid, right_side));
  PetscFunctionReturn(0);
}

/* p += phi - implicitness * viscosity * div u*, with div u* taken back from the right side. */
static PetscErrorCode UpdatePressure(Fluid fluid, Vec phi, Vec right_side, PetscReal dt,
                                     PetscReal implicitness)
{
  const PetscReal h = grid_spacing(fluid->grid);
  const PetscReal divergence = -dt / (fluid->config->density * h * h);

  PetscFunctionBegin;
  PetscCall(VecAXPBYPCZ(fluid->pressure, 1., -implicitness * fluid->config->viscosity * divergence, 1., phi,
                        right_side));
  PetscCall(FluidFillPressureGhosts(fluid, fluid->pressure));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidMakeDivergenceFree(Fluid fluid, Vec faces[DIM], PetscReal time, PetscReal dt,
                                       PetscReal implicitness, PetscBool *good)
{
  const PetscInt dimension = grid_box(fluid->grid)->dimension;
  const Vec      right_side = fluid->scratch[0], phi = fluid->scratch[1];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < dimension; d++) {
    PetscCall(FluidSetSideFaces(fluid, d, faces[d], time));
    PetscCall(FluidSetClosedFaces(fluid, d, faces[d]));
  }
  PetscCall(MacGridExchangeFaces(fluid->grid, faces));
  PetscCall(RightSide(fluid, faces, dt, right_side));
  PetscCall(VecSet(phi, 0.));
  PetscCall(PoissonSolve(fluid->poisson, right_side, phi, &fluid->report.pressure));
  *good = fluid->report.pressure.reason > 0 ? PETSC_TRUE : PETSC_FALSE;
  if (!*good)
    PetscFunctionReturn(0);
  PetscCall(FluidFillPressureGhosts(fluid, phi));
  for (PetscInt d = 0; d < dimension; d++)
    PetscCall(FluidSubtractGradient(fluid, d, phi, dt / fluid->config->density, faces[d]));
  PetscCall(UpdatePressure(fluid, phi, right_side, dt, implicitness));
  PetscCall(FluidFillVelocityGhosts(fluid, faces, time));
  PetscFunctionReturn(0);
}
