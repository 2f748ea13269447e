/* How far each region reaches along each axis: to the crossings between centres of cells, and to the sides of
   the box beside cells of it. What is thinner than a cell is not seen. */
#include "phase_impl.h"
#include "crossing.h"

typedef struct {
  PetscReal end[2][REGIONS_MAX][DIM]; /* least, and least of the opposite; in cells from the origin */
} Extent;

static void reach(Extent *extent, PetscInt region, PetscInt d, PetscReal place)
{
  extent->end[0][region][d] = PetscMin(extent->end[0][region][d], place);
  extent->end[1][region][d] = PetscMin(extent->end[1][region][d], -place);
}

static PetscBool is_closed(const PetscReal *closed, PetscInt c)
{
  return closed && closed[c] > 0. ? PETSC_TRUE : PETSC_FALSE;
}

/* The crossing on the lower face of a cell, which may be the upper one of the last cell. */
static void reach_crossing(const Crossings *crossings, const PetscReal *closed, PetscInt d, PetscInt index,
                           PetscInt c, Extent *extent)
{
  const GridBox *box = grid_box(crossings->phase->grid);
  const Crossing crossing = crossing_below(crossings, c, d);
  const PetscInt below = c - box->stride[d];

  if (crossing.lower == crossing.upper && is_closed(closed, c) == is_closed(closed, below))
    return;
  if (!is_closed(closed, below))
    reach(extent, crossing.lower, d, index - 0.5 + (crossing.lower == crossing.upper ? 0.5 : crossing.theta));
  if (!is_closed(closed, c))
    reach(extent, crossing.upper, d, index - 0.5 + (crossing.lower == crossing.upper ? 0.5 : crossing.theta));
}

/* Cells beside a side reach it. */
static void reach_side(Phase phase, const PetscReal *closed, PetscInt d, PetscInt side, Extent *extent)
{
  const GridBox *box = grid_box(phase->grid);
  GridRange      range = box_grown(box, 0);

  range.start[d] = side ? box->end[d] - 1 : box->start[d];
  range.end[d] = range.start[d] + 1;
  FOR_CELLS(&range, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (!is_closed(closed, c))
      reach(extent, phase->region[c], d, side ? box->cells[d] : 0.);
  }
}

static PetscBool is_owned(const GridBox *box, PetscInt c, PetscInt at[DIM])
{
  for (PetscInt d = DIM - 1; d >= 0; d--) {
    at[d] = d < box->dimension ? c / box->stride[d] - box->ghost + box->start[d] : 0;
    c = d < box->dimension ? c % box->stride[d] : c;
  }
  for (PetscInt d = 0; d < box->dimension; d++)
    if (at[d] < box->start[d] || at[d] >= box->end[d])
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static void reach_all(Phase phase, const Crossings *crossings, const PetscReal *closed, Extent *extent)
{
  const GridBox *box = grid_box(phase->grid);
  PetscInt       at[DIM];

  for (PetscInt m = 0; m < phase->mixed_count; m++)
    if (is_owned(box, phase->mixed_cells[m], at))
      for (PetscInt d = 0; d < box->dimension; d++)
        if (box->periodic[d] || at[d] > 0)
          reach_crossing(crossings, closed, d, at[d], phase->mixed_cells[m], extent);
  for (PetscInt n = 0; n < 2 * box->dimension; n++)
    if (box->neighbour[n / 2][n % 2] == MPI_PROC_NULL)
      reach_side(phase, closed, n / 2, n % 2, extent);
}

PetscErrorCode PhaseMeasureExtent(Phase phase, Vec closed)
{
  const GridBox   *box = grid_box(phase->grid);
  const Vector3    origin = grid_origin(phase->grid);
  const PetscReal  h = grid_spacing(phase->grid);
  const PetscReal *marks = NULL;
  Crossings        crossings;
  Extent           extent;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 2 * REGIONS_MAX * DIM; n++)
    (&extent.end[0][0][0])[n] = PETSC_MAX_REAL;
  if (closed)
    PetscCall(VecGetArrayRead(closed, &marks));
  PetscCall(PhaseGetCrossings(phase, &crossings));
  reach_all(phase, &crossings, marks, &extent);
  PetscCall(PhaseRestoreCrossings(phase, &crossings));
  if (closed)
    PetscCall(VecRestoreArrayRead(closed, &marks));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &extent, 2 * REGIONS_MAX * DIM, MPIU_REAL, MPI_MIN, box->comm));
  for (PetscInt n = 0; n < phase->count; n++)
    for (PetscInt d = 0; d < DIM; d++) {
      const PetscBool any = extent.end[0][n][d] < PETSC_MAX_REAL ? PETSC_TRUE : PETSC_FALSE;

      phase->report.lowest[n].at[d] = any ? origin.at[d] + h * extent.end[0][n][d] : 0.;
      phase->report.highest[n].at[d] = any ? origin.at[d] - h * extent.end[1][n][d] : 0.;
    }
  PetscFunctionReturn(0);
}
