/* Liquid beside nothing: p = 0 at its surface, no traction, and a velocity only where there is liquid. */
#include "fluid_case.h"
#include "scene_run.h"
#include "harness.h"

/* Liquid below a height, or in a disc. */
typedef struct {
  PetscReal height, radius, h, density, viscosity, jump;
} Liquid;

static PetscReal depth_at(const Liquid *shape, Vector3 point)
{
  if (shape->radius > 0.)
    return shape->radius - vector3_norm(vector3_subtract(point, vector3(0.52, 0.47, point.at[Z])));
  return shape->height - point.at[Y];
}

static PetscReal is_empty(const void *context, Vector3 point, PetscInt direction)
{
  (void)direction;
  return depth_at(context, point) > 0. ? 0. : 1.;
}

static PetscReal is_liquid(const void *context, Vector3 point, PetscInt direction)
{
  const Liquid *shape = context;
  Vector3       low = point, high = point;

  if (direction == DIM)
    return 1. - is_empty(context, point, direction);
  low.at[direction] -= 0.5 * shape->h;
  high.at[direction] += 0.5 * shape->h;
  return is_empty(context, low, direction) > 0. && is_empty(context, high, direction) > 0. ? 0. : 1.;
}

/* 1 / (theta density) up to the surface. */
static PetscReal surface_mobility(const void *context, Vector3 point, PetscInt direction)
{
  const Liquid *shape = context;
  Vector3       low = point, high = point;
  PetscReal     below, above, part;

  low.at[direction] -= 0.5 * shape->h;
  high.at[direction] += 0.5 * shape->h;
  below = depth_at(shape, low);
  above = depth_at(shape, high);
  if (below <= 0. && above <= 0.)
    return 0.;
  part = below > 0. && above > 0. ? 1. : PetscMax(below, above) / PetscAbsReal(below - above);
  return 1. / (PetscMax(part, 1e-3) * shape->density);
}

static PetscReal surface_jump(const void *context, Vector3 point, PetscInt direction)
{
  const Liquid *shape = context;
  Vector3       low = point, high = point;

  low.at[direction] -= 0.5 * shape->h;
  high.at[direction] += 0.5 * shape->h;
  return shape->jump * (is_empty(context, low, direction) - is_empty(context, high, direction));
}

static PetscReal liquid_density(const void *context, Vector3 point, PetscInt direction)
{
  (void)point;
  (void)direction;
  return ((const Liquid *)context)->density;
}

/* Of an edge too: the fluid cuts what passes beside empty cells. */
static PetscReal liquid_viscosity(const void *context, Vector3 point, PetscInt direction)
{
  (void)point;
  (void)direction;
  return ((const Liquid *)context)->viscosity;
}

static void use_surface(FluidCase *fluid_case, Liquid *shape)
{
  shape->h = fluid_case->grid_config.size.at[X] / fluid_case->grid_config.resolution;
  fluid_case->functions = (FluidCaseFunctions){.context = shape,
                                               .density = liquid_density,
                                               .mobility = surface_mobility,
                                               .jump = surface_jump,
                                               .empty = is_empty,
                                               .viscosity = liquid_viscosity};
}

static PetscReal pool_pressure(const void *context, Vector3 point, PetscInt direction)
{
  const Liquid *shape = context;

  (void)direction;
  return PetscMax(9.81 * shape->density * (shape->height - point.at[Y]), 0.);
}

/* The pressure without its mean is compared, in the whole box: where nothing is it is zero. */
static void a_pool_rests_whatever_its_depth(void **state)
{
  const PetscReal heights[] = {0.5, 0.5312, 0.5626, 0.6};

  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++)
    for (size_t n = 0; n < (dimension == 2 ? PETSC_STATIC_ARRAY_LENGTH(heights) : 1); n++) {
      Liquid      shape = {.height = heights[n], .density = 1000., .viscosity = 5.};
      FluidTotals totals;
      PetscReal   error;
      FluidCase   fluid_case;

      fluid_case_set_defaults(&fluid_case, dimension, dimension == 2 ? 16 : 8);
      fluid_case.config.gravity = vector3(0., -9.81, 0.);
      fluid_case.config.advection = ADVECT_MACCORMACK;
      use_surface(&fluid_case, &shape);
      assert_success(FluidCaseStart(PETSC_COMM_WORLD, NULL, NULL, &fluid_case));
      assert_success(FluidCaseStep(&fluid_case, dimension == 2 ? 100 : 20, 0.01));
      assert_success(FluidGetTotals(fluid_case.fluid, &totals));
      assert_success(FluidCaseCompare(&fluid_case, DIM, pool_pressure, NULL, &error));
      assert_near(totals.largest_speed, 0., 1e-8);
      assert_near(error, 0., 1e-5); /* of 6 kPa */
      assert_success(FluidCaseDestroy(&fluid_case));
    }
}

