/* Where three regions meet, in two dimensions: a lens between two liquids takes the angles of its tensions,
   wherever it lies in the grid; without a tension between these it is a disc, and where theirs is larger than
   both of its own together it spreads. */
#include "harness.h"
#include "liquid.h"

#include <math.h>

enum { LENS, UPPER };

/* Sixteen cells across at the start, with arcs that make 60 degrees with its middle line at `middle`. Both
   its tensions are one, that of the others `tension`. */
static void create_lens(SceneRun *flow, MPI_Comm comm, PetscReal tension, Vector3 middle, PetscInt cells,
                        const char upper[])
{
  char            shape[256];
  const PetscReal radius = 0.125 / sin(PETSC_PI / 3.), away = 0.125 / tan(PETSC_PI / 3.);

  assert_success(PetscSNPrintf(shape, sizeof(shape), "(sqrt((x-%.15g)^2+(abs(y-%.15g)+%.15g)^2)-%.15g)",
                               (double)middle.at[X], (double)middle.at[Y], (double)away, (double)radius));
  assert_success(
      SceneRunCreate(comm, flow,
                     "grid: {dimension: 2, size: [0.625, 0.5], resolution: %d}\n"
                     "run: {end_time: 1, frame_interval: 1}\n"
                     "fluid: {sides: {all: slip}, pressure_tolerance: 1e-10, viscosity_tolerance: 1e-10}\n"
                     "regions:\n"
                     "  - {name: lens, density: 1, viscosity: 0.1, shape: {formula: {value: \"%s\"}}}\n"
                     "  - {name: upper, %s, shape: {formula: {value: \"max(%.15g-y,-%s)\"}}}\n"
                     "  - {name: lower, density: 1, viscosity: 0.1}\n"
                     "interfaces:\n"
                     "  overlap: project\n"
                     "  tensions:\n"
                     "    - {first: lens, second: upper, tension: 1}\n"
                     "    - {first: lower, second: lens, tension: 1}\n"
                     "    - {first: upper, second: lower, tension: %g}\n",
                     (int)cells, shape, upper, (double)middle.at[Y], shape, (double)tension));
}

static const char *const liquid = "density: 1, viscosity: 0.1";

/* Of a lens of half the length one: area. */
static PetscReal lens_area(PetscReal angle)
{
  return 2. * (angle - sin(angle) * cos(angle)) / PetscSqr(sin(angle));
}

/* The angle at which the height of a lens over the root of its area is this. */
static PetscReal angle_of_lens(PetscReal height)
{
  PetscReal low = 1e-3, high = PETSC_PI - 1e-3;

  for (int n = 0; n < 60; n++) {
    const PetscReal angle = 0.5 * (low + high);

    *(2. * tan(0.5 * angle) / sqrt(lens_area(angle)) < height ? &low : &high) = angle;
  }
  return low;
}

/* Its length over the root of its area. */
static PetscReal lens_length(PetscReal angle)
{
  return 2. / sqrt(lens_area(angle));
}

static void measure_height(SceneRun *flow, PetscReal *height)
{
  PetscReal low, high;

  assert_success(RegionReach(flow, LENS, Y, 0, &low));
  assert_success(RegionReach(flow, LENS, Y, 1, &high));
  *height = high - low;
}

static void measure_length(SceneRun *flow, PetscReal *length)
{
  PetscReal low, high;

  assert_success(RegionReach(flow, LENS, X, 0, &low));
  assert_success(RegionReach(flow, LENS, X, 1, &high));
  *length = high - low;
}

static void check_lens(PetscReal tension, Vector3 middle, const char upper[])
{
  const PetscReal exact = acos(0.5 * tension);
  PetscReal       height, area, angle, length;
  SceneRun        flow;

  create_lens(&flow, PETSC_COMM_WORLD, tension, middle, 40, upper);
  assert_success(SceneRunUntil(&flow, 0.3));
  measure_height(&flow, &height);
  assert_success(RegionVolume(&flow, LENS, &area));
  angle = angle_of_lens(height / PetscSqrtReal(area));
  measure_length(&flow, &length);
  length = length / (PetscSqrtReal(area) * lens_length(exact)) - 1.;
  note("tension %g at (%g, %g): angle %.1f (%.1f), length off by %+.1f %%", (double)tension,
       (double)middle.at[X], (double)middle.at[Y], 180. / PETSC_PI * (double)angle,
       180. / PETSC_PI * (double)exact, 100. * (double)length);
  assert_near(angle, exact, 4. / 180. * PETSC_PI);
  assert_near(length, 0., 0.035);
  assert_success(SceneRunDestroy(&flow));
}

static void lenses_take_neumanns_angles(void **state)
{
  (void)state;
  check_lens(1.5, vector3(0.3155, 0.2555, 0.), liquid);
}

static void without_a_tension_between_the_others_a_lens_is_a_disc(void **state)
{
  (void)state;
  check_lens(0., vector3(0.3155, 0.2555, 0.), liquid);
}

static void lenses_of_more_tensions_at_more_places(void **state)
{
  (void)state;
  only_in_long_runs();
  for (int place = 0; place < 4; place++) {
    const Vector3 middle = vector3(0.3125 + 0.0041 * place, 0.25 + 0.0027 * place, 0.);

    check_lens(0., middle, liquid);
    check_lens(0.25, middle, liquid);
    check_lens(0.5, middle, liquid);
    check_lens(1., middle, liquid);
    check_lens(1.3, middle, liquid);
    check_lens(1.5, middle, liquid);
    check_lens(1.5, middle, "type: empty");
  }
}

/* No angles hold these tensions; the lens becomes a layer. */
static void a_lens_spreads_totally(void **state)
{
  PetscReal before, height, area, first;
  SceneRun  flow;

  (void)state;
  create_lens(&flow, PETSC_COMM_WORLD, 2.5, vector3(0.3125, 0.25, 0.), 40, liquid);
  measure_height(&flow, &before);
  assert_success(RegionVolume(&flow, LENS, &first));
  assert_success(SceneRunUntil(&flow, 0.15));
  measure_height(&flow, &height);
  assert_success(RegionVolume(&flow, LENS, &area));
  note("height %.4f, %.4f at the start; area changed by %+.1f %%", (double)height, (double)before,
       100. * (double)(area / first - 1.));
  assert_on_all_ranks(height < 0.5 * before);
  assert_near(area / first, 1., 0.05);
  assert_success(SceneRunDestroy(&flow));
}

static void a_junction_is_the_same_on_all_ranks(void **state)
{
  SceneRun        flow, alone;
  FieldDifference difference;

  (void)state;
  create_lens(&flow, PETSC_COMM_WORLD, 1.5, vector3(0.3155, 0.2555, 0.), 40, liquid);
  create_lens(&alone, PETSC_COMM_SELF, 1.5, vector3(0.3155, 0.2555, 0.), 40, liquid);
  assert_success(SceneRunStep(&flow, 10, 5e-4));
  assert_success(SceneRunStep(&alone, 10, 5e-4));
  for (PetscInt d = 0; d < 2; d++) {
    assert_success(SceneRunCompareWithSerial(&flow, &alone, d, &difference));
    assert_near(difference.largest, 0., 1e-10);
  }
  assert_success(SceneRunDestroy(&alone));
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(lenses_take_neumanns_angles),
          cmocka_unit_test(without_a_tension_between_the_others_a_lens_is_a_disc),
          cmocka_unit_test(lenses_of_more_tensions_at_more_places), cmocka_unit_test(a_lens_spreads_totally),
          cmocka_unit_test(a_junction_is_the_same_on_all_ranks))
