/* Generations of checkpoints: DIRECTORY/checkpoints/checkpoint-STEP.h5, the two newest kept. */
#include "io_impl.h"
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char prefix[] = "checkpoint-", suffix[] = ".h5";

/* -1 for what is not ours, such as somebody's copy. */
static PetscInt64 step_of(const char name[])
{
  return (PetscInt64)number_in_name(name, prefix, CHECKPOINT_DIGITS, suffix);
}

static void name_of(PetscInt64 step, char name[], size_t size)
{
  snprintf(name, size, "%s%0*" PRId64 "%s", prefix, CHECKPOINT_DIGITS, (int64_t)step, suffix);
}

/* The newest checkpoint older than `limit`. */
typedef struct {
  PetscInt64 limit;
  PetscInt64 step; /* -1: none */
  char       name[64];
} Newest;

static void find_newest(const char directory[], const char name[], void *context)
{
  Newest          *newest = context;
  const PetscInt64 step = step_of(name);

  (void)directory;
  if (step >= newest->limit || step <= newest->step || strlen(name) >= sizeof(newest->name))
    return;
  newest->step = step;
  strcpy(newest->name, name);
}

static Newest newest_below(const char directory[], PetscInt64 limit)
{
  Newest newest = {limit, -1, ""};

  visit_names(directory, prefix, suffix, find_newest, &newest);
  return newest;
}

PetscErrorCode CheckpointCreate(MPI_Comm comm, const char directory[], PetscInt64 step, Archive *archive)
{
  char        checkpoints[PETSC_MAX_PATH_LEN], path[PETSC_MAX_PATH_LEN], name[64];
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(JoinPath(directory, "checkpoints", checkpoints));
  name_of(step, name, sizeof(name));
  PetscCall(JoinPath(checkpoints, name, path));
  /* a failure here shows when the archive cannot be created */
  if (rank == 0)
    (void)make_directories(checkpoints);
  PetscCall(ArchiveCreate(comm, path, archive));
  PetscFunctionReturn(0);
}

typedef struct {
  PetscInt64 keep[2];
} Generations;

static void remove_other(const char directory[], const char name[], void *context)
{
  const Generations *generations = context;
  const PetscInt64   step = step_of(name);
  char               path[PETSC_MAX_PATH_LEN];

  if (step < 0 || step == generations->keep[0] || step == generations->keep[1])
    return;
  if (snprintf(path, sizeof(path), "%s/%s", directory, name) < (int)sizeof(path))
    unlink(path);
}

/* Those later than the newest belong to a future that a restart has dropped. */
static void remove_old(const char path[])
{
  char             directory[PETSC_MAX_PATH_LEN];
  const char      *name = strrchr(path, '/') + 1;
  const PetscInt64 step = step_of(name);
  Generations      generations;

  snprintf(directory, sizeof(directory), "%.*s", (int)(name - path) - 1, path);
  generations.keep[0] = step;
  generations.keep[1] = newest_below(directory, step).step;
  visit_names(directory, prefix, suffix, remove_other, &generations);
}

PetscErrorCode CheckpointCommit(Archive *archive, char message[], size_t message_size)
{
  char              path[PETSC_MAX_PATH_LEN];
  const PetscMPIInt rank = (*archive)->rank;

  PetscFunctionBegin;
  strcpy(path, (*archive)->path);
  PetscCall(ArchiveTryCommit(archive, message, message_size));
  if (rank == 0 && !message[0])
    remove_old(path);
  PetscFunctionReturn(0);
}

static void remove_later(const char directory[], const char name[], void *context)
{
  char path[PETSC_MAX_PATH_LEN];

  if (step_of(name) > *(const PetscInt64 *)context &&
      snprintf(path, sizeof(path), "%s/%s", directory, name) < (int)sizeof(path))
    unlink(path);
}

static PetscBool is_same_file(const char first[], const char second[])
{
  struct stat a, b;

  return !stat(first, &a) && !stat(second, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino ? PETSC_TRUE
                                                                                               : PETSC_FALSE;
}

PetscErrorCode CheckpointAdopt(MPI_Comm comm, const char directory[], const char file[], PetscInt64 step,
                               char message[], size_t message_size)
{
  char        checkpoints[PETSC_MAX_PATH_LEN], path[PETSC_MAX_PATH_LEN], name[64];
  PetscMPIInt rank;
  int         problem = 0;

  PetscFunctionBegin;
  message[0] = '\0';
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(JoinPath(directory, "checkpoints", checkpoints));
  name_of(step, name, sizeof(name));
  PetscCall(JoinPath(checkpoints, name, path));
  if (rank == 0) {
    problem = make_directories(checkpoints);
    if (!problem && !is_same_file(file, path))
      problem = copy_file_atomically(file, path);
    if (!problem) {
      visit_names(checkpoints, prefix, suffix, remove_later, &step);
      problem = sync_directory_of(path);
    }
  }
  PetscCallMPI(MPI_Bcast(&problem, 1, MPI_INT, 0, comm));
  if (problem)
    PetscCall(PetscSNPrintf(message, message_size, "%s cannot be written: %s", path, strerror(problem)));
  PetscFunctionReturn(0);
}

PetscErrorCode CheckpointFind(MPI_Comm comm, const char directory[], char path[], char message[],
                              size_t message_size)
{
  char        checkpoints[PETSC_MAX_PATH_LEN], problem[MESSAGE_SIZE];
  PetscMPIInt rank;
  Newest      newest = {INT64_MAX, 0, ""};

  PetscFunctionBegin;
  message[0] = '\0';
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(JoinPath(directory, "checkpoints", checkpoints));
  for (;;) {
    if (rank == 0)
      newest = newest_below(checkpoints, newest.limit);
    PetscCallMPI(MPI_Bcast(&newest, sizeof(newest), MPI_BYTE, 0, comm));
    path[0] = '\0';
    if (newest.step < 0)
      break;
    PetscCall(JoinPath(checkpoints, newest.name, path));
    PetscCall(SealCheck(comm, path, problem, sizeof(problem)));
    if (!problem[0])
      break;
    snprintf(message + strlen(message), message_size - strlen(message), "%s; ", problem);
    newest.limit = newest.step;
  }
  if (!path[0]) {
    snprintf(message + strlen(message), message_size - strlen(message), "there is no whole checkpoint in %s",
             checkpoints);
  } else if (message[0]) {
    snprintf(message + strlen(message), message_size - strlen(message), "%s is whole", path);
  }
  PetscFunctionReturn(0);
}
