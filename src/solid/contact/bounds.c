/* The smallest box along the world's axes around a form. */
#include "contact.h"

/* Half the extent of a disc of radius one across the unit vector `axis`. */
static Vector3 disc_extent(Vector3 axis)
{
  Vector3 extent;

  for (PetscInt d = X; d < DIM; d++)
    extent.at[d] = PetscSqrtReal(PetscMax(1 - axis.at[d] * axis.at[d], 0));
  return extent;
}

/* Half the extent of a box. */
static Vector3 box_extent(const Matrix3 *rotation, Vector3 half)
{
  Vector3 extent;

  for (PetscInt d = X; d < DIM; d++)
    extent.at[d] = PetscAbsReal(rotation->at[d][X]) * half.at[X] +
                   PetscAbsReal(rotation->at[d][Y]) * half.at[Y] +
                   PetscAbsReal(rotation->at[d][Z]) * half.at[Z];
  return extent;
}

static Bounds bounds_about(Vector3 center, Vector3 extent)
{
  return (Bounds){vector3_subtract(center, extent), vector3_add(center, extent)};
}

/* The half-space fills everything, unless its normal is an axis of the world. */
static Bounds plane_bounds(Vector3 position, Vector3 normal)
{
  const PetscReal infinity = PETSC_INFINITY;
  Bounds          bounds = bounds_about(position, vector3(infinity, infinity, infinity));

  for (PetscInt d = X; d < DIM; d++) {
    if (normal.at[d] > 1 - 1e-15)
      bounds.high.at[d] = position.at[d];
    if (normal.at[d] < -1 + 1e-15)
      bounds.low.at[d] = position.at[d];
  }
  return bounds;
}

static Bounds cone_bounds(const Form *form, Vector3 position, Vector3 axis)
{
  const Vector3 tip = vector3_add(position, vector3_scale(form->tip, axis));
  const Vector3 base = vector3_add(position, vector3_scale(form->base, axis));
  Bounds        bounds = bounds_about(base, vector3_scale(form->radius, disc_extent(axis)));

  for (PetscInt d = X; d < DIM; d++) {
    bounds.low.at[d] = PetscMin(bounds.low.at[d], tip.at[d]);
    bounds.high.at[d] = PetscMax(bounds.high.at[d], tip.at[d]);
  }
  return bounds;
}

static Vector3 all(PetscReal value)
{
  return vector3(value, value, value);
}

Bounds form_bounds(const Form *form, const Placement *placement)
{
  const Matrix3 rotation = matrix3_from_quaternion(placement->rotation);
  const Vector3 position = placement->position;
  const Vector3 axis = vector3(rotation.at[X][Z], rotation.at[Y][Z], rotation.at[Z][Z]);
  const Vector3 along = box_extent(&rotation, vector3(0, 0, form->half.at[Z])), across = disc_extent(axis);

  switch (form->kind) {
  case FORM_SPHERE:
    return bounds_about(position, all(form->radius));
  case FORM_CAPSULE:
    return bounds_about(position, vector3_add(along, all(form->radius)));
  case FORM_BOX:
    return bounds_about(position, box_extent(&rotation, form->half));
  case FORM_PLANE:
    return plane_bounds(position, axis);
  case FORM_CYLINDER:
    return bounds_about(position, vector3_add(along, vector3_scale(form->radius, across)));
  case FORM_CONE:
    return cone_bounds(form, position, axis);
  case FORM_TORUS:
    return bounds_about(position, vector3_add(vector3_scale(form->major, across), all(form->radius)));
  case FORM_HULL:
  case FORM_SURFACE:
  case FORM_SHELL:
    break;
  }
  return bounds_about(placement_to_world(placement, vector3_scale(0.5, vector3_add(form->low, form->high))),
                      box_extent(&rotation, vector3_scale(0.5, vector3_subtract(form->high, form->low))));
}
