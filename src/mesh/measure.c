/* Lengths, areas, volumes, angles and shapes of elements.

   An element is the image x(L) = sum N_a(L) x_a of its barycentric coordinates L; N_i = L_i for linear
   elements, N_i = L_i (2 L_i - 1) and 4 L_i L_j for quadratic ones. Its measure is the integral of the
   determinant of dx/dL_k - dx/dL_0, a polynomial of degree 3 (tetrahedra) or 2 (triangles in a plane), for
   which the rules below are exact. */
#include "mesh_impl.h"

/* dx/dL_k at a point of the element. */
static void derivatives(Mesh mesh, PetscInt element, const PetscReal at[], Vector3 along[])
{
  const PetscInt *nodes = mesh_element(mesh, element), corners = mesh_corners(mesh->kind);

  for (PetscInt n = 0; n < corners; n++)
    along[n] = vector3_scale(mesh->order == 1 ? 1 : 4 * at[n] - 1, mesh->vertices[nodes[n]]);
  for (PetscInt e = 0; mesh->order > 1 && e < mesh_edges(mesh->kind); e++) {
    const PetscInt *ends = mesh_edge(mesh->kind, e);
    const Vector3   middle = mesh->vertices[nodes[corners + e]];

    along[ends[0]] = vector3_add(along[ends[0]], vector3_scale(4 * at[ends[1]], middle));
    along[ends[1]] = vector3_add(along[ends[1]], vector3_scale(4 * at[ends[0]], middle));
  }
}

/* The determinant of a tetrahedron, the normal of a triangle with twice the area, the tangent of a segment
   with the length: at one point. */
static Vector3 stretch_at(Mesh mesh, PetscInt element, const PetscReal at[])
{
  Vector3 along[MESH_MAX_CORNERS];

  derivatives(mesh, element, at, along);
  for (PetscInt n = mesh_corners(mesh->kind) - 1; n > 0; n--)
    along[n] = vector3_subtract(along[n], along[0]);
  if (mesh->kind == MESH_SEGMENTS)
    return along[1];
  if (mesh->kind == MESH_TRIANGLES)
    return vector3_cross(along[1], along[2]);
  return vector3(0, 0, vector3_dot(along[1], vector3_cross(along[2], along[3])));
}

typedef struct {
  PetscReal weight, at[MESH_MAX_CORNERS];
} QuadraturePoint;

static const QuadraturePoint middles[] = {
    {1. / 3, {0.5, 0.5, 0, 0}}, {1. / 3, {0, 0.5, 0.5, 0}}, {1. / 3, {0.5, 0, 0.5, 0}}, {0, {0}}};
static const QuadraturePoint gauss[] = {{0.5, {0.21132486540518713, 0.78867513459481287, 0, 0}},
                                        {0.5, {0.78867513459481287, 0.21132486540518713, 0, 0}},
                                        {0, {0}}};
static const QuadraturePoint five_points[] = {
    {-0.8, {0.25, 0.25, 0.25, 0.25}},      {0.45, {0.5, 1. / 6, 1. / 6, 1. / 6}},
    {0.45, {1. / 6, 0.5, 1. / 6, 1. / 6}}, {0.45, {1. / 6, 1. / 6, 0.5, 1. / 6}},
    {0.45, {1. / 6, 1. / 6, 1. / 6, 0.5}}, {0, {0}}};
static const QuadraturePoint middle_only[] = {{1, {0.25, 0.25, 0.25, 0.25}}, {0, {0}}};

static const QuadraturePoint *quadrature(Mesh mesh)
{
  const QuadraturePoint *const rules[] = {middle_only, gauss, middles, five_points};

  return mesh->order == 1 ? middle_only : rules[mesh->kind];
}

PetscReal mesh_element_measure(Mesh mesh, PetscInt element)
{
  const PetscReal share[] = {1, 1, 1. / 2, 1. / 6}; /* of the unit cube */
  PetscReal       sum = 0;

  if (mesh->kind == MESH_POINTS)
    return 1;
  for (const QuadraturePoint *point = quadrature(mesh); point->weight; point++) {
    const Vector3 stretch = stretch_at(mesh, element, point->at);

    sum += point->weight * (mesh->kind == MESH_TETRAHEDRA ? stretch.at[Z] : vector3_norm(stretch));
  }
  return share[mesh->kind] * sum;
}

PetscReal mesh_planar_area(Mesh mesh, PetscInt element)
{
  PetscReal sum = 0;

  for (const QuadraturePoint *point = quadrature(mesh); point->weight; point++)
    sum += point->weight * stretch_at(mesh, element, point->at).at[Z];
  return sum / 2;
}

PetscReal mesh_measure(Mesh mesh)
{
  PetscReal sum = 0;

  for (PetscInt n = 0; n < mesh->element_count; n++)
    sum += mesh_element_measure(mesh, n);
  return sum;
}

