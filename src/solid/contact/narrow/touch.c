/* Narrow phase: sends each pair of forms to the function that knows the two kinds. */
#include "touch_kinds.h"

enum { KIND_COUNT = FORM_SHELL + 1 };

/* Row: the kind that comes first in FormKind. Others touch by points, if they have any: planes do not. */
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
    [FORM_PLANE] = {[FORM_CYLINDER] = touch_plane_cylinder,
                    [FORM_CONE] = touch_plane_cone,
                    [FORM_TORUS] = touch_plane_torus,
                    [FORM_HULL] = touch_plane_hull,
                    [FORM_SURFACE] = touch_plane_samples,
                    [FORM_SHELL] = touch_plane_samples},
    [FORM_HULL] = {[FORM_HULL] = touch_hulls},
};

static PetscInt touch_in_order(const Form *a, const RigidTransform *at_a, const Form *b,
                               const RigidTransform *at_b, PetscReal reach, Touch touches[TOUCH_CAPACITY])
{
  TouchFunction *function = touch_functions[a->kind][b->kind];

  if (!function && a->samples && b->samples)
    function = touch_sampled;
  return function ? function(a, at_a, b, at_b, reach, touches) : 0;
}

PetscInt find_touches(const Form *a, const RigidTransform *at_a, const Form *b, const RigidTransform *at_b,
                      PetscReal reach, Touch touches[TOUCH_CAPACITY])
{
  PetscInt count;

  if (a->kind <= b->kind)
    return touch_in_order(a, at_a, b, at_b, reach, touches);
  count = touch_in_order(b, at_b, a, at_a, reach, touches);
  for (PetscInt k = 0; k < count; k++)
    touches[k].normal = vector3_scale(-1, touches[k].normal);
  return count;
}
