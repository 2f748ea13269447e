/* Forms and placements for the tests of contact by points. For tests on one rank. */
#ifndef MILLRACE_TESTS_SAMPLED_SCENE_H
#define MILLRACE_TESTS_SAMPLED_SCENE_H

#include "harness.h"
#include "solids.h"
#include "solid/contact/narrow/touch_kinds.h"
#include "solid/contact/narrow/samples.h"

#include <math.h>

/* Takes the shape, which is centred at the origin with its axis along z. */
static inline Form *form_of(Shape shape, PetscReal thickness)
{
  Form          *form;
  RigidTransform rest;
  char           message[512];

  assert_success(FormCreate(shape, thickness, &form, &rest, message, sizeof message));
  assert_non_null(form);
  assert_success(ShapeDestroy(&shape));
  return form;
}

static inline Form *make_cylinder(PetscReal radius, PetscReal half)
{
  Shape shape;

  assert_success(ShapeCreateCylinder(vector3(0, 0, -half), vector3(0, 0, half), radius, &shape));
  return form_of(shape, 0);
}

static inline Form *make_torus(PetscReal major, PetscReal minor)
{
  Shape shape;

  assert_success(ShapeCreateTorus(vector3(0, 0, 0), vector3(0, 0, 1), major, minor, &shape));
  return form_of(shape, 0);
}

static inline Form *make_sphere(PetscReal radius)
{
  Shape shape;

  assert_success(ShapeCreateSphere(vector3(0, 0, 0), radius, &shape));
  return form_of(shape, 0);
}

static inline Form *make_solid_box(Vector3 half)
{
  Shape shape;

  assert_success(ShapeCreateBox(vector3_scale(-1, half), half, &shape));
  return form_of(shape, 0);
}

static inline Form *make_surface(Surface surface, PetscReal thickness)
{
  Shape shape;

  assert_success(ShapeCreateSurface(&surface, &shape));
  return form_of(shape, thickness);
}

static inline void destroy(Form *first, Form *second)
{
  assert_success(FormDestroy(&first));
  assert_success(FormDestroy(&second));
}

static inline RigidTransform at(Vector3 position, Vector3 rotation)
{
  return (RigidTransform){position, quaternion_from_rotation(rotation)};
}

/* The whole scene moved and turned, so that no direction is special. */
static inline RigidTransform carried(RigidTransform placement)
{
  const RigidTransform carrier = at(vector3(3, -4, 5), vector3(0.4, 1.1, -0.7));

  return (RigidTransform){rigid_apply(&carrier, placement.position),
                          quaternion_multiply(carrier.rotation, placement.rotation)};
}

/* Finds the touches in the carried scene and brings them back. */
static inline PetscInt find(const Form *a, RigidTransform at_a, const Form *b, RigidTransform at_b,
                            PetscReal reach, Touch touches[TOUCH_CAPACITY])
{
  const RigidTransform carrier = carried(at(vector3(0, 0, 0), vector3(0, 0, 0))), first = carried(at_a),
                       second = carried(at_b);
  const PetscInt count = find_touches(a, &first, b, &second, reach, touches);

  assert_true(count >= 0 && count <= TOUCH_CAPACITY);
  for (PetscInt n = 0; n < count; n++) {
    touches[n].point = rigid_apply_inverse(&carrier, touches[n].point);
    touches[n].normal = quaternion_rotate(quaternion_conjugate(carrier.rotation), touches[n].normal);
    assert_true(touches[n].gap <= reach);
    assert_near(vector3_norm(touches[n].normal), 1, 1e-9);
  }
  return count;
}

static inline const Touch *deepest(PetscInt count, const Touch touches[])
{
  const Touch *found = &touches[0];

  assert_true(count > 0);
  for (PetscInt n = 1; n < count; n++)
    found = touches[n].gap < found->gap ? &touches[n] : found;
  return found;
}

static inline void assert_vector(Vector3 a, Vector3 b, PetscReal tolerance)
{
  for (int d = 0; d < DIM; d++)
    assert_near(a.at[d], b.at[d], tolerance);
}

static const Vector3 upright = {{0, 0, 0}};

#endif
