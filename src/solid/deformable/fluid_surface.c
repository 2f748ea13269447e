/* Surfaces of meshes as a fluid meets them: the boundary of a volume, the triangles of cloth, and in two
   dimensions the walls of the prism over a planar mesh. */
#include "in_fluid.h"

/* Of a shell: its area times its thickness, and the centre of that. */
static void measure_shell(SolidPatch *surface)
{
  Vector3   sum = {{0., 0., 0.}};
  PetscReal volume = 0.;

  for (PetscInt t = 0; t < surface->triangle_count; t++) {
    const PetscInt *corners = surface->triangles[t];
    const Vector3   a = surface->now[corners[0]], b = surface->now[corners[1]], c = surface->now[corners[2]];
    const PetscReal part = 0.5 * surface->thickness *
                           vector3_norm(vector3_cross(vector3_subtract(b, a), vector3_subtract(c, a)));

    volume += part;
    sum = vector3_add(sum, vector3_scale(part / 3., vector3_add(a, vector3_add(b, c))));
  }
  surface->volume = volume;
  surface->centre = vector3_scale(1. / volume, sum);
}

/* Volume and centre from the tetrahedra between the origin and its triangles. */
static void measure(SolidPatch *surface)
{
  Vector3   sum = {{0., 0., 0.}};
  PetscReal volume = 0.;

  for (PetscInt t = 0; t < surface->triangle_count; t++) {
    const PetscInt *corners = surface->triangles[t];
    const Vector3   a = vector3_subtract(surface->now[corners[0]], surface->now[0]),
                  b = vector3_subtract(surface->now[corners[1]], surface->now[0]),
                  c = vector3_subtract(surface->now[corners[2]], surface->now[0]);
    const PetscReal part = vector3_dot(a, vector3_cross(b, c)) / 6.;

    volume += part;
    sum = vector3_add(sum, vector3_scale(0.25 * part, vector3_add(a, vector3_add(b, c))));
  }
  surface->volume = volume;
  surface->centre = vector3_add(surface->now[0], vector3_scale(1. / volume, sum));
}

/* By the edges of the boundary: of the triangles between the first one and each. */
static void measure_walls(const FluidWalls *walls, SolidPatch *surface)
{
  const Vector3 start = walls->vertices[1][0];
  Vector3       sum = {{0., 0., 0.}};
  PetscReal     area = 0.;

  for (PetscInt e = 0; e < walls->edge_count; e++) {
    const Vector3 a = vector3_subtract(walls->vertices[1][4 * e], start),
                  b = vector3_subtract(walls->vertices[1][4 * e + 1], start);
    const PetscReal part = 0.5 * vector3_cross(a, b).at[Z];

    area += part;
    sum = vector3_add(sum, vector3_scale(part / 3., vector3_add(a, b)));
  }
  surface->volume = area;
  surface->centre = vector3_add(start, vector3_scale(1. / area, sum));
  surface->centre.at[Z] += 0.5; /* half-way up */
}

PetscErrorCode FluidSurfaceCreate(Points *points, PetscInt m)
{
  static const PetscInt corners[2][3] = {{0, 1, 2}, {0, 2, 3}};
  const DeformableMesh *mesh = &points->meshes[m];
  FluidWalls           *walls = &points->in_fluid->walls[m];
  MeshBoundary          boundary;

  PetscFunctionBegin;
  if (!mesh->is_planar)
    PetscFunctionReturn(0);
  PetscCall(MeshFindBoundary(mesh->mesh, &boundary));
  walls->edge_count = boundary.count;
  PetscCall(PetscMalloc3(2 * boundary.count, &walls->edges, 4 * boundary.count, &walls->unknown,
                         2 * boundary.count, &walls->triangles));
  PetscCall(PetscMalloc3(4 * boundary.count, &walls->vertices[0], 4 * boundary.count, &walls->vertices[1],
                         4 * boundary.count, &walls->vertices[2]));
  for (PetscInt n = 0; n < 2 * boundary.count; n++) {
    walls->edges[n] = mesh->first + boundary.faces[n];
    for (PetscInt c = 0; c < 3; c++)
      walls->triangles[n][c] = 4 * (n / 2) + corners[n % 2][c];
  }
  for (PetscInt e = 0; e < boundary.count; e++)
    for (PetscInt c = 0; c < 4; c++)
      walls->unknown[4 * e + c] = DIM * walls->edges[2 * e + (c == 1 || c == 2 ? 1 : 0)];
  PetscCall(MeshBoundaryDestroy(&boundary));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidSurfaceDestroy(FluidWalls *walls)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(walls->edges, walls->unknown, walls->triangles));
  PetscCall(PetscFree3(walls->vertices[0], walls->vertices[1], walls->vertices[2]));
  PetscFunctionReturn(0);
}

/* From bottom to top, as slices of bodies are. */
static void raise_walls(const Points *points, FluidWalls *walls, const Vector3 before[])
{
  for (PetscInt v = 0; v < 4 * walls->edge_count; v++) {
    const PetscInt p = walls->unknown[v] / DIM;
    const Vector3  aside = vector3(0., 0., v % 4 < 2 ? -0.5 : 0.5);

    walls->vertices[0][v] = vector3_add(before[p], aside);
    walls->vertices[1][v] = vector3_add(points->position[p], aside);
    walls->vertices[2][v] = points->velocity[p];
  }
}

void fluid_surface_place(Points *points, PetscInt m, const Vector3 before[])
{
  const DeformableMesh *mesh = &points->meshes[m];
  const PetscBool       is_shell = mesh->config->mesh.use == MESH_USE_CLOTH ? PETSC_TRUE : PETSC_FALSE;
  FluidWalls           *walls = &points->in_fluid->walls[m];
  SolidPatch           *surface = &points->in_fluid->surfaces[m];

  *surface = (SolidPatch){.surface = m,
                          .thickness = is_shell ? mesh->config->thickness : 0.,
                          .is_closed = !is_shell,
                          .slips = mesh->config->surface == BODY_SLIP ? PETSC_TRUE : PETSC_FALSE,
                          .vertex_count = mesh->mesh->vertex_count,
                          .triangle_count = mesh->face_count,
                          .before = before + mesh->first,
                          .now = points->position + mesh->first,
                          .velocity = points->velocity + mesh->first,
                          .triangles = (const PetscInt(*)[3])mesh->faces,
                          .unknown = points->in_fluid->unknown + mesh->first};
  if (mesh->is_planar) {
    raise_walls(points, walls, before);
    surface->vertex_count = 4 * walls->edge_count;
    surface->triangle_count = 2 * walls->edge_count;
    surface->before = walls->vertices[0];
    surface->now = walls->vertices[1];
    surface->velocity = walls->vertices[2];
    surface->triangles = (const PetscInt(*)[3])walls->triangles;
    surface->unknown = walls->unknown;
    measure_walls(walls, surface);
  } else if (is_shell)
    measure_shell(surface);
  else
    measure(surface);
}
