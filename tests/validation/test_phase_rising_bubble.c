/* The rising bubble of Hysing et al. (2009), case 1 (M1): inputs/liquids/rising-bubble.yaml. Reference: the
   finest grid of their group 3 (MooNMD), whose series gives circularity 0.90125 at t = 1.900 as the least, a
   largest rise velocity of 0.24166 at 0.9239, and the centre at 1.08175 at the end. */
#include "harness.h"
#include "liquid.h"

typedef struct {
  PetscReal circularity, speed, centre;
} Bubble;

static const Bubble reference = {0.90125, 0.24166, 1.08175};

/* Centre, and perimeter of the circle of the same area over that of the bubble. */
static PetscErrorCode Measure(SceneRun *flow, PetscReal *centre, PetscReal *circularity)
{
  const PhaseReport *report = phase_report(simulation_phase(flow->simulation));

  PetscFunctionBegin;
  *centre = report->centre[0].at[Y];
  *circularity = 2. * PetscSqrtReal(PETSC_PI * report->volume[0]) / report->surface[0];
  PetscFunctionReturn(0);
}

/* The speed is that of the centre, over half a tenth of a second. */
static PetscErrorCode Rise(PetscInt cells, Bubble *bubble, PetscReal *loss)
{
  PetscReal before, circularity, first, last;
  SceneRun  flow;

  PetscFunctionBegin;
  *bubble = (Bubble){1., 0., 0.};
  PetscCall(SceneRunOpen(&flow, "liquids/rising-bubble", cells, NULL));
  PetscCall(RegionVolume(&flow, 0, &first));
  PetscCall(Measure(&flow, &before, &circularity));
  for (PetscInt n = 1; n <= 60; n++) {
    PetscCall(SceneRunUntil(&flow, 0.05 * n));
    PetscCall(Measure(&flow, &bubble->centre, &circularity));
    bubble->circularity = PetscMin(bubble->circularity, circularity);
    if (n > 1)
      bubble->speed = PetscMax(bubble->speed, (bubble->centre - before) / 0.05);
    before = bubble->centre;
  }
  PetscCall(RegionVolume(&flow, 0, &last));
  *loss = 1. - last / first;
  PetscCall(SceneRunDestroy(&flow));
  PetscFunctionReturn(0);
}

static void the_bubble_rises_as_in_the_benchmark(void **state)
{
  Bubble    bubble[2];
  PetscReal loss = 0.;

  (void)state;
  for (PetscInt level = 0; level < 2; level++) {
    const PetscInt cells = 40 << level;

    assert_success(Rise(cells, &bubble[level], &loss));
    note("M1, h = 1/%d: circularity %.4f (%.4f), speed %.4f (%.4f), centre %.4f (%.4f), area lost %.2f %%",
         (int)cells, (double)bubble[level].circularity, (double)reference.circularity,
         (double)bubble[level].speed, (double)reference.speed, (double)bubble[level].centre,
         (double)reference.centre, 100. * (double)loss);
  }
  assert_near(bubble[1].speed / reference.speed, 1., 0.01);
  assert_near(bubble[1].centre / reference.centre, 1., 0.005);
  assert_near(bubble[1].circularity, reference.circularity, 0.01);
}

TEST_MAIN(cmocka_unit_test(the_bubble_rises_as_in_the_benchmark))
