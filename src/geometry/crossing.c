/* Whether triangles intersect, by the sides on which points lie: a test that shares nothing with continuous
   collision. Where round-off may have made a sign, they do if they touch. */
#include "geometry_impl.h"

#include <millrace/moving_triangles.h>

/* The sign of the volume of a tetrahedron; 0 within round-off (Shewchuk 1997, A of orient3d). */
static int side_of(Vector3 a, Vector3 b, Vector3 c, Vector3 d)
{
  const Vector3 u = vector3_subtract(a, d), v = vector3_subtract(b, d), w = vector3_subtract(c, d);
  PetscReal     volume = 0., size = 0.;

  for (int n = 0; n < DIM; n++) {
    const int       m = (n + 1) % DIM, k = (n + 2) % DIM;
    const PetscReal plus = v.at[m] * w.at[k], minus = v.at[k] * w.at[m];

    volume += u.at[n] * (plus - minus);
    size += PetscAbsReal(u.at[n]) * (PetscAbsReal(plus) + PetscAbsReal(minus));
  }
  if (PetscAbsReal(volume) <= 8e-16 * size)
    return 0;
  return volume > 0. ? 1 : -1;
}

/* An end is on the triangle, or the segment on one of its edges, within round-off. */
static PetscBool touches(const Vector3 ends[2], const Vector3 corners[3])
{
  PetscReal weights[4], least = PETSC_MAX_REAL, size = 0.;

  for (int n = 0; n < 2; n++) {
    const Vector3 at[4] = {ends[n], corners[0], corners[1], corners[2]};

    least = PetscMin(least, features_distance(FEATURES_POINT_TRIANGLE, at, weights));
  }
  for (int n = 0; n < 3; n++) {
    const Vector3 at[4] = {ends[0], ends[1], corners[n], corners[(n + 1) % 3]};

    least = PetscMin(least, features_distance(FEATURES_EDGE_EDGE, at, weights));
    for (int k = 0; k < 4; k++)
      size = PetscMax(size, vector3_norm(at[k]));
  }
  return least <= 1e-13 * size ? PETSC_TRUE : PETSC_FALSE;
}

/* Along an axis, by more than round-off. */
static PetscBool are_apart(const Vector3 ends[2], const Vector3 corners[3])
{
  for (int d = 0; d < DIM; d++) {
    const PetscReal low = PetscMin(ends[0].at[d], ends[1].at[d]),
                    high = PetscMax(ends[0].at[d], ends[1].at[d]);
    const PetscReal least = PetscMin(corners[0].at[d], PetscMin(corners[1].at[d], corners[2].at[d]));
    const PetscReal most = PetscMax(corners[0].at[d], PetscMax(corners[1].at[d], corners[2].at[d]));
    const PetscReal slack = 1e-12 * (PetscAbsReal(low) + PetscAbsReal(high));

    if (low > most + slack || least > high + slack)
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

PetscBool segment_meets_triangle(const Vector3 ends[2], const Vector3 corners[3])
{
  const int first = side_of(corners[0], corners[1], corners[2], ends[0]);
  const int last = side_of(corners[0], corners[1], corners[2], ends[1]);
  int       sides[3], sum = 0;
  PetscBool is_certain = first && last ? PETSC_TRUE : PETSC_FALSE;

  if (first * last > 0 || are_apart(ends, corners))
    return PETSC_FALSE;
  for (int n = 0; n < 3; n++) {
    sides[n] = side_of(ends[0], ends[1], corners[n], corners[(n + 1) % 3]);
    is_certain = is_certain && sides[n] ? PETSC_TRUE : PETSC_FALSE;
    sum += sides[n];
  }
  if (!is_certain)
    return touches(ends, corners);
  return sum == 3 || sum == -3 ? PETSC_TRUE : PETSC_FALSE;
}

static PetscBool is_corner_of(PetscInt point, const PetscInt triangle[3])
{
  return point == triangle[0] || point == triangle[1] || point == triangle[2] ? PETSC_TRUE : PETSC_FALSE;
}

/* An edge of `a` without a corner of `b` meets it. */
static PetscBool edges_meet(const Vector3 at[], const PetscInt a[3], const PetscInt b[3])
{
  const Vector3 corners[3] = {at[b[0]], at[b[1]], at[b[2]]};

  for (int n = 0; n < 3; n++) {
    const PetscInt from = a[n], to = a[(n + 1) % 3];
    const Vector3  ends[2] = {at[from], at[to]};

    if (!is_corner_of(from, b) && !is_corner_of(to, b) && segment_meets_triangle(ends, corners))
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* All corners of `b` are on one side of the plane of `a`. */
static PetscBool is_beside(const Vector3 at[], const PetscInt a[3], const PetscInt b[3])
{
  int sum = 0;

  for (int n = 0; n < 3; n++)
    sum += side_of(at[a[0]], at[a[1]], at[a[2]], at[b[n]]);
  return sum == 3 || sum == -3 ? PETSC_TRUE : PETSC_FALSE;
}

PetscBool triangles_meet(const Vector3 at[], const PetscInt a[3], const PetscInt b[3])
{
  if (is_beside(at, a, b) || is_beside(at, b, a))
    return PETSC_FALSE;
  return edges_meet(at, a, b) || edges_meet(at, b, a) ? PETSC_TRUE : PETSC_FALSE;
}
