/* Every particle on the rank of its cell, in the order of cells and numbers.

   Where a particle belongs follows from its position alone, so all ranks agree on it. */
#include "particles_impl.h"

/* A particle this far beyond a side that is not periodic, in cells, has only been carried there by an error
   of interpolation. */
static const PetscReal forgiven = 0.5;
/* How far inside a side, in cells, a particle ends that lay on it. */
static const PetscReal inside = 1e-9;

enum { OUTSIDE = -1, RUN = 512 }; /* positions of a run stay in the nearest cache */

/* Index of the cell along a direction, or OUTSIDE; changes a position that is beyond the sides. */
static PetscInt settle_beyond(const GridBox *box, PetscInt d, PetscReal origin, PetscReal spacing,
                              PetscReal *position)
{
  const PetscReal cells = (PetscReal)box->cells[d];
  PetscReal       place = cell_place(*position, origin, 1. / spacing);

  if (!(PetscAbsReal(place) < 1e9)) /* not a number, too */
    return OUTSIDE;
  if (box->periodic[d]) {
    place -= cells * PetscFloorReal(place / cells);
  } else {
    if (place < -forgiven || place > cells + forgiven)
      return OUTSIDE;
    place = place < 0. ? -place : 2. * cells - place;
    place = PetscMin(PetscMax(place, inside), cells - inside);
  }
  *position = origin + spacing * place;
  place = cell_place(*position, origin, 1. / spacing); /* as any rank will see it from now on */
  if (!(place >= 0. && place < cells)) {               /* rounded out again */
    *position = origin + (box->periodic[d] ? 0. : spacing * PetscMin(PetscMax(place, 0.5), cells - 0.5));
    place = cell_place(*position, origin, 1. / spacing);
  }
  return (PetscInt)place;
}

/* The cell of a particle in the whole box; false when it has left. */
static PetscBool find_cell(const Particles particles, Vector3 *position, PetscInt at[DIM])
{
  const GridBox  *box = grid_box(particles->grid);
  const PetscReal spacing = grid_spacing(particles->grid);
  const Vector3   origin = grid_origin(particles->grid);

  at[Z] = 0;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal place = cell_place(position->at[d], origin.at[d], 1. / spacing);

    at[d] = place >= 0. && place < box->cells[d]
                ? (PetscInt)place
                : settle_beyond(box, d, origin.at[d], spacing, &position->at[d]);
    if (at[d] == OUTSIDE)
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Owned cells of particles, or OUTSIDE for those that need a closer look. */
VECTOR_CLONES static void find_owned_cells(const GridBox *box, Vector3 origin, PetscReal spacing,
                                           PetscInt count, const Vector3 *restrict positions,
                                           PetscInt *restrict cells)
{
  const PetscReal inverse = 1. / spacing;
  PetscInt        stride = 1;

  for (PetscInt n = 0; n < count; n++)
    cells[n] = 0;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal low = (PetscReal)box->start[d], high = (PetscReal)box->end[d], start = origin.at[d];
    const PetscInt  first = box->start[d];

    for (PetscInt n = 0; n < count; n++) {
      const PetscReal place = cell_place(positions[n].at[d], start, inverse);
      const PetscReal held = place < high ? place : high; /* a whole number, whatever it was */
      const PetscInt  cell = cells[n] + stride * ((PetscInt)(held > low ? held : low) - first);

      cells[n] = ((place >= low) & (place < high) & (cells[n] >= 0)) ? cell : OUTSIDE;
    }
    stride *= box->end[d] - box->start[d];
  }
}

