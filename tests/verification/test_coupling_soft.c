/* Deformable solids in a fluid: a stiff ball rises like a rigid one, one that weighs as much as the fluid
   stays where it is, and pressure makes it smaller. */
#include "scene_run.h"
#include "harness.h"

#include <millrace/fluid_step.h>

/* A closed box of water with a ball of this density. */
#define TANK                                                                                                 \
  "grid: {size: [1, 1.5, 1], resolution: 12}\n"                                                              \
  "run: {end_time: 10, frame_interval: 1}\n"                                                                 \
  "fluid: {density: 1000, gravity: [0, -9.81, 0], sides: {all: slip}}\n"                                     \
  "coupling: {tolerance: 1e-9}\n"

static void open_soft(SceneRun *flow, PetscReal young, PetscReal density)
{
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, flow,
      TANK "solids:\n"
           "  elasticity: explicit\n"
           "  materials: [{name: jelly, young: %g, poisson: 0.4, density: %g}]\n"
           "  meshes:\n"
           "    - {name: ball, shape: {sphere: {center: [0.51, 0.52, 0.5], radius: 0.25}}, edge: 0.13, "
           "material: jelly}\n",
      (double)young, (double)density));
}

static SolidReport report_of(SceneRun *flow)
{
  return solid_report(simulation_solid(flow->simulation));
}

/* Of a momentum that grows with time, by least squares: elastic waves go to and fro meanwhile. */
static PetscReal acceleration_of(SceneRun *flow, PetscReal mass, PetscReal until)
{
  PetscReal sum = 0., squares = 0.;

  for (PetscInt n = 1; n <= 20; n++) {
    const PetscReal time = until * (PetscReal)n / 20.;

    assert_success(SceneRunUntil(flow, time));
    sum += time * report_of(flow).momentum.at[Y];
    squares += time * time;
  }
  return sum / (mass * squares);
}

/* The rigid one has the volume of the tetrahedra. */
static void a_stiff_ball_rises_like_a_rigid_one(void **state)
{
  const PetscReal density = 500., until = 0.05;
  PetscReal       volume, soft, rigid;
  SceneRun        flow;

  (void)state;
  open_soft(&flow, 1e6, density);
  volume = report_of(&flow).volume;
  soft = acceleration_of(&flow, density * volume, until);
  assert_near(report_of(&flow).volume, volume, 1e-5 * volume); /* the box is full */
  assert_success(SceneRunDestroy(&flow));
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      TANK "solids:\n"
           "  bodies:\n"
           "    - {name: ball, density: %g, shape: {sphere: {center: [0.51, 0.52, 0.5], radius: %.10g}}}\n",
      (double)density, (double)PetscPowReal(0.75 * volume / PETSC_PI, 1. / 3.)));
  rigid = acceleration_of(&flow, density * volume, until);
  note("%.4f m/s^2, rigid %.4f", (double)soft, (double)rigid);
  assert_near(soft, rigid, 0.01 * rigid);
  assert_success(SceneRunDestroy(&flow));
}

/* Pressure and gravity leave no force on all of it. At first it is not strained, and then goes to and fro
   about the strain that it rests with. */
static void a_ball_of_water_stays_where_it_is(void **state)
{
  SceneRun  flow;
  PetscReal acceleration;

  (void)state;
  open_soft(&flow, 1e6, 1000.);
  acceleration = acceleration_of(&flow, 1000. * report_of(&flow).volume, 0.05);
  note("%.4f m/s^2, det F %.5f", (double)acceleration, (double)report_of(&flow).least_ratio);
  assert_near(acceleration, 0., 0.01 * 9.81);
  assert_near(report_of(&flow).least_ratio, 1., 0.003);
  assert_success(SceneRunDestroy(&flow));
}

/* An open tank of water with a ball of its density. */
typedef struct {
  const char *elasticity, *solver;
  PetscReal   young, density, damping;
  PetscReal   step; /* s; 0: as it comes */
} OpenTank;

