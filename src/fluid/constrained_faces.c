/* Bodies as unknowns of the viscous solve (docs/numerics.md, section 15): with u = W V on tied faces

     M_F (u - u^) + dt K u = 0             on the other faces,
     M_S (V - V^) + W^T (M_F (u - u^) + dt K u) = 0   for every free body;

   the conjugate gradients of stress.c run over both. The residual of a body whose velocity is given is the
   impulse that it takes. */
#include "stress_impl.h"

#include <millrace/dense.h>

PetscErrorCode FluidSetTies(Fluid fluid, const Ties *ties)
{
  PetscFunctionBegin;
  PetscCheck(!ties || fluid->mixture, grid_box(fluid->grid)->comm, PETSC_ERR_ORDER,
             "Ties need a mixture: call FluidSetMixture first");
  fluid->ties = ties;
  PetscCall(PetscFree(fluid->tie_impulses));
  if (ties)
    PetscCall(PetscCalloc1(TWIST * ties->body_count, &fluid->tie_impulses));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetTieImpulses(Fluid fluid, PetscReal impulses[])
{
  PetscFunctionBegin;
  if (fluid->ties)
    PetscCall(PetscArraycpy(impulses, fluid->tie_impulses, TWIST * fluid->ties->body_count));
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

static PetscReal work_on_body(const Tied *tied, StressWork work, PetscReal coefficient, PetscInt body,
                              PetscReal *twist)
{
  const PetscReal *factor = &tied->factor[TWIST * TWIST * body];
  PetscReal       *r = &tied->residual[TWIST * body], *p = &tied->search[TWIST * body],
            *q = &tied->image[TWIST * body], better[TWIST], whole[TWIST];

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

PetscReal tied_work(Fluid fluid, StressWork work, PetscReal coefficient)
{
  const Ties *ties = fluid->ties;
  Tied       *tied = &fluid->stress->tied;
  PetscReal   sum = 0.;

  for (PetscInt b = 0; b < tied->count; b++)
    if (ties->is_free[b])
      sum += work_on_body(tied, work, coefficient, b, &ties->twists[TWIST * b]);
    else if (work == ADVANCE)
      for (PetscInt n = 0; n < TWIST; n++)
        tied->residual[TWIST * b + n] -= coefficient * tied->image[TWIST * b + n];
  return sum;
}

/* Owned tied faces move with their bodies; `lags` (null: not asked for) is by how much they did not. */
static PetscErrorCode TieFaces(Fluid fluid, const PetscReal twists[], Vec faces[DIM], PetscReal *lags[DIM])
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    const PetscReal *mass;
    PetscReal       *u;

    PetscCall(VecGetArrayRead(lags ? fluid->stress->levels[0].mass[d] : fluid->stress->tied.mass[d], &mass));
    PetscCall(VecGetArray(faces[d], &u));
    for (PetscInt n = 0; n < fluid->ties->tie_count[d]; n++) {
      const Tie      *tie = &fluid->ties->ties[d][n];
      const PetscReal velocity = dot(TWIST, tie->row, &twists[TWIST * tie->body]);

      if (!(mass[tie->face] > 0.))
        continue;
      if (lags)
        lags[d][n] = u[tie->face] - velocity;
      u[tie->face] = velocity;
    }
    PetscCall(VecRestoreArray(faces[d], &u));
    PetscCall(
        VecRestoreArrayRead(lags ? fluid->stress->levels[0].mass[d] : fluid->stress->tied.mass[d], &mass));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode KeepLoose(Fluid fluid, PetscInt d, Vec component)
{
  const PetscReal *u;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(component, &u));
  for (PetscInt n = 0; n < fluid->ties->brush_count[d]; n++)
    fluid->stress->tied.loose[d][n] = u[fluid->ties->brushes[d][n].face];
  PetscCall(VecRestoreArrayRead(component, &u));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidStartTies(Fluid fluid, Vec faces[DIM])
{
  Tied *tied = &fluid->stress->tied;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(tied->before, fluid->ties->twists, TWIST * tied->count));
  PetscCall(TieFaces(fluid, tied->before, faces, tied->lags));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(KeepLoose(fluid, d, faces[d]));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidBeginTies(Fluid fluid, Vec faces[DIM])
{
  const Ties *ties = fluid->ties;
  Tied       *tied = &fluid->stress->tied;
  Pull        pull = {-1., tied->before, 0., tied->residual};

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(tied->residual, TWIST * tied->count));
  PetscCall(FluidPullTies(fluid, &pull, faces, fluid->stress->residual));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    const PetscReal *mass;

    PetscCall(VecGetArrayRead(fluid->stress->levels[0].mass[d], &mass));
    for (PetscInt n = 0; n < ties->tie_count[d]; n++) {
      const Tie *tie = &ties->ties[d][n];

      for (PetscInt m = 0; m < TWIST && mass[tie->face] > 0.; m++)
        tied->residual[TWIST * tie->body + m] += mass[tie->face] * tied->lags[d][n] * tie->row[m];
    }
    PetscCall(VecRestoreArrayRead(fluid->stress->levels[0].mass[d], &mass));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, tied->residual, (PetscMPIInt)(TWIST * tied->count), MPIU_REAL,
                             MPI_SUM, grid_box(fluid->grid)->comm));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidTieSearch(Fluid fluid, StressLevel *level)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    level->mass[d] = fluid->stress->tied.mass[d];
  PetscCall(TieFaces(fluid, fluid->stress->tied.search, fluid->stress->search, NULL));
  PetscFunctionReturn(0);
}

