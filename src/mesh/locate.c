/* The element of a mesh at a point. The box around the mesh is divided into bins of about one element, each
   with the elements whose boxes reach into it; rings of bins are searched outwards until none can be nearer.
 */
#include <math.h>
#include "mesh_impl.h"

struct _p_MeshLocator {
  Mesh      mesh; /* borrowed */
  Vector3   low;
  PetscReal size; /* of a bin */
  PetscInt  bins[DIM];
  PetscInt *first, *elements; /* of each bin */
};

static PetscInt bin_along(MeshLocator locator, PetscReal place, int d)
{
  const PetscReal n = floor((place - locator->low.at[d]) / locator->size);

  return (PetscInt)PetscMax(0, PetscMin((PetscReal)(locator->bins[d] - 1), n));
}

static void choose_bins(MeshLocator locator)
{
  const PetscInt most = 512;
  Vector3        low, high;
  PetscReal      volume = 1, widest = 0;
  int            wide = 0;

  mesh_bounds(locator->mesh, &low, &high);
  locator->low = low;
  for (int d = 0; d < DIM; d++)
    widest = PetscMax(widest, high.at[d] - low.at[d]);
  for (int d = 0; d < DIM; d++) {
    if (high.at[d] - low.at[d] > 1e-6 * widest) {
      volume *= high.at[d] - low.at[d];
      wide++;
    }
  }
  locator->size = wide ? pow(volume / (PetscReal)PetscMax(1, locator->mesh->element_count), 1. / wide) : 1;
  locator->size = PetscMax(locator->size, widest / (PetscReal)most);
  for (int d = 0; d < DIM; d++)
    locator->bins[d] = 1 + (PetscInt)floor((high.at[d] - low.at[d]) / locator->size);
}

static PetscInt bin_number(MeshLocator locator, const PetscInt at[DIM])
{
  return (at[Z] * locator->bins[Y] + at[Y]) * locator->bins[X] + at[X];
}

/* By its corners and middles. */
static void element_bins(MeshLocator locator, PetscInt element, PetscInt from[DIM], PetscInt to[DIM])
{
  const Mesh mesh = locator->mesh;

  for (int d = 0; d < DIM; d++) {
    PetscReal low = PETSC_INFINITY, high = -PETSC_INFINITY;

    for (PetscInt n = 0; n < mesh->nodes; n++) {
      low = PetscMin(low, mesh->vertices[mesh_element(mesh, element)[n]].at[d]);
      high = PetscMax(high, mesh->vertices[mesh_element(mesh, element)[n]].at[d]);
    }
    from[d] = bin_along(locator, low, d);
    to[d] = bin_along(locator, high, d);
  }
}

typedef enum { BINS_COUNT, BINS_FILL } BinPass;

/* Counts into first[bin + 2], or fills from first[bin + 1] on. */
static void pass_over_elements(MeshLocator locator, BinPass pass)
{
  for (PetscInt n = 0; n < locator->mesh->element_count; n++) {
    PetscInt from[DIM], to[DIM], at[DIM];

    element_bins(locator, n, from, to);
    for (at[Z] = from[Z]; at[Z] <= to[Z]; at[Z]++)
      for (at[Y] = from[Y]; at[Y] <= to[Y]; at[Y]++)
        for (at[X] = from[X]; at[X] <= to[X]; at[X]++) {
          const PetscInt bin = bin_number(locator, at);

          if (pass == BINS_COUNT)
            locator->first[bin + 2]++;
          else
            locator->elements[locator->first[bin + 1]++] = n;
        }
  }
}

PetscErrorCode MeshLocatorCreate(Mesh mesh, MeshLocator *locator)
{
  PetscInt count;

  PetscFunctionBegin;
  PetscCheck(mesh->element_count > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "The mesh has no element");
  PetscCall(PetscNew(locator));
  (*locator)->mesh = mesh;
  choose_bins(*locator);
  count = (*locator)->bins[X] * (*locator)->bins[Y] * (*locator)->bins[Z];
  PetscCall(PetscCalloc1(count + 2, &(*locator)->first));
  pass_over_elements(*locator, BINS_COUNT);
  for (PetscInt n = 0; n < count; n++)
    (*locator)->first[n + 2] += (*locator)->first[n + 1];
  PetscCall(PetscMalloc1((*locator)->first[count + 1], &(*locator)->elements));
  pass_over_elements(*locator, BINS_FILL);
  PetscFunctionReturn(0);
}

