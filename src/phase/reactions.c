/* What the configuration says of reactions. */
#include "phase_impl.h"

#include <millrace/reaction.h>

static const RegionConfig *region_named(const PhaseConfig *config, const char name[])
{
  for (PetscInt r = 0; r < config->region_count; r++)
    if (!strcmp(config->regions[r].name, name))
      return &config->regions[r];
  return NULL;
}

PetscBool reaction_acts(const ReactionConfig *reaction, PetscReal time)
{
  return reaction->from <= time && time < reaction->until ? PETSC_TRUE : PETSC_FALSE;
}

const char *reaction_idle_region(const PhaseConfig *config, const ReactionConfig *reaction)
{
  const RegionConfig *both[2] = {region_named(config, reaction->first),
                                 region_named(config, reaction->product)};

  for (PetscReal time = reaction->from; time < reaction->until && time < PETSC_MAX_REAL;
       time = phase_next_change(config, time))
    for (PetscInt n = 0; n < 2; n++)
      if (both[n] && region_material(both[n], time).kind != REGION_SIMULATED)
        return both[n]->name;
  return NULL;
}

PetscBool reaction_ignites(const ReactionConfig *reaction)
{
  return reaction->scalar && reaction->ignition > 0. ? PETSC_TRUE : PETSC_FALSE;
}

PetscBool reaction_heats(const ReactionConfig *reaction)
{
  return reaction->scalar && reaction->temperature > 0. ? PETSC_TRUE : PETSC_FALSE;
}

static PetscBool have_same_regions(const ReactionConfig *a, const ReactionConfig *b)
{
  return (!strcmp(a->first, b->first) && !strcmp(a->product, b->product)) ||
                 (!strcmp(a->first, b->product) && !strcmp(a->product, b->first))
             ? PETSC_TRUE
             : PETSC_FALSE;
}

PetscInt reaction_with_same_regions(const PhaseConfig *config, PetscInt number)
{
  const ReactionConfig *reaction = &config->reactions[number];

  for (PetscInt r = 0; r < number; r++) {
    const ReactionConfig *other = &config->reactions[r];

    if (have_same_regions(reaction, other) && reaction->from < other->until && other->from < reaction->until)
      return r;
  }
  return -1;
}

PetscBool reaction_expands(const PhaseConfig *config, const ReactionConfig *reaction)
{
  const RegionConfig *first = region_named(config, reaction->first),
                     *product = region_named(config, reaction->product);

  for (PetscReal time = reaction->from; first && product && time < reaction->until && time < PETSC_MAX_REAL;
       time = phase_next_change(config, time))
    if (region_material(first, time).density != region_material(product, time).density)
      return PETSC_TRUE;
  return PETSC_FALSE;
}
