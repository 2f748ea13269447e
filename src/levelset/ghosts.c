/* Ghosts of a distance: beyond a side lies the mirror image, so that interfaces meet walls at right angles.
 */
#include "levelset_impl.h"

static void mirror(const GridBox *box, PetscReal *value, PetscInt direction, PetscInt side)
{
  const PetscInt step = side ? 1 : -1; /* outwards */
  PetscInt       low[DIM], high[DIM], at[DIM];

  for (PetscInt d = 0; d < DIM; d++) {
    const PetscInt ghost = d < box->dimension ? box->ghost : 0;

    low[d] = box->start[d] - (d < direction ? ghost : 0);
    high[d] = box->end[d] + (d < direction ? ghost : 0);
  }
  low[direction] = side ? box->end[direction] - 1 : box->start[direction];
  high[direction] = low[direction] + 1;
  for (at[Z] = low[Z]; at[Z] < high[Z]; at[Z]++)
    for (at[Y] = low[Y]; at[Y] < high[Y]; at[Y]++)
      for (at[X] = low[X]; at[X] < high[X]; at[X]++) {
        const PetscInt c = box_index(box, at[X], at[Y], at[Z]);

        for (PetscInt n = 0; n < box->ghost; n++)
          value[c + (n + 1) * step * box->stride[direction]] = value[c - n * step * box->stride[direction]];
      }
}

/* Mirrors first: the exchange carries layers beyond the sides along. */
PetscErrorCode DistanceFillGhosts(MacGrid grid, Vec distance)
{
  const GridBox *box = grid_box(grid);
  PetscReal     *value;

  PetscFunctionBegin;
  PetscCall(VecGetArray(distance, &value));
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++)
      if (box->neighbour[d][side] == MPI_PROC_NULL)
        mirror(box, value, d, side);
  PetscCall(VecRestoreArray(distance, &value));
  PetscCall(MacGridExchange(grid, distance));
  PetscFunctionReturn(0);
}
