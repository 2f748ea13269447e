/* Stable neo-Hookean solids (Smith, de Goes, Kim 2018), which pass through inversion:

     W = mu/2 (I - 3) + lambda/2 (J - a)^2 - mu/2 ln (I + 1),   I = |F|^2, J = det F, a = 1 + 3 mu / (4
   lambda) P = mu (1 - 1/(I + 1)) F + lambda (J - a) cof F

   with mu = 4/3 and lambda = lambda_L + 5/6 mu_L of Lame's moduli: to first order it is Hooke's law. */
#include "element_kernel.h"

enum { OWN_SHEAR, OWN_LAME, OWN_RATIO };

static void set_own(Moduli *moduli)
{
  moduli->own[OWN_SHEAR] = 4. / 3. * moduli->shear;
  moduli->own[OWN_LAME] = moduli->lame + 5. / 6. * moduli->shear;
  moduli->own[OWN_RATIO] = 1. + 0.75 * moduli->own[OWN_SHEAR] / moduli->own[OWN_LAME];
}

KERNEL void lanes_stress(const Moduli *moduli, const Lanes f[NINE], Lanes p[NINE])
{
  const PetscReal mu = moduli->own[OWN_SHEAR], lambda = moduli->own[OWN_LAME];
  Lanes           cofactor[NINE], square = f[0] * f[0], shear, pressure;

  for (int i = 1; i < NINE; i++)
    square += f[i] * f[i];
  for (int i = 0; i < DIM; i++)
    for (int j = 0; j < DIM; j++) {
      const int i1 = (i + 1) % DIM, i2 = (i + 2) % DIM, j1 = (j + 1) % DIM, j2 = (j + 2) % DIM;

      cofactor[DIM * i + j] = f[DIM * i1 + j1] * f[DIM * i2 + j2] - f[DIM * i1 + j2] * f[DIM * i2 + j1];
    }
  shear = mu - mu / (square + 1.);
  pressure = lambda * (f[0] * cofactor[0] + f[1] * cofactor[1] + f[2] * cofactor[2] - moduli->own[OWN_RATIO]);
  for (int i = 0; i < NINE; i++)
    p[i] = shear * f[i] + pressure * cofactor[i];
}

VECTOR_CLONES static void add_elastic(void *set, const Vector3 x[], Vector3 f[])
{
  elements_add_elastic(set, x, f, lanes_stress);
}

static PetscReal square_of(const Matrix3 *f)
{
  PetscReal square = 0.;

  for (PetscInt i = 0; i < NINE; i++)
    square += PetscSqr(f->at[i / DIM][i % DIM]);
  return square;
}

/* Less what it is at rest. */
static PetscReal energy(const Moduli *moduli, const Matrix3 *f)
{
  const PetscReal mu = moduli->own[OWN_SHEAR], lambda = moduli->own[OWN_LAME], a = moduli->own[OWN_RATIO];
  const PetscReal square = square_of(f), ratio = matrix3_determinant(f);

  return 0.5 * mu * (square - 3.) + 0.5 * lambda * (PetscSqr(ratio - a) - PetscSqr(1. - a)) -
         0.5 * mu * PetscLogReal((square + 1.) / 4.);
}

static Matrix3 stress(const Moduli *moduli, const Matrix3 *f)
{
  Lanes   values[NINE], p[NINE];
  Matrix3 one;

  for (PetscInt i = 0; i < NINE; i++)
    for (PetscInt l = 0; l < LANES; l++)
      values[i][l] = f->at[i / DIM][i % DIM];
  lanes_stress(moduli, values, p);
  for (PetscInt i = 0; i < NINE; i++)
    one.at[i / DIM][i % DIM] = p[i][0];
  return one;
}

static PrincipalLaw principal(const Moduli *moduli, const Vector3 *values)
{
  const Vector3   s = *values, areas = vector3(s.at[1] * s.at[2], s.at[2] * s.at[0], s.at[0] * s.at[1]);
  const PetscReal mu = moduli->own[OWN_SHEAR], lambda = moduli->own[OWN_LAME], square = vector3_dot(s, s);
  const PetscReal pressure = lambda * (s.at[0] * areas.at[0] - moduli->own[OWN_RATIO]);
  PrincipalLaw    law;

  for (PetscInt i = 0; i < DIM; i++) {
    law.slopes.at[i] = (mu - mu / (square + 1.)) * s.at[i] + pressure * areas.at[i];
    for (PetscInt j = 0; j < DIM; j++) {
      law.curvatures.at[i][j] =
          2. * mu * s.at[i] * s.at[j] / PetscSqr(square + 1.) + lambda * areas.at[i] * areas.at[j];
      law.curvatures.at[i][j] += i == j ? mu - mu / (square + 1.) : pressure * s.at[DIM - i - j];
    }
  }
  return law;
}

