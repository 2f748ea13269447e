/* The step of bodies in a fluid (thesis 5.6; docs/numerics.md, section 15): F1 S1 F2 F3 S2 F4.

   Solves and twists belong to all ranks, fields to those with fluid; the bodies move on the solid team and
   the others take its word. */
#include "coupled_impl.h"

Vec simulation_covered(Simulation simulation)
{
  return simulation->coupled ? simulation->coupled->covered : simulation->closed;
}

PetscBool simulation_has_shells(Simulation simulation)
{
  return simulation->coupled && simulation->coupled->has_shells ? PETSC_TRUE : PETSC_FALSE;
}

const PetscReal *simulation_accelerations(Simulation simulation)
{
  return simulation->coupled ? simulation->coupled->acceleration : NULL;
}

/* Velocity and spin of every body, in the state of the solid. */
static PetscErrorCode GetTwists(Simulation simulation, PetscReal **twists)
{
  PetscInt   count;
  PetscReal *state;

  PetscFunctionBegin;
  PetscCall(SolidGetState(simulation->solid, &count, &state));
  *twists = state + count - simulation->coupled->count;
  PetscFunctionReturn(0);
}

/* Cells that obstacles, sources and bodies cover, numbered through as in obstacles.c. */
static PetscErrorCode Cover(Simulation simulation)
{
  struct Coupled  *coupled = simulation->coupled;
  const GridBox   *box = grid_box(simulation->grid);
  const PetscInt   obstacles = simulation->config->obstacle_count;
  const PetscInt  *bodies = coupling_solid_cells(coupled->coupling);
  const PetscReal *closed = NULL;
  PetscReal       *covered;

  PetscFunctionBegin;
  if (simulation->closed)
    PetscCall(VecGetArrayRead(simulation->closed, &closed));
  PetscCall(VecGetArray(coupled->covered, &covered));
  for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
      for (PetscInt i = box->start[X]; i < box->end[X]; i++) {
        const PetscInt c = box_index(box, i, j, k);

        covered[c] = closed && closed[c] > 0. ? closed[c] : bodies[c] ? obstacles + bodies[c] : 0.;
      }
  PetscCall(VecRestoreArray(coupled->covered, &covered));
  if (simulation->closed)
    PetscCall(VecRestoreArrayRead(simulation->closed, &closed));
  PetscCall(MacGridExchange(simulation->grid, coupled->covered));
  PetscCall(FluidSetCovered(simulation->fluid, coupled->covered));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationShowShells(Simulation simulation, PetscReal dt)
{
  const Sight *sight;

  PetscFunctionBegin;
  if (!simulation->coupled)
    PetscFunctionReturn(0);
  PetscCall(CouplingGetSight(simulation->coupled->coupling, dt, &sight));
  simulation->coupled->has_shells = sight ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(FluidSetSight(simulation->fluid, sight));
  if (simulation->gas)
    PetscCall(FluidSetSight(simulation->gas, sight));
  if (simulation->phase)
    PetscCall(PhaseSetSight(simulation->phase, sight));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationPlaceBodies(Simulation simulation, PetscReal dt)
{
  PetscFunctionBegin;
  PetscCall(CouplingPlaceSolid(simulation->coupled->coupling, simulation->solid));
  if (!simulation->grid)
    PetscFunctionReturn(0);
  PetscCall(Cover(simulation));
  PetscCall(SimulationShowShells(simulation, dt));
  PetscFunctionReturn(0);
}

/* The coupled system of the bodies and the mixture as they are. */
static PetscErrorCode SetUp(Simulation simulation)
{
  FluidSystem  system;
  CoupledFluid fluid = {.density = 1.};

  PetscFunctionBegin;
  if (simulation->fluid) {
    PetscCall(FluidGetSystem(simulation->fluid, &system));
    fluid = (CoupledFluid){system.density, system.weights, system.densities, system.fixed};
  }
  PetscCall(CouplingSetFluid(simulation->coupled->coupling, &fluid));
  PetscFunctionReturn(0);
}

/* After all that changes the velocity between steps. */
static PetscErrorCode FillBodies(Simulation simulation)
{
  struct Coupled *coupled = simulation->coupled;
  PetscReal      *twists;
  Vec            *velocity, *heavy, *acceleration;

  PetscFunctionBegin;
  PetscCall(GetTwists(simulation, &twists));
  PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
  PetscCall(FluidGetHeavyVelocity(simulation->fluid, &heavy));
  PetscCall(CouplingFillFaces(coupled->coupling, twists, velocity));
  if (heavy != velocity)
    PetscCall(CouplingFillFaces(coupled->coupling, twists, heavy));
  PetscCall(FluidRefreshVelocity(simulation->fluid));
  PetscCall(FluidGetAcceleration(simulation->fluid, &acceleration));
  if (acceleration)
    PetscCall(CouplingFillFaces(coupled->coupling, coupled->acceleration, acceleration));
  PetscFunctionReturn(0);
}

static PetscErrorCode CollectGood(Simulation simulation, PetscBool *good)
{
  PetscFunctionBegin;
  if (simulation->fluid && !fluid_report(simulation->fluid)->diffusion_converged)
    *good = PETSC_FALSE;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, good, 1, MPIU_BOOL, MPI_LAND, team_world(simulation->team)));
  PetscFunctionReturn(0);
}

