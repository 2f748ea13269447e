/* The size of a step: what limits it, and that frames are hit. */
#include "scene_run.h"
#include "harness.h"
#include "simulation/simulation_impl.h"

#include <math.h>

/* Steps from frame to frame; the time at each is exact. */
static void frames_are_hit_exactly(void **state)
{
  SceneRun flow;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {dimension: 2, size: [1, 1], resolution: 16}\n"
      "run: {end_time: 1, frame_interval: 0.1}\n"
      "fluid: {density: 1, viscosity: 0.01, sides: {y_high: {type: wall, velocity: [1, 0]}}}\n"));
  for (PetscInt frame = 1; frame <= 5; frame++) {
    PetscReal dt, largest = 0.;
    PetscInt  steps = 0;

    while (simulation_time(flow.simulation) < frame * 0.1 - 1e-12) {
      assert_success(SimulationGetTimeStep(flow.simulation, frame * 0.1, &dt));
      assert_success(SceneRunStep(&flow, 1, dt));
      largest = PetscMax(largest, dt);
      steps++;
    }
    assert_near(simulation_time(flow.simulation), frame * 0.1, 1e-14);
    assert_on_all_ranks(largest <= 0.9 / 16 * (1. + 1e-9)); /* the lid's way in a step */
    assert_on_all_ranks(steps <= 3);
  }
  assert_success(SceneRunDestroy(&flow));
}

static void assert_limit(const char rest[], PetscReal expected)
{
  SceneRun  flow;
  PetscReal dt;

  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {dimension: 2, size: [2, 1], resolution: 20}\n"
                                "%s\n",
                                rest));
  assert_success(SimulationGetTimeStep(flow.simulation, 1000. * expected, &dt));
  assert_near(dt, expected, 2e-3 * expected);
  assert_success(SceneRunDestroy(&flow));
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
  /* an obstacle, still outside of the box */
  assert_limit(
      "run: {end_time: 1000, frame_interval: 1000}\n"
      "fluid: {density: 1, cfl: 0.5}\n"
      "obstacles:\n"
      "  - {name: ball, shape: {sphere: {center: [0.5, -3], radius: 0.2}}, motion: {velocity: [0, 0.25]}}",
      0.2);
  /* the user */
  assert_limit("run: {end_time: 1000, frame_interval: 1000, largest_time_step: 0.003}\n"
               "fluid: {density: 1, sides: {all: periodic}, initial: {velocity: [2, 1]}}",
               0.003);
}

/* Where the blob of the first scalar is along x, in a periodic box of length 1. */
static PetscReal blob_place(SceneRun *flow)
{
  const GridBox   *box = grid_box(flow->grid);
  PetscReal        sums[2] = {0.};
  const PetscReal *value;
  Vec              dye;

  assert_success(SceneRunGetField(flow, FIELD_SCALAR, &dye));
  assert_success(VecGetArrayRead(dye, &value));
  for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
    for (PetscInt i = box->start[X]; i < box->end[X]; i++) {
      const PetscReal angle = 2. * PETSC_PI * grid_cell_centre(flow->grid, i, j, 0).at[X];

      sums[0] += value[box_index(box, i, j, 0)] * PetscCosReal(angle);
      sums[1] += value[box_index(box, i, j, 0)] * PetscSinReal(angle);
    }
  assert_success(VecRestoreArrayRead(dye, &value));
  (void)MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPIU_REAL, MPI_SUM, box->comm);
  return PetscAtan2Real(sums[1], sums[0]) / (2. * PETSC_PI);
}

