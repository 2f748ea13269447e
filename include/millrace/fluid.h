/* Momentum and incompressibility on the MAC grid. */
#ifndef MILLRACE_FLUID_H
#define MILLRACE_FLUID_H

#include <millrace/api.h>
#include <millrace/mixture.h>
#include <millrace/poisson.h>
#include <millrace/visibility.h>

MILLRACE_API_BEGIN

typedef enum { SIDE_WALL, SIDE_SLIP, SIDE_INFLOW, SIDE_OPEN, SIDE_PERIODIC } SideKind;
extern const char *const SideKinds[];
typedef enum { ADVECT_SEMI_LAGRANGIAN, ADVECT_MACCORMACK, ADVECT_WENO5, ADVECT_NONE } AdvectionScheme;
extern const char *const AdvectionSchemes[];

typedef struct {
  SideKind kind;
  Formula  velocity[MILLRACE_DIM]; /* of a moving wall or an inflow, m/s */
} SideConfig;

enum { FLUID_MAX_SCALARS = 16 };

/* A quantity carried by the fluid: smoke, temperature, dye. */
typedef struct {
  char     *name;
  Formula   initial;
  PetscReal diffusivity; /* m^2/s */
  PetscReal expansion;   /* buoyancy: acceleration -gravity expansion (value - reference) */
  PetscReal reference;
  PetscReal decay;  /* 1/s towards the reference */
  Formula   inflow; /* value that enters through inflow and open sides */
} ScalarConfig;

typedef struct {
  PetscReal       density;   /* kg/m^3 */
  PetscReal       viscosity; /* dynamic, Pa s */
  Vector3         gravity;
  Formula         body_force[MILLRACE_DIM]; /* acceleration, m/s^2 */
  Formula         initial_velocity[MILLRACE_DIM];
  AdvectionScheme advection;
  PetscReal       cfl; /* cells per step */
  PetscReal       pressure_tolerance;
  PetscReal       viscosity_tolerance;
  SideConfig      sides[MILLRACE_DIM][2];
  PetscInt        scalar_count;
  ScalarConfig   *scalars;
} FluidConfig;
extern const SchemaKey FluidKeys[];

/* What the last step did. */
typedef struct {
  PoissonReport pressure;
  PetscBool     diffusion_converged;  /* every solve for viscosity or a scalar */
  PetscInt      viscosity_iterations; /* largest over the components; of a mixture, of their one solve */
  PetscReal     travel;        /* cells along an axis, the longest of the flow's trajectories; 0: none */
  PetscReal     largest_speed; /* of any component and side, when the step was last limited, m/s */
  PetscReal     wall_advection, wall_viscosity, wall_projection; /* s of wall clock */
} FluidReport;

/* Sums over the box; per metre of depth in two dimensions. */
typedef struct {
  PetscReal mass, momentum[MILLRACE_DIM], kinetic_energy;
  PetscReal moment[MILLRACE_DIM];     /* mass times place, kg m */
  PetscReal largest_speed;            /* of any component */
  PetscReal largest_divergence;       /* 1/s */
  PetscReal outflow[MILLRACE_DIM][2]; /* through each side, m^3/s */
} FluidTotals;

typedef struct _p_Fluid *Fluid;

/* Lifetime; `config` must outlive the fluid. Collective: fluid. */
PetscErrorCode FluidCreate(MacGrid grid, const FluidConfig *config, Fluid *fluid);
PetscErrorCode FluidDestroy(Fluid *fluid);

/* What is not fluid: `solid` holds 0 in fluid cells and 1 + number in others; `velocity` is read on the faces
   that these close, null when all stand still. Numbers below `obstacles` are obstacles, the others sources,
   whose cells keep their scalars; `slips` says which obstacles let it slip. Copies. Collective: fluid. */
PetscErrorCode FluidSetSolids(Fluid fluid, PetscInt obstacles, const PetscBool slips[], Vec solid,
                              Vec velocity[MILLRACE_DIM]);

