/* Surfaces travel from the ranks that hold them to those that meet them. Everybody tells where it is; whoever
   holds a surface picks the triangles for each rank and numbers their vertices anew; one exchange of whole
   numbers and one of reals brings them. The copies of unknowns are the leaves of a star forest. */
#include <millrace/solid_patch.h>

#include <petscsf.h>

enum { HEAD = 5, HEAD_REALS = 5, VERTEX_REALS = 3 * MILLRACE_DIM };

struct _p_SolidPatches {
  PetscInt    count, copy_count;
  SolidPatch *patches;
  Vector3    *places; /* before, now and velocity of all vertices, by patches */
  PetscInt (*triangles)[3];
  PetscInt *unknowns;
  PetscSF   copies; /* roots: unknowns, leaves: copies */
};

/* Of every rank. */
typedef struct {
  PetscReal  meets; /* else zero */
  PatchReach reach;
} Listener;

/* Messages to all ranks, one after the other. */
typedef struct {
  PetscInt   count, room, real_count, real_room;
  PetscInt  *numbers;
  PetscReal *reals;
} Message;

static PetscErrorCode AddNumber(Message *message, PetscInt number)
{
  PetscFunctionBegin;
  PetscCall(GrowList(message->count, &message->room, &message->numbers));
  message->numbers[message->count++] = number;
  PetscFunctionReturn(0);
}

static PetscErrorCode AddReal(Message *message, PetscReal real)
{
  PetscFunctionBegin;
  PetscCall(GrowList(message->real_count, &message->real_room, &message->reals));
  message->reals[message->real_count++] = real;
  PetscFunctionReturn(0);
}

static PetscErrorCode AddVector(Message *message, Vector3 vector)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++)
    PetscCall(AddReal(message, vector.at[d]));
  PetscFunctionReturn(0);
}

/* Whether an interval, or an image of it, meets the reach along a direction; closed: or lies on its left. */
static PetscBool meets_along(const PatchReach *reach, PetscInt d, PetscBool from_left, PetscReal low,
                             PetscReal high)
{
  const PetscReal period = reach->period.at[d];

  if (period > 0.)
    return from_left || PetscCeilReal((reach->low.at[d] - high) / period) <=
                            PetscFloorReal((reach->high.at[d] - low) / period);
  return low <= reach->high.at[d] && (from_left || high >= reach->low.at[d]);
}

