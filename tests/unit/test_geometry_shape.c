/* Signed distances of primitives, combinations and placed shapes. */
#include "harness.h"
#include <math.h>
#include <millrace/geometry.h>

static PetscReal random_real(PetscReal low, PetscReal high)
{
  static uint64_t seed = 88172645463325252u;

  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return low + (high - low) * (PetscReal)(seed >> 11) / 9007199254740992.0;
}

static Vector3 random_point(PetscReal reach)
{
  return vector3(random_real(-reach, reach), random_real(-reach, reach), random_real(-reach, reach));
}

static void assert_distance(Shape shape, Vector3 point, PetscReal distance)
{
  assert_near(shape_distance(shape, point), distance, 1e-13);
}

static void sphere_is_exact(void **state)
{
  Shape shape;

  (void)state;
  assert_success(ShapeCreateSphere(vector3(1, 2, 3), 0.5, &shape));
  assert_distance(shape, vector3(1, 2, 3), -0.5);
  assert_distance(shape, vector3(4, 6, 3), 4.5);
  assert_success(ShapeDestroy(&shape));
  assert_null(shape);
}

static void box_is_exact_at_faces_edges_corners_and_inside(void **state)
{
  Shape shape;

  (void)state;
  assert_success(ShapeCreateBox(vector3(0, 0, 0), vector3(2, 4, 6), &shape));
  assert_distance(shape, vector3(3, 1, 1), 1);
  assert_distance(shape, vector3(5, 8, 3), 5);
  assert_distance(shape, vector3(-1, -2, 8), 3);
  assert_distance(shape, vector3(1, 2, 5.75), -0.25);
  assert_success(ShapeDestroy(&shape));
}

static void slanted_cylinder_is_exact(void **state)
{
  const Vector3 axis = vector3(0.6, 0.8, 0), across = vector3(-0.8, 0.6, 0);
  Shape         shape;

  (void)state;
  assert_success(ShapeCreateCylinder(vector3(0, 0, 0), vector3_scale(4, axis), 1, &shape));
  assert_distance(shape, vector3_scale(3, across), 2);
  assert_distance(shape, vector3_scale(-3, axis), 3);
  assert_distance(shape, vector3_add(vector3_scale(8, axis), vector3_scale(4, across)), 5); /* past the rim */
  assert_distance(shape, vector3_add(vector3_scale(2, axis), vector3_scale(0.75, across)), -0.25);
  assert_success(ShapeDestroy(&shape));
}

static void capsule_is_exact(void **state)
{
  Shape shape;

  (void)state;
  assert_success(ShapeCreateCapsule(vector3(0, 0, 0), vector3(0, 0, 2), 0.5, &shape));
  assert_distance(shape, vector3(3, 4, 1), 4.5);
  assert_distance(shape, vector3(0, 3, 6), 4.5);
  assert_distance(shape, vector3(0, 0, 0), -0.5);
  assert_success(ShapeDestroy(&shape));
}

/* Base of radius 3 at z = 1, height 4: the side falls by 4 on 3. */
static void cone_is_exact(void **state)
{
  Shape shape;

  (void)state;
  assert_success(ShapeCreateCone(vector3(0, 0, 1), vector3(0, 0, 5), 3, &shape));
  assert_distance(shape, vector3(0, 0, 7), 2);           /* above the tip */
  assert_distance(shape, vector3(0, 2, 0), 1);           /* below the base */
  assert_distance(shape, vector3(0, 6, -3), 5);          /* past the rim */
  assert_distance(shape, vector3(1.5 + 4, 0, 3 + 3), 5); /* from the middle of the side, outwards */
  assert_distance(shape, vector3(0, -1.5 - 4, 3 + 3), 5);
  assert_distance(shape, vector3(0, 0, 1.25), -0.25); /* near the base */
  assert_distance(shape, vector3(1.5 - 0.08, 0, 3 - 0.06), -0.1);
  assert_distance(shape, vector3(0, 0, 5), 0);
  assert_success(ShapeDestroy(&shape));
}

