/* Solids as unknowns of the viscous solve (docs/numerics.md, section 15): with u = W V on constrained faces

     M_F (u - u^) + dt K u = 0             on the other faces,
     M_S (V - V^) + W^T (M_F (u - u^) + dt K u) = 0   for the unknowns V of solids that move freely;

   the conjugate gradients of stress.c run over both. M_S is given by blocks, of six numbers for a rigid body.
   The residual where the velocity is given is the impulse that the solid takes. */
#include "stress_impl.h"

#include <millrace/dense.h>

PetscErrorCode FluidSetConstraints(Fluid fluid, const FaceConstraints *constraints, const PetscReal before[])
{
  PetscFunctionBegin;
  PetscCheck(!constraints || fluid->mixture, grid_box(fluid->grid)->comm, PETSC_ERR_ORDER,
             "Constrained faces need a mixture: call FluidSetMixture first");
  fluid->constraints = constraints;
  fluid->constrained_before = before;
  PetscCall(PetscFree(fluid->constraint_impulses));
  if (constraints)
    PetscCall(PetscCalloc1(constraints->unknown_count, &fluid->constraint_impulses));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetConstraintImpulses(Fluid fluid, PetscReal impulses[])
{
  PetscFunctionBegin;
  if (fluid->constraints)
    PetscCall(PetscArraycpy(impulses, fluid->constraint_impulses, fluid->constraints->unknown_count));
  PetscFunctionReturn(0);
}

void fluid_blend_constraints(Fluid fluid, PetscReal before, PetscReal now)
{
  const PetscInt count = fluid->constraints ? fluid->constraints->unknown_count : 0;

  for (PetscInt n = 0; n < count && before != 0.; n++) {
    PetscReal *velocity = &fluid->constraints->velocities[n];

    *velocity = now * *velocity + before * fluid->constrained_before[n];
    fluid->constraint_impulses[n] *= now;
  }
}

static PetscReal dot(PetscInt count, const PetscReal *a, const PetscReal *b)
{
  PetscReal sum = 0.;

  for (PetscInt n = 0; n < count; n++)
    sum += a[n] * b[n];
  return sum;
}

/* What the preconditioner makes of b, which without a V-cycle is (L L^T)^-1 b, zero where the factor is. */
static void precondition(const SolidUnknowns *unknowns, StressWork work, PetscInt block, const PetscReal *b,
                         PetscReal *x)
{
  const PetscInt  first = unknowns->blocks[block].first, count = unknowns->blocks[block].count;
  const PetscBool is_cycled = (work == MEET || work == TURN) && cycle_has_block(unknowns, block);

  for (PetscInt i = 0; i < count; i++)
    x[i] = is_cycled ? unknowns->cycle.solution[first + i] : b[i];
  if (!is_cycled)
    dense_cholesky_solve(count, count, &unknowns->factor[unknowns->first_factor[block]], x);
}

static PetscReal work_on_block(const SolidUnknowns *unknowns, StressWork work, PetscReal coefficient,
                               PetscInt block, PetscReal *velocities)
{
  const PetscInt first = unknowns->blocks[block].first, count = unknowns->blocks[block].count;
  PetscReal     *r = &unknowns->residual[first], *p = &unknowns->search[first], *q = &unknowns->image[first],
            *v = &velocities[first], better[SOLID_BLOCK_LENGTH], whole[SOLID_BLOCK_LENGTH];

  switch (work) {
  case TAKE:
    for (PetscInt n = 0; n < count; n++)
      p[n] = v[n];
    return 0.;
  case MEASURE:
    for (PetscInt n = 0; n < count; n++)
      whole[n] = r[n] + q[n];
    precondition(unknowns, work, block, whole, better);
    return dot(count, whole, better);
  case ADVANCE:
    for (PetscInt n = 0; n < count; n++)
      v[n] += coefficient * p[n];
    for (PetscInt n = 0; n < count; n++)
      r[n] -= coefficient * q[n];
    break;
  case TURN:
    precondition(unknowns, work, block, r, better);
    for (PetscInt n = 0; n < count; n++)
      p[n] = better[n] + coefficient * p[n];
    return 0.;
  default:
    break;
  }
  precondition(unknowns, work, block, r, better);
  return dot(count, r, better);
}

PetscReal unknowns_work(Fluid fluid, StressWork work, PetscReal coefficient)
{
  SolidUnknowns *unknowns = &fluid->stress->unknowns;
  PetscReal      sum = 0.;

  for (PetscInt b = 0; b < unknowns->block_count; b++) {
    const SolidBlock *block = &unknowns->blocks[b];

    if (block->is_free)
      sum += work_on_block(unknowns, work, coefficient, b, fluid->constraints->velocities);
    else if (work == ADVANCE)
      for (PetscInt n = block->first; n < block->first + block->count; n++)
        unknowns->residual[n] -= coefficient * unknowns->image[n];
  }
  return sum;
}

/* Owned constrained faces move with their bodies; `lags` (null: not asked for) is by how much they did not.
 */
static PetscErrorCode ConstrainFaces(Fluid fluid, const PetscReal velocities[], Vec faces[DIM],
                                     PetscReal *lags[DIM])
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    const PetscReal *mass;
    PetscReal       *u;

    PetscCall(
        VecGetArrayRead(lags ? fluid->stress->levels[0].mass[d] : fluid->stress->unknowns.mass[d], &mass));
    PetscCall(VecGetArray(faces[d], &u));
    for (PetscInt n = 0; n < fluid->constraints->constrained_count[d]; n++) {
      const ConstrainedFace *constrained = &fluid->constraints->constrained[d][n];
      const PetscReal        velocity = solid_row_velocity(&constrained->row, velocities);

      if (!(mass[constrained->face] > 0.))
        continue;
      if (lags)
        lags[d][n] = u[constrained->face] - velocity;
      u[constrained->face] = velocity;
    }
    PetscCall(VecRestoreArray(faces[d], &u));
    PetscCall(VecRestoreArrayRead(lags ? fluid->stress->levels[0].mass[d] : fluid->stress->unknowns.mass[d],
                                  &mass));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode KeepLoose(Fluid fluid, PetscInt d, Vec component)
{
  const PetscReal *u;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(component, &u));
  for (PetscInt n = 0; n < fluid->constraints->neighbour_count[d]; n++)
    fluid->stress->unknowns.loose[d][n] = u[fluid->constraints->wall_neighbours[d][n].face];
  PetscCall(VecRestoreArrayRead(component, &u));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidStartConstraints(Fluid fluid, Vec faces[DIM])
{
  SolidUnknowns *unknowns = &fluid->stress->unknowns;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(unknowns->before, fluid->constraints->velocities, unknowns->count));
  PetscCall(ConstrainFaces(fluid, unknowns->before, faces, unknowns->lags));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(KeepLoose(fluid, d, faces[d]));
  PetscFunctionReturn(0);
}

