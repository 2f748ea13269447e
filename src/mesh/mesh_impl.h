/* Private to src/mesh. */
#ifndef MILLRACE_MESH_IMPL_H
#define MILLRACE_MESH_IMPL_H

#include <millrace/mesh.h>

/* Vertices and elements are counted, ten nodes each, in a PetscInt. */
#define MAX_COUNT (PETSC_MAX_INT / 16)

static inline const PetscInt *mesh_element(Mesh mesh, PetscInt element)
{
  return mesh->elements + element * mesh->nodes;
}

static inline Vector3 middle_of(Vector3 a, Vector3 b)
{
  return vector3_scale(0.5, vector3_add(a, b));
}

/* Room for so many; contents undefined. `order` and `kind` as of MeshCreate. */
PetscErrorCode MeshAllocate(MeshKind kind, PetscInt order, PetscInt vertex_count, PetscInt element_count,
                            Mesh *mesh);

/* A mesh while it is made: lists that grow. */
typedef struct {
  PetscInt  vertex_count, vertex_room, element_count, element_room;
  PetscInt  corners; /* of an element, all linear */
  Vector3  *vertices;
  PetscInt *elements;
} MeshDraft;

PetscErrorCode MeshDraftAddVertex(MeshDraft *draft, Vector3 vertex);
PetscErrorCode MeshDraftAddElement(MeshDraft *draft, const PetscInt corners[]);
/* Takes the lists. Vertices of no element are left out if `compact`. */
typedef enum { DRAFT_WHOLE, DRAFT_COMPACT } DraftKind;
PetscErrorCode MeshDraftFinish(MeshDraft *draft, DraftKind kind, Mesh *mesh);

/* Two directions across a unit vector, so that the three are right-handed. */
void perpendiculars(Vector3 axis, Vector3 *first, Vector3 *second);

/* How many pieces of at most `edge` a length has, but for round-off; at least 1. */
PetscReal pieces_of(PetscReal length, PetscReal edge);

/* Of the determinant (tetrahedra) or of the z-component of the normal (triangles) at the nodes. */
PetscReal mesh_smallest_stretch(Mesh mesh, PetscInt element);

/* The eight of a tetrahedron by its nodes, corners before middles, if the inner diagonal joins the middles of
   edges 0 and 5, 1 and 3, or 2 and 4. */
const PetscInt (*red_children(PetscInt diagonal))[4];

/* Leaves out the tetrahedra of a refined lattice that the shape does not reach into, and vertices that
   nothing needs. */
PetscErrorCode MeshDropOutside(Shape shape, Mesh mesh);

/* A part of an element, known by its sorted vertices: an edge, a side, the corners. */
typedef struct {
  PetscInt key[MESH_MAX_CORNERS]; /* ascending; -1 after the last */
  PetscInt element;
  PetscInt part; /* which of the element's */
} KeyedPart;

typedef enum { PARTS_EDGES, PARTS_SIDES, PARTS_CORNERS } PartKind;

/* All parts of a kind, sorted by key, element and part; `*parts` to be freed by PetscFree. */
PetscErrorCode MeshSortParts(Mesh mesh, PartKind kind, PetscInt *count, KeyedPart **parts);

static inline PetscBool same_key(const KeyedPart *a, const KeyedPart *b)
{
  for (PetscInt n = 0; n < MESH_MAX_CORNERS; n++) {
    if (a->key[n] != b->key[n])
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

#endif
