/* The surfaces of meshes that meet each other: faces, edges, and what belongs to which face. */
#include "../../deformable/distribution.h"
#include "mesh_contact.h"

#include <stdlib.h>

static PetscBool mesh_meets(const DeformableMesh *mesh)
{
  return mesh->config->contact_thickness > 0. ? PETSC_TRUE : PETSC_FALSE;
}

/* Soft bound copies, where a surface has them. */
static PetscInt face_point(const DeformableMesh *mesh, PetscInt face, PetscInt corner)
{
  const PetscInt vertex = mesh->faces[face][corner];

  return mesh->shown ? mesh->shown[vertex] : mesh->first + vertex;
}

static PetscErrorCode TakeFaces(Points *points)
{
  MeshSurface surface = points->surface;
  PetscInt    f = 0;

  PetscFunctionBegin;
  surface->least_thickness = PETSC_MAX_REAL;
  for (PetscInt m = 0; m < points->mesh_count; m++)
    surface->face_count += mesh_meets(&points->meshes[m]) ? points->meshes[m].face_count : 0;
  PetscCall(PetscMalloc5(surface->face_count, &surface->faces, surface->face_count, &surface->face_mesh,
                         surface->face_count, &surface->face_edges, surface->face_count, &surface->owned,
                         surface->face_count, &surface->margins));
  for (PetscInt m = 0; m < points->mesh_count; m++)
    for (PetscInt k = 0; k < points->meshes[m].face_count && mesh_meets(&points->meshes[m]); k++, f++) {
      for (PetscInt c = 0; c < 3; c++)
        surface->faces[f][c] = face_point(&points->meshes[m], k, c);
      surface->face_mesh[f] = m;
      surface->owned[f][0] = surface->owned[f][1] = 0;
      surface->least_thickness =
          PetscMin(surface->least_thickness, points->meshes[m].config->contact_thickness);
    }
  PetscFunctionReturn(0);
}

/* An edge of a face: its points, lower first, and where it is. */
typedef struct {
  PetscInt ends[2], face, side;
} FaceEdge;

static int compare_edges(const void *a, const void *b)
{
  const FaceEdge *x = a, *y = b;
  const PetscInt  keys[2][3] = {{x->ends[0], x->ends[1], x->face}, {y->ends[0], y->ends[1], y->face}};

  for (PetscInt k = 0; k < 3; k++)
    if (keys[0][k] != keys[1][k])
      return keys[0][k] < keys[1][k] ? -1 : 1;
  return 0;
}

static PetscErrorCode TakeEdges(MeshSurface surface)
{
  const PetscInt count = 3 * surface->face_count;
  FaceEdge      *all;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, &all));
  PetscCall(PetscMalloc1(count, &surface->edges));
  for (PetscInt k = 0; k < count; k++) {
    const PetscInt *corners = surface->faces[k / 3], a = corners[k % 3], b = corners[(k + 1) % 3];

    all[k] = (FaceEdge){{PetscMin(a, b), PetscMax(a, b)}, k / 3, k % 3};
  }
  qsort(all, (size_t)count, sizeof(*all), compare_edges);
  for (PetscInt k = 0; k < count; k++) {
    if (!k || all[k].ends[0] != all[k - 1].ends[0] || all[k].ends[1] != all[k - 1].ends[1]) {
      surface->edges[surface->edge_count][0] = all[k].ends[0];
      surface->edges[surface->edge_count++][1] = all[k].ends[1];
      surface->owned[all[k].face][1] |= 1 << all[k].side;
    }
    surface->face_edges[all[k].face][all[k].side] = surface->edge_count - 1;
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(0);
}

static PetscErrorCode TakePoints(Points *points)
{
  MeshSurface surface = points->surface;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(3 * surface->face_count, &surface->points, points->count, &surface->point_mesh));
  for (PetscInt p = 0; p < points->count; p++)
    surface->point_mesh[p] = -1;
  for (PetscInt k = 0; k < 3 * surface->face_count; k++) {
    const PetscInt p = surface->faces[k / 3][k % 3];

    if (surface->point_mesh[p] < 0)
      surface->owned[k / 3][0] |= 1 << k % 3;
    surface->point_mesh[p] = surface->face_mesh[k / 3];
  }
  for (PetscInt p = 0; p < points->count; p++)
    if (surface->point_mesh[p] >= 0)
      surface->points[surface->point_count++] = p;
  PetscFunctionReturn(0);
}

/* Points may stray from the ways of a search by a part of the thickness or of the edges: farther, and there
   are more pairs to keep; less, and they are looked for too often. Boxes that reach half of a pair's distance
   have a point in common. */
static PetscErrorCode TakeReach(Points *points)
{
  const PetscReal of_thickness = 0.3, of_edge = 0.1, round_off = 1.01;
  MeshSurface     surface = points->surface;
  PetscInt       *count;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(points->mesh_count, &surface->stray));
  PetscCall(PetscCalloc1(points->mesh_count, &count));
  for (PetscInt e = 0; e < surface->edge_count; e++) {
    const PetscInt *ends = surface->edges[e], mesh = surface->point_mesh[ends[0]];

    surface->stray[mesh] += vector3_norm(vector3_subtract(points->rest[ends[1]], points->rest[ends[0]]));
    count[mesh]++;
  }
  surface->least_stray = PETSC_MAX_REAL;
  for (PetscInt m = 0; m < points->mesh_count; m++) {
    const PetscReal thickness = points->meshes[m].config->contact_thickness;

    if (!count[m])
      continue;
    surface->stray[m] = PetscMax(of_edge * surface->stray[m] / (PetscReal)count[m], of_thickness * thickness);
    surface->least_stray = PetscMin(surface->least_stray, surface->stray[m]);
  }
  for (PetscInt f = 0; f < surface->face_count; f++) {
    const PetscInt m = surface->face_mesh[f];

    surface->margins[f] = round_off * (0.5 * points->meshes[m].config->contact_thickness + surface->stray[m]);
  }
  PetscCall(PetscFree(count));
  PetscFunctionReturn(0);
}

