/* The rows of the ledger: what a run measures of itself at every step. */
#include "coupled_impl.h"

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

static PetscErrorCode PutTotals(Simulation simulation, Record *record)
{
  const GridBox *box = grid_box(simulation->grid);
  FluidTotals    totals;

  PetscFunctionBegin;
  PetscCall(FluidGetTotals(simulation->fluid, &totals));
  record_put(record, totals.mass, "kg", "mass");
  record_put_vector(record, totals.momentum, box->dimension, "kg m/s", "momentum");
  record_put(record, totals.kinetic_energy, "J", "kinetic_energy");
  record_put(record, totals.largest_speed, "m/s", "speed_max");
  record_put(record, simulation->coupled ? simulation->coupled->divergence : totals.largest_divergence, "1/s",
             "divergence_max");
  for (PetscInt axis = 0; axis < box->dimension; axis++)
    for (PetscInt side = 0; side < 2; side++)
      if (!box->periodic[axis])
        record_put(record, totals.outflow[axis][side], "m^3/s", "outflow_%c_%s", "xyz"[axis],
                   side ? "high" : "low");
  PetscFunctionReturn(0);
}

static PetscErrorCode PutScalars(Simulation simulation, Record *record)
{
  const FluidConfig *config = &simulation->config->fluid;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < config->scalar_count; s++) {
    PetscReal total;

    PetscCall(FluidGetScalarTotal(simulation_carrier(simulation), s, &total));
    record_put(record, total, "m^3", "total_%s", config->scalars[s].name);
  }
  PetscFunctionReturn(0);
}

static void put_regions(Simulation simulation, Record *record)
{
  const PhaseConfig *config = &simulation->config->phases;
  const PhaseReport *report = phase_report(simulation->phase);
  const PetscInt     dimension = grid_box(simulation->grid)->dimension;
  char               name[RECORD_NAME_LENGTH];

  record_put(record, simulation->time - 0.5 * simulation->dt, "s", "interface_time");
  for (PetscInt r = 0; r < config->region_count; r++) {
    record_put(record, report->volume[r], dimension == 3 ? "m^3" : "m^2", "volume_%s",
               config->regions[r].name);
    snprintf(name, sizeof(name), "center_%s", config->regions[r].name);
    record_put_vector(record, report->center[r].at, dimension, "m", name);
    record_put(record, report->surface[r], dimension == 3 ? "m^2" : "m", "surface_%s",
               config->regions[r].name);
    record_put(record, report->particles[r], "1", "markers_%s", config->regions[r].name);
  }
  record_put(record, report->escaped, "1", "markers_escaped");
  record_put(record, report->dropped, "1", "markers_dropped");
  record_put(record, report->vanished, "1", "vanished_region");
  if (simulation->gas)
    record_put(record, simulation->gas_failures, "1", "gas_failures");
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
    record_put_vector(record, pressure[o].at, dimension, "N", name);
    PetscCall(PetscSNPrintf(name, sizeof(name), "viscous_force_%s", simulation->config->obstacles[o].name));
    record_put_vector(record, viscous[o].at, dimension, "N", name);
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
  if (!simulation->coupled) {
    record_put(record, report->pressure.iterations, "1", "pressure_iterations");
    record_put(record, report->pressure.residual, "1", "pressure_residual");
    record_put(record, report->pressure.sealed, "1", "sealed_components");
  }
  record_put(record, report->viscosity_iterations, "1", "viscosity_iterations");
  PetscFunctionReturn(0);
}

void record_body_name(Simulation simulation, PetscInt body, char name[], size_t size)
{
  const BodyView view = solid_body_view(simulation->solid, body);

  if (view.copy >= 0)
    snprintf(name, size, "%s.%d", view.config->name, (int)view.copy);
  else
    snprintf(name, size, "%s", view.config->name);
}

