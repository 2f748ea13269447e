/* Broad phase: which boxes overlap.

   Boxes of about the same size (within a factor of two across x: a level) are put in the rows of a grid over
   y and z whose cells are as wide as the widest of them, by their low corner. Boxes that overlap are then in
   the same row or in rows beside each other; the rows are sorted along x and swept in step. A row is swept as
   well against the rows near it of each coarser level. Rows are found by hashing, so nothing depends on how
   far the boxes are spread. The few boxes without an end in y or z are held against all others.

   Sorting is by digits, the work near-linear, and the order of the answer does not depend on any of this. */
#include "pairs.h"

enum { LEVEL_COUNT = 32, DIGIT_BITS = 8, DIGIT_COUNT = 1 << DIGIT_BITS, KEY_BITS = 64 };

typedef struct {
  uint64_t key; /* orders as the low end in x does */
  PetscInt body;
} SortKey;

typedef struct {
  Vector3  low, high;
  PetscInt body;
  PetscInt moves;
} Span;

typedef struct {
  PetscInt level;
  int64_t  at[2];      /* index of the cell in y and z */
  PetscInt start, end; /* of its spans */
} GridRow;

typedef struct {
  PetscInt  count; /* of bodies */
  PetscReal cell[2];
} BodyGrid;

struct _p_PairFinder {
  PetscInt  body_count;
  PetscInt  bounded_count, endless_count;
  SortKey  *keys, *keys_scratch; /* of the bounded bodies */
  PetscInt *row_of;              /* by place in `keys` */
  PetscInt *endless;             /* bodies */
  Span     *spans;               /* row by row, each sorted along x */
  GridRow  *rows;
  PetscInt  row_count;
  PetscInt *table; /* from the hash of a row to its index plus one */
  uint64_t  table_mask;
  BodyGrid  levels[LEVEL_COUNT];
  Vector3   origin; /* low corner of all bounded boxes */
  PetscReal finest; /* size below which all is in level 0 */

  PetscInt (*pairs)[2];
  PetscInt *firsts; /* while sorting: the first bodies of the pairs */
  PetscInt  pair_count, pair_capacity;
  PetscInt *starts; /* while sorting: two per body */
};

PetscErrorCode PairFinderCreate(PetscInt body_count, PairFinder *finder)
{
  const size_t count = (size_t)PetscMax(body_count, 1);
  PairFinder   f;
  uint64_t     size = 16;

  PetscFunctionBegin;
  while (size < 2 * count)
    size *= 2;
  PetscCall(PetscNew(&f));
  f->body_count = body_count;
  f->table_mask = size - 1;
  /* apart, because the sorts swap them */
  PetscCall(PetscMalloc1(count, &f->keys));
  PetscCall(PetscMalloc1(count, &f->keys_scratch));
  PetscCall(PetscMalloc3(count, &f->row_of, count, &f->endless, 2 * count, &f->starts));
  PetscCall(PetscMalloc3(count, &f->spans, count, &f->rows, size, &f->table));
  *finder = f;
  PetscFunctionReturn(0);
}

PetscErrorCode PairFinderDestroy(PairFinder *finder)
{
  PetscFunctionBegin;
  if (!*finder)
    PetscFunctionReturn(0);
  PetscCall(PetscFree((*finder)->keys));
  PetscCall(PetscFree((*finder)->keys_scratch));
  PetscCall(PetscFree3((*finder)->row_of, (*finder)->endless, (*finder)->starts));
  PetscCall(PetscFree3((*finder)->spans, (*finder)->rows, (*finder)->table));
  PetscCall(PetscFree((*finder)->pairs));
  PetscCall(PetscFree((*finder)->firsts));
  PetscCall(PetscFree(*finder));
  PetscFunctionReturn(0);
}

/* Room for `more` pairs. */
static PetscErrorCode Reserve(PairFinder finder, PetscInt more)
{
  PetscFunctionBegin;
  if (finder->pair_count + more > finder->pair_capacity) {
    finder->pair_capacity =
        PetscMax(2 * finder->pair_capacity, finder->pair_count + more + 8 * finder->body_count);
    PetscCall(PetscRealloc(finder->pair_capacity * sizeof(*finder->pairs), &finder->pairs));
    PetscCall(PetscRealloc(finder->pair_capacity * sizeof(*finder->firsts), &finder->firsts));
  }
  PetscFunctionReturn(0);
}

static PetscReal box_size(const Bounds *box)
{
  return PetscMax(box->high.at[Y] - box->low.at[Y], box->high.at[Z] - box->low.at[Z]);
}

