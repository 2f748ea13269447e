/* On which ranks the levels of the multigrid are, and how they get there.

   A level arrives from the finer one in the same parts, halved. Where a part would begin at an odd cell, or
   be too narrow for its ghosts, the level is divided anew, as a grid is, among as many of the same ranks as
   find work there. So whatever the number of ranks is, about all of them share the larger levels, fewer and
   fewer the smaller ones, and one has the coarsest. What a cell gets does not depend on its part. */
#include "multigrid_impl.h"

enum { LEAST_WIDTH = LEVEL_GHOST + 1, WORTHWHILE_WIDTH = 2 * LEAST_WIDTH, ROUTE_TAG = 7 };

static PetscInt part_count(const Partition *partition)
{
  return partition->parts[X] * partition->parts[Y] * partition->parts[Z];
}

static PetscErrorCode AllocatePartition(const PetscInt parts[DIM], Partition *partition)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++) {
    partition->parts[d] = parts[d];
    partition->mine[d] = -1;
    PetscCall(PetscMalloc1(parts[d] + 1, &partition->start[d]));
  }
  PetscCall(PetscMalloc1(part_count(partition), &partition->rank));
  PetscFunctionReturn(0);
}

PetscErrorCode PartitionDestroy(Partition *partition)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++)
    PetscCall(PetscFree(partition->start[d]));
  PetscCall(PetscFree(partition->rank));
  PetscFunctionReturn(0);
}

/* Along each direction, of the part with a number. */
static void find_part(const Partition *partition, PetscInt number, PetscInt part[DIM])
{
  part[X] = number % partition->parts[X];
  part[Y] = number / partition->parts[X] % partition->parts[Y];
  part[Z] = number / partition->parts[X] / partition->parts[Y];
}

static PetscMPIInt part_rank(const Partition *partition, const PetscInt part[DIM])
{
  return partition->rank[part[X] + partition->parts[X] * (part[Y] + partition->parts[Y] * part[Z])];
}

PetscErrorCode PartitionCreate(const GridBox *box, Partition *partition)
{
  GridPartition grid;
  PetscMPIInt   rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(box->comm, &rank));
  PetscCall(AllocatePartition(box->ranks, partition));
  for (PetscInt number = 0; number < part_count(partition); number++)
    partition->rank[number] = (PetscMPIInt)number;
  PetscCall(GridPartitionCreateFrom(box, &grid));
  for (PetscInt d = 0; d < DIM; d++)
    PetscCall(PetscArraycpy(partition->start[d], grid.start[d], box->ranks[d] + 1));
  PetscCall(GridPartitionDestroy(&grid));
  find_part(partition, rank, partition->mine);
  PetscFunctionReturn(0);
}

static PetscErrorCode PartitionCopy(const Partition *from, Partition *to)
{
  PetscFunctionBegin;
  PetscCall(AllocatePartition(from->parts, to));
  for (PetscInt d = 0; d < DIM; d++) {
    to->mine[d] = from->mine[d];
    PetscCall(PetscArraycpy(to->start[d], from->start[d], from->parts[d] + 1));
  }
  PetscCall(PetscArraycpy(to->rank, from->rank, part_count(from)));
  PetscFunctionReturn(0);
}

PetscErrorCode PartitionHalve(const Partition *fine, Partition *coarse)
{
  PetscFunctionBegin;
  PetscCall(PartitionCopy(fine, coarse));
  for (PetscInt d = 0; d < DIM; d++)
    for (PetscInt part = 0; part <= fine->parts[d]; part++)
      coarse->start[d][part] = (fine->start[d][part] + 1) / 2; /* only the last may be odd */
  PetscFunctionReturn(0);
}

PetscBool partition_is_whole(const Partition *partition)
{
  return part_count(partition) == 1 ? PETSC_TRUE : PETSC_FALSE;
}

PetscBool partition_has_mine(const Partition *partition)
{
  return partition->mine[X] >= 0 ? PETSC_TRUE : PETSC_FALSE;
}

