/* The complementarity problem of a splash, that of the pressure of a breaking dam, solved by millrace and by
   what PETSc offers: TAO's BNCG on the energy with its bounds, and SNES's RSLS with hypre (where PETSC has
   it), all from zero to the same norm of the projected gradient. One rank, processor time, the best of three.
   -size N: cells along the box (64); -bounded_tolerance: of that norm, relative (1e-6). */
#include <petscsnes.h>
#include <petsctao.h>

#include <millrace/splash.h>

#include <string.h>
#include <time.h>

enum { STEPS = 20, TRIES = 3 };

typedef struct {
  MacGrid   grid;
  Vec       weights[DIM], fixed, right_side, pressure;
  PetscReal tolerance, target;

  PetscInt  unknowns;
  PetscInt *numbers; /* of each place of the local array; -1: none */
  Mat       matrix;
  Vec       b, x, lower, upper, residual;
} Problem;

typedef struct {
  PetscReal seconds, residual, apart;
  PetscInt  iterations, inner;
} Outcome;

/* A dam of 0.4 x 0.5 x 0.5 after some steps: its densities and velocities are what the problem is made of. */
static PetscErrorCode BreakDam(const SplashConfig *config, const FluidConfig *fluid, MacGrid grid,
                               PetscReal *dt, Splash *splash)
{
  PetscReal time = 0.;
  PetscBool good;

  PetscFunctionBegin;
  PetscCall(SplashCreate(grid, config, fluid, splash));
  PetscCall(SplashStart(*splash));
  for (PetscInt n = 0; n < STEPS; n++) {
    PetscCall(SplashGetTimeStepLimit(*splash, 0.9, dt));
    PetscCall(SplashStep(*splash, time, *dt, &good));
    time += good ? *dt : 0.;
  }
  PetscCall(SplashRasterise(*splash));
  PetscCall(SplashGetTimeStepLimit(*splash, 0.9, dt));
  PetscFunctionReturn(0);
}

/* Right side: excess of the density less what flows out under gravity, faces with the mean of both cells. */
static PetscErrorCode FillProblem(Splash splash, PetscReal dt, Problem *problem)
{
  const GridBox   *box = grid_box(problem->grid);
  const PetscReal  rate = dt / grid_spacing(problem->grid);
  const PetscReal *rho;
  PetscReal       *r, *fixed, *w[DIM], *u[DIM];
  Vec              density, room, pressure, *velocity;

  PetscFunctionBegin;
  PetscCall(SplashGetFields(splash, &density, &room, &pressure, &velocity));
  PetscCall(MacGridCreateField(problem->grid, &problem->fixed));
  PetscCall(MacGridCreateField(problem->grid, &problem->right_side));
  PetscCall(MacGridCreateField(problem->grid, &problem->pressure));
  PetscCall(MacGridCreateFaceField(problem->grid, problem->weights));
  PetscCall(VecGetArrayRead(density, &rho));
  PetscCall(VecGetArray(problem->fixed, &fixed));
  PetscCall(VecGetArray(problem->right_side, &r));
  PetscCall(MacGridGetFaces(problem->grid, problem->weights, w));
  PetscCall(MacGridGetFaces(problem->grid, velocity, u));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k), at[DIM] = {i, j, k};

    fixed[c] = rho[c] < 0.05 ? 1. : 0.;
    r[c] += rho[c] - 1.;
    for (PetscInt d = 0; d < DIM; d++) {
      const PetscInt  low = c - box->stride[d];
      const PetscReal face = at[d] ? 0.5 * (rho[c] + rho[low]) : 0.;
      const PetscReal flux = rate * face * (u[d][c] - (d == Y ? 9.81 * dt : 0.));

      w[d][c] = face > 1e-3 ? 1. : 0.;
      r[c] += flux;
      if (at[d])
        r[low] -= flux;
    }
  }
  PetscCall(MacGridRestoreFaces(problem->grid, velocity, u));
  PetscCall(MacGridRestoreFaces(problem->grid, problem->weights, w));
  PetscCall(VecRestoreArray(problem->right_side, &r));
  PetscCall(VecRestoreArray(problem->fixed, &fixed));
  PetscCall(VecRestoreArrayRead(density, &rho));
  PetscFunctionReturn(0);
}

static PetscReal seconds_since(clock_t start)
{
  return (PetscReal)(clock() - start) / CLOCKS_PER_SEC;
}

