/* The Poisson solver: private to src/grid. */
#ifndef MILLRACE_POISSON_IMPL_H
#define MILLRACE_POISSON_IMPL_H

#include "multigrid_impl.h"

/* Which cells hang together through weighted faces. Numbers follow the smallest cell of each component, so
   they are the same on any number of ranks. */
typedef struct {
  PetscInt   count;
  PetscInt   sealed;    /* how many touch no p = 0 */
  int       *label;     /* of owned cells, tightly; -1 outside the problem */
  PetscBool *is_sealed; /* of each component */
  PetscReal *cells;     /* of each component, on all ranks */
} Components;

/* `weights` on `box` need one valid ghost layer. Collective: box->comm. */
PetscErrorCode ComponentsFind(const GridBox *box, PetscReal *const weights[DIM], Components *components);
PetscErrorCode ComponentsDestroy(Components *components);
/* Subtracts the mean over each sealed component. Collective: comm. */
PetscErrorCode ComponentsProject(const Components *components, MPI_Comm comm, PetscInt cells,
                                 PetscReal *values);

struct _p_Poisson {
  MacGrid      grid; /* borrowed */
  GridBox      box;  /* the grid's, with one ghost layer */
  PetscReal   *weights[DIM];
  PetscReal   *ghosts; /* on `box`: holds the outermost owned cells and the ghosts of the operand */
  PetscReal   *row;    /* one row with its ends */
  Components   components;
  Multigrid    multigrid;
  KSP          ksp;
  Mat          operator;  /* matrix-free */
  Mat          assembled; /* null unless the preconditioner needs it */
  MatNullSpace null_space;
  Vec          right_side, solution;
};

/* stencil.c: y = A x, both tightly */
PetscErrorCode PoissonMultiply(Poisson poisson, const PetscReal *x, PetscReal *y);

/* assembled.c: a matrix of the same operator, with the identity outside the problem */
PetscErrorCode PoissonAssemble(Poisson poisson, Mat *matrix);

#endif
