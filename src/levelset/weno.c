/* d phi/dt = -u . grad phi in the band, with the fifth-order upwind WENO derivative of Jiang and Peng (2000)
   in each direction and the three-stage TVD Runge-Kutta method of Shu and Osher; u at a cell centre is the
   mean of two faces. A long step is taken in parts. Cells near shells are carried by shell_transport.c and go
   from their old values to the new ones meanwhile. */
#include "levelset_impl.h"

#include <millrace/sampling.h>

/* Adds -u dphi/dx of one direction, times dt, for a run of cells. */
KERNEL void add_rate(const PetscReal *restrict f, const PetscReal *restrict face, PetscInt s, PetscInt count,
                     PetscReal scale, PetscReal step, PetscReal *restrict rate)
{
  for (PetscInt n = 0; n < count; n++) {
    const PetscReal  u = 0.5 * (face[n] + face[n + s]);
    const PetscReal *p = f + n;
    const PetscReal  d0 = (p[-2 * s] - p[-3 * s]) * scale, d1 = (p[-s] - p[-2 * s]) * scale;
    const PetscReal  d2 = (p[0] - p[-s]) * scale, d3 = (p[s] - p[0]) * scale;
    const PetscReal  d4 = (p[2 * s] - p[s]) * scale, d5 = (p[3 * s] - p[2 * s]) * scale;
    const PetscReal  a = u > 0. ? d0 : d5, b = u > 0. ? d1 : d4, c = u > 0. ? d2 : d3;
    const PetscReal  d = u > 0. ? d3 : d2, e = u > 0. ? d4 : d1;

    rate[n] -= step * u * weno_slope(a, b, c, d, e);
  }
}

typedef struct {
  const GridBox       *box;
  const Band          *band;
  PetscReal           *flow[DIM];
  PetscReal            spacing, dt;
  const VisibilityMap *map;                 /* null: there are no shells */
  PetscReal           *before, *near_shell; /* of its cells at the start and at the end of the whole step */
} Carrier;

/* to = mix start + (1 - mix) (from + dt rate(from)) in the band; `to` may be `start`. */
VECTOR_CLONES static void euler_stage(const Carrier *carrier, PetscReal mix, const PetscReal *start,
                                      const PetscReal *from, PetscReal *to)
{
  for (PetscInt r = 0; r < carrier->band->count; r++) {
    const BandRun run = carrier->band->runs[r];
    PetscReal     rate[RUN] = {0.};

    for (PetscInt a = 0; a < carrier->box->dimension; a++)
      add_rate(from + run.first, carrier->flow[a] + run.first, carrier->box->stride[a], run.count,
               1. / carrier->spacing, carrier->dt, rate);
    for (PetscInt n = 0, c = run.first; n < run.count; n++, c++)
      to[c] = mix * start[c] + (1. - mix) * (from[c] + rate[n]);
  }
}

static PetscErrorCode FindCellsNearShells(LevelSet level_set, PetscReal dt, const PetscReal value[],
                                          Carrier *carrier)
{
  PetscFunctionBegin;
  carrier->map = level_set->visibility_map;
  carrier->before = carrier->near_shell = NULL;
  if (!carrier->map)
    PetscFunctionReturn(0);
  PetscCall(LevelSetAdvectNearShells(level_set, carrier->flow, dt, value, &carrier->near_shell));
  PetscCall(PetscMalloc1(carrier->map->count, &carrier->before));
  for (PetscInt n = 0; n < carrier->map->count; n++)
    carrier->before[n] = value[carrier->map->cells[n]];
  PetscFunctionReturn(0);
}

/* After this part of the step. */
static void set_near_shells(const Carrier *carrier, PetscReal part, PetscReal *value)
{
  for (PetscInt n = 0; carrier->map && n < carrier->map->count; n++)
    value[carrier->map->cells[n]] = (1. - part) * carrier->before[n] + part * carrier->near_shell[n];
}

