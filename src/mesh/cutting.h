/* Pieces of tetrahedra between planes. Private to src/mesh. */
#ifndef MILLRACE_MESH_CUT_H
#define MILLRACE_MESH_CUT_H

#include "edge_map.h"

/* A convex piece of a tetrahedron. Its faces lie one after the other in `numbers`: what it lies on, how many
   points, the points, counter-clockwise from outside. */
typedef struct {
  PetscInt element;
  PetscInt first, length; /* in the numbers */
} CutPiece;

/* What a face lies on: 0 to 3, the side of the tetrahedron opposite that corner, or a plane. */
enum { FACE_ON_PLANE = 4 };

/* On which side of a plane a piece is; NO_SIDE where that does not cut. */
enum { BACK_SIDE = -1, NO_SIDE, FRONT_SIDE };

typedef struct {
  PetscInt  piece_count, piece_room, number_count, number_room;
  CutPiece *pieces;
  PetscInt *numbers;
} CutPieces;

typedef struct {
  Mesh      mesh; /* borrowed */
  PetscReal size; /* largest extent, of which round-off is a part */
  CutPieces pieces;
  PetscInt  point_count, point_room;
  Vector3  *points; /* the mesh's vertices, then those on planes */
} CutMesh;

/* Starts with whole tetrahedra. */
PetscErrorCode CutMeshCreate(Mesh mesh, CutMesh *cut);
PetscErrorCode CutMeshDestroy(CutMesh *cut);
PetscErrorCode CutMeshDivide(CutMesh *cut, const MeshPlane *plane);

static inline const PetscInt *piece_begin(const CutPieces *pieces, const CutPiece *piece)
{
  return pieces->numbers + piece->first;
}

static inline const PetscInt *piece_end(const CutPieces *pieces, const CutPiece *piece)
{
  return pieces->numbers + piece->first + piece->length;
}

static inline const PetscInt *next_face(const PetscInt *face)
{
  return face + 2 + face[1];
}

/* The area vector of a face, outwards. */
Vector3   cut_face_area(const CutMesh *cut, const PetscInt *face);
PetscReal cut_piece_volume(const CutMesh *cut, const CutPiece *piece);
PetscInt  cut_piece_side(const CutMesh *cut, const CutPiece *piece, const MeshPlane *plane);
PetscBool plane_has_end(const MeshPlane *plane);
/* Leaves out the pieces that no plane keeps. */
PetscErrorCode CutMeshKeep(CutMesh *cut, PetscInt count, const MeshPlane planes[]);

/* A vertex of the surface, and a piece that has it with its virtual tetrahedron. */
typedef struct {
  PetscInt vertex, piece, element;
} CutUse;
typedef struct {
  PetscInt           plane_count, use_count, use_room;
  const MeshPlane   *planes; /* borrowed, as `sides` */
  const signed char *sides;  /* of each piece, of each plane */
  PetscReal          size;   /* of the mesh */
  CutUse            *uses;
} CutSurface;
/* cutting_gap.c: vertices of the surface stand back from planes with a gap by half of that. */
void cut_stand_back(CutSurface *surface, MeshCut *result);
/* A point in a tetrahedron, or outside of it by negative weights. */
MeshPlace cut_place(Mesh mesh, PetscInt element, Vector3 point);

#endif
