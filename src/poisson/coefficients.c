/* What the levels of the multigrid know of the problem: weights, ground and inverse diagonals.

   A cell without weights is outside the problem, and so is one that is fixed: its inverse diagonal is zero
   and every formula leaves zero there without asking. */
#include "multigrid_impl.h"

static PetscBool is_open(const GridBox *box, PetscInt d, PetscInt side, const float *weights)
{
  PetscInt low[DIM] = {box->start[X], box->start[Y], box->start[Z]};
  PetscInt high[DIM] = {box->end[X], box->end[Y], box->end[Z]};

  if (box->neighbour[d][side] != MPI_PROC_NULL)
    return PETSC_FALSE;
  low[d] = side ? box->end[d] : box->start[d];
  high[d] = low[d] + 1;
  for (PetscInt k = low[Z]; k < high[Z]; k++)
    for (PetscInt j = low[Y]; j < high[Y]; j++)
      for (PetscInt i = low[X]; i < high[X]; i++)
        if (weights[box_index(box, i, j, k)] > 0.f)
          return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscErrorCode FindGround(const GridBox *box, float *const weights[DIM], const float *fixed,
                          PetscBool grounded[DIM])
{
  int found[DIM] = {0, 0, 0};

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++)
    found[d] = fixed || is_open(box, d, 0, weights[d]) || is_open(box, d, 1, weights[d]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found, DIM, MPI_INT, MPI_MAX, box->comm));
  for (PetscInt d = 0; d < DIM; d++)
    grounded[d] = found[d] ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}

PetscErrorCode LevelTakeWeights(Level *level, float *const weights[DIM], const float *fixed)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < level->box.dimension; d++)
    level->weight[d] = weights[d];
  PetscCall(LevelSetInverse(level, fixed));
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

    const PetscReal some = sum > 0. ? 1. : 0.;

    inverse[i] = (float)(some / (sum + (1. - some)));
  }
}

/* Takes the ground into an inverse diagonal. */
VECTOR_CLONES static void ground_row(PetscInt count, const float *restrict ground, float *restrict inverse)
{
  for (PetscInt i = 0; i < count; i++) {
    const PetscReal before = inverse[i] > 0.f ? 1. : 0.;
    const PetscReal sum = before / (inverse[i] + (1. - before)) + ground[i], some = sum > 0. ? 1. : 0.;

    inverse[i] = (float)(some / (sum + (1. - some)));
  }
}

static void fix_row(PetscInt count, const float *restrict fixed, float *restrict inverse)
{
  for (PetscInt i = 0; i < count; i++)
    inverse[i] = fixed[i] > 0.f ? 0.f : inverse[i];
}

PetscErrorCode LevelSetInverse(Level *level, const float *fixed)
{
  const GridBox *box = &level->box;
  const PetscInt width = owned_width(box, X);
  float         *exchanged[1 + 2 * DIM] = {level->inverse};
  PetscInt       count = 1;

  PetscFunctionBegin;
  FOR_ROWS(box, j, k) {
    const PetscInt first = box_index(box, box->start[X], j, k);

    invert_row(width, box->dimension, level->weight, first, box->stride, level->inverse + first);
    for (PetscInt d = 0; d < box->dimension; d++)
      if (level->ground[d] && level->grounded[d])
        ground_row(width, level->ground[d] + first, level->inverse + first);
    if (fixed)
      fix_row(width, fixed + first, level->inverse + first);
  }
  for (PetscInt d = 0; d < box->dimension && !level->borrows; d++) {
    exchanged[count++] = level->weight[d];
    if (level->ground[d] && level->grounded[d])
      exchanged[count++] = level->ground[d];
  }
  PetscCall(BoxExchangeRounded(box, count, exchanged));
  PetscFunctionReturn(0);
}

/* Cuts arrays on `box` out of a scratch buffer. */
static float *cut_out(const GridBox *box, const PetscBool grounded[DIM], float *scratch,
                      Conductors *conductors)
{
  for (PetscInt d = 0; d < box->dimension; d++) {
    conductors->weight[d] = scratch;
    scratch += box->length;
    conductors->ground[d] = grounded[d] ? scratch : NULL;
    scratch += grounded[d] ? box->length : 0;
  }
  return scratch;
}

static size_t scratch_needed(const Level *fine, const Level *coarse)
{
  PetscInt arrays = fine->box.dimension;
  size_t   sum = 0;

  for (PetscInt d = 0; d < fine->box.dimension; d++)
    arrays += fine->grounded[d] ? 1 : 0;
  for (PetscInt d = 0; d < fine->box.dimension - (coarse->moved ? 0 : 1); d++)
    sum += (size_t)(arrays * fine->halved[d].length);
  return sum;
}

PetscErrorCode MultigridReserve(Multigrid multigrid)
{
  size_t needed = 0;

  PetscFunctionBegin;
  for (PetscInt l = 0; l < multigrid->count - 1; l++)
    needed = PetscMax(needed, scratch_needed(&multigrid->levels[l], &multigrid->levels[l + 1]));
  if (needed > multigrid->scratch_size) {
    PetscCall(PetscFree(multigrid->scratch));
    PetscCall(PetscCalloc1(needed, &multigrid->scratch));
    multigrid->scratch_size = needed;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode LevelCoarsen(Level *fine, Level *coarse, float *scratch)
{
  const PetscInt dimension = fine->box.dimension;
  Conductors     stages[DIM];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < dimension; d++) {
    if (d < dimension - 1 || coarse->moved)
      scratch = cut_out(&fine->halved[d], fine->grounded, scratch, &stages[d]);
    else
      for (PetscInt e = 0; e < dimension; e++) {
        stages[d].weight[e] = coarse->weight[e];
        stages[d].ground[e] = coarse->ground[e];
      }
    PetscCall(LevelHalve(fine, d, d == X ? NULL : &stages[d - 1], &stages[d]));
  }
  for (PetscInt e = 0; e < dimension && coarse->moved; e++) {
    const Conductors *last = &stages[dimension - 1];
    const MPI_Comm    comm = coarse->box.comm;

    PetscCall(RouteCarry(&coarse->arrive, comm, last->weight[e], coarse->weight[e], sizeof(float)));
    if (fine->grounded[e])
      PetscCall(RouteCarry(&coarse->arrive, comm, last->ground[e], coarse->ground[e], sizeof(float)));
  }
  if (coarse->moved && !coarse->idle) /* the upper faces of owned cells */
    PetscCall(BoxExchangeRounded(&coarse->box, dimension, coarse->weight));
  PetscFunctionReturn(0);
}