PetscErrorCode MeshLocatorDestroy(MeshLocator *locator)
{
  PetscFunctionBegin;
  if (!*locator)
    PetscFunctionReturn(0);
  PetscCall(PetscFree((*locator)->first));
  PetscCall(PetscFree((*locator)->elements));
  PetscCall(PetscFree(*locator));
  PetscFunctionReturn(0);
}

/* Weights of the nearest point of a segment. */
static void weigh_segment(const Vector3 corner[2], Vector3 point, PetscReal weights[2])
{
  const Vector3   along = vector3_subtract(corner[1], corner[0]);
  const PetscReal square = vector3_dot(along, along);
  const PetscReal t = square > 0 ? vector3_dot(along, vector3_subtract(point, corner[0])) / square : 0;

  weights[1] = PetscMax(0, PetscMin(1, t));
  weights[0] = 1 - weights[1];
}

static Vector3 weighted(PetscInt count, const Vector3 corner[], const PetscReal weights[])
{
  Vector3 sum = vector3(0, 0, 0);

  for (PetscInt n = 0; n < count; n++)
    sum = vector3_add(sum, vector3_scale(weights[n], corner[n]));
  return sum;
}

static PetscReal distance_of(PetscInt count, const Vector3 corner[], const PetscReal weights[], Vector3 point)
{
  return vector3_norm(vector3_subtract(weighted(count, corner, weights), point));
}

/* The foot on the plane of a triangle by areas; if that is outside, the nearest point of an edge. */
static void weigh_triangle(const Vector3 corner[3], Vector3 point, PetscReal weights[3])
{
  const Vector3   u = vector3_subtract(corner[1], corner[0]), v = vector3_subtract(corner[2], corner[0]);
  const Vector3   w = vector3_subtract(point, corner[0]), normal = vector3_cross(u, v);
  const PetscReal square = vector3_dot(normal, normal);
  PetscReal       best = PETSC_INFINITY;

  weights[1] = vector3_dot(vector3_cross(w, v), normal) / square;
  weights[2] = vector3_dot(vector3_cross(u, w), normal) / square;
  weights[0] = 1 - weights[1] - weights[2];
  if (weights[0] >= 0 && weights[1] >= 0 && weights[2] >= 0)
    return;
  for (int n = 0; n < 3; n++) {
    const Vector3 ends[2] = {corner[n], corner[(n + 1) % 3]};
    PetscReal     along[2], distance;

    weigh_segment(ends, point, along);
    distance = distance_of(2, ends, along, point);
    if (distance >= best)
      continue;
    best = distance;
    weights[n] = along[0];
    weights[(n + 1) % 3] = along[1];
    weights[(n + 2) % 3] = 0;
  }
}

/* Weights of the point itself, negative outside; returns the distance. */
static PetscReal weigh_tetrahedron(const Vector3 corner[4], Vector3 point, PetscReal weights[4])
{
  const Vector3   u = vector3_subtract(corner[1], corner[0]), v = vector3_subtract(corner[2], corner[0]);
  const Vector3   w = vector3_subtract(corner[3], corner[0]), p = vector3_subtract(point, corner[0]);
  const PetscReal whole = vector3_dot(u, vector3_cross(v, w));
  PetscReal       best = PETSC_INFINITY;

  weights[1] = vector3_dot(p, vector3_cross(v, w)) / whole;
  weights[2] = vector3_dot(p, vector3_cross(w, u)) / whole;
  weights[3] = vector3_dot(p, vector3_cross(u, v)) / whole;
  weights[0] = 1 - weights[1] - weights[2] - weights[3];
  if (weights[0] >= 0 && weights[1] >= 0 && weights[2] >= 0 && weights[3] >= 0)
    return 0;
  for (PetscInt n = 0; n < 4; n++) {
    const PetscInt *side = mesh_side(MESH_TETRAHEDRA, n);
    const Vector3   face[3] = {corner[side[0]], corner[side[1]], corner[side[2]]};
    PetscReal       on_face[3];

    weigh_triangle(face, point, on_face);
    best = PetscMin(best, distance_of(3, face, on_face, point));
  }
  return best;
}

