/* The Poisson problem of two materials: densities that jump, and cells that hold p = 0. */
#include "poisson_problem.h"

#define CUBE(n)                                                                                              \
  {                                                                                                          \
    n, n, n                                                                                                  \
  }

/* Liquids beside empty space: sizes, periods, obstacles, sides of all kinds. */
static const Problem empty[] = {
    {.dimension = 3, .cells = {17, 23, 13}, .surface = SURFACE_WAVES, .densities = {1., 0.}},
    {.dimension = 3,
     .cells = {24, 16, 20},
     .periodic = {PETSC_TRUE, PETSC_FALSE, PETSC_TRUE},
     .surface = SURFACE_SHEET,
     .densities = {1., 0.}},
    {.dimension = 3,
     .cells = {17, 15, 13},
     .periodic = PERIODIC,
     .surface = SURFACE_BALLS,
     .densities = {0., 1.}},
    {.dimension = 3,
     .cells = {16, 16, 16},
     .solids = SOLID_SPECKLES,
     .surface = SURFACE_DAM,
     .densities = {1., 0.}},
    {.dimension = 3, .cells = {9, 11, 10}, .surface = SURFACE_POOL, .densities = {1000., 0.}},
    {.dimension = 2, .cells = {51, 33, 1}, .surface = SURFACE_BALLS, .densities = {1., 0.}},
    {.dimension = 2,
     .cells = {25, 35, 1},
     .periodic = PERIODIC,
     .surface = SURFACE_WAVES,
     .densities = {1., 0.}},
    {.dimension = 2, .cells = {64, 40, 1}, .open = OPEN_TOP, .surface = SURFACE_BALL, .densities = {0., 1.}},
};

/* Sum over faces of weight (p - neighbour), written down directly. */
static PetscReal direct_product(const Problem *problem, const PetscInt at[DIM])
{
  PetscReal sum = 0.;

  if (is_fixed(problem, at))
    return 0.;
  for (PetscInt d = 0; d < problem->dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      const PetscInt n = problem->cells[d];
      PetscInt       face[DIM] = {at[X], at[Y], at[Z]}, beyond[DIM] = {at[X], at[Y], at[Z]};
      PetscReal      value = rough(problem, at);

      face[d] += side;
      beyond[d] += side ? 1 : -1;
      if (problem->periodic[d]) {
        face[d] %= n;
        beyond[d] = (beyond[d] + n) % n;
      }
      if (beyond[d] >= 0 && beyond[d] < n && !is_fixed(problem, beyond))
        value -= rough(problem, beyond);
      sum += face_weight(problem, d, face) * value;
    }
  return sum;
}

static void operator_joins_neighbours_of_fixed_cells_to_zero(void **state)
{
  (void)state;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(empty); p++) {
    Solver    solver;
    Vec       product, direct;
    PetscReal error, scale;

    assert_success(CreateSolver(PETSC_COMM_WORLD, &empty[p], "", &solver));
    assert_success(MacGridCreateField(solver.grid, &product));
    assert_success(MacGridCreateField(solver.grid, &direct));
    assert_success(Fill(&solver, rough, solver.pressure));
    assert_success(PoissonApply(solver.poisson, solver.pressure, product));
    assert_success(Fill(&solver, direct_product, direct));
    assert_success(VecNorm(direct, NORM_INFINITY, &scale));
    assert_success(VecAXPY(direct, -1., product));
    assert_success(VecNorm(direct, NORM_INFINITY, &error));
    assert_on_all_ranks(error <= 1e-13 * PetscMax(scale, 1e-3));
    assert_success(VecDestroy(&product));
    assert_success(VecDestroy(&direct));
    assert_success(DestroySolver(&solver));
  }
}

