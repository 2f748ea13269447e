/* Differentials of isotropic materials from their principal stretches.

   With F = U diag(s) V^T and P = U diag(p) V^T, M = U^T dF V splits into the diagonal, which the curvatures
   W_ij act on, and for each pair i < j into a symmetric part with the eigenvalue (p_i - p_j)/(s_i - s_j) and
   a skew one with (p_i + p_j)/(s_i + s_j). A definite differential has those that are negative set to zero.
 */
#include "element_set.h"

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

/* By Sylvester's criterion. */
static PetscBool is_positive(const Matrix3 *m)
{
  const PetscReal minor = m->at[0][0] * m->at[1][1] - m->at[0][1] * m->at[1][0];

  return m->at[0][0] > 0. && minor > 0. && matrix3_determinant(m) > 0. ? PETSC_TRUE : PETSC_FALSE;
}

Matrix3 isotropic_without_negative(const Matrix3 *m)
{
  PrincipalAxes parts;

  if (is_positive(m))
    return *m;
  parts = symmetric3_eigen(m);

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

/* In principal axes, from m = U^T dF V to U^T dP V. */
typedef struct {
  Matrix3   curvatures;
  PetscReal even[DIM][DIM], odd[DIM][DIM]; /* i < j */
} PrincipalTangent;

/* Across a sheet, which is the third axis, no stress is left: what curvature gives it is taken by the stretch
   there, W_ij - W_i3 W_3j / W_33. Axes that turn out of the sheet meet the tension p_i / s_i alone. */
static Matrix3 sheet_curvatures(const PrincipalLaw *law)
{
  Matrix3 c = law->curvatures;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      c.at[i][j] = i == Z || j == Z
                       ? 0.
                       : law->curvatures.at[i][j] -
                             law->curvatures.at[i][Z] * law->curvatures.at[Z][j] / law->curvatures.at[Z][Z];
  return c;
}

static PrincipalTangent principal_tangent(const SignedSvd *svd, const PrincipalLaw *law,
                                          ElementSection section, DifferentialPart part)
{
  const PetscReal  least = part == DIFFERENTIAL_DEFINITE ? 0. : -PETSC_MAX_REAL;
  PrincipalTangent tangent;

  tangent.curvatures = section == SECTION_SHEET ? sheet_curvatures(law) : law->curvatures;
  if (part == DIFFERENTIAL_DEFINITE)
    tangent.curvatures = isotropic_without_negative(&tangent.curvatures);
  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = i + 1; j < DIM; j++) {
      tangent.even[i][j] = PetscMax(least, symmetric_part(svd, law, i, j));
      tangent.odd[i][j] = PetscMax(least, skew_part(svd, law, i, j));
    }
  return tangent;
}

static void change_pairs(const PrincipalTangent *tangent, const PetscReal m[DIM][DIM], Matrix3 *change)
{
  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = i + 1; j < DIM; j++) {
      const PetscReal sum = 0.5 * tangent->even[i][j] * (m[i][j] + m[j][i]);
      const PetscReal difference = 0.5 * tangent->odd[i][j] * (m[i][j] - m[j][i]);

      change->at[i][j] = sum + difference;
      change->at[j][i] = sum - difference;
    }
}

/* Of the row across a sheet, and nothing in the column. */
static void change_across(const SignedSvd *svd, const PrincipalLaw *law, DifferentialPart part,
                          const PetscReal m[DIM][DIM], Matrix3 *change)
{
  for (PetscInt i = 0; i < Z; i++) {
    const PetscReal tension = law->slopes.at[i] / PetscMax(svd->values.at[i], near_singular);

    change->at[Z][i] = m[Z][i] * (part == DIFFERENTIAL_DEFINITE ? PetscMax(0., tension) : tension);
    change->at[i][Z] = 0.;
  }
}

void isotropic_tangent(const SignedSvd *svd, const PrincipalLaw *law, ElementSection section,
                       DifferentialPart part, Tangent *tangent)
{
  const Matrix3          u = svd->u, v = svd->v, v_turned = matrix3_transpose(&svd->v);
  const PrincipalTangent own = principal_tangent(svd, law, section, part);

  for (PetscInt n = 0; n < NINE; n++) {
    PetscReal m[DIM][DIM];
    Matrix3   change = {{{0}}};

    for (PetscInt i = 0; i < DIM; i++)
      for (PetscInt j = 0; j < DIM; j++)
        m[i][j] = u.at[n / DIM][i] * v.at[n % DIM][j];
    change_pairs(&own, (const PetscReal(*)[DIM])m, &change);
    if (section == SECTION_SHEET)
      change_across(svd, law, part, (const PetscReal(*)[DIM])m, &change);
    for (PetscInt i = 0; i < DIM; i++)
      change.at[i][i] = own.curvatures.at[i][X] * m[X][X] + own.curvatures.at[i][Y] * m[Y][Y] +
                        own.curvatures.at[i][Z] * m[Z][Z];
    change = matrix3_multiply(&u, &change);
    change = matrix3_multiply(&change, &v_turned);
    for (PetscInt r = 0; r < NINE; r++)
      tangent->at[r][n] = change.at[r / DIM][r % DIM];
  }
}

