/* Between a level of the multigrid and the next coarser one.

   A cell takes 3/4 of its parent's value and 1/4 of the nearest other one's in every direction, restricted to
   parents inside the problem and scaled by the cell's `spread` so that constants stay constant. Restriction
   is the exact transpose, summed in an order that does not depend on the ranks. */
#include "multigrid_impl.h"

VECTOR_CLONES static void combine_rows(PetscInt count, const PetscReal *restrict rows, PetscInt stride,
                                       const PetscReal share[4], PetscReal *restrict sum)
{
  const PetscReal s0 = share[0], s1 = share[1], s2 = share[2], s3 = share[3];

  for (PetscInt i = 0; i < count; i++)
    sum[i] = s0 * rows[i] + s1 * rows[i + stride] + s2 * rows[i + 2 * stride] + s3 * rows[i + 3 * stride];
}

VECTOR_CLONES static void halve_row(PetscInt         count, const PetscReal *restrict row,
                                    PetscReal *const restriction[4], PetscReal *restrict coarse)
{
  const PetscReal *restrict s0 = restriction[0], *restrict s1 = restriction[1];
  const PetscReal *restrict s2 = restriction[2], *restrict s3 = restriction[3];

  for (PetscInt i = 0; i < count; i++)
    coarse[i] =
        (s0[i] * row[2 * i] + s3[i] * row[2 * i + 3]) + (s1[i] * row[2 * i + 1] + s2[i] * row[2 * i + 2]);
}

VECTOR_CLONES static void add_scaled(PetscInt count, PetscReal share, const PetscReal *restrict row,
                                     PetscReal *restrict sum)
{
  for (PetscInt i = 0; i < count; i++)
    sum[i] += share * row[i];
}

/* The part of coarse row J that comes from one slab. */
static void restrict_row(const Level *fine, const PetscReal *residual, PetscInt J, const GridBox *coarse_box,
                         PetscReal *row, PetscReal *coarse_row)
{
  const GridBox   *box = &fine->box;
  const PetscInt   width = owned_width(coarse_box, X), first = coarse_box->start[X];
  const PetscReal *combined = residual;
  PetscReal       *restriction[4];

  if (box->dimension == 3) {
    const PetscInt  lowest = fine->ratio[Y] * J - 1 - box->start[Y] + LEVEL_GHOST;
    const PetscReal share[4] = {fine->restriction[Y][0][J], fine->restriction[Y][1][J],
                                fine->restriction[Y][2][J], fine->restriction[Y][3][J]};

    combine_rows(box->stride[Y], residual + lowest * box->stride[Y], box->stride[Y], share, row);
    combined = row;
  }
  if (fine->ratio[X] == 1) {
    memcpy(coarse_row, combined + LEVEL_GHOST, width * sizeof(*row));
    return;
  }
  for (PetscInt offset = 0; offset < 4; offset++)
    restriction[offset] = fine->restriction[X][offset] + first;
  halve_row(width, combined + LEVEL_GHOST - 1, restriction, coarse_row);
}

void restrict_slab(const Level *fine, const PetscReal *residual, PetscInt k, Level *coarse, PetscReal *row)
{
  const GridBox *box = &coarse->arrival_box;
  const PetscInt S = slab_direction(box), ratio = fine->ratio[S];
  const PetscInt rows = box->dimension == 3 ? owned_width(box, Y) : 1;
  const PetscInt width = owned_width(box, X);
  PetscReal     *coarse_row = row + fine->box.stride[Y];

  for (PetscInt r = 0; r < rows; r++) {
    const PetscInt J = box->start[Y] + r;

    restrict_row(fine, residual, J, box, row, coarse_row);
    for (PetscInt K = PetscMax((k - 2) / ratio, box->start[S]); K < box->end[S] && ratio * K - 1 <= k; K++) {
      const PetscInt offset = k - (ratio * K - 1);
      const PetscInt c =
          box->dimension == 3 ? box_index(box, box->start[X], J, K) : box_index(box, box->start[X], K, 0);

      if (offset < 4 && fine->restriction[S][offset][K] != 0.)
        add_scaled(width, fine->restriction[S][offset][K], coarse_row, coarse->arrival + c);
    }
  }
}

VECTOR_CLONES static void blend(PetscInt count, PetscReal own, const PetscReal *restrict parent,
                                const PetscReal *restrict other, PetscReal *restrict result)
{
  for (PetscInt i = 0; i < count; i++)
    result[i] = own * parent[i] + (1. - own) * other[i];
}

/* Local layers of the coarser level between which `fine_index` lies. */
static PetscReal parents(const Level *fine, const Level *coarse, PetscInt d, PetscInt fine_index,
                         PetscInt *parent, PetscInt *other)
{
  const PetscInt first = coarse->box.start[d] - LEVEL_GHOST;

  if (fine->ratio[d] == 1) {
    *parent = *other = fine_index - first;
    return 1.;
  }
  *parent = (fine_index + 2 * LEVEL_GHOST) / 2 - LEVEL_GHOST - first; /* rounded down, also below zero */
  *other = *parent + (fine_index % 2 ? 1 : -1);
  return fine->own_share[d][fine_index + LEVEL_GHOST];
}

void interpolate_slab(const Level *fine, const Level *coarse, PetscInt k, PetscReal *coarse_slab)
{
  const PetscInt  size = slab_size(&coarse->box);
  PetscInt        parent, other;
  const PetscReal own = parents(fine, coarse, slab_direction(&fine->box), k, &parent, &other);

  blend(size, own, coarse->solution + parent * size, coarse->solution + other * size, coarse_slab);
}

const PetscReal *interpolate_row(const Level *fine, const Level *coarse, const PetscReal *coarse_slab,
                                 PetscInt j, PetscReal *coarse_row)
{
  const PetscInt pitch = coarse->box.stride[Y];
  PetscInt       parent, other;
  PetscReal      own;

  if (fine->box.dimension == 2)
    return coarse_slab;
  own = parents(fine, coarse, Y, j, &parent, &other);
  blend(pitch, own, coarse_slab + parent * pitch, coarse_slab + other * pitch, coarse_row);
  return coarse_row;
}
