/* The smallest box along the world's axes around a form. */
#include "../placed_form.h"
#include "pairs.h"

/* Half the extent of a disc of radius one across the unit vector `axis`. */
static Vector3 disc_extent(Vector3 axis)
{
  Vector3 extent;

  for (PetscInt d = X; d < DIM; d++)
    extent.at[d] = PetscSqrtReal(PetscMax(1 - axis.at[d] * axis.at[d], 0));
  return extent;
}

/* Half the extent of a box. */
static Vector3 box_extent(const Vector3 axes[DIM], Vector3 half)
{
  Vector3 extent;

  for (PetscInt d = X; d < DIM; d++)
    extent.at[d] = PetscAbsReal(axes[X].at[d]) * half.at[X] + PetscAbsReal(axes[Y].at[d]) * half.at[Y] +
                   PetscAbsReal(axes[Z].at[d]) * half.at[Z];
  return extent;
}

static Bounds bounds_about(Vector3 centre, Vector3 extent)
{
  return (Bounds){vector3_subtract(centre, extent), vector3_add(centre, extent)};
}

/* The half-space fills everything, unless its normal is an axis of the world: then it ends there. */
static Bounds plane_bounds(Vector3 position, Vector3 normal)
{
  const PetscReal infinity = PETSC_INFINITY, round_off = 1e-14;
  Bounds          bounds = bounds_about(position, vector3(infinity, infinity, infinity));

  for (PetscInt d = X; d < DIM; d++) {
    if (PetscAbsReal(normal.at[(d + 1) % DIM]) > round_off ||
        PetscAbsReal(normal.at[(d + 2) % DIM]) > round_off)
      continue;
    if (normal.at[d] > 0)
      bounds.high.at[d] = position.at[d];
    else
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

Bounds form_bounds(const Form *form, const RigidTransform *placement)
{
  const PlacedForm placed = place(form, placement);
  const Vector3    position = placement->position, axis = placed.axes[Z], half = form->half;
  const Vector3    along = vector3_scale(
         half.at[Z], vector3(PetscAbsReal(axis.at[X]), PetscAbsReal(axis.at[Y]), PetscAbsReal(axis.at[Z])));

  switch (form->kind) {
  case FORM_SPHERE:
    return bounds_about(position, all(form->radius));
  case FORM_CAPSULE:
    return bounds_about(position, vector3_add(along, all(form->radius)));
  case FORM_BOX:
    return bounds_about(position, box_extent(placed.axes, half));
  case FORM_PLANE:
    return plane_bounds(position, axis);
  case FORM_CYLINDER:
    return bounds_about(position, vector3_along(along, form->radius, disc_extent(axis)));
  case FORM_CONE:
    return cone_bounds(form, position, axis);
  case FORM_TORUS:
    return bounds_about(position, vector3_along(all(form->radius), form->major, disc_extent(axis)));
  case FORM_HULL:
  case FORM_SURFACE:
  case FORM_SHELL:
    break;
  }
  return bounds_about(placed_to_world(&placed, vector3_scale(0.5, vector3_add(form->low, form->high))),
                      box_extent(placed.axes, vector3_scale(0.5, vector3_subtract(form->high, form->low))));
}
