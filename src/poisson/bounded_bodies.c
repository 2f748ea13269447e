/* Bodies in the complementarity problem: B C B^T, whose columns are few and long. What a pressure does to
   them is a sum over all ranks, in an order that does not depend on these. */
#include "bounded_impl.h"

PetscErrorCode BoundedSetBodies(Bounded bounded, const BodyColumns *bodies)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(bounded->on_bodies, bounded->yielded));
  bounded->bodies = bodies && bodies->body_count ? bodies : NULL;
  if (bounded->bodies)
    PetscCall(PetscMalloc2(TWIST * bodies->body_count, &bounded->on_bodies, TWIST * bodies->body_count,
                           &bounded->yielded));
  PetscCall(BoundedFindDiagonal(bounded));
  PetscFunctionReturn(0);
}

/* Of cells that are part of the problem. */
static PetscErrorCode SumRows(Bounded bounded, const PetscReal *x, PetscReal sums[])
{
  const BodyColumns *bodies = bounded->bodies;
  ReproducibleSum   *terms;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(TWIST * bodies->body_count, &terms));
  for (PetscInt n = 0; n < bodies->row_count; n++) {
    const BodyRow *row = &bodies->rows[n];

    for (PetscInt t = 0; t < TWIST && bounded->labels[row->cell] >= 0; t++)
      sum_add(&terms[TWIST * row->body + t], row->row[t] * x[row->cell]);
  }
  PetscCall(SumOverRanks(bounded->poisson->box.comm, TWIST * bodies->body_count, terms, sums));
  PetscCall(PetscFree(terms));
  PetscFunctionReturn(0);
}

PetscErrorCode BoundedAddBodies(Bounded bounded, const PetscReal *x, PetscReal *product)
{
  const BodyColumns *bodies = bounded->bodies;

  PetscFunctionBegin;
  if (!bodies)
    PetscFunctionReturn(0);
  PetscCall(SumRows(bounded, x, bounded->on_bodies));
  for (PetscInt n = 0; n < TWIST * bodies->body_count; n++) {
    bounded->yielded[n] = 0.;
    for (PetscInt t = 0; t < TWIST; t++)
      bounded->yielded[n] += bodies->blocks[n / TWIST][n % TWIST][t] * bounded->on_bodies[n - n % TWIST + t];
  }
  for (PetscInt n = 0; n < bodies->row_count; n++) {
    const BodyRow *row = &bodies->rows[n];

    for (PetscInt t = 0; t < TWIST && bounded->labels[row->cell] >= 0; t++)
      product[row->cell] += row->row[t] * bounded->yielded[TWIST * row->body + t];
  }
  PetscFunctionReturn(0);
}

/* Sum over all cells c' of |(B C B^T)_cc'|, or a little more. */
PetscErrorCode BoundedBoundBodies(Bounded bounded, PetscReal *rows)
{
  const BodyColumns *bodies = bounded->bodies;
  ReproducibleSum   *terms;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(rows, bounded->cells));
  if (!bodies)
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc1(TWIST * bodies->body_count, &terms));
  for (PetscInt n = 0; n < bodies->row_count; n++)
    for (PetscInt t = 0; t < TWIST && bounded->labels[bodies->rows[n].cell] >= 0; t++)
      sum_add(&terms[TWIST * bodies->rows[n].body + t], PetscAbsReal(bodies->rows[n].row[t]));
  PetscCall(SumOverRanks(bounded->poisson->box.comm, TWIST * bodies->body_count, terms, bounded->on_bodies));
  PetscCall(PetscFree(terms));
  for (PetscInt n = 0; n < bodies->row_count; n++) {
    const BodyRow *row = &bodies->rows[n];

    for (PetscInt t = 0; t < TWIST * TWIST && bounded->labels[row->cell] >= 0; t++)
      rows[row->cell] += PetscAbsReal(row->row[t / TWIST] * bodies->blocks[row->body][t / TWIST][t % TWIST]) *
                         bounded->on_bodies[TWIST * row->body + t % TWIST];
  }
  PetscFunctionReturn(0);
}

PetscErrorCode BoundedSumOnBodies(Bounded bounded, Vec pressure, PetscReal sums[])
{
  const PetscReal *values;

  PetscFunctionBegin;
  if (!bounded->bodies)
    PetscFunctionReturn(0);
  PetscCall(MacGridToSolver(bounded->poisson->grid, pressure, bounded->correction));
  PetscCall(VecGetArrayRead(bounded->correction, &values));
  PetscCall(SumRows(bounded, values, sums));
  PetscCall(VecRestoreArrayRead(bounded->correction, &values));
  PetscFunctionReturn(0);
}
