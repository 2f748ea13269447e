/* A step of the interfaces (4.2): every level set and its markers are carried along, corrected by the markers
   of all regions, projected, redistanced, corrected and projected again. */
#include "phase_impl.h"

enum { STEPS_BETWEEN_SEEDINGS = 20 };

/* Of two regions the second has the opposite of the first one's distance: what is done to the first is done
   to both. */
static PetscInt distinct_distances(Phase phase)
{
  return phase->count == 2 ? 1 : phase->count;
}

static PetscErrorCode OpposeSecond(Phase phase)
{
  PetscFunctionBegin;
  if (phase->count != 2)
    PetscFunctionReturn(0);
  PetscCall(VecCopy(phase->distances[0], phase->distances[1]));
  PetscCall(VecScale(phase->distances[1], -1.));
  PetscCall(LevelSetRefresh(phase->level_sets[1]));
  PetscFunctionReturn(0);
}

static PetscErrorCode MoveMarkers(Phase phase, Vec velocity[DIM], Vec closed, PetscReal dt)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < phase->count; n++) {
    PetscCall(ParticlesMove(phase->markers[n], phase->visibility_map, velocity, dt));
    PetscCall(PhaseDropClosed(phase, n, closed));
  }
  PetscFunctionReturn(0);
}

/* With what the volumes ask for: the markers go along. */
static PetscErrorCode Carry(Phase phase, Vec velocity[DIM], const PetscReal shifts[], Vec closed,
                            PetscReal dt)
{
  Vec faces[DIM];

  PetscFunctionBegin;
  if (phase->config->interface.particles && phase->config->volume == VOLUME_KEPT && dt > 0.) {
    PetscCall(MacGridCreateFaceField(phase->grid, faces));
    PetscCall(PhaseAddShifts(phase, shifts, dt, velocity, faces));
    PetscCall(MoveMarkers(phase, faces, closed, dt));
    PetscCall(MacGridDestroyFaceField(faces));
  } else if (phase->config->interface.particles)
    PetscCall(MoveMarkers(phase, velocity, closed, dt));
  for (PetscInt n = 0; n < distinct_distances(phase); n++)
    PetscCall(LevelSetAdvect(phase->level_sets[n], velocity, dt));
  PetscCall(OpposeSecond(phase));
  PetscCall(PhaseShift(phase, shifts));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseCorrect(Phase phase)
{
  PetscFunctionBegin;
  if (!phase->config->interface.particles)
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < distinct_distances(phase); n++)
    PetscCall(LevelSetCorrect(phase->level_sets[n], phase->count, phase->markers, n));
  PetscCall(OpposeSecond(phase));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseRedistance(Phase phase)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < distinct_distances(phase); n++)
    PetscCall(LevelSetRedistance(phase->level_sets[n]));
  PetscCall(OpposeSecond(phase));
  PetscFunctionReturn(0);
}

/* 1 + a region that had a volume and has none any more; 0: there is none. */
static PetscInt vanished_region(Phase phase, const PetscReal before[])
{
  const PetscReal h = grid_spacing(phase->grid);
  const PetscReal nothing = 1e-6 * (grid_box(phase->grid)->dimension == 3 ? h * h * h : h * h);

  for (PetscInt n = 0; n < phase->count; n++)
    if (before[n] > nothing && phase->report.volume[n] <= nothing)
      return n + 1;
  return 0;
}

PetscErrorCode PhaseUpdate(Phase phase, Vec closed)
{
  PetscReal before[REGIONS_MAX];

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(before, phase->report.volume, REGIONS_MAX));
  PetscCall(PhaseFindRegions(phase));
  PetscCall(PhaseUpdateMixture(phase));
  PetscCall(PhaseMeasure(phase, closed));
  PetscCall(PhaseMeasureExtent(phase, closed));
  PetscCall(PhaseCountMarkers(phase));
  if (!phase->report.vanished)
    phase->report.vanished = vanished_region(phase, before);
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseAdvance(Phase phase, Vec velocity[DIM], Vec closed, PetscReal dt)
{
  unsigned       shifted = phase->config->volume == VOLUME_KEPT ? ALL_REGIONS : NO_REGION;
  const unsigned extended = closed ? ALL_REGIONS : NO_REGION;
  PetscReal      shifts[REGIONS_MAX];

  PetscFunctionBegin;
  phase->report.vanished = 0;
  PetscCall(PhaseRememberGroups(phase));
  PetscCall(PhaseReleasePending(phase, dt));
  PetscCall(PhaseFindLayers(phase, closed));
  PetscCall(PhaseFindContacts(phase));
  find_shifts(phase, shifts);
  PetscCall(PhaseLetIn(phase, velocity, dt));
  PetscCall(PhaseAccountOutflow(phase, velocity, 0.5 * dt));
  PetscCall(Carry(phase, velocity, shifts, closed, dt));
  PetscCall(PhaseCarryPending(phase, velocity, dt));
  PetscCall(PhaseCorrect(phase));
  PetscCall(PhaseBurn(phase, dt, &shifted));
  PetscCall(PhaseExtendIntoClosed(phase, CLOSED_FOR_DISTANCES));
  PetscCall(PhaseProject(phase, shifted | extended));
  PetscCall(PhaseRedistance(phase));
  PetscCall(PhaseCorrect(phase));
  PetscCall(PhaseExtendIntoClosed(phase, CLOSED_FOR_MIXTURE));
  PetscCall(PhaseProject(phase, extended));
  PetscCall(PhaseDropSunk(phase));
  phase->steps++;
  if (phase->config->interface.particles && phase->steps % STEPS_BETWEEN_SEEDINGS == 0)
    PetscCall(PhaseSeed(phase, closed));
  else if (phase->config->interface.particles)
    for (PetscInt n = 0; n < phase->count; n++)
      PetscCall(LevelSetAdjustRadii(phase->level_sets[n], phase->markers[n]));
  PetscCall(PhaseUpdate(phase, closed));
  PetscCall(PhaseAccountOutflow(phase, velocity, 0.5 * dt));
  PetscCall(PhasePutLayers(phase, closed));
  find_imbalance(phase);
  PetscFunctionReturn(0);
}
