/* Makes the field a distance again without moving the interface (docs/numerics.md, section 12): cells beside
   it take the distance to the zero set of the interpolant, the others follow outwards. A field that was far
   from a distance is first flooded from the cells beside the interface, to know who is where. */
#include "levelset_impl.h"

/* Cells that lie within two cells of the interface, by what is known of the distance so far, are set from the
   field `from` as it came, and marked. A zero set that is much nearer or farther is another one, or a seam
   where two shapes were joined. */
static void set_near(LevelSet level_set, const PetscReal *from, PetscReal *value)
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal h = grid_spacing(level_set->grid), reach = 2. * h;

  for (PetscInt r = 0; r < level_set->band.count; r++) {
    const Run run = level_set->band.runs[r];

    for (PetscInt c = run.first; c < run.first + run.count; c++) {
      PetscReal distance, crossing = 0.;
      PetscBool beside, found;

      level_set->mask[c] = CELL_WANTED;
      if (PetscAbsReal(value[c]) >= reach)
        continue;
      beside = crossing_distance(box, from, c, &crossing);
      found = closest_distance(box, from, c, &distance);
      if (!found || PetscAbsReal(distance - (beside ? crossing : value[c] / h)) > 1.) {
        if (!beside)
          continue;
        distance = crossing;
      }
      level_set->mask[c] = CELL_KNOWN;
      value[c] = distance * h;
    }
  }
}

/* All but the cells with a neighbour on the other side are forgotten. */
static void set_beside_only(LevelSet level_set, const PetscReal *from, PetscReal *to)
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal h = grid_spacing(level_set->grid);

  for (PetscInt r = 0; r < level_set->band.count; r++) {
    const Run run = level_set->band.runs[r];

    for (PetscInt c = run.first; c < run.first + run.count; c++) {
      PetscReal distance, crossing;

      to[c] = from[c] < 0. ? -BAND_CELLS * h : BAND_CELLS * h;
      level_set->mask[c] = CELL_WANTED;
      if (!crossing_distance(box, from, c, &crossing))
        continue;
      if (!closest_distance(box, from, c, &distance) || PetscAbsReal(distance) > 1. + PetscAbsReal(crossing))
        distance = crossing;
      level_set->mask[c] = CELL_KNOWN;
      to[c] = distance * h;
    }
  }
}

VECTOR_CLONES static void clip(PetscReal *value, PetscInt count, PetscReal most)
{
  for (PetscInt c = 0; c < count; c++)
    value[c] = PetscMin(PetscMax(value[c], -most), most);
}

/* What tells whether a field is near enough to a distance. */
typedef struct {
  PetscReal slopes, cells; /* sum of |grad| over the cells beside the interface, and their number */
  PetscReal outside;       /* cells beside the interface that the band misses */
} Quality;

static void rate_cell(const GridBox *box, const PetscReal *value, PetscReal h, Quality *quality)
{
  PetscReal square = 0.;
  PetscBool beside = PETSC_FALSE;

  for (PetscInt a = 0; a < box->dimension; a++) {
    const PetscReal low = value[-box->stride[a]], high = value[box->stride[a]];

    if (changes_sign(value[0], low) || changes_sign(value[0], high))
      beside = PETSC_TRUE;
    square += PetscSqr(PetscMax(PetscAbsReal(value[0] - low), PetscAbsReal(high - value[0])) / h);
  }
  if (!beside)
    return;
  quality->slopes += PetscMin(PetscSqrtReal(square), 1e3);
  quality->cells += 1.;
  quality->outside += PetscAbsReal(value[0]) >= BAND_CELLS * h;
}

/* Whether the field near the interface is no distance at all, so that the band says nothing. */
static PetscErrorCode CheckField(LevelSet level_set, const PetscReal value[], PetscBool *strange)
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal h = grid_spacing(level_set->grid);
  Quality         quality = {0., 0., 0.};

  PetscFunctionBegin;
  for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++) {
      const PetscInt first = box_index(box, box->start[X], j, k), end = first + box->end[X] - box->start[X];

      for (PetscInt c = first; c < end; c++)
        rate_cell(box, value + c, h, &quality);
    }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &quality, 3, MPIU_REAL, MPIU_SUM, box->comm));
  *strange =
      quality.outside > 0. || quality.slopes > 2. * quality.cells || quality.slopes < 0.5 * quality.cells
          ? PETSC_TRUE
          : PETSC_FALSE;
  PetscFunctionReturn(0);
}

/* Builds the distance anew from the cells beside the interface: first order, to be refined. */
static PetscErrorCode StartOver(LevelSet level_set, const PetscReal from[], PetscReal width, PetscReal *value)
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal most = BAND_CELLS * grid_spacing(level_set->grid);

  PetscFunctionBegin;
  PetscCall(BandBuild(level_set, from, width, 2));
  set_beside_only(level_set, from, value);
  PetscCall(DistanceFillGhosts(level_set->grid, level_set->distance));
  PetscCall(BandFlood(level_set));
  clip(value, box->length, most);
  PetscFunctionReturn(0);
}

/* One refinement of `value`; `change` is the largest within the band. */
static PetscErrorCode Refine(LevelSet level_set, const PetscReal from[], PetscReal *value, PetscReal *change)
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal h = grid_spacing(level_set->grid);
  PetscReal      *old;

  PetscFunctionBegin;
  *change = 0.;
  PetscCall(VecGetArray(level_set->stage, &old));
  PetscCall(PetscArraycpy(old, value, box->length));
  PetscCall(BandBuild(level_set, value, BAND_CELLS * h, 2));
  set_near(level_set, from, value);
  PetscCall(DistanceFillGhosts(level_set->grid, level_set->distance));
  PetscCall(BandMarch(level_set));
  for (PetscInt r = 0; r < level_set->band.count; r++) {
    const Run run = level_set->band.runs[r];

    for (PetscInt c = run.first; c < run.first + run.count; c++)
      if (PetscAbsReal(old[c]) < (BAND_CELLS - 1) * h)
        *change = PetscMax(*change, PetscAbsReal(value[c] - old[c]));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, change, 1, MPIU_REAL, MPIU_MAX, box->comm));
  PetscCall(VecRestoreArray(level_set->stage, &old));
  PetscFunctionReturn(0);
}

PetscErrorCode LevelSetRedistance(LevelSet level_set)
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal h = grid_spacing(level_set->grid), most = BAND_CELLS * h;
  const PetscReal upheaval = 0.5 * h;
  PetscBool       strange;
  PetscReal      *value, *from, change;

  PetscFunctionBegin;
  PetscCall(VecGetArray(level_set->distance, &value));
  PetscCall(VecGetArray(level_set->start, &from));
  PetscCall(DistanceFillGhosts(level_set->grid, level_set->distance));
  PetscCall(PetscArraycpy(from, value, box->length));
  PetscCall(CheckField(level_set, from, &strange));
  if (strange)
    PetscCall(StartOver(level_set, from, PETSC_MAX_REAL, value));
  PetscCall(Refine(level_set, from, value, &change));
  if (change > upheaval && !strange) {
    PetscCall(StartOver(level_set, from, most, value));
    PetscCall(Refine(level_set, from, value, &change));
  }
  clip(value, box->length, most);
  PetscCall(VecRestoreArray(level_set->start, &from));
  PetscCall(VecRestoreArray(level_set->distance, &value));
  PetscCall(LevelSetRefresh(level_set));
  PetscFunctionReturn(0);
}
