/* Linear tetrahedra of any material: creation, damping, differentials, sums (tetrahedra.h). */
#include "tetrahedron_kernel.h"

static Matrix3 edges_of(const PetscInt corners[4], const Vector3 values[])
{
  Matrix3 edges;

  for (PetscInt c = 0; c < DIM; c++)
    for (PetscInt d = 0; d < DIM; d++)
      edges.at[d][c] = values[corners[c + 1]].at[d] - values[corners[0]].at[d];
  return edges;
}

/* A lane without an element repeats the first, and weighs nothing. */
static void fill_lane(TetrahedronBatch *batch, PetscInt lane, const PetscInt corners[4], const Vector3 rest[],
                      PetscReal weight)
{
  const Matrix3 edges = edges_of(corners, rest), inverse = matrix3_inverse(&edges);

  for (PetscInt c = 0; c < 4; c++)
    batch->corners[c][lane] = (int)corners[c];
  for (PetscInt i = 0; i < NINE; i++) {
    batch->inverse[i][lane] = inverse.at[i / DIM][i % DIM];
    batch->gradient[i][lane] = i % (DIM + 1) ? 0. : 1.;
  }
  batch->volume[lane] = weight * matrix3_determinant(&edges) / 6.;
}

static Moduli moduli_of(const SolidMaterialConfig *material)
{
  const PetscReal e = material->young, nu = material->poisson;
  Moduli          moduli = {.shear = e / (2. * (1. + nu)), .lame = e * nu / ((1. + nu) * (1. - 2. * nu))};

  moduli.viscous_shear = material->damping * moduli.shear;
  moduli.viscous_lame = material->damping * moduli.lame;
  return moduli;
}

PetscErrorCode TetrahedronSetCreate(const ElasticLaw          *law, void (*set_own)(Moduli *moduli),
                                    const SolidMaterialConfig *material, const Tetrahedra *elements,
                                    const Vector3 rest[], TetrahedronSet **set)
{
  const Matrix3   unit = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  TetrahedronSet *made;

  PetscFunctionBegin;
  PetscCall(PetscNew(set));
  made = *set;
  made->law = law;
  made->moduli = moduli_of(material);
  if (set_own)
    set_own(&made->moduli);
  made->count = elements->count;
  made->batch_count = (made->count + LANES - 1) / LANES;
  made->batches = aligned_alloc(sizeof(Lanes), (size_t)made->batch_count * sizeof(*made->batches));
  PetscCheck(made->batches || !made->batch_count, PETSC_COMM_SELF, PETSC_ERR_MEM,
             "There is no memory for %" PetscInt_FMT " tetrahedra", made->count);
  made->stiffness = law->stiffness(&made->moduli, &unit);
  for (PetscInt e = 0; e < LANES * made->batch_count; e++)
    fill_lane(&made->batches[e / LANES], e % LANES, elements->corners[e < made->count ? e : 0], rest,
              e < made->count ? 1. : 0.);
  PetscFunctionReturn(0);
}

PetscErrorCode TetrahedronSetDestroy(void **set)
{
  PetscFunctionBegin;
  if (*set)
    free(((TetrahedronSet *)*set)->batches);
  PetscCall(PetscFree(*set));
  PetscFunctionReturn(0);
}

/* P = F (2 mu sym(F^T G) + lambda tr(F^T G) 1): of damping, and of Hooke's law where F = 1. */
KERNEL void linear_stress(PetscReal shear, PetscReal lame, const Lanes f[NINE], const Lanes g[NINE],
                          Lanes p[NINE])
{
  Lanes product[NINE], s[NINE], trace;

  lanes_multiply_turned(f, g, product);
  trace = lame * (product[0] + product[4] + product[8]);
  for (int i = 0; i < DIM; i++)
    for (int j = 0; j < DIM; j++) {
      s[DIM * i + j] = shear * (product[DIM * i + j] + product[DIM * j + i]);
      if (i == j)
        s[DIM * i + j] += trace;
    }
  lanes_multiply(f, s, p);
}

VECTOR_CLONES static void add_viscous(const TetrahedronSet *set, const Vector3 v[], Vector3 f[])
{
  const PetscReal shear = set->moduli.viscous_shear, lame = set->moduli.viscous_lame;

  for (PetscInt b = 0; b < set->batch_count; b++) {
    const TetrahedronBatch *batch = &set->batches[b];
    Lanes                   rate[NINE], p[NINE];

    lanes_gradient(batch, v, rate);
    linear_stress(shear, lame, batch->gradient, rate, p);
    lanes_give(batch, p, f);
  }
}