/* What given stresses do to the faces that move with solids. */
static PetscErrorCode PullSolids(Fluid fluid, PetscInt d)
{
  const FaceConstraints *constraints = fluid->constraints;
  const PetscReal       *mass, *pull;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid->stress->levels[0].mass[d], &mass));
  PetscCall(VecGetArrayRead(fluid->stress->pull[d], &pull));
  for (PetscInt n = 0; n < constraints->constrained_count[d]; n++) {
    const ConstrainedFace *constrained = &constraints->constrained[d][n];

    if (mass[constrained->face] > 0.)
      row_add_force(&constrained->row, pull[constrained->face], fluid->stress->unknowns.sums);
  }
  PetscCall(VecRestoreArrayRead(fluid->stress->pull[d], &pull));
  PetscCall(VecRestoreArrayRead(fluid->stress->levels[0].mass[d], &mass));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidBeginConstraints(Fluid fluid, Vec faces[DIM])
{
  const FaceConstraints *constraints = fluid->constraints;
  SolidUnknowns         *unknowns = &fluid->stress->unknowns;
  Pull                   pull = {-1., unknowns->before, {0}, unknowns->sums};

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(unknowns->sums, unknowns->count));
  PetscCall(FluidPullConstraints(fluid, &pull, faces, fluid->stress->residual));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    const PetscReal *mass;

    PetscCall(VecGetArrayRead(fluid->stress->levels[0].mass[d], &mass));
    for (PetscInt n = 0; n < constraints->constrained_count[d]; n++) {
      const ConstrainedFace *constrained = &constraints->constrained[d][n];

      if (mass[constrained->face] > 0.)
        row_add_force(&constrained->row, mass[constrained->face] * unknowns->lags[d][n], unknowns->sums);
    }
    PetscCall(VecRestoreArrayRead(fluid->stress->levels[0].mass[d], &mass));
    if (fluid->stress->pulls)
      PetscCall(PullSolids(fluid, d));
  }
  PetscCall(SumOverRanks(grid_box(fluid->grid)->comm, unknowns->count, unknowns->sums, unknowns->residual));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidConstrainFaces(Fluid fluid, const PetscReal velocities[], Vec faces[DIM],
                                   StressLevel *level)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    level->mass[d] = fluid->stress->unknowns.mass[d];
  PetscCall(ConstrainFaces(fluid, velocities, faces, NULL));
  PetscFunctionReturn(0);
}

