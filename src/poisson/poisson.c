/* The Poisson problem on the MAC grid: conjugate gradients of PETSc's KSP on a matrix-free operator,
   preconditioned by one cycle of the geometric multigrid, or by any PC on the assembled matrix
   (-<prefix>pc_type hypre, gamg, ...).

   Every component that touches no p = 0 leaves its pressure free by a constant: the right side is made to
   balance over it and the answer has zero mean there. */
#include "poisson_impl.h"

static PetscInt owned_cells(const Poisson poisson)
{
  const GridBox *box = &poisson->box;

  return owned_width(box, X) * owned_width(box, Y) * owned_width(box, Z);
}

static PetscErrorCode MultiplyShell(Mat matrix, Vec x, Vec y)
{
  Poisson          poisson;
  const PetscReal *from;
  PetscReal       *to;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(matrix, &poisson));
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArrayWrite(y, &to));
  PetscCall(PoissonMultiply(poisson, from, to));
  if (poisson->fixed) /* their neighbours' weights give them something, but they are no unknowns */
    components_clear_outside(&poisson->components, owned_cells(poisson), to);
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscFunctionReturn(0);
}

static PetscErrorCode ApplyMultigrid(PC pc, Vec right_side, Vec solution)
{
  Poisson          poisson;
  const PetscReal *from;
  PetscReal       *to;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &poisson));
  PetscCall(VecGetArrayRead(right_side, &from));
  PetscCall(VecGetArrayWrite(solution, &to));
  PetscCall(MultigridApply(poisson->multigrid, from, to));
  PetscCall(VecRestoreArrayWrite(solution, &to));
  PetscCall(VecRestoreArrayRead(right_side, &from));
  PetscFunctionReturn(0);
}

static PetscErrorCode Project(Poisson poisson, Vec vector)
{
  PetscReal *values;

  PetscFunctionBegin;
  PetscCall(VecGetArray(vector, &values));
  PetscCall(ComponentsProject(&poisson->components, poisson->box.comm, values));
  PetscCall(VecRestoreArray(vector, &values));
  PetscFunctionReturn(0);
}

