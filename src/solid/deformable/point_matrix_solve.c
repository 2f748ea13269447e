/* Products with the matrix of implicit elasticity, and the solvers of its systems: conjugate gradients with
   the blocks of the diagonal, whose sums are the same on any number of ranks, or the whole matrix in PETSc.
 */
#include "point_matrix_impl.h"

#include <millrace/dense.h>

enum { MOST_ITERATIONS = 20000 };

/* y_i += A x_j and y_j += A^T x_i. */
KERNEL void multiply_entry(const PetscReal a[BLOCK], const PetscReal x_row[DIM],
                           const PetscReal x_column[DIM], PetscReal y_row[DIM], PetscReal y_column[DIM])
{
  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++) {
      y_row[i] += a[DIM * i + j] * x_column[j];
      y_column[j] += a[DIM * i + j] * x_row[i];
    }
}

/* Rows of points with columns of points. `y` is zero before. */
VECTOR_CLONES static void multiply_points(PointMatrix matrix, const Vector3 x[], Vector3 y[])
{
  for (PetscInt r = 0; r < matrix->body_row; r++) {
    const PetscInt p = matrix->rows[r];
    PetscInt       n = matrix->first[r];
    PetscReal      sum[DIM] = {0}, unused[DIM] = {0};

    if (n < matrix->first_on_body[r] && matrix->column[n] == p)
      multiply_entry(&matrix->values[BLOCK * n++], unused, x[p].at, sum, unused);
    for (; n < matrix->first_on_body[r]; n++)
      multiply_entry(&matrix->values[BLOCK * n], x[p].at, x[matrix->column[n]].at, sum,
                     y[matrix->column[n]].at);
    for (PetscInt i = 0; i < DIM; i++)
      y[p].at[i] += sum[i];
  }
}

/* Entries of points and bodies; what bodies get of all points is a sum over ranks. */
static PetscErrorCode MultiplyBodies(PointMatrix matrix, Solid solid, const SolidMotion *x, SolidMotion *y)
{
  const PetscInt   count = 2 * DIM * matrix->body_count;
  PetscReal       *values;
  ReproducibleSum *sums;

  PetscFunctionBegin;
  if (!count)
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc2(count, &sums, count, &values));
  for (PetscInt r = 0; r < matrix->body_row; r++)
    for (PetscInt n = matrix->first_on_body[r]; n < matrix->first[r + 1]; n++) {
      const PetscInt b = matrix->column[n];
      PetscReal      part[DIM] = {0};

      multiply_entry(&matrix->values[BLOCK * n], x->points[matrix->rows[r]].at, block_of(matrix, x, b),
                     y->points[matrix->rows[r]].at, part);
      for (PetscInt j = 0; j < DIM; j++)
        sum_add(&sums[DIM * (b - matrix->point_count) + j], part[j]);
    }
  PetscCall(PointsSums(solid, count, sums, values));
  for (PetscInt k = 0; k < count; k++)
    block_of(matrix, y, matrix->point_count + k / DIM)[k % DIM] = values[k];
  for (PetscInt r = matrix->body_row; r < matrix->row_count; r++)
    for (PetscInt n = matrix->first[r]; n < matrix->first[r + 1]; n++) {
      const PetscInt a = matrix->rows[r], b = matrix->column[n];
      PetscReal      unused[DIM];

      multiply_entry(&matrix->values[BLOCK * n], block_of(matrix, x, a), block_of(matrix, x, b),
                     block_of(matrix, y, a), a == b ? unused : block_of(matrix, y, b));
    }
  PetscCall(PetscFree2(sums, values));
  PetscFunctionReturn(0);
}

/* With the motion of copies known. */
static PetscErrorCode Multiply(PointMatrix matrix, Solid solid, const SolidMotion *x, SolidMotion *y)
{
  PetscFunctionBegin;
  motion_clear(solid, y);
  multiply_points(matrix, x->points, y->points);
  PetscCall(MultiplyBodies(matrix, solid, x, y));
  PetscFunctionReturn(0);
}

PetscErrorCode PointMatrixApply(PointMatrix matrix, Solid solid, const SolidMotion *motion,
                                SolidMotion *image)
{
  PetscFunctionBegin;
  PetscCall(Multiply(matrix, solid, motion, image));
  PetscFunctionReturn(0);
}

