#ifndef MILLRACE_SIMULATION_IMPL_H
#define MILLRACE_SIMULATION_IMPL_H

#include "part.h"

#include <millrace/cell_map.h>

/* Ranks outside the fluid team hold null in place of grid and fluid. The solid team advances the bodies, of
   which every rank has a copy. */
struct _p_Simulation {
  const SimulationConfig *config;           /* borrowed */
  PetscBool               check_invariants; /* after every step */
  Team                    team;
  GridPartition           partition; /* of the grid; without parts: even ones */
  PetscInt                divisions; /* of the box, after the first */
  GridBalance             balance;   /* as it was looked at last, or has become then */
  PetscBool               goes_on;   /* from a state: nothing is read of what a run begins with */
  MacGrid                 grid;
  Fluid                   fluid;
  FluidConfig             fluid_config;  /* the scene's; without scalars if a gas carries them */
  struct InitialFrame    *initial_frame; /* null without one */
  Phase                   phase;         /* null without regions */
  Solid                   solid;         /* null without bodies */
  Splash                  splash;        /* null unless it takes the place of the fluid */
  PetscReal               time;
  PetscReal               dt; /* of the last step */
  PetscInt                step;
  PetscInt                materials_of; /* 1 + the step whose materials the regions have */
  PetscInt                failures;     /* tries of the step under way that came to nothing */
  PetscBool               fluid_failed; /* and not the solids, in the last step */
  PetscBool               too_fast;     /* why the last step failed: it made a flow that goes too far in it */
  PetscInt                cut_steps;    /* that `run.time_step` would have made too long, so far */
  PetscBool               is_first_cut; /* the last step is the first of those */
  PetscReal               travel;       /* of regions in the last step: cells along an axis, the most */
  PetscReal               wall_solids;  /* s of wall clock that the solids took in the last step */
  PetscReal               wall_regions; /* and the regions: moving and mixing them, extending the velocity */

  /* Obstacles and sources as the fluid sees them; null without any. Bodies have numbers between them. */
  Vec      closed;               /* marks of obstacles and sources (cell_map.h) */
  Vec      closed_velocity[DIM]; /* null when all stand still */
  PetscInt wall_count;           /* obstacles and bodies */
  Vec      carrying[DIM];        /* what moves interfaces; null while that is the fluid's velocity */
  Vec      obstructed;           /* what is covered, without sources, for the regions; null until needed */

  struct Coupled *coupled; /* coupled.c; null unless there are bodies in a fluid */

  struct SplashBodies *splash_bodies; /* splash_bodies.c; null unless there are bodies in a splash */

  struct OutputStart *output; /* output.c; null without groups of output */

  struct SteadyMeasure *steady; /* steady.c; null unless the run ends when the flow is steady */

  /* A gas that the liquids do not feel; null without one. */
  Fluid       gas;
  FluidConfig gas_config;
  Vec         gas_closed;        /* as `closed`; the liquids are the last wall */
  Vec         gas_velocity[DIM]; /* on faces that are closed to the gas */
  PetscInt    gas_failures;      /* steps in which its solve failed and it stood still */
};

/* The owned cells whose centres or faces can lie in a box of space. */
GridRange cells_within(MacGrid grid, Vector3 low, Vector3 high);

/* coupled_state.c, placing.c, coupled.c: bodies in a fluid. Collective: world. */
PetscBool simulation_is_coupled(const SimulationConfig *config);
PetscBool simulation_stands_still(const SimulationConfig *config); /* all bodies do, and none is a shell */
/* `dt` after the last placing, or as if nothing had moved since; the shells, to all that trace past them
   (collective: fluid). */
PetscErrorCode SimulationPlaceBodies(Simulation simulation, ShellPlacing motion, PetscReal dt);
PetscErrorCode SimulationShowShells(Simulation simulation, ShellPlacing motion, PetscReal dt);
PetscErrorCode SimulationStartCoupled(Simulation simulation, PetscBool *good);
PetscErrorCode SimulationDeriveCoupled(Simulation simulation); /* from a state that was loaded or restored */
PetscErrorCode SimulationStepCoupled(Simulation simulation, PetscReal dt, PetscBool *good);
PetscErrorCode SimulationDescribeCoupledFailure(Simulation simulation, char reason[], size_t size);
/* What carries the fluid, with ghosts: leak-proof with bodies. Fluid. */
PetscErrorCode SimulationGetAdvecting(Simulation simulation, Vec **faces);
PetscErrorCode SimulationCopyFaces(Simulation simulation, Vec from[DIM], Vec to[DIM]); /* fluid */
/* Of all bodies, 6 numbers each; null without a fluid that they move in. */
const PetscReal *simulation_accelerations(Simulation simulation);
PetscBool        simulation_has_shells(Simulation simulation);
Vec              simulation_covered(Simulation simulation); /* `closed` with bodies; null: nothing is */
/* What bodies leave free of cells, at the time of the interfaces or at that of the bodies; null: they leave
   all of a cell or nothing. */
