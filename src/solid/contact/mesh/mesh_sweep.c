/* Continuous collision: what keeps surfaces from passing through each other, whatever contact has left.

   On the straight ways from the start of a step to its end no two features may come nearer than a tenth of
   the thickness (or half of where they began, if that is less). Where they would, impulses first stop the
   approach of the places that would meet, along the line between these at the start, so that both momenta
   stay. What would still meet moves as one, points of a zone as a rigid body with the momenta that they have,
   x + dt (V + w x r), a map that brings no two of them together; a zone with points that a body or the world
   carries goes with that. Zones that meet become one, until nothing meets. */
#include "../../deformable/distribution.h"
#include "mesh_contact.h"

enum { ROUNDS = 4, MOST_ZONINGS = 200 };
static const PetscReal kept_part = 0.1, aimed_part = 0.3; /* of the thickness */

void mesh_surface_remember(Solid solid)
{
  const Points *points = solid->points;

  memcpy(points->surface->began, points->position, (size_t)points->count * sizeof(*points->position));
  memcpy(points->surface->placed, solid->placements, (size_t)solid->body_count * sizeof(*solid->placements));
}

/* The time until which the features of a pair stay apart, in parts of the way. */
static PetscReal free_time(const Points *points, const MeshPair *pair)
{
  Vector3 from[4], to[4];

  for (PetscInt n = 0; n < 4; n++) {
    from[n] = points->surface->began[pair->points[n]];
    to[n] = points->position[pair->points[n]];
  }
  return features_free_time(pair->kind, from, to, kept_part * pair->thickness);
}

/* The places that would meet shall stay apart along the line between them. */
static PetscErrorCode AddMeeting(Solid solid, const MeshPair *pair, PetscReal time, PetscReal dt)
{
  const Points     *points = solid->points;
  const MeshSurface surface = points->surface;
  Vector3           at[4], apart = vector3(0, 0, 0);
  PetscReal         length;
  MeshMeeting       meeting = {.key = pair->key, .friction = pair->friction};

  PetscFunctionBegin;
  memcpy(meeting.points, pair->points, sizeof(meeting.points));
  for (PetscInt n = 0; n < 4; n++)
    at[n] = vector3_add(vector3_scale(1. - time, surface->began[pair->points[n]]),
                        vector3_scale(time, points->position[pair->points[n]]));
  (void)features_distance(pair->kind, at, meeting.weights);
  for (PetscInt n = 0; n < 4; n++)
    apart = vector3_add(apart, vector3_scale(meeting.weights[n], surface->began[pair->points[n]]));
  length = vector3_norm(apart);
  meeting.normal = vector3_scale(1. / length, apart);
  meeting.gap = length - pair->thickness;
  meeting.target = -(length - PetscMin(aimed_part * pair->thickness, 0.9 * length)) / dt;
  PetscCall(AppendItem(&surface->meeting_count, &surface->meeting_room, &surface->meetings, meeting));
  PetscFunctionReturn(0);
}

/* Carried points go where they went; the others by `half`. */
static void take_ways(Solid solid, PetscReal dt, const SolidMotion *half)
{
  Points *points = solid->points;

  for (PetscInt p = 0; p < points->count; p++)
    if (points->inverse_mass[p] > 0.)
      points->position[p] = vector3_add(points->surface->began[p], vector3_scale(dt, half->points[p]));
  mesh_surface_follow_position(solid);
}

static void find_ways(const Points *points, PetscReal dt, SolidMotion *half)
{
  for (PetscInt p = 0; p < points->count; p++)
    if (!(points->inverse_mass[p] > 0.))
      half->points[p] =
          vector3_scale(1. / dt, vector3_subtract(points->position[p], points->surface->began[p]));
}

