/* The scene liquids/viscoelastic-figure on a small grid: its caption as numbers (thesis, Fig. 4.12). */
#include "harness.h"
#include "scene_run.h"

enum { FIGURE, BLOB };

static const PhaseReport *report_of(const SceneRun *flow)
{
  return phase_report(simulation_phase(flow->simulation));
}

/* Frame by frame, as a run of the scene. */
static void StepToFrame(SceneRun *flow, PetscInt frame)
{
  const PetscReal interval = scene_config(flow->scene)->run.frame_interval;
  const PetscInt  reached = (PetscInt)PetscFloorReal(simulation_time(flow->simulation) / interval + 1e-6);

  for (PetscInt n = reached + 1; n <= frame; n++)
    assert_success(SceneRunUntil(flow, (PetscReal)n * interval));
}

static void a_figure_stands_runs_out_and_rises_and_a_blob_rebounds_from_it(void **state)
{
  PetscReal start, stands, flat, risen, top, lowest, rebound;
  SceneRun  flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "liquids/viscoelastic-figure", 20, NULL));
  start = report_of(&flow)->highest[FIGURE].at[Y];
  StepToFrame(&flow, 10);
  stands = report_of(&flow)->highest[FIGURE].at[Y];
  StepToFrame(&flow, 20);
  flat = report_of(&flow)->highest[FIGURE].at[Y];
  StepToFrame(&flow, 30);
  risen = report_of(&flow)->centre[FIGURE].at[Y];
  top = report_of(&flow)->highest[FIGURE].at[Y];
  StepToFrame(&flow, 33);
  lowest = rebound = report_of(&flow)->lowest[BLOB].at[Y];
  for (PetscInt frame = 34; frame <= 39; frame++) {
    StepToFrame(&flow, frame);
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
