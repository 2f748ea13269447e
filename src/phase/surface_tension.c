/* Surface tension (4.5): the pressure jumps by sigma kappa where two regions meet, kappa being the curvature
   of half the difference of their distances, interpolated to the crossing. */
#include "phase_impl.h"
#include "crossing.h"

/* Bit j of pairs[i]: regions i < j meet somewhere and have a tension. */
static PetscErrorCode FindPairs(Phase phase, unsigned pairs[REGIONS_MAX])
{
  const GridBox *box = grid_box(phase->grid);

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(pairs, REGIONS_MAX));
  for (PetscInt m = 0; m < phase->mixed_count; m++)
    for (PetscInt d = 0; d < box->dimension; d++) {
      const PetscInt c = phase->mixed_cells[m];
      const PetscInt a = phase->region[c], b = phase->region[c - box->stride[d]];

      if (phase->tension[a][b] > 0.)
        pairs[PetscMin(a, b)] |= 1u << PetscMax(a, b);
    }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, pairs, REGIONS_MAX, MPI_UNSIGNED, MPI_BOR, box->comm));
  PetscFunctionReturn(0);
}

/* `curvature` is that of the first region's surface towards the second. */
static PetscErrorCode SetPairJumps(Phase phase, PetscInt first, PetscInt second, Vec curvature)
{
  const GridBox *box = grid_box(phase->grid);
  PetscReal     *jump[DIM];
  Crossings      crossings;

  PetscFunctionBegin;
  PetscCall(PhaseGetCrossings(phase, &crossings));
  PetscCall(VecGetArrayRead(curvature, &crossings.curvature));
  PetscCall(MacGridGetFaces(phase->grid, phase->mixture.jump, jump));
  crossings.first = first;
  crossings.second = second;
  for (PetscInt m = 0; m < phase->mixed_count; m++)
    for (PetscInt d = 0; d < box->dimension; d++) {
      const PetscInt c = phase->mixed_cells[m];
      const Crossing crossing = crossing_below(&crossings, c, d);

      if (crossing.jump != 0.)
        jump[d][c] = crossing.jump;
    }
  PetscCall(MacGridRestoreFaces(phase->grid, phase->mixture.jump, jump));
  PetscCall(VecRestoreArrayRead(curvature, &crossings.curvature));
  PetscCall(PhaseRestoreCrossings(phase, &crossings));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseUpdateJumps(Phase phase)
{
  const Vec pair = phase->scratch[0], curvature = phase->scratch[1];
  unsigned  pairs[REGIONS_MAX];

  PetscFunctionBegin;
  if (!phase->config->tension_count)
    PetscFunctionReturn(0);
  PetscCall(FindPairs(phase, pairs));
  for (PetscInt first = 0; first < phase->count; first++)
    for (PetscInt second = first + 1; second < phase->count; second++)
      if (pairs[first] & 1u << second) {
        PetscCall(VecWAXPY(pair, -1., phase->distances[second], phase->distances[first]));
        PetscCall(VecScale(pair, 0.5));
        PetscCall(DistanceGetCurvature(phase->grid, phase->visibility_map, pair, curvature));
        PetscCall(MacGridMirrorGhosts(phase->grid, curvature));
        PetscCall(SetPairJumps(phase, first, second, curvature));
      }
  PetscCall(PhaseUpdateJunctions(phase));
  PetscFunctionReturn(0);
}

/* Capillary waves of two cells' length must not cross a cell in a step (Brackbill, Kothe, Zemach 1992).
   Velocity and interface take turns, as in the leapfrog scheme: the shortest gravity wave that the grid
   holds, of wave number pi/h, must not turn by more than two radians in a step. */
PetscReal phase_wave_limit(Phase phase, Vector3 gravity, PetscReal h)
{
  const PetscReal g = vector3_norm(gravity);
  PetscReal       limit = PETSC_MAX_REAL;

  for (PetscInt a = 0; a < phase->count; a++)
    for (PetscInt b = 0; b < a; b++) {
      const PetscReal density = region_density(phase, a) + region_density(phase, b);
      const PetscReal heavier = PetscAbsReal(region_density(phase, a) - region_density(phase, b));

      if (phase->tension[a][b] > 0. && density > 0.)
        limit = PetscMin(limit, PetscSqrtReal(density * h * h * h / (4. * PETSC_PI * phase->tension[a][b])));
      if (g * heavier > 0.)
        limit = PetscMin(limit, 2. * PetscSqrtReal(h * density / (PETSC_PI * g * heavier)));
    }
  return limit;
}
