/* The geometric multigrid behind the Poisson solver: private to src/grid. */
#ifndef MILLRACE_MULTIGRID_IMPL_H
#define MILLRACE_MULTIGRID_IMPL_H

#include <millrace/grid.h>

enum { LEVELS_MAX = 32, LEVEL_GHOST = 3, COARSEST_CELLS = 8, STENCIL_SLABS = 3 };

/* One grid of the hierarchy. Rows have an odd pitch, so that the colour of a cell is the parity of its flat
   index plus a constant of its slab. A slab is a plane in three dimensions, a row in two.

   Coefficients are rounded to single precision: the cycle then belongs to a slightly different operator, but
   stays exactly linear and symmetric, because vectors are in double precision. */
typedef struct {
  GridBox    box;                 /* solved here; the whole level on every rank when `serial` */
  PetscBool  serial;              /* no other rank is needed */
  PetscBool  gathered;            /* serial, below a level that is not */
  PetscBool  seam;                /* an odd period: cells of one colour meet across it */
  PetscBool  borrows;             /* its weights belong to the caller */
  float     *weight[DIM];         /* of lower faces */
  float     *inverse;             /* of the diagonal; 0 outside the problem */
  float     *spread;              /* scales what a cell takes from the coarser level; 0 outside the problem */
  float     *strength;            /* of cells as parents: root of the diagonal; null on the finest level */
  PetscReal *right_side;          /* ghosts valid on the way down and up */
  PetscReal *solution;            /* zero beyond the sides */
  PetscReal *residual;            /* of a seam only */
  PetscReal *slabs;               /* rolling slabs of the fused passes */
  GridBox    arrival_box;         /* where the right side arrives: `box`, or this rank's part of it */
  PetscReal *arrival;             /* `right_side`, or an array on `arrival_box` */
  PetscInt  *parts;               /* of gathered levels: start and end of every rank */
  PetscInt   ratio[DIM];          /* cells of this level per cell of the next, 1 or 2 */
  PetscReal *own_share[DIM];      /* what cell i takes from its parent; from -LEVEL_GHOST on */
  PetscReal *restriction[DIM][4]; /* of coarse cell I from cells ratio I - 1 ... ratio I + 2 */
} Level;

struct _p_Multigrid {
  PetscInt  count;
  Level     levels[LEVELS_MAX];
  PetscReal factor[COARSEST_CELLS][COARSEST_CELLS]; /* L D L^T of the coarsest level, inverse of D inside */
};
typedef struct _p_Multigrid *Multigrid;

/* `box` as box_lay_out_level leaves it. */
PetscErrorCode MultigridCreate(const GridBox *box, Multigrid *multigrid);
PetscErrorCode MultigridDestroy(Multigrid *multigrid);
/* `weights` lie on the box given to MultigridCreate, with all ghosts, and are borrowed. */
PetscErrorCode MultigridSetWeights(Multigrid multigrid, float *const weights[DIM]);
/* One V-cycle from a zero guess; both arrays hold the owned cells, tightly. */
PetscErrorCode MultigridApply(Multigrid multigrid, const PetscReal *right_side, PetscReal *solution);

/* level.c: life of a level and how its arrays travel */
PetscErrorCode LevelSetUp(Level *level, const GridBox *box, const Level *finer);
PetscErrorCode LevelSetUpTransfer(Level *level);
PetscErrorCode LevelDestroy(Level *level);
/* Ghosts of a box of the hierarchy, from neighbours and periodic images. */
PetscErrorCode BoxExchange(const GridBox *box, PetscReal *values);
/* The same for `count` arrays of coefficients at once. */
PetscErrorCode BoxExchangeRounded(const GridBox *box, PetscInt count, float *const values[]);
/* Three ghost layers and rows of odd pitch. */
void box_lay_out_level(GridBox *box);
/* Which cells travel when a level is gathered: those of faces reach one layer beyond the upper sides. */
typedef enum { GATHER_CELLS, GATHER_FACES } GatherKind;
PetscErrorCode LevelGather(const Level *level, GatherKind kind, PetscReal *values);
GridBox        coarse_box(const GridBox *fine);

/* coefficients.c */
/* Takes the weights of the finest level, lent or gathered. */
PetscErrorCode LevelTakeWeights(Level *level, float *const weights[DIM]);
/* From the weights of owned cells; completes the ghosts of both. */
PetscErrorCode LevelSetInverse(Level *level);
/* The weights of a coarser level, without their ghosts. */
PetscErrorCode LevelCoarsen(const Level *fine, Level *coarse);
PetscErrorCode LevelSetStrength(Level *level);
PetscErrorCode LevelSetSpread(Level *fine, Level *coarse);

/* coarsest.c */
void coarsest_factor(Multigrid multigrid);
void coarsest_solve(Multigrid multigrid);

/* transfer.c */
/* Adds what coarse cells take from slab `k` of the residual; `row` is scratch for one fine row. */
void restrict_slab(const Level *fine, const PetscReal *residual, PetscInt k, Level *coarse, PetscReal *row);
/* The coarser solution interpolated to slab `k`, still coarse in the other directions. */
void interpolate_slab(const Level *fine, const Level *coarse, PetscInt k, PetscReal *coarse_slab);
/* One row of that interpolated to row `j` of the slab, still coarse along x; lent from `coarse_slab` or
   `coarse_row`. */
const PetscReal *interpolate_row(const Level *fine, const Level *coarse, const PetscReal *coarse_slab,
                                 PetscInt j, PetscReal *coarse_row);

/* smoother.c */
/* Smooths once from a zero guess and restricts what is left. */
PetscErrorCode LevelDescend(Level *fine, Level *coarse);
/* Repeats that, adds the coarser solution and smooths in the opposite order; `solution` gets the owned cells
   tightly, or is null to leave them in `fine->solution`. */
PetscErrorCode LevelAscend(Level *fine, const Level *coarse, PetscReal *solution);

/* seam.c: the same for levels with a seam, one half-sweep at a time */
PetscErrorCode SeamDescend(Level *fine, Level *coarse);
PetscErrorCode SeamAscend(Level *fine, const Level *coarse);

static inline PetscInt slab_direction(const GridBox *box)
{
  return box->dimension - 1;
}
static inline PetscInt slab_size(const GridBox *box)
{
  return box->stride[box->dimension - 1];
}
static inline PetscInt owned_width(const GridBox *box, PetscInt d)
{
  return box->end[d] - box->start[d];
}
/* Rows of a slab, ghosts included. */
static inline PetscInt slab_rows(const GridBox *box)
{
  return box->dimension == 3 ? owned_width(box, Y) + 2 * box->ghost : 1;
}
static inline PetscInt slab_count(const GridBox *box)
{
  return owned_width(box, slab_direction(box)) + 2 * box->ghost;
}

#endif
