/* The directory of a run: one process at a time, and never another run's results unless told so. */
#include "io_impl.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct _p_RunDirectory {
  PetscMPIInt rank;
  int         lock; /* of rank 0; negative elsewhere */
  RunUse      use;
  char        path[PETSC_MAX_PATH_LEN];
};

static const char lock_name[] = "run.lock";

enum { ANY_NAME = -1 };

/* What a run leaves in its directory: in which folder, how the name starts and ends and how many digits are
   at least in between, or a name of the scene; copies that somebody has given another name are not ours. */
static const struct {
  const char *folder, *start, *end;
  int         digits;
} results[] = {{"", "run.xmf", "", 0},
               {"", "ledger.csv", "", 0},
               {"", "ledger.h5", "", 0},
               {"frames", "frame-", ".h5", FRAME_DIGITS},
               {"checkpoints", "checkpoint-", ".h5", CHECKPOINT_DIGITS},
               {"output", "", ".csv", ANY_NAME},
               {"output", "", ".h5", ANY_NAME}};
enum { RESULTS = sizeof(results) / sizeof(results[0]), LIST_OF_FRAMES = 0, FRAMES = 3 };

static void note_name(const char directory[], const char name[], void *context)
{
  (void)directory;
  snprintf(context, 128, "%.120s", name);
}

static void remove_name(const char directory[], const char name[], void *context)
{
  char path[PETSC_MAX_PATH_LEN];

  (void)context;
  if (snprintf(path, sizeof(path), "%s/%s", directory, name) < (int)sizeof(path))
    unlink(path);
}

/* One kind of results, and whose visit it is. */
typedef struct {
  int         kind;
  const char *more; /* behind the name */
  NameVisitor visit;
  void       *context;
} Visit;

/* As the scene may call a group of output, and `end`. */
static PetscBool is_name_with(const char name[], const char end[])
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  const size_t      length = strspn(name, letters);

  return length > 0 && !strcmp(name + length, end) ? PETSC_TRUE : PETSC_FALSE;
}

static void visit_result(const char directory[], const char name[], void *context)
{
  const Visit *visit = context;
  char         end[16];

  snprintf(end, sizeof(end), "%s%s", results[visit->kind].end, visit->more);
  if (results[visit->kind].digits == ANY_NAME ? is_name_with(name, end)
      : results[visit->kind].digits
          ? number_in_name(name, results[visit->kind].start, results[visit->kind].digits, end) >= 0
          : !strcmp(name + strlen(results[visit->kind].start), end))
    visit->visit(directory, name, visit->context);
}

static void visit_kind(const char path[], const Visit *visit)
{
  char folder[PETSC_MAX_PATH_LEN];

  if (snprintf(folder, sizeof(folder), "%s/%s", path, results[visit->kind].folder) < (int)sizeof(folder))
    visit_names(folder, results[visit->kind].start, visit->more, visit_result, (void *)visit);
}

/* The frames of a group of output, in a folder with its name. */
static void visit_group(const char directory[], const char name[], void *context)
{
  Visit one = *(const Visit *)context;
  char  folder[PETSC_MAX_PATH_LEN];

  if (!is_name_with(name, "") ||
      snprintf(folder, sizeof(folder), "%s/%s", directory, name) >= (int)sizeof(folder))
    return;
  one.kind = LIST_OF_FRAMES;
  visit_kind(folder, &one);
  one.kind = FRAMES;
  visit_kind(folder, &one);
}

/* Every result of a run, with `more` behind its name. */
static PetscErrorCode VisitResults(const char path[], const char more[], NameVisitor visit, void *context)
{
  char  folder[PETSC_MAX_PATH_LEN];
  Visit one = {0, more, visit, context};

  PetscFunctionBegin;
  for (one.kind = 0; one.kind < RESULTS; one.kind++)
    visit_kind(path, &one);
  PetscCall(JoinPath(path, "output", folder));
  visit_names(folder, "", "", visit_group, &one);
  PetscFunctionReturn(0);
}

static void describe_owner(int lock, const char path[], char message[], size_t size)
{
  char    owner[128] = {0};
  ssize_t got = pread(lock, owner, sizeof(owner) - 1, 0);

  if (got > 0)
    owner[strcspn(owner, "\n")] = '\0';
  snprintf(message, size, "%s is in use by another run (%s): choose another directory or wait for it", path,
           owner[0] ? owner : "unknown");
}

/* Locks an existing lock file, or with O_CREAT in `flags` a new one; -1 if there is none. A file system
   without locks lets everybody in. */
