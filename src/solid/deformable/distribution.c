/* Who owns which points, and what travels (distribution.h). Own points come from a partition of the graph
   whose edges join points of an element, and parents of such points where they are bound. */
#include "distribution.h"

#include "../contact/mesh/mesh_contact.h"
#include "../contact/point_contact.h"
#include "point_matrix.h"

#include <millrace/partition.h>
#include <petscsf.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Of points that all ranks know, in the order of their owners. */
typedef struct {
  PetscInt     count, room;
  PetscInt    *points;
  Vector3     *values;
  PetscMPIInt *counts, *starts; /* of numbers, by rank */
} PointGather;

typedef struct {
  PetscReal   ratio; /* least, of the elements of a mesh whose material does not survive it */
  PetscMPIInt element;
} LeastElement;

typedef struct _p_Distribution {
  MPI_Comm     comm; /* borrowed */
  PetscMPIInt  rank, size;
  PetscInt    *owner;  /* of every point */
  PetscBool   *is_own; /* of every point */
  PetscSF      copies;
  MPI_Datatype vector;
  PointGather  all, touched, carried, surface; /* the third by free bodies; of meshes that meet */
  SolidWork    work;
  PetscReal    since, waited; /* s: of processor time; of the wall, when it began to wait */
  PetscBool    is_working;
  PetscReal    earlier; /* s: of work when the points were divided */
  PetscInt     steps;   /* since then */

  ForceReport   report; /* of all forces and ranks */
  LeastElement *least;  /* of each mesh */
} * Distribution;

static PetscReal processor_time(void)
{
  struct timespec now;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (PetscReal)now.tv_sec + 1e-9 * (PetscReal)now.tv_nsec;
}

/* A rank that waits for others, or moves data, does not work. */
static void stop_clock(Distribution d)
{
  if (!d->is_working)
    return;
  d->work.seconds += processor_time() - d->since;
  d->waited = MPI_Wtime();
}

static void start_clock(Distribution d)
{
  if (!d->is_working)
    return;
  d->work.waiting += MPI_Wtime() - d->waited;
  d->since = processor_time();
}

void distribution_begin(Points *points)
{
  if (!points->distribution)
    return;
  points->distribution->is_working = PETSC_TRUE;
  points->distribution->since = processor_time();
  points->distribution->steps++;
}

void distribution_end(Points *points)
{
  if (!points->distribution)
    return;
  stop_clock(points->distribution);
  points->distribution->is_working = PETSC_FALSE;
}

PetscBool points_owns(const Points *points, PetscInt point)
{
  return !points->distribution || points->distribution->is_own[point] ? PETSC_TRUE : PETSC_FALSE;
}

PetscMPIInt points_owner(const Points *points, PetscInt point)
{
  return points->distribution ? (PetscMPIInt)points->distribution->owner[point] : 0;
}

MPI_Comm points_comm(const Points *points)
{
  return points->distribution ? points->distribution->comm : PETSC_COMM_SELF;
}

/* Stretches of points that are marked, of which all are if nothing is; of free ones alone. */
static PetscErrorCode FindRuns(const Points *points, const PetscBool marks[], PetscBool only_free,
                               PointStretches *runs)
{
  PetscInt end = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(points->count, &runs->list)); /* at most */
  runs->count = 0;
  for (PetscInt p = 0; p < points->count; p++) {
    if ((marks && !marks[p]) || (only_free && !(points->inverse_mass[p] > 0.)))
      continue;
    if (!runs->count || end != p)
      runs->list[runs->count++].first = p;
    runs->list[runs->count - 1].end = end = p + 1;
  }
  PetscCall(PetscRealloc(sizeof(*runs->list) * (size_t)PetscMax(1, runs->count), &runs->list));
  PetscFunctionReturn(0);
}

