/* Fibres that pull: with the unit direction g at rest and the stretch l = |F g|, W = s (l - 1) per volume at
   rest and P = s F g g^T / l, where the stress s >= 0 is given over time and place at rest. They shorten what
   they are in without a length of their own. At each point of an element F g = sum k_a x_a with k_a = g .
   grad N_a: forces -V s k_a F g / l are along F g, so both momenta stay, and the differential V s / l (1 - d
   d^T) k_a k_b, d = F g / l, is definite. */
#include "element_set.h"

#include <string.h>

typedef struct {
  PetscReal weights[ELEMENT_MOST_NODES];
  PetscReal volume;
  Vector3   now;     /* F g, where the forces were found last */
  PetscReal tension; /* N m: V s, at the time */
} FibrePoint;

typedef struct {
  const FibreConfig *config; /* borrowed */
  Vector3            centre; /* at rest */
} FibreElement;

typedef struct {
  PetscInt      count, nodes, points; /* elements with fibres, their nodes, their points */
  PetscInt     *elements;             /* owned, as the others */
  FibreElement *fibres;
  FibrePoint   *at;
  PetscReal     stiffness; /* Pa: of the material, at rest */
  ElementList   mesh;      /* whose elements have the fibres */
} FibreSet;

/* Where fibres are given. */
static Vector3 element_centre(const ElementList *list, PetscInt element, const Vector3 rest[])
{
  Vector3 sum = vector3(0, 0, 0);

  for (PetscInt c = 0; c < 4; c++)
    sum = vector3_add(sum, vector3_scale(0.25, rest[list->elements[list->nodes * element + c]]));
  return list->placed ? rigid_apply_inverse(list->placed, sum) : sum;
}

/* The first bundle that holds the place; null: none. */
static const FibreConfig *find_bundle(const ElementList *list, Vector3 place)
{
  for (PetscInt k = 0; k < list->fibre_count; k++)
    if (!list->fibres[k].inside || shape_is_inside(list->fibres[k].inside, place))
      return &list->fibres[k];
  return NULL;
}

static void add_element(FibreSet *set, const ElementList *list, PetscInt element, const FibreConfig *bundle,
                        const Vector3 rest[])
{
  const PetscInt  n = set->count++;
  const Vector3   given = vector3_scale(1. / vector3_norm(bundle->direction), bundle->direction);
  const Vector3   g = list->placed ? quaternion_rotate(list->placed->rotation, given) : given;
  const PetscReal part = list->filled ? list->filled[element] : 1.;
  PointBatch      batch;

  set->points = element_slopes(list, element, rest, &batch);
  set->fibres[n] = (FibreElement){bundle, element_centre(list, element, rest)};
  memcpy(&set->elements[set->nodes * n], &list->elements[list->nodes * element],
         (size_t)set->nodes * sizeof(*set->elements));
  for (PetscInt q = 0; q < set->points; q++) {
    FibrePoint *point = &set->at[4 * n + q];

    *point = (FibrePoint){.volume = part * batch.volume[q], .now = g};
    for (PetscInt a = 0; a < set->nodes; a++)
      for (PetscInt d = 0; d < DIM; d++)
        point->weights[a] += g.at[d] * batch.slopes[a][d][q];
  }
}

static void set_time(void *data, PetscReal time)
{
  FibreSet *set = data;

  for (PetscInt n = 0; n < set->count; n++) {
    const PetscReal stress =
        PetscMax(0., formula_value(set->fibres[n].config->stress, set->fibres[n].centre, time));

    for (PetscInt q = 0; q < set->points; q++)
      set->at[4 * n + q].tension = set->at[4 * n + q].volume * stress;
  }
}

