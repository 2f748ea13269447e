/* Meshes while they are made. */
#include <math.h>
#include "mesh_impl.h"

PetscErrorCode MeshDraftAddVertex(MeshDraft *draft, Vector3 vertex)
{
  PetscFunctionBegin;
  PetscCheck(draft->vertex_count < MAX_COUNT, PETSC_COMM_SELF, PETSC_ERR_SUP, "A mesh has too many vertices");
  PetscCall(GrowList(draft->vertex_count, &draft->vertex_room, &draft->vertices));
  draft->vertices[draft->vertex_count++] = vertex;
  PetscFunctionReturn(0);
}

PetscErrorCode MeshDraftAddElement(MeshDraft *draft, const PetscInt corners[])
{
  const PetscInt filled = draft->corners * draft->element_count;

  PetscFunctionBegin;
  PetscCheck(draft->element_count < MAX_COUNT, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A mesh has too many elements");
  PetscCall(GrowList(filled + draft->corners, &draft->element_room, &draft->elements));
  for (PetscInt n = 0; n < draft->corners; n++)
    draft->elements[filled + n] = corners[n];
  draft->element_count++;
  PetscFunctionReturn(0);
}

/* Keeps the order of those that are used. */
static PetscErrorCode DropUnused(MeshDraft *draft)
{
  PetscInt *number, kept = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(draft->vertex_count, &number));
  for (PetscInt v = 0; v < draft->vertex_count; v++)
    number[v] = -1;
  for (PetscInt n = 0; n < draft->corners * draft->element_count; n++)
    number[draft->elements[n]] = 0;
  for (PetscInt v = 0; v < draft->vertex_count; v++) {
    if (number[v] < 0)
      continue;
    draft->vertices[kept] = draft->vertices[v];
    number[v] = kept++;
  }
  for (PetscInt n = 0; n < draft->corners * draft->element_count; n++)
    draft->elements[n] = number[draft->elements[n]];
  draft->vertex_count = kept;
  PetscCall(PetscFree(number));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshDraftFinish(MeshDraft *draft, DraftKind kind, Mesh *mesh)
{
  PetscFunctionBegin;
  if (kind == DRAFT_COMPACT)
    PetscCall(DropUnused(draft));
  PetscCall(PetscNew(mesh));
  **mesh = (struct _p_Mesh){.kind = (MeshKind)(draft->corners - 1),
                            .order = 1,
                            .nodes = draft->corners,
                            .vertex_count = draft->vertex_count,
                            .vertices = draft->vertices,
                            .element_count = draft->element_count,
                            .elements = draft->elements};
  *draft = (MeshDraft){0};
  PetscFunctionReturn(0);
}

void perpendiculars(Vector3 axis, Vector3 *first, Vector3 *second)
{
  int least = 0;

  for (int d = 1; d < DIM; d++) {
    if (PetscAbsReal(axis.at[d]) < PetscAbsReal(axis.at[least]))
      least = d;
  }
  *second = vector3(0, 0, 0);
  second->at[least] = 1;
  *first = vector3_cross(*second, axis);
  *first = vector3_scale(1 / vector3_norm(*first), *first);
  *second = vector3_cross(axis, *first);
}

PetscReal pieces_of(PetscReal length, PetscReal edge)
{
  return PetscMax(1, PetscCeilReal(length / edge - 1e-9));
}
