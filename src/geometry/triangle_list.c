/* Triangles as they are read: growing arrays, welding, and what must hold of each triangle. */
#include <stdlib.h>
#include "geometry_impl.h"

enum { FIRST_CAPACITY = 256 };

/* Three corners each must still be countable. */
#define MAX_COUNT (PETSC_MAX_INT / 4)

PetscErrorCode TriangleListAddVertex(TriangleList *mesh, Vector3 vertex)
{
  PetscFunctionBegin;
  if (mesh->vertex_count == mesh->vertex_capacity) {
    PetscCheck(mesh->vertex_count < MAX_COUNT, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "A surface has too many vertices");
    mesh->vertex_capacity = PetscMax(FIRST_CAPACITY, 2 * mesh->vertex_capacity);
    PetscCall(PetscRealloc((size_t)mesh->vertex_capacity * sizeof *mesh->vertices, &mesh->vertices));
  }
  mesh->vertices[mesh->vertex_count++] = vertex;
  PetscFunctionReturn(0);
}

PetscErrorCode TriangleListAddTriangle(TriangleList *mesh, PetscInt a, PetscInt b, PetscInt c,
                                       PetscInt origin)
{
  PetscInt *triangle;

  PetscFunctionBegin;
  if (mesh->triangle_count == mesh->triangle_capacity) {
    PetscCheck(mesh->triangle_count < MAX_COUNT, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "A surface has too many triangles");
    mesh->triangle_capacity = PetscMax(FIRST_CAPACITY, 2 * mesh->triangle_capacity);
    PetscCall(PetscRealloc((size_t)mesh->triangle_capacity * sizeof *mesh->triangles, &mesh->triangles));
    PetscCall(PetscRealloc((size_t)mesh->triangle_capacity * sizeof *mesh->origins, &mesh->origins));
  }
  mesh->origins[mesh->triangle_count] = origin;
  triangle = mesh->triangles[mesh->triangle_count++];
  triangle[0] = a;
  triangle[1] = b;
  triangle[2] = c;
  PetscFunctionReturn(0);
}

PetscErrorCode TriangleListDestroy(TriangleList *mesh)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(mesh->vertices));
  PetscCall(PetscFree(mesh->triangles));
  PetscCall(PetscFree(mesh->origins));
  *mesh = (TriangleList){0};
  PetscFunctionReturn(0);
}

typedef struct {
  Vector3  place;
  PetscInt number;
} PlacedVertex;

static int compare_places(const void *left, const void *right)
{
  const PlacedVertex *a = left, *b = right;

  for (int d = 0; d < DIM; d++) {
    if (a->place.at[d] != b->place.at[d])
      return a->place.at[d] < b->place.at[d] ? -1 : 1;
  }
  return a->number < b->number ? -1 : a->number > b->number;
}

/* Each vertex is replaced by the first one at its place; those keep their order. */
PetscErrorCode TriangleListWeld(TriangleList *mesh)
{
  PlacedVertex *sorted;
  PetscInt     *target, kept = 0;

  PetscFunctionBegin;
  if (mesh->vertex_count == 0)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc2(mesh->vertex_count, &sorted, mesh->vertex_count, &target));
  for (PetscInt n = 0; n < mesh->vertex_count; n++)
    sorted[n] = (PlacedVertex){mesh->vertices[n], n};
  qsort(sorted, (size_t)mesh->vertex_count, sizeof *sorted, compare_places);
  for (PetscInt n = 0, first = 0; n < mesh->vertex_count; n++) {
    const Vector3 apart = vector3_subtract(sorted[n].place, sorted[first].place);

    if (vector3_dot(apart, apart) > 0)
      first = n;
    target[sorted[n].number] = sorted[first].number;
  }
  for (PetscInt n = 0; n < mesh->vertex_count; n++) {
    /* the first one at a place comes before the others, and has its new number already */
    if (target[n] == n) {
      mesh->vertices[kept] = mesh->vertices[n];
      target[n] = kept++;
    } else {
      target[n] = target[target[n]];
    }
  }
  for (PetscInt n = 0; n < 3 * mesh->triangle_count; n++) {
    PetscInt *corner = &mesh->triangles[n / 3][n % 3];

    *corner = target[*corner];
  }
  mesh->vertex_count = kept;
  PetscCall(PetscFree2(sorted, target));
  PetscFunctionReturn(0);
}

static PetscBool is_thin(Triangle triangle)
{
  const Vector3 *corner = triangle.corner;
  const Vector3  area =
      vector3_cross(vector3_subtract(corner[1], corner[0]), vector3_subtract(corner[2], corner[0]));

  return vector3_dot(area, area) > 0 ? PETSC_FALSE : PETSC_TRUE;
}

PetscErrorCode TriangleListClean(TriangleList *mesh, Source *source, SurfaceReport *report)
{
  PetscInt kept = 0;

  PetscFunctionBegin;
  report->thin_triangles = 0;
  for (PetscInt n = 0; n < mesh->triangle_count; n++) {
    const PetscInt *corners = mesh->triangles[n];

    for (int c = 0; c < 3; c++) {
      if (corners[c] < mesh->vertex_count)
        continue;
      source_fail(source, mesh->origins[n],
                  "a face names vertex %" PetscInt_FMT ", but there are only %" PetscInt_FMT,
                  corners[c] + source->first_index, mesh->vertex_count);
      PetscFunctionReturn(0);
    }
    if (corners[0] == corners[1] || corners[1] == corners[2] || corners[2] == corners[0]) {
      report->collapsed_triangles++;
      continue;
    }
    if (is_thin(indexed_triangle(mesh->vertices, corners)))
      report->thin_triangles++;
    PetscCall(PetscArraymove(mesh->triangles[kept], mesh->triangles[n], 3));
    mesh->origins[kept++] = mesh->origins[n];
  }
  mesh->triangle_count = kept;
  if (kept == 0)
    source_fail(source, 0, "holds no triangle");
  PetscFunctionReturn(0);
}
