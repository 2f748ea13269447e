/* The Poisson problem on the MAC grid,

     sum over the faces of a cell of  weight (p - p_neighbour) = right side,

   and its solver: conjugate gradients with a geometric multigrid.

   The weights (>= 0; area over distance and density, scaled so that a full inner face of density one weighs
   1) are a face field: zero seals a face, and a weight on a face of an open side joins the cell to p = 0
   beyond. A cell for which `fixed` is positive holds p = 0: it is no unknown, and weights on its faces join
   its neighbours to that zero. Cells without any weight are not part of the problem and keep p = 0. */
#ifndef MILLRACE_POISSON_H
#define MILLRACE_POISSON_H

#include <millrace/api.h>
#include <millrace/grid.h>
#include <petscksp.h>

MILLRACE_API_BEGIN

typedef struct _p_Poisson *Poisson;

typedef struct {
  KSPConvergedReason reason;
  PetscInt           iterations;
  PetscReal          residual;     /* true, relative to the right side */
  PetscInt           components;   /* of the cells, joined through weighted faces */
  PetscInt           null_vectors; /* components that touch no p = 0: one null vector each */
} PoissonReport;

/* Creates a problem without weights. `prefix` names its PETSc options: "pressure_" gives -pressure_pc_type
   and so on. `grid` is borrowed. Collective: fluid. */
PetscErrorCode PoissonCreate(MacGrid grid, const char prefix[], Poisson *poisson);
/* Frees the problem and its solver; null is allowed. Collective: fluid. */
PetscErrorCode PoissonDestroy(Poisson *poisson);

/* Copies the weights (owned faces, the upper ones of the box included) and `fixed` (a cell field, or null),
   finds the components and builds the multigrid; to be called again when they change. Collective: fluid. */
PetscErrorCode PoissonSetWeights(Poisson poisson, Vec weights[MILLRACE_DIM], Vec fixed);
/* The relative residual at which PoissonSolve ends; 1e-8 before the first call. Not collective, but the
   same on all ranks. */
PetscErrorCode PoissonSetTolerance(Poisson poisson, PetscReal relative);

/* Solves for `pressure`, first guess and answer, whose ghosts are not filled. The mean of the right side
   over each singular component is removed, and the answer has zero mean there. A solve that does not converge
   is told in `report`, not by an error. Collective: fluid. */
PetscErrorCode PoissonSolve(Poisson poisson, Vec right_side, Vec pressure, PoissonReport *report);
/* y = A x on cell fields. Collective: fluid. */
PetscErrorCode PoissonApply(Poisson poisson, Vec x, Vec y);

/* The parts of the problem, for solvers of larger systems that contain it. Vectors are those of the solver
   (grid_cell_dm), zero outside the problem; weights must be set before. */

/* y = A x. Collective: fluid. */
PetscErrorCode PoissonMultiplyVector(Poisson poisson, Vec x, Vec y);
/* One multigrid cycle from zero, or the preconditioner that the options name: linear and symmetric.
   Collective: fluid. */
PetscErrorCode PoissonCycle(Poisson poisson, Vec right_side, Vec solution);
/* Sets the cells that are not part of the problem to zero. Not collective. */
PetscErrorCode PoissonClearOutside(Poisson poisson, Vec vector);

/* Components of the cells, joined through weighted faces; their numbers do not depend on the ranks. */
typedef struct {
  PetscInt         count;
  const PetscBool *is_singular; /* touches no p = 0 */
  const PetscReal *cells;       /* how many, on all ranks */
} PoissonComponents;

/* Borrowed until the weights are set again. */
PoissonComponents poisson_components(Poisson poisson);
/* The component of every owned cell in the order of a solver vector, -1 outside the problem. */
void poisson_label_cells(Poisson poisson, PetscInt labels[]);
/* The sum of a vector over each component, on all ranks. Collective: fluid. */
PetscErrorCode PoissonSumComponents(Poisson poisson, Vec vector, PetscReal sums[]);
/* Adds one number per component to a vector. Not collective. */
PetscErrorCode PoissonShiftComponents(Poisson poisson, const PetscReal shifts[], Vec vector);

MILLRACE_API_END

#endif
