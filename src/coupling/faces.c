/* What every face is: fluid, mixed, solid, or of given velocity. */
#include "coupling_impl.h"

PetscReal coupling_density(Coupling coupling, PetscReal *const densities[DIM], PetscInt d, PetscInt c)
{
  return densities ? densities[d][c] : coupling->density;
}

/* A solid cell takes all of its faces, a surface between two fluid cells shares one with another. */
static PetscErrorCode AddMixed(Coupling coupling, PetscInt d, const PetscInt at[DIM])
{
  const GridBox *box = grid_box(coupling->grid);
  const PetscInt c = box_index(box, at[X], at[Y], at[Z]);
  const PetscInt solid = PetscMax(coupling->solid[c], coupling->solid[c - box->stride[d]]);
  MixedFace     *mixed;
  PetscInt       end[DIM];

  PetscFunctionBegin;
  if (coupling->mixed_count == coupling->mixed_room) {
    coupling->mixed_room = 2 * coupling->mixed_room + 1024;
    PetscCall(PetscRealloc(coupling->mixed_room * sizeof(MixedFace), &coupling->mixed));
  }
  grid_face_end(coupling->grid, d, end);
  mixed = &coupling->mixed[coupling->mixed_count++];
  *mixed = (MixedFace){
      .face = c,
      .direction = d,
      .at = {at[X], at[Y], at[Z]},
      .is_owned = at[d] < end[d] ? PETSC_TRUE : PETSC_FALSE,
      .owners = {(solid ? solid : coupling->marks[d][c]) - 1, (solid ? 0 : coupling->seconds[d][c]) - 1}};
  PetscFunctionReturn(0);
}

/* Faces of owned cells, upper ones included; most rows have no bodies and are passed over quickly. */
static PetscErrorCode SortRow(Coupling coupling, PetscInt d, PetscInt at[DIM], PetscInt width,
                              PetscReal *weights)
{
  const GridBox  *box = grid_box(coupling->grid);
  const PetscInt  first = box_index(box, at[X], at[Y], at[Z]), stride = box->stride[d], start = at[X];
  const PetscInt *solid = coupling->solid, *marks = coupling->marks[d];
  PetscInt       *kinds = coupling->kinds[d];

  PetscFunctionBegin;
  for (PetscInt c = first; c < first + width; c++)
    kinds[c] = weights[c] == 0.                            ? COUPLED_GIVEN
               : solid[c] && solid[c - stride]             ? COUPLED_SOLID
               : solid[c] || solid[c - stride] || marks[c] ? 0
                                                           : COUPLED_FLUID;
  for (PetscInt c = first; c < first + width; c++) {
    if (kinds[c] == COUPLED_SOLID || kinds[c] == 0)
      weights[c] = 0.;
    if (kinds[c] != 0)
      continue;
    kinds[c] = coupling->mixed_count;
    at[X] = start + c - first;
    PetscCall(AddMixed(coupling, d, at));
  }
  at[X] = start;
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingFindFaces(Coupling coupling, const CoupledFluid *fluid)
{
  const GridBox *box = grid_box(coupling->grid);
  PetscReal     *weights[DIM];
  PetscInt       at[DIM];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++)
    PetscCall(VecCopy(fluid->weights[d], coupling->weights[d]));
  PetscCall(MacGridExchangeFaces(coupling->grid, coupling->weights));
  PetscCall(MacGridGetFaces(coupling->grid, coupling->weights, weights));
  coupling->mixed_count = 0;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscInt width = box->end[X] - box->start[X] + (d == X ? 1 : 0);

    at[X] = box->start[X];
    for (at[Z] = box->start[Z]; at[Z] < box->end[Z] + (d == Z ? 1 : 0); at[Z]++)
      for (at[Y] = box->start[Y]; at[Y] < box->end[Y] + (d == Y ? 1 : 0); at[Y]++)
        PetscCall(SortRow(coupling, d, at, width, weights[d]));
  }
  PetscCall(MacGridRestoreFaces(coupling->grid, coupling->weights, weights));
  PetscFunctionReturn(0);
}
