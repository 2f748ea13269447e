/* Solids in checkpoints and frames. Whoever writes holds the whole state, and fetches the surfaces it draws.
 */
#include "contact/mesh/mesh_contact.h"
#include "deformable/distribution.h"
#include "step.h"

#include <millrace/solid_step.h>

enum { PLACEMENT_NUMBERS = 7, REPORT_NUMBERS = 4, POINT_NUMBERS = 6, MESH_NUMBERS = 5 };

/* Where the targets of soft bound copies have drifted to. */
static PetscErrorCode SaveDrift(Solid solid, Archive archive)
{
  const PetscInt count = soft_point_numbers(solid->points);
  PetscReal     *numbers;

  PetscFunctionBegin;
  if (!count)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(SOFT_PLACE * count, &numbers));
  soft_points_get_places(solid, numbers);
  PetscCall(ArchiveWriteShared(archive, "drifted_targets", count, SOFT_PLACE, numbers));
  PetscCall(PetscFree(numbers));
  PetscFunctionReturn(0);
}

/* Elements that are there, and weights that are not negative and have the sum 1. */
static PetscBool is_place(const Points *points, PetscInt soft, const PetscReal numbers[SOFT_PLACE])
{
  const PetscReal elements = (PetscReal)points->meshes[points->soft.list[soft].mesh].mesh->element_count;
  PetscReal       sum = 0.;

  for (PetscInt n = 1; n < SOFT_PLACE; n++) {
    if (!(numbers[n] >= 0.))
      return PETSC_FALSE;
    sum += numbers[n];
  }
  return numbers[0] >= 0. && numbers[0] < elements && PetscAbsReal(sum - 1.) < 1e-9 ? PETSC_TRUE
                                                                                    : PETSC_FALSE;
}

static PetscErrorCode LoadDrift(Solid solid, Archive archive)
{
  const PetscInt count = soft_point_numbers(solid->points);
  PetscReal     *numbers;

  PetscFunctionBegin;
  if (!count)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(SOFT_PLACE * count, &numbers));
  PetscCall(ArchiveReadShared(archive, "drifted_targets", count, SOFT_PLACE, numbers));
  for (PetscInt s = 0; s < count; s++)
    if (!is_place(solid->points, s, &numbers[SOFT_PLACE * s]))
      PetscCall(
          ArchiveRefuse(archive, "drifted_targets", "has a target in no element: number %" PetscInt_FMT, s));
  soft_points_set_places(solid, numbers);
  PetscCall(PetscFree(numbers));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidSave(Solid solid, Archive archive)
{
  const PetscReal counts[REPORT_NUMBERS] = {solid->report.collisions, solid->report.position_iterations,
                                            solid->report.velocity_iterations, solid->report.push_outs};
  const PetscReal point_counts[POINT_NUMBERS] = {
      solid->report.substeps,          solid->report.damping_iterations, solid->report.newton_iterations,
      solid->report.linear_iterations, solid->report.elastic_solver,     solid->report.chamber_correction};
  const PetscReal mesh_counts[MESH_NUMBERS] = {solid->report.mesh_pairs, solid->report.mesh_impulses,
                                               solid->report.mesh_zones, solid->report.mesh_clamped,
                                               solid->report.mesh_crossings};

  PetscFunctionBegin;
  PetscCall(ArchiveEnter(archive, "solids"));
  PetscCall(ArchiveWriteShared(archive, "placements", solid_body_count(solid), PLACEMENT_NUMBERS,
                               (const PetscReal *)solid->placements));
  PetscCall(ArchiveWriteShared(archive, "twists", solid_body_count(solid), TWIST,
                               (const PetscReal *)solid->twists));
  PetscCall(ArchiveWriteShared(archive, "particles", solid->points->count, DIM,
                               (const PetscReal *)solid->points->position));
  PetscCall(ArchiveWriteShared(archive, "particle_velocities", solid->points->count, DIM, solid->velocity));
  PetscCall(PointsSaveHistory(solid, archive));
  PetscCall(ArchiveWriteShared(archive, "report", 1, REPORT_NUMBERS, counts));
  if (solid->points->mesh_count)
    PetscCall(ArchiveWriteShared(archive, "point_report", 1, POINT_NUMBERS, point_counts));
  if (solid->points->surface)
    PetscCall(ArchiveWriteShared(archive, "mesh_report", 1, MESH_NUMBERS, mesh_counts));
  PetscCall(SaveDrift(solid, archive));
  PetscCall(ContactSetSave(solid->contacts, solid, archive));
  PetscCall(ArchiveLeave(archive));
  PetscFunctionReturn(0);
}

