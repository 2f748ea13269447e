/* Bodies and fluid move together: what drifts is not felt, what stands or is led is as an obstacle, what is
   free is carried, dragged and held back. */
#include "scene_run.h"
#include "harness.h"

#include "simulation/coupled_impl.h"

#include <math.h>

#define CHANNEL                                                                                              \
  "grid: {dimension: 2, size: [2, 1], resolution: %d}\n"                                                     \
  "run: {end_time: 1, frame_interval: 1}\n"                                                                  \
  "fluid:\n"                                                                                                 \
  "  density: 2\n"                                                                                           \
  "  initial: {velocity: [1, 0]}\n"                                                                          \
  "  sides: {all: slip, x_low: {type: inflow, velocity: [1, 0]}, x_high: open}\n"
#define DISC "shape: {sphere: {center: [0.73, 0.47], radius: 0.2}}"
#define CLOSED                                                                                               \
  "grid: {size: [1, 0.75, 0.75], resolution: 16}\n"                                                          \
  "run: {end_time: 1, frame_interval: 1}\n"                                                                  \
  "fluid: {density: 1000, viscosity: 0.01}\n"
#define BALL "shape: {sphere: {center: [0.3, 0.375, 0.375], radius: 0.15}}"

/* From a uniform flow (B7). */
static void check_uniform(SceneRun *flow, const char *const components[DIM], PetscReal bound)
{
  for (PetscInt d = 0; d < DIM && components[d]; d++) {
    FieldDifference difference;

    assert_success(SceneRunCompare(flow, d, components[d], 0., &difference));
    assert_near(difference.largest, 0., bound);
  }
}

static void a_body_that_drifts_with_the_flow_leaves_no_trace(void **state)
{
  static const char *const components[DIM] = {"0.7", "0.4"};
  SceneRun                 flow;
  BodyView                 body;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow, "%s",
      "grid: {dimension: 2, size: [1, 1], resolution: 32}\n"
      "fluid: {density: 1000, viscosity: 1, initial: {velocity: [0.7, 0.4]}, sides: {all: periodic}}\n"
      "solids:\n"
      "  bodies:\n"
      "    - {name: disc, velocity: [0.7, 0.4, 0], shape: {sphere: {center: [0.3, 0.3], radius: 0.15}}}\n"
      "    - {name: box, velocity: [0.7, 0.4, 0], shape: {box: {low: [0.55, 0.6], high: [0.9, 0.8]}}}\n"));
  assert_success(SceneRunStep(&flow, 60, 0.03)); /* once around the box and beyond */
  check_uniform(&flow, components, 1e-8);
  body = solid_body_view(simulation_solid(flow.simulation), 1);
  assert_near(body.position.at[X], 0.725 + 1.8 * 0.7, 1e-8);
  assert_near(body.velocity.at[Y], 0.4, 1e-8);
  assert_near(body.spin.at[Z], 0., 1e-8);
  assert_success(SceneRunDestroy(&flow));
}

static void a_ball_that_drifts_with_the_flow_leaves_no_trace(void **state)
{
  static const char *const components[DIM] = {"1", "0.5", "-0.3"};
  SceneRun                 flow;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow, "%s",
      "grid: {size: [1, 1, 1], resolution: 16}\n"
      "fluid: {density: 1000, initial: {velocity: [1, 0.5, -0.3]}, sides: {all: periodic}}\n"
      "solids: {bodies: [{name: ball, velocity: [1, 0.5, -0.3], shape: {sphere: {center: [0.3, "
      "0.3, 0.5], radius: 0.2}}}]}\n"));
  assert_success(SceneRunStep(&flow, 20, 0.05));
  check_uniform(&flow, components, 1e-8);
  assert_success(SceneRunDestroy(&flow));
}

static PetscReal sample(SceneRun *flow, PetscInt field, Vector3 place)
{
  PetscReal      value = 0.;
  PetscErrorCode error = flow->fluid ? SceneRunSample(flow, field, place, &value) : 0;

  assert_success(error);
  assert_success(MPI_Bcast(&value, 1, MPIU_REAL, 0, PETSC_COMM_WORLD));
  return value;
}

/* Between a body and an obstacle of the same shape and motion: the mean on a circle of 1.75 radii about where
   it ends. */
