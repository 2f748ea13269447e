/* A run: its state, the order and size of its steps, obstacles and inflows, frames, checkpoints, ledger. */
#ifndef MILLRACE_SIMULATION_H
#define MILLRACE_SIMULATION_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/coupling.h>
#include <millrace/fluid.h>
#include <millrace/geometry.h>
#include <millrace/grid.h>
#include <millrace/io.h>
#include <millrace/motion.h>
#include <millrace/parallel.h>
#include <millrace/phase.h>
#include <millrace/schema.h>
#include <millrace/solid.h>
#include <millrace/splash.h>

#include <stdio.h>

MILLRACE_API_BEGIN

typedef enum { OBSTACLE_NO_SLIP, OBSTACLE_SLIP } ObstacleSurface;
extern const char *const ObstacleSurfaces[];

typedef struct {
  char           *name;
  Shape           shape;
  Motion          motion; /* only while the scene is read: what moves becomes a body */
  ObstacleSurface surface;
} ObstacleConfig;

/* A region of the box in which velocity and scalars are held at given values. */
typedef struct {
  char     *name;
  Shape     shape;
  Formula   velocity[MILLRACE_DIM]; /* null: left to the flow */
  Formula  *scalars;                /* one per scalar of the fluid; null: left to the flow */
  char     *region;                 /* what the shape is filled with; null: left to the flow */
  PetscReal from, until;            /* s */
} InflowConfig;

/* Something by its name. */
typedef struct {
  char *name;
} ChoiceConfig;

typedef struct {
  PetscReal end_time;            /* s */
  PetscReal frame_interval;      /* s */
  PetscReal time_step;           /* fixed; 0: from the CFL number */
  PetscReal largest_time_step;   /* 0: none */
  PetscInt  step_limit;          /* 0: none; stops the run after this many steps */
  PetscReal wall_limit;          /* s of wall clock, checkpoint and exit 85 before; 0: none */
  PetscReal checkpoint_interval; /* s of wall clock between checkpoints; 0: only at the end or on a signal */
  PetscReal steady;              /* unsteadiness at which the run is done; 0: it does not matter */
  PetscInt  field_count;         /* of frames; 0: all that there are */
  ChoiceConfig *fields;
} RunConfig;
/* What is recorded besides the ledger: groups with tables and intervals of their own (docs/output.md). */
typedef struct {
  char   *name;
  Vector3 point; /* m */
} ProbeConfig;

typedef struct {
  char    *name;
  Vector3  from, to; /* m */
  PetscInt points;   /* two or more */
} LineConfig;

/* A parallelogram in equal parts, with a point in the middle of each. */
typedef struct {
  char    *name;
  Vector3  origin, along, across; /* m: a corner, and the sides from there */
  PetscInt along_points, across_points;
} PlaneConfig;

typedef struct {
  char   *name;
  Vector3 at;     /* m; along gravity, any */
  char   *region; /* name */
} GaugeConfig;

typedef struct {
  char *name;
  Shape shape;
  char *region; /* name; "": any */
} AverageConfig;

typedef struct {
  char     *name;                 /* of an obstacle or a body */
  PetscReal density, speed, area; /* of the reference: kg/m^3, m/s, m^2 (m in two dimensions) */
  Vector3   flow, lift;           /* directions */
} CoefficientConfig;

typedef struct {
  char              *name;
  PetscReal          interval; /* s; 0: every step */
  PetscInt           probe_count, line_count, plane_count, gauge_count, average_count;
  ProbeConfig       *probes;
  LineConfig        *lines;
  PlaneConfig       *planes;
  GaugeConfig       *gauges;
  AverageConfig     *averages;
  PetscInt           body_count, joint_count, coefficient_count;
  ChoiceConfig      *bodies, *joints;
  PetscInt           field_count; /* 0: no frames */
  ChoiceConfig      *fields;
  CoefficientConfig *coefficients;
} OutputConfig;
extern const SchemaKey RunKeys[], ObstacleKeys[], InflowKeys[], OutputKeys[];