static PetscBool is_owned(const GridBox *box, const PetscInt at[DIM])
{
  for (PetscInt d = 0; d < box->dimension; d++)
    if (at[d] < box->start[d] || at[d] >= box->end[d])
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static PetscMPIInt owner_of(const Particles particles, const PetscInt at[DIM])
{
  const GridBox *box = grid_box(particles->grid);
  PetscInt       place[DIM];

  for (PetscInt d = 0; d < DIM; d++) {
    PetscInt low = 0, high = box->ranks[d];

    while (high - low > 1) {
      const PetscInt middle = (low + high) / 2;

      if (at[d] < particles->parts.start[d][middle])
        high = middle;
      else
        low = middle;
    }
    place[d] = low;
  }
  return (PetscMPIInt)(place[X] + box->ranks[X] * (place[Y] + box->ranks[Y] * place[Z]));
}

/* Splits `now` into what stays, with its cells, and what leaves, in `spare`, with its destinations. */
static PetscErrorCode Part(Particles particles, PetscMPIInt **destination)
{
  const GridBox  *box = grid_box(particles->grid);
  ParticleArrays *now = &particles->now, *spare = &particles->spare;
  PetscInt        kept = 0, at[DIM], capacity = 0;

  PetscFunctionBegin;
  *destination = NULL;
  spare->count = 0;
  for (PetscInt n = 0; n < now->count; n++) {
    PetscInt cell = particles->cells[n];

    if (cell == OUTSIDE) {
      if (!find_cell(particles, &now->positions[n], at))
        continue;
      if (is_owned(box, at))
        cell = box_owned_number(box, at[X], at[Y], at[Z]);
    }
    if (cell != OUTSIDE) {
      if (kept < n)
        arrays_copy_one(now, n, now, kept);
      particles->cells[kept++] = cell;
      continue;
    }
    if (spare->count == capacity) {
      capacity = 2 * capacity + 64;
      PetscCall(PetscRealloc(capacity * sizeof(**destination), destination));
      PetscCall(ArraysReserve(spare, capacity));
    }
    arrays_copy_one(now, n, spare, spare->count);
    (*destination)[spare->count++] = owner_of(particles, at);
  }
  now->count = kept;
  PetscFunctionReturn(0);
}

/* The cells of those that have come. */
static PetscErrorCode Receive(Particles particles, PetscInt stayed)
{
  const GridBox  *box = grid_box(particles->grid);
  ParticleArrays *now = &particles->now;
  PetscInt        at[DIM];

  PetscFunctionBegin;
  PetscCall(ParticlesReserveSort(particles, now->count));
  for (PetscInt n = stayed; n < now->count; n++) {
    PetscCheck(find_cell(particles, &now->positions[n], at) && is_owned(box, at), PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "A particle came to a rank that does not own its cell");
    particles->cells[n] = box_owned_number(box, at[X], at[Y], at[Z]);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode ParticlesArrange(Particles particles)
{
  const GridBox *box = grid_box(particles->grid);
  PetscMPIInt   *destination, size;
  PetscInt       stayed;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(box->comm, &size));
  PetscCall(ParticlesReserveSort(particles, particles->now.count));
  for (PetscInt n = 0; n < particles->now.count; n += RUN)
    find_owned_cells(box, grid_origin(particles->grid), grid_spacing(particles->grid),
                     PetscMin(RUN, particles->now.count - n), particles->now.positions + n,
                     particles->cells + n);
  PetscCall(Part(particles, &destination));
  stayed = particles->now.count;
  if (size > 1)
    PetscCall(ArraysDeliver(box->comm, &particles->spare, destination, &particles->now));
  PetscCall(PetscFree(destination));
  PetscCall(Receive(particles, stayed));
  PetscCall(ParticlesSort(particles));
  particles->arranged = PETSC_TRUE;
  PetscFunctionReturn(0);
}

/* The particles of one owned cell. */
static PetscErrorCode CheckCell(Particles particles, PetscInt cell)
{
  const GridBox    *box = grid_box(particles->grid);
  const PetscInt64 *numbers = particles->now.numbers;
  PetscInt          found;

  PetscFunctionBegin;
  for (PetscInt n = particles->first[cell]; n < particles->first[cell + 1]; n++) {
    find_owned_cells(box, grid_origin(particles->grid), grid_spacing(particles->grid), 1,
                     particles->now.positions + n, &found);
    PetscCheck(found == cell, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Particle %" PetscInt64_FMT " is not in the cell that it is counted in", numbers[n]);
    PetscCheck(n == particles->first[cell] || numbers[n - 1] < numbers[n], PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Particles %" PetscInt64_FMT " and %" PetscInt64_FMT " of a cell are not in order",
               numbers[n - 1], numbers[n]);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode ParticlesCheck(Particles particles)
{
  const GridBox *box = grid_box(particles->grid);
  PetscInt       cells = 1;

  PetscFunctionBegin;
  if (!particles->arranged)
    PetscFunctionReturn(0);
  for (PetscInt d = 0; d < box->dimension; d++)
    cells *= box->end[d] - box->start[d];
  PetscCheck(particles->first[0] == 0 && particles->first[cells] == particles->now.count, PETSC_COMM_SELF,
             PETSC_ERR_PLIB,
             "The cells of this rank hold %" PetscInt_FMT " of its %" PetscInt_FMT " particles",
             particles->first[cells], particles->now.count);
  for (PetscInt cell = 0; cell < cells; cell++)
    PetscCall(CheckCell(particles, cell));
  PetscFunctionReturn(0);
}
