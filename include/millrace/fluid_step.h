/* The step interface of the fluid (docs/numerics.md, section 15): what the coupled system (5.13) needs of a
   mixture, and what becomes of its solution. Collective: fluid. */
#ifndef MILLRACE_FLUID_STEP_H
#define MILLRACE_FLUID_STEP_H

#include <millrace/api.h>
#include <millrace/fluid.h>

MILLRACE_API_BEGIN

/* Cells that bodies cover, as in FluidSetSolids, obstacles and sources included: there scalars are carried on
   from outside, and faces are not closed. Of `count` obstacles and bodies `slips` tells which let the fluid
   slip. Copies. */
PetscErrorCode FluidSetCovered(Fluid fluid, Vec covered, PetscInt count, const PetscBool slips[]);

/* The projection as if there were no bodies; lent until the mixture or the obstacles change. Fields are null
   outside the fluid team. */
typedef struct {
  PetscReal  density;   /* kg/m^3, the reference: a full inner face of it weighs 1 in the Poisson problem */
  const Vec *weights;   /* of faces; zero: the velocity is given */
  const Vec *densities; /* of faces, kg/m^3, inside bodies too; null: the reference everywhere */
  Vec        fixed;     /* cells that hold p = 0, with ghosts; null: none */
} FluidSystem;
PetscErrorCode FluidGetSystem(Fluid fluid, FluidSystem *system);

/* Jumps on open sides for one fluid of that density, with gravity among its forces: beyond them it is at rest
   and its pressure hydrostatic, zero at the highest place of an open side. */
PetscErrorCode FluidBalanceOpenSides(Fluid fluid, PetscReal density, Vec jump[DIM]);

/* The scene's velocity and scalars, not projected. */
PetscErrorCode FluidBegin(Fluid fluid);
/* F1: `faces` becomes the velocity after `dt` of viscosity and forces, without advection. */
typedef enum { VISCOSITY_ACTS, VISCOSITY_LEFT_OUT } ViscosityUse;
PetscErrorCode FluidActWithoutAdvection(Fluid fluid, PetscReal dt, ViscosityUse viscosity,
                                        Vec faces[MILLRACE_DIM]);
/* F2: until the end of the step what moves is carried along `faces` (with ghosts), and in time to the middle
   of the step as the fluid itself. Null: along the fluid itself. */
PetscErrorCode FluidSetAdvecting(Fluid fluid, Vec faces[MILLRACE_DIM]);
/* F3: the parts of FluidPredict for a mixture, in this order. */
PetscErrorCode FluidPredictAdvection(Fluid fluid, PetscReal dt); /* of scalars too */
PetscErrorCode FluidPredictViscosity(Fluid fluid, PetscReal dt);
PetscErrorCode FluidPredictForces(Fluid fluid, PetscReal dt);
/* Given velocities and pressure jumps over `dt` on the way to u*; dt = 0: no jumps. */
PetscErrorCode FluidPrepareFaces(Fluid fluid, PetscReal time, PetscReal dt, Vec faces[MILLRACE_DIM]);
/* Given velocities and ghosts of a velocity that was solved for. */
PetscErrorCode FluidFinishFaces(Fluid fluid, PetscReal time, Vec faces[MILLRACE_DIM]);
/* The first guess of dt times the pressure, and the answer. */
PetscErrorCode FluidGetImpulse(Fluid fluid, PetscReal dt, Vec impulse);
PetscErrorCode FluidTakeImpulse(Fluid fluid, PetscReal dt, Vec impulse);
/* F4: what FluidPredict began and (5.13) solved is the state at the end of the step; dt = 0: of the start. */
PetscErrorCode FluidTakePrediction(Fluid fluid, PetscReal dt);
/* By forces and pressure in the last step, where there is viscosity; else null. */
PetscErrorCode FluidGetAcceleration(Fluid fluid, Vec **faces);

MILLRACE_API_END

#endif
