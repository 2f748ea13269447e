/* Momentum and angular momentum of the fluid, of free bodies and meshes, and what changes them in a step:

     total^{n+1} - total^n = advection + forces + viscosity + pressure + contact.

   The total is measured between the parts of the step, and each difference goes to the part before it. All
   measurements but the first know the places of bodies and the densities of the end of the step, so that what
   these change is advection. Every rank of the fluid holds its part, summed once at the end. */
#include "coupled_impl.h"

PetscErrorCode SimulationMeasureMomentum(Simulation simulation, MomentumChange change, Vec faces[DIM],
                                         const PetscReal twists[])
{
  Momentum *momentum = &simulation->coupled->momentum;
  PetscReal now[TWIST] = {0.};

  PetscFunctionBegin;
  if (simulation->coupled->stands_still) /* nobody asks */
    PetscFunctionReturn(0);
  PetscCall(CouplingAddMomentum(simulation->coupled->coupling, faces, twists, now));
  for (PetscInt n = 0; n < TWIST; n++)
    now[n] += momentum->meshes[n];
  for (PetscInt n = 0; n < TWIST; n++)
    momentum->part[change][n] += now[n] - momentum->last[n];
  PetscCall(PetscArraycpy(momentum->last, now, TWIST));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationPushMomentum(Simulation simulation, const PetscReal before[],
                                      const PetscReal after[])
{
  struct Coupled *coupled = simulation->coupled;
  Momentum       *momentum = &coupled->momentum;
  PetscReal       by[TWIST] = {0.}, *change;

  PetscFunctionBegin;
  if (coupled->stands_still)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(coupled->count, &change));
  for (PetscInt n = 0; n < coupled->count; n++)
    change[n] = after[n] - before[n];
  PetscCall(CouplingAddMomentum(coupled->coupling, NULL, change, by));
  for (PetscInt n = 0; n < TWIST; n++) {
    momentum->part[CHANGE_CONTACT][n] += by[n];
    momentum->last[n] += by[n];
  }
  PetscCall(PetscFree(change));
  PetscFunctionReturn(0);
}

static BodyMomentum momentum_of(Solid solid, PetscInt body)
{
  const CoupledBody resistance = solid_coupled_body(solid, body);
  const BodyView    view = solid_body_view(solid, body);

  return (BodyMomentum){view.position, vector3_scale(resistance.mass, view.velocity),
                        matrix3_apply(&resistance.inertia, view.spin)};
}

PetscErrorCode SimulationBeginMomentum(Simulation simulation)
{
  Momentum *momentum = &simulation->coupled->momentum;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(&momentum->part[0][0], CHANGE_COUNT * TWIST));
  PetscCall(PetscArraycpy(momentum->last, momentum->held, TWIST));
  for (PetscInt b = 0; b < solid_body_count(simulation->solid); b++)
    momentum->bodies[b] = momentum_of(simulation->solid, b);
  PetscFunctionReturn(0);
}

/* Impacts on the way changed the bodies' momentum where they began; their way itself is no contact. */
PetscErrorCode SimulationMoveMomentum(Simulation simulation)
{
  Momentum   *momentum = &simulation->coupled->momentum;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(team_world(simulation->team), &rank));
  for (PetscInt b = 0; b < solid_body_count(simulation->solid) && rank == 0; b++) {
    const BodyMomentum before = momentum->bodies[b], after = momentum_of(simulation->solid, b);
    const Vector3      push = vector3_subtract(after.linear, before.linear);
    const Vector3      turn =
        vector3_add(vector3_cross(before.position, push), vector3_subtract(after.angular, before.angular));

    for (PetscInt d = 0; d < DIM; d++) {
      momentum->part[CHANGE_CONTACT][d] += push.at[d];
      momentum->part[CHANGE_CONTACT][DIM + d] += turn.at[d];
      momentum->part[CHANGE_ADVECTION][d] -= push.at[d];
      momentum->part[CHANGE_ADVECTION][DIM + d] -= turn.at[d];
    }
  }
  PetscFunctionReturn(0);
}

