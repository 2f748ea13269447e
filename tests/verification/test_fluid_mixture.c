/* Several materials in one box, with fields known in closed form. */
#include "fluid_case.h"
#include "scene_run.h"
#include "harness.h"
#include "layered_mixture.h"

/* Shear stress s = lid or S - G y; u is the integral of s over the viscosity. The profile of a force G per
   volume and a lid that moves at U, in two layers. */
static PetscReal profile(const LayeredMixture *layers, PetscReal force, PetscReal lid, PetscReal y)
{
  const PetscReal a = layers->height[0], lower = layers->viscosity[0], upper = layers->viscosity[1];
  const PetscReal once = a / lower + (1. - a) / upper;
  const PetscReal twice = 0.5 * a * a / lower + 0.5 * (1. - a * a) / upper;
  const PetscReal stress = (lid + force * twice) / once; /* at the lower wall */

  if (y <= a)
    return (stress * y - 0.5 * force * y * y) / lower;
  return (stress * a - 0.5 * force * a * a) / lower +
         (stress * (y - a) - 0.5 * force * (y * y - a * a)) / upper;
}

static PetscReal couette(const void *context, Vector3 point, PetscInt direction)
{
  (void)direction;
  return profile(context, 0., 1., point.at[Y]);
}

static PetscReal poiseuille(const void *context, Vector3 point, PetscInt direction)
{
  (void)direction;
  return profile(context, 1., 0., point.at[Y]);
}

/* Viscosities 1 and 0.1; the step is long, so that only the steady state counts. */
static PetscErrorCode ShearLayers(PetscReal interface, PetscInt resolution, PetscBool lid, PetscReal *error)
{
  LayeredMixture layers = {2, {interface}, {1., 1.}, {1., 0.1}, 0.};
  FluidCase      fluid_case;

  PetscFunctionBegin;
  fluid_case_set_defaults(&fluid_case, 2, resolution);
  fluid_case_make_periodic(&fluid_case, X);
  if (lid)
    PetscCall(FluidCaseFormula("1", &fluid_case.config.sides[Y][1].velocity[X]));
  else
    PetscCall(FluidCaseFormula("1", &fluid_case.config.body_force[X]));
  use_layers(&fluid_case, &layers);
  PetscCall(FluidCaseStart(PETSC_COMM_WORLD, NULL, NULL, &fluid_case));
  PetscCall(FluidCaseStep(&fluid_case, 40, 20.));
  PetscCall(FluidCaseCompare(&fluid_case, X, lid ? couette : poiseuille, NULL, error));
  PetscCall(FluidCaseDestroy(&fluid_case));
  PetscFunctionReturn(0);
}

/* F7 of the validation cases: linear parts are exact, wherever the interface lies between two rows. */
static void couette_flow_of_two_layers_is_exact(void **state)
{
  const PetscReal      interfaces[] = {0.5, 0.531, 0.5625, 0.487};
  const LayeredMixture halves = {2, {0.5}, {1., 1.}, {1., 0.1}, 0.};

  (void)state;
  assert_near(profile(&halves, 0., 1., 0.5), 0.0909091, 1e-7);
  for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(interfaces); n++) {
    PetscReal error;

    assert_success(ShearLayers(interfaces[n], 16, PETSC_TRUE, &error));
    assert_near(error, 0., 1e-9);
  }
}

static void poiseuille_flow_of_two_layers_is_second_order(void **state)
{
  const PetscReal interfaces[] = {0.5, 0.53};

  (void)state;
  for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(interfaces); n++) {
    PetscReal error[2];

    assert_success(ShearLayers(interfaces[n], 16, PETSC_FALSE, &error[0]));
    assert_success(ShearLayers(interfaces[n], 64, PETSC_FALSE, &error[1]));
    note("two layers, interface at %g: %.3e %.3e, order %.2f", (double)interfaces[n], (double)error[0],
         (double)error[1], 0.5 * (double)order_between(error[0], error[1]));
    assert_on_all_ranks(error[1] < 1e-3);
    assert_on_all_ranks(0.5 * order_between(error[0], error[1]) > 1.8);
  }
}

