/* A run's state, and the order and size of its time steps. */
#include "simulation_impl.h"

PetscErrorCode SimulationCreate(MPI_Comm world, const SimulationConfig *config, Simulation *simulation)
{
  TeamConfig team = config->parallel;
  Simulation s;

  PetscFunctionBegin;
  if (team.solid_ranks < 0)
    team.solid_ranks = 0; /* by need: nothing moves by itself yet */
  PetscCall(PetscNew(&s));
  s->config = config;
  PetscCall(TeamCreate(world, &team, &s->team));
  if (team_has_fluid(s->team)) {
    PetscCall(MacGridCreate(team_fluid(s->team), &config->grid, &s->grid));
    PetscCall(FluidCreate(s->grid, &config->fluid, &s->fluid));
    PetscCall(SimulationCreateSolids(s));
  }
  *simulation = s;
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationDestroy(Simulation *simulation)
{
  Simulation s = *simulation;

  PetscFunctionBegin;
  if (!s)
    PetscFunctionReturn(0);
  PetscCall(VecDestroy(&s->solid));
  PetscCall(MacGridDestroyFaceField(s->solid_velocity));
  PetscCall(FluidDestroy(&s->fluid));
  PetscCall(MacGridDestroy(&s->grid));
  PetscCall(TeamDestroy(&s->team));
  PetscCall(PetscFree(*simulation));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationTryStart(Simulation simulation, PetscBool *good)
{
  Vec *scalars;

  PetscFunctionBegin;
  *good = PETSC_TRUE;
  if (simulation->fluid)
    PetscCall(FluidStart(simulation->fluid, good));
  if (simulation->fluid && *good) {
    PetscCall(FluidGetScalars(simulation->fluid, &scalars));
    PetscCall(SimulationHoldScalars(simulation, 0., scalars));
    PetscCall(FluidRefreshScalars(simulation->fluid));
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
  if (simulation->solids_move)
    PetscCall(SimulationPlaceSolids(simulation, end)); /* S1 */
  PetscCall(FluidPredict(simulation->fluid, dt));      /* F1, F3 */
  PetscCall(FluidGetPrediction(simulation->fluid, &velocity, &scalars));
  PetscCall(SimulationHoldScalars(simulation, end, scalars));
  PetscCall(FluidProjectPrediction(simulation->fluid, dt, good)); /* F4 */
  if (*good)
    PetscFunctionReturn(0);
  PetscCall(FluidForgetPrediction(simulation->fluid));
  if (simulation->solids_move)
    PetscCall(SimulationPlaceSolids(simulation, simulation->time));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationStep(Simulation simulation, PetscReal dt, PetscBool *good)
{
  PetscFunctionBegin;
  *good = PETSC_TRUE;
  if (simulation->fluid)
    PetscCall(StepFluid(simulation, dt, good));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, good, 1, MPIU_BOOL, MPI_LAND, team_world(simulation->team)));
  if (!*good)
    PetscFunctionReturn(0);
  simulation->time += dt;
  simulation->dt = dt;
  simulation->step++;
  PetscFunctionReturn(0);
}

/* The smallest of what the parts ask for, cut so that whole steps end exactly at `stop`. */
PetscErrorCode SimulationGetTimeStep(Simulation simulation, PetscReal stop, PetscReal *dt)
{
  const RunConfig *run = &simulation->config->run;
  const PetscReal  remaining = stop - simulation->time;
  PetscReal        limit = PETSC_MAX_REAL, other;

  PetscFunctionBegin;
  if (run->time_step > 0.)
    limit = run->time_step;
  else if (simulation->fluid) {
    PetscCall(FluidGetTimeStepLimit(simulation->fluid, &limit));
    PetscCall(SimulationGetObstacleLimit(simulation, &other));
    limit = PetscMin(limit, other);
    PetscCall(SimulationGetInflowLimit(simulation, &other));
    limit = PetscMin(limit, other);
    if (run->largest_time_step > 0.)
      limit = PetscMin(limit, run->largest_time_step);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &limit, 1, MPIU_REAL, MPI_MIN, team_world(simulation->team)));
  /* a remainder of round-off is no step of its own */
  *dt = remaining / PetscMax(1., PetscCeilReal(remaining / limit * (1. - 1e-9)));
  PetscFunctionReturn(0);
}

Fluid simulation_fluid(Simulation simulation)
{
  return simulation->fluid;
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

/* What two states must have in common to be exchanged, in words. */
static PetscErrorCode DescribeLayout(Simulation simulation, char text[], size_t size)
{
  const FluidConfig *fluid = &simulation->config->fluid;
  const GridBox     *box = grid_box(simulation->grid);
  const Vector3      origin = grid_origin(simulation->grid);
  size_t             length;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, size,
                          "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " cells (%" PetscInt_FMT
                          "-D) of %.10g m from [%.10g, %.10g, %.10g]",
                          box->cells[X], box->cells[Y], box->cells[Z], box->dimension,
                          (double)grid_spacing(simulation->grid), (double)origin.at[X], (double)origin.at[Y],
                          (double)origin.at[Z]));
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscCall(PetscStrlen(text, &length));
    if (box->periodic[d])
      PetscCall(PetscSNPrintf(text + length, size - length, ", periodic along %c", "xyz"[d]));
  }
  for (PetscInt s = 0; s < fluid->scalar_count; s++) {
    PetscCall(PetscStrlen(text, &length));
    PetscCall(
        PetscSNPrintf(text + length, size - length, "%s%s", s ? ", " : " with ", fluid->scalars[s].name));
  }
  PetscFunctionReturn(0);
}

