/* Quantities carried by the fluid: diffusion, decay, buoyancy, and what is kept of them. */
#include "scene_run.h"
#include "harness.h"

/* cos(pi x) cos(2 pi y) between walls that let nothing through. */
static PetscErrorCode DiffuseInBox(PetscInt resolution, PetscReal *error)
{
  const PetscInt  steps = resolution / 2;
  SceneRun        flow;
  FieldDifference difference;

  PetscFunctionBegin;
  PetscCall(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                           "grid: {dimension: 2, size: [1, 1], resolution: %d}\n"
                           "fluid:\n"
                           "  density: 1\n"
                           "  viscosity_tolerance: 1e-12\n"
                           "  scalars: [{name: heat, initial: 'cos(pi*x)*cos(2*pi*y)', diffusivity: 0.02}]\n",
                           (int)resolution));
  PetscCall(SceneRunStep(&flow, steps, 1. / steps));
  PetscCall(SceneRunCompare(&flow, FIELD_SCALAR, "cos(pi*x)*cos(2*pi*y)*exp(-0.1*pi^2*t)", 1., &difference));
  *error = difference.mean_square;
  PetscCall(SceneRunDestroy(&flow));
  PetscFunctionReturn(0);
}

static void diffusion_is_second_order(void **state)
{
  PetscReal errors[3];

  (void)state;
  for (PetscInt level = 0; level < 3; level++)
    assert_success(DiffuseInBox(16 << level, &errors[level]));
  note("errors %.3e %.3e %.3e, order %.3f", (double)errors[0], (double)errors[1], (double)errors[2],
       (double)order_between(errors[1], errors[2]));
  assert_near(order_between(errors[1], errors[2]), 2., 0.1);
}

/* A box of `grid`, with `keys` in the block of its fluid, after `steps` steps of size `dt`. */
static void step_box(SceneRun *flow, const char grid[], const char keys[], PetscInt steps, PetscReal dt)
{
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, flow,
                                "grid: {%s}\n"
                                "fluid:\n"
                                "  density: 1\n"
                                "%s",
                                grid, keys));
  assert_success(SceneRunStep(flow, steps, dt));
}

static void assert_field_is(SceneRun *flow, PetscInt field, const char formula[], PetscReal tolerance)
{
  FieldDifference difference;

  assert_success(SceneRunCompare(flow, field, formula, 0., &difference));
  assert_near(difference.largest, 0., tolerance);
}

#define CUBE "size: [1, 1, 1], resolution: 8"

static void decay_is_exact(void **state)
{
  SceneRun flow;

  (void)state;
  step_box(&flow, CUBE, "  scalars: [{name: dye, initial: 2 + sin(5*x), decay: 3, reference: 1}]\n", 10, 0.1);
  assert_field_is(&flow, FIELD_SCALAR, "1 + (1 + sin(5*x))*exp(-3)", 1e-13);
  assert_success(SceneRunDestroy(&flow));
}

/* y' = -k y^4 of y = (value - 300)/2000, k = 4000/2000: 1/y^3 grows by 3 k t. What is colder than the
   reference does not radiate. */
static void what_is_hot_cools_by_the_fourth_power(void **state)
{
  SceneRun flow;

  (void)state;
  step_box(&flow, CUBE,
           "  scalars: [{name: heat, initial: 1300 + 1200*sin(5*x), cooling: 4000, hottest: 2300,\n"
           "             reference: 300}]\n",
           10, 0.1);
  assert_field_is(&flow, FIELD_SCALAR,
                  "300 + max(1000 + 1200*sin(5*x), 0)*(1 + 6*(max(1000 + 1200*sin(5*x), 0)/2000)^3)^(-1/3)"
                  " + min(1000 + 1200*sin(5*x), 0)",
                  1e-9);
  assert_success(SceneRunDestroy(&flow));
}

/* -gravity expansion (value - reference): warm fluid rises, and without walls it does so in free fall. */
static void uniform_buoyancy_accelerates_upwards(void **state)
{
  SceneRun flow;

  (void)state;
  step_box(&flow, CUBE,
           "  gravity: [0, 0, -10]\n"
           "  sides: {all: periodic}\n"
           "  scalars: [{name: heat, initial: 5, reference: 3, expansion: 0.1}]\n",
           10, 0.01);
  assert_field_is(&flow, Z, "0.2", 1e-12);
  assert_field_is(&flow, X, "0", 1e-12);
  assert_success(SceneRunDestroy(&flow));
}

