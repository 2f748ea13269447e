/* y = A x without a matrix, on the owned cells as solver vectors hold them.

   Only the outermost owned cells are copied, to be exchanged; all others are read where they are. */
#include "poisson_impl.h"

/* A row of x with its neighbours in the other directions; `x` has valid ends at -1 and width. */
typedef struct {
  const PetscReal *x, *y_low, *y_high, *z_low, *z_high;
} RowStencil;

/* The products of one row, for weights of either precision: `w` at the row's first cell, in three or two
   dimensions. */
#define DEFINE_MULTIPLY_ROW(name, Weight)                                                                    \
  VECTOR_CLONES static void name##_3d(PetscInt width, const RowStencil *row, const Weight *const w[DIM],     \
                                      const PetscInt stride[DIM], PetscReal *restrict result)                \
  {                                                                                                          \
    const PetscReal *restrict x = row->x, *restrict y_low = row->y_low, *restrict y_high = row->y_high;      \
    const PetscReal *restrict z_low = row->z_low, *restrict z_high = row->z_high;                            \
    const Weight *restrict wx = w[X], *restrict wy = w[Y], *restrict wz = w[Z];                              \
    const Weight *restrict wy_high = wy + stride[Y], *restrict wz_high = wz + stride[Z];                     \
                                                                                                             \
    for (PetscInt i = 0; i < width; i++)                                                                     \
      result[i] = (wx[i] * (x[i] - x[i - 1]) + wx[i + 1] * (x[i] - x[i + 1])) +                              \
                  (wy[i] * (x[i] - y_low[i]) + wy_high[i] * (x[i] - y_high[i])) +                            \
                  (wz[i] * (x[i] - z_low[i]) + wz_high[i] * (x[i] - z_high[i]));                             \
  }                                                                                                          \
  VECTOR_CLONES static void name##_2d(PetscInt width, const RowStencil *row, const Weight *const w[DIM],     \
                                      const PetscInt stride[DIM], PetscReal *restrict result)                \
  {                                                                                                          \
    const PetscReal *restrict x = row->x, *restrict y_low = row->y_low, *restrict y_high = row->y_high;      \
    const Weight *restrict wx = w[X], *restrict wy = w[Y], *restrict wy_high = wy + stride[Y];               \
                                                                                                             \
    for (PetscInt i = 0; i < width; i++)                                                                     \
      result[i] = (wx[i] * (x[i] - x[i - 1]) + wx[i + 1] * (x[i] - x[i + 1])) +                              \
                  (wy[i] * (x[i] - y_low[i]) + wy_high[i] * (x[i] - y_high[i]));                             \
  }

DEFINE_MULTIPLY_ROW(multiply_rounded, float)
DEFINE_MULTIPLY_ROW(multiply_exact, PetscReal)

/* From cell `at` on, of those of the box. */
static void multiply_row(Poisson poisson, const PetscInt at[DIM], PetscInt width, const RowStencil *row,
                         PetscReal *result)
{
  const GridBox *box = poisson->exact[X] ? &poisson->operand_box : &poisson->box;
  const PetscInt c = box_index(box, at[X], at[Y], at[Z]);

  if (poisson->exact[X]) {
    const PetscReal *w[DIM] = {poisson->exact[X] + c, poisson->exact[Y] + c, NULL};

    if (box->dimension == 3)
      w[Z] = poisson->exact[Z] + c;
    (box->dimension == 3 ? multiply_exact_3d : multiply_exact_2d)(width, row, w, box->stride, result);
  } else {
    const float *w[DIM] = {poisson->weights[X] + c, poisson->weights[Y] + c, NULL};

    if (box->dimension == 3)
      w[Z] = poisson->weights[Z] + c;
    (box->dimension == 3 ? multiply_rounded_3d : multiply_rounded_2d)(width, row, w, box->stride, result);
  }
}

static inline PetscInt tight_index(const GridBox *box, PetscInt j, PetscInt k)
{
  return ((k - box->start[Z]) * owned_width(box, Y) + (j - box->start[Y])) * owned_width(box, X);
}

