/* Cut faces (docs/numerics.md, section 14): the pressure gradient of a dual cell acts on the fluid part of it
   and on the bodies in it, each by its volume, and the fluid slips along the bodies (Batty, Bertails &
   Bridson 2007). Solid cells at a surface have a pressure. Faces that a thin surface blocks, and those
   without a pressure on one side, move with the bodies as in tied.c. */
#include "../coupling_impl.h"

/* A bulge: on one side of the two cells lie two solid ones of the body, on the other two that are free. */
static PetscBool is_bulge(Coupling coupling, PetscInt d, PetscInt c)
{
  const GridBox  *box = grid_box(coupling->grid);
  const PetscInt *solid = coupling->faces.solid, back = box->stride[d], body = coupling->faces.marks[d][c];

  if (solid[c] || solid[c - back] || coupling->faces.seconds[d][c])
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
  const GridBox  *box = grid_box(coupling->grid);
  const GridRange range = box_faces(box, d);

  FOR_CELLS(&range, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (coupling->faces.marks[d][c] && is_bulge(coupling, d, c))
      coupling->faces.marks[d][c] = 0;
  }
}

/* The fluid neighbours of a solid cell: bit 2 d + side. */
static int fluid_neighbours(const GridBox *box, const PetscInt *solid, PetscReal *const weights[DIM],
                            PetscInt c)
{
  int open = 0;

  for (PetscInt n = 0; n < 2 * box->dimension; n++) {
    const PetscInt d = n / 2, next = n % 2 ? c + box->stride[d] : c - box->stride[d];

    if (!solid[next] && weights[d][PetscMax(c, next)] > 0.)
      open |= 1 << n;
  }
  return open;
}

/* Whether fluid leads around the cell from each open neighbour to all others: if not, they lie on two sides
   of a thin wall, which a pressure within the cell would join. */
static PetscBool is_joined(const GridBox *box, const PetscInt *solid, PetscInt c, int open)
{
  int reached = open & -open, before = 0;

  while (before != reached) {
    before = reached;
    for (PetscInt a = 0; a < 2 * box->dimension; a++)
      for (PetscInt b = 0; b < 2 * box->dimension; b++) {
        const PetscInt diagonal =
            c + (a % 2 ? 1 : -1) * box->stride[a / 2] + (b % 2 ? 1 : -1) * box->stride[b / 2];

        if (a / 2 != b / 2 && (reached & 1 << a) && (open & 1 << b) && !solid[diagonal])
          reached |= 1 << b;
      }
  }
  return reached == open ? PETSC_TRUE : PETSC_FALSE;
}

static int open_neighbours(Coupling coupling, PetscReal *const weights[DIM], PetscInt c)
{
  const GridBox *box = grid_box(coupling->grid);
  const int      open = fluid_neighbours(box, coupling->faces.solid, weights, c);

  return is_joined(box, coupling->faces.solid, c, open) ? open : 0;
}

/* The part of a face whose fluid slips along the bodies: beside a fluid cell and a pressure on its other
   side, with no thin surface between them. Beyond an open side there is always a pressure. */
static PetscReal open_part(Coupling coupling, const MixedFace *mixed, PetscReal solid)
{
  const GridBox  *box = grid_box(coupling->grid);
  const PetscReal least = 1e-4, open = 1. - solid / coupling->volume;
  const PetscInt  c = mixed->face, lower = c - box->stride[mixed->direction];
  const PetscBool upper_in = !coupling->faces.solid[c], lower_in = !coupling->faces.solid[lower];
  const int       common = coupling->faces.active[c] & coupling->faces.active[lower];

  if (open < least)
    return 0.;
  if (!box->periodic[mixed->direction] && mixed->at[mixed->direction] == 0)
    return upper_in || coupling->faces.active[c] ? open : 0.;
  if (!box->periodic[mixed->direction] && mixed->at[mixed->direction] == box->cells[mixed->direction])
    return lower_in || coupling->faces.active[lower] ? open : 0.;
  if (!upper_in && !lower_in) /* two cells with fluid on the same side of them */
    return common ? open : 0.;
  if (upper_in && lower_in)
    return coupling->faces.marks[mixed->direction][c] ? 0. : open;
  return coupling->faces.active[upper_in ? lower : c] ? open : 0.;
}

static void interpolate(Coupling coupling, PetscReal solid, MixedFace *mixed, InterpolationEntry entries[])
{
  mixed->open = open_part(coupling, mixed, solid);
  if (mixed->open > 0.) {
    mixed->mass = 0.;
    for (PetscInt s = 0; s < mixed->count; s++)
      entries[s].weight = entries[s].volume / coupling->volume;
  } else {
    mixed->mass = mixed->density * PetscMax(coupling->volume - solid, 0.);
    weigh_by_owners(mixed, solid, entries);
  }
}

/* Moves the arms of a body's faces along one direction together, across it, until the solid volumes in the
   dual cells have their centre where the body has it: then hydrostatic pressure has no torque. Dry ones
   count too: what is wet of an upright box is moved as far as the whole of it. */
static void find_offset(PlacedSolids *solids, PetscInt body, PetscInt d, const BodySums *sums)
{
  const Placed *placed = &solids->bodies[body];
  PetscReal     centre[3];

  places_across(d, placed->centre, centre);
  if (PetscAbsReal(sums->whole[0] - placed->volume) > 1e-9 * placed->volume || placed->volume <= 0.)
    return; /* not all of it is in the box */
  for (PetscInt n = 1; n < 3; n++)
    solids->offsets[DIM * body + d].at[(d + n) % DIM] = centre[n] - sums->whole[n] / sums->whole[0];
}

static void move_arms(Coupling coupling)
{
  for (PetscInt m = 0; m < coupling->faces.mixed_count; m++)
    for (PetscInt s = coupling->faces.mixed[m].first;
         s < coupling->faces.mixed[m].first + coupling->faces.mixed[m].count; s++) {
      InterpolationEntry *entry = &coupling->faces.entries[s];

      entry->arm = vector3_add(
          entry->arm, coupling->solids.offsets[DIM * entry->body + coupling->faces.mixed[m].direction]);
    }
}

static PetscErrorCode CorrectBuoyancy(Coupling coupling, PetscReal *const densities[DIM],
                                      const BodySums sums[])
{
  PetscFunctionBegin;
  (void)densities;
  for (PetscInt n = 0; n < coupling->solids.near_count; n++)
    for (PetscInt d = 0; d < grid_box(coupling->grid)->dimension; d++)
      find_offset(&coupling->solids, coupling->solids.near[n], d, &sums[DIM * coupling->solids.near[n] + d]);
  move_arms(coupling);
  PetscFunctionReturn(0);
}

const Discretisation CutDiscretisation = {.mixed = MIXED_BY_VOLUME,
                                          .unblock = open_bulges,
                                          .open_neighbours = open_neighbours,
                                          .interpolate = interpolate,
                                          .CorrectBuoyancy = CorrectBuoyancy};
