#include "poisson_problem.h"

static void operator_is_symmetric(void **state)
{
  (void)state;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(problems); p++) {
    Solver    solver;
    Vec       product;
    PetscReal left, right, scale;

    assert_success(CreateSolver(PETSC_COMM_WORLD, &problems[p], "", &solver));
    assert_success(MacGridCreateField(solver.grid, &product));
    assert_success(Fill(&solver, rough, solver.right_side));
    assert_success(Fill(&solver, rough_too, solver.pressure));
    assert_success(PoissonApply(solver.poisson, solver.right_side, product));
    assert_success(Dot(&solver, product, solver.pressure, &left));
    assert_success(Dot(&solver, product, solver.right_side, &scale));
    assert_success(PoissonApply(solver.poisson, solver.pressure, product));
    assert_success(Dot(&solver, product, solver.right_side, &right));
    assert_on_all_ranks(scale > 0.);
    assert_near(left, right, 1e-13 * scale);
    assert_success(VecDestroy(&product));
    assert_success(DestroySolver(&solver));
  }
}

static void a_discrete_solution_is_recovered(void **state)
{
  const Problem problem = {
      .dimension = 3, .cells = {19, 16, 14}, .open = OPEN_TOP, .periodic = {PETSC_TRUE}, .contrast = 10.};
  Solver    solver;
  Vec       exact;
  PetscReal error;

  (void)state;
  assert_success(CreateSolver(PETSC_COMM_WORLD, &problem, "", &solver));
  assert_success(MacGridCreateField(solver.grid, &exact));
  assert_success(Fill(&solver, rough, exact));
  assert_success(PoissonApply(solver.poisson, exact, solver.right_side));
  assert_success(PoissonSetTolerance(solver.poisson, 1e-13));
  assert_success(PoissonSolve(solver.poisson, solver.right_side, solver.pressure, &solver.report));
  assert_success(VecAXPY(exact, -1., solver.pressure));
  assert_success(VecNorm(exact, NORM_INFINITY, &error));
  assert_near(error, 0., 1e-11);
  assert_success(VecDestroy(&exact));
  assert_success(DestroySolver(&solver));
}

/* cos(kx x) sin(ky y) cos(kz z) with walls or periods along x and z and p = 0 or periods along y. */
static PetscReal smooth(const Problem *problem, const PetscInt at[DIM])
{
  PetscReal value = 1.;

  for (PetscInt d = 0; d < problem->dimension; d++) {
    const PetscReal angle = (problem->periodic[d] ? 2. : 1.) * PETSC_PI * (at[d] + 0.5) / problem->cells[d];

    value *= problem->open[d][0] ? PetscSinReal(angle) : PetscCosReal(angle);
  }
  return value;
}

/* Minus the Laplacian of that, in units of the cells. */
static PetscReal smooth_source(const Problem *problem, const PetscInt at[DIM])
{
  PetscReal sum = 0.;

  for (PetscInt d = 0; d < problem->dimension; d++) {
    const PetscReal k = (problem->periodic[d] ? 2. : 1.) * PETSC_PI / problem->cells[d];

    sum += k * k;
  }
  return sum * smooth(problem, at);
}

static PetscReal smooth_error(const Problem *problem)
{
  Solver    solver;
  Vec       exact;
  PetscReal error;

  assert_success(CreateSolver(PETSC_COMM_WORLD, problem, "", &solver));
  assert_success(Solve(&solver, smooth_source, 1e-10));
  assert_success(MacGridCreateField(solver.grid, &exact));
  assert_success(Fill(&solver, smooth, exact));
  assert_success(VecAXPY(exact, -1., solver.pressure));
  assert_success(VecNorm(exact, NORM_INFINITY, &error));
  (void)MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD);
  assert_success(VecDestroy(&exact));
  assert_success(DestroySolver(&solver));
  return error;
}