typedef enum { PARTS_OF_INTERFACES, PARTS_OF_BODIES } PartsTime;
Vec             simulation_free_parts(Simulation simulation, PartsTime time);
const PetscInt *simulation_solid_cells(Simulation simulation); /* 0, or 1 + body; null without bodies */

/* obstacles.c: obstacles and sources, as the fluid sees them. Collective: fluid. */
PetscErrorCode SimulationPlaceObstacles(Simulation simulation, PetscReal time);
PetscBool      simulation_sources_change(const SimulationConfig *config); /* with time */
/* Which obstacles and bodies let the fluid slip, of `count` numbers; the caller frees it. */
PetscErrorCode SimulationGetSlips(Simulation simulation, PetscInt count, PetscBool **slips);

/* inflows.c: gives scalars their values inside the inflow regions. */
PetscErrorCode SimulationHoldFlames(Simulation simulation, Vec scalars[]); /* regions.c */
/* What flames and sources hold at the end of the step, in the predicted scalars. Collective: fluid. */
PetscErrorCode SimulationHoldPrediction(Simulation simulation, PetscReal dt, Vec scalars[]);
PetscErrorCode SimulationHoldScalars(Simulation simulation, PetscReal time, Vec scalars[]);
PetscBool      inflow_is_active(const SimulationConfig *config, const InflowConfig *inflow, PetscReal time);
PetscReal      simulation_next_inflow(Simulation simulation); /* begins or ends; not collective */
PetscBool      inflow_gives_velocity(const InflowConfig *inflow);

/* time_step.c: farther than so many cells no flow may go that a step has made, or the step is not taken. */
PetscReal simulation_farthest(const SimulationConfig *config);
PetscReal simulation_travel(Simulation simulation); /* of the last step, for a row of the ledger; fluid */
/* How much earlier or later is the same time. */
PetscReal simulation_time_tolerance(const SimulationConfig *config);

/* forecast.c: what there is to know of a run before it is run. */
typedef struct {
  Solid     solid;    /* borrowed; null without bodies */
  PetscReal falling;  /* m/s, of the fastest body on the average */
  PetscReal settling; /* m/s, of liquids */
  PetscReal waves;    /* s, the step that waves on interfaces allow */
} Forecast;
/* The largest component over the box. */
PetscReal largest_component(const GridConfig *grid, const Formula velocity[DIM], PetscReal time);
void      forecast_solids(const SimulationConfig *config, Solid solid, Forecast *forecast);
void      forecast_regions(const SimulationConfig *config, Phase phase, Forecast *forecast);
void forecast_steps(const SimulationConfig *config, const Forecast *forecast, SimulationEstimate *estimate);

/* initial_frame.c: what a scene begins with instead of formulas; nothing happens without a frame, and a
   message tells why one is refused. Collective: fluid. */
PetscErrorCode SimulationReadInitialFrame(Simulation simulation, char message[], size_t size);
PetscErrorCode SimulationDropInitialFrame(Simulation simulation);
/* What is wrong with it without a simulation. Not collective. */
PetscErrorCode SimulationCheckInitialFrame(const SimulationConfig *config, char message[], size_t size);
/* As an InitialValue (fluid.h). */
PetscBool initial_frame_value(const struct InitialFrame *frame, PetscInt field, Vector3 point,
                              PetscReal *value);

/* regions.c: nothing happens without regions. Collective: fluid. */
PetscErrorCode SimulationSetInitialValues(Simulation simulation, Fluid fluid);
PetscErrorCode SimulationMoveRegions(Simulation simulation, PetscReal dt);
/* What is written shows the surfaces at the time of the velocity: around all that writes. Collective: fluid.
 */
PetscErrorCode SimulationLookAhead(Simulation simulation, PetscBool *looks);
PetscErrorCode SimulationLookBack(Simulation simulation, PetscBool looks);
/* The regions become what they are made of from now on; before a step. Collective: world. */
PetscErrorCode SimulationChangeMaterials(Simulation simulation);
PetscReal      simulation_next_change(Simulation simulation); /* of materials; not collective */
PetscErrorCode SimulationExtendVelocity(Simulation simulation);
/* Elastic regions: their strain is carried along and its stress felt, between advection and viscosity; they
   are stretched by the velocity of the end of the step. */
