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
