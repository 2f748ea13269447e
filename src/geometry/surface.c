/* Triangle surfaces: their life, their sign and their integrals. */
#include <string.h>
#include <strings.h>
#include "geometry_impl.h"

struct _p_Surface {
  PetscInt vertex_count;
  Vector3 *vertices;
  PetscInt triangle_count;
  PetscInt (*triangles)[3];
  Tree          tree;
  Moments       moments;
  SurfaceReport report;
};

static Vector3 middle_of(const Tree *tree)
{
  const Box box = tree_box(tree);

  return vector3_scale(0.5, vector3_add(box.low, box.high));
}

static PetscErrorCode Prepare(Surface surface)
{
  Triangle *triangles;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(surface->triangle_count, &triangles));
  for (PetscInt n = 0; n < surface->triangle_count; n++) {
    triangles[n] = indexed_triangle(surface->vertices, surface->triangles[n]);
  }
  PetscCall(TreeCreate(surface->triangle_count, triangles, &surface->tree));
  PetscCall(PetscFree(triangles));
  surface->moments =
      triangles_moments(surface->tree.triangle_count, surface->tree.triangles, middle_of(&surface->tree));
  PetscFunctionReturn(0);
}

PetscErrorCode SurfaceCreate(PetscInt vertex_count, const Vector3 vertices[], PetscInt triangle_count,
                             const PetscInt (*triangles)[3], Surface *surface)
{
  PetscFunctionBegin;
  *surface = NULL;
  PetscCheck(triangle_count > 0, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "A surface needs at least one triangle");
  for (PetscInt n = 0; n < vertex_count; n++) {
    PetscCheck(vertex_is_usable(vertices[n]), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
               "Vertex %" PetscInt_FMT " of a surface is not finite, or beyond %g", n,
               MILLRACE_MAX_COORDINATE);
  }
  for (PetscInt n = 0; n < 3 * triangle_count; n++) {
    const PetscInt vertex = triangles[n / 3][n % 3];

    PetscCheck(vertex >= 0 && vertex < vertex_count, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
               "Triangle %" PetscInt_FMT " names vertex %" PetscInt_FMT " of %" PetscInt_FMT, n / 3, vertex,
               vertex_count);
  }
  PetscCall(PetscNew(surface));
  (*surface)->vertex_count = vertex_count;
  (*surface)->triangle_count = triangle_count;
  PetscCall(PetscMalloc1(vertex_count, &(*surface)->vertices));
  PetscCall(PetscMalloc1(triangle_count, &(*surface)->triangles));
  PetscCall(PetscArraycpy((*surface)->vertices, vertices, vertex_count));
  PetscCall(PetscArraycpy((*surface)->triangles, triangles, triangle_count));
  PetscCall(Prepare(*surface));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadTriangles(Source *source, TriangleList *mesh, SurfaceReport *report)
{
  const char *suffix = strrchr(source->path, '.');

  PetscFunctionBegin;
  if (suffix && strcasecmp(suffix, ".obj") == 0)
    PetscCall(ReadObj(source, mesh));
  else if (suffix && strcasecmp(suffix, ".ply") == 0)
    PetscCall(ReadPly(source, mesh));
  else if (suffix && strcasecmp(suffix, ".stl") == 0)
    PetscCall(ReadStl(source, mesh));
  else
    source_fail(source, 0, "the name of a surface file must end in .obj, .ply or .stl");
  if (source->failed)
    PetscFunctionReturn(0);
  /* each facet of an STL file has its own corners */
  if (strcasecmp(suffix, ".stl") == 0)
    PetscCall(TriangleListWeld(mesh));
  PetscCall(TriangleListClean(mesh, source, report));
  PetscFunctionReturn(0);
}

/* Programs that write OBJ and PLY may split vertices along seams: weld before calling a surface open. */
static PetscErrorCode CloseTriangles(Source *source, TriangleList *mesh, SurfaceReport *report)
{
  PetscFunctionBegin;
  PetscCall(TriangleListCloseAndOrient(mesh, source, report));
  if (!source->failed)
    PetscFunctionReturn(0);
  source->failed = PETSC_FALSE;
  PetscCall(TriangleListWeld(mesh));
  PetscCall(TriangleListClean(mesh, source, report));
  if (!source->failed)
    PetscCall(TriangleListCloseAndOrient(mesh, source, report));
  PetscFunctionReturn(0);
}

PetscErrorCode SurfaceRead(const char path[], SurfaceDemand demand, Surface *surface, char message[],
                           size_t message_size)
{
  Source        source;
  TriangleList  mesh = {0};
  SurfaceReport report = {0};

  PetscFunctionBegin;
  *surface = NULL;
  if (message_size > 0)
    message[0] = '\0';
  PetscCall(SourceOpen(path, message, message_size, &source));
  if (!source.failed)
    PetscCall(ReadTriangles(&source, &mesh, &report));
  if (!source.failed) {
    PetscCall(CloseTriangles(&source, &mesh, &report));
    if (source.failed && demand == SURFACE_ANY && mesh.triangle_count > 0)
      source.failed = PETSC_FALSE;
    if (!source.failed && message_size > 0)
      message[0] = '\0'; /* what was said before the vertices were welded no longer holds */
  }
  if (!source.failed) {
    PetscCall(SurfaceCreate(mesh.vertex_count, mesh.vertices, mesh.triangle_count,
                            (const PetscInt(*)[3])mesh.triangles, surface));
    (*surface)->report = report;
  }
  PetscCall(TriangleListDestroy(&mesh));
  PetscCall(SourceClose(&source));
  PetscFunctionReturn(0);
}

PetscErrorCode SurfaceTransform(Surface *surface, SurfaceMap map, const void *context)
{
  Surface  given = *surface;
  Vector3 *moved;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(given->vertex_count, &moved));
  for (PetscInt n = 0; n < given->vertex_count; n++)
    moved[n] = map(context, given->vertices[n]);
  PetscCall(SurfaceCreate(given->vertex_count, moved, given->triangle_count,
                          (const PetscInt(*)[3])given->triangles, surface));
  PetscCall(PetscFree(moved));
  PetscCall(SurfaceDestroy(&given));
  PetscFunctionReturn(0);
}

