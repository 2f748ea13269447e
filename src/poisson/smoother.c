/* Red-black Gauss-Seidel fused with the transfers: the whole work of a level in one pass down and one up.

   Down, from a zero guess: red x = b/D, black x = (b + sum w x)/D; the residual is then zero at black cells
   and sum w x at red ones. Up: red x = b/D + interpolated correction, black and red again; that is the
   adjoint of the way down, so the cycle is symmetric. Nothing of the way down is kept but the coarser right
   side. Slabs follow each other at the distance the stencil needs, through a few slabs that stay in cache,
   and the three ghost layers make one exchange of b enough. */
#include "multigrid_impl.h"

enum { CHUNK = 512 };

/* 1 at even places. */
static const PetscReal even_places[CHUNK + 2] = {
#define PAIR 1., 0.,
#define PAIRS8 PAIR PAIR PAIR PAIR PAIR PAIR PAIR PAIR
#define PAIRS64 PAIRS8 PAIRS8 PAIRS8 PAIRS8 PAIRS8 PAIRS8 PAIRS8 PAIRS8
    PAIRS64 PAIRS64 PAIRS64 PAIRS64 PAIR};

/* Pointers to a run of cells; x_low and x_high are the same run in the slabs before and after. */
typedef struct {
  PetscInt         dimension, row; /* row: distance to the next row of the slab */
  const float     *wx, *wy, *wz, *wz_high, *inverse;
  const PetscReal *b, *x_low, *x, *x_high;
  PetscInt         colour; /* 0 when the first cell is red */
} SmootherRun;

#define NEIGHBOURS_2D(i) (wx[i] * x[i - 1] + wx[i + 1] * x[i + 1]) + (wz[i] * low[i] + wz_high[i] * high[i])
#define NEIGHBOURS_3D(i) NEIGHBOURS_2D(i) + (wy[i] * x[i - row] + wy[i + row] * x[i + row])

/* The pointers of a run as the compiler likes them: no two writes meet. */
#define UNPACK_RUN(run)                                                                                      \
  const PetscInt row = (run)->row;                                                                           \
  const float *restrict wx = (run)->wx, *restrict wy = (run)->wy;                                            \
  const float *restrict wz = (run)->wz, *restrict wz_high = (run)->wz_high;                                  \
  const PetscReal *restrict low = (run)->x_low, *restrict x = (run)->x, *restrict high = (run)->x_high

VECTOR_CLONES static void scale_run(PetscInt count, const float *restrict inverse,
                                    const PetscReal *restrict b, PetscReal *restrict result)
{
  for (PetscInt i = 0; i < count; i++)
    result[i] = inverse[i] * b[i];
}

VECTOR_CLONES static void relax_run(PetscInt count, const SmootherRun *run, PetscReal *restrict result)
{
  const float *restrict inverse = run->inverse;
  const PetscReal *restrict b = run->b;
  UNPACK_RUN(run);

  if (run->dimension == 3)
    for (PetscInt i = 0; i < count; i++)
      result[i] = inverse[i] * (b[i] + NEIGHBOURS_3D(i));
  else
    for (PetscInt i = 0; i < count; i++)
      result[i] = inverse[i] * (b[i] + NEIGHBOURS_2D(i));
}

/* Residual of the red cells; what the black ones get is of no use. */
VECTOR_CLONES static void residual_run(PetscInt count, const SmootherRun *run, PetscReal *restrict result)
{
  UNPACK_RUN(run);

  if (run->dimension == 3)
    for (PetscInt i = 0; i < count; i++)
      result[i] = NEIGHBOURS_3D(i);
  else
    for (PetscInt i = 0; i < count; i++)
      result[i] = NEIGHBOURS_2D(i);
}

