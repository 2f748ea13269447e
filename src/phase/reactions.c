/* What the configuration says of reactions. */
#include "phase_impl.h"

#include <millrace/reaction.h>

static const RegionConfig *region_named(const PhaseConfig *config, const char name[])
{
  for (PetscInt r = 0; r < config->region_count; r++)
    if (config->regions[r].name && !strcmp(config->regions[r].name, name)) /* a name may be missing yet */
      return &config->regions[r];
  return NULL;
}

PetscBool reaction_acts(const ReactionConfig *reaction, PetscReal time)
{
  return reaction->from <= time && time < reaction->until ? PETSC_TRUE : PETSC_FALSE;
}

const char *reaction_idle_region(const PhaseConfig *config, const ReactionConfig *reaction)
{
  const RegionConfig *all[] = {region_named(config, reaction->first), region_named(config, reaction->product),
                               reaction->second ? region_named(config, reaction->second) : NULL};

  for (PetscReal time = reaction->from; time < reaction->until && time < PETSC_MAX_REAL;
       time = phase_next_change(config, time))
    for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(all); n++)
      if (all[n] && region_material(all[n], time).kind != REGION_SIMULATED)
        return all[n]->name;
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

const char *front_fuel(const PhaseConfig *config, PetscInt front)
{
  const ReactionConfig *reaction = &config->reactions[front % REACTIONS_MAX];

  if (front % REACTIONS_MAX >= config->reaction_count)
    return NULL;
  return front < REACTIONS_MAX ? reaction->first : reaction->second;
}

/* As if the front had burnt it. */
PetscReal reaction_release(const ReactionConfig *reaction, PetscReal h)
{
  const PetscReal speed = PetscMax(reaction->speed, reaction->second_speed);

  return reaction->release > 0. || speed == 0. ? reaction->release : 0.5 * reaction->layer * h / speed;
}

/* The interfaces that a reaction has to do with, as pairs of names. */
typedef struct {
  const char *names[3][2];
  PetscInt    count;
} Interfaces;

static Interfaces interfaces_of(const ReactionConfig *reaction)
{
  return (Interfaces){{{reaction->first, reaction->product},
                       {reaction->second, reaction->product},
                       {reaction->first, reaction->second}},
                      reaction->second ? 3 : 1};
}

static PetscBool have_same_regions(const ReactionConfig *a, const ReactionConfig *b)
{
  const Interfaces of_a = interfaces_of(a), of_b = interfaces_of(b);

  for (PetscInt m = 0; m < of_a.count; m++)
    for (PetscInt n = 0; n < of_b.count; n++) {
      const char *const *pair = of_a.names[m], *const *other = of_b.names[n];

      if ((!strcmp(pair[0], other[0]) && !strcmp(pair[1], other[1])) ||
          (!strcmp(pair[0], other[1]) && !strcmp(pair[1], other[0])))
        return PETSC_TRUE;
    }
  return PETSC_FALSE;
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
                     *second = reaction->second ? region_named(config, reaction->second) : first,
                     *product = region_named(config, reaction->product);

  for (PetscReal time = reaction->from;
       first && second && product && time < reaction->until && time < PETSC_MAX_REAL;
       time = phase_next_change(config, time))
    if (region_material(first, time).density != region_material(product, time).density ||
        region_material(second, time).density != region_material(product, time).density)
      return PETSC_TRUE;
  return PETSC_FALSE;
}
