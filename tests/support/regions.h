/* Regions from a few shapes in a square or cube, and flows to carry them. */
#ifndef MILLRACE_TESTS_REGIONS_H
#define MILLRACE_TESTS_REGIONS_H

#include <millrace/phase.h>

enum { TEST_REGIONS = 6 };

typedef struct {
  GridConfig    grid_config;
  PhaseConfig   config;
  RegionConfig  regions[TEST_REGIONS];
  TensionConfig tensions[TEST_REGIONS];
  MacGrid       grid;
  Phase         phase;
  Vec           velocity[DIM];
  Vec           closed; /* null: none */
  PetscInt      outer;  /* 1 + the region beyond the sides along x, which are open; 0: they are not */
} Regions;

/* The square or cube of side 1 from the origin (in two dimensions at z = 0) with n cells along it. Regions
   called "a", "b", … of density 1, 2, … are to be added before RegionsStart. */
void regions_prepare(PetscInt dimension, PetscInt n, Regions *regions);
/* Takes the shape, null: the rest. */
RegionConfig *regions_add(Regions *regions, Shape *shape);
void          regions_add_tension(Regions *regions, PetscInt first, PetscInt second, PetscReal tension);

/* Collective: comm, as all that follows. `message` as in PhaseStart. */
PetscErrorCode RegionsStart(MPI_Comm comm, Regions *regions, char message[], size_t size);
PetscErrorCode RegionsDestroy(Regions *regions);

typedef Vector3 (*VelocityAt)(Vector3 point);
PetscErrorCode RegionsSetVelocity(Regions *regions, VelocityAt velocity);
/* Marks the cells with their centre in the shape as closed. */
PetscErrorCode RegionsClose(Regions *regions, Shape shape);

/* Sum over the owned cells of the value times a weight of its own, the same on any number of ranks only if
   every value is: exact in integers of 2^-40. */
PetscErrorCode RegionsChecksum(MacGrid grid, Vec field, PetscInt64 *sum);
/* Largest difference between the owned cells of a field and those of one that a single rank owns. */
PetscErrorCode RegionsCompareWithSerial(Regions *regions, Vec field, Regions *serial, Vec other,
                                        PetscReal *largest);
/* Largest breach of P1 and P2 over the owned cells of all ranks: of "the smallest is not positive", "the next
   is its opposite"; distances at the band excepted. */
PetscErrorCode RegionsCheckProjection(Regions *regions, PetscReal *largest);

#endif
