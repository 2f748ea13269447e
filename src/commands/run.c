/* millrace run: a scene from its start, or from a checkpoint, to its end. */
#include "commands.h"

#include <string.h>
#include <sys/resource.h>

/* Where results go unless told: plume.yaml -> plume-run. */
static void default_directory(const char scene[], char path[PETSC_MAX_PATH_LEN])
{
  const char *name = strrchr(scene, '/');
  const char *dot;
  int         length;

  name = name ? name + 1 : scene;
  dot = strrchr(name, '.');
  length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
  snprintf(path, PETSC_MAX_PATH_LEN, "%.*s-run", length, name);
}

/* runs/plume/checkpoints/checkpoint-00000010.h5 -> runs/plume; "" for a file that lies elsewhere. */
static void directory_of_checkpoint(const char file[], char path[PETSC_MAX_PATH_LEN])
{
  static const char folder[] = "checkpoints";
  const char       *name = strrchr(file, '/');
  const size_t      length = name ? (size_t)(name - file) : 0, own = sizeof(folder) - 1;

  path[0] = '\0';
  if (length < own || strncmp(file + length - own, folder, own))
    return;
  if (length == own)
    snprintf(path, PETSC_MAX_PATH_LEN, ".");
  else if (file[length - own - 1] == '/')
    snprintf(path, PETSC_MAX_PATH_LEN, "%.*s", (int)PetscMax(length - own - 1, 1), file);
}

/* Refuses a file that is not whole and names the newest one in `directory` that is. */
static PetscErrorCode CheckCheckpoint(const char file[], const char directory[], char message[],
                                      size_t message_size)
{
  char    whole[PETSC_MAX_PATH_LEN], details[1024];
  Archive archive;

  PetscFunctionBegin;
  PetscCall(ArchiveOpen(PETSC_COMM_WORLD, file, &archive, message, message_size));
  PetscCall(ArchiveDestroy(&archive));
  if (!message[0])
    PetscFunctionReturn(0);
  PetscCall(CheckpointFind(PETSC_COMM_WORLD, directory, whole, details, sizeof(details)));
  if (whole[0]) {
    PetscCall(PetscStrlcat(message, "; go on from an older one with --restart ", message_size));
    PetscCall(PetscStrlcat(message, whole, message_size));
  }
  PetscFunctionReturn(0);
}

