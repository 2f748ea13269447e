/* What the levels of the multigrid know of the problem: weights, inverse diagonals, spreads.

   The weight of a coarse face is the sum of the fine weights in it, halved when its normal direction was
   halved: same area, twice the distance. A cell without weights is outside the problem: its inverse diagonal
   is zero and every formula leaves zero there without asking. */
#include "multigrid_impl.h"

static void round_to_float(PetscInt count, const PetscReal *values, float *rounded)
{
  for (PetscInt c = 0; c < count; c++)
    rounded[c] = (float)values[c];
}

/* Brings what was put into `level->arrival` to all ghosts and rounds it. */
static PetscErrorCode TakeWeights(Level *level, PetscInt direction)
{
  PetscFunctionBegin;
  if (level->gathered) {
    PetscCall(PetscArrayzero(level->right_side, level->box.length));
    PetscCall(LevelGather(level, GATHER_FACES, level->right_side));
  }
  PetscCall(LevelExchange(level, level->right_side));
  round_to_float(level->box.length, level->right_side, level->weight[direction]);
  PetscFunctionReturn(0);
}

static PetscErrorCode TakeCells(Level *level, float *rounded)
{
  PetscFunctionBegin;
  PetscCall(LevelExchange(level, level->right_side));
  round_to_float(level->box.length, level->right_side, rounded);
  PetscFunctionReturn(0);
}

/* One past the last face in `direction`: the upper side of the box counts. */
static void face_end(const GridBox *box, PetscInt direction, PetscInt end[DIM])
{
  for (PetscInt d = 0; d < DIM; d++)
    end[d] = box->end[d];
  if (box->end[direction] == box->cells[direction] && !box->periodic[direction])
    end[direction]++;
}

PetscErrorCode LevelSetWeights(Level *level, PetscInt direction, const GridBox *box, const PetscReal *weight)
{
  const GridBox *arrival_box = &level->arrival_box;
  PetscInt       end[DIM];

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(level->arrival, arrival_box->length));
  face_end(arrival_box, direction, end);
  for (PetscInt k = box->start[Z]; k < end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < end[Y]; j++)
      memcpy(level->arrival + box_index(arrival_box, box->start[X], j, k),
             weight + box_index(box, box->start[X], j, k), (end[X] - box->start[X]) * sizeof(*weight));
  PetscCall(TakeWeights(level, direction));
  PetscFunctionReturn(0);
}

static inline PetscReal diagonal(const Level *level, PetscInt c)
{
  PetscReal sum = 0.;

  for (PetscInt d = 0; d < level->box.dimension; d++)
    sum += (PetscReal)level->weight[d][c] + level->weight[d][c + level->box.stride[d]];
  return sum;
}

PetscErrorCode LevelSetInverse(Level *level)
{
  const GridBox *box = &level->box;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(level->right_side, box->length));
  for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++) {
      const PetscInt first = box_index(box, box->start[X], j, k);

      for (PetscInt c = first; c < first + owned_width(box, X); c++) {
        const PetscReal sum = diagonal(level, c);

        level->right_side[c] = sum > 0. ? 1. / sum : 0.;
      }
    }
  PetscCall(TakeCells(level, level->inverse));
  PetscFunctionReturn(0);
}

/* The fine faces or cells that make up coarse index `coarse` along d. */
static inline void children(const Level *fine, PetscInt d, PetscInt coarse, PetscInt *first, PetscInt *last)
{
  *first = fine->ratio[d] * coarse;
  *last = PetscMin(*first + fine->ratio[d], fine->box.cells[d]) - 1;
}

static PetscReal coarse_weight(const Level *fine, PetscInt direction, const PetscInt coarse[DIM])
{
  PetscInt  first[DIM] = {0, 0, 0}, last[DIM] = {0, 0, 0};
  PetscReal sum = 0.;

  for (PetscInt d = 0; d < fine->box.dimension; d++)
    children(fine, d, coarse[d], &first[d], &last[d]);
  first[direction] = PetscMin(first[direction], fine->box.cells[direction]);
  last[direction] = first[direction];
  for (PetscInt k = first[Z]; k <= last[Z]; k++)
    for (PetscInt j = first[Y]; j <= last[Y]; j++)
      for (PetscInt i = first[X]; i <= last[X]; i++)
        sum += fine->weight[direction][box_index(&fine->box, i, j, k)];
  return fine->ratio[direction] == 2 ? 0.5 * sum : sum;
}

