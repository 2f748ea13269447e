#include "scratch.h"
#include <millrace/io.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <fcntl.h>

enum { MESSAGE = 1024 };

static char message[MESSAGE];

/* Rank 0 puts a file of one line there. */
static void touch(const char name[])
{
  if (harness_rank() == 0) {
    FILE *file = fopen(scratch_path(name), "w");

    if (!file || fprintf(file, "something\n") < 0 || fclose(file))
      MPI_Abort(MPI_COMM_WORLD, 1);
  }
  wait_for_all();
}

static PetscErrorCode Open(const char name[], RunUse use, RunDirectory *directory)
{
  return RunDirectoryOpen(PETSC_COMM_WORLD, scratch_path(name), use, directory, message, MESSAGE);
}

static void a_new_directory_is_made_with_its_parents(void **state)
{
  RunDirectory directory;

  (void)state;
  assert_success(Open("a/b/c", RUN_NEW, &directory));
  assert_on_all_ranks(directory && !message[0] && file_exists(scratch.path));
  assert_on_all_ranks(!strcmp(run_directory_path(directory), scratch.path));
  assert_success(RunDirectoryClose(&directory));
  assert_on_all_ranks(!directory && !file_exists(scratch_path("a/b/c/run.lock")));
}

static void results_of_another_run_are_refused_unless_told(void **state)
{
  RunDirectory directory;

  (void)state;
  touch("ledger.csv");
  touch("notes.txt");
  assert_success(Open("", RUN_NEW, &directory));
  assert_on_all_ranks(!directory && strstr(message, "ledger.csv") && strstr(message, scratch.directory));
  assert_on_all_ranks(!file_exists(scratch_path("run.lock")));
  assert_success(Open("", RUN_RESTART, &directory));
  assert_on_all_ranks(directory && file_exists(scratch_path("ledger.csv")));
  assert_success(RunDirectoryClear(directory)); /* a restart gives nothing up */
  assert_on_all_ranks(file_exists(scratch_path("ledger.csv")));
  assert_success(RunDirectoryClose(&directory));
  assert_success(Open("", RUN_OVERWRITE, &directory));
  assert_on_all_ranks(directory && file_exists(scratch_path("ledger.csv")));
  assert_success(RunDirectoryClear(directory));
  wait_for_all();
  assert_on_all_ranks(!file_exists(scratch_path("ledger.csv")));
  assert_on_all_ranks(file_exists(scratch_path("notes.txt")));
  assert_success(RunDirectoryClose(&directory));
}

static void nothing_to_restart_and_no_directory_are_told(void **state)
{
  RunDirectory directory;

  (void)state;
  assert_success(Open("missing", RUN_RESTART, &directory));
  assert_on_all_ranks(!directory && strstr(message, "missing") && !file_exists(scratch.path));
  touch("file");
  assert_success(Open("file", RUN_NEW, &directory));
  assert_on_all_ranks(!directory && strstr(message, "not a directory"));
  assert_success(Open("file/below", RUN_NEW, &directory));
  assert_on_all_ranks(!directory && message[0]);
}

static void temporaries_of_a_dead_run_are_deleted(void **state)
{
  RunDirectory directory;

  (void)state;
  assert_success(Open("", RUN_NEW, &directory));
  assert_success(RunDirectoryClose(&directory));
  if (harness_rank() == 0)
    mkdir(scratch_path("checkpoints"), 0777);
  touch("checkpoints/checkpoint-00000010.h5.tmp");
  touch("run.xmf.tmp");
  touch("mine.tmp");
  assert_success(Open("", RUN_RESTART, &directory));
  assert_on_all_ranks(directory && !file_exists(scratch_path("run.xmf.tmp")));
  assert_on_all_ranks(!file_exists(scratch_path("checkpoints/checkpoint-00000010.h5.tmp")));
  assert_on_all_ranks(file_exists(scratch_path("mine.tmp")));
  assert_success(RunDirectoryClose(&directory));
}

