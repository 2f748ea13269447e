/* Keeping volumes, as an option: the distance of every simulated region is lowered by

     (target - volume + loss) / surface,  loss += (target - volume) / 4,  at most h / 10 in a step,

   with volumes and targets of the start of the step, before the projection, of which half remains against a
   region that is not corrected. The loss becomes what every step takes
   away, and is made up for in the same step; what passes the sides is not known as well as that. A
   target is the volume at the start and what was poured and flowed in since, less what has left through the
   sides of the box, by the parts of the regions there before and after each step. */
#include "phase_impl.h"

static const PetscReal largest_shift = 0.1; /* cells */

/* What leaves through a face on a side, in parts: the cell's region; on an open side, all that lie in the
   face's dual cell, of which half goes on beyond the side. */
static void find_side_parts(Phase phase, PetscReal *const distances[], PetscInt d, PetscInt side,
                            PetscInt face, CellFractions *parts)
{
  const PetscInt cell = side ? face - grid_box(phase->grid)->stride[d] : face;
  Nearby         nearby;

  if (side_is_open(phase, d, side) && (phase->mixed[cell] || phase->mixed[face])) {
    find_nearby(phase, distances, face, &nearby);
    find_fractions(phase, &nearby, (const PetscInt[DIM]){d == X, d == Y, d == Z}, parts);
  } else
    *parts = (CellFractions){.count = 1, .region = {phase->region[cell]}, .fraction = {1.}};
}

/* Outflow through one side of the box over h^(dimension - 1). */
static void add_outflow(Phase phase, PetscReal *const distances[], const PetscReal *u, const PetscReal *marks,
                        PetscInt direction, PetscInt side, ReproducibleSum sums[])
{
  const GridBox *box = grid_box(phase->grid);
  GridRange      faces = box_grown(box, 0);

  faces.start[direction] = side ? box->cells[direction] : 0;
  faces.end[direction] = faces.start[direction] + 1;
  FOR_CELLS(&faces, i, j, k) {
    const PetscInt  c = box_index(box, i, j, k), cell = side ? c - box->stride[direction] : c;
    const PetscReal out = side ? u[c] : -u[c];
    CellFractions   parts = {.count = 1, .fraction = {1.}};

    if (out < 0. && side_is_open(phase, direction, side))
      parts.region[0] = outer_region(phase, marks[cell], direction, side);
    else
      find_side_parts(phase, distances, direction, side, c, &parts);
    for (PetscInt n = 0; n < parts.count; n++)
      sum_add(&sums[parts.region[n]], parts.fraction[n] * out);
  }
}

PetscErrorCode PhaseAccountOutflow(Phase phase, Vec velocity[DIM], PetscReal dt)
{
  const GridBox   *box = grid_box(phase->grid);
  const PetscReal  h = grid_spacing(phase->grid), area = box->dimension == 3 ? h * h : h;
  PetscReal       *u[DIM], *distances[REGIONS_MAX], outflow[REGIONS_MAX];
  const PetscReal *marks = NULL;
  ReproducibleSum  sums[REGIONS_MAX] = {{0}};

  PetscFunctionBegin;
  if (phase->config->volume != VOLUME_KEPT && !phase->config->reaction_count)
    PetscFunctionReturn(0);
  PetscCall(PhaseGetDistances(phase, distances));
  PetscCall(MacGridGetFaces(phase->grid, velocity, u));
  if (phase->side_marks)
    PetscCall(VecGetArrayRead(phase->side_marks, &marks));
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++)
      if (box->neighbour[d][side] == MPI_PROC_NULL)
        add_outflow(phase, distances, u[d], marks, d, side, sums);
  if (phase->side_marks)
    PetscCall(VecRestoreArrayRead(phase->side_marks, &marks));
  PetscCall(MacGridRestoreFaces(phase->grid, velocity, u));
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscCall(SumOverRanks(box->comm, REGIONS_MAX, sums, outflow));
  for (PetscInt n = 0; n < phase->count; n++) {
    phase->targets[n] -= dt * area * outflow[n];
    if (outflow[n] != 0.)
      phase->losses[n] = 0.;
  }
  PetscFunctionReturn(0);
}

