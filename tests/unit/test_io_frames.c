#include "scratch.h"
#include <millrace/io.h>
#include <signal.h>
#include <sys/resource.h>

enum { MESSAGE = 1024, CELLS = 64 };

static char message[MESSAGE];

static PetscErrorCode Start(PetscInt first, FrameSeries *series)
{
  const FrameConfig config = {.directory = scratch.directory,
                              .first = first,
                              .dimension = 3,
                              .cells = {CELLS, CELLS, 4},
                              .spacing = 0.1,
                              .precision = ARCHIVE_DOUBLE};

  return FrameSeriesCreate(PETSC_COMM_WORLD, &config, series, message, MESSAGE);
}

/* Noise does not compress, so that a frame is larger than the limits below. Rank 0 has it all. */
static PetscErrorCode WriteFrame(FrameSeries series, PetscInt index)
{
  const PetscInt start[DIM] = {0, 0, 0}, count[DIM] = {CELLS, CELLS, harness_rank() == 0 ? 4 : 0};
  PetscReal     *values;
  unsigned       random = 1;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(CELLS * CELLS * 4, &values));
  for (PetscInt i = 0; i < CELLS * CELLS * 4; i++)
    values[i] = random = random * 1664525u + 1013904223u;
  PetscCall(FrameBegin(series, index, 0.5 * index));
  PetscCall(FrameWriteGridField(series, "noise", 1, start, count, values));
  PetscCall(FrameEnd(series, message, MESSAGE));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(0);
}

/* Frames in run.xmf, all of which must be there. */
static int listed(void)
{
  char  line[1024];
  FILE *file;
  int   frames = 0;

  wait_for_all();
  file = fopen(scratch_path("run.xmf"), "r");
  while (file && fgets(line, sizeof(line), file))
    frames += strstr(line, "<Time ") != NULL;
  if (file)
    fclose(file);
  for (int frame = 0; frame < frames; frame++) {
    char name[64];

    snprintf(name, sizeof(name), "frames/frame-%06d.h5", frame);
    if (!file_exists(scratch_path(name)))
      frames = -1;
  }
  wait_for_all();
  return frames;
}

static void the_list_grows_with_the_frames_and_shrinks_on_a_restart(void **state)
{
  FrameSeries series;

  (void)state;
  assert_success(Start(0, &series));
  assert_on_all_ranks(series && listed() == 0 && !file_exists(scratch_path("run.xmf")));
  for (PetscInt frame = 0; frame < 4; frame++) {
    assert_success(WriteFrame(series, frame));
    assert_on_all_ranks(!message[0] && listed() == frame + 1);
  }
  assert_success(FrameSeriesDestroy(&series));
  assert_success(Start(2, &series));
  assert_on_all_ranks(listed() == 2 && !file_exists(scratch_path("frames/frame-000003.h5")));
  assert_success(WriteFrame(series, 2));
  assert_on_all_ranks(listed() == 3);
  assert_success(FrameSeriesDestroy(&series));
}

static void a_full_disk_loses_one_frame_and_says_so(void **state)
{
  struct rlimit limit, old;
  FrameSeries   series;

  (void)state;
  assert_success(Start(0, &series));
  assert_success(WriteFrame(series, 0));
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &old);
  limit = old;
  limit.rlim_cur = 50000;
  setrlimit(RLIMIT_FSIZE, &limit);
  assert_success(WriteFrame(series, 1));
  setrlimit(RLIMIT_FSIZE, &old);
  assert_on_all_ranks(strstr(message, "frame-000001.h5 cannot be written"));
  assert_on_all_ranks(listed() == 1);
  assert_success(WriteFrame(series, 1));
  assert_on_all_ranks(!message[0] && listed() == 2);
  assert_success(FrameSeriesDestroy(&series));
}

static void names_and_calls_that_cannot_be_are_refused(void **state)
{
  const PetscInt  nothing[DIM] = {0, 0, 0};
  const FrameMesh square = {"square", 0, 0, 5, NULL, NULL}, strange = {"a/b", 0, 0, 3, NULL, NULL};
  FrameSeries     series;

  (void)state;
  assert_success(Start(0, &series));
  assert_refused(FrameWriteGridField(series, "early", 1, nothing, nothing, NULL));
  assert_refused(FrameEnd(series, message, MESSAGE));
  assert_success(FrameBegin(series, 0, 0));
  assert_refused(FrameBegin(series, 1, 0));
  assert_refused(FrameWriteGridField(series, "a<b", 1, nothing, nothing, NULL));
  assert_refused(FrameWriteGridField(series, "pair", 2, nothing, nothing, NULL));
  assert_refused(FrameBeginMesh(series, &square));
  assert_refused(FrameBeginMesh(series, &strange));
  assert_refused(FrameWriteMeshField(series, "alone", FRAME_CELL, 1, NULL));
  assert_success(FrameSeriesDestroy(&series));
  assert_on_all_ranks(!file_exists(scratch_path("frames/frame-000000.h5.tmp")));
}

TEST_MAIN(in_scratch(the_list_grows_with_the_frames_and_shrinks_on_a_restart),
          in_scratch(a_full_disk_loses_one_frame_and_says_so),
          in_scratch(names_and_calls_that_cannot_be_are_refused))
