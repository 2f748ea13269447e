/* Momentum and incompressibility on the MAC grid. */
#ifndef MILLRACE_FLUID_H
#define MILLRACE_FLUID_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/grid.h>
#include <millrace/io.h>
#include <millrace/mixture.h>
#include <millrace/poisson.h>
#include <millrace/schema.h>
#include <millrace/visibility.h>

MILLRACE_API_BEGIN

typedef enum { SIDE_WALL, SIDE_SLIP, SIDE_INFLOW, SIDE_OPEN, SIDE_PERIODIC } SideKind;
extern const char *const SideKinds[];
typedef enum {
  ADVECT_SEMI_LAGRANGIAN,
  ADVECT_MACCORMACK,
  ADVECT_WENO5,
  ADVECT_CENTRAL,
  ADVECT_NONE
} AdvectionScheme;
extern const char *const AdvectionSchemes[];
/* How an obstacle that stands still closes the fluid's cells: as a body, or by whole cells; by itself the
   latter beside regions. */
typedef enum { OBSTACLES_AUTO, OBSTACLES_CUT, OBSTACLES_VOXELS } ObstacleFaces;
extern const char *const ObstacleFaceKinds[];

typedef struct {
  SideKind  kind;
  Formula   velocity[MILLRACE_DIM]; /* of a moving wall or an inflow, m/s */
  char     *region;                 /* what flows in through an open side; null: see docs/inputs.md */
  PetscReal level;                  /* m, up to which that stands; infinite: everywhere */
} SideConfig;
static inline PetscBool side_has_level(const SideConfig *side)
{
  return PetscAbsReal(side->level) < PETSC_INFINITY ? PETSC_TRUE : PETSC_FALSE;
}

enum { FLUID_MAX_SCALARS = 16 };

/* A quantity carried by the fluid: smoke, temperature, dye. */
typedef struct {
  char     *name;
  Formula   initial;
  PetscReal diffusivity; /* m^2/s */
  PetscReal expansion;   /* buoyancy: acceleration -gravity expansion (value - reference) */
  PetscReal reference;
  PetscReal decay;            /* 1/s towards the reference */
  PetscReal cooling, hottest; /* of what radiates: value/s where it is `hottest`, by the fourth power */
  Formula   inflow;           /* value that enters through inflow and open sides */
} ScalarConfig;

