/* How a box is divided among ranks: into as many parts along each direction as the process grid has, about
   equal or such that all have about as much to do.

   For the second, the work of the cells is added up in blocks, known to every rank by the sums over all
   blocks below and beside a corner: what a part has to do is eight of these. With the cuts along the other
   directions given, the best cuts along one follow from a bound: parts as long as it allows, from the first
   on, are enough or too few, and the bound is halved in on. Directions take turns, for every process grid
   that is worth it. */
#include "grid_impl.h"

PetscErrorCode GridPartitionDestroy(GridPartition *partition)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++)
    PetscCall(PetscFree(partition->start[d]));
  PetscFunctionReturn(0);
}

static PetscErrorCode Allocate(const PetscInt parts[DIM], GridPartition *partition)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++) {
    partition->parts[d] = parts[d];
    PetscCall(PetscMalloc1(parts[d] + 1, &partition->start[d]));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode GridPartitionCreateEven(const PetscInt cells[DIM], const PetscInt parts[DIM],
                                       GridPartition *partition)
{
  PetscFunctionBegin;
  PetscCall(Allocate(parts, partition));
  for (PetscInt d = 0; d < DIM; d++)
    for (PetscInt part = 0; part <= parts[d]; part++)
      partition->start[d][part] = box_part_start(cells[d], parts[d], part);
  PetscFunctionReturn(0);
}

/* Ranks lie in the process grid with x fastest. */
PetscErrorCode GridPartitionCreateFrom(const GridBox *box, GridPartition *partition)
{
  const PetscInt step[DIM] = {1, box->ranks[X], box->ranks[X] * box->ranks[Y]};
  PetscInt      *all;

  PetscFunctionBegin;
  PetscCall(Allocate(box->ranks, partition));
  PetscCall(PetscMalloc1(DIM * box->ranks[X] * box->ranks[Y] * box->ranks[Z], &all));
  PetscCallMPI(MPI_Allgather(box->start, DIM, MPIU_INT, all, DIM, MPIU_INT, box->comm));
  for (PetscInt d = 0; d < DIM; d++) {
    for (PetscInt part = 0; part < box->ranks[d]; part++)
      partition->start[d][part] = all[DIM * part * step[d] + d];
    partition->start[d][box->ranks[d]] = box->cells[d];
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(0);
}

const char *grid_partition_complaint(const PetscInt cells[DIM], PetscInt dimension, PetscMPIInt size,
                                     const GridPartition *partition)
{
  if ((PetscInt64)partition->parts[X] * partition->parts[Y] * partition->parts[Z] != size)
    return "are not as many as ranks";
  for (PetscInt d = 0; d < DIM; d++) {
    if (partition->start[d][0] != 0 || partition->start[d][partition->parts[d]] != cells[d])
      return "do not fill the box";
    for (PetscInt part = 0; part < partition->parts[d] && d < dimension; part++) {
      if (partition->start[d][part] % 2)
        return "do not begin at even cells";
      if (partition->start[d][part + 1] - partition->start[d][part] < LEAST_CELLS_PER_RANK)
        return "are narrower than four cells";
    }
  }
  return NULL;
}

/* What the exchange of a face costs, in the unit of `work`, where a plain cell has 10. */
static const PetscReal exchange_work = 5.;

/* The box in blocks. */
typedef struct {
  PetscInt   dimension, cells[DIM], width[DIM], count[DIM]; /* width: cells along a block; count: of blocks */
  PetscBool  periodic[DIM];
  PetscReal *sums; /* of the work in all blocks below a corner; a corner more than blocks in each direction */
} Blocks;

static PetscInt corner(const Blocks *blocks, PetscInt i, PetscInt j, PetscInt k)
{
  return i + (blocks->count[X] + 1) * (j + (blocks->count[Y] + 1) * k);
}

/* Wide enough for levels of the multigrid that stay as they are divided, with a dozen in a part. */
static PetscInt block_width(const GridBox *box, PetscInt d, PetscMPIInt size)
{
  PetscInt parts = 1, width = 2;

  if (d >= box->dimension)
    return 1;
  while (PetscPowInt(parts, box->dimension) < size)
    parts++;
  while ((PetscInt64)24 * width * parts <= box->cells[d])
    width *= 2;
  return width;
}

/* To each corner what lies at the corner before it along d. */
static void add_up(Blocks *blocks, PetscInt d)
{
  const GridRange inner = {{1, 1, 1}, {blocks->count[X] + 1, blocks->count[Y] + 1, blocks->count[Z] + 1}};

  FOR_CELLS(&inner, i, j, k)
    blocks->sums[corner(blocks, i, j, k)] +=
        blocks->sums[corner(blocks, i - (d == X), j - (d == Y), k - (d == Z))];
}

static PetscErrorCode BlocksCreate(const GridBox *box, const PetscReal work[], Blocks *blocks)
{
  const GridRange owned = box_grown(box, 0);
  PetscMPIInt     size, length;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(box->comm, &size));
  blocks->dimension = box->dimension;
  for (PetscInt d = 0; d < DIM; d++) {
    blocks->cells[d] = box->cells[d];
    blocks->periodic[d] = box->periodic[d];
    blocks->width[d] = block_width(box, d, size);
    blocks->count[d] = (box->cells[d] + blocks->width[d] - 1) / blocks->width[d];
  }
  PetscCall(PetscMPIIntCast(corner(blocks, 0, 0, blocks->count[Z] + 1), &length));
  PetscCall(PetscCalloc1(length, &blocks->sums));
  FOR_CELLS(&owned, i, j, k)
    blocks->sums[corner(blocks, i / blocks->width[X] + 1, j / blocks->width[Y] + 1,
                        k / blocks->width[Z] + 1)] += work[box_index(box, i, j, k)];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, blocks->sums, length, MPIU_REAL, MPI_SUM, box->comm));
  for (PetscInt d = 0; d < DIM; d++)
    add_up(blocks, d);
  PetscFunctionReturn(0);
}

