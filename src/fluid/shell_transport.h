/* Private to shell_transport.c and shell_trace.c. */
#ifndef MILLRACE_SHELL_TRANSPORT_H
#define MILLRACE_SHELL_TRANSPORT_H

#include "fluid_impl.h"

/* Where a value near a shell comes from. */
typedef struct {
  PetscInt  place, corner; /* local indices; the lower corner of the cell around the foot */
  PetscReal weights[8];    /* of its corners, zero of those that are not seen */
  PetscReal beyond;        /* what shells add to a velocity */
  PetscInt  instead;       /* the node to take where no corner is seen */
} DepartureStencil;

/* Of cells, where it has been asked for. */
typedef struct {
  PetscReal *relative_shifts[DIM]; /* dt w, m */
  char      *is_traced;
  PetscReal *clear; /* how far around the centre no shell is after the step, m; negative: not asked for */
} TraceCache;

/* What looking needs, for a step. */
typedef struct {
  Fluid             fluid;
  const Visibility *visibility;
  const GridBox    *box;
  TraceCache       *cache;
  PetscReal         h, dt;
  const PetscReal  *near, *solid;
  PetscReal        *flow[DIM], *feet[DIM], *heads[DIM];
} ShellTracer;

/* Whether the other schemes see a shell from a value: from the foot, on the way to it from `start` (the place
   moved back with its shell), or (WENO) along the axes. INFLUENCE_NONE: not even from the head. */
typedef enum { INFLUENCE_NONE, INFLUENCE_ON_CORRECTION, INFLUENCE_ON_VALUE } ShellInfluence;
ShellInfluence   shell_influence(const ShellTracer *tracer, PetscInt direction, const PetscInt at[DIM],
                                 Vector3 *start);
DepartureStencil departure_stencil(const ShellTracer *tracer, PetscInt direction, const PetscInt at[DIM],
                                   Vector3 start);

#endif
