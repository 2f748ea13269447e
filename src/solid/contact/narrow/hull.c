/* Convex polyhedra from triangle surfaces.

   Faces grow from the largest triangle left over all neighbours that lie in its plane. A vertex between two
   faces only is inside an edge or a face and no corner, so a finely triangulated box becomes a box. */
#include <stdlib.h>
#include "hull.h"

/* Files of single precision keep about seven digits. */
#define FLATNESS 1e-6

typedef struct {
  PetscInt low, high; /* vertices */
  PetscInt side;      /* 3 triangle + k: from corner k to corner k + 1 */
} TriangleSide;

/* What is known of a surface while its faces are found. */
typedef struct {
  PetscInt       vertex_count, triangle_count;
  const Vector3 *vertices;
  const PetscInt (*triangles)[3];
  PetscReal tolerance;
  PetscInt *twins; /* of each side, the same edge seen from the other triangle */
  PetscInt *faces; /* of each triangle */
  PetscInt  face_count;
  PetscInt *corner_names; /* of each vertex, its number as a corner; -1: none */
} HullSurface;

/* Its length is twice the area. */
static Vector3 triangle_normal(const Vector3 vertices[], const PetscInt corners[3])
{
  return vector3_cross(vector3_subtract(vertices[corners[1]], vertices[corners[0]]),
                       vector3_subtract(vertices[corners[2]], vertices[corners[0]]));
}

