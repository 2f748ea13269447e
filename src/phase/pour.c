/* Inflows: what lies in a shape becomes part of a region, phi = min(phi, d), and is taken from all others,
   phi = max(phi, -d). The next step redistances. */
#include "phase_impl.h"

#include <millrace/sampling.h>

static PetscErrorCode Fill(Phase phase, PetscInt region, Vec shape_distance)
{
  const PetscInt   length = grid_box(phase->grid)->length;
  const PetscReal *shape;
  PetscReal       *distances[REGIONS_MAX];

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(shape_distance, &shape));
  PetscCall(PhaseGetDistances(phase, distances));
  for (PetscInt n = 0; n < phase->count; n++)
    for (PetscInt c = 0; c < length; c++)
      distances[n][c] =
          n == region ? PetscMin(distances[n][c], shape[c]) : PetscMax(distances[n][c], -shape[c]);
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscCall(VecRestoreArrayRead(shape_distance, &shape));
  PetscFunctionReturn(0);
}

/* Markers of another region that are now in what was poured. */
static PetscErrorCode DropInside(Phase phase, PetscInt region, Vec shape_distance)
{
  const GridBox   *box = grid_box(phase->grid);
  const PetscReal  h = grid_spacing(phase->grid);
  const PetscReal *shape;
  PetscBool       *drop;
  ParticleView     view;

  PetscFunctionBegin;
  PetscCall(ParticlesGetView(phase->markers[region], &view));
  PetscCall(PetscCalloc1(view.count, &drop));
  PetscCall(VecGetArrayRead(shape_distance, &shape));
  FOR_NUMBERED_CELLS(box, cell, i, j, k)
    if (shape[box_index(box, i, j, k)] < h) /* else no point of the cell is inside */
      for (PetscInt m = view.first[cell]; m < view.first[cell + 1]; m++)
        drop[m] = sample_cells(box, grid_origin(phase->grid), h, shape, view.positions[m]) < 0.;
  PetscCall(VecRestoreArrayRead(shape_distance, &shape));
  PetscCall(ParticlesDrop(phase->markers[region], drop));
  PetscCall(ParticlesArrange(phase->markers[region]));
  PetscCall(PetscFree(drop));
  PetscFunctionReturn(0);
}

PetscErrorCode PhasePour(Phase phase, PetscInt region, Shape shape, Vec closed)
{
  const Vec distance = phase->scratch[0];
  PetscReal before[REGIONS_MAX];

  PetscFunctionBegin;
  PetscCheck(region >= 0 && region < phase->count, grid_box(phase->grid)->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "There is no region %" PetscInt_FMT, region);
  PetscCall(PetscArraycpy(before, phase->report.volume, REGIONS_MAX));
  PetscCall(PhaseFillFromShape(phase, shape, distance));
  PetscCall(MacGridMirrorGhosts(phase->grid, distance));
  PetscCall(Fill(phase, region, distance));
  for (PetscInt n = 0; n < phase->count && phase->config->interface.particles; n++)
    if (n != region)
      PetscCall(DropInside(phase, n, distance));
  PetscCall(PhaseProject(phase, ALL_REGIONS));
  PetscCall(PhaseSeedRegion(phase, region, closed));
  phase->seedings++;
  PetscCall(PhaseUpdate(phase, closed));
  for (PetscInt n = 0; n < phase->count; n++)
    phase->targets[n] += phase->report.volume[n] - before[n];
  PetscFunctionReturn(0);
}