/* At 1 m/s for 0.5 s, with whatever step is asked for, nothing is left behind. */
static void a_blob_moves_with_the_flow(void **state)
{
  static const char *const schemes[] = {"maccormack", "semi-lagrangian", "weno5"};
  static const struct {
    const char *run, *fluid;
  } settings[] = {{"", ""}, {"", "cfl: 2, "}, {", time_step: 0.25", ""}, {", time_step: 0.04", ""}};

  (void)state;
  for (size_t n = 0; n < sizeof(schemes) / sizeof(schemes[0]); n++)
    for (size_t s = 0; s < sizeof(settings) / sizeof(settings[0]); s++) {
      SceneRun  flow;
      PetscReal moved;

      assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                    "grid: {dimension: 2, size: [1, 1], resolution: 48}\n"
                                    "run: {end_time: 0.5, frame_interval: 0.5%s}\n"
                                    "fluid: {density: 1, %sadvection: %s, initial: {velocity: [1, 0]},\n"
                                    "  sides: {all: periodic},\n"
                                    "  scalars: [{name: dye, initial: exp(-((x-0.25)^2+(y-0.5)^2)/0.02)}]}\n",
                                    settings[s].run, settings[s].fluid, schemes[n]));
      moved = -blob_place(&flow);
      assert_success(SceneRunUntil(&flow, 0.5));
      moved += blob_place(&flow);
      note("%s %s%s: moved by %.4f m", schemes[n], settings[s].fluid, settings[s].run, (double)moved);
      assert_near(moved + (moved < 0. ? 1. : 0.), 0.5, 0.01);
      assert_success(SceneRunDestroy(&flow));
    }
}

/* A level set, its markers and both of its sides, with steps of eight cells asked for. */
static void a_drop_moves_with_the_flow(void **state)
{
  PetscReal moved;
  SceneRun  flow;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, size: [1, 0.5], resolution: 32}\n"
                     "run: {end_time: 0.25, frame_interval: 0.25, time_step: 0.25}\n"
                     "fluid: {initial: {velocity: [1, 0]}, sides: {all: periodic}}\n"
                     "regions:\n"
                     "  - {name: drop, density: 2, shape: {sphere: {center: [0.3, 0.25], radius: 0.12}}}\n"
                     "  - {name: rest, density: 1}\n"));
  moved = -phase_report(simulation_phase(flow.simulation))->centre[0].at[X];
  assert_success(SceneRunUntil(&flow, 0.25));
  moved += phase_report(simulation_phase(flow.simulation))->centre[0].at[X];
  note("drop moved by %.4f m", (double)moved);
  assert_near(moved, 0.25 - 0.5 * flow.simulation->dt, 0.005); /* interfaces are half a step behind */
  assert_success(SceneRunDestroy(&flow));
}

static PetscReal record_of(SceneRun *flow, const char name[])
{
  PetscReal value;

  assert_success(SimulationGetRecord(flow->simulation, name, &value));
  return value;
}

/* Steps of several lengths, none of a whole cell. The row is only a look: nothing of the state moves. */
static void rows_have_surfaces_at_their_time(void **state)
{
  const PetscReal steps[] = {0.02, 0.01, 0.025, 0.025, 0.005};
  PetscReal       time = 0., volume, norm[2] = {0., 0.};
  Vec             distance = NULL;
  SceneRun        flow;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, size: [1, 1], resolution: 32}\n"
                     "fluid: {initial: {velocity: [1, 0.5]}, sides: {all: periodic}}\n"
                     "regions:\n"
                     "  - {name: drop, density: 1, shape: {sphere: {center: [0.3, 0.3], radius: 0.2}}}\n"
                     "  - {name: other, density: 1, shape: {sphere: {center: [0.8, 0.8], radius: 0.1}}}\n"
                     "  - {name: rest, density: 1}\n"));
  volume = record_of(&flow, "volume_drop");
  for (PetscInt n = 0; n < 5; n++) {
    assert_success(SceneRunStep(&flow, 1, steps[n]));
    time += steps[n];
    if (flow.fluid) {
      assert_success(PhaseGetDistance(simulation_phase(flow.simulation), 0, &distance));
      assert_success(VecNorm(distance, NORM_2, &norm[0]));
    }
    assert_near(record_of(&flow, "interface_time"), time, 1e-12);
    assert_near(record_of(&flow, "center_drop_x"), 0.3 + time, 5e-4); /* half a step is up to 0.0125 */
    assert_near(record_of(&flow, "center_drop_y"), 0.3 + 0.5 * time, 5e-4);
    assert_near(record_of(&flow, "highest_drop_x"), 0.5 + time, 3e-3);
    assert_near(record_of(&flow, "volume_drop") / volume, 1., 1e-3);
    if (flow.fluid)
      assert_success(VecNorm(distance, NORM_2, &norm[1]));
    assert_on_all_ranks(norm[0] == norm[1]);
  }
  assert_success(SceneRunDestroy(&flow));
}

