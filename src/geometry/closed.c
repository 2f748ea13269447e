/* Is a mesh the boundary of a solid? Every edge must join two triangles that run through it in opposite ways.
   The pieces that hang together by edges are then turned so that their normals point out of the solid: a
   piece with negative volume is right only as a cavity, that is, inside the others. */
#include <stdlib.h>
#include "geometry_impl.h"

typedef struct {
  PetscInt low, high; /* vertices */
  PetscInt triangle;
  PetscInt forward; /* 1 if the triangle runs from low to high */
} Edge;

static int compare_edges(const void *left, const void *right)
{
  const Edge *a = left, *b = right;

  if (a->low != b->low)
    return a->low < b->low ? -1 : 1;
  if (a->high != b->high)
    return a->high < b->high ? -1 : 1;
  return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

static PetscErrorCode CreateEdges(const TriangleList *mesh, Edge **edges)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(3 * (size_t)mesh->triangle_count, edges));
  for (PetscInt n = 0; n < 3 * mesh->triangle_count; n++) {
    const PetscInt from = mesh->triangles[n / 3][n % 3], to = mesh->triangles[n / 3][(n + 1) % 3];

    (*edges)[n] = (Edge){PetscMin(from, to), PetscMax(from, to), n / 3, from < to};
  }
  qsort(*edges, 3 * (size_t)mesh->triangle_count, sizeof **edges, compare_edges);
  PetscFunctionReturn(0);
}

static const char *const fault_messages[] = {
    [SURFACE_OPEN] = "belongs to one triangle only: the surface is open there. Fill the hole",
    [SURFACE_BRANCHED] = "belongs to more than two triangles: it is not manifold there. Separate the parts",
    [SURFACE_TWISTED] = "joins two triangles of opposite orientation. Recalculate the normals"};

static SurfaceFault edge_fault(const Edge edges[], PetscInt count)
{
  if (count == 1)
    return SURFACE_OPEN;
  if (count > 2)
    return SURFACE_BRANCHED;
  return edges[0].forward == edges[1].forward ? SURFACE_TWISTED : SURFACE_SOUND;
}

/* How many triangles share the edge that comes at `first`. */
static PetscInt edge_sharers(const Edge edges[], PetscInt edge_count, PetscInt first)
{
  PetscInt count = 1;

  while (first + count < edge_count && edges[first + count].low == edges[first].low &&
         edges[first + count].high == edges[first].high) {
    count++;
  }
  return count;
}

/* Names the edge that comes first in the file; `count` triangles share it. */
static void report_edge(const TriangleList *mesh, Source *source, const Edge edges[], PetscInt count,
                        PetscInt fault_count)
{
  const Vector3 *a = &mesh->vertices[edges->low], *b = &mesh->vertices[edges->high];

  source_fail(source, mesh->origins[edges->triangle],
              "the edge from (%g, %g, %g) to (%g, %g, %g) %s in a mesh editor (%" PetscInt_FMT
              " edge%s at fault)",
              (double)a->at[X], (double)a->at[Y], (double)a->at[Z], (double)b->at[X], (double)b->at[Y],
              (double)b->at[Z], fault_messages[edge_fault(edges, count)], fault_count,
              fault_count == 1 ? " is" : "s are");
}

static PetscInt find_root(PetscInt parents[], PetscInt n)
{
  while (parents[n] != n) {
    parents[n] = parents[parents[n]];
    n = parents[n];
  }
  return n;
}

/* Joins the triangles of each good edge in `parents`. */
static void walk_edges(const TriangleList *mesh, Source *source, const Edge edges[], PetscInt parents[])
{
  const PetscInt edge_count = 3 * mesh->triangle_count;
  PetscInt       fault_count = 0, worst = 0, worst_count = 0, count;

  for (PetscInt n = 0; n < edge_count; n += count) {
    count = edge_sharers(edges, edge_count, n);
    if (edge_fault(&edges[n], count) == SURFACE_SOUND) {
      parents[find_root(parents, edges[n].triangle)] = find_root(parents, edges[n + 1].triangle);
      continue;
    }
    if (fault_count++ > 0 && edges[worst].triangle <= edges[n].triangle)
      continue;
    worst = n;
    worst_count = count;
  }
  if (fault_count > 0)
    report_edge(mesh, source, &edges[worst], worst_count, fault_count);
}

