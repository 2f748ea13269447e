/* Bodies in a pool (B7, Archimedes): what floats at its draft stays there, what does not comes to rest where
   it displaces its weight, what is heavier lies on the floor, and what weighs as much as water stays where it
   is. */
#include "harness.h"
#include "liquid.h"

#include <math.h>

enum { CELLS = 32 };

/* Two dimensions, water up to y = 1/2. */
static void fill_pool(SceneRun *flow, PetscReal viscosity, PetscReal density, const char shape[])
{
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, flow,
                     "grid: {dimension: 2, size: [1, 1], resolution: %d}\n"
                     "run: {end_time: 10, frame_interval: 1}\n"
                     "fluid: {gravity: [0, -9.81]}\n"
                     "regions:\n"
                     "  - {name: water, density: 1000, viscosity: %g, shape: {box: {low: [-1, -1], "
                     "high: [2, 0.5]}}}\n"
                     "  - {name: air, type: empty}\n"
                     "solids:\n"
                     "  bodies:\n"
                     "    - {name: body, density: %g, shape: {%s}}\n"
                     "    - {name: floor, type: static, shape: {plane: {point: [0, 0, 0], normal: "
                     "[0, 1, 0]}}}\n",
                     CELLS, (double)viscosity, (double)density, shape));
}

static BodyView body_of(SceneRun *flow)
{
  return solid_body_view(simulation_solid(flow->simulation), 0);
}

static PetscReal largest_speed(SceneRun *flow)
{
  FluidTotals    totals = {.mass = 0.};
  PetscErrorCode error = flow->fluid ? FluidGetTotals(flow->fluid, &totals) : 0;

  assert_success(error);
  assert_success(MPI_Bcast(&totals.largest_speed, 1, MPIU_REAL, 0, PETSC_COMM_WORLD));
  return totals.largest_speed;
}

/* Some steps from rest: speed of the fluid and way of the body. */
static void check_stays(SceneRun *flow, PetscInt steps, PetscReal dt)
{
  const BodyView before = body_of(flow);
  PetscReal      fastest = 0.;
  Vector3        way;

  for (PetscInt n = 0; n < steps; n++) {
    assert_success(SceneRunStep(flow, 1, dt));
    fastest = PetscMax(fastest, largest_speed(flow));
  }
  way = vector3_subtract(body_of(flow).position, before.position);
  note("fastest %.1e m/s, moved by %.1e m", (double)fastest, (double)vector3_norm(way));
  assert_near(fastest, 0., 1e-6);
  assert_near(vector3_norm(way), 0., 1e-6);
}

static void a_box_floats_at_its_draft(void **state)
{
  SceneRun flow;

  (void)state;
  fill_pool(&flow, 1., 600., "box: {low: [0.3, 0.32], high: [0.7, 0.62]}");
  check_stays(&flow, 50, 0.02);
  assert_success(SceneRunDestroy(&flow));
  fill_pool(&flow, 0., 500., "box: {low: [0.3, 0.35], high: [0.7, 0.65]}");
  check_stays(&flow, 50, 0.02);
  assert_success(SceneRunDestroy(&flow));
}

/* Off the symmetry of the lattice: walls in the upper and in the lower half of a cell. */
static void a_box_anywhere_floats_at_its_draft(void **state)
{
  static const char *const shapes[] = {"box: {low: [0.21, 0.35], high: [0.61, 0.65]}",
                                       "box: {low: [0.22, 0.35], high: [0.62, 0.65]}",
                                       "box: {low: [0.2, 0.34], high: [0.47, 0.66]}"};
  SceneRun                 flow;

  (void)state;
  for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(shapes); n++) {
    fill_pool(&flow, 0., 500., shapes[n]);
    check_stays(&flow, 25, 0.02);
    assert_success(SceneRunDestroy(&flow));
  }
}

static void check_volume(SceneRun *flow, PetscReal volume, PetscReal tolerance)
{
  PetscReal now;

  assert_success(RegionVolume(flow, 0, &now));
  assert_near(now, volume, tolerance * volume);
}

