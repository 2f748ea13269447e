/* St Venant-Kirchhoff solids: W = mu |E|^2 + lambda/2 (tr E)^2 of Green's strain E = (F^T F - 1)/2, and
   P = F (2 mu E + lambda tr E 1). They soften under compression and do not resist inversion: for moderate
   strains, and comparisons with published results. */
#include "element_kernel.h"

KERNEL void lanes_stress(const Moduli *moduli, const Lanes f[NINE], Lanes p[NINE])
{
  Lanes strain[NINE], trace;

  lanes_multiply_turned(f, f, strain); /* 2 E + 1 */
  trace = 0.5 * moduli->lame * (strain[0] + strain[4] + strain[8] - 3.);
  for (int i = 0; i < NINE; i++)
    strain[i] = moduli->shear * (i % (DIM + 1) ? strain[i] : strain[i] - 1.);
  for (int i = 0; i < DIM; i++)
    strain[(DIM + 1) * i] += trace;
  lanes_multiply(f, strain, p);
}

VECTOR_CLONES static void add_elastic(void *set, const Vector3 x[], Vector3 f[])
{
  elements_add_elastic(set, x, f, lanes_stress);
}

static Vector3 strains_of(const Vector3 *s)
{
  Vector3 strains;

  for (PetscInt i = 0; i < DIM; i++)
    strains.at[i] = 0.5 * (PetscSqr(s->at[i]) - 1.);
  return strains;
}

static PrincipalLaw principal(const Moduli *moduli, const Vector3 *s)
{
  const Vector3   e = strains_of(s);
  const PetscReal pressure = moduli->lame * (e.at[0] + e.at[1] + e.at[2]);
  PrincipalLaw    law;

  for (PetscInt i = 0; i < DIM; i++) {
    const PetscReal second = 2. * moduli->shear * e.at[i] + pressure;

    law.slopes.at[i] = s->at[i] * second;
    for (PetscInt j = 0; j < DIM; j++)
      law.curvatures.at[i][j] = moduli->lame * s->at[i] * s->at[j] +
                                (i == j ? second + 2. * moduli->shear * s->at[i] * s->at[i] : 0.);
  }
  return law;
}

static PetscReal energy(const Moduli *moduli, const Matrix3 *f)
{
  const SignedSvd svd = matrix3_svd(f);
  const Vector3   e = strains_of(&svd.values);

  return moduli->shear * vector3_dot(e, e) + 0.5 * moduli->lame * PetscSqr(e.at[0] + e.at[1] + e.at[2]);
}

static Matrix3 stress(const Moduli *moduli, const Matrix3 *f)
{
  const SignedSvd svd = matrix3_svd(f);

  return isotropic_compose(&svd, principal(moduli, &svd.values).slopes);
}

/* (2 mu + 3 lambda) |F|^2 bounds what the change of strain adds, |S| what the change of F does; at rest the
   first alone counts. */
static PetscReal stiffness(const Moduli *moduli, const Matrix3 *f)
{
  PetscReal square = 0.;

  for (PetscInt i = 0; i < NINE; i++)
    square += PetscSqr(f->at[i / DIM][i % DIM]);
  return (2. * moduli->shear + 3. * moduli->lame) * (square / 3. + PetscAbsReal(square - 3.) / 2.);
}

static const ElasticLaw law = {energy, stress, principal, stiffness, NULL, NULL};

static PetscErrorCode Create(const SolidMaterialConfig *material, const ElementList *elements,
                             const Vector3 rest[], void **data)
{
  PetscFunctionBegin;
  PetscCall(ElementSetCreate(&law, NULL, material, elements, rest, (ElementSet **)data));
  PetscFunctionReturn(0);
}

const ForceKind StVenantKirchhoffForce = {
    .name = "st-venant-kirchhoff", .create = Create, .add_elastic = add_elastic, ELEMENT_FORCE};
