/* MINRES for a symmetric system of two blocks, K = [ A X ; X^T -C ], as a KSP of PETSc: "blockminres".

   The operator is a MATNEST of two by two blocks, the preconditioner the solvers that PCFIELDSPLIT has made
   for A and C, one after the other: C, A, C (symmetric multiplicative), or each by itself (additive). It is
   what KSPMINRES and PCFIELDSPLIT do together, with the same iterates. But the blocks are views of vectors
   that last, not copies; all updates of a vector are one pass over memory, 14 numbers per unknown and
   iteration (those of conjugate gradients) instead of 70; and X^T z of the preconditioner is used again by
   the operator.

   With v unscaled Lanczos vectors, z = M v, gamma^2 = z.v and delta = z.K z / gamma^2 (Elman, Silvester &
   Wathen, Finite Elements and Fast Iterative Solvers, algorithm 6.1):

     v_new = K z / gamma - (delta / gamma) v - (gamma / gamma_old) v_old
     w_new = (z / gamma - a3 w_old - a2 w) / a1,   x += c eta w_new

   The norm that is watched is |eta|, that of the residual in the preconditioner's norm. */
#include <petsc/private/kspimpl.h> /* first: its functions have arguments X and Y, as our directions are called */

#include "../coupling_impl.h"

/* A vector and its two blocks: three views of the same numbers. */
typedef struct {
  PetscReal *values;
  Vec        whole, parts[2];
} BlockVector;

enum { FIRST = 0, SECOND = 1, VECTORS = 7 };

typedef enum { SWEEP_ADDITIVE, SWEEP_SYMMETRIC, SWEEP_OTHER } PreconditionerSweep;

typedef struct {
  PetscInt            count; /* numbers on this rank, first block first */
  Mat               **blocks;
  KSP                *solvers; /* in the order of PCFIELDSPLIT: of the second block, of the first */
  PreconditionerSweep sweep;
  PetscReal          *values; /* of all vectors */
  BlockVector         vectors[VECTORS];
  BlockVector        *v_old, *v, *z, *product, *w_old, *w, *shifted;
  Vec                 pulled; /* X^T z */
  Vec                 rest, correction;
  Team                team; /* borrowed; null: nobody sleeps */
} BlockMinres;

typedef struct {
  PetscReal gamma, gamma_old;
  PetscReal c, c_old, s, s_old; /* of the last two rotations */
  PetscReal eta;
} Recurrence;

/* v_old becomes p * product - a * v - b * v_old. */
VECTOR_CLONES static void next_lanczos(PetscInt count, const PetscReal factors[3],
                                       const PetscReal *restrict product, const PetscReal *restrict v,
                                       PetscReal *restrict v_old)
{
  const PetscReal p = factors[0], a = factors[1], b = factors[2];

  for (PetscInt n = 0; n < count; n++)
    v_old[n] = p * product[n] - a * v[n] - b * v_old[n];
}

/* w_old becomes p * z - a * w - b * w_old, and x grows by `step` times that. */
VECTOR_CLONES static void next_direction(PetscInt count, const PetscReal factors[4],
                                         const PetscReal *restrict z, const PetscReal *restrict w,
                                         PetscReal *restrict w_old, PetscReal *restrict x)
{
  const PetscReal p = factors[0], a = factors[1], b = factors[2], step = factors[3];

  for (PetscInt n = 0; n < count; n++) {
    const PetscReal direction = p * z[n] - a * w[n] - b * w_old[n];

    w_old[n] = direction;
    x[n] += step * direction;
  }
}

static void swap(BlockVector **a, BlockVector **b)
{
  BlockVector *kept = *a;

  *a = *b;
  *b = kept;
}

/* PETSc remembers norms of vectors as long as nobody tells that they have changed. */
static PetscErrorCode TellChanged(BlockVector *vector)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectStateIncrease((PetscObject)vector->whole));
  for (PetscInt part = FIRST; part <= SECOND; part++)
    PetscCall(PetscObjectStateIncrease((PetscObject)vector->parts[part]));
  PetscFunctionReturn(0);
}

static PetscErrorCode Dot(KSP ksp, const BlockVector *a, const BlockVector *b, PetscReal *product)
{
  const BlockMinres *minres = ksp->data;
  ReproducibleSum    sum = {0};

  PetscFunctionBegin;
  sum_add_products(&sum, a->values, b->values, minres->count);
  if (minres->team)
    PetscCall(TeamAwaitFluid(minres->team));
  PetscCall(SumOverRanks(PetscObjectComm((PetscObject)ksp), 1, &sum, product));
  PetscFunctionReturn(0);
}

