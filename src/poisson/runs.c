/* Sums and other passes over the cells of a Poisson problem, by the runs of its components. */
#include "poisson_impl.h"

PetscErrorCode ComponentsSum(const Components *components, MPI_Comm comm, const PetscReal *values,
                             PetscReal sums[])
{
  ReproducibleSum *parts;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(components->count, &parts));
  for (PetscInt r = 0; r < components->run_count; r++)
    sum_add_values(parts + components->runs[r].component, values + components->runs[r].first,
                   components->runs[r].length);
  PetscCall(SumOverRanks(comm, components->count, parts, sums));
  PetscCall(PetscFree(parts));
  PetscFunctionReturn(0);
}

PetscErrorCode ComponentsProject(const Components *components, MPI_Comm comm, PetscReal *values)
{
  PetscReal *mean;

  PetscFunctionBegin;
  if (!components->singular_count)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(components->count, &mean));
  PetscCall(ComponentsSum(components, comm, values, mean));
  for (PetscInt n = 0; n < components->count; n++)
    mean[n] = components->is_singular[n] ? mean[n] / components->cells[n] : 0.;
  for (PetscInt r = 0; r < components->run_count; r++) {
    const CellRun run = components->runs[r];

    for (PetscInt i = 0; i < run.length; i++)
      values[run.first + i] -= mean[run.component];
  }
  PetscCall(PetscFree(mean));
  PetscFunctionReturn(0);
}

void components_clear_outside(const Components *components, PetscInt cells, PetscReal *values)
{
  PetscInt done = 0;

  for (PetscInt r = 0; r < components->run_count; r++) {
    memset(values + done, 0, (components->runs[r].first - done) * sizeof(*values));
    done = components->runs[r].first + components->runs[r].length;
  }
  memset(values + done, 0, (cells - done) * sizeof(*values));
}