/* Four liquids between walls that hold them, interfaces anywhere between the rows. */
static PetscErrorCode RestInLayers(PetscInt dimension, FluidTotals *totals)
{
  LayeredMixture layers = {4, {0.21, 0.4375, 0.68}, {1200., 1000., 1.2, 0.4}, {10., 0.001, 0.5, 2e-5}, 0.};
  FluidCase      fluid_case;

  PetscFunctionBegin;
  fluid_case_set_defaults(&fluid_case, dimension, dimension == 2 ? 16 : 8);
  fluid_case.config.gravity = vector3(0., -9.81, 0.);
  fluid_case.config.advection = ADVECT_MACCORMACK;
  use_layers(&fluid_case, &layers);
  PetscCall(FluidCaseStart(PETSC_COMM_WORLD, NULL, NULL, &fluid_case));
  PetscCall(FluidCaseStep(&fluid_case, dimension == 2 ? 100 : 20, 0.01));
  PetscCall(FluidGetTotals(fluid_case.fluid, totals));
  PetscCall(FluidCaseDestroy(&fluid_case));
  PetscFunctionReturn(0);
}

static void layers_stay_at_rest(void **state)
{
  FluidTotals totals;

  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++) {
    assert_success(RestInLayers(dimension, &totals));
    note("four layers at rest in %d dimensions: %.1e m/s", (int)dimension, (double)totals.largest_speed);
    assert_near(totals.largest_speed, 0., 1e-8);
    assert_near(totals.mass, 0.21 * 1200. + 0.2275 * 1000. + 0.2425 * 1.2 + 0.32 * 0.4, 1e-9);
  }
}

/* A jump of 3 Pa around a circle, as surface tension of constant curvature makes it. */
static const PetscReal circle_jump = 3.;

static PetscReal in_circle(Vector3 point)
{
  return vector3_norm(vector3_subtract(point, vector3(0.52, 0.47, 0.))) < 0.27 ? 1. : 0.;
}

static PetscReal circle_density(const void *context, Vector3 point, PetscInt direction)
{
  const PetscReal h = *(const PetscReal *)context;
  Vector3         low = point, high = point;

  low.at[direction] -= 0.5 * h;
  high.at[direction] += 0.5 * h;
  return 1. + 499.5 * (in_circle(low) + in_circle(high));
}

static PetscReal circle_jumps(const void *context, Vector3 point, PetscInt direction)
{
  const PetscReal h = *(const PetscReal *)context;
  Vector3         low = point, high = point;

  low.at[direction] -= 0.5 * h;
  high.at[direction] += 0.5 * h;
  return circle_jump * (in_circle(high) - in_circle(low));
}

static PetscReal circle_viscosity(const void *context, Vector3 point, PetscInt direction)
{
  (void)context;
  (void)direction;
  return in_circle(point) > 0. ? 1. : 0.01;
}

static PetscReal circle_pressure(const void *context, Vector3 point, PetscInt direction)
{
  (void)context;
  (void)direction;
  return circle_jump * in_circle(point);
}

static void constant_jumps_leave_the_fluid_at_rest(void **state)
{
  FluidCase   fluid_case;
  PetscReal   h = 1. / 24., error;
  FluidTotals totals;

  (void)state;
  fluid_case_set_defaults(&fluid_case, 2, 24);
  fluid_case.functions = (FluidCaseFunctions){
      .context = &h, .density = circle_density, .jump = circle_jumps, .viscosity = circle_viscosity};
  assert_success(FluidCaseStart(PETSC_COMM_WORLD, NULL, NULL, &fluid_case));
  assert_success(FluidCaseCompare(&fluid_case, DIM, circle_pressure, NULL, &error));
  assert_near(error, 0., 1e-8); /* the start shows it already */
  assert_success(FluidCaseStep(&fluid_case, 20, 0.01));
  assert_success(FluidGetTotals(fluid_case.fluid, &totals));
  assert_success(FluidCaseCompare(&fluid_case, DIM, circle_pressure, NULL, &error));
  assert_near(totals.largest_speed, 0., 1e-10);
  assert_near(error, 0., 1e-8);
  assert_success(FluidCaseDestroy(&fluid_case));
}

