/* Broad phase: which bodies may touch, by boxes around them. */
#ifndef MILLRACE_SOLID_PAIRS_H
#define MILLRACE_SOLID_PAIRS_H

#include "../../rigid/form.h"

typedef struct {
  Vector3 low, high; /* may be infinite */
} Bounds;
Bounds form_bounds(const Form *form, const RigidTransform *placement); /* exact for primitives and boxes */

typedef struct _p_PairFinder *PairFinder;
PetscErrorCode                PairFinderCreate(PetscInt body_count, PairFinder *finder);
PetscErrorCode                PairFinderDestroy(PairFinder *finder);
/* All pairs (a < b, sorted by a, then b) whose boxes overlap and of which at least one `moves`; lent until
   the next call. The answer depends on the boxes alone. */
PetscErrorCode PairFinderFind(PairFinder finder, const Bounds boxes[], const PetscBool moves[],
                              PetscInt *count, const PetscInt (**pairs)[2]);

#endif
