/* Altitude springs (Selle, Lentine and Fedkiw 2008): from each corner of an element to the opposite side,
   against elements of springs that would collapse. With the height h of corner x_p over the plane (of a
   triangle: the line) of the others, its foot sum w_b x_b and the unit normal n,

     W = c/2 (h - h_0)^2,   dh = n . y,   y = dx_p - sum w_b dx_b,   a = sum (grad w_b) (n . dx_b),
     d^2 h = -2 a . y - h |a|^2 + [of triangles] (m . y)^2 / h,   m across line and normal,

   where the weights w of the foot do not count in dh. Heights of tetrahedra have a sign and press back
   through inversion; those of triangles have none. The stiffness is that of an edge, E V / h_0^2, times
   `altitude`. */
#include "element_set.h"
#include "spring_set.h"

#include <string.h>

enum { MOST_CORNERS = 4 };

typedef struct {
  PetscInt    count, corners; /* of springs: `corners` in each element */
  PetscInt   *elements;       /* owned: of each its points, the one above first */
  PetscReal  *stiffness, *height;
  ElementList mesh;
  Vector3    *x; /* owned: of each its points where the forces were found last */
  Vector3    *rest;
  PetscReal   damping;
} AltitudeSet;

/* A spring somewhere. */
typedef struct {
  PetscReal height, weights[MOST_CORNERS]; /* 1, then minus those of the foot */
  Vector3   normal, along, across;         /* of a triangle: of its line, and m; zero of others */
  Vector3   slopes[MOST_CORNERS];          /* grad w; the first is zero */
} Altitude;

static Altitude over_line(const Vector3 x[])
{
  const Vector3   e = vector3_subtract(x[2], x[1]), above = vector3_subtract(x[0], x[1]);
  const PetscReal length = vector3_norm(e), part = vector3_dot(above, e) / (length * length);
  const Vector3   s = vector3_subtract(above, vector3_scale(part, e));
  Altitude        altitude = {.height = vector3_norm(s), .weights = {1., part - 1., -part}};

  altitude.normal = vector3_scale(1. / PetscMax(altitude.height, PETSC_SMALL * length), s);
  altitude.along = vector3_scale(1. / length, e);
  altitude.across = vector3_cross(altitude.normal, altitude.along);
  altitude.slopes[2] = vector3_scale(1. / length, altitude.along);
  altitude.slopes[1] = vector3_scale(-1., altitude.slopes[2]);
  return altitude;
}

static Altitude over_plane(const Vector3 x[])
{
  const Vector3 e = vector3_subtract(x[2], x[1]), g = vector3_subtract(x[3], x[1]),
                area = vector3_cross(e, g);
  const Vector3   above = vector3_subtract(x[0], x[1]);
  const PetscReal twice = vector3_norm(area);
  Altitude        altitude = {.weights = {1., 0., 0., 0.}};

  altitude.normal = vector3_scale(1. / twice, area);
  altitude.height = vector3_dot(altitude.normal, above);
  altitude.slopes[2] = vector3_scale(1. / twice, vector3_cross(g, altitude.normal));
  altitude.slopes[3] = vector3_scale(1. / twice, vector3_cross(altitude.normal, e));
  altitude.slopes[1] = vector3_scale(-1., vector3_add(altitude.slopes[2], altitude.slopes[3]));
  altitude.weights[2] = -vector3_dot(altitude.slopes[2], above);
  altitude.weights[3] = -vector3_dot(altitude.slopes[3], above);
  altitude.weights[1] = -1. - altitude.weights[2] - altitude.weights[3];
  return altitude;
}

static Altitude altitude_of(const AltitudeSet *set, const Vector3 x[])
{
  return set->corners == 3 ? over_line(x) : over_plane(x);
}

static void gather(const AltitudeSet *set, PetscInt n, const Vector3 values[], Vector3 own[])
{
  for (PetscInt c = 0; c < set->corners; c++)
    own[c] = values[set->elements[set->corners * n + c]];
}

