/* The geometric multigrid behind the Poisson solver: private to src/poisson. */
#ifndef MILLRACE_MULTIGRID_IMPL_H
#define MILLRACE_MULTIGRID_IMPL_H

#include <millrace/poisson.h>

/* TRANSFER_GHOST: layers of a coarser solution that the interpolation needs */
enum { LEVELS_MAX = 32, LEVEL_GHOST = 3, TRANSFER_GHOST = 2, COARSEST_CELLS = 8, STENCIL_SLABS = 3 };

/* As VECTOR_CLONES, but sums of products are rounded as they are written. Which product of two is fused with
   the sum may change between the vectors of a loop and its last few cells, and then the ranks show. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) &&                 \
    !defined(__SANITIZE_ADDRESS__)
#define ROUNDED_CLONES                                                                                       \
  __attribute__((optimize("O3", "fp-contract=off"), target_clones("arch=x86-64-v3", "default")))
#else
#define ROUNDED_CLONES
#endif

/* What a cell takes from its parent (low half) and from the parent's neighbour on its side (high half), in
   units of 1/SHARE_ONE: half the memory of two floats, and far more exact than a cycle needs. */
typedef uint32_t Share;
enum { SHARE_ONE = 32768, SHARE_BITS = 16, SHARE_MASK = 65535 };
#define SHARE_UNIT (1. / SHARE_ONE)

KERNEL PetscReal share_own(Share share)
{
  return (int)(share & SHARE_MASK);
}
KERNEL PetscReal share_other(Share share)
{
  return (int)(share >> SHARE_BITS);
}

/* How the ranks divide a level: a part for each combination of parts along the directions. */
typedef struct {
  PetscInt     parts[DIM];
  PetscInt    *start[DIM]; /* first cell of each part, and the number of cells */
  PetscMPIInt *rank;       /* of each part, those along x fastest */
  PetscInt     mine[DIM];  /* this rank's part; -1: none */
} Partition;

/* The messages that take a level from one partition to another. */
typedef struct {
  PetscInt           send_count, receive_count;
  struct RouteBlock *sends, *receives;
} Route;

/* One grid of the hierarchy. Rows have an odd pitch, so that the colour of a cell is the parity of its flat
   index plus a constant of its slab. A slab is a plane in three dimensions, a row in two.

   Coefficients are rounded to single precision: the cycle then belongs to a slightly different operator, but
   stays exactly linear and symmetric, because vectors are in double precision. */
typedef struct {
  GridBox   box;       /* the part that is solved here */
  Partition partition; /* of `box` */
  PetscBool moved;     /* solved in other parts than those it arrives in */
  PetscBool idle;      /* moved, and this rank has no part: neither this level nor a coarser one is its own */
  PetscBool seam;      /* an odd period: cells of one colour meet across it */
  PetscBool borrows;   /* its weights belong to the caller */
  float    *weight[DIM];    /* of lower faces */
  float    *ground[DIM];    /* of owned cells to p = 0, by direction; null on the finest level, where these
                               weights lie on faces */
  PetscBool  grounded[DIM]; /* on any rank */
  PetscBool  has_fixed;     /* of the finest level: cells that hold p = 0 */
  float     *inverse;       /* of the diagonal; 0 outside the problem */
  GridBox    halved[DIM];   /* halved along the directions up to this one */
  Share     *share[DIM][2]; /* of the lower and the upper child along a direction, on `halved` */
  PetscReal *right_side;    /* ghosts valid on the way down and up */
  PetscReal *solution;      /* zero beyond the sides */
  PetscReal *residual;      /* of a seam only */
  PetscReal *slabs;         /* rolling slabs of the fused passes */
  GridBox    arrival_box;   /* where the right side arrives and the solution leaves: `box` unless moved */
  PetscReal *arrival;       /* `right_side`, or an array on `arrival_box` */
  PetscReal *departure;     /* `solution`, or an array on `arrival_box` */
  Route      arrive;        /* of a moved level, from `arrival_box` to `box` */
  Route      depart;        /* from `box` to `arrival_box` and its ghosts */
} Level;

struct _p_Multigrid {
  PetscInt  count;
  float    *scratch; /* of the set-up */
  size_t    scratch_size;
  Level     levels[LEVELS_MAX];
  PetscReal factor[COARSEST_CELLS][COARSEST_CELLS]; /* L D L^T of the coarsest level, inverse of D inside */
};
typedef struct _p_Multigrid *Multigrid;

/* `box` as box_lay_out_level leaves it. */
PetscErrorCode MultigridCreate(const GridBox *box, Multigrid *multigrid);
PetscErrorCode MultigridDestroy(Multigrid *multigrid);
/* `weights` lie on the box given to MultigridCreate, with all ghosts, and are borrowed; so does `fixed`,
   positive where p = 0, or null. */
PetscErrorCode MultigridSetWeights(Multigrid multigrid, float *const weights[DIM], const float *fixed);
/* One V-cycle from a zero guess; both arrays hold the owned cells, tightly. */
PetscErrorCode MultigridApply(Multigrid multigrid, const PetscReal *right_side, PetscReal *solution);