/* What is the same everywhere is held by the pressure of a closed box. */
static void uniform_buoyancy_rests_in_a_closed_box(void **state)
{
  SceneRun    flow;
  FluidTotals totals;

  (void)state;
  step_box(&flow, CUBE,
           "  viscosity: 0.01\n"
           "  gravity: [0, 0, -10]\n"
           "  pressure_tolerance: 1e-12\n"
           "  scalars: [{name: heat, initial: 5, expansion: 0.1}]\n",
           10, 0.05);
  assert_success(FluidGetTotals(flow.fluid, &totals));
  assert_near(totals.largest_speed, 0., 1e-10);
  assert_success(SceneRunDestroy(&flow));
}

static void warm_fluid_rises_beside_cold(void **state)
{
  SceneRun  flow;
  PetscReal warm, cold;

  (void)state;
  step_box(&flow, "dimension: 2, size: [1, 1], resolution: 16",
           "  gravity: [0, -1]\n"
           "  scalars: [{name: heat, initial: 'if(x < 0.5, 1, 0)', expansion: 1}]\n",
           5, 0.05);
  assert_success(SceneRunSample(&flow, Y, vector3(0.25, 0.5, 0.), &warm));
  assert_success(SceneRunSample(&flow, Y, vector3(0.75, 0.5, 0.), &cold));
  assert_on_all_ranks(warm > 0.05 && cold < -0.05);
  assert_success(SceneRunDestroy(&flow));
}

/* Carried, not in conservation form: the total drifts, and little. */
static void total_of_a_scalar_drifts_little_in_a_closed_box(void **state)
{
  SceneRun  flow;
  PetscReal before, after;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {dimension: 2, size: [1, 1], resolution: 32}\n"
                                "run: {end_time: 10, frame_interval: 10}\n"
                                "fluid:\n"
                                "  density: 1\n"
                                "  viscosity: 0.001\n"
                                "  initial: {velocity: [sin(pi*x)*cos(pi*y), -cos(pi*x)*sin(pi*y)]}\n"
                                "  sides: {all: slip}\n"
                                "  scalars: [{name: dye, initial: 'exp(-50*((x-0.5)^2 + (y-0.3)^2))'}]\n"));
  assert_success(FluidGetScalarTotal(flow.fluid, 0, &before));
  assert_success(SceneRunUntil(&flow, 2.));
  assert_success(FluidGetScalarTotal(flow.fluid, 0, &after));
  note("total of a scalar after 2 s: %+.3f %%", (double)(100. * (after / before - 1.)));
  assert_near(after, before, 0.02 * before);
  assert_success(SceneRunDestroy(&flow));
}

/* Fluxes that leave one cell enter another: in a closed box, around an obstacle and with diffusion. */
static void fluxes_keep_the_total_and_the_bounds_of_a_scalar(void **state)
{
  SceneRun  flow;
  PetscReal before, after, lowest, highest;
  Vec       dye;

  (void)state;
  for (PetscInt dimension = 2; dimension <= DIM; dimension++) {
    assert_success(SceneRunCreate(
        PETSC_COMM_WORLD, &flow,
        "grid: {dimension: %d, size: [1, 1%s], resolution: %d}\n"
        "run: {end_time: 10, frame_interval: 10}\n"
        "fluid:\n"
        "  density: 1\n"
        "  viscosity: 0.001\n"
        "  advection: central\n"
        "  initial: {velocity: [sin(pi*x)*cos(pi*y), -cos(pi*x)*sin(pi*y)%s]}\n"
        "  sides: {all: slip}\n"
        "  scalars: [{name: dye, initial: '(x > 0.6)*(y > 0.5)', diffusivity: %g}]\n"
        "  obstacles: voxels\n"
        "obstacles: [{name: post, shape: {sphere: {center: [0.3, 0.4%s], radius: 0.15}}}]\n",
        (int)dimension, dimension == 3 ? ", 0.5" : "", dimension == 3 ? 16 : 32, dimension == 3 ? ", 0" : "",
        dimension == 3 ? 1e-4 : 0., dimension == 3 ? ", 0.2" : ""));
    assert_success(FluidGetScalarTotal(flow.fluid, 0, &before));
    assert_success(SceneRunUntil(&flow, 1.));
    assert_success(FluidGetScalarTotal(flow.fluid, 0, &after));
    assert_success(SceneRunGetField(&flow, FIELD_SCALAR, &dye));
    assert_success(VecMin(dye, NULL, &lowest));
    assert_success(VecMax(dye, NULL, &highest));
    note("%d-D: total of a scalar after 1 s: %+.1e, from %.1e to 1 %+.1e", (int)dimension,
         (double)(after / before - 1.), (double)lowest, (double)(highest - 1.));
    assert_near(after, before, 1e-12 * before);
    assert_on_all_ranks(lowest > -1e-7 &&
                        highest < 1. + 1e-7); /* pressure_tolerance: divergence that is left */
    assert_success(SceneRunDestroy(&flow));
  }
}