PetscBool surface_is_convex(Surface surface)
{
  const PetscReal tolerance = FLATNESS * surface_extent(surface);
  PetscInt        vertex_count, triangle_count;
  const Vector3  *vertices;
  const PetscInt(*triangles)[3];

  PetscCallAbort(PETSC_COMM_SELF, SurfaceGet(surface, &vertex_count, &vertices, &triangle_count, &triangles));
  for (PetscInt t = 0; t < triangle_count; t++) {
    const Vector3   normal = triangle_normal(vertices, triangles[t]);
    const PetscReal area = vector3_norm(normal);
    const PetscReal highest = vector3_dot(normal, vertices[triangles[t][0]]) + tolerance * area;

    /* a sliver has no plane worth asking */
    if (area <= tolerance * tolerance)
      continue;
    for (PetscInt v = 0; v < vertex_count; v++) {
      if (vector3_dot(normal, vertices[v]) > highest)
        return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

static int compare_sides(const void *first, const void *second)
{
  const TriangleSide *a = first, *b = second;

  if (a->low != b->low)
    return a->low < b->low ? -1 : 1;
  if (a->high != b->high)
    return a->high < b->high ? -1 : 1;
  return (a->side > b->side) - (a->side < b->side);
}

static inline PetscInt side_start(const HullSurface *shell, PetscInt side)
{
  return shell->triangles[side / 3][side % 3];
}

static inline PetscInt side_end(const HullSurface *shell, PetscInt side)
{
  return shell->triangles[side / 3][(side % 3 + 1) % 3];
}

/* False unless every edge joins exactly two triangles that pass it in opposite directions. */
static PetscErrorCode FindTwins(HullSurface *shell, PetscBool *closed)
{
  const PetscInt count = 3 * shell->triangle_count;
  TriangleSide  *sides;

  PetscFunctionBegin;
  *closed = PETSC_FALSE;
  if (count % 2 != 0)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(count, &sides));
  for (PetscInt s = 0; s < count; s++) {
    const PetscInt start = side_start(shell, s), end = side_end(shell, s);

    sides[s] = (TriangleSide){PetscMin(start, end), PetscMax(start, end), s};
  }
  qsort(sides, (size_t)count, sizeof(TriangleSide), compare_sides);
  *closed = PETSC_TRUE;
  for (PetscInt s = 0; s < count && *closed; s += 2) {
    const TriangleSide *one = &sides[s], *other = &sides[s + 1];

    if (one->low != other->low || one->high != other->high || one->low == one->high ||
        side_start(shell, one->side) != side_end(shell, other->side) ||
        (s + 2 < count && sides[s + 2].low == one->low && sides[s + 2].high == one->high))
      *closed = PETSC_FALSE;
    shell->twins[one->side] = other->side;
    shell->twins[other->side] = one->side;
  }
  PetscCall(PetscFree(sides));
  PetscFunctionReturn(0);
}

static PetscBool triangle_is_in_plane(const HullSurface *shell, PetscInt triangle, Vector3 normal,
                                      PetscReal offset)
{
  for (int k = 0; k < 3; k++) {
    const Vector3 corner = shell->vertices[shell->triangles[triangle][k]];

    if (PetscAbsReal(vector3_dot(normal, corner) - offset) > shell->tolerance)
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Gives `face` to `seed` and to all that is joined to it in its plane; `stack` has room for all triangles. */
static void grow_face(HullSurface *shell, PetscInt seed, PetscInt face, PetscInt stack[])
{
  Vector3   normal = triangle_normal(shell->vertices, shell->triangles[seed]);
  PetscReal offset;
  PetscInt  height = 0;

  normal = vector3_scale(1 / vector3_norm(normal), normal);
  offset = vector3_dot(normal, shell->vertices[shell->triangles[seed][0]]);
  shell->faces[seed] = face;
  stack[height++] = seed;
  while (height > 0) {
    const PetscInt triangle = stack[--height];

    for (int k = 0; k < 3; k++) {
      const PetscInt neighbour = shell->twins[3 * triangle + k] / 3;

      if (shell->faces[neighbour] < 0 && triangle_is_in_plane(shell, neighbour, normal, offset)) {
        shell->faces[neighbour] = face;
        stack[height++] = neighbour;
      }
    }
  }
}

static PetscInt largest_free_triangle(const HullSurface *shell, PetscReal *area)
{
  PetscInt largest = -1;

  *area = -1;
  for (PetscInt t = 0; t < shell->triangle_count; t++) {
    const PetscReal its =
        shell->faces[t] < 0 ? vector3_norm(triangle_normal(shell->vertices, shell->triangles[t])) : -1;

    if (its > *area) {
      *area = its;
      largest = t;
    }
  }
  return largest;
}

/* False if there are too many, or slivers that belong to none. */
static PetscErrorCode FindFaces(HullSurface *shell, PetscBool *found)
{
  PetscInt *stack;
  PetscReal area;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(shell->triangle_count, &stack));
  for (PetscInt t = 0; t < shell->triangle_count; t++)
    shell->faces[t] = -1;
  *found = PETSC_TRUE;
  for (;;) {
    const PetscInt seed = largest_free_triangle(shell, &area);

    if (seed < 0)
      break;
    if (shell->face_count == HULL_FACES || area <= shell->tolerance * shell->tolerance) {
      *found = PETSC_FALSE;
      break;
    }
    grow_face(shell, seed, shell->face_count++, stack);
  }
  PetscCall(PetscFree(stack));
  PetscFunctionReturn(0);
}

static inline PetscBool side_is_rim(const HullSurface *shell, PetscInt side)
{
  return shell->faces[side / 3] != shell->faces[shell->twins[side] / 3] ? PETSC_TRUE : PETSC_FALSE;
}

/* The side of the same face's rim that begins where `side` ends: turns about that vertex through the face. */
static PetscInt next_rim_side(const HullSurface *shell, PetscInt side)
{
  PetscInt next = 3 * (side / 3) + (side % 3 + 1) % 3;

  while (!side_is_rim(shell, next)) {
    const PetscInt twin = shell->twins[next];

    next = 3 * (twin / 3) + (twin % 3 + 1) % 3;
  }
  return next;
}

static PetscInt name_corner(HullSurface *shell, Hull hull, PetscInt vertex)
{
  if (shell->corner_names[vertex] < 0 && hull->corner_count < HULL_CORNERS) {
    shell->corner_names[vertex] = hull->corner_count;
    hull->corners[hull->corner_count++] = shell->vertices[vertex];
  }
  return shell->corner_names[vertex];
}

/* Walks once round the face from a side of its rim; false if the hull has no room. */
static PetscBool add_ring(HullSurface *shell, Hull hull, PetscInt start)
{
  HullFace *face = &hull->faces[shell->faces[start / 3]];
  PetscInt  side = start;

  face->first = hull->ring_count;
  do {
    const PetscInt next = next_rim_side(shell, side);

    if (shell->faces[shell->twins[side] / 3] != shell->faces[shell->twins[next] / 3]) {
      const PetscInt corner = name_corner(shell, hull, side_start(shell, next));

      if (corner < 0 || hull->ring_count == 2 * HULL_EDGES)
        return PETSC_FALSE;
      hull->rings[hull->ring_count++] = corner;
    }
    side = next;
  } while (side != start);
  face->count = hull->ring_count - face->first;
  return PETSC_TRUE;
}

static PetscBool add_rings(HullSurface *shell, Hull hull)
{
  hull->face_count = shell->face_count;
  for (PetscInt v = 0; v < shell->vertex_count; v++)
    shell->corner_names[v] = -1;
  for (PetscInt f = 0; f < hull->face_count; f++) {
    PetscInt side = 0;

    while (side < 3 * shell->triangle_count && (shell->faces[side / 3] != f || !side_is_rim(shell, side)))
      side++;
    if (side == 3 * shell->triangle_count || !add_ring(shell, hull, side) || hull->faces[f].count < 3)
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* By the area vector of the ring; the plane goes through the outermost corner. */
static void set_face_plane(Hull hull, HullFace *face)
{
  const PetscInt *ring = hull->rings + face->first;
  const Vector3   base = hull->corners[ring[0]];
  Vector3         sum = vector3(0, 0, 0);

  for (PetscInt k = 1; k + 1 < face->count; k++) {
    sum = vector3_add(sum, vector3_cross(vector3_subtract(hull->corners[ring[k]], base),
                                         vector3_subtract(hull->corners[ring[k + 1]], base)));
  }
  face->normal = vector3_scale(1 / vector3_norm(sum), sum);
  face->offset = vector3_dot(face->normal, base);
  for (PetscInt k = 1; k < face->count; k++)
    face->offset = PetscMax(face->offset, vector3_dot(face->normal, hull->corners[ring[k]]));
}

/* The face whose ring passes from `from` to `to`; -1 if there is none. */
static PetscInt face_with_edge(Hull hull, PetscInt from, PetscInt to)
{
  for (PetscInt f = 0; f < hull->face_count; f++) {
    const HullFace *face = &hull->faces[f];
    const PetscInt *ring = hull->rings + face->first;

    for (PetscInt k = 0; k < face->count; k++) {
      if (ring[k] == from && ring[(k + 1) % face->count] == to)
        return f;
    }
  }
  return -1;
}

/* False if an edge has no second face or there are too many. */
static PetscBool add_edges(Hull hull)
{
  for (PetscInt f = 0; f < hull->face_count; f++) {
    const HullFace *face = &hull->faces[f];
    const PetscInt *ring = hull->rings + face->first;

    for (PetscInt k = 0; k < face->count; k++) {
      const PetscInt from = ring[k], to = ring[(k + 1) % face->count];
      const PetscInt other = face_with_edge(hull, to, from);
      const Vector3  along = vector3_subtract(hull->corners[to], hull->corners[from]);

      if (other < 0 || (f < other && hull->edge_count == HULL_EDGES))
        return PETSC_FALSE;
      if (f < other)
        hull->edges[hull->edge_count++] =
            (HullEdge){{from, to}, {f, other}, vector3_scale(1 / vector3_norm(along), along)};
    }
  }
  return PETSC_TRUE;
}

/* Every corner below every face, and Euler's number that of a ball. */
static PetscBool hull_is_convex(Hull hull, PetscReal tolerance)
{
  for (PetscInt f = 0; f < hull->face_count; f++) {
    for (PetscInt c = 0; c < hull->corner_count; c++) {
      if (vector3_dot(hull->faces[f].normal, hull->corners[c]) > hull->faces[f].offset + tolerance)
        return PETSC_FALSE;
    }
  }
  return hull->corner_count - hull->edge_count + hull->face_count == 2 ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode BuildHull(HullSurface *shell, PetscReal extent, Hull *hull)
{
  Hull      built;
  PetscBool fits;

  PetscFunctionBegin;
  PetscCall(PetscNew(&built));
  PetscCall(PetscMalloc1(HULL_CORNERS, &built->corners));
  PetscCall(PetscCalloc1(HULL_FACES, &built->faces));
  PetscCall(PetscMalloc1(HULL_EDGES, &built->edges));
  PetscCall(PetscMalloc1(2 * HULL_EDGES, &built->rings));
  built->extent = extent;
  fits = add_rings(shell, built);
  for (PetscInt f = 0; f < built->face_count && fits; f++)
    set_face_plane(built, &built->faces[f]);
  if (!fits || !add_edges(built) || !hull_is_convex(built, 2 * shell->tolerance))
    PetscCall(HullDestroy(&built));
  *hull = built;
  PetscFunctionReturn(0);
}

PetscErrorCode HullCreate(Surface surface, Hull *hull)
{
  const PetscReal extent = surface_extent(surface);
  HullSurface     shell = {.tolerance = FLATNESS * extent};
  PetscBool       usable;

  PetscFunctionBegin;
  *hull = NULL;
  PetscCall(
      SurfaceGet(surface, &shell.vertex_count, &shell.vertices, &shell.triangle_count, &shell.triangles));
  PetscCall(PetscMalloc1(3 * shell.triangle_count, &shell.twins));
  PetscCall(PetscMalloc1(shell.triangle_count, &shell.faces));
  PetscCall(PetscMalloc1(shell.vertex_count, &shell.corner_names));
  PetscCall(FindTwins(&shell, &usable));
  if (usable)
    PetscCall(FindFaces(&shell, &usable));
  if (usable)
    PetscCall(BuildHull(&shell, extent, hull));
  PetscCall(PetscFree(shell.twins));
  PetscCall(PetscFree(shell.faces));
  PetscCall(PetscFree(shell.corner_names));
  PetscFunctionReturn(0);
}

PetscErrorCode HullDestroy(Hull *hull)
{
  PetscFunctionBegin;
  if (!*hull)
    PetscFunctionReturn(0);
  PetscCall(PetscFree((*hull)->corners));
  PetscCall(PetscFree((*hull)->faces));
  PetscCall(PetscFree((*hull)->edges));
  PetscCall(PetscFree((*hull)->rings));
  PetscCall(PetscFree(*hull));
  PetscFunctionReturn(0);
}
