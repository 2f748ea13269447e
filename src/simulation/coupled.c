/* The step of bodies in a fluid (thesis 5.6; docs/numerics.md, section 15): F1 S1 F2 F3 S2 F4.

   Solves and twists belong to all ranks, fields to those with fluid; the bodies move on the solid team, which
   tells the others. Every part ends with the same answer on all ranks whether the step can go on. */
#include "coupled_impl.h"

/* Viscosity can have failed, or trajectories are too long: the fluid does not wait for the solids to hear it.
 */
static PetscErrorCode CollectGood(Simulation simulation, PetscBool *good)
{
  PetscFunctionBegin;
  if (simulation->fluid)
    *good = fluid_report(simulation->fluid)->diffusion_converged && /* the same on all its ranks */
            !fluid_goes_too_far(simulation->fluid);
  PetscCall(SimulationBroadcastFromFluid(simulation, good, 1, MPIU_BOOL));
  PetscFunctionReturn(0);
}

/* F1: the velocity in the middle of the step by viscosity and forces, in `faces`. Only free bodies ask for
 * it. */
static PetscErrorCode ForceFluid(Simulation simulation, PetscReal dt, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;

  PetscFunctionBegin;
  if (!coupled->has_free_bodies)
    PetscFunctionReturn(0);
  if (simulation->fluid) {
    PetscCall(SimulationConstrainViscosity(simulation, 0.5 * dt));
    PetscCall(SimulationFindStress(simulation, 0.5 * dt));
    PetscCall(FluidActWithoutAdvection(simulation->fluid, 0.5 * dt, VISCOSITY_ACTS, coupled->faces));
    PetscCall(FluidPrepareFaces(simulation->fluid, simulation->time + 0.5 * dt, JUMPS_ACT, 0.5 * dt,
                                coupled->faces));
    PetscCall(FluidGetImpulse(simulation->fluid, 0.5 * dt, coupled->impulse));
  }
  PetscCall(CollectGood(simulation, good));
  PetscFunctionReturn(0);
}

/* (5.13) over half a step in rounds with contact at the places of its start. Without them a body that is
   pressed to a wall would turn about it as the fluid lets it, since contact only ends what closes. The state
   lends its place to the velocities. */
static PetscErrorCode SolveHalfInRounds(Simulation simulation, PetscReal dt, PetscReal half[],
                                        PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  PetscReal      *twists, *kept, allowed;

  PetscFunctionBegin;
  PetscCall(SimulationGetTwists(simulation, &twists));
  PetscCall(PetscMalloc1(coupled->count, &kept));
  PetscCall(PetscArraycpy(kept, twists, coupled->count));
  PetscCall(PetscArraycpy(twists, half, coupled->count));
  if (simulation->fluid)
    PetscCall(SimulationCopyFaces(simulation, coupled->faces, coupled->star));
  PetscCall(SimulationSolveInRounds(simulation, ROUNDS_OF_HALF, 0.5 * dt,
                                    simulation->fluid ? coupled->faces : NULL, twists, &allowed, good));
  PetscCall(PetscArraycpy(half, twists, coupled->count));
  PetscCall(PetscArraycpy(twists, kept, coupled->count));
  PetscCall(PetscFree(kept));
  coupled->half_iterations = coupled->iterations;
  PetscFunctionReturn(0);
}

/* The bodies' velocities in the middle of the step: (5.13) over half of it. Joints have no velocities yet
   that hold over the step. */
static PetscErrorCode SolveHalf(Simulation simulation, PetscReal dt, PetscReal half[], PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < coupled->count; n++)
    half[n] += coupled->dragged[n];
  if (!simulation->config->solids.joint_count) {
    PetscCall(SolveHalfInRounds(simulation, dt, half, good));
    PetscFunctionReturn(0);
  }
  if (simulation->fluid)
    PetscCall(SimulationCopyFaces(simulation, coupled->faces, coupled->star));
  PetscCall(SimulationSolveOnce(simulation, simulation->fluid ? coupled->faces : NULL, half, good));
  coupled->half_iterations = coupled->iterations;
  PetscFunctionReturn(0);
}

/* A mesh came to a free body, meshes could not be kept apart, one is turned inside out, or its matrix could
   not be solved with. */
