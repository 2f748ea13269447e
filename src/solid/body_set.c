/* The bodies of a configuration and their copies. */
#include "deformable/points.h"
#include "shared_forms.h"

/* Numbers in [-1, 1) that depend on their four indices alone (splitmix64). */
static PetscReal hashed(PetscInt seed, PetscInt entry, PetscInt copy, PetscInt which)
{
  PetscInt64 number = ((seed * 1000003LL + entry) * 1000003LL + copy) * 64LL + which;
  uint64_t   bits = (uint64_t)number * 0x9e3779b97f4a7c15ULL;

  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  bits ^= bits >> 31;
  return (PetscReal)(bits >> 11) * 0x1p-52 - 1;
}

static PetscInt copies_of(const BodyConfig *config)
{
  const CopiesConfig *copies = &config->copies;

  return (PetscInt)copies->count.at[X] * (PetscInt)copies->count.at[Y] * (PetscInt)copies->count.at[Z];
}

PetscInt solid_assembly(const SolidConfig *config, const BodyConfig *body)
{
  for (PetscInt a = 0; a < config->assembly_count && body->assembly && body->assembly[0]; a++)
    if (!strcmp(config->assemblies[a].name, body->assembly))
      return a;
  return -1;
}

/* How far a copy stands from the first of its lattice, and how it is turned; `entry` names the disorder. On
   the plane z = 0 that stays in it. */
static RigidTransform copy_offset(const CopiesConfig *copies, PetscInt entry, PetscInt copy, PetscBool planar)
{
  const PetscInt n[DIM] = {(PetscInt)copies->count.at[X], (PetscInt)copies->count.at[Y], 0};
  const PetscInt at[DIM] = {copy % n[X], copy / n[X] % n[Y], copy / (n[X] * n[Y])};
  Vector3        offset, axis;

  for (PetscInt d = 0; d < DIM; d++) {
    offset.at[d] =
        (PetscReal)at[d] * copies->step.at[d] + copies->shift * hashed(copies->seed, entry, copy, d);
    axis.at[d] = hashed(copies->seed, entry, copy, DIM + d);
  }
  if (planar) {
    offset.at[Z] = (PetscReal)at[Z] * copies->step.at[Z];
    axis = vector3(0, 0, 1);
  }
  axis = vector3_scale(
      copies->turn * hashed(copies->seed, entry, copy, 2 * DIM) / PetscMax(vector3_norm(axis), 1e-6), axis);
  return (RigidTransform){offset, quaternion_from_rotation(axis)};
}

RigidTransform assembly_copy(const SolidConfig *config, PetscInt assembly, PetscInt copy)
{
  const AssemblyConfig *own = &config->assemblies[assembly];
  RigidTransform        moved = copy_offset(&own->copies, -1 - assembly, copy, config->planar);
  const Vector3         turned = quaternion_rotate(moved.rotation, own->pivot);

  moved.position = vector3_add(moved.position, vector3_subtract(own->pivot, turned));
  return moved;
}

static RigidTransform place_copy(const SolidConfig *solids, PetscInt entry, PetscInt copy,
                                 const RigidTransform *first)
{
  const PetscInt       assembly = solid_assembly(solids, &solids->bodies[entry]);
  const RigidTransform offset = copy_offset(&solids->bodies[entry].copies, entry, copy, solids->planar);
  RigidTransform       there;

  there.rotation = quaternion_normalized(quaternion_multiply(offset.rotation, first->rotation));
  there.position = vector3_add(first->position, offset.position);
  if (assembly >= 0) {
    const RigidTransform moved = assembly_copy(solids, assembly, copy);

    there.rotation = quaternion_normalized(quaternion_multiply(moved.rotation, first->rotation));
    there.position = rigid_apply(&moved, first->position);
  }
  return there;
}

static PetscErrorCode SetMass(Solid solid, Body *body, char message[], size_t size)
{
  const BodyConfig *config = body->config;
  const PetscReal   density = config->mass > 0 ? config->mass / body->form->volume : config->density;

  PetscFunctionBegin;
  (void)solid;
  body->mass = density * body->form->volume;
  body->inertia = vector3_scale(density, body->form->inertia);
  if (config->kind != BODY_DYNAMIC)
    PetscFunctionReturn(0);
  if (body->form->kind == FORM_PLANE)
    PetscCall(MessageAtKey(message, size, "solids.bodies", config->name,
                           "Body \"%s\" is an endless plane and cannot move: make it static", config->name));
  else if (!(body->mass > 0) ||
           !(body->inertia.at[X] > 0 && body->inertia.at[Y] > 0 && body->inertia.at[Z] > 0))
    PetscCall(
        MessageAtKey(message, size, "solids.bodies", config->name,
                     "Body \"%s\" has a mass of %g kg and moments of inertia %g, %g, %g: a dynamic body "
                     "needs positive ones; give a density or a mass, or make it static",
                     config->name, (double)body->mass, (double)body->inertia.at[X],
                     (double)body->inertia.at[Y], (double)body->inertia.at[Z]));
  PetscFunctionReturn(0);
}

