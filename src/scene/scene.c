/* Reading a scene: text, tree, overrides, structs, checks, and the tree again as the resolved text. */
#include "scene_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE = 4 << 20 };

/* The whole file, or a message. */
static PetscErrorCode LoadFile(const char path[], char **text, char message[MESSAGE_LENGTH])
{
  FILE  *file = fopen(path, "rb");
  size_t length = 0;

  PetscFunctionBegin;
  *text = NULL;
  message[0] = '\0';
  if (!file) {
    snprintf(message, MESSAGE_LENGTH, "the file cannot be opened: %s", strerror(errno));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscMalloc1(LARGEST_FILE + 1, text));
  length = fread(*text, 1, LARGEST_FILE + 1, file);
  if (ferror(file))
    snprintf(message, MESSAGE_LENGTH, "the file cannot be read: %s", strerror(errno));
  else if (length > LARGEST_FILE)
    snprintf(message, MESSAGE_LENGTH, "the file is larger than 4 MB; is it a scene?");
  else if (memchr(*text, '\0', length))
    snprintf(message, MESSAGE_LENGTH, "the file is binary; is it a scene?");
  fclose(file);
  if (message[0])
    PetscCall(PetscFree(*text));
  else
    (*text)[length] = '\0';
  PetscFunctionReturn(0);
}

/* What the first rank has; a null text stays null. */
static PetscErrorCode ShareText(MPI_Comm comm, const char text[], char **shared)
{
  PetscMPIInt rank, length = text ? (PetscMPIInt)strlen(text) : -1;

  PetscFunctionBegin;
  *shared = NULL;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Bcast(&length, 1, MPI_INT, 0, comm));
  if (length < 0)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(length + 1, shared));
  if (!rank)
    PetscCall(PetscArraycpy(*shared, text, length + 1));
  PetscCallMPI(MPI_Bcast(*shared, length + 1, MPI_CHAR, 0, comm));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(MPI_Comm comm, const char name[], PetscInt override_count,
                             const char *const overrides[], Scene *scene)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(scene));
  (*scene)->comm = comm;
  PetscCall(PetscStrallocpy(name, &(*scene)->name));
  PetscCall(PetscCalloc1(override_count + 1, &(*scene)->overrides));
  for (PetscInt i = 0; i < override_count; i++)
    PetscCall(PetscStrallocpy(overrides[i], &(*scene)->overrides[i]));
  (*scene)->override_count = override_count;
  PetscFunctionReturn(0);
}

/* The directory of `path` in full, with its final slash. */
static PetscErrorCode SetDirectory(Scene scene, const char path[])
{
  char        directory[PETSC_MAX_PATH_LEN], full[PETSC_MAX_PATH_LEN];
  const char *slash = strrchr(path, '/');

  PetscFunctionBegin;
  snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
  PetscCall(PetscGetFullPath(directory, full, sizeof(full) - 1));
  if (full[0] && full[strlen(full) - 1] != '/')
    strcat(full, "/");
  PetscCall(PetscFree(scene->directory));
  PetscCall(PetscStrallocpy(full, &scene->directory));
  PetscFunctionReturn(0);
}

static int by_place(const void *left, const void *right)
{
  const SceneProblem *a = left, *b = right;

  if (a->override != b->override)
    return a->override < b->override ? -1 : 1;
  if (a->line != b->line)
    return a->line < b->line ? -1 : 1;
  return (a->column > b->column) - (a->column < b->column);
}

