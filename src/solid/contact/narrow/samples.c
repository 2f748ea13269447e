/* Points of a form's surface.

   Vertices alone miss where edges cross, so sharp and open edges carry points no farther apart than a
   sixteenth of the form's longest side; edges inside a flat part need none. Round forms are exact between
   their points, where touches are refined, and do with a seventh. */
#include <stdlib.h>
#include "samples.h"

enum { LEAF_POINTS = 6 };

typedef struct {
  PetscInt low, high; /* vertices */
  PetscInt triangle;
} SampleEdge;

typedef struct {
  PetscInt count, capacity;
  Sample  *all;
} SampleList;

static int compare_sides(const void *first, const void *second)
{
  const SampleEdge *a = first, *b = second;

  if (a->low != b->low)
    return a->low < b->low ? -1 : 1;
  if (a->high != b->high)
    return a->high < b->high ? -1 : 1;
  return (a->triangle > b->triangle) - (a->triangle < b->triangle);
}

static PetscErrorCode AddSample(SampleList *list, Sample sample)
{
  PetscFunctionBegin;
  if (list->count == list->capacity) {
    Sample *larger;

    PetscCall(PetscMalloc1(2 * list->capacity + 16, &larger));
    PetscCall(PetscArraycpy(larger, list->all, list->count));
    PetscCall(PetscFree(list->all));
    list->all = larger;
    list->capacity = 2 * list->capacity + 16;
  }
  list->all[list->count++] = sample;
  PetscFunctionReturn(0);
}

static Vector3 unit_normal(const Vector3 vertices[], const PetscInt corners[3])
{
  const Vector3   normal = vector3_cross(vector3_subtract(vertices[corners[1]], vertices[corners[0]]),
                                         vector3_subtract(vertices[corners[2]], vertices[corners[0]]));
  const PetscReal norm = vector3_norm(normal);

  return norm > 0 ? vector3_scale(1 / norm, normal) : normal;
}

/* An edge with `count` triangles is flat if it has two that nearly lie in one plane: up to two degrees for
   round forms, whose straight edges matter, twenty for others, whose vertices then are dense enough. */