PetscErrorCode LevelCoarsen(const Level *fine, Level *coarse)
{
  const GridBox *box = &coarse->arrival_box;
  PetscInt       end[DIM], at[DIM];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscBool alone = box->periodic[d] && box->cells[d] == 1; /* it is its own neighbour: no effect */

    PetscCall(PetscArrayzero(coarse->arrival, box->length));
    face_end(box, d, end);
    for (at[Z] = box->start[Z]; at[Z] < end[Z] && !alone; at[Z]++)
      for (at[Y] = box->start[Y]; at[Y] < end[Y]; at[Y]++)
        for (at[X] = box->start[X]; at[X] < end[X]; at[X]++)
          coarse->arrival[box_index(box, at[X], at[Y], at[Z])] = coarse_weight(fine, d, at);
    PetscCall(TakeWeights(coarse, d));
  }
  PetscCall(LevelSetInverse(coarse));
  PetscFunctionReturn(0);
}

static void mark_active(Level *level)
{
  for (PetscInt c = 0; c < level->box.length; c++)
    level->solution[c] = level->inverse[c] > 0.f ? 1. : 0.;
}

/* How much of its interpolation a cell next to p = 0 keeps: beyond a side in direction d, the line through
   zero at the face gives half of the parent's value. */
static PetscReal open_side_factor(const Level *level, PetscInt c, const PetscInt at[DIM])
{
  const PetscReal open_factor = 0.5; /* 1 costs three iterations more */
  const GridBox  *box = &level->box;
  PetscReal       factor = 1.;

  for (PetscInt d = 0; d < box->dimension; d++) {
    if (box->periodic[d] || level->ratio[d] == 1)
      continue;
    if (at[d] == 0 && level->weight[d][c] > 0.f)
      factor *= open_factor;
    if (at[d] == box->cells[d] - 1 && level->weight[d][c + box->stride[d]] > 0.f)
      factor *= open_factor;
  }
  return factor;
}

/* A pocket inside a single coarse cell has nobody to ask: its parent has no weights. */
static PetscBool parent_is_active(const Level *fine, const Level *coarse, const PetscInt at[DIM])
{
  PetscInt parent[DIM] = {0, 0, 0};

  for (PetscInt d = 0; d < fine->box.dimension; d++)
    parent[d] = at[d] / fine->ratio[d];
  return coarse->inverse[box_index(&coarse->box, parent[X], parent[Y], parent[Z])] > 0.f;
}

static void spread_row(Level *fine, const Level *coarse, const PetscReal *coarse_row, PetscInt j, PetscInt k)
{
  const GridBox   *box = &fine->box;
  const PetscReal *own = fine->own_share[X] + LEVEL_GHOST;

  for (PetscInt i = box->start[X]; i < box->end[X]; i++) {
    const PetscInt  c = box_index(box, i, j, k), at[DIM] = {i, j, k};
    const PetscInt  parent = i / fine->ratio[X] - coarse->box.start[X] + LEVEL_GHOST;
    const PetscReal sum = own[i] * coarse_row[parent] + (1. - own[i]) * coarse_row[parent + (i % 2 ? 1 : -1)];

    fine->right_side[c] = fine->inverse[c] > 0.f && parent_is_active(fine, coarse, at)
                              ? open_side_factor(fine, c, at) / sum
                              : 0.;
  }
}

PetscErrorCode LevelSetSpread(Level *fine, Level *coarse)
{
  const GridBox *box = &fine->box;
  const PetscInt S = slab_direction(box);
  PetscReal     *coarse_slab;

  PetscFunctionBegin;
  mark_active(coarse);
  PetscCall(PetscArrayzero(fine->right_side, box->length));
  PetscCall(PetscMalloc1(slab_size(&coarse->box) + coarse->box.stride[Y], &coarse_slab));
  for (PetscInt slab = box->start[S]; slab < box->end[S]; slab++) {
    const PetscInt rows = box->dimension == 3 ? owned_width(box, Y) : 1;

    interpolate_slab(fine, coarse, slab, coarse_slab);
    for (PetscInt row = 0; row < rows; row++) {
      const PetscInt   j = box->dimension == 3 ? box->start[Y] + row : slab;
      const PetscReal *coarse_row =
          interpolate_row(fine, coarse, coarse_slab, j, coarse_slab + slab_size(&coarse->box));

      spread_row(fine, coarse, coarse_row, j, box->dimension == 3 ? slab : 0);
    }
  }
  PetscCall(PetscFree(coarse_slab));
  PetscCall(TakeCells(fine, fine->spread));
  PetscFunctionReturn(0);
}
