/* Poisson problems that every rank can evaluate anywhere, shared by the tests of the solver. */
#ifndef MILLRACE_TESTS_POISSON_PROBLEM_H
#define MILLRACE_TESTS_POISSON_PROBLEM_H

#include "harness.h"

#include <millrace/poisson.h>

typedef enum { SOLID_NONE, SOLID_SPECKLES, SOLID_PARTITION, SOLID_PAIRS } Solids;

/* Where the first of two materials is. */
typedef enum {
  SURFACE_NONE,
  SURFACE_POOL,
  SURFACE_DAM,
  SURFACE_WAVES,
  SURFACE_BALL,
  SURFACE_BALLS,
  SURFACE_SHEET, /* a thin one above a pool */
} Surface;

typedef struct {
  PetscInt  dimension, cells[DIM];
  PetscBool periodic[DIM];
  PetscBool open[DIM][2];
  Solids    solids;
  PetscReal contrast; /* weights from 1 to this; 0: all 1 */
  PetscReal drop;     /* density of a ball in the middle; 0: as outside */
  Surface   surface;
  PetscReal densities[2]; /* on its two sides; 0: empty, p = 0 */
} Problem;

#define PERIODIC                                                                                             \
  {                                                                                                          \
    PETSC_TRUE, PETSC_TRUE, PETSC_TRUE                                                                       \
  }
#define OPEN_TOP                                                                                             \
  {                                                                                                          \
    {PETSC_FALSE, PETSC_FALSE}, {PETSC_FALSE, PETSC_TRUE},                                                   \
    {                                                                                                        \
      PETSC_FALSE, PETSC_FALSE                                                                               \
    }                                                                                                        \
  }

/* All kinds of sizes, sides, obstacles and weights. */
static const Problem problems[] = {
    {.dimension = 3, .cells = {32, 32, 32}, .open = OPEN_TOP, .solids = SOLID_SPECKLES},
    {.dimension = 3, .cells = {17, 23, 13}, .solids = SOLID_SPECKLES},
    {.dimension = 3, .cells = {24, 16, 20}, .periodic = PERIODIC, .solids = SOLID_SPECKLES},
    {.dimension = 3, .cells = {17, 11, 13}, .periodic = PERIODIC, .solids = SOLID_SPECKLES},
    {.dimension = 3,
     .cells = {9, 16, 19},
     .periodic = {PETSC_FALSE, PETSC_TRUE, PETSC_TRUE},
     .open = OPEN_TOP},
    {.dimension = 3, .cells = {9, 11, 10}, .open = OPEN_TOP}, /* odd boundaries between four ranks */
    {.dimension = 3, .cells = {64, 5, 4}, .open = OPEN_TOP},
    {.dimension = 3, .cells = {4, 4, 37}, .solids = SOLID_SPECKLES},
    {.dimension = 3, .cells = {16, 16, 16}, .open = OPEN_TOP, .contrast = 1000.},
    {.dimension = 3, .cells = {16, 15, 17}, .contrast = 1000., .solids = SOLID_SPECKLES},
    {.dimension = 3, .cells = {32, 31, 30}, .open = OPEN_TOP, .drop = 1000.},
    {.dimension = 2, .cells = {64, 64, 1}, .open = OPEN_TOP, .solids = SOLID_SPECKLES},
    {.dimension = 2, .cells = {51, 33, 1}},
    {.dimension = 2, .cells = {25, 35, 1}, .periodic = PERIODIC, .solids = SOLID_SPECKLES},
    {.dimension = 2, .cells = {22, 15, 1}, .periodic = {PETSC_FALSE, PETSC_TRUE}, .open = {{PETSC_TRUE}}},
    {.dimension = 2, .cells = {200, 4, 1}, .open = OPEN_TOP},
    {.dimension = 2, .cells = {40, 50, 1}, .contrast = 1000., .open = OPEN_TOP},
};

typedef struct {
  const Problem *problem;
  MacGrid        grid;
  Poisson        poisson;
  Vec            right_side, pressure;
  PoissonReport  report;
} Solver;

