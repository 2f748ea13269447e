/* Meshes that meet each other in a fluid: they press and rub by Coulomb's law within its solve, keep their
   momentum, and never pass through each other. */
#include "scene_run.h"
#include "harness.h"

static PetscReal record_of(SceneRun *flow, const char name[])
{
  PetscReal value;

  assert_success(SimulationGetRecord(flow->simulation, name, &value));
  return value;
}

static SolidReport report_of(SceneRun *flow)
{
  return solid_report(simulation_solid(flow->simulation));
}

/* A block in water lies on one that is held, along which gravity pulls it. */
static void open_slope(SceneRun *flow, PetscReal degrees, PetscReal mu)
{
  const PetscReal slope = degrees * PETSC_PI / 180.;

  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, flow,
      "grid: {size: [1.2, 0.9, 0.8], resolution: 12}\n"
      "run: {end_time: 10, frame_interval: 1, time_step: 0.01}\n"
      "fluid: {density: 1000, gravity: [%g, %g, 0], sides: {all: slip}}\n"
      "solids:\n"
      "  materials: [{name: jelly, young: 1e6, poisson: 0.3, density: 4000, damping: 0.05}]\n"
      "  meshes:\n"
      "    - {name: slope, shape: {box: {low: [0.1, 0.05, 0.15], high: [1.1, 0.25, 0.65]}}, edge: 0.2, "
      "material: jelly, friction: %g, contact_thickness: 0.02, held: [{inside: {box: {low: [0, 0, 0], high: "
      "[2, 2, 2]}}}]}\n"
      "    - {name: block, shape: {box: {low: [0.31, 0.27, 0.22], high: [0.71, 0.52, 0.58]}}, edge: 0.18, "
      "material: jelly, friction: %g, contact_thickness: 0.02}\n",
      (double)(9.81 * PetscSinReal(slope)), (double)(-9.81 * PetscCosReal(slope)), (double)mu, (double)mu));
}

/* All that contact gives goes to the block: its pressing, and its friction. */
static void a_block_on_a_block_sticks_or_slides(void **state)
{
  const PetscReal mu = 0.3, dt = 0.01;

  (void)state;
  for (int slides = 0; slides < 2; slides++) {
    PetscReal press, rub, speed;
    SceneRun  flow;

    open_slope(&flow, slides ? 30. : 10., mu);
    assert_success(SceneRunStep(&flow, 20, dt));
    press = record_of(&flow, "contact_momentum_y");
    rub = -record_of(&flow, "contact_momentum_x");
    speed = record_of(&flow, "solid_momentum_x") / (4000. * 0.4 * 0.25 * 0.36);
    note("%g degrees: %.5f m/s after 0.2 s, rub %.4f of press %.3f N s", slides ? 30. : 10., (double)speed,
         (double)(rub / press), (double)press);
    assert_near(record_of(&flow, "mesh_crossings"), 0., 0.);
    assert_near(record_of(&flow, "mesh_zones"), 0., 0.);
    if (slides) {
      assert_near(rub, mu * press, 0.05 * mu * press);
      assert_on_all_ranks(speed > 0.1);
    } else {
      assert_near(press, dt * 9.81 * PetscCosReal(10. * PETSC_PI / 180.) * 3000. * 0.4 * 0.25 * 0.36,
                  0.05 * press);
      assert_near(speed, 0., 2e-3);
    }
    assert_success(SceneRunDestroy(&flow));
  }
}

