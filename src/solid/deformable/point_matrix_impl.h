/* Private to point_matrix*.c. A block is a point, or the velocity or the spin of a body: of the n-th body
   that of number points->count + 2 n, or one more.

   Of the symmetric matrix the entries (row, column) with row <= column are there, on the ranks that multiply
   by them: those of own points with all columns, of copies of other points with columns of own points, and
   of bodies, on every rank, with columns of bodies. So a product has at own points the terms and the order
   that it has on one rank. */
#ifndef MILLRACE_SOLID_POINT_MATRIX_IMPL_H
#define MILLRACE_SOLID_POINT_MATRIX_IMPL_H

#include "distribution.h"
#include "point_matrix.h"

enum { BLOCK = DIM * DIM };

/* What a point moves with: the velocity of a block, or the spin of a body at an arm. */
typedef struct {
  PetscInt  block, point; /* the point is itself, or a parent */
  PetscReal weight;
  PetscBool is_spin;
} MatrixFooting;
enum { MOST_FOOTINGS = 64 };
PetscInt matrix_footings(PointMatrix matrix, const Points *points, PetscInt p, MatrixFooting footings[]);
/* From the unknowns of a footing to the velocity of the point: 1, or the cross product with its arm. */
Matrix3 footing_matrix(Solid solid, const MatrixFooting *footing);

/* Elements of one force. */
typedef struct {
  const Force *force; /* borrowed */

  const SolidMaterialConfig *material; /* borrowed */

  ElementList list;
  PetscBool   is_planar;
  PetscInt   *places; /* of each pair of nodes: its entry; -1: none; CARRIED in the first: other points or
                         bodies carry a node */
} MatrixTerm;

/* The whole matrix, for factors and multigrid: rows of own points on each rank, those of bodies on the last.
 */
typedef struct {
  PetscInt  own;    /* numbers of this rank */
  PetscInt *number; /* of every block; -1: another moves it */
  Mat       mat;
  Vec       from, to;
  KSP       ksp;
  PetscInt  solver;  /* ElasticSolver that the ksp is set up for; -1: none */
  PetscInt  version; /* of its values */
} WholeMatrix;

struct _p_PointMatrix {
  PetscInt  point_count, block_count;
  PetscInt  unknown_count;       /* blocks of all ranks */
  PetscInt  body_count, *bodies; /* with two blocks each */
  PetscBool is_added;            /* masses may be added to bound points */
  PetscInt  pair_count;
  PetscInt (*pairs)[2]; /* of a point and a free body in contact */
  PetscInt         contact_count;
  RelativePlace   *contacts; /* between points that no element joins */
  PetscInt         row_count, *rows;
  PetscInt         body_row;      /* the first of bodies */
  PetscInt        *row;           /* of every block; -1: it has none here */
  PetscInt        *first;         /* entry of each row */
  PetscInt        *first_on_body; /* the same, with a column of a body */
  PetscInt        *column;        /* sorted in each row */
  PetscInt         term_count;
  MatrixTerm      *terms;
  PetscReal       *values; /* BLOCK of each entry, by rows */
  ReproducibleSum *sums;   /* of elements, for entries of rows of bodies */
  PetscReal        tolerance;
  PetscInt         version; /* of the values: how often they were changed */

  PetscInt    inverted; /* the version of the inverses */
  PetscReal  *inverses; /* of the diagonal: BLOCK of each row; of bodies the factors of both blocks */
  SolidMotion residual, search, image, step;
  WholeMatrix whole;
  KSP         stiffened; /* A + J^T J, or null */
};

static inline PetscBool is_body_block(PointMatrix matrix, PetscInt block)
{
  return block >= matrix->point_count ? PETSC_TRUE : PETSC_FALSE;
}
static inline PetscInt nth_body_block(PointMatrix matrix, PetscInt n)
{
  return matrix->point_count + 2 * n;
}
/* Of velocities or impulses. */
static inline PetscReal *block_of(PointMatrix matrix, const SolidMotion *motion, PetscInt block)
{
  const PetscInt n = block - matrix->point_count;

  if (n < 0)
    return motion->points[block].at;
  return n % 2 ? motion->bodies[matrix->bodies[n / 2]].angular.at
               : motion->bodies[matrix->bodies[n / 2]].linear.at;
}

/* -1: there is no such entry here. */
PetscInt matrix_entry(PointMatrix matrix, PetscInt row, PetscInt column);

PetscErrorCode PointMatrixDestroySolver(PointMatrix matrix);

/* The whole matrix gets the values that there are; between its vectors and motions. */
PetscErrorCode WholeMatrixSet(PointMatrix matrix, Solid solid);
PetscErrorCode WholeMatrixPack(PointMatrix matrix, Solid solid, const SolidMotion *motion, Vec vec);
PetscErrorCode WholeMatrixUnpack(PointMatrix matrix, Solid solid, Vec vec, SolidMotion *motion);
/* CHOLMOD where PETSc has it, which knows one rank, MUMPS, or PETSc's own, with the whole matrix on every
   rank. A matrix without a factor is an answer here, and an error of CHOLMOD's. Then the solver is no more.
 */
PetscErrorCode MatrixSetFactor(Mat mat, PC pc);
PetscErrorCode MatrixSetUpSolver(KSP *ksp, PetscBool *good);

#endif
