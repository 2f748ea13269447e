/* The Rayleigh-Taylor instability of He, Chen and Zhang (1999) (M8): Atwood number 0.5, Reynolds number 256
   with the speed sqrt(g H), a box of H x 4 H; how far the light finger has risen and the heavy one has sunk.
 */
#include "harness.h"
#include "liquid.h"

/* t sqrt(g / H), and places over 4 H. */
static const PetscReal table[][3] = {
    {1.97415, 0.5978925, 0.3636375}, {3.0209, 0.6449675, 0.2651525}, {4.08135, 0.6931825, 0.1655375}};
enum { POINTS = sizeof(table) / sizeof(table[0]) };

/* H = 1, g = 1; Atwood 0.5: densities 3 and 1. The speed of the Reynolds number is sqrt(g H). */
static PetscErrorCode Start(PetscInt cells, SceneRun *flow)
{
  PetscFunctionBegin;
  PetscCall(SceneRunCreate(PETSC_COMM_WORLD, flow,
                           "grid: {dimension: 2, size: [0.5, 4], resolution: %d}\n"
                           "run: {end_time: 100, frame_interval: 100}\n"
                           "fluid: {gravity: [0, -1], cfl: 0.5, pressure_tolerance: 1e-6, sides: {all: wall, "
                           "x_low: slip, x_high: slip}}\n"
                           "regions:\n"
                           "  - {name: heavy, density: 3, viscosity: %.10g,\n"
                           "     shape: {formula: {value: 2 + 0.1*cos(2*pi*x) - y}}}\n"
                           "  - {name: light, density: 1, viscosity: %.10g}\n",
                           (int)cells / 2, 3. / 256., 1. / 256.));
  PetscFunctionReturn(0);
}

static void fingers_rise_and_sink_as_published(void **state)
{
  PetscReal largest = 0.;
  SceneRun  flow;

  (void)state;
  assert_success(Start(128, &flow));
  for (PetscInt n = 0; n < POINTS; n++) {
    PetscReal bubble, spike;

    assert_success(SceneRunUntil(&flow, table[n][0]));
    /* the light liquid rises where the interface began highest, at x = 0 */
    assert_success(RegionEnd(&flow, 1, Y, 1, vector3(0., 0., 0.), &bubble));
    assert_success(RegionEnd(&flow, 0, Y, 0, vector3(0.5, 0., 0.), &spike));
    note("M8, t %.3f: bubble %.4f (%.4f), spike %.4f (%.4f) of 4 H", (double)table[n][0], (double)bubble / 4.,
         (double)table[n][1], (double)spike / 4., (double)table[n][2]);
    largest = PetscMax(largest, PetscAbsReal(bubble / 4. - table[n][1]));
    largest = PetscMax(largest, PetscAbsReal(spike / 4. - table[n][2]));
  }
  assert_on_all_ranks(largest <= 0.02);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(fingers_rise_and_sink_as_published))
