/* The scenes of inputs/liquids on small grids: each caption as a number. */
#include "harness.h"
#include "liquid.h"
#include "prosperetti.h"
#include "simulation/simulation_impl.h"

/* No bodies: every rank is one of the fluid. */
static const PhaseReport *report_of(const SceneRun *flow)
{
  return phase_report(simulation_phase(flow->simulation));
}

/* Largest change of the volume of any of the first `count` regions, over what it was. */
static PetscReal largest_change(const SceneRun *flow, const PhaseReport *first, PetscInt count)
{
  PetscReal largest = 0.;

  for (PetscInt n = 0; n < count; n++)
    largest = PetscMax(largest, PetscAbsReal(report_of(flow)->volume[n] / first->volume[n] - 1.));
  return largest;
}

/* S1: the front of Martin and Moyce goes from 1.44 to 2.56 widths of the column in T = 1.01. */
static void a_dam_breaks_as_fast_as_measured(void **state)
{
  const PetscReal width = 0.05715, scale = PetscSqrtReal(2. * 9.81 / width);
  PetscReal       began = 0., front, dt = 0.;
  PhaseReport     first;
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "liquids/dam-break", 96, NULL));
  first = *report_of(&flow);
  do {
    assert_success(SimulationGetTimeStep(flow.simulation, 0.4, &dt));
    assert_success(SceneRunStep(&flow, 1, dt));
    assert_success(RegionEnd(&flow, 0, X, 1, vector3(0., 0., 0.), &front));
    began = front < 1.44 * width ? simulation_time(flow.simulation) : began;
  } while (front < 2.56 * width && simulation_time(flow.simulation) < 0.4);
  note("dam-break: 1.12 widths in T = %.2f (measured 1.01), volume changed by %.2f %%",
       (double)(scale * (simulation_time(flow.simulation) - began)),
       100. * (double)largest_change(&flow, &first, 1));
  assert_near(scale * (simulation_time(flow.simulation) - began), 1.01, 0.15);
  assert_near(largest_change(&flow, &first, 1), 0., 0.01);
  assert_success(SceneRunDestroy(&flow));
}

/* M1: the reference (MooNMD) has the centre at 1.08175 in the end, and a least circularity of 0.901. */
static void a_bubble_rises_as_published(void **state)
{
  PhaseReport first;
  PetscReal   round;
  SceneRun    flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "liquids/rising-bubble", 20, NULL));
  first = *report_of(&flow);
  assert_success(SceneRunUntil(&flow, 3.));
  round = 2. * PetscSqrtReal(PETSC_PI * report_of(&flow)->volume[0]) / report_of(&flow)->surface[0];
  note("rising-bubble: centre at 3 s %.4f (1.08175), circularity %.3f, volume changed by %.2f %%",
       (double)report_of(&flow)->centre[0].at[Y], (double)round,
       100. * (double)largest_change(&flow, &first, 1));
  assert_near(report_of(&flow)->centre[0].at[Y], 1.08175, 0.015);
  assert_on_all_ranks(round > 0.88 && round < 0.95);
  assert_near(report_of(&flow)->centre[0].at[X], 0.5, 0.2 * grid_spacing(flow.grid));
  assert_near(largest_change(&flow, &first, 1), 0., 0.02);
  assert_success(SceneRunDestroy(&flow));
}

/* S5: after half a period, 0.40090 s, crests are troughs. */
static void a_standing_wave_turns_over_in_half_a_period(void **state)
{
  const PetscReal half = 0.40090037;
  PetscReal       height[3];
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "liquids/standing-wave", 32, NULL));
  for (PetscInt n = 0; n < 3; n++) {
    if (n > 0)
      assert_success(SceneRunUntil(&flow, n * half));
    assert_success(RegionEnd(&flow, 0, Y, 1, vector3(0., 0., 0.), &height[n]));
  }
  note("standing-wave: at the wall %.5f, %.5f, %.5f m", (double)height[0], (double)height[1],
       (double)height[2]);
  assert_near((height[1] - 0.5) / (height[0] - 0.5), -1., 0.1);
  assert_near((height[2] - 0.5) / (height[0] - 0.5), 1., 0.1);
  assert_success(SceneRunDestroy(&flow));
}

/* M5: the wave goes through zero near the 26th sample of the table, and is highest on the other side at the
   50th. The table has no signs. */
