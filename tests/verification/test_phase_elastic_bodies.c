/* Elastic liquids around obstacles and bodies (docs/numerics.md, 13a). */
#include "harness.h"
#include "scene_run.h"

#include "simulation/coupled_impl.h"

#define NOTHING(sphere)                                                                                      \
  "  - {name: nothing, type: empty, shape: {sphere: {center: " sphere ", radius: 1}}}\n"                     \
  "interfaces: {particles: 0}\n"

/* Oldroyd-B between a plate that fills the lower part of the box and a wall, driven by the force 1: its
   steady profile is that of a viscosity of 1. The velocity in the middle. */
static PetscReal SpeedOverPlate(const char obstacles[], PetscReal height, const char surface[],
                                Vector3 *force)
{
  PetscReal speed = 0.;
  Vector3   pressure[4];
  SceneRun  flow;

  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {dimension: 2, size: [0.25, 1], resolution: 8}\n"
      "run: {end_time: 20, frame_interval: 20}\n"
      "fluid: {body_force: [1, 0], viscosity_tolerance: 1e-10, obstacles: %s,\n"
      "  sides: {all: wall, x_low: periodic, x_high: periodic}}\n"
      "regions:\n"
      "  - {name: gel, density: 1, viscosity: 0.5, elasticity: {modulus: 5, relaxation: 0.1}}\n" NOTHING(
          "[50, 50]") "obstacles: [{name: plate, surface: %s, shape: {box: {low: [-1, -1], high: [2, "
                      "%g]}}}]\n",
      obstacles, surface, (double)height));
  assert_success(SceneRunStep(&flow, 300, 0.01));
  if (flow.fluid) {
    assert_success(SceneRunSample(&flow, X, vector3(0.125, 0.5 + 0.5 * height, 0.), &speed));
    assert_success(FluidGetForces(flow.fluid, pressure, force));
  }
  assert_success(SceneRunDestroy(&flow));
  return speed;
}

static void a_plate_bears_half_of_what_drives_the_liquid(void **state)
{
  const PetscReal gap = 0.75, exact = gap * gap / 8., weight = 0.5 * 0.25 * gap;
  Vector3         force[4];
  const PetscReal speed = SpeedOverPlate("voxels", 0.25, "no-slip", force);

  (void)state;
  note("%.5f of %.5f m/s; the plate bears %.6f of %.6f N", (double)speed, (double)exact,
       (double)force[0].at[X], (double)weight);
  assert_near(speed / exact, 1., 5e-3);
  assert_near(force[0].at[X] / weight, 1., 1e-4);
}

static void a_plate_lets_the_liquid_slip(void **state)
{
  const PetscReal gap = 0.75, exact = 3. * gap * gap / 8.;
  Vector3         force[4];
  const PetscReal speed = SpeedOverPlate("voxels", 0.25, "slip", force);

  (void)state;
  note("%.5f of %.5f m/s, %.1e N", (double)speed, (double)exact, (double)force[0].at[X]);
  assert_near(speed / exact, 1., 5e-3);
  assert_near(force[0].at[X], 0., 1e-12);
}

/* First order: strain is that of the cells, whatever part of them is liquid. */
static void plates_may_cut_cells(void **state)
{
  static const PetscReal heights[] = {0.25, 0.27, 0.3};

  (void)state;
  for (PetscInt n = 0; n < 3; n++) {
    const PetscReal gap = 1. - heights[n], exact = gap * gap / 8.;
    Vector3         force[4];
    const PetscReal speed = SpeedOverPlate("cut", heights[n], "no-slip", force);

    note("height %g m: %.5f of %.5f m/s", (double)heights[n], (double)speed, (double)exact);
    assert_near(speed / exact, 1., 0.02);
  }
}

/* What the liquid's stress, viscous and elastic, does to all that moves: the largest of all steps. */
static PetscReal LargestChange(SceneRun *flow, PetscInt steps)
{
  PetscReal largest = 0.;

  for (PetscInt step = 0; step < steps; step++) {
    Momentum momentum;

    assert_success(SceneRunStep(flow, 1, 0.01));
    momentum = flow->simulation->coupled->momentum;
    assert_success(MPI_Bcast(&momentum, (int)sizeof(momentum), MPI_BYTE, 0, PETSC_COMM_WORLD));
    for (PetscInt d = 0; d < DIM; d++)
      largest = PetscMax(largest, PetscAbsReal(momentum.changes[CHANGE_VISCOSITY][d]));
  }
  return largest;
}

