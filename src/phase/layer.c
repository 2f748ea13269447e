/* Two regions that turn into a third one where they meet (docs/numerics.md, 13b; thesis, Fig. 4.9): a layer
   of the product is put between them, and two fronts, each into one of them, go on from there. What the layer
   took is heavier than what it holds: the rest is pending. Its mass lies at points, which flow along, and
   becomes product in the course of time. */
#include "phase_impl.h"

#include <millrace/reaction.h>

static const PetscReal negligible = 1e-6; /* of the mass of a cell full of product: is released at once */

static PetscReal cell_volume(Phase phase)
{
  return PetscPowRealInt(grid_spacing(phase->grid), grid_box(phase->grid)->dimension);
}

static PetscReal release_time(Phase phase, PetscInt r)
{
  return reaction_release(&phase->config->reactions[r], grid_spacing(phase->grid));
}

static PetscReal product_density(Phase phase, PetscInt r)
{
  return region_density(phase, phase->fronts[r].product);
}

PetscErrorCode PhaseCreatePending(Phase phase)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < phase->config->reaction_count; r++)
    if (phase->config->reactions[r].second) {
      PetscCall(ParticlesCreate(phase->grid, 1, &phase->pending[r]));
      PetscCall(ParticlesArrange(phase->pending[r]));
    }
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseDestroyPending(Phase phase)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < REACTIONS_MAX; r++) {
    PetscCall(ParticlesDestroy(&phase->pending[r]));
    PetscCall(ParticlesDestroy(&phase->kept.pending[r]));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseKeepPending(Phase phase)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < phase->config->reaction_count; r++)
    if (phase->pending[r]) {
      if (!phase->kept.pending[r])
        PetscCall(ParticlesCreate(phase->grid, 1, &phase->kept.pending[r]));
      PetscCall(ParticlesCopy(phase->pending[r], phase->kept.pending[r]));
    }
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseReturnPending(Phase phase)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < phase->config->reaction_count; r++)
    if (phase->pending[r])
      PetscCall(ParticlesCopy(phase->kept.pending[r], phase->pending[r]));
  PetscFunctionReturn(0);
}

