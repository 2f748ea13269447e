/* millrace info, millrace version: what a file holds, what the program is. */
#include "commands.h"

#include <millrace/version.h>

#include <string.h>

static PetscErrorCode PrintArchive(Archive archive, void *context)
{
  PetscFunctionBegin;
  PetscCall(ArchivePrint(archive, context));
  PetscFunctionReturn(0);
}

PetscErrorCode CommandInfo(const Arguments *arguments, int *code)
{
  char    message[1024];
  Archive archive;

  PetscFunctionBegin;
  if (!arguments->target) {
    *code = refuse_with_usage("info needs a file or the directory of a run");
    PetscFunctionReturn(0);
  }
  PetscCall(ArchiveOpen(PETSC_COMM_WORLD, arguments->target, &archive, message, sizeof(message)));
  if (archive)
    PetscCall(ArchiveTry(archive, PrintArchive, stdout, message, sizeof(message)));
  if (message[0])
    *code = refuse("%s", message);
  PetscCall(ArchiveDestroy(&archive));
  PetscFunctionReturn(0);
}

PetscErrorCode CommandVersion(const Arguments *arguments, int *code)
{
  char petsc[64], mpi[MPI_MAX_LIBRARY_VERSION_STRING];
  int  length;

  PetscFunctionBegin;
  (void)arguments;
  (void)code;
  PetscCall(PetscGetVersion(petsc, sizeof(petsc)));
  PetscCallMPI(MPI_Get_library_version(mpi, &length));
  mpi[strcspn(mpi, ",\n")] = '\0';
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "millrace %s\n%s\n%s\n", millrace_version(), petsc, mpi));
  PetscFunctionReturn(0);
}
