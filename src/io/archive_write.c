/* Groups, and writing: single values, texts and arrays shared by ranks. */
#include "io_impl.h"
#include <string.h>

PetscErrorCode ArchiveFullName(Archive archive, const char name[], char full[], size_t size)
{
  const int length = snprintf(full, size, "/%s%s", archive->group, name);

  PetscFunctionBegin;
  PetscCheck(length > 0 && (size_t)length < size, archive->comm, PETSC_ERR_ARG_SIZ,
             "The name \"%s%s\" is too long", archive->group, name);
  PetscFunctionReturn(0);
}

/* Also false if a group on the way is missing. */
static htri_t path_exists(hid_t file, const char full[])
{
  char part[2 * GROUP_SIZE];

  snprintf(part, sizeof(part), "%s", full);
  for (char *c = part + 1; *c; c++) {
    htri_t there;

    if (*c != '/')
      continue;
    *c = '\0';
    there = H5Lexists(file, part, H5P_DEFAULT);
    if (there <= 0)
      return there;
    *c = '/';
  }
  return H5Lexists(file, full, H5P_DEFAULT);
}

PetscErrorCode ArchiveHas(Archive archive, const char name[], PetscBool *has)
{
  char full[2 * GROUP_SIZE];

  PetscFunctionBegin;
  *has = PETSC_FALSE;
  if (archive->file < 0 && !archive->in_memory)
    PetscFunctionReturn(0);
  PetscCall(ArchiveFullName(archive, name, full, sizeof(full)));
  if (archive->in_memory)
    *has = memory_find(archive, full) ? PETSC_TRUE : PETSC_FALSE;
  else
    *has = path_exists(archive->file, full) > 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}

