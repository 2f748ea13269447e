/* The system (5.13) as a block matrix on all ranks,

     [  A   -B ] [ q ]   [ flow  ]
     [ -B^T -C ] [ V ] = [ -push ]  =  L diag(S, -C) L^T,   L = [ I  B C^-1 ; 0  I ],

   fluid rows on the fluid ranks and six rows per free body on the first solid rank, solved by MINRES. The
   preconditioner L^-T diag(P, C^-1) L^-1 is positive definite and leaves the eigenvalues of P S and -1: it is
   one symmetric sweep over the two blocks of [ A B ; B^T C ], bodies first, with P ~ S^-1 of deflation.c.
   `thesis` takes diag(A, C)^-1 with the thesis's incomplete Cholesky of A. MINRES ends when the residual of
   the pressure rows with V eliminated is small; what it measures itself, the preconditioned norm of all rows,
   only says when to look. Round-off lets the two part: the residual of MINRES's iterate ends at about
   epsilon kappa^2 (Sleijpen, van der Vorst & Modersitzki 2000), which very light bodies make more than the
   tolerance, while the recurrence goes on to zero. Then it starts again from its iterate.

   Solids that deform are eliminated: A here is A + B_d C_d^-1 B_d^T, and the right side has what they bring.

   A is a MATSHELL and MINRES that of block_minres.c, unless PETSc's options ask for entries: a matrix that is
   to be viewed or written, or another preconditioner of the whole or of A. Then A is assembled, the whole is
   one MATAIJ, and KSP and PC are PETSc's own. */
#include "../coupling_impl.h"

#define PREFIX "coupled_blocks_"

typedef enum { FORM_MATRIX_FREE, FORM_ASSEMBLED } SystemForm;

struct BlockSystem {
  Coupling   coupling; /* borrowed */
  SystemForm form;
  PetscBool  is_current;                     /* the matrices are those of the last CouplingSetFluid */
  PetscInt   free_count;                     /* of the bodies that they are for */
  PetscInt   own;                            /* velocities on this rank: all or none */
  Mat        fluid, flow, transposed, solid; /* A, -B, -B^T, -C */
  Mat        outflow, collected, positive;   /* B, B^T, C of the preconditioner */
  Mat        matrix, preconditioner;
  Mat        whole; /* `matrix` as one; null unless assembled */
  KSP        ksp;
  Vec        right_side, solution;
  Vec        from, to;       /* of the fluid team, without arrays of their own */
  PC         cholesky;       /* of `thesis`; on the fluid team */
  PetscReal  guess_residual; /* what counts, before the first iteration */
  PetscReal  residual;       /* the same at the last look */
  PetscReal  next;           /* preconditioned residual below which to look */
  PetscReal  best;           /* residual at the last look that found half of the one before or less */
  PetscReal  best_norm;      /* what MINRES measured there */
  PetscInt   iterations;     /* that are left */
  PetscReal *twists;         /* scratch of the size of V */
};

typedef struct BlockSystem BlockSystem;

static PetscErrorCode DropMatrices(BlockSystem *system)
{
  PetscFunctionBegin;
  PetscCall(KSPDestroy(&system->ksp));
  PetscCall(MatDestroy(&system->matrix));
  PetscCall(MatDestroy(&system->whole));
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
  PetscCall(PCDestroy(&system->cholesky));
  PetscCall(PetscFree(system->twists));
  PetscFunctionReturn(0);
}

PetscErrorCode CoupledSystemDropBlocks(CoupledSystem *system)
{
  BlockSystem *blocks = system->blocks;

  PetscFunctionBegin;
  if (!blocks)
    PetscFunctionReturn(0);
  PetscCall(DropMatrices(blocks));
  PetscCall(VecDestroy(&blocks->from));
  PetscCall(VecDestroy(&blocks->to));
  PetscCall(PetscFree(system->blocks));
  PetscFunctionReturn(0);
}

