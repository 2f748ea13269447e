/* A run's state, and the order of its time steps. */
#include "simulation_impl.h"

TeamWork simulation_config_work(const SimulationConfig *config)
{
  if (!config->grid.dimension)
    return WORK_SOLIDS;
  for (PetscInt b = 0; b < config->solids.body_count; b++)
    if (config->solids.bodies[b].kind == BODY_DYNAMIC)
      return WORK_BOTH;
  return WORK_FLUID; /* bodies whose motion is given are next to no work */
}

PetscErrorCode SimulationCreate(MPI_Comm world, const SimulationConfig *config, Simulation *simulation,
                                char message[], size_t message_size)
{
  PetscFunctionBegin;
  message[0] = '\0';
  PetscCall(PetscNew(simulation));
  (*simulation)->config = config;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-check_invariants", &(*simulation)->check_invariants, NULL));
  PetscCall(TeamCreate(world, &config->parallel, simulation_config_work(config), &(*simulation)->team));
  PetscCall(PartsCreate(*simulation, message, message_size));
  if (message[0])
    PetscCall(SimulationDestroy(simulation));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationDestroy(Simulation *simulation)
{
  PetscFunctionBegin;
  if (!*simulation)
    PetscFunctionReturn(0);
  PetscCall(PartsDestroy(*simulation));
  PetscCall(GridPartitionDestroy(&(*simulation)->partition));
  PetscCall(TeamDestroy(&(*simulation)->team));
  PetscCall(PetscFree(*simulation));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationTryStart(Simulation simulation, PetscBool *good)
{
  PetscFunctionBegin;
  PetscCall(PartsStart(simulation, good));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationStart(Simulation simulation)
{
  PetscBool good;

  PetscFunctionBegin;
  PetscCall(SimulationTryStart(simulation, &good));
  PetscCheck(good, team_world(simulation->team), PETSC_ERR_NOT_CONVERGED,
             "The projection of the initial state did not converge");
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationStep(Simulation simulation, PetscReal dt, PetscBool *good)
{
  PetscFunctionBegin;
  *good = PETSC_TRUE;
  simulation->too_fast = PETSC_FALSE;
  simulation->fluid_failed = simulation->config->grid.dimension ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(SimulationChangeMaterials(simulation));
  PetscCall(PartsKeep(simulation));
  if (simulation_has_splash(simulation->config))
    PetscCall(SimulationStepSplash(simulation, dt, good));
  else if (simulation->coupled)
    PetscCall(SimulationStepCoupled(simulation, dt, good));
  else if (simulation->solid)
    PetscCall(SimulationStepSolids(simulation, dt, good));
  else if (simulation->fluid)
    PetscCall(SimulationStepFlow(simulation, dt, good));
  PetscCall(SimulationTimeAs(simulation, WAIT_FOR_FLUID));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, good, 1, MPIU_BOOL, MPI_LAND, team_world(simulation->team)));
  simulation->failures = *good ? 0 : simulation->failures + 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &simulation->too_fast, 1, MPIU_BOOL, MPI_LOR,
                             team_world(simulation->team)));
  if (!*good)
    PetscCall(PartsRestore(simulation));
  PetscCall(SimulationEnterPart(simulation, PART_OUTPUT));
  if (!*good)
    PetscFunctionReturn(0);
  PetscCall(SimulationCountWaiting(simulation));
  simulation->time += dt;
  simulation->dt = dt;
  simulation->step++;
  if (simulation->check_invariants)
    PetscCall(SimulationCheckInvariants(simulation));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationCheckInvariants(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(PartsCheck(simulation));
  PetscFunctionReturn(0);
}

Fluid simulation_fluid(Simulation simulation)
{
  return simulation->fluid;
}

Solid simulation_solid(Simulation simulation)
{
  return simulation->solid;
}

Phase simulation_phase(Simulation simulation)
{
  return simulation->phase;
}

Splash simulation_splash(Simulation simulation)
{
  return simulation->splash;
}

MPI_Comm simulation_writers(Simulation simulation)
{
  return simulation_config_work(simulation->config) == WORK_SOLIDS ? team_solid(simulation->team)
                                                                   : team_fluid(simulation->team);
}

PetscBool simulation_writes(Simulation simulation)
{
  return simulation_writers(simulation) != MPI_COMM_NULL ? PETSC_TRUE : PETSC_FALSE;
}

MacGrid simulation_grid(Simulation simulation)
{
  return simulation->grid;
}

Team simulation_team(Simulation simulation)
{
  return simulation->team;
}

PetscReal simulation_time(Simulation simulation)
{
  return simulation->time;
}

PetscInt simulation_step(Simulation simulation)
{
  return simulation->step;
}
