/* The primal-dual active set method (Hintermueller, Ito and Kunisch 2003) for A x >= r, x >= l.

   For the present set the free cells solve A x = r with x = l on the active ones; then free cells with x < l
   become active, and active ones with A x < r free, all at once. For an M-matrix such as A that ends after
   finitely many sets. The equations are solved by conjugate gradients with a multigrid cycle on the free
   cells, loosely while sets still change. */
#include "bounded_impl.h"

enum { MOST_SETS = 40, MOST_CYCLES = 200 };

/* Below this part of the target, spread over all cells, a wrong sign is no reason for another set. */
static const PetscReal negligible = 0.01;

static PetscErrorCode FreeNorm(Bounded bounded, PetscReal *norm)
{
  GradientParts parts;

  PetscFunctionBegin;
  PetscCall(BoundedMeasure(bounded, &parts));
  *norm = PetscSqrtReal(parts.free);
  PetscFunctionReturn(0);
}

/* One step of conjugate gradients; `last` is the product of correction and gradient of the step before, or 0.
 */
static PetscErrorCode StepConjugate(Bounded bounded, PetscReal *last)
{
  const PetscReal *correction;
  PetscReal        now, curvature, length;

  PetscFunctionBegin;
  PetscCall(BoundedPrecondition(bounded));
  PetscCall(VecGetArrayRead(bounded->correction, &correction));
  PetscCall(BoundedDot(bounded, 1, (const PetscReal *const[][2]){{correction, bounded->gradient}}, &now));
  FOR_RANGES(bounded, c)
    bounded->direction[c] = correction[c] + (*last > 0. ? now / *last : 0.) * bounded->direction[c];
  PetscCall(VecRestoreArrayRead(bounded->correction, &correction));
  PetscCall(BoundedMultiply(bounded, bounded->direction, bounded->product));
  PetscCall(BoundedDot(bounded, 1, (const PetscReal *const[][2]){{bounded->direction, bounded->product}},
                       &curvature));
  length = curvature > 0. ? now / curvature : 0.;
  FOR_RANGES(bounded, c) {
    bounded->x[c] -= length * bounded->direction[c];
    bounded->gradient[c] -= length * bounded->product[c];
  }
  *last = now;
  bounded->report->iterations++;
  PetscFunctionReturn(0);
}

/* To the target, or by the factor `reduction`. */
static PetscErrorCode SolveFree(Bounded bounded, PetscReal target, PetscReal reduction, PetscReal *norm)
{
  PetscReal last = 0.;

  PetscFunctionBegin;
  PetscCall(FreeNorm(bounded, norm));
  target = PetscMax(target, reduction * *norm);
  for (PetscInt n = 0; n<MOST_CYCLES && * norm> target; n++) {
    PetscCall(StepConjugate(bounded, &last));
    PetscCall(FreeNorm(bounded, norm));
  }
  PetscFunctionReturn(0);
}

/* How many cells change; x of those that become active is their bound. */
static PetscErrorCode ChangeSet(Bounded bounded, PetscReal slack, PetscInt64 *changes)
{
  PetscFunctionBegin;
  *changes = 0;
  FOR_RANGES(bounded, c) {
    const CellState old = (CellState)bounded->states[c];

    if (old == CELL_FREE && bounded->x[c] < bounded->bound[c] - slack)
      bounded->states[c] = CELL_ACTIVE;
    else if (old == CELL_ACTIVE && bounded->gradient[c] < -slack)
      bounded->states[c] = CELL_FREE;
    *changes += bounded->states[c] != old;
    if (bounded->states[c] == CELL_ACTIVE)
      bounded->x[c] = bounded->bound[c];
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, changes, 1, MPIU_INT64, MPI_SUM, bounded->poisson->box.comm));
  PetscFunctionReturn(0);
}

/* x at its bounds again, where round-off or slack left it below. */
static PetscErrorCode Settle(Bounded bounded, PetscReal *norm)
{
  GradientParts parts;

  PetscFunctionBegin;
  FOR_RANGES(bounded, c)
    bounded->x[c] = PetscMax(bounded->x[c], bounded->bound[c]);
  bounded_find_states(bounded);
  PetscCall(BoundedSetGradient(bounded));
  PetscCall(BoundedMeasure(bounded, &parts));
  *norm = gradient_norm(&parts);
  PetscFunctionReturn(0);
}

/* From one set to the next until none changes at a tight solve. */
static PetscErrorCode ChangeSets(Bounded bounded, PetscReal slack)
{
  const PetscReal tight = 0.1 * bounded->target, loose = 0.05;
  PetscInt64      changes;
  PetscReal       norm;

  PetscFunctionBegin;
  PetscCall(ChangeSet(bounded, slack, &changes));
  changes = 1; /* there is no multigrid yet */
  for (PetscInt set = 0; set < MOST_SETS; set++) {
    const PetscBool same = changes == 0;

    if (!same) {
      PetscCall(BoundedSetUpFree(bounded));
      PetscCall(BoundedSetGradient(bounded));
    }
    PetscCall(SolveFree(bounded, tight, same ? 0. : loose, &norm));
    PetscCall(ChangeSet(bounded, slack, &changes));
    bounded->report->expansions += changes > 0;
    if (!changes && norm <= tight)
      break;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode BoundedRunActiveSet(Bounded bounded)
{
  PetscReal norm = 0., cells = (PetscReal)bounded->cells;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &cells, 1, MPIU_REAL, MPI_SUM, bounded->poisson->box.comm));
  bounded_find_states(bounded);
  PetscCall(ChangeSets(bounded, negligible * bounded->target / PetscSqrtReal(cells)));
  PetscCall(Settle(bounded, &norm));
  bounded->report->converged = norm <= bounded->target ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}
