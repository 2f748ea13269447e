/* Which cells are solid, and between which centers a surface lies. */
#include "coupling_impl.h"

/* As a fraction of h: far above the round-off of positions, far below what anyone can see. */
#define MARGIN 1e-6

static PetscErrorCode MarkCells(Coupling coupling, PetscInt body, Vector3 shift, const void *context)
{
  const GridBox *box = grid_box(coupling->grid);
  PetscInt      *winding;
  PetscReal     *scratch;
  Lattice        lattice;

  PetscFunctionBegin;
  (void)context;
  if (coupling->bodies[body].body.thickness > 0. || !coupling_lattice(coupling, body, CELLS, shift, &lattice))
    PetscFunctionReturn(0);
  PetscCall(CouplingGetScratch(coupling, lattice_size(&lattice), &scratch));
  winding = (PetscInt *)scratch;
  lattice_wind(&lattice, &coupling->bodies[body].triangles, winding);
  for (PetscInt k = lattice.start[Z]; k < lattice.end[Z]; k++)
    for (PetscInt j = lattice.start[Y]; j < lattice.end[Y]; j++) {
      const PetscInt c = box_index(box, lattice.start[X], j, k);
      const PetscInt n = lattice_index(&lattice, lattice.start[X], j, k);

      for (PetscInt i = 0; i < lattice.end[X] - lattice.start[X]; i++)
        if (winding[n + i] > 0 && !coupling->solid[c + i])
          coupling->solid[c + i] = 1 + body;
    }
  PetscFunctionReturn(0);
}

static PetscErrorCode MarkFaces(Coupling coupling, PetscInt body, Vector3 shift, const void *context)
{
  const GridBox *box = grid_box(coupling->grid);
  PetscReal     *scratch;
  Lattice        lattice;

  PetscFunctionBegin;
  (void)context;
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscInt *marks;

    if (!coupling_lattice(coupling, body, d, shift, &lattice))
      continue;
    lattice.origin.at[d] += 0.5 * coupling->spacing; /* back to the cells: segment i leads to center i */
    PetscCall(CouplingGetScratch(coupling, lattice_size(&lattice), &scratch));
    marks = (PetscInt *)scratch;
    lattice_block(&lattice, &coupling->bodies[body].triangles, d, MARGIN, 1 + body, marks);
    for (PetscInt k = lattice.start[Z]; k < lattice.end[Z]; k++)
      for (PetscInt j = lattice.start[Y]; j < lattice.end[Y]; j++) {
        const PetscInt c = box_index(box, lattice.start[X], j, k);
        const PetscInt n = lattice_index(&lattice, lattice.start[X], j, k);

        for (PetscInt i = 0; i < lattice.end[X] - lattice.start[X]; i++)
          if (marks[n + i] && !coupling->marks[d][c + i])
            coupling->marks[d][c + i] = marks[n + i];
          else if (marks[n + i] && coupling->marks[d][c + i] != marks[n + i])
            coupling->seconds[d][c + i] = marks[n + i];
      }
  }
  PetscFunctionReturn(0);
}

/* A bulge: on one side of the two cells lie two solid ones of the body, on the other two that are free. */
static PetscBool is_bulge(Coupling coupling, PetscInt d, PetscInt c)
{
  const GridBox  *box = grid_box(coupling->grid);
  const PetscInt *solid = coupling->solid, back = box->stride[d], body = coupling->marks[d][c];

  if (solid[c] || solid[c - back] || coupling->seconds[d][c])
    return PETSC_FALSE;
  for (PetscInt a = 0; a < box->dimension; a++)
    for (PetscInt side = -1; side <= 1 && a != d; side += 2) {
      const PetscInt in = c + side * box->stride[a], out = c - side * box->stride[a];

      if (solid[in] == body && solid[in - back] == body && !solid[out] && !solid[out - back])
        return PETSC_TRUE;
    }
  return PETSC_FALSE;
}

/* The top of a bulge between two fluid cells is no wall: fluid leads around it. */
static void open_bulges(Coupling coupling, PetscInt d)
{
  const GridBox *box = grid_box(coupling->grid);

  for (PetscInt k = box->start[Z]; k < box->end[Z] + (d == Z ? 1 : 0); k++)
    for (PetscInt j = box->start[Y]; j < box->end[Y] + (d == Y ? 1 : 0); j++)
      for (PetscInt i = box->start[X]; i < box->end[X] + (d == X ? 1 : 0); i++) {
        const PetscInt c = box_index(box, i, j, k);

        if (coupling->marks[d][c] && is_bulge(coupling, d, c))
          coupling->marks[d][c] = 0;
      }
}

PetscErrorCode CouplingFindCells(Coupling coupling)
{
  const GridBox *box = grid_box(coupling->grid);

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(coupling->solid, box->length));
  for (PetscInt d = 0; d < box->dimension; d++)
    PetscCall(PetscArrayzero(coupling->marks[d], 2 * box->length)); /* and `seconds` behind */
  PetscCall(CouplingVisitImages(coupling, MarkCells, NULL));
  PetscCall(CouplingVisitImages(coupling, MarkFaces, NULL));
  for (PetscInt d = 0; d < box->dimension && coupling->config.faces == COUPLING_CUT; d++)
    open_bulges(coupling, d);
  PetscFunctionReturn(0);
}
