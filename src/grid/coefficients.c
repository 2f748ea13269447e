/* What the levels of the multigrid know of the problem: weights, inverse diagonals, spreads.

   The weight of a coarse face is the sum of the fine weights in it, halved when its normal direction was
   halved: same area, twice the distance. A cell without weights is outside the problem: its inverse diagonal
   is zero and every formula leaves zero there without asking. */
#include "multigrid_impl.h"

/* Brings weights on `arrival_box` to the whole level on every rank. */
static PetscErrorCode GatherWeights(Level *level, PetscInt direction, const float *part)
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < level->arrival_box.length; c++)
    level->arrival[c] = part[c];
  PetscCall(PetscArrayzero(level->right_side, level->box.length));
  PetscCall(LevelGather(level, GATHER_FACES, level->right_side));
  PetscCall(BoxExchange(&level->box, level->right_side));
  for (PetscInt c = 0; c < level->box.length; c++)
    level->weight[direction][c] = (float)level->right_side[c];
  PetscFunctionReturn(0);
}

PetscErrorCode LevelTakeWeights(Level *level, float *const weights[DIM])
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < level->box.dimension; d++) {
    if (level->borrows)
      level->weight[d] = weights[d];
    else
      PetscCall(GatherWeights(level, d, weights[d]));
  }
  PetscFunctionReturn(0);
}

VECTOR_CLONES static void invert_row(PetscInt count, PetscInt dimension, float *const weights[DIM],
                                     PetscInt first, const PetscInt stride[DIM], float *restrict inverse)
{
  const float *restrict wx = weights[X] + first, *restrict wy = weights[Y] + first;
  const float *restrict wz = (dimension == 3 ? weights[Z] : weights[Y]) + first;
  const PetscReal three = dimension == 3 ? 1. : 0.;
  const PetscInt  row = stride[Y], slab = dimension == 3 ? stride[Z] : 0;

  for (PetscInt i = 0; i < count; i++) {
    const PetscReal sum = ((PetscReal)wx[i] + wx[i + 1]) + ((PetscReal)wy[i] + wy[i + row]) +
                          three * ((PetscReal)wz[i] + wz[i + slab]);

    inverse[i] = (float)(sum > 0. ? 1. / sum : 0.);
  }
}

PetscErrorCode LevelSetInverse(Level *level)
{
  const GridBox *box = &level->box;
  float *const   coefficients[] = {level->inverse, level->weight[X], level->weight[Y], level->weight[Z]};

  PetscFunctionBegin;
  for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++) {
      const PetscInt first = box_index(box, box->start[X], j, k);

      invert_row(owned_width(box, X), box->dimension, level->weight, first, box->stride,
                 level->inverse + first);
    }
  PetscCall(BoxExchangeRounded(box, level->borrows ? 1 : 1 + box->dimension, coefficients));
  PetscFunctionReturn(0);
}

/* The fine rows or slabs that make up coarse index `coarse` of the faces in `direction`, along d. */
static void children(const Level *fine, PetscInt direction, PetscInt d, PetscInt coarse, PetscInt *first,
                     PetscInt *last)
{
  *first = PetscMin(fine->ratio[d] * coarse, fine->box.cells[d]); /* the upper side, too */
  *last = d == direction ? *first : PetscMin(*first + fine->ratio[d], fine->box.cells[d]) - 1;
}

VECTOR_CLONES static void add_row(PetscInt count, const float *restrict row, float *restrict sum)
{
  for (PetscInt i = 0; i < count; i++)
    sum[i] += row[i];
}

