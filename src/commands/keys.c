/* millrace keys: every key that a scene may have. */
#define _POSIX_C_SOURCE 200809L
#include "commands.h"

#include <stdlib.h>

PetscErrorCode CommandKeys(const Arguments *arguments, int *code)
{
  PetscMPIInt rank;
  char       *text = NULL;
  size_t      length = 0;
  FILE       *memory = open_memstream(&text, &length);

  PetscFunctionBegin;
  PetscCheck(memory, PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for the list of keys");
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (arguments->markdown)
    PetscCall(SceneInputsMarkdown(memory));
  else
    PetscCall(SceneKeysPrint(arguments->target, memory));
  fclose(memory);
  if (!length)
    *code = refuse("no key has \"%s\" in its path or its meaning", arguments->target);
  else if (rank == 0)
    fputs(text, stdout);
  free(text);
  PetscFunctionReturn(0);
}
