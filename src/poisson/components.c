/* Connected components of the cells, in parallel.

   The cells of a row that follow each other through weighted faces are a run. Each rank joins its runs by
   union-find, always towards the smaller one; then all ranks join the same list of links across their
   boundaries. Runs are kept instead of a label per cell: they are few, and sums over them are fast. */
#include "poisson_impl.h"

typedef struct {
  PetscInt64 first; /* smallest cell, counted through the whole box */
  PetscInt64 state;
} Piece;

typedef struct {
  PetscInt64 a, b; /* first cells of two pieces that are one */
} Link;

enum { CLOSED, OPEN }; /* of a piece: touches p = 0 */

typedef struct {
  const GridBox *box;
  float *const  *weights;
  const float   *fixed; /* null: none */
  float         *faces; /* of one row, without those of fixed cells */
  Components    *components;
  PetscInt       run_room;
  PetscInt      *row_runs;    /* first run of every row, in the order of rows, and one past the last */
  PetscReal     *first_cells; /* on `box`: first cell of the piece, exact below 2^53 */
  PetscInt       piece_count, link_count, link_room;
  Piece         *pieces;
  Link          *links;
} ComponentSearch;

static int find_root(int *parent, int one)
{
  while (parent[one] != one) {
    parent[one] = parent[parent[one]];
    one = parent[one];
  }
  return one;
}

static void join(int *parent, int a, int b)
{
  const int root_a = find_root(parent, a), root_b = find_root(parent, b);

  if (root_a < root_b)
    parent[root_b] = root_a;
  else
    parent[root_a] = root_b;
}

static inline PetscBool is_fixed(const ComponentSearch *search, PetscInt c)
{
  return search->fixed && search->fixed[c] > 0.f ? PETSC_TRUE : PETSC_FALSE;
}

static inline PetscBool is_active(const ComponentSearch *search, PetscInt c)
{
  if (is_fixed(search, c))
    return PETSC_FALSE;
  for (PetscInt d = 0; d < search->box->dimension; d++)
    if (search->weights[d][c] > 0.f || search->weights[d][c + search->box->stride[d]] > 0.f)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* How many of the `count` faces from the first on have weights without a gap. */
static PetscInt unbroken(PetscInt count, const float *weights)
{
  enum { BLOCK = 16 };
  PetscInt i = 0;

  for (; i + BLOCK <= count; i += BLOCK) {
    int open = 0;

    for (PetscInt b = 0; b < BLOCK; b++)
      open += weights[i + b] > 0.f;
    if (open < BLOCK)
      break;
  }
  while (i < count && weights[i] > 0.f)
    i++;
  return i;
}

static PetscErrorCode AddRun(ComponentSearch *search, PetscInt first, PetscInt length)
{
  Components *components = search->components;

  PetscFunctionBegin;
  PetscCall(GrowList(components->run_count, &search->run_room, &components->runs));
  components->runs[components->run_count++] = (CellRun){(int)first, (int)length, 0};
  PetscFunctionReturn(0);
}

/* The faces along x of the row that starts at cell c which join unknowns. */
static const float *joining_faces(const ComponentSearch *search, PetscInt c, PetscInt width)
{
  const float *weights = search->weights[X] + c, *fixed = search->fixed + c;

  if (!search->fixed)
    return weights;
  for (PetscInt i = 0; i <= width; i++)
    search->faces[i] = fixed[i - 1] > 0.f || fixed[i] > 0.f ? 0.f : weights[i];
  return search->faces;
}

/* The runs of all rows; `first` of a run counts owned cells tightly. */
static PetscErrorCode FindRuns(ComponentSearch *search)
{
  const GridBox *box = search->box;
  const PetscInt width = owned_width(box, X);
  PetscInt       row = 0;

  PetscFunctionBegin;
  search->components->run_count = 0;
  for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++, row++) {
      const PetscInt c = box_index(box, box->start[X], j, k);
      const float   *faces = joining_faces(search, c, width);

      search->row_runs[row] = search->components->run_count;
      for (PetscInt i = 0, length; i < width; i += length) {
        length = 1 + unbroken(width - i - 1, faces + i + 1);
        if (length > 1 || is_active(search, c + i))
          PetscCall(AddRun(search, row * width + i, length));
      }
    }
  search->row_runs[row] = search->components->run_count;
  PetscFunctionReturn(0);
}

