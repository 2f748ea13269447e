/* The state that a run of bodies in a fluid begins with, or goes on from. */
#include "coupled_impl.h"

PetscErrorCode SimulationDeriveCoupled(Simulation simulation)
{
  PetscReal *twists;

  PetscFunctionBegin;
  PetscCall(SimulationPlaceBodies(simulation, SHELLS_STILL, 0.));
  if (simulation->fluid)
    PetscCall(SimulationExtendVelocity(simulation));
  PetscCall(SimulationSetUpSystem(simulation));
  PetscCall(SimulationGetTwists(simulation, &twists));
  if (simulation->fluid) {
    PetscCall(SimulationFillBodies(simulation));
    PetscCall(SimulationConstrainViscosity(simulation, 0.)); /* totals leave out what it covers */
    PetscCall(SimulationStartMomentum(simulation, twists));
  }
  PetscFunctionReturn(0);
}

/* A time in which forces move nothing far: contact is solved for to a part of what they do in a step. */
static PetscReal balance_time(const SimulationConfig *config)
{
  const PetscReal gravity = vector3_norm(config->fluid.gravity);
  const PetscReal spacing = config->grid.size.at[X] / config->grid.resolution;
  PetscReal       dt = config->run.frame_interval;

  if (config->run.time_step > 0.)
    dt = config->run.time_step;
  else if (config->run.largest_time_step > 0.)
    dt = PetscMin(dt, config->run.largest_time_step);
  return gravity > 0. ? PetscMin(dt, PetscSqrtReal(2. * spacing / gravity)) : dt;
}

/* The fluid as forces leave it after dt, for contact and joints to answer to. */
static PetscErrorCode AccelerateFluid(Simulation simulation, PetscReal dt)
{
  struct Coupled *coupled = simulation->coupled;

  PetscFunctionBegin;
  PetscCall(FluidActWithoutAdvection(simulation->fluid, dt, VISCOSITY_LEFT_OUT, coupled->faces));
  PetscCall(FluidPrepareFaces(simulation->fluid, 0., JUMPS_ACT, dt, coupled->faces));
  PetscCall(VecSet(coupled->impulse, 0.));
  PetscCall(SimulationCopyFaces(simulation, coupled->faces, coupled->star));
  PetscFunctionReturn(0);
}

/* The pressure that holds the forces of the start, together with contact and joints, and the accelerations
   that they leave: S2 of a step in which nothing moves. Disagreement is left to the first step. */
static PetscErrorCode BalanceStart(Simulation simulation, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  const PetscReal dt = balance_time(simulation->config);
  PetscReal      *twists, *before, allowed;

  PetscFunctionBegin;
  PetscCall(SimulationGetTwists(simulation, &twists));
  PetscCall(SolidKeep(simulation->solid));
  PetscCall(PetscMalloc1(coupled->count + coupled->points, &before));
  PetscCall(SimulationGetVelocities(simulation, before));
  if (team_has_solids(simulation->team))
    PetscCall(SolidFindResting(simulation->solid, simulation->time, dt));
  PetscCall(SolidAccelerate(simulation->solid, simulation->time, dt));
  if (simulation_moves_meshes(simulation))
    PetscCall(SolidAccelerateRestingPoints(simulation->solid, simulation->time, dt));
  PetscCall(SimulationShareBones(simulation, twists));
  if (simulation->fluid)
    PetscCall(AccelerateFluid(simulation, dt));
  PetscCall(SimulationSolveInRounds(simulation, ROUNDS_OF_STEP, dt, simulation->fluid ? coupled->faces : NULL,
                                    twists, &allowed, good));
  if (coupled->points)
    PetscCall(SimulationShareSolids(simulation));
  if (*good)
    PetscCall(SimulationTakeAccelerations(simulation, dt, before));
  PetscCall(PetscFree(before));
  PetscCall(SolidReturn(simulation->solid));
  PetscCall(CouplingTellDeforming(coupled->coupling));
  if (*good)
    PetscCall(SimulationTakeLoads(simulation, dt, coupled->faces));
  if (simulation->fluid && *good) {
    PetscCall(FluidTakeImpulse(simulation->fluid, dt, coupled->impulse));
    PetscCall(FluidTakeStart(simulation->fluid));
    PetscCall(SimulationFillBodies(simulation));
    PetscCall(SimulationConstrainViscosity(simulation, 0.)); /* totals leave out what it covers */
    PetscCall(SimulationStartMomentum(simulation, twists));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationStartCoupled(Simulation simulation, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  PetscReal      *twists;
  Vec            *velocity = NULL;

  PetscFunctionBegin;
  PetscCall(SimulationSetUpSystem(simulation));
  PetscCall(SimulationGetTwists(simulation, &twists));
  if (simulation->fluid) {
    PetscCall(FluidBegin(simulation->fluid));
    PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
    PetscCall(FluidPrepareFaces(simulation->fluid, 0., JUMPS_LEFT_OUT, 0., velocity));
    PetscCall(VecSet(coupled->impulse, 0.));
  }
  PetscCall(SimulationProjectSystem(simulation, velocity, twists, good));
  if (!*good)
    PetscFunctionReturn(0);
  if (simulation->fluid) {
    PetscCall(FluidFinishFaces(simulation->fluid, 0., velocity));
    PetscCall(SimulationCarryVelocityOn(simulation));
  }
  PetscCall(BalanceStart(simulation, good));
  PetscCall(SimulationShareSolids(simulation)); /* contacts that rest are known to the solid team alone */
  PetscFunctionReturn(0);
}
