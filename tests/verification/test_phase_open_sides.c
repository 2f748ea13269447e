/* Open sides: what flows in is what the scene names, liquid leaves and does not come back, and the weight of
   what lies outside is felt. */
#include "harness.h"
#include "liquid.h"
#include "regions.h"
#include "simulation/simulation_impl.h"

static const PhaseReport *report_of(const SceneRun *flow)
{
  return phase_report(simulation_phase(flow->simulation));
}

static Vector3 drifting(Vector3 point)
{
  (void)point;
  return vector3(1., 0., 0.);
}

/* A strip of region a beside the side through which everything drifts in, the rest b. */
static void start_strip(PetscInt outer, VolumeCorrection volume, Regions *regions)
{
  Shape strip;
  char  message[512];

  regions_prepare(2, 32, regions);
  regions->config.volume = volume;
  regions->outer = 1 + outer;
  assert_success(ShapeCreateBox(vector3(-1., -1., -1.), vector3(0.4, 2., 1.), &strip));
  regions_add(regions, &strip);
  regions_add(regions, NULL)->kind = REGION_EMPTY;
  assert_success(RegionsStart(PETSC_COMM_WORLD, regions, message, sizeof(message)));
  assert_on_all_ranks(!message[0]);
  assert_success(RegionsSetVelocity(regions, drifting));
}

static void advance(Regions *regions, PetscInt steps, PetscReal time)
{
  for (PetscInt s = 0; s < steps; s++)
    assert_success(PhaseAdvance(regions->phase, regions->velocity, NULL, time / steps));
}

/* Steps of a tenth of a cell and of nearly a whole one: what has flowed in is not forgotten between them. */
static void what_flows_in_is_the_region_outside(void **state)
{
  const PetscInt  steps[] = {96, 12};
  const PetscReal time = 0.3;

  (void)state;
  for (PetscInt n = 0; n < 4; n++) {
    const PhaseReport *report;
    Regions            regions;

    start_strip(n / 2, n % 2 ? VOLUME_KEPT : VOLUME_FREE, &regions);
    report = phase_report(regions.phase);
    advance(&regions, steps[n % 2], time);
    note("outside is %s: area %.5f, centre %.5f", n / 2 ? "nothing" : "more of it", (double)report->volume[0],
         (double)report->centre[0].at[X]);
    assert_near(report->volume[0], n / 2 ? 0.4 : 0.4 + time, 1e-3);
    assert_near(report->centre[0].at[X], n / 2 ? 0.2 + time : 0.5 * (0.4 + time), 1e-3);
    assert_success(RegionsDestroy(&regions));
  }
}

/* The strip goes through the whole box and out on the other side. */
static void what_leaves_is_gone(void **state)
{
  const PhaseReport *report;
  Regions            regions;

  (void)state;
  start_strip(1, VOLUME_KEPT, &regions);
  report = phase_report(regions.phase);
  advance(&regions, 40, 0.8);
  note("half of the strip has left: area %.5f", (double)report->volume[0]);
  assert_near(report->volume[0], 0.2, 2e-3);
  advance(&regions, 15, 0.3);
  assert_near(report->volume[0], 0., 1e-9);
  assert_success(RegionsDestroy(&regions));
}

/* A drop whose upper half is outside, under gravity: the largest area until the end, over the first. */
static void assert_does_not_grow(const char air[], const char body[], PetscReal time)
{
  PetscReal first, most;
  SceneRun  flow;

  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, size: [1, 1], resolution: 32}\n"
                     "run: {end_time: 10, frame_interval: 10}\n"
                     "fluid: {gravity: [0, -9.81], sides: {all: slip, y_high: open}, %s}\n"
                     "regions:\n"
                     "  - {name: water, density: 1000, shape: {sphere: {center: [0.5, 1], radius: 0.2}}}\n"
                     "  - {name: air, %s}\n",
                     body, air));
  first = most = report_of(&flow)->volume[0];
  while (simulation_time(flow.simulation) < time) {
    PetscReal dt = 0.;

    assert_success(SimulationGetTimeStep(flow.simulation, 10., &dt));
    assert_success(SceneRunStep(&flow, 1, dt));
    most = PetscMax(most, report_of(&flow)->volume[0]);
  }
  note("%s: area %.5f of the first, at most %.5f, centre at %.3f m", air,
       (double)(report_of(&flow)->volume[0] / first), (double)(most / first),
       (double)report_of(&flow)->centre[0].at[Y]);
  assert_on_all_ranks(most < 1.02 * first);
  assert_success(SceneRunDestroy(&flow));
}

