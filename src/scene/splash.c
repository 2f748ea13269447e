/* Scenes with splashing liquid: what its keys cannot tell alone, and what has no meaning beside it. */
#include "scene_impl.h"

/* Whether the user has written it; else it is a default. */
static PetscBool is_given(const Node *node)
{
  return node->line || node->key_line || node->override >= 0 ? PETSC_TRUE : PETSC_FALSE;
}

/* A default leaves the tree: the resolved scene is to be read again. */
static PetscErrorCode Refuse(Scene scene, const Node *map, const char key[], const char why[])
{
  Node *node = node_find(map, key);
  char  path[PATH_LENGTH];

  PetscFunctionBegin;
  if (!node)
    PetscFunctionReturn(0);
  if (!is_given(node)) {
    node_detach(node);
    PetscCall(NodeDestroy(&node));
    PetscFunctionReturn(0);
  }
  node_path(node, path, sizeof(path));
  PetscCall(
      ProblemAddAtKey(scene, node, PROBLEM_ERROR, "%s has no meaning with splash: %s; remove it", path, why));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckFluidKeys(Scene scene)
{
  const Node *fluid = node_find(scene->root, "fluid");

  PetscFunctionBegin;
  PetscCall(Refuse(scene, fluid, "viscosity", "the liquid has none"));
  PetscCall(Refuse(scene, fluid, "viscosity_tolerance", "the liquid has no viscosity"));
  PetscCall(Refuse(scene, fluid, "body_force", "gravity is its only force"));
  PetscCall(Refuse(scene, fluid, "initial", "splash.liquid has a velocity"));
  PetscCall(Refuse(scene, fluid, "advection", "particles carry the liquid (splash.integration)"));
  PetscCall(Refuse(scene, fluid, "pressure_tolerance", "there is splash.tolerance"));
  PetscCall(Refuse(scene, fluid, "scalars", "particles carry nothing but velocity"));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckSides(Scene scene)
{
  static const char *const names[] = {"x_low", "x_high", "y_low", "y_high", "z_low", "z_high"};
  const Node              *sides = node_find(node_find(scene->root, "fluid"), "sides");
  const PetscBool          bilateral = scene->config.splash.pressure == SPLASH_BILATERAL;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 2 * scene->config.grid.dimension; n++) {
    const SideConfig *side = &scene->config.fluid.sides[n / 2][n % 2];
    const Node       *node = node_find(sides, names[n]);

    if (side->kind == SIDE_INFLOW || (side->kind == SIDE_OPEN && bilateral))
      PetscCall(ProblemAddAtKey(
          scene, node, PROBLEM_ERROR,
          "fluid.sides.%s is %s; with splash sides are wall, slip (the same), periodic or, if "
          "unilateral, open; liquid comes in by splash.sources",
          names[n], SideKinds[side->kind]));
    if (side->kind == SIDE_WALL && node_find(node, "velocity"))
      PetscCall(ProblemAddAtKey(scene, node_find(node, "velocity"), PROBLEM_ERROR,
                                "fluid.sides.%s moves; with splash walls stand still", names[n]));
  }
  PetscFunctionReturn(0);
}

/* Bodies move in liquid whose pressure only pushes, and take room from it. */
static PetscErrorCode CheckSolids(Scene scene)
{
  const SolidConfig *solids = &scene->config.solids;
  Node              *node = node_find(scene->root, "solids"), *bodies = node_find(node, "bodies");

  PetscFunctionBegin;
  if (solids->mesh_count)
    PetscCall(ProblemAddAtKey(scene, node_find(node, "meshes"), PROBLEM_ERROR,
                              "solids.meshes are not coupled to splash; rigid bodies are"));
  for (PetscInt b = 0; b < solids->body_count; b++)
    if (solids->bodies[b].thickness > 0.)
      PetscCall(ProblemAddAtKey(scene, node_item(bodies, b), PROBLEM_ERROR,
                                "solids.bodies[%d] is a shell; bodies in a splash have an inside: remove "
                                "its thickness",
                                (int)b));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckCompany(Scene scene)
{
  PetscBool moves = scene->config.solids.body_count > 0 ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(Refuse(scene, scene->root, "regions", "it has one liquid, in splash.liquid"));
  PetscCall(Refuse(scene, scene->root, "inflows", "they hold fields of the fluid"));
  PetscCall(Refuse(scene, scene->root, "coupling", "bodies are in its own pressure solve"));
  PetscCall(CheckSolids(scene));
  for (PetscInt n = 0; n < scene->config.obstacle_count; n++)
    moves = moves || !motion_is_still(scene->config.obstacles[n].motion);
  if (moves && scene->config.splash.pressure == SPLASH_BILATERAL)
    PetscCall(ProblemAddAtKey(
        scene, node_find(node_find(scene->root, "splash"), "incompressibility"), PROBLEM_ERROR,
        "splash.incompressibility is bilateral, which knows still obstacles only; bodies "
        "and obstacles that move need unilateral"));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckSources(Scene scene, Node *list)
{
  PetscFunctionBegin;
  PetscCall(CheckNames(scene, list));
  for (PetscInt n = 0; n < scene->config.splash.source_count; n++) {
    const SplashSource *source = &scene->config.splash.sources[n];
    Node               *item = node_item(list, n);

    PetscCall(SceneCheckShape(scene, item, source->shape));
    if (is_usable(node_find(item, "velocity")) && vector3_norm(source->velocity) == 0.)
      PetscCall(ProblemAdd(scene, node_find(item, "velocity"), PROBLEM_ERROR,
                           "splash.sources[%d].velocity is 0: nothing comes in", (int)n));
    if (is_usable(node_find(item, "until")) && !(source->until > source->from))
      PetscCall(ProblemAdd(scene, node_find(item, "until"), PROBLEM_ERROR,
                           "splash.sources[%d].until must be later than \"from\" (%g)", (int)n,
                           (double)source->from));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SceneCheckSplash(Scene scene)
{
  const SplashConfig *config = &scene->config.splash;
  Node               *splash = node_find(scene->root, "splash"), *list = node_find(splash, "liquid");

  PetscFunctionBegin;
  if (!splash || splash->kind != NODE_MAP)
    PetscFunctionReturn(0);
  PetscCall(CheckFluidKeys(scene));
  PetscCall(CheckSides(scene));
  PetscCall(CheckCompany(scene));
  if (!config->liquid_count && !config->source_count && !scene->error_count)
    PetscCall(ProblemAddAtKey(scene, splash, PROBLEM_ERROR,
                              "splash has neither liquid nor sources; it needs one of them"));
  if (config->surface && scene->config.grid.dimension == 2)
    PetscCall(ProblemAddAtKey(
        scene, node_find(splash, "surface"), PROBLEM_ERROR,
        "splash.surface is for three dimensions, and grid.dimension is 2; leave it 0: particles "
        "and density show the liquid"));
  PetscCall(CheckSources(scene, node_find(splash, "sources")));
  for (PetscInt n = 0; n < config->liquid_count; n++)
    PetscCall(SceneCheckShape(scene, node_item(list, n), config->liquids[n].shape));
  PetscFunctionReturn(0);
}