/* All pairs that would meet. */
static PetscErrorCode FindMeetings(Solid solid, PetscReal dt, PetscInt *count)
{
  const Points *points = solid->points;
  MeshSurface   surface = points->surface;
  PetscReal     moved;

  PetscFunctionBegin;
  *count = surface->meeting_count = 0;
  PetscCall(MeshPairsFind(solid, surface->began, points->position, &moved));
  for (PetscInt n = 0; n < surface->near_count && moved > 0.; n++) {
    MeshPair *pair = &surface->pairs[surface->near[n]];
    PetscReal weights[4], time;

    if (mesh_pair_stays_apart(surface, pair, moved))
      continue;
    (void)mesh_pair_measure(surface, pair, weights);
    if (mesh_pair_stays_apart(surface, pair, moved))
      continue;
    time = free_time(points, pair);
    if (time < 1.)
      PetscCall(AddMeeting(solid, pair, time, dt));
  }
  PetscCall(MeshMeetingsGather(solid));
  *count = surface->meeting_count;
  PetscFunctionReturn(0);
}

static PetscInt zone_of(const MeshSurface surface, PetscInt item)
{
  while (surface->zone[item] != item)
    item = surface->zone[item] = surface->zone[surface->zone[item]];
  return item;
}

static void join(const MeshSurface surface, PetscInt a, PetscInt b)
{
  a = zone_of(surface, a);
  b = zone_of(surface, b);
  surface->zone[PetscMax(a, b)] = PetscMin(a, b);
}

/* A point by itself, or what carries it. */
static PetscInt zone_item(const Solid solid, PetscInt point)
{
  const Points  *points = solid->points;
  const PetscInt carrier = points->carrier[point];

  if (points->inverse_mass[point] > 0.)
    return point;
  return points->count + (carrier >= 0 ? carrier : solid->body_count);
}

static void join_zone(Solid solid, const MeshMeeting *meeting)
{
  const Points        *points = solid->points;
  const PointBindings *bindings = &points->bindings;
  PetscInt             first = -1;

  for (PetscInt n = 0; n < 4; n++) {
    const PetscInt k = bindings->index[meeting->points[n]];
    const PetscInt count = k < 0 ? 1 : bindings->first[k + 1] - bindings->first[k];

    for (PetscInt i = 0; i < count; i++) {
      const PetscInt item =
          zone_item(solid, k < 0 ? meeting->points[n] : bindings->parents[bindings->first[k] + i]);

      first = first < 0 ? item : first;
      join(points->surface, first, item);
    }
  }
}

/* Points of a zone together: mass, centre, momenta and inertia about the centre, by the ways of the step. */
typedef struct {
  PetscInt  first, count; /* in the list of points */
  PetscInt  carrier, carriers;
  PetscReal mass;
  Vector3   centre, velocity, spin;
} Zone;

/* The spin that the angular momentum gives, without what would turn about a line that all are on. */
static Vector3 spin_of(const Matrix3 *inertia, Vector3 momentum)
{
  Quaternion axes;
  Vector3    values, turned;

  matrix3_principal_axes(inertia, &axes, &values);
  turned = quaternion_rotate(quaternion_conjugate(axes), momentum);
  for (PetscInt d = 0; d < DIM; d++)
    turned.at[d] = values.at[d] > 1e-12 * values.at[DIM - 1] ? turned.at[d] / values.at[d] : 0.;
  return quaternion_rotate(axes, turned);
}

static Vector3 way_of(const Points *points, PetscInt p)
{
  return vector3_subtract(points->position[p], points->surface->began[p]);
}

