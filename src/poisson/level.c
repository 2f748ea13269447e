/* One grid of the multigrid hierarchy: its place in the box, its arrays, and how they travel.

   A level halves every direction that has more than one cell, whatever the number of ranks. As long as the
   ranks' boundaries are even and every rank keeps a few cells, the ranks share it; below that each holds the
   whole level and repeats the same arithmetic. */
#include "multigrid_impl.h"

enum { LEAST_SHARED_WIDTH = LEVEL_GHOST + 1, BOX_NUMBERS = 2 * DIM };

void box_lay_out_level(GridBox *box)
{
  PetscInt pitch = owned_width(box, X) + 2 * LEVEL_GHOST;

  pitch += 1 - pitch % 2;
  box->ghost = LEVEL_GHOST;
  box->stride[X] = 1;
  box->stride[Y] = pitch;
  box->stride[Z] = pitch * (owned_width(box, Y) + 2 * LEVEL_GHOST);
  box->length = slab_size(box) * slab_count(box);
}

GridBox halved_box(const GridBox *fine, PetscInt direction)
{
  GridBox half = *fine;

  half.cells[direction] = (fine->cells[direction] + 1) / 2;
  half.start[direction] = fine->start[direction] / 2;
  half.end[direction] = (fine->end[direction] + 1) / 2;
  box_lay_out_level(&half);
  return half;
}

GridBox coarse_box(const GridBox *fine)
{
  GridBox coarse = *fine;

  for (PetscInt d = 0; d < fine->dimension; d++)
    coarse = halved_box(&coarse, d);
  return coarse;
}

static GridBox whole_box(const GridBox *part)
{
  GridBox whole = *part;

  whole.comm = PETSC_COMM_SELF;
  for (PetscInt d = 0; d < DIM; d++) {
    whole.start[d] = 0;
    whole.end[d] = part->cells[d];
    whole.ranks[d] = 1;
    for (PetscInt side = 0; side < 2; side++)
      whole.neighbour[d][side] = part->periodic[d] ? 0 : MPI_PROC_NULL;
  }
  return whole;
}

static PetscErrorCode CanBeShared(const GridBox *box, PetscBool *shared)
{
  int mine = 1;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    if (box->start[d] % 2)
      mine = 0;
    if ((box->ranks[d] > 1 || box->periodic[d]) && owned_width(box, d) < LEAST_SHARED_WIDTH)
      mine = 0;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_LAND, box->comm));
  *shared = mine ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordParts(Level *level, PetscMPIInt size)
{
  const GridBox *part = &level->arrival_box;
  PetscInt       mine[BOX_NUMBERS];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++) {
    mine[d] = part->start[d];
    mine[DIM + d] = part->end[d];
  }
  PetscCall(PetscMalloc1(BOX_NUMBERS * size, &level->parts));
  PetscCallMPI(MPI_Allgather(mine, BOX_NUMBERS, MPIU_INT, level->parts, BOX_NUMBERS, MPIU_INT, part->comm));
  PetscFunctionReturn(0);
}

static PetscErrorCode AllocateLevel(Level *level, PetscBool finest)
{
  const PetscInt length = level->box.length;

  PetscFunctionBegin;
  level->borrows = finest && !level->gathered ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt d = 0; d < level->box.dimension; d++) {
    if (!level->borrows)
      PetscCall(PetscCalloc1(length, &level->weight[d]));
    if (!finest)
      PetscCall(PetscCalloc1(length, &level->ground[d]));
    if (has_seam(&level->box, d) && level->box.cells[d] > 1)
      level->seam = PETSC_TRUE;
  }
  PetscCall(PetscCalloc1(length, &level->inverse));
  PetscCall(PetscCalloc1(length, &level->right_side));
  if (!finest || level->seam || level->gathered) /* otherwise it goes straight to the caller */
    PetscCall(PetscCalloc1(length, &level->solution));
  if (level->seam)
    PetscCall(PetscCalloc1(length, &level->residual));
  PetscCall(PetscCalloc1((2 * STENCIL_SLABS + 2) * slab_size(&level->box), &level->slabs));
  level->arrival = level->right_side;
  if (level->gathered)
    PetscCall(PetscCalloc1(level->arrival_box.length, &level->arrival));
  PetscFunctionReturn(0);
}

