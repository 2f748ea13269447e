/* Bodies in a box of fluid for tests of the coupling: set up, filled, solved. Everything aborts the test on
   trouble. */
#ifndef MILLRACE_TESTS_COUPLING_CASE_H
#define MILLRACE_TESTS_COUPLING_CASE_H

#include <millrace/coupling.h>

enum { COUPLING_CASE_BODIES = 256 };

typedef struct {
  PetscInt       dimension, cells[DIM];
  PetscReal      length; /* of the box along x */
  PetscBool      periodic[DIM];
  PetscBool      is_open; /* along the last direction, above */
  PetscReal      density;
  CouplingSolver solver;
  CouplingFaces  faces;
  CouplingMass   mass;
  PetscReal      tolerance;
} CouplingSetup;

typedef struct {
  CouplingSetup  setup;
  Team           team;
  MacGrid        grid; /* null outside the fluid team */
  Coupling       coupling;
  Vec            weights[DIM], velocity[DIM], impulse; /* likewise */
  PetscInt       count;
  CoupledBody    bodies[COUPLING_CASE_BODIES];
  PetscReal      twists[6 * COUPLING_CASE_BODIES];
  CouplingReport report;
} CouplingCase;

CouplingCase *coupling_case_new(MPI_Comm comm, const CouplingSetup *setup);
void          coupling_case_free(CouplingCase *coupled);

/* Takes the surface; mass and inertia follow from the density, which is zero for a body of given velocity. */
CoupledBody *coupling_case_add(CouplingCase *coupled, Surface surface, PetscReal thickness, PetscReal density,
                               Vector3 position, Vector3 rotation);
/* A ball; in two dimensions a cylinder of unit depth. */
CoupledBody *coupling_case_add_ball(CouplingCase *coupled, PetscReal radius, PetscReal density,
                                    Vector3 position);
/* After the last addition; once more when bodies have moved. */
void coupling_case_start(CouplingCase *coupled);

typedef PetscReal (*FaceFunction)(PetscInt direction, Vector3 place);
typedef PetscReal (*CellFunction)(Vector3 place);
void coupling_case_fill(CouplingCase *coupled, FaceFunction function); /* walls stay at rest */
void coupling_case_fill_impulse(CouplingCase *coupled, CellFunction function);
/* The same acceleration, times one second, for fluid and free bodies. */
void coupling_case_accelerate(CouplingCase *coupled, Vector3 by);
void coupling_case_solve(CouplingCase *coupled); /* and expects it to converge */

/* The largest speed of any face, and the largest divergence of fluid and bodies together in any cell that has
   a pressure. */
PetscReal coupling_case_largest_speed(CouplingCase *coupled);
PetscReal coupling_case_largest_divergence(CouplingCase *coupled);

#endif
