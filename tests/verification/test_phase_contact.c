/* Contact angles in two dimensions: drops take the cap of their angle on a side of the box, an obstacle and a
   body, and a liquid rises along the wall that it wets as Jurin says. */
#include "harness.h"
#include "liquid.h"

#include <math.h>

enum { DROP };

/* Half a disc of radius 0.3 at the start, on a floor at height `floor` that `wall` makes. */
static void create_drop(SceneRun *flow, PetscReal angle, PetscReal floor, const char wall[])
{
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, flow,
                     "grid: {dimension: 2, origin: [-0.8, 0], size: [1.6, 0.8], resolution: 32}\n"
                     "run: {end_time: 20, frame_interval: 20}\n"
                     "fluid: {sides: {all: slip}}\n"
                     "regions:\n"
                     "  - {name: drop, density: 1, viscosity: 0.1, shape: {sphere: {center: [0, %g], "
                     "radius: 0.3}}}\n"
                     "  - {name: air, density: 1, viscosity: 0.1}\n"
                     "interfaces:\n"
                     "  tensions: [{first: drop, second: air, tension: 1}]\n"
                     "  contact_angles: [{first: drop, second: air, angle: %g}]\n%s",
                     (double)floor, (double)angle, wall));
}

/* (1 - cos t)/sqrt(t - sin t cos t) is the height of the cap of area one. */
static PetscReal cap_height(PetscReal angle)
{
  return (1. - cos(angle)) / sqrt(angle - sin(angle) * cos(angle));
}

static PetscReal angle_of_cap(PetscReal height)
{
  PetscReal low = 1e-3, high = PETSC_PI - 1e-3;

  for (int n = 0; n < 60; n++)
    *(cap_height(0.5 * (low + high)) < height ? &low : &high) = 0.5 * (low + high);
  return 180. / PETSC_PI * low;
}

/* The area is known from the start; what is measured counts whole cells beside obstacles. */
static void check_cap(PetscReal angle, PetscReal floor, const char wall[], PetscReal time)
{
  PetscReal top, first, last, area, height, found;
  SceneRun  flow;

  create_drop(&flow, angle, floor, wall);
  assert_success(RegionVolume(&flow, DROP, &first));
  assert_success(SceneRunUntil(&flow, time));
  assert_success(RegionVolume(&flow, DROP, &last));
  assert_success(RegionReach(&flow, DROP, Y, 1, &top));
  area = 0.5 * PETSC_PI * 0.09 * last / first;
  height = (top - floor) / PetscSqrtReal(area);
  found = angle_of_cap(height);
  note("cap of %g degrees: %.1f, height off by %+.1f %%, area by %+.1f %%", (double)angle, (double)found,
       100. * (double)(height / cap_height(angle * PETSC_PI / 180.) - 1.),
       100. * (double)(last / first - 1.));
  assert_near(found, angle, 4.);
  assert_near(height / cap_height(angle * PETSC_PI / 180.), 1., 0.03);
  assert_success(SceneRunDestroy(&flow));
}

static void a_drop_on_a_side_takes_the_cap_of_its_angle(void **state)
{
  (void)state;
  check_cap(60., 0., "", 3.);
  check_cap(120., 0., "", 3.);
}

static void a_drop_on_an_obstacle_takes_the_cap_of_its_angle(void **state)
{
  static const char *const wall =
      "obstacles: [{name: floor, shape: {box: {low: [-3, -3], high: [3, 0.1437]}}}]\n";

  (void)state;
  check_cap(60., 0.1437, wall, 3.);
}

static void a_drop_on_a_body_takes_the_cap_of_its_angle(void **state)
{
  static const char *const wall = "solids: {bodies: [{name: floor, type: static, shape: {plane: {point: "
                                  "[0, 0.1437, 0], normal: [0, 1, 0]}}}]}\n";

  (void)state;
  only_in_long_runs();
  check_cap(60., 0.1437, wall, 5.);
  check_cap(90., 0.1437, wall, 5.);
  check_cap(120., 0.1437, wall, 5.);
}

/* Water in air, 3 mm high, thin enough to spread fast: it keeps its area and its place on a wall that holds
   markers back. */
