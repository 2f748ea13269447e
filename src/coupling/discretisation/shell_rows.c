/* B of a shell whose vertices are unknowns (docs/numerics.md, section 14). Of a face of direction d that it
   blocks, the pressures on both sides push all of the column of cells there, area a, by what is in it. Where
   the line through the centres of the column crosses the shell an odd number of times between the two of the
   face,

     flow through face f = a sum_v W_(f,v) V_(v,d),
     a W_f = s P_f + (a - s sum P_f) w,   P_(f,v) = int n_d N_v dA over the pieces nearest to f of such faces,

   with s the sign of sum P_f and w the weights of |n_d| in the whole column; of other blocked faces W_f = w.
   The weights of a face add up to one, so that fluid and shell keep their momentum; and where the shell
   covers the column once, a W_f are the integrals of n_d N_v: the flow through all such faces is the change
   of the volume behind the shell. Where no face of a column is crossed the shell ends or turns back within
   it, and has nothing of its own between two pressures. What the thickness displaces in dual cells that are
   open has the gradient of the pressure there, by its part of the volume, as bodies have. */
#include "../coupling_impl.h"

typedef struct {
  PetscInt  triangle, column, along, face; /* places along the column: its own, and of the crossed face */
  PetscReal across[3], area[3];            /* integrals of n_d N_v and of N_v, in areas of a cell */
} ShellPiece;

/* One direction of one image. */
typedef struct {
  Coupling          coupling;
  const SolidPatch *patch;
  PetscInt          body, d;
  const char       *has_pressure;
  Lattice           lattice;             /* dual cells of the faces */
  PetscInt         *blocked, *crossings; /* of the segments in these */
  PetscInt          count, room;
  ShellPiece       *pieces;
  CellRows         *rows;
  PetscReal        *areas;
  PetscErrorCode    error;
} ShellColumns;

/* Columns are counted across. */
static PetscInt column_of(const ShellColumns *columns, const PetscInt at[DIM])
{
  const PetscInt e = (columns->d + 1) % DIM, f = (columns->d + 2) % DIM;
  const Lattice *lattice = &columns->lattice;

  return at[e] - lattice->start[e] + (lattice->end[e] - lattice->start[e]) * (at[f] - lattice->start[f]);
}

static void place_in_column(const ShellColumns *columns, PetscInt column, PetscInt along, PetscInt at[DIM])
{
  const PetscInt e = (columns->d + 1) % DIM, f = (columns->d + 2) % DIM;
  const Lattice *lattice = &columns->lattice;
  const PetscInt width = lattice->end[e] - lattice->start[e];

  at[columns->d] = along;
  at[e] = lattice->start[e] + column % width;
  at[f] = lattice->start[f] + column / width;
}

static Vector3 corner_of(const ShellColumns *columns, PetscInt vertex)
{
  Vector3 corner;

  for (PetscInt e = 0; e < DIM; e++)
    corner.at[e] =
        (columns->patch->now[vertex].at[e] - columns->lattice.origin.at[e]) / columns->lattice.spacing.at[e];
  return corner;
}

static void take_piece(const LatticePiece *piece, void *context)
{
  ShellColumns   *columns = context;
  const PetscInt *triangle = columns->patch->triangles[piece->triangle];
  const Vector3   corner[3] = {corner_of(columns, triangle[0]), corner_of(columns, triangle[1]),
                               corner_of(columns, triangle[2])};
  ShellPiece      part = {.triangle = piece->triangle,
                          .column = column_of(columns, piece->at),
                          .along = piece->at[columns->d],
                          .face = -1};

  for (int c = 2; c < piece->count; c++) {
    const Vector3 fan[3] = {piece->corners[0], piece->corners[c - 1], piece->corners[c]};
    const Vector3 area =
        vector3_scale(0.5, vector3_cross(vector3_subtract(fan[1], fan[0]), vector3_subtract(fan[2], fan[0])));
    PetscReal weights[3];

    triangle_weights(corner, vector3_scale(1. / 3., vector3_add(fan[0], vector3_add(fan[1], fan[2]))),
                     weights);
    for (int v = 0; v < 3; v++) {
      part.across[v] += area.at[columns->d] * weights[v];
      part.area[v] += vector3_norm(area) * weights[v];
    }
  }
  if (!columns->error)
    columns->error = GrowList(columns->count, &columns->room, &columns->pieces);
  if (!columns->error)
    columns->pieces[columns->count++] = part;
}

