/* Gradients of the weights of nodes. With barycentric coordinates L: of a linear element grad L_i; of a
   quadratic one (4 L_i - 1) grad L_i of corner i and 4 (L_i grad L_j + L_j grad L_i) of the middle of edge
   ij. */
#include "element_set.h"

#include <millrace/mesh.h>

/* grad L of tetrahedra: rows of D_m^-1, and minus their sum; returns the volume. */
static PetscReal solid_gradients(const PetscInt nodes[], const Vector3 rest[], Vector3 b[4])
{
  Matrix3 edges, inverse;

  for (PetscInt c = 0; c < DIM; c++)
    for (PetscInt d = 0; d < DIM; d++)
      edges.at[d][c] = rest[nodes[c + 1]].at[d] - rest[nodes[0]].at[d];
  inverse = matrix3_inverse(&edges);
  for (PetscInt c = 0; c < DIM; c++)
    b[c + 1] = vector3(inverse.at[c][X], inverse.at[c][Y], inverse.at[c][Z]);
  b[0] = vector3_scale(-1., vector3_add(b[1], vector3_add(b[2], b[3])));
  return matrix3_determinant(&edges) / 6.;
}

/* Of triangles, in their plane; returns the area. */
static PetscReal flat_gradients(const PetscInt nodes[], const Vector3 rest[], Vector3 b[4], Vector3 *normal)
{
  const Vector3   e = vector3_subtract(rest[nodes[1]], rest[nodes[0]]);
  const Vector3   g = vector3_subtract(rest[nodes[2]], rest[nodes[0]]), area = vector3_cross(e, g);
  const PetscReal twice = vector3_norm(area);

  *normal = vector3_scale(1. / twice, area);
  b[1] = vector3_scale(1. / twice, vector3_cross(g, *normal));
  b[2] = vector3_scale(1. / twice, vector3_cross(*normal, e));
  b[0] = vector3_scale(-1., vector3_add(b[1], b[2]));
  b[3] = vector3(0, 0, 0);
  return 0.5 * twice;
}

static void set_linear(PetscInt corners, const Vector3 b[4], PointBatch *batch)
{
  for (PetscInt c = 0; c < corners; c++)
    for (PetscInt d = 0; d < DIM; d++)
      for (PetscInt q = 0; q < LANES; q++)
        batch->slopes[c][d][q] = b[c].at[d];
}

static void set_quadratic(PetscInt corners, PetscInt lane, const PetscReal at[4], const Vector3 b[4],
                          PointBatch *batch)
{
  const MeshKind kind = corners == 4 ? MESH_TETRAHEDRA : MESH_TRIANGLES;

  for (PetscInt d = 0; d < DIM; d++) {
    for (PetscInt c = 0; c < corners; c++)
      batch->slopes[c][d][lane] = (4. * at[c] - 1.) * b[c].at[d];
    for (PetscInt k = 0; k < mesh_edges(kind); k++) {
      const PetscInt *ends = mesh_edge(kind, k);

      batch->slopes[corners + k][d][lane] =
          4. * (at[ends[0]] * b[ends[1]].at[d] + at[ends[1]] * b[ends[0]].at[d]);
    }
  }
}

/* The rules have a point near each corner: (5 - sqrt 5) / 20 from the others in tetrahedra, 1/6 in triangles.
 */
PetscInt element_slopes(const ElementList *list, PetscInt element, const Vector3 rest[], PointBatch *batch)
{
  const PetscInt *nodes = &list->elements[list->nodes * element];
  const PetscInt  corners = list->section == SECTION_SOLID ? 4 : 3;
  const PetscReal far = corners == 4 ? (5. - PetscSqrtReal(5.)) / 20. : 1. / 6.;
  const PetscInt  points = list->nodes > corners ? corners : 1;
  PetscReal       volume;
  Vector3         b[4];

  *batch = (PointBatch){.normal = vector3(0, 0, 0)};
  volume = corners == 4 ? solid_gradients(nodes, rest, b)
                        : list->thickness * flat_gradients(nodes, rest, b, &batch->normal);
  for (PetscInt a = 0; a < list->nodes; a++)
    batch->nodes[a] = (int)nodes[a];
  if (points == 1)
    set_linear(corners, b, batch);
  for (PetscInt q = 0; q < LANES; q++) {
    PetscReal at[4] = {far, far, far, far};

    at[q % corners] = 1. - (PetscReal)(corners - 1) * far;
    if (points > 1)
      set_quadratic(corners, q, at, b, batch);
    batch->volume[q] = q < points ? volume / (PetscReal)points : 0.;
    for (PetscInt i = 0; i < NINE; i++)
      batch->gradient[i][q] = i % (DIM + 1) ? 0. : 1.;
  }
  return points;
}
