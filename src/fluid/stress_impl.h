/* The viscous operator of a mixture: private to src/fluid. */
#ifndef MILLRACE_STRESS_IMPL_H
#define MILLRACE_STRESS_IMPL_H

#include "fluid_impl.h"

#include <millrace/constrained_faces.h>

enum { STRESS_LEVELS_MAX = 16 };

/* In every unknown face  density u - dt div viscosity (grad u + grad u^T), per unit volume; zero elsewhere.
   One level for each grid, each half as fine as the one before. */
typedef struct {
  MacGrid   grid;        /* the finest is borrowed */
  PetscBool is_gathered; /* each rank has the whole of it, and a part of the finer one */
  GridRange range[DIM];
  Vec       mass[DIM]; /* on faces: density, half of it on an open side; where the face is no unknown, 0, or
                          negative if something holds it */
  Vec normal;          /* in cells: 2 dt viscosity / h^2; 0 beyond the sides */
  Vec shear[DIM];      /* on edges along d: dt viscosity / h^2; 0 where no shear passes */
  Vec inverse[DIM];    /* of the diagonal; 0 where the face is no unknown */
  Vec image[DIM];      /* zero where nothing is unknown */
  Vec solution[DIM], residual[DIM], change[DIM]; /* of the multigrid; null where there is none */
} StressLevel;

/* The bodies' part in a V-cycle, on its finest level; null without constrained faces or a multigrid. */
typedef struct {
  PetscInt face;
  SolidRow row;
} SolidFace;
typedef struct {
  PetscReal *solution, *change, *residual, *image;
  PetscInt   face_count[DIM], face_room[DIM];
  SolidFace *faces[DIM]; /* on and beside their surfaces */
  PetscReal *fit;        /* Cholesky's factors, of W^T W + M_S/s */
} SolidCycle;

/* The solids' part in the conjugate gradients, the same on all ranks; masses and impulses over the volume of
   a cell. Null without constrained faces. */
typedef struct {
  PetscInt          count; /* of unknowns */
  PetscInt          block_count;
  const SolidBlock *blocks;                            /* borrowed */
  PetscInt         *block_of;                          /* of each unknown */
  PetscReal       *before, *residual, *search, *image; /* `before` the solve; `image` has room for one more */
  PetscInt        *first_factor;                       /* of each block, and one past the last */
  PetscReal       *factor;            /* Cholesky's, of each block's part in the preconditioner */
  ReproducibleSum *sums;              /* scratch, as many as `factor`, or one more than unknowns */
  PetscReal       *lags[DIM];         /* of each constrained face: the face before less the body */
  PetscReal       *shares[DIM];       /* of its fluid, that viscosity reaches in the step */
  PetscReal *reach[DIM], *loose[DIM]; /* the same of each neighbour, and the velocity of its face before */
  PetscReal *wall_neighbours[DIM], *edge_pairs[DIM], *separated_pairs[DIM]; /* coefficients */
  Vec        mass[DIM]; /* of the closed operator, on constrained faces too */
  SolidCycle cycle;
} SolidUnknowns;

struct _p_Stress {
  PetscInt    created;     /* levels that exist */
  PetscBool   is_complete; /* there can be no more */
  PetscInt    count;       /* levels in use: one while the multigrid is not needed */
  StressLevel levels[STRESS_LEVELS_MAX];
  Vec         residual[DIM], search[DIM]; /* of the conjugate gradients */
  Vec         pull[DIM]; /* momentum that given stresses give faces in the step, over the volume of a cell;
                            null until needed */
  PetscBool     pulls;   /* solids, in the solve to come */
  SolidUnknowns unknowns;
};

/* stress_coefficients.c */
/* The finest level, for steps of `dt`; creates what is not there. Collective: fluid. */
PetscErrorCode FluidSetUpStress(Fluid fluid, PetscReal dt);
/* Leaves the operator on values that are zero on and beyond all sides and in obstacles: what these hold
   counts in the edges and faces beside them. FluidSetUpStress takes that back. */
PetscErrorCode FluidCloseStress(Fluid fluid);
/* The edge that a face of direction d shares with a place inside an obstacle: its direction and index. */
PetscInt no_slip_edge(const GridBox *box, PetscInt d, NoSlipPair pair, PetscInt *edge);
/* The diagonal's inverse, but for what sides and obstacles add to `mass`. */
PetscErrorCode StressLevelSetInverse(StressLevel *level);
PetscErrorCode StressLevelCreate(MacGrid grid, StressLevel *level);
PetscErrorCode StressLevelDestroy(StressLevel *level);

/* stress.c: result = take * mass * from - share * (div stress), given ghosts of `from`; from * result is
   added to `product`. That of the fluid knows obstacles whose surface lies half-way. */
