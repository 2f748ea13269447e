/* Bodies as unknowns of the viscous solve (docs/numerics.md, section 15): with u = W V on constrained faces

     M_F (u - u^) + dt K u = 0             on the other faces,
     M_S (V - V^) + W^T (M_F (u - u^) + dt K u) = 0   for every free body;

   the conjugate gradients of stress.c run over both. The residual of a body whose velocity is given is the
   impulse that it takes. */
#include "stress_impl.h"

#include <millrace/dense.h>

PetscErrorCode FluidSetConstraints(Fluid fluid, const FaceConstraints *constraints)
{
  PetscFunctionBegin;
  PetscCheck(!constraints || fluid->mixture, grid_box(fluid->grid)->comm, PETSC_ERR_ORDER,
             "Constrained faces need a mixture: call FluidSetMixture first");
  fluid->constraints = constraints;
  PetscCall(PetscFree(fluid->constraint_impulses));
  if (constraints)
    PetscCall(PetscCalloc1(TWIST * constraints->body_count, &fluid->constraint_impulses));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetConstraintImpulses(Fluid fluid, PetscReal impulses[])
{
  PetscFunctionBegin;
  if (fluid->constraints)
    PetscCall(PetscArraycpy(impulses, fluid->constraint_impulses, TWIST * fluid->constraints->body_count));
  PetscFunctionReturn(0);
}

static PetscReal dot(PetscInt count, const PetscReal *a, const PetscReal *b)
{
  PetscReal sum = 0.;

  for (PetscInt n = 0; n < count; n++)
    sum += a[n] * b[n];
  return sum;
}

/* x = (L L^T)^-1 b; zero where the factor is. */
static void solve_block(const PetscReal *factor, const PetscReal b[TWIST], PetscReal x[TWIST])
{
  for (PetscInt i = 0; i < TWIST; i++)
    x[i] = b[i];
  dense_cholesky_solve(TWIST, TWIST, factor, x);
}

static PetscReal work_on_body(const BodyUnknowns *unknowns, StressWork work, PetscReal coefficient,
                              PetscInt body, PetscReal *twist)
{
  const PetscReal *factor = &unknowns->factor[TWIST * TWIST * body];
  PetscReal       *r = &unknowns->residual[TWIST * body], *p = &unknowns->search[TWIST * body],
            *q = &unknowns->image[TWIST * body], better[TWIST], whole[TWIST];

  switch (work) {
  case TAKE:
    for (PetscInt n = 0; n < TWIST; n++)
      p[n] = twist[n];
    return 0.;
  case MEASURE:
    for (PetscInt n = 0; n < TWIST; n++)
      whole[n] = r[n] + q[n];
    solve_block(factor, whole, better);
    return dot(TWIST, whole, better);
  case ADVANCE:
    for (PetscInt n = 0; n < TWIST; n++)
      twist[n] += coefficient * p[n];
    for (PetscInt n = 0; n < TWIST; n++)
      r[n] -= coefficient * q[n];
    break;
  case TURN:
    solve_block(factor, r, better);
    for (PetscInt n = 0; n < TWIST; n++)
      p[n] = better[n] + coefficient * p[n];
    return 0.;
  default:
    break;
  }
  solve_block(factor, r, better);
  return dot(TWIST, r, better);
}

PetscReal unknowns_work(Fluid fluid, StressWork work, PetscReal coefficient)
{
  const FaceConstraints *constraints = fluid->constraints;
  BodyUnknowns          *unknowns = &fluid->stress->unknowns;
  PetscReal              sum = 0.;

  for (PetscInt b = 0; b < unknowns->count; b++)
    if (constraints->is_free[b])
      sum += work_on_body(unknowns, work, coefficient, b, &constraints->twists[TWIST * b]);
    else if (work == ADVANCE)
      for (PetscInt n = 0; n < TWIST; n++)
        unknowns->residual[TWIST * b + n] -= coefficient * unknowns->image[TWIST * b + n];
  return sum;
}

/* Owned constrained faces move with their bodies; `lags` (null: not asked for) is by how much they did not.
 */
static PetscErrorCode ConstrainFaces(Fluid fluid, const PetscReal twists[], Vec faces[DIM],
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
      const PetscReal        velocity = dot(TWIST, constrained->row, &twists[TWIST * constrained->body]);

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
  BodyUnknowns *unknowns = &fluid->stress->unknowns;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(unknowns->before, fluid->constraints->twists, TWIST * unknowns->count));
  PetscCall(ConstrainFaces(fluid, unknowns->before, faces, unknowns->lags));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(KeepLoose(fluid, d, faces[d]));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidBeginConstraints(Fluid fluid, Vec faces[DIM])
{
  const FaceConstraints *constraints = fluid->constraints;
  BodyUnknowns          *unknowns = &fluid->stress->unknowns;
  Pull                   pull = {-1., unknowns->before, 0., unknowns->residual};

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(unknowns->residual, TWIST * unknowns->count));
  PetscCall(FluidPullConstraints(fluid, &pull, faces, fluid->stress->residual));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    const PetscReal *mass;

    PetscCall(VecGetArrayRead(fluid->stress->levels[0].mass[d], &mass));
    for (PetscInt n = 0; n < constraints->constrained_count[d]; n++) {
      const ConstrainedFace *constrained = &constraints->constrained[d][n];

      for (PetscInt m = 0; m < TWIST && mass[constrained->face] > 0.; m++)
        unknowns->residual[TWIST * constrained->body + m] +=
            mass[constrained->face] * unknowns->lags[d][n] * constrained->row[m];
    }
    PetscCall(VecRestoreArrayRead(fluid->stress->levels[0].mass[d], &mass));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, unknowns->residual, (PetscMPIInt)(TWIST * unknowns->count),
                             MPIU_REAL, MPI_SUM, grid_box(fluid->grid)->comm));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidConstrainSearch(Fluid fluid, StressLevel *level)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    level->mass[d] = fluid->stress->unknowns.mass[d];
  PetscCall(ConstrainFaces(fluid, fluid->stress->unknowns.search, fluid->stress->search, NULL));
  PetscFunctionReturn(0);
}

