/* Private to sight.c and look.c. */
#ifndef MILLRACE_LOOK_H
#define MILLRACE_LOOK_H

#include "fluid_impl.h"

/* Where a value near a shell comes from. */
typedef struct {
  PetscInt  place, corner; /* local indices; the lower corner of the cell around the foot */
  PetscReal weights[8];    /* of its corners, zero of those that are not seen */
  PetscReal beyond;        /* what shells add to a velocity */
  PetscInt  instead;       /* the node to take where no corner is seen */
} Look;

/* Of cells, where it has been asked for. */
typedef struct {
  PetscReal *glides[DIM]; /* dt w, m */
  char      *is_traced;
  PetscReal *clear; /* how far around the center no shell is after the step, m; negative: not asked for */
} Kept;

/* What looking needs, for a step. */
typedef struct {
  Fluid             fluid;
  const Visibility *visibility;
  const GridBox    *box;
  Kept             *kept;
  PetscReal         h, dt;
  const PetscReal  *near, *solid;
  PetscReal        *flow[DIM], *feet[DIM], *heads[DIM];
} Viewer;

/* Whether the other schemes see a shell from a value: from the foot, on the way to it from `start` (the place
   moved back with its shell), or (WENO) along the axes. LOOK_CLEAR: not even from the head. */
typedef enum { LOOK_CLEAR, LOOK_AHEAD, LOOK_BACK } LookKind;
LookKind look_kind(const Viewer *viewer, PetscInt direction, const PetscInt at[DIM], Vector3 *start);
Look     look_back(const Viewer *viewer, PetscInt direction, const PetscInt at[DIM], Vector3 start);

#endif
