/* A run from its first step to its last: frames, ledger, checkpoints, and what stops it early. */
#include "simulation_impl.h"

#include <petsctime.h>

typedef struct {
  Simulation        simulation;
  const RunOptions *options;
  Ledger            ledger; /* this and `frames`: null unless this rank writes */
  FrameSeries       frames;
  OutputTables      outputs;
  const char      **field_names; /* of frames, if the scene chooses */
  Record            record;
  PetscInt          frame;      /* the next one to write */
  PetscReal         frame_time; /* when */
  Progress          progress;
  PetscInt          gas_failures;           /* so far */
  PetscLogDouble    began, last_checkpoint; /* wall clock */
  PetscReal         longest_step;           /* wall clock, checkpoints included */
  PetscMPIInt       steady;                 /* at the last frame, as this rank knows */
  RunOutcome        begun;                  /* what a message at the start means */
  RunEnding        *ending;
  char             *message;
  size_t            message_size;
} Run;

/* The first whole multiple of the interval that lies ahead, or the end. */
static PetscReal next_frame_time(const Run *run)
{
  const RunConfig *config = &run->simulation->config->run;
  const PetscReal  number = PetscFloorReal(run->simulation->time / config->frame_interval + 1e-9) + 1.;
  const PetscReal  time = number * config->frame_interval;

  /* an end that misses a frame by round-off is that frame */
  return time > config->end_time - 1e-9 * config->frame_interval ? config->end_time : time;
}

static PetscErrorCode CollectRow(Run *run, PetscReal wall_step)
{
  PetscBool looks;

  PetscFunctionBegin;
  if (!simulation_writes(run->simulation))
    PetscFunctionReturn(0);
  PetscCall(SimulationLookAhead(run->simulation, &looks));
  PetscCall(SimulationCollectRecord(run->simulation, wall_step, &run->record));
  if (run->ledger) {
    PetscCall(LedgerAppend(run->ledger, run->record.values));
    PetscCall(OutputTablesAppend(&run->outputs, run->simulation, run->options->scene_text, run->message,
                                 run->message_size));
  }
  PetscCall(SimulationLookBack(run->simulation, looks));
  PetscFunctionReturn(0);
}

/* `rows` of the table that is there remain. */
static PetscErrorCode OpenLedger(Run *run, PetscInt64 rows)
{
  LedgerConfig config = {.directory = run->options->directory, .rows = rows};

  PetscFunctionBegin;
  PetscCall(SimulationCollectRecord(run->simulation, 0., &run->record));
  config.column_count = run->record.count;
  config.columns = (const char *const(*)[2])run->record.columns;
  PetscCall(LedgerCreate(simulation_writers(run->simulation), &config, &run->ledger, run->message,
                         run->message_size));
  if (!run->message[0])
    PetscCall(OutputTablesOpen(&run->outputs, run->simulation, run->options->directory, run->message,
                               run->message_size));
  PetscFunctionReturn(0);
}

FrameConfig frame_config(Simulation simulation, const char directory[], PetscInt first, PetscInt field_count,
                         const ChoiceConfig fields[], const char *names[])
{
  const MacGrid grid = simulation->grid;
  FrameConfig   config = {.directory = directory, .first = first, .precision = ARCHIVE_SINGLE};

  if (grid) {
    config.dimension = grid_box(grid)->dimension;
    for (PetscInt d = 0; d < DIM; d++)
      config.cells[d] = grid_box(grid)->cells[d];
    config.origin = grid_origin(grid);
    config.spacing = grid_spacing(grid);
  }
  for (PetscInt n = 0; n < field_count; n++)
    names[n] = fields[n].name;
  config.field_count = field_count;
  config.fields = names;
  return config;
}

static FrameConfig run_frames(const Run *run)
{
  const RunConfig *config = &run->simulation->config->run;

  return frame_config(run->simulation, run->options->directory, run->frame, config->field_count,
                      config->fields, run->field_names);
}

static PetscErrorCode OpenFrames(Run *run)
{
  const FrameConfig config = run_frames(run);

  PetscFunctionBegin;
  PetscCall(FrameSeriesCreate(simulation_writers(run->simulation), &config, &run->frames, run->message,
                              run->message_size));
  PetscFunctionReturn(0);
}