static void open_tank(SceneRun *flow, const OpenTank *tank)
{
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, flow,
      "grid: {size: [1, 1.5, 1], resolution: 12}\n"
      "run: {end_time: 10, frame_interval: 1, time_step: %g}\n"
      "fluid: {density: 1000, gravity: [0, -9.81, 0], sides: {all: slip, y_high: open}}\n"
      "coupling: {tolerance: 1e-8, solver: %s}\n"
      "solids:\n"
      "  elasticity: %s\n"
      "  materials: [{name: jelly, young: %g, poisson: 0.4, density: %g, damping: %g}]\n"
      "  meshes:\n"
      "    - {name: ball, shape: {sphere: {center: [0.51, 0.52, 0.5], radius: 0.25}}, edge: 0.13, "
      "material: jelly}\n",
      (double)tank->step, tank->solver, tank->elasticity, (double)tank->young, (double)tank->density,
      (double)tank->damping));
}

/* By p / K, once it has come to rest, whatever its damping: that does not act against what pressure does. */
static void pressure_makes_a_ball_smaller(void **state)
{
  const OpenTank tanks[] = {{"newmark", "schur", 1e6, 1000., 0., 0.01},
                            {"newmark", "minres", 1e6, 1000., 0.03, 0.01},
                            {"auto", "minres", 3e5, 1000., 0.03, 0.01},
                            {"explicit", "schur", 1e6, 1000., 0.005, 0.}};

  (void)state;
  for (size_t n = 0; n < sizeof(tanks) / sizeof(tanks[0]); n++) {
    const PetscReal bulk = tanks[n].young / (3. * (1. - 2. * 0.4)), until = tanks[n].step > 0. ? 0.3 : 0.1;
    PetscReal       volume, smaller, deep, expected;
    SceneRun        flow;

    open_tank(&flow, &tanks[n]);
    volume = report_of(&flow).volume;
    assert_success(SceneRunUntil(&flow, until));
    smaller = 1. - report_of(&flow).volume / volume;
    deep = 1.5 + report_of(&flow).potential_energy / (-9.81 * 1000. * volume);
    expected = 1000. * 9.81 * deep / bulk;
    note("%s, damping %g: smaller by %.5f, %.5f expected", tanks[n].elasticity, (double)tanks[n].damping,
         (double)smaller, (double)expected);
    assert_near(smaller, expected, 0.02 * expected);
    assert_success(SceneRunDestroy(&flow));
  }
}

static PetscReal record_of(SceneRun *flow, const char name[])
{
  PetscReal value;

  assert_success(SimulationGetRecord(flow->simulation, name, &value));
  return value;
}

/* It bears what the water does not. */
static void a_heavy_ball_comes_to_rest_on_the_floor(void **state)
{
  const PetscReal dt = 0.02, g = 9.81;
  PetscReal       mass, expected, iterations = 0.;
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {size: [1, 1, 1], resolution: 12}\n"
      "run: {end_time: 10, frame_interval: 1, time_step: %g}\n"
      "fluid: {density: 1000, gravity: [0, %g, 0], sides: {all: slip}}\n"
      "solids:\n"
      "  materials: [{name: jelly, young: 1e5, poisson: 0.4, density: 3000, damping: 0.2}]\n"
      "  meshes:\n"
      "    - {name: ball, shape: {sphere: {center: [0.51, 0.3, 0.5], radius: 0.25}}, edge: 0.13, "
      "material: jelly}\n",
      (double)dt, (double)-g));
  mass = 3000. * report_of(&flow).volume;
  for (PetscInt n = 0; n < 60; n++) {
    assert_success(SceneRunStep(&flow, 1, dt));
    iterations += record_of(&flow, "coupled_iterations") / 60.;
  }
  expected = dt * g * (mass - 1000. * report_of(&flow).volume);
  note("the floor bears %.4f, the rest of the weight is %.4f N s; %.0f iterations per step",
       (double)record_of(&flow, "contact_momentum_y"), (double)expected, (double)iterations);
  assert_near(record_of(&flow, "contact_momentum_y"), expected, 0.01 * expected);
  assert_near(report_of(&flow).largest_penetration, 0., 1e-4 * 0.13);
  assert_near(report_of(&flow).largest_speed, 0., 0.01);
  assert_on_all_ranks(iterations <= 35.);
  assert_success(SceneRunDestroy(&flow));
}

