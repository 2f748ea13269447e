/* What others may see of the fluid: fields, totals, and its place in a checkpoint. */
#include "fluid_impl.h"

#include <millrace/constrained_faces.h>

PetscErrorCode FluidGetPrediction(Fluid fluid, Vec **faces, Vec **scalars)
{
  PetscFunctionBegin;
  *faces = fluid->next;
  *scalars = fluid->next_scalars;
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetVelocity(Fluid fluid, Vec **faces)
{
  PetscFunctionBegin;
  *faces = fluid->velocity;
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetPressure(Fluid fluid, Vec *pressure)
{
  PetscFunctionBegin;
  *pressure = fluid->pressure;
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetScalars(Fluid fluid, Vec **fields)
{
  PetscFunctionBegin;
  *fields = fluid->scalars;
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetSolid(Fluid fluid, Vec *solid)
{
  PetscFunctionBegin;
  *solid = fluid_covered(fluid);
  PetscFunctionReturn(0);
}

const FluidReport *fluid_report(Fluid fluid)
{
  return &fluid->report;
}

PetscBool fluid_has_converged(Fluid fluid)
{
  return fluid->report.diffusion_converged && fluid->report.pressure.reason >= 0 ? PETSC_TRUE : PETSC_FALSE;
}

PetscReal fluid_time(Fluid fluid)
{
  return fluid->time;
}

static PetscReal cell_volume(Fluid fluid)
{
  const PetscReal h = grid_spacing(fluid->grid);

  return grid_box(fluid->grid)->dimension == 3 ? h * h * h : h * h;
}

/* Momentum and energy of a face belong half to each of its cells, so that walls count once. */
static void add_cell(const GridBox *box, PetscReal *const u[DIM], const PetscInt at[DIM], FluidTotals *totals)
{
  const PetscInt c = box_index(box, at[X], at[Y], at[Z]);
  PetscReal      divergence = 0.;

  totals->mass += 1.;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal low = u[d][c], high = u[d][c + box->stride[d]];

    totals->moment[d] += at[d] + 0.5;
    totals->momentum[d] += 0.5 * (low + high);
    totals->kinetic_energy += 0.25 * (low * low + high * high);
    totals->largest_speed = PetscMax(totals->largest_speed, PetscMax(PetscAbsReal(low), PetscAbsReal(high)));
    divergence += high - low;
  }
  totals->largest_divergence = PetscMax(totals->largest_divergence, PetscAbsReal(divergence));
}

/* What a mixture adds up from. */
typedef struct {
  PetscReal       *u[DIM], *density[DIM];
  PetscReal       *open[DIM]; /* the part of a face that bodies leave to the fluid; null without bodies */
  const PetscReal *solid, *voids;
  const PetscReal *expansion; /* times the spacing it is no error of the divergence; null: none */
  PetscReal        spacing;
} Mixed;

/* The same with a density on every face. Of a void cell, only faces that it shares with the flow count:
   they hold some of its mass. */
static void add_mixed_cell(const GridBox *box, const Mixed *mixed, const PetscInt at[DIM],
                           FluidTotals *totals)
{
  const PetscInt  c = box_index(box, at[X], at[Y], at[Z]);
  const PetscBool is_empty = mixed->voids[c] > 0.;
  PetscReal       divergence = mixed->expansion ? -mixed->spacing * mixed->expansion[c] : 0.;
  PetscReal       mass = 0., tilt[DIM] = {0.};

  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      const PetscInt  face = c + side * box->stride[d], other = face - (1 - side) * box->stride[d];
      const PetscReal u = mixed->u[d][face], open = mixed->open[d] ? mixed->open[d][face] : 1.;
      const PetscReal share = 0.5 * mixed->density[d][face] * open;

      divergence += (2 * side - 1) * u;
      if (is_empty && (mixed->voids[other] > 0. || (mixed->solid && mixed->solid[other] > 0.)))
        continue;
      mass += share;
      tilt[d] += (side - 0.5) * share;
      totals->momentum[d] += share * u;
      totals->kinetic_energy += 0.5 * share * u * u;
      if (open > 0.)
        totals->largest_speed = PetscMax(totals->largest_speed, PetscAbsReal(u));
    }
  totals->mass += mass / box->dimension;
  for (PetscInt d = 0; d < box->dimension; d++)
    totals->moment[d] += ((at[d] + 0.5) * mass + tilt[d]) / box->dimension;
  if (!is_empty)
    totals->largest_divergence = PetscMax(totals->largest_divergence, PetscAbsReal(divergence));
}

/* Nothing flows through a side beside void cells, nor where a body covers it: as the coupled system has it, a
   given side is covered as the next face inside. */
static void add_outflow(Fluid fluid, const Mixed *mixed, PetscReal outflow[DIM][2])
{
  const GridBox   *box = grid_box(fluid->grid);
  const PetscReal *voids = mixed->voids;
  GridRange        layer;

  for (PetscInt axis = 0; axis < box->dimension; axis++)
    for (PetscInt side = 0; side < 2; side++) {
      const PetscBool is_open = fluid->config->sides[axis][side].kind == SIDE_OPEN;
      const PetscInt  inside = is_open ? 0 : (side ? -1 : 1) * box->stride[axis];

      if (box->periodic[axis] || box->neighbour[axis][side] != MPI_PROC_NULL)
        continue;
      layer = layer_at(box, axis, side == 0 ? 0 : box->cells[axis]);
      FOR_PLACES(&layer, at) {
        const PetscInt face = box_index(box, at[X], at[Y], at[Z]);

        if (!voids || voids[face - side * box->stride[axis]] <= 0.)
          outflow[axis][side] += (2 * side - 1) * mixed->u[axis][face] *
                                 (mixed->open[axis] ? mixed->open[axis][face + inside] : 1.);
      }
    }
}

static PetscErrorCode ReduceTotals(MPI_Comm comm, FluidTotals *totals)
{
  PetscReal sums[2 + 4 * DIM], largest[2] = {totals->largest_speed, totals->largest_divergence};

  PetscFunctionBegin;
  sums[0] = totals->mass;
  sums[1] = totals->kinetic_energy;
  PetscCall(PetscArraycpy(sums + 2, totals->momentum, DIM));
  PetscCall(PetscArraycpy(sums + 2 + DIM, totals->moment, DIM));
  PetscCall(PetscArraycpy(sums + 2 + 2 * DIM, &totals->outflow[0][0], 2 * DIM));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2 + 4 * DIM, MPIU_REAL, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPIU_REAL, MPI_MAX, comm));
  totals->mass = sums[0];
  totals->kinetic_energy = sums[1];
  totals->largest_speed = largest[0];
  totals->largest_divergence = largest[1];
  PetscCall(PetscArraycpy(totals->momentum, sums + 2, DIM));
  PetscCall(PetscArraycpy(totals->moment, sums + 2 + DIM, DIM));
  PetscCall(PetscArraycpy(&totals->outflow[0][0], sums + 2 + 2 * DIM, 2 * DIM));
  PetscFunctionReturn(0);
}