/* Rows of shells reach along whole columns of cells. */
static PetscBool meets(const PatchReach *reach, const SolidPatch *patch, const PetscInt triangle[3])
{
  if (patch->thickness > 0.)
    return PETSC_TRUE;
  for (PetscInt d = 0; d < DIM; d++) {
    PetscReal low = PETSC_MAX_REAL, high = -PETSC_MAX_REAL;

    for (PetscInt c = 0; c < 3; c++) {
      const PetscReal before = patch->before[triangle[c]].at[d], now = patch->now[triangle[c]].at[d];

      low = PetscMin(low, PetscMin(before, now));
      high = PetscMax(high, PetscMax(before, now));
    }
    if (!meets_along(reach, d, patch->is_closed && d == X, low, high))
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* The part of a surface that goes to one rank. */
typedef struct {
  PetscInt  vertices, triangles;
  PetscInt *chosen, *place; /* vertices of the whole, and their places among these; -1: none */
  PetscInt (*corners)[3];
} ChosenPart;

static void choose(const SolidPatch *patch, const PatchReach *reach, ChosenPart *part)
{
  for (PetscInt t = 0; t < patch->triangle_count; t++) {
    if (!meets(reach, patch, patch->triangles[t]))
      continue;
    for (PetscInt c = 0; c < 3; c++) {
      const PetscInt v = patch->triangles[t][c];

      if (part->place[v] < 0) {
        part->chosen[part->vertices] = v;
        part->place[v] = part->vertices++;
      }
      part->corners[part->triangles][c] = part->place[v];
    }
    part->triangles++;
  }
}

/* A head of five numbers, the unknowns of vertices, the corners of triangles; five reals and nine for each
   vertex. */
static PetscErrorCode AddPart(const SolidPatch *patch, const ChosenPart *part, Message *message)
{
  const PetscInt  head[HEAD] = {patch->surface, patch->is_closed, patch->slips, part->vertices,
                                part->triangles};
  const PetscReal reals[HEAD_REALS] = {patch->thickness, patch->volume, patch->centre.at[X],
                                       patch->centre.at[Y], patch->centre.at[Z]};

  PetscFunctionBegin;
  for (PetscInt n = 0; n < HEAD; n++)
    PetscCall(AddNumber(message, head[n]));
  for (PetscInt n = 0; n < HEAD_REALS; n++)
    PetscCall(AddReal(message, reals[n]));
  for (PetscInt n = 0; n < part->vertices; n++) {
    PetscCall(AddNumber(message, patch->unknown[part->chosen[n]]));
    PetscCall(AddVector(message, patch->before[part->chosen[n]]));
    PetscCall(AddVector(message, patch->now[part->chosen[n]]));
    PetscCall(AddVector(message, patch->velocity[part->chosen[n]]));
  }
  for (PetscInt n = 0; n < 3 * part->triangles; n++)
    PetscCall(AddNumber(message, part->corners[n / 3][n % 3]));
  PetscFunctionReturn(0);
}

static PetscErrorCode AddPatch(const SolidPatch *patch, const PatchReach *reach, Message *message)
{
  ChosenPart part = {0};

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(patch->vertex_count, &part.chosen, patch->vertex_count, &part.place,
                         patch->triangle_count, &part.corners));
  for (PetscInt v = 0; v < patch->vertex_count; v++)
    part.place[v] = -1;
  choose(patch, reach, &part);
  if (part.triangles)
    PetscCall(AddPart(patch, &part, message));
  PetscCall(PetscFree3(part.chosen, part.place, part.corners));
  PetscFunctionReturn(0);
}

/* What goes to each rank: numbers, then reals. */
static PetscErrorCode Write(PetscMPIInt size, const Listener listeners[], PetscInt count,
                            const SolidPatch whole[], PetscMPIInt counts[], Message *message)
{
  PetscFunctionBegin;
  for (PetscMPIInt r = 0; r < size; r++) {
    const PetscInt before[2] = {message->count, message->real_count};

    for (PetscInt p = 0; p < count && listeners[r].meets > 0.; p++)
      PetscCall(AddPatch(&whole[p], &listeners[r].reach, message));
    counts[2 * r] = (PetscMPIInt)(message->count - before[0]);
    counts[2 * r + 1] = (PetscMPIInt)(message->real_count - before[1]);
  }
  PetscFunctionReturn(0);
}

/* The places of every second count, from `first` on; gives their sum. */
static PetscMPIInt lay_out(PetscMPIInt size, const PetscMPIInt counts[], PetscMPIInt *part,
                           PetscMPIInt *offsets)
{
  PetscMPIInt sum = 0;

  for (PetscMPIInt r = 0; r < size; r++) {
    part[r] = counts[2 * r];
    offsets[r] = sum;
    sum += part[r];
  }
  return sum;
}

/* All to all: the counts, the numbers and the reals. `ends` of the numbers from each rank. */
static PetscErrorCode Deliver(MPI_Comm comm, const Message *sent, const PetscMPIInt counts[],
                              Message *message, PetscMPIInt ends[])
{
  PetscMPIInt size, *from, *part, *offsets, *back, *places;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc5(2 * size, &from, size, &part, size, &offsets, size, &back, size, &places));
  PetscCallMPI(MPI_Alltoall(counts, 2, MPI_INT, from, 2, MPI_INT, comm));
  lay_out(size, counts, part, offsets);
  message->count = lay_out(size, from, back, places);
  PetscCall(PetscMalloc1(message->count, &message->numbers));
  PetscCallMPI(
      MPI_Alltoallv(sent->numbers, part, offsets, MPIU_INT, message->numbers, back, places, MPIU_INT, comm));
  for (PetscMPIInt r = 0; r < size; r++)
    ends[r] = places[r] + back[r];
  lay_out(size, counts + 1, part, offsets);
  message->real_count = lay_out(size, from + 1, back, places);
  PetscCall(PetscMalloc1(message->real_count, &message->reals));
  PetscCallMPI(
      MPI_Alltoallv(sent->reals, part, offsets, MPIU_REAL, message->reals, back, places, MPIU_REAL, comm));
  PetscCall(PetscFree5(from, part, offsets, back, places));
  PetscFunctionReturn(0);
}

/* How many patches, vertices and triangles have come. */
static void count_received(const Message *message, PetscInt counts[3])
{
  counts[0] = counts[1] = counts[2] = 0;
  for (PetscInt n = 0; n < message->count;) {
    const PetscInt *head = &message->numbers[n];

    counts[0]++;
    counts[1] += head[3];
    counts[2] += head[4];
    n += HEAD + head[3] + 3 * head[4];
  }
}

static Vector3 vector_of(const PetscReal *reals)
{
  return vector3(reals[0], reals[1], reals[2]);
}

/* Where the next patch goes. */
typedef struct {
  Vector3 *places;
  PetscInt (*triangles)[3];
  PetscInt        *unknowns, copies;
  PetscSFNode     *roots;
  const PetscReal *reals;
} Reading;

