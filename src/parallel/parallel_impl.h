/* What the files of src/parallel share. */
#ifndef MILLRACE_PARALLEL_IMPL_H
#define MILLRACE_PARALLEL_IMPL_H

#include <millrace/parallel.h>

struct Sleepers;

/* sleep.c. Null where no rank sleeps on this node. Collective: world. */
PetscErrorCode SleepersCreate(MPI_Comm world, PetscBool has_fluid, struct Sleepers **sleepers);
PetscErrorCode SleepersDestroy(struct Sleepers **sleepers);
/* Every rank calls it as often as every other. */
PetscErrorCode SleepersMeet(struct Sleepers *sleepers);

#endif
