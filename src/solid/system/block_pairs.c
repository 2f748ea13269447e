/* Lists of blocks between blocks of unknowns, from several ranks. */
#include <millrace/solid_system.h>

PetscErrorCode BlockPairsFind(BlockPairs *list, PetscInt a, PetscInt b, BlockPair **pair)
{
  PetscFunctionBegin;
  for (PetscInt p = list->count - 1; p >= 0 && p >= list->count - 8; p--) /* faces follow each other */
    if (list->pairs[p].a == a && list->pairs[p].b == b) {
      *pair = &list->pairs[p];
      PetscFunctionReturn(0);
    }
  PetscCall(GrowList(list->count, &list->room, &list->pairs));
  *pair = &list->pairs[list->count++];
  PetscCall(PetscMemzero(*pair, sizeof(**pair)));
  (*pair)->a = a;
  (*pair)->b = b;
  PetscFunctionReturn(0);
}

static int compare_pairs(const void *x, const void *y)
{
  const BlockPair *a = x, *b = y;

  if (a->a != b->a)
    return a->a < b->a ? -1 : 1;
  return (a->b > b->b) - (a->b < b->b);
}

PetscErrorCode BlockPairsGather(BlockPairs *list, MPI_Comm comm)
{
  PetscMPIInt size, *counts, *offsets, mine = (PetscMPIInt)(list->count * sizeof(BlockPair)), sum = 0;
  BlockPair  *all;
  PetscInt    total, kept = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc2(size, &counts, size, &offsets));
  PetscCallMPI(MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, comm));
  for (PetscMPIInt r = 0; r < size; r++) {
    offsets[r] = sum;
    sum += counts[r];
  }
  total = (PetscInt)(sum / sizeof(BlockPair));
  PetscCall(PetscMalloc1(total, &all));
  PetscCallMPI(MPI_Allgatherv(list->pairs, mine, MPI_BYTE, all, counts, offsets, MPI_BYTE, comm));
  if (total)
    qsort(all, total, sizeof(BlockPair), compare_pairs);
  for (PetscInt p = 0; p < total; p++)
    if (kept && compare_pairs(&all[kept - 1], &all[p]) == 0)
      for (PetscInt n = 0; n < SOLID_BLOCK_LENGTH * SOLID_BLOCK_LENGTH; n++)
        all[kept - 1].block[n] += all[p].block[n];
    else
      all[kept++] = all[p];
  PetscCall(PetscFree(list->pairs));
  PetscCall(PetscFree2(counts, offsets));
  *list = (BlockPairs){kept, total, all};
  PetscFunctionReturn(0);
}
