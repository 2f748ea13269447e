/* Contact by points: round bodies with rims, and rings. */
#include "sampled_scene.h"

static void crossed_cylinders_touch_in_one_point(void **state)
{
  Form *thick = make_cylinder(0.5, 2), *thin = make_cylinder(0.1, 1.5);
  Touch touches[TOUCH_CAPACITY];

  (void)state;
  /* the first lies along x, the second above it at many angles, off its middle */
  for (int k = 1; k < 18; k++) {
    for (int side = -1; side <= 1; side++) {
      const PetscReal      gap = 0.02 * side, turn = 0.3 + 0.13 * k;
      const RigidTransform low = at(vector3(0.07 * k - 0.6, 0, 0), vector3(0, PETSC_PI / 2, 0));
      RigidTransform       high = at(vector3(0, 0, 0.6 + gap), vector3(0, PETSC_PI / 2, 0));
      PetscInt             count;

      high.rotation = quaternion_multiply(quaternion_from_rotation(vector3(0, 0, turn)), high.rotation);
      count = find(thick, low, thin, high, 0.05, touches);
      assert_int_equal(count, 1);
      assert_near(touches[0].gap, gap, 1e-6);
      assert_vector(touches[0].normal, vector3(0, 0, 1), 2e-3);
      assert_vector(touches[0].point, vector3(0, 0, 0.5 + 0.5 * gap), 2e-3);
      assert_int_equal(touches[0].feature, 0);
    }
  }
  destroy(thick, thin);
}

static void parallel_cylinders_touch_along_a_line(void **state)
{
  Form                *cylinder = make_cylinder(0.5, 1);
  const RigidTransform low = at(vector3(0, 0, 0), vector3(PETSC_PI / 2, 0, 0));
  Touch                touches[TOUCH_CAPACITY];
  PetscReal            least = PETSC_INFINITY, most = -PETSC_INFINITY;
  PetscInt             count;

  (void)state;
  for (int k = 0; k < 5; k++) {
    RigidTransform high = at(vector3(0, 0.5, 0.99), vector3(PETSC_PI / 2, 0, 0));

    high.rotation = quaternion_multiply(high.rotation, quaternion_from_rotation(vector3(0, 0, 0.05 * k)));
    count = find(cylinder, low, cylinder, high, 0.005, touches);
    assert_true(count >= 2);
    for (PetscInt n = 0; n < count; n++) {
      assert_near(touches[n].gap, -0.01, 1e-6);
      assert_vector(touches[n].normal, vector3(0, 0, 1), 2e-3);
      least = PetscMin(least, touches[n].point.at[Y]);
      most = PetscMax(most, touches[n].point.at[Y]);
    }
    assert_near(least, -0.5, 0.1);
    assert_near(most, 1, 0.1);
  }
  assert_success(FormDestroy(&cylinder));
}

static void a_cylinder_stands_on_a_box(void **state)
{
  Form *box = make_solid_box(vector3(2, 2, 0.5)), *cylinder = make_cylinder(0.5, 1);
  Touch touches[TOUCH_CAPACITY];

  (void)state;
  for (int k = 0; k < 5; k++) {
    const PetscInt count = find(box, at(vector3(0, 0, 0), upright), cylinder,
                                at(vector3(0.3, 0.2, 1.499), vector3(1e-4 * k, 0, 0.1 * k)), 0.01, touches);
    Vector3        sum = vector3(0, 0, 0);

    assert_int_equal(count, 4);
    for (int n = 0; n < 4; n++) {
      const Vector3 arm = vector3_subtract(touches[n].point, vector3(0.3, 0.2, touches[n].point.at[Z]));

      assert_near(touches[n].gap, -0.001, 3e-4);
      assert_near(touches[n].normal.at[Z], 1, 1e-9);
      assert_near(vector3_norm(arm), 0.5, 1e-2);
      sum = vector3_add(sum, arm);
    }
    assert_true(vector3_norm(sum) < 0.15);
  }
  destroy(box, cylinder);
}

