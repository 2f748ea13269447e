/* Where markers are: inside, within a few cells of the interface, so many in each cell. */
#include "levelset_impl.h"

#include <millrace/sampling.h>

static const PetscReal depth = 2.5;   /* of the markers, cells */
static const PetscReal shallow = 0.1; /* least depth of a new one, the smallest radius */

/* Markers to be added. */
typedef struct {
  PetscInt    count, capacity;
  Vector3    *positions;
  PetscReal  *values;
  PetscInt64 *numbers;
} Batch;

typedef struct {
  LevelSet         level_set;
  const GridBox   *box;
  Vector3          origin;
  PetscReal        h;
  const PetscReal *value;
  PetscInt         wanted; /* markers in a cell */
  PetscInt         salt;
  PetscInt64       step;
  Batch            batch;
} Seeding;

static PetscErrorCode AddToBatch(Batch *batch, Vector3 position, PetscInt64 number)
{
  PetscFunctionBegin;
  if (batch->count == batch->capacity) {
    batch->capacity = 2 * batch->capacity + 1024;
    PetscCall(PetscRealloc(batch->capacity * sizeof(Vector3), &batch->positions));
    PetscCall(PetscRealloc(batch->capacity * sizeof(PetscReal), &batch->values));
    PetscCall(PetscRealloc(batch->capacity * sizeof(PetscInt64), &batch->numbers));
  }
  batch->positions[batch->count] = position;
  batch->values[batch->count] = 0.;
  batch->numbers[batch->count++] = number;
  PetscFunctionReturn(0);
}

/* Of a point in cell c; `blind` if nothing is seen from there. */
static PetscReal depth_at(const Seeding *seeding, PetscInt c, Vector3 point, PetscReal blind)
{
  const VisibilityMap *map = seeding->level_set->visibility_map;
  PetscReal            value;

  if (is_near_shell(map, c))
    return sample_visible_cells(map, seeding->value, point, &value) ? -value : blind;
  return -sample_cells(seeding->box, seeding->origin, seeding->h, seeding->value, point);
}

/* Part of a cell in which markers belong. */
static PetscReal part_for_markers(const Seeding *seeding, PetscInt c)
{
  const VisibilityMap *map = seeding->level_set->visibility_map;
  const PetscInt      *stride = seeding->box->stride;
  const PetscReal     *p = seeding->value + c;
  const PetscReal      h = seeding->h;
  Vector3              gradient = {{0., 0., 0.}};
  VisibleStencil       stencil;

  if (p[0] > 2. * h || p[0] < -(depth + 2.) * h)
    return 0.;
  if (is_near_shell(map, c)) {
    visible_stencil_of_cell(map, c, 1, seeding->value, &stencil);
    p = stencil.value + stencil.centre;
    stride = stencil.stride;
  }
  for (PetscInt a = 0; a < seeding->box->dimension; a++)
    gradient.at[a] = (p[stride[a]] - p[-stride[a]]) / (2. * h);
  return inside_fraction(seeding->box->dimension, p[0] + shallow * h, gradient, h) -
         inside_fraction(seeding->box->dimension, p[0] + depth * h, gradient, h);
}

static PetscInt64 global_cell(const GridBox *box, const PetscInt at[DIM])
{
  return at[X] + (PetscInt64)box->cells[X] * (at[Y] + (PetscInt64)box->cells[Y] * at[Z]);
}

