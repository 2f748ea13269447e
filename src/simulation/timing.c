/* Who works and who waits in a step of bodies in a fluid. The two teams meet where one needs what the other
   has found: there a rank that has nothing to add waits. Within a team, ranks wait for each other in every
   exchange, and that counts as work. The parts of the step are PETSc's log stages too. */
#include "coupled_impl.h"

#include <petsctime.h>

static const char *const part_names[] = {"half step", "advecting", "predict", "solve", "output"};

static PetscErrorCode RegisterStages(Watch *watch)
{
  PetscFunctionBegin;
  for (PetscInt p = 0; p < PART_COUNT; p++) {
    PetscCall(PetscLogStageGetId(part_names[p], &watch->stages[p]));
    if (watch->stages[p] < 0)
      PetscCall(PetscLogStageRegister(part_names[p], &watch->stages[p]));
  }
  PetscFunctionReturn(0);
}

/* Counts the time since the last change as what this rank did, and begins the next activity. */
static PetscErrorCode ChangeActivity(Watch *watch, Activity activity)
{
  PetscLogDouble now;

  PetscFunctionBegin;
  PetscCall(PetscTime(&now));
  if (watch->is_running)
    watch->seconds[watch->part][watch->activity] += now - watch->since;
  watch->since = now;
  watch->activity = activity;
  PetscFunctionReturn(0);
}

/* A rank without fluid has nothing to do with output. */
static Activity own_work(Simulation simulation)
{
  if (simulation->fluid)
    return BUSY_WITH_FLUID;
  return simulation->coupled->watch.part == PART_OUTPUT ? WAITS : BUSY_WITH_SOLIDS;
}

