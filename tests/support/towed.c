#include "towed.h"

#include "simulation/coupled_impl.h"

#include <math.h>

static const PetscReal cell = 0.025, speed = 1.;

static PetscErrorCode Start(const Tow *tow, SceneRun *flow)
{
  static const char *const before[] = {
      [TOWED_BODY] = "solids: {walls: false, bodies: [{name: cylinder, type: kinematic,",
      [TOWED_OBSTACLE] = "obstacles: [{name: cylinder,",
      [TOWED_CONTOUR] = "obstacles: [{name: cylinder,"};
  static const char *const after[] = {[TOWED_BODY] = "}", [TOWED_OBSTACLE] = "", [TOWED_CONTOUR] = ""};
  const double             y = (double)(0.5 * tow->size[Y] + tow->offset * cell);
  char                     sphere[96], shape[256];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(sphere, sizeof(sphere),
                          "{sphere: {center: [%.10g, %.10g], radius: ", (double)tow->start, y));
  if (tow->kind == TOWED_CONTOUR)
    PetscCall(PetscSNPrintf(shape, sizeof(shape), "{union: [%s0.2}}, %s0.1}}]}", sphere, sphere));
  else
    PetscCall(PetscSNPrintf(shape, sizeof(shape), "%s0.2}}", sphere));
  PetscCall(SceneRunCreate(PETSC_COMM_WORLD, flow,
                           "grid: {dimension: 2, size: [%.10g, %.10g], resolution: %d}\n"
                           "run: {end_time: %g, frame_interval: %g}\n"
                           "fluid: {density: 1, viscosity: 0.004, sides: {all: slip}}\n"
                           "coupling: {solver: schur%s%s}\n"
                           "%s shape: %s, motion: {velocity: [%g, 0]}}]%s\n",
                           (double)tow->size[X], (double)tow->size[Y], (int)lround(tow->size[X] / cell),
                           (double)tow->end, (double)tow->end, tow->coupling ? ", " : "",
                           tow->coupling ? tow->coupling : "", before[tow->kind], shape, (double)speed,
                           after[tow->kind]));
  PetscFunctionReturn(0);
}

static PetscReal mean_of(PetscInt count, const PetscReal values[])
{
  PetscReal sum = 0.;

  for (PetscInt n = 0; n < count; n++)
    sum += values[n];
  return sum / count;
}

/* The cell is crossed in `window` steps; an even window has its ends counted by half. */
static PetscReal deviation(PetscInt window, const PetscReal *force)
{
  const PetscInt  half = window / 2;
  const PetscReal mean = mean_of(window, force - half);

  return window % 2 ? force[0] - mean : force[0] - mean - 0.5 * (force[half] - force[-half]) / window;
}

static void measure(PetscInt count, PetscInt window, const PetscReal force[], TowedDrag *drag)
{
  PetscReal squares = 0.;

  drag->mean = mean_of(count, force);
  drag->largest = 0.;
  for (PetscInt n = 0; n < count; n++) {
    const PetscReal by = PetscAbsReal(deviation(window, force + n) / drag->mean);

    squares += by * by;
    drag->largest = PetscMax(drag->largest, by);
  }
  drag->noise = PetscSqrtReal(squares / count);
}

PetscErrorCode TowCylinder(const Tow *tow, TowedDrag *drag)
{
  const PetscInt steps = (PetscInt)lround(tow->end / tow->dt),
                 window = (PetscInt)lround(cell / speed / tow->dt),
                 first = (PetscInt)lround(tow->begin / tow->dt);
  PetscReal *force;
  SceneRun   flow;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(steps, &force));
  PetscCall(Start(tow, &flow));
  for (PetscInt n = 0; n < steps; n++) {
    PetscCall(SceneRunStep(&flow, 1, tow->dt));
    force[n] = flow.simulation->coupled->loads[LOAD_ALL][X];
  }
  measure(steps - first - window, window, force + first, drag);
  PetscCall(SceneRunDestroy(&flow));
  PetscCall(PetscFree(force));
  PetscFunctionReturn(0);
}
