/* A step leaves the interfaces half a step behind the velocity (docs/numerics.md, section 12). Who writes
   them down beside it looks at them at its own time. */
#include "phase_impl.h"

/* Of two regions the second has the opposite of the first one's distance. */
static PetscErrorCode MoveDistances(Phase phase, Vec velocity[DIM], PetscReal dt)
{
  Vec *distances = phase->distances;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < phase->count; n++) {
    PetscCall(VecCopy(distances[n], phase->kept.distances[n]));
    if (n == 1 && phase->count == 2)
      PetscCall(VecAXPBY(distances[1], -1., 0., distances[0]));
    else
      PetscCall(LevelSetMoveFrom(phase->level_sets[n], phase->kept.distances[n], velocity, dt));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseLookAhead(Phase phase, Vec velocity[DIM], Vec closed, PetscReal dt)
{
  PetscFunctionBegin;
  PetscCheck(!phase->looks_ahead, grid_box(phase->grid)->comm, PETSC_ERR_ORDER, "It looks ahead already");
  phase->looks_ahead = PETSC_TRUE;
  PetscCall(PhaseCreateKept(phase));
  phase->kept.report = phase->report;
  PetscCall(MoveDistances(phase, velocity, dt));
  PetscCall(PhaseFindRegions(phase));
  PetscCall(PhaseMeasure(phase, closed));
  PetscCall(PhaseMeasureExtent(phase, closed));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseLookBack(Phase phase)
{
  PetscFunctionBegin;
  PetscCheck(phase->looks_ahead, grid_box(phase->grid)->comm, PETSC_ERR_ORDER, "It does not look ahead");
  phase->looks_ahead = PETSC_FALSE;
  for (PetscInt n = 0; n < phase->count; n++)
    PetscCall(VecCopy(phase->kept.distances[n], phase->distances[n]));
  phase->report = phase->kept.report;
  PetscCall(PhaseFindRegions(phase));
  PetscFunctionReturn(0);
}

PetscBool phase_looks_ahead(Phase phase)
{
  return phase->looks_ahead;
}
