/* Nearest points of hulls, for what is apart or round. */
#include "hull_impl.h"

static PetscReal clamp_part(PetscReal part)
{
  return PetscMax(0, PetscMin(1, part));
}

void nearest_on_segments(const Vector3 first[2], const Vector3 second[2], PetscReal parts[2])
{
  const Vector3   u = vector3_subtract(first[1], first[0]), v = vector3_subtract(second[1], second[0]);
  const Vector3   w = vector3_subtract(first[0], second[0]);
  const PetscReal uu = vector3_dot(u, u), vv = vector3_dot(v, v), uv = vector3_dot(u, v);
  const PetscReal uw = vector3_dot(u, w), vw = vector3_dot(v, w);
  const PetscReal determinant = uu * vv - uv * uv;

  /* parallel: the middle of what overlaps is as near as any, and does not jump */
  if (determinant <= 1e-12 * uu * vv) {
    const PetscReal low = uu > 0 ? -uw / uu : 0, high = uu > 0 ? low + uv / uu : 0;

    parts[0] = 0.5 * (clamp_part(low) + clamp_part(high));
  } else {
    parts[0] = clamp_part((uv * vw - vv * uw) / determinant);
  }
  parts[1] = vv > 0 ? clamp_part((vw + parts[0] * uv) / vv) : 0;
  parts[0] = uu > 0 ? clamp_part((parts[1] * uv - uw) / uu) : 0;
}

