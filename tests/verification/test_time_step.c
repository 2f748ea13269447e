/* The size of a step: what limits it, and that frames are hit. */
#include "flow.h"
#include "harness.h"

/* Steps from frame to frame; the time at each is exact. */
static void frames_are_hit_exactly(void **state)
{
  Flow flow;

  (void)state;
  assert_success(
      FlowCreate(PETSC_COMM_WORLD, &flow,
                 "grid: {dimension: 2, size: [1, 1], resolution: 16}\n"
                 "run: {end_time: 1, frame_interval: 0.1}\n"
                 "fluid: {density: 1, viscosity: 0.01, sides: {y_high: {type: wall, velocity: [1, 0]}}}\n"));
  for (PetscInt frame = 1; frame <= 5; frame++) {
    PetscReal dt, largest = 0.;
    PetscInt  steps = 0;

    while (simulation_time(flow.simulation) < frame * 0.1 - 1e-12) {
      assert_success(SimulationGetTimeStep(flow.simulation, frame * 0.1, &dt));
      assert_success(FlowStep(&flow, 1, dt));
      largest = PetscMax(largest, dt);
      steps++;
    }
    assert_near(simulation_time(flow.simulation), frame * 0.1, 1e-14);
    assert_on_all_ranks(largest <= 0.9 / 16 * (1. + 1e-9)); /* the lid's way in a step */
    assert_on_all_ranks(steps <= 3);
  }
  assert_success(FlowDestroy(&flow));
}

static void assert_limit(const char rest[], PetscReal expected)
{
  Flow      flow;
  PetscReal dt;

  assert_success(FlowCreate(PETSC_COMM_WORLD, &flow,
                            "grid: {dimension: 2, size: [1, 1], resolution: 10}\n"
                            "%s\n",
                            rest));
  assert_success(SimulationGetTimeStep(flow.simulation, 1000. * expected, &dt));
  assert_near(dt, expected, 2e-3 * expected);
  assert_success(FlowDestroy(&flow));
}

static void every_part_limits_the_step(void **state)
{
  (void)state;
  /* the flow: half a cell at speed 2 */
  assert_limit("run: {end_time: 1000, frame_interval: 1000}\n"
               "fluid: {density: 1, cfl: 0.5, sides: {all: periodic}, initial: {velocity: [2, 1]}}",
               0.025);
  /* WENO: the sum of the directions */
  assert_limit(
      "run: {end_time: 1000, frame_interval: 1000}\n"
      "fluid: {density: 1, cfl: 0.5, advection: weno5, sides: {all: periodic}, initial: {velocity: [2, 1]}}",
      0.05 / 3.);
  /* a force from rest: f dt^2 = 0.9 h */
  assert_limit("run: {end_time: 1000, frame_interval: 1000}\n"
               "fluid: {density: 1, body_force: [9, 0], sides: {all: periodic}}",
               0.1);
  /* an obstacle */
  assert_limit(
      "run: {end_time: 1000, frame_interval: 1000}\n"
      "fluid: {density: 1, cfl: 0.5}\n"
      "obstacles:\n"
      "  - {name: ball, shape: {sphere: {center: [0.5, 0.5], radius: 0.2}}, motion: {velocity: [0, 0.25]}}",
      0.2);
  /* the user */
  assert_limit("run: {end_time: 1000, frame_interval: 1000, largest_time_step: 0.003}\n"
               "fluid: {density: 1, sides: {all: periodic}, initial: {velocity: [2, 1]}}",
               0.003);
}

/* A step that is taken twice as two halves costs nothing but its error. */
static void steps_of_different_size_follow_each_other(void **state)
{
  Flow           flow;
  FlowDifference difference;

  (void)state;
  assert_success(FlowCreate(PETSC_COMM_WORLD, &flow,
                            "grid: {dimension: 2, size: [2*pi, 2*pi], resolution: 32}\n"
                            "run: {end_time: 1, frame_interval: 1}\n"
                            "fluid:\n"
                            "  {density: 1, viscosity: 0.01, sides: {all: periodic},\n"
                            "   initial: {velocity: [1 + sin(x)*cos(y), -cos(x)*sin(y)]}}\n"));
  for (PetscInt n = 0; n < 10; n++) {
    assert_success(FlowStep(&flow, 1, 0.02));
    assert_success(FlowStep(&flow, 1, 0.08));
  }
  assert_success(FlowCompare(&flow, X, "1 + sin(x-t)*cos(y)*exp(-0.02*t)", 1., &difference));
  note("alternating steps of 0.02 and 0.08: error %.2e", (double)difference.mean_square);
  assert_on_all_ranks(difference.mean_square < 6e-3);
  assert_success(FlowDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(frames_are_hit_exactly), cmocka_unit_test(every_part_limits_the_step),
          cmocka_unit_test(steps_of_different_size_follow_each_other))
