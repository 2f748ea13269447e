/* The linear complementarity problem A p >= r, p >= l: its cells, its multigrid and what both solvers share.

   Cells are free (p > l) or active (p = l). Only the free ones are unknowns of a preconditioner, so that its
   multigrid is built again when the set of them changes: for it, active cells are fixed.

   A component of cells that touches no p = 0 has A 1 = 0. With sum r < 0 some of its cells are active in the
   answer; with sum r = 0 it is an equation; with sum r > 0 there is no answer and the mean is removed. */
#include "bounded_impl.h"

const char *const BoundedSolvers[] = {"mprgp", "active-set", "thesis", NULL};

/* A sum this small beside that of the magnitudes is round-off. */
static const PetscReal balanced = 1e-13;

static PetscErrorCode CreateArrays(Bounded bounded)
{
  const PetscInt n = bounded->cells;

  PetscFunctionBegin;
  PetscCall(PetscCalloc3(n, &bounded->labels, n, &bounded->states, n, &bounded->right_side));
  PetscCall(PetscCalloc4(n, &bounded->lower, n, &bounded->bound, n, &bounded->x, n, &bounded->gradient));
  PetscCall(
      PetscCalloc4(n, &bounded->direction, n, &bounded->product, n, &bounded->kept, n, &bounded->inverse));
  PetscCall(DMCreateGlobalVector(grid_cell_dm(bounded->poisson->grid), &bounded->free_gradient));
  PetscCall(VecDuplicate(bounded->free_gradient, &bounded->correction));
  PetscFunctionReturn(0);
}

PetscErrorCode BoundedCreate(MacGrid grid, const char prefix[], BoundedSolver solver, Bounded *bounded)
{
  const GridBox *box = grid_box(grid);

  PetscFunctionBegin;
  PetscCall(PetscNew(bounded));
  (*bounded)->solver = solver;
  (*bounded)->cells = owned_width(box, X) * owned_width(box, Y) * owned_width(box, Z);
  PetscCall(PoissonCreate(grid, prefix, &(*bounded)->poisson));
  PetscCall(CreateArrays(*bounded));
  PetscFunctionReturn(0);
}

PetscErrorCode BoundedDestroy(Bounded *bounded)
{
  PetscFunctionBegin;
  if (!*bounded)
    PetscFunctionReturn(0);
  PetscCall(PoissonDestroy(&(*bounded)->poisson));
  PetscCall(PetscFree3((*bounded)->labels, (*bounded)->states, (*bounded)->right_side));
  PetscCall(PetscFree4((*bounded)->lower, (*bounded)->bound, (*bounded)->x, (*bounded)->gradient));
  PetscCall(PetscFree4((*bounded)->direction, (*bounded)->product, (*bounded)->kept, (*bounded)->inverse));
  PetscCall(PetscFree((*bounded)->is_singular));
  PetscCall(PetscFree((*bounded)->ranges));
  PetscCall(PetscFree2((*bounded)->on_bodies, (*bounded)->yielded));
  PetscCall(PetscFree2((*bounded)->pivots, (*bounded)->factor));
  PetscCall(VecDestroy(&(*bounded)->free_gradient));
  PetscCall(VecDestroy(&(*bounded)->correction));
  PetscCall(PetscFree(*bounded));
  PetscFunctionReturn(0);
}

/* All arrays are zero again. */
static PetscErrorCode ClearRanges(Bounded bounded)
{
  PetscReal *const arrays[] = {bounded->right_side, bounded->lower,    bounded->bound,
                               bounded->x,          bounded->gradient, bounded->direction,
                               bounded->product,    bounded->kept,     bounded->inverse};
  PetscReal       *values;

  PetscFunctionBegin;
  PetscCall(VecGetArray(bounded->free_gradient, &values));
  for (const RowRange *range = bounded->ranges; range < bounded->ranges + bounded->range_count; range++) {
    for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(arrays); n++)
      PetscCall(PetscArrayzero(arrays[n] + range->first, range->length));
    PetscCall(PetscArrayzero(values + range->first, range->length));
    PetscCall(PetscArrayzero(bounded->states + range->first, range->length));
  }
  PetscCall(VecRestoreArray(bounded->free_gradient, &values));
  PetscFunctionReturn(0);
}

