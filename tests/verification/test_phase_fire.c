/* The scenes of inputs/liquids that burn, on small grids: each caption as a number. */
#include "harness.h"
#include "scene_run.h"

#include <millrace/phase.h>

/* Fig. 4.11: the oil does not burn before the ball is there, with two cells of glowing air around it, then
   within a tenth of a second, and most of its surface in the end. One rank: all is on it. */
static void a_burning_ball_sets_oil_on_fire(void **state)
{
  enum { OIL = 1, BALL = 2 };
  const PetscReal    surface = 0.3, speed = 3e-4;
  PetscReal          contact = 0., ignition = 0., dt;
  const PhaseReport *report;
  SceneRun           flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "liquids/oil-fire", 32, NULL));
  report = phase_report(simulation_phase(flow.simulation));
  while (ignition == 0. && simulation_time(flow.simulation) < 0.5) {
    assert_success(SimulationGetTimeStep(flow.simulation, 0.5, &dt));
    assert_success(SceneRunStep(&flow, 1, dt));
    if (contact == 0. && report->lowest[BALL].at[Y] < surface + 3. * grid_spacing(flow.grid))
      contact = simulation_time(flow.simulation);
    if (report->burnt[0] > 0.)
      ignition = simulation_time(flow.simulation);
  }
  note("oil-fire: the ball is at the oil at %.3f s, which ignites at %.3f s", (double)contact,
       (double)ignition);
  assert_true(contact > 0. && ignition >= contact && ignition < contact + 0.1);
  assert_success(SceneRunUntil(&flow, 1.2));
  note("oil-fire: %.0f %% of the oil's surface burns, %.3f kg have burnt, imbalance %.1f %% of the oil",
       100. * (double)(report->burning[0] / (speed * report->front_area[0])), (double)report->burnt[0],
       100. * (double)(report->imbalance / 80.));
  assert_true(report->burning[0] > 0.5 * speed * report->front_area[0]);
  assert_true(report->burnt[0] > 0.1 && report->burnt[0] < 1.);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_burning_ball_sets_oil_on_fire))