/* Two soft balls and a cloth between them in a box without ends and without gravity. */
static void what_meets_keeps_its_momentum(void **state)
{
  static const char *const contact[] = {"contact_momentum_x", "contact_momentum_y", "contact_momentum_z"};
  PetscReal                most = 0., impulse = 0.;
  SceneRun                 flow;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {size: [1, 1, 1], resolution: 10}\n"
      "run: {end_time: 10, frame_interval: 10, time_step: 0.02}\n"
      "fluid: {density: 1000, sides: {all: periodic}}\n"
      "coupling: {tolerance: 1e-10}\n"
      "solids:\n"
      "  materials:\n"
      "    - {name: heavy, young: 1e5, poisson: 0.4, density: 3000, damping: 0.02}\n"
      "    - {name: canvas, young: 1e6, poisson: 0.3, density: 1500, damping: 0.01}\n"
      "  meshes:\n"
      "    - {name: lower, shape: {sphere: {center: [0.47, 0.27, 0.5], radius: 0.2}}, edge: 0.14, "
      "material: heavy, contact_thickness: 0.02, velocity: [0, 1, 0]}\n"
      "    - {name: upper, shape: {sphere: {center: [0.53, 0.75, 0.5], radius: 0.2}}, edge: 0.14, "
      "material: heavy, contact_thickness: 0.02, velocity: [0, -1, 0]}\n"
      "    - {name: cloth, type: cloth, sheet: {origin: [0.3, 0.51, 0.3], along: [0.4, 0, 0], across: [0, 0, "
      "0.4]}, edge: 0.1, thickness: 0.002, material: canvas, contact_thickness: 0.02}\n"));
  for (PetscInt n = 0; n < 12; n++) {
    assert_success(SceneRunStep(&flow, 1, 0.02));
    for (PetscInt d = 0; d < DIM; d++)
      impulse = PetscMax(impulse, PetscAbsReal(record_of(&flow, contact[d])));
    most = PetscMax(most, record_of(&flow, "mesh_pairs"));
    assert_near(record_of(&flow, "mesh_crossings"), 0., 0.);
  }
  note("%.0f pairs at most; contact changes the momentum by %.2g N s of %.3g", (double)most, (double)impulse,
       (double)(3000. * 0.0335));
  assert_on_all_ranks(most > 20.);
  assert_on_all_ranks(impulse < 1e-11);
  assert_success(SceneRunDestroy(&flow));
}

/* A cloth that sinks onto a ball hangs over it and over itself. */
static void a_cloth_sinks_onto_a_ball(void **state)
{
  PetscReal most = 0., iterations = 0., gap;
  SceneRun  flow;
  enum { STEPS = 60 };

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {size: [0.8, 0.8, 0.8], resolution: 12}\n"
      "run: {end_time: 10, frame_interval: 10, time_step: 0.02}\n"
      "fluid: {density: 1000, viscosity: 1, gravity: [0, -9.81, 0], sides: {all: slip}}\n"
      "solids:\n"
      "  materials:\n"
      "    - {name: jelly, young: 1e5, poisson: 0.4, density: 1500, damping: 0.02}\n"
      "    - {name: canvas, young: 1e5, poisson: 0.3, density: 3000, damping: 0.01}\n"
      "  meshes:\n"
      "    - {name: ball, shape: {sphere: {center: [0.41, 0.16, 0.4], radius: 0.15}}, edge: 0.1, material: "
      "jelly, contact_thickness: 0.02, friction: 0.2}\n"
      "    - {name: cloth, type: cloth, sheet: {origin: [0.15, 0.36, 0.14], along: [0.5, 0, 0], across: [0, "
      "0, "
      "0.5]}, edge: 0.06, thickness: 0.003, material: canvas, contact_thickness: 0.015, friction: 0.2}\n"));
  for (PetscInt n = 0; n < STEPS; n++) {
    assert_success(SceneRunStep(&flow, 1, 0.02));
    most = PetscMax(most, record_of(&flow, "mesh_pairs"));
    iterations += record_of(&flow, "coupled_iterations") / STEPS;
    assert_near(record_of(&flow, "mesh_crossings"), 0., 0.);
  }
  gap = report_of(&flow).largest_penetration;
  note("%.0f pairs at most, %.0f iterations on the average, %.2g m into the floor", (double)most,
       (double)iterations, (double)gap);
  assert_on_all_ranks(most > 20. && iterations < 60.);
  assert_near(gap, 0., 1e-3);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_block_on_a_block_sticks_or_slides),
          cmocka_unit_test(what_meets_keeps_its_momentum), cmocka_unit_test(a_cloth_sinks_onto_a_ball))
