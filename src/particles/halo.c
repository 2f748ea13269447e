/* One layer of copies around a rank's particles.

   A cell at the boundary of the rank's part is sent whole to every rank, and as every image, whose layer it
   lies in; its indices there, not wrapped, travel with each particle, so that no position has to be located
   again. All copies of a cell come from one rank, in the order of their numbers. */
#include "particles_impl.h"

#include <millrace/halo.h>

typedef struct {
  Vector3    position;
  PetscInt64 number;
  PetscInt   at[DIM]; /* its cell as seen from where it goes, not wrapped */
  PetscInt   cell;    /* the same as an index of the box there */
} CopyRecord;

struct _p_Halo {
  Particles    particles; /* borrowed */
  GridBox      box;       /* owned cells and one layer */
  PetscMPIInt  size, place[DIM];
  PetscMPIInt *send_first, *receive_first; /* of each rank, and one more */
  PetscInt     send_capacity;
  PetscInt    *sent; /* which particle, rank after rank */
  CopyRecord  *records;
  PetscInt     count, capacity;
  PetscInt    *order; /* of arrivals: place among the copies */
  Vector3     *positions;
  PetscInt64  *numbers;
  PetscInt    *start, *length;
};

PetscErrorCode HaloCreate(Particles particles, Halo *halo)
{
  const GridBox *box = grid_box(particles->grid);
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCall(PetscNew(halo));
  (*halo)->particles = particles;
  (*halo)->box = *box;
  (*halo)->box.ghost = 1;
  box_lay_out(&(*halo)->box);
  PetscCallMPI(MPI_Comm_size(box->comm, &(*halo)->size));
  PetscCallMPI(MPI_Comm_rank(box->comm, &rank));
  (*halo)->place[X] = (PetscMPIInt)(rank % box->ranks[X]);
  (*halo)->place[Y] = (PetscMPIInt)(rank / box->ranks[X] % box->ranks[Y]);
  (*halo)->place[Z] = (PetscMPIInt)(rank / box->ranks[X] / box->ranks[Y]);
  PetscCall(
      PetscCalloc2((*halo)->size + 1, &(*halo)->send_first, (*halo)->size + 1, &(*halo)->receive_first));
  PetscCall(PetscCalloc2((*halo)->box.length, &(*halo)->start, (*halo)->box.length, &(*halo)->length));
  PetscFunctionReturn(0);
}

PetscErrorCode HaloDestroy(Halo *halo)
{
  PetscFunctionBegin;
  if (!*halo)
    PetscFunctionReturn(0);
  PetscCall(PetscFree2((*halo)->send_first, (*halo)->receive_first));
  PetscCall(PetscFree2((*halo)->start, (*halo)->length));
  PetscCall(PetscFree((*halo)->sent));
  PetscCall(PetscFree((*halo)->records));
  PetscCall(PetscFree((*halo)->order));
  PetscCall(PetscFree((*halo)->positions));
  PetscCall(PetscFree((*halo)->numbers));
  PetscCall(PetscFree(*halo));
  PetscFunctionReturn(0);
}

