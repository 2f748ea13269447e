/* Triangles cut into the pieces that lie in the boxes of a lattice: by the planes across z, then y, then x.
 */
#include "geometry_impl.h"
#include "polygon.h"

#include <millrace/lattice.h>

typedef struct {
  const Lattice *lattice;
  PetscInt       triangle;
  PieceVisitor   visit;
  void          *context;
} PieceCut;

static void cut_across(const PieceCut *cut, int d, PetscInt at[DIM], const Polygon *polygon);

/* What lies in one layer of boxes across d. */
static void visit_layer(const PieceCut *cut, int d, PetscInt at[DIM], const Polygon *polygon)
{
  const LatticePiece piece = {cut->triangle, {at[X], at[Y], at[Z]}, polygon->count, polygon->corner};

  if (polygon->count < 3 || at[d] < cut->lattice->start[d] || at[d] >= cut->lattice->end[d])
    return;
  if (d == X)
    cut->visit(&piece, cut->context);
  else
    cut_across(cut, d - 1, at, polygon);
}

static void cut_across(const PieceCut *cut, int d, PetscInt at[DIM], const Polygon *polygon)
{
  const PetscInt start = cut->lattice->start[d], end = cut->lattice->end[d];
  const Polygon *rest = polygon;
  Polygon        below, above[2];
  PetscReal      low, high;
  PetscInt       last;

  polygon_extent(polygon, d, &low, &high);
  if (high < (PetscReal)start || low > (PetscReal)end)
    return;
  at[d] = lattice_first_cut(cut->lattice, d, low);
  last = PetscMax(at[d], (PetscInt)PetscMin(floor(high), (PetscReal)end));
  for (; at[d] < last && rest->count > 2; at[d]++) {
    Polygon *next = &above[at[d] & 1];

    polygon_split(rest, d, (PetscReal)(at[d] + 1), &below, next);
    visit_layer(cut, d, at, &below);
    rest = next;
  }
  visit_layer(cut, d, at, rest);
}

void lattice_visit_pieces(const Lattice *lattice, const Triangles *triangles, PieceVisitor visit,
                          void *context)
{
  PieceCut cut = {.lattice = lattice, .visit = visit, .context = context};

  for (cut.triangle = 0; cut.triangle < triangles->triangle_count; cut.triangle++) {
    Polygon  polygon = {.count = 3};
    PetscInt at[DIM];

    for (int c = 0; c < 3; c++)
      for (int d = 0; d < DIM; d++)
        polygon.corner[c].at[d] =
            (triangles->vertices[triangles->triangles[cut.triangle][c]].at[d] - lattice->origin.at[d]) /
            lattice->spacing.at[d];
    cut_across(&cut, Z, at, &polygon);
  }
}
