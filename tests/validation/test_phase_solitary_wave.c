/* A solitary wave of a tenth of the depth over 10 depths (S9): speed sqrt(g (h + a)), little loss of height.
 */
#include "harness.h"
#include "liquid.h"

#define SQUARE_SECH(argument) "(1/cosh(" argument "))^2"

/* Depth 1, gravity 9.81, the crest at x = 6 at the start; first-order velocities under it. */
static PetscErrorCode Start(PetscReal height, PetscInt cells, SceneRun *flow)
{
  const PetscReal k = PetscSqrtReal(0.75 * height), speed = PetscSqrtReal(9.81 * (1. + height));

  PetscFunctionBegin;
  PetscCall(SceneRunCreate(
      PETSC_COMM_WORLD, flow,
      "grid: {dimension: 2, size: [24, 1.5], resolution: %d}\n"
      "run: {end_time: 100, frame_interval: 100}\n"
      "fluid: {gravity: [0, -9.81], cfl: 0.5, sides: {all: slip, y_high: open}, initial: {velocity:\n"
      "  [\"%.10g*%.10g*" SQUARE_SECH("%.10g*(x-6)") "\", \"2*%.10g*%.10g*%.10g*y*" SQUARE_SECH(
          "%.10g*(x-6)") "*tanh(%.10g*(x-6))\"]}}\n"
                         "regions:\n"
                         "  - {name: water, density: 1000, shape: {formula: {value: \"y - 1 - "
                         "%.10g*" SQUARE_SECH("%.10g*(x-6)") "\"}}}\n"
                                                             "  - {name: air, type: empty}\n",
      (int)(24 * cells), (double)speed, (double)height, (double)k, (double)speed, (double)height, (double)k,
      (double)k, (double)k, (double)height, (double)k));
  PetscFunctionReturn(0);
}

/* The crest: the highest surface over all columns, with its place by the parabola through three. */
static PetscErrorCode FindCrest(SceneRun *flow, PetscInt cells, PetscReal *place, PetscReal *height)
{
  const PetscReal h = 1. / cells;
  PetscReal       before = 0., here = 0., after, best = 0.;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < 24 * cells; i++, before = here, here = after) {
    PetscCall(RegionEnd(flow, 0, Y, 1, vector3((i + 0.5) * h, 1., 0.), &after));
    if (i > 1 && here > best && here >= before && here >= after && before > 0.9) {
      best = here;
      *place = (i - 0.5) * h + 0.5 * h * (before - after) / (before - 2. * here + after);
    }
  }
  *height = best - 1.;
  PetscFunctionReturn(0);
}

static void a_solitary_wave_travels_at_its_speed(void **state)
{
  const PetscReal height = 0.1, speed = 3.2849658;
  const PetscInt  cells = 20;
  PetscReal       place[2], top[2], time[2];
  SceneRun        flow;

  (void)state;
  assert_success(Start(height, cells, &flow));
  for (PetscInt n = 0; n < 2; n++) {
    /* the first depth is for the wave to find its own shape */
    assert_success(SceneRunUntil(&flow, (n ? 11. : 1.) / speed));
    time[n] = simulation_time(flow.simulation);
    assert_success(FindCrest(&flow, cells, &place[n], &top[n]));
  }
  note("S9, 20 cells per depth: speed %.4f (%.4f), height lost over 10 depths %.2f %%",
       (double)((place[1] - place[0]) / (time[1] - time[0])), (double)speed,
       100. * (double)(1. - top[1] / top[0]));
  assert_near((place[1] - place[0]) / (time[1] - time[0]) / speed, 1., 0.01);
  assert_on_all_ranks(top[1] > 0.95 * top[0]);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_solitary_wave_travels_at_its_speed))