static PetscReal a_tenth(const void *context, Vector3 point, PetscInt direction)
{
  (void)context;
  (void)point;
  (void)direction;
  return 0.1;
}

/* Energy of a Taylor-Green vortex at time 1, as one fluid or as a mixture of one. */
static PetscErrorCode DecayVortex(PetscBool mixed, PetscInt steps, PetscReal *energy)
{
  FluidCase   fluid_case;
  FluidTotals totals;

  PetscFunctionBegin;
  fluid_case_set_defaults(&fluid_case, 2, 32);
  fluid_case.grid_config.size = vector3(2. * PETSC_PI, 2. * PETSC_PI, 1.);
  fluid_case_make_periodic(&fluid_case, X);
  fluid_case_make_periodic(&fluid_case, Y);
  fluid_case.config.viscosity = 0.1;
  fluid_case.config.advection = ADVECT_MACCORMACK;
  PetscCall(FluidCaseFormula("sin(x)*cos(y)", &fluid_case.config.initial_velocity[X]));
  PetscCall(FluidCaseFormula("-cos(x)*sin(y)", &fluid_case.config.initial_velocity[Y]));
  fluid_case.functions = (FluidCaseFunctions){.viscosity = a_tenth};
  PetscCall(FluidCaseCreate(PETSC_COMM_WORLD, NULL, NULL, &fluid_case));
  if (!mixed)
    PetscCall(FluidSetMixture(fluid_case.fluid, NULL));
  {
    PetscBool good;

    PetscCall(FluidStart(fluid_case.fluid, &good));
    PetscCheck(good, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "The start failed");
  }
  PetscCall(FluidCaseStep(&fluid_case, steps, 1. / steps));
  PetscCall(FluidGetTotals(fluid_case.fluid, &totals));
  *energy = totals.kinetic_energy;
  PetscCall(FluidCaseDestroy(&fluid_case));
  PetscFunctionReturn(0);
}

static void a_mixture_of_one_is_one_fluid(void **state)
{
  PetscReal plain, mixed[2];

  (void)state;
  assert_success(DecayVortex(PETSC_FALSE, 40, &plain));
  assert_success(DecayVortex(PETSC_TRUE, 20, &mixed[0]));
  assert_success(DecayVortex(PETSC_TRUE, 40, &mixed[1]));
  note("energy %.6f, as a mixture %.6f and %.6f", (double)plain, (double)mixed[0], (double)mixed[1]);
  assert_on_all_ranks(PetscAbsReal(mixed[1] / plain - 1.) < 0.01);
  assert_on_all_ranks(order_between(mixed[0] - plain, mixed[1] - plain) > 0.7);
}

/* Manufactured: u = sin x cos y + sin y, v = -cos x sin y + sin x, p = cos x sin y, a density and a viscosity
   that vary, and the force that holds them. */
#define STRETCH "cos(x)*cos(y)"
#define THICKNESS "(1 + 0.5*sin(x - y))"
#define SLOPE "(0.5*cos(x - y))"
#define WEIGHT "(1.5 + cos(x)*sin(2*y))"
#define SHEAR_RATE "(cos(x) + cos(y))"
#define EXACT_U "sin(x)*cos(y) + sin(y)"
#define EXACT_V "-cos(x)*sin(y) + sin(x)"
#define FORCE_U                                                                                              \
  "(-sin(x)*sin(y) - (2*" SLOPE "*" STRETCH " - 2*" THICKNESS "*sin(x)*cos(y) - " SLOPE "*" SHEAR_RATE       \
  " - " THICKNESS "*sin(y)))/" WEIGHT
#define FORCE_V                                                                                              \
  "(" STRETCH " - (" SLOPE "*" SHEAR_RATE " - " THICKNESS "*sin(x) + 2*" SLOPE "*" STRETCH " + 2*" THICKNESS \
  "*cos(x)*sin(y)))/" WEIGHT

