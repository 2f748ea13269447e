/* Elastic regions (docs/numerics.md, 13a). The strain of each is kept in cells of its own fields: in its own
   cells it is stretched, outside it is carried on along the normal, so that whoever samples it near the
   interface sees nothing else. Its stress passes through the part of a cell or edge that the region has. */
#include "phase_impl.h"
#include "elastic_law.h"

#include <millrace/elastic.h>

enum { MOST_COMPONENTS = 6, CARRIED_LAYERS = 4, STRESS_LAYERS = 2 };

/* Rows and columns of the components, as xx yy zz xy yz zx; in two dimensions xx yy xy. */
static const PetscInt space_rows[MOST_COMPONENTS] = {X, Y, Z, X, Y, Z},
                      space_columns[MOST_COMPONENTS] = {X, Y, Z, Y, Z, X};
static const PetscInt plane_rows[] = {X, Y, X}, plane_columns[] = {X, Y, Y};

typedef struct _p_ElasticRegions ElasticRegions;
struct _p_ElasticRegions {
  PetscInt        count, components;
  PetscInt        region[REGIONS_MAX];
  const PetscInt *rows, *columns;
  PetscReal       dt;                 /* that the mixture's viscosity is of */
  PetscReal       share[REGIONS_MAX]; /* of each elastic one: what of its answer is implicit, at least 1 */
  Vec            *fields;             /* components of the first region, of the second, ... */
  Vec            *kept;               /* null until needed */
  Vec             known;
  Vec            *stress;          /* components of one region */
  unsigned char  *marks, *widened; /* of PhaseMarkStrains */
};

/* Null: none at present. */
static const StrainLaw *law_of(Phase phase, PetscInt region)
{
  return region_is_empty(phase, region) ? NULL : elastic_law(phase->material[region].elasticity.model);
}

static ElasticStep step_of(Phase phase, PetscInt region, PetscReal dt)
{
  return elastic_step(&phase->material[region].elasticity, grid_box(phase->grid)->dimension, dt);
}

PetscBool phase_is_elastic(const PhaseConfig *config)
{
  return phase_strain_count(config, 2) > 0 ? PETSC_TRUE : PETSC_FALSE;
}

PetscInt phase_strain_count(const PhaseConfig *config, PetscInt dimension)
{
  PetscInt count = 0;

  for (PetscInt r = 0; r < config->region_count; r++)
    if (region_is_ever_elastic(&config->regions[r]))
      count += dimension == 3 ? 6 : 3;
  return count;
}