/* Between 0 and 1, the same on any number of ranks. */
static inline PetscReal noise(PetscInt seed, const PetscInt at[DIM])
{
  uint64_t bits = (uint64_t)(at[X] + 4096 * (at[Y] + 4096 * (PetscInt64)at[Z])) * 16 + (uint64_t)seed + 1;

  for (PetscInt round = 0; round < 3; round++) {
    bits *= 0x9E3779B97F4A7C15u;
    bits ^= bits >> 29;
  }
  return (PetscReal)(bits >> 12) / (PetscReal)(1ull << 52);
}

static inline PetscBool is_solid(const Problem *problem, const PetscInt at[DIM])
{
  switch (problem->solids) {
  case SOLID_SPECKLES:
    return noise(1, (PetscInt[]){at[X] / 2, at[Y] / 2, at[Z] / 2}) < 0.15;
  case SOLID_PARTITION:
    return at[X] == problem->cells[X] / 2 || at[X] == problem->cells[X] / 2 + 1;
  default:
    return PETSC_FALSE;
  }
}

static inline PetscReal density(const Problem *problem, const PetscInt at[DIM])
{
  PetscReal distance = 0.;

  for (PetscInt d = 0; d < problem->dimension; d++)
    distance += PetscSqr((at[d] + 0.5) / problem->cells[d] - 0.5);
  return problem->drop > 0. && distance < PetscSqr(0.3) ? problem->drop : 1.;
}

static inline PetscReal balls(PetscInt dimension, const PetscReal x[DIM])
{
  PetscReal nearest = 1.;

  for (PetscInt ball = 0; ball < 24; ball++) {
    const PetscReal radius = 0.04 + 0.08 * noise(9, (PetscInt[]){ball, 3, 0});
    PetscReal       square = 0.;

    for (PetscInt d = 0; d < dimension; d++)
      square += PetscSqr(x[d] - noise(9, (PetscInt[]){ball, d, 0}));
    nearest = PetscMin(nearest, PetscSqrtReal(square) - radius);
  }
  return nearest;
}

static inline PetscReal ball(PetscInt dimension, const PetscReal x[DIM])
{
  static const PetscReal centre[DIM] = {0.48, 0.51, 0.53};
  PetscReal              square = 0.;

  for (PetscInt d = 0; d < dimension; d++)
    square += PetscSqr(x[d] - centre[d]);
  return PetscSqrtReal(square) - 0.3;
}

/* Negative in the first material; the box has the length 1 along x. */
static inline PetscReal surface_distance(const Problem *problem, const PetscInt at[DIM])
{
  const PetscReal h = 1. / problem->cells[X];
  const PetscReal x[DIM] = {(at[X] + 0.5) * h, (at[Y] + 0.5) * h, (at[Z] + 0.5) * h};
  const PetscReal wave = 0.05 * PetscSinReal(7. * x[X]) * PetscCosReal(5. * x[Z]);

  switch (problem->surface) {
  case SURFACE_POOL:
    return x[Y] - 0.5 - 0.532 * h;
  case SURFACE_DAM:
    return PetscMax(x[X] - 0.4, x[Y] - 0.5);
  case SURFACE_WAVES:
    return x[Y] - 0.5 - 2. * wave - 0.03 * PetscSinReal(20. * x[Z] + 25. * x[X]);
  case SURFACE_BALL:
    return ball(problem->dimension, x);
  case SURFACE_BALLS:
    return balls(problem->dimension, x);
  case SURFACE_SHEET:
    return PetscMin(PetscAbsReal(x[Y] - 0.55 - wave) - 1.3 * h, x[Y] - 0.2 - 0.4 * wave);
  default:
    return -1.;
  }
}

static inline PetscBool is_fixed(const Problem *problem, const PetscInt at[DIM])
{
  const PetscInt side = surface_distance(problem, at) < 0. ? 0 : 1;

  return problem->surface && !is_solid(problem, at) && problem->densities[side] == 0. ? PETSC_TRUE
                                                                                      : PETSC_FALSE;
}

