/* The pieces of a cut mesh as a mesh of virtual tetrahedra (thesis 2, virtual nodes; Sifakis et al. 2007).

   Each piece has a tetrahedron of its own, the one that it was cut from, with copies of its vertices. Two
   pieces on either side of a face that no plane parts are joined if they have a part of the face in common:
   their copies of its three vertices become one. Pieces of one tetrahedron that hang together beyond the end
   of a half plane have one virtual tetrahedron. What bounds the material is triangulated; its vertices are
   places in the virtual tetrahedra, the same if they are means of the same virtual vertices. */
#include "cutting.h"

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

typedef struct {
  const CutMesh   *cut;
  PetscInt         plane_count;
  const MeshPlane *planes;
  PetscBool        has_ends;             /* one of the planes has */
  signed char     *sides;                /* of each piece, of each plane */
  PetscInt        *neighbours;           /* of elements */
  PetscInt        *first;                /* piece of each element; they lie together */
  PetscInt         group_count, *groups; /* the virtual tetrahedron of each piece */
} Joining;

static PetscBool have_same_points(const PetscInt *face, const PetscInt *other)
{
  if (face[1] != other[1])
    return PETSC_FALSE;
  for (PetscInt n = 0; n < face[1]; n++) {
    PetscInt m = 0;

    while (m < other[1] && other[2 + m] != face[2 + n])
      m++;
    if (m == other[1])
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Another piece of the element that has the face too; -1: none. */
static PetscInt find_twin(const Joining *joining, PetscInt piece, const PetscInt *face, PetscInt element)
{
  const CutPieces *pieces = &joining->cut->pieces;

  for (PetscInt n = joining->first[element]; n < joining->first[element + 1]; n++) {
    const CutPiece *other = &pieces->pieces[n];

    for (const PetscInt *side = piece_begin(pieces, other); n != piece && side < piece_end(pieces, other);
         side = next_face(side)) {
      if (have_same_points(face, side))
        return n;
    }
  }
  return -1;
}

/* Whether no plane has one of them before it and the other behind. */
static PetscBool hang_together(const Joining *joining, PetscInt piece, PetscInt other)
{
  const PetscInt count = joining->plane_count;

  for (PetscInt p = 0; p < count; p++) {
    if (joining->sides[count * piece + p] * joining->sides[count * other + p] < 0)
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* The piece of the same tetrahedron across a face; -1: none. Where all planes are whole they part all. */
static PetscInt piece_within(const Joining *joining, PetscInt piece, const PetscInt *face)
{
  if (face[0] < FACE_ON_PLANE || !joining->has_ends)
    return -1;
  return find_twin(joining, piece, face, joining->cut->pieces.pieces[piece].element);
}

/* The piece of another tetrahedron that a piece hangs together with across a face; -1: none. */
static PetscInt piece_across(const Joining *joining, PetscInt piece, const PetscInt *face)
{
  const CutPiece *here = &joining->cut->pieces.pieces[piece];
  const PetscInt  neighbour = face[0] < FACE_ON_PLANE ? joining->neighbours[4 * here->element + face[0]] : -1;
  const PetscInt  other = neighbour < 0 ? -1 : find_twin(joining, piece, face, neighbour);

  return other >= 0 && hang_together(joining, piece, other) ? other : -1;
}

/* The copies of three vertices in two pieces become one. */
static void join_pieces(const Joining *joining, PetscInt parents[], PetscInt piece, PetscInt side,
                        PetscInt other)
{
  const CutMesh  *cut = joining->cut;
  const PetscInt *here = mesh_element(cut->mesh, cut->pieces.pieces[piece].element);
  const PetscInt *there = mesh_element(cut->mesh, cut->pieces.pieces[other].element);

  for (int n = 0; n < 3; n++) {
    const PetscInt corner = mesh_side(MESH_TETRAHEDRA, side)[n];

    for (PetscInt m = 0; m < 4; m++) {
      if (there[m] == here[corner])
        join(parents, 4 * joining->groups[piece] + corner, 4 * joining->groups[other] + m);
    }
  }
}

static PetscErrorCode FindSides(Joining *joining)
{
  const CutMesh *cut = joining->cut;
  const PetscInt count = joining->plane_count;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count * cut->pieces.piece_count, &joining->sides));
  for (PetscInt n = 0; n < cut->pieces.piece_count; n++) {
    for (PetscInt p = 0; p < count; p++)
      joining->sides[count * n + p] =
          (signed char)cut_piece_side(cut, &cut->pieces.pieces[n], &joining->planes[p]);
  }
  for (PetscInt p = 0; p < count; p++)
    joining->has_ends = joining->has_ends || plane_has_end(&joining->planes[p]) ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}

/* Pieces of a tetrahedron that hang together, directly or by others, are one group. */
static PetscErrorCode FindGroups(Joining *joining)
{
  const CutPieces *pieces = &joining->cut->pieces;
  PetscInt        *parents;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(pieces->piece_count, &joining->groups));
  PetscCall(PetscMalloc1(pieces->piece_count, &parents));
  for (PetscInt n = 0; n < pieces->piece_count; n++)
    parents[n] = n;
  for (PetscInt n = 0; n < pieces->piece_count; n++) {
    const CutPiece *piece = &pieces->pieces[n];

    for (const PetscInt *face = piece_begin(pieces, piece); face < piece_end(pieces, piece);
         face = next_face(face)) {
      const PetscInt other = piece_within(joining, n, face);

      if (other >= 0 && hang_together(joining, n, other))
        join(parents, n, other);
    }
  }
  for (PetscInt n = 0; n < pieces->piece_count; n++) {
    const PetscInt root = root_of(parents, n);

    joining->groups[n] = root == n ? joining->group_count++ : joining->groups[root];
  }
  PetscCall(PetscFree(parents));
  PetscFunctionReturn(0);
}

static PetscErrorCode StartJoining(const CutMesh *cut, PetscInt count, const MeshPlane planes[],
                                   Joining *joining)
{
  PetscInt at = 0;

  PetscFunctionBegin;
  *joining = (Joining){.cut = cut, .plane_count = count, .planes = planes};
  PetscCall(MeshFindNeighbours(cut->mesh, &joining->neighbours));
  PetscCall(PetscMalloc1(cut->mesh->element_count + 1, &joining->first));
  for (PetscInt e = 0; e <= cut->mesh->element_count; e++) {
    while (at < cut->pieces.piece_count && cut->pieces.pieces[at].element < e)
      at++;
    joining->first[e] = at;
  }
  PetscCall(FindSides(joining));
  PetscCall(FindGroups(joining));
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
        join_pieces(joining, parents, n, face[0], other);
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode MeasurePieces(const Joining *joining, MeshCut *result)
{
  const CutMesh *cut = joining->cut;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(joining->group_count, &result->origins));
  PetscCall(PetscCalloc1(joining->group_count, &result->volumes));
  for (PetscInt n = 0; n < cut->pieces.piece_count; n++) {
    result->origins[joining->groups[n]] = cut->pieces.pieces[n].element;
    result->volumes[joining->groups[n]] += cut_piece_volume(cut, &cut->pieces.pieces[n]);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateVirtual(const Joining *joining, PetscInt parents[], MeshCut *result)
{
  const Mesh     whole = joining->cut->mesh;
  const PetscInt count = joining->group_count;
  MeshDraft      draft = {.corners = 4};
  PetscInt      *number;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(4 * count, &number));
  for (PetscInt n = 0; n < 4 * count; n++) {
    const PetscInt root = root_of(parents, n);

    number[n] = root == n ? draft.vertex_count : number[root];
    if (root == n)
      PetscCall(
          MeshDraftAddVertex(&draft, whole->vertices[mesh_element(whole, result->origins[n / 4])[n % 4]]));
  }
  for (PetscInt n = 0; n < count; n++)
    PetscCall(MeshDraftAddElement(&draft, number + 4 * n));
  PetscCall(PetscFree(number));
  PetscCall(MeshDraftFinish(&draft, DRAFT_WHOLE, &result->mesh));
  PetscFunctionReturn(0);
}

typedef struct {
  const Joining *joining;
  MeshCut       *result;
  EdgeMap        chains;   /* from a point, then a virtual vertex that it is a mean of, then the next, … */
  EdgeMap        vertices; /* from the last link to the surface's vertex */
  MeshDraft      draft;
  PetscInt       place_room;
  CutSurface     surface;
} Skinning;

MeshPlace cut_place(Mesh mesh, PetscInt element, Vector3 point)
{
  const PetscInt *corners = mesh_element(mesh, element);
  Vector3         arm[4];
  PetscReal       whole;
  MeshPlace       place = {.element = element};

  for (int n = 1; n < 4; n++)
    arm[n] = vector3_subtract(mesh->vertices[corners[n]], mesh->vertices[corners[0]]);
  arm[0] = vector3_subtract(point, mesh->vertices[corners[0]]);
  whole = vector3_dot(arm[1], vector3_cross(arm[2], arm[3]));
  for (int n = 1; n < 4; n++)
    place.weights[n] = vector3_dot(arm[0], vector3_cross(arm[n % 3 + 1], arm[(n + 1) % 3 + 1])) / whole;
  place.weights[0] = 1 - place.weights[1] - place.weights[2] - place.weights[3];
  return place;
}

/* A number for a point as the mean of virtual vertices. */
static PetscErrorCode FindLink(Skinning *skinning, PetscInt point, const MeshPlace *place, PetscInt *link)
{
  const PetscInt  nodes_from = PETSC_MAX_INT / 2; /* tells virtual vertices from points and links */
  const PetscReal least = 1e-9;
  const PetscInt  points = skinning->joining->cut->point_count;
  PetscInt        nodes[4];

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(nodes, mesh_element(skinning->result->mesh, place->element), 4));
  for (int n = 0; n < 4; n++)
    nodes[n] = place->weights[n] > least ? nodes[n] : -1;
  PetscCall(PetscSortInt(4, nodes));
  *link = point;
  for (int n = 0; n < 4; n++) {
    PetscInt next;

    if (nodes[n] < 0)
      continue;
    next = edge_map_find(&skinning->chains, *link, nodes_from + nodes[n]);
    if (next < 0) {
      next = points + skinning->chains.count;
      PetscCall(EdgeMapAdd(&skinning->chains, *link, nodes_from + nodes[n], next));
    }
    *link = next;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode NumberPoint(Skinning *skinning, PetscInt piece, PetscInt point, PetscInt *vertex)
{
  const Vector3   where = skinning->joining->cut->points[point];
  const PetscInt  element = skinning->joining->groups[piece];
  const MeshPlace place = cut_place(skinning->result->mesh, element, where);
  CutSurface     *surface = &skinning->surface;
  PetscInt        link = -1;

  PetscFunctionBegin;
  PetscCall(FindLink(skinning, point, &place, &link));
  *vertex = edge_map_find(&skinning->vertices, link, PETSC_MAX_INT);
  if (*vertex >= 0) {
    PetscCall(AppendItem(&surface->use_count, &surface->use_room, &surface->uses,
                         (CutUse){*vertex, piece, element}));
    PetscFunctionReturn(0);
  }
  *vertex = skinning->draft.vertex_count;
  PetscCall(
      AppendItem(&surface->use_count, &surface->use_room, &surface->uses, (CutUse){*vertex, piece, element}));
  PetscCall(EdgeMapAdd(&skinning->vertices, link, PETSC_MAX_INT, *vertex));
  PetscCall(GrowList(*vertex, &skinning->place_room, &skinning->result->places));
  skinning->result->places[*vertex] = place;
  PetscCall(MeshDraftAddVertex(&skinning->draft, where));
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
  const PetscInt apex = choose_apex(skinning->joining->cut, face), count = face[1];

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

/* What lies on a plane between two pieces with one virtual tetrahedron cannot open. */
static PetscBool is_surface(const Joining *joining, PetscInt piece, const PetscInt *face)
{
  const PetscInt within = piece_within(joining, piece, face);

  if (within >= 0 && joining->groups[within] == joining->groups[piece])
    return PETSC_FALSE;
  return piece_across(joining, piece, face) < 0 ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode CreateSurface(const Joining *joining, MeshCut *result)
{
  const CutPieces *pieces = &joining->cut->pieces;
  Skinning         skinning = {.joining = joining,
                               .result = result,
                               .draft = {.corners = 3},
                               .surface = {.plane_count = joining->plane_count,
                                           .planes = joining->planes,
                                           .sides = joining->sides,
                                           .size = joining->cut->size}};

  PetscFunctionBegin;
  PetscCall(EdgeMapCreate(joining->cut->point_count, &skinning.vertices));
  PetscCall(EdgeMapCreate(joining->cut->point_count, &skinning.chains));
  for (PetscInt n = 0; n < pieces->piece_count; n++) {
    const CutPiece *piece = &pieces->pieces[n];

    for (const PetscInt *face = piece_begin(pieces, piece); face < piece_end(pieces, piece);
         face = next_face(face)) {
      if (is_surface(joining, n, face))
        PetscCall(AddFace(&skinning, n, face));
    }
  }
  PetscCall(EdgeMapDestroy(&skinning.vertices));
  PetscCall(EdgeMapDestroy(&skinning.chains));
  PetscCall(MeshDraftFinish(&skinning.draft, DRAFT_WHOLE, &result->surface));
  cut_stand_back(&skinning.surface, result);
  PetscCall(PetscFree(skinning.surface.uses));
  PetscFunctionReturn(0);
}

static PetscErrorCode JoinPieces(const CutMesh *cut, PetscInt count, const MeshPlane planes[],
                                 MeshCut *result)
{
  Joining   joining;
  PetscInt *parents, *component;

  PetscFunctionBegin;
  PetscCall(StartJoining(cut, count, planes, &joining));
  PetscCall(PetscMalloc1(4 * joining.group_count, &parents));
  for (PetscInt n = 0; n < 4 * joining.group_count; n++)
    parents[n] = n;
  PetscCall(JoinAll(&joining, parents));
  PetscCall(MeasurePieces(&joining, result));
  PetscCall(CreateVirtual(&joining, parents, result));
  PetscCall(CreateSurface(&joining, result));
  PetscCall(MeshFindComponents(result->mesh, &result->component_count, &component));
  PetscCall(PetscFree(component));
  PetscCall(PetscFree(parents));
  PetscCall(PetscFree(joining.neighbours));
  PetscCall(PetscFree(joining.first));
  PetscCall(PetscFree(joining.sides));
  PetscCall(PetscFree(joining.groups));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshCutByPlanes(Mesh mesh, PetscInt count, const MeshPlane planes[], MeshCut *result)
{
  CutMesh cut;

  PetscFunctionBegin;
  *result = (MeshCut){0};
  PetscCall(CutMeshCreate(mesh, &cut));
  for (PetscInt n = 0; n < count; n++) {
    const MeshPlane end = {.point = planes[n].end_point, .normal = planes[n].end_normal};

    if (plane_has_end(&planes[n]))
      PetscCall(CutMeshDivide(&cut, &end));
    PetscCall(CutMeshDivide(&cut, &planes[n]));
  }
  PetscCheck(cut.pieces.piece_count < MAX_COUNT, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A mesh is cut into too many pieces");
  PetscCall(CutMeshKeep(&cut, count, planes));
  PetscCall(JoinPieces(&cut, count, planes, result));
  PetscCall(CutMeshDestroy(&cut));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshCutApart(Mesh *mesh, PetscInt count, const MeshPlane planes[])
{
  MeshCut cut;

  PetscFunctionBegin;
  PetscCall(MeshCutByPlanes(*mesh, count, planes, &cut));
  for (PetscInt e = 0; e < cut.mesh->element_count; e++)
    cut.volumes[e] /= mesh_element_measure(cut.mesh, e);
  if ((*mesh)->numbers) {
    PetscCall(PetscMalloc1(cut.mesh->element_count, &cut.mesh->numbers));
    for (PetscInt e = 0; e < cut.mesh->element_count; e++)
      cut.mesh->numbers[e] = (*mesh)->numbers[cut.origins[e]];
  }
  cut.mesh->filled = cut.volumes;
  cut.mesh->surface = cut.surface;
  cut.mesh->places = cut.places;
  PetscCall(MeshDestroy(mesh));
  *mesh = cut.mesh;
  PetscCall(PetscFree(cut.origins));
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
