/* phi(x, t + dt) = phi(foot),  foot = x - dt u(x - dt/2 u(x)), in the band, with the interpolant of
   interpolant.h. */
#include "interpolant.h"

/* Largest shift of a foot in each direction: with the cubic it stays within the ghosts. */
static const PetscReal farthest = MOST_CELLS_PER_STEP;

KERNEL PetscReal clamp(PetscReal value, PetscReal bound)
{
  return PetscMin(PetscMax(value, -bound), bound);
}

/* Component e of the velocity at a shift (in cells) from the centre of cell c, linearly. */
KERNEL PetscReal flow_at(const GridBox *box, const PetscReal *face, PetscInt e, PetscInt c,
                         const PetscReal shift[DIM], const PetscInt dimension)
{
  PetscReal fraction[DIM], result = 0.;

  for (PetscInt a = 0; a < dimension; a++) {
    const PetscReal place = a == e ? shift[a] + 0.5 : shift[a]; /* from the lower face */
    const PetscInt  whole = (PetscInt)(place + 4.) - 4;

    fraction[a] = place - whole;
    c += whole * box->stride[a];
  }
  for (PetscInt n = 0; n < 1 << dimension; n++) {
    PetscReal weight = 1.;
    PetscInt  place = c;

    for (PetscInt a = 0; a < dimension; a++) {
      weight *= n >> a & 1 ? fraction[a] : 1. - fraction[a];
      place += (n >> a & 1) * box->stride[a];
    }
    result += weight * face[place];
  }
  return result;
}

KERNEL void carry(const GridBox *box, PetscReal *const flow[DIM], PetscReal ratio, BandRun run,
                  const PetscReal *from, PetscReal *to, const PetscInt dimension)
{
  for (PetscInt c = run.first; c < run.first + run.count; c++) {
    PetscReal half[DIM] = {0.}, shift[DIM] = {0.}, fraction[DIM] = {0.};
    PetscInt  corner;

    for (PetscInt a = 0; a < dimension; a++)
      half[a] = clamp(-0.25 * ratio * (flow[a][c] + flow[a][c + box->stride[a]]), 0.5 * farthest);
    for (PetscInt a = 0; a < dimension; a++)
      shift[a] = clamp(-ratio * flow_at(box, flow[a], a, c, half, dimension), farthest);
    corner = find_corner(box->stride, c, shift, fraction, dimension);
    to[c] = interpolate(from + corner, box->stride, fraction, dimension).value;
  }
}

VECTOR_CLONES static void carry_band(LevelSet level_set, PetscReal *const flow[DIM], PetscReal dt,
                                     const PetscReal *from, PetscReal *to)
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal ratio = dt / grid_spacing(level_set->grid);

  for (PetscInt r = 0; r < level_set->band.count; r++)
    if (box->dimension == 2)
      carry(box, flow, ratio, level_set->band.runs[r], from, to, 2);
    else
      carry(box, flow, ratio, level_set->band.runs[r], from, to, 3);
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