static PetscMPIInt neighbour_rank(const Partition *partition, const GridBox *box, PetscInt d, PetscInt step)
{
  const PetscInt parts = partition->parts[d];
  PetscInt       part[DIM] = {partition->mine[X], partition->mine[Y], partition->mine[Z]};

  part[d] += step;
  if (!box->periodic[d] && (part[d] < 0 || part[d] >= parts))
    return MPI_PROC_NULL;
  part[d] = (part[d] + parts) % parts;
  return part_rank(partition, part);
}

void partition_place(const Partition *partition, GridBox *box)
{
  for (PetscInt d = 0; d < DIM; d++) {
    const PetscInt *start = partition->start[d] + partition->mine[d];

    box->start[d] = start[0];
    box->end[d] = start[1];
    box->ranks[d] = partition->parts[d];
    for (PetscInt side = 0; side < 2; side++)
      box->neighbour[d][side] = neighbour_rank(partition, box, d, 2 * side - 1);
  }
}

/* Whether the level can be solved in these parts. */
static PetscBool is_fit(const GridBox *box, const Partition *partition)
{
  for (PetscInt d = 0; d < box->dimension && !partition_is_whole(partition); d++)
    for (PetscInt part = 0; part < partition->parts[d]; part++) {
      const PetscInt *start = partition->start[d] + part;

      if (start[0] % 2)
        return PETSC_FALSE;
      if ((partition->parts[d] > 1 || box->periodic[d]) && start[1] - start[0] < LEAST_WIDTH)
        return PETSC_FALSE;
    }
  return PETSC_TRUE;
}

/* How a level is divided among at most `most` ranks. A period narrower than the ghosts is for one rank. */
static void divide(const GridBox *box, PetscInt most, PetscInt parts[DIM])
{
  PetscReal worthwhile = 1.;
  PetscInt  cells[DIM];
  PetscBool fits = PETSC_FALSE;

  for (PetscInt d = 0; d < DIM; d++) {
    cells[d] = PetscMax(box->cells[d], LEAST_WIDTH);
    if (d < box->dimension)
      worthwhile *= (PetscReal)box->cells[d] / WORTHWHILE_WIDTH;
    if (box->periodic[d] && box->cells[d] < LEAST_WIDTH)
      most = 1;
  }
  for (PetscInt count = (PetscInt)PetscMax(1., PetscMin((PetscReal)most, worthwhile)); !fits; count--)
    box_process_grid(cells, box->dimension, count, parts, &fits);
}

PetscErrorCode PartitionAgglomerate(const GridBox *box, const Partition *arrival, Partition *solved,
                                    PetscBool *moved)
{
  const PetscInt before = part_count(arrival);
  PetscInt       parts[DIM];

  PetscFunctionBegin;
  *moved = is_fit(box, arrival) ? PETSC_FALSE : PETSC_TRUE;
  if (!*moved) {
    PetscCall(PartitionCopy(arrival, solved));
    PetscFunctionReturn(0);
  }
  divide(box, before, parts);
  PetscCall(AllocatePartition(parts, solved));
  for (PetscInt d = 0; d < DIM; d++)
    for (PetscInt part = 0; part <= parts[d]; part++)
      solved->start[d][part] = box_part_start(box->cells[d], parts[d], part);
  for (PetscInt number = 0; number < part_count(solved); number++) {
    const PetscInt same = (PetscInt)((PetscInt64)number * before / part_count(solved));

    solved->rank[number] = arrival->rank[same];
    if (solved->rank[number] == part_rank(arrival, arrival->mine))
      find_part(solved, number, solved->mine);
  }
  PetscFunctionReturn(0);
}

/* Cells along one direction that one part has and another takes. */
typedef struct {
  PetscInt from, to; /* parts */
  PetscInt first;    /* as `to` counts: ghosts lie below zero or beyond the last cell */
  PetscInt image;    /* the same cell as `from` counts */
  PetscInt length;
} CommonRun;

typedef struct {
  PetscInt   count;
  CommonRun *of;
} CommonRuns;

struct RouteBlock {
  PetscMPIInt rank;
  PetscInt    index; /* of the first cell, in this rank's array */
  PetscInt    stride[DIM], width[DIM];
};

