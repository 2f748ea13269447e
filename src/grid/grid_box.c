/* How the box is cut into one part per rank, and how the parts keep their ghost layers current.

   Ghosts travel direction by direction, each phase carrying the layers that the ones before have filled, so
   that six messages bring edges and corners too. */
#include "grid_impl.h"

PetscInt box_part_start(PetscInt cells, PetscInt parts, PetscInt part)
{
  PetscInt alignment = (PetscInt64)4 * parts <= cells ? 2 : 1; /* fewer do not fit, and are refused */

  while ((PetscInt64)8 * alignment * parts <= cells)
    alignment *= 2; /* at least four aligned blocks per part */
  if (part == parts)
    return cells;
  return alignment * (PetscInt)(((PetscInt64)2 * part * cells + parts * alignment) / (2 * parts * alignment));
}

static PetscInt smallest_part(PetscInt cells, PetscInt parts)
{
  PetscInt smallest = cells;

  for (PetscInt part = 0; part < parts; part++)
    smallest =
        PetscMin(smallest, box_part_start(cells, parts, part + 1) - box_part_start(cells, parts, part));
  return smallest;
}

PetscReal cut_area(const PetscInt cells[DIM], const PetscInt ranks[DIM])
{
  PetscReal area = 0.;

  for (PetscInt d = 0; d < DIM; d++)
    area += (PetscReal)(ranks[d] - 1) * cells[(d + 1) % DIM] * cells[(d + 2) % DIM];
  return area;
}

void box_process_grid(const PetscInt cells[DIM], PetscInt dimension, PetscInt size, PetscInt ranks[DIM],
                      PetscBool *fits)
{
  PetscReal best = PETSC_MAX_REAL;
  PetscInt  trial[DIM];

  *fits = PETSC_FALSE;
  for (trial[Z] = 1; trial[Z] <= (dimension == 3 ? size : 1); trial[Z]++) {
    if (size % trial[Z])
      continue;
    for (trial[Y] = 1; trial[Y] <= size / trial[Z]; trial[Y]++) {
      PetscBool enough = PETSC_TRUE;

      if ((size / trial[Z]) % trial[Y])
        continue;
      trial[X] = size / trial[Z] / trial[Y];
      for (PetscInt d = 0; d < dimension; d++)
        if (smallest_part(cells[d], trial[d]) < LEAST_CELLS_PER_RANK)
          enough = PETSC_FALSE;
      /* ties go to cuts across z: slabs are contiguous in memory */
      if (!enough || cut_area(cells, trial) > best)
        continue;
      best = cut_area(cells, trial);
      *fits = PETSC_TRUE;
      for (PetscInt d = 0; d < DIM; d++)
        ranks[d] = trial[d];
    }
  }
}

GridRange box_side_layer(const GridBox *box, PetscInt direction, PetscInt side)
{
  GridRange layer = box_grown(box, 0);

  for (PetscInt d = 0; d < direction; d++) {
    layer.start[d] -= box->ghost;
    layer.end[d] += box->ghost;
  }
  layer.start[direction] = side ? box->end[direction] - 1 : box->start[direction];
  layer.end[direction] = layer.start[direction] + 1;
  return layer;
}

void box_mirror_side(const GridBox *box, PetscInt direction, PetscInt side, PetscReal *values)
{
  const GridRange layer = box_side_layer(box, direction, side);
  const PetscInt  inwards = (side ? -1 : 1) * box->stride[direction];

  FOR_CELLS(&layer, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    for (PetscInt n = 0; n < box->ghost; n++)
      values[c - (n + 1) * inwards] = values[c + n * inwards];
  }
}

void box_lay_out(GridBox *box)
{
  box->length = 1;
  for (PetscInt d = 0; d < DIM; d++) {
    box->stride[d] = box->length;
    if (d < box->dimension)
      box->length *= box->end[d] - box->start[d] + 2 * box->ghost;
  }
}

static PetscMPIInt rank_at(const GridBox *box, const PetscInt place[DIM], PetscInt direction, PetscInt shift)
{
  PetscInt at[DIM] = {place[X], place[Y], place[Z]};

  at[direction] += shift;
  if (at[direction] < 0 || at[direction] >= box->ranks[direction]) {
    if (!box->periodic[direction])
      return MPI_PROC_NULL;
    at[direction] = (at[direction] + box->ranks[direction]) % box->ranks[direction];
  }
  return (PetscMPIInt)(at[X] + box->ranks[X] * (at[Y] + box->ranks[Y] * at[Z]));
}

