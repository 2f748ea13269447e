/* Materials over time: what a region is made of, the tensions and the reactions, from given times on. A
   change acts in the step that begins at its time. */
#include "phase_impl.h"

#include <millrace/reaction.h>

RegionMaterial region_material(const RegionConfig *region, PetscReal time)
{
  RegionMaterial material = {region->kind, region->density, region->viscosity, region->elasticity};

  for (PetscInt n = 0; n < region->change_count; n++)
    if (region->changes[n].time <= time)
      material = region->changes[n].material;
  return material;
}

PetscReal tension_at(const TensionConfig *tension, PetscReal time)
{
  return tension->from <= time && time < tension->until ? tension->tension : 0.;
}

PetscReal phase_next_change(const PhaseConfig *config, PetscReal time)
{
  PetscReal next = PETSC_MAX_REAL;

  for (PetscInt r = 0; r < config->region_count; r++)
    for (PetscInt n = 0; n < config->regions[r].change_count; n++)
      if (config->regions[r].changes[n].time > time)
        next = PetscMin(next, config->regions[r].changes[n].time);
  for (PetscInt t = 0; t < config->tension_count; t++) {
    if (config->tensions[t].from > time)
      next = PetscMin(next, config->tensions[t].from);
    if (config->tensions[t].until > time)
      next = PetscMin(next, config->tensions[t].until);
  }
  for (PetscInt r = 0; r < config->reaction_count; r++) {
    if (config->reactions[r].from > time)
      next = PetscMin(next, config->reactions[r].from);
    if (config->reactions[r].until > time)
      next = PetscMin(next, config->reactions[r].until);
  }
  return next;
}

PetscBool region_is_ever(const RegionConfig *region, RegionKind kind)
{
  if (region->kind == kind)
    return PETSC_TRUE;
  for (PetscInt n = 0; n < region->change_count; n++)
    if (region->changes[n].material.kind == kind)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscBool region_is_ever_elastic(const RegionConfig *region)
{
  if (region->elasticity.model != ELASTICITY_NONE)
    return PETSC_TRUE;
  for (PetscInt n = 0; n < region->change_count; n++)
    if (region->changes[n].material.elasticity.model != ELASTICITY_NONE)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscReal region_most_viscosity(const RegionConfig *region)
{
  PetscReal most = region->kind == REGION_SIMULATED ? region->viscosity : 0.;

  for (PetscInt n = 0; n < region->change_count; n++)
    if (region->changes[n].material.kind == REGION_SIMULATED)
      most = PetscMax(most, region->changes[n].material.viscosity);
  return most;
}

static PetscInt region_named(const PhaseConfig *config, const char name[])
{
  PetscInt found = 0;

  while (strcmp(config->regions[found].name, name))
    found++;
  return found;
}

/* Of a pair that is given twice the last one counts that acts. */
static PetscErrorCode SetTensions(Phase phase)
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(&phase->tension[0][0], REGIONS_MAX * REGIONS_MAX));
  for (PetscInt t = 0; t < phase->config->tension_count; t++) {
    const TensionConfig *tension = &phase->config->tensions[t];
    const PetscInt       first = region_named(phase->config, tension->first);
    const PetscInt       second = region_named(phase->config, tension->second);
    const PetscReal      now = tension_at(tension, phase->time);

    if (now > 0.)
      phase->tension[first][second] = phase->tension[second][first] = now;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseSetTime(Phase phase, PetscReal time)
{
  PetscFunctionBegin;
  phase->time = time;
  for (PetscInt n = 0; n < phase->count; n++) {
    const RegionMaterial before = phase->material[n];

    phase->material[n] = region_material(&phase->config->regions[n], time);
    if (before.kind != phase->material[n].kind ||
        before.elasticity.model != phase->material[n].elasticity.model)
      PetscCall(PhaseForgetStrain(phase, n));
    if (before.kind != REGION_SIMULATED && phase->material[n].kind == REGION_SIMULATED)
      phase->targets[n] = phase->report.volume[n]; /* what was empty keeps the volume it comes with */
  }
  PetscCall(SetTensions(phase));
  PetscCall(PhaseSetFronts(phase));
  PetscCall(PhaseSetGroups(phase));
  PetscCall(PetscArrayzero(phase->row_region, grid_box(phase->grid)->length));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseChangeMaterials(Phase phase, PetscReal time)
{
  PetscFunctionBegin;
  PetscCall(PhaseSetTime(phase, time));
  PetscCall(PhaseUpdateMixture(phase));
  PetscFunctionReturn(0);
}

RegionMaterial phase_material(Phase phase, PetscInt region)
{
  return phase->material[region];
}