PetscErrorCode SimulationFindStress(Simulation simulation, PetscReal dt);
PetscErrorCode SimulationPullElastically(Simulation simulation, PetscReal dt);
PetscErrorCode SimulationStretchRegions(Simulation simulation, PetscReal dt);

/* one_way.c: nothing happens without a one-way region. Collective: fluid. */
PetscBool      simulation_has_gas(const SimulationConfig *config);
Fluid          simulation_carrier(Simulation simulation);              /* of the scalars */
PetscErrorCode SimulationStepGas(Simulation simulation, PetscReal dt); /* after the liquids */
PetscErrorCode SimulationJoinVelocities(Simulation simulation, Vec faces[DIM]);

/* steady.c: whether the last step, once it is recorded, has changed as little as `run.steady` asks. Of ranks
   with fluid. */
PetscBool simulation_is_steady(Simulation simulation);

/* splash.c: particles with mass instead of a fluid. */
PetscBool      simulation_has_splash(const SimulationConfig *config);
PetscErrorCode SimulationStepSplash(Simulation simulation, PetscReal dt,
                                    PetscBool *good); /* collective: world */
/* splash_bodies.c: the same with bodies. */
PetscErrorCode SimulationStepSplashBodies(Simulation simulation, PetscReal dt, PetscBool *good);

/* balance.c: divides the box anew among the fluid ranks where some have much more to do than others; between
   steps. Collective: world. */
PetscErrorCode SimulationBalance(Simulation simulation);
/* Makes the simulation anew in the parts that a checkpoint of as many fluid ranks has; it then has no state.
   An archive without them changes nothing. Collective: world. */
PetscErrorCode SimulationTakeParts(Simulation simulation, Archive archive, char message[], size_t size);
PetscErrorCode SimulationSaveParts(Simulation simulation, Archive archive); /* collective: writers */
/* state.c: the state alone, as SimulationLoad. */
PetscErrorCode SimulationLoadState(Simulation simulation, Archive archive, char message[], size_t size);

/* flow.c: the grid in words; the fluid's step without bodies. Collective: fluid. */
PetscErrorCode SimulationDescribeGrid(Simulation simulation, Text *layout);
PetscErrorCode SimulationStepFlow(Simulation simulation, PetscReal dt, PetscBool *good);

/* timing.c: what the time of this rank is counted as, by the part of the step, until the next change. Without
   coupled bodies nothing happens. */
typedef enum { PART_MOVE, PART_ADVECTING, PART_PREDICT, PART_SOLVE, PART_OUTPUT, PART_COUNT } StepPart;
typedef enum { OWN_WORK, WORK_ON_SOLIDS, WAIT_FOR_SOLIDS, WAIT_FOR_FLUID } StepActivity;
PetscErrorCode SimulationEnterPart(Simulation simulation, StepPart part);
PetscErrorCode SimulationTimeAs(Simulation simulation, StepActivity activity);
/* What one team tells all ranks; the others' time is that of waiting. Collective: world. */
PetscErrorCode SimulationBroadcastFromFluid(Simulation simulation, void *values, PetscInt count,
                                            MPI_Datatype type);
PetscErrorCode SimulationBroadcastFromSolids(Simulation simulation, void *values, PetscInt count,
                                             MPI_Datatype type);
PetscErrorCode SimulationShareSolids(Simulation simulation);  /* the bodies as the solid team has left them */
PetscErrorCode SimulationCountWaiting(Simulation simulation); /* for a row of the ledger; collective: world */

/* solids.c: a step of all bodies, known to every rank; not `good` when a number is not finite. Collective:
   world. */
PetscErrorCode SimulationStepSolids(Simulation simulation, PetscReal dt, PetscBool *good);

/* One row of the ledger: the first collection names the columns, later ones give the values in the same
 * order. */
enum { RECORD_CAPACITY = 1024, RECORD_NAME_LENGTH = 96 };
struct Record {
  PetscInt    count;
  char        names[RECORD_CAPACITY][RECORD_NAME_LENGTH];
  const char *columns[RECORD_CAPACITY][2]; /* name, unit */
  PetscReal   values[RECORD_CAPACITY];
};

