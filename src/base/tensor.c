/* Decompositions of 3x3 matrices.

   Singular values by one-sided Jacobi (Hestenes 1958): pairs of columns of M V are rotated until they are
   orthogonal to round-off,

     |b_p . b_q| <= 2 eps |b_p| |b_q|,

   so even small singular values and what belongs to them come out to the precision of the matrix. Jacobi
   rotations of M^T M with a QR factorisation after it (McAdams et al. 2011) need half of the work, but leave
   an error of sqrt(eps) where the second value is about sqrt(eps) of the first: 9e-9 was measured.

   Principal axes by cyclic Jacobi rotations; exponentials and logarithms by them, or near zero and one, where
   series of products cost a fifth, by these. Scales are powers of two, which change no digit. */

/* before everything else, so that also what headers define inline rounds after each operation */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#elif defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

#include <millrace/tensor.h>

#include <math.h>

static const Matrix3 identity = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

/* The exponent of the largest entry; zero for the matrix zero and for what is not finite. */
static int matrix_exponent(const Matrix3 *m)
{
  PetscReal largest = 0;
  int       exponent = 0;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      largest = PetscMax(largest, PetscAbsReal(m->at[i][j]));
  if (largest > 0 && largest <= PETSC_MAX_REAL)
    frexp(largest, &exponent);
  return exponent;
}

static Matrix3 scaled_by_power(const Matrix3 *m, int exponent)
{
  Matrix3 scaled;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      scaled.at[i][j] = ldexp(m->at[i][j], exponent);
  return scaled;
}

/* Values of the scaled matrix at the scale of m; not numbers if m is not finite, which no comparison has
 * noticed. */
static Vector3 unscaled_values(Vector3 values, const Matrix3 *m, int exponent)
{
  PetscReal nothing = 0;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      nothing += 0 * m->at[i][j];
  for (PetscInt d = 0; d < DIM; d++)
    values.at[d] = ldexp(values.at[d], exponent) + nothing;
  return values;
}

static Matrix3 matrix_of_columns(const Vector3 columns[DIM])
{
  Matrix3 m;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      m.at[i][j] = columns[j].at[i];
  return m;
}

/* a - s (b + tau a) and b + s (a - tau b): a rotation with tau = s / (1 + c), whose small changes are small
   numbers (Rutishauser 1966). */
static void turn_numbers(PetscReal *a, PetscReal *b, PetscReal s, PetscReal tau)
{
  const PetscReal first = *a, second = *b;

  *a = first - s * (second + tau * first);
  *b = second + s * (first - tau * second);
}

/* Columns of M V, and of V. */
typedef struct {
  Vector3 image[DIM], base[DIM];
} MatrixColumns;

static void swap_pair(Vector3 columns[DIM], PetscInt p, PetscInt q)
{
  const Vector3 first = columns[p];

  columns[p] = columns[q];
  columns[q] = vector3_scale(-1, first);
}

/* Rotates two columns so that their images become orthogonal; false if they are. */
static PetscBool make_orthogonal(MatrixColumns *columns, PetscInt p, PetscInt q)
{
  const Vector3   a = columns->image[p], b = columns->image[q];
  const PetscReal pp = vector3_dot(a, a), qq = vector3_dot(b, b), pq = vector3_dot(a, b);
  PetscReal       theta, t, c, s;

  if (!(PetscAbsReal(pq) > 2 * PETSC_MACHINE_EPSILON * (PetscSqrtReal(pp) * PetscSqrtReal(qq))))
    return PETSC_FALSE;
  theta = 0.5 * (qq - pp) / pq;
  t = (theta < 0 ? -1 : 1) / (PetscAbsReal(theta) + PetscSqrtReal(theta * theta + 1));
  c = 1 / PetscSqrtReal(t * t + 1);
  s = t * c;
  for (PetscInt d = 0; d < DIM; d++) {
    turn_numbers(&columns->image[p].at[d], &columns->image[q].at[d], s, s / (1 + c));
    turn_numbers(&columns->base[p].at[d], &columns->base[q].at[d], s, s / (1 + c));
  }
  return PETSC_TRUE;
}