typedef struct {
  const Partition *partition;
  const GridBox   *box;
  PetscInt         ghost;
} RouteEnd;

static PetscInt owner_along(const RouteEnd *end, PetscInt d, PetscInt cell)
{
  const Partition *partition = end->partition;
  PetscInt         low = 0, high = partition->parts[d];

  while (high - low > 1) {
    const PetscInt middle = (low + high) / 2;

    if (cell >= partition->start[d][middle])
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* What part `to` takes along d, ghosts included, in runs that one part has. */
static void add_common_runs(const RouteEnd *source, const RouteEnd *target, PetscInt d, PetscInt to,
                            CommonRuns *runs)
{
  const GridBox  *box = target->box;
  const PetscInt *start = target->partition->start[d] + to, n = box->cells[d];
  const PetscInt  ghost = d < box->dimension ? target->ghost : 0;
  CommonRun      *last = NULL;

  for (PetscInt cell = start[0] - ghost; cell < start[1] + ghost; cell++) {
    const PetscInt image = box->periodic[d] ? (cell % n + n) % n : cell;
    PetscInt       from;

    if (image < 0 || image >= n) {
      last = NULL;
      continue;
    }
    from = owner_along(source, d, image);
    if (last && last->from == from && last->image + last->length == image)
      last->length++;
    else {
      last = runs->of + runs->count++;
      *last = (CommonRun){.from = from, .to = to, .first = cell, .image = image, .length = 1};
    }
  }
}

typedef enum { AS_SENDER, AS_RECEIVER } RouteRole;

/* The runs along d in which this rank has a part to play, in the order in which both sides count them.
 */
static PetscErrorCode FindCommonRuns(const RouteEnd *source, const RouteEnd *target, PetscInt d,
                                     RouteRole role, CommonRuns *runs)
{
  const PetscInt mine = role == AS_SENDER ? source->partition->mine[d] : target->partition->mine[d];
  const PetscInt room = target->box->cells[d] + 2 * target->ghost * target->partition->parts[d];
  PetscInt       kept = 0;

  PetscFunctionBegin;
  runs->count = 0;
  PetscCall(PetscMalloc1(room, &runs->of));
  for (PetscInt to = 0; to < target->partition->parts[d]; to++)
    add_common_runs(source, target, d, to, runs);
  for (PetscInt s = 0; s < runs->count; s++)
    if ((role == AS_SENDER ? runs->of[s].from : runs->of[s].to) == mine)
      runs->of[kept++] = runs->of[s];
  runs->count = kept;
  PetscFunctionReturn(0);
}

static struct RouteBlock block_of(const RouteEnd *source, const RouteEnd *target, RouteRole role,
                                  const CommonRun *const along[DIM])
{
  const RouteEnd   *own = role == AS_SENDER ? source : target, *other = role == AS_SENDER ? target : source;
  struct RouteBlock block = {.rank = 0};
  PetscInt          part[DIM], first[DIM];

  for (PetscInt d = 0; d < DIM; d++) {
    part[d] = role == AS_SENDER ? along[d]->to : along[d]->from;
    first[d] = role == AS_SENDER ? along[d]->image : along[d]->first;
    block.width[d] = along[d]->length;
    block.stride[d] = own->box->stride[d];
  }
  block.rank = part_rank(other->partition, part);
  block.index = box_index(own->box, first[X], first[Y], first[Z]);
  return block;
}

static PetscErrorCode FindBlocks(const RouteEnd *source, const RouteEnd *target, RouteRole role,
                                 PetscInt *count, struct RouteBlock **blocks)
{
  const RouteEnd *own = role == AS_SENDER ? source : target;
  CommonRuns      along[DIM];
  PetscInt        total = 1;

  PetscFunctionBegin;
  *count = 0;
  *blocks = NULL;
  if (!partition_has_mine(own->partition))
    PetscFunctionReturn(0);
  for (PetscInt d = 0; d < DIM; d++) {
    PetscCall(FindCommonRuns(source, target, d, role, &along[d]));
    total *= along[d].count;
  }
  PetscCall(PetscMalloc1(total, blocks));
  for (PetscInt z = 0; z < along[Z].count; z++)
    for (PetscInt y = 0; y < along[Y].count; y++)
      for (PetscInt x = 0; x < along[X].count; x++)
        (*blocks)[(*count)++] = block_of(
            source, target, role, (const CommonRun *[]){&along[X].of[x], &along[Y].of[y], &along[Z].of[z]});
  for (PetscInt d = 0; d < DIM; d++)
    PetscCall(PetscFree(along[d].of));
  PetscFunctionReturn(0);
}

PetscErrorCode RouteCreate(const Partition *from, const GridBox *from_box, const Partition *to,
                           const GridBox *to_box, PetscInt ghost, Route *route)
{
  const RouteEnd source = {from, from_box, 0}, target = {to, to_box, ghost};

  PetscFunctionBegin;
  PetscCall(FindBlocks(&source, &target, AS_SENDER, &route->send_count, &route->sends));
  PetscCall(FindBlocks(&source, &target, AS_RECEIVER, &route->receive_count, &route->receives));
  PetscFunctionReturn(0);
}

PetscErrorCode RouteDestroy(Route *route)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(route->sends));
  PetscCall(PetscFree(route->receives));
  PetscFunctionReturn(0);
}