PetscErrorCode PhaseCreateElastic(Phase phase)
{
  const PetscInt  dimension = grid_box(phase->grid)->dimension;
  ElasticRegions *elastic;

  PetscFunctionBegin;
  if (!phase_is_elastic(phase->config))
    PetscFunctionReturn(0);
  PetscCall(PetscNew(&elastic));
  phase->elastic = elastic;
  phase->mixture.becomes_viscous = PETSC_TRUE;
  elastic->components = dimension == 3 ? MOST_COMPONENTS : 3;
  elastic->rows = dimension == 3 ? space_rows : plane_rows;
  elastic->columns = dimension == 3 ? space_columns : plane_columns;
  for (PetscInt r = 0; r < phase->count; r++)
    if (region_is_ever_elastic(&phase->config->regions[r])) {
      elastic->share[elastic->count] = 1.;
      elastic->region[elastic->count++] = r;
    }
  PetscCall(PetscCalloc2(elastic->count * elastic->components, &elastic->fields, elastic->components,
                         &elastic->stress));
  for (PetscInt n = 0; n < elastic->count * elastic->components; n++)
    PetscCall(MacGridCreateField(phase->grid, &elastic->fields[n]));
  for (PetscInt n = 0; n < elastic->components; n++)
    PetscCall(MacGridCreateField(phase->grid, &elastic->stress[n]));
  PetscCall(MacGridCreateField(phase->grid, &elastic->known));
  PetscCall(PetscMalloc1(grid_box(phase->grid)->length, &elastic->marks));
  PetscCall(PetscMalloc1(grid_box(phase->grid)->length, &elastic->widened));
  PetscCall(MixtureCreateStress(phase->grid, &phase->mixture));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseDestroyElastic(Phase phase)
{
  ElasticRegions *elastic = phase->elastic;

  PetscFunctionBegin;
  if (!elastic)
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < elastic->count * elastic->components; n++) {
    PetscCall(VecDestroy(&elastic->fields[n]));
    if (elastic->kept)
      PetscCall(VecDestroy(&elastic->kept[n]));
  }
  for (PetscInt n = 0; n < elastic->components; n++)
    PetscCall(VecDestroy(&elastic->stress[n]));
  PetscCall(VecDestroy(&elastic->known));
  PetscCall(PetscFree(elastic->marks));
  PetscCall(PetscFree(elastic->widened));
  PetscCall(PetscFree2(elastic->fields, elastic->stress));
  PetscCall(PetscFree(elastic->kept));
  PetscCall(PetscFree(phase->elastic));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseKeepElastic(Phase phase)
{
  ElasticRegions *elastic = phase->elastic;
  PetscInt        count;

  PetscFunctionBegin;
  if (!elastic)
    PetscFunctionReturn(0);
  count = elastic->count * elastic->components;
  if (!elastic->kept) {
    PetscCall(PetscCalloc1(count, &elastic->kept));
    for (PetscInt n = 0; n < count; n++)
      PetscCall(VecDuplicate(elastic->fields[n], &elastic->kept[n]));
  }
  for (PetscInt n = 0; n < count; n++)
    PetscCall(VecCopy(elastic->fields[n], elastic->kept[n]));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseReturnElastic(Phase phase)
{
  ElasticRegions *elastic = phase->elastic;

  PetscFunctionBegin;
  for (PetscInt n = 0; elastic && n < elastic->count * elastic->components; n++)
    PetscCall(VecCopy(elastic->kept[n], elastic->fields[n]));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseForgetStrain(Phase phase, PetscInt region)
{
  ElasticRegions *elastic = phase->elastic;

  PetscFunctionBegin;
  for (PetscInt e = 0; elastic && e < elastic->count; e++)
    for (PetscInt n = 0; n < elastic->components && elastic->region[e] == region; n++)
      PetscCall(VecSet(elastic->fields[e * elastic->components + n], 0.));
  PetscFunctionReturn(0);
}

/* G times the integral of what is left of the stress from a steady stretching over the step; all of it below
   the yield point, which may be reached within the step. */
PetscReal elastic_viscosity(Phase phase, PetscInt region)
{
  const RegionElasticity *elasticity = &phase->material[region].elasticity;
  const PetscReal         dt = phase->elastic ? phase->elastic->dt : 0.;

  if (elasticity->model == ELASTICITY_NONE)
    return 0.;
  if (elasticity->yield > 0. ||
      dt / elasticity->relaxation < 1e-100) /* an endless time may be a finite number near the largest */
    return elasticity->modulus * dt;
  return elasticity->modulus * (-expm1(-dt / elasticity->relaxation) * elasticity->relaxation);
}

PetscReal stretched_viscosity(Phase phase, PetscInt region)
{
  const ElasticRegions *elastic = phase->elastic;

  for (PetscInt e = 0; elastic && e < elastic->count; e++)
    if (elastic->region[e] == region && elastic->share[e] > 1. && law_of(phase, region))
      return elastic->share[e] * phase->material[region].elasticity.modulus * elastic->dt -
             elastic_viscosity(phase, region);
  return 0.;
}

/* The components of some fields at one cell. */
typedef struct {
  PetscInt        components;
  const PetscInt *rows, *columns;
  PetscReal      *at[MOST_COMPONENTS];
} TensorField;

static PetscErrorCode GetTensors(const ElasticRegions *elastic, Vec fields[], TensorField *tensors)
{
  PetscFunctionBegin;
  *tensors = (TensorField){elastic->components, elastic->rows, elastic->columns, {NULL}};
  for (PetscInt n = 0; n < elastic->components; n++)
    PetscCall(VecGetArray(fields[n], &tensors->at[n]));
  PetscFunctionReturn(0);
}

static PetscErrorCode RestoreTensors(Vec fields[], TensorField *tensors)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < tensors->components; n++)
    PetscCall(VecRestoreArray(fields[n], &tensors->at[n]));
  PetscFunctionReturn(0);
}

/* With one branch for each dimension: it is read for every cell several times a step. */
static inline Matrix3 tensor_at(const TensorField *tensors, PetscInt c)
{
  PetscReal *const *at = tensors->at;

  if (tensors->components == MOST_COMPONENTS)
    return (Matrix3){
        {{at[0][c], at[3][c], at[5][c]}, {at[3][c], at[1][c], at[4][c]}, {at[5][c], at[4][c], at[2][c]}}};
  return (Matrix3){{{at[0][c], at[2][c], 0.}, {at[2][c], at[1][c], 0.}, {0., 0., 0.}}};
}

static inline void set_tensor(const TensorField *tensors, PetscInt c, const Matrix3 *m)
{
  for (PetscInt n = 0; n < tensors->components; n++)
    tensors->at[n][c] = m->at[tensors->rows[n]][tensors->columns[n]];
}

/* A wave along what is stretched s times asks for so much to be implicit: with a the square of the way of a
   wave in the step over the grid's, m >= (3 s - 4/a) / 4. */
static PetscErrorCode FindShare(Phase phase, PetscInt e, PetscReal dt, PetscReal *share)
{
  ElasticRegions   *elastic = phase->elastic;
  const GridBox    *box = grid_box(phase->grid);
  const PetscInt    region = elastic->region[e];
  const StrainLaw  *law = law_of(phase, region);
  const ElasticStep step = step_of(phase, region, dt);
  const PetscReal   way = dt / grid_spacing(phase->grid);
  Vec              *fields = elastic->fields + e * elastic->components;
  PetscReal         largest = 1.;
  TensorField       tensors;

  PetscFunctionBegin;
  PetscCall(GetTensors(elastic, fields, &tensors));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);
    Matrix3        kept;

    if (phase->region[c] != region)
      continue;
    kept = tensor_at(&tensors, c);
    largest = PetscMax(largest, law->stiffness(&step, &kept));
  }
  PetscCall(RestoreTensors(fields, &tensors));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPI_MAX, box->comm));
  *share =
      PetscMax(1., 0.75 * largest - phase->material[region].density / (4. * (PetscReal)box->dimension * way *
                                                                       way * step.elasticity->modulus));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseSetElasticStep(Phase phase, PetscReal dt)
{
  ElasticRegions *elastic = phase->elastic;
  PetscBool       same;

  PetscFunctionBegin;
  if (!elastic)
    PetscFunctionReturn(0);
  same = elastic->dt == dt ? PETSC_TRUE : PETSC_FALSE;
  elastic->dt = dt;
  for (PetscInt e = 0; e < elastic->count; e++) {
    const PetscReal before = elastic->share[e];

    elastic->share[e] = 1.;
    if (law_of(phase, elastic->region[e]) && dt > 0.)
      PetscCall(FindShare(phase, e, dt, &elastic->share[e]));
    if (elastic->share[e] != before)
      same = PETSC_FALSE;
  }
  if (!same)
    PetscCall(PetscArrayzero(phase->row_region, grid_box(phase->grid)->length));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseSetClosed(Phase phase, Vec closed)
{
  PetscFunctionBegin;
  PetscCall(PhaseFindLayers(phase, closed));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseGetStrains(Phase phase, PetscInt *count, Vec **fields)
{
  const ElasticRegions *elastic = phase->elastic;
  PetscBool             any = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt e = 0; elastic && e < elastic->count; e++)
    if (law_of(phase, elastic->region[e]))
      any = PETSC_TRUE;
  *count = any ? elastic->count * elastic->components : 0;
  *fields = elastic ? elastic->fields : NULL;
  PetscFunctionReturn(0);
}

static PetscBool is_elastic_now(Phase phase, PetscInt region)
{
  const ElasticRegions *elastic = phase->elastic;

  for (PetscInt e = 0; e < elastic->count; e++)
    if (elastic->region[e] == region)
      return law_of(phase, region) ? PETSC_TRUE : PETSC_FALSE;
  return PETSC_FALSE;
}

VECTOR_CLONES static void widen(const unsigned char *restrict marks, PetscInt from, PetscInt to,
                                PetscInt stride, unsigned char *restrict widened)
{
  for (PetscInt c = from; c < to; c++)
    widened[c] = marks[c] | marks[c - stride] | marks[c + stride];
}

/* By a cell at a time, whatever rows it runs into beyond the ghosts. */
PetscErrorCode PhaseMarkStrains(Phase phase, const unsigned char **marks)
{
  enum { REACH = 3 };
  ElasticRegions *elastic = phase->elastic;
  const GridBox  *box = grid_box(phase->grid);
  PetscBool       marked[REGIONS_MAX];

  PetscFunctionBegin;
  *marks = NULL;
  if (!elastic || phase->any_closed) /* walls take means of all that is around them */
    PetscFunctionReturn(0);
  for (PetscInt r = 0; r < phase->count; r++)
    marked[r] = is_elastic_now(phase, r);
  for (PetscInt c = 0; c < box->length; c++)
    elastic->marks[c] = marked[phase->region[c]] ? 1 : 0;
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt n = 0; n < REACH; n++) {
      const PetscInt stride = box->stride[d];
      unsigned char *swap = elastic->marks;

      PetscCall(PetscArraycpy(elastic->widened, elastic->marks, stride));
      widen(elastic->marks, stride, box->length - stride, stride, elastic->widened);
      PetscCall(PetscArraycpy(elastic->widened + box->length - stride, elastic->marks + box->length - stride,
                              stride));
      elastic->marks = elastic->widened;
      elastic->widened = swap;
    }
  *marks = elastic->marks;
  PetscFunctionReturn(0);
}