static void a_capillary_wave_is_damped_as_in_theory(void **state)
{
  const PetscInt  sample[] = {26, 50};
  const PetscReal sign[] = {1., -1.};
  PetscReal       first, height;
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "liquids/capillary-wave", 32, NULL));
  assert_success(RegionEnd(&flow, 0, Y, 1, vector3(0., 0., 0.), &first));
  for (PetscInt n = 0; n < 2; n++) {
    const PetscReal exact = sign[n] * wave_equal_densities[sample[n]];

    assert_success(
        SceneRunUntil(&flow, sample[n] * wave_step / PetscSqrtReal(PetscPowRealInt(2. * PETSC_PI, 3) / 2.)));
    assert_success(RegionEnd(&flow, 0, Y, 1, vector3(0., 0., 0.), &height));
    note("capillary-wave: %.4f (%.4f) of the first height", (double)(height / first), (double)exact);
    assert_near(height / first, exact, 0.03);
  }
  assert_success(SceneRunDestroy(&flow));
}

/* How far tops have risen at the wall, far from the ball. */
static void measure_rise(SceneRun *flow, PetscInt count, const PetscReal before[], PetscReal rise[])
{
  for (PetscInt n = 0; n < count; n++) {
    assert_success(RegionEnd(flow, n, Y, 1, vector3(0., 0., 0.), &rise[n]));
    rise[n] -= before[n];
  }
}

/* Fig. 4.1. The ball is deepest from 0.4 s to 0.6 s, 0.13 m above the floor, and out again at 1 s. */
static void a_ball_goes_through_all_layers(void **state)
{
  enum { OIL, WATER, SYRUP, LAYERS };
  const PetscReal top[LAYERS] = {0.48, 0.36, 0.2}, centre[LAYERS] = {0.42, 0.28, 0.1};
  PhaseReport     first;
  PetscReal       rise[LAYERS];
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "liquids/layered-splash", 30, NULL));
  first = *report_of(&flow);
  assert_success(SceneRunUntil(&flow, 0.45));
  measure_rise(&flow, LAYERS, top, rise);
  note("layered-splash: tops raised at the wall by %.4f, %.4f, %.4f m", (double)rise[OIL],
       (double)rise[WATER], (double)rise[SYRUP]);
  assert_on_all_ranks(rise[OIL] > 0.01 && rise[WATER] > 0.008 && rise[SYRUP] > 0.004);
  assert_success(SceneRunUntil(&flow, 1.4));
  for (PetscInt n = OIL; n < LAYERS; n++) {
    note("layered-splash: centre of %s at 1.4 s %.4f m, volume changed by %.2f %%",
         scene_config(flow.scene)->phases.regions[n].name, (double)report_of(&flow)->centre[n].at[Y],
         100. * (double)(report_of(&flow)->volume[n] / first.volume[n] - 1.));
    assert_near(report_of(&flow)->centre[n].at[Y], centre[n], 0.01);
  }
  assert_near(largest_change(&flow, &first, LAYERS), 0., 0.04);
  assert_success(SceneRunDestroy(&flow));
}

/* Difference of the light layer's top between a crest and a trough. */
static PetscReal measure_wave(SceneRun *flow, PetscInt light)
{
  PetscReal crest, trough;

  assert_success(RegionEnd(flow, light, Y, 1, vector3(0.5, 0., 0.5), &crest));
  assert_success(RegionEnd(flow, light, Y, 1, vector3(0.5, 0., 0.), &trough));
  return crest - trough;
}

/* Fig. 4.5. Linear theory for k = 2 pi sqrt(2), Atwood number 0.2, layers of 0.25 m, damped by the mean
   viscosity; the perturbation starts from rest, so that it grows as cosh. */
