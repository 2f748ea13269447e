/* Implicit viscosity of a mixture, all components together (docs/numerics.md, section 13):

     rho u - dt div mu (grad u + grad u^T) = rho u*

   Normal stresses live in cells and shear stresses on edges, each between the faces whose differences it is
   made of, so that the operator is symmetric positive definite; what is given on sides and closed faces
   enters through the first residual, and the rest is solved with zero there. Bodies whose velocity faces have
   are unknowns too (constrained_faces.c). Conjugate gradients; with much
   viscosity their preconditioner is a multigrid, else the diagonal. */
#include "stress_impl.h"

/* The diagonal is tried first; where it is slow the multigrid takes over. */
enum { STRESS_ITERATIONS_MAX = 2000, TRIAL_ITERATIONS = 4, LONG_SOLVE = 40 };

/* Rows of one component with what acts on them; pointers to the start of fields. */
typedef struct {
  PetscInt         d, along; /* stride of the component's own direction */
  PetscInt         across[2];
  const PetscReal *u, *other[2]; /* the component, and those of the directions across */
  const PetscReal *mass, *normal, *shear[2];
  PetscReal       *result;
} Rows;

/* Flux of momentum through the two edges across one direction; v is that direction's component. */
KERNEL PetscReal shear_balance(const PetscReal *restrict shear, const PetscReal *restrict u,
                               const PetscReal *restrict v, PetscInt c, PetscInt along, PetscInt across)
{
  const PetscInt  up = c + across;
  const PetscReal above = shear[up] * (u[up] - u[c] + v[up] - v[up - along]);
  const PetscReal below = shear[c] * (u[c] - u[c - across] + v[c] - v[c - along]);

  return above - below;
}

KERNEL void apply_row(const Rows *rows, const StressMix *mix, PetscInt first, PetscInt last,
                      const PetscInt dimension)
{
  const PetscReal *restrict u = rows->u, *restrict mass = rows->mass, *restrict normal = rows->normal;
  PetscReal *restrict result = rows->result;
  const PetscReal take = mix->take, share = mix->share;
  const PetscInt  along = rows->along;

  for (PetscInt c = first; c < last; c++) {
    PetscReal sum = normal[c] * (u[c + along] - u[c]) - normal[c - along] * (u[c] - u[c - along]);

    sum += shear_balance(rows->shear[0], u, rows->other[0], c, along, rows->across[0]);
    if (dimension == 3)
      sum += shear_balance(rows->shear[1], u, rows->other[1], c, along, rows->across[1]);
    result[c] = mass[c] > 0. ? take * mass[c] * u[c] - share * sum : 0.;
  }
}

VECTOR_CLONES static void apply_row_2d(const Rows *rows, const StressMix *mix, PetscInt first, PetscInt last)
{
  apply_row(rows, mix, first, last, 2);
}

VECTOR_CLONES static void apply_row_3d(const Rows *rows, const StressMix *mix, PetscInt first, PetscInt last)
{
  apply_row(rows, mix, first, last, 3);
}

static void apply_rows(const StressLevel *level, const Rows *rows, const StressMix *mix,
                       ReproducibleSum *product)
{
  const GridBox   *box = grid_box(level->grid);
  const GridRange *range = &level->range[rows->d];

  FOR_ROWS(range, j, k) {
    const PetscInt first = box_index(box, range->start[X], j, k);
    const PetscInt last = first + range->end[X] - range->start[X];

    if (box->dimension == 2)
      apply_row_2d(rows, mix, first, last);
    else
      apply_row_3d(rows, mix, first, last);
    if (product && j == range->end[Y] - 1)
      conjugate_add_plane(product, box, range, k, rows->u, rows->result);
  }
}

