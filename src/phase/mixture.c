/* The fields of a mixture. Two neighbouring cells see each other through their crossing (4.3.1):

     mobility = 1 / (theta rho_i + (1 - theta) rho_j),   theta = |phi_i| / (|phi_i| + |phi_j|),

   with rho = 0 and the pressure given at the crossing where one of them is empty. Cells, dual cells and edges
   hold the mean density and viscosity of their fractions. Two cells with a shell between them have half of it
   each, and neither sees the other's surface. */
#include "phase_impl.h"
#include "crossing.h"

static const PetscReal smallest_way = 1e-3;   /* theta_min beside an empty region: bounds the mobility */
static const PetscReal smallest_share = 1e-2; /* of liquid in the dual cell of a face, for its density */

PetscErrorCode PhaseGetCrossings(Phase phase, Crossings *crossings)
{
  PetscFunctionBegin;
  crossings->phase = phase;
  crossings->curvature = NULL;
  PetscCall(PhaseGetDistances(phase, crossings->distances));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseRestoreCrossings(Phase phase, Crossings *crossings)
{
  PetscFunctionBegin;
  PetscCall(PhaseRestoreDistances(phase, crossings->distances));
  PetscFunctionReturn(0);
}

static PetscReal crossing_mobility(Phase phase, const Crossing *crossing)
{
  const PetscReal lower = region_density(phase, crossing->lower),
                  upper = region_density(phase, crossing->upper);
  const PetscReal way = crossing->theta;

  if (lower == 0. && upper == 0.)
    return 0.;
  if (crossing->blocked && (lower == 0. || upper == 0.))
    return 1. / (lower + upper);
  if (upper == 0.)
    return 1. / (PetscMax(way, smallest_way) * lower);
  if (lower == 0.)
    return 1. / (PetscMax(1. - way, smallest_way) * upper);
  return 1. / (way * lower + (1. - way) * upper);
}

/* Arrays of the fields, and what they are in pure regions. */
typedef struct {
  PetscReal *density[DIM], *mobility[DIM], *jump[DIM], *edge_viscosity[DIM], *viscosity;
  PetscReal  lightest; /* density of a simulated region */
  PetscReal  fill_density[REGIONS_MAX];
} MixtureArrays;

static PetscErrorCode GetFields(Phase phase, MixtureArrays *fields)
{
  Mixture *mixture = &phase->mixture;

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(phase->grid, mixture->density, fields->density));
  PetscCall(MacGridGetFaces(phase->grid, mixture->mobility, fields->mobility));
  PetscCall(MacGridGetFaces(phase->grid, mixture->jump, fields->jump));
  PetscCall(VecGetArray(mixture->viscosity, &fields->viscosity));
  for (PetscInt d = 0; d < DIM; d++) {
    fields->edge_viscosity[d] = NULL;
    if (mixture->edge_viscosity[d])
      PetscCall(VecGetArray(mixture->edge_viscosity[d], &fields->edge_viscosity[d]));
  }
  fields->lightest = PETSC_MAX_REAL;
  for (PetscInt n = 0; n < phase->count; n++)
    if (!region_is_empty(phase, n))
      fields->lightest = PetscMin(fields->lightest, region_density(phase, n));
  for (PetscInt n = 0; n < phase->count; n++)
    fields->fill_density[n] = PetscMax(region_density(phase, n), smallest_share * fields->lightest);
  PetscFunctionReturn(0);
}

static PetscErrorCode RestoreFields(Phase phase, MixtureArrays *fields)
{
  Mixture *mixture = &phase->mixture;

  PetscFunctionBegin;
  PetscCall(MacGridRestoreFaces(phase->grid, mixture->density, fields->density));
  PetscCall(MacGridRestoreFaces(phase->grid, mixture->mobility, fields->mobility));
  PetscCall(MacGridRestoreFaces(phase->grid, mixture->jump, fields->jump));
  PetscCall(VecRestoreArray(mixture->viscosity, &fields->viscosity));
  for (PetscInt d = 0; d < DIM; d++)
    if (mixture->edge_viscosity[d])
      PetscCall(VecRestoreArray(mixture->edge_viscosity[d], &fields->edge_viscosity[d]));
  PetscFunctionReturn(0);
}