static PetscReal smooth_density(const void *context, Vector3 point, PetscInt direction)
{
  (void)context;
  (void)direction;
  return 1.5 + PetscCosReal(point.at[X]) * PetscSinReal(2. * point.at[Y]);
}

static PetscReal smooth_viscosity(const void *context, Vector3 point, PetscInt direction)
{
  (void)context;
  (void)direction;
  return 1. + 0.5 * PetscSinReal(point.at[X] - point.at[Y]);
}

static PetscReal smooth_velocity(const void *context, Vector3 point, PetscInt direction)
{
  const PetscReal x = point.at[X], y = point.at[Y];

  (void)context;
  if (direction == X)
    return PetscSinReal(x) * PetscCosReal(y) + PetscSinReal(y);
  return -PetscCosReal(x) * PetscSinReal(y) + PetscSinReal(x);
}

static PetscReal smooth_pressure(const void *context, Vector3 point, PetscInt direction)
{
  (void)context;
  (void)direction;
  return PetscCosReal(point.at[X]) * PetscSinReal(point.at[Y]);
}

static PetscErrorCode HoldManufactured(PetscInt resolution, PetscReal *velocity, PetscReal *pressure)
{
  FluidCase fluid_case;

  PetscFunctionBegin;
  fluid_case_set_defaults(&fluid_case, 2, resolution);
  fluid_case.grid_config.origin = vector3(0.3, -0.2, 0.);
  fluid_case.grid_config.size = vector3(2., 2., 1.);
  for (PetscInt axis = 0; axis < 2; axis++)
    for (PetscInt side = 0; side < 2; side++) {
      PetscCall(FluidCaseFormula(EXACT_U, &fluid_case.config.sides[axis][side].velocity[X]));
      PetscCall(FluidCaseFormula(EXACT_V, &fluid_case.config.sides[axis][side].velocity[Y]));
    }
  PetscCall(FluidCaseFormula(FORCE_U, &fluid_case.config.body_force[X]));
  PetscCall(FluidCaseFormula(FORCE_V, &fluid_case.config.body_force[Y]));
  fluid_case.functions = (FluidCaseFunctions){.density = smooth_density, .viscosity = smooth_viscosity};
  PetscCall(FluidCaseStart(PETSC_COMM_WORLD, NULL, NULL, &fluid_case));
  PetscCall(FluidCaseStep(&fluid_case, 400, 0.01));
  *velocity = 0.;
  for (PetscInt d = 0; d < 2; d++) {
    PetscReal error;

    PetscCall(FluidCaseCompare(&fluid_case, d, smooth_velocity, NULL, &error));
    *velocity = PetscMax(*velocity, error);
  }
  PetscCall(FluidCaseCompare(&fluid_case, DIM, smooth_pressure, NULL, pressure));
  PetscCall(FluidCaseDestroy(&fluid_case));
  PetscFunctionReturn(0);
}

static void smooth_materials_are_second_order(void **state)
{
  PetscReal velocity[3], pressure[3];

  (void)state;
  for (PetscInt n = 0; n < 3; n++) {
    assert_success(HoldManufactured(8 << n, &velocity[n], &pressure[n]));
    note("%d cells: velocity %.3e, pressure %.3e", 8 << (int)n, (double)velocity[n], (double)pressure[n]);
  }
  assert_on_all_ranks(order_between(velocity[1], velocity[2]) > 1.8);
  assert_on_all_ranks(order_between(pressure[1], pressure[2]) > 0.9); /* largest, beside walls */
}

TEST_MAIN(cmocka_unit_test(couette_flow_of_two_layers_is_exact),
          cmocka_unit_test(poiseuille_flow_of_two_layers_is_second_order),
          cmocka_unit_test(layers_stay_at_rest), cmocka_unit_test(constant_jumps_leave_the_fluid_at_rest),
          cmocka_unit_test(a_mixture_of_one_is_one_fluid),
          cmocka_unit_test(smooth_materials_are_second_order))
