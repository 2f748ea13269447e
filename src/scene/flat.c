/* Bodies of a scene in two dimensions: prisms that reach from z = -1/2 to 1/2, so that masses are those of a
   metre of depth. Shells are tubes without ends, which would weigh something. */
#include "scene_impl.h"

#include <math.h>

enum { SEGMENTS = 64 }; /* of a round shell */
static const PetscReal half_depth = 0.5, round_off = 1e-9;

static PetscBool is_upright(const Primitive *primitive)
{
  const Vector3 axis = quaternion_rotate(primitive->rotation, vector3(0, 0, 1));

  return hypot(axis.at[X], axis.at[Y]) < round_off ? PETSC_TRUE : PETSC_FALSE;
}

static PetscBool has_unit_depth(Shape shape)
{
  Vector3 low, high;

  shape_bounds(shape, &low, &high);
  return PetscAbsReal(low.at[Z] + half_depth) < round_off && PetscAbsReal(high.at[Z] - half_depth) < round_off
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Its walls alone, of a closed surface whose ends lie in planes across z. */
static PetscErrorCode CreateTube(const Primitive *primitive, Shape *tube)
{
  PetscInt       vertex_count, triangle_count, kept = 0;
  const Vector3 *vertices;
  const PetscInt(*triangles)[3];
  PetscInt(*walls)[3];
  Surface surface, open;

  PetscFunctionBegin;
  PetscCall(SurfaceCreatePrimitive(primitive, SEGMENTS, &surface));
  PetscCall(SurfaceGet(surface, &vertex_count, &vertices, &triangle_count, &triangles));
  PetscCall(PetscMalloc1(triangle_count, &walls));
  for (PetscInt t = 0; t < triangle_count; t++) {
    const PetscReal z = vertices[triangles[t][0]].at[Z];

    if (vertices[triangles[t][1]].at[Z] != z || vertices[triangles[t][2]].at[Z] != z)
      PetscCall(PetscArraycpy(walls[kept++], triangles[t], 3));
  }
  PetscCall(SurfaceCreate(vertex_count, vertices, kept, (const PetscInt(*)[3])walls, &open));
  PetscCall(PetscFree(walls));
  PetscCall(SurfaceDestroy(&surface));
  PetscCall(ShapeCreateSurface(&open, tube));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreatePrism(const Primitive *primitive, PetscReal thickness, Shape *prism)
{
  const Vector3   along = quaternion_rotate(primitive->rotation, vector3(1, 0, 0));
  const Vector3   centre = vector3(primitive->centre.at[X], primitive->centre.at[Y], 0);
  const PetscReal r = primitive->radius;
  Primitive       flat = {.kind = PRIMITIVE_CYLINDER, .radius = r, .reach = half_depth};
  Shape           part;

  PetscFunctionBegin;
  if (primitive->kind == PRIMITIVE_BOX) {
    flat = (Primitive){.kind = PRIMITIVE_BOX, .half = primitive->half};
    flat.half.at[Z] = half_depth;
  }
  if (thickness > 0.)
    PetscCall(CreateTube(&flat, &part));
  else if (primitive->kind == PRIMITIVE_BOX)
    PetscCall(ShapeCreateBox(vector3_scale(-1, flat.half), flat.half, &part));
  else
    PetscCall(ShapeCreateCylinder(vector3(0, 0, -half_depth), vector3(0, 0, half_depth), r, &part));
  PetscCall(ShapeCreatePlaced(&part, 1., vector3(0, 0, atan2(along.at[Y], along.at[X])), centre, prism));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneFlattenBody(Scene scene, Node *item, BodyConfig *body)
{
  const Primitive primitive = shape_primitive(body->shape);
  const PetscBool is_round =
      primitive.kind == PRIMITIVE_SPHERE || (primitive.kind == PRIMITIVE_CYLINDER && is_upright(&primitive))
          ? PETSC_TRUE
          : PETSC_FALSE;
  Shape given = body->shape;

  PetscFunctionBegin;
  if (is_round || primitive.kind == PRIMITIVE_BOX) {
    PetscCall(CreatePrism(&primitive, body->thickness, &body->shape));
    PetscCall(ShapeDestroy(&given));
  } else if (primitive.kind != PRIMITIVE_NONE && primitive.kind != PRIMITIVE_PLANE &&
             (primitive.kind != PRIMITIVE_SURFACE || !has_unit_depth(given)))
    PetscCall(ProblemAdd(scene, node_find(item, "shape"), PROBLEM_ERROR,
                         "body \"%s\": in two dimensions a body is a sphere (a disc), a cylinder along z, a "
                         "box, a plane, or a surface that reaches from z = -0.5 to 0.5",
                         body->name));
  PetscFunctionReturn(0);
}