/* What is done by every rank alike as yet: springs of bindings and skins, and volumes that are kept. */
static PetscBool can_be_shared(Solid solid)
{
  const Points *points = solid->points;

  if (!points->mesh_count || solid->config->in_fluid)
    return PETSC_FALSE;
  for (PetscInt b = 0; b < points->mesh_binding_count; b++)
    if (points->mesh_bindings[b].config->kind != BINDING_HARD)
      return PETSC_FALSE;
  for (PetscInt m = 0; m < points->mesh_count; m++) {
    const DeformableMesh *mesh = &points->meshes[m];

    if (mesh_is_soft(mesh) || mesh->material->volume != SOLID_VOLUME_FREE)
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* The points that a point moves with: itself, or its parents. */
static PetscInt movers(const Points *points, const PetscInt *point, const PetscInt **list)
{
  const PointBindings *bindings = &points->bindings;
  const PetscInt       k = bindings->index[*point];

  *list = k < 0 ? point : &bindings->parents[bindings->first[k]];
  return k < 0 ? 1 : bindings->first[k + 1] - bindings->first[k];
}

enum { WORK_UNIT = 60 }; /* of a linear tetrahedron: nodes of all kinds of elements divide it */

/* Of an element, in tetrahedra of a law without singular values: one for each point of its rule. */
static PetscInt element_work(const DeformableMesh *mesh)
{
  const PetscInt rule = mesh->mesh->kind == MESH_TETRAHEDRA && mesh->mesh->nodes == 4 ? 1 : 4;

  return rule * (force_kind(MaterialModels[mesh->material->model])->is_slow ? 6 : 1);
}

/* For each pair of points that an element joins. */
typedef void (*VisitPair)(void *context, PetscInt a, PetscInt b);

static void visit_pairs(const Points *points, const PetscInt nodes[], PetscInt count, VisitPair visit,
                        void *context)
{
  for (PetscInt i = 0; i < count; i++)
    for (PetscInt j = 0; j < count; j++) {
      const PetscInt *from, *to, from_count = movers(points, &nodes[i], &from),
                                 to_count = movers(points, &nodes[j], &to);

      for (PetscInt k = 0; k < from_count * to_count; k++)
        if (from[k / to_count] != to[k % to_count])
          visit(context, from[k / to_count], to[k % to_count]);
    }
}

/* The vertices from `start` on. */
typedef struct {
  PetscInt       start;
  PartitionGraph graph;
  PetscInt      *filled;
} GraphSlice;

static void count_pair(void *context, PetscInt a, PetscInt b)
{
  GraphSlice *slice = context;

  (void)b;
  if (a >= slice->start && a < slice->start + slice->graph.count)
    slice->graph.first[a - slice->start + 1]++;
}

static void add_pair(void *context, PetscInt a, PetscInt b)
{
  GraphSlice    *slice = context;
  const PetscInt n = a - slice->start;

  if (n >= 0 && n < slice->graph.count)
    slice->graph.neighbours[slice->graph.first[n] + slice->filled[n]++] = b;
}

static void visit_elements(const Points *points, VisitPair visit, void *context)
{
  for (PetscInt m = 0; m < points->mesh_count; m++) {
    const Mesh mesh = points->meshes[m].mesh;

    for (PetscInt e = 0; e < mesh->element_count && mesh->kind != MESH_POINTS; e++)
      visit_pairs(points, &points->meshes[m].elements[mesh->nodes * e], mesh->nodes, visit, context);
  }
}

static void add_work(const Points *points, GraphSlice *slice)
{
  for (PetscInt m = 0; m < points->mesh_count; m++) {
    const DeformableMesh *mesh = &points->meshes[m];
    const PetscInt        nodes = mesh->mesh->nodes;

    for (PetscInt k = 0; k < nodes * mesh->mesh->element_count && mesh->mesh->kind != MESH_POINTS; k++) {
      const PetscInt n = mesh->elements[k] - slice->start;

      if (n >= 0 && n < slice->graph.count)
        slice->graph.work[n] += WORK_UNIT * element_work(mesh) / nodes;
    }
  }
}

/* Every neighbour once. */
static PetscErrorCode MergeNeighbours(PartitionGraph *graph)
{
  PetscInt end = 0;

  PetscFunctionBegin;
  for (PetscInt n = 0, first = 0; n < graph->count; n++) {
    const PetscInt next = graph->first[n + 1];
    PetscInt       count = next - first;

    PetscCall(PetscSortRemoveDupsInt(&count, &graph->neighbours[first]));
    memmove(&graph->neighbours[end], &graph->neighbours[first], (size_t)count * sizeof(PetscInt));
    end += count;
    graph->first[n + 1] = end;
    first = next;
  }
  PetscFunctionReturn(0);
}

/* Work at a point is that of what moves it. */
static void add_extra(const Points *points, const PetscInt extra[], GraphSlice *slice)
{
  for (PetscInt p = 0; p < points->count && extra; p++) {
    const PetscInt *from, count = extra[p] ? movers(points, &p, &from) : 0;

    for (PetscInt k = 0; k < count; k++)
      if (from[k] >= slice->start && from[k] < slice->start + slice->graph.count)
        slice->graph.work[from[k] - slice->start] += extra[p] / count;
  }
}

static PetscErrorCode CreateSlice(const Points *points, const PetscInt extra[], PetscInt start, PetscInt end,
                                  GraphSlice *slice)
{
  PetscFunctionBegin;
  *slice = (GraphSlice){.start = start, .graph = {.count = end - start}};
  PetscCall(PetscCalloc3(end - start + 1, &slice->graph.first, end - start + 1, &slice->graph.work,
                         end - start + 1, &slice->filled));
  visit_elements(points, count_pair, slice);
  for (PetscInt n = 0; n < end - start; n++)
    slice->graph.first[n + 1] += slice->graph.first[n];
  PetscCall(PetscMalloc1(slice->graph.first[end - start] + 1, &slice->graph.neighbours));
  visit_elements(points, add_pair, slice);
  add_work(points, slice);
  add_extra(points, extra, slice);
  PetscCall(MergeNeighbours(&slice->graph));
  PetscFunctionReturn(0);
}

/* Ranks with fewer points than this would mostly compute what others do. */
static const PetscInt least_points = 60;

/* Bound points are where their first parents are. */
typedef PetscErrorCode (*PartitionTool)(MPI_Comm, Partitioner, const PartitionGraph *, PetscInt, PetscInt[]);
static PetscErrorCode FindOwners(const Points *points, const PetscInt extra[], PartitionTool Find,
                                 Distribution d)
{
  const PetscInt parts = PetscMax(1, PetscMin(d->size, points->count / least_points));
  PetscMPIInt   *counts, *starts;
  GraphSlice     slice;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(d->size, &counts, d->size + 1, &starts));
  for (PetscMPIInt r = 0; r <= d->size; r++)
    starts[r] = (PetscMPIInt)((PetscInt64)points->count * r / d->size);
  for (PetscMPIInt r = 0; r < d->size; r++)
    counts[r] = starts[r + 1] - starts[r];
  PetscCall(CreateSlice(points, extra, starts[d->rank], starts[d->rank + 1], &slice));
  PetscCall(Find(d->comm, partitioner_best(), &slice.graph, parts, &d->owner[starts[d->rank]]));
  PetscCallMPI(
      MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, d->owner, counts, starts, MPIU_INT, d->comm));
  for (PetscInt k = 0; k < points->bindings.count; k++)
    d->owner[points->bindings.points[k]] = d->owner[points->bindings.parents[points->bindings.first[k]]];
  PetscCall(PetscFree(slice.graph.neighbours));
  PetscCall(PetscFree3(slice.graph.first, slice.graph.work, slice.filled));
  PetscCall(PetscFree2(counts, starts));
  PetscFunctionReturn(0);
}