static PetscErrorCode SolveByMillrace(Problem *problem, const char solver[], Outcome *outcome)
{
  clock_t       start;
  BoundedReport report;
  Bounded       bounded;

  PetscFunctionBegin;
  PetscCall(VecSet(problem->pressure, 0.));
  PetscCall(BoundedCreate(problem->grid, "bench_",
                          strcmp(solver, "mprgp") ? BOUNDED_ACTIVE_SET : BOUNDED_MPRGP, &bounded));
  start = clock();
  PetscCall(BoundedSetWeights(bounded, problem->weights, problem->fixed));
  PetscCall(BoundedSolve(bounded, problem->right_side, NULL,
                         (BoundedTolerance){.relative = problem->tolerance}, problem->pressure, &report));
  *outcome = (Outcome){.seconds = seconds_since(start), .iterations = report.cycles, .inner = report.set_ups};
  PetscCall(BoundedDestroy(&bounded));
  PetscFunctionReturn(0);
}

static PetscErrorCode NumberCells(Problem *problem)
{
  const GridBox   *box = grid_box(problem->grid);
  const PetscReal *fixed;
  PetscReal       *w[DIM];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(box->length, &problem->numbers));
  for (PetscInt c = 0; c < box->length; c++)
    problem->numbers[c] = -1;
  PetscCall(VecGetArrayRead(problem->fixed, &fixed));
  PetscCall(MacGridGetFaces(problem->grid, problem->weights, w));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);
    PetscReal      sum = 0.;

    for (PetscInt d = 0; d < DIM; d++)
      sum += w[d][c] + w[d][c + box->stride[d]];
    if (fixed[c] == 0. && sum > 0.)
      problem->numbers[c] = problem->unknowns++;
  }
  PetscCall(MacGridRestoreFaces(problem->grid, problem->weights, w));
  PetscCall(VecRestoreArrayRead(problem->fixed, &fixed));
  PetscFunctionReturn(0);
}

