/* Strains of elements as frames have them: the largest principal logarithmic one, |ln s|, of the way from the
   corners at rest to those of now. */
#include "points.h"

#include <millrace/tensor.h>

/* Beyond, the element is flat. */
static const PetscReal least_stretch = 1e-6;

/* Sides from the first corner; of triangles with the unit normal as the third, whose stretch is 1. */
static Matrix3 sides_of(const PetscInt corners[], PetscInt count, const Vector3 x[])
{
  Vector3 sides[DIM];
  Matrix3 columns;

  for (PetscInt c = 1; c < count; c++)
    sides[c - 1] = vector3_subtract(x[corners[c]], x[corners[0]]);
  if (count == 3) {
    const Vector3 normal = vector3_cross(sides[0], sides[1]);

    sides[2] = vector3_scale(1. / vector3_norm(normal), normal);
  }
  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      columns.at[i][j] = sides[j].at[i];
  return columns;
}

static PetscReal element_strain(const PetscInt corners[], PetscInt count, const Vector3 x[],
                                const Vector3 rest[])
{
  PetscReal largest = 0.;
  Matrix3   now, start, gradient;
  SignedSvd parts;

  if (count == 2)
    return PetscAbsReal(PetscLogReal(vector3_norm(vector3_subtract(x[corners[1]], x[corners[0]])) /
                                     vector3_norm(vector3_subtract(rest[corners[1]], rest[corners[0]]))));
  now = sides_of(corners, count, x);
  start = sides_of(corners, count, rest);
  start = matrix3_inverse(&start);
  gradient = matrix3_multiply(&now, &start);
  parts = matrix3_svd(&gradient);
  for (PetscInt i = 0; i < DIM; i++)
    largest = PetscMax(largest,
                       PetscAbsReal(PetscLogReal(PetscMax(least_stretch, PetscAbsReal(parts.values.at[i])))));
  return largest;
}

void mesh_strains(const Points *points, const DeformableMesh *mesh, PetscReal strains[])
{
  const PetscInt count = mesh_corners(mesh->mesh->kind);

  for (PetscInt e = 0; e < mesh->mesh->element_count; e++)
    strains[e] =
        element_strain(&mesh->elements[mesh->mesh->nodes * e], count, points->position, points->rest);
}