static MeshPlace place_in_element(Mesh mesh, PetscInt element, Vector3 point)
{
  const PetscInt count = mesh_corners(mesh->kind);
  MeshPlace      place = {.element = element, .weights = {1}};
  Vector3        corner[MESH_MAX_CORNERS];

  for (PetscInt n = 0; n < count; n++)
    corner[n] = mesh->vertices[mesh_element(mesh, element)[n]];
  if (mesh->kind == MESH_TETRAHEDRA) {
    place.distance = weigh_tetrahedron(corner, point, place.weights);
    return place;
  }
  if (mesh->kind == MESH_TRIANGLES)
    weigh_triangle(corner, point, place.weights);
  else if (mesh->kind == MESH_SEGMENTS)
    weigh_segment(corner, point, place.weights);
  place.distance = distance_of(count, corner, place.weights, point);
  return place;
}

static void search_bin(MeshLocator locator, const PetscInt at[DIM], Vector3 point, MeshPlace *best)
{
  const PetscInt bin = bin_number(locator, at);

  for (PetscInt n = locator->first[bin]; n < locator->first[bin + 1]; n++) {
    const MeshPlace place = place_in_element(locator->mesh, locator->elements[n], point);

    if (place.distance < best->distance ||
        (place.distance == best->distance && place.element < best->element))
      *best = place;
  }
}

/* The bins that are `ring` away from the middle one in the largest direction. */
static PetscBool search_ring(MeshLocator locator, const PetscInt middle[DIM], PetscInt ring, Vector3 point,
                             MeshPlace *best)
{
  PetscInt  from[DIM], to[DIM], at[DIM];
  PetscBool any = PETSC_FALSE;

  for (int d = 0; d < DIM; d++) {
    from[d] = PetscMax(0, middle[d] - ring);
    to[d] = PetscMin(locator->bins[d] - 1, middle[d] + ring);
  }
  for (at[Z] = from[Z]; at[Z] <= to[Z]; at[Z]++)
    for (at[Y] = from[Y]; at[Y] <= to[Y]; at[Y]++)
      for (at[X] = from[X]; at[X] <= to[X]; at[X]++) {
        PetscInt away = 0;

        for (int d = 0; d < DIM; d++)
          away = PetscMax(away, PetscAbsInt(at[d] - middle[d]));
        if (away < ring) {
          const PetscInt inner = PetscMin(to[X], middle[X] + ring - 1); /* the ring is hollow */

          at[X] = PetscMax(at[X], inner);
          continue;
        }
        any = PETSC_TRUE;
        search_bin(locator, at, point, best);
      }
  return any;
}

MeshPlace mesh_locate(MeshLocator locator, Vector3 point)
{
  MeshPlace best = {.element = PETSC_MAX_INT, .distance = PETSC_INFINITY};
  PetscInt  middle[DIM];

  for (int d = 0; d < DIM; d++)
    middle[d] = bin_along(locator, point.at[d], d);
  for (PetscInt ring = 0;; ring++) {
    const PetscBool any = search_ring(locator, middle, ring, point, &best);

    if (best.distance <= (PetscReal)ring * locator->size || !any)
      return best;
  }
}

PetscErrorCode MeshFindPlaces(Mesh mesh, PetscInt count, const Vector3 points[], MeshPlace places[])
{
  MeshLocator locator;

  PetscFunctionBegin;
  PetscCall(MeshLocatorCreate(mesh, &locator));
  for (PetscInt n = 0; n < count; n++)
    places[n] = mesh_locate(locator, points[n]);
  PetscCall(MeshLocatorDestroy(&locator));
  PetscFunctionReturn(0);
}