/* record.c. Collective: who writes. */
PetscErrorCode SimulationCollectRecord(Simulation simulation, PetscReal wall_step, Record *record);
void           record_put(Record *record, PetscReal value, const char unit[], const char format[], ...)
    __attribute__((format(printf, 4, 5)));
void record_put_vector(Record *record, const PetscReal value[DIM], PetscInt dimension, const char unit[],
                       const char name[]); /* name_x, name_y, ... */
/* Of a spin, a torque and the like: about z alone in two dimensions. */
void     record_put_turning(Record *record, const PetscReal value[DIM], PetscInt dimension, const char unit[],
                            const char name[]);
PetscInt record_dimension(const SimulationConfig *config); /* 2 or 3, also without a grid */
/* Of bodies, the dynamic ones and the others each have columns of their own if they are not too many. */
enum { MOST_BODIES = 16 };
PetscBool record_shows_body(Simulation simulation, PetscInt body);
void      record_body_name(Simulation simulation, PetscInt body, char name[], size_t size);

/* loads.c: what the fluid does to bodies, and how it was found. */
PetscErrorCode SimulationRecordCoupled(Simulation simulation, Record *record);
void           record_put_momentum(Simulation simulation, Record *record);       /* momentum.c */
void           record_put_waiting(Simulation simulation, Record *record);        /* timing.c */
PetscErrorCode SimulationWriteBodies(Simulation simulation, FrameSeries frames); /* collective: who writes */

/* frame.c. Collective: who writes. */
PetscErrorCode SimulationWriteFields(Simulation simulation, FrameSeries frames); /* of the fluid */
PetscErrorCode SimulationWriteFrame(Simulation simulation, FrameSeries frames, PetscInt number,
                                    const char scene_text[], char message[], size_t message_size);

/* run.c: how frames with these fields are written, from number `first` on. `names` has room for them. */
FrameConfig frame_config(Simulation simulation, const char directory[], PetscInt first, PetscInt field_count,
                         const ChoiceConfig fields[], const char *names[]);

/* output_files.c: tables and frames of the groups of `output`. Collective: who writes. */
typedef struct {
  Ledger       *tables; /* one per group */
  PetscInt64   *rows;   /* that a checkpoint counts; 0: the table begins anew */
  FrameSeries  *series; /* null for a group without fields */
  PetscInt     *frames; /* of it so far */
  const char ***names;  /* of its fields */
} OutputTables;
typedef enum { OUTPUT_GOES_ON, OUTPUT_END } OutputMoment;
PetscErrorCode OutputTablesCreate(Simulation simulation, OutputTables *tables);
PetscErrorCode OutputTablesLoad(OutputTables *tables, Simulation simulation, Archive archive);
PetscErrorCode OutputTablesSave(OutputTables *tables, Simulation simulation, Archive archive);
PetscErrorCode OutputTablesOpen(OutputTables *tables, Simulation simulation, const char directory[],
                                char message[], size_t size);
PetscErrorCode OutputTablesAppend(OutputTables *tables, Simulation simulation, const char scene_text[],
                                  char message[], size_t size);
PetscErrorCode OutputTablesSync(OutputTables *tables, Simulation simulation, OutputMoment moment,
                                char message[], size_t size);
PetscErrorCode OutputTablesDestroy(OutputTables *tables, Simulation simulation);

/* signals.c: the last signal that asks for the end; 0: none has come. */
int         simulation_stop_signal(void);
const char *signal_name(int number); /* "TERM" */

/* progress.c: what the user sees of a run, on the first rank. */
typedef struct {
  char           terminal[64]; /* its file; "": there is none */
  PetscLogDouble began;        /* wall clock */
  PetscReal      began_time;   /* simulated */
  PetscInt       began_step;
  PetscInt64     cells;
  PetscInt64     frames;
  PetscBool      told_of_disagreement;
} Progress;
PetscErrorCode ProgressBegin(Simulation simulation, Progress *progress);
typedef enum { PROGRESS_STEP, PROGRESS_FRAME } ProgressMoment;
PetscErrorCode ProgressShow(Simulation simulation, Progress *progress, PetscInt frame, ProgressMoment moment);
/* energy.c: a message if a coupled run has more than anything can have given it. Collective: fluid. */
PetscErrorCode SimulationCheckEnergy(Simulation simulation, char message[], size_t size);
void           progress_warn(Simulation simulation, Progress *progress, PetscInt gas_failures_before);
PetscErrorCode ProgressEnd(Simulation simulation, Progress *progress);

#endif
