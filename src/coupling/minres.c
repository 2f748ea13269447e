/* The system (5.13) as a block matrix on all ranks,

     [  A   -B ] [ q ]   [ flow  ]
     [ -B^T -C ] [ V ] = [ -push ]  =  L diag(S, -C) L^T,   L = [ I  B C^-1 ; 0  I ],

   fluid rows on the fluid ranks and six rows per free body on the first solid rank, solved by MINRES. The
   preconditioner L^-T diag(P, C^-1) L^-1 is positive definite and leaves the eigenvalues of P S and -1: it is
   one symmetric sweep over the two blocks of [ A B ; B^T C ], bodies first, with P ~ S^-1 of following.c.
   `thesis` takes diag(A, C)^-1 with the thesis's incomplete Cholesky of A. MINRES ends when the residual of
   the pressure rows with V eliminated is small; what it measures itself, the preconditioned norm of all rows,
   only says when to look. */
#include "coupling_impl.h"

struct BlockSystem {
  Coupling  coupling;                       /* borrowed */
  PetscInt  own;                            /* velocities on this rank: all or none */
  Mat       fluid, flow, transposed, solid; /* A, -B, -B^T, -C */
  Mat       outflow, collected, positive;   /* B, B^T, C of the preconditioner */
  Mat       matrix, preconditioner;
  KSP       ksp;
  Vec       right_side, solution;
  Vec       from, to;    /* of the fluid team, without arrays of their own */
  PC        cholesky;    /* of `thesis`; on the fluid team */
  PetscReal first, next; /* preconditioned residuals: at the start, and below which to look */
};

typedef struct BlockSystem BlockSystem;

PetscErrorCode CouplingDropBlocks(Coupling coupling)
{
  BlockSystem *system = coupling->system;

  PetscFunctionBegin;
  if (!system)
    PetscFunctionReturn(0);
  PetscCall(KSPDestroy(&system->ksp));
  PetscCall(MatDestroy(&system->matrix));
  PetscCall(MatDestroy(&system->preconditioner));
  PetscCall(MatDestroy(&system->fluid));
  PetscCall(MatDestroy(&system->flow));
  PetscCall(MatDestroy(&system->transposed));
  PetscCall(MatDestroy(&system->solid));
  PetscCall(MatDestroy(&system->outflow));
  PetscCall(MatDestroy(&system->collected));
  PetscCall(MatDestroy(&system->positive));
  PetscCall(VecDestroy(&system->right_side));
  PetscCall(VecDestroy(&system->solution));
  PetscCall(VecDestroy(&system->from));
  PetscCall(VecDestroy(&system->to));
  PetscCall(PCDestroy(&system->cholesky));
  PetscCall(PetscFree(coupling->system));
  PetscFunctionReturn(0);
}

/* Lets a function of the fluid team's vectors work on vectors of the world. */
static PetscErrorCode OnFluid(BlockSystem *system, Vec x, Vec y, PetscErrorCode (*work)(BlockSystem *))
{
  const PetscReal *from;
  PetscReal       *to;

  PetscFunctionBegin;
  if (!system->coupling->grid)
    PetscFunctionReturn(0);
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArrayWrite(y, &to));
  PetscCall(VecPlaceArray(system->from, from));
  PetscCall(VecPlaceArray(system->to, to));
  PetscCall(work(system));
  PetscCall(VecResetArray(system->to));
  PetscCall(VecResetArray(system->from));
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscFunctionReturn(0);
}

static PetscErrorCode MultiplyHere(BlockSystem *system)
{
  PetscFunctionBegin;
  PetscCall(PoissonMultiplyVector(system->coupling->poisson, system->from, system->to));
  PetscFunctionReturn(0);
}

static PetscErrorCode PreconditionHere(BlockSystem *system)
{
  PetscFunctionBegin;
  if (system->cholesky) {
    PetscCall(PCApply(system->cholesky, system->from, system->to));
    PetscCall(PoissonClearOutside(system->coupling->poisson, system->to));
    PetscCall(CouplingUseSealed(system->coupling, SEALED_BALANCE, system->to, system->to));
  } else
    PetscCall(CouplingPrecondition(system->coupling, system->from, system->to));
  PetscFunctionReturn(0);
}

static PetscErrorCode Multiply(Mat matrix, Vec x, Vec y)
{
  BlockSystem *system;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(matrix, &system));
  PetscCall(OnFluid(system, x, y, MultiplyHere));
  PetscFunctionReturn(0);
}

