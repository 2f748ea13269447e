/* The command: run, check, info, keys, version, help. */
#include <millrace/scene.h>

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

enum { EXIT_DONE = 0, EXIT_OTHER = 1, EXIT_BAD_INPUT = 2, EXIT_NUMERICS = 3, EXIT_STOPPED = 85 };

static const char usage_text[] =
    "millrace run SCENE [-o DIR] [--restart latest|FILE] [--overwrite] [--set KEY=VALUE]... [PETSc options]\n"
    "millrace run --restart latest -o DIR ...   go on with the scene that the checkpoint holds\n"
    "millrace run --restart FILE ...            the same from a certain checkpoint\n"
    "millrace run ... --allow-files             PETSc options of the scene may write files\n"
    "millrace check SCENE [--ranks N] [--set KEY=VALUE]...   validate, count cells, bodies and memory, "
    "estimate the "
    "steps\n"
    "millrace check SCENE --step ...            take one step as well, to tell how long the run will take\n"
    "millrace info FILE                         what a checkpoint or frame holds\n"
    "millrace keys [PATTERN] [--markdown]       every scene key with unit, default and meaning\n"
    "millrace version                           its version, and those of PETSc and MPI\n"
    "Under MPI: mpiexec -n N millrace run ... or srun millrace run ...\n"
    "Exit codes: 0 done, 2 bad input, 3 the numerics failed, 85 stopped with a checkpoint, 1 anything "
    "else.\n";

typedef struct {
  const char  *program, *command, *target; /* target: scene, file or pattern */
  const char  *directory, *restart;
  RunUse       use;
  PetscBool    markdown, step;
  OptionReach  reach;
  PetscInt     ranks;
  PetscInt     set_count;
  const char **sets;
  int          petsc_count; /* the arguments that are PETSc's, the program's name first */
  char       **petsc;
  const char  *mistake;
} Arguments;

/* The value that follows option number n, or null and a mistake. */
static const char *value_of(int argc, char **argv, int *n, Arguments *arguments)
{
  if (*n + 1 < argc)
    return argv[++*n];
  arguments->mistake = argv[*n];
  return NULL;
}

static PetscBool parse_own(int argc, char **argv, int *n, Arguments *arguments)
{
  const char *word = argv[*n];

  if (!strcmp(word, "-o") || !strcmp(word, "--output"))
    arguments->directory = value_of(argc, argv, n, arguments);
  else if (!strcmp(word, "--restart"))
    arguments->restart = value_of(argc, argv, n, arguments);
  else if (!strcmp(word, "--overwrite"))
    arguments->use = RUN_OVERWRITE;
  else if (!strcmp(word, "--allow-files"))
    arguments->reach = OPTIONS_MAY_REACH_OUT;
  else if (!strcmp(word, "--help") || !strcmp(word, "-h"))
    arguments->command = "help";
  else if (!strcmp(word, "--version"))
    arguments->command = "version";
  else if (!strcmp(word, "--markdown"))
    arguments->markdown = PETSC_TRUE;
  else if (!strcmp(word, "--step"))
    arguments->step = PETSC_TRUE;
  else if (!strcmp(word, "--ranks")) {
    const char *count = value_of(argc, argv, n, arguments);

    arguments->ranks = count ? atoi(count) : 0;
    if (arguments->ranks < 1)
      arguments->mistake = word;
  } else if (!strcmp(word, "--set")) {
    arguments->sets[arguments->set_count] = value_of(argc, argv, n, arguments);
    if (arguments->sets[arguments->set_count])
      arguments->set_count++;
  } else
    return PETSC_FALSE;
  return PETSC_TRUE;
}

