/* Fluid that is shut in (as D10, with rigid shells and pistons): nothing passes, the solve knows what it
   cannot determine, and what pushes in vain pushes for ever. */
#include "scene_run.h"
#include "harness.h"

#include "simulation/coupled_impl.h"

#define PLANE "grid: {dimension: 2, size: [1, 1], resolution: 32}\n"
#define SPACE "grid: {size: [1, 1, 1], resolution: 16}\n"
#define RUN "run: {end_time: 100, frame_interval: 100}\n"
#define DISC "shape: {sphere: {center: [0.47, 0.52], radius: 0.27}}"
#define BALL "shape: {sphere: {center: [0.47, 0.52, 0.5], radius: 0.27}}"

/* What the fluid inside and outside leaves of the volume that it holds, in parts of the box and step by step.
 */
static void shake(const char scene[], PetscInt steps, PetscReal dt, PetscInt null_vectors)
{
  PetscReal worst = 0., way = 0.;
  Vector3   before;
  SceneRun  flow;

  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, "%s", scene));
  before = solid_body_view(simulation_solid(flow.simulation), 0).position;
  for (PetscInt n = 0; n < steps; n++) {
    const CouplingReport *report = &flow.simulation->coupled->report;

    assert_success(SceneRunStep(&flow, 1, dt));
    assert_on_all_ranks(report->reason > 0);
    assert_on_all_ranks(report->null_vectors == null_vectors);
    worst = PetscMax(worst, dt * report->imbalance);
    way = PetscMax(way, vector3_norm(vector3_subtract(
                            solid_body_view(simulation_solid(flow.simulation), 0).position, before)));
  }
  note("%d steps, up to %.2f m away, volume lost at most %.1e m^3 in a step", (int)steps, (double)way,
       (double)worst);
  assert_near(worst, 0., 1e-10);
  assert_on_all_ranks(way > 0.05);
  assert_success(SceneRunDestroy(&flow));
}

#define KEYS                                                                                                 \
  "keyframes: [{time: 0}, {time: 0.2, translation: [0.12, 0.1, 0], rotation: [0, 0, 1]}, {time: 0.4, "       \
  "translation: [-0.1, 0.05, 0], rotation: [0, 0, -1]}, {time: 0.6, translation: [0.1, -0.12, 0]}]"

static void a_shell_that_is_shaken_keeps_its_fluid(void **state)
{
  (void)state;
  shake(PLANE RUN "fluid: {density: 1000, viscosity: 1}\n"
                  "solids: {bodies: [{name: shell, type: kinematic, thickness: 0.01, " DISC
                  ", motion: {pivot: [0.47, 0.52], " KEYS "}}]}\n",
        60, 0.01, 2);
  shake(SPACE RUN "fluid: {density: 1000, viscosity: 1}\n"
                  "solids: {bodies: [{name: shell, type: kinematic, thickness: 0.01, " BALL
                  ", motion: {pivot: [0.47, 0.52, 0.5], " KEYS "}}]}\n",
        30, 0.02, 2);
}

static void a_shell_that_is_pushed_keeps_its_fluid(void **state)
{
  (void)state;
  shake(PLANE RUN
        "fluid: {density: 1000, viscosity: 1}\n"
        "solids: {bodies: [{name: shell, thickness: 0.01, force: [300, 100, 0], torque: [0, 0, 20], " DISC
        "}]}\n",
        60, 0.02, 2);
  shake(SPACE RUN
        "fluid: {density: 1000, sides: {z_high: open}}\n"
        "solids: {bodies: [{name: shell, thickness: 0.01, force: [60, 20, 10], torque: [0, 1, 3], " BALL
        "}]}\n",
        25, 0.03, 1);
}

