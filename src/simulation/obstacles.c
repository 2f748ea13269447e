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

/* Marks the cells of obstacle `number`; where two overlap the first one stays. */
static PetscErrorCode Voxelise(Simulation simulation, PetscInt number, PetscReal time)
{
  const ObstacleConfig *obstacle = &simulation->config->obstacles[number];
  const GridBox        *box = grid_box(simulation->grid);
  const Pose            pose = motion_pose(obstacle->motion, time);
  Vector3               low, high;
  CellRange             range;
  PetscReal            *solid;

  PetscFunctionBegin;
  shape_bounds(obstacle->shape, &low, &high);
  pose_bounds(&pose, &low, &high);
  range = cells_within(simulation->grid, low, high);
  PetscCall(VecGetArray(simulation->solid, &solid));
  for (PetscInt k = range.start[Z]; k < range.end[Z]; k++)
    for (PetscInt j = range.start[Y]; j < range.end[Y]; j++)
      for (PetscInt i = range.start[X]; i < range.end[X]; i++) {
        const PetscInt c = box_index(box, i, j, k);
        const Vector3  point = grid_cell_center(simulation->grid, i, j, k);

        if (solid[c] == 0. && shape_is_inside(obstacle->shape, pose_to_rest(&pose, point)))
          solid[c] = number + 1;
      }
  PetscCall(VecRestoreArray(simulation->solid, &solid));
  PetscFunctionReturn(0);
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

        velocity[c] = number < 0 ? 0.
                                 : motion_velocity(simulation->config->obstacles[number].motion, time,
                                                   grid_face_center(simulation->grid, d, i, j, k))
                                       .at[d];
      }
  PetscCall(VecRestoreArray(simulation->solid_velocity[d], &velocity));
  PetscCall(VecRestoreArrayRead(simulation->solid, &solid));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateObstacleFields(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(MacGridCreateField(simulation->grid, &simulation->solid));
  for (PetscInt o = 0; o < simulation->config->obstacle_count; o++)
    if (!motion_is_still(simulation->config->obstacles[o].motion))
      simulation->obstacles_move = PETSC_TRUE;
  if (simulation->obstacles_move)
    PetscCall(MacGridCreateFaceField(simulation->grid, simulation->solid_velocity));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationPlaceObstacles(Simulation simulation, PetscReal time)
{
  const PetscInt count = simulation->config->obstacle_count;
  PetscBool     *slips;

  PetscFunctionBegin;
  if (!count)
    PetscFunctionReturn(0);
  if (!simulation->solid)
    PetscCall(CreateObstacleFields(simulation));
  PetscCall(VecSet(simulation->solid, 0.));
  for (PetscInt o = 0; o < count; o++)
    PetscCall(Voxelise(simulation, o, time));
  PetscCall(MacGridExchange(simulation->grid, simulation->solid));
  if (simulation->obstacles_move)
    for (PetscInt d = 0; d < grid_box(simulation->grid)->dimension; d++)
      PetscCall(SetFaceVelocity(simulation, d, time));
  PetscCall(PetscMalloc1(count, &slips));
  for (PetscInt o = 0; o < count; o++)
    slips[o] = simulation->config->obstacles[o].surface == OBSTACLE_SLIP ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(FluidSetObstacles(simulation->fluid, count, slips, simulation->solid,
                              simulation->obstacles_move ? simulation->solid_velocity : NULL));
  PetscCall(PetscFree(slips));
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
