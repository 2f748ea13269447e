/* Springs of any kind: forces, damping, differentials, sums (spring_set.h). */
#include "spring_set.h"

#include "element_set.h"

#include <stdlib.h>
#include <string.h>

static PetscInt corners_of(const ElementList *list)
{
  return list->section == SECTION_SOLID ? PetscMin(list->nodes, 4) : 3;
}

static int compare_edges(const void *first, const void *second)
{
  const ElementEdge *a = first, *b = second;

  for (PetscInt k = 0; k < 2; k++)
    if (a->ends[k] != b->ends[k])
      return a->ends[k] < b->ends[k] ? -1 : 1;
  return a->element < b->element ? -1 : a->element > b->element;
}

PetscErrorCode ElementEdgesFind(const ElementList *list, PetscInt *count, ElementEdge **edges)
{
  const PetscInt corners = corners_of(list);

  PetscFunctionBegin;
  *count = 0;
  PetscCall(PetscMalloc1(list->count * corners * (corners - 1) / 2 + 1, edges));
  for (PetscInt e = 0; e < list->count; e++)
    for (PetscInt i = 0; i < corners; i++)
      for (PetscInt j = i + 1; j < corners; j++) {
        const PetscInt *nodes = &list->elements[list->nodes * e];

        (*edges)[(*count)++] = (ElementEdge){{PetscMin(nodes[i], nodes[j]), PetscMax(nodes[i], nodes[j])},
                                             e,
                                             corners == 3 ? nodes[3 - i - j] : -1};
      }
  qsort(*edges, (size_t)*count, sizeof(**edges), compare_edges);
  PetscFunctionReturn(0);
}

PetscReal element_measure(const ElementList *list, PetscInt element, const Vector3 x[])
{
  const PetscInt *nodes = &list->elements[list->nodes * element], corners = corners_of(list);
  Vector3         sides[3] = {{{0}}};

  for (PetscInt c = 1; c < corners; c++)
    sides[c - 1] = vector3_subtract(x[nodes[c]], x[nodes[0]]);
  if (corners == 2)
    return vector3_norm(sides[0]);
  if (corners == 3)
    return 0.5 * vector3_norm(vector3_cross(sides[0], sides[1]));
  return vector3_dot(sides[0], vector3_cross(sides[1], sides[2])) / 6.;
}

PetscErrorCode SpringSetCreate(const SolidMaterialConfig *material, const ElementList *mesh,
                               const Vector3 rest[], PetscInt count, PetscInt nodes, SpringSet **set)
{
  SpringSet *made;

  PetscFunctionBegin;
  PetscCall(PetscNew(set));
  made = *set;
  made->nodes = nodes;
  made->mesh = *mesh;
  made->young = material->young;
  made->damping = material->damping;
  PetscCall(PetscMalloc1(count * nodes, &made->elements));
  PetscCall(PetscMalloc1(count * nodes, &made->weights));
  PetscCall(PetscMalloc1(count, &made->springs));
  PetscCall(PetscMalloc1(mesh->count * mesh->nodes, &made->corners));
  PetscCall(PetscMalloc1(mesh->count, &made->measures));
  for (PetscInt e = 0; e < mesh->count; e++)
    made->measures[e] = element_measure(mesh, e, rest);
  for (PetscInt k = 0; k < mesh->count * mesh->nodes; k++)
    made->corners[k] = rest[mesh->elements[k]];
  PetscFunctionReturn(0);
}

static Vector3 sum_of(const SpringSet *set, PetscInt n, const Vector3 values[])
{
  Vector3 sum = vector3(0, 0, 0);

  for (PetscInt a = 0; a < set->nodes; a++)
    sum = vector3_add(
        sum, vector3_scale(set->weights[set->nodes * n + a], values[set->elements[set->nodes * n + a]]));
  return sum;
}

/* Unit, of s; zero where s is. */
static Vector3 direction_of(Vector3 s)
{
  const PetscReal length = vector3_norm(s);

  return length > 0. ? vector3_scale(1. / length, s) : vector3(0, 0, 0);
}

/* Springs with the points of the one before, which are fetched once for all, stand in its run. */
static void join_run(SpringSet *set, PetscInt n)
{
  const PetscInt *nodes = &set->elements[set->nodes * n], *leading = &set->elements[set->nodes * set->leader];

  set->springs[n].run = 1;
  if (n - set->leader > 0 && n - set->leader < SPRING_MOST_RUN &&
      memcmp(nodes, leading, (size_t)set->nodes * sizeof(*nodes)) == 0)
    set->springs[set->leader].run++;
  else
    set->leader = n;
}