/* How many of an element's points are marked. */
static PetscInt marked_nodes(const DeformableMesh *mesh, PetscInt element, const PetscBool marks[])
{
  PetscInt count = 0;

  for (PetscInt c = 0; c < mesh->mesh->nodes; c++)
    count += marks[mesh->elements[mesh->mesh->nodes * element + c]] ? 1 : 0;
  return count;
}

static void mark_nodes(const DeformableMesh *mesh, PetscInt element, PetscBool marks[])
{
  for (PetscInt c = 0; c < mesh->mesh->nodes; c++)
    marks[mesh->elements[mesh->mesh->nodes * element + c]] = PETSC_TRUE;
}

/* Over so many sides the springs of bent triangles reach, and as many more what their weights come from. */
enum { BENDING_REACH = 4 };

/* Elements beside those whose points are marked. */
static void take_neighbours(const DeformableMesh *mesh, PetscBool taken[], PetscBool marks[])
{
  for (PetscInt e = 0; e < mesh->mesh->element_count; e++)
    taken[e] = marked_nodes(mesh, e, marks) >= 2 ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt e = 0; e < mesh->mesh->element_count; e++)
    if (taken[e])
      mark_nodes(mesh, e, marks);
}

/* Elements of the mesh that act on points where forces are needed, and what these are at. */
static PetscErrorCode TakeElements(DeformableMesh *mesh, const PetscBool needed[], PetscBool here[])
{
  const PetscInt count = mesh->mesh->element_count, nodes = mesh->mesh->nodes;
  PetscBool     *taken;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count + 1, &taken));
  for (PetscInt e = 0; e < count; e++) {
    taken[e] = marked_nodes(mesh, e, needed) ? PETSC_TRUE : PETSC_FALSE;
    if (taken[e])
      mark_nodes(mesh, e, here);
  }
  for (PetscInt k = 0; k < BENDING_REACH && mesh->material->bending > 0.; k++)
    take_neighbours(mesh, taken, here);
  mesh->part_count = 0;
  for (PetscInt e = 0; e < count; e++)
    mesh->part_count += taken[e] ? 1 : 0;
  PetscCall(PetscMalloc3(mesh->part_count + 1, &mesh->part, nodes * mesh->part_count + 1,
                         &mesh->part_elements, mesh->part_count + 1, &mesh->part_filled));
  for (PetscInt e = 0, n = 0; e < count; e++) {
    if (!taken[e])
      continue;
    mark_nodes(mesh, e, here);
    PetscCall(PetscArraycpy(&mesh->part_elements[nodes * n], &mesh->elements[nodes * e], nodes));
    mesh->part_filled[n] = mesh->mesh->filled ? mesh->mesh->filled[e] : 1.;
    mesh->part[n++] = e;
  }
  PetscCall(PetscFree(taken));
  PetscFunctionReturn(0);
}

/* Bound points, where one of them is enough: those with a parent that is owned need their forces, those here
   their parents. */
