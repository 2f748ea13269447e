/* Energy, dissipation and enstrophy of each region, by the region of cell centres:

     E = sum rho/2 u^2,   D = sum mu (2 sum_d (du_d/dx_d)^2 + sum_edges (du_a/dx_b + du_b/dx_a)^2),
     W = sum 1/2 sum_edges (du_a/dx_b - du_b/dx_a)^2,

   with half of each face, all of a cell's own differences and a quarter of each edge for a cell: the
   trapezoidal rule up to the sides. Runs of places whose cells are all of one region are vectors. */
#include "fluid_impl.h"

#include <millrace/trajectory.h>

/* Sums over places at the same distance from the beginnings of their runs, in units of a cell. */
typedef struct {
  PetscInt  region; /* NONE: there is nothing in it */
  PetscReal viscosity;
  PetscReal squares[SHIFT_RUN], strain[SHIFT_RUN], rotation[SHIFT_RUN], speed[SHIFT_RUN];
} Pending;
enum { NO_REGION_YET = -1 };

typedef struct {
  Fluid            fluid;
  const GridBox   *box;
  PetscReal       *u[DIM];
  const PetscReal *region, *covered;                /* null: one region; nothing */
  const PetscReal *viscosity, *edge_viscosity[DIM]; /* null: that of the configuration */
  const PetscReal *density;
  Pending          pending;
  RegionTotals    *totals;
} Survey;

/* What of a place counts: its cell, unless that lies beyond a side, and the part of each edge that is inside.
 */
typedef struct {
  PetscReal cell, edge[DIM];
} PlaceWeights;

KERNEL void add_cells(PetscReal *const u[DIM], const PetscInt stride[DIM], PetscInt first, PetscInt count,
                      Pending *to, const PetscInt dimension)
{
  for (PetscInt d = 0; d < dimension; d++) {
    const PetscInt   s = stride[d];
    const PetscReal *v = u[d] + first;

    for (PetscInt n = 0; n < count; n++) {
      const PetscReal low = v[n], high = v[n + s], rise = high - low;
      const PetscReal faster = PetscMax(PetscAbsReal(low), PetscAbsReal(high));

      to->squares[n] += low * low + high * high;
      to->strain[n] += 2. * rise * rise;
      to->speed[n] = PetscMax(to->speed[n], faster);
    }
  }
}

KERNEL void add_edges(PetscReal *const u[DIM], const PetscInt stride[DIM], const PlaceWeights *weights,
                      PetscInt first, PetscInt count, Pending *to, const PetscInt dimension)
{
  for (PetscInt e = dimension == 2 ? Z : X; e < DIM; e++) {
    const PetscInt   a = (e + 1) % DIM, b = (e + 2) % DIM, s = stride[a], t = stride[b];
    const PetscReal  weight = weights->edge[e];
    const PetscReal *v = u[a] + first, *w = u[b] + first;

    for (PetscInt n = 0; n < count; n++) {
      const PetscReal one = w[n] - w[n - s], other = v[n] - v[n - t];

      to->strain[n] += weight * (one + other) * (one + other);
      to->rotation[n] += weight * (one - other) * (one - other);
    }
  }
}

KERNEL void add_run(const Survey *survey, const PlaceWeights *weights, PetscInt first, PetscInt count,
                    Pending *to, const PetscInt dimension)
{
  if (weights->cell > 0.)
    add_cells(survey->u, survey->box->stride, first, count, to, dimension);
  add_edges(survey->u, survey->box->stride, weights, first, count, to, dimension);
}

VECTOR_CLONES static void add_run_2d(const Survey *survey, const PlaceWeights *weights, PetscInt first,
                                     PetscInt count, Pending *to)
{
  add_run(survey, weights, first, count, to, 2);
}

VECTOR_CLONES static void add_run_3d(const Survey *survey, const PlaceWeights *weights, PetscInt first,
                                     PetscInt count, Pending *to)
{
  add_run(survey, weights, first, count, to, 3);
}