/* Of the blocks low <= index < high. */
static PetscReal work_within(const Blocks *blocks, const PetscInt low[DIM], const PetscInt high[DIM])
{
  PetscReal sum = 0.;

  for (PetscInt n = 0; n < 8; n++) {
    const PetscInt upper = (n & 1) + (n >> 1 & 1) + (n >> 2);

    sum += (upper % 2 ? 1. : -1.) *
           blocks->sums[corner(blocks, n & 1 ? high[X] : low[X], n >> 1 & 1 ? high[Y] : low[Y],
                               n >> 2 ? high[Z] : low[Z])];
  }
  return sum;
}

/* Where the parts begin, in blocks. */
typedef struct {
  PetscInt  parts[DIM];
  PetscInt *at[DIM];
} Cuts;

static PetscInt cells_between(const Blocks *blocks, PetscInt d, PetscInt from, PetscInt to)
{
  return PetscMin(to * blocks->width[d], blocks->cells[d]) - from * blocks->width[d];
}

static PetscBool is_wide(const Blocks *blocks, PetscInt d, PetscInt from, PetscInt to)
{
  return d >= blocks->dimension || cells_between(blocks, d, from, to) >= LEAST_CELLS_PER_RANK;
}

/* The most that a part has to do which reaches along d from one block to another. */
static PetscReal slab_work(const Blocks *blocks, const Cuts *cuts, PetscInt d, PetscInt from, PetscInt to)
{
  const PetscInt e = (d + 1) % DIM, f = (d + 2) % DIM;
  PetscReal      most = 0.;

  for (PetscInt n = 0; n < cuts->parts[e]; n++)
    for (PetscInt m = 0; m < cuts->parts[f]; m++) {
      PetscInt low[DIM], high[DIM];

      low[d] = from, high[d] = to;
      low[e] = cuts->at[e][n], high[e] = cuts->at[e][n + 1];
      low[f] = cuts->at[f][m], high[f] = cuts->at[f][m + 1];
      most = PetscMax(most, work_within(blocks, low, high));
    }
  return most;
}

