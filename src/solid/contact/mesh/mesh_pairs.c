/* The pairs of features that may meet: points against triangles, edges against edges.

   Each corner and each edge belongs to the first of its faces, and is compared with what belongs to the
   other of two faces whose boxes overlap: every pair is found once. Boxes are around the ways of a step, with
   a thickness around each: as long as all ways stay within three
   tenths of a thickness of those, the pairs are those found before. Which pairs are looked at beside those
   that touch depends on that history; they add nothing, and what touches is in the order of keys. */
#include "../../deformable/distribution.h"
#include "mesh_contact.h"

#include <stdlib.h>

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

/* Features with a point in common, and those of one mesh that touch at rest (a vertex that hangs on an edge),
   belong together. */
static PetscErrorCode AddPair(Solid solid, MeshPair pair, const PetscInt meshes[2])
{
  Points         *points = solid->points;
  MeshSurface     surface = points->surface;
  const PetscReal a = thickness_of(points, meshes[0]), b = thickness_of(points, meshes[1]);
  Vector3         rest[4];
  PetscReal       weights[4], distance;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 4; n++)
    for (PetscInt m = 0; m < n; m++)
      if (pair.points[n] == pair.points[m])
        PetscFunctionReturn(0);
  pair.thickness = 0.5 * (a + b);
  if (!ways_are_near(&pair, surface->from, surface->to, 2. * pair.thickness))
    PetscFunctionReturn(0);
  gather(pair.points, points->rest, rest);
  distance = features_distance(pair.kind, rest, weights);
  if (meshes[0] == meshes[1] && distance <= 1e-9 * points->meshes[meshes[0]].edge)
    PetscFunctionReturn(0);
  pair.is_close_at_rest = distance < pair.thickness ? PETSC_TRUE : PETSC_FALSE;
  pair.friction =
      PetscSqrtReal(points->meshes[meshes[0]].config->friction * points->meshes[meshes[1]].config->friction);
  pair.clear_until = -1.;
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

/* All ways are so near those that the pairs were found for that no pair nearer than 1.4 thicknesses lacks. */
static PetscBool pairs_cover(Solid solid, const Vector3 from[], const Vector3 to[])
{
  const MeshSurface surface = solid->points->surface;

  for (PetscInt k = 0; k < surface->point_count && surface->is_found; k++) {
    const PetscInt  p = surface->points[k];
    const PetscReal margin = 0.3 * thickness_of(solid->points, surface->point_mesh[p]);

    if (distance_to_way(surface->from[p], surface->to[p], from[p]) > margin ||
        distance_to_way(surface->from[p], surface->to[p], to[p]) > margin)
      return PETSC_FALSE;
  }
  return surface->is_found;
}

PetscErrorCode MeshPairsFind(Solid solid, const Vector3 from[], const Vector3 to[])
{
  MeshSurface surface = solid->points->surface;
  PetscInt    count, (*found)[2];

  PetscFunctionBegin;
  if (pairs_cover(solid, from, to))
    PetscFunctionReturn(0);
  PetscCall(PetscArraycpy(surface->from, from, solid->points->count));
  PetscCall(PetscArraycpy(surface->to, to, solid->points->count));
  PetscCall(MovingTreePlace(surface->tree, from, to, surface->margins));
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