/* Meshes are with the solid team in the step, which tells what forces did to them; the rest did the fluid. */
static PetscErrorCode TakeMeshes(Simulation simulation)
{
  const SolidReport report = solid_report(simulation->solid);
  Momentum         *momentum = &simulation->coupled->momentum;
  PetscReal         now[TWIST];
  PetscMPIInt       rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(team_world(simulation->team), &rank));
  if (rank != 0 || !solid_deforming_count(simulation->solid))
    PetscFunctionReturn(0);
  solid_points_momentum(simulation->solid, now);
  for (PetscInt n = 0; n < TWIST; n++) {
    momentum->part[CHANGE_ADVECTION][n] += report.moved[n] - momentum->meshes[n];
    momentum->part[CHANGE_VISCOSITY][n] += momentum->dragged[n];
    momentum->part[CHANGE_FORCES][n] += report.pushed[n] - report.moved[n] - momentum->dragged[n];
    momentum->part[CHANGE_PRESSURE][n] += now[n] - report.pushed[n] - report.pressed[n];
    momentum->part[CHANGE_CONTACT][n] += report.pressed[n];
    momentum->last[n] += now[n] - momentum->meshes[n];
    momentum->meshes[n] = now[n];
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationHoldMomentum(Simulation simulation, const PetscReal twists[])
{
  Momentum *momentum = &simulation->coupled->momentum;
  PetscReal sums[CHANGE_COUNT + 1][TWIST];
  Vec      *velocity;

  PetscFunctionBegin;
  PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
  PetscCall(CouplingGetDivergence(simulation->coupled->coupling, velocity, twists,
                                  &simulation->coupled->divergence));
  if (simulation->coupled->stands_still)
    PetscFunctionReturn(0);
  PetscCall(TakeMeshes(simulation));
  PetscCall(SimulationMeasureMomentum(simulation, CHANGE_CONTACT, velocity, twists));
  PetscCall(PetscArraycpy(momentum->held, momentum->last, TWIST));
  PetscCall(PetscArraycpy(sums[0], momentum->last, TWIST));
  PetscCall(PetscArraycpy(sums[1], momentum->part[0], CHANGE_COUNT * TWIST));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, (CHANGE_COUNT + 1) * TWIST, MPIU_REAL, MPI_SUM,
                             team_fluid(simulation->team)));
  PetscCall(PetscArraycpy(momentum->total, sums[0], TWIST));
  PetscCall(PetscArraycpy(momentum->changes[0], sums[1], CHANGE_COUNT * TWIST));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationStartMomentum(Simulation simulation, const PetscReal twists[])
{
  Momentum *momentum = &simulation->coupled->momentum;

  PetscFunctionBegin;
  PetscCall(SimulationHoldMomentum(simulation, twists));
  PetscCall(PetscArrayzero(momentum->changes[0], CHANGE_COUNT * TWIST));
  PetscFunctionReturn(0);
}

static void put_pair(Simulation simulation, Record *record, const PetscReal values[TWIST], const char name[])
{
  const PetscInt dimension = simulation->config->grid.dimension;
  char           column[RECORD_NAME_LENGTH];

  snprintf(column, sizeof(column), "%s_momentum", name);
  record_put_vector(record, values, dimension, "kg m/s", column);
  snprintf(column, sizeof(column), "%s_angular_momentum", name);
  record_put_turning(record, values + DIM, dimension, "kg m^2/s", column);
}

void record_put_momentum(Simulation simulation, Record *record)
{
  static const char *const names[] = {"advection", "forces", "viscosity", "pressure", "contact"};
  const Momentum          *momentum = &simulation->coupled->momentum;

  put_pair(simulation, record, momentum->total, "total");
  for (PetscInt c = 0; c < CHANGE_COUNT; c++)
    put_pair(simulation, record, momentum->changes[c], names[c]);
}
