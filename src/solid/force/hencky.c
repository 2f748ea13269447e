/* Hencky solids, which may yield (J2 plasticity with isotropic hardening).

   With F = F_e F_p and the logarithms e_i = ln s_i of the principal stretches of F_e,

     W = mu sum e_i^2 + lambda/2 (sum e_i)^2,    tau_i = dW/de_i,    P = U diag(tau_i / s_i) V^T F_p^-T.

   Kirchhoff's stress tau yields where q = sqrt(3/2) |dev tau| reaches Y = `yield` + `hardening` a, a being
   the plastic strain so far. From a trial with the F_p of the start of a step the deviator returns radially,
   by the plastic strain (q - Y) / (3 mu + hardening) (Simo 1992). What the stress is the slope of is W after
   the return plus the plastic work Y da, so that solves have a potential; F here is always the trial one. */
#include "element_kernel.h"

/* Logarithms end here: an element that thin is reported, not trusted. */
static const PetscReal least_stretch = 0.01;

/* Where a trial leads to. */
typedef struct {
  Vector3   strains, deviator, stresses; /* e of the trial, dev tau of it, tau after the return */
  PetscReal size;                        /* q of the trial */
  PetscReal flow;                        /* plastic strain of the step */
} Return;

static Return find_return(const Moduli *moduli, const Vector3 *values)
{
  const PetscReal mu = moduli->shear, bulk = moduli->lame + 2. / 3. * mu;
  Return          back = {.size = 0.};
  PetscReal       trace = 0., kept = 1.;

  for (PetscInt i = 0; i < DIM; i++) {
    back.strains.at[i] = portable_log(PetscMax(values->at[i], least_stretch));
    trace += back.strains.at[i];
  }
  for (PetscInt i = 0; i < DIM; i++)
    back.deviator.at[i] = 2. * mu * (back.strains.at[i] - trace / 3.);
  back.size = PetscSqrtReal(1.5 * vector3_dot(back.deviator, back.deviator));
  if (back.size > moduli->yield) {
    back.flow = (back.size - moduli->yield) / (3. * mu + moduli->hardening);
    kept = 1. - 3. * mu * back.flow / back.size;
  }
  for (PetscInt i = 0; i < DIM; i++)
    back.stresses.at[i] = bulk * trace + kept * back.deviator.at[i];
  return back;
}

/* d tau_i / d e_j, of the return too. */
static Matrix3 stress_slopes(const Moduli *moduli, const Return *back)
{
  const PetscReal mu = moduli->shear, bulk = moduli->lame + 2. / 3. * mu;
  const PetscReal ratio = back->flow > 0. ? back->flow / back->size : 0.;
  const PetscReal turn =
      back->flow > 0. ? 9. * mu * mu / PetscSqr(back->size) * (1. / (3. * mu + moduli->hardening) - ratio)
                      : 0.;
  Matrix3 slopes;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      slopes.at[i][j] = bulk + 2. * mu * (1. - 3. * mu * ratio) * ((i == j ? 1. : 0.) - 1. / 3.) -
                        turn * back->deviator.at[i] * back->deviator.at[j];
  return slopes;
}

static PrincipalLaw principal(const Moduli *moduli, const Vector3 *values)
{
  const Return  back = find_return(moduli, values);
  const Matrix3 slopes = stress_slopes(moduli, &back);
  PrincipalLaw  law;

  for (PetscInt i = 0; i < DIM; i++) {
    const PetscReal s = PetscMax(values->at[i], least_stretch);

    law.slopes.at[i] = back.stresses.at[i] / s;
    for (PetscInt j = 0; j < DIM; j++)
      law.curvatures.at[i][j] = (slopes.at[i][j] - (i == j ? back.stresses.at[i] : 0.)) /
                                (s * PetscMax(values->at[j], least_stretch));
  }
  return law;
}

static Matrix3 stress(const Moduli *moduli, const Matrix3 *f)
{
  const SignedSvd svd = matrix3_svd(f);

  return isotropic_compose(&svd, principal(moduli, &svd.values).slopes);
}

/* Of what is left after the return; straight on below the least stretch. */
static PetscReal energy(const Moduli *moduli, const Matrix3 *f)
{
  const SignedSvd svd = matrix3_svd(f);
  const Return    back = find_return(moduli, &svd.values);
  const PetscReal bulk = moduli->lame + 2. / 3. * moduli->shear;
  const PetscReal mean = (back.stresses.at[X] + back.stresses.at[Y] + back.stresses.at[Z]) / 3.;
  PetscReal       square = 0., beyond = 0.;

  for (PetscInt i = 0; i < DIM; i++) {
    square += PetscSqr(back.stresses.at[i] - mean);
    beyond += back.stresses.at[i] / least_stretch * PetscMin(0., svd.values.at[i] - least_stretch);
  }
  return 0.5 * mean * mean / bulk + 0.25 * square / moduli->shear + beyond;
}

/* The curvatures above have no eigenvalue beyond that of the slopes without flow, 2 mu + 3 lambda, and the
   stresses, over the square of the least stretch. */
static PetscReal stiffness(const Moduli *moduli, const Matrix3 *f)
{
  const SignedSvd svd = matrix3_svd(f);
  const Return    back = find_return(moduli, &svd.values);
  PetscReal       largest = 0.;

  for (PetscInt i = 0; i < DIM; i++)
    largest = PetscMax(largest, PetscAbsReal(back.stresses.at[i]));
  return (2. * moduli->shear + 3. * moduli->lame + largest) /
         PetscSqr(PetscMax(svd.values.at[Z], least_stretch));
}

/* The deviator of the strains falls as that of the stresses does. */
static PetscReal flow(const Moduli *moduli, const Vector3 *values, Vector3 *factors)
{
  const Return back = find_return(moduli, values);

  for (PetscInt i = 0; i < DIM; i++)
    factors->at[i] = back.flow > 0. ? portable_exp(-1.5 * back.flow * back.deviator.at[i] / back.size) : 1.;
  return back.flow;
}

static const ElasticLaw law = {energy, stress, principal, stiffness, flow, NULL};

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

const ForceKind HenckyForce = {
    .name = "hencky", .is_slow = PETSC_TRUE, .create = Create, .add_elastic = add_elastic, ELEMENT_FORCE};
