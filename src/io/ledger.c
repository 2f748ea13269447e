/* The ledger: a table with a row per step.

   ledger.csv is the table. Rows are appended to it, never rewritten, so neither memory nor a frame's time
   grows with the run; it is synchronised to the disk before a checkpoint counts its rows. A restart cuts it
   to the rows of its checkpoint; until the first row that follows, what was there stays. ledger.h5 is a copy
   for readers of HDF5, replaced as a whole when the table has doubled since, and at the end. */
#include "io_impl.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct _p_Ledger {
  MPI_Comm    comm; /* borrowed */
  PetscMPIInt rank;
  PetscInt    columns;
  PetscInt64  rows;
  PetscInt64  archived;     /* rows of ledger.h5; 0: not known */
  Text        names, units; /* separated by commas */
  Text        pending; /* rows that the text does not hold yet; this and what follows: on the first rank */
  int         csv;
  PetscInt64  length; /* bytes of the whole rows in the text; what lies beyond is dropped */
  char        csv_path[PETSC_MAX_PATH_LEN];
  char        archive_path[PETSC_MAX_PATH_LEN];
};

static PetscErrorCode FormatRow(Ledger ledger, const PetscReal row[], Text *text)
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < ledger->columns; c++) {
    PetscCall(TextAppend(text, "%.17g%s", row[c], c + 1 < ledger->columns ? "," : "\n"));
  }
  PetscFunctionReturn(0);
}

/* Puts what is pending behind the whole rows; returns an errno. Half a row is taken away again. */
static int write_pending(Ledger ledger)
{
  struct stat status;
  int         problem;

  if (fstat(ledger->csv, &status))
    return errno;
  if (status.st_size != ledger->length && ftruncate(ledger->csv, ledger->length))
    return errno;
  problem = write_all_at(ledger->csv, ledger->pending.data, ledger->pending.length, ledger->length);
  if (problem) {
    (void)!ftruncate(ledger->csv, ledger->length);
    return problem;
  }
  ledger->length += (PetscInt64)ledger->pending.length;
  ledger->pending.length = 0;
  return 0;
}

/* How many rows to hold at a time on the way between text and archive: about 16 MB. */
static PetscInt64 batch_rows(Ledger ledger)
{
  return PetscMax(1, (1 << 21) / PetscMax(1, ledger->columns));
}

/* Whether a line has a number for each column; `line` ends in a newline if it is whole. */
static PetscBool is_row(const char line[], PetscInt columns)
{
  PetscInt commas = 0;

  for (; *line && *line != '\n'; line++) {
    if (*line == ',')
      commas++;
    else if (!isalnum((unsigned char)*line) && !strchr("+-.", *line))
      return PETSC_FALSE;
  }
  return *line == '\n' && commas + 1 == columns ? PETSC_TRUE : PETSC_FALSE;
}

/* The table as a stream of lines, behind its first; null, with a problem, if that is not what it should be.
 */
static FILE *open_rows(Ledger ledger, char **line, size_t *capacity, char problem[])
{
  const int file = open_regular(ledger->csv_path, O_RDONLY);
  FILE     *stream = file < 0 ? NULL : fdopen(file, "rb");

  if (stream && getline(line, capacity, stream) == (ssize_t)ledger->names.length + 1 &&
      !strncmp(*line, ledger->names.data, ledger->names.length))
    return stream;
  if (stream)
    fclose(stream);
  snprintf(problem, MESSAGE_SIZE, "%.400s is missing or has other columns", ledger->csv_path);
  return NULL;
}

/* Where the first `rows` rows end. */
static void find_end(Ledger ledger, PetscInt64 rows, char problem[])
{
  char  *line = NULL;
  size_t capacity = 0;
  FILE  *stream = open_rows(ledger, &line, &capacity, problem);

  for (PetscInt64 r = 0; stream && r < rows && !problem[0]; r++) {
    if (getline(&line, &capacity, stream) < 0 || !is_row(line, ledger->columns)) {
      snprintf(problem, MESSAGE_SIZE, "%.400s is not whole in row %lld of %lld", ledger->csv_path,
               (long long)r + 1, (long long)rows);
    }
  }
  if (stream) {
    ledger->length = (PetscInt64)ftello(stream);
    fclose(stream);
  }
  free(line);
}

