/* Surfaces that close a volume: of solids, and cloth that closes a chamber of fluid (docs/numerics.md,
   section 15). The solve is linear in velocities, what a volume grows by is cubic in the way of its surface:

     w(x', x) = int (x' - x) . n dA over the way, exact by Simpson's rule.

   Where the fluid's flow through it is q = sum areas . u, those of the surface at x or, of cloth, those that
   the fluid sees, the places are corrected along the normals by as little as possible in the norm of the
   masses,

     x' <- x' - M^-1 g (g^T M^-1 g)^-1 (w - dt q),   g = dw/dx',

   second order in the step. Of a closed surface no momentum changes, since the volume does not with motions
   as a whole. */
#include "in_fluid.h"

/* Twice the area vector of a triangle whose corners have gone a part of the way. */
static Vector3 area_on_way(const Vector3 from[3], const Vector3 to[3], PetscReal part)
{
  Vector3 corner[3];

  for (int c = 0; c < 3; c++)
    corner[c] = vector3_add(from[c], vector3_scale(part, vector3_subtract(to[c], from[c])));
  return vector3_cross(vector3_subtract(corner[1], corner[0]), vector3_subtract(corner[2], corner[0]));
}

/* What the chamber grows by; `slope` gets its differential by the places that the way leads to, of vertices
   of the mesh. */
static PetscReal find_growth(const Points *points, const DeformableMesh *mesh, Vector3 slope[])
{
  PetscReal growth = 0.;

  PetscArrayzero(slope, mesh->mesh->vertex_count);
  for (PetscInt f = 0; f < mesh->face_count; f++) {
    Vector3 from[3], to[3], way = {{0., 0., 0.}}, sum;

    for (int c = 0; c < 3; c++) {
      from[c] = points->in_fluid->left[mesh->first + mesh->faces[f][c]];
      to[c] = points->position[mesh->first + mesh->faces[f][c]];
      way = vector3_add(way, vector3_subtract(to[c], from[c]));
    }
    sum = vector3_add(vector3_add(area_on_way(from, to, 0.), area_on_way(from, to, 1.)),
                      vector3_scale(4., area_on_way(from, to, 0.5)));
    growth += vector3_dot(way, sum) / 36.;
    for (int c = 0; c < 3; c++) {
      Vector3 *at = &slope[mesh->faces[f][c]];

      *at = vector3_add(*at, vector3_scale(1. / 6., area_on_way(from, to, 1.)));
    }
  }
  return growth;
}

/* By how much velocities of its vertices make a closed surface larger where it was. */
static void find_areas(const Points *points, const DeformableMesh *mesh, PetscReal areas[])
{
  PetscArrayzero(areas, DIM * mesh->mesh->vertex_count);
  for (PetscInt f = 0; f < mesh->face_count; f++) {
    const PetscInt *corners = mesh->faces[f];
    Vector3         at[3], area;

    for (int c = 0; c < 3; c++)
      at[c] = points->in_fluid->left[mesh->first + corners[c]];
    area = area_on_way(at, at, 0.);
    for (PetscInt n = 0; n < 3 * DIM; n++)
      areas[DIM * corners[n / DIM] + n % DIM] += area.at[n % DIM] / 6.;
  }
}

static void keep_chamber(Solid solid, const DeformableMesh *mesh, PetscReal wanted, Vector3 slope[])
{
  enum { ROUNDS = 4 };
  const PetscReal enough = 1e-15;
  Points         *points = solid->points;
  const PetscInt  first = mesh->first, count = mesh->mesh->vertex_count;

  for (int n = 0; n < ROUNDS; n++) {
    const PetscReal lacking = wanted - find_growth(points, mesh, slope);
    PetscReal       yields = 0., size = 0.;

    for (PetscInt v = 0; v < count; v++) {
      yields += points->inverse_mass[first + v] * vector3_dot(slope[v], slope[v]);
      size += vector3_norm(slope[v]) * vector3_norm(points->position[first + v]);
    }
    if (n == 0)
      solid->report.chamber_correction = PetscMax(solid->report.chamber_correction, PetscAbsReal(lacking));
    if (!(yields > 0.) || PetscAbsReal(lacking) <= enough * size)
      return;
    for (PetscInt v = 0; v < count; v++)
      points->position[first + v] =
          vector3_add(points->position[first + v],
                      vector3_scale(lacking / yields * points->inverse_mass[first + v], slope[v]));
  }
}

void solid_keep_chambers(Solid solid, PetscReal dt)
{
  const Points *points = solid->points;

  solid->report.chamber_correction = 0.;
  for (PetscInt m = 0; m < points->mesh_count; m++) {
    const DeformableMesh *mesh = &points->meshes[m];
    PetscReal            *areas = points->in_fluid->areas + 3 * mesh->first;
    PetscReal             flow = 0., size = 0.;

    if (mesh->mesh->kind == MESH_TETRAHEDRA)
      find_areas(points, mesh, areas);
    for (PetscInt n = 0; n < 3 * mesh->mesh->vertex_count; n++) {
      flow += areas[n] * points->half.points[mesh->first + n / 3].at[n % 3];
      size += PetscAbsReal(areas[n]);
    }
    if (size > 0.) /* the search's vectors have nothing to do between solves */
      keep_chamber(solid, mesh, dt * flow, points->search.points);
  }
}
