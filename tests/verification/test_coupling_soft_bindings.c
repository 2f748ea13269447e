/* Soft bindings in a fluid: what hangs on them stretches them by its weight without that of the water in its
   place, and however stiff they are the step stays as it is. */
#include "scene_run.h"
#include "harness.h"

#include "solid/deformable/points.h"

static PetscReal record_of(SceneRun *flow, const char name[])
{
  PetscReal value;

  assert_success(SimulationGetRecord(flow->simulation, name, &value));
  return value;
}

/* The sum of all forces of springs along y. */
static PetscReal pull_of(SceneRun *flow)
{
  const Points *points = simulation_solid(flow->simulation)->points;
  PetscReal     sum = 0.;

  for (PetscInt s = 0; s < points->springs.count; s++) {
    const BindingSpring *spring = &points->springs.list[s];

    sum +=
        spring->stiffness * (points->position[spring->target].at[Y] - points->position[spring->point].at[Y]);
  }
  return sum;
}

static void a_block_hangs_on_springs(void **state)
{
  (void)state;
  for (int n = 0; n < 2; n++) {
    const PetscReal stiffness = n ? 1e9 : 1e3, dt = 0.02;
    PetscReal       weight, pull = 0.;
    SceneRun        flow;

    assert_success(SceneRunCreate(
        PETSC_COMM_WORLD, &flow,
        "grid: {size: [0.8, 0.96, 0.8], resolution: 10}\n"
        "run: {end_time: 10, frame_interval: 10, time_step: %g}\n"
        "fluid: {density: 1000, gravity: [0, -9.81, 0], sides: {all: slip}}\n"
        "solids:\n"
        "  materials: [{name: jelly, young: 1e6, poisson: 0.4, density: 3000, damping: 0.1}]\n"
        "  meshes:\n"
        "    - {name: block, shape: {box: {low: [0.25, 0.4, 0.25], high: [0.55, 0.65, 0.55]}}, edge: 0.15, "
        "material: jelly}\n"
        "  bindings:\n"
        "    - {name: seam, from: block, inside: {box: {low: [0, 0.64, 0], high: [1, 1, 1]}}, stiffness: "
        "%g}\n",
        (double)dt, (double)stiffness));
    weight = 9.81 * 2000. * solid_report(simulation_solid(flow.simulation)).volume;
    assert_success(SceneRunStep(&flow, 60, dt));
    for (PetscInt k = 0; k < 40; k++) {
      assert_success(SceneRunStep(&flow, 1, dt));
      pull += pull_of(&flow) / 40.;
    }
    note("%g N/m: they pull with %.2f N, the rest of the weight is %.2f N; longest %.3g m", (double)stiffness,
         (double)pull, (double)weight, (double)record_of(&flow, "binding_length_max"));
    assert_near(pull, weight, 0.01 * weight);
    assert_success(SceneRunDestroy(&flow));
  }
}

/* Two blocks side by side that would pass each other, in a box without ends. */
static void a_seam_holds_two_blocks(void **state)
{
  static const char *const pressure[] = {"pressure_momentum_x", "pressure_momentum_y", "pressure_momentum_z"};

  (void)state;
  for (int n = 0; n < 2; n++) {
    const PetscReal stiffness = n ? 1e10 : 1e3, dt = 0.01;
    PetscReal       change = 0.;
    SceneRun        flow;

    assert_success(SceneRunCreate(
        PETSC_COMM_WORLD, &flow,
        "grid: {size: [1, 1, 1], resolution: 10}\n"
        "run: {end_time: 10, frame_interval: 10, time_step: %g}\n"
        "fluid: {density: 1000, sides: {all: periodic}}\n"
        "coupling: {tolerance: 1e-9}\n"
        "solids:\n"
        "  materials: [{name: jelly, young: 1e5, poisson: 0.4, density: 2000, damping: 0.02}]\n"
        "  meshes:\n"
        "    - {name: one, shape: {box: {low: [0.21, 0.3, 0.4], high: [0.41, 0.5, 0.6]}}, edge: 0.2, "
        "material: jelly, velocity: [0, 0.5, 0]}\n"
        "    - {name: other, shape: {box: {low: [0.41, 0.3, 0.4], high: [0.61, 0.5, 0.6]}}, edge: 0.2, "
        "material: jelly, velocity: [0, -0.5, 0]}\n"
        "  bindings:\n"
        "    - {name: seam, from: one, inside: {box: {low: [0.409, 0, 0], high: [1, 1, 1]}}, to: other, "
        "stiffness: %g}\n",
        (double)dt, (double)stiffness));
    assert_success(SceneRunStep(&flow, 1, dt));
    for (PetscInt k = 0; k < 12; k++) {
      assert_success(SceneRunStep(&flow, 1, dt));
      for (PetscInt d = 0; d < DIM; d++)
        change = PetscMax(change, PetscAbsReal(record_of(&flow, pressure[d])));
    }
    assert_on_all_ranks(change < 1e-3); /* of 8 N s to either side: surfaces are closer than a cell */
    note("%g N/m: pressure changes the momentum by %.2g N s, seams are %.3g m wide", (double)stiffness,
         (double)change, (double)record_of(&flow, "binding_length_max"));
    if (n)
      assert_near(record_of(&flow, "binding_length_max"), 0., 1e-4); /* by what volumes are put right */
    else
      assert_on_all_ranks(record_of(&flow, "binding_length_max") > 1e-3);
    assert_success(SceneRunDestroy(&flow));
  }
}

TEST_MAIN(cmocka_unit_test(a_block_hangs_on_springs), cmocka_unit_test(a_seam_holds_two_blocks))
