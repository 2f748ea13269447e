/* Interfaces between liquids of any two densities, without viscosity, against linear theory: the period of
   standing waves, the growth of Rayleigh and Taylor's instability. */
#include "harness.h"
#include "waves.h"

/* Wavelength 1 and gravity 1, deep on both sides; the level lies `offset` cells above a plane of faces. The
   height of half a thousandth, a 60th of a cell, rises and falls past centres and faces. */
static PetscErrorCode RunWave(PetscReal below, PetscReal above, PetscInt cells, PetscReal offset,
                              PetscReal until, PetscReal dt, WaveHistory *history)
{
  const PetscReal level = offset / cells;
  SceneRun        flow;

  PetscFunctionBegin;
  PetscCall(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                           "grid: {dimension: 2, origin: [0, -1], size: [0.5, 2], resolution: %d}\n"
                           "run: {end_time: 1000, frame_interval: 1000}\n"
                           "fluid: {gravity: [0, -1], pressure_tolerance: 1e-9, sides: {all: slip}}\n"
                           "regions:\n"
                           "  - {name: lower, density: %g,\n"
                           "     shape: {formula: {value: y - %.17g - 0.0005*cos(2*pi*x)}}}\n"
                           "  - {name: upper, density: %g}\n",
                           (int)cells / 2, (double)below, (double)level, (double)above));
  PetscCall(WaveRecord(&flow, level, until, dt, history));
  PetscCall(SceneRunDestroy(&flow));
  PetscFunctionReturn(0);
}

static PetscReal frequency(PetscReal ratio)
{
  return PetscSqrtReal(2. * PETSC_PI * (ratio - 1.) / (ratio + 1.));
}

static void MeasureWave(PetscReal ratio, PetscInt cells, PetscReal offset, PetscReal *error)
{
  const PetscReal    period = 2. * PETSC_PI / frequency(ratio);
  static WaveHistory history;

  assert_success(RunWave(ratio, 1., cells, offset, 1.3 * period, period / (4. * cells), &history));
  *error = (wave_crossing(&history, 2) - wave_crossing(&history, 0)) / period - 1.;
  note("density ratio %g, %d cells, level at %g of a cell: period off by %+.3f %%", (double)ratio, (int)cells,
       (double)offset, 100. * (double)*error);
}

static void waves_have_their_period_at_any_ratio_of_densities(void **state)
{
  const PetscReal ratios[] = {1.2, 2., 9., 11., 1000.}, offsets[] = {0., 0.25, 0.7};

  (void)state;
  for (size_t r = 0; r < sizeof(ratios) / sizeof(ratios[0]); r++) {
    PetscReal worst[2] = {0.};

    for (PetscInt level = 0; level < 2; level++)
      for (size_t n = 0; n < sizeof(offsets) / sizeof(offsets[0]); n++) {
        PetscReal error;

        MeasureWave(ratios[r], 32 << level, offsets[n], &error);
        worst[level] = PetscMax(worst[level], PetscAbsReal(error));
      }
    assert_on_all_ranks(worst[0] <= 0.01 && worst[1] <= 0.003);
  }
}

/* Through the centres of cells, which change hands all the time. */
static void so_have_waves_through_centres(void **state)
{
  const PetscReal ratios[] = {1.2, 9., 1000.};

  (void)state;
  for (size_t r = 0; r < sizeof(ratios) / sizeof(ratios[0]); r++) {
    PetscReal error;

    MeasureWave(ratios[r], 32, 0.5, &error);
    assert_near(error, 0., 0.01);
  }
}

/* From rest the height grows as cosh(rate t): to ten times. */
static void a_heavy_liquid_falls_as_fast_as_in_theory(void **state)
{
  const PetscReal ratios[] = {1.2, 9.};

  (void)state;
  for (size_t r = 0; r < sizeof(ratios) / sizeof(ratios[0]); r++) {
    const PetscReal    rate = frequency(ratios[r]);
    static WaveHistory history;
    PetscReal          last, grown;

    assert_success(RunWave(1., ratios[r], 64, 0.25, 3. / rate, 0.01 / rate, &history));
    last = history.time[history.count - 1];
    grown = history.height[history.count - 1] / history.height[0];
    grown = PetscLogReal(grown + PetscSqrtReal(grown * grown - 1.)) / last;
    note("density ratio %g, 64 cells: growth off by %+.2f %%", (double)ratios[r],
         100. * (double)(grown / rate - 1.));
    assert_near(grown / rate, 1., 0.015);
  }
}

TEST_MAIN(cmocka_unit_test(waves_have_their_period_at_any_ratio_of_densities),
          cmocka_unit_test(so_have_waves_through_centres),
          cmocka_unit_test(a_heavy_liquid_falls_as_fast_as_in_theory))
