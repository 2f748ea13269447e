/* The ledger: a table with a row per step. The first rank keeps it in memory, appends every row to
   ledger.csv at once and replaces ledger.h5 on LedgerSync; both hold the same doubles. */
#include "io_impl.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct _p_Ledger {
  MPI_Comm    comm; /* borrowed */
  PetscMPIInt rank;
  PetscInt    columns;
  PetscInt64  rows;
  Text        names, units; /* separated by commas */
  PetscReal  *values;       /* of the first rank, row by row */
  PetscInt64  capacity;     /* rows that fit in `values` */
  int         csv;          /* of the first rank; negative: to be written anew */
  char        csv_path[PETSC_MAX_PATH_LEN];
  char        archive_path[PETSC_MAX_PATH_LEN];
};

static PetscErrorCode MakeRoomForRow(Ledger ledger)
{
  PetscFunctionBegin;
  if (ledger->rows < ledger->capacity)
    PetscFunctionReturn(0);
  ledger->capacity = 2 * ledger->capacity + 256;
  PetscCall(PetscRealloc(sizeof(PetscReal) * (size_t)(ledger->capacity * ledger->columns), &ledger->values));
  PetscFunctionReturn(0);
}

static PetscErrorCode FormatRow(Ledger ledger, const PetscReal row[], Text *text)
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < ledger->columns; c++) {
    PetscCall(TextAppend(text, "%.17g%s", row[c], c + 1 < ledger->columns ? "," : "\n"));
  }
  PetscFunctionReturn(0);
}