/* PETSc's options begin with one dash and may have a value that does not. */
static void parse(int argc, char **argv, Arguments *arguments)
{
  arguments->program = argv[0];
  arguments->petsc[arguments->petsc_count++] = argv[0];
  for (int n = 1; n < argc; n++) {
    if (parse_own(argc, argv, &n, arguments))
      continue;
    if (argv[n][0] == '-' && argv[n][1] == '-')
      arguments->mistake = argv[n];
    else if (argv[n][0] == '-') {
      arguments->petsc[arguments->petsc_count++] = argv[n];
      if (n + 1 < argc && (argv[n + 1][0] != '-' || (argv[n + 1][1] >= '0' && argv[n + 1][1] <= '9')))
        arguments->petsc[arguments->petsc_count++] = argv[++n];
    } else if (!arguments->command)
      arguments->command = argv[n];
    else if (!arguments->target)
      arguments->target = argv[n];
    else
      arguments->mistake = argv[n];
  }
  if (arguments->restart && arguments->use == RUN_NEW)
    arguments->use = RUN_RESTART;
}

static int refuse(const char format[], const char detail[])
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

static PetscErrorCode ReadScene(Archive archive, void *context)
{
  PetscFunctionBegin;
  PetscCall(ArchiveReadText(archive, "scene", context));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadSceneOfCheckpoint(const Arguments *arguments, const char path[], Scene *scene,
                                            char message[], size_t message_size)
{
  Archive archive;
  char   *text;

  PetscFunctionBegin;
  *scene = NULL;
  PetscCall(ArchiveOpen(PETSC_COMM_WORLD, path, &archive, message, message_size));
  if (!archive)
    PetscFunctionReturn(0);
  PetscCall(ArchiveTry(archive, ReadScene, &text, message, message_size));
  PetscCall(ArchiveDestroy(&archive));
  if (message[0])
    PetscFunctionReturn(0);
  PetscCall(SceneReadText(PETSC_COMM_WORLD, path, text, arguments->set_count, arguments->sets, scene));
  PetscCall(PetscFree(text));
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

/* Before anything is made: the launcher and the number of ranks. */
static PetscErrorCode CheckWorld(const SimulationConfig *config, char message[], size_t message_size)
{
  PetscMPIInt size;
  PetscBool   good;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(TeamCheckLauncher(PETSC_COMM_WORLD, message, message_size, &good));
  if (good)
    PetscCall(SimulationConfigCheckRanks(config, size, message, message_size));
  PetscFunctionReturn(0);
}

/* A simulation whose bodies, options and flow are as they must be; null if the scene has been refused. */
static PetscErrorCode CreateSimulation(Scene scene, Simulation *simulation, char message[], size_t size)
{
  PetscBool good;

  PetscFunctionBegin;
  PetscCall(SceneSetPetscOptions(scene));
  PetscCall(SimulationCreate(PETSC_COMM_WORLD, scene_config(scene), simulation, message, size));
  good = *simulation ? PETSC_TRUE : PETSC_FALSE;
  if (good)
    PetscCall(SceneCheckPetscOptions(scene, &good));
  else {
    PetscCall(SceneBlame(scene, message));
    message[0] = '\0';
  }
  if (!good) {
    PetscCall(SceneReport(scene, stderr));
    PetscCall(SimulationDestroy(simulation));
  } else
    PetscCall(SimulationCheckBalance(*simulation, message, size));
  PetscFunctionReturn(0);
}

/* What PETSc has said of an error on its way up. */
typedef struct {
  char      first[512], trace[8192];
  PetscBool in_set_up; /* of a solver, which depends on its options more than on anything else */
} Failure;

static PetscErrorCode NoteFailure(MPI_Comm comm, int line, const char function[], const char file[],
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

/* The end after an error: other ranks may wait in a collective call for ever. */
static void give_up(const Failure *failure)
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
  char        message[1024] = "";

  PetscFunctionBegin;
  *code = EXIT_BAD_INPUT;
  PetscCall(CheckWorld(scene_config(scene), message, sizeof(message)));
  if (!message[0])
    PetscCall(CreateSimulation(scene, &simulation, message, sizeof(message)));
  if (simulation && !message[0])
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
  }
  if (message[0])
    (void)refuse("%s", message);
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (ending.outcome != RUN_REFUSED && rank == 0)
    print_ending(simulation, &options, &ending);
  PetscCall(RunDirectoryClose(&options.results));
  PetscCall(SimulationDestroy(&simulation));
  PetscFunctionReturn(0);
}

/* The longest name below a run's directory has some 50 characters. */
static PetscBool is_too_long(const char path[])
{
  return path && strlen(path) > PETSC_MAX_PATH_LEN - 128 ? PETSC_TRUE : PETSC_FALSE;
}

/* Mistakes that the command line shows by itself; "" if it has none. */
static const char *find_contradiction(const Arguments *arguments)
{
  if (is_too_long(arguments->target) || is_too_long(arguments->directory) || is_too_long(arguments->restart))
    return "a path is longer than this system allows";
  if (arguments->restart && arguments->use == RUN_OVERWRITE)
    return "--restart goes on with a run, --overwrite deletes it: only one of the two is possible";
  return "";
}

static PetscErrorCode CommandRun(const Arguments *arguments, int *code)
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
    *code = refuse("run needs a scene, or --restart with a checkpoint or a directory (-o)\n%s", usage_text);
    PetscFunctionReturn(0);
  }
  if (arguments->restart)
    PetscCall(FindCheckpoint(arguments, directory, checkpoint, message, sizeof(message)));
  if (!message[0] && arguments->target)
    PetscCall(SceneRead(PETSC_COMM_WORLD, arguments->target, arguments->set_count, arguments->sets, &scene));
  else if (!message[0])
    PetscCall(ReadSceneOfCheckpoint(arguments, checkpoint, &scene, message, sizeof(message)));
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