static void liquid_and_bodies_keep_their_momentum(void **state)
{
  static const char *const models[] = {"oldroyd-b", "rotated-strain"};

  (void)state;
  for (PetscInt n = 0; n < 2; n++) {
    PetscReal change;
    SceneRun  flow;

    assert_success(SceneRunCreate(
        PETSC_COMM_WORLD, &flow,
        "grid: {dimension: 2, size: [1, 1], resolution: 24}\n"
        "run: {end_time: 1, frame_interval: 1}\n"
        "fluid: {sides: {all: periodic}, viscosity_tolerance: 1e-11,\n"
        "  initial: {velocity: [1 + 0.3*sin(2*pi*y), 0.5*sin(2*pi*x)]}}\n"
        "regions:\n"
        "  - {name: gel, density: 1000, elasticity: {model: %s, modulus: 3000, relaxation: 1}}\n" NOTHING(
            "[50, 50]") "solids:\n"
                        "  bodies:\n"
                        "    - {name: ball, density: 600, velocity: [0.5, 0],\n"
                        "       shape: {sphere: {center: [0.3, 0.3], radius: 0.15}}}\n"
                        "    - {name: block, density: 2000, spin: [0, 0, 2],\n"
                        "       shape: {box: {low: [0.55, 0.1], high: [0.9, 0.35]}}}\n",
        models[n]));
    change = LargestChange(&flow, 10);
    note("%s: %.2e of 1000 kg m/s", models[n], (double)change);
    assert_near(change, 0., 1e-6);
    assert_success(SceneRunDestroy(&flow));
  }
}

static void in_space_they_do_so_too(void **state)
{
  PetscReal change;
  SceneRun  flow;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {size: [1, 1, 1], resolution: 12}\n"
      "run: {end_time: 1, frame_interval: 1}\n"
      "fluid: {sides: {all: periodic}, viscosity_tolerance: 1e-11,\n"
      "  initial: {velocity: [0.3*sin(2*pi*y), 0.5*sin(2*pi*z), 0]}}\n"
      "regions:\n"
      "  - {name: gel, density: 1000, elasticity: {modulus: 3000, relaxation: 1}}\n" NOTHING(
          "[50, 50, 50]") "solids:\n"
                          "  bodies:\n"
                          "    - {name: ball, density: 1500, velocity: [0.5, 0, 0.2],\n"
                          "       shape: {sphere: {center: [0.4, 0.3, 0.5], radius: 0.25}}}\n"));
  change = LargestChange(&flow, 5);
  note("%.2e of 500 kg m/s", (double)change);
  assert_near(change, 0., 1e-6);
  assert_success(SceneRunDestroy(&flow));
}

/* A ball of twice the density in gel that does not flow: it sinks until the strain bears it. */
static void a_heavy_ball_hangs_in_gel(void **state)
{
  BodyView view;
  SceneRun flow;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {dimension: 2, size: [1, 1], resolution: 16}\n"
      "run: {end_time: 8, frame_interval: 8}\n"
      "fluid: {sides: {all: wall}, gravity: [0, -10], viscosity_tolerance: 1e-10}\n"
      "regions:\n"
      "  - {name: gel, density: 1000, viscosity: 300, elasticity: {modulus: 10000}}\n" NOTHING(
          "[50, 50]") "solids:\n"
                      "  gravity: [0, -10]\n"
                      "  bodies: [{name: ball, density: 2000, shape: {sphere: {center: [0.5, 0.5], radius: "
                      "0.15}}}]\n"));
  assert_success(SceneRunStep(&flow, 150, 0.02));
  view = solid_body_view(simulation_solid(flow.simulation), 0);
  note("%.5f m deeper, %.2e m/s", (double)(0.5 - view.position.at[Y]), (double)view.velocity.at[Y]);
  assert_on_all_ranks(0.5 - view.position.at[Y] > 1e-3 && 0.5 - view.position.at[Y] < 8e-3);
  assert_near(view.velocity.at[Y], 0., 2e-4);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(liquid_and_bodies_keep_their_momentum), cmocka_unit_test(in_space_they_do_so_too),
          cmocka_unit_test(a_plate_bears_half_of_what_drives_the_liquid),
          cmocka_unit_test(a_plate_lets_the_liquid_slip), cmocka_unit_test(plates_may_cut_cells),
          cmocka_unit_test(a_heavy_ball_hangs_in_gel))