/* What travels faster than light was not computed here. */
static const PetscReal light = 299792458.;

static PetscReal extent(Solid solid, PetscInt b)
{
  return solid->bodies[b].form->kind == FORM_PLANE ? 1. : solid->bodies[b].form->reach;
}

static PetscErrorCode CheckPlacements(Solid solid, PetscReal time, Archive archive)
{
  PetscFunctionBegin;
  for (PetscInt b = 0; b < solid_body_count(solid); b++) {
    const Quaternion q = solid->placements[b].rotation;
    const PetscReal  square = PetscSqr(q.scalar) + vector3_dot(q.vector, q.vector);
    const PetscReal  way =
        vector3_norm(vector3_subtract(solid->placements[b].position, solid->bodies[b].rest.position));

    if (!(PetscAbsReal(square - 1.) < 1e-6))
      PetscCall(ArchiveRefuse(archive, "placements",
                              "turns body %" PetscInt_FMT " by a quaternion of length %g, not 1", b,
                              (double)PetscSqrtReal(square)));
    if (solid->bodies[b].config->kind != BODY_KINEMATIC && !(way <= light * time + extent(solid, b)))
      PetscCall(ArchiveRefuse(archive, "placements",
                              "has body %" PetscInt_FMT " %g m from where it began %g s before, farther than "
                              "light comes",
                              b, (double)way, (double)time));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckTwists(Solid solid, Archive archive)
{
  PetscFunctionBegin;
  for (PetscInt b = 0; b < solid_body_count(solid); b++) {
    const Twist     twist = solid->twists[b];
    const PetscReal speed = vector3_norm(twist.linear) + extent(solid, b) * vector3_norm(twist.angular);

    if (!(speed <= light))
      PetscCall(ArchiveRefuse(archive, "twists",
                              "moves body %" PetscInt_FMT " with %g m/s, which is faster than light", b,
                              (double)speed));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadCounts(Archive archive, const char name[], PetscInt count, PetscReal counts[])
{
  PetscFunctionBegin;
  PetscCall(ArchiveReadShared(archive, name, 1, count, counts));
  for (PetscInt n = 0; n < count; n++)
    if (!(counts[n] >= 0. && counts[n] <= (PetscReal)PETSC_MAX_INT))
      PetscCall(ArchiveRefuse(archive, name, "counts %g of something", (double)counts[n]));
  PetscFunctionReturn(0);
}

static PetscErrorCode LoadReport(Solid solid, Archive archive)
{
  PetscReal counts[REPORT_NUMBERS], point_counts[POINT_NUMBERS] = {0}, mesh_counts[MESH_NUMBERS] = {0};

  PetscFunctionBegin;
  PetscCall(ReadCounts(archive, "report", REPORT_NUMBERS, counts));
  if (solid->points->mesh_count)
    PetscCall(ReadCounts(archive, "point_report", POINT_NUMBERS, point_counts));
  if (solid->points->surface)
    PetscCall(ReadCounts(archive, "mesh_report", MESH_NUMBERS, mesh_counts));
  solid->report.mesh_pairs = (PetscInt)mesh_counts[0];
  solid->report.mesh_impulses = (PetscInt)mesh_counts[1];
  solid->report.mesh_zones = (PetscInt)mesh_counts[2];
  solid->report.mesh_clamped = (PetscInt)mesh_counts[3];
  solid->report.mesh_crossings = (PetscInt)mesh_counts[4];
  solid->report.substeps = (PetscInt)point_counts[0];
  solid->report.damping_iterations = (PetscInt)point_counts[1];
  solid->report.newton_iterations = (PetscInt)point_counts[2];
  solid->report.linear_iterations = (PetscInt)point_counts[3];
  solid->report.elastic_solver = (PetscInt)point_counts[4];
  solid->report.chamber_correction = point_counts[5];
  solid->report.collisions = (PetscInt)counts[0];
  solid->report.position_iterations = (PetscInt)counts[1];
  solid->report.velocity_iterations = (PetscInt)counts[2];
  solid->report.push_outs = (PetscInt)counts[3];
  PetscFunctionReturn(0);
}

PetscErrorCode SolidLoad(Solid solid, PetscReal time, Archive archive)
{
  PetscFunctionBegin;
  PetscCall(ArchiveEnter(archive, "solids"));
  PetscCall(ArchiveReadShared(archive, "placements", solid_body_count(solid), PLACEMENT_NUMBERS,
                              (PetscReal *)solid->placements));
  PetscCall(ArchiveReadShared(archive, "twists", solid_body_count(solid), TWIST, (PetscReal *)solid->twists));
  PetscCall(ArchiveReadShared(archive, "particles", solid->points->count, DIM,
                              (PetscReal *)solid->points->position));
  PetscCall(ArchiveReadShared(archive, "particle_velocities", solid->points->count, DIM, solid->velocity));
  PetscCall(PointsLoadHistory(solid, archive));
  points_set_time(solid, time);
  PetscCall(CheckPlacements(solid, time, archive));
  PetscCall(CheckTwists(solid, archive));
  PetscCall(LoadReport(solid, archive));
  PetscCall(LoadDrift(solid, archive));
  mesh_surface_forget(solid->points);
  solid->points->has_forces = PETSC_FALSE;
  solid_refresh_mobilities(solid);
  PetscCall(ContactSetLoad(solid->contacts, solid, archive));
  PetscCall(ArchiveLeave(archive));
  PetscCall(PointsReportForces(solid));
  PetscFunctionReturn(0);
}

/* Surfaces of more vertices than this would fill memory and disk: each body is a point then. */
static const PetscInt64 most_vertices = 5000000;

/* The surfaces of this rank's share of the bodies, in the world. */
typedef struct {
  PetscInt   vertex_count, triangle_count;
  Vector3   *vertices, *velocities;
  PetscReal *speeds, *bodies; /* of vertices, of triangles */
  PetscInt (*triangles)[3];
} Picture;

/* Surfaces that were fetched to be drawn, by bodies; those of other bodies are here or drawn by others. */
typedef struct {
  PetscInt  count;
  PetscInt *bodies; /* the first with its form */
  Surface  *surfaces;
} FetchedSurfaces;

static PetscErrorCode FetchToDraw(Solid solid, PetscInt start, PetscInt end, FetchedSurfaces *fetched)
{
  PetscFunctionBegin;
  fetched->count = 0;
  PetscCall(PetscMalloc2(end - start, &fetched->bodies, end - start, &fetched->surfaces));
  for (PetscInt b = start; b < end; b++)
    if (solid->bodies[b].form->vertex_count && !solid->bodies[b].form->surface &&
        (b == start || solid->bodies[b].form != solid->bodies[b - 1].form))
      fetched->bodies[fetched->count++] = b;
  PetscCall(SolidFetchSurfaces(solid, fetched->count, fetched->bodies, fetched->surfaces));
  PetscFunctionReturn(0);
}

static PetscErrorCode DropFetched(FetchedSurfaces *fetched)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < fetched->count; n++)
    PetscCall(SurfaceDestroy(&fetched->surfaces[n]));
  PetscCall(PetscFree2(fetched->bodies, fetched->surfaces));
  PetscFunctionReturn(0);
}

/* Copies follow each other, so that it is the last one that begins at `body` or before. */
static Surface fetched_surface(const FetchedSurfaces *fetched, PetscInt body)
{
  PetscInt low = 0, high = fetched->count;

  while (high - low > 1) {
    const PetscInt middle = (low + high) / 2;

    if (fetched->bodies[middle] <= body)
      low = middle;
    else
      high = middle;
  }
  return fetched->surfaces[low];
}

/* A plane is drawn as a square around where the bodies that have an end began, twice as large. */
static void plane_corners(Solid solid, const RigidTransform *plane, Vector3 corners[4])
{
  PetscReal low[2] = {PETSC_MAX_REAL, PETSC_MAX_REAL}, high[2] = {-PETSC_MAX_REAL, -PETSC_MAX_REAL}, half;

  for (PetscInt b = 0; b < solid->body_count; b++) {
    const Form   *form = solid->bodies[b].form;
    const Vector3 at = rigid_apply_inverse(plane, solid->bodies[b].rest.position);

    for (PetscInt d = 0; d < 2 && form->kind != FORM_PLANE; d++) {
      low[d] = PetscMin(low[d], at.at[d] - form->reach);
      high[d] = PetscMax(high[d], at.at[d] + form->reach);
    }
  }
  if (low[X] > high[X]) /* nothing but planes */
    low[X] = low[Y] = -(high[X] = high[Y] = 0.5);
  half = PetscMax(high[X] - low[X], high[Y] - low[Y]);
  for (PetscInt c = 0; c < 4; c++)
    corners[c] = rigid_apply(plane, vector3(0.5 * (low[X] + high[X]) + (c == 1 || c == 2 ? half : -half),
                                            0.5 * (low[Y] + high[Y]) + (c < 2 ? -half : half), 0.));
}

/* The square of a plane counts too. */
static void count_body(const Form *form, Picture *picture)
{
  picture->vertex_count += form->vertex_count ? form->vertex_count : 4;
  picture->triangle_count += form->vertex_count ? form->triangle_count : 2;
}

/* Appends the surface of a body. */
static PetscErrorCode DrawBody(Solid solid, PetscInt b, const FetchedSurfaces *fetched, Picture *picture)
{
  static const PetscInt square[2][3] = {{0, 1, 2}, {0, 2, 3}};
  const RigidTransform *at = &solid->placements[b];
  const Form           *form = solid->bodies[b].form;
  const Vector3        *vertices = NULL;
  const PetscInt(*triangles)[3] = square;
  PetscInt vertex_count = 4, triangle_count = 2;
  Vector3  corners[4];

  PetscFunctionBegin;
  if (form->vertex_count)
    PetscCall(SurfaceGet(form->surface ? form->surface : fetched_surface(fetched, b), &vertex_count,
                         &vertices, &triangle_count, &triangles));
  else
    plane_corners(solid, at, corners);
  for (PetscInt v = 0; v < vertex_count; v++) {
    const Vector3  point = vertices ? rigid_apply(at, vertices[v]) : corners[v];
    const PetscInt n = picture->vertex_count + v;

    picture->vertices[n] = point;
    picture->velocities[n] = twist_at(&solid->twists[b], vector3_subtract(point, at->position));
    picture->speeds[n] = vector3_norm(picture->velocities[n]);
  }
  for (PetscInt t = 0; t < triangle_count; t++) {
    for (PetscInt c = 0; c < 3; c++)
      picture->triangles[picture->triangle_count + t][c] = picture->vertex_count + triangles[t][c];
    picture->bodies[picture->triangle_count + t] = (PetscReal)b;
  }
  count_body(form, picture);
  PetscFunctionReturn(0);
}

/* This rank's share of `total` things that all ranks have. */
static PetscErrorCode GetShare(FrameSeries frames, PetscInt total, PetscInt *start, PetscInt *end)
{
  PetscMPIInt rank, ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(frame_series_comm(frames), &rank));
  PetscCallMPI(MPI_Comm_size(frame_series_comm(frames), &ranks));
  *start = (PetscInt)((PetscInt64)total * rank / ranks);
  *end = (PetscInt)((PetscInt64)total * (rank + 1) / ranks);
  PetscFunctionReturn(0);
}

/* On the triangles of every body, its vector. */
static PetscErrorCode WriteBodyField(FrameSeries frames, const Picture *picture, const BodyField *field)
{
  Vector3 *vectors;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(picture->triangle_count, &vectors));
  for (PetscInt t = 0; t < picture->triangle_count; t++) {
    const PetscReal *value = &field->values[TWIST * (PetscInt)picture->bodies[t]];

    vectors[t] = vector3(value[X], value[Y], value[Z]);
  }
  PetscCall(FrameWriteMeshField(frames, field->name, FRAME_CELL, DIM, (const PetscReal *)vectors));
  PetscCall(PetscFree(vectors));
  PetscFunctionReturn(0);
}