/* Bodies and joints that cannot be become problems of the scene. */
static PetscErrorCode Estimate(Scene scene, PetscMPIInt ranks, SimulationEstimate *estimate)
{
  char message[1024];

  PetscFunctionBegin;
  PetscCall(SimulationConfigEstimate(scene_config(scene), ranks, estimate, message, sizeof(message)));
  if (message[0])
    PetscCall(SceneBlame(scene, message));
  PetscFunctionReturn(0);
}

/* One step on the ranks that are there. */
static PetscErrorCode TimeStep(Scene scene, const SimulationEstimate *estimate, int *code)
{
  Simulation  simulation = NULL;
  PetscReal   seconds = 0.;
  PetscMPIInt size;
  char        message[1024] = "";

  PetscFunctionBegin;
  *code = EXIT_BAD_INPUT;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(CreateSimulation(scene, &simulation, message, sizeof(message)));
  if (simulation && !message[0]) {
    *code = EXIT_NUMERICS;
    PetscCall(SimulationMeasureStep(simulation, &seconds, message, sizeof(message)));
  }
  if (message[0])
    (void)refuse("%s", message);
  else if (simulation) {
    *code = EXIT_DONE;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "wall time  %.3g s for the first step on %d rank%s: about %.3g s for the run\n",
                          (double)seconds, size, size == 1 ? "" : "s", (double)(seconds * estimate->steps)));
  }
  PetscCall(SimulationDestroy(&simulation));
  PetscFunctionReturn(0);
}

