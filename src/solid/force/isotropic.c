/* Differentials of isotropic materials from their principal stretches.

   With F = U diag(s) V^T and P = U diag(p) V^T, M = U^T dF V splits into the diagonal, which the curvatures
   W_ij act on, and for each pair i < j into a symmetric part with the eigenvalue (p_i - p_j)/(s_i - s_j) and
   a skew one with (p_i + p_j)/(s_i + s_j). A definite differential has those that are negative set to zero.
 */
#include "tetrahedra.h"

/* Below it a quotient is replaced by its limit. */
static const PetscReal near_singular = 1e-6;

Matrix3 isotropic_compose(const SignedSvd *svd, Vector3 diagonal)
{
  const Matrix3 turned = matrix3_transpose(&svd->v);
  Matrix3       scaled = svd->u;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      scaled.at[i][j] *= diagonal.at[j];
  return matrix3_multiply(&scaled, &turned);
}

static Matrix3 without_negative(const Matrix3 *m)
{
  PrincipalAxes parts = symmetric3_eigen(m);

  for (PetscInt i = 0; i < DIM; i++)
    parts.values.at[i] = PetscMax(parts.values.at[i], 0.);
  return symmetric3_compose(&parts);
}

static PetscReal symmetric_part(const SignedSvd *svd, const PrincipalLaw *law, PetscInt i, PetscInt j)
{
  const PetscReal apart = svd->values.at[i] - svd->values.at[j];

  if (PetscAbsReal(apart) < near_singular)
    return 0.5 * (law->curvatures.at[i][i] + law->curvatures.at[j][j]) - law->curvatures.at[i][j];
  return (law->slopes.at[i] - law->slopes.at[j]) / apart;
}

static PetscReal skew_part(const SignedSvd *svd, const PrincipalLaw *law, PetscInt i, PetscInt j)
{
  const PetscReal sum = svd->values.at[i] + svd->values.at[j];

  if (PetscAbsReal(sum) < near_singular)
    return (law->slopes.at[i] + law->slopes.at[j]) / near_singular;
  return (law->slopes.at[i] + law->slopes.at[j]) / sum;
}

Matrix3 isotropic_differential(const SignedSvd *svd, const PrincipalLaw *law, DifferentialPart part,
                               const Matrix3 *df)
{
  const PetscReal least = part == DIFFERENTIAL_DEFINITE ? 0. : -PETSC_MAX_REAL;
  const Matrix3   u_turned = matrix3_transpose(&svd->u), v_turned = matrix3_transpose(&svd->v);
  const Matrix3   curvatures =
      part == DIFFERENTIAL_DEFINITE ? without_negative(&law->curvatures) : law->curvatures;
  Matrix3 m = matrix3_multiply(&u_turned, df), change = {{{0}}};

  m = matrix3_multiply(&m, &svd->v);
  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      change.at[i][i] += curvatures.at[i][j] * m.at[j][j];
  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = i + 1; j < DIM; j++) {
      const PetscReal even = PetscMax(least, symmetric_part(svd, law, i, j));
      const PetscReal odd = PetscMax(least, skew_part(svd, law, i, j));
      const PetscReal sum = 0.5 * even * (m.at[i][j] + m.at[j][i]);
      const PetscReal difference = 0.5 * odd * (m.at[i][j] - m.at[j][i]);

      change.at[i][j] = sum + difference;
      change.at[j][i] = sum - difference;
    }
  m = matrix3_multiply(&svd->u, &change);
  return matrix3_multiply(&m, &v_turned);
}