/* to += resistance from, over the volume of a cell. */
static void add_resistance(Fluid fluid, PetscInt body, const PetscReal *from, PetscReal *to)
{
  const PetscReal volume = PetscPowRealInt(grid_spacing(fluid->grid), grid_box(fluid->grid)->dimension);

  for (PetscInt n = 0; n < TWIST; n++)
    to[n] += dot(TWIST, &fluid->constraints->resistance[TWIST * (TWIST * body + n)], from) / volume;
}

PetscErrorCode FluidApplyConstraints(Fluid fluid, PetscReal *curvature)
{
  BodyUnknowns  *unknowns = &fluid->stress->unknowns;
  const PetscInt count = TWIST * unknowns->count;
  Pull           pull = {1., unknowns->search, *curvature, unknowns->sums};
  PetscReal      own[TWIST];

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(unknowns->sums, count));
  PetscCall(FluidPullConstraints(fluid, &pull, fluid->stress->search, fluid->stress->levels[0].image));
  unknowns->sums[count] = pull.product;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, unknowns->sums, (PetscMPIInt)(count + 1), MPIU_REAL, MPI_SUM,
                             grid_box(fluid->grid)->comm));
  *curvature = unknowns->sums[count];
  for (PetscInt b = 0; b < unknowns->count; b++) {
    const PetscReal *p = &unknowns->search[TWIST * b];

    for (PetscInt n = 0; n < TWIST; n++)
      own[n] = 0.;
    if (fluid->constraints->is_free[b])
      add_resistance(fluid, b, p, own);
    *curvature += dot(TWIST, p, own);
    for (PetscInt n = 0; n < TWIST; n++)
      unknowns->image[TWIST * b + n] = unknowns->sums[TWIST * b + n] + own[n];
  }
  PetscFunctionReturn(0);
}

/* What viscosity did not reach keeps its own velocity. */
static PetscErrorCode LoosenFaces(Fluid fluid, PetscInt d, Vec component)
{
  const BodyUnknowns *unknowns = &fluid->stress->unknowns;
  PetscReal          *u;

  PetscFunctionBegin;
  PetscCall(VecGetArray(component, &u));
  for (PetscInt n = 0; n < fluid->constraints->constrained_count[d]; n++) {
    const ConstrainedFace *constrained = &fluid->constraints->constrained[d][n];
    const PetscReal        before =
        unknowns->lags[d][n] + dot(TWIST, constrained->row, &unknowns->before[TWIST * constrained->body]);

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
  const PetscReal     volume = PetscPowRealInt(grid_spacing(fluid->grid), grid_box(fluid->grid)->dimension);
  const BodyUnknowns *unknowns = &fluid->stress->unknowns;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(LoosenFaces(fluid, d, faces[d]));
  for (PetscInt b = 0; b < unknowns->count; b++) {
    PetscReal gained[TWIST], taken[TWIST] = {0.};

    for (PetscInt n = 0; n < TWIST; n++)
      gained[n] = fluid->constraints->twists[TWIST * b + n] - unknowns->before[TWIST * b + n];
    if (fluid->constraints->is_free[b])
      add_resistance(fluid, b, gained, taken);
    for (PetscInt n = 0; n < TWIST; n++)
      fluid->constraint_impulses[TWIST * b + n] =
          volume * (fluid->constraints->is_free[b] ? taken[n] : unknowns->residual[TWIST * b + n]);
  }
  PetscFunctionReturn(0);
}