void phase_take_in(Phase phase, PetscInt region, PetscReal volume)
{
  phase->targets[region] += volume;
}

void find_shifts(Phase phase, PetscReal shifts[REGIONS_MAX])
{
  const PetscReal most = largest_shift * grid_spacing(phase->grid);

  for (PetscInt n = 0; n < phase->count; n++) {
    const PetscReal missing = phase->targets[n] - phase->report.volume[n], surface = phase->report.surface[n];
    PetscReal      *loss = &phase->losses[n];

    shifts[n] = 0.;
    if (phase->config->volume != VOLUME_KEPT || region_is_empty(phase, n) || !(surface > 0.))
      continue;
    shifts[n] = PetscMax(-most, PetscMin((missing + *loss) / surface, most));
    *loss = PetscMax(-most * surface, PetscMin(*loss + 0.25 * missing, most * surface));
  }
}

/* The two nearest regions of a cell. */
static void find_nearest_two(Phase phase, PetscReal *const distances[], PetscInt c, PetscInt nearest[2])
{
  nearest[0] = phase->region[c];
  nearest[1] = nearest[0] == 0 ? 1 : 0;
  for (PetscInt n = 0; n < phase->count; n++)
    if (n != nearest[0] && distances[n][c] < distances[nearest[1]][c])
      nearest[1] = n;
}

/* Component d, on the lower face of a cell, of the way that the interface between its two regions goes. */
static PetscReal way_seen_from(Phase phase, PetscReal *const distances[], const PetscReal shifts[],
                               PetscInt c, PetscInt face, PetscInt d)
{
  const PetscInt back = grid_box(phase->grid)->stride[d];
  PetscInt       nearest[2];

  find_nearest_two(phase, distances, c, nearest);
  if (distances[nearest[1]][c] >= phase->band - MILLRACE_ROUND_OFF * grid_spacing(phase->grid))
    return 0.;
  return 0.5 * (shifts[nearest[0]] - shifts[nearest[1]]) *
         (distances[nearest[0]][face] - distances[nearest[0]][face - back]) / grid_spacing(phase->grid);
}

PetscErrorCode PhaseAddShifts(Phase phase, const PetscReal shifts[], PetscReal dt, Vec velocity[DIM],
                              Vec faces[DIM])
{
  const GridBox  *box = grid_box(phase->grid);
  const GridRange range = box_grown(box, 2);
  PetscReal      *u[DIM], *distances[REGIONS_MAX];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++)
    PetscCall(VecCopy(velocity[d], faces[d]));
  PetscCall(PhaseGetDistances(phase, distances));
  PetscCall(MacGridGetFaces(phase->grid, faces, u));
  for (PetscInt d = 0; d < box->dimension; d++)
    FOR_CELLS(&range, i, j, k) {
      const PetscInt c = box_index(box, i, j, k), at[DIM] = {i, j, k};

      if (box->periodic[d] || (at[d] > 0 && at[d] < box->cells[d])) /* nothing goes through a side */
        u[d][c] += 0.5 / dt *
                   (way_seen_from(phase, distances, shifts, c, c, d) +
                    way_seen_from(phase, distances, shifts, c - box->stride[d], c, d));
    }
  PetscCall(MacGridRestoreFaces(phase->grid, faces, u));
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseShift(Phase phase, const PetscReal shifts[])
{
  const PetscInt  length = grid_box(phase->grid)->length;
  const PetscReal inner = phase->band - MILLRACE_ROUND_OFF * grid_spacing(phase->grid);
  PetscReal      *distances[REGIONS_MAX];

  PetscFunctionBegin;
  PetscCall(PhaseGetDistances(phase, distances));
  for (PetscInt n = 0; n < phase->count; n++)
    for (PetscInt c = 0; c < length && shifts[n] != 0.; c++)
      if (PetscAbsReal(distances[n][c]) < inner)
        distances[n][c] -= shifts[n];
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscFunctionReturn(0);
}
