/* A plane against what is not simple. */
#include "harness.h"
#include "solids.h"
#include "solid/contact/narrow/touch_kinds.h"

static const Form plane = {.kind = FORM_PLANE};
/* Not level, so that no axis is special: its normal is the z-axis turned by this. */
static const Vector3 slope = {{0.3, -0.2, 0.4}};

static RigidTransform at_plane(void)
{
  return (RigidTransform){vector3(1, 2, 3), quaternion_from_rotation(slope)};
}

/* Above the plane by `height`, turned against it. */
static RigidTransform over_plane(PetscReal height, Vector3 rotation)
{
  const RigidTransform ground = at_plane();

  return (RigidTransform){rigid_apply(&ground, vector3(0.3, 0.7, height)),
                          quaternion_multiply(ground.rotation, quaternion_from_rotation(rotation))};
}

/* In the frame of the plane, checked for what all have in common. */
static PetscInt find(const Form *form, const RigidTransform *at, PetscReal reach,
                     Touch touches[TOUCH_CAPACITY])
{
  const RigidTransform ground = at_plane();
  const PetscInt       count = find_touches(&plane, &ground, form, at, reach, touches);

  for (PetscInt n = 0; n < count; n++) {
    touches[n].point = rigid_apply_inverse(&ground, touches[n].point);
    touches[n].normal = quaternion_rotate(quaternion_conjugate(ground.rotation), touches[n].normal);
    assert_near(touches[n].normal.at[Z], 1, 1e-12);
    assert_near(touches[n].point.at[Z], 0.5 * touches[n].gap, 1e-12);
    for (PetscInt m = 0; m < n; m++)
      assert_true(touches[m].feature != touches[n].feature);
  }
  return count;
}

static PetscReal deepest_gap(PetscInt count, const Touch touches[])
{
  PetscReal least = PETSC_INFINITY;

  for (PetscInt n = 0; n < count; n++)
    least = PetscMin(least, touches[n].gap);
  return least;
}

/* Four points on a circle, a quarter turn from one to the next. */
static void assert_square(PetscInt count, const Touch touches[], PetscReal radius)
{
  Vector3 sum = vector3(0, 0, 0);

  assert_int_equal(count, 4);
  for (int n = 0; n < 4; n++) {
    Vector3 arm = vector3_subtract(touches[n].point, vector3(0.3, 0.7, 0));

    arm.at[Z] = 0;
    assert_near(vector3_norm(arm), radius, 1e-6);
    sum = vector3_add(sum, arm);
    for (int m = 0; m < n; m++)
      assert_true(vector3_norm(vector3_subtract(touches[n].point, touches[m].point)) > 1.4 * radius);
  }
  assert_near(vector3_norm(sum), 0, 1e-6);
}

static void a_standing_cylinder_rests_on_four_points(void **state)
{
  const Form cylinder = {.kind = FORM_CYLINDER, .radius = 0.5, .half = {{0, 0, 1}}};
  Touch      touches[TOUCH_CAPACITY];

  (void)state;
  for (int k = 0; k < 4; k++) {
    const RigidTransform at = over_plane(0.99, vector3(k % 2 ? PETSC_PI : 0, k / 2 ? 1e-7 : 0, 0));
    const PetscInt       count = find(&cylinder, &at, 0, touches);

    assert_square(count, touches, 0.5);
    assert_near(deepest_gap(count, touches), -0.01, 1e-6);
  }
}

static void a_lying_cylinder_rests_on_two_points(void **state)
{
  const Form cylinder = {.kind = FORM_CYLINDER, .radius = 0.5, .half = {{0, 0, 1}}};
  Touch      touches[TOUCH_CAPACITY];

  (void)state;
  for (int k = -1; k <= 1; k++) {
    const RigidTransform at = over_plane(0.5, vector3(0, PETSC_PI / 2 + 1e-3 * k, 0));

    assert_int_equal(find(&cylinder, &at, 0.01, touches), 2);
    assert_near(touches[0].gap + touches[1].gap, 0, 1e-5);
    assert_near(vector3_norm(vector3_subtract(touches[0].point, touches[1].point)), 2, 1e-5);
    /* each end keeps its name, whichever is lower */
    assert_int_equal(touches[0].point.at[X] > touches[1].point.at[X],
                     touches[0].feature > touches[1].feature);
  }
}

/* Against all points of the two rims. */
static void a_tilted_cylinder_touches_with_its_lowest_point(void **state)
{
  const Form cylinder = {.kind = FORM_CYLINDER, .radius = 0.5, .half = {{0, 0, 1}}};
  uint64_t   seed = 5;

  (void)state;
  for (int n = 0; n < 50; n++) {
    const Vector3        turn = vector3_scale(3, random_direction(&seed));
    const RigidTransform at = over_plane(1, turn);
    PetscReal            lowest = PETSC_INFINITY;
    Touch                touches[TOUCH_CAPACITY];
    PetscInt             count;

    for (int k = 0; k < 20000; k++) {
      const PetscReal angle = PETSC_PI * k / 5000;
      const Vector3 local = vector3(0.5 * PetscCosReal(angle), 0.5 * PetscSinReal(angle), k < 10000 ? 1 : -1);

      lowest = PetscMin(lowest, 1 + quaternion_rotate(quaternion_from_rotation(turn), local).at[Z]);
    }
    count = find(&cylinder, &at, 2, touches);
    assert_true(count >= 1 && count <= 4);
    assert_near(deepest_gap(count, touches), lowest, 1e-6);
  }
}

