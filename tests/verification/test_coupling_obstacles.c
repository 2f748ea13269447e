/* Obstacles that stand still are static bodies: what they let through, what they displace, and how well a
   flow between them and its force on them are known. */
#include "scene_run.h"
#include "harness.h"

#include "simulation/coupled_impl.h"

#include <math.h>

/* Between inflow and outflow, over a floor that covers a part of both and ends within cells. */
static void a_slippery_floor_leaves_a_uniform_flow(void **state)
{
  static const char *const floors[] = {"box: {low: [-1, -1], high: [3, 0.37]}",
                                       "plane: {point: [0, 0.41], normal: [0, 1]}",
                                       "formula: {value: y-0.335}"};
  static const PetscReal   heights[] = {0.37, 0.41, 0.335};
  SceneRun                 flow;
  FluidTotals              totals;

  (void)state;
  for (PetscInt n = 0; n < 3; n++) {
    assert_success(
        SceneRunCreate(PETSC_COMM_WORLD, &flow,
                       "grid: {dimension: 2, size: [2, 1], resolution: 32}\n"
                       "fluid:\n"
                       "  density: 1\n"
                       "  initial: {velocity: [1, 0]}\n"
                       "  sides: {all: slip, x_low: {type: inflow, velocity: [1, 0]}, x_high: open}\n"
                       "obstacles: [{name: floor, surface: slip, shape: {%s}}]\n",
                       floors[n]));
    assert_success(SceneRunStep(&flow, 10, 0.05));
    assert_on_all_ranks(flow.fluid); /* there is no solid team */
    assert_success(FluidGetTotals(flow.fluid, &totals));
    assert_near(totals.largest_speed, 1., 1e-6);
    assert_near(totals.mass, 2. * (1. - heights[n]), 1e-5);
    assert_near(totals.kinetic_energy, 1. - heights[n], 1e-5);
    assert_near(totals.outflow[X][0], heights[n] - 1., 1e-5);
    assert_near(totals.outflow[X][1], 1. - heights[n], 1e-5);
    assert_success(SceneRunDestroy(&flow));
  }
}

/* Of the fluid that is left in a box of 1 m. */
static PetscReal mass_beside(const char sides[], const char shape[])
{
  SceneRun    flow;
  FluidTotals totals;

  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {dimension: 2, size: [1, 1], resolution: 24}\n"
                                "fluid: {density: 1, sides: {%s}}\n"
                                "obstacles: [{name: it, shape: %s}]\n",
                                sides, shape));
  assert_success(FluidGetTotals(flow.fluid, &totals));
  assert_success(SceneRunDestroy(&flow));
  return totals.mass;
}

#define LENS                                                                                                 \
  "{intersection: [{sphere: {center: [0.4, 0.5], radius: 0.2}}, {sphere: {center: [0.6, 0.5], radius: "      \
  "0.2}}]}"
#define RING                                                                                                 \
  "{difference: [{sphere: {center: [0.51, 0.47], radius: 0.4}}, {sphere: {center: [0.51, 0.47], radius: "    \
  "0.2}}]}"
#define TWO                                                                                                  \
  "{union: [{sphere: {center: [0.3, 0.5], radius: 0.15}}, {box: {low: [0.6, 0.31], high: [0.83, 0.72]}}]}"

static void shapes_displace_their_area(void **state)
{
  const PetscReal lens = 2. * 0.04 * (PETSC_PI / 3. - PetscSqrtReal(3.) / 4.);

  (void)state;
  assert_near(mass_beside("all: slip", LENS), 1. - lens, 3e-3 * lens);
  assert_near(mass_beside("all: slip", RING), 1. - 0.12 * PETSC_PI, 1e-3);
  assert_near(mass_beside("all: slip", TWO), 1. - 0.0225 * PETSC_PI - 0.23 * 0.41, 1e-3);
  assert_near(mass_beside("all: slip", "{formula: {value: \"x^2+4*y^2-0.5\"}}"), 1. - PETSC_PI / 16., 1e-4);
  assert_near(mass_beside("all: slip", "{plane: {point: [0, 0.2], normal: [-0.3, 1]}}"), 0.65, 1e-6);
}

/* A floor goes around a periodic box once, however far it reaches. */
static void a_periodic_floor_is_there_once(void **state)
{
  static const char *const floors[] = {
      "{box: {low: [0, -1], high: [1, 0.26]}}", "{box: {low: [-0.01, -1], high: [1.02, 0.26]}}",
      "{box: {low: [-3, -1], high: [5, 0.26]}}", "{plane: {point: [0, 0.26], normal: [0, 1]}}"};

  (void)state;
  for (PetscInt n = 0; n < 4; n++)
    assert_near(mass_beside("x_low: periodic, x_high: periodic", floors[n]), 0.74, 1e-6);
}

/* The largest error of the steady flow between two plates, over its largest velocity. */
static PetscReal error_between_plates(PetscInt cells, PetscReal low, PetscReal high)
{
  const PetscReal width = high - low;
  FieldDifference difference = {0., 0.};
  SceneRun        flow;
  char            exact[256];

  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {dimension: 2, size: [0.25, 1], resolution: %d}\n"
                                "fluid:\n"
                                "  density: 1\n"
                                "  viscosity: 0.5\n"
                                "  body_force: [1, 0]\n"
                                "  viscosity_tolerance: 1e-10\n"
                                "  sides: {x_low: periodic, x_high: periodic, y_low: slip, y_high: slip}\n"
                                "obstacles:\n"
                                "  - {name: below, shape: {box: {low: [-1, -1], high: [2, %g]}}}\n"
                                "  - {name: above, shape: {box: {low: [-1, %g], high: [2, 2]}}}\n",
                                (int)(cells / 4), (double)low, (double)high));
  assert_success(SceneRunStep(&flow, 60, 0.05));
  snprintf(exact, sizeof(exact), "if(y>%g, if(y<%g, (y-%g)*(%g-y), 0), 0)", (double)low, (double)high,
           (double)low, (double)high);
  assert_success(SceneRunCompare(&flow, X, exact, 0., &difference));
  assert_near(flow.simulation->coupled->loads[LOAD_VISCOSITY][X] +
                  flow.simulation->coupled->loads[LOAD_VISCOSITY][TWIST + X],
              0.25 * width, 1e-8);
  assert_success(SceneRunDestroy(&flow));
  return difference.largest / PetscSqr(0.5 * width);
}

