/* Archives in memory: each rank keeps its parts of every array as it has written them, and a reader gets his
   from the ranks that have them. What is known of an array is known to all ranks. */
#include "io_impl.h"

enum { PIECE_TAG = 11 };

/* What this rank has written of an array in one call. */
struct StoredPiece {
  ArchivePart         part;
  char               *values;
  struct StoredPiece *next;
};

struct StoredArray {
  char               *name; /* with all groups */
  PetscBool           is_group;
  H5T_class_t         kind;
  size_t              value_size;
  struct StoredPiece *pieces, **end; /* as many on all ranks */
  struct StoredArray *next;
};

struct StoredArray *memory_find(Archive archive, const char full[])
{
  struct StoredArray *array = archive->stored;

  while (array && strcmp(array->name, full))
    array = array->next;
  return array;
}

static PetscErrorCode Add(Archive archive, const char name[], struct StoredArray **array)
{
  char full[2 * GROUP_SIZE];

  PetscFunctionBegin;
  PetscCall(ArchiveFullName(archive, name, full, sizeof(full)));
  PetscCheck(!memory_find(archive, full), archive->comm, PETSC_ERR_ORDER, "\"%s\" is written twice", full);
  PetscCall(PetscNew(array));
  PetscCall(PetscStrallocpy(full, &(*array)->name));
  (*array)->end = &(*array)->pieces;
  (*array)->next = archive->stored;
  archive->stored = *array;
  PetscFunctionReturn(0);
}

PetscErrorCode MemoryMakeGroup(Archive archive, const char group[])
{
  struct StoredArray *array;

  PetscFunctionBegin;
  PetscCall(Add(archive, group, &array));
  array->is_group = PETSC_TRUE;
  PetscFunctionReturn(0);
}

static PetscErrorCode AddPiece(struct StoredArray *array, const ArchivePart *part, const void *values)
{
  const size_t        bytes = part_values(part) * array->value_size;
  struct StoredPiece *piece;

  PetscFunctionBegin;
  PetscCall(PetscNew(&piece));
  piece->part = *part;
  PetscCall(PetscMalloc1(bytes, &piece->values));
  PetscCall(PetscMemcpy(piece->values, values, bytes));
  *array->end = piece;
  array->end = &piece->next;
  PetscFunctionReturn(0);
}

PetscErrorCode MemoryWrite(Archive archive, const char name[], const ArchivePart *part, hid_t type,
                           const void *values)
{
  struct StoredArray *array;

  PetscFunctionBegin;
  PetscCall(Add(archive, name, &array));
  array->kind = H5Tget_class(type);
  array->value_size = H5Tget_size(type);
  PetscCall(AddPiece(array, part, values));
  PetscFunctionReturn(0);
}

PetscErrorCode MemoryWriteMore(Archive archive, const char name[], const ArchivePart *part,
                               const void *values)
{
  char full[2 * GROUP_SIZE];

  PetscFunctionBegin;
  PetscCall(ArchiveFullName(archive, name, full, sizeof(full)));
  PetscCall(AddPiece(memory_find(archive, full), part, values));
  PetscFunctionReturn(0);
}

/* The first rank's: that of another may be shorter, if it is a text. */
PetscErrorCode MemoryWriteSingle(Archive archive, const char name[], hid_t type, const void *value)
{
  const ArchivePart single = {0};
  const size_t      bytes = H5Tget_size(type);
  char             *first;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(bytes, &first));
  if (archive->rank == 0)
    PetscCall(PetscMemcpy(first, value, bytes));
  PetscCallMPI(MPI_Bcast(first, (PetscMPIInt)bytes, MPI_BYTE, 0, archive->comm));
  PetscCall(MemoryWrite(archive, name, &single, type, first));
  PetscCall(PetscFree(first));
  PetscFunctionReturn(0);
}

PetscErrorCode MemoryDescribe(const struct StoredArray *array, ArchivePart *part, H5T_class_t *kind,
                              size_t *value_size)
{
  PetscFunctionBegin;
  *kind = array->kind;
  *value_size = array->value_size;
  part->rank = array->pieces->part.rank;
  PetscCall(PetscArraycpy(part->global, array->pieces->part.global, ARCHIVE_MAX_RANK));
  PetscFunctionReturn(0);
}

PetscErrorCode MemoryReadSingle(const struct StoredArray *array, void *value)
{
  PetscFunctionBegin;
  PetscCall(PetscMemcpy(value, array->pieces->values, array->value_size));
  PetscFunctionReturn(0);
}

/* What two parts have in common; nothing: a count of 0. */
static ArchivePart common_part(const ArchivePart *a, const ArchivePart *b)
{
  ArchivePart common = *a;

  for (PetscInt d = 0; d < a->rank; d++) {
    const PetscInt end = PetscMin(a->start[d] + a->count[d], b->start[d] + b->count[d]);

    common.start[d] = PetscMax(a->start[d], b->start[d]);
    common.count[d] = PetscMax(0, end - common.start[d]);
  }
  return common;
}

typedef enum { PACK, UNPACK } Packing;

