/* The boundary of a mesh: the sides that only one element has. */
#include "mesh_impl.h"

/* A quadratic face as linear ones, in its corners and then the middles of its edges. */
static const PetscInt four_triangles[4][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}, {3, 4, 5}};
static const PetscInt two_segments[2][2] = {{0, 2}, {2, 1}};

/* The node in the middle of the edge between two corners of an element. */
static PetscInt middle_node(Mesh mesh, const PetscInt nodes[], PetscInt a, PetscInt b)
{
  for (PetscInt e = 0; e < mesh_edges(mesh->kind); e++) {
    const PetscInt *ends = mesh_edge(mesh->kind, e);

    if ((ends[0] == a && ends[1] == b) || (ends[0] == b && ends[1] == a))
      return nodes[mesh_corners(mesh->kind) + e];
  }
  return -1;
}

/* Corners and middles of a side; returns their number. */
static PetscInt side_nodes(Mesh mesh, PetscInt element, PetscInt part, PetscInt side[])
{
  const PetscInt *nodes = mesh_element(mesh, element), *corners = mesh_side(mesh->kind, part);
  const PetscInt  width = mesh_corners(mesh->kind) - 1;
  const PetscInt  edges = mesh->order == 1 ? 0 : width == 3 ? 3 : width - 1;

  for (PetscInt n = 0; n < width; n++)
    side[n] = nodes[corners[n]];
  for (PetscInt n = 0; n < edges; n++)
    side[width + n] = middle_node(mesh, nodes, corners[n], corners[(n + 1) % width]);
  return width + edges;
}

static void add_face(MeshBoundary *boundary, PetscInt element, const PetscInt side[], const PetscInt pick[])
{
  for (PetscInt n = 0; n < boundary->corners; n++)
    boundary->faces[boundary->count * boundary->corners + n] = side[pick ? pick[n] : n];
  boundary->elements[boundary->count++] = element;
}

static void add_side(Mesh mesh, PetscInt element, PetscInt part, MeshBoundary *boundary)
{
  PetscInt       side[6];
  const PetscInt nodes = side_nodes(mesh, element, part, side);

  if (nodes == 6) {
    for (int n = 0; n < 4; n++)
      add_face(boundary, element, side, four_triangles[n]);
  } else if (nodes == 3 && boundary->corners == 2) {
    for (int n = 0; n < 2; n++)
      add_face(boundary, element, side, two_segments[n]);
  } else {
    add_face(boundary, element, side, NULL);
  }
}

PetscErrorCode MeshFindBoundary(Mesh mesh, MeshBoundary *boundary)
{
  const PetscInt corners = mesh_corners(mesh->kind);
  PetscInt      *neighbours, open = 0;
  PetscInt       pieces;

  PetscFunctionBegin;
  *boundary = (MeshBoundary){.corners = corners - 1};
  if (mesh->kind == MESH_POINTS)
    PetscFunctionReturn(0);
  PetscCall(MeshFindNeighbours(mesh, &neighbours));
  for (PetscInt n = 0; n < corners * mesh->element_count; n++)
    open += neighbours[n] < 0;
  pieces = mesh->order == 1 ? 1 : boundary->corners == 3 ? 4 : boundary->corners;
  PetscCall(PetscMalloc1(open * pieces * boundary->corners, &boundary->faces));
  PetscCall(PetscMalloc1(open * pieces, &boundary->elements));
  for (PetscInt n = 0; n < corners * mesh->element_count; n++) {
    if (neighbours[n] < 0)
      add_side(mesh, n / corners, n % corners, boundary);
  }
  PetscCall(PetscFree(neighbours));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshBoundaryDestroy(MeshBoundary *boundary)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(boundary->faces));
  PetscCall(PetscFree(boundary->elements));
  *boundary = (MeshBoundary){0};
  PetscFunctionReturn(0);
}