static void mark_bound(const Points *points, const PetscBool is_own[], PetscBool needed[])
{
  const PointBindings *bindings = &points->bindings;

  for (PetscInt k = 0; k < bindings->count; k++)
    for (PetscInt n = bindings->first[k]; n < bindings->first[k + 1]; n++)
      if (is_own[bindings->parents[n]])
        needed[bindings->points[k]] = PETSC_TRUE;
}

static PetscErrorCode MarkParents(PointBindings *bindings, PetscBool here[])
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(bindings->count + 1, &bindings->here));
  bindings->here_count = 0;
  for (PetscInt k = 0; k < bindings->count; k++) {
    if (!here[bindings->points[k]])
      continue;
    bindings->here[bindings->here_count++] = k;
    for (PetscInt n = bindings->first[k]; n < bindings->first[k + 1]; n++)
      here[bindings->parents[n]] = PETSC_TRUE;
  }
  PetscFunctionReturn(0);
}

/* What others own of what is here and moves by itself. */
static PetscErrorCode CreateCopies(const Points *points, Distribution d, const PetscBool here[])
{
  PetscInt     count = 0, *leaves;
  PetscSFNode *roots;

  PetscFunctionBegin;
  for (PetscInt p = 0; p < points->count; p++)
    count += here[p] && !d->is_own[p] && points->inverse_mass[p] > 0. ? 1 : 0;
  PetscCall(PetscMalloc1(count, &leaves));
  PetscCall(PetscMalloc1(count, &roots));
  for (PetscInt p = 0, n = 0; p < points->count; p++) {
    if (!here[p] || d->is_own[p] || !(points->inverse_mass[p] > 0.))
      continue;
    leaves[n] = p;
    roots[n++] = (PetscSFNode){d->owner[p], p};
  }
  PetscCall(PetscSFCreate(d->comm, &d->copies));
  PetscCall(
      PetscSFSetGraph(d->copies, points->count, count, leaves, PETSC_OWN_POINTER, roots, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(d->copies));
  PetscCallMPI(MPI_Type_contiguous(DIM, MPIU_REAL, &d->vector));
  PetscCallMPI(MPI_Type_commit(&d->vector));
  d->work.copies = count;
  PetscFunctionReturn(0);
}

/* `points` are sorted by their owners here. */
static PetscErrorCode SetGather(Distribution d, PetscInt count, const PetscInt points[], PointGather *gather)
{
  PetscFunctionBegin;
  if (!gather->counts)
    PetscCall(PetscCalloc2(d->size, &gather->counts, d->size + 1, &gather->starts));
  if (count > gather->room) {
    gather->room = 2 * count;
    PetscCall(PetscRealloc(sizeof(*gather->points) * (size_t)gather->room, &gather->points));
    PetscCall(PetscRealloc(sizeof(*gather->values) * (size_t)gather->room, &gather->values));
  }
  gather->count = count;
  PetscCall(PetscArrayzero(gather->counts, d->size));
  for (PetscInt n = 0; n < count; n++)
    gather->counts[d->owner[points[n]]]++;
  for (PetscMPIInt r = 0; r < d->size; r++)
    gather->starts[r + 1] = gather->starts[r] + gather->counts[r];
  for (PetscInt n = 0; n < count; n++)
    gather->points[gather->starts[d->owner[points[n]]]++] = points[n];
  for (PetscMPIInt r = d->size; r > 0; r--)
    gather->starts[r] = gather->starts[r - 1];
  gather->starts[0] = 0;
  PetscFunctionReturn(0);
}

static PetscErrorCode GatherDestroy(PointGather *gather)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(gather->points));
  PetscCall(PetscFree(gather->values));
  PetscCall(PetscFree2(gather->counts, gather->starts));
  PetscFunctionReturn(0);
}

static PetscErrorCode GatherValues(Distribution d, const PointGather *gather, Vector3 values[])
{
  PetscFunctionBegin;
  stop_clock(d);
  for (PetscInt n = gather->starts[d->rank]; n < gather->starts[d->rank + 1]; n++)
    gather->values[n] = values[gather->points[n]];
  PetscCallMPI(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, gather->values, gather->counts,
                              gather->starts, d->vector, d->comm));
  for (PetscInt n = 0; n < gather->count; n++)
    values[gather->points[n]] = gather->values[n];
  start_clock(d);
  PetscFunctionReturn(0);
}

static PetscErrorCode SetGathers(Solid solid, Distribution d)
{
  const Points *points = solid->points;
  PetscInt      count = 0, *all;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(points->count, &all));
  for (PetscInt p = 0; p < points->count; p++)
    all[p] = p;
  PetscCall(SetGather(d, points->count, all, &d->all));
  PetscCall(SetGather(d, 0, NULL, &d->touched));
  for (PetscInt k = 0; k < points->carried_count; k++) {
    const PetscInt p = points->carried[k], b = points->carrier[p];

    if (b >= 0 && body_is_free(&solid->bodies[b]))
      all[count++] = p;
  }
  PetscCall(SetGather(d, count, all, &d->carried));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(0);
}