/* Joins the runs of a row with those of the row before it in a direction; `faces` lie between the two. */
static void join_rows(const ComponentSearch *search, PetscInt row, PetscInt before, const float *faces,
                      int *parent)
{
  const CellRun *runs = search->components->runs;
  const PetscInt width = owned_width(search->box, X);
  PetscInt       a = search->row_runs[row], b = search->row_runs[before];

  while (a < search->row_runs[row + 1] && b < search->row_runs[before + 1]) {
    const PetscInt start_a = runs[a].first - row * width, start_b = runs[b].first - before * width;
    const PetscInt end_a = start_a + runs[a].length, end_b = start_b + runs[b].length;
    const PetscInt end = PetscMin(end_a, end_b);

    for (PetscInt i = PetscMax(start_a, start_b); i < end; i++)
      if (faces[i] > 0.f) {
        join(parent, (int)a, (int)b);
        break;
      }
    a += end_a == end;
    b += end_b == end;
  }
}

static void join_owned(const ComponentSearch *search, int *parent)
{
  const GridBox *box = search->box;
  const PetscInt rows = owned_width(box, Y);
  PetscInt       row = 0;

  for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++, row++) {
      const PetscInt c = box_index(box, box->start[X], j, k);

      if (j > box->start[Y])
        join_rows(search, row, row - 1, search->weights[Y] + c, parent);
      if (k > box->start[Z])
        join_rows(search, row, row - rows, search->weights[Z] + c, parent);
    }
}

static PetscInt64 global_cell(const GridBox *box, PetscInt tight)
{
  const PetscInt   width = owned_width(box, X), depth = owned_width(box, Y);
  const PetscInt64 i = box->start[X] + tight % width, j = box->start[Y] + tight / width % depth;

  return i + box->cells[X] * (j + box->cells[Y] * (PetscInt64)(box->start[Z] + tight / width / depth));
}

/* Gives every run the number of its local piece, in the order of first cells. */
static PetscErrorCode NumberPieces(ComponentSearch *search)
{
  Components *components = search->components;
  int        *parent;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(components->run_count, &parent));
  for (PetscInt r = 0; r < components->run_count; r++)
    parent[r] = (int)r;
  join_owned(search, parent);
  for (PetscInt r = 0; r < components->run_count; r++)
    search->piece_count += parent[r] == r;
  PetscCall(PetscMalloc1(search->piece_count, &search->pieces));
  search->piece_count = 0;
  for (PetscInt r = 0; r < components->run_count; r++) {
    if (parent[r] == r) {
      search->pieces[search->piece_count] =
          (Piece){global_cell(search->box, components->runs[r].first), CLOSED};
      parent[r] = (int)search->piece_count++;
    } else
      parent[r] = parent[parent[r]]; /* parents come first and hold numbers already */
    components->runs[r].component = parent[r];
  }
  PetscCall(PetscFree(parent));
  PetscFunctionReturn(0);
}

typedef PetscErrorCode (*CellVisitor)(ComponentSearch *search, PetscInt direction, PetscInt side, PetscInt c,
                                      int piece);

/* Visits the cells of row (j, k) that lie on the given side of this rank's part. */
static PetscErrorCode VisitRow(ComponentSearch *search, PetscInt direction, PetscInt side,
                               const PetscInt at[DIM], CellVisitor visit)
{
  const GridBox *box = search->box;
  const PetscInt width = owned_width(box, X), c = box_index(box, box->start[X], at[Y], at[Z]);
  const PetscInt row = (at[Z] - box->start[Z]) * owned_width(box, Y) + at[Y] - box->start[Y];
  const PetscInt low = direction == X && side == 1 ? width - 1 : 0,
                 high = direction == X && side == 0 ? 1 : width;

  PetscFunctionBegin;
  for (PetscInt r = search->row_runs[row]; r < search->row_runs[row + 1]; r++) {
    const CellRun  run = search->components->runs[r];
    const PetscInt start = run.first - row * width;

    for (PetscInt i = PetscMax(low, start); i < PetscMin(high, start + run.length); i++)
      PetscCall(visit(search, direction, side, c + i, run.component));
  }
  PetscFunctionReturn(0);
}

/* Visits the cells of runs along one side of this rank's part. */
static PetscErrorCode VisitSide(ComponentSearch *search, PetscInt direction, PetscInt side, CellVisitor visit)
{
  const GridBox *box = search->box;
  PetscInt       low[DIM], high[DIM], at[DIM] = {0, 0, 0};

  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++) {
    low[d] = d == direction && side == 1 ? box->end[d] - 1 : box->start[d];
    high[d] = d == direction && side == 0 ? box->start[d] + 1 : box->end[d];
  }
  for (at[Z] = low[Z]; at[Z] < high[Z]; at[Z]++)
    for (at[Y] = low[Y]; at[Y] < high[Y]; at[Y]++)
      PetscCall(VisitRow(search, direction, side, at, visit));
  PetscFunctionReturn(0);
}

