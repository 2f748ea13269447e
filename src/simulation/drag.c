/* Viscosity between bodies and fluid: the fluid team solves for both (docs/numerics.md, section 15). As the
   faces of the fluid, the bodies enter with the acceleration of the last step and lose it again. */
#include "coupled_impl.h"

#include <millrace/constrained_faces.h>

PetscErrorCode SimulationConstrainViscosity(Simulation simulation, const PetscReal twists[], PetscReal dt)
{
  struct Coupled        *coupled = simulation->coupled;
  const FaceConstraints *constraints;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < coupled->count; n++)
    coupled->dragged[n] = twists[n] + dt * coupled->acceleration[n];
  PetscCall(CouplingGetConstraints(coupled->coupling, coupled->dragged, &constraints));
  PetscCall(FluidSetConstraints(simulation->fluid, constraints));
  PetscFunctionReturn(0);
}

void simulation_drag(Simulation simulation, const PetscReal before[], PetscReal dt, PetscReal after[])
{
  const struct Coupled *coupled = simulation->coupled;

  for (PetscInt n = 0; n < coupled->count; n++)
    after[n] = before[n] + (coupled->dragged[n] - (before[n] + dt * coupled->acceleration[n]));
}

PetscErrorCode SimulationTakeViscosity(Simulation simulation, const PetscReal before[], PetscReal dt,
                                       PetscReal twists[])
{
  struct Coupled *coupled = simulation->coupled;

  PetscFunctionBegin;
  if (simulation->fluid)
    PetscCall(FluidGetConstraintImpulses(simulation->fluid, coupled->viscous_impulses));
  PetscCall(SimulationBroadcastFromFluid(simulation, coupled->viscous_impulses, coupled->count, MPIU_REAL));
  PetscCall(SimulationBroadcastFromFluid(simulation, coupled->dragged, coupled->count, MPIU_REAL));
  for (PetscInt n = 0; n < coupled->count; n++)
    twists[n] += coupled->dragged[n] - (before[n] + dt * coupled->acceleration[n]);
  PetscFunctionReturn(0);
}
