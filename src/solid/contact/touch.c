/* Narrow phase: sends each pair of forms to the function that knows the two kinds. */
#include "general.h"

enum { KIND_COUNT = FORM_SHELL + 1 };

/* Row: the kind that comes first in FormKind. A pair without a function never touches. */
static TouchFunction *const touch_functions[KIND_COUNT][KIND_COUNT] = {
    [FORM_SPHERE] = {[FORM_SPHERE] = touch_spheres,
                     [FORM_CAPSULE] = touch_sphere_capsule,
                     [FORM_BOX] = touch_sphere_box,
                     [FORM_PLANE] = touch_sphere_plane,
                     [FORM_HULL] = touch_sphere_hull},
    [FORM_CAPSULE] = {[FORM_CAPSULE] = touch_capsules,
                      [FORM_BOX] = touch_capsule_box,
                      [FORM_PLANE] = touch_capsule_plane,
                      [FORM_HULL] = touch_capsule_hull},
    [FORM_BOX] = {[FORM_BOX] = touch_boxes, [FORM_PLANE] = touch_box_plane, [FORM_HULL] = touch_hulls},
    [FORM_HULL] = {[FORM_HULL] = touch_hulls},
};

PetscInt find_touches(const Form *a, const Placement *at_a, const Form *b, const Placement *at_b,
                      PetscReal reach, Touch touches[TOUCH_CAPACITY])
{
  TouchFunction *function;
  PetscInt       count;

  if (a->kind <= b->kind) {
    function = touch_functions[a->kind][b->kind];
    return function ? function(a, at_a, b, at_b, reach, touches) : 0;
  }
  function = touch_functions[b->kind][a->kind];
  count = function ? function(b, at_b, a, at_a, reach, touches) : 0;
  for (PetscInt k = 0; k < count; k++)
    touches[k].normal = vector3_scale(-1, touches[k].normal);
  return count;
}
