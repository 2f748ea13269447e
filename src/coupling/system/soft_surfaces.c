/* The preconditioner of S = A + B_d R C^-1 R^T B_d^T where the surface of a deformable solid is light and
   soft beside the fluid on it: the second term then holds pressures there, of which the multigrid cycle M on
   A knows nothing. In cells that the surface touches let T be a part of the inverse diagonal of A, elsewhere
   zero. With

     C_s = C + R^T B_d^T T B_d R,   K = B_d R C_s^-1 R^T B_d^T,
     Q = (T^-1 + B_d R C^-1 R^T B_d^T)^-1 = T - T K T,

   a Jacobi sweep that knows the whole of C,

     P = Q + (1 - Q S) M (1 - S Q) = Q + (1 - T K) (1 - T A) M (1 - A T) (1 - K T)

   is symmetric and positive definite, and needs no C^-1: what the surface holds Q finds, and what the cycle
   adds to that is taken off again. The rank of the solid forms and factors C_s from rows of B_d. */
#include "../coupling_impl.h"

static const PetscReal damped = 0.7; /* Jacobi's sweep */

/* T of each owned cell. */
static PetscErrorCode FindSweep(Coupling coupling)
{
  DeformingSolids *deforming = &coupling->deforming;
  const GridBox   *box = grid_box(coupling->grid);
  PetscReal       *weights[DIM], *sweep;

  PetscFunctionBegin;
  if (!deforming->sweep)
    PetscCall(VecDuplicate(coupling->system.flow, &deforming->sweep));
  PetscCall(VecSet(deforming->sweep, 0.));
  PetscCall(VecGetArray(deforming->sweep, &sweep));
  for (PetscInt r = 0; r < deforming->rows.count; r++)
    sweep[deforming->rows.rows[r].cell] = damped;
  PetscCall(MacGridGetFaces(coupling->grid, coupling->faces.weights, weights));
  FOR_NUMBERED_CELLS(box, number, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);
    PetscReal      sum = 0.;

    for (PetscInt d = 0; d < box->dimension && sweep[number] > 0.; d++)
      sum += weights[d][c] + weights[d][c + box->stride[d]];
    if (sum > 0.)
      sweep[number] /= sum;
  }
  PetscCall(MacGridRestoreFaces(coupling->grid, coupling->faces.weights, weights));
  PetscCall(VecRestoreArray(deforming->sweep, &sweep));
  PetscFunctionReturn(0);
}

/* Rows of a rank, as messages have them. */
typedef struct {
  PetscInt   count, entry_count;
  PetscInt  *lengths, *numbers;
  PetscReal *weights;
} RowParts;

/* Of the entries of B, stably sorted by cells. */
static PetscErrorCode SortByCell(const CellRows *rows, PetscInt cells, PetscInt **first, PetscInt **order)
{
  PetscFunctionBegin;
  PetscCall(PetscCalloc1(cells + 2, first));
  PetscCall(PetscMalloc1(rows->count, order));
  for (PetscInt r = 0; r < rows->count; r++)
    (*first)[rows->rows[r].cell + 2]++;
  for (PetscInt c = 0; c < cells; c++)
    (*first)[c + 2] += (*first)[c + 1];
  for (PetscInt r = 0; r < rows->count; r++)
    (*order)[(*first)[rows->rows[r].cell + 1]++] = r;
  PetscFunctionReturn(0);
}

/* Adds the entries of one cell, those of a number once: `place` of numbers is -1 before and after. */
static void add_cell(const DeformingSolids *deforming, PetscInt count, const PetscInt order[],
                     PetscReal factor, PetscInt place[], RowParts *parts)
{
  const PetscInt start = parts->entry_count;

  for (PetscInt n = 0; n < count; n++) {
    const SolidRow *row = &deforming->rows.rows[order[n]].row;

    for (PetscInt i = 0; i < row->count; i++) {
      PetscInt *at = &place[row->dof[i]];

      if (*at < 0) {
        *at = parts->entry_count++;
        parts->numbers[*at] = row->dof[i];
        parts->weights[*at] = 0.;
      }
      parts->weights[*at] += factor * row->weight[i];
    }
  }
  for (PetscInt n = start; n < parts->entry_count; n++) {
    place[parts->numbers[n]] = -1;
    parts->numbers[n] = deforming->numbers[parts->numbers[n]];
  }
  parts->lengths[parts->count++] = parts->entry_count - start;
}