/* A factorisation of the assembled matrix solves the matrix-free problem at once. */
static void assembled_matrix_is_the_operator(void **state)
{
  PetscBool has_mumps;

  (void)state;
  assert_success(PetscHasExternalPackage("mumps", &has_mumps));
  if (!has_mumps)
    skip();
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(empty); p++) {
    Solver    geometric, direct;
    PetscReal scale;

    assert_success(CreateSolver(PETSC_COMM_WORLD, &empty[p], "", &geometric));
    assert_success(CreateSolver(PETSC_COMM_WORLD, &empty[p], "direct_", &direct));
    assert_success(Solve(&geometric, rough, 1e-12));
    assert_near(geometric.report.null_vectors, 0, 0.);
    assert_success(Solve(&direct, rough, 1e-9));
    assert_on_all_ranks(direct.report.reason > 0 && direct.report.iterations <= 2);
    assert_success(VecNorm(direct.pressure, NORM_INFINITY, &scale));
    assert_success(VecAXPY(direct.pressure, -1., geometric.pressure));
    assert_success(VecNorm(direct.pressure, NORM_INFINITY, &direct.report.residual));
    assert_on_all_ranks(direct.report.residual <= 1e-8 * PetscMax(scale, 1e-6));
    assert_success(DestroySolver(&geometric));
    assert_success(DestroySolver(&direct));
  }
}

static void cycle_is_symmetric_and_positive(void **state)
{
  (void)state;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(empty); p++)
    assert_cycle_is_symmetric_and_positive(&empty[p]);
}

static void ranks_do_not_show(void **state)
{
  (void)state;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(empty); p++) {
    Solver    shared, alone;
    PetscReal scale;

    assert_success(CreateSolver(PETSC_COMM_WORLD, &empty[p], "cycle_", &shared));
    assert_success(CreateSolver(PETSC_COMM_SELF, &empty[p], "cycle_", &alone));
    assert_success(Solve(&shared, rough, 1e-8));
    assert_success(Solve(&alone, rough, 1e-8));
    assert_near(difference(&shared, &alone), 0., 0.);
    assert_near(shared.report.components, alone.report.components, 0.);
    assert_near(shared.report.null_vectors, alone.report.null_vectors, 0.);
    assert_success(DestroySolver(&shared));
    assert_success(DestroySolver(&alone));
    assert_success(CreateSolver(PETSC_COMM_WORLD, &empty[p], "", &shared));
    assert_success(CreateSolver(PETSC_COMM_SELF, &empty[p], "", &alone));
    assert_success(Solve(&shared, rough, 1e-9));
    assert_success(Solve(&alone, rough, 1e-9));
    assert_success(VecNorm(alone.pressure, NORM_INFINITY, &scale));
    assert_near(difference(&shared, &alone), 0., 1e-11 * scale);
    assert_near(shared.report.iterations, alone.report.iterations, 0.);
    assert_success(DestroySolver(&shared));
    assert_success(DestroySolver(&alone));
  }
}

/* In a box with walls all around: two phases are sealed in. */
static const Problem fast[] = {
    {.dimension = 3, .cells = CUBE(32), .surface = SURFACE_POOL, .densities = {1., 1e-3}},
    {.dimension = 3, .cells = CUBE(32), .surface = SURFACE_DAM, .densities = {1., 1e-3}},
    {.dimension = 3, .cells = CUBE(32), .surface = SURFACE_WAVES, .densities = {1., 1e-3}},
    {.dimension = 3, .cells = CUBE(32), .surface = SURFACE_BALL, .densities = {1., 1e-3}},
    {.dimension = 3, .cells = CUBE(32), .surface = SURFACE_BALL, .densities = {1e-3, 1.}},
    {.dimension = 3, .cells = CUBE(32), .surface = SURFACE_BALLS, .densities = {1., 1e-3}},
    {.dimension = 3, .cells = CUBE(32), .surface = SURFACE_SHEET, .densities = {1., 1e-3}},
    {.dimension = 3, .cells = {33, 31, 35}, .surface = SURFACE_DAM, .densities = {1., 1e-3}},
    {.dimension = 3, .cells = CUBE(64), .surface = SURFACE_DAM, .densities = {1., 1e-3}},
    {.dimension = 3, .cells = CUBE(64), .surface = SURFACE_BALLS, .densities = {1e-3, 1.}},
    {.dimension = 2, .cells = {96, 64, 1}, .surface = SURFACE_DAM, .densities = {1., 1e-3}},
    {.dimension = 2, .cells = {65, 65, 1}, .surface = SURFACE_BALLS, .densities = {1e-3, 1.}},
};

