/* Bodies in the flow that move as given or let the fluid slip, and places that are sealed off. */
#include "scene_run.h"
#include "harness.h"

#include "simulation/coupled_impl.h"

/* A ball that goes along with a uniform flow is not felt. */
static void a_ball_that_drifts_with_the_flow_leaves_no_trace(void **state)
{
  SceneRun         flow;
  FieldDifference  difference;
  const PetscReal *load;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {size: [1, 1, 1], resolution: 12}\n"
                                "fluid:\n"
                                "  density: 1\n"
                                "  viscosity: 0.01\n"
                                "  viscosity_tolerance: 1e-13\n"
                                "  initial: {velocity: [1, 0.5, 0]}\n"
                                "  sides: {all: periodic}\n"
                                "obstacles:\n"
                                "  - name: ball\n"
                                "    shape: {sphere: {center: [0.3, 0.3, 0.5], radius: 0.2}}\n"
                                "    motion: {velocity: [1, 0.5, 0]}\n"
                                "coupling: {tolerance: 1e-13}\n"));
  assert_success(SceneRunStep(&flow, 8, 0.05));
  assert_success(SceneRunCompare(&flow, X, "1", 0., &difference));
  assert_near(difference.largest, 0., 1e-10);
  assert_success(SceneRunCompare(&flow, Y, "0.5", 0., &difference));
  assert_near(difference.largest, 0., 1e-10);
  load = flow.simulation->coupled->loads[LOAD_ALL];
  assert_near(vector3_norm(vector3(load[X], load[Y], load[Z])), 0., 1e-9);
  assert_success(SceneRunDestroy(&flow));
}

/* The fluid in a closed box makes room for a ball: it flows back beside it, and feels a drag against it. */
static void a_ball_moves_through_a_closed_box(void **state)
{
  SceneRun    flow;
  FluidTotals totals;
  PetscReal   beside;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {size: [1, 0.75, 0.75], resolution: 16}\n"
                                "fluid: {density: 1, viscosity: 0.01}\n"
                                "obstacles:\n"
                                "  - name: ball\n"
                                "    shape: {sphere: {center: [0.3, 0.375, 0.375], radius: 0.15}}\n"
                                "    motion: {velocity: [0.5, 0, 0]}\n"));
  for (PetscInt n = 0; n < 16; n++) {
    assert_success(SceneRunStep(&flow, 1, 0.05));
    assert_success(FluidGetTotals(flow.fluid, &totals));
    assert_near(flow.simulation->coupled->divergence, 0., 1e-5);
    assert_on_all_ranks(totals.largest_speed < 1.5);
  }
  assert_success(SceneRunSample(&flow, X, vector3(0.7, 0.65, 0.375), &beside));
  assert_on_all_ranks(beside < -0.01);
  assert_on_all_ranks(flow.simulation->coupled->loads[LOAD_VISCOSITY][X] < 0.);
  assert_success(SceneRunDestroy(&flow));
}

/* A slippery floor and a slippery bar along the flow do not disturb it. */
static void check_slippery_bodies(ObstacleFaces kind)
{
  SceneRun        flow;
  FieldDifference difference;

  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {size: [1, 1, 0.5], resolution: 16}\n"
                     "fluid:\n"
                     "  density: 1\n"
                     "  viscosity: 0.05\n"
                     "  initial: {velocity: [1, 0, 0]}\n"
                     "  sides: {all: slip, x_low: {type: inflow, velocity: [1, 0, 0]}, x_high: open}\n"
                     "  obstacles: %s\n"
                     "obstacles:\n"
                     "  - name: floor\n"
                     "    surface: slip\n"
                     "    shape: {box: {low: [-1, -1, -1], high: [2, 0.25, 1]}}\n"
                     "  - name: rail\n"
                     "    surface: slip\n"
                     "    shape: {box: {low: [-1, 0.5, 0], high: [2, 0.75, 0.25]}}\n",
                     ObstacleFaceKinds[kind]));
  assert_success(SceneRunStep(&flow, 10, 0.05));
  assert_success(SceneRunCompare(&flow, X, "1", 0., &difference));
  assert_near(difference.largest, 0., 1e-11);
  assert_success(SceneRunCompare(&flow, Y, "0", 0., &difference));
  assert_near(difference.largest, 0., 1e-11);
  assert_success(SceneRunDestroy(&flow));
}

