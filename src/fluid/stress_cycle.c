/* One V-cycle for the viscous operator: a symmetric preconditioner of conjugate gradients.

   The smoother is Chebyshev's polynomial in D^-1 A. No eigenvalue of that exceeds 4: an edge's stress acts on
   four faces with the same weight and adds that weight to the diagonal of each. */
#include "stress_impl.h"

enum { SMOOTHING_DEGREE = 2, COARSEST_DEGREE_MAX = 64 };

static const PetscReal largest_eigenvalue = 4., smoothed_from = 0.5;

/* The finest level has bodies too. */
static PetscBool has_solids(Fluid fluid, const StressLevel *level)
{
  return fluid->constraints && level == fluid->stress->levels ? PETSC_TRUE : PETSC_FALSE;
}

/* change = keep * change + add * residual / diagonal, solution += change. */
VECTOR_CLONES static void turn(PetscInt length, PetscReal keep, PetscReal add, PetscReal *restrict change,
                               const PetscReal *restrict residual, const PetscReal *restrict inverse,
                               PetscReal *restrict solution)
{
  for (PetscInt c = 0; c < length; c++) {
    change[c] = keep * change[c] + add * inverse[c] * residual[c];
    solution[c] += change[c];
  }
}

static PetscErrorCode TurnChange(Fluid fluid, StressLevel *level, PetscReal keep, PetscReal add)
{
  const GridBox *box = grid_box(level->grid);

  PetscFunctionBegin;
  if (has_solids(fluid, level))
    solid_cycle_turn(&fluid->stress->unknowns, keep, add);
  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal *residual, *inverse;
    PetscReal       *change, *solution;

    PetscCall(VecGetArrayRead(level->residual[d], &residual));
    PetscCall(VecGetArrayRead(level->inverse[d], &inverse));
    PetscCall(VecGetArray(level->change[d], &change));
    PetscCall(VecGetArray(level->solution[d], &solution));
    turn(box->length, keep, add, change, residual, inverse, solution);
    PetscCall(VecRestoreArray(level->solution[d], &solution));
    PetscCall(VecRestoreArray(level->change[d], &change));
    PetscCall(VecRestoreArrayRead(level->inverse[d], &inverse));
    PetscCall(VecRestoreArrayRead(level->residual[d], &residual));
  }
  PetscFunctionReturn(0);
}

/* residual -= A change. */
static PetscErrorCode UpdateResidual(Fluid fluid, StressLevel *level)
{
  const StressMix mix = {1., 1.};

  PetscFunctionBegin;
  if (has_solids(fluid, level)) {
    PetscCall(FluidApplySolidCycle(fluid));
  } else {
    PetscCall(MacGridExchangeFaces(level->grid, level->change));
    PetscCall(StressLevelApply(level, &mix, level->change, level->image, NULL));
  }
  for (PetscInt d = 0; d < grid_box(level->grid)->dimension; d++)
    PetscCall(VecAXPY(level->residual[d], -1., level->image[d]));
  PetscFunctionReturn(0);
}

/* Damps what belongs to eigenvalues above `lowest`; the residual follows up to the last change. */
static PetscErrorCode Smooth(Fluid fluid, StressLevel *level, PetscInt degree, PetscReal lowest)
{
  const PetscReal centre = 0.5 * (largest_eigenvalue + lowest), half = 0.5 * (largest_eigenvalue - lowest);
  PetscReal       ratio = half / centre;

  PetscFunctionBegin;
  PetscCall(TurnChange(fluid, level, 0., 1. / centre));
  for (PetscInt n = 1; n < degree; n++) {
    const PetscReal next = 1. / (2. * centre / half - ratio);

    PetscCall(UpdateResidual(fluid, level));
    PetscCall(TurnChange(fluid, level, next * ratio, 2. * next / half));
    ratio = next;
  }
  PetscFunctionReturn(0);
}

/* The coarsest level: degree m reaches eigenvalues down to (2/m)^2 of the largest. */
static PetscErrorCode SolveCoarsest(Fluid fluid, StressLevel *level)
{
  const GridBox *box = grid_box(level->grid);
  PetscInt       degree = SMOOTHING_DEGREE;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++)
    degree = PetscMax(degree, PetscMin(2 * box->cells[d], COARSEST_DEGREE_MAX));
  PetscCall(Smooth(fluid, level, degree, largest_eigenvalue * PetscSqr(2. / degree)));
  PetscFunctionReturn(0);
}

static PetscErrorCode Clear(StressLevel *level)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(level->grid)->dimension; d++) {
    PetscCall(VecSet(level->solution[d], 0.));
    PetscCall(VecSet(level->change[d], 0.));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode FluidCycleStress(Fluid fluid)
{
  const PetscInt last = fluid->stress->count - 1;
  StressLevel   *levels = fluid->stress->levels;

  PetscFunctionBegin;
  if (fluid->constraints)
    PetscCall(FluidClearSolidCycle(fluid));
  for (PetscInt n = 0; n < last; n++) {
    PetscCall(Clear(&levels[n]));
    PetscCall(Smooth(fluid, &levels[n], SMOOTHING_DEGREE, smoothed_from));
    PetscCall(UpdateResidual(fluid, &levels[n]));
    if (has_solids(fluid, &levels[n]))
      PetscCall(FluidRestrictSolids(fluid, &levels[n + 1]));
    else
      PetscCall(FluidRestrictStress(fluid, &levels[n], &levels[n + 1]));
  }
  PetscCall(Clear(&levels[last]));
  PetscCall(SolveCoarsest(fluid, &levels[last]));
  for (PetscInt n = last - 1; n >= 0; n--) {
    if (has_solids(fluid, &levels[n]))
      PetscCall(FluidInterpolateSolids(fluid, &levels[n + 1]));
    else
      PetscCall(FluidInterpolateStress(fluid, &levels[n], &levels[n + 1]));
    for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
      PetscCall(VecAXPY(levels[n].solution[d], 1., levels[n].change[d]));
    PetscCall(UpdateResidual(fluid, &levels[n]));
    PetscCall(Smooth(fluid, &levels[n], SMOOTHING_DEGREE, smoothed_from));
  }
  PetscFunctionReturn(0);
}
