/* The rows of the ledger: what a run measures of itself at every step. */
#include "simulation_impl.h"

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
