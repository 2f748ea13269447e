/* Lifetime of a mesh, and the numbering within an element. */
#include "mesh_impl.h"

static const PetscInt corner_counts[] = {1, 2, 3, 4};
static const PetscInt edge_counts[] = {0, 1, 3, 6};

static const PetscInt edges[][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};

static const PetscInt point_sides[1][1] = {{0}};
static const PetscInt segment_sides[2][1] = {{1}, {0}};
static const PetscInt triangle_sides[3][2] = {{1, 2}, {2, 0}, {0, 1}};
static const PetscInt tetrahedron_sides[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

PetscInt mesh_corners(MeshKind kind)
{
  return corner_counts[kind];
}

PetscInt mesh_edges(MeshKind kind)
{
  return edge_counts[kind];
}

PetscInt mesh_nodes(MeshKind kind, PetscInt order)
{
  return corner_counts[kind] + (order > 1 ? edge_counts[kind] : 0);
}

const PetscInt *mesh_edge(MeshKind kind, PetscInt edge)
{
  (void)kind; /* those of a triangle are the first of a tetrahedron */
  return edges[edge];
}

const PetscInt *mesh_side(MeshKind kind, PetscInt corner)
{
  switch (kind) {
  case MESH_POINTS:
    return point_sides[corner];
  case MESH_SEGMENTS:
    return segment_sides[corner];
  case MESH_TRIANGLES:
    return triangle_sides[corner];
  default:
    return tetrahedron_sides[corner];
  }
}

PetscErrorCode MeshAllocate(MeshKind kind, PetscInt order, PetscInt vertex_count, PetscInt element_count,
                            Mesh *mesh)
{
  const PetscInt nodes = mesh_nodes(kind, order);

  PetscFunctionBegin;
  PetscCheck(vertex_count >= 0 && vertex_count < MAX_COUNT && element_count >= 0 && element_count < MAX_COUNT,
             PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A mesh cannot have %" PetscInt_FMT " vertices and %" PetscInt_FMT " elements", vertex_count,
             element_count);
  PetscCall(PetscNew(mesh));
  **mesh = (struct _p_Mesh){.kind = kind,
                            .order = order,
                            .vertex_count = vertex_count,
                            .element_count = element_count,
                            .nodes = nodes};
  PetscCall(PetscMalloc1(vertex_count, &(*mesh)->vertices));
  PetscCall(PetscMalloc1(nodes * element_count, &(*mesh)->elements));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshCreate(MeshKind kind, PetscInt order, PetscInt vertex_count, const Vector3 vertices[],
                          PetscInt element_count, const PetscInt elements[], Mesh *mesh)
{
  const PetscInt nodes = mesh_nodes(kind, order);

  PetscFunctionBegin;
  PetscCheck(order == 1 || order == 2, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Elements have order 1 or 2, not %" PetscInt_FMT, order);
  for (PetscInt n = 0; n < nodes * element_count; n++) {
    PetscCheck(elements[n] >= 0 && elements[n] < vertex_count, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "Element %" PetscInt_FMT " names vertex %" PetscInt_FMT ", but there are %" PetscInt_FMT,
               n / nodes, elements[n], vertex_count);
  }
  PetscCall(MeshAllocate(kind, order, vertex_count, element_count, mesh));
  PetscCall(PetscArraycpy((*mesh)->vertices, vertices, vertex_count));
  PetscCall(PetscArraycpy((*mesh)->elements, elements, nodes * element_count));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshCopy(Mesh mesh, Mesh *copy)
{
  PetscFunctionBegin;
  PetscCall(MeshAllocate(mesh->kind, mesh->order, mesh->vertex_count, mesh->element_count, copy));
  PetscCall(PetscArraycpy((*copy)->vertices, mesh->vertices, mesh->vertex_count));
  PetscCall(PetscArraycpy((*copy)->elements, mesh->elements, mesh->nodes * mesh->element_count));
  if (mesh->numbers) {
    PetscCall(PetscMalloc1(mesh->element_count, &(*copy)->numbers));
    PetscCall(PetscArraycpy((*copy)->numbers, mesh->numbers, mesh->element_count));
  }
  if (mesh->parents) {
    PetscCall(PetscMalloc1(mesh->vertex_count, &(*copy)->parents));
    PetscCall(PetscArraycpy((*copy)->parents, mesh->parents, mesh->vertex_count));
  }
  if (mesh->filled) {
    PetscCall(PetscMalloc1(mesh->element_count, &(*copy)->filled));
    PetscCall(PetscArraycpy((*copy)->filled, mesh->filled, mesh->element_count));
    PetscCall(MeshCopy(mesh->surface, &(*copy)->surface));
    PetscCall(PetscMalloc1(mesh->surface->vertex_count, &(*copy)->places));
    PetscCall(PetscArraycpy((*copy)->places, mesh->places, mesh->surface->vertex_count));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode MeshDestroy(Mesh *mesh)
{
  PetscFunctionBegin;
  if (!*mesh)
    PetscFunctionReturn(0);
  PetscCall(PetscFree((*mesh)->vertices));
  PetscCall(PetscFree((*mesh)->elements));
  PetscCall(PetscFree((*mesh)->numbers));
  PetscCall(PetscFree((*mesh)->parents));
  PetscCall(PetscFree((*mesh)->filled));
  PetscCall(PetscFree((*mesh)->places));
  PetscCall(MeshDestroy(&(*mesh)->surface));
  PetscCall(PetscFree(*mesh));
  PetscFunctionReturn(0);
}
