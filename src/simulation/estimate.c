/* What a run will need, worked out from its scene alone. */
#include "simulation_impl.h"

/* Measured, see docs/performance.md. */
static const PetscReal bytes_per_process = 60e6;     /* MPI, PETSc and HDF5 before the first field */
static const PetscReal solver_bytes_per_cell = 150.; /* of the pressure: multigrid and conjugate gradients */

enum { SAMPLES = 17 }; /* along each direction, to find the largest value of a formula in the box */

static PetscReal largest_value(const GridConfig *grid, Formula formula)
{
  const PetscInt depth = grid->dimension == 3 ? SAMPLES : 1;
  PetscReal      largest = 0.;

  if (!formula)
    return 0.;
  for (PetscInt k = 0; k < depth; k++)
    for (PetscInt j = 0; j < SAMPLES; j++)
      for (PetscInt i = 0; i < SAMPLES; i++) {
        const PetscReal at[DIM] = {i, j, k};
        Vector3         point = grid->origin;
        PetscReal       value;

        for (PetscInt d = 0; d < grid->dimension; d++)
          point.at[d] += grid->size.at[d] * at[d] / (SAMPLES - 1);
        value = PetscAbsReal(formula_value(formula, point, 0.));
        if (!PetscIsInfOrNanReal(value))
          largest = PetscMax(largest, value);
      }
  return largest;
}

/* The largest speed that the scene names: at the start, on its sides, in its inflows, of its obstacles. */
static PetscReal named_speed(const SimulationConfig *config)
{
  PetscReal speed = 0.;

  for (PetscInt d = 0; d < config->grid.dimension; d++) {
    speed = PetscMax(speed, largest_value(&config->grid, config->fluid.initial_velocity[d]));
    for (PetscInt axis = 0; axis < config->grid.dimension; axis++)
      for (PetscInt side = 0; side < 2; side++)
        speed = PetscMax(speed, largest_value(&config->grid, config->fluid.sides[axis][side].velocity[d]));
    for (PetscInt n = 0; n < config->inflow_count; n++)
      speed = PetscMax(speed, largest_value(&config->grid, config->inflows[n].velocity[d]));
  }
  for (PetscInt o = 0; o < config->obstacle_count; o++) {
    PetscReal moving;
    Vector3   low, high;

    shape_bounds(config->obstacles[o].shape, &low, &high);
    moving = motion_speed_bound(config->obstacles[o].motion, 0., low, high);
    if (!PetscIsInfOrNanReal(moving))
      speed = PetscMax(speed, moving);
  }
  return speed;
}

/* Fields of doubles over a rank's part, ghosts included, that are alive at the same time
 * (docs/performance.md). */
static PetscReal fields_alive(const SimulationConfig *config)
{
  const PetscInt dimension = config->grid.dimension;
  PetscBool      diffuses = config->fluid.viscosity > 0. ? PETSC_TRUE : PETSC_FALSE;
  PetscReal      fields = 4 * dimension + 1 + 2; /* velocities, feet, pressure, scratch */

  fields += 2 * config->fluid.scalar_count;
  for (PetscInt s = 0; s < config->fluid.scalar_count; s++)
    if (config->fluid.scalars[s].diffusivity > 0.)
      diffuses = PETSC_TRUE;
  if (diffuses)
    fields += 1; /* the residual */
  if (config->obstacle_count)
    fields += 2;
  for (PetscInt o = 0; o < config->obstacle_count; o++)
    if (!motion_is_still(config->obstacles[o].motion)) {
      fields += 2 * dimension;
      break;
    }
  return fields;
}

PetscErrorCode SimulationConfigEstimate(const SimulationConfig *config, PetscMPIInt ranks,
                                        SimulationEstimate *estimate)
{
  const PetscReal spacing = config->grid.size.at[X] / config->grid.resolution;
  const PetscReal speed = named_speed(config);
  PetscReal       ghosted = 1.;

  PetscFunctionBegin;
  *estimate = (SimulationEstimate){.cell_count = 1};
  estimate->solid_ranks = ranks == 1 ? 0 : PetscMax(config->parallel.solid_ranks, 0);
  estimate->fluid_ranks = ranks - estimate->solid_ranks;
  grid_config_cells(&config->grid, estimate->cells);
  for (PetscInt d = 0; d < DIM; d++)
    estimate->cell_count *= estimate->cells[d];
  for (PetscInt d = 0; d < config->grid.dimension; d++) {
    const PetscReal side =
        PetscPowReal((PetscReal)estimate->cell_count / estimate->fluid_ranks, 1. / config->grid.dimension);

    ghosted *= 1. + 2. * GHOST_WIDTH / side;
  }
  estimate->bytes = ranks * bytes_per_process +
                    estimate->cell_count * (8. * ghosted * fields_alive(config) + solver_bytes_per_cell);
  estimate->time_step = PETSC_MAX_REAL;
  if (config->run.time_step > 0.)
    estimate->time_step = config->run.time_step;
  else if (speed > 0.)
    estimate->time_step = config->fluid.cfl * spacing / speed;
  if (config->run.largest_time_step > 0.)
    estimate->time_step = PetscMin(estimate->time_step, config->run.largest_time_step);
  estimate->steps = config->run.end_time / estimate->time_step;
  PetscFunctionReturn(0);
}
