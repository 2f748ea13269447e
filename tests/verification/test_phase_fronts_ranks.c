/* Fronts on any number of ranks. */
#include "harness.h"
#include "scene_run.h"

#include <millrace/phase.h>

/* What has burnt in 20 steps is not nothing, and a single rank computes the same. */
static void check_alone(const char scene[], PetscReal least)
{
  SceneRun        flow, alone;
  FieldDifference difference;

  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, "%s", scene));
  assert_success(SceneRunCreate(PETSC_COMM_SELF, &alone, "%s", scene));
  assert_success(SceneRunStep(&flow, 20, 0.004));
  assert_success(SceneRunStep(&alone, 20, 0.004));
  note("burnt %.4f kg", (double)phase_report(simulation_phase(alone.simulation))->burnt[0]);
  assert_on_all_ranks(phase_report(simulation_phase(alone.simulation))->burnt[0] > least);
  for (PetscInt d = 0; d < 2 && flow.fluid; d++) {
    assert_success(SceneRunCompareWithSerial(&flow, &alone, d, &difference));
    assert_on_all_ranks(difference.largest < 1e-11);
  }
  assert_success(SceneRunDestroy(&alone));
  assert_success(SceneRunDestroy(&flow));
}

#define BOX(more)                                                                                            \
  "grid: {dimension: 2, size: [1, 1], resolution: 24}\n"                                                     \
  "run: {end_time: 1, frame_interval: 1}\n"                                                                  \
  "fluid: {gravity: [0, -9.81], viscosity_tolerance: 1e-12, pressure_tolerance: 1e-12,\n"                    \
  "  sides: {all: wall, y_high: open}" more "}\n"                                                            \
  "regions:\n"

/* Oil that burns to gas over water, at a speed that depends on its curvature. */
static void a_burning_drop_is_the_same_on_all_ranks(void **state)
{
  (void)state;
  check_alone(
      BOX("") "  - {name: oil, density: 800, viscosity: 1, velocity: [0.3, -1],\n"
              "     shape: {sphere: {center: [0.45, 0.5], radius: 0.2}}}\n"
              "  - {name: water, density: 1000, shape: {box: {low: [-1, -1], high: [2, 0.25]}}}\n"
              "  - {name: gas, density: 100}\n"
              "interfaces: {reactions: [{first: oil, product: gas, speed: 0.1, curvature_speed: 0.01}]}\n",
      5.);
}

/* What it burns to is hot, and the hot rises. */
static void a_hot_drop_is_the_same_on_all_ranks(void **state)
{
  (void)state;
  check_alone(BOX(", scalars: [{name: heat, initial: 300, reference: 300, diffusivity: 0.002, expansion: "
                  "3e-4}]") "  - {name: oil, density: 800, viscosity: 1, velocity: [0.3, -1],\n"
                            "     shape: {sphere: {center: [0.45, 0.5], radius: 0.2}}}\n"
                            "  - {name: gas, density: 100}\n"
                            "interfaces: {reactions: [{first: oil, product: gas, speed: 0.1, scalar: heat,\n"
                            "  temperature: 3000}]}\n",
              5.);
}

/* Two drops that meet in water, in the middle of the box. */
static void what_meets_and_reacts_is_the_same_on_all_ranks(void **state)
{
  (void)state;
  check_alone(BOX("") "  - {name: a, density: 1200, viscosity: 20, velocity: [0.5, 0],\n"
                      "     shape: {sphere: {center: [0.31, 0.4], radius: 0.17}}}\n"
                      "  - {name: b, density: 1500, viscosity: 30, velocity: [-0.5, 0],\n"
                      "     shape: {sphere: {center: [0.68, 0.45], radius: 0.18}}}\n"
                      "  - {name: gas, density: 100, shape: {box: {low: [-1, 0.8], high: [2, 2]}}}\n"
                      "  - {name: water, density: 1000}\n"
                      "interfaces: {reactions: [{first: a, second: b, product: gas, speed: 0.05,\n"
                      "  second_speed: 0.02, release: 0.1}]}\n",
              5.);
}

TEST_MAIN(cmocka_unit_test(a_burning_drop_is_the_same_on_all_ranks),
          cmocka_unit_test(a_hot_drop_is_the_same_on_all_ranks),
          cmocka_unit_test(what_meets_and_reacts_is_the_same_on_all_ranks))
