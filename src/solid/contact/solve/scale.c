#include "scale.h"

/* The lower Cholesky factor of a matrix that may be semidefinite. */
static Matrix3 cholesky3(const Matrix3 *m)
{
  const PetscReal least = PETSC_MACHINE_EPSILON * (m->at[X][X] + m->at[Y][Y] + m->at[Z][Z]);
  Matrix3         factor = {{{0}}};

  for (PetscInt j = 0; j < DIM; j++) {
    PetscReal pivot = m->at[j][j];

    for (PetscInt k = 0; k < j; k++)
      pivot -= factor.at[j][k] * factor.at[j][k];
    if (pivot <= least)
      continue;
    factor.at[j][j] = PetscSqrtReal(pivot);
    for (PetscInt i = j + 1; i < DIM; i++) {
      PetscReal sum = m->at[i][j];

      for (PetscInt k = 0; k < j; k++)
        sum -= factor.at[i][k] * factor.at[j][k];
      factor.at[i][j] = sum / factor.at[j][j];
    }
  }
  return factor;
}

Scale scale_of(const Mobility *mobility)
{
  return (Scale){PetscSqrtReal(mobility->inverse_mass), cholesky3(&mobility->inverse_inertia)};
}

Freedoms scaled(const Scale *scale, const Twist *twist)
{
  Freedoms y = {{0}};

  if (!(scale->linear > 0))
    return y;
  for (PetscInt i = 0; i < DIM; i++) {
    PetscReal rest = twist->angular.at[i];

    y.at[i] = twist->linear.at[i] / scale->linear;
    for (PetscInt k = 0; k < i; k++)
      rest -= scale->angular.at[i][k] * y.at[DIM + k];
    y.at[DIM + i] = scale->angular.at[i][i] > 0 ? rest / scale->angular.at[i][i] : 0;
  }
  return y;
}

Twist unscaled(const Scale *scale, const PetscReal y[TWIST])
{
  return (Twist){vector3_scale(scale->linear, vector3(y[0], y[1], y[2])),
                 matrix3_apply(&scale->angular, vector3(y[3], y[4], y[5]))};
}