/* Whether an owned cell lies in the layer of the part that is `way` (-1, 0 or 1 in each direction) away. */
static PetscBool is_seen(const GridBox *box, const PetscInt at[DIM], const PetscInt way[DIM])
{
  for (PetscInt d = 0; d < box->dimension; d++) {
    if (way[d] < 0 && (at[d] != box->start[d] || box->neighbour[d][0] == MPI_PROC_NULL))
      return PETSC_FALSE;
    if (way[d] > 0 && (at[d] != box->end[d] - 1 || box->neighbour[d][1] == MPI_PROC_NULL))
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* The rank of the part that is `way` away, and how a particle has to be moved to be seen from there. */
static PetscMPIInt part_away(const Halo halo, const PetscInt way[DIM], PetscInt wrapped[DIM])
{
  const GridBox *box = &halo->box;
  PetscInt       place[DIM];

  for (PetscInt d = 0; d < DIM; d++) {
    place[d] = halo->place[d] + way[d];
    wrapped[d] = place[d] < 0 ? 1 : place[d] >= box->ranks[d] ? -1 : 0;
    place[d] += wrapped[d] * box->ranks[d];
  }
  return (PetscMPIInt)(place[X] + box->ranks[X] * (place[Y] + box->ranks[Y] * place[Z]));
}

typedef PetscErrorCode (*CellSender)(Halo halo, const PetscInt at[DIM], const PetscInt wrapped[DIM],
                                     PetscMPIInt rank, PetscInt tight);

/* Calls `send` for an owned cell and every part that sees it. */
static PetscErrorCode SendCell(Halo halo, const PetscInt at[DIM], PetscInt tight, CellSender send)
{
  const PetscInt deep = halo->box.dimension == 3 ? 1 : 0;
  PetscInt       way[DIM], wrapped[DIM];
  PetscMPIInt    rank;

  PetscFunctionBegin;
  for (way[Z] = -deep; way[Z] <= deep; way[Z]++)
    for (way[Y] = -1; way[Y] <= 1; way[Y]++)
      for (way[X] = -1; way[X] <= 1; way[X]++) {
        if ((!way[X] && !way[Y] && !way[Z]) || !is_seen(&halo->box, at, way))
          continue;
        rank = part_away(halo, way, wrapped);
        PetscCall(send(halo, at, wrapped, rank, tight));
      }
  PetscFunctionReturn(0);
}

static PetscBool has_neighbours(const GridBox *box)
{
  for (PetscInt d = 0; d < box->dimension; d++)
    if (box->neighbour[d][0] != MPI_PROC_NULL || box->neighbour[d][1] != MPI_PROC_NULL)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* From one cell at the boundary to the next along x: rows inside have two, or one. */
static PetscInt next_in_row(const GridBox *box, const PetscInt at[DIM])
{
  const PetscInt last = box->end[X] - 1;

  for (PetscInt d = Y; d < box->dimension; d++)
    if (at[d] == box->start[d] || at[d] == box->end[d] - 1)
      return at[X] + 1;
  return at[X] < last ? last : last + 1;
}

static PetscErrorCode ForBoundaryCells(Halo halo, CellSender send)
{
  const GridBox *box = &halo->box;
  PetscInt       at[DIM];

  PetscFunctionBegin;
  if (!has_neighbours(box))
    PetscFunctionReturn(0);
  for (at[Z] = box->start[Z]; at[Z] < box->end[Z]; at[Z]++)
    for (at[Y] = box->start[Y]; at[Y] < box->end[Y]; at[Y]++)
      for (at[X] = box->start[X]; at[X] < box->end[X]; at[X] = next_in_row(box, at))
        PetscCall(SendCell(halo, at, box_owned_number(box, at[X], at[Y], at[Z]), send));
  PetscFunctionReturn(0);
}

/* Counts of the ranks, one place further up in `send_first`. */
static PetscErrorCode CountCell(Halo halo, const PetscInt at[DIM], const PetscInt wrapped[DIM],
                                PetscMPIInt rank, PetscInt tight)
{
  (void)at, (void)wrapped;
  halo->send_first[rank + 1] +=
      (PetscMPIInt)(halo->particles->first[tight + 1] - halo->particles->first[tight]);
  return 0;
}

/* `send_first` moves along while cells are packed. */
static PetscErrorCode PackCell(Halo halo, const PetscInt at[DIM], const PetscInt wrapped[DIM],
                               PetscMPIInt rank, PetscInt tight)
{
  const Particles particles = halo->particles;
  const PetscReal spacing = grid_spacing(particles->grid);

  for (PetscInt n = particles->first[tight]; n < particles->first[tight + 1]; n++) {
    const PetscMPIInt to = halo->send_first[rank]++;
    CopyRecord       *record = &halo->records[to];

    halo->sent[to] = n;
    *record = (CopyRecord){.position = particles->now.positions[n], .number = particles->now.numbers[n]};
    for (PetscInt d = 0; d < DIM; d++) {
      record->at[d] = at[d] + wrapped[d] * halo->box.cells[d];
      if (wrapped[d])
        record->position.at[d] += spacing * (PetscReal)(wrapped[d] * halo->box.cells[d]);
    }
  }
  return 0;
}

static PetscErrorCode Pack(Halo halo)
{
  const PetscMPIInt size = halo->size;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(halo->send_first, size + 1));
  PetscCall(ForBoundaryCells(halo, CountCell));
  for (PetscMPIInt r = 0; r < size; r++)
    halo->send_first[r + 1] += halo->send_first[r];
  if (halo->send_first[size] > halo->send_capacity) {
    halo->send_capacity = halo->send_first[size] + halo->send_first[size] / 4;
    PetscCall(PetscRealloc(halo->send_capacity * sizeof(*halo->sent), &halo->sent));
    PetscCall(PetscRealloc(halo->send_capacity * sizeof(*halo->records), &halo->records));
  }
  PetscCall(ForBoundaryCells(halo, PackCell));
  for (PetscMPIInt r = size; r > 0; r--) /* back to the beginnings */
    halo->send_first[r] = halo->send_first[r - 1];
  halo->send_first[0] = 0;
  PetscFunctionReturn(0);
}

/* How many come from whom. */
static PetscErrorCode AgreeOnCounts(Halo halo)
{
  PetscMPIInt *counts;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(2 * halo->size, &counts));
  for (PetscMPIInt r = 0; r < halo->size; r++)
    counts[r] = halo->send_first[r + 1] - halo->send_first[r];
  PetscCallMPI(MPI_Alltoall(counts, 1, MPI_INT, counts + halo->size, 1, MPI_INT, halo->box.comm));
  for (PetscMPIInt r = 0; r < halo->size; r++)
    halo->receive_first[r + 1] = halo->receive_first[r] + counts[halo->size + r];
  halo->count = halo->receive_first[halo->size];
  PetscCall(PetscFree(counts));
  PetscFunctionReturn(0);
}

/* Records of `bytes` each, rank after rank, out and in. */
static PetscErrorCode Exchange(Halo halo, size_t bytes, const char *out, char *in)
{
  enum { TAG = 72 };
  const PetscMPIInt *send = halo->send_first, *receive = halo->receive_first;
  MPI_Request       *requests;
  MPI_Datatype       type;
  PetscMPIInt        count = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(2 * halo->size, &requests));
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)bytes, MPI_BYTE, &type));
  PetscCallMPI(MPI_Type_commit(&type));
  for (PetscMPIInt r = 0; r < halo->size; r++)
    if (receive[r + 1] > receive[r])
      PetscCallMPI(MPI_Irecv(in + bytes * receive[r], receive[r + 1] - receive[r], type, r, TAG,
                             halo->box.comm, &requests[count++]));
  for (PetscMPIInt r = 0; r < halo->size; r++)
    if (send[r + 1] > send[r])
      PetscCallMPI(MPI_Isend(out + bytes * send[r], send[r + 1] - send[r], type, r, TAG, halo->box.comm,
                             &requests[count++]));
  PetscCallMPI(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
  PetscCallMPI(MPI_Type_free(&type));
  PetscCall(PetscFree(requests));
  PetscFunctionReturn(0);
}