/* Light balls of one to four cells, with gaps of a cell or less between them. */
static const Problem narrow[] = {
    {.dimension = 3, .cells = CUBE(32), .surface = SURFACE_BALLS, .densities = {1e-3, 1.}},
    {.dimension = 3,
     .cells = {33, 30, 31},
     .open = OPEN_TOP,
     .surface = SURFACE_BALLS,
     .densities = {1e-3, 1.}},
};

static const Problem fast_empty[] = {
    {.dimension = 3, .cells = CUBE(32), .surface = SURFACE_POOL, .densities = {1., 0.}},
    {.dimension = 3, .cells = CUBE(32), .surface = SURFACE_DAM, .densities = {1., 0.}},
    {.dimension = 3, .cells = CUBE(32), .surface = SURFACE_WAVES, .densities = {1., 0.}},
    {.dimension = 3, .cells = CUBE(32), .surface = SURFACE_BALL, .densities = {1., 0.}},
    {.dimension = 3, .cells = CUBE(32), .surface = SURFACE_BALLS, .densities = {1., 0.}},
    {.dimension = 3, .cells = CUBE(32), .surface = SURFACE_BALLS, .densities = {0., 1.}},
    {.dimension = 3, .cells = CUBE(32), .surface = SURFACE_SHEET, .densities = {1., 0.}},
    {.dimension = 3, .cells = CUBE(64), .surface = SURFACE_WAVES, .densities = {1., 0.}},
};

static void check_iterations(size_t count, const Problem *list, PetscInt enough)
{
  for (size_t p = 0; p < count; p++) {
    Solver solver;

    assert_success(CreateSolver(PETSC_COMM_WORLD, &list[p], "", &solver));
    assert_success(Solve(&solver, rough, 1e-8));
    assert_on_all_ranks(solver.report.reason > 0);
    assert_on_all_ranks(solver.report.residual < 1.5e-8);
    assert_on_all_ranks(solver.report.iterations <= enough);
    assert_success(DestroySolver(&solver));
  }
}

static void jumps_of_a_thousand_take_twenty_iterations(void **state)
{
  (void)state;
  check_iterations(PETSC_STATIC_ARRAY_LENGTH(fast), fast, 20);
  check_iterations(PETSC_STATIC_ARRAY_LENGTH(narrow), narrow, 26);
}

static void free_surfaces_take_no_more_than_plain_boxes(void **state)
{
  (void)state;
  check_iterations(PETSC_STATIC_ARRAY_LENGTH(fast_empty), fast_empty, 13);
  check_iterations(PETSC_STATIC_ARRAY_LENGTH(empty), empty, 14);
}

/* sin(pi r^2/R^2) in the ball of SURFACE_BALL: zero on its surface. */
static PetscReal square_radius(const Problem *problem, const PetscInt at[DIM])
{
  const PetscReal h = 1. / problem->cells[X];
  const PetscReal x[DIM] = {(at[X] + 0.5) * h, (at[Y] + 0.5) * h, (at[Z] + 0.5) * h};

  return PetscSqr(ball(problem->dimension, x) + 0.3);
}

static PetscReal ring(const Problem *problem, const PetscInt at[DIM])
{
  const PetscReal angle = PETSC_PI / PetscSqr(0.3) * square_radius(problem, at);

  return is_fixed(problem, at) ? 0. : PetscSinReal(angle);
}

/* Minus the Laplacian of that, times h^2. */
static PetscReal ring_source(const Problem *problem, const PetscInt at[DIM])
{
  const PetscReal a = PETSC_PI / PetscSqr(0.3), square = square_radius(problem, at);
  const PetscReal laplacian = -4. * a * a * square * PetscSinReal(a * square) +
                              2. * problem->dimension * a * PetscCosReal(a * square);

  return -laplacian / PetscSqr((PetscReal)problem->cells[X]);
}

