/* The parts of a Poisson problem, for those who build a larger system on it. Vectors are those of the solver
   (grid_cell_dm), zero outside the problem; weights must be set before. Collective: fluid. */
#ifndef MILLRACE_POISSON_H
#define MILLRACE_POISSON_H

#include <millrace/grid.h>

PetscErrorCode PoissonMultiplyVector(Poisson poisson, Vec x, Vec y); /* y = A x */
/* One multigrid cycle from zero, or whatever preconditioner the options name: linear and symmetric. */
PetscErrorCode PoissonCycle(Poisson poisson, Vec right_side, Vec solution);
PetscErrorCode PoissonClearOutside(Poisson poisson, Vec vector);

/* Components of the cells, joined through weighted faces; their numbers do not depend on the ranks. */
typedef struct {
  PetscInt         count;
  const PetscBool *is_sealed; /* touches no p = 0 */
  const PetscReal *cells;     /* how many, on all ranks */
} PoissonComponents;          /* borrowed until the weights are set again */
PoissonComponents poisson_components(Poisson poisson);
/* The component of every owned cell in the order of a solver vector, -1 outside the problem. */
void           poisson_label_cells(Poisson poisson, PetscInt labels[]);
PetscErrorCode PoissonSumComponents(Poisson poisson, Vec vector, PetscReal sums[]); /* on all ranks */
PetscErrorCode PoissonShiftComponents(Poisson poisson, const PetscReal shifts[], Vec vector);

#endif
