/* Diagonalised, invertible finite elements (Irving, Teran and Fedkiw 2004: [42]). With the singular values s
   of F, of which the last is negative where an element is turned inside out,

     W = sum mu/2 (s_i^2 - 1) - mu sum l(s_i) + lambda/2 (sum l(s_i))^2,

   a neo-Hookean solid with l = ln s down to s = 0.3, where l goes on straight with its slope: so the stress
   goes on linearly, through flat and inverted elements, and is the slope of an energy. */
#include "element_kernel.h"

static const PetscReal straight_below = 0.3;

/* l and its slope. */
static PetscReal log_of(PetscReal s, PetscReal *slope)
{
  *slope = 1. / PetscMax(s, straight_below);
  return portable_log(PetscMax(s, straight_below)) + PetscMin(0., s - straight_below) / straight_below;
}

static PetscReal sum_of_logs(const Vector3 *values, Vector3 *slopes)
{
  PetscReal sum = 0.;

  for (PetscInt i = 0; i < DIM; i++)
    sum += log_of(values->at[i], &slopes->at[i]);
  return sum;
}

static PrincipalLaw principal(const Moduli *moduli, const Vector3 *values)
{
  const PetscReal mu = moduli->shear, lambda = moduli->lame;
  Vector3         slope;
  const PetscReal volume = sum_of_logs(values, &slope);
  PrincipalLaw    law;

  for (PetscInt i = 0; i < DIM; i++) {
    const PetscReal bent = values->at[i] > straight_below ? -PetscSqr(slope.at[i]) : 0.; /* l'' */

    law.slopes.at[i] = mu * values->at[i] + (lambda * volume - mu) * slope.at[i];
    for (PetscInt j = 0; j < DIM; j++)
      law.curvatures.at[i][j] =
          lambda * slope.at[i] * slope.at[j] + (i == j ? mu + (lambda * volume - mu) * bent : 0.);
  }
  return law;
}

static Matrix3 stress(const Moduli *moduli, const Matrix3 *f)
{
  const SignedSvd svd = matrix3_svd(f);

  return isotropic_compose(&svd, principal(moduli, &svd.values).slopes);
}

static PetscReal energy(const Moduli *moduli, const Matrix3 *f)
{
  const SignedSvd svd = matrix3_svd(f);
  Vector3         slopes;
  const PetscReal volume = sum_of_logs(&svd.values, &slopes);

  return 0.5 * moduli->shear * (vector3_dot(svd.values, svd.values) - 3.) - moduli->shear * volume +
         0.5 * moduli->lame * volume * volume;
}

/* No curvature is beyond mu + (mu + 3 lambda + lambda |sum l|) / s^2 with the least s, or 0.3. */
static PetscReal stiffness(const Moduli *moduli, const Matrix3 *f)
{
  const SignedSvd svd = matrix3_svd(f);
  Vector3         slopes;
  const PetscReal volume = PetscAbsReal(sum_of_logs(&svd.values, &slopes));

  return moduli->shear + (moduli->shear + (3. + volume) * moduli->lame) * PetscSqr(slopes.at[Z]);
}

static const ElasticLaw law = {energy, stress, principal, stiffness, NULL, NULL};

static void add_elastic(void *set, const Vector3 x[], Vector3 f[])
{
  elements_add_elastic_each(set, x, f);
}

static PetscErrorCode Create(const SolidMaterialConfig *material, const ElementList *elements,
                             const Vector3 rest[], void **data)
{
  PetscFunctionBegin;
  PetscCall(ElementSetCreate(&law, NULL, material, elements, rest, (ElementSet **)data));
  PetscFunctionReturn(0);
}

const ForceKind InvertibleForce = {.name = "invertible",
                                   .is_slow = PETSC_TRUE,
                                   .survives_inversion = PETSC_TRUE,
                                   .create = Create,
                                   .add_elastic = add_elastic,
                                   ELEMENT_FORCE};