/* To both cells of a face, `part` of whose velocity the row is, in all its images. */
static PetscErrorCode AddToCells(ShellColumns *columns, const PetscInt face[DIM], PetscReal part,
                                 const SolidRow *row)
{
  Coupling       coupling = columns->coupling;
  const GridBox *box = grid_box(coupling->grid);
  PetscInt       cell[DIM] = {face[X], face[Y], face[Z]};

  PetscFunctionBegin;
  for (PetscInt side = 0; side < 2; side++) {
    SolidRow flow = *row;
    PetscInt number;

    cell[columns->d] = face[columns->d] - 1 + side;
    number = owned_cell_number(box, cell);
    if (number < 0 || !columns->has_pressure[box_index(box, cell[X], cell[Y], cell[Z])])
      continue;
    for (PetscInt n = 0; n < flow.count; n++)
      flow.weight[n] *= (side ? 1. : -1.) * coupling->area * part;
    PetscCall(CellRowsAdd(columns->rows, number, &flow));
  }
  PetscFunctionReturn(0);
}

/* The face of this rank, or of its image a period on, at a place of the lattice; false if there is none. */
static PetscBool find_face(const ShellColumns *columns, PetscInt image, PetscInt at[DIM])
{
  const GridBox  *box = grid_box(columns->coupling->grid);
  const GridRange range = box_faces(box, columns->d);
  const PetscInt  d = columns->d, cells = box->cells[d];

  if (box->periodic[d]) {
    at[d] = ((at[d] % cells) + cells) % cells;
    if (image && at[d])
      return PETSC_FALSE;
    at[d] += image ? cells : 0;
  } else if (image)
    return PETSC_FALSE;
  for (PetscInt e = 0; e < DIM; e++)
    if (at[e] < range.start[e] || at[e] >= range.end[e])
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static SolidRow row_of(const ShellColumns *columns, const ShellPiece *piece, const PetscReal weights[3])
{
  SolidRow row = {.count = 3};

  for (PetscInt n = 0; n < 3; n++) {
    row.dof[n] = columns->patch->unknown[columns->patch->triangles[piece->triangle][n]] + columns->d;
    row.weight[n] = weights[n];
  }
  return row;
}

/* What an array has for the dual cell at a place along a column. */
static PetscInt value_in_column(const ShellColumns *columns, const PetscInt values[], PetscInt column,
                                PetscInt along)
{
  PetscInt at[DIM];

  if (along < columns->lattice.start[columns->d] || along >= columns->lattice.end[columns->d])
    return 0;
  place_in_column(columns, column, along, at);
  return values[lattice_index(&columns->lattice, at[X], at[Y], at[Z])];
}

static PetscBool is_crossed(const ShellColumns *columns, PetscInt column, PetscInt along)
{
  return value_in_column(columns, columns->blocked, column, along) &&
                 value_in_column(columns, columns->crossings, column, along) % 2
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* The crossed face of a column that is nearest to a piece, the lower of two; if there is none, one before the
   first. */
static PetscInt nearest_crossed(const ShellColumns *columns, const ShellPiece *piece)
{
  const PetscInt first = columns->lattice.start[columns->d], last = columns->lattice.end[columns->d];

  for (PetscInt away = 0; away < last - first; away++)
    for (int side = -1; side <= 1; side += 2)
      if (is_crossed(columns, piece->column, piece->along + side * away))
        return piece->along + side * away;
  return first - 1;
}

static PetscReal across_of(const ShellPiece *piece)
{
  return piece->across[0] + piece->across[1] + piece->across[2];
}

/* Of a blocked face, with the pieces of its column. */
static PetscErrorCode AddBlocked(ShellColumns *columns, const PetscInt order[], PetscInt count, PetscInt face)
{
  const PetscInt  column = columns->pieces[order[0]].column, d = columns->d;
  const PetscBool crossed = is_crossed(columns, column, face);
  PetscReal       sum = 0., whole = 0., sign;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < count; n++) {
    const ShellPiece *piece = &columns->pieces[order[n]];

    whole += PetscAbsReal(across_of(piece));
    sum += piece->face == face ? across_of(piece) : 0.;
  }
  sign = !crossed ? 0. : sum < 0. ? -1. : 1.;
  for (PetscInt n = 0; n < count; n++) {
    const ShellPiece *piece = &columns->pieces[order[n]];
    const PetscReal   weight =
        (piece->face == face ? sign : 0.) +
        (whole > 0. ? (across_of(piece) < 0. ? -1. : 1.) * (1. - sign * sum) / whole : 0.);
    const PetscReal weights[3] = {weight * piece->across[0], weight * piece->across[1],
                                  weight * piece->across[2]};
    const SolidRow  row = row_of(columns, piece, weights);

    for (PetscInt image = 0; image < 2; image++) {
      PetscReal part;
      PetscInt  at[DIM];

      place_in_column(columns, column, face, at);
      if (!find_face(columns, image, at))
        continue;
      part = coupling_part_in_face(columns->coupling, d, at, columns->body) *
             coupling_rest_of_face(columns->coupling, d, at);
      PetscCall(AddToCells(columns, at, part, &row));
      if (at[d] < grid_faces(columns->coupling->grid, d).end[d])
        solid_row_add_force(&row, sign * part * columns->coupling->area, columns->areas);
    }
  }
  PetscFunctionReturn(0);
}

/* What the thickness displaces in dual cells that are open. */
static PetscErrorCode AddDisplaced(ShellColumns *columns, const ShellPiece *piece)
{
  const FaceMap  *faces = &columns->coupling->faces;
  const PetscReal part = columns->patch->thickness / columns->coupling->spacing;
  PetscInt        at[DIM];

  PetscFunctionBegin;
  for (PetscInt image = 0; image < 2; image++) {
    const SolidRow row = row_of(columns, piece, piece->area);
    PetscInt       kind;

    place_in_column(columns, piece->column, piece->along, at);
    if (!find_face(columns, image, at))
      continue;
    kind = faces->kinds[columns->d][box_index(grid_box(columns->coupling->grid), at[X], at[Y], at[Z])];
    if (kind >= 0 && faces->mixed[kind].open > 0.)
      PetscCall(AddToCells(columns, at, part, &row));
  }
  PetscFunctionReturn(0);
}

/* Stably by columns. */
static PetscErrorCode SortByColumns(const ShellColumns *columns, PetscInt size, PetscInt first[],
                                    PetscInt order[])
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(first, size + 1));
  for (PetscInt n = 0; n < columns->count; n++)
    first[columns->pieces[n].column + 1]++;
  for (PetscInt c = 0; c < size; c++)
    first[c + 1] += first[c];
  for (PetscInt n = 0; n < columns->count; n++)
    order[first[columns->pieces[n].column]++] = n;
  for (PetscInt c = size; c > 0; c--)
    first[c] = first[c - 1];
  first[0] = 0;
  PetscFunctionReturn(0);
}

