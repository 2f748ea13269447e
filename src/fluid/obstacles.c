/* Voxelised obstacles: which faces they close, how fast those move, and what force the fluid exerts on them.
 */
#include "fluid_impl.h"

PetscErrorCode FluidSetSlips(Fluid fluid, PetscInt obstacles, const PetscBool slips[])
{
  PetscFunctionBegin;
  fluid->wall_count = obstacles;
  PetscCall(PetscFree(fluid->wall_slips));
  fluid->any_slips = PETSC_FALSE;
  for (PetscInt o = 0; o < obstacles; o++)
    if (slips[o])
      fluid->any_slips = PETSC_TRUE;
  PetscCall(PetscMalloc1(obstacles, &fluid->wall_slips));
  PetscCall(PetscArraycpy(fluid->wall_slips, slips, obstacles));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidSetSolids(Fluid fluid, PetscInt obstacles, const PetscBool slips[], Vec solid,
                              Vec velocity[DIM])
{
  PetscFunctionBegin;
  if (!fluid->solid)
    PetscCall(MacGridCreateField(fluid->grid, &fluid->solid));
  if (velocity && !fluid->solid_velocity[X])
    PetscCall(MacGridCreateFaceField(fluid->grid, fluid->solid_velocity));
  PetscCall(FluidSetSlips(fluid, obstacles, slips));
  PetscCall(VecCopy(solid, fluid->solid));
  /* obstacles go on beyond a side, but not beyond an open one, where the ghosts turn negative */
  PetscCall(FluidFillPressureGhosts(fluid, fluid->solid));
  if (velocity)
    for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
      PetscCall(VecCopy(velocity[d], fluid->solid_velocity[d]));
  PetscCall(FluidUpdateWeights(fluid));
  PetscCall(FluidFillPressureGhosts(fluid, fluid->pressure));
  PetscFunctionReturn(0);
}

/* Lists the closed faces of direction d among the free ones, so that loops over them cost what they are. */
static PetscErrorCode ListClosedFaces(Fluid fluid, PetscInt d, const PetscReal *solid)
{
  const GridBox  *box = grid_box(fluid->grid);
  const GridRange range = free_faces(fluid, d);
  PetscInt        count = 0;

  PetscFunctionBegin;
  PetscCall(PetscFree(fluid->closed[d]));
  for (PetscInt pass = 0; pass < 2; pass++) {
    if (pass == 1)
      PetscCall(PetscMalloc1(count, &fluid->closed[d]));
    count = 0;
    FOR_CELLS(&range, i, j, k) {
      const PetscInt c = box_index(box, i, j, k);

      if (!is_closed(solid, box, d, c))
        continue;
      if (pass == 1)
        fluid->closed[d][count] = c;
      count++;
    }
  }
  fluid->closed_count[d] = count;
  PetscFunctionReturn(0);
}

/* Whether `inside`, a neighbour across the open face's direction d, lies within an obstacle that holds it. */
static PetscBool holds(Fluid fluid, const PetscReal *solid, PetscInt d, PetscInt inside)
{
  const CellCover cover = cell_cover(solid[inside]),
                  back = cell_cover(solid[inside - grid_box(fluid->grid)->stride[d]]);

  return cover.kind == CELL_WALL && back.kind == CELL_WALL && !fluid->wall_slips[cover.index];
}

/* Adds the pairs of open face c to a list, or only counts them where it is null. */
static void add_no_slip_pairs(Fluid fluid, const PetscReal *solid, PetscInt d, PetscInt c, NoSlipPair *list,
                              PetscInt *count)
{
  const GridBox *box = grid_box(fluid->grid);

  for (PetscInt a = 0; a < box->dimension; a++)
    for (PetscInt step = -1; step <= 1; step += 2) {
      const PetscInt inside = c + step * box->stride[a];

      if (a == d || !holds(fluid, solid, d, inside))
        continue;
      if (list)
        list[*count] = (NoSlipPair){c, inside};
      ++*count;
    }
}

static PetscErrorCode ListNoSlipPairs(Fluid fluid, PetscInt d, const PetscReal *solid)
{
  const GridBox  *box = grid_box(fluid->grid);
  const GridRange range = free_faces(fluid, d);

  PetscFunctionBegin;
  PetscCall(PetscFree(fluid->no_slip_pairs[d]));
  for (PetscInt pass = 0; pass < 2; pass++) {
    if (pass == 1)
      PetscCall(PetscMalloc1(fluid->no_slip_count[d], &fluid->no_slip_pairs[d]));
    fluid->no_slip_count[d] = 0;
    FOR_CELLS(&range, i, j, k) {
      const PetscInt c = box_index(box, i, j, k);

      if (!is_closed(solid, box, d, c))
        add_no_slip_pairs(fluid, solid, d, c, fluid->no_slip_pairs[d], &fluid->no_slip_count[d]);
    }
  }
  PetscFunctionReturn(0);
}

PetscErrorCode FluidSetClosedFaces(Fluid fluid, PetscInt direction, Vec component)
{
  const PetscInt  *closed = fluid->closed[direction];
  const PetscReal *wall = NULL;
  PetscReal       *u;

  PetscFunctionBegin;
  if (!fluid->closed_count[direction])
    PetscFunctionReturn(0);
  if (fluid->solid_velocity[X])
    PetscCall(VecGetArrayRead(fluid->solid_velocity[direction], &wall));
  PetscCall(VecGetArray(component, &u));
  for (PetscInt n = 0; n < fluid->closed_count[direction]; n++)
    u[closed[n]] = wall ? wall[closed[n]] : 0.;
  PetscCall(VecRestoreArray(component, &u));
  if (wall)
    PetscCall(VecRestoreArrayRead(fluid->solid_velocity[direction], &wall));
  PetscFunctionReturn(0);
}

/* A face between two fluid cells weighs 1, a face on an open side 2 (p = 0 lies half a cell away), others 0.
 */
static PetscErrorCode SetWeightsAlong(Fluid fluid, PetscInt d, const PetscReal *solid, Vec weights)
{
  const GridBox  *box = grid_box(fluid->grid);
  const GridRange range = free_faces(fluid, d);
  PetscReal      *w;

  PetscFunctionBegin;
  PetscCall(VecSet(weights, 0.));
  PetscCall(VecGetArray(weights, &w));
  FOR_PLACES(&range, at) {
    const PetscInt  c = box_index(box, at[X], at[Y], at[Z]);
    const PetscBool on_side = !box->periodic[d] && (at[d] == 0 || at[d] == box->cells[d]);
    const PetscInt  inner = at[d] == box->cells[d] ? c - box->stride[d] : c;

    if (on_side)
      w[c] = solid && solid[inner] > 0. ? 0. : 2.;
    else
      w[c] = is_closed(solid, box, d, c) ? 0. : 1.;
  }
  PetscCall(VecRestoreArray(weights, &w));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidUpdateWeights(Fluid fluid)
{
  const PetscReal *solid = NULL;
  Vec              weights[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridCreateFaceField(fluid->grid, weights));
  if (fluid->solid)
    PetscCall(VecGetArrayRead(fluid->solid, &solid));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    if (!fluid->mixture)
      PetscCall(SetWeightsAlong(fluid, d, solid, weights[d]));
    PetscCall(ListClosedFaces(fluid, d, solid));
    if (solid)
      PetscCall(ListNoSlipPairs(fluid, d, solid));
  }
  if (fluid->solid)
    PetscCall(VecRestoreArrayRead(fluid->solid, &solid));
  fluid->mixture_is_new = fluid->mixture ? PETSC_TRUE : PETSC_FALSE;
  if (!fluid->mixture) {
    PetscCall(MacGridExchangeFaces(fluid->grid, weights));
    PetscCall(PoissonSetWeights(fluid->poisson, weights, NULL));
  }
  PetscCall(MacGridDestroyFaceField(weights));
  PetscFunctionReturn(0);
}

PetscInt obstacle_at(Fluid fluid, const PetscReal *solid, PetscInt d, PetscInt c)
{
  const CellCover cover = cell_cover(PetscMax(solid[c], solid[c - grid_box(fluid->grid)->stride[d]]));

  return cover.kind == CELL_WALL ? cover.index : -1;
}

/* A closed face with fluid on one side takes the pressure there; that of a mixture grows by its weight over
   the half cell to the surface. */
static PetscErrorCode AddPressureForces(Fluid fluid, PetscInt d, const PetscReal *solid, PetscReal area,
                                        PetscReal *forces)
{
  const PetscInt   back = grid_box(fluid->grid)->stride[d];
  const PetscReal  half = 0.5 * grid_spacing(fluid->grid) * fluid->config->gravity.at[d];
  const PetscReal *p, *density = NULL, *voids = NULL;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid->pressure, &p));
  if (fluid->mixture) {
    PetscCall(VecGetArrayRead(fluid->mixture->density[d], &density));
    PetscCall(VecGetArrayRead(fluid->voids, &voids));
  }
  for (PetscInt n = 0; n < fluid->closed_count[d]; n++) {
    const PetscInt  c = fluid->closed[d][n];
    const PetscInt  obstacle = obstacle_at(fluid, solid, d, c);
    const PetscInt  side = solid[c] <= 0. ? -1 : 1; /* where the surface lies, seen from the fluid */
    const PetscInt  cell = side < 0 ? c : c - back;
    const PetscReal more = density && voids[cell] <= 0. ? side * half * density[c] : 0.;

    if (obstacle >= 0 && solid[cell] <= 0.)
      forces[DIM * obstacle + d] += side * (p[cell] + more) * area;
  }
  if (fluid->mixture) {
    PetscCall(VecRestoreArrayRead(fluid->voids, &voids));
    PetscCall(VecRestoreArrayRead(fluid->mixture->density[d], &density));
  }
  PetscCall(VecRestoreArrayRead(fluid->pressure, &p));
  PetscFunctionReturn(0);
}