/* to += resistance from, over the volume of a cell. */
static void add_resistance(Fluid fluid, PetscInt body, const PetscReal *from, PetscReal *to)
{
  const PetscReal volume = PetscPowRealInt(grid_spacing(fluid->grid), grid_box(fluid->grid)->dimension);

  for (PetscInt n = 0; n < TWIST; n++)
    to[n] += dot(TWIST, &fluid->ties->resistance[TWIST * (TWIST * body + n)], from) / volume;
}

PetscErrorCode FluidApplyTies(Fluid fluid, PetscReal *curvature)
{
  Tied          *tied = &fluid->stress->tied;
  const PetscInt count = TWIST * tied->count;
  Pull           pull = {1., tied->search, *curvature, tied->sums};
  PetscReal      own[TWIST];

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(tied->sums, count));
  PetscCall(FluidPullTies(fluid, &pull, fluid->stress->search, fluid->stress->levels[0].image));
  tied->sums[count] = pull.product;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, tied->sums, (PetscMPIInt)(count + 1), MPIU_REAL, MPI_SUM,
                             grid_box(fluid->grid)->comm));
  *curvature = tied->sums[count];
  for (PetscInt b = 0; b < tied->count; b++) {
    const PetscReal *p = &tied->search[TWIST * b];

    for (PetscInt n = 0; n < TWIST; n++)
      own[n] = 0.;
    if (fluid->ties->is_free[b])
      add_resistance(fluid, b, p, own);
    *curvature += dot(TWIST, p, own);
    for (PetscInt n = 0; n < TWIST; n++)
      tied->image[TWIST * b + n] = tied->sums[TWIST * b + n] + own[n];
  }
  PetscFunctionReturn(0);
}

/* What viscosity did not reach keeps its own velocity. */
static PetscErrorCode LoosenFaces(Fluid fluid, PetscInt d, Vec component)
{
  const Tied *tied = &fluid->stress->tied;
  PetscReal  *u;

  PetscFunctionBegin;
  PetscCall(VecGetArray(component, &u));
  for (PetscInt n = 0; n < fluid->ties->tie_count[d]; n++) {
    const Tie      *tie = &fluid->ties->ties[d][n];
    const PetscReal before = tied->lags[d][n] + dot(TWIST, tie->row, &tied->before[TWIST * tie->body]);

    if (tied->shares[d][n] < 1.)
      u[tie->face] += (1. - tied->shares[d][n]) * (before - u[tie->face]);
  }
  for (PetscInt n = 0; n < fluid->ties->brush_count[d]; n++) {
    const PetscInt face = fluid->ties->brushes[d][n].face;

    if (tied->reach[d][n] < 1.)
      u[face] += (1. - tied->reach[d][n]) * (tied->loose[d][n] - u[face]);
  }
  PetscCall(VecRestoreArray(component, &u));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidFinishTies(Fluid fluid, Vec faces[DIM])
{
  const PetscReal volume = PetscPowRealInt(grid_spacing(fluid->grid), grid_box(fluid->grid)->dimension);
  const Tied     *tied = &fluid->stress->tied;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(LoosenFaces(fluid, d, faces[d]));
  for (PetscInt b = 0; b < tied->count; b++) {
    PetscReal gained[TWIST], taken[TWIST] = {0.};

    for (PetscInt n = 0; n < TWIST; n++)
      gained[n] = fluid->ties->twists[TWIST * b + n] - tied->before[TWIST * b + n];
    if (fluid->ties->is_free[b])
      add_resistance(fluid, b, gained, taken);
    for (PetscInt n = 0; n < TWIST; n++)
      fluid->tie_impulses[TWIST * b + n] =
          volume * (fluid->ties->is_free[b] ? taken[n] : tied->residual[TWIST * b + n]);
  }
  PetscFunctionReturn(0);
}