static PetscReal ring_error(const Problem *problem)
{
  Solver    solver;
  Vec       exact;
  PetscReal error;

  assert_success(CreateSolver(PETSC_COMM_WORLD, problem, "", &solver));
  assert_success(Solve(&solver, ring_source, 1e-10));
  assert_near(solver.report.null_vectors, 0, 0.);
  assert_success(MacGridCreateField(solver.grid, &exact));
  assert_success(Fill(&solver, ring, exact));
  assert_success(VecAXPY(exact, -1., solver.pressure));
  assert_success(VecNorm(exact, NORM_INFINITY, &error));
  (void)MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD);
  assert_success(VecDestroy(&exact));
  assert_success(DestroySolver(&solver));
  return error;
}

static void pressure_at_a_round_surface_is_of_order_two(void **state)
{
  const Problem circle[] = {
      {.dimension = 2, .cells = {32, 32, 1}, .surface = SURFACE_BALL, .densities = {1., 0.}},
      {.dimension = 2, .cells = {128, 128, 1}, .surface = SURFACE_BALL, .densities = {1., 0.}}};
  const Problem sphere[] = {
      {.dimension = 3, .cells = CUBE(20), .surface = SURFACE_BALL, .densities = {1., 0.}},
      {.dimension = 3, .cells = CUBE(60), .surface = SURFACE_BALL, .densities = {1., 0.}}};

  (void)state;
  assert_on_all_ranks(PetscLogReal(ring_error(&circle[0]) / ring_error(&circle[1])) / PetscLogReal(4.) > 1.9);
  assert_on_all_ranks(PetscLogReal(ring_error(&sphere[0]) / ring_error(&sphere[1])) / PetscLogReal(3.) > 1.9);
}

static PetscReal push(const Problem *problem, const PetscInt at[DIM])
{
  return 1. + rough(problem, at);
}

/* Two rooms: the first has a surface, the second is full. Only that one is balanced. */
static void a_full_room_beside_one_with_a_surface(void **state)
{
  Problem problem = {.dimension = 3,
                     .cells = {20, 17, 16},
                     .solids = SOLID_PARTITION,
                     .surface = SURFACE_DAM,
                     .densities = {0., 1.}};
  Solver  solver;

  (void)state; /* empty where x < 0.4 and y < 0.5 */
  assert_success(CreateSolver(PETSC_COMM_WORLD, &problem, "", &solver));
  assert_success(Solve(&solver, push, 1e-9));
  assert_near(solver.report.components, 2, 0.);
  assert_near(solver.report.null_vectors, 1, 0.);
  assert_on_all_ranks(solver.report.reason > 0 && solver.report.iterations <= 14);
  assert_on_all_ranks(solver.report.residual < 2e-9);
  assert_success(DestroySolver(&solver));
}

static void a_box_without_liquid_has_nothing_to_solve(void **state)
{
  const Problem problem = {
      .dimension = 3, .cells = {8, 9, 10}, .surface = SURFACE_BALL, .densities = {0., 0.}};
  Solver    solver;
  PetscReal largest;

  (void)state;
  assert_success(CreateSolver(PETSC_COMM_WORLD, &problem, "", &solver));
  assert_success(Solve(&solver, push, 1e-9));
  assert_success(VecNorm(solver.pressure, NORM_INFINITY, &largest));
  assert_near(solver.report.components, 0, 0.);
  assert_on_all_ranks(solver.report.reason > 0);
  assert_near(largest, 0., 0.);
  assert_success(DestroySolver(&solver));
}

TEST_MAIN_WITH_OPTIONS("-cycle_ksp_type preonly -direct_pc_type lu -direct_pc_factor_mat_solver_type mumps",
                       cmocka_unit_test(operator_joins_neighbours_of_fixed_cells_to_zero),
                       cmocka_unit_test(assembled_matrix_is_the_operator),
                       cmocka_unit_test(cycle_is_symmetric_and_positive), cmocka_unit_test(ranks_do_not_show),
                       cmocka_unit_test(jumps_of_a_thousand_take_twenty_iterations),
                       cmocka_unit_test(free_surfaces_take_no_more_than_plain_boxes),
                       cmocka_unit_test(pressure_at_a_round_surface_is_of_order_two),
                       cmocka_unit_test(a_full_room_beside_one_with_a_surface),
                       cmocka_unit_test(a_box_without_liquid_has_nothing_to_solve))
