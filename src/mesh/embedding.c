/* A surface in the tetrahedra of a lattice that cover what it encloses. Each tetrahedron knows the part of it
   that is inside: by division into 8^2, in each of which the distance is taken for linear. */
#include <math.h>
#include <stdio.h>
#include <millrace/mesh_config.h>
#include "lattice.h"

/* Of a tetrahedron, the part where a linear function with these values at its corners, ascending, is
   negative. With a, b negative and c, d positive a wedge of three tetrahedra. */
static PetscReal negative_part(const PetscReal v[4])
{
  const PetscReal ac = v[0] / (v[0] - v[2]), ad = v[0] / (v[0] - v[3]);
  const PetscReal bc = v[1] / (v[1] - v[2]), bd = v[1] / (v[1] - v[3]);

  if (v[3] <= 0)
    return 1;
  if (v[0] >= 0)
    return 0;
  if (v[1] >= 0)
    return v[0] / (v[0] - v[1]) * ac * ad;
  if (v[2] < 0)
    return 1 - v[3] / (v[3] - v[0]) * v[3] / (v[3] - v[1]) * v[3] / (v[3] - v[2]);
  return ac * ad + ac * (1 - ad) * bd + (1 - ac) * bd * bc;
}

static PetscReal leaf_part(Shape shape, const Vector3 corners[4])
{
  PetscReal values[4];

  for (int n = 0; n < 4; n++) {
    const PetscReal value = shape_distance(shape, corners[n]);
    int             at = n;

    for (; at > 0 && values[at - 1] > value; at--)
      values[at] = values[at - 1];
    values[at] = value;
  }
  return negative_part(values);
}

static PetscReal inner_part(Shape shape, const Vector3 corners[4], int depth)
{
  const PetscInt(*children)[4] = red_children(0);
  Vector3   nodes[10];
  PetscReal sum = 0;

  if (depth == 0)
    return leaf_part(shape, corners);
  for (int n = 0; n < 4; n++)
    nodes[n] = corners[n];
  for (int n = 0; n < 6; n++) {
    const PetscInt *ends = mesh_edge(MESH_TETRAHEDRA, n);

    nodes[4 + n] = middle_of(corners[ends[0]], corners[ends[1]]);
  }
  for (int n = 0; n < 8; n++) {
    const Vector3 child[4] = {nodes[children[n][0]], nodes[children[n][1]], nodes[children[n][2]],
                              nodes[children[n][3]]};

    sum += inner_part(shape, child, depth - 1) / 8;
  }
  return sum;
}

static PetscErrorCode FindFilled(Shape shape, Mesh mesh)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(mesh->element_count, &mesh->filled));
  for (PetscInt e = 0; e < mesh->element_count; e++) {
    Vector3 corners[4];

    for (int n = 0; n < 4; n++)
      corners[n] = mesh->vertices[mesh_element(mesh, e)[n]];
    mesh->filled[e] = inner_part(shape, corners, 2);
  }
  PetscFunctionReturn(0);
}

static PetscBool is_reached(Shape shape, Mesh mesh, PetscInt element)
{
  Vector3 corners[4];

  for (int n = 0; n < 4; n++)
    corners[n] = mesh->vertices[mesh_element(mesh, element)[n]];
  return shape_may_reach(shape, corners);
}

/* New numbers of the vertices that elements have, and of those whose edges these are in the middle of, which
   they may hang on; -1 of others. */
static PetscErrorCode NumberUsed(Mesh mesh, PetscInt **numbers)
{
  PetscInt count = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(mesh->vertex_count, numbers));
  for (PetscInt v = 0; v < mesh->vertex_count; v++)
    (*numbers)[v] = -1;
  for (PetscInt n = 0; n < mesh->nodes * mesh->element_count; n++)
    (*numbers)[mesh->elements[n]] = 0;
  for (PetscInt v = mesh->vertex_count - 1; v >= 0; v--) /* parents come first */
    for (int n = 0; n < 2 && (*numbers)[v] >= 0 && mesh->parents[v][0] >= 0; n++)
      (*numbers)[mesh->parents[v][n]] = 0;
  for (PetscInt v = 0; v < mesh->vertex_count; v++)
    if ((*numbers)[v] >= 0)
      (*numbers)[v] = count++;
  PetscFunctionReturn(0);
}

static PetscErrorCode DropUnused(Mesh mesh)
{
  PetscInt *numbers, count = 0;

  PetscFunctionBegin;
  PetscCall(NumberUsed(mesh, &numbers));
  for (PetscInt v = 0; v < mesh->vertex_count; v++) {
    if (numbers[v] < 0)
      continue;
    mesh->vertices[count] = mesh->vertices[v];
    for (int n = 0; n < 2; n++)
      mesh->parents[count][n] = mesh->parents[v][n] < 0 ? -1 : numbers[mesh->parents[v][n]];
    count++;
  }
  mesh->vertex_count = count;
  for (PetscInt n = 0; n < mesh->nodes * mesh->element_count; n++)
    mesh->elements[n] = numbers[mesh->elements[n]];
  PetscCall(PetscFree(numbers));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshDropOutside(Shape shape, Mesh mesh)
{
  PetscInt kept = 0;

  PetscFunctionBegin;
  if (!mesh->parents)
    PetscFunctionReturn(0);
  for (PetscInt e = 0; e < mesh->element_count; e++) {
    if (!is_reached(shape, mesh, e))
      continue;
    for (PetscInt n = 0; n < mesh->nodes; n++)
      mesh->elements[mesh->nodes * kept + n] = mesh_element(mesh, e)[n];
    kept++;
  }
  mesh->element_count = kept;
  PetscCall(DropUnused(mesh));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshEmbed(Shape shape, PetscReal edge, Mesh mesh, char message[], size_t message_size)
{
  Mesh surface;

  PetscFunctionBegin;
  PetscCall(MeshCreateSkin(shape, edge, &surface, message, message_size));
  if (!surface)
    PetscFunctionReturn(0);
  PetscCall(FindFilled(shape, mesh));
  mesh->surface = surface;
  PetscCall(PetscMalloc1(surface->vertex_count, &mesh->places));
  PetscCall(MeshFindPlaces(mesh, surface->vertex_count, surface->vertices, mesh->places));
  PetscFunctionReturn(0);
}