/* What the fluid is made of from now on, instead of the density and viscosity of its configuration; borrowed
   until the next call, which must come when its fields change; null for that of the configuration again.
   Gravity is then a force of its own and the pressure the whole one. Collective: fluid. */
PetscErrorCode FluidSetMixture(Fluid fluid, const Mixture *mixture);
/* The velocity of what is not light, which the caller sets between steps: that of the fluid, carried on into
   the light cells of the mixture. Without those it is that of the fluid. */
PetscErrorCode FluidGetHeavyVelocity(Fluid fluid, Vec **faces);
/* Side faces, closed faces and ghosts of a velocity that was changed from outside: a step leaves zero on
   faces between empty cells. */
PetscErrorCode FluidRefreshVelocity(Fluid fluid);
/* What advection and scalars do not look through; borrowed until the next call; null: nothing. */
PetscErrorCode FluidSetVisibility(Fluid fluid, const Visibility *visibility);

/* Takes the scene's initial velocity and scalars and projects; not `good` if that fails. */
PetscErrorCode FluidStart(Fluid fluid, PetscBool *good);

/* One step in two parts, so that sources can act between them: 1 to 4 of docs/numerics.md, then 5 and 6. A
   projection that is not good leaves the state as it was before the step once the prediction is forgotten; it
   is not if its solve fails, or if the velocity it finds goes farther than `farthest` cells in a step. */
PetscErrorCode FluidPredict(Fluid fluid, PetscReal dt);
PetscErrorCode FluidProjectPrediction(Fluid fluid, PetscReal dt, PetscReal farthest, PetscBool *good);
PetscErrorCode FluidForgetPrediction(Fluid fluid);
/* Velocity and scalars on their way, between the two. */
PetscErrorCode FluidGetPrediction(Fluid fluid, Vec **faces, Vec **scalars);

/* The largest step in which what flows now, with the forces of now, goes no farther than `cells` cells, and
   no trajectory farther than MOST_CELLS_PER_STEP. Collective: fluid. */
PetscErrorCode FluidGetTimeStepLimit(Fluid fluid, PetscReal cells, PetscReal *limit);
/* The same for what sides and body forces that depend on time will be at `time`, on this rank. */
PetscErrorCode FluidGetGivenLimit(Fluid fluid, PetscReal cells, PetscReal time, PetscReal *limit);
/* How far a velocity goes in `dt`: cells along an axis, the most. Collective: fluid. */
PetscErrorCode FluidGetTravel(Fluid fluid, Vec faces[MILLRACE_DIM], PetscReal dt, PetscReal *cells);

/* State, lent with valid ghosts. */
PetscErrorCode     FluidGetVelocity(Fluid fluid, Vec **faces);
PetscErrorCode     FluidGetPressure(Fluid fluid, Vec *pressure);
PetscErrorCode     FluidGetScalars(Fluid fluid, Vec **fields);
PetscErrorCode     FluidRefreshScalars(Fluid fluid); /* ghosts of scalars that were changed from outside */
PetscErrorCode     FluidGetSolid(Fluid fluid, Vec *solid); /* null without obstacles */
const FluidReport *fluid_report(Fluid fluid);
PetscBool          fluid_has_converged(Fluid fluid); /* in all solves of the last step */
PetscBool          fluid_goes_too_far(Fluid fluid); /* on its trajectories in this step: they are cut short */
PetscReal          fluid_time(Fluid fluid);

/* Collective: fluid. */
PetscErrorCode FluidGetTotals(Fluid fluid, FluidTotals *totals);
PetscErrorCode FluidGetScalarTotal(Fluid fluid, PetscInt scalar, PetscReal *total);
/* Force of the fluid on each obstacle by pressure and by viscosity. */
PetscErrorCode FluidGetForces(Fluid fluid, Vector3 pressure[], Vector3 viscous[]);

PetscErrorCode FluidSave(Fluid fluid, Archive archive);
PetscErrorCode FluidLoad(Fluid fluid, Archive archive);

MILLRACE_API_END

#endif
