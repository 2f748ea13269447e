/* The step of bodies in a fluid (thesis 5.6; docs/numerics.md, section 15): F1 S1 F2 F3 S2 F4.

   Solves and twists belong to all ranks, fields to those with fluid; the bodies move on the solid team and
   the others take its word. */
#include "coupled_impl.h"

/* Only viscosity can have failed, or trajectories are too long: the fluid does not wait for the solids to
   hear it. */
static PetscErrorCode CollectGood(Simulation simulation, PetscBool *good)
{
  const MPI_Comm world = team_world(simulation->team);

  PetscFunctionBegin;
  if (simulation->fluid)
    *good = fluid_report(simulation->fluid)->diffusion_converged && /* the same on all its ranks */
            !fluid_goes_too_far(simulation->fluid);
  PetscCall(SimulationAttend(simulation, ATTEND_WORD_OF_FLUID));
  PetscCallMPI(MPI_Bcast(good, 1, MPIU_BOOL, 0, world)); /* it has fluid */
  PetscCall(SimulationAttend(simulation, ATTEND_OWN));
  PetscFunctionReturn(0);
}

/* The bodies as the solid team has left them. */
static PetscErrorCode Share(Simulation simulation)
{
  const Team team = simulation->team;

  PetscFunctionBegin;
  PetscCall(SimulationAttend(simulation, ATTEND_WORD_OF_SOLIDS));
  PetscCall(SolidShare(simulation->solid, team_world(team), team_first_solid_rank(team)));
  PetscCall(SimulationAttend(simulation, ATTEND_OWN));
  PetscFunctionReturn(0);
}

/* A rank without fluid has a few rows of the system at most. */
static PetscErrorCode SolveSystem(Simulation simulation, Vec faces[DIM], PetscReal twists[])
{
  struct Coupled *coupled = simulation->coupled;

  PetscFunctionBegin;
  PetscCall(SimulationAttend(simulation, ATTEND_WORD_OF_FLUID));
  PetscCall(CouplingSolve(coupled->coupling, faces, coupled->impulse, twists, &coupled->report));
  PetscCall(SimulationAttend(simulation, ATTEND_OWN));
  PetscFunctionReturn(0);
}

static PetscErrorCode CopyFaces(Simulation simulation, Vec from[DIM], Vec to[DIM])
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(simulation->grid)->dimension; d++)
    PetscCall(VecCopy(from[d], to[d]));
  PetscFunctionReturn(0);
}

/* Bodies are filled before the liquid's velocity is carried on, since a resumed run finds them filled, and
   after, since it is carried into them. */
