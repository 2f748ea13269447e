/* Arrays that every rank holds whole: written by the first, read by all. */
#include "io_impl.h"

static ArchivePart whole(PetscInt rows, PetscInt width)
{
  return (ArchivePart){2, {rows, width}, {0, 0}, {rows, width}};
}

PetscErrorCode ArchiveWriteShared(Archive archive, const char name[], PetscInt rows, PetscInt width,
                                  const PetscReal values[])
{
  ArchivePart part = whole(rows, width);

  PetscFunctionBegin;
  if (archive->rank > 0)
    part.count[0] = 0;
  PetscCall(ArchiveWritePart(archive, name, &part, values));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveReadShared(Archive archive, const char name[], PetscInt rows, PetscInt width,
                                 PetscReal values[])
{
  const ArchivePart part = whole(rows, width);

  PetscFunctionBegin;
  PetscCall(ArchiveReadPart(archive, name, &part, values));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveReadTable(Archive archive, const char name[], PetscInt rows, PetscInt width,
                                PetscReal **values)
{
  ArchivePart stored;

  PetscFunctionBegin;
  PetscCall(ArchiveGetShape(archive, name, &stored));
  if (stored.rank != 2 || stored.global[0] != rows || stored.global[1] != width)
    PetscCall(ArchiveRefuse(
        archive, name, "is not a table of %" PetscInt_FMT " rows of %" PetscInt_FMT " values", rows, width));
  PetscCall(PetscMalloc1((size_t)rows * (size_t)width, values));
  PetscCall(ArchiveReadShared(archive, name, rows, width, *values));
  PetscFunctionReturn(0);
}
