/* `petsc:` and the guard against options that nobody asks for. */
#include "scene_impl.h"

#include <string.h>

const char *option_name(const char name[])
{
  return name + strspn(name, "-");
}

PetscErrorCode ReadOptions(Scene scene, Node *node)
{
  PetscBool good;

  PetscFunctionBegin;
  PetscCall(
      ExpectKind(scene, node, NODE_MAP, "a block of PETSc options such as {pressure_pc_type: gamg}", &good));
  if (!good)
    PetscFunctionReturn(0);
  for (Node *child = node->first; child; child = child->next) {
    if (child->kind != NODE_VALUE)
      PetscCall(ProblemAdd(scene, child, PROBLEM_ERROR, "petsc.%.40s must be a single value, not %s",
                           child->key, node_kind_name(child)));
    else if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", option_name(child->key)[0]) ||
             strpbrk(child->key, " \t\n"))
      PetscCall(ProblemAddAtKey(scene, child, PROBLEM_ERROR, "\"%.40s\" is not the name of a PETSc option",
                                child->key));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode OptionIsOnCommandLine(const char name[], PetscBool *given)
{
  int    count;
  char **arguments;

  PetscFunctionBegin;
  PetscCall(PetscGetArgs(&count, &arguments));
  *given = PETSC_FALSE;
  for (int i = 1; i < count; i++)
    if (arguments[i][0] == '-' && !strcmp(option_name(arguments[i]), name))
      *given = PETSC_TRUE;
  PetscFunctionReturn(0);
}

PetscErrorCode SceneSetPetscOptions(Scene scene)
{
  const Node *options = node_find(scene->root, "petsc");

  PetscFunctionBegin;
  PetscCheck(scene_is_good(scene), scene->comm, PETSC_ERR_ORDER, "The scene has errors");
  for (const Node *child = options ? options->first : NULL; child; child = child->next) {
    char      name[PATH_LENGTH];
    PetscBool given;

    PetscCall(OptionIsOnCommandLine(option_name(child->key), &given));
    snprintf(name, sizeof(name), "-%s", option_name(child->key));
    if (!given)
      PetscCall(PetscOptionsSetValue(NULL, name, child->text[0] ? child->text : NULL));
  }
  PetscFunctionReturn(0);
}

PetscBool option_is_of_program(const char name[])
{
  static const char *const starts[] = {"log_",
                                       "options_",
                                       "malloc",
                                       "memory_",
                                       "objects_",
                                       "on_error",
                                       "start_in_debugger",
                                       "stop_for_debugger",
                                       "debug",
                                       "info",
                                       "fp_trap",
                                       "error_",
                                       "get_total",
                                       "mpi_",
                                       "petsc_",
                                       "saws_",
                                       "history",
                                       "help",
                                       "version",
                                       "no_",
                                       "check_",
                                       "nox",
                                       NULL};

  for (PetscInt i = 0; starts[i]; i++)
    if (!strncmp(name, starts[i], strlen(starts[i])))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Asked for only while a run goes on or ends, or by the inner solvers of a preconditioner, which are born
   with the first matrix. */
static PetscBool is_late(const char name[])
{
  static const char *const parts[] = {"mg_levels_", "mg_coarse_",  "_sub_", "_redundant_",
                                      "_esteig_",   "_telescope_", NULL};
  const size_t             length = strlen(name);

  for (PetscInt i = 0; parts[i]; i++)
    if (strstr(name, parts[i]))
      return PETSC_TRUE;
  if (option_is_of_program(name))
    return PETSC_TRUE;
  return (length > 5 && !strcmp(name + length - 5, "_view")) ? PETSC_TRUE : PETSC_FALSE;
}

/* Whether nobody has asked for the option on any rank: the solids' solvers live on others than the fluid's.
 */
static PetscErrorCode IsLeftEverywhere(MPI_Comm comm, const char name[], PetscInt count, char *const left[],
                                       PetscBool *everywhere)
{
  PetscBool here = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < count; i++)
    if (!strcmp(option_name(left[i]), name))
      here = PETSC_TRUE;
  PetscCallMPI(MPI_Allreduce(&here, everywhere, 1, MPIU_BOOL, MPI_LAND, comm));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReportLeft(Scene scene, const char name[])
{
  const Node *options = node_find(scene->root, "petsc"), *found = NULL;
  PetscBool   given;

  PetscFunctionBegin;
  PetscCall(OptionIsOnCommandLine(name, &given));
  for (const Node *child = options && !given ? options->first : NULL; child; child = child->next)
    if (!strcmp(option_name(child->key), name))
      found = child;
  PetscCall(ProblemAddAtKey(scene, found, PROBLEM_ERROR,
                            "no solver knows the PETSc option -%s%s; check its prefix and spelling", name,
                            found ? "" : " of the command line or environment"));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneCheckPetscOptions(Scene scene, PetscBool *good)
{
  const PetscInt errors = scene->error_count;
  PetscInt       count;
  PetscMPIInt    first_count, rank;
  char         **left, **values;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(scene->comm, &rank));
  PetscCall(PetscOptionsLeftGet(NULL, &count, &left, &values));
  first_count = (PetscMPIInt)count;
  PetscCallMPI(MPI_Bcast(&first_count, 1, MPI_INT, 0, scene->comm));
  for (PetscMPIInt i = 0; i < first_count; i++) {
    char      name[PATH_LENGTH] = "";
    PetscBool everywhere;

    if (!rank)
      snprintf(name, sizeof(name), "%s", option_name(left[i]));
    PetscCallMPI(MPI_Bcast(name, PATH_LENGTH, MPI_CHAR, 0, scene->comm));
    if (is_late(name))
      continue;
    PetscCall(IsLeftEverywhere(scene->comm, name, count, left, &everywhere));
    if (everywhere)
      PetscCall(ReportLeft(scene, name));
  }
  PetscCall(PetscOptionsLeftRestore(NULL, &count, &left, &values));
  *good = scene->error_count == errors ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}