/* Cuts along d such that no part has more than `bound` to do, where that can be. */
static PetscBool cut_within(const Blocks *blocks, Cuts *cuts, PetscInt d, PetscReal bound)
{
  const PetscInt parts = cuts->parts[d], least = (LEAST_CELLS_PER_RANK - 1) / blocks->width[d] + 1;
  PetscInt       from = 0;

  cuts->at[d][0] = 0;
  for (PetscInt part = 0; part < parts; part++) {
    const PetscInt last = blocks->count[d] - (parts - 1 - part) * least;
    PetscInt low = from + least, high = last; /* the end of the part: low fits, what lies beyond high not */

    if (low > high || slab_work(blocks, cuts, d, from, low) > bound)
      return PETSC_FALSE;
    while (low < high) {
      const PetscInt middle = (low + high + 1) / 2;

      if (slab_work(blocks, cuts, d, from, middle) > bound)
        high = middle - 1;
      else
        low = middle;
    }
    cuts->at[d][part + 1] = from = low;
  }
  if (from < blocks->count[d])
    return PETSC_FALSE;
  for (PetscInt part = 0; part < parts; part++)
    if (!is_wide(blocks, d, cuts->at[d][part], cuts->at[d][part + 1]))
      return PETSC_FALSE;
  return PETSC_TRUE;
}

/* The best cuts along d for those along the others. They stay as they are where none fit. */
static PetscErrorCode CutAlong(const Blocks *blocks, Cuts *cuts, PetscInt d)
{
  const PetscInt parts = cuts->parts[d];
  PetscReal      low = 0., high = slab_work(blocks, cuts, d, 0, blocks->count[d]);
  PetscInt      *before;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(parts + 1, &before));
  PetscCall(PetscArraycpy(before, cuts->at[d], parts + 1));
  while (high - low > 1e-3 * high + 0.5) {
    const PetscReal middle = 0.5 * (low + high);

    if (cut_within(blocks, cuts, d, middle))
      high = middle;
    else
      low = middle;
  }
  if (!cut_within(blocks, cuts, d, high))
    PetscCall(PetscArraycpy(cuts->at[d], before, parts + 1));
  PetscCall(PetscFree(before));
  PetscFunctionReturn(0);
}

/* Of a part: those where another part lies. */
static PetscInt exchanged_sides(PetscInt parts, PetscInt part, PetscBool periodic)
{
  if (parts == 1)
    return 0;
  return periodic ? 2 : (part > 0) + (part < parts - 1);
}

/* What the parts of a process grid have to do at most, exchanges included. */
static PetscReal most_work(const Blocks *blocks, const Cuts *cuts)
{
  const GridRange parts = {{0, 0, 0}, {cuts->parts[X], cuts->parts[Y], cuts->parts[Z]}};
  PetscReal       most = 0.;

  FOR_CELLS(&parts, i, j, k) {
    const PetscInt part[DIM] = {i, j, k};
    PetscInt       low[DIM], high[DIM];
    PetscReal      width[DIM], own;

    for (PetscInt d = 0; d < DIM; d++) {
      low[d] = cuts->at[d][part[d]];
      high[d] = cuts->at[d][part[d] + 1];
      width[d] = cells_between(blocks, d, low[d], high[d]);
    }
    own = work_within(blocks, low, high);
    for (PetscInt d = 0; d < DIM; d++)
      own += exchange_work * width[(d + 1) % DIM] * width[(d + 2) % DIM] *
             exchanged_sides(cuts->parts[d], part[d], blocks->periodic[d]);
    most = PetscMax(most, own);
  }
  return most;
}

static PetscErrorCode CutsCreate(const Blocks *blocks, const PetscInt parts[DIM], Cuts *cuts)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++) {
    cuts->parts[d] = parts[d];
    PetscCall(PetscMalloc1(parts[d] + 1, &cuts->at[d]));
    for (PetscInt part = 0; part <= parts[d]; part++)
      cuts->at[d][part] = (PetscInt)((PetscInt64)part * blocks->count[d] / parts[d]);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CutsDestroy(Cuts *cuts)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++)
    PetscCall(PetscFree(cuts->at[d]));
  PetscFunctionReturn(0);
}

static PetscBool all_wide(const Blocks *blocks, const Cuts *cuts)
{
  for (PetscInt d = 0; d < DIM; d++)
    for (PetscInt part = 0; part < cuts->parts[d]; part++)
      if (cuts->at[d][part + 1] <= cuts->at[d][part] ||
          !is_wide(blocks, d, cuts->at[d][part], cuts->at[d][part + 1]))
        return PETSC_FALSE;
  return PETSC_TRUE;
}