static PetscErrorCode CarryVelocityOn(Simulation simulation)
{
  PetscFunctionBegin;
  if (simulation->phase)
    PetscCall(SimulationFillBodies(simulation));
  PetscCall(SimulationExtendVelocity(simulation));
  PetscCall(SimulationFillBodies(simulation));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationDeriveCoupled(Simulation simulation)
{
  PetscReal *twists;

  PetscFunctionBegin;
  PetscCall(SimulationPlaceBodies(simulation, 0.));
  if (simulation->fluid)
    PetscCall(SimulationExtendVelocity(simulation));
  PetscCall(SimulationSetUpSystem(simulation));
  PetscCall(SimulationGetTwists(simulation, &twists));
  if (simulation->fluid) {
    PetscCall(SimulationFillBodies(simulation));
    PetscCall(SimulationConstrainViscosity(simulation, twists, 0.)); /* totals leave out what it covers */
    PetscCall(SimulationStartMomentum(simulation, twists));
  }
  PetscFunctionReturn(0);
}

/* F1 and the solve of S1: what the fluid makes of the velocities in the middle of the step. */
static PetscErrorCode PredictBodies(Simulation simulation, PetscReal dt, PetscReal *half, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  PetscReal      *twists;

  PetscFunctionBegin;
  PetscCall(SimulationGetTwists(simulation, &twists));
  if (simulation->fluid) {
    PetscCall(SimulationConstrainViscosity(simulation, twists, 0.5 * dt));
    PetscCall(FluidActWithoutAdvection(simulation->fluid, 0.5 * dt, VISCOSITY_ACTS, coupled->faces));
    PetscCall(FluidPrepareFaces(simulation->fluid, simulation->time + 0.5 * dt, 0.5 * dt, coupled->faces));
    PetscCall(FluidGetImpulse(simulation->fluid, 0.5 * dt, coupled->impulse));
  }
  PetscCall(CollectGood(simulation, good));
  if (!*good)
    PetscFunctionReturn(0);
  PetscCall(SimulationTakeViscosity(simulation, twists, 0.5 * dt, half));
  PetscCall(SolveSystem(simulation, coupled->faces, half));
  *good = coupled->report.reason > 0 ? PETSC_TRUE : PETSC_FALSE;
  coupled->half_iterations = coupled->report.iterations;
  PetscFunctionReturn(0);
}

/* F1 and S1: where the bodies are at the end of the step. Where none is free, nothing has to be solved for
   that. */
static PetscErrorCode MoveBodies(Simulation simulation, PetscReal dt, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  PetscReal      *half;
  Vec            *velocity;

  PetscFunctionBegin;
  PetscCall(SimulationEnterPart(simulation, PART_MOVE));
  PetscCall(SolidPredictHalf(simulation->solid, simulation->time, dt, &half));
  if (coupled->has_free_bodies)
    PetscCall(PredictBodies(simulation, dt, half, good));
  if (!*good)
    PetscFunctionReturn(0);
  if (team_has_solids(simulation->team)) {
    PetscCall(SimulationAttend(simulation, ATTEND_SOLIDS));
    PetscCall(SolidMove(simulation->solid, simulation->time, dt));
  }
  if (simulation->fluid) { /* meanwhile, for F2 */
    PetscCall(SimulationAttend(simulation, ATTEND_OWN));
    PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
    PetscCall(CopyFaces(simulation, velocity, coupled->faces));
    PetscCall(VecSet(coupled->impulse, 0.));
  }
  PetscCall(Share(simulation));
  PetscFunctionReturn(0);
}

/* F2: the leak-proof velocity, in `faces` where the velocity is already. */
static PetscErrorCode FindAdvecting(Simulation simulation, PetscReal dt, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  CouplingReport  report;

  PetscFunctionBegin;
  PetscCall(SimulationEnterPart(simulation, PART_ADVECTING));
  PetscCall(SolidGetEffective(simulation->solid, dt, coupled->effective));
  PetscCall(SimulationAttend(simulation, ATTEND_WORD_OF_FLUID));
  PetscCall(
      CouplingProject(coupled->coupling, coupled->faces, coupled->impulse, coupled->effective, &report));
  PetscCall(SimulationAttend(simulation, ATTEND_OWN));
  *good = report.reason > 0 ? PETSC_TRUE : PETSC_FALSE;
  coupled->advecting_iterations = report.iterations;
  if (!*good)
    coupled->report = report;
  else if (simulation->fluid) {
    PetscCall(CouplingFillFaces(coupled->coupling, coupled->effective, FILL_WHOLE, coupled->faces));
    PetscCall(FluidFinishFaces(simulation->fluid, simulation->time, coupled->faces));
    PetscCall(FluidSetAdvecting(simulation->fluid, coupled->faces));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationGetCarrying(Simulation simulation, Vec **faces)
{
  Vec *velocity;

  PetscFunctionBegin;
  PetscCall(FluidGetHeavyVelocity(simulation->fluid, faces));
  if (!simulation->coupled)
    PetscFunctionReturn(0);
  PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
  if (*faces == velocity)
    *faces = simulation->coupled->faces;
  PetscFunctionReturn(0);
}

/* The box at the end of the step: what is where, and the system that follows from it. */
static PetscErrorCode Place(Simulation simulation, PetscReal dt)
{
  PetscFunctionBegin;
  PetscCall(SimulationEnterPart(simulation, PART_PREDICT));
  if (simulation->fluid && simulation->sources_change)
    PetscCall(SimulationPlaceObstacles(simulation, simulation->time + dt));
  PetscCall(SimulationPlaceBodies(simulation, dt));
  if (simulation->fluid)
    PetscCall(SimulationMoveRegions(simulation, dt));
  PetscCall(SimulationAttend(simulation, ATTEND_WORD_OF_FLUID));
  PetscCall(SimulationSetUpSystem(simulation));
  PetscCall(SimulationAttend(simulation, ATTEND_OWN));
  PetscFunctionReturn(0);
}

/* F3, around the bodies where they are now. */
static PetscErrorCode Predict(Simulation simulation, PetscReal dt, const PetscReal twists[])
{
  Vec *velocity, *scalars;

  PetscFunctionBegin;
  PetscCall(SimulationConstrainViscosity(simulation, twists, dt));
  PetscCall(FluidPredictAdvection(simulation->fluid, dt));
  PetscCall(FluidGetPrediction(simulation->fluid, &velocity, &scalars));
  PetscCall(SimulationMeasureMomentum(simulation, CHANGE_ADVECTION, velocity, twists));
  PetscCall(SimulationMoveMomentum(simulation));
  PetscCall(FluidPredictViscosity(simulation->fluid, dt));
  simulation_drag(simulation, twists, dt, simulation->coupled->begun);
  PetscCall(SimulationMeasureMomentum(simulation, CHANGE_VISCOSITY, velocity, simulation->coupled->begun));
  PetscCall(FluidPredictForces(simulation->fluid, dt));
  if (!simulation->gas)
    PetscCall(SimulationHoldScalars(simulation, simulation->time + dt, scalars));
  PetscFunctionReturn(0);
}

/* What contact and joints do to the velocities that (5.13) has found. */
static PetscErrorCode Constrain(Simulation simulation, PetscReal dt, PetscReal *twists, Rounds rounds)
{
  struct Coupled *coupled = simulation->coupled;
  const Team      team = simulation->team;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(coupled->solved, twists, coupled->count));
  rounds_release(rounds, coupled->wanted, twists);
  if (team_has_solids(team)) {
    PetscCall(SimulationAttend(simulation, ATTEND_SOLIDS));
    PetscCall(SolidConstrainVelocity(simulation->solid, simulation->time, dt, rounds_added(rounds)));
  }
  PetscCall(SimulationAttend(simulation, ATTEND_WORD_OF_SOLIDS));
  PetscCallMPI(MPI_Bcast(twists, (PetscMPIInt)coupled->count, MPIU_REAL, team_first_solid_rank(team),
                         team_world(team)));
  PetscCall(SimulationAttend(simulation, ATTEND_OWN));
  coupled->rounds++;
  coupled->disagreement = rounds_disagreement(rounds, coupled->solved, twists);
  PetscFunctionReturn(0);
}

/* The fluid's answer to V* with what contact and joints have done so far. */
static PetscErrorCode Answer(Simulation simulation, Vec next[DIM], PetscReal *twists, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;

  PetscFunctionBegin;
  if (next && coupled->rounds)
    PetscCall(CopyFaces(simulation, coupled->star, next));
  if (next)
    PetscCall(SimulationPushMomentum(simulation, coupled->begun, coupled->wanted));
  PetscCall(PetscArraycpy(coupled->begun, coupled->wanted, coupled->count));
  PetscCall(PetscArraycpy(twists, coupled->wanted, coupled->count));
  PetscCall(SolveSystem(simulation, next, twists));
  *good = coupled->report.reason > 0 ? PETSC_TRUE : PETSC_FALSE;
  coupled->iterations += coupled->report.iterations;
  PetscFunctionReturn(0);
}

/* From V* in `twists`, rounds of both until they agree: to a part of the fastest body that the solves are
   good for, or until what is left moves nothing, `allowed`. */
static PetscErrorCode Agree(Simulation simulation, PetscReal dt, Vec next[DIM], PetscReal *twists,
                            PetscReal *allowed, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  const PetscReal enough = PetscMax(1e-6, simulation->config->coupling.tolerance);
  const PetscReal nothing = 1e-7 * simulation_spacing(simulation) / dt;
  Rounds          rounds;

  PetscFunctionBegin;
  *allowed = 0.;
  PetscCall(PetscArraycpy(coupled->begun, twists, coupled->count));
  PetscCall(PetscArraycpy(coupled->wanted, twists, coupled->count));
  coupled->iterations = coupled->rounds = 0;
  PetscCall(RoundsCreate(simulation, twists, &rounds));
  PetscCall(Answer(simulation, next, twists, good));
  if (*good)
    PetscCall(Constrain(simulation, dt, twists, rounds));
  while (*good &&
         coupled->disagreement > (*allowed = PetscMax(enough * rounds_speed(rounds, twists), nothing)) &&
         coupled->rounds < simulation->config->coupling.rounds) {
    PetscCall(RoundsJoin(rounds, coupled->wanted));
    PetscCall(Answer(simulation, next, twists, good));
    if (*good)
      PetscCall(Constrain(simulation, dt, twists, rounds));
  }
  PetscCall(RoundsDestroy(&rounds));
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
  PetscCall(FluidPrepareFaces(simulation->fluid, 0., dt, coupled->faces));
  PetscCall(VecSet(coupled->impulse, 0.));
  PetscCall(CopyFaces(simulation, coupled->faces, coupled->star));
  PetscFunctionReturn(0);
}

/* The pressure that holds the forces of the start, together with contact and joints, and the accelerations
   that they leave: S2 of a step in which nothing moves. Disagreement is left to the first step. */
static PetscErrorCode BalanceStart(Simulation simulation, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  const PetscReal dt = balance_time(simulation->config);
  PetscReal      *twists, allowed;

  PetscFunctionBegin;
  PetscCall(SimulationGetTwists(simulation, &twists));
  PetscCall(SolidKeep(simulation->solid));
  PetscCall(PetscArraycpy(coupled->effective, twists, coupled->count));
  if (team_has_solids(simulation->team))
    PetscCall(SolidFindResting(simulation->solid, simulation->time, dt));
  PetscCall(SolidAccelerate(simulation->solid, dt));
  if (simulation->fluid)
    PetscCall(AccelerateFluid(simulation, dt));
  PetscCall(Agree(simulation, dt, simulation->fluid ? coupled->faces : NULL, twists, &allowed, good));
  for (PetscInt n = 0; n < coupled->count && *good; n++)
    coupled->acceleration[n] = (twists[n] - coupled->effective[n]) / dt;
  PetscCall(SolidReturn(simulation->solid));
  if (*good)
    PetscCall(SimulationTakeLoads(simulation, dt, coupled->faces));
  if (simulation->fluid && *good) {
    PetscCall(FluidTakeImpulse(simulation->fluid, dt, coupled->impulse));
    PetscCall(FluidTakePrediction(simulation->fluid, 0.));
    PetscCall(SimulationFillBodies(simulation));
    PetscCall(SimulationConstrainViscosity(simulation, twists, 0.)); /* totals leave out what it covers */
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
    PetscCall(FluidPrepareFaces(simulation->fluid, 0., 0., velocity));
    PetscCall(VecSet(coupled->impulse, 0.));
  }
  PetscCall(CouplingProject(coupled->coupling, velocity, coupled->impulse, twists, &coupled->report));
  *good = coupled->report.reason > 0 ? PETSC_TRUE : PETSC_FALSE;
  if (!*good)
    PetscFunctionReturn(0);
  if (simulation->fluid) {
    PetscCall(FluidFinishFaces(simulation->fluid, 0., velocity));
    PetscCall(CarryVelocityOn(simulation));
  }
  PetscCall(BalanceStart(simulation, good));
  PetscCall(Share(simulation)); /* contacts that rest are known to the solid team alone */
  PetscFunctionReturn(0);
}

/* S2: the velocities of the state are V* and become V. What contact and joints do joins V*, and the fluid
   answers to it. */
static PetscErrorCode Solve(Simulation simulation, PetscReal dt, PetscReal *twists, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  Vec            *next = NULL, *scalars;
  PetscReal       allowed;

  PetscFunctionBegin;
  PetscCall(SimulationEnterPart(simulation, PART_SOLVE));
  if (simulation->fluid) {
    PetscCall(FluidGetPrediction(simulation->fluid, &next, &scalars));
    PetscCall(FluidPrepareFaces(simulation->fluid, simulation->time + dt, dt, next));
    PetscCall(FluidGetImpulse(simulation->fluid, dt, coupled->impulse));
    PetscCall(CopyFaces(simulation, next, coupled->star));
    PetscCall(SimulationMeasureMomentum(simulation, CHANGE_FORCES, next, twists));
  }
  PetscCall(Agree(simulation, dt, next, twists, &allowed, good));
  if (*good && coupled->disagreement > allowed)
    PetscCall(SimulationJudgeDisagreement(simulation, dt, good));
  if (!*good)
    PetscFunctionReturn(0);
  if (next)
    PetscCall(SimulationMeasureMomentum(simulation, CHANGE_PRESSURE, next, coupled->solved));
  PetscCall(SimulationTakeLoads(simulation, dt, next));
  PetscCall(Share(simulation));
  PetscFunctionReturn(0);
}

/* A flow that goes much farther in a step than this one was made for is not taken. */
static PetscErrorCode RefuseFast(Simulation simulation, PetscReal dt, PetscBool *good)
{
  PetscReal travel;
  Vec      *next, *scalars;

  PetscFunctionBegin;
  if (simulation->fluid) {
    PetscCall(FluidGetPrediction(simulation->fluid, &next, &scalars));
    PetscCall(FluidGetTravel(simulation->fluid, next, dt, &travel));
    *good = travel <= simulation_farthest(simulation->config) ? PETSC_TRUE : PETSC_FALSE;
    simulation->too_fast = !*good;
  }
  PetscCall(SimulationAttend(simulation, ATTEND_WORD_OF_FLUID));
  PetscCallMPI(MPI_Bcast(good, 1, MPIU_BOOL, 0, team_world(simulation->team))); /* it has fluid */
  PetscCall(SimulationAttend(simulation, ATTEND_OWN));
  PetscFunctionReturn(0);
}

/* F4 */
static PetscErrorCode Finish(Simulation simulation, PetscReal dt, const PetscReal twists[])
{
  struct Coupled *coupled = simulation->coupled;
  Vec            *next, *scalars;

  PetscFunctionBegin;
  PetscCall(FluidGetPrediction(simulation->fluid, &next, &scalars));
  PetscCall(FluidTakeImpulse(simulation->fluid, dt, coupled->impulse));
  PetscCall(FluidFinishFaces(simulation->fluid, simulation->time + dt, next));
  PetscCall(FluidTakePrediction(simulation->fluid, dt));
  PetscCall(SimulationShowShells(simulation, 0.)); /* as a resumed run would see them */
  PetscCall(CarryVelocityOn(simulation));
  PetscCall(SimulationHoldMomentum(simulation, twists));
  PetscCall(SimulationStepGas(simulation, dt));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationStepCoupled(Simulation simulation, PetscReal dt, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  PetscReal      *twists;

  PetscFunctionBegin;
  *good = PETSC_TRUE;
  if (!simulation->failures)
    coupled->unsettled = 0;
  if (simulation->fluid)
    PetscCall(SimulationBeginMomentum(simulation));
  PetscCall(MoveBodies(simulation, dt, good)); /* F1, S1 */
  if (*good)
    PetscCall(FindAdvecting(simulation, dt, good)); /* F2 */
  if (!*good)
    PetscFunctionReturn(0);
  PetscCall(Place(simulation, dt));
  PetscCall(SimulationGetTwists(simulation, &twists));
  if (simulation->fluid)
    PetscCall(Predict(simulation, dt, twists)); /* F3 */
  PetscCall(CollectGood(simulation, good));
  PetscCall(PetscArraycpy(coupled->effective, twists, coupled->count));
  PetscCall(SimulationTakeViscosity(simulation, coupled->effective, dt, twists));
  PetscCall(PetscArraycpy(coupled->effective, twists, coupled->count));
  PetscCall(SolidAccelerate(simulation->solid, dt));
  if (*good)
    PetscCall(Solve(simulation, dt, twists, good)); /* S2 */
  else if (simulation->fluid)
    simulation->too_fast = fluid_goes_too_far(simulation->fluid);
  if (*good)
    PetscCall(RefuseFast(simulation, dt, good));
  if (!*good)
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < coupled->count; n++)
    coupled->acceleration[n] = (twists[n] - coupled->effective[n]) / dt;
  if (simulation->fluid)
    PetscCall(Finish(simulation, dt, twists)); /* F4 */
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationDescribeCoupledFailure(Simulation simulation, char reason[], size_t size)
{
  const CouplingReport *report = &simulation->coupled->report;
  char                  body[128] = "";

  PetscFunctionBegin;
  if (report->worst_body >= 0)
    PetscCall(PetscSNPrintf(body, sizeof(body), "beside body \"%.40s\", ",
                            solid_body_view(simulation->solid, report->worst_body).config->name));
  if (report->message[0])
    PetscCall(PetscSNPrintf(reason, size, "%s%s", body, report->message));
  else
    PetscCall(
        PetscSNPrintf(reason, size, "the coupled solve ended with %s", KSPConvergedReasons[report->reason]));
  PetscFunctionReturn(0);
}