static void two_layers_change_places(void **state)
{
  enum { BOTTOM, LIGHT, HEAVY, TOP, LAYERS };
  const PetscReal k = 2. * PETSC_PI * PetscSqrtReal(2.), loss = 5. / 1000. * k * k;
  const PetscReal rate = PetscSqrtReal(0.2 * 9.81 * k * PetscTanhReal(0.25 * k) + loss * loss) - loss;
  PetscReal       before, grown;
  PhaseReport     first;
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "liquids/rayleigh-taylor", 24, NULL));
  first = *report_of(&flow);
  before = measure_wave(&flow, LIGHT);
  assert_success(SceneRunUntil(&flow, 0.4));
  /* interfaces are half a step behind */
  grown = PetscAcoshReal(measure_wave(&flow, LIGHT) / before) / (0.4 - 0.5 * flow.simulation->dt);
  assert_success(SceneRunUntil(&flow, 1.8));
  note("rayleigh-taylor: rate %.2f (%.2f) /s; then centres at %.3f (light), %.3f (heavy), volumes within "
       "%.2f %%",
       (double)grown, (double)rate, (double)report_of(&flow)->centre[LIGHT].at[Y],
       (double)report_of(&flow)->centre[HEAVY].at[Y], 100. * (double)largest_change(&flow, &first, LAYERS));
  assert_near(grown / rate, 1., 0.1);
  assert_on_all_ranks(first.centre[LIGHT].at[Y] + 0.2 < first.centre[HEAVY].at[Y]);
  assert_on_all_ranks(report_of(&flow)->centre[LIGHT].at[Y] > report_of(&flow)->centre[HEAVY].at[Y] + 0.2);
  assert_near(largest_change(&flow, &first, LAYERS), 0., 0.02);
  assert_success(SceneRunDestroy(&flow));
}

/* Width of the gap between two regions where it is least, in cells; no more than about a band. */
static PetscReal least_gap(SceneRun *flow, PetscInt a, PetscInt b)
{
  const GridBox   *box = grid_box(flow->grid);
  PetscReal        least = -PETSC_MAX_REAL;
  const PetscReal *first, *second;
  Vec              distance[2];

  assert_success(PhaseGetDistance(simulation_phase(flow->simulation), a, &distance[0]));
  assert_success(PhaseGetDistance(simulation_phase(flow->simulation), b, &distance[1]));
  assert_success(VecGetArrayRead(distance[0], &first));
  assert_success(VecGetArrayRead(distance[1], &second));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    least = PetscMax(least, -(first[c] + second[c]));
  }
  assert_success(VecRestoreArrayRead(distance[0], &first));
  assert_success(VecRestoreArrayRead(distance[1], &second));
  assert_success(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  return -least / grid_spacing(flow->grid);
}

/* Fig. 4.7: neighbours stay together, and the thinner drags the thicker along. */
static void thin_liquids_run_ahead(void **state)
{
  enum { HONEY = 2, LIQUIDS = 4 };
  const PetscReal width = 0.2; /* of each, along z */
  PhaseReport     first;
  PetscReal       front[LIQUIDS], near_side, far_side;
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "liquids/incline-viscosities", 40, NULL));
  first = *report_of(&flow);
  assert_success(SceneRunUntil(&flow, 0.24));
  for (PetscInt n = 0; n < LIQUIDS; n++) {
    assert_success(RegionReach(&flow, n, X, 1, &front[n]));
    note("incline-viscosities: front of %s at %.3f m, volume changed by %.2f %%",
         scene_config(flow.scene)->phases.regions[n].name, (double)front[n],
         100. * (double)(report_of(&flow)->volume[n] / first.volume[n] - 1.));
  }
  for (PetscInt n = 1; n < LIQUIDS; n++) {
    assert_on_all_ranks(front[n - 1] > front[n] + grid_spacing(flow.grid));
    assert_on_all_ranks(least_gap(&flow, n - 1, n) < 0.1);
  }
  assert_success(RegionEnd(&flow, HONEY, X, 1, vector3(0., 0.05, 2.1 * width), &near_side));
  assert_success(RegionEnd(&flow, HONEY, X, 1, vector3(0., 0.05, 2.9 * width), &far_side));
  note("incline-viscosities: honey at %.3f m beside oil, %.3f m beside tar", (double)near_side,
       (double)far_side);
  assert_on_all_ranks(near_side > far_side + 0.25 * grid_spacing(flow.grid));
  assert_near(largest_change(&flow, &first, LIQUIDS), 0., 0.05);
  assert_success(SceneRunDestroy(&flow));
}