/* Of so many parts along each direction, if that is better than what there is. */
static PetscErrorCode TryParts(const Blocks *blocks, const PetscInt parts[DIM], Cuts *best, PetscReal *least)
{
  const PetscInt turns = 2;
  Cuts           cuts;
  PetscReal      most;

  PetscFunctionBegin;
  PetscCall(CutsCreate(blocks, parts, &cuts));
  for (PetscInt turn = 0; turn < turns; turn++)
    for (PetscInt d = 0; d < DIM; d++)
      if (parts[d] > 1)
        PetscCall(CutAlong(blocks, &cuts, d));
  most = all_wide(blocks, &cuts) ? most_work(blocks, &cuts) : PETSC_MAX_REAL;
  if (most < *least) {
    PetscCall(CutsDestroy(best));
    *best = cuts;
    *least = most;
  } else
    PetscCall(CutsDestroy(&cuts));
  PetscFunctionReturn(0);
}

/* All process grids whose parts of equal size would have not much more surface than they need. */
static PetscErrorCode TryGrids(const GridBox *box, const Blocks *blocks, PetscMPIInt size, Cuts *best,
                               PetscReal *least)
{
  const PetscReal worth = 2.;
  PetscInt        parts[DIM];
  PetscReal       least_area;
  PetscBool       fits;

  PetscFunctionBegin;
  box_process_grid(box->cells, box->dimension, size, parts, &fits);
  least_area = cut_area(box->cells, parts);
  for (parts[Z] = 1; parts[Z] <= PetscMin(size, blocks->count[Z]); parts[Z]++)
    for (parts[Y] = 1; parts[Y] <= PetscMin(size / parts[Z], blocks->count[Y]); parts[Y]++) {
      parts[X] = size / parts[Z] / parts[Y];
      if (parts[X] * parts[Y] * parts[Z] == size && parts[X] <= blocks->count[X] &&
          cut_area(box->cells, parts) <= worth * least_area)
        PetscCall(TryParts(blocks, parts, best, least));
    }
  PetscFunctionReturn(0);
}

/* Of this rank, as it is. */
static PetscReal own_work(const GridBox *box, const PetscReal work[])
{
  const GridRange owned = box_grown(box, 0);
  PetscReal       own = 0.;

  FOR_CELLS(&owned, i, j, k)
    own += work[box_index(box, i, j, k)];
  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscInt e = (d + 1) % DIM, f = (d + 2) % DIM;

    for (PetscInt side = 0; side < 2; side++)
      if (box->ranks[d] > 1 && box->neighbour[d][side] != MPI_PROC_NULL)
        own += exchange_work * (box->end[e] - box->start[e]) * (box->end[f] - box->start[f]);
  }
  return own;
}

static PetscErrorCode PartitionFromCuts(const Blocks *blocks, const Cuts *cuts, GridPartition *partition)
{
  PetscFunctionBegin;
  PetscCall(Allocate(cuts->parts, partition));
  for (PetscInt d = 0; d < DIM; d++)
    for (PetscInt part = 0; part <= cuts->parts[d]; part++)
      partition->start[d][part] = PetscMin(cuts->at[d][part] * blocks->width[d], blocks->cells[d]);
  PetscFunctionReturn(0);
}

PetscErrorCode GridPartitionBalance(const GridBox *box, const PetscReal work[], GridPartition *partition,
                                    GridBalance *balance)
{
  const PetscInt whole[DIM] = {1, 1, 1};
  PetscReal      own = own_work(box, work);
  PetscMPIInt    size;
  Blocks         blocks;
  Cuts           best;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(box->comm, &size));
  PetscCallMPI(MPI_Allreduce(&own, &balance->most, 1, MPIU_REAL, MPI_MAX, box->comm));
  PetscCallMPI(MPI_Allreduce(&own, &balance->mean, 1, MPIU_REAL, MPI_SUM, box->comm));
  balance->mean /= size;
  balance->most_then = PETSC_MAX_REAL;
  PetscCall(BlocksCreate(box, work, &blocks));
  PetscCall(CutsCreate(&blocks, whole, &best));
  PetscCall(TryGrids(box, &blocks, size, &best, &balance->most_then));
  if (balance->most_then < balance->most)
    PetscCall(PartitionFromCuts(&blocks, &best, partition));
  else {
    PetscCall(GridPartitionCreateFrom(box, partition));
    balance->most_then = balance->most;
  }
  PetscCall(CutsDestroy(&best));
  PetscCall(PetscFree(blocks.sums));
  PetscFunctionReturn(0);
}
