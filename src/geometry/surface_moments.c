/* Volume, centre and inertia of what triangles enclose, and of the shell they are. */
#include "geometry_impl.h"

/* The integrals of 1, x and x x' over a body. */
typedef struct {
  PetscReal volume;
  Vector3   first;
  PetscReal second[DIM][DIM];
} Integrals;

/* Adds weight (a a' + b b' + c c' + s s') with s = a + b + c: a triangle of area A has the weight A/12, a
   tetrahedron of volume V with its fourth corner at the origin V/20. */
static void add_second(Integrals *integrals, PetscReal weight, const Triangle *triangle, Vector3 sum)
{
  for (int i = 0; i < DIM; i++) {
    for (int j = 0; j < DIM; j++) {
      PetscReal products = sum.at[i] * sum.at[j];

      for (int c = 0; c < 3; c++)
        products += triangle->corner[c].at[i] * triangle->corner[c].at[j];
      integrals->second[i][j] += weight * products;
    }
  }
}

static Triangle triangle_moved(const Triangle *triangle, Vector3 origin)
{
  return (Triangle){{vector3_subtract(triangle->corner[0], origin),
                     vector3_subtract(triangle->corner[1], origin),
                     vector3_subtract(triangle->corner[2], origin)}};
}

static Vector3 corner_sum(const Triangle *triangle)
{
  return vector3_add(triangle->corner[0], vector3_add(triangle->corner[1], triangle->corner[2]));
}

/* From integrals about `origin`. */
static Moments moments_of(Integrals integrals, Vector3 origin)
{
  Moments   moments = {.volume = integrals.volume};
  PetscReal trace = 0;

  if (moments.volume != 0)
    moments.centre = vector3_scale(1 / moments.volume, integrals.first);
  for (int i = 0; i < DIM; i++) {
    for (int j = 0; j < DIM; j++)
      integrals.second[i][j] -= moments.volume * moments.centre.at[i] * moments.centre.at[j];
    trace += integrals.second[i][i];
  }
  for (int i = 0; i < DIM; i++) {
    for (int j = 0; j < DIM; j++)
      moments.inertia[i][j] = (i == j ? trace : 0) - integrals.second[i][j];
  }
  moments.centre = vector3_add(moments.centre, origin);
  return moments;
}

/* The divergence theorem turns the integrals over the solid into sums over the tetrahedra that the triangles
   span with any fixed point; the middle of the box loses fewest digits. */
Moments triangles_moments(PetscInt count, const Triangle triangles[], Vector3 middle)
{
  Integrals integrals = {.volume = 0};

  for (PetscInt n = 0; n < count; n++) {
    const Triangle  moved = triangle_moved(&triangles[n], middle);
    const Vector3   sum = corner_sum(&moved);
    const PetscReal volume =
        vector3_dot(moved.corner[0], vector3_cross(moved.corner[1], moved.corner[2])) / 6;

    integrals.volume += volume;
    integrals.first = vector3_add(integrals.first, vector3_scale(volume / 4, sum));
    add_second(&integrals, volume / 20, &moved, sum);
  }
  return moments_of(integrals, middle);
}

/* Across a flat sheet of thickness t, the square of the distance from its middle has the mean t^2/12. */
static void add_thickness(Integrals *integrals, PetscReal volume, Vector3 normal, PetscReal thickness)
{
  for (int i = 0; i < DIM; i++) {
    for (int j = 0; j < DIM; j++)
      integrals->second[i][j] += volume * thickness * thickness / 12 * normal.at[i] * normal.at[j];
  }
}

Moments triangles_shell_moments(PetscInt count, const Triangle triangles[], Vector3 middle,
                                PetscReal thickness)
{
  Integrals integrals = {.volume = 0};

  for (PetscInt n = 0; n < count; n++) {
    const Triangle  moved = triangle_moved(&triangles[n], middle);
    const Vector3   sum = corner_sum(&moved);
    const Vector3   across = vector3_cross(vector3_subtract(moved.corner[1], moved.corner[0]),
                                           vector3_subtract(moved.corner[2], moved.corner[0]));
    const PetscReal norm = vector3_norm(across), volume = 0.5 * norm * thickness;

    if (!(norm > 0))
      continue;
    integrals.volume += volume;
    integrals.first = vector3_add(integrals.first, vector3_scale(volume / 3, sum));
    add_second(&integrals, volume / 12, &moved, sum);
    add_thickness(&integrals, volume, vector3_scale(1 / norm, across), thickness);
  }
  return moments_of(integrals, middle);
}
