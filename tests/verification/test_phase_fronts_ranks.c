/* Fronts on any number of ranks. */
#include "harness.h"
#include "scene_run.h"

#include <millrace/phase.h>

/* Oil that burns to gas over water, at a speed that depends on its curvature, as a single rank computes it.
 */
static void a_burning_drop_is_the_same_on_all_ranks(void **state)
{
  const char *scene =
      "grid: {dimension: 2, size: [1, 1], resolution: 24}\n"
      "run: {end_time: 1, frame_interval: 1}\n"
      "fluid: {gravity: [0, -9.81], viscosity_tolerance: 1e-12, pressure_tolerance: 1e-12,\n"
      "  sides: {all: wall, y_high: open}}\n"
      "regions:\n"
      "  - {name: oil, density: 800, viscosity: 1, velocity: [0.3, -1],\n"
      "     shape: {sphere: {center: [0.45, 0.5], radius: 0.2}}}\n"
      "  - {name: water, density: 1000, shape: {box: {low: [-1, -1], high: [2, 0.25]}}}\n"
      "  - {name: gas, density: 100}\n"
      "interfaces: {reactions: [{first: oil, product: gas, speed: 0.1, curvature_speed: 0.01}]}\n";
  SceneRun        flow, alone;
  FieldDifference difference;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, scene));
  assert_success(SceneRunCreate(PETSC_COMM_SELF, &alone, scene));
  assert_success(SceneRunStep(&flow, 20, 0.004));
  assert_success(SceneRunStep(&alone, 20, 0.004));
  note("burnt %.4f kg", (double)phase_report(simulation_phase(alone.simulation))->burnt[0]);
  assert_on_all_ranks(phase_report(simulation_phase(alone.simulation))->burnt[0] > 5.);
  for (PetscInt d = 0; d < 2 && flow.fluid; d++) {
    assert_success(SceneRunCompareWithSerial(&flow, &alone, d, &difference));
    assert_on_all_ranks(difference.largest < 1e-11);
  }
  assert_success(SceneRunDestroy(&alone));
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_burning_drop_is_the_same_on_all_ranks))
