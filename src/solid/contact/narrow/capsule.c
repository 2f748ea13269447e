/* A capsule against a box: the box against the segment inside the capsule, less the radius.

   Outside, the squared distance from the point at s of the segment to the box,
     sum_d max(|x_d(s)| - half_d, 0)^2,
   is convex and its slope is linear between the at most six s where the segment crosses a face's plane: the
   least is found by looking at the slope at these. Where the segment runs along the face or edge that is
   nearest, both ends of that stretch are touches. A segment that enters the box leaves it by the shortest way
   across a face or across an edge. */
#include "touch_kinds.h"

#define LYING_SINE 0.25   /* a capsule that leans less than this on a face touches at both ends */
#define ALONG_COSINE 0.97 /* the same for an edge */

static PetscReal excess(PetscReal value, PetscReal half)
{
  return value > half ? value - half : value < -half ? value + half : 0;
}

static Vector3 outside_of(Vector3 point, Vector3 half)
{
  return vector3(excess(point.at[X], half.at[X]), excess(point.at[Y], half.at[Y]),
                 excess(point.at[Z], half.at[Z]));
}

PetscReal segment_nearest_to_box(Vector3 from, Vector3 direction, Vector3 half, Vector3 *outside)
{
  PetscReal low = 0, high = 1, slope_low, slope_high, s;

  slope_low = vector3_dot(direction, outside_of(from, half));
  slope_high = vector3_dot(direction, outside_of(vector3_add(from, direction), half));
  if (slope_low < 0 && slope_high > 0) {
    for (PetscInt k = 0; k < 2 * DIM; k++) {
      const PetscInt  d = k / 2;
      const PetscReal t = ((k & 1 ? half.at[d] : -half.at[d]) - from.at[d]) / direction.at[d];

      if (t > low && t < high) {
        const PetscReal slope = vector3_dot(direction, outside_of(vector3_along(from, t, direction), half));

        if (slope <= 0) {
          low = t;
          slope_low = slope;
        }
        if (slope >= 0) {
          high = t;
          slope_high = slope;
        }
      }
    }
    s = slope_high > slope_low ? low + (high - low) * slope_low / (slope_low - slope_high) : low;
  } else {
    s = slope_low < 0 ? 1 : 0;
  }
  *outside = outside_of(vector3_along(from, s, direction), half);
  return s;
}

/* The segment of a capsule in the frame of a box. */
typedef struct {
  const PlacedForm *box;
  Vector3           half; /* of the box */
  Vector3           from, direction, unit;
  PetscReal         radius;
} Rod;

static Vector3 rod_point(const Rod *rod, PetscReal s)
{
  return vector3_along(rod->from, s, rod->direction);
}

/* The touch of the ball about a point that lies `distance` from the box along `out`. */
static Touch ball_touch(const Rod *rod, Vector3 point, PetscReal distance, Vector3 out)
{
  const PetscReal gap = distance - rod->radius;
  const Vector3   middle = vector3_along(point, -rod->radius - 0.5 * gap, out);

  return (Touch){placed_to_world(rod->box, middle), placed_turn_out(rod->box, vector3_scale(-1, out)), gap,
                 0};
}

/* Where the segment is between the planes of the faces across all axes but those of `beyond`. */
static void stretch_within(const Rod *rod, const PetscBool beyond[DIM], PetscReal stretch[2])
{
  stretch[0] = 0;
  stretch[1] = 1;
  for (PetscInt d = X; d < DIM; d++) {
    const PetscReal s = (-rod->half.at[d] - rod->from.at[d]) / rod->direction.at[d];
    const PetscReal t = (rod->half.at[d] - rod->from.at[d]) / rod->direction.at[d];

    if (beyond[d] || rod->direction.at[d] == 0)
      continue;
    stretch[0] = PetscMax(stretch[0], PetscMin(s, t));
    stretch[1] = PetscMin(stretch[1], PetscMax(s, t));
  }
}

/* Whether the segment runs along the face or edge outside of which it is. */
static PetscBool runs_along(const Rod *rod, const PetscBool beyond[DIM], Vector3 out)
{
  const PetscInt count = beyond[X] + beyond[Y] + beyond[Z];

  if (count == 1)
    return PetscAbsReal(vector3_dot(rod->unit, out)) < LYING_SINE ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt d = X; d < DIM; d++)
    if (count == 2 && !beyond[d] && PetscAbsReal(rod->unit.at[d]) > ALONG_COSINE)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

static PetscInt touch_outside(const Rod *rod, PetscReal nearest_at, Vector3 outside, PetscReal reach,
                              Touch touches[])
{
  const PetscReal distance = vector3_norm(outside);
  const Vector3   out = vector3_scale(1 / distance, outside);
  const PetscBool beyond[DIM] = {outside.at[X] != 0, outside.at[Y] != 0, outside.at[Z] != 0};
  PetscReal       stretch[2], least = PETSC_INFINITY;
  PetscInt        count = 0;

  if (runs_along(rod, beyond, out)) {
    stretch_within(rod, beyond, stretch);
    for (uint32_t end = 0; end < 2; end++) {
      const Vector3   point = rod_point(rod, stretch[end]), apart = outside_of(point, rod->half);
      const PetscReal away = vector3_norm(apart);

      if (away - rod->radius > reach || away == 0)
        continue;
      touches[count] = ball_touch(rod, point, away, vector3_scale(1 / away, apart));
      touches[count++].feature = 1 + end;
      least = PetscMin(least, away);
    }
  }
  if (distance < least - 1e-6 * rod->radius) {
    touches[count] = ball_touch(rod, rod_point(rod, nearest_at), distance, out);
    touches[count].feature = count ? 3 : 0;
    count++;
  }
  return count;
}

