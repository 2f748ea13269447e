/* The solids of a run: lifetime, sharing and summary of their state. */
#include "contact/mesh/mesh_contact.h"
#include "contact/point_contact.h"
#include "deformable/distribution.h"
#include "shared_forms.h"
#include "step.h"

static PetscErrorCode CreateParts(Solid solid, char message[], size_t size)
{
  const PetscInt n = solid->body_count + solid->points->mesh_count; /* zeros for those, as in the state */

  PetscFunctionBegin;
  PetscCall(PetscNew(&solid->step));
  PetscCall(PetscCalloc5(n, &solid->step->half, n, &solid->step->change, n, &solid->step->before, n,
                         &solid->step->begun, n, &solid->step->ended));
  PetscCall(JointSetCreate(solid, &solid->joints, message, size));
  if (message[0])
    PetscFunctionReturn(0);
  PetscCall(ContactSetCreate(solid, &solid->contacts));
  PetscCall(MeshSurfaceCreate(solid, message, size));
  if (message[0] || solid->outlines)
    PetscFunctionReturn(0);
  PetscCall(ContactSetCheckStart(solid->contacts, solid, message, size));
  if (!message[0])
    PetscCall(PointContactsCheckStart(solid, message, size));
  PetscFunctionReturn(0);
}

/* With outlines it has no forms of its own. */
static PetscErrorCode Create(MPI_Comm comm, FormOutline *outlines, const SolidConfig *config, Solid *solid,
                             char message[], size_t size)
{
  PetscFunctionBegin;
  message[0] = '\0';
  PetscCall(PetscNew(solid));
  (*solid)->comm = comm;
  (*solid)->readers = MPI_COMM_NULL;
  (*solid)->config = config;
  (*solid)->outlines = outlines;
  PetscCall(SolidCreateMeshes(*solid, message, size));
  if (!message[0])
    PetscCall(SolidCreateBodies(*solid, message, size));
  if (!message[0])
    PetscCall(SolidCreatePoints(*solid, message, size));
  if (!message[0])
    PetscCall(CreateParts(*solid, message, size));
  if (message[0])
    PetscCall(SolidDestroy(solid));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidCreate(MPI_Comm comm, const SolidConfig *config, Solid *solid, char message[],
                           size_t size)
{
  PetscFunctionBegin;
  PetscCall(Create(comm, NULL, config, solid, message, size));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidCreateFrom(FormOutline *outlines, const SolidConfig *config, Solid *solid, char message[],
                               size_t size)
{
  PetscFunctionBegin;
  PetscCall(Create(PETSC_COMM_SELF, outlines, config, solid, message, size));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidDestroy(Solid *solid)
{
  Solid s = *solid;

  PetscFunctionBegin;
  if (!s)
    PetscFunctionReturn(0);
  PetscCall(ContactSetDestroy(&s->contacts));
  PetscCall(JointSetDestroy(&s->joints));
  if (s->step)
    PetscCall(PetscFree5(s->step->half, s->step->change, s->step->before, s->step->begun, s->step->ended));
  PetscCall(PetscFree(s->step));
  PetscCall(SolidDestroyPoints(s));
  PetscCall(SolidDestroyBodies(s));
  PetscCall(PetscFree(*solid));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidGetState(Solid solid, PetscInt *count, PetscReal **velocity)
{
  PetscFunctionBegin;
  *count = 3 * solid->points->count + TWIST * solid_body_count(solid);
  *velocity = solid->velocity;
  PetscFunctionReturn(0);
}

/* Of the points of a body. */
static PetscReal largest_at(const Body *body, const Twist *twist)
{
  return vector3_norm(twist->linear) + vector3_norm(twist->angular) * body->form->reach;
}

PetscReal solid_longest_path(Solid solid)
{
  PetscReal smallest = PETSC_MAX_REAL;

  for (PetscInt b = 0; b < solid->body_count; b++)
    if (body_is_free(&solid->bodies[b]) && !solid_is_bone(solid, b)) /* which nothing meets */
      smallest = PetscMin(smallest, solid->bodies[b].form->size);
  return smallest < PETSC_MAX_REAL ? solid->config->cfl * smallest : PETSC_MAX_REAL;
}

PetscErrorCode SolidGetTimeStepLimit(Solid solid, PetscReal path, const PetscReal accelerations[],
                                     PetscReal *dt)
{
  PetscReal fastest = 0, fall = 0;

  PetscFunctionBegin;
  *dt = PETSC_MAX_REAL;
  for (PetscInt b = 0; b < solid->body_count; b++) {
    const Body *body = &solid->bodies[b];

    if (isfinite(body->form->reach))
      fastest = PetscMax(fastest, largest_at(body, &solid->twists[b]));
    if (accelerations && body_is_free(body))
      fall = PetscMax(fall, largest_at(body, (const Twist *)accelerations + b));
  }
  if (!accelerations)
    fall = vector3_norm(solid->config->gravity);
  if (path < PETSC_MAX_REAL) /* from rest the step is bounded by the fall: fastest dt + fall dt^2 = path */
    *dt = 2 * path / (fastest + PetscSqrtReal(fastest * fastest + 4 * fall * path) + 1e-300);
  PetscFunctionReturn(0);
}

static PetscReal kinematic_speed(Solid solid, PetscReal time)
{
  PetscReal speed = 0;

  for (PetscInt b = 0; b < solid->body_count; b++) {
    const Body *body = &solid->bodies[b];

    if (body->config->kind == BODY_KINEMATIC && isfinite(body->form->reach)) {
      const Twist twist = body_prescribed_twist(body, time);

      speed = PetscMax(speed, largest_at(body, &twist));
    }
  }
  return speed;
}

static PetscBool loads_change(Solid solid)
{
  for (PetscInt b = 0; b < solid->body_count; b++)
    if (body_is_free(&solid->bodies[b]) && !body_load_is_constant(&solid->bodies[b]))
      return PETSC_TRUE;
  return solid->config->joint_count && joint_set_has_motor(solid->joints) ? PETSC_TRUE : PETSC_FALSE;
}

/* What loads can make of the speeds of bodies within a step, where they change. */
static PetscReal loaded_speed(Solid solid, PetscReal time, PetscReal dt)
{
  PetscReal speed = 0;

  if (!loads_change(solid))
    return 0;
  for (PetscInt half = 0; half <= 2; half++) {
    solid_fill_loads(solid, time + 0.5 * half * dt, dt, solid->step->ended);
    for (PetscInt b = 0; b < solid->body_count; b++)
      if (body_is_free(&solid->bodies[b])) {
        const BodyLoad *load = &solid->step->ended[b];
        const Mobility *mobility = &solid->mobilities[b];
        const Twist     gained = {vector3_scale(dt * mobility->inverse_mass, load->force),
                                  vector3_scale(dt, matrix3_apply(&mobility->inverse_inertia, load->torque))};

        speed = PetscMax(speed, largest_at(&solid->bodies[b], &solid->twists[b]) +
                                    largest_at(&solid->bodies[b], &gained));
      }
  }
  return speed;
}

PetscErrorCode SolidGetGivenSpeed(Solid solid, PetscReal time, PetscReal dt, PetscReal *speed)
{
  PetscFunctionBegin;
  *speed = joint_set_driven_speed(solid->joints, time, dt);
  *speed = PetscMax(*speed, kinematic_speed(solid, time + 0.5 * dt));
  *speed = PetscMax(*speed, kinematic_speed(solid, time + dt));
  *speed = PetscMax(*speed, loaded_speed(solid, time, dt));
  PetscFunctionReturn(0);
}

PetscReal solid_prescribed_speed(Solid solid, PetscReal time)
{
  return PetscMax(kinematic_speed(solid, time), joint_set_target_speed(solid->joints, time));
}

/* That of the forces which those who write will report. */
static PetscErrorCode BroadcastTime(Solid solid, MPI_Comm world, PetscMPIInt root)
{
  PetscReal time = solid->points->time;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(&time, 1, MPIU_REAL, root, world));
  points_set_time(solid, time);
  PetscFunctionReturn(0);
}

/* Where the targets of soft bound copies are in their mesh. */
static PetscErrorCode BroadcastDrift(Solid solid, MPI_Comm world, PetscMPIInt root)
{
  const PetscInt count = SOFT_PLACE * soft_point_numbers(solid->points);
  PetscReal     *numbers;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, &numbers));
  soft_points_get_places(solid, numbers);
  PetscCallMPI(MPI_Bcast(numbers, (PetscMPIInt)count, MPIU_REAL, root, world));
  soft_points_set_places(solid, numbers);
  PetscCall(PetscFree(numbers));
  PetscFunctionReturn(0);
}

static PetscErrorCode BroadcastPoints(Solid solid, MPI_Comm world, PetscMPIInt root)
{
  Points *points = solid->points;

  PetscFunctionBegin;
  if (!points->count || points->distribution) /* then every rank has been told */
    PetscFunctionReturn(0);
  PetscCallMPI(MPI_Bcast(points->position, (PetscMPIInt)(3 * points->count), MPIU_REAL, root, world));
  PetscCall(PointsBroadcastHistory(points, world, root));
  PetscCall(BroadcastTime(solid, world, root));
  PetscCall(BroadcastDrift(solid, world, root));
  points->has_forces = PETSC_FALSE;
  PetscFunctionReturn(0);
}

JointLoad solid_joint_load(Solid solid, const JointConfig *joint, PetscInt copy)
{
  return joint_set_load(solid->joints, joint_set_find(solid->joints, joint) + copy);
}

JointPlace solid_joint_place(Solid solid, const JointConfig *joint, PetscInt copy)
{
  return joint_set_place(solid->joints, joint_set_find(solid->joints, joint) + copy);
}

PetscErrorCode SolidBroadcast(Solid solid, MPI_Comm world, PetscMPIInt root)
{
  const PetscInt bodies = solid->body_count, numbers = (PetscInt)(sizeof(RigidTransform) / sizeof(PetscReal));
  PetscMPIInt    size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(world, &size));
  if (size == 1)
    PetscFunctionReturn(0);
  PetscCallMPI(MPI_Bcast(solid->velocity, (PetscMPIInt)(3 * solid->points->count + TWIST * bodies), MPIU_REAL,
                         root, world));
  PetscCall(BroadcastPoints(solid, world, root));
  PetscCallMPI(MPI_Bcast(solid->placements, (PetscMPIInt)(numbers * bodies), MPIU_REAL, root, world));
  solid->report.point_contacts = solid->points->contact_count;
  solid->report.largest_penetration = point_contacts_penetration(solid);
  PetscCallMPI(MPI_Bcast(&solid->report, (PetscMPIInt)sizeof(solid->report), MPI_BYTE, root, world));
  PetscCall(ContactSetBroadcast(solid->contacts, solid, world, root));
  if (solid->config->joint_count)
    PetscCall(JointSetBroadcastLoads(solid->joints, world, root));
  solid_refresh_mobilities(solid);
  PetscFunctionReturn(0);
}