/* An unsigned number that orders as the real one does. */
static uint64_t ordered_key(double value)
{
  const uint64_t sign = (uint64_t)1 << 63;
  uint64_t       bits;

  memcpy(&bits, &value, sizeof(bits));
  return bits & sign ? ~bits : bits | sign;
}

/* Sorts the bodies into bounded and endless ones. */
static void sort_out(PairFinder finder, const Bounds boxes[])
{
  PetscReal smallest = PETSC_INFINITY, largest = 0;

  finder->bounded_count = finder->endless_count = 0;
  finder->origin = vector3(PETSC_INFINITY, PETSC_INFINITY, PETSC_INFINITY);
  for (PetscInt body = 0; body < finder->body_count; body++) {
    const PetscReal size = box_size(&boxes[body]);

    if (!(size < PETSC_INFINITY)) {
      finder->endless[finder->endless_count++] = body;
      continue;
    }
    finder->keys[finder->bounded_count++] = (SortKey){ordered_key(boxes[body].low.at[X]), body};
    if (size > 0)
      smallest = PetscMin(smallest, size);
    largest = PetscMax(largest, size);
    for (PetscInt d = Y; d < DIM; d++)
      finder->origin.at[d] = PetscMin(finder->origin.at[d], boxes[body].low.at[d]);
  }
  finder->finest = PetscMax(smallest, PetscPowRealInt(0.5, LEVEL_COUNT - 2) * largest);
}

/* From counts to where each begins. */
static void add_up(PetscInt count, PetscInt starts[])
{
  PetscInt total = 0;

  for (PetscInt k = 0; k < count; k++) {
    const PetscInt next = total + starts[k];

    starts[k] = total;
    total = next;
  }
}

static void sort_along_x(PairFinder finder)
{
  for (PetscInt shift = 0; shift < KEY_BITS; shift += DIGIT_BITS) {
    PetscInt starts[DIGIT_COUNT] = {0};
    SortKey *swap = finder->keys_scratch;

    for (PetscInt k = 0; k < finder->bounded_count; k++)
      starts[finder->keys[k].key >> shift & (DIGIT_COUNT - 1)]++;
    add_up(DIGIT_COUNT, starts);
    for (PetscInt k = 0; k < finder->bounded_count; k++)
      swap[starts[finder->keys[k].key >> shift & (DIGIT_COUNT - 1)]++] = finder->keys[k];
    finder->keys_scratch = finder->keys;
    finder->keys = swap;
  }
}

static PetscInt level_of(const PairFinder finder, PetscReal size)
{
  int exponent;

  if (size < 2 * finder->finest)
    return 0;
  (void)frexp(size / finder->finest, &exponent);
  return PetscMin(exponent - 1, LEVEL_COUNT - 1);
}

/* The cells of a level are wider than any box of it, and no narrower than those of finer levels. */
static void measure_levels(PairFinder finder, const Bounds boxes[])
{
  PetscReal least[2] = {0, 0};

  for (PetscInt level = 0; level < LEVEL_COUNT; level++)
    finder->levels[level] = (BodyGrid){0, {0, 0}};
  for (PetscInt k = 0; k < finder->bounded_count; k++) {
    const Bounds *box = &boxes[finder->keys[k].body];
    BodyGrid     *level = &finder->levels[level_of(finder, box_size(box))];

    level->count++;
    for (PetscInt d = 0; d < 2; d++) {
      level->cell[d] = PetscMax(level->cell[d], box->high.at[Y + d] - box->low.at[Y + d]);
      /* indices must be exact to a part of a cell */
      least[d] = PetscMax(least[d], 1e-9 * (box->low.at[Y + d] - finder->origin.at[Y + d]));
      least[d] = PetscMax(least[d], 1e-9 * PetscAbsReal(box->low.at[Y + d]));
    }
  }
  for (PetscInt level = 0; level < LEVEL_COUNT; level++)
    for (PetscInt d = 0; d < 2; d++) {
      PetscReal *cell = &finder->levels[level].cell[d];

      *cell = PetscMax(*cell * (1 + 1e-6), least[d]);
      if (*cell == 0)
        *cell = 1; /* points at the origin */
      least[d] = *cell;
    }
}

static uint64_t row_hash(PetscInt level, const int64_t at[2])
{
  uint64_t hash =
      (uint64_t)at[0] * 0x9e3779b97f4a7c15u + (uint64_t)at[1] * 0xc2b2ae3d27d4eb4fu + (uint64_t)level;

  hash ^= hash >> 29;
  hash *= 0xbf58476d1ce4e5b9u;
  return hash ^ hash >> 32;
}