static PetscErrorCode MarkOpen(ComponentSearch *search, PetscInt direction, PetscInt side, PetscInt c,
                               int piece)
{
  const PetscInt face = side == 0 ? c : c + search->box->stride[direction];

  if (search->weights[direction][face] > 0.f)
    search->pieces[piece].state = OPEN;
  return 0;
}

static PetscBool touches_fixed(const ComponentSearch *search, PetscInt c)
{
  for (PetscInt d = 0; d < search->box->dimension; d++) {
    const PetscInt stride = search->box->stride[d];

    if ((is_fixed(search, c - stride) && search->weights[d][c] > 0.f) ||
        (is_fixed(search, c + stride) && search->weights[d][c + stride] > 0.f))
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Opens the pieces that touch fixed cells. */
static void mark_grounded(ComponentSearch *search)
{
  const GridBox *box = search->box;
  const PetscInt width = owned_width(box, X), rows = owned_width(box, Y);

  for (PetscInt r = 0; r < search->components->run_count; r++) {
    const CellRun  run = search->components->runs[r];
    const PetscInt row = run.first / width;
    const PetscInt c = box_index(box, box->start[X] + run.first % width, box->start[Y] + row % rows,
                                 box->start[Z] + row / rows);

    for (PetscInt i = 0; i < run.length && search->pieces[run.component].state == CLOSED; i++)
      if (touches_fixed(search, c + i))
        search->pieces[run.component].state = OPEN;
  }
}

static PetscErrorCode OfferFirst(ComponentSearch *search, PetscInt direction, PetscInt side, PetscInt c,
                                 int piece)
{
  (void)direction;
  (void)side;
  search->first_cells[c] = (PetscReal)search->pieces[piece].first;
  return 0;
}

static PetscErrorCode AddLink(ComponentSearch *search, PetscInt direction, PetscInt side, PetscInt c,
                              int piece)
{
  Link link = {.a = search->pieces[piece].first};

  PetscFunctionBegin;
  (void)side;
  if (!(search->weights[direction][c] > 0.f) || is_fixed(search, c - search->box->stride[direction]))
    PetscFunctionReturn(0);
  link.b = (PetscInt64)search->first_cells[c - search->box->stride[direction]];
  for (PetscInt last = search->link_count; last > 0 && last > search->link_count - 4; last--)
    if (search->links[last - 1].a == link.a && search->links[last - 1].b == link.b)
      PetscFunctionReturn(0); /* neighbouring faces mostly repeat it */
  PetscCall(GrowList(search->link_count, &search->link_room, &search->links));
  search->links[search->link_count++] = link;
  PetscFunctionReturn(0);
}

/* Links with the pieces of neighbours and of periodic images, seen from the upper rank. */
static PetscErrorCode FindLinks(ComponentSearch *search)
{
  const GridBox *box = search->box;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(box->length, &search->first_cells));
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++)
      if (box->neighbour[d][side] != MPI_PROC_NULL)
        PetscCall(VisitSide(search, d, side, OfferFirst));
  PetscCall(BoxExchange(box, search->first_cells));
  for (PetscInt d = 0; d < box->dimension; d++)
    if (box->neighbour[d][0] != MPI_PROC_NULL)
      PetscCall(VisitSide(search, d, 0, AddLink));
  PetscCall(PetscFree(search->first_cells));
  PetscFunctionReturn(0);
}

/* Everybody's records one after the other, on every rank. */
static PetscErrorCode GatherRecords(MPI_Comm comm, PetscInt count, const void *mine, PetscInt *total,
                                    void *all)
{
  enum { RECORD = 2 }; /* 64-bit numbers in a Piece or a Link */
  PetscMPIInt  size, *counts, *offsets, sum = 0, numbers = (PetscMPIInt)(RECORD * count);
  PetscInt64 **gathered = (PetscInt64 **)all;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc2(size, &counts, size, &offsets));
  PetscCallMPI(MPI_Allgather(&numbers, 1, MPI_INT, counts, 1, MPI_INT, comm));
  for (PetscMPIInt r = 0; r < size; r++) {
    offsets[r] = sum;
    sum += counts[r];
  }
  PetscCall(PetscMalloc1(sum, gathered));
  PetscCallMPI(MPI_Allgatherv(mine, numbers, MPIU_INT64, *gathered, counts, offsets, MPIU_INT64, comm));
  *total = sum / RECORD;
  PetscCall(PetscFree2(counts, offsets));
  PetscFunctionReturn(0);
}

static int compare_pieces(const void *a, const void *b)
{
  const PetscInt64 first_a = ((const Piece *)a)->first, first_b = ((const Piece *)b)->first;

  return (first_a > first_b) - (first_a < first_b);
}