/* Between the values of a part and a buffer with those of a part of it, in their order. */
static void copy_part(const ArchivePart *whole, const ArchivePart *part, size_t value_size, char *values,
                      char *buffer, Packing packing)
{
  const PetscInt last = part->rank - 1;
  const size_t   row = (size_t)part->count[last] * value_size;
  PetscInt       at[ARCHIVE_MAX_RANK] = {0}, d = 0;

  while (d >= 0) {
    size_t from = 0;

    for (PetscInt e = 0; e <= last; e++)
      from = from * (size_t)whole->count[e] + (size_t)(part->start[e] - whole->start[e] + at[e]);
    if (packing == PACK)
      memcpy(buffer, values + from * value_size, row);
    else
      memcpy(values + from * value_size, buffer, row);
    buffer += row;
    for (d = last - 1; d >= 0; d--) {
      if (++at[d] < part->count[d])
        break;
      at[d] = 0;
    }
  }
}

/* The parts of all ranks, each rank's own given. */
static PetscErrorCode GatherParts(MPI_Comm comm, const ArchivePart *mine, ArchivePart **all)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc1(size, all));
  PetscCallMPI(MPI_Allgather(mine, sizeof(*mine), MPI_BYTE, *all, sizeof(*mine), MPI_BYTE, comm));
  PetscFunctionReturn(0);
}

/* What this rank takes from (or gives to) each other one: in common of its own part and theirs. */
typedef struct {
  PetscMPIInt  count, *rank, *bytes;
  ArchivePart *part;
  char       **buffer;
} Shipment;

static PetscErrorCode ShipmentCreate(const ArchivePart *own, const ArchivePart theirs[], PetscMPIInt size,
                                     size_t value_size, Shipment *shipment)
{
  PetscFunctionBegin;
  shipment->count = 0;
  PetscCall(PetscMalloc4(size, &shipment->rank, size, &shipment->bytes, size, &shipment->part, size,
                         &shipment->buffer));
  for (PetscMPIInt rank = 0; rank < size; rank++) {
    const ArchivePart common = common_part(own, &theirs[rank]);
    const size_t      bytes = part_values(&common) * value_size;
    const PetscInt    n = shipment->count;

    if (!bytes)
      continue;
    shipment->rank[n] = rank;
    shipment->part[n] = common;
    PetscCall(PetscMPIIntCast((PetscInt)bytes, &shipment->bytes[n]));
    PetscCall(PetscMalloc1(bytes, &shipment->buffer[n]));
    shipment->count++;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ShipmentDestroy(Shipment *shipment)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < shipment->count; n++)
    PetscCall(PetscFree(shipment->buffer[n]));
  PetscCall(PetscFree4(shipment->rank, shipment->bytes, shipment->part, shipment->buffer));
  PetscFunctionReturn(0);
}

static PetscErrorCode Ship(MPI_Comm comm, const Shipment *out, const Shipment *in)
{
  MPI_Request *requests;
  PetscMPIInt  count = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(out->count + in->count, &requests));
  for (PetscInt n = 0; n < in->count; n++)
    PetscCallMPI(
        MPI_Irecv(in->buffer[n], in->bytes[n], MPI_BYTE, in->rank[n], PIECE_TAG, comm, &requests[count++]));
  for (PetscInt n = 0; n < out->count; n++)
    PetscCallMPI(MPI_Isend(out->buffer[n], out->bytes[n], MPI_BYTE, out->rank[n], PIECE_TAG, comm,
                           &requests[count++]));
  PetscCallMPI(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
  PetscCall(PetscFree(requests));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadPiece(Archive archive, size_t value_size, const struct StoredPiece *piece,
                                const ArchivePart *wanted, const ArchivePart all_wanted[], char *values)
{
  ArchivePart *all_stored;
  PetscMPIInt  size;
  Shipment     out, in;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(archive->comm, &size));
  PetscCall(GatherParts(archive->comm, &piece->part, &all_stored));
  PetscCall(ShipmentCreate(&piece->part, all_wanted, size, value_size, &out));
  PetscCall(ShipmentCreate(wanted, all_stored, size, value_size, &in));
  for (PetscInt n = 0; n < out.count; n++)
    copy_part(&piece->part, &out.part[n], value_size, piece->values, out.buffer[n], PACK);
  PetscCall(Ship(archive->comm, &out, &in));
  for (PetscInt n = 0; n < in.count; n++)
    copy_part(wanted, &in.part[n], value_size, values, in.buffer[n], UNPACK);
  PetscCall(ShipmentDestroy(&out));
  PetscCall(ShipmentDestroy(&in));
  PetscCall(PetscFree(all_stored));
  PetscFunctionReturn(0);
}

PetscErrorCode MemoryRead(Archive archive, const struct StoredArray *array, const ArchivePart *part,
                          void *values)
{
  ArchivePart *wanted;

  PetscFunctionBegin;
  PetscCall(GatherParts(archive->comm, part, &wanted));
  for (const struct StoredPiece *piece = array->pieces; piece; piece = piece->next)
    PetscCall(ReadPiece(archive, array->value_size, piece, part, wanted, values));
  PetscCall(PetscFree(wanted));
  PetscFunctionReturn(0);
}

PetscErrorCode MemoryDestroy(struct StoredArray **first)
{
  PetscFunctionBegin;
  while (*first) {
    struct StoredArray *array = *first;

    *first = array->next;
    while (array->pieces) {
      struct StoredPiece *piece = array->pieces;

      array->pieces = piece->next;
      PetscCall(PetscFree(piece->values));
      PetscCall(PetscFree(piece));
    }
    PetscCall(PetscFree(array->name));
    PetscCall(PetscFree(array));
  }
  PetscFunctionReturn(0);
}
