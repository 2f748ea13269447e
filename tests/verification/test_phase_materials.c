/* Materials over time: a change acts in the step that begins at its time, and a step ends there. */
#include "harness.h"
#include "scene_run.h"

#include <millrace/fluid.h>
#include <millrace/phase.h>

static PetscReal kinetic_energy(SceneRun *flow)
{
  FluidTotals totals;

  if (!flow->fluid)
    return 0.;
  assert_success(FluidGetTotals(flow->fluid, &totals));
  return totals.kinetic_energy;
}

#define DISK "shape: {sphere: {center: [0.5, 0.5], radius: 0.2}}"
#define BOX "grid: {dimension: 2, size: [1, 1], resolution: 24}\n"

/* A disk in a liquid under gravity, density 1000 but for what is given. */
static void StartDisk(const char disk[], SceneRun *flow)
{
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, flow,
                                BOX "run: {end_time: 1, frame_interval: 1, time_step: 0.01}\n"
                                    "fluid: {gravity: [0, -9.81], pressure_tolerance: 1e-12}\n"
                                    "regions:\n"
                                    "  - {name: disk, " DISK ", density: %s}\n"
                                    "  - {name: water, density: 1000}\n",
                                disk));
}

/* Nothing moves before, and the first step afterwards is the first one of a disk that was light from the
   start, but for the steps of its interface at rest, which redistancing lets be to 3e-4. */
static void a_density_acts_in_the_step_that_begins_with_it(void **state)
{
  SceneRun  flipped, light;
  PetscReal before, after, expected;

  (void)state;
  StartDisk("1000, changes: [{time: 0.025, density: 500}]", &flipped);
  assert_success(SceneRunUntil(&flipped, 0.02));
  assert_near(simulation_time(flipped.simulation), 0.02, 1e-15);
  assert_success(SceneRunUntil(&flipped, 0.025));
  before = kinetic_energy(&flipped);
  assert_success(SceneRunUntil(&flipped, 0.035));
  after = kinetic_energy(&flipped);
  assert_success(SceneRunDestroy(&flipped));
  StartDisk("500", &light);
  assert_success(SceneRunUntil(&light, 0.01));
  expected = kinetic_energy(&light);
  assert_success(SceneRunDestroy(&light));
  note("before %.3e J, after %.6e J, light from the start %.6e J", (double)before, (double)after,
       (double)expected);
  assert_near(before, 0., 1e-18);
  assert_on_all_ranks(expected > 0.);
  assert_near(after / expected, 1., 1e-3);
}

/* Whatever size the steps have, and at a frame as well. */
static void a_step_ends_where_a_material_changes(void **state)
{
  const PetscReal times[] = {0.0123, 0.0371, 0.05};
  SceneRun        flow;
  PetscInt        met = 0;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                BOX
                                "run: {end_time: 0.1, frame_interval: 0.05, largest_time_step: 0.004}\n"
                                "fluid: {gravity: [0, -9.81]}\n"
                                "regions:\n"
                                "  - {name: disk, " DISK ", density: 1000,\n"
                                "     changes: [{time: 0.0123, density: 900}, {time: 0.05, type: empty}]}\n"
                                "  - {name: water, density: 1000}\n"
                                "interfaces: {tensions: [{first: disk, second: water, tension: 0.1,\n"
                                "  from: 0.0123, until: 0.0371}]}\n"));
  while (simulation_time(flow.simulation) < 0.06) {
    PetscReal dt, now;

    assert_success(SimulationGetTimeStep(flow.simulation, 0.1, &dt));
    assert_success(SceneRunStep(&flow, 1, dt));
    now = simulation_time(flow.simulation);
    assert_on_all_ranks(met == 3 || now <= times[met] + 1e-15);
    if (met < 3 && PetscAbsReal(now - times[met]) < 1e-15)
      met++;
  }
  assert_int_equal(met, 3);
  assert_success(SceneRunDestroy(&flow));
}

