/* Reading an archive back. Whatever is not as expected is an error that names the file and the dataset. */
#include "io_impl.h"

static PetscErrorCode OpenDataset(Archive archive, const char name[], hid_t *dataset)
{
  char      full[2 * GROUP_SIZE];
  PetscBool has;

  PetscFunctionBegin;
  PetscCheck(!archive->writing, archive->comm, PETSC_ERR_ORDER, "%s is open for writing", archive->path);
  PetscCall(ArchiveHas(archive, name, &has));
  PetscCheck(has, archive->comm, PETSC_ERR_FILE_UNEXPECTED, "%s holds no \"%s%s\"", archive->path,
             archive->group, name);
  PetscCall(ArchiveFullName(archive, name, full, sizeof(full)));
  *dataset = H5Dopen2(archive->file, full, H5P_DEFAULT);
  CheckHDF5(archive, *dataset >= 0, name);
  PetscFunctionReturn(0);
}

static PetscErrorCode DatasetShape(Archive archive, const char name[], hid_t dataset, ArchivePart *part)
{
  const hid_t space = H5Dget_space(dataset);
  const int   rank = H5Sget_simple_extent_ndims(space);
  hsize_t     dims[H5S_MAX_RANK];

  PetscFunctionBegin;
  PetscCheck(rank >= 0 && rank <= ARCHIVE_MAX_RANK, archive->comm, PETSC_ERR_FILE_UNEXPECTED,
             "%s: \"%s%s\" has %d dimensions, more than %d", archive->path, archive->group, name, rank,
             ARCHIVE_MAX_RANK);
  H5Sget_simple_extent_dims(space, dims, NULL);
  H5Sclose(space);
  part->rank = rank;
  for (int d = 0; d < rank; d++)
    PetscCall(PetscIntCast((PetscInt64)dims[d], &part->global[d]));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveGetShape(Archive archive, const char name[], ArchivePart *part)
{
  hid_t dataset;

  PetscFunctionBegin;
  PetscCall(OpenDataset(archive, name, &dataset));
  PetscCall(DatasetShape(archive, name, dataset, part));
  H5Dclose(dataset);
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckShape(Archive archive, const char name[], hid_t dataset, const ArchivePart *part)
{
  ArchivePart stored;
  PetscBool   same;

  PetscFunctionBegin;
  PetscCall(DatasetShape(archive, name, dataset, &stored));
  same = stored.rank == part->rank ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt d = 0; d < part->rank && same; d++) {
    if (stored.global[d] != part->global[d])
      same = PETSC_FALSE;
  }
  PetscCheck(same, archive->comm, PETSC_ERR_FILE_UNEXPECTED,
             "%s: \"%s%s\" has %" PetscInt_FMT " dimensions (first %" PetscInt_FMT "), not the %" PetscInt_FMT
             " (first %" PetscInt_FMT ") expected",
             archive->path, archive->group, name, stored.rank, stored.rank ? stored.global[0] : 1, part->rank,
             part->global[0]);
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckClass(Archive archive, const char name[], hid_t dataset, H5T_class_t expected,
                                 size_t *value_size)
{
  const hid_t       type = H5Dget_type(dataset);
  const H5T_class_t stored = H5Tget_class(type);

  PetscFunctionBegin;
  *value_size = H5Tget_size(type);
  H5Tclose(type);
  PetscCheck(stored == expected, archive->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: \"%s%s\" holds %s, not %s",
             archive->path, archive->group, name, hdf5_class_name(stored), hdf5_class_name(expected));
  PetscFunctionReturn(0);
}

/* Every rank reads the whole. */
static PetscErrorCode ReadSingle(Archive archive, const char name[], H5T_class_t expected, hid_t type,
                                 void *value)
{
  hid_t       dataset;
  size_t      value_size;
  ArchivePart single = {0};

  PetscFunctionBegin;
  PetscCall(OpenDataset(archive, name, &dataset));
  PetscCall(CheckClass(archive, name, dataset, expected, &value_size));
  PetscCall(CheckShape(archive, name, dataset, &single));
  CheckHDF5(archive, H5Dread(dataset, type, H5S_ALL, H5S_ALL, archive->transfer, value) >= 0, name);
  H5Dclose(dataset);
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveReadReal(Archive archive, const char name[], PetscReal *value)
{
  PetscFunctionBegin;
  PetscCall(ReadSingle(archive, name, H5T_FLOAT, H5T_NATIVE_DOUBLE, value));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveReadInteger(Archive archive, const char name[], PetscInt64 *value)
{
  PetscFunctionBegin;
  PetscCall(ReadSingle(archive, name, H5T_INTEGER, H5T_NATIVE_INT64, value));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveReadText(Archive archive, const char name[], char **text)
{
  const hid_t type = H5Tcopy(H5T_C_S1);
  hid_t       dataset;
  size_t      length;

  PetscFunctionBegin;
  PetscCall(OpenDataset(archive, name, &dataset));
  PetscCall(CheckClass(archive, name, dataset, H5T_STRING, &length));
  H5Dclose(dataset);
  PetscCall(PetscCalloc1(length + 1, text));
  H5Tset_size(type, length);
  H5Tset_cset(type, H5T_CSET_UTF8);
  PetscCall(ReadSingle(archive, name, H5T_STRING, type, *text));
  H5Tclose(type);
  PetscFunctionReturn(0);
}

/* `values` are of `type`, in the file as in memory. */
static PetscErrorCode ReadArray(Archive archive, const char name[], hid_t dataset, const ArchivePart *part,
                                hid_t type, void *values)
{
  hid_t    file_space, memory_space;
  double   nothing;
  herr_t   status = 0;
  PetscInt total = 1;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < part->rank; d++)
    total = PetscMin(1, total * part->global[d]);
  select_part(part, &file_space, &memory_space);
  if (total > 0) {
    status = H5Dread(dataset, type, memory_space, file_space, archive->transfer, values ? values : &nothing);
  }
  H5Sclose(memory_space);
  H5Sclose(file_space);
  CheckHDF5(archive, status >= 0, name);
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveReadPart(Archive archive, const char name[], const ArchivePart *part,
                               PetscReal values[])
{
  const size_t count = part_values(part);
  hid_t        dataset;
  size_t       value_size;
  float       *single;

  PetscFunctionBegin;
  PetscCall(ArchiveCheckPart(archive, name, part));
  PetscCall(OpenDataset(archive, name, &dataset));
  PetscCall(CheckClass(archive, name, dataset, H5T_FLOAT, &value_size));
  PetscCall(CheckShape(archive, name, dataset, part));
  if (value_size == sizeof(double)) {
    PetscCall(ReadArray(archive, name, dataset, part, H5T_NATIVE_DOUBLE, values));
  } else {
    PetscCall(PetscMalloc1(count, &single));
    PetscCall(ReadArray(archive, name, dataset, part, H5T_NATIVE_FLOAT, single));
    for (size_t i = 0; i < count; i++)
      values[i] = single[i];
    PetscCall(PetscFree(single));
  }
  H5Dclose(dataset);
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveReadIntegers(Archive archive, const char name[], const ArchivePart *part,
                                   PetscInt64 values[])
{
  hid_t  dataset;
  size_t value_size;

  PetscFunctionBegin;
  PetscCall(ArchiveCheckPart(archive, name, part));
  PetscCall(OpenDataset(archive, name, &dataset));
  PetscCall(CheckClass(archive, name, dataset, H5T_INTEGER, &value_size));
  PetscCall(CheckShape(archive, name, dataset, part));
  PetscCall(ReadArray(archive, name, dataset, part, H5T_NATIVE_INT64, values));
  H5Dclose(dataset);
  PetscFunctionReturn(0);
}
