/* The rows of the ledger: what a run measures of itself at every step. */
#include "simulation_impl.h"

#include <math.h>
#include <stdarg.h>

void record_put(Record *record, PetscReal value, const char unit[], const char format[], ...)
{
  const PetscInt n = record->count;
  va_list        arguments;

  if (n == RECORD_CAPACITY)
    return;
  va_start(arguments, format);
  vsnprintf(record->names[n], RECORD_NAME_LENGTH, format, arguments);
  va_end(arguments);
  record->columns[n][0] = record->names[n];
  record->columns[n][1] = unit;
  record->values[n] = value;
  record->count++;
}

void record_put_vector(Record *record, const PetscReal value[DIM], PetscInt dimension, const char unit[],
                       const char name[])
{
  for (PetscInt d = 0; d < dimension; d++)
    record_put(record, value[d], unit, "%s_%c", name, "xyz"[d]);
}

void record_put_turning(Record *record, const PetscReal value[DIM], PetscInt dimension, const char unit[],
                        const char name[])
{
  if (dimension == DIM)
    record_put_vector(record, value, DIM, unit, name);
  else
    record_put(record, value[Z], unit, "%s_z", name);
}

PetscInt record_dimension(const SimulationConfig *config)
{
  return config->grid.dimension == 2 ? 2 : DIM;
}

PetscErrorCode SimulationCollectRecord(Simulation simulation, PetscReal wall_step, Record *record)
{
  PetscFunctionBegin;
  record->count = 0;
  record_put(record, simulation->step, "1", "step");
  record_put(record, simulation->time, "s", "time");
  record_put(record, simulation->dt, "s", "dt");
  PetscCall(PartsRecord(simulation, record));
  record_put(record, wall_step, "s", "wall_step");
  PetscCall(PartsRecordTimes(simulation, record));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationGetRecord(Simulation simulation, const char name[], PetscReal *value)
{
  const MPI_Comm world = team_world(simulation->team);
  PetscReal      answer[2] = {0., 0.}; /* whether there is one, and which */
  PetscBool      looks;
  Record        *record;

  PetscFunctionBegin;
  PetscCall(PetscNew(&record));
  if (simulation_writes(simulation)) {
    PetscCall(SimulationLookAhead(simulation, &looks));
    PetscCall(SimulationCollectRecord(simulation, (PetscReal)NAN, record));
    PetscCall(SimulationLookBack(simulation, looks));
  }
  for (PetscInt n = 0; n < record->count; n++)
    if (!strcmp(record->names[n], name)) {
      answer[0] = 1.;
      answer[1] = record->values[n];
    }
  PetscCall(PetscFree(record));
  /* the first rank of the world is the first of those that write */
  PetscCallMPI(MPI_Bcast(answer, 2, MPIU_REAL, 0, world));
  PetscCheck(answer[0] > 0., world, PETSC_ERR_ARG_OUTOFRANGE, "The ledger of this simulation has no \"%s\"",
             name);
  *value = answer[1];
  PetscFunctionReturn(0);
}
