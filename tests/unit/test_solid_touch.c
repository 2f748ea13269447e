/* Touches of spheres, capsules, boxes and planes. */
#include <millrace/base.h>
#include "harness.h"
#include "solid/contact/narrow/touch.h"

#include <math.h>

#define TIGHT 1e-12

static const RigidTransform origin = {{{0, 0, 0}}, {1, {{0, 0, 0}}}};

static Form sphere(PetscReal radius)
{
  return (Form){.kind = FORM_SPHERE, .radius = radius};
}
static Form capsule(PetscReal radius, PetscReal half)
{
  return (Form){.kind = FORM_CAPSULE, .radius = radius, .half = vector3(0, 0, half)};
}
static Form box(PetscReal x, PetscReal y, PetscReal z)
{
  return (Form){.kind = FORM_BOX, .half = vector3(x, y, z)};
}
static Form plane(void)
{
  return (Form){.kind = FORM_PLANE};
}

static RigidTransform at(PetscReal x, PetscReal y, PetscReal z)
{
  return (RigidTransform){vector3(x, y, z), {1, {{0, 0, 0}}}};
}
static RigidTransform turned(RigidTransform placement, PetscReal x, PetscReal y, PetscReal z)
{
  placement.rotation = quaternion_multiply(quaternion_from_rotation(vector3(x, y, z)), placement.rotation);
  return placement;
}

static void assert_vector_near(Vector3 a, Vector3 b, PetscReal tolerance)
{
  for (PetscInt d = X; d < DIM; d++)
    assert_near(a.at[d], b.at[d], tolerance);
}

/* One place that must be among the touches, with nothing else at it. */
static const Touch *touch_near(PetscInt count, const Touch touches[], Vector3 point)
{
  const Touch *found = NULL;

  for (PetscInt k = 0; k < count; k++)
    if (vector3_norm(vector3_subtract(touches[k].point, point)) < 1e-6) {
      assert_null(found);
      found = &touches[k];
    }
  assert_non_null(found);
  return found;
}

static void assert_touch(const Touch *touch, PetscReal gap, Vector3 normal, Vector3 point)
{
  assert_near(touch->gap, gap, TIGHT);
  assert_vector_near(touch->normal, normal, TIGHT);
  assert_vector_near(touch->point, point, TIGHT);
}

