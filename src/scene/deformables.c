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
  PetscInt           usual = 0;

  PetscFunctionBegin;
  while (solid_named_material(usual))
    usual++;
  PetscCall(PetscCalloc1(solids->material_count + usual + 1, &names));
  for (PetscInt m = 0; m < solids->material_count; m++) {
    names[m] = solids->materials[m].name ? solids->materials[m].name : "";
    found = found || !strcmp(names[m], mesh->material) ? PETSC_TRUE : PETSC_FALSE;
  }
  for (PetscInt n = 0; n < usual; n++) {
    names[solids->material_count + n] = solid_named_material(n)->name;
    found = found || !strcmp(solid_named_material(n)->name, mesh->material) ? PETSC_TRUE : PETSC_FALSE;
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

static PetscErrorCode CheckFibres(Scene scene, Node *item, const SolidMeshConfig *mesh)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < mesh->fibre_count; k++)
    if (!(vector3_norm(mesh->fibres[k].direction) > 0.))
      PetscCall(ProblemAddAtKey(scene, node_find(node_item(node_find(item, "fibres"), k), "direction"),
                                PROBLEM_ERROR, "fibres of mesh \"%s\" need a direction that is not zero",
                                mesh->name));
  PetscFunctionReturn(0);
}

/* Yielding is of one model. */
static PetscErrorCode CheckMaterial(Scene scene, Node *item, const SolidMaterialConfig *material)
{
  PetscFunctionBegin;
  if (material->yield_stress > 0. && material->model != MATERIAL_HENCKY)
    PetscCall(
        ProblemAddAtKey(scene, node_find(item, "yield_stress"), PROBLEM_ERROR,
                        "\"model: %s\" does not yield: give \"model: hencky\", or leave yield_stress out",
                        MaterialModels[material->model]));
  if (material->hardening > 0. && !(material->yield_stress > 0.))
    PetscCall(ProblemAddAtKey(scene, node_find(item, "hardening"), PROBLEM_ERROR,
                              "nothing hardens that does not yield: give a yield_stress"));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckAssembly(Scene scene, Node *item, const SolidMeshConfig *mesh)
{
  const SolidConfig *solids = &scene->config.solids;
  const char       **names, *near;
  PetscBool          found = mesh->assembly && mesh->assembly[0] ? PETSC_FALSE : PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(solids->assembly_count + 1, &names));
  for (PetscInt a = 0; a < solids->assembly_count; a++) {
    names[a] = solids->assemblies[a].name ? solids->assemblies[a].name : "";
    found = found || !strcmp(names[a], mesh->assembly) ? PETSC_TRUE : PETSC_FALSE;
  }
  near = found ? NULL : closest_word(mesh->assembly, names);
  if (!found)
    PetscCall(ProblemAdd(scene, node_find(item, "assembly"), PROBLEM_ERROR,
                         "no assembly is called \"%.40s\"%s%s%s", mesh->assembly,
                         near ? "; did you mean \"" : "; add it to solids.assemblies", near ? near : "",
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

/* Relative to the scene; the resolved scene, which may be read from elsewhere, has the full path. */
static PetscErrorCode FindFile(Scene scene, Node *item, MeshConfig *mesh)
{
  Node *file = node_find(item, "file");
  char  path[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  if (!is_usable(file) || !mesh->file || !mesh->file[0] || mesh->file[0] == '/')
    PetscFunctionReturn(0);
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s%s", node_directory(scene, file), mesh->file));
  PetscCall(NodeSetText(file, path, strlen(path)));
  PetscCall(PetscFree(mesh->file));
  PetscCall(PetscStrallocpy(path, &mesh->file));
  PetscFunctionReturn(0);
}

/* A mistake in a part of it has been told, and what is left of it is not to be judged. */
static PetscErrorCode CheckElements(Scene scene, Node *item, SolidMeshConfig *mesh)
{
  static const char *const sources[] = {"shape", "sheet", "profile", "file", "edge", "refine"};
  char                     message[512];

  PetscFunctionBegin;
  for (size_t k = 0; k < sizeof(sources) / sizeof(*sources); k++)
    if (node_find(item, sources[k]) && !is_usable(node_find(item, sources[k])))
      PetscFunctionReturn(0);
  if (mesh->mesh.shape && is_endless(mesh->mesh.shape)) {
    PetscCall(ProblemAddAtKey(scene, node_find(item, "shape"), PROBLEM_ERROR,
                              "mesh \"%s\" has no end and cannot be divided into tetrahedra", mesh->name));
    PetscFunctionReturn(0);
  }
  PetscCall(MeshConfigCheck(&mesh->mesh, message, sizeof(message)));
  if (message[0])
    PetscCall(ProblemAdd(scene, item, PROBLEM_ERROR, "mesh \"%s\": %s", mesh->name, message));
  PetscCall(FindFile(scene, item, &mesh->mesh));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckMesh(Scene scene, Node *item, SolidMeshConfig *mesh)
{
  PetscFunctionBegin;
  if (!mesh->name || !mesh->material)
    PetscFunctionReturn(0);
  PetscCall(CheckMaterialName(scene, item, mesh));
  PetscCall(CheckElements(scene, item, mesh));
  PetscCall(CheckFibres(scene, item, mesh));
  PetscCall(CheckAssembly(scene, item, mesh));
  for (PetscInt h = 0; h < mesh->held_count; h++)
    PetscCall(CheckHold(scene, node_item(node_find(item, "held"), h), &mesh->held[h]));
  PetscFunctionReturn(0);
}

/* Null: there is none. */
static const SolidMeshConfig *find_mesh(Scene scene, const char name[])
{
  const SolidConfig *config = &scene->config.solids;

  for (PetscInt m = 0; m < config->mesh_count; m++)
    if (config->meshes[m].name && !strcmp(config->meshes[m].name, name))
      return &config->meshes[m];
  return NULL;
}

PetscBool scene_has_mesh(Scene scene, const char name[])
{
  return find_mesh(scene, name) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode CheckBound(Scene scene, Node *node, const char binding[], const char name[])
{
  const SolidMeshConfig *mesh = find_mesh(scene, name);

  PetscFunctionBegin;
  if (!mesh)
    PetscCall(SceneCheckBody(scene, node, name));
  else if (mesh->assembly && mesh->assembly[0])
    PetscCall(
        ProblemAdd(scene, node, PROBLEM_ERROR,
                   "binding \"%s\": mesh \"%s\" is copied with its assembly, and copies of meshes are not "
                   "bound: use \"held\", or leave out its assembly",
                   binding, name));
  PetscFunctionReturn(0);
}

/* Both ends have names of meshes or bodies, and are not the same. */
static PetscErrorCode CheckBinding(Scene scene, Node *item, const BindingConfig *binding)
{
  PetscFunctionBegin;
  if (!binding->name || !binding->from || !binding->to)
    PetscFunctionReturn(0);
  PetscCall(CheckBound(scene, node_find(item, "from"), binding->name, binding->from));
  if (find_mesh(scene, binding->from) && vector3_norm(binding->at) > 0.)
    PetscCall(ProblemAddAtKey(scene, node_find(item, "at"), PROBLEM_ERROR,
                              "binding \"%s\" binds a mesh: say which vertices by \"inside\"",
                              binding->name));
  if (binding->to[0])
    PetscCall(CheckBound(scene, node_find(item, "to"), binding->name, binding->to));
  if (!strcmp(binding->from, binding->to))
    PetscCall(ProblemAddAtKey(scene, node_find(item, "to"), PROBLEM_ERROR,
                              "binding \"%s\" binds \"%s\" to itself: name another mesh or body",
                              binding->name, binding->from));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneCheckBindings(Scene scene)
{
  const SolidConfig *config = &scene->config.solids;
  Node              *bindings = list_of(scene, "bindings");

  PetscFunctionBegin;
  if (!bindings)
    PetscFunctionReturn(0);
  PetscCall(CheckNames(scene, bindings));
  for (PetscInt b = 0; b < config->binding_count; b++)
    PetscCall(CheckBinding(scene, node_item(bindings, b), &config->bindings[b]));
  PetscFunctionReturn(0);
}

/* What deformable solids in a fluid cannot do yet. */
static PetscErrorCode CheckMeshInFluid(Scene scene, Node *item, const SolidMeshConfig *mesh)
{
  const PetscBool is_flat = scene->config.grid.dimension == 2 ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  if (is_flat && mesh->mesh.use != MESH_USE_PLANAR)
    PetscCall(ProblemAdd(scene, item, PROBLEM_ERROR,
                         "mesh \"%s\": in a fluid in two dimensions only planar meshes move (type: planar)",
                         mesh->name));
  else if (!is_flat && mesh->mesh.use != MESH_USE_VOLUME && mesh->mesh.use != MESH_USE_CLOTH)
    PetscCall(ProblemAdd(scene, item, PROBLEM_ERROR,
                         "mesh \"%s\": in a fluid in three dimensions only volumes and cloth move (type: "
                         "volume or cloth)",
                         mesh->name));
  if (mesh->mesh.order != 1 && !is_flat)
    PetscCall(ProblemAddAtKey(scene, node_find(item, "order"), PROBLEM_ERROR,
                              "mesh \"%s\": in a fluid in three dimensions elements are linear (order: 1)",
                              mesh->name));
  if (is_flat && mesh->thickness != 0. && mesh->thickness != 1.)
    PetscCall(
        ProblemAddAtKey(scene, node_find(item, "thickness"), PROBLEM_ERROR,
                        "mesh \"%s\": the fluid is 1 m deep in two dimensions, and so are meshes in it: "
                        "leave out thickness",
                        mesh->name));
  if (mesh->mesh.fill == MESH_FILL_LATTICE || mesh->mesh.refine_count || mesh->mesh.cut_count ||
      mesh->contact_spacing > 0. || mesh->skin.stiffness > 0. || mesh->skin.coupling == SKIN_SYNCHRONISED ||
      mesh->skin.refine_count)
    PetscCall(
        ProblemAdd(scene, item, PROBLEM_ERROR,
                   "mesh \"%s\": in a fluid a surface is the boundary of its tetrahedra: leave out fill: "
                   "lattice, refine, cuts, contact_spacing and skin",
                   mesh->name));
  PetscFunctionReturn(0);
}

/* Volumes that are bound to others lie in them, and the fluid would be displaced twice. */
static PetscErrorCode CheckBindingInFluid(Scene scene, Node *item, const BindingConfig *binding)
{
  const SolidConfig *config = &scene->config.solids;

  PetscFunctionBegin;
  for (PetscInt m = 0; m < config->mesh_count && binding->from && binding->kind == BINDING_HARD; m++)
    if (config->meshes[m].name && !strcmp(config->meshes[m].name, binding->from) &&
        config->meshes[m].mesh.use == MESH_USE_VOLUME)
      PetscCall(ProblemAdd(scene, item, PROBLEM_ERROR,
                           "binding \"%s\": in a fluid cloth is bound to meshes, and volumes are not yet",
                           binding->name ? binding->name : ""));
  PetscFunctionReturn(0);
}

static PetscBool has_free_bodies(const SolidConfig *config)
{
  for (PetscInt b = 0; b < config->body_count; b++)
    if (config->bodies[b].kind == BODY_DYNAMIC)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

static PetscErrorCode CheckInFluid(Scene scene, Node *solids, Node *meshes)
{
  const SolidConfig *config = &scene->config.solids;

  PetscFunctionBegin;
  if (node_find(scene->root, "splash"))
    PetscCall(
        ProblemAddAtKey(scene, meshes, PROBLEM_ERROR,
                        "deformable solids do not meet splashing liquids yet: leave out solids.meshes, or "
                        "splash"));
  for (PetscInt b = 0; b < config->binding_count; b++)
    PetscCall(CheckBindingInFluid(scene, node_item(list_of(scene, "bindings"), b), &config->bindings[b]));
  if (config->elasticity == ELASTIC_BACKWARD_EULER || config->elasticity == ELASTIC_STATIC)
    PetscCall(ProblemAdd(scene, node_find(solids, "elasticity"), PROBLEM_ERROR,
                         "solids.elasticity: in a fluid steps are explicit, newmark or auto, not %s",
                         ElasticTimes[config->elasticity]));
  if (scene->config.coupling.faces != COUPLING_CUT)
    PetscCall(ProblemAddAtKey(scene, meshes, PROBLEM_ERROR,
                              "deformable solids in a fluid need coupling.faces: cut"));
  for (PetscInt m = 0; m < config->material_count; m++)
    if (config->materials[m].volume != SOLID_VOLUME_FREE)
      PetscCall(ProblemAdd(scene, node_item(list_of(scene, "materials"), m), PROBLEM_ERROR,
                           "material \"%s\": in a fluid volumes of deformable solids are not kept yet: "
                           "volume: free",
                           config->materials[m].name));
  for (PetscInt m = 0; m < config->mesh_count; m++)
    PetscCall(CheckMeshInFluid(scene, node_item(meshes, m), &config->meshes[m]));
  if (scene_is_good(scene) && has_free_bodies(config))
    PetscCall(ProblemAddAtKey(scene, meshes, PROBLEM_WARNING,
                              "a run ends where a mesh meets a dynamic body in a fluid"));
  PetscFunctionReturn(0);
}

/* Something that meshes may push, and something beside it that may hold it up. */
static PetscBool has_held_bodies(const SolidConfig *config)
{
  PetscInt free = 0, others = config->joint_count;

  for (PetscInt b = 0; b < config->body_count; b++) {
    free += config->bodies[b].kind == BODY_DYNAMIC;
    others += config->bodies[b].copies.count.at[X] * config->bodies[b].copies.count.at[Y] *
                          config->bodies[b].copies.count.at[Z] >
                      1.5
                  ? 2
                  : 1;
  }
  return free && others > 1 ? PETSC_TRUE : PETSC_FALSE;
}

/* Whoever gives one mesh a thickness knows of it. */
static PetscBool do_meet(const SolidConfig *config)
{
  for (PetscInt m = 0; m < config->mesh_count; m++)
    if (config->meshes[m].contact_thickness > 0.)
      return PETSC_TRUE;
  return PETSC_FALSE;
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
    PetscCall(CheckInFluid(scene, solids, meshes));
  if (scene_is_good(scene) && config->mesh_count > 1 && !do_meet(config))
    PetscCall(ProblemAddAtKey(scene, meshes, PROBLEM_WARNING,
                              "meshes touch bodies, but pass through each other and through themselves: give "
                              "those that shall meet a contact_thickness"));
  PetscCall(CheckNames(scene, meshes));
  PetscCall(CheckNames(scene, list_of(scene, "materials")));
  for (PetscInt m = 0; m < config->material_count; m++)
    PetscCall(CheckMaterial(scene, node_item(list_of(scene, "materials"), m), &config->materials[m]));
  for (PetscInt m = 0; m < config->mesh_count; m++)
    PetscCall(CheckMesh(scene, node_item(meshes, m), &config->meshes[m]));
  if (scene_is_good(scene) && elastic_time_is_implicit(config->elasticity) &&
      config->elasticity != ELASTIC_STATIC && !config->in_fluid && has_held_bodies(config))
    PetscCall(
        ProblemAddAtKey(scene, meshes, PROBLEM_WARNING,
                        "in implicit steps a free body between a mesh and another body or a joint gives "
                        "way too easily (docs/numerics.md): solids.elasticity: explicit is for that"));
  PetscFunctionReturn(0);
}
