/* Connected components of the cells, in parallel.

   Each rank joins its cells by union-find, always towards the smaller index; then all ranks join the same
   list of links across their boundaries. */
#include "poisson_impl.h"

typedef struct {
  PetscInt64 first; /* smallest cell, counted through the whole box */
  PetscInt64 flags; /* OPEN when it touches p = 0 */
} Piece;

typedef struct {
  PetscInt64 a, b; /* first cells of two pieces that are one */
} Link;

enum { CLOSED, OPEN };

typedef struct {
  const GridBox    *box;
  PetscReal *const *weights;
  PetscInt          stride[DIM]; /* of tight arrays */
  int              *label;
  PetscReal        *first_cell; /* on `box`: first cell of the piece; exact, below 2^53 */
  PetscInt          piece_count, link_count, link_room;
  Piece            *pieces;
  Link             *links;
} Search;

static int find_root(int *parent, int cell)
{
  while (parent[cell] != cell) {
    parent[cell] = parent[parent[cell]];
    cell = parent[cell];
  }
  return cell;
}

static void join(int *parent, int a, int b)
{
  const int root_a = find_root(parent, a), root_b = find_root(parent, b);

  if (root_a < root_b)
    parent[root_b] = root_a;
  else
    parent[root_a] = root_b;
}

static inline PetscBool is_active(const Search *search, PetscInt c)
{
  for (PetscInt d = 0; d < search->box->dimension; d++)
    if (search->weights[d][c] > 0. || search->weights[d][c + search->box->stride[d]] > 0.)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Cells of a row that follow each other take the first one as parent. */
static void start_row(Search *search, PetscInt first, int tight)
{
  const PetscInt   width = owned_width(search->box, X);
  const PetscReal *wx = search->weights[X] + first;
  int             *parent = search->label + tight;

  for (PetscInt i = 0; i < width; i++) {
    if (i > 0 && wx[i] > 0.)
      parent[i] = parent[i - 1];
    else
      parent[i] = is_active(search, first + i) ? tight + (int)i : -1;
  }
}

/* Joins a row with the one below it in direction d; a link beside one that already joins is left out. */
static void join_rows(Search *search, PetscInt d, PetscInt first, int tight)
{
  const PetscInt   width = owned_width(search->box, X), stride = search->box->stride[d];
  const PetscReal *wx = search->weights[X] + first, *wd = search->weights[d] + first;

  for (PetscInt i = 0; i < width; i++) {
    if (!(wd[i] > 0.) || (i > 0 && wd[i - 1] > 0. && wx[i] > 0. && wx[i - stride] > 0.))
      continue;
    join(search->label, tight + (int)i, tight + (int)i - (int)search->stride[d]);
  }
}

static void join_owned(Search *search)
{
  const GridBox *box = search->box;
  int            tight = 0;

  for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++, tight += (int)owned_width(box, X)) {
      const PetscInt first = box_index(box, box->start[X], j, k);

      start_row(search, first, tight);
      if (j > box->start[Y])
        join_rows(search, Y, first, tight);
      if (k > box->start[Z])
        join_rows(search, Z, first, tight);
    }
}

static PetscInt64 global_cell(const GridBox *box, PetscInt tight)
{
  const PetscInt   width = owned_width(box, X), depth = owned_width(box, Y);
  const PetscInt64 i = box->start[X] + tight % width, j = box->start[Y] + tight / width % depth;

  return i + box->cells[X] * (j + box->cells[Y] * (PetscInt64)(box->start[Z] + tight / width / depth));
}

/* Replaces parents by the number of the local piece, in the order of first cells. */
static PetscErrorCode NumberPieces(Search *search)
{
  const GridBox *box = search->box;
  const PetscInt cells = owned_width(box, X) * owned_width(box, Y) * owned_width(box, Z);
  int           *label = search->label;
  PetscInt       count = 0;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < cells; c++)
    count += label[c] == c;
  PetscCall(PetscMalloc1(count, &search->pieces));
  for (PetscInt c = 0; c < cells; c++) {
    if (label[c] == c) {
      search->pieces[search->piece_count] = (Piece){global_cell(box, c), CLOSED};
      label[c] = (int)search->piece_count++;
    } else if (label[c] >= 0)
      label[c] = label[label[c]]; /* parents come first */
  }
  PetscFunctionReturn(0);
}

