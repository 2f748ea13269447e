/* A sphere settles in water at rest (B8): Mordant and Pinton (2000), the first of their cases, 0.5 mm
   and 2.56 times as heavy as water, Reynolds number 42, at 8 cells per diameter. The frame moves with the
   measured speed: water enters below, the sphere starts at rest in it, and what it still moves at is the
   error. The box has 5 by 12 by 5 diameters, slip. Wanted: 5 % of the speed. */
#include "harness.h"
#include "scene_run.h"

static const PetscReal diameter = 5e-4, speed = 0.0741; /* m, m/s */

static void a_sphere_settles_as_fast_as_measured(void **state)
{
  const PetscReal galilei = 49.14, ratio = 2.56;
  const PetscReal viscosity = PetscSqrtReal((ratio - 1.) * 9.81 * PetscPowRealInt(diameter, 3)) / galilei;
  const PetscReal end = 12. * diameter / speed;
  SceneRun        flow;
  PetscReal       found;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {size: [0.0025, 0.006, 0.0025], resolution: 40}\n"
      "run: {end_time: %g, frame_interval: %g}\n"
      "fluid: {density: 1000, viscosity: %.10g, gravity: [0, -9.81, 0], initial: {velocity: [0, %g, 0]},\n"
      "  sides: {all: slip, y_low: {type: inflow, velocity: [0, %g, 0]}, y_high: open}}\n"
      "coupling: {solver: schur}\n"
      "solids: {walls: false, bodies: [{name: ball, density: 2560, shape: {sphere: {center: [0.00125, "
      "0.00175, "
      "0.00125], radius: 0.00025}}}]}\n",
      (double)end, (double)end, 1000. * (double)viscosity, (double)speed, (double)speed));
  assert_success(SceneRunUntil(&flow, end));
  found = speed - solid_body_view(simulation_solid(flow.simulation), 0).velocity.at[Y];
  note("settles with %.5f m/s, measured %.4f: %+.2f %%", (double)found, (double)speed,
       100. * (double)(found / speed - 1.));
  assert_near(found, speed, 0.05 * speed);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_sphere_settles_as_fast_as_measured))