typedef struct {
  char           *title;
  GridConfig      grid; /* dimension 0: there is no fluid */
  TeamConfig      parallel;
  FluidConfig     fluid;
  PhaseConfig     phases; /* no regions: one fluid fills the box */
  RunConfig       run;
  PetscInt        obstacle_count;
  ObstacleConfig *obstacles;
  PetscInt        inflow_count;
  InflowConfig   *inflows;
  SolidConfig     solids; /* no bodies: there are none */
  CouplingConfig  coupling;
  SplashConfig    splash; /* no particles: there is none; else it takes the place of the fluid */
  PetscInt        output_count;
  OutputConfig   *outputs;
} SimulationConfig;
/* For PhaseSetContacts: where a contact angle holds that is given on `name` (null: everywhere). */
PetscInt contact_place(const SimulationConfig *config, const char name[]);
TeamWork simulation_config_work(const SimulationConfig *config);
/* Whether a run solves for a pressure alone, with PETSc's options -pressure_...; with bodies in the fluid,
   and without a one-way gas beside it, there is only their common system, with -coupled_... */
PetscBool simulation_solves_pressure(const SimulationConfig *config);

typedef struct _p_Simulation *Simulation;

/* `config` must outlive the simulation. Bodies, joints or regions that are impossible give a null simulation
   and the reason in `message`, which is "" otherwise. Destroy accepts a null simulation. Collective: world.
 */
PetscErrorCode SimulationCreate(MPI_Comm world, const SimulationConfig *config, Simulation *simulation,
                                char message[], size_t message_size);
PetscErrorCode SimulationDestroy(Simulation *simulation);

/* Makes the initial state of the scene. A solve that fails is an error of SimulationStart, and makes the
   start of SimulationTryStart not `good`. Collective: world. */
PetscErrorCode SimulationStart(Simulation simulation);
PetscErrorCode SimulationTryStart(Simulation simulation, PetscBool *good);

/* The ranks that write frames, ledger and checkpoints: the fluid team, or the solid team without fluid. */
MPI_Comm  simulation_writers(Simulation simulation);
PetscBool simulation_writes(Simulation simulation);

/* Writes the state to an archive of the writers. Collective: writers. */
PetscErrorCode SimulationSave(Simulation simulation, Archive archive);

/* Reads the state that was saved, perhaps on another number of ranks; `archive` is null outside the writers.
   A file that does not fit this scene, or holds what no run can have written, is refused in `message`; the
   simulation is then of no more use. Collective: world. */
PetscErrorCode SimulationLoad(Simulation simulation, Archive archive, char message[], size_t size);

/* A step of the size that its parts allow, such that whole steps end exactly at `stop`. Collective: world. */
PetscErrorCode SimulationGetTimeStep(Simulation simulation, PetscReal stop, PetscReal *dt);
/* A step whose solve fails, or whose flow is too fast for it, is not `good` and leaves the state as it was.
   Collective: world. */
PetscErrorCode SimulationStep(Simulation simulation, PetscReal dt, PetscBool *good);
/* Once more with half the size if a solve fails; more often if only the flow is too fast. `dt`: of the last.
   Collective: world. */
PetscErrorCode SimulationTryStep(Simulation simulation, PetscReal *dt, PetscBool *good);

/* Calls the XCheck of every room of this rank; an error names what does not hold. With PETSc's option
   -check_invariants every step ends with it. Not collective. */
PetscErrorCode SimulationCheckInvariants(Simulation simulation);

Team      simulation_team(Simulation simulation);
MacGrid   simulation_grid(Simulation simulation);   /* null outside the fluid team */
Fluid     simulation_fluid(Simulation simulation);  /* likewise, and with a splash */
Solid     simulation_solid(Simulation simulation);  /* on every rank; null without bodies */
Phase     simulation_phase(Simulation simulation);  /* null without regions, or outside the fluid team */
Splash    simulation_splash(Simulation simulation); /* null without particles, or outside the fluid team */
PetscReal simulation_time(Simulation simulation);
PetscInt  simulation_step(Simulation simulation);

/* A quantity of the ledger (docs/output.md), such as "kinetic_energy" or "pressure_force_cylinder_x", as it
   is now, the same on all ranks. A name that this simulation's ledger does not have is an error. All of the
   ledger's row is computed for it; "wall_step" is not a number, since SimulationRun alone measures it.
   Collective: world. */
