/* The sides of the box: `all`, bare words, periodic pairs. */
#include "scene_impl.h"

#include <string.h>

static const char *const side_names[DIM][2] = {{"x_low", "x_high"}, {"y_low", "y_high"}, {"z_low", "z_high"}};

/* `all` of an override outdoes what the file says of single sides, but not another override. */
static PetscBool gives_way(const Node *side, const Node *all)
{
  if (!side)
    return PETSC_TRUE;
  return all->override >= 0 && side->override < 0 ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode SceneExpandSides(Scene scene)
{
  Node *const    sides = node_find(node_find(scene->root, "fluid"), "sides");
  Node *const    all = node_find(sides, "all");
  const Node    *dimension = node_find(node_find(scene->root, "grid"), "dimension");
  const PetscInt directions =
      dimension && dimension->kind == NODE_VALUE && !strcmp(dimension->text, "2") ? 2 : 3;

  PetscFunctionBegin;
  if (!all)
    PetscFunctionReturn(0);
  for (PetscInt side = 0; side < 2 * directions; side++) {
    const char *name = side_names[side / 2][side % 2];
    Node       *old = node_find(sides, name), *copy;

    if (!gives_way(old, all))
      continue;
    PetscCall(NodeCopy(all, &copy));
    PetscCall(NodeSetKey(copy, name));
    if (old) {
      node_replace(old, copy);
      PetscCall(NodeDestroy(&old));
    } else
      node_append(sides, copy);
  }
  node_detach(all);
  PetscCall(NodeDestroy((Node *[]){all}));
  PetscFunctionReturn(0);
}

static Node *side_node(Scene scene, PetscInt direction, PetscInt end)
{
  return node_find(node_find(node_find(scene->root, "fluid"), "sides"), side_names[direction][end]);
}

static PetscErrorCode CheckSide(Scene scene, PetscInt direction, PetscInt end)
{
  const SideConfig *side = &scene->config.fluid.sides[direction][end];
  const SideConfig *opposite = &scene->config.fluid.sides[direction][!end];
  Node             *node = side_node(scene, direction, end);
  const char       *name = side_names[direction][end];
  const PetscBool   moves = node_find(node, "velocity") ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  if (!is_usable(node_find(node, "type")))
    PetscFunctionReturn(0);
  if (side->kind == SIDE_PERIODIC && opposite->kind != SIDE_PERIODIC &&
      is_usable(side_node(scene, direction, !end)))
    PetscCall(ProblemAddAtKey(scene, node, PROBLEM_ERROR,
                              "fluid.sides.%s is periodic and %s is not; periodic sides come in pairs", name,
                              side_names[direction][!end]));
  if (side->kind == SIDE_INFLOW && !moves)
    PetscCall(ProblemAddAtKey(
        scene, node, PROBLEM_ERROR,
        "fluid.sides.%s is an inflow and needs a velocity: {type: inflow, velocity: [...]}", name));
  if (moves && side->kind != SIDE_INFLOW && side->kind != SIDE_WALL)
    PetscCall(ProblemAddAtKey(scene, node_find(node, "velocity"), PROBLEM_ERROR,
                              "fluid.sides.%s is %s and takes no velocity; only wall and inflow do", name,
                              SideKinds[side->kind]));
  PetscFunctionReturn(0);
}

/* The reader has given z its default; a user's word on it would be ignored. */
static PetscErrorCode RemoveFlatSides(Scene scene)
{
  PetscFunctionBegin;
  for (PetscInt end = 0; end < 2; end++) {
    Node *node = side_node(scene, Z, end);

    if (node && (node->line || node->override >= 0))
      PetscCall(ProblemAddAtKey(scene, node, PROBLEM_ERROR,
                                "fluid.sides.%s: a scene of two dimensions has no such side; remove it",
                                side_names[Z][end]));
    else if (node) {
      node_detach(node);
      PetscCall(NodeDestroy(&node));
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckBalance(Scene scene)
{
  const FluidConfig *fluid = &scene->config.fluid;
  Node              *inflow = NULL;
  PetscInt           inflows = 0, outlets = 0;

  PetscFunctionBegin;
  for (PetscInt side = 0; side < 2 * scene->config.grid.dimension; side++) {
    const SideKind kind = fluid->sides[side / 2][side % 2].kind;

    if (!is_usable(side_node(scene, side / 2, side % 2)))
      PetscFunctionReturn(0);
    if (kind == SIDE_INFLOW && !inflows++)
      inflow = side_node(scene, side / 2, side % 2);
    outlets += kind == SIDE_OPEN;
  }
  if (inflows == 1 && !outlets)
    PetscCall(
        ProblemAddAtKey(scene, inflow, PROBLEM_ERROR,
                        "what flows in here cannot leave: no side is open, and no other one an inflow"));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneCheckSides(Scene scene)
{
  SimulationConfig *config = &scene->config;

  PetscFunctionBegin;
  for (PetscInt side = 0; side < 2 * config->grid.dimension; side++)
    PetscCall(CheckSide(scene, side / 2, side % 2));
  PetscCall(CheckBalance(scene));
  if (config->grid.dimension == 2) {
    PetscCall(RemoveFlatSides(scene));
    config->fluid.sides[Z][0].kind = config->fluid.sides[Z][1].kind = SIDE_SLIP;
  }
  for (PetscInt d = 0; d < DIM; d++)
    config->grid.periodic[d] = config->fluid.sides[d][0].kind == SIDE_PERIODIC ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}