/* Of points the inverse of a block, of bodies the factor of both of theirs together. */
static PetscErrorCode InvertDiagonal(PointMatrix matrix)
{
  PetscFunctionBegin;
  if (!matrix->inverses)
    PetscCall(PetscCalloc1(BLOCK * (matrix->body_row + 4 * matrix->body_count), &matrix->inverses));
  if (matrix->inverted == matrix->version)
    PetscFunctionReturn(0);
  matrix->inverted = matrix->version;
  for (PetscInt r = 0; r < matrix->body_row; r++) {
    const PetscInt entry = matrix_entry(matrix, matrix->rows[r], matrix->rows[r]);
    Matrix3        block;

    if (entry < 0)
      continue;
    memcpy(block.at, &matrix->values[BLOCK * entry], sizeof(block.at));
    block = matrix3_inverse(&block);
    memcpy(&matrix->inverses[BLOCK * r], block.at, sizeof(block.at));
  }
  for (PetscInt n = 0; n < matrix->body_count; n++) {
    PetscReal     *factor = &matrix->inverses[BLOCK * (matrix->body_row + 4 * n)];
    const PetscInt b = nth_body_block(matrix, n);

    for (PetscInt k = 0; k < TWIST * TWIST; k++) {
      const PetscInt i = PetscMin(k / TWIST, k % TWIST), j = PetscMax(k / TWIST, k % TWIST);

      factor[k] =
          matrix->values[BLOCK * matrix_entry(matrix, b + i / DIM, b + j / DIM) + DIM * (i % DIM) + j % DIM];
    }
    dense_cholesky(TWIST, TWIST, factor);
  }
  PetscFunctionReturn(0);
}

static void precondition(PointMatrix matrix, const SolidMotion *residual, SolidMotion *step)
{
  for (PetscInt r = 0; r < matrix->body_row; r++) {
    const PetscReal *inverse = &matrix->inverses[BLOCK * r], *from = residual->points[matrix->rows[r]].at;
    PetscReal       *to = step->points[matrix->rows[r]].at;

    for (PetscInt i = 0; i < DIM; i++)
      to[i] = inverse[DIM * i] * from[0] + inverse[DIM * i + 1] * from[1] + inverse[DIM * i + 2] * from[2];
  }
  for (PetscInt n = 0; n < matrix->body_count; n++) {
    Twist *to = &step->bodies[matrix->bodies[n]];

    *to = residual->bodies[matrix->bodies[n]];
    dense_cholesky_solve(TWIST, TWIST, &matrix->inverses[BLOCK * (matrix->body_row + 4 * n)], to->linear.at);
  }
}

/* into = from at blocks, and zero where there are none. */
static void take_blocks(PointMatrix matrix, Solid solid, const SolidMotion *from, SolidMotion *into)
{
  motion_clear(solid, into);
  for (PetscInt r = 0; r < matrix->row_count; r++)
    memcpy(block_of(matrix, into, matrix->rows[r]), block_of(matrix, from, matrix->rows[r]),
           DIM * sizeof(PetscReal));
}

