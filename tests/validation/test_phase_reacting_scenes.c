/* The scene liquids/reacting-liquids as it is, and liquids/letters on a small grid: their captions as numbers
   (thesis, Fig. 4.9 and 4.6). */
#include "harness.h"
#include "scene_run.h"

#include <millrace/phase.h>

static const PhaseReport *report_of(const SceneRun *flow)
{
  return phase_report(simulation_phase(flow->simulation));
}

/* Frame by frame, as a run of the scene. */
static void StepToFrame(SceneRun *flow, PetscInt frame)
{
  assert_success(SceneRunUntil(flow, (PetscReal)frame * scene_config(flow->scene)->run.frame_interval));
}

/* What the two liquids have more than was poured and has not reacted, kg. */
enum { A, B };
static PetscReal excess_of(const PhaseReport *report)
{
  return report->excess[A] + report->excess[B];
}

/* What was poured, as the balance has it. */
static PetscReal poured(const PhaseReport *report)
{
  return 2000. * (report->volume[A] + report->volume[B]) - excess_of(report) + report->burnt[0] +
         report->burnt[REACTIONS_MAX];
}

/* Not before they meet, then as much of either, and nothing is lost: drops of a cell come and go. */
static void two_liquids_meet_and_turn_into_gas(void **state)
{
  enum { POURED = 42, FRAMES = 80 };
  const PhaseReport *report;
  PetscReal          met = 0., burnt = 0., all = 0., mean = 0., worst = 0., first, second;
  SceneRun           flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "liquids/reacting-liquids", 40, NULL));
  report = report_of(&flow);
  for (PetscInt frame = 1; frame <= FRAMES; frame++) {
    StepToFrame(&flow, frame);
    if (met == 0. && report->highest[A].at[X] + 2. / 40. > report->lowest[B].at[X])
      met = simulation_time(flow.simulation);
    if (burnt == 0. && report->burnt[0] > 0.)
      burnt = simulation_time(flow.simulation);
    if (frame == POURED)
      all = poured(report);
    if (frame > POURED) {
      mean += excess_of(report) / (FRAMES - POURED);
      worst = PetscMax(worst, PetscAbsReal(excess_of(report)));
      assert_near(poured(report) / all, 1., 1e-9);
    }
  }
  first = report->burnt[0];
  second = report->burnt[REACTIONS_MAX];
  note("two cells apart at %.2f s, reaction from %.2f s; %.3f and %.3f kg, %.3f kg pending; of %.1f kg the "
       "liquids had %.3f kg more on the average, %.3f kg more or less at worst, all regions %.3f kg in the "
       "end",
       (double)met, (double)burnt, (double)first, (double)second, (double)report->pending[0], (double)all,
       (double)mean, (double)worst, (double)report->imbalance);
  assert_on_all_ranks(met > 1. && burnt >= met && burnt < met + 1.);
  assert_on_all_ranks(first > 0.5);
  assert_near(second / first, 1., 0.1);
  assert_near(mean / all, 0., 0.01);
  assert_near(worst / all, 0., 0.03);
  assert_near(report->imbalance / all, 0., 0.03);
  assert_success(SceneRunDestroy(&flow));
}

enum { LETTERS = 8 };

static PetscBool all_are(const SceneRun *flow, const PetscReal low[LETTERS], PetscReal by)
{
  for (PetscInt n = 0; n < LETTERS; n++)
    if (!(report_of(flow)->centre[n].at[Y] > low[n] + by))
      return PETSC_FALSE;
  return PETSC_TRUE;
}

/* They lie on the floor, rise when they become light, burn where they break the surface, and not before. */
static void letters_sink_rise_and_burn(void **state)
{
  const PetscReal    h = 1.75 / 35., surface = 0.5;
  const PhaseReport *report;
  PetscReal          low[LETTERS], burnt = 0., highest[LETTERS] = {0.};
  SceneRun           flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "liquids/letters", 35, NULL));
  report = report_of(&flow);
  for (PetscInt frame = 1; frame <= 40; frame++)
    StepToFrame(&flow, frame);
  for (PetscInt n = 0; n < LETTERS; n++) {
    assert_on_all_ranks(report->lowest[n].at[Y] < h);
    low[n] = report->centre[n].at[Y];
  }
  for (PetscInt frame = 41; frame <= 60; frame++) {
    StepToFrame(&flow, frame);
    for (PetscInt n = 0; n < LETTERS; n++) {
      highest[n] = PetscMax(highest[n], report->highest[n].at[Y]);
      assert_on_all_ranks(report->burnt[n] == 0. || highest[n] > surface - 2. * h);
    }
    if (frame == 54)
      assert_on_all_ranks(all_are(&flow, low, 0.5 * h));
  }
  for (PetscInt n = 0; n < LETTERS; n++)
    burnt += report->burnt[n];
  note("%.3f kg have burnt, imbalance %.1f kg", (double)burnt, (double)report->imbalance);
  assert_on_all_ranks(burnt > 0.1);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(two_liquids_meet_and_turn_into_gas), cmocka_unit_test(letters_sink_rise_and_burn))