/* The checkpoint that --restart means, or a message. */
static PetscErrorCode FindCheckpoint(const Arguments *arguments, const char directory[],
                                     char path[PETSC_MAX_PATH_LEN], char message[], size_t message_size)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  message[0] = '\0';
  if (strcmp(arguments->restart, "latest")) {
    PetscCall(PetscStrncpy(path, arguments->restart, PETSC_MAX_PATH_LEN));
    PetscCall(CheckCheckpoint(path, directory, message, message_size));
    PetscFunctionReturn(0);
  }
  PetscCall(CheckpointFind(PETSC_COMM_WORLD, directory, path, message, message_size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (path[0] && message[0]) {
    if (rank == 0)
      fprintf(stderr, "millrace: warning: %s\n", message);
    message[0] = '\0';
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ReportPeakMemory(void)
{
  struct rusage usage;
  PetscReal     bytes;
  PetscMPIInt   rank;

  PetscFunctionBegin;
  getrusage(RUSAGE_SELF, &usage);
  bytes = 1024. * usage.ru_maxrss;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  if (rank == 0)
    printf("peak memory %.0f MB\n", (double)bytes / 1e6);
  PetscFunctionReturn(0);
}

static int exit_code_of(RunOutcome outcome, const char message[])
{
  switch (outcome) {
  case RUN_DONE:
    return message[0] ? EXIT_OTHER : EXIT_DONE;
  case RUN_STOPPED:
    return message[0] ? EXIT_OTHER : EXIT_STOPPED;
  case RUN_FAILED:
    return EXIT_NUMERICS;
  case RUN_REFUSED:
    break;
  }
  return EXIT_BAD_INPUT;
}

/* A good scene, from its first step to its last. */
static PetscErrorCode RunScene(const Arguments *arguments, Scene scene, const char directory[],
                               const char checkpoint[], int *code)
{
  RunOptions  options = {.directory = directory,
                         .checkpoint = checkpoint[0] ? checkpoint : NULL,
                         .scene_text = scene_resolved_text(scene),
                         .program = arguments->program};
  Simulation  simulation = NULL;
  RunEnding   ending = {.outcome = RUN_REFUSED};
  PetscMPIInt rank;
  PetscBool   good;
  char        message[1024] = "";

  PetscFunctionBegin;
  *code = EXIT_BAD_INPUT;
  if (checkpoint[0])
    scene_forget_start(scene);
  PetscCall(TeamCheckLauncher(PETSC_COMM_WORLD, message, sizeof(message), &good));
  if (good)
    PetscCall(SceneCreateSimulation(scene, &simulation, message, sizeof(message)));
  if (good && !simulation && !message[0])
    PetscCall(SceneReport(scene, stderr));
  if (simulation)
    PetscCall(RunDirectoryOpen(PETSC_COMM_WORLD, directory, arguments->use, &options.results, message,
                               sizeof(message)));
  if (options.results) {
    const PetscErrorCode problem = SimulationRun(simulation, &options, &ending, message, sizeof(message));

    if (problem)
      (void)RunDirectoryClose(&options.results);
    PetscCall(problem);
    *code = exit_code_of(ending.outcome, message);
  }
  if (ending.outcome != RUN_REFUSED) {
    PetscCall(ReportPeakMemory());
    PetscCall(SimulationPrintWaiting(simulation));
    PetscCall(SimulationPrintShares(simulation));
  }
  if (message[0])
    (void)refuse("%s", message);
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (ending.outcome != RUN_REFUSED && rank == 0) {
    print_balance(simulation);
    print_ending(simulation, &options, &ending);
  }
  PetscCall(RunDirectoryClose(&options.results));
  PetscCall(SimulationDestroy(&simulation));
  PetscFunctionReturn(0);
}

PetscErrorCode CommandRun(const Arguments *arguments, int *code)
{
  char  directory[PETSC_MAX_PATH_LEN] = "", checkpoint[PETSC_MAX_PATH_LEN] = "", message[1024] = "";
  Scene scene = NULL;

  PetscFunctionBegin;
  if (arguments->directory)
    PetscCall(PetscStrncpy(directory, arguments->directory, sizeof(directory)));
  else if (arguments->target)
    default_directory(arguments->target, directory);
  else if (arguments->restart)
    directory_of_checkpoint(arguments->restart, directory);
  if (!directory[0] || (!arguments->target && !arguments->restart)) {
    *code = refuse_with_usage("run needs a scene, or --restart with a checkpoint or a directory (-o)");
    PetscFunctionReturn(0);
  }
  if (arguments->restart)
    PetscCall(FindCheckpoint(arguments, directory, checkpoint, message, sizeof(message)));
  if (!message[0] && arguments->target)
    PetscCall(SceneRead(PETSC_COMM_WORLD, arguments->target, arguments->set_count, arguments->sets, &scene));
  else if (!message[0])
    PetscCall(SceneReadCheckpoint(PETSC_COMM_WORLD, checkpoint, arguments->set_count, arguments->sets, &scene,
                                  message, sizeof(message)));
  if (message[0])
    *code = refuse("%s", message);
  if (!scene)
    PetscFunctionReturn(0);
  if (scene_is_good(scene))
    PetscCall(SceneCheckOptionValues(scene, arguments->reach));
  PetscCall(SceneReport(scene, stderr));
  if (scene_is_good(scene))
    PetscCall(RunScene(arguments, scene, directory, checkpoint, code));
  else
    *code = EXIT_BAD_INPUT;
  PetscCall(SceneDestroy(&scene));
  PetscFunctionReturn(0);
}
