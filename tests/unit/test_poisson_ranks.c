/* The multigrid on numbers of ranks that are no powers of two. */
#include "poisson_problem.h"

#include <poisson/poisson_impl.h>

static const Problem divided[] = {
    {.dimension = 3, .cells = {40, 36, 28}, .open = OPEN_TOP, .solids = SOLID_SPECKLES},
    {.dimension = 3, .cells = {35, 32, 29}, .periodic = PERIODIC, .solids = SOLID_SPECKLES},
    {.dimension = 3, .cells = {30, 42, 31}, .open = OPEN_TOP, .contrast = 1000.},
    {.dimension = 2, .cells = {90, 77, 1}, .open = OPEN_TOP, .solids = SOLID_SPECKLES},
    {.dimension = 2, .cells = {75, 98, 1}, .periodic = PERIODIC},
};

static void cycle_and_iterations_do_not_show_the_ranks(void **state)
{
  (void)state;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(divided); p++) {
    for (PetscInt whole = 0; whole < 2; whole++) {
      const char *prefix = whole ? "" : "cycle_";
      Solver      shared, alone;

      assert_success(CreateSolver(PETSC_COMM_WORLD, &divided[p], prefix, &shared));
      assert_success(CreateSolver(PETSC_COMM_SELF, &divided[p], prefix, &alone));
      assert_success(Solve(&shared, rough, 1e-9));
      assert_success(Solve(&alone, rough, 1e-9));
      if (whole)
        assert_near(shared.report.iterations, alone.report.iterations, 0.);
      else
        assert_near(difference(&shared, &alone), 0., alone.report.null_vectors ? 1e-12 : 0.);
      assert_success(DestroySolver(&shared));
      assert_success(DestroySolver(&alone));
    }
  }
}

/* No rank holds more of a level than about twice its share, as long as there are cells enough for all. */
static void every_level_is_shared(void **state)
{
  PetscMPIInt size;

  (void)state;
  assert_success(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(divided); p++) {
    Solver solver;
    int    held[LEVELS_MAX] = {0};

    assert_success(CreateSolver(PETSC_COMM_WORLD, &divided[p], "", &solver));
    for (PetscInt l = 0; l < solver.poisson->multigrid->count; l++) {
      const Level *level = &solver.poisson->multigrid->levels[l];

      held[l] = level->idle ? 0 : 1;
      for (PetscInt d = 0; d < DIM && held[l]; d++)
        held[l] *= (int)(level->box.end[d] - level->box.start[d]);
    }
    assert_success(MPI_Allreduce(MPI_IN_PLACE, held, LEVELS_MAX, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
    for (PetscInt l = 0, cells = 1; l < LEVELS_MAX; l++) {
      for (PetscInt d = cells = 1; d < DIM + 1; d++)
        cells *= ((divided[p].cells[d - 1] - 1) >> l) + 1;
      if (cells >= 512 * size)
        assert_on_all_ranks(held[l] > 0 && held[l] <= 2. * cells / size);
    }
    assert_success(DestroySolver(&solver));
  }
}

TEST_MAIN_WITH_OPTIONS("-cycle_ksp_type preonly",
                       cmocka_unit_test(cycle_and_iterations_do_not_show_the_ranks),
                       cmocka_unit_test(every_level_is_shared))