/* One coarse row of faces from a row of sums over the fine rows. */
static void coarsen_row(const Level *fine, PetscInt direction, PetscInt count, const float *sum,
                        float *coarse)
{
  const float    scale = fine->ratio[direction] == 2 ? 0.5f : 1.f;
  const PetscInt width = owned_width(&fine->box, X);

  if (fine->ratio[X] == 1)
    for (PetscInt i = 0; i < count; i++)
      coarse[i] = scale * sum[i];
  else if (direction == X)
    for (PetscInt i = 0; i < count; i++)
      coarse[i] = scale * sum[PetscMin(2 * i, width)];
  else {
    for (PetscInt i = 0; i < width / 2; i++)
      coarse[i] = scale * (sum[2 * i] + sum[2 * i + 1]);
    if (width % 2)
      coarse[width / 2] = scale * sum[width - 1];
  }
}

/* The weights in one direction on the coarse cells that this rank's fine cells make up, the upper faces
   included: the fine ones are there. */
static void coarsen_faces(const Level *fine, PetscInt direction, const GridBox *box, float *sum,
                          float *coarse)
{
  const PetscInt width = owned_width(&fine->box, X) + 1;
  PetscInt       end[DIM] = {box->end[X], box->end[Y], box->end[Z]};
  PetscInt       first[DIM] = {0, 0, 0}, last[DIM] = {0, 0, 0};

  end[direction]++;
  for (PetscInt K = box->start[Z]; K < end[Z]; K++)
    for (PetscInt J = box->start[Y]; J < end[Y]; J++) {
      children(fine, direction, Y, J, &first[Y], &last[Y]);
      if (box->dimension == 3)
        children(fine, direction, Z, K, &first[Z], &last[Z]);
      memset(sum, 0, width * sizeof(*sum));
      for (PetscInt k = first[Z]; k <= last[Z]; k++)
        for (PetscInt j = first[Y]; j <= last[Y]; j++)
          add_row(width, fine->weight[direction] + box_index(&fine->box, fine->box.start[X], j, k), sum);
      coarsen_row(fine, direction, end[X] - box->start[X], sum, coarse + box_index(box, box->start[X], J, K));
    }
}

PetscErrorCode LevelCoarsen(const Level *fine, Level *coarse)
{
  const GridBox *box = &coarse->arrival_box;
  float         *sum, *part = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(fine->box.stride[Y], &sum));
  if (coarse->gathered)
    PetscCall(PetscCalloc1(box->length, &part));
  for (PetscInt d = 0; d < box->dimension; d++) {
    if (box->periodic[d] && box->cells[d] == 1)
      continue; /* its own neighbour: no effect, the weight stays zero */
    coarsen_faces(fine, d, box, sum, coarse->gathered ? part : coarse->weight[d]);
    if (coarse->gathered) {
      PetscCall(GatherWeights(coarse, d, part));
      PetscCall(PetscArrayzero(part, box->length));
    }
  }
  PetscCall(PetscFree(part));
  PetscCall(PetscFree(sum));
  PetscFunctionReturn(0);
}

/* Where weights jump, a cell must follow the parent on its own, stiffer side: parents count by the root of
   their diagonal. With weights from 1 to 1000 this cuts the iterations to a third; with equal ones it changes
   little. */
PetscErrorCode LevelSetStrength(Level *level)
{
  PetscFunctionBegin;
  if (!level->strength)
    PetscCall(PetscMalloc1(level->box.length, &level->strength));
  for (PetscInt c = 0; c < level->box.length; c++)
    level->strength[c] = level->inverse[c] > 0.f ? (float)PetscSqrtReal(1. / level->inverse[c]) : 0.f;
  PetscFunctionReturn(0);
}

static void mark_active(Level *level)
{
  for (PetscInt c = 0; c < level->box.length; c++)
    level->solution[c] = level->strength[c];
}

/* Children of a run of parents: interpolating the strengths of active parents gives the share that is to be
   scaled up to one. A pocket inside a single coarse cell has no active parent and takes nothing. */
