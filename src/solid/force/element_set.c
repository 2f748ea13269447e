/* Elements of any material: creation, damping, differentials, sums (element_set.h). */
#include "element_kernel.h"

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

static PetscErrorCode Allocate(PetscInt count, size_t size, void **batches)
{
  PetscFunctionBegin;
  *batches = aligned_alloc(sizeof(Lanes), PetscMax(1, (size_t)count) * size);
  PetscCheck(*batches, PETSC_COMM_SELF, PETSC_ERR_MEM, "There is no memory for %" PetscInt_FMT " elements",
             count);
  PetscFunctionReturn(0);
}

static PetscErrorCode FillOthers(ElementSet *set, const Vector3 rest[])
{
  PetscFunctionBegin;
  PetscCall(Allocate(set->batch_count, sizeof(*set->others), (void **)&set->others));
  for (PetscInt e = 0; e < set->count; e++)
    set->points = element_slopes(&set->list, e, rest, &set->others[e]);
  PetscFunctionReturn(0);
}

static PetscErrorCode FillTetrahedra(ElementSet *set, const Vector3 rest[])
{
  PetscFunctionBegin;
  set->points = 1;
  set->batch_count = (set->count + LANES - 1) / LANES;
  PetscCall(Allocate(set->batch_count, sizeof(*set->batches), (void **)&set->batches));
  for (PetscInt e = 0; e < LANES * set->batch_count; e++)
    fill_lane(&set->batches[e / LANES], e % LANES, &set->list.elements[4 * (e < set->count ? e : 0)], rest,
              e >= set->count    ? 0.
              : set->list.filled ? set->list.filled[e]
                                 : 1.);
  PetscFunctionReturn(0);
}

/* Of a sheet, where the strain across follows from that within. */
static PetscReal sheet_lame(PetscReal shear, PetscReal lame)
{
  return shear > 0. ? 2. * shear * lame / (lame + 2. * shear) : 0.;
}

PetscErrorCode ElementSetCreate(const ElasticLaw          *law, void (*set_own)(Moduli *moduli),
                                const SolidMaterialConfig *material, const ElementList *elements,
                                const Vector3 rest[], ElementSet **set)
{
  const Matrix3   unit = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const PetscBool is_sheet = elements->section == SECTION_SHEET;
  ElementSet     *made;

  PetscFunctionBegin;
  PetscCall(PetscNew(set));
  made = *set;
  made->law = law;
  made->list = *elements;
  made->moduli = moduli_of(material);
  if (set_own)
    set_own(&made->moduli);
  made->flat_lame = is_sheet ? sheet_lame(made->moduli.shear, made->moduli.lame) : made->moduli.lame;
  made->viscous_lame = is_sheet ? sheet_lame(made->moduli.viscous_shear, made->moduli.viscous_lame)
                                : made->moduli.viscous_lame;
  made->stiffness = law->stiffness(&made->moduli, &unit);
  made->count = made->batch_count = elements->count;
  if (elements->nodes == 4 && elements->section == SECTION_SOLID)
    PetscCall(FillTetrahedra(made, rest));
  else
    PetscCall(FillOthers(made, rest));
  PetscFunctionReturn(0);
}

PetscErrorCode ElementSetDestroy(void **set)
{
  PetscFunctionBegin;
  if (*set) {
    free(((ElementSet *)*set)->batches);
    free(((ElementSet *)*set)->others);
  }
  PetscCall(PetscFree(*set));
  PetscFunctionReturn(0);
}

ElementList elements_list(const void *data)
{
  return ((const ElementSet *)data)->list;
}

static Matrix3 lane_of(const Lanes values[NINE], PetscInt lane)
{
  Matrix3 m;

  for (PetscInt i = 0; i < NINE; i++)
    m.at[i / DIM][i % DIM] = values[i][lane];
  return m;
}

/* The stretch across a sheet at which dW/ds vanishes, by Newton's method from one that keeps the volume. */
static PetscReal find_across(const ElementSet *set, Vector3 values)
{
  enum { MOST = 50 };

  values.at[Z] = PetscMin(2., 1. / PetscMax(0.5, values.at[X] * values.at[Y]));
  for (PetscInt k = 0; k < MOST; k++) {
    const PrincipalLaw law = set->law->principal(&set->moduli, &values);
    const PetscReal    change = -law.slopes.at[Z] / law.curvatures.at[Z][Z];
    const PetscReal    next = values.at[Z] + change;

    if (!(law.curvatures.at[Z][Z] > 0.))
      break;
    values.at[Z] = PetscMax(0.1 * values.at[Z], PetscMin(10. * values.at[Z], next));
    if (PetscAbsReal(change) <= 1e-15 * values.at[Z])
      break;
  }
  return values.at[Z];
}

