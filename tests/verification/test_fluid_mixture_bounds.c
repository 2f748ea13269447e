/* A mixture beside obstacles and sides, on any number of ranks, and out of a checkpoint. */
#include "scene_run.h"
#include "harness.h"
#include "layered_mixture.h"
#include "scratch.h"

static const PetscBool hold[FLUID_CASE_OBSTACLES] = {PETSC_FALSE, PETSC_FALSE};

static PetscReal within(Vector3 point, PetscReal left, PetscReal right, PetscReal low, PetscReal high)
{
  return point.at[X] > left && point.at[X] < right && point.at[Y] > low && point.at[Y] < high ? 1. : 0.;
}

static PetscReal a_block(const void *context, Vector3 point, PetscInt direction)
{
  (void)context;
  (void)direction;
  return within(point, 0.25, 0.625, 0.25, 0.75) *
         (point.at[Z] == 0. || (point.at[Z] > 0.25 && point.at[Z] < 0.5) ? 1. : 0.);
}

/* Archimedes: what is displaced of each liquid, to round-off. */
static void liquids_lift_what_they_surround(void **state)
{
  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++) {
    LayeredMixture  layers = {2, {0.53}, {1000., 700.}, {0.3, 20.}, 0.};
    const PetscReal depth = dimension == 2 ? 1. : 0.25;
    Vector3         pressure[FLUID_CASE_OBSTACLES], viscous[FLUID_CASE_OBSTACLES];
    FluidCase       fluid_case;

    fluid_case_set_defaults(&fluid_case, dimension, 16);
    fluid_case.config.gravity = vector3(0., -10., 0.);
    use_layers(&fluid_case, &layers);
    assert_success(FluidCaseStart(PETSC_COMM_WORLD, a_block, hold, &fluid_case));
    assert_success(FluidCaseStep(&fluid_case, 3, 0.01));
    assert_success(FluidGetForces(fluid_case.fluid, pressure, viscous));
    assert_near(pressure[0].at[Y], 10. * 0.375 * depth * (0.28 * 1000. + 0.22 * 700.), 1e-6);
    for (PetscInt d = 0; d < dimension; d++) {
      assert_near(viscous[0].at[d], 0., 1e-8);
      if (d != Y)
        assert_near(pressure[0].at[d], 0., 1e-6);
    }
    assert_success(FluidCaseDestroy(&fluid_case));
  }
}

static PetscReal a_floor(const void *context, Vector3 point, PetscInt direction)
{
  (void)context;
  (void)direction;
  return point.at[Y] < 0.25 ? 1. : 0.;
}

/* Couette flow of two layers above the floor: the shear stress is the same everywhere. */
static const PetscReal floor_stress = 1. / (0.35 / 1. + 0.4 / 0.1);

static PetscReal above_floor(const void *context, Vector3 point, PetscInt direction)
{
  const PetscReal y = point.at[Y];

  (void)context;
  (void)direction;
  if (y < 0.25)
    return 0.;
  return floor_stress * (PetscMin(y, 0.6) - 0.25 + PetscMax(y - 0.6, 0.) / 0.1);
}

static void a_flat_obstacle_is_as_good_as_a_wall(void **state)
{
  LayeredMixture layers = {2, {0.6}, {1., 1.}, {1., 0.1}, 0.};
  Vector3        pressure[FLUID_CASE_OBSTACLES], viscous[FLUID_CASE_OBSTACLES];
  PetscReal      error;
  FluidCase      fluid_case;

  (void)state;
  fluid_case_set_defaults(&fluid_case, 2, 16);
  fluid_case_make_periodic(&fluid_case, X);
  assert_success(FluidCaseFormula("1", &fluid_case.config.sides[Y][1].velocity[X]));
  use_layers(&fluid_case, &layers);
  assert_success(FluidCaseStart(PETSC_COMM_WORLD, a_floor, hold, &fluid_case));
  assert_success(FluidCaseStep(&fluid_case, 40, 20.));
  assert_success(FluidCaseCompare(&fluid_case, X, above_floor, NULL, &error));
  assert_success(FluidGetForces(fluid_case.fluid, pressure, viscous));
  assert_near(error, 0., 1e-9);
  assert_near(viscous[0].at[X], floor_stress, 1e-8);
  assert_success(FluidCaseDestroy(&fluid_case));
}

