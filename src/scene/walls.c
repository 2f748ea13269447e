/* The sides of the box that hold bodies in it. */
#include "scene_impl.h"

#include <string.h>

/* "wall_x_low" for direction 0 and end 0. */
static PetscBool is_name_of(const char name[], PetscInt direction, PetscInt end)
{
  char wall[16];

  snprintf(wall, sizeof(wall), "wall_%c_%s", "xyz"[direction], end ? "high" : "low");
  return strcmp(name, wall) ? PETSC_FALSE : PETSC_TRUE;
}

PetscBool scene_has_wall(Scene scene, const char name[])
{
  for (PetscInt side = 0; side < 2 * DIM; side++)
    if (scene->config.solids.held[side / 2][side % 2] && is_name_of(name, side / 2, side % 2))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

static PetscErrorCode CheckName(Scene scene, Node *name)
{
  PetscFunctionBegin;
  if (name && name->kind == NODE_VALUE && scene_has_wall(scene, name->text))
    PetscCall(
        ProblemAdd(scene, name, PROBLEM_ERROR,
                   "no body can be called \"%s\": that is the side of the box, which holds bodies; give "
                   "it another name, or let bodies pass all sides with solids.walls: false",
                   name->text));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneBuildWalls(Scene scene, const Node *bodies)
{
  const GridConfig *grid = &scene->config.grid;
  SolidConfig      *solids = &scene->config.solids;

  PetscFunctionBegin;
  solids->in_fluid = scene->has_fluid;
  if (!scene->has_fluid || !solids->walls)
    PetscFunctionReturn(0);
  solids->box_low = grid->origin;
  solids->box_high = vector3_add(grid->origin, grid->size);
  for (PetscInt side = 0; side < 2 * grid->dimension; side++) {
    const SideKind kind = scene->config.fluid.sides[side / 2][side % 2].kind;

    solids->held[side / 2][side % 2] = kind == SIDE_WALL || kind == SIDE_SLIP ? PETSC_TRUE : PETSC_FALSE;
  }
  for (const Node *item = bodies ? bodies->first : NULL; item; item = item->next)
    PetscCall(CheckName(scene, node_find(item, "name")));
  PetscFunctionReturn(0);
}