static void a_channel_within_cells_is_of_second_order(void **state)
{
  PetscReal error[3] = {0., 0., 0.};

  (void)state;
  for (PetscInt level = 0; level < 3; level++) {
    for (PetscInt place = 0; place < 4; place++)
      error[level] += 0.25 * error_between_plates(16 << level, 0.2 + 0.013 * place, 0.79 + 0.009 * place);
    note("%d cells: %.5f", 16 << (int)level, (double)error[level]);
  }
  note("order %.2f", (double)(0.5 * order_between(error[0], error[2])));
  assert_on_all_ranks(0.5 * order_between(error[0], error[2]) > 1.8);
}

/* The mean of the drag of a cylinder in a stream, at five places in a cell, and how much it varies. */
static void drag_does_not_depend_on_the_place_in_a_cell(void **state)
{
  static const PetscReal places[5][2] = {{0., 0.}, {0.5, 0.5}, {0.25, 0.1}, {0.37, 0.71}, {0.8, 0.45}};
  PetscReal              lowest = PETSC_MAX_REAL, highest = 0.;

  (void)state;
  only_on_one_rank();
  for (PetscInt n = 0; n < 5; n++) {
    const PetscReal *force, h = 1. / 12.;
    SceneRun         flow;

    assert_success(
        SceneRunCreate(PETSC_COMM_WORLD, &flow,
                       "grid: {dimension: 2, size: [6, 4], resolution: 72}\n"
                       "fluid:\n"
                       "  density: 1\n"
                       "  viscosity: 0.025\n"
                       "  initial: {velocity: [1, 0]}\n"
                       "  sides: {all: slip, x_low: {type: inflow, velocity: [1, 0]}, x_high: open}\n"
                       "obstacles: [{name: disc, shape: {sphere: {center: [%g, %g], radius: 0.5}}}]\n",
                       (double)(2. + places[n][0] * h), (double)(2. + places[n][1] * h)));
    assert_success(SceneRunStep(&flow, 90, 0.06));
    force = flow.simulation->coupled->loads[LOAD_ALL];
    note("at %.2f, %.2f of a cell: %.4f N", (double)places[n][0], (double)places[n][1], (double)force[X]);
    lowest = PetscMin(lowest, force[X]);
    highest = PetscMax(highest, force[X]);
    assert_success(SceneRunDestroy(&flow));
  }
  assert_on_all_ranks(highest - lowest < 0.01 * lowest);
}

/* Neither the half step nor the advecting velocity is solved for, and the pressure is that of a fluid. */
static void what_stands_still_costs_one_solve(void **state)
{
  SceneRun flow;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow, "%s",
                     "grid: {dimension: 2, size: [1, 1], resolution: 16}\n"
                     "fluid: {density: 1, viscosity: 0.1, initial: {velocity: [sin(6*y), 0]}}\n"
                     "obstacles: [{name: disc, shape: {sphere: {center: [0.4, 0.5], radius: 0.2}}}]\n"));
  assert_success(SceneRunStep(&flow, 3, 0.05));
  assert_on_all_ranks(flow.fluid);
  assert_on_all_ranks(flow.simulation->coupled->half_iterations == 0 &&
                      flow.simulation->coupled->advecting_iterations == 0 &&
                      flow.simulation->coupled->iterations > 0);
  assert_near(flow.simulation->coupled->divergence, 0., 1e-6);
  assert_success(SceneRunDestroy(&flow));
}

/* What a source lets out is stopped by an obstacle within it. */
static void a_source_stops_at_an_obstacle(void **state)
{
  SceneRun  flow;
  PetscReal inside = 1.;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow, "%s",
      "grid: {dimension: 2, size: [1, 1], resolution: 16}\n"
      "fluid: {density: 1, viscosity: 0.1, sides: {all: open}}\n"
      "inflows: [{name: jet, shape: {box: {low: [0.2, 0.2], high: [0.4, 0.8]}}, velocity: [1, 0]}]\n"
      "obstacles: [{name: plug, shape: {box: {low: [0.1, 0.45], high: [0.5, 0.9]}}}]\n"));
  assert_success(SceneRunStep(&flow, 3, 0.02));
  assert_success(SceneRunSample(&flow, X, vector3(0.3, 0.6, 0.), &inside));
  assert_near(inside, 0., 1e-12);
  assert_success(SceneRunSample(&flow, X, vector3(0.3, 0.3, 0.), &inside));
  assert_near(inside, 1., 1e-12);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_slippery_floor_leaves_a_uniform_flow),
          cmocka_unit_test(shapes_displace_their_area), cmocka_unit_test(a_periodic_floor_is_there_once),
          cmocka_unit_test(a_channel_within_cells_is_of_second_order),
          cmocka_unit_test(drag_does_not_depend_on_the_place_in_a_cell),
          cmocka_unit_test(what_stands_still_costs_one_solve),
          cmocka_unit_test(a_source_stops_at_an_obstacle))
