/* Impulses between surfaces that touch, by passes of Jacobi's method in which a point that takes part in n
   contacts has a share of its mass in each (mass splitting, Tonge et al. 2012): the order of contacts
   does not matter but for round-off, and they are summed in the order of their keys. Each impulse j acts with
   the weights of the nearest places, w j with sum w = 0, and its normal part along the difference of the two:
   neither momentum changes but for the torque of friction on what is a gap apart. */
#include "../../deformable/distribution.h"
#include "mesh_contact.h"

#include <stdlib.h>

enum { PASSES = 10 };
static const PetscReal pass_tolerance = 1e-3; /* of the first pass */

PetscReal mesh_surface_moved(const Points *points, const Vector3 from[], const Vector3 to[])
{
  PetscReal most = 0.;

  for (PetscInt k = 0; k < points->surface->point_count; k++) {
    const Vector3 way = vector3_subtract(to[points->surface->points[k]], from[points->surface->points[k]]);

    most = PetscMax(most, vector3_dot(way, way));
  }
  return PetscSqrtReal(most);
}

static PetscErrorCode AddRoot(Solid solid, const Vector3 at[], PetscInt point, PetscReal weight)
{
  MeshSurface surface = solid->points->surface;
  MeshRoot    root = {.point = point, .body = solid->points->carrier[point], .weight = weight};

  PetscFunctionBegin;
  if (root.body < 0 || !body_is_free(&solid->bodies[root.body]))
    root.body = -1;
  else
    root.arm = vector3_subtract(at[point], solid->placements[root.body].position);
  PetscCall(AppendItem(&surface->root_count, &surface->root_room, &surface->roots, root));
  PetscFunctionReturn(0);
}

static PetscErrorCode AddContact(Solid solid, const Vector3 at[], const MeshMeeting *meeting)
{
  const PointBindings *bindings = &solid->points->bindings;
  MeshSurface          surface = solid->points->surface;
  MeshContact          contact = {.key = meeting->key,
                                  .first = surface->root_count,
                                  .normal = meeting->normal,
                                  .gap = meeting->gap,
                                  .target = meeting->target,
                                  .friction = meeting->friction};

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 4; n++) {
    const PetscInt p = meeting->points[n], k = bindings->index[p];

    if (meeting->weights[n] == 0.)
      continue;
    if (k < 0)
      PetscCall(AddRoot(solid, at, p, meeting->weights[n]));
    for (PetscInt i = k < 0 ? 0 : bindings->first[k]; k >= 0 && i < bindings->first[k + 1]; i++)
      PetscCall(AddRoot(solid, at, bindings->parents[i], meeting->weights[n] * bindings->weights[i]));
  }
  contact.count = surface->root_count - contact.first;
  PetscCall(AppendItem(&surface->contact_count, &surface->contact_room, &surface->contacts, contact));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshContactsSet(Solid solid, const Vector3 at[])
{
  MeshSurface surface = solid->points->surface;

  PetscFunctionBegin;
  surface->contact_count = surface->root_count = 0;
  for (PetscInt n = 0; n < surface->meeting_count; n++)
    PetscCall(AddContact(solid, at, &surface->meetings[n]));
  PetscFunctionReturn(0);
}

static int compare_meetings(const void *a, const void *b)
{
  const uint64_t x = ((const MeshMeeting *)a)->key, y = ((const MeshMeeting *)b)->key;

  return x < y ? -1 : x > y ? 1 : 0;
}

PetscErrorCode MeshMeetingsGather(Solid solid)
{
  MeshSurface  surface = solid->points->surface;
  PetscInt     count;
  MeshMeeting *all;

  PetscFunctionBegin;
  if (!surface->is_mine)
    PetscFunctionReturn(0);
  PetscCall(PointsGatherItems(solid, sizeof(*all), surface->meeting_count, surface->meetings, &count,
                              (void **)&all));
  qsort(all, (size_t)count, sizeof(*all), compare_meetings);
  surface->meeting_count = 0;
  surface->searches++;
  for (PetscInt n = 0; n < count; n++)
    PetscCall(AppendItem(&surface->meeting_count, &surface->meeting_room, &surface->meetings, all[n]));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(0);
}