/* Relaxes red cells and copies black ones. */
VECTOR_CLONES static void relax_red_run(PetscInt count, const SmootherRun *run, PetscReal *restrict result)
{
  const float *restrict inverse = run->inverse;
  const PetscReal *restrict b = run->b;
  const PetscReal *restrict red = even_places + run->colour, *restrict black = even_places + 1 - run->colour;
  UNPACK_RUN(run);

  if (run->dimension == 3)
    for (PetscInt i = 0; i < count; i++)
      result[i] = black[i] * x[i] + red[i] * inverse[i] * (b[i] + NEIGHBOURS_3D(i));
  else
    for (PetscInt i = 0; i < count; i++)
      result[i] = black[i] * x[i] + red[i] * inverse[i] * (b[i] + NEIGHBOURS_2D(i));
}

/* Every second cell: b/D plus the interpolated correction. */
ROUNDED_CLONES static void correct_run(PetscInt count, const float *restrict inverse,
                                       const Share *restrict share, const PetscReal *restrict b,
                                       const PetscReal *restrict parent, const PetscReal *restrict other,
                                       PetscReal *restrict x)
{
  for (PetscInt i = 0; i < count; i++)
    x[2 * i] = inverse[2 * i] * b[2 * i] +
               SHARE_UNIT * (share_own(share[i]) * parent[i] + share_other(share[i]) * other[i]);
}

/* The run of slab `slab` that starts at `offset`, with x taken from rolling slabs. */
static SmootherRun run_at(const Level *level, PetscInt slab, PetscInt offset, const PetscReal *rolling)
{
  const GridBox *box = &level->box;
  const PetscInt size = slab_size(box), S = slab_direction(box), c = slab * size + offset;
  PetscInt       place = slab + offset;

  for (PetscInt d = 0; d < box->dimension; d++)
    place += box->start[d] - LEVEL_GHOST;
  return (SmootherRun){.dimension = box->dimension,
                       .row = box->stride[Y],
                       .wx = level->weight[X] + c,
                       .wy = level->weight[Y] + c,
                       .wz = level->weight[S] + c,
                       .wz_high = level->weight[S] + c + size,
                       .inverse = level->inverse + c,
                       .b = level->right_side + c,
                       .x_low = rolling + (slab + STENCIL_SLABS - 1) % STENCIL_SLABS * size + offset,
                       .x = rolling + slab % STENCIL_SLABS * size + offset,
                       .x_high = rolling + (slab + 1) % STENCIL_SLABS * size + offset,
                       .colour = (place + 2 * DIM * LEVEL_GHOST) % 2};
}

typedef void (*RunKernel)(PetscInt count, const SmootherRun *run, PetscReal *result);

/* All cells of a slab but its outermost rows, whose ghosts nobody asks for. */
static void run_slab(const Level *level, PetscInt slab, const PetscReal *rolling, RunKernel kernel,
                     PetscReal *result)
{
  const PetscInt margin = level->box.dimension == 3 ? level->box.stride[Y] : 1;
  const PetscInt end = slab_size(&level->box) - margin;

  for (PetscInt offset = margin; offset < end; offset += CHUNK) {
    const SmootherRun run = run_at(level, slab, offset, rolling);

    kernel(PetscMin(CHUNK, end - offset), &run, result + offset);
  }
}

PetscErrorCode LevelDescend(Level *fine, Level *coarse)
{
  const GridBox *box = &fine->box;
  const PetscInt size = slab_size(box), S = slab_direction(box), count = slab_count(box);
  PetscReal     *first = fine->slabs, *second = first + STENCIL_SLABS * size;
  PetscReal     *residual = second + STENCIL_SLABS * size, *scratch = residual + size;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(coarse->arrival, coarse->arrival_box.length));
  for (PetscInt slab = 0; slab < count; slab++) {
    scale_run(size, fine->inverse + slab * size, fine->right_side + slab * size,
              first + slab % STENCIL_SLABS * size);
    if (slab >= 2)
      run_slab(fine, slab - 1, first, relax_run, second + (slab - 1) % STENCIL_SLABS * size);
    if (slab >= 4) {
      run_slab(fine, slab - 2, second, residual_run, residual);
      restrict_slab(fine, residual, box->start[S] - LEVEL_GHOST + slab - 2, RED_CELLS, coarse, scratch);
    }
  }
  PetscFunctionReturn(0);
}

