/* Life of the regions, what they answer, and the way back from a step that went wrong. */
#include "phase_impl.h"

PetscErrorCode PhaseGetDistances(Phase phase, PetscReal *distances[REGIONS_MAX])
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < phase->count; n++)
    PetscCall(VecGetArray(phase->distances[n], &distances[n]));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseRestoreDistances(Phase phase, PetscReal *distances[REGIONS_MAX])
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < phase->count; n++)
    PetscCall(VecRestoreArray(phase->distances[n], &distances[n]));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseRefresh(Phase phase)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < phase->count; n++)
    PetscCall(LevelSetRefresh(phase->level_sets[n]));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMaps(Phase phase)
{
  const GridBox *box = grid_box(phase->grid);

  PetscFunctionBegin;
  PetscCall(MacGridCreateField(phase->grid, &phase->regions));
  for (PetscInt s = 0; s < 2; s++)
    PetscCall(MacGridCreateField(phase->grid, &phase->scratch[s]));
  PetscCall(MixtureCreate(phase->grid, &phase->mixture));
  PetscCall(
      PetscCalloc3(box->length, &phase->region, box->length, &phase->mixed, box->length, &phase->row_region));
  PetscCall(PetscMalloc1(box->length, &phase->mixed_cells));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseCreate(MacGrid grid, const PhaseConfig *config, Phase *phase)
{
  char  message[256];
  Phase new_phase;

  PetscFunctionBegin;
  PetscCall(PhaseConfigCheck(config, message, sizeof(message)));
  PetscCheck(!message[0], grid_box(grid)->comm, PETSC_ERR_USER_INPUT, "%s", message);
  PetscCall(PetscNew(&new_phase));
  new_phase->grid = grid;
  new_phase->config = config;
  new_phase->count = config->region_count;
  new_phase->band = BAND_CELLS * grid_spacing(grid);
  for (PetscInt d = 0; d < DIM; d++)
    new_phase->outer[d][0].region = new_phase->outer[d][1].region = NO_OUTER_REGION;
  PetscCall(PetscCalloc3(new_phase->count, &new_phase->level_sets, new_phase->count, &new_phase->distances,
                         new_phase->count, &new_phase->markers));
  for (PetscInt n = 0; n < new_phase->count; n++) {
    PetscCall(LevelSetCreate(grid, &config->interface, &new_phase->level_sets[n]));
    PetscCall(LevelSetGetField(new_phase->level_sets[n], &new_phase->distances[n]));
    PetscCall(ParticlesCreate(grid, 1, &new_phase->markers[n]));
  }
  PetscCall(CreateMaps(new_phase));
  PetscCall(PhaseCreateGroups(new_phase));
  PetscCall(PhaseSetTime(new_phase, 0.));
  for (PetscInt n = 0; n < new_phase->count; n++)
    if (region_most_viscosity(&config->regions[n]) > 0.)
      new_phase->mixture.becomes_viscous = PETSC_TRUE;
  PetscCall(PhaseCreateElastic(new_phase));
  PetscCall(PhaseCreateIgnition(new_phase));
  PetscCall(PhaseCreatePending(new_phase));
  *phase = new_phase;
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseSetVisibility(Phase phase, const Visibility *visibility)
{
  PetscFunctionBegin;
  if (visibility && !phase->visibility_map_memory)
    PetscCall(VisibilityMapCreate(phase->grid, &phase->visibility_map_memory));
  if (visibility)
    PetscCall(VisibilityMapUpdate(phase->visibility_map_memory, visibility));
  phase->visibility_map = visibility ? phase->visibility_map_memory : NULL;
  for (PetscInt n = 0; n < phase->count; n++)
    PetscCall(LevelSetSetVisibilityMap(phase->level_sets[n], phase->visibility_map));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyKept(Phase phase)
{
  PetscFunctionBegin;
  if (!phase->kept.distances)
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < phase->count; n++) {
    PetscCall(VecDestroy(&phase->kept.distances[n]));
    PetscCall(ParticlesDestroy(&phase->kept.markers[n]));
  }
  PetscCall(PetscFree2(phase->kept.distances, phase->kept.markers));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseDestroy(Phase *phase)
{
  PetscFunctionBegin;
  if (!*phase)
    PetscFunctionReturn(0);
  PetscCall(DestroyKept(*phase));
  PetscCall(PhaseDestroyElastic(*phase));
  PetscCall(PhaseDestroyFronts(*phase));
  PetscCall(VisibilityMapDestroy(&(*phase)->visibility_map_memory));
  for (PetscInt n = 0; n < (*phase)->count; n++) {
    PetscCall(LevelSetDestroy(&(*phase)->level_sets[n]));
    PetscCall(ParticlesDestroy(&(*phase)->markers[n]));
  }
  PetscCall(PetscFree3((*phase)->level_sets, (*phase)->distances, (*phase)->markers));
  PetscCall(VecDestroy(&(*phase)->side_marks));
  PetscCall(PhaseDestroyContacts(*phase));
  PetscCall(VecDestroy(&(*phase)->regions));
  for (PetscInt s = 0; s < 2; s++)
    PetscCall(VecDestroy(&(*phase)->scratch[s]));
  PetscCall(PhaseDestroyGroups(*phase));
  PetscCall(MixtureDestroy(&(*phase)->mixture));
  PetscCall(PetscFree3((*phase)->region, (*phase)->mixed, (*phase)->row_region));
  PetscCall(PetscFree((*phase)->mixed_cells));
  PetscCall(PetscFree((*phase)->depth));
  PetscCall(PetscFree((*phase)->closed_cells));
  PetscCall(PetscFree(*phase));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseCreateKept(Phase phase)
{
  PetscFunctionBegin;
  if (phase->kept.distances)
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc2(phase->count, &phase->kept.distances, phase->count, &phase->kept.markers));
  for (PetscInt n = 0; n < phase->count; n++) {
    PetscCall(MacGridCreateField(phase->grid, &phase->kept.distances[n]));
    PetscCall(ParticlesCreate(phase->grid, 1, &phase->kept.markers[n]));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseKeep(Phase phase)
{
  Kept *kept = &phase->kept;

  PetscFunctionBegin;
  PetscCall(PhaseCreateKept(phase));
  for (PetscInt n = 0; n < phase->count; n++) {
    PetscCall(VecCopy(phase->distances[n], kept->distances[n]));
    PetscCall(ParticlesCopy(phase->markers[n], kept->markers[n]));
  }
  PetscCall(PhaseKeepElastic(phase));
  PetscCall(PhaseKeepIgnition(phase));
  PetscCall(PhaseKeepPending(phase));
  kept->steps = phase->steps;
  kept->seedings = phase->seedings;
  kept->report = phase->report;
  PetscCall(PetscArraycpy(kept->targets, phase->targets, REGIONS_MAX));
  PetscCall(PetscArraycpy(kept->losses, phase->losses, REGIONS_MAX));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseReturn(Phase phase)
{
  const Kept *kept = &phase->kept;

  PetscFunctionBegin;
  PetscCheck(kept->distances, grid_box(phase->grid)->comm, PETSC_ERR_ORDER, "Nothing was kept");
  for (PetscInt n = 0; n < phase->count; n++) {
    PetscCall(VecCopy(kept->distances[n], phase->distances[n]));
    PetscCall(ParticlesCopy(kept->markers[n], phase->markers[n]));
  }
  PetscCall(PhaseReturnElastic(phase));
  PetscCall(PhaseReturnIgnition(phase));
  PetscCall(PhaseReturnPending(phase));
  phase->steps = kept->steps;
  phase->seedings = kept->seedings;
  phase->report = kept->report;
  PetscCall(PetscArraycpy(phase->targets, kept->targets, REGIONS_MAX));
  PetscCall(PetscArraycpy(phase->losses, kept->losses, REGIONS_MAX));
  PetscCall(PhaseRefresh(phase));
  PetscCall(PhaseFindRegions(phase));
  PetscCall(PhaseUpdateMixture(phase));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseGetMixture(Phase phase, const Mixture **mixture)
{
  PetscFunctionBegin;
  *mixture = &phase->mixture;
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseGetRegions(Phase phase, Vec *regions)
{
  PetscFunctionBegin;
  *regions = phase->regions;
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseGetDistance(Phase phase, PetscInt region, Vec *distance)
{
  PetscFunctionBegin;
  *distance = phase->distances[region];
  PetscFunctionReturn(0);
}

const PhaseReport *phase_report(Phase phase)
{
  return &phase->report;
}

/* The projection subtracts the same from all: the smallest stays the smallest. */
PetscErrorCode PhaseFindRegion(Phase phase, Vector3 point, PetscInt *region)
{
  PetscReal *distances[REGIONS_MAX], smallest = PETSC_MAX_REAL;

  PetscFunctionBegin;
  *region = 0;
  PetscCall(PhaseGetDistances(phase, distances));
  for (PetscInt n = 0; n < phase->count; n++) {
    const PetscInt  c = phase->visibility_map ? visibility_map_cell(phase->visibility_map, point) : 0;
    const PetscReal distance = phase_sample(phase, distances[n], c, point, phase->band);

    if (distance < smallest) {
      smallest = distance;
      *region = n;
    }
  }
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscFunctionReturn(0);
}

/* Whether a field of owned cells lies between the bounds, which are allowed. */
static PetscErrorCode CheckField(Phase phase, Vec field, PetscReal low, PetscReal high, const char name[])
{
  const GridBox   *box = grid_box(phase->grid);
  const PetscReal *values;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(field, &values));
  FOR_CELLS(box, i, j, k) {
    const PetscReal value = values[box_index(box, i, j, k)];

    PetscCheck(value >= low && value <= high, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "The %s of cell (%" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT ") is %g", name, i, j,
               k, (double)value);
  }
  PetscCall(VecRestoreArrayRead(field, &values));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseCheck(Phase phase)
{
  PetscFunctionBegin;
  PetscCall(CheckField(phase, phase->regions, 1., (PetscReal)phase->count, "region"));
  for (PetscInt r = 0; r < phase->count; r++) {
    PetscCall(CheckField(phase, phase->distances[r], -PETSC_MAX_REAL, PETSC_MAX_REAL, "distance"));
    if (phase->markers)
      PetscCall(ParticlesCheck(phase->markers[r]));
  }
  PetscFunctionReturn(0);
}