/* `members` are its points. */
static void measure_zone(const Points *points, const PetscInt members[], Zone *zone)
{
  Vector3 momentum = vector3(0, 0, 0), turning = vector3(0, 0, 0);
  Matrix3 inertia = {{{0}}};

  zone->mass = 0.;
  zone->centre = vector3(0, 0, 0);
  for (PetscInt k = 0; k < zone->count; k++) {
    const PetscInt p = members[k];

    zone->mass += points->mass[p];
    zone->centre = vector3_add(zone->centre, vector3_scale(points->mass[p], points->surface->began[p]));
    momentum = vector3_add(momentum, vector3_scale(points->mass[p], way_of(points, p)));
  }
  zone->centre = vector3_scale(1. / zone->mass, zone->centre);
  zone->velocity = vector3_scale(1. / zone->mass, momentum);
  for (PetscInt k = 0; k < zone->count; k++) {
    const PetscInt  p = members[k];
    const Vector3   arm = vector3_subtract(points->surface->began[p], zone->centre);
    const PetscReal mass = points->mass[p], square = vector3_dot(arm, arm);

    turning = vector3_add(turning, vector3_scale(mass, vector3_cross(arm, way_of(points, p))));
    for (PetscInt i = 0; i < DIM; i++)
      for (PetscInt j = 0; j < DIM; j++)
        inertia.at[i][j] += mass * ((i == j ? square : 0.) - arm.at[i] * arm.at[j]);
  }
  zone->spin = spin_of(&inertia, turning);
}

/* Where a point of the zone goes. */
static Vector3 zone_way(Solid solid, const Zone *zone, PetscInt p)
{
  const Vector3 here = solid->points->surface->began[p];

  if (zone->carrier == solid->body_count)
    return vector3(0, 0, 0);
  if (zone->carrier >= 0) {
    const Vector3 local = rigid_apply_inverse(&solid->points->surface->placed[zone->carrier], here);

    return vector3_subtract(rigid_apply(&solid->placements[zone->carrier], local), here);
  }
  return vector3_add(zone->velocity, vector3_cross(zone->spin, vector3_subtract(here, zone->centre)));
}

/* What the points of a zone get, a body that carries them loses. */
static void move_zone(Solid solid, const Zone *zone, const PetscInt members[], PetscReal dt,
                      SolidMotion *half)
{
  Points         *points = solid->points;
  const PetscBool gives = half && zone->carrier >= 0 && zone->carrier < solid->body_count &&
                                  body_is_free(&solid->bodies[zone->carrier])
                              ? PETSC_TRUE
                              : PETSC_FALSE;

  for (PetscInt k = 0; k < zone->count; k++) {
    const PetscInt p = members[k];
    const Vector3  way = zone_way(solid, zone, p);
    const Vector3  change = vector3_scale(1. / dt, vector3_subtract(way, way_of(points, p)));

    points->position[p] = vector3_add(points->surface->began[p], way);
    if (!half)
      continue;
    half->points[p] = vector3_add(half->points[p], change);
    points->velocity[p] = vector3_add(points->velocity[p], change);
    if (gives)
      twist_push(&solid->twists[zone->carrier], &solid->mobilities[zone->carrier],
                 vector3_subtract(points->surface->began[p], points->surface->placed[zone->carrier].position),
                 vector3_scale(-points->mass[p], change));
  }
}

/* Points by zones; those that are alone are in none. */
static PetscErrorCode GatherZones(Solid solid, PetscInt *count, Zone **zones, PetscInt **members)
{
  const Points     *points = solid->points;
  const MeshSurface surface = points->surface;
  const PetscInt    items = points->count + solid->body_count + 1;
  PetscInt         *number, total = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(items, &number));
  PetscCall(PetscCalloc1(items, zones));
  PetscCall(PetscMalloc1(points->count, members));
  *count = 0;
  for (PetscInt n = 0; n < items; n++)
    number[n] = -1;
  for (PetscInt n = 0; n < items; n++) {
    const PetscInt root = zone_of(surface, n);

    if (root == n)
      continue;
    if (number[root] < 0) {
      number[root] = (*count)++;
      (*zones)[number[root]].carrier = -1;
    }
    number[n] = number[root];
  }
  for (PetscInt n = 0; n < items; n++) {
    if (number[n] < 0)
      continue;
    if (n < points->count)
      (*zones)[number[n]].count++;
    else {
      (*zones)[number[n]].carrier = n - points->count;
      (*zones)[number[n]].carriers++;
    }
  }
  for (PetscInt z = 0; z < *count; z++) {
    (*zones)[z].first = total;
    total += (*zones)[z].count;
    (*zones)[z].count = 0;
  }
  for (PetscInt p = 0; p < points->count; p++)
    if (number[p] >= 0) {
      Zone *zone = &(*zones)[number[p]];

      (*members)[zone->first + zone->count++] = p;
    }
  PetscCall(PetscFree(number));
  PetscFunctionReturn(0);
}