/* The square root of T, over the scale of pressures, times B. */
static PetscErrorCode MakeRows(Coupling coupling, RowParts *parts)
{
  const DeformingSolids *deforming = &coupling->deforming;
  const PetscInt         most = SOLID_ROW_LENGTH * deforming->rows.count;
  const PetscReal       *sweep;
  PetscInt              *first, *order, *place;

  PetscFunctionBegin;
  PetscCall(SortByCell(&deforming->rows, coupling->cell_count, &first, &order));
  PetscCall(
      PetscMalloc3(coupling->cell_count, &parts->lengths, most, &parts->numbers, most, &parts->weights));
  PetscCall(PetscMalloc1(deforming->copy_count, &place));
  for (PetscInt n = 0; n < deforming->copy_count; n++)
    place[n] = -1;
  PetscCall(VecGetArrayRead(deforming->sweep, &sweep));
  for (PetscInt c = 0; c < coupling->cell_count; c++)
    if (first[c + 1] > first[c])
      add_cell(deforming, first[c + 1] - first[c], order + first[c],
               PetscSqrtReal(sweep[c] / coupling->scale), place, parts);
  PetscCall(VecRestoreArrayRead(deforming->sweep, &sweep));
  PetscCall(PetscFree(place));
  PetscCall(PetscFree(order));
  PetscCall(PetscFree(first));
  PetscFunctionReturn(0);
}

/* Of counts on all ranks, where each begins; gives their sum. */
static PetscMPIInt lay_out(PetscMPIInt size, const PetscMPIInt counts[], PetscMPIInt starts[])
{
  PetscMPIInt sum = 0;

  for (PetscMPIInt r = 0; r < size; sum += counts[r++])
    starts[r] = sum;
  return sum;
}

/* To the rank that holds the solid, which keeps them. */
static PetscErrorCode SendRows(Coupling coupling, const RowParts *parts)
{
  DeformingSolids  *deforming = &coupling->deforming;
  const PetscMPIInt mine[2] = {(PetscMPIInt)parts->count, (PetscMPIInt)parts->entry_count};
  PetscMPIInt       size, (*all)[2], *counts, *starts, sum, entries;
  PetscInt         *first, *numbers;
  PetscReal        *weights;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(coupling->world, &size));
  PetscCall(PetscMalloc3(size, &all, size, &counts, size, &starts));
  PetscCallMPI(MPI_Allgather(mine, 2, MPI_INT, all, 2, MPI_INT, coupling->world));
  for (PetscMPIInt r = 0; r < size; r++)
    counts[r] = all[r][0];
  sum = lay_out(size, counts, starts);
  PetscCall(PetscMalloc1(sum + 1, &first));
  PetscCallMPI(MPI_Gatherv(parts->lengths, mine[0], MPIU_INT, first + 1, counts, starts, MPIU_INT,
                           deforming->holder, coupling->world));
  for (PetscMPIInt r = 0; r < size; r++)
    counts[r] = all[r][1];
  entries = lay_out(size, counts, starts);
  PetscCall(PetscMalloc2(entries, &numbers, entries, &weights));
  PetscCallMPI(MPI_Gatherv(parts->numbers, mine[1], MPIU_INT, numbers, counts, starts, MPIU_INT,
                           deforming->holder, coupling->world));
  PetscCallMPI(MPI_Gatherv(parts->weights, mine[1], MPIU_REAL, weights, counts, starts, MPIU_REAL,
                           deforming->holder, coupling->world));
  first[0] = 0;
  for (PetscMPIInt r = 0; r < sum && deforming->solid; r++)
    first[r + 1] += first[r];
  if (deforming->solid)
    PetscCall(
        deforming->solid->TakeRows(deforming->solid->context, &(SurfaceRows){sum, first, numbers, weights}));
  PetscCall(PetscFree2(numbers, weights));
  PetscCall(PetscFree(first));
  PetscCall(PetscFree3(all, counts, starts));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingFindHolder(Coupling coupling)
{
  DeformingSolids *deforming = &coupling->deforming;
  PetscMPIInt      rank, found[2] = {0, 0};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(coupling->world, &rank));
  if (deforming->solid) {
    found[0] = deforming->solid->TakeRows ? 1 : 2;
    found[1] = rank;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found, 2, MPI_INT, MPI_SUM, coupling->world));
  deforming->holder = found[0] == 1 && coupling->config.solver != COUPLING_THESIS ? found[1] : -1;
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingTellSurfaceRows(Coupling coupling)
{
  RowParts parts = {0};

  PetscFunctionBegin;
  if (coupling->deforming.holder < 0)
    PetscFunctionReturn(0);
  if (has_fluid(coupling)) {
    PetscCall(FindSweep(coupling));
    PetscCall(MakeRows(coupling, &parts));
  }
  PetscCall(SendRows(coupling, &parts));
  PetscCall(PetscFree3(parts.lengths, parts.numbers, parts.weights));
  PetscFunctionReturn(0);
}

