/* Modified proportioning with reduced gradient projections (Dostal and Schoeberl 2005) for A x >= r, x >= l.

   With g = A x - r, the free gradient is g on free cells, the chopped one min(g, 0) on active cells. While
   the chopped gradient is no larger than the (reduced) free one, the free cells take steps of conjugate
   gradients, preconditioned by a multigrid cycle on them; otherwise the active cells with g < 0 are freed by
   a step down the chopped gradient (proportioning). A conjugate gradient step that leaves the bounds is
   projected back as a whole (expansion by projected conjugate gradients, Kruzik, Horak, Cermak et al. 2020);
   where that would raise x.Ax/2 - r.x, the step of fixed length below 2/|A| takes its place, for which the
   method is known to converge. As in the thesis (Gerszewski 2014) every expansion is of that kind, and the
   preconditioner an incomplete factorisation. */
#include "bounded_impl.h"

enum { MOST_ITERATIONS = 1000, MOST_PLAIN_ITERATIONS = 20000 };

static PetscErrorCode Restart(Bounded bounded)
{
  const PetscReal *correction;

  PetscFunctionBegin;
  PetscCall(BoundedSetUpFree(bounded));
  PetscCall(BoundedPrecondition(bounded));
  PetscCall(VecGetArrayRead(bounded->correction, &correction));
  bounded_copy(bounded, correction, bounded->direction);
  PetscCall(VecRestoreArrayRead(bounded->correction, &correction));
  PetscFunctionReturn(0);
}

/* Along `direction`: how far the minimum is, and how far the bounds let it go. */
typedef struct {
  PetscReal minimum, feasible, curvature;
} StepLengths;

static PetscErrorCode FindLengths(Bounded bounded, StepLengths *lengths)
{
  const PetscReal *pairs[2][2] = {{bounded->direction, bounded->gradient},
                                  {bounded->direction, bounded->product}};
  PetscReal        dots[2];

  PetscFunctionBegin;
  PetscCall(BoundedMultiply(bounded, bounded->direction, bounded->product));
  bounded->report->iterations++;
  PetscCall(BoundedDot(bounded, 2, pairs, dots));
  lengths->curvature = dots[1];
  lengths->minimum = dots[1] > 0. ? dots[0] / dots[1] : PETSC_INFINITY;
  lengths->feasible = PETSC_INFINITY;
  FOR_RANGES(bounded, c)
    if (bounded->states[c] == CELL_FREE && bounded->direction[c] > 0.)
      lengths->feasible =
          PetscMin(lengths->feasible, (bounded->x[c] - bounded->bound[c]) / bounded->direction[c]);
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, &lengths->feasible, 1, MPIU_REAL, MPI_MIN, bounded->poisson->box.comm));
  PetscFunctionReturn(0);
}

static void move(Bounded bounded, PetscReal length)
{
  FOR_RANGES(bounded, c) {
    bounded->x[c] -= length * bounded->direction[c];
    bounded->gradient[c] -= length * bounded->product[c];
  }
}

static PetscErrorCode StepConjugate(Bounded bounded, const StepLengths *lengths)
{
  const PetscReal *correction;
  PetscReal        overlap;

  PetscFunctionBegin;
  move(bounded, lengths->minimum);
  PetscCall(BoundedPrecondition(bounded));
  PetscCall(VecGetArrayRead(bounded->correction, &correction));
  PetscCall(BoundedDot(bounded, 1, (const PetscReal *const[][2]){{correction, bounded->product}}, &overlap));
  FOR_RANGES(bounded, c)
    bounded->direction[c] = correction[c] - overlap / lengths->curvature * bounded->direction[c];
  PetscCall(VecRestoreArrayRead(bounded->correction, &correction));
  PetscFunctionReturn(0);
}

/* x.Ax/2 - r.x, from x and the gradient. */
static PetscErrorCode MeasureEnergy(Bounded bounded, PetscReal *energy)
{
  const PetscReal *pairs[2][2] = {{bounded->x, bounded->gradient}, {bounded->x, bounded->right_side}};
  PetscReal        dots[2];

  PetscFunctionBegin;
  PetscCall(BoundedDot(bounded, 2, pairs, dots));
  *energy = 0.5 * (dots[0] - dots[1]);
  PetscFunctionReturn(0);
}

