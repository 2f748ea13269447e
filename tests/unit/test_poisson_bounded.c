/* A p >= r, p >= l: the solvers against each other, against projected Gauss-Seidel, and what defines the
   answer. */
#include "poisson_problem.h"

#include <millrace/bounded.h>

/* Right sides as they occur in splashes, in units of a cell's weight. */
static PetscReal weight_on_ground(const Problem *problem, const PetscInt at[DIM])
{
  (void)problem;
  return (at[Y] == 0 ? 1. : 0.) - 0.02 * noise(5, at);
}

static PetscReal burst(const Problem *problem, const PetscInt at[DIM])
{
  PetscReal square = 0.;

  for (PetscInt d = 0; d < problem->dimension; d++)
    square += PetscSqr((at[d] + 0.5) / problem->cells[d] - 0.4);
  return (square < 0.02 ? -2. : square < 0.05 ? 0.7 : 0.) - 0.01 * noise(5, at);
}

static PetscReal slack_tank(const Problem *problem, const PetscInt at[DIM])
{
  return rough(problem, at) - 0.1;
}

static PetscReal overfull_tank(const Problem *problem, const PetscInt at[DIM])
{
  return rough(problem, at) + 0.1;
}

/* One push each way in every pair; a third of these are overfull, a third balanced. */
static PetscReal sealed_pairs(const Problem *problem, const PetscInt at[DIM])
{
  (void)problem;
  return (at[X] % 2 ? 0.5 : -0.5) + 0.25 * ((at[X] / 2 + at[Y]) % 3 - 1);
}

typedef struct {
  Problem      problem;
  CellFunction right_side;
  PetscInt     overfull;
} Case;

#define WATER                                                                                                \
  {                                                                                                          \
    1., 0.                                                                                                   \
  }
static const Case cases[] = {
    {{.dimension = 3, .cells = {20, 18, 14}, .surface = SURFACE_DAM, .densities = WATER},
     weight_on_ground,
     0},
    {{.dimension = 3, .cells = {16, 16, 16}, .surface = SURFACE_POOL, .densities = WATER}, burst, 0},
    {{.dimension = 3, .cells = {14, 16, 18}, .surface = SURFACE_BALL, .densities = WATER}, rough, 0},
    {{.dimension = 3, .cells = {12, 14, 16}}, slack_tank, 0},
    {{.dimension = 3, .cells = {12, 14, 16}}, overfull_tank, 1},
    {{.dimension = 3, .cells = {12, 16, 14}, .solids = SOLID_PARTITION}, overfull_tank, 2},
    {{.dimension = 3, .cells = {16, 16, 16}, .open = OPEN_TOP, .solids = SOLID_SPECKLES}, rough, 0},
    {{.dimension = 3, .cells = {17, 11, 13}, .periodic = PERIODIC, .contrast = 10.}, slack_tank, 0},
    {{.dimension = 2, .cells = {40, 31, 1}, .surface = SURFACE_WAVES, .densities = WATER},
     weight_on_ground,
     0},
    {{.dimension = 2, .cells = {25, 35, 1}, .open = OPEN_TOP, .contrast = 100.}, rough, 0},
    {{.dimension = 2, .cells = {12, 9, 1}, .solids = SOLID_PAIRS}, sealed_pairs, 18},
};
enum { CASES = PETSC_STATIC_ARRAY_LENGTH(cases) };

/* Room for a lower bound is made if there is a function for it. */
static BoundedReport solve(const Case *one, BoundedSolver kind, CellFunction bound, PetscReal tolerance,
                           Solver *solver)
{
  Bounded       bounded;
  BoundedReport report;
  Vec           weights[DIM], fixed, lower = NULL;

  assert_success(CreateSolver(PETSC_COMM_WORLD, &one->problem, "", solver));
  assert_success(CreateWeights(solver->grid, &one->problem, weights));
  assert_success(CreateFixed(solver, &fixed));
  assert_success(BoundedCreate(solver->grid, "", kind, &bounded));
  assert_success(BoundedSetWeights(bounded, weights, fixed));
  assert_success(Fill(solver, one->right_side, solver->right_side));
  if (bound) {
    assert_success(MacGridCreateField(solver->grid, &lower));
    assert_success(Fill(solver, bound, lower));
  }
  assert_success(BoundedSolve(bounded, solver->right_side, lower, (BoundedTolerance){.relative = tolerance},
                              solver->pressure, &report));
  assert_on_all_ranks(report.converged);
  assert_success(VecDestroy(&lower));
  assert_success(VecDestroy(&fixed));
  assert_success(MacGridDestroyFaceField(weights));
  assert_success(BoundedDestroy(&bounded));
  return report;
}

