/* Solids by their signed distance. Combinations take minima and maxima: the sign is right everywhere, the
   distance a lower bound of the true one. */
#include "geometry_impl.h"

typedef enum {
  KIND_SPHERE,
  KIND_BOX,
  KIND_CYLINDER,
  KIND_CAPSULE,
  KIND_TORUS,
  KIND_PLANE,
  KIND_SURFACE,
  KIND_COMBINATION,
  KIND_PLACED
} ShapeKind;

struct _p_Shape {
  ShapeKind      kind;
  Vector3        center;  /* of a sphere, box, torus, cylinder, capsule; a point of a plane */
  Vector3        axis;    /* unit; of a cylinder, capsule, torus; the normal of a plane */
  Vector3        half;    /* of a box: half its sides */
  PetscReal      radius;  /* of a torus: the minor one */
  PetscReal      reach;   /* half the length of a cylinder or capsule; the major radius of a torus */
  Surface        surface; /* owned */
  ShapeOperation operation;
  PetscInt       part_count;
  Shape         *parts; /* owned; of a placed shape: one */
  PetscReal      scale; /* of a placed shape, with rotation and translation */
  Quaternion     rotation;
  Vector3        translation;
};

/* Whether the boundary belongs to the solid: taking a solid away leaves its boundary behind. */
typedef enum { BOUNDARY_IN, BOUNDARY_OUT } Boundary;