static PetscErrorCode Reset(KSP ksp)
{
  BlockMinres *minres = ksp->data;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < VECTORS; n++) {
    PetscCall(VecDestroy(&minres->vectors[n].whole));
    for (PetscInt part = FIRST; part <= SECOND; part++)
      PetscCall(VecDestroy(&minres->vectors[n].parts[part]));
  }
  PetscCall(VecDestroy(&minres->pulled));
  PetscCall(VecDestroy(&minres->rest));
  PetscCall(VecDestroy(&minres->correction));
  PetscCall(PetscFree(minres->solvers));
  PetscCall(PetscFree(minres->values));
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(Reset(ksp));
  PetscCall(KSPDestroyDefault(ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateVectors(KSP ksp)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)ksp);
  BlockMinres   *minres = ksp->data;
  PetscInt       counts[2];

  PetscFunctionBegin;
  for (PetscInt part = FIRST; part <= SECOND; part++)
    PetscCall(MatGetLocalSize(minres->blocks[part][part], &counts[part], NULL));
  minres->count = counts[FIRST] + counts[SECOND];
  PetscCall(PetscCalloc1(VECTORS * minres->count, &minres->values));
  for (PetscInt n = 0; n < VECTORS; n++) {
    BlockVector *vector = &minres->vectors[n];

    vector->values = minres->values + n * minres->count;
    PetscCall(VecCreateMPIWithArray(comm, 1, minres->count, PETSC_DETERMINE, vector->values, &vector->whole));
    for (PetscInt part = FIRST; part <= SECOND; part++)
      PetscCall(VecCreateMPIWithArray(comm, 1, counts[part], PETSC_DETERMINE,
                                      vector->values + (part ? counts[FIRST] : 0), &vector->parts[part]));
  }
  minres->v_old = &minres->vectors[0];
  minres->v = &minres->vectors[1];
  minres->z = &minres->vectors[2];
  minres->product = &minres->vectors[3];
  minres->w_old = &minres->vectors[4];
  minres->w = &minres->vectors[5];
  minres->shifted = &minres->vectors[6];
  PetscCall(MatCreateVecs(minres->blocks[SECOND][SECOND], &minres->pulled, &minres->rest));
  PetscCall(VecDuplicate(minres->rest, &minres->correction));
  PetscFunctionReturn(0);
}

/* Which of its sweeps PCFIELDSPLIT would make; others, and other preconditioners, are applied as they are. */
static PetscErrorCode FindSweep(KSP ksp)
{
  BlockMinres    *minres = ksp->data;
  PetscBool       is_split;
  PCCompositeType type;
  PetscInt        count;

  PetscFunctionBegin;
  minres->sweep = SWEEP_OTHER;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCFIELDSPLIT, &is_split));
  if (!is_split)
    PetscFunctionReturn(0);
  PetscCall(PCFieldSplitGetType(ksp->pc, &type));
  if (type == PC_COMPOSITE_ADDITIVE)
    minres->sweep = SWEEP_ADDITIVE;
  if (type == PC_COMPOSITE_SYMMETRIC_MULTIPLICATIVE)
    minres->sweep = SWEEP_SYMMETRIC;
  if (minres->sweep != SWEEP_OTHER)
    PetscCall(PCFieldSplitGetSubKSP(ksp->pc, &count, &minres->solvers));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetUp(KSP ksp)
{
  BlockMinres *minres = ksp->data;
  PetscInt     rows, columns;
  PetscBool    is_nest;
  Mat          matrix;

  PetscFunctionBegin;
  PetscCall(Reset(ksp));
  PetscCall(PCGetOperators(ksp->pc, &matrix, NULL));
  PetscCall(PetscObjectTypeCompare((PetscObject)matrix, MATNEST, &is_nest));
  PetscCheck(is_nest, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "blockminres needs a MATNEST; take -ksp_type minres for other matrices");
  PetscCall(MatNestGetSubMats(matrix, &rows, &columns, &minres->blocks));
  PetscCheck(rows == 2 && columns == 2, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "blockminres needs 2 x 2 blocks, not %" PetscInt_FMT " x %" PetscInt_FMT, rows, columns);
  PetscCall(CreateVectors(ksp));
  PetscFunctionReturn(0);
}

/* y = K x, where `pulled` is X^T x already. */
static PetscErrorCode Multiply(BlockMinres *minres, BlockVector *x, BlockVector *y)
{
  PetscFunctionBegin;
  PetscCall(MatMult(minres->blocks[FIRST][FIRST], x->parts[FIRST], y->parts[FIRST]));
  PetscCall(MatMultAdd(minres->blocks[FIRST][SECOND], x->parts[SECOND], y->parts[FIRST], y->parts[FIRST]));
  PetscCall(MatMultAdd(minres->blocks[SECOND][SECOND], x->parts[SECOND], minres->pulled, y->parts[SECOND]));
  PetscFunctionReturn(0);
}

