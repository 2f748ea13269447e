/* The pieces of a cut mesh as a mesh of virtual tetrahedra (thesis 2, virtual nodes; Sifakis et al. 2007).

   Each piece has a tetrahedron of its own, the one that it was cut from, with copies of its vertices. Two
   pieces on either side of a face that are on the same sides of all planes are joined if they have a part of
   the face in common: their copies of its three vertices become one. What bounds the material is
   triangulated; its vertices are places in the virtual tetrahedra. */
#include "cut.h"

static PetscInt root_of(PetscInt parents[], PetscInt n)
{
  while (parents[n] != n) {
    parents[n] = parents[parents[n]];
    n = parents[n];
  }
  return n;
}

static void join(PetscInt parents[], PetscInt a, PetscInt b)
{
  const PetscInt one = root_of(parents, a), other = root_of(parents, b);

  parents[PetscMax(one, other)] = PetscMin(one, other);
}

/* The copies of three vertices in two pieces become one. */
static void join_pieces(const CutMesh *cut, PetscInt parents[], PetscInt piece, PetscInt side, PetscInt other)
{
  const PetscInt *here = mesh_element(cut->mesh, cut->pieces.pieces[piece].element);
  const PetscInt *there = mesh_element(cut->mesh, cut->pieces.pieces[other].element);

  for (int n = 0; n < 3; n++) {
    const PetscInt corner = mesh_side(MESH_TETRAHEDRA, side)[n];

    for (PetscInt m = 0; m < 4; m++) {
      if (there[m] == here[corner])
        join(parents, 4 * piece + corner, 4 * other + m);
    }
  }
}

typedef struct {
  const CutMesh *cut;
  PetscInt      *neighbours;
  PetscInt      *first; /* piece of each element; they lie together */
} Joining;

static PetscInt find_twin(const Joining *joining, PetscInt element, PetscInt cell)
{
  for (PetscInt n = joining->first[element]; n < joining->first[element + 1]; n++) {
    if (joining->cut->pieces.pieces[n].cell == cell)
      return n;
  }
  return -1;
}

/* The piece across a face of a piece; -1 if it is part of the surface. */
static PetscInt piece_across(const Joining *joining, PetscInt piece, const PetscInt *face)
{
  const CutPiece *here = &joining->cut->pieces.pieces[piece];
  const PetscInt  neighbour = face[0] < FACE_ON_PLANE ? joining->neighbours[4 * here->element + face[0]] : -1;

  return neighbour < 0 ? -1 : find_twin(joining, neighbour, here->cell);
}

