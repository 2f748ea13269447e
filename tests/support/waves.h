/* Waves beside the lower side of x, recorded step by step; capillary waves beside Prosperetti's solution. */
#ifndef MILLRACE_TESTS_WAVES_H
#define MILLRACE_TESTS_WAVES_H

#include "liquid.h"

enum { MOST_SAMPLES = 16384 };

typedef struct {
  PetscInt  count;
  PetscReal time[MOST_SAMPLES], height[MOST_SAMPLES]; /* of region 0, above its level */
} WaveHistory;

PetscErrorCode WaveRecord(SceneRun *flow, PetscReal level, PetscReal until, PetscReal dt,
                          WaveHistory *history);
/* Time of the n-th crossing of the level, from 0; huge if there is none. */
PetscReal wave_crossing(const WaveHistory *history, PetscInt number);

/* A wave of length 1 between liquids of density 1 below and `density` (1 or 0.1) above: root of the mean
   square of the deviation from Prosperetti's solution over omega t <= 25, over the first height. */
PetscErrorCode CapillaryWaveDeviation(PetscInt cells, PetscReal density, PetscReal *deviation);

#endif