/* A channel whose inflow grows from nothing: 0.5 m^2 of dye after a second. */
static void a_ramped_inflow_brings_what_it_should(void **state)
{
  PetscReal total;
  SceneRun  flow;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, size: [2, 0.5], resolution: 64}\n"
                     "fluid: {density: 1, sides: {x_low: {type: inflow, velocity: [2*t, 0]}, x_high: open,\n"
                     "  y_low: slip, y_high: slip}, scalars: [{name: dye, inflow: 1}]}\n"));
  assert_success(SceneRunUntil(&flow, 1.));
  assert_success(FluidGetScalarTotal(flow.fluid, 0, &total));
  note("ramp: %.4f m^2 of dye (0.5)", (double)total);
  assert_near(total, 0.5, 0.01);
  assert_success(SceneRunDestroy(&flow));
}

/* Held from 0.03 to 0.04 s, in steps of 0.1 s: both times are met, and one step has it, neither that before
   nor that after. */
static void a_step_ends_where_an_inflow_begins_and_ends(void **state)
{
  const PetscReal ends[] = {0.03, 0.04, 0.1}, volume = 0.2 * 0.2;
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {dimension: 2, size: [1, 1], resolution: 20}\n"
                                "run: {end_time: 1, frame_interval: 0.1, time_step: 0.1}\n"
                                "fluid: {}\n"
                                "regions:\n"
                                "  - {name: oil, density: 1, shape: {sphere: {center: [0, 50], radius: 1}}}\n"
                                "  - {name: water, density: 1}\n"
                                "inflows: [{name: tap, region: oil, from: 0.03, until: 0.04,\n"
                                "  shape: {box: {low: [0.4, 0.4], high: [0.6, 0.6]}}}]\n"));
  for (PetscInt n = 0; n < 3; n++) {
    PetscReal dt;

    assert_success(SimulationGetTimeStep(flow.simulation, 0.1, &dt));
    assert_success(SceneRunStep(&flow, 1, dt));
    assert_near(simulation_time(flow.simulation), ends[n], 1e-15);
    assert_near(phase_report(simulation_phase(flow.simulation))->volume[0], n ? volume : 0., 0.02 * volume);
  }
  assert_success(SceneRunDestroy(&flow));
}

/* Nothing moves at the start; the first step sees what will. */
static void a_step_sees_what_is_about_to_move(void **state)
{
  (void)state;
  /* a side: 2 dt^2 = 0.9 h */
  assert_limit("run: {end_time: 1000, frame_interval: 1000}\n"
               "fluid: {density: 1, sides: {y_high: {type: wall, velocity: [2*t, 0]}}}",
               PetscSqrtReal(0.045));
  /* an inflow that grows: 50 dt dt = 0.9 h */
  assert_limit(
      "run: {end_time: 1000, frame_interval: 1000}\n"
      "fluid: {density: 1, sides: {y_high: open}}\n"
      "inflows: [{name: fan, shape: {sphere: {center: [0.5, 0.5], radius: 0.2}}, velocity: [0, 50*t]}]",
      PetscSqrtReal(0.09 / 50.));
  /* a body force: 50 dt dt^2 = 0.9 h */
  assert_limit("run: {end_time: 1000, frame_interval: 1000}\n"
               "fluid: {density: 1, body_force: [50*t, 0], sides: {all: periodic}}",
               cbrt(0.09 / 50.));
  /* an obstacle and a body that set out soon */
  assert_limit("run: {end_time: 1000, frame_interval: 1000}\n"
               "fluid: {density: 1}\n"
               "obstacles: [{name: ball, shape: {sphere: {center: [0.5, 0.5], radius: 0.2}},\n"
               "  motion: {keyframes: [{time: 0.01}, {time: 100.01, translation: [0, 50]}]}}]",
               0.18);
  assert_limit(
      "run: {end_time: 1000, frame_interval: 1000}\n"
      "fluid: {density: 1}\n"
      "solids: {bodies: [{name: ball, type: kinematic, shape: {sphere: {center: [0.5, 0.5], radius: 0.2}},\n"
      "  motion: {keyframes: [{time: 0.01}, {time: 100.01, translation: [0, 50]}]}}]}",
      0.18);
  /* a joint that is driven: critically damped towards t, it is as fast as that at once */
  assert_limit(
      "run: {end_time: 1000, frame_interval: 1000}\n"
      "fluid: {density: 1}\n"
      "solids: {bodies: [{name: ball, density: 2, shape: {sphere: {center: [0.5, 0.5], radius: 0.2}}}],\n"
      "  joints: [{name: drive, type: prismatic, child: ball, anchor: [0.5, 0.5, 0], axis: [0, 1, 0],\n"
      "    target: t, stiffness: 1e8, damping: 2e4}]}",
      0.09);
}

