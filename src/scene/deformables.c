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

static PetscErrorCode CheckMesh(Scene scene, Node *item, const SolidMeshConfig *mesh)
{
  PetscFunctionBegin;
  if (!mesh->name || !mesh->material)
    PetscFunctionReturn(0);
  PetscCall(CheckMaterialName(scene, item, mesh));
  if (is_usable(node_find(item, "shape")) && mesh->shape &&
      shape_primitive(mesh->shape).kind != PRIMITIVE_BOX)
    PetscCall(ProblemAddAtKey(scene, node_find(item, "shape"), PROBLEM_ERROR,
                              "mesh \"%s\" must be a box, placed or not: other shapes are not divided into "
                              "tetrahedra yet",
                              mesh->name));
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
  else if (config->body_count)
    PetscCall(ProblemAddAtKey(scene, meshes, PROBLEM_ERROR,
                              "deformable solids do not touch bodies yet: leave out solids.meshes or "
                              "solids.bodies"));
  PetscCall(CheckNames(scene, meshes));
  PetscCall(CheckNames(scene, list_of(scene, "materials")));
  for (PetscInt m = 0; m < config->mesh_count; m++)
    PetscCall(CheckMesh(scene, node_item(meshes, m), &config->meshes[m]));
  PetscFunctionReturn(0);
}
