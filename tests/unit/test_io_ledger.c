#include "scratch.h"
#include <millrace/io.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

enum { MESSAGE = 1024, COLUMNS = 3 };

static const char *const columns[COLUMNS][2] = {{"step", "1"}, {"time", "s"}, {"kinetic_energy", "J"}};
static char              message[MESSAGE];

static PetscErrorCode Start(PetscInt64 rows, Ledger *ledger)
{
  const LedgerConfig config = {
      .directory = scratch.directory, .column_count = COLUMNS, .columns = columns, .rows = rows};

  return LedgerCreate(PETSC_COMM_WORLD, &config, ledger, message, MESSAGE);
}

static double energy(PetscInt64 row)
{
  return row == 7 ? NAN : sin((double)row) * 1e-300;
}

static PetscErrorCode Append(Ledger ledger, PetscInt64 from, PetscInt64 until)
{
  PetscFunctionBegin;
  for (PetscInt64 row = from; row < until; row++) {
    const PetscReal values[COLUMNS] = {(PetscReal)row, (PetscReal)row / 3, energy(row)};

    PetscCall(LedgerAppend(ledger, values));
  }
  PetscFunctionReturn(0);
}

/* An uninterrupted table of `rows` rows, synchronised after `synced`, of which the CSV is returned. */
static char *table(PetscInt64 rows, PetscInt64 synced)
{
  char  *text = calloc(1, 1 << 20);
  FILE  *file;
  Ledger ledger;

  assert_success(Start(0, &ledger));
  assert_success(Append(ledger, 0, synced));
  assert_success(LedgerSync(ledger, message, MESSAGE));
  assert_success(Append(ledger, synced, rows));
  assert_success(LedgerDestroy(&ledger));
  wait_for_all();
  file = fopen(scratch_path("ledger.csv"), "r");
  assert_on_all_ranks(file && fread(text, 1, (1 << 20) - 1, file) > 0);
  fclose(file);
  wait_for_all();
  return text;
}

static PetscBool csv_is(const char expected[])
{
  char     *text = calloc(1, 1 << 20);
  FILE     *file;
  PetscBool same;

  wait_for_all();
  file = fopen(scratch_path("ledger.csv"), "r");
  same =
      file && fread(text, 1, (1 << 20) - 1, file) > 0 && !strcmp(text, expected) ? PETSC_TRUE : PETSC_FALSE;
  if (file)
    fclose(file);
  free(text);
  wait_for_all();
  return same;
}

static void rows_are_in_the_text_at_once_with_all_digits(void **state)
{
  Ledger ledger;
  double row[COLUMNS];
  char   line[256];
  FILE  *file;

  (void)state;
  assert_success(Start(0, &ledger));
  assert_success(Append(ledger, 0, 5));
  wait_for_all();
  file = fopen(scratch_path("ledger.csv"), "r");
  assert_on_all_ranks(file && fgets(line, sizeof(line), file) && !strcmp(line, "step,time,kinetic_energy\n"));
  for (int r = 0; r < 5; r++) {
    assert_on_all_ranks(fscanf(file, "%lf,%lf,%lf\n", &row[0], &row[1], &row[2]) == COLUMNS);
    assert_on_all_ranks(row[0] == r && row[1] == r / 3.0 && row[2] == energy(r));
  }
  fclose(file);
  assert_on_all_ranks(ledger_rows(ledger) == 5);
  assert_success(LedgerDestroy(&ledger));
}

static void the_archive_holds_the_table(void **state)
{
  const ArchivePart part = {1, {20}, {0}, {20}};
  double            times[20];
  char             *names, *units;
  PetscInt64        rows;
  Archive           archive;

  (void)state;
  free(table(20, 20));
  assert_success(ArchiveOpen(PETSC_COMM_WORLD, scratch_path("ledger.h5"), &archive, message, MESSAGE));
  assert_success(ArchiveReadInteger(archive, "rows", &rows));
  assert_success(ArchiveReadText(archive, "names", &names));
  assert_success(ArchiveReadText(archive, "units", &units));
  assert_success(ArchiveReadPart(archive, "columns/time", &part, times));
  assert_on_all_ranks(rows == 20 && times[19] == 19 / 3.0);
  assert_on_all_ranks(!strcmp(names, "step,time,kinetic_energy") && !strcmp(units, "1,s,J"));
  assert_success(PetscFree(names));
  assert_success(PetscFree(units));
  assert_success(ArchiveDestroy(&archive));
}

