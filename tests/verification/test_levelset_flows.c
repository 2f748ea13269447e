/* Interfaces that are carried around and come back (docs/validation.md, L1 and L2). */
#include "scene_run.h"
#include "harness.h"
#include "interface_flows.h"

static const InterfaceConfig plain = {.advection = INTERFACE_WENO5};
static const InterfaceConfig marked = {.advection = INTERFACE_WENO5, .particles = 16};
static const InterfaceConfig marked_semi_lagrangian = {.advection = INTERFACE_SEMI_LAGRANGIAN,
                                                       .particles = 16};

static void run(const char *what, const InterfaceFlow *flow, const InterfaceConfig *config, PetscInt cells,
                PetscReal courant, FlowResult *result)
{
  assert_success(InterfaceFlowRun(flow, config, cells, courant, result));
  note("%s, %s, %d markers a cell, %d cells, %d steps: volume %.6g, lost %.3f %% (at half time %.3f %%), "
       "mismatch %.3e (%.2f %%)",
       what, InterfaceSchemes[config->advection], (int)config->particles, (int)cells, (int)result->steps,
       result->volume, 100. * result->loss, 100. * result->middle, result->mismatch,
       100. * result->mismatch / result->volume);
}

/* Enright et al. (2002) lose 0.31 % with markers and 5.3 % without; the exact area is 582.207. */
static void zalesak_disk_keeps_its_area(void **state)
{
  FlowResult result, bare;

  (void)state;
  run("Zalesak", &zalesak_disk, &plain, 100, 0.5, &bare);
  assert_on_all_ranks(PetscAbsReal(bare.loss) < 0.02);
  assert_near(bare.volume, 582.207, 0.005 * 582.207);
  run("Zalesak", &zalesak_disk, &marked, 100, 0.5, &result);
  assert_on_all_ranks(PetscAbsReal(result.loss) < 0.005);
  assert_on_all_ranks(result.mismatch < 0.016 * 582.207);
  assert_on_all_ranks(result.mismatch < bare.mismatch);
  run("Zalesak", &zalesak_disk, &marked_semi_lagrangian, 100, 1.9, &result);
  assert_on_all_ranks(PetscAbsReal(result.loss) < 0.005);
}

static void markers_bring_more_of_the_vortex_back(void **state)
{
  FlowResult result, bare;

  (void)state;
  run("vortex", &single_vortex, &plain, 64, 1., &bare);
  run("vortex", &single_vortex, &marked, 64, 1., &result);
  assert_on_all_ranks(result.mismatch < bare.mismatch);
}

/* They lose 0.71 % with markers and 39.8 % without, on 128 x 128 cells. */
static void vortex_gives_the_disk_back(void **state)
{
  FlowResult coarse, fine;
  PetscReal  order;

  (void)state;
  only_in_long_runs();
  run("vortex", &single_vortex, &marked, 64, 1., &coarse);
  run("vortex", &single_vortex, &marked, 128, 1., &fine);
  order = order_between(coarse.mismatch, fine.mismatch);
  note("order of the mismatch: %.2f", order);
  assert_on_all_ranks(PetscAbsReal(fine.loss) < 0.015);
  assert_on_all_ranks(order > 1.);
}

static PetscReal circle(Vector3 point)
{
  return vector3_norm(vector3_subtract(point, vector3(0.5, 0.5, 0.))) - 0.25;
}

static PetscReal circle_curvature(Vector3 point)
{
  return 1. / (circle(point) + 0.25);
}

static Vector3 drift(Vector3 point, PetscReal time)
{
  (void)point;
  (void)time;
  return vector3(1., 0.5, 0.);
}

/* Twice through a periodic box: errors of distance (in radii) and curvature (relative), largest, and volume.
 */
static void drift_circle(PetscInt cells, PetscReal error[3])
{
  const PetscInt steps = 4 * cells;
  GridConfig     grid = cube_grid(2, cells, 1.);
  Interface      interface;
  FieldError     distance, bend;
  Vec            field, curvature;
  PetscReal      before, after;

  grid.periodic[X] = grid.periodic[Y] = PETSC_TRUE;
  assert_success(InterfaceCreate(PETSC_COMM_WORLD, &grid, &marked, &interface));
  assert_success(InterfaceSet(&interface, circle));
  assert_success(InterfaceSeed(&interface));
  assert_success(LevelSetGetVolume(interface.level_set, NULL, &before));
  for (PetscInt step = 0; step < steps; step++)
    assert_success(InterfaceStep(&interface, drift, 0., 2. / steps, 5));
  assert_success(LevelSetGetVolume(interface.level_set, NULL, &after));
  assert_success(LevelSetGetField(interface.level_set, &field));
  assert_success(MacGridCreateField(interface.grid, &curvature));
  assert_success(DistanceGetCurvature(interface.grid, NULL, field, curvature));
  assert_success(InterfaceCompare(interface.grid, field, circle, circle, 1.2 / cells, &distance));
  assert_success(InterfaceCompare(interface.grid, curvature, circle_curvature, circle, 0.5 / cells, &bend));
  error[0] = distance.largest / 0.25;
  error[1] = bend.largest * 0.25;
  error[2] = PetscAbsReal(after / before - 1.);
  note("circle, %d cells, radius %g cells, gone 2 boxes: distance %.2e radii, curvature %.2e, volume %.2e",
       (int)cells, 0.25 * cells, error[0], error[1], error[2]);
  assert_success(VecDestroy(&curvature));
  assert_success(InterfaceDestroy(&interface));
}

static void curvature_survives_motion(void **state)
{
  PetscReal error[3][3];

  (void)state;
  for (PetscInt level = 0; level < 3; level++)
    drift_circle(32 << level, error[level]);
  assert_on_all_ranks(error[0][1] < 0.012 && error[1][1] < 6e-3 && error[2][1] < 2e-3);
  assert_on_all_ranks(order_between(error[0][0], error[2][0]) / 2. > 2.4);
  assert_on_all_ranks(order_between(error[0][2], error[2][2]) / 2. > 3.);
}

TEST_MAIN(cmocka_unit_test(curvature_survives_motion), cmocka_unit_test(zalesak_disk_keeps_its_area),
          cmocka_unit_test(markers_bring_more_of_the_vortex_back),
          cmocka_unit_test(vortex_gives_the_disk_back))
