/* The operator S = A + B C^-1 B^T and the cycle on A, on solver vectors of the fluid team. */
#include "../coupling_impl.h"

PetscErrorCode CouplingGather(Coupling coupling, Vec x)
{
  const PetscInt   count = TWIST * coupling->free_count;
  const PetscReal *values;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(coupling->pull, count));
  PetscCall(VecGetArrayRead(x, &values));
  rows_gather(&coupling->rows, values, coupling->pull);
  PetscCall(VecRestoreArrayRead(x, &values));
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, coupling->pull, (PetscMPIInt)count, MPIU_REAL, MPI_SUM, coupling->fluid));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingApplySchur(Coupling coupling, Vec x, Vec y)
{
  PetscReal *values;

  PetscFunctionBegin;
  PetscCall(PoissonMultiplyVector(coupling->poisson, x, y));
  if (!coupling->free_count)
    PetscFunctionReturn(0);
  PetscCall(CouplingGather(coupling, x));
  PetscCall(MassApplyInverse(&coupling->mass, coupling->pull, coupling->motion));
  PetscCall(VecGetArray(y, &values));
  rows_apply(&coupling->rows, coupling->motion, values);
  PetscCall(VecRestoreArray(y, &values));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingCycle(Coupling coupling, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PoissonCycle(coupling->poisson, x, y));
  PetscCall(CouplingUseSealed(coupling, SEALED_LIFT, x, y));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingEliminate(Coupling coupling, Vec q, PetscReal *twists)
{
  PetscFunctionBegin;
  PetscCall(CouplingGather(coupling, q));
  for (PetscInt n = 0; n < TWIST * coupling->free_count; n++)
    coupling->pull[n] = coupling->push[n] - coupling->pull[n];
  PetscCall(MassApplyInverse(&coupling->mass, coupling->pull, twists));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingMeasure(Coupling coupling, Vec q, PetscReal *residual)
{
  PetscReal after;

  PetscFunctionBegin;
  PetscCall(CouplingApplySchur(coupling, q, coupling->work));
  PetscCall(VecAYPX(coupling->work, -1., coupling->right_side));
  PetscCall(VecNorm(coupling->work, NORM_2, &after));
  *residual = coupling->reference > 0. ? after / coupling->reference : after;
  PetscFunctionReturn(0);
}
