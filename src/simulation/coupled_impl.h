/* Private to src/simulation: bodies in a fluid. */
#ifndef MILLRACE_COUPLED_IMPL_H
#define MILLRACE_COUPLED_IMPL_H

#include "simulation_impl.h"

#include <millrace/body.h>
#include <millrace/coupled_flow.h>

struct Coupled {
  Coupling coupling;
  PetscInt count; /* of numbers in the twists of all bodies */
  PetscReal
      *acceleration; /* of bodies by forces, pressure and constraints in the last step; part of the state */
  PetscReal *effective;       /* scratch: the bodies' way over the step, later their velocities before S2 */
  PetscReal *wanted, *solved; /* scratch: V* with the impulses of contact and joints, V before those */

  /* Null outside the fluid team. */
  Mixture uniform; /* of a scene without regions */
  Vec     covered; /* cells of obstacles, bodies and sources, as `closed` */
  Vec     impulse, faces[DIM], star[DIM];

  CouplingReport report;                                            /* of the last coupled solve */
  PetscInt       half_iterations, advecting_iterations, iterations; /* of S1, F2, S2 */
  PetscInt       rounds;                                            /* of S2 */
};

#endif
