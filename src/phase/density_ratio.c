/* Light and dense regions: light is what lies below the geometric mean of the densities, if these differ by
   more than a factor of ten. */
#include "phase_impl.h"

/* Density below which a region is light; 0: none is. */
static PetscReal lightness(Phase phase)
{
  PetscReal least = PETSC_MAX_REAL, most = 0.;

  for (PetscInt n = 0; n < phase->count; n++)
    if (!region_is_empty(phase, n)) {
      least = PetscMin(least, region_density(phase, n));
      most = PetscMax(most, region_density(phase, n));
    }
  return densities_differ_much(least, most) ? PetscSqrtReal(least * most) : 0.;
}

static PetscBool is_dense(Phase phase, PetscInt region)
{
  return !region_is_empty(phase, region) && region_density(phase, region) >= lightness(phase);
}

PetscErrorCode PhaseUpdateLight(Phase phase)
{
  const PetscInt length = grid_box(phase->grid)->length;
  PetscReal     *light, mark[REGIONS_MAX];

  PetscFunctionBegin;
  if (lightness(phase) == 0.)
    PetscFunctionReturn(0);
  if (!phase->mixture.light)
    PetscCall(MacGridCreateField(phase->grid, &phase->mixture.light));
  for (PetscInt n = 0; n < phase->count; n++)
    mark[n] = is_dense(phase, n) ? 0. : 1.;
  PetscCall(VecGetArray(phase->mixture.light, &light));
  for (PetscInt c = 0; c < length; c++)
    light[c] = mark[phase->region[c]];
  PetscCall(VecRestoreArray(phase->mixture.light, &light));
  PetscFunctionReturn(0);
}

/* From the cells where `unknown` is zero, along the smallest distance to one of the regions there. */
static PetscErrorCode Extend(Phase phase, PetscBool (*is_known)(Phase, PetscInt), Vec unknown, Vec faces[DIM])
{
  const Vec distance = phase->scratch[0], known = phase->scratch[1];

  PetscFunctionBegin;
  PetscCall(VecSet(distance, phase->band));
  for (PetscInt n = 0; n < phase->count; n++)
    if (is_known(phase, n))
      PetscCall(VecPointwiseMin(distance, distance, phase->distances[n]));
  PetscCall(VecSet(known, 1.));
  PetscCall(VecAXPY(known, -1., unknown));
  PetscCall(PhaseContinue(phase, distance, known, faces));
  PetscFunctionReturn(0);
}

static PetscBool is_liquid(Phase phase, PetscInt region)
{
  return !region_is_empty(phase, region);
}

PetscErrorCode PhaseExtendVelocity(Phase phase, Vec faces[DIM])
{
  PetscBool any = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < phase->count; n++)
    if (region_is_empty(phase, n))
      any = PETSC_TRUE;
  if (any)
    PetscCall(Extend(phase, is_liquid, phase->mixture.empty, faces));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseExtendDenseVelocity(Phase phase, Vec faces[DIM])
{
  PetscFunctionBegin;
  if (phase->mixture.light)
    PetscCall(Extend(phase, is_dense, phase->mixture.light, faces));
  PetscFunctionReturn(0);
}
