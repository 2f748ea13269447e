/* What the ledger says of the flow as a whole and of each region, beside exact values. */
#include "harness.h"
#include "scene_run.h"

#include <millrace/simulation.h>

static PetscReal recorded(SceneRun *flow, const char name[])
{
  PetscReal value;

  assert_success(SimulationGetRecord(flow->simulation, name, &value));
  return value;
}

#define VORTICES "initial: {velocity: [sin(x)*cos(y), -cos(x)*sin(y), 0]}, sides: {all: periodic}"

/* Differences of sines over a cell are those of the exact flow times k = 2 sin(h/2)/h: dissipation mu k^2 V
   and enstrophy 1/2 k^2 V, with energy rho/4 V. */
static void assert_vortices(PetscInt dimension, const char materials[], PetscReal density,
                            PetscReal viscosity)
{
  const PetscInt  n = 24;
  const PetscReal h = 2. * PETSC_PI / n, k = 2. * PetscSinReal(0.5 * h) / h;
  const PetscReal volume = 4. * PETSC_PI * PETSC_PI * (dimension == 3 ? 8. * h : 1.),
                  tolerance = 1e-10 * volume;
  SceneRun flow;

  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {dimension: %d, size: [2*pi, 2*pi%s], resolution: %d}\n"
                                "run: {end_time: 1, frame_interval: 1}\n%s",
                                (int)dimension, dimension == 3 ? ", 2*pi/3" : "", (int)n, materials));
  assert_near(recorded(&flow, "kinetic_energy"), 0.25 * density * volume, density * tolerance);
  assert_near(recorded(&flow, "dissipation"), viscosity * k * k * volume, tolerance);
  assert_near(recorded(&flow, "enstrophy"), 0.5 * k * k * volume, tolerance);
  if (strstr(materials, "regions")) {
    assert_near(recorded(&flow, "kinetic_energy_left") + recorded(&flow, "kinetic_energy_right"),
                0.25 * density * volume, density * tolerance);
    assert_near(recorded(&flow, "dissipation_left"), 0.5 * viscosity * k * k * volume, tolerance);
    assert_near(recorded(&flow, "enstrophy_right"), 0.25 * k * k * volume, tolerance);
  }
  assert_success(SceneRunDestroy(&flow));
}

static void vortices_have_their_energy_dissipation_and_enstrophy(void **state)
{
  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++) {
    assert_vortices(dimension, "fluid: {density: 2, viscosity: 0.3, " VORTICES "}\n", 2., 0.3);
    assert_vortices(
        dimension,
        "fluid: {" VORTICES "}\n"
        "regions:\n"
        "  - {name: left, density: 2, viscosity: 0.3, shape: {box: {low: [-9, -9, -9], high: [pi, 9, 9]}}}\n"
        "  - {name: right, density: 2, viscosity: 0.3}\n",
        2., 0.3);
  }
}

/* Projection adds a gradient, which does not turn: the vorticity stays 2 w, in every cell of the region. */
static void a_region_that_turns_has_its_enstrophy(void **state)
{
  const PetscReal w = 1.5;
  SceneRun        flow;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, size: [1, 1], resolution: 32}\n"
                     "run: {end_time: 1, frame_interval: 1}\n"
                     "fluid: {initial: {velocity: [-1.5*(y-0.5), 1.5*(x-0.5)]}, sides: {all: slip}}\n"
                     "regions:\n"
                     "  - {name: core, density: 1, shape: {box: {low: [0.25, 0.25], high: [0.75, 0.625]}}}\n"
                     "  - {name: rest, density: 1}\n"));
  assert_near(recorded(&flow, "enstrophy_core"), 2. * w * w * 0.5 * 0.375, 1e-9);
  assert_success(SceneRunDestroy(&flow));
}

/* Poiseuille's parabola on faces half a cell from the walls: D = mu sum (du/dy)^2, trapezoidal up to the
 * walls. */
static void walls_count_half(void **state)
{
  const PetscInt  n = 16;
  const PetscReal h = 1. / n;
  PetscReal       exact = 0.;
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {dimension: 2, size: [1, 1], resolution: 16}\n"
                                "run: {end_time: 1, frame_interval: 1}\n"
                                "fluid: {density: 1, viscosity: 0.5, initial: {velocity: [y*(1-y), 0]},\n"
                                "  sides: {all: wall, x_low: periodic, x_high: periodic}}\n"));
  for (PetscInt j = 0; j <= n; j++) {
    const PetscReal slope = j == 0 || j == n ? 2. * 0.5 * h * (1. - 0.5 * h) / h : 1. - 2. * j * h;

    exact += (j == 0 || j == n ? 0.5 : 1.) * 0.5 * slope * slope * h;
  }
  assert_near(recorded(&flow, "dissipation"), exact, 1e-10);
  assert_near(recorded(&flow, "dissipation"), 0.5 / 3., 0.01 * 0.5 / 3.);
  assert_success(SceneRunDestroy(&flow));
}

static void regions_have_their_extent_and_speed(void **state)
{
  SceneRun flow;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, size: [1, 1], resolution: 32}\n"
                     "run: {end_time: 1, frame_interval: 1}\n"
                     "fluid: {initial: {velocity: [0, -3]}, sides: {all: slip, y_high: open}}\n"
                     "regions:\n"
                     "  - {name: drop, density: 1000, shape: {sphere: {center: [0.5, 0.6], radius: 0.2}}}\n"
                     "  - {name: pool, density: 1000, shape: {box: {low: [-1, -1], high: [2, 0.13]}}}\n"
                     "  - {name: air, type: empty}\n"));
  assert_near(recorded(&flow, "highest_drop_y"), 0.8, 1e-3);
  assert_near(recorded(&flow, "lowest_drop_y"), 0.4, 1e-3);
  assert_near(recorded(&flow, "highest_drop_x"), 0.7, 1e-3);
  assert_near(recorded(&flow, "highest_pool_y"), 0.13, 1e-9);
  assert_near(recorded(&flow, "lowest_pool_y"), 0., 1e-12);
  assert_near(recorded(&flow, "highest_pool_x"), 1., 1e-12);
  assert_near(recorded(&flow, "speed_max_drop"), 3., 1e-6);
  assert_near(recorded(&flow, "speed_max_pool"), 0., 1e-6);
  assert_near(recorded(&flow, "speed_max"), 3., 1e-6);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(vortices_have_their_energy_dissipation_and_enstrophy),
          cmocka_unit_test(a_region_that_turns_has_its_enstrophy), cmocka_unit_test(walls_count_half),
          cmocka_unit_test(regions_have_their_extent_and_speed))