static PetscErrorCode Share(Solid solid, Distribution d)
{
  Points    *points = solid->points;
  PetscBool *needed, *here;

  PetscFunctionBegin;
  d->work.elements = d->work.points = 0;
  PetscCall(PetscCalloc2(points->count, &needed, points->count, &here));
  for (PetscInt p = 0; p < points->count; p++)
    d->is_own[p] = needed[p] = d->owner[p] == d->rank ? PETSC_TRUE : PETSC_FALSE;
  mark_bound(points, d->is_own, needed);
  PetscCall(PetscArraycpy(here, needed, points->count));
  for (PetscInt m = 0; m < points->mesh_count; m++) {
    PetscCall(TakeElements(&points->meshes[m], needed, here));
    d->work.elements += points->meshes[m].part_count;
  }
  PetscCall(MarkParents(&points->bindings, here));
  PetscCall(CreateCopies(points, d, here));
  PetscCall(SetGathers(solid, d));
  PetscCall(FindRuns(points, here, PETSC_FALSE, &points->here));
  PetscCall(FindRuns(points, d->is_own, PETSC_TRUE, &points->own));
  for (PetscInt r = 0; r < points->own.count; r++)
    d->work.points += points->own.list[r].end - points->own.list[r].first;
  PetscCall(PetscFree2(needed, here));
  PetscFunctionReturn(0);
}

PetscErrorCode PointsFindOwn(Points *points)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(points->own.list));
  PetscCall(FindRuns(points, points->counts, PETSC_TRUE, &points->own));
  PetscFunctionReturn(0);
}

PetscErrorCode PointsDistribute(Solid solid)
{
  Points      *points = solid->points;
  PetscMPIInt  size;
  Distribution d;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(solid->comm, &size));
  if (size == 1 || !can_be_shared(solid)) {
    PetscCall(FindRuns(points, NULL, PETSC_FALSE, &points->here));
    PetscCall(PointsFindOwn(points));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscNew(&d));
  d->comm = solid->comm;
  PetscCallMPI(MPI_Comm_rank(d->comm, &d->rank));
  d->size = size;
  PetscCall(PetscCalloc3(points->count, &d->owner, points->count, &d->is_own, points->mesh_count, &d->least));
  PetscCall(FindOwners(points, NULL, PartitionFind, d));
  PetscCall(Share(solid, d));
  points->distribution = d;
  points->counts = d->is_own;
  PetscFunctionReturn(0);
}

/* What Share makes. */
static PetscErrorCode DestroyShares(Points *points)
{
  Distribution d = points->distribution;

  PetscFunctionBegin;
  PetscCall(PetscFree(points->here.list));
  PetscCall(PetscFree(points->own.list));
  PetscCall(PetscFree(points->bindings.here));
  if (!d)
    PetscFunctionReturn(0);
  for (PetscInt m = 0; m < points->mesh_count; m++)
    PetscCall(
        PetscFree3(points->meshes[m].part, points->meshes[m].part_elements, points->meshes[m].part_filled));
  PetscCall(PetscSFDestroy(&d->copies));
  PetscCallMPI(MPI_Type_free(&d->vector));
  PetscFunctionReturn(0);
}

PetscErrorCode DistributionDestroy(Points *points)
{
  Distribution d = points->distribution;

  PetscFunctionBegin;
  PetscCall(DestroyShares(points));
  if (!d)
    PetscFunctionReturn(0);
  PetscCall(GatherDestroy(&d->all));
  PetscCall(GatherDestroy(&d->touched));
  PetscCall(GatherDestroy(&d->carried));
  PetscCall(GatherDestroy(&d->surface));
  PetscCall(PetscFree3(d->owner, d->is_own, d->least));
  PetscCall(PetscFree(points->distribution));
  PetscFunctionReturn(0);
}

PetscErrorCode PointsDivideAnew(Solid solid, const PetscInt extra[])
{
  Points      *points = solid->points;
  Distribution d = points->distribution;
  PetscReal   *memory;

  PetscFunctionBegin;
  if (!d)
    PetscFunctionReturn(0);
  PetscCall(PointsGatherHistory(solid, &memory));
  PetscCall(PointMatrixDestroy(&points->matrix));
  PetscCall(PointMatrixDestroy(&points->drag_matrix));
  PetscCall(DestroyShares(points));
  PetscCall(FindOwners(points, extra, PartitionImprove, d));
  PetscCall(Share(solid, d));
  PetscCall(PointsMakeForces(solid));
  PetscCall(PointsTakeHistory(solid, memory));
  if (points->surface)
    PetscCall(PointsShareSurface(solid));
  d->earlier = d->work.seconds;
  d->steps = 0;
  d->work.divisions++;
  PetscFunctionReturn(0);
}

/* Of a pair of features that a rank measures, in parts of the work of an element. */
enum { PAIR_WORK = 2 * WORK_UNIT / 3 };

