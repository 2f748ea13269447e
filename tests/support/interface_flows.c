#include "interface_flows.h"

static PetscReal slotted_disk(Vector3 point)
{
  const PetscReal x = point.at[X] - 50., y = point.at[Y] - 75.;
  const PetscReal disk = PetscSqrtReal(x * x + y * y) - 15.;
  const PetscReal beside = PetscAbsReal(x) - 2.5, above = y - 10.; /* of the slot, which is open below */
  PetscReal       slot = PetscMax(beside, above);

  if (beside > 0. && above > 0.)
    slot = PetscSqrtReal(beside * beside + above * above);
  return PetscMax(disk, -slot);
}

static Vector3 turn(Vector3 point, PetscReal time)
{
  const PetscReal rate = PETSC_PI / 314.;

  (void)time;
  return vector3(rate * (50. - point.at[Y]), rate * (point.at[X] - 50.), 0.);
}

const InterfaceFlow zalesak_disk = {.dimension = 2,
                                    .size = 100.,
                                    .distance = slotted_disk,
                                    .velocity = turn,
                                    .fastest = 50. * PETSC_PI / 314.,
                                    .end = 628.};

static PetscReal small_disk(Vector3 point)
{
  return vector3_norm(vector3_subtract(point, vector3(0.5, 0.75, 0.))) - 0.15;
}

static Vector3 vortex(Vector3 point, PetscReal time)
{
  const PetscReal x = PETSC_PI * point.at[X], y = PETSC_PI * point.at[Y],
                  now = PetscCosReal(PETSC_PI * time / 8.);

  return vector3(-now * PetscSqr(PetscSinReal(x)) * PetscSinReal(2. * y),
                 now * PetscSqr(PetscSinReal(y)) * PetscSinReal(2. * x), 0.);
}

const InterfaceFlow single_vortex = {
    .dimension = 2, .size = 1., .distance = small_disk, .velocity = vortex, .fastest = 1., .end = 8.};

static PetscReal small_ball(Vector3 point)
{
  return vector3_norm(vector3_subtract(point, vector3(0.35, 0.35, 0.35))) - 0.15;
}

static Vector3 deform(Vector3 point, PetscReal time)
{
  const PetscReal x = PETSC_PI * point.at[X], y = PETSC_PI * point.at[Y], z = PETSC_PI * point.at[Z];
  const PetscReal now = PetscCosReal(PETSC_PI * time / 3.);

  return vector3(2. * now * PetscSqr(PetscSinReal(x)) * PetscSinReal(2. * y) * PetscSinReal(2. * z),
                 -now * PetscSqr(PetscSinReal(y)) * PetscSinReal(2. * x) * PetscSinReal(2. * z),
                 -now * PetscSqr(PetscSinReal(z)) * PetscSinReal(2. * x) * PetscSinReal(2. * y));
}

const InterfaceFlow deformation = {
    .dimension = 3, .size = 1., .distance = small_ball, .velocity = deform, .fastest = 2., .end = 3.};

PetscErrorCode InterfaceFlowRun(const InterfaceFlow *flow, const InterfaceConfig *config, PetscInt cells,
                                PetscReal courant, FlowResult *result)
{
  const GridConfig grid = cube_grid(flow->dimension, cells, flow->size);
  const PetscInt  steps = (PetscInt)PetscCeilReal(flow->end * flow->fastest * cells / (courant * flow->size));
  const PetscReal dt = flow->end / steps;
  Interface       interface;
  PetscReal       volume;

  PetscFunctionBegin;
  PetscCall(InterfaceCreate(PETSC_COMM_WORLD, &grid, config, &interface));
  PetscCall(InterfaceSet(&interface, flow->distance));
  PetscCall(LevelSetRedistance(interface.level_set));
  PetscCall(LevelSetGetVolume(interface.level_set, NULL, &result->volume));
  if (config->particles)
    PetscCall(InterfaceSeed(&interface));
  for (PetscInt step = 0; step < steps; step++) {
    PetscCall(InterfaceStep(&interface, flow->velocity, step * dt, dt, 5));
    if (step != (steps - 1) / 2)
      continue;
    PetscCall(LevelSetGetVolume(interface.level_set, NULL, &volume));
    result->middle = 1. - volume / result->volume;
  }
  PetscCall(LevelSetGetVolume(interface.level_set, NULL, &volume));
  result->loss = 1. - volume / result->volume;
  result->steps = steps;
  PetscCall(InterfaceMismatch(&interface, flow->distance, &result->mismatch));
  PetscCall(ParticlesGetTotal(interface.markers[0], &result->markers));
  PetscCall(InterfaceDestroy(&interface));
  PetscFunctionReturn(0);
}
