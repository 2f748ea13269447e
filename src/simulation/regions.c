/* Regions in a run (docs/numerics.md, 12 and 13): they move half a step ahead of the velocity, inflows pour
   into them, and what they make of density, viscosity and pressure jumps is the fluid's mixture. */
#include "simulation_impl.h"

#include <petsctime.h>

/* The fluid learns what it is made of now. */
static PetscErrorCode MixFluid(Simulation simulation)
{
  const Mixture *mixture;

  PetscFunctionBegin;
  PetscCall(PhaseGetMixture(simulation->phase, &mixture));
  PetscCall(FluidSetMixture(simulation->fluid, mixture));
  PetscFunctionReturn(0);
}

static PetscInt region_named(const PhaseConfig *config, const char name[])
{
  for (PetscInt r = 0; r < config->region_count; r++)
    if (!strcmp(config->regions[r].name, name))
      return r;
  return -1;
}

/* What is closed to the regions: obstacles and bodies, but not sources, which are full of what they let out.
   Null: nothing. */
static PetscErrorCode FindObstructed(Simulation simulation, Vec *obstructed)
{
  const PetscInt   length = grid_box(simulation->grid)->length;
  const PetscReal *closed;
  PetscReal       *mark;

  PetscFunctionBegin;
  *obstructed = NULL;
  if (!simulation_covered(simulation) || !simulation->closed_count)
    PetscFunctionReturn(0);
  if (!simulation->obstructed)
    PetscCall(MacGridCreateField(simulation->grid, &simulation->obstructed));
  PetscCall(VecGetArrayRead(simulation_covered(simulation), &closed));
  PetscCall(VecGetArray(simulation->obstructed, &mark));
  for (PetscInt c = 0; c < length; c++)
    mark[c] = closed[c] > simulation->closed_count ? 0. : closed[c];
  PetscCall(VecRestoreArray(simulation->obstructed, &mark));
  PetscCall(VecRestoreArrayRead(simulation_covered(simulation), &closed));
  *obstructed = simulation->obstructed;
  PetscFunctionReturn(0);
}

static PetscErrorCode PourInflows(Simulation simulation, PetscReal time)
{
  const SimulationConfig *config = simulation->config;
  Vec                     closed;

  PetscFunctionBegin;
  PetscCall(FindObstructed(simulation, &closed));
  for (PetscInt n = 0; n < config->inflow_count; n++) {
    const InflowConfig *inflow = &config->inflows[n];

    if (inflow->region && inflow_is_active(inflow, time))
      PetscCall(
          PhasePour(simulation->phase, region_named(&config->phases, inflow->region), inflow->shape, closed));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationCreateRegions(Simulation simulation, char message[], size_t size)
{
  Vec closed;

  PetscFunctionBegin;
  if (!simulation->config->phases.region_count)
    PetscFunctionReturn(0);
  PetscCall(PhaseCreate(simulation->grid, &simulation->config->phases, &simulation->phase));
  PetscCall(SimulationShowShells(simulation, 0.));
  PetscCall(FindObstructed(simulation, &closed));
  PetscCall(PhaseStart(simulation->phase, closed, message, size));
  if (message[0])
    PetscFunctionReturn(0);
  PetscCall(PourInflows(simulation, 0.));
  PetscCall(MixFluid(simulation));
  PetscCall(SimulationCreateGas(simulation));
  PetscFunctionReturn(0);
}

/* From the middle of the last step to that of this one; with shells as long as these move, which must not run
   away from what they hold. */
PetscErrorCode SimulationMoveRegions(Simulation simulation, PetscReal dt)
{
  const PetscReal drift = simulation_has_shells(simulation) ? dt : 0.5 * (simulation->dt + dt);
  PetscLogDouble  begin, end;
  Vec            *velocity, closed;

  PetscFunctionBegin;
  if (!simulation->phase)
    PetscFunctionReturn(0);
  PetscCall(PetscTime(&begin));
  PetscCall(FindObstructed(simulation, &closed));
  PetscCall(PhaseKeep(simulation->phase));
  PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
  PetscCall(FluidGetTravel(simulation->fluid, velocity, drift, &simulation->travel));
  PetscCall(SimulationGetCarrying(simulation, &velocity));
  PetscCall(PhaseAdvance(simulation->phase, velocity, closed, drift));
  PetscCall(PourInflows(simulation, simulation->time + dt));
  PetscCall(MixFluid(simulation));
  PetscCall(PetscTime(&end));
  simulation->wall_regions = end - begin;
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationReturnRegions(Simulation simulation)
{
  PetscFunctionBegin;
  if (!simulation->phase)
    PetscFunctionReturn(0);
  PetscCall(PhaseReturn(simulation->phase));
  PetscCall(MixFluid(simulation));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationExtendVelocity(Simulation simulation)
{
  PetscLogDouble begin, end;
  Vec           *velocity, *heavy;

  PetscFunctionBegin;
  if (!simulation->phase)
    PetscFunctionReturn(0);
  PetscCall(PetscTime(&begin));
  PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
  PetscCall(PhaseExtendVelocity(simulation->phase, velocity));
  PetscCall(FluidGetHeavyVelocity(simulation->fluid, &heavy));
  if (heavy != velocity) {
    for (PetscInt d = 0; d < grid_box(simulation->grid)->dimension; d++)
      PetscCall(VecCopy(velocity[d], heavy[d]));
    PetscCall(PhaseExtendHeavyVelocity(simulation->phase, heavy));
  }
  PetscCall(FluidRefreshVelocity(simulation->fluid));
  PetscCall(PetscTime(&end));
  simulation->wall_regions += end - begin;
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationLoadRegions(Simulation simulation, Archive archive)
{
  PetscFunctionBegin;
  if (!simulation->phase)
    PetscFunctionReturn(0);
  PetscCall(PhaseLoad(simulation->phase, archive));
  PetscCall(MixFluid(simulation));
  PetscFunctionReturn(0);
}