/* In units of a cell's volume and, without a mixture, of the fluid's density. */
static PetscErrorCode AddUp(Fluid fluid, FluidTotals *totals)
{
  const GridBox *box = grid_box(fluid->grid);
  Vec           *open = fluid->constraints ? (Vec *)fluid->constraints->open : NULL;
  Mixed          mixed = {.open = {NULL, NULL, NULL}, .spacing = grid_spacing(fluid->grid)};

  PetscFunctionBegin;
  if (fluid->solid)
    PetscCall(VecGetArrayRead(fluid->solid, &mixed.solid));
  PetscCall(MacGridGetFaces(fluid->grid, fluid->velocity, mixed.u));
  if (open)
    PetscCall(MacGridGetFaces(fluid->grid, open, mixed.open));
  if (fluid->mixture) {
    PetscCall(MacGridGetFaces(fluid->grid, (Vec *)fluid->mixture->density, mixed.density));
    PetscCall(VecGetArrayRead(fluid->voids, &mixed.voids));
    if (fluid->mixture->expansion)
      PetscCall(VecGetArrayRead(fluid->mixture->expansion, &mixed.expansion));
  }
  FOR_CELLS(box, i, j, k) {
    const PetscInt at[DIM] = {i, j, k};

    if (mixed.solid && mixed.solid[box_index(box, i, j, k)] > 0.)
      continue;
    if (fluid->mixture)
      add_mixed_cell(box, &mixed, at, totals);
    else
      add_cell(box, mixed.u, at, totals);
  }
  add_outflow(fluid, &mixed, totals->outflow);
  if (fluid->mixture) {
    if (fluid->mixture->expansion)
      PetscCall(VecRestoreArrayRead(fluid->mixture->expansion, &mixed.expansion));
    PetscCall(VecRestoreArrayRead(fluid->voids, &mixed.voids));
    PetscCall(MacGridRestoreFaces(fluid->grid, (Vec *)fluid->mixture->density, mixed.density));
  }
  if (open)
    PetscCall(MacGridRestoreFaces(fluid->grid, open, mixed.open));
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->velocity, mixed.u));
  if (fluid->solid)
    PetscCall(VecRestoreArrayRead(fluid->solid, &mixed.solid));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetTotals(Fluid fluid, FluidTotals *totals)
{
  const PetscReal h = grid_spacing(fluid->grid);
  const PetscReal mass = (fluid->mixture ? 1. : fluid->config->density) * cell_volume(fluid);

  PetscFunctionBegin;
  *totals = (FluidTotals){0};
  PetscCall(FluidRefreshMixture(fluid));
  PetscCall(AddUp(fluid, totals));
  PetscCall(ReduceTotals(grid_box(fluid->grid)->comm, totals));
  totals->mass *= mass;
  totals->kinetic_energy *= mass;
  totals->largest_divergence /= h;
  for (PetscInt d = 0; d < DIM; d++) {
    totals->momentum[d] *= mass;
    totals->moment[d] *= mass * h;
    for (PetscInt side = 0; side < 2; side++)
      totals->outflow[d][side] *= cell_volume(fluid) / h;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetScalarTotal(Fluid fluid, PetscInt scalar, PetscReal *total)
{
  const GridBox   *box = grid_box(fluid->grid);
  const PetscReal *value, *solid = NULL;

  PetscFunctionBegin;
  *total = 0.;
  if (fluid_covered(fluid))
    PetscCall(VecGetArrayRead(fluid_covered(fluid), &solid));
  PetscCall(VecGetArrayRead(fluid->scalars[scalar], &value));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (!solid || solid[c] <= 0.)
      *total += value[c];
  }
  PetscCall(VecRestoreArrayRead(fluid->scalars[scalar], &value));
  if (fluid_covered(fluid))
    PetscCall(VecRestoreArrayRead(fluid_covered(fluid), &solid));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, total, 1, MPIU_REAL, MPI_SUM, box->comm));
  *total *= cell_volume(fluid);
  PetscFunctionReturn(0);
}

