/* Implicit diffusion of a velocity component or a scalar:  (1 - amount L) value = right side.

   L is the five- or seven-point Laplacian (docs/numerics.md, section 4). The value before the solve is both
   the right side and the first guess, so that what remains is

     (1 - amount L) change = amount L value

   with the known values on sides and closed faces in L, and zeros in their place in the change. Conjugate
   gradients, fused into three passes over memory per iteration; the diagonal is nearly constant and needs no
   preconditioner. */
#include "fluid_impl.h"

enum { DIFFUSION_ITERATIONS_MAX = 2000 };

/* Whether place c is an unknown: fluid cells, faces that no obstacle closes. */
static inline PetscBool is_free(const PetscReal *solid, const GridBox *box, PetscInt direction, PetscInt c)
{
  if (!solid)
    return PETSC_TRUE;
  return direction == CELL_VALUES ? solid[c] <= 0. : !is_closed(solid, box, direction, c);
}

/* Whether diffusion passes between c and its neighbour along axis a: not into solids for scalars, and not
   tangentially into one that lets the fluid slip. */
static inline PetscBool passes(Fluid fluid, const PetscReal *solid, PetscInt direction, PetscInt a,
                               PetscInt neighbour)
{
  const GridBox *box = grid_box(fluid->grid);
  CellCover      cover;

  if (is_free(solid, box, direction, neighbour))
    return PETSC_TRUE;
  if (direction == CELL_VALUES)
    return PETSC_FALSE;
  if (a == direction)
    return PETSC_TRUE;
  cover = cell_cover(PetscMax(solid[neighbour], solid[neighbour - box->stride[direction]]));
  return cover.kind == CELL_SOURCE || !fluid->wall_slips[cover.index];
}

static inline PetscReal plain_laplacian(const GridBox *box, const PetscReal *u, PetscInt c,
                                        const PetscInt dimension)
{
  const PetscInt y = box->stride[Y], z = box->stride[Z];
  PetscReal      sum = u[c + 1] + u[c - 1] + u[c + y] + u[c - y] - 2. * dimension * u[c];

  if (dimension == 3)
    sum += u[c + z] + u[c - z];
  return sum;
}

/* Next to solids that pass no flux. */
static PetscReal selective_laplacian(Fluid fluid, const PetscReal *solid, PetscInt direction,
                                     const PetscReal *u, PetscInt c)
{
  const GridBox *box = grid_box(fluid->grid);
  PetscReal      sum = 0.;

  for (PetscInt a = 0; a < box->dimension; a++)
    for (PetscInt side = -1; side <= 1; side += 2) {
      const PetscInt neighbour = c + side * box->stride[a];

      if (passes(fluid, solid, direction, a, neighbour))
        sum += u[neighbour] - u[c];
    }
  return sum;
}

/* In every unknown, result = take * u + factor * L u; zero on closed faces. */
typedef struct {
  PetscReal take, factor;
} Combination;

static inline void combine_row(const GridBox *box, const Combination *mix, const PetscReal *restrict u,
                               PetscReal *restrict result, PetscInt first, PetscInt last,
                               const PetscInt dimension)
{
  for (PetscInt c = first; c < last; c++)
    result[c] = mix->take * u[c] + mix->factor * plain_laplacian(box, u, c, dimension);
}

VECTOR_CLONES static void combine_row_2d(const GridBox *box, const Combination *mix, const PetscReal *u,
                                         PetscReal *result, PetscInt first, PetscInt last)
{
  combine_row(box, mix, u, result, first, last, 2);
}

VECTOR_CLONES static void combine_row_3d(const GridBox *box, const Combination *mix, const PetscReal *u,
                                         PetscReal *result, PetscInt first, PetscInt last)
{
  combine_row(box, mix, u, result, first, last, 3);
}

static void combine_selectively(Fluid fluid, const PetscReal *solid, PetscInt direction,
                                const Combination *mix, const PetscReal *u, PetscReal *result, PetscInt first,
                                PetscInt last)
{
  for (PetscInt c = first; c < last; c++) {
    result[c] = 0.;
    if (is_free(solid, grid_box(fluid->grid), direction, c))
      result[c] = mix->take * u[c] + mix->factor * selective_laplacian(fluid, solid, direction, u, c);
  }
}