/* It rolls: the same two points at each angle, not those of the triangles. */
static void a_cylinder_lies_on_a_box(void **state)
{
  Form *box = make_solid_box(vector3(2, 2, 0.5)), *cylinder = make_cylinder(0.5, 1);
  Touch touches[TOUCH_CAPACITY];

  (void)state;
  for (int k = 0; k < 8; k++) {
    RigidTransform lying = at(vector3(0, 0, 0.999), vector3(PETSC_PI / 2, 0, 0));
    PetscInt       count;

    lying.rotation = quaternion_multiply(lying.rotation, quaternion_from_rotation(vector3(0, 0, 0.04 * k)));
    count = find(box, at(vector3(0, 0, 0), upright), cylinder, lying, 0.001, touches);
    assert_int_equal(count, 2);
    for (int n = 0; n < 2; n++) {
      assert_near(touches[n].gap, -0.001, 1e-6);
      assert_near(touches[n].point.at[X], 0, 2e-3);
      assert_near(PetscAbsReal(touches[n].point.at[Y]), 1, 1e-6);
    }
    assert_true(touches[0].point.at[Y] * touches[1].point.at[Y] < 0);
  }
  destroy(box, cylinder);
}

static void a_tilted_cylinder_touches_a_box_with_its_rim(void **state)
{
  Form *box = make_solid_box(vector3(2, 2, 0.5)), *cylinder = make_cylinder(0.5, 1);
  Touch touches[TOUCH_CAPACITY];

  (void)state;
  for (int k = 0; k < 12; k++) {
    const PetscReal tilt = 0.1 + 0.1 * k, low = 0.5 * PetscSinReal(tilt) + PetscCosReal(tilt);
    RigidTransform  leaning = at(vector3(0, 0, 0.5 + low - 0.003), vector3(tilt, 0, 0));
    PetscInt        count;

    leaning.rotation =
        quaternion_multiply(leaning.rotation, quaternion_from_rotation(vector3(0, 0, 0.05 * k)));
    count = find(box, at(vector3(0, 0, 0), upright), cylinder, leaning, 0, touches);
    assert_int_equal(count, 1);
    assert_near(touches[0].gap, -0.003, 1e-6);
    assert_near(touches[0].point.at[X], 0, 2e-3);
    assert_near(touches[0].normal.at[Z], 1, 1e-9);
  }
  destroy(box, cylinder);
}

static void linked_rings_touch_inside(void **state)
{
  Form                *ring = make_torus(1, 0.2);
  const RigidTransform first = at(vector3(0, 0, 0), upright);
  Touch                touches[TOUCH_CAPACITY];

  (void)state;
  /* the second ring stands in the plane y = 0 and is pulled along x until the tubes meet in x = 1 */
  for (int k = 0; k < 8; k++) {
    for (int side = -1; side <= 1; side++) {
      const PetscReal      gap = 0.01 * side, pulled = 1.6 - gap;
      const RigidTransform second = at(vector3(pulled, 0, 0), vector3(PETSC_PI / 2, 0, 0));
      RigidTransform       spun = second;
      PetscInt             count;

      spun.rotation = quaternion_multiply(second.rotation, quaternion_from_rotation(vector3(0, 0, 0.05 * k)));
      count = find(ring, first, ring, spun, 0.02, touches);
      assert_int_equal(count, 1);
      assert_near(touches[0].gap, gap, 1e-6);
      /* the tube of the first, about x = 1, is to the right of that of the second, about x = 0.6 - gap */
      assert_vector(touches[0].normal, vector3(-1, 0, 0), 2e-3);
      assert_vector(touches[0].point, vector3(0.8 - 0.5 * gap, 0, 0), 2e-3);
    }
  }
  assert_success(FormDestroy(&ring));
}

static void a_ring_lies_on_a_ring_all_around(void **state)
{
  Form    *ring = make_torus(1, 0.2);
  Touch    touches[TOUCH_CAPACITY];
  PetscInt quadrants = 0, count;

  (void)state;
  count = find(ring, at(vector3(0, 0, 0), upright), ring, at(vector3(0, 0, 0.399), vector3(0, 0, 0.1)), 0.005,
               touches);
  assert_int_equal(count, 4);
  for (PetscInt n = 0; n < count; n++) {
    assert_near(touches[n].gap, -0.001, 1e-6);
    assert_near(hypot(touches[n].point.at[X], touches[n].point.at[Y]), 1, 2e-3);
    quadrants |= 1 << ((touches[n].point.at[X] > 0) + 2 * (touches[n].point.at[Y] > 0));
  }
  assert_int_equal(quadrants, 15);
  destroy(ring, NULL);
}