/* y = (solver of a block) x, without what KSPSolve does around the one application of its preconditioner. */
static PetscErrorCode SolvePart(KSP solver, Vec x, Vec y)
{
  PetscBool is_once;
  PC        pc;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)solver, KSPPREONLY, &is_once));
  PetscCall(KSPGetPC(solver, &pc));
  if (is_once)
    PetscCall(PCApply(pc, x, y));
  else
    PetscCall(KSPSolve(solver, x, y));
  PetscFunctionReturn(0);
}

/* Second block, first, second: the residuals are those of [ A -X ; -X^T C ], which is positive definite where
   its Schur complement A - X C^-1 X^T is taken for S = A + X C^-1 X^T. */
static PetscErrorCode SweepSymmetric(BlockMinres *minres, BlockVector *v, BlockVector *z)
{
  Vec shifted = minres->shifted->parts[FIRST];

  PetscFunctionBegin;
  PetscCall(SolvePart(minres->solvers[0], v->parts[SECOND], z->parts[SECOND]));
  PetscCall(MatMultAdd(minres->blocks[FIRST][SECOND], z->parts[SECOND], v->parts[FIRST], shifted));
  PetscCall(SolvePart(minres->solvers[1], shifted, z->parts[FIRST]));
  PetscCall(MatMult(minres->blocks[SECOND][FIRST], z->parts[FIRST], minres->pulled));
  PetscCall(VecWAXPY(minres->rest, 1., minres->pulled, v->parts[SECOND]));
  PetscCall(MatMultAdd(minres->blocks[SECOND][SECOND], z->parts[SECOND], minres->rest, minres->rest));
  PetscCall(SolvePart(minres->solvers[0], minres->rest, minres->correction));
  PetscCall(VecAXPY(z->parts[SECOND], 1., minres->correction));
  PetscFunctionReturn(0);
}

/* z = M v, and `pulled` = X^T z. */
static PetscErrorCode Precondition(KSP ksp, BlockVector *v, BlockVector *z)
{
  BlockMinres *minres = ksp->data;

  PetscFunctionBegin;
  if (minres->sweep == SWEEP_SYMMETRIC) {
    PetscCall(SweepSymmetric(minres, v, z));
    PetscFunctionReturn(0);
  }
  if (minres->sweep == SWEEP_ADDITIVE) {
    PetscCall(SolvePart(minres->solvers[0], v->parts[SECOND], z->parts[SECOND]));
    PetscCall(SolvePart(minres->solvers[1], v->parts[FIRST], z->parts[FIRST]));
  } else {
    PetscCall(KSP_PCApply(ksp, v->whole, z->whole));
    PetscCall(TellChanged(z));
  }
  PetscCall(MatMult(minres->blocks[SECOND][FIRST], z->parts[FIRST], minres->pulled));
  PetscFunctionReturn(0);
}

/* gamma = sqrt(z.v); PETSC_FALSE: M is not positive. */
static PetscErrorCode FindGamma(KSP ksp, PetscReal *gamma, PetscBool *is_positive)
{
  const BlockMinres *minres = ksp->data;
  PetscReal          square;

  PetscFunctionBegin;
  PetscCall(Dot(ksp, minres->z, minres->v, &square));
  *is_positive = square >= 0. || PetscIsInfOrNanReal(square) ? PETSC_TRUE : PETSC_FALSE;
  *gamma = PetscSqrtReal(PetscAbsReal(square));
  PetscFunctionReturn(0);
}

static PetscErrorCode Judge(KSP ksp, PetscReal norm)
{
  PetscFunctionBegin;
  ksp->rnorm = norm;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, ksp->its, norm));
  PetscCall((*ksp->converged)(ksp, ksp->its, norm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(0);
}

/* v = b - K x, z = M v. */
static PetscErrorCode Start(KSP ksp, Recurrence *last)
{
  BlockMinres *minres = ksp->data;
  PetscBool    is_positive;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < VECTORS; n++)
    PetscCall(PetscArrayzero(minres->vectors[n].values, minres->count));
  if (ksp->guess_zero)
    PetscCall(VecCopy(ksp->vec_rhs, minres->v->whole));
  else {
    PetscCall(VecCopy(ksp->vec_sol, minres->z->whole));
    PetscCall(MatMult(minres->blocks[SECOND][FIRST], minres->z->parts[FIRST], minres->pulled));
    PetscCall(Multiply(minres, minres->z, minres->product));
    PetscCall(VecWAXPY(minres->v->whole, -1., minres->product->whole, ksp->vec_rhs));
  }
  PetscCall(TellChanged(minres->v));
  PetscCall(Precondition(ksp, minres->v, minres->z));
  *last = (Recurrence){.gamma_old = 1., .c = 1., .c_old = 1.};
  PetscCall(FindGamma(ksp, &last->gamma, &is_positive));
  last->eta = last->gamma;
  PetscCall(Judge(ksp, last->gamma));
  if (!is_positive)
    ksp->reason = KSP_DIVERGED_INDEFINITE_PC;
  PetscFunctionReturn(0);
}