/* What is diffused, and where its unknowns lie. */
typedef struct {
  Fluid                    fluid;
  PetscInt                 direction;
  GridRange                range;
  const PetscReal         *solid;     /* null without any */
  PetscBool                selective; /* some solid passes no flux */
  const SeparatedCellList *separated; /* that pass none */
} Diffusion;

/* The places of a row that obstacles and shells touch, taken from lists in the order of places. */
typedef struct {
  PetscInt              no_slip_left, closed_left, separated_left;
  NoSlipPair           *no_slip_pairs;
  PetscInt             *closed;
  const SeparatedCells *separated;
  const PetscReal      *solid;
} Touched;

static Touched find_touched(const Diffusion *diffusion)
{
  const PetscInt d = diffusion->direction;
  const Fluid    fluid = diffusion->fluid;

  if (d == CELL_VALUES)
    return (Touched){.separated_left = diffusion->separated->count,
                     .separated = diffusion->separated->list,
                     .solid = diffusion->solid};
  return (Touched){.no_slip_left = fluid->no_slip_count[d],
                   .closed_left = fluid->closed_count[d],
                   .no_slip_pairs = fluid->no_slip_pairs[d],
                   .closed = fluid->closed[d]};
}

static void mend_row(Touched *touched, const Combination *mix, const PetscReal *u, PetscReal *result,
                     PetscInt last)
{
  for (; touched->no_slip_left && touched->no_slip_pairs->face < last;
       touched->no_slip_pairs++, touched->no_slip_left--)
    result[touched->no_slip_pairs->face] +=
        mix->factor * (u[touched->no_slip_pairs->inside] - u[touched->no_slip_pairs->face]);
  for (; touched->separated_left && touched->separated->cell < last;
       touched->separated++, touched->separated_left--) {
    const PetscInt c = touched->separated->cell, beyond = touched->separated->beyond;

    if (!touched->solid || (touched->solid[c] <= 0. && touched->solid[beyond] <= 0.))
      result[c] -= mix->factor * (u[beyond] - u[c]);
  }
  for (; touched->closed_left && *touched->closed < last; touched->closed++, touched->closed_left--)
    result[*touched->closed] = 0.;
}

/* Adds u * result over the unknowns to `sum`, if there is one. */
static void combine(const Diffusion *diffusion, const Combination *mix, const PetscReal *u, PetscReal *result,
                    ReproducibleSum *sum)
{
  const Fluid      fluid = diffusion->fluid;
  const GridBox   *box = grid_box(fluid->grid);
  const GridRange *range = &diffusion->range;
  Touched          touched = find_touched(diffusion);

  FOR_ROWS(range, j, k) {
    const PetscInt first = box_index(box, range->start[X], j, k);
    const PetscInt last = first + range->end[X] - range->start[X];

    if (diffusion->selective)
      combine_selectively(fluid, diffusion->solid, diffusion->direction, mix, u, result, first, last);
    else if (box->dimension == 2)
      combine_row_2d(box, mix, u, result, first, last);
    else
      combine_row_3d(box, mix, u, result, first, last);
    mend_row(&touched, mix, u, result, last);
    if (sum && j == range->end[Y] - 1)
      conjugate_add_plane(sum, box, range, k, u, result);
  }
}

static PetscErrorCode Prepare(Fluid fluid, const AdvectedField *carried, StepMoment moment,
                              Diffusion *diffusion)
{
  PetscFunctionBegin;
  *diffusion = (Diffusion){.fluid = fluid,
                           .direction = carried->direction,
                           .range = carried_range(fluid, carried),
                           .selective = fluid_covered(fluid) &&
                                        (carried->direction == CELL_VALUES || fluid->any_slips)};
  if (fluid_covered(fluid))
    PetscCall(VecGetArrayRead(fluid_covered(fluid), &diffusion->solid));
  if (carried->direction == CELL_VALUES)
    PetscCall(FluidGetSeparatedCells(fluid, moment, &diffusion->separated));
  PetscFunctionReturn(0);
}

