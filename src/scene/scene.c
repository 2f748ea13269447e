/* Reading a scene: text, tree, overrides, structs, checks, and the tree again as the resolved text. */
#include "scene_impl.h"

#include <stdlib.h>
#include <string.h>

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

static int by_place(const void *left, const void *right)
{
  const SceneProblem *a = left, *b = right;

  if (a->override != b->override)
    return a->override < b->override ? -1 : 1;
  if (a->file != b->file)
    return a->file < b->file ? -1 : 1;
  if (a->line != b->line)
    return a->line < b->line ? -1 : 1;
  return (a->column > b->column) - (a->column < b->column);
}

static PetscErrorCode Interpret(Scene scene)
{
  PetscFunctionBegin;
  PetscCall(SceneParse(scene));
  if (!scene->root)
    PetscFunctionReturn(0);
  PetscCall(SceneApplyOverrides(scene));
  PetscCall(SceneExpand(scene));
  PetscCall(SceneExpandMaterials(scene));
  PetscCall(SceneExpandFluid(scene));
  PetscCall(SceneExpandRegions(scene));
  PetscCall(SceneExpandSides(scene));
  PetscCall(ReadKeys(scene, scene->root, SceneKeys, &scene->config));
  PetscCall(SceneCheck(scene));
  if (scene_is_good(scene))
    PetscCall(SolidCopyMeshes(&scene->config.solids));
  if (scene->problem_count)
    qsort(scene->problems, scene->problem_count, sizeof(*scene->problems), by_place);
  if (scene_is_good(scene))
    PetscCall(NodeEmit(scene->root, &scene->resolved));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneRead(MPI_Comm comm, const char path[], PetscInt override_count,
                         const char *const overrides[], Scene *scene)
{
  PetscFunctionBegin;
  PetscCall(Create(comm, path, override_count, overrides, scene));
  PetscCall(SceneAddFile(*scene, path));
  if ((*scene)->file_count)
    PetscCall(Interpret(*scene));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneReadText(MPI_Comm comm, const char name[], const char text[], PetscInt override_count,
                             const char *const overrides[], Scene *scene)
{
  PetscFunctionBegin;
  PetscCall(Create(comm, name, override_count, overrides, scene));
  PetscCall(SceneAddText(*scene, text));
  PetscCall(Interpret(*scene));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyFiles(Scene scene)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < scene->file_count; i++) {
    PetscCall(PetscFree(scene->files[i].name));
    PetscCall(PetscFree(scene->files[i].path));
    PetscCall(PetscFree(scene->files[i].directory));
    PetscCall(PetscFree(scene->files[i].text));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SceneDestroy(Scene *scene)
{
  PetscFunctionBegin;
  if (!*scene)
    PetscFunctionReturn(0);
  PetscCall(SolidReturnMeshes(&(*scene)->config.solids));
  PetscCall(SceneDestroyBarriers(*scene));
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
  PetscCall(DestroyFiles(*scene));
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

void scene_forget_start(Scene scene)
{
  if (scene->config.fluid.initial_frame)
    scene->config.fluid.initial_frame[0] = '\0';
}

const char *scene_resolved_text(Scene scene)
{
  return scene->resolved;
}