/* A block on a floor that is inclined by 10 degrees stays where it is, by 30 degrees it slides under the
   friction that presses and rubs. */
static void a_block_under_water_sticks_or_slides(void **state)
{
  const PetscReal dt = 0.01, mu = 0.3;

  (void)state;
  for (int slides = 0; slides < 2; slides++) {
    const PetscReal slope = (slides ? 30. : 10.) * PETSC_PI / 180.;
    PetscReal       speed;
    SceneRun        flow;

    assert_success(SceneRunCreate(
        PETSC_COMM_WORLD, &flow,
        "grid: {size: [1.2, 0.8, 0.8], resolution: 12}\n"
        "run: {end_time: 10, frame_interval: 1, time_step: %g}\n"
        "fluid: {density: 1000, gravity: [%g, %g, 0], sides: {all: slip}}\n"
        "solids:\n"
        "  materials: [{name: jelly, young: 1e6, poisson: 0.3, density: 4000, damping: 0.05}]\n"
        "  meshes:\n"
        "    - {name: block, shape: {box: {low: [0.3, 0, 0.2], high: [0.7, 0.25, 0.6]}}, edge: 0.14, "
        "material: jelly, friction: %g}\n",
        (double)dt, (double)(9.81 * PetscSinReal(slope)), (double)(-9.81 * PetscCosReal(slope)), (double)mu));
    assert_success(SceneRunStep(&flow, 20, dt));
    speed = report_of(&flow).momentum.at[X] / (4000. * report_of(&flow).volume);
    note("%g degrees: %.5f m/s after 0.2 s, rub %.4f of press", slides ? 30. : 10., (double)speed,
         (double)(-record_of(&flow, "contact_momentum_x") / record_of(&flow, "contact_momentum_y")));
    if (slides) {
      assert_near(record_of(&flow, "contact_momentum_x"), -mu * record_of(&flow, "contact_momentum_y"),
                  0.05 * mu * record_of(&flow, "contact_momentum_y"));
      assert_on_all_ranks(speed > 0.1);
    } else
      assert_near(speed, 0., 1e-3);
    assert_success(SceneRunDestroy(&flow));
  }
}

/* A rigid ball, and a mesh as stiff, beside each other in mirrored places. */
static void a_stiff_ball_moves_like_a_rigid_one_beside_it(void **state)
{
  const PetscReal radius = 0.2, density = 500., dt = 0.005, time = 0.05;
  PetscReal       soft[DIM], rigid[DIM], volume;
  BodyView        body;
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {size: [1.2, 1, 0.8], resolution: 18}\n"
      "run: {end_time: 10, frame_interval: 1, time_step: %g}\n"
      "fluid: {density: 1000, gravity: [0, -9.81, 0], sides: {all: slip}}\n"
      "solids:\n"
      "  materials: [{name: stone, young: 1e8, poisson: 0.3, density: %g}]\n"
      "  bodies:\n"
      "    - {name: rigid, density: %g, shape: {sphere: {center: [0.35, 0.4, 0.4], radius: %g}}}\n"
      "  meshes:\n"
      "    - {name: soft, shape: {sphere: {center: [0.85, 0.4, 0.4], radius: %g}}, edge: 0.08, "
      "material: stone}\n",
      (double)dt, (double)density, (double)density, (double)radius, (double)radius));
  volume = report_of(&flow).volume;
  assert_success(SceneRunUntil(&flow, time));
  body = solid_body_view(simulation_solid(flow.simulation), 0);
  for (PetscInt d = 0; d < DIM; d++) {
    rigid[d] = body.velocity.at[d];
    soft[d] = (report_of(&flow).momentum.at[d] -
               density * 4. / 3. * PETSC_PI * radius * radius * radius * rigid[d]) /
              (density * volume);
  }
  note("they rise with %.4f and %.4f m/s, and part with %.5f and %.5f m/s", (double)rigid[Y], (double)soft[Y],
       (double)-rigid[X], (double)soft[X]);
  assert_near(soft[Y], rigid[Y], 0.02 * rigid[Y]);
  assert_near(soft[X], -rigid[X], 0.02 * rigid[Y]);
  assert_success(SceneRunDestroy(&flow));
}

