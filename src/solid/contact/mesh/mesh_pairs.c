/* The pairs of features that may meet: points against triangles, edges against edges.

   Each corner and each edge belongs to the first of its faces, and is compared with what belongs to the
   other of two faces whose boxes overlap: every pair is found once. All is seen from the middle of the
   points, since pairs that move as one stay as they are. Found are pairs that may come within a thickness as
   long as all points stay near the ways of a step (`stray`). Of these, few are near: a pair that was d apart
   does not come within h before both have gone (d - h)/2, which is told in the longest way of any point
   (`path`), and only those that may come so near soon are looked at. What is looked at depends on that
   history; what acts does not, and is in the order of keys. */
#include "../../deformable/distribution.h"
#include "mesh_contact.h"

#include <stdlib.h>

static const PetscReal window =
    0.1; /* of the least thickness: near pairs are listed for so long a path at least */
static const PetscReal meeting_part =
    0.125;                            /* of a thickness: farther apart, continuous collision stops none */
static const PetscReal slack = 1.001; /* of thicknesses and ways, for round-off */

static int compare_pairs(const void *a, const void *b)
{
  const uint64_t x = ((const MeshPair *)a)->key, y = ((const MeshPair *)b)->key;

  return x < y ? -1 : x > y ? 1 : 0;
}

static PetscReal thickness_of(const Points *points, PetscInt mesh)
{
  return points->meshes[mesh].config->contact_thickness;
}

static void gather(const PetscInt points[4], const Vector3 from[], Vector3 into[4])
{
  for (PetscInt n = 0; n < 4; n++)
    into[n] = from[points[n]];
}

