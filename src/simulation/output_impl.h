/* The groups of `output`: what they measure and the tables it goes to. */
#ifndef MILLRACE_SIMULATION_OUTPUT_IMPL_H
#define MILLRACE_SIMULATION_OUTPUT_IMPL_H

#include "simulation_impl.h"

/* What rows need besides the state. */
struct OutputStart {
  RigidTransform *starts; /* of all bodies at time zero */
};

/* Whether the values are wanted, or only the names of the columns. */
typedef enum { OUTPUT_NAMES, OUTPUT_VALUES } OutputMode;

/* output.c: a row of a group. Collective: who writes; for the names alone, nobody. */
PetscErrorCode SimulationMeasureOutput(Simulation simulation, const OutputConfig *group, OutputMode mode,
                                       Record *record);

#endif
