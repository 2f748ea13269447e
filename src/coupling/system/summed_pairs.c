/* Lists of blocks between bodies whose numbers are summed over faces and ranks in no order. */
#include "../coupling_impl.h"

typedef struct _p_SummedPair {
  PetscInt        a, b;
  ReproducibleSum block[TWIST * TWIST];
} SummedPair;

PetscErrorCode SummedPairsFind(SummedPairs *list, PetscInt a, PetscInt b, ReproducibleSum **block)
{
  SummedPair *pair;

  PetscFunctionBegin;
  for (PetscInt p = list->count - 1; p >= 0 && p >= list->count - 8; p--) /* faces follow each other */
    if (list->pairs[p].a == a && list->pairs[p].b == b) {
      *block = list->pairs[p].block;
      PetscFunctionReturn(0);
    }
  PetscCall(GrowList(list->count, &list->room, &list->pairs));
  pair = &list->pairs[list->count++];
  PetscCall(PetscMemzero(pair, sizeof(*pair)));
  pair->a = a;
  pair->b = b;
  *block = pair->block;
  PetscFunctionReturn(0);
}

static int compare_pairs(const void *x, const void *y)
{
  const SummedPair *a = x, *b = y;

  if (a->a != b->a)
    return a->a < b->a ? -1 : 1;
  return (a->b > b->b) - (a->b < b->b);
}

/* Sorted, each once. */
static PetscInt merge(PetscInt count, SummedPair *pairs)
{
  PetscInt kept = 0;

  if (count)
    qsort(pairs, count, sizeof(*pairs), compare_pairs);
  for (PetscInt p = 0; p < count; p++)
    if (kept && compare_pairs(&pairs[kept - 1], &pairs[p]) == 0)
      for (PetscInt n = 0; n < TWIST * TWIST; n++)
        sum_add_sum(&pairs[kept - 1].block[n], &pairs[p].block[n]);
    else
      pairs[kept++] = pairs[p];
  return kept;
}

static PetscErrorCode CopyValues(PetscInt count, const SummedPair *pairs, BlockPairs *all)
{
  PetscFunctionBegin;
  *all = (BlockPairs){.count = count, .room = count};
  PetscCall(PetscCalloc1(count, &all->pairs));
  for (PetscInt p = 0; p < count; p++) {
    all->pairs[p].a = pairs[p].a;
    all->pairs[p].b = pairs[p].b;
    for (PetscInt n = 0; n < TWIST * TWIST; n++)
      all->pairs[p].block[n] = sum_value(&pairs[p].block[n]);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SummedPairsGather(SummedPairs *list, MPI_Comm comm, BlockPairs *all)
{
  PetscMPIInt size, *counts, *offsets, mine, sum = 0;
  SummedPair *pairs;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc2(size, &counts, size, &offsets));
  list->count = merge(list->count, list->pairs);
  PetscCall(PetscMPIIntCast(list->count * (PetscInt)sizeof(SummedPair), &mine));
  PetscCallMPI(MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, comm));
  for (PetscMPIInt r = 0; r < size; r++) {
    offsets[r] = sum;
    sum += counts[r];
  }
  PetscCall(PetscMalloc1(sum / sizeof(SummedPair), &pairs));
  PetscCallMPI(MPI_Allgatherv(list->pairs, mine, MPI_BYTE, pairs, counts, offsets, MPI_BYTE, comm));
  PetscCall(CopyValues(merge((PetscInt)(sum / sizeof(SummedPair)), pairs), pairs, all));
  PetscCall(PetscFree(pairs));
  PetscCall(PetscFree2(counts, offsets));
  PetscCall(PetscFree(list->pairs));
  *list = (SummedPairs){0};
  PetscFunctionReturn(0);
}
