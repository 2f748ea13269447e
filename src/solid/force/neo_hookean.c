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

static const ElasticLaw law = {energy, stress, principal, stiffness, NULL};

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
