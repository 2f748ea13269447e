/* Small dense algebra. */
#include "harness.h"

#include <millrace/dense.h>

enum { LARGEST = 24 };

/* From -1 to 1 (Marsaglia's xorshift). */
static PetscReal random_number(uint64_t *seed)
{
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return (PetscReal)(*seed >> 11) / 4503599627370496. - 1;
}

/* G G^T with a G of so many columns, at the given stride. */
static void fill_definite(PetscInt n, PetscInt rank, PetscInt stride, uint64_t *seed, PetscReal a[])
{
  PetscReal g[LARGEST][LARGEST];

  for (PetscInt i = 0; i < n; i++)
    for (PetscInt k = 0; k < rank; k++)
      g[i][k] = random_number(seed) + (i == k);
  for (PetscInt i = 0; i < n; i++)
    for (PetscInt j = 0; j < n; j++) {
      a[stride * i + j] = 0;
      for (PetscInt k = 0; k < rank; k++)
        a[stride * i + j] += g[i][k] * g[j][k];
    }
}

static void multiply(PetscInt n, PetscInt stride, const PetscReal a[], const PetscReal x[], PetscReal y[])
{
  for (PetscInt i = 0; i < n; i++) {
    y[i] = 0;
    for (PetscInt j = 0; j < n; j++)
      y[i] += a[stride * i + j] * x[j];
  }
}

/* The largest difference from b of A x, for the x that `solve` makes of b. */
typedef void Solve(PetscInt n, PetscInt stride, PetscReal a[], PetscReal x[]);

static PetscReal residual(PetscInt n, PetscInt rank, uint64_t *seed, Solve *solve)
{
  const PetscInt stride = LARGEST;
  PetscReal a[LARGEST * LARGEST], factor[LARGEST * LARGEST], any[LARGEST], b[LARGEST], x[LARGEST], y[LARGEST],
      worst = 0;

  fill_definite(n, rank, stride, seed, a);
  for (PetscInt i = 0; i < n; i++)
    any[i] = random_number(seed);
  multiply(n, stride, a, any, b); /* in the range */
  PetscCallAbort(PETSC_COMM_SELF, PetscArraycpy(factor, a, LARGEST * LARGEST));
  PetscCallAbort(PETSC_COMM_SELF, PetscArraycpy(x, b, n));
  solve(n, stride, factor, x);
  multiply(n, stride, a, x, y);
  for (PetscInt i = 0; i < n; i++)
    worst = PetscMax(worst, PetscAbsReal(y[i] - b[i]));
  return worst;
}

static void by_cholesky(PetscInt n, PetscInt stride, PetscReal a[], PetscReal x[])
{
  dense_cholesky(n, stride, a);
  dense_cholesky_solve(n, stride, a, x);
}

static void by_ldl(PetscInt n, PetscInt stride, PetscReal a[], PetscReal x[])
{
  PetscReal work[LARGEST];

  dense_ldl(n, stride, a, 1e-12, work);
  dense_ldl_solve(n, stride, a, x);
}

static void definite_systems_are_solved(void **state)
{
  uint64_t seed = 1;

  (void)state;
  for (PetscInt n = 1; n <= LARGEST; n++) {
    assert_near(residual(n, n, &seed, by_cholesky), 0, 1e-10);
    assert_near(residual(n, n, &seed, by_ldl), 0, 1e-10);
  }
}

static void semidefinite_systems_are_solved_where_they_can_be(void **state)
{
  uint64_t seed = 2;

  (void)state;
  for (PetscInt n = 2; n <= 8; n++)
    assert_near(residual(n, n - 1, &seed, by_ldl), 0, 1e-9);
}

/* The third direction resists nothing: its unknown is zero, the others as if it were not there. */
static void what_nothing_resists_stays_zero(void **state)
{
  PetscReal a[9] = {4, 0, 0, 2, 5, 0, 0, 0, 0}, ldl[9] = {4, 0, 0, 2, 5, 0, 0, 0, 0}, work[3];
  PetscReal x[3] = {2, 9, 7}, y[3] = {2, 9, 7};

  (void)state;
  dense_cholesky(3, 3, a);
  dense_cholesky_solve(3, 3, a, x);
  dense_ldl(3, 3, ldl, 1e-12, work);
  dense_ldl_solve(3, 3, ldl, y);
  assert_near(x[0], -0.5, 1e-15);
  assert_near(x[1], 2, 1e-15);
  assert_near(x[2], 0, 0);
  assert_near(y[0], -0.5, 1e-15);
  assert_near(y[1], 2, 1e-15);
  assert_near(y[2], 0, 0);
}

static void an_inverse_undoes_its_matrix(void **state)
{
  uint64_t seed = 3;

  (void)state;
  for (PetscInt n = 1; n <= LARGEST; n++) {
    PetscReal a[LARGEST * LARGEST], inverse[LARGEST * LARGEST], x[LARGEST], y[LARGEST], z[LARGEST];
    PetscBool is_positive;

    fill_definite(n, n, n, &seed, a);
    for (PetscInt i = 0; i < n; i++) /* well away from singular */
      a[n * i + i] += 1;
    PetscCallAbort(PETSC_COMM_SELF, PetscArraycpy(inverse, a, n * n));
    assert_success(DenseInvert(n, inverse, &is_positive));
    assert_true(is_positive);
    for (PetscInt i = 0; i < n; i++)
      x[i] = random_number(&seed);
    multiply(n, n, a, x, y);
    multiply(n, n, inverse, y, z);
    for (PetscInt i = 0; i < n; i++)
      assert_near(z[i], x[i], 1e-12);
  }
}

static void what_is_not_definite_has_no_inverse(void **state)
{
  PetscReal a[4] = {1, 2, 2, 1};
  PetscBool is_positive;

  (void)state;
  assert_success(DenseInvert(2, a, &is_positive));
  assert_false(is_positive);
}

static void eigenvectors_make_their_matrix_diagonal(void **state)
{
  uint64_t  seed = 5;
  PetscReal a[LARGEST * LARGEST], diagonal[LARGEST * LARGEST], vectors[LARGEST * LARGEST], image[LARGEST];

  (void)state;
  fill_definite(LARGEST, 5, LARGEST, &seed, a); /* most of its eigenvalues vanish */
  PetscCallAbort(PETSC_COMM_SELF, PetscArraycpy(diagonal, a, LARGEST * LARGEST));
  dense_eigenvectors(LARGEST, diagonal, vectors);
  for (PetscInt k = 0; k < LARGEST; k++) {
    multiply(LARGEST, LARGEST, a, &vectors[LARGEST * k], image);
    for (PetscInt i = 0; i < LARGEST; i++)
      assert_near(image[i], diagonal[(LARGEST + 1) * k] * vectors[LARGEST * k + i], 1e-12);
  }
}

TEST_MAIN(cmocka_unit_test(definite_systems_are_solved),
          cmocka_unit_test(semidefinite_systems_are_solved_where_they_can_be),
          cmocka_unit_test(what_nothing_resists_stays_zero), cmocka_unit_test(an_inverse_undoes_its_matrix),
          cmocka_unit_test(what_is_not_definite_has_no_inverse),
          cmocka_unit_test(eigenvectors_make_their_matrix_diagonal))
