/* Obstacles on the grid: a cell is closed when its centre lies inside one (docs/numerics.md, 5).

   They are numbered through: obstacles, then bodies (coupled.c), then the sources, which hold the velocity of
   their cells. */
#include "simulation_impl.h"

CellRange cells_within(MacGrid grid, Vector3 low, Vector3 high)
{
  const GridBox  *box = grid_box(grid);
  const PetscReal h = grid_spacing(grid);
  const Vector3   origin = grid_origin(grid);
  CellRange       range;

  for (PetscInt d = 0; d < DIM; d++) {
    const PetscReal first = (low.at[d] - origin.at[d]) / h - 1., last = (high.at[d] - origin.at[d]) / h + 1.;

    range.start[d] = box->start[d];
    range.end[d] = box->end[d];
    if (d >= box->dimension)
      continue;
    if (first > box->start[d])
      range.start[d] = first < box->end[d] ? (PetscInt)first : box->end[d];
    if (last < box->end[d])
      range.end[d] = last > box->start[d] ? (PetscInt)last + 1 : box->start[d];
    range.end[d] = PetscMin(range.end[d], box->end[d]);
  }
  return range;
}

/* Something that closes cells, at one time. */
typedef struct {
  Shape   shape;
  Pose    pose;
  Vector3 low, high; /* in the world */
} Thing;

static Thing thing_of_shape(Shape shape, Motion motion, PetscReal time)
{
  Thing thing = {.shape = shape, .pose = motion_pose(motion, time)};

  shape_bounds(shape, &thing.low, &thing.high);
  pose_bounds(&thing.pose, &thing.low, &thing.high);
  return thing;
}

static PetscBool is_inside(const Thing *thing, Vector3 point)
{
  return shape_is_inside(thing->shape, pose_to_rest(&thing->pose, point));
}

/* Marks the fluid cells inside a thing as `mark`; where two overlap the first one stays. */
static PetscErrorCode Voxelise(Simulation simulation, const Thing *thing, PetscReal mark)
{
  const GridBox  *box = grid_box(simulation->grid);
  const CellRange range = cells_within(simulation->grid, thing->low, thing->high);
  PetscReal      *closed;

  PetscFunctionBegin;
  PetscCall(VecGetArray(simulation->closed, &closed));
  for (PetscInt k = range.start[Z]; k < range.end[Z]; k++)
    for (PetscInt j = range.start[Y]; j < range.end[Y]; j++)
      for (PetscInt i = range.start[X]; i < range.end[X]; i++) {
        const PetscInt c = box_index(box, i, j, k);

        if (closed[c] == 0. && is_inside(thing, grid_cell_center(simulation->grid, i, j, k)))
          closed[c] = mark;
      }
  PetscCall(VecRestoreArray(simulation->closed, &closed));
  PetscFunctionReturn(0);
}

/* Component d of the velocity of obstacle or source `number` at a face. */
static PetscReal velocity_of(Simulation simulation, PetscInt number, PetscInt d, Vector3 point,
                             PetscReal time)
{
  const SimulationConfig *config = simulation->config;

  if (number < 0)
    return 0.;
  if (number >= simulation->closed_count)
    return formula_value(config->inflows[number - simulation->closed_count].velocity[d], point, time);
  return motion_velocity(config->obstacles[number].motion, time, point).at[d];
}

static PetscErrorCode SetFaceVelocity(Simulation simulation, PetscInt d, PetscReal time)
{
  const GridBox   *box = grid_box(simulation->grid);
  const PetscReal *closed;
  PetscReal       *velocity;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(simulation->closed, &closed));
  PetscCall(VecGetArray(simulation->closed_velocity[d], &velocity));
  for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
      for (PetscInt i = box->start[X]; i < box->end[X]; i++) {
        const PetscInt c = box_index(box, i, j, k);
        const PetscInt number = (PetscInt)PetscMax(closed[c], closed[c - box->stride[d]]) - 1;

        velocity[c] =
            velocity_of(simulation, number, d, grid_face_center(simulation->grid, d, i, j, k), time);
      }
  PetscCall(VecRestoreArray(simulation->closed_velocity[d], &velocity));
  PetscCall(VecRestoreArrayRead(simulation->closed, &closed));
  PetscFunctionReturn(0);
}

