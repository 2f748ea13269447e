/* The lid-driven cavity, run until it is steady and compared with the tables. */
#ifndef MILLRACE_TESTS_CAVITY_H
#define MILLRACE_TESTS_CAVITY_H

#include "scene_run.h"
#include "ghia.h"

typedef struct {
  PetscReal deviation;    /* largest one from the table */
  PetscReal lowest_u;     /* along x = 1/2: of the parabola through the lowest three values */
  PetscReal steady_after; /* s */
} CavityResult;

/* Runs until u changes by less than `change` within one second, at most until `latest`. Collective: world. */
PetscErrorCode CavityRun(const GhiaTable *table, PetscInt resolution, PetscReal change, PetscReal latest,
                         CavityResult *result);

#endif