/* Of the surfaces of all bodies. */
static PetscInt64 count_vertices(Solid solid)
{
  PetscInt64 total = 0;

  for (PetscInt b = 0; b < solid_body_count(solid); b++) {
    Picture counted = {0};

    count_body(solid->bodies[b].form, &counted);
    total += counted.vertex_count;
  }
  return total;
}

/* Bodies that are too many for surfaces: where their centres are, and how large they are. */
static PetscErrorCode WriteBodyPoints(Solid solid, FrameSeries frames, PetscInt field_count,
                                      const BodyField fields[])
{
  FrameMesh  mesh = {.name = "bodies", .cell_size = 1};
  PetscInt   start = 0, end = 0, *cells;
  Vector3   *points, *vectors;
  PetscReal *values;

  PetscFunctionBegin;
  PetscCall(GetShare(frames, solid_body_count(solid), &start, &end));
  mesh.vertex_count = mesh.cell_count = end - start;
  PetscCall(
      PetscMalloc4(end - start, &points, end - start, &vectors, end - start, &values, end - start, &cells));
  for (PetscInt n = 0; n < end - start; n++) {
    points[n] = solid->placements[start + n].position;
    vectors[n] = solid->twists[start + n].linear;
    cells[n] = n;
  }
  mesh.vertices = points;
  mesh.cells = cells;
  PetscCall(FrameBeginMesh(frames, &mesh));
  PetscCall(FrameWriteMeshField(frames, "velocity", FRAME_VERTEX, DIM, (const PetscReal *)vectors));
  for (PetscInt n = 0; n < end - start; n++)
    values[n] = vector3_norm(vectors[n]);
  PetscCall(FrameWriteMeshField(frames, "speed", FRAME_VERTEX, 1, values));
  for (PetscInt n = 0; n < end - start; n++)
    values[n] = solid->bodies[start + n].form->reach;
  PetscCall(FrameWriteMeshField(frames, "radius", FRAME_VERTEX, 1, values));
  for (PetscInt n = 0; n < end - start; n++)
    values[n] = (PetscReal)(start + n);
  PetscCall(FrameWriteMeshField(frames, "body", FRAME_CELL, 1, values));
  for (PetscInt f = 0; f < field_count; f++) {
    for (PetscInt n = 0; n < end - start; n++)
      memcpy(vectors[n].at, &fields[f].values[TWIST * (start + n)], sizeof(vectors[n].at));
    PetscCall(FrameWriteMeshField(frames, fields[f].name, FRAME_CELL, DIM, (const PetscReal *)vectors));
  }
  PetscCall(FrameEndMesh(frames));
  PetscCall(PetscFree4(points, vectors, values, cells));
  PetscFunctionReturn(0);
}