static PetscBool meshes_are_good(Simulation simulation)
{
  SolidReport report;

  if (!solid_deforming_count(simulation->solid))
    return PETSC_TRUE;
  report = solid_report(simulation->solid);
  return !report.meets_body && !report.is_unsolved && !report.inverted_mesh && !report.is_tangled &&
                 !report.mesh_crossings && !PetscIsInfOrNanReal(report.elastic_energy)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* S1: where the bodies are at the end of the step. */
static PetscErrorCode MoveBodies(Simulation simulation, PetscReal dt, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  PetscReal      *half;

  PetscFunctionBegin;
  PetscCall(SolidPredictHalf(simulation->solid, simulation->time, dt, &half));
  if (coupled->has_free_bodies)
    PetscCall(SimulationTakeViscosity(simulation, 0.5 * dt));
  if (simulation_moves_meshes(simulation))
    PetscCall(SolidPredictPoints(simulation->solid, simulation->time, dt, coupled->dragged + coupled->count));
  PetscCall(SimulationShareBones(simulation, half));
  if (coupled->has_free_bodies)
    PetscCall(SolveHalf(simulation, dt, half, good));
  if (!*good)
    PetscFunctionReturn(0);
  PetscCall(SimulationTimeAs(simulation, WORK_ON_SOLIDS));
  if (team_has_solids(simulation->team))
    PetscCall(SolidMove(simulation->solid, simulation->time, dt));
  if (simulation_moves_meshes(simulation))
    PetscCall(SolidMovePoints(simulation->solid, simulation->time, dt));
  PetscCall(SimulationShareSolids(simulation));
  *good = meshes_are_good(simulation);
  PetscFunctionReturn(0);
}

/* A flow that goes much farther in a step than this one was made for is not taken. */
static PetscErrorCode RefuseFast(Simulation simulation, Vec faces[DIM], PetscReal most, PetscReal dt,
                                 PetscBool *good)
{
  PetscReal travel;

  PetscFunctionBegin;
  if (simulation->fluid) {
    PetscCall(FluidGetTravel(simulation->fluid, faces, dt, &travel));
    *good = travel <= most ? PETSC_TRUE : PETSC_FALSE;
    simulation->too_fast = !*good;
  }
  PetscCall(SimulationBroadcastFromFluid(simulation, good, 1, MPIU_BOOL));
  PetscFunctionReturn(0);
}

/* F2: the leak-proof velocity that carries fluid and regions, in `faces`: the velocity, projected past the
   bodies' mean motion over the step. Past bodies that stand still it is the velocity. */
static PetscErrorCode ProjectAdvecting(Simulation simulation, PetscReal dt, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  PetscReal      *motion;
  Vec            *velocity;

  PetscFunctionBegin;
  if (coupled->stands_still)
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc1(coupled->count, &motion));
  if (simulation->fluid) {
    PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
    PetscCall(SimulationCopyFaces(simulation, velocity, coupled->faces));
    PetscCall(VecSet(coupled->impulse, 0.));
  }
  PetscCall(SolidGetEffective(simulation->solid, dt, motion));
  PetscCall(SimulationProjectSystem(simulation, coupled->faces, motion, good));
  coupled->advecting_iterations = coupled->report.iterations;
  if (*good && simulation->fluid) {
    PetscCall(CouplingFillFaces(coupled->coupling, motion, NULL, FILL_WHOLE, coupled->faces));
    PetscCall(FluidFinishFaces(simulation->fluid, simulation->time, coupled->faces));
    PetscCall(FluidSetAdvecting(simulation->fluid, coupled->faces));
  }
  if (*good) /* slivers may be fast; what no transport could follow is not */
    PetscCall(
        RefuseFast(simulation, coupled->faces, 100. * simulation_farthest(simulation->config), dt, good));
  PetscCall(PetscFree(motion));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationGetAdvecting(Simulation simulation, Vec **faces)
{
  PetscFunctionBegin;
  PetscCall(FluidGetVelocity(simulation->fluid, faces));
  if (simulation->coupled && !simulation->coupled->stands_still)
    *faces = simulation->coupled->faces;
  PetscFunctionReturn(0);
}

/* Obstacles, bodies and regions where they are at the end of the step, and the system that follows. Where
   nothing of that moves it is still there. */
static PetscErrorCode Place(Simulation simulation, PetscReal dt)
{
  const PetscBool sources = simulation_sources_change(simulation->config),
                  bodies = !simulation->coupled->stands_still || sources;

  PetscFunctionBegin;
  if (simulation->fluid && sources)
    PetscCall(SimulationPlaceObstacles(simulation, simulation->time + dt));
  if (bodies)
    PetscCall(SimulationPlaceBodies(simulation, SHELLS_MOVED, dt));
  if (simulation->fluid)
    PetscCall(SimulationMoveRegions(simulation, dt));
  if (bodies || simulation->config->phases.region_count)
    PetscCall(SimulationSetUpSystem(simulation));
  PetscFunctionReturn(0);
}

static PetscErrorCode PredictVelocity(Simulation simulation, PetscReal dt, const PetscReal twists[])
{
  Vec *velocity, *scalars;

  PetscFunctionBegin;
  PetscCall(SimulationConstrainViscosity(simulation, dt));
  PetscCall(FluidPredictAdvection(simulation->fluid, dt));
  PetscCall(FluidGetPrediction(simulation->fluid, &velocity, &scalars));
  PetscCall(SimulationMeasureMomentum(simulation, CHANGE_ADVECTION, velocity, twists));
  PetscCall(SimulationMoveMomentum(simulation));
  PetscCall(SimulationPullElastically(simulation, dt));
  PetscCall(FluidPredictViscosity(simulation->fluid, dt));
  PetscCall(SimulationDrag(simulation, dt, simulation->coupled->begun));
  PetscCall(SimulationMeasureMomentum(simulation, CHANGE_VISCOSITY, velocity, simulation->coupled->begun));
  PetscCall(FluidPredictForces(simulation->fluid, dt));
  PetscCall(SimulationHoldPrediction(simulation, dt, scalars));
  PetscFunctionReturn(0);
}

/* What viscosity made of the velocities of bodies and meshes. */
static PetscErrorCode DragSolids(Simulation simulation, PetscReal dt)
{
  struct Coupled *coupled = simulation->coupled;
  PetscReal      *twists, *velocities, before[2 * DIM], after[2 * DIM];

  PetscFunctionBegin;
  PetscCall(SimulationTakeViscosity(simulation, dt));
  PetscCall(SimulationGetTwists(simulation, &twists));
  PetscCall(SimulationGetPointVelocities(simulation, &velocities));
  solid_points_momentum(simulation->solid, before);
  for (PetscInt n = 0; n < coupled->count; n++)
    twists[n] += coupled->dragged[n];
  for (PetscInt n = 0; n < coupled->points; n++)
    velocities[n] += coupled->dragged[coupled->count + n];
  solid_points_momentum(simulation->solid, after);
  for (PetscInt n = 0; n < 2 * DIM; n++)
    coupled->momentum.dragged[n] = after[n] - before[n];
  PetscFunctionReturn(0);
}

/* F3: u* by advection, viscosity and forces around the bodies where they are now, and what viscosity makes of
   the bodies' velocities. */
static PetscErrorCode PredictFluid(Simulation simulation, PetscReal dt, PetscBool *good)
{
  PetscReal *twists;

  PetscFunctionBegin;
  PetscCall(Place(simulation, dt));
  PetscCall(SimulationGetTwists(simulation, &twists));
  if (simulation->fluid)
    PetscCall(PredictVelocity(simulation, dt, twists));
  PetscCall(CollectGood(simulation, good));
  if (!*good && simulation->fluid)
    simulation->too_fast = fluid_goes_too_far(simulation->fluid);
  if (!*good)
    PetscFunctionReturn(0);
  PetscCall(DragSolids(simulation, dt));
  PetscFunctionReturn(0);
}

/* u* with the pressure's first guess, and u* kept for the rounds. */
static PetscErrorCode PrepareSolve(Simulation simulation, PetscReal dt, const PetscReal twists[], Vec **next)
{
  struct Coupled *coupled = simulation->coupled;
  Vec            *scalars;

  PetscFunctionBegin;
  PetscCall(FluidGetPrediction(simulation->fluid, next, &scalars));
  PetscCall(FluidPrepareFaces(simulation->fluid, simulation->time + dt, JUMPS_ACT, dt, *next));
  PetscCall(FluidGetImpulse(simulation->fluid, dt, coupled->impulse));
  PetscCall(SimulationCopyFaces(simulation, *next, coupled->star));
  PetscCall(SimulationMeasureMomentum(simulation, CHANGE_FORCES, *next, twists));
  PetscFunctionReturn(0);
}

/* (5.13) for fluid and bodies, from V* in `twists`, in rounds with contact and joints. */
static PetscErrorCode SolveWithContact(Simulation simulation, PetscReal dt, PetscReal twists[],
                                       PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  Vec            *next = NULL;
  PetscReal       allowed;

  PetscFunctionBegin;
  if (simulation->fluid)
    PetscCall(PrepareSolve(simulation, dt, twists, &next));
  PetscCall(SimulationSolveInRounds(simulation, ROUNDS_OF_STEP, dt, next, twists, &allowed, good));
  if (*good && coupled->disagreement > allowed)
    PetscCall(SimulationJudgeDisagreement(simulation, dt, good));
  if (!*good)
    PetscFunctionReturn(0);
  if (next)
    PetscCall(SimulationMeasureMomentum(simulation, CHANGE_PRESSURE, next, coupled->solved));
  PetscCall(SimulationTakeLoads(simulation, dt, next));
  PetscCall(SimulationShareSolids(simulation));
  if (simulation_moves_meshes(simulation)) /* as a resumed run finds it */
    solid_show_points(simulation->solid);
  PetscCall(CouplingTellDeforming(coupled->coupling));
  PetscFunctionReturn(0);
}

/* S2: the bodies' velocities become V* by forces and V by pressure, contact and joints; what all of them did
   is the acceleration that the next step begins with. */
static PetscErrorCode SolveBodiesAndFluid(Simulation simulation, PetscReal dt, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  PetscReal      *twists, *before;
  Vec            *next = NULL, *scalars;

  PetscFunctionBegin;
  PetscCall(SimulationGetTwists(simulation, &twists));
  PetscCall(PetscMalloc1(coupled->count + coupled->points, &before));
  PetscCall(SimulationGetVelocities(simulation, before));
  PetscCall(SolidAccelerate(simulation->solid, simulation->time, dt));
  if (simulation_moves_meshes(simulation))
    PetscCall(SolidAcceleratePoints(simulation->solid, dt));
  PetscCall(SimulationShareBones(simulation, twists));
  PetscCall(SolveWithContact(simulation, dt, twists, good));
  if (simulation->fluid)
    PetscCall(FluidGetPrediction(simulation->fluid, &next, &scalars));
  if (*good)
    *good = meshes_are_good(simulation);
  if (*good)
    PetscCall(RefuseFast(simulation, next, simulation_farthest(simulation->config), dt, good));
  if (*good)
    PetscCall(SimulationTakeAccelerations(simulation, dt, before));
  PetscCall(PetscFree(before));
  PetscFunctionReturn(0);
}

/* F4: the state at the end of the step, extrapolated beyond the liquids and into the bodies. */
static PetscErrorCode FinishFluid(Simulation simulation, PetscReal dt, PetscBool *good)
{
  PetscReal *twists;
  Vec       *next, *scalars;

  PetscFunctionBegin;
  (void)good;
  if (!simulation->fluid)
    PetscFunctionReturn(0);
  PetscCall(SimulationGetTwists(simulation, &twists));
  PetscCall(FluidGetPrediction(simulation->fluid, &next, &scalars));
  PetscCall(FluidTakeImpulse(simulation->fluid, dt, simulation->coupled->impulse));
  PetscCall(FluidFinishFaces(simulation->fluid, simulation->time + dt, next));
  PetscCall(FluidTakePrediction(simulation->fluid, dt));
  PetscCall(SimulationShowShells(simulation, SHELLS_STILL, dt)); /* as a resumed run would see them */
  PetscCall(SimulationCarryVelocityOn(simulation));
  PetscCall(SimulationStretchRegions(simulation, dt));
  PetscCall(SimulationHoldMomentum(simulation, twists));
  PetscCall(SimulationStepGas(simulation, dt));
  PetscFunctionReturn(0);
}

static const struct {
  StepPart part; /* of the timers */
  PetscErrorCode (*take)(Simulation simulation, PetscReal dt, PetscBool *good);
} parts[] = {
    {PART_MOVE, ForceFluid},            /* F1 */
    {PART_MOVE, MoveBodies},            /* S1 */
    {PART_ADVECTING, ProjectAdvecting}, /* F2 */
    {PART_PREDICT, PredictFluid},       /* F3 */
    {PART_SOLVE, SolveBodiesAndFluid},  /* S2 */
    {PART_SOLVE, FinishFluid},          /* F4 */
};

PetscErrorCode SimulationStepCoupled(Simulation simulation, PetscReal dt, PetscBool *good)
{
  PetscFunctionBegin;
  *good = PETSC_TRUE;
  PetscCall(SimulationGetVelocities(simulation, simulation->coupled->started));
  if (!simulation->failures)
    simulation->coupled->unsettled = 0;
  if (simulation->fluid)
    PetscCall(SimulationBeginMomentum(simulation));
  for (size_t n = 0; n < sizeof(parts) / sizeof(parts[0]) && *good; n++) {
    PetscCall(SimulationEnterPart(simulation, parts[n].part));
    PetscCall(parts[n].take(simulation, dt, good));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationDescribeCoupledFailure(Simulation simulation, char reason[], size_t size)
{
  const CouplingReport *report = &simulation->coupled->report;
  char                  body[128] = "";

  PetscFunctionBegin;
  if (simulation->fluid && !fluid_report(simulation->fluid)->diffusion_converged)
    PetscFunctionReturn(0); /* the flow tells */
  reason[0] = '\0';
  PetscCall(SolidDescribeFailure(simulation->solid, reason, size));
  if (reason[0])
    PetscFunctionReturn(0);
  if (report->worst_body >= 0 && report->worst_body < solid_body_count(simulation->solid))
    PetscCall(PetscSNPrintf(body, sizeof(body), "beside body \"%.40s\", ",
                            solid_body_view(simulation->solid, report->worst_body).config->name));
  if (report->message[0])
    PetscCall(PetscSNPrintf(reason, size, "%s%s", body, report->message));
  else
    PetscCall(
        PetscSNPrintf(reason, size, "the coupled solve ended with %s", KSPConvergedReasons[report->reason]));
  PetscFunctionReturn(0);
}
