/* The laws of elasticity by name, and what they share. */
#include "elastic_law.h"

#include <millrace/tensor.h>

const StrainLaw *elastic_law(ElasticityModel model)
{
  static const StrainLaw *const laws[] = {NULL, &OldroydB, &RotatedStrain, &Giesekus, &FeneP};

  return laws[model];
}

ElasticStep elastic_step(const RegionElasticity *elasticity, PetscInt dimension, PetscReal dt)
{
  return (ElasticStep){elasticity, dimension, dt, portable_exp(-0.5 * dt / elasticity->relaxation)};
}

Matrix3 advanced_state(const StrainLaw *law, const ElasticStep *step, const Matrix3 *gradient,
                       const Matrix3 *state)
{
  Matrix3 next = law->relax(step, HALF_FIRST, state);

  next = law->stretch(step, gradient, &next);
  return law->relax(step, HALF_LAST, &next);
}

PetscReal part_of_load(const ElasticStep *step, PetscReal load)
{
  const PetscReal yield = step->elasticity->yield;

  if (load <= yield)
    return 1.;
  return (yield + (load - yield) * step->kept) / load;
}

Matrix3 matrix_scaled(PetscReal factor, const Matrix3 *m)
{
  Matrix3 result;

  for (PetscInt a = 0; a < 3; a++)
    for (PetscInt b = 0; b < 3; b++)
      result.at[a][b] = factor * m->at[a][b];
  return result;
}

void matrix_add(Matrix3 *sum, PetscReal factor, const Matrix3 *m)
{
  for (PetscInt a = 0; a < 3; a++)
    for (PetscInt b = 0; b < 3; b++)
      sum->at[a][b] += factor * m->at[a][b];
}

Matrix3 matrix_identity(void)
{
  return (Matrix3){{{1., 0., 0.}, {0., 1., 0.}, {0., 0., 1.}}};
}

void matrix_symmetrise(Matrix3 *m)
{
  for (PetscInt a = 0; a < 3; a++)
    for (PetscInt b = 0; b < a; b++)
      m->at[a][b] = m->at[b][a] = 0.5 * (m->at[a][b] + m->at[b][a]);
}

PetscReal matrix_trace(PetscInt dimension, const Matrix3 *m)
{
  PetscReal sum = 0.;

  for (PetscInt d = 0; d < dimension; d++)
    sum += m->at[d][d];
  return sum;
}

Matrix3 matrix_deviator(PetscInt dimension, const Matrix3 *m)
{
  const PetscReal mean = matrix_trace(dimension, m) / (PetscReal)dimension;
  Matrix3         result = *m;

  for (PetscInt d = 0; d < 3; d++)
    result.at[d][d] = d < dimension ? m->at[d][d] - mean : 0.;
  return result;
}

PetscReal matrix_norm(const Matrix3 *m)
{
  PetscReal sum = 0.;

  for (PetscInt a = 0; a < 3; a++)
    for (PetscInt b = 0; b < 3; b++)
      sum += PetscSqr(m->at[a][b]);
  return PetscSqrtReal(sum);
}

PetscReal matrix_largest_value(PetscInt dimension, const Matrix3 *m)
{
  const Matrix3 deviator = matrix_deviator(dimension, m);

  return matrix_trace(dimension, m) / (PetscReal)dimension +
         PetscSqrtReal(1. - 1. / (PetscReal)dimension) * matrix_norm(&deviator);
}

/* Of any matrix: Taylor's series of m / 2^n, as far as it changes a digit, squared n times. */
Matrix3 matrix_exponential(const Matrix3 *m)
{
  const PetscInt most_terms = 12, most_squarings = 30;
  PetscReal      size = 0., last = 1.;
  PetscInt       squarings = 0;
  Matrix3        power = matrix_identity(), sum = matrix_identity(), part;

  for (PetscInt a = 0; a < 3; a++)
    for (PetscInt b = 0; b < 3; b++)
      size = PetscMax(size, 3. * PetscAbsReal(m->at[a][b]));
  part = *m;
  for (; size > 0.25 && squarings < most_squarings; squarings++) {
    size *= 0.5;
    part = matrix_scaled(0.5, &part);
  }
  for (PetscInt n = 1; n <= most_terms && last > 0.1 * PETSC_MACHINE_EPSILON; n++) {
    last *= size / (PetscReal)n;
    power = matrix3_multiply(&power, &part);
    for (PetscInt a = 0; a < 3; a++)
      for (PetscInt b = 0; b < 3; b++) {
        power.at[a][b] *= 1. / (PetscReal)n;
        sum.at[a][b] += power.at[a][b];
      }
  }
  for (PetscInt n = 0; n < squarings; n++)
    sum = matrix3_multiply(&sum, &sum);
  return sum;
}