/* Of the surfaces; the others' have been set already, if all points are here. */
static void follow_parents(const Points *points, Vector3 values[])
{
  const MeshSurface surface = points->surface;

  for (PetscInt k = 0; k < surface->point_count && surface->is_mine; k++)
    if (points->bindings.index[surface->points[k]] >= 0)
      values[surface->points[k]] = points_mean(points, surface->points[k], values);
}

void mesh_surface_follow_position(Solid solid)
{
  points_follow_position(solid);
  follow_parents(solid->points, solid->points->position);
}

void mesh_surface_follow_velocity(Solid solid, const Twist bodies[], Vector3 velocity[])
{
  points_follow_velocity(solid, bodies, velocity);
  follow_parents(solid->points, velocity);
}

static Vector3 relative_velocity(const MeshSurface surface, const MeshContact *contact,
                                 const SolidMotion *motion)
{
  Vector3 sum = vector3(0, 0, 0);

  for (PetscInt r = contact->first; r < contact->first + contact->count; r++) {
    const MeshRoot *root = &surface->roots[r];
    const Vector3   velocity = root->body >= 0 && motion->bodies
                                   ? twist_at(&motion->bodies[root->body], root->arm)
                                   : motion->points[root->point];

    sum = vector3_add(sum, vector3_scale(root->weight, velocity));
  }
  return sum;
}

/* Velocity over impulse in any direction, at most, where each root has its share of the mass. */
static PetscReal shared_yield(Solid solid, const MeshContact *contact, const SolidMotion *motion)
{
  const MeshSurface surface = solid->points->surface;
  PetscReal         sum = 0.;

  for (PetscInt r = contact->first; r < contact->first + contact->count; r++) {
    const MeshRoot *root = &surface->roots[r];
    PetscReal yield = (PetscReal)surface->shares[root->point] * solid->points->inverse_mass[root->point];

    if (root->body >= 0 && motion->bodies) {
      const Mobility *mobility = &solid->mobilities[root->body];
      const PetscReal trace = mobility->inverse_inertia.at[0][0] + mobility->inverse_inertia.at[1][1] +
                              mobility->inverse_inertia.at[2][2];

      yield = (PetscReal)surface->body_shares[root->body] *
              (mobility->inverse_mass + trace * vector3_dot(root->arm, root->arm));
    }
    sum += PetscSqr(root->weight) * yield;
  }
  return sum;
}

static void count_shares(const MeshSurface surface, const MeshContact *contact, PetscInt by)
{
  for (PetscInt r = contact->first; r < contact->first + contact->count; r++) {
    surface->shares[surface->roots[r].point] += by;
    if (surface->roots[r].body >= 0)
      surface->body_shares[surface->roots[r].body] += by;
  }
}

static void add_push(const MeshSurface surface, const MeshContact *contact, Vector3 impulse)
{
  for (PetscInt r = contact->first; r < contact->first + contact->count; r++) {
    const MeshRoot *root = &surface->roots[r];
    const Vector3   part = vector3_scale(root->weight, impulse);

    surface->push[root->point] = vector3_add(surface->push[root->point], part);
    if (root->body >= 0) {
      Twist *turn = &surface->turn[root->body];

      turn->linear = vector3_add(turn->linear, part);
      turn->angular = vector3_add(turn->angular, vector3_cross(root->arm, part));
    }
  }
}

static void push_body(Solid solid, PetscInt b, const Twist *impulse, SolidMotion *motion)
{
  const Mobility *mobility = &solid->mobilities[b];

  if (!motion || !motion->bodies)
    return;
  motion->bodies[b].linear =
      vector3_add(motion->bodies[b].linear, vector3_scale(mobility->inverse_mass, impulse->linear));
  motion->bodies[b].angular =
      vector3_add(motion->bodies[b].angular, matrix3_apply(&mobility->inverse_inertia, impulse->angular));
}

/* What a pass has gathered, once for each point and body. */
static void apply_pushes(Solid solid, SolidMotion *motion, SolidMotion *also)
{
  const Points *points = solid->points;
  MeshSurface   surface = points->surface;

  for (PetscInt r = 0; r < surface->root_count; r++) {
    const MeshRoot *root = &surface->roots[r];
    const Vector3   change = vector3_scale(points->inverse_mass[root->point], surface->push[root->point]);

    motion->points[root->point] = vector3_add(motion->points[root->point], change);
    if (also)
      also->points[root->point] = vector3_add(also->points[root->point], change);
    surface->push[root->point] = vector3(0, 0, 0);
    if (root->body < 0)
      continue;
    push_body(solid, root->body, &surface->turn[root->body], motion);
    push_body(solid, root->body, &surface->turn[root->body], also);
    surface->turn[root->body] = (Twist){0};
  }
}

