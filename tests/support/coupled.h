/* Bodies in a box of fluid for tests of the coupling: set up, filled, solved. Everything aborts the test on
   trouble. */
#ifndef MILLRACE_TESTS_COUPLED_H
#define MILLRACE_TESTS_COUPLED_H

#include <millrace/coupling.h>

enum { COUPLED_BODIES = 256 };

typedef struct {
  PetscInt       dimension, cells[DIM];
  PetscReal      length; /* of the box along x */
  PetscBool      periodic[DIM];
  PetscBool      is_open; /* along the last direction, above */
  PetscReal      density;
  CouplingSolver solver;
  CouplingFaces  faces;
  PetscReal      tolerance;
} CoupledSetup;

typedef struct {
  CoupledSetup   setup;
  Team           team;
  MacGrid        grid; /* null outside the fluid team */
  Coupling       coupling;
  Vec            weights[DIM], velocity[DIM], impulse; /* likewise */
  PetscInt       count;
  CoupledBody    bodies[COUPLED_BODIES];
  PetscReal      twists[6 * COUPLED_BODIES];
  CouplingReport report;
} Coupled;

Coupled *coupled_new(MPI_Comm comm, const CoupledSetup *setup);
void     coupled_free(Coupled *coupled);

/* Takes the surface; mass and inertia follow from the density, which is zero for a body of given velocity. */
CoupledBody *coupled_add(Coupled *coupled, Surface surface, PetscReal thickness, PetscReal density,
                         Vector3 position, Vector3 rotation);
/* A ball; in two dimensions a cylinder of unit depth. */
CoupledBody *coupled_add_ball(Coupled *coupled, PetscReal radius, PetscReal density, Vector3 position);
/* After the last addition; once more when bodies have moved. */
void coupled_start(Coupled *coupled);

typedef PetscReal (*FaceFunction)(PetscInt direction, Vector3 place);
typedef PetscReal (*CellFunction)(Vector3 place);
void coupled_fill(Coupled *coupled, FaceFunction function); /* walls stay at rest */
void coupled_fill_impulse(Coupled *coupled, CellFunction function);
/* The same acceleration, times one second, for fluid and free bodies. */
void coupled_accelerate(Coupled *coupled, Vector3 by);
void coupled_solve(Coupled *coupled); /* and expects it to converge */

/* The largest speed of any face, and the largest divergence of fluid and bodies together in any cell that has
   a pressure. */
PetscReal coupled_largest_speed(Coupled *coupled);
PetscReal coupled_largest_divergence(Coupled *coupled);

#endif
