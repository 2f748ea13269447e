/* Drops in two dimensions: one that stretches freely (S8), one at rest under surface tension (M4), one that
   oscillates (M7). */
#include "harness.h"
#include "liquid.h"

/* u = (-x, y) on a disc of radius 1 stretches it into an ellipse of the same area (Monaghan 1994). */
static void a_free_drop_stretches_as_monaghan_says(void **state)
{
  PetscReal a, b, area, first_area;
  SceneRun  flow;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, "%s",
                                "grid: {dimension: 2, origin: [-1.5, -2.5], size: [3, 5], resolution: 60}\n"
                                "run: {end_time: 10, frame_interval: 10}\n"
                                "fluid: {initial: {velocity: [-x, y]}, sides: {all: open}}\n"
                                "regions:\n"
                                "  - {name: drop, density: 1, shape: {sphere: {center: [0, 0], radius: 1}}}\n"
                                "  - {name: air, type: empty}\n"));
  assert_success(RegionVolume(&flow, 0, &first_area));
  assert_success(SceneRunStep(&flow, 76, 0.01));
  assert_success(RegionEnd(&flow, 0, X, 1, vector3(0., 0., 0.), &a));
  assert_success(RegionEnd(&flow, 0, Y, 1, vector3(0., 0., 0.), &b));
  assert_success(RegionVolume(&flow, 0, &area));
  note("S8, 20 cells per radius: a %.4f (0.51427), b %.4f (1.94452), area changed by %.3f %%", (double)a,
       (double)b, 100. * (double)(area / first_area - 1.));
  assert_near(b, 1.94452, 0.01 * 1.94452);
  assert_near(area / first_area, 1., 0.005);
  assert_success(SceneRunDestroy(&flow));
}

/* Laplace number 12000 = sigma rho D / mu^2; time in D sqrt(rho D / sigma). */
static void a_drop_at_rest_keeps_laplaces_pressure_and_hardly_moves(void **state)
{
  const PetscReal diameter = 0.8, viscosity = PetscSqrtReal(0.8 / 12000.);
  PetscReal       speed, inside = 0., outside = 0.;
  SceneRun        flow;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, origin: [-0.8, -0.8], size: [1.6, 1.6], resolution: 50}\n"
                     "run: {end_time: 10, frame_interval: 10}\n"
                     "fluid: {sides: {all: slip}}\n"
                     "regions:\n"
                     "  - {name: drop, density: 1, viscosity: %g,\n"
                     "     shape: {sphere: {center: [0.003, 0.007], radius: 0.4}}}\n"
                     "  - {name: liquid, density: 1, viscosity: %g}\n"
                     "interfaces: {tensions: [{first: drop, second: liquid, tension: 1}]}\n",
                     (double)viscosity, (double)viscosity));
  assert_success(SceneRunUntil(&flow, 2.));
  assert_success(LargestSpeed(&flow, &speed));
  if (flow.fluid) {
    assert_int_equal(SceneRunSample(&flow, FIELD_PRESSURE, vector3(0., 0., 0.), &inside), 0);
    assert_int_equal(SceneRunSample(&flow, FIELD_PRESSURE, vector3(-0.7, -0.7, 0.), &outside), 0);
  }
  inside -= outside;
  assert_success(MPI_Bcast(&inside, 1, MPIU_REAL, 0, PETSC_COMM_WORLD));
  note("M4, 25 cells per diameter: pressure jump %.5f (%.5f), capillary number %.2e", (double)inside,
       2. / (double)diameter, (double)(speed * viscosity));
  assert_near(inside * diameter / 2., 1., 0.01);
  assert_on_all_ranks(speed * viscosity < 1e-4);
  assert_success(SceneRunDestroy(&flow));
}

/* Twice the mean time between two moments at which the drop is as wide as high. */
static PetscErrorCode MeasurePeriod(SceneRun *flow, PetscReal dt, PetscInt steps, PetscReal *period)
{
  const Vector3 middle = vector3(0., 0., 0.);
  PetscReal     before = 1., first = 0., last = 0.;
  PetscInt      moments = 0;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < steps; n++) {
    PetscReal width, height;

    PetscCall(SceneRunStep(flow, 1, dt));
    PetscCall(RegionEnd(flow, 0, X, 1, middle, &width));
    PetscCall(RegionEnd(flow, 0, Y, 1, middle, &height));
    if ((width - height) * before <= 0.) {
      last = (n - (width - height) / (width - height - before)) * dt;
      first = moments++ ? first : last;
    }
    before = width - height;
  }
  PetscCheck(moments >= 2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the drop does not oscillate");
  *period = 2. * (last - first) / (moments - 1);
  PetscFunctionReturn(0);
}

/* r = 0.1 (1 + 0.05 cos 2 theta), density ratio 1000, no viscosity: omega = 77.420966 (Lamb). */
static void an_oscillating_drop_has_lambs_frequency(void **state)
{
  const PetscReal exact = 0.081156121;
  PetscReal       period[2];
  SceneRun        flow;

  (void)state;
  for (PetscInt level = 0; level < 2; level++) {
    const PetscInt  cells = 32 << level; /* of a box of 0.5 m: 12.8 and 25.6 per diameter */
    const PetscReal dt = exact / (200. * (1 + 2 * level));

    assert_success(
        SceneRunCreate(PETSC_COMM_WORLD, &flow,
                       "grid: {dimension: 2, origin: [-0.25, -0.25], size: [0.5, 0.5], resolution: %d}\n"
                       "run: {end_time: 10, frame_interval: 10}\n"
                       "fluid: {sides: {all: slip}}\n"
                       "regions:\n"
                       "  - {name: drop, density: 1, shape: {formula: {value: \"sqrt(x^2+y^2) - "
                       "0.1*(1+0.05*(x^2-y^2)/max(x^2+y^2,1e-12))\"}}}\n"
                       "  - {name: gas, density: 0.001}\n"
                       "interfaces: {tensions: [{first: drop, second: gas, tension: 1}]}\n",
                       (int)cells));
    assert_success(MeasurePeriod(&flow, dt, (PetscInt)(2.2 * exact / dt), &period[level]));
    assert_success(SceneRunDestroy(&flow));
    note("M7, %.1f cells per diameter: frequency off by %+.2f %%", 0.4 * cells,
         100. * (double)(exact / period[level] - 1.));
  }
  assert_near(exact / period[1], 1., 0.01);
  assert_on_all_ranks(PetscAbsReal(exact / period[1] - 1.) < PetscAbsReal(exact / period[0] - 1.));
}

TEST_MAIN(cmocka_unit_test(a_free_drop_stretches_as_monaghan_says),
          cmocka_unit_test(a_drop_at_rest_keeps_laplaces_pressure_and_hardly_moves),
          cmocka_unit_test(an_oscillating_drop_has_lambs_frequency))