/* A velocity and the walls beside it. */
typedef struct {
  Phase            phase;
  const GridBox   *box;
  PetscReal        h;
  PetscReal       *u[DIM];
  const PetscReal *closed; /* null without walls */
  const PetscBool *slips;
} WalledFlow;

static PetscErrorCode GetFlow(Phase phase, Vec velocity[DIM], const PetscBool slips[], WalledFlow *flow)
{
  PetscFunctionBegin;
  *flow = (WalledFlow){
      .phase = phase, .box = grid_box(phase->grid), .h = grid_spacing(phase->grid), .slips = slips};
  PetscCall(MacGridGetFaces(phase->grid, velocity, flow->u));
  if (phase->any_closed)
    PetscCall(VecGetArrayRead(phase->closed, &flow->closed));
  PetscFunctionReturn(0);
}

static PetscErrorCode RestoreFlow(Vec velocity[DIM], WalledFlow *flow)
{
  PetscFunctionBegin;
  if (flow->closed)
    PetscCall(VecRestoreArrayRead(flow->phase->closed, &flow->closed));
  PetscCall(MacGridRestoreFaces(flow->phase->grid, velocity, flow->u));
  PetscFunctionReturn(0);
}

static PetscBool is_wall(const WalledFlow *flow, PetscInt c)
{
  return flow->closed[c] > 0. ? PETSC_TRUE : PETSC_FALSE;
}