static PetscReal depth_pressure(const void *context, Vector3 point, PetscInt direction)
{
  (void)context;
  (void)direction;
  if (point.at[Y] > 0.4)
    return 10. * 2. * (1. - point.at[Y]);
  return 10. * (2. * 0.6 + 5. * (0.4 - point.at[Y]));
}

/* p = 0 on the open top, and nothing moves below it; the pressure is known up to no constant. */
static void a_box_with_an_open_top_rests(void **state)
{
  LayeredMixture layers = {2, {0.4}, {5., 2.}, {0.1, 0.1}, 0.};
  FluidTotals    totals;
  Vec            pressure;
  PetscReal      error, top = 0.;
  FluidCase      fluid_case;

  (void)state;
  fluid_case_set_defaults(&fluid_case, 2, 20);
  fluid_case.config.gravity = vector3(0., -10., 0.);
  fluid_case.config.sides[Y][1].kind = SIDE_OPEN;
  use_layers(&fluid_case, &layers);
  assert_success(FluidCaseStart(PETSC_COMM_WORLD, NULL, NULL, &fluid_case));
  assert_success(FluidCaseStep(&fluid_case, 20, 0.02));
  assert_success(FluidGetTotals(fluid_case.fluid, &totals));
  assert_success(FluidCaseCompare(&fluid_case, DIM, depth_pressure, NULL, &error));
  assert_near(totals.largest_speed, 0., 1e-9);
  assert_near(error, 0., 1e-8);
  assert_success(FluidGetPressure(fluid_case.fluid, &pressure));
  if (grid_box(fluid_case.grid)->end[Y] == 20) {
    const PetscReal *p;

    PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(pressure, &p));
    top = p[box_index(grid_box(fluid_case.grid), grid_box(fluid_case.grid)->start[X], 19, 0)] - 0.5;
    PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(pressure, &p));
  }
  assert_near(top, 0., 1e-8);
  assert_success(FluidCaseDestroy(&fluid_case));
}

static PetscReal two_posts(const void *context, Vector3 point, PetscInt direction)
{
  (void)context;
  (void)direction;
  return within(point, 0.25, 0.5, 0.25, 0.4375) + 2. * within(point, 0.5625, 0.8, 0.5, 0.8);
}

/* Stirred layers between posts, one of which is slippery. */
static PetscErrorCode StartStirred(MPI_Comm comm, LayeredMixture *layers, FluidCase *fluid_case)
{
  const PetscBool slips[FLUID_CASE_OBSTACLES] = {PETSC_FALSE, PETSC_TRUE};

  PetscFunctionBegin;
  fluid_case_set_defaults(fluid_case, 2, 16);
  fluid_case->config.gravity = vector3(1., -10., 0.);
  fluid_case->config.advection = ADVECT_MACCORMACK;
  fluid_case->config.sides[X][1].kind = SIDE_SLIP;
  PetscCall(FluidCaseFormula("x", &fluid_case->config.sides[Y][1].velocity[X]));
  PetscCall(FluidCaseFormula("sin(9*y)", &fluid_case->config.initial_velocity[X]));
  PetscCall(FluidCaseFormula("cos(7*x)", &fluid_case->config.initial_velocity[Y]));
  *layers = (LayeredMixture){3, {0.3, 0.55}, {100., 10., 1.}, {1., 0.01, 0.3}, 0.};
  use_layers(fluid_case, layers);
  PetscCall(FluidCaseStart(comm, two_posts, slips, fluid_case));
  PetscFunctionReturn(0);
}

