/* Counting sort by cell, then by number within a cell. */
#include "particles_impl.h"

PetscErrorCode ParticlesReserveSort(Particles particles, PetscInt count)
{
  PetscInt capacity = particles->cells_capacity;

  PetscFunctionBegin;
  if (count <= capacity)
    PetscFunctionReturn(0);
  capacity = PetscMax(count, capacity + capacity / 2 + 16);
  PetscCall(PetscRealloc(capacity * sizeof(*particles->cells), &particles->cells));
  PetscCall(PetscRealloc(capacity * sizeof(*particles->entries), &particles->entries));
  particles->cells_capacity = capacity;
  PetscFunctionReturn(0);
}

PetscErrorCode ParticlesReleaseSort(Particles particles)
{
  PetscFunctionBegin;
  PetscCall(ArraysDestroy(&particles->spare));
  PetscCall(PetscFree(particles->cells));
  PetscCall(PetscFree(particles->entries));
  particles->cells_capacity = 0;
  PetscFunctionReturn(0);
}

/* Few entries, most of them in order already: all but those that have come from other cells. */
static void sort_by_number(OrderedParticle *entries, PetscInt count)
{
  for (PetscInt n = 1; n < count; n++) {
    const OrderedParticle entry = entries[n];
    PetscInt              place = n;

    for (; place > 0 && entries[place - 1].number > entry.number; place--)
      entries[place] = entries[place - 1];
    entries[place] = entry;
  }
}

static int compare_numbers(const void *a, const void *b)
{
  const PetscInt64 left = ((const OrderedParticle *)a)->number, right = ((const OrderedParticle *)b)->number;

  return (left > right) - (left < right);
}

/* Entries of all particles, cell by cell, and where each cell begins. While they are counted and entered,
   the cells stand two and one places further up in `first`, so that none has to be moved in the end. */
static void enter(Particles particles, PetscInt cell_count)
{
  enum { MANY = 256 }; /* in one cell */
  PetscInt *first = particles->first;

  for (PetscInt c = 0; c < cell_count + 2; c++)
    first[c] = 0;
  for (PetscInt n = 0; n < particles->now.count; n++)
    first[particles->cells[n] + 2]++;
  for (PetscInt c = 2; c < cell_count + 2; c++)
    first[c] += first[c - 1];
  for (PetscInt n = 0; n < particles->now.count; n++)
    particles->entries[first[particles->cells[n] + 1]++] = (OrderedParticle){particles->now.numbers[n], n};
  for (PetscInt c = 0; c < cell_count; c++) {
    const PetscInt here = first[c + 1] - first[c];

    if (here > MANY)
      qsort(particles->entries + first[c], here, sizeof(*particles->entries), compare_numbers);
    else if (here > 1)
      sort_by_number(particles->entries + first[c], here);
  }
}

PetscErrorCode ParticlesSort(Particles particles)
{
  const ParticleArrays old = particles->now;

  PetscFunctionBegin;
  enter(particles, owned_cells(grid_box(particles->grid)));
  PetscCall(ArraysReserve(&particles->spare, old.count));
  for (PetscInt n = 0; n < old.count; n++)
    arrays_copy_one(&old, particles->entries[n].from, &particles->spare, n);
  particles->now = particles->spare;
  particles->now.count = old.count;
  particles->spare = old;
  PetscFunctionReturn(0);
}