static PetscErrorCode PreconditionFluid(PC pc, Vec x, Vec y)
{
  BlockSystem *system;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &system));
  PetscCall(OnFluid(system, x, y, PreconditionHere));
  PetscFunctionReturn(0);
}

static PetscErrorCode PreconditionSolid(PC pc, Vec x, Vec y)
{
  BlockSystem     *system;
  const PetscReal *from;
  PetscReal       *to;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &system));
  if (!system->own)
    PetscFunctionReturn(0);
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArrayWrite(y, &to));
  PetscCall(MassApplyInverse(&system->coupling->mass, from, to));
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscFunctionReturn(0);
}

/* -B with its fluid rows where the cells are; entries with the same place are added. */
static PetscErrorCode CreateFlow(BlockSystem *system)
{
  const Coupling   coupling = system->coupling;
  const EntryList *list = &coupling->free_entries;
  PetscInt         start, columns = TWIST * coupling->free_count, *counts;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(coupling->cell_count, &counts));
  for (PetscInt n = 0; n < list->count && coupling->grid; n++)
    counts[list->entries[n].cell] = PetscMin(counts[list->entries[n].cell] + 3, columns);
  PetscCall(MatCreate(coupling->world, &system->flow));
  PetscCall(MatSetSizes(system->flow, coupling->cell_count, system->own, PETSC_DETERMINE, columns));
  PetscCall(MatSetType(system->flow, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(system->flow, 0, counts));
  PetscCall(MatMPIAIJSetPreallocation(system->flow, 0, system->own ? counts : NULL, 0,
                                      system->own ? NULL : counts));
  PetscCall(MatGetOwnershipRange(system->flow, &start, NULL));
  for (PetscInt n = 0; n < list->count && coupling->grid; n++) {
    const Entry    *entry = &list->entries[n];
    const PetscInt  row = start + entry->cell, into[3] = {entry->into[0], entry->into[1], entry->into[2]};
    const PetscReal values[3] = {-entry->by[0], -entry->by[1], -entry->by[2]};

    PetscCall(MatSetValues(system->flow, 1, &row, 3, into, values, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(system->flow, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(system->flow, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateTranspose(system->flow, &system->transposed));
  PetscCall(PetscFree(counts));
  PetscFunctionReturn(0);
}

/* One block of C, and its mirror image. */
static PetscErrorCode SetBlock(BlockSystem *system, PetscInt a, PetscInt b, const PetscReal *block)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < TWIST; i++)
    for (PetscInt j = 0; j < TWIST; j++) {
      PetscCall(
          MatSetValue(system->positive, TWIST * a + i, TWIST * b + j, block[TWIST * i + j], INSERT_VALUES));
      PetscCall(
          MatSetValue(system->positive, TWIST * b + j, TWIST * a + i, block[TWIST * i + j], INSERT_VALUES));
    }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolid(BlockSystem *system)
{
  const MassMatrix *mass = &system->coupling->mass;
  const PetscInt    columns = TWIST * mass->free_count;
  PetscInt         *counts;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(columns, &counts));
  for (PetscInt n = 0; n < columns; n++)
    counts[n] = TWIST;
  for (PetscInt p = 0; p < mass->pairs.count; p++)
    for (PetscInt i = 0; i < TWIST; i++) {
      counts[TWIST * mass->pairs.pairs[p].a + i] += TWIST;
      counts[TWIST * mass->pairs.pairs[p].b + i] += TWIST;
    }
  PetscCall(MatCreate(system->coupling->world, &system->positive));
  PetscCall(MatSetSizes(system->positive, system->own, system->own, columns, columns));
  PetscCall(MatSetType(system->positive, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(system->positive, 0, counts));
  PetscCall(MatMPIAIJSetPreallocation(system->positive, 0, system->own ? counts : NULL, 0, NULL));
  for (PetscInt b = 0; b < mass->free_count && system->own; b++)
    PetscCall(SetBlock(system, b, b, &mass->diagonal[TWIST * TWIST * b]));
  for (PetscInt p = 0; p < mass->pairs.count && system->own; p++)
    PetscCall(SetBlock(system, mass->pairs.pairs[p].a, mass->pairs.pairs[p].b, mass->pairs.pairs[p].block));
  PetscCall(MatAssemblyBegin(system->positive, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(system->positive, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDuplicate(system->positive, MAT_COPY_VALUES, &system->solid));
  PetscCall(MatScale(system->solid, -1.));
  PetscCall(PetscFree(counts));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMatrices(BlockSystem *system)
{
  const Coupling coupling = system->coupling;
  const PetscInt cells = coupling->cell_count;
  Mat            blocks[4], sweep[4] = {NULL, NULL, NULL, NULL};

  PetscFunctionBegin;
  PetscCall(MatCreateShell(coupling->world, cells, cells, PETSC_DETERMINE, PETSC_DETERMINE, system,
                           &system->fluid));
  PetscCall(MatShellSetOperation(system->fluid, MATOP_MULT, (void (*)(void))Multiply));
  PetscCall(CreateFlow(system));
  PetscCall(CreateSolid(system));
  blocks[0] = sweep[0] = system->fluid;
  blocks[1] = system->flow;
  blocks[2] = system->transposed;
  blocks[3] = system->solid;
  if (coupling->config.solver != COUPLING_THESIS) {
    PetscCall(MatDuplicate(system->flow, MAT_COPY_VALUES, &system->outflow));
    PetscCall(MatScale(system->outflow, -1.));
    PetscCall(MatCreateTranspose(system->outflow, &system->collected));
    sweep[1] = system->outflow;
    sweep[2] = system->collected;
  }
  sweep[3] = system->positive;
  PetscCall(MatCreateNest(coupling->world, 2, NULL, 2, NULL, blocks, &system->matrix));
  PetscCall(MatCreateNest(coupling->world, 2, NULL, 2, NULL, sweep, &system->preconditioner));
  PetscCall(MatCreateVecs(system->matrix, &system->solution, &system->right_side));
  PetscFunctionReturn(0);
}

enum { LOOK_AFTER = 10 }; /* iterations: from a good guess the norm may not fall as far as it says it must */

/* The residual that counts, on all ranks; a part of the world has no fluid and is told. */
static PetscErrorCode Converged(KSP ksp, PetscInt iteration, PetscReal norm, KSPConvergedReason *reason,
                                void *context)
{
  BlockSystem     *system = context;
  const Coupling   coupling = system->coupling;
  PetscReal        residual = 0.;
  const PetscReal *values;
  Vec              solution;

  PetscFunctionBegin;
  *reason = KSP_CONVERGED_ITERATING;
  if (iteration == 0)
    system->next = norm; /* the guess may be the answer */
  else if (iteration == 1)
    system->next = 10. * coupling->config.tolerance * system->first;
  if (iteration == 0)
    system->first = norm;
  if (PetscIsInfOrNanReal(norm))
    *reason = KSP_DIVERGED_NANORINF;
  if ((norm > system->next && iteration % LOOK_AFTER && iteration < coupling->config.iterations) || *reason)
    PetscFunctionReturn(0);
  PetscCall(KSPBuildSolution(ksp, NULL, &solution));
  if (coupling->grid) {
    PetscCall(VecGetArrayRead(solution, &values));
    PetscCall(VecPlaceArray(system->from, values));
    PetscCall(CouplingMeasure(coupling, system->from, &residual));
    PetscCall(VecResetArray(system->from));
    PetscCall(VecRestoreArrayRead(solution, &values));
  }
  PetscCallMPI(MPI_Bcast(&residual, 1, MPIU_REAL, 0, coupling->world));
  if (residual <= coupling->config.tolerance)
    *reason = KSP_CONVERGED_RTOL;
  PetscFunctionReturn(0);
}

static PetscErrorCode SetPart(BlockSystem *system, KSP part, PetscErrorCode (*apply)(PC, Vec, Vec))
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(KSPSetType(part, KSPPREONLY));
  PetscCall(KSPGetPC(part, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, system));
  PetscCall(PCShellSetApply(pc, apply));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(BlockSystem *system)
{
  const Coupling coupling = system->coupling;
  PetscInt       count;
  IS             rows[2];
  KSP           *parts;
  PC             pc;

  PetscFunctionBegin;
  PetscCall(KSPCreate(coupling->world, &system->ksp));
  PetscCall(KSPSetOptionsPrefix(system->ksp, "coupled_blocks_"));
  PetscCall(KSPSetType(system->ksp, KSPMINRES));
  PetscCall(KSPSetOperators(system->ksp, system->matrix, system->preconditioner));
  PetscCall(KSPSetTolerances(system->ksp, 1e-16, 1e-50, PETSC_DEFAULT, coupling->config.iterations));
  PetscCall(KSPSetConvergenceTest(system->ksp, Converged, system, NULL));
  PetscCall(KSPGetPC(system->ksp, &pc));
  PetscCall(PCSetType(pc, PCFIELDSPLIT));
  PetscCall(PCFieldSplitSetType(pc, coupling->config.solver == COUPLING_THESIS
                                        ? PC_COMPOSITE_ADDITIVE
                                        : PC_COMPOSITE_SYMMETRIC_MULTIPLICATIVE));
  PetscCall(MatNestGetISs(system->matrix, rows, NULL));
  PetscCall(PCFieldSplitSetIS(pc, "solid", rows[1]));
  PetscCall(PCFieldSplitSetIS(pc, "fluid", rows[0]));
  PetscCall(KSPSetFromOptions(system->ksp));
  PetscCall(PCSetUp(pc));
  PetscCall(PCFieldSplitGetSubKSP(pc, &count, &parts));
  PetscCall(SetPart(system, parts[0], PreconditionSolid));
  PetscCall(SetPart(system, parts[1], PreconditionFluid));
  PetscCall(PetscFree(parts));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(Coupling coupling)
{
  BlockSystem *system;
  PetscMPIInt  rank;

  PetscFunctionBegin;
  PetscCall(PetscNew(&system));
  coupling->system = system;
  system->coupling = coupling;
  PetscCallMPI(MPI_Comm_rank(coupling->world, &rank));
  system->own = rank == team_first_solid_rank(coupling->team) ? TWIST * coupling->free_count : 0;
  if (coupling->grid) {
    PetscCall(VecCreateMPIWithArray(coupling->fluid, 1, coupling->cell_count, PETSC_DETERMINE, NULL,
                                    &system->from));
    PetscCall(
        VecCreateMPIWithArray(coupling->fluid, 1, coupling->cell_count, PETSC_DETERMINE, NULL, &system->to));
  }
  if (coupling->grid && coupling->config.solver == COUPLING_THESIS)
    PetscCall(CouplingCreateCholesky(coupling, &system->cholesky));
  PetscCall(CreateMatrices(system));
  PetscCall(CreateSolver(system));
  PetscFunctionReturn(0);
}

/* Fluid rows come first on every rank. */
static PetscErrorCode FillVector(BlockSystem *system, Vec fluid, PetscReal factor, const PetscReal *twists,
                                 Vec vector)
{
  const PetscInt   cells = system->coupling->cell_count;
  const PetscReal *from;
  PetscReal       *to;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(vector, &to));
  if (fluid) {
    PetscCall(VecGetArrayRead(fluid, &from));
    PetscCall(PetscArraycpy(to, from, cells));
    PetscCall(VecRestoreArrayRead(fluid, &from));
  }
  for (PetscInt n = 0; n < system->own; n++)
    to[cells + n] = factor * twists[n];
  PetscCall(VecRestoreArrayWrite(vector, &to));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingSolveBlocks(Coupling coupling, CouplingReport *report)
{
  BlockSystem     *system;
  const PetscReal *from;
  PetscReal       *to;

  PetscFunctionBegin;
  if (!coupling->system)
    PetscCall(Create(coupling));
  system = coupling->system;
  if (coupling->grid) {
    PetscCall(CouplingUseSealed(coupling, SEALED_BALANCE, coupling->flow, coupling->flow));
    PetscCall(CouplingEliminate(coupling, coupling->solution, coupling->motion));
  }
  PetscCallMPI(MPI_Bcast(coupling->motion, (PetscMPIInt)(TWIST * coupling->free_count), MPIU_REAL, 0,
                         coupling->world));
  PetscCall(FillVector(system, coupling->flow, -1., coupling->push, system->right_side));
  PetscCall(FillVector(system, coupling->solution, 1., coupling->motion, system->solution));
  PetscCall(KSPSetInitialGuessNonzero(system->ksp, PETSC_TRUE));
  PetscCall(KSPSolve(system->ksp, system->right_side, system->solution));
  PetscCall(KSPGetConvergedReason(system->ksp, &report->reason));
  PetscCall(KSPGetIterationNumber(system->ksp, &report->iterations));
  if (coupling->grid) {
    PetscCall(VecGetArrayRead(system->solution, &from));
    PetscCall(VecGetArrayWrite(coupling->solution, &to));
    PetscCall(PetscArraycpy(to, from, coupling->cell_count));
    PetscCall(VecRestoreArrayWrite(coupling->solution, &to));
    PetscCall(VecRestoreArrayRead(system->solution, &from));
  }
  PetscFunctionReturn(0);
}
