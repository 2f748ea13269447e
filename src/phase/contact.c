/* Contact angles. Where an interface between regions i and j meets a wall of normal n (out of the fluid) at
   an angle theta inside of i,

     n . grad phi_i = -cos theta = -n . grad phi_j

   behind the wall: beyond a side of the box phi_i is its mirror image less twice the depth times cos theta,
   in closed cells it goes on with the slope along the wall that it has (obstacles.c). Elsewhere, and for
   pairs that no angle is given for, all is as without. Cells that lie up to SPREAD cells from a line of
   contact hold for each region the other one of the pair. */
#include "phase_impl.h"

enum { SPREAD = 4 };

static PetscInt region_named(const PhaseConfig *config, const char name[])
{
  PetscInt found = 0;

  while (strcmp(config->regions[found].name, name))
    found++;
  return found;
}

PetscReal contact_slope(Phase phase, PetscInt region, PetscInt other, PetscInt place)
{
  const PhaseConfig *config = phase->config;
  PetscReal          slope = PETSC_INFINITY;
  PetscBool          named = PETSC_FALSE;

  for (PetscInt t = 0; t < config->contact_count; t++) {
    const ContactConfig *contact = &config->contacts[t];
    const PetscInt       first = region_named(config, contact->first);
    const PetscInt       second = region_named(config, contact->second);
    const PetscReal      cosine = PetscCosReal(contact->angle * PETSC_PI / 180.);

    if (!(first == region && second == other) && !(first == other && second == region))
      continue;
    if (phase->contact_places[t] == place || (phase->contact_places[t] == CONTACT_EVERYWHERE && !named)) {
      slope = first == region ? -cosine : cosine;
      named = phase->contact_places[t] == place ? PETSC_TRUE : named;
    }
  }
  return slope;
}

PetscErrorCode PhaseSetContacts(Phase phase, const PetscInt places[])
{
  PetscFunctionBegin;
  if (!phase->config->contact_count)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(phase->config->contact_count, &phase->contact_places));
  PetscCall(PetscArraycpy(phase->contact_places, places, phase->config->contact_count));
  PetscCall(PetscMalloc1(2 * DIM * phase->count * phase->count, &phase->side_slopes));
  for (PetscInt n = 0; n < phase->count; n++) {
    PetscReal *slopes = phase->side_slopes + 2 * DIM * phase->count * n;

    for (PetscInt side = 0; side < 2 * DIM; side++)
      for (PetscInt other = 0; other < phase->count; other++)
        slopes[side * phase->count + other] = contact_slope(phase, n, other, side);
    PetscCall(MacGridCreateField(phase->grid, &phase->partners[n]));
    phase->level_sides[n].partners = phase->partners[n];
    phase->level_sides[n].partner_count = phase->count;
    phase->level_sides[n].slopes = slopes;
    PetscCall(LevelSetSetSides(phase->level_sets[n], &phase->level_sides[n]));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseDestroyContacts(Phase phase)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(phase->contact_places));
  PetscCall(PetscFree(phase->side_slopes));
  for (PetscInt n = 0; n < phase->count; n++)
    PetscCall(VecDestroy(&phase->partners[n]));
  PetscFunctionReturn(0);
}

/* Beside a closed side of the box or a closed cell. */
static PetscBool is_beside_wall(Phase phase, PetscInt c)
{
  const GridBox *box = grid_box(phase->grid);
  PetscInt       at[DIM];

  box_at(box, c, at);
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      const PetscInt next = at[d] + 2 * side - 1;

      if (!box->periodic[d] && (next < 0 || next >= box->cells[d])) {
        if (phase->outer[d][side].region == NO_OUTER_REGION)
          return PETSC_TRUE;
      } else if (!is_open_cell(phase, c + (2 * side - 1) * box->stride[d]))
        return PETSC_TRUE;
    }
  return PETSC_FALSE;
}

static PetscBool is_in_box(const GridBox *box, const PetscInt at[DIM])
{
  for (PetscInt d = 0; d < box->dimension; d++)
    if (!box->periodic[d] && (at[d] < 0 || at[d] >= box->cells[d]))
      return PETSC_FALSE;
  return PETSC_TRUE;
}

/* Whether another region is beside the wall around an open cell beside it. */
static PetscBool is_at_contact(Phase phase, PetscInt c)
{
  const GridBox *box = grid_box(phase->grid);
  const PetscInt deep = box->dimension == 3 ? 1 : 0;
  PetscInt       at[DIM];

  if (!phase->mixed[c] || !is_open_cell(phase, c) || !is_beside_wall(phase, c))
    return PETSC_FALSE;
  box_at(box, c, at);
  for (PetscInt z = -deep; z <= deep; z++)
    for (PetscInt y = -1; y <= 1; y++)
      for (PetscInt x = -1; x <= 1; x++) {
        const PetscInt b = c + x + y * box->stride[Y] + (deep ? z * box->stride[Z] : 0);
        const PetscInt near[DIM] = {at[X] + x, at[Y] + y, at[Z] + z};

        if (phase->region[b] != phase->region[c] && is_in_box(box, near) && is_open_cell(phase, b) &&
            is_beside_wall(phase, b))
          return PETSC_TRUE;
      }
  return PETSC_FALSE;
}

