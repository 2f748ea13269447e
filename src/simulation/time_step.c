/* The size of a step: nothing may go farther in it than fluid.cfl and the ghosts of the grid allow, neither
   what moves now nor what is given over time (docs/numerics.md, section 6). */
#include "simulation_impl.h"

/* What bounds a step. A fixed one is bounded by what the schemes can do, not by what is accurate. */
typedef struct {
  PetscReal cells; /* that anything may go, along an axis */
  PetscReal path;  /* of bodies, m */
} Bounds;

static Bounds bounds_of(Simulation simulation)
{
  const SimulationConfig *config = simulation->config;
  const PetscBool         fixed = config->run.time_step > 0. ? PETSC_TRUE : PETSC_FALSE;
  Bounds                  bounds = {fixed ? MOST_CELLS_PER_STEP : config->fluid.cfl, PETSC_MAX_REAL};

  if (config->grid.dimension) /* bodies do not jump over cells; ranks without a grid know that too */
    bounds.path = bounds.cells * config->grid.size.at[X] / config->grid.resolution;
  if (simulation->solid && !fixed)
    bounds.path = PetscMin(bounds.path, solid_longest_path(simulation->solid));
  return bounds;
}

/* Regions go from the middle of the last step to that of this one. */
static PetscReal region_limit(Simulation simulation)
{
  const PetscReal farthest = MOST_CELLS_PER_STEP * grid_spacing(simulation->grid);
  const PetscReal speed = fluid_report(simulation->fluid)->largest_speed;

  if (speed <= 0.)
    return PETSC_MAX_REAL;
  return simulation_has_shells(simulation) ? farthest / speed : 2. * farthest / speed - simulation->dt;
}

static PetscErrorCode GetFlowLimit(Simulation simulation, PetscReal cells, PetscReal *limit)
{
  const PetscReal distance = cells * grid_spacing(simulation->grid), time = simulation->time;
  const PetscReal given =
      PetscMax(simulation_obstacle_speed(simulation, time), simulation_inflow_speed(simulation, time));
  PetscReal other;

  PetscFunctionBegin;
  PetscCall(FluidGetTimeStepLimit(simulation->fluid, cells, limit));
  if (given > 0.)
    *limit = PetscMin(*limit, distance / given);
  if (simulation->gas) {
    PetscCall(FluidGetTimeStepLimit(simulation->gas, cells, &other));
    *limit = PetscMin(*limit, other);
  }
  if (simulation->phase) {
    other = phase_wave_limit(simulation->phase, simulation->config->fluid.gravity,
                             grid_spacing(simulation->grid));
    *limit = PetscMin(*limit, PetscMin(other, region_limit(simulation)));
  }
  PetscFunctionReturn(0);
}

/* What the parts of this rank allow now. */
static PetscErrorCode GetLimit(Simulation simulation, const Bounds *bounds, PetscReal *limit)
{
  const PetscBool carries = simulation->config->fluid.advection != ADVECT_NONE || simulation->phase ||
                            simulation->config->run.time_step == 0.;
  PetscReal other;

  PetscFunctionBegin;
  *limit = PETSC_MAX_REAL;
  if (simulation->solid)
    PetscCall(
        SolidGetTimeStepLimit(simulation->solid, bounds->path, simulation_accelerations(simulation), limit));
  if (simulation->fluid && carries) {
    PetscCall(GetFlowLimit(simulation, bounds->cells, &other));
    *limit = PetscMin(*limit, other);
  }
  PetscFunctionReturn(0);
}

