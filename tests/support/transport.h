/* A shell that moves by given steps through a given flow, and what the flow carries: scalar 0 is smoke, 1
   inside the shell and 0 outside, scalar 1 a dye. Steps and cells are those below. */
#ifndef MILLRACE_TESTS_TRANSPORT_H
#define MILLRACE_TESTS_TRANSPORT_H

#include "coupling_case.h"
#include <millrace/fluid.h>

static const PetscReal h = 0.1, step = 0.1, cfl = 0.9;

typedef struct {
  CouplingCase *coupled;
  Fluid         fluid; /* null outside the fluid team */
  FluidConfig   config;
  ScalarConfig  scalars[2];
  Vector3       offset; /* of the shell from the middle of the box, at first */
  Vector3       velocity, spin;
  PetscReal     time;
} Transport;

typedef PetscReal (*FlowFunction)(const Transport *transport, PetscInt d, Vector3 place);
typedef PetscReal (*ScalarFunction)(const Transport *transport, Vector3 place);

/* Takes the surface of a closed shell, in the middle of the box but for the offset. What is to be configured
   otherwise is, before. Collective: comm. */
void transport_start(Transport *transport, MPI_Comm comm, const CouplingSetup *setup, Surface surface);
void transport_finish(Transport *transport);
/* Moves and turns it so that what is `radius` away from its centre goes `cfl` cells per step. */
void transport_set_motion(Transport *transport, PetscReal radius);
void transport_fill(Transport *transport, PetscInt scalar, ScalarFunction function); /* fluid team only */
/* A step of the shell and of both scalars. */
void transport_go(Transport *transport, FlowFunction flow);
/* The largest difference between a scalar and what it should be, on this rank. */
PetscReal transport_difference(Transport *transport, PetscInt scalar, ScalarFunction function);

/* From the body's position, or that of its nearest image, in its frame. */
Vector3   transport_place_in_body(const Transport *transport, Vector3 place);
PetscReal transport_smoke(const Transport *transport, Vector3 place);
PetscReal transport_dye(const Transport *transport, Vector3 place);
/* The way of the shell over the coming step, everywhere; something else, and as fast. */
PetscReal transport_rigid(const Transport *transport, PetscInt d, Vector3 place);
PetscReal transport_swirl(const Transport *transport, PetscInt d, Vector3 place);

#endif