static PetscReal largest(Vec field)
{
  PetscReal norm;

  PetscCallAbort(PETSC_COMM_SELF, VecNorm(field, NORM_INFINITY, &norm));
  MPI_Allreduce(MPI_IN_PLACE, &norm, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD);
  return norm;
}

static PetscReal distance_between(const Solver *a, const Solver *b)
{
  PetscReal apart = difference(a, b);

  MPI_Allreduce(MPI_IN_PLACE, &apart, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD);
  return apart;
}

static void all_solvers_agree(void **state)
{
  (void)state;
  for (PetscInt n = 0; n < CASES; n++) {
    Solver              first;
    const BoundedReport a = solve(&cases[n], BOUNDED_MPRGP, NULL, 1e-13, &first);

    assert_on_all_ranks(largest(first.pressure) > 0.);
    assert_on_all_ranks(a.overfull == cases[n].overfull);
    for (PetscInt kind = BOUNDED_ACTIVE_SET; kind <= BOUNDED_THESIS; kind++) {
      Solver              second;
      const BoundedReport b = solve(&cases[n], (BoundedSolver)kind, NULL, 1e-13, &second);

      assert_near(distance_between(&first, &second), 0., 1e-10 * largest(first.pressure));
      assert_on_all_ranks(b.overfull == cases[n].overfull);
      assert_success(DestroySolver(&second));
    }
    assert_success(DestroySolver(&first));
  }
}

/* The reference: every rank solves the whole problem by projected Gauss-Seidel, straight from the weights. */
typedef struct {
  const Problem *problem;
  PetscReal     *p;
} Reference;

static PetscInt flat(const Problem *problem, const PetscInt at[DIM])
{
  return at[X] + problem->cells[X] * (at[Y] + problem->cells[Y] * at[Z]);
}

/* The neighbour's value across a face, 0 beyond an open side; adds its weight. */
static PetscReal across(const Reference *reference, const PetscInt at[DIM], PetscInt d, PetscInt side,
                        PetscReal *diagonal)
{
  const PetscInt n = reference->problem->cells[d];
  PetscInt       face[DIM] = {at[X], at[Y], at[Z]}, beyond[DIM] = {at[X], at[Y], at[Z]};
  PetscReal      weight;

  face[d] += side;
  beyond[d] += 2 * side - 1;
  if (reference->problem->periodic[d]) {
    face[d] %= n;
    beyond[d] = (beyond[d] + n) % n;
  }
  weight = face_weight(reference->problem, d, face);
  *diagonal += weight;
  if (beyond[d] < 0 || beyond[d] >= n)
    return 0.;
  return weight * reference->p[flat(reference->problem, beyond)];
}

/* The change of one cell. */
static PetscReal relax(const Reference *reference, CellFunction right_side, CellFunction bound,
                       const PetscInt at[DIM])
{
  PetscReal *p = &reference->p[flat(reference->problem, at)], sum = right_side(reference->problem, at);
  PetscReal  diagonal = 0., old = *p;

  for (PetscInt d = 0; d < reference->problem->dimension; d++)
    for (PetscInt side = 0; side < 2; side++)
      sum += across(reference, at, d, side, &diagonal);
  if (diagonal > 0. && !is_fixed(reference->problem, at))
    *p = PetscMax(bound ? bound(reference->problem, at) : 0., old + 1.5 * (sum / diagonal - old));
  return PetscAbsReal(*p - old);
}