static int place_of(const Piece *pieces, PetscInt count, PetscInt64 first)
{
  const Piece  wanted = {first, CLOSED};
  const Piece *found = bsearch(&wanted, pieces, count, sizeof(*pieces), compare_pieces);

  return found ? (int)(found - pieces) : -1;
}

/* From the pieces of all ranks to components: `number` of each piece, in the order of first cells. */
static PetscErrorCode JoinPieces(PetscInt piece_count, Piece *pieces, PetscInt link_count, const Link *links,
                                 int *number, Components *components)
{
  PetscFunctionBegin;
  for (PetscInt p = 0; p < piece_count; p++)
    number[p] = (int)p;
  for (PetscInt l = 0; l < link_count; l++) {
    const int a = place_of(pieces, piece_count, links[l].a), b = place_of(pieces, piece_count, links[l].b);

    PetscCheck(a >= 0 && b >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A weighted face has only one cell");
    join(number, a, b);
  }
  PetscCall(PetscMalloc1(piece_count, &components->is_singular));
  components->count = 0;
  for (PetscInt p = 0; p < piece_count; p++) {
    if (number[p] == p) {
      components->is_singular[components->count] = PETSC_TRUE;
      number[p] = (int)components->count++;
    } else
      number[p] = number[number[p]];
    if (pieces[p].state == OPEN)
      components->is_singular[number[p]] = PETSC_FALSE;
  }
  PetscFunctionReturn(0);
}

/* Agrees on the components of the whole box and renumbers the runs. */
static PetscErrorCode Agree(ComponentSearch *search)
{
  const MPI_Comm comm = search->box->comm;
  Components    *components = search->components;
  Piece         *pieces;
  Link          *links;
  PetscInt       piece_count, link_count;
  int           *number, *mine;

  PetscFunctionBegin;
  PetscCall(GatherRecords(comm, search->piece_count, search->pieces, &piece_count, &pieces));
  PetscCall(GatherRecords(comm, search->link_count, search->links, &link_count, &links));
  if (piece_count) /* qsort takes no null pointer */
    qsort(pieces, piece_count, sizeof(*pieces), compare_pieces);
  PetscCall(PetscMalloc2(piece_count, &number, search->piece_count, &mine));
  PetscCall(JoinPieces(piece_count, pieces, link_count, links, number, components));
  for (PetscInt p = 0; p < search->piece_count; p++)
    mine[p] = number[place_of(pieces, piece_count, search->pieces[p].first)];
  for (PetscInt r = 0; r < components->run_count; r++)
    components->runs[r].component = mine[components->runs[r].component];
  PetscCall(PetscFree2(number, mine));
  PetscCall(PetscFree(pieces));
  PetscCall(PetscFree(links));
  PetscFunctionReturn(0);
}

static PetscErrorCode CountCells(MPI_Comm comm, Components *components)
{
  PetscFunctionBegin;
  PetscCall(PetscCalloc1(components->count, &components->cells));
  for (PetscInt r = 0; r < components->run_count; r++)
    components->cells[components->runs[r].component] += components->runs[r].length;
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, components->cells, (int)components->count, MPIU_REAL, MPI_SUM, comm));
  components->singular_count = 0;
  for (PetscInt n = 0; n < components->count; n++)
    components->singular_count += components->is_singular[n];
  PetscFunctionReturn(0);
}

PetscErrorCode ComponentsFind(const GridBox *box, float *const weights[DIM], const float *fixed,
                              Components *components)
{
  ComponentSearch search = {.box = box, .weights = weights, .fixed = fixed, .components = components};

  PetscFunctionBegin;
  PetscCall(ComponentsDestroy(components));
  PetscCall(PetscMalloc1(owned_width(box, Y) * owned_width(box, Z) + 1, &search.row_runs));
  PetscCall(PetscMalloc1(owned_width(box, X) + 1, &search.faces));
  PetscCall(FindRuns(&search));
  PetscCall(NumberPieces(&search));
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++)
      if (box->neighbour[d][side] == MPI_PROC_NULL)
        PetscCall(VisitSide(&search, d, side, MarkOpen));
  if (fixed)
    mark_grounded(&search);
  PetscCall(FindLinks(&search));
  PetscCall(Agree(&search));
  PetscCall(CountCells(box->comm, components));
  PetscCall(PetscFree(search.faces));
  PetscCall(PetscFree(search.row_runs));
  PetscCall(PetscFree(search.pieces));
  PetscCall(PetscFree(search.links));
  PetscFunctionReturn(0);
}

PetscErrorCode ComponentsDestroy(Components *components)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(components->runs));
  PetscCall(PetscFree(components->is_singular));
  PetscCall(PetscFree(components->cells));
  PetscFunctionReturn(0);
}