static void torus_is_exact(void **state)
{
  Shape shape;

  (void)state;
  assert_success(ShapeCreateTorus(vector3(0, 0, 1), vector3(0, 0, 7), 2, 0.5, &shape));
  assert_distance(shape, vector3(0, 0, 1), 1.5);
  assert_distance(shape, vector3(0, -2, 1), -0.5);
  assert_distance(shape, vector3(5, 0, 5), 4.5);
  assert_success(ShapeDestroy(&shape));
}

static void plane_is_solid_below_its_normal(void **state)
{
  Shape   shape;
  Vector3 low, high;

  (void)state;
  assert_success(ShapeCreatePlane(vector3(0, 1, 0), vector3(0, 2, 0), &shape));
  assert_distance(shape, vector3(5, 4, -3), 3);
  assert_distance(shape, vector3(5, -4, -3), -5);
  shape_bounds(shape, &low, &high);
  assert_true(high.at[Y] == 1 && low.at[Y] <= -1e300 && high.at[X] >= 1e300);
  assert_success(ShapeDestroy(&shape));
}

/* Every shape the distance of which is exact, off centre and off axis. */
static void create_primitives(Shape shapes[7])
{
  assert_success(ShapeCreateSphere(vector3(0.1, 0.2, -0.1), 0.7, &shapes[0]));
  assert_success(ShapeCreateBox(vector3(-0.5, -0.3, -0.8), vector3(0.4, 0.9, 0.2), &shapes[1]));
  assert_success(ShapeCreateCylinder(vector3(-0.4, -0.2, 0.1), vector3(0.5, 0.6, 0.3), 0.4, &shapes[2]));
  assert_success(ShapeCreateCapsule(vector3(-0.4, -0.2, 0.1), vector3(0.5, 0.6, 0.3), 0.3, &shapes[3]));
  assert_success(ShapeCreateTorus(vector3(0, 0.1, 0), vector3(1, 2, 3), 0.6, 0.25, &shapes[4]));
  assert_success(ShapeCreateCone(vector3(-0.4, -0.2, 0.1), vector3(0.5, 0.6, 0.3), 0.5, &shapes[5]));
  assert_success(ShapeCreateBox(vector3(-0.5, -0.3, -0.8), vector3(0.4, 0.9, 0.2), &shapes[6]));
  assert_success(ShapeCreatePlaced(&shapes[6], 0.8, vector3(0.3, -1, 0.5), vector3(0.1, 0, 0.2), &shapes[6]));
}

static Vector3 gradient(Shape shape, Vector3 point)
{
  const PetscReal step = 1e-6;
  Vector3         slope;

  for (int d = 0; d < DIM; d++) {
    Vector3 ahead = point, behind = point;

    ahead.at[d] += step;
    behind.at[d] -= step;
    slope.at[d] = (shape_distance(shape, ahead) - shape_distance(shape, behind)) / (2 * step);
  }
  return slope;
}

/* An exact distance leads along its gradient onto the surface in one step. */
static void walking_the_distance_meets_the_surface(void **state)
{
  Shape shapes[7];

  (void)state;
  create_primitives(shapes);
  for (int n = 0; n < 7; n++) {
    int missed = 0;

    for (int trial = 0; trial < 500; trial++) {
      const Vector3   point = random_point(2);
      const PetscReal distance = shape_distance(shapes[n], point);
      const Vector3   foot = vector3_subtract(point, vector3_scale(distance, gradient(shapes[n], point)));

      if (PetscAbsReal(shape_distance(shapes[n], foot)) > 1e-7)
        missed++;
    }
    assert_true(missed <= 3); /* on a ridge the gradient is none */
    assert_success(ShapeDestroy(&shapes[n]));
  }
}