/* Allocates and fills it with the bodies from `start` on. */
static PetscErrorCode Draw(Solid solid, PetscInt start, PetscInt end, Picture *picture)
{
  Picture         counted = {0};
  FetchedSurfaces fetched;

  PetscFunctionBegin;
  for (PetscInt b = start; b < end; b++)
    count_body(solid->bodies[b].form, &counted);
  PetscCall(PetscMalloc5(counted.vertex_count + 1, &picture->vertices, counted.vertex_count,
                         &picture->velocities, counted.vertex_count, &picture->speeds, counted.triangle_count,
                         &picture->bodies, counted.triangle_count, &picture->triangles));
  PetscCall(FetchToDraw(solid, start, end, &fetched));
  for (PetscInt b = start; b < end; b++)
    PetscCall(DrawBody(solid, b, &fetched, picture));
  PetscCall(DropFetched(&fetched));
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteBodies(Solid solid, FrameSeries frames, PetscInt field_count,
                                  const BodyField fields[])
{
  Picture   picture = {0};
  FrameMesh mesh = {.name = "bodies", .cell_size = 3};
  PetscInt  start = 0, end = 0;

  PetscFunctionBegin;
  if (count_vertices(solid) > most_vertices) {
    PetscCall(WriteBodyPoints(solid, frames, field_count, fields));
    PetscFunctionReturn(0);
  }
  PetscCall(GetShare(frames, solid_body_count(solid), &start, &end));
  PetscCall(Draw(solid, start, end, &picture));
  mesh.vertex_count = picture.vertex_count;
  mesh.vertices = picture.vertices;
  mesh.cell_count = picture.triangle_count;
  mesh.cells = (const PetscInt *)picture.triangles;
  PetscCall(FrameBeginMesh(frames, &mesh));
  PetscCall(
      FrameWriteMeshField(frames, "velocity", FRAME_VERTEX, DIM, (const PetscReal *)picture.velocities));
  PetscCall(FrameWriteMeshField(frames, "speed", FRAME_VERTEX, 1, picture.speeds));
  PetscCall(FrameWriteMeshField(frames, "body", FRAME_CELL, 1, picture.bodies));
  for (PetscInt f = 0; f < field_count; f++)
    PetscCall(WriteBodyField(frames, &picture, &fields[f]));
  PetscCall(FrameEndMesh(frames));
  PetscCall(
      PetscFree5(picture.vertices, picture.velocities, picture.speeds, picture.bodies, picture.triangles));
  PetscFunctionReturn(0);
}

/* Contacts are few, so the first rank writes them all. */
static PetscErrorCode WriteContacts(Solid solid, FrameSeries frames)
{
  const ContactList *list = &solid->contacts->now;
  FrameMesh          mesh = {.name = "contacts", .cell_size = 1};
  Vector3           *points, *normals, *impulses;
  PetscReal         *gaps;
  PetscInt          *cells;
  PetscMPIInt        rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(frame_series_comm(frames), &rank));
  mesh.vertex_count = mesh.cell_count = rank ? 0 : list->place_count;
  PetscCall(PetscMalloc5(mesh.cell_count, &points, mesh.cell_count, &normals, mesh.cell_count, &impulses,
                         mesh.cell_count, &gaps, mesh.cell_count, &cells));
  for (PetscInt p = 0; p < mesh.cell_count; p++) {
    const ContactPlace *place = &list->places[p];

    points[p] = place->touch.point;
    normals[p] = place->touch.normal;
    impulses[p] = place->impulses[PHASE_VELOCITY];
    gaps[p] = place->touch.gap;
    cells[p] = p;
  }
  mesh.vertices = points;
  mesh.cells = cells;
  PetscCall(FrameBeginMesh(frames, &mesh));
  PetscCall(FrameWriteMeshField(frames, "normal", FRAME_VERTEX, DIM, (const PetscReal *)normals));
  PetscCall(FrameWriteMeshField(frames, "impulse", FRAME_VERTEX, DIM, (const PetscReal *)impulses));
  PetscCall(FrameWriteMeshField(frames, "gap", FRAME_VERTEX, 1, gaps));
  PetscCall(FrameEndMesh(frames));
  PetscCall(PetscFree5(points, normals, impulses, gaps, cells));
  PetscFunctionReturn(0);
}

