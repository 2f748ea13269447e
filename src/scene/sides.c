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

/* In the middle of a side, which corners and edges are not. */
static PetscErrorCode CheckGiven(Scene scene, PetscInt direction, PetscInt end)
{
  const GridConfig *grid = &scene->config.grid;
  Vector3           middle = vector3(0, 0, 0);

  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid->dimension; d++)
    middle.at[d] = grid->origin.at[d] + (d == direction ? (PetscReal)end : 0.5) * grid->size.at[d];
  PetscCall(SceneCheckGivenVector(scene, node_find(side_node(scene, direction, end), "velocity"),
                                  scene->config.fluid.sides[direction][end].velocity, middle, PLACE_STAYS));
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

enum { SAMPLES = 32 }; /* along each direction of a side */

/* Whether what enters through a side at a time also leaves through it, to one per cent. */
static PetscBool is_balanced(const SimulationConfig *config, PetscInt axis, PetscInt side, PetscReal time)
{
  const GridConfig *grid = &config->grid;
  const PetscInt    first = (axis + 1) % grid->dimension, second = (axis + 2) % grid->dimension;
  PetscReal         net = 0., gross = 0.;

  for (PetscInt i = 0; i < SAMPLES; i++)
    for (PetscInt j = 0; j < (grid->dimension == 3 ? SAMPLES : 1); j++) {
      Vector3   point = grid->origin;
      PetscReal value;

      point.at[axis] += side * grid->size.at[axis];
      point.at[first] += grid->size.at[first] * (i + 0.5) / SAMPLES;
      if (grid->dimension == 3)
        point.at[second] += grid->size.at[second] * (j + 0.5) / SAMPLES;
      value = formula_value(config->fluid.sides[axis][side].velocity[axis], point, time);
      net += value;
      gross += PetscAbsReal(value);
    }
  return PetscAbsReal(net) <= 0.01 * gross ? PETSC_TRUE : PETSC_FALSE;
}

static PetscBool has_source(const SimulationConfig *config)
{
  for (PetscInt n = 0; n < config->inflow_count; n++)
    for (PetscInt d = 0; d < DIM; d++)
      if (config->inflows[n].velocity[d])
        return PETSC_TRUE;
  return PETSC_FALSE;
}

/* The common mistake; what several inflows, sources and obstacles make together shows on the grid
   (SimulationCheckBalance). */
static PetscErrorCode CheckBalance(Scene scene)
{
  const SimulationConfig *config = &scene->config;
  PetscInt                inflow = -1, inflows = 0, outlets = 0;

  PetscFunctionBegin;
  for (PetscInt side = 0; side < 2 * config->grid.dimension; side++) {
    const SideKind kind = config->fluid.sides[side / 2][side % 2].kind;

    if (!is_usable(side_node(scene, side / 2, side % 2)))
      PetscFunctionReturn(0);
    if (kind == SIDE_INFLOW && !inflows++)
      inflow = side;
    outlets += kind == SIDE_OPEN;
  }
  if (inflows != 1 || outlets || has_source(config) ||
      !config->fluid.sides[inflow / 2][inflow % 2].velocity[inflow / 2])
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < 3; n++)
    if (!is_balanced(config, inflow / 2, inflow % 2, 0.5 * n * config->run.end_time)) {
      PetscCall(
          ProblemAddAtKey(scene, side_node(scene, inflow / 2, inflow % 2), PROBLEM_ERROR,
                          "what flows in here cannot leave: no side is open, and no other one an inflow"));
      break;
    }
  PetscFunctionReturn(0);
}

PetscErrorCode SceneCheckSides(Scene scene)
{
  SimulationConfig *config = &scene->config;

  PetscFunctionBegin;
  for (PetscInt side = 0; side < 2 * config->grid.dimension; side++) {
    PetscCall(CheckSide(scene, side / 2, side % 2));
    PetscCall(CheckGiven(scene, side / 2, side % 2));
  }
  PetscCall(CheckBalance(scene));
  if (config->grid.dimension == 2) {
    PetscCall(RemoveFlatSides(scene));
    config->fluid.sides[Z][0].kind = config->fluid.sides[Z][1].kind = SIDE_SLIP;
  }
  for (PetscInt d = 0; d < DIM; d++)
    config->grid.periodic[d] = config->fluid.sides[d][0].kind == SIDE_PERIODIC ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}