static void bounds_hold_what_is_inside_and_are_tight(void **state)
{
  Shape shapes[7];

  (void)state;
  create_primitives(shapes);
  for (int n = 0; n < 7; n++) {
    Vector3 low, high, least = vector3(9, 9, 9), most = vector3(-9, -9, -9);

    shape_bounds(shapes[n], &low, &high);
    for (int trial = 0; trial < 100000; trial++) {
      const Vector3 point = random_point(1.6);

      if (!shape_is_inside(shapes[n], point))
        continue;
      for (int d = 0; d < DIM; d++) {
        least.at[d] = PetscMin(least.at[d], point.at[d]);
        most.at[d] = PetscMax(most.at[d], point.at[d]);
      }
    }
    for (int d = 0; d < DIM; d++) {
      assert_true(low.at[d] <= least.at[d] && high.at[d] >= most.at[d]);
      assert_true(least.at[d] - low.at[d] < 0.15 && high.at[d] - most.at[d] < 0.15);
    }
    assert_success(ShapeDestroy(&shapes[n]));
  }
}

static void create_two_spheres(ShapeOperation operation, Shape *shape)
{
  Shape parts[2];

  assert_success(ShapeCreateSphere(vector3(-0.5, 0, 0), 1, &parts[0]));
  assert_success(ShapeCreateSphere(vector3(0.5, 0, 0), 1, &parts[1]));
  assert_success(ShapeCreateCombination(operation, 2, parts, shape));
  assert_null(parts[0]); /* taken */
}

static void combinations_have_the_right_sign(void **state)
{
  for (int operation = SHAPE_UNION; operation <= SHAPE_DIFFERENCE; operation++) {
    Shape shape;

    create_two_spheres((ShapeOperation)operation, &shape);
    for (int trial = 0; trial < 1000; trial++) {
      const Vector3   point = random_point(2);
      const PetscBool in_first = hypot(hypot(point.at[X] + 0.5, point.at[Y]), point.at[Z]) < 1;
      const PetscBool in_second = hypot(hypot(point.at[X] - 0.5, point.at[Y]), point.at[Z]) < 1;
      const PetscBool expected = operation == SHAPE_UNION          ? in_first || in_second
                                 : operation == SHAPE_INTERSECTION ? in_first && in_second
                                                                   : in_first && !in_second;

      assert_int_equal(shape_distance(shape, point) < 0, expected);
      assert_int_equal(shape_is_inside(shape, point), expected);
    }
    assert_success(ShapeDestroy(&shape));
  }
  (void)state;
}

static void bounds_of_combinations_follow_the_operation(void **state)
{
  const PetscReal lows[] = {-1.5, -0.5, -1.5}, highs[] = {1.5, 0.5, 0.5};

  (void)state;
  for (int operation = SHAPE_UNION; operation <= SHAPE_DIFFERENCE; operation++) {
    Shape   shape;
    Vector3 low, high;

    create_two_spheres((ShapeOperation)operation, &shape);
    shape_bounds(shape, &low, &high);
    assert_near(low.at[X], lows[operation], 1e-14);
    assert_near(high.at[X], highs[operation], 1e-14);
    assert_success(ShapeDestroy(&shape));
  }
}

static void touching_boxes_leave_no_gap_and_a_hole_keeps_its_rim(void **state)
{
  Shape parts[2], joined, cut;

  (void)state;
  assert_success(ShapeCreateBox(vector3(0, 0, 0), vector3(1, 1, 1), &parts[0]));
  assert_success(ShapeCreateBox(vector3(1, 0, 0), vector3(2, 1, 1), &parts[1]));
  assert_success(ShapeCreateCombination(SHAPE_UNION, 2, parts, &joined));
  assert_true(shape_is_inside(joined, vector3(1, 0.5, 0.5)));
  parts[0] = joined;
  assert_success(ShapeCreateBox(vector3(0.5, -1, -1), vector3(1.5, 2, 2), &parts[1]));
  assert_success(ShapeCreateCombination(SHAPE_DIFFERENCE, 2, parts, &cut));
  assert_true(shape_is_inside(cut, vector3(0.5, 0.5, 0.5)));
  assert_false(shape_is_inside(cut, vector3(0.51, 0.5, 0.5)));
  assert_success(ShapeDestroy(&cut));
}

