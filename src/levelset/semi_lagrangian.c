/* phi(x, t + dt) = phi(foot),  foot = x - dt u(x - dt/2 u(x)), in the band, with the interpolant of
   interpolant.h. */
#include "interpolant.h"

#include <millrace/trajectory.h>

/* Largest shift of a foot in each direction: with the cubic it stays within the ghosts. */
static const PetscReal farthest = MOST_CELLS_PER_STEP - 1e-9;

KERNEL void carry(const GridBox *box, PetscReal *const flow[DIM], PetscReal ratio, BandRun run,
                  const PetscReal *from, PetscReal *to, const PetscInt dimension)
{
  PetscReal        feet[DIM][SHIFT_RUN];
  PetscReal *const shifts[DIM] = {feet[X], feet[Y], feet[Z]};

  trace_cells(box->stride, flow, -ratio, farthest, run.first, run.count, shifts, dimension);
  for (PetscInt n = 0; n < run.count; n++) {
    PetscReal shift[DIM] = {0.}, fraction[DIM] = {0.};
    PetscInt  corner;

    for (PetscInt a = 0; a < dimension; a++)
      shift[a] = feet[a][n];
    corner = find_corner(box->stride, run.first + n, shift, fraction, dimension);
    to[run.first + n] = interpolate(from + corner, box->stride, fraction, dimension).value;
  }
}

VECTOR_CLONES static void carry_band(LevelSet level_set, PetscReal *const flow[DIM], PetscReal dt,
                                     const PetscReal *from, PetscReal *to)
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal ratio = dt / grid_spacing(level_set->grid);

  for (PetscInt r = 0; r < level_set->band.count; r++) {
    const BandRun all = level_set->band.runs[r];

    for (PetscInt n = 0; n < all.count; n += SHIFT_RUN) {
      const BandRun run = {.first = all.first + n, .count = PetscMin(SHIFT_RUN, all.count - n)};

      if (box->dimension == 2)
        carry(box, flow, ratio, run, from, to, 2);
      else
        carry(box, flow, ratio, run, from, to, 3);
    }
  }
}

PetscErrorCode LevelSetAdvectSemiLagrangian(LevelSet level_set, Vec velocity[DIM], PetscReal dt)
{
  const VisibilityMap *map = level_set->visibility_map;
  PetscReal           *flow[DIM], *value, *from, *near_shell = NULL;

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(level_set->grid, velocity, flow));
  PetscCall(VecGetArray(level_set->distance, &value));
  PetscCall(VecGetArray(level_set->stage, &from));
  PetscCall(PetscArraycpy(from, value, grid_box(level_set->grid)->length));
  carry_band(level_set, flow, dt, from, value);
  if (map)
    PetscCall(LevelSetAdvectNearShells(level_set, flow, dt, from, &near_shell));
  for (PetscInt n = 0; map && n < map->count; n++)
    value[map->cells[n]] = near_shell[n];
  PetscCall(PetscFree(near_shell));
  PetscCall(VecRestoreArray(level_set->stage, &from));
  PetscCall(VecRestoreArray(level_set->distance, &value));
  PetscCall(MacGridRestoreFaces(level_set->grid, velocity, flow));
  PetscFunctionReturn(0);
}
