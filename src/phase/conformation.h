#ifndef MILLRACE_CONFORMATION_H
#define MILLRACE_CONFORMATION_H

#include <millrace/base.h>

/* `gradient` at [d][a] is that of velocity component d along a. */
Matrix3 matrix_exponential(const Matrix3 *m);
/* log C after `dt`, of which `kept_half` remains of C - 1 in half a step by relaxation. */
Matrix3 stretched_conformation(const Matrix3 *logarithm, const Matrix3 *gradient, PetscReal dt,
                               PetscReal kept_half);
/* G (C - 1), and what `dt` of the gradient does to it beyond its linear part 2 G D dt. */
Matrix3 conformation_stress(const Matrix3 *logarithm, const Matrix3 *gradient, PetscReal dt,
                            PetscReal modulus);
/* G/2 (tr C - 3 - log det C), J/m^3 */
PetscReal conformation_energy(const Matrix3 *logarithm, PetscReal modulus);

#endif
