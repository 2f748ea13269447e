/* Redistancing: orders, what it does to the interface, curvature and volume of what it leaves. */
#include "scene_run.h"
#include "harness.h"
#include "interface.h"

static const InterfaceConfig config = {.advection = INTERFACE_WENO5};
static PetscInt              dimension;

static const Vector3   centre = {{0.503, 0.491, 0.497}};
static const PetscReal radius = 0.3;

static PetscReal ball(Vector3 point)
{
  Vector3 away = vector3_subtract(point, centre);

  if (dimension == 2)
    away.at[Z] = 0.;
  return vector3_norm(away) - radius;
}

/* The same zero set, but steep here and flat there. */
static PetscReal crooked_ball(Vector3 point)
{
  return ball(point) * (1.5 + PetscSinReal(7. * point.at[X]) * PetscCosReal(5. * point.at[Y] + point.at[Z])) *
         (1. + 2. * ball(point));
}

static PetscReal steep_ball(Vector3 point)
{
  return 100. * ball(point);
}

static PetscReal ball_curvature(Vector3 point)
{
  return (dimension - 1) / (ball(point) + radius);
}

static PetscReal box_distance(Vector3 point, Vector3 low, Vector3 high)
{
  PetscReal inside = -PETSC_MAX_REAL, outside = 0.;

  for (PetscInt a = 0; a < 2; a++) {
    const PetscReal off = PetscMax(low.at[a] - point.at[a], point.at[a] - high.at[a]);

    inside = PetscMax(inside, off);
    outside += PetscSqr(PetscMax(off, 0.));
  }
  return inside < 0. ? inside : PetscSqrtReal(outside);
}

static PetscReal one_box(Vector3 point)
{
  return box_distance(point, vector3(0.2, 0.2, 0.), vector3(0.8, 0.8, 0.));
}

/* The same from two boxes that share a side: their union is almost zero along the seam. */
static PetscReal two_boxes(Vector3 point)
{
  return PetscMin(box_distance(point, vector3(0.2, 0.2, 0.), vector3(0.503, 0.8, 0.)),
                  box_distance(point, vector3(0.503, 0.2, 0.), vector3(0.8, 0.8, 0.)));
}

/* A bounded field that knows no more than the side. */
static PetscReal sign_only(Vector3 point)
{
  return ball(point) < 0. ? -1. : 1.;
}

typedef struct {
  FieldError near, band, curvature; /* distances in cells */
  PetscReal  volume;                /* relative error */
} Result;

static PetscErrorCode Measure(PetscInt n, DistanceFunction start, PetscInt times, Result *result)
{
  const GridConfig grid = cube_grid(dimension, n, 1.);
  const PetscReal  exact =
      dimension == 2 ? PETSC_PI * PetscSqr(radius) : 4. / 3. * PETSC_PI * PetscSqr(radius) * radius;
  const PetscReal h = 1. / n;
  Interface       interface;
  Vec             field, curvature;
  PetscReal       volume;

  PetscFunctionBegin;
  PetscCall(InterfaceCreate(PETSC_COMM_WORLD, &grid, &config, &interface));
  PetscCall(InterfaceSet(&interface, start));
  for (PetscInt t = 0; t < times; t++)
    PetscCall(LevelSetRedistance(interface.level_set));
  PetscCall(LevelSetGetField(interface.level_set, &field));
  PetscCall(InterfaceCompare(interface.grid, field, ball, ball, 1.2 * h, &result->near));
  PetscCall(InterfaceCompare(interface.grid, field, ball, ball, 5.5 * h, &result->band));
  PetscCall(MacGridCreateField(interface.grid, &curvature));
  PetscCall(DistanceGetCurvature(interface.grid, NULL, field, curvature));
  PetscCall(InterfaceCompare(interface.grid, curvature, ball_curvature, ball, 0.5 * h, &result->curvature));
  PetscCall(VecDestroy(&curvature));
  PetscCall(LevelSetGetVolume(interface.level_set, NULL, &volume));
  result->volume = PetscAbsReal(volume / exact - 1.);
  PetscCall(InterfaceDestroy(&interface));
  PetscFunctionReturn(0);
}

static void print_result(const char *what, PetscInt n, const Result *result)
{
  note("%s, %d-D, %3d: distance beside the interface %.2e (mean %.2e), in the band %.2e (%.2e), curvature "
       "%.2e (%.2e), volume %.2e",
       what, (int)dimension, (int)n, result->near.largest, result->near.mean, result->band.largest,
       result->band.mean, result->curvature.largest, result->curvature.mean, result->volume);
}