static PetscErrorCode AddUpPending(Phase phase)
{
  ReproducibleSum sums[REACTIONS_MAX] = {{0}};
  ParticleView    view;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < phase->config->reaction_count; r++)
    if (phase->pending[r]) {
      PetscCall(ParticlesGetView(phase->pending[r], &view));
      for (PetscInt n = 0; n < view.count; n++)
        sum_add(&sums[r], view.values[n]);
    }
  PetscCall(SumOverRanks(grid_box(phase->grid)->comm, REACTIONS_MAX, sums, phase->report.pending));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseSavePending(Phase phase, Archive archive)
{
  char name[32];

  PetscFunctionBegin;
  for (PetscInt r = 0; r < phase->config->reaction_count; r++)
    if (phase->pending[r]) {
      PetscCall(PetscSNPrintf(name, sizeof(name), "pending_%" PetscInt_FMT, r));
      PetscCall(ParticlesSave(phase->pending[r], name, archive));
      PetscCall(PetscSNPrintf(name, sizeof(name), "burnt_%" PetscInt_FMT, REACTIONS_MAX + r));
      PetscCall(ArchiveWriteShared(archive, name, 1, 1, &phase->report.burnt[REACTIONS_MAX + r]));
    }
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseLoadPending(Phase phase, Archive archive)
{
  char name[32];

  PetscFunctionBegin;
  for (PetscInt r = 0; r < phase->config->reaction_count; r++)
    if (phase->pending[r]) {
      PetscCall(PetscSNPrintf(name, sizeof(name), "pending_%" PetscInt_FMT, r));
      PetscCall(ParticlesLoad(phase->pending[r], name, archive));
      PetscCall(PetscSNPrintf(name, sizeof(name), "burnt_%" PetscInt_FMT, REACTIONS_MAX + r));
      PetscCall(ArchiveReadShared(archive, name, 1, 1, &phase->report.burnt[REACTIONS_MAX + r]));
    }
  PetscCall(AddUpPending(phase));
  PetscFunctionReturn(0);
}

PetscReal pending_limit(Phase phase)
{
  PetscReal limit = PETSC_MAX_REAL;

  for (PetscInt r = 0; r < phase->config->reaction_count; r++)
    if (phase->report.pending[r] != 0.)
      limit = PetscMin(limit, 0.5 * release_time(phase, r));
  return limit;
}

static PetscBool has_product(Phase phase, PetscInt r, PetscInt c)
{
  return phase->region[c] == phase->fronts[r].product && is_open_cell(phase, c) ? PETSC_TRUE : PETSC_FALSE;
}

/* What is pending in cell c becomes product in the cell, if that is there, else in those around that have it:
   the number of these cells. */
static PetscInt count_receivers(Phase phase, PetscInt r, PetscInt c)
{
  const GridBox *box = grid_box(phase->grid);
  const PetscInt deep = box->dimension == 3 ? 1 : 0;
  PetscInt       count = 0;

  if (has_product(phase, r, c))
    return 1;
  for (PetscInt k = -deep; k <= deep; k++)
    for (PetscInt j = -1; j <= 1; j++)
      for (PetscInt i = -1; i <= 1; i++)
        count += has_product(phase, r, c + i + j * box->stride[Y] + (deep ? k * box->stride[Z] : 0));
  return count;
}

PetscErrorCode PhaseReleasePending(Phase phase, PetscReal dt)
{
  const GridBox *box = grid_box(phase->grid);

  PetscFunctionBegin;
  for (PetscInt r = 0; r < phase->config->reaction_count; r++) {
    const PetscReal part = phase->pending[r] ? dt / release_time(phase, r) : 0.;
    const PetscReal before = phase->report.pending[r];
    ParticleView    view;
    PetscBool      *drop;

    if (before == 0.)
      continue;
    PetscCall(ParticlesGetView(phase->pending[r], &view));
    PetscCall(PetscCalloc1(view.count, &drop));
    FOR_NUMBERED_CELLS(box, cell, i, j, k)
      for (PetscInt n = view.first[cell]; n < view.first[cell + 1]; n++)
        if (count_receivers(phase, r, box_index(box, i, j, k))) {
          view.values[n] *= 1. - PetscMin(part, 1.);
          drop[n] = PetscAbsReal(view.values[n]) < negligible * product_density(phase, r) * cell_volume(phase)
                        ? PETSC_TRUE
                        : PETSC_FALSE;
        }
    PetscCall(ParticlesDrop(phase->pending[r], drop));
    PetscCall(PetscFree(drop));
    PetscCall(ParticlesArrange(phase->pending[r]));
    PetscCall(AddUpPending(phase));
    phase->targets[phase->fronts[r].product] +=
        (before - phase->report.pending[r]) / product_density(phase, r);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseCarryPending(Phase phase, Vec velocity[DIM], PetscReal dt)
{
  PetscBool any = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < phase->config->reaction_count; r++)
    if (phase->report.pending[r] != 0.) {
      any = PETSC_TRUE;
      PetscCall(ParticlesMove(phase->pending[r], phase->visibility_map, velocity, dt));
    }
  if (any) /* something may have left the box */
    PetscCall(AddUpPending(phase));
  PetscFunctionReturn(0);
}

/* The masses in the owned cells. */
static PetscErrorCode SumInCells(Phase phase, PetscInt r, Vec masses)
{
  const GridBox *box = grid_box(phase->grid);
  PetscReal     *mass;
  ParticleView   view;

  PetscFunctionBegin;
  PetscCall(VecSet(masses, 0.));
  PetscCall(ParticlesGetView(phase->pending[r], &view));
  PetscCall(VecGetArray(masses, &mass));
  FOR_NUMBERED_CELLS(box, cell, i, j, k)
    for (PetscInt n = view.first[cell]; n < view.first[cell + 1]; n++)
      mass[box_index(box, i, j, k)] += view.values[n];
  PetscCall(VecRestoreArray(masses, &mass));
  PetscCall(MacGridExchange(phase->grid, masses));
  PetscFunctionReturn(0);
}

/* What cell c receives, which has the product. */
static PetscReal received(Phase phase, PetscInt r, const PetscReal *mass, PetscInt c)
{
  const GridBox *box = grid_box(phase->grid);
  const PetscInt deep = box->dimension == 3 ? 1 : 0;
  PetscReal      sum = mass[c];

  for (PetscInt k = -deep; k <= deep; k++)
    for (PetscInt j = -1; j <= 1; j++)
      for (PetscInt i = -1; i <= 1; i++) {
        const PetscInt from = c + i + j * box->stride[Y] + (deep ? k * box->stride[Z] : 0);

        if (mass[from] != 0. && !has_product(phase, r, from))
          sum += mass[from] / count_receivers(phase, r, from);
      }
  return sum;
}

PetscErrorCode PhaseExpandPending(Phase phase, Vec expansion)
{
  const GridBox *box = grid_box(phase->grid);
  PetscReal     *mass, *value;
  Vec            masses = NULL;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < phase->config->reaction_count; r++) {
    if (phase->report.pending[r] == 0. || product_density(phase, r) == 0.)
      continue;
    if (!masses)
      PetscCall(MacGridCreateField(phase->grid, &masses));
    PetscCall(SumInCells(phase, r, masses));
    PetscCall(VecGetArray(masses, &mass));
    PetscCall(VecGetArray(expansion, &value));
    FOR_CELLS(box, i, j, k) {
      const PetscInt c = box_index(box, i, j, k);

      if (has_product(phase, r, c))
        value[c] += received(phase, r, mass, c) /
                    (release_time(phase, r) * product_density(phase, r) * cell_volume(phase));
    }
    PetscCall(VecRestoreArray(expansion, &value));
    PetscCall(VecRestoreArray(masses, &mass));
  }
  if (masses)
    PetscCall(MacGridExchange(phase->grid, expansion));
  PetscCall(VecDestroy(&masses));
  PetscFunctionReturn(0);
}

/* Of one reaction. */
typedef struct {
  PetscInt  reaction, first, second, product;
  PetscReal width; /* of the layer */
} ReactingPair;

static PetscBool meets(const ReactingPair *pair, PetscInt a, PetscInt b)
{
  return (a == pair->first && b == pair->second) || (a == pair->second && b == pair->first) ? PETSC_TRUE
                                                                                            : PETSC_FALSE;
}

/* Whether the two touch between cell c and its lower neighbour along d. */
static PetscBool touch_below(Phase phase, const ReactingPair *pair, PetscInt c, PetscInt d)
{
  const PetscInt below = c - grid_box(phase->grid)->stride[d];

  return meets(pair, phase->region[c], phase->region[below]) && is_open_cell(phase, c) &&
                 is_open_cell(phase, below) &&
                 !(phase->visibility_map && face_is_blocked(phase->visibility_map, STEP_END, c, d, -1))
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Marks the cells where they do, and those around: a layer, and two more for the slopes of distances to it.
 */
static PetscErrorCode MarkContact(Phase phase, const ReactingPair *pair, Vec marks, PetscBool *found)
{
  const GridBox *box = grid_box(phase->grid);
  PetscReal     *mark;

  PetscFunctionBegin;
  *found = PETSC_FALSE;
  PetscCall(VecSet(marks, 0.));
  PetscCall(VecGetArray(marks, &mark));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    for (PetscInt d = 0; d < box->dimension; d++)
      if (touch_below(phase, pair, c, d) || touch_below(phase, pair, c + box->stride[d], d)) {
        mark[c] = 1.;
        *found = PETSC_TRUE;
      }
  }
  PetscCall(VecRestoreArray(marks, &mark));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found, 1, MPIU_BOOL, MPI_LOR, box->comm));
  for (PetscReal reach = -2.; *found && reach < pair->width / grid_spacing(phase->grid); reach += 1.)
    PetscCall(PhaseWidenMarks(phase, marks, phase->scratch[0]));
  PetscFunctionReturn(0);
}

