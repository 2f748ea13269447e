/* The rows of the ledger: what a run measures of itself at every step. */
#include "simulation_impl.h"

#include <stdarg.h>

static void put(Record *record, PetscReal value, const char unit[], const char format[], ...)
    __attribute__((format(printf, 4, 5)));

static void put(Record *record, PetscReal value, const char unit[], const char format[], ...)
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

static void put_vector(Record *record, const PetscReal value[DIM], PetscInt dimension, const char unit[],
                       const char name[])
{
  for (PetscInt d = 0; d < dimension; d++)
    put(record, value[d], unit, "%s_%c", name, "xyz"[d]);
}

static PetscErrorCode PutTotals(Simulation simulation, Record *record)
{
  const GridBox *box = grid_box(simulation->grid);
  FluidTotals    totals;

  PetscFunctionBegin;
  PetscCall(FluidGetTotals(simulation->fluid, &totals));
  put(record, totals.mass, "kg", "mass");
  put_vector(record, totals.momentum, box->dimension, "kg m/s", "momentum");
  put(record, totals.kinetic_energy, "J", "kinetic_energy");
  put(record, totals.largest_speed, "m/s", "speed_max");
  put(record, totals.largest_divergence, "1/s", "divergence_max");
  for (PetscInt axis = 0; axis < box->dimension; axis++)
    for (PetscInt side = 0; side < 2; side++)
      if (!box->periodic[axis])
        put(record, totals.outflow[axis][side], "m^3/s", "outflow_%c_%s", "xyz"[axis], side ? "high" : "low");
  PetscFunctionReturn(0);
}

static PetscErrorCode PutScalars(Simulation simulation, Record *record)
{
  const FluidConfig *config = &simulation->config->fluid;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < config->scalar_count; s++) {
    PetscReal total;

    PetscCall(FluidGetScalarTotal(simulation->fluid, s, &total));
    put(record, total, "m^3", "total_%s", config->scalars[s].name);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode PutForces(Simulation simulation, Record *record)
{
  const PetscInt count = simulation->config->obstacle_count;
  const PetscInt dimension = grid_box(simulation->grid)->dimension;
  char           name[RECORD_NAME_LENGTH];
  Vector3       *pressure, *viscous;

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(count, &pressure, count, &viscous));
  PetscCall(FluidGetForces(simulation->fluid, pressure, viscous));
  for (PetscInt o = 0; o < count; o++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "pressure_force_%s", simulation->config->obstacles[o].name));
    put_vector(record, pressure[o].at, dimension, "N", name);
    PetscCall(PetscSNPrintf(name, sizeof(name), "viscous_force_%s", simulation->config->obstacles[o].name));
    put_vector(record, viscous[o].at, dimension, "N", name);
  }
  PetscCall(PetscFree2(pressure, viscous));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationCollectRecord(Simulation simulation, PetscReal wall_step, Record *record)
{
  const FluidReport *report = fluid_report(simulation->fluid);

  PetscFunctionBegin;
  record->count = 0;
  put(record, simulation->step, "1", "step");
  put(record, simulation->time, "s", "time");
  put(record, simulation->dt, "s", "dt");
  PetscCall(PutTotals(simulation, record));
  PetscCall(PutScalars(simulation, record));
  PetscCall(PutForces(simulation, record));
  put(record, report->pressure.iterations, "1", "pressure_iterations");
  put(record, report->pressure.residual, "1", "pressure_residual");
  put(record, report->pressure.sealed, "1", "sealed_components");
  put(record, report->viscosity_iterations, "1", "viscosity_iterations");
  put(record, wall_step, "s", "wall_step");
  put(record, report->wall_advection, "s", "wall_advection");
  put(record, report->wall_viscosity, "s", "wall_viscosity");
  put(record, report->wall_projection, "s", "wall_projection");
  PetscFunctionReturn(0);
}