/* The longer of two neighbours first; the base stays a rotation. */
static void sort_pair(MatrixColumns *columns, PetscReal squares[DIM], PetscInt p)
{
  const PetscReal square = squares[p];

  if (!(squares[p] < squares[p + 1]))
    return;
  squares[p] = squares[p + 1];
  squares[p + 1] = square;
  swap_pair(columns->image, p, p + 1);
  swap_pair(columns->base, p, p + 1);
}

static void sort_columns(MatrixColumns *columns)
{
  PetscReal squares[DIM];

  for (PetscInt p = 0; p < DIM; p++)
    squares[p] = vector3_dot(columns->image[p], columns->image[p]);
  sort_pair(columns, squares, 0);
  sort_pair(columns, squares, 1);
  sort_pair(columns, squares, 0);
}

/* The unit vector of b across the unit vector u, or any if b is too short to have one. */
static Vector3 direction_across(Vector3 u, Vector3 b)
{
  const PetscReal length = vector3_norm(b);
  Vector3         across;

  if (!(length > 1e-150)) /* its square has no full precision */
    return vector3_perpendicular(u);
  across = vector3_scale(1 / length, b);
  across = vector3_subtract(across, vector3_scale(vector3_dot(u, across), u));
  return vector3_scale(1 / vector3_norm(across), across);
}

/* u and the values from orthogonal images that fall in length. */
static void name_images(const Vector3 image[DIM], Vector3 u[DIM], Vector3 *values)
{
  const PetscReal length = vector3_norm(image[X]);

  if (length == 0) {
    for (PetscInt d = X; d < DIM; d++)
      u[d] = vector3(d == X, d == Y, d == Z);
    *values = vector3(0, 0, 0);
    return;
  }
  u[X] = vector3_scale(1 / length, image[X]);
  u[X] = vector3_scale(1 / vector3_norm(u[X]), u[X]);
  u[Y] = direction_across(u[X], image[Y]);
  u[Z] = vector3_cross(u[X], u[Y]);
  *values = vector3(vector3_dot(u[X], image[X]), vector3_dot(u[Y], image[Y]), vector3_dot(u[Z], image[Z]));
}

SignedSvd matrix3_svd(const Matrix3 *m)
{
  enum { SWEEPS = 16 }; /* the convergence is quadratic: six are usual */
  const int     exponent = matrix_exponent(m);
  const Matrix3 scaled = scaled_by_power(m, -exponent);
  MatrixColumns columns;
  Vector3       u[DIM], values;
  PetscBool     turned = PETSC_TRUE;

  for (PetscInt j = 0; j < DIM; j++) {
    columns.image[j] = vector3(scaled.at[X][j], scaled.at[Y][j], scaled.at[Z][j]);
    columns.base[j] = vector3(j == X, j == Y, j == Z);
  }
  for (PetscInt sweep = 0; turned && sweep < SWEEPS; sweep++) {
    turned = PETSC_FALSE;
    for (PetscInt p = 0; p < DIM; p++)
      for (PetscInt q = p + 1; q < DIM; q++)
        if (make_orthogonal(&columns, p, q))
          turned = PETSC_TRUE;
  }
  sort_columns(&columns);
  name_images(columns.image, u, &values);
  return (SignedSvd){matrix_of_columns(u), matrix_of_columns(columns.base),
                     unscaled_values(values, m, exponent)};
}

/* a b^T; not by matrix3_multiply, whose digits depend on how it was compiled. */
static Matrix3 product_with_transpose(const Matrix3 *a, const Matrix3 *b)
{
  Matrix3 m;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      m.at[i][j] = a->at[i][X] * b->at[j][X] + a->at[i][Y] * b->at[j][Y] + a->at[i][Z] * b->at[j][Z];
  return m;
}

PolarParts svd_polar(const SignedSvd *svd)
{
  const PrincipalAxes stretch = {svd->v, svd->values};

  return (PolarParts){product_with_transpose(&svd->u, &svd->v), symmetric3_compose(&stretch)};
}

