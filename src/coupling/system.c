/* The operator S = A + B C^-1 B^T and its preconditioner, on solver vectors of the fluid team. */
#include "coupling_impl.h"

/* pull = B^T x over all ranks. */
static PetscErrorCode Gather(Coupling coupling, Vec x)
{
  const PetscInt   count = TWIST * coupling->free_count;
  const PetscReal *values;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(coupling->pull, count));
  PetscCall(VecGetArrayRead(x, &values));
  entries_gather(&coupling->free_entries, values, coupling->pull);
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
  PetscCall(Gather(coupling, x));
  mass_apply_inverse(&coupling->mass, coupling->pull, coupling->motion);
  PetscCall(VecGetArray(y, &values));
  entries_apply(&coupling->free_entries, coupling->motion, values);
  PetscCall(VecRestoreArray(y, &values));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingPrecondition(Coupling coupling, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PoissonCycle(coupling->poisson, x, y));
  PetscCall(CouplingUseSealed(coupling, SEALED_LIFT, x, y));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingEliminate(Coupling coupling, Vec q, PetscReal *twists)
{
  PetscFunctionBegin;
  PetscCall(Gather(coupling, q));
  for (PetscInt n = 0; n < TWIST * coupling->free_count; n++)
    coupling->pull[n] = coupling->push[n] - coupling->pull[n];
  mass_apply_inverse(&coupling->mass, coupling->pull, twists);
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