/* Rows that a frame or a checkpoint follows are on the disk before it is. */
static PetscErrorCode SyncTables(Run *run)
{
  PetscFunctionBegin;
  PetscCall(LedgerSync(run->ledger, run->message, run->message_size));
  PetscCall(
      OutputTablesSync(&run->outputs, run->simulation, OUTPUT_GOES_ON, run->message, run->message_size));
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteFrame(Run *run)
{
  PetscFunctionBegin;
  if (simulation_writes(run->simulation)) {
    PetscCall(SimulationWriteFrame(run->simulation, run->frames, run->frame, run->options->scene_text,
                                   run->message, run->message_size));
    if (!run->message[0])
      PetscCall(SyncTables(run));
  }
  run->frame++;
  run->frame_time = next_frame_time(run);
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteCheckpoint(Run *run)
{
  const Simulation simulation = run->simulation;
  Archive          archive;

  PetscFunctionBegin;
  if (simulation_writes(simulation)) {
    PetscCall(SyncTables(run));
    if (run->message[0])
      PetscFunctionReturn(0);
    PetscCall(CheckpointCreate(simulation_writers(simulation), run->options->directory, simulation->step,
                               &archive));
    PetscCall(ArchiveWriteText(archive, "title", simulation->config->title));
    PetscCall(ArchiveWriteText(archive, "scene", run->options->scene_text));
    PetscCall(ArchiveWriteInteger(archive, "ledger_rows", ledger_rows(run->ledger)));
    PetscCall(ArchiveWriteInteger(archive, "frames", run->frame));
    PetscCall(OutputTablesSave(&run->outputs, simulation, archive));
    PetscCall(SimulationSave(simulation, archive));
    PetscCall(CheckpointCommit(&archive, run->message, run->message_size));
  }
  PetscCall(PetscTime(&run->last_checkpoint));
  PetscFunctionReturn(0);
}

/* A run has a row for its start and one for each step, and at most as many frames. */
static PetscErrorCode LoadCounts(Archive archive, void *context)
{
  Run       *run = context;
  PetscInt64 rows = (PetscInt64)run->simulation->step + 1, frames;

  PetscFunctionBegin;
  PetscCall(ArchiveReadCount(archive, "ledger_rows", rows, rows, &rows));
  PetscCall(ArchiveReadCount(archive, "frames", 1, rows, &frames));
  run->frame = (PetscInt)frames;
  PetscCall(OutputTablesLoad(&run->outputs, run->simulation, archive));
  PetscFunctionReturn(0);
}

/* Goes on from the state that has been loaded. Whatever refuses to comes first; then the checkpoint becomes
   the newest, and only then goes what is later. */
static PetscErrorCode TakeUpResults(Run *run)
{
  const MPI_Comm    writers = simulation_writers(run->simulation);
  const FrameConfig frames = run_frames(run);

  PetscFunctionBegin;
  PetscCall(FrameSeriesCheck(writers, &frames, run->simulation->time, run->message, run->message_size));
  if (!run->message[0])
    PetscCall(OpenLedger(run, run->simulation->step + 1));
  if (run->message[0])
    PetscFunctionReturn(0);
  run->begun = RUN_STOPPED;
  PetscCall(CheckpointAdopt(writers, run->options->directory, run->options->checkpoint, run->simulation->step,
                            run->message, run->message_size));
  if (!run->message[0])
    PetscCall(OpenFrames(run));
  PetscFunctionReturn(0);
}

/* The message of the first rank, which writes, is everybody's. */
static PetscErrorCode ShareMessage(Run *run)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(run->message, (PetscMPIInt)run->message_size, MPI_CHAR, 0,
                         team_world(run->simulation->team)));
  PetscFunctionReturn(0);
}

static PetscErrorCode Resume(Run *run)
{
  const PetscBool writes = simulation_writes(run->simulation);
  Archive         archive = NULL;

  PetscFunctionBegin;
  run->begun = RUN_REFUSED;
  if (writes)
    PetscCall(ArchiveOpen(simulation_writers(run->simulation), run->options->checkpoint, &archive,
                          run->message, run->message_size));
  PetscCall(ShareMessage(run));
  if (!run->message[0])
    PetscCall(SimulationLoad(run->simulation, archive, run->message, run->message_size));
  if (archive && !run->message[0])
    PetscCall(ArchiveTry(archive, LoadCounts, run, run->message, run->message_size));
  PetscCall(ArchiveDestroy(&archive));
  if (writes && !run->message[0])
    PetscCall(TakeUpResults(run));
  PetscFunctionReturn(0);
}