static PetscErrorCode FillRow(const Problem *problem, PetscReal *const w[DIM], PetscInt c)
{
  const GridBox *box = grid_box(problem->grid);
  const PetscInt row = problem->numbers[c];
  PetscReal      diagonal = 0.;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++)
    for (PetscInt side = 0; side < 2; side++) {
      const PetscReal weight = w[d][c + side * box->stride[d]];
      const PetscInt  next = problem->numbers[c + (2 * side - 1) * box->stride[d]];

      diagonal += weight;
      if (weight > 0. && next >= 0)
        PetscCall(MatSetValue(problem->matrix, row, next, -weight, INSERT_VALUES));
    }
  PetscCall(MatSetValue(problem->matrix, row, row, diagonal, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode Assemble(Problem *problem)
{
  const GridBox   *box = grid_box(problem->grid);
  const PetscReal *r;
  PetscReal       *w[DIM], norm = 0.;

  PetscFunctionBegin;
  PetscCall(NumberCells(problem));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, problem->unknowns, problem->unknowns, 2 * DIM + 1, NULL,
                            &problem->matrix));
  PetscCall(MatCreateVecs(problem->matrix, &problem->x, &problem->b));
  PetscCall(VecDuplicate(problem->b, &problem->lower));
  PetscCall(VecDuplicate(problem->b, &problem->upper));
  PetscCall(VecDuplicate(problem->b, &problem->residual));
  PetscCall(VecSet(problem->upper, PETSC_INFINITY));
  PetscCall(VecGetArrayRead(problem->right_side, &r));
  PetscCall(MacGridGetFaces(problem->grid, problem->weights, w));
  for (PetscInt c = 0; c < box->length; c++)
    if (problem->numbers[c] >= 0) {
      PetscCall(FillRow(problem, w, c));
      PetscCall(VecSetValue(problem->b, problem->numbers[c], r[c], INSERT_VALUES));
      norm += PetscSqr(PetscMax(r[c], 0.));
    }
  PetscCall(MacGridRestoreFaces(problem->grid, problem->weights, w));
  PetscCall(VecRestoreArrayRead(problem->right_side, &r));
  PetscCall(VecAssemblyBegin(problem->b));
  PetscCall(VecAssemblyEnd(problem->b));
  PetscCall(MatAssemblyBegin(problem->matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(problem->matrix, MAT_FINAL_ASSEMBLY));
  problem->target = problem->tolerance * PetscSqrtReal(norm);
  PetscFunctionReturn(0);
}

/* The norm of the projected gradient of x, and how far x is from the answer of millrace. */
static PetscErrorCode Judge(Problem *problem, Outcome *outcome)
{
  const GridBox   *box = grid_box(problem->grid);
  const PetscReal *x, *g, *p;
  PetscReal        square = 0., apart = 0., largest = 0.;

  PetscFunctionBegin;
  PetscCall(MatMult(problem->matrix, problem->x, problem->residual));
  PetscCall(VecAXPY(problem->residual, -1., problem->b));
  PetscCall(VecGetArrayRead(problem->x, &x));
  PetscCall(VecGetArrayRead(problem->residual, &g));
  PetscCall(VecGetArrayRead(problem->pressure, &p));
  for (PetscInt c = 0; c < box->length; c++)
    if (problem->numbers[c] >= 0) {
      const PetscInt n = problem->numbers[c];

      square += PetscSqr(x[n] > 0. ? g[n] : PetscMin(g[n], 0.));
      apart = PetscMax(apart, PetscAbsReal(x[n] - p[c]));
      largest = PetscMax(largest, p[c]);
    }
  PetscCall(VecRestoreArrayRead(problem->pressure, &p));
  PetscCall(VecRestoreArrayRead(problem->residual, &g));
  PetscCall(VecRestoreArrayRead(problem->x, &x));
  outcome->residual = PetscSqrtReal(square) / problem->target;
  outcome->apart = apart / largest;
  PetscFunctionReturn(0);
}

static PetscErrorCode Energy(Tao tao, Vec x, PetscReal *energy, Vec gradient, void *context)
{
  Problem  *problem = (Problem *)context;
  PetscReal linear;

  PetscFunctionBegin;
  (void)tao;
  PetscCall(MatMult(problem->matrix, x, gradient));
  PetscCall(VecDot(x, gradient, energy));
  PetscCall(VecDot(x, problem->b, &linear));
  *energy = 0.5 * *energy - linear;
  PetscCall(VecAXPY(gradient, -1., problem->b));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolveByTao(Problem *problem, const char type[], Outcome *outcome)
{
  clock_t start;
  Tao     tao;

  PetscFunctionBegin;
  PetscCall(VecSet(problem->x, 0.));
  PetscCall(TaoCreate(PETSC_COMM_SELF, &tao));
  PetscCall(TaoSetType(tao, type));
  PetscCall(TaoSetSolution(tao, problem->x));
  PetscCall(TaoSetVariableBounds(tao, problem->lower, problem->upper));
  PetscCall(TaoSetObjectiveAndGradient(tao, NULL, Energy, problem));
  PetscCall(TaoSetTolerances(tao, problem->target, 0., 0.));
  PetscCall(TaoSetMaximumIterations(tao, 20000));
  PetscCall(TaoSetMaximumFunctionEvaluations(tao, 100000));
  PetscCall(TaoSetFromOptions(tao));
  start = clock();
  PetscCall(TaoSolve(tao));
  *outcome = (Outcome){.seconds = seconds_since(start)};
  PetscCall(TaoGetIterationNumber(tao, &outcome->iterations));
  PetscCall(Judge(problem, outcome));
  PetscCall(TaoDestroy(&tao));
  PetscFunctionReturn(0);
}

static PetscErrorCode Gradient(SNES snes, Vec x, Vec gradient, void *context)
{
  Problem *problem = (Problem *)context;

  PetscFunctionBegin;
  (void)snes;
  PetscCall(MatMult(problem->matrix, x, gradient));
  PetscCall(VecAXPY(gradient, -1., problem->b));
  PetscFunctionReturn(0);
}

static PetscErrorCode Jacobian(SNES snes, Vec x, Mat matrix, Mat preconditioner, void *context)
{
  PetscFunctionBegin;
  (void)snes, (void)x, (void)matrix, (void)preconditioner, (void)context;
  PetscFunctionReturn(0);
}

static PetscErrorCode SolveBySnes(Problem *problem, const char preconditioner[], Outcome *outcome)
{
  clock_t start;
  SNES    snes;
  KSP     ksp;
  PC      pc;

  PetscFunctionBegin;
  PetscCall(VecSet(problem->x, 0.));
  PetscCall(SNESCreate(PETSC_COMM_SELF, &snes));
  PetscCall(SNESSetType(snes, SNESVINEWTONRSLS));
  PetscCall(SNESSetFunction(snes, problem->residual, Gradient, problem));
  PetscCall(SNESSetJacobian(snes, problem->matrix, problem->matrix, Jacobian, NULL));
  PetscCall(SNESVISetVariableBounds(snes, problem->lower, problem->upper));
  PetscCall(SNESSetTolerances(snes, problem->target, 0., 0., 200, 10000));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-3, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, preconditioner));
  PetscCall(SNESSetFromOptions(snes));
  start = clock();
  PetscCall(SNESSolve(snes, NULL, problem->x));
  *outcome = (Outcome){.seconds = seconds_since(start)};
  PetscCall(SNESGetIterationNumber(snes, &outcome->iterations));
  PetscCall(SNESGetLinearSolveIterations(snes, &outcome->inner));
  PetscCall(Judge(problem, outcome));
  PetscCall(SNESDestroy(&snes));
  PetscFunctionReturn(0);
}