static inline PetscBool is_outermost(const GridBox *box, PetscInt d, PetscInt index)
{
  return (index == box->start[d] && box->neighbour[d][0] != MPI_PROC_NULL) ||
         (index == box->end[d] - 1 && box->neighbour[d][1] != MPI_PROC_NULL);
}

/* Ghosts of x, from neighbours and periodic images; zero beyond the sides. */
static PetscErrorCode FillGhosts(Poisson poisson, const PetscReal *x)
{
  const GridBox  *box = &poisson->operand_box;
  const PetscBool ends = box->neighbour[X][0] != MPI_PROC_NULL || box->neighbour[X][1] != MPI_PROC_NULL;
  const PetscInt  width = owned_width(box, X);

  PetscFunctionBegin;
  FOR_ROWS(box, j, k) {
    const PetscReal *row = x + tight_index(box, j, k);
    PetscReal       *copy = poisson->ghosts + box_index(box, box->start[X], j, k);

    if (is_outermost(box, Y, j) || (box->dimension == 3 && is_outermost(box, Z, k)))
      memcpy(copy, row, width * sizeof(*row));
    else if (ends) {
      copy[0] = row[0];
      copy[width - 1] = row[width - 1];
    }
  }
  PetscCall(GridBoxExchange(box, 1, &poisson->ghosts));
  PetscFunctionReturn(0);
}

/* Row (j, k) of x, wherever it lies. */
static inline const PetscReal *row_of(const Poisson poisson, const PetscReal *x, PetscInt j, PetscInt k)
{
  const GridBox  *box = &poisson->operand_box;
  const PetscBool owned = j >= box->start[Y] && j < box->end[Y] && k >= box->start[Z] && k < box->end[Z];

  return owned ? x + tight_index(box, j, k) : poisson->ghosts + box_index(box, box->start[X], j, k);
}

/* What the ghosts of x have been filled for. */
static void multiply_range(Poisson poisson, const RowRange *range, const PetscReal *x, PetscReal *y)
{
  const GridBox *box = &poisson->operand_box;
  const PetscInt j = range->j, k = range->k, i = range->first - tight_index(box, j, k);
  const PetscInt c = box_index(box, box->start[X] + i, j, k), width = range->length;
  PetscReal     *middle = poisson->row + 1;
  RowStencil     row = {
          .x = middle, .y_low = row_of(poisson, x, j - 1, k) + i, .y_high = row_of(poisson, x, j + 1, k) + i};

  memcpy(middle, x + range->first, width * sizeof(*x));
  middle[-1] = i > 0 ? x[range->first - 1] : poisson->ghosts[c - 1];
  middle[width] = i + width < owned_width(box, X) ? x[range->first + width] : poisson->ghosts[c + width];
  if (box->dimension == 3) {
    row.z_low = row_of(poisson, x, j, k - 1) + i;
    row.z_high = row_of(poisson, x, j, k + 1) + i;
  }
  multiply_row(poisson, (PetscInt[DIM]){box->start[X] + i, j, k}, width, &row, y + range->first);
}

PetscErrorCode PoissonMultiplyRanges(Poisson poisson, PetscInt count, const RowRange ranges[],
                                     const PetscReal *x, PetscReal *y)
{
  PetscFunctionBegin;
  PetscCall(FillGhosts(poisson, x));
  for (PetscInt n = 0; n < count; n++)
    multiply_range(poisson, &ranges[n], x, y);
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonMultiply(Poisson poisson, const PetscReal *x, PetscReal *y)
{
  const GridBox *box = &poisson->operand_box;

  PetscFunctionBegin;
  PetscCall(FillGhosts(poisson, x));
  FOR_ROWS(box, j, k)
    multiply_range(poisson, &(RowRange){j, k, tight_index(box, j, k), owned_width(box, X)}, x, y);
  PetscFunctionReturn(0);
}
