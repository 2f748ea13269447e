/* Points against bodies and walls (3.4, 3.5, 3.7.2): one point at a time by projected Gauss-Seidel sweeps,
   normal impulses that only press and Coulomb friction within the cone of their sum. Each impulse acts on
   point and body alike: linear momentum stays. Points are inelastic, as in the thesis. */
#include "point_contact.h"

#include "../deformable/distribution.h"
#include "../deformable/synchronise.h"
#include "near_points.h"
#include "solve/contact_set.h"

enum { SWEEPS = 40, COLLISION_SWEEPS = 4, PROJECTION_SWEEPS = 4 /* even: there and back */ };

static PetscReal geometric_mean(PetscReal a, PetscReal b)
{
  return PetscSqrtReal(a * b);
}

/* Where own points of the skin are and go; those between vertices are among these. */
static Bounds skin_bounds(Solid solid, const DeformableMesh *mesh, PetscReal dt, const Vector3 velocity[])
{
  const Points  *points = solid->points;
  const PetscInt between = mesh_has_near_points(mesh) ? mesh->face_points[mesh->face_count] : 0;
  Bounds         box = bounds_empty();

  for (PetscInt k = 0; k < mesh->skin_count - between; k++) {
    const Vector3 here = points->position[mesh->skin[k]];

    if (!points_owns(points, mesh->skin[k]))
      continue;
    bounds_include(&box, here);
    bounds_include(&box, vector3_add(here, vector3_scale(dt, velocity[mesh->skin[k]])));
  }
  return box;
}

static void place_contact(Solid solid, PointContact *contact)
{
  const RigidTransform *at = &solid->placements[contact->body];
  const Vector3         point = solid->points->position[contact->point];
  Vector3               gradient;

  contact->gap = form_distance(solid->bodies[contact->body].form, rigid_apply_inverse(at, point), &gradient);
  contact->normal = quaternion_rotate(at->rotation, gradient);
  contact->arm = vector3_subtract(point, at->position);
}

/* 1/m_p + n . K n of the body. */
static PetscReal yield_along(Solid solid, const PointContact *contact, Vector3 direction)
{
  const Mobility *mobility = &solid->mobilities[contact->body];
  const Vector3   turn = vector3_cross(contact->arm, direction);
  const Vector3   turned = matrix3_apply(&mobility->inverse_inertia, turn);

  return points_inverse_mass(solid->points, contact->point) + mobility->inverse_mass +
         vector3_dot(turn, turned);
}

PetscReal point_contact_hold(Solid solid, const PointContact *contact)
{
  return 1. / yield_along(solid, contact, contact->normal);
}

Vector3 point_contact_velocity(Solid solid, const PointContact *contact, const SolidMotion *motion)
{
  return vector3_subtract(points_mean(solid->points, contact->point, motion->points),
                          twist_at(&motion->bodies[contact->body], contact->arm));
}

static void push(Solid solid, const PointContact *contact, Vector3 impulse, SolidMotion *motion)
{
  points_push(solid->points, contact->point, impulse, motion->points);
  twist_push(&motion->bodies[contact->body], &solid->mobilities[contact->body], contact->arm,
             vector3_scale(-1., impulse));
}

static PetscErrorCode AddContact(Solid solid, const PointContact *contact)
{
  Points *points = solid->points;

  PetscFunctionBegin;
  PetscCall(GrowList(points->contact_count, &points->contact_room, &points->contacts));
  points->contacts[points->contact_count++] = *contact;
  PetscFunctionReturn(0);
}

/* Own points of the skin within what point and body may go in the step. */
static PetscErrorCode FindOnBody(Solid solid, const DeformableMesh *mesh, PetscInt body, PetscReal dt,
                                 const SolidMotion *motion)
{
  const Points *points = solid->points;
  const Twist  *twist = &motion->bodies[body];
  PointContact  contact = {
       .body = body,
       .friction =
           geometric_mean(mesh->config->friction, is_wall(solid, body) ? mesh->config->friction
                                                                       : solid->bodies[body].config->friction),
       .slack = solid->config->tolerance * mesh->edge};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < mesh->skin_count; k++) {
    PetscReal path;

    contact.point = mesh->skin[k];
    if (!points_owns(points, contact.point) || points->bindings.rests[contact.point] ||
        !(points_inverse_mass(points, contact.point) > 0.))
      continue;
    place_contact(solid, &contact);
    path = vector3_norm(vector3_subtract(motion->points[contact.point], twist_at(twist, contact.arm)));
    if (contact.gap <= dt * path + contact.slack)
      PetscCall(AddContact(solid, &contact));
  }
  PetscFunctionReturn(0);
}