static PetscErrorCode RemoveNullSpace(MatNullSpace null_space, Vec vector, void *context)
{
  PetscFunctionBegin;
  (void)null_space;
  PetscCall(Project((Poisson)context, vector));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateOperator(Poisson poisson)
{
  const PetscInt cells = owned_cells(poisson);
  const MPI_Comm comm = poisson->box.comm;

  PetscFunctionBegin;
  PetscCall(
      MatCreateShell(comm, cells, cells, PETSC_DETERMINE, PETSC_DETERMINE, poisson, &poisson->operator));
  PetscCall(MatShellSetOperation(poisson->operator, MATOP_MULT, (void (*)(void))MultiplyShell));
  PetscCall(MatSetOption(poisson->operator, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatNullSpaceCreate(comm, PETSC_FALSE, 0, NULL, &poisson->null_space));
  PetscCall(MatNullSpaceSetFunction(poisson->null_space, RemoveNullSpace, poisson));
  PetscCall(DMCreateGlobalVector(grid_cell_dm(poisson->grid), &poisson->right_side));
  PetscCall(VecSumReproducibly(poisson->right_side));
  PetscCall(VecDuplicate(poisson->right_side, &poisson->solution));
  PetscCall(VecDuplicate(poisson->right_side, &poisson->work));
  PetscFunctionReturn(0);
}

/* The multigrid unless the options name another preconditioner. */
static PetscErrorCode CreateSolver(Poisson poisson, const char prefix[])
{
  PetscBool is_shell, is_cg, norm_given;
  PC        pc;

  PetscFunctionBegin;
  PetscCall(KSPCreate(poisson->box.comm, &poisson->ksp));
  PetscCall(KSPSetOptionsPrefix(poisson->ksp, prefix));
  PetscCall(KSPSetType(poisson->ksp, KSPCG));
  PetscCall(KSPSetTolerances(poisson->ksp, 1e-8, 1e-50, PETSC_DEFAULT, 200));
  PetscCall(KSPGetPC(poisson->ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(KSPSetFromOptions(poisson->ksp));
  PetscCall(PetscObjectTypeCompare((PetscObject)poisson->ksp, KSPCG, &is_cg));
  PetscCall(PetscOptionsHasName(NULL, prefix, "-ksp_norm_type", &norm_given));
  if (is_cg && !norm_given)
    PetscCall(KSPSetNormType(poisson->ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSHELL, &is_shell));
  if (!is_shell)
    PetscFunctionReturn(0);
  PetscCall(PCShellSetName(pc, "multigrid"));
  PetscCall(PCShellSetContext(pc, poisson));
  PetscCall(PCShellSetApply(pc, ApplyMultigrid));
  PetscCall(MultigridCreate(&poisson->box, &poisson->multigrid));
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonCreate(MacGrid grid, const char prefix[], Poisson *poisson)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(poisson));
  (*poisson)->grid = grid;
  (*poisson)->box = (*poisson)->operand_box = *grid_box(grid);
  box_lay_out_level(&(*poisson)->box);
  (*poisson)->operand_box.ghost = 1;
  box_lay_out(&(*poisson)->operand_box);
  for (PetscInt d = 0; d < (*poisson)->box.dimension; d++)
    PetscCall(PetscCalloc1((*poisson)->box.length, &(*poisson)->weights[d]));
  PetscCall(PetscCalloc1((*poisson)->operand_box.length, &(*poisson)->ghosts));
  PetscCall(PetscCalloc1(owned_width(&(*poisson)->box, X) + 2, &(*poisson)->row));
  PetscCall(CreateOperator(*poisson));
  PetscCall(CreateSolver(*poisson, prefix));
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonDestroy(Poisson *poisson)
{
  PetscFunctionBegin;
  if (!*poisson)
    PetscFunctionReturn(0);
  PetscCall(KSPDestroy(&(*poisson)->ksp));
  PetscCall(MatDestroy(&(*poisson)->operator));
  PetscCall(MatDestroy(&(*poisson)->assembled));
  PetscCall(MatNullSpaceDestroy(&(*poisson)->null_space));
  PetscCall(VecDestroy(&(*poisson)->right_side));
  PetscCall(VecDestroy(&(*poisson)->solution));
  PetscCall(VecDestroy(&(*poisson)->work));
  PetscCall(MultigridDestroy(&(*poisson)->multigrid));
  PetscCall(ComponentsDestroy(&(*poisson)->components));
  for (PetscInt d = 0; d < DIM; d++) {
    PetscCall(PetscFree((*poisson)->weights[d]));
    PetscCall(PetscFree((*poisson)->exact[d]));
  }
  PetscCall(PetscFree((*poisson)->fixed));
  PetscCall(PetscFree((*poisson)->ghosts));
  PetscCall(PetscFree((*poisson)->row));
  PetscCall(PetscFree(*poisson));
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonBuild(Poisson poisson)
{
  PetscFunctionBegin;
  PetscCall(ComponentsFind(&poisson->box, poisson->weights, poisson->fixed, &poisson->components));
  if (poisson->multigrid) {
    PetscCall(MultigridSetWeights(poisson->multigrid, poisson->weights, poisson->fixed));
    PetscCall(KSPSetOperators(poisson->ksp, poisson->operator, poisson->operator));
  } else {
    PetscCall(PoissonAssemble(poisson, &poisson->assembled));
    PetscCall(
        MatSetNullSpace(poisson->assembled, poisson->components.singular_count ? poisson->null_space : NULL));
    PetscCall(KSPSetOperators(poisson->ksp, poisson->operator, poisson->assembled));
  }
  /* CG stays orthogonal to null vectors by itself; an algebraic coarse solver may not */
  PetscCall(MatSetNullSpace(poisson->operator, poisson->components.singular_count && !poisson->multigrid
                                                   ? poisson->null_space
                                                   : NULL));
  poisson->ready = PETSC_TRUE;
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonSetWeights(Poisson poisson, Vec weights[DIM], Vec fixed)
{
  PetscFunctionBegin;
  PetscCall(PoissonTakeWeights(poisson, weights));
  PetscCall(PoissonTakeFixed(poisson, fixed));
  PetscCall(PoissonBuild(poisson));
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonSetTolerance(Poisson poisson, PetscReal relative)
{
  PetscFunctionBegin;
  PetscCall(KSPSetTolerances(poisson->ksp, relative, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonClearOutside(Poisson poisson, Vec vector)
{
  PetscReal *values;

  PetscFunctionBegin;
  PetscCall(VecGetArray(vector, &values));
  components_clear_outside(&poisson->components, owned_cells(poisson), values);
  PetscCall(VecRestoreArray(vector, &values));
  PetscFunctionReturn(0);
}

/* A field as a solver vector, zero outside the problem. */
static PetscErrorCode TakeField(Poisson poisson, Vec field, Vec vector)
{
  PetscFunctionBegin;
  PetscCall(MacGridToSolver(poisson->grid, field, vector));
  PetscCall(PoissonClearOutside(poisson, vector));
  PetscFunctionReturn(0);
}

/* |b - A x| / |b|. */
static PetscErrorCode MeasureResidual(Poisson poisson, PetscReal *relative)
{
  PetscReal before, after;

  PetscFunctionBegin;
  PetscCall(VecNorm(poisson->right_side, NORM_2, &before));
  PetscCall(MatMult(poisson->operator, poisson->solution, poisson->work));
  PetscCall(VecAXPY(poisson->work, -1., poisson->right_side));
  PetscCall(VecNorm(poisson->work, NORM_2, &after));
  *relative = before > 0. ? after / before : after;
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonSolve(Poisson poisson, Vec right_side, Vec pressure, PoissonReport *report)
{
  PetscReal guess;

  PetscFunctionBegin;
  PetscCheck(poisson->ready, poisson->box.comm, PETSC_ERR_ORDER,
             "PoissonSetWeights must come before PoissonSolve");
  PetscCall(TakeField(poisson, right_side, poisson->right_side));
  PetscCall(Project(poisson, poisson->right_side));
  PetscCall(TakeField(poisson, pressure, poisson->solution));
  PetscCall(VecNorm(poisson->solution, NORM_INFINITY, &guess));
  PetscCall(KSPSetInitialGuessNonzero(poisson->ksp, guess > 0. ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(KSPSolve(poisson->ksp, poisson->right_side, poisson->solution));
  PetscCall(Project(poisson, poisson->solution));
  if (!poisson->multigrid)
    PetscCall(PoissonClearOutside(poisson, poisson->solution)); /* algebraic ones may put values there */
  PetscCall(KSPGetConvergedReason(poisson->ksp, &report->reason));
  PetscCall(KSPGetIterationNumber(poisson->ksp, &report->iterations));
  report->components = poisson->components.count;
  report->null_vectors = poisson->components.singular_count;
  PetscCall(MeasureResidual(poisson, &report->residual));
  PetscCall(MacGridFromSolver(poisson->grid, poisson->solution, pressure));
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonApply(Poisson poisson, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCheck(poisson->ready, poisson->box.comm, PETSC_ERR_ORDER,
             "PoissonSetWeights must come before PoissonApply");
  PetscCall(TakeField(poisson, x, poisson->solution));
  PetscCall(MatMult(poisson->operator, poisson->solution, poisson->work));
  PetscCall(MacGridFromSolver(poisson->grid, poisson->work, y));
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonMultiplyVector(Poisson poisson, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatMult(poisson->operator, x, y));
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonCycle(Poisson poisson, Vec right_side, Vec solution)
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(poisson->ksp, &pc));
  PetscCall(PCApply(pc, right_side, solution));
  if (!poisson->multigrid) /* algebraic ones may put values outside */
    PetscCall(PoissonClearOutside(poisson, solution));
  PetscFunctionReturn(0);
}

PoissonComponents poisson_components(Poisson poisson)
{
  const Components *components = &poisson->components;

  return (PoissonComponents){components->count, components->is_singular, components->cells};
}

void poisson_label_cells(Poisson poisson, PetscInt labels[])
{
  for (PetscInt c = 0; c < owned_cells(poisson); c++)
    labels[c] = -1;
  for (PetscInt r = 0; r < poisson->components.run_count; r++) {
    const CellRun run = poisson->components.runs[r];

    for (PetscInt c = run.first; c < run.first + run.length; c++)
      labels[c] = run.component;
  }
}

PetscErrorCode PoissonSumComponents(Poisson poisson, Vec vector, PetscReal sums[])
{
  const PetscReal *values;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(vector, &values));
  PetscCall(ComponentsSum(&poisson->components, poisson->box.comm, values, sums));
  PetscCall(VecRestoreArrayRead(vector, &values));
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonShiftComponents(Poisson poisson, const PetscReal shifts[], Vec vector)
{
  const Components *components = &poisson->components;
  PetscReal        *values;

  PetscFunctionBegin;
  PetscCall(VecGetArray(vector, &values));
  for (PetscInt r = 0; r < components->run_count; r++) {
    const CellRun run = components->runs[r];

    for (PetscInt c = run.first; c < run.first + run.length; c++)
      values[c] += shifts[run.component];
  }
  PetscCall(VecRestoreArray(vector, &values));
  PetscFunctionReturn(0);
}
