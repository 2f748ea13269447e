/* Solids by their signed distance. Combinations take minima and maxima: the sign is right everywhere, the
   distance a lower bound of the true one. */
#include "geometry_impl.h"

/* Whether the boundary belongs to the solid: taking a solid away leaves its boundary behind. */
typedef enum { BOUNDARY_IN, BOUNDARY_OUT } Boundary;

/* Distance from a point to a box around the origin given by half its sides, in `count` dimensions. */
static PetscReal box_distance(int count, const PetscReal point[], const PetscReal half[])
{
  PetscReal outside = 0, inside = -PETSC_INFINITY;

  for (int d = 0; d < count; d++) {
    const PetscReal beyond = PetscAbsReal(point[d]) - half[d];

    inside = PetscMax(inside, beyond);
    if (beyond > 0)
      outside += beyond * beyond;
  }
  return inside > 0 ? PetscSqrtReal(outside) : inside;
}

/* Along the axis and away from it. */
static void split_along_axis(Vector3 arm, Vector3 axis, PetscReal split[2])
{
  split[0] = vector3_dot(arm, axis);
  split[1] = vector3_norm(vector3_subtract(arm, vector3_scale(split[0], axis)));
}

/* `along` counts from the middle of the axis. The cone is what lies above its base and inside its side;
   inside the nearest of the two counts, outside the nearest of their pieces. */
static PetscReal cone_distance(PetscReal along, PetscReal away, PetscReal reach, PetscReal radius)
{
  const PetscReal height = 2 * reach, slant = hypot(height, radius);
  const PetscReal above = along + reach; /* the base */
  const PetscReal beyond = ((away - radius) * height + above * radius) / slant;
  const PetscReal place = ((radius - away) * radius + above * height) / slant; /* on the side, from the rim */
  PetscReal       to_base, to_side;

  if (above >= 0 && beyond <= 0)
    return PetscMax(-above, beyond);
  to_base = hypot(above, PetscMax(away - radius, 0));
  to_side = hypot(beyond, PetscMax(PetscMax(-place, place - slant), 0));
  return PetscMin(to_base, to_side);
}

static PetscReal combination_distance(Shape shape, Vector3 point)
{
  PetscReal distance = shape_distance(shape->parts[0], point);

  for (PetscInt n = 1; n < shape->part_count; n++) {
    const PetscReal other = shape_distance(shape->parts[n], point);

    if (shape->operation == SHAPE_UNION)
      distance = PetscMin(distance, other);
    else if (shape->operation == SHAPE_INTERSECTION)
      distance = PetscMax(distance, other);
    else
      distance = PetscMax(distance, -other);
  }
  return distance;
}

static Vector3 placed_to_part(Shape shape, Vector3 point)
{
  const Vector3 arm = vector3_subtract(point, shape->translation);

  return vector3_scale(1 / shape->scale, quaternion_rotate(quaternion_conjugate(shape->rotation), arm));
}

/* Value over slope: the distance to first order, of the right sign everywhere. */
static PetscReal formula_distance(Formula formula, Vector3 point)
{
  const PetscReal step = 1e-6 * (1. + vector3_norm(point)), value = formula_value(formula, point, 0.);
  Vector3         slope;

  for (int d = 0; d < DIM; d++) {
    Vector3 after = point, before = point;

    after.at[d] += step;
    before.at[d] -= step;
    slope.at[d] = (formula_value(formula, after, 0.) - formula_value(formula, before, 0.)) / (2. * step);
  }
  return vector3_norm(slope) > 0. ? value / vector3_norm(slope) : value;
}

PetscReal shape_distance(Shape shape, Vector3 point)
{
  const Vector3 arm = vector3_subtract(point, shape->centre);
  PetscReal     split[2];

  switch (shape->kind) {
  case KIND_SPHERE:
    return vector3_norm(arm) - shape->radius;
  case KIND_BOX:
    return box_distance(DIM, arm.at, shape->half.at);
  case KIND_CYLINDER:
    split_along_axis(arm, shape->axis, split);
    return box_distance(2, split, (const PetscReal[]){shape->reach, shape->radius});
  case KIND_CAPSULE:
    split_along_axis(arm, shape->axis, split);
    return hypot(PetscMax(PetscAbsReal(split[0]) - shape->reach, 0), split[1]) - shape->radius;
  case KIND_CONE:
    split_along_axis(arm, shape->axis, split);
    return cone_distance(split[0], split[1], shape->reach, shape->radius);
  case KIND_TORUS:
    split_along_axis(arm, shape->axis, split);
    return hypot(split[0], split[1] - shape->reach) - shape->radius;
  case KIND_PLANE:
    return vector3_dot(arm, shape->axis);
  case KIND_SURFACE:
    return surface_distance(shape->surface, point);
  case KIND_FORMULA:
    return formula_distance(shape->formula, point);
  case KIND_COMBINATION:
    return combination_distance(shape, point);
  case KIND_PLACED:
    return shape->scale * shape_distance(shape->parts[0], placed_to_part(shape, point));
  }
  return PETSC_INFINITY;
}

static PetscBool is_inside(Shape shape, Vector3 point, Boundary boundary);

