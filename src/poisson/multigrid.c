/* A symmetric V(1,1) cycle of geometric multigrid for the Poisson problem, matrix-free and in parallel. */
#include "multigrid_impl.h"

static PetscBool is_coarsest(const Level *level)
{
  for (PetscInt d = 0; d < level->box.dimension; d++)
    if (level->box.cells[d] > 2)
      return PETSC_FALSE;
  return partition_is_whole(&level->partition);
}

PetscErrorCode MultigridCreate(const GridBox *box, Multigrid *multigrid)
{
  GridBox next = *box;
  Level  *level = NULL;

  PetscFunctionBegin;
  PetscCall(PetscNew(multigrid));
  do {
    const Level *finer = level;

    level = &(*multigrid)->levels[(*multigrid)->count++];
    PetscCall(LevelSetUp(level, &next, finer));
    next = coarse_box(&level->box);
  } while (!level->idle && !is_coarsest(level));
  PetscFunctionReturn(0);
}

PetscErrorCode MultigridDestroy(Multigrid *multigrid)
{
  PetscFunctionBegin;
  if (!*multigrid)
    PetscFunctionReturn(0);
  for (PetscInt l = 0; l < (*multigrid)->count; l++)
    PetscCall(LevelDestroy(&(*multigrid)->levels[l]));
  PetscCall(PetscFree((*multigrid)->scratch));
  PetscCall(PetscFree(*multigrid));
  PetscFunctionReturn(0);
}

PetscErrorCode MultigridSetWeights(Multigrid multigrid, float *const weights[DIM], const float *fixed)
{
  Level    *levels = multigrid->levels;
  PetscBool grounded[DIM];

  PetscFunctionBegin;
  PetscCall(FindGround(&levels[0].arrival_box, weights, fixed, grounded));
  for (PetscInt l = 0; l < multigrid->count; l++)
    PetscCall(PetscArraycpy(levels[l].grounded, grounded, DIM));
  PetscCall(MultigridReserve(multigrid));
  levels[0].has_fixed = fixed ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(LevelTakeWeights(&levels[0], weights, fixed));
  for (PetscInt l = 1; l < multigrid->count; l++) {
    PetscCall(LevelCoarsen(&levels[l - 1], &levels[l], multigrid->scratch));
    if (!levels[l].idle)
      PetscCall(LevelSetInverse(&levels[l], NULL));
  }
  if (!levels[multigrid->count - 1].idle)
    coarsest_factor(multigrid);
  PetscFunctionReturn(0);
}

typedef enum { TO_LEVEL, FROM_LEVEL } CopyWay;

/* Between an array on `box` and its owned cells, tightly. */
static void copy_owned(const GridBox *box, PetscReal *values, PetscReal *tight, CopyWay way)
{
  const PetscInt width = owned_width(box, X);

  for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++, tight += width) {
      PetscReal *row = values + box_index(box, box->start[X], j, k);

      if (way == TO_LEVEL)
        memcpy(row, tight, width * sizeof(*row));
      else
        memcpy(tight, row, width * sizeof(*row));
    }
}

static PetscErrorCode Descend(Multigrid multigrid)
{
  PetscFunctionBegin;
  for (PetscInt l = 0; l < multigrid->count; l++) {
    Level *level = &multigrid->levels[l];

    PetscCall(LevelArrive(level));
    if (l == multigrid->count - 1)
      break;
    if (level->seam)
      PetscCall(SeamDescend(level, level + 1));
    else
      PetscCall(LevelDescend(level, level + 1));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Ascend(Multigrid multigrid, PetscReal *solution)
{
  PetscFunctionBegin;
  for (PetscInt l = multigrid->count - 2; l >= 0; l--) {
    Level *level = &multigrid->levels[l];

    PetscCall(LevelDepart(level + 1));
    if (level->seam)
      PetscCall(SeamAscend(level, level + 1));
    else
      PetscCall(LevelAscend(level, level + 1, l == 0 ? solution : NULL));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode MultigridApply(Multigrid multigrid, const PetscReal *right_side, PetscReal *solution)
{
  Level          *finest = &multigrid->levels[0];
  const PetscBool direct = !finest->seam && multigrid->count > 1;

  PetscFunctionBegin;
  copy_owned(&finest->box, finest->right_side, (PetscReal *)right_side, TO_LEVEL);
  PetscCall(Descend(multigrid));
  if (!multigrid->levels[multigrid->count - 1].idle)
    coarsest_solve(multigrid);
  PetscCall(Ascend(multigrid, direct ? solution : NULL));
  if (!direct)
    copy_owned(&finest->box, finest->solution, solution, FROM_LEVEL);
  PetscFunctionReturn(0);
}
