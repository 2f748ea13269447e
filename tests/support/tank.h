/* Bodies in a box of viscous fluid for tests of ties: a blend and a coupling on the same cells. Everything
   aborts the test on trouble. */
#ifndef MILLRACE_TESTS_TANK_H
#define MILLRACE_TESTS_TANK_H

#include "blend.h"
#include "coupled.h"

typedef struct {
  Coupled    *coupled;
  Blend       blend; /* of the fluid team */
  PetscReal   viscosity;
  const Ties *ties;
  Vec         faces[DIM]; /* on the fluid team */
  PetscReal   impulses[6 * COUPLED_BODIES];
} Tank;

/* Walls at rest, or periodic; blend.config may be changed before tank_start, bodies added to `coupled`. */
Tank *tank_new(MPI_Comm comm, const CoupledSetup *setup, PetscReal viscosity);
void  tank_free(Tank *tank);
void  tank_set_wall(Tank *tank, PetscInt axis, PetscInt side, PetscInt direction, const char formula[]);
/* After the last addition; with `solids` as obstacles too (null: none). */
void tank_start(Tank *tank, BlendValue solids);
void tank_fill(Tank *tank, FaceFunction function);
/* Viscosity over a step; the twists are those of `coupled`. Gives the number of iterations. */
PetscInt tank_diffuse(Tank *tank, PetscReal dt);
/* Momentum, and angular momentum about the origin, of fluid and of free bodies. */
void tank_get_momentum(Tank *tank, PetscReal fluid[6], PetscReal bodies[6]);
/* The largest difference of the faces from a function, or from those of another tank. */
PetscReal tank_largest_error(Tank *tank, FaceFunction exact);
PetscReal tank_largest_difference(Tank *tank, Tank *other);

#endif
