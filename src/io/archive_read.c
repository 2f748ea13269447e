/* Reading an archive back. Whatever is not as expected is refused with a sentence that names the file and the
   dataset: a digest keeps accidents out, not a file that was made by somebody. */
#include "io_impl.h"
#include <stdarg.h>
#include <string.h>

PetscErrorCode ArchiveRefuse(Archive archive, const char name[], const char format[], ...)
{
  va_list arguments;
  size_t  length;

  PetscFunctionBegin;
  snprintf(archive->problem, MESSAGE_SIZE, "%.400s: \"%.200s%.100s\" ", archive->path, archive->group, name);
  length = strlen(archive->problem);
  va_start(arguments, format);
  vsnprintf(archive->problem + length, MESSAGE_SIZE - length, format, arguments);
  va_end(arguments);
  archive->refused = PETSC_TRUE;
  SETERRQ(archive->comm, PETSC_ERR_FILE_UNEXPECTED, "%s", archive->problem);
}

/* Says nothing about a refusal, which becomes a message, and hands on any other error. */
static PetscErrorCode handle_error(MPI_Comm comm, int line, const char *function, const char *file,
                                   PetscErrorCode number, PetscErrorType type, const char *text,
                                   void *context)
{
  PetscErrorCode error;

  if (((Archive)context)->refused || PetscPopErrorHandler())
    return number;
  error = PetscError(comm, line, function, file, number, type, "%s", text ? text : "");
  (void)PetscPushErrorHandler(handle_error, context);
  return error;
}

PetscErrorCode ArchiveTry(Archive archive, ArchiveReader read, void *context, char message[], size_t size)
{
  PetscErrorCode error;

  PetscFunctionBegin;
  message[0] = '\0';
  PetscCall(PetscPushErrorHandler(handle_error, archive));
  error = read(archive, context);
  PetscCall(PetscPopErrorHandler());
  if (archive->refused)
    PetscCall(PetscStrncpy(message, archive->problem, size));
  else
    PetscCall(error);
  PetscFunctionReturn(0);
}

/* Refuses on all ranks what is not `good` on one of them. */
static PetscErrorCode Agree(Archive archive, const char name[], PetscBool good, const char complaint[])
{
  int all = good;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, archive->comm));
  if (!all)
    PetscCall(ArchiveRefuse(archive, name, "%s", complaint));
  PetscFunctionReturn(0);
}

static PetscErrorCode AgreeOnStatus(Archive archive, const char name[], PetscBool good)
{
  char reason[MESSAGE_SIZE], complaint[MESSAGE_SIZE + 32];

  PetscFunctionBegin;
  snprintf(complaint, sizeof(complaint), "cannot be read: %s",
           good ? "see the others" : hdf5_complaint(reason));
  PetscCall(Agree(archive, name, good, complaint));
  PetscFunctionReturn(0);
}

/* In the file, or in memory. */
typedef struct {
  hid_t                     file;
  const struct StoredArray *memory; /* null: in the file */
} Dataset;

static void close_dataset(Dataset *dataset)
{
  if (!dataset->memory)
    H5Dclose(dataset->file);
}

static PetscErrorCode OpenDataset(Archive archive, const char name[], Dataset *dataset)
{
  char      full[2 * GROUP_SIZE];
  PetscBool has;

  PetscFunctionBegin;
  PetscCheck(!archive->writing, archive->comm, PETSC_ERR_ORDER, "%s is open for writing", archive->path);
  PetscCall(ArchiveHas(archive, name, &has));
  if (!has)
    PetscCall(ArchiveRefuse(archive, name, "is missing"));
  PetscCall(ArchiveFullName(archive, name, full, sizeof(full)));
  dataset->memory = archive->in_memory ? memory_find(archive, full) : NULL;
  if (dataset->memory)
    PetscFunctionReturn(0);
  dataset->file = H5Dopen2(archive->file, full, H5P_DEFAULT);
  PetscCall(AgreeOnStatus(archive, name, dataset->file >= 0 ? PETSC_TRUE : PETSC_FALSE));
  PetscFunctionReturn(0);
}