/* Which solve failed and how, in words; nothing where there is no fluid. */
static PetscErrorCode DescribeFailure(Simulation simulation, char reason[], size_t size)
{
  PetscFunctionBegin;
  if (simulation->too_fast)
    PetscCall(PetscSNPrintf(
        reason, size,
        "it makes a flow that is too fast for it (let motions and inflows begin and change smoothly)"));
  else
    PetscCall(PartsDescribeFailure(simulation, reason, size));
  PetscFunctionReturn(0);
}

static PetscErrorCode StartAfresh(Run *run)
{
  char      reason[512] = "";
  PetscBool good;

  PetscFunctionBegin;
  PetscCall(SimulationTryStart(run->simulation, &good));
  if (!good) {
    run->begun = RUN_FAILED;
    PetscCall(DescribeFailure(run->simulation, reason, sizeof(reason)));
    PetscCall(PetscSNPrintf(run->message, run->message_size,
                            "The projection of the initial state failed: %s. Try a looser %s", reason,
                            parts_tolerance(run->simulation->config)));
  }
  if (!good || !simulation_writes(run->simulation))
    PetscFunctionReturn(0);
  if (run->options->results)
    PetscCall(RunDirectoryClear(run->options->results));
  PetscCall(OpenLedger(run, 0));
  if (!run->message[0])
    PetscCall(OpenFrames(run));
  if (run->message[0])
    PetscFunctionReturn(0);
  PetscCall(CollectRow(run, 0.));
  PetscCall(WriteFrame(run));
  PetscFunctionReturn(0);
}

/* Where the run stands is known to who writes; the others learn it. */
static PetscErrorCode ShareStart(Run *run)
{
  const MPI_Comm world = team_world(run->simulation->team);
  PetscInt64     counts[2] = {run->frame, run->begun};

  PetscFunctionBegin;
  PetscCall(TeamAwaitFluid(run->simulation->team));
  PetscCall(ShareMessage(run));
  PetscCallMPI(MPI_Bcast(counts, 2, MPIU_INT64, 0, world));
  run->frame = (PetscInt)counts[0];
  run->frame_time = next_frame_time(run);
  run->begun = (RunOutcome)counts[1];
  PetscFunctionReturn(0);
}

/* Why a step failed twice, for the user. */
static PetscErrorCode ExplainFailure(Run *run, PetscReal dt)
{
  const Simulation simulation = run->simulation;
  char             reason[512] = "a velocity of a body is not finite";

  PetscFunctionBegin;
  if (simulation->fluid_failed)
    PetscCall(DescribeFailure(simulation, reason, sizeof(reason)));
  else if (simulation->solid)
    PetscCall(SolidDescribeFailure(simulation->solid, reason, sizeof(reason)));
  snprintf(
      run->message, run->message_size,
      "Step %" PetscInt_FMT " at t = %g s failed, also with %s its size (dt = %g s): %s. Look at the last "
      "frame; try a smaller %s or run.largest_time_step%s%s",
      simulation->step + 1, (double)simulation->time, simulation->too_fast ? "a small part of" : "half",
      (double)dt, reason, simulation->grid ? "fluid.cfl" : "solids.cfl",
      simulation->grid ? ", or a looser " : "", simulation->grid ? parts_tolerance(simulation->config) : "");
  PetscFunctionReturn(0);
}

static PetscErrorCode TryStep(Run *run, PetscBool *good)
{
  const Simulation simulation = run->simulation;
  PetscReal        dt;

  PetscFunctionBegin;
  PetscCall(SimulationGetTimeStep(simulation, run->frame_time, &dt));
  *good = dt > 1e-9 * simulation->config->run.frame_interval ? PETSC_TRUE : PETSC_FALSE;
  if (!*good) {
    snprintf(
        run->message, run->message_size,
        "At t = %g s the %s become so fast that the time step would be %.3g s. Look at the last frame; %s",
        (double)simulation->time, simulation->grid ? "flow or something that is moved has" : "bodies have",
        (double)dt,
        simulation->grid ? "let motions and inflows begin and change smoothly, or try a smaller fluid.cfl"
                         : "try a fixed run.time_step");
    PetscFunctionReturn(0);
  }
  PetscCall(SimulationTryStep(simulation, &dt, good));
  if (!*good)
    PetscCall(ExplainFailure(run, dt));
  PetscFunctionReturn(0);
}

