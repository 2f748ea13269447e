/* Private to src/simulation: bodies in a fluid. */
#ifndef MILLRACE_COUPLED_IMPL_H
#define MILLRACE_COUPLED_IMPL_H

#include "simulation_impl.h"

#include <millrace/solid_step.h>
#include <millrace/fluid_step.h>

/* What the fluid does to a body. */
typedef enum { LOAD_PRESSURE, LOAD_VISCOSITY, LOAD_ALL, LOAD_COUNT } Load;

/* What changes the momentum of fluid and free bodies in a step. */
typedef enum {
  CHANGE_ADVECTION, /* with bodies that move and cover other faces, and densities that change */
  CHANGE_FORCES,
  CHANGE_VISCOSITY,
  CHANGE_PRESSURE,
  CHANGE_CONTACT, /* and joints, with what is not free */
  CHANGE_COUNT
} MomentumChange;

typedef struct {
  Vector3 position, linear, angular; /* the last about the position */
} BodyMomentum;

/* Linear, then angular about the origin. On the fluid team. */
typedef struct {
  PetscReal     total[2 * DIM], changes[CHANGE_COUNT][2 * DIM]; /* after the last step; in it */
  PetscReal     held[2 * DIM];                                  /* this rank's part of the total */
  PetscReal     meshes[2 * DIM];  /* of that, deformable solids: on the first rank */
  PetscReal     dragged[2 * DIM]; /* what viscosity gave them in the step */
  PetscReal     last[2 * DIM], part[CHANGE_COUNT][2 * DIM]; /* during a step, this rank's parts */
  BodyMomentum *bodies;                                     /* at the start of the step */
} Momentum;

typedef enum { BUSY_WITH_FLUID, BUSY_WITH_SOLIDS, WAITS, ACTIVITY_COUNT } Activity;

/* What the ledger shows of that: seconds in every part, of work on solids, of waiting. */
enum { ROW_PARTS, ROW_SOLIDS = ROW_PARTS + PART_COUNT, ROW_FLUID_WAITS, ROW_SOLIDS_WAIT, ROW_COUNT };

/* What this rank spends its time on. */
typedef struct {
  PetscBool      is_running; /* from the first step on */
  PetscLogStage  stages[PART_COUNT];
  StepPart       part;
  Activity       activity;
  PetscLogDouble since;
  PetscReal      seconds[PART_COUNT][ACTIVITY_COUNT];
  PetscReal      counted[ROW_COUNT]; /* in rows of the ledger so far */
  PetscReal      row[ROW_COUNT];     /* since the row before, largest over the ranks; on the first rank */
} Watch;

/* Of fluid and bodies as the run began or went on. */
typedef struct {
  PetscBool is_known;
  PetscReal mass; /* of the fluid */
  PetscReal kinetic, potential;
} EnergyStart;

struct Coupled {
  Coupling coupling;
  PetscInt
      count; /* of numbers in the twists of all bodies, and zeros for the surfaces of meshes behind them */
  PetscInt   points;       /* three numbers for each point of meshes */
  PetscReal *acceleration; /* of bodies by forces, pressure and constraints in the last step, and behind them
                              of points; part of the state */
  EnergyStart first;
  PetscReal  *wanted, *solved;  /* scratch: V* with the impulses of contact and joints, V before those */
  PetscReal  *dragged;          /* scratch: velocities of bodies and points as viscosity changes them, then
                                   the changes */
  PetscReal *viscous_impulses;  /* on all bodies in the last step */
  PetscReal *loads[LOAD_COUNT]; /* force and torque on all bodies, mean of the last step; on all ranks */

  PetscReal *started; /* scratch: velocities at the start of the step */
  PetscReal *begun;   /* scratch: V* */
  Momentum   momentum;
  Watch      watch;
  PetscReal  divergence; /* largest, 1/s, of fluid and bodies; on the fluid team */

  /* Null outside the fluid team. */
  Mixture uniform;      /* of a scene without regions */
  Vec     covered;      /* cells of obstacles, bodies and sources, as `closed` */
  Vec     parts;        /* of owned cells that bodies and obstacles leave free, at the time of the regions */
  Vec     placed_parts; /* the same where bodies are; both null without regions */
  Vec     impulse, faces[DIM], star[DIM];

  PetscBool has_shells;
  PetscBool has_free_bodies; /* whose motion follows from forces */
  PetscBool stands_still;    /* see simulation_stands_still */

  CouplingReport report;                                            /* of the last coupled solve */
  PetscInt       half_iterations, advecting_iterations, iterations; /* of S1, F2, S2 */
  PetscInt       rounds;                                            /* of S2 */
  PetscReal      disagreement; /* m/s: what contact and joints changed after the last round */
  PetscInt       unsettled;    /* tries of the step whose rounds did not end in agreement */
};

/* Of the grid's cells, on every rank. */
static inline PetscReal simulation_spacing(Simulation simulation)
{
  return simulation->config->grid.size.at[X] / simulation->config->grid.resolution;
}

