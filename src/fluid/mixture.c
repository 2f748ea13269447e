/* The step of a mixture (docs/numerics.md, section 13): what its fields mean for forces and projection.

     sum over faces of rho_0 mobility (p - p_neighbour) = -rho_0 h^2/dt (div(u + dt mobility jump/h) - e)
     u <- u - dt mobility (p_upper - p_lower - jump)/h

   with the expansion e of burning fronts, p = 0 in empty cells and rho_0 such that the largest weight of an
   inner face is 1. */
#include "fluid_impl.h"

#include <millrace/fluid_step.h>

PetscErrorCode FluidSetMixture(Fluid fluid, const Mixture *mixture)
{
  const PetscBool back_to_one = fluid->mixture && !mixture ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  fluid->mixture = mixture;
  fluid->mixture_is_new = mixture ? PETSC_TRUE : PETSC_FALSE;
  if (mixture && !fluid->voids)
    PetscCall(MacGridCreateField(fluid->grid, &fluid->voids));
  if (back_to_one)
    PetscCall(FluidUpdateWeights(fluid));
  PetscFunctionReturn(0);
}

static PetscErrorCode RefreshFlow(Fluid fluid, Vec faces[DIM])
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    PetscCall(FluidSetSideFaces(fluid, d, faces[d], fluid->time));
    PetscCall(FluidSetClosedFaces(fluid, d, faces[d]));
  }
  PetscCall(FluidFillVelocityGhosts(fluid, faces, fluid->time));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidRefreshVelocity(Fluid fluid)
{
  PetscFunctionBegin;
  PetscCall(RefreshFlow(fluid, fluid->velocity));
  for (PetscInt g = 0; g < fluid->group_count; g++)
    PetscCall(RefreshFlow(fluid, fluid->groups[g].velocity));
  PetscFunctionReturn(0);
}

static PetscErrorCode FindVoidCells(Fluid fluid)
{
  const PetscInt   length = grid_box(fluid->grid)->length;
  const PetscReal *empty, *solid = NULL;
  PetscReal       *voids;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid->mixture->empty, &empty));
  if (fluid->solid)
    PetscCall(VecGetArrayRead(fluid->solid, &solid));
  PetscCall(VecGetArray(fluid->voids, &voids));
  for (PetscInt c = 0; c < length; c++)
    voids[c] = empty[c] > 0. && !(solid && solid[c] > 0.) ? 1. : 0.;
  PetscCall(VecRestoreArray(fluid->voids, &voids));
  if (fluid->solid)
    PetscCall(VecRestoreArrayRead(fluid->solid, &solid));
  PetscCall(VecRestoreArrayRead(fluid->mixture->empty, &empty));
  PetscFunctionReturn(0);
}

static PetscErrorCode LargestWithin(const GridBox *box, Vec field, const GridRange *range, PetscReal *largest)
{
  const PetscReal *values;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(field, &values));
  FOR_CELLS(range, i, j, k)
    *largest = PetscMax(*largest, values[box_index(box, i, j, k)]);
  PetscCall(VecRestoreArrayRead(field, &values));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidCreateAdvected(Fluid fluid)
{
  PetscFunctionBegin;
  PetscCall(MacGridCreateFaceField(fluid->grid, fluid->advected));
  PetscCall(MacGridCreateFaceField(fluid->grid, fluid->next_advected));
  PetscFunctionReturn(0);
}

/* The reference density, and whether anything is viscous. Edges on upper sides count through their cells. */
static PetscErrorCode FindScales(Fluid fluid)
{
  const GridBox *box = grid_box(fluid->grid);
  GridRange      cells, range;
  PetscReal      largest[2] = {0., 0.};

  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++) {
    cells.start[d] = box->start[d];
    cells.end[d] = box->end[d];
  }
  PetscCall(LargestWithin(box, fluid->mixture->viscosity, &cells, &largest[1]));
  for (PetscInt d = 0; d < DIM; d++) {
    range = free_faces(fluid, d);
    if (d < box->dimension)
      PetscCall(LargestWithin(box, fluid->mixture->mobility[d], &range, &largest[0]));
    if (fluid->mixture->edge_viscosity[d])
      PetscCall(LargestWithin(box, fluid->mixture->edge_viscosity[d], &cells, &largest[1]));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPIU_REAL, MPI_MAX, box->comm));
  fluid->reference_density = largest[0] > 0. ? 1. / largest[0] : 1.;
  fluid->is_viscous = largest[1] > 0. ? PETSC_TRUE : PETSC_FALSE;
  if ((fluid->is_viscous || fluid->mixture->becomes_viscous) && !fluid->acceleration[X])
    PetscCall(MacGridCreateFaceField(fluid->grid, fluid->acceleration));
  if (!fluid_group_count(fluid) && !fluid->advected[X])
    PetscCall(FluidCreateAdvected(fluid));
  PetscFunctionReturn(0);
}