static PetscErrorCode MoveZones(Solid solid, PetscReal dt, SolidMotion *half)
{
  PetscInt count = 0, *members, clamped = 0;
  Zone    *zones;

  PetscFunctionBegin;
  PetscCall(GatherZones(solid, &count, &zones, &members));
  for (PetscInt z = 0; z < count; z++) {
    if (zones[z].carrier < 0)
      measure_zone(solid->points, &members[zones[z].first], &zones[z]);
    else
      clamped++;
    if (zones[z].carriers > 1)
      solid->report.is_tangled = PETSC_TRUE;
    move_zone(solid, &zones[z], &members[zones[z].first], dt, half);
  }
  solid->report.mesh_zones += count - clamped;
  solid->report.mesh_clamped += clamped;
  mesh_surface_follow_position(solid);
  PetscCall(PetscFree(zones));
  PetscCall(PetscFree(members));
  PetscFunctionReturn(0);
}

/* Where something meets; velocities change with the ways, but for a null `half`. */
static PetscErrorCode MakeZones(Solid solid, PetscReal dt, SolidMotion *half)
{
  MeshSurface surface = solid->points->surface;
  PetscInt    meetings = 1;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < solid->points->count + solid->body_count + 1; n++)
    surface->zone[n] = n;
  for (PetscInt k = 0; k < MOST_ZONINGS && meetings && !solid->report.is_tangled; k++) {
    PetscCall(FindMeetings(solid, dt, &meetings));
    for (PetscInt n = 0; n < meetings; n++)
      join_zone(solid, &surface->meetings[n]);
    if (meetings)
      PetscCall(MoveZones(solid, dt, half));
  }
  if (meetings)
    solid->report.is_tangled = PETSC_TRUE;
  PetscFunctionReturn(0);
}

PetscErrorCode MeshContactsSweep(Solid solid, PetscReal dt, SolidMotion *half)
{
  Points     *points = solid->points;
  SolidMotion ways = {half->points, NULL}, velocity = {points->velocity, solid->twists};
  PetscInt    meetings = 1;

  PetscFunctionBegin;
  PetscCall(PointsGatherSurface(solid, points->position));
  mesh_surface_follow_position(solid);
  find_ways(points, dt, half);
  for (PetscInt round = 0; round < ROUNDS && meetings; round++) {
    PetscCall(FindMeetings(solid, dt, &meetings));
    if (!meetings)
      break;
    solid->report.mesh_impulses += meetings;
    PetscCall(MeshContactsSet(solid, points->surface->began));
    mesh_contacts_solve(solid, &ways, &velocity);
    take_ways(solid, dt, half);
    find_ways(points, dt, half);
  }
  if (meetings)
    PetscCall(MakeZones(solid, dt, half));
  PetscCall(PointsExchange(solid, points->position)); /* copies have gone by velocities of their own */
  mesh_surface_follow_position(solid);
  mesh_surface_follow_velocity(solid, solid->twists, points->velocity);
  points->has_forces = PETSC_FALSE;
  PetscFunctionReturn(0);
}

PetscErrorCode MeshContactsKeepApart(Solid solid)
{
  Points *points = solid->points;

  PetscFunctionBegin;
  PetscCall(PointsGatherSurface(solid, points->position));
  mesh_surface_follow_position(solid);
  if (!(mesh_surface_moved(points, points->surface->began, points->position) > 0.))
    PetscFunctionReturn(0);
  PetscCall(MakeZones(solid, 1., NULL));
  points->has_forces = PETSC_FALSE;
  PetscFunctionReturn(0);
}
