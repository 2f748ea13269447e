#ifndef MILLRACE_GRID_IMPL_H
#define MILLRACE_GRID_IMPL_H

#include <millrace/grid.h>

/* A rank's ghost layers reach its direct neighbours only, and never the upper faces of a side it does not
 * touch. */
enum { LEAST_CELLS_PER_RANK = GHOST_WIDTH + 1, MOST_CELLS_ALONG = 1000000 };

struct _p_MacGrid {
  MPI_Comm  comm; /* borrowed */
  Vector3   origin;
  PetscReal spacing;
  GridBox   box;
  DM        cell_dm;
};

PetscErrorCode GridBoxSetUp(MPI_Comm comm, const PetscInt cells[DIM], PetscInt dimension,
                            const PetscBool periodic[DIM], const GridPartition *partition, GridBox *box);
/* The faces between parts of equal size. */
PetscReal cut_area(const PetscInt cells[DIM], const PetscInt ranks[DIM]);

#endif
