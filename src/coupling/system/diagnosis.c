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

/* |B|^T |q| of the free bodies, over all ranks of the fluid. */
static PetscErrorCode GatherSizes(Coupling coupling, PetscReal sizes[])
{
  const CouplingMatrix *matrix = &coupling->system.matrix;
  const PetscReal      *q;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(sizes, TWIST * coupling->solids.free_count));
  PetscCall(VecGetArrayRead(coupling->system.solution, &q));
  for (PetscInt b = 0; b < coupling->solids.free_count; b++)
    for (PetscInt r = matrix->first[b]; r < matrix->first[b + 1]; r++)
      for (PetscInt n = 0; n < TWIST; n++)
        sizes[TWIST * b + n] += PetscAbsReal(matrix->values[TWIST * r + n] * q[matrix->cells[r]]);
  PetscCall(VecRestoreArrayRead(coupling->system.solution, &q));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sizes, (PetscMPIInt)(TWIST * coupling->solids.free_count),
                             MPIU_REAL, MPI_SUM, coupling->fluid));
  PetscFunctionReturn(0);
}

/* |B C^-1 epsilon |B|^T |q||, relative: round-off of the push on bodies is a residual that nobody gets below,
   large where they are light. */
static PetscErrorCode FindRoundOff(Coupling coupling, PetscReal *residual)
{
  PetscReal *sizes, *motion, *values;
  Vec        rest;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(TWIST * coupling->solids.free_count, &sizes, TWIST * coupling->solids.free_count,
                         &motion));
  PetscCall(GatherSizes(coupling, sizes));
  for (PetscInt n = 0; n < TWIST * coupling->solids.free_count; n++)
    sizes[n] *= PETSC_MACHINE_EPSILON;
  PetscCall(SolidSystemSolveLocal(coupling->system.solid, sizes, motion));
  PetscCall(VecDuplicate(coupling->system.flow, &rest));
  PetscCall(VecSet(rest, 0.));
  PetscCall(VecGetArray(rest, &values));
  coupling_matrix_multiply(&coupling->system.matrix, coupling->solids.free_count, motion, values);
  PetscCall(VecRestoreArray(rest, &values));
  PetscCall(VecNorm(rest, NORM_2, residual));
  *residual /= coupling->system.reference > 0. ? coupling->system.reference : 1.;
  PetscCall(VecDestroy(&rest));
  PetscCall(PetscFree2(sizes, motion));
  PetscFunctionReturn(0);
}

static const char *remedy(Coupling coupling, const CouplingReport *report, PetscReal round_off)
{
  if (round_off > coupling->config.tolerance)
    return "bodies are so light beside the fluid that round-off leaves as much; give them larger densities";
  if (report->reason != KSP_DIVERGED_ITS)
    return "use a smaller time step";
  return coupling->config.solver != COUPLING_SCHUR
             ? "set coupling.solver: schur, or raise coupling.iterations"
             : "raise coupling.iterations";
}

PetscErrorCode CouplingDiagnose(Coupling coupling, CouplingReport *report)
{
  const PoissonComponents components = poisson_components(coupling->system.poisson);
  char                    place[96] = "";
  PetscReal               round_off;

  PetscFunctionBegin;
  PetscCall(FindRoundOff(coupling, &round_off));
  PetscCall(FindWorst(coupling, report));
  if (report->worst_component >= 0)
    PetscCall(PetscSNPrintf(place, sizeof(place),
                            ", most of it in fluid component %" PetscInt_FMT " (%.0f cells%s)",
                            report->worst_component, (double)components.cells[report->worst_component],
                            components.is_singular[report->worst_component] ? ", without an opening" : ""));
  PetscCall(PetscSNPrintf(report->message, sizeof(report->message),
                          "the coupled solve (%s) left a residual of %.1e after %" PetscInt_FMT
                          " iterations%s: %s",
                          CouplingSolvers[coupling->config.solver], (double)report->residual,
                          report->iterations, place, remedy(coupling, report, round_off)));
  PetscFunctionReturn(0);
}