/* What the material of a mesh measures, of all elements. */
static PetscErrorCode Measure(Solid solid, const DeformableMesh *mesh, PetscReal ratios[],
                              PetscReal stresses[], PetscReal strains[])
{
  const PetscInt count = mesh_own_elements(mesh);
  const Force   *force = &mesh->forces[0];
  PetscReal     *ratio, *stress, *strain;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(count, &ratio, count, &stress, count, &strain));
  force->kind->measure(force->data, ratio, stress);
  force->kind->plastic_strains(force->data, strain);
  PetscCall(MeshGatherElements(solid, mesh, 1, ratio, ratios));
  PetscCall(MeshGatherElements(solid, mesh, 1, stress, stresses));
  PetscCall(MeshGatherElements(solid, mesh, 1, strain, strains));
  PetscCall(PetscFree3(ratio, stress, strain));
  PetscFunctionReturn(0);
}

/* Elements of all meshes of a kind, with det F and von Mises' stress, by their corners; the first rank, which
   has them all, writes. */
static PetscErrorCode WriteElements(Solid solid, FrameSeries frames, MeshKind kind, const char name[])
{
  const Points  *points = solid->points;
  const PetscInt corners = mesh_corners(kind);
  FrameMesh      mesh = {.name = name, .cell_size = corners, .vertices = points->position};
  PetscInt       total = 0, e = 0, *cells;
  PetscReal     *ratios, *stresses, *numbers, *plastic, *strains;
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(frame_series_comm(frames), &rank));
  for (PetscInt m = 0; m < points->mesh_count; m++)
    total += points->meshes[m].mesh->kind == kind ? points->meshes[m].mesh->element_count : 0;
  if (!total)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc6(corners * total, &cells, total, &ratios, total, &stresses, total, &numbers, total,
                         &plastic, total, &strains));
  PetscCall(PointsFindForces(solid));
  for (PetscInt m = 0; m < points->mesh_count; m++) {
    const DeformableMesh *one = &points->meshes[m];
    const PetscInt        count = one->mesh->kind == kind ? one->mesh->element_count : 0;

    for (PetscInt k = 0; k < corners * count; k++)
      cells[corners * e + k] = one->elements[one->mesh->nodes * (k / corners) + k % corners];
    if (count)
      PetscCall(Measure(solid, one, &ratios[e], &stresses[e], &plastic[e]));
    if (count)
      mesh_strains(points, one, &strains[e]);
    for (PetscInt k = 0; k < count; k++)
      numbers[e++] = (PetscReal)m;
  }
  mesh.vertex_count = rank ? 0 : points->count;
  mesh.cell_count = rank ? 0 : total;
  mesh.cells = cells;
  PetscCall(FrameBeginMesh(frames, &mesh));
  PetscCall(FrameWriteMeshField(frames, "velocity", FRAME_VERTEX, DIM, (const PetscReal *)points->velocity));
  PetscCall(FrameWriteMeshField(frames, "det_F", FRAME_CELL, 1, ratios));
  PetscCall(FrameWriteMeshField(frames, "strain", FRAME_CELL, 1, strains));
  PetscCall(FrameWriteMeshField(frames, "stress", FRAME_CELL, 1, stresses));
  if (solid_can_yield(solid))
    PetscCall(FrameWriteMeshField(frames, "plastic_strain", FRAME_CELL, 1, plastic));
  PetscCall(FrameWriteMeshField(frames, "mesh", FRAME_CELL, 1, numbers));
  PetscCall(FrameEndMesh(frames));
  PetscCall(PetscFree6(cells, ratios, stresses, numbers, plastic, strains));
  PetscFunctionReturn(0);
}

