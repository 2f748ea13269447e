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
  for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++) {
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
  for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
      for (PetscInt i = box->start[X]; i < box->end[X]; i++) {
        const PetscInt c = box_index(box, i, j, k);

        level->residual[c] = 0.;
        if (level->inverse[c] > 0.f)
          level->residual[c] =
              level->spread[c] *
              (level->right_side[c] - x[c] / (PetscReal)level->inverse[c] + neighbours(level, x, c));
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
  for (PetscInt k = box->start[S] - 1; k < box->end[S] + 1; k++)
    restrict_slab(fine, fine->residual + (k - box->start[S] + LEVEL_GHOST) * slab_size(box), k, coarse,
                  fine->slabs);
  PetscFunctionReturn(0);
}

static void add_row(Level *fine, const Level *coarse, const PetscReal *coarse_row, PetscInt j, PetscInt k)
{
  const GridBox *box = &fine->box;

  for (PetscInt i = box->start[X]; i < box->end[X]; i++) {
    const PetscInt  c = box_index(box, i, j, k);
    const PetscInt  parent = i / fine->ratio[X] - coarse->box.start[X] + LEVEL_GHOST;
    const PetscReal own = fine->own_share[X][i + LEVEL_GHOST];

    fine->solution[c] +=
        fine->spread[c] * (own * coarse_row[parent] + (1. - own) * coarse_row[parent + (i % 2 ? 1 : -1)]);
  }
}

static PetscErrorCode AddCorrection(Level *fine, const Level *coarse)
{
  const GridBox *box = &fine->box;
  PetscReal     *coarse_slab, *scratch;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(slab_size(&coarse->box), &coarse_slab, coarse->box.stride[Y], &scratch));
  if (box->dimension == 2)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++) {
      interpolate_slab(fine, coarse, j, coarse_slab);
      add_row(fine, coarse, coarse_slab, j, 0);
    }
  else
    for (PetscInt k = box->start[Z]; k < box->end[Z]; k++) {
      interpolate_slab(fine, coarse, k, coarse_slab);
      for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
        add_row(fine, coarse, interpolate_row(fine, coarse, coarse_slab, j, scratch), j, k);
    }
  PetscCall(PetscFree2(coarse_slab, scratch));
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