static void add_body(SolidReport *report, Solid solid, PetscInt b)
{
  const Body   *body = &solid->bodies[b];
  const Twist  *twist = &solid->twists[b];
  const Vector3 position = solid->placements[b].position;
  const Vector3 momentum = vector3_scale(body->mass, twist->linear);
  const Vector3 spinning = body_angular_momentum(body, &solid->placements[b], twist->angular);

  report->momentum = vector3_add(report->momentum, momentum);
  report->angular_momentum =
      vector3_add(report->angular_momentum, vector3_add(vector3_cross(position, momentum), spinning));
  report->kinetic_energy += solid_body_energy(solid, b, twist);
  report->potential_energy -= body->mass * vector3_dot(solid->config->gravity, position);
  if (body_load_is_constant(body))
    report->potential_energy -= vector3_dot(body_load(body, &solid->placements[b], 0.).force, position);
  report->largest_speed = PetscMax(
      report->largest_speed, vector3_norm(twist->linear) + vector3_norm(twist->angular) * body->form->reach);
}

static void add_point(SolidReport *report, Solid solid, PetscInt p)
{
  const Vector3   velocity = ((const Vector3 *)solid->velocity)[p], position = solid->points->position[p];
  const PetscReal mass = solid->points->mass[p];
  const Vector3   momentum = vector3_scale(mass, velocity);

  report->momentum = vector3_add(report->momentum, momentum);
  report->angular_momentum = vector3_add(report->angular_momentum, vector3_cross(position, momentum));
  report->kinetic_energy += 0.5 * vector3_dot(momentum, velocity);
  report->potential_energy -= mass * vector3_dot(solid->config->gravity, position);
  report->largest_speed = PetscMax(report->largest_speed, vector3_norm(velocity));
}