PetscErrorCode GridBoxSetUp(MPI_Comm comm, const PetscInt cells[DIM], PetscInt dimension,
                            const PetscBool periodic[DIM], const GridPartition *partition, GridBox *box)
{
  PetscMPIInt rank;
  PetscInt    place[DIM];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  *box = (GridBox){.dimension = dimension, .ghost = GHOST_WIDTH, .comm = comm};
  place[X] = rank % partition->parts[X];
  place[Y] = rank / partition->parts[X] % partition->parts[Y];
  place[Z] = rank / partition->parts[X] / partition->parts[Y];
  for (PetscInt d = 0; d < DIM; d++) {
    box->cells[d] = cells[d];
    box->periodic[d] = d < dimension ? periodic[d] : PETSC_FALSE;
    box->ranks[d] = partition->parts[d];
    box->start[d] = partition->start[d][place[d]];
    box->end[d] = partition->start[d][place[d] + 1];
  }
  for (PetscInt d = 0; d < DIM; d++)
    for (PetscInt side = 0; side < 2; side++)
      box->neighbour[d][side] = rank_at(box, place, d, 2 * side - 1);
  box_lay_out(box);
  PetscFunctionReturn(0);
}

/* A block of cells in local indices (ghosts included): low <= index < high. */
typedef struct {
  PetscInt low[DIM], high[DIM];
} GhostBlock;

typedef enum { SENT, RECEIVED } BlockUse;

/* What the phase of `direction` moves through `side`: everything already current in the directions before,
   owned cells in those to come, and always the layers beyond the sides of the box. */
static GhostBlock exchange_block(const GridBox *box, PetscInt direction, PetscInt side, BlockUse use)
{
  GhostBlock block;

  for (PetscInt d = 0; d < DIM; d++) {
    const PetscInt owned = box->end[d] - box->start[d];
    const PetscInt ghost = d < box->dimension ? box->ghost : 0;

    block.low[d] = d < direction || box->neighbour[d][0] == MPI_PROC_NULL ? 0 : ghost;
    block.high[d] =
        d < direction || box->neighbour[d][1] == MPI_PROC_NULL ? owned + 2 * ghost : owned + ghost;
    if (d != direction)
      continue;
    if (side == 0)
      block.low[d] = use == RECEIVED ? 0 : ghost;
    else
      block.low[d] = use == RECEIVED ? owned + ghost : owned;
    block.high[d] = block.low[d] + ghost;
  }
  return block;
}

static PetscInt block_size(const GhostBlock *block)
{
  PetscInt size = 1;

  for (PetscInt d = 0; d < DIM; d++)
    size *= block->high[d] - block->low[d];
  return size;
}

/* The fields of an exchange, of values of `size` bytes each. */
typedef struct {
  PetscInt     count;
  void *const *values;
  size_t       size;
} ExchangedFields;

typedef enum { PACK, UNPACK } GhostPacking;

static void copy_block(const GridBox *box, const GhostBlock *block, const ExchangedFields *fields,
                       char *buffer, GhostPacking way)
{
  const size_t row = (block->high[X] - block->low[X]) * fields->size;

  for (PetscInt f = 0; f < fields->count; f++)
    for (PetscInt k = block->low[Z]; k < block->high[Z]; k++)
      for (PetscInt j = block->low[Y]; j < block->high[Y]; j++, buffer += row) {
        const PetscInt first = block->low[X] + j * box->stride[Y] + k * box->stride[Z];
        char          *values = (char *)fields->values[f] + first * fields->size;

        if (way == PACK)
          memcpy(buffer, values, row);
        else
          memcpy(values, buffer, row);
      }
}

/* What went into out[side] leaves through that side; in[side] is what has come through it. With itself as its
   neighbour a rank gets its own: in[] then lends from out[]. */
static PetscErrorCode PassThroughSides(const GridBox *box, PetscInt direction, PetscInt size,
                                       char *const out[2], char *in[2])
{
  const PetscMPIInt *neighbour = box->neighbour[direction];
  PetscMPIInt        message, self, requests = 0;
  MPI_Request        request[4];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(box->comm, &self));
  PetscCall(PetscMPIIntCast(size, &message));
  for (PetscInt side = 0; side < 2; side++) {
    if (neighbour[side] == MPI_PROC_NULL)
      continue;
    if (neighbour[side] == self) {
      in[1 - side] = out[side]; /* the periodic image of its own cells */
      continue;
    }
    /* what leaves through the lower side arrives at the neighbour's upper one */
    PetscCallMPI(MPI_Irecv(in[side], message, MPI_BYTE, neighbour[side], 1 - (PetscMPIInt)side, box->comm,
                           &request[requests++]));
    PetscCallMPI(MPI_Isend(out[side], message, MPI_BYTE, neighbour[side], (PetscMPIInt)side, box->comm,
                           &request[requests++]));
  }
  PetscCallMPI(MPI_Waitall(requests, request, MPI_STATUSES_IGNORE));
  PetscFunctionReturn(0);
}