static PetscErrorCode Reserve(Halo halo)
{
  PetscFunctionBegin;
  if (halo->count <= halo->capacity)
    PetscFunctionReturn(0);
  halo->capacity = halo->count + halo->count / 4;
  PetscCall(PetscRealloc(halo->capacity * sizeof(*halo->order), &halo->order));
  PetscCall(PetscRealloc(halo->capacity * sizeof(*halo->positions), &halo->positions));
  PetscCall(PetscRealloc(halo->capacity * sizeof(*halo->numbers), &halo->numbers));
  PetscFunctionReturn(0);
}

/* Own particles stand in their cells; copies, cell by cell, after them. */
static void lay_out_cells(Halo halo, PetscInt count, const CopyRecord arrivals[])
{
  const GridBox  *box = &halo->box;
  const PetscInt *first = halo->particles->first;
  PetscInt        next = halo->particles->now.count;

  for (PetscInt c = 0; c < box->length; c++)
    halo->start[c] = halo->length[c] = 0;
  for (PetscInt n = 0; n < count; n++)
    halo->length[arrivals[n].cell]++;
  for (PetscInt c = 0; c < box->length; c++) {
    halo->start[c] = next;
    next += halo->length[c];
  }
  FOR_NUMBERED_CELLS(box, cell, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    halo->start[c] = first[cell];
    halo->length[c] = first[cell + 1] - first[cell];
  }
}