void tetrahedra_add_damping(const void *data, const Vector3 v[], Vector3 f[])
{
  const TetrahedronSet *set = data;

  if (set->moduli.viscous_shear > 0.)
    add_viscous(set, v, f);
}

/* All materials obey Hooke's law near their rest. */
VECTOR_CLONES static void add_hooke(const TetrahedronSet *set, const Vector3 dx[], Vector3 df[])
{
  const PetscReal shear = set->moduli.shear, lame = set->moduli.lame;
  Lanes           unit[NINE] = {{0}};

  for (int i = 0; i < DIM; i++)
    unit[(DIM + 1) * i] += 1.;
  for (PetscInt b = 0; b < set->batch_count; b++) {
    Lanes change[NINE], p[NINE];

    lanes_gradient(&set->batches[b], dx, change);
    linear_stress(shear, lame, unit, change, p);
    lanes_give(&set->batches[b], p, df);
  }
}

static Matrix3 lane_of(const Lanes values[NINE], PetscInt lane)
{
  Matrix3 m;

  for (PetscInt i = 0; i < NINE; i++)
    m.at[i / DIM][i % DIM] = values[i][lane];
  return m;
}

/* One element at a time: materials with singular values have no faster way. */
void tetrahedra_add_stiffness(const void *data, DifferentialPart part, const Vector3 dx[], Vector3 df[])
{
  const TetrahedronSet *set = data;

  if (part == DIFFERENTIAL_AT_REST)
    add_hooke(set, dx, df);
  for (PetscInt b = 0; b < set->batch_count && part != DIFFERENTIAL_AT_REST; b++) {
    const TetrahedronBatch *batch = &set->batches[b];
    Lanes                   change[NINE], p[NINE];

    lanes_gradient(batch, dx, change);
    for (PetscInt l = 0; l < LANES; l++) {
      const Matrix3 gradient = lane_of(batch->gradient, l), turned = lane_of(change, l);
      const Matrix3 dp = set->law->differential(&set->moduli, part, &gradient, &turned);

      for (PetscInt i = 0; i < NINE; i++)
        p[i][l] = dp.at[i / DIM][i % DIM];
    }
    lanes_give(batch, p, df);
  }
}

ForceReport tetrahedra_report(const void *data)
{
  const TetrahedronSet *set = data;
  ForceReport           report = {.least_ratio = PETSC_MAX_REAL};

  for (PetscInt e = 0; e < set->count; e++) {
    const TetrahedronBatch *batch = &set->batches[e / LANES];
    const Matrix3           gradient = lane_of(batch->gradient, e % LANES);
    const PetscReal         ratio = matrix3_determinant(&gradient), volume = batch->volume[e % LANES];

    report.energy += volume * set->law->energy(&set->moduli, &gradient);
    report.volume += volume * ratio;
    if (ratio < report.least_ratio) {
      report.least_ratio = ratio;
      report.least = e;
    }
  }
  return report;
}

PetscReal tetrahedra_stiffening(const void *data)
{
  const TetrahedronSet *set = data;
  PetscReal             largest = 0.;

  for (PetscInt e = 0; e < set->count; e++) {
    const Matrix3 gradient = lane_of(set->batches[e / LANES].gradient, e % LANES);

    largest = PetscMax(largest, set->law->stiffness(&set->moduli, &gradient));
  }
  return largest / set->stiffness;
}

/* Of sigma = P F^T / det F: sqrt(3/2) times the norm of its deviator. */
static PetscReal von_mises(const Matrix3 *stress, const Matrix3 *gradient, PetscReal ratio)
{
  const Matrix3   turned = matrix3_transpose(gradient), product = matrix3_multiply(stress, &turned);
  const PetscReal mean = (product.at[0][0] + product.at[1][1] + product.at[2][2]) / 3.;
  PetscReal       square = 0.;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      square += PetscSqr(product.at[i][j] - (i == j ? mean : 0.));
  return PetscSqrtReal(1.5 * square) / PetscMax(PetscAbsReal(ratio), PETSC_SMALL);
}

void tetrahedra_measure(const void *data, PetscReal ratios[], PetscReal stresses[])
{
  const TetrahedronSet *set = data;

  for (PetscInt e = 0; e < set->count; e++) {
    const Matrix3 gradient = lane_of(set->batches[e / LANES].gradient, e % LANES);
    const Matrix3 stress = set->law->stress(&set->moduli, &gradient);

    ratios[e] = matrix3_determinant(&gradient);
    stresses[e] = von_mises(&stress, &gradient, ratios[e]);
  }
}
