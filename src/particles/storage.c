/* Arrays of particles that grow, and the set of a rank. */
#include "particles_impl.h"

PetscErrorCode ArraysReserve(ParticleArrays *arrays, PetscInt count)
{
  PetscInt capacity = arrays->capacity;

  PetscFunctionBegin;
  if (count <= capacity)
    PetscFunctionReturn(0);
  capacity = PetscMax(count, capacity + capacity / 2 + 16);
  PetscCall(PetscRealloc(capacity * sizeof(*arrays->positions), &arrays->positions));
  PetscCall(PetscRealloc(capacity * sizeof(*arrays->numbers), &arrays->numbers));
  if (arrays->width)
    PetscCall(PetscRealloc(capacity * arrays->width * sizeof(*arrays->values), &arrays->values));
  arrays->capacity = capacity;
  PetscFunctionReturn(0);
}

PetscErrorCode ArraysDestroy(ParticleArrays *arrays)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(arrays->positions));
  PetscCall(PetscFree(arrays->numbers));
  PetscCall(PetscFree(arrays->values));
  arrays->count = arrays->capacity = 0;
  PetscFunctionReturn(0);
}

PetscErrorCode ArraysAppend(ParticleArrays *to, const ParticleArrays *from)
{
  const PetscInt width = to->width;

  PetscFunctionBegin;
  PetscCall(ArraysReserve(to, to->count + from->count));
  PetscCall(PetscArraycpy(to->positions + to->count, from->positions, from->count));
  PetscCall(PetscArraycpy(to->numbers + to->count, from->numbers, from->count));
  if (width)
    PetscCall(PetscArraycpy(to->values + to->count * width, from->values, from->count * width));
  to->count += from->count;
  PetscFunctionReturn(0);
}

PetscErrorCode ParticlesCreate(MacGrid grid, PetscInt width, Particles *particles)
{
  PetscFunctionBegin;
  PetscCheck(width >= 0, grid_box(grid)->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "A particle cannot have %" PetscInt_FMT " values", width);
  PetscCall(PetscNew(particles));
  (*particles)->grid = grid;
  (*particles)->now.width = (*particles)->spare.width = width;
  (*particles)->arranged = PETSC_TRUE;
  PetscCall(PetscCalloc1(owned_cells(grid_box(grid)) + 2, &(*particles)->first));
  PetscCall(GridPartitionCreateFrom(grid_box(grid), &(*particles)->parts));
  PetscFunctionReturn(0);
}

PetscErrorCode ParticlesDestroy(Particles *particles)
{
  PetscFunctionBegin;
  if (!*particles)
    PetscFunctionReturn(0);
  PetscCall(ArraysDestroy(&(*particles)->now));
  PetscCall(ArraysDestroy(&(*particles)->spare));
  PetscCall(PetscFree((*particles)->cells));
  PetscCall(PetscFree((*particles)->entries));
  PetscCall(PetscFree((*particles)->first));
  PetscCall(GridPartitionDestroy(&(*particles)->parts));
  PetscCall(PetscFree(*particles));
  PetscFunctionReturn(0);
}

PetscErrorCode ParticlesCopy(Particles from, Particles to)
{
  PetscFunctionBegin;
  PetscCheck(from->grid == to->grid && from->now.width == to->now.width, grid_box(to->grid)->comm,
             PETSC_ERR_ARG_INCOMP, "Particles are copied between sets of one grid and width only");
  to->now.count = 0;
  PetscCall(ArraysAppend(&to->now, &from->now));
  PetscCall(PetscArraycpy(to->first, from->first, owned_cells(grid_box(to->grid)) + 1));
  to->arranged = from->arranged;
  PetscFunctionReturn(0);
}

PetscErrorCode ParticlesGetView(Particles particles, ParticleView *view)
{
  const ParticleArrays *now = &particles->now;

  PetscFunctionBegin;
  *view = (ParticleView){.count = now->count,
                         .positions = now->positions,
                         .values = now->values,
                         .numbers = now->numbers,
                         .first = particles->arranged ? particles->first : NULL};
  PetscFunctionReturn(0);
}

PetscErrorCode ParticlesGetTotal(Particles particles, PetscInt64 *total)
{
  PetscFunctionBegin;
  *total = particles->now.count;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, total, 1, MPIU_INT64, MPI_SUM, grid_box(particles->grid)->comm));
  PetscFunctionReturn(0);
}

PetscErrorCode ParticlesAdd(Particles particles, PetscInt count, const Vector3 positions[],
                            const PetscReal values[], const PetscInt64 numbers[])
{
  const ParticleArrays added = {.width = particles->now.width,
                                .count = count,
                                .positions = (Vector3 *)positions,
                                .values = (PetscReal *)values,
                                .numbers = (PetscInt64 *)numbers};

  PetscFunctionBegin;
  if (!count)
    PetscFunctionReturn(0);
  PetscCall(ArraysAppend(&particles->now, &added));
  particles->arranged = PETSC_FALSE;
  PetscFunctionReturn(0);
}

PetscErrorCode ParticlesDrop(Particles particles, const PetscBool drop[])
{
  ParticleArrays *now = &particles->now;
  PetscInt        kept = 0;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < now->count; n++) {
    if (drop[n])
      continue;
    if (kept < n)
      arrays_copy_one(now, n, now, kept);
    kept++;
  }
  if (kept < now->count)
    particles->arranged = PETSC_FALSE;
  now->count = kept;
  PetscFunctionReturn(0);
}

static void mark_cell(const Particles particles, const ParticleTest *test, PetscInt cell, PetscBool drop[])
{
  for (PetscInt n = particles->first[cell]; n < particles->first[cell + 1]; n++)
    drop[n] = !test->place || test->place(test->context, particles->now.positions[n]);
}

PetscErrorCode ParticlesDropWhere(Particles particles, const ParticleTest *test, PetscInt *dropped)
{
  const GridBox *box = grid_box(particles->grid);
  PetscInt       count = particles->now.count;
  PetscBool     *drop;

  PetscFunctionBegin;
  PetscCheck(particles->arranged, box->comm, PETSC_ERR_ORDER, "The particles are not in order");
  PetscCall(PetscCalloc1(count, &drop));
  FOR_NUMBERED_CELLS(box, cell, i, j, k)
    if (particles->first[cell] < particles->first[cell + 1] &&
        test->cell(test->context, (PetscInt[DIM]){i, j, k}))
      mark_cell(particles, test, cell, drop);
  PetscCall(ParticlesDrop(particles, drop));
  *dropped += count - particles->now.count;
  PetscCall(ParticlesArrange(particles));
  PetscCall(PetscFree(drop));
  PetscFunctionReturn(0);
}
