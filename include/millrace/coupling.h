/* Where fluid meets solid: mixed faces and the symmetric system (5.13) that moves rigid bodies and fluid
   together (docs/numerics.md, section 14). */
#ifndef MILLRACE_COUPLING_H
#define MILLRACE_COUPLING_H

#include <millrace/api.h>
#include <millrace/constrained_faces.h>
#include <millrace/fluid_step.h>
#include <millrace/grid.h>
#include <millrace/parallel.h>
#include <millrace/poisson.h>
#include <millrace/schema.h>
#include <millrace/solid.h>
#include <millrace/solid_patch.h>
#include <millrace/solid_step.h>
#include <millrace/solid_system.h>
#include <millrace/visibility.h>

MILLRACE_API_BEGIN

typedef enum { COUPLING_MINRES, COUPLING_SCHUR, COUPLING_THESIS } CouplingSolver;
extern const char *const CouplingSolvers[];
/* How fluid beside a surface moves: freely along it (cut), or with the body, in the dual cells between solid
   and fluid cells (tied) or in all that hold both (thesis). */
typedef enum { COUPLING_CUT, COUPLING_TIED, COUPLING_FACES_THESIS } CouplingFaces;
extern const char *const CouplingFaceKinds[];
/* The mass of the fluid that moves with bodies, in their matrix: W^T M_F W, or lumped as in the thesis. */
typedef enum { COUPLING_MASS_FULL, COUPLING_MASS_DIAGONAL } CouplingMass;
extern const char *const CouplingMassKinds[];

typedef struct {
  CouplingSolver solver;
  CouplingFaces  faces;
  CouplingMass   mass;       /* diagonal: not with cut faces */
  PetscReal      tolerance;  /* residual of the pressure, relative to the right side */
  PetscInt       iterations; /* at most */
  PetscInt       rounds;     /* of a step's solve with contact and joints, at most */
  const char    *prefix;     /* of PETSc's options of the pressure part; null: coupled_. No key */
} CouplingConfig;
extern const SchemaKey CouplingKeys[];

typedef struct _p_Coupling *Coupling;

/* `team` and `grid` must outlive it; `grid` is null outside the fluid team. Collective: world. */
PetscErrorCode CouplingCreate(Team team, MacGrid grid, const CouplingConfig *config, Coupling *coupling);
PetscErrorCode CouplingDestroy(Coupling *coupling);

/* Makes the solver of the block matrix, "blockminres", known to PETSc: before its options are looked at. Not
   collective. */
PetscErrorCode CouplingRegisterSolver(void);

/* Where the bodies are: first this, the same on all ranks, then what the fluid is. Surfaces are borrowed
   until the next placing. Collective: world. */
PetscErrorCode CouplingPlace(Coupling coupling, PetscInt count, const CoupledBody bodies[]);
PetscErrorCode CouplingPlaceSolid(Coupling coupling, Solid solid); /* all bodies of a solid */
PetscErrorCode CouplingSetFluid(Coupling coupling, const FluidSystem *fluid);
/* How many surfaces of bodies this rank holds: of those near its part of the box, and lately near. */
PetscInt coupling_surfaces_held(Coupling coupling);
/* Solids with surfaces that deform, closed ones and shells, for all placings until the next call: `total`
   surfaces in all, with numbers from zero, of which this rank holds `count`, and the solid that they belong
   to, null where there is none; a total of zero: no such solids. All are borrowed, and the patches are sent
   now. In placings and solves such surfaces count as bodies of given velocity behind the others: `twists`
   have six zeros for each. CouplingSolve finds the solid's velocity, CouplingProject takes it. With cut
   faces; in two dimensions prisms of unit depth without their ends, and no shells. Collective: world. */
PetscErrorCode CouplingSetDeforming(Coupling coupling, PetscInt total, PetscInt count,
                                    const SolidPatch whole[], const SolidOperator *solid);
/* How many velocities viscosity has of their vertices, three each, in the order of ranks. */
PetscInt coupling_vertex_velocities(Coupling coupling);
/* The solid's velocity to the fluid, after the solid has changed it. Collective: world. */
PetscErrorCode CouplingTellDeforming(Coupling coupling);

typedef struct {
  KSPConvergedReason reason;
  PetscInt           iterations;
  PetscReal          residual;     /* of the pressure rows with the bodies eliminated, relative */
  PetscInt           components;   /* of the fluid */
  PetscInt           null_vectors; /* singular components whose pressure is free by a constant */
  PetscInt           moved;        /* singular components whose volume free bodies can change */
  PetscReal          imbalance;    /* largest inflow into a singular component that was left out, m^3/s */
  PetscInt           mixed_faces, shared_faces; /* shared: with two surfaces */
  PetscInt           contact_faces;             /* places where bodies touch walls or each other */
  PetscInt           unseen_bodies;             /* without a mixed face: the fluid does not feel them */
  PetscInt           inexact_bodies;            /* whose fluid mass could not be balanced */
  PetscInt worst_component, worst_body; /* of a solve that failed: where the residual is; -1: nowhere */
  char     message[256];                /* then: where it failed and what to change; else empty */
} CouplingReport;