/* What enters through a side is the inflow's value times the volume that flows in. */
static void an_inflow_brings_its_value(void **state)
{
  SceneRun  flow;
  PetscReal total;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, size: [2, 0.5], resolution: 32}\n"
                     "fluid:\n"
                     "  density: 1\n"
                     "  advection: central\n"
                     "  initial: {velocity: [0.8, 0]}\n"
                     "  sides: {all: slip, x_low: {type: inflow, velocity: [0.8, 0]}, x_high: open}\n"
                     "  scalars: [{name: dye, inflow: 3}]\n"));
  assert_success(SceneRunUntil(&flow, 1.));
  assert_success(FluidGetScalarTotal(flow.fluid, 0, &total));
  assert_near(total, 3. * 0.8 * 0.5, 1e-10);
  assert_success(SceneRunDestroy(&flow));
}

/* A smooth patch goes once around a periodic box. */
static PetscErrorCode CarryAround(const char advection[], PetscInt resolution, PetscReal *error)
{
  SceneRun        flow;
  FieldDifference difference;

  PetscFunctionBegin;
  PetscCall(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                           "grid: {dimension: 2, size: [1, 1], resolution: %d}\n"
                           "fluid:\n"
                           "  density: 1\n"
                           "  advection: %s\n"
                           "  initial: {velocity: [1, 0.5]}\n"
                           "  sides: {all: periodic}\n"
                           "  scalars: [{name: dye, initial: 'sin(2*pi*x)*cos(2*pi*y)'}]\n",
                           (int)resolution, advection));
  PetscCall(SceneRunStep(&flow, 2 * resolution, 0.5 / resolution));
  PetscCall(SceneRunCompare(&flow, FIELD_SCALAR, "sin(2*pi*(x-t))*cos(2*pi*(y-t/2))", 1., &difference));
  *error = difference.mean_square;
  PetscCall(SceneRunDestroy(&flow));
  PetscFunctionReturn(0);
}

static void scalars_are_carried_at_the_order_of_the_scheme(void **state)
{
  const struct {
    const char *name;
    PetscReal   order;
  } schemes[] = {{"semi-lagrangian", 0.8}, {"maccormack", 1.8}, {"weno5", 2.8}, {"central", 1.7}};

  (void)state;
  for (PetscInt s = 0; s < 4; s++) {
    PetscReal coarse, fine;

    assert_success(CarryAround(schemes[s].name, 32, &coarse));
    assert_success(CarryAround(schemes[s].name, 64, &fine));
    note("%s: errors %.3e %.3e, order %.2f", schemes[s].name, (double)coarse, (double)fine,
         (double)order_between(coarse, fine));
    assert_on_all_ranks(order_between(coarse, fine) >= schemes[s].order);
  }
}

TEST_MAIN(cmocka_unit_test(diffusion_is_second_order), cmocka_unit_test(decay_is_exact),
          cmocka_unit_test(what_is_hot_cools_by_the_fourth_power),
          cmocka_unit_test(uniform_buoyancy_accelerates_upwards),
          cmocka_unit_test(uniform_buoyancy_rests_in_a_closed_box),
          cmocka_unit_test(warm_fluid_rises_beside_cold),
          cmocka_unit_test(total_of_a_scalar_drifts_little_in_a_closed_box),
          cmocka_unit_test(fluxes_keep_the_total_and_the_bounds_of_a_scalar),
          cmocka_unit_test(an_inflow_brings_its_value),
          cmocka_unit_test(scalars_are_carried_at_the_order_of_the_scheme))