static PetscErrorCode AddColumns(ShellColumns *columns)
{
  const PetscInt d = columns->d, size = lattice_size(&columns->lattice) /
                                        (columns->lattice.end[d] - columns->lattice.start[d]);
  PetscInt *first, *order;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(size + 1, &first, columns->count, &order));
  for (PetscInt n = 0; n < columns->count; n++) {
    columns->pieces[n].face = nearest_crossed(columns, &columns->pieces[n]);
    PetscCall(AddDisplaced(columns, &columns->pieces[n]));
  }
  PetscCall(SortByColumns(columns, size, first, order));
  for (PetscInt c = 0; c < size; c++)
    for (PetscInt face = columns->lattice.start[d]; face < columns->lattice.end[d] && first[c + 1] > first[c];
         face++)
      if (value_in_column(columns, columns->blocked, c, face))
        PetscCall(AddBlocked(columns, order + first[c], first[c + 1] - first[c], face));
  PetscCall(PetscFree2(first, order));
  PetscFunctionReturn(0);
}

/* The dual cells around the shell in columns of this rank, all along them; false if there are none. */
static PetscBool find_lattice(ShellColumns *columns, Vector3 low, Vector3 high, Vector3 shift)
{
  const GridBox  *box = grid_box(columns->coupling->grid);
  const PetscReal h = columns->coupling->spacing;
  Lattice        *lattice = &columns->lattice;

  *lattice = (Lattice){.origin = vector3_subtract(grid_origin(columns->coupling->grid), shift),
                       .spacing = vector3(h, h, h)};
  lattice->origin.at[columns->d] -= 0.5 * h;
  for (PetscInt e = 0; e < DIM; e++) {
    lattice->start[e] = (PetscInt)PetscFloorReal((low.at[e] - lattice->origin.at[e]) / h) - 1;
    lattice->end[e] = (PetscInt)PetscFloorReal((high.at[e] - lattice->origin.at[e]) / h) + 2;
    if (e != columns->d) {
      lattice->start[e] = PetscMax(lattice->start[e], box->start[e]);
      lattice->end[e] = PetscMin(lattice->end[e], box->end[e]);
    } else if (!box->periodic[e]) {
      lattice->start[e] = PetscMax(lattice->start[e], 0);
      lattice->end[e] = PetscMin(lattice->end[e], box->cells[e] + 1);
    }
    lattice->first[e] = PetscMin(lattice->start[e], 0);
  }
  return lattice_size(lattice) > 0 ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode AddDirection(ShellColumns *columns)
{
  const SolidPatch *patch = columns->patch;
  const Triangles   triangles = {patch->vertex_count, patch->triangle_count, patch->now, patch->triangles};
  Lattice           cells = columns->lattice;

  PetscFunctionBegin;
  cells.origin.at[columns->d] += 0.5 * columns->coupling->spacing;
  PetscCall(PetscCalloc2(lattice_size(&cells), &columns->blocked, lattice_size(&cells), &columns->crossings));
  lattice_count_crossings(&cells, &triangles, columns->d, columns->crossings);
  lattice_block(&cells, &triangles, columns->d, LATTICE_MARGIN, 1, columns->blocked);
  columns->count = 0;
  lattice_visit_pieces(&columns->lattice, &triangles, take_piece, columns);
  PetscCall(columns->error);
  PetscCall(AddColumns(columns));
  PetscCall(PetscFree2(columns->blocked, columns->crossings));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingAddShellRows(Coupling coupling, const SolidPatch *patch, PetscInt body,
                                    const char *has_pressure, CellRows *rows, PetscReal areas[])
{
  const Vector3       low = coupling->solids.bodies[body].low, high = coupling->solids.bodies[body].high;
  const SurfaceImages images = surface_images(coupling->grid, low, high);
  ShellColumns        columns = {.coupling = coupling,
                                 .patch = patch,
                                 .body = body,
                                 .has_pressure = has_pressure,
                                 .rows = rows,
                                 .areas = areas};
  PetscInt            n[DIM];

  PetscFunctionBegin;
  for (columns.d = 0; columns.d < grid_box(coupling->grid)->dimension; columns.d++)
    for (n[Z] = images.first[Z]; n[Z] <= images.last[Z]; n[Z]++)
      for (n[Y] = images.first[Y]; n[Y] <= images.last[Y]; n[Y]++)
        for (n[X] = images.first[X]; n[X] <= images.last[X]; n[X]++) {
          const Vector3 shift =
              vector3((PetscReal)n[X] * images.period.at[X], (PetscReal)n[Y] * images.period.at[Y],
                      (PetscReal)n[Z] * images.period.at[Z]);

          /* a column goes around the box: its images are itself */
          if (n[columns.d] == images.first[columns.d] && find_lattice(&columns, low, high, shift))
            PetscCall(AddDirection(&columns));
        }
  PetscCall(PetscFree(columns.pieces));
  PetscFunctionReturn(0);
}

/* Beyond the centres of the last cells before a side of the box that is none of its seams: nothing leads
   around. */
static PetscBool is_on_side(Coupling coupling, Vector3 place)
{
  const GridBox  *box = grid_box(coupling->grid);
  const PetscReal half = 0.5;

  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal x = (place.at[d] - grid_origin(coupling->grid).at[d]) / coupling->spacing;

    if (!box->periodic[d] && (x < half || x > (PetscReal)box->cells[d] - half))
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

PetscErrorCode CouplingFindEnds(Coupling coupling, const SolidPatch *patch, PetscBool *closes)
{
  const PetscInt count = 3 * patch->triangle_count;
  PetscInt64    *edges;
  PetscInt       run = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, &edges));
  for (PetscInt n = 0; n < count; n++) {
    const PetscInt a = patch->triangles[n / 3][n % 3], b = patch->triangles[n / 3][(n + 1) % 3];

    edges[n] = (PetscInt64)PetscMin(a, b) * patch->vertex_count + PetscMax(a, b);
  }
  PetscCall(PetscSortInt64(count, edges));
  *closes = PETSC_TRUE;
  for (PetscInt n = 0; n < count; n++) {
    run = n && edges[n] == edges[n - 1] ? run + 1 : 1;
    if (run == 1 && (n + 1 == count || edges[n + 1] != edges[n]) &&
        (!is_on_side(coupling, patch->now[edges[n] / patch->vertex_count]) ||
         !is_on_side(coupling, patch->now[edges[n] % patch->vertex_count])))
      *closes = PETSC_FALSE;
  }
  PetscCall(PetscFree(edges));
  PetscFunctionReturn(0);
}
