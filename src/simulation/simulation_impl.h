#ifndef MILLRACE_SIMULATION_IMPL_H
#define MILLRACE_SIMULATION_IMPL_H

#include <millrace/simulation.h>

/* Ranks outside the fluid team hold null in place of grid and fluid. */
struct _p_Simulation {
  const SimulationConfig *config; /* borrowed */
  Team                    team;
  MacGrid                 grid;
  Fluid                   fluid;
  PetscReal               time;
  PetscReal               dt; /* of the last step */
  PetscInt                step;

  /* Obstacles and sources as the fluid sees them; null without any. */
  Vec       solid;
  Vec       solid_velocity[DIM]; /* null when all stand still */
  PetscBool solids_move;         /* or sources change */
};

/* The owned cells whose centres or faces can lie in a box of space. */
typedef struct {
  PetscInt start[DIM], end[DIM];
} CellRange;
CellRange cells_within(MacGrid grid, Vector3 low, Vector3 high);

/* obstacles.c. Collective: fluid. */
PetscErrorCode SimulationCreateSolids(Simulation simulation);
PetscErrorCode SimulationPlaceSolids(Simulation simulation, PetscReal time);
PetscErrorCode SimulationGetObstacleLimit(Simulation simulation, PetscReal *limit);

/* inflows.c: gives scalars their values inside the inflow regions. */
PetscErrorCode SimulationHoldScalars(Simulation simulation, PetscReal time, Vec scalars[]);
PetscBool      inflow_is_active(const InflowConfig *inflow, PetscReal time);
PetscBool      inflow_gives_velocity(const InflowConfig *inflow);
PetscErrorCode SimulationGetInflowLimit(Simulation simulation, PetscReal *limit);

/* One row of the ledger: the first collection names the columns, later ones give the values in the same
 * order. */
enum { RECORD_CAPACITY = 512, RECORD_NAME_LENGTH = 96 };
typedef struct {
  PetscInt    count;
  char        names[RECORD_CAPACITY][RECORD_NAME_LENGTH];
  const char *columns[RECORD_CAPACITY][2]; /* name, unit */
  PetscReal   values[RECORD_CAPACITY];
} Record;

/* record.c. Collective: fluid. */
PetscErrorCode SimulationCollectRecord(Simulation simulation, PetscReal wall_step, Record *record);

/* frame.c. Collective: fluid. */
PetscErrorCode SimulationWriteFrame(Simulation simulation, FrameSeries frames, PetscInt number,
                                    const char scene_text[], char message[], size_t message_size);

/* progress.c: what the user sees of a run, on the first rank. */
typedef struct {
  PetscBool      terminal;
  PetscLogDouble began;      /* wall clock */
  PetscReal      began_time; /* simulated */
  PetscInt       began_step;
  PetscInt64     cells;
  PetscInt64     frames;
} Progress;
PetscErrorCode ProgressBegin(Simulation simulation, Progress *progress);
typedef enum { PROGRESS_STEP, PROGRESS_FRAME } ProgressMoment;
PetscErrorCode ProgressShow(Simulation simulation, Progress *progress, PetscInt frame, ProgressMoment moment);
PetscErrorCode ProgressEnd(Simulation simulation, Progress *progress);

#endif