/* Cells and what lies below them, in one region. */
static void fill_pure(Phase phase, const MixtureArrays *fields, PetscInt from, PetscInt to, PetscInt region)
{
  const PetscInt  dimension = grid_box(phase->grid)->dimension;
  const PetscReal density = region_density(phase, region);
  const PetscReal viscosity = region_viscosity(phase, region) + stretched_viscosity(phase, region);
  const PetscReal mobility = density > 0. ? 1. / density : 0.;

  for (PetscInt c = from; c < to; c++)
    fields->viscosity[c] = viscosity;
  for (PetscInt d = 0; d < dimension; d++)
    for (PetscInt c = from; c < to; c++) {
      fields->density[d][c] = fields->fill_density[region];
      fields->mobility[d][c] = mobility;
      fields->jump[d][c] = 0.;
    }
  for (PetscInt d = 0; d < DIM; d++)
    for (PetscInt c = from; c < to && fields->edge_viscosity[d]; c++)
      fields->edge_viscosity[d][c] = viscosity;
}

/* Rows that are and were of one and the same region are left alone. */
static void fill_row(Phase phase, const MixtureArrays *fields, PetscInt row, PetscInt from, PetscInt width)
{
  const unsigned char *region = phase->region + from;
  const PetscBool      pure = !memchr(phase->mixed + from, 1, width) ? PETSC_TRUE : PETSC_FALSE;

  if (pure && phase->row_region[row] == region[0] + 1)
    return;
  phase->row_region[row] = pure ? region[0] + 1 : 0;
  for (PetscInt x = 0, end; x < width; x = end) {
    for (end = x + 1; end < width && region[end] == region[x];)
      end++;
    fill_pure(phase, fields, from + x, from + end, region[x]);
  }
}

static PetscReal mean_density(Phase phase, const MixtureArrays *fields, const CellFractions *fractions)
{
  PetscReal mass = 0., liquid = 0.;

  for (PetscInt n = 0; n < fractions->count; n++) {
    const PetscReal density = region_density(phase, fractions->region[n]);

    mass += fractions->fraction[n] * density;
    liquid += density > 0. ? fractions->fraction[n] : 0.;
  }
  if (liquid <= 0.)
    return smallest_share * fields->lightest;
  return mass / liquid * PetscMax(liquid, smallest_share);
}

/* Of the stress of a region each cell and edge has the region's part, and so it has of what stands for it. */
static PetscReal mean_stretched(Phase phase, const CellFractions *fractions)
{
  PetscReal sum = 0.;

  for (PetscInt n = 0; n < fractions->count; n++)
    sum += fractions->fraction[n] * stretched_viscosity(phase, fractions->region[n]);
  return sum;
}

static PetscReal mean_viscosity(Phase phase, const CellFractions *fractions)
{
  PetscReal sum = 0.;

  for (PetscInt n = 0; n < fractions->count; n++)
    sum += fractions->fraction[n] * region_viscosity(phase, fractions->region[n]);
  return sum;
}

/* The part inside of a line of one cell's length through the place, along the direction in which the distance
   changes most. */
static PetscReal line_fraction(PetscReal distance, Vector3 gradient, PetscInt steepest, PetscReal h)
{
  const PetscReal change = PetscAbsReal(gradient.at[steepest]) * h;

  if (change <= PetscAbsReal(distance) * 1e-6)
    return distance < 0. ? 1. : 0.;
  return PetscMax(0., PetscMin(0.5 - distance / change, 1.));
}