static PetscErrorCode Finish(Diffusion *diffusion)
{
  PetscFunctionBegin;
  if (diffusion->solid)
    PetscCall(VecRestoreArrayRead(fluid_covered(diffusion->fluid), &diffusion->solid));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidDiffuseExplicitly(Fluid fluid, const AdvectedField *carried, PetscReal amount, Vec from,
                                      Vec to)
{
  const PetscReal   h = grid_spacing(fluid->grid);
  const Combination mix = {1., amount / (h * h)};
  const PetscReal  *u;
  PetscReal        *result;
  Diffusion         diffusion;

  PetscFunctionBegin;
  PetscCall(Prepare(fluid, carried, STEP_START, &diffusion));
  PetscCall(VecGetArrayRead(from, &u));
  PetscCall(VecGetArray(to, &result));
  combine(&diffusion, &mix, u, result, NULL);
  PetscCall(VecRestoreArray(to, &result));
  PetscCall(VecRestoreArrayRead(from, &u));
  PetscCall(Finish(&diffusion));
  PetscFunctionReturn(0);
}

static PetscErrorCode FillGhosts(Fluid fluid, const AdvectedField *carried, Vec field, PetscReal time,
                                 SideValues values)
{
  PetscFunctionBegin;
  if (carried->direction == CELL_VALUES)
    PetscCall(FluidFillScalarGhosts(fluid, carried->scalar, field, time, values));
  else
    PetscCall(FluidFillComponentGhosts(fluid, carried->direction, field, time, values));
  PetscFunctionReturn(0);
}

static PetscErrorCode AddUpRanks(const Diffusion *diffusion, const ReproducibleSum *sum, PetscReal *value)
{
  PetscFunctionBegin;
  PetscCall(SumOverRanks(grid_box(diffusion->fluid->grid)->comm, 1, sum, value));
  PetscFunctionReturn(0);
}

/* y += a x. */
VECTOR_CLONES static void add_multiple(PetscReal *restrict y, PetscReal a, const PetscReal *restrict x,
                                       PetscInt count)
{
  for (PetscInt n = 0; n < count; n++)
    y[n] += a * x[n];
}

typedef enum { ADD, SQUARE, ADVANCE, TURN } RowWork;

/* One pass over the unknowns with the coefficient of the pass: ADD puts the image on the residual; SQUARE and
   ADVANCE (value += a p, r -= a q) add the squares of the residual to `sum`. */
static void work_on_rows(const Diffusion *diffusion, RowWork work, PetscReal coefficient,
                         const ConjugateRow *arrays, ReproducibleSum *sum)
{
  const GridBox   *box = grid_box(diffusion->fluid->grid);
  const GridRange *range = &diffusion->range;
  const PetscInt   count = range->end[X] - range->start[X];

  FOR_ROWS(range, j, k) {
    const PetscInt first = box_index(box, range->start[X], j, k);

    if (work == TURN)
      conjugate_turn(arrays->search + first, coefficient, arrays->residual + first, count);
    if (work == ADVANCE)
      conjugate_advance(&(ConjugateRow){arrays->value + first, arrays->residual + first,
                                        arrays->search + first, arrays->image + first},
                        coefficient, count);
    if (work == ADD)
      add_multiple(arrays->residual + first, coefficient, arrays->image + first, count);
    if ((work == ADVANCE || work == SQUARE) && j == range->end[Y] - 1)
      conjugate_add_plane(sum, box, range, k, arrays->residual, arrays->residual);
  }
}

/* An iteration; the ghosts of the search direction are filled. `square` is the residual's, before and after;
   at the goal the search direction stays as it is. */
static PetscErrorCode Iterate(const Diffusion *diffusion, PetscReal amount, PetscReal goal,
                              const ConjugateRow *arrays, PetscReal *square)
{
  const Combination mix = {1., -amount};
  ReproducibleSum   product = {0}, squares = {0};
  PetscReal         curvature, next;

  PetscFunctionBegin;
  combine(diffusion, &mix, arrays->search, arrays->image, &product);
  PetscCall(AddUpRanks(diffusion, &product, &curvature));
  work_on_rows(diffusion, ADVANCE, *square / curvature, arrays, &squares);
  PetscCall(AddUpRanks(diffusion, &squares, &next));
  if (next > goal)
    work_on_rows(diffusion, TURN, next / *square, arrays, NULL);
  *square = next;
  PetscFunctionReturn(0);
}

/* Above this, in squares of a cell, the value before the solve is no first guess but a burden: the tolerance
   is relative to its residual, and the error of a step could grow into the next. */
static const PetscReal large_amount = 10.;

/* Moves the unknowns of `field` to the residual. */
static PetscErrorCode TakeUnknowns(const Diffusion *diffusion, Vec field)
{
  const Combination same = {1., 0.};
  const PetscInt    length = grid_box(diffusion->fluid->grid)->length;
  PetscReal        *value, *residual;

  PetscFunctionBegin;
  PetscCall(VecGetArray(field, &value));
  PetscCall(VecGetArray(diffusion->fluid->residual, &residual));
  combine(diffusion, &same, value, residual, NULL); /* zero elsewhere */
  add_multiple(value, -1., residual, length);
  PetscCall(VecRestoreArray(diffusion->fluid->residual, &residual));
  PetscCall(VecRestoreArray(field, &value));
  PetscFunctionReturn(0);
}

/* Conjugate gradients from the residual so far plus amount L value. scratch[0] is the search direction,
 * scratch[1] its image. */
static PetscErrorCode Solve(const Diffusion *diffusion, const AdvectedField *carried, PetscReal amount,
                            PetscReal *value, PetscInt *iterations, PetscBool *converged)
{
  const Fluid       fluid = diffusion->fluid;
  const Combination rest = {0., amount};
  ConjugateRow      arrays = {.value = value};
  ReproducibleSum   squares = {0};
  PetscReal         square, goal;

  PetscFunctionBegin;
  PetscCall(VecGetArray(fluid->residual, &arrays.residual));
  PetscCall(VecGetArray(fluid->scratch[1], &arrays.image));
  combine(diffusion, &rest, value, amount > large_amount ? arrays.image : arrays.residual, NULL);
  if (amount > large_amount)
    work_on_rows(diffusion, ADD, 1., &arrays, NULL);
  PetscCall(VecCopy(fluid->residual, fluid->scratch[0]));
  work_on_rows(diffusion, SQUARE, 1., &arrays, &squares);
  PetscCall(AddUpRanks(diffusion, &squares, &square));
  goal = PetscSqr(fluid->config->viscosity_tolerance) * square;
  for (*iterations = 0; square > goal && *iterations < DIFFUSION_ITERATIONS_MAX; ++*iterations) {
    PetscCall(FillGhosts(fluid, carried, fluid->scratch[0], 0., SIDE_VALUES_ZERO));
    PetscCall(VecGetArray(fluid->scratch[0], &arrays.search));
    PetscCall(Iterate(diffusion, amount, goal, &arrays, &square));
    PetscCall(VecRestoreArray(fluid->scratch[0], &arrays.search));
  }
  *converged = square <= goal ? PETSC_TRUE : PETSC_FALSE; /* false for not-a-number too */
  PetscCall(VecRestoreArray(fluid->scratch[1], &arrays.image));
  PetscCall(VecRestoreArray(fluid->residual, &arrays.residual));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidDiffuse(Fluid fluid, const AdvectedField *carried, PetscReal amount, PetscReal time,
                            Vec field, PetscInt *iterations)
{
  const PetscReal squares = amount / PetscSqr(grid_spacing(fluid->grid));
  Diffusion       diffusion;
  PetscReal      *value;
  PetscBool       converged = PETSC_TRUE;

  PetscFunctionBegin;
  if (!fluid->residual)
    PetscCall(MacGridCreateField(fluid->grid, &fluid->residual));
  if (carried->direction != CELL_VALUES) {
    PetscCall(FluidSetSideFaces(fluid, carried->direction, field, time));
    PetscCall(FluidSetClosedFaces(fluid, carried->direction, field));
  }
  PetscCall(VecSet(fluid->residual, 0.));
  PetscCall(Prepare(fluid, carried, STEP_END, &diffusion));
  if (squares > large_amount)
    PetscCall(TakeUnknowns(&diffusion, field));
  PetscCall(FillGhosts(fluid, carried, field, time, SIDE_VALUES_GIVEN));
  PetscCall(VecGetArray(field, &value));
  PetscCall(Solve(&diffusion, carried, squares, value, iterations, &converged));
  PetscCall(VecRestoreArray(field, &value));
  PetscCall(Finish(&diffusion));
  if (!converged)
    fluid->report.diffusion_converged = PETSC_FALSE;
  PetscFunctionReturn(0);
}