/* What a difference to the next face of the same direction counts: where that one is inside a wall the
   surface lies half-way, as in the mean, or lets the fluid slip. */
static PetscReal reach_of(const WalledFlow *flow, PetscInt d, PetscInt face, PetscInt next)
{
  const PetscInt back = flow->box->stride[d];

  if (is_wall(flow, face) || is_wall(flow, face - back) || !is_wall(flow, next) ||
      !is_wall(flow, next - back))
    return 1.;
  return flow->slips[(PetscInt)flow->closed[next] - 1] ? 0. : 2.;
}

/* ∂u_d/∂x_a of two faces, the sum of their four edges. */
static PetscReal sum_over_edges(const WalledFlow *flow, PetscInt d, PetscInt a, PetscInt c)
{
  const PetscInt   up = flow->box->stride[a], along = flow->box->stride[d];
  const PetscReal *v = flow->u[d];
  PetscReal        sum = 0.;

  for (PetscInt face = c; face <= c + along; face += along)
    sum += reach_of(flow, d, face, face + up) * (v[face + up] - v[face]) +
           reach_of(flow, d, face, face - up) * (v[face] - v[face - up]);
  return sum;
}

/* ∂u_d/∂x_a in the middle of a cell: along a the mean of the cell's four edges. */
static Matrix3 velocity_gradient(const WalledFlow *flow, PetscInt c)
{
  const GridBox    *box = flow->box;
  const PetscReal   h = flow->h;
  PetscReal *const *u = flow->u;
  Matrix3           gradient = {{{0.}}};

  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt a = 0; a < box->dimension; a++) {
      const PetscInt   up = box->stride[a], along = box->stride[d];
      const PetscReal *v = u[d];

      gradient.at[d][a] = d == a ? (v[c + along] - v[c]) / h
                          : flow->closed
                              ? 0.25 * sum_over_edges(flow, d, a, c) / h
                              : 0.25 * (v[c + up] + v[c + along + up] - v[c - up] - v[c + along - up]) / h;
    }
  return gradient;
}