static void add_elements(SolidReport *report, Solid solid)
{
  ForceReport elements;

  if (!solid->points->distribution)
    points_find_forces(solid);
  elements = points_report(solid);
  report->elastic_energy = elements.energy;
  report->plastic_work = elements.plastic;
  report->plastic_strain = elements.strain;
  report->volume = elements.volume;
  report->least_ratio = elements.least_ratio;
}

SolidReport solid_report(Solid solid)
{
  SolidReport report = solid->report;

  for (PetscInt p = 0; p < solid->points->count; p++)
    if (solid->points->inverse_mass[p] > 0.)
      add_point(&report, solid, p);
  report.potential_energy -= points_load_work(solid);
  if (solid->points->mesh_count)
    add_elements(&report, solid);
  report.elastic_energy += springs_energy(solid->points);
  report.longest_binding = springs_longest(solid->points);
  for (PetscInt b = 0; b < solid->body_count; b++)
    if (body_is_free(&solid->bodies[b]))
      add_body(&report, solid, b);
  if (solid->points->contacts) { /* else these are those that a rank was told which finds them */
    report.point_contacts = solid->points->contact_count;
    report.largest_penetration = point_contacts_penetration(solid);
  }
  report.largest_penetration = PetscMax(report.largest_penetration, contact_set_penetration(solid->contacts));
  report.largest_joint_error = joint_set_error(solid->joints);
  report.contacts = solid->contacts->now.count;
  report.contact_points = solid->contacts->now.place_count;
  report.near_points = solid->points->near_count;
  report.levels = solid->contacts->level_count;
  return report;
}