/* Up to `most` rows into `values`, column after column as the archive has them; false if one is not whole. */
static PetscBool read_rows(Ledger ledger, FILE *stream, PetscInt64 most, PetscReal values[])
{
  char     *line = NULL;
  size_t    capacity = 0;
  PetscBool good = PETSC_TRUE;

  for (PetscInt64 r = 0; r < most && good; r++) {
    char *at;

    good = getline(&line, &capacity, stream) > 0 && is_row(line, ledger->columns) ? PETSC_TRUE : PETSC_FALSE;
    at = line;
    for (PetscInt c = 0; c < ledger->columns && good; c++, at++)
      values[c * most + r] = strtod(at, &at);
  }
  free(line);
  return good;
}

/* A part of every column: the first creates the arrays. */
static PetscErrorCode WriteColumns(Ledger ledger, Archive archive, const ArchivePart *part,
                                   const PetscReal values[])
{
  char *names, *rest;

  PetscFunctionBegin;
  PetscCall(PetscStrallocpy(ledger->names.data, &names));
  rest = names;
  for (PetscInt c = 0; c < ledger->columns; c++) {
    const char      *name = strsep(&rest, ",");
    const PetscReal *column = values + c * part->count[0];

    if (part->start[0] == 0)
      PetscCall(ArchiveWritePart(archive, name, part, column));
    else
      PetscCall(ArchiveWriteMore(archive, name, part, column));
  }
  PetscCall(PetscFree(names));
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteTable(Ledger ledger, Archive archive, FILE *stream, char problem[])
{
  PetscReal *values;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)(PetscMin(batch_rows(ledger), ledger->rows) * ledger->columns), &values));
  for (PetscInt64 r = 0; r < ledger->rows && !problem[0]; r += batch_rows(ledger)) {
    const PetscInt64  count = PetscMin(batch_rows(ledger), ledger->rows - r);
    const ArchivePart part = {1, {(PetscInt)ledger->rows}, {(PetscInt)r}, {(PetscInt)count}};

    if (read_rows(ledger, stream, count, values))
      PetscCall(WriteColumns(ledger, archive, &part, values));
    else
      snprintf(problem, MESSAGE_SIZE, "%.400s has been changed by somebody else", ledger->csv_path);
  }
  PetscCall(PetscFree(values));
  PetscFunctionReturn(0);
}

/* On the first rank, when all rows are in the text. */
static PetscErrorCode WriteArchive(Ledger ledger, char problem[])
{
  char   *line = NULL;
  size_t  capacity = 0;
  FILE   *stream = open_rows(ledger, &line, &capacity, problem);
  Archive archive;

  PetscFunctionBegin;
  free(line);
  if (!stream)
    PetscFunctionReturn(0);
  PetscCall(ArchiveCreate(PETSC_COMM_SELF, ledger->archive_path, &archive));
  PetscCall(ArchiveWriteInteger(archive, "rows", ledger->rows));
  PetscCall(ArchiveWriteText(archive, "names", ledger->names.data));
  PetscCall(ArchiveWriteText(archive, "units", ledger->units.data));
  PetscCall(ArchiveEnter(archive, "columns"));
  PetscCall(WriteTable(ledger, archive, stream, problem));
  fclose(stream);
  if (problem[0])
    PetscCall(ArchiveDestroy(&archive));
  else
    PetscCall(ArchiveTryCommit(&archive, problem, MESSAGE_SIZE));
  if (!problem[0])
    ledger->archived = ledger->rows;
  PetscFunctionReturn(0);
}

typedef struct {
  Ledger     ledger;
  PetscInt64 rows;
  int        file; /* the new text */
  char      *problem;
} Rescue;

/* Rows `first` to `first + count` of `stored`, from the archive to the text. */
static PetscErrorCode RescueRows(Archive archive, const Rescue *rescue, PetscInt64 stored, PetscInt64 first,
                                 PetscInt64 count)
{
  const Ledger      ledger = rescue->ledger;
  const ArchivePart part = {1, {(PetscInt)stored}, {(PetscInt)first}, {(PetscInt)count}};
  PetscReal        *values, *row;
  char             *names, *rest;
  Text              text = {0};
  int               number;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2((size_t)(count * ledger->columns), &values, ledger->columns, &row));
  PetscCall(PetscStrallocpy(ledger->names.data, &names));
  rest = names;
  for (PetscInt c = 0; c < ledger->columns; c++)
    PetscCall(ArchiveReadPart(archive, strsep(&rest, ","), &part, values + c * count));
  for (PetscInt64 r = 0; r < count; r++) {
    for (PetscInt c = 0; c < ledger->columns; c++)
      row[c] = values[c * count + r];
    PetscCall(FormatRow(ledger, row, &text));
  }
  number = write_all_at(rescue->file, text.data, text.length, lseek(rescue->file, 0, SEEK_END));
  if (number)
    snprintf(rescue->problem, MESSAGE_SIZE, "%.400s cannot be written: %s", ledger->csv_path,
             strerror(number));
  PetscCall(TextDestroy(&text));
  PetscCall(PetscFree(names));
  PetscCall(PetscFree2(values, row));
  PetscFunctionReturn(0);
}

