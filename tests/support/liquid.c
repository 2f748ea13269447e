#include "liquid.h"

static PetscErrorCode Share(PetscReal *value)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, value, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* Times 2 side - 1, so that the largest counts on either side; minus infinity if there is none here. */
static PetscErrorCode FindEnd(SceneRun *flow, PetscInt region, PetscInt axis, PetscInt side, Vector3 point,
                              PetscReal *found)
{
  const GridBox   *box = grid_box(flow->grid);
  const PetscReal  h = grid_spacing(flow->grid), sign = 2 * side - 1;
  const PetscReal *phi;
  PetscInt         at[DIM] = {0, 0, 0};
  Vec              distance;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal place = PetscFloorReal((point.at[d] - grid_origin(flow->grid).at[d]) / h);

    at[d] = (PetscInt)PetscMin(PetscMax(place, 0.), box->cells[d] - 1.);
    if (d != axis && (at[d] < box->start[d] || at[d] >= box->end[d]))
      PetscFunctionReturn(0);
  }
  PetscCall(PhaseGetDistance(simulation_phase(flow->simulation), region, &distance));
  PetscCall(VecGetArrayRead(distance, &phi));
  for (at[axis] = box->start[axis]; at[axis] < box->end[axis]; at[axis]++) {
    const PetscInt  c = box_index(box, at[X], at[Y], at[Z]), next = c + (2 * side - 1) * box->stride[axis];
    const PetscReal centre = grid_cell_centre(flow->grid, at[X], at[Y], at[Z]).at[axis];

    if (phi[c] <= 0. && phi[next] > 0.)
      *found = PetscMax(*found, sign * centre + h * phi[c] / (phi[c] - phi[next]));
  }
  PetscCall(VecRestoreArrayRead(distance, &phi));
  PetscFunctionReturn(0);
}

PetscErrorCode RegionEnd(SceneRun *flow, PetscInt region, PetscInt axis, PetscInt side, Vector3 point,
                         PetscReal *end)
{
  PetscReal found = -PETSC_MAX_REAL;

  PetscFunctionBegin;
  if (flow->fluid)
    PetscCall(FindEnd(flow, region, axis, side, point, &found));
  PetscCall(Share(&found));
  *end = side ? found : -found;
  PetscFunctionReturn(0);
}

/* As FindEnd, of all lines; a region that reaches the side of the box ends there. */
static PetscErrorCode FindReach(SceneRun *flow, PetscInt region, PetscInt axis, PetscInt side,
                                PetscReal *found)
{
  const GridBox   *box = grid_box(flow->grid);
  const PetscReal  h = grid_spacing(flow->grid), sign = 2 * side - 1;
  const PetscInt   last = side ? box->cells[axis] - 1 : 0;
  const PetscReal *phi;
  Vec              distance;

  PetscFunctionBegin;
  PetscCall(PhaseGetDistance(simulation_phase(flow->simulation), region, &distance));
  PetscCall(VecGetArrayRead(distance, &phi));
  FOR_CELLS(box, i, j, k) {
    const PetscInt  at[DIM] = {i, j, k}, c = box_index(box, i, j, k);
    const PetscReal here = phi[c], next = phi[c + (2 * side - 1) * box->stride[axis]];
    const PetscReal centre = sign * grid_cell_centre(flow->grid, i, j, k).at[axis];

    if (here <= 0. && at[axis] == last)
      *found = PetscMax(*found, centre + 0.5 * h);
    else if (here <= 0. && next > 0.)
      *found = PetscMax(*found, centre + h * here / (here - next));
  }
  PetscCall(VecRestoreArrayRead(distance, &phi));
  PetscFunctionReturn(0);
}

PetscErrorCode RegionReach(SceneRun *flow, PetscInt region, PetscInt axis, PetscInt side, PetscReal *end)
{
  PetscReal found = -PETSC_MAX_REAL;

  PetscFunctionBegin;
  if (flow->fluid)
    PetscCall(FindReach(flow, region, axis, side, &found));
  PetscCall(Share(&found));
  *end = side ? found : -found;
  PetscFunctionReturn(0);
}

PetscErrorCode RegionVolume(SceneRun *flow, PetscInt region, PetscReal *volume)
{
  PetscFunctionBegin;
  *volume = 0.;
  if (flow->fluid)
    *volume = phase_report(simulation_phase(flow->simulation))->volume[region];
  PetscCall(Share(volume));
  PetscFunctionReturn(0);
}

PetscErrorCode LargestSpeed(SceneRun *flow, PetscReal *speed)
{
  FluidTotals totals = {0};

  PetscFunctionBegin;
  if (flow->fluid)
    PetscCall(FluidGetTotals(flow->fluid, &totals));
  *speed = totals.largest_speed;
  PetscCall(Share(speed));
  PetscFunctionReturn(0);
}