static void a_cone_stands_on_its_base_and_lies_on_its_side(void **state)
{
  const Form           cone = {.kind = FORM_CONE, .radius = 0.5, .base = -0.25, .tip = 0.75};
  const PetscReal      half_angle = PetscAtanReal(0.5);
  const PetscReal      height = 0.75 * PetscSinReal(half_angle); /* of the centre above the side */
  const RigidTransform standing = over_plane(0.25, vector3(0, 0, 0));
  const RigidTransform lying = over_plane(height, vector3(0, PETSC_PI / 2 + half_angle, 0));
  const RigidTransform upside_down = over_plane(0.75, vector3(PETSC_PI, 0, 0));
  Touch                touches[TOUCH_CAPACITY];

  (void)state;
  assert_square(find(&cone, &standing, 1e-9, touches), touches, 0.5);
  assert_int_equal(find(&cone, &lying, 1e-9, touches), 2);
  assert_near(vector3_norm(vector3_subtract(touches[0].point, touches[1].point)), PetscSqrtReal(1.25), 1e-9);
  assert_int_equal(find(&cone, &upside_down, 1e-9, touches), 1);
  assert_near(touches[0].gap, 0, 1e-12);
}

static void a_torus_lies_on_four_points_and_rolls_on_one(void **state)
{
  const Form           torus = {.kind = FORM_TORUS, .radius = 0.2, .major = 1};
  const RigidTransform flat = over_plane(0.19, vector3(0, 0, 0));
  const RigidTransform upright = over_plane(1.25, vector3(PETSC_PI / 2, 0, 0));
  Touch                touches[TOUCH_CAPACITY];
  PetscInt             count;

  (void)state;
  count = find(&torus, &flat, 0, touches);
  assert_square(count, touches, 1);
  assert_near(deepest_gap(count, touches), -0.01, 1e-12);
  assert_int_equal(find(&torus, &upright, 0.1, touches), 1);
  assert_near(touches[0].gap, 0.05, 1e-12);
  assert_near(touches[0].point.at[X], 0.3, 1e-12);
}

static Form *make_form(Surface surface, PetscReal thickness)
{
  Shape          shape;
  Form          *form;
  RigidTransform rest;
  char           message[512];

  assert_success(ShapeCreateSurface(&surface, &shape));
  assert_success(FormCreate(shape, thickness, &form, &rest, message, sizeof message));
  assert_non_null(form);
  assert_success(ShapeDestroy(&shape));
  return form;
}

static void a_hull_rests_on_its_lowest_corners(void **state)
{
  Form                *prism = make_form(make_prism(0.5, 1, 8), 0);
  const RigidTransform standing = over_plane(0.99, vector3(0, 0, 0.3));
  Touch                touches[TOUCH_CAPACITY];
  PetscInt             count;

  (void)state;
  assert_int_equal(prism->kind, FORM_HULL);
  count = find(prism, &standing, 0, touches);
  assert_square(count, touches, 0.5);
  assert_near(deepest_gap(count, touches), -0.01, 1e-12);
  assert_success(FormDestroy(&prism));
}

static void a_surface_rests_on_its_lowest_vertices(void **state)
{
  Form                *ring = make_form(make_ring(1, 0.3, 16, 8), 0);
  const RigidTransform flat = over_plane(0.29, vector3(0, 0, 0));
  Touch                touches[TOUCH_CAPACITY];
  PetscInt             count;

  (void)state;
  assert_int_equal(ring->kind, FORM_SURFACE);
  count = find(ring, &flat, 0, touches);
  assert_square(count, touches, 1);
  assert_near(deepest_gap(count, touches), -0.01, 1e-12);
  assert_success(FormDestroy(&ring));
}

static void a_shell_rests_on_half_its_thickness(void **state)
{
  Form                *disc = make_form(make_disc(1, 4, 16), 0.1);
  const RigidTransform flat = over_plane(0.06, vector3(0, 0, 0));
  Touch                touches[TOUCH_CAPACITY];
  PetscInt             count;

  (void)state;
  assert_int_equal(disc->kind, FORM_SHELL);
  count = find(disc, &flat, 0.02, touches);
  assert_square(count, touches, 1);
  assert_near(deepest_gap(count, touches), 0.01, 1e-12);
  assert_success(FormDestroy(&disc));
}

TEST_MAIN(cmocka_unit_test(a_standing_cylinder_rests_on_four_points),
          cmocka_unit_test(a_lying_cylinder_rests_on_two_points),
          cmocka_unit_test(a_tilted_cylinder_touches_with_its_lowest_point),
          cmocka_unit_test(a_cone_stands_on_its_base_and_lies_on_its_side),
          cmocka_unit_test(a_torus_lies_on_four_points_and_rolls_on_one),
          cmocka_unit_test(a_hull_rests_on_its_lowest_corners),
          cmocka_unit_test(a_surface_rests_on_its_lowest_vertices),
          cmocka_unit_test(a_shell_rests_on_half_its_thickness))
