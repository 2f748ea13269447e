/* Splashing liquid: particles with mass on the MAC grid, and a pressure that only pushes.

   The density that the particles make on the grid may not exceed what a cell has room for; pressure is never
   negative, and zero where a cell is not full (unilateral incompressibility: Gerszewski 2014, chapter
   3, after Narain et al. 2010). Beside it stands incompressible FLIP, in which the divergence of every cell
   with particles is zero. */
#ifndef MILLRACE_SPLASH_H
#define MILLRACE_SPLASH_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/bounded.h>
#include <millrace/fluid.h>
#include <millrace/geometry.h>
#include <millrace/grid.h>
#include <millrace/io.h>
#include <millrace/particles.h>
#include <millrace/poisson.h>
#include <millrace/schema.h>

MILLRACE_API_BEGIN

typedef enum { TRANSFER_FLIP, TRANSFER_PIC, TRANSFER_APIC } SplashTransfer;
typedef enum { SPLASH_UNILATERAL, SPLASH_BILATERAL } SplashPressure;
typedef enum { CORRECT_UNILATERAL, CORRECT_NONE } SplashCorrection;
typedef enum { INTEGRATE_TRAPEZOID, INTEGRATE_EULER } SplashIntegration;
extern const char *const SplashTransfers[], *const SplashPressures[], *const SplashCorrections[],
                                                                          *const SplashIntegrations[];

typedef struct {
  Shape   shape;
  Formula velocity[MILLRACE_DIM]; /* m/s; null: at rest */
} SplashLiquid;

/* Liquid that comes in: a lattice of particles moves through the shape with the velocity, and each of its
   points becomes a particle as it enters. In the shape all particles have that velocity. */
typedef struct {
  char     *name;
  Shape     shape;
  Vector3   velocity;    /* m/s */
  PetscReal from, until; /* s */
} SplashSource;

/* A blow: at one time, particles within the radius get a velocity away from the centre, up to `speed`. */
typedef struct {
  Vector3   centre;
  PetscReal radius, time, speed;
} SplashBurst;

typedef struct {
  PetscInt          liquid_count;
  SplashLiquid     *liquids;
  PetscInt          source_count;
  SplashSource     *sources;
  PetscInt          burst_count;
  SplashBurst      *bursts;
  PetscInt          particles; /* of a full cell along each direction; 0: there is no splash */
  SplashTransfer    transfer;
  PetscReal         flip; /* share of FLIP, the rest is PIC */
  SplashPressure    pressure;
  BoundedSolver     solver;
  PetscReal         tolerance; /* share of a full cell's mass */
  SplashCorrection  correction;
  SplashIntegration integration;
  PetscReal suction_depth; /* cells from the surface, beyond which pressure may pull; infinite: nowhere */
  PetscInt  surface;       /* of the liquid in frames: nodes along a cell; 0: none */
} SplashConfig;
extern const SchemaKey SplashKeys[];

/* A rigid body in the liquid. */
typedef struct {
  Shape          shape; /* borrowed */
  RigidTransform place; /* from where the shape is written to where it is now */
  Vector3        centre;
  PetscReal inverse_mass; /* 1/kg; per metre of depth in two dimensions. This and the next: 0 unless free */
  Matrix3   inverse_inertia;   /* about the centre, in the world's axes */
  Vector3   low, high;         /* around it, perhaps infinite */
  Twist     velocity, impulse; /* m/s and rad/s; kg m/s and kg m^2/s that it got from the liquid */
} SplashBody;

/* What the last step did. Densities are shares of that of the liquid. */
typedef struct {
  BoundedReport correction, velocity;  /* of the two complementarity problems */
  PoissonReport poisson;               /* of incompressible FLIP instead */
  PetscReal     largest_density;       /* over what the cell has room for, when the step began */
  PetscReal     corrected_density;     /* the same after the correction */
  PetscReal     smallest_pressure;     /* Pa */
  PetscReal     impulse[MILLRACE_DIM]; /* kg m/s that pressure gave to the liquid on the grid */
  PetscInt64    left;                  /* particles that went out of open sides */
  PetscInt      caught;                /* particles in bodies and obstacles, that found no way out */
  PetscReal     travel;                /* cells along an axis, the most */
  PetscReal     wall_raster, wall_solve, wall_extrapolate, wall_move; /* s of wall clock */
} SplashReport;