void hooke_tangent(PetscReal shear, PetscReal lame, Tangent *tangent)
{
  for (PetscInt r = 0; r < NINE; r++)
    for (PetscInt n = 0; n < NINE; n++) {
      const PetscBool is_same = r == n, is_turned = r / DIM == n % DIM && r % DIM == n / DIM;
      const PetscBool are_both_diagonal = r % (DIM + 1) == 0 && n % (DIM + 1) == 0;

      tangent->at[r][n] = (is_same ? shear : 0.) + (is_turned ? shear : 0.) + (are_both_diagonal ? lame : 0.);
    }
}

Matrix3 tangent_apply(const Tangent *tangent, const Matrix3 *df)
{
  Matrix3 dp = {{{0}}};

  for (PetscInt r = 0; r < NINE; r++)
    for (PetscInt n = 0; n < NINE; n++)
      dp.at[r / DIM][r % DIM] += tangent->at[r][n] * df->at[n / DIM][n % DIM];
  return dp;
}

enum { ROOM = 12 }; /* nodes, and what fills up vectors */

/* Between node a and all nodes b, in principal axes: with slopes g = V^T grad N, p and q half the sum and
   difference of the even and odd parts,

     k_ii = W_ii g_ai g_bi + sum_{j != i} p_ij g_aj g_bj,   k_ij = W_ij g_ai g_bj + q_ij g_aj g_bi. */
KERNEL void principal_row(int nodes, const PrincipalTangent *tangent, const PetscReal slopes[DIM][ROOM],
                          int a, PetscReal row[DIM][DIM][ROOM])
{
  for (int i = 0; i < DIM; i++)
    for (int j = 0; j < DIM; j++) {
      const PetscReal even = tangent->even[i < j ? i : j][i < j ? j : i];
      const PetscReal odd = tangent->odd[i < j ? i : j][i < j ? j : i];
      const PetscReal w = tangent->curvatures.at[i][j] * slopes[i][a];
      const PetscReal p = 0.5 * (even + odd) * slopes[j][a], q = 0.5 * (even - odd) * slopes[j][a];

      for (int b = 0; b < nodes; b++) {
        if (i == j)
          row[i][i][b] += w * slopes[i][b];
        else {
          row[i][i][b] += p * slopes[j][b];
          row[i][j][b] += w * slopes[j][b] + q * slopes[i][b];
        }
      }
    }
}

/* matrix += factor U k U^T, of the row of node a. */
KERNEL void turn_row(int nodes, const Matrix3 *u, PetscReal factor, int a,
                     const PetscReal row[DIM][DIM][ROOM], PetscReal matrix[])
{
  PetscReal half[DIM][DIM][ROOM];

  for (int i = 0; i < DIM; i++)
    for (int j = 0; j < DIM; j++)
      for (int b = 0; b < nodes; b++)
        half[i][j][b] =
            factor * (u->at[i][0] * row[0][j][b] + u->at[i][1] * row[1][j][b] + u->at[i][2] * row[2][j][b]);
  for (int i = 0; i < DIM; i++)
    for (int j = 0; j < DIM; j++)
      for (int b = 0; b < nodes; b++)
        matrix[DIM * nodes * (DIM * a + i) + DIM * b + j] +=
            half[i][0][b] * u->at[j][0] + half[i][1][b] * u->at[j][1] + half[i][2][b] * u->at[j][2];
}

KERNEL void add_principal(int nodes, const SignedSvd *svd, const PrincipalTangent *tangent, PetscReal factor,
                          const PetscReal given[][DIM], PetscReal matrix[])
{
  PetscReal slopes[DIM][ROOM];

  for (int i = 0; i < DIM; i++)
    for (int b = 0; b < nodes; b++)
      slopes[i][b] =
          svd->v.at[0][i] * given[b][0] + svd->v.at[1][i] * given[b][1] + svd->v.at[2][i] * given[b][2];
  for (int a = 0; a < nodes; a++) {
    PetscReal row[DIM][DIM][ROOM];

    for (int k = 0; k < NINE; k++)
      for (int b = 0; b < nodes; b++)
        row[k / DIM][k % DIM][b] = 0.;
    principal_row(nodes, tangent, (const PetscReal(*)[ROOM])slopes, a, row);
    turn_row(nodes, &svd->u, factor, a, (const PetscReal(*)[DIM][ROOM])row, matrix);
  }
}

VECTOR_CLONES static void add_of_four(const SignedSvd *svd, const PrincipalTangent *tangent, PetscReal factor,
                                      const PetscReal slopes[][DIM], PetscReal matrix[])
{
  add_principal(4, svd, tangent, factor, slopes, matrix);
}

VECTOR_CLONES static void add_of_many(int nodes, const SignedSvd *svd, const PrincipalTangent *tangent,
                                      PetscReal factor, const PetscReal slopes[][DIM], PetscReal matrix[])
{
  add_principal(nodes, svd, tangent, factor, slopes, matrix);
}

void isotropic_add_matrix(const SignedSvd *svd, const PrincipalLaw *law, DifferentialPart part,
                          PetscReal factor, PetscInt nodes, const PetscReal slopes[][DIM], PetscReal matrix[])
{
  const PrincipalTangent tangent = principal_tangent(svd, law, SECTION_SOLID, part);

  if (nodes == 4)
    add_of_four(svd, &tangent, factor, slopes, matrix);
  else
    add_of_many((int)nodes, svd, &tangent, factor, slopes, matrix);
}
