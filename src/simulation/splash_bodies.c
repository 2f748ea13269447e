/* Rigid bodies and particles with mass in one step (docs/numerics.md, 7a).

   All that is on the solid team's side is as in a coupled step: velocities by forces, moves, contact. What
   contact held back in the last step, as far as it held forces and pressure, is foreseen in the pressure
   solve; else a body that rests on the floor would fall towards it in every solve. */
#include "simulation_impl.h"

#include <millrace/solid_step.h>

typedef struct SplashBodies SplashBodies;
struct SplashBodies {
  PetscInt    count;
  SplashBody *bodies;
  Twist      *start;   /* velocities that the pressure solve begins with */
  Twist      *pushed;  /* by the liquid, in the last step */
  Twist      *impulse; /* kg m/s, kg m^2/s: of that */
  Twist      *held;    /* accelerations by contact, foreseen for the next step */
};

static Twist *twists_of(Simulation simulation)
{
  PetscInt   count;
  PetscReal *state;

  PetscCallAbort(PETSC_COMM_SELF, SolidGetState(simulation->solid, &count, &state));
  return (Twist *)(state + count) - solid_body_count(simulation->solid);
}

static PetscBool is_free(const SplashBodies *here, PetscInt b)
{
  return here->bodies[b].inverse_mass > 0. ? PETSC_TRUE : PETSC_FALSE;
}

/* Places and velocities as the solids have them. */
static void read_bodies(Simulation simulation)
{
  SplashBodies *here = simulation->splash_bodies;
  const Twist  *twists = twists_of(simulation);

  for (PetscInt b = 0; b < here->count; b++) {
    const CoupledBody body = solid_coupled_body(simulation->solid, b);

    here->bodies[b] = (SplashBody){.shape = solid_body_view(simulation->solid, b).config->shape,
                                   .place = solid_shape_place(simulation->solid, b),
                                   .centre = body.position,
                                   .velocity = twists[b]};
    solid_body_bounds(simulation->solid, b, &here->bodies[b].low, &here->bodies[b].high);
    if (body.is_free) {
      here->bodies[b].inverse_mass = 1. / body.mass;
      here->bodies[b].inverse_inertia = matrix3_inverse(&body.inertia);
    }
  }
}

static PetscErrorCode PlaceInSplash(Simulation simulation)
{
  PetscFunctionBegin;
  if (!simulation->splash_bodies || !simulation->splash)
    PetscFunctionReturn(0);
  read_bodies(simulation);
  PetscCall(SplashSetBodies(simulation->splash, simulation->splash_bodies->count,
                            simulation->splash_bodies->bodies));
  PetscFunctionReturn(0);
}

/* What all but the liquid would make of them. */
static PetscErrorCode PredictBodies(Simulation simulation, PetscReal dt)
{
  SplashBodies *here = simulation->splash_bodies;
  const Twist  *twists = twists_of(simulation);
  PetscReal    *values;
  const Twist  *half;

  PetscFunctionBegin;
  PetscCall(SolidPredictHalf(simulation->solid, simulation->time, dt, &values));
  half = (const Twist *)values;
  read_bodies(simulation);
  for (PetscInt b = 0; b < here->count; b++) {
    const Twist forced = twist_add(twist_scale(2., half[b]), twist_scale(-1., twists[b]));

    here->start[b] = is_free(here, b) ? twist_add(forced, twist_scale(dt, here->held[b])) : half[b];
  }
  PetscFunctionReturn(0);
}

/* The step of the liquid, and what it does to the bodies. */
static PetscErrorCode StepLiquid(Simulation simulation, PetscReal dt, PetscBool *good)
{
  SplashBodies *here = simulation->splash_bodies;

  PetscFunctionBegin;
  if (simulation->splash) {
    SplashBody *bodies = splash_bodies(simulation->splash);

    for (PetscInt b = 0; b < here->count; b++)
      bodies[b].velocity = here->start[b];
    PetscCall(SplashStep(simulation->splash, simulation->time, dt, good));
    for (PetscInt b = 0; b < here->count; b++) {
      here->pushed[b] = twist_add(bodies[b].velocity, twist_scale(-1., here->start[b]));
      here->impulse[b] = bodies[b].impulse;
    }
  }
  PetscCall(SimulationBroadcastFromFluid(simulation, good, 1, MPIU_BOOL));
  PetscCall(SimulationBroadcastFromFluid(simulation, here->pushed, TWIST * here->count, MPIU_REAL));
  PetscFunctionReturn(0);
}