PetscBool record_shows_body(Simulation simulation, PetscInt body)
{
  const PetscBool dynamic = solid_body_view(simulation->solid, body).config->kind == BODY_DYNAMIC;
  PetscInt        alike = 0;

  for (PetscInt b = 0; b < solid_body_count(simulation->solid) && alike <= MOST_BODIES; b++)
    alike += (solid_body_view(simulation->solid, b).config->kind == BODY_DYNAMIC) == dynamic;
  return alike <= MOST_BODIES ? PETSC_TRUE : PETSC_FALSE;
}

static void put_bodies(Simulation simulation, Record *record)
{
  for (PetscInt b = 0; b < solid_body_count(simulation->solid); b++) {
    const BodyView body = solid_body_view(simulation->solid, b);
    char           name[RECORD_NAME_LENGTH - 16], column[RECORD_NAME_LENGTH];

    if (body.config->kind != BODY_DYNAMIC || !record_shows_body(simulation, b))
      continue;
    record_body_name(simulation, b, name, sizeof(name));
    snprintf(column, sizeof(column), "position_%s", name);
    record_put_vector(record, body.position.at, DIM, "m", column);
    snprintf(column, sizeof(column), "velocity_%s", name);
    record_put_vector(record, body.velocity.at, DIM, "m/s", column);
  }
}

static void put_solids(Simulation simulation, Record *record)
{
  const SolidReport report = solid_report(simulation->solid);

  record_put_vector(record, report.momentum.at, DIM, "kg m/s", "solid_momentum");
  record_put_vector(record, report.angular_momentum.at, DIM, "kg m^2/s", "solid_angular_momentum");
  record_put(record, report.kinetic_energy, "J", "solid_kinetic_energy");
  record_put(record, report.potential_energy, "J", "solid_potential_energy");
  record_put(record, report.kinetic_energy + report.potential_energy, "J", "solid_energy");
  record_put(record, report.largest_speed, "m/s", "solid_speed_max");
  record_put(record, report.largest_penetration, "m", "penetration_max");
  record_put(record, report.largest_joint_error, "m", "joint_error_max");
  record_put(record, report.contacts, "1", "contacts");
  record_put(record, report.contact_points, "1", "contact_points");
  record_put(record, report.collisions, "1", "collisions");
  record_put(record, report.levels, "1", "contact_levels");
  record_put(record, report.position_iterations, "1", "position_iterations");
  record_put(record, report.velocity_iterations, "1", "velocity_iterations");
  record_put(record, report.push_outs, "1", "push_outs");
  put_bodies(simulation, record);
}

PetscErrorCode SimulationCollectRecord(Simulation simulation, PetscReal wall_step, Record *record)
{
  PetscFunctionBegin;
  record->count = 0;
  record_put(record, simulation->step, "1", "step");
  record_put(record, simulation->time, "s", "time");
  record_put(record, simulation->dt, "s", "dt");
  if (simulation->fluid)
    record_put(record, simulation_travel(simulation), "1", "cfl");
  if (simulation->fluid)
    PetscCall(PutFluid(simulation, record));
  if (simulation->solid)
    put_solids(simulation, record);
  if (simulation->coupled)
    record_put_coupled(simulation, record);
  record_put(record, wall_step, "s", "wall_step");
  if (simulation->fluid) {
    record_put(record, fluid_report(simulation->fluid)->wall_advection, "s", "wall_advection");
    record_put(record, fluid_report(simulation->fluid)->wall_viscosity, "s", "wall_viscosity");
    if (!simulation->coupled)
      record_put(record, fluid_report(simulation->fluid)->wall_projection, "s", "wall_projection");
  }
  if (simulation->phase)
    record_put(record, simulation->wall_regions, "s", "wall_regions");
  if (simulation->coupled)
    record_put_waiting(simulation, record);
  else if (simulation->solid)
    record_put(record, simulation->wall_solids, "s", "wall_solids");
  PetscFunctionReturn(0);
}