PetscErrorCode StressLevelApply(const StressLevel *level, const StressMix *mix, Vec from[DIM],
                                Vec result[DIM], ReproducibleSum *product)
{
  const GridBox *box = grid_box(level->grid);
  PetscReal     *u[DIM], *image[DIM], *mass[DIM], *normal, *shear[DIM] = {NULL};

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(level->grid, from, u));
  PetscCall(MacGridGetFaces(level->grid, result, image));
  PetscCall(MacGridGetFaces(level->grid, (Vec *)level->mass, mass));
  PetscCall(VecGetArray(level->normal, &normal));
  for (PetscInt e = box->dimension == 2 ? Z : X; e < DIM; e++)
    PetscCall(VecGetArray(level->shear[e], &shear[e]));
  for (PetscInt d = 0; d < box->dimension; d++) {
    Rows rows = {d, box->stride[d], {0, 0}, u[d], {NULL}, mass[d], normal, {NULL}, image[d]};

    for (PetscInt a = 0, n = 0; a < box->dimension; a++)
      if (a != d) {
        rows.across[n] = box->stride[a];
        rows.other[n] = u[a];
        rows.shear[n++] = shear[X + Y + Z - a - d];
      }
    apply_rows(level, &rows, mix, product);
  }
  for (PetscInt e = box->dimension == 2 ? Z : X; e < DIM; e++)
    PetscCall(VecRestoreArray(level->shear[e], &shear[e]));
  PetscCall(VecRestoreArray(level->normal, &normal));
  PetscCall(MacGridRestoreFaces(level->grid, (Vec *)level->mass, mass));
  PetscCall(MacGridRestoreFaces(level->grid, result, image));
  PetscCall(MacGridRestoreFaces(level->grid, from, u));
  PetscFunctionReturn(0);
}

/* The surface of an obstacle lies half-way to a place inside it: the difference of u counts twice. */
static PetscErrorCode AddNoSlipStress(Fluid fluid, PetscInt d, PetscReal share, Vec from, Vec result)
{
  const GridBox     *box = grid_box(fluid->grid);
  const StressLevel *level = &fluid->stress->levels[0];
  const PetscReal   *u, *mass, *shear;
  PetscReal         *image;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(from, &u));
  PetscCall(VecGetArrayRead(level->mass[d], &mass));
  PetscCall(VecGetArray(result, &image));
  for (PetscInt n = 0; n < fluid->no_slip_count[d]; n++) {
    const NoSlipPair pair = fluid->no_slip_pairs[d][n];
    PetscInt         edge;
    const PetscInt   e = no_slip_edge(box, d, pair, &edge);

    PetscCall(VecGetArrayRead(level->shear[e], &shear));
    if (mass[pair.face] > 0.)
      image[pair.face] += share * shear[edge] * (u[pair.face] - u[pair.inside]);
    PetscCall(VecRestoreArrayRead(level->shear[e], &shear));
  }
  PetscCall(VecRestoreArray(result, &image));
  PetscCall(VecRestoreArrayRead(level->mass[d], &mass));
  PetscCall(VecRestoreArrayRead(from, &u));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidApplyStress(Fluid fluid, const StressMix *mix, Vec from[DIM], Vec result[DIM])
{
  PetscFunctionBegin;
  PetscCall(StressLevelApply(&fluid->stress->levels[0], mix, from, result, NULL));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(AddNoSlipStress(fluid, d, mix->share, from[d], result[d]));
  PetscFunctionReturn(0);
}

/* The arrays of a solve, one component at a time. */
enum { VALUE, RESIDUAL, SEARCH, IMAGE, INVERSE, BETTER, ARRAYS };

/* p = r / diagonal + b p. */
VECTOR_CLONES static void turn_row(PetscReal *const at[ARRAYS], PetscInt first, PetscReal b, PetscInt count)
{
  PetscReal *restrict p = at[SEARCH] + first;
  const PetscReal *restrict r = at[RESIDUAL] + first, *restrict w = at[INVERSE] + first;

  for (PetscInt n = 0; n < count; n++)
    p[n] = w[n] * r[n] + b * p[n];
}

/* (r + share q)^2 / diagonal. */
VECTOR_CLONES static void square_row(PetscReal *const at[ARRAYS], PetscInt first, PetscReal share,
                                     PetscInt count, PetscReal *restrict squares)
{
  const PetscReal *restrict r = at[RESIDUAL] + first, *restrict q = at[IMAGE] + first;
  const PetscReal *restrict w = at[INVERSE] + first;

  for (PetscInt n = 0; n < count; n++)
    squares[n] = (r[n] + share * q[n]) * (r[n] + share * q[n]) * w[n];
}

static void add_squares(PetscReal *const at[ARRAYS], PetscInt first, PetscReal share, PetscInt count,
                        ReproducibleSum *sum)
{
  enum { PART = 256 };
  PetscReal squares[PART];

  for (PetscInt n = 0; n < count; n += PART) {
    square_row(at, first + n, share, PetscMin(PART, count - n), squares);
    sum_add_values(sum, squares, PetscMin(PART, count - n));
  }
}