static PetscErrorCode RescueTable(Archive archive, void *context)
{
  Rescue      *rescue = context;
  const Ledger ledger = rescue->ledger;
  PetscInt64   stored;
  char        *names;

  PetscFunctionBegin;
  PetscCall(ArchiveAllowNonFinite(archive));
  PetscCall(ArchiveReadText(archive, "names", &names));
  PetscCall(ArchiveReadCount(archive, "rows", 0, PETSC_MAX_INT, &stored));
  if (strcmp(names, ledger->names.data)) {
    snprintf(rescue->problem, MESSAGE_SIZE, "%.400s has other columns", ledger->archive_path);
  } else if (stored < rescue->rows) {
    snprintf(rescue->problem, MESSAGE_SIZE, "%.400s has %lld rows, not the %lld of the checkpoint",
             ledger->archive_path, (long long)stored, (long long)rescue->rows);
  }
  PetscCall(PetscFree(names));
  PetscCall(ArchiveEnter(archive, "columns"));
  for (PetscInt64 r = 0; r < rescue->rows && !rescue->problem[0]; r += batch_rows(ledger))
    PetscCall(RescueRows(archive, rescue, stored, r, PetscMin(batch_rows(ledger), rescue->rows - r)));
  PetscFunctionReturn(0);
}

