/* Freedoms measured by mass: S is the square root of the inverse mass and the Cholesky factor of the inverse
 * inertia. */
#include <millrace/dense.h>

#include "scale.h"

Scale scale_of(const Mobility *mobility)
{
  Scale scale = {PetscSqrtReal(mobility->inverse_mass), mobility->inverse_inertia};

  dense_cholesky(DIM, DIM, &scale.angular.at[0][0]);
  scale.angular.at[X][Y] = scale.angular.at[X][Z] = scale.angular.at[Y][Z] = 0;
  return scale;
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