VECTOR_CLONES static void weigh_row(PetscReal *restrict weight, PetscReal reference,
                                    const PetscReal *restrict mobility, const PetscReal *restrict voids,
                                    PetscInt back, PetscInt count)
{
  for (PetscInt n = 0; n < count; n++)
    weight[n] = reference * mobility[n] * (1. - voids[n] * voids[n - back]);
}

/* p = 0 lies half a cell beyond an open side; a void cell there has no flow to let out. */
static void weigh_open_sides(Fluid fluid, PetscInt d, const PetscReal *voids, PetscReal *weight)
{
  const GridBox *box = grid_box(fluid->grid);

  for (PetscInt side = 0; side < 2; side++) {
    const GridRange layer = layer_at(box, d, side == 0 ? 0 : box->cells[d]);

    if (!touches_side(box, d, side) || fluid->config->sides[d][side].kind != SIDE_OPEN)
      continue;
    FOR_PLACES(&layer, at) {
      const PetscInt c = box_index(box, at[X], at[Y], at[Z]);

      weight[c] *= voids[side == 0 ? c : c - box->stride[d]] > 0. ? 0. : 2.;
    }
  }
}

static PetscErrorCode WeighFaces(Fluid fluid, PetscInt d, Vec weights)
{
  const GridBox   *box = grid_box(fluid->grid);
  const GridRange  range = free_faces(fluid, d);
  const PetscReal *mobility, *voids;
  PetscReal       *weight;

  PetscFunctionBegin;
  PetscCall(VecSet(weights, 0.));
  PetscCall(VecGetArrayRead(fluid->mixture->mobility[d], &mobility));
  PetscCall(VecGetArrayRead(fluid->voids, &voids));
  PetscCall(VecGetArray(weights, &weight));
  FOR_ROWS(&range, j, k) {
    const PetscInt row = box_index(box, range.start[X], j, k);

    weigh_row(weight + row, fluid->reference_density, mobility + row, voids + row, box->stride[d],
              range.end[X] - range.start[X]);
  }
  weigh_open_sides(fluid, d, voids, weight);
  for (PetscInt n = 0; n < fluid->closed_count[d]; n++)
    weight[fluid->closed[d][n]] = 0.;
  PetscCall(VecRestoreArray(weights, &weight));
  PetscCall(VecRestoreArrayRead(fluid->voids, &voids));
  PetscCall(VecRestoreArrayRead(fluid->mixture->mobility[d], &mobility));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidRefreshMixture(Fluid fluid)
{
  PetscFunctionBegin;
  if (!fluid->mixture || !fluid->mixture_is_new)
    PetscFunctionReturn(0);
  PetscCall(FindVoidCells(fluid));
  PetscCall(FindScales(fluid));
  fluid->mixture_is_new = PETSC_FALSE;
  fluid->weights_are_old = PETSC_TRUE;
  PetscFunctionReturn(0);
}

PetscErrorCode FluidWeighMixture(Fluid fluid, Vec weights[DIM], PetscBool *any)
{
  PetscReal largest;

  PetscFunctionBegin;
  PetscCall(FluidRefreshMixture(fluid));
  PetscCall(VecNorm(fluid->voids, NORM_INFINITY, &largest));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPI_MAX, grid_box(fluid->grid)->comm));
  *any = largest > 0. ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(WeighFaces(fluid, d, weights[d]));
  PetscCall(MacGridExchangeFaces(fluid->grid, weights));
  PetscFunctionReturn(0);
}