/* What ranks have measured at each point since it was divided, per substep, in the units of elements. */
static PetscErrorCode FindContactWork(Solid solid, PetscInt **extra)
{
  const Points *points = solid->points;

  PetscFunctionBegin;
  *extra = NULL;
  if (!points->surface)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(points->count, extra));
  PetscCallMPI(MPI_Allreduce(points->surface->visits, *extra, (PetscMPIInt)points->count, MPIU_INT, MPI_SUM,
                             points->distribution->comm));
  for (PetscInt p = 0; p < points->count; p++)
    (*extra)[p] = (PetscInt)((PetscReal)PAIR_WORK * (PetscReal)(*extra)[p] /
                             (PetscReal)PetscMax(1, points->surface->searches));
  PetscCall(PetscArrayzero(points->surface->visits, points->count));
  points->surface->searches = 0;
  PetscFunctionReturn(0);
}

PetscErrorCode SolidBalance(Solid solid)
{
  enum { STEPS_BETWEEN = 50 };
  const PetscReal worthwhile = 1.25;
  Points         *points = solid->points;
  Distribution    d = points ? points->distribution : NULL;
  PetscReal       sum, most;
  PetscInt       *extra;

  PetscFunctionBegin;
  if (!d || d->steps < STEPS_BETWEEN)
    PetscFunctionReturn(0);
  sum = most = d->work.seconds - d->earlier;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_REAL, MPI_SUM, d->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPIU_REAL, MPI_MAX, d->comm));
  PetscCall(FindContactWork(solid, &extra));
  if (most * d->size > worthwhile * sum)
    PetscCall(PointsDivideAnew(solid, extra));
  d->earlier = d->work.seconds;
  d->steps = 0;
  PetscCall(PetscFree(extra));
  PetscFunctionReturn(0);
}

PetscErrorCode PointsExchange(Solid solid, Vector3 values[])
{
  Distribution d = solid->points->distribution;

  PetscFunctionBegin;
  if (!d)
    PetscFunctionReturn(0);
  stop_clock(d);
  PetscCall(PetscSFBcastBegin(d->copies, d->vector, values, values, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(d->copies, d->vector, values, values, MPI_REPLACE));
  start_clock(d);
  PetscFunctionReturn(0);
}

PetscErrorCode PointsGather(Solid solid, Vector3 values[])
{
  Distribution d = solid->points->distribution;

  PetscFunctionBegin;
  if (d)
    PetscCall(GatherValues(d, &d->all, values));
  PetscFunctionReturn(0);
}

PetscErrorCode PointsGatherCarried(Solid solid, Vector3 values[])
{
  Distribution d = solid->points->distribution;

  PetscFunctionBegin;
  if (d && d->carried.count)
    PetscCall(GatherValues(d, &d->carried, values));
  PetscFunctionReturn(0);
}

PetscErrorCode PointsGatherTouched(Solid solid, Vector3 values[])
{
  const Points *points = solid->points;
  Distribution  d = points->distribution;

  PetscFunctionBegin;
  if (!d || !points->contact_count)
    PetscFunctionReturn(0);
  PetscCall(GatherValues(d, &d->touched, values));
  for (PetscInt k = 0; k < points->contact_count; k++)
    if (points->bindings.index[points->contacts[k].point] >= 0)
      values[points->contacts[k].point] = points_mean(points, points->contacts[k].point, values);
  PetscFunctionReturn(0);
}

/* By mesh, body and point, as one rank finds them. */
typedef struct {
  PetscInt     mesh;
  PointContact contact;
} PlacedContact;

static int compare_contacts(const void *first, const void *second)
{
  const PlacedContact *a = first, *b = second;

  if (a->mesh != b->mesh)
    return a->mesh < b->mesh ? -1 : 1;
  if (a->contact.body != b->contact.body)
    return a->contact.body < b->contact.body ? -1 : 1;
  return a->contact.point < b->contact.point ? -1 : a->contact.point > b->contact.point;
}

static PetscInt mesh_of(const Points *points, PetscInt point)
{
  PetscInt low = 0, high = points->mesh_count;

  while (high - low > 1) {
    const PetscInt middle = (low + high) / 2;

    if (points->meshes[middle].first <= point)
      low = middle;
    else
      high = middle;
  }
  return low;
}

PetscErrorCode PointsGatherItems(Solid solid, size_t size, PetscInt own, const void *items, PetscInt *count,
                                 void **all)
{
  Distribution      d = solid->points->distribution;
  const PetscMPIInt bytes = (PetscMPIInt)((size_t)own * size);
  PetscMPIInt      *counts, *starts;

  PetscFunctionBegin;
  stop_clock(d);
  PetscCall(PetscMalloc2(d->size, &counts, d->size + 1, &starts));
  PetscCallMPI(MPI_Allgather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, d->comm));
  starts[0] = 0;
  for (PetscMPIInt r = 0; r < d->size; r++)
    starts[r + 1] = starts[r] + counts[r];
  *count = (PetscInt)((size_t)starts[d->size] / size);
  PetscCall(PetscMalloc((size_t)starts[d->size], all));
  if (*count)
    PetscCallMPI(MPI_Allgatherv(items, bytes, MPI_BYTE, *all, counts, starts, MPI_BYTE, d->comm));
  PetscCall(PetscFree2(counts, starts));
  start_clock(d);
  PetscFunctionReturn(0);
}