/* A still surface: the shortest gravity wave turns by two radians in a step, however far things may go. */
static void waves_limit_the_step_of_a_quiet_pool(void **state)
{
  (void)state;
  assert_limit("run: {end_time: 1000, frame_interval: 1000}\n"
               "fluid: {gravity: [0, -10], cfl: 2, sides: {all: slip}}\n"
               "regions: [{name: water, density: 1000, shape: {box: {low: [-1, -1], high: [2, 0.45]}}},\n"
               "  {name: air, type: empty}]",
               2. * PetscSqrtReal(0.1 / (10. * PETSC_PI)));
  assert_limit("run: {end_time: 1000, frame_interval: 1000}\n"
               "fluid: {gravity: [0, -10], sides: {all: slip}}\n"
               "regions: [{name: water, density: 1000, shape: {box: {low: [-1, -1], high: [2, 0.45]}}},\n"
               "  {name: air, type: empty}]",
               PetscSqrtReal(0.009));
}

/* Of sixteen cells: refused, and the state is as it was. */
static void a_step_that_is_too_long_is_not_taken(void **state)
{
  static const char scene[] =
      "grid: {dimension: 2, size: [1, 1], resolution: 64}\n"
      "run: {end_time: 1, frame_interval: 1}\n"
      "fluid: {density: 1, initial: {velocity: [1+0.1*sin(2*pi*y), 0.1*sin(2*pi*x)]}, "
      "sides: {all: periodic}}\n";
  FieldDifference difference;
  PetscBool       good;
  SceneRun        flow, serial;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, scene));
  assert_success(SceneRunCreate(PETSC_COMM_SELF, &serial, scene));
  assert_success(SceneRunStep(&flow, 2, 0.01));
  assert_success(SimulationStep(flow.simulation, 0.25, &good));
  assert_false(good);
  assert_near(simulation_time(flow.simulation), 0.02, 1e-14);
  assert_success(SceneRunStep(&flow, 1, 0.01));
  assert_success(SceneRunStep(&serial, 3, 0.01));
  assert_success(SceneRunCompareWithSerial(&flow, &serial, X, &difference));
  assert_near(difference.largest, 0., 1e-7);
  assert_success(SceneRunDestroy(&serial));
  assert_success(SceneRunDestroy(&flow));
}

/* A step that is taken twice as two halves costs nothing but its error. */
static void steps_of_different_size_follow_each_other(void **state)
{
  SceneRun        flow;
  FieldDifference difference;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {dimension: 2, size: [2*pi, 2*pi], resolution: 32}\n"
                                "fluid:\n"
                                "  {density: 1, viscosity: 0.01, sides: {all: periodic},\n"
                                "   initial: {velocity: [1 + sin(x)*cos(y), -cos(x)*sin(y)]}}\n"));
  for (PetscInt n = 0; n < 10; n++) {
    assert_success(SceneRunStep(&flow, 1, 0.02));
    assert_success(SceneRunStep(&flow, 1, 0.08));
  }
  assert_success(SceneRunCompare(&flow, X, "1 + sin(x-t)*cos(y)*exp(-0.02*t)", 1., &difference));
  note("alternating steps of 0.02 and 0.08: error %.2e", (double)difference.mean_square);
  assert_on_all_ranks(difference.mean_square < 6e-3);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(frames_are_hit_exactly), cmocka_unit_test(every_part_limits_the_step),
          cmocka_unit_test(a_blob_moves_with_the_flow), cmocka_unit_test(a_drop_moves_with_the_flow),
          cmocka_unit_test(rows_have_surfaces_at_their_time),
          cmocka_unit_test(a_ramped_inflow_brings_what_it_should),
          cmocka_unit_test(a_step_ends_where_an_inflow_begins_and_ends),
          cmocka_unit_test(a_step_sees_what_is_about_to_move),
          cmocka_unit_test(waves_limit_the_step_of_a_quiet_pool),
          cmocka_unit_test(a_step_that_is_too_long_is_not_taken),
          cmocka_unit_test(steps_of_different_size_follow_each_other))