/* Sends the blocks of `use` through both sides; the caller frees `buffer`. */
static PetscErrorCode SendBlocks(const GridBox *box, PetscInt direction, BlockUse use,
                                 const ExchangedFields *fields, char **buffer, char *in[2])
{
  const GhostBlock shape = exchange_block(box, direction, 0, use);
  const PetscInt   size = block_size(&shape) * fields->count * (PetscInt)fields->size;
  char            *out[2];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(4 * size, buffer));
  for (PetscInt side = 0; side < 2; side++) {
    const GhostBlock block = exchange_block(box, direction, side, use);

    out[side] = *buffer + side * size;
    in[side] = *buffer + (2 + side) * size;
    if (box->neighbour[direction][side] != MPI_PROC_NULL)
      copy_block(box, &block, fields, out[side], PACK);
  }
  PetscCall(PassThroughSides(box, direction, size, out, in));
  PetscFunctionReturn(0);
}

static PetscErrorCode ExchangeAlong(const GridBox *box, PetscInt direction, const ExchangedFields *fields)
{
  char *buffer, *in[2];

  PetscFunctionBegin;
  PetscCall(SendBlocks(box, direction, SENT, fields, &buffer, in));
  for (PetscInt side = 0; side < 2; side++) {
    const GhostBlock block = exchange_block(box, direction, side, RECEIVED);

    if (box->neighbour[direction][side] != MPI_PROC_NULL)
      copy_block(box, &block, fields, in[side], UNPACK);
  }
  PetscCall(PetscFree(buffer));
  PetscFunctionReturn(0);
}

PetscErrorCode GridBoxExchangeBytes(const GridBox *box, PetscInt count, void *const values[], size_t size)
{
  const ExchangedFields fields = {count, values, size};

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    if (box->neighbour[d][0] == MPI_PROC_NULL && box->neighbour[d][1] == MPI_PROC_NULL)
      continue;
    PetscCall(ExchangeAlong(box, d, &fields));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode GridBoxExchange(const GridBox *box, PetscInt count, PetscReal *const fields[])
{
  PetscFunctionBegin;
  PetscCall(GridBoxExchangeBytes(box, count, (void *const *)fields, sizeof(**fields)));
  PetscFunctionReturn(0);
}

/* The transpose of ExchangeAlong: what it fills goes back to where it comes from, first through the lower
   side. */
static PetscErrorCode ReduceAlong(const GridBox *box, PetscInt direction, const ExchangedFields *fields,
                                  MPI_Op operation)
{
  char *buffer, *in[2], *owned;

  PetscFunctionBegin;
  PetscCall(SendBlocks(box, direction, RECEIVED, fields, &buffer, in));
  for (PetscInt side = 0; side < 2; side++) {
    const GhostBlock block = exchange_block(box, direction, side, SENT);
    const PetscInt   values = block_size(&block) * fields->count;
    PetscMPIInt      count;

    if (box->neighbour[direction][side] == MPI_PROC_NULL)
      continue;
    PetscCall(PetscMPIIntCast(values, &count));
    PetscCall(PetscMalloc1(values * fields->size, &owned));
    copy_block(box, &block, fields, owned, PACK);
    PetscCallMPI(MPI_Reduce_local(in[side], owned, count, MPIU_REAL, operation));
    copy_block(box, &block, fields, owned, UNPACK);
    PetscCall(PetscFree(owned));
  }
  PetscCall(PetscFree(buffer));
  PetscFunctionReturn(0);
}

PetscErrorCode GridBoxReduce(const GridBox *box, PetscInt count, PetscReal *const values[], MPI_Op operation)
{
  const ExchangedFields fields = {count, (void *const *)values, sizeof(**values)};

  PetscFunctionBegin;
  for (PetscInt d = box->dimension - 1; d >= 0; d--) {
    if (box->neighbour[d][0] == MPI_PROC_NULL && box->neighbour[d][1] == MPI_PROC_NULL)
      continue;
    PetscCall(ReduceAlong(box, d, &fields, operation));
  }
  PetscFunctionReturn(0);
}