/* Fills the red cells of row `j` of slab `k`, from two cells before the owned ones to two after. */
static void correct_row(const Level *fine, const PetscReal *halved_row, PetscInt j, PetscInt k,
                        PetscReal *row)
{
  const GridBox   *box = &fine->box, *halved = &fine->halved[X];
  const PetscInt   c = box_index(box, box->start[X], j, k) - LEVEL_GHOST; /* of the row's first ghost */
  const PetscInt   red = (j + k + 2 * LEVEL_GHOST) % 2, i = LEVEL_GHOST - 2 + red; /* start is even */
  const PetscReal *parent = halved_row + LEVEL_GHOST - 1;

  correct_run(owned_width(halved, X) + 2, fine->inverse + c + i,
              fine->share[X][red] + box_index(halved, halved->start[X] - 1, j, k), fine->right_side + c + i,
              parent, parent + (red ? 1 : -1), row + i);
}

/* b/D plus the correction at the red cells of a slab and of two ghost rows around it. */
static void correct_slab(const Level *fine, const Level *coarse, PetscInt k, PetscReal *scratch,
                         PetscReal *slab)
{
  const GridBox *box = &fine->box;
  const PetscInt pitch = box->stride[Y];
  PetscReal     *halved_slab = scratch, *halved_row = scratch + slab_size(&fine->halved[slab_direction(box)]);

  interpolate_slab(fine, coarse, k, halved_slab);
  if (box->dimension == 2) {
    correct_row(fine, halved_slab, k, 0, slab);
    return;
  }
  for (PetscInt row = 1; row < slab_rows(box) - 1; row++) {
    const PetscInt j = box->start[Y] - LEVEL_GHOST + row;

    correct_row(fine, interpolate_row(fine, halved_slab, j, k, halved_row), j, k, slab + row * pitch);
  }
}

/* The last half-sweep, into `solution` when it is given. */
static void finish_slab(Level *fine, PetscInt slab, const PetscReal *rolling, PetscReal *solution)
{
  const GridBox *box = &fine->box;
  const PetscInt rows = box->dimension == 3 ? owned_width(box, Y) : 1, width = owned_width(box, X);

  for (PetscInt r = 0; r < rows; r++) {
    const PetscInt offset = (box->dimension == 3 ? (r + LEVEL_GHOST) * box->stride[Y] : 0) + LEVEL_GHOST;
    PetscReal     *row = solution ? solution + ((slab - LEVEL_GHOST) * rows + r) * width
                                  : fine->solution + slab * slab_size(box) + offset;

    for (PetscInt i = 0; i < width; i += CHUNK) {
      const SmootherRun run = run_at(fine, slab, offset + i, rolling);

      relax_red_run(PetscMin(CHUNK, width - i), &run, row + i);
    }
  }
}

PetscErrorCode LevelAscend(Level *fine, const Level *coarse, PetscReal *solution)
{
  const GridBox *box = &fine->box;
  const PetscInt size = slab_size(box), S = slab_direction(box), count = slab_count(box);
  PetscReal     *first = fine->slabs, *second = first + STENCIL_SLABS * size;
  PetscReal     *scratch;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(slab_size(&fine->halved[S]) + fine->halved[S].stride[Y], &scratch));
  for (PetscInt slab = 1; slab < count - 1; slab++) {
    correct_slab(fine, coarse, box->start[S] - LEVEL_GHOST + slab, scratch,
                 first + slab % STENCIL_SLABS * size);
    if (slab >= 3)
      run_slab(fine, slab - 1, first, relax_run, second + (slab - 1) % STENCIL_SLABS * size);
    if (slab >= 5)
      finish_slab(fine, slab - 2, second, solution);
  }
  PetscCall(PetscFree(scratch));
  PetscFunctionReturn(0);
}