PolarParts matrix3_polar(const Matrix3 *m)
{
  const SignedSvd svd = matrix3_svd(m);

  return svd_polar(&svd);
}

/* Rotates the axes i and j so that m[i][j] vanishes, k being the third; false if it is nothing beside m[i][i]
   and m[j][j]. */
static PetscBool rotate_away(Matrix3 *m, Matrix3 *axes, PetscInt i, PetscInt j, PetscInt k)
{
  const PetscReal off = m->at[i][j];
  PetscReal       theta, t, c, s;

  if (!(PetscAbsReal(off) >
        0.125 * PETSC_MACHINE_EPSILON * (PetscAbsReal(m->at[i][i]) + PetscAbsReal(m->at[j][j]))))
    return PETSC_FALSE;
  theta = 0.5 * (m->at[j][j] - m->at[i][i]) / off;
  t = (theta < 0 ? -1 : 1) / (PetscAbsReal(theta) + PetscSqrtReal(theta * theta + 1));
  c = 1 / PetscSqrtReal(t * t + 1);
  s = t * c;
  m->at[i][i] -= t * off;
  m->at[j][j] += t * off;
  m->at[i][j] = m->at[j][i] = 0;
  turn_numbers(&m->at[i][k], &m->at[j][k], s, s / (1 + c));
  m->at[k][i] = m->at[i][k];
  m->at[k][j] = m->at[j][k];
  for (PetscInt row = 0; row < DIM; row++)
    turn_numbers(&axes->at[row][i], &axes->at[row][j], s, s / (1 + c));
  return PETSC_TRUE;
}

/* The smaller value first; the axes stay a rotation. */
static void sort_axes(Matrix3 *m, Matrix3 *axes, PetscInt i, PetscInt j)
{
  const PetscReal value = m->at[i][i];

  if (!(m->at[i][i] > m->at[j][j]))
    return;
  m->at[i][i] = m->at[j][j];
  m->at[j][j] = value;
  for (PetscInt k = 0; k < DIM; k++) {
    const PetscReal component = axes->at[k][i];

    axes->at[k][i] = axes->at[k][j];
    axes->at[k][j] = -component;
  }
}

PrincipalAxes symmetric3_eigen(const Matrix3 *matrix)
{
  enum { SWEEPS = 16 }; /* the convergence is quadratic: five are usual */
  const int exponent = matrix_exponent(matrix);
  Matrix3   m = scaled_by_power(matrix, -exponent), axes = identity;
  PetscBool turned = PETSC_TRUE;

  for (PetscInt sweep = 0; turned && sweep < SWEEPS; sweep++) {
    turned = rotate_away(&m, &axes, X, Y, Z);
    turned = rotate_away(&m, &axes, X, Z, Y) || turned;
    turned = rotate_away(&m, &axes, Y, Z, X) || turned;
  }
  sort_axes(&m, &axes, X, Y);
  sort_axes(&m, &axes, Y, Z);
  sort_axes(&m, &axes, X, Y);
  return (PrincipalAxes){axes,
                         unscaled_values(vector3(m.at[X][X], m.at[Y][Y], m.at[Z][Z]), matrix, exponent)};
}

Matrix3 symmetric3_compose(const PrincipalAxes *parts)
{
  const Matrix3 *q = &parts->axes;
  Matrix3        m;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j <= i; j++) {
      PetscReal sum = 0;

      for (PetscInt k = 0; k < DIM; k++)
        sum += q->at[i][k] * q->at[j][k] * parts->values.at[k];
      m.at[i][j] = m.at[j][i] = sum;
    }
  return m;
}

/* ln 2 in two parts: products of the first, which has 32 bits, and a whole number below 2^21 are exact. */
static const PetscReal ln2_high = 0x1.62e42fefp-1, ln2_low = 0x1.473de6af278edp-34;

