/* The part of a box of cells that a rank owns, how it lies in memory, and how its ghost layers travel. The
   fields of a MacGrid lie on one such box; solvers lay out boxes of their own over the same cells. */
#ifndef MILLRACE_GRID_BOX_H
#define MILLRACE_GRID_BOX_H

#include <millrace/api.h>
#include <millrace/base.h>

MILLRACE_API_BEGIN

/* The part of the box that a rank owns and how it lies in memory. */
typedef struct {
  PetscInt    dimension;
  PetscInt    cells[MILLRACE_DIM];                    /* of the whole box */
  PetscInt    start[MILLRACE_DIM], end[MILLRACE_DIM]; /* owned cells: start <= index < end */
  PetscBool   periodic[MILLRACE_DIM];
  PetscInt    ghost;                      /* layers beyond the owned ones */
  PetscInt    stride[MILLRACE_DIM];       /* of the flat index */
  PetscInt    length;                     /* of a local array */
  PetscInt    ranks[MILLRACE_DIM];        /* of the process grid */
  PetscMPIInt neighbour[MILLRACE_DIM][2]; /* MPI_PROC_NULL at a side that is not periodic */
  MPI_Comm    comm;                       /* borrowed */
} GridBox;

static inline PetscInt box_index(const GridBox *box, PetscInt i, PetscInt j, PetscInt k)
{
  const PetscInt ghost = box->ghost,
                 row = i - box->start[0] + ghost + (j - box->start[1] + ghost) * box->stride[1];

  return box->dimension == 2 ? row : row + (k - box->start[2] + ghost) * box->stride[2];
}

/* The inverse of box_index. */
static inline void box_at(const GridBox *box, PetscInt c, PetscInt at[MILLRACE_DIM])
{
  const PetscInt deep = box->dimension == 3 ? c / box->stride[2] : 0, in_slab = c - deep * box->stride[2];

  at[0] = in_slab % box->stride[1] - box->ghost + box->start[0];
  at[1] = in_slab / box->stride[1] - box->ghost + box->start[1];
  at[2] = box->dimension == 3 ? deep - box->ghost + box->start[2] : 0;
}

/* Number of a cell among the owned ones, x fastest: the order of solver vectors and of files. */
static inline PetscInt box_owned_number(const GridBox *box, PetscInt i, PetscInt j, PetscInt k)
{
  return i - box->start[0] +
         (box->end[0] - box->start[0]) *
             (j - box->start[1] + (box->end[1] - box->start[1]) * (k - box->start[2]));
}

/* Cells or faces of a box: start <= index < end. */
typedef struct {
  PetscInt start[MILLRACE_DIM], end[MILLRACE_DIM];
} GridRange;

/* The owned cells and `layers` of cells around them; none along z in two dimensions. */
static inline GridRange box_grown(const GridBox *box, PetscInt layers)
{
  GridRange range;

  for (PetscInt d = 0; d < MILLRACE_DIM; d++) {
    range.start[d] = box->start[d] - (d < box->dimension ? layers : 0);
    range.end[d] = box->end[d] + (d < box->dimension ? layers : 0);
  }
  return range;
}

/* All faces of the owned cells in one direction, the upper ones of a neighbour's cells included. */
static inline GridRange box_faces(const GridBox *box, PetscInt direction)
{
  GridRange range = box_grown(box, 0);

  range.end[direction]++;
  return range;
}

/* u -= factor weight (p - p_back) on a range of faces across `direction`, with p in cells, its ghosts valid;
   null weights are one. */
void box_subtract_gradient(const GridBox *box, const GridRange *faces, PetscInt direction, PetscReal factor,
                           const PetscReal *weights, const PetscReal *p, PetscReal *u);

/* The owned cells along a side and, in directions before that of the side, the ghosts beside them: where the
   layers beyond the sides, filled direction by direction, are mirrored. */
GridRange box_side_layer(const GridBox *box, PetscInt direction, PetscInt side);
/* Fills the ghosts beyond that layer with the mirror image of what lies inside. */
void box_mirror_side(const GridBox *box, PetscInt direction, PetscInt side, PetscReal *values);

/* The first cell of a part where `cells` are divided into `parts` of four at least: about equal, each from an
   even cell on, or from a multiple of a larger power of two where the parts have four such blocks; `cells`
   for the part after the last. */
PetscInt box_part_start(PetscInt cells, PetscInt parts, PetscInt part);

/* Divides a box among `size` ranks with the least area between them, four cells or more in every direction;
   `fits` is false where that cannot be. */
void box_process_grid(const PetscInt cells[MILLRACE_DIM], PetscInt dimension, PetscInt size,
                      PetscInt ranks[MILLRACE_DIM], PetscBool *fits);

/* How a box is divided: so many parts along each direction, the first cell of each, and behind the last the
   number of cells. */
typedef struct {
  PetscInt  parts[MILLRACE_DIM];
  PetscInt *start[MILLRACE_DIM];
} GridPartition;
/* In about equal parts, as above. Not collective. */
PetscErrorCode GridPartitionCreateEven(const PetscInt cells[MILLRACE_DIM], const PetscInt parts[MILLRACE_DIM],
                                       GridPartition *partition);
/* As it is. Collective: box->comm. */
PetscErrorCode GridPartitionCreateFrom(const GridBox *box, GridPartition *partition);
/* One among as many ranks in which the most that a rank has to do is about as small as it can be: the sum of
   `work`, of the owned cells of an array of the box (whole numbers), and something for what it exchanges.
   Parts begin at even cells. The same on all ranks, whatever the box is divided in now. Collective:
   box->comm. */
typedef struct {
  PetscReal mean, most, most_then; /* of what a rank has to do: now, and in the new partition */
} GridBalance;
PetscErrorCode GridPartitionBalance(const GridBox *box, const PetscReal work[], GridPartition *partition,
                                    GridBalance *balance);
/* Why a box of so many cells cannot be divided so among `size` ranks; null if it can. Not collective. */
const char *grid_partition_complaint(const PetscInt cells[MILLRACE_DIM], PetscInt dimension, PetscMPIInt size,
                                     const GridPartition *partition);
PetscErrorCode GridPartitionDestroy(GridPartition *partition);

/* Sets `stride` and `length` from `start`, `end` and `ghost`. */
void box_lay_out(GridBox *box);

/* Fills the ghost layers of `count` arrays at once, as MacGridExchange does. Collective: box->comm. */
PetscErrorCode GridBoxExchange(const GridBox *box, PetscInt count, PetscReal *const fields[]);
/* The same for values of any kind, `size` bytes each. Collective: box->comm. */
PetscErrorCode GridBoxExchangeBytes(const GridBox *box, PetscInt count, void *const values[], size_t size);
/* The transpose of GridBoxExchange: owners combine their values with the copies of them that ghosts hold,
   by MPI_MIN, MPI_MAX or MPI_SUM; the ghosts are then out of date. Collective: box->comm. */
PetscErrorCode GridBoxReduce(const GridBox *box, PetscInt count, PetscReal *const values[], MPI_Op operation);

MILLRACE_API_END

#endif