static PetscErrorCode CreateMotions(PointMatrix matrix, Solid solid)
{
  PetscFunctionBegin;
  if (matrix->search.points)
    PetscFunctionReturn(0);
  PetscCall(SolidMotionCreate(solid, &matrix->residual));
  PetscCall(SolidMotionCreate(solid, &matrix->search));
  PetscCall(SolidMotionCreate(solid, &matrix->image));
  PetscCall(SolidMotionCreate(solid, &matrix->step));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolveByGradients(PointMatrix matrix, Solid solid, const SolidMotion *from,
                                       SolidMotion *to, PetscInt *iterations, PetscBool *good)
{
  SolidMotion *residual = &matrix->residual, *search = &matrix->search, *image = &matrix->image,
              *step = &matrix->step;
  PetscReal square, first;

  PetscFunctionBegin;
  *good = PETSC_TRUE;
  PetscCall(InvertDiagonal(matrix));
  PetscCall(CreateMotions(matrix, solid));
  take_blocks(matrix, solid, from, residual);
  motion_clear(solid, to);
  motion_clear(solid, step);
  precondition(matrix, residual, step);
  motion_clear(solid, search);
  motion_combine(solid, 0., 1., step, search);
  PetscCall(MotionProduct(solid, residual, step, &square));
  first = square;
  for (*iterations = 0; *good && square > PetscSqr(matrix->tolerance) * first; (*iterations)++) {
    PetscReal curvature, part, last = square;

    PetscCall(PointsExchange(solid, search->points));
    PetscCall(Multiply(matrix, solid, search, image));
    PetscCall(MotionProduct(solid, search, image, &curvature));
    *good = curvature > 0. && *iterations < MOST_ITERATIONS ? PETSC_TRUE : PETSC_FALSE;
    if (!*good)
      break;
    part = square / curvature;
    motion_combine(solid, 1., part, search, to);
    motion_combine(solid, 1., -part, image, residual);
    precondition(matrix, residual, step);
    PetscCall(MotionProduct(solid, residual, step, &square));
    motion_combine(solid, square / last, 1., step, search);
  }
  if (!(square >= 0.))
    *good = PETSC_FALSE;
  PetscFunctionReturn(0);
}

/* Numbers of blocks: those of a rank stand together, in the order of points. */
static PetscErrorCode NumberBlocks(PointMatrix matrix, Solid solid)
{
  const Points *points = solid->points;
  PetscMPIInt   rank, size;
  PetscInt     *next;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(points_comm(points), &rank));
  PetscCallMPI(MPI_Comm_size(points_comm(points), &size));
  PetscCall(PetscMalloc1(matrix->block_count, &matrix->whole.number));
  PetscCall(PetscCalloc1(size + 1, &next));
  for (PetscInt p = 0; p < points->count; p++)
    next[points_owner(points, p) + 1] += points->inverse_mass[p] > 0. ? 1 : 0;
  matrix->whole.own = next[rank + 1] + (rank == size - 1 ? 2 * matrix->body_count : 0);
  for (PetscMPIInt r = 0; r < size; r++)
    next[r + 1] += next[r];
  for (PetscInt p = 0; p < points->count; p++)
    matrix->whole.number[p] = points->inverse_mass[p] > 0. ? next[points_owner(points, p)]++ : -1;
  for (PetscInt b = points->count, n = next[size]; b < matrix->block_count; b++)
    matrix->whole.number[b] = n++;
  PetscCall(PetscFree(next));
  PetscFunctionReturn(0);
}

/* This rank gives the row to the whole matrix. */
static PetscBool gives(PointMatrix matrix, Solid solid, PetscInt r)
{
  PetscMPIInt rank, size;

  if (r < matrix->body_row)
    return points_owns(solid->points, matrix->rows[r]);
  MPI_Comm_rank(points_comm(solid->points), &rank);
  MPI_Comm_size(points_comm(solid->points), &size);
  return rank == size - 1 ? PETSC_TRUE : PETSC_FALSE;
}

