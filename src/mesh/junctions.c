/* Vertices that hang on a side of an element without being one of its corners (T-junctions).

   An edge of an element that has a vertex in its middle makes that vertex hang, and its halves are looked at
   in turn; a face of a tetrahedron whose three edges have middles is looked at as the four smaller ones. A
   hanging vertex is half each of the ends of its edge; ends that hang themselves are replaced by what they
   hang on, so that neither the depth of refinement nor its jumps matter. */
#include "edge_map.h"

typedef struct {
  Mesh       mesh;
  EdgeMap    middles;
  PetscBool *hangs;
} Hanging;

static void look_at_edge(Hanging *hanging, PetscInt a, PetscInt b)
{
  const PetscInt middle = edge_map_find(&hanging->middles, a, b);

  if (middle < 0)
    return;
  hanging->hangs[middle] = PETSC_TRUE;
  look_at_edge(hanging, a, middle);
  look_at_edge(hanging, middle, b);
}

static void look_at_face(Hanging *hanging, PetscInt a, PetscInt b, PetscInt c)
{
  const PetscInt ab = edge_map_find(&hanging->middles, a, b), bc = edge_map_find(&hanging->middles, b, c);
  const PetscInt ca = edge_map_find(&hanging->middles, c, a);

  if (ab < 0 || bc < 0 || ca < 0)
    return;
  look_at_edge(hanging, ab, bc);
  look_at_edge(hanging, bc, ca);
  look_at_edge(hanging, ca, ab);
  look_at_face(hanging, a, ab, ca);
  look_at_face(hanging, ab, b, bc);
  look_at_face(hanging, ca, bc, c);
  look_at_face(hanging, ab, bc, ca);
}

static void look_at_element(Hanging *hanging, PetscInt element)
{
  const Mesh      mesh = hanging->mesh;
  const PetscInt *corners = mesh_element(mesh, element);

  for (PetscInt e = 0; e < mesh_edges(mesh->kind); e++)
    look_at_edge(hanging, corners[mesh_edge(mesh->kind, e)[0]], corners[mesh_edge(mesh->kind, e)[1]]);
  for (PetscInt n = 0; mesh->kind == MESH_TETRAHEDRA && n < 4; n++) {
    const PetscInt *side = mesh_side(MESH_TETRAHEDRA, n);

    look_at_face(hanging, corners[side[0]], corners[side[1]], corners[side[2]]);
  }
}

typedef struct {
  MeshJunctions *junctions;
  PetscInt       vertex_room, first_room, parent_room, weight_room, entries;
  PetscInt      *place; /* of each vertex among the junctions; -1: does not hang */
} JunctionList;

/* Adds to the parents of the last junction. */
static PetscErrorCode AddParent(JunctionList *list, PetscInt parent, PetscReal weight)
{
  MeshJunctions *junctions = list->junctions;

  PetscFunctionBegin;
  for (PetscInt n = junctions->first[junctions->count]; n < list->entries; n++) {
    if (junctions->parents[n] != parent)
      continue;
    junctions->weights[n] += weight;
    PetscFunctionReturn(0);
  }
  PetscCall(GrowList(list->entries, &list->parent_room, &junctions->parents));
  PetscCall(GrowList(list->entries, &list->weight_room, &junctions->weights));
  junctions->parents[list->entries] = parent;
  junctions->weights[list->entries++] = weight;
  PetscFunctionReturn(0);
}

/* Parents come before their child, so theirs are known. */
static PetscErrorCode AddJunction(JunctionList *list, PetscInt vertex, const PetscInt ends[2])
{
  MeshJunctions *junctions = list->junctions;

  PetscFunctionBegin;
  PetscCall(GrowList(junctions->count, &list->vertex_room, &junctions->vertices));
  PetscCall(GrowList(junctions->count + 1, &list->first_room, &junctions->first));
  junctions->vertices[junctions->count] = vertex;
  junctions->first[junctions->count] = list->entries;
  list->place[vertex] = junctions->count;
  for (int n = 0; n < 2; n++) {
    const PetscInt at = list->place[ends[n]];

    if (at < 0)
      PetscCall(AddParent(list, ends[n], 0.5));
    for (PetscInt m = at < 0 ? 0 : junctions->first[at]; at >= 0 && m < junctions->first[at + 1]; m++)
      PetscCall(AddParent(list, junctions->parents[m], 0.5 * junctions->weights[m]));
  }
  junctions->first[++junctions->count] = list->entries;
  PetscFunctionReturn(0);
}

PetscErrorCode MeshFindJunctions(Mesh mesh, MeshJunctions *junctions)
{
  Hanging      hanging = {.mesh = mesh};
  JunctionList list = {.junctions = junctions};

  PetscFunctionBegin;
  *junctions = (MeshJunctions){0};
  PetscCall(PetscCalloc1(1, &junctions->first));
  list.first_room = 1;
  if (!mesh->parents || mesh->order > 1)
    PetscFunctionReturn(0);
  PetscCall(EdgeMapCreateMiddles(mesh, &hanging.middles));
  PetscCall(PetscCalloc1(mesh->vertex_count, &hanging.hangs));
  PetscCall(PetscMalloc1(mesh->vertex_count, &list.place));
  for (PetscInt n = 0; n < mesh->element_count; n++)
    look_at_element(&hanging, n);
  for (PetscInt v = 0; v < mesh->vertex_count; v++) {
    list.place[v] = -1;
    if (hanging.hangs[v])
      PetscCall(AddJunction(&list, v, mesh->parents[v]));
  }
  PetscCall(PetscFree(hanging.hangs));
  PetscCall(PetscFree(list.place));
  PetscCall(EdgeMapDestroy(&hanging.middles));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshJunctionsDestroy(MeshJunctions *junctions)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(junctions->vertices));
  PetscCall(PetscFree(junctions->first));
  PetscCall(PetscFree(junctions->parents));
  PetscCall(PetscFree(junctions->weights));
  *junctions = (MeshJunctions){0};
  PetscFunctionReturn(0);
}
