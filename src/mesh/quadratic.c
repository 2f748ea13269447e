/* Quadratic elements: a node in the middle of every edge, the same for all elements around it. */
#include "mesh_impl.h"

static PetscErrorCode CheckLinear(Mesh mesh)
{
  MeshJunctions junctions;
  PetscInt      hanging;

  PetscFunctionBegin;
  PetscCheck(mesh->order == 1, PETSC_COMM_SELF, PETSC_ERR_SUP, "The mesh is quadratic already");
  PetscCall(MeshFindJunctions(mesh, &junctions));
  hanging = junctions.count;
  PetscCall(MeshJunctionsDestroy(&junctions));
  PetscCheck(hanging == 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%" PetscInt_FMT " vertices hang on sides of elements, which quadratic ones cannot have",
             hanging);
  PetscFunctionReturn(0);
}

/* Middles come after the corners, in the order of the edges that MeshFindEdges finds. */
static PetscErrorCode NumberMiddles(Mesh mesh, Mesh quadratic)
{
  const PetscInt corners = mesh_corners(mesh->kind);
  PetscInt       count, edge = -1;
  KeyedPart     *parts;

  PetscFunctionBegin;
  PetscCall(MeshSortParts(mesh, PARTS_EDGES, &count, &parts));
  for (PetscInt n = 0; n < count; n++) {
    if (n == 0 || !same_key(&parts[n - 1], &parts[n])) {
      edge++;
      quadratic->vertices[mesh->vertex_count + edge] =
          middle_of(mesh->vertices[parts[n].key[0]], mesh->vertices[parts[n].key[1]]);
    }
    quadratic->elements[parts[n].element * quadratic->nodes + corners + parts[n].part] =
        mesh->vertex_count + edge;
  }
  PetscCall(PetscFree(parts));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshCreateQuadratic(Mesh mesh, Mesh *quadratic)
{
  PetscInt edges;
  PetscInt(*ends)[2];

  PetscFunctionBegin;
  PetscCall(CheckLinear(mesh));
  PetscCall(MeshFindEdges(mesh, &edges, &ends));
  PetscCall(PetscFree(ends));
  PetscCall(MeshAllocate(mesh->kind, 2, mesh->vertex_count + edges, mesh->element_count, quadratic));
  PetscCall(PetscArraycpy((*quadratic)->vertices, mesh->vertices, mesh->vertex_count));
  for (PetscInt n = 0; n < mesh->element_count; n++) {
    for (PetscInt c = 0; c < mesh->nodes; c++)
      (*quadratic)->elements[n * (*quadratic)->nodes + c] = mesh_element(mesh, n)[c];
  }
  PetscCall(NumberMiddles(mesh, *quadratic));
  if (mesh->numbers) {
    PetscCall(PetscMalloc1(mesh->element_count, &(*quadratic)->numbers));
    PetscCall(PetscArraycpy((*quadratic)->numbers, mesh->numbers, mesh->element_count));
  }
  PetscFunctionReturn(0);
}