/* Not on or beyond a side that prescribes its value. */
PetscBool has_free_neighbour(Fluid fluid, const PetscReal *solid, PetscInt d, PetscInt c, PetscInt a,
                             PetscInt step)
{
  const GridBox *box = grid_box(fluid->grid);
  const PetscInt first = a == d && fluid->config->sides[d][0].kind != SIDE_OPEN ? 1 : 0;
  const PetscInt last = a != d                                         ? box->cells[a] - 1
                        : fluid->config->sides[d][1].kind == SIDE_OPEN ? box->cells[a]
                                                                       : box->cells[a] - 1;
  PetscInt       at[DIM];

  box_at(box, c, at);
  at[a] += step;
  if (!box->periodic[a] && (at[a] < first || at[a] > last))
    return PETSC_FALSE;
  return !is_closed(solid, box, d, c + step * box->stride[a]);
}

/* Every flux of the viscous operator into a closed face; where the surface lies half-way it is twice as
 * large. */
static PetscErrorCode AddViscousForces(Fluid fluid, PetscInt d, const PetscReal *solid, PetscReal factor,
                                       PetscReal *forces)
{
  const GridBox   *box = grid_box(fluid->grid);
  const PetscReal *u;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid->velocity[d], &u));
  for (PetscInt n = 0; n < fluid->closed_count[d]; n++) {
    const PetscInt c = fluid->closed[d][n];
    const PetscInt obstacle = obstacle_at(fluid, solid, d, c);

    if (obstacle < 0)
      continue;
    for (PetscInt a = 0; a < box->dimension; a++)
      for (PetscInt step = -1; step <= 1; step += 2)
        if ((a == d || !fluid->wall_slips[obstacle]) && has_free_neighbour(fluid, solid, d, c, a, step))
          forces[DIM * obstacle + d] += factor * (u[c + step * box->stride[a]] - u[c]);
  }
  for (PetscInt n = 0; n < fluid->no_slip_count[d]; n++) {
    const NoSlipPair pair = fluid->no_slip_pairs[d][n];

    forces[DIM * obstacle_at(fluid, solid, d, pair.inside) + d] += factor * (u[pair.face] - u[pair.inside]);
  }
  PetscCall(VecRestoreArrayRead(fluid->velocity[d], &u));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetForces(Fluid fluid, Vector3 pressure[], Vector3 viscous[])
{
  const GridBox   *box = grid_box(fluid->grid);
  const PetscReal  h = grid_spacing(fluid->grid);
  const PetscReal  area = box->dimension == 3 ? h * h : h;
  const PetscInt   n = DIM * fluid->wall_count;
  const PetscReal *solid;
  PetscReal       *forces;

  PetscFunctionBegin;
  if (!n || !fluid->solid)
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc1(2 * n, &forces));
  PetscCall(FluidRefreshMixture(fluid));
  PetscCall(VecGetArrayRead(fluid->solid, &solid));
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscCall(AddPressureForces(fluid, d, solid, area, forces));
    if (!fluid->mixture)
      PetscCall(AddViscousForces(fluid, d, solid, fluid->config->viscosity * area / h, forces + n));
  }
  PetscCall(VecRestoreArrayRead(fluid->solid, &solid));
  if (fluid->mixture)
    PetscCall(FluidAddStressForces(fluid, forces + n));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, forces, (PetscMPIInt)(2 * n), MPIU_REAL, MPI_SUM, box->comm));
  for (PetscInt o = 0; o < fluid->wall_count; o++)
    for (PetscInt d = 0; d < DIM; d++) {
      pressure[o].at[d] = forces[DIM * o + d];
      viscous[o].at[d] = forces[n + DIM * o + d];
    }
  PetscCall(PetscFree(forces));
  PetscFunctionReturn(0);
}