/* Orders between the second and the third grid. */
static void check_orders(const char *what, DistanceFunction start, PetscInt coarse)
{
  Result    result[3];
  PetscReal near, band, curvature, mean_curvature, volume;

  for (PetscInt level = 0; level < 3; level++) {
    assert_success(Measure(coarse << level, start, 1, &result[level]));
    print_result(what, coarse << level, &result[level]);
  }
  near = order_between(result[1].near.largest, result[2].near.largest);
  band = order_between(result[1].band.mean, result[2].band.mean);
  curvature = order_between(result[1].curvature.largest, result[2].curvature.largest);
  mean_curvature = order_between(result[1].curvature.mean, result[2].curvature.mean);
  volume = order_between(result[0].volume, result[2].volume) / 2.;
  note("orders: %.2f, %.2f, curvature %.2f (mean %.2f), volume %.2f", near, band, curvature, mean_curvature,
       volume);
  assert_on_all_ranks(near > 3.8);
  assert_on_all_ranks(band > 2.7);
  assert_on_all_ranks(curvature > 1.75);
  assert_on_all_ranks(mean_curvature > 1.8);
  assert_on_all_ranks(volume > 2.5);
}

static void distance_is_fourth_order_beside_the_interface(void **state)
{
  (void)state;
  dimension = 2;
  check_orders("crooked circle", crooked_ball, 32);
  check_orders("steep circle", steep_ball, 32);
  dimension = 3;
  check_orders("crooked sphere", crooked_ball, 16);
}

static void repetition_hardly_moves_the_interface(void **state)
{
  Result once, often;

  (void)state;
  for (dimension = 2; dimension <= 3; dimension++) {
    assert_success(Measure(32, ball, 1, &once));
    print_result("once", 32, &once);
    assert_success(Measure(32, ball, 100, &often));
    print_result("a hundred times", 32, &often);
    assert_on_all_ranks(often.near.largest < 1e-4 / 32.);
    assert_on_all_ranks(often.curvature.largest < 2e-3 * (dimension - 1) / radius);
    assert_near(often.volume, once.volume, 1e-5);
  }
}

static void seams_of_shapes_vanish(void **state)
{
  const GridConfig grid = cube_grid(2, 64, 1.);
  Interface        interface;
  Vec              field;
  FieldError       error;
  PetscReal        volume[2];

  (void)state;
  assert_success(InterfaceCreate(PETSC_COMM_WORLD, &grid, &config, &interface));
  assert_success(InterfaceSet(&interface, two_boxes));
  assert_success(LevelSetRedistance(interface.level_set));
  assert_success(LevelSetGetField(interface.level_set, &field));
  assert_success(InterfaceCompare(interface.grid, field, one_box, one_box, 5.5 / 64., &error));
  assert_success(LevelSetGetVolume(interface.level_set, NULL, &volume[0]));
  for (PetscInt n = 0; n < 100; n++)
    assert_success(LevelSetRedistance(interface.level_set));
  assert_success(LevelSetGetVolume(interface.level_set, NULL, &volume[1]));
  note("two boxes: distance to %.2e cells (mean %.2e), volume %.2e, after a hundred more %.2e",
       64. * error.largest, 64. * error.mean, volume[0] / 0.36 - 1., volume[1] / 0.36 - 1.);
  assert_on_all_ranks(64. * error.largest < 0.5 && 64. * error.mean < 0.03);
  assert_near(volume[0], 0.36, 0.36 * 1e-3);
  assert_near(volume[1], volume[0], 0.36 * 2e-4);
  assert_success(InterfaceDestroy(&interface));
}

static void signs_are_enough(void **state)
{
  Result result;

  (void)state;
  for (dimension = 2; dimension <= 3; dimension++) {
    assert_success(Measure(32, sign_only, 1, &result));
    print_result("signs only", 32, &result);
    assert_on_all_ranks(result.band.largest < 0.9 / 32. && result.band.mean < 0.3 / 32.);
  }
}

TEST_MAIN(cmocka_unit_test(distance_is_fourth_order_beside_the_interface),
          cmocka_unit_test(repetition_hardly_moves_the_interface), cmocka_unit_test(seams_of_shapes_vanish),
          cmocka_unit_test(signs_are_enough))