typedef struct {
  char           *material;  /* only while a scene is read */
  PetscReal       density;   /* kg/m^3 */
  PetscReal       viscosity; /* dynamic, Pa s */
  Vector3         gravity;
  Formula         body_force[MILLRACE_DIM]; /* acceleration, m/s^2 */
  PetscReal       confinement;              /* of vorticity, 1/s */
  Formula         initial_velocity[MILLRACE_DIM];
  char           *initial_frame; /* path of a frame to begin with instead; "": none */
  AdvectionScheme advection;
  ObstacleFaces   obstacles; /* only while a scene is read */
  PetscReal       cfl;       /* cells per step */
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

/* The same of the cells of one region. */
typedef struct {
  PetscReal kinetic_energy; /* J */
  PetscReal dissipation;    /* by viscosity, W */
  PetscReal enstrophy;      /* half the integral of the square of the vorticity, m^3/s^2 */
  PetscReal largest_speed;  /* of any component, m/s */
} RegionTotals;

typedef struct _p_Fluid *Fluid;

/* `config` must outlive the fluid, and so must `grid`. Destroy accepts a null fluid. Collective: fluid. */
PetscErrorCode FluidCreate(MacGrid grid, const FluidConfig *config, Fluid *fluid);
PetscErrorCode FluidDestroy(Fluid *fluid);

/* Velocity and scalars are finite and the same on all ranks; an error otherwise. Collective: fluid. */
PetscErrorCode FluidCheck(Fluid fluid);

/* Cells that hold no fluid, as marks of cell_map.h; those of sources keep their scalars. `slips`, one for
   each of the `walls`, says where fluid slips along the surface. `velocity` is read on the faces that these
   cells close; null: all are at rest. Copies its arguments. Collective: fluid. */
PetscErrorCode FluidSetSolids(Fluid fluid, PetscInt walls, const PetscBool slips[], Vec solid,
                              Vec velocity[MILLRACE_DIM]);

/* Density and viscosity from now on, instead of those of the configuration; null: those of the configuration
   again. Borrowed until the next call, which must come when the mixture's fields change. With a mixture
   gravity is a force of its own, and the pressure includes the hydrostatic one. Collective: fluid. */
PetscErrorCode FluidSetMixture(Fluid fluid, const Mixture *mixture);

/* How many velocity groups the mixture has; 0: all flows with one velocity. Not collective. */
PetscInt fluid_group_count(Fluid fluid);
/* The velocity along which a group is advected; the caller sets it between steps: that of the fluid, carried
   on from the cells of the group into all others. Lent. Collective: fluid. */
PetscErrorCode FluidGetGroupVelocity(Fluid fluid, PetscInt group, Vec **faces);

/* Recomputes side faces, closed faces and ghosts of a velocity that the caller has changed: a step leaves
   zero on faces between empty cells. Collective: fluid. */
PetscErrorCode FluidRefreshVelocity(Fluid fluid);

/* Shells past which advection and scalars do not interpolate; null: none. Borrowed until the next call.
   Collective: fluid. */
PetscErrorCode FluidSetVisibility(Fluid fluid, const Visibility *visibility);

/* What the fluid begins with at a point, if that is not what the configuration says: component `field` of the
   velocity, or scalar `field` - 3. Whether there is such a value. `context` is borrowed until the fluid has
   started. Not collective. */
typedef PetscBool (*InitialValue)(const void *context, PetscInt field, Vector3 point, PetscReal *value);
PetscErrorCode FluidSetInitialValues(Fluid fluid, InitialValue initial, const void *context);

/* Sets the initial velocity and scalars of the configuration and projects the velocity; `good` is false if
   the solve fails. Collective: fluid. */
PetscErrorCode FluidStart(Fluid fluid, PetscBool *good);

/* A step in two parts, so that sources can act between them: parts 1 to 4 of docs/numerics.md, then 5 and 6.
   The projection is not `good` if its solve fails, or if the velocity that it finds travels farther than
   `farthest` cells in a step; FluidForgetPrediction then restores the state before the step, and does nothing
   where no step is under way. Collective: fluid. */
PetscErrorCode FluidPredict(Fluid fluid, PetscReal dt);
PetscErrorCode FluidProjectPrediction(Fluid fluid, PetscReal dt, PetscReal farthest, PetscBool *good);
PetscErrorCode FluidForgetPrediction(Fluid fluid);

/* The predicted velocity and scalars between the two parts; lent, to be changed. Not collective. */
PetscErrorCode FluidGetPrediction(Fluid fluid, Vec **faces, Vec **scalars);
/* Recomputes the ghosts of predicted scalars that the caller has changed. Collective: fluid. */
PetscErrorCode FluidRefreshPredictedScalars(Fluid fluid, PetscReal dt);

/* The largest step in which the present flow with the present forces travels no farther than `cells` cells,
   and no trajectory farther than MOST_CELLS_PER_STEP. Collective: fluid. */
PetscErrorCode FluidGetTimeStepLimit(Fluid fluid, PetscReal cells, PetscReal *limit);

/* The same limit for the velocities of sides and for body forces that depend on time, at `time`, on this
   rank. Not collective. */
PetscErrorCode FluidGetGivenLimit(Fluid fluid, PetscReal cells, PetscReal time, PetscReal *limit);

/* The largest distance along an axis, in cells, that the velocity `faces` travels in `dt`. Collective: fluid.
 */
PetscErrorCode FluidGetTravel(Fluid fluid, Vec faces[MILLRACE_DIM], PetscReal dt, PetscReal *cells);

/* The state, lent with valid ghosts; `solid`: cells without fluid, null if there are none. Not collective. */
PetscErrorCode FluidGetVelocity(Fluid fluid, Vec **faces);
PetscErrorCode FluidGetPressure(Fluid fluid, Vec *pressure);
PetscErrorCode FluidGetScalars(Fluid fluid, Vec **fields);
PetscErrorCode FluidGetSolid(Fluid fluid, Vec *solid);

/* Recomputes the ghosts of scalars that the caller has changed. Collective: fluid. */
PetscErrorCode FluidRefreshScalars(Fluid fluid);

const FluidReport *fluid_report(Fluid fluid);
PetscBool          fluid_has_converged(Fluid fluid); /* in all solves of the last step */
PetscBool          fluid_goes_too_far(Fluid fluid);  /* a trajectory of this step was cut short */
PetscReal          fluid_time(Fluid fluid);

/* Sums over the box; the volume integral of a scalar. Collective: fluid. */
PetscErrorCode FluidGetTotals(Fluid fluid, FluidTotals *totals);
/* Sums over the cells of each of `count` regions that `regions` holds, numbered from 1, with ghosts, and
   their densities, kg/m^3; 0: nothing is there. Null: all fluid is one region. Collective: fluid. */
PetscErrorCode FluidGetRegionTotals(Fluid fluid, PetscInt count, Vec regions, const PetscReal density[],
                                    RegionTotals totals[]);
PetscErrorCode FluidGetScalarTotal(Fluid fluid, PetscInt scalar, PetscReal *total);

/* The force of the fluid on each obstacle by pressure and by viscosity, N; one vector per obstacle.
   Collective: fluid. */
PetscErrorCode FluidGetForces(Fluid fluid, Vector3 pressure[], Vector3 viscous[]);

/* Time, velocity, pressure and scalars. Collective: fluid. */
PetscErrorCode FluidSave(Fluid fluid, Archive archive);
PetscErrorCode FluidLoad(Fluid fluid, Archive archive);

MILLRACE_API_END

#endif