/* The points that contacts push: free ones, or free parents. */
static PetscErrorCode SetTouched(const Points *points, Distribution d)
{
  PetscInt count = 0, room = 0, *touched = NULL;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < points->contact_count; k++) {
    const PetscInt *list, own = movers(points, &points->contacts[k].point, &list);

    for (PetscInt n = 0; n < own; n++) {
      if (!(points->inverse_mass[list[n]] > 0.))
        continue;
      PetscCall(GrowList(count, &room, &touched));
      touched[count++] = list[n];
    }
  }
  PetscCall(PetscSortRemoveDupsInt(&count, touched));
  PetscCall(SetGather(d, count, touched, &d->touched));
  PetscCall(PetscFree(touched));
  PetscFunctionReturn(0);
}

PetscErrorCode PointsGatherContacts(Solid solid)
{
  Points        *points = solid->points;
  Distribution   d = points->distribution;
  PetscInt       count;
  PlacedContact *all, *own;

  PetscFunctionBegin;
  if (!d)
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc1(points->contact_count, &own));
  for (PetscInt k = 0; k < points->contact_count; k++)
    own[k] = (PlacedContact){mesh_of(points, points->contacts[k].point), points->contacts[k]};
  PetscCall(PointsGatherItems(solid, sizeof(*own), points->contact_count, own, &count, (void **)&all));
  qsort(all, (size_t)count, sizeof(*all), compare_contacts);
  points->contact_count = 0;
  for (PetscInt k = 0; k < count; k++) {
    PetscCall(GrowList(points->contact_count, &points->contact_room, &points->contacts));
    points->contacts[points->contact_count++] = all[k].contact;
  }
  if (count)
    PetscCall(SetTouched(points, d));
  PetscCall(PetscFree(own));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(0);
}

PetscErrorCode PointsShareSurface(Solid solid)
{
  Points      *points = solid->points;
  MeshSurface  surface = points->surface;
  Distribution d = points->distribution;
  PetscInt     count = 0, room = 0, *list = NULL;

  PetscFunctionBegin;
  if (!d)
    PetscFunctionReturn(0);
  PetscCall(PetscFree(surface->is_mine));
  PetscCall(PetscMalloc1(surface->face_count, &surface->is_mine));
  for (PetscInt f = 0; f < surface->face_count; f++)
    surface->is_mine[f] = d->is_own[surface->faces[f][0]];
  PetscCall(MovingTreeWant(surface->tree, surface->is_mine));
  PetscCall(MovingTreeWant(surface->judge, surface->is_mine));
  for (PetscInt k = 0; k < surface->point_count; k++) {
    const PetscInt *from, own = movers(points, &surface->points[k], &from);

    for (PetscInt n = 0; n < own; n++)
      if (points->inverse_mass[from[n]] > 0.)
        PetscCall(AppendItem(&count, &room, &list, from[n]));
  }
  PetscCall(PetscSortRemoveDupsInt(&count, list));
  PetscCall(SetGather(d, count, list, &d->surface));
  PetscCall(PetscFree(list));
  mesh_surface_forget(points);
  PetscFunctionReturn(0);
}

PetscErrorCode PointsGatherSurface(Solid solid, Vector3 values[])
{
  Distribution d = solid->points->distribution;

  PetscFunctionBegin;
  if (d)
    PetscCall(GatherValues(d, &d->surface, values));
  PetscFunctionReturn(0);
}

/* A rank without elements of the mesh may not know the width. Own elements are those of own first points:
   each is one rank's. */
PetscErrorCode MeshGatherElements(Solid solid, const DeformableMesh *mesh, PetscInt width,
                                  const PetscReal own[], PetscReal all[])
{
  Distribution   d = solid->points->distribution;
  const PetscInt nodes = mesh->mesh->nodes;

  PetscFunctionBegin;
  if (!d) {
    PetscCall(PetscArraycpy(all, own, width * mesh->mesh->element_count));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscArrayzero(all, width * mesh->mesh->element_count));
  for (PetscInt n = 0; n < mesh->part_count; n++)
    if (d->is_own[mesh->part_elements[nodes * n]])
      PetscCall(PetscArraycpy(&all[width * mesh->part[n]], &own[width * n], width));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all, (PetscMPIInt)(width * mesh->mesh->element_count), MPIU_REAL,
                             MPI_SUM, d->comm));
  PetscFunctionReturn(0);
}