/* Of tetrahedra the opposite side turns so that a height at rest is positive. */
static void set_corners(AltitudeSet *set, PetscInt n, const Vector3 rest[])
{
  const PetscInt *nodes = &set->mesh.elements[set->mesh.nodes * (n / set->corners)], top = n % set->corners;
  PetscInt       *own = &set->elements[set->corners * n], filled = 1;

  own[0] = nodes[top];
  for (PetscInt c = 0; c < set->corners; c++)
    if (c != top)
      own[filled++] = nodes[c];
  gather(set, n, rest, &set->rest[set->corners * n]);
  if (set->corners == 4 && altitude_of(set, &set->rest[set->corners * n]).height < 0.) {
    const PetscInt swap = own[2];

    own[2] = own[3];
    own[3] = swap;
    gather(set, n, rest, &set->rest[set->corners * n]);
  }
}

static PetscErrorCode Create(const SolidMaterialConfig *material, const ElementList *list,
                             const Vector3 rest[], void **data)
{
  AltitudeSet *set;

  PetscFunctionBegin;
  PetscCall(PetscNew(&set));
  *data = set;
  set->mesh = *list;
  set->damping = material->damping;
  set->corners = list->section == SECTION_SOLID ? 4 : 3;
  set->count = list->count * set->corners;
  PetscCall(PetscMalloc1(set->count * set->corners, &set->elements));
  PetscCall(PetscMalloc2(set->count, &set->stiffness, set->count, &set->height));
  PetscCall(PetscMalloc2(set->count * set->corners, &set->x, set->count * set->corners, &set->rest));
  for (PetscInt n = 0; n < set->count; n++) {
    const PetscReal volume = (list->thickness > 0. ? list->thickness : 1.) *
                             PetscAbsReal(element_measure(list, n / set->corners, rest));

    set_corners(set, n, rest);
    set->height[n] = altitude_of(set, &set->rest[set->corners * n]).height;
    set->stiffness[n] = material->altitude * material->young * volume / PetscSqr(set->height[n]);
  }
  PetscCall(PetscArraycpy(set->x, set->rest, set->count * set->corners));
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(void **data)
{
  AltitudeSet *set = *data;

  PetscFunctionBegin;
  if (set) {
    PetscCall(PetscFree(set->elements));
    PetscCall(PetscFree2(set->stiffness, set->height));
    PetscCall(PetscFree2(set->x, set->rest));
  }
  PetscCall(PetscFree(*data));
  PetscFunctionReturn(0);
}

static ElementList elements(const void *data)
{
  const AltitudeSet *set = data;

  return (ElementList){.count = set->count, .nodes = set->corners, .elements = set->elements};
}

static void give(const AltitudeSet *set, PetscInt n, const Altitude *altitude, PetscReal force, Vector3 f[])
{
  for (PetscInt c = 0; c < set->corners; c++) {
    Vector3 *at = &f[set->elements[set->corners * n + c]];

    *at = vector3_add(*at, vector3_scale(force * altitude->weights[c], altitude->normal));
  }
}

static void add_elastic(void *data, const Vector3 x[], Vector3 f[])
{
  AltitudeSet *set = data;

  for (PetscInt n = 0; n < set->count; n++) {
    Vector3 *own = &set->x[set->corners * n];
    Altitude altitude;

    gather(set, n, x, own);
    altitude = altitude_of(set, own);
    give(set, n, &altitude, -set->stiffness[n] * (altitude.height - set->height[n]), f);
  }
}

/* dh. */
static PetscReal change_of(const AltitudeSet *set, const Altitude *altitude, const Vector3 own[])
{
  PetscReal sum = 0.;

  for (PetscInt c = 0; c < set->corners; c++)
    sum += altitude->weights[c] * vector3_dot(altitude->normal, own[c]);
  return sum;
}

static void add_damping(const void *data, const Vector3 v[], Vector3 f[])
{
  const AltitudeSet *set = data;

  for (PetscInt n = 0; n < set->count && set->damping > 0.; n++) {
    const Altitude altitude = altitude_of(set, &set->x[set->corners * n]);
    Vector3        own[MOST_CORNERS];

    gather(set, n, v, own);
    give(set, n, &altitude, -set->damping * set->stiffness[n] * change_of(set, &altitude, own), f);
  }
}

/* The matrix of -K, 3 corners x 3 corners: c (dh dh + (h - h_0) d^2 h), of which a definite part has the
 * first alone. */
static void find_matrix(const AltitudeSet *set, PetscInt n, DifferentialPart part, PetscReal matrix[])
{
  const PetscInt  width = DIM * set->corners;
  const Altitude  altitude = altitude_of(set, part == DIFFERENTIAL_AT_REST ? &set->rest[set->corners * n]
                                                                           : &set->x[set->corners * n]);
  const PetscReal bent = part == DIFFERENTIAL_EXACT ? altitude.height - set->height[n] : 0.;
  const PetscReal h = altitude.height;

  for (PetscInt k = 0; k < width * width; k++) {
    const PetscInt  c = k / width / DIM, i = k / width % DIM, d = k % width / DIM, j = k % width % DIM;
    const PetscReal wc = altitude.weights[c], wd = altitude.weights[d];
    const PetscReal ni = altitude.normal.at[i], nj = altitude.normal.at[j];
    PetscReal       second = -ni * altitude.slopes[c].at[j] * wd - nj * altitude.slopes[d].at[i] * wc -
                       h * ni * nj * vector3_dot(altitude.slopes[c], altitude.slopes[d]);

    if (set->corners == 3)
      second += wc * wd * altitude.across.at[i] * altitude.across.at[j] / PetscMax(h, PETSC_SMALL);
    matrix[k] = set->stiffness[n] * (wc * wd * ni * nj + bent * second);
  }
}

static void add_stiffness(const void *data, DifferentialPart part, const Vector3 dx[], Vector3 df[])
{
  const AltitudeSet *set = data;
  const PetscInt     width = DIM * set->corners;
  PetscReal          matrix[DIM * DIM * MOST_CORNERS * MOST_CORNERS];

  for (PetscInt n = 0; n < set->count; n++) {
    const PetscInt *nodes = &set->elements[set->corners * n];

    find_matrix(set, n, part, matrix);
    for (PetscInt k = 0; k < width * width; k++)
      df[nodes[k / width / DIM]].at[k / width % DIM] -=
          matrix[k] * dx[nodes[k % width / DIM]].at[k % width % DIM];
  }
}

static void assemble(const void *data, const MatrixSink *sink)
{
  const AltitudeSet *set = data;
  const PetscInt     width = DIM * set->corners;
  PetscReal          matrix[DIM * DIM * MOST_CORNERS * MOST_CORNERS];

  for (PetscInt n = 0; n < set->count; n++) {
    const Altitude  altitude = altitude_of(set, &set->x[set->corners * n]);
    const PetscReal damping = sink->damping * set->damping * set->stiffness[n];

    find_matrix(set, n, sink->part, matrix);
    for (PetscInt k = 0; k < width * width; k++)
      matrix[k] = sink->stiffness * matrix[k] +
                  damping * altitude.weights[k / width / DIM] * altitude.weights[k % width / DIM] *
                      altitude.normal.at[k / width % DIM] * altitude.normal.at[k % width % DIM];
    sink->add(sink->context, n, matrix);
  }
}

static ForceSums sum_up(const void *data)
{
  const AltitudeSet *set = data;
  ForceSums          sums = {.least_ratio = PETSC_MAX_REAL};

  for (PetscInt n = 0; n < set->count; n++)
    if (element_counts(&set->mesh, &set->mesh.elements[set->mesh.nodes * (n / set->corners)]))
      sum_add(&sums.energy,
              0.5 * set->stiffness[n] *
                  PetscSqr(altitude_of(set, &set->x[set->corners * n]).height - set->height[n]));
  return sums;
}

static PetscReal weight_square(const Altitude *altitude)
{
  PetscReal sum = 0.;

  for (PetscInt c = 0; c < MOST_CORNERS; c++)
    sum += PetscSqr(altitude->weights[c]);
  return sum;
}

/* As the feet move the weights grow. */
static PetscReal stiffening(const void *data)
{
  const AltitudeSet *set = data;
  PetscReal          largest = 1.;

  for (PetscInt n = 0; n < set->count; n++) {
    const Altitude now = altitude_of(set, &set->x[set->corners * n]);
    const Altitude rest = altitude_of(set, &set->rest[set->corners * n]);

    largest = PetscMax(largest, weight_square(&now) / weight_square(&rest));
  }
  return largest;
}

const ForceKind AltitudeForce = {.name = "altitude",
                                 .survives_inversion = PETSC_TRUE,
                                 .create = Create,
                                 .destroy = Destroy,
                                 .elements = elements,
                                 .add_elastic = add_elastic,
                                 .add_damping = add_damping,
                                 .add_stiffness = add_stiffness,
                                 .assemble = assemble,
                                 .sum_up = sum_up,
                                 .stiffening = stiffening};