PetscReal mesh_smallest_stretch(Mesh mesh, PetscInt element)
{
  PetscReal smallest = PETSC_INFINITY;

  for (PetscInt n = 0; n < mesh->nodes; n++) {
    const PetscInt corners = mesh_corners(mesh->kind);
    PetscReal      at[MESH_MAX_CORNERS] = {0};

    if (n < corners) {
      at[n] = 1;
    } else {
      at[mesh_edge(mesh->kind, n - corners)[0]] = 0.5;
      at[mesh_edge(mesh->kind, n - corners)[1]] = 0.5;
    }
    smallest = PetscMin(smallest, stretch_at(mesh, element, at).at[Z]);
  }
  return smallest;
}

Vector3 mesh_element_centre(Mesh mesh, PetscInt element)
{
  const PetscInt *nodes = mesh_element(mesh, element), corners = mesh_corners(mesh->kind);
  Vector3         sum = vector3(0, 0, 0);

  for (PetscInt n = 0; n < corners; n++)
    sum = vector3_add(sum, mesh->vertices[nodes[n]]);
  return vector3_scale(1. / (PetscReal)corners, sum);
}

static PetscReal mean_square_edge(Mesh mesh, const PetscInt nodes[])
{
  const PetscInt edges = mesh_edges(mesh->kind);
  PetscReal      sum = 0;

  for (PetscInt e = 0; e < edges; e++) {
    const PetscInt *ends = mesh_edge(mesh->kind, e);
    const Vector3   edge = vector3_subtract(mesh->vertices[nodes[ends[1]]], mesh->vertices[nodes[ends[0]]]);

    sum += vector3_dot(edge, edge);
  }
  return sum / (PetscReal)edges;
}

static Vector3 arm(Mesh mesh, const PetscInt nodes[], PetscInt corner)
{
  return vector3_subtract(mesh->vertices[nodes[corner]], mesh->vertices[nodes[0]]);
}

PetscReal mesh_element_quality(Mesh mesh, PetscInt element)
{
  const PetscInt *nodes = mesh_element(mesh, element);
  PetscReal       square, volume;

  if (mesh->kind == MESH_POINTS)
    return 1;
  square = mean_square_edge(mesh, nodes);
  if (!(square > 0))
    return 0;
  if (mesh->kind == MESH_SEGMENTS)
    return 1;
  if (mesh->kind == MESH_TRIANGLES)
    return 2 / PetscSqrtReal(3) * vector3_norm(vector3_cross(arm(mesh, nodes, 1), arm(mesh, nodes, 2))) /
           square;
  volume = vector3_dot(arm(mesh, nodes, 1), vector3_cross(arm(mesh, nodes, 2), arm(mesh, nodes, 3))) / 6;
  return 6 * PetscSqrtReal(2) * volume / (square * PetscSqrtReal(square));
}

static Vector3 outward_normal(Mesh mesh, const PetscInt nodes[], PetscInt corner)
{
  const PetscInt *side = mesh_side(MESH_TETRAHEDRA, corner);
  const Vector3   a = mesh->vertices[nodes[side[0]]];
  const Vector3   normal = vector3_cross(vector3_subtract(mesh->vertices[nodes[side[1]]], a),
                                         vector3_subtract(mesh->vertices[nodes[side[2]]], a));

  return vector3_scale(1 / vector3_norm(normal), normal);
}

void mesh_dihedral_angles(Mesh mesh, PetscInt element, PetscReal *smallest, PetscReal *largest)
{
  const PetscInt *nodes = mesh_element(mesh, element);

  *smallest = PETSC_INFINITY;
  *largest = -PETSC_INFINITY;
  for (PetscInt a = 0; a < 4; a++) {
    for (PetscInt b = a + 1; b < 4; b++) {
      const Vector3   m = outward_normal(mesh, nodes, a), n = outward_normal(mesh, nodes, b);
      const PetscReal angle = PETSC_PI - PetscAtan2Real(vector3_norm(vector3_cross(m, n)), vector3_dot(m, n));

      *smallest = PetscMin(*smallest, angle);
      *largest = PetscMax(*largest, angle);
    }
  }
}

void mesh_bounds(Mesh mesh, Vector3 *low, Vector3 *high)
{
  *low = vector3(PETSC_INFINITY, PETSC_INFINITY, PETSC_INFINITY);
  *high = vector3_scale(-1, *low);
  for (PetscInt n = 0; n < mesh->vertex_count; n++) {
    for (int d = 0; d < DIM; d++) {
      low->at[d] = PetscMin(low->at[d], mesh->vertices[n].at[d]);
      high->at[d] = PetscMax(high->at[d], mesh->vertices[n].at[d]);
    }
  }
}