/* What is given over time, at the middle and the end of a step of `dt`, allows on this rank. */
static PetscErrorCode GetGivenLimit(Simulation simulation, const Bounds *bounds, PetscReal dt,
                                    PetscReal *limit)
{
  PetscReal speed = 0., other;

  PetscFunctionBegin;
  *limit = PETSC_MAX_REAL;
  if (simulation->solid) {
    PetscCall(SolidGetGivenSpeed(simulation->solid, simulation->time, dt, &speed));
    *limit = speed > 0. ? bounds->path / speed : PETSC_MAX_REAL;
  }
  for (PetscInt half = 1; half <= 2 && simulation->fluid; half++) {
    const PetscReal time = simulation->time + 0.5 * half * dt;

    PetscCall(FluidGetGivenLimit(simulation->fluid, bounds->cells, time, &other));
    speed = PetscMax(simulation_obstacle_speed(simulation, time), simulation_inflow_speed(simulation, time));
    if (speed > 0.)
      other = PetscMin(other, bounds->cells * grid_spacing(simulation->grid) / speed);
    *limit = PetscMin(*limit, other);
  }
  PetscFunctionReturn(0);
}

/* Shrinks a step until it fits what is given within it. What fits a step of dt is a step of `limit`; between
   the two the geometric mean is right at once for a speed that grows with time from nothing. */
static PetscErrorCode FitGiven(Simulation simulation, const Bounds *bounds, PetscReal *dt)
{
  const PetscInt most_cuts = 60;
  PetscReal      limit = 0.;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < most_cuts && limit < *dt * (1. - 1e-3); n++) {
    if (n > 0)
      *dt = PetscSqrtReal(*dt * limit);
    PetscCall(GetGivenLimit(simulation, bounds, *dt, &limit));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &limit, 1, MPIU_REAL, MPI_MIN, team_world(simulation->team)));
  }
  *dt = PetscMin(*dt, limit);
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationGetTimeStep(Simulation simulation, PetscReal stop, PetscReal *dt)
{
  const RunConfig *run = &simulation->config->run;
  const PetscReal  remaining = stop - simulation->time;
  const PetscReal  wanted = run->time_step > 0. ? run->time_step : run->largest_time_step;
  const Bounds     bounds = bounds_of(simulation);
  PetscReal        limit;

  PetscFunctionBegin;
  PetscCall(GetLimit(simulation, &bounds, &limit));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &limit, 1, MPIU_REAL, MPI_MIN, team_world(simulation->team)));
  if (wanted > 0.)
    limit = PetscMin(limit, wanted);
  limit = PetscMin(limit, PetscMax(remaining, 0.));
  if (limit > 0. && bounds.path < PETSC_MAX_REAL)
    PetscCall(FitGiven(simulation, &bounds, &limit));
  simulation->is_first_cut = PETSC_FALSE;
  if (run->time_step > 0. && limit < PetscMin(run->time_step, remaining) * (1. - 1e-9))
    simulation->is_first_cut = simulation->cut_steps++ == 0;
  /* a remainder of round-off is no step of its own */
  *dt = remaining / PetscMax(1., PetscCeilReal(remaining / limit * (1. - 1e-9)));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationTryStep(Simulation simulation, PetscReal *dt, PetscBool *good)
{
  const PetscInt most_halvings = 8;

  PetscFunctionBegin;
  PetscCall(SimulationStep(simulation, *dt, good));
  for (PetscInt n = 0; !*good && n < (simulation->too_fast ? most_halvings : 1); n++) {
    *dt *= 0.5;
    PetscCall(SimulationStep(simulation, *dt, good));
  }
  PetscFunctionReturn(0);
}

PetscReal simulation_farthest(const SimulationConfig *config)
{
  const PetscReal regions_can_follow = 1.5 * MOST_CELLS_PER_STEP;

  if (config->fluid.advection == ADVECT_NONE && !config->phases.region_count)
    return PETSC_MAX_REAL;
  if (config->run.time_step > 0.)
    return regions_can_follow;
  return PetscMin(4. * config->fluid.cfl, regions_can_follow);
}

PetscReal simulation_travel(Simulation simulation)
{
  const PetscReal travel = PetscMax(simulation->travel, fluid_report(simulation->fluid)->travel);

  return simulation->gas ? PetscMax(travel, fluid_report(simulation->gas)->travel) : travel;
}
