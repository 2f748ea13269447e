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

  /* Obstacles as the fluid sees them; null without any. */
  Vec       solid;
  Vec       solid_velocity[DIM]; /* null when all stand still */
  PetscBool obstacles_move;
};

/* The owned cells whose centres or faces can lie in a box of space. */
typedef struct {
  PetscInt start[DIM], end[DIM];
} CellRange;
CellRange cells_within(MacGrid grid, Vector3 low, Vector3 high);

/* obstacles.c. Collective: fluid. */
PetscErrorCode SimulationPlaceObstacles(Simulation simulation, PetscReal time);
PetscErrorCode SimulationGetObstacleLimit(Simulation simulation, PetscReal *limit);

/* inflows.c: gives velocity and scalars their values inside the inflow regions. */
PetscErrorCode SimulationHoldInflows(Simulation simulation, PetscReal time);

#endif
