/* Triangles cut by boxes, crossed by lines and in the way of segments.

   A lattice is a block of equal boxes, box (i, j, k) between origin + i spacing and origin + (i + 1) spacing.
   Its arrays hold one value per box, x fastest. Bodies on several ranks get the same answer whatever part of
   the lattice a rank looks at: to round-off, and areas, moments and pieces to the bit if all parts have the
   same `first`; volumes, too, if their rows along x have the same start. */
#ifndef MILLRACE_LATTICE_H
#define MILLRACE_LATTICE_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/geometry.h>

#include <math.h>

MILLRACE_API_BEGIN

typedef struct {
  PetscInt       vertex_count, triangle_count;
  const Vector3 *vertices;
  const PetscInt (*triangles)[3];
} Triangles; /* borrowed */

/* By so much of a cell triangles are wider wherever they block, far above the round-off of positions and far
   below what anyone can see: no segment slips between two of them. */
#define LATTICE_MARGIN 1e-6

typedef struct {
  Vector3  origin, spacing;
  PetscInt start[MILLRACE_DIM], end[MILLRACE_DIM]; /* boxes start <= index < end */
  PetscInt first[MILLRACE_DIM]; /* of the whole lattice: what lies before it is not cut; at most `start` */
} Lattice;

static inline PetscInt lattice_size(const Lattice *lattice)
{
  PetscInt size = 1;

  for (PetscInt d = 0; d < MILLRACE_DIM; d++)
    size *= PetscMax(lattice->end[d] - lattice->start[d], 0);
  return size;
}
/* The first box along d in which a triangle is cut, one before the whole lattice at the least. */
static inline PetscInt lattice_first_cut(const Lattice *lattice, PetscInt d, PetscReal low)
{
  const PetscInt before = PetscMin(lattice->first[d], lattice->start[d]) - 1;

  return low < (PetscReal)before ? before : (PetscInt)floor(low);
}
static inline PetscInt lattice_index(const Lattice *lattice, PetscInt i, PetscInt j, PetscInt k)
{
  const PetscInt width = lattice->end[0] - lattice->start[0], depth = lattice->end[1] - lattice->start[1];

  return i - lattice->start[0] + width * (j - lattice->start[1] + depth * (k - lattice->start[2]));
}

/* Adds to every box the area of triangles in it and, unless `moment` is null, that area times its centroid.
   `volume` and `passing` gather what lattice_fill makes the volume of, inside closed surfaces that face
   outwards; triangles beyond the lattice count for it too. */
void lattice_cut(const Lattice *lattice, const Triangles *triangles, PetscReal area[], Vector3 moment[],
                 PetscReal volume[], PetscReal passing[]);
/* `volume` becomes the volume in each box. */
void lattice_fill(const Lattice *lattice, PetscReal volume[], const PetscReal passing[]);
/* Area and volume of one box. */
void box_cut(Vector3 low, Vector3 high, const Triangles *triangles, PetscReal *area, PetscReal *volume);

/* The part of a triangle in one box: a convex polygon. */
typedef struct {
  PetscInt       triangle, at[MILLRACE_DIM];
  int            count;   /* of corners */
  const Vector3 *corners; /* in spacings from the lattice's origin */
} LatticePiece;
typedef void (*PieceVisitor)(const LatticePiece *piece, void *context);
/* All pieces in the boxes of the lattice; one on a plane between two boxes lies in the upper one. */
void lattice_visit_pieces(const Lattice *lattice, const Triangles *triangles, PieceVisitor visit,
                          void *context);

/* Adds to every box how often the closed surface winds about its centre: 1 inside, 0 outside. Exact for
   corners rounded to 2^-16 spacings, within 8192 spacings of each other. */
void lattice_wind(const Lattice *lattice, const Triangles *triangles, PetscInt winding[]);
/* Adds to every box how often the segment from the centre of the box before, along `direction`, to its own
   crosses the closed surface, with corners rounded likewise: a surface that only touches it does not. */
void lattice_count_crossings(const Lattice *lattice, const Triangles *triangles, PetscInt direction,
                             PetscInt counts[]);

/* Sets to `mark` those boxes for which the segment from the centre of the box before, along `direction`, to
   its own comes closer to a triangle than `margin` spacings; others keep what they have. */
void lattice_block(const Lattice *lattice, const Triangles *triangles, PetscInt direction, PetscReal margin,
                   PetscInt mark, PetscInt marks[]);

/* The part of these segments that triangles touch: `first` and `last` become the least and the largest place
   on each, from 0 to 1; others keep what they have. */
void lattice_hit(const Lattice *lattice, const Triangles *triangles, PetscInt direction, PetscReal margin,
                 PetscReal first[], PetscReal last[]);

/* Whether a segment comes closer to the surface than `margin`: nothing is seen beyond. */
PetscBool surface_blocks(Surface surface, Vector3 from, Vector3 to, PetscReal margin);
/* Whether a point has come to the other side while the vertices went from where they are in one surface to
   where they are in the other, `way` at most; false where it may have gone around an edge. */
PetscBool surface_is_crossed(Surface before, Surface after, PetscReal way, Vector3 from, Vector3 to);

/* The prism over the cross-section at the height z, from z - 1/2 to z + 1/2 and without its ends; the arrays
   of `prism` are to be freed with PetscFree2(vertices, triangles). Not collective. */
typedef struct {
  PetscInt vertex_count, triangle_count;
  Vector3 *vertices;
  PetscInt (*triangles)[3];
} Prism;
PetscErrorCode TrianglesSlice(const Triangles *triangles, PetscReal z, Prism *prism);

MILLRACE_API_END

#endif
