/* Rigid maps and twists. */
#include "harness.h"

#include <millrace/base.h>

static RigidTransform some_transform(void)
{
  return (RigidTransform){vector3(1, -2, 0.5), quaternion_from_rotation(vector3(0.4, -1.1, 2))};
}

static void assert_same_vector(Vector3 a, Vector3 b, PetscReal tolerance)
{
  for (PetscInt d = 0; d < DIM; d++)
    assert_near(a.at[d], b.at[d], tolerance);
}

static void an_inverse_map_brings_points_back(void **state)
{
  const RigidTransform there = some_transform();
  const Vector3        local = vector3(3, 0.25, -7);

  (void)state;
  assert_same_vector(rigid_apply_inverse(&there, rigid_apply(&there, local)), local, 1e-14);
  assert_same_vector(rigid_apply(&there, vector3(0, 0, 0)), there.position, 0);
}

static void a_map_is_moved_about_its_own_position(void **state)
{
  const RigidTransform from = some_transform();
  const Vector3        shift = vector3(0.1, 0.2, 0.3), quarter = vector3(0, 0, 0.5 * PETSC_PI);
  const RigidTransform to = rigid_moved(&from, shift, quarter);
  const Vector3        arm = vector3_subtract(rigid_apply(&from, vector3(1, 2, 3)), from.position);
  const Vector3        turned = vector3(-arm.at[Y], arm.at[X], arm.at[Z]);

  (void)state;
  assert_same_vector(to.position, vector3_add(from.position, shift), 0);
  assert_same_vector(rigid_apply(&to, vector3(1, 2, 3)), vector3_add(to.position, turned), 1e-14);
}

static void the_twist_between_two_places_leads_there(void **state)
{
  const RigidTransform from = some_transform();
  const Vector3        rotations[] = {vector3(0.3, -0.2, 0.9), vector3(1e-14, 0, 0), vector3(0, 0, 0),
                                      vector3(3, 0.1, 0)};

  (void)state;
  for (PetscInt n = 0; n < 4; n++) {
    const RigidTransform to = rigid_moved(&from, vector3(0.5, 0, -1), rotations[n]);
    const Twist          twist = twist_between(&from, &to, 0.25);

    assert_same_vector(vector3_scale(0.25, twist.linear), vector3(0.5, 0, -1), 1e-15);
    assert_same_vector(vector3_scale(0.25, twist.angular), rotations[n], 1e-14);
  }
}

static void a_twist_is_linear_and_moves_points_about_the_centre(void **state)
{
  const Twist   a = {vector3(1, 2, 3), vector3(0, 0, 2)}, b = {vector3(-1, 0, 1), vector3(1, -1, 0)};
  const Twist   sum = twist_add(a, twist_scale(-2, b));
  const Vector3 arm = vector3(0.5, 1, -2);
  const Vector3 expected = vector3_subtract(twist_at(&a, arm), vector3_scale(2, twist_at(&b, arm)));

  (void)state;
  assert_same_vector(twist_at(&a, arm), vector3(1 - 2, 2 + 1, 3), 0);
  assert_same_vector(twist_at(&sum, arm), expected, 1e-15);
  assert_int_equal(TWIST * sizeof(PetscReal), sizeof(Twist));
}

TEST_MAIN(cmocka_unit_test(an_inverse_map_brings_points_back),
          cmocka_unit_test(a_map_is_moved_about_its_own_position),
          cmocka_unit_test(the_twist_between_two_places_leads_there),
          cmocka_unit_test(a_twist_is_linear_and_moves_points_about_the_centre))