static PetscErrorCode Interpret(Scene scene)
{
  static const char mark[] = "\xef\xbb\xbf";
  PetscBool         good;

  PetscFunctionBegin;
  /* editors of Windows begin a file with this mark */
  PetscCall(YamlParse(scene, scene->text + (strncmp(scene->text, mark, 3) ? 0 : 3), -1, &scene->root));
  if (!scene->root && !scene->error_count)
    PetscCall(ProblemAddAt(scene, -1, 1, 1, "the scene is empty"));
  if (!scene->root)
    PetscFunctionReturn(0);
  PetscCall(ExpectKind(scene, scene->root, NODE_MAP, "a block of keys", &good));
  if (!good)
    PetscFunctionReturn(0);
  PetscCall(SceneMergeKeys(scene, scene->root));
  PetscCall(SceneApplyOverrides(scene));
  PetscCall(SceneExpand(scene));
  PetscCall(SceneExpandFluid(scene));
  PetscCall(SceneExpandRegions(scene));
  PetscCall(SceneExpandSides(scene));
  PetscCall(ReadKeys(scene, scene->root, SceneKeys, &scene->config));
  PetscCall(SceneCheck(scene));
  if (scene->problem_count)
    qsort(scene->problems, scene->problem_count, sizeof(*scene->problems), by_place);
  if (scene_is_good(scene))
    PetscCall(NodeEmit(scene->root, &scene->resolved));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneRead(MPI_Comm comm, const char path[], PetscInt override_count,
                         const char *const overrides[], Scene *scene)
{
  PetscMPIInt rank;
  char       *text = NULL, message[MESSAGE_LENGTH] = "";

  PetscFunctionBegin;
  PetscCall(Create(comm, path, override_count, overrides, scene));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank)
    PetscCall(LoadFile(path, &text, message));
  PetscCallMPI(MPI_Bcast(message, MESSAGE_LENGTH, MPI_CHAR, 0, comm));
  PetscCall(ShareText(comm, text, &(*scene)->text));
  PetscCall(PetscFree(text));
  PetscCall(SetDirectory(*scene, path));
  if ((*scene)->text)
    PetscCall(Interpret(*scene));
  else
    PetscCall(ProblemAdd(*scene, NULL, PROBLEM_ERROR, "%s", message));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneReadText(MPI_Comm comm, const char name[], const char text[], PetscInt override_count,
                             const char *const overrides[], Scene *scene)
{
  PetscFunctionBegin;
  PetscCall(Create(comm, name, override_count, overrides, scene));
  PetscCall(ShareText(comm, text, &(*scene)->text));
  PetscCheck((*scene)->text, comm, PETSC_ERR_ARG_NULL, "The first rank has no text");
  PetscCall(SetDirectory(*scene, "./"));
  PetscCall(Interpret(*scene));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneDestroy(Scene *scene)
{
  PetscFunctionBegin;
  if (!*scene)
    PetscFunctionReturn(0);
  PetscCall(DestroyKeys(SceneKeys, (*scene)->config.fluid.scalar_count, &(*scene)->config));
  PetscCall(NodeDestroy(&(*scene)->root));
  for (PetscInt i = 0; i < (*scene)->problem_count; i++)
    PetscCall(PetscFree((*scene)->problems[i].message));
  for (PetscInt i = 0; i < (*scene)->override_count; i++)
    PetscCall(PetscFree((*scene)->overrides[i]));
  for (PetscInt i = 0; i < (*scene)->named_count; i++) {
    PetscCall(PetscFree((*scene)->named[i].name));
    PetscCall(PetscFree((*scene)->named[i].text));
  }
  PetscCall(PetscFree((*scene)->named));
  PetscCall(PetscFree((*scene)->problems));
  PetscCall(PetscFree((*scene)->overrides));
  PetscCall(PetscFree((*scene)->name));
  PetscCall(PetscFree((*scene)->directory));
  PetscCall(PetscFree((*scene)->text));
  PetscCall(PetscFree((*scene)->resolved));
  PetscCall(PetscFree(*scene));
  PetscFunctionReturn(0);
}

PetscBool scene_is_good(Scene scene)
{
  return scene->error_count ? PETSC_FALSE : PETSC_TRUE;
}

const SimulationConfig *scene_config(Scene scene)
{
  return scene_is_good(scene) ? &scene->config : NULL;
}

const char *scene_resolved_text(Scene scene)
{
  return scene->resolved;
}