/* The entry of the table for a row: its index plus one, or a zero to be filled. */
static PetscInt *row_entry(PairFinder finder, PetscInt level, const int64_t at[2])
{
  for (uint64_t hash = row_hash(level, at);; hash++) {
    PetscInt      *entry = &finder->table[hash & finder->table_mask];
    const GridRow *row;

    if (*entry == 0)
      return entry;
    row = &finder->rows[*entry - 1];
    if (row->at[0] == at[0] && row->at[1] == at[1] && row->level == level)
      return entry;
  }
}

static PetscErrorCode BuildRows(PairFinder finder, const Bounds boxes[], const PetscBool moves[])
{
  PetscInt total = 0;

  PetscFunctionBegin;
  finder->row_count = 0;
  PetscCall(PetscArrayzero(finder->table, finder->table_mask + 1));
  for (PetscInt k = 0; k < finder->bounded_count; k++) {
    const Bounds  *box = &boxes[finder->keys[k].body];
    const PetscInt level = level_of(finder, box_size(box));
    int64_t        at[2];
    PetscInt      *entry;

    for (PetscInt d = 0; d < 2; d++)
      at[d] = (int64_t)((box->low.at[Y + d] - finder->origin.at[Y + d]) / finder->levels[level].cell[d]);
    entry = row_entry(finder, level, at);
    if (*entry == 0) {
      finder->rows[finder->row_count++] = (GridRow){level, {at[0], at[1]}, 0, 0};
      *entry = finder->row_count;
    }
    finder->row_of[k] = *entry - 1;
    finder->rows[*entry - 1].end++;
  }
  for (PetscInt r = 0; r < finder->row_count; r++) {
    const PetscInt count = finder->rows[r].end;

    finder->rows[r].start = finder->rows[r].end = total;
    total += count;
  }
  for (PetscInt k = 0; k < finder->bounded_count; k++) {
    const PetscInt body = finder->keys[k].body;

    finder->spans[finder->rows[finder->row_of[k]].end++] =
        (Span){boxes[body].low, boxes[body].high, body, moves[body]};
  }
  PetscFunctionReturn(0);
}

/* The spans from `next` on that begin before `span` ends and overlap it. There must be room for all. */
static inline void scan(PairFinder finder, const Span *span, const Span *next, const Span *end)
{
  PetscInt count = finder->pair_count;

  for (; next < end && next->low.at[X] <= span->high.at[X]; next++) {
    const int apart = (next->low.at[Y] > span->high.at[Y]) | (span->low.at[Y] > next->high.at[Y]) |
                      (next->low.at[Z] > span->high.at[Z]) | (span->low.at[Z] > next->high.at[Z]);

    /* written in any case: whether they overlap is hard to predict */
    finder->pairs[count][0] = PetscMin(span->body, next->body);
    finder->pairs[count][1] = PetscMax(span->body, next->body);
    count += (apart == 0) & (span->moves | next->moves);
  }
  finder->pair_count = count;
}

static PetscErrorCode SweepRow(PairFinder finder, const GridRow *row)
{
  const Span *end = finder->spans + row->end;

  PetscFunctionBegin;
  for (const Span *span = finder->spans + row->start; span < end; span++) {
    PetscCall(Reserve(finder, (PetscInt)(end - span)));
    scan(finder, span, span + 1, end);
  }
  PetscFunctionReturn(0);
}