/* All entries of `values`, then once more as those of the other triangle; -1: not given. */
static PetscErrorCode CreateMat(PointMatrix matrix, Solid solid)
{
  const PetscInt count = BLOCK * matrix->first[matrix->row_count], own = DIM * matrix->whole.own;
  PetscInt      *rows, *columns;
  Mat           *mat = &matrix->whole.mat;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(2 * count, &rows, 2 * count, &columns));
  for (PetscInt r = 0; r < matrix->row_count; r++)
    for (PetscInt k = BLOCK * matrix->first[r]; k < BLOCK * matrix->first[r + 1]; k++) {
      const PetscInt a = matrix->rows[r], b = matrix->column[k / BLOCK];
      const PetscInt row = DIM * matrix->whole.number[a] + k % BLOCK / DIM,
                     column = DIM * matrix->whole.number[b] + k % DIM;

      rows[k] = columns[k] = rows[count + k] = columns[count + k] = -1;
      if (!gives(matrix, solid, r))
        continue;
      rows[k] = columns[count + k] = row;
      columns[k] = rows[count + k] = column;
      if (a == b)
        rows[count + k] = columns[count + k] = -1;
    }
  PetscCall(MatCreate(points_comm(solid->points), mat));
  PetscCall(MatSetSizes(*mat, own, own, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(*mat, DIM));
  PetscCall(MatSetType(*mat, MATAIJ));
  PetscCall(MatSetPreallocationCOO(*mat, 2 * count, rows, columns));
  PetscCall(MatSetOption(*mat, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(*mat, MAT_SPD, PETSC_TRUE));
  PetscCall(MatCreateVecs(*mat, &matrix->whole.to, &matrix->whole.from));
  PetscCall(PetscFree2(rows, columns));
  PetscFunctionReturn(0);
}

/* For multigrid: the rigid motions of the points, where no body is among the unknowns. */
static PetscErrorCode SetRigidMotions(PointMatrix matrix, Solid solid)
{
  const Points *points = solid->points;
  MatNullSpace  motions;
  PetscReal    *places;
  PetscInt      n = 0;
  Vec           coordinates;

  PetscFunctionBegin;
  if (matrix->body_count || !matrix->unknown_count)
    PetscFunctionReturn(0);
  PetscCall(VecDuplicate(matrix->whole.to, &coordinates));
  PetscCall(VecSetBlockSize(coordinates, DIM));
  PetscCall(VecGetArrayWrite(coordinates, &places));
  for (PetscInt p = 0; p < points->count; p++)
    for (PetscInt d = 0; d < DIM && points->inverse_mass[p] > 0. && points_owns(points, p); d++)
      places[n++] = points->rest[p].at[d];
  PetscCall(VecRestoreArrayWrite(coordinates, &places));
  PetscCall(MatNullSpaceCreateRigidBody(coordinates, &motions));
  PetscCall(MatSetNearNullSpace(matrix->whole.mat, motions));
  PetscCall(MatNullSpaceDestroy(&motions));
  PetscCall(VecDestroy(&coordinates));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateWhole(PointMatrix matrix, Solid solid)
{
  PetscFunctionBegin;
  if (matrix->whole.mat)
    PetscFunctionReturn(0);
  PetscCall(NumberBlocks(matrix, solid));
  PetscCall(CreateMat(matrix, solid));
  PetscCall(SetRigidMotions(matrix, solid));
  PetscCall(KSPCreate(points_comm(solid->points), &matrix->whole.ksp));
  matrix->whole.solver = -1;
  PetscFunctionReturn(0);
}

PetscErrorCode WholeMatrixSet(PointMatrix matrix, Solid solid)
{
  const PetscInt count = BLOCK * matrix->first[matrix->row_count];
  PetscReal     *twice;

  PetscFunctionBegin;
  PetscCall(CreateWhole(matrix, solid));
  if (matrix->whole.version == matrix->version)
    PetscFunctionReturn(0);
  matrix->whole.version = matrix->version;
  PetscCall(PetscMalloc1(2 * count, &twice));
  PetscCall(PetscArraycpy(twice, matrix->values, count));
  PetscCall(PetscArraycpy(twice + count, matrix->values, count));
  PetscCall(MatSetValuesCOO(matrix->whole.mat, twice, INSERT_VALUES));
  PetscCall(PetscFree(twice));
  PetscFunctionReturn(0);
}

PetscErrorCode PointMatrixDestroySolver(PointMatrix matrix)
{
  WholeMatrix *whole = &matrix->whole;

  PetscFunctionBegin;
  PetscCall(PetscFree(matrix->inverses));
  PetscCall(SolidMotionDestroy(&matrix->residual));
  PetscCall(SolidMotionDestroy(&matrix->search));
  PetscCall(SolidMotionDestroy(&matrix->image));
  PetscCall(SolidMotionDestroy(&matrix->step));
  PetscCall(PetscFree(whole->number));
  PetscCall(KSPDestroy(&whole->ksp));
  PetscCall(KSPDestroy(&matrix->stiffened));
  PetscCall(MatDestroy(&whole->mat));
  PetscCall(VecDestroy(&whole->from));
  PetscCall(VecDestroy(&whole->to));
  PetscFunctionReturn(0);
}

PetscErrorCode MatrixSetFactor(Mat mat, PC pc)
{
  const MatSolverType types[] = {MATSOLVERCHOLMOD, MATSOLVERMUMPS, MATSOLVERPETSC};
  PetscBool           is_there = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCSetType(pc, PCCHOLESKY));
  for (size_t n = 0; n < sizeof(types) / sizeof(types[0]) && !is_there; n++) {
    PetscCall(MatGetFactorAvailable(mat, types[n], MAT_FACTOR_CHOLESKY, &is_there));
    if (is_there)
      PetscCall(PCFactorSetMatSolverType(pc, types[n]));
  }
  if (!is_there)
    PetscCall(PCSetType(pc, PCREDUNDANT));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetSolver(PointMatrix matrix, ElasticSolver kind)
{
  KSP ksp = matrix->whole.ksp;
  PC  pc;

  PetscFunctionBegin;
  if (matrix->whole.solver == (PetscInt)kind)
    PetscFunctionReturn(0);
  matrix->whole.solver = (PetscInt)kind;
  PetscCall(KSPReset(ksp));
  PetscCall(KSPSetOperators(ksp, matrix->whole.mat, matrix->whole.mat));
  PetscCall(KSPSetType(ksp, kind == SOLVER_CHOLESKY ? KSPPREONLY : KSPCG));
  PetscCall(KSPSetTolerances(ksp, matrix->tolerance, PETSC_DEFAULT, PETSC_DEFAULT, MOST_ITERATIONS));
  PetscCall(KSPGetPC(ksp, &pc));
  if (kind == SOLVER_CHOLESKY)
    PetscCall(MatrixSetFactor(matrix->whole.mat, pc));
  else
    PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(KSPSetOptionsPrefix(ksp, "elastic_"));
  PetscCall(KSPSetFromOptions(ksp));
  PetscFunctionReturn(0);
}

PetscErrorCode MatrixSetUpSolver(KSP *ksp, PetscBool *good)
{
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  error = KSPSetUp(*ksp);
  PetscCall(PetscPopErrorHandler());
  *good = error ? PETSC_FALSE : PETSC_TRUE;
  if (error)
    PetscCall(KSPDestroy(ksp));
  PetscFunctionReturn(0);
}

PetscErrorCode WholeMatrixPack(PointMatrix matrix, Solid solid, const SolidMotion *motion, Vec vec)
{
  PetscReal *values;
  PetscInt   n = 0;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(vec, &values));
  for (PetscInt r = 0; r < matrix->row_count; r++)
    for (PetscInt d = 0; d < DIM && gives(matrix, solid, r); d++)
      values[n++] = block_of(matrix, motion, matrix->rows[r])[d];
  PetscCall(VecRestoreArrayWrite(vec, &values));
  PetscFunctionReturn(0);
}

PetscErrorCode WholeMatrixUnpack(PointMatrix matrix, Solid solid, Vec vec, SolidMotion *motion)
{
  const PetscReal *values;
  PetscInt         n = 0;

  PetscFunctionBegin;
  motion_clear(solid, motion);
  PetscCall(VecGetArrayRead(vec, &values));
  for (PetscInt r = 0; r < matrix->row_count; r++)
    for (PetscInt d = 0; d < DIM && gives(matrix, solid, r); d++)
      block_of(matrix, motion, matrix->rows[r])[d] = values[n++];
  PetscCall(VecRestoreArrayRead(vec, &values));
  for (PetscInt k = 0; k < matrix->body_count; k++)
    PetscCall(PointsTell(solid, TWIST, (PetscReal *)&motion->bodies[matrix->bodies[k]]));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolveWhole(PointMatrix matrix, Solid solid, ElasticSolver kind, const SolidMotion *from,
                                 SolidMotion *to, PetscInt *iterations, PetscBool *good)
{
  KSPConvergedReason reason;
  WholeMatrix       *whole = &matrix->whole;

  PetscFunctionBegin;
  *iterations = 0;
  PetscCall(WholeMatrixSet(matrix, solid));
  PetscCall(SetSolver(matrix, kind));
  PetscCall(KSPSetOperators(whole->ksp, whole->mat, whole->mat)); /* or their values count as the same */
  PetscCall(MatrixSetUpSolver(&whole->ksp, good));
  if (!*good) { /* it begins anew */
    PetscCall(KSPCreate(points_comm(solid->points), &whole->ksp));
    whole->solver = -1;
    PetscFunctionReturn(0);
  }
  PetscCall(WholeMatrixPack(matrix, solid, from, whole->from));
  PetscCall(KSPSolve(whole->ksp, whole->from, whole->to));
  PetscCall(KSPGetConvergedReason(whole->ksp, &reason));
  PetscCall(KSPGetIterationNumber(whole->ksp, iterations));
  *good = reason > 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(WholeMatrixUnpack(matrix, solid, whole->to, to));
  PetscFunctionReturn(0);
}

PetscErrorCode PointMatrixSolve(PointMatrix matrix, Solid solid, ElasticSolver kind, const SolidMotion *from,
                                SolidMotion *to, PetscInt *iterations, PetscBool *good)
{
  PetscFunctionBegin;
  if (kind == SOLVER_CG)
    PetscCall(SolveByGradients(matrix, solid, from, to, iterations, good));
  else
    PetscCall(SolveWhole(matrix, solid, kind, from, to, iterations, good));
  PetscCall(PointsExchange(solid, to->points));
  points_follow_change(solid, to);
  PetscFunctionReturn(0);
}