static PetscErrorCode CopyFaces(Simulation simulation, Vec from[DIM], Vec to[DIM])
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(simulation->grid)->dimension; d++)
    PetscCall(VecCopy(from[d], to[d]));
  PetscFunctionReturn(0);
}

/* The pressure that holds the forces of the start, and the accelerations that they leave. */
static PetscErrorCode BalanceStart(Simulation simulation, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  PetscReal      *twists;

  PetscFunctionBegin;
  PetscCall(GetTwists(simulation, &twists));
  PetscCall(SolidKeep(simulation->solid));
  PetscCall(PetscArraycpy(coupled->wanted, twists, coupled->count));
  PetscCall(SolidAccelerate(simulation->solid, 1.));
  PetscCall(PetscArraycpy(coupled->solved, twists, coupled->count));
  PetscCall(PetscArraycpy(twists, coupled->wanted, coupled->count));
  if (simulation->fluid) {
    PetscCall(FluidActWithoutAdvection(simulation->fluid, 1., VISCOSITY_LEFT_OUT, coupled->faces));
    PetscCall(FluidPrepareFaces(simulation->fluid, 0., 1., coupled->faces));
    PetscCall(VecSet(coupled->impulse, 0.));
    PetscCall(CopyFaces(simulation, coupled->faces, coupled->star));
  }
  PetscCall(
      CouplingSolve(coupled->coupling, coupled->faces, coupled->impulse, coupled->solved, &coupled->report));
  *good = coupled->report.reason > 0 ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt n = 0; n < coupled->count && *good; n++)
    coupled->acceleration[n] = coupled->solved[n] - twists[n];
  if (*good)
    PetscCall(SimulationTakeLoads(simulation, 1., coupled->faces));
  if (simulation->fluid && *good) {
    PetscCall(FluidTakeImpulse(simulation->fluid, 1., coupled->impulse));
    PetscCall(FluidTakePrediction(simulation->fluid, 0.));
    PetscCall(FillBodies(simulation));
    PetscCall(SimulationTieViscosity(simulation, twists, 0.)); /* totals leave out what it covers */
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
  PetscCall(SetUp(simulation));
  PetscCall(GetTwists(simulation, &twists));
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
    PetscCall(SimulationExtendVelocity(simulation));
    PetscCall(FillBodies(simulation));
  }
  PetscCall(BalanceStart(simulation, good));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationResumeCoupled(Simulation simulation)
{
  PetscReal *twists;

  PetscFunctionBegin;
  if (!simulation->coupled)
    PetscFunctionReturn(0);
  PetscCallMPI(MPI_Bcast(simulation->coupled->acceleration, (PetscMPIInt)simulation->coupled->count,
                         MPIU_REAL, 0, team_world(simulation->team)));
  PetscCall(SimulationPlaceBodies(simulation, 0.));
  PetscCall(SetUp(simulation));
  PetscCall(GetTwists(simulation, &twists));
  if (simulation->fluid) {
    PetscCall(FillBodies(simulation));
    PetscCall(SimulationTieViscosity(simulation, twists, 0.)); /* totals leave out what it covers */
    PetscCall(SimulationStartMomentum(simulation, twists));
  }
  PetscFunctionReturn(0);
}

/* F1 and S1: where the bodies are at the end of the step. */
static PetscErrorCode MoveBodies(Simulation simulation, PetscReal dt, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  const Team      team = simulation->team;
  PetscReal      *half, *twists;

  PetscFunctionBegin;
  PetscCall(GetTwists(simulation, &twists));
  PetscCall(SolidPredictHalf(simulation->solid, simulation->time, dt, &half));
  if (simulation->fluid) {
    PetscCall(SimulationTieViscosity(simulation, twists, 0.5 * dt));
    PetscCall(FluidActWithoutAdvection(simulation->fluid, 0.5 * dt, VISCOSITY_ACTS, coupled->faces));
    PetscCall(FluidPrepareFaces(simulation->fluid, simulation->time + 0.5 * dt, 0.5 * dt, coupled->faces));
    PetscCall(FluidGetImpulse(simulation->fluid, 0.5 * dt, coupled->impulse));
  }
  PetscCall(CollectGood(simulation, good));
  if (!*good)
    PetscFunctionReturn(0);
  PetscCall(SimulationTakeViscosity(simulation, twists, 0.5 * dt, half));
  PetscCall(CouplingSolve(coupled->coupling, coupled->faces, coupled->impulse, half, &coupled->report));
  *good = coupled->report.reason > 0 ? PETSC_TRUE : PETSC_FALSE;
  coupled->half_iterations = coupled->report.iterations;
  if (!*good)
    PetscFunctionReturn(0);
  if (team_has_solids(team))
    PetscCall(SolidMove(simulation->solid, simulation->time, dt));
  PetscCall(SolidShare(simulation->solid, team_world(team), team_first_solid_rank(team)));
  PetscFunctionReturn(0);
}