static PetscBool is_taken(const ParticleView *view, PetscInt from, PetscInt to, PetscInt64 number)
{
  for (PetscInt n = from; n < to; n++)
    if (view->numbers[n] == number)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Which markers of a cell stay. Those that have strayed do: they know better than the field. */
static PetscInt thin_out(const Seeding *seeding, PetscInt c, const ParticleView *view,
                         const PetscInt range[2], PetscBool *drop)
{
  PetscInt kept = 0;

  for (PetscInt n = range[0]; n < range[1]; n++) {
    const PetscReal deep = depth_at(seeding, c, view->positions[n], shallow * seeding->h);
    const PetscBool far = deep > (depth + 0.5) * seeding->h || deep < -(BAND_CELLS - 1) * seeding->h;

    drop[n] = far || (kept >= 2 * seeding->wanted && deep > 0.) ? PETSC_TRUE : PETSC_FALSE;
    kept += !drop[n] && deep > 0.;
  }
  return kept;
}

/* Places that are tried in a cell, each with a number of its own. */
static PetscInt tries_per_cell(PetscInt wanted)
{
  return 4 * wanted;
}

static PetscInt64 count_cells(const GridBox *box)
{
  return (PetscInt64)box->cells[X] * box->cells[Y] * box->cells[Z];
}

/* Numbers are below 2^62. */
PetscInt64 level_set_most_seedings(LevelSet level_set)
{
  return ((PetscInt64)1 << 62) / tries_per_cell(PetscMax(level_set->config->particles, 1)) /
             count_cells(grid_box(level_set->grid)) -
         1;
}

/* Fills up one cell: `missing` more, at places that only the keys decide. */
static PetscErrorCode FillCell(Seeding *seeding, const PetscInt at[DIM], PetscInt missing,
                               const ParticleView *view, const PetscInt range[2])
{
  const GridBox   *box = seeding->box;
  const PetscInt   tries = tries_per_cell(seeding->wanted);
  const PetscInt64 cell = global_cell(box, at), cells = count_cells(box);

  PetscFunctionBegin;
  for (PetscInt n = 0; n < tries && missing > 0; n++) {
    const uint64_t key =
        hash_key((uint64_t)cell, (uint64_t)seeding->salt, (uint64_t)seeding->step, (uint64_t)n);
    const PetscInt64 number = (seeding->step * cells + cell) * tries + n;
    Vector3          point = {{0., 0., 0.}};
    PetscReal        deep;

    for (PetscInt a = 0; a < box->dimension; a++)
      point.at[a] = seeding->origin.at[a] + (at[a] + hash_real(key, a)) * seeding->h;
    deep = depth_at(seeding, box_index(box, at[X], at[Y], at[Z]), point, -seeding->h);
    if (deep < shallow * seeding->h || deep > depth * seeding->h ||
        is_taken(view, range[0], range[1], number))
      continue;
    PetscCall(AddToBatch(&seeding->batch, point, number));
    missing--;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode SeedCells(Seeding *seeding, const ParticleView *view, PetscBool *drop)
{
  const GridBox *box = seeding->box;
  PetscInt       at[DIM], tight = 0;

  PetscFunctionBegin;
  for (at[Z] = box->start[Z]; at[Z] < box->end[Z]; at[Z]++)
    for (at[Y] = box->start[Y]; at[Y] < box->end[Y]; at[Y]++)
      for (at[X] = box->start[X]; at[X] < box->end[X]; at[X]++, tight++) {
        const PetscInt  range[2] = {view->first[tight], view->first[tight + 1]};
        const PetscInt  c = box_index(box, at[X], at[Y], at[Z]);
        const PetscInt  kept = thin_out(seeding, c, view, range, drop);
        const PetscReal part = part_for_markers(seeding, c);
        const PetscInt  wanted = (PetscInt)PetscCeilReal(part * seeding->wanted - MILLRACE_ROUND_OFF);

        if (2 * kept < wanted)
          PetscCall(FillCell(seeding, at, wanted - kept, view, range));
      }
  PetscFunctionReturn(0);
}

PetscErrorCode LevelSetSeed(LevelSet level_set, Particles inside, PetscInt salt, PetscInt64 step)
{
  Seeding      seeding = {.level_set = level_set,
                          .box = grid_box(level_set->grid),
                          .origin = grid_origin(level_set->grid),
                          .h = grid_spacing(level_set->grid),
                          .wanted = level_set->config->particles,
                          .salt = salt,
                          .step = step};
  ParticleView view;
  PetscBool   *drop;

  PetscFunctionBegin;
  PetscCall(ParticlesGetView(inside, &view));
  if (!view.first) {
    PetscCall(ParticlesArrange(inside));
    PetscCall(ParticlesGetView(inside, &view));
  }
  PetscCall(VecGetArrayRead(level_set->distance, &seeding.value));
  PetscCall(PetscMalloc1(view.count, &drop));
  PetscCall(SeedCells(&seeding, &view, drop));
  PetscCall(VecRestoreArrayRead(level_set->distance, &seeding.value));
  PetscCall(ParticlesDrop(inside, drop));
  PetscCall(ParticlesAdd(inside, seeding.batch.count, seeding.batch.positions, seeding.batch.values,
                         seeding.batch.numbers));
  PetscCall(PetscFree(drop));
  PetscCall(PetscFree(seeding.batch.positions));
  PetscCall(PetscFree(seeding.batch.values));
  PetscCall(PetscFree(seeding.batch.numbers));
  PetscCall(ParticlesArrange(inside));
  PetscCall(LevelSetAdjustRadii(level_set, inside));
  PetscFunctionReturn(0);
}
