/* Makes the field a distance again without moving the interface (docs/numerics.md, section 12): cells beside
   it take the distance to the zero set of the interpolant, the others follow outwards. A field that was far
   from a distance is first flooded from the cells beside the interface, to know who is where. */
#include "levelset_impl.h"

VECTOR_CLONES static void clip(PetscReal *value, PetscInt count, PetscReal most)
{
  for (PetscInt c = 0; c < count; c++)
    value[c] = PetscMin(PetscMax(value[c], -most), most);
}

/* What tells whether a field is near enough to a distance. */
typedef struct {
  PetscReal slopes, cells; /* sum of |grad| over the cells beside the interface, and their number */
  PetscReal leaps;         /* places where it goes from one end of the band to the other at once */
} Quality;

static void rate_cell(const GridBox *box, const PetscInt stride[DIM], const PetscReal *value, PetscReal h,
                      Quality *quality)
{
  PetscReal square = 0.;
  PetscBool beside = PETSC_FALSE;

  for (PetscInt a = 0; a < box->dimension; a++) {
    const PetscReal low = value[-stride[a]], high = value[stride[a]];

    if (changes_sign(value[0], low) || changes_sign(value[0], high))
      beside = PETSC_TRUE;
    square += PetscSqr(PetscMax(PetscAbsReal(value[0] - low), PetscAbsReal(high - value[0])) / h);
  }
  if (!beside)
    return;
  quality->slopes += PetscMin(PetscSqrtReal(square), 1e3);
  quality->cells += 1.;
}

/* Places in a row with large values of opposite sign side by side. */
VECTOR_CLONES static PetscInt count_leaps(const PetscReal *value, const PetscInt stride[DIM], PetscInt count,
                                          PetscReal most)
{
  PetscInt leaps = 0;

  for (PetscInt c = 0; c < count; c++) {
    const PetscReal own = value[c], limit = -most * most;

    leaps += own * value[c + 1] <= limit || own * value[c + stride[Y]] <= limit ||
             own * value[c + stride[Z]] <= limit;
  }
  return leaps;
}

static void rate_seen(const VisibilityMap *map, const PetscReal *value, PetscInt c, Quality *quality)
{
  VisibleStencil stencil;

  visible_stencil_of_cell(map, c, 1, value, &stencil);
  rate_cell(grid_box(map->grid), stencil.stride, stencil.value + stencil.centre, grid_spacing(map->grid),
            quality);
}

/* A shell may have one end of the band on one side and the other end on the other. */
static void forgive_leaps(const VisibilityMap *map, const PetscReal *value, PetscReal most, Quality *quality)
{
  const GridBox *box = grid_box(map->grid);

  for (PetscInt n = 0; n < map->count; n++) {
    const PetscInt c = map->cells[n];
    PetscBool      leaps = PETSC_FALSE, shown = PETSC_FALSE;

    for (PetscInt a = 0; a < box->dimension; a++)
      if (value[c] * value[c + box->stride[a]] <= -most * most) {
        leaps = PETSC_TRUE;
        if (!face_is_blocked(map, STEP_END, c, a, 1))
          shown = PETSC_TRUE;
      }
    quality->leaps -= leaps && !shown ? 1. : 0.;
  }
}

