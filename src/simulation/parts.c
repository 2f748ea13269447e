/* The parts of a run, in the order in which each may rely on those before it. */
#include "simulation_impl.h"

extern const Part SolidsPart, BoxPart, ObstaclesPart, CoupledPart, RegionsPart, FlowPart, OneWayPart,
    InflowsPart, SplashPart, SplashBodiesPart, SteadyPart, OutputPart;
static const Part *const rows[] = {&SolidsPart,  &BoxPart,          &ObstaclesPart, &CoupledPart,
                                   &RegionsPart, &FlowPart,         &OneWayPart,    &InflowsPart,
                                   &SplashPart,  &SplashBodiesPart, &SteadyPart,    &OutputPart};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static PetscBool is_in(const Part *part, const SimulationConfig *config)
{
  return part->is_in ? part->is_in(config) : config->grid.dimension > 0;
}

/* Whether this rank has it. */
static PetscBool is_here(const Part *part, Simulation simulation)
{
  return is_in(part, simulation->config) && (part->ranks == PART_ON_ALL || team_has_fluid(simulation->team));
}

/* Calls a function of all parts that have it. */
#define CallParts(function, simulation, ...)                                                                 \
  for (PetscInt p_ = 0; p_ < ROWS; p_++)                                                                     \
    if (rows[p_]->function && is_here(rows[p_], simulation))                                                 \
  PetscCall(rows[p_]->function(__VA_ARGS__))