static PetscErrorCode CommandCheck(const Arguments *arguments, int *code)
{
  SimulationEstimate estimate;
  PetscMPIInt        rank, size;
  char               message[1024] = "";
  Scene              scene;

  PetscFunctionBegin;
  if (!arguments->target) {
    *code = refuse("check needs a scene\n%s", usage_text);
    PetscFunctionReturn(0);
  }
  if (arguments->step && arguments->ranks) {
    *code =
        refuse("%s", "check --step measures on the ranks that it is given (mpiexec -n N): leave --ranks out");
    PetscFunctionReturn(0);
  }
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (arguments->ranks)
    size = (PetscMPIInt)arguments->ranks;
  PetscCall(SceneRead(PETSC_COMM_WORLD, arguments->target, arguments->set_count, arguments->sets, &scene));
  *code = EXIT_BAD_INPUT;
  if (scene_is_good(scene))
    PetscCall(SceneCheckOptionValues(scene, arguments->reach));
  if (scene_is_good(scene)) {
    PetscCall(SimulationConfigCheckRanks(scene_config(scene), size, message, sizeof(message)));
    if (message[0])
      (void)refuse("%s", message);
    else
      PetscCall(Estimate(scene, size, &estimate));
  }
  PetscCall(SceneReport(scene, stderr));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (scene_is_good(scene) && !message[0]) {
    if (rank == 0)
      print_estimate(scene_config(scene), &estimate, stdout);
    *code = EXIT_DONE;
    if (arguments->step)
      PetscCall(TimeStep(scene, &estimate, code));
  }
  PetscCall(SceneDestroy(&scene));
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintArchive(Archive archive, void *context)
{
  PetscFunctionBegin;
  PetscCall(ArchivePrint(archive, context));
  PetscFunctionReturn(0);
}

static PetscErrorCode CommandInfo(const Arguments *arguments, int *code)
{
  char    message[1024];
  Archive archive;

  PetscFunctionBegin;
  if (!arguments->target) {
    *code = refuse("info needs a file\n%s", usage_text);
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

static PetscErrorCode CommandKeys(const Arguments *arguments, int *code)
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
    *code = refuse("no key has \"%s\" in its name", arguments->target);
  else if (rank == 0)
    fputs(text, stdout);
  free(text);
  PetscFunctionReturn(0);
}

static PetscErrorCode CommandVersion(void)
{
  char petsc[64], mpi[MPI_MAX_LIBRARY_VERSION_STRING];
  int  length;

  PetscFunctionBegin;
  PetscCall(PetscGetVersion(petsc, sizeof(petsc)));
  PetscCallMPI(MPI_Get_library_version(mpi, &length));
  mpi[strcspn(mpi, ",\n")] = '\0';
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "millrace %s\n%s\n%s\n", PACKAGE_VERSION, petsc, mpi));
  PetscFunctionReturn(0);
}

static PetscErrorCode Command(const Arguments *arguments, int *code)
{
  const char *command = arguments->command;

  PetscFunctionBegin;
  *code = EXIT_DONE;
  if (arguments->mistake)
    *code = refuse("do not know what to do with \"%s\"; see millrace help", arguments->mistake);
  else if (find_contradiction(arguments)[0])
    *code = refuse("%s", find_contradiction(arguments));
  else if (!command || !strcmp(command, "help")) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s", usage_text));
    *code = command ? EXIT_DONE : EXIT_BAD_INPUT;
  } else if (!strcmp(command, "run"))
    PetscCall(CommandRun(arguments, code));
  else if (!strcmp(command, "check"))
    PetscCall(CommandCheck(arguments, code));
  else if (!strcmp(command, "info"))
    PetscCall(CommandInfo(arguments, code));
  else if (!strcmp(command, "keys"))
    PetscCall(CommandKeys(arguments, code));
  else if (!strcmp(command, "version"))
    PetscCall(CommandVersion());
  else
    *code = refuse("there is no command \"%s\": run, check, info, keys, version or help", command);
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

int main(int argc, char **argv)
{
  Arguments arguments = {.use = RUN_NEW};
  Failure   failure = {"", "", PETSC_FALSE};
  int       code = EXIT_OTHER;

  arguments.petsc = calloc((size_t)argc + 1, sizeof(*arguments.petsc));
  arguments.sets = calloc((size_t)argc, sizeof(*arguments.sets));
  if (!arguments.petsc || !arguments.sets)
    return EXIT_OTHER;
  parse(argc, argv, &arguments);
  if (arguments.command && !strcmp(arguments.command, "run"))
    simulation_listen();
  if (InitializePetsc(&arguments))
    return EXIT_OTHER;
  if (PetscPushErrorHandler(NoteFailure, &failure))
    return EXIT_OTHER;
  if (Command(&arguments, &code))
    give_up(&failure);
  if (PetscPopErrorHandler())
    return EXIT_OTHER;
  if (PetscFinalize())
    return EXIT_OTHER;
  free(arguments.sets);
  free(arguments.petsc);
  return code;
}