/* Of water that moves, a body and a mesh; pressure and viscosity act between them alone. */
static void all_of_them_keep_their_momentum(void **state)
{
  SceneRun  flow;
  PetscReal scale, worst = 0., viscous = 0., summed = 0.;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {size: [1, 1, 1], resolution: 12}\n"
      "run: {end_time: 10, frame_interval: 1, time_step: 0.01}\n"
      "fluid: {density: 1000, viscosity: 10, viscosity_tolerance: 1e-10, initial: {velocity: "
      "[\"sin(2*pi*y)\", \"cos(2*pi*z)\", "
      "\"sin(2*pi*x)\"]}, "
      "sides: {all: periodic}}\n"
      "coupling: {tolerance: 1e-12}\n"
      "solids:\n"
      "  materials: [{name: jelly, young: 1e5, poisson: 0.4, density: 400, damping: 0.002}]\n"
      "  bodies:\n"
      "    - {name: stone, density: 2000, shape: {sphere: {center: [0.72, 0.7, 0.7], radius: 0.18}}}\n"
      "  meshes:\n"
      "    - {name: ball, shape: {sphere: {center: [0.31, 0.32, 0.3], radius: 0.2}}, edge: 0.11, "
      "material: jelly, velocity: [0.3, 0, 0]}\n"));
  scale = 0.5 * 1000.; /* of the water's speed */
  for (PetscInt n = 0; n < 20; n++) {
    const PetscReal before = record_of(&flow, "total_momentum_x");

    assert_success(SceneRunStep(&flow, 1, 0.01));
    worst = PetscMax(worst, PetscAbsReal(record_of(&flow, "pressure_momentum_x")));
    worst = PetscMax(worst, PetscAbsReal(record_of(&flow, "pressure_momentum_y")));
    worst = PetscMax(worst, PetscAbsReal(record_of(&flow, "forces_momentum_z")));
    viscous = PetscMax(viscous, PetscAbsReal(record_of(&flow, "viscosity_momentum_x")));
    summed = PetscMax(
        summed, PetscAbsReal(
                    record_of(&flow, "total_momentum_x") - before - record_of(&flow, "advection_momentum_x") -
                    record_of(&flow, "viscosity_momentum_x") - record_of(&flow, "forces_momentum_x") -
                    record_of(&flow, "pressure_momentum_x") - record_of(&flow, "contact_momentum_x")));
  }
  note("pressure changes it by %.2g at most, viscosity by %.2g, parts add up to %.2g", (double)worst,
       (double)viscous, (double)summed);
  assert_near(viscous, 0., 1e-10 * scale);
  assert_near(worst, 0., 1e-10 * scale);
  assert_near(summed, 0., 1e-10 * scale);
  assert_success(SceneRunDestroy(&flow));
}

/* Holds a ball in syrup. */
#define SYRUP                                                                                                \
  "grid: {size: [1, 1.25, 1], resolution: 12}\n"                                                             \
  "run: {end_time: 10, frame_interval: 1, time_step: 0.02}\n"                                                \
  "fluid: {density: 1000, viscosity: %g, gravity: [0, -9.81, 0], sides: {all: wall}}\n"                      \
  "coupling: {tolerance: 1e-8}\n"

/* Viscosity holds a mesh as it holds a body, and what the ledger says that the fluid does to it is what
   changes its momentum. Explicit steps would be much smaller. */