enum { LAYOUT_LENGTH = 1024 };

PetscErrorCode SimulationSave(Simulation simulation, Archive archive)
{
  char layout[LAYOUT_LENGTH];

  PetscFunctionBegin;
  PetscCall(DescribeLayout(simulation, layout, sizeof(layout)));
  PetscCall(ArchiveWriteText(archive, "layout", layout));
  PetscCall(ArchiveWriteReal(archive, "time", simulation->time));
  PetscCall(ArchiveWriteInteger(archive, "step", simulation->step));
  PetscCall(ArchiveWriteReal(archive, "dt", simulation->dt));
  PetscCall(FluidSave(simulation->fluid, archive));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationLoad(Simulation simulation, Archive archive)
{
  PetscInt64 step;

  PetscFunctionBegin;
  PetscCall(ArchiveReadReal(archive, "time", &simulation->time));
  PetscCall(ArchiveReadInteger(archive, "step", &step));
  PetscCall(ArchiveReadReal(archive, "dt", &simulation->dt));
  simulation->step = (PetscInt)step;
  PetscCall(SimulationPlaceSolids(simulation, simulation->time));
  PetscCall(FluidLoad(simulation->fluid, archive));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationCheckArchive(Simulation simulation, Archive archive, char message[],
                                      size_t message_size)
{
  char      layout[LAYOUT_LENGTH], *saved;
  PetscBool has, same;

  PetscFunctionBegin;
  message[0] = '\0';
  PetscCall(ArchiveHas(archive, "layout", &has));
  if (!has) {
    PetscCall(PetscSNPrintf(message, message_size, "the file is no checkpoint"));
    PetscFunctionReturn(0);
  }
  PetscCall(DescribeLayout(simulation, layout, sizeof(layout)));
  PetscCall(ArchiveReadText(archive, "layout", &saved));
  PetscCall(PetscStrcmp(layout, saved, &same));
  if (!same)
    PetscCall(PetscSNPrintf(message, message_size,
                            "the checkpoint has %s but the scene %s: a run goes on with the grid and the "
                            "scalars it began with",
                            saved, layout));
  PetscCall(PetscFree(saved));
  PetscFunctionReturn(0);
}