static PetscReal difference_from_obstacle(int resolution, const char kind[], const char motion[],
                                          const char faces[], Vector3 centre)
{
  const PetscInt steps = resolution / 4, places = 64;
  PetscReal      sum = 0.;
  SceneRun       body, obstacle;

  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &body,
                                CHANNEL "solids: {bodies: [{name: disc, type: %s, " DISC "%s}]}\n",
                                resolution, kind, motion));
  assert_success(SceneRunCreate(PETSC_COMM_SELF, &obstacle,
                                CHANNEL "  obstacles: %s\n"
                                        "obstacles: [{name: disc, surface: slip, " DISC "%s}]\n",
                                resolution, faces, motion));
  assert_success(SceneRunStep(&body, steps, 0.2 / steps));
  assert_success(SceneRunStep(&obstacle, steps, 0.2 / steps));
  for (PetscInt n = 0; n < places; n++) {
    const PetscReal angle = 2. * PETSC_PI * n / places;
    const Vector3   place =
        vector3_add(centre, vector3(0.35 * PetscCosReal(angle), 0.35 * PetscSinReal(angle), 0.));

    sum += hypot(sample(&body, X, place) - sample(&obstacle, X, place),
                 sample(&body, Y, place) - sample(&obstacle, Y, place));
  }
  assert_success(SceneRunDestroy(&body));
  assert_success(SceneRunDestroy(&obstacle));
  return sum / places;
}

static void an_obstacle_is_a_static_body(void **state)
{
  (void)state;
  assert_near(difference_from_obstacle(24, "static", "", "cut", vector3(0.73, 0.47, 0.)), 0., 0.);
}

static void voxels_are_a_static_body_to_first_order(void **state)
{
  PetscReal difference[3];

  (void)state;
  for (int level = 0; level < 3; level++) {
    difference[level] =
        difference_from_obstacle(24 << level, "static", "", "voxels", vector3(0.73, 0.47, 0.));
    note("%d cells: %.4f", 24 << level, (double)difference[level]);
  }
  note("order %.2f", (double)(0.5 * order_between(difference[0], difference[2])));
  assert_on_all_ranks(0.5 * order_between(difference[0], difference[2]) > 0.7);
  assert_on_all_ranks(difference[2] < 0.1);
}

static void an_obstacle_that_moves_is_a_kinematic_body(void **state)
{
  const char     *motion = ", motion: {velocity: [0.5, 0.3]}";
  const PetscReal difference =
      difference_from_obstacle(24, "kinematic", motion, "cut", vector3(0.83, 0.53, 0.));

  (void)state;
  assert_near(difference, 0., 1e-9);
}

/* Where the fluid beside a disc that spins in its place is after a while, along it. */
static PetscReal dragged_along(const char surface[])
{
  SceneRun  flow;
  PetscReal speed;

  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, size: [1, 1], resolution: 32}\n"
                     "fluid: {density: 2, viscosity: 0.1}\n"
                     "obstacles: [{name: disc, surface: %s, shape: {sphere: {center: [0.51, 0.49], radius: "
                     "0.2}},\n"
                     "  motion: {pivot: [0.51, 0.49, 0], spin: [0, 0, 1]}}]\n",
                     surface));
  assert_success(SceneRunStep(&flow, 10, 0.05));
  speed = sample(&flow, Y, vector3(0.51 + 0.25, 0.49, 0.));
  note("%s: %.5f m/s beside it, torque %.2e N m", surface, (double)speed,
       (double)flow.simulation->coupled->loads[LOAD_VISCOSITY][DIM + Z]);
  assert_success(SceneRunDestroy(&flow));
  return speed;
}

static void a_slippery_obstacle_that_spins_moves_no_fluid(void **state)
{
  (void)state;
  assert_on_all_ranks(dragged_along("no-slip") > 0.1);
  assert_near(dragged_along("slip"), 0., 3e-3);
}