/* Three quarters of its area under water, whose surface meets it at a slope. */
static void a_disc_floats_at_its_draft(void **state)
{
  const PetscReal height = 0.4393940;
  PetscReal       fastest = 0., volume;
  SceneRun        flow;

  (void)state;
  fill_pool(&flow, 0.001, 750., "sphere: {center: [0.5, 0.439394], radius: 0.15}");
  assert_success(RegionVolume(&flow, 0, &volume));
  for (PetscInt n = 0; n < 50; n++) {
    assert_success(SceneRunStep(&flow, 1, 0.02));
    fastest = PetscMax(fastest, largest_speed(&flow));
    check_volume(&flow, volume, 1e-4);
  }
  note("disc: fastest %.1e m/s, height off by %.1e m", (double)fastest,
       (double)(body_of(&flow).position.at[Y] - height));
  assert_near(fastest, 0., 5e-3);
  assert_near(body_of(&flow).position.at[Y], height, 0.1 / CELLS);
  assert_success(SceneRunDestroy(&flow));
}

/* The water beside it is counted by the disc's surface, not by whole cells, which it covers and leaves one by
   one; in stiff water, so that it comes to rest at the level that its draft makes. */
static void a_disc_that_bobs_leaves_the_water_its_volume(void **state)
{
  static const char pool[] =
      "grid: {dimension: 2, size: [1, 1], resolution: 32}\n"
      "run: {end_time: 10, frame_interval: 1}\n"
      "fluid: {gravity: [0, -9.81]}\n"
      "interfaces: {volume: %s}\n"
      "regions:\n"
      "  - {name: water, density: 1000, viscosity: %g, shape: {box: {low: [-1, -1], high: [2, 0.5]}}}\n"
      "  - {name: air, type: empty}\n"
      "solids: {bodies: [{name: body, density: 500, shape: {sphere: {center: [0.5, 0.46], radius: "
      "0.15}}}]}\n";
  /* the disc is half under water, 0.04 m above where it was let go, which takes the level down */
  const PetscReal radius = 0.15, covered = radius * radius * asin(0.04 / radius) +
                                           0.04 * PetscSqrtReal(radius * radius - 0.0016);
  PetscReal start, before;
  SceneRun  flow;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, pool, "free", 0.001));
  assert_success(RegionVolume(&flow, 0, &start));
  before = start;
  for (PetscInt n = 0; n < 50; n++) {
    assert_success(SceneRunStep(&flow, 1, 0.02));
    check_volume(&flow, start, 1e-2);
    check_volume(&flow, before, 1e-3);
    assert_success(RegionVolume(&flow, 0, &before));
  }
  assert_success(SceneRunDestroy(&flow));
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, pool, "kept", 10.));
  assert_success(SceneRunStep(&flow, 200, 0.02));
  note("kept: the disc at rest is %.1e m off", (double)(body_of(&flow).position.at[Y] - (0.5 - covered)));
  assert_near(body_of(&flow).position.at[Y], 0.5 - covered, 0.02 / CELLS);
  assert_success(SceneRunDestroy(&flow));
}

/* Plates of slight and of steep slope, decks just above the water, a corner in it: the surface goes on behind
   their walls as it comes. */
static void water_is_at_rest_around_what_is_held(void **state)
{
  static const struct {
    PetscReal   level;
    const char *shape;
  } cases[] = {
      {0.4921, "placed: {shape: {box: {low: [-0.05, -0.3], high: [0.05, 0.3]}}, rotate: [0, 0, 1.4], "
               "translate: [0.51, 0.5]}"},
      {0.4873, "placed: {shape: {box: {low: [-0.05, -0.3], high: [0.05, 0.3]}}, rotate: [0, 0, 0.5], "
               "translate: [0.5, 0.5]}"},
      {0.5, "box: {low: [0.3, 0.3], high: [0.7, 0.51]}"},
      {0.4873, "box: {low: [0.31, 0.3], high: [0.7, 0.51]}"},
      {0.4873, "sphere: {center: [0.513, 0.457], radius: 0.15}"},
  };
  SceneRun flow;

  (void)state;
  for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(cases); n++) {
    assert_success(
        SceneRunCreate(PETSC_COMM_WORLD, &flow,
                       "grid: {dimension: 2, size: [1, 1], resolution: 32}\n"
                       "run: {end_time: 10, frame_interval: 1}\n"
                       "fluid: {gravity: [0, -9.81], obstacles: cut}\n"
                       "regions:\n"
                       "  - {name: water, density: 1000, viscosity: 0.001, shape: {box: {low: [-1, -1], "
                       "high: [2, %g]}}}\n"
                       "  - {name: air, type: empty}\n"
                       "solids: {bodies: [{name: body, type: static, shape: {%s}}]}\n",
                       (double)cases[n].level, cases[n].shape));
    check_stays(&flow, 25, 0.02);
    assert_success(SceneRunDestroy(&flow));
  }
  fill_pool(&flow, 0.001, 933., "box: {low: [0.3, 0.2201], high: [0.7, 0.5201]}"); /* deck 0.64 h above */
  check_stays(&flow, 50, 0.02);
  assert_success(SceneRunDestroy(&flow));
}