/* Runs of a row lie side by side. */
static PetscErrorCode FindRanges(Bounded bounded)
{
  const GridBox    *box = &bounded->poisson->box;
  const Components *components = &bounded->poisson->components;
  const PetscInt    width = owned_width(box, X), rows = owned_width(box, Y);
  PetscInt          last = -1;

  PetscFunctionBegin;
  bounded->range_count = 0;
  for (PetscInt r = 0; r < components->run_count; r++) {
    const CellRun  run = components->runs[r];
    const PetscInt row = run.first / width;

    if (row != last) {
      PetscCall(GrowList(bounded->range_count, &bounded->range_room, &bounded->ranges));
      bounded->ranges[bounded->range_count++] =
          (RowRange){.j = box->start[Y] + row % rows, .k = box->start[Z] + row / rows, .first = run.first};
      last = row;
    }
    bounded->ranges[bounded->range_count - 1].length =
        run.first + run.length - bounded->ranges[bounded->range_count - 1].first;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode BoundedSetWeights(Bounded bounded, Vec weights[DIM], Vec fixed)
{
  const Poisson     poisson = bounded->poisson;
  const Components *components = &poisson->components;

  PetscFunctionBegin;
  PetscCall(ClearRanges(bounded));
  PetscCall(PoissonTakeWeights(poisson, weights));
  PetscCall(PoissonTakeFixed(poisson, fixed));
  PetscCall(ComponentsFind(&poisson->box, poisson->weights, poisson->fixed, &poisson->components));
  PetscCall(FindRanges(bounded));
  poisson_label_cells(poisson, bounded->labels);
  bounded->component_count = components->count;
  PetscCall(PetscFree(bounded->is_singular));
  PetscCall(PetscMalloc1(components->count, &bounded->is_singular));
  PetscCall(PetscArraycpy(bounded->is_singular, components->is_singular, components->count));
  PetscCall(BoundedSetBodies(bounded, NULL));
  bounded->ready = PETSC_TRUE;
  PetscFunctionReturn(0);
}

void bounded_find_states(Bounded bounded)
{
  FOR_RANGES(bounded, c)
    if (bounded->labels[c] < 0)
      bounded->states[c] = CELL_OUTSIDE;
    else
      bounded->states[c] = bounded->x[c] > bounded->bound[c] ? CELL_FREE : CELL_ACTIVE;
}

/* All but the free cells are fixed. */
static PetscErrorCode BuildFree(Bounded bounded)
{
  const Poisson poisson = bounded->poisson;

  PetscFunctionBegin;
  PetscCall(PoissonFix(poisson, bounded->states, CELL_FREE));
  if (is_plain(bounded)) {
    PetscCall(ComponentsFind(&poisson->box, poisson->weights, poisson->fixed, &poisson->components));
    PetscCall(BoundedFactor(bounded));
  } else
    PetscCall(PoissonBuild(poisson));
  bounded->report->set_ups++;
  PetscFunctionReturn(0);
}

/* The least distance to the bound in each singular component of free cells; infinite in the others. */
static PetscErrorCode MeasureSingular(Bounded bounded, PetscReal least[])
{
  const Components *components = &bounded->poisson->components;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < components->count; n++)
    least[n] = PETSC_INFINITY;
  for (PetscInt r = 0; r < components->run_count; r++) {
    const CellRun run = components->runs[r];

    for (PetscInt c = run.first; c < run.first + run.length && components->is_singular[run.component]; c++)
      least[run.component] = PetscMin(least[run.component], bounded->x[c] - bounded->bound[c]);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, least, (PetscMPIInt)components->count, MPIU_REAL, MPI_MIN,
                             bounded->poisson->box.comm));
  PetscFunctionReturn(0);
}

