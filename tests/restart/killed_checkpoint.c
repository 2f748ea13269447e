/* killed_checkpoint DIRECTORY POINT: commits a checkpoint of step 10, begins one of step 20 and is killed
   (SIGKILL) at POINT on its last rank, or for "all" points on every rank. killed_checkpoint DIRECTORY
   restart: prints the step that a restart finds. */
#define _GNU_SOURCE
#include <millrace/io.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CELLS = 48 };

/* Where the next kill is due; empty: nowhere. */
static char point[32];

static void pass(const char where[])
{
  if (!strcmp(where, point))
    raise(SIGKILL);
}

/* These stand in for the C library's, so that the kill comes inside the commit. */
int fsync(int file)
{
  const int status = (int)syscall(SYS_fsync, file);

  pass("synced");
  return status;
}

int rename(const char *from, const char *to)
{
  int status;

  pass("before-rename");
  status = (int)syscall(SYS_rename, from, to);
  pass("after-rename");
  return status;
}

static PetscErrorCode WriteCheckpoint(const char directory[], PetscInt64 step)
{
  ArchivePart part = {3, {CELLS, CELLS, CELLS}, {0}, {0, CELLS, CELLS}};
  PetscMPIInt rank, ranks;
  PetscReal  *values;
  Archive     archive;
  char        message[1024];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  part.start[0] = CELLS * rank / ranks;
  part.count[0] = CELLS * (rank + 1) / ranks - part.start[0];
  PetscCall(PetscCalloc1(part.count[0] * CELLS * CELLS, &values));
  PetscCall(CheckpointCreate(PETSC_COMM_WORLD, directory, step, &archive));
  pass("created");
  PetscCall(ArchiveWriteInteger(archive, "step", step));
  PetscCall(ArchiveWritePart(archive, "first", &part, values));
  pass("half");
  PetscCall(ArchiveWritePart(archive, "second", &part, values));
  pass("written");
  PetscCall(CheckpointCommit(&archive, message, sizeof(message)));
  PetscCheck(!message[0], PETSC_COMM_WORLD, PETSC_ERR_FILE_WRITE, "%s", message);
  PetscCall(PetscFree(values));
  PetscFunctionReturn(0);
}

static PetscErrorCode Restart(const char directory[])
{
  char         path[PETSC_MAX_PATH_LEN], message[1024];
  RunDirectory run;
  Archive      archive;
  PetscInt64   step;

  PetscFunctionBegin;
  PetscCall(RunDirectoryOpen(PETSC_COMM_WORLD, directory, RUN_RESTART, &run, message, sizeof(message)));
  PetscCheck(run, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN, "%s", message);
  PetscCall(CheckpointFind(PETSC_COMM_WORLD, directory, path, message, sizeof(message)));
  PetscCheck(!message[0], PETSC_COMM_WORLD, PETSC_ERR_FILE_READ, "%s", message);
  PetscCall(ArchiveOpen(PETSC_COMM_WORLD, path, &archive, message, sizeof(message)));
  PetscCheck(archive, PETSC_COMM_WORLD, PETSC_ERR_FILE_READ, "%s", message);
  PetscCall(ArchiveReadInteger(archive, "step", &step));
  PetscCall(ArchiveDestroy(&archive));
  PetscCall(RunDirectoryClose(&run));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d\n", (int)step));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  RunDirectory run;
  char         message[1024];

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCheck(argc == 3, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Two arguments, not %d", argc - 1);
  if (!strcmp(argv[2], "restart")) {
    PetscCall(Restart(argv[1]));
  } else {
    PetscCall(RunDirectoryOpen(PETSC_COMM_WORLD, argv[1], RUN_NEW, &run, message, sizeof(message)));
    PetscCheck(run, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN, "%s", message);
    PetscCall(WriteCheckpoint(argv[1], 10));
    PetscCall(PetscStrncpy(point, argv[2], sizeof(point)));
    PetscCall(WriteCheckpoint(argv[1], 20));
    PetscCall(RunDirectoryClose(&run));
  }
  PetscCall(PetscFinalize());
  return 0;
}
