/* One grid of the multigrid hierarchy: its place in the box, its arrays, and how they travel.

   A level halves every direction that has more than one cell, whatever the number of ranks; agglomeration.c
   says which of them it is on. */
#include "multigrid_impl.h"

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

static PetscErrorCode AllocateLevel(Level *level, PetscBool finest)
{
  const PetscInt length = level->box.length;

  PetscFunctionBegin;
  level->borrows = finest;
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
  if (!finest || level->seam) /* otherwise it goes straight to the caller */
    PetscCall(PetscCalloc1(length, &level->solution));
  if (level->seam)
    PetscCall(PetscCalloc1(length, &level->residual));
  PetscCall(PetscCalloc1((2 * STENCIL_SLABS + 2) * slab_size(&level->box), &level->slabs));
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

/* Finds the parts of a level that arrives on `arrival_box`, in those of `arrival`. */
static PetscErrorCode MoveLevel(Level *level, const Partition *arrival)
{
  const GridBox *part = &level->arrival_box;

  PetscFunctionBegin;
  PetscCall(PartitionAgglomerate(part, arrival, &level->partition, &level->moved));
  if (!level->moved)
    PetscFunctionReturn(0);
  level->idle = partition_has_mine(&level->partition) ? PETSC_FALSE : PETSC_TRUE;
  if (!level->idle) {
    partition_place(&level->partition, &level->box);
    box_lay_out_level(&level->box);
  }
  PetscCall(RouteCreate(arrival, part, &level->partition, &level->box, 0, &level->arrive));
  PetscCall(RouteCreate(&level->partition, &level->box, arrival, part, TRANSFER_GHOST, &level->depart));
  PetscFunctionReturn(0);
}

PetscErrorCode LevelSetUp(Level *level, const GridBox *box, const Level *finer)
{
  Partition arrival;

  PetscFunctionBegin;
  level->arrival_box = *box;
  box_lay_out_level(&level->arrival_box);
  level->box = level->arrival_box;
  if (finer)
    PetscCall(PartitionHalve(&finer->partition, &arrival));
  else
    PetscCall(PartitionCreate(box, &arrival));
  PetscCall(MoveLevel(level, &arrival));
  PetscCall(PartitionDestroy(&arrival));
  PetscCheck(finer || !level->moved, box->comm, PETSC_ERR_PLIB, "The finest level is shared as the grid is");
  if (!level->idle) {
    PetscCall(AllocateLevel(level, finer ? PETSC_FALSE : PETSC_TRUE));
    PetscCall(AllocateShares(level));
  }
  level->arrival = level->right_side;
  level->departure = level->solution;
  if (level->moved) {
    PetscCall(PetscCalloc1(level->arrival_box.length, &level->arrival));
    PetscCall(PetscCalloc1(level->arrival_box.length, &level->departure));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode LevelDestroy(Level *level)
{
  PetscFunctionBegin;
  if (level->moved) {
    PetscCall(PetscFree(level->arrival));
    PetscCall(PetscFree(level->departure));
  }
  PetscCall(RouteDestroy(&level->arrive));
  PetscCall(RouteDestroy(&level->depart));
  PetscCall(PartitionDestroy(&level->partition));
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

PetscErrorCode LevelArrive(Level *level)
{
  PetscFunctionBegin;
  if (level->moved)
    PetscCall(
        RouteCarry(&level->arrive, level->box.comm, level->arrival, level->right_side, sizeof(PetscReal)));
  if (!level->idle)
    PetscCall(BoxExchange(&level->box, level->right_side));
  PetscFunctionReturn(0);
}

PetscErrorCode LevelDepart(Level *level)
{
  PetscFunctionBegin;
  if (level->moved)
    PetscCall(
        RouteCarry(&level->depart, level->box.comm, level->solution, level->departure, sizeof(PetscReal)));
  else
    PetscCall(BoxExchange(&level->box, level->solution));
  PetscFunctionReturn(0);
}