/* From memory, as a whole; then ready to be appended to. `*problem` is an errno. */
static PetscErrorCode WriteCsv(Ledger ledger, int *problem)
{
  Text text = {0};

  PetscFunctionBegin;
  PetscCall(TextAppend(&text, "%s\n", ledger->names.data));
  for (PetscInt64 r = 0; r < ledger->rows; r++) {
    PetscCall(FormatRow(ledger, ledger->values + r * ledger->columns, &text));
  }
  *problem = write_file_atomically(ledger->csv_path, text.data, text.length);
  PetscCall(TextDestroy(&text));
  if (*problem)
    PetscFunctionReturn(0);
  ledger->csv = open(ledger->csv_path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (ledger->csv < 0)
    *problem = errno;
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadCsv(Ledger ledger, PetscInt64 rows, char problem[])
{
  Text        text = {0};
  const char *at;

  PetscFunctionBegin;
  PetscCall(TextRead(&text, ledger->csv_path));
  at = text.data ? text.data : "";
  if (strncmp(at, ledger->names.data, ledger->names.length) || at[ledger->names.length] != '\n') {
    snprintf(problem, MESSAGE_SIZE, "%.400s is missing or has other columns", ledger->csv_path);
  } else {
    at += ledger->names.length + 1;
  }
  while (!problem[0] && ledger->rows < rows) {
    PetscCall(MakeRoomForRow(ledger));
    for (PetscInt c = 0; c < ledger->columns && !problem[0]; c++) {
      char *end;

      ledger->values[ledger->rows * ledger->columns + c] = strtod(at, &end);
      if (end == at || *end != (c + 1 < ledger->columns ? ',' : '\n')) {
        snprintf(problem, MESSAGE_SIZE, "%.400s is not whole in row %lld of %lld", ledger->csv_path,
                 (long long)ledger->rows + 1, (long long)rows);
      }
      at = end + 1;
    }
    ledger->rows++;
  }
  PetscCall(TextDestroy(&text));
  PetscFunctionReturn(0);
}

/* Row and column trade places on the way to and from the archive, in which a column is an array. */
static PetscErrorCode ReadColumns(Ledger ledger, Archive archive, PetscInt64 rows, PetscInt64 stored)
{
  ArchivePart part = {1, {(PetscInt)stored}, {0}, {(PetscInt)rows}};
  PetscReal  *column;
  char       *names, *rest;

  PetscFunctionBegin;
  ledger->capacity = rows;
  PetscCall(PetscRealloc(sizeof(PetscReal) * (size_t)(rows * ledger->columns), &ledger->values));
  PetscCall(PetscMalloc1(rows, &column));
  PetscCall(PetscStrallocpy(ledger->names.data, &names));
  rest = names;
  PetscCall(ArchiveEnter(archive, "columns"));
  for (PetscInt c = 0; c < ledger->columns; c++) {
    const char *name = strsep(&rest, ",");

    PetscCall(ArchiveReadPart(archive, name, &part, column));
    for (PetscInt64 r = 0; r < rows; r++)
      ledger->values[r * ledger->columns + c] = column[r];
  }
  ledger->rows = rows;
  PetscCall(PetscFree(names));
  PetscCall(PetscFree(column));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadArchive(Ledger ledger, PetscInt64 rows, char problem[])
{
  Archive    archive;
  PetscInt64 stored;
  char      *names;

  PetscFunctionBegin;
  PetscCall(ArchiveOpen(PETSC_COMM_SELF, ledger->archive_path, &archive, problem, MESSAGE_SIZE));
  if (!archive)
    PetscFunctionReturn(0);
  PetscCall(ArchiveReadText(archive, "names", &names));
  PetscCall(ArchiveReadInteger(archive, "rows", &stored));
  if (strcmp(names, ledger->names.data)) {
    snprintf(problem, MESSAGE_SIZE, "%.400s has other columns", ledger->archive_path);
  } else if (stored < rows) {
    snprintf(problem, MESSAGE_SIZE, "%.400s has %lld rows, not the %lld of the checkpoint",
             ledger->archive_path, (long long)stored, (long long)rows);
  } else {
    PetscCall(ReadColumns(ledger, archive, rows, stored));
  }
  PetscCall(PetscFree(names));
  PetscCall(ArchiveDestroy(&archive));
  PetscFunctionReturn(0);
}

static PetscErrorCode StartOnFirstRank(Ledger ledger, PetscInt64 rows, char problem[])
{
  char other[MESSAGE_SIZE / 2] = "";
  int  number = 0;

  PetscFunctionBegin;
  if (rows > 0) {
    PetscCall(ReadArchive(ledger, rows, problem));
    if (problem[0]) {
      /* the view is as good, to the last bit */
      snprintf(other, sizeof(other), "%.500s", problem);
      problem[0] = '\0';
      PetscCall(ReadCsv(ledger, rows, problem));
      if (problem[0])
        snprintf(problem + strlen(problem), MESSAGE_SIZE - strlen(problem), "; %s", other);
    }
  }
  if (!problem[0])
    PetscCall(WriteCsv(ledger, &number));
  if (number) {
    snprintf(problem, MESSAGE_SIZE, "%.400s cannot be written: %s", ledger->csv_path, strerror(number));
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
  PetscCall(JoinPath(config->directory, "ledger.csv", l->csv_path));
  PetscCall(JoinPath(config->directory, "ledger.h5", l->archive_path));
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
  Text    text = {0};
  ssize_t done;

  PetscFunctionBegin;
  if (ledger->rank == 0) {
    PetscCall(MakeRoomForRow(ledger));
    PetscCall(PetscArraycpy(ledger->values + ledger->rows * ledger->columns, values, ledger->columns));
    if (ledger->csv >= 0) {
      PetscCall(FormatRow(ledger, values, &text));
      done = write(ledger->csv, text.data, text.length);
      if (done != (ssize_t)text.length) {
        /* part of a row may be there now: the next LedgerSync writes the table anew */
        close(ledger->csv);
        ledger->csv = -1;
      }
      PetscCall(TextDestroy(&text));
    }
  }
  ledger->rows++;
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteArchive(Ledger ledger, char problem[])
{
  ArchivePart part = {1, {(PetscInt)ledger->rows}, {0}, {(PetscInt)ledger->rows}};
  Archive     archive;
  PetscReal  *column;
  char       *names, *rest;

  PetscFunctionBegin;
  PetscCall(ArchiveCreate(PETSC_COMM_SELF, ledger->archive_path, &archive));
  PetscCall(ArchiveWriteInteger(archive, "rows", ledger->rows));
  PetscCall(ArchiveWriteText(archive, "names", ledger->names.data));
  PetscCall(ArchiveWriteText(archive, "units", ledger->units.data));
  PetscCall(ArchiveEnter(archive, "columns"));
  PetscCall(PetscMalloc1(ledger->rows, &column));
  PetscCall(PetscStrallocpy(ledger->names.data, &names));
  rest = names;
  for (PetscInt c = 0; c < ledger->columns; c++) {
    const char *name = strsep(&rest, ",");

    for (PetscInt64 r = 0; r < ledger->rows; r++)
      column[r] = ledger->values[r * ledger->columns + c];
    PetscCall(ArchiveWritePart(archive, name, &part, column));
  }
  PetscCall(PetscFree(names));
  PetscCall(PetscFree(column));
  PetscCall(ArchiveTryCommit(&archive, problem, MESSAGE_SIZE));
  PetscFunctionReturn(0);
}

PetscErrorCode LedgerSync(Ledger ledger, char message[], size_t message_size)
{
  char problem[MESSAGE_SIZE] = "";
  int  number = 0;

  PetscFunctionBegin;
  if (ledger->rank == 0) {
    if (ledger->csv < 0)
      PetscCall(WriteCsv(ledger, &number));
    else if (fsync(ledger->csv))
      number = errno;
    if (number) {
      snprintf(problem, MESSAGE_SIZE, "%.400s cannot be written: %s", ledger->csv_path, strerror(number));
    } else {
      PetscCall(WriteArchive(ledger, problem));
    }
  }
  PetscCallMPI(MPI_Bcast(problem, MESSAGE_SIZE, MPI_CHAR, 0, ledger->comm));
  PetscCall(PetscStrncpy(message, problem, message_size));
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
  PetscCall(PetscFree((*ledger)->values));
  PetscCall(PetscFree(*ledger));
  PetscFunctionReturn(0);
}
