/* The elastic strain of the thesis (4.3.3; docs/numerics.md, 13a): turned by the flow, half before it grows
   by the rate of strain and half after, with plastic flow of its deviator beyond the yield point. */
#include "elastic_law.h"

static Matrix3 as_it_is(const Matrix3 *strain)
{
  return *strain;
}

static Matrix3 turned(const Matrix3 *rotation, const Matrix3 *strain)
{
  const Matrix3 back = matrix3_transpose(rotation);
  Matrix3       result = matrix3_multiply(rotation, strain);

  result = matrix3_multiply(&result, &back);
  matrix_symmetrise(&result);
  return result;
}

static Matrix3 stretch(const ElasticStep *step, const Matrix3 *gradient, const Matrix3 *strain)
{
  Matrix3 half_turn, grown, rotation;

  for (PetscInt a = 0; a < 3; a++)
    for (PetscInt b = 0; b < 3; b++)
      half_turn.at[a][b] = 0.25 * step->dt * (gradient->at[a][b] - gradient->at[b][a]);
  rotation = matrix_exponential(&half_turn);
  grown = turned(&rotation, strain);
  for (PetscInt a = 0; a < 3; a++)
    for (PetscInt b = 0; b < 3; b++)
      grown.at[a][b] += 0.5 * step->dt * (gradient->at[a][b] + gradient->at[b][a]);
  return turned(&rotation, &grown);
}

static PetscReal load(const ElasticStep *step, const Matrix3 *strain)
{
  const Matrix3 deviator = matrix_deviator(step->dimension, strain);

  return matrix_norm(&deviator);
}

/* Exact. */
static Matrix3 relax(const ElasticStep *step, RelaxationHalf half, const Matrix3 *strain)
{
  const Matrix3 deviator = matrix_deviator(step->dimension, strain);
  Matrix3       result = *strain;

  (void)half;
  matrix_add(&result, part_of_load(step, matrix_norm(&deviator)) - 1., &deviator);
  return result;
}

static Matrix3 stress(const ElasticStep *step, const Matrix3 *strain)
{
  return matrix_scaled(2. * step->elasticity->modulus, strain);
}

static PetscReal energy(const ElasticStep *step, const Matrix3 *strain)
{
  return step->elasticity->modulus * PetscSqr(matrix_norm(strain));
}

/* Strain that is turned answers as well. */
static PetscReal stiffness(const ElasticStep *step, const Matrix3 *strain)
{
  return 1. + PetscMax(0., matrix_largest_value(step->dimension, strain));
}

const StrainLaw RotatedStrain = {as_it_is, as_it_is,    stretch,   relax, stress,
                                 energy,   matrix_norm, stiffness, load};
