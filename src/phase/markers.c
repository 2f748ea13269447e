/* The markers of all regions: seeding, what obstacles and sinks take, and counts. */
#include "phase_impl.h"

#include <millrace/sampling.h>

/* The cells of a field, for the tests of particles. */
typedef struct {
  Phase            phase;
  const GridBox   *box;
  const PetscReal *values;
} CellField;

static PetscBool is_marked(const void *context, const PetscInt at[DIM])
{
  const CellField *field = context;

  return field->values[box_index(field->box, at[X], at[Y], at[Z])] > 0. ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode PhaseDropClosed(Phase phase, PetscInt region, Vec closed)
{
  CellField          field = {.phase = phase, .box = grid_box(phase->grid)};
  const ParticleTest test = {.cell = is_marked, .context = &field};
  PetscInt           dropped = 0;

  PetscFunctionBegin;
  if (!closed || !phase->config->interface.particles)
    PetscFunctionReturn(0);
  PetscCall(VecGetArrayRead(closed, &field.values));
  PetscCall(ParticlesDropWhere(phase->markers[region], &test, &dropped));
  PetscCall(VecRestoreArrayRead(closed, &field.values));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseSeedRegion(Phase phase, PetscInt region, Vec closed)
{
  PetscFunctionBegin;
  if (phase->config->interface.particles) {
    PetscCall(LevelSetSeed(phase->level_sets[region], phase->markers[region], region, phase->seedings));
    PetscCall(PhaseDropClosed(phase, region, closed));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseSeed(Phase phase, Vec closed)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < phase->count; n++)
    PetscCall(PhaseSeedRegion(phase, n, closed));
  phase->seedings++;
  PetscFunctionReturn(0);
}

/* The bottom of a pocket that is at most two cells wide: what is left of it will be filled. */
static PetscBool is_sink(Phase phase, const PetscInt at[DIM], const PetscReal *distance, PetscInt c)
{
  const GridBox  *box = grid_box(phase->grid);
  const PetscReal h = grid_spacing(phase->grid), equal = MILLRACE_ROUND_OFF * h;

  if (PetscAbsReal(distance[c]) > h + equal)
    return PETSC_FALSE;
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = -1; side <= 1; side += 2) {
      const PetscBool beyond = at[d] + side < 0 || at[d] + side >= box->cells[d];
      const PetscBool hidden =
          phase->visibility_map && face_is_blocked(phase->visibility_map, STEP_END, c, d, side) ? PETSC_TRUE
                                                                                                : PETSC_FALSE;

      if (!(beyond && !box->periodic[d]) && !hidden &&
          distance[c + side * box->stride[d]] <= distance[c] + equal)
        return PETSC_FALSE;
    }
  return PETSC_TRUE;
}

static PetscBool sinks(const void *context, const PetscInt at[DIM])
{
  const CellField *field = context;

  return is_sink(field->phase, at, field->values, box_index(field->box, at[X], at[Y], at[Z]));
}

static PetscErrorCode DropSunkOf(Phase phase, PetscInt region, PetscInt *dropped)
{
  CellField          field = {.phase = phase, .box = grid_box(phase->grid)};
  const ParticleTest test = {.cell = sinks, .context = &field};

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(phase->distances[region], &field.values));
  PetscCall(ParticlesDropWhere(phase->markers[region], &test, dropped));
  PetscCall(VecRestoreArrayRead(phase->distances[region], &field.values));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseDropSunk(Phase phase)
{
  PetscInt   here = 0;
  PetscInt64 dropped;

  PetscFunctionBegin;
  phase->report.dropped = 0;
  if (!phase->config->interface.particles)
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < phase->count; n++)
    if (region_is_empty(phase, n))
      PetscCall(DropSunkOf(phase, n, &here));
  dropped = here;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &dropped, 1, MPIU_INT64, MPI_SUM, grid_box(phase->grid)->comm));
  phase->report.dropped = dropped;
  PetscFunctionReturn(0);
}

PetscReal phase_sample(Phase phase, const PetscReal *distance, PetscInt c, Vector3 point, PetscReal blind)
{
  PetscReal value;

  if (is_near_shell(phase->visibility_map, c))
    return sample_visible_cells(phase->visibility_map, distance, point, &value) ? value : blind;
  return sample_cells(grid_box(phase->grid), grid_origin(phase->grid), grid_spacing(phase->grid), distance,
                      point);
}

/* Markers that are outside of their own region by more than their radius. */
static PetscErrorCode CountEscaped(Phase phase, PetscInt region, PetscInt64 *escaped)
{
  const GridBox   *box = grid_box(phase->grid);
  const PetscReal  h = grid_spacing(phase->grid), surely_inside = -h; /* even at a corner of the cell */
  const PetscReal *distance;
  ParticleView     view;

  PetscFunctionBegin;
  PetscCall(ParticlesGetView(phase->markers[region], &view));
  PetscCall(VecGetArrayRead(phase->distances[region], &distance));
  FOR_NUMBERED_CELLS(box, cell, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (view.first[cell] < view.first[cell + 1] &&
        (distance[c] > surely_inside || is_near_shell(phase->visibility_map, c)))
      for (PetscInt m = view.first[cell]; m < view.first[cell + 1]; m++)
        *escaped += phase_sample(phase, distance, c, view.positions[m], -h) > view.values[m];
  }
  PetscCall(VecRestoreArrayRead(phase->distances[region], &distance));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseCountMarkers(Phase phase)
{
  PetscInt64   sums[REGIONS_MAX + 2] = {0};
  ParticleView view;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < phase->count && phase->config->interface.particles; n++) {
    PetscCall(ParticlesGetView(phase->markers[n], &view));
    sums[n] = view.count;
    PetscCall(CountEscaped(phase, n, &sums[REGIONS_MAX]));
    sums[REGIONS_MAX + 1] += particles_crossed(phase->markers[n]);
  }
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, sums, REGIONS_MAX + 2, MPIU_INT64, MPI_SUM, grid_box(phase->grid)->comm));
  for (PetscInt n = 0; n < phase->count; n++)
    phase->report.particles[n] = sums[n];
  phase->report.escaped = sums[REGIONS_MAX];
  phase->report.crossed = sums[REGIONS_MAX + 1];
  PetscFunctionReturn(0);
}
