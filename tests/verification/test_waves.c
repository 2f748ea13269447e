/* Small waves against linear theory: gravity on a free surface (S5), surface tension between two liquids
   (M5). */
#include "harness.h"
#include "liquid.h"
#include "prosperetti.h"

enum { MOST_SAMPLES = 4096 };

typedef struct {
  PetscInt  count;
  PetscReal time[MOST_SAMPLES], height[MOST_SAMPLES]; /* of region 0 beside the lower side of x */
} History;

static PetscErrorCode Record(Flow *flow, PetscReal level, PetscReal until, PetscReal dt, History *history)
{
  const PetscInt steps = (PetscInt)PetscCeilReal(until / dt);

  PetscFunctionBegin;
  PetscCheck(steps < MOST_SAMPLES, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "too many steps");
  history->count = 0;
  for (PetscInt n = 0; n <= steps; n++) {
    PetscReal height;

    if (n > 0)
      PetscCall(FlowStep(flow, 1, dt));
    PetscCall(RegionEnd(flow, 0, Y, 1, vector3(0., level, 0.), &height));
    /* interfaces are half a step behind the velocity */
    history->time[n] = n > 0 ? (n - 0.5) * dt : 0.;
    history->height[n] = height - level;
    history->count++;
  }
  PetscFunctionReturn(0);
}

/* Of the n-th crossing of the level, from 0. */
static PetscReal crossing_time(const History *history, PetscInt number)
{
  for (PetscInt n = 1; n < history->count; n++) {
    const PetscReal before = history->height[n - 1], after = history->height[n];

    if (before * after <= 0. && before != after && !number--)
      return history->time[n] - (history->time[n] - history->time[n - 1]) * after / (after - before);
  }
  return PETSC_MAX_REAL;
}

static PetscReal highest_between(const History *history, PetscReal from, PetscReal until)
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
  const PetscReal period = 0.80180074, dt = period / (3. * cells);
  static History  history;
  Flow            flow;

  assert_success(FlowCreate(PETSC_COMM_WORLD, &flow,
                            "grid: {dimension: 2, size: [1, 0.75], resolution: %d}\n"
                            "run: {end_time: 10, frame_interval: 10}\n"
                            "fluid: {gravity: [0, -9.81], pressure_tolerance: 1e-9,\n"
                            "  sides: {all: slip, y_high: open}}\n"
                            "regions:\n"
                            "  - {name: water, density: 1000,\n"
                            "     shape: {formula: {value: y - 0.5 - 0.005*cos(2*pi*x)}}}\n"
                            "  - {name: air, type: empty}\n",
                            (int)cells));
  assert_success(Record(&flow, 0.5, 2.1 * period, dt, &history));
  assert_success(FlowDestroy(&flow));
  *period_error = PetscAbsReal((crossing_time(&history, 2) - crossing_time(&history, 0)) / period - 1.);
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

/* Root of the mean square of the deviation over omega t <= 25, over the first height. */
static PetscReal wave_deviation(const History *history, const PetscReal table[], PetscReal step,
                                PetscReal omega)
{
  const PetscReal start = history->height[0];
  PetscReal       sum = 0.;
  PetscInt        count = 0;

  for (PetscInt n = 1; n < history->count; n++) {
    const PetscReal place = omega * history->time[n] / step;
    const PetscInt  low = (PetscInt)place;

    if (low + 1 >= WAVE_SAMPLES)
      break;
    sum += PetscSqr(PetscAbsReal(history->height[n] / start) -
                    (table[low] + (place - low) * (table[low + 1] - table[low])));
    count++;
  }
  return PetscSqrtReal(sum / count);
}

static PetscReal RunCapillaryWave(PetscInt cells, PetscReal density, const PetscReal table[], PetscReal step)
{
  const PetscReal omega = PetscSqrtReal(PetscPowRealInt(2. * PETSC_PI, 3) / (1. + density));
  const PetscReal dt = 0.25 * PetscSqrtReal((1. + density) / (4. * PETSC_PI * cells * cells * cells)) * 2.;
  static History  history;
  Flow            flow;

  assert_success(FlowCreate(PETSC_COMM_WORLD, &flow,
                            "grid: {dimension: 2, origin: [0, -1], size: [0.5, 2], resolution: %d}\n"
                            "run: {end_time: 10, frame_interval: 10}\n"
                            "fluid: {sides: {all: slip}}\n"
                            "regions:\n"
                            "  - {name: lower, density: 1, viscosity: 0.0182571749236,\n"
                            "     shape: {formula: {value: y - 0.01*cos(2*pi*x)}}}\n"
                            "  - {name: upper, density: %g, viscosity: 0.0182571749236}\n"
                            "interfaces: {tensions: [{first: lower, second: upper, tension: 1}]}\n",
                            (int)cells / 2, (double)density));
  assert_success(Record(&flow, 0., 25. / omega, dt, &history));
  assert_success(FlowDestroy(&flow));
  return wave_deviation(&history, table, step, omega);
}

static void a_capillary_wave_follows_prosperettis_solution(void **state)
{
  PetscReal error[2];

  (void)state;
  for (PetscInt level = 0; level < 2; level++) {
    error[level] = RunCapillaryWave(16 << level, 1., wave_equal_densities, wave_step);
    note("M5, equal densities, %d cells per wavelength: deviation %.4f", 16 << level, (double)error[level]);
  }
  assert_on_all_ranks(error[1] <= 0.05 && error[1] < 0.6 * error[0]);
}

TEST_MAIN(cmocka_unit_test(a_standing_wave_has_the_period_of_linear_theory),
          cmocka_unit_test(a_capillary_wave_follows_prosperettis_solution))
