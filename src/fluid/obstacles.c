/* Voxelised obstacles: which faces they close, how fast those move, and what force the fluid exerts on them.
 */
#include "fluid_impl.h"

PetscErrorCode FluidSetSolids(Fluid fluid, PetscInt obstacles, const PetscBool slips[], Vec solid,
                              Vec velocity[DIM])
{
  PetscFunctionBegin;
  if (!fluid->solid)
    PetscCall(MacGridCreateField(fluid->grid, &fluid->solid));
  if (velocity && !fluid->solid_velocity[X])
    PetscCall(MacGridCreateFaceField(fluid->grid, fluid->solid_velocity));
  fluid->obstacle_count = obstacles;
  PetscCall(PetscFree(fluid->obstacle_slips));
  fluid->any_slips = PETSC_FALSE;
  for (PetscInt o = 0; o < obstacles; o++)
    if (slips[o])
      fluid->any_slips = PETSC_TRUE;
  PetscCall(PetscMalloc1(obstacles, &fluid->obstacle_slips));
  PetscCall(PetscArraycpy(fluid->obstacle_slips, slips, obstacles));
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

PetscErrorCode FluidSetClosedFaces(Fluid fluid, PetscInt direction, Vec component)
{
  const GridBox   *box = grid_box(fluid->grid);
  const FaceRange  range = free_faces(fluid, direction);
  const PetscReal *solid, *wall = NULL;
  PetscReal       *u;

  PetscFunctionBegin;
  if (!fluid->solid)
    PetscFunctionReturn(0);
  PetscCall(VecGetArrayRead(fluid->solid, &solid));
  if (fluid->solid_velocity[X])
    PetscCall(VecGetArrayRead(fluid->solid_velocity[direction], &wall));
  PetscCall(VecGetArray(component, &u));
  for (PetscInt k = range.start[Z]; k < range.end[Z]; k++)
    for (PetscInt j = range.start[Y]; j < range.end[Y]; j++)
      for (PetscInt i = range.start[X]; i < range.end[X]; i++) {
        const PetscInt c = box_index(box, i, j, k);

        if (is_closed(solid, box, direction, c))
          u[c] = wall ? wall[c] : 0.;
      }
  PetscCall(VecRestoreArray(component, &u));
  if (wall)
    PetscCall(VecRestoreArrayRead(fluid->solid_velocity[direction], &wall));
  PetscCall(VecRestoreArrayRead(fluid->solid, &solid));
  PetscFunctionReturn(0);
}

/* A face between two fluid cells weighs 1, a face on an open side 2 (p = 0 lies half a cell away), others 0.
 */
static PetscErrorCode SetWeightsAlong(Fluid fluid, PetscInt d, const PetscReal *solid, Vec weights)
{
  const GridBox  *box = grid_box(fluid->grid);
  const FaceRange range = free_faces(fluid, d);
  PetscInt        at[DIM];
  PetscReal      *w;

  PetscFunctionBegin;
  PetscCall(VecSet(weights, 0.));
  PetscCall(VecGetArray(weights, &w));
  for (at[Z] = range.start[Z]; at[Z] < range.end[Z]; at[Z]++)
    for (at[Y] = range.start[Y]; at[Y] < range.end[Y]; at[Y]++)
      for (at[X] = range.start[X]; at[X] < range.end[X]; at[X]++) {
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
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(SetWeightsAlong(fluid, d, solid, weights[d]));
  if (fluid->solid)
    PetscCall(VecRestoreArrayRead(fluid->solid, &solid));
  PetscCall(MacGridExchangeFaces(fluid->grid, weights));
  PetscCall(PoissonSetWeights(fluid->poisson, weights));
  PetscCall(MacGridDestroyFaceField(weights));
  PetscFunctionReturn(0);
}

/* Obstacle that closes the face, seen from its two cells. */
static inline PetscInt obstacle_at(const PetscReal *solid, const GridBox *box, PetscInt d, PetscInt c)
{
  return (PetscInt)PetscMax(solid[c], solid[c - box->stride[d]]) - 1;
}

/* Force of pressure p in fluid cell c on what may be solid at `neighbour`. */
static inline void add_pressure(Fluid fluid, const PetscReal *solid, PetscInt neighbour, PetscInt d,
                                PetscReal force, PetscReal *forces)
{
  const PetscInt number = (PetscInt)solid[neighbour] - 1;

  if (number >= 0 && number < fluid->obstacle_count)
    forces[DIM * number + d] += force;
}

static PetscErrorCode AddPressureForces(Fluid fluid, PetscInt d, const PetscReal *solid, PetscReal area,
                                        PetscReal *forces)
{
  const GridBox   *box = grid_box(fluid->grid);
  const PetscReal *p;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid->pressure, &p));
  for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
      for (PetscInt i = box->start[X]; i < box->end[X]; i++) {
        const PetscInt c = box_index(box, i, j, k);

        if (solid[c] > 0.)
          continue;
        add_pressure(fluid, solid, c + box->stride[d], d, p[c] * area, forces);
        add_pressure(fluid, solid, c - box->stride[d], d, -p[c] * area, forces);
      }
  PetscCall(VecRestoreArrayRead(fluid->pressure, &p));
  PetscFunctionReturn(0);
}