static PetscErrorCode Create(const SolidMaterialConfig *material, const ElementList *list,
                             const Vector3 rest[], void **data)
{
  FibreSet *set;

  PetscFunctionBegin;
  PetscCall(PetscNew(&set));
  *data = set;
  set->nodes = list->nodes;
  set->mesh = *list;
  set->stiffness = material->young / (1. - 2. * material->poisson);
  PetscCall(PetscMalloc3(list->count * list->nodes, &set->elements, list->count, &set->fibres,
                         4 * list->count, &set->at));
  for (PetscInt e = 0; e < list->count; e++) {
    const FibreConfig *bundle = find_bundle(list, element_centre(list, e, rest));

    if (bundle)
      add_element(set, list, e, bundle, rest);
  }
  set_time(set, 0.);
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(void **data)
{
  FibreSet *set = *data;

  PetscFunctionBegin;
  if (set)
    PetscCall(PetscFree3(set->elements, set->fibres, set->at));
  PetscCall(PetscFree(*data));
  PetscFunctionReturn(0);
}

static ElementList elements(const void *data)
{
  const FibreSet *set = data;

  return (ElementList){.count = set->count, .nodes = set->nodes, .elements = set->elements};
}

static Vector3 sum_of(const FibreSet *set, PetscInt n, const FibrePoint *point, const Vector3 values[])
{
  Vector3 sum = vector3(0, 0, 0);

  for (PetscInt a = 0; a < set->nodes; a++)
    sum = vector3_add(sum, vector3_scale(point->weights[a], values[set->elements[set->nodes * n + a]]));
  return sum;
}

static void give(const FibreSet *set, PetscInt n, const FibrePoint *point, Vector3 force, Vector3 f[])
{
  for (PetscInt a = 0; a < set->nodes; a++) {
    Vector3 *at = &f[set->elements[set->nodes * n + a]];

    *at = vector3_subtract(*at, vector3_scale(point->weights[a], force));
  }
}

/* A fibre that has hardly any length left has no direction. */
static PetscReal length_of(const FibrePoint *point)
{
  return PetscMax(vector3_norm(point->now), 1e-6);
}

static void add_elastic(void *data, const Vector3 x[], Vector3 f[])
{
  FibreSet *set = data;

  for (PetscInt k = 0; k < set->points * set->count; k++) {
    const PetscInt n = k / set->points;
    FibrePoint    *point = &set->at[4 * n + k % set->points];

    point->now = sum_of(set, n, point, x);
    give(set, n, point, vector3_scale(point->tension / length_of(point), point->now), f);
  }
}

static void add_damping(const void *data, const Vector3 v[], Vector3 f[])
{
  (void)data;
  (void)v;
  (void)f;
}

static Matrix3 fibre_tangent(const FibrePoint *point)
{
  const PetscReal length = length_of(point);
  Matrix3         tangent;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      tangent.at[i][j] = point->tension / length *
                         ((i == j ? 1. : 0.) - point->now.at[i] * point->now.at[j] / (length * length));
  return tangent;
}

/* At rest there is no pull. */
static void add_stiffness(const void *data, DifferentialPart part, const Vector3 dx[], Vector3 df[])
{
  const FibreSet *set = data;

  for (PetscInt k = 0; k < set->points * set->count && part != DIFFERENTIAL_AT_REST; k++) {
    const PetscInt    n = k / set->points;
    const FibrePoint *point = &set->at[4 * n + k % set->points];
    const Matrix3     tangent = fibre_tangent(point);

    give(set, n, point, matrix3_apply(&tangent, sum_of(set, n, point, dx)), df);
  }
}

static void assemble(const void *data, const MatrixSink *sink)
{
  const FibreSet *set = data;
  const PetscInt  width = DIM * set->nodes;
  PetscReal       matrix[DIM * DIM * ELEMENT_MOST_NODES * ELEMENT_MOST_NODES];

  for (PetscInt n = 0; n < set->count; n++) {
    memset(matrix, 0, (size_t)(width * width) * sizeof(*matrix));
    for (PetscInt q = 0; q < set->points && sink->part != DIFFERENTIAL_AT_REST; q++) {
      const FibrePoint *point = &set->at[4 * n + q];
      const Matrix3     tangent = fibre_tangent(point);

      for (PetscInt k = 0; k < width * width; k++)
        matrix[k] += sink->stiffness * point->weights[k / width / DIM] * point->weights[k % width / DIM] *
                     tangent.at[k / width % DIM][k % width % DIM];
    }
    sink->add(sink->context, n, matrix);
  }
}

static ForceSums sum_up(const void *data)
{
  const FibreSet *set = data;
  ForceSums       sums = {.least_ratio = PETSC_MAX_REAL};

  for (PetscInt k = 0; k < set->points * set->count; k++) {
    const FibrePoint *point = &set->at[4 * (k / set->points) + k % set->points];

    if (element_counts(&set->mesh, &set->elements[set->nodes * (k / set->points)]))
      sum_add(&sums.energy, point->tension * (vector3_norm(point->now) - 1.));
  }
  return sums;
}

/* s / l beside the stiffness of the material. */
static PetscReal stiffening(const void *data)
{
  const FibreSet *set = data;
  PetscReal       largest = 0.;

  for (PetscInt k = 0; k < set->points * set->count; k++) {
    const FibrePoint *point = &set->at[4 * (k / set->points) + k % set->points];

    largest = PetscMax(largest, point->tension / (point->volume * length_of(point)));
  }
  return 1. + largest / set->stiffness;
}

const ForceKind FibreForce = {.name = "fibres",
                              .survives_inversion = PETSC_TRUE,
                              .create = Create,
                              .destroy = Destroy,
                              .elements = elements,
                              .add_elastic = add_elastic,
                              .add_damping = add_damping,
                              .add_stiffness = add_stiffness,
                              .assemble = assemble,
                              .sum_up = sum_up,
                              .stiffening = stiffening,
                              .set_time = set_time};