static void placing_scales_then_turns_then_moves(void **state)
{
  Shape part, shape;

  (void)state;
  assert_success(ShapeCreateBox(vector3(0, 0, 0), vector3(1, 2, 3), &part));
  assert_success(ShapeCreatePlaced(&part, 2, vector3(0, 0, PETSC_PI / 2), vector3(10, 0, 0), &shape));
  assert_null(part);
  assert_distance(shape, vector3(8, 1, 1), -1); /* now x from 6 to 10, y from 0 to 2, z from 0 to 6 */
  assert_distance(shape, vector3(3, 1, 1), 3);
  assert_success(ShapeDestroy(&shape));
}

static void bounds_of_a_placed_plane_stay_infinite(void **state)
{
  Shape   part, shape;
  Vector3 low, high;

  (void)state;
  assert_success(ShapeCreatePlane(vector3(0, 3, 0), vector3(0, 1, 0), &part));
  assert_success(ShapeCreatePlaced(&part, 5, vector3(0.1, 0.2, 0.3), vector3(1, 2, 3), &shape));
  shape_bounds(shape, &low, &high);
  for (int d = 0; d < DIM; d++)
    assert_true(low.at[d] == -PETSC_INFINITY && high.at[d] == PETSC_INFINITY);
  assert_success(ShapeDestroy(&shape));
}

static void bad_shapes_are_refused(void **state)
{
  const Vector3 zero = vector3(0, 0, 0), one = vector3(1, 1, 1);
  Shape         shape = NULL, parts[1] = {NULL};

  (void)state;
  assert_refused(ShapeCreateSphere(zero, 0, &shape));
  assert_refused(ShapeCreateSphere(zero, NAN, &shape));
  assert_refused(ShapeCreateSphere(vector3(0, INFINITY, 0), 1, &shape));
  assert_refused(ShapeCreateBox(one, zero, &shape));
  assert_refused(ShapeCreateCylinder(one, one, 1, &shape));
  assert_refused(ShapeCreateCapsule(zero, one, -1, &shape));
  assert_refused(ShapeCreateCone(one, one, 1, &shape));
  assert_refused(ShapeCreateCone(zero, one, 0, &shape));
  assert_refused(ShapeCreateTorus(zero, one, 1, 2, &shape));
  assert_refused(ShapeCreateTorus(zero, zero, 2, 1, &shape));
  assert_refused(ShapeCreatePlane(zero, zero, &shape));
  assert_refused(ShapeCreateCombination(SHAPE_UNION, 0, parts, &shape));
  assert_refused(ShapeCreateCombination(SHAPE_UNION, 1, parts, &shape));
  assert_null(shape);
}

TEST_MAIN(cmocka_unit_test(sphere_is_exact), cmocka_unit_test(box_is_exact_at_faces_edges_corners_and_inside),
          cmocka_unit_test(slanted_cylinder_is_exact), cmocka_unit_test(capsule_is_exact),
          cmocka_unit_test(cone_is_exact), cmocka_unit_test(torus_is_exact),
          cmocka_unit_test(plane_is_solid_below_its_normal),
          cmocka_unit_test(walking_the_distance_meets_the_surface),
          cmocka_unit_test(bounds_hold_what_is_inside_and_are_tight),
          cmocka_unit_test(combinations_have_the_right_sign),
          cmocka_unit_test(bounds_of_combinations_follow_the_operation),
          cmocka_unit_test(touching_boxes_leave_no_gap_and_a_hole_keeps_its_rim),
          cmocka_unit_test(placing_scales_then_turns_then_moves),
          cmocka_unit_test(bounds_of_a_placed_plane_stay_infinite), cmocka_unit_test(bad_shapes_are_refused))
