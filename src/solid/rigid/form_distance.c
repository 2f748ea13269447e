/* Signed distance from a form and its gradient: closed formulas for simple forms, planes and triangles for
   hulls, a grid for surfaces and shells. Where the nearest point is not one but many, the gradient points
   away from one of them. */
#include "../contact/narrow/hull.h"
#include "distance_grid.h"

#include <math.h>

static const Vector3 up = {{0, 0, 1}};

/* The length of `arm`, and its direction in `*gradient`. */
static PetscReal measure(Vector3 arm, Vector3 otherwise, Vector3 *gradient)
{
  const PetscReal length = vector3_norm(arm);

  *gradient = length > 0 ? vector3_scale(1 / length, arm) : otherwise;
  return length;
}

static PetscReal box_distance(Vector3 half, Vector3 point, Vector3 *gradient)
{
  Vector3   outside = vector3(0, 0, 0);
  PetscReal deepest = -PETSC_INFINITY;

  *gradient = outside;
  for (int d = 0; d < DIM; d++) {
    const PetscReal beyond = PetscAbsReal(point.at[d]) - half.at[d], sign = point.at[d] < 0 ? -1 : 1;

    outside.at[d] = beyond > 0 ? sign * beyond : 0;
    if (beyond <= deepest)
      continue;
    deepest = beyond;
    *gradient = vector3(0, 0, 0);
    gradient->at[d] = sign;
  }
  return deepest > 0 ? measure(outside, up, gradient) : deepest;
}

/* Solids of revolution: a point and a gradient in the half-plane of (distance from the axis, height). */
typedef struct {
  PetscReal away, height;
} Flat;

static PetscReal flat_measure(Flat arm, Flat otherwise, Flat *gradient)
{
  const PetscReal length = hypot(arm.away, arm.height);

  *gradient = length > 0 ? (Flat){arm.away / length, arm.height / length} : otherwise;
  return length;
}

static PetscReal cylinder_distance(const Form *form, Flat point, Flat *gradient)
{
  const PetscReal sign = point.height < 0 ? -1 : 1;
  const PetscReal aside = point.away - form->radius, beyond = PetscAbsReal(point.height) - form->half.at[Z];
  const Flat      arm = {PetscMax(aside, 0), sign * PetscMax(beyond, 0)};

  *gradient = aside > beyond ? (Flat){1, 0} : (Flat){0, sign};
  return aside > 0 && beyond > 0 ? flat_measure(arm, *gradient, gradient) : PetscMax(aside, beyond);
}

/* Above the base and inside the side; outside the nearest piece of the two, which meet at the rim. */
static PetscReal cone_distance(const Form *form, Flat point, Flat *gradient)
{
  const PetscReal height = form->tip - form->base, slant = hypot(height, form->radius);
  const Flat      normal = {height / slant, form->radius / slant}, down = {0, -1};
  const Flat      from_rim = {point.away - form->radius, point.height - form->base};
  const PetscReal below = -from_rim.height;
  const PetscReal beyond = from_rim.away * normal.away + from_rim.height * normal.height;
  const PetscReal place = from_rim.height * normal.away - from_rim.away * normal.height; /* up the side */

  if (below > beyond && from_rim.away <= 0) {
    *gradient = down;
    return below;
  }
  if (beyond >= 0 && place >= slant)
    return flat_measure((Flat){point.away, point.height - form->tip}, (Flat){0, 1}, gradient);
  if (place <= 0)
    return flat_measure(from_rim, normal, gradient);
  *gradient = normal;
  return beyond;
}

static PetscReal torus_distance(const Form *form, Flat point, Flat *gradient)
{
  return flat_measure((Flat){point.away - form->major, point.height}, (Flat){0, 1}, gradient) - form->radius;
}

static PetscReal round_distance(const Form *form, Vector3 point, Vector3 *gradient)
{
  const Flat      flat = {hypot(point.at[X], point.at[Y]), point.at[Z]};
  const PetscReal inverse = flat.away > 0 ? 1 / flat.away : 0;
  const Vector3   outwards =
      flat.away > 0 ? vector3(point.at[X] * inverse, point.at[Y] * inverse, 0) : vector3(1, 0, 0);
  PetscReal distance;
  Flat      slope;

  if (form->kind == FORM_CYLINDER)
    distance = cylinder_distance(form, flat, &slope);
  else if (form->kind == FORM_CONE)
    distance = cone_distance(form, flat, &slope);
  else
    distance = torus_distance(form, flat, &slope);
  *gradient = vector3_add(vector3_scale(slope.away, outwards), vector3_scale(slope.height, up));
  return distance;
}

PetscReal form_distance(const Form *form, Vector3 point, Vector3 *gradient)
{
  Vector3 arm = point;

  switch (form->kind) {
  case FORM_SPHERE:
    return measure(point, up, gradient) - form->radius;
  case FORM_CAPSULE:
    arm.at[Z] -= PetscMin(PetscMax(point.at[Z], -form->half.at[Z]), form->half.at[Z]);
    return measure(arm, vector3(1, 0, 0), gradient) - form->radius;
  case FORM_BOX:
    return box_distance(form->half, point, gradient);
  case FORM_PLANE:
    *gradient = up;
    return point.at[Z];
  case FORM_CYLINDER:
  case FORM_CONE:
  case FORM_TORUS:
    return round_distance(form, point, gradient);
  case FORM_HULL:
    return hull_distance(form->hull, point, gradient);
  case FORM_SURFACE:
  case FORM_SHELL:
    return distance_grid_value(form->distances, point, gradient) - 0.5 * form->thickness;
  }
  return PETSC_INFINITY;
}