static void assert_same_flow(FluidCase *one, FluidCase *other, PetscReal tolerance)
{
  FluidTotals totals[2];

  assert_success(FluidGetTotals(one->fluid, &totals[0]));
  assert_success(FluidGetTotals(other->fluid, &totals[1]));
  assert_on_all_ranks(totals[0].kinetic_energy > 0.1);
  assert_near(totals[0].largest_divergence, 0., 1e-8);
  assert_near(totals[0].kinetic_energy, totals[1].kinetic_energy, tolerance);
  assert_near(totals[0].largest_speed, totals[1].largest_speed, tolerance);
  for (PetscInt d = 0; d < 2; d++)
    assert_near(totals[0].momentum[d], totals[1].momentum[d], tolerance);
}

static void any_number_of_ranks_gives_the_same_flow(void **state)
{
  LayeredMixture layers[2];
  FluidCase      together, alone;

  (void)state;
  assert_success(StartStirred(PETSC_COMM_WORLD, &layers[0], &together));
  assert_success(StartStirred(PETSC_COMM_SELF, &layers[1], &alone));
  assert_success(FluidCaseStep(&together, 5, 0.02));
  assert_success(FluidCaseStep(&alone, 5, 0.02));
  assert_same_flow(&together, &alone, 1e-8);
  assert_success(FluidCaseDestroy(&together));
  assert_success(FluidCaseDestroy(&alone));
}

static void a_checkpoint_continues_the_step(void **state)
{
  LayeredMixture layers[2];
  FluidCase      whole, resumed;
  Archive        archive;
  char           message[256];

  (void)state;
  assert_success(StartStirred(PETSC_COMM_WORLD, &layers[0], &whole));
  assert_success(FluidCaseStep(&whole, 3, 0.02));
  assert_success(ArchiveCreate(PETSC_COMM_WORLD, scratch_path("mixture.h5"), &archive));
  assert_success(FluidSave(whole.fluid, archive));
  assert_success(ArchiveCommit(&archive));
  assert_success(FluidCaseStep(&whole, 3, 0.02));
  assert_success(StartStirred(PETSC_COMM_WORLD, &layers[1], &resumed));
  assert_success(
      ArchiveOpen(PETSC_COMM_WORLD, scratch_path("mixture.h5"), &archive, message, sizeof(message)));
  assert_success(FluidLoad(resumed.fluid, archive));
  assert_success(ArchiveDestroy(&archive));
  assert_success(FluidCaseStep(&resumed, 3, 0.02));
  assert_same_flow(&resumed, &whole, 1e-13);
  assert_success(FluidCaseDestroy(&whole));
  assert_success(FluidCaseDestroy(&resumed));
}

/* A step that failed leaves what the next one starts from. */
static void a_forgotten_step_changes_nothing(void **state)
{
  LayeredMixture layers[2];
  FluidCase      steady, hasty;

  (void)state;
  assert_success(StartStirred(PETSC_COMM_WORLD, &layers[0], &steady));
  assert_success(StartStirred(PETSC_COMM_WORLD, &layers[1], &hasty));
  assert_success(FluidCaseStep(&steady, 2, 0.02));
  assert_success(FluidCaseStep(&hasty, 2, 0.02));
  assert_success(FluidPredict(hasty.fluid, 0.5));
  assert_success(FluidForgetPrediction(hasty.fluid));
  assert_success(FluidCaseStep(&steady, 2, 0.01));
  assert_success(FluidCaseStep(&hasty, 2, 0.01));
  assert_same_flow(&hasty, &steady, 1e-10);
  assert_success(FluidCaseDestroy(&steady));
  assert_success(FluidCaseDestroy(&hasty));
}

TEST_MAIN(cmocka_unit_test(liquids_lift_what_they_surround),
          cmocka_unit_test(a_flat_obstacle_is_as_good_as_a_wall),
          cmocka_unit_test(a_box_with_an_open_top_rests),
          cmocka_unit_test(any_number_of_ranks_gives_the_same_flow),
          in_scratch(a_checkpoint_continues_the_step), cmocka_unit_test(a_forgotten_step_changes_nothing))