/* The weight of the fluid is held where a side is open, too. */
static void a_fluid_with_a_body_rests_beside_open_sides(void **state)
{
  SceneRun    flow;
  FluidTotals totals;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow, "%s",
                     "grid: {dimension: 2, size: [1, 1], resolution: 16}\n"
                     "fluid: {density: 2, viscosity: 0.1, gravity: [1, -9.81], pressure_tolerance: 1e-12,\n"
                     "  sides: {all: open, x_low: wall}}\n"
                     "solids: {bodies: [{name: disc, type: static, shape: {sphere: {center: [0.45, 0.52], "
                     "radius: 0.2}}}]}\n"));
  assert_success(SceneRunStep(&flow, 5, 0.05));
  if (flow.fluid) {
    assert_success(FluidGetTotals(flow.fluid, &totals));
    assert_near(totals.largest_speed, 0., 1e-9);
  }
  assert_near(flow.simulation->coupled->loads[LOAD_PRESSURE][Y], 2. * 9.81 * PETSC_PI * 0.04, 1e-5);
  assert_success(SceneRunDestroy(&flow));
}

/* Nothing is solved for where bodies are when all of them are led. */
static void the_way_of_led_bodies_costs_no_solve(void **state)
{
  static const char *const types[] = {"kinematic, motion: {velocity: [0.1, 0, 0]}",
                                      "dynamic, velocity: [0.1, 0, 0]"};
  SceneRun                 flow;

  (void)state;
  for (PetscInt n = 0; n < 2; n++) {
    assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, "%s" BALL ", type: %s}]}\n",
                                  CLOSED "solids: {bodies: [{name: ball, ", types[n]));
    assert_success(SceneRunStep(&flow, 1, 0.05));
    assert_on_all_ranks((flow.simulation->coupled->half_iterations > 0) == (n == 1));
    assert_success(SceneRunDestroy(&flow));
  }
}

static void a_kinematic_body_pushes_the_fluid_out_of_its_way(void **state)
{
  SceneRun flow;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow, "%s",
      CLOSED "solids: {bodies: [{name: ball, type: kinematic, " BALL
             ", motion: {pivot: [0.3, 0.375, 0.375], velocity: [0.5, 0, 0], spin: [0, 0, 2]}}]}\n"));
  assert_success(SceneRunStep(&flow, 8, 0.05));
  assert_on_all_ranks(sample(&flow, X, vector3(0.7, 0.375, 0.375)) > 0.1);
  assert_on_all_ranks(sample(&flow, X, vector3(0.5, 0.65, 0.375)) < -0.02);
  assert_near(sample(&flow, X, vector3(0.5, 0.375, 0.375)), 0.5, 1e-6); /* inside it */
  assert_success(SceneRunDestroy(&flow));
}

static void a_heavy_body_falls_more_slowly_than_in_a_void_and_drags_the_fluid(void **state)
{
  BodyView ball;
  SceneRun flow;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow, "%s",
      CLOSED "solids: {gravity: [1, 0, 0], bodies: [{name: ball, density: 3000, " BALL "}]}\n"));
  assert_success(SceneRunStep(&flow, 10, 0.05));
  ball = solid_body_view(simulation_solid(flow.simulation), 0);
  /* no gravity in the fluid: r / (r + c) of what a void gives, with c at least the 1/2 of an endless fluid */
  assert_on_all_ranks(ball.velocity.at[X] < 0.5 * 3. / 3.5 && ball.velocity.at[X] > 0.5 * 3. / 4.5);
  assert_near(ball.velocity.at[Y], 0., 1e-3);
  assert_on_all_ranks(sample(&flow, X, vector3(0.65, 0.375, 0.375)) > 0.05);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_body_that_drifts_with_the_flow_leaves_no_trace),
          cmocka_unit_test(a_ball_that_drifts_with_the_flow_leaves_no_trace),
          cmocka_unit_test(an_obstacle_is_a_static_body),
          cmocka_unit_test(voxels_are_a_static_body_to_first_order),
          cmocka_unit_test(an_obstacle_that_moves_is_a_kinematic_body),
          cmocka_unit_test(a_slippery_obstacle_that_spins_moves_no_fluid),
          cmocka_unit_test(a_fluid_with_a_body_rests_beside_open_sides),
          cmocka_unit_test(the_way_of_led_bodies_costs_no_solve),
          cmocka_unit_test(a_kinematic_body_pushes_the_fluid_out_of_its_way),
          cmocka_unit_test(a_heavy_body_falls_more_slowly_than_in_a_void_and_drags_the_fluid))
