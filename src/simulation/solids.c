/* The bodies' share of a time step. */
#include "simulation_impl.h"

#include <petsctime.h>

/* The team works, the others take its word. */
PetscErrorCode SimulationStepSolids(Simulation simulation, PetscReal dt, PetscBool *good)
{
  const Team     team = simulation->team;
  PetscLogDouble began, ended;
  SolidReport    report;

  PetscFunctionBegin;
  PetscCall(PetscTime(&began));
  PetscCall(SolidKeep(simulation->solid));
  if (team_has_solids(team))
    PetscCall(SolidStep(simulation->solid, simulation->time, dt));
  PetscCall(SolidShare(simulation->solid, team_world(team), team_first_solid_rank(team)));
  report = solid_report(simulation->solid);
  *good = PetscIsInfOrNanReal(report.kinetic_energy + report.potential_energy) ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(PetscTime(&ended));
  simulation->wall_solids = ended - began;
  PetscFunctionReturn(0);
}