typedef struct {
  PetscReal take, share;
} StressMix;
PetscErrorCode StressLevelApply(const StressLevel *level, const StressMix *mix, Vec from[DIM],
                                Vec result[DIM], ReproducibleSum *product);
PetscErrorCode FluidApplyStress(Fluid fluid, const StressMix *mix, Vec from[DIM], Vec result[DIM]);

/* What the conjugate gradients do with all unknowns, see stress.c. */
typedef enum { TAKE, MEASURE, ADVANCE, MEET, TURN } StressWork;

/* constrained_faces.c: the part of the bodies in that; gives what they add to its sum. */
PetscReal      unknowns_work(Fluid fluid, StressWork work, PetscReal coefficient);
PetscErrorCode FluidStartConstraints(Fluid fluid,
                                     Vec   faces[DIM]); /* constrained faces move with their bodies */
PetscErrorCode FluidBeginConstraints(Fluid fluid,
                                     Vec   faces[DIM]); /* the first residual, from that of the faces */
/* Before and after the operator on the search direction: constrained faces move with solids, and `level`, a
   copy of the finest one, has them among its unknowns. */
PetscErrorCode FluidConstrainFaces(Fluid fluid, const PetscReal velocities[], Vec faces[DIM],
                                   StressLevel *level);
PetscErrorCode FluidApplyConstraints(Fluid fluid, const ReproducibleSum *product, PetscReal *curvature);
/* to = mass from, over the volume of a cell; zero unless the block is free. */
void           solid_apply_mass(Fluid fluid, const SolidBlock *block, const PetscReal *from, PetscReal *to);
PetscErrorCode FluidFinishConstraints(Fluid fluid, Vec faces[DIM]);
PetscErrorCode SolidUnknownsDestroy(SolidUnknowns *unknowns);

/* stress_constraints.c */
PetscErrorCode FluidWeighConstraints(Fluid fluid); /* open parts in the masses; coefficients at surfaces */
/* Constrained faces are held on the finest level; the bodies' part in the preconditioner. */
PetscErrorCode FluidCloseConstraints(Fluid fluid);
PetscErrorCode FluidInvertConstraints(Fluid fluid); /* once the finest level is closed */
/* Adds to `image` what surfaces do to faces, to `product` that times from, and to `forces`
   what all of `image` does to bodies, `share` times. Constrained faces are then zero. */
typedef struct {
  PetscReal        share;
  const PetscReal *velocities; /* of the solids, that belong to `from` */
  ReproducibleSum  product;
  ReproducibleSum *forces;
} Pull;
/* The part of  factor row^T row  within blocks, lower triangles, to `sums`. */
void           unknowns_add_block(const SolidUnknowns *unknowns, PetscReal factor, const SolidRow *row);
void           row_add_force(const SolidRow *row, PetscReal force, ReproducibleSum forces[]);
PetscErrorCode FluidPullConstraints(Fluid fluid, Pull *pull, Vec from[DIM], Vec image[DIM]);

/* stress_levels.c */
/* Coarser levels below a closed finest one. Collective: fluid. */
PetscErrorCode FluidSetUpStressLevels(Fluid fluid);
/* coarse->residual from fine->residual; fine->change from coarse->solution. */
PetscErrorCode FluidRestrictStress(Fluid fluid, StressLevel *fine, StressLevel *coarse);
PetscErrorCode FluidInterpolateStress(Fluid fluid, StressLevel *fine, StressLevel *coarse);

/* stress_bodies.c: bodies that move freely in the V-cycle, on its finest level. */
/* `masses` of that level, with those of the bodies on their faces. */
PetscErrorCode FluidStartSolidCycle(Fluid fluid, Vec masses[DIM]);
PetscErrorCode SolidCycleDestroy(SolidCycle *cycle);
PetscBool      cycle_has_block(const SolidUnknowns *unknowns, PetscInt block);
PetscErrorCode FluidClearSolidCycle(Fluid fluid); /* with the residual of the conjugate gradients */
/* change = keep * change + add * residual / diagonal, solution += change. */
void           solid_cycle_turn(SolidUnknowns *unknowns, PetscReal keep, PetscReal add);
PetscErrorCode FluidApplySolidCycle(Fluid fluid); /* image = A change; the solids' residual less theirs */
/* As FluidRestrictStress and FluidInterpolateStress for the finest level, with the bodies. */
PetscErrorCode FluidRestrictSolids(Fluid fluid, StressLevel *coarse);
PetscErrorCode FluidInterpolateSolids(Fluid fluid, StressLevel *coarse);

/* stress_cycle.c: one V-cycle on the finest level, from its `residual` to its `solution`. */
PetscErrorCode FluidCycleStress(Fluid fluid);

#endif
