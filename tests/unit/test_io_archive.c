#include "scratch.h"
#include <millrace/io.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

enum { MESSAGE = 1024 };

/* The share of `rank` among `ranks` when an array is cut along dimension `along`. */
static ArchivePart slab(PetscInt rank_of_array, const PetscInt global[], PetscInt along, int rank, int ranks)
{
  ArchivePart part = {.rank = rank_of_array};

  for (PetscInt d = 0; d < rank_of_array; d++)
    part.global[d] = part.count[d] = global[d];
  part.start[along] = global[along] * rank / ranks;
  part.count[along] = global[along] * (rank + 1) / ranks - part.start[along];
  return part;
}

static size_t values_of(const ArchivePart *part)
{
  size_t values = 1;

  for (PetscInt d = 0; d < part->rank; d++)
    values *= (size_t)part->count[d];
  return values;
}

/* A number with all its bits in use, from the place in the whole array. */
static double value_at(PetscInt64 place)
{
  const double special[] = {-0.0, INFINITY, -INFINITY, NAN, DBL_MIN / 8, DBL_MAX};

  return place < 6 ? special[place] : sin((double)place) / 3.0;
}

static void visit_part(const ArchivePart *part, double values[], PetscBool *same)
{
  const size_t count = values_of(part);

  for (size_t at = 0; at < count; at++) {
    PetscInt64 place = 0, rest = (PetscInt64)at, scale = 1;
    double     expected;

    for (PetscInt d = part->rank - 1; d >= 0; d--) {
      place += (rest % part->count[d] + part->start[d]) * scale;
      rest /= part->count[d];
      scale *= part->global[d];
    }
    expected = value_at(place);
    if (!same)
      values[at] = expected;
    else if (memcmp(&values[at], &expected, sizeof(expected)))
      *same = PETSC_FALSE;
  }
}

