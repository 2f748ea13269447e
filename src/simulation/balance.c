/* How the fluid ranks share the work: each has a part of the box with about as much of it as the others.

   What a cell costs is counted, not measured, so that a run divides its box alike whenever it is repeated:
   each part of the run adds what its own work is to a field. Where some rank has a quarter more to do than
   the mean, and another division is worth it, the state goes to an archive in memory, everything is made anew
   on the other parts of the box and takes the state up again: a restart without a file. A checkpoint holds
   the division, so that a run that goes on from it on as many ranks is the one that was not stopped. */
#include "coupled_impl.h"

static const PetscReal noticeable = 1.05, endurable = 1.25; /* the most of a rank over the mean */
static const PetscReal worthwhile = 0.95;                   /* the most then over the most now */
enum { STEPS_BETWEEN_LOOKS = 20 };
static const char *const start_names[DIM] = {"first_x", "first_y", "first_z"};

/* All that stays when a simulation is made anew. */
static struct _p_Simulation lasting_members(Simulation simulation)
{
  return (struct _p_Simulation){.config = simulation->config,
                                .check_invariants = simulation->check_invariants,
                                .team = simulation->team,
                                .partition = simulation->partition,
                                .divisions = simulation->divisions,
                                .balance = simulation->balance,
                                .cut_steps = simulation->cut_steps,
                                .gas_failures = simulation->gas_failures,
                                .travel = simulation->travel,
                                .wall_solids = simulation->wall_solids,
                                .wall_regions = simulation->wall_regions};
}

/* Without a state: one has to be loaded. The time that was measured goes on. */
static PetscErrorCode MakeAnew(Simulation simulation, GridPartition *partition)
{
  Watch watch = {.is_running = PETSC_FALSE};
  char  message[1024] = "";

  PetscFunctionBegin;
  if (simulation->coupled)
    watch = simulation->coupled->watch;
  PetscCall(PartsDestroy(simulation));
  PetscCall(GridPartitionDestroy(&simulation->partition));
  simulation->partition = *partition;
  *simulation = lasting_members(simulation);
  simulation->goes_on = PETSC_TRUE;
  PetscCall(PartsCreate(simulation, message, sizeof(message)));
  PetscCheck(!message[0], team_world(simulation->team), PETSC_ERR_PLIB, "%s", message);
  if (simulation->coupled)
    simulation->coupled->watch = watch;
  if (watch.is_running)
    PetscCall(PetscLogStagePush(watch.stages[watch.part]));
  PetscFunctionReturn(0);
}

static PetscErrorCode Divide(Simulation simulation, GridPartition *partition)
{
  Archive archive = NULL;
  char    message[1024] = "";

  PetscFunctionBegin;
  if (simulation_writes(simulation)) {
    PetscCall(ArchiveCreateInMemory(simulation_writers(simulation), &archive));
    PetscCall(SimulationSave(simulation, archive));
    PetscCall(ArchiveTurn(archive));
  }
  PetscCall(MakeAnew(simulation, partition));
  PetscCall(SimulationLoadState(simulation, archive, message, sizeof(message)));
  PetscCheck(!message[0], team_world(simulation->team), PETSC_ERR_PLIB, "%s", message);
  PetscCall(ArchiveDestroy(&archive));
  PetscFunctionReturn(0);
}