static SolidPatch read_patch(const PetscInt *numbers, PetscMPIInt rank, Reading *reading)
{
  const PetscInt vertices = numbers[3], triangles = numbers[4], *from = numbers + HEAD;
  SolidPatch     patch = {.surface = numbers[0],
                          .is_closed = numbers[1] ? PETSC_TRUE : PETSC_FALSE,
                          .slips = numbers[2] ? PETSC_TRUE : PETSC_FALSE,
                          .vertex_count = vertices,
                          .triangle_count = triangles,
                          .thickness = reading->reals[0],
                          .volume = reading->reals[1],
                          .centre = vector_of(reading->reals + 2),
                          .before = reading->places,
                          .now = reading->places + vertices,
                          .velocity = reading->places + 2 * vertices,
                          .triangles = (const PetscInt(*)[3])reading->triangles,
                          .unknown = reading->unknowns};

  reading->reals += HEAD_REALS;
  for (PetscInt v = 0; v < vertices; v++, reading->reals += VERTEX_REALS) {
    for (PetscInt m = 0; m < 3; m++)
      reading->places[m * vertices + v] = vector_of(reading->reals + 3 * m);
    for (PetscInt d = 0; d < DIM; d++)
      reading->roots[reading->copies + d] = (PetscSFNode){rank, from[v] + d};
    reading->unknowns[v] = reading->copies;
    reading->copies += DIM;
  }
  for (PetscInt n = 0; n < 3 * triangles; n++)
    reading->triangles[n / 3][n % 3] = from[vertices + n];
  reading->places += 3 * vertices;
  reading->triangles += triangles;
  reading->unknowns += vertices;
  return patch;
}

static PetscErrorCode Read(MPI_Comm comm, const Message *message, const PetscMPIInt ends[], PetscInt own,
                           SolidPatches patches)
{
  PetscMPIInt rank = 0;
  PetscInt    counts[3];
  Reading     reading;

  PetscFunctionBegin;
  count_received(message, counts);
  patches->copy_count = DIM * counts[1];
  PetscCall(PetscMalloc4(counts[0], &patches->patches, 3 * counts[1], &patches->places, counts[2],
                         &patches->triangles, counts[1], &patches->unknowns));
  reading = (Reading){patches->places, patches->triangles, patches->unknowns, 0, NULL, message->reals};
  PetscCall(PetscMalloc1(patches->copy_count, &reading.roots));
  for (PetscInt n = 0; n < message->count;) {
    const PetscInt *head = &message->numbers[n];

    while (n >= ends[rank])
      rank++;
    patches->patches[patches->count++] = read_patch(head, rank, &reading);
    n += HEAD + head[3] + 3 * head[4];
  }
  PetscCall(PetscSFCreate(comm, &patches->copies));
  PetscCall(PetscSFSetGraph(patches->copies, own, patches->copy_count, NULL, PETSC_COPY_VALUES, reading.roots,
                            PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(patches->copies));
  PetscCall(PetscFree(reading.roots));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidPatchesCreate(MPI_Comm comm, PetscInt count, const SolidPatch whole[], PetscInt own,
                                  const PatchReach *reach, SolidPatches *patches)
{
  Listener    mine = {.meets = 0.};
  PetscMPIInt size, *counts, *ends;
  Message     sent = {0}, received = {0};
  Listener   *listeners;

  PetscFunctionBegin;
  if (reach)
    mine = (Listener){1., *reach};
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscNew(patches));
  PetscCall(PetscMalloc3(size, &listeners, 2 * size, &counts, size, &ends));
  PetscCallMPI(MPI_Allgather(&mine, (PetscMPIInt)sizeof(mine), MPI_BYTE, listeners, (PetscMPIInt)sizeof(mine),
                             MPI_BYTE, comm));
  PetscCall(Write(size, listeners, count, whole, counts, &sent));
  PetscCall(Deliver(comm, &sent, counts, &received, ends));
  PetscCall(Read(comm, &received, ends, own, *patches));
  PetscCall(PetscFree(sent.numbers));
  PetscCall(PetscFree(sent.reals));
  PetscCall(PetscFree(received.numbers));
  PetscCall(PetscFree(received.reals));
  PetscCall(PetscFree3(listeners, counts, ends));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidPatchesDestroy(SolidPatches *patches)
{
  PetscFunctionBegin;
  if (!*patches)
    PetscFunctionReturn(0);
  PetscCall(PetscFree4((*patches)->patches, (*patches)->places, (*patches)->triangles, (*patches)->unknowns));
  PetscCall(PetscSFDestroy(&(*patches)->copies));
  PetscCall(PetscFree(*patches));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidPatchesGet(SolidPatches patches, PetscInt *count, const SolidPatch **received)
{
  PetscFunctionBegin;
  *count = patches->count;
  *received = patches->patches;
  PetscFunctionReturn(0);
}

PetscInt solid_patches_unknowns(SolidPatches patches)
{
  return patches->copy_count;
}

PetscErrorCode SolidPatchesTell(SolidPatches patches, const PetscReal unknowns[], PetscReal copies[])
{
  PetscFunctionBegin;
  PetscCall(PetscSFBcastBegin(patches->copies, MPIU_REAL, unknowns, copies, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(patches->copies, MPIU_REAL, unknowns, copies, MPI_REPLACE));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidPatchesSum(SolidPatches patches, const PetscReal copies[], PetscReal unknowns[])
{
  PetscFunctionBegin;
  PetscCall(PetscSFReduceBegin(patches->copies, MPIU_REAL, copies, unknowns, MPI_SUM));
  PetscCall(PetscSFReduceEnd(patches->copies, MPIU_REAL, copies, unknowns, MPI_SUM));
  PetscFunctionReturn(0);
}
