#include "waves.h"
#include "prosperetti.h"

PetscErrorCode WaveRecord(SceneRun *flow, PetscReal level, PetscReal until, PetscReal dt,
                          WaveHistory *history)
{
  const PetscInt steps = (PetscInt)PetscCeilReal(until / dt);

  PetscFunctionBegin;
  PetscCheck(steps < MOST_SAMPLES, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "too many steps");
  history->count = 0;
  for (PetscInt n = 0; n <= steps; n++) {
    PetscReal height;

    if (n > 0)
      PetscCall(SceneRunStep(flow, 1, dt));
    PetscCall(RegionEnd(flow, 0, Y, 1, vector3(0., level, 0.), &height));
    /* interfaces are half a step behind the velocity */
    history->time[n] = n > 0 ? (n - 0.5) * dt : 0.;
    history->height[n] = height - level;
    history->count++;
  }
  PetscFunctionReturn(0);
}

PetscReal wave_crossing(const WaveHistory *history, PetscInt number)
{
  for (PetscInt n = 1; n < history->count; n++) {
    const PetscReal before = history->height[n - 1], after = history->height[n];

    if (before * after <= 0. && before != after && !number--)
      return history->time[n] - (history->time[n] - history->time[n - 1]) * after / (after - before);
  }
  return PETSC_MAX_REAL;
}

/* Root of the mean square of the deviation over omega t <= 25, over the first height. */
static PetscReal wave_deviation(const WaveHistory *history, const PetscReal table[], PetscReal step,
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

PetscErrorCode CapillaryWaveDeviation(PetscInt cells, PetscReal density, PetscReal *deviation)
{
  const PetscReal    omega = PetscSqrtReal(PetscPowRealInt(2. * PETSC_PI, 3) / (1. + density));
  const PetscReal    dt = 0.5 * PetscSqrtReal((1. + density) / (4. * PETSC_PI * cells * cells * cells));
  const PetscBool    equal = density == 1. ? PETSC_TRUE : PETSC_FALSE;
  static WaveHistory history;
  SceneRun           flow;

  PetscFunctionBegin;
  PetscCall(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                           "grid: {dimension: 2, origin: [0, -1], size: [0.5, 2], resolution: %d}\n"
                           "run: {end_time: 10, frame_interval: 10}\n"
                           "fluid: {sides: {all: slip}}\n"
                           "regions:\n"
                           "  - {name: lower, density: 1, viscosity: 0.0182571749236,\n"
                           "     shape: {formula: {value: y - 0.01*cos(2*pi*x)}}}\n"
                           "  - {name: upper, density: %g, viscosity: 0.0182571749236}\n"
                           "interfaces: {tensions: [{first: lower, second: upper, tension: 1}]}\n",
                           (int)cells / 2, (double)density));
  PetscCall(WaveRecord(&flow, 0., 25. / omega, dt, &history));
  PetscCall(SceneRunDestroy(&flow));
  *deviation = wave_deviation(&history, equal ? wave_equal_densities : wave_density_10,
                              equal ? wave_step : wave_step_density_10, omega);
  PetscFunctionReturn(0);
}
