/* Where a solve got stuck, in words. */
#include "../coupling_impl.h"

static PetscInt largest_of(PetscInt count, const PetscReal *sums)
{
  PetscInt largest = -1;

  for (PetscInt n = 0; n < count; n++)
    if (sums[n] > 0. && (largest < 0 || sums[n] > sums[largest]))
      largest = n;
  return largest;
}

static PetscErrorCode FindWorst(Coupling coupling, CouplingReport *report)
{
  const PetscInt components = poisson_components(coupling->system.poisson).count,
                 count = components + coupling->solids.count;
  const CouplingMatrix *matrix = &coupling->system.matrix;
  const PetscReal      *residual;
  PetscReal            *sums;
  Vec                   rest;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(count, &sums));
  PetscCall(VecDuplicate(coupling->system.flow, &rest));
  PetscCall(CouplingFindResidual(coupling, coupling->system.solution, rest));
  PetscCall(VecGetArrayRead(rest, &residual));
  for (PetscInt c = 0; c < coupling->cell_count; c++)
    if (coupling->system.labels[c] >= 0)
      sums[coupling->system.labels[c]] += PetscSqr(residual[c]);
  for (PetscInt b = 0; b < coupling->solids.count; b++)
    for (PetscInt r = matrix->first[coupling->solids.bodies[b].slot];
         r < matrix->first[coupling->solids.bodies[b].slot + 1]; r++)
      sums[components + b] += PetscSqr(residual[matrix->cells[r]]);
  PetscCall(VecRestoreArrayRead(rest, &residual));
  PetscCall(VecDestroy(&rest));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, (PetscMPIInt)count, MPIU_REAL, MPI_SUM, coupling->fluid));
  report->worst_component = largest_of(components, sums);
  report->worst_body = largest_of(coupling->solids.count, sums + components);
  PetscCall(PetscFree(sums));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingDiagnose(Coupling coupling, CouplingReport *report)
{
  const PoissonComponents components = poisson_components(coupling->system.poisson);
  char                    place[96] = "";

  PetscFunctionBegin;
  PetscCall(FindWorst(coupling, report));
  if (report->worst_component >= 0)
    PetscCall(PetscSNPrintf(place, sizeof(place),
                            ", most of it in fluid component %" PetscInt_FMT " (%.0f cells%s)",
                            report->worst_component, (double)components.cells[report->worst_component],
                            components.is_sealed[report->worst_component] ? ", sealed" : ""));
  PetscCall(PetscSNPrintf(
      report->message, sizeof(report->message),
      "the coupled solve (%s) left a residual of %.1e after %" PetscInt_FMT " iterations%s: %s",
      CouplingSolvers[coupling->config.solver], (double)report->residual, report->iterations, place,
      report->reason == KSP_DIVERGED_ITS && coupling->config.solver != COUPLING_SCHUR
          ? "set coupling.solver: schur, or raise coupling.iterations"
      : report->reason == KSP_DIVERGED_ITS ? "raise coupling.iterations"
                                           : "use a smaller time step"));
  PetscFunctionReturn(0);
}
