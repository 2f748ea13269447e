/* B of a closed surface whose vertices are unknowns (docs/numerics.md, section 14): with the hat L of width 2
   h along d about the centre of cell c, as wide as the cell across, and the linear function N_v of vertex v,

     B(c; v, d) = int n_d L_(c,d) N_v dA.

   For a rigid motion this is what cut faces have, since  a (s_(d-) - s_(d+)) = int n_d L dA  for the solid
   fractions s of dual cells. The hats of all cells add up to one: the flow into all of them is the change of
   the volume inside, and what hydrostatic pressure does to the vertices is Archimedes' force, both to
   round-off.

   In the dual cell of a face the two hats are 1 - s and s, linear along d, so that the integrand is quadratic
   in a piece of a triangle and the middles of edges are exact. In two dimensions the surface is that of a
   prism of unit depth without its ends, whose upper and lower vertices have the same unknowns. Where the cell
   on one side has no pressure, the other one takes its part. */
#include "../coupling_impl.h"

/* Between centres: which of two neighbouring cells have a pressure, and where rows go. */
typedef struct {
  const SolidPatch *patch;
  const GridBox    *box;
  const char       *has_pressure;
  PetscInt          d;
  Lattice           lattice;
  CellRows         *rows;
  PetscErrorCode    error;
} PieceSum;

/* In boxes of the lattice. */
static Vector3 corner_of(const PieceSum *sum, PetscInt vertex)
{
  const Vector3 place = sum->patch->now[vertex];
  Vector3       corner;

  for (PetscInt e = 0; e < DIM; e++)
    corner.at[e] = (place.at[e] - sum->lattice.origin.at[e]) / sum->lattice.spacing.at[e];
  return corner;
}

/* Barycentric coordinates of a point of a triangle. */
void triangle_weights(const Vector3 corner[3], Vector3 point, PetscReal weights[3])
{
  const Vector3 whole =
      vector3_cross(vector3_subtract(corner[1], corner[0]), vector3_subtract(corner[2], corner[0]));
  const PetscReal square = vector3_dot(whole, whole);

  for (PetscInt n = 1; n < 3; n++) {
    const Vector3 part = vector3_cross(vector3_subtract(corner[(n + 1) % 3], point),
                                       vector3_subtract(corner[(n + 2) % 3], point));

    weights[n] = square > 0. ? vector3_dot(part, whole) / square : 0.;
  }
  weights[0] = 1. - weights[1] - weights[2];
}

/* Integrals of n_d (1 - s) N_v and n_d s N_v over a piece, in areas of the lattice's boxes. */
static void integrate(const PieceSum *sum, const LatticePiece *piece, PetscReal integrals[2][3])
{
  const PetscInt *triangle = sum->patch->triangles[piece->triangle];
  const Vector3  *at = piece->corners;
  const Vector3   corner[3] = {corner_of(sum, triangle[0]), corner_of(sum, triangle[1]),
                               corner_of(sum, triangle[2])};

  for (int c = 2; c < piece->count; c++) {
    const Vector3   fan[3] = {at[0], at[c - 1], at[c]};
    const PetscReal part =
        vector3_cross(vector3_subtract(fan[1], fan[0]), vector3_subtract(fan[2], fan[0])).at[sum->d] / 6.;

    for (int n = 0; n < 3; n++) {
      const Vector3   middle = vector3_scale(0.5, vector3_add(fan[n], fan[(n + 1) % 3]));
      const PetscReal s = middle.at[sum->d] - (PetscReal)piece->at[sum->d];
      PetscReal       weights[3];

      triangle_weights(corner, middle, weights);
      for (int v = 0; v < 3; v++) {
        integrals[0][v] += part * (1. - s) * weights[v];
        integrals[1][v] += part * s * weights[v];
      }
    }
  }
}

/* The two cells of a face; -1: without a pressure. */
static void find_cells(const PieceSum *sum, const PetscInt at[DIM], PetscInt cells[2])
{
  for (PetscInt side = 0; side < 2; side++) {
    PetscInt place[DIM] = {at[X], at[Y], at[Z]};

    place[sum->d] += side - 1;
    cells[side] = box_index(sum->box, place[X], place[Y], place[Z]);
    if (!sum->has_pressure[cells[side]])
      cells[side] = -1;
  }
}

