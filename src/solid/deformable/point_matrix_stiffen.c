/* A factor of A + J^T J, with the matrix A of implicit elasticity and rows J over the velocities of points,
   for solids in a fluid: on one rank, which has all points. */
#include "point_matrix_impl.h"

/* The numbers of J for one velocity of a point, by the unknowns of what carries it. */
static PetscErrorCode AddToRow(PointMatrix matrix, Solid solid, PetscInt row, PetscInt number,
                               PetscReal weight, Mat rows)
{
  MatrixFooting  all[MOST_FOOTINGS];
  const PetscInt count = matrix_footings(matrix, solid->points, number / DIM, all);

  PetscFunctionBegin;
  for (PetscInt f = 0; f < count; f++) {
    const Matrix3 by = footing_matrix(solid, &all[f]);

    for (PetscInt j = 0; j < DIM; j++)
      if (by.at[number % DIM][j] != 0.)
        PetscCall(MatSetValue(rows, row, DIM * matrix->whole.number[all[f].block] + j,
                              weight * by.at[number % DIM][j], ADD_VALUES));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateRows(PointMatrix matrix, Solid solid, const SurfaceRows *from, Mat *rows)
{
  PetscInt *lengths;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(from->count, &lengths));
  for (PetscInt r = 0; r < from->count; r++)
    for (PetscInt n = from->first[r]; n < from->first[r + 1]; n++) {
      const PetscInt p = from->numbers[n] / DIM;
      MatrixFooting  all[MOST_FOOTINGS];

      lengths[r] +=
          solid->points->inverse_mass[p] > 0. ? 1 : DIM * matrix_footings(matrix, solid->points, p, all);
    }
  for (PetscInt r = 0; r < from->count; r++)
    lengths[r] = PetscMin(lengths[r], DIM * matrix->unknown_count);
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, from->count, DIM * matrix->unknown_count, 0, lengths, rows));
  for (PetscInt r = 0; r < from->count; r++)
    for (PetscInt n = from->first[r]; n < from->first[r + 1]; n++)
      PetscCall(AddToRow(matrix, solid, r, from->numbers[n], from->weights[n], *rows));
  PetscCall(MatAssemblyBegin(*rows, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*rows, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(lengths));
  PetscFunctionReturn(0);
}

static PetscErrorCode AddsEnough(Mat mat, Mat added, PetscReal least, PetscBool *enough)
{
  const PetscReal *has, *gains;
  PetscInt         rows;
  Vec              diagonal, gain;

  PetscFunctionBegin;
  *enough = PETSC_FALSE;
  PetscCall(MatGetSize(mat, &rows, NULL));
  PetscCall(MatCreateVecs(mat, &diagonal, &gain));
  PetscCall(MatGetDiagonal(mat, diagonal));
  PetscCall(MatGetDiagonal(added, gain));
  PetscCall(VecGetArrayRead(diagonal, &has));
  PetscCall(VecGetArrayRead(gain, &gains));
  for (PetscInt r = 0; r < rows; r++)
    if (gains[r] > least * has[r])
      *enough = PETSC_TRUE;
  PetscCall(VecRestoreArrayRead(gain, &gains));
  PetscCall(VecRestoreArrayRead(diagonal, &has));
  PetscCall(VecDestroy(&diagonal));
  PetscCall(VecDestroy(&gain));
  PetscFunctionReturn(0);
}

/* Without the places of elements that this matrix has no terms of. */
static PetscErrorCode CreateWithoutZeros(Mat mat, Mat *kept)
{
  const PetscScalar *values;
  const PetscInt    *columns;
  PetscInt           rows, count, *lengths;

  PetscFunctionBegin;
  PetscCall(MatGetSize(mat, &rows, NULL));
  PetscCall(PetscCalloc1(rows, &lengths));
  for (PetscInt r = 0; r < rows; r++) {
    PetscCall(MatGetRow(mat, r, &count, &columns, &values));
    for (PetscInt n = 0; n < count; n++)
      lengths[r] += values[n] != 0. || columns[n] == r ? 1 : 0;
    PetscCall(MatRestoreRow(mat, r, &count, &columns, &values));
  }
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, rows, rows, 0, lengths, kept));
  for (PetscInt r = 0; r < rows; r++) {
    PetscCall(MatGetRow(mat, r, &count, &columns, &values));
    for (PetscInt n = 0; n < count; n++)
      if (values[n] != 0. || columns[n] == r)
        PetscCall(MatSetValue(*kept, r, columns[n], values[n], INSERT_VALUES));
    PetscCall(MatRestoreRow(mat, r, &count, &columns, &values));
  }
  PetscCall(MatAssemblyBegin(*kept, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*kept, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(lengths));
  PetscFunctionReturn(0);
}

PetscErrorCode PointMatrixStiffen(PointMatrix matrix, Solid solid, const SurfaceRows *rows, PetscReal least,
                                  PetscBool *good)
{
  Mat added, sum, product;
  PC  pc;

  PetscFunctionBegin;
  PetscCall(KSPDestroy(&matrix->stiffened));
  PetscCall(WholeMatrixSet(matrix, solid));
  PetscCall(CreateRows(matrix, solid, rows, &added));
  PetscCall(MatTransposeMatMult(added, added, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &product));
  PetscCall(MatDestroy(&added));
  PetscCall(AddsEnough(matrix->whole.mat, product, least, good));
  if (*good) {
    PetscCall(CreateWithoutZeros(matrix->whole.mat, &sum));
    PetscCall(MatAXPY(sum, 1., product, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatSetOption(sum, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(MatSetOption(sum, MAT_SPD, PETSC_TRUE));
    PetscCall(KSPCreate(PETSC_COMM_SELF, &matrix->stiffened));
    PetscCall(KSPSetOperators(matrix->stiffened, sum, sum));
    PetscCall(KSPSetType(matrix->stiffened, KSPPREONLY));
    PetscCall(KSPGetPC(matrix->stiffened, &pc));
    PetscCall(MatrixSetFactor(sum, pc));
    PetscCall(MatDestroy(&sum));
    PetscCall(MatrixSetUpSolver(&matrix->stiffened, good));
  }
  PetscCall(MatDestroy(&product));
  PetscFunctionReturn(0);
}

PetscErrorCode PointMatrixSolveStiffened(PointMatrix matrix, Solid solid, const SolidMotion *from,
                                         SolidMotion *to)
{
  PetscFunctionBegin;
  PetscCall(WholeMatrixPack(matrix, solid, from, matrix->whole.from));
  PetscCall(KSPSolve(matrix->stiffened, matrix->whole.from, matrix->whole.to));
  PetscCall(WholeMatrixUnpack(matrix, solid, matrix->whole.to, to));
  points_follow_change(solid, to);
  PetscFunctionReturn(0);
}
