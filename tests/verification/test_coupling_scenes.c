/* The scenes of inputs/coupling on small grids: each caption as a number. */
#include "harness.h"
#include "liquid.h"

#include <math.h>
#include <string.h>

enum { WATER };

static Solid solid_of(const SceneRun *flow)
{
  return simulation_solid(flow->simulation);
}

static BodyView body(const SceneRun *flow, PetscInt number)
{
  return solid_body_view(solid_of(flow), number);
}

static PetscReal water_of(SceneRun *flow)
{
  PetscReal volume;

  assert_success(RegionVolume(flow, WATER, &volume));
  return volume;
}

static void assert_in_tank(const SceneRun *flow)
{
  const GridConfig *grid = &scene_config(flow->scene)->grid;
  const PetscReal   slack = 0.05 * grid->size.at[X] / grid->resolution;
  PetscBool         inside = PETSC_TRUE;

  for (PetscInt b = 0; b < solid_body_count(solid_of(flow)); b++) {
    Vector3 low, high;

    solid_body_bounds(solid_of(flow), b, &low, &high);
    for (PetscInt d = 0; d < DIM; d++)
      if (low.at[d] < grid->origin.at[d] - slack ||
          high.at[d] > grid->origin.at[d] + grid->size.at[d] + slack)
        inside = PETSC_FALSE;
  }
  assert_on_all_ranks(inside);
}

/* Mean heights of the bodies from now on. */
static void average_heights(SceneRun *flow, PetscReal until, PetscInt count, PetscReal heights[])
{
  const PetscReal began = simulation_time(flow->simulation);
  PetscReal       dt;

  assert_success(PetscArrayzero(heights, count));
  while (simulation_time(flow->simulation) < until - 1e-9) {
    assert_success(SimulationGetTimeStep(flow->simulation, until, &dt));
    assert_success(SceneRunStep(flow, 1, dt));
    assert_in_tank(flow);
    for (PetscInt b = 0; b < count; b++)
      heights[b] += dt / (until - began) * body(flow, b).position.at[Y];
  }
}

/* How far above the water the centre of a sphere of radius one floats, for a ratio of densities. */
static PetscReal floating_height(PetscReal ratio)
{
  PetscReal low = 0., high = 2.;

  while (high - low > 1e-12) {
    const PetscReal depth = 0.5 * (low + high);

    if (depth * depth * (3. - depth) / 4. < ratio)
      low = depth;
    else
      high = depth;
  }
  return 1. - low;
}

/* Fig. 5.1. The surface of the pool, 1 m^2, ends where the water and what is under it reach. */
static void spheres_float_as_deep_as_they_are_dense(void **state)
{
  enum { CORK, WOOD, ICE, AMBER, STONE, SPHERES };
  const PetscReal radius = 0.12, volume = 4. / 3. * PETSC_PI * radius * radius * radius;
  PetscReal       heights[SPHERES], level = 0.45 - 5. * volume, before;
  const PetscReal half_a_cell = 0.5 * 2. / 40.;
  SceneRun        flow;

  (void)state;
  only_in_long_runs();
  assert_success(SceneRunOpen(&flow, "coupling/buoyancy", 40, NULL));
  before = water_of(&flow);
  assert_success(SceneRunUntil(&flow, 1.5));
  average_heights(&flow, 3., SPHERES, heights);
  for (PetscInt b = 0; b < SPHERES; b++)
    level += PetscMin(body(&flow, b).config->density / 1000., 1.) * volume;
  for (PetscInt b = CORK; b <= ICE; b++) {
    const PetscReal wanted = level + radius * floating_height(body(&flow, b).config->density / 1000.);

    note("buoyancy: %s floats at %.4f m, by Archimedes %.4f m", body(&flow, b).config->name,
         (double)heights[b], (double)wanted);
    assert_near(heights[b], wanted, half_a_cell);
  }
  assert_on_all_ranks(heights[CORK] > heights[WOOD] && heights[WOOD] > heights[ICE]);
  for (PetscInt b = AMBER; b <= STONE; b++)
    assert_near(body(&flow, b).position.at[Y], radius, 1e-3);
  note("buoyancy: volume of the water changed by %+.2f %%", 100. * (double)(water_of(&flow) / before - 1.));
  assert_near(water_of(&flow) / before, 1., 0.02);
  assert_success(SceneRunDestroy(&flow));
}

