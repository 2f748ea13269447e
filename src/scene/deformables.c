/* Scenes with deformable solids: what one key of a material or a mesh cannot tell. */
#include "scene_impl.h"

#include <string.h>

static Node *list_of(Scene scene, const char key[])
{
  Node *list = node_find(node_find(scene->root, "solids"), key);

  return list && list->kind == NODE_LIST ? list : NULL;
}

static PetscErrorCode CheckMaterialName(Scene scene, Node *item, const SolidMeshConfig *mesh)
{
  const SolidConfig *solids = &scene->config.solids;
  const char       **names, *near;
  PetscBool          found = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(solids->material_count + 1, &names));
  for (PetscInt m = 0; m < solids->material_count; m++) {
    names[m] = solids->materials[m].name ? solids->materials[m].name : "";
    found = found || !strcmp(names[m], mesh->material) ? PETSC_TRUE : PETSC_FALSE;
  }
  near = closest_word(mesh->material, names);
  if (!found)
    PetscCall(ProblemAdd(scene, node_find(item, "material"), PROBLEM_ERROR,
                         "no material is called \"%.40s\"%s%s%s", mesh->material,
                         near ? "; did you mean \"" : "; add it to solids.materials", near ? near : "",
                         near ? "\"?" : ""));
  PetscCall(PetscFree(names));
  PetscFunctionReturn(0);
}

static PetscBool is_endless(Shape shape)
{
  Vector3 low, high;

  shape_bounds(shape, &low, &high);
  return PetscIsInfOrNanReal(vector3_norm(vector3_subtract(high, low))) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode CheckHold(Scene scene, Node *item, const HoldConfig *hold)
{
  PetscFunctionBegin;
  if (hold->to && hold->to[0])
    PetscCall(SceneCheckBody(scene, node_find(item, "to"), hold->to));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckMesh(Scene scene, Node *item, const SolidMeshConfig *mesh)
{
  PetscFunctionBegin;
  if (!mesh->name || !mesh->material)
    PetscFunctionReturn(0);
  PetscCall(CheckMaterialName(scene, item, mesh));
  if (is_usable(node_find(item, "shape")) && mesh->shape && is_endless(mesh->shape))
    PetscCall(ProblemAddAtKey(scene, node_find(item, "shape"), PROBLEM_ERROR,
                              "mesh \"%s\" has no end and cannot be divided into tetrahedra", mesh->name));
  if (mesh->order == 2 && mesh->refined_count)
    PetscCall(
        ProblemAddAtKey(scene, node_find(item, "refined"), PROBLEM_ERROR,
                        "mesh \"%s\" has elements of order 2, which cannot be refined in places: give it a "
                        "shorter edge or order: 1",
                        mesh->name));
  for (PetscInt h = 0; h < mesh->held_count; h++)
    PetscCall(CheckHold(scene, node_item(node_find(item, "held"), h), &mesh->held[h]));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneCheckMeshes(Scene scene)
{
  const SolidConfig *config = &scene->config.solids;
  Node              *solids = node_find(scene->root, "solids"), *meshes = list_of(scene, "meshes");

  PetscFunctionBegin;
  if (!node_find(solids, "bodies") && !node_find(solids, "meshes"))
    PetscCall(ProblemAddAtKey(scene, solids, PROBLEM_ERROR,
                              "solids.bodies is missing: give solids bodies or meshes"));
  if (!meshes)
    PetscFunctionReturn(0);
  if (!meshes->count)
    PetscCall(ProblemAddAtKey(scene, meshes, PROBLEM_ERROR, "solids.meshes must not be empty"));
  if (scene->has_fluid)
    PetscCall(ProblemAddAtKey(scene, meshes, PROBLEM_ERROR,
                              "deformable solids do not meet a fluid yet: leave out solids.meshes, or grid, "
                              "fluid and regions"));
  if (config->mesh_count > 1)
    PetscCall(ProblemAddAtKey(scene, meshes, PROBLEM_WARNING,
                              "meshes touch bodies, but pass through each other and through themselves"));
  PetscCall(CheckNames(scene, meshes));
  PetscCall(CheckNames(scene, list_of(scene, "materials")));
  for (PetscInt m = 0; m < config->mesh_count; m++)
    PetscCall(CheckMesh(scene, node_item(meshes, m), &config->meshes[m]));
  PetscFunctionReturn(0);
}