static PetscErrorCode Print(const char name[], const Outcome *outcome, const Outcome *ours)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%-22s %9.1f %8.2f %6d %6d %10.2f %10.1e\n", name,
                        1e3 * outcome->seconds, outcome->seconds / ours->seconds, (int)outcome->iterations,
                        (int)outcome->inner, outcome->residual, outcome->apart));
  PetscFunctionReturn(0);
}

/* The fastest of some tries. */
static PetscErrorCode Try(Problem   *problem, PetscErrorCode (*solve)(Problem *, const char *, Outcome *),
                          const char way[], Outcome *best)
{
  Outcome outcome;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < TRIES; n++) {
    PetscCall(solve(problem, way, &outcome));
    if (n == 0 || outcome.seconds < best->seconds)
      *best = outcome;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Compare(Problem *problem)
{
  const char *const types[] = {TAOBNCG, TAOBLMVM}, *const preconditioners[] = {PCICC, PCHYPRE};
  Outcome ours, theirs;

  PetscFunctionBegin;
  PetscCall(Assemble(problem));
  PetscCall(Try(problem, SolveByMillrace, "active-set", &theirs));
  PetscCall(Try(problem, SolveByMillrace, "mprgp", &ours));
  PetscCall(
      PetscPrintf(PETSC_COMM_SELF,
                  "%d unknowns; iterations: cycles and set-ups, of SNES those of the linear solves besides; "
                  "norm over the target\n%-22s %9s %8s %6s %6s %10s %10s\n",
                  (int)problem->unknowns, "", "ms", "over ours", "its", "inner", "norm", "apart"));
  PetscCall(Print("millrace, mprgp", &ours, &ours));
  PetscCall(Print("millrace, active-set", &theirs, &ours));
  for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(types); n++) {
    PetscCall(Try(problem, SolveByTao, types[n], &theirs));
    PetscCall(Print(n ? "TAO, BLMVM" : "TAO, BNCG", &theirs, &ours));
  }
  for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(preconditioners); n++) {
    if (!strcmp(preconditioners[n], PCHYPRE) && !PetscDefined(HAVE_HYPRE))
      continue;
    PetscCall(Try(problem, SolveBySnes, preconditioners[n], &theirs));
    PetscCall(Print(n ? "SNES, RSLS, hypre" : "SNES, RSLS, icc", &theirs, &ours));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyProblem(Problem *problem)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&problem->matrix));
  PetscCall(VecDestroy(&problem->b));
  PetscCall(VecDestroy(&problem->x));
  PetscCall(VecDestroy(&problem->lower));
  PetscCall(VecDestroy(&problem->upper));
  PetscCall(VecDestroy(&problem->residual));
  PetscCall(PetscFree(problem->numbers));
  PetscCall(VecDestroy(&problem->fixed));
  PetscCall(VecDestroy(&problem->right_side));
  PetscCall(VecDestroy(&problem->pressure));
  PetscCall(MacGridDestroyFaceField(problem->weights));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem      problem = {.tolerance = 1e-6};
  PetscInt     size = 64;
  PetscReal    dt = 0.;
  GridConfig   grid = {.dimension = 3, .size = vector3(1., 0.75, 0.5)};
  FluidConfig  fluid = {.density = 1000.};
  SplashConfig config = {.liquid_count = 0};
  SplashLiquid liquid = {.shape = NULL};
  Splash       splash;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-size", &size, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-bounded_tolerance", &problem.tolerance, NULL));
  grid.resolution = size;
  fluid.gravity = vector3(0., -9.81, 0.);
  PetscCall(ConfigSetDefaults(SplashKeys, &config));
  config.liquids = &liquid;
  config.liquid_count = 1;
  PetscCall(ShapeCreateBox(vector3(0., 0., 0.), vector3(0.4, 0.5, 0.5), &liquid.shape));
  PetscCall(MacGridCreate(PETSC_COMM_SELF, &grid, &problem.grid));
  PetscCall(BreakDam(&config, &fluid, problem.grid, &dt, &splash));
  PetscCall(FillProblem(splash, dt, &problem));
  PetscCall(SplashDestroy(&splash));
  PetscCall(Compare(&problem));
  PetscCall(DestroyProblem(&problem));
  PetscCall(MacGridDestroy(&problem.grid));
  PetscCall(ShapeDestroy(&liquid.shape));
  PetscCall(PetscFinalize());
  return 0;
}
