/* Options of PETSc that a scene must not have, and values that PETSc does not understand. Both are found
   before anything is made, on every rank alike: an error inside of a solver would end the program with a
   trace, and wait for ranks that have no such solver. */
#include "scene_impl.h"

#include <petscviewer.h>
#include <string.h>

enum { NAME_LENGTH = 256 };

/* "", true, 3, ascii, ascii::ascii_info: nothing but what the screen shows. */
static PetscBool stays_on_screen(const char value[])
{
  static const char *const switches[] = {"true", "false", "yes", "no", "on", "off", NULL};
  const size_t             start = strncmp(value, PETSCVIEWERASCII, 5) ? 0 : 5;

  for (PetscInt s = 0; switches[s]; s++)
    if (!strcmp(value, switches[s]))
      return PETSC_TRUE;
  if (value[strspn(value, "0123456789.+-eE")] == '\0' || value[start] == '\0')
    return PETSC_TRUE;
  /* viewers are type:file:format:mode */
  return !strncmp(value + start, "::", 2) && !strpbrk(value + start + 2, ":/") ? PETSC_TRUE : PETSC_FALSE;
}

/* PETSc compares the ends of words only. */
static PetscErrorCode NamesViewer(const char value[], PetscBool *names)
{
  const char **types;
  int          count;

  PetscFunctionBegin;
  PetscCall(PetscViewerInitializePackage());
  PetscCall(PetscFunctionListGet(PetscViewerList, &types, &count));
  *names = PETSC_FALSE;
  for (int t = 0; t < count && types[t]; t++) {
    const size_t length = strlen(value), own = strlen(types[t]);

    if (length >= own && !strcmp(value + length - own, types[t]) && strcmp(types[t], PETSCVIEWERASCII))
      *names = PETSC_TRUE;
  }
  PetscCall(PetscFree(types));
  PetscFunctionReturn(0);
}

/* Whether an option may write files, talk to other programs or run code. What shows something takes values of
   which little is harmless; values of any other option are words and numbers. */