static PetscErrorCode AddViscousForces(Fluid fluid, PetscInt d, const PetscReal *solid, PetscReal factor,
                                       PetscReal *forces)
{
  const GridBox   *box = grid_box(fluid->grid);
  const FaceRange  range = free_faces(fluid, d);
  const PetscReal *u;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid->velocity[d], &u));
  for (PetscInt k = range.start[Z]; k < range.end[Z]; k++)
    for (PetscInt j = range.start[Y]; j < range.end[Y]; j++)
      for (PetscInt i = range.start[X]; i < range.end[X]; i++) {
        const PetscInt c = box_index(box, i, j, k);

        if (is_closed(solid, box, d, c))
          continue;
        for (PetscInt a = 0; a < box->dimension; a++)
          for (PetscInt side = -1; side <= 1; side += 2) {
            const PetscInt neighbour = c + side * box->stride[a];
            PetscInt       obstacle;

            if (!is_closed(solid, box, d, neighbour))
              continue;
            obstacle = obstacle_at(solid, box, d, neighbour);
            if (obstacle >= fluid->obstacle_count || (a != d && fluid->obstacle_slips[obstacle]))
              continue;
            forces[DIM * obstacle + d] += factor * (u[c] - u[neighbour]);
          }
      }
  PetscCall(VecRestoreArrayRead(fluid->velocity[d], &u));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetForces(Fluid fluid, Vector3 pressure[], Vector3 viscous[])
{
  const GridBox   *box = grid_box(fluid->grid);
  const PetscReal  h = grid_spacing(fluid->grid);
  const PetscReal  area = box->dimension == 3 ? h * h : h;
  const PetscInt   n = DIM * fluid->obstacle_count;
  const PetscReal *solid;
  PetscReal       *forces;

  PetscFunctionBegin;
  if (!n)
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc1(2 * n, &forces));
  PetscCall(VecGetArrayRead(fluid->solid, &solid));
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscCall(AddPressureForces(fluid, d, solid, area, forces));
    PetscCall(AddViscousForces(fluid, d, solid, fluid->config->viscosity * area / h, forces + n));
  }
  PetscCall(VecRestoreArrayRead(fluid->solid, &solid));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, forces, (PetscMPIInt)(2 * n), MPIU_REAL, MPI_SUM, box->comm));
  for (PetscInt o = 0; o < fluid->obstacle_count; o++)
    for (PetscInt d = 0; d < DIM; d++) {
      pressure[o].at[d] = forces[DIM * o + d];
      viscous[o].at[d] = forces[n + DIM * o + d];
    }
  PetscCall(PetscFree(forces));
  PetscFunctionReturn(0);
}
