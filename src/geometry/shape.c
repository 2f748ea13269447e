/* The life of shapes. */
#include "geometry_impl.h"

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

PetscErrorCode ShapeCreateSphere(Vector3 centre, PetscReal radius, Shape *shape)
{
  PetscFunctionBegin;
  *shape = NULL;
  PetscCall(CheckFinite("The centre of a sphere", centre));
  PetscCall(CheckPositive("The radius of a sphere", radius));
  PetscCall(CreateKind(KIND_SPHERE, shape));
  (*shape)->centre = centre;
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
  (*shape)->centre = vector3_scale(0.5, vector3_add(low, high));
  (*shape)->half = vector3_scale(0.5, vector3_subtract(high, low));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateRod(ShapeKind kind, Vector3 from, Vector3 to, PetscReal radius, Shape *shape)
{
  Vector3 axis;

  PetscFunctionBegin;
  *shape = NULL;
  PetscCall(CheckFinite("An end of a cylinder, capsule or cone", from));
  PetscCall(CheckFinite("An end of a cylinder, capsule or cone", to));
  PetscCall(Normalize("The length of a cylinder, capsule or cone", vector3_subtract(to, from), &axis));
  PetscCall(CheckPositive("The radius of a cylinder, capsule or cone", radius));
  PetscCall(CreateKind(kind, shape));
  (*shape)->centre = vector3_scale(0.5, vector3_add(from, to));
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

PetscErrorCode ShapeCreateCone(Vector3 base_centre, Vector3 tip, PetscReal radius, Shape *shape)
{
  PetscFunctionBegin;
  PetscCall(CreateRod(KIND_CONE, base_centre, tip, radius, shape));
  PetscFunctionReturn(0);
}

PetscErrorCode ShapeCreateTorus(Vector3 centre, Vector3 axis, PetscReal major, PetscReal minor, Shape *shape)
{
  Vector3 unit;

  PetscFunctionBegin;
  *shape = NULL;
  PetscCall(CheckFinite("The centre of a torus", centre));
  PetscCall(Normalize("The axis of a torus", axis, &unit));
  PetscCall(CheckPositive("The minor radius of a torus", minor));
  PetscCheck(isfinite(major) && major >= minor, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "The major radius of a torus must not be below the minor one: %g and %g", (double)major,
             (double)minor);
  PetscCall(CreateKind(KIND_TORUS, shape));
  (*shape)->centre = centre;
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
  (*shape)->centre = point;
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

PetscErrorCode ShapeCreateFormula(Formula *formula, Shape *shape)
{
  PetscFunctionBegin;
  *shape = NULL;
  PetscCheck(*formula, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "A shape needs a formula");
  PetscCall(CreateKind(KIND_FORMULA, shape));
  (*shape)->formula = *formula;
  *formula = NULL;
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

PetscErrorCode ShapeFindFault(Shape shape, SurfaceFault *fault)
{
  PetscFunctionBegin;
  *fault = SURFACE_SOUND;
  if (shape->surface)
    PetscCall(SurfaceFindFault(shape->surface, fault));
  for (PetscInt p = 0; p < shape->part_count && *fault == SURFACE_SOUND; p++)
    PetscCall(ShapeFindFault(shape->parts[p], fault));
  PetscFunctionReturn(0);
}

PetscErrorCode ShapeDropSurfaces(Shape shape)
{
  PetscFunctionBegin;
  PetscCall(SurfaceDestroy(&shape->surface));
  for (PetscInt n = 0; n < shape->part_count; n++)
    PetscCall(ShapeDropSurfaces(shape->parts[n]));
  PetscFunctionReturn(0);
}

PetscErrorCode ShapeDestroy(Shape *shape)
{
  PetscFunctionBegin;
  if (!*shape)
    PetscFunctionReturn(0);
  PetscCall(SurfaceDestroy(&(*shape)->surface));
  PetscCall(FormulaDestroy(&(*shape)->formula));
  for (PetscInt n = 0; n < (*shape)->part_count; n++)
    PetscCall(ShapeDestroy(&(*shape)->parts[n]));
  PetscCall(PetscFree((*shape)->parts));
  PetscCall(PetscFree(*shape));
  PetscFunctionReturn(0);
}