/* It falls 0.31 m. */
static void a_drop_that_hangs_outside_does_not_grow(void **state)
{
  (void)state;
  assert_does_not_grow("type: empty", "cfl: 0.9", 0.25);
  assert_does_not_grow("density: 1.2", "cfl: 0.9", 0.25);
}

/* At 2 m/s upwards it would be back after 0.41 s. */
static void a_jet_out_of_the_top_does_not_come_back(void **state)
{
  (void)state;
  assert_does_not_grow("type: empty", "initial: {velocity: [0, 2]}", 0.6);
}

/* A tank beside a reservoir: at rest at its level; from below it is filled. */
static void a_reservoir_holds_its_level(void **state)
{
  const PetscReal level[] = {0.52, 0.65};

  (void)state;
  for (PetscInt n = 0; n < 2; n++) {
    PetscReal speed, first;
    SceneRun  flow;

    assert_success(SceneRunCreate(
        PETSC_COMM_WORLD, &flow,
        "grid: {dimension: 2, size: [1, 1], resolution: 16}\n"
        "run: {end_time: 10, frame_interval: 10}\n"
        "fluid: {gravity: [0, -1], pressure_tolerance: 1e-12,\n"
        "  sides: {all: slip, x_high: {type: open, region: water, level: %g}, y_high: open}}\n"
        "regions:\n"
        "  - {name: water, density: 1000, viscosity: 1, shape: {box: {low: [-1, -1], high: [2, 0.52]}}}\n"
        "  - {name: air, type: empty}\n",
        (double)level[n]));
    first = report_of(&flow)->volume[0];
    assert_success(SceneRunStep(&flow, 50, 0.02));
    assert_success(LargestSpeed(&flow, &speed));
    note("level %g: speed after 1 s %.2e m/s, area %.5f, was %.5f", (double)level[n], (double)speed,
         (double)report_of(&flow)->volume[0], (double)first);
    if (n == 0) {
      assert_on_all_ranks(speed < 1e-8);
      assert_near(report_of(&flow)->volume[0], first, 1e-8);
    } else
      assert_on_all_ranks(report_of(&flow)->volume[0] > first + 0.05);
    assert_success(SceneRunDestroy(&flow));
  }
}

/* Kept volumes count what a source lets in beside a wall, where the pouring itself changes nothing. */
static void what_a_source_brings_is_kept(void **state)
{
  SceneRun  flow;
  PetscReal volume = 0., first = 0.;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {dimension: 2, size: [1, 0.5], resolution: 32}\n"
      "run: {end_time: 1, frame_interval: 1, largest_time_step: 0.02}\n"
      "fluid: {sides: {all: slip, x_high: open}}\n"
      "regions:\n"
      "  - {name: a, density: 1000, viscosity: 1, shape: {box: {low: [-1, -1], high: [0.1, 0.25]}}}\n"
      "  - {name: b, density: 1000}\n"
      "inflows: [{name: in, shape: {box: {low: [-1, -1], high: [0.09375, 0.25]}}, velocity: [0.2, 0], "
      "region: a}]\n"
      "interfaces: {volume: kept}\n"));
  if (flow.fluid)
    first = phase_report(simulation_phase(flow.simulation))->volume[0];
  assert_success(SceneRunUntil(&flow, 1.));
  if (flow.fluid)
    volume = phase_report(simulation_phase(flow.simulation))->volume[0];
  note("%.5f of %.5f m^2 have come in", (double)(volume - first), 0.2 * 0.25);
  assert_on_all_ranks(!flow.fluid || PetscAbsReal((volume - first) / (0.2 * 0.25) - 1.) < 0.02);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(what_a_source_brings_is_kept),
          cmocka_unit_test(what_flows_in_is_the_region_outside), cmocka_unit_test(what_leaves_is_gone),
          cmocka_unit_test(a_drop_that_hangs_outside_does_not_grow),
          cmocka_unit_test(a_jet_out_of_the_top_does_not_come_back),
          cmocka_unit_test(a_reservoir_holds_its_level))