static PetscReal falling(const void *context, Vector3 point, PetscInt direction)
{
  (void)context;
  (void)point;
  return direction == Y ? -2. * 0.1 : 0.;
}

/* Whatever is between nothing falls freely, thick or not. */
static void a_drop_falls_freely(void **state)
{
  Liquid      shape = {.radius = 0.31, .density = 800., .viscosity = 1e4};
  FluidTotals totals;
  PetscReal   limit, error;
  FluidCase   fluid_case;

  (void)state;
  fluid_case_set_defaults(&fluid_case, 2, 32);
  fluid_case.config.gravity = vector3(0., -2., 0.);
  use_surface(&fluid_case, &shape);
  assert_success(FluidCaseStart(PETSC_COMM_WORLD, NULL, NULL, &fluid_case));
  assert_success(FluidCaseStep(&fluid_case, 10, 0.01));
  for (PetscInt d = 0; d < 2; d++) {
    assert_success(FluidCaseCompare(&fluid_case, d, falling, is_liquid, &error));
    assert_near(error, 0., 1e-10);
  }
  assert_success(FluidGetTotals(fluid_case.fluid, &totals));
  assert_near(totals.momentum[Y] / totals.mass, -0.2, 0.01); /* faces of x and y share the mass differently */
  assert_near(totals.largest_divergence, 0., 1e-9);
  assert_success(FluidGetTimeStepLimit(fluid_case.fluid, fluid_case.config.cfl, &limit));
  assert_near((0.2 + 2. * limit) * limit, 1. / 32., 1e-9);
  assert_success(FluidCaseDestroy(&fluid_case));
}

static PetscReal turning(const void *context, Vector3 point, PetscInt direction)
{
  (void)context;
  return direction == X ? -3. * (point.at[Y] - 0.47) : 3. * (point.at[X] - 0.52);
}

/* A surface without traction: thick liquid that turns goes on turning. */
static void a_drop_turns_on(void **state)
{
  Liquid    shape = {.radius = 0.31, .density = 800., .viscosity = 1e4};
  PetscReal error;
  FluidCase fluid_case;

  (void)state;
  fluid_case_set_defaults(&fluid_case, 2, 32);
  assert_success(FluidCaseFormula("-3*(y - 0.47)", &fluid_case.config.initial_velocity[X]));
  assert_success(FluidCaseFormula("3*(x - 0.52)", &fluid_case.config.initial_velocity[Y]));
  use_surface(&fluid_case, &shape);
  assert_success(FluidCaseStart(PETSC_COMM_WORLD, NULL, NULL, &fluid_case));
  assert_success(FluidCaseStep(&fluid_case, 10, 0.01));
  for (PetscInt d = 0; d < 2; d++) {
    assert_success(FluidCaseCompare(&fluid_case, d, turning, is_liquid, &error));
    assert_near(error, 0., 1e-9);
  }
  assert_success(FluidCaseDestroy(&fluid_case));
}

static PetscReal drop_pressure(const void *context, Vector3 point, PetscInt direction)
{
  return 7. * (1. - is_empty(context, point, direction));
}

static void a_drop_under_tension_rests(void **state)
{
  Liquid      shape = {.radius = 0.31, .density = 800., .viscosity = 0.1, .jump = 7.};
  FluidTotals totals;
  PetscReal   error;
  FluidCase   fluid_case;

  (void)state;
  fluid_case_set_defaults(&fluid_case, 2, 32);
  use_surface(&fluid_case, &shape);
  assert_success(FluidCaseStart(PETSC_COMM_WORLD, NULL, NULL, &fluid_case));
  assert_success(FluidCaseStep(&fluid_case, 10, 0.01));
  assert_success(FluidGetTotals(fluid_case.fluid, &totals));
  assert_success(FluidCaseCompare(&fluid_case, DIM, drop_pressure, NULL, &error));
  assert_near(totals.largest_speed, 0., 1e-11);
  assert_near(error, 0., 1e-8);
  assert_success(FluidCaseDestroy(&fluid_case));
}

TEST_MAIN(cmocka_unit_test(a_pool_rests_whatever_its_depth), cmocka_unit_test(a_drop_falls_freely),
          cmocka_unit_test(a_drop_turns_on), cmocka_unit_test(a_drop_under_tension_rests))