/* Solves (5.13). `velocity` (u*, faces) becomes u on all owned faces; `impulse` (Delta t times the pressure,
   a cell field) is the first guess and the answer, without ghosts; `twists` (velocity and spin of every body,
   on all ranks) are V* of free bodies and become V. A solve that fails leaves all three as they were, and
   says why. Collective: world. */
PetscErrorCode CouplingSolve(Coupling coupling, Vec velocity[MILLRACE_DIM], Vec impulse, PetscReal twists[],
                             CouplingReport *report);
/* The same with the velocities of all bodies given (F2): a plain Poisson solve. Collective: world. */
PetscErrorCode CouplingProject(Coupling coupling, Vec velocity[MILLRACE_DIM], Vec impulse,
                               const PetscReal twists[], CouplingReport *report);
/* The impulse and its moment (about the position) that the pressure gives every body, less what it takes to
   carry along the fluid that moves with it: u* and u of the solve, null without that. Collective: world. */
typedef struct {
  Vec             *before, *after;
  const PetscReal *twists; /* V of the solve, of all bodies */
} SolvedFaces;
PetscErrorCode CouplingGetImpulses(Coupling coupling, Vec impulse, const SolvedFaces *faces,
                                   PetscReal impulses[]);

/* Momentum, and angular momentum about the origin, of what the system moves: free bodies and the fluid of
   fluid and mixed faces, with its velocity taken at their centres. From CouplingSetFluid until the next
   placing. Collective: world. */
PetscErrorCode CouplingGetMomentum(Coupling coupling, Vec velocity[MILLRACE_DIM], const PetscReal twists[],
                                   PetscReal momentum[2 * MILLRACE_DIM]);
/* Adds this rank's part of it, that of bodies on the first rank; without velocity, of bodies alone. Not
   collective. */
PetscErrorCode CouplingAddMomentum(Coupling coupling, Vec velocity[MILLRACE_DIM], const PetscReal twists[],
                                   PetscReal momentum[2 * MILLRACE_DIM]);

/* Of what fluid and bodies together fill, the largest over the cells that have a pressure, 1/s. Collective:
   fluid. */
PetscErrorCode CouplingGetDivergence(Coupling coupling, Vec velocity[MILLRACE_DIM], const PetscReal twists[],
                                     PetscReal *largest);
/* An estimate of the fluid that moves with a free body. From CouplingSetFluid on, on every rank. */
AddedMass coupling_added_mass(Coupling coupling, PetscInt body);
/* The bodies' part of a velocity field: on faces inside them, and of those that move with them. Limited:
   inside those of less than a tenth of the fluid's density at most what is fastest outside. `vertices` of
   surfaces that deform: by their numbers in the viscous solve, behind the twists; null: the velocities that
   the last solution gave them. Collective: fluid. */
typedef enum { FILL_WHOLE, FILL_LIMITED } FillLimit;
PetscErrorCode CouplingFillFaces(Coupling coupling, const PetscReal twists[], const PetscReal vertices[],
                                 FillLimit limit, Vec velocity[MILLRACE_DIM]);
/* Copies velocities inside of those bodies. Not collective. */
PetscErrorCode CouplingCopyInFeathers(Coupling coupling, Vec from[MILLRACE_DIM], Vec to[MILLRACE_DIM]);
/* The constrained faces of the viscous solve, for solids with these `velocities` (borrowed): twists of all
   bodies, behind them those of vertices. Lent until the next CouplingSetFluid. Collective: fluid. */
PetscErrorCode CouplingGetConstraints(Coupling coupling, PetscReal velocities[],
                                      const FaceConstraints **constraints);
/* The shells at the last two placings, `dt` apart, or still: at the last one, as if they had not moved, and
   then `dt` counts for nothing. Lent until the next placing. Null without shells. Collective: fluid. */
typedef enum { SHELLS_STILL, SHELLS_MOVED } ShellPlacing;
PetscErrorCode CouplingGetVisibility(Coupling coupling, ShellPlacing motion, PetscReal dt,
                                     const Visibility **visibility);

/* Mixed faces have finite masses, open parts between 0 and 1 and bodies whose weights are parts of a whole;
   an error otherwise. Not collective. */
PetscErrorCode CouplingCheck(Coupling coupling);

/* What a face or cell is, on the fluid team; lent until the next CouplingSetFluid. */
enum { COUPLED_FLUID = -1, COUPLED_GIVEN = -2, COUPLED_SOLID = -3 };   /* of a face; mixed: 0 or more */
const PetscInt *coupling_faces(Coupling coupling, PetscInt direction); /* by local index, owned ones */
const PetscInt *coupling_solid_cells(Coupling coupling); /* 0, or 1 + body; with one ghost layer */
/* The part of each cell, with two layers of ghosts, that bodies leave free, from their triangles; shells take
   none. From a placing on. Collective: fluid. */
PetscErrorCode CouplingGetFreeParts(Coupling coupling, Vec parts);

MILLRACE_API_END

#endif
