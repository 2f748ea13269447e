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

/* Segments between centres that a body is in the way of. A closed body is in the way of one between two that
   lie outside of it only if the segment enters and leaves it: a plane of the body that runs along the
   centres, or through one, is no wall between them. A shell has no inside, and what comes near it is met. */
static void mark_segments(Coupling coupling, PetscInt body, PetscInt d, const Lattice *lattice,
                          PetscInt marks[])
{
  const Placed  *placed = &coupling->solids.bodies[body];
  const PetscInt size = lattice_size(lattice);

  if (placed->body.thickness > 0.) {
    lattice_block(lattice, &placed->triangles, d, LATTICE_MARGIN, 1 + body, marks);
    return;
  }
  lattice_count_crossings(lattice, &placed->triangles, d, marks);
  for (PetscInt n = 0; n < size; n++)
    marks[n] = marks[n] > 1 ? 1 + body : 0;
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
    mark_segments(coupling, body, d, &lattice, marks);
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

/* Takes the volume of a body off the cells; rows begin where the body does, so that ranks agree. */
static PetscErrorCode FillCells(Coupling coupling, PetscInt body, Vector3 shift, const void *context)
{
  const GridBox *box = grid_box(coupling->grid);
  PetscReal     *parts = *(PetscReal *const *)context, *area, *volume, *passing;
  Lattice        part, lattice;

  PetscFunctionBegin;
  if (coupling->solids.bodies[body].body.thickness > 0. ||
      !coupling_lattice(coupling, body, CELLS, shift, &part))
    PetscFunctionReturn(0);
  lattice = part;
  lattice.start[X] = part.first[X];
  PetscCall(PetscCalloc3(lattice_size(&lattice), &area, lattice_size(&lattice), &volume,
                         lattice_size(&lattice), &passing));
  lattice_cut(&lattice, &coupling->solids.bodies[body].triangles, area, NULL, volume, passing);
  lattice_fill(&lattice, volume, passing);
  FOR_PLACES(&part, at)
    parts[box_index(box, at[X], at[Y], at[Z])] -=
        volume[lattice_index(&lattice, at[X], at[Y], at[Z])] / coupling->volume;
  PetscCall(PetscFree3(area, volume, passing));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingGetFreeParts(Coupling coupling, Vec parts)
{
  const GridBox  *box = grid_box(coupling->grid);
  const GridRange range = box_grown(box, 2);
  const PetscReal negligible = 1e-9;
  PetscReal      *part;

  PetscFunctionBegin;
  PetscCall(VecSet(parts, 1.));
  PetscCall(VecGetArray(parts, &part));
  PetscCall(CouplingVisitImages(coupling, FillCells, &part));
  FOR_CELLS(&range, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    part[c] = part[c] < negligible ? 0. : part[c] > 1. - negligible ? 1. : part[c];
  }
  PetscCall(VecRestoreArray(parts, &part));
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