static PetscReal farthest_way(Solid solid, PetscInt body, PetscReal dt, const Twist *twist)
{
  const PetscReal reach = solid->bodies[body].form->reach;

  return PetscIsInfOrNanReal(reach)
             ? dt * vector3_norm(twist->linear)
             : dt * (vector3_norm(twist->linear) + reach * vector3_norm(twist->angular));
}

/* Free bodies that points touch are unknowns of the step beside those that carry points. */
static void take_bodies(Solid solid)
{
  Points *points = solid->points;

  points->body_count = points->carrying_count;
  for (PetscInt k = 0; k < points->contact_count; k++) {
    const PetscInt b = points->contacts[k].body;
    PetscInt       n = 0;

    while (n < points->body_count && points->bodies[n] != b)
      n++;
    if (n < points->body_count || !body_is_free(&solid->bodies[b]))
      continue;
    points->bodies[points->body_count++] = b;
    points->forces.bodies[b] = points->earlier.bodies[b] = points->drag.bodies[b] = (Twist){0};
  }
}

/* Of a mesh or all its copies. */
static PetscBool is_name_of(const DeformableMesh *mesh, const char name[])
{
  const char  *own = mesh->config->name, *dot = mesh->config->placed ? strrchr(own, '.') : NULL;
  const size_t length = dot ? (size_t)(dot - own) : strlen(own);

  return strlen(name) == length && !strncmp(own, name, length) ? PETSC_TRUE : PETSC_FALSE;
}