static void a_drop_of_water_spreads_and_is_kept(void **state)
{
  PetscReal first, last, left, right;
  SceneRun  flow;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow, "%s",
      "grid: {dimension: 2, size: [0.02, 0.01], resolution: 48}\n"
      "run: {end_time: 1, frame_interval: 1}\n"
      "fluid: {gravity: [0, -9.81]}\n"
      "regions:\n"
      "  - {name: drop, material: water@20C, shape: {sphere: {center: [0.01, 0], radius: 0.003}}}\n"
      "  - {name: air, material: air@20C}\n"
      "interfaces:\n"
      "  tensions: [{first: drop, second: air, tension: 0.0728}]\n"
      "  contact_angles: [{first: drop, second: air, angle: 60}]\n"));
  assert_success(RegionVolume(&flow, DROP, &first));
  assert_success(SceneRunUntil(&flow, 0.05));
  assert_success(RegionVolume(&flow, DROP, &last));
  assert_success(RegionReach(&flow, DROP, X, 0, &left));
  assert_success(RegionReach(&flow, DROP, X, 1, &right));
  note("drop of water on a wall: area off by %+.2f %%, from %.2f to %.2f mm",
       100. * (double)(last / first - 1.), 1e3 * (double)left, 1e3 * (double)right);
  assert_near(last / first, 1., 0.01);
  assert_near(left + right, 0.02, 2e-4);
  assert_success(SceneRunDestroy(&flow));
}

/* The mean height of the liquid in some columns of cells. */
static PetscReal mean_height(SceneRun *flow, PetscReal from, PetscReal to)
{
  const PetscReal h = 0.05;
  PetscReal       sum = 0.;
  PetscInt        count = 0;

  for (PetscReal x = from + 0.5 * h; x < to; x += h, count++) {
    PetscReal top;

    assert_success(RegionEnd(flow, DROP, Y, 1, vector3(x, 0., 0.), &top));
    sum += top;
  }
  return sum / count;
}

/* A wall hangs into a pool in the middle; the liquid wets the left side alone, at 45 degrees: there it
   stands higher by sigma cos(theta)/(rho g width). */
static void a_liquid_rises_as_jurin_says(void **state)
{
  const PetscReal exact = 0.1 * PetscSqrtReal(0.5) / 0.4;
  PetscReal       left, right;
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow, "%s",
      "grid: {dimension: 2, size: [1, 1.2], resolution: 20}\n"
      "run: {end_time: 20, frame_interval: 20}\n"
      "fluid: {gravity: [0, -1], sides: {all: slip}}\n"
      "regions:\n"
      "  - {name: water, density: 1, viscosity: 0.05, shape: {box: {low: [-1, -1], high: [2, 0.6]}}}\n"
      "  - {name: air, type: empty}\n"
      "interfaces:\n"
      "  tensions: [{first: water, second: air, tension: 0.1}]\n"
      "  contact_angles:\n"
      "    - {first: water, second: air, angle: 90}\n"
      "    - {first: air, second: water, angle: 135, on: x_low}\n"
      "obstacles: [{name: wall, surface: slip, shape: {box: {low: [0.4, 0.2], high: [0.6, 2]}}}]\n"));
  assert_success(SceneRunUntil(&flow, 12.));
  left = mean_height(&flow, 0., 0.4);
  right = mean_height(&flow, 0.6, 1.);
  note("between walls: %.4f and %.4f m, a rise of %.4f (%.4f), off by %+.1f %%", (double)left, (double)right,
       (double)(left - right), (double)exact, 100. * (double)((left - right) / exact - 1.));
  assert_near(left - right, exact, 0.05 * exact);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_drop_on_a_side_takes_the_cap_of_its_angle),
          cmocka_unit_test(a_drop_on_an_obstacle_takes_the_cap_of_its_angle),
          cmocka_unit_test(a_drop_of_water_spreads_and_is_kept),
          cmocka_unit_test(a_drop_on_a_body_takes_the_cap_of_its_angle),
          cmocka_unit_test(a_liquid_rises_as_jurin_says))
