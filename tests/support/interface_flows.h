/* The standard flows that carry interfaces around and back. */
#ifndef MILLRACE_TESTS_INTERFACE_FLOWS_H
#define MILLRACE_TESTS_INTERFACE_FLOWS_H

#include "interface.h"

typedef struct {
  PetscInt         dimension;
  PetscReal        size;
  DistanceFunction distance;
  VelocityFunction velocity;
  PetscReal        fastest, end; /* largest component; time at which all is back where it was */
} InterfaceFlow;

/* A disk of radius 15 with a slot of 5 x 25 that turns once in a box of side 100 (Zalesak 1979). */
extern const InterfaceFlow zalesak_disk;
/* A disk drawn out to a filament by a vortex and back (Bell, Colella and Glaz 1989; period 8). */
extern const InterfaceFlow single_vortex;
/* A ball drawn out to a thin sheet and back (LeVeque 1996; period 3). */
extern const InterfaceFlow deformation;

typedef struct {
  PetscReal  volume, middle, loss; /* at the start; lost at half time and at the end, relative to it */
  PetscReal  mismatch;             /* volume between the interface and the exact one */
  PetscInt64 markers;              /* inside, at the end */
  PetscInt   steps;
} FlowResult;

/* `cells` along x, `courant` cells in a step, markers filled up every fifth step. Collective: world. */
PetscErrorCode InterfaceFlowRun(const InterfaceFlow *flow, const InterfaceConfig *config, PetscInt cells,
                                PetscReal courant, FlowResult *result);

#endif