static void replace_by_pipe(const char path[])
{
  if (harness_rank() == 0 && (unlink(path) || mkfifo(path, 0600)))
    MPI_Abort(MPI_COMM_WORLD, 1);
  wait_for_all();
}

/* Taken up at row 12: from the text, and from the archive where the text is lost, cut, damaged or a pipe. */
static void a_resumed_ledger_equals_an_uninterrupted_one(void **state)
{
  enum { WHOLE, ARCHIVE_SHORT, ARCHIVE_DAMAGED, TEXT_DAMAGED, TEXT_CUT, TEXT_LOST, TEXT_A_PIPE, CASES };
  Ledger ledger;

  (void)state;
  for (int i = 0; i < CASES; i++) {
    char *whole = table(40, i == ARCHIVE_SHORT ? 5 : 30);

    if (i == ARCHIVE_DAMAGED)
      flip_byte(scratch_path("ledger.h5"), 3000, 1);
    if (i == TEXT_DAMAGED)
      flip_byte(scratch_path("ledger.csv"), 30, 0x40);
    if (i == TEXT_CUT && harness_rank() == 0 && truncate(scratch_path("ledger.csv"), 200))
      MPI_Abort(MPI_COMM_WORLD, 1);
    if (i == TEXT_LOST && harness_rank() == 0 && unlink(scratch_path("ledger.csv")))
      MPI_Abort(MPI_COMM_WORLD, 1);
    if (i == TEXT_A_PIPE)
      replace_by_pipe(scratch_path("ledger.csv"));
    wait_for_all();
    assert_success(Start(12, &ledger));
    assert_on_all_ranks(ledger && !message[0] && ledger_rows(ledger) == 12);
    assert_success(Append(ledger, 12, 40));
    assert_success(LedgerDestroy(&ledger));
    assert_on_all_ranks(csv_is(whole));
    free(whole);
  }
}

/* A restart that is killed before its first step has changed nothing. */
static void rows_that_a_restart_drops_stay_until_one_is_added(void **state)
{
  char  *whole = table(30, 30);
  Ledger ledger;

  (void)state;
  assert_success(Start(12, &ledger));
  assert_success(LedgerDestroy(&ledger));
  assert_on_all_ranks(csv_is(whole));
  free(whole);
}

static ino_t inode_of(const char name[])
{
  struct stat status;

  return stat(scratch_path(name), &status) ? 0 : status.st_ino;
}

/* The text is only added to, and its copy replaced at most when there are twice as many rows. */
static void a_row_costs_the_same_however_many_there_are(void **state)
{
  PetscInt replaced = 0;
  ino_t    text, copy = 0;
  Ledger   ledger;

  (void)state;
  assert_success(Start(0, &ledger));
  text = inode_of("ledger.csv");
  for (PetscInt64 row = 0; row < 200; row++) {
    assert_success(Append(ledger, row, row + 1));
    assert_success(LedgerSync(ledger, message, MESSAGE));
    replaced += inode_of("ledger.h5") != copy;
    copy = inode_of("ledger.h5");
  }
  assert_on_all_ranks(inode_of("ledger.csv") == text && replaced <= 8);
  assert_success(LedgerFinish(ledger, message, MESSAGE));
  assert_on_all_ranks(!message[0]);
  assert_success(LedgerDestroy(&ledger));
}

