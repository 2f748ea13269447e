/* Obstacles on the grid: a cell is closed when its centre lies inside one (docs/numerics.md, 5). They stand
   still: the scene makes kinematic bodies of those that move.

   Walls are the obstacles, then the bodies (placing.c); sources hold the velocity of their cells. */
#include "simulation_impl.h"

#include <millrace/solid_step.h>

GridRange cells_within(MacGrid grid, Vector3 low, Vector3 high)
{
  const GridBox  *box = grid_box(grid);
  const PetscReal h = grid_spacing(grid);
  const Vector3   origin = grid_origin(grid);
  GridRange       range;

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

/* Whether a body that stands still is in the way of a source. */
static PetscBool is_blocked(Simulation simulation, const PetscInt *bodies, PetscInt c)
{
  return bodies && bodies[c] && bodies[c] <= solid_body_count(simulation->solid) &&
                 solid_body_view(simulation->solid, bodies[c] - 1).config->kind == BODY_STATIC
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Marks the fluid cells inside a shape as `mark`; where two overlap the first one stays. */
static PetscErrorCode Voxelise(Simulation simulation, Shape shape, PetscReal mark)
{
  const GridBox  *box = grid_box(simulation->grid);
  const PetscInt *bodies = simulation_solid_cells(simulation);
  GridRange       range;
  Vector3         low, high;
  PetscReal      *closed;

  PetscFunctionBegin;
  shape_bounds(shape, &low, &high);
  range = cells_within(simulation->grid, low, high);
  PetscCall(VecGetArray(simulation->closed, &closed));
  FOR_CELLS(&range, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (closed[c] == 0. && !is_blocked(simulation, bodies, c) &&
        shape_is_inside(shape, grid_cell_centre(simulation->grid, i, j, k)))
      closed[c] = mark;
  }
  PetscCall(VecRestoreArray(simulation->closed, &closed));
  PetscFunctionReturn(0);
}

/* Component d of the velocity of a wall or source at a face. */
static PetscReal velocity_of(Simulation simulation, CellCover cover, PetscInt d, Vector3 point,
                             PetscReal time)
{
  return cover.kind == CELL_SOURCE
             ? formula_value(simulation->config->inflows[cover.index].velocity[d], point, time)
             : 0.;
}

static PetscErrorCode SetFaceVelocity(Simulation simulation, PetscInt d, PetscReal time)
{
  const GridBox   *box = grid_box(simulation->grid);
  const PetscReal *closed;
  PetscReal       *velocity;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(simulation->closed, &closed));
  PetscCall(VecGetArray(simulation->closed_velocity[d], &velocity));
  FOR_CELLS(box, i, j, k) {
    const PetscInt  c = box_index(box, i, j, k);
    const CellCover cover = cell_cover(PetscMax(closed[c], closed[c - box->stride[d]]));

    velocity[c] = velocity_of(simulation, cover, d, grid_face_centre(simulation->grid, d, i, j, k), time);
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

PetscBool simulation_sources_change(const SimulationConfig *config)
{
  for (PetscInt n = 0; n < config->inflow_count; n++)
    if (inflow_gives_velocity(&config->inflows[n]) && source_changes(config, &config->inflows[n]))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

static PetscErrorCode CreateClosedFields(Simulation simulation)
{
  const SimulationConfig *config = simulation->config;
  PetscBool               sources = PETSC_FALSE;

  PetscFunctionBegin;
  simulation->wall_count = config->obstacle_count;
  if (simulation->solid)
    simulation->wall_count += solid_body_count(simulation->solid) + solid_deforming_count(simulation->solid);
  for (PetscInt n = 0; n < config->inflow_count; n++)
    if (inflow_gives_velocity(&config->inflows[n]))
      sources = PETSC_TRUE;
  if (config->obstacle_count || sources)
    PetscCall(MacGridCreateField(simulation->grid, &simulation->closed));
  if (sources)
    PetscCall(MacGridCreateFaceField(simulation->grid, simulation->closed_velocity));
  PetscFunctionReturn(0);
}

/* Sources last, so that they stop at what is closed. */
static PetscErrorCode VoxeliseAll(Simulation simulation, PetscReal time)
{
  const SimulationConfig *config = simulation->config;

  PetscFunctionBegin;
  PetscCall(VecSet(simulation->closed, 0.));
  for (PetscInt o = 0; o < config->obstacle_count; o++)
    PetscCall(Voxelise(simulation, config->obstacles[o].shape, cell_mark(CELL_WALL, o)));
  for (PetscInt n = 0; n < config->inflow_count; n++)
    if (inflow_gives_velocity(&config->inflows[n]) && inflow_is_active(config, &config->inflows[n], time))
      PetscCall(Voxelise(simulation, config->inflows[n].shape, cell_mark(CELL_SOURCE, n)));
  PetscCall(MacGridExchange(simulation->grid, simulation->closed));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationGetSlips(Simulation simulation, PetscInt count, PetscBool **slips)
{
  const SimulationConfig *config = simulation->config;
  const PetscInt          bodies = simulation->solid ? solid_body_count(simulation->solid) : 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(count, slips));
  for (PetscInt o = 0; o < config->obstacle_count; o++)
    (*slips)[o] = config->obstacles[o].surface == OBSTACLE_SLIP ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt n = config->obstacle_count; n < simulation->wall_count; n++) {
    const PetscInt body = n - config->obstacle_count; /* or, behind them, a mesh */

    (*slips)[n] = body < bodies
                      ? solid_coupled_body(simulation->solid, body).slips
                      : solid_deforming_config(simulation->solid, body - bodies)->surface == BODY_SLIP;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationPlaceObstacles(Simulation simulation, PetscReal time)
{
  const PetscBool moving = simulation->closed_velocity[X] ? PETSC_TRUE : PETSC_FALSE;
  PetscBool      *slips;

  PetscFunctionBegin;
  if (!simulation->closed)
    PetscFunctionReturn(0);
  PetscCall(VoxeliseAll(simulation, time));
  for (PetscInt d = 0; d < grid_box(simulation->grid)->dimension && moving; d++)
    PetscCall(SetFaceVelocity(simulation, d, time));
  PetscCall(SimulationGetSlips(simulation, simulation->wall_count, &slips));
  PetscCall(FluidSetSolids(simulation->fluid, simulation->wall_count, slips, simulation->closed,
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

/* Sources are as the time says. */
static PetscErrorCode Restore(Simulation simulation)
{
  PetscFunctionBegin;
  if (simulation_sources_change(simulation->config))
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
  const PetscInt count = simulation->wall_count;
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
  PetscBool any = config->obstacle_count + config->solids.body_count + config->solids.mesh_count > 0,
            moving = config->solids.mesh_count > 0;

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

/* Particles with mass have their own. */
static PetscBool are_in_fluid(const SimulationConfig *config)
{
  return config->grid.dimension > 0 && !simulation_has_splash(config) ? PETSC_TRUE : PETSC_FALSE;
}

const Part ObstaclesPart = {.name = "obstacles",
                            .ranks = PART_ON_FLUID,
                            .is_in = are_in_fluid,
                            .create = Create,
                            .restore = Restore,
                            .load = Load,
                            .record = RecordForces,
                            .count_fields = count_fields,
                            .destroy = Destroy};