/* Of the triangles of all surfaces: the mesh, and what the element behind has. */
static PetscErrorCode WriteSkinFields(Solid solid, FrameSeries frames, PetscInt total)
{
  const Points *points = solid->points;
  PetscReal    *numbers, *ratios, *stresses, *plastic, *strains;
  PetscInt      f = 0;

  PetscFunctionBegin;
  PetscCall(
      PetscMalloc5(total, &numbers, total, &ratios, total, &stresses, total, &plastic, total, &strains));
  for (PetscInt m = 0; m < points->mesh_count; m++) {
    const DeformableMesh *one = &points->meshes[m];
    const PetscInt        count = one->mesh->element_count;
    PetscReal            *ratio, *stress, *set, *strain;

    if (!one->face_count) /* a cloud */
      continue;
    PetscCall(PetscMalloc4(count, &ratio, count, &stress, count, &set, count, &strain));
    PetscCall(Measure(solid, one, ratio, stress, set));
    mesh_strains(points, one, strain);
    for (PetscInt k = 0; k < one->face_count && total; k++, f++) {
      numbers[f] = (PetscReal)m;
      ratios[f] = ratio[one->behind[k]];
      stresses[f] = stress[one->behind[k]];
      plastic[f] = set[one->behind[k]];
      strains[f] = strain[one->behind[k]];
    }
    PetscCall(PetscFree4(ratio, stress, set, strain));
  }
  PetscCall(FrameWriteMeshField(frames, "mesh", FRAME_CELL, 1, numbers));
  PetscCall(FrameWriteMeshField(frames, "det_F", FRAME_CELL, 1, ratios));
  PetscCall(FrameWriteMeshField(frames, "strain", FRAME_CELL, 1, strains));
  PetscCall(FrameWriteMeshField(frames, "stress", FRAME_CELL, 1, stresses));
  if (solid_can_yield(solid))
    PetscCall(FrameWriteMeshField(frames, "plastic_strain", FRAME_CELL, 1, plastic));
  PetscCall(PetscFree5(numbers, ratios, stresses, plastic, strains));
  PetscFunctionReturn(0);
}

