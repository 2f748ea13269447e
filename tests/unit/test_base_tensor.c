/* Decompositions of 3x3 matrices, over a million of them: of any kind, rank, sign and scale. */
#include "harness.h"

#include <millrace/tensor.h>

#include <math.h>
#include <string.h>

enum { CASES = 1000000, KINDS = 8, SCALES = 5 };

#define FEW_EPS (8 * PETSC_MACHINE_EPSILON)

static const PetscReal scales[SCALES] = {1, 1e-280, 1e300, 1e-150, 1e8};

/* From -1 to 1 (Marsaglia's xorshift). */
static PetscReal random_number(uint64_t *seed)
{
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return (PetscReal)(*seed >> 11) / 4503599627370496. - 1;
}

static Matrix3 random_matrix(uint64_t *seed)
{
  Matrix3 m;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      m.at[i][j] = random_number(seed);
  return m;
}

static Matrix3 random_rotation(uint64_t *seed)
{
  return matrix3_from_quaternion(quaternion_from_rotation(
      vector3(3 * random_number(seed), 3 * random_number(seed), 3 * random_number(seed))));
}

/* u diag(values) v^T */
static Matrix3 compose(const Matrix3 *u, Vector3 values, const Matrix3 *v)
{
  Matrix3 m = {{{0}}};

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      for (PetscInt k = 0; k < DIM; k++)
        m.at[i][j] += u->at[i][k] * values.at[k] * v->at[j][k];
  return m;
}

static Matrix3 with_values(uint64_t *seed, Vector3 values)
{
  const Matrix3 u = random_rotation(seed), v = random_rotation(seed);

  return compose(&u, values, &v);
}

static Matrix3 some_matrix(PetscInt number, uint64_t *seed)
{
  Matrix3         m = random_matrix(seed);
  const PetscReal a = exp(-37 * fabs(random_number(seed))), b = exp(-37 * fabs(random_number(seed)));

  switch (number % KINDS) {
  case 1: /* rank one */
    return with_values(seed, vector3(1, 0, 0));
  case 2: /* rank two */
    for (PetscInt j = 0; j < DIM; j++)
      m.at[Z][j] = m.at[X][j] - m.at[Y][j];
    return m;
  case 3: /* flat to any degree, and inside out */
    return with_values(seed, vector3(1, a, -a * b));
  case 4: /* nearly a rotation */
    return with_values(seed, vector3(1, 1 - 1e-15 * (PetscReal)(number % 7), 1));
  case 5: /* equal values, one of them negative */
    return with_values(seed, vector3(1, 1, -1));
  case 6: /* whole numbers with many zeros */
    for (PetscInt i = 0; i < DIM; i++)
      for (PetscInt j = 0; j < DIM; j++)
        m.at[i][j] = trunc(2 * m.at[i][j]);
    return m;
  case 7: /* entries of very different size */
    for (PetscInt i = 0; i < DIM; i++)
      for (PetscInt j = 0; j < DIM; j++)
        m.at[i][j] *= exp(-40 * fabs(random_number(seed)));
    return m;
  default:
    return m;
  }
}

static PetscReal largest_entry(const Matrix3 *m)
{
  PetscReal largest = 0;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      largest = PetscMax(largest, PetscAbsReal(m->at[i][j]));
  return largest;
}

static PetscReal difference(const Matrix3 *a, const Matrix3 *b)
{
  PetscReal largest = 0;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      largest = PetscMax(largest, PetscAbsReal(a->at[i][j] - b->at[i][j]));
  return largest;
}

static PetscReal departure_from_rotation(const Matrix3 *m)
{
  const Matrix3 unit = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, back = matrix3_transpose(m),
                product = matrix3_multiply(&back, m);

  return PetscMax(difference(&product, &unit), PetscAbsReal(matrix3_determinant(m) - 1));
}

static Matrix3 scaled_matrix(const Matrix3 *m, PetscReal scale)
{
  Matrix3 scaled;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      scaled.at[i][j] = scale * m->at[i][j];
  return scaled;
}

static PetscBool is_signed_svd(const SignedSvd *svd)
{
  const Vector3 values = svd->values;

  return values.at[X] >= 0 && values.at[X] >= values.at[Y] * (1 - FEW_EPS) &&
         values.at[Y] * (1 + FEW_EPS) >= PetscAbsReal(values.at[Z]);
}

static void singular_values_rebuild_any_matrix(void **state)
{
  uint64_t  seed = 1;
  PetscReal error = 0, turned = 0;
  PetscInt  wrong = 0;

  (void)state;
  for (PetscInt n = 0; n < CASES; n++) {
    const PetscReal scale = scales[n / KINDS % SCALES];
    const Matrix3   plain = some_matrix(n, &seed), m = scaled_matrix(&plain, scale);
    const SignedSvd svd = matrix3_svd(&m);
    const PetscReal size = largest_entry(&m);
    const Matrix3   rebuilt = compose(&svd.u, vector3_scale(1 / scale, svd.values), &svd.v);
    const Matrix3   same = scaled_matrix(&m, 1 / scale);

    wrong += !is_signed_svd(&svd);
    if (size > 0)
      error = PetscMax(error, difference(&rebuilt, &same) / (size / scale));
    turned = PetscMax(turned, PetscMax(departure_from_rotation(&svd.u), departure_from_rotation(&svd.v)));
  }
  assert_int_equal(wrong, 0);
  assert_near(error, 0, FEW_EPS);
  assert_near(turned, 0, FEW_EPS);
}

