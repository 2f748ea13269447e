/* Ghosts of a distance: copies between ranks, mirror images beyond sides that nothing passes. Beyond an open
   side the distance d goes on linearly from the cell c beside it,

     d(m) = d(c) + m s h,   m = 1, 2, 3,

   towards what lies outside: where that flows in, |s| = 1; elsewhere s is the slope inside, if it points that
   way and the interface is near, at most 1, so that an interface leaves as it came. Where the interface meets
   a closed side at an angle, the slope s there is given, and the mirror image changes by s times the way. */
#include "levelset_impl.h"

/* Of the distance, outwards; `sign` is that of what lies outside. */
static PetscReal outward_slope(PetscReal own, PetscReal inner, PetscReal sign, PetscBool enters, PetscReal h)
{
  if (enters)
    return sign;
  if (PetscAbsReal(own) >= (2. - MILLRACE_ROUND_OFF) * h)
    return 0.;
  return sign * PetscMax(0., PetscMin(sign * (own - inner) / h, 1.));
}

static void continue_side(LevelSet level_set, PetscInt d, PetscInt side, const PetscReal *marks,
                          PetscReal *value)
{
  const LevelSetSides *sides = level_set->sides;
  const GridBox       *box = grid_box(level_set->grid);
  const GridRange      layer = box_side_layer(box, d, side);
  const PetscReal      h = grid_spacing(level_set->grid), most = BAND_CELLS * h;
  const PetscInt       inwards = (side ? -1 : 1) * box->stride[d];

  FOR_CELLS(&layer, i, j, k) {
    const PetscInt   c = box_index(box, i, j, k);
    const BeyondSide beyond =
        has_side_mark(marks[c], SIDE_MARK_ABOVE, d, side) ? sides->above[d][side] : sides->beyond[d][side];
    const PetscReal slope =
        outward_slope(value[c], value[c + inwards], beyond == BEYOND_SIDE_INSIDE ? -1. : 1.,
                      has_side_mark(marks[c], SIDE_MARK_ENTERING, d, side), h);

    for (PetscInt m = 1; m <= box->ghost; m++)
      value[c - m * inwards] = PetscMax(-most, PetscMin(value[c] + m * slope * h, most));
  }
}

/* What was mirrored is given the slope of its angle. */
static void tilt_side(LevelSet level_set, PetscInt d, PetscInt side, const PetscReal *partners,
                      PetscReal *value)
{
  const GridBox   *box = grid_box(level_set->grid);
  const GridRange  layer = box_side_layer(box, d, side);
  const PetscReal  h = grid_spacing(level_set->grid), most = BAND_CELLS * h;
  const PetscInt   inwards = (side ? -1 : 1) * box->stride[d];
  const PetscReal *slopes = level_set->sides->slopes + (2 * d + side) * level_set->sides->partner_count;

  FOR_CELLS(&layer, i, j, k) {
    const PetscInt  c = box_index(box, i, j, k), partner = (PetscInt)partners[c];
    const PetscReal slope = partner ? slopes[partner - 1] : PETSC_INFINITY;

    for (PetscInt m = 1; m <= box->ghost && slope < PETSC_INFINITY; m++) {
      PetscReal *beyond = value + c - m * inwards;

      *beyond = PetscMax(-most, PetscMin(*beyond + (2 * m - 1) * h * slope, most));
    }
  }
}

/* The sides first: the exchange carries layers beyond them along. */
PetscErrorCode LevelSetFillGhosts(LevelSet level_set, Vec field)
{
  const GridBox   *box = grid_box(level_set->grid);
  const PetscReal *marks = NULL, *partners = NULL;
  PetscReal       *value;

  PetscFunctionBegin;
  if (!level_set->sides || (!level_set->sides->marks && !level_set->sides->partners)) {
    PetscCall(MacGridMirrorGhosts(level_set->grid, field));
    PetscFunctionReturn(0);
  }
  if (level_set->sides->marks)
    PetscCall(VecGetArrayRead(level_set->sides->marks, &marks));
  if (level_set->sides->partners)
    PetscCall(VecGetArrayRead(level_set->sides->partners, &partners));
  PetscCall(VecGetArray(field, &value));
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++)
      if (box->neighbour[d][side] != MPI_PROC_NULL)
        continue;
      else if (level_set->sides->beyond[d][side] == BEYOND_SIDE_MIRROR) {
        box_mirror_side(box, d, side, value);
        if (partners)
          tilt_side(level_set, d, side, partners, value);
      } else
        continue_side(level_set, d, side, marks, value);
  PetscCall(VecRestoreArray(field, &value));
  if (level_set->sides->partners)
    PetscCall(VecRestoreArrayRead(level_set->sides->partners, &partners));
  if (level_set->sides->marks)
    PetscCall(VecRestoreArrayRead(level_set->sides->marks, &marks));
  PetscCall(MacGridExchange(level_set->grid, field));
  PetscFunctionReturn(0);
}
