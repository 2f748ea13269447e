/* How many steps a run will take, from its scene alone: the speeds that it names over time, those that
   gravity makes of what it lifts, and the limits of waves (docs/performance.md). */
#include "simulation_impl.h"

enum { SAMPLES = 17 }; /* along each direction, to find the largest value of a formula in the box */
enum { MOMENTS = 32 }; /* of the run, each for a part of it */

static PetscReal largest_value(const GridConfig *grid, Formula formula, PetscReal time)
{
  const PetscInt depth = grid->dimension == 3 ? SAMPLES : 1;
  PetscReal      largest = 0.;

  if (!formula)
    return 0.;
  if (formula_is_constant(formula))
    return PetscAbsReal(formula_value(formula, grid->origin, time));
  for (PetscInt k = 0; k < depth; k++)
    for (PetscInt j = 0; j < SAMPLES; j++)
      for (PetscInt i = 0; i < SAMPLES; i++) {
        const PetscReal at[DIM] = {i, j, k};
        Vector3         point = grid->origin;
        PetscReal       value;

        for (PetscInt d = 0; d < grid->dimension; d++)
          point.at[d] += grid->size.at[d] * at[d] / (SAMPLES - 1);
        value = PetscAbsReal(formula_value(formula, point, time));
        if (!PetscIsInfOrNanReal(value))
          largest = PetscMax(largest, value);
      }
  return largest;
}

PetscReal largest_component(const GridConfig *grid, const Formula velocity[DIM], PetscReal time)
{
  PetscReal largest = 0.;

  for (PetscInt d = 0; d < grid->dimension; d++)
    largest = PetscMax(largest, largest_value(grid, velocity[d], time));
  return largest;
}

/* How deep a shape can fall in the box. */
static PetscReal depth_below(const SimulationConfig *config, Vector3 low, Vector3 high)
{
  const Vector3 gravity = config->fluid.gravity;
  PetscReal     deepest = 0.;

  for (PetscInt d = 0; d < config->grid.dimension; d++) {
    const PetscReal bottom = config->grid.origin.at[d], top = bottom + config->grid.size.at[d];
    const PetscReal way =
        gravity.at[d] < 0. ? PetscMin(high.at[d], top) - bottom : top - PetscMax(low.at[d], bottom);

    if (gravity.at[d] != 0.)
      deepest += PetscAbsReal(gravity.at[d]) / vector3_norm(gravity) * PetscMax(way, 0.);
  }
  return deepest;
}

/* Of inflows; what liquid they let out falls on. */
static PetscReal inflow_speed(const SimulationConfig *config, PetscReal time)
{
  PetscReal fastest = 0.;

  for (PetscInt n = 0; n < config->inflow_count; n++) {
    const InflowConfig *inflow = &config->inflows[n];
    PetscReal           speed = largest_component(&config->grid, inflow->velocity, time);
    Vector3             low, high;

    if (!inflow_is_active(config, inflow, time))
      continue;
    shape_bounds(inflow->shape, &low, &high);
    if (inflow->region)
      speed = PetscSqrtReal(speed * speed +
                            2. * vector3_norm(config->fluid.gravity) * depth_below(config, low, high));
    fastest = PetscMax(fastest, speed);
  }
  return fastest;
}

/* What the scene itself says: at the start, on its sides, of inflows. */
static PetscReal named_speed(const SimulationConfig *config, PetscReal time)
{
  PetscReal speed = largest_component(&config->grid, config->fluid.initial_velocity, 0.);

  for (PetscInt axis = 0; axis < config->grid.dimension; axis++)
    for (PetscInt side = 0; side < 2; side++)
      speed =
          PetscMax(speed, largest_component(&config->grid, config->fluid.sides[axis][side].velocity, time));
  return PetscMax(speed, inflow_speed(config, time));
}

/* Of what is warm or light: the largest that the scene names. */
static PetscReal buoyant_acceleration(const SimulationConfig *config, PetscReal time)
{
  PetscReal sum = 0.;

  for (PetscInt s = 0; s < config->fluid.scalar_count; s++) {
    const ScalarConfig *scalar = &config->fluid.scalars[s];
    PetscReal           value = PetscMax(largest_value(&config->grid, scalar->initial, time),
                                         largest_value(&config->grid, scalar->inflow, time));

    for (PetscInt n = 0; n < config->inflow_count; n++)
      if (config->inflows[n].scalars)
        value = PetscMax(value, largest_value(&config->grid, config->inflows[n].scalars[s], time));
    sum +=
        vector3_norm(config->fluid.gravity) * PetscAbsReal(scalar->expansion * (value - scalar->reference));
  }
  return sum;
}

