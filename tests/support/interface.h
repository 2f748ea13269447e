/* An interface with a known shape in a known flow, alone on a grid. */
#ifndef MILLRACE_TESTS_INTERFACE_H
#define MILLRACE_TESTS_INTERFACE_H

#include <millrace/levelset.h>

/* Signed distance of a shape, or any field of that sign; velocity at a point and time. */
typedef PetscReal (*DistanceFunction)(Vector3 point);
typedef Vector3 (*VelocityFunction)(Vector3 point, PetscReal time);

typedef struct {
  GridConfig      grid_config;
  InterfaceConfig config;
  MacGrid         grid;
  LevelSet        level_set, complement; /* the latter to seed the outside */
  Vec             velocity[DIM];
  Particles       markers[2]; /* inside, outside */
  PetscInt64      step;
} Interface;

/* A square or cube of side `size` and n cells along it. */
GridConfig cube_grid(PetscInt dimension, PetscInt n, PetscReal size);

/* Collective: comm, as all that follows. */
PetscErrorCode InterfaceCreate(MPI_Comm comm, const GridConfig *grid, const InterfaceConfig *config,
                               Interface *interface);
PetscErrorCode InterfaceDestroy(Interface *interface);

/* The field from `distance`, refreshed. */
PetscErrorCode InterfaceSet(Interface *interface, DistanceFunction distance);
PetscErrorCode InterfaceSetVelocity(Interface *interface, VelocityFunction velocity, PetscReal time);
/* Velocity at the middle of the step; carries, corrects, redistances, corrects again; seeds every
   `seeding`-th step (0: never). */
PetscErrorCode InterfaceStep(Interface *interface, VelocityFunction velocity, PetscReal time, PetscReal dt,
                             PetscInt seeding);
/* Markers for both sides as the field has them now. */
PetscErrorCode InterfaceSeed(Interface *interface);
/* A cell field from a function. */
PetscErrorCode InterfaceFill(MacGrid grid, DistanceFunction function, Vec field);

/* Largest and mean |field - exact| over cells whose exact distance is within `width`. */
typedef struct {
  PetscReal largest, mean;
} FieldError;
PetscErrorCode InterfaceCompare(MacGrid grid, Vec field, DistanceFunction exact, DistanceFunction distance,
                                PetscReal width, FieldError *error);
/* Volume between the interface and the one of `exact`: by sampling of 10 points a cell and direction, over
   the whole grid. */
PetscErrorCode InterfaceMismatch(Interface *interface, DistanceFunction exact, PetscReal *volume);
/* Sum of the owned values times weights that tell the cells apart: the same on any number of ranks. */
PetscErrorCode InterfaceChecksum(MacGrid grid, Vec field, PetscReal *sum);

#endif
