/* Obstacles of any closed shape on the grid: a cell is solid when its centre lies inside (docs/numerics.md,
 * 5). */
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

/* Marks the fluid cells inside a shape as `mark`; where two overlap the first one stays. */
static PetscErrorCode Voxelise(Simulation simulation, Shape shape, const Pose *pose, PetscReal mark)
{
  const GridBox *box = grid_box(simulation->grid);
  Vector3        low, high;
  CellRange      range;
  PetscReal     *solid;

  PetscFunctionBegin;
  shape_bounds(shape, &low, &high);
  pose_bounds(pose, &low, &high);
  range = cells_within(simulation->grid, low, high);
  PetscCall(VecGetArray(simulation->solid, &solid));
  for (PetscInt k = range.start[Z]; k < range.end[Z]; k++)
    for (PetscInt j = range.start[Y]; j < range.end[Y]; j++)
      for (PetscInt i = range.start[X]; i < range.end[X]; i++) {
        const PetscInt c = box_index(box, i, j, k);
        const Vector3  point = grid_cell_center(simulation->grid, i, j, k);

        if (solid[c] == 0. && shape_is_inside(shape, pose_to_rest(pose, point)))
          solid[c] = mark;
      }
  PetscCall(VecRestoreArray(simulation->solid, &solid));
  PetscFunctionReturn(0);
}

/* Component d of the velocity of solid or source `number` at a face. */
static PetscReal velocity_of(const SimulationConfig *config, PetscInt number, PetscInt d, Vector3 point,
                             PetscReal time)
{
  if (number < 0)
    return 0.;
  if (number >= config->obstacle_count)
    return formula_value(config->inflows[number - config->obstacle_count].velocity[d], point, time);
  return motion_velocity(config->obstacles[number].motion, time, point).at[d];
}

static PetscErrorCode SetFaceVelocity(Simulation simulation, PetscInt d, PetscReal time)
{
  const GridBox   *box = grid_box(simulation->grid);
  const PetscReal *solid;
  PetscReal       *velocity;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(simulation->solid, &solid));
  PetscCall(VecGetArray(simulation->solid_velocity[d], &velocity));
  for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
      for (PetscInt i = box->start[X]; i < box->end[X]; i++) {
        const PetscInt c = box_index(box, i, j, k);
        const PetscInt number = (PetscInt)PetscMax(solid[c], solid[c - box->stride[d]]) - 1;

        velocity[c] =
            velocity_of(simulation->config, number, d, grid_face_center(simulation->grid, d, i, j, k), time);
      }
  PetscCall(VecRestoreArray(simulation->solid_velocity[d], &velocity));
  PetscCall(VecRestoreArrayRead(simulation->solid, &solid));
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

static PetscErrorCode CreateSolidFields(Simulation simulation)
{
  const SimulationConfig *config = simulation->config;
  PetscBool               sources = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt o = 0; o < config->obstacle_count; o++)
    if (!motion_is_still(config->obstacles[o].motion))
      simulation->solids_move = PETSC_TRUE;
  for (PetscInt n = 0; n < config->inflow_count; n++)
    if (inflow_gives_velocity(&config->inflows[n])) {
      sources = PETSC_TRUE;
      if (source_changes(config, &config->inflows[n]))
        simulation->solids_move = PETSC_TRUE;
    }
  if (config->obstacle_count || sources)
    PetscCall(MacGridCreateField(simulation->grid, &simulation->solid));
  if (simulation->solids_move || sources)
    PetscCall(MacGridCreateFaceField(simulation->grid, simulation->solid_velocity));
  PetscFunctionReturn(0);
}

/* Obstacles first, so that a source stops at one. */
static PetscErrorCode VoxeliseAll(Simulation simulation, PetscReal time)
{
  const SimulationConfig *config = simulation->config;
  const Pose              still = motion_pose(NULL, time);

  PetscFunctionBegin;
  PetscCall(VecSet(simulation->solid, 0.));
  for (PetscInt o = 0; o < config->obstacle_count; o++) {
    const Pose pose = motion_pose(config->obstacles[o].motion, time);

    PetscCall(Voxelise(simulation, config->obstacles[o].shape, &pose, o + 1));
  }
  for (PetscInt n = 0; n < config->inflow_count; n++)
    if (inflow_gives_velocity(&config->inflows[n]) && inflow_is_active(&config->inflows[n], time))
      PetscCall(Voxelise(simulation, config->inflows[n].shape, &still, config->obstacle_count + n + 1));
  PetscCall(MacGridExchange(simulation->grid, simulation->solid));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationPlaceSolids(Simulation simulation, PetscReal time)
{
  const PetscInt  obstacles = simulation->config->obstacle_count;
  const PetscBool moving = simulation->solid_velocity[X] ? PETSC_TRUE : PETSC_FALSE;
  PetscBool      *slips;

  PetscFunctionBegin;
  if (!simulation->solid)
    PetscFunctionReturn(0);
  PetscCall(VoxeliseAll(simulation, time));
  for (PetscInt d = 0; d < grid_box(simulation->grid)->dimension && moving; d++)
    PetscCall(SetFaceVelocity(simulation, d, time));
  PetscCall(PetscMalloc1(obstacles, &slips));
  for (PetscInt o = 0; o < obstacles; o++)
    slips[o] = simulation->config->obstacles[o].surface == OBSTACLE_SLIP ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(FluidSetSolids(simulation->fluid, obstacles, slips, simulation->solid,
                           moving ? simulation->solid_velocity : NULL));
  PetscCall(PetscFree(slips));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationCreateSolids(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(CreateSolidFields(simulation));
  PetscCall(SimulationPlaceSolids(simulation, 0.));
  PetscFunctionReturn(0);
}

/* An obstacle must not jump over cells. */
PetscErrorCode SimulationGetObstacleLimit(Simulation simulation, PetscReal *limit)
{
  const PetscReal distance = simulation->config->fluid.cfl * grid_spacing(simulation->grid);

  PetscFunctionBegin;
  *limit = PETSC_MAX_REAL;
  for (PetscInt o = 0; o < simulation->config->obstacle_count; o++) {
    const ObstacleConfig *obstacle = &simulation->config->obstacles[o];
    Vector3               low, high;
    PetscReal             speed;

    if (motion_is_still(obstacle->motion))
      continue;
    shape_bounds(obstacle->shape, &low, &high);
    speed = motion_speed_bound(obstacle->motion, simulation->time, low, high);
    if (speed > 0. && !PetscIsInfOrNanReal(speed))
      *limit = PetscMin(*limit, distance / speed);
  }
  PetscFunctionReturn(0);
}