/* p = value where it is unknown, else 0. */
VECTOR_CLONES static void take_row(PetscReal *const at[ARRAYS], PetscInt first, PetscInt count)
{
  PetscReal *restrict p = at[SEARCH] + first;
  const PetscReal *restrict value = at[VALUE] + first, *restrict w = at[INVERSE] + first;

  for (PetscInt n = 0; n < count; n++)
    p[n] = w[n] > 0. ? value[n] : 0.;
}

static void work_on_row(StressWork work, PetscReal *const at[ARRAYS], PetscInt first, PetscReal coefficient,
                        PetscInt count, ReproducibleSum *sum)
{
  switch (work) {
  case TAKE:
    take_row(at, first, count);
    break;
  case MEASURE:
    add_squares(at, first, 1., count, sum);
    break;
  case ADVANCE:
    conjugate_advance(
        &(ConjugateRow){at[VALUE] + first, at[RESIDUAL] + first, at[SEARCH] + first, at[IMAGE] + first},
        coefficient, count);
    add_squares(at, first, 0., count, sum);
    break;
  case MEET:
    sum_add_products(sum, at[RESIDUAL] + first, at[BETTER] + first, count);
    break;
  default:
    if (at[BETTER]) /* the residual as the multigrid has made it */
      conjugate_turn(at[SEARCH] + first, coefficient, at[BETTER] + first, count);
    else
      turn_row(at, first, coefficient, count);
  }
}

/* One pass over all unknowns; MEASURE, ADVANCE and MEET (residual and what the multigrid
   made of it) give a sum over all ranks. */
static PetscErrorCode WorkOnRows(Fluid fluid, StressWork work, Vec faces[DIM], PetscReal coefficient,
                                 PetscReal *sum)
{
  const GridBox  *box = grid_box(fluid->grid);
  const Stress    stress = fluid->stress;
  StressLevel    *level = &stress->levels[0];
  ReproducibleSum total = {0};
  PetscReal       by_bodies = 0.;

  PetscFunctionBegin;
  if (fluid->constraints)
    by_bodies = unknowns_work(fluid, work, coefficient);
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange *range = &level->range[d];
    const PetscInt   fields = stress->count > 1 ? ARRAYS : BETTER;
    const Vec        field[ARRAYS] = {faces[d],        stress->residual[d], stress->search[d],
                                      level->image[d], level->inverse[d],   level->solution[d]};
    PetscReal       *at[ARRAYS] = {NULL};

    for (PetscInt f = 0; f < fields; f++)
      PetscCall(VecGetArray(field[f], &at[f]));
    FOR_ROWS(range, j, k)
      work_on_row(work, at, box_index(box, range->start[X], j, k), coefficient,
                  range->end[X] - range->start[X], &total);
    for (PetscInt f = 0; f < fields; f++)
      PetscCall(VecRestoreArray(field[f], &at[f]));
  }
  if (sum) {
    PetscCall(SumOverRanks(box->comm, 1, &total, sum));
    *sum += by_bodies;
  }
  PetscFunctionReturn(0);
}

/* image = A search; `curvature` over all ranks. */
static PetscErrorCode ApplyToSearch(Fluid fluid, PetscReal *curvature)
{
  const StressMix mix = {1., 1.};
  StressLevel     level = fluid->stress->levels[0];
  ReproducibleSum product = {0};

  PetscFunctionBegin;
  if (fluid->constraints)
    PetscCall(FluidConstrainFaces(fluid, fluid->stress->unknowns.search, fluid->stress->search, &level));
  PetscCall(MacGridExchangeFaces(fluid->grid, fluid->stress->search));
  PetscCall(StressLevelApply(&level, &mix, fluid->stress->search, level.image, &product));
  if (fluid->constraints) {
    PetscCall(FluidApplyConstraints(fluid, &product, curvature));
    PetscFunctionReturn(0);
  }
  PetscCall(SumOverRanks(grid_box(fluid->grid)->comm, 1, &product, curvature));
  PetscFunctionReturn(0);
}

/* The first residual, that of the velocity before the solve, and the square to be reached. The tolerance is
   relative to it or to the right side of the whole problem, whichever is less: with much viscosity rough
   velocities leave a residual that is many times larger than all that remains of them. */