void spring_set_add(SpringSet *set, const PetscInt nodes[], const PetscReal weights[], PetscReal stiffness,
                    const Vector3 rest[])
{
  const PetscInt  n = set->count++;
  WeightedSpring *spring = &set->springs[n];
  PetscReal       size = 0.;

  memcpy(&set->elements[set->nodes * n], nodes, (size_t)set->nodes * sizeof(*nodes));
  memcpy(&set->weights[set->nodes * n], weights, (size_t)set->nodes * sizeof(*weights));
  spring->stiffness = stiffness;
  spring->rest = spring->now = sum_of(set, n, rest);
  spring->along = direction_of(spring->now);
  spring->length = vector3_norm(spring->rest);
  join_run(set, n);
  for (PetscInt a = 1; a < set->nodes; a++)
    size += PetscAbsReal(weights[a]) * vector3_norm(vector3_subtract(rest[nodes[a]], rest[nodes[0]]));
  if (spring->length < 1e-9 * size) { /* flat, but for round-off */
    spring->length = 0.;
    spring->rest = vector3(0, 0, 0);
  }
}

PetscErrorCode SpringSetDestroy(void **data)
{
  SpringSet *set = *data;

  PetscFunctionBegin;
  if (set) {
    PetscCall(PetscFree(set->elements));
    PetscCall(PetscFree(set->weights));
    PetscCall(PetscFree(set->springs));
    PetscCall(PetscFree(set->corners));
    PetscCall(PetscFree(set->measures));
  }
  PetscCall(PetscFree(*data));
  PetscFunctionReturn(0);
}

ElementList springs_list(const void *data)
{
  const SpringSet *set = data;

  return (ElementList){.count = set->count, .nodes = set->nodes, .elements = set->elements};
}

/* What a spring pulls with where s is, or changes by, so much. */
typedef Vector3 (*SpringPull)(const SpringSet *set, WeightedSpring *spring, DifferentialPart part, Vector3 s);

/* A run: to each of its points minus its weights times the pulls. Lanes are components. */
KERNEL void pull_run(const SpringSet *set, PetscInt first, int run, SpringPull pull, DifferentialPart part,
                     const Vector3 values[], Vector3 f[])
{
  const PetscInt  *nodes = &set->elements[set->nodes * first];
  const PetscReal *weights = &set->weights[set->nodes * first];
  Lanes            sums[SPRING_MOST_RUN], pulls[SPRING_MOST_RUN];

  for (int k = 0; k < run; k++)
    sums[k] = pulls[k] = (Lanes){0., 0., 0., 0.};
  for (PetscInt a = 0; a < set->nodes; a++) {
    const PetscReal *at = values[nodes[a]].at;
    const Lanes      value = {at[X], at[Y], at[Z], 0.};

    for (int k = 0; k < run; k++)
      sums[k] += weights[set->nodes * k + a] * value;
  }
  for (int k = 0; k < run; k++) {
    const Vector3 of = pull(set, &set->springs[first + k], part, vector3(sums[k][X], sums[k][Y], sums[k][Z]));

    pulls[k] = (Lanes){of.at[X], of.at[Y], of.at[Z], 0.};
  }
  for (PetscInt a = 0; a < set->nodes; a++) {
    PetscReal *at = f[nodes[a]].at;
    Lanes      force = weights[a] * pulls[0];

    for (int k = 1; k < run; k++)
      force += weights[set->nodes * k + a] * pulls[k];
    for (int d = 0; d < DIM; d++)
      at[d] -= force[d];
  }
}

/* Of all springs; `pull` is known where this is compiled. */
KERNEL void pull_all(const SpringSet *set, SpringPull pull, DifferentialPart part, const Vector3 values[],
                     Vector3 f[])
{
  for (PetscInt n = 0; n < set->count; n += set->springs[n].run)
    if (set->springs[n].run == SPRING_MOST_RUN)
      pull_run(set, n, SPRING_MOST_RUN, pull, part, values, f);
    else
      for (PetscInt k = 0; k < set->springs[n].run; k++)
        pull_run(set, n + k, 1, pull, part, values, f);
}

KERNEL Vector3 elastic_pull(const SpringSet *set, WeightedSpring *spring, DifferentialPart part, Vector3 s)
{
  (void)set;
  (void)part;
  spring->now = s;
  spring->along = direction_of(s);
  return vector3_scale(spring->stiffness, vector3_subtract(s, vector3_scale(spring->length, spring->along)));
}

KERNEL Vector3 damping_pull(const SpringSet *set, WeightedSpring *spring, DifferentialPart part, Vector3 s)
{
  (void)part;
  return vector3_scale(set->damping * spring->stiffness * vector3_dot(spring->along, s), spring->along);
}

VECTOR_CLONES static void pull_by_forces(const SpringSet *set, const Vector3 x[], Vector3 f[])
{
  pull_all(set, elastic_pull, DIFFERENTIAL_EXACT, x, f);
}

VECTOR_CLONES static void pull_by_damping(const SpringSet *set, const Vector3 v[], Vector3 f[])
{
  pull_all(set, damping_pull, DIFFERENTIAL_EXACT, v, f);
}

