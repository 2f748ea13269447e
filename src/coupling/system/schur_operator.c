/* The operator S = A + B C^-1 B^T, with the part of deforming solids, and the cycle on A, on solver vectors
 * of the fluid team. */
#include "../coupling_impl.h"

PetscErrorCode CouplingGather(Coupling coupling, Vec x, PetscReal pull[])
{
  const PetscInt   count = TWIST * coupling->solids.free_count;
  const PetscReal *values;
  ReproducibleSum *sums;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(count, &sums));
  PetscCall(VecGetArrayRead(x, &values));
  coupling_matrix_multiply_transpose(&coupling->system.matrix, coupling->solids.free_count, values, sums);
  PetscCall(VecRestoreArrayRead(x, &values));
  PetscCall(SumOverRanks(coupling->fluid, count, sums, pull));
  PetscCall(PetscFree(sums));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingApplySchur(Coupling coupling, Vec x, Vec y)
{
  const PetscInt count = TWIST * coupling->solids.free_count;
  PetscReal     *values, *pull, *motion;

  PetscFunctionBegin;
  PetscCall(PoissonMultiplyVector(coupling->system.poisson, x, y));
  PetscCall(CouplingAddDeforming(coupling, x, y));
  if (!coupling->solids.free_count)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc2(count, &pull, count, &motion));
  PetscCall(CouplingGather(coupling, x, pull));
  PetscCall(SolidSystemSolveLocal(coupling->system.solid, pull, motion));
  PetscCall(VecGetArray(y, &values));
  coupling_matrix_multiply(&coupling->system.matrix, coupling->solids.free_count, motion, values);
  PetscCall(VecRestoreArray(y, &values));
  PetscCall(PetscFree2(pull, motion));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingCycle(Coupling coupling, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PoissonCycle(coupling->system.poisson, x, y));
  PetscCall(CoupledSystemUseNullSpace(&coupling->system, NULL_SPACE_LIFT, x, y));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingEliminate(Coupling coupling, Vec q, PetscReal *twists)
{
  const PetscInt count = TWIST * coupling->solids.free_count;
  PetscReal     *pull;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, &pull));
  PetscCall(CouplingGather(coupling, q, pull));
  for (PetscInt n = 0; n < count; n++)
    pull[n] = coupling->system.push[n] - pull[n];
  PetscCall(SolidSystemSolve(coupling->system.solid, pull, twists));
  PetscCall(PetscFree(pull));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingFindResidual(Coupling coupling, Vec q, Vec residual)
{
  PetscFunctionBegin;
  PetscCall(CouplingApplySchur(coupling, q, residual));
  PetscCall(VecAYPX(residual, -1., coupling->system.right_side));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingMeasure(Coupling coupling, Vec q, PetscReal *residual)
{
  PetscReal after;
  Vec       rest;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(coupling->system.right_side, &rest)); /* with norms in no order of ranks */
  PetscCall(CouplingFindResidual(coupling, q, rest));
  PetscCall(VecNorm(rest, NORM_2, &after));
  PetscCall(VecDestroy(&rest));
  *residual = coupling->system.reference > 0. ? after / coupling->system.reference : after;
  PetscFunctionReturn(0);
}