/* Lowers each singular component by its least distance, where that is finite. The gradient stays. */
static PetscErrorCode LowerSingular(Bounded bounded, PetscBool *lowered)
{
  const Components *components = &bounded->poisson->components;
  PetscReal        *least;

  PetscFunctionBegin;
  *lowered = PETSC_FALSE;
  PetscCall(PetscMalloc1(components->count, &least));
  PetscCall(MeasureSingular(bounded, least));
  for (PetscInt n = 0; n < components->count; n++)
    *lowered = *lowered || least[n] < PETSC_INFINITY;
  for (PetscInt r = 0; r < components->run_count; r++) {
    const CellRun   run = components->runs[r];
    const PetscReal by = least[run.component];

    for (PetscInt c = run.first; c < run.first + run.length && by < PETSC_INFINITY; c++) {
      const PetscBool touches = bounded->x[c] - bounded->bound[c] <= by;

      bounded->x[c] = touches ? bounded->bound[c] : bounded->x[c] - by;
      bounded->states[c] = bounded->x[c] > bounded->bound[c] ? CELL_FREE : CELL_ACTIVE;
    }
  }
  PetscCall(PetscFree(least));
  PetscFunctionReturn(0);
}

PetscErrorCode BoundedSetUpFree(Bounded bounded)
{
  PetscBool lowered = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(BuildFree(bounded));
  if (bounded->poisson->components.singular_count)
    PetscCall(LowerSingular(bounded, &lowered));
  if (lowered)
    PetscCall(BuildFree(bounded));
  if (lowered && bounded->bodies) /* they may feel a constant */
    PetscCall(BoundedSetGradient(bounded));
  PetscFunctionReturn(0);
}

PetscErrorCode BoundedMultiply(Bounded bounded, const PetscReal *x, PetscReal *product)
{
  PetscFunctionBegin;
  PetscCall(PoissonMultiplyRanges(bounded->poisson, bounded->range_count, bounded->ranges, x, product));
  FOR_RANGES(bounded, c)
    if (bounded->labels[c] < 0)
      product[c] = 0.;
  PetscCall(BoundedAddBodies(bounded, x, product));
  PetscFunctionReturn(0);
}

PetscErrorCode BoundedSetGradient(Bounded bounded)
{
  PetscFunctionBegin;
  PetscCall(BoundedMultiply(bounded, bounded->x, bounded->gradient));
  FOR_RANGES(bounded, c)
    bounded->gradient[c] -= bounded->right_side[c];
  PetscFunctionReturn(0);
}

PetscErrorCode BoundedPrecondition(Bounded bounded)
{
  PetscReal *values;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(bounded->free_gradient, &values));
  FOR_RANGES(bounded, c)
    values[c] = bounded->states[c] == CELL_FREE ? bounded->gradient[c] : 0.;
  PetscCall(VecRestoreArrayWrite(bounded->free_gradient, &values));
  if (is_plain(bounded)) {
    const PetscReal *gradient;

    PetscCall(VecGetArrayRead(bounded->free_gradient, &gradient));
    PetscCall(VecGetArrayWrite(bounded->correction, &values));
    PetscCall(BoundedSolveFactors(bounded, gradient, values));
    PetscCall(VecRestoreArrayWrite(bounded->correction, &values));
    PetscCall(VecRestoreArrayRead(bounded->free_gradient, &gradient));
  } else
    PetscCall(PoissonCycle(bounded->poisson, bounded->free_gradient, bounded->correction));
  bounded->report->cycles++;
  PetscFunctionReturn(0);
}

/* Of a cell: the squares of GradientParts. */
static inline void measure_cell(const Bounded bounded, PetscInt c, PetscReal *free, PetscReal *active,
                                PetscReal *reduced)
{
  const PetscReal g = bounded->gradient[c], above = (bounded->x[c] - bounded->bound[c]) / bounded->step;
  const PetscBool is_free = bounded->states[c] == CELL_FREE;

  *free = is_free ? g * g : 0.;
  *reduced = is_free ? g * PetscMin(above, g) : 0.;
  *active = bounded->states[c] == CELL_ACTIVE && g < 0. ? g * g : 0.;
}

PetscErrorCode BoundedMeasure(Bounded bounded, GradientParts *parts)
{
  enum { CHUNK = 512 };
  ReproducibleSum totals[3] = {{0}};
  PetscReal       sums[3], terms[3][CHUNK];
  PetscInt        n = 0;

  PetscFunctionBegin;
  FOR_RANGES(bounded, c) {
    measure_cell(bounded, c, &terms[0][n], &terms[1][n], &terms[2][n]);
    if (++n < CHUNK)
      continue;
    for (PetscInt t = 0; t < 3; t++)
      sum_add_values(&totals[t], terms[t], n);
    n = 0;
  }
  for (PetscInt t = 0; t < 3; t++)
    sum_add_values(&totals[t], terms[t], n);
  PetscCall(SumOverRanks(bounded->poisson->box.comm, 3, totals, sums));
  *parts = (GradientParts){sums[0], sums[1], sums[2]};
  PetscFunctionReturn(0);
}

