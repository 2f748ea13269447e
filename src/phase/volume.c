/* Keeping volumes, as an option: the distance of every simulated region is lowered by

     (target - volume) / surface,  at most h / 10 in a step,

   before the projection (half of which remains against a region that is not corrected). A target is the
   volume at the start and what was poured since, less what has left through the sides of the box. */
#include "phase_impl.h"

static const PetscReal largest_shift = 0.1; /* cells */

/* Outflow through one side of the box, by the regions of the cells at it, over h^(dimension - 1). */
static void add_outflow(Phase phase, const PetscReal *u, PetscInt direction, PetscInt side, PetscReal sums[])
{
  const GridBox *box = grid_box(phase->grid);
  const PetscInt index = side ? box->cells[direction] : 0;
  PetscInt       start[DIM], end[DIM];

  for (PetscInt d = 0; d < DIM; d++) {
    start[d] = d == direction ? index : box->start[d];
    end[d] = d == direction ? index + 1 : box->end[d];
  }
  for (PetscInt k = start[Z]; k < end[Z]; k++)
    for (PetscInt j = start[Y]; j < end[Y]; j++)
      for (PetscInt i = start[X]; i < end[X]; i++) {
        const PetscInt c = box_index(box, i, j, k), cell = side ? c - box->stride[direction] : c;

        sums[phase->region[cell]] += side ? u[c] : -u[c];
      }
}

PetscErrorCode PhaseAccountOutflow(Phase phase, Vec velocity[DIM], PetscReal dt)
{
  const GridBox  *box = grid_box(phase->grid);
  const PetscReal h = grid_spacing(phase->grid), area = box->dimension == 3 ? h * h : h;
  PetscReal      *u[DIM], sums[REGIONS_MAX] = {0.};

  PetscFunctionBegin;
  if (phase->config->volume != VOLUME_KEPT)
    PetscFunctionReturn(0);
  PetscCall(MacGridGetFaces(phase->grid, velocity, u));
  for (PetscInt d = 0; d < box->dimension; d++) {
    if (!box->periodic[d] && box->start[d] == 0)
      add_outflow(phase, u[d], d, 0, sums);
    if (!box->periodic[d] && box->end[d] == box->cells[d])
      add_outflow(phase, u[d], d, 1, sums);
  }
  PetscCall(MacGridRestoreFaces(phase->grid, velocity, u));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, REGIONS_MAX, MPIU_REAL, MPI_SUM, box->comm));
  for (PetscInt n = 0; n < phase->count; n++)
    phase->targets[n] -= dt * area * sums[n];
  PetscFunctionReturn(0);
}

static PetscErrorCode Shift(Phase phase, PetscInt region, PetscReal shift)
{
  PetscReal *distance;
  PetscInt   length;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(phase->distances[region], &length));
  PetscCall(VecGetArray(phase->distances[region], &distance));
  for (PetscInt c = 0; c < length; c++)
    if (PetscAbsReal(distance[c]) < phase->band)
      distance[c] -= shift;
  PetscCall(VecRestoreArray(phase->distances[region], &distance));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseShiftVolumes(Phase phase)
{
  const PetscReal most = largest_shift * grid_spacing(phase->grid);

  PetscFunctionBegin;
  if (phase->config->volume != VOLUME_KEPT)
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < phase->count; n++) {
    const PetscReal missing = phase->targets[n] - phase->report.volume[n], surface = phase->report.surface[n];

    if (!region_is_empty(phase, n) && surface > 0. && missing != 0.)
      PetscCall(Shift(phase, n, PetscMax(-most, PetscMin(missing / surface, most))));
  }
  PetscFunctionReturn(0);
}