/* Whether the velocity or extent of a source depends on time. */
static PetscBool source_changes(const SimulationConfig *config, const InflowConfig *inflow)
{
  if (inflow->from > 0. || inflow->until < config->run.end_time)
    return PETSC_TRUE;
  for (PetscInt d = 0; d < DIM; d++)
    if (inflow->velocity[d] && formula_uses_time(inflow->velocity[d]))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

static PetscErrorCode CreateClosedFields(Simulation simulation)
{
  const SimulationConfig *config = simulation->config;
  PetscBool               sources = PETSC_FALSE;

  PetscFunctionBegin;
  simulation->closed_count = config->obstacle_count;
  if (simulation->solid)
    simulation->closed_count += solid_body_count(simulation->solid);
  for (PetscInt o = 0; o < config->obstacle_count; o++)
    if (!motion_is_still(config->obstacles[o].motion))
      simulation->obstacles_move = PETSC_TRUE;
  for (PetscInt n = 0; n < config->inflow_count; n++)
    if (inflow_gives_velocity(&config->inflows[n])) {
      sources = PETSC_TRUE;
      if (source_changes(config, &config->inflows[n]))
        simulation->obstacles_move = PETSC_TRUE;
    }
  if (config->obstacle_count || sources)
    PetscCall(MacGridCreateField(simulation->grid, &simulation->closed));
  if (simulation->obstacles_move || sources)
    PetscCall(MacGridCreateFaceField(simulation->grid, simulation->closed_velocity));
  PetscFunctionReturn(0);
}

/* Sources last, so that they stop at what is closed. */
static PetscErrorCode VoxeliseAll(Simulation simulation, PetscReal time)
{
  const SimulationConfig *config = simulation->config;
  Thing                   thing;

  PetscFunctionBegin;
  PetscCall(VecSet(simulation->closed, 0.));
  for (PetscInt o = 0; o < config->obstacle_count; o++) {
    thing = thing_of_shape(config->obstacles[o].shape, config->obstacles[o].motion, time);
    PetscCall(Voxelise(simulation, &thing, o + 1));
  }
  for (PetscInt n = 0; n < config->inflow_count; n++)
    if (inflow_gives_velocity(&config->inflows[n]) && inflow_is_active(&config->inflows[n], time)) {
      thing = thing_of_shape(config->inflows[n].shape, NULL, time);
      PetscCall(Voxelise(simulation, &thing, simulation->closed_count + n + 1));
    }
  PetscCall(MacGridExchange(simulation->grid, simulation->closed));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationPlaceObstacles(Simulation simulation, PetscReal time)
{
  const SimulationConfig *config = simulation->config;
  const PetscBool         moving = simulation->closed_velocity[X] ? PETSC_TRUE : PETSC_FALSE;
  PetscBool              *slips;

  PetscFunctionBegin;
  if (!simulation->closed)
    PetscFunctionReturn(0);
  PetscCall(VoxeliseAll(simulation, time));
  for (PetscInt d = 0; d < grid_box(simulation->grid)->dimension && moving; d++)
    PetscCall(SetFaceVelocity(simulation, d, time));
  PetscCall(PetscCalloc1(simulation->closed_count, &slips));
  for (PetscInt o = 0; o < config->obstacle_count; o++)
    slips[o] = config->obstacles[o].surface == OBSTACLE_SLIP ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(FluidSetSolids(simulation->fluid, simulation->closed_count, slips, simulation->closed,
                           moving ? simulation->closed_velocity : NULL));
  PetscCall(PetscFree(slips));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(Simulation simulation, char message[], size_t size)
{
  PetscFunctionBegin;
  (void)message, (void)size;
  PetscCall(CreateClosedFields(simulation));
  PetscCall(SimulationPlaceObstacles(simulation, 0.));
  PetscFunctionReturn(0);
}

/* The fastest obstacle at `time`. */
static PetscReal obstacle_speed(const SimulationConfig *config, PetscReal time)
{
  PetscReal fastest = 0.;

  for (PetscInt o = 0; o < config->obstacle_count; o++) {
    const ObstacleConfig *obstacle = &config->obstacles[o];
    Vector3               low, high;
    PetscReal             speed;

    if (motion_is_still(obstacle->motion))
      continue;
    shape_bounds(obstacle->shape, &low, &high);
    speed = motion_speed_bound(obstacle->motion, time, low, high);
    if (!PetscIsInfOrNanReal(speed))
      fastest = PetscMax(fastest, speed);
  }
  return fastest;
}

static PetscReal limit_at(Simulation simulation, const StepBounds *bounds, PetscReal time)
{
  const PetscReal speed = obstacle_speed(simulation->config, time);

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

/* They are where the time says. */
static PetscErrorCode Restore(Simulation simulation)
{
  PetscFunctionBegin;
  if (simulation->obstacles_move)
    PetscCall(SimulationPlaceObstacles(simulation, simulation->time));
  PetscFunctionReturn(0);
}

static PetscErrorCode Load(Simulation simulation, Archive archive)
{
  PetscFunctionBegin;
  (void)archive;
  PetscCall(SimulationPlaceObstacles(simulation, simulation->time));
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordForces(Simulation simulation, Record *record)
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

/* With those of bodies, which close cells too. */
static PetscReal count_fields(const SimulationConfig *config)
{
  PetscBool any = config->obstacle_count + config->solids.body_count > 0, moving = PETSC_FALSE;

  for (PetscInt o = 0; o < config->obstacle_count; o++)
    if (!motion_is_still(config->obstacles[o].motion))
      moving = PETSC_TRUE;
  for (PetscInt b = 0; b < config->solids.body_count; b++)
    if (config->solids.bodies[b].kind != BODY_STATIC)
      moving = PETSC_TRUE;
  for (PetscInt n = 0; n < config->inflow_count; n++)
    if (inflow_gives_velocity(&config->inflows[n]))
      any = moving = PETSC_TRUE;
  return (any ? 2. : 0.) + (moving ? 2. * config->grid.dimension : 0.);
}

static PetscErrorCode Destroy(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&simulation->closed));
  PetscCall(MacGridDestroyFaceField(simulation->closed_velocity));
  PetscFunctionReturn(0);
}

const Part ObstaclesPart = {.name = "obstacles",
                            .ranks = PART_ON_FLUID,
                            .create = Create,
                            .get_limit = GetLimit,
                            .get_given_limit = GetGivenLimit,
                            .restore = Restore,
                            .load = Load,
                            .record = RecordForces,
                            .count_fields = count_fields,
                            .destroy = Destroy};
