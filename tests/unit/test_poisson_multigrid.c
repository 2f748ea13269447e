#include "poisson_problem.h"

static void cycle_is_symmetric_and_positive(void **state)
{
  (void)state;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(problems); p++)
    assert_cycle_is_symmetric_and_positive(&problems[p]);
}

static void every_size_and_shape_converges_fast(void **state)
{
  (void)state;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(problems); p++) {
    const PetscInt enough = problems[p].contrast > 0. ? 50 : problems[p].drop > 0. ? 20 : 14;
    Solver         solver;

    assert_success(CreateSolver(PETSC_COMM_WORLD, &problems[p], "", &solver));
    assert_success(Solve(&solver, rough, 1e-8));
    assert_on_all_ranks(solver.report.reason > 0);
    assert_on_all_ranks(solver.report.residual < 1.5e-8);
    assert_on_all_ranks(solver.report.iterations <= enough);
    assert_success(DestroySolver(&solver));
  }
}

/* Without sealed components nothing is summed over ranks: not a bit may differ. */
static void cycle_does_not_show_the_ranks(void **state)
{
  (void)state;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(problems); p++) {
    Solver shared, alone;

    assert_success(CreateSolver(PETSC_COMM_WORLD, &problems[p], "cycle_", &shared));
    assert_success(CreateSolver(PETSC_COMM_SELF, &problems[p], "cycle_", &alone));
    assert_success(Solve(&shared, rough, 1e-8));
    assert_success(Solve(&alone, rough, 1e-8));
    assert_near(difference(&shared, &alone), 0., alone.report.null_vectors ? 1e-12 : 0.);
    assert_success(DestroySolver(&shared));
    assert_success(DestroySolver(&alone));
  }
}

static void answer_does_not_depend_on_the_ranks(void **state)
{
  (void)state;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(problems); p++) {
    /* round-off grows with the contrast and with the iterations that it takes */
    const PetscReal tolerance = problems[p].contrast + problems[p].drop > 0. ? 1e-9 : 1e-11;
    Solver          shared, alone;
    PetscReal       scale;

    assert_success(CreateSolver(PETSC_COMM_WORLD, &problems[p], "", &shared));
    assert_success(CreateSolver(PETSC_COMM_SELF, &problems[p], "", &alone));
    assert_success(Solve(&shared, rough, 1e-9));
    assert_success(Solve(&alone, rough, 1e-9));
    assert_success(VecNorm(alone.pressure, NORM_INFINITY, &scale));
    assert_near(difference(&shared, &alone), 0., tolerance * scale);
    assert_near(shared.report.iterations, alone.report.iterations, 0.);
    assert_near(shared.report.components, alone.report.components, 0.);
    assert_near(shared.report.null_vectors, alone.report.null_vectors, 0.);
    assert_success(DestroySolver(&shared));
    assert_success(DestroySolver(&alone));
  }
}

TEST_MAIN_WITH_OPTIONS("-cycle_ksp_type preonly", cmocka_unit_test(cycle_is_symmetric_and_positive),
                       cmocka_unit_test(every_size_and_shape_converges_fast),
                       cmocka_unit_test(cycle_does_not_show_the_ranks),
                       cmocka_unit_test(answer_does_not_depend_on_the_ranks))