/* to = x - K T x, or its transpose x - T K x. */
typedef enum { SWEEP_FIRST, SWEEP_LAST } SweepOrder;
static PetscErrorCode Release(Coupling coupling, SweepOrder order, Vec x, Vec to)
{
  const Vec sweep = coupling->deforming.sweep;
  Vec       swept, held;

  PetscFunctionBegin;
  PetscCall(DMGetGlobalVector(grid_cell_dm(coupling->grid), &swept));
  PetscCall(DMGetGlobalVector(grid_cell_dm(coupling->grid), &held));
  PetscCall(VecSet(held, 0.));
  if (order == SWEEP_FIRST)
    PetscCall(VecPointwiseMult(swept, sweep, x));
  PetscCall(CouplingAddStiffened(coupling, order == SWEEP_FIRST ? swept : x, held));
  if (order == SWEEP_LAST)
    PetscCall(VecPointwiseMult(held, sweep, held));
  PetscCall(VecWAXPY(to, -1., held, x));
  PetscCall(DMRestoreGlobalVector(grid_cell_dm(coupling->grid), &held));
  PetscCall(DMRestoreGlobalVector(grid_cell_dm(coupling->grid), &swept));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingCycleWithSurfaces(Coupling coupling, Vec x, Vec y)
{
  const Vec sweep = coupling->deforming.sweep;
  PetscBool is_used = PETSC_FALSE;
  Vec       found, rest, flow;

  PetscFunctionBegin;
  PetscCall(CouplingAskStiffened(coupling, &is_used));
  if (!is_used) {
    PetscCall(CouplingCycle(coupling, x, y));
    PetscFunctionReturn(0);
  }
  PetscCall(DMGetGlobalVector(grid_cell_dm(coupling->grid), &found));
  PetscCall(DMGetGlobalVector(grid_cell_dm(coupling->grid), &rest));
  PetscCall(DMGetGlobalVector(grid_cell_dm(coupling->grid), &flow));
  PetscCall(Release(coupling, SWEEP_FIRST, x, rest));
  PetscCall(VecPointwiseMult(found, sweep, rest)); /* Q x */
  PetscCall(PoissonMultiplyVector(coupling->system.poisson, found, flow));
  PetscCall(VecAXPY(rest, -1., flow));
  PetscCall(CouplingCycle(coupling, rest, y));
  PetscCall(PoissonMultiplyVector(coupling->system.poisson, y, flow));
  PetscCall(VecPointwiseMult(flow, sweep, flow));
  PetscCall(VecWAXPY(rest, -1., flow, y));
  PetscCall(Release(coupling, SWEEP_LAST, rest, y));
  PetscCall(VecAXPY(y, 1., found));
  PetscCall(DMRestoreGlobalVector(grid_cell_dm(coupling->grid), &flow));
  PetscCall(DMRestoreGlobalVector(grid_cell_dm(coupling->grid), &rest));
  PetscCall(DMRestoreGlobalVector(grid_cell_dm(coupling->grid), &found));
  PetscFunctionReturn(0);
}
