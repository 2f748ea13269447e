#include <millrace/base.h>
#include "harness.h"

static const PetscReal round_off = 1e-14;

static void assert_vectors_equal(Vector3 a, Vector3 b)
{
  for (int d = 0; d < DIM; d++)
    assert_near(a.at[d], b.at[d], round_off);
}

static void a_quarter_turn_about_z_takes_x_to_y(void **state)
{
  const Quaternion q = quaternion_from_rotation(vector3(0, 0, PETSC_PI / 2));

  (void)state;
  assert_vectors_equal(quaternion_rotate(q, vector3(1, 0, 0)), vector3(0, 1, 0));
  assert_vectors_equal(quaternion_rotate(q, vector3(0, 1, 0)), vector3(-1, 0, 0));
  assert_vectors_equal(quaternion_rotate(q, vector3(0, 0, 1)), vector3(0, 0, 1));
}

static void a_product_applies_its_right_factor_first(void **state)
{
  const Quaternion a = quaternion_from_rotation(vector3(0.3, -1.1, 0.7));
  const Quaternion b = quaternion_from_rotation(vector3(-0.2, 0.4, 2.5));
  const Vector3    v = vector3(0.9, -0.4, 0.1);

  (void)state;
  assert_vectors_equal(quaternion_rotate(quaternion_multiply(a, b), v),
                       quaternion_rotate(a, quaternion_rotate(b, v)));
}

static void the_conjugate_turns_back(void **state)
{
  const Quaternion q = quaternion_from_rotation(vector3(1.2, 0.5, -0.8));
  const Vector3    v = vector3(-3, 2, 5);

  (void)state;
  assert_vectors_equal(quaternion_rotate(quaternion_conjugate(q), quaternion_rotate(q, v)), v);
}

static void a_tiny_rotation_has_unit_norm(void **state)
{
  (void)state;
  for (PetscReal angle = 1e-12; angle < 1; angle *= 10) {
    const Quaternion q = quaternion_from_rotation(vector3(angle, 0, 0));

    assert_near(q.scalar * q.scalar + vector3_dot(q.vector, q.vector), 1, round_off);
    assert_near(q.vector.at[X], PetscSinReal(angle / 2), 1e-16 + round_off * angle);
  }
}

static void slerp_turns_at_constant_speed(void **state)
{
  const Quaternion start = quaternion_from_rotation(vector3(0, 0.2, 0));
  const Quaternion end = quaternion_from_rotation(vector3(0, 1.4, 0));

  (void)state;
  for (int step = 0; step <= 4; step++) {
    const Quaternion q = quaternion_slerp(start, end, 0.25 * step);

    assert_near(2 * PetscAtan2Real(q.vector.at[Y], q.scalar), 0.2 + 0.3 * step, round_off);
  }
}

static void slerp_takes_the_shorter_arc(void **state)
{
  const Quaternion start = quaternion_from_rotation(vector3(0, 0, 0));
  const Quaternion end = quaternion_from_rotation(vector3(0, 0, 3 * PETSC_PI / 2));
  const Quaternion middle = quaternion_slerp(start, end, 0.5);

  (void)state;
  assert_vectors_equal(quaternion_rotate(middle, vector3(1, 0, 0)),
                       vector3(PetscSqrtReal(0.5), -PetscSqrtReal(0.5), 0));
}

static void slerp_between_equal_rotations_stays(void **state)
{
  const Quaternion q = quaternion_from_rotation(vector3(0.3, 0.1, 0.2));
  const Quaternion same = quaternion_slerp(q, q, 0.7);

  (void)state;
  assert_vectors_equal(same.vector, q.vector);
  assert_near(same.scalar, q.scalar, round_off);
}

TEST_MAIN(cmocka_unit_test(a_quarter_turn_about_z_takes_x_to_y),
          cmocka_unit_test(a_product_applies_its_right_factor_first),
          cmocka_unit_test(the_conjugate_turns_back), cmocka_unit_test(a_tiny_rotation_has_unit_norm),
          cmocka_unit_test(slerp_turns_at_constant_speed), cmocka_unit_test(slerp_takes_the_shorter_arc),
          cmocka_unit_test(slerp_between_equal_rotations_stays))