typedef PetscErrorCode (*SideVisitor)(Search *search, PetscInt direction, PetscInt side, PetscInt c,
                                      int tight);

/* Visits the owned cells along one side of this rank's part: c on the box, tight among the owned. */
static PetscErrorCode VisitSide(Search *search, PetscInt direction, PetscInt side, SideVisitor visit)
{
  const GridBox *box = search->box;
  PetscInt       low[DIM], high[DIM];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++) {
    low[d] = box->start[d];
    high[d] = box->end[d];
  }
  if (side == 0)
    high[direction] = low[direction] + 1;
  else
    low[direction] = high[direction] - 1;
  for (PetscInt k = low[Z]; k < high[Z]; k++)
    for (PetscInt j = low[Y]; j < high[Y]; j++)
      for (PetscInt i = low[X]; i < high[X]; i++)
        PetscCall(visit(search, direction, side, box_index(box, i, j, k),
                        (int)((i - box->start[X]) + (j - box->start[Y]) * search->stride[Y] +
                              (k - box->start[Z]) * search->stride[Z])));
  PetscFunctionReturn(0);
}

static PetscErrorCode MarkOpen(Search *search, PetscInt direction, PetscInt side, PetscInt c, int tight)
{
  const PetscInt face = side == 0 ? c : c + search->box->stride[direction];

  if (search->label[tight] >= 0 && search->weights[direction][face] > 0.)
    search->pieces[search->label[tight]].flags = OPEN;
  return 0;
}

static PetscErrorCode OfferFirst(Search *search, PetscInt direction, PetscInt side, PetscInt c, int tight)
{
  const int piece = search->label[tight];

  (void)direction;
  (void)side;
  search->first_cell[c] = piece >= 0 ? (PetscReal)search->pieces[piece].first : -1.;
  return 0;
}

static PetscErrorCode AddLink(Search *search, PetscInt direction, PetscInt side, PetscInt c, int tight)
{
  const PetscInt stride = search->box->stride[direction];
  Link           link;

  PetscFunctionBegin;
  (void)side;
  if (search->label[tight] < 0 || !(search->weights[direction][c] > 0.))
    PetscFunctionReturn(0);
  link.a = search->pieces[search->label[tight]].first;
  link.b = (PetscInt64)search->first_cell[c - stride];
  for (PetscInt last = search->link_count; last > 0 && last > search->link_count - 4; last--)
    if (search->links[last - 1].a == link.a && search->links[last - 1].b == link.b)
      PetscFunctionReturn(0); /* neighbouring faces mostly repeat it */
  if (search->link_count == search->link_room) {
    search->link_room = 2 * search->link_room + 64;
    PetscCall(PetscRealloc(search->link_room * sizeof(Link), &search->links));
  }
  search->links[search->link_count++] = link;
  PetscFunctionReturn(0);
}

/* Links with the pieces of neighbours and of periodic images, seen from the upper rank. */
static PetscErrorCode FindLinks(Search *search)
{
  const GridBox *box = search->box;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(box->length, &search->first_cell));
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++)
      if (box->neighbour[d][side] != MPI_PROC_NULL)
        PetscCall(VisitSide(search, d, side, OfferFirst));
  PetscCall(GridBoxExchange(box, 1, &search->first_cell));
  for (PetscInt d = 0; d < box->dimension; d++)
    if (box->neighbour[d][0] != MPI_PROC_NULL)
      PetscCall(VisitSide(search, d, 0, AddLink));
  PetscCall(PetscFree(search->first_cell));
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

    PetscCheck(a >= 0 && b >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "A face has a weight on one rank and a cell without weights on the other");
    join(number, a, b);
  }
  PetscCall(PetscMalloc1(piece_count, &components->is_sealed));
  components->count = 0;
  for (PetscInt p = 0; p < piece_count; p++) {
    if (number[p] == p) {
      components->is_sealed[components->count] = PETSC_TRUE;
      number[p] = (int)components->count++;
    } else
      number[p] = number[number[p]];
    if (pieces[p].flags == OPEN)
      components->is_sealed[number[p]] = PETSC_FALSE;
  }
  PetscFunctionReturn(0);
}

