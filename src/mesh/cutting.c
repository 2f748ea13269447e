/* Tetrahedra divided by planes into convex pieces.

   One plane after the other divides the pieces that there are. A point of a plane is known by the two ends of
   the edge that it lies on, so all pieces around that edge, in all tetrahedra, have the same one. A point
   nearer to a plane than 1e-12 of the mesh is on it and makes no new one: so a plane may go through vertices,
   edges and faces. */
#include "cutting.h"

static PetscErrorCode AddNumber(CutPieces *pieces, PetscInt number)
{
  PetscFunctionBegin;
  PetscCheck(pieces->number_count < PETSC_MAX_INT / 4, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A mesh is cut into too many pieces");
  PetscCall(GrowList(pieces->number_count, &pieces->number_room, &pieces->numbers));
  pieces->numbers[pieces->number_count++] = number;
  PetscFunctionReturn(0);
}

static PetscErrorCode BeginPiece(CutPieces *pieces, PetscInt element)
{
  PetscFunctionBegin;
  PetscCall(GrowList(pieces->piece_count, &pieces->piece_room, &pieces->pieces));
  pieces->pieces[pieces->piece_count++] = (CutPiece){element, pieces->number_count, 0};
  PetscFunctionReturn(0);
}

static void end_piece(CutPieces *pieces)
{
  CutPiece *piece = &pieces->pieces[pieces->piece_count - 1];

  piece->length = pieces->number_count - piece->first;
}

static PetscErrorCode AddWhole(CutPieces *pieces, Mesh mesh, PetscInt element)
{
  const PetscInt *corners = mesh_element(mesh, element);

  PetscFunctionBegin;
  PetscCall(BeginPiece(pieces, element));
  for (PetscInt n = 0; n < 4; n++) {
    PetscCall(AddNumber(pieces, n));
    PetscCall(AddNumber(pieces, 3));
    for (int c = 0; c < 3; c++)
      PetscCall(AddNumber(pieces, corners[mesh_side(MESH_TETRAHEDRA, n)[c]]));
  }
  end_piece(pieces);
  PetscFunctionReturn(0);
}

static PetscErrorCode AddPoint(CutMesh *cut, Vector3 point)
{
  PetscFunctionBegin;
  PetscCheck(cut->point_count < MAX_COUNT, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A mesh is cut into too many pieces");
  PetscCall(GrowList(cut->point_count, &cut->point_room, &cut->points));
  cut->points[cut->point_count++] = point;
  PetscFunctionReturn(0);
}

PetscErrorCode CutMeshCreate(Mesh mesh, CutMesh *cut)
{
  Vector3 low, high;

  PetscFunctionBegin;
  PetscCheck(mesh->kind == MESH_TETRAHEDRA && mesh->order == 1, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "Only linear tetrahedra can be cut");
  *cut = (CutMesh){.mesh = mesh};
  mesh_bounds(mesh, &low, &high);
  cut->size = vector3_norm(vector3_subtract(high, low));
  for (PetscInt v = 0; v < mesh->vertex_count; v++)
    PetscCall(AddPoint(cut, mesh->vertices[v]));
  for (PetscInt n = 0; n < mesh->element_count; n++)
    PetscCall(AddWhole(&cut->pieces, mesh, n));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyPieces(CutPieces *pieces)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(pieces->pieces));
  PetscCall(PetscFree(pieces->numbers));
  PetscFunctionReturn(0);
}

PetscErrorCode CutMeshDestroy(CutMesh *cut)
{
  PetscFunctionBegin;
  PetscCall(DestroyPieces(&cut->pieces));
  PetscCall(PetscFree(cut->points));
  PetscFunctionReturn(0);
}

/* One plane at work. */
typedef struct {
  CutMesh   *cut;
  PetscReal *height; /* of each point that was there, above the plane; 0: on it */
  PetscInt   height_count;
  EdgeMap    crossings; /* from an edge to its point on the plane */
  CutPieces  pieces;    /* new */
} Division;

static PetscReal height_of(const Division *division, PetscInt point)
{
  return point < division->height_count ? division->height[point] : 0;
}

static PetscErrorCode FindCrossing(Division *division, PetscInt a, PetscInt b, PetscInt *point)
{
  const PetscInt  low = PetscMin(a, b), high = PetscMax(a, b);
  const PetscReal from = height_of(division, low), to = height_of(division, high), t = from / (from - to);
  CutMesh        *cut = division->cut;

  PetscFunctionBegin;
  *point = edge_map_find(&division->crossings, low, high);
  if (*point >= 0)
    PetscFunctionReturn(0);
  *point = cut->point_count;
  PetscCall(EdgeMapAdd(&division->crossings, low, high, *point));
  PetscCall(AddPoint(
      cut, vector3_add(vector3_scale(1 - t, cut->points[low]), vector3_scale(t, cut->points[high]))));
  PetscFunctionReturn(0);
}

/* The part of a face on one side (1 or -1) of the plane; nothing if that has no area. */
static PetscErrorCode AddPart(Division *division, const PetscInt *face, PetscReal side, PetscBool *has_part)
{
  CutPieces     *pieces = &division->pieces;
  const PetscInt count = face[1], start = pieces->number_count;

  PetscFunctionBegin;
  *has_part = PETSC_FALSE;
  for (PetscInt n = 0; n < count; n++) {
    if (side * height_of(division, face[2 + n]) > 0)
      *has_part = PETSC_TRUE;
  }
  if (!*has_part)
    PetscFunctionReturn(0);
  PetscCall(AddNumber(pieces, face[0]));
  PetscCall(AddNumber(pieces, 0));
  for (PetscInt n = 0; n < count; n++) {
    const PetscInt  a = face[2 + n], b = face[2 + (n + 1) % count];
    const PetscReal here = side * height_of(division, a), there = side * height_of(division, b);
    PetscInt        crossing;

    if (here >= 0)
      PetscCall(AddNumber(pieces, a));
    if (here * there >= 0)
      continue;
    PetscCall(FindCrossing(division, a, b, &crossing));
    PetscCall(AddNumber(pieces, crossing));
  }
  pieces->numbers[start + 1] = pieces->number_count - start - 2;
  PetscFunctionReturn(0);
}

/* The edges in the plane of the faces of the last piece, as (from, to); those that run both ways cancel. */
enum { MOST_RIM = 512 };

static PetscErrorCode FindRim(const Division *division, PetscInt rim[MOST_RIM][2], PetscInt *rim_count)
{
  const CutPieces *pieces = &division->pieces;
  const CutPiece  *piece = &pieces->pieces[pieces->piece_count - 1];
  const PetscInt  *end = pieces->numbers + pieces->number_count;

  PetscFunctionBegin;
  *rim_count = 0;
  for (const PetscInt *face = pieces->numbers + piece->first; face < end; face = next_face(face)) {
    for (PetscInt n = 0; n < face[1]; n++) {
      const PetscInt a = face[2 + n], b = face[2 + (n + 1) % face[1]];
      PetscInt       twin = 0;

      if (height_of(division, a) != 0 || height_of(division, b) != 0)
        continue;
      while (twin < *rim_count && (rim[twin][0] != b || rim[twin][1] != a))
        twin++;
      if (twin < *rim_count) {
        --*rim_count;
        rim[twin][0] = rim[*rim_count][0];
        rim[twin][1] = rim[*rim_count][1];
        continue;
      }
      PetscCheck(*rim_count < MOST_RIM, PETSC_COMM_SELF, PETSC_ERR_SUP,
                 "A tetrahedron is cut by too many planes");
      rim[*rim_count][0] = a;
      rim[(*rim_count)++][1] = b;
    }
  }
  PetscFunctionReturn(0);
}

/* The section closes the piece: the rim the other way round. */
static PetscErrorCode AddSection(Division *division)
{
  PetscInt rim[MOST_RIM][2], count, at;

  PetscFunctionBegin;
  PetscCall(FindRim(division, rim, &count));
  if (count < 3)
    PetscFunctionReturn(0);
  PetscCall(AddNumber(&division->pieces, FACE_ON_PLANE));
  PetscCall(AddNumber(&division->pieces, count));
  at = rim[0][0];
  for (PetscInt n = 0; n < count; n++) {
    PetscInt before = 0;

    PetscCall(AddNumber(&division->pieces, at));
    while (before < count && rim[before][1] != at)
      before++;
    PetscCheck(before < count, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The section of a piece is not closed");
    at = rim[before][0];
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode AddSide(Division *division, const CutPiece *piece, PetscReal side, PetscBool is_divided)
{
  const CutPieces *old = &division->cut->pieces;
  PetscBool        has_part;

  PetscFunctionBegin;
  PetscCall(BeginPiece(&division->pieces, piece->element));
  if (!is_divided) {
    for (const PetscInt *n = piece_begin(old, piece); n < piece_end(old, piece); n++)
      PetscCall(AddNumber(&division->pieces, *n));
  } else {
    for (const PetscInt *face = piece_begin(old, piece); face < piece_end(old, piece); face = next_face(face))
      PetscCall(AddPart(division, face, side, &has_part));
    PetscCall(AddSection(division));
  }
  end_piece(&division->pieces);
  PetscFunctionReturn(0);
}

static PetscErrorCode DividePiece(Division *division, const CutPiece *piece)
{
  const CutPieces *old = &division->cut->pieces;
  PetscBool        above = PETSC_FALSE, below = PETSC_FALSE;

  PetscFunctionBegin;
  for (const PetscInt *face = piece_begin(old, piece); face < piece_end(old, piece); face = next_face(face)) {
    for (PetscInt n = 0; n < face[1]; n++) {
      above = above || height_of(division, face[2 + n]) > 0 ? PETSC_TRUE : PETSC_FALSE;
      below = below || height_of(division, face[2 + n]) < 0 ? PETSC_TRUE : PETSC_FALSE;
    }
  }
  if (above || !below)
    PetscCall(AddSide(division, piece, 1, below));
  if (below)
    PetscCall(AddSide(division, piece, -1, above));
  PetscFunctionReturn(0);
}

static PetscErrorCode MeasureHeights(Division *division, const MeshPlane *plane)
{
  const CutMesh  *cut = division->cut;
  const PetscReal length = vector3_norm(plane->normal), on_plane = 1e-12 * cut->size;

  PetscFunctionBegin;
  PetscCheck(length > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "A plane needs a normal");
  division->height_count = cut->point_count;
  PetscCall(PetscMalloc1(cut->point_count, &division->height));
  for (PetscInt n = 0; n < cut->point_count; n++) {
    const PetscReal height =
        vector3_dot(plane->normal, vector3_subtract(cut->points[n], plane->point)) / length;

    division->height[n] = PetscAbsReal(height) <= on_plane ? 0 : height;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode CutMeshDivide(CutMesh *cut, const MeshPlane *plane)
{
  Division division = {.cut = cut};

  PetscFunctionBegin;
  PetscCall(MeasureHeights(&division, plane));
  PetscCall(EdgeMapCreate(64, &division.crossings));
  for (PetscInt n = 0; n < cut->pieces.piece_count; n++)
    PetscCall(DividePiece(&division, &cut->pieces.pieces[n]));
  PetscCall(PetscFree(division.height));
  PetscCall(EdgeMapDestroy(&division.crossings));
  PetscCall(DestroyPieces(&cut->pieces));
  cut->pieces = division.pieces;
  PetscFunctionReturn(0);
}

Vector3 cut_face_area(const CutMesh *cut, const PetscInt *face)
{
  const Vector3 apex = cut->points[face[2]];
  Vector3       sum = vector3(0, 0, 0);

  for (PetscInt n = 1; n + 1 < face[1]; n++)
    sum = vector3_add(sum, vector3_cross(vector3_subtract(cut->points[face[2 + n]], apex),
                                         vector3_subtract(cut->points[face[3 + n]], apex)));
  return vector3_scale(0.5, sum);
}

PetscReal cut_piece_volume(const CutMesh *cut, const CutPiece *piece)
{
  const PetscInt *begin = piece_begin(&cut->pieces, piece), *end = piece_end(&cut->pieces, piece);
  const Vector3   apex = cut->points[begin[2]];
  PetscReal       sum = 0;

  for (const PetscInt *face = begin; face < end; face = next_face(face))
    sum += vector3_dot(cut_face_area(cut, face), vector3_subtract(cut->points[face[2]], apex)) / 3;
  return sum;
}

PetscBool plane_has_end(const MeshPlane *plane)
{
  return vector3_norm(plane->end_normal) > 0 ? PETSC_TRUE : PETSC_FALSE;
}

/* Of the point of a piece that is farthest from the plane: 1 or -1. */
static PetscInt side_of(const CutMesh *cut, const CutPiece *piece, Vector3 point, Vector3 normal)
{
  PetscReal farthest = 0;

  for (const PetscInt *face = piece_begin(&cut->pieces, piece); face < piece_end(&cut->pieces, piece);
       face = next_face(face)) {
    for (PetscInt n = 0; n < face[1]; n++) {
      const PetscReal height = vector3_dot(normal, vector3_subtract(cut->points[face[2 + n]], point));

      if (PetscAbsReal(height) > PetscAbsReal(farthest))
        farthest = height;
    }
  }
  return farthest > 0 ? FRONT_SIDE : BACK_SIDE;
}

PetscInt cut_piece_side(const CutMesh *cut, const CutPiece *piece, const MeshPlane *plane)
{
  if (plane_has_end(plane) && side_of(cut, piece, plane->end_point, plane->end_normal) == BACK_SIDE)
    return NO_SIDE;
  return side_of(cut, piece, plane->point, plane->normal);
}

PetscErrorCode CutMeshKeep(CutMesh *cut, PetscInt count, const MeshPlane planes[])
{
  CutPieces *pieces = &cut->pieces;
  PetscInt   kept = 0;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < pieces->piece_count; n++) {
    PetscBool stays = PETSC_TRUE;

    for (PetscInt p = 0; p < count && stays; p++)
      if (planes[p].keep != MESH_KEEP_BOTH)
        stays = (cut_piece_side(cut, &pieces->pieces[n], &planes[p]) == FRONT_SIDE) ==
                        (planes[p].keep == MESH_KEEP_FRONT)
                    ? PETSC_TRUE
                    : PETSC_FALSE;
    if (stays)
      pieces->pieces[kept++] = pieces->pieces[n];
  }
  pieces->piece_count = kept;
  PetscFunctionReturn(0);
}
