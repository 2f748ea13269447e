/* Inflow regions. One that gives a velocity is no fluid but a source: its faces carry the velocity in or out
   (obstacles.c). Scalars are held at their values where a centre lies in the shape. */
#include "simulation_impl.h"

/* In a step that ends at `time`: as steps end at `from` and `until`, all of it lies between the two. One from
   the start is there at the start. */
PetscBool inflow_is_active(const SimulationConfig *config, const InflowConfig *inflow, PetscReal time)
{
  const PetscReal tolerance = simulation_time_tolerance(config);
  const PetscBool began = inflow->from <= 0. || time > inflow->from + tolerance ? PETSC_TRUE : PETSC_FALSE;

  return began && time <= inflow->until + tolerance ? PETSC_TRUE : PETSC_FALSE;
}

PetscReal simulation_next_inflow(Simulation simulation)
{
  const SimulationConfig *config = simulation->config;
  const PetscReal         now = simulation->time + simulation_time_tolerance(config);
  PetscReal               next = PETSC_MAX_REAL;

  for (PetscInt n = 0; n < config->inflow_count; n++) {
    if (config->inflows[n].from > now)
      next = PetscMin(next, config->inflows[n].from);
    if (config->inflows[n].until > now)
      next = PetscMin(next, config->inflows[n].until);
  }
  return next;
}

PetscBool inflow_gives_velocity(const InflowConfig *inflow)
{
  return inflow->velocity[X] || inflow->velocity[Y] || inflow->velocity[Z] ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode HoldCells(Simulation simulation, const InflowConfig *inflow, PetscInt scalar,
                                PetscReal time, Vec field)
{
  const GridBox *box = grid_box(simulation->grid);
  Vector3        low, high;
  GridRange      range;
  PetscReal     *value;

  PetscFunctionBegin;
  shape_bounds(inflow->shape, &low, &high);
  range = cells_within(simulation->grid, low, high);
  PetscCall(VecGetArray(field, &value));
  FOR_CELLS(&range, i, j, k) {
    const Vector3 point = grid_cell_centre(simulation->grid, i, j, k);

    if (shape_is_inside(inflow->shape, point))
      value[box_index(box, i, j, k)] = formula_value(inflow->scalars[scalar], point, time);
  }
  PetscCall(VecRestoreArray(field, &value));
  PetscFunctionReturn(0);
}

/* The largest speed that inflow regions hold on this rank. */
static PetscReal largest_held_speed(Simulation simulation, const InflowConfig *inflow, PetscInt d,
                                    PetscReal time)
{
  PetscReal largest = 0.;
  Vector3   low, high;
  GridRange range;

  shape_bounds(inflow->shape, &low, &high);
  range = cells_within(simulation->grid, low, high);
  FOR_CELLS(&range, i, j, k) {
    const Vector3 point = grid_face_centre(simulation->grid, d, i, j, k);

    if (shape_is_inside(inflow->shape, point))
      largest = PetscMax(largest, PetscAbsReal(formula_value(inflow->velocity[d], point, time)));
  }
  return largest;
}

/* The fastest of what inflows hold at `time`, on this rank. */
static PetscReal inflow_speed(Simulation simulation, PetscReal time)
{
  const SimulationConfig *config = simulation->config;
  PetscReal               speed = 0.;

  for (PetscInt n = 0; n < config->inflow_count; n++)
    for (PetscInt d = 0; d < grid_box(simulation->grid)->dimension; d++)
      if (inflow_is_active(config, &config->inflows[n], time) && config->inflows[n].velocity[d])
        speed = PetscMax(speed, largest_held_speed(simulation, &config->inflows[n], d, time));
  return speed;
}

PetscErrorCode SimulationHoldScalars(Simulation simulation, PetscReal time, Vec scalars[])
{
  const SimulationConfig *config = simulation->config;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < config->inflow_count; n++) {
    const InflowConfig *inflow = &config->inflows[n];

    for (PetscInt s = 0; s < config->fluid.scalar_count; s++)
      if (inflow_is_active(config, inflow, time) && inflow->scalars && inflow->scalars[s])
        PetscCall(HoldCells(simulation, inflow, s, time, scalars[s]));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationHoldPrediction(Simulation simulation, PetscReal dt, Vec scalars[])
{
  PetscFunctionBegin;
  if (!simulation->gas)
    PetscCall(SimulationHoldScalars(simulation, simulation->time + dt, scalars));
  PetscCall(SimulationHoldFlames(simulation, scalars));
  PetscCall(FluidRefreshPredictedScalars(simulation->fluid, dt));
  PetscFunctionReturn(0);
}

static PetscBool has_inflows(const SimulationConfig *config)
{
  return config->inflow_count > 0 && !simulation_has_splash(config) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode Start(Simulation simulation, PetscBool *good)
{
  Vec *scalars;

  PetscFunctionBegin;
  (void)good;
  PetscCall(FluidGetScalars(simulation_carrier(simulation), &scalars));
  PetscCall(SimulationHoldScalars(simulation, 0., scalars));
  PetscCall(FluidRefreshScalars(simulation_carrier(simulation)));
  PetscFunctionReturn(0);
}

static PetscReal limit_at(Simulation simulation, const StepBounds *bounds, PetscReal time)
{
  const PetscReal speed = inflow_speed(simulation, time);

  return speed > 0. ? bounds->cells * grid_spacing(simulation->grid) / speed : PETSC_MAX_REAL;
}

static PetscErrorCode GetLimit(Simulation simulation, const StepBounds *bounds, PetscReal *limit)
{
  PetscFunctionBegin;
  if (bounds->carries)
    *limit = limit_at(simulation, bounds, simulation->time);
  PetscFunctionReturn(0);
}

static PetscErrorCode GetGivenLimit(Simulation simulation, const StepBounds *bounds, PetscReal dt,
                                    PetscReal *limit)
{
  PetscFunctionBegin;
  *limit = PetscMin(limit_at(simulation, bounds, simulation->time + 0.5 * dt),
                    limit_at(simulation, bounds, simulation->time + dt));
  PetscFunctionReturn(0);
}

const Part InflowsPart = {.name = "inflows",
                          .ranks = PART_ON_FLUID,
                          .is_in = has_inflows,
                          .start = Start,
                          .get_limit = GetLimit,
                          .get_given_limit = GetGivenLimit};