/* Arrivals of one cell follow each other already; cells are brought into the order of the box. */
static PetscErrorCode Unpack(Halo halo, CopyRecord arrivals[])
{
  PetscInt *next;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < halo->count; n++)
    arrivals[n].cell = box_index(&halo->box, arrivals[n].at[X], arrivals[n].at[Y], arrivals[n].at[Z]);
  lay_out_cells(halo, halo->count, arrivals);
  PetscCall(PetscMalloc1(halo->box.length, &next));
  PetscCall(PetscArraycpy(next, halo->start, halo->box.length));
  for (PetscInt n = 0; n < halo->count; n++) {
    const PetscInt to = next[arrivals[n].cell]++ - halo->particles->now.count;

    halo->order[n] = to;
    halo->positions[to] = arrivals[n].position;
    halo->numbers[to] = arrivals[n].number;
  }
  PetscCall(PetscFree(next));
  PetscFunctionReturn(0);
}

PetscErrorCode HaloBuild(Halo halo)
{
  CopyRecord *arrivals;

  PetscFunctionBegin;
  PetscCheck(halo->particles->arranged, halo->box.comm, PETSC_ERR_ORDER,
             "Particles are arranged before their halo is built");
  PetscCall(Pack(halo));
  PetscCall(AgreeOnCounts(halo));
  PetscCall(Reserve(halo));
  PetscCall(PetscMalloc1(halo->count, &arrivals));
  PetscCall(Exchange(halo, sizeof(CopyRecord), (const char *)halo->records, (char *)arrivals));
  PetscCall(Unpack(halo, arrivals));
  PetscCall(PetscFree(arrivals));
  PetscFunctionReturn(0);
}

PetscErrorCode HaloGetView(Halo halo, HaloView *view)
{
  PetscFunctionBegin;
  *view = (HaloView){.box = &halo->box,
                     .start = halo->start,
                     .length = halo->length,
                     .own = halo->particles->now.count,
                     .count = halo->count,
                     .positions = halo->positions,
                     .numbers = halo->numbers};
  PetscFunctionReturn(0);
}

PetscErrorCode HaloExchange(Halo halo, PetscInt width, const PetscReal own[], PetscReal copies[])
{
  const PetscInt sent = halo->send_first[halo->size];
  PetscReal     *out, *in;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(sent * width, &out, halo->count * width, &in));
  for (PetscInt n = 0; n < sent; n++)
    PetscCall(PetscArraycpy(out + n * width, own + halo->sent[n] * width, width));
  PetscCall(Exchange(halo, width * sizeof(*own), (const char *)out, (char *)in));
  for (PetscInt n = 0; n < halo->count; n++)
    PetscCall(PetscArraycpy(copies + halo->order[n] * width, in + n * width, width));
  PetscCall(PetscFree2(out, in));
  PetscFunctionReturn(0);
}