PetscErrorCode FluidSave(Fluid fluid, Archive archive)
{
  char name[64];

  PetscFunctionBegin;
  PetscCall(ArchiveEnter(archive, "fluid"));
  PetscCall(ArchiveWriteReal(archive, "time", fluid->time));
  PetscCall(ArchiveWriteReal(archive, "earlier_time", fluid->earlier_time));
  PetscCall(ArchiveWriteInteger(archive, "steps", fluid->steps));
  PetscCall(MacGridSaveFaces(fluid->grid, "velocity", fluid->velocity, archive));
  PetscCall(MacGridSaveFaces(fluid->grid, "earlier_velocity", fluid->earlier, archive));
  PetscCall(MacGridSaveField(fluid->grid, "pressure", fluid->pressure, archive));
  if (fluid->acceleration[X])
    PetscCall(MacGridSaveFaces(fluid->grid, "acceleration", fluid->acceleration, archive));
  if (fluid->advected_over > 0.)
    PetscCall(ArchiveWriteReal(archive, "advected_over", fluid->advected_over));
  if (fluid->advected_over > 0. && fluid->advected[X])
    PetscCall(MacGridSaveFaces(fluid->grid, "advected_velocity", fluid->advected, archive));
  for (PetscInt g = 0; g < fluid->group_count; g++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "earlier_velocity_of_group_%" PetscInt_FMT, g));
    PetscCall(MacGridSaveFaces(fluid->grid, name, fluid->groups[g].earlier, archive));
    PetscCall(PetscSNPrintf(name, sizeof(name), "advected_velocity_of_group_%" PetscInt_FMT, g));
    if (fluid->advected_over > 0.)
      PetscCall(MacGridSaveFaces(fluid->grid, name, fluid->groups[g].advected, archive));
  }
  for (PetscInt s = 0; s < fluid->config->scalar_count; s++)
    PetscCall(MacGridSaveField(fluid->grid, fluid->config->scalars[s].name, fluid->scalars[s], archive));
  PetscCall(ArchiveLeave(archive));
  PetscFunctionReturn(0);
}

/* Face fields of velocities, or of what `times` makes velocities. What travels faster than light was not
   computed here, and would keep transport busy for ever. */
static PetscErrorCode LoadSlow(Fluid fluid, const char name[], PetscReal times, Vec faces[DIM],
                               Archive archive)
{
  const PetscReal light = 299792458.;
  char            component[64];
  PetscReal       fastest;

  PetscFunctionBegin;
  PetscCall(MacGridLoadFaces(fluid->grid, name, faces, archive));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    PetscCall(VecNorm(faces[d], NORM_INFINITY, &fastest));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &fastest, 1, MPIU_REAL, MPI_MAX, grid_box(fluid->grid)->comm));
    PetscCall(PetscSNPrintf(component, sizeof(component), "%s_%c", name, "xyz"[d]));
    if (times * fastest > light)
      PetscCall(ArchiveRefuse(archive, component, "holds %g m/s%s, which is faster than light%s",
                              (double)fastest, times == 1. ? "" : "^2",
                              times == 1. ? "" : " within the last step"));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode LoadVelocity(Fluid fluid, const char name[], Vec faces[DIM], Archive archive)
{
  PetscFunctionBegin;
  PetscCall(LoadSlow(fluid, name, 1., faces, archive));
  PetscFunctionReturn(0);
}