static PetscBool has_own_strain(Phase phase, PetscInt region, PetscInt c)
{
  return phase->region[c] == region && is_open_cell(phase, c) ? PETSC_TRUE : PETSC_FALSE;
}

/* In closed cells the mean of the neighbours that are one layer nearer to the liquid. */
static PetscErrorCode CarryIntoClosed(Phase phase, Vec field)
{
  const GridBox *box = grid_box(phase->grid);

  PetscFunctionBegin;
  for (PetscInt layer = 1; layer <= CLOSED_LAYERS && phase->any_closed; layer++) {
    PetscReal *value;

    PetscCall(MacGridMirrorGhosts(phase->grid, field));
    PetscCall(VecGetArray(field, &value));
    for (PetscInt m = phase->layer_end[layer - 1]; m < phase->layer_end[layer]; m++) {
      const PetscInt c = phase->closed_cells[m];
      PetscReal      sum = 0.;
      PetscInt       count = 0;

      for (PetscInt d = 0; d < box->dimension; d++)
        for (PetscInt b = c - box->stride[d]; b <= c + box->stride[d]; b += 2 * box->stride[d])
          if (phase->depth[b] == layer - 1) {
            sum += value[b];
            count++;
          }
      value[c] = sum / (PetscReal)PetscMax(count, 1);
    }
    PetscCall(VecRestoreArray(field, &value));
  }
  PetscFunctionReturn(0);
}

/* From the region's own cells into `layers` around them; farther there is none. */
static PetscErrorCode CarryOn(Phase phase, PetscInt region, PetscInt layers, Vec fields[])
{
  ElasticRegions *elastic = phase->elastic;
  const GridBox  *box = grid_box(phase->grid);
  PetscReal      *known, *value;
  PetscInt        others = 0;

  PetscFunctionBegin;
  PetscCall(VecGetArray(elastic->known, &known));
  for (PetscInt c = 0; c < box->length; c++)
    known[c] = has_own_strain(phase, region, c) ? 1. : 0.;
  FOR_CELLS(box, i, j, k)
    others += known[box_index(box, i, j, k)] == 0. ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &others, 1, MPIU_INT, MPI_SUM, box->comm));
  for (PetscInt n = 0; n < elastic->components && others; n++) {
    PetscCall(VecGetArray(fields[n], &value));
    for (PetscInt c = 0; c < box->length; c++)
      value[c] = known[c] > 0. ? value[c] : 0.;
    PetscCall(VecRestoreArray(fields[n], &value));
  }
  PetscCall(VecRestoreArray(elastic->known, &known));
  if (others)
    PetscCall(ExtendCells(phase->grid, phase->distances[region], elastic->known, layers, elastic->components,
                          fields));
  for (PetscInt n = 0; n < elastic->components; n++) {
    PetscCall(CarryIntoClosed(phase, fields[n]));
    PetscCall(MacGridMirrorGhosts(phase->grid, fields[n]));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseStretch(Phase phase, Vec velocity[DIM], const PetscBool slips[], PetscReal dt)
{
  ElasticRegions *elastic = phase->elastic;
  const GridBox  *box = grid_box(phase->grid);
  WalledFlow      flow;

  PetscFunctionBegin;
  if (!elastic)
    PetscFunctionReturn(0);
  PetscCall(GetFlow(phase, velocity, slips, &flow));
  for (PetscInt e = 0; e < elastic->count; e++) {
    const PetscInt    region = elastic->region[e];
    const StrainLaw  *law = law_of(phase, region);
    const ElasticStep step = step_of(phase, region, dt);
    Vec              *fields = elastic->fields + e * elastic->components;
    TensorField       tensors;

    if (!law)
      continue;
    PetscCall(GetTensors(elastic, fields, &tensors));
    FOR_CELLS(box, i, j, k) {
      const PetscInt c = box_index(box, i, j, k);
      Matrix3        strain, gradient;

      if (!has_own_strain(phase, region, c))
        continue;
      strain = tensor_at(&tensors, c);
      gradient = velocity_gradient(&flow, c);
      strain = law->open(&strain);
      strain = advanced_state(law, &step, &gradient, &strain);
      strain = law->close(&strain);
      set_tensor(&tensors, c, &strain);
    }
    PetscCall(RestoreTensors(fields, &tensors));
    PetscCall(CarryOn(phase, region, CARRIED_LAYERS, fields));
  }
  PetscCall(RestoreFlow(velocity, &flow));
  PetscFunctionReturn(0);
}

/* What the stress would be at the end of the step with the last velocity gradient, less what viscosity does
   with the next one. */
static Matrix3 predicted_stress(const StrainLaw *law, const ElasticStep *step, PetscReal viscosity,
                                const Matrix3 *gradient, const Matrix3 *kept)
{
  const Matrix3 transpose = matrix3_transpose(gradient);
  Matrix3       state = law->open(kept), stress;

  state = advanced_state(law, step, gradient, &state);
  stress = law->stress(step, &state);
  matrix_add(&stress, -viscosity, gradient);
  matrix_add(&stress, -viscosity, &transpose);
  return stress;
}

/* In the region's own cells, then around them. */
static PetscErrorCode FindRegionStress(Phase phase, PetscInt e, const WalledFlow *flow, PetscReal dt)
{
  ElasticRegions   *elastic = phase->elastic;
  const GridBox    *box = grid_box(phase->grid);
  const PetscInt    region = elastic->region[e];
  const StrainLaw  *law = law_of(phase, region);
  const ElasticStep step = step_of(phase, region, dt);
  const PetscReal   viscosity = elastic_viscosity(phase, region) + stretched_viscosity(phase, region);
  Vec              *fields = elastic->fields + e * elastic->components;
  TensorField       strains, stresses;

  PetscFunctionBegin;
  PetscCall(GetTensors(elastic, fields, &strains));
  PetscCall(GetTensors(elastic, elastic->stress, &stresses));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);
    Matrix3        strain, gradient, stress;

    if (!has_own_strain(phase, region, c))
      continue;
    strain = tensor_at(&strains, c);
    gradient = velocity_gradient(flow, c);
    stress = predicted_stress(law, &step, viscosity, &gradient, &strain);
    set_tensor(&stresses, c, &stress);
  }
  PetscCall(RestoreTensors(elastic->stress, &stresses));
  PetscCall(RestoreTensors(fields, &strains));
  PetscCall(CarryOn(phase, region, STRESS_LAYERS, elastic->stress));
  PetscFunctionReturn(0);
}

