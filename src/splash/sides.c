/* The velocity on the sides of the box and beyond, where particles beside them look for it.

   On a closed side liquid may leave the wall but not enter it: the face takes the velocity of the next one
   inside where that leads away, else 0. Incompressible FLIP holds it at 0 but for sources. Along the sides
   liquid slips. The difference from the velocity that particles brought to the wall is the blow that it gives
   them. */
#include "splash_impl.h"

/* A layer of the local array across `direction`, ghosts included. */
static void copy_layer(const GridBox *box, PetscInt direction, PetscInt from, PetscInt to, PetscReal *values)
{
  const PetscInt shift = (from - to) * box->stride[direction];
  PetscInt       low[DIM] = {0, 0, 0}, high[DIM] = {1, 1, 1};

  for (PetscInt d = 0; d < box->dimension; d++)
    high[d] = box->end[d] - box->start[d] + 2 * box->ghost;
  low[direction] = to - box->start[direction] + box->ghost;
  high[direction] = low[direction] + 1;
  for (PetscInt k = low[Z]; k < high[Z]; k++)
    for (PetscInt j = low[Y]; j < high[Y]; j++)
      for (PetscInt i = low[X]; i < high[X]; i++) {
        const PetscInt c = i + j * box->stride[Y] + k * box->stride[Z];

        values[c] = values[c + shift];
      }
}

/* What does not lead away from the wall is 0; of incompressible FLIP all, but where a source comes out of it
   (`held`, null if unilateral). */
static void hold_back(const GridBox *box, PetscInt direction, PetscInt side, const PetscReal *held,
                      PetscReal *values)
{
  const PetscInt  face = side ? box->cells[direction] : 0, inside = side ? -box->stride[direction] : 0;
  const PetscReal away = side ? -1. : 1.;
  PetscInt        low[DIM] = {0, 0, 0}, high[DIM] = {1, 1, 1};

  for (PetscInt d = 0; d < box->dimension; d++)
    high[d] = box->end[d] - box->start[d] + 2 * box->ghost;
  low[direction] = face - box->start[direction] + box->ghost;
  high[direction] = low[direction] + 1;
  for (PetscInt k = low[Z]; k < high[Z]; k++)
    for (PetscInt j = low[Y]; j < high[Y]; j++)
      for (PetscInt i = low[X]; i < high[X]; i++) {
        const PetscInt c = i + j * box->stride[Y] + k * box->stride[Z];

        if (!(values[c] * away > 0.) || (held && held[c + inside] == 0.))
          values[c] = 0.;
      }
}

static void fill_normal(const Splash splash, SideRule rule, const PetscReal *held, PetscInt d, PetscInt side,
                        PetscReal *values)
{
  const GridBox *box = grid_box(splash->grid);
  const PetscInt face = side ? box->cells[d] : 0, inner = side ? face - 1 : 1;

  if (rule == SIDES_HELD && side_is_closed(splash, d, side)) {
    copy_layer(box, d, inner, face, values);
    hold_back(box, d, side, held, values);
  }
  for (PetscInt n = 1; n < box->ghost; n++)
    copy_layer(box, d, face, side ? face + n : face - n, values);
  if (!side)
    copy_layer(box, d, face, face - box->ghost, values);
}

static void fill_tangential(const GridBox *box, PetscInt d, PetscInt side, PetscReal *values)
{
  const PetscInt last = side ? box->cells[d] - 1 : 0;

  for (PetscInt n = 1; n <= box->ghost; n++)
    copy_layer(box, d, last, side ? last + n : last - n, values);
}

PetscErrorCode SplashFillSides(Splash splash, SideRule rule, Vec faces[DIM])
{
  const GridBox *box = grid_box(splash->grid);
  PetscReal     *values[DIM], *held = NULL;

  PetscFunctionBegin;
  if (splash->held)
    PetscCall(VecGetArray(splash->held, &held));
  PetscCall(MacGridExchangeFaces(splash->grid, faces));
  PetscCall(MacGridGetFaces(splash->grid, faces, values));
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      if (box->neighbour[d][side] != MPI_PROC_NULL)
        continue;
      for (PetscInt component = 0; component < box->dimension; component++)
        if (component == d)
          fill_normal(splash, rule, held, d, side, values[component]);
        else
          fill_tangential(box, d, side, values[component]);
    }
  PetscCall(MacGridRestoreFaces(splash->grid, faces, values));
  if (splash->held)
    PetscCall(VecRestoreArray(splash->held, &held));
  PetscFunctionReturn(0);
}