/* II to IV of the solids, with velocities that the liquid has had a part in. */
static PetscErrorCode MoveBodies(Simulation simulation, PetscReal dt)
{
  const SplashBodies *here = simulation->splash_bodies;
  PetscReal          *values;

  PetscFunctionBegin;
  PetscCall(SolidPredictHalf(simulation->solid, simulation->time, dt, &values));
  for (PetscInt b = 0; b < here->count; b++)
    if (is_free(here, b)) {
      const Twist all = twist_add(here->start[b], here->pushed[b]);

      ((Twist *)values)[b] = twist_add(all, twist_scale(-dt, here->held[b]));
    }
  if (team_has_solids(simulation->team))
    PetscCall(SolidMove(simulation->solid, simulation->time, dt));
  PetscCall(SimulationShareSolids(simulation));
  PetscFunctionReturn(0);
}

static Vector3 shortened(Vector3 vector, PetscReal most)
{
  const PetscReal length = vector3_norm(vector);

  return length > most ? vector3_scale(most / length, vector) : vector;
}

/* V: forces and liquid, then contact, of which as much is foreseen as those brought about. */
static PetscErrorCode ConstrainBodies(Simulation simulation, PetscReal dt)
{
  SplashBodies *here = simulation->splash_bodies;
  Twist        *twists = twists_of(simulation), *moved, *unheld;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(here->count, &moved, here->count, &unheld));
  PetscCall(PetscArraycpy(moved, twists, here->count));
  PetscCall(SolidAccelerate(simulation->solid, simulation->time, dt));
  for (PetscInt b = 0; b < here->count; b++)
    if (is_free(here, b))
      twists[b] = twist_add(twists[b], here->pushed[b]);
  PetscCall(PetscArraycpy(unheld, twists, here->count));
  if (team_has_solids(simulation->team))
    PetscCall(SolidConstrainVelocity(simulation->solid, simulation->time, dt, NULL));
  PetscCall(SimulationShareSolids(simulation));
  for (PetscInt b = 0; b < here->count; b++) {
    const Twist by_contact = twist_add(twists[b], twist_scale(-1., unheld[b])),
                by_others = twist_add(unheld[b], twist_scale(-1., moved[b]));

    here->held[b].linear =
        vector3_scale(1. / dt, shortened(by_contact.linear, vector3_norm(by_others.linear)));
    here->held[b].angular =
        vector3_scale(1. / dt, shortened(by_contact.angular, vector3_norm(by_others.angular)));
  }
  PetscCall(PetscFree2(moved, unheld));
  PetscFunctionReturn(0);
}