static void the_last_value_has_the_sign_of_the_determinant(void **state)
{
  uint64_t seed = 7;

  (void)state;
  for (PetscInt n = 0; n < 10000; n++) {
    const PetscReal last = 0.1 * random_number(&seed);
    const Matrix3   m = with_values(&seed, vector3(2, 0.5, last));
    const SignedSvd svd = matrix3_svd(&m);

    assert_near(svd.values.at[X], 2, 4 * FEW_EPS);
    assert_near(svd.values.at[Y], 0.5, 4 * FEW_EPS);
    assert_near(svd.values.at[Z], last, 4 * FEW_EPS);
  }
}

static void polar_parts_are_a_rotation_and_a_symmetric_stretch(void **state)
{
  uint64_t  seed = 3;
  PetscReal error = 0, turned = 0;

  (void)state;
  for (PetscInt n = 0; n < CASES / 10; n++) {
    const Matrix3    m = some_matrix(n, &seed);
    const PolarParts parts = matrix3_polar(&m);
    const Matrix3    product = matrix3_multiply(&parts.rotation, &parts.stretch);
    const Matrix3    mirrored = matrix3_transpose(&parts.stretch);

    assert_true(difference(&parts.stretch, &mirrored) == 0);
    error = PetscMax(error, difference(&product, &m) / PetscMax(largest_entry(&m), 1e-300));
    turned = PetscMax(turned, departure_from_rotation(&parts.rotation));
  }
  assert_near(error, 0, 2 * FEW_EPS);
  assert_near(turned, 0, 2 * FEW_EPS);
}

static Matrix3 symmetric_part(const Matrix3 *m)
{
  Matrix3 half;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      half.at[i][j] = 0.5 * m->at[i][j] + 0.5 * m->at[j][i];
  return half;
}

static void principal_axes_rebuild_any_symmetric_matrix(void **state)
{
  uint64_t  seed = 5;
  PetscReal error = 0, turned = 0;
  PetscInt  wrong = 0;

  (void)state;
  for (PetscInt n = 0; n < CASES; n++) {
    const PetscReal scale = scales[n / KINDS % SCALES];
    const Matrix3 any = some_matrix(n, &seed), plain = symmetric_part(&any), m = scaled_matrix(&plain, scale);
    const PrincipalAxes parts = symmetric3_eigen(&m);
    const Matrix3       rebuilt = compose(&parts.axes, vector3_scale(1 / scale, parts.values), &parts.axes);
    const Matrix3       same = scaled_matrix(&m, 1 / scale);

    wrong += !(parts.values.at[X] <= parts.values.at[Y] && parts.values.at[Y] <= parts.values.at[Z]);
    if (largest_entry(&m) > 0)
      error = PetscMax(error, difference(&rebuilt, &same) / (largest_entry(&m) / scale));
    turned = PetscMax(turned, departure_from_rotation(&parts.axes));
  }
  assert_int_equal(wrong, 0);
  assert_near(error, 0, FEW_EPS);
  assert_near(turned, 0, FEW_EPS);
}

static void exponential_and_logarithm_are_those_of_the_library(void **state)
{
  uint64_t seed = 11;

  (void)state;
  for (PetscInt n = 0; n < 100000; n++) {
    const PetscReal x = 700 * random_number(&seed), near_one = 1 + 0.5 * random_number(&seed), e = exp(x);

    assert_true(fabs(portable_exp(x) - e) <= 2 * PETSC_MACHINE_EPSILON * e);
    assert_true(fabs(portable_log(e) - log(e)) <= 2 * PETSC_MACHINE_EPSILON * fabs(log(e)));
    assert_true(fabs(portable_log(near_one) - log(near_one)) <=
                2 * PETSC_MACHINE_EPSILON * fabs(log(near_one)));
  }
  assert_true(portable_exp(0) == 1 && portable_log(1) == 0);
  assert_true(portable_exp(-1000) == 0 && isinf(portable_exp(1000)));
  assert_true(isinf(portable_log(0)) && isnan(portable_log(-1)) && isnan(portable_exp(NAN)));
}

static void the_logarithm_undoes_the_exponential_of_a_matrix(void **state)
{
  uint64_t seed = 13;

  (void)state;
  for (PetscInt n = 0; n < 10000; n++) {
    const Matrix3 any = random_matrix(&seed), strain = symmetric_part(&any);
    const Matrix3 stretch = symmetric3_exp(&strain), back = symmetric3_log(&stretch);

    assert_near(difference(&back, &strain), 0, 1e-14);
  }
}

