/* Sums and other passes over the cells of a Poisson problem, by the runs of its components. */
#include "poisson_impl.h"

static PetscReal sum_run(PetscInt count, const PetscReal *values)
{
  PetscReal sums[4] = {0., 0., 0., 0.};
  PetscInt  i = 0;

  for (; i + 4 <= count; i += 4)
    for (PetscInt s = 0; s < 4; s++)
      sums[s] += values[i + s];
  for (; i < count; i++)
    sums[0] += values[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

PetscErrorCode ComponentsProject(const Components *components, MPI_Comm comm, PetscReal *values)
{
  PetscReal *mean;

  PetscFunctionBegin;
  if (!components->sealed)
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc1(components->count, &mean));
  for (PetscInt r = 0; r < components->run_count; r++)
    mean[components->runs[r].component] +=
        sum_run(components->runs[r].length, values + components->runs[r].first);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, mean, (int)components->count, MPIU_REAL, MPI_SUM, comm));
  for (PetscInt n = 0; n < components->count; n++)
    mean[n] = components->is_sealed[n] ? mean[n] / components->cells[n] : 0.;
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