static PetscErrorCode CreateKind(ShapeKind kind, Shape *shape)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(shape));
  (*shape)->kind = kind;
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckPositive(const char what[], PetscReal value)
{
  PetscFunctionBegin;
  PetscCheck(value > 0 && isfinite(value), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "%s must be positive, not %g", what, (double)value);
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckFinite(const char what[], Vector3 a)
{
  PetscFunctionBegin;
  PetscCheck(vector3_is_finite(a), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "%s must be three finite numbers, not (%g, %g, %g)", what, (double)a.at[X], (double)a.at[Y],
             (double)a.at[Z]);
  PetscFunctionReturn(0);
}

static PetscErrorCode Normalize(const char what[], Vector3 a, Vector3 *unit)
{
  PetscFunctionBegin;
  PetscCall(CheckFinite(what, a));
  PetscCheck(vector3_norm(a) > 0, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "%s must not be zero", what);
  *unit = vector3_scale(1 / vector3_norm(a), a);
  PetscFunctionReturn(0);
}

PetscErrorCode ShapeCreateSphere(Vector3 center, PetscReal radius, Shape *shape)
{
  PetscFunctionBegin;
  *shape = NULL;
  PetscCall(CheckFinite("The center of a sphere", center));
  PetscCall(CheckPositive("The radius of a sphere", radius));
  PetscCall(CreateKind(KIND_SPHERE, shape));
  (*shape)->center = center;
  (*shape)->radius = radius;
  PetscFunctionReturn(0);
}

PetscErrorCode ShapeCreateBox(Vector3 low, Vector3 high, Shape *shape)
{
  PetscFunctionBegin;
  *shape = NULL;
  PetscCall(CheckFinite("The low corner of a box", low));
  PetscCall(CheckFinite("The high corner of a box", high));
  for (int d = 0; d < DIM; d++) {
    PetscCheck(low.at[d] < high.at[d], PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
               "The low corner of a box must be below the high one in %c, not %g and %g", "xyz"[d],
               (double)low.at[d], (double)high.at[d]);
  }
  PetscCall(CreateKind(KIND_BOX, shape));
  (*shape)->center = vector3_scale(0.5, vector3_add(low, high));
  (*shape)->half = vector3_scale(0.5, vector3_subtract(high, low));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateRod(ShapeKind kind, Vector3 from, Vector3 to, PetscReal radius, Shape *shape)
{
  const char *name = kind == KIND_CYLINDER ? "The length of a cylinder" : "The length of a capsule";
  Vector3     axis;

  PetscFunctionBegin;
  *shape = NULL;
  PetscCall(CheckFinite("An end of a cylinder or capsule", from));
  PetscCall(CheckFinite("An end of a cylinder or capsule", to));
  PetscCall(Normalize(name, vector3_subtract(to, from), &axis));
  PetscCall(CheckPositive("The radius of a cylinder or capsule", radius));
  PetscCall(CreateKind(kind, shape));
  (*shape)->center = vector3_scale(0.5, vector3_add(from, to));
  (*shape)->axis = axis;
  (*shape)->reach = 0.5 * vector3_norm(vector3_subtract(to, from));
  (*shape)->radius = radius;
  PetscFunctionReturn(0);
}

PetscErrorCode ShapeCreateCylinder(Vector3 from, Vector3 to, PetscReal radius, Shape *shape)
{
  PetscFunctionBegin;
  PetscCall(CreateRod(KIND_CYLINDER, from, to, radius, shape));
  PetscFunctionReturn(0);
}

PetscErrorCode ShapeCreateCapsule(Vector3 from, Vector3 to, PetscReal radius, Shape *shape)
{
  PetscFunctionBegin;
  PetscCall(CreateRod(KIND_CAPSULE, from, to, radius, shape));
  PetscFunctionReturn(0);
}

PetscErrorCode ShapeCreateTorus(Vector3 center, Vector3 axis, PetscReal major, PetscReal minor, Shape *shape)
{
  Vector3 unit;

  PetscFunctionBegin;
  *shape = NULL;
  PetscCall(CheckFinite("The center of a torus", center));
  PetscCall(Normalize("The axis of a torus", axis, &unit));
  PetscCall(CheckPositive("The minor radius of a torus", minor));
  PetscCheck(isfinite(major) && major >= minor, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "The major radius of a torus must not be below the minor one: %g and %g", (double)major,
             (double)minor);
  PetscCall(CreateKind(KIND_TORUS, shape));
  (*shape)->center = center;
  (*shape)->axis = unit;
  (*shape)->reach = major;
  (*shape)->radius = minor;
  PetscFunctionReturn(0);
}

PetscErrorCode ShapeCreatePlane(Vector3 point, Vector3 normal, Shape *shape)
{
  Vector3 unit;

  PetscFunctionBegin;
  *shape = NULL;
  PetscCall(CheckFinite("The point of a plane", point));
  PetscCall(Normalize("The normal of a plane", normal, &unit));
  PetscCall(CreateKind(KIND_PLANE, shape));
  (*shape)->center = point;
  (*shape)->axis = unit;
  PetscFunctionReturn(0);
}

PetscErrorCode ShapeCreateSurface(Surface *surface, Shape *shape)
{
  PetscFunctionBegin;
  *shape = NULL;
  PetscCheck(*surface, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "A shape needs a surface");
  PetscCall(CreateKind(KIND_SURFACE, shape));
  (*shape)->surface = *surface;
  *surface = NULL;
  PetscFunctionReturn(0);
}

PetscErrorCode ShapeCreateCombination(ShapeOperation operation, PetscInt count, Shape parts[], Shape *shape)
{
  PetscFunctionBegin;
  *shape = NULL;
  PetscCheck(count >= 1, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "A combination of shapes needs at least one part");
  for (PetscInt n = 0; n < count; n++) {
    PetscCheck(parts[n], PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
               "Part %" PetscInt_FMT " of a combination is null", n);
  }
  PetscCall(CreateKind(KIND_COMBINATION, shape));
  (*shape)->operation = operation;
  (*shape)->part_count = count;
  PetscCall(PetscMalloc1(count, &(*shape)->parts));
  for (PetscInt n = 0; n < count; n++) {
    (*shape)->parts[n] = parts[n];
    parts[n] = NULL;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode ShapeCreatePlaced(Shape *part, PetscReal scale, Vector3 rotation, Vector3 translation,
                                 Shape *shape)
{
  Shape placed; /* `part` and `shape` may be the same handle */

  PetscFunctionBegin;
  PetscCheck(*part, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "A placed shape needs a part");
  PetscCall(CheckPositive("The scale of a shape", scale));
  PetscCall(CheckFinite("The rotation of a shape", rotation));
  PetscCall(CheckFinite("The translation of a shape", translation));
  PetscCall(CreateKind(KIND_PLACED, &placed));
  PetscCall(PetscMalloc1(1, &placed->parts));
  placed->part_count = 1;
  placed->parts[0] = *part;
  placed->scale = scale;
  placed->rotation = quaternion_from_rotation(rotation);
  placed->translation = translation;
  *part = NULL;
  *shape = placed;
  PetscFunctionReturn(0);
}

PetscErrorCode ShapeDestroy(Shape *shape)
{
  PetscFunctionBegin;
  if (!*shape)
    PetscFunctionReturn(0);
  PetscCall(SurfaceDestroy(&(*shape)->surface));
  for (PetscInt n = 0; n < (*shape)->part_count; n++)
    PetscCall(ShapeDestroy(&(*shape)->parts[n]));
  PetscCall(PetscFree((*shape)->parts));
  PetscCall(PetscFree(*shape));
  PetscFunctionReturn(0);
}

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

PetscReal shape_distance(Shape shape, Vector3 point)
{
  const Vector3 arm = vector3_subtract(point, shape->center);
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
  case KIND_TORUS:
    split_along_axis(arm, shape->axis, split);
    return hypot(split[0], split[1] - shape->reach) - shape->radius;
  case KIND_PLANE:
    return vector3_dot(arm, shape->axis);
  case KIND_SURFACE:
    return surface_distance(shape->surface, point);
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

/* Open everywhere but along an axis that the normal follows exactly. */
static Box plane_box(Shape shape)
{
  const PetscReal far = PETSC_INFINITY;
  Box             box = {vector3(-far, -far, -far), vector3(far, far, far)};

  for (int d = 0; d < DIM; d++) {
    if (shape->axis.at[d] == 1)
      box.high.at[d] = shape->center.at[d];
    if (shape->axis.at[d] == -1)
      box.low.at[d] = shape->center.at[d];
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
  Box           box;
  const Vector3 half = half_extent(shape);

  switch (shape->kind) {
  case KIND_PLANE:
    box = plane_box(shape);
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
    box = (Box){vector3_subtract(shape->center, half), vector3_add(shape->center, half)};
  }
  *low = box.low;
  *high = box.high;
}