/* Of the box as it is, and as it would be. */
static PetscErrorCode Weigh(Simulation simulation, GridPartition *partition, GridBalance *balance)
{
  const GridBox *box = grid_box(simulation->grid);
  PetscReal     *work;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(box->length, &work));
  PetscCall(PartsAddWork(simulation, work));
  PetscCall(GridPartitionBalance(box, work, partition, balance));
  PetscCall(PetscFree(work));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationBalance(Simulation simulation)
{
  GridPartition partition = {{0}, {NULL}};
  PetscBool     moves = PETSC_FALSE;

  PetscFunctionBegin;
  if (!simulation->config->grid.dimension || simulation->step % STEPS_BETWEEN_LOOKS)
    PetscFunctionReturn(0);
  if (simulation->grid) {
    GridBalance *balance = &simulation->balance;

    PetscCall(Weigh(simulation, &partition, balance));
    moves = simulation->config->parallel.fluid_parts == FLUID_PARTS_BALANCED &&
                    balance->most > endurable * balance->mean &&
                    balance->most_then < worthwhile * balance->most
                ? PETSC_TRUE
                : PETSC_FALSE;
  }
  PetscCall(TeamAwaitFluid(simulation->team));
  PetscCallMPI(MPI_Bcast(&moves, 1, MPIU_BOOL, 0, team_world(simulation->team)));
  if (moves) {
    PetscCall(Divide(simulation, &partition));
    simulation->balance.most = simulation->balance.most_then;
    simulation->divisions++;
  } else
    PetscCall(GridPartitionDestroy(&partition));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationSaveParts(Simulation simulation, Archive archive)
{
  GridPartition partition;
  PetscReal    *starts;

  PetscFunctionBegin;
  if (!simulation->divisions)
    PetscFunctionReturn(0);
  PetscCall(GridPartitionCreateFrom(grid_box(simulation->grid), &partition));
  PetscCall(ArchiveEnter(archive, "parts"));
  for (PetscInt d = 0; d < DIM; d++) {
    PetscCall(PetscMalloc1(partition.parts[d], &starts));
    for (PetscInt part = 0; part < partition.parts[d]; part++)
      starts[part] = partition.start[d][part];
    PetscCall(ArchiveWriteShared(archive, start_names[d], partition.parts[d], 1, starts));
    PetscCall(PetscFree(starts));
  }
  PetscCall(ArchiveLeave(archive));
  PetscCall(GridPartitionDestroy(&partition));
  PetscFunctionReturn(0);
}

/* Along one direction, in `partition`, whose arrays the caller destroys. */
static PetscErrorCode ReadStarts(Archive archive, PetscInt d, PetscInt cells, GridPartition *partition)
{
  PetscReal  *starts;
  ArchivePart shape;

  PetscFunctionBegin;
  PetscCall(ArchiveGetShape(archive, start_names[d], &shape));
  if (shape.rank != 2 || shape.global[0] < 1 || shape.global[0] > cells)
    PetscCall(ArchiveRefuse(archive, start_names[d], "is not a list of first cells of parts"));
  PetscCall(ArchiveReadTable(archive, start_names[d], shape.global[0], 1, &starts));
  partition->parts[d] = shape.global[0];
  PetscCall(PetscMalloc1(partition->parts[d] + 1, &partition->start[d]));
  for (PetscInt part = 0; part < partition->parts[d]; part++)
    partition->start[d][part] = (PetscInt)PetscMax(-1., PetscMin(starts[part], cells));
  partition->start[d][partition->parts[d]] = cells;
  PetscCall(PetscFree(starts));
  PetscFunctionReturn(0);
}

typedef struct {
  Simulation    simulation;
  GridPartition partition; /* without parts: there is none for so many ranks */
} PartsReading;

static PetscErrorCode ReadParts(Archive archive, void *context)
{
  PartsReading  *reading = context;
  const GridBox *box = grid_box(reading->simulation->grid);
  PetscMPIInt    size;
  PetscBool      has;
  const char    *complaint;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(box->comm, &size));
  PetscCall(ArchiveHas(archive, "parts", &has));
  if (!has)
    PetscFunctionReturn(0);
  PetscCall(ArchiveEnter(archive, "parts"));
  for (PetscInt d = 0; d < DIM; d++)
    PetscCall(ReadStarts(archive, d, box->cells[d], &reading->partition));
  if (reading->partition.parts[X] * reading->partition.parts[Y] * reading->partition.parts[Z] != size) {
    PetscCall(GridPartitionDestroy(&reading->partition));
    reading->partition.parts[X] = 0;
  } else {
    complaint = grid_partition_complaint(box->cells, box->dimension, size, &reading->partition);
    if (complaint)
      PetscCall(ArchiveRefuse(archive, start_names[X], "and the others give parts that %s", complaint));
  }
  PetscCall(ArchiveLeave(archive));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationTakeParts(Simulation simulation, Archive archive, char message[], size_t size)
{
  PartsReading reading = {.simulation = simulation};
  PetscBool    divided;

  PetscFunctionBegin;
  message[0] = '\0';
  if (!simulation->config->grid.dimension)
    PetscFunctionReturn(0);
  if (archive)
    PetscCall(ArchiveTry(archive, ReadParts, &reading, message, size));
  PetscCallMPI(MPI_Bcast(message, (PetscMPIInt)size, MPI_CHAR, 0, team_world(simulation->team)));
  divided = reading.partition.parts[X] > 0 && !message[0] ? PETSC_TRUE : PETSC_FALSE;
  PetscCallMPI(MPI_Bcast(&divided, 1, MPIU_BOOL, 0, team_world(simulation->team)));
  if (divided) {
    PetscCall(MakeAnew(simulation, &reading.partition));
    simulation->divisions = 1;
  } else
    PetscCall(GridPartitionDestroy(&reading.partition));
  PetscFunctionReturn(0);
}

void print_balance(Simulation simulation)
{
  const GridBalance *balance = &simulation->balance;
  const GridBox     *box = simulation->grid ? grid_box(simulation->grid) : NULL;

  if (!balance->mean || (!simulation->divisions && balance->most < noticeable * balance->mean))
    return;
  printf("%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT
         " parts of the box, of which the one with the most to do has %.2f of the mean",
         box->ranks[X], box->ranks[Y], box->ranks[Z], (double)(balance->most / balance->mean));
  if (simulation->divisions)
    printf("; divided anew %" PetscInt_FMT " time%s", simulation->divisions,
           simulation->divisions > 1 ? "s" : "");
  printf("\n");
}
