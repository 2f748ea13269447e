/* Boxes around forms, held against many points of their surfaces. */
#include <millrace/base.h>
#include "harness.h"
#include "solid/contact/broad/pairs.h"

#include <math.h>

enum { ROUND = 400, TURNS = 5 };

static const RigidTransform stands[TURNS] = {{{{1, 2, 3}}, {1, {{0, 0, 0}}}},
                                             {{{0, -1, 0}}, {0.5, {{0.5, 0.5, 0.5}}}},
                                             {{{4, 0, 7}}, {0.8, {{0.6, 0, 0}}}},
                                             {{{0, 0, -9}}, {0.1, {{0.3, -0.9, 0.3}}}},
                                             {{{0, 0, 0}}, {-0.7, {{0.1, 0.1, 0.7}}}}};

/* A point of the surface by two angles; all extreme points are among them. */
static Vector3 surface_point(const Form *form, PetscReal around, PetscReal up)
{
  const PetscReal r = form->radius, c = cos(around), s = sin(around), half = form->half.at[Z];

  switch (form->kind) {
  case FORM_SPHERE:
    return vector3(r * cos(up) * c, r * cos(up) * s, r * sin(up));
  case FORM_CAPSULE:
    return vector3(r * cos(up) * c, r * cos(up) * s, r * sin(up) + (sin(up) < 0 ? -half : half));
  case FORM_CYLINDER:
    return vector3(r * c, r * s, up < 0 ? -half : half);
  case FORM_CONE:
    return up < 0 ? vector3(r * c, r * s, form->base) : vector3(0, 0, form->tip);
  case FORM_TORUS:
    return vector3((form->major + r * cos(up)) * c, (form->major + r * cos(up)) * s, r * sin(up));
  case FORM_BOX:
    return vector3(c < 0 ? -form->half.at[X] : form->half.at[X], s < 0 ? -form->half.at[Y] : form->half.at[Y],
                   up < 0 ? -half : half);
  default:
    return vector3(c < 0 ? form->low.at[X] : form->high.at[X], s < 0 ? form->low.at[Y] : form->high.at[Y],
                   up < 0 ? form->low.at[Z] : form->high.at[Z]);
  }
}

/* The points may miss the extreme ones by the sagitta of a step. */
static void assert_tight(const Form *form, const RigidTransform *stand)
{
  const PetscReal      norm = sqrt(stand->rotation.scalar * stand->rotation.scalar +
                                   vector3_dot(stand->rotation.vector, stand->rotation.vector));
  const RigidTransform at = {
      stand->position, {stand->rotation.scalar / norm, vector3_scale(1 / norm, stand->rotation.vector)}};
  const Bounds    bounds = form_bounds(form, &at);
  const PetscReal step = 2 * PETSC_PI / ROUND;
  Bounds          seen = {{{1e9, 1e9, 1e9}}, {{-1e9, -1e9, -1e9}}};

  for (PetscInt i = 0; i < ROUND; i++)
    for (PetscInt j = 0; j < ROUND; j++) {
      const Vector3 point = rigid_apply(&at, surface_point(form, (i + 0.5) * step, (j + 0.5) * step - 4));

      for (PetscInt d = X; d < DIM; d++) {
        seen.low.at[d] = PetscMin(seen.low.at[d], point.at[d]);
        seen.high.at[d] = PetscMax(seen.high.at[d], point.at[d]);
      }
    }
  for (PetscInt d = X; d < DIM; d++) {
    assert_true(seen.low.at[d] >= bounds.low.at[d] - 1e-12 && seen.high.at[d] <= bounds.high.at[d] + 1e-12);
    assert_near(seen.low.at[d], bounds.low.at[d], 5e-4);
    assert_near(seen.high.at[d], bounds.high.at[d], 5e-4);
  }
}

static void boxes_around_forms_hold_them_tightly(void **state)
{
  const Form forms[] = {{.kind = FORM_SPHERE, .radius = 1.5},
                        {.kind = FORM_CAPSULE, .radius = 0.5, .half = {{0, 0, 1}}},
                        {.kind = FORM_BOX, .half = {{1, 2, 0.3}}},
                        {.kind = FORM_CYLINDER, .radius = 1, .half = {{0, 0, 0.4}}},
                        {.kind = FORM_CONE, .radius = 1, .base = -0.5, .tip = 1.5},
                        {.kind = FORM_TORUS, .radius = 0.3, .major = 1},
                        {.kind = FORM_HULL, .low = {{-1, -2, -3}}, .high = {{2, 1, 0.5}}},
                        {.kind = FORM_SURFACE, .low = {{-1, -2, -3}}, .high = {{2, 1, 0.5}}},
                        {.kind = FORM_SHELL, .low = {{-1, -2, -3}}, .high = {{2, 1, 0.5}}}};

  (void)state;
  for (size_t k = 0; k < sizeof(forms) / sizeof(*forms); k++)
    for (PetscInt turn = 0; turn < TURNS; turn++)
      assert_tight(&forms[k], &stands[turn]);
}

static void a_plane_ends_only_across_an_axis(void **state)
{
  const Form           plane = {.kind = FORM_PLANE};
  const RigidTransform floor = {{{1, 2, 3}}, {1, {{0, 0, 0}}}};
  const RigidTransform wall = {{{1, 2, 3}}, quaternion_from_rotation(vector3(0, -0.5 * PETSC_PI, 0))};
  const RigidTransform slope = {{{1, 2, 3}}, quaternion_from_rotation(vector3(1e-7, 0, 0))};
  Bounds               bounds = form_bounds(&plane, &floor);

  (void)state;
  assert_near(bounds.high.at[Z], 3, 0);
  assert_true(bounds.low.at[Z] == -PETSC_INFINITY && bounds.high.at[X] == PETSC_INFINITY);
  bounds = form_bounds(&plane, &wall);
  assert_near(bounds.low.at[X], 1, 0);
  assert_true(bounds.high.at[X] == PETSC_INFINITY && bounds.high.at[Z] == PETSC_INFINITY);
  bounds = form_bounds(&plane, &slope);
  for (PetscInt d = X; d < DIM; d++)
    assert_true(bounds.low.at[d] == -PETSC_INFINITY && bounds.high.at[d] == PETSC_INFINITY);
}

TEST_MAIN(cmocka_unit_test(boxes_around_forms_hold_them_tightly),
          cmocka_unit_test(a_plane_ends_only_across_an_axis))
