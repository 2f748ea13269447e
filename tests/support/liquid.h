/* What tests measure of the regions of a flow. Values are the same on all ranks. Collective: world. */
#ifndef MILLRACE_TESTS_LIQUID_H
#define MILLRACE_TESTS_LIQUID_H

#include "scene_run.h"

/* Where the region ends, along `axis`, on the line of cell centres next to `point`: the highest place, or the
   lowest if `side` is 0. */
PetscErrorCode RegionEnd(SceneRun *flow, PetscInt region, PetscInt axis, PetscInt side, Vector3 point,
                         PetscReal *end);
/* The same over the whole region, which may end at a side of the box. */
PetscErrorCode RegionReach(SceneRun *flow, PetscInt region, PetscInt axis, PetscInt side, PetscReal *end);
PetscErrorCode RegionVolume(SceneRun *flow, PetscInt region, PetscReal *volume);
/* The largest velocity component on faces of cells that are not empty. */
PetscErrorCode LargestSpeed(SceneRun *flow, PetscReal *speed);

#endif