static PetscBool is_inside_combination(Shape shape, Vector3 point, Boundary boundary)
{
  const Boundary opposite = boundary == BOUNDARY_IN ? BOUNDARY_OUT : BOUNDARY_IN;

  if (shape->operation == SHAPE_UNION) {
    for (PetscInt n = 0; n < shape->part_count; n++) {
      if (is_inside(shape->parts[n], point, boundary))
        return PETSC_TRUE;
    }
    return PETSC_FALSE;
  }
  if (!is_inside(shape->parts[0], point, boundary))
    return PETSC_FALSE;
  for (PetscInt n = 1; n < shape->part_count; n++) {
    if (shape->operation == SHAPE_INTERSECTION && !is_inside(shape->parts[n], point, boundary))
      return PETSC_FALSE;
    if (shape->operation == SHAPE_DIFFERENCE && is_inside(shape->parts[n], point, opposite))
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static PetscBool is_inside(Shape shape, Vector3 point, Boundary boundary)
{
  PetscReal distance;

  switch (shape->kind) {
  case KIND_SURFACE:
    return surface_is_inside(shape->surface, point);
  case KIND_FORMULA:
    distance = formula_value(shape->formula, point, 0.);
    return distance < 0 || (distance == 0 && boundary == BOUNDARY_IN) ? PETSC_TRUE : PETSC_FALSE;
  case KIND_COMBINATION:
    return is_inside_combination(shape, point, boundary);
  case KIND_PLACED:
    return is_inside(shape->parts[0], placed_to_part(shape, point), boundary);
  default:
    distance = shape_distance(shape, point);
    return distance < 0 || (distance == 0 && boundary == BOUNDARY_IN) ? PETSC_TRUE : PETSC_FALSE;
  }
}

PetscBool shape_is_inside(Shape shape, Vector3 point)
{
  return is_inside(shape, point, BOUNDARY_IN);
}

/* How far a disc of radius one across the axis reaches along each direction. */
static Vector3 disc_reach(Vector3 axis)
{
  Vector3 reach;

  for (int d = 0; d < DIM; d++)
    reach.at[d] = PetscSqrtReal(PetscMax(0, 1 - axis.at[d] * axis.at[d]));
  return reach;
}

static Vector3 half_extent(Shape shape)
{
  Vector3       half = vector3(shape->radius, shape->radius, shape->radius);
  const Vector3 disc = disc_reach(shape->axis);

  for (int d = 0; d < DIM; d++) {
    const PetscReal along = PetscAbsReal(shape->axis.at[d]) * shape->reach;

    if (shape->kind == KIND_BOX)
      half.at[d] = shape->half.at[d];
    if (shape->kind == KIND_CYLINDER)
      half.at[d] = along + shape->radius * disc.at[d];
    if (shape->kind == KIND_CAPSULE)
      half.at[d] += along;
    if (shape->kind == KIND_TORUS)
      half.at[d] += shape->reach * disc.at[d];
  }
  return half;
}

static Box cone_box(Shape shape)
{
  const Vector3 base = vector3_subtract(shape->centre, vector3_scale(shape->reach, shape->axis));
  const Vector3 tip = vector3_add(shape->centre, vector3_scale(shape->reach, shape->axis));
  const Vector3 disc = vector3_scale(shape->radius, disc_reach(shape->axis));

  return box_join((Box){vector3_subtract(base, disc), vector3_add(base, disc)}, (Box){tip, tip});
}

/* Open everywhere but along an axis that the normal follows exactly. */
static Box plane_box(Shape shape)
{
  const PetscReal far = PETSC_INFINITY;
  Box             box = {vector3(-far, -far, -far), vector3(far, far, far)};

  for (int d = 0; d < DIM; d++) {
    if (shape->axis.at[d] == 1)
      box.high.at[d] = shape->centre.at[d];
    if (shape->axis.at[d] == -1)
      box.low.at[d] = shape->centre.at[d];
  }
  return box;
}

static Box shape_box(Shape shape)
{
  Box box;

  shape_bounds(shape, &box.low, &box.high);
  return box;
}

static Box combination_box(Shape shape)
{
  Box box = shape_box(shape->parts[0]);

  for (PetscInt n = 1; n < shape->part_count; n++) {
    const Box other = shape_box(shape->parts[n]);

    if (shape->operation == SHAPE_UNION)
      box = box_join(box, other);
    if (shape->operation == SHAPE_INTERSECTION)
      box = box_meet(box, other);
  }
  return box;
}

static Box placed_box(Shape shape)
{
  Box box = box_rotated(shape_box(shape->parts[0]), shape->rotation, shape->scale);

  box.low = vector3_add(box.low, shape->translation);
  box.high = vector3_add(box.high, shape->translation);
  return box;
}

void shape_bounds(Shape shape, Vector3 *low, Vector3 *high)
{
  const PetscReal far = PETSC_INFINITY;
  const Vector3   half = half_extent(shape);
  Box             box;

  switch (shape->kind) {
  case KIND_CONE:
    box = cone_box(shape);
    break;
  case KIND_PLANE:
    box = plane_box(shape);
    break;
  case KIND_FORMULA:
    box = (Box){vector3(-far, -far, -far), vector3(far, far, far)};
    break;
  case KIND_SURFACE:
    surface_bounds(shape->surface, &box.low, &box.high);
    break;
  case KIND_COMBINATION:
    box = combination_box(shape);
    break;
  case KIND_PLACED:
    box = placed_box(shape);
    break;
  default:
    box = (Box){vector3_subtract(shape->centre, half), vector3_add(shape->centre, half)};
  }
  *low = box.low;
  *high = box.high;
}