/* At most as many bytes as the stored ones unpack to; a shape alone costs a file nothing. */
static PetscBool is_stored(hid_t dataset, hsize_t values)
{
  const hsize_t most_deflate_gains = 1040;
  const hid_t   creation = H5Dget_create_plist(dataset), type = H5Dget_type(dataset);
  const hsize_t size = H5Tget_size(type), stored = H5Dget_storage_size(dataset);
  const hsize_t gain = creation >= 0 && H5Pget_nfilters(creation) > 1 ? most_deflate_gains : 1;

  H5Pclose(creation);
  H5Tclose(type);
  return size > 0 && values <= stored * gain / size ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode FileShape(Archive archive, const char name[], hid_t dataset, ArchivePart *part)
{
  const hid_t   space = H5Dget_space(dataset);
  const int     rank = H5Sget_simple_extent_ndims(space);
  const hsize_t values = (hsize_t)H5Sget_simple_extent_npoints(space);
  PetscBool     good = H5Sget_simple_extent_type(space) != H5S_NULL && rank >= 0 && rank <= ARCHIVE_MAX_RANK;
  hsize_t       dims[H5S_MAX_RANK];

  PetscFunctionBegin;
  H5Sget_simple_extent_dims(space, dims, NULL);
  H5Sclose(space);
  for (int d = 0; d < rank && good; d++)
    good = dims[d] <= (hsize_t)PETSC_MAX_INT;
  PetscCall(Agree(archive, name, good, "has a shape that no array of a run has"));
  PetscCall(Agree(archive, name, is_stored(dataset, values), "is shorter than its shape says"));
  part->rank = rank;
  for (int d = 0; d < rank; d++)
    part->global[d] = (PetscInt)dims[d];
  PetscFunctionReturn(0);
}

static PetscErrorCode DatasetShape(Archive archive, const char name[], const Dataset *dataset,
                                   ArchivePart *part)
{
  H5T_class_t kind;
  size_t      value_size;

  PetscFunctionBegin;
  if (dataset->memory)
    PetscCall(MemoryDescribe(dataset->memory, part, &kind, &value_size));
  else
    PetscCall(FileShape(archive, name, dataset->file, part));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveGetShape(Archive archive, const char name[], ArchivePart *part)
{
  Dataset dataset;

  PetscFunctionBegin;
  PetscCall(OpenDataset(archive, name, &dataset));
  PetscCall(DatasetShape(archive, name, &dataset, part));
  close_dataset(&dataset);
  PetscFunctionReturn(0);
}

static const char *shape_in_words(const ArchivePart *part, char text[], size_t size)
{
  snprintf(text, size, "%s", part->rank ? "" : "a single value");
  for (PetscInt d = 0; d < part->rank; d++) {
    const size_t length = strlen(text);

    snprintf(text + length, size - length, "%s%" PetscInt_FMT, d ? " x " : "", part->global[d]);
  }
  return text;
}

static PetscErrorCode CheckShape(Archive archive, const char name[], const Dataset *dataset,
                                 const ArchivePart *part)
{
  ArchivePart stored;
  PetscBool   same;
  char        words[2][128];

  PetscFunctionBegin;
  PetscCall(DatasetShape(archive, name, dataset, &stored));
  same = stored.rank == part->rank ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt d = 0; d < part->rank && same; d++) {
    if (stored.global[d] != part->global[d])
      same = PETSC_FALSE;
  }
  if (!same)
    PetscCall(ArchiveRefuse(archive, name, "is %s, not the %s expected",
                            shape_in_words(&stored, words[0], sizeof(words[0])),
                            shape_in_words(part, words[1], sizeof(words[1]))));
  PetscFunctionReturn(0);
}

static void file_class(hid_t dataset, H5T_class_t *kind, size_t *value_size)
{
  const hid_t type = H5Dget_type(dataset);

  *kind = H5Tget_class(type);
  *value_size = H5Tget_size(type);
  H5Tclose(type);
}

static PetscErrorCode CheckClass(Archive archive, const char name[], const Dataset *dataset,
                                 H5T_class_t expected, size_t *value_size)
{
  ArchivePart shape;
  H5T_class_t stored;

  PetscFunctionBegin;
  if (dataset->memory)
    PetscCall(MemoryDescribe(dataset->memory, &shape, &stored, value_size));
  else
    file_class(dataset->file, &stored, value_size);
  if (stored != expected)
    PetscCall(
        ArchiveRefuse(archive, name, "holds %s, not %s", hdf5_class_name(stored), hdf5_class_name(expected)));
  PetscFunctionReturn(0);
}

/* Every rank reads the whole. */
static PetscErrorCode ReadSingle(Archive archive, const char name[], H5T_class_t expected, hid_t type,
                                 void *value)
{
  Dataset     dataset;
  size_t      value_size;
  ArchivePart single = {0};
  herr_t      status = 0;

  PetscFunctionBegin;
  PetscCall(OpenDataset(archive, name, &dataset));
  PetscCall(CheckClass(archive, name, &dataset, expected, &value_size));
  PetscCall(CheckShape(archive, name, &dataset, &single));
  if (dataset.memory)
    PetscCall(MemoryReadSingle(dataset.memory, value));
  else
    status = H5Dread(dataset.file, type, H5S_ALL, H5S_ALL, archive->transfer, value);
  PetscCall(AgreeOnStatus(archive, name, status >= 0 ? PETSC_TRUE : PETSC_FALSE));
  close_dataset(&dataset);
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveReadReal(Archive archive, const char name[], PetscReal *value)
{
  PetscFunctionBegin;
  PetscCall(ArchiveReadRealWithin(archive, name, -PETSC_MAX_REAL, PETSC_MAX_REAL, value));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveReadRealWithin(Archive archive, const char name[], PetscReal low, PetscReal high,
                                     PetscReal *value)
{
  PetscFunctionBegin;
  PetscCall(ReadSingle(archive, name, H5T_FLOAT, H5T_NATIVE_DOUBLE, value));
  if (PetscIsInfOrNanReal(*value))
    PetscCall(ArchiveRefuse(archive, name, "is %g, which is not finite", (double)*value));
  if (!(*value >= low && *value <= high))
    PetscCall(ArchiveRefuse(archive, name, "is %.17g, not between %.17g and %.17g", (double)*value,
                            (double)low, (double)high));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveReadInteger(Archive archive, const char name[], PetscInt64 *value)
{
  PetscFunctionBegin;
  PetscCall(ReadSingle(archive, name, H5T_INTEGER, H5T_NATIVE_INT64, value));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveReadCount(Archive archive, const char name[], PetscInt64 least, PetscInt64 most,
                                PetscInt64 *value)
{
  PetscFunctionBegin;
  PetscCall(ArchiveReadInteger(archive, name, value));
  if (*value < least || *value > most)
    PetscCall(ArchiveRefuse(archive, name, "is %lld, not between %lld and %lld", (long long)*value,
                            (long long)least, (long long)most));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveReadText(Archive archive, const char name[], char **text)
{
  const ArchivePart single = {0};
  Dataset           dataset;
  hid_t             type;
  size_t            length;

  PetscFunctionBegin;
  PetscCall(OpenDataset(archive, name, &dataset));
  PetscCall(CheckClass(archive, name, &dataset, H5T_STRING, &length));
  PetscCall(CheckShape(archive, name, &dataset, &single));
  close_dataset(&dataset);
  PetscCall(PetscCalloc1(length + 1, text));
  type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, length);
  H5Tset_cset(type, H5T_CSET_UTF8);
  PetscCall(ReadSingle(archive, name, H5T_STRING, type, *text));
  H5Tclose(type);
  PetscFunctionReturn(0);
}

/* `values` are of `type`, in the file as in memory. */
static PetscErrorCode ReadArray(Archive archive, const char name[], const Dataset *dataset,
                                const ArchivePart *part, hid_t type, void *values)
{
  hid_t    file_space, memory_space;
  double   nothing;
  herr_t   status = 0;
  PetscInt total = 1;

  PetscFunctionBegin;
  if (dataset->memory) {
    PetscCall(MemoryRead(archive, dataset->memory, part, values));
    PetscFunctionReturn(0);
  }
  for (PetscInt d = 0; d < part->rank; d++)
    total = PetscMin(1, total * part->global[d]);
  select_part(part, &file_space, &memory_space);
  if (total > 0) {
    status =
        H5Dread(dataset->file, type, memory_space, file_space, archive->transfer, values ? values : &nothing);
  }
  H5Sclose(memory_space);
  H5Sclose(file_space);
  PetscCall(AgreeOnStatus(archive, name, status >= 0 ? PETSC_TRUE : PETSC_FALSE));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckFinite(Archive archive, const char name[], size_t count, const PetscReal values[])
{
  PetscBool good = PETSC_TRUE;

  PetscFunctionBegin;
  for (size_t i = 0; i < count && !archive->non_finite; i++) {
    if (PetscIsInfOrNanReal(values[i]))
      good = PETSC_FALSE;
  }
  PetscCall(Agree(archive, name, good, "holds a value that is not finite"));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveReadPart(Archive archive, const char name[], const ArchivePart *part,
                               PetscReal values[])
{
  const size_t count = part_values(part);
  Dataset      dataset;
  size_t       value_size;
  float       *single;

  PetscFunctionBegin;
  PetscCall(ArchiveCheckPart(archive, name, part));
  PetscCall(OpenDataset(archive, name, &dataset));
  PetscCall(CheckClass(archive, name, &dataset, H5T_FLOAT, &value_size));
  PetscCall(CheckShape(archive, name, &dataset, part));
  if (value_size == sizeof(double)) {
    PetscCall(ReadArray(archive, name, &dataset, part, H5T_NATIVE_DOUBLE, values));
  } else {
    PetscCall(PetscMalloc1(count, &single));
    PetscCall(ReadArray(archive, name, &dataset, part, H5T_NATIVE_FLOAT, single));
    for (size_t i = 0; i < count; i++)
      values[i] = single[i];
    PetscCall(PetscFree(single));
  }
  close_dataset(&dataset);
  PetscCall(CheckFinite(archive, name, count, values));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveReadIntegers(Archive archive, const char name[], const ArchivePart *part,
                                   PetscInt64 values[])
{
  Dataset dataset;
  size_t  value_size;

  PetscFunctionBegin;
  PetscCall(ArchiveCheckPart(archive, name, part));
  PetscCall(OpenDataset(archive, name, &dataset));
  PetscCall(CheckClass(archive, name, &dataset, H5T_INTEGER, &value_size));
  PetscCall(CheckShape(archive, name, &dataset, part));
  PetscCall(ReadArray(archive, name, &dataset, part, H5T_NATIVE_INT64, values));
  close_dataset(&dataset);
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveAllowNonFinite(Archive archive)
{
  PetscFunctionBegin;
  archive->non_finite = PETSC_TRUE;
  PetscFunctionReturn(0);
}