void springs_add_elastic(void *data, const Vector3 x[], Vector3 f[])
{
  SpringSet *set = data;

  pull_by_forces(set, x, f);
  for (PetscInt k = 0; k < set->mesh.count * set->mesh.nodes; k++)
    set->corners[k] = x[set->mesh.elements[k]];
}

void springs_add_damping(const void *data, const Vector3 v[], Vector3 f[])
{
  const SpringSet *set = data;

  if (set->damping > 0.)
    pull_by_damping(set, v, f);
}

/* c (d d^T + part (1 - d d^T)) with the direction d of s and the part 1 - l_0 / l across it, which is
   negative where the spring presses. A spring without length is the same in all directions. */
static Matrix3 spring_tangent(const WeightedSpring *spring, DifferentialPart part)
{
  const Vector3   s = part == DIFFERENTIAL_AT_REST ? spring->rest : spring->now, along = direction_of(s);
  const PetscReal length = vector3_norm(s);
  PetscReal       across = spring->length > 0. ? 1. - spring->length / PetscMax(length, PETSC_SMALL) : 1.;
  Matrix3         tangent;

  if (part == DIFFERENTIAL_DEFINITE)
    across = PetscMax(0., across);
  else if (part == DIFFERENTIAL_AT_REST && spring->length > 0.)
    across = 0.;
  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      tangent.at[i][j] =
          spring->stiffness * ((1. - across) * along.at[i] * along.at[j] + (i == j ? across : 0.));
  return tangent;
}

KERNEL Vector3 tangent_pull(const SpringSet *set, WeightedSpring *spring, DifferentialPart part, Vector3 s)
{
  const Matrix3 tangent = spring_tangent(spring, part);

  (void)set;
  return matrix3_apply(&tangent, s);
}

void springs_add_stiffness(const void *data, DifferentialPart part, const Vector3 dx[], Vector3 df[])
{
  pull_all(data, tangent_pull, part, dx, df);
}

void springs_assemble(const void *data, const MatrixSink *sink)
{
  const SpringSet *set = data;
  const PetscInt   width = DIM * set->nodes;
  PetscReal        matrix[DIM * DIM * SPRING_MOST_NODES * SPRING_MOST_NODES];

  for (PetscInt n = 0; n < set->count; n++) {
    const WeightedSpring *spring = &set->springs[n];
    const Matrix3         tangent = spring_tangent(spring, sink->part);
    const Vector3         along = spring->along;
    const PetscReal       damping = sink->damping * set->damping * spring->stiffness;

    for (PetscInt k = 0; k < width * width; k++) {
      const PetscInt  a = k / width / DIM, i = k / width % DIM, b = k % width / DIM, j = k % width % DIM;
      const PetscReal weight = set->weights[set->nodes * n + a] * set->weights[set->nodes * n + b];

      matrix[k] = weight * (sink->stiffness * tangent.at[i][j] + damping * along.at[i] * along.at[j]);
    }
    sink->add(sink->context, n, matrix);
  }
}

ForceSums springs_sum_up(const void *data)
{
  const SpringSet *set = data;
  ForceSums        sums = {.least_ratio = PETSC_MAX_REAL};

  for (PetscInt n = 0; n < set->count; n++)
    if (element_counts(&set->mesh, &set->elements[set->nodes * n]))
      sum_add(&sums.energy, 0.5 * set->springs[n].stiffness *
                                PetscSqr(vector3_norm(set->springs[n].now) - set->springs[n].length));
  return sums;
}

/* Across them springs are never stiffer than along. */
PetscReal springs_stiffening(const void *data)
{
  (void)data;
  return 1.;
}

static void number_corners(PetscInt nodes, PetscInt numbers[])
{
  for (PetscInt c = 0; c < nodes; c++)
    numbers[c] = c;
}

void springs_measure(const void *data, PetscReal ratios[], PetscReal stresses[])
{
  const SpringSet *set = data;
  const PetscInt   corners = corners_of(&set->mesh);
  PetscInt         own[FORCE_MOST_NODES];
  ElementList      one = set->mesh;

  number_corners(set->mesh.nodes, own);
  one.elements = own;
  for (PetscInt e = 0; e < set->mesh.count; e++) {
    ratios[e] = element_measure(&one, 0, &set->corners[set->mesh.nodes * e]) / set->measures[e];
    stresses[e] = 0.;
  }
  for (PetscInt n = 0; n < set->count && corners == 2; n++)
    stresses[n] = set->young * PetscAbsReal(vector3_norm(set->springs[n].now) / set->springs[n].length - 1.);
}

void springs_no_strains(const void *data, PetscReal strains[])
{
  const SpringSet *set = data;

  memset(strains, 0, (size_t)set->mesh.count * sizeof(*strains));
}
