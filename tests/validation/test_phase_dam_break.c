/* Collapse of a column of water, S1: inputs/liquids/dam-break.yaml with 40 cells per width of the column, the
   front along the floor beside that of Martin and Moyce (1952). Their gate opens with a delay, so times are
   compared from where the front is at 1.44 widths. */
#include "harness.h"
#include "liquid.h"

/* T = t sqrt(2 g / a), Z = front / a. */
static const PetscReal table[][2] = {{1.19, 1.44}, {1.43, 1.67}, {1.63, 1.89}, {1.83, 2.11}, {1.98, 2.33},
                                     {2.2, 2.56},  {2.32, 2.78}, {2.51, 3.},   {2.65, 3.22}, {2.83, 3.44},
                                     {2.98, 3.67}, {3.11, 3.89}, {3.33, 4.11}};
enum { POINTS = sizeof(table) / sizeof(table[0]), MOST = 4000 };

typedef struct {
  PetscInt  count;
  PetscReal time[MOST], front[MOST]; /* without units, as in the table */
} Front;

static const PetscReal width = 0.05715;

static PetscErrorCode Follow(SceneRun *flow, Front *front)
{
  const PetscReal scale = PetscSqrtReal(2. * 9.81 / width);
  PetscReal       dt, before = 0.;
  PetscBool       good;

  PetscFunctionBegin;
  for (front->count = 0; front->count < MOST; front->count++) {
    PetscReal place;

    PetscCall(SimulationGetTimeStep(flow->simulation, 1., &dt));
    PetscCall(SimulationStep(flow->simulation, dt, &good));
    PetscCheck(good, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "a step failed");
    PetscCall(RegionEnd(flow, 0, X, 1, vector3(0., 0., 0.), &place));
    front->time[front->count] = scale * (simulation_time(flow->simulation) - 0.5 * dt);
    front->front[front->count] = before = PetscMax(before, place / width);
    if (before > 4.3)
      break;
  }
  PetscFunctionReturn(0);
}

static PetscReal time_at(const Front *front, PetscReal place)
{
  for (PetscInt n = 1; n < front->count; n++)
    if (front->front[n] >= place)
      return front->time[n - 1] + (front->time[n] - front->time[n - 1]) * (place - front->front[n - 1]) /
                                      (front->front[n] - front->front[n - 1]);
  return PETSC_MAX_REAL;
}

static PetscReal place_at(const Front *front, PetscReal time)
{
  PetscInt n = 1;

  while (n + 1 < front->count && front->time[n] < time)
    n++;
  return front->front[n - 1] + (front->front[n] - front->front[n - 1]) * (time - front->time[n - 1]) /
                                   (front->time[n] - front->time[n - 1]);
}

static void the_front_runs_as_martin_and_moyce_measured(void **state)
{
  static Front front;
  PetscReal    largest = 0., first, last;
  SceneRun     flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "liquids/dam-break", 8 * 40, NULL));
  assert_success(RegionVolume(&flow, 0, &first));
  assert_success(Follow(&flow, &front));
  assert_success(RegionVolume(&flow, 0, &last));
  for (PetscInt n = 0; n < POINTS; n++) {
    const PetscReal place = place_at(&front, table[n][0] - table[0][0] + time_at(&front, table[0][1]));

    note("T %.2f: front at %.3f (%.2f), %+.1f %%", (double)table[n][0], (double)place, (double)table[n][1],
         100. * (double)(place / table[n][1] - 1.));
    largest = PetscMax(largest, PetscAbsReal(place / table[n][1] - 1.));
  }
  note("S1, 40 cells per width: largest deviation %.1f %%, volume changed by %.2f %%", 100. * (double)largest,
       100. * (double)(last / first - 1.));
  assert_on_all_ranks(largest <= 0.05);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(the_front_runs_as_martin_and_moyce_measured))
