/* Upper-convected elasticity in one cell (Oldroyd-B): the conformation C, whose logarithm is what is kept,
   stretches with the flow and relaxes towards the identity. */
#include "conformation.h"

#include <millrace/tensor.h>

static Matrix3 scaled(PetscReal factor, const Matrix3 *m)
{
  Matrix3 result;

  for (PetscInt a = 0; a < 3; a++)
    for (PetscInt b = 0; b < 3; b++)
      result.at[a][b] = factor * m->at[a][b];
  return result;
}

static void add(Matrix3 *sum, PetscReal factor, const Matrix3 *m)
{
  for (PetscInt a = 0; a < 3; a++)
    for (PetscInt b = 0; b < 3; b++)
      sum->at[a][b] += factor * m->at[a][b];
}

static Matrix3 identity(void)
{
  return (Matrix3){{{1., 0., 0.}, {0., 1., 0.}, {0., 0., 1.}}};
}

/* Of any matrix: Taylor's series of m / 2^n, squared n times. */
Matrix3 matrix_exponential(const Matrix3 *m)
{
  const PetscInt terms = 12, most_squarings = 30;
  PetscReal      size = 0.;
  PetscInt       squarings = 0;
  Matrix3        power = identity(), sum = identity(), part;

  for (PetscInt a = 0; a < 3; a++)
    for (PetscInt b = 0; b < 3; b++)
      size = PetscMax(size, 3. * PetscAbsReal(m->at[a][b]));
  part = *m;
  for (; size > 0.25 && squarings < most_squarings; squarings++) {
    size *= 0.5;
    part = scaled(0.5, &part);
  }
  for (PetscInt n = 1; n <= terms; n++) {
    power = matrix3_multiply(&power, &part);
    power = scaled(1. / (PetscReal)n, &power);
    add(&sum, 1., &power);
  }
  for (PetscInt n = 0; n < squarings; n++)
    sum = matrix3_multiply(&sum, &sum);
  return sum;
}

static Matrix3 relaxed(const Matrix3 *c, PetscReal kept)
{
  Matrix3 result = identity();

  result = scaled(1. - kept, &result);
  add(&result, kept, c);
  return result;
}

/* Half of the relaxation before and half after the stretching: second order. */
Matrix3 stretched_conformation(const Matrix3 *logarithm, const Matrix3 *gradient, PetscReal dt,
                               PetscReal kept_half)
{
  Matrix3 c = symmetric3_exp(logarithm), change = scaled(dt, gradient), f, transpose;

  c = relaxed(&c, kept_half);
  f = matrix_exponential(&change);
  transpose = matrix3_transpose(&f);
  c = matrix3_multiply(&f, &c);
  c = matrix3_multiply(&c, &transpose);
  for (PetscInt a = 0; a < 3; a++) /* round-off is not symmetric */
    for (PetscInt b = 0; b < a; b++)
      c.at[a][b] = c.at[b][a] = 0.5 * (c.at[a][b] + c.at[b][a]);
  c = relaxed(&c, kept_half);
  return symmetric3_log(&c);
}

Matrix3 conformation_stress(const Matrix3 *logarithm, const Matrix3 *gradient, PetscReal dt,
                            PetscReal modulus)
{
  Matrix3 stress = symmetric3_exp(logarithm), turned, result;

  for (PetscInt a = 0; a < 3; a++)
    stress.at[a][a] -= 1.;
  stress = scaled(modulus, &stress);
  turned = matrix3_multiply(gradient, &stress);
  result = stress;
  add(&result, dt, &turned);
  turned = matrix3_transpose(&turned);
  add(&result, dt, &turned);
  return result;
}

PetscReal conformation_energy(const Matrix3 *logarithm, PetscReal modulus)
{
  const Matrix3 c = symmetric3_exp(logarithm);
  PetscReal     sum = 0.;

  for (PetscInt a = 0; a < 3; a++)
    sum += c.at[a][a] - 1. - logarithm->at[a][a];
  return 0.5 * modulus * sum;
}
