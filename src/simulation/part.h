/* A part of a run: one of the systems that a scene may have, such as bodies, regions or obstacles, and all
   that the run asks of it. Each part is a file of this room with a `const Part` at its end; parts.c lists
   them. A new system is a new file and a new row.

   Functions that a part has no need of are null. A part that is not in a scene is never asked anything. */
#ifndef MILLRACE_SIMULATION_PART_H
#define MILLRACE_SIMULATION_PART_H

#include <millrace/simulation.h>

typedef struct Record Record;

/* A line of progress; what it can do without is dropped from the first of these on until it fits. */
typedef struct ProgressLine ProgressLine;
typedef enum {
  NEED_RATE,
  NEED_SPEED,
  NEED_CONTACTS,
  NEED_ITERATIONS,
  NEED_ELAPSED,
  NEED_STEP_SIZE,
  NEED_STEP,
  NEED_TIME,
  NEED_FRAME,
  NEED_LEFT,
  NEED_SHARE
} Need;
void line_add(ProgressLine *line, Need need, const char format[], ...) __attribute__((format(printf, 3, 4)));

/* Farthest that anything may move in a step. A fixed step is bounded by what the schemes can do, not by what
   is accurate. */
typedef struct {
  PetscReal cells;   /* along an axis */
  PetscReal path;    /* of bodies, m */
  PetscBool carries; /* the flow transports something, or sets the step */
} StepBounds;

/* What a step takes: in any cell, beside an interface for each region there, where fluid meets a body, for a
   particle of a splash. Measured (docs/performance.md) and rounded to whole numbers, whose sums are exact. */
enum { WORK_IN_CELL = 10, WORK_AT_INTERFACE = 35, WORK_AT_BODY = 75, WORK_ON_PARTICLE = 2 };

/* The ranks that a part is on. */
typedef enum { PART_ON_ALL, PART_ON_FLUID } PartRanks;

typedef struct {
  const char *name;
  PartRanks   ranks;
  PetscBool (*is_in)(const SimulationConfig *config); /* null: with every grid */

  /* In the order of the rows; a refusal is a message on the first rank. Collective: world. */
  PetscErrorCode (*create)(Simulation simulation, char message[], size_t size);
  /* The initial state. Not `good`: a solve failed, and no later part is asked. Collective: world. */
  PetscErrorCode (*start)(Simulation simulation, PetscBool *good);

  /* Largest step that the state allows on this rank, and that motions prescribed over time allow within the
     next `dt`. */
  PetscErrorCode (*get_limit)(Simulation simulation, const StepBounds *bounds, PetscReal *limit);
  PetscErrorCode (*get_given_limit)(Simulation simulation, const StepBounds *bounds, PetscReal dt,
                                    PetscReal *limit);

  /* Before each step the state is kept; after one that failed it is restored. */
  PetscErrorCode (*keep)(Simulation simulation);
  PetscErrorCode (*restore)(Simulation simulation);

  /* Checkpoints, on the writers. What two runs must have in common to exchange states is their layout. */
  PetscErrorCode (*describe)(Simulation simulation, Text *layout);
  PetscErrorCode (*save)(Simulation simulation, Archive archive);
  PetscErrorCode (*load)(Simulation simulation, Archive archive);
  /* The other ranks learn what the first has loaded. Collective: world. */
  PetscErrorCode (*share)(Simulation simulation);
  /* What follows from the states of all parts, after they were loaded or restored. Collective: world. */
  PetscErrorCode (*derive)(Simulation simulation);

  /* Adds what there is to do in a step for this rank's cells, by the array of its box: whole
     numbers, as above. */
  PetscErrorCode (*add_work)(Simulation simulation, PetscReal work[]);

  /* What must hold between steps, for -check_invariants; an error otherwise. Collective: the part's ranks. */
  PetscErrorCode (*check)(Simulation simulation);

  /* Output, on the writers: fields of a frame, columns of the ledger, and those of wall-clock times. */
  PetscErrorCode (*write_frame)(Simulation simulation, FrameSeries frames);
  PetscErrorCode (*record)(Simulation simulation, Record *record);
  PetscErrorCode (*record_times)(Simulation simulation, Record *record);

  /* What the solvers did in the last step, on the terminal; `rate` in cells per second. */
  void (*describe_work)(Simulation simulation, PetscReal rate, ProgressLine *line);
  /* Which solve of the last step failed, and how; an empty reason: none of this part. */
  PetscErrorCode (*describe_failure)(Simulation simulation, char reason[], size_t size);
  const char *tolerance; /* the key to loosen then; null: there is none */

  /* Before a run: memory and numbers beside those of fields, and the largest speed to be expected, m/s. */
  void (*estimate)(const SimulationConfig *config, SimulationEstimate *estimate);
  PetscReal (*expect_speed)(const SimulationConfig *config);
  /* Fields of doubles over the grid that are alive at the same time (docs/performance.md). */
  PetscReal (*count_fields)(const SimulationConfig *config);
  PetscErrorCode (*destroy)(Simulation simulation);
} Part;

/* parts.c: one call for all parts of the scene, in the order of the rows, where they are. */
PetscErrorCode PartsCreate(Simulation simulation, char message[], size_t size);
PetscErrorCode PartsStart(Simulation simulation, PetscBool *good);
PetscErrorCode PartsGetLimit(Simulation simulation, const StepBounds *bounds, PetscReal *limit);
PetscErrorCode PartsGetGivenLimit(Simulation simulation, const StepBounds *bounds, PetscReal dt,
                                  PetscReal *limit);
PetscErrorCode PartsKeep(Simulation simulation);
PetscErrorCode PartsRestore(Simulation simulation); /* and derives */
PetscErrorCode PartsDescribe(Simulation simulation, Text *layout);
PetscErrorCode PartsSave(Simulation simulation, Archive archive);
/* Solids first, which all ranks must know to place them; then what lies around them. */
typedef enum { LOAD_SOLIDS, LOAD_REST } LoadStage;
PetscErrorCode PartsLoad(Simulation simulation, LoadStage stage, Archive archive);
PetscErrorCode PartsShare(Simulation simulation, LoadStage stage);
PetscErrorCode PartsDerive(Simulation simulation);
PetscErrorCode PartsAddWork(Simulation simulation, PetscReal work[]);
PetscErrorCode PartsCheck(Simulation simulation);
PetscErrorCode PartsWriteFrame(Simulation simulation, FrameSeries frames);
PetscErrorCode PartsRecord(Simulation simulation, Record *record);
PetscErrorCode PartsRecordTimes(Simulation simulation, Record *record);
void           parts_describe_work(Simulation simulation, PetscReal rate, ProgressLine *line);
/* Leaves `reason` as it is where no part has one. */
PetscErrorCode PartsDescribeFailure(Simulation simulation, char reason[], size_t size);
const char    *parts_tolerance(const SimulationConfig *config);
void           parts_estimate(const SimulationConfig *config, SimulationEstimate *estimate);
PetscReal      parts_expected_speed(const SimulationConfig *config);
PetscReal      parts_count_fields(const SimulationConfig *config);
PetscErrorCode PartsDestroy(Simulation simulation); /* in reverse order */

#endif
