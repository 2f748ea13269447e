/* Groups of simulated regions that flow as one, because neither density nor viscosity nor a tension tells
   them apart; what they have on faces between them, and their velocities past their own cells. */
#include "phase_impl.h"

static PetscBool have_tension(const PhaseConfig *config, PetscInt a, PetscInt b)
{
  for (PetscInt t = 0; t < config->tension_count; t++) {
    const TensionConfig *tension = &config->tensions[t];
    const char          *first = config->regions[a].name, *second = config->regions[b].name;

    if (tension->tension != 0. && ((!strcmp(tension->first, first) && !strcmp(tension->second, second)) ||
                                   (!strcmp(tension->first, second) && !strcmp(tension->second, first))))
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

static PetscBool are_equally_elastic(const RegionElasticity *a, const RegionElasticity *b)
{
  if (a->model != b->model)
    return PETSC_FALSE;
  return a->model == ELASTICITY_NONE ||
                 (a->modulus == b->modulus && a->relaxation == b->relaxation && a->yield == b->yield &&
                  a->mobility == b->mobility && a->extensibility == b->extensibility)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Whenever both are simulated. */
static PetscBool are_alike(const PhaseConfig *config, PetscInt a, PetscInt b)
{
  for (PetscReal time = 0.; time < PETSC_MAX_REAL; time = phase_next_change(config, time)) {
    const RegionMaterial first = region_material(&config->regions[a], time);
    const RegionMaterial second = region_material(&config->regions[b], time);

    if (first.kind == REGION_SIMULATED && second.kind == REGION_SIMULATED &&
        (first.density != second.density || first.viscosity != second.viscosity ||
         !are_equally_elastic(&first.elasticity, &second.elasticity)))
      return PETSC_FALSE;
  }
  return have_tension(config, a, b) ? PETSC_FALSE : PETSC_TRUE;
}

/* A region joins the first group all of whose members are like it. */
static PetscInt find_groups(const PhaseConfig *config, unsigned char of_region[REGIONS_MAX])
{
  PetscInt count = 0;

  for (PetscInt n = 0; n < config->region_count; n++) {
    PetscInt group = 0;

    of_region[n] = NO_GROUP;
    if (!region_is_ever(&config->regions[n], REGION_SIMULATED))
      continue;
    for (PetscInt m = 0; m < n; m++)
      if (of_region[m] == group && !are_alike(config, m, n)) {
        group++;
        m = -1;
      }
    of_region[n] = (unsigned char)group;
    count = PetscMax(count, group + 1);
  }
  return count;
}

PetscInt phase_group_count(const PhaseConfig *config)
{
  unsigned char of_region[REGIONS_MAX];

  return find_groups(config, of_region);
}

PetscErrorCode PhaseCreateGroups(Phase phase)
{
  const PetscInt  length = grid_box(phase->grid)->length;
  VelocityGroups *groups = &phase->mixture.groups;

  PetscFunctionBegin;
  groups->count = find_groups(phase->config, phase->group_of);
  if (groups->count > 1)
    PetscCall(PetscMalloc4(length, &groups->of_cell, length, &phase->mixed_number, length,
                           &phase->groups_before.of_cell, length, &phase->groups_before.mixed_number));
  PetscFunctionReturn(0);
}

/* What is empty now is in none. */
PetscErrorCode PhaseSetGroups(Phase phase)
{
  Mixture *mixture = &phase->mixture;

  PetscFunctionBegin;
  find_groups(phase->config, phase->group_of);
  mixture->uniform = mixture->groups.count == 1 ? PETSC_TRUE : PETSC_FALSE;
  mixture->largest_diffusivity = 0.;
  for (PetscInt n = 0; n < phase->count; n++) {
    if (region_is_empty(phase, n)) {
      phase->group_of[n] = NO_GROUP;
      mixture->uniform = PETSC_FALSE;
      continue;
    }
    mixture->largest_diffusivity =
        PetscMax(mixture->largest_diffusivity, region_viscosity(phase, n) / region_density(phase, n));
    if (phase->group_of[n] != NO_GROUP)
      phase->group_density[phase->group_of[n]] = region_density(phase, n);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseDestroyGroups(Phase phase)
{
  VelocityGroups *groups = &phase->mixture.groups;

  PetscFunctionBegin;
  PetscCall(PetscFree4(groups->of_cell, phase->mixed_number, phase->groups_before.of_cell,
                       phase->groups_before.mixed_number));
  PetscCall(PetscFree(groups->masses));
  PetscCall(PetscFree(groups->kept));
  PetscCall(PetscFree(groups->leap));
  PetscCall(PetscFree(phase->groups_before.masses));
  PetscFunctionReturn(0);
}

static PetscErrorCode MakeRoom(Phase phase)
{
  VelocityGroups *groups = &phase->mixture.groups;

  PetscFunctionBegin;
  if (phase->mixed_count <= phase->mass_room)
    PetscFunctionReturn(0);
  phase->mass_room = phase->mixed_count + phase->mixed_count / 2;
  PetscCall(PetscFree(groups->masses));
  PetscCall(PetscFree(groups->kept));
  PetscCall(PetscMalloc1(phase->mass_room * DIM * groups->count, &groups->masses));
  PetscCall(PetscMalloc1(phase->mass_room * DIM * groups->count, &groups->kept));
  if (phase->config->reaction_count) {
    PetscCall(PetscFree(groups->leap));
    PetscCall(PetscMalloc1(phase->mass_room * DIM * groups->count, &groups->leap));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseUpdateGroups(Phase phase)
{
  const PetscInt  length = grid_box(phase->grid)->length;
  VelocityGroups *groups = &phase->mixture.groups;

  PetscFunctionBegin;
  if (groups->count < 2)
    PetscFunctionReturn(0);
  for (PetscInt c = 0; c < length; c++)
    groups->of_cell[c] = phase->group_of[phase->region[c]];
  groups->mixed_count = phase->mixed_count;
  groups->mixed_cells = phase->mixed_cells;
  for (PetscInt c = 0; c < length; c++)
    phase->mixed_number[c] = -1;
  for (PetscInt m = 0; m < phase->mixed_count; m++)
    phase->mixed_number[phase->mixed_cells[m]] = m;
  PetscCall(MakeRoom(phase));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseRememberGroups(Phase phase)
{
  const PetscInt  length = grid_box(phase->grid)->length, count = phase->mixture.groups.count;
  const PetscInt  size = phase->mixed_count * DIM * count;
  VelocityGroups *groups = &phase->mixture.groups;

  PetscFunctionBegin;
  if (count < 2)
    PetscFunctionReturn(0);
  if (size > phase->groups_before.room) {
    phase->groups_before.room = size + size / 2;
    PetscCall(PetscFree(phase->groups_before.masses));
    PetscCall(PetscMalloc1(phase->groups_before.room, &phase->groups_before.masses));
  }
  PetscCall(PetscArraycpy(phase->groups_before.masses, groups->masses, size));
  PetscCall(PetscArraycpy(phase->groups_before.of_cell, groups->of_cell, length));
  PetscCall(PetscArraycpy(phase->groups_before.mixed_number, phase->mixed_number, length));
  PetscFunctionReturn(0);
}

PetscReal mass_before(Phase phase, PetscInt c, PetscInt d, PetscInt group)
{
  const PetscInt count = phase->mixture.groups.count;
  PetscInt       number;

  if (!phase->groups_before.masses)
    return PETSC_MAX_REAL;
  number = phase->groups_before.mixed_number[c];
  if (number >= 0)
    return phase->groups_before.masses[(DIM * number + d) * count + group];
  return phase->groups_before.of_cell[c] == group ? phase->group_density[group] : 0.;
}

/* From the cells that `is_known` tells, along the smallest distance to one of their regions. */
static PetscErrorCode Extend(Phase phase, const PetscBool is_known[REGIONS_MAX], SlopeLimiter limiter,
                             Vec faces[DIM])
{
  const PetscInt length = grid_box(phase->grid)->length;
  const Vec      distance = phase->scratch[0], known = phase->scratch[1];
  PetscReal     *mark;

  PetscFunctionBegin;
  PetscCall(VecSet(distance, phase->band));
  for (PetscInt n = 0; n < phase->count; n++)
    if (is_known[n])
      PetscCall(VecPointwiseMin(distance, distance, phase->distances[n]));
  PetscCall(VecGetArray(known, &mark));
  for (PetscInt c = 0; c < length; c++)
    mark[c] = is_known[phase->region[c]] ? 1. : 0.;
  PetscCall(VecRestoreArray(known, &mark));
  PetscCall(PhaseContinue(phase, distance, known, limiter, faces));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseExtendVelocity(Phase phase, Vec faces[DIM])
{
  PetscBool is_liquid[REGIONS_MAX], any = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < phase->count; n++) {
    is_liquid[n] = region_is_empty(phase, n) ? PETSC_FALSE : PETSC_TRUE;
    any = any || !is_liquid[n] ? PETSC_TRUE : PETSC_FALSE;
  }
  if (any)
    PetscCall(Extend(phase, is_liquid, smaller_slope, faces));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseExtendGroupVelocity(Phase phase, PetscInt group, Vec faces[DIM])
{
  PetscBool is_member[REGIONS_MAX];
  Vec       before[DIM];

  PetscFunctionBegin;
  for (PetscInt n = 0; n < phase->count; n++)
    is_member[n] = phase->group_of[n] == group ? PETSC_TRUE : PETSC_FALSE;
  if (phase->any_front) {
    PetscCall(MacGridCreateFaceField(phase->grid, before));
    for (PetscInt d = 0; d < grid_box(phase->grid)->dimension; d++)
      PetscCall(VecCopy(faces[d], before[d]));
    PetscCall(PhaseAddLeaps(phase, group, faces));
  }
  PetscCall(Extend(phase, is_member, slope_at_end, faces));
  if (phase->any_front) {
    PetscCall(PhaseSeeThroughFronts(phase, group, before, faces));
    PetscCall(MacGridDestroyFaceField(before));
  }
  PetscFunctionReturn(0);
}