/* The distance to the layer in marked cells, far elsewhere. A film of something else that is thinner than a
   cell does not keep the two apart; what is thicker keeps its cells. Whether any cell has its middle in the
   layer. */
static PetscErrorCode FindLayer(Phase phase, const ReactingPair *pair, Vec layer, PetscBool *found)
{
  const GridBox *box = grid_box(phase->grid);
  PetscReal     *distances[REGIONS_MAX], *value;

  PetscFunctionBegin;
  *found = PETSC_FALSE;
  PetscCall(PhaseGetDistances(phase, distances));
  PetscCall(VecGetArray(layer, &value));
  FOR_CELLS(box, i, j, k) {
    const PetscInt  c = box_index(box, i, j, k), here = phase->region[c];
    const PetscReal away =
        PetscMax(PetscAbsReal(distances[pair->first][c]), PetscAbsReal(distances[pair->second][c])) -
        0.5 * pair->width;

    if (value[c] == 0.)
      value[c] = phase->band;
    else if (here == pair->first || here == pair->second)
      value[c] = away;
    else
      value[c] = PetscMax(away, -distances[here][c]);
    if (value[c] < 0. && is_open_cell(phase, c))
      *found = PETSC_TRUE;
  }
  PetscCall(VecRestoreArray(layer, &value));
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found, 1, MPIU_BOOL, MPI_LOR, box->comm));
  PetscFunctionReturn(0);
}

/* The middles of owned cells that a layer takes in, with their parts of it. */
typedef struct {
  PetscInt    count;
  Vector3    *positions;
  PetscReal  *values;
  PetscInt64 *numbers;
} TakenCells;

