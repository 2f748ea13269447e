/* The coupled system (5.13) of a step: all ranks set it up and solve it. A rank without fluid has a few rows
   at most and waits for the others. */
#include "coupled_impl.h"

PetscErrorCode SimulationCopyFaces(Simulation simulation, Vec from[DIM], Vec to[DIM])
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(simulation->grid)->dimension; d++)
    PetscCall(VecCopy(from[d], to[d]));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationSetUpSystem(Simulation simulation)
{
  FluidSystem system = {.density = 1.};

  PetscFunctionBegin;
  if (simulation->fluid)
    PetscCall(FluidGetSystem(simulation->fluid, &system));
  PetscCall(SimulationTimeAs(simulation, WAIT_FOR_FLUID));
  PetscCall(CouplingSetFluid(simulation->coupled->coupling, &system));
  PetscCall(SimulationTimeAs(simulation, OWN_WORK));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationSolveSystem(Simulation simulation, Vec faces[DIM], PetscReal twists[],
                                     PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;

  PetscFunctionBegin;
  PetscCall(SimulationTimeAs(simulation, WAIT_FOR_FLUID));
  PetscCall(CouplingSolve(coupled->coupling, faces, coupled->impulse, twists, &coupled->report));
  PetscCall(SimulationTimeAs(simulation, OWN_WORK));
  *good = coupled->report.reason > 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationProjectSystem(Simulation simulation, Vec faces[DIM], PetscReal twists[],
                                       PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;

  PetscFunctionBegin;
  PetscCall(SimulationTimeAs(simulation, WAIT_FOR_FLUID));
  PetscCall(CouplingProject(coupled->coupling, faces, coupled->impulse, twists, &coupled->report));
  PetscCall(SimulationTimeAs(simulation, OWN_WORK));
  *good = coupled->report.reason > 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}