/* From range n to the end of the last one that no large gap is before; `next` is the one after that. */
static PetscInt length_of_span(const Bounded bounded, PetscInt n, PetscInt *next)
{
  enum { GAP = 64 };
  const PetscInt first = bounded->ranges[n].first;
  PetscInt       end = first;

  for (; n < bounded->range_count && (end == first || bounded->ranges[n].first < end + GAP); n++)
    end = bounded->ranges[n].first + bounded->ranges[n].length;
  *next = n;
  return end - first;
}

PetscErrorCode BoundedDot(Bounded bounded, PetscInt count, const PetscReal *const pairs[][2],
                          PetscReal results[])
{
  ReproducibleSum *sums;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(count, &sums));
  for (PetscInt n = 0, next; n < bounded->range_count; n = next) {
    const PetscInt first = bounded->ranges[n].first, length = length_of_span(bounded, n, &next);

    for (PetscInt p = 0; p < count; p++)
      sum_add_products(&sums[p], pairs[p][0] + first, pairs[p][1] + first, length);
  }
  PetscCall(SumOverRanks(bounded->poisson->box.comm, count, sums, results));
  PetscCall(PetscFree(sums));
  PetscFunctionReturn(0);
}

/* A field as a tight array, zero outside the problem. */
static PetscErrorCode TakeCells(Bounded bounded, Vec field, PetscReal *cells)
{
  const PetscReal *values;

  PetscFunctionBegin;
  PetscCall(MacGridToSolver(bounded->poisson->grid, field, bounded->correction));
  PetscCall(VecGetArrayRead(bounded->correction, &values));
  FOR_RANGES(bounded, c)
    cells[c] = bounded->labels[c] < 0 ? 0. : values[c];
  PetscCall(VecRestoreArrayRead(bounded->correction, &values));
  PetscFunctionReturn(0);
}

/* Of each component of the whole problem: the sum of the right side, that of its magnitude, cells, and how
   many of them have a bound. */
enum { SUM_RIGHT_SIDE, SUM_MAGNITUDE, SUM_CELLS, SUM_BOUNDED, SUMS };

static PetscErrorCode SumComponents(Bounded bounded, PetscReal *sums)
{
  ReproducibleSum *terms;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(SUMS * bounded->component_count, &terms));
  FOR_RANGES(bounded, c)
    if (bounded->labels[c] >= 0) {
      ReproducibleSum *sum = terms + SUMS * bounded->labels[c];

      sum_add(&sum[SUM_RIGHT_SIDE], bounded->right_side[c]);
      sum_add(&sum[SUM_MAGNITUDE], PetscAbsReal(bounded->right_side[c]));
      sum_add(&sum[SUM_CELLS], 1.);
      sum_add(&sum[SUM_BOUNDED], bounded->lower[c] > PETSC_NINFINITY);
    }
  PetscCall(SumOverRanks(bounded->poisson->box.comm, SUMS * bounded->component_count, terms, sums));
  PetscCall(PetscFree(terms));
  PetscFunctionReturn(0);
}

static PetscBool is_equation(const PetscReal *sum)
{
  return sum[SUM_RIGHT_SIDE] >= -balanced * sum[SUM_MAGNITUDE] || sum[SUM_BOUNDED] == 0. ? PETSC_TRUE
                                                                                         : PETSC_FALSE;
}