static PetscBool is_above_face(Hull hull, const HullFace *face, const Vector3 corners[], Vector3 normal,
                               Vector3 point)
{
  const PetscInt *ring = hull->rings + face->first;

  for (PetscInt k = 0; k < face->count; k++) {
    const Vector3 from = corners[ring[k]], to = corners[ring[k + 1 < face->count ? k + 1 : 0]];

    if (vector3_dot(vector3_cross(vector3_subtract(to, from), normal), vector3_subtract(point, from)) > 0)
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Among the edges; `from_edge` goes to the point. */
static PetscReal distance_to_edges(Hull hull, Vector3 point, const PetscReal heights[], Vector3 *from_edge)
{
  PetscReal nearest = PETSC_INFINITY;

  for (PetscInt e = 0; e < hull->edge_count; e++) {
    const HullEdge *edge = &hull->edges[e];
    const Vector3   start = hull->corners[edge->corners[0]];
    const Vector3   along = vector3_subtract(hull->corners[edge->corners[1]], start);
    Vector3         away = vector3_subtract(point, start);
    PetscReal       square;

    if (heights[edge->faces[0]] <= 0 && heights[edge->faces[1]] <= 0)
      continue;
    away = vector3_subtract(
        away, vector3_scale(clamp_part(vector3_dot(away, along) / vector3_dot(along, along)), along));
    square = vector3_dot(away, away);
    if (square < nearest) {
      nearest = square;
      *from_edge = away;
    }
  }
  return PetscSqrtReal(nearest);
}

PetscReal hull_distance(Hull hull, Vector3 point, Vector3 *gradient)
{
  PetscReal heights[HULL_FACES], distance;
  PetscInt  highest = 0;
  Vector3   away = {{0}};

  for (PetscInt f = 0; f < hull->face_count; f++) {
    heights[f] = vector3_dot(hull->faces[f].normal, point) - hull->faces[f].offset;
    if (heights[f] > heights[highest])
      highest = f;
  }
  *gradient = hull->faces[highest].normal;
  if (heights[highest] <= 0)
    return heights[highest];
  distance = distance_to_edges(hull, point, heights, &away);
  if (distance > 1e-9 * hull->extent) /* else the arm is mostly round-off */
    *gradient = vector3_scale(1 / distance, away);
  for (PetscInt f = 0; f < hull->face_count; f++) {
    if (heights[f] > 0 && heights[f] <= distance &&
        is_above_face(hull, &hull->faces[f], hull->corners, hull->faces[f].normal, point)) {
      distance = heights[f];
      *gradient = hull->faces[f].normal;
    }
  }
  return distance;
}

typedef struct {
  PetscReal square;
  Vector3   first, second;
  uint32_t  feature;
} NearestPair;

static void take_nearer(NearestPair *pair, Vector3 first, Vector3 second, uint32_t feature)
{
  const Vector3   difference = vector3_subtract(second, first);
  const PetscReal square = vector3_dot(difference, difference);

  if (square < pair->square)
    *pair = (NearestPair){square, first, second, feature};
}

/* Pairs of an edge each, of those that reach above `least` along the normal in `a`, below `most` in `b`. */
static void try_edges(const PlacedHull *a, const PlacedHull *b, Vector3 normal, const PetscReal slab[2],
                      NearestPair *pair)
{
  for (PetscInt i = 0; i < a->hull->edge_count; i++) {
    const PetscInt *ends = a->hull->edges[i].corners;
    const Vector3   first[2] = {a->corners[ends[0]], a->corners[ends[1]]};

    if (vector3_dot(normal, first[0]) < slab[0] && vector3_dot(normal, first[1]) < slab[0])
      continue;
    for (PetscInt j = 0; j < b->hull->edge_count; j++) {
      const PetscInt *others = b->hull->edges[j].corners;
      const Vector3   second[2] = {b->corners[others[0]], b->corners[others[1]]};
      PetscReal       parts[2];

      if (vector3_dot(normal, second[0]) > slab[1] && vector3_dot(normal, second[1]) > slab[1])
        continue;
      nearest_on_segments(first, second, parts);
      take_nearer(pair, point_between(first[0], first[1], parts[0]),
                  point_between(second[0], second[1], parts[1]), 1u << 31 | (uint32_t)i << 8 | (uint32_t)j);
    }
  }
}

/* Corners of `b` over faces of `a`; swapped: the other way round. */
static void try_corners(const PlacedHull *a, const PlacedHull *b, PetscBool swapped, NearestPair *pair)
{
  for (PetscInt c = 0; c < b->hull->corner_count; c++) {
    const Vector3 corner = b->corners[c];

    for (PetscInt f = 0; f < a->hull->face_count; f++) {
      const PetscReal height = vector3_dot(a->normals[f], corner) - a->offsets[f];
      const Vector3   foot = vector3_subtract(corner, vector3_scale(height, a->normals[f]));
      const uint32_t  feature = 1u << 28 | (swapped ? 1u << 27 : 0) | (uint32_t)f << 8 | (uint32_t)c;

      if (height <= 0 || height * height >= pair->square ||
          !is_above_face(a->hull, &a->hull->faces[f], a->corners, a->normals[f], corner))
        continue;
      take_nearer(pair, swapped ? corner : foot, swapped ? foot : corner, feature);
    }
  }
}

/* With a point p of a and q of b nearer than `reach`: n.p >= n.q - reach >= min over b - reach. */
PetscInt touch_nearest(const PlacedHull *a, const PlacedHull *b, Vector3 normal, PetscReal separation,
                       PetscReal reach, Touch *touch)
{
  PetscReal   top = -PETSC_INFINITY, distance;
  NearestPair pair = {.square = PETSC_INFINITY};

  for (PetscInt c = 0; c < a->hull->corner_count; c++)
    top = PetscMax(top, vector3_dot(normal, a->corners[c]));
  try_edges(a, b, normal, (const PetscReal[2]){top + separation - reach, top + reach}, &pair);
  try_corners(a, b, PETSC_FALSE, &pair);
  try_corners(b, a, PETSC_TRUE, &pair);
  distance = PetscSqrtReal(pair.square);
  if (distance > reach || distance <= 0)
    return 0;
  *touch = (Touch){.point = point_between(pair.first, pair.second, 0.5),
                   .normal = vector3_scale(1 / distance, vector3_subtract(pair.second, pair.first)),
                   .gap = distance,
                   .feature = pair.feature};
  return 1;
}