/* The next column of the tridiagonal matrix, rotated, and the next direction. */
static PetscErrorCode Rotate(KSP ksp, PetscReal delta, PetscReal gamma, Recurrence *last, BlockVector *z)
{
  BlockMinres    *minres = ksp->data;
  const PetscReal a0 = last->c * delta - last->c_old * last->s * last->gamma,
                  a1 = PetscSqrtReal(a0 * a0 + gamma * gamma),
                  a2 = last->s * delta + last->c_old * last->c * last->gamma, a3 = last->s_old * last->gamma,
                  c = a0 / a1, s = gamma / a1;
  const PetscReal factors[4] = {1. / (last->gamma * a1), a2 / a1, a3 / a1, c * last->eta};
  PetscReal      *x;

  PetscFunctionBegin;
  if (!(a1 > 0.)) { /* the Krylov space ends in a null vector */
    ksp->reason = KSP_DIVERGED_BREAKDOWN;
    PetscFunctionReturn(0);
  }
  PetscCall(VecGetArray(ksp->vec_sol, &x));
  next_direction(minres->count, factors, z->values, minres->w->values, minres->w_old->values, x);
  PetscCall(VecRestoreArray(ksp->vec_sol, &x));
  swap(&minres->w, &minres->w_old);
  *last = (Recurrence){gamma, last->gamma, c, last->c, s, last->s, -s * last->eta};
  PetscFunctionReturn(0);
}

static PetscErrorCode Iterate(KSP ksp, Recurrence *last)
{
  BlockMinres *minres = ksp->data;
  PetscReal    delta, gamma;
  PetscBool    is_positive;

  PetscFunctionBegin;
  PetscCall(Multiply(minres, minres->z, minres->product));
  PetscCall(Dot(ksp, minres->product, minres->z, &delta));
  delta /= last->gamma * last->gamma;
  next_lanczos(minres->count,
               (PetscReal[3]){1. / last->gamma, delta / last->gamma, last->gamma / last->gamma_old},
               minres->product->values, minres->v->values, minres->v_old->values);
  swap(&minres->v, &minres->v_old);
  PetscCall(TellChanged(minres->v));
  swap(&minres->z, &minres->product); /* the old z is needed once more */
  PetscCall(Precondition(ksp, minres->v, minres->z));
  PetscCall(FindGamma(ksp, &gamma, &is_positive));
  ksp->its++;
  if (is_positive)
    PetscCall(Rotate(ksp, delta, gamma, last, minres->product));
  else
    ksp->reason = KSP_DIVERGED_INDEFINITE_PC;
  if (!ksp->reason)
    PetscCall(Judge(ksp, PetscAbsReal(last->eta)));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(KSP ksp)
{
  BlockMinres *minres = ksp->data;
  Recurrence   last;

  PetscFunctionBegin;
  if (!minres->solvers)
    PetscCall(FindSweep(ksp));
  ksp->its = 0;
  PetscCall(Start(ksp, &last));
  while (!ksp->reason && ksp->its < ksp->max_it) {
    if (last.gamma == 0.)
      ksp->reason = KSP_CONVERGED_HAPPY_BREAKDOWN;
    else
      PetscCall(Iterate(ksp, &last));
  }
  if (!ksp->reason)
    ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(KSP ksp)
{
  BlockMinres *minres;

  PetscFunctionBegin;
  PetscCall(PetscNew(&minres));
  ksp->data = minres;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 3));
  ksp->ops->setup = SetUp;
  ksp->ops->solve = Solve;
  ksp->ops->reset = Reset;
  ksp->ops->destroy = Destroy;
  ksp->ops->buildsolution = KSPBuildSolutionDefault;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingSetSolverTeam(KSP ksp, Team team)
{
  PetscBool is_fused;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, COUPLING_BLOCK_MINRES, &is_fused));
  if (is_fused)
    ((BlockMinres *)ksp->data)->team = team;
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingRegisterSolver(void)
{
  PetscFunctionBegin;
  PetscCall(KSPRegister(COUPLING_BLOCK_MINRES, Create));
  PetscFunctionReturn(0);
}
