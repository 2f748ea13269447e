/* Private to the narrow phase: a form in the world, and one function for each pair of kinds. */
#ifndef MILLRACE_SOLID_TOUCH_H
#define MILLRACE_SOLID_TOUCH_H

#include "contact.h"

/* The contract of find_touches, for forms whose kinds are in the order of FormKind: that of `a` is not after
   that of `b`. */
typedef PetscInt TouchFunction(const Form *a, const Placement *at_a, const Form *b, const Placement *at_b,
                               PetscReal reach, Touch touches[TOUCH_CAPACITY]);

TouchFunction touch_spheres, touch_sphere_capsule, touch_sphere_box, touch_sphere_plane; /* round.c */
TouchFunction touch_capsules, touch_capsule_plane;
TouchFunction touch_capsule_box;            /* capsule.c */
TouchFunction touch_boxes, touch_box_plane; /* box.c */

typedef struct {
  const Form *form;
  Vector3     position;
  Vector3     axes[DIM]; /* of the body's frame, in the world: columns of its rotation */
} Placed;

static inline Placed place(const Form *form, const Placement *at)
{
  const PetscReal s = at->rotation.scalar, x = at->rotation.vector.at[X], y = at->rotation.vector.at[Y],
                  z = at->rotation.vector.at[Z];

  return (Placed){form,
                  at->position,
                  {vector3(1 - 2 * (y * y + z * z), 2 * (x * y + s * z), 2 * (x * z - s * y)),
                   vector3(2 * (x * y - s * z), 1 - 2 * (x * x + z * z), 2 * (y * z + s * x)),
                   vector3(2 * (x * z + s * y), 2 * (y * z - s * x), 1 - 2 * (x * x + y * y))}};
}

/* Of the components of v along the body's axes, and back: directions only. */
static inline Vector3 placed_turn_in(const Placed *placed, Vector3 v)
{
  return vector3(vector3_dot(placed->axes[X], v), vector3_dot(placed->axes[Y], v),
                 vector3_dot(placed->axes[Z], v));
}
static inline Vector3 vector3_along(Vector3 a, PetscReal s, Vector3 direction) /* a + s direction */
{
  return vector3(a.at[X] + s * direction.at[X], a.at[Y] + s * direction.at[Y], a.at[Z] + s * direction.at[Z]);
}
static inline Vector3 placed_turn_out(const Placed *placed, Vector3 v)
{
  const Vector3 in_plane = vector3_along(vector3_scale(v.at[X], placed->axes[X]), v.at[Y], placed->axes[Y]);

  return vector3_along(in_plane, v.at[Z], placed->axes[Z]);
}
static inline Vector3 placed_to_local(const Placed *placed, Vector3 point)
{
  return placed_turn_in(placed, vector3_subtract(point, placed->position));
}
static inline Vector3 placed_to_world(const Placed *placed, Vector3 local)
{
  return vector3_add(placed->position, placed_turn_out(placed, local));
}

/* Two balls: their centers, the sum of the radii less the distance is the depth. `fallback` is the normal of
   concentric ones. Nothing is written beyond `reach`. */
PetscInt touch_balls(Vector3 center_a, PetscReal radius_a, Vector3 center_b, PetscReal radius_b,
                     Vector3 fallback, PetscReal reach, Touch *touch);
/* The segment from `from` along `direction`, both in the frame of a box: returns the parameter from 0 to 1 of
   the point nearest to the box, and how that lies outside of it (zero if inside). */
PetscReal segment_nearest_to_box(Vector3 from, Vector3 direction, Vector3 half, Vector3 *outside);
/* A unit vector across a unit vector. */
Vector3 any_perpendicular(Vector3 unit);

#endif