/* 1/density along the way between two centres; from the surface to the liquid where one side is empty. */
static inline PetscReal mixed_weight(const Problem *problem, const PetscInt lower[DIM],
                                     const PetscInt upper[DIM])
{
  const PetscReal smallest = 1e-3, a = surface_distance(problem, lower), b = surface_distance(problem, upper);
  const PetscReal part = (a < 0.) == (b < 0.) ? 1. : PetscAbsReal(a) / (PetscAbsReal(a) + PetscAbsReal(b));
  const PetscReal density_a = problem->densities[a >= 0.], density_b = problem->densities[b >= 0.];

  if (density_a == 0. && density_b == 0.)
    return 0.;
  if (density_a == 0.)
    return 1. / (PetscMax(1. - part, smallest) * density_b);
  if (density_b == 0.)
    return 1. / (PetscMax(part, smallest) * density_a);
  return 1. / (part * density_a + (1. - part) * density_b);
}

static inline PetscReal face_weight(const Problem *problem, PetscInt d, const PetscInt at[DIM])
{
  const PetscInt  n = problem->cells[d];
  PetscInt        upper[DIM] = {at[X], at[Y], at[Z]}, lower[DIM] = {at[X], at[Y], at[Z]};
  const PetscReal weight = problem->contrast > 0. ? PetscPowReal(problem->contrast, noise(2 + d, at)) : 1.;

  lower[d] = at[d] - 1;
  if (problem->periodic[d])
    lower[d] = (at[d] + n - 1) % n;
  else if (at[d] == 0)
    return problem->open[d][0] && !is_solid(problem, upper) ? 2. * weight : 0.;
  else if (at[d] == n)
    return problem->open[d][1] && !is_solid(problem, lower) ? 2. * weight : 0.;
  if (problem->solids == SOLID_PAIRS)
    return d == X && at[X] % 2 ? weight : 0.;
  if (is_solid(problem, upper) || is_solid(problem, lower))
    return 0.;
  if (problem->surface)
    return weight * mixed_weight(problem, lower, upper);
  return weight * 2. / (density(problem, upper) + density(problem, lower));
}

static inline PetscErrorCode CreateWeights(MacGrid grid, const Problem *problem, Vec weights[DIM])
{
  const GridBox *box = grid_box(grid);
  PetscReal     *values[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridCreateFaceField(grid, weights));
  PetscCall(MacGridGetFaces(grid, weights, values));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange faces = grid_faces(grid, d);

    FOR_PLACES(&faces, at)
      values[d][box_index(box, at[X], at[Y], at[Z])] = face_weight(problem, d, at);
  }
  PetscCall(MacGridRestoreFaces(grid, weights, values));
  PetscFunctionReturn(0);
}

/* Fills a cell field with a function of the cell's place. */
typedef PetscReal (*CellFunction)(const Problem *problem, const PetscInt at[DIM]);

static inline PetscErrorCode Fill(Solver *solver, CellFunction function, Vec field)
{
  const GridBox *box = grid_box(solver->grid);
  PetscReal     *values;

  PetscFunctionBegin;
  PetscCall(VecGetArray(field, &values));
  FOR_PLACES(box, at)
    values[box_index(box, at[X], at[Y], at[Z])] = function(solver->problem, at);
  PetscCall(VecRestoreArray(field, &values));
  PetscFunctionReturn(0);
}

static inline PetscReal rough(const Problem *problem, const PetscInt at[DIM])
{
  (void)problem;
  return noise(7, at) - 0.5;
}

static inline PetscReal rough_too(const Problem *problem, const PetscInt at[DIM])
{
  (void)problem;
  return noise(8, at) - 0.5;
}

static inline PetscReal fixed_value(const Problem *problem, const PetscInt at[DIM])
{
  return is_fixed(problem, at) ? 1. : 0.;
}