/* Where the mixture has component n of a tensor. */
static Vec *mixture_stress(Phase phase, PetscInt n)
{
  const PetscInt a = phase->elastic->rows[n], b = phase->elastic->columns[n];

  return &phase->mixture.stress[a == b ? a : DIM + X + Y + Z - a - b];
}

static PetscReal share_of(const CellFractions *fractions, PetscInt region)
{
  for (PetscInt n = 0; n < fractions->count; n++)
    if (fractions->region[n] == region)
      return fractions->fraction[n];
  return 0.;
}

/* The parts of a cell and of edges of it that are the region's: of each component of a tensor. */
static void find_stress_parts(Phase phase, PetscReal *const distances[], PetscInt region, PetscInt c,
                              PetscReal shares[])
{
  const ElasticRegions *elastic = phase->elastic;
  PetscReal             whole = phase->region[c] == region ? 1. : 0.;
  Nearby                nearby;
  CellFractions         fractions;

  if (phase->mixed[c]) {
    find_nearby(phase, distances, c, &nearby);
    find_fractions(phase, &nearby, (const PetscInt[DIM]){0, 0, 0}, &fractions);
    whole = share_of(&fractions, region);
  }
  for (PetscInt n = 0; n < elastic->components; n++) {
    const PetscInt a = elastic->rows[n], b = elastic->columns[n];

    shares[n] = whole;
    if (a == b || !phase->mixed[c])
      continue;
    find_fractions(phase, &nearby,
                   (const PetscInt[DIM]){a == X || b == X, a == Y || b == Y, a == Z || b == Z}, &fractions);
    shares[n] = share_of(&fractions, region);
  }
}

