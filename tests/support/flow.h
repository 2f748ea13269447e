/* A flow from the text of a scene, stepped by hand and compared with formulas or with another flow. */
#ifndef MILLRACE_TESTS_FLOW_H
#define MILLRACE_TESTS_FLOW_H

#include <millrace/scene.h>

typedef struct {
  Scene      scene;
  Simulation simulation;
  MacGrid    grid; /* this and `fluid`: lent, null outside the fluid team */
  Fluid      fluid;
} Flow;

/* Reads `format` (as for printf) as a scene, and starts it; an unusable scene is an error. Collective: comm.
 */
PetscErrorCode FlowCreate(MPI_Comm comm, Flow *flow, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(3, 4);
/* The same where the scene has been read already. */
PetscErrorCode FlowStart(MPI_Comm comm, Flow *flow);
/* A scene of inputs/, such as "liquids/drops", with `cells` along x and further overrides up to a null; 0
   cells: its own. Collective: world. */
PetscErrorCode FlowOpen(Flow *flow, const char scene[], PetscInt cells, ...);
PetscErrorCode FlowDestroy(Flow *flow);

/* Steps of the size that the simulation asks for until `time`, or `count` steps of size `dt`; a single one
   may become smaller. A step that is not good is an error. Collective: the flow's communicator. */
PetscErrorCode FlowRunUntil(Flow *flow, PetscReal time);
PetscErrorCode FlowStep(Flow *flow, PetscInt count, PetscReal dt);

/* X, Y and Z name the components of the velocity; scalars follow the pressure. */
enum { FLOW_PRESSURE = DIM, FLOW_SCALAR };

/* Norms of a difference over the fluid; a pressure is compared up to a constant. */
typedef struct {
  PetscReal mean_square; /* root of it */
  PetscReal largest;
} FlowDifference;

/* Between field and `formula` at `time`; between the owned values of a field and those of the same field in
   `other`, which a single rank owns. Collective: the fluid ranks of `flow`. */
PetscErrorCode FlowCompare(Flow *flow, PetscInt field, const char formula[], PetscReal time,
                           FlowDifference *difference);
PetscErrorCode FlowCompareWithSerial(Flow *flow, Flow *other, PetscInt field, FlowDifference *difference);

/* The vector behind a field. */
PetscErrorCode FlowGetField(Flow *flow, PetscInt field, Vec *values);
/* Value of a field at a point by linear interpolation, solid cells and all; the point must not lie closer
   than half a cell to a side, unless the field's ghosts hold what lies beyond. Collective: fluid ranks. */
PetscErrorCode FlowSample(Flow *flow, PetscInt field, Vector3 point, PetscReal *value);

/* Order of convergence from errors on grids that differ by a factor of two. */
PetscReal order_between(PetscReal coarse, PetscReal fine);

/* A measured number for the log, as a comment of TAP. */
void note(const char format[], ...) PETSC_ATTRIBUTE_FORMAT(1, 2);

#endif