/* 0.12 m in oil, 0.18 m in water. */
static void a_box_floats_between_two_liquids(void **state)
{
  SceneRun flow;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow, "%s",
                     "grid: {dimension: 2, size: [1, 1], resolution: 32}\n"
                     "run: {end_time: 10, frame_interval: 1}\n"
                     "fluid: {gravity: [0, -9.81]}\n"
                     "regions:\n"
                     "  - {name: oil, density: 800, viscosity: 1}\n"
                     "  - {name: water, density: 1000, viscosity: 1, shape: {box: {low: [-1, -1], "
                     "high: [2, 0.5]}}}\n"
                     "solids: {bodies: [{name: body, density: 920, shape: {box: {low: [0.21, 0.32], "
                     "high: [0.61, 0.62]}}}]}\n"));
  check_stays(&flow, 25, 0.02);
  assert_success(SceneRunDestroy(&flow));
}

static void what_weighs_as_much_as_water_stays(void **state)
{
  SceneRun flow;

  (void)state;
  fill_pool(&flow, 1., 1000., "sphere: {center: [0.43, 0.23], radius: 0.15}");
  check_stays(&flow, 50, 0.02);
  assert_success(SceneRunDestroy(&flow));
  fill_pool(&flow, 1., 1000.,
            "placed: {shape: {box: {low: [-0.12, -0.08], high: [0.12, 0.08]}}, rotate: "
            "[0, 0, 20], translate: [0.5, 0.25]}");
  check_stays(&flow, 50, 0.02);
  assert_success(SceneRunDestroy(&flow));
}

static void a_cube_floats_at_its_draft_in_space(void **state)
{
  SceneRun flow;
  BodyView body;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow, "%s",
      "grid: {size: [1, 1, 1], resolution: 20}\n"
      "run: {end_time: 10, frame_interval: 1}\n"
      "fluid: {gravity: [0, 0, -9.81]}\n"
      "regions:\n"
      "  - {name: water, density: 1000, viscosity: 1, shape: {box: {low: [-1, -1, -1], high: [2, 2, 0.5]}}}\n"
      "  - {name: air, type: empty}\n"
      "solids: {bodies: [{name: body, density: 500, shape: {box: {low: [0.28, 0.31, 0.28], high: [0.72, "
      "0.75, 0.72]}}}]}\n"));
  check_stays(&flow, 20, 0.02);
  body = body_of(&flow);
  assert_near(body.spin.at[X], 0., 1e-6);
  assert_success(SceneRunDestroy(&flow));
}

/* How far the centre of a disc of radius 1 is above the surface when `part` of it is under water. */
static PetscReal disc_above(PetscReal part)
{
  PetscReal low = -1., high = 1.;

  for (int n = 0; n < 60; n++) {
    const PetscReal y = 0.5 * (low + high), under = (acos(y) - y * sqrt(1. - y * y)) / PETSC_PI;

    if (under > part)
      low = y;
    else
      high = y;
  }
  return 0.5 * (low + high);
}

/* The height at which a body comes to rest that starts at y = 0.45; its size is `reach` up and down. */
typedef struct {
  const char *shape;
  PetscReal   area, under, reach; /* under: of the area, at the start */
  PetscBool   is_round;
} Floater;

