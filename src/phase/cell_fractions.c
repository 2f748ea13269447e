/* What part of a cube of one cell's size is in which region: each interface is taken for a plane through the
   place, with the value and the gradient of its distance there, projected on the fly (4.2.2). Exact for plane
   interfaces between two regions, wherever they lie; fourth order in the volume of curved ones. */
#include "phase_impl.h"

/* What the cell sees of a distance takes the place of the field. */
static void take_seen(Phase phase, const PetscReal *distance, PetscInt c, Nearby *nearby)
{
  PetscReal     *seen = nearby->seen[nearby->count];
  VisibleStencil stencil;

  visible_stencil_of_cell(phase->visibility_map, c, 1, distance, &stencil);
  memcpy(seen, stencil.value, sizeof(nearby->seen[0]));
  memcpy(nearby->stride, stencil.stride, sizeof(nearby->stride));
  nearby->distance[nearby->count] = seen + stencil.centre;
}

void find_nearby(Phase phase, PetscReal *const distances[], PetscInt c, Nearby *nearby)
{
  const PetscReal reach = 2. * grid_spacing(phase->grid);
  const PetscBool near_shell = is_near_shell(phase->visibility_map, c);

  nearby->count = 0;
  memcpy(nearby->stride, grid_box(phase->grid)->stride, sizeof(nearby->stride));
  for (PetscInt n = 0; n < phase->count; n++)
    if (distances[n][c] < reach) {
      nearby->region[nearby->count] = n;
      nearby->distance[nearby->count] = distances[n] + c;
      if (near_shell)
        take_seen(phase, distances[n], c, nearby);
      nearby->count++;
    }
}

/* The corners of the cell of centres around a place, from the uppermost: one, two or four cells. */
typedef struct {
  PetscInt count;
  PetscInt cell[4];
} Corners;

static Corners corners_at(PetscInt dimension, const PetscInt stride[DIM], const PetscInt half[DIM])
{
  Corners corners = {.count = 1, .cell = {0}};

  for (PetscInt d = 0; d < dimension; d++)
    if (half[d])
      for (PetscInt m = 0, count = corners.count; m < count; m++)
        corners.cell[corners.count++] = corners.cell[m] - stride[d];
  return corners;
}

static PetscReal corner_mean(const Corners *corners, const PetscReal *distance, PetscInt shift)
{
  PetscReal sum = 0.;

  for (PetscInt m = 0; m < corners->count; m++)
    sum += distance[corners->cell[m] + shift];
  return sum / corners->count;
}

/* Differences over one cell where the place lies between two centres, else over two. */
static Vector3 corner_gradient(PetscInt dimension, const PetscInt strides[DIM], const Corners *corners,
                               const PetscInt half[DIM], const PetscReal *distance, PetscReal h)
{
  Vector3  gradient = vector3(0., 0., 0.);
  PetscInt bit = 0; /* of a corner's number, that says whether it lies below */

  for (PetscInt d = 0; d < dimension; d++) {
    const PetscInt stride = strides[d];

    if (!half[d]) {
      gradient.at[d] =
          (corner_mean(corners, distance, stride) - corner_mean(corners, distance, -stride)) / (2. * h);
      continue;
    }
    for (PetscInt m = 0; m < corners->count; m++)
      gradient.at[d] += (m >> bit & 1 ? -2. : 2.) * distance[corners->cell[m]] / (corners->count * h);
    bit++;
  }
  return gradient;
}

/* The distance to the plane that cuts off as much of the cell as the curved surface does, less the distance:
   h^2/24 times the curvature, that of a ball of three cells at most. */
static PetscReal bulge(PetscInt dimension, const PetscInt stride[DIM], const PetscReal *distance, PetscReal h)
{
  const PetscReal most = h / 36.;
  PetscReal       sum = 0.;

  for (PetscInt d = 0; d < dimension; d++)
    sum += distance[stride[d]] + distance[-stride[d]] - 2. * distance[0];
  return PetscMax(-most, PetscMin(sum / 24., most));
}

/* Makes the smallest value negative and the next its opposite. */
static void project_values(PetscInt count, PetscReal value[])
{
  PetscReal first = PETSC_MAX_REAL, second = PETSC_MAX_REAL;

  if (count < 2)
    return;
  for (PetscInt n = 0; n < count; n++) {
    second = PetscMin(second, PetscMax(first, value[n]));
    first = PetscMin(first, value[n]);
  }
  for (PetscInt n = 0; n < count; n++)
    value[n] -= 0.5 * (first + second);
}

void find_fractions(Phase phase, const Nearby *nearby, const PetscInt half[DIM], CellFractions *fractions)
{
  const PetscInt  dimension = grid_box(phase->grid)->dimension, *stride = nearby->stride;
  const PetscReal h = grid_spacing(phase->grid);
  const Corners   corners = corners_at(dimension, stride, half);
  PetscReal       sum = 0.;

  fractions->count = nearby->count;
  for (PetscInt n = 0; n < nearby->count; n++) {
    fractions->distance[n] = corner_mean(&corners, nearby->distance[n], 0);
    if (corners.count == 1)
      fractions->distance[n] += bulge(dimension, stride, nearby->distance[n], h);
  }
  project_values(nearby->count, fractions->distance);
  for (PetscInt n = 0; n < nearby->count; n++) {
    fractions->region[n] = nearby->region[n];
    fractions->gradient[n] = corner_gradient(dimension, stride, &corners, half, nearby->distance[n], h);
    fractions->fraction[n] = inside_fraction(dimension, fractions->distance[n], fractions->gradient[n], h);
    sum += fractions->fraction[n];
  }
  for (PetscInt n = 0; n < nearby->count; n++)
    fractions->fraction[n] = sum > 0. ? fractions->fraction[n] / sum : 1. / nearby->count;
}

