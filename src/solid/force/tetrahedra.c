/* Tetrahedra of any material: creation, damping, differentials, sums (tetrahedra.h). */
#include "tetrahedron_kernel.h"

#include <millrace/mesh.h>

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

/* Weights' slopes of a quadratic element at barycentric coordinates L: of corner i (4 L_i - 1) grad L_i, of
   the middle of edge ij 4 (L_i grad L_j + L_j grad L_i). At rest edges are straight. */
static void set_slopes(QuadraticBatch *batch, PetscInt lane, const PetscReal at[4], const Vector3 b[4])
{
  for (PetscInt d = 0; d < DIM; d++) {
    for (PetscInt c = 0; c < 4; c++)
      batch->slopes[c][d][lane] = (4. * at[c] - 1.) * b[c].at[d];
    for (PetscInt k = 0; k < 6; k++) {
      const PetscInt *ends = mesh_edge(MESH_TETRAHEDRA, k);

      batch->slopes[4 + k][d][lane] = 4. * (at[ends[0]] * b[ends[1]].at[d] + at[ends[1]] * b[ends[0]].at[d]);
    }
  }
}

static void fill_quadratic(QuadraticBatch *batch, const PetscInt nodes[QUADRATIC_NODES], const Vector3 rest[])
{
  const PetscReal far = (5. - PetscSqrtReal(5.)) / 20., near = 1. - 3. * far;
  const Matrix3   edges = edges_of(nodes, rest), inverse = matrix3_inverse(&edges);
  Vector3         b[4] = {{{0}}};

  for (PetscInt i = 0; i < NINE; i++) {
    b[1 + i / DIM].at[i % DIM] = inverse.at[i / DIM][i % DIM];
    b[0].at[i % DIM] -= inverse.at[i / DIM][i % DIM];
  }
  for (PetscInt a = 0; a < QUADRATIC_NODES; a++)
    batch->nodes[a] = (int)nodes[a];
  for (PetscInt q = 0; q < LANES; q++) {
    PetscReal at[4] = {far, far, far, far};

    at[q] = near;
    set_slopes(batch, q, at, b);
    batch->volume[q] = matrix3_determinant(&edges) / 24.;
    for (PetscInt i = 0; i < NINE; i++)
      batch->gradient[i][q] = i % (DIM + 1) ? 0. : 1.;
  }
}

static PetscErrorCode Allocate(PetscInt count, size_t size, void **batches)
{
  PetscFunctionBegin;
  *batches = aligned_alloc(sizeof(Lanes), PetscMax(1, (size_t)count) * size);
  PetscCheck(*batches, PETSC_COMM_SELF, PETSC_ERR_MEM, "There is no memory for %" PetscInt_FMT " tetrahedra",
             count);
  PetscFunctionReturn(0);
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
  made->stiffness = law->stiffness(&made->moduli, &unit);
  made->count = made->batch_count = elements->count;
  if (elements->nodes == QUADRATIC_NODES) {
    PetscCall(Allocate(made->batch_count, sizeof(*made->quadratic), (void **)&made->quadratic));
    for (PetscInt e = 0; e < made->count; e++)
      fill_quadratic(&made->quadratic[e], &elements->elements[QUADRATIC_NODES * e], rest);
    PetscFunctionReturn(0);
  }
  made->batch_count = (made->count + LANES - 1) / LANES;
  PetscCall(Allocate(made->batch_count, sizeof(*made->batches), (void **)&made->batches));
  for (PetscInt e = 0; e < LANES * made->batch_count; e++)
    fill_lane(&made->batches[e / LANES], e % LANES, &elements->elements[4 * (e < made->count ? e : 0)], rest,
              e >= made->count   ? 0.
              : elements->filled ? elements->filled[e]
                                 : 1.);
  PetscFunctionReturn(0);
}

