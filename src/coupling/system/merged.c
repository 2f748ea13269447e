/* B of the free bodies, body by body: one row of six numbers for each cell that a body brings flow into. */
#include "../coupling_impl.h"

/* `order` becomes stably sorted by `key`, 0 <= key < keys. */
static PetscErrorCode SortBy(PetscInt count, const int *key, PetscInt keys, int *order)
{
  PetscInt *start;
  int      *sorted;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(keys + 1, &start));
  PetscCall(PetscMalloc1(count, &sorted));
  for (PetscInt n = 0; n < count; n++)
    start[key[n] + 1]++;
  for (PetscInt k = 0; k < keys; k++)
    start[k + 1] += start[k];
  for (PetscInt n = 0; n < count; n++)
    sorted[start[key[order[n]]]++] = order[n];
  PetscCall(PetscArraycpy(order, sorted, count));
  PetscCall(PetscFree(sorted));
  PetscCall(PetscFree(start));
  PetscFunctionReturn(0);
}

static PetscErrorCode Sort(const EntryList *list, PetscInt cells, PetscInt bodies, int *order)
{
  int *key;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(list->count, &key));
  for (PetscInt n = 0; n < list->count; n++) {
    order[n] = (int)n;
    key[n] = list->entries[n].cell;
  }
  PetscCall(SortBy(list->count, key, cells, order));
  for (PetscInt n = 0; n < list->count; n++)
    key[n] = list->entries[n].into[0] / TWIST;
  PetscCall(SortBy(list->count, key, bodies, order));
  PetscCall(PetscFree(key));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingMergeRows(Coupling coupling)
{
  const EntryList *list = &coupling->free_entries;
  MergedRows      *rows = &coupling->rows;
  PetscInt         count = 0, body = -1;
  int             *order;

  PetscFunctionBegin;
  PetscCall(CouplingDropRows(coupling));
  PetscCall(PetscMalloc1(list->count, &order));
  PetscCall(Sort(list, coupling->cell_count, coupling->free_count, order));
  PetscCall(PetscMalloc3(coupling->free_count + 1, &rows->first, list->count, &rows->cells,
                         TWIST * list->count, &rows->by));
  for (PetscInt n = 0; n < list->count; n++) {
    const Entry *entry = &list->entries[order[n]];

    if (entry->into[0] / TWIST != body || rows->cells[count - 1] != entry->cell) {
      while (body < entry->into[0] / TWIST)
        rows->first[++body] = count;
      PetscCall(PetscArrayzero(&rows->by[TWIST * count], TWIST));
      rows->cells[count++] = entry->cell;
    }
    for (PetscInt i = 0; i < 3; i++)
      rows->by[TWIST * (count - 1) + entry->into[i] % TWIST] += entry->by[i];
  }
  while (body < coupling->free_count)
    rows->first[++body] = count;
  rows->bodies = coupling->free_count;
  PetscCall(PetscFree(order));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingDropRows(Coupling coupling)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(coupling->rows.first, coupling->rows.cells, coupling->rows.by));
  coupling->rows.bodies = 0;
  PetscFunctionReturn(0);
}

VECTOR_CLONES void rows_apply(const MergedRows *rows, const PetscReal *restrict twists,
                              PetscReal *restrict cells)
{
  for (PetscInt b = 0; b < rows->bodies; b++) {
    const PetscReal *v = &twists[TWIST * b];

    for (PetscInt r = rows->first[b]; r < rows->first[b + 1]; r++) {
      const PetscReal *by = &rows->by[TWIST * r];

      cells[rows->cells[r]] +=
          (by[0] * v[0] + by[1] * v[1] + by[2] * v[2]) + (by[3] * v[3] + by[4] * v[4] + by[5] * v[5]);
    }
  }
}

VECTOR_CLONES void rows_gather(const MergedRows *rows, const PetscReal *restrict cells,
                               PetscReal *restrict twists)
{
  for (PetscInt b = 0; b < rows->bodies; b++) {
    PetscReal sums[TWIST] = {0.};

    for (PetscInt r = rows->first[b]; r < rows->first[b + 1]; r++) {
      const PetscReal value = cells[rows->cells[r]];

      for (PetscInt n = 0; n < TWIST; n++)
        sums[n] += rows->by[TWIST * r + n] * value;
    }
    for (PetscInt n = 0; n < TWIST; n++)
      twists[TWIST * b + n] += sums[n];
  }
}
