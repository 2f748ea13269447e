/* A part of a run: one of the systems that a scene may have, such as bodies, regions or obstacles, and all
   that the run asks of it. Each part is a file of this room with a `const Part` at its end; parts.c lists
   them. A new system is a new file and a new row.

   Functions that a part has no need of are null. A part that is not in a scene is never asked anything. */
#ifndef MILLRACE_SIMULATION_PART_H
#define MILLRACE_SIMULATION_PART_H

#include <millrace/simulation.h>

typedef struct Record Record;

/* Farthest that anything may move in a step. A fixed step is bounded by what the schemes can do, not by what
   is accurate. */
typedef struct {
  PetscReal cells;   /* along an axis */
  PetscReal path;    /* of bodies, m */
  PetscBool carries; /* the flow transports something, or sets the step */
} StepBounds;

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

  /* What must hold between steps, for -check_invariants; an error otherwise. Collective: the part's ranks. */
  PetscErrorCode (*check)(Simulation simulation);

  /* Output, on the writers: fields of a frame, columns of the ledger, and those of wall-clock times. */
  PetscErrorCode (*write_frame)(Simulation simulation, FrameSeries frames);
  PetscErrorCode (*record)(Simulation simulation, Record *record);
  PetscErrorCode (*record_times)(Simulation simulation, Record *record);

  /* Fields of doubles over the grid that are alive at the same time (docs/performance.md). */
  PetscReal (*count_fields)(const SimulationConfig *config);
  PetscErrorCode (*destroy)(Simulation simulation);
} Part;

extern const Part SolidsPart, BoxPart, ObstaclesPart, CoupledPart, RegionsPart, FlowPart, OneWayPart,
    InflowsPart, SplashPart, OutputPart;

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
PetscErrorCode PartsLoad(Simulation simulation, Archive archive);
PetscErrorCode PartsShare(Simulation simulation);
PetscErrorCode PartsDerive(Simulation simulation);
PetscErrorCode PartsCheck(Simulation simulation);
PetscErrorCode PartsWriteFrame(Simulation simulation, FrameSeries frames);
PetscErrorCode PartsRecord(Simulation simulation, Record *record);
PetscErrorCode PartsRecordTimes(Simulation simulation, Record *record);
PetscReal      parts_count_fields(const SimulationConfig *config);
PetscErrorCode PartsDestroy(Simulation simulation); /* in reverse order */

#endif