static void smooth_solutions_converge_with_order_two(void **state)
{
  const Problem coarse[] = {
      {.dimension = 3, .cells = {16, 16, 16}, .periodic = PERIODIC},
      {.dimension = 3, .cells = {16, 16, 16}},
      {.dimension = 3, .cells = {15, 18, 13}, .open = {{0, 0}, {1, 1}, {0, 0}}},
      {.dimension = 2, .cells = {18, 15, 1}, .open = {{0, 0}, {1, 1}, {0, 0}}, .periodic = {PETSC_TRUE}},
  };

  (void)state;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(coarse); p++) {
    Problem   fine = coarse[p];
    PetscReal slope;

    for (PetscInt d = 0; d < fine.dimension; d++)
      fine.cells[d] *= 2;
    slope = PetscLog2Real(smooth_error(&coarse[p]) / smooth_error(&fine));
    assert_near(slope, 2., 0.1);
  }
}

/* Mean of the pressure over the cells with low <= i < high. */
static PetscReal mean_between(const Solver *solver, PetscInt low, PetscInt high)
{
  const GridBox   *box = grid_box(solver->grid);
  const PetscReal *values;
  PetscReal        sums[2] = {0., 0.};

  PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(solver->pressure, &values));
  FOR_ROWS(box, j, k)
    for (PetscInt i = PetscMax(low, box->start[X]); i < PetscMin(high, box->end[X]); i++) {
      sums[0] += values[box_index(box, i, j, k)];
      sums[1] += 1.;
    }
  PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(solver->pressure, &values));
  (void)MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD);
  return sums[0] / sums[1];
}

static PetscReal lopsided(const Problem *problem, const PetscInt at[DIM])
{
  return at[X] < problem->cells[X] / 2 ? 1. + rough(problem, at) : rough(problem, at) - 3.;
}

static void each_sealed_room_keeps_its_own_mean(void **state)
{
  const Problem problem = {.dimension = 3, .cells = {20, 17, 16}, .solids = SOLID_PARTITION};
  Solver        solver;

  (void)state;
  assert_success(CreateSolver(PETSC_COMM_WORLD, &problem, "", &solver));
  assert_success(Solve(&solver, lopsided, 1e-9));
  assert_near(solver.report.components, 2, 0.);
  assert_near(solver.report.null_vectors, 2, 0.);
  assert_on_all_ranks(solver.report.reason > 0 && solver.report.iterations <= 15);
  assert_on_all_ranks(solver.report.residual < 2e-9);
  assert_near(mean_between(&solver, 0, 10), 0., 1e-12);
  assert_near(mean_between(&solver, 12, 20), 0., 1e-12);
  assert_success(DestroySolver(&solver));
}

static void hundreds_of_pockets_are_solved_at_once(void **state)
{
  const Problem problem = {.dimension = 3, .cells = {16, 17, 18}, .solids = SOLID_PAIRS};
  Solver        solver;
  Vec           product;
  PetscReal     error;

  (void)state;
  assert_success(CreateSolver(PETSC_COMM_WORLD, &problem, "", &solver));
  assert_success(Solve(&solver, rough, 1e-12));
  assert_near(solver.report.components, 8 * 17 * 18, 0.);
  assert_near(solver.report.null_vectors, 8 * 17 * 18, 0.);
  assert_on_all_ranks(solver.report.reason > 0);
  /* each pair answers by half the difference of its right sides */
  assert_success(MacGridCreateField(solver.grid, &product));
  assert_success(PoissonApply(solver.poisson, solver.right_side, product));
  assert_success(VecAXPY(product, -4., solver.pressure));
  assert_success(VecNorm(product, NORM_INFINITY, &error));
  assert_near(error, 0., 1e-10);
  assert_success(VecDestroy(&product));
  assert_success(DestroySolver(&solver));
}

static void assembled_preconditioners_give_the_same_answer(void **state)
{
  static const char *const prefixes[] = {"hypre_", "gamg_", "jacobi_"};
  static const PetscInt    enough[] = {10, 25, 200}; /* a wrong matrix still converges, but slowly */
  const Problem problem = {.dimension = 3, .cells = {16, 17, 18}, .solids = SOLID_SPECKLES, .contrast = 5.};

  PetscBool has_hypre;

  (void)state;
  assert_success(PetscHasExternalPackage("hypre", &has_hypre));
  for (size_t p = has_hypre ? 0 : 1; p < PETSC_STATIC_ARRAY_LENGTH(prefixes); p++) {
    Solver geometric, algebraic;

    assert_success(CreateSolver(PETSC_COMM_WORLD, &problem, "", &geometric));
    assert_success(CreateSolver(PETSC_COMM_WORLD, &problem, prefixes[p], &algebraic));
    assert_success(Solve(&geometric, rough, 1e-11));
    assert_success(Solve(&algebraic, rough, 1e-11));
    assert_on_all_ranks(algebraic.report.reason > 0 && algebraic.report.iterations <= enough[p]);
    assert_success(VecAXPY(algebraic.pressure, -1., geometric.pressure));
    assert_success(VecNorm(algebraic.pressure, NORM_INFINITY, &geometric.report.residual));
    assert_near(geometric.report.residual, 0., 1e-9);
    assert_success(DestroySolver(&geometric));
    assert_success(DestroySolver(&algebraic));
  }
}