/* The denser of those that sink is down first. */
static void the_heavier_sphere_sinks_faster(void **state)
{
  enum { AMBER = 3, STONE };
  SceneRun flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "coupling/buoyancy", 32, NULL));
  assert_success(SceneRunUntil(&flow, 0.3));
  note("buoyancy: at 0.3 s amber is at %.3f m, stone at %.3f m", (double)body(&flow, AMBER).position.at[Y],
       (double)body(&flow, STONE).position.at[Y]);
  assert_near(body(&flow, STONE).position.at[Y], 0.12, 0.02);
  assert_on_all_ranks(body(&flow, AMBER).position.at[Y] > 0.2 && body(&flow, AMBER).position.at[Y] < 0.28);
  assert_success(SceneRunDestroy(&flow));
}

/* Mean height of all copies of a body. */
static PetscReal mean_height(const SceneRun *flow, const char name[])
{
  PetscReal sum = 0.;
  PetscInt  count = 0;

  for (PetscInt b = 0; b < solid_body_count(solid_of(flow)); b++)
    if (!strcmp(body(flow, b).config->name, name)) {
      sum += body(flow, b).position.at[Y];
      count++;
    }
  return sum / PetscMax(count, 1);
}

/* Fig. 5.5 */
static void many_spheres_are_sorted_by_density(void **state)
{
  PetscReal before;
  SceneRun  flow;

  (void)state;
  only_in_long_runs();
  assert_success(SceneRunOpen(&flow, "coupling/many-spheres", 24, NULL));
  assert_int_equal(solid_body_count(solid_of(&flow)), 24);
  before = water_of(&flow);
  for (int n = 1; n <= 30; n++) {
    assert_success(SceneRunUntil(&flow, 0.1 * n));
    assert_in_tank(&flow);
  }
  note("many-spheres: mean heights of foam %.3f, wood %.3f, amber %.3f, stone %.3f m; water %+.2f %%",
       (double)mean_height(&flow, "foam"), (double)mean_height(&flow, "wood"),
       (double)mean_height(&flow, "amber"), (double)mean_height(&flow, "stone"),
       100. * (double)(water_of(&flow) / before - 1.));
  assert_on_all_ranks(mean_height(&flow, "foam") > mean_height(&flow, "wood"));
  assert_on_all_ranks(mean_height(&flow, "wood") > mean_height(&flow, "ice"));
  assert_near(mean_height(&flow, "amber"), 0.09, 1e-3); /* on the floor */
  assert_near(mean_height(&flow, "stone"), 0.09, 1e-3);
  assert_near(water_of(&flow) / before, 1., 0.03);
  assert_success(SceneRunDestroy(&flow));
}

/* It starts with the acceleration of its added mass, 1.73 g in an endless pool and less in a tank, and jumps
   by more than its diameter out of the water, which was at 0.8 m. */
static void a_light_ball_leaves_the_water(void **state)
{
  const PetscReal radius = 0.13, surface = 0.8;
  PetscReal       highest = 0., before, dt = 0.005;
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "coupling/light-ball", 20, NULL));
  before = water_of(&flow);
  assert_success(SceneRunStep(&flow, 1, dt));
  note("light-ball: starts with %.3f g", (double)(body(&flow, 0).velocity.at[Y] / dt / 9.81));
  assert_near(body(&flow, 0).velocity.at[Y] / dt / 9.81, 1.6, 0.2);
  while (simulation_time(flow.simulation) < 0.9 - 1e-9) {
    assert_success(SimulationGetTimeStep(flow.simulation, 0.9, &dt));
    assert_success(SceneRunStep(&flow, 1, dt));
    assert_in_tank(&flow);
    highest = PetscMax(highest, body(&flow, 0).position.at[Y]);
  }
  note("light-ball: jumps to %.3f m, water %+.2f %%", (double)highest,
       100. * (double)(water_of(&flow) / before - 1.));
  assert_on_all_ranks(highest - radius > surface + 2. * radius);
  assert_near(water_of(&flow) / before, 1., 0.02);
  assert_success(SceneRunDestroy(&flow));
}

/* Against the clock, as seen from the front: about +z. */
static void a_smoke_jet_turns_the_wheel(void **state)
{
  PetscReal angle = 0., dt;
  BodyView  wheel;
  SceneRun  flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "coupling/paddle-wheel", 20, NULL));
  while (simulation_time(flow.simulation) < 1.5 - 1e-9) {
    assert_success(SimulationGetTimeStep(flow.simulation, 1.5, &dt));
    assert_success(SceneRunStep(&flow, 1, dt));
    angle += dt * body(&flow, 0).spin.at[Z];
  }
  wheel = body(&flow, 0);
  note("paddle-wheel: turned by %.3f rad, spins at %.3f rad/s", (double)angle, (double)wheel.spin.at[Z]);
  assert_on_all_ranks(angle > 0.1 && wheel.spin.at[Z] > 0.2);
  assert_near(hypot(wheel.spin.at[X], wheel.spin.at[Y]), 0., 1e-8);
  assert_near(vector3_norm(vector3_subtract(wheel.position, vector3(0.5, 0.6, 0.25))), 0., 1e-6);
  assert_success(SceneRunDestroy(&flow));
}