/* Height that gravity can make use of. */
static PetscReal box_height(const SimulationConfig *config)
{
  const Vector3 low = config->grid.origin, high = vector3_add(low, config->grid.size);

  return depth_below(config, low, high);
}

/* Where a region would lie if the heavier ones lay below the lighter: along axis d, from the bottom. */
static PetscReal settled_centre(const SimulationConfig *config, const PhaseReport *report, PetscInt region,
                                PetscInt d)
{
  const RegionConfig *regions = config->phases.regions;
  PetscReal           area = 1., below = 0.;

  for (PetscInt a = 0; a < config->grid.dimension; a++)
    area *= a == d ? 1. : config->grid.size.at[a];
  for (PetscInt r = 0; r < config->phases.region_count; r++)
    if (r != region && regions[r].kind == REGION_SIMULATED &&
        (regions[r].density > regions[region].density ||
         (regions[r].density == regions[region].density && r < region)))
      below += report->volume[r];
  return (below + 0.5 * report->volume[region]) / area;
}

/* The speed of all liquids if the potential energy that they can lose became motion. */
static PetscReal settling_speed(const SimulationConfig *config, const PhaseReport *report)
{
  PetscReal energy = 0., mass = 0.;

  for (PetscInt r = 0; r < config->phases.region_count; r++) {
    const RegionConfig *region = &config->phases.regions[r];

    if (region->kind != REGION_SIMULATED)
      continue;
    mass += region->density * report->volume[r];
    for (PetscInt d = 0; d < config->grid.dimension; d++) {
      const PetscReal g = config->fluid.gravity.at[d], size = config->grid.size.at[d];
      const PetscReal centre = report->centre[r].at[d] - config->grid.origin.at[d];
      const PetscReal height = g < 0. ? centre : size - centre;

      energy += PetscAbsReal(g) * region->density * report->volume[r] *
                (height - settled_centre(config, report, r, d));
    }
  }
  return mass > 0. ? PetscSqrtReal(2. * PetscMax(energy, 0.) / mass) : 0.;
}

/* Of what a point lies in; 0 where there is nothing. */
static PetscReal density_at(const SimulationConfig *config, Vector3 point)
{
  PetscReal rest = config->phases.region_count ? 0. : config->fluid.density;

  if (!config->grid.dimension)
    return 0.;
  for (PetscInt r = 0; r < config->phases.region_count; r++) {
    const RegionConfig *region = &config->phases.regions[r];
    const PetscReal     density = region->kind == REGION_SIMULATED ? region->density : 0.;

    if (!region->shape)
      rest = density;
    else if (shape_is_inside(region->shape, point))
      return density;
  }
  return rest;
}

/* A body that falls, or rises, by `height` from speed v: half of what it ends with, which is its speed on the
   average. In a fluid it displaces that, and drag at a coefficient of one half bounds it. */
static PetscReal falling_speed(const SimulationConfig *config, Solid solid, PetscInt b, PetscReal height)
{
  const BodyView  body = solid_body_view(solid, b);
  const PetscReal outside = density_at(config, body.position), g = vector3_norm(config->solids.gravity);
  const PetscReal density = body.config->density > 0. ? body.config->density : outside + 1.;
  const PetscReal drive = g * PetscAbsReal(density - outside) / (density + 0.5 * outside);
  const PetscReal v = vector3_norm(body.velocity);
  PetscReal       square = v * v + 2. * drive * height;
  Vector3         low, high;

  solid_body_bounds(solid, b, &low, &high);
  if (outside > 0. && !PetscIsInfOrNanReal(vector3_norm(vector3_subtract(high, low))))
    square = PetscMin(square, v * v + 16. / 3. * g * PetscAbsReal(density / outside - 1.) *
                                          vector3_norm(vector3_subtract(high, low)));
  return 0.5 * PetscSqrtReal(square);
}

/* How far bodies can fall: in the box of the fluid, or from the highest to the lowest of them. */
static PetscReal falling_height(const SimulationConfig *config, Solid solid, PetscInt body)
{
  const Vector3   gravity = config->solids.gravity;
  const PetscReal g = vector3_norm(gravity),
                  own = -vector3_dot(gravity, solid_body_view(solid, body).position);
  PetscReal lowest = own;

  if (g == 0.)
    return 0.;
  for (PetscInt b = 0; b < solid_body_count(solid); b++)
    lowest = PetscMin(lowest, -vector3_dot(gravity, solid_body_view(solid, b).position));
  if (config->grid.dimension)
    return box_height(config);
  return (own - lowest) / g;
}