/* Cells that the flow crosses in a unit of time, summed over the directions. Collective. */
static PetscErrorCode LargestRate(const Carrier *carrier, PetscReal *largest)
{
  PetscReal most = 0.;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < carrier->band->count; r++) {
    const BandRun run = carrier->band->runs[r];

    for (PetscInt c = run.first; c < run.first + run.count; c++) {
      PetscReal sum = 0.;

      for (PetscInt a = 0; a < carrier->box->dimension; a++)
        sum += PetscAbsReal(0.5 * (carrier->flow[a][c] + carrier->flow[a][c + carrier->box->stride[a]]));
      most = PetscMax(most, sum);
    }
  }
  *largest = most / carrier->spacing;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 1, MPIU_REAL, MPIU_MAX, carrier->box->comm));
  PetscFunctionReturn(0);
}

PetscErrorCode LevelSetMoveFrom(LevelSet level_set, Vec before, Vec velocity[DIM], PetscReal dt)
{
  const GridBox   *box = grid_box(level_set->grid);
  Carrier          carrier = {.box = box, .band = &level_set->band, .spacing = grid_spacing(level_set->grid)};
  const PetscReal *from;
  PetscReal       *value, *first;

  PetscFunctionBegin;
  carrier.dt = dt;
  PetscCall(MacGridGetFaces(level_set->grid, velocity, carrier.flow));
  PetscCall(VecGetArrayRead(before, &from));
  PetscCall(VecGetArray(level_set->distance, &value));
  PetscCall(VecGetArray(level_set->stage, &first));
  PetscCall(PetscArraycpy(first, from, box->length));
  euler_stage(&carrier, 0., from, from, first);
  PetscCall(LevelSetFillGhosts(level_set, level_set->stage));
  euler_stage(&carrier, 0.5, from, first, value);
  PetscCall(VecRestoreArray(level_set->stage, &first));
  PetscCall(VecRestoreArray(level_set->distance, &value));
  PetscCall(VecRestoreArrayRead(before, &from));
  PetscCall(MacGridRestoreFaces(level_set->grid, velocity, carrier.flow));
  PetscCall(LevelSetFillGhosts(level_set, level_set->distance));
  PetscFunctionReturn(0);
}

PetscErrorCode LevelSetAdvectWeno(LevelSet level_set, Vec velocity[DIM], PetscReal dt)
{
  const PetscReal longest = 0.7; /* cells in a part of the step */
  const GridBox  *box = grid_box(level_set->grid);
  Carrier         carrier = {.box = box, .band = &level_set->band, .spacing = grid_spacing(level_set->grid)};
  PetscReal      *value, *first, *second, rate;
  PetscInt        parts;

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(level_set->grid, velocity, carrier.flow));
  PetscCall(LargestRate(&carrier, &rate));
  parts = PetscMax(1, (PetscInt)PetscCeilReal(rate * PetscAbsReal(dt) / longest - 1e-9));
  carrier.dt = dt / parts;
  PetscCall(VecGetArray(level_set->distance, &value));
  PetscCall(VecGetArray(level_set->stage, &first));
  PetscCall(VecGetArray(level_set->start, &second));
  PetscCall(PetscArraycpy(first, value, box->length));
  PetscCall(PetscArraycpy(second, value, box->length));
  PetscCall(FindCellsNearShells(level_set, dt, value, &carrier));
  for (PetscInt part = 0; part < parts; part++) {
    euler_stage(&carrier, 0., value, value, first);
    set_near_shells(&carrier, (part + 1.) / parts, first);
    PetscCall(LevelSetFillGhosts(level_set, level_set->stage));
    euler_stage(&carrier, 0.75, value, first, second);
    set_near_shells(&carrier, (part + 0.5) / parts, second);
    PetscCall(LevelSetFillGhosts(level_set, level_set->start));
    euler_stage(&carrier, 1. / 3., value, second, value);
    set_near_shells(&carrier, (part + 1.) / parts, value);
    PetscCall(LevelSetFillGhosts(level_set, level_set->distance));
  }
  PetscCall(PetscFree(carrier.before));
  PetscCall(PetscFree(carrier.near_shell));
  PetscCall(VecRestoreArray(level_set->start, &second));
  PetscCall(VecRestoreArray(level_set->stage, &first));
  PetscCall(VecRestoreArray(level_set->distance, &value));
  PetscCall(MacGridRestoreFaces(level_set->grid, velocity, carrier.flow));
  PetscFunctionReturn(0);
}