static void flush(Survey *survey)
{
  Pending      *pending = &survey->pending;
  RegionTotals *totals;

  if (pending->region != NO_REGION_YET) {
    totals = &survey->totals[pending->region];
    for (PetscInt n = 0; n < SHIFT_RUN; n++) {
      totals->kinetic_energy += 0.25 * pending->squares[n];
      totals->dissipation += pending->viscosity * pending->strain[n];
      totals->enstrophy += 0.5 * pending->rotation[n];
      totals->largest_speed = PetscMax(totals->largest_speed, pending->speed[n]);
    }
  }
  *pending = (Pending){.region = NO_REGION_YET};
}

static PetscInt region_of(const Survey *survey, PetscInt c)
{
  return survey->region ? (PetscInt)survey->region[c] - 1 : 0;
}

static PetscReal viscosity_of(const Survey *survey, PetscInt c)
{
  return survey->viscosity ? survey->viscosity[c] : survey->fluid->config->viscosity;
}

/* A run of places whose cells, and those before them along every axis, are of one region and one viscosity.
 */
static void add_pure(Survey *survey, const PlaceWeights *weights, PetscInt first, PetscInt count)
{
  const PetscInt  region = region_of(survey, first);
  const PetscReal viscosity = viscosity_of(survey, first);

  if (survey->density[region] == 0.)
    return;
  if (survey->pending.region != region || survey->pending.viscosity != viscosity) {
    flush(survey);
    survey->pending.region = region;
    survey->pending.viscosity = viscosity;
  }
  if (survey->box->dimension == 2)
    add_run_2d(survey, weights, first, count, &survey->pending);
  else
    add_run_3d(survey, weights, first, count, &survey->pending);
}

/* Whether a cell, which may lie beyond a side, has fluid. */
static PetscBool has_fluid(const Survey *survey, const PetscInt at[DIM])
{
  const PetscInt c = box_index(survey->box, at[X], at[Y], at[Z]);

  for (PetscInt d = 0; d < DIM; d++)
    if (!survey->box->periodic[d] && (at[d] < 0 || at[d] >= survey->box->cells[d]))
      return PETSC_FALSE;
  return (!survey->covered || survey->covered[c] <= 0.) && survey->density[region_of(survey, c)] > 0.
             ? PETSC_TRUE
             : PETSC_FALSE;
}

static void add_cell(Survey *survey, const PetscInt at[DIM])
{
  const PetscInt c = box_index(survey->box, at[X], at[Y], at[Z]);
  RegionTotals  *totals;

  if (!has_fluid(survey, at))
    return;
  totals = &survey->totals[region_of(survey, c)];
  for (PetscInt d = 0; d < survey->box->dimension; d++) {
    const PetscReal low = survey->u[d][c], high = survey->u[d][c + survey->box->stride[d]];

    totals->kinetic_energy += 0.25 * (low * low + high * high);
    totals->dissipation += viscosity_of(survey, c) * 2. * (high - low) * (high - low);
    totals->largest_speed = PetscMax(totals->largest_speed, PetscMax(PetscAbsReal(low), PetscAbsReal(high)));
  }
}

/* A quarter of the edge along e at the lower ends of a cell, for each of the four cells around it. */
static void add_edge(Survey *survey, PetscInt e, const PetscInt at[DIM])
{
  const PetscInt  a = (e + 1) % DIM, b = (e + 2) % DIM, c = box_index(survey->box, at[X], at[Y], at[Z]);
  const PetscReal one = survey->u[b][c] - survey->u[b][c - survey->box->stride[a]];
  const PetscReal other = survey->u[a][c] - survey->u[a][c - survey->box->stride[b]];
  const PetscReal viscosity =
      survey->edge_viscosity[e] ? survey->edge_viscosity[e][c] : viscosity_of(survey, c);

  for (PetscInt n = 0; n < 4; n++) {
    PetscInt      cell[DIM] = {at[X], at[Y], at[Z]};
    RegionTotals *totals;

    cell[a] -= n % 2;
    cell[b] -= n / 2;
    if (!has_fluid(survey, cell))
      continue;
    totals = &survey->totals[region_of(survey, box_index(survey->box, cell[X], cell[Y], cell[Z]))];
    totals->dissipation += 0.25 * viscosity * (one + other) * (one + other);
    totals->enstrophy += 0.125 * (one - other) * (one - other);
  }
}

