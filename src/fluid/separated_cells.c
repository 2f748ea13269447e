/* Neighbouring cells between which a shell stands: no scalar diffuses from one to the other. */
#include "fluid_impl.h"

PetscErrorCode FluidDropSeparatedCells(Fluid fluid)
{
  PetscFunctionBegin;
  for (int moment = 0; moment < 2; moment++) {
    PetscCall(PetscFree(fluid->separated[moment].list));
    fluid->separated[moment] = (SeparatedCellList){.is_known = PETSC_FALSE};
  }
  PetscFunctionReturn(0);
}

/* One question for both sides: always upwards. */
static PetscBool is_hidden(Fluid fluid, StepMoment moment, const PetscInt at[DIM], PetscInt a, int side)
{
  PetscInt low[DIM] = {at[X], at[Y], at[Z]}, high[DIM] = {at[X], at[Y], at[Z]};

  if (side)
    high[a]++;
  else
    low[a]--;
  return fluid->visibility->blocks(fluid->visibility->context, moment,
                                   grid_cell_centre(fluid->grid, low[X], low[Y], low[Z]),
                                   grid_cell_centre(fluid->grid, high[X], high[Y], high[Z]));
}

static PetscErrorCode SeparateCell(Fluid fluid, StepMoment moment, const PetscInt at[DIM])
{
  SeparatedCellList *list = &fluid->separated[moment];
  const GridBox     *box = grid_box(fluid->grid);
  const PetscInt     c = box_index(box, at[X], at[Y], at[Z]);

  PetscFunctionBegin;
  for (PetscInt a = 0; a < box->dimension; a++)
    for (int side = 0; side < 2; side++) {
      if (!box->periodic[a] && at[a] == (side ? box->cells[a] - 1 : 0))
        continue; /* what is beyond a side is not beyond a shell */
      if (is_hidden(fluid, moment, at, a, side))
        PetscCall(AppendItem(&list->count, &list->room, &list->list,
                             (SeparatedCells){c, c + (side ? 1 : -1) * box->stride[a]}));
    }
  PetscFunctionReturn(0);
}

static PetscErrorCode FindSeparatedCells(Fluid fluid, StepMoment moment)
{
  const GridBox   *box = grid_box(fluid->grid);
  const PetscReal *near;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid->visibility->near, &near));
  FOR_PLACES(box, at)
    if (near[box_index(box, at[X], at[Y], at[Z])] > 0.)
      PetscCall(SeparateCell(fluid, moment, at));
  PetscCall(VecRestoreArrayRead(fluid->visibility->near, &near));
  fluid->separated[moment].is_known = PETSC_TRUE;
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetSeparatedCells(Fluid fluid, StepMoment moment, const SeparatedCellList **separated)
{
  PetscFunctionBegin;
  if (fluid->visibility && !fluid->separated[moment].is_known)
    PetscCall(FindSeparatedCells(fluid, moment));
  *separated = &fluid->separated[moment];
  PetscFunctionReturn(0);
}
