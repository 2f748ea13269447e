/* The program: reads the command line, starts PETSc, runs a command and closes. */
#include "commands/commands.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Before the libraries begin: UCX, of Open MPI, takes SIGHUP before main() does, also from nohup. */
#ifdef __ELF__
typedef void (*Beginning)(void);
static const Beginning begin __attribute__((section(".preinit_array"), used)) = simulation_note_ignored;
#endif

static const struct {
  const char *name;
  PetscErrorCode (*run)(const Arguments *arguments, int *code);
} commands[] = {{"run", CommandRun},   {"check", CommandCheck},     {"info", CommandInfo},
                {"keys", CommandKeys}, {"version", CommandVersion}, {NULL, NULL}};

static PetscErrorCode CommandUnknown(const char word[], int *code)
{
  const char *closest = usage_closest_command(word);
  char        message[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  snprintf(message, sizeof(message), "there is no command \"%.100s\"%s%s%s", word,
           closest ? "; did you mean \"" : ": run, check, info, compare, watch, keys, version or help",
           closest ? closest : "", closest ? "\"?" : "");
  *code = refuse("%s", message);
  PetscFunctionReturn(0);
}

/* `millrace help COMMAND`, and `millrace COMMAND --help`. */
static PetscErrorCode CommandHelp(const Arguments *arguments, int *code)
{
  const PetscBool is_word =
      arguments->command && !strcmp(arguments->command, "help") ? PETSC_TRUE : PETSC_FALSE;
  const char *about = is_word ? arguments->target : arguments->command;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (about && !usage_command(about))
    PetscCall(CommandUnknown(about, code));
  else if (rank == 0)
    print_usage(about, stdout);
  if (!arguments->command && !arguments->help)
    *code = EXIT_BAD_INPUT;
  PetscFunctionReturn(0);
}

static PetscErrorCode Command(const Arguments *arguments, int *code)
{
  const char *command = arguments->command;
  PetscInt    n = 0;

  PetscFunctionBegin;
  *code = EXIT_DONE;
  while (command && commands[n].name && strcmp(command, commands[n].name))
    n++;
  if (arguments->mistake)
    *code = refuse("do not know what to do with \"%s\"; see millrace help", arguments->mistake);
  else if (arguments_contradiction(arguments)[0])
    *code = refuse("%s", arguments_contradiction(arguments));
  else if (!command || arguments->help || !strcmp(command, "help"))
    PetscCall(CommandHelp(arguments, code));
  else if (commands[n].name)
    PetscCall(commands[n].run(arguments, code));
  else
    PetscCall(CommandUnknown(command, code));
  PetscFunctionReturn(0);
}

/* PETSc takes signals that are ours or the shell's to handle, and prints a trace when they come. */
static int InitializePetsc(Arguments *arguments)
{
  struct sigaction hangup, end;
  int              problem;

  sigaction(SIGHUP, NULL, &hangup);
  sigaction(SIGTERM, NULL, &end);
  problem = PetscInitialize(&arguments->petsc_count, &arguments->petsc, NULL, NULL);
  sigaction(SIGHUP, &hangup, NULL);
  sigaction(SIGTERM, &end, NULL);
  return problem;
}

/* What the build asks of a program that it has just linked, where MPI may not start; -1: something else is
 * asked. */
static int write_document(const Arguments *arguments)
{
  const char *command =
      arguments->command && !arguments->mistake && !arguments->help ? arguments->command : "";

  if (!strcmp(command, "manual"))
    return PrintManual(stdout) ? EXIT_OTHER : EXIT_DONE;
  if (!strcmp(command, "completion"))
    return PrintCompletion(stdout) ? EXIT_OTHER : EXIT_DONE;
  return -1;
}

static int run_program(Arguments *arguments)
{
  Failure failure = {"", "", PETSC_FALSE};
  int     code = EXIT_OTHER;

  if (arguments->command && !strcmp(arguments->command, "run") && !arguments->help)
    simulation_listen();
  if (InitializePetsc(arguments))
    return EXIT_OTHER;
  if (PetscPushErrorHandler(NoteFailure, &failure))
    return EXIT_OTHER;
  if (Command(arguments, &code))
    failure_exit(&failure);
  /* Where a rank ends with a code, Open MPI 5 ends the others at once, with what they have not said yet. */
  fflush(stdout);
  if (PetscPopErrorHandler())
    return EXIT_OTHER;
  if (PetscFinalize())
    return EXIT_OTHER;
  return code;
}

int main(int argc, char **argv)
{
  Arguments arguments = {.use = RUN_NEW};
  int       code;

  arguments.petsc = calloc((size_t)argc + 1, sizeof(*arguments.petsc));
  arguments.sets = calloc((size_t)argc, sizeof(*arguments.sets));
  if (!arguments.petsc || !arguments.sets)
    return EXIT_OTHER;
  arguments_parse(argc, argv, &arguments);
  code = python_command(argc, argv);
  if (code < 0)
    code = write_document(&arguments);
  if (code < 0)
    code = run_program(&arguments);
  free(arguments.sets);
  free(arguments.petsc);
  return code;
}
