/* The Poisson problem in parts: operator, cycle and components, one at a time. */
#include "poisson_impl.h"

#include <millrace/poisson.h>

static PetscInt owned_cells(const Poisson poisson)
{
  const GridBox *box = &poisson->box;

  return owned_width(box, X) * owned_width(box, Y) * owned_width(box, Z);
}

PetscErrorCode PoissonMultiplyVector(Poisson poisson, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatMult(poisson->operator, x, y));
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonCycle(Poisson poisson, Vec right_side, Vec solution)
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(poisson->ksp, &pc));
  PetscCall(PCApply(pc, right_side, solution));
  if (!poisson->multigrid) /* algebraic ones may put values outside */
    PetscCall(PoissonClearOutside(poisson, solution));
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonClearOutside(Poisson poisson, Vec vector)
{
  PetscReal *values;

  PetscFunctionBegin;
  PetscCall(VecGetArray(vector, &values));
  components_clear_outside(&poisson->components, owned_cells(poisson), values);
  PetscCall(VecRestoreArray(vector, &values));
  PetscFunctionReturn(0);
}

PoissonComponents poisson_components(Poisson poisson)
{
  const Components *components = &poisson->components;

  return (PoissonComponents){components->count, components->is_sealed, components->cells};
}

void poisson_label_cells(Poisson poisson, PetscInt labels[])
{
  for (PetscInt c = 0; c < owned_cells(poisson); c++)
    labels[c] = -1;
  for (PetscInt r = 0; r < poisson->components.run_count; r++) {
    const CellRun run = poisson->components.runs[r];

    for (PetscInt c = run.first; c < run.first + run.length; c++)
      labels[c] = run.component;
  }
}

PetscErrorCode PoissonSumComponents(Poisson poisson, Vec vector, PetscReal sums[])
{
  const Components *components = &poisson->components;
  const PetscReal  *values;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(sums, components->count));
  PetscCall(VecGetArrayRead(vector, &values));
  for (PetscInt r = 0; r < components->run_count; r++) {
    const CellRun run = components->runs[r];

    for (PetscInt c = run.first; c < run.first + run.length; c++)
      sums[run.component] += values[c];
  }
  PetscCall(VecRestoreArrayRead(vector, &values));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, (PetscMPIInt)components->count, MPIU_REAL, MPI_SUM,
                             poisson->box.comm));
  PetscFunctionReturn(0);
}

PetscErrorCode PoissonShiftComponents(Poisson poisson, const PetscReal shifts[], Vec vector)
{
  const Components *components = &poisson->components;
  PetscReal        *values;

  PetscFunctionBegin;
  PetscCall(VecGetArray(vector, &values));
  for (PetscInt r = 0; r < components->run_count; r++) {
    const CellRun run = components->runs[r];

    for (PetscInt c = run.first; c < run.first + run.length; c++)
      values[c] += shifts[run.component];
  }
  PetscCall(VecRestoreArray(vector, &values));
  PetscFunctionReturn(0);
}
