/* What `millrace info` shows: every dataset with its type, shape and, if it is short, its value. */
#include "io_impl.h"
#include <inttypes.h>
#include <string.h>

const char *hdf5_class_name(H5T_class_t class)
{
  switch (class) {
  case H5T_FLOAT:
    return "real numbers";
  case H5T_INTEGER:
    return "integers";
  case H5T_STRING:
    return "a text";
  default:
    return "values of an unknown type";
  }
}

static void print_shape(FILE *stream, hid_t space)
{
  const int rank = H5Sget_simple_extent_ndims(space);
  hsize_t   dims[H5S_MAX_RANK];

  H5Sget_simple_extent_dims(space, dims, NULL);
  for (int d = 0; d < rank; d++)
    fprintf(stream, "%s%" PRIuHSIZE, d ? " x " : "", dims[d]);
}

/* What a terminal would obey, as \xNN: control characters, also those of Latin-1 in UTF-8. */
static void print_plainly(FILE *stream, const char text[])
{
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0))
      fprintf(stream, "\\x%02x", *c);
    else
      fputc(*c, stream);
  }
}

/* One line of a text; a longer one is counted instead. */
static void print_text(FILE *stream, const char text[])
{
  size_t lines = 0;

  for (const char *c = text; *c; c++)
    lines += *c == '\n';
  if (lines == 0)
    print_plainly(stream, text);
  else
    fprintf(stream, "text of %zu lines", lines);
}

static herr_t print_single(FILE *stream, hid_t dataset, hid_t type)
{
  const H5T_class_t class = H5Tget_class(type);
  double  real;
  int64_t integer;
  herr_t  status = -1;

  if (class == H5T_FLOAT) {
    status = H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &real);
    if (status >= 0)
      fprintf(stream, "%.17g", real);
  } else if (class == H5T_INTEGER) {
    status = H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &integer);
    if (status >= 0)
      fprintf(stream, "%" PRId64, integer);
  } else if (class == H5T_STRING) {
    char *text = calloc(H5Tget_size(type) + 1, 1);

    if (text)
      status = H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text);
    if (status >= 0)
      print_text(stream, text);
    free(text);
  }
  return status;
}

static herr_t print_object(hid_t file, const char *name, const H5O_info_t *info, void *context)
{
  FILE  *stream = context;
  hid_t  dataset, space, type;
  herr_t status = 0;

  if (info->type != H5O_TYPE_DATASET)
    return 0;
  dataset = H5Dopen2(file, name, H5P_DEFAULT);
  if (dataset < 0)
    return -1;
  space = H5Dget_space(dataset);
  type = H5Dget_type(dataset);
  fprintf(stream, "  ");
  print_plainly(stream, name);
  fprintf(stream, "%*s ", PetscMax(0, 36 - (int)strlen(name)), "");
  if (H5Sget_simple_extent_type(space) == H5S_SCALAR) {
    status = print_single(stream, dataset, type);
  } else {
    print_shape(stream, space);
    fprintf(stream, "  %s of %zu bytes, %.1f kB stored", hdf5_class_name(H5Tget_class(type)),
            H5Tget_size(type), (double)H5Dget_storage_size(dataset) / 1e3);
  }
  fprintf(stream, "\n");
  H5Tclose(type);
  H5Sclose(space);
  H5Dclose(dataset);
  return status;
}

PetscErrorCode ArchivePrint(Archive archive, FILE *stream)
{
  FILE  *null = archive->rank ? fopen("/dev/null", "w") : NULL;
  herr_t status;

  PetscFunctionBegin;
  PetscCheck(!archive->writing, archive->comm, PETSC_ERR_ORDER, "%s is open for writing", archive->path);
  PetscCheck(!archive->rank || null, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "/dev/null cannot be opened");
  if (!archive->rank)
    fprintf(stream, "%s: whole\n", archive->path);
  status = H5Ovisit(archive->file, H5_INDEX_NAME, H5_ITER_INC, print_object, archive->rank ? null : stream);
  if (null)
    fclose(null);
  if (status < 0)
    PetscCall(ArchiveRefuse(archive, "", "cannot be read: %s", hdf5_complaint((char[MESSAGE_SIZE]){0})));
  PetscFunctionReturn(0);
}
