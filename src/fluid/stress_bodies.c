/* Bodies that move freely, in the V-cycle for the viscous operator: unknowns of the finest level. On coarser
   ones there is fluid of their mass in their place. With g for the velocities of the faces on and beside the
   surface of a body, that of the body is fitted on the way up, and what acts on it goes to these faces on the
   way down:

     V = (W^T W + M_S/s)^-1 W^T g,    r_g = W (W^T W + M_S/s)^-1 r_V,

   one the transpose of the other, s being the friction at a face: what is much heavier than the fluid can
   drag stays where it is. Other solids do not change within the cycle. */
#include "stress_impl.h"

#include <millrace/dense.h>

/* Of the four faces whose differences make the stress on an edge two may move with one body, whose part of
   the operator counts each for itself. */
static const PetscReal body_damping = 0.5;

PetscBool cycle_has_block(const SolidUnknowns *unknowns, PetscInt block)
{
  return unknowns->cycle.solution && unknowns->blocks[block].is_free &&
                 unknowns->blocks[block].count == SOLID_BLOCK_LENGTH
             ? PETSC_TRUE
             : PETSC_FALSE;
}

PetscErrorCode SolidCycleDestroy(SolidCycle *cycle)
{
  PetscFunctionBegin;
  PetscCall(PetscFree5(cycle->solution, cycle->change, cycle->residual, cycle->image, cycle->fit));
  for (PetscInt d = 0; d < DIM; d++) {
    PetscCall(PetscFree(cycle->faces[d]));
    cycle->face_count[d] = cycle->face_room[d] = 0;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ListFace(SolidUnknowns *unknowns, PetscInt d, PetscInt face, const SolidRow *row)
{
  const SolidFace listed = {face, *row};
  SolidCycle     *cycle = &unknowns->cycle;

  PetscFunctionBegin;
  if (cycle_has_block(unknowns, unknowns->block_of[row->dof[0]]))
    PetscCall(AppendItem(&cycle->face_count[d], &cycle->face_room[d], &cycle->faces[d], listed));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolidCycleCreate(SolidUnknowns *unknowns)
{
  SolidCycle *cycle = &unknowns->cycle;

  PetscFunctionBegin;
  PetscCall(SolidCycleDestroy(cycle));
  PetscCall(PetscCalloc5(PetscMax(unknowns->count, 1), &cycle->solution, unknowns->count, &cycle->change,
                         unknowns->count, &cycle->residual, unknowns->count, &cycle->image,
                         unknowns->first_factor[unknowns->block_count], &cycle->fit));
  PetscFunctionReturn(0);
}

/* Faces on and beside the surfaces of bodies in the cycle. */
static PetscErrorCode ListFaces(Fluid fluid, PetscInt d)
{
  const FaceConstraints *constraints = fluid->constraints;
  SolidUnknowns         *unknowns = &fluid->stress->unknowns;
  const PetscReal       *mass;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(unknowns->mass[d], &mass));
  for (PetscInt n = 0; n < constraints->constrained_count[d]; n++) {
    const ConstrainedFace *at = &constraints->constrained[d][n];

    if (mass[at->face] > 0.)
      PetscCall(ListFace(unknowns, d, at->face, &at->row));
  }
  for (PetscInt n = 0; n < constraints->neighbour_count[d]; n++) {
    const WallNeighbour *at = &constraints->wall_neighbours[d][n];

    if (mass[at->face] > 0.)
      PetscCall(ListFace(unknowns, d, at->face, &at->row));
  }
  for (PetscInt n = 0; n < constraints->separated_count[d]; n++)
    for (PetscInt side = 0; side < 2; side++) {
      const SeparatedPair *at = &constraints->separated_pairs[d][n];

      if (at->is_owned[side] && mass[at->faces[side]] > 0.)
        PetscCall(ListFace(unknowns, d, at->faces[side], &at->rows[side]));
    }
  PetscCall(VecRestoreArrayRead(unknowns->mass[d], &mass));
  PetscFunctionReturn(0);
}

/* W^T W of each body, and in `counts`, at its first unknowns, the number of its faces along each direction.
 */
static PetscErrorCode SumFaces(Fluid fluid, PetscReal *counts)
{
  SolidUnknowns    *unknowns = &fluid->stress->unknowns;
  const SolidCycle *cycle = &unknowns->cycle;
  const PetscInt    numbers = unknowns->first_factor[unknowns->block_count];
  const PetscInt    dimension = grid_box(fluid->grid)->dimension;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(unknowns->sums, numbers));
  for (PetscInt d = 0; d < dimension; d++)
    for (PetscInt n = 0; n < cycle->face_count[d]; n++)
      unknowns_add_block(unknowns, 1., &cycle->faces[d][n].row);
  PetscCall(SumOverRanks(grid_box(fluid->grid)->comm, numbers, unknowns->sums, cycle->fit));
  for (PetscInt b = 0; b < unknowns->block_count; b++)
    for (PetscInt d = 0; d < dimension && cycle_has_block(unknowns, b); d++)
      counts[unknowns->blocks[b].first + d] =
          cycle->fit[unknowns->first_factor[b] + (SOLID_BLOCK_LENGTH + 1) * d];
  PetscFunctionReturn(0);
}

/* W^T W + M_S/s of a body that `count` faces along x move with, and its factor. */
static void add_inertia(Fluid fluid, PetscInt b, PetscReal count)
{
  const SolidUnknowns *unknowns = &fluid->stress->unknowns;
  const PetscReal      volume = PetscPowRealInt(grid_spacing(fluid->grid), grid_box(fluid->grid)->dimension);
  const PetscReal     *mass = unknowns->blocks[b].mass;
  const PetscReal      whole = PetscSqr(unknowns->factor[unknowns->first_factor[b]]);
  PetscReal           *matrix = &unknowns->cycle.fit[unknowns->first_factor[b]];

  for (PetscInt n = 0; n < PetscSqr(SOLID_BLOCK_LENGTH) && count > 0.; n++)
    matrix[n] += mass[n] * count / (volume * whole - mass[0]);
  dense_cholesky(SOLID_BLOCK_LENGTH, SOLID_BLOCK_LENGTH, matrix);
}

/* The faces of a body have an equal share of its mass, beside that of their own fluid. */
static PetscErrorCode SpreadMass(Fluid fluid, PetscInt d, const PetscReal *counts, Vec masses)
{
  const SolidUnknowns *unknowns = &fluid->stress->unknowns;
  const PetscReal      volume = PetscPowRealInt(grid_spacing(fluid->grid), grid_box(fluid->grid)->dimension);
  const PetscReal     *whole;
  PetscReal           *mass;

  PetscFunctionBegin;
  PetscCall(VecCopy(fluid->stress->levels[0].mass[d], masses));
  PetscCall(VecGetArrayRead(unknowns->mass[d], &whole));
  PetscCall(VecGetArray(masses, &mass));
  for (PetscInt n = 0; n < unknowns->cycle.face_count[d]; n++) {
    const SolidFace *at = &unknowns->cycle.faces[d][n];

    if (mass[at->face] < 0.)
      mass[at->face] = whole[at->face];
    mass[at->face] += /* the first number of its mass is that of a translation */
        unknowns->blocks[unknowns->block_of[at->row.dof[0]]].mass[0] / (volume * counts[at->row.dof[0]]);
  }
  PetscCall(VecRestoreArray(masses, &mass));
  PetscCall(VecRestoreArrayRead(unknowns->mass[d], &whole));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidStartSolidCycle(Fluid fluid, Vec masses[DIM])
{
  SolidUnknowns *unknowns = &fluid->stress->unknowns;
  PetscReal     *counts;

  PetscFunctionBegin;
  PetscCall(SolidCycleCreate(unknowns));
  PetscCall(PetscCalloc1(unknowns->count, &counts));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(ListFaces(fluid, d));
  PetscCall(SumFaces(fluid, counts));
  for (PetscInt b = 0; b < unknowns->block_count; b++)
    if (cycle_has_block(unknowns, b))
      add_inertia(fluid, b, counts[unknowns->blocks[b].first]);
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(SpreadMass(fluid, d, counts, masses[d]));
  PetscCall(PetscFree(counts));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidClearSolidCycle(Fluid fluid)
{
  SolidUnknowns *unknowns = &fluid->stress->unknowns;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(unknowns->cycle.residual, unknowns->residual, unknowns->count));
  PetscCall(PetscArrayzero(unknowns->cycle.solution, unknowns->count));
  PetscCall(PetscArrayzero(unknowns->cycle.change, unknowns->count));
  PetscFunctionReturn(0);
}

void solid_cycle_turn(SolidUnknowns *unknowns, PetscReal keep, PetscReal add)
{
  SolidCycle *cycle = &unknowns->cycle;

  for (PetscInt b = 0; b < unknowns->block_count; b++) {
    const PetscInt first = unknowns->blocks[b].first;
    PetscReal      better[SOLID_BLOCK_LENGTH];

    if (!cycle_has_block(unknowns, b))
      continue;
    for (PetscInt n = 0; n < SOLID_BLOCK_LENGTH; n++)
      better[n] = cycle->residual[first + n];
    dense_cholesky_solve(SOLID_BLOCK_LENGTH, SOLID_BLOCK_LENGTH, &unknowns->factor[unknowns->first_factor[b]],
                         better);
    for (PetscInt n = 0; n < SOLID_BLOCK_LENGTH; n++) {
      cycle->change[first + n] = keep * cycle->change[first + n] + body_damping * add * better[n];
      cycle->solution[first + n] += cycle->change[first + n];
    }
  }
}

PetscErrorCode FluidApplySolidCycle(Fluid fluid)
{
  const StressMix mix = {1., 1.};
  SolidUnknowns  *unknowns = &fluid->stress->unknowns;
  StressLevel     level = fluid->stress->levels[0];
  Pull            pull = {1., unknowns->cycle.change, {0}, unknowns->sums};
  PetscReal       own[SOLID_BLOCK_LENGTH];

  PetscFunctionBegin;
  PetscCall(FluidConstrainFaces(fluid, unknowns->cycle.change, level.change, &level));
  PetscCall(MacGridExchangeFaces(fluid->grid, level.change));
  PetscCall(StressLevelApply(&level, &mix, level.change, level.image, NULL));
  PetscCall(PetscArrayzero(unknowns->sums, unknowns->count));
  PetscCall(FluidPullConstraints(fluid, &pull, level.change, level.image));
  PetscCall(
      SumOverRanks(grid_box(fluid->grid)->comm, unknowns->count, unknowns->sums, unknowns->cycle.image));
  for (PetscInt b = 0; b < unknowns->block_count; b++) {
    const SolidBlock *block = &unknowns->blocks[b];

    solid_apply_mass(fluid, block, &unknowns->cycle.change[block->first], own);
    for (PetscInt n = 0; n < block->count; n++)
      unknowns->cycle.residual[block->first + n] -= unknowns->cycle.image[block->first + n] + own[n];
  }
  PetscFunctionReturn(0);
}

/* x = (W^T W + M_S/s)^-1 b for each body in the cycle. */
static void fit(const SolidUnknowns *unknowns, const PetscReal *b, PetscReal *x)
{
  for (PetscInt block = 0; block < unknowns->block_count; block++) {
    const PetscInt first = unknowns->blocks[block].first;

    if (!cycle_has_block(unknowns, block))
      continue;
    for (PetscInt n = first; n < first + SOLID_BLOCK_LENGTH; n++)
      x[n] = b[n];
    dense_cholesky_solve(SOLID_BLOCK_LENGTH, SOLID_BLOCK_LENGTH,
                         &unknowns->cycle.fit[unknowns->first_factor[block]], &x[first]);
  }
}

/* residual += share times what acts on bodies, on their faces. */
static PetscErrorCode HandToFaces(Fluid fluid, PetscReal share)
{
  const SolidCycle *cycle = &fluid->stress->unknowns.cycle;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    PetscReal *residual;

    PetscCall(VecGetArray(fluid->stress->levels[0].residual[d], &residual));
    for (PetscInt n = 0; n < cycle->face_count[d]; n++)
      residual[cycle->faces[d][n].face] += share * solid_row_velocity(&cycle->faces[d][n].row, cycle->image);
    PetscCall(VecRestoreArray(fluid->stress->levels[0].residual[d], &residual));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode FluidRestrictSolids(Fluid fluid, StressLevel *coarse)
{
  SolidUnknowns *unknowns = &fluid->stress->unknowns;

  PetscFunctionBegin;
  fit(unknowns, unknowns->cycle.residual, unknowns->cycle.image);
  PetscCall(HandToFaces(fluid, 1.));
  PetscCall(FluidRestrictStress(fluid, &fluid->stress->levels[0], coarse));
  PetscCall(HandToFaces(fluid, -1.));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidInterpolateSolids(Fluid fluid, StressLevel *coarse)
{
  SolidUnknowns    *unknowns = &fluid->stress->unknowns;
  const SolidCycle *cycle = &unknowns->cycle;

  PetscFunctionBegin;
  PetscCall(FluidInterpolateStress(fluid, &fluid->stress->levels[0], coarse));
  PetscCall(PetscArrayzero(unknowns->sums, unknowns->count));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    const PetscReal *change;

    PetscCall(VecGetArrayRead(fluid->stress->levels[0].change[d], &change));
    for (PetscInt n = 0; n < cycle->face_count[d]; n++)
      row_add_force(&cycle->faces[d][n].row, change[cycle->faces[d][n].face], unknowns->sums);
    PetscCall(VecRestoreArrayRead(fluid->stress->levels[0].change[d], &change));
  }
  PetscCall(SumOverRanks(grid_box(fluid->grid)->comm, unknowns->count, unknowns->sums, cycle->image));
  fit(unknowns, cycle->image, cycle->change);
  for (PetscInt n = 0; n < unknowns->count; n++)
    cycle->solution[n] += cycle->change[n];
  PetscFunctionReturn(0);
}