/* The first of equals, as those of an interface along a diagonal of the grid. */
static PetscInt steepest_direction(const Vector3 *gradient)
{
  PetscInt steepest = X;

  for (PetscInt d = Y; d < DIM; d++)
    if (PetscAbsReal(gradient->at[d]) > PetscAbsReal(gradient->at[steepest]) + MILLRACE_ROUND_OFF)
      steepest = d;
  return steepest;
}

/* Layers across which the shear acts are in series (harmonic mean), layers along the edge side by side. Where
   all regions are farther than half a cell away there are no layers. */
static PetscReal edge_viscosity(Phase phase, PetscInt direction, const CellFractions *fractions)
{
  const PetscReal h = grid_spacing(phase->grid);
  PetscInt        nearest = 0, steepest;
  PetscReal       sum = 0., inverse = 0., mean = 0.;

  for (PetscInt n = 1; n < fractions->count; n++)
    if (fractions->distance[n] < fractions->distance[nearest])
      nearest = n;
  steepest = steepest_direction(&fractions->gradient[nearest]);
  for (PetscInt n = 0; n < fractions->count; n++) {
    const PetscReal fraction = line_fraction(fractions->distance[n], fractions->gradient[n], steepest, h);
    const PetscReal viscosity = region_viscosity(phase, fractions->region[n]);

    sum += fraction;
    mean += fraction * viscosity;
    if (viscosity > 0.)
      inverse += fraction / viscosity;
    else if (fraction > MILLRACE_ROUND_OFF)
      inverse = PETSC_INFINITY;
  }
  if (!(inverse > 0.))
    return mean_viscosity(phase, fractions);
  return steepest == direction ? mean / sum : sum / inverse;
}

static PetscReal blocked_density(const MixtureArrays *fields, const Crossing *crossing)
{
  return 0.5 * (fields->fill_density[crossing->lower] + fields->fill_density[crossing->upper]);
}

/* The mean of the cells around an edge between which a shell passes; negative if there is none. */
static PetscReal blocked_viscosity(Phase phase, PetscInt direction, PetscInt c)
{
  const GridBox *box = grid_box(phase->grid);
  const PetscInt a = (direction + 1) % DIM, b = (direction + 2) % DIM;
  const PetscInt cells[4] = {c, c - box->stride[a], c - box->stride[b], c - box->stride[a] - box->stride[b]};
  PetscReal      sum = 0.;

  if (!is_near_shell(phase->visibility_map, c) ||
      !(face_is_blocked(phase->visibility_map, STEP_END, c, a, -1) ||
        face_is_blocked(phase->visibility_map, STEP_END, c, b, -1) ||
        face_is_blocked(phase->visibility_map, STEP_END, cells[1], b, -1) ||
        face_is_blocked(phase->visibility_map, STEP_END, cells[2], a, -1)))
    return -1.;
  for (PetscInt n = 0; n < 4; n++)
    sum += 0.25 * (region_viscosity(phase, phase->region[cells[n]]) +
                   stretched_viscosity(phase, phase->region[cells[n]]));
  return sum;
}

static void set_mixed_edges(Phase phase, const MixtureArrays *fields, const Nearby *nearby, PetscInt c)
{
  CellFractions fractions;

  for (PetscInt d = 0; d < DIM; d++)
    if (fields->edge_viscosity[d]) {
      const PetscReal blocked = blocked_viscosity(phase, d, c);

      find_fractions(phase, nearby, (const PetscInt[DIM]){d != X, d != Y, d != Z}, &fractions);
      fields->edge_viscosity[d][c] =
          blocked < 0. ? edge_viscosity(phase, d, &fractions) + mean_stretched(phase, &fractions) : blocked;
    }
}