/* Continuous collision keeps apart what is apart at the start. */
static PetscErrorCode CheckStart(Solid solid, char message[], size_t size)
{
  const Points     *points = solid->points;
  const MeshSurface surface = points->surface;
  PetscInt          crossings;
  PetscReal         moved;

  PetscFunctionBegin;
  PetscCall(MeshSurfaceCountCrossings(solid, points->position, &crossings));
  if (crossings)
    PetscCall(MessageAtKey(message, size, "solids.meshes", points->meshes[surface->face_mesh[0]].config->name,
                           "%" PetscInt_FMT
                           " pairs of triangles of meshes with a contact_thickness intersect "
                           "at the start: move the meshes apart, or leave out contact_thickness",
                           crossings));
  PetscCall(MeshPairsFind(solid, points->position, points->position, &moved));
  for (PetscInt n = 0; n < surface->pair_count && !message[0]; n++) {
    const MeshPair *pair = &surface->pairs[n];
    Vector3         at[4];
    PetscReal       weights[4];

    for (PetscInt k = 0; k < 4; k++)
      at[k] = points->position[pair->points[k]];
    if (features_distance(pair->kind, at, weights) <= 1e-6 * pair->thickness)
      PetscCall(MessageAtKey(
          message, size, "solids.meshes", points->meshes[surface->point_mesh[pair->points[0]]].config->name,
          "Meshes \"%s\" and \"%s\" touch at the start: leave a gap, if no more than contact_thickness",
          points->meshes[surface->point_mesh[pair->points[0]]].config->name,
          points->meshes[surface->point_mesh[pair->points[3]]].config->name));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode MeshSurfaceCreate(Solid solid, char message[], size_t size)
{
  Points     *points = solid->points;
  MeshSurface surface;
  PetscBool   any = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt m = 0; m < points->mesh_count; m++)
    any = any || mesh_meets(&points->meshes[m]) ? PETSC_TRUE : PETSC_FALSE;
  if (!any)
    PetscFunctionReturn(0);
  PetscCall(PetscNew(&points->surface));
  surface = points->surface;
  PetscCall(TakeFaces(points));
  PetscCall(TakePoints(points));
  PetscCall(TakeEdges(surface));
  PetscCall(TakeReach(points));
  PetscCall(MovingTreeCreate(surface->face_count, (const PetscInt(*)[3])surface->faces, &surface->tree));
  PetscCall(MovingTreeCreate(surface->face_count, (const PetscInt(*)[3])surface->faces, &surface->judge));
  PetscCall(PetscCalloc7(points->count, &surface->from, points->count, &surface->to, points->count,
                         &surface->began, points->count, &surface->ahead, points->count, &surface->push,
                         points->count, &surface->shares, points->count + solid->body_count + 1,
                         &surface->zone));
  PetscCall(PetscCalloc2(points->count, &surface->visits, points->count, &surface->seen));
  PetscCall(PetscCalloc3(solid->body_count, &surface->placed, solid->body_count, &surface->turn,
                         solid->body_count, &surface->body_shares));
  PetscCall(CheckStart(solid, message, size));
  PetscCall(PointsShareSurface(solid));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshSurfaceDestroy(Points *points)
{
  MeshSurface surface = points->surface;

  PetscFunctionBegin;
  if (!surface)
    PetscFunctionReturn(0);
  PetscCall(
      PetscFree5(surface->faces, surface->face_mesh, surface->face_edges, surface->owned, surface->margins));
  PetscCall(PetscFree(surface->edges));
  PetscCall(PetscFree2(surface->points, surface->point_mesh));
  PetscCall(MovingTreeDestroy(&surface->tree));
  PetscCall(MovingTreeDestroy(&surface->judge));
  PetscCall(PetscFree7(surface->from, surface->to, surface->began, surface->ahead, surface->push,
                       surface->shares, surface->zone));
  PetscCall(PetscFree3(surface->placed, surface->turn, surface->body_shares));
  PetscCall(PetscFree(surface->is_mine));
  PetscCall(PetscFree2(surface->visits, surface->seen));
  PetscCall(PetscFree(surface->pairs));
  PetscCall(PetscFree(surface->near));
  PetscCall(PetscFree(surface->stray));
  PetscCall(PetscFree(surface->meetings));
  PetscCall(PetscFree(surface->contacts));
  PetscCall(PetscFree(surface->roots));
  PetscCall(PetscFree(surface->presses));
  PetscCall(PetscFree(points->surface));
  PetscFunctionReturn(0);
}

void mesh_surface_forget(Points *points)
{
  if (points->surface)
    points->surface->is_found = PETSC_FALSE;
}
