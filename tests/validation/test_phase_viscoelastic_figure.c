/* The scene liquids/viscoelastic-figure on a small grid: its caption as numbers (thesis, Fig. 4.12). */
#include "harness.h"
#include "scene_run.h"

enum { FIGURE, BLOB };

static const PhaseReport *report_of(const SceneRun *flow)
{
  return phase_report(simulation_phase(flow->simulation));
}

static void a_figure_stands_runs_out_and_rises_and_a_blob_rebounds_from_it(void **state)
{
  PetscReal start, stands, flat, risen, top, lowest, rebound;
  SceneRun  flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "liquids/viscoelastic-figure", 20, NULL));
  start = report_of(&flow)->highest[FIGURE].at[Y];
  assert_success(SceneRunUntil(&flow, 1.));
  stands = report_of(&flow)->highest[FIGURE].at[Y];
  assert_success(SceneRunUntil(&flow, 2.));
  flat = report_of(&flow)->highest[FIGURE].at[Y];
  assert_success(SceneRunUntil(&flow, 3.));
  risen = report_of(&flow)->centre[FIGURE].at[Y];
  top = report_of(&flow)->highest[FIGURE].at[Y];
  assert_success(SceneRunUntil(&flow, 3.2)); /* a step ends where the blob begins to be poured */
  assert_success(SceneRunUntil(&flow, 3.3));
  lowest = rebound = report_of(&flow)->lowest[BLOB].at[Y];
  for (PetscReal time = 3.32; time < 3.91; time += 0.02) {
    assert_success(SceneRunUntil(&flow, time));
    if (report_of(&flow)->lowest[BLOB].at[Y] < lowest)
      lowest = rebound = report_of(&flow)->lowest[BLOB].at[Y];
    rebound = PetscMax(rebound, report_of(&flow)->lowest[BLOB].at[Y]);
  }
  note("height %.3f m, as gel %.3f m, as liquid %.3f m; light: centre at %.3f m, top at %.3f m; the blob "
       "falls to "
       "%.3f m and comes back to %.3f m",
       (double)start, (double)stands, (double)flat, (double)risen, (double)top, (double)lowest,
       (double)rebound);
  assert_on_all_ranks(stands > 0.9 * start);
  assert_on_all_ranks(flat < 0.6 * start);
  assert_on_all_ranks(risen > 0.12 && top > 0.25);
  assert_on_all_ranks(lowest > 0.1 && rebound > lowest + 0.01);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_figure_stands_runs_out_and_rises_and_a_blob_rebounds_from_it))
