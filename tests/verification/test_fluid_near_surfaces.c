/* Central advection gives way to trajectories within two cells of surfaces, and nowhere else. */
#include "harness.h"
#include "scene_run.h"

#include <millrace/fluid_step.h>

/* Distance of a point from the surface, in cells. */
typedef PetscReal (*SurfaceAt)(Vector3 point);

enum { CELLS = 32 };

static PetscReal from_ball(Vector3 point)
{
  return CELLS * (PetscSqrtReal(PetscSqr(point.at[X] - 0.5) + PetscSqr(point.at[Y] - 0.5)) - 0.15);
}

static PetscReal from_pool(Vector3 point)
{
  return CELLS * (0.52 - point.at[Y]);
}

/* The largest differences between two predictions on faces in the fluid, near the surface and far from it. */
static void compare(SceneRun *a, SceneRun *b, SurfaceAt surface, PetscReal largest[2])
{
  Vec *first, *second, *scalars;

  assert_success(FluidGetPrediction(a->fluid, &first, &scalars));
  assert_success(FluidGetPrediction(b->fluid, &second, &scalars));
  largest[0] = largest[1] = 0.;
  for (PetscInt d = 0; d < 2; d++) {
    const GridBox   *box = grid_box(a->grid);
    const PetscReal *u, *v;

    assert_success(VecGetArrayRead(first[d], &u));
    assert_success(VecGetArrayRead(second[d], &v));
    FOR_CELLS(box, i, j, k) {
      const PetscInt  c = box_index(box, i, j, k), index = d == X ? i : j;
      const PetscReal distance = surface(grid_face_centre(a->grid, d, i, j, k)),
                      change = PetscAbsReal(u[c] - v[c]);

      if (index == 0 || distance < 1.)
        continue;
      if (distance < 2.)
        largest[0] = PetscMax(largest[0], change);
      else if (distance > 6.)
        largest[1] = PetscMax(largest[1], change);
    }
    assert_success(VecRestoreArrayRead(second[d], &v));
    assert_success(VecRestoreArrayRead(first[d], &u));
  }
  assert_success(MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
}

static void assert_gives_way(const char rest[], SurfaceAt surface)
{
  static const char *const schemes[] = {"central", "maccormack"};
  PetscReal                largest[2];
  SceneRun                 flow[2];

  for (PetscInt n = 0; n < 2; n++) {
    assert_success(
        SceneRunCreate(PETSC_COMM_WORLD, &flow[n],
                       "grid: {dimension: 2, size: [1, 1], resolution: 32}\n"
                       "run: {end_time: 1, frame_interval: 1}\n"
                       "fluid: {advection: %s, pressure_tolerance: 1e-13, sides: {all: slip},\n"
                       "  initial: {velocity: [sin(2*pi*x)*cos(2*pi*y), -cos(2*pi*x)*sin(2*pi*y)]}%s",
                       schemes[n], rest));
    assert_success(FluidPredictAdvection(flow[n].fluid, 0.02));
  }
  compare(&flow[0], &flow[1], surface, largest);
  note("central less MacCormack: %.1e beside the surface, %.1e elsewhere", (double)largest[0],
       (double)largest[1]);
  assert_near(largest[0], 0., 1e-10);
  assert_on_all_ranks(largest[1] > 1e-4);
  for (PetscInt n = 0; n < 2; n++)
    assert_success(SceneRunDestroy(&flow[n]));
}

static void beside_an_obstacle(void **state)
{
  (void)state;
  assert_gives_way(", density: 1}\n"
                   "obstacles: [{name: ball, shape: {sphere: {center: [0.5, 0.5], radius: 0.15}}}]\n",
                   from_ball);
}

static void beside_another_density(void **state)
{
  (void)state;
  assert_gives_way("}\n"
                   "regions:\n"
                   "  - {name: water, density: 2, shape: {box: {low: [-1, -1], high: [2, 0.52]}}}\n"
                   "  - {name: oil, density: 1}\n",
                   from_pool);
}

static void below_a_free_surface(void **state)
{
  (void)state;
  assert_gives_way("}\n"
                   "regions:\n"
                   "  - {name: water, density: 1, shape: {box: {low: [-1, -1], high: [2, 0.52]}}}\n"
                   "  - {name: air, type: empty}\n",
                   from_pool);
}

TEST_MAIN(cmocka_unit_test(beside_an_obstacle), cmocka_unit_test(beside_another_density),
          cmocka_unit_test(below_a_free_surface))
