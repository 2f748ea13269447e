/* Bodies of any shape: a union, intersection, difference or formula becomes the surface of its contour on a
   lattice, from which its mass, its contact and what the fluid feels follow. */
#include "scene_impl.h"

#include <math.h>

static PetscBool is_bounded(const Vector3 bounds[2], PetscInt dimension)
{
  for (PetscInt d = 0; d < dimension; d++)
    if (!(bounds[0].at[d] > -PETSC_INFINITY && bounds[1].at[d] < PETSC_INFINITY))
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static PetscReal longest_side(const Vector3 bounds[2], PetscInt dimension)
{
  PetscReal longest = 0.;

  for (PetscInt d = 0; d < dimension; d++)
    longest = PetscMax(longest, bounds[1].at[d] - bounds[0].at[d]);
  return longest;
}

PetscErrorCode SceneContourBody(Scene scene, Node *item, BodyConfig *body)
{
  const PetscInt dimension = scene->config.solids.planar ? 2 : 3;
  Node          *node = node_find(item, "shape");
  Vector3        bounds[2];
  PetscReal      longest;
  Surface        surface;

  PetscFunctionBegin;
  if (shape_primitive(body->shape).kind != PRIMITIVE_NONE)
    PetscFunctionReturn(0);
  shape_bounds(body->shape, &bounds[0], &bounds[1]);
  if (!is_bounded(bounds, dimension)) {
    PetscCall(
        ProblemAddAtKey(scene, node, PROBLEM_ERROR,
                        "body \"%s\" has no end: let a box hold it, by intersection: [{box: ...}, ...]%s",
                        body->name, scene->has_fluid ? ", or make it an obstacle" : ""));
    PetscFunctionReturn(0);
  }
  longest = longest_side(bounds, dimension);
  if (longest > 0.)
    PetscCall(SurfaceCreateContour(body->shape, dimension == 2 ? CONTOUR_PRISM : CONTOUR_SPACE, bounds[0],
                                   bounds[1], longest / body->contour, &surface));
  else
    surface = NULL;
  if (!surface) {
    PetscCall(
        ProblemAddAtKey(scene, node, PROBLEM_ERROR,
                        "body \"%s\": nothing of it is found on a lattice of %d cells along its longest "
                        "side; mend its shape, or take more by \"contour\"",
                        body->name, (int)body->contour));
    PetscFunctionReturn(0);
  }
  PetscCall(ShapeDestroy(&body->shape));
  PetscCall(ShapeCreateSurface(&surface, &body->shape));
  PetscFunctionReturn(0);
}
