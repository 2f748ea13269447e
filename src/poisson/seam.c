/* A level whose period is odd: cells of one colour are neighbours across the seam.

   Each half-sweep then takes the values across the seam from before it, which keeps it the same on any number
   of ranks and keeps the cycle symmetric; but residuals of both colours remain, so the fused passes of
   smoother.c do not apply. */
#include "multigrid_impl.h"

typedef enum { RED, BLACK } Colour;

static inline PetscReal neighbours(const Level *level, const PetscReal *x, PetscInt c)
{
  PetscReal sum = 0.;

  for (PetscInt d = 0; d < level->box.dimension; d++) {
    const PetscInt stride = level->box.stride[d];

    sum += level->weight[d][c] * x[c - stride] + level->weight[d][c + stride] * x[c + stride];
  }
  return sum;
}

static PetscErrorCode HalfSweep(Level *level, Colour colour)
{
  const GridBox *box = &level->box;
  PetscReal     *x = level->solution;

  PetscFunctionBegin;
  PetscCall(BoxExchange(&level->box, x));
  FOR_ROWS(box, j, k) {
    const PetscInt shift = (box->start[X] + j + k + (PetscInt)colour) % 2;

    for (PetscInt i = box->start[X] + shift; i < box->end[X]; i += 2) {
      const PetscInt c = box_index(box, i, j, k);

      x[c] = level->inverse[c] * (level->right_side[c] + neighbours(level, x, c));
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ComputeResidual(Level *level)
{
  const GridBox *box = &level->box;
  PetscReal     *x = level->solution;

  PetscFunctionBegin;
  PetscCall(BoxExchange(&level->box, x));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    level->residual[c] = 0.;
    if (level->inverse[c] > 0.f)
      level->residual[c] =
          level->right_side[c] - x[c] / (PetscReal)level->inverse[c] + neighbours(level, x, c);
  }
  PetscCall(BoxExchange(&level->box, level->residual));
  PetscFunctionReturn(0);
}

PetscErrorCode SeamDescend(Level *fine, Level *coarse)
{
  const GridBox *box = &fine->box;
  const PetscInt S = slab_direction(box);

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(fine->solution, box->length));
  PetscCall(HalfSweep(fine, RED));
  PetscCall(HalfSweep(fine, BLACK));
  PetscCall(ComputeResidual(fine));
  PetscCall(PetscArrayzero(coarse->arrival, coarse->arrival_box.length));
  for (PetscInt d = 0; d < box->dimension; d++)
    box_part_seam(box, d, fine->residual, sizeof(*fine->residual));
  for (PetscInt k = box->start[S] - 1; k < box->end[S] + 2; k++)
    restrict_slab(fine, fine->residual + (k - box->start[S] + LEVEL_GHOST) * slab_size(box), k, ALL_CELLS,
                  coarse, fine->slabs);
  PetscFunctionReturn(0);
}

static void add_row(Level *fine, const PetscReal *halved_row, PetscInt j, PetscInt k)
{
  const GridBox *box = &fine->box, *halved = &fine->halved[X];
  const PetscInt shift = LEVEL_GHOST - halved->start[X];

  for (PetscInt i = box->start[X]; i < box->end[X]; i++) {
    const PetscInt parent = i / 2, child = i % 2, other = child ? parent + 1 : parent - 1;
    const Share    share = fine->share[X][child][box_index(halved, parent, j, k)];

    fine->solution[box_index(box, i, j, k)] += SHARE_UNIT * (share_own(share) * halved_row[parent + shift] +
                                                             share_other(share) * halved_row[other + shift]);
  }
}

static PetscErrorCode AddCorrection(Level *fine, const Level *coarse)
{
  const GridBox *box = &fine->box, *halved = &fine->halved[slab_direction(box)];
  PetscReal     *halved_slab, *scratch;

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(slab_size(halved), &halved_slab, halved->stride[Y], &scratch));
  if (box->dimension == 2)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++) {
      interpolate_slab(fine, coarse, j, halved_slab);
      add_row(fine, halved_slab, j, 0);
    }
  else
    for (PetscInt k = box->start[Z]; k < box->end[Z]; k++) {
      interpolate_slab(fine, coarse, k, halved_slab);
      for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
        add_row(fine, interpolate_row(fine, halved_slab, j, k, scratch), j, k);
    }
  PetscCall(PetscFree2(halved_slab, scratch));
  PetscFunctionReturn(0);
}

PetscErrorCode SeamAscend(Level *fine, const Level *coarse)
{
  PetscFunctionBegin;
  PetscCall(AddCorrection(fine, coarse));
  PetscCall(HalfSweep(fine, BLACK));
  PetscCall(HalfSweep(fine, RED));
  PetscFunctionReturn(0);
}
