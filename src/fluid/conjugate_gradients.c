/* Rows of conjugate gradients, the same for the diffusion of one field (diffusion.c) and the stress of all
   components (stress.c), which have their sums over ranks in between. */
#include "fluid_impl.h"

VECTOR_CLONES void conjugate_advance(const ConjugateRow *row, PetscReal length, PetscInt count)
{
  PetscReal *restrict value = row->value, *restrict r = row->residual;
  const PetscReal *restrict p = row->search, *restrict q = row->image;

  for (PetscInt n = 0; n < count; n++) {
    value[n] += length * p[n];
    r[n] -= length * q[n];
  }
}

VECTOR_CLONES void conjugate_turn(PetscReal *restrict search, PetscReal              ratio,
                                  const PetscReal *restrict preconditioned, PetscInt count)
{
  for (PetscInt n = 0; n < count; n++)
    search[n] = preconditioned[n] + ratio * search[n];
}

void conjugate_add_plane(ReproducibleSum *sum, const GridBox *box, const GridRange *range, PetscInt k,
                         const PetscReal *a, const PetscReal *b)
{
  const PetscInt first = box_index(box, range->start[X], range->start[Y], k);

  sum_add_product_rows(sum, a + first, b + first, range->end[X] - range->start[X],
                       range->end[Y] - range->start[Y], box->stride[Y]);
}