static PetscErrorCode AllocateShares(Level *level)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < level->box.dimension; d++) {
    level->halved[d] = halved_box(d == X ? &level->box : &level->halved[d - 1], d);
    for (PetscInt child = 0; child < 2; child++)
      PetscCall(PetscCalloc1(level->halved[d].length, &level->share[d][child]));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode LevelSetUp(Level *level, const GridBox *box, const Level *finer)
{
  PetscMPIInt size;
  PetscBool   shared = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(box->comm, &size));
  level->box = *box;
  level->serial = size == 1 || (finer && finer->serial) ? PETSC_TRUE : PETSC_FALSE;
  if (!level->serial) {
    PetscCall(CanBeShared(box, &shared));
    level->gathered = level->serial = shared ? PETSC_FALSE : PETSC_TRUE;
  }
  if (level->gathered)
    level->box = whole_box(box);
  level->arrival_box = *box;
  box_lay_out_level(&level->box);
  box_lay_out_level(&level->arrival_box);
  if (level->gathered)
    PetscCall(RecordParts(level, size));
  PetscCall(AllocateLevel(level, finer ? PETSC_FALSE : PETSC_TRUE));
  PetscCall(AllocateShares(level));
  PetscFunctionReturn(0);
}

PetscErrorCode LevelDestroy(Level *level)
{
  PetscFunctionBegin;
  if (level->gathered)
    PetscCall(PetscFree(level->arrival));
  for (PetscInt d = 0; d < DIM; d++) {
    if (!level->borrows)
      PetscCall(PetscFree(level->weight[d]));
    PetscCall(PetscFree(level->ground[d]));
    for (PetscInt child = 0; child < 2; child++)
      PetscCall(PetscFree(level->share[d][child]));
  }
  PetscCall(PetscFree(level->inverse));
  PetscCall(PetscFree(level->right_side));
  PetscCall(PetscFree(level->solution));
  PetscCall(PetscFree(level->residual));
  PetscCall(PetscFree(level->slabs));
  PetscCall(PetscFree(level->parts));
  PetscFunctionReturn(0);
}

/* Ghosts of a level without neighbours; a period may be shorter than the ghost layers. */
static void wrap(const GridBox *box, PetscInt d, char *values, size_t size)
{
  const PetscInt n = box->cells[d], layers = n + 2 * LEVEL_GHOST;
  const PetscInt block = box->stride[d] * (d == X ? box->stride[Y] : layers);
  const size_t   layer_size = box->stride[d] * size;

  for (PetscInt first = 0; first < box->length; first += block)
    for (PetscInt layer = 0; layer < layers; layer++) {
      const PetscInt image = ((layer - LEVEL_GHOST) % n + n) % n + LEVEL_GHOST;

      if (image != layer)
        memcpy(values + first * size + layer * layer_size, values + first * size + image * layer_size,
               layer_size);
    }
}

void box_part_seam(const GridBox *box, PetscInt d, void *values, size_t size)
{
  const PetscInt layers = owned_width(box, d) + 2 * LEVEL_GHOST;
  const PetscInt block = box->stride[d] * (d == X ? box->stride[Y] : layers);
  const size_t   layer = box->stride[d] * size;

  if (!has_seam(box, d))
    return;
  for (PetscInt first = 0; first + block <= box->length; first += block) {
    char *low = (char *)values + first * size, *high = low + (layers - LEVEL_GHOST) * layer;

    if (box->start[d] == 0) {
      memmove(low, low + layer, (LEVEL_GHOST - 1) * layer);
      memset(low + (LEVEL_GHOST - 1) * layer, 0, layer);
    }
    if (box->end[d] == box->cells[d]) {
      memmove(high + layer, high, (LEVEL_GHOST - 1) * layer);
      memset(high, 0, layer);
    }
  }
}

static PetscErrorCode ExchangeBytes(const GridBox *box, PetscInt count, void *const values[], size_t size)
{
  const PetscBool alone = box->ranks[X] * box->ranks[Y] * box->ranks[Z] == 1;

  PetscFunctionBegin;
  if (!alone)
    PetscCall(GridBoxExchangeBytes(box, count, values, size));
  else
    for (PetscInt d = 0; d < box->dimension; d++)
      for (PetscInt v = 0; box->periodic[d] && v < count; v++)
        wrap(box, d, values[v], size);
  PetscFunctionReturn(0);
}

