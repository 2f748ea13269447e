/* Shapes with closed formulas: what they are in their own frame, and their volume, centre and inertia. */
#include "geometry_impl.h"

/* Turns z to `axis`: from the nearer one of z and -z the short way, which is exact everywhere. */
static Quaternion rotation_to(Vector3 axis)
{
  const Quaternion half_turn = {0, vector3(1, 0, 0)};
  const PetscReal  sign = axis.at[Z] < 0 ? -1 : 1;
  Quaternion       turn = {1 + sign * axis.at[Z], vector3(-sign * axis.at[Y], sign * axis.at[X], 0)};
  const PetscReal  norm = hypot(turn.scalar, vector3_norm(turn.vector));

  turn = (Quaternion){turn.scalar / norm, vector3_scale(1 / norm, turn.vector)};
  return sign < 0 ? quaternion_multiply(turn, half_turn) : turn;
}

static Primitive primitive_of(Shape shape)
{
  static const PrimitiveKind kinds[] = {
      [KIND_SPHERE] = PRIMITIVE_SPHERE,     [KIND_BOX] = PRIMITIVE_BOX,
      [KIND_CYLINDER] = PRIMITIVE_CYLINDER, [KIND_CAPSULE] = PRIMITIVE_CAPSULE,
      [KIND_CONE] = PRIMITIVE_CONE,         [KIND_TORUS] = PRIMITIVE_TORUS,
      [KIND_PLANE] = PRIMITIVE_PLANE,       [KIND_SURFACE] = PRIMITIVE_SURFACE,
      [KIND_FORMULA] = PRIMITIVE_NONE,      [KIND_COMBINATION] = PRIMITIVE_NONE,
      [KIND_PLACED] = PRIMITIVE_NONE};
  const PetscBool has_axis = vector3_norm(shape->axis) > 0 ? PETSC_TRUE : PETSC_FALSE;

  return (Primitive){.kind = kinds[shape->kind],
                     .centre = shape->centre,
                     .rotation = rotation_to(has_axis ? shape->axis : vector3(0, 0, 1)),
                     .half = shape->half,
                     .radius = shape->radius,
                     .reach = shape->reach,
                     .surface = shape->surface,
                     .scale = 1};
}

Primitive shape_primitive(Shape shape)
{
  Primitive primitive;

  if (shape->part_count != 1)
    return primitive_of(shape);
  primitive = shape_primitive(shape->parts[0]);
  if (shape->kind != KIND_PLACED)
    return primitive; /* a combination of one */
  primitive.centre = quaternion_rotate(shape->rotation, vector3_scale(shape->scale, primitive.centre));
  primitive.centre = vector3_add(primitive.centre, shape->translation);
  primitive.rotation = quaternion_multiply(shape->rotation, primitive.rotation);
  primitive.half = vector3_scale(shape->scale, primitive.half);
  primitive.radius *= shape->scale;
  primitive.reach *= shape->scale;
  primitive.scale *= shape->scale;
  return primitive;
}

static Moments round_moments(PetscReal volume, PetscReal height, PetscReal across, PetscReal along)
{
  Moments moments = {.volume = volume, .centre = vector3(0, 0, height)};

  moments.inertia[X][X] = moments.inertia[Y][Y] = volume * across;
  moments.inertia[Z][Z] = volume * along;
  return moments;
}

static Moments box_moments(Vector3 half)
{
  Moments   moments = {.volume = 8 * half.at[X] * half.at[Y] * half.at[Z]};
  PetscReal square = vector3_dot(half, half);

  for (int d = 0; d < DIM; d++)
    moments.inertia[d][d] = moments.volume / 3 * (square - half.at[d] * half.at[d]);
  return moments;
}

/* A cylinder of half length h and two half balls, whose centres of mass are 3/8 r beyond its ends. */
static Moments capsule_moments(PetscReal r, PetscReal h)
{
  const PetscReal rod = 2 * PETSC_PI * r * r * h, ball = 4 * PETSC_PI / 3 * r * r * r;
  const PetscReal along = rod * r * r / 2 + ball * 2 * r * r / 5;
  const PetscReal across = rod * (r * r / 4 + h * h / 3) + ball * (2 * r * r / 5 + h * h + 3 * r * h / 4);

  return round_moments(rod + ball, 0, across / (rod + ball), along / (rod + ball));
}

static Moments scaled_moments(Moments moments, PetscReal scale)
{
  moments.volume *= scale * scale * scale;
  moments.centre = vector3_scale(scale, moments.centre);
  for (int i = 0; i < DIM; i++) {
    for (int j = 0; j < DIM; j++)
      moments.inertia[i][j] *= PetscPowRealInt(scale, 5);
  }
  return moments;
}

Moments primitive_moments(const Primitive *primitive)
{
  const PetscReal r = primitive->radius, h = primitive->reach;

  switch (primitive->kind) {
  case PRIMITIVE_SPHERE:
    return round_moments(4 * PETSC_PI / 3 * r * r * r, 0, 2 * r * r / 5, 2 * r * r / 5);
  case PRIMITIVE_BOX:
    return box_moments(primitive->half);
  case PRIMITIVE_CYLINDER:
    return round_moments(2 * PETSC_PI * r * r * h, 0, r * r / 4 + h * h / 3, r * r / 2);
  case PRIMITIVE_CAPSULE:
    return capsule_moments(r, h);
  case PRIMITIVE_CONE: /* of height 2 h */
    return round_moments(2 * PETSC_PI / 3 * r * r * h, -h / 2, 3 * (r * r + h * h) / 20, 3 * r * r / 10);
  case PRIMITIVE_TORUS:
    return round_moments(2 * PETSC_PI * PETSC_PI * h * r * r, 0, h * h / 2 + 5 * r * r / 8,
                         h * h + 3 * r * r / 4);
  case PRIMITIVE_SURFACE:
    return scaled_moments(surface_moments(primitive->surface), primitive->scale);
  default:
    return (Moments){.volume = 0};
  }
}