/* Sums over what walls leave of the cells of this rank, in cells; those of whole cells are exact. */
enum { VOLUME, SURFACE, CENTRE, SUMS = CENTRE + DIM };
typedef struct {
  PetscReal       whole[REGIONS_MAX][SUMS];
  ReproducibleSum parts[REGIONS_MAX][SUMS];
} Sums;

static void add_cell(const GridBox *box, const PetscInt at[DIM], PetscReal sums[SUMS])
{
  sums[VOLUME] += 1.;
  for (PetscInt d = 0; d < box->dimension; d++)
    sums[CENTRE + d] += at[d] + 0.5;
}

/* What walls leave of a cell lies about its centre. */
static void add_part(const GridBox *box, const PetscInt at[DIM], PetscReal fraction, PetscReal surface,
                     ReproducibleSum sums[SUMS])
{
  sum_add(&sums[VOLUME], fraction);
  sum_add(&sums[SURFACE], surface);
  for (PetscInt d = 0; d < box->dimension; d++)
    sum_add(&sums[CENTRE + d], fraction * (at[d] + 0.5));
}

/* The surface in a cell is the difference between the parts inside of surfaces half a cell further out and
   further in, over h: summed over the cells that is exact for planes and circles. */
static void add_mixed_cell(Phase phase, PetscReal *const distances[], const PetscInt at[DIM], PetscInt c,
                           PetscReal part, Sums *sums)
{
  static const PetscInt centre[DIM];
  const GridBox        *box = grid_box(phase->grid);
  const PetscReal       h = grid_spacing(phase->grid);
  Nearby                nearby;
  CellFractions         fractions;

  find_nearby(phase, distances, c, &nearby);
  find_fractions(phase, &nearby, centre, &fractions);
  for (PetscInt n = 0; n < fractions.count; n++) {
    const PetscReal steepness = vector3_norm(fractions.gradient[n]), shift = 0.5 * h * steepness;

    add_part(box, at, part * fractions.fraction[n],
             part *
                 (inside_fraction(box->dimension, fractions.distance[n] - shift, fractions.gradient[n], h) -
                  inside_fraction(box->dimension, fractions.distance[n] + shift, fractions.gradient[n], h)),
             sums->parts[fractions.region[n]]);
  }
}

/* What walls leave of each cell: from their surfaces, or all of those that are not closed. */
typedef struct {
  const PetscReal *parts, *closed; /* null: unknown; none */
} FreeParts;

static PetscReal free_part(const FreeParts *free, PetscInt c)
{
  if (free->parts)
    return free->parts[c];
  return free->closed && free->closed[c] > 0. ? 0. : 1.;
}

static void add_row(Phase phase, PetscReal *const distances[], const FreeParts *free, PetscInt j, PetscInt k,
                    Sums *sums)
{
  const GridBox *box = grid_box(phase->grid);

  for (PetscInt i = box->start[X]; i < box->end[X]; i++) {
    const PetscInt  at[DIM] = {i, j, k}, c = box_index(box, i, j, k);
    const PetscReal part = free_part(free, c);

    if (part <= 0.)
      continue;
    if (phase->mixed[c])
      add_mixed_cell(phase, distances, at, c, part, sums);
    else if (part < 1.)
      add_part(box, at, part, 0., sums->parts[phase->region[c]]);
    else
      add_cell(box, at, sums->whole[phase->region[c]]);
  }
}

static void set_totals(Phase phase, PetscReal sums[][SUMS])
{
  const GridBox  *box = grid_box(phase->grid);
  const PetscReal h = grid_spacing(phase->grid), area = box->dimension == 3 ? h * h : h;

  for (PetscInt n = 0; n < phase->count; n++) {
    const PetscReal volume = sums[n][VOLUME];
    Vector3         centre = vector3(0., 0., 0.);

    for (PetscInt d = 0; d < DIM && volume > 0.; d++)
      centre.at[d] =
          grid_origin(phase->grid).at[d] + (d < box->dimension ? h * sums[n][CENTRE + d] / volume : 0.);
    phase->report.volume[n] = area * h * volume;
    phase->report.centre[n] = centre;
    phase->report.surface[n] = area * sums[n][SURFACE];
  }
}

void phase_set_free_parts(Phase phase, Vec parts)
{
  phase->parts = parts;
}

PetscErrorCode PhaseMeasure(Phase phase, Vec closed)
{
  const GridBox *box = grid_box(phase->grid);
  FreeParts      free = {NULL, NULL};
  PetscReal     *distances[REGIONS_MAX];
  PetscReal      parts[REGIONS_MAX][SUMS];
  Sums           sums = {{{0.}}, {{{0}}}};

  PetscFunctionBegin;
  PetscCall(PhaseGetDistances(phase, distances));
  if (closed)
    PetscCall(VecGetArrayRead(closed, &free.closed));
  if (phase->parts)
    PetscCall(VecGetArrayRead(phase->parts, &free.parts));
  FOR_ROWS(box, j, k)
    add_row(phase, distances, &free, j, k, &sums);
  if (phase->parts)
    PetscCall(VecRestoreArrayRead(phase->parts, &free.parts));
  if (closed)
    PetscCall(VecRestoreArrayRead(closed, &free.closed));
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums.whole, REGIONS_MAX * SUMS, MPIU_REAL, MPI_SUM, box->comm));
  PetscCall(SumOverRanks(box->comm, REGIONS_MAX * SUMS, sums.parts[0], parts[0]));
  for (PetscInt n = 0; n < REGIONS_MAX; n++)
    for (PetscInt m = 0; m < SUMS; m++)
      sums.whole[n][m] += parts[n][m];
  set_totals(phase, sums.whole);
  PetscFunctionReturn(0);
}
