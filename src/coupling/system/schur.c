/* S q = b1 + B C^-1 b2 by conjugate gradients, preconditioned by one multigrid cycle on A, and
   deflation.c where bodies are light. */
#include "../coupling_impl.h"

static PetscErrorCode Multiply(Mat matrix, Vec x, Vec y)
{
  Coupling coupling;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(matrix, &coupling));
  PetscCall(CouplingApplySchur(coupling, x, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode Precondition(PC pc, Vec x, Vec y)
{
  Coupling coupling;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &coupling));
  PetscCall(CouplingPrecondition(coupling, x, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(Coupling coupling)
{
  const PetscInt cells = coupling->cell_count;
  PC             pc;

  PetscFunctionBegin;
  PetscCall(MatCreateShell(coupling->fluid, cells, cells, PETSC_DETERMINE, PETSC_DETERMINE, coupling,
                           &coupling->system.schur_operator));
  PetscCall(MatShellSetOperation(coupling->system.schur_operator, MATOP_MULT, (void (*)(void))Multiply));
  PetscCall(MatSetOption(coupling->system.schur_operator, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(KSPCreate(coupling->fluid, &coupling->system.schur));
  PetscCall(KSPSetOptionsPrefix(coupling->system.schur, "coupled_schur_"));
  PetscCall(KSPSetType(coupling->system.schur, KSPCG));
  PetscCall(KSPSetNormType(coupling->system.schur, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPGetPC(coupling->system.schur, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, coupling));
  PetscCall(PCShellSetApply(pc, Precondition));
  PetscCall(KSPSetFromOptions(coupling->system.schur));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingSolveSchur(Coupling coupling, CouplingReport *report)
{
  PetscReal guess;

  PetscFunctionBegin;
  if (!coupling->system.schur)
    PetscCall(Create(coupling));
  PetscCall(KSPSetOperators(coupling->system.schur, coupling->system.schur_operator,
                            coupling->system.schur_operator));
  PetscCall(KSPSetTolerances(coupling->system.schur, coupling->config.tolerance,
                             PetscMax(coupling->config.tolerance * coupling->system.reference, 1e-300),
                             PETSC_DEFAULT, coupling->config.iterations));
  PetscCall(VecNorm(coupling->system.solution, NORM_INFINITY, &guess));
  PetscCall(KSPSetInitialGuessNonzero(coupling->system.schur, guess > 0. ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(KSPSolve(coupling->system.schur, coupling->system.right_side, coupling->system.solution));
  PetscCall(KSPGetConvergedReason(coupling->system.schur, &report->reason));
  PetscCall(KSPGetIterationNumber(coupling->system.schur, &report->iterations));
  PetscFunctionReturn(0);
}