PetscErrorCode SurfaceDestroy(Surface *surface)
{
  PetscFunctionBegin;
  if (!*surface)
    PetscFunctionReturn(0);
  PetscCall(PetscFree((*surface)->vertices));
  PetscCall(PetscFree((*surface)->triangles));
  PetscCall(TreeDestroy(&(*surface)->tree));
  PetscCall(PetscFree(*surface));
  PetscFunctionReturn(0);
}

PetscErrorCode SurfaceGet(Surface surface, PetscInt *vertex_count, const Vector3 **vertices,
                          PetscInt *triangle_count, const PetscInt (**triangles)[3])
{
  PetscFunctionBegin;
  if (vertex_count)
    *vertex_count = surface->vertex_count;
  if (vertices)
    *vertices = surface->vertices;
  if (triangle_count)
    *triangle_count = surface->triangle_count;
  if (triangles)
    *triangles = (const PetscInt(*)[3])surface->triangles;
  PetscFunctionReturn(0);
}

const Tree *surface_tree(Surface surface)
{
  return &surface->tree;
}

PetscReal surface_winding(Surface surface, Vector3 point)
{
  return tree_winding(&surface->tree, point);
}

PetscBool surface_is_inside(Surface surface, Vector3 point)
{
  if (!box_holds(tree_box(&surface->tree), point))
    return PETSC_FALSE;
  return tree_winding(&surface->tree, point) > 0.5 ? PETSC_TRUE : PETSC_FALSE;
}

PetscReal surface_distance(Surface surface, Vector3 point)
{
  const PetscReal distance = tree_distance(&surface->tree, point);

  return surface_is_inside(surface, point) ? -distance : distance;
}

PetscReal surface_nearest(Surface surface, Vector3 point, PetscReal bound, Vector3 *nearest, Vector3 *normal)
{
  return tree_nearest(&surface->tree, point, bound, nearest, normal);
}

PetscInt surface_nearest_triangle(Surface surface, Vector3 point, Vector3 *nearest)
{
  return tree_nearest_triangle(&surface->tree, point, nearest);
}

PetscErrorCode SurfaceFindFault(Surface surface, SurfaceFault *fault)
{
  const TriangleList mesh = {.triangle_count = surface->triangle_count, .triangles = surface->triangles};

  PetscFunctionBegin;
  PetscCall(TriangleListFindFault(&mesh, fault));
  PetscFunctionReturn(0);
}

PetscReal surface_volume(Surface surface)
{
  return surface->moments.volume;
}

Moments surface_moments(Surface surface)
{
  return surface->moments;
}

Moments surface_shell_moments(Surface surface, PetscReal thickness)
{
  return triangles_shell_moments(surface->tree.triangle_count, surface->tree.triangles,
                                 middle_of(&surface->tree), thickness);
}

SurfaceReport surface_report(Surface surface)
{
  return surface->report;
}

void surface_bounds(Surface surface, Vector3 *low, Vector3 *high)
{
  const Box box = tree_box(&surface->tree);

  *low = box.low;
  *high = box.high;
}

PetscReal surface_extent(Surface surface)
{
  Vector3   low, high;
  PetscReal longest = 0;

  surface_bounds(surface, &low, &high);
  for (int d = 0; d < DIM; d++)
    longest = PetscMax(longest, high.at[d] - low.at[d]);
  return longest;
}