static void a_slippery_body_along_the_flow_is_not_felt(void **state)
{
  (void)state;
  check_slippery_bodies(OBSTACLES_CUT);
  check_slippery_bodies(OBSTACLES_VOXELS);
}

/* A scene that equals its mirror image keeps doing so. */
static void a_symmetric_scene_stays_symmetric(void **state)
{
  const PetscReal h = 1. / 24;
  SceneRun        flow;
  PetscReal       largest = 0., speed = 0.;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, size: [2, 1], resolution: 48}\n"
                     "fluid:\n"
                     "  density: 1\n"
                     "  viscosity: 0.005\n"
                     "  pressure_tolerance: 1e-14\n"
                     "  viscosity_tolerance: 1e-14\n"
                     "  sides: {x_low: {type: inflow, velocity: [1, 0]}, x_high: open}\n"
                     "obstacles: [{name: disc, shape: {sphere: {center: [0.6, 0.5], radius: 0.2}}}]\n"));
  assert_success(SceneRunStep(&flow, 20, 0.02));
  for (PetscInt i = 2; i < 46; i += 3)
    for (PetscInt j = 1; j < 12; j++) {
      PetscReal low, high;

      assert_success(SceneRunSample(&flow, X, vector3(i * h, (j + 0.5) * h, 0.), &low));
      assert_success(SceneRunSample(&flow, X, vector3(i * h, 1. - (j + 0.5) * h, 0.), &high));
      largest = PetscMax(largest, PetscAbsReal(low - high));
      assert_success(SceneRunSample(&flow, Y, vector3((i + 0.5) * h, j * h, 0.), &low));
      assert_success(SceneRunSample(&flow, Y, vector3((i + 0.5) * h, 1. - j * h, 0.), &high));
      largest = PetscMax(largest, PetscAbsReal(low + high));
      speed = PetscMax(speed, PetscAbsReal(low));
    }
  note("largest asymmetry %.2e", (double)largest);
  assert_on_all_ranks(speed > 0.1);
  assert_near(largest, 0., 1e-12);
  assert_success(SceneRunDestroy(&flow));
}

/* A hollow body holds fluid of its own: one more component, sealed, that does not move. */
static void sealed_fluid_stays_at_rest(void **state)
{
  SceneRun              flow;
  const CouplingReport *report;
  PetscReal             inside, outside;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {dimension: 2, size: [2, 1], resolution: 32}\n"
                                "fluid:\n"
                                "  density: 1\n"
                                "  viscosity: 0.01\n"
                                "  pressure_tolerance: 1e-12\n"
                                "  sides: {x_low: {type: inflow, velocity: [1, 0]}, x_high: open}\n"
                                "obstacles:\n"
                                "  - name: hollow\n"
                                "    shape:\n"
                                "      difference:\n"
                                "        - box: {low: [0.5, 0.25], high: [1.25, 0.75]}\n"
                                "        - box: {low: [0.625, 0.375], high: [1.125, 0.625]}\n"));
  assert_success(SceneRunStep(&flow, 20, 0.025));
  report = &flow.simulation->coupled->report;
  assert_on_all_ranks(report->components == 2 && report->null_vectors == 1);
  assert_success(SceneRunSample(&flow, X, vector3(0.875, 0.5, 0.), &inside));
  assert_success(SceneRunSample(&flow, X, vector3(0.875, 0.125, 0.), &outside));
  assert_near(inside, 0., 1e-12);
  assert_on_all_ranks(outside > 0.5);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_ball_that_drifts_with_the_flow_leaves_no_trace),
          cmocka_unit_test(a_ball_moves_through_a_closed_box),
          cmocka_unit_test(a_slippery_body_along_the_flow_is_not_felt),
          cmocka_unit_test(a_symmetric_scene_stays_symmetric), cmocka_unit_test(sealed_fluid_stays_at_rest))
