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

    PetscCall(FluidGetScalarTotal(simulation_carrier(simulation), s, &total));
    put(record, total, "m^3", "total_%s", config->scalars[s].name);
  }
  PetscFunctionReturn(0);
}

static void put_regions(Simulation simulation, Record *record)
{
  const PhaseConfig *config = &simulation->config->phases;
  const PhaseReport *report = phase_report(simulation->phase);
  const PetscInt     dimension = grid_box(simulation->grid)->dimension;
  char               name[RECORD_NAME_LENGTH];

  put(record, simulation->time - 0.5 * simulation->dt, "s", "interface_time");
  for (PetscInt r = 0; r < config->region_count; r++) {
    put(record, report->volume[r], dimension == 3 ? "m^3" : "m^2", "volume_%s", config->regions[r].name);
    snprintf(name, sizeof(name), "center_%s", config->regions[r].name);
    put_vector(record, report->center[r].at, dimension, "m", name);
    put(record, report->surface[r], dimension == 3 ? "m^2" : "m", "surface_%s", config->regions[r].name);
    put(record, report->particles[r], "1", "markers_%s", config->regions[r].name);
  }
  put(record, report->escaped, "1", "markers_escaped");
  put(record, report->dropped, "1", "markers_dropped");
  put(record, report->vanished, "1", "vanished_region");
  if (simulation->gas)
    put(record, simulation->gas_failures, "1", "gas_failures");
}

static PetscErrorCode PutForces(Simulation simulation, Record *record)
{
  const PetscInt count = simulation->closed_count;
  const PetscInt dimension = grid_box(simulation->grid)->dimension;
  char           name[RECORD_NAME_LENGTH];
  Vector3       *pressure, *viscous;

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(count, &pressure, count, &viscous));
  PetscCall(FluidGetForces(simulation->fluid, pressure, viscous));
  for (PetscInt o = 0; o < simulation->config->obstacle_count; o++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "pressure_force_%s", simulation->config->obstacles[o].name));
    put_vector(record, pressure[o].at, dimension, "N", name);
    PetscCall(PetscSNPrintf(name, sizeof(name), "viscous_force_%s", simulation->config->obstacles[o].name));
    put_vector(record, viscous[o].at, dimension, "N", name);
  }
  PetscCall(PetscFree2(pressure, viscous));
  PetscFunctionReturn(0);
}

static PetscErrorCode PutFluid(Simulation simulation, Record *record)
{
  const FluidReport *report = fluid_report(simulation->fluid);

  PetscFunctionBegin;
  PetscCall(PutTotals(simulation, record));
  PetscCall(PutScalars(simulation, record));
  if (simulation->phase)
    put_regions(simulation, record);
  PetscCall(PutForces(simulation, record));
  put(record, report->pressure.iterations, "1", "pressure_iterations");
  put(record, report->pressure.residual, "1", "pressure_residual");
  put(record, report->pressure.sealed, "1", "sealed_components");
  put(record, report->viscosity_iterations, "1", "viscosity_iterations");
  PetscFunctionReturn(0);
}

enum { MOST_BODIES = 16 }; /* that have columns of their own */

static void put_bodies(Simulation simulation, Record *record)
{
  PetscInt free = 0;

  for (PetscInt b = 0; b < solid_body_count(simulation->solid); b++)
    if (solid_body_view(simulation->solid, b).config->kind == BODY_DYNAMIC)
      free++;
  for (PetscInt b = 0; b < solid_body_count(simulation->solid) && free <= MOST_BODIES; b++) {
    const BodyView body = solid_body_view(simulation->solid, b);
    char           name[RECORD_NAME_LENGTH - 16], column[RECORD_NAME_LENGTH];

    if (body.config->kind != BODY_DYNAMIC)
      continue;
    snprintf(name, sizeof(name), "%s", body.config->name);
    if (body.copy >= 0)
      snprintf(name, sizeof(name), "%s.%d", body.config->name, (int)body.copy);
    snprintf(column, sizeof(column), "position_%s", name);
    put_vector(record, body.position.at, DIM, "m", column);
    snprintf(column, sizeof(column), "velocity_%s", name);
    put_vector(record, body.velocity.at, DIM, "m/s", column);
  }
}

static void put_solids(Simulation simulation, Record *record)
{
  const SolidReport report = solid_report(simulation->solid);

  put_vector(record, report.momentum.at, DIM, "kg m/s", "solid_momentum");
  put_vector(record, report.angular_momentum.at, DIM, "kg m^2/s", "solid_angular_momentum");
  put(record, report.kinetic_energy, "J", "solid_kinetic_energy");
  put(record, report.potential_energy, "J", "solid_potential_energy");
  put(record, report.kinetic_energy + report.potential_energy, "J", "solid_energy");
  put(record, report.largest_speed, "m/s", "solid_speed_max");
  put(record, report.largest_penetration, "m", "penetration_max");
  put(record, report.largest_joint_error, "m", "joint_error_max");
  put(record, report.contacts, "1", "contacts");
  put(record, report.contact_points, "1", "contact_points");
  put(record, report.collisions, "1", "collisions");
  put(record, report.levels, "1", "contact_levels");
  put(record, report.position_iterations, "1", "position_iterations");
  put(record, report.velocity_iterations, "1", "velocity_iterations");
  put(record, report.push_outs, "1", "push_outs");
  put_bodies(simulation, record);
}

PetscErrorCode SimulationCollectRecord(Simulation simulation, PetscReal wall_step, Record *record)
{
  PetscFunctionBegin;
  record->count = 0;
  put(record, simulation->step, "1", "step");
  put(record, simulation->time, "s", "time");
  put(record, simulation->dt, "s", "dt");
  if (simulation->fluid)
    PetscCall(PutFluid(simulation, record));
  if (simulation->solid)
    put_solids(simulation, record);
  put(record, wall_step, "s", "wall_step");
  if (simulation->fluid) {
    put(record, fluid_report(simulation->fluid)->wall_advection, "s", "wall_advection");
    put(record, fluid_report(simulation->fluid)->wall_viscosity, "s", "wall_viscosity");
    put(record, fluid_report(simulation->fluid)->wall_projection, "s", "wall_projection");
  }
  if (simulation->phase)
    put(record, simulation->wall_regions, "s", "wall_regions");
  if (simulation->solid)
    put(record, simulation->wall_solids, "s", "wall_solids");
  PetscFunctionReturn(0);
}