void solid_apply_mass(Fluid fluid, const SolidBlock *block, const PetscReal *from, PetscReal *to)
{
  const PetscReal volume = PetscPowRealInt(grid_spacing(fluid->grid), grid_box(fluid->grid)->dimension);

  for (PetscInt n = 0; n < block->count; n++)
    to[n] = block->is_free ? dot(block->count, &block->mass[block->count * n], from) / volume : 0.;
}

PetscErrorCode FluidApplyConstraints(Fluid fluid, const ReproducibleSum *product, PetscReal *curvature)
{
  SolidUnknowns *unknowns = &fluid->stress->unknowns;
  const PetscInt count = unknowns->count;
  Pull           pull = {1., unknowns->search, *product, unknowns->sums};
  PetscReal      own[SOLID_BLOCK_LENGTH];

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(unknowns->sums, count));
  PetscCall(FluidPullConstraints(fluid, &pull, fluid->stress->search, fluid->stress->levels[0].image));
  unknowns->sums[count] = pull.product;
  PetscCall(SumOverRanks(grid_box(fluid->grid)->comm, count + 1, unknowns->sums, unknowns->image));
  *curvature = unknowns->image[count];
  for (PetscInt b = 0; b < unknowns->block_count; b++) {
    const SolidBlock *block = &unknowns->blocks[b];

    solid_apply_mass(fluid, block, &unknowns->search[block->first], own);
    *curvature += dot(block->count, &unknowns->search[block->first], own);
    for (PetscInt n = 0; n < block->count; n++)
      unknowns->image[block->first + n] += own[n];
  }
  PetscFunctionReturn(0);
}

/* What viscosity did not reach keeps its own velocity. */
static PetscErrorCode LoosenFaces(Fluid fluid, PetscInt d, Vec component)
{
  const SolidUnknowns *unknowns = &fluid->stress->unknowns;
  PetscReal           *u;

  PetscFunctionBegin;
  PetscCall(VecGetArray(component, &u));
  for (PetscInt n = 0; n < fluid->constraints->constrained_count[d]; n++) {
    const ConstrainedFace *constrained = &fluid->constraints->constrained[d][n];
    const PetscReal before = unknowns->lags[d][n] + solid_row_velocity(&constrained->row, unknowns->before);

    if (unknowns->shares[d][n] < 1.)
      u[constrained->face] += (1. - unknowns->shares[d][n]) * (before - u[constrained->face]);
  }
  for (PetscInt n = 0; n < fluid->constraints->neighbour_count[d]; n++) {
    const PetscInt face = fluid->constraints->wall_neighbours[d][n].face;

    if (unknowns->reach[d][n] < 1.)
      u[face] += (1. - unknowns->reach[d][n]) * (unknowns->loose[d][n] - u[face]);
  }
  PetscCall(VecRestoreArray(component, &u));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidFinishConstraints(Fluid fluid, Vec faces[DIM])
{
  const PetscReal      volume = PetscPowRealInt(grid_spacing(fluid->grid), grid_box(fluid->grid)->dimension);
  const SolidUnknowns *unknowns = &fluid->stress->unknowns;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(LoosenFaces(fluid, d, faces[d]));
  for (PetscInt b = 0; b < unknowns->block_count; b++) {
    const SolidBlock *block = &unknowns->blocks[b];
    PetscReal         gained[SOLID_BLOCK_LENGTH], taken[SOLID_BLOCK_LENGTH];

    for (PetscInt n = 0; n < block->count; n++)
      gained[n] = fluid->constraints->velocities[block->first + n] - unknowns->before[block->first + n];
    solid_apply_mass(fluid, block, gained, taken);
    for (PetscInt n = 0; n < block->count; n++)
      fluid->constraint_impulses[block->first + n] =
          volume * (block->is_free ? taken[n] : unknowns->residual[block->first + n]);
  }
  PetscFunctionReturn(0);
}