/* Sums over all particles; per metre of depth in two dimensions. */
typedef struct {
  PetscInt64 particles;
  PetscReal  mass, momentum[MILLRACE_DIM], kinetic_energy, moment[MILLRACE_DIM]; /* mass times place */
  PetscReal  largest_speed;                                                      /* of any component */
  PetscReal  highest[MILLRACE_DIM];
} SplashTotals;

typedef struct _p_Splash *Splash;

/* Density, gravity and sides are those of `fluid`. `grid` and the configurations must outlive the splash.
   Destroy accepts null. Collective: fluid. */
PetscErrorCode SplashCreate(MacGrid grid, const SplashConfig *config, const FluidConfig *fluid,
                            Splash *splash);
PetscErrorCode SplashDestroy(Splash *splash);
/* What stands in the liquid; the shapes are borrowed. Collective: fluid. */
PetscErrorCode SplashSetObstacles(Splash splash, PetscInt count, const Shape shapes[]);

/* Where the bodies are, whose shapes are borrowed; particles in them come out. Collective: fluid. */
PetscErrorCode SplashSetBodies(Splash splash, PetscInt count, const SplashBody bodies[]);
/* The bodies, lent: before a step their velocities are those that all but the liquid would give them over the
   step, after it those with the liquid, and its impulses. */
SplashBody *splash_bodies(Splash splash);

/* Fills the shapes of the liquids, and of sources that are on, with particles on a lattice, outside
   obstacles. Collective: fluid. */
PetscErrorCode SplashStart(Splash splash);
/* From `time` on. A step is not `good` if a solve fails or the liquid would move farther than
   MOST_CELLS_PER_STEP; positions and number of particles are then as before. Collective: fluid. */
PetscErrorCode SplashStep(Splash splash, PetscReal time, PetscReal dt, PetscBool *good);
/* The step in which the present speeds and gravity cover `cells` cells. Collective: fluid. */
PetscErrorCode SplashGetTimeStepLimit(Splash splash, PetscReal cells, PetscReal *limit);

const SplashReport *splash_report(Splash splash);
PetscBool           splash_has_converged(Splash splash); /* in all solves of the last step */
/* Collective: fluid. */
PetscErrorCode SplashGetTotals(Splash splash, SplashTotals *totals);

/* Lent: particles with their velocity first among their values; fields of the last step with ghosts: the
   share of a cell that liquid fills, what there is room for, the pressure (Pa) and the velocity on faces. Not
   collective. */
PetscErrorCode SplashGetParticles(Splash splash, Particles *particles);
PetscErrorCode SplashGetFields(Splash splash, Vec *density, Vec *room, Vec *pressure, Vec **velocity);
/* Density and velocity of the particles as they are now, before any step. Collective: fluid. */
PetscErrorCode SplashRasterise(Splash splash);

/* Particles and the first guesses of the solves. Collective: fluid. */
PetscErrorCode SplashSave(Splash splash, Archive archive);
PetscErrorCode SplashLoad(Splash splash, Archive archive);
/* The liquid's surface in space, on a lattice of so many nodes along a cell: the triangles of this rank's
   part of the box, closed along its sides and obstacles. All parts fit together. Collective: fluid. */
PetscErrorCode SplashFindSurface(Splash splash, PetscInt nodes, ContourMesh *mesh);
/* The particles as a mesh of points with their velocity, the fields and, if it is wanted, the surface.
   Collective: fluid. */
PetscErrorCode SplashWriteFrame(Splash splash, FrameSeries frames);

MILLRACE_API_END

#endif
