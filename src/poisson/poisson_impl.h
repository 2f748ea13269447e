/* The Poisson solver: private to src/poisson. */
#ifndef MILLRACE_POISSON_IMPL_H
#define MILLRACE_POISSON_IMPL_H

#include "multigrid_impl.h"

#include <millrace/sums.h>

/* Cells of one row that follow each other. */
typedef struct {
  int first; /* among the owned cells */
  int length;
  int component;
} CellRun;

/* Which cells hang together through weighted faces. Numbers follow the smallest cell of each component, so
   they are the same on any number of ranks. */
typedef struct {
  PetscInt   count;
  PetscInt   singular_count; /* how many touch no p = 0 */
  PetscInt   run_count;
  CellRun   *runs;        /* all owned cells that are part of the problem, in order */
  PetscBool *is_singular; /* of each component */
  PetscReal *cells;       /* of each component, on all ranks */
} Components;

/* `weights` and `fixed` (or null) on `box` need valid ghosts. Collective: box->comm. */
PetscErrorCode ComponentsFind(const GridBox *box, float *const weights[DIM], const float *fixed,
                              Components *components);
PetscErrorCode ComponentsDestroy(Components *components);
/* The sums of values over each component; the same, made to vanish over each singular one. Collective: comm.
 */
PetscErrorCode ComponentsSum(const Components *components, MPI_Comm comm, const PetscReal *values,
                             PetscReal sums[]);
PetscErrorCode ComponentsProject(const Components *components, MPI_Comm comm, PetscReal *values);
void           components_clear_outside(const Components *components, PetscInt cells, PetscReal *values);

struct _p_Poisson {
  MacGrid      grid;         /* borrowed */
  GridBox      box;          /* the grid's, as the multigrid lays it out */
  float       *weights[DIM]; /* on `box`, with ghosts */
  float       *fixed;        /* on `box`, with ghosts: positive where p = 0; null without such cells */
  GridBox      operand_box;  /* the same with one ghost layer */
  PetscReal   *ghosts;       /* on `operand_box`: outermost owned cells and ghosts of the operand */
  PetscReal   *exact[DIM];   /* weights on `operand_box`; null when rounding them changes nothing */
  PetscReal   *row;          /* one row with its ends */
  PetscBool    ready;        /* weights are set */
  Components   components;
  Multigrid    multigrid; /* null when another preconditioner is chosen */
  KSP          ksp;
  Mat          operator;  /* matrix-free */
  Mat          assembled; /* null unless the preconditioner needs it */
  MatNullSpace null_space;
  Vec          right_side, solution, work;
};

/* weights.c: takes over the weights, rounded and, where that changes them, exactly */
PetscErrorCode PoissonTakeWeights(Poisson poisson, Vec weights[DIM]);
PetscErrorCode PoissonTakeFixed(Poisson poisson, Vec fixed);
/* Fixes all cells but those whose state, one per owned cell, is `unknown`. */
PetscErrorCode PoissonFix(Poisson poisson, const unsigned char states[], unsigned char unknown);

/* poisson.c: components and preconditioner of the weights and fixed cells that were taken */
PetscErrorCode PoissonBuild(Poisson poisson);

/* Cells of a row that follow each other; `first` is among the owned ones. */
typedef struct {
  PetscInt j, k, first, length;
} RowRange;

/* stencil.c: y = A x, both tightly; the same for some ranges of cells only */
PetscErrorCode PoissonMultiply(Poisson poisson, const PetscReal *x, PetscReal *y);
PetscErrorCode PoissonMultiplyRanges(Poisson poisson, PetscInt count, const RowRange ranges[],
                                     const PetscReal *x, PetscReal *y);

/* assembled.c: a matrix of the same operator, with the identity outside the problem */
PetscErrorCode PoissonAssemble(Poisson poisson, Mat *matrix);

#endif