PetscErrorCode SimulationGetRecord(Simulation simulation, const char name[], PetscReal *value);

/* Why the flow cannot begin or go on as the scene prescribes: fields that are not finite, or a box without an
   open side that does not let out what it takes in; "" when it can. Before the state is made or loaded, which
   this changes. Collective: world. */
PetscErrorCode SimulationCheckBalance(Simulation simulation, char message[], size_t message_size);

/* Steps to the end of the run, with frames, ledger, checkpoints and a progress line. Signals (USR1, TERM,
   INT, HUP) and the wall limit end it with a checkpoint (RUN_STOPPED), a solve that fails twice likewise
   (RUN_FAILED); what the user has to know is in `message`. Collective: world. */
typedef enum { RUN_DONE, RUN_STOPPED, RUN_FAILED, RUN_REFUSED } RunOutcome;
typedef struct {
  const char  *directory;
  const char  *checkpoint; /* file to go on from; null: from the start */
  const char  *scene_text; /* the resolved scene, for frames and checkpoints */
  RunDirectory results;    /* borrowed; cleared when the run has begun; null: nothing is deleted */
  const char  *program;    /* as the user called it; null: millrace */
} RunOptions;
typedef struct {
  RunOutcome outcome;
  char       reason[32];    /* what stopped it */
  PetscBool  steady;        /* done before `end_time`: the flow is */
  PetscBool  saved;         /* there is a checkpoint of the last good step */
  PetscBool  trouble;       /* there is a message */
  PetscInt   steps, frames; /* taken now; written in all */
} RunEnding;
PetscErrorCode SimulationRun(Simulation simulation, const RunOptions *options, RunEnding *ending,
                             char message[], size_t message_size);
/* The last line, for the first rank to print. */
void           print_ending(Simulation simulation, const RunOptions *options, const RunEnding *ending);
PetscErrorCode SimulationPrintWaiting(Simulation simulation); /* of the two teams; collective: world */
void           print_balance(Simulation simulation); /* of the fluid ranks, for the first rank to print */
/* How ranks share deformable solids, if they do. Collective: world. */
PetscErrorCode SimulationPrintShares(Simulation simulation);

/* From now on these signals do not end the process but its run, unless it was started to ignore them; a
   second SIGINT ends the process. For the time before SimulationRun. */
void simulation_listen(void);
/* Which of them the process ignores now, as nohup and shells without job control ask for: what it was started
   to, if no library has begun yet. Else the first simulation_listen() calls it. */
void simulation_note_ignored(void);

/* What a run of this scene on so many ranks needs, without running it. */
typedef struct {
  PetscInt   cells[MILLRACE_DIM];
  PetscInt64 cell_count;
  PetscInt   fluid_ranks, solid_ranks, bodies, joints;
  PetscInt   tetrahedra;
  PetscInt   meeting_triangles; /* of meshes that meet each other or themselves */
  PetscReal  substep;           /* of deformable solids at rest */
  PetscReal  particles;         /* of a splash at the start, about */
  PetscReal  bytes;             /* peak memory of all ranks */
  PetscReal  steps;       /* to the end, about: right within a factor of two for the scenes of inputs/ */
  PetscReal  time_step;   /* s, on the average */
  char       solver[256]; /* of elasticity in such steps, and why; "": there are no deformable solids */
} SimulationEstimate;
void print_estimate(const SimulationConfig *config, const SimulationEstimate *estimate, FILE *file);
/* Seconds of wall clock that the first step takes here; a start or a step that fails is told in `message`.
   Collective: world. */
PetscErrorCode SimulationMeasureStep(Simulation simulation, PetscReal *seconds, char message[], size_t size);
/* Why so many ranks cannot run this scene; "" if they can. And `message` as that of SimulationCreate. Not
   collective. */
PetscErrorCode SimulationConfigCheckRanks(const SimulationConfig *config, PetscMPIInt ranks, char message[],
                                          size_t size);
PetscErrorCode SimulationConfigEstimate(const SimulationConfig *config, PetscMPIInt ranks,
                                        SimulationEstimate *estimate, char message[], size_t size);

MILLRACE_API_END

#endif