static void relax_until_still(const Reference *reference, CellFunction right_side, CellFunction bound)
{
  const PetscInt *cells = reference->problem->cells;
  PetscReal       change = 1.;
  PetscInt        at[DIM];

  for (PetscInt sweep = 0; sweep < 20000 && change > 1e-15; sweep++) {
    change = 0.;
    for (at[Z] = 0; at[Z] < cells[Z]; at[Z]++)
      for (at[Y] = 0; at[Y] < cells[Y]; at[Y]++)
        for (at[X] = 0; at[X] < cells[X]; at[X]++)
          change = PetscMax(change, relax(reference, right_side, bound, at));
  }
}

static PetscReal distance_from_reference(const Solver *solver, const Reference *reference)
{
  const GridBox   *box = grid_box(solver->grid);
  const PetscReal *values;
  PetscReal        apart = 0.;

  PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(solver->pressure, &values));
  FOR_PLACES(box, at)
    apart = PetscMax(apart, PetscAbsReal(values[box_index(box, at[X], at[Y], at[Z])] -
                                         reference->p[flat(reference->problem, at)]));
  PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(solver->pressure, &values));
  MPI_Allreduce(MPI_IN_PLACE, &apart, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD);
  return apart;
}

static void assert_like_reference(const Case *one, CellFunction bound)
{
  const PetscInt *cells = one->problem.cells;
  Reference       reference = {.problem = &one->problem};

  assert_success(PetscCalloc1(cells[X] * cells[Y] * cells[Z], &reference.p));
  relax_until_still(&reference, one->right_side, bound);
  for (PetscInt kind = BOUNDED_MPRGP; kind <= BOUNDED_THESIS; kind++) {
    Solver solver;

    (void)solve(one, (BoundedSolver)kind, bound, 1e-13, &solver);
    assert_near(distance_from_reference(&solver, &reference), 0., 1e-10 * largest(solver.pressure));
    assert_success(DestroySolver(&solver));
  }
  assert_success(PetscFree(reference.p));
}

static void small_problems_agree_with_projected_relaxation(void **state)
{
  const Case small[] = {
      {{.dimension = 3, .cells = {10, 9, 8}, .surface = SURFACE_DAM, .densities = WATER},
       weight_on_ground,
       0},
      {{.dimension = 3, .cells = {8, 8, 8}, .open = OPEN_TOP, .solids = SOLID_SPECKLES}, rough, 0},
      {{.dimension = 3, .cells = {8, 9, 10}}, slack_tank, 0},
      {{.dimension = 2, .cells = {16, 14, 1}, .periodic = {PETSC_TRUE}, .contrast = 10.}, slack_tank, 0},
      {{.dimension = 2, .cells = {18, 15, 1}, .surface = SURFACE_BALL, .densities = WATER}, burst, 0},
  };

  (void)state;
  for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(small); n++)
    assert_like_reference(&small[n], NULL);
}

/* Bounds of all kinds: finite ones of either sign, and none at all in a part of the box. */
static PetscReal mixed_bound(const Problem *problem, const PetscInt at[DIM])
{
  return at[X] < problem->cells[X] / 3 ? PETSC_NINFINITY : noise(4, at) - 0.7;
}

static void bounds_may_be_any(void **state)
{
  const Case small[] = {
      {{.dimension = 3, .cells = {8, 8, 8}, .open = OPEN_TOP, .solids = SOLID_SPECKLES}, rough, 0},
      {{.dimension = 2, .cells = {14, 12, 1}}, slack_tank, 0},
  };

  (void)state;
  for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(small); n++)
    assert_like_reference(&small[n], mixed_bound);
}

static PetscReal no_bound(const Problem *problem, const PetscInt at[DIM])
{
  (void)problem, (void)at;
  return PETSC_NINFINITY;
}

static void without_bounds_it_is_the_poisson_problem(void **state)
{
  const Case one = {{.dimension = 3, .cells = {12, 13, 14}, .open = OPEN_TOP}, rough, 0};
  Solver     bounded, plain;

  (void)state;
  (void)solve(&one, BOUNDED_MPRGP, no_bound, 1e-13, &bounded);
  assert_success(CreateSolver(PETSC_COMM_WORLD, &one.problem, "", &plain));
  assert_success(Solve(&plain, rough, 1e-13));
  assert_near(distance_between(&bounded, &plain), 0., 1e-11);
  assert_success(DestroySolver(&bounded));
  assert_success(DestroySolver(&plain));
}