static void add_piece(const LatticePiece *piece, void *context)
{
  PieceSum       *sum = context;
  const PetscReal area =
      sum->lattice.spacing.at[(sum->d + 1) % DIM] * sum->lattice.spacing.at[(sum->d + 2) % DIM];
  PetscReal integrals[2][3] = {{0.}};
  PetscInt  cells[2], place[DIM] = {piece->at[X], piece->at[Y], piece->at[Z]};

  integrate(sum, piece, integrals);
  find_cells(sum, piece->at, cells);
  for (PetscInt side = 0; side < 2 && !sum->error; side++) {
    SolidRow row = {.count = 3};
    PetscInt number;

    place[sum->d] = piece->at[sum->d] - 1 + side;
    number = owned_cell_number(sum->box, place);
    for (PetscInt v = 0; v < 3; v++) {
      row.dof[v] = sum->patch->unknown[sum->patch->triangles[piece->triangle][v]] + sum->d;
      row.weight[v] = area * (integrals[side][v] + (cells[1 - side] < 0 ? integrals[1 - side][v] : 0.));
    }
    if (cells[side] >= 0 && number >= 0)
      sum->error = CellRowsAdd(sum->rows, number, &row);
  }
}

/* Of one image: the lattice is shifted instead of the patch. */
static PetscErrorCode AddImage(MacGrid grid, PieceSum *sum, Vector3 shift)
{
  const GridBox    *box = grid_box(grid);
  const PetscReal   h = grid_spacing(grid);
  const SolidPatch *patch = sum->patch;
  const Triangles   triangles = {patch->vertex_count, patch->triangle_count, patch->now, patch->triangles};

  PetscFunctionBegin;
  for (sum->d = 0; sum->d < box->dimension; sum->d++) {
    sum->lattice.origin = vector3_subtract(grid_origin(grid), shift);
    sum->lattice.spacing = vector3(h, h, h);
    sum->lattice.origin.at[sum->d] -= 0.5 * h;
    for (PetscInt e = 0; e < DIM; e++) {
      sum->lattice.start[e] = box->start[e];
      sum->lattice.end[e] = box->end[e] + (e == sum->d ? 1 : 0);
    }
    if (box->dimension == 2) {
      sum->lattice.origin.at[Z] -= 0.5;
      sum->lattice.spacing.at[Z] = 1.;
    }
    lattice_visit_pieces(&sum->lattice, &triangles, add_piece, sum);
    PetscCall(sum->error);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingAddPatchRows(MacGrid grid, const SolidPatch *patch, const char *has_pressure,
                                    CellRows *rows)
{
  PieceSum      sum = {.patch = patch, .box = grid_box(grid), .has_pressure = has_pressure, .rows = rows};
  Vector3       low = {{0., 0., 0.}}, high = low;
  SurfaceImages images;
  PetscInt      n[DIM];

  PetscFunctionBegin;
  PetscCheck(patch->is_closed, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "Rows of a surface with unknowns of its own need a closed one");
  for (PetscInt v = 0; v < patch->vertex_count; v++)
    for (PetscInt d = 0; d < DIM; d++) {
      low.at[d] = v ? PetscMin(low.at[d], patch->now[v].at[d]) : patch->now[v].at[d];
      high.at[d] = v ? PetscMax(high.at[d], patch->now[v].at[d]) : patch->now[v].at[d];
    }
  images = surface_images(grid, low, high);
  for (n[Z] = images.first[Z]; n[Z] <= images.last[Z]; n[Z]++)
    for (n[Y] = images.first[Y]; n[Y] <= images.last[Y]; n[Y]++)
      for (n[X] = images.first[X]; n[X] <= images.last[X]; n[X]++)
        PetscCall(AddImage(
            grid, &sum,
            vector3(n[X] * images.period.at[X], n[Y] * images.period.at[Y], n[Z] * images.period.at[Z])));
  PetscFunctionReturn(0);
}