VECTOR_CLONES static void spread_run(PetscInt count, const float *restrict inverse,
                                     const PetscReal *restrict own, const PetscReal *restrict mark,
                                     const PetscReal *restrict share, float *restrict spread)
{
  for (PetscInt i = 0; i < count; i++) {
    const PetscReal even = own[2 * i] * share[i] + (1. - own[2 * i]) * share[i - 1];
    const PetscReal odd = own[2 * i + 1] * share[i] + (1. - own[2 * i + 1]) * share[i + 1];

    spread[2 * i] = (float)(inverse[2 * i] > 0.f && mark[i] > 0. ? 1. / even : 0.);
    spread[2 * i + 1] = (float)(inverse[2 * i + 1] > 0.f && mark[i] > 0. ? 1. / odd : 0.);
  }
}

static void spread_row(Level *fine, const Level *coarse, const PetscReal *share, PetscInt j, PetscInt k)
{
  const GridBox   *box = &fine->box;
  const PetscInt   c = box_index(box, box->start[X], j, k), width = owned_width(box, X);
  const PetscInt   parent = box->start[X] / fine->ratio[X];
  const PetscInt   parent_z = box->dimension == 3 ? k / fine->ratio[Z] : 0;
  const PetscReal *mark = coarse->solution + box_index(&coarse->box, parent, j / fine->ratio[Y], parent_z);
  const PetscReal *own = fine->own_share[X] + box->start[X] + LEVEL_GHOST;

  share += parent - coarse->box.start[X] + LEVEL_GHOST;
  if (fine->ratio[X] == 1)
    fine->spread[c] = fine->inverse[c] > 0.f && mark[0] > 0. ? (float)(1. / share[0]) : 0.f;
  else {
    spread_run((width + 1) / 2, fine->inverse + c, own, mark, share, fine->spread + c);
    if (width % 2)
      fine->spread[c + width] = 0.f; /* beyond the side */
  }
}

/* Next to p = 0 beyond a side, the line through zero at the face gives half of the parent's value; keeping
   all of it costs three iterations. */
static void halve_beside_open_sides(Level *level, PetscInt d, PetscInt side)
{
  const GridBox *box = &level->box;
  PetscInt       low[DIM], high[DIM];

  for (PetscInt e = 0; e < DIM; e++) {
    low[e] = e == d && side == 1 ? box->end[e] - 1 : box->start[e];
    high[e] = e == d && side == 0 ? box->start[e] + 1 : box->end[e];
  }
  for (PetscInt k = low[Z]; k < high[Z]; k++)
    for (PetscInt j = low[Y]; j < high[Y]; j++)
      for (PetscInt i = low[X]; i < high[X]; i++) {
        const PetscInt c = box_index(box, i, j, k);

        if (level->weight[d][side ? c + box->stride[d] : c] > 0.f)
          level->spread[c] *= 0.5f;
      }
}

PetscErrorCode LevelSetSpread(Level *fine, Level *coarse)
{
  const GridBox *box = &fine->box;
  const PetscInt S = slab_direction(box), rows = box->dimension == 3 ? owned_width(box, Y) : 1;
  PetscReal     *slab, *row;

  PetscFunctionBegin;
  mark_active(coarse);
  PetscCall(PetscMalloc2(slab_size(&coarse->box), &slab, coarse->box.stride[Y], &row));
  for (PetscInt s = box->start[S]; s < box->end[S]; s++) {
    interpolate_slab(fine, coarse, s, slab);
    for (PetscInt r = 0; r < rows; r++) {
      const PetscInt j = box->dimension == 3 ? box->start[Y] + r : s;

      spread_row(fine, coarse, interpolate_row(fine, coarse, slab, j, row), j, box->dimension == 3 ? s : 0);
    }
  }
  PetscCall(PetscFree2(slab, row));
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++)
      if (box->neighbour[d][side] == MPI_PROC_NULL && fine->ratio[d] == 2)
        halve_beside_open_sides(fine, d, side);
  PetscCall(BoxExchangeRounded(box, 1, &fine->spread));
  PetscFunctionReturn(0);
}
