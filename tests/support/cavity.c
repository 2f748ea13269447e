#include "cavity.h"

/* Largest difference of u between now and `before`, which becomes now. */
static PetscErrorCode UpdateChange(SceneRun *flow, Vec before, PetscReal *change)
{
  Vec now;

  PetscFunctionBegin;
  PetscCall(SceneRunGetField(flow, X, &now));
  PetscCall(VecAXPY(before, -1., now));
  PetscCall(VecNorm(before, NORM_INFINITY, change));
  PetscCall(VecCopy(now, before));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, change, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

static PetscErrorCode RunUntilSteady(SceneRun *flow, PetscReal tolerance, PetscReal latest, PetscReal *time)
{
  PetscReal change = PETSC_MAX_REAL;
  Vec       before;

  PetscFunctionBegin;
  PetscCall(MacGridCreateField(flow->grid, &before));
  for (*time = 0.; change > tolerance && *time < latest;) {
    *time += 1.;
    PetscCall(SceneRunUntil(flow, *time));
    PetscCall(UpdateChange(flow, before, &change));
  }
  PetscCheck(change <= tolerance, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED,
             "The cavity still changes by %g in a second at t = %g", (double)change, (double)*time);
  PetscCall(VecDestroy(&before));
  PetscFunctionReturn(0);
}

static PetscErrorCode CompareWithTable(SceneRun *flow, const GhiaTable *table, PetscReal *deviation)
{
  PetscReal value;

  PetscFunctionBegin;
  *deviation = 0.;
  for (PetscInt n = 0; n < GHIA_POINTS; n++) {
    PetscCall(SceneRunSample(flow, X, vector3(0.5, table->y[n], 0.), &value));
    *deviation = PetscMax(*deviation, PetscAbsReal(value - table->u[n]));
    PetscCall(SceneRunSample(flow, Y, vector3(table->x[n], 0.5, 0.), &value));
    if (n != table->bad_v)
      *deviation = PetscMax(*deviation, PetscAbsReal(value - table->v[n]));
  }
  PetscFunctionReturn(0);
}

/* Of the parabola through the lowest value on the faces along x = 1/2 and its neighbours. */
static PetscErrorCode LowestOnMiddle(SceneRun *flow, PetscInt resolution, PetscReal *lowest)
{
  const PetscReal h = 1. / resolution;
  PetscReal       values[3] = {0.}, value;

  PetscFunctionBegin;
  *lowest = PETSC_MAX_REAL;
  for (PetscInt j = 0; j < resolution; j++) {
    PetscCall(SceneRunSample(flow, X, vector3(0.5, (j + 0.5) * h, 0.), &value));
    values[0] = values[1];
    values[1] = values[2];
    values[2] = value;
    if (j >= 2 && values[1] <= values[0] && values[1] <= values[2])
      *lowest = PetscMin(*lowest, values[1] - PetscSqr(values[2] - values[0]) /
                                                  (8. * (values[0] - 2. * values[1] + values[2])));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode CavityRun(const GhiaTable *table, PetscInt resolution, PetscReal change, PetscReal latest,
                         CavityResult *result)
{
  SceneRun flow;

  PetscFunctionBegin;
  PetscCall(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                           "grid: {dimension: 2, size: [1, 1], resolution: %d}\n"
                           "run: {end_time: 1000, frame_interval: 1000}\n"
                           "fluid:\n"
                           "  density: 1\n"
                           "  viscosity: 1/%d\n"
                           "  sides: {y_high: {type: wall, velocity: [1, 0]}}\n",
                           (int)resolution, table->reynolds));
  PetscCall(RunUntilSteady(&flow, change, latest, &result->steady_after));
  PetscCall(CompareWithTable(&flow, table, &result->deviation));
  PetscCall(LowestOnMiddle(&flow, resolution, &result->lowest_u));
  PetscCall(SceneRunDestroy(&flow));
  PetscFunctionReturn(0);
}