/* Fig. 4.10. */
static void a_light_and_a_heavy_drop_meet(void **state)
{
  enum { LIGHT, HEAVY, DROPS };
  PhaseReport first, middle;
  PetscReal   gap[2];
  SceneRun    flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "liquids/drops", 28, NULL));
  first = *report_of(&flow);
  gap[0] = least_gap(&flow, LIGHT, HEAVY);
  assert_success(SceneRunUntil(&flow, 0.4));
  middle = *report_of(&flow);
  assert_success(SceneRunUntil(&flow, 1.2));
  gap[1] = least_gap(&flow, LIGHT, HEAVY);
  note("drops: centres at 0.4 s %.3f, %.3f m, at 1.2 s %.3f, %.3f m; gap of %.2f, then %.2f cells; volumes "
       "within %.2f %%",
       (double)middle.centre[LIGHT].at[Y], (double)middle.centre[HEAVY].at[Y],
       (double)report_of(&flow)->centre[LIGHT].at[Y], (double)report_of(&flow)->centre[HEAVY].at[Y],
       (double)gap[0], (double)gap[1], 100. * (double)largest_change(&flow, &first, DROPS));
  assert_on_all_ranks(middle.centre[LIGHT].at[Y] > first.centre[LIGHT].at[Y] + 0.05);
  assert_on_all_ranks(middle.centre[HEAVY].at[Y] < first.centre[HEAVY].at[Y] - 0.05);
  assert_on_all_ranks(gap[0] > 3. && gap[1] < 0.1);
  assert_near(largest_change(&flow, &first, DROPS), 0., 0.05);
  assert_success(SceneRunDestroy(&flow));
}

/* Largest difference between the level sets of the water, m. */
static PetscReal jets_differ(SceneRun *a, SceneRun *b)
{
  PetscReal norm;
  Vec       first, second, difference;

  assert_success(PhaseGetDistance(simulation_phase(a->simulation), 0, &first));
  assert_success(PhaseGetDistance(simulation_phase(b->simulation), 0, &second));
  assert_success(VecDuplicate(first, &difference));
  assert_success(VecWAXPY(difference, -1., first, second));
  assert_success(VecNorm(difference, NORM_INFINITY, &norm));
  assert_success(VecDestroy(&difference));
  assert_success(MPI_Allreduce(MPI_IN_PLACE, &norm, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  return norm;
}

/* Fig. 4.8. Steps of one size, since the speed of the gas limits them. */
static void compare_jets(const char dimension[], PetscInt cells, PetscInt steps, PetscReal dt)
{
  const char *const kind[] = {"regions.1.type=one-way", "regions.1.type=one-way", "regions.1.type=simulated"};
  const char *const density[] = {"regions.1.density=1.2", "regions.1.density=120", "regions.1.density=120"};
  FluidTotals       gas;
  SceneRun          flow[3];
  PetscReal         h;

  for (PetscInt n = 0; n < 3; n++) {
    assert_success(
        SceneRunOpen(&flow[n], "liquids/air-coupling", cells, dimension, kind[n], density[n], NULL));
    assert_success(SceneRunStep(&flow[n], steps, dt));
  }
  h = grid_spacing(flow[0].grid);
  assert_success(FluidGetTotals(flow[0].simulation->gas, &gas));
  note("air-coupling, %s: jets differ by %.2e cells one-way, %.2f cells two-way; gas moves at %.2f m/s",
       dimension, (double)(jets_differ(&flow[0], &flow[1]) / h),
       (double)(jets_differ(&flow[0], &flow[2]) / h), (double)gas.largest_speed);
  assert_on_all_ranks(jets_differ(&flow[0], &flow[1]) <= 1e-9 * h);
  assert_on_all_ranks(jets_differ(&flow[0], &flow[2]) > h);
  assert_on_all_ranks(gas.largest_speed > 0.5);
  for (PetscInt n = 0; n < 3; n++)
    assert_success(SceneRunDestroy(&flow[n]));
}

static void a_jet_feels_the_air_only_if_both_ways(void **state)
{
  (void)state;
  compare_jets("grid.dimension=2", 48, 75, 0.004);
}

static void so_does_a_round_jet(void **state)
{
  (void)state;
  compare_jets("grid.dimension=3", 24, 45, 0.0065);
}

TEST_MAIN(cmocka_unit_test(a_dam_breaks_as_fast_as_measured), cmocka_unit_test(a_bubble_rises_as_published),
          cmocka_unit_test(a_standing_wave_turns_over_in_half_a_period),
          cmocka_unit_test(a_capillary_wave_is_damped_as_in_theory),
          cmocka_unit_test(a_ball_goes_through_all_layers), cmocka_unit_test(two_layers_change_places),
          cmocka_unit_test(thin_liquids_run_ahead), cmocka_unit_test(a_light_and_a_heavy_drop_meet),
          cmocka_unit_test(a_jet_feels_the_air_only_if_both_ways), cmocka_unit_test(so_does_a_round_jet))