/* The first rank has a copy of every part, so that its message is everybody's. */
PetscErrorCode PartsCreate(Simulation simulation, char message[], size_t size)
{
  PetscFunctionBegin;
  for (PetscInt p = 0; p < ROWS && !message[0]; p++) {
    if (rows[p]->create && is_here(rows[p], simulation))
      PetscCall(rows[p]->create(simulation, message, size));
    PetscCallMPI(MPI_Bcast(message, (PetscMPIInt)size, MPI_CHAR, 0, team_world(simulation->team)));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PartsStart(Simulation simulation, PetscBool *good)
{
  PetscFunctionBegin;
  *good = PETSC_TRUE;
  for (PetscInt p = 0; p < ROWS && *good; p++)
    if (rows[p]->start && is_here(rows[p], simulation))
      PetscCall(rows[p]->start(simulation, good));
  PetscFunctionReturn(0);
}

PetscErrorCode PartsGetLimit(Simulation simulation, const StepBounds *bounds, PetscReal *limit)
{
  PetscFunctionBegin;
  *limit = PETSC_MAX_REAL;
  for (PetscInt p = 0; p < ROWS; p++)
    if (rows[p]->get_limit && is_here(rows[p], simulation)) {
      PetscReal other = PETSC_MAX_REAL;

      PetscCall(rows[p]->get_limit(simulation, bounds, &other));
      *limit = PetscMin(*limit, other);
    }
  PetscFunctionReturn(0);
}

PetscErrorCode PartsGetGivenLimit(Simulation simulation, const StepBounds *bounds, PetscReal dt,
                                  PetscReal *limit)
{
  PetscFunctionBegin;
  *limit = PETSC_MAX_REAL;
  for (PetscInt p = 0; p < ROWS; p++)
    if (rows[p]->get_given_limit && is_here(rows[p], simulation)) {
      PetscReal other = PETSC_MAX_REAL;

      PetscCall(rows[p]->get_given_limit(simulation, bounds, dt, &other));
      *limit = PetscMin(*limit, other);
    }
  PetscFunctionReturn(0);
}

PetscErrorCode PartsKeep(Simulation simulation)
{
  PetscFunctionBegin;
  CallParts(keep, simulation, simulation);
  PetscFunctionReturn(0);
}

PetscErrorCode PartsRestore(Simulation simulation)
{
  PetscFunctionBegin;
  CallParts(restore, simulation, simulation);
  PetscCall(PartsDerive(simulation));
  PetscFunctionReturn(0);
}

PetscErrorCode PartsDescribe(Simulation simulation, Text *layout)
{
  PetscFunctionBegin;
  CallParts(describe, simulation, simulation, layout);
  PetscFunctionReturn(0);
}

PetscErrorCode PartsSave(Simulation simulation, Archive archive)
{
  PetscFunctionBegin;
  CallParts(save, simulation, simulation, archive);
  PetscFunctionReturn(0);
}

static PetscBool is_of_stage(const Part *row, LoadStage stage)
{
  return (row == &SolidsPart) == (stage == LOAD_SOLIDS) ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode PartsLoad(Simulation simulation, LoadStage stage, Archive archive)
{
  PetscFunctionBegin;
  for (PetscInt p = 0; p < ROWS; p++)
    if (rows[p]->load && is_here(rows[p], simulation) && is_of_stage(rows[p], stage))
      PetscCall(rows[p]->load(simulation, archive));
  PetscFunctionReturn(0);
}

PetscErrorCode PartsShare(Simulation simulation, LoadStage stage)
{
  PetscFunctionBegin;
  for (PetscInt p = 0; p < ROWS; p++)
    if (rows[p]->share && is_here(rows[p], simulation) && is_of_stage(rows[p], stage))
      PetscCall(rows[p]->share(simulation));
  PetscFunctionReturn(0);
}

PetscErrorCode PartsAddWork(Simulation simulation, PetscReal work[])
{
  PetscFunctionBegin;
  CallParts(add_work, simulation, simulation, work);
  PetscFunctionReturn(0);
}

PetscErrorCode PartsCheck(Simulation simulation)
{
  PetscFunctionBegin;
  CallParts(check, simulation, simulation);
  PetscFunctionReturn(0);
}

PetscErrorCode PartsDerive(Simulation simulation)
{
  PetscFunctionBegin;
  CallParts(derive, simulation, simulation);
  PetscFunctionReturn(0);
}

PetscErrorCode PartsWriteFrame(Simulation simulation, FrameSeries frames)
{
  PetscFunctionBegin;
  CallParts(write_frame, simulation, simulation, frames);
  PetscFunctionReturn(0);
}

PetscErrorCode PartsRecord(Simulation simulation, Record *record)
{
  PetscFunctionBegin;
  CallParts(record, simulation, simulation, record);
  PetscFunctionReturn(0);
}

PetscErrorCode PartsRecordTimes(Simulation simulation, Record *record)
{
  PetscFunctionBegin;
  CallParts(record_times, simulation, simulation, record);
  PetscFunctionReturn(0);
}

PetscReal parts_count_fields(const SimulationConfig *config)
{
  PetscReal fields = 0.;

  for (PetscInt p = 0; p < ROWS; p++)
    if (rows[p]->count_fields && is_in(rows[p], config))
      fields += rows[p]->count_fields(config);
  return fields;
}

PetscErrorCode PartsDestroy(Simulation simulation)
{
  PetscFunctionBegin;
  for (PetscInt p = ROWS - 1; p >= 0; p--)
    if (rows[p]->destroy && is_here(rows[p], simulation))
      PetscCall(rows[p]->destroy(simulation));
  PetscFunctionReturn(0);
}

/* The last rows first: what a fluid did, then its solids. */
void parts_describe_work(Simulation simulation, PetscReal rate, ProgressLine *line)
{
  for (PetscInt p = ROWS - 1; p >= 0; p--)
    if (rows[p]->describe_work && is_here(rows[p], simulation))
      rows[p]->describe_work(simulation, rate, line);
}

PetscErrorCode PartsDescribeFailure(Simulation simulation, char reason[], size_t size)
{
  char found[512] = "";

  PetscFunctionBegin;
  for (PetscInt p = 0; p < ROWS && !found[0]; p++)
    if (rows[p]->describe_failure && is_here(rows[p], simulation))
      PetscCall(rows[p]->describe_failure(simulation, found, sizeof(found)));
  if (found[0])
    PetscCall(PetscStrncpy(reason, found, size));
  PetscFunctionReturn(0);
}

const char *parts_tolerance(const SimulationConfig *config)
{
  for (PetscInt p = 0; p < ROWS; p++)
    if (rows[p]->tolerance && is_in(rows[p], config) &&
        !(rows[p] == &CoupledPart && simulation_stands_still(config)))
      return rows[p]->tolerance;
  return NULL;
}

void parts_estimate(const SimulationConfig *config, SimulationEstimate *estimate)
{
  for (PetscInt p = 0; p < ROWS; p++)
    if (rows[p]->estimate && is_in(rows[p], config))
      rows[p]->estimate(config, estimate);
}

PetscReal parts_expected_speed(const SimulationConfig *config)
{
  PetscReal largest = 0.;

  for (PetscInt p = 0; p < ROWS; p++)
    if (rows[p]->expect_speed && is_in(rows[p], config))
      largest = PetscMax(largest, rows[p]->expect_speed(config));
  return largest;
}