void coupled_system_outdate_blocks(CoupledSystem *system)
{
  if (system->blocks)
    system->blocks->is_current = PETSC_FALSE;
}

/* Lets a function of the fluid team's vectors work on vectors of the world. */
static PetscErrorCode OnFluid(BlockSystem *system, Vec x, Vec y, PetscErrorCode (*work)(BlockSystem *))
{
  const PetscReal *from;
  PetscReal       *to;

  PetscFunctionBegin;
  if (!has_fluid(system->coupling))
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
  PetscCall(PoissonMultiplyVector(system->coupling->system.poisson, system->from, system->to));
  PetscCall(CouplingAddDeforming(system->coupling, system->from, system->to));
  PetscFunctionReturn(0);
}

static PetscErrorCode PreconditionHere(BlockSystem *system)
{
  PetscFunctionBegin;
  if (system->cholesky) {
    PetscCall(PCApply(system->cholesky, system->from, system->to));
    PetscCall(PoissonClearOutside(system->coupling->system.poisson, system->to));
    PetscCall(
        CoupledSystemUseNullSpace(&system->coupling->system, NULL_SPACE_REMOVE, system->to, system->to));
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
  PetscCall(CouplingAnswer(system->coupling));
  PetscFunctionReturn(0);
}

static PetscErrorCode PreconditionFluid(PC pc, Vec x, Vec y)
{
  BlockSystem *system;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &system));
  PetscCall(OnFluid(system, x, y, PreconditionHere));
  PetscCall(CouplingAnswer(system->coupling));
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
  PetscCall(SolidSystemPrecondition(system->coupling->system.solid, from, to));
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscFunctionReturn(0);
}

/* z = y - B x: the velocities go to all ranks, and each adds what they bring into its cells. */
static PetscErrorCode AddFlow(Mat matrix, Vec x, Vec y, Vec z)
{
  BlockSystem     *system;
  const PetscReal *from;
  PetscReal       *to;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(matrix, &system));
  PetscCall(VecGetArrayRead(x, &from));
  for (PetscInt n = 0; n < system->own; n++)
    system->twists[n] = -from[n];
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscCallMPI(MPI_Bcast(system->twists, (PetscMPIInt)(TWIST * system->free_count), MPIU_REAL,
                         team_first_solid_rank(system->coupling->team), system->coupling->world));
  if (y != z)
    PetscCall(VecCopy(y, z));
  if (!has_fluid(system->coupling))
    PetscFunctionReturn(0);
  PetscCall(VecGetArray(z, &to));
  coupling_matrix_multiply(&system->coupling->system.matrix, system->free_count, system->twists, to);
  PetscCall(VecRestoreArray(z, &to));
  PetscFunctionReturn(0);
}

/* y = -B^T x, summed on the rank of the bodies. */
static PetscErrorCode GatherFlow(Mat matrix, Vec x, Vec y)
{
  BlockSystem     *system;
  PetscInt         count;
  const PetscReal *from;
  PetscReal       *to;
  ReproducibleSum *sums;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(matrix, &system));
  count = TWIST * system->free_count;
  PetscCall(PetscCalloc1(count, &sums));
  if (has_fluid(system->coupling)) {
    PetscCall(VecGetArrayRead(x, &from));
    coupling_matrix_multiply_transpose(&system->coupling->system.matrix, system->free_count, from, sums);
    PetscCall(VecRestoreArrayRead(x, &from));
  }
  PetscCall(TeamAwaitFluid(system->coupling->team));
  PetscCall(SumOverRanks(system->coupling->world, count, sums, system->twists));
  PetscCall(PetscFree(sums));
  PetscCall(VecGetArrayWrite(y, &to));
  for (PetscInt n = 0; n < system->own; n++)
    to[n] = -system->twists[n];
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscFunctionReturn(0);
}