/* Removes the mean and the bounds of singular components that are balanced or overfull. */
static PetscErrorCode BalanceSingular(Bounded bounded)
{
  PetscReal *sums;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(SUMS * bounded->component_count, &sums));
  PetscCall(SumComponents(bounded, sums));
  for (PetscInt n = 0; n < bounded->component_count; n++)
    if (bounded->is_singular[n] &&
        sums[SUMS * n + SUM_RIGHT_SIDE] > balanced * sums[SUMS * n + SUM_MAGNITUDE])
      bounded->report->overfull++;
  FOR_RANGES(bounded, c) {
    const PetscInt   label = bounded->labels[c];
    const PetscReal *sum = sums + SUMS * label;

    bounded->bound[c] = bounded->lower[c];
    if (label < 0 || !bounded->is_singular[label] || !is_equation(sum))
      continue;
    bounded->right_side[c] -= sum[SUM_RIGHT_SIDE] / sum[SUM_CELLS];
    bounded->bound[c] = PETSC_NINFINITY;
  }
  PetscCall(PetscFree(sums));
  PetscFunctionReturn(0);
}

static PetscErrorCode TakeProblem(Bounded bounded, Vec right_side, Vec lower, Vec pressure)
{
  PetscFunctionBegin;
  PetscCall(TakeCells(bounded, right_side, bounded->right_side));
  if (lower)
    PetscCall(TakeCells(bounded, lower, bounded->lower));
  else
    FOR_RANGES(bounded, c)
      bounded->lower[c] = 0.;
  PetscCall(TakeCells(bounded, pressure, bounded->x));
  PetscCall(BalanceSingular(bounded));
  PetscFunctionReturn(0);
}

/* The projected gradient of p = lower, or of p = 0 where there is none: what drives the answer away. */
static PetscErrorCode FindTarget(Bounded bounded, BoundedTolerance tolerance)
{
  ReproducibleSum squares = {0};
  PetscReal       sum;

  PetscFunctionBegin;
  FOR_RANGES(bounded, c)
    bounded->kept[c] = bounded->bound[c] > PETSC_NINFINITY ? bounded->bound[c] : 0.;
  PetscCall(BoundedMultiply(bounded, bounded->kept, bounded->product));
  FOR_RANGES(bounded, c) {
    const PetscReal g = bounded->product[c] - bounded->right_side[c];

    if (g < 0. || bounded->bound[c] == PETSC_NINFINITY)
      sum_add(&squares, g * g);
  }
  PetscCall(SumOverRanks(bounded->poisson->box.comm, 1, &squares, &sum));
  bounded->target = tolerance.relative * PetscSqrtReal(sum);
  if (tolerance.absolute > 0.)
    bounded->target = PetscMin(bounded->target, tolerance.absolute);
  bounded->target = PetscMax(bounded->target, tolerance.least);
  PetscFunctionReturn(0);
}

/* Balanced components are above their bounds, and touch them. */
static PetscErrorCode RaiseSingular(Bounded bounded)
{
  PetscReal *least;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(bounded->component_count, &least));
  for (PetscInt n = 0; n < bounded->component_count; n++)
    least[n] = PETSC_INFINITY;
  FOR_RANGES(bounded, c)
    if (bounded->labels[c] >= 0)
      least[bounded->labels[c]] = PetscMin(least[bounded->labels[c]], bounded->x[c] - bounded->lower[c]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, least, (PetscMPIInt)bounded->component_count, MPIU_REAL, MPI_MIN,
                             bounded->poisson->box.comm));
  FOR_RANGES(bounded, c)
    if (bounded->labels[c] >= 0 && bounded->bound[c] < bounded->lower[c])
      bounded->x[c] = PetscMax(bounded->x[c] - least[bounded->labels[c]], bounded->lower[c]);
  PetscCall(PetscFree(least));
  PetscFunctionReturn(0);
}

/* Complementarity of the answer, and how many cells are free in it. */
static PetscErrorCode FinishReport(Bounded bounded)
{
  const MPI_Comm comm = bounded->poisson->box.comm;
  BoundedReport *report = bounded->report;

  PetscFunctionBegin;
  PetscCall(BoundedSetGradient(bounded));
  report->residual = 0.;
  report->free_cells = 0;
  FOR_RANGES(bounded, c) {
    const PetscReal above = bounded->x[c] - bounded->lower[c];

    if (bounded->labels[c] < 0)
      continue;
    report->residual = PetscMax(report->residual, PetscAbsReal(PetscMin(above, bounded->gradient[c])));
    report->free_cells += above > 0.;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &report->residual, 1, MPIU_REAL, MPI_MAX, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &report->free_cells, 1, MPIU_INT64, MPI_SUM, comm));
  PetscFunctionReturn(0);
}

