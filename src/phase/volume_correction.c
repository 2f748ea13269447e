/* Keeping volumes, as an option: the distance of every simulated region is lowered by

     (target - volume) / surface,  at most h / 10 in a step,

   with volumes and targets of the start of the step, before the projection, of which half remains against a
   region that is not corrected. A target is the volume at the start and what was poured since, less what has
   left through the sides of the box; the front of what leaves is known to half a cell. */
#include "phase_impl.h"

static const PetscReal largest_shift = 0.1; /* cells */

/* Outflow through one side of the box, by the regions of the cells at it, over h^(dimension - 1). */
static void add_outflow(Phase phase, const PetscReal *u, PetscInt direction, PetscInt side,
                        ReproducibleSum sums[])
{
  const GridBox *box = grid_box(phase->grid);
  PetscInt       start[DIM], end[DIM];

  for (PetscInt d = 0; d < DIM; d++) {
    start[d] = box->start[d];
    end[d] = box->end[d];
  }
  start[direction] = side ? box->cells[direction] : 0;
  end[direction] = start[direction] + 1;
  for (PetscInt k = start[Z]; k < end[Z]; k++)
    for (PetscInt j = start[Y]; j < end[Y]; j++)
      for (PetscInt i = start[X]; i < end[X]; i++) {
        const PetscInt c = box_index(box, i, j, k), cell = side ? c - box->stride[direction] : c;

        sum_add(&sums[phase->region[cell]], side ? u[c] : -u[c]);
      }
}

PetscErrorCode PhaseAccountOutflow(Phase phase, Vec velocity[DIM], PetscReal dt)
{
  const GridBox  *box = grid_box(phase->grid);
  const PetscReal h = grid_spacing(phase->grid), area = box->dimension == 3 ? h * h : h;
  PetscReal      *u[DIM], outflow[REGIONS_MAX];
  ReproducibleSum sums[REGIONS_MAX] = {{0}};

  PetscFunctionBegin;
  if (phase->config->volume != VOLUME_KEPT)
    PetscFunctionReturn(0);
  PetscCall(MacGridGetFaces(phase->grid, velocity, u));
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++)
      if (box->neighbour[d][side] == MPI_PROC_NULL)
        add_outflow(phase, u[d], d, side, sums);
  PetscCall(MacGridRestoreFaces(phase->grid, velocity, u));
  PetscCall(SumOverRanks(box->comm, REGIONS_MAX, sums, outflow));
  for (PetscInt n = 0; n < phase->count; n++)
    phase->targets[n] -= dt * area * outflow[n];
  PetscFunctionReturn(0);
}

void find_shifts(Phase phase, PetscReal shifts[REGIONS_MAX])
{
  const PetscReal most = largest_shift * grid_spacing(phase->grid);

  for (PetscInt n = 0; n < phase->count; n++) {
    const PetscReal missing = phase->targets[n] - phase->report.volume[n], surface = phase->report.surface[n];

    shifts[n] = 0.;
    if (phase->config->volume == VOLUME_KEPT && !region_is_empty(phase, n) && surface > 0.)
      shifts[n] = PetscMax(-most, PetscMin(missing / surface, most));
  }
}

PetscErrorCode PhaseShift(Phase phase, const PetscReal shifts[])
{
  const PetscInt  length = grid_box(phase->grid)->length;
  const PetscReal inner = phase->band - MILLRACE_ROUND_OFF * grid_spacing(phase->grid);
  PetscReal      *distances[REGIONS_MAX];

  PetscFunctionBegin;
  PetscCall(PhaseGetDistances(phase, distances));
  for (PetscInt n = 0; n < phase->count; n++)
    for (PetscInt c = 0; c < length && shifts[n] != 0.; c++)
      if (PetscAbsReal(distances[n][c]) < inner)
        distances[n][c] -= shifts[n];
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscFunctionReturn(0);
}
