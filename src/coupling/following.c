/* The mass of fluid that follows each body, K = diag(B^T A^-1 B), for the preconditioner of the block system.

   With C alone a light body has the Schur complement C + B^T A^-1 B far above its preconditioner C, and
   MINRES needs hundreds of iterations; with C + K the eigenvalues are bounded whatever the body weighs. One
   cycle per velocity for all bodies together, each with a sign of its own, so that what neighbours add
   averages out. */
#include "coupling_impl.h"

static PetscReal sign_of(PetscInt body)
{
  return ((uint32_t)body * 2654435761u) >> 31 ? -1. : 1.;
}

/* Column by column, on the fluid team. */
static PetscErrorCode Estimate(Coupling coupling, PetscReal *following)
{
  const PetscInt count = TWIST * coupling->free_count;
  PetscReal     *values, *motion;
  Vec            pushed, response;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(coupling->flow, &pushed));
  PetscCall(VecDuplicate(coupling->flow, &response));
  PetscCall(PetscMalloc1(count, &motion));
  for (PetscInt n = 0; n < TWIST; n++) {
    for (PetscInt i = 0; i < count; i++)
      motion[i] = i % TWIST == n ? sign_of(i / TWIST) : 0.;
    PetscCall(VecSet(pushed, 0.));
    PetscCall(VecGetArray(pushed, &values));
    entries_apply(&coupling->free_entries, motion, values);
    PetscCall(VecRestoreArray(pushed, &values));
    PetscCall(PoissonCycle(coupling->poisson, pushed, response));
    PetscCall(PetscArrayzero(motion, count));
    PetscCall(VecGetArray(response, &values));
    entries_gather(&coupling->free_entries, values, motion);
    PetscCall(VecRestoreArray(response, &values));
    for (PetscInt i = n; i < count; i += TWIST)
      following[i] = motion[i] * sign_of(i / TWIST);
  }
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, following, (PetscMPIInt)count, MPIU_REAL, MPI_SUM, coupling->fluid));
  PetscCall(PetscFree(motion));
  PetscCall(VecDestroy(&pushed));
  PetscCall(VecDestroy(&response));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingSoftenMass(Coupling coupling)
{
  const PetscInt count = TWIST * coupling->free_count;
  PetscReal     *following;
  PetscBool      is_positive;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(count, &following));
  if (coupling->grid)
    PetscCall(Estimate(coupling, following));
  PetscCallMPI(MPI_Bcast(following, (PetscMPIInt)count, MPIU_REAL, 0, coupling->world));
  for (PetscInt g = 0; g < coupling->mass.group_count; g++) {
    MassGroup     *group = &coupling->mass.groups[g];
    const PetscInt n = TWIST * group->count;

    PetscCall(PetscArraycpy(group->softened, group->matrix, n * n));
    for (PetscInt i = 0; i < n; i++)
      group->softened[n * i + i] += PetscMax(following[TWIST * group->bodies[i / TWIST] + i % TWIST], 0.);
    PetscCall(DenseInvert(n, group->softened, &is_positive));
  }
  PetscCall(PetscFree(following));
  PetscFunctionReturn(0);
}