/* agglomeration.c: which ranks a level is on, and how it gets there */
/* As the ranks of a box share it. Collective: box->comm. */
PetscErrorCode PartitionCreate(const GridBox *box, Partition *partition);
PetscErrorCode PartitionHalve(const Partition *fine, Partition *coarse);
/* The parts in which a level of this box is solved: those it arrives in if each begins at an even cell and is
   wide enough, else others. */
PetscErrorCode PartitionAgglomerate(const GridBox *box, const Partition *arrival, Partition *solved,
                                    PetscBool *moved);
PetscErrorCode PartitionDestroy(Partition *partition);
PetscBool      partition_is_whole(const Partition *partition);
PetscBool      partition_has_mine(const Partition *partition);
/* `box` of the whole level becomes that of this rank's part. */
void partition_place(const Partition *partition, GridBox *box);
/* To parts with so many layers of ghosts, periodic images included. */
PetscErrorCode RouteCreate(const Partition *from, const GridBox *from_box, const Partition *to,
                           const GridBox *to_box, PetscInt ghost, Route *route);
PetscErrorCode RouteDestroy(Route *route);
/* Values of `size` bytes. Collective: the ranks of both partitions. */
PetscErrorCode RouteCarry(const Route *route, MPI_Comm comm, const void *from, void *to, size_t size);

/* level.c: life of a level and how its arrays travel */
PetscErrorCode LevelSetUp(Level *level, const GridBox *box, const Level *finer);
PetscErrorCode LevelDestroy(Level *level);
/* Ghosts of a box of the hierarchy, from neighbours and periodic images. */
PetscErrorCode BoxExchange(const GridBox *box, PetscReal *values);
/* The same for `count` arrays of coefficients at once. */
PetscErrorCode BoxExchangeRounded(const GridBox *box, PetscInt count, float *const values[]);
/* The two ghost layers of shares that the transfers need; a halved box may be no wider. */
PetscErrorCode BoxExchangeShares(const GridBox *box, Share *const shares[2]);
/* Makes room for the sibling that the last cell before a seam lacks, in the ghosts on either side of it, so
   that the cell beyond is the first child of its parent again. */
void box_part_seam(const GridBox *box, PetscInt d, void *values, size_t size);
/* Three ghost layers and rows of odd pitch. */
void box_lay_out_level(GridBox *box);
/* Completes a right side that has arrived: where it is solved, ghosts included. */
PetscErrorCode LevelArrive(Level *level);
/* The solution back to where it is interpolated, ghosts included. */
PetscErrorCode LevelDepart(Level *level);
GridBox        coarse_box(const GridBox *fine);
GridBox        halved_box(const GridBox *fine, PetscInt direction);

/* coefficients.c */
/* In which directions anything is joined to p = 0. */
PetscErrorCode FindGround(const GridBox *box, float *const weights[DIM], const float *fixed,
                          PetscBool grounded[DIM]);
/* Borrows the weights of the finest level. */
PetscErrorCode LevelTakeWeights(Level *level, float *const weights[DIM], const float *fixed);
/* From the weights and the ground of owned cells; completes the ghosts of all three. */
PetscErrorCode LevelSetInverse(Level *level, const float *fixed);
/* Room for the stages between a level and the next: kept, because new memory costs as much as they do. */
PetscErrorCode MultigridReserve(Multigrid multigrid);
/* The shares of a level, the weights of owned cells and the ground of the next coarser one. */
PetscErrorCode LevelCoarsen(Level *fine, Level *coarse, float *scratch);

/* halving.c: one direction at a time */
typedef struct {
  float *weight[DIM]; /* between unknowns */
  float *ground[DIM];
} Conductors;
PetscErrorCode LevelHalve(Level *level, PetscInt direction, const Conductors *from, Conductors *to);

/* coarsest.c */
void coarsest_factor(Multigrid multigrid);
void coarsest_solve(Multigrid multigrid);

/* transfer.c */
typedef enum { RED_CELLS, ALL_CELLS } Restricted;
/* Adds what coarse cells take from slab `k` of the residual; `scratch` has the size of a fine slab. */
void restrict_slab(const Level *fine, const PetscReal *residual, PetscInt k, Restricted which, Level *coarse,
                   PetscReal *scratch);
/* The coarser solution interpolated to slab `k`, still halved in the other directions. */
void interpolate_slab(const Level *fine, const Level *coarse, PetscInt k, PetscReal *halved_slab);
/* One row of that interpolated to row `j` of the slab, still halved along x; lent from `halved_slab` or
   `halved_row`. It starts LEVEL_GHOST cells before the owned ones. */
const PetscReal *interpolate_row(const Level *fine, const PetscReal *halved_slab, PetscInt j, PetscInt k,
                                 PetscReal *halved_row);

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
/* Of an index that may be below zero. */
static inline PetscInt half_of(PetscInt index)
{
  return (index + 2 * LEVEL_GHOST) / 2 - LEVEL_GHOST;
}
/* An odd number of cells before the next period: the last of them has no sibling. */
static inline PetscBool has_seam(const GridBox *box, PetscInt d)
{
  return box->periodic[d] && box->cells[d] % 2 ? PETSC_TRUE : PETSC_FALSE;
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
