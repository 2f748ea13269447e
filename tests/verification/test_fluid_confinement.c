/* Vorticity confinement: its size and direction, that it keeps vortices, and what it leaves alone. */
#include "harness.h"
#include "scene_run.h"

/* A round vortex, w = 10 exp(-r^2/0.01), with and without. */
static void StartVortex(PetscReal confinement, SceneRun *flow)
{
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, flow,
                     "grid: {dimension: 2, size: [1, 1], origin: [-0.5, -0.5], resolution: 128}\n"
                     "run: {end_time: 1, frame_interval: 1}\n"
                     "fluid:\n"
                     "  density: 1\n"
                     "  sides: {all: slip}\n"
                     "  confinement: %g\n"
                     "  pressure_tolerance: 1e-10\n"
                     "  initial: {velocity: [-y*0.05*(1 - exp(-(x^2 + y^2)/0.01))/(x^2 + y^2 + 1e-12),\n"
                     "    x*0.05*(1 - exp(-(x^2 + y^2)/0.01))/(x^2 + y^2 + 1e-12)]}\n",
                     (double)confinement));
}

/* Of the component along y at (x, 0). */
static PetscReal speed_at(SceneRun *flow, PetscReal x)
{
  PetscReal value = 0.;

  assert_success(SceneRunSample(flow, Y, vector3(x, 0.0001, 0.), &value));
  return value;
}

static PetscReal enstrophy_of(SceneRun *flow)
{
  const PetscReal density = 1.;
  RegionTotals    totals;

  assert_success(FluidGetRegionTotals(flow->fluid, 1, NULL, &density, &totals));
  return totals.enstrophy;
}

/* The acceleration along the vortex is strength times cell times vorticity: in a short step the difference.
 */
static void a_vortex_is_driven_along_itself(void **state)
{
  const PetscReal dt = 1e-4, strength = 20.;
  SceneRun        plain, driven;

  (void)state;
  only_on_one_rank();
  StartVortex(0., &plain);
  StartVortex(strength, &driven);
  assert_success(SceneRunStep(&plain, 1, dt));
  assert_success(SceneRunStep(&driven, 1, dt));
  for (PetscInt n = 0; n < 4; n++) {
    const PetscReal x = 0.06 + 0.02 * n, expected = strength / 128. * 10. * PetscExpReal(-100. * x * x);
    const PetscReal gained = (speed_at(&driven, x) - speed_at(&plain, x)) / dt;

    note("r = %.2f m: %.4f of %.4f m/s^2", (double)x, (double)gained, (double)expected);
    assert_near(gained / expected, 1., 0.03);
  }
  assert_success(SceneRunStep(&plain, 100, 2e-3));
  assert_success(SceneRunStep(&driven, 100, 2e-3));
  note("enstrophy after 0.2 s: %.4f, with it %.4f m^2/s^2", (double)enstrophy_of(&plain),
       (double)enstrophy_of(&driven));
  assert_true(enstrophy_of(&driven) > 1.05 * enstrophy_of(&plain));
  assert_success(SceneRunDestroy(&plain));
  assert_success(SceneRunDestroy(&driven));
}

/* Two layers that slip along each other have no vortices inside. */
static void a_leap_between_regions_is_no_vortex(void **state)
{
  const char     *scene = "grid: {dimension: 2, size: [1, 1], resolution: 16}\n"
                          "run: {end_time: 1, frame_interval: 1}\n"
                          "fluid: {confinement: 50, sides: {all: slip, x_low: periodic, x_high: periodic}}\n"
                          "regions:\n"
                          "  - {name: low, density: 1000, velocity: [1, 0],\n"
                          "     shape: {box: {low: [-1, -1], high: [2, 0.5]}}}\n"
                          "  - {name: high, density: 1, velocity: [-1, 0]}\n";
  SceneRun        flow;
  FieldDifference difference;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, "%s", scene));
  assert_success(SceneRunStep(&flow, 5, 0.01));
  if (flow.fluid) {
    assert_success(SceneRunCompare(&flow, Y, "0", 0., &difference));
    assert_on_all_ranks(difference.largest < 1e-12);
    assert_success(SceneRunCompare(&flow, X, "1 - 2*step(y - 0.5)", 0., &difference));
    assert_on_all_ranks(difference.largest < 1e-12);
  }
  assert_success(SceneRunDestroy(&flow));
}

static void it_is_the_same_on_all_ranks(void **state)
{
  const char     *scene = "grid: {size: [1, 1, 1], resolution: 16}\n"
                          "run: {end_time: 1, frame_interval: 1}\n"
                          "fluid: {density: 1, confinement: 20, pressure_tolerance: 1e-13,\n"
                          "  sides: {all: wall, y_high: open, z_low: slip},\n"
                          "  initial: {velocity: [sin(7*y + 3*z), cos(5*z + 4*x), sin(6*x + 2*y)]}}\n"
                          "obstacles: [{name: ball, shape: {sphere: {center: [0.4, 0.5, 0.6], radius: 0.15}}}]\n";
  SceneRun        flow, alone;
  FieldDifference difference;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, "%s", scene));
  assert_success(SceneRunCreate(PETSC_COMM_SELF, &alone, "%s", scene));
  assert_success(SceneRunStep(&flow, 3, 0.01));
  assert_success(SceneRunStep(&alone, 3, 0.01));
  for (PetscInt d = 0; d < DIM && flow.fluid; d++) {
    assert_success(SceneRunCompareWithSerial(&flow, &alone, d, &difference));
    assert_on_all_ranks(difference.largest < 1e-11);
  }
  assert_success(SceneRunDestroy(&alone));
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_vortex_is_driven_along_itself),
          cmocka_unit_test(a_leap_between_regions_is_no_vortex),
          cmocka_unit_test(it_is_the_same_on_all_ranks))