static void a_good_guess_saves_iterations(void **state)
{
  Solver   solver;
  PetscInt before;

  (void)state;
  assert_success(CreateSolver(PETSC_COMM_WORLD, &problems[0], "", &solver));
  assert_success(Solve(&solver, rough, 1e-4));
  before = solver.report.iterations;
  assert_success(PoissonSetTolerance(solver.poisson, 1e-8));
  assert_success(PoissonSolve(solver.poisson, solver.right_side, solver.pressure, &solver.report));
  assert_on_all_ranks(solver.report.residual < 1.5e-8);
  assert_on_all_ranks(solver.report.iterations + before <= 14 && solver.report.iterations < 9);
  assert_success(DestroySolver(&solver));
}

static void too_few_iterations_are_reported_not_an_error(void **state)
{
  Solver solver;

  (void)state;
  assert_success(CreateSolver(PETSC_COMM_WORLD, &problems[0], "brief_", &solver));
  assert_success(Solve(&solver, rough, 1e-8));
  assert_on_all_ranks(solver.report.reason == KSP_DIVERGED_ITS);
  assert_near(solver.report.iterations, 2, 0.);
  assert_on_all_ranks(solver.report.residual > 1e-8 && solver.report.residual < 1.);
  assert_success(DestroySolver(&solver));
}

static PetscReal nothing(const Problem *problem, const PetscInt at[DIM])
{
  (void)problem;
  (void)at;
  return 0.;
}

static void nothing_asked_is_nothing_done(void **state)
{
  Solver    solver;
  PetscReal largest;

  (void)state;
  assert_success(CreateSolver(PETSC_COMM_WORLD, &problems[1], "", &solver));
  assert_success(Solve(&solver, nothing, 1e-8));
  assert_success(VecNorm(solver.pressure, NORM_INFINITY, &largest));
  assert_on_all_ranks(solver.report.reason > 0 && solver.report.iterations == 0);
  assert_near(largest, 0., 0.);
  assert_near(solver.report.residual, 0., 0.);
  assert_success(DestroySolver(&solver));
}

static void negative_weights_are_refused(void **state)
{
  Solver solver;
  Vec    weights[DIM];

  (void)state;
  assert_success(CreateSolver(PETSC_COMM_WORLD, &problems[1], "", &solver));
  assert_success(CreateWeights(solver.grid, &problems[1], weights));
  assert_success(VecScale(weights[Y], -1.));
  assert_refused(PoissonSetWeights(solver.poisson, weights, NULL));
  assert_success(MacGridDestroyFaceField(weights));
  assert_success(DestroySolver(&solver));
}

TEST_MAIN_WITH_OPTIONS("-hypre_pc_type hypre -gamg_pc_type gamg -jacobi_pc_type jacobi -brief_ksp_max_it 2",
                       cmocka_unit_test(operator_is_symmetric),
                       cmocka_unit_test(a_discrete_solution_is_recovered),
                       cmocka_unit_test(smooth_solutions_converge_with_order_two),
                       cmocka_unit_test(each_sealed_room_keeps_its_own_mean),
                       cmocka_unit_test(hundreds_of_pockets_are_solved_at_once),
                       cmocka_unit_test(assembled_preconditioners_give_the_same_answer),
                       cmocka_unit_test(a_good_guess_saves_iterations),
                       cmocka_unit_test(too_few_iterations_are_reported_not_an_error),
                       cmocka_unit_test(nothing_asked_is_nothing_done),
                       cmocka_unit_test(negative_weights_are_refused))
