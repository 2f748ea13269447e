/* The end of the program after an error. */
#include "commands.h"

#include <string.h>
#include <unistd.h>

PetscErrorCode NoteFailure(MPI_Comm comm, int line, const char function[], const char file[],
                           PetscErrorCode code, PetscErrorType type, const char text[], void *context)
{
  static const char *const set_ups[] = {"PCSetUp", "KSPSetUp", "PCSetFromOptions", "KSPSetFromOptions", NULL};
  Failure                 *failure = context;
  const size_t             used = type == PETSC_ERROR_INITIAL ? 0 : strlen(failure->trace);

  (void)comm;
  if (type == PETSC_ERROR_INITIAL) {
    snprintf(failure->first, sizeof(failure->first), "%s", text && text[0] ? text : "unknown");
    failure->in_set_up = PETSC_FALSE;
  }
  snprintf(failure->trace + used, sizeof(failure->trace) - used, "    %s() at %s:%d\n", function, file, line);
  for (int s = 0; set_ups[s]; s++)
    if (!strcmp(function, set_ups[s]))
      failure->in_set_up = PETSC_TRUE;
  return code;
}

void failure_exit(const Failure *failure)
{
  PetscMPIInt     rank, size;
  char           *options = NULL;
  const PetscBool given =
      !PetscOptionsGetAll(NULL, &options) && options && (strstr(options, "pc_") || strstr(options, "ksp_"))
          ? PETSC_TRUE
          : PETSC_FALSE;
  const int code = failure->in_set_up && given ? EXIT_BAD_INPUT : EXIT_OTHER;

  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &size);
  if (code == EXIT_OTHER)
    fprintf(stderr, "[%d]PETSC ERROR: %s\n%s", rank, failure->first, failure->trace);
  else if (rank > 0)
    sleep(1); /* the first rank says it for all that fail alike */
  else
    fprintf(stderr, "millrace: error: a solver cannot work with its PETSc options: %.*s\n",
            (int)strcspn(failure->first, "\n"), failure->first);
  fflush(NULL);
  if (size > 1)
    MPI_Abort(MPI_COMM_WORLD, code);
  _exit(code);
}

int refuse(const char format[], const char detail[])
{
  PetscMPIInt rank;

  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank == 0) {
    fputs("millrace: error: ", stderr);
    fprintf(stderr, format, detail);
    fputc('\n', stderr);
  }
  return EXIT_BAD_INPUT;
}

int refuse_with_usage(const char message[])
{
  PetscMPIInt rank;
  const int   code = refuse("%s", message);

  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank == 0)
    print_usage(NULL, stderr);
  return code;
}
