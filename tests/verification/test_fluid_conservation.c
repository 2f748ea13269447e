/* What must not change, or must balance: momentum, volume, forces. */
#include "scene_run.h"
#include "harness.h"

#include "simulation/coupled_impl.h"

static void momentum_is_kept_in_a_periodic_box(void **state)
{
  SceneRun    flow;
  FluidTotals before, after;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {size: [1, 1, 0.5], resolution: 16}\n"
                                "fluid:\n"
                                "  density: 3\n"
                                "  viscosity: 0.3\n"
                                "  advection: none\n"
                                "  body_force: [0.5, 0, -1]\n"
                                "  initial: {velocity: [1 + sin(40*x*y), cos(50*z*x), sin(60*y) - 0.3]}\n"
                                "  sides: {all: periodic}\n"));
  assert_success(FluidGetTotals(flow.fluid, &before));
  assert_success(SceneRunStep(&flow, 10, 0.02));
  assert_success(FluidGetTotals(flow.fluid, &after));
  assert_near(after.mass, 1.5, 1e-12);
  assert_near(after.momentum[X], before.momentum[X] + 1.5 * 0.5 * 0.2, 1e-12);
  assert_near(after.momentum[Y], before.momentum[Y], 1e-12);
  assert_near(after.momentum[Z], before.momentum[Z] - 1.5 * 0.2, 1e-12);
  assert_success(SceneRunDestroy(&flow));
}

/* Two inflows, an obstacle, two open sides. */
static void as_much_flows_out_as_in(void **state)
{
  SceneRun    flow;
  FluidTotals totals;
  PetscReal   net = 0.;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {size: [2, 1, 1], resolution: 20}\n"
                     "fluid:\n"
                     "  density: 1\n"
                     "  viscosity: 0.01\n"
                     "  pressure_tolerance: 1e-11\n"
                     "  sides:\n"
                     "    x_low: {type: inflow, velocity: [1 + sin(9*y), 0, 0]}\n"
                     "    z_low: {type: inflow, velocity: [0, 0, 0.5]}\n"
                     "    x_high: open\n"
                     "    y_high: open\n"
                     "obstacles: [{name: ball, shape: {sphere: {center: [0.9, 0.5, 0.5], radius: 0.3}}}]\n"));
  assert_success(SceneRunStep(&flow, 10, 0.02));
  assert_success(FluidGetTotals(flow.fluid, &totals));
  for (PetscInt d = 0; d < DIM; d++)
    net += totals.outflow[d][0] + totals.outflow[d][1];
  assert_on_all_ranks(totals.outflow[X][1] > 0.1 && totals.outflow[Y][1] > 0.1);
  assert_near(totals.outflow[Z][0], -1., 1e-12);
  assert_near(net, 0., 1e-8);
  assert_near(flow.simulation->coupled->divergence, 0., 1e-6);
  assert_success(SceneRunDestroy(&flow));
}

/* A source in a pipe that is closed at one end: all of it leaves at the other. */
static void a_source_drives_the_flow_out(void **state)
{
  SceneRun    flow;
  FluidTotals totals;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {dimension: 2, size: [2, 0.5], resolution: 64}\n"
                                "fluid:\n"
                                "  density: 1\n"
                                "  viscosity: 0.01\n"
                                "  pressure_tolerance: 1e-11\n"
                                "  sides: {x_high: open}\n"
                                "inflows:\n"
                                "  - name: piston\n"
                                "    shape: {box: {low: [-1, -1], high: [0.25, 1]}}\n"
                                "    velocity: [0.8, 0]\n"));
  assert_success(SceneRunStep(&flow, 10, 0.02));
  assert_success(FluidGetTotals(flow.fluid, &totals));
  assert_near(totals.outflow[X][1], 0.8 * 0.5, 1e-8);
  assert_success(SceneRunDestroy(&flow));
}

/* Drag on a square bar (or cube) of a quarter of the width in a periodic box, through which a force of one
   per mass pushes the fluid until it is steady. */
static PetscErrorCode PushPast(PetscInt dimension, PetscInt resolution, PetscReal viscosity,
                               const char advection[], PetscReal end, PetscReal *force)
{
  SceneRun flow;
  Vector3  pressure, viscous;

  PetscFunctionBegin;
  PetscCall(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                           "grid: {dimension: %d, size: [1, 1%s], resolution: %d}\n"
                           "run: {end_time: 100, frame_interval: 100, largest_time_step: 0.05}\n"
                           "fluid:\n"
                           "  density: 2\n"
                           "  body_force: [1, 0, 0]\n"
                           "  pressure_tolerance: 1e-11\n"
                           "  viscosity_tolerance: 1e-11\n"
                           "  sides: {all: periodic}\n"
                           "  viscosity: %g\n"
                           "  advection: %s\n"
                           "  obstacles: voxels\n"
                           "obstacles:\n"
                           "  - name: bar\n"
                           "    shape: {box: {low: [0.25, 0.25, 0.25], high: [0.5, 0.5, 0.5]}}\n",
                           (int)dimension, dimension == 3 ? ", 1" : "", (int)resolution, (double)viscosity,
                           advection));
  PetscCall(SceneRunUntil(&flow, end));
  PetscCall(FluidGetForces(flow.fluid, &pressure, &viscous));
  *force = pressure.at[X] + viscous.at[X];
  note("%d-D, %d cells: drag %.8f by pressure and %.8f by viscosity", (int)dimension, (int)resolution,
       (double)pressure.at[X], (double)viscous.at[X]);
  PetscCall(SceneRunDestroy(&flow));
  PetscFunctionReturn(0);
}

/* Mass on the faces that the force moves: each row through the bar has its width and one more face closed. */
static PetscReal moved_mass(PetscInt dimension, PetscInt resolution)
{
  const PetscInt width = resolution / 4, depth = dimension == 3 ? resolution : 1;
  const PetscInt closed = (width + 1) * width * (dimension == 3 ? width : 1);

  return 2. * (resolution * resolution * depth - closed) / (PetscReal)(resolution * resolution * depth);
}

static void a_body_bears_the_push_on_a_creeping_flow(void **state)
{
  PetscReal force;

  (void)state;
  assert_success(PushPast(2, 16, 1., "none", 20., &force));
  assert_near(force, moved_mass(2, 16), 1e-7);
  assert_success(PushPast(3, 8, 1., "none", 20., &force));
  assert_near(force, moved_mass(3, 8), 1e-7);
}

/* Advection is not in conservation form: with it the balance holds as the grid is refined. */
static void a_body_bears_the_push_on_a_fast_flow_in_the_limit(void **state)
{
  PetscReal missing[2];

  (void)state;
  for (PetscInt level = 0; level < 2; level++) {
    const PetscInt resolution = 16 << level;
    PetscReal      force;

    assert_success(PushPast(2, resolution, 0.1, "maccormack", 12., &force));
    missing[level] = PetscAbsReal(force / moved_mass(2, resolution) - 1.);
    note("%d cells: %.3f %% of the push is not borne", (int)resolution, 100. * (double)missing[level]);
  }
  assert_on_all_ranks(missing[0] < 0.05);
  assert_on_all_ranks(missing[1] < 0.7 * missing[0]);
}

TEST_MAIN(cmocka_unit_test(momentum_is_kept_in_a_periodic_box), cmocka_unit_test(as_much_flows_out_as_in),
          cmocka_unit_test(a_source_drives_the_flow_out),
          cmocka_unit_test(a_body_bears_the_push_on_a_creeping_flow),
          cmocka_unit_test(a_body_bears_the_push_on_a_fast_flow_in_the_limit))