static PetscErrorCode ReachesOut(const char name[], const char value[], PetscBool *reaches)
{
  static const char *const shows[] = {"view", "monitor", "log",  "info", "history", "file",
                                      "dump", "trace",   "save", "dir",  NULL};

  PetscFunctionBegin;
  PetscCall(NamesViewer(value, reaches));
  if (strpbrk(value, ":/") && (!stays_on_screen(value) || strstr(name, "monitor")))
    *reaches = PETSC_TRUE; /* PETSc 3.18 does not survive a monitor with a format */
  for (PetscInt s = 0; shows[s]; s++)
    if (strstr(name, shows[s]) && !stays_on_screen(value))
      *reaches = PETSC_TRUE;
  if (strstr(name, "python"))
    *reaches = PETSC_TRUE;
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckReach(Scene scene, const Node *option, OptionReach reach)
{
  const char *name = option_name(option->key);
  PetscBool   given, reaches = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(OptionIsOnCommandLine(name, &given));
  if (given)
    PetscFunctionReturn(0);
  if (option_is_of_program(name)) {
    PetscCall(ProblemAddAtKey(scene, option, PROBLEM_ERROR,
                              "-%.80s is no option of a solver: it works on the command line only", name));
    PetscFunctionReturn(0);
  }
  PetscCall(ReachesOut(name, option->text, &reaches));
  if (reaches && reach == OPTIONS_STAY_INSIDE)
    PetscCall(ProblemAddAtKey(scene, option, PROBLEM_ERROR,
                              "-%.80s %.80s may write files or run other programs, which a scene must not "
                              "do by itself: allow it with --allow-files, or give it on the command line",
                              name, option->text));
  PetscFunctionReturn(0);
}

static PetscErrorCode KeepFirst(MPI_Comm comm, int line, const char function[], const char file[],
                                PetscErrorCode code, PetscErrorType type, const char text[], void *first)
{
  (void)comm, (void)line, (void)function, (void)file;
  if (type == PETSC_ERROR_INITIAL)
    snprintf(first, MESSAGE_LENGTH, "%s", text);
  return code;
}

/* What PETSc has against a solver with these options under this prefix; "" if nothing. */
static PetscErrorCode TryPrefix(PetscOptions options, const char prefix[], char message[MESSAGE_LENGTH])
{
  PetscErrorCode problem;
  KSP            solver;

  PetscFunctionBegin;
  message[0] = '\0';
  PetscCall(KSPCreate(PETSC_COMM_SELF, &solver));
  PetscCall(PetscObjectSetOptions((PetscObject)solver, options));
  PetscCall(KSPSetOptionsPrefix(solver, prefix));
  PetscCall(PetscPushErrorHandler(KeepFirst, message));
  problem = KSPSetFromOptions(solver);
  PetscCall(PetscPopErrorHandler());
  if (problem && !message[0])
    PetscCall(PetscSNPrintf(message, MESSAGE_LENGTH, "PETSc ends with error %d", (int)problem));
  message[strcspn(message, "\n")] = '\0';
  PetscCall(KSPDestroy(&solver));
  PetscFunctionReturn(0);
}

/* Where the part of an option's name begins that a solver or a preconditioner knows; the end if there is
   none: pressure_mg_levels_ksp_type -> 19. */
static size_t prefix_length(const char name[])
{
  static const char *const parts[] = {"ksp_", "pc_", NULL};

  for (size_t start = strlen(name); start > 0; start--)
    for (PetscInt p = 0; parts[p]; p++)
      if (!strncmp(name + start - 1, parts[p], strlen(parts[p])) && (start == 1 || name[start - 2] == '_'))
        return start - 1;
  return strlen(name);
}

/* The option of the scene under this prefix whose value the message quotes; null if there is none. */
static const Node *find_refused_option(const Node *first, const char prefix[], const char message[])
{
  for (const Node *option = first; option; option = option->next)
    if (!strncmp(option_name(option->key), prefix, strlen(prefix)) && option->text[0] &&
        strstr(message, option->text))
      return option;
  return NULL;
}

/* Leaves out what opens a file or a window. */
static PetscErrorCode AddOption(PetscOptions options, const char name[], const char value[])
{
  char      dashed[NAME_LENGTH];
  PetscBool opens;

  PetscFunctionBegin;
  snprintf(dashed, sizeof(dashed), "-%s", name);
  PetscCall(NamesViewer(value, &opens));
  if (!opens && !strchr(value, ':'))
    PetscCall(PetscOptionsSetValue(options, dashed, value[0] ? value : NULL));
  PetscFunctionReturn(0);
}

/* Every option that solvers will find; names and values are borrowed. */
typedef struct {
  PetscInt     given_count; /* by the command line, the environment and PETSc's own files */
  char       **given, **given_values;
  PetscInt     count; /* with those of the scene */
  const char **names;
  PetscOptions options;
} AllOptions;

static PetscErrorCode CollectOptions(const Node *first, AllOptions *all)
{
  PetscInt more = 0;

  PetscFunctionBegin;
  PetscCall(CouplingRegisterSolver()); /* a solver of ours may be named too */
  PetscCall(PetscOptionsCreate(&all->options));
  PetscCall(PetscOptionsLeftGet(NULL, &all->given_count, &all->given, &all->given_values));
  for (const Node *option = first; option; option = option->next)
    more++;
  PetscCall(PetscMalloc1(all->given_count + more, &all->names));
  for (all->count = 0; all->count < all->given_count; all->count++) {
    all->names[all->count] = option_name(all->given[all->count]);
    PetscCall(AddOption(all->options, all->names[all->count],
                        all->given_values[all->count] ? all->given_values[all->count] : ""));
  }
  for (const Node *option = first; option; option = option->next) {
    PetscBool wins;

    all->names[all->count++] = option_name(option->key);
    PetscCall(OptionIsOnCommandLine(option_name(option->key), &wins));
    if (!wins)
      PetscCall(AddOption(all->options, option_name(option->key), option->text));
  }
  PetscFunctionReturn(0);
}

/* Once for each prefix: the first option that has it calls. */
static PetscErrorCode CheckPrefix(Scene scene, PetscOptions options, const char name[])
{
  const Node  *block = node_find(scene->root, "petsc"), *first = block ? block->first : NULL, *refused;
  const size_t length = prefix_length(name);
  char         prefix[NAME_LENGTH], message[MESSAGE_LENGTH];

  PetscFunctionBegin;
  if (length >= sizeof(prefix) || !name[length])
    PetscFunctionReturn(0);
  snprintf(prefix, sizeof(prefix), "%.*s", (int)length, name);
  PetscCall(TryPrefix(options, prefix, message));
  refused = find_refused_option(first, prefix, message);
  if (message[0])
    PetscCall(ProblemAdd(scene, refused, PROBLEM_ERROR, "PETSc refuses an option -%s...%s: %.200s", prefix,
                         refused ? "" : " of the command line or environment", message));
  PetscFunctionReturn(0);
}

/* Whether a name before this one has the same prefix. */
static PetscBool is_repeated(const char *const names[], PetscInt n)
{
  const size_t length = prefix_length(names[n]);

  for (PetscInt before = 0; before < n; before++)
    if (prefix_length(names[before]) == length && !strncmp(names[before], names[n], length) &&
        names[before][length])
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Bodies in a fluid have one system with it, which knows nothing of the options of a pressure alone. */
static PetscErrorCode CheckUse(Scene scene, const Node *first, const char name[])
{
  const Node *refused = NULL;

  PetscFunctionBegin;
  if (strncmp(name, "pressure_", 9) || simulation_solves_pressure(&scene->config))
    PetscFunctionReturn(0);
  for (const Node *option = first; option && !refused; option = option->next)
    if (!strcmp(option_name(option->key), name))
      refused = option;
  PetscCall(ProblemAddAtKey(scene, refused, PROBLEM_ERROR,
                            "-%.80s has no effect: the pressure is solved for together with the bodies; the "
                            "options of that system begin with -coupled_ (docs/numerics.md, section 14)",
                            name));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckValues(Scene scene)
{
  const Node *block = node_find(scene->root, "petsc");
  AllOptions  all;

  PetscFunctionBegin;
  PetscCall(CollectOptions(block ? block->first : NULL, &all));
  for (PetscInt n = 0; n < all.count; n++) {
    PetscCall(CheckUse(scene, block ? block->first : NULL, all.names[n]));
    if (!is_repeated(all.names, n))
      PetscCall(CheckPrefix(scene, all.options, all.names[n]));
  }
  PetscCall(PetscFree(all.names));
  PetscCall(PetscOptionsLeftRestore(NULL, &all.given_count, &all.given, &all.given_values));
  PetscCall(PetscOptionsDestroy(&all.options));
  PetscFunctionReturn(0);
}

/* PETSc looks at -log_view when all is done, and a mistake would give the run another exit code. */
static PetscErrorCode CheckLogView(Scene scene)
{
  char        value[PETSC_MAX_PATH_LEN], *file, *end;
  PetscMPIInt rank, good = 1;
  PetscBool   given;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-log_view", value, sizeof(value), &given));
  if (!given)
    PetscFunctionReturn(0);
  PetscCallMPI(MPI_Comm_rank(scene->comm, &rank));
  file = strchr(value, ':');
  if (file)
    *file++ = '\0';
  end = file ? strchr(file, ':') : NULL;
  if (end)
    *end = '\0';
  if (file && file[0] && !rank) {
    FILE *stream = fopen(file, "a");

    good = stream && !fclose(stream);
  }
  PetscCallMPI(MPI_Bcast(&good, 1, MPI_INT, 0, scene->comm));
  if (!good)
    PetscCall(ProblemAdd(scene, NULL, PROBLEM_ERROR, "-log_view cannot write %.200s", file));
  if (value[0] && strcmp(value, PETSCVIEWERASCII))
    PetscCall(ProblemAdd(scene, NULL, PROBLEM_ERROR, "-log_view must be alone or :FILE, not %.200s", value));
  if (!scene_is_good(scene))
    PetscCall(PetscOptionsClearValue(NULL, "-log_view")); /* or the program could not even end */
  PetscFunctionReturn(0);
}

PetscErrorCode SceneCheckOptionValues(Scene scene, OptionReach reach)
{
  const Node *block = node_find(scene->root, "petsc");

  PetscFunctionBegin;
  PetscCheck(scene_is_good(scene), scene->comm, PETSC_ERR_ORDER, "The scene has errors");
  for (const Node *option = block ? block->first : NULL; option; option = option->next)
    PetscCall(CheckReach(scene, option, reach));
  if (scene_is_good(scene)) {
    PetscCall(CheckValues(scene));
    PetscCall(CheckLogView(scene));
  }
  PetscFunctionReturn(0);
}