/* Boxes around the ways of both features, as far apart as the pair counts. */
static PetscBool ways_are_near(const MeshPair *pair, const Vector3 from[], const Vector3 to[],
                               PetscReal reach)
{
  const PetscInt first = pair->kind == FEATURES_POINT_TRIANGLE ? 1 : 2;

  for (PetscInt d = 0; d < DIM; d++) {
    PetscReal low[2] = {PETSC_MAX_REAL, PETSC_MAX_REAL}, high[2] = {-PETSC_MAX_REAL, -PETSC_MAX_REAL};

    for (PetscInt n = 0; n < 4; n++) {
      const PetscReal a = from[pair->points[n]].at[d], b = to[pair->points[n]].at[d];
      const PetscInt  side = n >= first;

      low[side] = PetscMin(low[side], PetscMin(a, b));
      high[side] = PetscMax(high[side], PetscMax(a, b));
    }
    if (low[0] > high[1] + reach || low[1] > high[0] + reach)
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Of a place on either feature, at most. */
static PetscReal longest_ways(const MeshPair *pair, const Vector3 from[], const Vector3 to[])
{
  const PetscInt first = pair->kind == FEATURES_POINT_TRIANGLE ? 1 : 2;
  PetscReal      most[2] = {0., 0.};

  for (PetscInt n = 0; n < 4; n++) {
    const Vector3 way = vector3_subtract(to[pair->points[n]], from[pair->points[n]]);

    most[n >= first] = PetscMax(most[n >= first], vector3_dot(way, way));
  }
  return PetscSqrtReal(most[0]) + PetscSqrtReal(most[1]);
}

/* The distance within which features act on each other. */
static PetscReal acting_distance(const MeshPair *pair)
{
  return slack * (pair->is_close_at_rest ? meeting_part : 1.) * pair->thickness;
}

static PetscReal distance_of(const MeshPair *pair, const Vector3 at[], PetscReal weights[4])
{
  Vector3 places[4];

  gather(pair->points, at, places);
  return features_distance(pair->kind, places, weights);
}

PetscReal mesh_pair_measure(MeshSurface surface, MeshPair *pair, PetscReal weights[4])
{
  const PetscReal distance = distance_of(pair, surface->seen, weights);

  pair->clear_until = surface->path + 0.5 * (distance - acting_distance(pair));
  surface->visits[pair->points[0]]++;
  return distance;
}

PetscBool mesh_pair_is_clear(const struct _p_MeshSurface *surface, const MeshPair *pair, PetscReal moved)
{
  return surface->path + slack * moved <= pair->clear_until ? PETSC_TRUE : PETSC_FALSE;
}

PetscBool mesh_pair_stays_apart(const struct _p_MeshSurface *surface, const MeshPair *pair, PetscReal moved)
{
  const PetscReal more = 0.5 * (acting_distance(pair) - slack * meeting_part * pair->thickness);

  return surface->path + slack * moved <= pair->clear_until + more ? PETSC_TRUE : PETSC_FALSE;
}

/* Features with a point in common, and those of one mesh that touch at rest (a vertex that hangs on an edge),
   belong together. */
static PetscErrorCode AddPair(Solid solid, MeshPair pair, const PetscInt meshes[2])
{
  Points         *points = solid->points;
  MeshSurface     surface = points->surface;
  const PetscReal a = thickness_of(points, meshes[0]), b = thickness_of(points, meshes[1]);
  PetscReal       weights[4], distance, ways, strays;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 4; n++)
    for (PetscInt m = 0; m < n; m++)
      if (pair.points[n] == pair.points[m])
        PetscFunctionReturn(0);
  pair.thickness = 0.5 * (a + b);
  strays = surface->stray[meshes[0]] + surface->stray[meshes[1]];
  if (!ways_are_near(&pair, surface->from, surface->to, slack * (pair.thickness + strays)))
    PetscFunctionReturn(0);
  distance = mesh_pair_measure(surface, &pair, weights);
  ways = slack * (longest_ways(&pair, surface->from, surface->to) + strays);
  if (distance - ways > acting_distance(&pair))
    PetscFunctionReturn(0);
  pair.is_close_at_rest =
      distance_of(&pair, points->rest, weights) < pair.thickness ? PETSC_TRUE : PETSC_FALSE;
  if (pair.is_close_at_rest) {
    if (distance - ways > acting_distance(&pair) ||
        (meshes[0] == meshes[1] &&
         distance_of(&pair, points->rest, weights) <= 1e-9 * points->meshes[meshes[0]].edge))
      PetscFunctionReturn(0);
    pair.clear_until = surface->path + 0.5 * (distance - acting_distance(&pair));
  }
  pair.friction =
      PetscSqrtReal(points->meshes[meshes[0]].config->friction * points->meshes[meshes[1]].config->friction);
  PetscCall(AppendItem(&surface->pair_count, &surface->pair_room, &surface->pairs, pair));
  PetscFunctionReturn(0);
}

static uint64_t pair_key(FeatureKind kind, PetscInt first, PetscInt second)
{
  return ((uint64_t)kind << 62) | ((uint64_t)first << 31) | (uint64_t)second;
}

/* Corners that belong to face a against face b. */
static PetscErrorCode AddCorners(Solid solid, PetscInt a, PetscInt b)
{
  const MeshSurface surface = solid->points->surface;
  const PetscInt    meshes[2] = {surface->face_mesh[a], surface->face_mesh[b]}, *corners = surface->faces[b];

  PetscFunctionBegin;
  for (PetscInt c = 0; c < 3; c++) {
    const PetscInt point = surface->faces[a][c];

    if (surface->owned[a][0] & (1 << c))
      PetscCall(AddPair(solid,
                        (MeshPair){.key = pair_key(FEATURES_POINT_TRIANGLE, point, b),
                                   .kind = FEATURES_POINT_TRIANGLE,
                                   .points = {point, corners[0], corners[1], corners[2]}},
                        meshes));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode AddEdges(Solid solid, PetscInt a, PetscInt b)
{
  const MeshSurface surface = solid->points->surface;
  const PetscInt    meshes[2] = {surface->face_mesh[a], surface->face_mesh[b]};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < 9; k++) {
    const PetscInt i = surface->face_edges[a][k / 3], j = surface->face_edges[b][k % 3];
    const PetscInt first = PetscMin(i, j), second = PetscMax(i, j);

    if ((surface->owned[a][1] & (1 << k / 3)) && (surface->owned[b][1] & (1 << k % 3)))
      PetscCall(AddPair(solid,
                        (MeshPair){.key = pair_key(FEATURES_EDGE_EDGE, first, second),
                                   .kind = FEATURES_EDGE_EDGE,
                                   .points = {surface->edges[first][0], surface->edges[first][1],
                                              surface->edges[second][0], surface->edges[second][1]}},
                        meshes));
  }
  PetscFunctionReturn(0);
}

static PetscReal distance_to_way(Vector3 from, Vector3 to, Vector3 point)
{
  const Vector3   way = vector3_subtract(to, from), arm = vector3_subtract(point, from);
  const PetscReal square = vector3_dot(way, way);
  const PetscReal part = square > 0. ? PetscMin(1., PetscMax(0., vector3_dot(arm, way) / square)) : 0.;

  return vector3_norm(vector3_subtract(arm, vector3_scale(part, way)));
}

/* Of two moments: places of points, and the middle of those of the surfaces. */
typedef struct {
  const Vector3 *at[2];
  Vector3        middle[2];
} Ways;

static Vector3 middle_of(const MeshSurface surface, const Vector3 at[])
{
  Vector3 sum = vector3(0, 0, 0);

  for (PetscInt k = 0; k < surface->point_count; k++)
    sum = vector3_add(sum, at[surface->points[k]]);
  return vector3_scale(1. / (PetscReal)surface->point_count, sum);
}

static Vector3 seen_from_middle(const Ways *ways, PetscInt moment, PetscInt p)
{
  return vector3_subtract(ways->at[moment][p], ways->middle[moment]);
}

static PetscReal longest_of(const MeshSurface surface, const Ways *ways)
{
  PetscReal most = 0.;

  for (PetscInt k = 0; k < surface->point_count; k++) {
    const PetscInt p = surface->points[k];
    const Vector3  way = vector3_subtract(seen_from_middle(ways, 1, p), seen_from_middle(ways, 0, p));

    most = PetscMax(most, vector3_dot(way, way));
  }
  return PetscSqrtReal(most);
}

/* All ways are so near those that the pairs were found for that no pair lacks that may act. */
static PetscBool pairs_cover(const MeshSurface surface, const Ways *ways, PetscReal moved)
{
  if (surface->path + slack * moved - surface->found_path <= surface->least_stray)
    return surface->is_found;
  for (PetscInt k = 0; k < surface->point_count && surface->is_found; k++) {
    const PetscInt  p = surface->points[k];
    const PetscReal stray = surface->stray[surface->point_mesh[p]];

    for (PetscInt moment = 0; moment < 2; moment++)
      if (distance_to_way(surface->from[p], surface->to[p], seen_from_middle(ways, moment, p)) > stray)
        return PETSC_FALSE;
  }
  return surface->is_found;
}

static PetscErrorCode SearchPairs(Solid solid, const Ways *ways)
{
  MeshSurface surface = solid->points->surface;
  PetscInt    count, (*found)[2];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < surface->point_count; k++) {
    const PetscInt p = surface->points[k];

    surface->from[p] = seen_from_middle(ways, 0, p);
    surface->to[p] = seen_from_middle(ways, 1, p);
  }
  PetscCall(MovingTreePlace(surface->tree, surface->from, surface->to, surface->margins));
  PetscCall(MovingTreeFindPairs(surface->tree, &count, &found));
  surface->pair_count = 0;
  for (PetscInt n = 0; n < count; n++) {
    const PetscInt a = found[n][0], b = found[n][1], mesh = surface->face_mesh[a];

    if (mesh == surface->face_mesh[b] && solid->points->meshes[mesh].config->self_contact == PETSC_FALSE)
      continue;
    PetscCall(AddCorners(solid, a, b));
    PetscCall(AddCorners(solid, b, a));
    PetscCall(AddEdges(solid, a, b));
  }
  PetscCall(PetscFree(found));
  qsort(surface->pairs, (size_t)surface->pair_count, sizeof(*surface->pairs), compare_pairs);
  surface->is_found = PETSC_TRUE;
  surface->found_path = surface->path;
  PetscFunctionReturn(0);
}

static PetscErrorCode ListNear(MeshSurface surface, PetscReal moved)
{
  PetscFunctionBegin;
  surface->near_until =
      surface->path + slack * moved + PetscMax(window * surface->least_thickness, 4. * moved);
  surface->near_count = 0;
  for (PetscInt n = 0; n < surface->pair_count; n++)
    if (surface->pairs[n].clear_until < surface->near_until)
      PetscCall(AppendItem(&surface->near_count, &surface->near_room, &surface->near, n));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshPairsFind(Solid solid, const Vector3 from[], const Vector3 to[], PetscReal *moved)
{
  MeshSurface surface = solid->points->surface;
  const Ways  ways = {{from, to}, {middle_of(surface, from), middle_of(surface, to)}};
  const Ways  before = {{surface->seen, from}, {surface->seen_middle, ways.middle[0]}};
  PetscBool   is_covered;

  PetscFunctionBegin;
  surface->path += slack * longest_of(surface, &before);
  for (PetscInt k = 0; k < surface->point_count; k++)
    surface->seen[surface->points[k]] = from[surface->points[k]];
  surface->seen_middle = ways.middle[0];
  *moved = longest_of(surface, &ways);
  is_covered = pairs_cover(surface, &ways, *moved);
  if (!is_covered)
    PetscCall(SearchPairs(solid, &ways));
  if (!is_covered || surface->path + slack * *moved > surface->near_until)
    PetscCall(ListNear(surface, *moved));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshSurfaceCountCrossings(Solid solid, const Vector3 at[], PetscInt *count)
{
  const Points     *points = solid->points;
  const MeshSurface surface = points->surface;
  PetscReal        *margins;
  PetscInt          pairs, (*found)[2];

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(surface->face_count, &margins));
  PetscCall(MovingTreePlace(surface->judge, at, at, margins));
  PetscCall(MovingTreeFindPairs(surface->judge, &pairs, &found));
  *count = 0;
  for (PetscInt n = 0; n < pairs; n++) {
    const PetscInt *a = surface->faces[found[n][0]], *b = surface->faces[found[n][1]];
    const PetscInt  mesh = surface->face_mesh[found[n][0]], other = surface->face_mesh[found[n][1]];

    if (mesh == other && points->meshes[mesh].config->self_contact == PETSC_FALSE)
      continue;
    if (triangles_meet(at, a, b) && !(mesh == other && triangles_meet(points->rest, a, b)))
      (*count)++;
  }
  if (surface->is_mine)
    PetscCall(PointsCount(solid, count));
  PetscCall(PetscFree(found));
  PetscCall(PetscFree(margins));
  PetscFunctionReturn(0);
}
