/* Redistancing: orders, what it does to the interface, curvature of what it leaves. */
#include "flow.h"
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

static PetscReal ball_curvature(Vector3 point)
{
  return (dimension - 1) / (ball(point) + radius);
}

/* Two boxes that share a side: the distance to each is right, their union has a seam of zeros inside. */
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

static PetscReal two_boxes(Vector3 point)
{
  return PetscMin(box_distance(point, vector3(0.2, 0.2, 0.), vector3(0.503, 0.8, 0.)),
                  box_distance(point, vector3(0.503, 0.2, 0.), vector3(0.8, 0.8, 0.)));
}

static PetscReal one_box(Vector3 point)
{
  return box_distance(point, vector3(0.2, 0.2, 0.), vector3(0.8, 0.8, 0.));
}

static PetscReal steep_ball(Vector3 point)
{
  return 100. * ball(point);
}

typedef struct {
  FieldError near, band, curvature;
  PetscReal  volume; /* relative error */
} Result;

static PetscErrorCode Measure(PetscInt n, DistanceFunction start, PetscInt times, Result *result)
{
  Interface interface;
  Vec       field, curvature;
  PetscReal h, volume, exact;

  PetscFunctionBegin;
  PetscCall(InterfaceCreate(dimension, n, 1., &config, &interface));
  h = grid_spacing(interface.grid);
  PetscCall(InterfaceSet(&interface, start));
  for (PetscInt t = 0; t < times; t++)
    PetscCall(LevelSetRedistance(interface.level_set));
  PetscCall(LevelSetGetField(interface.level_set, &field));
  PetscCall(InterfaceCompare(interface.grid, field, ball, ball, 1.2 * h, &result->near));
  PetscCall(InterfaceCompare(interface.grid, field, ball, ball, 5.5 * h, &result->band));
  PetscCall(MacGridCreateField(interface.grid, &curvature));
  PetscCall(DistanceGetCurvature(interface.grid, field, curvature));
  PetscCall(InterfaceCompare(interface.grid, curvature, ball_curvature, ball, 0.5 * h, &result->curvature));
  PetscCall(VecDestroy(&curvature));
  PetscCall(LevelSetGetVolume(interface.level_set, NULL, &volume));
  exact = dimension == 2 ? PETSC_PI * radius * radius : 4. / 3. * PETSC_PI * radius * radius * radius;
  result->volume = volume / exact - 1.;
  PetscCall(InterfaceDestroy(&interface));
  PetscFunctionReturn(0);
}

static void print_result(const char *what, PetscInt n, const Result *result)
{
  if (harness_rank() == 0)
    note("%s, %d-D, %3d: distance beside the interface %.2e (mean %.2e), in the band %.2e (%.2e), curvature "
         "%.2e (%.2e), volume %.2e",
         what, (int)dimension, (int)n, result->near.largest, result->near.mean, result->band.largest,
         result->band.mean, result->curvature.largest, result->curvature.mean, result->volume);
}

static void measure_orders(const char *what, DistanceFunction start, PetscInt coarse)
{
  Result result[3];

  for (PetscInt level = 0; level < 3; level++) {
    assert_success(Measure(coarse << level, start, 1, &result[level]));
    print_result(what, coarse << level, &result[level]);
  }
  note("orders: %.2f, %.2f, curvature %.2f, volume %.2f",
       order_between(result[1].near.largest, result[2].near.largest),
       order_between(result[1].band.mean, result[2].band.mean),
       order_between(result[1].curvature.largest, result[2].curvature.largest),
       order_between(PetscAbsReal(result[1].volume), PetscAbsReal(result[2].volume)));
}

static void orders(void **state)
{
  (void)state;
  dimension = 2;
  measure_orders("circle", ball, 32);
  measure_orders("crooked circle", crooked_ball, 32);
  measure_orders("steep circle", steep_ball, 32);
  dimension = 3;
  measure_orders("crooked sphere", crooked_ball, 16);
}

static void repeated(void **state)
{
  Result result;

  (void)state;
  for (dimension = 2; dimension <= 3; dimension++) {
    assert_success(Measure(32, crooked_ball, 1, &result));
    print_result("once", 32, &result);
    assert_success(Measure(32, crooked_ball, 100, &result));
    print_result("a hundred times", 32, &result);
  }
}

static void seams(void **state)
{
  Interface  interface;
  Vec        field;
  FieldError error;
  PetscReal  volume;

  (void)state;
  assert_success(InterfaceCreate(2, 64, 1., &config, &interface));
  assert_success(InterfaceSet(&interface, two_boxes));
  assert_success(LevelSetRedistance(interface.level_set));
  assert_success(LevelSetGetField(interface.level_set, &field));
  assert_success(InterfaceCompare(interface.grid, field, one_box, one_box, 5.5 / 64., &error));
  assert_success(LevelSetGetVolume(interface.level_set, NULL, &volume));
  note("seam %.2e %.2e cells, volume %g", error.largest * 64, error.mean * 64, volume / 0.36 - 1.);
  for (int i = 0; i < 100; i++)
    assert_success(LevelSetRedistance(interface.level_set));
  assert_success(InterfaceCompare(interface.grid, field, one_box, one_box, 5.5 / 64., &error));
  assert_success(LevelSetGetVolume(interface.level_set, NULL, &volume));
  note("100 times: seam %.2e %.2e cells, volume %g", error.largest * 64, error.mean * 64, volume / 0.36 - 1.);
  assert_success(InterfaceDestroy(&interface));
}

TEST_MAIN(cmocka_unit_test(orders), cmocka_unit_test(repeated), cmocka_unit_test(seams))