static PetscReal stiffness(const Moduli *moduli, const Matrix3 *f)
{
  const PetscReal mu = moduli->own[OWN_SHEAR], lambda = moduli->own[OWN_LAME], square = square_of(f);
  const PetscReal ratio = matrix3_determinant(f);

  /* |cof F|^2 <= |F|^4 / 3 */
  return mu + lambda * (square * square / 3. +
                        PetscAbsReal(ratio - moduli->own[OWN_RATIO]) * PetscSqrtReal(square));
}

static Matrix3 cofactor_of(const Matrix3 *f)
{
  Matrix3 cofactor;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++) {
      const PetscInt i1 = (i + 1) % DIM, i2 = (i + 2) % DIM, j1 = (j + 1) % DIM, j2 = (j + 2) % DIM;

      cofactor.at[i][j] = f->at[i1][j1] * f->at[i2][j2] - f->at[i1][j2] * f->at[i2][j1];
    }
  return cofactor;
}

/* Between nodes a and b with slopes g: with u = F g, w = cof F g and r = F (g_a x g_b),

     mu (1 - 1/(I+1)) (g_a . g_b) 1 + 2 mu / (I+1)^2 u_a u_b^T + lambda w_a w_b^T - lambda (J - a) [r]x. */
static void add_exact(const Moduli *moduli, const Matrix3 *f, PetscReal factor, PetscInt nodes,
                      const PetscReal slopes[][DIM], PetscReal matrix[])
{
  const PetscReal mu = moduli->own[OWN_SHEAR], square = square_of(f) + 1.;
  const PetscReal shear = factor * (mu - mu / square), along = factor * 2. * mu / (square * square);
  const PetscReal lambda = factor * moduli->own[OWN_LAME];
  const PetscReal pressure = lambda * (matrix3_determinant(f) - moduli->own[OWN_RATIO]);
  const Matrix3   cofactor = cofactor_of(f);
  Vector3         u[ELEMENT_MOST_NODES], w[ELEMENT_MOST_NODES], g[ELEMENT_MOST_NODES];

  for (PetscInt a = 0; a < nodes; a++) {
    g[a] = vector3(slopes[a][X], slopes[a][Y], slopes[a][Z]);
    u[a] = matrix3_apply(f, g[a]);
    w[a] = matrix3_apply(&cofactor, g[a]);
  }
  for (PetscInt a = 0; a < nodes; a++)
    for (PetscInt b = a; b < nodes; b++) {
      const Vector3   r = vector3_scale(pressure, matrix3_apply(f, vector3_cross(g[a], g[b])));
      const PetscReal turn[DIM][DIM] = {
          {0, r.at[Z], -r.at[Y]}, {-r.at[Z], 0, r.at[X]}, {r.at[Y], -r.at[X], 0}};
      const PetscReal dot = shear * vector3_dot(g[a], g[b]);

      for (PetscInt i = 0; i < DIM; i++)
        for (PetscInt j = 0; j < DIM; j++) {
          const PetscReal value = (i == j ? dot : 0.) + along * u[a].at[i] * u[b].at[j] +
                                  lambda * w[a].at[i] * w[b].at[j] + turn[i][j];

          matrix[DIM * nodes * (DIM * a + i) + DIM * b + j] += value;
          if (b > a)
            matrix[DIM * nodes * (DIM * b + j) + DIM * a + i] += value;
        }
    }
}

static const ElasticLaw law = {energy, stress, principal, stiffness, NULL, add_exact};

static PetscErrorCode Create(const SolidMaterialConfig *material, const ElementList *elements,
                             const Vector3 rest[], void **data)
{
  PetscFunctionBegin;
  PetscCall(ElementSetCreate(&law, set_own, material, elements, rest, (ElementSet **)data));
  PetscFunctionReturn(0);
}

const ForceKind NeoHookeanForce = {.name = "neo-hookean",
                                   .survives_inversion = PETSC_TRUE,
                                   .create = Create,
                                   .add_elastic = add_elastic,
                                   ELEMENT_FORCE};