/* Null without a surface. */
static inline PetscErrorCode CreateFixed(Solver *solver, Vec *fixed)
{
  PetscFunctionBegin;
  *fixed = NULL;
  if (!solver->problem->surface)
    PetscFunctionReturn(0);
  PetscCall(MacGridCreateField(solver->grid, fixed));
  PetscCall(Fill(solver, fixed_value, *fixed));
  PetscCall(MacGridExchange(solver->grid, *fixed));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode CreateSolver(MPI_Comm comm, const Problem *problem, const char prefix[],
                                          Solver *solver)
{
  const PetscInt *cells = problem->cells;
  GridConfig      config = {.dimension = problem->dimension, .resolution = cells[X]};
  Vec             weights[DIM], fixed;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++)
    config.periodic[d] = problem->periodic[d];
  config.size = vector3(1., cells[Y] / (PetscReal)cells[X], cells[Z] / (PetscReal)cells[X]);
  solver->problem = problem;
  PetscCall(MacGridCreate(comm, &config, &solver->grid));
  PetscCall(PoissonCreate(solver->grid, prefix, &solver->poisson));
  PetscCall(CreateWeights(solver->grid, problem, weights));
  PetscCall(CreateFixed(solver, &fixed));
  PetscCall(PoissonSetWeights(solver->poisson, weights, fixed));
  PetscCall(VecDestroy(&fixed));
  PetscCall(MacGridDestroyFaceField(weights));
  PetscCall(MacGridCreateField(solver->grid, &solver->right_side));
  PetscCall(MacGridCreateField(solver->grid, &solver->pressure));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode DestroySolver(Solver *solver)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&solver->right_side));
  PetscCall(VecDestroy(&solver->pressure));
  PetscCall(PoissonDestroy(&solver->poisson));
  PetscCall(MacGridDestroy(&solver->grid));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode Solve(Solver *solver, CellFunction right_side, PetscReal tolerance)
{
  PetscFunctionBegin;
  PetscCall(PoissonSetTolerance(solver->poisson, tolerance));
  PetscCall(Fill(solver, right_side, solver->right_side));
  PetscCall(VecSet(solver->pressure, 0.));
  PetscCall(PoissonSolve(solver->poisson, solver->right_side, solver->pressure, &solver->report));
  PetscFunctionReturn(0);
}

/* The largest difference in the cells that this rank owns. */
static inline PetscReal difference(const Solver *shared, const Solver *alone)
{
  const GridBox   *here = grid_box(shared->grid), *whole = grid_box(alone->grid);
  const PetscReal *mine, *reference;
  PetscReal        largest = 0.;

  PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(shared->pressure, &mine));
  PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(alone->pressure, &reference));
  FOR_CELLS(here, i, j, k)
    largest = PetscMax(largest,
                       PetscAbsReal(mine[box_index(here, i, j, k)] - reference[box_index(whole, i, j, k)]));
  PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(shared->pressure, &mine));
  PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(alone->pressure, &reference));
  return largest;
}

/* Sum of products over the owned cells of all ranks. */
static inline PetscErrorCode Dot(Solver *solver, Vec a, Vec b, PetscReal *result)
{
  Vec first, second;

  PetscFunctionBegin;
  PetscCall(DMCreateGlobalVector(grid_cell_dm(solver->grid), &first));
  PetscCall(VecDuplicate(first, &second));
  PetscCall(MacGridToSolver(solver->grid, a, first));
  PetscCall(MacGridToSolver(solver->grid, b, second));
  PetscCall(VecDot(first, second, result));
  PetscCall(VecDestroy(&first));
  PetscCall(VecDestroy(&second));
  PetscFunctionReturn(0);
}

/* "cycle_" applies one V-cycle and nothing else. */
static inline void assert_cycle_is_symmetric_and_positive(const Problem *problem)
{
  Solver    solver;
  Vec       keep;
  PetscReal left, right, scale;

  assert_success(CreateSolver(PETSC_COMM_WORLD, problem, "cycle_", &solver));
  assert_success(MacGridCreateField(solver.grid, &keep));
  assert_success(Solve(&solver, rough, 1e-8));
  assert_success(Dot(&solver, solver.pressure, solver.right_side, &scale));
  assert_success(Fill(&solver, rough_too, keep));
  assert_success(Dot(&solver, solver.pressure, keep, &left));
  assert_success(Solve(&solver, rough_too, 1e-8));
  assert_success(Fill(&solver, rough, keep));
  assert_success(Dot(&solver, solver.pressure, keep, &right));
  assert_on_all_ranks(scale > 0.);
  assert_near(left, right, 1e-12 * scale);
  assert_success(VecDestroy(&keep));
  assert_success(DestroySolver(&solver));
}

#endif