/* exp(tr) = det exp, and exp(-m) exp(m) = 1. */
static void the_exponential_of_a_matrix_keeps_its_laws(void **state)
{
  const Matrix3 unit = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  uint64_t      seed = 17;

  (void)state;
  for (PetscInt n = 0; n < 10000; n++) {
    const Matrix3   any = random_matrix(&seed), m = symmetric_part(&any), opposite = scaled_matrix(&m, -1);
    const Matrix3   one = symmetric3_exp(&m), other = symmetric3_exp(&opposite);
    const Matrix3   product = matrix3_multiply(&one, &other);
    const PetscReal trace = m.at[X][X] + m.at[Y][Y] + m.at[Z][Z];

    assert_near(matrix3_determinant(&one) / exp(trace), 1, 1e-13);
    assert_near(difference(&product, &unit), 0, 1e-14);
  }
}

/* Through sizes at which one takes over from the other. */
static void series_and_principal_axes_give_the_same(void **state)
{
  uint64_t seed = 7;

  (void)state;
  for (PetscInt n = 0; n < 400; n++) {
    const Matrix3 any = random_matrix(&seed), strain = symmetric_part(&any);
    Matrix3       m, exponential, back, expected;
    PrincipalAxes parts;

    for (PetscInt i = 0; i < DIM; i++)
      for (PetscInt j = 0; j < DIM; j++)
        m.at[i][j] = strain.at[i][j] * (PetscReal)n / 800.;
    parts = symmetric3_eigen(&m);
    for (PetscInt d = 0; d < DIM; d++)
      parts.values.at[d] = portable_exp(parts.values.at[d]);
    expected = symmetric3_compose(&parts);
    exponential = symmetric3_exp(&m);
    back = symmetric3_log(&exponential);
    assert_true(difference(&exponential, &expected) < 1e-14);
    assert_true(difference(&back, &m) < 1e-14);
  }
}

static void what_is_not_finite_ends(void **state)
{
  const PetscReal bad[] = {NAN, INFINITY, -INFINITY};

  (void)state;
  for (PetscInt n = 0; n < 3; n++) {
    const Matrix3       m = {{{1, 2, bad[n]}, {2, 1, 0}, {bad[n], 0, 1}}};
    const SignedSvd     svd = matrix3_svd(&m);
    const PrincipalAxes parts = symmetric3_eigen(&m);

    assert_false(isfinite(svd.values.at[X]) && isfinite(svd.values.at[Y]) && isfinite(svd.values.at[Z]));
    assert_false(isfinite(parts.values.at[X]) && isfinite(parts.values.at[Y]) &&
                 isfinite(parts.values.at[Z]));
  }
}

/* Fowler, Noll and Vo. */
static void add_bytes(const void *data, size_t size, uint64_t *hash)
{
  const unsigned char *bytes = data;

  for (size_t n = 0; n < size; n++)
    *hash = (*hash ^ bytes[n]) * 1099511628211u;
}

/* The sum was printed by -O0, -O2, -O3 -march=native and -O2 -march=x86-64-v3 alike (GCC 12). Inputs are made
   by operations that round in one way, too. */
static void bits_do_not_depend_on_how_it_was_compiled(void **state)
{
  uint64_t seed = 19, hash = 14695981039346656037u;

  (void)state;
  for (PetscInt n = 0; n < 20000; n++) {
    Matrix3 m;

    for (PetscInt i = 0; i < DIM; i++)
      for (PetscInt j = 0; j < DIM; j++)
        m.at[i][j] = n % 3 == 0 && i == Z ? m.at[X][j] : random_number(&seed);
    {
      const SignedSvd     svd = matrix3_svd(&m);
      const PolarParts    polar = svd_polar(&svd);
      const Matrix3       strain = symmetric_part(&m), stretch = symmetric3_exp(&strain);
      const PrincipalAxes axes = symmetric3_eigen(&strain);
      const Matrix3       back = symmetric3_log(&stretch);

      add_bytes(&svd, sizeof(svd), &hash);
      add_bytes(&polar, sizeof(polar), &hash);
      add_bytes(&axes, sizeof(axes), &hash);
      add_bytes(&stretch, sizeof(stretch), &hash);
      add_bytes(&back, sizeof(back), &hash);
    }
  }
  assert_true(hash == 0xfe6e68065617399au);
}

TEST_MAIN(cmocka_unit_test(singular_values_rebuild_any_matrix),
          cmocka_unit_test(the_last_value_has_the_sign_of_the_determinant),
          cmocka_unit_test(polar_parts_are_a_rotation_and_a_symmetric_stretch),
          cmocka_unit_test(principal_axes_rebuild_any_symmetric_matrix),
          cmocka_unit_test(exponential_and_logarithm_are_those_of_the_library),
          cmocka_unit_test(the_logarithm_undoes_the_exponential_of_a_matrix),
          cmocka_unit_test(the_exponential_of_a_matrix_keeps_its_laws),
          cmocka_unit_test(series_and_principal_axes_give_the_same),
          cmocka_unit_test(what_is_not_finite_ends),
          cmocka_unit_test(bits_do_not_depend_on_how_it_was_compiled))