/* -B entry by entry, without zeros. */
static PetscErrorCode AssembleFlow(BlockSystem *system)
{
  const CouplingMatrix *rows = &system->coupling->system.matrix;
  const PetscInt        cells = system->coupling->cell_count,
                 bodies = has_fluid(system->coupling) ? system->free_count : 0;
  PetscInt *counts, start;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(cells, &counts));
  for (PetscInt r = 0; r < (bodies ? rows->first[bodies] : 0); r++)
    counts[rows->cells[r]] += TWIST;
  PetscCall(MatCreate(system->coupling->world, &system->flow));
  PetscCall(MatSetSizes(system->flow, cells, system->own, PETSC_DETERMINE,
                        TWIST * system->coupling->solids.free_count));
  PetscCall(MatSetType(system->flow, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(system->flow, 0, counts));
  PetscCall(MatMPIAIJSetPreallocation(system->flow, 0, system->own ? counts : NULL, 0,
                                      system->own ? NULL : counts));
  PetscCall(MatGetOwnershipRange(system->flow, &start, NULL));
  for (PetscInt b = 0; b < bodies; b++)
    for (PetscInt r = rows->first[b]; r < rows->first[b + 1]; r++)
      for (PetscInt n = 0; n < TWIST; n++)
        if (rows->values[TWIST * r + n] != 0.)
          PetscCall(MatSetValue(system->flow, start + rows->cells[r], TWIST * b + n,
                                -rows->values[TWIST * r + n], INSERT_VALUES));
  PetscCall(MatAssemblyBegin(system->flow, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(system->flow, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(counts));
  PetscFunctionReturn(0);
}

static PetscErrorCode MultiplyFlow(Mat matrix, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(VecSet(y, 0.));
  PetscCall(AddFlow(matrix, x, y, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateFlowShell(BlockSystem *system, Mat *flow)
{
  PetscFunctionBegin;
  PetscCall(MatCreateShell(system->coupling->world, system->coupling->cell_count, system->own,
                           PETSC_DETERMINE, TWIST * system->coupling->solids.free_count, system, flow));
  PetscCall(MatShellSetOperation(*flow, MATOP_MULT, (void (*)(void))MultiplyFlow));
  PetscCall(MatShellSetOperation(*flow, MATOP_MULT_TRANSPOSE, (void (*)(void))GatherFlow));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateFlow(BlockSystem *system)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(TWIST * system->coupling->solids.free_count, &system->twists));
  if (system->form == FORM_ASSEMBLED)
    PetscCall(AssembleFlow(system));
  else {
    PetscCall(CreateFlowShell(system, &system->flow));
    PetscCall(MatShellSetOperation(system->flow, MATOP_MULT_ADD, (void (*)(void))AddFlow));
  }
  PetscCall(MatCreateTranspose(system->flow, &system->transposed));
  PetscFunctionReturn(0);
}

/* A matrix takes the place of the one before, where others hold that. */
static PetscErrorCode Replace(Mat *matrix, Mat with)
{
  PetscFunctionBegin;
  if (*matrix)
    PetscCall(MatHeaderReplace(*matrix, &with));
  else
    *matrix = with;
  PetscFunctionReturn(0);
}

/* One block of C, and its mirror image. */
static PetscErrorCode SetBlock(Mat matrix, PetscInt a, PetscInt b, const PetscReal *block)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < TWIST; i++)
    for (PetscInt j = 0; j < TWIST; j++) {
      PetscCall(MatSetValue(matrix, TWIST * a + i, TWIST * b + j, block[TWIST * i + j], INSERT_VALUES));
      PetscCall(MatSetValue(matrix, TWIST * b + j, TWIST * a + i, block[TWIST * i + j], INSERT_VALUES));
    }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolid(BlockSystem *system)
{
  const SolidSystemBlocks mass = solid_system_blocks(system->coupling->system.solid);
  const PetscInt          columns = TWIST * mass.block_count;
  PetscInt               *counts;
  Mat                     positive, solid;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(columns, &counts));
  for (PetscInt n = 0; n < columns; n++)
    counts[n] = TWIST;
  for (PetscInt p = 0; p < mass.pair_count; p++)
    for (PetscInt i = 0; i < TWIST; i++) {
      counts[TWIST * mass.pairs[p].a + i] += TWIST;
      counts[TWIST * mass.pairs[p].b + i] += TWIST;
    }
  PetscCall(MatCreate(system->coupling->world, &positive));
  PetscCall(MatSetSizes(positive, system->own, system->own, columns, columns));
  PetscCall(MatSetType(positive, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(positive, 0, counts));
  PetscCall(MatMPIAIJSetPreallocation(positive, 0, system->own ? counts : NULL, 0, NULL));
  PetscCall(MatSetOption(positive, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  for (PetscInt b = 0; b < mass.block_count && system->own; b++)
    PetscCall(SetBlock(positive, b, b, &mass.diagonal[TWIST * TWIST * b]));
  for (PetscInt p = 0; p < mass.pair_count && system->own; p++)
    PetscCall(SetBlock(positive, mass.pairs[p].a, mass.pairs[p].b, mass.pairs[p].block));
  PetscCall(MatAssemblyBegin(positive, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(positive, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDuplicate(positive, MAT_COPY_VALUES, &solid));
  PetscCall(MatScale(solid, -1.));
  PetscCall(Replace(&system->positive, positive));
  PetscCall(Replace(&system->solid, solid));
  PetscCall(PetscFree(counts));
  PetscFunctionReturn(0);
}

/* A with the world's numbers of rows, which are the fluid team's: the fluid ranks come first. */
static PetscErrorCode AssembleFluid(BlockSystem *system)
{
  const Coupling coupling = system->coupling;
  const PetscInt most = 2 * DIM + 1;
  PetscInt       start = 0, end = 0;
  Mat            rows = NULL;

  PetscFunctionBegin;
  PetscCall(MatCreateAIJ(coupling->world, coupling->cell_count, coupling->cell_count, PETSC_DETERMINE,
                         PETSC_DETERMINE, most, NULL, most, NULL, &system->fluid));
  PetscCall(MatSetOption(system->fluid, MAT_SYMMETRIC, PETSC_TRUE));
  if (has_fluid(coupling)) {
    PetscCall(CouplingAssemble(coupling, &rows));
    PetscCall(MatGetOwnershipRange(rows, &start, &end));
  }
  for (PetscInt row = start; row < end; row++) {
    PetscInt           count;
    const PetscInt    *columns;
    const PetscScalar *values;

    PetscCall(MatGetRow(rows, row, &count, &columns, &values));
    PetscCall(MatSetValues(system->fluid, 1, &row, count, columns, values, INSERT_VALUES));
    PetscCall(MatRestoreRow(rows, row, &count, &columns, &values));
  }
  PetscCall(MatAssemblyBegin(system->fluid, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(system->fluid, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDestroy(&rows));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateFluid(BlockSystem *system)
{
  const Coupling coupling = system->coupling;
  const PetscInt cells = coupling->cell_count;

  PetscFunctionBegin;
  if (system->form == FORM_ASSEMBLED)
    PetscCall(AssembleFluid(system));
  else {
    PetscCall(MatCreateShell(coupling->world, cells, cells, PETSC_DETERMINE, PETSC_DETERMINE, system,
                             &system->fluid));
    PetscCall(MatShellSetOperation(system->fluid, MATOP_MULT, (void (*)(void))Multiply));
  }
  PetscFunctionReturn(0);
}

/* [ A B ; B^T C ] for a sweep by PETSc's own fieldsplit; block_minres.c has the blocks of the matrix itself.
 */
static PetscErrorCode CreatePreconditioner(BlockSystem *system)
{
  Mat       sweep[4] = {system->fluid, NULL, NULL, system->positive};
  PetscBool is_fused;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)system->ksp, COUPLING_BLOCK_MINRES, &is_fused));
  if (!is_fused && system->coupling->config.solver != COUPLING_THESIS) {
    PetscCall(CreateFlowShell(system, &system->outflow));
    PetscCall(MatScale(system->outflow, -1.));
    PetscCall(MatCreateTranspose(system->outflow, &system->collected));
    sweep[1] = system->outflow;
    sweep[2] = system->collected;
  }
  PetscCall(MatCreateNest(system->coupling->world, 2, NULL, 2, NULL, sweep, &system->preconditioner));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMatrices(BlockSystem *system)
{
  Mat blocks[4];

  PetscFunctionBegin;
  PetscCall(CreateFluid(system));
  PetscCall(CreateFlow(system));
  PetscCall(CreateSolid(system));
  blocks[0] = system->fluid;
  blocks[1] = system->flow;
  blocks[2] = system->transposed;
  blocks[3] = system->solid;
  PetscCall(MatCreateNest(system->coupling->world, 2, NULL, 2, NULL, blocks, &system->matrix));
  PetscCall(CreatePreconditioner(system));
  if (system->form == FORM_ASSEMBLED)
    PetscCall(MatConvert(system->matrix, MATAIJ, MAT_INITIAL_MATRIX, &system->whole));
  PetscCall(MatCreateVecs(system->matrix, &system->solution, &system->right_side));
  PetscFunctionReturn(0);
}

/* The residual that counts, on all ranks; a part of the world has no fluid and is told. */
static PetscErrorCode Look(BlockSystem *system, PetscReal *residual)
{
  const Coupling   coupling = system->coupling;
  const PetscReal *values;
  Vec              solution;

  PetscFunctionBegin;
  *residual = 0.;
  PetscCall(KSPBuildSolution(system->ksp, NULL, &solution));
  if (has_fluid(coupling)) {
    PetscCall(VecGetArrayRead(solution, &values));
    PetscCall(VecPlaceArray(system->from, values));
    PetscCall(CouplingMeasure(coupling, system->from, residual));
    PetscCall(VecResetArray(system->from));
    PetscCall(VecRestoreArrayRead(solution, &values));
  }
  PetscCall(CouplingAnswer(coupling));
  PetscCall(TeamAwaitFluid(coupling->team));
  PetscCallMPI(MPI_Bcast(residual, 1, MPIU_REAL, 0, coupling->world));
  PetscFunctionReturn(0);
}

enum { LOOK_AFTER = 20 }; /* iterations: the two norms need not fall together */

/* Whether a fall of what MINRES measures by a hundred has not halved the residual. */
static PetscBool has_parted(BlockSystem *system, PetscInt iteration, PetscReal norm)
{
  if (iteration && system->residual > 0.5 * system->best)
    return norm < 0.01 * system->best_norm ? PETSC_TRUE : PETSC_FALSE;
  system->best = system->residual;
  system->best_norm = norm;
  return PETSC_FALSE;
}

static PetscErrorCode Converged(KSP ksp, PetscInt iteration, PetscReal norm, KSPConvergedReason *reason,
                                void *context)
{
  BlockSystem         *system = context;
  const CouplingConfig config = system->coupling->config;
  const PetscReal      early = 3.; /* a look costs less than an iteration too many */
  PetscReal            residual = system->guess_residual;

  PetscFunctionBegin;
  (void)ksp;
  *reason = PetscIsInfOrNanReal(norm) ? KSP_DIVERGED_NANORINF : KSP_CONVERGED_ITERATING;
  if (*reason ||
      (iteration && norm > system->next && iteration % LOOK_AFTER && iteration < system->iterations))
    PetscFunctionReturn(0);
  if (iteration)
    PetscCall(Look(system, &residual));
  system->residual = residual;
  if (residual <= config.tolerance)
    *reason = KSP_CONVERGED_RTOL;
  else if (has_parted(system, iteration, norm))
    *reason = KSP_DIVERGED_BREAKDOWN;
  else
    system->next = early * norm * config.tolerance / residual;
  PetscFunctionReturn(0);
}

/* Unless the options name another: what this file has for a block. */
static PetscErrorCode SetPart(BlockSystem *system, KSP part, PetscErrorCode (*apply)(PC, Vec, Vec))
{
  PetscBool   has_type, has_pc;
  const char *prefix;
  PC          pc;

  PetscFunctionBegin;
  PetscCall(KSPGetOptionsPrefix(part, &prefix));
  PetscCall(PetscOptionsHasName(NULL, prefix, "-ksp_type", &has_type));
  PetscCall(PetscOptionsHasName(NULL, prefix, "-pc_type", &has_pc));
  if (!has_type)
    PetscCall(KSPSetType(part, KSPPREONLY));
  PetscCall(KSPGetPC(part, &pc));
  if (!has_pc) {
    PetscCall(PCSetType(pc, PCSHELL));
    PetscCall(PCShellSetContext(pc, system));
    PetscCall(PCShellSetApply(pc, apply));
  }
  PetscCall(KSPSetFromOptions(part));
  PetscFunctionReturn(0);
}

/* Whether the options want something that needs the entries of A. */
static PetscErrorCode FindForm(BlockSystem *system)
{
  static const char *const names[] = {"-ksp_view_mat", "-ksp_view_pmat", "-fieldsplit_fluid_pc_type"};
  char                     type[64] = PCFIELDSPLIT;

  PetscFunctionBegin;
  system->form = FORM_MATRIX_FREE;
  for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(names); n++) {
    PetscBool is_given;

    PetscCall(PetscOptionsHasName(NULL, PREFIX, names[n], &is_given));
    if (is_given)
      system->form = FORM_ASSEMBLED;
  }
  PetscCall(PetscOptionsGetString(NULL, PREFIX, "-pc_type", type, sizeof(type), NULL));
  if (strcmp(type, PCFIELDSPLIT))
    system->form = FORM_ASSEMBLED;
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(BlockSystem *system)
{
  const Coupling coupling = system->coupling;
  PC             pc;

  PetscFunctionBegin;
  PetscCall(FindForm(system));
  PetscCall(KSPCreate(coupling->world, &system->ksp));
  PetscCall(KSPSetOptionsPrefix(system->ksp, PREFIX));
  PetscCall(KSPSetType(system->ksp, system->form == FORM_ASSEMBLED ? KSPMINRES : COUPLING_BLOCK_MINRES));
  PetscCall(KSPSetConvergenceTest(system->ksp, Converged, system, NULL));
  PetscCall(KSPGetPC(system->ksp, &pc));
  PetscCall(PCSetType(pc, PCFIELDSPLIT));
  PetscCall(PCFieldSplitSetType(pc, coupling->config.solver == COUPLING_THESIS
                                        ? PC_COMPOSITE_ADDITIVE
                                        : PC_COMPOSITE_SYMMETRIC_MULTIPLICATIVE));
  PetscCall(KSPSetFromOptions(system->ksp));
  PetscCall(CouplingSetSolverTeam(system->ksp, coupling->team));
  PetscFunctionReturn(0);
}

/* The blocks of the fieldsplit, each with its solver; another preconditioner is for the whole. */
static PetscErrorCode SetOperators(BlockSystem *system)
{
  const Mat matrix = system->whole ? system->whole : system->matrix;
  PetscBool is_split;
  PetscInt  count;
  IS        rows[2];
  KSP      *parts;
  PC        pc;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(system->ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCFIELDSPLIT, &is_split));
  PetscCall(KSPSetOperators(system->ksp, matrix, is_split ? system->preconditioner : matrix));
  if (!is_split)
    PetscFunctionReturn(0);
  PetscCall(MatNestGetISs(system->matrix, rows, NULL));
  PetscCall(PCFieldSplitSetIS(pc, "solid", rows[1]));
  PetscCall(PCFieldSplitSetIS(pc, "fluid", rows[0]));
  PetscCall(PCSetUp(pc));
  PetscCall(PCFieldSplitGetSubKSP(pc, &count, &parts));
  PetscCall(SetPart(system, parts[0], PreconditionSolid));
  PetscCall(SetPart(system, parts[1], PreconditionFluid));
  PetscCall(PetscFree(parts));
  PetscFunctionReturn(0);
}

/* The solvers of the blocks are born with the first matrix; whoever checks that each option has a reader
   comes before that. */
static PetscErrorCode ClaimOptions(void)
{
  static const char *const prefixes[] = {PREFIX "fieldsplit_fluid_", PREFIX "fieldsplit_solid_"};
  PetscInt                 count;
  char                   **names, **values;

  PetscFunctionBegin;
  PetscCall(PetscOptionsLeftGet(NULL, &count, &names, &values));
  for (PetscInt n = 0; n < count; n++)
    for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(prefixes); p++)
      if (!strncmp(names[n], prefixes[p], strlen(prefixes[p]))) {
        char      name[PETSC_MAX_PATH_LEN];
        PetscBool is_set;

        snprintf(name, sizeof(name), "-%s", names[n]);
        PetscCall(PetscOptionsHasName(NULL, NULL, name, &is_set));
      }
  PetscCall(PetscOptionsLeftRestore(NULL, &count, &names, &values));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingCreateBlocks(Coupling coupling)
{
  BlockSystem *system;

  PetscFunctionBegin;
  PetscCall(CouplingRegisterSolver());
  PetscCall(PetscNew(&system));
  coupling->system.blocks = system;
  system->coupling = coupling;
  if (has_fluid(coupling)) {
    PetscCall(VecCreateMPIWithArray(coupling->fluid, 1, coupling->cell_count, PETSC_DETERMINE, NULL,
                                    &system->from));
    PetscCall(
        VecCreateMPIWithArray(coupling->fluid, 1, coupling->cell_count, PETSC_DETERMINE, NULL, &system->to));
  }
  PetscCall(CreateSolver(system));
  PetscCall(ClaimOptions());
  PetscFunctionReturn(0);
}

static PetscErrorCode SetUp(BlockSystem *system)
{
  const Coupling coupling = system->coupling;
  PetscMPIInt    rank;

  PetscFunctionBegin;
  if (system->matrix)
    PetscCall(DropMatrices(system));
  if (!system->ksp)
    PetscCall(CreateSolver(system));
  PetscCallMPI(MPI_Comm_rank(coupling->world, &rank));
  system->free_count = coupling->solids.free_count;
  system->own = rank == team_first_solid_rank(coupling->team) ? TWIST * coupling->solids.free_count : 0;
  if (has_fluid(coupling) && coupling->config.solver == COUPLING_THESIS)
    PetscCall(CouplingCreateCholesky(coupling, &system->cholesky));
  PetscCall(CreateMatrices(system));
  PetscCall(SetOperators(system));
  PetscFunctionReturn(0);
}

/* Solvers that hold nothing of the matrices but the matrices themselves see new ones in their place. */
static PetscErrorCode Update(BlockSystem *system)
{
  PetscBool is_fused;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)system->ksp, COUPLING_BLOCK_MINRES, &is_fused));
  if (system->matrix && is_fused && system->free_count == system->coupling->solids.free_count &&
      system->coupling->config.solver == COUPLING_MINRES)
    PetscCall(CreateSolid(system));
  else
    PetscCall(SetUp(system));
  system->is_current = PETSC_TRUE;
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

/* The right side, and the first guess with the velocities that belong to its pressure. */
static PetscErrorCode SetVectors(BlockSystem *system)
{
  const Coupling coupling = system->coupling;
  PetscReal     *motion;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(TWIST * coupling->solids.free_count, &motion));
  system->guess_residual = coupling->system.guess_residual;
  PetscCall(TeamAwaitFluid(coupling->team));
  PetscCallMPI(MPI_Bcast(&system->guess_residual, 1, MPIU_REAL, 0, coupling->world));
  if (has_fluid(coupling)) {
    PetscCall(CoupledSystemUseNullSpace(&coupling->system, NULL_SPACE_REMOVE, coupling->system.flow,
                                        coupling->system.flow));
    PetscCall(CouplingEliminate(coupling, coupling->system.solution, motion));
  }
  PetscCallMPI(
      MPI_Bcast(motion, (PetscMPIInt)(TWIST * coupling->solids.free_count), MPIU_REAL, 0, coupling->world));
  PetscCall(FillVector(system, coupling->system.flow, -1., coupling->system.push, system->right_side));
  PetscCall(FillVector(system, coupling->system.solution, 1., motion, system->solution));
  PetscCall(PetscFree(motion));
  PetscFunctionReturn(0);
}

static PetscErrorCode TakePressure(BlockSystem *system)
{
  const PetscReal *from;
  PetscReal       *to;

  PetscFunctionBegin;
  if (!has_fluid(system->coupling))
    PetscFunctionReturn(0);
  PetscCall(VecGetArrayRead(system->solution, &from));
  PetscCall(VecGetArrayWrite(system->coupling->system.solution, &to));
  PetscCall(PetscArraycpy(to, from, system->coupling->cell_count));
  PetscCall(VecRestoreArrayWrite(system->coupling->system.solution, &to));
  PetscCall(VecRestoreArrayRead(system->solution, &from));
  PetscFunctionReturn(0);
}

/* One call of MINRES from what is in `coupling`, and the pressure it ends with. */
static PetscErrorCode SolveOnce(BlockSystem *system, CouplingReport *report)
{
  PetscBool is_direct;
  PetscInt  iterations;

  PetscFunctionBegin;
  PetscCall(SetVectors(system));
  PetscCall(KSPSetTolerances(system->ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, system->iterations));
  PetscCall(PetscObjectTypeCompare((PetscObject)system->ksp, KSPPREONLY, &is_direct));
  PetscCall(KSPSetInitialGuessNonzero(system->ksp, is_direct ? PETSC_FALSE : PETSC_TRUE));
  PetscCall(KSPSolve(system->ksp, system->right_side, system->solution));
  PetscCall(KSPGetConvergedReason(system->ksp, &report->reason));
  PetscCall(KSPGetIterationNumber(system->ksp, &iterations));
  report->iterations += iterations;
  system->iterations -= iterations;
  PetscCall(TakePressure(system));
  PetscFunctionReturn(0);
}

/* Again from its end, as long as each call brings a digit. */
PetscErrorCode CouplingSolveBlocks(Coupling coupling, CouplingReport *report)
{
  BlockSystem *system = coupling->system.blocks;
  PetscReal    first;

  PetscFunctionBegin;
  PetscCheck(!coupling->deforming.patches || system->form == FORM_MATRIX_FREE, coupling->world, PETSC_ERR_SUP,
             "The options of -" PREFIX " ask for the entries of A, which has none with solids that deform");
  if (!system->is_current)
    PetscCall(Update(system));
  system->iterations = coupling->config.iterations;
  report->iterations = 0;
  PetscCall(SolveOnce(system, report));
  for (first = system->guess_residual;
       report->reason < 0 && system->iterations > 0 && system->residual < 0.1 * first;
       first = system->guess_residual) {
    if (has_fluid(coupling))
      PetscCall(CouplingMeasure(coupling, coupling->system.solution, &coupling->system.guess_residual));
    PetscCall(SolveOnce(system, report));
  }
  if (report->reason == KSP_CONVERGED_RTOL && !coupling->system.null_count)
    report->residual = system->residual; /* of this very solution */
  PetscFunctionReturn(0);
}
