/* The step interface of the fluid (docs/numerics.md, section 15): what the coupled system (5.13) needs of a
   mixture, and what becomes of its solution. Collective: fluid. */
#ifndef MILLRACE_FLUID_STEP_H
#define MILLRACE_FLUID_STEP_H

#include <millrace/api.h>
#include <millrace/fluid.h>

MILLRACE_API_BEGIN

/* Cells that bodies, obstacles and sources cover, numbered as in FluidSetSolids: scalars are extended into
   them from outside, and their faces stay open. Of the `count` obstacles and bodies `slips` says along which
   the fluid slips. Copies. Collective: fluid. */
PetscErrorCode FluidSetCovered(Fluid fluid, Vec covered, PetscInt count, const PetscBool slips[]);

/* The projection as if there were no bodies; lent until the mixture or the obstacles change. Fields are null
   outside the fluid team. */
typedef struct {
  PetscReal  density;   /* kg/m^3, the reference: a full inner face of it weighs 1 in the Poisson problem */
  const Vec *weights;   /* of faces; zero: the velocity is given */
  const Vec *densities; /* of faces, kg/m^3, inside bodies too; null: the reference everywhere */
  Vec        fixed;     /* cells that hold p = 0, with ghosts; null: none */
  Vec        expansion; /* what the divergence shall be, in cells, 1/s; null: zero */
} FluidSystem;

/* Lends the system until the mixture or the obstacles change. Collective: fluid. */
PetscErrorCode FluidGetSystem(Fluid fluid, FluidSystem *system);

/* Sets the pressure jumps on open sides where gravity is among the forces: beyond each a fluid of one density
   is at rest, above the `level` of the side one of another, and their pressure hydrostatic, zero at the level
   if there is one, else at the highest place of an open side. With INFLOW_COSTS_HEAD what flows in at speed u
   has 1/2 density u^2 less: it comes from rest. Collective: fluid. */
typedef struct {
  PetscReal density, above; /* kg/m^3 */
} OuterDensity;
typedef OuterDensity OuterDensities[MILLRACE_DIM][2];
typedef enum { INFLOW_IS_FREE, INFLOW_COSTS_HEAD } InflowHead;
PetscErrorCode FluidBalanceOpenSides(Fluid fluid, const OuterDensities outer, InflowHead head,
                                     Vec jump[MILLRACE_DIM]);

/* Sets the initial velocity and scalars of the configuration, without projection. Collective: fluid. */
PetscErrorCode FluidBegin(Fluid fluid);

/* F1: `faces` becomes the velocity after `dt` of viscosity, the given stresses of the mixture and forces,
   without advection. Collective: fluid. */
typedef enum { VISCOSITY_ACTS, VISCOSITY_LEFT_OUT } ViscosityUse;
PetscErrorCode FluidActWithoutAdvection(Fluid fluid, PetscReal dt, ViscosityUse viscosity,
                                        Vec faces[MILLRACE_DIM]);

/* Velocity, and what it was in the last step before anything acted on it (null: there was none), of all or of
   a group. Collective: fluid. */
PetscErrorCode FluidGetAdvected(Fluid fluid, PetscInt group, Vec **velocity, Vec **advected);
/* F2: until the end of the step velocity and scalars are advected by `faces` (with valid ghosts),
   extrapolated to the middle of the step as the fluid's own velocity would be; null: by the fluid's own
   velocity. Borrowed. Collective: fluid. */
PetscErrorCode FluidSetAdvecting(Fluid fluid, Vec faces[MILLRACE_DIM]);

/* F3: the parts of FluidPredict for a mixture, in this order; the first advects scalars too. Collective:
   fluid. */
PetscErrorCode FluidPredictAdvection(Fluid fluid, PetscReal dt);
PetscErrorCode FluidPredictViscosity(Fluid fluid, PetscReal dt);
PetscErrorCode FluidPredictForces(Fluid fluid, PetscReal dt);

/* After FluidPredictAdvection: carries values of cells along the same trajectories (and may exchange the
   fields for others); what flows in is as it is beside the side. Where `marks` of local cells are 0 (null:
   nowhere) and up to three cells around, nothing is asked of them; ghosts are left to the caller. Then the
   velocity on its way feels the stress of the mixture. Collective: fluid. */
PetscErrorCode FluidCarryCells(Fluid fluid, PetscReal dt, const unsigned char *marks, PetscInt count,
                               Vec fields[]);
PetscErrorCode FluidPredictStress(Fluid fluid, PetscReal dt);

/* Sets the given velocities of `faces` at `time` and adds the pressure jumps over `dt`, if they act, on the
   way to u*. Collective: fluid. */
typedef enum { JUMPS_ACT, JUMPS_LEFT_OUT } JumpUse;
PetscErrorCode FluidPrepareFaces(Fluid fluid, PetscReal time, JumpUse jumps, PetscReal dt,
                                 Vec faces[MILLRACE_DIM]);

/* Sets the given velocities and the ghosts of a velocity that the coupled system was solved for. Collective:
   fluid. */
PetscErrorCode FluidFinishFaces(Fluid fluid, PetscReal time, Vec faces[MILLRACE_DIM]);

/* The first guess of dt times the pressure, and the solution. Collective: fluid. */
PetscErrorCode FluidGetImpulse(Fluid fluid, PetscReal dt, Vec impulse);
PetscErrorCode FluidTakeImpulse(Fluid fluid, PetscReal dt, Vec impulse);

/* F4: the prediction, which (5.13) has solved for, becomes the state at the end of the step. Collective:
 * fluid.
 */
PetscErrorCode FluidTakePrediction(Fluid fluid, PetscReal dt);

/* At the start of a run: the velocity is the one before too, and its acceleration by forces and pressure is
   known. Collective: fluid. */
PetscErrorCode FluidTakeStart(Fluid fluid);

/* The acceleration by forces and pressure in the last step, lent; null without viscosity. Not collective. */
PetscErrorCode FluidGetAcceleration(Fluid fluid, Vec **faces);

MILLRACE_API_END

#endif
