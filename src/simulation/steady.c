/* Whether a flow has become steady.

   The measure of a step from u to v, of size dt, is
     max |v - u| / dt  L / U^2,
   over the components on all faces, with U the largest of v and L the longest side of the box: the share of
   U by which the velocity would change in the time that the fastest fluid takes to cross the box. Neither the
   size of the step nor the units of the scene are in it. A fluid at rest has none. */
#include "simulation_impl.h"

#include <math.h>

struct SteadyMeasure {
  Vec       before[DIM]; /* the velocity that the step started from */
  PetscBool kept;        /* there has been one */
  PetscReal value;       /* of the last step */
};

static PetscBool looks_for_steady(const SimulationConfig *config)
{
  return config->run.steady > 0. && config->grid.dimension > 0 && !simulation_has_splash(config)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

static PetscErrorCode Create(Simulation simulation, char message[], size_t size)
{
  PetscFunctionBegin;
  (void)message;
  (void)size;
  PetscCall(PetscNew(&simulation->steady));
  simulation->steady->value = (PetscReal)NAN;
  PetscCall(MacGridCreateFaceField(simulation->grid, simulation->steady->before));
  PetscFunctionReturn(0);
}

static PetscErrorCode Keep(Simulation simulation)
{
  Vec *velocity;

  PetscFunctionBegin;
  PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
  for (PetscInt d = 0; d < simulation->config->grid.dimension; d++)
    PetscCall(VecCopy(velocity[d], simulation->steady->before[d]));
  simulation->steady->kept = PETSC_TRUE;
  PetscFunctionReturn(0);
}

/* The largest change and the largest value on the owned faces of a component. */
static PetscErrorCode CompareFaces(Simulation simulation, PetscInt d, Vec now, PetscReal largest[2])
{
  const GridBox   *box = grid_box(simulation->grid);
  const GridRange  range = grid_faces(simulation->grid, d);
  const PetscReal *after, *before;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(now, &after));
  PetscCall(VecGetArrayRead(simulation->steady->before[d], &before));
  for (PetscInt k = range.start[Z]; k < range.end[Z]; k++)
    for (PetscInt j = range.start[Y]; j < range.end[Y]; j++)
      for (PetscInt i = range.start[X]; i < range.end[X]; i++) {
        const PetscInt c = box_index(box, i, j, k);

        largest[0] = PetscMax(largest[0], PetscAbsReal(after[c] - before[c]));
        largest[1] = PetscMax(largest[1], PetscAbsReal(after[c]));
      }
  PetscCall(VecRestoreArrayRead(simulation->steady->before[d], &before));
  PetscCall(VecRestoreArrayRead(now, &after));
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordSteady(Simulation simulation, Record *record)
{
  const GridConfig *grid = &simulation->config->grid;
  PetscReal         largest[2] = {0., 0.}, side = 0.;
  Vec              *velocity;

  PetscFunctionBegin;
  if (simulation->steady->kept && simulation->dt > 0.) {
    PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
    for (PetscInt d = 0; d < grid->dimension; d++) {
      PetscCall(CompareFaces(simulation, d, velocity[d], largest));
      side = PetscMax(side, grid->size.at[d]);
    }
    PetscCallMPI(
        MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPIU_REAL, MPI_MAX, grid_box(simulation->grid)->comm));
    simulation->steady->value = largest[0] / simulation->dt * side / PetscSqr(largest[1]);
  }
  record_put(record, simulation->steady->value, "1", "unsteadiness");
  PetscFunctionReturn(0);
}

PetscBool simulation_is_steady(Simulation simulation)
{
  return simulation->steady && simulation->steady->value <= simulation->config->run.steady ? PETSC_TRUE
                                                                                           : PETSC_FALSE;
}

static PetscReal count_fields(const SimulationConfig *config)
{
  return config->grid.dimension;
}

static PetscErrorCode Destroy(Simulation simulation)
{
  PetscFunctionBegin;
  if (simulation->steady)
    PetscCall(MacGridDestroyFaceField(simulation->steady->before));
  PetscCall(PetscFree(simulation->steady));
  PetscFunctionReturn(0);
}

const Part SteadyPart = {.name = "steady",
                         .ranks = PART_ON_FLUID,
                         .is_in = looks_for_steady,
                         .create = Create,
                         .keep = Keep,
                         .record = RecordSteady,
                         .count_fields = count_fields,
                         .destroy = Destroy};