/* x = k ln 2 + r with |r| <= ln 2 / 2, and 2^k times the Taylor polynomial of r. */
PetscReal portable_exp(PetscReal x)
{
  enum { DEGREE = 14 };
  PetscReal k, r, sum = 1;

  if (!(PetscAbsReal(x) <= 800)) /* beyond the range of exponents, or not a number */
    return x > 0 ? HUGE_VAL : x < 0 ? 0 : x;
  k = rint(x * 1.4426950408889634074);
  r = (x - k * ln2_high) - k * ln2_low;
  for (PetscInt n = DEGREE; n > 0; n--)
    sum = 1 + sum * r / (PetscReal)n;
  return ldexp(sum, (int)k);
}

/* x = 2^k m with m about one: ln m = 2 artanh((m - 1) / (m + 1)). */
PetscReal portable_log(PetscReal x)
{
  enum { TERMS = 13 };
  int       k;
  PetscReal m, s, square, sum = 0;

  if (!(x > 0 && x <= PETSC_MAX_REAL))
    return x == 0 ? -HUGE_VAL : x > 0 ? x : x < 0 ? (PetscReal)NAN : x;
  m = frexp(x, &k);
  if (m < 0.70710678118654752) {
    m *= 2;
    k--;
  }
  s = (m - 1) / (m + 1);
  square = s * s;
  for (PetscInt n = TERMS; n > 0; n--)
    sum = (sum + 1 / (PetscReal)(2 * n + 1)) * square;
  return k * ln2_high + (2 * s + (2 * s * sum + k * ln2_low));
}

/* The numbers that a symmetric matrix has. */
typedef struct {
  PetscReal xx, yy, zz, xy, yz, zx;
} Symmetric;

static inline Symmetric symmetric_part_of(const Matrix3 *m, PetscReal shift)
{
  return (Symmetric){m->at[X][X] + shift, m->at[Y][Y] + shift, m->at[Z][Z] + shift,
                     m->at[Y][X],         m->at[Z][Y],         m->at[Z][X]};
}

static inline Matrix3 matrix_of(const Symmetric *m)
{
  return (Matrix3){{{m->xx, m->xy, m->zx}, {m->xy, m->yy, m->yz}, {m->zx, m->yz, m->zz}}};
}

/* a b + shift for matrices with the same axes. */
static inline Symmetric product_of_commuting(const Symmetric *a, const Symmetric *b, PetscReal shift)
{
  return (Symmetric){a->xx * b->xx + a->xy * b->xy + a->zx * b->zx + shift,
                     a->xy * b->xy + a->yy * b->yy + a->yz * b->yz + shift,
                     a->zx * b->zx + a->yz * b->yz + a->zz * b->zz + shift,
                     a->xx * b->xy + a->xy * b->yy + a->zx * b->yz,
                     a->xy * b->zx + a->yy * b->yz + a->yz * b->zz,
                     a->xx * b->zx + a->xy * b->yz + a->zx * b->zz};
}

static inline Symmetric scaled_symmetric(PetscReal factor, const Symmetric *m)
{
  return (Symmetric){factor * m->xx, factor * m->yy, factor * m->zz,
                     factor * m->xy, factor * m->yz, factor * m->zx};
}

/* A bound of the eigenvalues' size: the largest sum of a row's. Not a number is larger than any. */
static PetscReal largest_row(const Symmetric *m)
{
  const PetscReal xy = PetscAbsReal(m->xy), yz = PetscAbsReal(m->yz), zx = PetscAbsReal(m->zx);
  const PetscReal x = PetscAbsReal(m->xx) + xy + zx, y = PetscAbsReal(m->yy) + xy + yz,
                  z = PetscAbsReal(m->zz) + yz + zx;

  if (!(x + y + z <= PETSC_MAX_REAL))
    return HUGE_VAL;
  return PetscMax(PetscMax(x, y), z);
}

