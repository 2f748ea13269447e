/* A linear complementarity problem on the MAC grid: with the operator A of poisson.h,

     A p >= right side,   p >= lower,   and in every cell one of the two is an equality,

   which is the minimum of p.Ap/2 - p.(right side) over all p >= lower. A cell is free where p > lower, else
   active. Cells that are fixed, or have no weights, are as in poisson.h.

   Bodies that move with the pressure add B C B^T to A: six columns of B for each, and C = their block. */
#ifndef MILLRACE_BOUNDED_H
#define MILLRACE_BOUNDED_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/grid.h>

MILLRACE_API_BEGIN

typedef struct _p_Bounded *Bounded;

typedef enum { BOUNDED_MPRGP, BOUNDED_ACTIVE_SET, BOUNDED_THESIS } BoundedSolver;
extern const char *const BoundedSolvers[]; /* their names, and a null */

/* Of the norm of the projected gradient: the smaller of the first two, but no less than the third. */
typedef struct {
  PetscReal relative; /* to what drives: the right side where it pushes from the bound */
  PetscReal absolute; /* 0: none */
  PetscReal least;
} BoundedTolerance;

typedef struct {
  PetscBool  converged;
  PetscInt   iterations;                 /* products with A but for those of the start */
  PetscInt   cycles;                     /* of multigrid, or solves with incomplete factors */
  PetscInt   set_ups;                    /* of these on a new free set */
  PetscInt   expansions, proportionings; /* of mprgp; of active-set: changes of the set */
  PetscInt64 free_cells;
  PetscReal  residual; /* largest |min(p - lower, A p - right side)| */
  PetscInt   overfull; /* singular components whose right side is positive in the sum: no solution */
} BoundedReport;

/* Creates a problem without weights. `prefix` names the PETSc options of the multigrid's place, as in
   PoissonCreate. `grid` is borrowed. Collective: fluid. */
PetscErrorCode BoundedCreate(MacGrid grid, const char prefix[], BoundedSolver solver, Bounded *bounded);
PetscErrorCode BoundedDestroy(Bounded *bounded);
/* As PoissonSetWeights. Collective: fluid. */
PetscErrorCode BoundedSetWeights(Bounded bounded, Vec weights[MILLRACE_DIM], Vec fixed);
/* A cell of this rank, counted tightly, and its row of B for one body. */
typedef struct {
  PetscInt  cell, body;
  PetscReal row[TWIST];
} BodyRow;
typedef struct {
  PetscInt       body_count, row_count; /* bodies are the same on all ranks */
  const BodyRow *rows;
  const PetscReal (*blocks)[TWIST][TWIST]; /* symmetric, of each body; zero: it does not yield */
} BodyColumns;
/* Lent until they are replaced; null: there are none. After BoundedSetWeights. Collective: fluid. */
PetscErrorCode BoundedSetBodies(Bounded bounded, const BodyColumns *bodies);
/* sums = B^T of a pressure, six for each body; of zeros without bodies. Collective: fluid. */
PetscErrorCode BoundedSumOnBodies(Bounded bounded, Vec pressure, PetscReal sums[]);
/* Solves for `pressure`, first guess and answer, whose ghosts are not filled. `lower` (null: 0) may be
   PETSC_NINFINITY. A singular component that is overfull, or balanced, is solved as an equation whose right
   side has the mean removed, and its least distance to the bound is 0. Collective: fluid. */
PetscErrorCode BoundedSolve(Bounded bounded, Vec right_side, Vec lower, BoundedTolerance tolerance,
                            Vec pressure, BoundedReport *report);

MILLRACE_API_END

#endif