static PetscErrorCode WriteField(MPI_Comm comm, Archive archive, const char name[], const PetscInt global[],
                                 PetscInt along)
{
  PetscMPIInt rank, ranks;
  ArchivePart part;
  double     *values;

  PetscFunctionBegin;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  part = slab(4, global, along, rank, ranks);
  PetscCall(PetscMalloc1(values_of(&part), &values));
  visit_part(&part, values, NULL);
  PetscCall(ArchiveWritePart(archive, name, &part, values));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadField(MPI_Comm comm, Archive archive, const char name[], const PetscInt global[],
                                PetscInt along, PetscBool *same)
{
  PetscMPIInt    rank, ranks;
  PetscErrorCode error;
  ArchivePart    part;
  double        *values;

  PetscFunctionBegin;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  part = slab(4, global, along, rank, ranks);
  PetscCall(PetscCalloc1(values_of(&part), &values));
  error = ArchiveAllowNonFinite(archive);
  if (!error)
    error = ArchiveReadPart(archive, name, &part, values);
  *same = PETSC_TRUE;
  visit_part(&part, values, same);
  PetscCall(PetscFree(values));
  PetscCall(error);
  PetscFunctionReturn(0);
}

static PetscErrorCode Open(MPI_Comm comm, const char path[], Archive *archive)
{
  char message[MESSAGE];

  PetscFunctionBegin;
  PetscCall(ArchiveOpen(comm, path, archive, message, sizeof(message)));
  PetscCheck(*archive && !message[0], comm, PETSC_ERR_FILE_OPEN, "%s", message);
  PetscFunctionReturn(0);
}

/* A small archive with something of every kind. */
static PetscErrorCode WriteSmall(const char path[], PetscReal time)
{
  const PetscInt global[] = {5, 7, 6, 3};
  Archive        archive;

  PetscFunctionBegin;
  PetscCall(ArchiveCreate(PETSC_COMM_WORLD, path, &archive));
  PetscCall(ArchiveWriteReal(archive, "time", time));
  PetscCall(ArchiveWriteInteger(archive, "step", 1234567890123));
  PetscCall(ArchiveWriteText(archive, "scene", "title: plume \xc3\xa9\nend\n"));
  PetscCall(ArchiveEnter(archive, "grid"));
  PetscCall(ArchiveEnter(archive, "fields"));
  PetscCall(WriteField(PETSC_COMM_WORLD, archive, "velocity", global, 0));
  PetscCall(ArchiveLeave(archive));
  PetscCall(ArchiveLeave(archive));
  PetscCall(ArchiveCommit(&archive));
  PetscFunctionReturn(0);
}

/* The first rank's values count, and all get them; a table may be empty. */
static void a_shared_table_comes_back_on_every_rank(void **state)
{
  PetscReal values[4][3], back[4][3] = {{0}};
  Archive   archive;

  (void)state;
  for (PetscInt i = 0; i < 12; i++)
    values[i / 3][i % 3] = harness_rank() ? -1. : value_at(6 + i);
  assert_success(ArchiveCreate(PETSC_COMM_WORLD, scratch_path("shared.h5"), &archive));
  assert_success(ArchiveWriteShared(archive, "table", 4, 3, values[0]));
  assert_success(ArchiveWriteShared(archive, "empty", 0, 3, NULL));
  assert_success(ArchiveCommit(&archive));
  assert_success(Open(PETSC_COMM_WORLD, scratch.path, &archive));
  assert_success(ArchiveReadShared(archive, "table", 4, 3, back[0]));
  assert_success(ArchiveReadShared(archive, "empty", 0, 3, NULL));
  for (PetscInt i = 0; i < 12; i++)
    assert_on_all_ranks(back[i / 3][i % 3] == value_at(6 + i));
  assert_success(ArchiveDestroy(&archive));
}

/* One plane along the cut axis: ranks without any share. Three chunks and odd sizes: shared chunks. */
static void doubles_come_back_bit_for_bit(void **state)
{
  const PetscInt sizes[][4] = {{1, 9, 4, 3}, {37, 61, 53, 1}, {3, 2, 2, 1}};
  Archive        archive;
  PetscBool      same;

  (void)state;
  for (int i = 0; i < 3; i++) {
    for (PetscInt deflate = 0; deflate < 2; deflate++) {
      const char *path = scratch_path("round.h5");

      assert_success(ArchiveCreate(PETSC_COMM_WORLD, path, &archive));
      assert_success(ArchiveSetStorage(archive, ARCHIVE_DOUBLE, deflate));
      assert_success(WriteField(PETSC_COMM_WORLD, archive, "field", sizes[i], 0));
      assert_success(ArchiveCommit(&archive));
      assert_success(Open(PETSC_COMM_WORLD, path, &archive));
      assert_success(ReadField(PETSC_COMM_WORLD, archive, "field", sizes[i], 0, &same));
      assert_success(ArchiveDestroy(&archive));
      assert_on_all_ranks(same);
    }
  }
}

/* Half of the ranks write, cut along x; the other half, or the only one, reads, cut along z. */
static void other_ranks_with_another_partition_read_the_same(void **state)
{
  const PetscInt    global[] = {40, 31, 43, 2};
  const PetscMPIInt half = harness_size() / 2;
  const int         reader = harness_rank() >= half;
  const char       *path = scratch_path("partition.h5");
  PetscBool         same = PETSC_TRUE;
  PetscErrorCode    error = 0;
  MPI_Comm          part;
  Archive           archive;

  (void)state;
  MPI_Comm_split(PETSC_COMM_WORLD, reader, 0, &part);
  for (int writer = 0; writer < 2; writer++) {
    if (reader == writer || harness_size() == 1) {
      error = ArchiveCreate(part, path, &archive);
      if (!error)
        error = WriteField(part, archive, "field", global, 2);
      if (!error)
        error = ArchiveCommit(&archive);
    }
    assert_success(error);
    if (reader != writer || harness_size() == 1) {
      error = Open(part, path, &archive);
      if (!error)
        error = ReadField(part, archive, "field", global, 0, &same);
      if (!error)
        error = ArchiveDestroy(&archive);
    }
    assert_success(error);
    assert_on_all_ranks(same);
    assert_success(Open(PETSC_COMM_WORLD, path, &archive));
    assert_success(ReadField(PETSC_COMM_WORLD, archive, "field", global, 1, &same));
    assert_success(ArchiveDestroy(&archive));
    assert_on_all_ranks(same);
  }
  MPI_Comm_free(&part);
}

static void values_texts_and_groups_come_back(void **state)
{
  Archive    archive;
  PetscReal  time;
  PetscInt64 step;
  char      *scene;
  PetscBool  has, missing;

  (void)state;
  assert_success(WriteSmall(scratch_path("small.h5"), 0.1));
  assert_success(Open(PETSC_COMM_WORLD, scratch.path, &archive));
  assert_success(ArchiveReadReal(archive, "time", &time));
  assert_success(ArchiveReadInteger(archive, "step", &step));
  assert_success(ArchiveReadText(archive, "scene", &scene));
  assert_on_all_ranks(time == 0.1 && step == 1234567890123);
  assert_on_all_ranks(!strcmp(scene, "title: plume \xc3\xa9\nend\n"));
  assert_success(PetscFree(scene));
  assert_success(ArchiveEnter(archive, "grid"));
  assert_success(ArchiveHas(archive, "fields/velocity", &has));
  assert_success(ArchiveHas(archive, "nothing/velocity", &missing));
  assert_on_all_ranks(has && !missing);
  assert_success(ArchiveDestroy(&archive));
  assert_on_all_ranks(!archive);
}

static void single_precision_rounds_and_halves(void **state)
{
  const PetscInt mine = harness_rank() == 0 ? 100 : 0; /* the others have nothing */
  ArchivePart    part = {2, {100, 100}, {0, 0}, {mine, 100}};
  double        *values, *back;
  PetscBool      same = PETSC_TRUE;
  Archive        archive;
  long           sizes[2];

  (void)state;
  assert_success(PetscCalloc2(10000, &values, 10000, &back));
  for (int i = 0; i < 10000; i++)
    values[i] = sin(i);
  for (int precision = 0; precision < 2; precision++) {
    assert_success(ArchiveCreate(PETSC_COMM_WORLD, scratch_path("single.h5"), &archive));
    assert_success(ArchiveSetStorage(archive, (ArchivePrecision)precision, 0));
    assert_success(ArchiveWritePart(archive, "field", &part, values));
    assert_success(ArchiveCommit(&archive));
    sizes[precision] = file_size(scratch.path);
  }
  assert_on_all_ranks(sizes[ARCHIVE_DOUBLE] - sizes[ARCHIVE_SINGLE] == 4 * 100 * 100);
  assert_success(Open(PETSC_COMM_WORLD, scratch.path, &archive));
  assert_success(ArchiveReadPart(archive, "field", &part, back));
  assert_success(ArchiveDestroy(&archive));
  for (int i = 0; i < mine * 100; i++) {
    if (back[i] != (float)values[i])
      same = PETSC_FALSE;
  }
  assert_on_all_ranks(same);
  assert_success(PetscFree2(values, back));
}

static void integers_and_empty_arrays_come_back(void **state)
{
  const PetscInt rank = harness_rank(), ranks = harness_size();
  ArchivePart    mine = {2, {3 * ranks, 2}, {3 * rank, 0}, {3, 2}}, none = {2, {0, 3}, {0, 0}, {0, 3}}, shape;
  PetscInt64     indices[6], back[6] = {0};
  Archive        archive;

  (void)state;
  for (int i = 0; i < 6; i++)
    indices[i] = INT64_C(5000000000) * rank - i;
  assert_success(ArchiveCreate(PETSC_COMM_WORLD, scratch_path("integers.h5"), &archive));
  assert_success(ArchiveWriteIntegers(archive, "indices", &mine, indices));
  assert_success(ArchiveWritePart(archive, "particles", &none, NULL));
  assert_success(ArchiveCommit(&archive));
  assert_success(Open(PETSC_COMM_WORLD, scratch.path, &archive));
  assert_success(ArchiveReadIntegers(archive, "indices", &mine, back));
  assert_on_all_ranks(!memcmp(indices, back, sizeof(back)));
  assert_success(ArchiveReadPart(archive, "particles", &none, NULL));
  assert_success(ArchiveGetShape(archive, "particles", &shape));
  assert_on_all_ranks(shape.rank == 2 && shape.global[0] == 0 && shape.global[1] == 3);
  assert_success(ArchiveDestroy(&archive));
}

static void what_is_not_as_expected_is_refused(void **state)
{
  const PetscInt wrong[] = {5, 7, 6, 2}, right[] = {5, 7, 6, 3};
  Archive        archive;
  PetscInt64     step;
  PetscBool      same;

  (void)state;
  assert_success(WriteSmall(scratch_path("refuse.h5"), 1));
  assert_success(Open(PETSC_COMM_WORLD, scratch.path, &archive));
  assert_refused(ArchiveReadInteger(archive, "missing", &step));
  assert_refused(ArchiveReadInteger(archive, "time", &step));
  assert_refused(ArchiveReadInteger(archive, "grid", &step));
  assert_refused(ArchiveEnter(archive, "missing"));
  assert_refused(ArchiveWriteInteger(archive, "step", 1));
  assert_refused(ReadField(PETSC_COMM_WORLD, archive, "grid/fields/velocity", wrong, 0, &same));
  assert_success(ReadField(PETSC_COMM_WORLD, archive, "grid/fields/velocity", right, 0, &same));
  assert_on_all_ranks(same);
  assert_success(ArchiveDestroy(&archive));
}

static PetscErrorCode ReadVelocity(Archive archive)
{
  const PetscInt    global[] = {5, 7, 6, 3};
  const ArchivePart part = slab(4, global, 0, harness_rank(), harness_size());
  PetscReal         values[5 * 7 * 6 * 3];

  return ArchiveReadPart(archive, "grid/fields/velocity", &part, values);
}

/* One of the things that must be refused. */
static PetscErrorCode ReadWrongly(Archive archive, void *context)
{
  PetscReal  time, *table;
  PetscInt64 step;
  char      *text;

  switch (*(int *)context) {
  case 0:
    return ArchiveReadReal(archive, "time", &time);
  case 1:
    return ArchiveReadRealWithin(archive, "grid/spacing", 0., 1., &time);
  case 2:
    return ArchiveReadCount(archive, "step", 0, 1000, &step);
  case 3:
    return ArchiveReadTable(archive, "grid/fields/velocity", 5, 7, &table);
  case 4:
    return ArchiveReadText(archive, "time", &text);
  case 5:
    return ArchiveEnter(archive, "missing");
  default:
    return ReadVelocity(archive); /* the first rank alone has what is not finite */
  }
}

static void a_refusal_is_a_message_with_file_and_dataset(void **state)
{
  const char *expected[] = {"\"time\" is inf, which is not finite",
                            "\"grid/spacing\" is missing",
                            "\"step\" is 1234567890123, not between 0 and 1000",
                            "velocity\" is not a table of 5 rows",
                            "\"time\" holds real numbers, not a text",
                            "\"missing\" is missing",
                            "velocity\" holds a value that is not finite"};
  char        message[MESSAGE];
  Archive     archive;

  (void)state;
  assert_success(WriteSmall(scratch_path("refuse.h5"), INFINITY));
  for (int what = 0; what < 7; what++) {
    assert_success(Open(PETSC_COMM_WORLD, scratch.path, &archive));
    assert_success(ArchiveTry(archive, ReadWrongly, &what, message, sizeof(message)));
    assert_on_all_ranks(strstr(message, scratch.path) && strstr(message, expected[what]));
    assert_success(ArchiveDestroy(&archive));
  }
}

/* Opening `path` must fail with a message that names it. */
static PetscBool is_refused(const char path[])
{
  Archive archive;
  char    message[MESSAGE];

  PetscCallAbort(PETSC_COMM_SELF, ArchiveOpen(PETSC_COMM_WORLD, path, &archive, message, sizeof(message)));
  if (!archive)
    return strstr(message, path) ? PETSC_TRUE : PETSC_FALSE;
  PetscCallAbort(PETSC_COMM_SELF, ArchiveDestroy(&archive));
  return PETSC_FALSE;
}

static void every_flipped_byte_is_refused(void **state)
{
  Archive  archive;
  long     size;
  unsigned random = 12345;

  (void)state;
  assert_success(WriteSmall(scratch_path("flip.h5"), 1));
  size = file_size(scratch.path);
  for (int i = 0; i < 500; i++) {
    const long offset =
        i < 100 ? i : (long)((random = random * 1664525u + 1013904223u) % (unsigned long)size);
    const int bits = i % 2 ? 1 << (i % 8) : 0x20; /* 0x20 turns letters to the other case */

    flip_byte(scratch.path, offset, bits);
    assert_on_all_ranks(is_refused(scratch.path));
    flip_byte(scratch.path, offset, bits);
  }
  assert_success(Open(PETSC_COMM_WORLD, scratch.path, &archive));
  assert_success(ArchiveDestroy(&archive));
}

static void truncated_longer_missing_and_foreign_files_are_refused(void **state)
{
  char text[256] = {0};
  long size;

  (void)state;
  assert_success(WriteSmall(scratch_path("cut.h5"), 1));
  size = file_size(scratch.path);
  for (int i = 0; i < 60; i++) {
    const long length = i < 40 ? size * i / 40 : i < 59 ? size - 1 - (i - 40) : size + 7;

    wait_for_all();
    assert_success(WriteSmall(scratch.path, 1));
    if (harness_rank() == 0 && truncate(scratch.path, length))
      snprintf(text, sizeof(text), "cannot truncate");
    wait_for_all();
    assert_on_all_ranks(!text[0] && is_refused(scratch.path));
  }
  assert_on_all_ranks(is_refused(scratch_path("missing.h5")));
  assert_on_all_ranks(is_refused(scratch.directory));
  if (harness_rank() == 0) {
    FILE *file = fopen(scratch_path("foreign.h5"), "w");

    for (int i = 0; i < 1000; i++)
      fprintf(file, "not an archive %d\n", i);
    fclose(file);
  }
  wait_for_all();
  assert_on_all_ranks(is_refused(scratch_path("foreign.h5")));
}

static PetscErrorCode ReadTime(const char path[], PetscReal *time)
{
  Archive archive;

  PetscFunctionBegin;
  PetscCall(Open(PETSC_COMM_WORLD, path, &archive));
  PetscCall(ArchiveReadReal(archive, "time", time));
  PetscCall(ArchiveDestroy(&archive));
  PetscFunctionReturn(0);
}

static void printing_shows_every_name_shape_and_value(void **state)
{
  char    text[4096] = "";
  Archive archive;
  FILE   *stream = tmpfile();

  (void)state;
  assert_success(WriteSmall(scratch_path("print.h5"), 0.375));
  assert_success(Open(PETSC_COMM_WORLD, scratch.path, &archive));
  assert_success(ArchivePrint(archive, stream));
  assert_success(ArchiveDestroy(&archive));
  rewind(stream);
  assert_on_all_ranks((fread(text, 1, sizeof(text) - 1, stream) > 0) == (harness_rank() == 0));
  fclose(stream);
  assert_on_all_ranks(harness_rank() > 0 || (strstr(text, "0.375") && strstr(text, "1234567890123")));
  assert_on_all_ranks(harness_rank() > 0 ||
                      (strstr(text, "grid/fields/velocity") && strstr(text, "5 x 7 x 6 x 3")));
}

static void printing_escapes_what_a_terminal_would_obey(void **state)
{
  char    text[4096] = "";
  Archive archive;
  FILE   *stream = tmpfile();

  (void)state;
  assert_success(ArchiveCreate(PETSC_COMM_WORLD, scratch_path("print.h5"), &archive));
  assert_success(ArchiveWriteText(archive, "title\x1b[2J", "plum\xc3\xa9 \x1b]0;owned\x07 \xc2\x9b"));
  assert_success(ArchiveCommit(&archive));
  assert_success(Open(PETSC_COMM_WORLD, scratch.path, &archive));
  assert_success(ArchivePrint(archive, stream));
  assert_success(ArchiveDestroy(&archive));
  rewind(stream);
  (void)!fread(text, 1, sizeof(text) - 1, stream);
  fclose(stream);
  assert_on_all_ranks(harness_rank() > 0 || (strstr(text, "title\\x1b[2J") && strstr(text, "plum\xc3\xa9 ")));
  assert_on_all_ranks(!strchr(text, 0x1b) && !strchr(text, 0x07) && !strstr(text, "\xc2\x9b"));
}

static void an_uncommitted_archive_leaves_the_old_one(void **state)
{
  const PetscInt global[] = {20, 20, 20, 1};
  Archive        archive;
  PetscReal      time;

  (void)state;
  assert_success(WriteSmall(scratch_path("atomic.h5"), 1));
  assert_success(ArchiveCreate(PETSC_COMM_WORLD, scratch.path, &archive));
  assert_success(WriteField(PETSC_COMM_WORLD, archive, "field", global, 0));
  assert_success(ReadTime(scratch.path, &time));
  assert_success(ArchiveDestroy(&archive));
  assert_on_all_ranks(time == 1 && !file_exists(scratch_path("atomic.h5.tmp")));
  assert_success(WriteSmall(scratch_path("atomic.h5"), 2));
  assert_success(ReadTime(scratch.path, &time));
  assert_on_all_ranks(time == 2 && !file_exists(scratch_path("atomic.h5.tmp")));
}

/* Every rank's writes beyond `limit` bytes of a file fail, as they do on a full disk. */
static void limit_file_size(rlim_t limit)
{
  struct rlimit bounds;

  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &bounds);
  bounds.rlim_cur = limit == RLIM_INFINITY ? bounds.rlim_max : limit;
  setrlimit(RLIMIT_FSIZE, &bounds);
}

