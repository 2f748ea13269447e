/* The weights of a Poisson problem, taken over from a face field.

   They are kept in single precision with all their ghosts. Where that changes none of them, as with the 0, 1
   and 2 of a single fluid, the operator uses them too; otherwise it keeps them in double precision. */
#include "poisson_impl.h"

typedef struct {
  PetscInt bad;     /* negative or not a number */
  PetscInt rounded; /* changed by rounding */
} Flaws;

VECTOR_CLONES static Flaws round_row(PetscInt count, const PetscReal *restrict weights,
                                     float *restrict rounded)
{
  PetscInt bad = 0, changed = 0;

  for (PetscInt i = 0; i < count; i++) {
    rounded[i] = (float)weights[i];
    bad += !(weights[i] >= 0.);
    changed += (PetscReal)rounded[i] != weights[i];
  }
  return (Flaws){bad, changed};
}

static Flaws round_faces(Poisson poisson, PetscInt direction, const PetscReal *weights)
{
  const GridBox  *from = grid_box(poisson->grid), *to = &poisson->box;
  Flaws           sum = {0, 0};
  const GridRange faces = grid_faces(poisson->grid, direction);

  FOR_ROWS(&faces, j, k) {
    const Flaws flaws = round_row(faces.end[X] - to->start[X], weights + box_index(from, to->start[X], j, k),
                                  poisson->weights[direction] + box_index(to, to->start[X], j, k));

    sum.bad += flaws.bad;
    sum.rounded += flaws.rounded;
  }
  return sum;
}

static PetscErrorCode KeepExactly(Poisson poisson, PetscReal *const weights[DIM])
{
  const GridBox *from = grid_box(poisson->grid), *to = &poisson->operand_box;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < to->dimension; d++) {
    if (!poisson->exact[d])
      PetscCall(PetscCalloc1(to->length, &poisson->exact[d]));
    const GridRange faces = grid_faces(poisson->grid, d);

    FOR_ROWS(&faces, j, k)
      memcpy(poisson->exact[d] + box_index(to, to->start[X], j, k),
             weights[d] + box_index(from, to->start[X], j, k),
             (faces.end[X] - to->start[X]) * sizeof(**weights));
  }
  PetscCall(GridBoxExchange(to, to->dimension, poisson->exact));
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonTakeWeights(Poisson poisson, Vec weights[DIM])
{
  PetscReal *values[DIM];
  PetscInt   flaws[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(poisson->grid, weights, values));
  for (PetscInt d = 0; d < poisson->box.dimension; d++) {
    const Flaws found = round_faces(poisson, d, values[d]);

    flaws[0] += found.bad;
    flaws[1] += found.rounded;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, flaws, 2, MPIU_INT, MPI_SUM, poisson->box.comm));
  PetscCheck(!flaws[0], poisson->box.comm, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " face weights are negative or not a number", flaws[0]);
  PetscCall(BoxExchangeRounded(&poisson->box, poisson->box.dimension, poisson->weights));
  if (flaws[1] || !poisson->multigrid)
    PetscCall(KeepExactly(poisson, values));
  else
    for (PetscInt d = 0; d < DIM; d++)
      PetscCall(PetscFree(poisson->exact[d]));
  PetscCall(MacGridRestoreFaces(poisson->grid, weights, values));
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonTakeFixed(Poisson poisson, Vec fixed)
{
  const GridBox   *from = grid_box(poisson->grid), *to = &poisson->box;
  const PetscReal *values;

  PetscFunctionBegin;
  if (!fixed) {
    PetscCall(PetscFree(poisson->fixed));
    PetscFunctionReturn(0);
  }
  if (!poisson->fixed)
    PetscCall(PetscCalloc1(to->length, &poisson->fixed));
  PetscCall(VecGetArrayRead(fixed, &values));
  FOR_ROWS(to, j, k) {
    const PetscReal *row = values + box_index(from, to->start[X], j, k);
    float           *copy = poisson->fixed + box_index(to, to->start[X], j, k);

    for (PetscInt i = 0; i < owned_width(to, X); i++)
      copy[i] = row[i] > 0. ? 1.f : 0.f;
  }
  PetscCall(VecRestoreArrayRead(fixed, &values));
  PetscCall(BoxExchangeRounded(to, 1, &poisson->fixed));
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonFix(Poisson poisson, const unsigned char states[], unsigned char unknown)
{
  const GridBox *box = &poisson->box;

  PetscFunctionBegin;
  if (!poisson->fixed)
    PetscCall(PetscCalloc1(box->length, &poisson->fixed));
  FOR_ROWS(box, j, k) {
    float *row = poisson->fixed + box_index(box, box->start[X], j, k);

    for (PetscInt i = 0; i < owned_width(box, X); i++)
      row[i] = *states++ == unknown ? 0.f : 1.f;
  }
  PetscCall(BoxExchangeRounded(box, 1, &poisson->fixed));
  PetscFunctionReturn(0);
}
