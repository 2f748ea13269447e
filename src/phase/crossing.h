/* The one lookup through which two materials see each other: the crossing between the centres of two
   neighbouring cells. A shell between them is no crossing: half of the way lies on either side. */
#ifndef MILLRACE_PHASE_CROSSING_H
#define MILLRACE_PHASE_CROSSING_H

#include "phase_impl.h"

typedef struct {
  PetscInt  lower, upper; /* regions of the two cells */
  PetscReal theta;        /* part of the way from the lower to the upper centre that is in the lower region */
  PetscReal jump;         /* of the pressure, upper less lower, Pa; 0 unless curvature is at hand */
  PetscBool blocked;      /* a shell lies between the two */
} Crossing;

typedef struct {
  Phase            phase;
  PetscReal       *distances[REGIONS_MAX];
  PetscInt         first, second; /* the pair whose `curvature` is given, first < second */
  const PetscReal *curvature;     /* 1/m, positive where the first is convex; null: none */
} Crossings;
PetscErrorCode PhaseGetCrossings(Phase phase, Crossings *crossings);
PetscErrorCode PhaseRestoreCrossings(Phase phase, Crossings *crossings);

/* The inside of what is convex has the higher pressure. */
static inline PetscReal crossing_jump(const Crossings *crossings, const Crossing *crossing, PetscInt below,
                                      PetscInt above)
{
  const PetscReal *curvature = crossings->curvature;
  const PetscInt   first = PetscMin(crossing->lower, crossing->upper),
                 second = PetscMax(crossing->lower, crossing->upper);
  PetscReal at_crossing;

  if (!curvature || first != crossings->first || second != crossings->second)
    return 0.;
  at_crossing = (1. - crossing->theta) * curvature[below] + crossing->theta * curvature[above];
  return (crossing->lower == first ? -1. : 1.) * crossings->phase->tension[first][second] * at_crossing;
}

/* Between cell `above` and its lower neighbour along d. */
static inline Crossing crossing_below(const Crossings *crossings, PetscInt above, PetscInt d)
{
  const Phase          phase = crossings->phase;
  const PetscInt       below = above - grid_box(phase->grid)->stride[d];
  const unsigned char *region = phase->region;
  Crossing             crossing = {region[below], region[above], 1., 0., PETSC_FALSE};

  if (phase->visibility_map && face_is_blocked(phase->visibility_map, STEP_END, above, d, -1)) {
    crossing.theta = 0.5;
    crossing.blocked = PETSC_TRUE;
    return crossing;
  }

  if (crossing.lower != crossing.upper) {
    const PetscReal lower = PetscAbsReal(crossings->distances[crossing.lower][below]);
    const PetscReal upper = PetscAbsReal(crossings->distances[crossing.upper][above]);

    crossing.theta = lower + upper > 0. ? lower / (lower + upper) : 0.5;
    crossing.jump = crossing_jump(crossings, &crossing, below, above);
  }
  return crossing;
}

#endif