static void a_failed_write_is_told_and_leaves_the_old_file(void **state)
{
  const PetscInt global[] = {64, 64, 64, 3};
  const rlim_t   limits[] = {0, 600, 5000, 100000, 3000000};
  char           message[MESSAGE], temporary[600];
  Archive        archive;
  PetscReal      time;

  (void)state;
  assert_success(WriteSmall(scratch_path("full.h5"), 1));
  snprintf(temporary, sizeof(temporary), "%s.tmp", scratch.path);
  for (int i = 0; i < 5; i++) {
    limit_file_size(limits[i]);
    assert_success(ArchiveCreate(PETSC_COMM_WORLD, scratch.path, &archive));
    assert_success(ArchiveWriteReal(archive, "time", 2));
    assert_success(WriteField(PETSC_COMM_WORLD, archive, "field", global, 0));
    assert_success(WriteField(PETSC_COMM_WORLD, archive, "again", global, 0));
    assert_success(ArchiveTryCommit(&archive, message, sizeof(message)));
    limit_file_size(RLIM_INFINITY);
    assert_on_all_ranks(!archive && strstr(message, scratch.path));
    assert_on_all_ranks(!file_exists(temporary));
    assert_success(ReadTime(scratch.path, &time));
    assert_on_all_ranks(time == 1);
  }
  assert_success(WriteSmall(scratch.path, 3));
}