/* F + s n N^T, lane by lane: the third singular vectors of F are n and N. Hooke's law knows planes z = const
   alone. */
static void close_sheet(const ElementSet *set, Lanes gradient[NINE], PetscInt lane)
{
  const Matrix3 f = lane_of(gradient, lane);
  PetscReal     across;
  SignedSvd     svd;

  if (!set->law->principal) {
    gradient[NINE - 1][lane] =
        1. - set->moduli.lame / (set->moduli.lame + 2. * set->moduli.shear) * (f.at[X][X] + f.at[Y][Y] - 2.);
    return;
  }
  svd = matrix3_svd(&f);
  svd.values.at[Y] = PetscAbsReal(svd.values.at[Y]);
  across = find_across(set, svd.values);
  for (PetscInt i = 0; i < NINE; i++)
    gradient[i][lane] += across * svd.u.at[i / DIM][Z] * svd.v.at[i % DIM][Z];
}

void elements_close(const ElementSet *set, const PointBatch *batch, Lanes gradient[NINE])
{
  if (set->list.section == SECTION_PLANE_STRAIN)
    for (PetscInt i = 0; i < NINE; i++)
      gradient[i] += batch->normal.at[i / DIM] * batch->normal.at[i % DIM];
  else
    for (PetscInt l = 0; l < LANES; l++)
      if (l < set->points)
        close_sheet(set, gradient, l);
      else
        for (PetscInt i = 0; i < NINE; i++)
          gradient[i][l] = i % (DIM + 1) ? 0. : 1.;
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

/* F (1 - N N^T): without what a triangle has across. */
KERNEL void batch_within(const PointBatch *batch, const Lanes f[NINE], Lanes within[NINE])
{
  for (int i = 0; i < DIM; i++) {
    const Lanes across = f[DIM * i] * batch->normal.at[X] + f[DIM * i + 1] * batch->normal.at[Y] +
                         f[DIM * i + 2] * batch->normal.at[Z];

    for (int j = 0; j < DIM; j++)
      within[DIM * i + j] = f[DIM * i + j] - across * batch->normal.at[j];
  }
}

VECTOR_CLONES static void add_viscous(const ElementSet *set, const Vector3 v[], Vector3 f[])
{
  const PetscReal shear = set->moduli.viscous_shear, lame = set->viscous_lame;
  const int       nodes = (int)set->list.nodes;

  for (PetscInt b = 0; b < set->batch_count && set->others; b++) {
    const PointBatch *batch = &set->others[b];
    Lanes             rate[NINE], within[NINE], p[NINE];

    batch_gradient(nodes, batch, v, rate);
    batch_within(batch, batch->gradient, within);
    linear_stress(shear, lame, within, rate, p);
    batch_give(nodes, batch, p, f);
  }
  for (PetscInt b = 0; b < set->batch_count && set->batches; b++) {
    const TetrahedronBatch *batch = &set->batches[b];
    Lanes                   rate[NINE], p[NINE];

    lanes_gradient(batch, v, rate);
    linear_stress(shear, lame, batch->gradient, rate, p);
    lanes_give(batch, p, f);
  }
}

void elements_add_damping(const void *data, const Vector3 v[], Vector3 f[])
{
  const ElementSet *set = data;

  if (set->moduli.viscous_shear > 0.)
    add_viscous(set, v, f);
}

/* All materials obey Hooke's law near their rest. */
VECTOR_CLONES static void add_hooke(const ElementSet *set, const Vector3 dx[], Vector3 df[])
{
  const PetscReal shear = set->moduli.shear, lame = set->flat_lame;
  const int       nodes = (int)set->list.nodes;
  Lanes           unit[NINE] = {{0}};

  for (int i = 0; i < DIM; i++)
    unit[(DIM + 1) * i] += 1.;
  for (PetscInt b = 0; b < set->batch_count && set->others; b++) {
    Lanes change[NINE], within[NINE], p[NINE];

    batch_gradient(nodes, &set->others[b], dx, change);
    batch_within(&set->others[b], unit, within);
    linear_stress(shear, lame, within, change, p);
    batch_give(nodes, &set->others[b], p, df);
  }
  for (PetscInt b = 0; b < set->batch_count && set->batches; b++) {
    Lanes change[NINE], p[NINE];

    lanes_gradient(&set->batches[b], dx, change);
    linear_stress(shear, lame, unit, change, p);
    lanes_give(&set->batches[b], p, df);
  }
}

/* dP/dF at F. Across a sheet the third axis is that of the normal: the singular value there is put last. */
static void find_tangent(const ElementSet *set, DifferentialPart part, const Matrix3 *f, Vector3 normal,
                         Tangent *tangent)
{
  SignedSvd    svd;
  PrincipalLaw law;

  if (!set->law->principal) {
    hooke_tangent(set->moduli.shear, set->flat_lame, tangent);
    return;
  }
  if (set->list.section == SECTION_SHEET) {
    Matrix3   within = *f;
    PetscReal across = 0.;

    for (PetscInt i = 0; i < DIM; i++)
      for (PetscInt j = 0; j < DIM; j++)
        for (PetscInt k = 0; k < DIM; k++)
          within.at[i][j] -= f->at[i][k] * normal.at[k] * normal.at[j];
    svd = matrix3_svd(&within);
    svd.values.at[Y] = PetscAbsReal(svd.values.at[Y]);
    for (PetscInt i = 0; i < NINE; i++)
      across += f->at[i / DIM][i % DIM] * svd.u.at[i / DIM][Z] * svd.v.at[i % DIM][Z];
    svd.values.at[Z] = across;
  } else
    svd = matrix3_svd(f);
  law = set->law->principal(&set->moduli, &svd.values);
  isotropic_tangent(&svd, &law, set->list.section, part, tangent);
}

/* One by one: materials with singular values have no faster way. */
static void find_differentials(const ElementSet *set, DifferentialPart part, Vector3 normal,
                               const Lanes gradient[NINE], const Lanes change[NINE], Lanes p[NINE])
{
  for (PetscInt l = 0; l < LANES; l++) {
    const Matrix3 here = lane_of(gradient, l), moved = lane_of(change, l);
    Tangent       tangent;
    Matrix3       dp;

    find_tangent(set, part, &here, normal, &tangent);
    dp = tangent_apply(&tangent, &moved);
    for (PetscInt i = 0; i < NINE; i++)
      p[i][l] = dp.at[i / DIM][i % DIM];
  }
}

void elements_add_stiffness(const void *data, DifferentialPart part, const Vector3 dx[], Vector3 df[])
{
  const ElementSet *set = data;
  const int         nodes = (int)set->list.nodes;

  if (part == DIFFERENTIAL_AT_REST) {
    add_hooke(set, dx, df);
    return;
  }
  for (PetscInt b = 0; b < set->batch_count; b++) {
    Lanes change[NINE], p[NINE];

    if (set->others) {
      batch_gradient(nodes, &set->others[b], dx, change);
      find_differentials(set, part, set->others[b].normal, set->others[b].gradient, change, p);
      batch_give(nodes, &set->others[b], p, df);
    } else {
      lanes_gradient(&set->batches[b], dx, change);
      find_differentials(set, part, vector3(0, 0, 0), set->batches[b].gradient, change, p);
      lanes_give(&set->batches[b], p, df);
    }
  }
}

/* A point of an element: F, volume and, of each node, the slope of its weight. */
typedef struct {
  Matrix3   gradient;
  PetscReal volume;
  Vector3   normal;
  PetscReal slopes[FORCE_MOST_NODES][DIM];
} ElementPoint;

static void take_slopes(const ElementSet *set, PetscInt element, PetscInt point, ElementPoint *taken)
{
  const PetscInt lane = element % LANES;

  for (PetscInt d = 0; d < DIM; d++) {
    for (PetscInt a = 0; a < set->list.nodes && set->others; a++)
      taken->slopes[a][d] = set->others[element].slopes[a][d][point];
    if (set->others)
      continue;
    taken->slopes[0][d] = 0.;
    for (PetscInt a = 1; a < 4; a++) {
      taken->slopes[a][d] = set->batches[element / LANES].inverse[DIM * (a - 1) + d][lane];
      taken->slopes[0][d] -= taken->slopes[a][d];
    }
  }
}

/* Without slopes. */
static ElementPoint element_point(const ElementSet *set, PetscInt element, PetscInt point)
{
  const TetrahedronBatch *batch = set->batches ? &set->batches[element / LANES] : NULL;

  if (set->others)
    return (ElementPoint){lane_of(set->others[element].gradient, point),
                          set->others[element].volume[point],
                          set->others[element].normal,
                          {{0}}};
  return (ElementPoint){
      lane_of(batch->gradient, element % LANES), batch->volume[element % LANES], vector3(0, 0, 0), {{0}}};
}

/* Of damping, with W = F (1 - N N^T): dP_ij / dG_kl = mu' ((W W^T)_ik d_jl + W_il W_kj) + lambda' W_ij W_kl;
   d_jl is the unit matrix in the plane of a triangle, where slopes are. */
static void add_viscous_tangent(const ElementSet *set, PetscReal factor, const ElementPoint *point,
                                Tangent *tangent)
{
  const PetscReal shear = factor * set->moduli.viscous_shear, lame = factor * set->viscous_lame;
  Matrix3         w = point->gradient, turned, square;

  for (PetscInt i = 0; i < DIM; i++) {
    const PetscReal across = point->gradient.at[i][X] * point->normal.at[X] +
                             point->gradient.at[i][Y] * point->normal.at[Y] +
                             point->gradient.at[i][Z] * point->normal.at[Z];

    for (PetscInt j = 0; j < DIM; j++)
      w.at[i][j] -= across * point->normal.at[j];
  }
  turned = matrix3_transpose(&w);
  square = matrix3_multiply(&w, &turned);
  for (PetscInt r = 0; r < NINE; r++)
    for (PetscInt n = 0; n < NINE; n++) {
      const PetscInt i = r / DIM, j = r % DIM, k = n / DIM, l = n % DIM;

      tangent->at[r][n] += shear * ((j == l ? square.at[i][k] : 0.) + w.at[i][l] * w.at[k][j]) +
                           lame * w.at[i][j] * w.at[k][l];
    }
}

/* matrix += V B^T A B, where B takes values of nodes to the gradient. */
static void add_point(const ElementPoint *point, PetscInt nodes, const Tangent *tangent, PetscReal matrix[])
{
  const PetscInt width = DIM * nodes;
  PetscReal      half[NINE][DIM * FORCE_MOST_NODES];

  for (PetscInt r = 0; r < NINE; r++)
    for (PetscInt b = 0; b < nodes; b++)
      for (PetscInt k = 0; k < DIM; k++)
        half[r][DIM * b + k] = point->volume * (tangent->at[r][DIM * k] * point->slopes[b][X] +
                                                tangent->at[r][DIM * k + 1] * point->slopes[b][Y] +
                                                tangent->at[r][DIM * k + 2] * point->slopes[b][Z]);
  for (PetscInt a = 0; a < nodes; a++)
    for (PetscInt i = 0; i < DIM; i++)
      for (PetscInt c = 0; c < width; c++)
        matrix[width * (DIM * a + i) + c] += point->slopes[a][X] * half[DIM * i][c] +
                                             point->slopes[a][Y] * half[DIM * i + 1][c] +
                                             point->slopes[a][Z] * half[DIM * i + 2][c];
}

void elements_assemble(const void *data, const MatrixSink *sink)
{
  const ElementSet *set = data;
  const PetscInt    size = PetscSqr(DIM * set->list.nodes);
  PetscReal         matrix[DIM * DIM * FORCE_MOST_NODES * FORCE_MOST_NODES];

  for (PetscInt e = 0; e < set->count; e++) {
    memset(matrix, 0, (size_t)size * sizeof(*matrix));
    for (PetscInt q = 0; q < set->points; q++) {
      ElementPoint point = element_point(set, e, q);
      Tangent      tangent = {{{0}}};

      take_slopes(set, e, q, &point);
      if (sink->stiffness > 0.)
        find_tangent(set, sink->part, &point.gradient, point.normal, &tangent);
      for (PetscInt n = 0; n < NINE * NINE; n++)
        tangent.at[n / NINE][n % NINE] *= sink->stiffness;
      if (sink->damping > 0. && set->moduli.viscous_shear > 0.)
        add_viscous_tangent(set, sink->damping, &point, &tangent);
      add_point(&point, set->list.nodes, &tangent, matrix);
    }
    sink->add(sink->context, e, matrix);
  }
}

ForceReport elements_report(const void *data)
{
  const ElementSet *set = data;
  ForceReport       report = {.least_ratio = PETSC_MAX_REAL};

  for (PetscInt e = 0; e < set->count; e++)
    for (PetscInt q = 0; q < set->points; q++) {
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

PetscReal elements_stiffening(const void *data)
{
  const ElementSet *set = data;
  PetscReal         largest = 0.;

  for (PetscInt e = 0; e < set->count; e++)
    for (PetscInt q = 0; q < set->points; q++) {
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
void elements_measure(const void *data, PetscReal ratios[], PetscReal stresses[])
{
  const ElementSet *set = data;

  for (PetscInt e = 0; e < set->count; e++) {
    ratios[e] = stresses[e] = 0.;
    for (PetscInt q = 0; q < set->points; q++) {
      const ElementPoint point = element_point(set, e, q);
      const PetscReal    ratio = matrix3_determinant(&point.gradient);
      const Matrix3      stress = set->law->stress(&set->moduli, &point.gradient);

      ratios[e] += ratio / (PetscReal)set->points;
      stresses[e] += von_mises(&stress, &point.gradient, ratio) / (PetscReal)set->points;
    }
  }
}
