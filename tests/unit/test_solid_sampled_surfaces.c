/* Contact by points: surfaces and shells. */
#include "sampled_scene.h"

static void a_sphere_of_triangles_is_a_sphere(void **state)
{
  Form    *mesh = make_surface(make_ball(1, 31, 48), 0), *ball = make_sphere(0.5);
  uint64_t seed = 7;

  (void)state;
  assert_int_equal(mesh->kind, FORM_SURFACE);
  for (int n = 0; n < 100; n++) {
    const PetscReal      gap = 0.05 * random_number(&seed);
    const Vector3        direction = random_direction(&seed);
    const RigidTransform place = at(vector3_scale(1.5 + gap, direction), random_direction(&seed));
    Touch                touches[TOUCH_CAPACITY];
    PetscInt             count = find(ball, place, mesh, at(vector3(0, 0, 0), upright), 0.1, touches);
    const Touch         *touch = deepest(count, touches);

    /* the triangles are up to 0.005 inside the sphere, a cell of the grid is 0.04 */
    assert_near(touch->gap, gap, 0.008);
    assert_true(vector3_dot(touch->normal, direction) < -0.99);
    assert_vector(touch->point, vector3_scale(1 + 0.5 * gap, direction), 0.06);
  }
  destroy(mesh, ball);
}

static void two_surfaces_touch_like_the_spheres_they_are(void **state)
{
  Form    *mesh = make_surface(make_ball(1, 31, 48), 0);
  uint64_t seed = 8;

  (void)state;
  for (int n = 0; n < 50; n++) {
    const PetscReal      gap = 0.03 * random_number(&seed);
    const Vector3        direction = random_direction(&seed);
    const RigidTransform place = at(vector3_scale(2 + gap, direction), random_direction(&seed));
    Touch                touches[TOUCH_CAPACITY];
    PetscInt             count = find(mesh, at(vector3(0, 0, 0), upright), mesh, place, 0.06, touches);
    const Touch         *touch = deepest(count, touches);

    assert_near(touch->gap, gap, 0.015);
    assert_true(vector3_dot(touch->normal, direction) > 0.98);
  }
  destroy(mesh, NULL);
}

static void a_disc_is_hit_from_both_sides(void **state)
{
  Form *disc = make_surface(make_disc(1, 4, 24), 0.02), *ball = make_sphere(0.3);

  (void)state;
  for (int side = -1; side <= 1; side += 2) {
    for (int k = -1; k <= 1; k++) {
      const PetscReal      gap = 0.004 * k;
      const RigidTransform place = at(vector3(0.35, 0.2, side * (0.31 + gap)), vector3(0.1 * k, 0.2, 0.3));
      Touch                touches[TOUCH_CAPACITY];
      const PetscInt       count = find(ball, place, disc, at(vector3(0, 0, 0), upright), 0.01, touches);
      const Touch         *touch = deepest(count, touches);

      assert_near(touch->gap, gap, 1e-4);
      assert_near(touch->normal.at[Z], -side, 1e-4);
      assert_vector(touch->point, vector3(0.35, 0.2, side * (0.01 + 0.5 * gap)), 0.01);
    }
  }
  destroy(disc, ball);
}

/* A square plate stands on its edge across the edge of another: no vertex is near. */
static void crossed_edges_of_surfaces_touch(void **state)
{
  const PetscReal radii[6] = {0, 1, 1, 0.3, 0.3, 0}, heights[6] = {-0.2, -0.2, 0.2, 0.2, 0.1, 0.1};
  Form           *dish = make_surface(make_lathed(6, radii, heights, 4), 0);
  /* its four outer sides are at 1/sqrt(2); turned about x by 45 degrees an outer edge is on top */
  const PetscReal top = (1 / PetscSqrtReal(2) + 0.2) / PetscSqrtReal(2);
  const Vector3   quarter = vector3(0, 0, PETSC_PI / 4);
  RigidTransform  low, high;
  Touch           touches[TOUCH_CAPACITY];
  PetscInt        count;
  const Touch    *touch;

  (void)state;
  assert_int_equal(dish->kind, FORM_SURFACE);
  low = at(vector3(0, 0, 0), vector3(PETSC_PI / 4, 0, 0));
  low.rotation = quaternion_multiply(low.rotation, quaternion_from_rotation(quarter));
  high = at(vector3(0, 0, 0), vector3(0, PETSC_PI + PETSC_PI / 4, 0));
  high.rotation = quaternion_multiply(high.rotation, quaternion_from_rotation(quarter));
  /* where the frame's origin is does not matter: both are the same form, low's edge up, high's edge down */
  {
    const PetscReal centre = 0.5 * (dish->low.at[Z] + dish->high.at[Z]);
    const Vector3   up = quaternion_rotate(low.rotation, vector3(0, 0, centre));
    const Vector3   down = quaternion_rotate(high.rotation, vector3(0, 0, centre));

    low.position = vector3_scale(-1, up);
    high.position = vector3_subtract(vector3(0, 0, 2 * top - 0.02), down);
  }
  count = find(dish, low, dish, high, 0.005, touches);
  touch = deepest(count, touches);
  assert_near(touch->gap, -0.02, 0.025);
  assert_true(touch->normal.at[Z] > 0.6);
  assert_success(FormDestroy(&dish));
}

