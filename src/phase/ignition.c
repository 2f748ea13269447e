/* Ignition (docs/numerics.md, 13b): a front burns where it is hot, and what has burnt is hot. The temperature
   on a front is the mean of blocks of 3^dimension cells around both centres, linear between these. */
#include "fronts.h"

#include <millrace/reaction.h>

static const PetscReal heated = 2.; /* cells from the front in which what has burnt has its temperature */

PetscErrorCode PhaseCreateIgnition(Phase phase)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < phase->config->reaction_count; r++)
    if (reaction_ignites(&phase->config->reactions[r]))
      PetscCall(MacGridCreateField(phase->grid, &phase->ignition[r]));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseKeepIgnition(Phase phase)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < phase->config->reaction_count; r++)
    if (phase->ignition[r]) {
      if (!phase->kept.ignition[r])
        PetscCall(MacGridCreateField(phase->grid, &phase->kept.ignition[r]));
      PetscCall(VecCopy(phase->ignition[r], phase->kept.ignition[r]));
    }
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseReturnIgnition(Phase phase)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < phase->config->reaction_count; r++)
    if (phase->ignition[r])
      PetscCall(VecCopy(phase->kept.ignition[r], phase->ignition[r]));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseSaveIgnition(Phase phase, Archive archive)
{
  char name[32];

  PetscFunctionBegin;
  for (PetscInt r = 0; r < phase->config->reaction_count; r++)
    if (phase->ignition[r]) {
      PetscCall(PetscSNPrintf(name, sizeof(name), "ignition_%" PetscInt_FMT, r));
      PetscCall(MacGridSaveField(phase->grid, name, phase->ignition[r], archive));
    }
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseLoadIgnition(Phase phase, Archive archive)
{
  char name[32];

  PetscFunctionBegin;
  for (PetscInt r = 0; r < phase->config->reaction_count; r++)
    if (phase->ignition[r]) {
      PetscCall(PetscSNPrintf(name, sizeof(name), "ignition_%" PetscInt_FMT, r));
      PetscCall(MacGridLoadField(phase->grid, name, phase->ignition[r], archive));
      PetscCall(MacGridExchange(phase->grid, phase->ignition[r]));
    }
  PetscFunctionReturn(0);
}

static PetscReal mean_around(const GridBox *box, const PetscReal *value, PetscInt c)
{
  const PetscInt deep = box->dimension == 3 ? 1 : 0;
  PetscReal      sum = 0.;

  for (PetscInt k = -deep; k <= deep; k++)
    for (PetscInt j = -1; j <= 1; j++)
      for (PetscInt i = -1; i <= 1; i++)
        sum += value[c + i + j * box->stride[Y] + k * (deep ? box->stride[Z] : 0)];
  return sum / (deep ? 27. : 9.);
}

static PetscReal burning_part(const ReactionConfig *reaction, PetscReal temperature)
{
  const PetscReal above = temperature - reaction->ignition;

  if (reaction->ramp == 0.)
    return above > 0. ? 1. : 0.;
  return PetscMax(0., PetscMin(above / reaction->ramp, 1.));
}

static PetscErrorCode AddBurningParts(Phase phase, PetscInt r, const PetscReal *value,
                                      const FrontValues *cells)
{
  const GridBox *box = grid_box(phase->grid);
  Crossings      crossings;
  FrontFace      face;

  PetscFunctionBegin;
  PetscCall(PhaseGetCrossings(phase, &crossings));
  for (PetscInt m = 0; m < phase->mixed_count; m++)
    for (PetscInt d = 0; d < box->dimension; d++) {
      const PetscInt c = phase->mixed_cells[m], below = c - box->stride[d];
      PetscReal      part;

      if (!find_front(&crossings, c, d, &face) || face.number % REACTIONS_MAX != r)
        continue;
      part = burning_part(&phase->config->reactions[r], (1. - face.theta) * mean_around(box, value, below) +
                                                            face.theta * mean_around(box, value, c));
      add_front_value(cells, c, face.part, part);
      add_front_value(cells, below, face.part, part);
    }
  PetscCall(PhaseRestoreCrossings(phase, &crossings));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseIgnite(Phase phase, PetscInt reaction, Vec temperature)
{
  const PetscReal *value;
  FrontValues      cells;
  Vec              weight;

  PetscFunctionBegin;
  PetscCheck(phase->ignition[reaction], grid_box(phase->grid)->comm, PETSC_ERR_ARG_WRONGSTATE,
             "Reaction %" PetscInt_FMT " needs no temperature to burn", reaction);
  PetscCall(VecSet(phase->ignition[reaction], 0.));
  if (!front_acts(phase, reaction) && !front_acts(phase, REACTIONS_MAX + reaction))
    PetscFunctionReturn(0);
  PetscCall(MacGridCreateField(phase->grid, &weight));
  PetscCall(VecGetArrayRead(temperature, &value));
  PetscCall(VecGetArray(weight, &cells.weight));
  PetscCall(VecGetArray(phase->ignition[reaction], &cells.value));
  PetscCall(AddBurningParts(phase, reaction, value, &cells));
  PetscCall(VecRestoreArray(phase->ignition[reaction], &cells.value));
  PetscCall(VecRestoreArray(weight, &cells.weight));
  PetscCall(VecRestoreArrayRead(temperature, &value));
  PetscCall(PhaseExtendFromFronts(phase, weight, phase->ignition[reaction]));
  PetscCall(VecDestroy(&weight));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseHoldTemperature(Phase phase, PetscInt reaction, PetscReal reference, Vec temperature)
{
  const GridBox  *box = grid_box(phase->grid);
  const PetscReal reach = (heated - MILLRACE_ROUND_OFF) * grid_spacing(phase->grid);
  const PetscReal rise = phase->config->reactions[reaction].temperature - reference, *ignition = NULL;
  PetscReal      *value, *distances[REGIONS_MAX];
  PetscInt        first, product;

  PetscFunctionBegin;
  PetscCall(PhaseGetDistances(phase, distances));
  PetscCall(VecGetArray(temperature, &value));
  if (phase->ignition[reaction])
    PetscCall(VecGetArrayRead(phase->ignition[reaction], &ignition));
  FOR_CELLS(box, i, j, k) {
    const PetscInt  c = box_index(box, i, j, k);
    const PetscReal part = ignition ? ignition[c] : 1.;

    const PetscInt front = part > 0. ? nearest_front(phase, distances, c, &first, &product) : 0;

    if (front && (front - 1) % REACTIONS_MAX == reaction && phase->region[c] == product &&
        distances[first][c] < reach)
      value[c] = PetscMax(value[c], reference + part * rise);
  }
  if (phase->ignition[reaction])
    PetscCall(VecRestoreArrayRead(phase->ignition[reaction], &ignition));
  PetscCall(VecRestoreArray(temperature, &value));
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscFunctionReturn(0);
}
