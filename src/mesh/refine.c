/* Red refinement: an element becomes 2, 4 or 8 that are half as long. Nothing is done to its neighbours, so
   that vertices hang where a side is whole on one side only (junctions.c). The octahedron in the middle of a
   tetrahedron is divided around its shortest diagonal: for one of the body-centred cubic lattice all eight
   are similar to the first. */
#include "edge_map.h"

static const PetscInt one_point[1][4] = {{0}};
static const PetscInt two_segments[2][4] = {{0, 2}, {2, 1}};
static const PetscInt four_triangles[4][4] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}, {3, 4, 5}};

/* Corners, then the middles of edges, as in a quadratic element; the diagonal joins the middles of edges 0
   and 5, 1 and 3, or 2 and 4. */
static const PetscInt eight_tetrahedra[3][8][4] = {{{0, 4, 6, 7},
                                                    {4, 1, 5, 8},
                                                    {6, 5, 2, 9},
                                                    {7, 8, 9, 3},
                                                    {4, 9, 5, 6},
                                                    {4, 9, 6, 7},
                                                    {4, 9, 7, 8},
                                                    {4, 9, 8, 5}},
                                                   {{0, 4, 6, 7},
                                                    {4, 1, 5, 8},
                                                    {6, 5, 2, 9},
                                                    {7, 8, 9, 3},
                                                    {5, 7, 6, 4},
                                                    {5, 7, 9, 6},
                                                    {5, 7, 8, 9},
                                                    {5, 7, 4, 8}},
                                                   {{0, 4, 6, 7},
                                                    {4, 1, 5, 8},
                                                    {6, 5, 2, 9},
                                                    {7, 8, 9, 3},
                                                    {6, 8, 4, 5},
                                                    {6, 8, 5, 9},
                                                    {6, 8, 9, 7},
                                                    {6, 8, 7, 4}}};

const PetscInt (*red_children(PetscInt diagonal))[4]
{
  return eight_tetrahedra[diagonal];
}

/* The shortest; of equal ones the first. */
static PetscInt choose_diagonal(const Vector3 vertices[], const PetscInt nodes[])
{
  static const PetscInt ends[3][2] = {{4, 9}, {5, 7}, {6, 8}};
  PetscReal             least = PETSC_INFINITY;
  PetscInt              best = 0;

  for (PetscInt n = 0; n < 3; n++) {
    const Vector3   across = vector3_subtract(vertices[nodes[ends[n][0]]], vertices[nodes[ends[n][1]]]);
    const PetscReal length = vector3_dot(across, across);

    if (length < least * (1 - 1e-12)) {
      least = length;
      best = n;
    }
  }
  return best;
}

static const PetscInt (*children_of(MeshKind kind, const Vector3 vertices[], const PetscInt nodes[]))[4]
{
  switch (kind) {
  case MESH_POINTS:
    return one_point;
  case MESH_SEGMENTS:
    return two_segments;
  case MESH_TRIANGLES:
    return four_triangles;
  default:
    return eight_tetrahedra[choose_diagonal(vertices, nodes)];
  }
}

typedef struct {
  Mesh      from;
  EdgeMap   middles;
  MeshDraft draft;
  PetscInt  parent_room;
  PetscInt (*parents)[2];
  PetscInt  origin_room;
  PetscInt *origins; /* element of `from` for each new one */
} Refinement;

static PetscErrorCode AddMiddle(Refinement *refinement, PetscInt a, PetscInt b, PetscInt *middle)
{
  MeshDraft *draft = &refinement->draft;

  PetscFunctionBegin;
  *middle = edge_map_find(&refinement->middles, a, b);
  if (*middle >= 0)
    PetscFunctionReturn(0);
  *middle = draft->vertex_count;
  PetscCall(GrowList(*middle, &refinement->parent_room, &refinement->parents));
  refinement->parents[*middle][0] = a;
  refinement->parents[*middle][1] = b;
  PetscCall(MeshDraftAddVertex(draft, middle_of(draft->vertices[a], draft->vertices[b])));
  PetscCall(EdgeMapAdd(&refinement->middles, a, b, *middle));
  PetscFunctionReturn(0);
}

