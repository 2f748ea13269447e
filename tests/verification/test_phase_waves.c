/* Small waves against linear theory: gravity on a free surface (S5), surface tension between two liquids
   (M5). */
#include "harness.h"
#include "waves.h"

static PetscReal highest_between(const WaveHistory *history, PetscReal from, PetscReal until)
{
  PetscReal highest = 0.;

  for (PetscInt n = 0; n < history->count; n++)
    if (history->time[n] >= from && history->time[n] <= until)
      highest = PetscMax(highest, history->height[n]);
  return highest;
}

/* Wavelength 1, depth 0.5. */
static void RunGravityWave(PetscInt cells, PetscReal *period_error, PetscReal *loss)
{
  const PetscReal    period = 0.80180074, dt = period / (3. * cells);
  static WaveHistory history;
  SceneRun           flow;

  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {dimension: 2, size: [1, 0.75], resolution: %d}\n"
                                "run: {end_time: 10, frame_interval: 10}\n"
                                "fluid: {gravity: [0, -9.81], pressure_tolerance: 1e-9,\n"
                                "  sides: {all: slip, y_high: open}}\n"
                                "regions:\n"
                                "  - {name: water, density: 1000,\n"
                                "     shape: {formula: {value: y - 0.5 - 0.005*cos(2*pi*x)}}}\n"
                                "  - {name: air, type: empty}\n",
                                (int)cells));
  assert_success(WaveRecord(&flow, 0.5, 2.1 * period, dt, &history));
  assert_success(SceneRunDestroy(&flow));
  *period_error = PetscAbsReal((wave_crossing(&history, 2) - wave_crossing(&history, 0)) / period - 1.);
  *loss = 1. - highest_between(&history, 1.75 * period, 2.1 * period) /
                   highest_between(&history, 0.75 * period, 1.25 * period);
}

static void a_standing_wave_has_the_period_of_linear_theory(void **state)
{
  PetscReal error[2], loss[2];

  (void)state;
  for (PetscInt level = 0; level < 2; level++) {
    RunGravityWave(32 << level, &error[level], &loss[level]);
    note("S5, %d cells per wavelength: period off by %.3f %%, amplitude lost per period %.2f %%", 32 << level,
         100. * (double)error[level], 100. * (double)loss[level]);
  }
  assert_on_all_ranks(error[0] <= 0.01 && error[1] <= 0.003);
  assert_on_all_ranks(loss[0] <= 0.03 && loss[1] <= 0.03);
}

static void capillary_waves_follow_prosperettis_solution(void **state)
{
  const PetscReal densities[] = {1., 0.1};

  (void)state;
  for (PetscInt n = 0; n < 2; n++) {
    PetscReal error[2];

    for (PetscInt level = 0; level < 2; level++) {
      assert_success(CapillaryWaveDeviation(16 << level, densities[n], &error[level]));
      note("M5, density %g above, %d cells per wavelength: deviation %.4f", (double)densities[n], 16 << level,
           (double)error[level]);
    }
    assert_on_all_ranks(error[1] <= 0.05 && error[1] < 0.6 * error[0]);
  }
}

TEST_MAIN(cmocka_unit_test(a_standing_wave_has_the_period_of_linear_theory),
          cmocka_unit_test(capillary_waves_follow_prosperettis_solution))