/* Returns the change of speed. */
static PetscReal visit(const MeshSurface surface, MeshContact *contact, PetscReal yield,
                       const SolidMotion *motion)
{
  const Vector3   relative = relative_velocity(surface, contact, motion);
  const PetscReal opening = vector3_dot(contact->normal, relative), before = contact->press;
  const Vector3   sliding = vector3_subtract(relative, vector3_scale(opening, contact->normal));
  Vector3         rub = vector3_subtract(contact->rub, vector3_scale(1. / yield, sliding)), change;
  PetscReal       most;

  contact->press = PetscMax(contact->least, before + (contact->target - opening) / yield);
  most = contact->friction * PetscMax(0., contact->press);
  if (vector3_norm(rub) > most)
    rub = vector3_scale(most / vector3_norm(rub), rub);
  change = vector3_add(vector3_scale(contact->press - before, contact->normal),
                       vector3_subtract(rub, contact->rub));
  contact->rub = rub;
  add_push(surface, contact, change);
  return vector3_norm(change) * yield;
}

static PetscBool is_active(const MeshSurface surface, const MeshContact *contact, const SolidMotion *motion)
{
  return contact->press > contact->least ||
                 vector3_dot(contact->normal, relative_velocity(surface, contact, motion)) < contact->target
             ? PETSC_TRUE
             : PETSC_FALSE;
}

void mesh_contacts_solve(Solid solid, SolidMotion *motion, SolidMotion *also)
{
  MeshSurface surface = solid->points->surface;
  PetscReal   first = 0., largest = PETSC_MAX_REAL;

  for (PetscInt pass = 0; pass < PASSES && largest > pass_tolerance * first; pass++) {
    largest = 0.;
    for (PetscInt c = 0; c < surface->contact_count; c++) {
      MeshContact *contact = &surface->contacts[c];

      contact->is_active = is_active(surface, contact, motion);
      if (contact->is_active)
        count_shares(surface, contact, 1);
    }
    for (PetscInt c = 0; c < surface->contact_count; c++) {
      MeshContact    *contact = &surface->contacts[c];
      const PetscReal yield = contact->is_active ? shared_yield(solid, contact, motion) : 0.;

      if (yield > 0.)
        largest = PetscMax(largest, visit(surface, contact, yield, motion));
    }
    for (PetscInt c = 0; c < surface->contact_count; c++)
      if (surface->contacts[c].is_active)
        count_shares(surface, &surface->contacts[c], -1);
    apply_pushes(solid, motion, also);
    first = PetscMax(first, largest);
    solid->report.mesh_passes += surface->contact_count > 0;
  }
}

static PetscReal pair_distance(const MeshPair *pair, const Vector3 at[], PetscReal weights[4])
{
  Vector3 places[4];

  for (PetscInt n = 0; n < 4; n++)
    places[n] = at[pair->points[n]];
  return features_distance(pair->kind, places, weights);
}

/* Of the difference of the nearest places. */
static Vector3 pair_normal(const MeshPair *pair, const Vector3 at[], const PetscReal weights[4],
                           PetscReal distance)
{
  Vector3 apart = vector3(0, 0, 0);

  for (PetscInt n = 0; n < 4; n++)
    apart = vector3_add(apart, vector3_scale(weights[n] / distance, at[pair->points[n]]));
  return apart;
}

/* Pairs that are nearer than their thickness where they are or where this motion leads in a step. Linear in
   the motion alone, a point that slides over an edge would count as coming nearer. */
