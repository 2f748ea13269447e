/* What every face is: fluid, mixed, solid, or of given velocity. */
#include "../coupling_impl.h"

PetscReal coupling_density(Coupling coupling, PetscReal *const densities[DIM], PetscInt d, PetscInt c)
{
  return densities ? densities[d][c] : coupling->density;
}

/* The solid cells that have a pressure, each with its fluid neighbours. */
static void find_active(Coupling coupling, PetscReal *const weights[DIM])
{
  const Discretisation *row = coupling->discretisation;
  const GridBox        *box = grid_box(coupling->grid);
  const GridRange       range = box_grown(box, 1);

  FOR_CELLS(&range, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    coupling->faces.active[c] = coupling->faces.solid[c] && row->open_neighbours
                                    ? (char)row->open_neighbours(coupling, weights, c)
                                    : 0;
  }
}

/* The bodies that a tied face moves with. A solid cell takes all of its faces, a surface between two fluid
   cells shares one with another; between two solid cells, one without pressure takes it, and else the volumes
   decide (none). */
static void find_owners(Coupling coupling, PetscInt d, PetscInt c, PetscInt owners[2])
{
  const PetscInt lower = c - grid_box(coupling->grid)->stride[d], *solid = coupling->faces.solid;

  owners[0] = owners[1] = -1;
  if (solid[c] && solid[lower]) {
    if (!coupling->faces.active[c] || !coupling->faces.active[lower])
      owners[0] = solid[coupling->faces.active[c] ? lower : c] - 1;
  } else if (solid[c] || solid[lower])
    owners[0] = PetscMax(solid[c], solid[lower]) - 1;
  else {
    owners[0] = coupling->faces.marks[d][c] - 1;
    owners[1] = coupling->faces.seconds[d][c] - 1;
  }
}

PetscErrorCode CouplingAddMixed(Coupling coupling, PetscInt d, const PetscInt at[DIM], PetscReal weight)
{
  MixedFace      *mixed;
  const GridRange faces = grid_faces(coupling->grid, d);

  PetscFunctionBegin;
  PetscCall(GrowList(coupling->faces.mixed_count, &coupling->faces.mixed_room, &coupling->faces.mixed));
  mixed = &coupling->faces.mixed[coupling->faces.mixed_count];
  *mixed = (MixedFace){.face = box_index(grid_box(coupling->grid), at[X], at[Y], at[Z]),
                       .direction = d,
                       .at = {at[X], at[Y], at[Z]},
                       .is_owned = at[d] < faces.end[d] ? PETSC_TRUE : PETSC_FALSE,
                       .weight = weight};
  find_owners(coupling, d, mixed->face, mixed->owners);
  coupling->faces.kinds[d][mixed->face] = coupling->faces.mixed_count++;
  PetscFunctionReturn(0);
}

/* Faces of owned cells, upper ones included. */
static PetscErrorCode SortRow(Coupling coupling, PetscInt d, PetscInt at[DIM], PetscInt width,
                              PetscReal *weights)
{
  const GridBox  *box = grid_box(coupling->grid);
  const PetscInt  first = box_index(box, at[X], at[Y], at[Z]), stride = box->stride[d], start = at[X];
  const PetscInt *solid = coupling->faces.solid, *marks = coupling->faces.marks[d];
  const char     *active = coupling->faces.active;
  PetscInt       *kinds = coupling->faces.kinds[d];

  PetscFunctionBegin;
  for (PetscInt c = first; c < first + width; c++)
    kinds[c] = weights[c] == 0.                                                     ? COUPLED_GIVEN
               : solid[c] && solid[c - stride] && !active[c] && !active[c - stride] ? COUPLED_SOLID
               : solid[c] || solid[c - stride] || marks[c]                          ? 0
                                                                                    : COUPLED_FLUID;
  for (PetscInt c = first; c < first + width; c++) {
    if (kinds[c] == 0) {
      at[X] = start + c - first;
      PetscCall(CouplingAddMixed(coupling, d, at, weights[c]));
      weights[c] = 0.;
    } else if (kinds[c] == COUPLED_SOLID)
      weights[c] = 0.;
  }
  at[X] = start;
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingFindFaces(Coupling coupling, const FluidSystem *fluid)
{
  const GridBox *box = grid_box(coupling->grid);
  PetscReal     *weights[DIM];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++)
    PetscCall(VecCopy(fluid->weights[d], coupling->faces.weights[d]));
  PetscCall(MacGridExchangeFaces(coupling->grid, coupling->faces.weights));
  PetscCall(MacGridGetFaces(coupling->grid, coupling->faces.weights, weights));
  find_active(coupling, weights);
  coupling->faces.mixed_count = 0;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange range = box_faces(box, d);

    FOR_ROWS(&range, j, k)
      PetscCall(SortRow(coupling, d, (PetscInt[DIM]){range.start[X], j, k}, range.end[X] - range.start[X],
                        weights[d]));
  }
  PetscCall(MacGridRestoreFaces(coupling->grid, coupling->faces.weights, weights));
  PetscFunctionReturn(0);
}