/* Particles make way, and hit the bodies with what they lose. */
static PetscErrorCode PlaceBodies(Simulation simulation)
{
  SplashBodies *here = simulation->splash_bodies;
  Twist        *twists = twists_of(simulation);

  PetscFunctionBegin;
  PetscCall(PlaceInSplash(simulation));
  for (PetscInt b = 0; b < here->count && simulation->splash; b++)
    here->start[b] = splash_bodies(simulation->splash)[b].velocity;
  PetscCall(SimulationBroadcastFromFluid(simulation, here->start, TWIST * here->count, MPIU_REAL));
  for (PetscInt b = 0; b < here->count; b++)
    if (is_free(here, b))
      twists[b] = here->start[b];
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationStepSplashBodies(Simulation simulation, PetscReal dt, PetscBool *good)
{
  PetscFunctionBegin;
  PetscCall(PredictBodies(simulation, dt));
  PetscCall(StepLiquid(simulation, dt, good));
  if (!*good)
    PetscFunctionReturn(0);
  PetscCall(MoveBodies(simulation, dt));
  PetscCall(ConstrainBodies(simulation, dt));
  PetscCall(PlaceBodies(simulation));
  PetscFunctionReturn(0);
}

static PetscBool is_in(const SimulationConfig *config)
{
  return simulation_has_splash(config) && config->solids.body_count > 0 ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode Create(Simulation simulation, char message[], size_t size)
{
  const PetscInt count = solid_body_count(simulation->solid);
  SplashBodies  *here;

  PetscFunctionBegin;
  (void)message, (void)size;
  PetscCall(PetscNew(&here));
  here->count = count;
  PetscCall(PetscCalloc5(count, &here->bodies, count, &here->start, count, &here->pushed, count, &here->held,
                         count, &here->impulse));
  simulation->splash_bodies = here;
  PetscCall(PlaceInSplash(simulation));
  PetscFunctionReturn(0);
}

static PetscErrorCode Save(Simulation simulation, Archive archive)
{
  const SplashBodies *here = simulation->splash_bodies;

  PetscFunctionBegin;
  PetscCall(
      ArchiveWriteShared(archive, "body_contact_accelerations", here->count, TWIST, (PetscReal *)here->held));
  PetscFunctionReturn(0);
}

static PetscErrorCode Load(Simulation simulation, Archive archive)
{
  SplashBodies *here = simulation->splash_bodies;

  PetscFunctionBegin;
  PetscCall(
      ArchiveReadShared(archive, "body_contact_accelerations", here->count, TWIST, (PetscReal *)here->held));
  PetscFunctionReturn(0);
}

static PetscErrorCode ShareLoaded(Simulation simulation)
{
  SplashBodies *here = simulation->splash_bodies;

  PetscFunctionBegin;
  PetscCallMPI(
      MPI_Bcast(here->held, (PetscMPIInt)(TWIST * here->count), MPIU_REAL, 0, team_world(simulation->team)));
  PetscFunctionReturn(0);
}

/* Force and torque of the liquid over the last step. */
static PetscErrorCode RecordForces(Simulation simulation, Record *record)
{
  const SplashBodies *here = simulation->splash_bodies;
  char                name[RECORD_NAME_LENGTH - 24], column[RECORD_NAME_LENGTH];

  PetscFunctionBegin;
  record_put(record, splash_report(simulation->splash)->caught, "1", "caught");
  for (PetscInt b = 0; b < here->count; b++) {
    const PetscReal rate = simulation->dt > 0. ? 1. / simulation->dt : 0.;
    const Vector3   force = vector3_scale(rate, here->impulse[b].linear);

    if (!record_shows_body(simulation, b))
      continue;
    record_body_name(simulation, b, name, sizeof(name));
    PetscCall(PetscSNPrintf(column, sizeof(column), "pressure_force_%s", name));
    record_put_vector(record, force.at, grid_box(simulation->grid)->dimension, "N", column);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(Simulation simulation)
{
  SplashBodies *here = simulation->splash_bodies;

  PetscFunctionBegin;
  if (!here)
    PetscFunctionReturn(0);
  PetscCall(PetscFree5(here->bodies, here->start, here->pushed, here->held, here->impulse));
  PetscCall(PetscFree(simulation->splash_bodies));
  PetscFunctionReturn(0);
}

/* Room without bodies, and what one of them takes. */
static PetscReal count_fields(const SimulationConfig *config)
{
  return 3 + config->grid.dimension + 1 + 2 * config->grid.dimension;
}

const Part SplashBodiesPart = {.name = "bodies in a splash",
                               .ranks = PART_ON_ALL,
                               .is_in = is_in,
                               .create = Create,
                               .save = Save,
                               .load = Load,
                               .share = ShareLoaded,
                               .derive = PlaceInSplash,
                               .record = RecordForces,
                               .count_fields = count_fields,
                               .destroy = Destroy};