/* Adds the stress of a region to that of the mixture: in cells, and on edges the mean of the cells around. */
static PetscErrorCode AddToMixture(Phase phase, PetscInt region)
{
  ElasticRegions *elastic = phase->elastic;
  const GridBox  *box = grid_box(phase->grid);
  const GridRange range = box_grown(box, 1);
  PetscReal      *distances[REGIONS_MAX], *sums[MIXTURE_STRESSES], shares[MIXTURE_STRESSES];
  TensorField     stresses;

  PetscFunctionBegin;
  PetscCall(PhaseGetDistances(phase, distances));
  PetscCall(GetTensors(elastic, elastic->stress, &stresses));
  for (PetscInt n = 0; n < elastic->components; n++)
    PetscCall(VecGetArray(*mixture_stress(phase, n), &sums[n]));
  FOR_CELLS(&range, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    find_stress_parts(phase, distances, region, c, shares);
    for (PetscInt n = 0; n < elastic->components; n++) {
      const PetscInt   a = elastic->rows[n], b = elastic->columns[n];
      const PetscInt   back = box->stride[a], below = box->stride[b];
      const PetscReal *value = stresses.at[n] + c;

      if (shares[n] > 0.)
        sums[n][c] +=
            shares[n] *
            (a == b ? value[0] : 0.25 * (value[0] + value[-back] + value[-below] + value[-back - below]));
    }
  }
  for (PetscInt n = 0; n < elastic->components; n++)
    PetscCall(VecRestoreArray(*mixture_stress(phase, n), &sums[n]));
  PetscCall(RestoreTensors(elastic->stress, &stresses));
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseFindStress(Phase phase, Vec velocity[DIM], const PetscBool slips[], PetscReal dt)
{
  ElasticRegions *elastic = phase->elastic;
  WalledFlow      flow;

  PetscFunctionBegin;
  if (!elastic)
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < MIXTURE_STRESSES; n++)
    if (phase->mixture.stress[n])
      PetscCall(VecSet(phase->mixture.stress[n], 0.));
  PetscCall(GetFlow(phase, velocity, slips, &flow));
  for (PetscInt e = 0; e < elastic->count; e++) {
    if (!law_of(phase, elastic->region[e]))
      continue;
    PetscCall(FindRegionStress(phase, e, &flow, dt));
    PetscCall(AddToMixture(phase, elastic->region[e]));
  }
  PetscCall(RestoreFlow(velocity, &flow));
  PetscFunctionReturn(0);
}

static PetscReal cell_share(Phase phase, PetscReal *const distances[], PetscInt region, PetscInt c)
{
  Nearby        nearby;
  CellFractions fractions;

  find_nearby(phase, distances, c, &nearby);
  find_fractions(phase, &nearby, (const PetscInt[DIM]){0, 0, 0}, &fractions);
  return share_of(&fractions, region);
}

/* Of one region, into sums and its report. */
static PetscErrorCode MeasureRegion(Phase phase, PetscInt e, PetscReal *const distances[],
                                    ReproducibleSum sums[2], PetscReal *largest)
{
  ElasticRegions   *elastic = phase->elastic;
  const GridBox    *box = grid_box(phase->grid);
  const PetscReal   h = grid_spacing(phase->grid), volume = box->dimension == 3 ? h * h * h : h * h;
  const PetscInt    region = elastic->region[e];
  const StrainLaw  *law = law_of(phase, region);
  const ElasticStep step = step_of(phase, region, 0.);
  const PetscReal   yield = step.elasticity->yield;
  Vec              *fields = elastic->fields + e * elastic->components;
  TensorField       tensors;

  PetscFunctionBegin;
  PetscCall(GetTensors(elastic, fields, &tensors));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);
    const Matrix3  strain = tensor_at(&tensors, c);
    PetscReal      share = phase->region[c] == region ? 1. : 0.;

    if (!is_open_cell(phase, c))
      continue;
    if (phase->mixed[c])
      share = cell_share(phase, distances, region, c);
    if (share > 0.) {
      const Matrix3 state = law->open(&strain);

      sum_add(&sums[0], share * volume * law->energy(&step, &state));
      sum_add(&sums[1], law->load(&step, &state) > yield ? share * volume : 0.);
    }
    if (phase->region[c] == region)
      *largest = PetscMax(*largest, law->size(&strain));
  }
  PetscCall(RestoreTensors(fields, &tensors));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseMeasureElastic(Phase phase, ElasticReport reports[REGIONS_MAX])
{
  ElasticRegions *elastic = phase->elastic;
  const GridBox  *box = grid_box(phase->grid);
  PetscReal      *distances[REGIONS_MAX], totals[2 * REGIONS_MAX], largest[REGIONS_MAX] = {0.};
  ReproducibleSum sums[2 * REGIONS_MAX] = {{0}};

  PetscFunctionBegin;
  if (!elastic)
    PetscFunctionReturn(0);
  PetscCall(PhaseGetDistances(phase, distances));
  for (PetscInt e = 0; e < elastic->count; e++) {
    const PetscInt region = elastic->region[e];

    if (law_of(phase, region))
      PetscCall(MeasureRegion(phase, e, distances, &sums[2 * region], &largest[region]));
  }
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscCall(SumOverRanks(box->comm, 2 * REGIONS_MAX, sums, totals));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, REGIONS_MAX, MPIU_REAL, MPI_MAX, box->comm));
  for (PetscInt r = 0; r < phase->count; r++)
    reports[r] = (ElasticReport){totals[2 * r], largest[r], totals[2 * r + 1]};
  PetscFunctionReturn(0);
}

