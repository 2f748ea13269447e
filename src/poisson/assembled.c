/* The Poisson operator as a PETSc matrix, for preconditioners that want entries. */
#include "poisson_impl.h"

static PetscErrorCode SetRow(Poisson poisson, const PetscInt at[DIM], Mat matrix)
{
  const GridBox *box = &poisson->operand_box;
  const PetscInt c = box_index(box, at[X], at[Y], at[Z]);
  const float *fixed = poisson->fixed ? poisson->fixed + box_index(&poisson->box, at[X], at[Y], at[Z]) : NULL;
  MatStencil   row = {.i = at[X], .j = at[Y], .k = at[Z]}, columns[2 * DIM + 1];
  PetscScalar  values[2 * DIM + 1], diagonal = 0.;
  PetscInt     count = 0;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      const PetscReal weight = poisson->exact[d][side ? c + box->stride[d] : c];
      const PetscInt  step = side ? poisson->box.stride[d] : -poisson->box.stride[d];
      PetscInt        beyond[DIM] = {at[X], at[Y], at[Z]};

      if (fixed && fixed[0] > 0.f)
        continue;
      diagonal += weight;
      beyond[d] += side ? 1 : -1;
      if (!box->periodic[d] && (beyond[d] < 0 || beyond[d] >= box->cells[d]))
        continue;
      if (fixed && fixed[step] > 0.f)
        continue;
      columns[count] = (MatStencil){.i = beyond[X], .j = beyond[Y], .k = beyond[Z]};
      values[count++] = -weight;
    }
  columns[count] = row;
  values[count++] = diagonal > 0. ? diagonal : 1.;
  PetscCall(MatSetValuesStencil(matrix, 1, &row, count, columns, values, INSERT_VALUES));
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonAssemble(Poisson poisson, Mat *matrix)
{
  const GridBox *box = &poisson->operand_box;

  PetscFunctionBegin;
  if (!*matrix) {
    PetscCall(DMCreateMatrix(grid_cell_dm(poisson->grid), matrix));
    PetscCall(MatSetOption(*matrix, MAT_SYMMETRIC, PETSC_TRUE));
  }
  FOR_PLACES(box, at)
    PetscCall(SetRow(poisson, at, *matrix));
  PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}