static PetscReal fastest_fall(const SimulationConfig *config, Solid solid)
{
  PetscReal fastest = 0.;

  for (PetscInt b = 0; b < solid_body_count(solid); b++)
    if (solid_body_view(solid, b).config->kind == BODY_DYNAMIC)
      fastest = PetscMax(fastest, falling_speed(config, solid, b, falling_height(config, solid, b)));
  return fastest;
}

/* The step in which speed u and acceleration f cover `path`. */
static PetscReal time_to_cover(PetscReal path, PetscReal u, PetscReal f)
{
  return u + f > 0. && path < PETSC_MAX_REAL ? 2. * path / (u + PetscSqrtReal(u * u + 4. * f * path))
                                             : PETSC_MAX_REAL;
}

/* What the run can do at one moment. */
static PetscReal step_at(const SimulationConfig *config, const Forecast *forecast, PetscReal time)
{
  const PetscReal fixed = config->run.time_step;
  const PetscReal g = vector3_norm(config->fluid.gravity), buoyant = buoyant_acceleration(config, time);
  const PetscReal forced = largest_component(&config->grid, config->fluid.body_force, time);
  const PetscReal given = forecast->solid ? solid_prescribed_speed(forecast->solid, time) : 0.;
  const PetscReal h = config->grid.dimension ? config->grid.size.at[X] / config->grid.resolution : 0.;
  PetscReal       cells = fixed > 0. ? MOST_CELLS_PER_STEP : config->fluid.cfl, path = PETSC_MAX_REAL;
  PetscReal       step = PETSC_MAX_REAL, flow = forecast->settling;

  if (config->grid.dimension) {
    if (config->fluid.advection == ADVECT_WENO5)
      cells = PetscMin(cells, 1.);
    path = cells * h;
    flow = PetscMax(flow, named_speed(config, time));
    flow = PetscMax(flow, parts_expected_speed(config));
    flow =
        PetscSqrtReal(flow * flow + buoyant * box_height(config)); /* half of it goes into what is drawn in */
    flow = PetscMax(flow, PetscMax(given, forecast->falling));
    step = time_to_cover(path, flow, forced + buoyant + (config->phases.region_count ? g : 0.));
    step = PetscMin(step, forecast->waves);
  }
  if (forecast->solid && fixed == 0.)
    path = PetscMin(path, solid_longest_path(forecast->solid));
  if (forecast->solid)
    step = PetscMin(step, time_to_cover(path, PetscMax(given, forecast->falling),
                                        config->grid.dimension ? 0. : vector3_norm(config->solids.gravity)));
  if (forecast->solid && config->grid.dimension &&
      config->solids.elasticity == ELASTIC_EXPLICIT) /* which has no substeps in a fluid */
    step = PetscMin(step, solid_longest_substep(forecast->solid));
  if (fixed > 0. || config->run.largest_time_step > 0.)
    step = PetscMin(step, fixed > 0. ? fixed : config->run.largest_time_step);
  return step;
}

void forecast_steps(const SimulationConfig *config, const Forecast *forecast, SimulationEstimate *estimate)
{
  const RunConfig *run = &config->run;
  const PetscReal  interval = PetscMin(run->frame_interval, run->end_time);
  PetscReal        steps = 0.;

  for (PetscInt n = 0; n < MOMENTS; n++) {
    const PetscReal step = step_at(config, forecast, run->end_time * (n + 0.5) / MOMENTS);

    steps += PetscMax(1., PetscCeilReal(interval / step * (1. - 1e-9))) / MOMENTS;
  }
  estimate->steps = steps * PetscMax(1., PetscCeilReal(run->end_time / interval * (1. - 1e-9)));
  if (run->step_limit > 0)
    estimate->steps = PetscMin(estimate->steps, run->step_limit);
  estimate->time_step = interval / steps;
}

void forecast_solids(const SimulationConfig *config, Solid solid, Forecast *forecast)
{
  forecast->solid = solid;
  forecast->falling = fastest_fall(config, solid);
}

void forecast_regions(const SimulationConfig *config, Phase phase, Forecast *forecast)
{
  forecast->settling = settling_speed(config, phase_report(phase));
  forecast->waves =
      phase_wave_limit(phase, config->fluid.gravity, config->grid.size.at[X] / config->grid.resolution);
}
