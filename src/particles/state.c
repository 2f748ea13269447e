/* Particles in archives and frames. An archive holds them in the order of the cells of the whole box and of
   their numbers: it is the same on any number of ranks. */
#include "particles_impl.h"

/* A particle's place in the archive. */
typedef struct {
  PetscInt64 cell; /* of the whole box, x fastest */
  PetscInt64 number;
  PetscInt   from;
} ArchivedParticle;

static int compare_places(const void *a, const void *b)
{
  const ArchivedParticle *left = a, *right = b;

  if (left->cell != right->cell)
    return left->cell < right->cell ? -1 : 1;
  return (left->number > right->number) - (left->number < right->number);
}

static PetscInt row_length(const GridBox *box)
{
  return box->end[X] - box->start[X];
}

/* Row, counted in the whole box, of a row of owned cells. */
static PetscInt64 global_row(const GridBox *box, PetscInt row)
{
  const PetscInt rows = box->end[Y] - box->start[Y];

  return box->start[Y] + row % rows + (PetscInt64)box->cells[Y] * (box->start[Z] + row / rows);
}

/* For every row of the whole box the particles before it; `total` is that of all. */
static PetscErrorCode CountRows(Particles particles, PetscInt64 **before, PetscInt64 *total)
{
  const GridBox *box = grid_box(particles->grid);
  const PetscInt rows = box->cells[Y] * box->cells[Z], length = row_length(box);
  PetscMPIInt    message;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(rows, &message));
  PetscCall(PetscCalloc1(rows, before));
  for (PetscInt row = 0; row < owned_cells(box) / length; row++)
    (*before)[global_row(box, row)] = particles->first[(row + 1) * length] - particles->first[row * length];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, *before, message, MPIU_INT64, MPI_SUM, box->comm));
  *total = 0;
  for (PetscInt row = 0; row < rows; row++) {
    const PetscInt64 here = (*before)[row];

    (*before)[row] = *total;
    *total += here;
  }
  PetscFunctionReturn(0);
}

/* Gives every rank the particles of whole rows, about as many as the others have. */
static PetscErrorCode ShareRows(Particles particles, ParticleArrays *shared)
{
  const GridBox *box = grid_box(particles->grid);
  const PetscInt length = row_length(box);
  PetscMPIInt   *destination, size;
  PetscInt64    *before, total = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(box->comm, &size));
  PetscCall(CountRows(particles, &before, &total));
  PetscCall(PetscMalloc1(particles->now.count, &destination));
  for (PetscInt row = 0; row < owned_cells(box) / length; row++)
    for (PetscInt n = particles->first[row * length]; n < particles->first[(row + 1) * length]; n++)
      destination[n] = (PetscMPIInt)(before[global_row(box, row)] * size / total);
  PetscCall(ArraysDeliver(box->comm, &particles->now, destination, shared));
  PetscCall(PetscFree(destination));
  PetscCall(PetscFree(before));
  PetscFunctionReturn(0);
}

/* Position along the sides lies in the box: the particles are arranged. */
static PetscInt64 global_cell(MacGrid grid, const Vector3 *position)
{
  const GridBox *box = grid_box(grid);
  const Vector3  origin = grid_origin(grid);
  PetscInt64     cell = 0;

  for (PetscInt d = box->dimension - 1; d >= 0; d--)
    cell =
        cell * box->cells[d] + (PetscInt)cell_place(position->at[d], origin.at[d], 1. / grid_spacing(grid));
  return cell;
}

static PetscErrorCode PutInOrder(MacGrid grid, ParticleArrays *arrays)
{
  ParticleArrays    ordered = {.width = arrays->width};
  ArchivedParticle *places;

  PetscFunctionBegin;
  PetscCall(ArraysReserve(&ordered, arrays->count));
  PetscCall(PetscMalloc1(arrays->count, &places));
  for (PetscInt n = 0; n < arrays->count; n++)
    places[n] = (ArchivedParticle){global_cell(grid, &arrays->positions[n]), arrays->numbers[n], n};
  if (arrays->count) /* qsort takes no null pointer */
    qsort(places, arrays->count, sizeof(*places), compare_places);
  for (PetscInt n = 0; n < arrays->count; n++)
    arrays_copy_one(arrays, places[n].from, &ordered, n);
  ordered.count = arrays->count;
  PetscCall(PetscFree(places));
  PetscCall(ArraysDestroy(arrays));
  *arrays = ordered;
  PetscFunctionReturn(0);
}