/* Across a face: the ends of what is above it, the deeper one first. */
static PetscInt touch_through_face(const Rod *rod, Vector3 out, PetscInt axis, PetscReal reach,
                                   Touch touches[])
{
  const PetscBool beyond[DIM] = {axis == X, axis == Y, axis == Z};
  const PetscBool lying = PetscAbsReal(rod->unit.at[axis]) < LYING_SINE ? PETSC_TRUE : PETSC_FALSE;
  const uint32_t  deeper = vector3_dot(rod->direction, out) < 0;
  PetscReal       stretch[2];
  PetscInt        count = 0;

  stretch_within(rod, beyond, stretch);
  for (uint32_t k = 0; k < (lying ? 2 : 1); k++) {
    const uint32_t  end = k ? 1 - deeper : deeper;
    const Vector3   point = rod_point(rod, stretch[end]);
    const PetscReal distance = vector3_dot(point, out) - rod->half.at[axis];

    if (distance - rod->radius > reach)
      continue;
    touches[count] = ball_touch(rod, point, distance, out);
    touches[count++].feature = 1 + end;
  }
  return count;
}

/* Across an edge along `axis`, which is the one that lies farthest along `out`. */
static PetscInt touch_through_edge(const Rod *rod, Vector3 out, PetscInt axis, Touch *touch)
{
  const Vector3 across = vector3_cross(out, vector3(axis == X, axis == Y, axis == Z));
  Vector3       corner, point;
  PetscReal     s;

  for (PetscInt d = X; d < DIM; d++)
    corner.at[d] = d == axis ? 0 : out.at[d] < 0 ? -rod->half.at[d] : rod->half.at[d];
  s = vector3_dot(vector3_subtract(corner, rod->from), across) / vector3_dot(rod->direction, across);
  point = rod_point(rod, PetscMin(PetscMax(s, 0), 1));
  *touch = ball_touch(rod, point, vector3_dot(vector3_subtract(point, corner), out), out);
  touch->feature = (uint32_t)(4 + axis);
  return 1;
}

/* Tries to leave along `out`, which is improved if that way is shorter. */
static PetscBool leaves_sooner(const Rod *rod, Vector3 out, PetscReal *shortest)
{
  const PetscReal first = vector3_dot(rod->from, out), last = first + vector3_dot(rod->direction, out);
  const PetscReal way = PetscAbsReal(out.at[X]) * rod->half.at[X] +
                        PetscAbsReal(out.at[Y]) * rod->half.at[Y] +
                        PetscAbsReal(out.at[Z]) * rod->half.at[Z] - PetscMin(first, last);

  if (way >= *shortest)
    return PETSC_FALSE;
  *shortest = way;
  return PETSC_TRUE;
}

static PetscInt touch_inside(const Rod *rod, PetscReal reach, Touch touches[])
{
  PetscReal shortest = PETSC_INFINITY;
  Vector3   out = vector3(0, 0, 1), try_out;
  PetscInt  axis = Z;
  PetscBool through_edge = PETSC_FALSE;

  for (PetscInt k = 0; k < 2 * DIM; k++) {
    const PetscInt  d = k / 2;
    const PetscReal sign = k & 1 ? -1 : 1;

    try_out = vector3(sign * (d == X), sign * (d == Y), sign * (d == Z));
    if (leaves_sooner(rod, try_out, &shortest)) {
      out = try_out;
      axis = d;
    }
  }
  shortest *= 0.98; /* faces are preferred */
  for (PetscInt k = 0; k < 2 * DIM; k++) {
    const PetscInt  d = k / 2;
    const PetscReal sign = k & 1 ? -1 : 1;
    const Vector3   crossed = vector3_cross(rod->unit, vector3(d == X, d == Y, d == Z));
    const PetscReal sine = vector3_norm(crossed);

    if (sine < 1e-3)
      continue;
    try_out = vector3_scale(sign / sine, crossed);
    if (leaves_sooner(rod, try_out, &shortest)) {
      out = try_out;
      axis = d;
      through_edge = PETSC_TRUE;
    }
  }
  if (through_edge)
    return touch_through_edge(rod, out, axis, touches);
  return touch_through_face(rod, out, axis, reach, touches);
}

PetscInt touch_capsule_box(const Form *a, const RigidTransform *at_a, const Form *b,
                           const RigidTransform *at_b, PetscReal reach, Touch touches[])
{
  const PlacedForm capsule = place(a, at_a), box = place(b, at_b);
  const Vector3    unit = placed_turn_in(&box, capsule.axes[Z]);
  const PetscReal  half = a->half.at[Z];
  const Rod        rod = {&box,
                          b->half,
                          vector3_along(placed_to_local(&box, capsule.position), -half, unit),
                          vector3_scale(2 * half, unit),
                          unit,
                          a->radius};
  Vector3          outside;
  const PetscReal  s = segment_nearest_to_box(rod.from, rod.direction, rod.half, &outside);
  const PetscReal  distance = vector3_norm(outside);

  if (distance - a->radius > reach)
    return 0;
  /* nearer than this the direction is round-off */
  if (distance > 1e-12 * (a->radius + half))
    return touch_outside(&rod, s, outside, reach, touches);
  return touch_inside(&rod, reach, touches);
}
