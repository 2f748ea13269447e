/* Projected relaxation of the bounded problem: what is rough in the free set is found by it, cell by cell,
   at the cost of two products with A, where conjugate gradients would need a multigrid for each change.

   With D the diagonal of A, x <- max(x - D^-1 (A x - r), l), first in the cells of even i + j + k, then in
   the others. Since 2 D - A is positive semidefinite, x.Ax/2 - r.x never rises; cells of one colour that meet
   across a periodic seam included. For bodies D has the sums of the magnitudes in the rows of B C B^T. */
#include "bounded_impl.h"

static PetscReal diagonal_at(const Poisson poisson, PetscInt c)
{
  const GridBox *box = &poisson->box;
  PetscReal      sum = 0.;

  for (PetscInt d = 0; d < box->dimension; d++)
    sum += (PetscReal)poisson->weights[d][c] + (PetscReal)poisson->weights[d][c + box->stride[d]];
  return sum;
}

/* Along x in its row. */
static PetscInt first_of_range(const Bounded bounded, const RowRange *range)
{
  const GridBox *box = &bounded->poisson->box;

  return box->start[X] + range->first % owned_width(box, X);
}

static PetscInt place_of_range(const Bounded bounded, const RowRange *range)
{
  return box_index(&bounded->poisson->box, first_of_range(bounded, range), range->j, range->k);
}

/* The step, too: 2 D - A is positive semidefinite, so |A| is at most twice the largest of D. */
PetscErrorCode BoundedFindDiagonal(Bounded bounded)
{
  PetscReal largest = 0.;

  PetscFunctionBegin;
  PetscCall(BoundedBoundBodies(bounded, bounded->inverse));
  for (const RowRange *range = bounded->ranges; range < bounded->ranges + bounded->range_count; range++) {
    const PetscInt c = place_of_range(bounded, range);

    for (PetscInt i = 0; i < range->length; i++) {
      PetscReal      *inverse = &bounded->inverse[range->first + i];
      const PetscReal diagonal = diagonal_at(bounded->poisson, c + i) + *inverse;
      const PetscBool counts = bounded->labels[range->first + i] >= 0 && diagonal > 0.;

      largest = counts ? PetscMax(largest, diagonal) : largest;
      *inverse = counts ? 1. / diagonal : 0.;
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPI_MAX, bounded->poisson->box.comm));
  bounded->step = largest > 0. ? 1.9 / (2. * largest) : 1.;
  PetscFunctionReturn(0);
}

static void relax_colour(Bounded bounded, PetscInt colour)
{
  for (const RowRange *range = bounded->ranges; range < bounded->ranges + bounded->range_count; range++) {
    const PetscInt other = (first_of_range(bounded, range) + range->j + range->k + colour) & 1;

    for (PetscInt n = range->first + other; n < range->first + range->length; n += 2)
      if (bounded->labels[n] >= 0)
        bounded->x[n] =
            PetscMax(bounded->x[n] - bounded->inverse[n] * bounded->gradient[n], bounded->bound[n]);
  }
}

PetscErrorCode BoundedRelax(Bounded bounded)
{
  enum { SWEEPS = 3 };

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 2 * SWEEPS; n++) {
    relax_colour(bounded, n & 1);
    PetscCall(BoundedSetGradient(bounded));
  }
  bounded->report->iterations += 2 * SWEEPS;
  bounded_find_states(bounded);
  PetscFunctionReturn(0);
}