/* Whether the field near the interface is no distance at all, so that the band says nothing. */
static PetscErrorCode CheckField(LevelSet level_set, const PetscReal value[], PetscBool *strange)
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal h = grid_spacing(level_set->grid);
  const PetscInt  stride[DIM] = {1, box->stride[Y], box->dimension == 3 ? box->stride[Z] : 0};
  Quality         quality = {0., 0., 0.};

  PetscFunctionBegin;
  FOR_ROWS(box, j, k)
    quality.leaps += (PetscReal)count_leaps(value + box_index(box, box->start[X], j, k), stride,
                                            box->end[X] - box->start[X], BAND_CELLS * h);
  if (level_set->visibility_map)
    forgive_leaps(level_set->visibility_map, value, BAND_CELLS * h, &quality);
  for (PetscInt r = 0; r < level_set->band.count; r++) {
    const BandRun run = level_set->band.runs[r];

    for (PetscInt c = run.first; c < run.first + run.count; c++)
      if (PetscAbsReal(value[c]) >= 2. * h)
        continue;
      else if (is_near_shell(level_set->visibility_map, c))
        rate_seen(level_set->visibility_map, value, c, &quality);
      else
        rate_cell(box, box->stride, value + c, h, &quality);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &quality, 3, MPIU_REAL, MPIU_SUM, box->comm));
  *strange = quality.leaps > 0. || quality.slopes > 2. * quality.cells || quality.slopes < 0.5 * quality.cells
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
  set_beside(level_set, from, value);
  PetscCall(LevelSetFillGhosts(level_set, level_set->distance));
  PetscCall(BandFlood(level_set));
  clip(value, box->length, most);
  PetscFunctionReturn(0);
}

/* One refinement of `value` from the field as it came. */
static PetscErrorCode Refine(LevelSet level_set, const PetscReal from[], PetscReal *value)
{
  PetscFunctionBegin;
  PetscCall(BandBuild(level_set, value, BAND_CELLS * grid_spacing(level_set->grid), 2));
  set_near(level_set, from, value);
  PetscCall(LevelSetFillGhosts(level_set, level_set->distance));
  restore_calm_cells(level_set, from, value);
  PetscCall(LevelSetFillGhosts(level_set, level_set->distance));
  PetscCall(BandMarch(level_set));
  PetscFunctionReturn(0);
}

/* The largest change within the band. */
static PetscErrorCode LargestChange(LevelSet level_set, const PetscReal from[], const PetscReal to[],
                                    PetscReal *largest)
{
  const PetscReal width = (BAND_CELLS - 1) * grid_spacing(level_set->grid);
  PetscReal       most = 0.;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < level_set->band.count; r++) {
    const BandRun run = level_set->band.runs[r];

    for (PetscInt c = run.first; c < run.first + run.count; c++)
      if (PetscAbsReal(from[c]) < width)
        most = PetscMax(most, PetscAbsReal(to[c] - from[c]));
  }
  PetscCallMPI(MPI_Allreduce(&most, largest, 1, MPIU_REAL, MPIU_MAX, grid_box(level_set->grid)->comm));
  PetscFunctionReturn(0);
}

static PetscErrorCode Redistance(LevelSet level_set, PetscBool anew)
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal h = grid_spacing(level_set->grid), most = BAND_CELLS * h;
  const PetscReal upheaval = 0.5 * h;
  PetscBool       strange = anew;
  PetscReal      *value, *from, change = 0.;

  PetscFunctionBegin;
  PetscCall(VecGetArray(level_set->distance, &value));
  PetscCall(VecGetArray(level_set->start, &from));
  PetscCall(LevelSetRefresh(level_set));
  PetscCall(PetscArraycpy(from, value, box->length));
  if (!strange)
    PetscCall(CheckField(level_set, from, &strange));
  if (!strange) {
    PetscCall(Refine(level_set, from, value));
    PetscCall(LargestChange(level_set, from, value, &change));
  }
  if (strange || change > upheaval) {
    PetscCall(StartOver(level_set, from, strange ? PETSC_MAX_REAL : most, value));
    PetscCall(Refine(level_set, from, value)); /* in the order of distances of first order */
    PetscCall(Refine(level_set, from, value));
  }
  PetscCall(VecRestoreArray(level_set->start, &from));
  PetscCall(VecRestoreArray(level_set->distance, &value));
  PetscCall(LevelSetRefresh(level_set));
  PetscFunctionReturn(0);
}

PetscErrorCode LevelSetRedistance(LevelSet level_set)
{
  PetscFunctionBegin;
  PetscCall(Redistance(level_set, PETSC_FALSE));
  PetscFunctionReturn(0);
}

PetscErrorCode LevelSetRebuild(LevelSet level_set)
{
  PetscFunctionBegin;
  PetscCall(Redistance(level_set, PETSC_TRUE));
  PetscFunctionReturn(0);
}