static PetscBool edge_is_flat(const Form *form, const Vector3 vertices[], const PetscInt (*triangles)[3],
                              const SampleEdge sides[], PetscInt count)
{
  const PetscReal flat_cosine = form_is_exact(form) ? 0.9994 : 0.94;

  return count == 2 &&
                 PetscAbsReal(vector3_dot(unit_normal(vertices, triangles[sides[0].triangle]),
                                          unit_normal(vertices, triangles[sides[1].triangle]))) > flat_cosine
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* The point of a round form above or below a point of its triangles. */
static Vector3 onto_surface(const Form *form, Vector3 point)
{
  Vector3   outward;
  PetscReal distance;

  if (form->kind == FORM_BOX || form->kind == FORM_HULL || !form_is_exact(form))
    return point;
  distance = form_distance(form, point, &outward);
  return vector3_subtract(point, vector3_scale(distance, outward));
}

/* The sharpest direction allowed: 26 degrees beyond the triangle that faces away most. */
static PetscReal least_cosine(PetscReal cosine)
{
  const PetscReal margin = 0.45;

  return cosine > 0 ? PetscCosReal(PetscAcosReal(PetscMin(cosine, 1)) + margin) : -1;
}

/* The points inside an edge of `count` triangles. */
static PetscErrorCode AddEdge(const Form *form, const SampleEdge sides[], PetscInt count, Samples samples,
                              SampleList *list)
{
  const Vector3 *vertices;
  const PetscInt(*triangles)[3];
  Vector3   along, normals[2];
  Sample    sample = {.cosine = -1};
  PetscReal norm;
  PetscInt  parts;

  PetscFunctionBegin;
  PetscCall(SurfaceGet(form->surface, NULL, &vertices, NULL, &triangles));
  for (int k = 0; k < 2; k++)
    normals[k] = unit_normal(vertices, triangles[sides[count == 2 ? k : 0].triangle]);
  sample.normal = vector3_add(normals[0], normals[1]);
  norm = vector3_norm(sample.normal);
  if (count == 2 && norm > 0) {
    sample.normal = vector3_scale(1 / norm, sample.normal);
    sample.cosine = least_cosine(vector3_dot(sample.normal, normals[0]));
  }
  along = vector3_subtract(vertices[sides[0].high], vertices[sides[0].low]);
  parts = (PetscInt)PetscCeilReal(vector3_norm(along) / samples->spacing - 1e-9);
  for (PetscInt k = 1; k < parts; k++) {
    sample.point = vector3_add(vertices[sides[0].low], vector3_scale((PetscReal)k / (PetscReal)parts, along));
    sample.point = onto_surface(form, sample.point);
    PetscCall(AddSample(list, sample));
  }
  PetscFunctionReturn(0);
}

/* At the middle of a triangle; at the corners of a round form it is zero. */
static PetscReal triangle_sagitta(const Form *form, const Vector3 vertices[], const PetscInt corners[3])
{
  const Vector3 sum =
      vector3_add(vector3_add(vertices[corners[0]], vertices[corners[1]]), vertices[corners[2]]);
  const Vector3 middle = vector3_scale(1.0 / 3, sum);

  return vector3_norm(vector3_subtract(onto_surface(form, middle), middle));
}

static PetscErrorCode AddEdges(const Form *form, Samples samples, SampleList *list)
{
  PetscInt       triangle_count, next;
  const Vector3 *vertices;
  const PetscInt(*triangles)[3];
  SampleEdge *sides;

  PetscFunctionBegin;
  PetscCall(SurfaceGet(form->surface, NULL, &vertices, &triangle_count, &triangles));
  PetscCall(PetscMalloc1(3 * triangle_count, &sides));
  for (PetscInt s = 0; s < 3 * triangle_count; s++) {
    const PetscInt start = triangles[s / 3][s % 3], end = triangles[s / 3][(s % 3 + 1) % 3];

    sides[s] = (SampleEdge){PetscMin(start, end), PetscMax(start, end), s / 3};
    samples->sagitta = PetscMax(samples->sagitta, triangle_sagitta(form, vertices, triangles[s / 3]));
  }
  qsort(sides, (size_t)(3 * triangle_count), sizeof(SampleEdge), compare_sides);
  for (PetscInt s = 0; s < 3 * triangle_count; s = next) {
    next = s + 1;
    while (next < 3 * triangle_count && sides[next].low == sides[s].low && sides[next].high == sides[s].high)
      next++;
    if (!edge_is_flat(form, vertices, triangles, sides + s, next - s))
      PetscCall(AddEdge(form, sides + s, next - s, samples, list));
    if (next - s != 2)
      list->all[sides[s].low].cosine = list->all[sides[s].high].cosine = -1;
  }
  PetscCall(PetscFree(sides));
  PetscFunctionReturn(0);
}

/* One sample for each vertex, in their order. */
static PetscErrorCode AddVertices(const Form *form, SampleList *list)
{
  PetscInt       vertex_count, triangle_count;
  const Vector3 *vertices;
  const PetscInt(*triangles)[3];

  PetscFunctionBegin;
  PetscCall(SurfaceGet(form->surface, &vertex_count, &vertices, &triangle_count, &triangles));
  for (PetscInt n = 0; n < vertex_count; n++)
    PetscCall(AddSample(list, (Sample){.point = vertices[n], .cosine = 1}));
  for (PetscInt s = 0; s < 3 * triangle_count; s++) {
    Vector3 *sum = &list->all[triangles[s / 3][s % 3]].normal;

    *sum = vector3_add(*sum, unit_normal(vertices, triangles[s / 3]));
  }
  for (PetscInt n = 0; n < vertex_count; n++) {
    const PetscReal norm = vector3_norm(list->all[n].normal);

    list->all[n].normal = vector3_scale(norm > 0 ? 1 / norm : 0, list->all[n].normal);
  }
  for (PetscInt s = 0; s < 3 * triangle_count; s++) {
    Sample *sample = &list->all[triangles[s / 3][s % 3]];

    sample->cosine =
        PetscMin(sample->cosine, vector3_dot(sample->normal, unit_normal(vertices, triangles[s / 3])));
  }
  for (PetscInt n = 0; n < vertex_count; n++)
    list->all[n].cosine = least_cosine(list->all[n].cosine);
  PetscFunctionReturn(0);
}

static void bound_node(SampleNode *node, const Sample all[], PetscInt *longest)
{
  Vector3   low = all[node->first].point, high = low;
  PetscReal square = 0;

  for (PetscInt n = node->first; n < node->first + node->count; n++) {
    for (int d = 0; d < DIM; d++) {
      low.at[d] = PetscMin(low.at[d], all[n].point.at[d]);
      high.at[d] = PetscMax(high.at[d], all[n].point.at[d]);
    }
  }
  *longest = X;
  for (int d = 0; d < DIM; d++) {
    node->centre.at[d] = 0.5 * (low.at[d] + high.at[d]);
    if (high.at[d] - low.at[d] > high.at[*longest] - low.at[*longest])
      *longest = d;
  }
  for (PetscInt n = node->first; n < node->first + node->count; n++) {
    const Vector3 arm = vector3_subtract(all[n].point, node->centre);

    square = PetscMax(square, vector3_dot(arm, arm));
  }
  node->radius = PetscSqrtReal(square);
}

static int compare_x(const void *a, const void *b)
{
  const PetscReal first = ((const Sample *)a)->point.at[X], second = ((const Sample *)b)->point.at[X];

  return (first > second) - (first < second);
}

static int compare_y(const void *a, const void *b)
{
  const PetscReal first = ((const Sample *)a)->point.at[Y], second = ((const Sample *)b)->point.at[Y];

  return (first > second) - (first < second);
}

static int compare_z(const void *a, const void *b)
{
  const PetscReal first = ((const Sample *)a)->point.at[Z], second = ((const Sample *)b)->point.at[Z];

  return (first > second) - (first < second);
}

/* Depth first; halves by number, so the depth is that of a balanced tree. */
static void build_node(Samples samples, PetscInt first, PetscInt count)
{
  static int (*const compare[DIM])(const void *, const void *) = {compare_x, compare_y, compare_z};
  const PetscInt at = samples->node_count++;
  PetscInt       longest;

  samples->nodes[at] = (SampleNode){.first = first, .count = count};
  bound_node(&samples->nodes[at], samples->all, &longest);
  if (count <= LEAF_POINTS)
    return;
  qsort(samples->all + first, (size_t)count, sizeof(Sample), compare[longest]);
  build_node(samples, first, count / 2);
  samples->nodes[at].second = samples->node_count;
  build_node(samples, first + count / 2, count - count / 2);
}

PetscErrorCode SamplesCreate(const Form *form, Samples *samples)
{
  const PetscReal parts = form->kind == FORM_BOX || form->kind == FORM_HULL || !form_is_exact(form) ? 16 : 7;
  PetscReal       longest = 0;
  SampleList      list = {0};

  PetscFunctionBegin;
  PetscCall(PetscNew(samples));
  for (int d = 0; d < DIM; d++)
    longest = PetscMax(longest, form->high.at[d] - form->low.at[d]);
  (*samples)->spacing = longest / parts;
  PetscCall(AddVertices(form, &list));
  PetscCall(AddEdges(form, *samples, &list));
  (*samples)->count = list.count;
  (*samples)->all = list.all;
  PetscCall(PetscMalloc1(2 * list.count, &(*samples)->nodes));
  build_node(*samples, 0, list.count);
  PetscFunctionReturn(0);
}

PetscErrorCode SamplesDestroy(Samples *samples)
{
  PetscFunctionBegin;
  if (!*samples)
    PetscFunctionReturn(0);
  PetscCall(PetscFree((*samples)->all));
  PetscCall(PetscFree((*samples)->nodes));
  PetscCall(PetscFree(*samples));
  PetscFunctionReturn(0);
}