static PetscInt shown_point(const DeformableMesh *mesh, PetscInt vertex)
{
  return mesh->shown ? mesh->shown[vertex] : mesh->first + vertex;
}

/* The surfaces of all meshes, where one is not the boundary of its elements; the first rank writes. */
static PetscErrorCode WriteSkins(Solid solid, FrameSeries frames)
{
  const Points *points = solid->points;
  FrameMesh     mesh = {.name = "skins", .cell_size = 3, .vertices = points->position};
  PetscInt      total = 0, f = 0, *cells;
  PetscMPIInt   rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(frame_series_comm(frames), &rank));
  for (PetscInt m = 0; m < points->mesh_count && !rank; m++)
    total += points->meshes[m].face_count;
  PetscCall(PetscMalloc1(3 * total, &cells));
  for (PetscInt m = 0; m < points->mesh_count && !rank; m++)
    for (PetscInt k = 0; k < 3 * points->meshes[m].face_count; k++)
      cells[f++] = shown_point(&points->meshes[m], points->meshes[m].faces[k / 3][k % 3]);
  mesh.vertex_count = rank ? 0 : points->count;
  mesh.cell_count = total;
  mesh.cells = cells;
  PetscCall(FrameBeginMesh(frames, &mesh));
  PetscCall(FrameWriteMeshField(frames, "velocity", FRAME_VERTEX, DIM, (const PetscReal *)points->velocity));
  PetscCall(WriteSkinFields(solid, frames, total));
  PetscCall(FrameEndMesh(frames));
  PetscCall(PetscFree(cells));
  PetscFunctionReturn(0);
}