static PetscErrorCode MarkContacts(Phase phase, Vec marks)
{
  const GridBox *box = grid_box(phase->grid);
  PetscReal     *mark;

  PetscFunctionBegin;
  PetscCall(VecSet(marks, 0.));
  PetscCall(VecGetArray(marks, &mark));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    mark[c] = is_at_contact(phase, c) ? 1. : 0.;
  }
  PetscCall(VecRestoreArray(marks, &mark));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseWidenMarks(Phase phase, Vec marks, Vec work)
{
  const GridBox   *box = grid_box(phase->grid);
  const PetscReal *from;
  PetscReal       *to;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscInt s = box->stride[d];

    PetscCall(MacGridMirrorGhosts(phase->grid, marks));
    PetscCall(VecCopy(marks, work));
    PetscCall(VecGetArrayRead(work, &from));
    PetscCall(VecGetArray(marks, &to));
    FOR_CELLS(box, i, j, k) {
      const PetscInt c = box_index(box, i, j, k);

      to[c] = PetscMax(from[c], PetscMax(from[c - s], from[c + s]));
    }
    PetscCall(VecRestoreArray(marks, &to));
    PetscCall(VecRestoreArrayRead(work, &from));
  }
  PetscFunctionReturn(0);
}

/* 1 + the nearest of the other regions, where there is a mark. */
static PetscErrorCode SetPartners(Phase phase, PetscInt region, Vec marks)
{
  const GridBox   *box = grid_box(phase->grid);
  const PetscReal *mark;
  PetscReal       *partner, *distances[REGIONS_MAX];

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(marks, &mark));
  PetscCall(VecGetArray(phase->partners[region], &partner));
  PetscCall(PhaseGetDistances(phase, distances));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);
    PetscInt       nearest = region ? 0 : 1;

    for (PetscInt n = 0; n < phase->count; n++)
      if (n != region && distances[n][c] < distances[nearest][c] - MILLRACE_ROUND_OFF * phase->band)
        nearest = n;
    partner[c] = mark[c] > 0. ? 1. + nearest : 0.;
  }
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscCall(VecRestoreArray(phase->partners[region], &partner));
  PetscCall(VecRestoreArrayRead(marks, &mark));
  PetscCall(MacGridMirrorGhosts(phase->grid, phase->partners[region]));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseFindContacts(Phase phase)
{
  PetscFunctionBegin;
  if (!phase->config->contact_count)
    PetscFunctionReturn(0);
  PetscCall(MarkContacts(phase, phase->scratch[0]));
  for (PetscInt n = 0; n < SPREAD; n++)
    PetscCall(PhaseWidenMarks(phase, phase->scratch[0], phase->scratch[1]));
  for (PetscInt n = 0; n < phase->count; n++)
    PetscCall(SetPartners(phase, n, phase->scratch[0]));
  PetscCall(PhaseRefresh(phase));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseSaveContacts(Phase phase, Archive archive)
{
  char name[32];

  PetscFunctionBegin;
  for (PetscInt n = 0; n < phase->count && phase->config->contact_count; n++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "contacts_%" PetscInt_FMT, n));
    PetscCall(MacGridSaveField(phase->grid, name, phase->partners[n], archive));
  }
  PetscFunctionReturn(0);
}

/* They are indices: whole numbers up to the count of regions. */
static PetscErrorCode CheckPartners(Phase phase, const char name[], Vec partners, Archive archive)
{
  const GridBox   *box = grid_box(phase->grid);
  const PetscReal *value;
  PetscInt         wrong = 0;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(partners, &value));
  FOR_CELLS(box, i, j, k) {
    const PetscReal partner = value[box_index(box, i, j, k)];

    wrong += !(partner >= 0. && partner <= phase->count && partner == PetscFloorReal(partner));
  }
  PetscCall(VecRestoreArrayRead(partners, &value));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, box->comm));
  if (wrong)
    PetscCall(ArchiveRefuse(archive, name, "names regions that there are not"));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseLoadContacts(Phase phase, Archive archive)
{
  char name[32];

  PetscFunctionBegin;
  for (PetscInt n = 0; n < phase->count && phase->config->contact_count; n++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "contacts_%" PetscInt_FMT, n));
    PetscCall(MacGridLoadField(phase->grid, name, phase->partners[n], archive));
    PetscCall(CheckPartners(phase, name, phase->partners[n], archive));
    PetscCall(MacGridMirrorGhosts(phase->grid, phase->partners[n]));
  }
  PetscFunctionReturn(0);
}
