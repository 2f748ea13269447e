/* The program's commands. Each is a function of its own file; main.c chooses one. */
#ifndef MILLRACE_COMMANDS_H
#define MILLRACE_COMMANDS_H

#include <millrace/scene.h>

enum { EXIT_DONE = 0, EXIT_OTHER = 1, EXIT_BAD_INPUT = 2, EXIT_NUMERICS = 3, EXIT_STOPPED = 85 };

typedef struct {
  const char  *program, *command, *target; /* target: scene, file or pattern */
  const char  *directory, *restart;
  RunUse       use;
  PetscBool    help, markdown, step;
  OptionReach  reach;
  PetscInt     ranks;
  PetscInt     set_count;
  const char **sets;
  int          petsc_count; /* the arguments that are PETSc's, the program's name first */
  char       **petsc;
  const char  *mistake; /* the first argument that is none of ours; null: there is none */
} Arguments;

/* arguments.c. `arguments` has room for all of `argv` in `sets` and `petsc`. */
void arguments_parse(int argc, char **argv, Arguments *arguments);
/* Mistakes that the command line shows by itself, as a sentence; "" if it has none. */
const char *arguments_contradiction(const Arguments *arguments);

/* usage.c: what the program can do, as help, as a manual page, and for a shell that completes words. The last
   two need neither PETSc nor MPI to be initialised. */
/* What there is to say of a command; null: of all. */
void           print_usage(const char command[], FILE *file);
const char    *usage_command(const char word[]);         /* the word, if it is a command; else null */
const char    *usage_closest_command(const char word[]); /* that was meant by it; null: none is near */
PetscErrorCode PrintManual(FILE *file);
PetscErrorCode PrintCompletion(FILE *file);

/* python.c: the commands that read the directory of a run, which Python carries out in the place of this
   program. Returns the exit code where they cannot be, and -1 for other commands. Before MPI begins. */
int python_command(int argc, char **argv);

/* failure.c: what PETSc reports about an error while it is handed up. */
typedef struct {
  char      first[512], trace[8192];
  PetscBool in_set_up; /* of a solver, which depends on its options more than on anything else */
} Failure;
/* An error handler of PETSc; `context` is a Failure. */
PetscErrorCode NoteFailure(MPI_Comm comm, int line, const char function[], const char file[],
                           PetscErrorCode code, PetscErrorType type, const char text[], void *context);
/* Ends the process after an error, on all ranks: others may wait in a collective call for ever. */
void failure_exit(const Failure *failure);

/* Prints the message on the first rank and returns the exit code of bad input. */
int refuse(const char format[], const char detail[]);
/* The same with the usage below it. */
int refuse_with_usage(const char message[]);

/* The commands. `code` becomes the exit code. Collective: PETSC_COMM_WORLD. */
PetscErrorCode CommandRun(const Arguments *arguments, int *code);
PetscErrorCode CommandCheck(const Arguments *arguments, int *code);
PetscErrorCode CommandInfo(const Arguments *arguments, int *code);
PetscErrorCode CommandKeys(const Arguments *arguments, int *code);
PetscErrorCode CommandVersion(const Arguments *arguments, int *code);

#endif
