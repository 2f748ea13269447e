/* Deformable solids in a plane flow: planar meshes are prisms of unit depth in the fluid. */
#include "scene_run.h"
#include "harness.h"

#include "simulation/coupled_impl.h"

static SolidReport report_of(SceneRun *flow)
{
  return solid_report(simulation_solid(flow->simulation));
}

/* A closed box of syrup, as wide as it needs. */
#define SYRUP                                                                                                \
  "grid: {dimension: 2, size: [1, 1.25], resolution: 24}\n"                                                  \
  "run: {end_time: 10, frame_interval: 1, time_step: 0.0025}\n"                                              \
  "fluid: {density: 1000, viscosity: %g, gravity: [0, -9.81], sides: {all: wall}}\n"                         \
  "coupling: {tolerance: 1e-8}\n"

/* With linear elements and no viscosity, and with quadratic ones in syrup, where its points lag behind by a
   step. What pressure and viscosity do to it in the ledger is what changes its momentum. */
static void a_stiff_block_sinks_like_a_rigid_one(void **state)
{
  const PetscReal density = 2000., dt = 0.0025, area = 0.1;

  (void)state;
  for (PetscInt order = 1; order <= 2; order++) {
    const PetscReal viscosity = order == 1 ? 0. : 20.;
    PetscReal       soft, rigid, before, force;
    SceneRun        flow;

    assert_success(SceneRunCreate(
        PETSC_COMM_WORLD, &flow,
        SYRUP "solids:\n"
              "  elasticity: newmark\n"
              "  materials: [{name: stone, young: 1e7, poisson: 0.3, density: %g, damping: 0.01}]\n"
              "  meshes:\n"
              "    - {name: block, type: planar, order: %d, sheet: {origin: [0.31, 0.8], along: [0.4, 0], "
              "across: [0, 0.25]}, edge: 0.1, material: stone}\n",
        (double)viscosity, (double)density, (int)order));
    assert_near(report_of(&flow).volume, area, 1e-12);
    assert_success(SceneRunStep(&flow, 39, dt));
    before = report_of(&flow).momentum.at[Y];
    assert_success(SceneRunStep(&flow, 1, dt));
    soft = report_of(&flow).momentum.at[Y] / (density * area);
    force = flow.simulation->coupled->loads[LOAD_ALL][Y] - 9.81 * density * area;
    assert_near(report_of(&flow).momentum.at[Y] - before, dt * force, 1e-6 * 9.81 * dt * density * area);
    assert_near(report_of(&flow).momentum.at[Z], 0., 0.);
    assert_success(SceneRunDestroy(&flow));
    assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                  SYRUP
                                  "solids:\n"
                                  "  bodies:\n"
                                  "    - {name: block, density: %g, shape: {box: {low: [0.31, 0.8, -0.5], "
                                  "high: [0.71, 1.05, 0.5]}}}\n",
                                  (double)viscosity, (double)density));
    assert_success(SceneRunStep(&flow, 40, dt));
    rigid = solid_body_view(simulation_solid(flow.simulation), 0).velocity.at[Y];
    assert_success(SceneRunDestroy(&flow));
    note("order %d, viscosity %g: %.5f m/s, rigid %.5f", (int)order, (double)viscosity, (double)soft,
         (double)rigid);
    assert_near(soft, rigid, 0.01 * PetscAbsReal(rigid));
  }
}

#define CHANNEL                                                                                              \
  "grid: {dimension: 2, size: [1, 0.4], resolution: 50}\n"                                                   \
  "run: {end_time: 10, frame_interval: 1, time_step: 0.02}\n"                                                \
  "fluid:\n"                                                                                                 \
  "  density: 1000\n"                                                                                        \
  "  viscosity: 1\n"                                                                                         \
  "  viscosity_tolerance: 1e-10\n"                                                                           \
  "  initial: {velocity: [0.2, 0]}\n"                                                                        \
  "  sides: {x_low: {type: inflow, velocity: [0.2, 0]}, x_high: open, y_low: wall, y_high: wall}\n"          \
  "coupling: {tolerance: 1e-12}\n"                                                                           \
  "solids:\n"

/* All of its vertices are held, so that it is a static body; not along the lattice. */
static void a_held_mesh_is_a_static_body(void **state)
{
  PetscReal held[2 * LOAD_COUNT], still[2 * LOAD_COUNT];

  (void)state;
  for (int mesh = 0; mesh < 2; mesh++) {
    SceneRun flow;

    assert_success(SceneRunCreate(
        PETSC_COMM_WORLD, &flow, "%s",
        mesh ? CHANNEL "  elasticity: newmark\n"
                       "  materials: [{name: stone, young: 1e7, poisson: 0.3, density: 2000}]\n"
                       "  meshes:\n"
                       "    - {name: plate, type: planar, sheet: {origin: [0.3, 0.15], along: [0.24, 0.07], "
                       "across: [-0.014, 0.048]}, edge: 0.05, material: stone, held: [{inside: {box: {low: "
                       "[0, 0, -1], high: [1, 1, 1]}}}]}\n"
             : CHANNEL "  bodies:\n"
                       "    - {name: plate, type: static, shape: {placed: {shape: {box: {low: [0, 0, -0.5], "
                       "high: [0.25, 0.05, 0.5]}}, rotate: [0, 0, \"atan2(0.07, 0.24)\"], translate: [0.3, "
                       "0.15, 0]}}}\n"));
    assert_success(SceneRunStep(&flow, 5, 0.02));
    for (Load load = 0; load < LOAD_COUNT; load++)
      for (PetscInt d = 0; d < 2; d++)
        (mesh ? held : still)[2 * load + d] = flow.simulation->coupled->loads[load][d];
    assert_success(SceneRunDestroy(&flow));
  }
  for (Load load = 0; load < LOAD_COUNT; load++)
    note("held %.6f, %.6f N, static %.6f, %.6f N", (double)held[2 * load], (double)held[2 * load + 1],
         (double)still[2 * load], (double)still[2 * load + 1]);
  for (int n = 0; n < 2 * LOAD_COUNT; n++)
    assert_near(held[n], still[n], 1e-5 * PetscAbsReal(still[2 * LOAD_ALL]));
}

TEST_MAIN(cmocka_unit_test(a_stiff_block_sinks_like_a_rigid_one),
          cmocka_unit_test(a_held_mesh_is_a_static_body))
