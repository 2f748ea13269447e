/* C, the solids' part of the coupled system (5.13): an operator that belongs to the solids and that whoever
   couples them to something multiplies by and solves with (docs/numerics.md, section 14).

     C = added + scale (M + sum of factor x term)

   `added` is what the fluid adds, M are the masses by blocks of unknowns, terms are what a step takes
   implicitly: damping with the factor dt, stiffness with a part of dt^2. */
#ifndef MILLRACE_SOLID_SYSTEM_H
#define MILLRACE_SOLID_SYSTEM_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/solid_row.h>

MILLRACE_API_BEGIN

/* Six by six numbers between two blocks of unknowns, rows of `a` and columns of `b`; a block with fewer than
   six has the first ones, the others are zero. */
typedef struct {
  PetscInt  a, b;
  PetscReal block[SOLID_BLOCK_LENGTH * SOLID_BLOCK_LENGTH];
} BlockPair;

typedef struct {
  PetscInt   count, room;
  BlockPair *pairs; /* owned */
} BlockPairs;
/* The pair of two blocks, a new one zero; it may be there more than once until all are gathered. Not
   collective. */
PetscErrorCode BlockPairsFind(BlockPairs *list, PetscInt a, PetscInt b, BlockPair **pair);
/* Those of all ranks on all ranks, sorted, each once; equal ones are summed in the order of ranks.
   Collective: comm. */
PetscErrorCode BlockPairsGather(BlockPairs *list, MPI_Comm comm);

/* The factor of a symmetric matrix of `blocks` by `blocks`, which need not be positive: each pair on one side
   of the diagonal, or on it. Without room for round-off it is not regular. Destroy accepts null. Not
   collective. */
typedef struct _p_BlockFactor *BlockFactor;
PetscErrorCode                 BlockFactorCreate(PetscInt blocks, PetscInt count, const BlockPair pairs[],
                                                 BlockFactor *factor, PetscBool *is_regular);
PetscErrorCode                 BlockFactorDestroy(BlockFactor *factor);
PetscErrorCode                 BlockFactorSolve(BlockFactor factor, const PetscReal *from, PetscReal *to);

/* Symmetric: one of (a, b) and (b, a), and (a, a) with both its halves. */
typedef struct {
  PetscReal        factor;
  PetscInt         count;
  const BlockPair *pairs; /* borrowed */
} SolidTerm;

typedef struct {
  PetscInt          block_count;
  const SolidBlock *blocks; /* one after the other; their masses count, whether they are free or not */
  PetscReal         scale;
  const PetscReal  *added_diagonal; /* six by six of each block */
  BlockPairs        added_pairs;    /* a < b; the system takes them */
  PetscInt          term_count;
  const SolidTerm  *terms;
} SolidSystemParts;

/* On every rank alone, with all of it. Destroy accepts null. Not collective. */
typedef struct _p_SolidSystem *SolidSystem;
PetscErrorCode                 SolidSystemCreate(SolidSystem *system);
PetscErrorCode                 SolidSystemDestroy(SolidSystem *system);
/* Must be positive definite: the inverse is dense in small groups of blocks that have pairs, and a sparse
   factor in large ones. Not collective. */
PetscErrorCode SolidSystemSet(SolidSystem system, const SolidSystemParts *parts);

/* y = C x and to = C^-1 from, over all unknowns; `to` is another array than `from`. Not
   collective. */
PetscErrorCode SolidSystemMultiply(SolidSystem system, const PetscReal x[], PetscReal y[]);
PetscErrorCode SolidSystemSolve(SolidSystem system, const PetscReal from[], PetscReal to[]);
/* Linear, symmetric and positive definite, near to C^-1; so far that itself. Not collective. */
PetscErrorCode SolidSystemPrecondition(SolidSystem system, const PetscReal from[], PetscReal to[]);

/* Blocks whose part of the solution a rank needs: from now on SolidSystemSolveLocal leaves others alone, but
   for those in a group with them. Not collective. */
PetscErrorCode SolidSystemSetLocal(SolidSystem system, const char is_local[]);
PetscErrorCode SolidSystemSolveLocal(SolidSystem system, const PetscReal from[], PetscReal to[]);

/* Rows over the numbers of a surface: those of row r are first[r] to first[r + 1]. */
typedef struct {
  PetscInt         count;
  const PetscInt  *first, *numbers;
  const PetscReal *weights;
} SurfaceRows;

/* A solid whose surface is not that of bodies, as whoever couples it sees it, on the ranks that hold it: its
   unknowns, the velocities of its surface, three for each vertex, and C between them. All of its functions
   are called on every such rank at once.

     surface = R unknowns,  C V = right_side - R^T (forces on the surface)

   `added` are masses of fluid that moves with the surface, one for each of its numbers, in kg: C includes
   R^T added R from Prepare on, which comes before Solve and whenever they change. */
typedef struct {
  PetscInt unknown_count, surface_count; /* numbers on this rank */
  void    *context;
  PetscErrorCode (*Spread)(void *context, const PetscReal unknowns[], PetscReal surface[]);  /* R */
  PetscErrorCode (*Collect)(void *context, const PetscReal surface[], PetscReal unknowns[]); /* R^T */
  PetscErrorCode (*Prepare)(void *context, const PetscReal added[]);
  PetscErrorCode (*Solve)(void *context, const PetscReal from[], PetscReal to[]); /* C^-1, to round-off */
  /* Of shells that close a chamber: by how much a velocity of the surface makes what is behind it larger, in
     m^2 for each of its numbers, as the fluid sees it; zero elsewhere. With Prepare. Null: of no use. */
  PetscErrorCode (*TakeAreas)(void *context, const PetscReal areas[]);
  /* For preconditioners: C_s = C + R^T J^T J R, with rows J over the numbers of the surface. TakeRows after
     Prepare, whenever they change; Stiffen once C is that of the solve: `good` if J adds enough to C, and
     there is an inverse. Null: of no use. */
  PetscErrorCode (*TakeRows)(void *context, const SurfaceRows *rows);
  PetscErrorCode (*Stiffen)(void *context, PetscBool *good);
  PetscErrorCode (*SolveStiffened)(void *context, const PetscReal from[], PetscReal to[]);
  /* Of each vertex of the surface, in kg: what viscosity moves; zero: its velocity is given. Null: viscosity
     does not act on the surface. */
  const PetscReal *masses;
  const PetscReal *right_side; /* M V* and what else gives it momentum in the step; kg m/s */
  /* V has this besides what Solve finds: velocities that are given, or that constraints ask for, which Solve
     leaves out. To be read after Solve. Null: nothing. */
  const PetscReal *offset;
  PetscReal       *velocity;             /* V: of the unknowns, given or solved for */
  PetscErrorCode (*Keep)(void *context); /* after V was solved for; null: of no use */
} SolidOperator;

/* The matrix itself, lent until the next Set. */
typedef struct {
  PetscInt         block_count;
  const PetscReal *diagonal; /* six by six of each block */
  PetscInt         pair_count;
  const BlockPair *pairs; /* a < b */
} SolidSystemBlocks;
SolidSystemBlocks solid_system_blocks(SolidSystem system);

MILLRACE_API_END

#endif
