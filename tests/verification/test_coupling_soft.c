/* Deformable solids in a fluid: a stiff ball rises like a rigid one, and one that weighs as much as the fluid
   stays where it is. */
#include "scene_run.h"
#include "harness.h"

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

/* Contact in a fluid is not solved for: the step that would lead into the floor is not taken. */
static void a_heavy_ball_stops_the_run_at_the_floor(void **state)
{
  PetscBool good = PETSC_TRUE;
  PetscReal dt;
  SceneRun  flow;

  (void)state;
  open_soft(&flow, 1e5, 8000.);
  for (PetscInt n = 0; n < 200 && good; n++) {
    assert_success(SimulationGetTimeStep(flow.simulation, 10., &dt));
    assert_success(SimulationTryStep(flow.simulation, &dt, &good));
  }
  note("stopped at %.3f s", (double)simulation_time(flow.simulation));
  assert_false(good);
  assert_true(simulation_time(flow.simulation) > 0.1); /* 0.27 m at less than g */
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_stiff_ball_rises_like_a_rigid_one),
          cmocka_unit_test(a_ball_of_water_stays_where_it_is),
          cmocka_unit_test(a_heavy_ball_stops_the_run_at_the_floor))