static void a_missing_directory_is_told(void **state)
{
  const PetscInt global[] = {4, 4, 4, 1};
  char           message[MESSAGE];
  Archive        archive;

  (void)state;
  assert_success(ArchiveCreate(PETSC_COMM_WORLD, scratch_path("nowhere/a.h5"), &archive));
  assert_success(ArchiveEnter(archive, "grid"));
  assert_success(WriteField(PETSC_COMM_WORLD, archive, "field", global, 0));
  assert_success(ArchiveLeave(archive));
  assert_success(ArchiveTryCommit(&archive, message, sizeof(message)));
  assert_on_all_ranks(strstr(message, "nowhere/a.h5") && strstr(message, "No such file"));
}

TEST_MAIN(in_scratch(a_shared_table_comes_back_on_every_rank), in_scratch(doubles_come_back_bit_for_bit),
          in_scratch(other_ranks_with_another_partition_read_the_same),
          in_scratch(values_texts_and_groups_come_back), in_scratch(single_precision_rounds_and_halves),
          in_scratch(integers_and_empty_arrays_come_back), in_scratch(what_is_not_as_expected_is_refused),
          in_scratch(a_refusal_is_a_message_with_file_and_dataset), in_scratch(every_flipped_byte_is_refused),
          in_scratch(truncated_longer_missing_and_foreign_files_are_refused),
          in_scratch(printing_shows_every_name_shape_and_value),
          in_scratch(printing_escapes_what_a_terminal_would_obey),
          in_scratch(an_uncommitted_archive_leaves_the_old_one),
          in_scratch(a_failed_write_is_told_and_leaves_the_old_file), in_scratch(a_missing_directory_is_told))
