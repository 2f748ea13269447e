/* Flows with straight streamlines, whose discrete solution is known exactly.

   On faces half a cell from the walls, the mirrored ghosts give the parabola y (1 - y) / 2 plus h^2 / 8. */
#include "scene_run.h"
#include "harness.h"

#include "simulation/coupled_impl.h"

enum { CELLS = 16 };

/* Body force or lid along `along`, walls across `across`, periodic otherwise; in three dimensions. */
static PetscErrorCode StartBetweenWalls(PetscInt along, PetscInt across, PetscReal force, PetscReal lid,
                                        SceneRun *flow)
{
  const char  *names = "xyz";
  const double forces[DIM] = {along == X ? force : 0., along == Y ? force : 0., along == Z ? force : 0.};
  const double lids[DIM] = {along == X ? lid : 0., along == Y ? lid : 0., along == Z ? lid : 0.};
  PetscReal    size[DIM] = {0.5, 0.5, 0.5};

  PetscFunctionBegin;
  size[across] = 1.;
  PetscCall(SceneRunCreate(PETSC_COMM_WORLD, flow,
                           "grid: {size: [%g, %g, %g], resolution: %d}\n"
                           "fluid:\n"
                           "  density: 2\n"
                           "  viscosity: 2\n"
                           "  pressure_tolerance: 1e-12\n"
                           "  viscosity_tolerance: 1e-13\n"
                           "  body_force: [%g, %g, %g]\n"
                           "  sides:\n"
                           "    all: periodic\n"
                           "    %c_low: wall\n"
                           "    %c_high: {type: wall, velocity: [%g, %g, %g]}\n",
                           (double)size[X], (double)size[Y], (double)size[Z], (int)(CELLS * size[X]),
                           forces[X], forces[Y], forces[Z], names[across], names[across], lids[X], lids[Y],
                           lids[Z]));
  PetscFunctionReturn(0);
}

static void assert_profile(PetscReal force, PetscReal lid, const char format[])
{
  for (PetscInt along = 0; along < DIM; along++)
    for (PetscInt across = 0; across < DIM; across++) {
      SceneRun        flow;
      FieldDifference difference;
      char            exact[64];

      if (along == across)
        continue;
      assert_success(StartBetweenWalls(along, across, force, lid, &flow));
      assert_success(SceneRunStep(&flow, 120, 0.05));
      assert_success(PetscSNPrintf(exact, sizeof(exact), format, "xyz"[across], "xyz"[across]));
      assert_success(SceneRunCompare(&flow, along, exact, 0., &difference));
      assert_near(difference.largest, 0., 1e-10);
      assert_success(SceneRunDestroy(&flow));
    }
}

static void force_between_walls_gives_the_discrete_parabola(void **state)
{
  (void)state;
  assert_profile(1., 0., "%c*(1-%c)/2 + 1/(8*16^2)");
}

static void moving_wall_gives_a_straight_profile(void **state)
{
  (void)state;
  assert_profile(0., 1., "%c + 0*%c");
}

/* An obstacle with a flat side acts as a wall there, and bears half of the push. */
static void check_flat_obstacle(ObstacleFaces kind)
{
  SceneRun        flow;
  FieldDifference difference;
  Vector3         pressure, viscous;

  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, size: [0.5, 1.25], resolution: 8}\n"
                     "fluid:\n"
                     "  density: 2\n"
                     "  viscosity: 2\n"
                     "  viscosity_tolerance: 1e-13\n"
                     "  body_force: [1, 0]\n"
                     "  sides: {all: wall, x_low: periodic, x_high: periodic}\n"
                     "  obstacles: %s\n"
                     "obstacles: [{name: floor, shape: {box: {low: [-1, -1], high: [2, 0.25]}}}]\n",
                     ObstacleFaceKinds[kind]));
  assert_success(SceneRunStep(&flow, 120, 0.05));
  assert_success(SceneRunCompare(&flow, X, "(y-0.25)*(1.25-y)/2 + 1/2048", 0., &difference));
  assert_near(difference.largest, 0., 1e-10);
  if (kind == OBSTACLES_VOXELS)
    assert_success(FluidGetForces(flow.fluid, &pressure, &viscous));
  else
    viscous.at[X] = flow.simulation->coupled->loads[LOAD_VISCOSITY][X];
  assert_near(viscous.at[X], 0.5, 1e-9);
  assert_success(SceneRunDestroy(&flow));
}

static void a_flat_obstacle_is_as_good_as_a_wall(void **state)
{
  (void)state;
  check_flat_obstacle(OBSTACLES_CUT);
  check_flat_obstacle(OBSTACLES_VOXELS);
}