PetscErrorCode MeshMeetingsFind(Solid solid, PetscReal dt, const Vector3 velocity[])
{
  Points     *points = solid->points;
  MeshSurface surface = points->surface;
  PetscReal   moved, weights[4], end_weights[4];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < surface->point_count; k++) {
    const PetscInt p = surface->points[k];

    surface->ahead[p] = vector3_add(points->position[p], vector3_scale(dt, velocity[p]));
  }
  PetscCall(MeshPairsFind(solid, points->position, surface->ahead, &moved));
  surface->meeting_count = 0;
  for (PetscInt n = 0; n < surface->near_count; n++) {
    MeshPair   *pair = &surface->pairs[surface->near[n]];
    MeshMeeting meeting = {.key = pair->key, .friction = pair->friction, .thickness = pair->thickness};
    PetscReal   distance;

    if (pair->is_close_at_rest || mesh_pair_is_clear(surface, pair, moved))
      continue;
    distance = mesh_pair_measure(surface, pair, weights);
    if (distance - 2. * moved > pair->thickness ||
        PetscMin(distance, pair_distance(pair, surface->ahead, end_weights)) >= pair->thickness)
      continue;
    memcpy(meeting.points, pair->points, sizeof(meeting.points));
    memcpy(meeting.weights, weights, sizeof(meeting.weights));
    meeting.normal = pair_normal(pair, points->position, weights, distance);
    meeting.gap = distance - pair->thickness;
    meeting.target = -PetscMax(meeting.gap, 0.) / dt;
    PetscCall(AppendItem(&surface->meeting_count, &surface->meeting_room, &surface->meetings, meeting));
  }
  solid->report.mesh_pairs = PetscMax(solid->report.mesh_pairs, surface->meeting_count);
  PetscFunctionReturn(0);
}

static PetscErrorCode FindContacts(Solid solid, PetscReal dt, const SolidMotion *motion)
{
  PetscFunctionBegin;
  PetscCall(MeshMeetingsFind(solid, dt, motion->points));
  PetscCall(MeshMeetingsGather(solid));
  solid->report.mesh_pairs = PetscMax(solid->report.mesh_pairs, solid->points->surface->meeting_count);
  PetscCall(MeshContactsSet(solid, solid->points->position));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshContactsPress(Solid solid, PetscReal dt, SolidMotion *half)
{
  Points     *points = solid->points;
  MeshSurface surface = points->surface;
  SolidMotion velocity = {points->velocity, solid->twists};

  PetscFunctionBegin;
  mesh_surface_remember(solid);
  PetscCall(PointsGatherSurface(solid, half->points));
  PetscCall(PointsGatherSurface(solid, points->velocity));
  mesh_surface_follow_velocity(solid, half->bodies, half->points);
  PetscCall(FindContacts(solid, dt, half));
  surface->press_count = 0;
  if (!surface->contact_count)
    PetscFunctionReturn(0);
  for (PetscInt c = 0; c < surface->contact_count; c++)
    if (surface->contacts[c].gap < 0.)
      surface->contacts[c].target = mesh_parting_speed(surface->contacts[c].gap, dt);
  mesh_contacts_solve(solid, half, &velocity);
  for (PetscInt c = 0; c < surface->contact_count; c++) {
    const MeshContact *contact = &surface->contacts[c];

    if (contact->gap < 0. && contact->press > 0.)
      PetscCall(AppendItem(&surface->press_count, &surface->press_room, &surface->presses,
                           (MeshPress){contact->key, contact->press}));
  }
  mesh_surface_follow_velocity(solid, half->bodies, half->points);
  mesh_surface_follow_velocity(solid, solid->twists, points->velocity);
  PetscFunctionReturn(0);
}

/* What has parted a pair is taken back as far as it still goes apart. */
PetscErrorCode MeshContactsRest(Solid solid, PetscReal dt)
{
  Points     *points = solid->points;
  MeshSurface surface = points->surface;
  SolidMotion velocity = {points->velocity, solid->twists};
  PetscInt    next = 0;

  PetscFunctionBegin;
  PetscCall(PointsGatherSurface(solid, points->velocity));
  mesh_surface_follow_velocity(solid, solid->twists, points->velocity);
  PetscCall(FindContacts(solid, dt, &velocity));
  if (!surface->contact_count)
    PetscFunctionReturn(0);
  for (PetscInt c = 0; c < surface->contact_count; c++) {
    MeshContact   *contact = &surface->contacts[c];
    const uint64_t key = contact->key;

    while (next < surface->press_count && surface->presses[next].key < key)
      next++;
    if (next < surface->press_count && surface->presses[next].key == key && contact->gap < 0.)
      contact->least = -surface->presses[next].press;
  }
  mesh_contacts_solve(solid, &velocity, NULL);
  mesh_surface_follow_velocity(solid, solid->twists, points->velocity);
  PetscFunctionReturn(0);
}