static void swapping_reverses_the_normals(void **state)
{
  Form    *forms[5] = {make_cylinder(0.5, 0.8), make_torus(0.7, 0.25),
                       make_surface(make_ring(0.7, 0.25, 20, 10), 0), make_surface(make_disc(0.9, 3, 12), 0.05),
                       make_sphere(0.6)};
  uint64_t seed = 9;
  int      compared = 0;

  (void)state;
  for (int n = 0; n < 250; n++) {
    const Form          *a = forms[n % 5], *b = forms[n / 5 % 5];
    const RigidTransform first = at(vector3(0, 0, 0), vector3_scale(3, random_direction(&seed)));
    const RigidTransform second = at(random_direction(&seed), vector3_scale(3, random_direction(&seed)));
    Touch                one[TOUCH_CAPACITY], other[TOUCH_CAPACITY];
    const PetscInt       count = find(a, first, b, second, 0.02, one);

    assert_int_equal(find(b, second, a, first, 0.02, other), count);
    if (count == 0)
      continue;
    assert_near(deepest(count, one)->gap, deepest(count, other)->gap, 1e-7);
    for (PetscInt k = 0; k < count; k++, compared++) {
      PetscReal nearest = PETSC_INFINITY;

      for (PetscInt l = 0; l < count; l++)
        nearest = PetscMin(nearest, vector3_norm(vector3_subtract(one[k].point, other[l].point)) +
                                        vector3_norm(vector3_add(one[k].normal, other[l].normal)));
      assert_near(nearest, 0, 1e-3);
    }
  }
  assert_true(compared > 300);
  for (int n = 0; n < 5; n++)
    assert_success(FormDestroy(&forms[n]));
}

static void far_bodies_do_not_touch(void **state)
{
  Form *cylinder = make_cylinder(0.5, 1), *ring = make_surface(make_ring(1, 0.3, 16, 8), 0);
  Touch touches[TOUCH_CAPACITY];

  (void)state;
  /* in the hole of the ring, and beside it */
  assert_int_equal(
      find(cylinder, at(vector3(0, 0, 0), upright), ring, at(vector3(0, 0, 0), upright), 0.1, touches), 0);
  assert_int_equal(
      find(cylinder, at(vector3(2, 0, 0), upright), ring, at(vector3(0, 0, 0), upright), 0.1, touches), 0);
  destroy(cylinder, ring);
}

/* Its points beside the box would otherwise hold it from the side. */
static void a_box_on_a_fine_shell_is_pushed_straight_up(void **state)
{
  Form *floor = make_surface(make_disc(2, 20, 40), 0.1), *box = make_solid_box(vector3(0.4, 0.3, 0.2));

  (void)state;
  for (int k = 0; k < 20; k++) {
    Touch          touches[TOUCH_CAPACITY];
    const PetscInt count = find(box, at(vector3(0.05 * k - 0.5, 0.01 * k, 0.24), vector3(0, 0, 0.1 * k)),
                                floor, at(vector3(0, 0, 0), upright), 0.05, touches);

    assert_int_equal(count, 4);
    for (PetscInt n = 0; n < count; n++) {
      assert_near(touches[n].normal.at[Z], -1, 1e-6);
      assert_near(touches[n].gap, -0.01, 1e-6);
    }
  }
  destroy(floor, box);
}

/* Only the points of the disc are near: the faces of a box have none. */
static void a_disc_lies_on_either_side_of_a_box(void **state)
{
  Form *disc = make_surface(make_disc(0.3, 3, 16), 0.02), *box = make_solid_box(vector3(1, 1, 0.5));

  (void)state;
  for (int side = -1; side <= 1; side += 2) {
    Touch          touches[TOUCH_CAPACITY];
    const PetscInt count = find(box, at(vector3(0, 0, 0), upright), disc,
                                at(vector3(0.1, 0.2, side * 0.509), upright), 0.001, touches);

    assert_int_equal(count, 4);
    for (PetscInt n = 0; n < count; n++) {
      const Vector3 arm = vector3_subtract(touches[n].point, vector3(0.1, 0.2, side * 0.4995));

      assert_near(touches[n].gap, -0.001, 1e-9);
      assert_near(touches[n].normal.at[Z], side, 1e-9);
      assert_near(arm.at[Z], 0, 1e-9);
      assert_near(vector3_norm(arm), 0.3, 0.01);
    }
  }
  destroy(disc, box);
}

static void a_surface_deep_inside_another_is_touched(void **state)
{
  Form    *ring = make_surface(make_ring(0.5, 0.1, 24, 8), 0), *ball = make_surface(make_ball(1, 21, 24), 0);
  Touch    touches[TOUCH_CAPACITY];
  PetscInt count;

  (void)state;
  count = find(ring, at(vector3(0, 0, 0.1), upright), ball, at(vector3(0, 0, 0), upright), 0.01, touches);
  assert_true(deepest(count, touches)->gap < -0.2);
  destroy(ring, ball);
}

TEST_MAIN(cmocka_unit_test(a_sphere_of_triangles_is_a_sphere),
          cmocka_unit_test(two_surfaces_touch_like_the_spheres_they_are),
          cmocka_unit_test(a_disc_is_hit_from_both_sides), cmocka_unit_test(crossed_edges_of_surfaces_touch),
          cmocka_unit_test(swapping_reverses_the_normals), cmocka_unit_test(far_bodies_do_not_touch),
          cmocka_unit_test(a_box_on_a_fine_shell_is_pushed_straight_up),
          cmocka_unit_test(a_disc_lies_on_either_side_of_a_box),
          cmocka_unit_test(a_surface_deep_inside_another_is_touched))