PetscErrorCode SimulationEnterPart(Simulation simulation, StepPart part)
{
  Watch *watch;

  PetscFunctionBegin;
  if (!simulation->coupled)
    PetscFunctionReturn(0);
  watch = &simulation->coupled->watch;
  PetscCall(ChangeActivity(watch, WAITS));
  if (watch->is_running)
    PetscCall(PetscLogStagePop());
  else
    PetscCall(RegisterStages(watch));
  watch->is_running = PETSC_TRUE;
  watch->part = part;
  watch->activity = own_work(simulation);
  PetscCall(PetscLogStagePush(watch->stages[part]));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationTimeAs(Simulation simulation, StepActivity activity)
{
  Activity counted;

  PetscFunctionBegin;
  if (!simulation->coupled || !simulation->coupled->watch.is_running)
    PetscFunctionReturn(0);
  counted = own_work(simulation);
  if (activity == WORK_ON_SOLIDS && team_has_solids(simulation->team))
    counted = BUSY_WITH_SOLIDS;
  else if ((activity == WAIT_FOR_SOLIDS && !team_has_solids(simulation->team)) ||
           (activity == WAIT_FOR_FLUID && !simulation->fluid))
    counted = WAITS;
  PetscCall(ChangeActivity(&simulation->coupled->watch, counted));
  if (activity == WAIT_FOR_FLUID)
    PetscCall(TeamAwaitFluid(simulation->team));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationBroadcastFromFluid(Simulation simulation, void *values, PetscInt count,
                                            MPI_Datatype type)
{
  PetscFunctionBegin;
  PetscCall(SimulationTimeAs(simulation, WAIT_FOR_FLUID));
  PetscCallMPI(
      MPI_Bcast(values, (PetscMPIInt)count, type, 0, team_world(simulation->team))); /* it has fluid */
  PetscCall(SimulationTimeAs(simulation, OWN_WORK));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationBroadcastFromSolids(Simulation simulation, void *values, PetscInt count,
                                             MPI_Datatype type)
{
  const Team team = simulation->team;

  PetscFunctionBegin;
  PetscCall(SimulationTimeAs(simulation, WAIT_FOR_SOLIDS));
  PetscCallMPI(MPI_Bcast(values, (PetscMPIInt)count, type, team_first_solid_rank(team), team_world(team)));
  PetscCall(SimulationTimeAs(simulation, OWN_WORK));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationShareSolids(Simulation simulation)
{
  const Team team = simulation->team;

  PetscFunctionBegin;
  PetscCall(SimulationTimeAs(simulation, WAIT_FOR_SOLIDS));
  PetscCall(SolidBroadcast(simulation->solid, team_world(team), team_first_solid_rank(team)));
  PetscCall(SimulationTimeAs(simulation, OWN_WORK));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationCountWaiting(Simulation simulation)
{
  PetscReal now[ROW_COUNT] = {0.};
  Watch    *watch;

  PetscFunctionBegin;
  if (!simulation->coupled)
    PetscFunctionReturn(0);
  watch = &simulation->coupled->watch;
  PetscCall(ChangeActivity(watch, watch->activity));
  for (PetscInt p = 0; p < PART_COUNT; p++) {
    now[simulation->fluid ? ROW_FLUID_WAITS : ROW_SOLIDS_WAIT] += watch->seconds[p][WAITS];
    now[ROW_SOLIDS] += watch->seconds[p][BUSY_WITH_SOLIDS];
    for (Activity a = 0; a < ACTIVITY_COUNT; a++)
      now[ROW_PARTS + p] += watch->seconds[p][a];
  }
  for (PetscInt n = 0; n < ROW_COUNT; n++) {
    const PetscReal before = watch->counted[n];

    watch->counted[n] = now[n];
    now[n] -= before;
  }
  PetscCallMPI(MPI_Reduce(now, watch->row, ROW_COUNT, MPIU_REAL, MPI_MAX, 0, team_world(simulation->team)));
  PetscFunctionReturn(0);
}

void record_put_waiting(Simulation simulation, Record *record)
{
  static const char *const names[] = {"wall_half",        "wall_advecting",  "wall_predict",
                                      "wall_solve",       "wall_output",     "wall_solids",
                                      "wall_fluid_waits", "wall_solids_wait"};

  const PetscReal *row = simulation->coupled->watch.row;

  if (simulation->coupled->stands_still)
    record_put(record, row[ROW_PARTS + PART_SOLVE], "s", "wall_projection");
  for (PetscInt n = 0; n < ROW_COUNT && !simulation->coupled->stands_still; n++)
    record_put(record, row[n], "s", "%s", names[n]);
}

PetscErrorCode SimulationDestroyWatch(Simulation simulation)
{
  PetscFunctionBegin;
  if (simulation->coupled->watch.is_running)
    PetscCall(PetscLogStagePop());
  PetscFunctionReturn(0);
}

/* Of each part. */
enum { FLUID_WORKS, FLUID_WAITS, SOLIDS_WORK, SOLIDS_WAIT, COLUMNS };

/* Seconds summed over all ranks, with the number of ranks that make up each column. */
typedef struct {
  PetscReal seconds[PART_COUNT][COLUMNS], ranks[COLUMNS];
} Summary;

static PetscErrorCode SumUp(Simulation simulation, Summary *summary)
{
  const Watch    *watch = &simulation->coupled->watch;
  const PetscBool solids = team_has_solids(simulation->team);
  const PetscBool fluid = simulation->fluid ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  *summary = (Summary){.ranks = {fluid, fluid, solids, solids}};
  for (PetscInt p = 0; p < PART_COUNT; p++) {
    summary->seconds[p][FLUID_WORKS] = watch->seconds[p][BUSY_WITH_FLUID];
    summary->seconds[p][fluid ? FLUID_WAITS : SOLIDS_WAIT] = watch->seconds[p][WAITS];
    summary->seconds[p][SOLIDS_WORK] = watch->seconds[p][BUSY_WITH_SOLIDS];
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, summary, (PetscMPIInt)(sizeof(*summary) / sizeof(PetscReal)),
                             MPIU_REAL, MPI_SUM, team_world(simulation->team)));
  PetscFunctionReturn(0);
}

static void print_row(const char name[], const PetscReal seconds[COLUMNS])
{
  printf("%-10s", name);
  for (PetscInt c = 0; c < COLUMNS; c++)
    printf("%16.2f", (double)seconds[c]);
  printf("\n");
}

/* Whether the rank of the solids should share the fluid: it has time for that, and the fluid has 2^k
   ranks then, which multigrid halves well. */
static PetscBool should_share(const Summary *summary, const PetscReal total[COLUMNS])
{
  const PetscInt shared = (PetscInt)summary->ranks[FLUID_WORKS] + 1;

  return total[SOLIDS_WAIT] > 0. && summary->ranks[SOLIDS_WORK] == 1. && !(shared & (shared - 1)) &&
                 total[SOLIDS_WORK] * shared < total[FLUID_WORKS]
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Means over the ranks of each team. */
static void print_summary(const Summary *summary)
{
  PetscReal mean[PART_COUNT][COLUMNS], total[COLUMNS] = {0.};
  PetscInt  longest = 0, column;

  printf("%-10s%16s%16s%16s%16s\n", "seconds", "fluid works", "and waits", "solids work", "and wait");
  for (PetscInt p = 0; p < PART_COUNT; p++) {
    for (PetscInt c = 0; c < COLUMNS; c++) {
      mean[p][c] = summary->seconds[p][c] / summary->ranks[c];
      total[c] += mean[p][c];
    }
    print_row(part_names[p], mean[p]);
  }
  print_row("all", total);
  column = total[FLUID_WAITS] > total[SOLIDS_WAIT] ? FLUID_WAITS : SOLIDS_WAIT;
  for (PetscInt p = 1; p < PART_COUNT; p++)
    if (mean[p][column] > mean[longest][column])
      longest = p;
  if (total[column] > 0.)
    printf("the %s waited %.2f s for the %s, longest in %s\n", column == FLUID_WAITS ? "fluid" : "solids",
           (double)total[column], column == FLUID_WAITS ? "solids" : "fluid", part_names[longest]);
  if (should_share(summary, total))
    printf("--set parallel.solid_ranks=0 gives the fluid their rank as well\n");
}

PetscErrorCode SimulationPrintWaiting(Simulation simulation)
{
  Summary     summary;
  PetscMPIInt rank;

  PetscFunctionBegin;
  if (!simulation->coupled || !simulation->coupled->watch.is_running || simulation->coupled->stands_still)
    PetscFunctionReturn(0);
  PetscCall(ChangeActivity(&simulation->coupled->watch, WAITS));
  PetscCall(SumUp(simulation, &summary));
  PetscCallMPI(MPI_Comm_rank(team_world(simulation->team), &rank));
  if (rank == 0)
    print_summary(&summary);
  PetscFunctionReturn(0);
}