/* One of solids.pairs says so. */
static PetscBool passes_through(Solid solid, const DeformableMesh *mesh, PetscInt body)
{
  const char *name = solid->bodies[body].config->name;

  for (PetscInt p = 0; p < solid->config->pair_count; p++) {
    const ContactPairConfig *pair = &solid->config->pairs[p];

    if (pair->none && ((is_name_of(mesh, pair->first) && !strcmp(pair->second, name)) ||
                       (is_name_of(mesh, pair->second) && !strcmp(pair->first, name))))
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Whether skin and body may meet in the step, or come so near. */
static PetscBool may_meet(Solid solid, const DeformableMesh *mesh, const Bounds *skin, PetscInt body,
                          PetscReal margin)
{
  const Bounds box = form_bounds(solid->bodies[body].form, &solid->placements[body]);

  return boxes_meet(skin, &box, margin) && !mesh_is_held_by(mesh, body) && !passes_through(solid, mesh, body)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

static PetscErrorCode FindOfMesh(Solid solid, const DeformableMesh *mesh, PetscReal dt,
                                 const SolidMotion *motion, const Bounds *skin)
{
  const PetscReal slack = solid->config->tolerance * mesh->edge;

  PetscFunctionBegin;
  if (mesh_has_near_points(mesh)) {
    const PetscReal reach = near_points_reach(mesh);

    near_points_rest(solid->points, mesh, motion);
    for (PetscInt b = 0; b < solid->body_count; b++) {
      const PetscReal margin = farthest_way(solid, b, dt, &motion->bodies[b]) + slack + reach;

      if (may_meet(solid, mesh, skin, b, margin))
        near_points_wake(solid, mesh, b, margin, dt, motion);
    }
  }
  for (PetscInt b = 0; b < solid->body_count; b++)
    if (may_meet(solid, mesh, skin, b, farthest_way(solid, b, dt, &motion->bodies[b]) + slack))
      PetscCall(FindOnBody(solid, mesh, b, dt, motion));
  PetscFunctionReturn(0);
}

/* Of whole skins, on every rank: what is looked at does not depend on who owns it. */
static PetscErrorCode FindSkinBounds(Solid solid, PetscReal dt, const Vector3 velocity[], Bounds skins[])
{
  const Points *points = solid->points;

  PetscFunctionBegin;
  for (PetscInt m = 0; m < points->mesh_count; m++) {
    skins[m] = skin_bounds(solid, &points->meshes[m], dt, velocity);
    skins[m].low = vector3_scale(-1., skins[m].low);
  }
  PetscCall(PointsLargest(solid, (PetscInt)(sizeof(*skins) / sizeof(PetscReal)) * points->mesh_count,
                          (PetscReal *)skins));
  for (PetscInt m = 0; m < points->mesh_count; m++)
    skins[m].low = vector3_scale(-1., skins[m].low);
  PetscFunctionReturn(0);
}

/* Points that come and go are looked for on whole surfaces, by every rank. */
static PetscErrorCode GatherSurfaces(Solid solid, const SolidMotion *motion)
{
  Points   *points = solid->points;
  PetscBool has_near = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt m = 0; m < points->mesh_count && !has_near; m++)
    has_near = mesh_has_near_points(&points->meshes[m]);
  if (!has_near)
    PetscFunctionReturn(0);
  PetscCall(PointsGather(solid, points->position));
  PetscCall(PointsGather(solid, points->velocity));
  PetscCall(PointsGather(solid, motion->points));
  PetscFunctionReturn(0);
}

PetscErrorCode PointContactsFind(Solid solid, PetscReal dt, const SolidMotion *motion)
{
  Points *points = solid->points;
  Bounds *skins;

  PetscFunctionBegin;
  points->contact_count = 0;
  if (!solid->body_count)
    PetscFunctionReturn(0);
  PetscCall(GatherSurfaces(solid, motion));
  PetscCall(PetscMalloc1(points->mesh_count, &skins));
  PetscCall(FindSkinBounds(solid, dt, motion->points, skins));
  for (PetscInt m = 0; m < points->mesh_count; m++)
    PetscCall(FindOfMesh(solid, &points->meshes[m], dt, motion, &skins[m]));
  PetscCall(PetscFree(skins));
  PetscCall(PointsGatherContacts(solid));
  for (PetscInt k = 0; k < points->contact_count; k++)
    points->contacts[k].hold = point_contact_hold(solid, &points->contacts[k]);
  take_bodies(solid);
  PetscFunctionReturn(0);
}

void point_contacts_update(Solid solid)
{
  Points *points = solid->points;

  for (PetscInt k = 0; k < points->contact_count; k++) {
    place_contact(solid, &points->contacts[k]);
    points->contacts[k].hold = point_contact_hold(solid, &points->contacts[k]);
  }
}

/* Friction stops sliding as far as the cone of the pressing impulse reaches. */
static void rub(Solid solid, PointContact *contact, SolidMotion *motion)
{
  const Vector3   relative = point_contact_velocity(solid, contact, motion);
  const PetscReal normal = vector3_dot(contact->normal, relative);
  const Vector3   sliding = vector3_subtract(relative, vector3_scale(normal, contact->normal));
  const PetscReal speed = vector3_norm(sliding), most = contact->friction * contact->press;
  Vector3         wanted = contact->rub, change;

  if (speed > 0.) {
    const Vector3 along = vector3_scale(1. / speed, sliding);

    wanted = vector3_subtract(wanted, vector3_scale(speed / yield_along(solid, contact, along), along));
  }
  if (vector3_norm(wanted) > most)
    wanted = vector3_scale(most / vector3_norm(wanted), wanted);
  change = vector3_subtract(wanted, contact->rub);
  contact->rub = wanted;
  push(solid, contact, change, motion);
}

/* Returns the change of speed. `target` is the least speed at which it may open. */
static PetscReal visit(Solid solid, PointContact *contact, PetscReal target, SolidMotion *motion)
{
  const PetscReal opening = vector3_dot(contact->normal, point_contact_velocity(solid, contact, motion));
  const PetscReal press = PetscMax(0., contact->press + contact->hold * (target - opening));
  const PetscReal change = press - contact->press;

  contact->press = press;
  if (change != 0.)
    push(solid, contact, vector3_scale(change, contact->normal), motion);
  if (contact->friction > 0. && (press > 0. || vector3_norm(contact->rub) > 0.))
    rub(solid, contact, motion);
  return PetscAbsReal(change) / contact->hold;
}

void point_contacts_forget(Solid solid)
{
  for (PetscInt k = 0; k < solid->points->contact_count; k++) {
    solid->points->contacts[k].press = 0.;
    solid->points->contacts[k].rub = vector3(0, 0, 0);
  }
}

/* What velocities a solve for contact asks for. */
typedef struct {
  PointContactPhase phase;
  PetscReal         dt;
  PetscInt          sweeps;
  PetscReal         enough; /* m/s: less need not change any more */
} PointSolve;

static PetscBool takes_part(const PointSolve *solve, const PointContact *contact)
{
  if (solve->phase == POINTS_COLLIDE)
    return contact->closing;
  return solve->phase == POINTS_MOVE || contact->gap <= contact->slack ? PETSC_TRUE : PETSC_FALSE;
}

/* The least speed at which it may open. */
static PetscReal least_opening(const PointSolve *solve, const PointContact *contact)
{
  if (solve->phase == POINTS_REST)
    return 0.;
  return -(solve->phase == POINTS_MOVE ? contact->gap : PetscMax(contact->gap, 0.)) / solve->dt;
}

static void sweep(Solid solid, const PointSolve *solve, SolidMotion *motion)
{
  Points   *points = solid->points;
  PetscReal largest = PETSC_MAX_REAL;

  for (PetscInt n = 0; n < solve->sweeps && largest > solve->enough; n++) {
    const PetscBool back = n % 2 && solve->phase != POINTS_COLLIDE ? PETSC_TRUE : PETSC_FALSE;

    largest = 0.;
    for (PetscInt k = 0; k < points->contact_count; k++) {
      PointContact *contact = &points->contacts[back ? points->contact_count - 1 - k : k];
      PetscReal     change;

      if (!takes_part(solve, contact))
        continue;
      change = visit(solid, contact, least_opening(solve, contact), motion);
      largest = PetscMax(largest, change);
    }
  }
}

static void find_holds(Solid solid)
{
  for (PetscInt k = 0; k < solid->points->contact_count; k++)
    solid->points->contacts[k].hold = point_contact_hold(solid, &solid->points->contacts[k]);
}

/* Copies that are synchronised drift while contact acts on them, and their targets follow, until no copy is
   off its target. */
static void solve_with_copies(Solid solid, const PointSolve *solve, SolidMotion *motion)
{
  enum { ROUNDS = 20 };
  Points         *points = solid->points;
  const PetscReal enough = PetscMax(solve->enough, 1e-9 * points->shortest / solve->dt);
  PetscReal       largest = PETSC_MAX_REAL;

  for (PetscInt round = 0; round < ROUNDS && largest > enough; round++) {
    for (PetscInt k = 0; k < points->contact_count; k++) {
      PointContact   *contact = &points->contacts[k];
      const PetscReal opening = vector3_dot(contact->normal, point_contact_velocity(solid, contact, motion));
      const PetscBool acts =
          contact->press > 0. || opening < least_opening(solve, contact) ? PETSC_TRUE : PETSC_FALSE;

      contact->is_loose = takes_part(solve, contact) && acts ? PETSC_TRUE : PETSC_FALSE;
    }
    synchronised_release(solid, motion);
    find_holds(solid);
    sweep(solid, solve, motion);
    largest = synchronised_bind(solid, motion);
  }
  find_holds(solid);
}

static void solve_contacts(Solid solid, const PointSolve *solve, SolidMotion *motion)
{
  if (solid->points->synchronised.loads)
    solve_with_copies(solid, solve, motion);
  else
    sweep(solid, solve, motion);
}

/* What collisions do to velocities they do to those of the middle of the step. */
void point_contacts_collide(Solid solid, PetscReal dt, SolidMotion *half)
{
  const PointSolve solve = {POINTS_COLLIDE, dt, COLLISION_SWEEPS, -1.};
  Points          *points = solid->points;
  SolidMotion      motion = {points->velocity, solid->twists};

  for (PetscInt k = 0; k < points->contact_count; k++) {
    PointContact   *contact = &points->contacts[k];
    const PetscReal opening = vector3_dot(contact->normal, point_contact_velocity(solid, contact, half));

    contact->closing = contact->gap + dt * opening < 0. ? PETSC_TRUE : PETSC_FALSE;
  }
  solve_contacts(solid, &solve, &motion);
  for (PetscInt k = 0; k < points->contact_count; k++) {
    const PointContact *contact = &points->contacts[k];

    if (contact->closing)
      push(solid, contact, vector3_add(vector3_scale(contact->press, contact->normal), contact->rub), half);
  }
  point_contacts_forget(solid);
}

void point_contacts_solve(Solid solid, PointContactPhase phase, PetscReal dt, SolidMotion *motion)
{
  const PointSolve solve = {phase, dt, SWEEPS, 1e-9 * solid->points->shortest / dt};

  solve_contacts(solid, &solve, motion);
}

PetscInt point_contacts_hold(Solid solid, const SolidMotion *motion)
{
  Points  *points = solid->points;
  PetscInt count = 0;

  for (PetscInt k = 0; k < points->contact_count; k++) {
    PointContact *contact = &points->contacts[k];

    contact->held = contact->gap <= contact->slack &&
                            vector3_dot(contact->normal, point_contact_velocity(solid, contact, motion)) < 0.
                        ? PETSC_TRUE
                        : PETSC_FALSE;
    count += contact->held;
  }
  return count;
}

void point_contacts_project(Solid solid, SolidMotion *motion)
{
  Points *points = solid->points;

  for (PetscInt sweep = 0; sweep < PROJECTION_SWEEPS; sweep++)
    for (PetscInt k = 0; k < points->contact_count; k++) {
      const PointContact *contact = &points->contacts[sweep % 2 ? points->contact_count - 1 - k : k];
      const PetscReal opening = vector3_dot(contact->normal, point_contact_velocity(solid, contact, motion));

      if (contact->held && opening != 0.)
        push(solid, contact, vector3_scale(-contact->hold * opening, contact->normal), motion);
    }
}

void point_contacts_separate(Solid solid)
{
  Points *points = solid->points;

  for (PetscInt k = 0; k < points->contact_count; k++) {
    PointContact *contact = &points->contacts[k];

    if (contact->gap >= 0. || body_is_free(&solid->bodies[contact->body]))
      continue;
    points_push(points, contact->point,
                vector3_scale(-contact->gap / points_inverse_mass(points, contact->point), contact->normal),
                points->position);
    points->position[contact->point] = points_mean(points, contact->point, points->position);
    place_contact(solid, contact);
    points->has_forces = PETSC_FALSE;
  }
  points_follow_parents(points, points->position);
}

PetscBool point_contacts_push(Solid solid)
{
  for (PetscInt k = 0; k < solid->points->contact_count; k++)
    if (body_is_free(&solid->bodies[solid->points->contacts[k].body]))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscReal point_contacts_penetration(Solid solid)
{
  PetscReal deepest = 0.;

  for (PetscInt k = 0; k < solid->points->contact_count; k++)
    deepest = PetscMax(deepest, -solid->points->contacts[k].gap);
  return deepest;
}

PetscErrorCode PointContactsCheckStart(Solid solid, char message[], size_t size)
{
  const PetscReal part = 0.1; /* of an edge: a shape that begins at the floor may reach into it */
  Points         *points = solid->points;
  SolidMotion     still = {points->velocity, solid->twists};

  PetscFunctionBegin;
  PetscCall(PointContactsFind(solid, 0., &still));
  for (PetscInt k = 0; k < points->contact_count && !message[0]; k++) {
    const PointContact   *contact = &points->contacts[k];
    const DeformableMesh *mesh = points->meshes;

    while (mesh + 1 < points->meshes + points->mesh_count && contact->point >= mesh[1].first)
      mesh++;
    if (contact->gap < -part * mesh->edge)
      PetscCall(MessageAtKey(message, size, "solids.meshes", mesh->config->name,
                             "Mesh \"%s\" reaches %g m into body \"%s\" at the start: move it, or hold it to "
                             "the body there",
                             mesh->config->name, (double)-contact->gap,
                             solid->bodies[contact->body].config->name));
  }
  points->contact_count = 0;
  PetscFunctionReturn(0);
}
