/* The same scene on all ranks and on one gives the same fields; the pressure and viscosity tolerances are
   tight, so that what is left is round-off. */
#include "scene_run.h"
#include "harness.h"

#define SOLVERS "  pressure_tolerance: 1e-13\n  viscosity_tolerance: 1e-13\n"

static void assert_same_on_one_rank(const char scene[], PetscInt dimension, PetscInt scalars)
{
  SceneRun        flow, serial;
  FieldDifference difference;
  PetscReal       time;

  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, "%s", scene));
  assert_success(SceneRunCreate(PETSC_COMM_SELF, &serial, "%s", scene));
  for (PetscInt n = 0; n < 20; n++) {
    PetscReal dt, serial_dt;

    time = simulation_time(flow.simulation);
    assert_success(SimulationGetTimeStep(flow.simulation, time + 1., &dt));
    assert_success(SimulationGetTimeStep(serial.simulation, time + 1., &serial_dt));
    assert_near(dt, serial_dt, 1e-11 * dt);
    assert_success(SceneRunStep(&flow, 1, serial_dt));
    assert_success(SceneRunStep(&serial, 1, serial_dt));
  }
  for (PetscInt field = 0; field < FIELD_SCALAR + scalars; field++) {
    if (field == Z && dimension == 2)
      continue;
    assert_success(SceneRunCompareWithSerial(&flow, &serial, field, &difference));
    assert_near(difference.largest, 0., 1e-11);
  }
  assert_success(SceneRunDestroy(&serial));
  assert_success(SceneRunDestroy(&flow));
}

static void plane_flow_does_not_depend_on_the_ranks(void **state)
{
  const char *schemes[] = {"semi-lagrangian", "maccormack", "weno5", "central"};

  (void)state;
  for (PetscInt s = 0; s < 4; s++) {
    char scene[1024];

    assert_success(
        PetscSNPrintf(scene, sizeof(scene),
                      "grid: {dimension: 2, size: [3.7, 2.3], resolution: 37}\n"
                      "run: {end_time: 100, frame_interval: 100, largest_time_step: 0.1}\n"
                      "fluid:\n"
                      "  density: 1.5\n"
                      "  viscosity: 0.01\n"
                      "  gravity: [0, -1]\n"
                      "  advection: %s\n" SOLVERS "  initial: {velocity: [1 + sin(3*y)/2, cos(2*x)/2]}\n"
                      "  sides:\n"
                      "    x_low: {type: inflow, velocity: [1 + sin(y+t)/2, 0]}\n"
                      "    x_high: open\n"
                      "    y_low: slip\n"
                      "  scalars:\n"
                      "    - {name: heat, initial: sin(x)*cos(y), expansion: 0.1, diffusivity: 0.02}\n"
                      "obstacles:\n"
                      "  - name: ball\n"
                      "    shape: {sphere: {center: [1.2, 1.1], radius: 0.4}}\n"
                      "    motion: {velocity: [0.2, 0.3]}\n"
                      "  - name: brick\n"
                      "    surface: slip\n"
                      "    shape: {box: {low: [2.4, 0], high: [2.9, 0.9]}}\n",
                      schemes[s]));
    assert_same_on_one_rank(scene, 2, 1);
  }
}

static void flow_in_space_does_not_depend_on_the_ranks(void **state)
{
  (void)state;
  assert_same_on_one_rank(
      "grid: {size: [1, 1.3, 0.9], resolution: 10}\n"
      "run: {end_time: 100, frame_interval: 100, largest_time_step: 0.1}\n"
      "fluid:\n"
      "  density: 1.2\n"
      "  viscosity: 0.001\n"
      "  gravity: [0, -9.81, 0]\n" SOLVERS "  initial: {velocity: [sin(5*y)/2, 0, cos(6*x)/2]}\n"
      "  sides: {all: wall, y_high: open, x_low: periodic, x_high: periodic}\n"
      "  scalars:\n"
      "    - {name: smoke, initial: sin(6*x)*cos(3*y)}\n"
      "    - {name: heat, expansion: 0.01, initial: 10*y, diffusivity: 0.001, decay: 0.1}\n"
      "obstacles:\n"
      "  - name: ball\n"
      "    shape: {sphere: {center: [0.5, 0.6, 0.5], radius: 0.22}}\n"
      "    motion: {velocity: [0.1, 0.1, 0], spin: [0, 0, 1], pivot: [0.5, 0.6, 0.5]}\n"
      "inflows:\n"
      "  - name: vent\n"
      "    shape: {sphere: {center: [0.5, 0.1, 0.4], radius: 0.2}}\n"
      "    velocity: [0, 0.4, 0]\n"
      "    scalars: {smoke: 1, heat: 60}\n",
      3, 2);
}

/* A rank that leaves the fluid to others changes nothing. */
static void solid_ranks_do_not_change_the_fluid(void **state)
{
  if (harness_size() == 1)
    skip();
  (void)state;
  {
    SceneRun        flow, serial;
    FieldDifference difference;
    const char      scene[] = "grid: {dimension: 2, size: [1, 1], resolution: 16}\n"
                              "parallel: {solid_ranks: %d}\n"
                              "run: {end_time: 1, frame_interval: 1}\n"
                              "fluid:\n"
                              "  density: 1\n"
                              "  viscosity: 0.01\n" SOLVERS "  sides: {y_high: {type: wall, velocity: [1, 0]}}\n";

    assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, scene, 1));
    assert_success(SceneRunCreate(PETSC_COMM_SELF, &serial, scene, 0));
    assert_success(SceneRunStep(&flow, 20, 0.05));
    assert_success(SceneRunStep(&serial, 20, 0.05));
    assert_near(simulation_time(flow.simulation), 1., 1e-12);
    assert_success(SceneRunCompareWithSerial(&flow, &serial, X, &difference));
    assert_near(difference.largest, 0., 1e-11);
    assert_on_all_ranks(!flow.fluid == (harness_rank() == harness_size() - 1));
    assert_success(SceneRunDestroy(&serial));
    assert_success(SceneRunDestroy(&flow));
  }
}

TEST_MAIN(cmocka_unit_test(plane_flow_does_not_depend_on_the_ranks),
          cmocka_unit_test(flow_in_space_does_not_depend_on_the_ranks),
          cmocka_unit_test(solid_ranks_do_not_change_the_fluid))