static void add_place(Survey *survey, const PetscInt at[DIM])
{
  add_cell(survey, at);
  for (PetscInt e = survey->box->dimension == 2 ? Z : X; e < DIM; e++)
    add_edge(survey, e, at);
}

/* same[n] = 0 where the rows before along y and z, or the place before, do not hold what a place holds. */
VECTOR_CLONES static void compare_row(PetscInt count, const PetscReal *restrict own, PetscInt y, PetscInt z,
                                      unsigned char *restrict same)
{
  const PetscReal *across = own - y, *above = own - z, *beyond = own - y - z;

  for (PetscInt n = 0; n < count; n++)
    same[n] &= (own[n] == own[n - 1]) & (own[n] == across[n]) & (own[n] == above[n]) & (own[n] == beyond[n]) &
               (own[n] == across[n - 1]) & (own[n] == above[n - 1]) & (own[n] == beyond[n - 1]);
}

/* The places of a row, from i on. */
static void add_row(Survey *survey, const PlaceWeights *weights, const PetscInt at[DIM], PetscInt count)
{
  const PetscInt *stride = survey->box->stride, z = survey->box->dimension == 3 ? stride[Z] : 0;
  const PetscInt  first = box_index(survey->box, at[X], at[Y], at[Z]);
  unsigned char   same[SHIFT_RUN];

  memset(same, 1, sizeof(same));
  if (survey->region)
    compare_row(count, survey->region + first, stride[Y], z, same);
  if (survey->viscosity) /* also in cells of one region it changes beside another */
    compare_row(count, survey->viscosity + first, stride[Y], z, same);
  if (survey->covered)
    compare_row(count, survey->covered + first, stride[Y], z, same);
  for (PetscInt n = 0, end; n < count; n = end) {
    const unsigned char *other = memchr(same + n, 0, count - n);

    end = other ? (PetscInt)(other - same) : count;
    if (end > n && (!survey->covered || survey->covered[first + n] <= 0.))
      add_pure(survey, weights, first + n, end - n);
    if (end > n)
      continue;
    add_place(survey, (const PetscInt[DIM]){at[X] + n, at[Y], at[Z]});
    end = n + 1;
  }
}

/* 1 inside the box, 1/2 on a side. */
static PetscReal part_inside(const GridBox *box, PetscInt d, PetscInt index)
{
  return d < box->dimension && !box->periodic[d] && (index == 0 || index == box->cells[d]) ? 0.5 : 1.;
}

static PetscReal cell_inside(const GridBox *box, PetscInt d, PetscInt index)
{
  return box->periodic[d] || index < box->cells[d] ? 1. : 0.;
}

static PlaceWeights place_weights(const GridBox *box, const PetscInt at[DIM])
{
  PetscReal    inside[DIM], part[DIM];
  PlaceWeights weights = {1., {1., 1., 1.}};

  for (PetscInt d = 0; d < DIM; d++) {
    inside[d] = cell_inside(box, d, at[d]);
    part[d] = part_inside(box, d, at[d]);
    weights.cell *= inside[d];
  }
  for (PetscInt e = 0; e < DIM; e++)
    weights.edge[e] = inside[e] * part[(e + 1) % DIM] * part[(e + 2) % DIM];
  return weights;
}

/* All places of this rank: its cells, and beyond an upper side one more layer for the edges on it. Those on
   sides along x are runs of their own. */