static PetscErrorCode Begin(Fluid fluid, Vec faces[DIM], PetscReal *square, PetscReal *goal)
{
  const StressMix rest = {0., -1.};
  PetscReal       unused, right_side;

  PetscFunctionBegin;
  fluid->stress->count = 1;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    PetscCall(VecSet(fluid->stress->residual[d], 0.));
    PetscCall(VecSet(fluid->stress->search[d], 0.));
    PetscCall(VecSet(fluid->stress->levels[0].image[d], 0.));
  }
  PetscCall(FluidApplyStress(fluid, &rest, faces, fluid->stress->residual));
  if (fluid->constraints)
    PetscCall(FluidBeginConstraints(fluid, faces));
  PetscCall(FluidCloseStress(fluid));
  PetscCall(WorkOnRows(fluid, TAKE, faces, 0., NULL));
  PetscCall(ApplyToSearch(fluid, &unused));
  PetscCall(WorkOnRows(fluid, MEASURE, faces, 0., &right_side));
  PetscCall(WorkOnRows(fluid, ADVANCE, faces, 0., square));
  *goal = PetscSqr(fluid->config->viscosity_tolerance) * PetscMin(*square, right_side);
  PetscFunctionReturn(0);
}

/* Turns the search direction; `meeting` is the residual times what the preconditioner makes of it, before and
   after. */
static PetscErrorCode TurnSearch(Fluid fluid, Vec faces[DIM], PetscBool is_first, PetscReal square,
                                 PetscReal *meeting)
{
  const PetscReal before = *meeting;

  PetscFunctionBegin;
  *meeting = square;
  if (fluid->stress->count > 1) {
    for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
      PetscCall(VecCopy(fluid->stress->residual[d], fluid->stress->levels[0].residual[d]));
    PetscCall(FluidCycleStress(fluid));
    PetscCall(WorkOnRows(fluid, MEET, faces, 0., meeting));
  }
  PetscCall(WorkOnRows(fluid, TURN, faces, is_first ? 0. : *meeting / before, NULL));
  PetscFunctionReturn(0);
}

/* Whether the goal is more than `LONG_SOLVE` iterations away at the rate of the last ones. */
static PetscBool is_slow(PetscReal before, PetscReal now, PetscReal goal)
{
  return PetscLogReal(now / goal) * TRIAL_ITERATIONS > LONG_SOLVE * PetscLogReal(before / now);
}

PetscErrorCode FluidDiffuseMixture(Fluid fluid, PetscReal dt, PetscReal time, Vec faces[DIM])
{
  PetscReal square = 0., before, goal = 0., meeting = 0., curvature;
  PetscBool fresh = PETSC_TRUE;
  PetscInt  iterations;

  PetscFunctionBegin;
  PetscCall(FluidSetUpStress(fluid, dt));
  if (fluid->constraints)
    PetscCall(FluidStartConstraints(fluid, faces));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    PetscCall(FluidSetSideFaces(fluid, d, faces[d], time));
    PetscCall(FluidSetClosedFaces(fluid, d, faces[d]));
    PetscCall(FluidFillComponentGhosts(fluid, d, faces[d], time, SIDE_VALUES_GIVEN));
  }
  PetscCall(Begin(fluid, faces, &square, &goal));
  before = square;
  for (iterations = 0; square > goal && iterations < STRESS_ITERATIONS_MAX; iterations++) {
    if (fluid->stress->count == 1 && iterations > 0 && iterations % TRIAL_ITERATIONS == 0) {
      fresh = is_slow(before, square, goal);
      before = square;
      if (fresh)
        PetscCall(FluidSetUpStressLevels(fluid));
    }
    PetscCall(TurnSearch(fluid, faces, fresh, square, &meeting));
    PetscCall(ApplyToSearch(fluid, &curvature));
    PetscCall(WorkOnRows(fluid, ADVANCE, faces, meeting / curvature, &square));
    fresh = PETSC_FALSE;
  }
  fluid->report.viscosity_iterations = iterations;
  fluid->stress->pulls = PETSC_FALSE;
  if (fluid->constraints)
    PetscCall(FluidFinishConstraints(fluid, faces));
  if (!(square <= goal)) /* not-a-number too */
    fluid->report.diffusion_converged = PETSC_FALSE;
  PetscFunctionReturn(0);
}
