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

  moduli.yield = material->yield_stress > 0. ? material->yield_stress : PETSC_MAX_REAL;
  moduli.hardening = material->hardening;
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

static PetscErrorCode CreatePlastic(ElementSet *set)
{
  const PetscInt     count = set->others ? set->points * set->count : LANES * set->batch_count;
  const PlasticState rest = {.inverse = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count + 1, &set->plastic)); /* not null without elements */
  for (PetscInt k = 0; k < count; k++)
    set->plastic[k] = rest;
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
  if (law->flow && material->yield_stress > 0.)
    PetscCall(CreatePlastic(made));
  PetscFunctionReturn(0);
}

PetscErrorCode ElementSetDestroy(void **set)
{
  PetscFunctionBegin;
  if (*set) {
    free(((ElementSet *)*set)->batches);
    free(((ElementSet *)*set)->others);
    PetscCall(PetscFree(((ElementSet *)*set)->plastic));
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

PlasticState *element_plastic(const ElementSet *set, PetscInt batch, PetscInt lane)
{
  if (!set->plastic)
    return NULL;
  return &set->plastic[set->others ? set->points * batch + lane : LANES * batch + lane];
}

Moduli element_moduli(const ElementSet *set, const PlasticState *plastic)
{
  Moduli moduli = set->moduli;

  if (plastic)
    moduli.yield += moduli.hardening * plastic->strain;
  return moduli;
}

/* F F_p^-1. */
static Matrix3 elastic_part(const PlasticState *plastic, const Matrix3 *f)
{
  return plastic ? matrix3_multiply(f, &plastic->inverse) : *f;
}

/* P F_p^-T. */
static Matrix3 pull_back(const PlasticState *plastic, const Matrix3 *p)
{
  const Matrix3 turned = plastic ? matrix3_transpose(&plastic->inverse) : (Matrix3){{{0}}};

  return plastic ? matrix3_multiply(p, &turned) : *p;
}

/* The stretch across a sheet at which dW/ds vanishes, by Newton's method from one that keeps the volume. */
static PetscReal find_across(const ElementSet *set, const Moduli *moduli, Vector3 values)
{
  enum { MOST = 50 };

  values.at[Z] = PetscMin(2., 1. / PetscMax(0.5, values.at[X] * values.at[Y]));
  for (PetscInt k = 0; k < MOST; k++) {
    const PrincipalLaw law = set->law->principal(moduli, &values);
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

/* How much thicker the sheet is in F_p^-1, of which N is an axis. */
static PetscReal across_of(const PlasticState *plastic, const SignedSvd *svd)
{
  PetscReal across = 0.;

  for (PetscInt i = 0; i < NINE && plastic; i++)
    across += svd->v.at[i / DIM][Z] * plastic->inverse.at[i / DIM][i % DIM] * svd->v.at[i % DIM][Z];
  return plastic ? across : 1.;
}

/* F + s n N^T, lane by lane: the third singular vectors of F are n and N. Hooke's law knows planes z = const
   alone. */
static void close_sheet(const ElementSet *set, PetscInt batch, Lanes gradient[NINE], PetscInt lane)
{
  const PlasticState *plastic = element_plastic(set, batch, lane);
  const Moduli        moduli = element_moduli(set, plastic);
  Matrix3             f = lane_of(gradient, lane);
  PetscReal           across;
  SignedSvd           svd;

  if (!set->law->principal) {
    gradient[NINE - 1][lane] =
        1. - set->moduli.lame / (set->moduli.lame + 2. * set->moduli.shear) * (f.at[X][X] + f.at[Y][Y] - 2.);
    return;
  }
  f = elastic_part(plastic, &f);
  svd = matrix3_svd(&f);
  svd.values.at[Y] = PetscAbsReal(svd.values.at[Y]);
  across = find_across(set, &moduli, svd.values) / across_of(plastic, &svd);
  for (PetscInt i = 0; i < NINE; i++)
    gradient[i][lane] += across * svd.u.at[i / DIM][Z] * svd.v.at[i % DIM][Z];
}

void elements_close(const ElementSet *set, PetscInt b, Lanes gradient[NINE])
{
  const PointBatch *batch = &set->others[b];

  if (set->list.section == SECTION_PLANE_STRAIN)
    for (PetscInt i = 0; i < NINE; i++)
      gradient[i] += batch->normal.at[i / DIM] * batch->normal.at[i % DIM];
  else
    for (PetscInt l = 0; l < LANES; l++)
      if (l < set->points)
        close_sheet(set, b, gradient, l);
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

void elements_add_elastic_each(ElementSet *set, const Vector3 x[], Vector3 f[])
{
  for (PetscInt b = 0; b < set->batch_count; b++) {
    Lanes *gradient = set->others ? set->others[b].gradient : set->batches[b].gradient, p[NINE] = {{0}};

    if (set->others)
      batch_gradient((int)set->list.nodes, &set->others[b], x, gradient);
    else
      lanes_gradient(&set->batches[b], x, gradient);
    if (set->list.section != SECTION_SOLID)
      elements_close(set, b, gradient);
    for (PetscInt l = 0; l < (set->others ? set->points : LANES); l++) {
      const PlasticState *plastic = element_plastic(set, b, l);
      const Moduli        moduli = element_moduli(set, plastic);
      const Matrix3       here = lane_of(gradient, l), trial = elastic_part(plastic, &here);
      Matrix3             stress = set->law->stress(&moduli, &trial);

      stress = pull_back(plastic, &stress);
      for (PetscInt i = 0; i < NINE; i++)
        p[i][l] = stress.at[i / DIM][i % DIM];
    }
    if (set->others)
      batch_give((int)set->list.nodes, &set->others[b], p, f);
    else
      lanes_give(&set->batches[b], p, f);
  }
}

/* dP/dF at F, the elastic part of it. Across a sheet the third axis is that of the normal: the singular value
   there is put last. */
static void find_tangent(const ElementSet *set, DifferentialPart part, const Moduli *moduli, const Matrix3 *f,
                         Vector3 normal, Tangent *tangent)
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
  law = set->law->principal(moduli, &svd.values);
  isotropic_tangent(&svd, &law, set->list.section, part, tangent);
}

/* One by one: materials with singular values have no faster way. */
static void find_differentials(const ElementSet *set, DifferentialPart part, PetscInt batch,
                               const Lanes change[NINE], Lanes p[NINE])
{
  const Lanes  *gradient = set->others ? set->others[batch].gradient : set->batches[batch].gradient;
  const Vector3 normal = set->others ? set->others[batch].normal : vector3(0, 0, 0);

  for (PetscInt l = 0; l < LANES; l++) {
    const PlasticState *plastic = element_plastic(set, batch, set->others ? PetscMin(l, set->points - 1) : l);
    const Moduli        moduli = element_moduli(set, plastic);
    const Matrix3       f = lane_of(gradient, l), df = lane_of(change, l);
    const Matrix3       here = elastic_part(plastic, &f), moved = elastic_part(plastic, &df);
    Tangent             tangent;
    Matrix3             dp;

    find_tangent(set, part, &moduli, &here, normal, &tangent);
    dp = tangent_apply(&tangent, &moved);
    dp = pull_back(plastic, &dp);
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
      find_differentials(set, part, b, change, p);
      batch_give(nodes, &set->others[b], p, df);
    } else {
      lanes_gradient(&set->batches[b], dx, change);
      find_differentials(set, part, b, change, p);
      lanes_give(&set->batches[b], p, df);
    }
  }
}

/* A point of an element: F, volume and, of each node, the slope of its weight. */
typedef struct {
  Matrix3   gradient;
  PetscReal volume;
  Vector3   normal;
  PetscReal slopes[ELEMENT_MOST_NODES][DIM];

  const PlasticState *plastic;
  Moduli              moduli;
  Matrix3             elastic; /* F F_p^-1 */
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

  ElementPoint taken = {.volume = 0.};

  if (set->others) {
    taken.gradient = lane_of(set->others[element].gradient, point);
    taken.volume = set->others[element].volume[point];
    taken.normal = set->others[element].normal;
  } else {
    taken.gradient = lane_of(batch->gradient, element % LANES);
    taken.volume = batch->volume[element % LANES];
  }
  taken.plastic = set->plastic ? &set->plastic[set->points * element + point] : NULL;
  taken.moduli = element_moduli(set, taken.plastic);
  taken.elastic = elastic_part(taken.plastic, &taken.gradient);
  return taken;
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
  PetscReal      half[NINE][DIM * ELEMENT_MOST_NODES];

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

/* dP_ij / dF_kl of the elastic part becomes that of the whole: its second and fourth index turn with F_p^-1.
 */
static void turn_tangent(const PlasticState *plastic, Tangent *tangent)
{
  Tangent half = {{{0}}};

  for (PetscInt r = 0; r < NINE; r++)
    for (PetscInt n = 0; n < NINE; n++)
      for (PetscInt l = 0; l < DIM; l++)
        half.at[r][n] += tangent->at[r][DIM * (n / DIM) + l] * plastic->inverse.at[n % DIM][l];
  memset(tangent, 0, sizeof(*tangent));
  for (PetscInt r = 0; r < NINE; r++)
    for (PetscInt n = 0; n < NINE; n++)
      for (PetscInt j = 0; j < DIM; j++)
        tangent->at[r][n] += half.at[DIM * (r / DIM) + j][n] * plastic->inverse.at[r % DIM][j];
}

/* Of the elastic part: its slopes are F_p^-T grad N. */
static void turn_slopes(const ElementPoint *point, PetscInt nodes, PetscReal slopes[ELEMENT_MOST_NODES][DIM])
{
  for (PetscInt a = 0; a < nodes; a++)
    for (PetscInt d = 0; d < DIM; d++)
      slopes[a][d] = !point->plastic ? point->slopes[a][d]
                                     : point->plastic->inverse.at[X][d] * point->slopes[a][X] +
                                           point->plastic->inverse.at[Y][d] * point->slopes[a][Y] +
                                           point->plastic->inverse.at[Z][d] * point->slopes[a][Z];
}

/* Without a matrix of nine by nine: laws of singular values, but not of sheets. */
static void add_isotropic(const ElementSet *set, const MatrixSink *sink, const ElementPoint *point,
                          PetscReal matrix[])
{
  const PetscReal factor = sink->stiffness * point->volume;
  PetscReal       slopes[ELEMENT_MOST_NODES][DIM];
  SignedSvd       svd;
  PrincipalLaw    law;

  turn_slopes(point, set->list.nodes, slopes);
  if (set->law->add_exact && sink->part == DIFFERENTIAL_EXACT) {
    set->law->add_exact(&point->moduli, &point->elastic, factor, set->list.nodes,
                        (const PetscReal(*)[DIM])slopes, matrix);
    return;
  }
  svd = matrix3_svd(&point->elastic);
  law = set->law->principal(&point->moduli, &svd.values);
  isotropic_add_matrix(&svd, &law, sink->part, factor, set->list.nodes, (const PetscReal(*)[DIM])slopes,
                       matrix);
}

/* By matrices of nine by nine: other laws, sheets, and damping. */
static void add_tangent(const ElementSet *set, const MatrixSink *sink, PetscBool is_elastic,
                        const ElementPoint *point, PetscReal matrix[])
{
  Tangent tangent = {{{0}}};

  if (is_elastic) {
    find_tangent(set, sink->part, &point->moduli, &point->elastic, point->normal, &tangent);
    if (point->plastic)
      turn_tangent(point->plastic, &tangent);
    for (PetscInt n = 0; n < NINE * NINE; n++)
      tangent.at[n / NINE][n % NINE] *= sink->stiffness;
  }
  if (sink->damping > 0.)
    add_viscous_tangent(set, sink->damping, point, &tangent);
  add_point(point, set->list.nodes, &tangent, matrix);
}

void elements_assemble(const void *data, const MatrixSink *sink)
{
  const ElementSet *set = data;
  const PetscInt    size = PetscSqr(DIM * set->list.nodes);
  const PetscBool   is_isotropic =
      set->law->principal && set->list.section != SECTION_SHEET ? PETSC_TRUE : PETSC_FALSE;
  const PetscBool is_damped = sink->damping > 0. && set->moduli.viscous_shear > 0. ? PETSC_TRUE : PETSC_FALSE;
  const PetscBool is_other = sink->stiffness > 0. && !is_isotropic ? PETSC_TRUE : PETSC_FALSE;
  PetscReal       matrix[DIM * DIM * ELEMENT_MOST_NODES * ELEMENT_MOST_NODES];

  if (set->batches && is_isotropic && !(set->law->add_exact && sink->part == DIFFERENTIAL_EXACT)) {
    elements_assemble_batches(set, sink);
    return;
  }
  for (PetscInt e = 0; e < set->count; e++) {
    memset(matrix, 0, (size_t)size * sizeof(*matrix));
    for (PetscInt q = 0; q < set->points; q++) {
      ElementPoint point = element_point(set, e, q);

      take_slopes(set, e, q, &point);
      if (is_isotropic && sink->stiffness > 0.)
        add_isotropic(set, sink, &point, matrix);
      if (is_other || is_damped)
        add_tangent(set, sink, is_other, &point, matrix);
    }
    sink->add(sink->context, e, matrix);
  }
}

/* The plastic strain after the step, and the work per volume that has led to it. */
static PetscReal plastic_strain(const ElementSet *set, const ElementPoint *point, PetscReal *work)
{
  const SignedSvd svd = matrix3_svd(&point->elastic);
  Vector3         factors;
  const PetscReal strain = point->plastic->strain + set->law->flow(&point->moduli, &svd.values, &factors);

  *work = strain * (set->moduli.yield + 0.5 * set->moduli.hardening * strain);
  return strain;
}

static void add_plastic(const ElementSet *set, const ElementPoint *point, ForceSums *sums)
{
  PetscReal work;

  if (!point->plastic)
    return;
  sums->strain = PetscMax(sums->strain, plastic_strain(set, point, &work));
  sum_add(&sums->plastic, point->volume * work);
}

ForceSums elements_sum_up(const void *data)
{
  const ElementSet *set = data;
  ForceSums         sums = {.least_ratio = PETSC_MAX_REAL};

  for (PetscInt e = 0; e < set->count; e++)
    for (PetscInt q = 0; q < set->points; q++) {
      const ElementPoint point = element_point(set, e, q);
      const PetscReal    ratio = matrix3_determinant(&point.gradient);

      if (element_counts(&set->list, &set->list.elements[set->list.nodes * e])) {
        sum_add(&sums.energy, point.volume * set->law->energy(&point.moduli, &point.elastic));
        add_plastic(set, &point, &sums);
        sum_add(&sums.volume, point.volume * ratio);
      }
      if (ratio < sums.least_ratio) {
        sums.least_ratio = ratio;
        sums.least = e;
      }
    }
  return sums;
}

/* Of |F_p^-1|^2, by which a differential of the elastic part may grow. */
static PetscReal plastic_growth(const PlasticState *plastic)
{
  const SignedSvd svd = plastic ? matrix3_svd(&plastic->inverse) : (SignedSvd){.values = {{1, 1, 1}}};

  return PetscSqr(svd.values.at[X]);
}

PetscReal elements_stiffening(const void *data)
{
  const ElementSet *set = data;
  PetscReal         largest = 0.;

  for (PetscInt e = 0; e < set->count; e++)
    for (PetscInt q = 0; q < set->points; q++) {
      const ElementPoint point = element_point(set, e, q);

      largest = PetscMax(largest,
                         plastic_growth(point.plastic) * set->law->stiffness(&point.moduli, &point.elastic));
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
      const Matrix3      stress = set->law->stress(&point.moduli, &point.elastic);

      ratios[e] += ratio / (PetscReal)set->points;
      stresses[e] += von_mises(&stress, &point.elastic, ratio) / (PetscReal)set->points;
    }
  }
}

void elements_plastic_strains(const void *data, PetscReal strains[])
{
  const ElementSet *set = data;

  for (PetscInt e = 0; e < set->count; e++) {
    strains[e] = 0.;
    for (PetscInt q = 0; q < set->points && set->plastic; q++) {
      const ElementPoint point = element_point(set, e, q);
      PetscReal          work;

      strains[e] += plastic_strain(set, &point, &work) / (PetscReal)set->points;
    }
  }
}

PetscReal *elements_state(void *data, PetscInt *count, PetscInt *width)
{
  ElementSet *set = data;

  *count = set->plastic ? set->points * set->count : 0;
  *width = PLASTIC_NUMBERS;
  return (PetscReal *)set->plastic;
}

/* F_p^-1 V diag(factors) V^T, with the trial's principal axes V. */
static void follow_flow(const ElementSet *set, const ElementPoint *point, PlasticState *plastic)
{
  const SignedSvd svd = matrix3_svd(&point->elastic);
  PrincipalAxes   back = {.axes = svd.v};
  const PetscReal flow = set->law->flow(&point->moduli, &svd.values, &back.values);
  Matrix3         factor;

  if (!(flow > 0.))
    return;
  factor = symmetric3_compose(&back);
  plastic->inverse = matrix3_multiply(&plastic->inverse, &factor);
  plastic->strain += flow;
}

void elements_settle(void *data)
{
  ElementSet *set = data;

  for (PetscInt k = 0; k < set->points * set->count && set->plastic; k++) {
    const ElementPoint point = element_point(set, k / set->points, k % set->points);

    follow_flow(set, &point, &set->plastic[k]);
  }
}

const char *elements_fault(const void *data)
{
  const ElementSet *set = data;

  for (PetscInt k = 0; k < set->points * set->count && set->plastic; k++) {
    if (!(set->plastic[k].strain >= 0.))
      return "has a plastic strain below zero";
    if (!(PetscAbsReal(matrix3_determinant(&set->plastic[k].inverse) - 1.) < 1e-6))
      return "has a plastic deformation that changes the volume";
  }
  return NULL;
}
