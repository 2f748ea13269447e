/* Which cells are solid, and between which centres a surface lies. */
#include "../coupling_impl.h"

static PetscErrorCode MarkCells(Coupling coupling, PetscInt body, Vector3 shift, const void *context)
{
  const GridBox *box = grid_box(coupling->grid);
  PetscInt      *winding;
  Lattice        lattice;

  PetscFunctionBegin;
  (void)context;
  if (coupling->solids.bodies[body].body.thickness > 0. ||
      !coupling_lattice(coupling, body, CELLS, shift, &lattice))
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc1(lattice_size(&lattice), &winding));
  lattice_wind(&lattice, &coupling->solids.bodies[body].triangles, winding);
  FOR_ROWS(&lattice, j, k) {
    const PetscInt c = box_index(box, lattice.start[X], j, k);
    const PetscInt n = lattice_index(&lattice, lattice.start[X], j, k);

    for (PetscInt i = 0; i < lattice.end[X] - lattice.start[X]; i++)
      if (winding[n + i] > 0 && !coupling->faces.solid[c + i])
        coupling->faces.solid[c + i] = 1 + body;
  }
  PetscCall(PetscFree(winding));
  PetscFunctionReturn(0);
}

static PetscErrorCode MarkFaces(Coupling coupling, PetscInt body, Vector3 shift, const void *context)
{
  const GridBox *box = grid_box(coupling->grid);
  Lattice        lattice;

  PetscFunctionBegin;
  (void)context;
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscInt *marks;

    if (!coupling_lattice(coupling, body, d, shift, &lattice))
      continue;
    lattice.origin.at[d] += 0.5 * coupling->spacing; /* back to the cells: segment i leads to centre i */
    PetscCall(PetscCalloc1(lattice_size(&lattice), &marks));
    lattice_block(&lattice, &coupling->solids.bodies[body].triangles, d, LATTICE_MARGIN, 1 + body, marks);
    FOR_ROWS(&lattice, j, k) {
      const PetscInt c = box_index(box, lattice.start[X], j, k);
      const PetscInt n = lattice_index(&lattice, lattice.start[X], j, k);

      for (PetscInt i = 0; i < lattice.end[X] - lattice.start[X]; i++)
        if (marks[n + i] && !coupling->faces.marks[d][c + i])
          coupling->faces.marks[d][c + i] = marks[n + i];
        else if (marks[n + i] && coupling->faces.marks[d][c + i] != marks[n + i])
          coupling->faces.seconds[d][c + i] = marks[n + i];
    }
    PetscCall(PetscFree(marks));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingFindCells(Coupling coupling)
{
  const GridBox *box = grid_box(coupling->grid);

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(coupling->faces.solid, box->length));
  for (PetscInt d = 0; d < box->dimension; d++)
    PetscCall(PetscArrayzero(coupling->faces.marks[d], 2 * box->length)); /* and `seconds` behind */
  PetscCall(CouplingVisitImages(coupling, MarkCells, NULL));
  PetscCall(CouplingVisitImages(coupling, MarkFaces, NULL));
  for (PetscInt d = 0; d < box->dimension && coupling->discretisation->unblock; d++)
    coupling->discretisation->unblock(coupling, d);
  PetscFunctionReturn(0);
}
