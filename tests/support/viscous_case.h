/* Bodies in a box of viscous fluid for tests of constrained faces: a fluid_case and a coupling on the same
   cells. Everything aborts the test on trouble. */
#ifndef MILLRACE_TESTS_VISCOUS_CASE_H
#define MILLRACE_TESTS_VISCOUS_CASE_H

#include "fluid_case.h"
#include "coupling_case.h"

typedef struct {
  CouplingCase          *coupled;
  FluidCase              fluid_case; /* of the fluid team */
  PetscReal              viscosity;
  const FaceConstraints *constraints;
  Vec                    faces[DIM]; /* on the fluid team */
  PetscReal              impulses[6 * COUPLING_CASE_BODIES];
} ViscousCase;

/* Walls at rest, or periodic; fluid_case.config may be changed before viscous_case_start, bodies added to
 * `coupled`. */
ViscousCase *viscous_case_new(MPI_Comm comm, const CouplingSetup *setup, PetscReal viscosity);
void         viscous_case_free(ViscousCase *tank);
void         viscous_case_set_wall(ViscousCase *tank, PetscInt axis, PetscInt side, PetscInt direction,
                                   const char formula[]);
/* After the last addition; with `solids` as obstacles too (null: none). */
void viscous_case_start(ViscousCase *tank, FluidCaseFunction solids);
void viscous_case_fill(ViscousCase *tank, FaceFunction function);
/* Viscosity over a step; the twists are those of `coupled`. Gives the number of iterations. */
PetscInt viscous_case_diffuse(ViscousCase *tank, PetscReal dt);
/* Momentum, and angular momentum about the origin, of fluid and of free bodies. */
void viscous_case_get_momentum(ViscousCase *tank, PetscReal fluid[6], PetscReal bodies[6]);
/* The largest difference of the faces from a function, or from those of another tank. */
PetscReal viscous_case_largest_error(ViscousCase *tank, FaceFunction exact);
PetscReal viscous_case_largest_difference(ViscousCase *tank, ViscousCase *other);

#endif