static PetscErrorCode LoadAdvected(Fluid fluid, Archive archive)
{
  PetscBool has;

  PetscFunctionBegin;
  fluid->advected_over = 0.;
  PetscCall(ArchiveHas(archive, "advected_over", &has));
  if (!has)
    PetscFunctionReturn(0);
  PetscCall(ArchiveReadRealWithin(archive, "advected_over", 0., PETSC_MAX_REAL, &fluid->advected_over));
  if (fluid_group_count(fluid))
    PetscFunctionReturn(0);
  if (!fluid->advected[X])
    PetscCall(FluidCreateAdvected(fluid));
  PetscCall(LoadVelocity(fluid, "advected_velocity", fluid->advected, archive));
  PetscFunctionReturn(0);
}

static PetscErrorCode LoadGroups(Fluid fluid, Archive archive)
{
  char name[64];
  Vec *faces;

  PetscFunctionBegin;
  for (PetscInt g = 0; g < fluid_group_count(fluid); g++) {
    PetscCall(FluidGetGroupVelocity(fluid, g, &faces));
    PetscCall(PetscSNPrintf(name, sizeof(name), "earlier_velocity_of_group_%" PetscInt_FMT, g));
    PetscCall(LoadVelocity(fluid, name, fluid->groups[g].earlier, archive));
    PetscCall(FluidFillVelocityGhosts(fluid, fluid->groups[g].earlier, fluid->earlier_time));
    PetscCall(PetscSNPrintf(name, sizeof(name), "advected_velocity_of_group_%" PetscInt_FMT, g));
    if (fluid->advected_over > 0.)
      PetscCall(LoadVelocity(fluid, name, fluid->groups[g].advected, archive));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode FluidLoad(Fluid fluid, Archive archive)
{
  PetscInt64 steps;
  PetscBool  viscous_mixture;

  PetscFunctionBegin;
  PetscCall(ArchiveEnter(archive, "fluid"));
  PetscCall(ArchiveReadRealWithin(archive, "time", 0., PETSC_MAX_REAL, &fluid->time));
  PetscCall(ArchiveReadRealWithin(archive, "earlier_time", 0., fluid->time, &fluid->earlier_time));
  PetscCall(ArchiveReadCount(archive, "steps", 0, PETSC_MAX_INT - 1, &steps));
  fluid->steps = (PetscInt)steps;
  PetscCall(LoadVelocity(fluid, "velocity", fluid->velocity, archive));
  PetscCall(LoadVelocity(fluid, "earlier_velocity", fluid->earlier, archive));
  PetscCall(MacGridLoadField(fluid->grid, "pressure", fluid->pressure, archive));
  PetscCall(ArchiveHas(archive, "acceleration_x", &viscous_mixture));
  if (viscous_mixture && !fluid->acceleration[X])
    PetscCall(MacGridCreateFaceField(fluid->grid, fluid->acceleration));
  if (viscous_mixture)
    PetscCall(
        LoadSlow(fluid, "acceleration", fluid->time - fluid->earlier_time, fluid->acceleration, archive));
  PetscCall(LoadAdvected(fluid, archive));
  PetscCall(LoadGroups(fluid, archive));
  for (PetscInt s = 0; s < fluid->config->scalar_count; s++)
    PetscCall(MacGridLoadField(fluid->grid, fluid->config->scalars[s].name, fluid->scalars[s], archive));
  PetscCall(ArchiveLeave(archive));
  PetscCall(FluidFillVelocityGhosts(fluid, fluid->velocity, fluid->time));
  PetscCall(FluidFillVelocityGhosts(fluid, fluid->earlier, fluid->earlier_time));
  PetscCall(FluidFillPressureGhosts(fluid, fluid->pressure));
  PetscCall(FluidRefreshScalars(fluid));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidCheck(Fluid fluid)
{
  static const char *const names[] = {"The velocity along x", "The velocity along y", "The velocity along z"};

  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(MacGridCheckField(fluid->grid, fluid->velocity[d], names[d]));
  for (PetscInt s = 0; s < fluid->config->scalar_count; s++)
    PetscCall(MacGridCheckField(fluid->grid, fluid->scalars[s], fluid->config->scalars[s].name));
  PetscFunctionReturn(0);
}
