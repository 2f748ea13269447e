/* A symmetric matrix of 6 x 6 blocks, L D L^T of a fill-reducing order. It is scaled to a diagonal of ones,
   so that units of length do not matter, and need not be positive: quasi-definite matrices have such factors
   in any order (Vanderbei 1995). Every rank has all of it. */
#include <millrace/solid_system.h>

struct _p_BlockFactor {
  PetscInt   size;
  PetscReal *scale;
  Mat        factor;
  Vec        from, to;
};

static void transpose(PetscReal block[SOLID_BLOCK_LENGTH * SOLID_BLOCK_LENGTH])
{
  for (PetscInt i = 0; i < SOLID_BLOCK_LENGTH; i++)
    for (PetscInt j = 0; j < i; j++) {
      const PetscReal kept = block[SOLID_BLOCK_LENGTH * i + j];

      block[SOLID_BLOCK_LENGTH * i + j] = block[SOLID_BLOCK_LENGTH * j + i];
      block[SOLID_BLOCK_LENGTH * j + i] = kept;
    }
}

static PetscErrorCode Fill(PetscInt blocks, PetscInt count, const BlockPair pairs[], const PetscReal *scale,
                           Mat *matrix)
{
  PetscInt *lengths;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(blocks, &lengths));
  for (PetscInt p = 0; p < count; p++) {
    lengths[pairs[p].a]++;
    lengths[pairs[p].b] += pairs[p].a == pairs[p].b ? 0 : 1;
  }
  PetscCall(MatCreate(PETSC_COMM_SELF, matrix));
  PetscCall(MatSetSizes(*matrix, SOLID_BLOCK_LENGTH * blocks, SOLID_BLOCK_LENGTH * blocks,
                        SOLID_BLOCK_LENGTH * blocks, SOLID_BLOCK_LENGTH * blocks));
  PetscCall(MatSetType(*matrix, MATSEQAIJ));
  PetscCall(MatSetBlockSize(*matrix, SOLID_BLOCK_LENGTH));
  PetscCall(MatXAIJSetPreallocation(*matrix, SOLID_BLOCK_LENGTH, lengths, NULL, NULL, NULL));
  for (PetscInt p = 0; p < count; p++) {
    PetscReal block[SOLID_BLOCK_LENGTH * SOLID_BLOCK_LENGTH];

    for (PetscInt n = 0; n < SOLID_BLOCK_LENGTH * SOLID_BLOCK_LENGTH; n++)
      block[n] = pairs[p].block[n] * scale[SOLID_BLOCK_LENGTH * pairs[p].a + n / SOLID_BLOCK_LENGTH] *
                 scale[SOLID_BLOCK_LENGTH * pairs[p].b + n % SOLID_BLOCK_LENGTH];
    PetscCall(MatSetValuesBlocked(*matrix, 1, &pairs[p].a, 1, &pairs[p].b, block, INSERT_VALUES));
    if (pairs[p].a == pairs[p].b)
      continue;
    transpose(block);
    PetscCall(MatSetValuesBlocked(*matrix, 1, &pairs[p].b, 1, &pairs[p].a, block, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(*matrix, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(PetscFree(lengths));
  PetscFunctionReturn(0);
}

static PetscErrorCode Factor(BlockFactor factor, Mat matrix, PetscBool *is_regular)
{
  MatFactorInfo  info;
  MatFactorError error;
  IS             rows, columns;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 3.;
  PetscCall(MatGetOrdering(matrix, MATORDERINGND, &rows, &columns));
  PetscCall(MatGetFactor(matrix, MATSOLVERPETSC, MAT_FACTOR_CHOLESKY, &factor->factor));
  PetscCall(MatCholeskyFactorSymbolic(factor->factor, matrix, rows, &info));
  PetscCall(MatCholeskyFactorNumeric(factor->factor, matrix, &info));
  PetscCall(MatFactorGetError(factor->factor, &error));
  *is_regular = error == MAT_FACTOR_NOERROR ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(0);
}

PetscErrorCode BlockFactorCreate(PetscInt blocks, PetscInt count, const BlockPair pairs[],
                                 BlockFactor *factor, PetscBool *is_regular)
{
  const PetscInt size = SOLID_BLOCK_LENGTH * blocks;
  Mat            matrix;

  PetscFunctionBegin;
  PetscCall(PetscNew(factor));
  (*factor)->size = size;
  PetscCall(PetscMalloc1(size, &(*factor)->scale));
  for (PetscInt p = 0; p < count; p++)
    for (PetscInt i = 0; i < SOLID_BLOCK_LENGTH && pairs[p].a == pairs[p].b; i++)
      (*factor)->scale[SOLID_BLOCK_LENGTH * pairs[p].a + i] =
          1. / PetscSqrtReal(PetscAbsReal(pairs[p].block[SOLID_BLOCK_LENGTH * i + i]));
  PetscCall(Fill(blocks, count, pairs, (*factor)->scale, &matrix));
  PetscCall(Factor(*factor, matrix, is_regular));
  PetscCall(MatCreateVecs(matrix, &(*factor)->from, &(*factor)->to));
  PetscCall(MatDestroy(&matrix));
  PetscFunctionReturn(0);
}

PetscErrorCode BlockFactorDestroy(BlockFactor *factor)
{
  PetscFunctionBegin;
  if (!*factor)
    PetscFunctionReturn(0);
  PetscCall(PetscFree((*factor)->scale));
  PetscCall(MatDestroy(&(*factor)->factor));
  PetscCall(VecDestroy(&(*factor)->from));
  PetscCall(VecDestroy(&(*factor)->to));
  PetscCall(PetscFree(*factor));
  PetscFunctionReturn(0);
}

PetscErrorCode BlockFactorSolve(BlockFactor factor, const PetscReal *from, PetscReal *to)
{
  const PetscReal *answer;
  PetscReal       *scaled;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(factor->from, &scaled));
  for (PetscInt n = 0; n < factor->size; n++)
    scaled[n] = factor->scale[n] * from[n];
  PetscCall(VecRestoreArrayWrite(factor->from, &scaled));
  PetscCall(MatSolve(factor->factor, factor->from, factor->to));
  PetscCall(VecGetArrayRead(factor->to, &answer));
  for (PetscInt n = 0; n < factor->size; n++)
    to[n] = factor->scale[n] * answer[n];
  PetscCall(VecRestoreArrayRead(factor->to, &answer));
  PetscFunctionReturn(0);
}