static void name_field(Phase phase, PetscInt n, char name[], size_t size)
{
  const ElasticRegions *elastic = phase->elastic;
  const PetscInt        component = n % elastic->components;

  snprintf(name, size, "strain_%d_%c%c", (int)elastic->region[n / elastic->components],
           "xyz"[elastic->rows[component]], "xyz"[elastic->columns[component]]);
}

PetscErrorCode PhaseSaveElastic(Phase phase, Archive archive)
{
  const ElasticRegions *elastic = phase->elastic;
  char                  name[32];

  PetscFunctionBegin;
  for (PetscInt n = 0; elastic && n < elastic->count * elastic->components; n++) {
    name_field(phase, n, name, sizeof(name));
    PetscCall(MacGridSaveField(phase->grid, name, elastic->fields[n], archive));
  }
  if (elastic)
    PetscCall(ArchiveWriteShared(archive, "elastic_shares", elastic->count, 1, elastic->share));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseLoadElastic(Phase phase, Archive archive)
{
  ElasticRegions *elastic = phase->elastic;
  char            name[32];

  PetscFunctionBegin;
  for (PetscInt n = 0; elastic && n < elastic->count * elastic->components; n++) {
    name_field(phase, n, name, sizeof(name));
    PetscCall(MacGridLoadField(phase->grid, name, elastic->fields[n], archive));
    PetscCall(MacGridMirrorGhosts(phase->grid, elastic->fields[n]));
  }
  if (elastic)
    PetscCall(ArchiveReadShared(archive, "elastic_shares", elastic->count, 1, elastic->share));
  for (PetscInt e = 0; elastic && e < elastic->count; e++)
    if (!(elastic->share[e] >= 1. && elastic->share[e] < PETSC_MAX_REAL))
      PetscCall(ArchiveRefuse(archive, "elastic_shares", "is %g, not at least 1", (double)elastic->share[e]));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseWriteElastic(Phase phase, FrameSeries frames)
{
  ElasticRegions *elastic = phase->elastic;
  const GridBox  *box = grid_box(phase->grid);
  TensorField     tensors;
  PetscReal      *norm;

  PetscFunctionBegin;
  if (!elastic)
    PetscFunctionReturn(0);
  PetscCall(VecSet(phase->scratch[0], 0.));
  PetscCall(VecGetArray(phase->scratch[0], &norm));
  for (PetscInt e = 0; e < elastic->count; e++) {
    const StrainLaw *law = law_of(phase, elastic->region[e]);
    Vec             *fields = elastic->fields + e * elastic->components;

    if (!law)
      continue;
    PetscCall(GetTensors(elastic, fields, &tensors));
    FOR_CELLS(box, i, j, k) {
      const PetscInt c = box_index(box, i, j, k);
      const Matrix3  strain = tensor_at(&tensors, c);

      if (has_own_strain(phase, elastic->region[e], c))
        norm[c] = law->size(&strain);
    }
    PetscCall(RestoreTensors(fields, &tensors));
  }
  PetscCall(VecRestoreArray(phase->scratch[0], &norm));
  PetscCall(MacGridWriteFrame(phase->grid, frames, "strain", phase->scratch[0]));
  PetscFunctionReturn(0);
}
