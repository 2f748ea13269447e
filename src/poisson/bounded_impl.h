/* The complementarity problem: private to src/poisson. */
#ifndef MILLRACE_BOUNDED_IMPL_H
#define MILLRACE_BOUNDED_IMPL_H

#include "poisson_impl.h"

#include <millrace/bounded.h>

typedef enum { CELL_OUTSIDE, CELL_ACTIVE, CELL_FREE } CellState;

/* Arrays hold the owned cells tightly; all are zero outside the problem, and loops go over its ranges. */
struct _p_Bounded {
  Poisson            poisson; /* its problem is that of the free cells */
  BoundedSolver      solver;
  PetscInt           cells;
  PetscBool          ready;
  PetscReal          step;   /* below 2 / |A| */
  PetscInt          *labels; /* component of each cell among all that are not fixed; -1 outside */
  PetscInt           component_count;
  PetscInt           range_count, range_room;
  RowRange          *ranges;      /* of each row from the first to the last cell with a label */
  PetscBool         *is_singular; /* of each of them */
  unsigned char     *states;      /* a CellState each */
  PetscReal         *right_side, *lower, *bound; /* `bound`: lower, and -infinity where equality is sought */
  PetscReal         *x, *gradient;               /* A x - right side */
  PetscReal         *direction, *product;        /* A direction */
  PetscReal         *kept;                       /* x before an expansion */
  PetscReal         *inverse;                    /* of the diagonal of A; 0 without weights */
  const BodyColumns *bodies;                     /* borrowed; null: none */
  PetscReal         *on_bodies, *yielded;        /* B^T x, and C B^T x */
  Vec                free_gradient, correction;  /* of the free cells, and the cycle's answer */
  PetscReal         *pivots;                     /* d of incomplete factors; null unless BOUNDED_THESIS */
  float             *factor;                     /* weights from a cell to its upper neighbours */
  PetscReal          target;                     /* norm of the projected gradient to reach */
  BoundedReport     *report;
};

/* Once for each cell c of the ranges, of which some have no label. */
#define FOR_RANGES(bounded, c)                                                                               \
  for (const RowRange *range_ = (bounded)->ranges; range_ < (bounded)->ranges + (bounded)->range_count;      \
       range_++)                                                                                             \
    for (PetscInt c = range_->first, end_ = range_->first + range_->length; c < end_; c++)

/* bounded.c */
/* Free where x is above its bound. */
void bounded_find_states(Bounded bounded);
/* Builds the multigrid of the free cells. A singular component that is free as a whole, where its right side
   is not balanced, is lowered until it touches the bound. */
PetscErrorCode BoundedSetUpFree(Bounded bounded);
PetscErrorCode BoundedMultiply(Bounded bounded, const PetscReal *x, PetscReal *product);
PetscErrorCode BoundedSetGradient(Bounded bounded);
/* correction = cycle (or factors) of the gradient of the free cells. */
PetscErrorCode BoundedPrecondition(Bounded bounded);
/* Sums over all ranks: the squares of the gradient on free cells, of its negative part on active ones, and
   the product of the first with its reduced form. */
typedef struct {
  PetscReal free, active, reduced;
} GradientParts;
PetscErrorCode BoundedMeasure(Bounded bounded, GradientParts *parts);
PetscErrorCode BoundedDot(Bounded bounded, PetscInt count, const PetscReal *const pairs[][2],
                          PetscReal results[]);

static inline void bounded_copy(const Bounded bounded, const PetscReal *from, PetscReal *to)
{
  FOR_RANGES(bounded, c)
    to[c] = from[c];
}

static inline PetscReal gradient_norm(const GradientParts *parts)
{
  return PetscSqrtReal(parts->free + parts->active);
}

/* The method as in the thesis: no multigrid, and none of what is there to spare set-ups. */
static inline PetscBool is_plain(const Bounded bounded)
{
  return bounded->solver == BOUNDED_THESIS ? PETSC_TRUE : PETSC_FALSE;
}

/* bounded_bodies.c: product += B C B^T x; what it adds at most to the diagonal that relaxation needs. */
PetscErrorCode BoundedAddBodies(Bounded bounded, const PetscReal *x, PetscReal *product);
PetscErrorCode BoundedBoundBodies(Bounded bounded, PetscReal *rows);

/* bounded_relax.c: the diagonal of new weights and bodies; some sweeps, after which gradient and states are
 * those of x.
 */
PetscErrorCode BoundedFindDiagonal(Bounded bounded);
PetscErrorCode BoundedRelax(Bounded bounded);

/* incomplete.c: of A on the free cells; z = (L L^T)^-1 gradient */
PetscErrorCode BoundedFactor(Bounded bounded);
PetscErrorCode BoundedSolveFactors(Bounded bounded, const PetscReal *gradient, PetscReal *z);

/* mprgp.c, active_set.c: from a feasible x to the answer */
PetscErrorCode BoundedRunMprgp(Bounded bounded);
PetscErrorCode BoundedRunActiveSet(Bounded bounded);

#endif