/* F2: the leak-proof velocity, in `faces`. */
static PetscErrorCode FindAdvecting(Simulation simulation, PetscReal dt, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  CouplingReport  report;
  Vec            *velocity;

  PetscFunctionBegin;
  PetscCall(SolidGetEffective(simulation->solid, dt, coupled->effective));
  if (simulation->fluid) {
    PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
    PetscCall(CopyFaces(simulation, velocity, coupled->faces));
    PetscCall(VecSet(coupled->impulse, 0.));
  }
  PetscCall(
      CouplingProject(coupled->coupling, coupled->faces, coupled->impulse, coupled->effective, &report));
  *good = report.reason > 0 ? PETSC_TRUE : PETSC_FALSE;
  coupled->advecting_iterations = report.iterations;
  if (!*good)
    coupled->report = report;
  else if (simulation->fluid) {
    PetscCall(CouplingFillFaces(coupled->coupling, coupled->effective, coupled->faces));
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
  simulation->coupled->is_under_way = PETSC_TRUE;
  if (simulation->fluid && simulation->obstacles_move)
    PetscCall(SimulationPlaceObstacles(simulation, simulation->time + dt));
  PetscCall(SimulationPlaceBodies(simulation, dt));
  if (simulation->fluid)
    PetscCall(SimulationMoveRegions(simulation, dt));
  PetscCall(SetUp(simulation));
  PetscFunctionReturn(0);
}

/* F3, around the bodies where they are now. */
static PetscErrorCode Predict(Simulation simulation, PetscReal dt, const PetscReal twists[])
{
  Vec *velocity, *scalars;

  PetscFunctionBegin;
  PetscCall(SimulationTieViscosity(simulation, twists, dt));
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

/* Contact knows the mass of a body, but not that of the fluid that follows it: of a change `by` that it wants
   of V, the solve leaves R by, R = m / (m + added mass). From two rounds Aitken's factor finds 1 / R. */
static PetscReal relaxation(const PetscReal last[DIM], const PetscReal by[DIM], PetscReal factor)
{
  const PetscReal largest = 1000.; /* of a body of a thousandth of the fluid's density */
  PetscReal       product = 0., square = 0.;

  for (PetscInt d = 0; d < DIM; d++) {
    product += last[d] * (last[d] - by[d]);
    square += PetscSqr(last[d] - by[d]);
  }
  return square > 0. ? PetscMax(1., PetscMin(factor * product / square, largest)) : 1.;
}

/* Joins what a round has done to V with V*; the largest change over the largest velocity. */
static PetscReal join_changes(struct Coupled *coupled, const PetscReal *twists)
{
  PetscReal change = 0., largest = 0., by[DIM];

  for (PetscInt n = 0; n < coupled->count; n += DIM) {
    PetscReal *factor = &coupled->factors[n / DIM];

    for (PetscInt d = 0; d < DIM; d++)
      by[d] = twists[n + d] - coupled->solved[n + d];
    *factor = coupled->rounds ? relaxation(&coupled->last[n], by, *factor) : 1.;
    for (PetscInt d = 0; d < DIM; d++) {
      coupled->last[n + d] = by[d];
      coupled->wanted[n + d] += *factor * by[d];
      change = PetscMax(change, PetscAbsReal(by[d]));
      largest = PetscMax(largest, PetscAbsReal(coupled->wanted[n + d]));
    }
  }
  return largest > 0. ? change / largest : 0.;
}

/* What contact and joints do to the velocities that (5.13) has found. */
static PetscErrorCode Constrain(Simulation simulation, PetscReal dt, PetscReal *twists, PetscReal *change)
{
  const Team team = simulation->team;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(simulation->coupled->solved, twists, simulation->coupled->count));
  if (team_has_solids(team))
    PetscCall(SolidConstrainVelocity(simulation->solid, simulation->time, dt));
  PetscCallMPI(MPI_Bcast(twists, (PetscMPIInt)simulation->coupled->count, MPIU_REAL,
                         team_first_solid_rank(team), team_world(team)));
  *change = join_changes(simulation->coupled, twists);
  PetscFunctionReturn(0);
}

/* S2: the velocities of the state are V* and become V. What contact and joints do joins V*, and the fluid
   answers to it. */
static PetscErrorCode Solve(Simulation simulation, PetscReal dt, PetscReal *twists, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  const PetscReal enough = 1e-6;
  Vec            *next = NULL, *scalars;
  PetscReal       change = 1.;

  PetscFunctionBegin;
  if (simulation->fluid) {
    PetscCall(FluidGetPrediction(simulation->fluid, &next, &scalars));
    PetscCall(FluidPrepareFaces(simulation->fluid, simulation->time + dt, dt, next));
    PetscCall(FluidGetImpulse(simulation->fluid, dt, coupled->impulse));
    PetscCall(CopyFaces(simulation, next, coupled->star));
    PetscCall(SimulationMeasureMomentum(simulation, CHANGE_FORCES, next, twists));
  }
  PetscCall(PetscArraycpy(coupled->begun, twists, coupled->count));
  PetscCall(PetscArraycpy(coupled->wanted, twists, coupled->count));
  coupled->iterations = 0;
  for (coupled->rounds = 0; coupled->rounds < simulation->config->coupling.rounds && change > enough;
       coupled->rounds++) {
    if (next && coupled->rounds)
      PetscCall(CopyFaces(simulation, coupled->star, next));
    if (next)
      PetscCall(SimulationPushMomentum(simulation, coupled->begun, coupled->wanted));
    PetscCall(PetscArraycpy(coupled->begun, coupled->wanted, coupled->count));
    PetscCall(PetscArraycpy(twists, coupled->wanted, coupled->count));
    PetscCall(CouplingSolve(coupled->coupling, next, coupled->impulse, twists, &coupled->report));
    *good = coupled->report.reason > 0 ? PETSC_TRUE : PETSC_FALSE;
    coupled->iterations += coupled->report.iterations;
    if (!*good)
      PetscFunctionReturn(0);
    PetscCall(Constrain(simulation, dt, twists, &change));
  }
  if (next)
    PetscCall(SimulationMeasureMomentum(simulation, CHANGE_PRESSURE, next, coupled->solved));
  PetscCall(SimulationTakeLoads(simulation, dt, next));
  PetscCall(
      SolidShare(simulation->solid, team_world(simulation->team), team_first_solid_rank(simulation->team)));
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
  PetscCall(SimulationExtendVelocity(simulation));
  PetscCall(FillBodies(simulation));
  PetscCall(SimulationHoldMomentum(simulation, twists));
  PetscCall(SimulationStepGas(simulation, dt));
  PetscFunctionReturn(0);
}

/* Everything but the bodies themselves, which are back already, as before a step that went wrong. */
PetscErrorCode SimulationReturnCoupled(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(SimulationPlaceBodies(simulation, 0.));
  if (simulation->fluid && simulation->coupled->is_under_way) {
    PetscCall(FluidForgetPrediction(simulation->fluid));
    PetscCall(SimulationReturnRegions(simulation));
  }
  PetscCall(SetUp(simulation));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationStepCoupled(Simulation simulation, PetscReal dt, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  PetscReal      *twists;

  PetscFunctionBegin;
  *good = PETSC_TRUE;
  coupled->is_under_way = PETSC_FALSE;
  PetscCall(SolidKeep(simulation->solid));
  if (simulation->fluid)
    PetscCall(SimulationBeginMomentum(simulation));
  PetscCall(MoveBodies(simulation, dt, good)); /* F1, S1 */
  if (*good)
    PetscCall(FindAdvecting(simulation, dt, good)); /* F2 */
  if (!*good)
    PetscFunctionReturn(0);
  PetscCall(Place(simulation, dt));
  PetscCall(GetTwists(simulation, &twists));
  if (simulation->fluid)
    PetscCall(Predict(simulation, dt, twists)); /* F3 */
  PetscCall(CollectGood(simulation, good));
  PetscCall(PetscArraycpy(coupled->effective, twists, coupled->count));
  PetscCall(SimulationTakeViscosity(simulation, coupled->effective, dt, twists));
  PetscCall(PetscArraycpy(coupled->effective, twists, coupled->count));
  PetscCall(SolidAccelerate(simulation->solid, dt));
  if (*good)
    PetscCall(Solve(simulation, dt, twists, good)); /* S2 */
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

  PetscFunctionBegin;
  if (report->message[0])
    PetscCall(PetscStrncpy(reason, report->message, size));
  else
    PetscCall(
        PetscSNPrintf(reason, size, "the coupled solve ended with %s", KSPConvergedReasons[report->reason]));
  PetscFunctionReturn(0);
}