static PetscErrorCode AddElement(Refinement *refinement, PetscInt element, const PetscInt corners[])
{
  PetscFunctionBegin;
  PetscCall(GrowList(refinement->draft.element_count, &refinement->origin_room, &refinement->origins));
  refinement->origins[refinement->draft.element_count] = element;
  PetscCall(MeshDraftAddElement(&refinement->draft, corners));
  PetscFunctionReturn(0);
}

static PetscErrorCode Divide(Refinement *refinement, PetscInt element)
{
  const MeshKind  kind = refinement->from->kind;
  const PetscInt *corners = mesh_element(refinement->from, element), count = mesh_corners(kind);
  PetscInt        nodes[MESH_MAX_NODES];
  const PetscInt(*children)[4];

  PetscFunctionBegin;
  for (PetscInt n = 0; n < count; n++)
    nodes[n] = corners[n];
  for (PetscInt e = 0; e < mesh_edges(kind); e++)
    PetscCall(AddMiddle(refinement, corners[mesh_edge(kind, e)[0]], corners[mesh_edge(kind, e)[1]],
                        &nodes[count + e]));
  children = children_of(kind, refinement->draft.vertices, nodes);
  for (PetscInt n = 0; n < 1 << kind; n++) {
    PetscInt child[MESH_MAX_CORNERS];

    for (PetscInt c = 0; c < count; c++)
      child[c] = nodes[children[n][c]];
    PetscCall(AddElement(refinement, element, child));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode StartRefinement(Mesh mesh, Refinement *refinement)
{
  PetscFunctionBegin;
  PetscCheck(mesh->order == 1, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "Linear elements are refined, and made quadratic afterwards");
  *refinement = (Refinement){.from = mesh, .draft = {.corners = mesh_corners(mesh->kind)}};
  PetscCall(EdgeMapCreateMiddles(mesh, &refinement->middles));
  for (PetscInt v = 0; v < mesh->vertex_count; v++) {
    PetscCall(GrowList(v, &refinement->parent_room, &refinement->parents));
    for (int n = 0; n < 2; n++)
      refinement->parents[v][n] = mesh->parents ? mesh->parents[v][n] : -1;
    PetscCall(MeshDraftAddVertex(&refinement->draft, mesh->vertices[v]));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode FinishRefinement(Refinement *refinement, Mesh *refined, PetscInt **origins)
{
  const Mesh from = refinement->from;

  PetscFunctionBegin;
  PetscCall(EdgeMapDestroy(&refinement->middles));
  PetscCall(MeshDraftFinish(&refinement->draft, DRAFT_WHOLE, refined));
  (*refined)->parents = refinement->parents;
  if (from->numbers) {
    PetscCall(PetscMalloc1((*refined)->element_count, &(*refined)->numbers));
    for (PetscInt n = 0; n < (*refined)->element_count; n++)
      (*refined)->numbers[n] = from->numbers[refinement->origins[n]];
  }
  if (origins)
    *origins = refinement->origins;
  else
    PetscCall(PetscFree(refinement->origins));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshRefine(Mesh mesh, const PetscBool marks[], Mesh *refined, PetscInt **origins)
{
  Refinement refinement;

  PetscFunctionBegin;
  PetscCall(StartRefinement(mesh, &refinement));
  for (PetscInt n = 0; n < mesh->element_count; n++) {
    if (!marks || marks[n])
      PetscCall(Divide(&refinement, n));
    else
      PetscCall(AddElement(&refinement, n, mesh_element(mesh, n)));
  }
  PetscCall(FinishRefinement(&refinement, refined, origins));
  PetscFunctionReturn(0);
}