/* With b = -r: |min(p, A p + b)| is what the report says, computed here from PoissonApply. */
static void answer_is_complementary(void **state)
{
  (void)state;
  for (PetscInt n = 0; n < CASES; n++) {
    Solver              solver;
    const BoundedReport report = solve(&cases[n], BOUNDED_MPRGP, NULL, 1e-8, &solver);
    PetscReal           least;

    assert_success(VecMin(solver.pressure, NULL, &least));
    assert_on_all_ranks(least >= 0.);
    assert_on_all_ranks(report.residual <= 1e-7);
    assert_on_all_ranks(report.free_cells > 0);
    assert_success(DestroySolver(&solver));
  }
}

/* On a floor, the lowest five cells full: p = 5 - j, by hand. */
static PetscReal column(const Problem *problem, const PetscInt at[DIM])
{
  (void)problem;
  return at[Y] == 0 ? 1. : at[Y] < 5 ? 0. : -10.;
}

static void a_full_column_is_hydrostatic(void **state)
{
  const Case one = {{.dimension = 2, .cells = {8, 12, 1}, .open = OPEN_TOP}, column, 0};
  Solver     solver;

  (void)state;
  (void)solve(&one, BOUNDED_MPRGP, NULL, 1e-13, &solver);
  {
    const GridBox   *box = grid_box(solver.grid);
    const PetscReal *p;
    PetscReal        error = 0.;

    assert_success(VecGetArrayRead(solver.pressure, &p));
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
      for (PetscInt i = box->start[X]; i < box->end[X]; i++)
        error = PetscMax(error, PetscAbsReal(p[box_index(box, i, j, 0)] - PetscMax(5. - j, 0.)));
    assert_success(VecRestoreArrayRead(solver.pressure, &p));
    assert_near(error, 0., 1e-11);
  }
  assert_success(DestroySolver(&solver));
}

static PetscReal only_slack(const Problem *problem, const PetscInt at[DIM])
{
  return rough(problem, at) - 0.5;
}

static void nothing_that_pushes_takes_no_cycle(void **state)
{
  const Case one = {{.dimension = 3, .cells = {8, 8, 8}, .open = OPEN_TOP}, only_slack, 0};

  (void)state;
  for (PetscInt kind = BOUNDED_MPRGP; kind <= BOUNDED_THESIS; kind++) {
    Solver              solver;
    const BoundedReport report = solve(&one, (BoundedSolver)kind, NULL, 1e-8, &solver);

    assert_on_all_ranks(report.cycles == 0 && largest(solver.pressure) == 0.);
    assert_success(DestroySolver(&solver));
  }
}

static void cycles_and_set_ups_stay_few(void **state)
{
  const Case one = {{.dimension = 3, .cells = {48, 40, 36}, .surface = SURFACE_DAM, .densities = WATER},
                    weight_on_ground,
                    0};
  Solver     solver;

  (void)state;
  for (PetscInt kind = BOUNDED_MPRGP; kind <= BOUNDED_ACTIVE_SET; kind++) {
    const BoundedReport report = solve(&one, (BoundedSolver)kind, NULL, 1e-6, &solver);

    if (!harness_rank())
      printf("# %s: %d cycles, %d set-ups, %d expansions, %d proportionings\n", BoundedSolvers[kind],
             (int)report.cycles, (int)report.set_ups, (int)report.expansions, (int)report.proportionings);
    assert_on_all_ranks(report.cycles <= 20 && report.set_ups <= 10);
    assert_success(DestroySolver(&solver));
  }
}

TEST_MAIN(cmocka_unit_test(a_full_column_is_hydrostatic), cmocka_unit_test(all_solvers_agree),
          cmocka_unit_test(small_problems_agree_with_projected_relaxation),
          cmocka_unit_test(bounds_may_be_any), cmocka_unit_test(without_bounds_it_is_the_poisson_problem),
          cmocka_unit_test(answer_is_complementary), cmocka_unit_test(nothing_that_pushes_takes_no_cycle),
          cmocka_unit_test(cycles_and_set_ups_stay_few))