void mesh_take_elements(const DeformableMesh *mesh, PetscInt width, const PetscReal all[], PetscReal own[])
{
  for (PetscInt n = 0; n < mesh_own_elements(mesh); n++)
    memcpy(&own[width * n], &all[width * (mesh->part ? mesh->part[n] : n)],
           (size_t)width * sizeof(PetscReal));
}

PetscErrorCode PointsSums(Solid solid, PetscInt count, const ReproducibleSum sums[], PetscReal values[])
{
  Distribution d = solid->points->distribution;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < count && !d; k++)
    values[k] = sum_value(&sums[k]);
  if (!d)
    PetscFunctionReturn(0);
  stop_clock(d);
  PetscCall(SumOverRanks(d->comm, count, sums, values));
  start_clock(d);
  PetscFunctionReturn(0);
}

PetscErrorCode PointsMark(Solid solid, PetscInt count, char marks[])
{
  Distribution d = solid->points->distribution;

  PetscFunctionBegin;
  if (d)
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, marks, (PetscMPIInt)count, MPI_CHAR, MPI_MAX, d->comm));
  PetscFunctionReturn(0);
}

PetscErrorCode PointsTell(Solid solid, PetscInt count, PetscReal values[])
{
  Distribution d = solid->points->distribution;

  PetscFunctionBegin;
  if (!d)
    PetscFunctionReturn(0);
  stop_clock(d);
  PetscCallMPI(MPI_Bcast(values, (PetscMPIInt)count, MPIU_REAL, d->size - 1, d->comm));
  start_clock(d);
  PetscFunctionReturn(0);
}

PetscErrorCode PointsCount(Solid solid, PetscInt *count)
{
  Distribution d = solid->points->distribution;

  PetscFunctionBegin;
  if (!d)
    PetscFunctionReturn(0);
  stop_clock(d);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, count, 1, MPIU_INT, MPI_SUM, d->comm));
  start_clock(d);
  PetscFunctionReturn(0);
}

PetscErrorCode PointsLargest(Solid solid, PetscInt count, PetscReal values[])
{
  Distribution d = solid->points->distribution;

  PetscFunctionBegin;
  if (!d)
    PetscFunctionReturn(0);
  stop_clock(d);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values, (PetscMPIInt)count, MPIU_REAL, MPI_MAX, d->comm));
  start_clock(d);
  PetscFunctionReturn(0);
}

static LeastElement find_least(const DeformableMesh *mesh)
{
  const Force    *force = &mesh->forces[0];
  const ForceSums sums = force->kind->sum_up(force->data);

  return (LeastElement){sums.least_ratio, (PetscMPIInt)(mesh->part ? mesh->part[sums.least] : sums.least)};
}

PetscErrorCode PointsReportForces(Solid solid)
{
  Points      *points = solid->points;
  Distribution d = points->distribution;
  ForceSums    own;
  PetscReal    sums[3], largest[2];

  PetscFunctionBegin;
  if (!d)
    PetscFunctionReturn(0);
  PetscCall(PointsFindForces(solid));
  own = points_own_sums(solid);
  for (PetscInt m = 0; m < points->mesh_count; m++)
    d->least[m] = points->meshes[m].part_count && points->meshes[m].force_count
                      ? find_least(&points->meshes[m])
                      : (LeastElement){.ratio = PETSC_MAX_REAL};
  largest[0] = own.strain;
  largest[1] = -own.least_ratio;
  stop_clock(d);
  PetscCall(SumOverRanks(d->comm, 3, (const ReproducibleSum[]){own.energy, own.plastic, own.volume}, sums));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPIU_REAL, MPI_MAX, d->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, d->least, (PetscMPIInt)points->mesh_count, MPI_DOUBLE_INT,
                             MPI_MINLOC, d->comm));
  start_clock(d);
  d->report = (ForceReport){.energy = sums[0],
                            .plastic = sums[1],
                            .volume = sums[2],
                            .strain = largest[0],
                            .least_ratio = -largest[1]};
  PetscFunctionReturn(0);
}

ForceReport distribution_report(const Points *points)
{
  return points->distribution->report;
}

PetscReal mesh_least_ratio(const Points *points, PetscInt mesh, PetscInt *element)
{
  const LeastElement least =
      points->distribution ? points->distribution->least[mesh] : find_least(&points->meshes[mesh]);

  *element = least.element;
  return least.ratio;
}

PetscErrorCode PointsComplete(Solid solid)
{
  PetscFunctionBegin;
  PetscCall(PointsExchange(solid, solid->points->velocity));
  points_follow_parents(solid->points, solid->points->velocity);
  PetscCall(PointsGather(solid, solid->points->position));
  PetscCall(PointsGather(solid, solid->points->velocity));
  PetscCall(PointsReportForces(solid));
  PetscFunctionReturn(0);
}

PetscBool solid_work(Solid solid, SolidWork *work)
{
  const Distribution d = solid->points ? solid->points->distribution : NULL;

  if (d)
    *work = d->work;
  return d ? PETSC_TRUE : PETSC_FALSE;
}