/* Parts are of the volume that the layer has there. */
static PetscErrorCode FindPoints(Phase phase, Vec layer, TakenCells *points)
{
  const GridBox   *box = grid_box(phase->grid);
  const PetscInt64 cells = (PetscInt64)box->cells[X] * box->cells[Y] * box->cells[Z];
  const PetscReal *value;
  PetscInt         room = 0;

  PetscFunctionBegin;
  points->count = 0;
  PetscCall(VecGetArrayRead(layer, &value));
  FOR_CELLS(box, i, j, k)
    room += value[box_index(box, i, j, k)] < 0.;
  PetscCall(PetscMalloc3(room, &points->positions, room, &points->values, room, &points->numbers));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (value[c] >= 0. || !is_open_cell(phase, c))
      continue;
    points->positions[points->count] = grid_cell_centre(phase->grid, i, j, k);
    points->values[points->count] = PetscMin(1., 0.5 - value[c] / grid_spacing(phase->grid));
    points->numbers[points->count++] =
        phase->seedings * cells + i + (PetscInt64)box->cells[X] * (j + (PetscInt64)box->cells[Y] * k);
  }
  PetscCall(VecRestoreArrayRead(layer, &value));
  PetscFunctionReturn(0);
}

/* `mass` in all. */
static PetscErrorCode AddPending(Phase phase, PetscInt r, PetscReal mass, const TakenCells *points)
{
  ReproducibleSum parts = {0};
  PetscReal       sum;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < points->count; n++)
    sum_add(&parts, points->values[n]);
  PetscCall(SumOverRanks(grid_box(phase->grid)->comm, 1, &parts, &sum));
  for (PetscInt n = 0; n < points->count && sum > 0.; n++)
    points->values[n] *= mass / sum;
  PetscCall(
      ParticlesAdd(phase->pending[r], points->count, points->positions, points->values, points->numbers));
  PetscCall(ParticlesArrange(phase->pending[r]));
  PetscCall(AddUpPending(phase));
  PetscFunctionReturn(0);
}

/* Masses are those of the volumes that both have lost, as measured: nothing is lost. */
static PetscErrorCode PutLayer(Phase phase, const ReactingPair *pair, Vec layer, Vec closed)
{
  const PetscInt  r = pair->reaction, both[2] = {pair->first, pair->second};
  const PetscReal product = region_density(phase, pair->product);
  PetscReal       before[REGIONS_MAX], mass = 0.;
  TakenCells      points;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(before, phase->report.volume, REGIONS_MAX));
  PetscCall(FindPoints(phase, layer, &points));
  PetscCall(PhaseFill(phase, pair->product, layer));
  PetscCall(PhaseRedistance(phase));
  PetscCall(PhaseCorrect(phase)); /* else the next step gives back what the layer is said to have taken */
  PetscCall(PhaseProject(phase, ALL_REGIONS));
  PetscCall(PhaseSeedRegion(phase, pair->product, closed));
  phase->seedings++;
  PetscCall(PhaseUpdate(phase, closed));
  for (PetscInt n = 0; n < 2; n++) {
    const PetscReal taken = before[both[n]] - phase->report.volume[both[n]];

    phase->targets[both[n]] -= taken;
    phase->targets[pair->product] += taken;
    phase->report.burnt[n ? REACTIONS_MAX + r : r] += taken * region_density(phase, both[n]);
    mass += taken * (region_density(phase, both[n]) - product);
  }
  PetscCall(AddPending(phase, r, mass, &points));
  PetscCall(PetscFree3(points.positions, points.values, points.numbers));
  PetscCall(PhaseUpdateMixture(phase)); /* with what it expands by */
  PetscFunctionReturn(0);
}

PetscErrorCode PhasePutLayers(Phase phase, Vec closed)
{
  const Vec layer = phase->scratch[1];

  PetscFunctionBegin;
  for (PetscInt r = 0; r < phase->config->reaction_count; r++) {
    const ReactionFront *front = &phase->fronts[r];
    const ReactingPair   pair = {r, front->first, front->partner, front->product,
                                 phase->config->reactions[r].layer * grid_spacing(phase->grid)};
    PetscBool            found;

    if (!phase->pending[r] || !reaction_acts(&phase->config->reactions[r], phase->time))
      continue;
    PetscCall(MarkContact(phase, &pair, layer, &found));
    if (found)
      PetscCall(FindLayer(phase, &pair, layer, &found));
    if (found)
      PetscCall(PutLayer(phase, &pair, layer, closed));
  }
  PetscFunctionReturn(0);
}