static PetscReal velocity_inside(SceneRun *flow, PetscInt direction, Vector3 place)
{
  PetscReal      value = 0.;
  PetscErrorCode error = flow->fluid ? SceneRunSample(flow, direction, place, &value) : 0;

  assert_success(error);
  assert_success(MPI_Bcast(&value, 1, MPIU_REAL, 0, PETSC_COMM_WORLD));
  return value;
}

/* From rest and without viscosity: everything inside has the velocity of the shell. */
static void a_shell_takes_its_fluid_along(void **state)
{
  BodyView shell;
  SceneRun flow;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow, "%s",
      PLANE RUN "fluid: {density: 1000}\n"
                "solids: {bodies: [{name: shell, thickness: 0.01, force: [300, 100, 0], " DISC "}]}\n"));
  assert_success(SceneRunStep(&flow, 10, 0.02));
  shell = solid_body_view(simulation_solid(flow.simulation), 0);
  for (PetscInt n = 0; n < 5; n++)
    for (PetscInt d = 0; d < 2; d++) {
      const Vector3 place = vector3_add(
          shell.position, vector3(0.1 * (n == 1) - 0.1 * (n == 2), 0.1 * (n == 3) - 0.1 * (n == 4), 0.));

      assert_near(velocity_inside(&flow, d, place), shell.velocity.at[d],
                  0.05 * vector3_norm(shell.velocity));
    }
  assert_success(SceneRunDestroy(&flow));
}

#define PISTON                                                                                               \
  "solids: {walls: false, bodies: [{name: piston, density: 3000, force: [500, 0, 0], shape: {box: {low: "    \
  "[0.43, -0.1], high: [0.58, 1.1]}}}]}\n"

static BodyView push_piston(const char sides[], PetscInt steps, SceneRun *flow)
{
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, flow, PLANE RUN "fluid: {density: 1000%s}\n" PISTON, sides));
  assert_success(SceneRunStep(flow, steps, 0.01));
  return solid_body_view(simulation_solid(flow->simulation), 0);
}

static void a_piston_between_two_full_chambers_stays(void **state)
{
  SceneRun flow;
  BodyView piston = push_piston("", 20, &flow);

  (void)state;
  note("piston: %.1e m/s, %" PetscInt_FMT " null vectors", (double)piston.velocity.at[X],
       flow.simulation->coupled->report.null_vectors);
  assert_near(piston.velocity.at[X], 0., 1e-10);
  assert_near(piston.position.at[X], 0.505, 1e-10);
  assert_int_equal(flow.simulation->coupled->report.null_vectors, 1);
  /* the pressures hold it */
  assert_near(flow.simulation->coupled->loads[LOAD_PRESSURE][X], -500., 1e-4);
  assert_success(SceneRunDestroy(&flow));
}

/* All of the water moves with it: F = (mass of piston and water) a. Its own mass reaches beyond the box. */
static void a_piston_in_an_open_channel_moves_with_its_water(void **state)
{
  const PetscReal mass = 3000. * 0.15 * 1.2 + 1000. * 0.85, speed = 500. / mass * 0.2;
  SceneRun        flow;
  BodyView        piston = push_piston(", sides: {x_low: open, x_high: open}", 20, &flow);

  (void)state;
  note("piston: %.8f m/s, wanted %.8f", (double)piston.velocity.at[X], (double)speed);
  assert_near(piston.velocity.at[X], speed, 1e-3 * speed);
  assert_near(velocity_inside(&flow, X, vector3(0.2, 0.5, 0.)), piston.velocity.at[X], 1e-6);
  assert_near(velocity_inside(&flow, X, vector3(0.8, 0.3, 0.)), piston.velocity.at[X], 1e-6);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_shell_that_is_shaken_keeps_its_fluid),
          cmocka_unit_test(a_shell_that_is_pushed_keeps_its_fluid),
          cmocka_unit_test(a_shell_takes_its_fluid_along),
          cmocka_unit_test(a_piston_between_two_full_chambers_stays),
          cmocka_unit_test(a_piston_in_an_open_channel_moves_with_its_water))