static PetscReal triangle_volume(Triangle triangle, Vector3 origin)
{
  const Vector3 a = vector3_subtract(triangle.corner[0], origin),
                b = vector3_subtract(triangle.corner[1], origin);
  const Vector3 c = vector3_subtract(triangle.corner[2], origin);

  return vector3_dot(a, vector3_cross(b, c)) / 6;
}

/* Of all pieces but `piece`, each turned or not, at one of its vertices. */
static PetscReal winding_of_others(const TriangleList *mesh, const PetscInt pieces[], const PetscReal signs[],
                                   PetscInt piece)
{
  const Vector3 point = mesh->vertices[mesh->triangles[piece][0]];
  PetscReal     sum = 0;

  for (PetscInt n = 0; n < mesh->triangle_count; n++) {
    const Triangle triangle = indexed_triangle(mesh->vertices, mesh->triangles[n]);

    if (pieces[n] != piece)
      sum += signs[pieces[n]] * triangle_solid_angle(&triangle, point);
  }
  return sum / (4 * PETSC_PI);
}

/* A piece goes by the number of its root triangle. `signs` of a piece is -1 if it must be turned. */
static void choose_signs(const TriangleList *mesh, const PetscInt pieces[], PetscReal volumes[],
                         PetscReal signs[])
{
  PetscReal total = 0;

  for (PetscInt n = 0; n < mesh->triangle_count; n++) {
    const Triangle triangle = indexed_triangle(mesh->vertices, mesh->triangles[n]);

    volumes[pieces[n]] += triangle_volume(triangle, mesh->vertices[mesh->triangles[pieces[n]][0]]);
  }
  for (PetscInt n = 0; n < mesh->triangle_count; n++)
    total += volumes[n];
  for (PetscInt n = 0; n < mesh->triangle_count; n++)
    signs[n] = total < 0 ? -1 : 1;
  for (PetscInt n = 0; n < mesh->triangle_count; n++) {
    if (pieces[n] != n || signs[n] * volumes[n] >= 0)
      continue;
    if (winding_of_others(mesh, pieces, signs, n) < 0.5)
      signs[n] = -signs[n];
  }
}

static PetscErrorCode Orient(TriangleList *mesh, const PetscInt pieces[], SurfaceReport *report)
{
  PetscReal *volumes, *signs;

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(mesh->triangle_count, &volumes, mesh->triangle_count, &signs));
  choose_signs(mesh, pieces, volumes, signs);
  for (PetscInt n = 0; n < mesh->triangle_count; n++) {
    PetscInt *corners = mesh->triangles[n], swap;

    if (pieces[n] == n)
      report->components++;
    if (signs[pieces[n]] > 0)
      continue;
    if (pieces[n] == n)
      report->turned_components++;
    swap = corners[1];
    corners[1] = corners[2];
    corners[2] = swap;
  }
  PetscCall(PetscFree2(volumes, signs));
  PetscFunctionReturn(0);
}

PetscErrorCode TriangleListCloseAndOrient(TriangleList *mesh, Source *source, SurfaceReport *report)
{
  Edge     *edges;
  PetscInt *pieces;

  PetscFunctionBegin;
  PetscCall(CreateEdges(mesh, &edges));
  PetscCall(PetscMalloc1(mesh->triangle_count, &pieces));
  for (PetscInt n = 0; n < mesh->triangle_count; n++)
    pieces[n] = n;
  walk_edges(mesh, source, edges, pieces);
  if (!source->failed) {
    for (PetscInt n = 0; n < mesh->triangle_count; n++)
      pieces[n] = find_root(pieces, n);
    PetscCall(Orient(mesh, pieces, report));
  }
  PetscCall(PetscFree(edges));
  PetscCall(PetscFree(pieces));
  PetscFunctionReturn(0);
}

PetscErrorCode TriangleListFindFault(const TriangleList *mesh, SurfaceFault *fault)
{
  const PetscInt edge_count = 3 * mesh->triangle_count;
  Edge          *edges;
  PetscInt       count;

  PetscFunctionBegin;
  *fault = SURFACE_SOUND;
  PetscCall(CreateEdges(mesh, &edges));
  for (PetscInt n = 0; n < edge_count && *fault == SURFACE_SOUND; n += count) {
    count = edge_sharers(edges, edge_count, n);
    *fault = edge_fault(&edges[n], count);
  }
  PetscCall(PetscFree(edges));
  PetscFunctionReturn(0);
}