/* Only a projection needs the multigrid of the new weights. */
static PetscErrorCode RefreshWeights(Fluid fluid)
{
  PetscBool any;
  Vec       weights[DIM];

  PetscFunctionBegin;
  PetscCall(FluidRefreshMixture(fluid));
  if (!fluid->weights_are_old)
    PetscFunctionReturn(0);
  PetscCall(MacGridCreateFaceField(fluid->grid, weights));
  PetscCall(FluidWeighMixture(fluid, weights, &any));
  PetscCall(PoissonSetWeights(fluid->poisson, weights, any ? fluid->voids : NULL));
  PetscCall(MacGridDestroyFaceField(weights));
  fluid->weights_are_old = PETSC_FALSE;
  PetscFunctionReturn(0);
}

/* Viscosity sees the velocity with the acceleration of the last step, which it loses again: what rests under
   forces and pressure stays at rest beside walls, and steady flows do not depend on the step. What is solved
   for is the velocity at t + implicitness dt, between those of the step's ends. */
PetscErrorCode FluidDiffuseAccelerated(Fluid fluid, PetscReal dt, PetscReal implicitness, Vec faces[DIM])
{
  const PetscInt  dimension = grid_box(fluid->grid)->dimension;
  const PetscReal before = 1. - implicitness;

  PetscFunctionBegin;
  if (!fluid->is_viscous)
    PetscFunctionReturn(0);
  for (PetscInt d = 0; d < dimension; d++) {
    PetscCall(VecAXPY(faces[d], dt, fluid->acceleration[d]));
    PetscCall(VecAXPBY(faces[d], before, implicitness, fluid->velocity[d]));
  }
  fluid_blend_constraints(fluid, before, implicitness);
  PetscCall(FluidDiffuseMixture(fluid, implicitness * dt, fluid->time + implicitness * dt, faces));
  fluid_blend_constraints(fluid, -before / implicitness, 1. / implicitness);
  for (PetscInt d = 0; d < dimension; d++) {
    PetscCall(VecAXPBY(faces[d], -before / implicitness, 1. / implicitness, fluid->velocity[d]));
    PetscCall(VecAXPY(faces[d], -dt, fluid->acceleration[d]));
  }
  PetscFunctionReturn(0);
}

/* u += factor * mobility * jump. */
VECTOR_CLONES static void push_row(PetscInt count, PetscReal factor, const PetscReal *restrict mobility,
                                   const PetscReal *restrict jump, PetscReal *restrict u)
{
  for (PetscInt n = 0; n < count; n++)
    u[n] += factor * mobility[n] * jump[n];
}

/* By the jumps, or by the pressure if there is one (its ghosts valid). */
static PetscErrorCode PushFaces(Fluid fluid, PetscInt d, PetscReal factor, Vec pressure, Vec component)
{
  const GridBox   *box = grid_box(fluid->grid);
  const GridRange  range = free_faces(fluid, d);
  const PetscReal  scaled = factor / grid_spacing(fluid->grid);
  const Vec        by = pressure ? pressure : fluid->mixture->jump[d];
  const PetscReal *mobility, *push;
  PetscReal       *u;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid->mixture->mobility[d], &mobility));
  PetscCall(VecGetArrayRead(by, &push));
  PetscCall(VecGetArray(component, &u));
  if (pressure)
    box_subtract_gradient(box, &range, d, scaled, mobility, push, u);
  else
    FOR_ROWS(&range, j, k) {
      const PetscInt first = box_index(box, range.start[X], j, k);

      push_row(range.end[X] - range.start[X], scaled, mobility + first, push + first, u + first);
    }
  PetscCall(VecRestoreArray(component, &u));
  PetscCall(VecRestoreArrayRead(by, &push));
  PetscCall(VecRestoreArrayRead(fluid->mixture->mobility[d], &mobility));
  PetscFunctionReturn(0);
}

static PetscErrorCode ClearVoidCells(Fluid fluid, Vec field)
{
  const PetscInt   length = grid_box(fluid->grid)->length;
  const PetscReal *voids;
  PetscReal       *values;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid->voids, &voids));
  PetscCall(VecGetArray(field, &values));
  for (PetscInt c = 0; c < length; c++)
    if (voids[c] > 0.)
      values[c] = 0.;
  PetscCall(VecRestoreArray(field, &values));
  PetscCall(VecRestoreArrayRead(fluid->voids, &voids));
  PetscFunctionReturn(0);
}