/* Agrees on the components of the whole box and relabels the owned cells. */
static PetscErrorCode Agree(Search *search, Components *components)
{
  const MPI_Comm comm = search->box->comm;
  const PetscInt cells = search->stride[Z] * owned_width(search->box, Z);
  Piece         *pieces;
  Link          *links;
  PetscInt       piece_count, link_count;
  int           *number, *mine;

  PetscFunctionBegin;
  PetscCall(GatherRecords(comm, search->piece_count, search->pieces, &piece_count, &pieces));
  PetscCall(GatherRecords(comm, search->link_count, search->links, &link_count, &links));
  qsort(pieces, piece_count, sizeof(*pieces), compare_pieces);
  PetscCall(PetscMalloc2(piece_count, &number, search->piece_count, &mine));
  PetscCall(JoinPieces(piece_count, pieces, link_count, links, number, components));
  for (PetscInt p = 0; p < search->piece_count; p++)
    mine[p] = number[place_of(pieces, piece_count, search->pieces[p].first)];
  for (PetscInt c = 0; c < cells && piece_count > 1; c++)
    if (search->label[c] >= 0)
      search->label[c] = mine[search->label[c]];
  PetscCall(PetscFree2(number, mine));
  PetscCall(PetscFree(pieces));
  PetscCall(PetscFree(links));
  PetscFunctionReturn(0);
}

static PetscErrorCode CountCells(MPI_Comm comm, PetscInt cells, Components *components)
{
  PetscFunctionBegin;
  PetscCall(PetscCalloc1(components->count, &components->cells));
  for (PetscInt c = 0; c < cells; c++)
    if (components->label[c] >= 0)
      components->cells[components->label[c]] += 1.;
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, components->cells, (int)components->count, MPIU_REAL, MPI_SUM, comm));
  components->sealed = 0;
  for (PetscInt n = 0; n < components->count; n++)
    components->sealed += components->is_sealed[n];
  PetscFunctionReturn(0);
}

PetscErrorCode ComponentsFind(const GridBox *box, PetscReal *const weights[DIM], Components *components)
{
  Search search = {.box = box, .weights = weights, .stride = {1, owned_width(box, X)}};

  PetscFunctionBegin;
  search.stride[Z] = search.stride[Y] * owned_width(box, Y);
  if (!components->label)
    PetscCall(PetscMalloc1(search.stride[Z] * owned_width(box, Z), &components->label));
  search.label = components->label;
  join_owned(&search);
  PetscCall(NumberPieces(&search));
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++)
      if (box->neighbour[d][side] == MPI_PROC_NULL)
        PetscCall(VisitSide(&search, d, side, MarkOpen));
  PetscCall(FindLinks(&search));
  PetscCall(PetscFree(components->is_sealed));
  PetscCall(PetscFree(components->cells));
  PetscCall(Agree(&search, components));
  PetscCall(CountCells(box->comm, search.stride[Z] * owned_width(box, Z), components));
  PetscCall(PetscFree(search.pieces));
  PetscCall(PetscFree(search.links));
  PetscFunctionReturn(0);
}

PetscErrorCode ComponentsDestroy(Components *components)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(components->label));
  PetscCall(PetscFree(components->is_sealed));
  PetscCall(PetscFree(components->cells));
  PetscFunctionReturn(0);
}

PetscErrorCode ComponentsProject(const Components *components, MPI_Comm comm, PetscInt cells,
                                 PetscReal *values)
{
  const int *label = components->label;
  PetscReal *sum;

  PetscFunctionBegin;
  if (!components->sealed)
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc1(components->count + 1, &sum));
  for (PetscInt c = 0; c < cells;) {
    const int here = label[c];
    PetscReal run = 0.;

    for (; c < cells && label[c] == here; c++)
      run += values[c];
    sum[here + 1] += run;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, (int)components->count + 1, MPIU_REAL, MPI_SUM, comm));
  sum[0] = 0.;
  for (PetscInt n = 0; n < components->count; n++)
    sum[n + 1] = components->is_sealed[n] ? sum[n + 1] / components->cells[n] : 0.;
  for (PetscInt c = 0; c < cells; c++)
    values[c] -= sum[label[c] + 1];
  PetscCall(PetscFree(sum));
  PetscFunctionReturn(0);
}
