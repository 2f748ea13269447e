/* Points against triangles and edges against edges: distances, and continuous collision by additive
   advancement (Li, Kaufman, Jiang 2021, Codimensional incremental potential contact). No point of one feature
   moves faster against a point of the other than the fastest pair of their corners, l: at distance d, for the
   time (d - s) / l they do not come nearer than s. Such steps, each nine tenths of what is left, are added
   until a tenth of s (of d, if s is 0) is left. No polynomial is solved, and parallel edges or flat triangles
   are no special cases. */
#include "geometry_impl.h"

#include <millrace/moving_triangles.h>

static PetscReal clamp(PetscReal value)
{
  return value < 0. ? 0. : value > 1. ? 1. : value;
}

/* Where between two points another is nearest; 0 if they are one. */
static PetscReal nearest_on_edge(Vector3 from, Vector3 to, Vector3 point)
{
  const Vector3   along = vector3_subtract(to, from);
  const PetscReal square = vector3_dot(along, along);

  return square > 0. ? clamp(vector3_dot(vector3_subtract(point, from), along) / square) : 0.;
}

static Vector3 between(Vector3 from, Vector3 to, PetscReal part)
{
  return vector3_add(vector3_scale(1. - part, from), vector3_scale(part, to));
}

static PetscReal square_of(Vector3 a)
{
  return vector3_dot(a, a);
}

/* The nearest place among those of an edge and `least` before it. */
static PetscReal try_edge(const Vector3 at[4], int a, int b, PetscReal least, PetscReal weights[4])
{
  const PetscReal part = nearest_on_edge(at[a], at[b], at[0]);
  const PetscReal square = square_of(vector3_subtract(at[0], between(at[a], at[b], part)));

  if (square >= least)
    return least;
  weights[1] = weights[2] = weights[3] = 0.;
  weights[a] = part - 1.;
  weights[b] = -part;
  return square;
}

static PetscReal point_triangle(const Vector3 at[4], PetscReal weights[4])
{
  const Vector3   u = vector3_subtract(at[2], at[1]), v = vector3_subtract(at[3], at[1]);
  const Vector3   arm = vector3_subtract(at[0], at[1]), normal = vector3_cross(u, v);
  const PetscReal area = square_of(normal);
  PetscReal       least = PETSC_MAX_REAL;

  weights[0] = 1.;
  if (area > 0.) {
    const PetscReal b = vector3_dot(vector3_cross(arm, v), normal) / area;
    const PetscReal c = vector3_dot(vector3_cross(u, arm), normal) / area;

    if (b >= 0. && c >= 0. && b + c <= 1.) {
      weights[1] = b + c - 1.;
      weights[2] = -b;
      weights[3] = -c;
      least = square_of(vector3_subtract(arm, vector3_add(vector3_scale(b, u), vector3_scale(c, v))));
      if (area > 1e-8 * square_of(u) * square_of(v)) /* else b and c are not exact */
        return PetscSqrtReal(least);
    }
  }
  least = try_edge(at, 1, 2, least, weights);
  least = try_edge(at, 2, 3, least, weights);
  return PetscSqrtReal(try_edge(at, 3, 1, least, weights));
}

static PetscReal try_parts(const Vector3 at[4], PetscReal s, PetscReal t, PetscReal least,
                           PetscReal weights[4])
{
  const PetscReal square = square_of(vector3_subtract(between(at[0], at[1], s), between(at[2], at[3], t)));

  if (square >= least)
    return least;
  weights[0] = 1. - s;
  weights[1] = s;
  weights[2] = t - 1.;
  weights[3] = -t;
  return square;
}

/* Within both edges where the lines are nearest; else at an end of one of them, which is tried besides where
   the edges are nearly parallel. */
static PetscReal edge_edge(const Vector3 at[4], PetscReal weights[4])
{
  const Vector3   u = vector3_subtract(at[1], at[0]), v = vector3_subtract(at[3], at[2]);
  const Vector3   arm = vector3_subtract(at[2], at[0]), normal = vector3_cross(u, v);
  const PetscReal area = square_of(normal);
  PetscReal       least = PETSC_MAX_REAL;

  if (area > 0.) {
    const PetscReal s = vector3_dot(vector3_cross(arm, v), normal) / area;
    const PetscReal t = vector3_dot(vector3_cross(arm, u), normal) / area;

    if (s >= 0. && s <= 1. && t >= 0. && t <= 1.) {
      least = try_parts(at, s, t, least, weights);
      if (area > 1e-8 * square_of(u) * square_of(v))
        return PetscSqrtReal(least);
    }
  }
  least = try_parts(at, 0., nearest_on_edge(at[2], at[3], at[0]), least, weights);
  least = try_parts(at, 1., nearest_on_edge(at[2], at[3], at[1]), least, weights);
  least = try_parts(at, nearest_on_edge(at[0], at[1], at[2]), 0., least, weights);
  return PetscSqrtReal(try_parts(at, nearest_on_edge(at[0], at[1], at[3]), 1., least, weights));
}

PetscReal features_distance(FeatureKind kind, const Vector3 at[4], PetscReal weights[4])
{
  return kind == FEATURES_POINT_TRIANGLE ? point_triangle(at, weights) : edge_edge(at, weights);
}

/* Of a place on the first feature against one on the second, at most. */
static PetscReal fastest(FeatureKind kind, const Vector3 way[4])
{
  const int first = kind == FEATURES_POINT_TRIANGLE ? 1 : 2;
  PetscReal most = 0.;

  for (int a = 0; a < first; a++)
    for (int b = first; b < 4; b++)
      most = PetscMax(most, square_of(vector3_subtract(way[a], way[b])));
  return PetscSqrtReal(most);
}

PetscReal features_free_time(FeatureKind kind, const Vector3 from[4], const Vector3 to[4],
                             PetscReal separation)
{
  enum { MOST_STEPS = 2000 };
  PetscReal       weights[4], time = 0.;
  const PetscReal first = features_distance(kind, from, weights);
  const PetscReal kept = PetscMin(separation, 0.5 * first), enough = 0.1 * (kept > 0. ? kept : first);
  PetscReal       gap = first - kept, speed;
  Vector3         way[4], at[4];

  for (int n = 0; n < 4; n++)
    way[n] = vector3_subtract(to[n], from[n]);
  speed = fastest(kind, way);
  if (!(gap > 0.))
    return speed > 0. ? 0. : 1.;
  for (PetscInt step = 0; step < MOST_STEPS; step++) {
    const PetscReal next = time + 0.9 * gap / speed; /* infinite if nothing moves */

    if (next >= 1.)
      return 1.;
    for (int n = 0; n < 4; n++)
      at[n] = vector3_add(from[n], vector3_scale(next, way[n]));
    gap = features_distance(kind, at, weights) - kept;
    if (step > 0 && gap < enough)
      return time;
    time = next;
  }
  return time;
}