/* A text that is lost or damaged, made anew from the archive, which holds the same doubles. */
static PetscErrorCode RescueText(Ledger ledger, PetscInt64 rows, char problem[])
{
  Rescue  rescue = {.ledger = ledger, .rows = rows, .problem = problem};
  char    temporary[PETSC_MAX_PATH_LEN];
  Archive archive;
  int     number;

  PetscFunctionBegin;
  PetscCall(ArchiveOpen(PETSC_COMM_SELF, ledger->archive_path, &archive, problem, MESSAGE_SIZE));
  if (!archive)
    PetscFunctionReturn(0);
  snprintf(temporary, sizeof(temporary), "%.4000s.tmp", ledger->csv_path);
  rescue.file = open(temporary, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  ledger->names.data[ledger->names.length] = '\n'; /* the first line, for a moment */
  number =
      rescue.file < 0 ? errno : write_all_at(rescue.file, ledger->names.data, ledger->names.length + 1, 0);
  ledger->names.data[ledger->names.length] = '\0';
  if (!number)
    PetscCall(ArchiveTry(archive, RescueTable, &rescue, problem, MESSAGE_SIZE));
  PetscCall(ArchiveDestroy(&archive));
  if (rescue.file >= 0)
    close(rescue.file);
  if (!number && !problem[0])
    number = publish_file(temporary, ledger->csv_path);
  if (number)
    snprintf(problem, MESSAGE_SIZE, "%.400s cannot be written: %s", ledger->csv_path, strerror(number));
  if (problem[0])
    unlink(temporary);
  PetscFunctionReturn(0);
}

static PetscErrorCode TakeUp(Ledger ledger, PetscInt64 rows, char problem[])
{
  char first[MESSAGE_SIZE];

  PetscFunctionBegin;
  find_end(ledger, rows, problem);
  if (!problem[0])
    PetscFunctionReturn(0);
  strcpy(first, problem);
  problem[0] = '\0';
  PetscCall(RescueText(ledger, rows, problem));
  if (!problem[0])
    find_end(ledger, rows, problem);
  else
    snprintf(first + strlen(first), sizeof(first) - strlen(first), "; %.500s", problem);
  if (problem[0])
    strcpy(problem, first);
  PetscFunctionReturn(0);
}

static PetscErrorCode StartOnFirstRank(Ledger ledger, PetscInt64 rows, char problem[])
{
  const int flags = rows > 0 ? O_RDWR : O_RDWR | O_CREAT | O_TRUNC;
  int       number = 0;

  PetscFunctionBegin;
  if (rows > 0)
    PetscCall(TakeUp(ledger, rows, problem));
  else
    PetscCall(TextAppend(&ledger->pending, "%s\n", ledger->names.data));
  if (problem[0])
    PetscFunctionReturn(0);
  ledger->csv = open_regular(ledger->csv_path, flags);
  if (ledger->csv < 0)
    number = errno;
  else if (rows == 0)
    number = write_pending(ledger);
  if (number)
    snprintf(problem, MESSAGE_SIZE, "%.400s cannot be written: %s", ledger->csv_path, strerror(number));
  PetscFunctionReturn(0);
}

static PetscErrorCode NameFiles(Ledger ledger, const LedgerConfig *config)
{
  const char *name = config->name ? config->name : "ledger";
  char        file[128], folder[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  snprintf(file, sizeof(file), "%.100s.csv", name);
  PetscCall(JoinPath(config->directory, file, ledger->csv_path));
  snprintf(file, sizeof(file), "%.100s.h5", name);
  PetscCall(JoinPath(config->directory, file, ledger->archive_path));
  if (ledger->rank == 0 && strchr(name, '/')) {
    PetscCall(PetscStrncpy(folder, ledger->csv_path, sizeof(folder)));
    *strrchr(folder, '/') = '\0';
    (void)make_directories(folder); /* a failure shows when the file cannot be opened */
  }
  PetscFunctionReturn(0);
}

PetscErrorCode LedgerCreate(MPI_Comm comm, const LedgerConfig *config, Ledger *ledger, char message[],
                            size_t message_size)
{
  char   problem[MESSAGE_SIZE] = "";
  Ledger l;

  PetscFunctionBegin;
  PetscCall(PetscNew(ledger));
  l = *ledger;
  l->comm = comm;
  l->columns = config->column_count;
  l->csv = -1;
  PetscCallMPI(MPI_Comm_rank(comm, &l->rank));
  PetscCall(NameFiles(l, config));
  for (PetscInt c = 0; c < config->column_count; c++) {
    const char *name = config->columns[c][0], *unit = config->columns[c][1];

    PetscCheck(!strpbrk(name, ",\n/"), comm, PETSC_ERR_ARG_WRONG, "\"%s\" cannot be a column's name", name);
    PetscCall(TextAppend(&l->names, "%s%s", c ? "," : "", name));
    PetscCall(TextAppend(&l->units, "%s%s", c ? "," : "", unit));
  }
  if (l->rank == 0)
    PetscCall(StartOnFirstRank(l, config->rows, problem));
  PetscCallMPI(MPI_Bcast(problem, MESSAGE_SIZE, MPI_CHAR, 0, comm));
  l->rows = config->rows;
  PetscCall(PetscStrncpy(message, problem, message_size));
  if (problem[0])
    PetscCall(LedgerDestroy(ledger));
  PetscFunctionReturn(0);
}

PetscErrorCode LedgerAppend(Ledger ledger, const PetscReal values[])
{
  PetscFunctionBegin;
  if (ledger->rank == 0) {
    PetscCall(FormatRow(ledger, values, &ledger->pending));
    (void)write_pending(ledger); /* LedgerSync tries again, and tells */
  }
  ledger->rows++;
  PetscFunctionReturn(0);
}

static PetscErrorCode Synchronise(Ledger ledger, PetscBool copy, char message[], size_t message_size)
{
  char problem[MESSAGE_SIZE] = "";
  int  number;

  PetscFunctionBegin;
  if (ledger->rank == 0) {
    number = write_pending(ledger);
    if (!number && fsync(ledger->csv))
      number = errno;
    if (number)
      snprintf(problem, MESSAGE_SIZE, "%.400s cannot be written: %s", ledger->csv_path, strerror(number));
    else if (copy)
      PetscCall(WriteArchive(ledger, problem));
  }
  PetscCallMPI(MPI_Bcast(problem, MESSAGE_SIZE, MPI_CHAR, 0, ledger->comm));
  PetscCall(PetscStrncpy(message, problem, message_size));
  PetscFunctionReturn(0);
}

PetscErrorCode LedgerSync(Ledger ledger, char message[], size_t message_size)
{
  const PetscBool doubled = ledger->rows >= 2 * ledger->archived ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(Synchronise(ledger, doubled, message, message_size));
  PetscFunctionReturn(0);
}

PetscErrorCode LedgerFinish(Ledger ledger, char message[], size_t message_size)
{
  PetscFunctionBegin;
  PetscCall(Synchronise(ledger, ledger->archived != ledger->rows, message, message_size));
  PetscFunctionReturn(0);
}

PetscInt64 ledger_rows(Ledger ledger)
{
  return ledger->rows;
}

PetscErrorCode LedgerDestroy(Ledger *ledger)
{
  PetscFunctionBegin;
  if (!*ledger)
    PetscFunctionReturn(0);
  if ((*ledger)->csv >= 0)
    close((*ledger)->csv);
  PetscCall(TextDestroy(&(*ledger)->names));
  PetscCall(TextDestroy(&(*ledger)->units));
  PetscCall(TextDestroy(&(*ledger)->pending));
  PetscCall(PetscFree(*ledger));
  PetscFunctionReturn(0);
}
