/* The size of a step: nothing may go farther in it than fluid.cfl and the ghosts of the grid allow, neither
   what moves now nor what is given over time (docs/numerics.md, section 6). */
#include "simulation_impl.h"

static StepBounds bounds_of(Simulation simulation)
{
  const SimulationConfig *config = simulation->config;
  const PetscBool         fixed = config->run.time_step > 0. ? PETSC_TRUE : PETSC_FALSE;
  StepBounds              bounds = {fixed ? MOST_CELLS_PER_STEP : config->fluid.cfl, PETSC_MAX_REAL,
                       config->fluid.advection != ADVECT_NONE || config->phases.region_count || !fixed};

  if (config->grid.dimension) /* bodies do not jump over cells; ranks without a grid know that too */
    bounds.path = bounds.cells * config->grid.size.at[X] / config->grid.resolution;
  if (simulation->solid && !fixed)
    bounds.path = PetscMin(bounds.path, solid_longest_path(simulation->solid));
  return bounds;
}

/* Shrinks a step until it fits what is given within it. What fits a step of dt is a step of `limit`; between
   the two the geometric mean is right at once for a speed that grows with time from nothing. */
static PetscErrorCode FitGiven(Simulation simulation, const StepBounds *bounds, PetscReal *dt)
{
  const PetscInt most_cuts = 60;
  PetscReal      limit = 0.;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < most_cuts && limit < *dt * (1. - 1e-3); n++) {
    if (n > 0)
      *dt = PetscSqrtReal(*dt * limit);
    PetscCall(PartsGetGivenLimit(simulation, bounds, *dt, &limit));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &limit, 1, MPIU_REAL, MPI_MIN, team_world(simulation->team)));
  }
  *dt = PetscMin(*dt, limit);
  PetscFunctionReturn(0);
}

PetscReal simulation_time_tolerance(const SimulationConfig *config)
{
  return 1e-9 * config->run.frame_interval;
}

/* A step ends where materials change and where inflows begin and end. */
PetscErrorCode SimulationGetTimeStep(Simulation simulation, PetscReal stop, PetscReal *dt)
{
  const RunConfig *run = &simulation->config->run;
  const PetscReal  change = PetscMin(simulation_next_change(simulation), simulation_next_inflow(simulation));
  const PetscReal at_stop = simulation_time_tolerance(simulation->config); /* what is as near comes with it */
  const PetscReal remaining = (change < stop - at_stop ? change : stop) - simulation->time;
  const PetscReal wanted = run->time_step > 0. ? run->time_step : run->largest_time_step;
  const StepBounds bounds = bounds_of(simulation);
  PetscReal        limit;

  PetscFunctionBegin;
  PetscCall(SimulationChangeMaterials(simulation));
  PetscCall(PartsGetLimit(simulation, &bounds, &limit));
  PetscCall(TeamAwaitFluid(simulation->team));
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