/* The largest of -gradient over all cells: at the bound, what pushes hardest away from it. */
static PetscErrorCode FindDrive(Bounded bounded, PetscReal *drive)
{
  PetscFunctionBegin;
  *drive = 0.;
  FOR_RANGES(bounded, c)
    if (bounded->labels[c] >= 0)
      *drive = PetscMax(*drive, -bounded->gradient[c]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, drive, 1, MPIU_REAL, MPI_MAX, bounded->poisson->box.comm));
  PetscFunctionReturn(0);
}

/* From p = lower everywhere the set of free cells would grow layer by layer: one cycle on all cells that are
   not held back more than any is driven, cut at the bound, tells about which are free. */
static PetscErrorCode GuessFromBound(Bounded bounded)
{
  const PetscReal *correction;
  PetscReal        drive;
  PetscInt64       free_cells = 0;

  PetscFunctionBegin;
  FOR_RANGES(bounded, c)
    free_cells += bounded->states[c] == CELL_FREE;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &free_cells, 1, MPIU_INT64, MPI_SUM, bounded->poisson->box.comm));
  if (free_cells)
    PetscFunctionReturn(0);
  PetscCall(FindDrive(bounded, &drive));
  FOR_RANGES(bounded, c)
    if (bounded->labels[c] >= 0)
      bounded->states[c] = bounded->gradient[c] <= drive ? CELL_FREE : CELL_ACTIVE;
  PetscCall(BuildFree(bounded));
  PetscCall(BoundedPrecondition(bounded));
  PetscCall(VecGetArrayRead(bounded->correction, &correction));
  FOR_RANGES(bounded, c)
    bounded->x[c] = PetscMax(bounded->x[c] - correction[c], bounded->bound[c]);
  PetscCall(VecRestoreArrayRead(bounded->correction, &correction));
  PetscCall(BoundedSetGradient(bounded));
  PetscFunctionReturn(0);
}

/* Whether the first guess is good enough. */
static PetscErrorCode Begin(Bounded bounded)
{
  GradientParts parts;

  PetscFunctionBegin;
  PetscCall(BoundedSetGradient(bounded));
  bounded_find_states(bounded);
  PetscCall(BoundedMeasure(bounded, &parts));
  bounded->report->converged = gradient_norm(&parts) <= bounded->target ? PETSC_TRUE : PETSC_FALSE;
  if (bounded->report->converged || is_plain(bounded))
    PetscFunctionReturn(0);
  PetscCall(GuessFromBound(bounded));
  PetscCall(BoundedRelax(bounded));
  PetscFunctionReturn(0);
}

static PetscErrorCode GiveCells(Bounded bounded, Vec pressure)
{
  PetscReal *values;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(bounded->correction, &values));
  PetscCall(PetscArraycpy(values, bounded->x, bounded->cells));
  PetscCall(VecRestoreArrayWrite(bounded->correction, &values));
  PetscCall(MacGridFromSolver(bounded->poisson->grid, bounded->correction, pressure));
  PetscFunctionReturn(0);
}

PetscErrorCode BoundedSolve(Bounded bounded, Vec right_side, Vec lower, BoundedTolerance tolerance,
                            Vec pressure, BoundedReport *report)
{
  PetscFunctionBegin;
  PetscCheck(bounded->ready, bounded->poisson->box.comm, PETSC_ERR_ORDER,
             "BoundedSetWeights must come before BoundedSolve");
  *report = (BoundedReport){.converged = PETSC_FALSE};
  bounded->report = report;
  PetscCall(TakeProblem(bounded, right_side, lower, pressure));
  PetscCall(FindTarget(bounded, tolerance));
  FOR_RANGES(bounded, c)
    bounded->x[c] = PetscMax(bounded->x[c], bounded->bound[c]);
  PetscCall(Begin(bounded));
  if (bounded->solver == BOUNDED_ACTIVE_SET && !report->converged)
    PetscCall(BoundedRunActiveSet(bounded));
  if (!report->converged)
    PetscCall(BoundedRunMprgp(bounded));
  PetscCall(RaiseSingular(bounded));
  PetscCall(FinishReport(bounded));
  PetscCall(GiveCells(bounded, pressure));
  PetscFunctionReturn(0);
}
