/* A cross-section of triangles as a prism: what a body is in two dimensions. */
#include "geometry_impl.h"

#include <millrace/lattice.h>

/* On the way from a corner below the plane to one that is not: the same bits for both triangles. */
static Vector3 piercing(Vector3 below, Vector3 above, PetscReal z)
{
  const PetscReal part = (z - below.at[Z]) / (above.at[Z] - below.at[Z]);

  return vector3_add(below, vector3_scale(part, vector3_subtract(above, below)));
}

/* Where the outline of a triangle goes down through the plane and where up; false if it does not. */
static PetscBool slice_triangle(const Triangles *triangles, PetscInt t, PetscReal z, Vector3 *down,
                                Vector3 *up)
{
  PetscBool crosses = PETSC_FALSE;

  for (int n = 0; n < 3; n++) {
    const Vector3 from = triangles->vertices[triangles->triangles[t][n]];
    const Vector3 to = triangles->vertices[triangles->triangles[t][(n + 1) % 3]];

    if (from.at[Z] < z && to.at[Z] >= z) {
      *up = piercing(from, to, z);
      crosses = PETSC_TRUE;
    }
    if (from.at[Z] >= z && to.at[Z] < z)
      *down = piercing(to, from, z);
  }
  return crosses;
}

/* The outside of a surface that faces outwards is on the right of down -> up, seen from above. */
static void add_wall(Vector3 down, Vector3 up, PetscReal z, Prism *prism)
{
  static const PetscInt corners[2][3] = {{0, 1, 2}, {0, 2, 3}};
  const Vector3         from[4] = {down, up, up, down};
  const PetscInt        first = prism->vertex_count;

  for (int n = 0; n < 4; n++)
    prism->vertices[prism->vertex_count++] = vector3(from[n].at[X], from[n].at[Y], z + (n < 2 ? -0.5 : 0.5));
  for (int n = 0; n < 2; n++, prism->triangle_count++)
    for (int c = 0; c < 3; c++)
      prism->triangles[prism->triangle_count][c] = first + corners[n][c];
}

PetscErrorCode TrianglesSlice(const Triangles *triangles, PetscReal z, Prism *prism)
{
  PetscInt count = 0;
  Vector3  down = {{0}}, up = {{0}};

  PetscFunctionBegin;
  *prism = (Prism){0};
  for (PetscInt t = 0; t < triangles->triangle_count; t++)
    count += slice_triangle(triangles, t, z, &down, &up) ? 1 : 0;
  PetscCall(PetscMalloc2(4 * count, &prism->vertices, 2 * count, &prism->triangles));
  for (PetscInt t = 0; t < triangles->triangle_count; t++)
    if (slice_triangle(triangles, t, z, &down, &up))
      add_wall(down, up, z, prism);
  PetscFunctionReturn(0);
}
