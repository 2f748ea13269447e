/* Hooke's law of the displacement, P = mu (G + G^T) + lambda tr G 1 with G = F - 1: exact for small strains,
   and wrong for what turns: a rotation strains it. */
#include "element_kernel.h"

KERNEL void lanes_stress(const Moduli *moduli, const Lanes f[NINE], Lanes p[NINE])
{
  const Lanes trace = moduli->lame * (f[0] + f[4] + f[8] - 3.);

  for (int i = 0; i < DIM; i++)
    for (int j = 0; j < DIM; j++) {
      p[DIM * i + j] = moduli->shear * (f[DIM * i + j] + f[DIM * j + i]);
      if (i == j)
        p[DIM * i + j] += trace - 2. * moduli->shear;
    }
}

VECTOR_CLONES static void add_elastic(void *set, const Vector3 x[], Vector3 f[])
{
  elements_add_elastic(set, x, f, lanes_stress);
}

static Matrix3 hooke(const Moduli *moduli, const Matrix3 *g)
{
  const PetscReal trace = moduli->lame * (g->at[0][0] + g->at[1][1] + g->at[2][2]);
  Matrix3         p;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      p.at[i][j] = moduli->shear * (g->at[i][j] + g->at[j][i]) + (i == j ? trace : 0.);
  return p;
}

static Matrix3 displacement(const Matrix3 *f)
{
  Matrix3 g = *f;

  for (PetscInt i = 0; i < DIM; i++)
    g.at[i][i] -= 1.;
  return g;
}

static Matrix3 stress(const Moduli *moduli, const Matrix3 *f)
{
  const Matrix3 g = displacement(f);

  return hooke(moduli, &g);
}

static PetscReal energy(const Moduli *moduli, const Matrix3 *f)
{
  const Matrix3 g = displacement(f), p = hooke(moduli, &g);
  PetscReal     sum = 0.;

  for (PetscInt i = 0; i < NINE; i++)
    sum += 0.5 * p.at[i / DIM][i % DIM] * g.at[i / DIM][i % DIM];
  return sum;
}

static PetscReal stiffness(const Moduli *moduli, const Matrix3 *f)
{
  (void)f;
  return 2. * moduli->shear + 3. * moduli->lame;
}

static const ElasticLaw law = {energy, stress, NULL, stiffness, NULL, NULL};

static PetscErrorCode Create(const SolidMaterialConfig *material, const ElementList *elements,
                             const Vector3 rest[], void **data)
{
  PetscFunctionBegin;
  PetscCall(ElementSetCreate(&law, NULL, material, elements, rest, (ElementSet **)data));
  PetscFunctionReturn(0);
}

const ForceKind LinearForce = {.name = "linear", .create = Create, .add_elastic = add_elastic, ELEMENT_FORCE};