PetscErrorCode TetrahedronSetDestroy(void **set)
{
  PetscFunctionBegin;
  if (*set) {
    free(((TetrahedronSet *)*set)->batches);
    free(((TetrahedronSet *)*set)->quadratic);
  }
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

  for (PetscInt b = 0; b < set->batch_count && set->quadratic; b++) {
    const QuadraticBatch *batch = &set->quadratic[b];
    Lanes                 rate[NINE], p[NINE];

    quadratic_gradient(batch, v, rate);
    linear_stress(shear, lame, batch->gradient, rate, p);
    quadratic_give(batch, p, f);
  }
  for (PetscInt b = 0; b < set->batch_count && set->batches; b++) {
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
  for (PetscInt b = 0; b < set->batch_count && set->quadratic; b++) {
    Lanes change[NINE], p[NINE];

    quadratic_gradient(&set->quadratic[b], dx, change);
    linear_stress(shear, lame, unit, change, p);
    quadratic_give(&set->quadratic[b], p, df);
  }
  for (PetscInt b = 0; b < set->batch_count && set->batches; b++) {
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

/* One by one: materials with singular values have no faster way. */
static void find_differentials(const TetrahedronSet *set, DifferentialPart part, const Lanes gradient[NINE],
                               const Lanes change[NINE], Lanes p[NINE])
{
  for (PetscInt l = 0; l < LANES; l++) {
    const Matrix3 here = lane_of(gradient, l), moved = lane_of(change, l);
    const Matrix3 dp = set->law->differential(&set->moduli, part, &here, &moved);

    for (PetscInt i = 0; i < NINE; i++)
      p[i][l] = dp.at[i / DIM][i % DIM];
  }
}

void tetrahedra_add_stiffness(const void *data, DifferentialPart part, const Vector3 dx[], Vector3 df[])
{
  const TetrahedronSet *set = data;

  if (part == DIFFERENTIAL_AT_REST) {
    add_hooke(set, dx, df);
    return;
  }
  for (PetscInt b = 0; b < set->batch_count; b++) {
    Lanes change[NINE], p[NINE];

    if (set->quadratic) {
      quadratic_gradient(&set->quadratic[b], dx, change);
      find_differentials(set, part, set->quadratic[b].gradient, change, p);
      quadratic_give(&set->quadratic[b], p, df);
    } else {
      lanes_gradient(&set->batches[b], dx, change);
      find_differentials(set, part, set->batches[b].gradient, change, p);
      lanes_give(&set->batches[b], p, df);
    }
  }
}

/* Of an element, `point` of those where it has F: one, or four. */
typedef struct {
  Matrix3   gradient;
  PetscReal volume;
} ElementPoint;

static PetscInt points_of(const TetrahedronSet *set)
{
  return set->quadratic ? LANES : 1;
}

static ElementPoint element_point(const TetrahedronSet *set, PetscInt element, PetscInt point)
{
  const TetrahedronBatch *batch = set->batches ? &set->batches[element / LANES] : NULL;

  if (set->quadratic)
    return (ElementPoint){lane_of(set->quadratic[element].gradient, point),
                          set->quadratic[element].volume[point]};
  return (ElementPoint){lane_of(batch->gradient, element % LANES), batch->volume[element % LANES]};
}

ForceReport tetrahedra_report(const void *data)
{
  const TetrahedronSet *set = data;
  ForceReport           report = {.least_ratio = PETSC_MAX_REAL};

  for (PetscInt e = 0; e < set->count; e++)
    for (PetscInt q = 0; q < points_of(set); q++) {
      const ElementPoint point = element_point(set, e, q);
      const PetscReal    ratio = matrix3_determinant(&point.gradient);

      report.energy += point.volume * set->law->energy(&set->moduli, &point.gradient);
      report.volume += point.volume * ratio;
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

  for (PetscInt e = 0; e < set->count; e++)
    for (PetscInt q = 0; q < points_of(set); q++) {
      const ElementPoint point = element_point(set, e, q);

      largest = PetscMax(largest, set->law->stiffness(&set->moduli, &point.gradient));
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

/* Means over the points of an element. */
void tetrahedra_measure(const void *data, PetscReal ratios[], PetscReal stresses[])
{
  const TetrahedronSet *set = data;

  for (PetscInt e = 0; e < set->count; e++) {
    ratios[e] = stresses[e] = 0.;
    for (PetscInt q = 0; q < points_of(set); q++) {
      const ElementPoint point = element_point(set, e, q);
      const PetscReal    ratio = matrix3_determinant(&point.gradient);
      const Matrix3      stress = set->law->stress(&set->moduli, &point.gradient);

      ratios[e] += ratio / (PetscReal)points_of(set);
      stresses[e] += von_mises(&stress, &point.gradient, ratio) / (PetscReal)points_of(set);
    }
  }
}
