/* The fluid's part of a coupled step (docs/numerics.md, section 15). */
#include "fluid_impl.h"

#include <millrace/fluid_step.h>

PetscErrorCode FluidSetCovered(Fluid fluid, Vec covered)
{
  PetscFunctionBegin;
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
                          any ? fluid->hollow : NULL};
  PetscFunctionReturn(0);
}

PetscErrorCode FluidActWithoutAdvection(Fluid fluid, PetscReal dt, ViscosityUse viscosity, Vec faces[DIM])
{
  PetscFunctionBegin;
  fluid->report.diffusion_converged = PETSC_TRUE;
  PetscCall(FluidRefreshMixture(fluid));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(VecCopy(fluid->velocity[d], faces[d]));
  if (viscosity == VISCOSITY_ACTS)
    PetscCall(FluidDiffuseAccelerated(fluid, dt, faces));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(FluidAddForces(fluid, d, fluid->scalars, faces[d], fluid->time, dt));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidSetAdvecting(Fluid fluid, Vec faces[DIM])
{
  PetscFunctionBegin;
  if (!faces) {
    PetscCall(MacGridDestroyFaceField(fluid->diversion));
    PetscFunctionReturn(0);
  }
  if (!fluid->diversion[X])
    PetscCall(MacGridCreateFaceField(fluid->grid, fluid->diversion));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(VecWAXPY(fluid->diversion[d], -1., fluid->velocity[d], faces[d]));
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