/* All copies of one entry, from body `first` on. */
static PetscErrorCode FillEntry(Solid solid, PetscInt entry, const RigidTransform *rest, PetscInt first,
                                char message[], size_t size)
{
  const BodyConfig *config = &solid->config->bodies[entry];

  PetscFunctionBegin;
  for (PetscInt copy = 0; copy < copies_of(config) && !message[0]; copy++) {
    Body *body = &solid->bodies[first + copy];

    body->config = config;
    body->copy = copy;
    body->form = solid->forms[entry];
    body->rest = place_copy(solid->config, entry, copy, rest);
    PetscCall(SetMass(solid, body, message, size));
    solid->placements[first + copy] = body->rest;
    if (config->kind == BODY_DYNAMIC)
      solid->twists[first + copy] = (Twist){config->velocity, config->spin};
    if (config->kind == BODY_KINEMATIC) {
      solid->placements[first + copy] = body_prescribed(body, 0);
      solid->twists[first + copy] = body_prescribed_twist(body, 0);
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateState(Solid solid)
{
  const SolidConfig *config = solid->config;

  PetscFunctionBegin;
  for (PetscInt entry = 0; entry < config->body_count; entry++)
    solid->body_count += copies_of(&config->bodies[entry]);
  solid_name_walls(solid);
  PetscCall(PetscCalloc1(3 * solid->points->count + TWIST * (solid->body_count + solid->points->mesh_count),
                         &solid->velocity));
  solid->twists = (Twist *)(solid->velocity + 3 * solid->points->count);
  PetscFunctionReturn(0);
}

/* By the team that has all forms; the others take its word for them. */
static PetscErrorCode MakeForm(Solid solid, PetscInt entry, char message[], size_t size)
{
  const BodyConfig *body = &solid->config->bodies[entry];
  RigidTransform   *place = &solid->form_places[entry];
  char              problem[512];

  PetscFunctionBegin;
  if (solid->outlines) {
    PetscCall(SolidTakeForm(solid, entry, place));
    PetscFunctionReturn(0);
  }
  PetscCall(FormCreate(body->shape, body->thickness, &solid->forms[entry], place, problem, sizeof(problem)));
  if (problem[0])
    PetscCall(
        MessageAtKey(message, size, "solids.bodies", body->name, "Body \"%s\": %s", body->name, problem));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidCreateBodies(Solid solid, char message[], size_t size)
{
  const SolidConfig *config = solid->config;
  PetscInt           first = 0;

  PetscFunctionBegin;
  PetscCall(CreateState(solid));
  PetscCall(PetscCalloc5(config->body_count + solid->wall_count, &solid->forms, config->body_count,
                         &solid->form_places, solid->body_count, &solid->bodies, solid->body_count,
                         &solid->placements, solid->body_count, &solid->mobilities));
  for (PetscInt entry = 0; entry < config->body_count; entry++) {
    const BodyConfig *body = &config->bodies[entry];

    PetscCall(MakeForm(solid, entry, message, size));
    if (!message[0])
      PetscCall(FillEntry(solid, entry, &solid->form_places[entry], first, message, size));
    if (!message[0] && !solid->outlines && config->planar && body->kind == BODY_DYNAMIC)
      PetscCall(SolidCheckPrism(solid, first, message, size));
    if (message[0])
      break;
    first += copies_of(body);
  }
  PetscCall(SolidPlaceWalls(solid));
  solid_refresh_mobilities(solid);
  PetscFunctionReturn(0);
}

PetscErrorCode SolidDestroyBodies(Solid solid)
{
  PetscFunctionBegin;
  if (solid->forms)
    for (PetscInt entry = 0; entry < solid->config->body_count + solid->wall_count; entry++)
      PetscCall(FormDestroy(&solid->forms[entry]));
  PetscCall(
      PetscFree5(solid->forms, solid->form_places, solid->bodies, solid->placements, solid->mobilities));
  PetscCall(PetscFree(solid->velocity));
  PetscCall(PetscFree(solid->outlines));
  PetscCall(PetscFree3(solid->kept_placements, solid->kept_velocity, solid->kept_positions));
  PetscFunctionReturn(0);
}

void solid_refresh_mobility(Solid solid, PetscInt b)
{
  Matrix3 *inertia = &solid->mobilities[b].inverse_inertia;

  solid->mobilities[b] = body_mobility(&solid->bodies[b], &solid->placements[b]);
  for (PetscInt n = 0; n < DIM * DIM - 1 && solid->config->planar; n++)
    inertia->at[n / DIM][n % DIM] = 0.; /* all but that about z */
}

void solid_refresh_mobilities(Solid solid)
{
  for (PetscInt b = 0; b < solid->body_count; b++)
    if (solid->bodies[b].form && body_is_free(&solid->bodies[b]))
      solid_refresh_mobility(solid, b);
}

PetscReal solid_body_energy(Solid solid, PetscInt b, const Twist *twist)
{
  const Body *body = &solid->bodies[b];

  if (!body_is_free(body))
    return 0;
  return 0.5 * body->mass * vector3_dot(twist->linear, twist->linear) +
         0.5 *
             vector3_dot(twist->angular, body_angular_momentum(body, &solid->placements[b], twist->angular));
}

static PetscInt count_alike(Solid solid, const BodyConfig *config)
{
  PetscInt count = 0;

  for (PetscInt b = 0; b < solid->body_count; b++)
    count += solid->bodies[b].config == config;
  return count;
}

PetscInt solid_find_body(Solid solid, const char name[])
{
  const char  *dot = strrchr(name, '.');
  const size_t length = dot ? (size_t)(dot - name) : strlen(name);
  char        *end;
  long         copy;

  for (PetscInt b = 0; b < solid->body_count; b++)
    if (!strcmp(solid->bodies[b].config->name, name) && count_alike(solid, solid->bodies[b].config) == 1)
      return b;
  if (!dot || dot[1] < '0' || dot[1] > '9')
    return -1;
  copy = strtol(dot + 1, &end, 10);
  for (PetscInt b = 0; b < solid->body_count && !*end; b++)
    if (strlen(solid->bodies[b].config->name) == length &&
        !strncmp(solid->bodies[b].config->name, name, length) && solid->bodies[b].copy == copy)
      return b;
  return -1;
}