/* What the first rank's clock, everybody's signals and the disk say. */
typedef struct {
  PetscMPIInt signal; /* number of one that asks for the end; 0: none */
  PetscMPIInt wall_limit, checkpoint, trouble;
  PetscMPIInt steady; /* the flow is, and its last state is in a frame */
} Orders;

static PetscBool is_stopped(const Orders *orders)
{
  return orders->signal || orders->wall_limit || orders->trouble ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode GetOrders(Run *run, Orders *orders)
{
  const RunConfig *config = &run->simulation->config->run;
  const MPI_Comm   world = team_world(run->simulation->team);
  PetscMPIInt      asked[5] = {simulation_stop_signal(), 0, 0, run->message[0] != '\0', run->steady}, rank;
  PetscLogDouble   now;

  PetscFunctionBegin;
  PetscCall(PetscTime(&now));
  PetscCallMPI(MPI_Comm_rank(world, &rank));
  if (rank == 0) {
    /* room for one more step and for writing the checkpoint */
    if (config->wall_limit > 0. && now - run->began + 3. * run->longest_step > config->wall_limit)
      asked[1] = 1;
    if (config->checkpoint_interval > 0. && now - run->last_checkpoint > config->checkpoint_interval)
      asked[2] = 1;
  }
  PetscCall(TeamAwaitFluid(run->simulation->team));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, asked, 5, MPI_INT, MPI_MAX, world));
  *orders = (Orders){asked[0], asked[1], asked[2], asked[3], asked[4]};
  PetscFunctionReturn(0);
}

/* Everything that follows a good step. */
static PetscErrorCode AfterStep(Run *run, PetscLogDouble began)
{
  PetscLogDouble now;
  PetscBool      at_frame;

  PetscFunctionBegin;
  PetscCall(PetscTime(&now));
  PetscCall(CollectRow(run, now - began));
  at_frame = run->simulation->time >= run->frame_time * (1. - 1e-12) ? PETSC_TRUE : PETSC_FALSE;
  run->steady = at_frame && simulation_is_steady(run->simulation) ? 1 : 0;
  if (at_frame)
    PetscCall(WriteFrame(run));
  progress_warn(run->simulation, &run->progress, run->gas_failures);
  run->gas_failures = run->simulation->gas_failures;
  PetscCall(ProgressShow(run->simulation, &run->progress, run->frame - 1,
                         at_frame ? PROGRESS_FRAME : PROGRESS_STEP));
  PetscCall(PetscTime(&now));
  run->longest_step = PetscMax(run->longest_step, now - began);
  PetscFunctionReturn(0);
}

/* A state that nothing can have led to is the end of a run. */
static PetscErrorCode JudgeEnergy(Run *run, PetscBool *good)
{
  char excess[512] = "";

  PetscFunctionBegin;
  PetscCall(SimulationCheckEnergy(run->simulation, excess, sizeof(excess)));
  if (excess[0])
    PetscCall(PetscStrncpy(run->message, excess, run->message_size));
  *good = excess[0] ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(TeamAwaitFluid(run->simulation->team));
  PetscCallMPI(MPI_Bcast(good, 1, MPIU_BOOL, 0, team_world(run->simulation->team))); /* it has fluid */
  PetscFunctionReturn(0);
}