static PetscErrorCode StartJoining(const CutMesh *cut, Joining *joining)
{
  PetscInt at = 0;

  PetscFunctionBegin;
  *joining = (Joining){.cut = cut};
  PetscCall(MeshFindNeighbours(cut->mesh, &joining->neighbours));
  PetscCall(PetscMalloc1(cut->mesh->element_count + 1, &joining->first));
  for (PetscInt e = 0; e <= cut->mesh->element_count; e++) {
    while (at < cut->pieces.piece_count && cut->pieces.pieces[at].element < e)
      at++;
    joining->first[e] = at;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode JoinAll(const Joining *joining, PetscInt parents[])
{
  const CutMesh *cut = joining->cut;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < cut->pieces.piece_count; n++) {
    const CutPiece *piece = &cut->pieces.pieces[n];

    for (const PetscInt *face = piece_begin(&cut->pieces, piece); face < piece_end(&cut->pieces, piece);
         face = next_face(face)) {
      const PetscInt other = piece_across(joining, n, face);

      if (other >= 0)
        join_pieces(cut, parents, n, face[0], other);
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateVirtual(const CutMesh *cut, PetscInt parents[], MeshCut *result)
{
  const PetscInt count = cut->pieces.piece_count;
  MeshDraft      draft = {.corners = 4};
  PetscInt      *number;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(4 * count, &number));
  for (PetscInt n = 0; n < 4 * count; n++) {
    const PetscInt root = root_of(parents, n);

    number[n] = root == n ? draft.vertex_count : number[root];
    if (root == n)
      PetscCall(MeshDraftAddVertex(
          &draft, cut->mesh->vertices[mesh_element(cut->mesh, cut->pieces.pieces[n / 4].element)[n % 4]]));
  }
  for (PetscInt n = 0; n < count; n++)
    PetscCall(MeshDraftAddElement(&draft, number + 4 * n));
  PetscCall(PetscFree(number));
  PetscCall(MeshDraftFinish(&draft, DRAFT_WHOLE, &result->mesh));
  PetscFunctionReturn(0);
}

static PetscErrorCode MeasurePieces(const CutMesh *cut, MeshCut *result)
{
  const PetscInt count = cut->pieces.piece_count;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, &result->origins));
  PetscCall(PetscMalloc1(count, &result->volumes));
  for (PetscInt n = 0; n < count; n++) {
    result->origins[n] = cut->pieces.pieces[n].element;
    result->volumes[n] = cut_piece_volume(cut, &cut->pieces.pieces[n]);
  }
  PetscFunctionReturn(0);
}

typedef struct {
  const CutMesh  *cut;
  MeshCut        *result;
  const PetscInt *component; /* of each virtual vertex */
  EdgeMap         vertices;  /* from (point, component) to the surface's vertex */
  MeshDraft       draft;
  PetscInt        place_room;
} Skinning;

static MeshPlace place_of(const Skinning *skinning, PetscInt piece, Vector3 point)
{
  const Mesh      mesh = skinning->cut->mesh;
  const PetscInt *corners = mesh_element(mesh, skinning->cut->pieces.pieces[piece].element);
  Vector3         arm[4];
  PetscReal       whole;
  MeshPlace       place = {.element = piece};

  for (int n = 1; n < 4; n++)
    arm[n] = vector3_subtract(mesh->vertices[corners[n]], mesh->vertices[corners[0]]);
  arm[0] = vector3_subtract(point, mesh->vertices[corners[0]]);
  whole = vector3_dot(arm[1], vector3_cross(arm[2], arm[3]));
  for (int n = 1; n < 4; n++)
    place.weights[n] = vector3_dot(arm[0], vector3_cross(arm[n % 3 + 1], arm[(n + 1) % 3 + 1])) / whole;
  place.weights[0] = 1 - place.weights[1] - place.weights[2] - place.weights[3];
  return place;
}

static PetscErrorCode NumberPoint(Skinning *skinning, PetscInt piece, PetscInt point, PetscInt *vertex)
{
  const PetscInt component = skinning->component[skinning->result->mesh->elements[4 * piece]];
  const PetscInt offset = skinning->cut->point_count; /* tells components from points */

  PetscFunctionBegin;
  *vertex = edge_map_find(&skinning->vertices, point, offset + component);
  if (*vertex >= 0)
    PetscFunctionReturn(0);
  *vertex = skinning->draft.vertex_count;
  PetscCall(EdgeMapAdd(&skinning->vertices, point, offset + component, *vertex));
  PetscCall(GrowList(*vertex, &skinning->place_room, &skinning->result->places));
  skinning->result->places[*vertex] = place_of(skinning, piece, skinning->cut->points[point]);
  PetscCall(MeshDraftAddVertex(&skinning->draft, skinning->cut->points[point]));
  PetscFunctionReturn(0);
}

/* Where a fan of triangles has the largest smallest one. */
static PetscInt choose_apex(const CutMesh *cut, const PetscInt *face)
{
  const PetscInt count = face[1];
  PetscReal      best = -1;
  PetscInt       apex = 0;

  for (PetscInt a = 0; a < count; a++) {
    PetscReal least = PETSC_INFINITY;

    for (PetscInt n = 1; n + 1 < count; n++) {
      const PetscInt triangle[] = {0, 3, face[2 + a], face[2 + (a + n) % count],
                                   face[2 + (a + n + 1) % count]};

      least = PetscMin(least, vector3_norm(cut_face_area(cut, triangle)));
    }
    if (least > best * (1 + 1e-9)) {
      best = least;
      apex = a;
    }
  }
  return apex;
}

static PetscErrorCode AddFace(Skinning *skinning, PetscInt piece, const PetscInt *face)
{
  const PetscInt apex = choose_apex(skinning->cut, face), count = face[1];

  PetscFunctionBegin;
  for (PetscInt n = 1; n + 1 < count; n++) {
    const PetscInt points[] = {face[2 + apex], face[2 + (apex + n) % count],
                               face[2 + (apex + n + 1) % count]};
    PetscInt       corners[3];

    for (int c = 0; c < 3; c++)
      PetscCall(NumberPoint(skinning, piece, points[c], &corners[c]));
    PetscCall(MeshDraftAddElement(&skinning->draft, corners));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSurface(const Joining *joining, MeshCut *result)
{
  const CutMesh *cut = joining->cut;
  PetscInt      *component;
  Skinning       skinning = {.cut = cut, .result = result, .draft = {.corners = 3}};

  PetscFunctionBegin;
  PetscCall(MeshFindComponents(result->mesh, &result->component_count, &component));
  skinning.component = component;
  PetscCall(EdgeMapCreate(cut->point_count, &skinning.vertices));
  for (PetscInt n = 0; n < cut->pieces.piece_count; n++) {
    const CutPiece *piece = &cut->pieces.pieces[n];

    for (const PetscInt *face = piece_begin(&cut->pieces, piece); face < piece_end(&cut->pieces, piece);
         face = next_face(face)) {
      if (piece_across(joining, n, face) < 0)
        PetscCall(AddFace(&skinning, n, face));
    }
  }
  PetscCall(EdgeMapDestroy(&skinning.vertices));
  PetscCall(PetscFree(component));
  PetscCall(MeshDraftFinish(&skinning.draft, DRAFT_WHOLE, &result->surface));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshCutByPlanes(Mesh mesh, PetscInt count, const MeshPlane planes[], MeshCut *result)
{
  CutMesh   cut;
  Joining   joining;
  PetscInt *parents;

  PetscFunctionBegin;
  *result = (MeshCut){0};
  PetscCall(CutMeshCreate(mesh, &cut));
  for (PetscInt n = 0; n < count; n++)
    PetscCall(CutMeshDivide(&cut, &planes[n]));
  PetscCheck(cut.pieces.piece_count < MAX_COUNT, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A mesh is cut into too many pieces");
  PetscCall(PetscMalloc1(4 * cut.pieces.piece_count, &parents));
  for (PetscInt n = 0; n < 4 * cut.pieces.piece_count; n++)
    parents[n] = n;
  PetscCall(StartJoining(&cut, &joining));
  PetscCall(JoinAll(&joining, parents));
  PetscCall(CreateVirtual(&cut, parents, result));
  PetscCall(MeasurePieces(&cut, result));
  PetscCall(CreateSurface(&joining, result));
  PetscCall(PetscFree(parents));
  PetscCall(PetscFree(joining.neighbours));
  PetscCall(PetscFree(joining.first));
  PetscCall(CutMeshDestroy(&cut));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshCutDestroy(MeshCut *cut)
{
  PetscFunctionBegin;
  PetscCall(MeshDestroy(&cut->mesh));
  PetscCall(MeshDestroy(&cut->surface));
  PetscCall(PetscFree(cut->origins));
  PetscCall(PetscFree(cut->volumes));
  PetscCall(PetscFree(cut->places));
  *cut = (MeshCut){0};
  PetscFunctionReturn(0);
}