static PetscReal resting_height(const Floater *floater, PetscReal ratio)
{
  const PetscReal level = 0.5 - floater->under + PetscMin(ratio, 1.) * floater->area;

  if (ratio > 1.)
    return floater->reach;
  return level + floater->reach * (floater->is_round ? disc_above(ratio) : 1. - 2. * ratio);
}

/* Steps of `dt`, shorter where one has to be repeated: what is squeezed from under a body flows fast. */
static void step_until(SceneRun *flow, PetscReal end, PetscReal dt)
{
  while (simulation_time(flow->simulation) < end * (1. - 1e-12))
    assert_success(SceneRunStep(flow, 1, PetscMin(dt, end - simulation_time(flow->simulation))));
}

static void check_comes_to_rest(const Floater *floater, PetscReal ratio)
{
  const PetscReal h = 1. / CELLS, wanted = resting_height(floater, ratio);
  PetscReal       height[2];
  SceneRun        flow;

  /* what sinks starts under water: its splash would be another test; and oil under it would hold it up */
  fill_pool(&flow, ratio > 1. ? 1. : 20., 1000. * ratio, floater->shape);
  step_until(&flow, 4., 0.02);
  height[0] = body_of(&flow).position.at[Y];
  step_until(&flow, 5., 0.02);
  height[1] = body_of(&flow).position.at[Y];
  note("%s of %g: %.4f, then %.4f, wanted %.4f: %+.2f cells; body %.1e m/s, fluid %.1e m/s",
       floater->is_round ? "disc" : "box", (double)ratio, (double)height[0], (double)height[1],
       (double)wanted, (double)((height[1] - wanted) / h), (double)vector3_norm(body_of(&flow).velocity),
       (double)largest_speed(&flow));
  assert_near(height[0], wanted, 0.1 * h);
  assert_near(height[1], wanted, 0.1 * h);
  assert_near(height[1], height[0], 0.1 * h);
  assert_near(vector3_norm(body_of(&flow).velocity), 0., 0.01);
  assert_success(SceneRunDestroy(&flow));
}

static void bodies_of_five_densities_come_to_rest_where_archimedes_wants_them(void **state)
{
  static const PetscReal ratios[] = {0.25, 0.5, 0.75, 0.9};
  const PetscReal        r = 0.15, dip = 0.05;
  const Floater          box = {"box: {low: [0.3, 0.35], high: [0.7, 0.55]}", 0.08, 0.06, 0.1, PETSC_FALSE};
  const Floater          disc = {"sphere: {center: [0.5, 0.45], radius: 0.15}", PETSC_PI * r * r,
                                 PETSC_PI * r * r - r * r * acos(dip / r) + dip * sqrt(r * r - dip * dip), r,
                                 PETSC_TRUE};
  const Floater          sunken_disc = {"sphere: {center: [0.5, 0.25], radius: 0.15}", PETSC_PI * r * r,
                                        PETSC_PI * r * r, r, PETSC_TRUE};

  const Floater sunken_box = {"box: {low: [0.3, 0.12], high: [0.7, 0.32]}", 0.08, 0.08, 0.1, PETSC_FALSE};

  (void)state;
  only_in_long_runs();
  for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(ratios); n++) {
    check_comes_to_rest(&box, ratios[n]);
    check_comes_to_rest(&disc, ratios[n]);
  }
  check_comes_to_rest(&sunken_box, 1.5);
  check_comes_to_rest(&sunken_disc, 1.5);
}

TEST_MAIN(cmocka_unit_test(a_box_floats_at_its_draft), cmocka_unit_test(a_box_anywhere_floats_at_its_draft),
          cmocka_unit_test(a_disc_floats_at_its_draft),
          cmocka_unit_test(a_disc_that_bobs_leaves_the_water_its_volume),
          cmocka_unit_test(water_is_at_rest_around_what_is_held),
          cmocka_unit_test(a_box_floats_between_two_liquids),
          cmocka_unit_test(what_weighs_as_much_as_water_stays),
          cmocka_unit_test(a_cube_floats_at_its_draft_in_space),
          cmocka_unit_test(bodies_of_five_densities_come_to_rest_where_archimedes_wants_them))
