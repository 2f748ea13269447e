/* An elastic region beside air on any number of ranks. */
#include "harness.h"
#include "scene_run.h"

#include <millrace/elastic.h>

/* A blob of gel under air, thrown down, as a single rank computes it. */
static void a_blob_is_the_same_on_all_ranks(void **state)
{
  const char     *scene = "grid: {dimension: 2, size: [1, 1], resolution: 16}\n"
                          "run: {end_time: 1, frame_interval: 1}\n"
                          "fluid: {gravity: [0, -9.81], viscosity_tolerance: 1e-12, pressure_tolerance: 1e-12,\n"
                          "  sides: {all: wall, y_high: open}}\n"
                          "regions:\n"
                          "  - {name: gel, density: 1000, shape: {sphere: {center: [0.45, 0.3], radius: 0.22}},\n"
                          "     velocity: [0.3, -1], elasticity: {modulus: 3000, relaxation: 0.5}}\n"
                          "  - {name: air, type: empty}\n";
  SceneRun        flow, alone;
  FieldDifference difference;
  ElasticReport   reports[REGIONS_MAX];

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, scene));
  assert_success(SceneRunCreate(PETSC_COMM_SELF, &alone, scene));
  assert_success(SceneRunStep(&flow, 20, 0.005));
  assert_success(SceneRunStep(&alone, 20, 0.005));
  assert_success(PhaseMeasureElastic(simulation_phase(flow.simulation), reports));
  note("strained by %.3f, %.4f J", (double)reports[0].largest_strain, (double)reports[0].energy);
  assert_on_all_ranks(reports[0].largest_strain > 0.1);
  for (PetscInt d = 0; d < 2; d++) {
    assert_success(SceneRunCompareWithSerial(&flow, &alone, d, &difference));
    assert_near(difference.largest, 0., 1e-11);
  }
  assert_success(SceneRunDestroy(&alone));
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_blob_is_the_same_on_all_ranks))