static void a_ball_sits_on_a_ring(void **state)
{
  Form           *ring = make_torus(1, 0.2), *ball = make_sphere(1.1);
  const PetscReal height = PetscSqrtReal(1.3 * 1.3 - 1) - 0.002;
  Touch           touches[TOUCH_CAPACITY];
  Vector3         sum = vector3(0, 0, 0);
  PetscInt        count;

  (void)state;
  count = find(ball, at(vector3(0, 0, height), upright), ring, at(vector3(0, 0, 0), upright), 0.001, touches);
  assert_true(count >= 3);
  for (PetscInt n = 0; n < count; n++) {
    assert_near(touches[n].gap, hypot(1, height) - 1.3, 1e-6);
    sum = vector3_add(sum, vector3_scale(1 / (PetscReal)count, touches[n].normal));
  }
  /* held from all sides */
  assert_true(hypot(sum.at[X], sum.at[Y]) < 0.3);
  assert_true(sum.at[Z] < -0.5);
  destroy(ring, ball);
}

static void a_cone_touches_a_sphere_with_its_tip_and_its_side(void **state)
{
  Shape           shape;
  Form           *cone, *ball = make_sphere(0.5);
  const PetscReal half_angle = PetscAtanReal(0.5);
  Touch           touches[TOUCH_CAPACITY];
  Vector3         outward = vector3(PetscCosReal(half_angle), 0, PetscSinReal(half_angle)), place;

  (void)state;
  assert_success(ShapeCreateCone(vector3(0, 0, 0), vector3(0, 0, 1), 0.5, &shape));
  cone = form_of(shape, 0);
  assert_int_equal(find(ball, at(vector3(0, 0, cone->tip + 0.49), upright), cone,
                        at(vector3(0, 0, 0), upright), 0, touches),
                   1);
  assert_near(touches[0].gap, -0.01, 1e-6);
  assert_vector(touches[0].normal, vector3(0, 0, -1), 1e-3);
  place = vector3_add(vector3(0.2, 0, cone->tip - 0.4), vector3_scale(0.51, outward));
  assert_int_equal(find(ball, at(place, upright), cone, at(vector3(0, 0, 0), upright), 0.02, touches), 1);
  assert_near(touches[0].gap, 0.01, 1e-6);
  assert_vector(touches[0].normal, vector3_scale(-1, outward), 2e-3);
  destroy(cone, ball);
}

static void long_edges_carry_samples(void **state)
{
  Form         *box = make_solid_box(vector3(1, 1, 1));
  const Samples samples = box->samples;

  (void)state;
  assert_int_equal(samples->count, 8 + 12 * 15);
  for (PetscInt n = 0; n < samples->count; n++) {
    PetscReal nearest = PETSC_INFINITY;

    for (PetscInt m = 0; m < samples->count; m++) {
      if (m != n)
        nearest =
            PetscMin(nearest, vector3_norm(vector3_subtract(samples->all[n].point, samples->all[m].point)));
    }
    assert_near(nearest, 0.125, 1e-12);
  }
  assert_success(FormDestroy(&box));
}

/* Between overlapping edges no point is nearest; each is deepest where two faces of the other are equally
 * far. */
static void edges_that_have_sunk_in_are_touched(void **state)
{
  Form                *box = make_solid_box(vector3(1, 1, 1));
  const RigidTransform low = carried(at(vector3(0, 0, 0), vector3(PETSC_PI / 4, 0, 0)));
  const Vector3        up = vector3_subtract(carried(at(vector3(0, 0, 1), upright)).position, low.position);

  (void)state;
  for (int k = 0; k < 5; k++) {
    const RigidTransform high =
        carried(at(vector3(0.1 * k, 0.05 * k, 2 * PetscSqrtReal(2) - 0.02), vector3(0, PETSC_PI / 4, 0)));
    Touch          touches[TOUCH_CAPACITY];
    const PetscInt count = touch_sampled(box, &low, box, &high, 0, touches);

    assert_int_equal(count, 1);
    assert_true(touches[0].gap > -0.02 && touches[0].gap < -0.005);
    assert_true(vector3_dot(touches[0].normal, up) > 0.7);
  }
  assert_success(FormDestroy(&box));
}

TEST_MAIN(cmocka_unit_test(crossed_cylinders_touch_in_one_point),
          cmocka_unit_test(parallel_cylinders_touch_along_a_line),
          cmocka_unit_test(a_cylinder_stands_on_a_box), cmocka_unit_test(a_cylinder_lies_on_a_box),
          cmocka_unit_test(a_tilted_cylinder_touches_a_box_with_its_rim),
          cmocka_unit_test(linked_rings_touch_inside), cmocka_unit_test(a_ring_lies_on_a_ring_all_around),
          cmocka_unit_test(a_ball_sits_on_a_ring),
          cmocka_unit_test(a_cone_touches_a_sphere_with_its_tip_and_its_side),
          cmocka_unit_test(long_edges_carry_samples), cmocka_unit_test(edges_that_have_sunk_in_are_touched))