static PetscErrorCode MakeGroup(Archive archive, const char group[])
{
  char  full[2 * GROUP_SIZE];
  hid_t made;

  PetscFunctionBegin;
  if (archive->in_memory) {
    PetscCall(MemoryMakeGroup(archive, group));
    PetscFunctionReturn(0);
  }
  PetscCall(ArchiveReserve(archive, ARCHIVE_OVERHEAD));
  if (archive->failed)
    PetscFunctionReturn(0);
  PetscCall(ArchiveFullName(archive, group, full, sizeof(full)));
  made = H5Gcreate2(archive->file, full, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  CheckHDF5(archive, made >= 0, group);
  H5Gclose(made);
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveEnter(Archive archive, const char group[])
{
  const size_t length = strlen(archive->group);
  PetscBool    has;

  PetscFunctionBegin;
  PetscCheck(length + strlen(group) + 2 < GROUP_SIZE, archive->comm, PETSC_ERR_ARG_SIZ,
             "The group \"%s%s\" has too long a name", archive->group, group);
  PetscCall(ArchiveHas(archive, group, &has));
  if (!has && !archive->writing)
    PetscCall(ArchiveRefuse(archive, group, "is missing"));
  if (!has)
    PetscCall(MakeGroup(archive, group));
  snprintf(archive->group + length, GROUP_SIZE - length, "%s/", group);
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveLeave(Archive archive)
{
  char *slash;

  PetscFunctionBegin;
  PetscCheck(archive->group[0], archive->comm, PETSC_ERR_ORDER, "%s: left more groups than were entered",
             archive->path);
  archive->group[strlen(archive->group) - 1] = '\0';
  slash = strrchr(archive->group, '/');
  if (slash)
    slash[1] = '\0';
  else
    archive->group[0] = '\0';
  PetscFunctionReturn(0);
}

/* Halves the longest side until a chunk holds at most a mebibyte; the same for any number of ranks. */
static void choose_chunk(PetscInt rank, const hsize_t dims[], size_t value_size, hsize_t chunk[])
{
  const size_t largest = 1 << 20;

  for (PetscInt d = 0; d < rank; d++)
    chunk[d] = dims[d];
  for (;;) {
    size_t   bytes = value_size;
    PetscInt longest = 0;

    for (PetscInt d = 0; d < rank; d++) {
      bytes *= chunk[d];
      if (chunk[d] > chunk[longest])
        longest = d;
    }
    if (bytes <= largest)
      return;
    chunk[longest] = (chunk[longest] + 1) / 2;
  }
}

/* At most the bytes of an array in the file. A chunk at the edge is stored whole, with its entry in the
 * index. */
static PetscInt64 bytes_at_most(PetscInt rank, const hsize_t dims[], const hsize_t chunk[], size_t value_size)
{
  const PetscInt64 index_entry = 256;
  PetscInt64       chunks = 1, chunk_bytes = (PetscInt64)value_size;

  for (PetscInt d = 0; d < rank; d++) {
    chunks *= (PetscInt64)((dims[d] + chunk[d] - 1) / chunk[d]);
    chunk_bytes *= (PetscInt64)chunk[d];
  }
  return chunks * (chunk_bytes + index_entry) + ARCHIVE_OVERHEAD;
}

/* Fletcher-32 comes last, so that it covers what is on the disk. */
static hid_t creation_of(Archive archive, PetscInt rank, const hsize_t chunk[])
{
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);

  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  H5Pset_chunk(creation, (int)rank, chunk);
  if (archive->deflate > 0) {
    H5Pset_shuffle(creation);
    H5Pset_deflate(creation, (unsigned)archive->deflate);
  }
  H5Pset_fletcher32(creation);
  return creation;
}

void select_part(const ArchivePart *part, hid_t *file_space, hid_t *memory_space)
{
  hsize_t global[ARCHIVE_MAX_RANK] = {0}, start[ARCHIVE_MAX_RANK] = {0}, count[ARCHIVE_MAX_RANK] = {0};
  hsize_t values = 1;

  for (PetscInt d = 0; d < part->rank; d++) {
    global[d] = (hsize_t)part->global[d];
    start[d] = (hsize_t)part->start[d];
    count[d] = (hsize_t)part->count[d];
    values *= count[d];
  }
  *file_space = H5Screate_simple((int)part->rank, global, NULL);
  /* of the same rank: otherwise HDF5 matches the two value by value */
  *memory_space = H5Screate_simple((int)part->rank, count, NULL);
  if (values == 0) {
    H5Sselect_none(*file_space);
    H5Sselect_none(*memory_space);
  } else {
    H5Sselect_hyperslab(*file_space, H5S_SELECT_SET, start, NULL, count, NULL);
  }
}

PetscErrorCode ArchiveCheckPart(Archive archive, const char name[], const ArchivePart *part)
{
  PetscFunctionBegin;
  PetscCheck(part->rank >= 1 && part->rank <= ARCHIVE_MAX_RANK, archive->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "\"%s\" must have 1 to %d dimensions, not %" PetscInt_FMT, name, ARCHIVE_MAX_RANK, part->rank);
  for (PetscInt d = 0; d < part->rank; d++) {
    PetscCheck(part->start[d] >= 0 && part->count[d] >= 0 &&
                   part->start[d] + part->count[d] <= part->global[d],
               PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "\"%s\", dimension %" PetscInt_FMT ": %" PetscInt_FMT " values from %" PetscInt_FMT
               " are not within %" PetscInt_FMT,
               name, d, part->count[d], part->start[d], part->global[d]);
  }
  PetscFunctionReturn(0);
}

size_t part_values(const ArchivePart *part)
{
  size_t values = 1;

  for (PetscInt d = 0; d < part->rank; d++)
    values *= (size_t)part->count[d];
  return values;
}

static PetscErrorCode MakeDataset(Archive archive, const char name[], hid_t type, hid_t space, hid_t creation,
                                  hid_t *dataset)
{
  char full[2 * GROUP_SIZE];

  PetscFunctionBegin;
  PetscCall(ArchiveFullName(archive, name, full, sizeof(full)));
  *dataset = H5Dcreate2(archive->file, full, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  CheckHDF5(archive, *dataset >= 0, name);
  PetscFunctionReturn(0);
}

/* `values` are of `type`, in memory as in the file: a conversion would forbid collective writes. */
static PetscErrorCode WriteChunks(Archive archive, const char name[], const ArchivePart *part, hid_t type,
                                  const void *values)
{
  const double nothing = 0; /* HDF5 wants an address even for no values */
  hsize_t      dims[ARCHIVE_MAX_RANK], chunk[ARCHIVE_MAX_RANK];
  hid_t        file_space, memory_space, creation, dataset;
  PetscInt64   bytes;
  herr_t       status;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < part->rank; d++)
    dims[d] = (hsize_t)part->global[d];
  choose_chunk(part->rank, dims, H5Tget_size(type), chunk);
  bytes = bytes_at_most(part->rank, dims, chunk, H5Tget_size(type));
  PetscCall(ArchiveReserve(archive, bytes));
  if (archive->failed)
    PetscFunctionReturn(0);
  select_part(part, &file_space, &memory_space);
  creation = creation_of(archive, part->rank, chunk);
  PetscCall(MakeDataset(archive, name, type, file_space, creation, &dataset));
  status = H5Dwrite(dataset, type, memory_space, file_space, archive->transfer, values ? values : &nothing);
  CheckHDF5(archive, status >= 0, name);
  H5Dclose(dataset);
  H5Pclose(creation);
  H5Sclose(memory_space);
  H5Sclose(file_space);
  PetscFunctionReturn(0);
}

/* An array without values cannot be chunked. */
static PetscErrorCode WriteEmpty(Archive archive, const char name[], const ArchivePart *part, hid_t type)
{
  hid_t file_space, memory_space, dataset;

  PetscFunctionBegin;
  PetscCall(ArchiveReserve(archive, ARCHIVE_OVERHEAD));
  if (archive->failed)
    PetscFunctionReturn(0);
  select_part(part, &file_space, &memory_space);
  PetscCall(MakeDataset(archive, name, type, file_space, H5P_DEFAULT, &dataset));
  H5Dclose(dataset);
  H5Sclose(memory_space);
  H5Sclose(file_space);
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteArray(Archive archive, const char name[], const ArchivePart *part, hid_t type,
                                 const void *values)
{
  PetscBool empty = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCheck(archive->writing, archive->comm, PETSC_ERR_ORDER, "%s is open for reading", archive->path);
  PetscCall(ArchiveCheckPart(archive, name, part));
  for (PetscInt d = 0; d < part->rank; d++) {
    if (part->global[d] == 0)
      empty = PETSC_TRUE;
  }
  if (archive->in_memory)
    PetscCall(MemoryWrite(archive, name, part, type, values));
  else if (empty)
    PetscCall(WriteEmpty(archive, name, part, type));
  else
    PetscCall(WriteChunks(archive, name, part, type, values));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveWritePart(Archive archive, const char name[], const ArchivePart *part,
                                const PetscReal values[])
{
  const size_t count = part_values(part);
  float       *single;

  PetscFunctionBegin;
  if (archive->precision == ARCHIVE_DOUBLE) {
    PetscCall(WriteArray(archive, name, part, H5T_NATIVE_DOUBLE, values));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscMalloc1(count, &single));
  for (size_t i = 0; i < count; i++)
    single[i] = (float)values[i];
  PetscCall(WriteArray(archive, name, part, H5T_NATIVE_FLOAT, single));
  PetscCall(PetscFree(single));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveWriteMore(Archive archive, const char name[], const ArchivePart *part,
                                const PetscReal values[])
{
  char   full[2 * GROUP_SIZE];
  hid_t  file_space, memory_space, dataset;
  herr_t status;

  PetscFunctionBegin;
  PetscCall(ArchiveCheckPart(archive, name, part));
  if (archive->in_memory)
    PetscCall(MemoryWriteMore(archive, name, part, values));
  if (archive->in_memory || archive->failed)
    PetscFunctionReturn(0);
  PetscCall(ArchiveFullName(archive, name, full, sizeof(full)));
  dataset = H5Dopen2(archive->file, full, H5P_DEFAULT);
  CheckHDF5(archive, dataset >= 0, name);
  select_part(part, &file_space, &memory_space);
  status = H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory_space, file_space, archive->transfer, values);
  CheckHDF5(archive, status >= 0, name);
  H5Sclose(memory_space);
  H5Sclose(file_space);
  H5Dclose(dataset);
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveWriteIntegers(Archive archive, const char name[], const ArchivePart *part,
                                    const PetscInt64 values[])
{
  PetscFunctionBegin;
  PetscCall(WriteArray(archive, name, part, H5T_NATIVE_INT64, values));
  PetscFunctionReturn(0);
}

/* A value without dimensions, from the first rank. */
static PetscErrorCode WriteSingle(Archive archive, const char name[], hid_t type, const void *value)
{
  hid_t  space, dataset;
  herr_t status;

  PetscFunctionBegin;
  PetscCheck(archive->writing, archive->comm, PETSC_ERR_ORDER, "%s is open for reading", archive->path);
  if (archive->in_memory) {
    PetscCall(MemoryWriteSingle(archive, name, type, value));
    PetscFunctionReturn(0);
  }
  PetscCall(ArchiveReserve(archive, ARCHIVE_OVERHEAD + (PetscInt64)H5Tget_size(type)));
  if (archive->failed)
    PetscFunctionReturn(0);
  space = H5Screate(H5S_SCALAR);
  PetscCall(MakeDataset(archive, name, type, space, H5P_DEFAULT, &dataset));
  if (archive->rank > 0)
    H5Sselect_none(space);
  status = H5Dwrite(dataset, type, space, space, archive->transfer, value);
  CheckHDF5(archive, status >= 0, name);
  H5Dclose(dataset);
  H5Sclose(space);
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveWriteReal(Archive archive, const char name[], PetscReal value)
{
  PetscFunctionBegin;
  PetscCall(WriteSingle(archive, name, H5T_NATIVE_DOUBLE, &value));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveWriteInteger(Archive archive, const char name[], PetscInt64 value)
{
  PetscFunctionBegin;
  PetscCall(WriteSingle(archive, name, H5T_NATIVE_INT64, &value));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveWriteText(Archive archive, const char name[], const char text[])
{
  PetscInt64  length = (PetscInt64)strlen(text) + 1;
  const hid_t type = H5Tcopy(H5T_C_S1);

  PetscFunctionBegin;
  /* the type is metadata, which must agree between the ranks */
  PetscCallMPI(MPI_Bcast(&length, 1, MPIU_INT64, 0, archive->comm));
  H5Tset_size(type, (size_t)length);
  H5Tset_cset(type, H5T_CSET_UTF8);
  PetscCall(WriteSingle(archive, name, type, text));
  H5Tclose(type);
  PetscFunctionReturn(0);
}
