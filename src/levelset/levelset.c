/* The life of a level set, and its way into archives. */
#include "levelset_impl.h"

PetscErrorCode LevelSetCreate(MacGrid grid, const InterfaceConfig *config, LevelSet *level_set)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(level_set));
  (*level_set)->grid = grid;
  (*level_set)->config = config;
  PetscCall(MacGridCreateField(grid, &(*level_set)->distance));
  PetscCall(MacGridCreateField(grid, &(*level_set)->stage));
  PetscCall(MacGridCreateField(grid, &(*level_set)->start));
  PetscCall(PetscCalloc1(grid_box(grid)->length, &(*level_set)->mask));
  PetscCall(PetscCalloc1(grid_box(grid)->length, &(*level_set)->other_mask));
  PetscCall(VecSet((*level_set)->distance, BAND_CELLS * grid_spacing(grid)));
  PetscFunctionReturn(0);
}

PetscErrorCode LevelSetDestroy(LevelSet *level_set)
{
  PetscFunctionBegin;
  if (!*level_set)
    PetscFunctionReturn(0);
  PetscCall(VecDestroy(&(*level_set)->distance));
  PetscCall(VecDestroy(&(*level_set)->stage));
  PetscCall(VecDestroy(&(*level_set)->start));
  PetscCall(PetscFree((*level_set)->mask));
  PetscCall(PetscFree((*level_set)->other_mask));
  PetscCall(PetscFree((*level_set)->band.runs));
  PetscCall(PetscFree(*level_set));
  PetscFunctionReturn(0);
}

PetscErrorCode LevelSetSetVisibilityMap(LevelSet level_set, const VisibilityMap *map)
{
  PetscFunctionBegin;
  level_set->visibility_map = map;
  PetscFunctionReturn(0);
}

PetscErrorCode LevelSetSetSides(LevelSet level_set, const LevelSetSides *sides)
{
  PetscFunctionBegin;
  level_set->sides = sides;
  PetscFunctionReturn(0);
}

PetscErrorCode LevelSetGetField(LevelSet level_set, Vec *distance)
{
  PetscFunctionBegin;
  *distance = level_set->distance;
  PetscFunctionReturn(0);
}

/* What an interpolation between values at the end of the band has left is the end of the band. */
VECTOR_CLONES static void snap_to_band(PetscReal *value, PetscInt count, PetscReal most, PetscReal equal)
{
  for (PetscInt c = 0; c < count; c++) {
    const PetscReal end = value[c] < 0. ? -most : most;

    value[c] = PetscAbsReal(value[c] - end) < equal ? end : value[c];
  }
}

PetscErrorCode LevelSetRefresh(LevelSet level_set)
{
  const PetscReal h = grid_spacing(level_set->grid);
  PetscReal      *value;

  PetscFunctionBegin;
  PetscCall(VecGetArray(level_set->distance, &value));
  snap_to_band(value, grid_box(level_set->grid)->length, BAND_CELLS * h, MILLRACE_ROUND_OFF * h);
  PetscCall(VecRestoreArray(level_set->distance, &value));
  PetscCall(LevelSetFillGhosts(level_set, level_set->distance));
  PetscCall(VecGetArray(level_set->distance, &value));
  PetscCall(BandBuild(level_set, value, BAND_CELLS * h, 0));
  PetscCall(VecRestoreArray(level_set->distance, &value));
  PetscFunctionReturn(0);
}

PetscErrorCode LevelSetAdvect(LevelSet level_set, Vec velocity[DIM], PetscReal dt)
{
  PetscFunctionBegin;
  if (level_set->config->advection == INTERFACE_WENO5)
    PetscCall(LevelSetAdvectWeno(level_set, velocity, dt));
  else
    PetscCall(LevelSetAdvectSemiLagrangian(level_set, velocity, dt));
  PetscCall(LevelSetRefresh(level_set));
  PetscFunctionReturn(0);
}

PetscErrorCode LevelSetSave(LevelSet level_set, const char name[], Archive archive)
{
  PetscFunctionBegin;
  PetscCall(MacGridSaveField(level_set->grid, name, level_set->distance, archive));
  PetscFunctionReturn(0);
}

PetscErrorCode LevelSetLoad(LevelSet level_set, const char name[], Archive archive)
{
  const PetscReal most = 2. * BAND_CELLS * grid_spacing(level_set->grid); /* of differences of two, too */
  PetscReal       largest;

  PetscFunctionBegin;
  PetscCall(MacGridLoadField(level_set->grid, name, level_set->distance, archive));
  PetscCall(VecNorm(level_set->distance, NORM_INFINITY, &largest));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPI_MAX, grid_box(level_set->grid)->comm));
  if (!(largest <= most))
    PetscCall(ArchiveRefuse(archive, name, "has a distance of %g m, beyond the band of %g m", (double)largest,
                            (double)most));
  PetscCall(LevelSetRefresh(level_set));
  PetscFunctionReturn(0);
}
