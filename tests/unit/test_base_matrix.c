/* 3x3 matrices. */
#include "harness.h"

#include <millrace/base.h>

static const Matrix3 inertia = {{{3, 0.5, -0.2}, {0.5, 2, 0.3}, {-0.2, 0.3, 1}}};

static void assert_same(const Matrix3 *a, const Matrix3 *b)
{
  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      assert_near(a->at[i][j], b->at[i][j], 1e-14);
}

static void an_inverse_undoes_its_matrix(void **state)
{
  const Matrix3 both[2] = {inertia, {{{3, 0.5, -0.2}, {-1, 2, 0.3}, {0.7, 0.1, 1}}}};
  const Matrix3 unit = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

  (void)state;
  for (PetscInt k = 0; k < 2; k++) {
    const Matrix3 inverse = matrix3_inverse(&both[k]), product = matrix3_multiply(&both[k], &inverse);

    assert_same(&product, &unit);
  }
}

static void principal_axes_rebuild_the_matrix(void **state)
{
  Quaternion rotation;
  Vector3    values;
  Matrix3    rebuilt;

  (void)state;
  matrix3_principal_axes(&inertia, &rotation, &values);
  rebuilt = matrix3_turned_diagonal(rotation, values);
  assert_same(&rebuilt, &inertia);
  assert_true(values.at[X] <= values.at[Y] && values.at[Y] <= values.at[Z]);
}

static void a_diagonal_in_any_order_is_sorted(void **state)
{
  const PetscReal orders[6][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}};

  (void)state;
  for (PetscInt k = 0; k < 6; k++) {
    const Matrix3 m = {{{orders[k][0], 0, 0}, {0, orders[k][1], 0}, {0, 0, orders[k][2]}}};
    Quaternion    rotation;
    Vector3       values;
    Matrix3       rebuilt;

    matrix3_principal_axes(&m, &rotation, &values);
    rebuilt = matrix3_turned_diagonal(rotation, values);
    assert_same(&rebuilt, &m);
    assert_near(values.at[X], 1, 0);
    assert_near(values.at[Z], 3, 0);
  }
}

static void a_matrix_and_its_quaternion_turn_alike(void **state)
{
  /* each makes another component the largest */
  const Vector3 rotations[4] = {{{0.1, 0.2, -0.1}}, {{3.1, 0.2, 0.1}}, {{0.3, 3, 0.1}}, {{-0.2, 0.3, 3.1}}};
  const Vector3 v = {{1, -2, 0.5}};

  (void)state;
  for (PetscInt k = 0; k < 4; k++) {
    const Quaternion q = quaternion_from_rotation(rotations[k]);
    const Matrix3    m = matrix3_from_quaternion(q);
    const Vector3    turned = quaternion_rotate(q, v), applied = matrix3_apply(&m, v);
    const Vector3    back = quaternion_rotate(quaternion_from_matrix(&m), v);

    assert_near(vector3_norm(vector3_subtract(turned, applied)), 0, 1e-14);
    assert_near(vector3_norm(vector3_subtract(turned, back)), 0, 1e-14);
  }
}

TEST_MAIN(cmocka_unit_test(an_inverse_undoes_its_matrix), cmocka_unit_test(principal_axes_rebuild_the_matrix),
          cmocka_unit_test(a_diagonal_in_any_order_is_sorted),
          cmocka_unit_test(a_matrix_and_its_quaternion_turn_alike))