/* Lines of `width` numbers, of which this rank has `count`, one rank after the other. */
static PetscErrorCode LineUp(MPI_Comm comm, PetscInt count, PetscInt width, ArchivePart *part)
{
  PetscInt64 sums[2] = {count, count};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Scan(MPI_IN_PLACE, &sums[0], 1, MPIU_INT64, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sums[1], 1, MPIU_INT64, MPI_SUM, comm));
  *part = (ArchivePart){.rank = 2, .start = {0, 0}, .count = {count, width}, .global = {0, width}};
  PetscCall(PetscIntCast(sums[0] - count, &part->start[0]));
  PetscCall(PetscIntCast(sums[1], &part->global[0]));
  PetscFunctionReturn(0);
}

static ArchivePart with_width(ArchivePart part, PetscInt width)
{
  part.global[1] = part.count[1] = width;
  return part;
}

PetscErrorCode ParticlesSave(Particles particles, const char name[], Archive archive)
{
  MPI_Comm       comm = grid_box(particles->grid)->comm;
  const PetscInt width = particles->now.width;
  ParticleArrays shared = {.width = width};
  ArchivePart    part, numbers, values;

  PetscFunctionBegin;
  PetscCheck(particles->arranged, comm, PETSC_ERR_ORDER, "Particles are arranged before they are saved");
  PetscCall(ParticlesReleaseSort(particles)); /* saving takes the most memory of a run */
  PetscCall(ShareRows(particles, &shared));
  PetscCall(PutInOrder(particles->grid, &shared));
  PetscCall(LineUp(comm, shared.count, DIM, &part));
  numbers = with_width(part, 1);
  values = with_width(part, width);
  PetscCall(ArchiveEnter(archive, name));
  PetscCall(ArchiveWritePart(archive, "positions", &part, (const PetscReal *)shared.positions));
  PetscCall(ArchiveWriteIntegers(archive, "numbers", &numbers, shared.numbers));
  PetscCall(ArchiveWritePart(archive, "values", &values, shared.values));
  PetscCall(ArchiveLeave(archive));
  PetscCall(ArraysDestroy(&shared));
  PetscFunctionReturn(0);
}

PetscErrorCode ParticlesLoad(Particles particles, const char name[], Archive archive)
{
  MPI_Comm        comm = grid_box(particles->grid)->comm;
  ParticleArrays *now = &particles->now;
  ArchivePart     part, numbers, values, stored = {0};
  PetscMPIInt     rank, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(ArchiveEnter(archive, name));
  PetscCall(ArchiveGetShape(archive, "values", &stored));
  if (stored.rank != 2 || stored.global[1] != now->width)
    PetscCall(ArchiveRefuse(archive, "values", "is not a table of %" PetscInt_FMT " values for a particle",
                            now->width));
  part = (ArchivePart){.rank = 2, .global = {stored.global[0], DIM}, .count = {0, DIM}};
  part.start[0] = (PetscInt)((PetscInt64)stored.global[0] * rank / size);
  part.count[0] = (PetscInt)((PetscInt64)stored.global[0] * (rank + 1) / size) - part.start[0];
  numbers = with_width(part, 1);
  values = with_width(part, now->width);
  PetscCall(ArraysReserve(now, part.count[0]));
  PetscCall(ArchiveReadPart(archive, "positions", &part, (PetscReal *)now->positions));
  PetscCall(ArchiveReadIntegers(archive, "numbers", &numbers, now->numbers));
  PetscCall(ArchiveReadPart(archive, "values", &values, now->values));
  PetscCall(ArchiveLeave(archive));
  now->count = part.count[0];
  PetscCall(ParticlesArrange(particles));
  PetscFunctionReturn(0);
}

PetscErrorCode ParticlesWriteFrame(Particles particles, const char name[], const char field[],
                                   FrameSeries frames)
{
  const ParticleArrays *now = &particles->now;
  FrameMesh             mesh = {.name = name,
                                .vertex_count = now->count,
                                .cell_count = now->count,
                                .cell_size = 1,
                                .vertices = now->positions};
  PetscInt             *cells;
  PetscReal            *values;

  PetscFunctionBegin;
  PetscCheck(!field || now->width, grid_box(particles->grid)->comm, PETSC_ERR_ARG_WRONG,
             "The particles \"%s\" have no value to be written as \"%s\"", name, field);
  PetscCall(PetscMalloc2(now->count, &cells, now->count, &values));
  for (PetscInt n = 0; n < now->count; n++) {
    cells[n] = n;
    values[n] = field ? now->values[n * now->width] : 0.;
  }
  mesh.cells = cells;
  PetscCall(FrameBeginMesh(frames, &mesh));
  if (field)
    PetscCall(FrameWriteMeshField(frames, field, FRAME_VERTEX, 1, values));
  PetscCall(FrameEndMesh(frames));
  PetscCall(PetscFree2(cells, values));
  PetscFunctionReturn(0);
}
