/* Corotational solids: Hooke's law in the frame that the element has turned to. With the polar decomposition
   F = R S, W = mu |S - 1|^2 + lambda/2 tr^2(S - 1) and P = R (2 mu (S - 1) + lambda tr(S - 1) 1). R stays a
   rotation where F turns an element inside out. */
#include "tetrahedron_kernel.h"

static PrincipalLaw principal(const Moduli *moduli, const SignedSvd *svd)
{
  const PetscReal trace = svd->values.at[0] + svd->values.at[1] + svd->values.at[2] - 3.;
  PrincipalLaw    law;

  for (PetscInt i = 0; i < DIM; i++) {
    law.slopes.at[i] = 2. * moduli->shear * (svd->values.at[i] - 1.) + moduli->lame * trace;
    for (PetscInt j = 0; j < DIM; j++)
      law.curvatures.at[i][j] = moduli->lame + (i == j ? 2. * moduli->shear : 0.);
  }
  return law;
}

static Matrix3 stress(const Moduli *moduli, const Matrix3 *f)
{
  const SignedSvd svd = matrix3_svd(f);

  return isotropic_compose(&svd, principal(moduli, &svd).slopes);
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
  tetrahedra_add_elastic(set, x, f, lanes_stress);
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

static Matrix3 differential(const Moduli *moduli, DifferentialPart part, const Matrix3 *f, const Matrix3 *df)
{
  const SignedSvd    svd = matrix3_svd(f);
  const PrincipalLaw law = principal(moduli, &svd);

  return isotropic_differential(&svd, &law, part, df);
}

static PetscReal stiffness(const Moduli *moduli, const Matrix3 *f)
{
  (void)f;
  return 2. * moduli->shear + 3. * moduli->lame;
}

static const ElasticLaw law = {energy, stress, differential, stiffness};

static PetscErrorCode Create(const SolidMaterialConfig *material, const Tetrahedra *elements,
                             const Vector3 rest[], void **data)
{
  PetscFunctionBegin;
  PetscCall(TetrahedronSetCreate(&law, NULL, material, elements, rest, (TetrahedronSet **)data));
  PetscFunctionReturn(0);
}

const ForceKind CorotationalForce = {.name = "corotational",
                                     .survives_inversion = PETSC_TRUE,
                                     .create = Create,
                                     .add_elastic = add_elastic,
                                     TETRAHEDRON_FORCE};
