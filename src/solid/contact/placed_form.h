/* A form in the world. */
#ifndef MILLRACE_SOLID_PLACED_FORM_H
#define MILLRACE_SOLID_PLACED_FORM_H

#include "../rigid/form.h"

typedef struct {
  const Form *form;
  Vector3     position;
  Vector3     axes[DIM]; /* of the body's frame, in the world: columns of its rotation */
} PlacedForm;

static inline PlacedForm place(const Form *form, const RigidTransform *at)
{
  const PetscReal s = at->rotation.scalar, x = at->rotation.vector.at[X], y = at->rotation.vector.at[Y],
                  z = at->rotation.vector.at[Z];

  return (PlacedForm){form,
                      at->position,
                      {vector3(1 - 2 * (y * y + z * z), 2 * (x * y + s * z), 2 * (x * z - s * y)),
                       vector3(2 * (x * y - s * z), 1 - 2 * (x * x + z * z), 2 * (y * z + s * x)),
                       vector3(2 * (x * z + s * y), 2 * (y * z - s * x), 1 - 2 * (x * x + y * y))}};
}

/* Of the components of v along the body's axes, and back: directions only. */
static inline Vector3 placed_turn_in(const PlacedForm *placed, Vector3 v)
{
  return vector3(vector3_dot(placed->axes[X], v), vector3_dot(placed->axes[Y], v),
                 vector3_dot(placed->axes[Z], v));
}
static inline Vector3 vector3_along(Vector3 a, PetscReal s, Vector3 direction) /* a + s direction */
{
  return vector3(a.at[X] + s * direction.at[X], a.at[Y] + s * direction.at[Y], a.at[Z] + s * direction.at[Z]);
}
static inline Vector3 placed_turn_out(const PlacedForm *placed, Vector3 v)
{
  const Vector3 in_plane = vector3_along(vector3_scale(v.at[X], placed->axes[X]), v.at[Y], placed->axes[Y]);

  return vector3_along(in_plane, v.at[Z], placed->axes[Z]);
}
static inline Vector3 placed_to_local(const PlacedForm *placed, Vector3 point)
{
  return placed_turn_in(placed, vector3_subtract(point, placed->position));
}
static inline Vector3 placed_to_world(const PlacedForm *placed, Vector3 local)
{
  return vector3_add(placed->position, placed_turn_out(placed, local));
}

#endif