static PetscBool is_over(const Run *run)
{
  const Simulation simulation = run->simulation;
  const RunConfig *config = &simulation->config->run;

  if (config->step_limit > 0 && simulation->step >= config->step_limit)
    return PETSC_TRUE;
  return simulation->time >= config->end_time * (1. - 1e-12) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode TakeSteps(Run *run)
{
  PetscLogDouble began;
  PetscBool      good = PETSC_TRUE;
  Orders         orders = {0, 0, 0, 0, 0};

  PetscFunctionBegin;
  run->ending->outcome = RUN_DONE;
  PetscCall(GetOrders(run, &orders));
  while (!is_over(run) && !is_stopped(&orders) && !orders.steady) {
    PetscCall(PetscTime(&began));
    PetscCall(SimulationBalance(run->simulation));
    PetscCall(TryStep(run, &good));
    if (!good)
      break;
    PetscCall(AfterStep(run, began));
    PetscCall(JudgeEnergy(run, &good));
    if (!good)
      break;
    PetscCall(GetOrders(run, &orders));
    if (orders.checkpoint && !is_stopped(&orders)) {
      PetscCall(WriteCheckpoint(run));
      PetscCall(GetOrders(run, &orders));
    }
  }
  if (!good)
    run->ending->outcome = RUN_FAILED;
  else if (!is_over(run) && !orders.steady)
    run->ending->outcome = RUN_STOPPED;
  run->ending->steady = orders.steady && !is_over(run) ? PETSC_TRUE : PETSC_FALSE;
  if (orders.signal)
    PetscCall(PetscSNPrintf(run->ending->reason, sizeof(run->ending->reason), "signal %s",
                            signal_name(orders.signal)));
  else if (orders.wall_limit)
    PetscCall(PetscStrncpy(run->ending->reason, "run.wall_limit", sizeof(run->ending->reason)));
  PetscFunctionReturn(0);
}

/* The last checkpoint, whatever ended the run; what goes wrong with it is told besides the rest. */
static PetscErrorCode Finish(Run *run)
{
  const MPI_Comm world = team_world(run->simulation->team);
  const char    *join = ". No checkpoint could be written either: ";
  char           earlier[1024];

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(earlier, run->message, sizeof(earlier)));
  run->message[0] = '\0';
  PetscCall(WriteCheckpoint(run));
  run->ending->saved = run->message[0] ? PETSC_FALSE : PETSC_TRUE;
  if (run->ledger && !run->message[0]) {
    join = ". Besides, ";
    PetscCall(LedgerFinish(run->ledger, run->message, run->message_size));
    PetscCall(OutputTablesSync(&run->outputs, run->simulation, OUTPUT_END, run->message, run->message_size));
  }
  if (earlier[0] && run->message[0] && strcmp(earlier, run->message)) {
    PetscCall(PetscStrlcat(earlier, join, sizeof(earlier)));
    PetscCall(PetscStrlcat(earlier, run->message, sizeof(earlier)));
  }
  if (earlier[0])
    PetscCall(PetscStrncpy(run->message, earlier, run->message_size));
  PetscCall(TeamAwaitFluid(run->simulation->team));
  PetscCallMPI(MPI_Bcast(run->message, (PetscMPIInt)run->message_size, MPI_CHAR, 0, world));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationRun(Simulation simulation, const RunOptions *options, RunEnding *ending,
                             char message[], size_t message_size)
{
  PetscInt first;
  Run     *run;

  PetscFunctionBegin;
  message[0] = '\0';
  PetscCall(PetscNew(&run));
  *run = (Run){.simulation = simulation,
               .options = options,
               .begun = RUN_STOPPED,
               .ending = ending,
               .message = message,
               .message_size = message_size};
  PetscCall(OutputTablesCreate(simulation, &run->outputs));
  PetscCall(PetscMalloc1(simulation->config->run.field_count, &run->field_names));
  simulation_listen();
  PetscCall(PetscTime(&run->began));
  run->last_checkpoint = run->began;
  if (options->checkpoint)
    PetscCall(Resume(run));
  else
    PetscCall(StartAfresh(run));
  PetscCall(ShareStart(run));
  *ending = (RunEnding){.outcome = run->begun};
  first = simulation->step;
  if (!message[0]) {
    PetscCall(ProgressBegin(simulation, &run->progress));
    PetscCall(TakeSteps(run));
    PetscCall(ProgressEnd(simulation, &run->progress));
    PetscCall(Finish(run));
  }
  ending->trouble = message[0] ? PETSC_TRUE : PETSC_FALSE;
  ending->steps = simulation->step - first;
  ending->frames = run->frame;
  PetscCall(LedgerDestroy(&run->ledger));
  PetscCall(OutputTablesDestroy(&run->outputs, simulation));
  PetscCall(PetscFree(run->field_names));
  PetscCall(FrameSeriesDestroy(&run->frames));
  PetscCall(PetscFree(run));
  PetscFunctionReturn(0);
}