static void a_stiff_ball_sinks_in_syrup_like_a_rigid_one(void **state)
{
  const PetscReal density = 2000., dt = 0.02, viscosity = 50.;
  PetscReal       volume, soft = 0., rigid, slipping = 0., before, force;
  SceneRun        flow;

  (void)state;
  for (int slips = 0; slips < 2; slips++) {
    assert_success(SceneRunCreate(
        PETSC_COMM_WORLD, &flow,
        SYRUP "solids:\n"
              "  elasticity: newmark\n"
              "  materials: [{name: jelly, young: 1e6, poisson: 0.4, density: %g}]\n"
              "  meshes:\n"
              "    - {name: ball, shape: {sphere: {center: [0.51, 0.83, 0.5], radius: 0.25}}, edge: 0.13, "
              "material: jelly, surface: %s}\n",
        (double)viscosity, (double)density, slips ? "slip" : "no-slip"));
    volume = report_of(&flow).volume;
    assert_success(SceneRunStep(&flow, 9, dt));
    before = report_of(&flow).momentum.at[Y];
    assert_success(SceneRunStep(&flow, 1, dt));
    slipping = report_of(&flow).momentum.at[Y] / (density * volume);
    if (!slips)
      soft = slipping;
    force = record_of(&flow, "pressure_force_ball_y") + record_of(&flow, "viscous_force_ball_y") -
            9.81 * density * volume;
    note("viscous force %.4f N", (double)record_of(&flow, "viscous_force_ball_y"));
    assert_near(report_of(&flow).momentum.at[Y] - before, dt * force, 1e-6 * 9.81 * dt * density * volume);
    assert_success(SceneRunDestroy(&flow));
  }
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      SYRUP "solids:\n"
            "  bodies:\n"
            "    - {name: ball, density: %g, shape: {sphere: {center: [0.51, 0.83, 0.5], radius: %.10g}}}\n",
      (double)viscosity, (double)density, (double)PetscPowReal(0.75 * volume / PETSC_PI, 1. / 3.)));
  assert_success(SceneRunStep(&flow, 10, dt));
  rigid = solid_body_view(simulation_solid(flow.simulation), 0).velocity.at[Y];
  assert_success(SceneRunDestroy(&flow));
  note("%.4f m/s, rigid %.4f, slipping %.4f", (double)soft, (double)rigid, (double)slipping);
  assert_near(soft, rigid, 0.02 * PetscAbsReal(rigid));
  assert_on_all_ranks(PetscAbsReal(slipping) > 1.2 * PetscAbsReal(rigid));
}

/* What drifts with the stream is not accelerated, inside the ball neither. */
static void a_ball_drifts_with_the_stream(void **state)
{
  PetscReal largest = 0., norm;
  SceneRun  flow;
  Vec      *acceleration;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {size: [1, 1, 1], resolution: 12}\n"
      "run: {end_time: 10, frame_interval: 1}\n"
      "fluid: {density: 1000, viscosity: 1, initial: {velocity: [1, 0.5, 0]}, sides: {all: periodic}}\n"
      "coupling: {tolerance: 1e-10}\n"
      "solids:\n"
      "  gravity: [0, 0, 0]\n"
      "  elasticity: explicit\n"
      "  materials: [{name: jelly, young: 1e5, poisson: 0.4, density: 500}]\n"
      "  meshes:\n"
      "    - {name: ball, shape: {sphere: {center: [0.51, 0.52, 0.5], radius: 0.25}}, edge: 0.13, "
      "material: jelly, velocity: [1, 0.5, 0]}\n"));
  for (PetscInt n = 0; n < 3; n++) {
    assert_success(SceneRunStep(&flow, 1, 0.01));
    for (PetscInt d = 0; d < DIM && flow.fluid; d++) {
      assert_success(FluidGetAcceleration(flow.fluid, &acceleration));
      assert_success(VecNorm(acceleration[d], NORM_INFINITY, &norm));
      largest = PetscMax(largest, norm);
    }
  }
  note("drifting ball: accelerations of %.1e m/s^2 at most", (double)largest);
  assert_on_all_ranks(largest < 1e-6);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_stiff_ball_rises_like_a_rigid_one),
          cmocka_unit_test(a_ball_of_water_stays_where_it_is),
          cmocka_unit_test(pressure_makes_a_ball_smaller),
          cmocka_unit_test(a_heavy_ball_comes_to_rest_on_the_floor),
          cmocka_unit_test(a_block_under_water_sticks_or_slides),
          cmocka_unit_test(a_stiff_ball_moves_like_a_rigid_one_beside_it),
          cmocka_unit_test(all_of_them_keep_their_momentum),
          cmocka_unit_test(a_stiff_ball_sinks_in_syrup_like_a_rigid_one),
          cmocka_unit_test(a_ball_drifts_with_the_stream))
