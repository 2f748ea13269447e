/* A run's state, and the order of its time steps. */
#include "simulation_impl.h"

TeamWork simulation_config_work(const SimulationConfig *config)
{
  if (!config->grid.dimension)
    return WORK_SOLIDS;
  return config->solids.body_count ? WORK_BOTH : WORK_FLUID;
}

/* The solid team works together; the others only hold what they are told. */
static PetscErrorCode CreateSolid(Simulation simulation, char message[], size_t size)
{
  const Team team = simulation->team;

  PetscFunctionBegin;
  if (simulation->config->solids.body_count)
    PetscCall(SolidCreate(team_has_solids(team) ? team_solid(team) : PETSC_COMM_SELF,
                          &simulation->config->solids, &simulation->solid, message, size));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationCreate(MPI_Comm world, const SimulationConfig *config, Simulation *simulation,
                                char message[], size_t message_size)
{
  Simulation s;

  PetscFunctionBegin;
  message[0] = '\0';
  PetscCall(PetscNew(&s));
  *simulation = s;
  s->config = config;
  PetscCall(TeamCreate(world, &config->parallel, simulation_config_work(config), &s->team));
  PetscCall(CreateSolid(s, message, message_size));
  if (message[0]) {
    PetscCall(SimulationDestroy(simulation));
    PetscFunctionReturn(0);
  }
  if (team_has_fluid(s->team)) {
    PetscCall(MacGridCreate(team_fluid(s->team), &config->grid, &s->grid));
    s->fluid_config = config->fluid;
    if (simulation_has_gas(config))
      s->fluid_config.scalar_count = 0;
    PetscCall(FluidCreate(s->grid, &s->fluid_config, &s->fluid));
    PetscCall(SimulationCreateObstacles(s));
  }
  PetscCall(SimulationCreateCoupled(s));
  if (s->grid)
    PetscCall(SimulationCreateRegions(s, message, message_size));
  PetscCallMPI(MPI_Bcast(message, (PetscMPIInt)message_size, MPI_CHAR, 0, world));
  if (message[0])
    PetscCall(SimulationDestroy(simulation));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationDestroy(Simulation *simulation)
{
  Simulation s = *simulation;

  PetscFunctionBegin;
  if (!s)
    PetscFunctionReturn(0);
  PetscCall(SimulationDestroyCoupled(s));
  PetscCall(VecDestroy(&s->closed));
  PetscCall(VecDestroy(&s->obstructed));
  PetscCall(MacGridDestroyFaceField(s->closed_velocity));
  PetscCall(VecDestroy(&s->gas_closed));
  PetscCall(MacGridDestroyFaceField(s->gas_velocity));
  PetscCall(FluidDestroy(&s->gas));
  PetscCall(FluidDestroy(&s->fluid));
  PetscCall(PhaseDestroy(&s->phase));
  PetscCall(MacGridDestroy(&s->grid));
  PetscCall(SolidDestroy(&s->solid));
  PetscCall(TeamDestroy(&s->team));
  PetscCall(PetscFree(*simulation));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationTryStart(Simulation simulation, PetscBool *good)
{
  Vec *scalars;

  PetscFunctionBegin;
  *good = PETSC_TRUE;
  if (simulation->coupled)
    PetscCall(SimulationStartCoupled(simulation, good));
  else if (simulation->fluid) {
    PetscCall(FluidStart(simulation->fluid, good));
    if (*good)
      PetscCall(SimulationExtendVelocity(simulation));
  }
  if (simulation->fluid && *good)
    PetscCall(SimulationStartGas(simulation, good));
  if (simulation->fluid && *good) {
    PetscCall(FluidGetScalars(simulation_carrier(simulation), &scalars));
    PetscCall(SimulationHoldScalars(simulation, 0., scalars));
    PetscCall(FluidRefreshScalars(simulation_carrier(simulation)));
  }
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

/* The fluid's share of a step. */
static PetscErrorCode StepFluid(Simulation simulation, PetscReal dt, PetscBool *good)
{
  const PetscReal end = simulation->time + dt;
  Vec            *velocity, *scalars;

  PetscFunctionBegin;
  if (simulation->obstacles_move)
    PetscCall(SimulationPlaceObstacles(simulation, end)); /* S1 */
  PetscCall(SimulationMoveRegions(simulation, dt));       /* F3 */
  PetscCall(FluidPredict(simulation->fluid, dt));         /* F1, F3 */
  PetscCall(FluidGetPrediction(simulation->fluid, &velocity, &scalars));
  if (!simulation->gas)
    PetscCall(SimulationHoldScalars(simulation, end, scalars));
  *good = fluid_goes_too_far(simulation->fluid) ? PETSC_FALSE : PETSC_TRUE;
  if (*good) /* F4 */
    PetscCall(FluidProjectPrediction(simulation->fluid, dt, simulation_farthest(simulation->config), good));
  simulation->too_fast = !*good && fluid_has_converged(simulation->fluid);
  if (*good) {
    PetscCall(SimulationExtendVelocity(simulation));
    PetscCall(SimulationStepGas(simulation, dt));
  } else {
    PetscCall(FluidForgetPrediction(simulation->fluid));
    PetscCall(SimulationReturnRegions(simulation));
  }
  PetscFunctionReturn(0);
}

/* To where everything was before a step that went wrong. */
static PetscErrorCode Return(Simulation simulation)
{
  PetscFunctionBegin;
  if (simulation->solid)
    PetscCall(SolidReturn(simulation->solid));
  if (simulation->fluid && simulation->obstacles_move)
    PetscCall(SimulationPlaceObstacles(simulation, simulation->time));
  if (simulation->coupled)
    PetscCall(SimulationReturnCoupled(simulation));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationStep(Simulation simulation, PetscReal dt, PetscBool *good)
{
  PetscFunctionBegin;
  *good = PETSC_TRUE;
  simulation->too_fast = PETSC_FALSE;
  simulation->fluid_failed = simulation->config->grid.dimension ? PETSC_TRUE : PETSC_FALSE;
  if (simulation->coupled)
    PetscCall(SimulationStepCoupled(simulation, dt, good));
  else if (simulation->solid)
    PetscCall(SimulationStepSolids(simulation, dt, good));
  else if (simulation->fluid)
    PetscCall(StepFluid(simulation, dt, good));
  PetscCall(SimulationAttend(simulation, ATTEND_WORD_OF_FLUID));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, good, 1, MPIU_BOOL, MPI_LAND, team_world(simulation->team)));
  simulation->failures = *good ? 0 : simulation->failures + 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &simulation->too_fast, 1, MPIU_BOOL, MPI_LOR,
                             team_world(simulation->team)));
  if (!*good)
    PetscCall(Return(simulation));
  PetscCall(SimulationEnterPart(simulation, PART_OUTPUT));
  if (!*good)
    PetscFunctionReturn(0);
  PetscCall(SimulationCountWaiting(simulation));
  simulation->time += dt;
  simulation->dt = dt;
  simulation->step++;
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