/* x <- projection of `kept` - length (what is free of `way`). */
static PetscErrorCode MoveProjected(Bounded bounded, PetscReal length, const PetscReal *way)
{
  PetscFunctionBegin;
  FOR_RANGES(bounded, c)
    if (bounded->states[c] == CELL_FREE)
      bounded->x[c] = PetscMax(bounded->kept[c] - length * way[c], bounded->bound[c]);
  PetscCall(BoundedSetGradient(bounded));
  PetscFunctionReturn(0);
}

/* To the bound, and on down the free gradient by the fixed step. */
static PetscErrorCode StepFixed(Bounded bounded, const StepLengths *lengths)
{
  PetscFunctionBegin;
  PetscCall(MoveProjected(bounded, PetscMin(lengths->feasible, lengths->minimum), bounded->direction));
  bounded_copy(bounded, bounded->x, bounded->kept);
  bounded_copy(bounded, bounded->gradient, bounded->product);
  PetscCall(MoveProjected(bounded, bounded->step, bounded->product));
  PetscFunctionReturn(0);
}

/* What is rough in the new set of free cells, but in the plain method. */
static PetscErrorCode Smooth(Bounded bounded)
{
  PetscFunctionBegin;
  if (is_plain(bounded))
    bounded_find_states(bounded);
  else
    PetscCall(BoundedRelax(bounded));
  PetscFunctionReturn(0);
}

static PetscErrorCode Expand(Bounded bounded, const StepLengths *lengths)
{
  const PetscReal round_off = 1e-14;
  PetscReal       before, after = PETSC_INFINITY;

  PetscFunctionBegin;
  PetscCall(MeasureEnergy(bounded, &before));
  bounded_copy(bounded, bounded->x, bounded->kept);
  if (lengths->minimum < PETSC_INFINITY && !is_plain(bounded)) {
    PetscCall(MoveProjected(bounded, lengths->minimum, bounded->direction));
    PetscCall(MeasureEnergy(bounded, &after));
  }
  if (!(after <= before + round_off * PetscAbsReal(before)))
    PetscCall(StepFixed(bounded, lengths));
  PetscCall(Smooth(bounded));
  bounded->report->expansions++;
  PetscCall(Restart(bounded));
  PetscFunctionReturn(0);
}

static PetscErrorCode Proportion(Bounded bounded)
{
  StepLengths lengths;

  PetscFunctionBegin;
  FOR_RANGES(bounded, c)
    bounded->direction[c] =
        bounded->states[c] == CELL_ACTIVE && bounded->gradient[c] < 0. ? bounded->gradient[c] : 0.;
  PetscCall(FindLengths(bounded, &lengths));
  move(bounded, lengths.minimum);
  PetscCall(Smooth(bounded));
  bounded->report->proportionings++;
  PetscCall(Restart(bounded));
  PetscFunctionReturn(0);
}

PetscErrorCode BoundedRunMprgp(Bounded bounded)
{
  const PetscInt most = is_plain(bounded) ? MOST_PLAIN_ITERATIONS : MOST_ITERATIONS;
  BoundedReport *report = bounded->report;
  PetscBool      begun = PETSC_FALSE;
  GradientParts  parts;
  StepLengths    lengths;

  PetscFunctionBegin;
  bounded_find_states(bounded);
  for (PetscInt n = 0; n < most; n++) {
    PetscCall(BoundedMeasure(bounded, &parts));
    report->converged = gradient_norm(&parts) <= bounded->target ? PETSC_TRUE : PETSC_FALSE;
    if (report->converged)
      break;
    if (parts.active > parts.reduced) {
      PetscCall(Proportion(bounded));
      begun = PETSC_TRUE;
      continue;
    }
    if (!begun)
      PetscCall(Restart(bounded));
    begun = PETSC_TRUE;
    PetscCall(FindLengths(bounded, &lengths));
    if (lengths.minimum < lengths.feasible)
      PetscCall(StepConjugate(bounded, &lengths));
    else
      PetscCall(Expand(bounded, &lengths));
  }
  PetscFunctionReturn(0);
}