/* Fig. 5.7: the jet rises above the pool, which was at 0.5 m, and stirs the bodies. */
static void a_fountain_stirs_its_bodies(void **state)
{
  PetscReal before, top, highest = 0., moved = 0.;
  Vector3  *from;
  PetscInt  count;
  SceneRun  flow;

  (void)state;
  only_in_long_runs();
  assert_success(SceneRunOpen(&flow, "coupling/fountain", 20, NULL));
  before = water_of(&flow);
  count = solid_body_count(solid_of(&flow));
  assert_success(PetscMalloc1(count, &from));
  for (PetscInt b = 0; b < count; b++)
    from[b] = body(&flow, b).position;
  for (int n = 1; n <= 10; n++) {
    assert_success(SceneRunUntil(&flow, 0.1 * n));
    assert_in_tank(&flow);
    assert_success(RegionEnd(&flow, WATER, Y, 1, vector3(0.5, 0., 0.5), &top));
    highest = PetscMax(highest, top);
  }
  for (PetscInt b = 0; b < count; b++)
    moved +=
        hypot(body(&flow, b).position.at[X] - from[b].at[X], body(&flow, b).position.at[Z] - from[b].at[Z]) /
        count;
  note("fountain: rises to %.3f m, moves bodies by %.3f m, water %+.2f %%", (double)highest, (double)moved,
       100. * (double)(water_of(&flow) / before - 1.));
  assert_on_all_ranks(highest > 0.7);
  assert_on_all_ranks(moved > 0.05);
  assert_near(water_of(&flow) / before, 1., 0.05);
  assert_success(PetscFree(from));
  assert_success(SceneRunDestroy(&flow));
}

/* Largest value of the first scalar farther than `radius` from a point, and its integral within. */
static void measure_smoke(SceneRun *flow, Vector3 centre, PetscReal radius, PetscReal *outside,
                          PetscReal *inside)
{
  *outside = *inside = 0.;
  if (flow->fluid) {
    const GridBox   *box = grid_box(flow->grid);
    const PetscReal *smoke;
    Vec             *scalars;

    PetscCallAbort(PETSC_COMM_SELF, FluidGetScalars(flow->fluid, &scalars));
    PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(scalars[0], &smoke));
    FOR_CELLS(box, i, j, k) {
      const Vector3   arm = vector3_subtract(grid_cell_centre(flow->grid, i, j, k), centre);
      const PetscReal value = smoke[box_index(box, i, j, k)];

      if (vector3_norm(arm) > radius)
        *outside = PetscMax(*outside, PetscAbsReal(value));
      else
        *inside += value * PetscPowRealInt(grid_spacing(flow->grid), DIM);
    }
    PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(scalars[0], &smoke));
  }
  assert_success(MPI_Allreduce(MPI_IN_PLACE, outside, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  assert_success(MPI_Allreduce(MPI_IN_PLACE, inside, 1, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
}

/* Nothing passes; what is lost inside is lost to interpolation, as it is without a shell. */
static void a_sealed_shell_keeps_its_smoke(void **state)
{
  PetscReal outside, before, inside;
  SceneRun  flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "coupling/sealed-shell", 20, NULL));
  measure_smoke(&flow, body(&flow, 0).position, 0.2, &outside, &before);
  assert_on_all_ranks(outside == 0. && before > 0.);
  for (int n = 1; n <= 8; n++) {
    assert_success(SceneRunUntil(&flow, 0.1 * n));
    measure_smoke(&flow, body(&flow, 0).position, 0.2, &outside, &inside);
    assert_near(outside, 0., 0.);
  }
  note("sealed-shell: no smoke outside, %.1f %% of it left inside", 100. * (double)(inside / before));
  assert_near(inside / before, 1., 0.2);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(spheres_float_as_deep_as_they_are_dense),
          cmocka_unit_test(the_heavier_sphere_sinks_faster),
          cmocka_unit_test(many_spheres_are_sorted_by_density),
          cmocka_unit_test(a_light_ball_leaves_the_water), cmocka_unit_test(a_smoke_jet_turns_the_wheel),
          cmocka_unit_test(a_fountain_stirs_its_bodies), cmocka_unit_test(a_sealed_shell_keeps_its_smoke))
