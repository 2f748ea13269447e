/* Modified incomplete Cholesky factors without fill, MIC(0), of A on the free cells, as Gerszewski (2014)
   takes them: L L^T with the off-diagonal part of A and, in the order of the cells,

     1/d^2 = a - sum (w d)^2 - share * sum over lower neighbours of w d^2 (their weights to other upper
   cells),

   w to lower neighbours, a the diagonal of A. A rank knows its own cells only. The last pivot of a component
   that touches no p = 0 vanishes, and those of a sealed pair, or of cells that others nearly determine, are
   small: these keep a as it is. */
#include "bounded_impl.h"

static const PetscReal share = 0.97;       /* of what the factors cannot hold, that goes into the diagonal */
static const PetscReal least_pivot = 0.25; /* of a */

/* The cells of a rank in their order, of which `next` cells on is the upper neighbour across each direction.
 */
typedef struct {
  const GridBox       *box;
  float *const        *weights;
  const unsigned char *states;
  PetscInt             next[DIM], width[DIM];
} CellOrder;

static CellOrder cell_order(Bounded bounded)
{
  const GridBox *box = &bounded->poisson->box;
  CellOrder      order = {.box = box, .weights = bounded->poisson->weights, .states = bounded->states};

  for (PetscInt d = 0; d < DIM; d++) {
    order.width[d] = owned_width(box, d);
    order.next[d] = d ? order.next[d - 1] * order.width[d - 1] : 1;
  }
  return order;
}

/* Between cell n at `at` and its upper neighbour, if both are free and of this rank. */
static PetscReal upper_weight(const CellOrder *order, const PetscInt at[DIM], PetscInt n, PetscInt d)
{
  const GridBox *box = order->box;

  if (at[d] + 1 >= box->end[d] || order->states[n] != CELL_FREE ||
      order->states[n + order->next[d]] != CELL_FREE)
    return 0.;
  return (PetscReal)order->weights[d][box_index(box, at[X], at[Y], at[Z]) + box->stride[d]];
}

static PetscReal diagonal_at(const CellOrder *order, const PetscInt at[DIM])
{
  const PetscInt c = box_index(order->box, at[X], at[Y], at[Z]);
  PetscReal      sum = 0.;

  for (PetscInt d = 0; d < order->box->dimension; d++)
    sum += (PetscReal)order->weights[d][c] + (PetscReal)order->weights[d][c + order->box->stride[d]];
  return sum;
}

/* d of one cell, from those of its lower neighbours. */
static PetscReal find_pivot(const CellOrder *order, const PetscReal pivots[], const PetscInt at[DIM],
                            PetscInt n)
{
  const PetscReal diagonal = diagonal_at(order, at);
  PetscReal       pivot = diagonal;

  for (PetscInt d = 0; d < order->box->dimension; d++) {
    PetscInt  below[DIM] = {at[X], at[Y], at[Z]};
    PetscReal weight, lost = 0.;

    if (--below[d] < order->box->start[d])
      continue;
    weight = upper_weight(order, below, n - order->next[d], d);
    for (PetscInt e = 0; e < order->box->dimension && weight > 0.; e++)
      lost += e == d ? 0. : upper_weight(order, below, n - order->next[d], e);
    pivot -= weight * (weight + share * lost) * PetscSqr(pivots[n - order->next[d]]);
  }
  if (pivot < least_pivot * diagonal)
    pivot = diagonal;
  return pivot > 0. ? 1. / PetscSqrtReal(pivot) : 0.;
}

PetscErrorCode BoundedFactor(Bounded bounded)
{
  const CellOrder order = cell_order(bounded);
  PetscInt        n = 0;

  PetscFunctionBegin;
  if (!bounded->pivots)
    PetscCall(PetscMalloc2(bounded->cells, &bounded->pivots, DIM * bounded->cells, &bounded->factor));
  FOR_PLACES(order.box, at) {
    for (PetscInt d = 0; d < DIM; d++)
      bounded->factor[DIM * n + d] = d < order.box->dimension ? (float)upper_weight(&order, at, n, d) : 0.f;
    bounded->pivots[n] = bounded->states[n] == CELL_FREE ? find_pivot(&order, bounded->pivots, at, n) : 0.;
    n++;
  }
  PetscFunctionReturn(0);
}

/* L y = gradient, then L^T z = y, on free cells; zero on others. */
PetscErrorCode BoundedSolveFactors(Bounded bounded, const PetscReal *gradient, PetscReal *z)
{
  const CellOrder  order = cell_order(bounded);
  const PetscReal *pivots = bounded->pivots;
  const float     *factor = bounded->factor;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < bounded->cells; n++) {
    PetscReal sum = gradient[n];

    for (PetscInt d = 0; d < DIM && pivots[n] > 0.; d++)
      if (n >= order.next[d])
        sum += (PetscReal)factor[DIM * (n - order.next[d]) + d] * pivots[n - order.next[d]] *
               z[n - order.next[d]];
    z[n] = pivots[n] * sum;
  }
  for (PetscInt n = bounded->cells - 1; n >= 0; n--) {
    PetscReal sum = z[n];

    for (PetscInt d = 0; d < DIM && pivots[n] > 0.; d++)
      if (factor[DIM * n + d] > 0.f)
        sum += (PetscReal)factor[DIM * n + d] * pivots[n] * z[n + order.next[d]];
    z[n] = pivots[n] * sum;
  }
  PetscFunctionReturn(0);
}
