/* Corotational solids: Hooke's law in the frame that the element has turned to. With the polar decomposition
   F = R S, W = mu |S - 1|^2 + lambda/2 tr^2(S - 1) and P = R (2 mu (S - 1) + lambda tr(S - 1) 1). R stays a
   rotation where F turns an element inside out. */
#include "element_kernel.h"

static PrincipalLaw principal(const Moduli *moduli, const Vector3 *s)
{
  const PetscReal trace = s->at[0] + s->at[1] + s->at[2] - 3.;
  PrincipalLaw    law;

  for (PetscInt i = 0; i < DIM; i++) {
    law.slopes.at[i] = 2. * moduli->shear * (s->at[i] - 1.) + moduli->lame * trace;
    for (PetscInt j = 0; j < DIM; j++)
      law.curvatures.at[i][j] = moduli->lame + (i == j ? 2. * moduli->shear : 0.);
  }
  return law;
}

static Matrix3 stress(const Moduli *moduli, const Matrix3 *f)
{
  const SignedSvd svd = matrix3_svd(f);

  return isotropic_compose(&svd, principal(moduli, &svd.values).slopes);
}

/* Decompositions are made one by one. */
static void lanes_stress(const Moduli *moduli, const Lanes f[NINE], Lanes p[NINE])
{
  for (PetscInt l = 0; l < LANES; l++) {
    Matrix3 gradient, one;

    for (PetscInt i = 0; i < NINE; i++)
      gradient.at[i / DIM][i % DIM] = f[i][l];
    one = stress(moduli, &gradient);
    for (PetscInt i = 0; i < NINE; i++)
      p[i][l] = one.at[i / DIM][i % DIM];
  }
}

static void add_elastic(void *set, const Vector3 x[], Vector3 f[])
{
  elements_add_elastic(set, x, f, lanes_stress);
}

static PetscReal energy(const Moduli *moduli, const Matrix3 *f)
{
  const SignedSvd svd = matrix3_svd(f);
  PetscReal       trace = 0., square = 0.;

  for (PetscInt i = 0; i < DIM; i++) {
    trace += svd.values.at[i] - 1.;
    square += PetscSqr(svd.values.at[i] - 1.);
  }
  return moduli->shear * square + 0.5 * moduli->lame * trace * trace;
}

static PetscReal stiffness(const Moduli *moduli, const Matrix3 *f)
{
  (void)f;
  return 2. * moduli->shear + 3. * moduli->lame;
}

static const ElasticLaw law = {energy, stress, principal, stiffness, NULL, NULL};

static PetscErrorCode Create(const SolidMaterialConfig *material, const ElementList *elements,
                             const Vector3 rest[], void **data)
{
  PetscFunctionBegin;
  PetscCall(ElementSetCreate(&law, NULL, material, elements, rest, (ElementSet **)data));
  PetscFunctionReturn(0);
}

const ForceKind CorotationalForce = {.name = "corotational",
                                     .is_slow = PETSC_TRUE,
                                     .survives_inversion = PETSC_TRUE,
                                     .create = Create,
                                     .add_elastic = add_elastic,
                                     ELEMENT_FORCE};