/* 1 + m (1 + m/2 (1 + m/3 ...)), as far as it changes a digit. */
static Matrix3 exponential_series(const Symmetric *m, PetscReal size)
{
  static const PetscReal inverse[] = {1.,       1.,       1. / 2.,  1. / 3., 1. / 4.,  1. / 5.,
                                      1. / 6.,  1. / 7.,  1. / 8.,  1. / 9., 1. / 10., 1. / 11.,
                                      1. / 12., 1. / 13., 1. / 14., 1. / 15.};
  const PetscInt         most = PETSC_STATIC_ARRAY_LENGTH(inverse) - 1;
  Symmetric              sum = {1., 1., 1., 0., 0., 0.};
  PetscInt               terms = 1;

  for (PetscReal last = size; last > 0.125 * PETSC_MACHINE_EPSILON && terms < most;
       last *= size * inverse[terms])
    terms++;
  for (PetscInt n = terms; n > 0; n--) {
    const Symmetric part = scaled_symmetric(inverse[n], m);

    sum = product_of_commuting(&part, &sum, 1.);
  }
  return matrix_of(&sum);
}

/* Adjugate over determinant. */
static Symmetric inverse_of_positive(const Symmetric *m)
{
  const Symmetric adjugate = {m->yy * m->zz - m->yz * m->yz, m->zz * m->xx - m->zx * m->zx,
                              m->xx * m->yy - m->xy * m->xy, m->yz * m->zx - m->xy * m->zz,
                              m->zx * m->xy - m->yz * m->xx, m->xy * m->yz - m->zx * m->yy};

  return scaled_symmetric(1 / (m->xx * adjugate.xx + m->xy * adjugate.xy + m->zx * adjugate.zx), &adjugate);
}

/* ln (1 + x) = 2 artanh z = 2 z (1 + z^2 / 3 + z^4 / 5 + ...) with z = x / (2 + x), as far as it changes a
   digit. */
static Matrix3 logarithm_series(const Symmetric *x, PetscReal size)
{
  const Symmetric twice = {x->xx + 2., x->yy + 2., x->zz + 2., x->xy, x->yz, x->zx},
                  inverse = inverse_of_positive(&twice);
  const Symmetric z = product_of_commuting(x, &inverse, 0.), square = product_of_commuting(&z, &z, 0.);
  const PetscReal ratio = (size / (2 - size)) * (size / (2 - size));
  Symmetric       sum;
  PetscInt        terms = 0;

  for (PetscReal last = 1; last > 0.125 * PETSC_MACHINE_EPSILON; last *= ratio)
    terms++;
  sum = (Symmetric){.xx = 2 / (PetscReal)(2 * terms + 1)};
  sum.yy = sum.zz = sum.xx;
  for (PetscInt n = terms - 1; n >= 0; n--)
    sum = product_of_commuting(&square, &sum, 2 / (PetscReal)(2 * n + 1));
  sum = product_of_commuting(&z, &sum, 0.);
  return matrix_of(&sum);
}

static const PetscReal series_reach = 0.5; /* with as many terms as there are inverses */

Matrix3 symmetric3_exp(const Matrix3 *m)
{
  const Symmetric whole = symmetric_part_of(m, 0);
  const PetscReal size = largest_row(&whole);
  PrincipalAxes   parts;

  if (size <= series_reach)
    return exponential_series(&whole, size);
  parts = symmetric3_eigen(m);
  for (PetscInt d = 0; d < DIM; d++)
    parts.values.at[d] = portable_exp(parts.values.at[d]);
  return symmetric3_compose(&parts);
}

Matrix3 symmetric3_log(const Matrix3 *m)
{
  const Symmetric rest = symmetric_part_of(m, -1);
  const PetscReal size = largest_row(&rest);
  PrincipalAxes   parts;

  if (size <= series_reach)
    return logarithm_series(&rest, size);
  parts = symmetric3_eigen(m);
  for (PetscInt d = 0; d < DIM; d++)
    parts.values.at[d] = portable_log(parts.values.at[d]);
  return symmetric3_compose(&parts);
}

PetscReal matrix3_determinant(const Matrix3 *m)
{
  const Vector3 row[DIM] = {vector3(m->at[X][X], m->at[X][Y], m->at[X][Z]),
                            vector3(m->at[Y][X], m->at[Y][Y], m->at[Y][Z]),
                            vector3(m->at[Z][X], m->at[Z][Y], m->at[Z][Z])};

  return vector3_dot(row[X], vector3_cross(row[Y], row[Z]));
}
