/* A rank without fluid sleeps while the fluid works.

   MPI's ranks spin while they wait for each other. With a core for each that is the fastest way; where a node
   has more ranks than cores, a rank that spins takes its share of a core from one that works. There, and only
   there, the ranks without fluid wait at a semaphore, which the last fluid rank of the node raises when it
   comes to the place where all meet. Semaphores lie in memory that the node's ranks share: no message is
   sent, and the collective call that follows is what it would be without them. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "parallel_impl.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

/* Of one node, in shared memory. */
typedef struct {
  atomic_ullong arrivals; /* of fluid ranks, at all meetings */
  sem_t         ready[];  /* one for each rank without fluid */
} Meetings;

struct Sleepers {
  MPI_Comm    node;
  MPI_Win     window;
  Meetings   *meetings;
  PetscMPIInt fluid_ranks, count, own; /* of the node; which of `count` sleepers this rank is, or -1 */
};

/* Cores that the ranks of a node may use, all together. */
static PetscErrorCode CountCores(MPI_Comm node, PetscInt *count)
{
  cpu_set_t cores;

  PetscFunctionBegin;
  CPU_ZERO(&cores);
  PetscCheck(sched_getaffinity(0, sizeof(cores), &cores) == 0, PETSC_COMM_SELF, PETSC_ERR_SYS,
             "The system does not tell which cores there are");
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &cores, (PetscMPIInt)sizeof(cores), MPI_BYTE, MPI_BOR, node));
  *count = CPU_COUNT(&cores);
  PetscFunctionReturn(0);
}

static PetscErrorCode OpenMeetings(struct Sleepers *sleepers)
{
  const size_t bytes = sizeof(Meetings) + (size_t)sleepers->count * sizeof(sem_t);
  MPI_Aint     size;
  PetscMPIInt  rank, unit;
  void        *own;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(sleepers->node, &rank));
  PetscCallMPI(MPI_Win_allocate_shared(rank == 0 ? (MPI_Aint)bytes : 0, 1, MPI_INFO_NULL, sleepers->node,
                                       &own, &sleepers->window));
  PetscCallMPI(MPI_Win_shared_query(sleepers->window, 0, &size, &unit, &sleepers->meetings));
  if (rank == 0) {
    atomic_init(&sleepers->meetings->arrivals, 0);
    for (PetscMPIInt n = 0; n < sleepers->count; n++)
      PetscCheck(sem_init(&sleepers->meetings->ready[n], 1, 0) == 0, PETSC_COMM_SELF, PETSC_ERR_SYS,
                 "The system has no semaphore for a rank that waits");
  }
  PetscCallMPI(MPI_Barrier(sleepers->node));
  PetscFunctionReturn(0);
}

PetscErrorCode SleepersCreate(MPI_Comm world, PetscBool has_fluid, struct Sleepers **sleepers)
{
  struct Sleepers *found;
  PetscInt         cores = 0;
  PetscMPIInt      ranks, before = 0, sleeps = !has_fluid;

  PetscFunctionBegin;
  PetscCall(PetscNew(&found));
  PetscCallMPI(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &found->node));
  PetscCallMPI(MPI_Comm_size(found->node, &ranks));
  PetscCallMPI(MPI_Allreduce(&sleeps, &found->count, 1, MPI_INT, MPI_SUM, found->node));
  PetscCallMPI(MPI_Scan(&sleeps, &before, 1, MPI_INT, MPI_SUM, found->node));
  PetscCall(CountCores(found->node, &cores));
  found->fluid_ranks = ranks - found->count;
  found->own = sleeps ? before - 1 : -1;
  if (ranks > cores && found->count && found->fluid_ranks)
    PetscCall(OpenMeetings(found));
  else
    PetscCall(SleepersDestroy(&found));
  *sleepers = found;
  PetscFunctionReturn(0);
}

PetscErrorCode SleepersDestroy(struct Sleepers **sleepers)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  if (!*sleepers)
    PetscFunctionReturn(0);
  if ((*sleepers)->meetings) {
    PetscCallMPI(MPI_Comm_rank((*sleepers)->node, &rank));
    PetscCall(SleepersMeet(*sleepers));
    PetscCallMPI(MPI_Barrier((*sleepers)->node));
    for (PetscMPIInt n = 0; n < (*sleepers)->count && rank == 0; n++)
      sem_destroy(&(*sleepers)->meetings->ready[n]);
    PetscCallMPI(MPI_Win_free(&(*sleepers)->window));
  }
  PetscCallMPI(MPI_Comm_free(&(*sleepers)->node));
  PetscCall(PetscFree(*sleepers));
  PetscFunctionReturn(0);
}

/* A fluid rank that is ahead of another may count for it; a sleeper then wakes early and waits in the call
   that follows, as it would without any of this. */
PetscErrorCode SleepersMeet(struct Sleepers *sleepers)
{
  Meetings *meetings;

  PetscFunctionBegin;
  if (!sleepers)
    PetscFunctionReturn(0);
  meetings = sleepers->meetings;
  if (sleepers->own < 0) {
    if ((atomic_fetch_add(&meetings->arrivals, 1) + 1) % (unsigned long long)sleepers->fluid_ranks == 0)
      for (PetscMPIInt n = 0; n < sleepers->count; n++)
        PetscCheck(sem_post(&meetings->ready[n]) == 0, PETSC_COMM_SELF, PETSC_ERR_SYS,
                   "A rank that waits cannot be woken");
  } else {
    while (sem_wait(&meetings->ready[sleepers->own]) != 0)
      PetscCheck(errno == EINTR, PETSC_COMM_SELF, PETSC_ERR_SYS, "This rank cannot wait for the fluid");
  }
  PetscFunctionReturn(0);
}