static int take_lock(const char path[], int flags, char message[], size_t size)
{
  char        lock_path[PETSC_MAX_PATH_LEN];
  struct stat status;
  int         lock;

  if (snprintf(lock_path, sizeof(lock_path), "%s/%s", path, lock_name) >= (int)sizeof(lock_path))
    return -1;
  lock = open(lock_path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0666);
  if (lock < 0) {
    if (errno != ENOENT && errno != ENOTDIR)
      snprintf(message, size, "%s cannot be opened: %s", lock_path, strerror(errno));
  } else if (flock(lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
    describe_owner(lock, path, message, size);
    close(lock);
    lock = -1;
  } else if (fstat(lock, &status) || status.st_nlink == 0) {
    /* its run has ended since the file was opened, and a lock without a name keeps nobody out */
    close(lock);
    lock = -1;
  }
  return lock;
}

/* Before anything is written. */
static PetscErrorCode CheckUse(const char path[], RunUse use, char message[], size_t size)
{
  char        found[128] = "";
  struct stat status;

  PetscFunctionBegin;
  if (stat(path, &status)) {
    if (errno != ENOENT && errno != ENOTDIR)
      snprintf(message, size, "%s cannot be used: %s", path, strerror(errno));
    else if (use == RUN_RESTART)
      snprintf(message, size, "%s does not exist: there is no run to restart", path);
    PetscFunctionReturn(0);
  }
  if (!S_ISDIR(status.st_mode)) {
    snprintf(message, size, "%s is not a directory", path);
    PetscFunctionReturn(0);
  }
  PetscCall(VisitResults(path, "", note_name, found));
  if (use == RUN_NEW && found[0]) {
    snprintf(message, size,
             "%s holds the results of a run (%s): choose another directory, go on with it (--restart latest) "
             "or overwrite it "
             "(--overwrite)",
             path, found);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode OpenOnFirstRank(RunDirectory directory, RunUse use, char message[], size_t size)
{
  char host[128] = "unknown";
  int  problem, existing;

  PetscFunctionBegin;
  /* that a run is going on says more than that there are results */
  existing = take_lock(directory->path, 0, message, size);
  if (!message[0])
    PetscCall(CheckUse(directory->path, use, message, size));
  if (!message[0] && existing < 0) {
    problem = make_directories(directory->path);
    if (problem)
      snprintf(message, size, "%s cannot be made: %s", directory->path, strerror(problem));
    else
      directory->lock = take_lock(directory->path, O_CREAT, message, size);
    if (!message[0] && directory->lock < 0)
      snprintf(message, size, "%s is in use by another run", directory->path);
    /* somebody may have been faster */
    if (!message[0])
      PetscCall(CheckUse(directory->path, use, message, size));
  } else {
    directory->lock = existing;
  }
  if (message[0])
    PetscFunctionReturn(0);
  gethostname(host, sizeof(host) - 1);
  if (ftruncate(directory->lock, 0) ||
      dprintf(directory->lock, "process %d on %s\n", (int)getpid(), host) < 0) {
    snprintf(message, size, "%s/%s cannot be written: %s", directory->path, lock_name, strerror(errno));
    PetscFunctionReturn(0);
  }
  PetscCall(VisitResults(directory->path, ".tmp", remove_name, NULL));
  PetscFunctionReturn(0);
}

PetscErrorCode RunDirectoryOpen(MPI_Comm comm, const char path[], RunUse use, RunDirectory *directory,
                                char message[], size_t message_size)
{
  PetscFunctionBegin;
  message[0] = '\0';
  PetscCall(PetscNew(directory));
  PetscCall(JoinPath(path, "", (*directory)->path));
  (*directory)->path[strlen(path)] = '\0';
  (*directory)->lock = -1;
  (*directory)->use = use;
  PetscCallMPI(MPI_Comm_rank(comm, &(*directory)->rank));
  if ((*directory)->rank == 0)
    PetscCall(OpenOnFirstRank(*directory, use, message, message_size));
  PetscCallMPI(MPI_Bcast(message, (PetscMPIInt)message_size, MPI_CHAR, 0, comm));
  if (message[0]) {
    if ((*directory)->lock >= 0)
      close((*directory)->lock);
    PetscCall(PetscFree(*directory));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode RunDirectoryClear(RunDirectory directory)
{
  PetscFunctionBegin;
  if (directory->lock >= 0 && directory->use == RUN_OVERWRITE)
    PetscCall(VisitResults(directory->path, "", remove_name, NULL));
  PetscFunctionReturn(0);
}

PetscErrorCode RunDirectoryClose(RunDirectory *directory)
{
  PetscFunctionBegin;
  if (!*directory)
    PetscFunctionReturn(0);
  if ((*directory)->lock >= 0) {
    remove_name((*directory)->path, lock_name, NULL);
    close((*directory)->lock);
  }
  PetscCall(PetscFree(*directory));
  PetscFunctionReturn(0);
}

static void add_size(const char directory[], const char name[], void *context)
{
  char        path[PETSC_MAX_PATH_LEN];
  struct stat status;

  if (snprintf(path, sizeof(path), "%s/%s", directory, name) < (int)sizeof(path) && !stat(path, &status))
    *(PetscReal *)context += (PetscReal)status.st_size;
}

PetscReal run_directory_bytes(RunDirectory directory)
{
  PetscReal bytes = 0.;

  return VisitResults(directory->path, "", add_size, &bytes) ? 0. : bytes;
}

const char *run_directory_path(RunDirectory directory)
{
  return directory->path;
}
