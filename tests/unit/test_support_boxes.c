/* The judge of bench_pile. */
#include "harness.h"
#include "boxes.h"

static PlacedBox cube_at(PetscReal x, PetscReal y, PetscReal z)
{
  return (PlacedBox){vector3(0.5, 0.5, 0.5), vector3(x, y, z), {1., vector3(0., 0., 0.)}, PETSC_TRUE};
}

static void boxes_on_each_other_are_as_deep_as_they_sank(void **state)
{
  const PlacedBox floor = {
      vector3(20., 20., 5.), vector3(0., 0., -5.), {1., vector3(0., 0., 0.)}, PETSC_FALSE};
  PlacedBox box = cube_at(3., -7., 0.49);

  (void)state;
  assert_near(box_depth(&floor, &box), 0.01, 1e-14);
  assert_near(box_depth(&box, &floor), 0.01, 1e-14);
  box.rotation = quaternion_from_rotation(vector3(PETSC_PI / 4., 0., 0.));
  box.position.at[Z] = PetscSqrtReal(0.5) - 0.02;
  assert_near(box_depth(&box, &floor), 0.02, 1e-14);
  box.position.at[Z] += 0.03;
  assert_near(box_depth(&box, &floor), -0.01, 1e-14);
}

/* One edge along x lies across another along y: only the plane of both edges tells how deep. */
static void crossed_edges_part_along_their_common_normal(void **state)
{
  PlacedBox a = cube_at(0., 0., 0.), b = cube_at(0., 0., 2. * PetscSqrtReal(0.5) - 0.03);

  (void)state;
  a.rotation = quaternion_from_rotation(vector3(PETSC_PI / 4., 0., 0.));
  b.rotation = quaternion_from_rotation(vector3(0., PETSC_PI / 4., 0.));
  assert_near(box_depth(&a, &b), 0.03, 1e-14);
  b.position.at[Z] += 0.04;
  assert_near(box_depth(&a, &b), -0.01, 1e-14);
}

static void the_depth_does_not_change_with_the_view(void **state)
{
  const Quaternion view = quaternion_from_rotation(vector3(0.3, -1.1, 0.7));
  PlacedBox        a = cube_at(0., 0., 0.), b = cube_at(0.6, 0.5, 0.7);
  PetscReal        depth;

  (void)state;
  a.rotation = quaternion_from_rotation(vector3(0.1, 0.2, -0.4));
  depth = box_depth(&a, &b);
  assert_on_all_ranks(depth > 0.);
  a.rotation = quaternion_multiply(view, a.rotation);
  b.rotation = quaternion_multiply(view, b.rotation);
  a.position = quaternion_rotate(view, a.position);
  b.position = quaternion_rotate(view, b.position);
  assert_near(box_depth(&a, &b), depth, 1e-13);
}

static void all_pairs_that_overlap_are_counted_once(void **state)
{
  PlacedBox boxes[] = {cube_at(0., 0., 0.),    cube_at(0.9, 0., 0.), cube_at(0., 0.98, 0.),
                       cube_at(-1.5, 0., 0.1), cube_at(5., 0., 0.),  cube_at(5.7, 0., 0.)};
  Overlaps  overlaps = {0., 0., 0};

  (void)state;
  boxes[4].moves = boxes[5].moves = PETSC_FALSE; /* what stands may overlap */
  assert_success(OverlapsAdd(&overlaps, 6, boxes));
  assert_on_all_ranks(overlaps.pairs == 3); /* the second and the third overlap too */
  assert_near(overlaps.largest, 0.1, 1e-14);
  assert_near(overlaps.sum, 0.1 + 0.02 + 0.02, 1e-14);
}

TEST_MAIN(cmocka_unit_test(boxes_on_each_other_are_as_deep_as_they_sank),
          cmocka_unit_test(crossed_edges_part_along_their_common_normal),
          cmocka_unit_test(the_depth_does_not_change_with_the_view),
          cmocka_unit_test(all_pairs_that_overlap_are_counted_once))