/* Pressure at the bottom, and the largest speed at `time`. */
static PetscReal SampleBottom(SceneRun *flow, PetscReal time)
{
  PetscReal pressure = 0.;

  assert_success(SceneRunUntil(flow, time));
  if (flow->fluid)
    assert_success(SceneRunSample(flow, FIELD_PRESSURE, vector3(0.5, 0.5 / 16., 0.), &pressure));
  assert_success(MPI_Bcast(&pressure, 1, MPIU_REAL, 0, PETSC_COMM_WORLD));
  return pressure;
}

/* Half a metre of water under nothing, under half a metre of oil, under syrup, under nothing. */
static void what_was_empty_weighs_from_its_time_on_and_nothing_moves(void **state)
{
  const PetscReal g = 9.81, h = 1. / 16., water = 1000. * g * (0.5 - 0.5 * h);
  SceneRun        flow;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, size: [1, 1], resolution: 16}\n"
                     "run: {end_time: 1, frame_interval: 1, time_step: 0.01}\n"
                     "fluid: {gravity: [0, -9.81], pressure_tolerance: 1e-13,\n"
                     "  sides: {all: wall, y_high: open}}\n"
                     "regions:\n"
                     "  - {name: water, density: 1000, shape: {box: {low: [-1, -1], high: [2, 0.5]}}}\n"
                     "  - {name: oil, type: empty, changes: [{time: 0.05, type: simulated, density: 800},\n"
                     "     {time: 0.1, density: 900, viscosity: 50}, {time: 0.15, type: empty}]}\n"));
  assert_near(SampleBottom(&flow, 0.05) / water, 1., 1e-6);
  assert_near(SampleBottom(&flow, 0.1) - SampleBottom(&flow, 0.1), 0., 0.);
  assert_near(SampleBottom(&flow, 0.1) / (water + 800. * g * 0.5), 1., 1e-6);
  assert_near(SampleBottom(&flow, 0.15) / (water + 900. * g * 0.5), 1., 1e-6);
  assert_near(SampleBottom(&flow, 0.2) / water, 1., 1e-6);
  note("kinetic energy after four materials: %.2e J", (double)kinetic_energy(&flow));
  assert_near(kinetic_energy(&flow), 0., 1e-12);
  assert_success(SceneRunDestroy(&flow));
}

/* Pressure in the middle of the disk less that in a corner. */
static PetscReal SampleDisk(SceneRun *flow, PetscReal time)
{
  PetscReal values[2] = {0., 0.};

  assert_success(SceneRunUntil(flow, time));
  if (flow->fluid)
    for (PetscInt n = 0; n < 2; n++)
      assert_success(SceneRunSample(flow, FIELD_PRESSURE, n ? vector3(0.1, 0.1, 0.) : vector3(0.5, 0.5, 0.),
                                    &values[n]));
  assert_success(MPI_Bcast(values, 2, MPIU_REAL, 0, PETSC_COMM_WORLD));
  return values[0] - values[1];
}

static void a_tension_acts_from_and_until_its_times(void **state)
{
  SceneRun flow;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                BOX "run: {end_time: 1, frame_interval: 1, time_step: 0.001}\n"
                                    "fluid: {pressure_tolerance: 1e-12}\n"
                                    "regions:\n"
                                    "  - {name: disk, " DISK ", density: 1000}\n"
                                    "  - {name: water, density: 1000}\n"
                                    "interfaces: {tensions: [{first: disk, second: water, tension: 0.2,\n"
                                    "  from: 0.003, until: 0.006}]}\n"));
  assert_near(SampleDisk(&flow, 0.003), 0., 1e-9);
  assert_near(SampleDisk(&flow, 0.004), 1., 0.02); /* sigma / R */
  assert_near(SampleDisk(&flow, 0.006), 1., 0.02);
  assert_near(SampleDisk(&flow, 0.007), 0., 1e-3); /* what little it has set in motion */
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_density_acts_in_the_step_that_begins_with_it),
          cmocka_unit_test(a_step_ends_where_a_material_changes),
          cmocka_unit_test(what_was_empty_weighs_from_its_time_on_and_nothing_moves),
          cmocka_unit_test(a_tension_acts_from_and_until_its_times))
