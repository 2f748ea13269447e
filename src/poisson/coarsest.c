/* The coarsest level, at most two cells in every direction, solved by an L D L^T factorisation.

   A component that touches no p = 0 makes the last of its pivots vanish; its inverse is then taken as zero,
   which fixes one cell and gives a symmetric generalised inverse. */
#include "multigrid_impl.h"

#include <millrace/dense.h>

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
  const Level *level = &multigrid->levels[multigrid->count - 1];
  PetscReal    work[COARSEST_CELLS];

  memset(multigrid->factor, 0, sizeof(multigrid->factor));
  assemble(level, multigrid->factor);
  dense_ldl(corner_count(&level->box), COARSEST_CELLS, &multigrid->factor[0][0], 1e-12, work);
}

void coarsest_solve(Multigrid multigrid)
{
  Level         *level = &multigrid->levels[multigrid->count - 1];
  const PetscInt count = corner_count(&level->box);
  PetscReal      value[COARSEST_CELLS];
  PetscInt       at[DIM];

  for (PetscInt n = 0; n < count; n++) {
    const PetscInt c = corner_index(&level->box, n, at);

    value[n] = level->inverse[c] > 0.f ? level->right_side[c] : 0.;
  }
  dense_ldl_solve(count, COARSEST_CELLS, &multigrid->factor[0][0], value);
  for (PetscInt n = 0; n < count; n++)
    level->solution[corner_index(&level->box, n, at)] = value[n];
}
