/* Liquids at rest stay at rest, on any number of ranks. */
#include "harness.h"
#include "liquid.h"

static void assert_stays_still(const char regions[])
{
  PetscReal speed;
  SceneRun  flow;

  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {size: [1, 1, 0.5], resolution: 16}\n"
                                "run: {end_time: 10, frame_interval: 10}\n"
                                "fluid: {gravity: [0, -9.81, 0], pressure_tolerance: 1e-12,\n"
                                "  sides: {all: wall, y_high: %s}}\n"
                                "regions:\n%s",
                                strstr(regions, "empty") ? "open" : "wall", regions));
  assert_success(SceneRunStep(&flow, 100, 0.01));
  assert_success(LargestSpeed(&flow, &speed));
  note("largest speed after 100 steps: %.2e m/s", (double)speed);
  assert_on_all_ranks(speed < 1e-8);
  assert_success(SceneRunDestroy(&flow));
}

static void a_pool_with_a_free_surface_stays_still(void **state)
{
  (void)state;
  assert_stays_still("  - {name: water, density: 1000, viscosity: 0.001,\n"
                     "     shape: {plane: {point: [0, 0.5312, 0], normal: [0, 1, 0]}}}\n"
                     "  - {name: air, type: empty}\n");
}

static void four_layers_stay_still(void **state)
{
  (void)state;
  assert_stays_still("  - {name: a, density: 1500, viscosity: 1,\n"
                     "     shape: {box: {low: [-1, -1, -1], high: [2, 0.21, 2]}}}\n"
                     "  - {name: b, density: 1000, viscosity: 0.001,\n"
                     "     shape: {box: {low: [-1, 0.21, -1], high: [2, 0.47, 2]}}}\n"
                     "  - {name: c, density: 800, viscosity: 10,\n"
                     "     shape: {box: {low: [-1, 0.47, -1], high: [2, 0.745, 2]}}}\n"
                     "  - {name: d, density: 1.2, viscosity: 0}\n");
}

/* What bends a surface at a slanted wall turns it for ever: a right angle gave 1.2 m/s and took 3 % of it. */
static void a_pool_over_a_cut_slope_hardly_moves(void **state)
{
  PetscReal   speed;
  PhaseReport first, last;
  SceneRun    flow;

  (void)state;
  only_on_one_rank();
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, "%s",
                                "grid: {dimension: 2, size: [2, 1], resolution: 48}\n"
                                "run: {end_time: 2, frame_interval: 2}\n"
                                "fluid: {gravity: [0, -9.81], obstacles: cut, sides: {all: slip}}\n"
                                "regions:\n"
                                "  - {name: water, density: 1000, viscosity: 0.001,\n"
                                "     shape: {plane: {point: [0, 0.7], normal: [0, 1]}}}\n"
                                "  - {name: air, type: empty}\n"
                                "obstacles:\n"
                                "  - {name: slope, surface: slip,\n"
                                "     shape: {plane: {point: [1, 0.35], normal: [-0.4, 1]}}}\n"));
  first = *phase_report(simulation_phase(flow.simulation));
  assert_success(SceneRunStep(&flow, 100, 0.02));
  last = *phase_report(simulation_phase(flow.simulation));
  assert_success(LargestSpeed(&flow, &speed));
  note("after 2 s %.3f m/s, volume %+.3f %%", (double)speed,
       100. * (double)(last.volume[0] / first.volume[0] - 1.));
  assert_on_all_ranks(speed < 0.03);
  assert_near(last.volume[0], first.volume[0], 2e-3 * first.volume[0]);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_pool_with_a_free_surface_stays_still), cmocka_unit_test(four_layers_stay_still),
          cmocka_unit_test(a_pool_over_a_cut_slope_hardly_moves))
