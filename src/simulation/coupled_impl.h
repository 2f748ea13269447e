/* Private to src/simulation: bodies in a fluid. */
#ifndef MILLRACE_COUPLED_IMPL_H
#define MILLRACE_COUPLED_IMPL_H

#include "simulation_impl.h"

#include <millrace/body.h>
#include <millrace/coupled_flow.h>

/* What the fluid does to a body. */
typedef enum { LOAD_PRESSURE, LOAD_VISCOSITY, LOAD_ALL, LOAD_COUNT } Load;

struct Coupled {
  Coupling coupling;
  PetscInt count; /* of numbers in the twists of all bodies */
  PetscReal
      *acceleration; /* of bodies by forces, pressure and constraints in the last step; part of the state */
  PetscReal *effective;         /* scratch: the bodies' way over the step, later their velocities before S2 */
  PetscReal *wanted, *solved;   /* scratch: V* with the impulses of contact and joints, V before those */
  PetscReal *last, *factors;    /* scratch: what contact changed in the round before; a factor for velocity
                                   and one for spin of every body */
  PetscReal *dragged;           /* scratch: the bodies' velocities as viscosity changes them */
  PetscReal *viscous_impulses;  /* on all bodies in the last step */
  PetscReal *loads[LOAD_COUNT]; /* force and torque on all bodies, mean of the last step; on all ranks */

  /* Null outside the fluid team. */
  Mixture uniform; /* of a scene without regions */
  Vec     covered; /* cells of obstacles, bodies and sources, as `closed` */
  Vec     impulse, faces[DIM], star[DIM];

  CouplingReport report;                                            /* of the last coupled solve */
  PetscInt       half_iterations, advecting_iterations, iterations; /* of S1, F2, S2 */
  PetscInt       rounds;                                            /* of S2 */
};

/* drag.c: before and after what viscosity does over dt to the velocities `before` of bodies; what it did is
   added to `twists`. The first: fluid, the second: world. */
PetscErrorCode SimulationTieViscosity(Simulation simulation, const PetscReal before[], PetscReal dt);
PetscErrorCode SimulationTakeViscosity(Simulation simulation, const PetscReal before[], PetscReal dt,
                                       PetscReal twists[]);

/* loads.c: from `impulse`, `star` and what was solved for over dt, and from `viscous_impulses`. Collective:
   world. */
PetscErrorCode SimulationTakeLoads(Simulation simulation, PetscReal dt, Vec solved[DIM]);

#endif
