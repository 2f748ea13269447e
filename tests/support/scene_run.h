/* A flow from the text of a scene, stepped by hand and compared with formulas or with another flow. */
#ifndef MILLRACE_TESTS_SCENE_RUN_H
#define MILLRACE_TESTS_SCENE_RUN_H

#include <millrace/scene.h>

typedef struct {
  Scene      scene;
  Simulation simulation;
  MacGrid    grid; /* this and `fluid`: lent, null outside the fluid team */
  Fluid      fluid;
} SceneRun;

/* Reads `format` (as for printf) as a scene, by default to t = 1 s with one frame, and starts it; an unusable
   scene is an error. Collective: comm. */
PetscErrorCode SceneRunCreate(MPI_Comm comm, SceneRun *flow, const char format[], ...)
    PETSC_ATTRIBUTE_FORMAT(3, 4);
/* The same where the scene has been read already. */
PetscErrorCode SceneRunStart(MPI_Comm comm, SceneRun *flow);
/* A scene of inputs/, such as "liquids/drops", with `cells` along x and further overrides up to a null; 0
   cells: its own. Collective: world. */
PetscErrorCode SceneRunOpen(SceneRun *flow, const char scene[], PetscInt cells, ...);
PetscErrorCode SceneRunDestroy(SceneRun *flow);

/* Steps of the size that the simulation asks for until `time`, or `count` steps of size `dt`; a single one
   may become smaller. A step that is not good is an error. Collective: the flow's communicator. */
PetscErrorCode SceneRunUntil(SceneRun *flow, PetscReal time);
PetscErrorCode SceneRunStep(SceneRun *flow, PetscInt count, PetscReal dt);

/* X, Y and Z name the components of the velocity; scalars follow the pressure. */
enum { FIELD_PRESSURE = DIM, FIELD_SCALAR };

/* Norms of a difference over the fluid; a pressure is compared up to a constant. */
typedef struct {
  PetscReal mean_square; /* root of it */
  PetscReal largest;
} FieldDifference;

/* Between field and `formula` at `time`; between the owned values of a field and those of the same field in
   `other`, which a single rank owns. Collective: the fluid ranks of `flow`. */
PetscErrorCode SceneRunCompare(SceneRun *flow, PetscInt field, const char formula[], PetscReal time,
                               FieldDifference *difference);
PetscErrorCode SceneRunCompareWithSerial(SceneRun *flow, SceneRun *other, PetscInt field,
                                         FieldDifference *difference);

/* The vector behind a field. */
PetscErrorCode SceneRunGetField(SceneRun *flow, PetscInt field, Vec *values);
/* Value of a field at a point by linear interpolation, solid cells and all; the point must not lie closer
   than half a cell to a side, unless the field's ghosts hold what lies beyond. Collective: fluid ranks. */
PetscErrorCode SceneRunSample(SceneRun *flow, PetscInt field, Vector3 point, PetscReal *value);

/* Order of convergence from errors on grids that differ by a factor of two. */
PetscReal order_between(PetscReal coarse, PetscReal fine);

/* A measured number for the log, as a comment of TAP. */
void note(const char format[], ...) PETSC_ATTRIBUTE_FORMAT(1, 2);

#endif