static size_t block_size(const struct RouteBlock *block, size_t size)
{
  return (size_t)(block->width[X] * block->width[Y] * block->width[Z]) * size;
}

static size_t blocks_size(PetscInt count, const struct RouteBlock blocks[], size_t size)
{
  size_t sum = 0;

  for (PetscInt b = 0; b < count; b++)
    sum += block_size(&blocks[b], size);
  return sum;
}

typedef enum { PACK, UNPACK } RouteCopy;

static void copy_block(const struct RouteBlock *block, size_t size, char *values, char *packed, RouteCopy way)
{
  const size_t row = block->width[X] * size;

  for (PetscInt k = 0; k < block->width[Z]; k++)
    for (PetscInt j = 0; j < block->width[Y]; j++, packed += row) {
      char *at = values + (block->index + j * block->stride[Y] + k * block->stride[Z]) * (PetscInt)size;

      if (way == PACK)
        memcpy(packed, at, row);
      else
        memcpy(at, packed, row);
    }
}

PetscErrorCode RouteCarry(const Route *route, MPI_Comm comm, const void *from, void *to, size_t size)
{
  const PetscInt total = route->send_count + route->receive_count;
  const size_t   sent = blocks_size(route->send_count, route->sends, size);
  MPI_Request   *requests;
  PetscMPIInt    bytes;
  char          *buffer, *at;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(sent + blocks_size(route->receive_count, route->receives, size), &buffer, total,
                         &requests));
  at = buffer + sent;
  for (PetscInt b = 0; b < route->receive_count; b++, at += bytes) {
    PetscCall(PetscMPIIntCast((PetscInt)block_size(&route->receives[b], size), &bytes));
    PetscCallMPI(MPI_Irecv(at, bytes, MPI_BYTE, route->receives[b].rank, ROUTE_TAG, comm, &requests[b]));
  }
  at = buffer;
  for (PetscInt b = 0; b < route->send_count; b++, at += bytes) {
    PetscCall(PetscMPIIntCast((PetscInt)block_size(&route->sends[b], size), &bytes));
    copy_block(&route->sends[b], size, (char *)from, at, PACK);
    PetscCallMPI(MPI_Isend(at, bytes, MPI_BYTE, route->sends[b].rank, ROUTE_TAG, comm,
                           &requests[route->receive_count + b]));
  }
  PetscCallMPI(MPI_Waitall((PetscMPIInt)total, requests, MPI_STATUSES_IGNORE));
  at = buffer + sent;
  for (PetscInt b = 0; b < route->receive_count; at += block_size(&route->receives[b], size), b++)
    copy_block(&route->receives[b], size, to, at, UNPACK);
  PetscCall(PetscFree2(buffer, requests));
  PetscFunctionReturn(0);
}
