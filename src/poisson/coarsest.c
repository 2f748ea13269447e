/* The coarsest level, at most two cells in every direction, solved by an L D L^T factorisation.

   A component that touches no p = 0 makes the last of its pivots vanish; its inverse is then taken as zero,
   which fixes one cell and gives a symmetric generalised inverse. */
#include "multigrid_impl.h"

static PetscInt corner_index(const GridBox *box, PetscInt number, PetscInt at[DIM])
{
  at[X] = number % box->cells[X];
  at[Y] = number / box->cells[X] % box->cells[Y];
  at[Z] = number / box->cells[X] / box->cells[Y];
  return box_index(box, at[X], at[Y], at[Z]);
}

static PetscInt corner_count(const GridBox *box)
{
  return box->cells[X] * box->cells[Y] * box->cells[Z];
}

/* The number of the cell beyond the lower face, -1 beyond a side. */
static PetscInt lower_neighbour(const GridBox *box, const PetscInt at[DIM], PetscInt d)
{
  PetscInt lower[DIM] = {at[X], at[Y], at[Z]};

  if (at[d] == 0 && !box->periodic[d])
    return -1;
  lower[d] = (at[d] + box->cells[d] - 1) % box->cells[d];
  return lower[X] + box->cells[X] * (lower[Y] + box->cells[Y] * lower[Z]);
}

static void assemble(const Level *level, PetscReal matrix[][COARSEST_CELLS])
{
  const GridBox *box = &level->box;
  PetscInt       at[DIM];

  for (PetscInt n = 0; n < corner_count(box); n++) {
    const PetscInt c = corner_index(box, n, at);

    for (PetscInt d = 0; d < box->dimension; d++) {
      const PetscInt lower = lower_neighbour(box, at, d);

      if (level->ground[d] && level->grounded[d])
        matrix[n][n] += level->ground[d][c];
      matrix[n][n] += (PetscReal)level->weight[d][c] + level->weight[d][c + box->stride[d]];
      if (lower < 0)
        continue;
      matrix[n][lower] -= level->weight[d][c];
      matrix[lower][n] -= level->weight[d][c];
    }
  }
}

void coarsest_factor(Multigrid multigrid)
{
  const Level    *level = &multigrid->levels[multigrid->count - 1];
  const PetscInt  count = corner_count(&level->box);
  const PetscReal negligible = 1e-12; /* of a pivot against its diagonal entry */
  PetscReal(*matrix)[COARSEST_CELLS] = multigrid->factor, before[COARSEST_CELLS];

  memset(multigrid->factor, 0, sizeof(multigrid->factor));
  assemble(level, matrix);
  for (PetscInt n = 0; n < count; n++)
    before[n] = matrix[n][n];
  for (PetscInt n = 0; n < count; n++) {
    const PetscReal inverse = matrix[n][n] > negligible * before[n] ? 1. / matrix[n][n] : 0.;

    for (PetscInt row = n + 1; row < count; row++)
      for (PetscInt column = n + 1; column <= row; column++)
        matrix[row][column] -= matrix[row][n] * inverse * matrix[column][n];
    for (PetscInt row = n + 1; row < count; row++)
      matrix[row][n] *= inverse;
    matrix[n][n] = inverse;
  }
}

void coarsest_solve(Multigrid multigrid)
{
  Level         *level = &multigrid->levels[multigrid->count - 1];
  const PetscInt count = corner_count(&level->box);
  PetscReal(*matrix)[COARSEST_CELLS] = multigrid->factor, value[COARSEST_CELLS];
  PetscInt at[DIM];

  for (PetscInt n = 0; n < count; n++) {
    const PetscInt c = corner_index(&level->box, n, at);

    value[n] = level->inverse[c] > 0.f ? level->right_side[c] : 0.;
    for (PetscInt m = 0; m < n; m++)
      value[n] -= matrix[n][m] * value[m];
  }
  for (PetscInt n = count - 1; n >= 0; n--) {
    value[n] *= matrix[n][n];
    for (PetscInt m = n + 1; m < count; m++)
      value[n] -= matrix[m][n] * value[m];
    level->solution[corner_index(&level->box, n, at)] = value[n];
  }
}