/* More rows than are held at a time on the way. */
static void a_long_table_is_copied_in_parts(void **state)
{
  enum { ROWS = (1 << 21) / COLUMNS + 5 };
  const ArchivePart part = {1, {ROWS}, {0}, {ROWS}};
  PetscBool         same = PETSC_TRUE;
  PetscReal        *times;
  Archive           archive;
  FILE             *file;
  Ledger            ledger;

  (void)state;
  if (harness_rank() == 0) {
    file = fopen(scratch_path("ledger.csv"), "w");
    fprintf(file, "step,time,kinetic_energy\n");
    for (int row = 0; row < ROWS; row++)
      fprintf(file, "%d,%d,0\n", row, 2 * row);
    fclose(file);
  }
  wait_for_all();
  assert_success(Start(ROWS, &ledger));
  assert_on_all_ranks(ledger && !message[0]);
  assert_success(LedgerFinish(ledger, message, MESSAGE));
  assert_on_all_ranks(!message[0]);
  assert_success(LedgerDestroy(&ledger));
  assert_success(PetscMalloc1(ROWS, &times));
  assert_success(ArchiveOpen(PETSC_COMM_WORLD, scratch_path("ledger.h5"), &archive, message, MESSAGE));
  assert_success(ArchiveReadPart(archive, "columns/time", &part, times));
  assert_success(ArchiveDestroy(&archive));
  for (PetscInt row = 0; row < ROWS; row++)
    if (times[row] != 2. * row)
      same = PETSC_FALSE;
  assert_on_all_ranks(same);
  assert_success(PetscFree(times));
}

static void half_a_row_after_a_kill_is_cut(void **state)
{
  char  *whole = table(30, 1);
  Ledger ledger;

  (void)state;
  if (harness_rank() == 0 && truncate(scratch_path("ledger.csv"), (long)strlen(whole) - 5))
    MPI_Abort(MPI_COMM_WORLD, 1);
  assert_success(Start(29, &ledger));
  assert_on_all_ranks(ledger && !message[0]);
  assert_success(Append(ledger, 29, 30));
  assert_success(LedgerDestroy(&ledger));
  assert_on_all_ranks(csv_is(whole));
  free(whole);
}

static void too_few_rows_or_other_columns_are_told(void **state)
{
  const char *const  other[1][2] = {{"mass", "kg"}};
  const LedgerConfig config = {
      .directory = scratch.directory, .column_count = 1, .columns = other, .rows = 3};
  char  *whole = table(10, 10);
  Ledger ledger;

  (void)state;
  assert_success(Start(11, &ledger));
  assert_on_all_ranks(!ledger && strstr(message, "ledger.csv") && strstr(message, "ledger.h5 has 10 rows"));
  assert_success(LedgerCreate(PETSC_COMM_WORLD, &config, &ledger, message, MESSAGE));
  assert_on_all_ranks(!ledger && strstr(message, "other columns"));
  assert_on_all_ranks(csv_is(whole));
  free(whole);
}

/* A file-size limit stands for a full disk. */
static void a_full_disk_is_told_and_made_good_later(void **state)
{
  struct rlimit limit, old;
  char         *whole = table(300, 300);
  Ledger        ledger;

  (void)state;
  assert_success(Start(10, &ledger));
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &old);
  limit = old;
  limit.rlim_cur = 700;
  setrlimit(RLIMIT_FSIZE, &limit);
  assert_success(Append(ledger, 10, 200));
  assert_success(LedgerSync(ledger, message, MESSAGE));
  setrlimit(RLIMIT_FSIZE, &old);
  assert_on_all_ranks(strstr(message, "ledger.csv cannot be written"));
  assert_success(LedgerSync(ledger, message, MESSAGE));
  assert_on_all_ranks(!message[0]);
  assert_success(Append(ledger, 200, 300));
  assert_success(LedgerDestroy(&ledger));
  assert_on_all_ranks(csv_is(whole));
  free(whole);
}

TEST_MAIN(in_scratch(rows_are_in_the_text_at_once_with_all_digits), in_scratch(the_archive_holds_the_table),
          in_scratch(a_resumed_ledger_equals_an_uninterrupted_one),
          in_scratch(rows_that_a_restart_drops_stay_until_one_is_added),
          in_scratch(a_row_costs_the_same_however_many_there_are),
          in_scratch(a_long_table_is_copied_in_parts), in_scratch(half_a_row_after_a_kill_is_cut),
          in_scratch(too_few_rows_or_other_columns_are_told),
          in_scratch(a_full_disk_is_told_and_made_good_later))
