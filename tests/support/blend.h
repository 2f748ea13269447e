/* A fluid without a scene, whose mixture is given by functions of place. */
#ifndef MILLRACE_TESTS_BLEND_H
#define MILLRACE_TESTS_BLEND_H

#include <millrace/fluid.h>

/* Functions of the place of a value; `direction` is that of a face or an edge. Null ones: density 1, mobility
   1/density, no jump, nothing empty, no viscosity, on edges that of cells. */
typedef PetscReal (*BlendValue)(const void *context, Vector3 point, PetscInt direction);
typedef struct {
  const void *context;
  BlendValue  density, mobility, jump, empty, viscosity, edge_viscosity;
} BlendFunctions;

typedef struct {
  GridConfig     grid_config;
  FluidConfig    config;
  BlendFunctions functions;
  MacGrid        grid;
  Fluid          fluid;
  Mixture        mixture;
} Blend;

enum { BLEND_OBSTACLES = 2 }; /* that a map of solids may name */

/* A unit square or cube of walls at rest with tolerances of 1e-12, to be changed before BlendStart. */
void blend_set_defaults(Blend *blend, PetscInt dimension, PetscInt resolution);
/* A periodic direction. */
void           blend_make_periodic(Blend *blend, PetscInt direction);
PetscErrorCode BlendFormula(const char text[], Formula *formula);

/* Creates all, fills the mixture, sets the map of solids (null: none, else what FluidSetSolids takes) and
   starts; not good is an error. Collective: comm. */
PetscErrorCode BlendStart(MPI_Comm comm, BlendValue solids, const PetscBool slips[], Blend *blend);
/* Only the first part: nothing is projected. */
PetscErrorCode BlendCreate(MPI_Comm comm, BlendValue solids, const PetscBool slips[], Blend *blend);
PetscErrorCode BlendFill(Blend *blend); /* the mixture again, and hands it to the fluid */
PetscErrorCode BlendStep(Blend *blend, PetscInt count, PetscReal dt);
PetscErrorCode BlendDestroy(Blend *blend); /* formulas of the configuration too */

/* Largest difference of a component (or, for DIM, the pressure less its mean) from a function, over all
   ranks; places for which `where` (null: everywhere) is not positive are left out. */
PetscErrorCode BlendCompare(Blend *blend, PetscInt component, BlendValue exact, BlendValue where,
                            PetscReal *largest);

/* A number in (0, 1) that depends on the place alone, rough. */
PetscReal rough_at(Vector3 point, PetscInt salt);

#endif
