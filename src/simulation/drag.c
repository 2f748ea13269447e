/* Viscosity between solids and fluid: the fluid team solves for both (docs/numerics.md, section 15). As the
   faces of the fluid, bodies and points of meshes enter with the acceleration of the last step and lose it
   again. */
#include "coupled_impl.h"

#include <millrace/constrained_faces.h>

/* Velocities of bodies, and behind them of points, that viscosity acts on over dt. */
static PetscErrorCode GetStart(Simulation simulation, PetscReal dt, PetscReal start[])
{
  const struct Coupled *coupled = simulation->coupled;
  PetscReal            *twists, *velocities;

  PetscFunctionBegin;
  PetscCall(SimulationGetTwists(simulation, &twists));
  PetscCall(SimulationGetPointVelocities(simulation, &velocities));
  for (PetscInt n = 0; n < coupled->count + coupled->points; n++)
    start[n] =
        (n < coupled->count ? twists[n] : velocities[n - coupled->count]) + dt * coupled->acceleration[n];
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationConstrainViscosity(Simulation simulation, PetscReal dt)
{
  struct Coupled        *coupled = simulation->coupled;
  const FaceConstraints *constraints;

  PetscFunctionBegin;
  PetscCall(GetStart(simulation, dt, coupled->dragged));
  PetscCall(CouplingGetConstraints(coupled->coupling, coupled->dragged, &constraints));
  PetscCall(FluidSetConstraints(simulation->fluid, constraints, coupled->started));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationDrag(Simulation simulation, PetscReal dt, PetscReal after[])
{
  const struct Coupled *coupled = simulation->coupled;
  PetscReal            *twists;

  PetscFunctionBegin;
  PetscCall(SimulationGetTwists(simulation, &twists));
  for (PetscInt n = 0; n < coupled->count; n++)
    after[n] = twists[n] + (coupled->dragged[n] - (twists[n] + dt * coupled->acceleration[n]));
  PetscFunctionReturn(0);
}

/* Of meshes: the sums over their points. */
static void sum_impulses(Simulation simulation)
{
  struct Coupled *coupled = simulation->coupled;

  for (PetscInt m = 0; m < solid_deforming_count(simulation->solid); m++)
    solid_sum_forces(simulation->solid, m, coupled->viscous_impulses + coupled->count,
                     &coupled->viscous_impulses[TWIST * (solid_body_count(simulation->solid) + m)]);
}

PetscErrorCode SimulationTakeViscosity(Simulation simulation, PetscReal dt)
{
  struct Coupled *coupled = simulation->coupled;
  const PetscInt  count = coupled->count + coupled->points;
  PetscReal      *start;

  PetscFunctionBegin;
  if (simulation->fluid)
    PetscCall(FluidGetConstraintImpulses(simulation->fluid, coupled->viscous_impulses));
  PetscCall(SimulationBroadcastFromFluid(simulation, coupled->viscous_impulses, count, MPIU_REAL));
  PetscCall(SimulationBroadcastFromFluid(simulation, coupled->dragged, count, MPIU_REAL));
  sum_impulses(simulation);
  PetscCall(PetscMalloc1(count, &start));
  PetscCall(GetStart(simulation, dt, start));
  for (PetscInt n = 0; n < count; n++)
    coupled->dragged[n] -= start[n];
  solid_drag_carried(simulation->solid, coupled->viscous_impulses + coupled->count,
                     coupled->dragged + coupled->count, coupled->dragged);
  PetscCall(PetscFree(start));
  PetscFunctionReturn(0);
}
