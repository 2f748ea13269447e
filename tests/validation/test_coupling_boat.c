/* The boat of inputs/coupling (thesis, Fig. 5.4), a thin shell denser than water, on half of its grid: it
   floats, a light ball falls in and rocks it, a heavy one sinks it, and the light ball comes back to the
   surface. */
#include "scene_run.h"
#include "harness.h"
#include "liquid.h"

#include <millrace/solid_step.h>

enum { BOAT, LIGHT, HEAVY, BODIES };

/* Runs on; afterwards the bodies. */
static void look_at(SceneRun *flow, PetscReal time, BodyView bodies[BODIES])
{
  assert_success(SceneRunUntil(flow, time));
  for (PetscInt b = 0; b < BODIES; b++)
    bodies[b] = solid_body_view(simulation_solid(flow->simulation), b);
  note("at %.2f s the boat is at %.3f m, the light ball at %.3f m, the heavy one at %.3f m", (double)time,
       (double)bodies[BOAT].position.at[Y], (double)bodies[LIGHT].position.at[Y],
       (double)bodies[HEAVY].position.at[Y]);
}

/* A point as hull.obj has it. `centre` is where the body's own origin lies there. */
static Vector3 hull_frame(Solid solid, Vector3 centre, Vector3 point)
{
  const Vector3 arm = vector3_subtract(point, solid_body_view(solid, BOAT).position);

  return vector3_add(quaternion_rotate(quaternion_conjugate(solid_coupled_body(solid, BOAT).rotation), arm),
                     centre);
}

/* Between the walls of hull.obj, which lean outwards, and below their rim. */
static PetscBool is_in_hull(Vector3 point)
{
  const PetscReal rise = point.at[Y] / 0.16;

  return rise > 0. && rise < 1. && PetscAbsReal(point.at[X]) < 0.18 + 0.07 * rise &&
                 PetscAbsReal(point.at[Z]) < 0.09 + 0.06 * rise
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Water in the cells whose centres the hull holds, and all of these cells: m^3. */
static void measure_hold(SceneRun *flow, Vector3 centre, PetscReal *water, PetscReal *hold)
{
  PetscReal sums[2] = {0., 0.};

  if (flow->fluid) {
    const GridBox   *box = grid_box(flow->grid);
    const PetscReal  cell = PetscPowRealInt(grid_spacing(flow->grid), DIM);
    const PetscReal *phi;
    Vec              distance;

    PetscCallAbort(PETSC_COMM_SELF, PhaseGetDistance(simulation_phase(flow->simulation), 0, &distance));
    PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(distance, &phi));
    FOR_CELLS(box, i, j, k)
      if (is_in_hull(hull_frame(simulation_solid(flow->simulation), centre,
                                grid_cell_centre(flow->grid, i, j, k)))) {
        sums[0] += phi[box_index(box, i, j, k)] < 0. ? cell : 0.;
        sums[1] += cell;
      }
    PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(distance, &phi));
  }
  assert_success(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  *water = sums[0];
  *hold = sums[1];
}

/* The hull is dry on the way. */
static void run_dry_until(SceneRun *flow, PetscReal time, Vector3 centre)
{
  PetscReal water, hold;

  while (simulation_time(flow->simulation) < time - 1e-9) {
    assert_success(SceneRunUntil(flow, PetscMin(simulation_time(flow->simulation) + 0.05, time)));
    measure_hold(flow, centre, &water, &hold);
    assert_near(water / hold, 0., 0.);
  }
}

static void a_heavy_ball_sinks_the_boat_that_a_light_one_rocks(void **state)
{
  const PetscReal surface = 0.4, floor_of_hull = 0.07; /* below its centre */
  PetscReal       before, after, water, hold;
  Vector3         centre;
  BodyView        bodies[BODIES];
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "coupling/boat", 24, NULL));
  assert_success(RegionVolume(&flow, 0, &before));
  centre = vector3_subtract(solid_body_view(simulation_solid(flow.simulation), BOAT).position,
                            vector3(0.5, 0.41, 0.5));
  run_dry_until(&flow, 0.4, centre);
  look_at(&flow, 0.4, bodies);
  assert_on_all_ranks(vector3_norm(bodies[BOAT].spin) > 0.05); /* rocks */
  run_dry_until(&flow, 0.9, centre);
  look_at(&flow, 0.9, bodies); /* the heavy ball is back at a second */
  assert_near(bodies[BOAT].position.at[Y], surface, 0.06);
  assert_on_all_ranks(bodies[LIGHT].position.at[Y] > bodies[BOAT].position.at[Y] - floor_of_hull);
  look_at(&flow, 1.25, bodies);
  assert_on_all_ranks(bodies[BOAT].position.at[Y] < 0.25);
  look_at(&flow, 2.2, bodies);
  measure_hold(&flow, centre, &water, &hold);
  note("%.0f %% of the hull are wet", 100. * (double)(water / hold));
  assert_on_all_ranks(water > 0.5 * hold);
  assert_on_all_ranks(bodies[BOAT].position.at[Y] < 0.25);
  assert_near(bodies[HEAVY].position.at[Y], 0.08, 0.01);              /* its radius */
  assert_on_all_ranks(bodies[LIGHT].position.at[Y] > surface - 0.06); /* its radius */
  assert_success(RegionVolume(&flow, 0, &after));
  note("water %+.2f %%", 100. * (double)(after / before - 1.));
  assert_near(after / before, 1., 0.01);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_heavy_ball_sinks_the_boat_that_a_light_one_rocks))
