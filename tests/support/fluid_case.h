/* A fluid without a scene, whose mixture is given by functions of place. */
#ifndef MILLRACE_TESTS_FLUID_CASE_H
#define MILLRACE_TESTS_FLUID_CASE_H

#include <millrace/fluid.h>

/* Functions of the place of a value; `direction` is that of a face or an edge. Null ones: density 1, mobility
   1/density, no jump, nothing empty, no viscosity, on edges that of cells. */
typedef PetscReal (*FluidCaseFunction)(const void *context, Vector3 point, PetscInt direction);
typedef struct {
  const void       *context;
  FluidCaseFunction density, mobility, jump, empty, viscosity, edge_viscosity;
} FluidCaseFunctions;

typedef struct {
  GridConfig         grid_config;
  FluidConfig        config;
  FluidCaseFunctions functions;
  MacGrid            grid;
  Fluid              fluid;
  Mixture            mixture;
} FluidCase;

enum { FLUID_CASE_OBSTACLES = 2 }; /* that a map of solids may name */

/* A unit square or cube of walls at rest with tolerances of 1e-12, to be changed before FluidCaseStart. */
void fluid_case_set_defaults(FluidCase *fluid_case, PetscInt dimension, PetscInt resolution);
/* A periodic direction. */
void           fluid_case_make_periodic(FluidCase *fluid_case, PetscInt direction);
PetscErrorCode FluidCaseFormula(const char text[], Formula *formula);

/* Creates all, fills the mixture, sets the map of solids (null: none, else what FluidSetSolids takes) and
   starts; not good is an error. Collective: comm. */
PetscErrorCode FluidCaseStart(MPI_Comm comm, FluidCaseFunction solids, const PetscBool slips[],
                              FluidCase *fluid_case);
/* Only the first part: nothing is projected. */
PetscErrorCode FluidCaseCreate(MPI_Comm comm, FluidCaseFunction solids, const PetscBool slips[],
                               FluidCase *fluid_case);
PetscErrorCode FluidCaseFill(FluidCase *fluid_case); /* the mixture again, and hands it to the fluid */
PetscErrorCode FluidCaseStep(FluidCase *fluid_case, PetscInt count, PetscReal dt);
PetscErrorCode FluidCaseDestroy(FluidCase *fluid_case); /* formulas of the configuration too */

/* Largest difference of a component (or, for DIM, the pressure less its mean) from a function, over all
   ranks; places for which `where` (null: everywhere) is not positive are left out. */
PetscErrorCode FluidCaseCompare(FluidCase *fluid_case, PetscInt component, FluidCaseFunction exact,
                                FluidCaseFunction where, PetscReal *largest);

/* A number in (0, 1) that depends on the place alone, rough. */
PetscReal rough_at(Vector3 point, PetscInt salt);

#endif
