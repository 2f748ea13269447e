/* A with its entries, for whom they are asked, and the preconditioner of the thesis for the pressure rows:
   incomplete Cholesky without fill, on each rank's own part. For comparison. */
#include "../coupling_impl.h"

static PetscErrorCode SetRow(Coupling coupling, const PetscInt at[DIM], PetscReal *const weights[DIM],
                             const PetscReal *fixed, Mat matrix)
{
  const GridBox  *box = grid_box(coupling->grid);
  const PetscInt  c = box_index(box, at[X], at[Y], at[Z]);
  const PetscBool is_out = fixed && fixed[c] > 0.;
  MatStencil      row = {.i = at[X], .j = at[Y], .k = at[Z]}, columns[2 * DIM + 1];
  PetscScalar     values[2 * DIM + 1], diagonal = 0.;
  PetscInt        count = 0;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      const PetscInt  next = side ? c + box->stride[d] : c - box->stride[d];
      const PetscReal weight = weights[d][side ? next : c];
      PetscInt        beyond[DIM] = {at[X], at[Y], at[Z]};

      diagonal += weight;
      beyond[d] += side ? 1 : -1;
      if (!box->periodic[d] && (beyond[d] < 0 || beyond[d] >= box->cells[d]))
        continue;
      columns[count] = (MatStencil){.i = beyond[X], .j = beyond[Y], .k = beyond[Z]};
      values[count++] = is_out || (fixed && fixed[next] > 0.) ? 0. : -weight;
    }
  columns[count] = row;
  values[count++] = diagonal > 0. && !is_out ? diagonal : 1.;
  PetscCall(MatSetValuesStencil(matrix, 1, &row, count, columns, values, INSERT_VALUES));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingAssemble(Coupling coupling, Mat *matrix)
{
  const GridBox   *box = grid_box(coupling->grid);
  const PetscReal *fixed = NULL;
  PetscReal       *weights[DIM];

  PetscFunctionBegin;
  PetscCall(DMCreateMatrix(grid_cell_dm(coupling->grid), matrix));
  PetscCall(MatSetOption(*matrix, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MacGridGetFaces(coupling->grid, coupling->faces.weights, weights));
  if (coupling->system.fixed)
    PetscCall(VecGetArrayRead(coupling->system.fixed, &fixed));
  FOR_PLACES(box, at)
    PetscCall(SetRow(coupling, at, weights, fixed, *matrix));
  if (coupling->system.fixed)
    PetscCall(VecRestoreArrayRead(coupling->system.fixed, &fixed));
  PetscCall(MacGridRestoreFaces(coupling->grid, coupling->faces.weights, weights));
  PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingCreateCholesky(Coupling coupling, PC *pc)
{
  Mat      matrix;
  PetscInt blocks;
  KSP     *parts;
  PC       part;

  PetscFunctionBegin;
  PetscCall(CouplingAssemble(coupling, &matrix));
  PetscCall(PCCreate(coupling->fluid, pc));
  PetscCall(PCSetOperators(*pc, matrix, matrix));
  PetscCall(PCSetType(*pc, PCBJACOBI));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCBJacobiGetSubKSP(*pc, &blocks, NULL, &parts));
  PetscCall(KSPSetType(parts[0], KSPPREONLY));
  PetscCall(KSPGetPC(parts[0], &part));
  PetscCall(PCSetType(part, PCICC));
  PetscCall(PCFactorSetShiftType(part, MAT_SHIFT_POSITIVE_DEFINITE));
  PetscCall(MatDestroy(&matrix));
  PetscFunctionReturn(0);
}