/* placing.c: velocity and spin of every body, in the state of the solid; and the velocities of all points. */
PetscErrorCode SimulationGetTwists(Simulation simulation, PetscReal **twists);
PetscErrorCode SimulationGetPointVelocities(Simulation simulation, PetscReal **velocities);
/* Copies of both; later, what changed them since, over dt, becomes the accelerations. */
PetscErrorCode SimulationGetVelocities(Simulation simulation, PetscReal velocities[]);
PetscErrorCode SimulationTakeAccelerations(Simulation simulation, PetscReal dt, const PetscReal before[]);
PetscErrorCode SimulationCoverCells(Simulation simulation); /* by bodies where they are. Collective: fluid */
/* The bodies' velocities on the faces inside them, after all that changes the velocity between steps; the
   second extrapolates that of the liquids too. Collective: fluid. */
PetscErrorCode SimulationFillBodies(Simulation simulation);
PetscErrorCode SimulationCarryVelocityOn(Simulation simulation);

/* There are deformable solids, and this rank is of the team that moves them. */
PetscBool simulation_moves_meshes(Simulation simulation);

/* coupled_system.c: (5.13) of the bodies and the mixture as they are; solved, or projected past bodies whose
   velocities are given. The fields are the fluid team's. Collective: world. */
PetscErrorCode SimulationSetUpSystem(Simulation simulation);
PetscErrorCode SimulationSolveSystem(Simulation simulation, Vec faces[DIM], PetscReal twists[],
                                     PetscBool *good);
PetscErrorCode SimulationProjectSystem(Simulation simulation, Vec faces[DIM], PetscReal twists[],
                                       PetscBool *good);

/* drag.c: before and after what viscosity does over dt to the velocities of the state; then every rank has
   the changes in `dragged`. The first: fluid, the second: world. */
PetscErrorCode SimulationConstrainViscosity(Simulation simulation, PetscReal dt);
PetscErrorCode SimulationTakeViscosity(Simulation simulation, PetscReal dt);
/* Fluid: the twists `after`, between the two. */
PetscErrorCode SimulationDrag(Simulation simulation, PetscReal dt, PetscReal after[]);

/* loads.c: from `impulse`, `star` and what was solved for over dt, and from `viscous_impulses`. Collective:
   world. */
PetscErrorCode SimulationTakeLoads(Simulation simulation, PetscReal dt, Vec solved[DIM]);

/* rounds.c: contact, joints and fluid in S2, which begins with the velocities `start`. On every rank alike.
 */
typedef struct Rounds *Rounds;
PetscErrorCode         RoundsCreate(Simulation simulation, const PetscReal start[], Rounds *rounds);
PetscErrorCode         RoundsDestroy(Rounds *rounds);
/* With what the bodies are weighed in contact and joints. */
const AddedMass *rounds_added(Rounds rounds);
/* Takes what contact and joints did to `wanted` out of the velocities that follow from it. */
void rounds_release(Rounds rounds, const PetscReal wanted[], PetscReal twists[]);
/* The most, m/s, that they then changed of what was solved for; of spins, at the radius of gyration. */
PetscReal rounds_disagreement(Rounds rounds, const PetscReal solved[], const PetscReal twists[]);
PetscReal rounds_speed(Rounds rounds, const PetscReal twists[]); /* of the fastest, now or at the start */
/* What the next round should want. */
PetscErrorCode RoundsJoin(Rounds rounds, PetscReal wanted[]);
/* From V* in `twists`, rounds of (5.13) and of contact and joints; a disagreement up to `allowed` is none.
   Collective: world. */
typedef enum { ROUNDS_OF_HALF, ROUNDS_OF_STEP } RoundsOf; /* S1, S2 */
PetscErrorCode SimulationSolveInRounds(Simulation simulation, RoundsOf of, PetscReal dt, Vec next[DIM],
                                       PetscReal *twists, PetscReal *allowed, PetscBool *good);
/* The same without contact of bodies and joints. */
PetscErrorCode SimulationSolveOnce(Simulation simulation, Vec next[DIM], PetscReal *twists, PetscBool *good);
/* Velocities of bones, if there are any, which the solid team alone knows. Collective: world. */
PetscErrorCode SimulationShareBones(Simulation simulation, PetscReal twists[]);
/* What becomes of a step that ends without agreement. */
PetscErrorCode SimulationJudgeDisagreement(Simulation simulation, PetscReal dt, PetscBool *good);

/* momentum.c, on the fluid team. Within a step: begin, measure what each part has made of the velocities
   (`move` after the first time), hold what has become the state. */
PetscErrorCode SimulationStartMomentum(Simulation simulation, const PetscReal twists[]); /* no step before */
PetscErrorCode SimulationBeginMomentum(Simulation simulation);
PetscErrorCode SimulationMeasureMomentum(Simulation simulation, MomentumChange change, Vec faces[DIM],
                                         const PetscReal twists[]);
PetscErrorCode SimulationMoveMomentum(Simulation simulation);
/* Contact and joints took the bodies' velocities from `before` to `after`. */
PetscErrorCode SimulationPushMomentum(Simulation simulation, const PetscReal before[],
                                      const PetscReal after[]);
PetscErrorCode SimulationHoldMomentum(Simulation      simulation,
                                      const PetscReal twists[]); /* collective: fluid */

PetscErrorCode SimulationDestroyWatch(Simulation simulation); /* timing.c */

#endif