static void visit_places(Survey *survey)
{
  const GridBox *box = survey->box;
  GridRange      places = box_grown(box, 0);

  for (PetscInt d = 0; d < box->dimension; d++)
    if (touches_side(box, d, 1))
      places.end[d]++;
  FOR_ROWS(&places, j, k)
    for (PetscInt i = places.start[X], count; i < places.end[X]; i += count) {
      const PetscInt     at[DIM] = {i, j, k};
      const PlaceWeights weights = place_weights(box, at);
      const PetscInt     last =
          box->periodic[X] || i == box->cells[X] ? places.end[X] : PetscMin(places.end[X], box->cells[X]);

      count = part_inside(box, X, i) < 1. ? 1 : PetscMin(SHIFT_RUN, last - i);
      add_row(survey, &weights, at, count);
    }
  flush(survey);
}

static PetscErrorCode ReduceRegions(Fluid fluid, PetscInt count, const PetscReal density[],
                                    RegionTotals totals[])
{
  const GridBox  *box = grid_box(fluid->grid);
  const PetscReal h = grid_spacing(fluid->grid), volume = box->dimension == 3 ? h * h * h : h * h;
  PetscReal      *sums, *speeds;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(3 * count, &sums, count, &speeds));
  for (PetscInt r = 0; r < count; r++) {
    sums[3 * r] = density[r] * volume * totals[r].kinetic_energy;
    sums[3 * r + 1] = volume / (h * h) * totals[r].dissipation;
    sums[3 * r + 2] = volume / (h * h) * totals[r].enstrophy;
    speeds[r] = totals[r].largest_speed;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 3 * count, MPIU_REAL, MPI_SUM, box->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, speeds, count, MPIU_REAL, MPI_MAX, box->comm));
  for (PetscInt r = 0; r < count; r++)
    totals[r] = (RegionTotals){sums[3 * r], sums[3 * r + 1], sums[3 * r + 2], speeds[r]};
  PetscCall(PetscFree2(sums, speeds));
  PetscFunctionReturn(0);
}

static PetscErrorCode GetFields(Fluid fluid, Vec regions, Survey *survey)
{
  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(fluid->grid, fluid->velocity, survey->u));
  if (regions)
    PetscCall(VecGetArrayRead(regions, &survey->region));
  if (fluid_covered(fluid))
    PetscCall(VecGetArrayRead(fluid_covered(fluid), &survey->covered));
  if (!fluid->mixture)
    PetscFunctionReturn(0);
  PetscCall(VecGetArrayRead(fluid->mixture->viscosity, &survey->viscosity));
  for (PetscInt e = grid_box(fluid->grid)->dimension == 2 ? Z : X; e < DIM; e++)
    PetscCall(VecGetArrayRead(fluid->mixture->edge_viscosity[e], &survey->edge_viscosity[e]));
  PetscFunctionReturn(0);
}

static PetscErrorCode RestoreFields(Fluid fluid, Vec regions, Survey *survey)
{
  PetscFunctionBegin;
  if (fluid->mixture) {
    PetscCall(VecRestoreArrayRead(fluid->mixture->viscosity, &survey->viscosity));
    for (PetscInt e = grid_box(fluid->grid)->dimension == 2 ? Z : X; e < DIM; e++)
      PetscCall(VecRestoreArrayRead(fluid->mixture->edge_viscosity[e], &survey->edge_viscosity[e]));
  }
  if (fluid_covered(fluid))
    PetscCall(VecRestoreArrayRead(fluid_covered(fluid), &survey->covered));
  if (regions)
    PetscCall(VecRestoreArrayRead(regions, &survey->region));
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->velocity, survey->u));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetRegionTotals(Fluid fluid, PetscInt count, Vec regions, const PetscReal density[],
                                    RegionTotals totals[])
{
  Survey *survey;

  PetscFunctionBegin;
  PetscCall(PetscNew(&survey));
  PetscCall(PetscArrayzero(totals, count));
  survey->fluid = fluid;
  survey->box = grid_box(fluid->grid);
  survey->density = density;
  survey->totals = totals;
  survey->pending.region = NO_REGION_YET;
  PetscCall(GetFields(fluid, regions, survey));
  visit_places(survey);
  PetscCall(RestoreFields(fluid, regions, survey));
  PetscCall(ReduceRegions(fluid, count, density, totals));
  PetscCall(PetscFree(survey));
  PetscFunctionReturn(0);
}