/* Of each group on a face, as the pressure sees it: what lies along the line between the two centres. */
static void set_masses(Phase phase, const Crossing *crossing, PetscInt c, PetscInt number)
{
  const PetscInt  sides[2] = {crossing->lower, crossing->upper}, count = phase->mixture.groups.count;
  const PetscReal way = crossing->blocked ? 0.5 : crossing->theta, parts[2] = {way, 1. - way};
  PetscReal      *masses = phase->mixture.groups.masses + number * count;
  PetscReal      *kept = phase->mixture.groups.kept + number * count;

  for (PetscInt g = 0; g < count; g++)
    masses[g] = 0.;
  for (PetscInt n = 0; n < 2; n++)
    if (phase->group_of[sides[n]] != NO_GROUP)
      masses[phase->group_of[sides[n]]] += parts[n] * region_density(phase, sides[n]);
  for (PetscInt g = 0; g < count; g++)
    kept[g] = PetscMin(masses[g], mass_before(phase, c, number % DIM, g));
}

/* Cell c, which is number m of the mixed ones. */
static void set_mixed_cell(const Crossings *crossings, const MixtureArrays *fields, PetscInt m, PetscInt c)
{
  Phase          phase = crossings->phase;
  const GridBox *box = grid_box(phase->grid);
  const PetscInt groups = phase->mixture.groups.count;
  Nearby         nearby;
  CellFractions  fractions;

  find_nearby(phase, crossings->distances, c, &nearby);
  find_fractions(phase, &nearby, (const PetscInt[DIM]){0, 0, 0}, &fractions);
  fields->viscosity[c] = mean_viscosity(phase, &fractions) + mean_stretched(phase, &fractions);
  for (PetscInt d = 0; d < box->dimension; d++) {
    const Crossing crossing = crossing_below(crossings, c, d);

    fields->mobility[d][c] = crossing_mobility(phase, &crossing);
    find_fractions(phase, &nearby, (const PetscInt[DIM]){d == X, d == Y, d == Z}, &fractions);
    fields->density[d][c] =
        crossing.blocked ? blocked_density(fields, &crossing) : mean_density(phase, fields, &fractions);
    if (groups > 1)
      set_masses(phase, &crossing, c, DIM * m + d);
  }
  set_mixed_edges(phase, fields, &nearby, c);
}

/* As deep as the map of regions: whoever carries values on looks at all layers of ghosts. */
static PetscErrorCode MarkEmpty(Phase phase)
{
  const PetscInt length = grid_box(phase->grid)->length;
  PetscReal     *empty, mark[REGIONS_MAX];

  PetscFunctionBegin;
  for (PetscInt n = 0; n < phase->count; n++)
    mark[n] = region_is_empty(phase, n) ? 1. : 0.;
  PetscCall(VecGetArray(phase->mixture.empty, &empty));
  for (PetscInt c = 0; c < length; c++)
    empty[c] = mark[phase->region[c]];
  PetscCall(VecRestoreArray(phase->mixture.empty, &empty));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseUpdateMixture(Phase phase)
{
  const GridBox  *box = grid_box(phase->grid);
  const GridRange range = box_grown(box, MIXTURE_GHOSTS);
  PetscInt        row = 0;
  MixtureArrays   fields;
  Crossings       crossings;

  PetscFunctionBegin;
  PetscCall(MarkEmpty(phase));
  PetscCall(PhaseUpdateGroups(phase));
  PetscCall(GetFields(phase, &fields));
  PetscCall(PhaseGetCrossings(phase, &crossings));
  FOR_ROWS(&range, j, k)
    fill_row(phase, &fields, row++, box_index(box, range.start[X], j, k), range.end[X] - range.start[X]);
  for (PetscInt m = 0; m < phase->mixed_count; m++)
    set_mixed_cell(&crossings, &fields, m, phase->mixed_cells[m]);
  PetscCall(PhaseRestoreCrossings(phase, &crossings));
  PetscCall(RestoreFields(phase, &fields));
  PetscCall(PhaseUpdateSideMobility(phase, phase->mixture.mobility));
  PetscCall(PhaseUpdateJumps(phase));
  PetscCall(PhaseUpdateFronts(phase));
  PetscFunctionReturn(0);
}