/* A channel from an inflow to an open side keeps the profile and has a linear pressure. */
static void channel_flow_passes_inflow_and_open_side(void **state)
{
  const char     *schemes[] = {"semi-lagrangian", "maccormack", "weno5", "central"};
  SceneRun        flow;
  FieldDifference difference;

  (void)state;
  for (PetscInt s = 0; s < 4; s++) {
    assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                  "grid: {dimension: 2, size: [2, 1], resolution: 32}\n"
                                  "fluid:\n"
                                  "  density: 1\n"
                                  "  viscosity: 0.5\n"
                                  "  advection: %s\n"
                                  "  pressure_tolerance: 1e-12\n"
                                  "  viscosity_tolerance: 1e-13\n"
                                  "  initial: {velocity: [y*(1-y)/2 + 1/2048, 0]}\n"
                                  "  sides:\n"
                                  "    x_low: {type: inflow, velocity: [y*(1-y)/2 + 1/2048, 0]}\n"
                                  "    x_high: open\n",
                                  schemes[s]));
    assert_success(SceneRunStep(&flow, 200, 0.1));
    assert_success(SceneRunCompare(&flow, X, "y*(1-y)/2 + 1/2048", 0., &difference));
    assert_near(difference.largest, 0., 1e-9);
    assert_success(SceneRunCompare(&flow, FIELD_PRESSURE, "0.5*(2 - x)", 0., &difference));
    assert_near(difference.largest, 0., 1e-8);
    assert_success(SceneRunDestroy(&flow));
  }
}

/* A uniform flow, carried with a scalar through sides that all know it, stays as it is. */
static void assert_uniform(const char advection[], PetscInt dimension, Vector3 exact, const char sides[])
{
  SceneRun        flow;
  FieldDifference difference;
  char            formula[32];

  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {dimension: %d, size: [1, 0.75%s], resolution: 16}\n"
                                "fluid:\n"
                                "  density: 3\n"
                                "  viscosity: 0.03\n"
                                "  advection: %s\n"
                                "  initial: {velocity: [%g, %g, %g]}\n"
                                "  scalars: [{name: dye, initial: 3, inflow: 3, diffusivity: 0.01}]\n"
                                "  sides: {%s}\n",
                                (int)dimension, dimension == 3 ? ", 0.5" : "", advection, (double)exact.at[X],
                                (double)exact.at[Y], (double)exact.at[Z], sides));
  assert_success(SceneRunStep(&flow, 20, 0.04));
  for (PetscInt d = 0; d < dimension; d++) {
    assert_success(PetscSNPrintf(formula, sizeof(formula), "%g", (double)exact.at[d]));
    assert_success(SceneRunCompare(&flow, d, formula, 0., &difference));
    assert_near(difference.largest, 0., 1e-12);
  }
  assert_success(SceneRunCompare(&flow, FIELD_SCALAR, "3", 0., &difference));
  assert_near(difference.largest, 0., 1e-12);
  assert_success(SceneRunDestroy(&flow));
}

static void uniform_flow_stays_uniform(void **state)
{
  const char *schemes[] = {"semi-lagrangian", "maccormack", "weno5", "central"};

  (void)state;
  for (PetscInt s = 0; s < 4; s++) {
    assert_uniform(schemes[s], 2, vector3(1., 0.5, 0.),
                   "all: {type: inflow, velocity: [1, 0.5]}, x_high: open, y_high: open");
    assert_uniform(schemes[s], 2, vector3(1., 0., 0.),
                   "all: slip, x_low: {type: inflow, velocity: [1, 0]}, x_high: open");
    assert_uniform(schemes[s], 2, vector3(1., 0.5, 0.), "all: periodic");
    assert_uniform(schemes[s], 3, vector3(1., 0.5, 0.25),
                   "all: {type: inflow, velocity: [1, 0.5, 0.25]}, x_high: open, y_low: periodic, y_high: "
                   "periodic, z_high: open");
    assert_uniform(schemes[s], 3, vector3(1., 0.5, 0.25),
                   "all: periodic, y_low: {type: wall, velocity: [1, 0.5, 0.25]}, y_high: {type: wall, "
                   "velocity: [1, 0.5, 0.25]}");
  }
}

/* A million cells of diffusion in a step: the answer stays between what the walls prescribe. */
static void viscosity_is_stable_at_a_huge_time_step(void **state)
{
  SceneRun    flow;
  FluidTotals totals;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {dimension: 2, size: [1, 1], resolution: 32}\n"
                                "fluid: {density: 1, viscosity: 1, advection: none,\n"
                                "        sides: {y_high: {type: wall, velocity: [1, 0]}}}\n"));
  for (PetscInt n = 0; n < 20; n++) {
    assert_success(SceneRunStep(&flow, 1, 1000.));
    assert_success(FluidGetTotals(flow.fluid, &totals));
    assert_on_all_ranks(totals.largest_speed < 1.);
  }
  assert_on_all_ranks(totals.largest_speed > 0.5);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(force_between_walls_gives_the_discrete_parabola),
          cmocka_unit_test(moving_wall_gives_a_straight_profile),
          cmocka_unit_test(a_flat_obstacle_is_as_good_as_a_wall),
          cmocka_unit_test(channel_flow_passes_inflow_and_open_side),
          cmocka_unit_test(uniform_flow_stays_uniform),
          cmocka_unit_test(viscosity_is_stable_at_a_huge_time_step))