static void spheres_touch_between_their_centres(void **state)
{
  const Form           a = sphere(1), b = sphere(2);
  const RigidTransform at_b = at(0, 3.5, 0);
  Touch                touch[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(find_touches(&a, &origin, &b, &at_b, 0.4, touch), 0);
  assert_int_equal(find_touches(&a, &origin, &b, &at_b, 0.5, touch), 1);
  assert_touch(touch, 0.5, vector3(0, 1, 0), vector3(0, 1.25, 0));
}

static void concentric_spheres_have_a_normal(void **state)
{
  const Form a = sphere(1), b = sphere(2);
  Touch      touch[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(find_touches(&a, &origin, &b, &origin, 0, touch), 1);
  assert_near(vector3_norm(touch->normal), 1, TIGHT);
  assert_near(touch->gap, -3, TIGHT);
}

static void a_sphere_touches_the_side_and_the_end_of_a_capsule(void **state)
{
  const Form           a = sphere(0.5), b = capsule(1, 2);
  const RigidTransform beside = at(1.4, 0, 1), above = at(0, 0, 3.6), inside = at(0, 0, 0.3);
  Touch                touch[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(find_touches(&a, &beside, &b, &origin, 0, touch), 1);
  assert_touch(touch, -0.1, vector3(-1, 0, 0), vector3(0.95, 0, 1));
  assert_int_equal(find_touches(&a, &above, &b, &origin, 0, touch), 0);
  assert_int_equal(find_touches(&a, &above, &b, &origin, 0.2, touch), 1);
  assert_touch(touch, 0.1, vector3(0, 0, -1), vector3(0, 0, 3.05));
  assert_int_equal(find_touches(&a, &inside, &b, &origin, 0, touch), 1);
  assert_near(touch->gap, -1.5, TIGHT);
  assert_near(vector3_norm(touch->normal), 1, TIGHT);
  assert_near(touch->normal.at[Z], 0, TIGHT);
}

static void a_sphere_touches_face_edge_and_corner_of_a_box(void **state)
{
  const Form           a = sphere(1), b = box(1, 2, 3);
  const PetscReal      root2 = sqrt(0.5), root3 = sqrt(1. / 3);
  const RigidTransform face = at(-1.75, 0.5, 0.5), edge = at(2, 3, 1), corner = at(2, 3, -4);
  Touch                touch[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(find_touches(&a, &face, &b, &origin, 0, touch), 1);
  assert_touch(touch, -0.25, vector3(1, 0, 0), vector3(-0.875, 0.5, 0.5));
  assert_int_equal(find_touches(&a, &edge, &b, &origin, 0.5, touch), 1);
  assert_touch(touch, sqrt(2) - 1, vector3(-root2, -root2, 0),
               vector3(1 + 0.5 * (1 - root2), 2 + 0.5 * (1 - root2), 1));
  assert_int_equal(find_touches(&a, &corner, &b, &origin, 1, touch), 1);
  assert_near(touch->gap, sqrt(3) - 1, TIGHT);
  assert_vector_near(touch->normal, vector3(-root3, -root3, root3), TIGHT);
}

static void a_sphere_inside_a_box_leaves_by_the_nearest_face(void **state)
{
  const Form           a = sphere(0.5), b = box(1, 2, 3);
  const RigidTransform inside = at(0.1, -1.5, 0), middle = origin;
  Touch                touch[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(find_touches(&a, &inside, &b, &origin, 0, touch), 1);
  assert_touch(touch, -1, vector3(0, 1, 0), vector3(0.1, -1.5, 0));
  assert_int_equal(find_touches(&a, &middle, &b, &origin, 0, touch), 1);
  assert_near(touch->gap, -1.5, TIGHT);
  assert_near(PetscAbsReal(touch->normal.at[X]), 1, TIGHT);
}

static void parallel_capsules_touch_at_both_ends_of_the_stretch(void **state)
{
  const Form           a = capsule(0.5, 2), b = capsule(0.25, 1);
  const RigidTransform beside = turned(at(0.7, 0, 1.5), PETSC_PI, 0, 0), beyond = at(0, 0, 4);
  Touch                touch[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(find_touches(&a, &origin, &b, &beside, 0, touch), 2);
  assert_touch(touch_near(2, touch, vector3(0.475, 0, 0.5)), -0.05, vector3(1, 0, 0), vector3(0.475, 0, 0.5));
  assert_touch(touch_near(2, touch, vector3(0.475, 0, 2)), -0.05, vector3(1, 0, 0), vector3(0.475, 0, 2));
  assert_int_not_equal(touch[0].feature, touch[1].feature);
  assert_int_equal(find_touches(&a, &origin, &b, &beyond, 0.3, touch), 1);
  assert_touch(touch, 0.25, vector3(0, 0, 1), vector3(0, 0, 2.625));
}

static void crossed_capsules_touch_once(void **state)
{
  const Form           a = capsule(0.5, 2), b = capsule(0.25, 1);
  const RigidTransform apart = turned(at(0.3, 0.8, 1), 0, 0.5 * PETSC_PI, 0);
  const RigidTransform crossing = turned(at(0.3, 0, 1), 0, 0.5 * PETSC_PI, 0);
  Touch                touch[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(find_touches(&a, &origin, &b, &apart, 0.1, touch), 1);
  assert_touch(touch, 0.05, vector3(0, 1, 0), vector3(0, 0.525, 1));
  assert_int_equal(find_touches(&a, &origin, &b, &crossing, 0.1, touch), 1);
  assert_near(touch->gap, -0.75, TIGHT);
  assert_near(PetscAbsReal(touch->normal.at[Y]), 1, TIGHT);
  assert_int_equal(find_touches(&a, &origin, &a, &origin, 0, touch), 2);
  assert_near(touch->gap, -1, TIGHT);
  assert_near(touch->normal.at[Z], 0, TIGHT);
}

static void a_capsule_lies_on_a_box_with_two_points(void **state)
{
  const Form           a = capsule(0.5, 2), b = box(1, 2, 3);
  const RigidTransform lying = turned(at(1.4, 0.5, 0), 0.5 * PETSC_PI, 0, 0);
  const RigidTransform standing = turned(at(3.4, 0.5, 0), 0, 0.5 * PETSC_PI, 0);
  Touch                touch[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(find_touches(&a, &lying, &b, &origin, 0.1, touch), 2);
  assert_touch(touch_near(2, touch, vector3(0.95, 2, 0)), -0.1, vector3(-1, 0, 0), vector3(0.95, 2, 0));
  assert_touch(touch_near(2, touch, vector3(0.95, -1.5, 0)), -0.1, vector3(-1, 0, 0), vector3(0.95, -1.5, 0));
  assert_int_equal(find_touches(&a, &standing, &b, &origin, 0.1, touch), 1);
  assert_touch(touch, -0.1, vector3(-1, 0, 0), vector3(0.95, 0.5, 0));
}

static void a_capsule_touches_edges_of_a_box(void **state)
{
  const Form           a = capsule(0.5, 2), b = box(1, 2, 3);
  const PetscReal      root2 = sqrt(0.5);
  const RigidTransform along = at(1.5, 2.5, 2);
  RigidTransform       diagonal;
  Touch                touch[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(find_touches(&a, &along, &b, &origin, 0.3, touch), 2);
  for (PetscInt k = 0; k < 2; k++) {
    const PetscReal z = k ? 3 : 0, x = 1.5 - root2 * (0.5 + 0.5 * (root2 - 0.5));

    assert_touch(touch_near(2, touch, vector3(x, x + 1, z)), root2 - 0.5, vector3(-root2, -root2, 0),
                 vector3(x, x + 1, z));
  }
  /* along (1, -1, 0), in front of the edge x = 1, y = 2 */
  diagonal = turned(turned(at(1.3, 2.3, 0.5), 0, 0.5 * PETSC_PI, 0), 0, 0, -0.25 * PETSC_PI);
  assert_int_equal(find_touches(&a, &diagonal, &b, &origin, 0.3, touch), 1);
  assert_near(touch->gap, 0.3 * sqrt(2) - 0.5, TIGHT);
  assert_vector_near(touch->normal, vector3(-root2, -root2, 0), TIGHT);
}

static void a_capsule_inside_a_box_leaves_by_the_shortest_way(void **state)
{
  const Form           a = capsule(0.1, 0.5), b = box(1, 2, 3);
  const RigidTransform lying = at(0.8, 0, 0);
  const RigidTransform cutting =
      turned(turned(at(0.9, 1.9, 0.5), 0, 0.5 * PETSC_PI, 0), 0, 0, -0.25 * PETSC_PI);
  const PetscReal root2 = sqrt(0.5);
  Touch           touch[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(find_touches(&a, &lying, &b, &origin, 0, touch), 2);
  assert_touch(touch_near(2, touch, vector3(0.85, 0, 0.5)), -0.3, vector3(-1, 0, 0), vector3(0.85, 0, 0.5));
  assert_touch(touch_near(2, touch, vector3(0.85, 0, -0.5)), -0.3, vector3(-1, 0, 0), vector3(0.85, 0, -0.5));
  assert_int_equal(find_touches(&a, &cutting, &b, &origin, 0, touch), 1);
  assert_near(touch->gap, -0.1 * sqrt(2) - 0.1, TIGHT);
  assert_vector_near(touch->normal, vector3(-root2, -root2, 0), TIGHT);
}

static void all_corners_and_ends_near_a_plane_touch_it(void **state)
{
  const Form           floor = plane(), ball = sphere(1), rod = capsule(0.5, 2), brick = box(1, 2, 3);
  const RigidTransform below = turned(at(0, 0, 0.25), PETSC_PI, 0, 0); /* everything above is solid */
  const RigidTransform lying = turned(at(5, 1, -0.3), 0, 0.5 * PETSC_PI, 0), low = at(2, 1, -2.7);
  Touch                touch[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(find_touches(&ball, &origin, &floor, &below, 0, touch), 1);
  assert_touch(touch, -0.75, vector3(0, 0, 1), vector3(0, 0, 0.625));
  assert_int_equal(find_touches(&rod, &lying, &floor, &below, 0.1, touch), 2);
  assert_touch(touch_near(2, touch, vector3(7, 1, 0.225)), 0.05, vector3(0, 0, 1), vector3(7, 1, 0.225));
  assert_touch(touch_near(2, touch, vector3(3, 1, 0.225)), 0.05, vector3(0, 0, 1), vector3(3, 1, 0.225));
  assert_int_equal(find_touches(&brick, &low, &floor, &below, 0.1, touch), 4);
  for (PetscInt k = 0; k < 4; k++) {
    const Vector3 corner = vector3(k & 1 ? 1 : 3, k & 2 ? -1 : 3, 0.275);

    assert_touch(touch_near(4, touch, corner), -0.05, vector3(0, 0, 1), corner);
  }
}

static void a_tilted_box_touches_a_plane_at_its_lowest_edge(void **state)
{
  const Form           floor = plane(), brick = box(1, 2, 3);
  const RigidTransform tilted = turned(at(0, 0, 3.2), 0.5, 0, 0);
  const PetscReal      gap = 3.2 - 3 * cos(0.5) - 2 * sin(0.5);
  Touch                touch[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(find_touches(&brick, &tilted, &floor, &origin, 0, touch), 2);
  for (PetscInt k = 0; k < 2; k++) {
    const Vector3 corner = vector3(k ? 1 : -1, -2 * cos(0.5) + 3 * sin(0.5), 0.5 * gap);

    assert_touch(touch_near(2, touch, corner), gap, vector3(0, 0, -1), corner);
  }
}

static void stacked_boxes_touch_at_the_corners_of_the_common_face(void **state)
{
  const Form           a = box(1, 2, 3), b = box(1, 1, 1);
  const RigidTransform above = at(0.5, 0.25, 3.9);
  Touch                touch[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(find_touches(&a, &origin, &b, &above, 0, touch), 4);
  for (PetscInt k = 0; k < 4; k++) {
    const Vector3 corner = vector3(k & 1 ? 1 : -0.5, k & 2 ? 1.25 : -0.75, 2.95);
    const Touch  *found = touch_near(4, touch, corner);

    assert_touch(found, -0.1, vector3(0, 0, 1), corner);
    for (PetscInt n = 0; n < k; n++)
      assert_int_not_equal(
          touch_near(4, touch, vector3(n & 1 ? 1 : -0.5, n & 2 ? 1.25 : -0.75, 2.95))->feature,
          found->feature);
  }
}

/* A corner of each box, and two places where their edges cross. */
static void shifted_boxes_touch_at_the_corners_of_what_they_share(void **state)
{
  const Form           a = box(1, 1, 1);
  const RigidTransform shifted = turned(at(0.5, -0.25, 2.05), 0, 0.5 * PETSC_PI, 0);
  Touch                touch[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(find_touches(&a, &origin, &a, &shifted, 0.1, touch), 4);
  for (PetscInt k = 0; k < 4; k++) {
    const Vector3 corner = vector3(k & 1 ? 1 : -0.5, k & 2 ? 0.75 : -1, 1.025);

    assert_touch(touch_near(4, touch, corner), 0.05, vector3(0, 0, 1), corner);
  }
}

/* The octagon that two turned squares have in common is left with four points that span most of it. */
static void four_points_are_kept_of_eight(void **state)
{
  const Form           a = box(1, 1, 1);
  const RigidTransform above = turned(at(0, 0, 2.05), 0, 0, PETSC_PI / 4);
  Touch                touch[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(find_touches(&a, &origin, &a, &above, 0.1, touch), 4);
  for (PetscInt k = 0; k < 4; k++) {
    assert_near(touch[k].gap, 0.05, TIGHT);
    assert_near(hypot(touch[k].point.at[X], touch[k].point.at[Y]), hypot(1, sqrt(2) - 1), TIGHT);
    assert_near(touch[k].point.at[Z], 1.025, TIGHT);
    for (PetscInt n = 0; n < k; n++)
      assert_true(vector3_norm(vector3_subtract(touch[k].point, touch[n].point)) > 0.8);
  }
}

/* Two roofs across each other. */
static void crossed_edges_touch_where_they_pass(void **state)
{
  const Form           a = box(2, 1, 1);
  const PetscReal      ridge = sqrt(2);
  const RigidTransform below = turned(origin, PETSC_PI / 4, 0, 0);
  const RigidTransform above =
      turned(turned(at(0.3, 0.2, 2 * ridge - 0.01), PETSC_PI / 4, 0, 0), 0, 0, PETSC_PI / 2);
  Touch touch[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(find_touches(&a, &below, &a, &above, 0, touch), 1);
  assert_touch(touch, -0.01, vector3(0, 0, 1), vector3(0.3, 0, ridge - 0.005));
}

static void identical_boxes_have_a_normal(void **state)
{
  const Form a = box(1, 2, 3);
  Touch      touch[TOUCH_CAPACITY];
  PetscInt   count = find_touches(&a, &origin, &a, &origin, 0, touch);

  (void)state;
  assert_int_equal(count, 4);
  for (PetscInt k = 0; k < count; k++) {
    assert_near(touch[k].gap, -2, TIGHT);
    assert_near(PetscAbsReal(touch[k].normal.at[X]), 1, TIGHT);
  }
}

static void boxes_corner_to_corner_are_as_far_as_the_corners(void **state)
{
  const Form           a = box(1, 2, 3), b = box(1, 1, 1);
  const RigidTransform corner = at(2.1, 3.1, 4.1);
  const PetscReal      root3 = sqrt(1. / 3);
  Touch                touch[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(find_touches(&a, &origin, &b, &corner, 0.15, touch), 0);
  assert_int_equal(find_touches(&a, &origin, &b, &corner, 0.2, touch), 1);
  assert_touch(touch, 0.1 * sqrt(3), vector3(root3, root3, root3), vector3(1.05, 2.05, 3.05));
}

TEST_MAIN(cmocka_unit_test(spheres_touch_between_their_centres),
          cmocka_unit_test(concentric_spheres_have_a_normal),
          cmocka_unit_test(a_sphere_touches_the_side_and_the_end_of_a_capsule),
          cmocka_unit_test(a_sphere_touches_face_edge_and_corner_of_a_box),
          cmocka_unit_test(a_sphere_inside_a_box_leaves_by_the_nearest_face),
          cmocka_unit_test(parallel_capsules_touch_at_both_ends_of_the_stretch),
          cmocka_unit_test(crossed_capsules_touch_once),
          cmocka_unit_test(a_capsule_lies_on_a_box_with_two_points),
          cmocka_unit_test(a_capsule_touches_edges_of_a_box),
          cmocka_unit_test(a_capsule_inside_a_box_leaves_by_the_shortest_way),
          cmocka_unit_test(all_corners_and_ends_near_a_plane_touch_it),
          cmocka_unit_test(a_tilted_box_touches_a_plane_at_its_lowest_edge),
          cmocka_unit_test(stacked_boxes_touch_at_the_corners_of_the_common_face),
          cmocka_unit_test(shifted_boxes_touch_at_the_corners_of_what_they_share),
          cmocka_unit_test(four_points_are_kept_of_eight),
          cmocka_unit_test(crossed_edges_touch_where_they_pass),
          cmocka_unit_test(identical_boxes_have_a_normal),
          cmocka_unit_test(boxes_corner_to_corner_are_as_far_as_the_corners))
