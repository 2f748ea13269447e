/* What formulas of time give is finite at the times that a run comes by, as far as can be told before it. */
#include "scene_impl.h"

#include <math.h>

PetscReal scene_time(Scene scene, PetscInt n)
{
  return scene->config.run.end_time * n / SCENE_TIMES;
}

PetscErrorCode SceneCheckGiven(Scene scene, Node *node, Formula formula, Vector3 place, PlaceMotion motion)
{
  PetscBool stays = PETSC_TRUE;
  char      path[PATH_LENGTH];

  PetscFunctionBegin;
  if (!formula || !is_usable(node))
    PetscFunctionReturn(0);
  for (PetscInt d = 0; d < DIM && motion == PLACE_MOVES; d++)
    stays = stays && !formula_uses_direction(formula, d) ? PETSC_TRUE : PETSC_FALSE;
  node_path(node, path, sizeof(path));
  for (PetscInt n = 0; n <= (stays ? SCENE_TIMES : 0); n++)
    if (!isfinite(formula_value(formula, place, scene_time(scene, n)))) {
      PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "%s is not a finite number at t = %g s", path,
                           (double)scene_time(scene, n)));
      break;
    }
  PetscFunctionReturn(0);
}

PetscErrorCode SceneCheckGivenVector(Scene scene, Node *node, const Formula formulas[DIM], Vector3 place,
                                     PlaceMotion motion)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM && is_usable(node); d++)
    PetscCall(SceneCheckGiven(scene, node_item(node, d), formulas[d], place, motion));
  PetscFunctionReturn(0);
}
