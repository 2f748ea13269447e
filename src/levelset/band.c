/* The cells around the interface, as runs of rows, so that all work but one scan goes with the surface. */
#include "levelset_impl.h"

/* 1 where |value| < width. */
VECTOR_CLONES static void mark(const PetscReal *restrict value, PetscInt count, PetscReal width,
                               unsigned char *restrict mask)
{
  for (PetscInt c = 0; c < count; c++)
    mask[c] = PetscAbsReal(value[c]) < width;
}

/* Spreads marks by one cell along a direction; the first and last `stride` cells stay as they are. */
VECTOR_CLONES static void spread(const unsigned char *restrict from, PetscInt length, PetscInt stride,
                                 unsigned char *restrict to)
{
  for (PetscInt c = stride; c < length - stride; c++)
    to[c] = from[c - stride] | from[c] | from[c + stride];
}

static PetscErrorCode AddRun(Band *band, PetscInt first, PetscInt count)
{
  PetscFunctionBegin;
  for (; count > 0; first += RUN, count -= RUN) {
    PetscCall(GrowList(band->count, &band->capacity, &band->runs));
    band->runs[band->count++] = (BandRun){first, PetscMin(count, RUN)};
    band->cells += PetscMin(count, RUN);
  }
  PetscFunctionReturn(0);
}

/* Runs of marked cells in a row. */
static PetscErrorCode AddRow(Band *band, const unsigned char *mask, PetscInt first, PetscInt count)
{
  const PetscInt end = first + count;

  PetscFunctionBegin;
  for (PetscInt c = first; c < end;) {
    const unsigned char *found = memchr(mask + c, 1, end - c);
    PetscInt             begin;

    if (!found)
      break;
    begin = (PetscInt)(found - mask);
    for (c = begin; c < end && mask[c]; c++)
      ;
    PetscCall(AddRun(band, begin, c - begin));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode BandBuild(LevelSet level_set, const PetscReal value[], PetscReal width, PetscInt margin)
{
  const GridBox *box = grid_box(level_set->grid);
  const PetscInt row = box->end[X] - box->start[X];

  PetscFunctionBegin;
  level_set->band.count = level_set->band.cells = 0;
  mark(value, box->length, width - MILLRACE_ROUND_OFF * grid_spacing(level_set->grid), level_set->mask);
  for (PetscInt layer = 0; layer < margin; layer++)
    for (PetscInt d = 0; d < box->dimension; d++) {
      unsigned char *swap = level_set->mask;

      spread(level_set->mask, box->length, box->stride[d], level_set->other_mask);
      level_set->mask = level_set->other_mask;
      level_set->other_mask = swap;
    }
  FOR_ROWS(box, j, k)
    PetscCall(AddRow(&level_set->band, level_set->mask, box_index(box, box->start[X], j, k), row));
  PetscFunctionReturn(0);
}