PetscErrorCode BoxExchange(const GridBox *box, PetscReal *values)
{
  PetscFunctionBegin;
  PetscCall(ExchangeBytes(box, 1, (void *const *)&values, sizeof(*values)));
  PetscFunctionReturn(0);
}

PetscErrorCode BoxExchangeRounded(const GridBox *box, PetscInt count, float *const values[])
{
  PetscFunctionBegin;
  PetscCall(ExchangeBytes(box, count, (void *const *)values, sizeof(**values)));
  PetscFunctionReturn(0);
}

PetscErrorCode BoxExchangeShares(const GridBox *box, Share *const shares[2])
{
  const PetscBool alone = box->ranks[X] * box->ranks[Y] * box->ranks[Z] == 1;
  const PetscInt  inward = 1 + box->stride[Y] + (box->dimension == 3 ? box->stride[Z] : 0);
  void *const all[2] = {shares[0], shares[1]}, *const inner[2] = {shares[0] + inward, shares[1] + inward};
  GridBox view = *box;

  PetscFunctionBegin;
  view.ghost = LEVEL_GHOST - 1;
  if (alone)
    PetscCall(ExchangeBytes(box, 2, all, sizeof(Share)));
  else
    PetscCall(GridBoxExchangeBytes(&view, 2, inner, sizeof(Share)));
  PetscFunctionReturn(0);
}

static void part_range(const Level *level, GatherKind kind, const PetscInt part[], PetscInt start[DIM],
                       PetscInt end[DIM])
{
  const GridBox *box = &level->box;

  for (PetscInt d = 0; d < DIM; d++) {
    start[d] = part[d];
    end[d] = part[DIM + d];
    if (kind == GATHER_FACES && d < box->dimension && end[d] == box->cells[d])
      end[d]++;
  }
}

typedef enum { PACK, UNPACK } SlabPacking;

static PetscReal *copy_part(const GridBox *box, const PetscInt start[DIM], const PetscInt end[DIM],
                            PetscReal *values, PetscReal *packed, SlabPacking way)
{
  const PetscInt width = end[X] - start[X];

  for (PetscInt k = start[Z]; k < end[Z]; k++)
    for (PetscInt j = start[Y]; j < end[Y]; j++, packed += width) {
      PetscReal *row = values + box_index(box, start[X], j, k);

      if (way == PACK)
        memcpy(packed, row, width * sizeof(*row));
      else
        memcpy(row, packed, width * sizeof(*row));
    }
  return packed;
}

PetscErrorCode LevelGather(const Level *level, GatherKind kind, PetscReal *values)
{
  const GridBox *part = &level->arrival_box;
  PetscInt       start[DIM], end[DIM];
  PetscMPIInt    rank, size, *counts, *offsets, total = 0;
  PetscReal     *mine, *all, *next;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(part->comm, &rank));
  PetscCallMPI(MPI_Comm_size(part->comm, &size));
  PetscCall(PetscMalloc2(size, &counts, size, &offsets));
  for (PetscMPIInt r = 0; r < size; r++) {
    part_range(level, kind, level->parts + BOX_NUMBERS * r, start, end);
    counts[r] = (PetscMPIInt)((end[X] - start[X]) * (end[Y] - start[Y]) * (end[Z] - start[Z]));
    offsets[r] = total;
    total += counts[r];
  }
  PetscCall(PetscMalloc2(counts[rank], &mine, total, &all));
  part_range(level, kind, level->parts + BOX_NUMBERS * rank, start, end);
  copy_part(part, start, end, level->arrival, mine, PACK);
  PetscCallMPI(MPI_Allgatherv(mine, counts[rank], MPIU_REAL, all, counts, offsets, MPIU_REAL, part->comm));
  next = all;
  for (PetscMPIInt r = 0; r < size; r++) {
    part_range(level, kind, level->parts + BOX_NUMBERS * r, start, end);
    next = copy_part(&level->box, start, end, values, next, UNPACK);
  }
  PetscCall(PetscFree2(mine, all));
  PetscCall(PetscFree2(counts, offsets));
  PetscFunctionReturn(0);
}