/* Nothing drives these faces; whoever needs a velocity there carries it on from the flow. */
PetscErrorCode FluidClearVoidFaces(Fluid fluid, PetscInt d, Vec component)
{
  const GridBox   *box = grid_box(fluid->grid);
  const GridRange  range = free_faces(fluid, d);
  const PetscReal *voids;
  PetscReal       *u;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid->voids, &voids));
  PetscCall(VecGetArray(component, &u));
  FOR_CELLS(&range, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (is_void(voids, box, d, c))
      u[c] = 0.;
  }
  PetscCall(VecRestoreArray(component, &u));
  PetscCall(VecRestoreArrayRead(fluid->voids, &voids));
  PetscFunctionReturn(0);
}

static PetscErrorCode RightSide(Fluid fluid, Vec faces[DIM], PetscReal dt, Vec right_side)
{
  const PetscReal h = grid_spacing(fluid->grid);

  PetscFunctionBegin;
  PetscCall(VecSet(right_side, 0.));
  PetscCall(MacGridDivergence(fluid->grid, faces, right_side));
  if (fluid->mixture->expansion)
    PetscCall(VecAXPY(right_side, -1., fluid->mixture->expansion));
  PetscCall(VecScale(right_side, -fluid->reference_density * h * h / dt));
  PetscCall(FluidClearSolids(fluid, right_side));
  PetscCall(ClearVoidCells(fluid, right_side));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidPrepareFaces(Fluid fluid, PetscReal time, JumpUse jumps, PetscReal dt, Vec faces[DIM])
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    PetscCall(FluidSetSideFaces(fluid, d, faces[d], time));
    if (jumps == JUMPS_ACT)
      PetscCall(PushFaces(fluid, d, dt, NULL, faces[d]));
    PetscCall(FluidSetClosedFaces(fluid, d, faces[d]));
  }
  PetscCall(MacGridExchangeFaces(fluid->grid, faces));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidFinishFaces(Fluid fluid, PetscReal time, Vec faces[DIM])
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(FluidSetClosedFaces(fluid, d, faces[d]));
  PetscCall(FluidFillVelocityGhosts(fluid, faces, time));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidProjectMixture(Fluid fluid, Vec faces[DIM], PetscReal time, PetscReal dt, JumpUse jumps,
                                   PetscBool *good)
{
  const PetscInt dimension = grid_box(fluid->grid)->dimension;
  const Vec      right_side = fluid->scratch[0], pressure = fluid->scratch[1];

  PetscFunctionBegin;
  PetscCall(RefreshWeights(fluid));
  PetscCall(FluidPrepareFaces(fluid, time, jumps, dt, faces));
  PetscCall(RightSide(fluid, faces, dt, right_side));
  PetscCall(VecCopy(fluid->pressure, pressure));
  PetscCall(ClearVoidCells(fluid, pressure));
  PetscCall(PoissonSolve(fluid->poisson, right_side, pressure, &fluid->report.pressure));
  *good = fluid->report.pressure.reason > 0 ? PETSC_TRUE : PETSC_FALSE;
  if (!*good)
    PetscFunctionReturn(0);
  PetscCall(FluidFillPressureGhosts(fluid, pressure));
  for (PetscInt d = 0; d < dimension; d++) {
    PetscCall(PushFaces(fluid, d, dt, pressure, faces[d]));
    PetscCall(FluidClearVoidFaces(fluid, d, faces[d]));
  }
  PetscCall(VecCopy(pressure, fluid->pressure));
  PetscCall(FluidFinishFaces(fluid, time, faces));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidKeepAcceleration(Fluid fluid, PetscReal time, PetscReal dt, const Vec at_end[])
{
  PetscFunctionBegin;
  if (!fluid->acceleration[X])
    PetscFunctionReturn(0);
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    PetscCall(VecSet(fluid->acceleration[d], 0.));
    PetscCall(FluidAddForces(fluid, d, fluid->scalars, fluid->acceleration[d], time, 0.5));
    PetscCall(FluidAddForces(fluid, d, at_end, fluid->acceleration[d], time + dt, 0.5));
    PetscCall(PushFaces(fluid, d, 1., NULL, fluid->acceleration[d]));
    PetscCall(PushFaces(fluid, d, 1., fluid->pressure, fluid->acceleration[d]));
  }
  PetscFunctionReturn(0);
}