/* A lock taken through another opening of the file excludes as that of another process does. */
static void a_directory_in_use_is_refused_until_its_process_is_gone(void **state)
{
  RunDirectory first, second;
  int          other = -1;

  (void)state;
  assert_success(Open("run", RUN_NEW, &first));
  assert_success(Open("run", RUN_OVERWRITE, &second));
  assert_on_all_ranks(first && !second && strstr(message, "in use") && strstr(message, "process"));
  assert_success(RunDirectoryClose(&first));
  touch("run/run.lock"); /* left by a process that was killed */
  if (harness_rank() == 0) {
    other = open(scratch_path("run/run.lock"), O_RDWR);
    flock(other, LOCK_EX);
  }
  assert_success(Open("run", RUN_RESTART, &first));
  assert_on_all_ranks(!first && strstr(message, "in use"));
  if (harness_rank() == 0)
    close(other);
  assert_success(Open("run", RUN_RESTART, &first));
  assert_on_all_ranks(first && !message[0]);
  assert_success(RunDirectoryClose(&first));
}

static PetscErrorCode WriteCheckpoint(PetscInt64 step)
{
  Archive archive;

  PetscFunctionBegin;
  PetscCall(CheckpointCreate(PETSC_COMM_WORLD, scratch.directory, step, &archive));
  PetscCall(ArchiveWriteInteger(archive, "step", step));
  PetscCall(CheckpointCommit(&archive, message, MESSAGE));
  PetscCheck(!message[0], PETSC_COMM_WORLD, PETSC_ERR_FILE_WRITE, "%s", message);
  PetscFunctionReturn(0);
}

static PetscErrorCode Find(PetscInt64 *step)
{
  char    path[PETSC_MAX_PATH_LEN], problem[MESSAGE];
  Archive archive;

  PetscFunctionBegin;
  *step = -1;
  PetscCall(CheckpointFind(PETSC_COMM_WORLD, scratch.directory, path, message, MESSAGE));
  if (!path[0])
    PetscFunctionReturn(0);
  PetscCall(ArchiveOpen(PETSC_COMM_WORLD, path, &archive, problem, MESSAGE));
  PetscCheck(archive, PETSC_COMM_WORLD, PETSC_ERR_FILE_READ, "%s", problem);
  PetscCall(ArchiveReadInteger(archive, "step", step));
  PetscCall(ArchiveDestroy(&archive));
  PetscFunctionReturn(0);
}

static void the_two_newest_checkpoints_are_kept(void **state)
{
  PetscInt64 step;

  (void)state;
  assert_success(Find(&step));
  assert_on_all_ranks(step == -1 && strstr(message, "no whole checkpoint"));
  for (PetscInt64 s = 80; s <= 120; s += 20)
    assert_success(WriteCheckpoint(s));
  assert_success(Find(&step));
  assert_on_all_ranks(step == 120 && !message[0]);
  assert_on_all_ranks(file_exists(scratch_path("checkpoints/checkpoint-00000100.h5")));
  assert_on_all_ranks(!file_exists(scratch_path("checkpoints/checkpoint-00000080.h5")));
  assert_success(WriteCheckpoint(110)); /* after a restart from 100 */
  assert_success(Find(&step));
  assert_on_all_ranks(step == 110);
  assert_on_all_ranks(file_exists(scratch_path("checkpoints/checkpoint-00000100.h5")));
}

static void a_damaged_checkpoint_offers_the_older_one(void **state)
{
  PetscInt64 step;

  (void)state;
  assert_success(WriteCheckpoint(10));
  assert_success(WriteCheckpoint(20));
  flip_byte(scratch_path("checkpoints/checkpoint-00000020.h5"), 1000, 4);
  assert_success(Find(&step));
  assert_on_all_ranks(step == 10 && strstr(message, "00000020.h5 is damaged"));
  assert_on_all_ranks(strstr(message, "00000010.h5 is whole"));
  if (harness_rank() == 0 && truncate(scratch_path("checkpoints/checkpoint-00000010.h5"), 700))
    MPI_Abort(MPI_COMM_WORLD, 1);
  assert_success(Find(&step));
  assert_on_all_ranks(step == -1 && strstr(message, "truncated") && strstr(message, "no whole checkpoint"));
}

TEST_MAIN(in_scratch(a_new_directory_is_made_with_its_parents),
          in_scratch(results_of_another_run_are_refused_unless_told),
          in_scratch(nothing_to_restart_and_no_directory_are_told),
          in_scratch(temporaries_of_a_dead_run_are_deleted),
          in_scratch(a_directory_in_use_is_refused_until_its_process_is_gone),
          in_scratch(the_two_newest_checkpoints_are_kept),
          in_scratch(a_damaged_checkpoint_offers_the_older_one))