/* The points of all clouds; the first rank writes. */
static PetscErrorCode WriteClouds(Solid solid, FrameSeries frames)
{
  const Points *points = solid->points;
  FrameMesh     mesh = {.name = "clouds", .cell_size = 1};
  Vector3      *places, *velocities;
  PetscInt     *cells, total = 0, count = 0;
  PetscReal    *numbers;
  PetscMPIInt   rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(frame_series_comm(frames), &rank));
  for (PetscInt m = 0; m < points->mesh_count; m++)
    total += points->meshes[m].mesh->kind == MESH_POINTS ? points->meshes[m].mesh->vertex_count : 0;
  if (!total)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc4(total, &places, total, &velocities, total, &cells, total, &numbers));
  for (PetscInt m = 0; m < points->mesh_count && !rank; m++) {
    const DeformableMesh *one = &points->meshes[m];

    for (PetscInt v = 0; v < one->mesh->vertex_count && one->mesh->kind == MESH_POINTS; v++, count++) {
      places[count] = points->position[one->first + v];
      velocities[count] = points->velocity[one->first + v];
      cells[count] = count;
      numbers[count] = (PetscReal)m;
    }
  }
  mesh.vertex_count = mesh.cell_count = count;
  mesh.vertices = places;
  mesh.cells = cells;
  PetscCall(FrameBeginMesh(frames, &mesh));
  PetscCall(FrameWriteMeshField(frames, "velocity", FRAME_VERTEX, DIM, (const PetscReal *)velocities));
  PetscCall(FrameWriteMeshField(frames, "mesh", FRAME_CELL, 1, numbers));
  PetscCall(FrameEndMesh(frames));
  PetscCall(PetscFree4(places, velocities, cells, numbers));
  PetscFunctionReturn(0);
}

static PetscBool has_own_surface(const Points *points)
{
  for (PetscInt m = 0; m < points->mesh_count; m++)
    if (points->meshes[m].mesh->surface || points->meshes[m].shown)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscErrorCode SolidWriteFrame(Solid solid, FrameSeries frames, PetscInt field_count,
                               const BodyField fields[])
{
  PetscFunctionBegin;
  PetscCall(WriteBodies(solid, frames, field_count, fields));
  PetscCall(WriteContacts(solid, frames));
  PetscCall(WriteElements(solid, frames, MESH_TETRAHEDRA, "deformables"));
  PetscCall(WriteElements(solid, frames, MESH_TRIANGLES, "sheets"));
  PetscCall(WriteElements(solid, frames, MESH_SEGMENTS, "ropes"));
  PetscCall(WriteClouds(solid, frames));
  if (has_own_surface(solid->points))
    PetscCall(WriteSkins(solid, frames));
  PetscFunctionReturn(0);
}