/* Of two spans the one that begins first finds the other. */
static PetscErrorCode SweepRows(PairFinder finder, const GridRow *a, const GridRow *b)
{
  const Span *first = finder->spans + a->start, *first_end = finder->spans + a->end;
  const Span *second = finder->spans + b->start, *second_end = finder->spans + b->end;

  PetscFunctionBegin;
  while (first < first_end && second < second_end) {
    PetscCall(Reserve(finder, (PetscInt)(first_end - first + second_end - second)));
    if (first->low.at[X] <= second->low.at[X]) {
      scan(finder, first, second, second_end);
      first++;
    } else {
      scan(finder, second, first, first_end);
      second++;
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode SweepAgainst(PairFinder finder, const GridRow *row, PetscInt level, int64_t y,
                                   int64_t z)
{
  const PetscInt entry = *row_entry(finder, level, (int64_t[2]){y, z});

  PetscFunctionBegin;
  if (entry)
    PetscCall(SweepRows(finder, row, &finder->rows[entry - 1]));
  PetscFunctionReturn(0);
}

/* The rows of a coarser level whose boxes may overlap those of `row`. */
static PetscErrorCode SweepLevel(PairFinder finder, const GridRow *row, PetscInt level)
{
  int64_t low[2], high[2];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < 2; d++) {
    const PetscReal ratio = finder->levels[row->level].cell[d] / finder->levels[level].cell[d];

    /* a coarse box begins at most one coarse cell before a fine one begins, and before that ends */
    low[d] = (int64_t)PetscMax(row->at[d] * ratio - 1 - 1e-5, 0);
    high[d] = (int64_t)((row->at[d] + 2) * ratio + 1e-5);
  }
  for (int64_t z = low[1]; z <= high[1]; z++)
    for (int64_t y = low[0]; y <= high[0]; y++)
      PetscCall(SweepAgainst(finder, row, level, y, z));
  PetscFunctionReturn(0);
}

static PetscErrorCode SweepAll(PairFinder finder)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < finder->row_count; r++) {
    const GridRow *row = &finder->rows[r];
    const int64_t  y = row->at[0], z = row->at[1];

    PetscCall(SweepRow(finder, row));
    PetscCall(SweepAgainst(finder, row, row->level, y + 1, z));
    for (int64_t beside = y - 1; beside <= y + 1; beside++)
      PetscCall(SweepAgainst(finder, row, row->level, beside, z + 1));
    for (PetscInt level = row->level + 1; level < LEVEL_COUNT; level++)
      if (finder->levels[level].count)
        PetscCall(SweepLevel(finder, row, level));
  }
  PetscFunctionReturn(0);
}

static int boxes_overlap(const Bounds *a, const Bounds *b)
{
  int apart = 0;

  for (PetscInt d = X; d < DIM; d++)
    apart |= (a->low.at[d] > b->high.at[d]) | (b->low.at[d] > a->high.at[d]);
  return !apart;
}

static PetscErrorCode CompareEndless(PairFinder finder, const Bounds boxes[], const PetscBool moves[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < finder->endless_count; k++) {
    const PetscInt body = finder->endless[k];

    PetscCall(Reserve(finder, finder->body_count));
    for (PetscInt n = 0; n < finder->bounded_count + k; n++) {
      const PetscInt other =
          n < finder->bounded_count ? finder->keys[n].body : finder->endless[n - finder->bounded_count];

      if (!(moves[body] || moves[other]) || !boxes_overlap(&boxes[body], &boxes[other]))
        continue;
      finder->pairs[finder->pair_count][0] = PetscMin(body, other);
      finder->pairs[finder->pair_count++][1] = PetscMax(body, other);
    }
  }
  PetscFunctionReturn(0);
}

/* Two counting sorts, each stable: the firsts by their seconds, then both by the first. */
static PetscErrorCode SortPairs(PairFinder finder)
{
  const PetscInt count = finder->body_count;
  PetscInt      *by_first = finder->starts, *by_second = finder->starts + count, *firsts = finder->firsts;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(finder->starts, 2 * count));
  for (PetscInt k = 0; k < finder->pair_count; k++) {
    by_first[finder->pairs[k][0]]++;
    by_second[finder->pairs[k][1]]++;
  }
  add_up(count, by_first);
  add_up(count, by_second);
  for (PetscInt k = 0; k < finder->pair_count; k++)
    firsts[by_second[finder->pairs[k][1]]++] = finder->pairs[k][0];
  for (PetscInt second = 0, k = 0; second < count; second++)
    for (; k < by_second[second]; k++) {
      PetscInt *pair = finder->pairs[by_first[firsts[k]]++];

      pair[0] = firsts[k];
      pair[1] = second;
    }
  PetscFunctionReturn(0);
}

PetscErrorCode PairFinderFind(PairFinder finder, const Bounds boxes[], const PetscBool moves[],
                              PetscInt *count, const PetscInt (**pairs)[2])
{
  PetscFunctionBegin;
  finder->pair_count = 0;
  sort_out(finder, boxes);
  sort_along_x(finder);
  measure_levels(finder, boxes);
  PetscCall(BuildRows(finder, boxes, moves));
  PetscCall(SweepAll(finder));
  PetscCall(CompareEndless(finder, boxes, moves));
  PetscCall(SortPairs(finder));
  *count = finder->pair_count;
  *pairs = (const PetscInt(*)[2])finder->pairs;
  PetscFunctionReturn(0);
}
