/* The solvers of (5.13) with deformable solids: how many iterations they take, that they agree, and that what
   is light and stiff stays where it is in long steps. */
#include "scene_run.h"
#include "harness.h"

#include "simulation/coupled_impl.h"

/* The most iterations of a solve for the step in a few steps. */
static PetscInt most_iterations(SceneRun *flow, PetscReal dt)
{
  PetscInt most = 0;

  for (PetscInt n = 0; n < 3; n++) {
    assert_success(SceneRunStep(flow, 1, dt));
    most = PetscMax(most, flow->simulation->coupled->report.iterations);
  }
  assert_success(SceneRunDestroy(flow));
  return most;
}

static const PetscReal step = 0.01;

typedef struct {
  const char *solver, *side; /* the upper one */
  PetscInt    resolution;
  PetscReal   radius, edge; /* of the ball */
} BallInTank;

/* With a stone of the same density above it, which `minres` has rows for. */
static PetscInt ball_iterations(const BallInTank *tank, PetscReal young, PetscReal density)
{
  SceneRun flow;

  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {size: [1, 1.5, 1], resolution: %d}\n"
      "run: {end_time: 10, frame_interval: 1, time_step: %g}\n"
      "fluid: {density: 1000, gravity: [0, -9.81, 0], sides: {all: slip, y_high: %s}}\n"
      "coupling: {tolerance: 1e-8, solver: %s}\n"
      "solids:\n"
      "  elasticity: newmark\n"
      "  materials: [{name: jelly, young: %g, poisson: 0.4, density: %g}]\n"
      "  bodies: [{name: stone, density: %g, shape: {sphere: {center: [0.5, 1.2, 0.5], radius: 0.15}}}]\n"
      "  meshes: [{name: ball, shape: {sphere: {center: [0.51, 0.52, 0.5], radius: %g}}, edge: %g, material: "
      "jelly}]\n",
      (int)tank->resolution, (double)step, tank->side, tank->solver, (double)young, (double)density,
      (double)density, (double)tank->radius, (double)tank->edge));
  return most_iterations(&flow, step);
}

/* 4, 6 and 16 cells across, from E = 1 kPa to 1 GPa and from the density of water to 1/100 of it. */
static void stiffness_and_weight_take_no_iterations(void **state)
{
  const BallInTank tanks[] = {{"schur", "open", 12, 0.25, 0.125},
                              {"minres", "slip", 12, 0.17, 0.085},
                              {"schur", "slip", 24, 0.34, 0.125},
                              {"minres", "open", 24, 0.34, 0.125}};
  const PetscBool  is_long = getenv("CHECK_LONG") ? PETSC_TRUE : PETSC_FALSE;
  const PetscInt   count = is_long ? 4 : 2;

  (void)state;
  for (PetscInt t = 0; t < count; t++)
    for (PetscInt ratio = 0; ratio <= 2; ratio += is_long ? 1 : 2)
      for (PetscInt decade = 3; decade <= 9; decade += is_long ? 1 : 2) {
        const PetscInt iterations =
            ball_iterations(&tanks[t], PetscPowReal(10., decade), 1000. * PetscPowReal(10., -ratio));

        note("%s, %.1f cells across, density ratio 1e-%d, E 1e%d: %d iterations", tanks[t].solver,
             2. * (double)tanks[t].radius * (double)tanks[t].resolution, (int)ratio, (int)decade,
             (int)iterations);
        assert_on_all_ranks(iterations <= (tanks[t].solver[0] == 's' ? 35 : 40));
      }
}

/* A sheet across the whole box, which what flows in below pushes up. */
static PetscInt sheet_iterations(PetscReal fluid, PetscReal thickness, PetscReal young)
{
  SceneRun flow;

  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {size: [1, 1, 1], resolution: 12}\n"
                                "run: {end_time: 10, frame_interval: 1, time_step: %g}\n"
                                "fluid:\n"
                                "  density: %g\n"
                                "  sides: {all: slip, z_low: {type: inflow, velocity: [0, 0, \"(1 - "
                                "cos(2*pi*min(t, 1)))/15\"]}, z_high: "
                                "open}\n"
                                "coupling: {tolerance: 1e-8, solver: schur}\n"
                                "solids:\n"
                                "  elasticity: newmark\n"
                                "  materials: [{name: skin, young: %g, poisson: 0, density: 1000}]\n"
                                "  meshes:\n"
                                "    - name: sheet\n"
                                "      type: cloth\n"
                                "      sheet: {origin: [0, 0, 0.52], along: [1, 0, 0], across: [0, 1, 0]}\n"
                                "      edge: 0.083\n"
                                "      thickness: %g\n"
                                "      material: skin\n"
                                "      held:\n"
                                "        - {inside: {box: {low: [-0.01, -1, 0], high: [0.01, 2, 1]}}}\n"
                                "        - {inside: {box: {low: [0.99, -1, 0], high: [1.01, 2, 1]}}}\n"
                                "        - {inside: {box: {low: [-1, -0.01, 0], high: [2, 0.01, 1]}}}\n"
                                "        - {inside: {box: {low: [-1, 0.99, 0], high: [2, 2, 1]}}}\n",
                                (double)step, (double)fluid, (double)young, (double)thickness));
  return most_iterations(&flow, step);
}

/* 1 and 10 kg/m^2 of cloth, where a cell of fluid has 0.08 and 83. */
static void cloth_that_divides_the_box_takes_no_iterations(void **state)
{
  (void)state;
  for (PetscInt n = 0; n < 4; n++)
    for (PetscInt decade = 3; decade <= 9; decade += 3) {
      const PetscReal fluid = n & 1 ? 1000. : 1., thickness = n & 2 ? 0.01 : 0.001;
      const PetscInt  iterations = sheet_iterations(fluid, thickness, PetscPowReal(10., decade));

      note("cloth of %g mm in %g kg/m^3, E 1e%d: %d iterations", 1e3 * (double)thickness, (double)fluid,
           (int)decade, (int)iterations);
      assert_on_all_ranks(iterations <= 35);
    }
}

/* A closed bag, full of what is around it. */
static void a_bag_takes_no_iterations(void **state)
{
  (void)state;
  for (PetscInt n = 0; n < 2; n++) {
    SceneRun flow;
    PetscInt iterations;

    assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                  "grid: {size: [1, 1, 1], resolution: 12}\n"
                                  "run: {end_time: 10, frame_interval: 1, time_step: %g}\n"
                                  "fluid: {density: %g, gravity: [0, 0, -9.81], sides: {all: slip}}\n"
                                  "coupling: {tolerance: 1e-8, solver: schur}\n"
                                  "solids:\n"
                                  "  elasticity: newmark\n"
                                  "  materials: [{name: skin, young: 1e5, poisson: 0.3, density: 1000}]\n"
                                  "  meshes: [{name: bag, type: cloth, shape: {sphere: {center: [0.51, 0.52, "
                                  "0.5], radius: 0.3}}, edge: 0.13, "
                                  "thickness: 0.001, material: skin}]\n",
                                  (double)step, n ? 1000. : 1.));
    iterations = most_iterations(&flow, step);
    note("bag in %g kg/m^3: %d iterations", n ? 1000. : 1., (int)iterations);
    assert_on_all_ranks(iterations <= 35);
  }
}

/* Momentum of a light soft ball, cloth and a stone in stirred water after two steps. */
static void open_mixture(SceneRun *flow, const char solver[])
{
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, flow,
      "grid: {size: [1, 1, 1], resolution: 12}\n"
      "run: {end_time: 10, frame_interval: 1, time_step: %g}\n"
      "fluid: {density: 1000, gravity: [0, -9.81, 0], initial: {velocity: [\"sin(2*pi*y)\", 0, "
      "\"sin(2*pi*x)\"]}, sides: {all: slip, y_high: open}}\n"
      "coupling: {tolerance: 1e-11, solver: %s, iterations: 1000}\n"
      "solids:\n"
      "  elasticity: newmark\n"
      "  materials: [{name: jelly, young: 1e4, poisson: 0.4, density: 30}]\n"
      "  bodies: [{name: stone, density: 100, shape: {sphere: {center: [0.7, 0.7, 0.7], radius: 0.15}}}]\n"
      "  meshes:\n"
      "    - {name: ball, shape: {sphere: {center: [0.31, 0.3, 0.3], radius: 0.2}}, edge: 0.11, material: "
      "jelly}\n"
      "    - {name: sheet, type: cloth, sheet: {origin: [0.2, 0.62, 0.2], along: [0.3, 0.02, 0], across: [0, "
      "0.02, "
      "0.4]}, edge: 0.1, thickness: 0.001, material: jelly}\n",
      (double)step, solver));
  assert_success(SceneRunStep(flow, 2, step));
}

static void all_solvers_find_the_same(void **state)
{
  const char *const solvers[] = {"schur", "minres", "thesis"};
  PetscReal         momentum[3][DIM], height[3];

  (void)state;
  for (PetscInt n = 0; n < 3; n++) {
    SceneRun flow;
    Vector3  sum;

    open_mixture(&flow, solvers[n]);
    sum = solid_report(simulation_solid(flow.simulation)).momentum;
    height[n] = solid_body_view(simulation_solid(flow.simulation), 0).velocity.at[Y];
    note("%s: momentum %.12g %.12g %.12g, the stone rises with %.12g m/s, %d iterations", solvers[n],
         (double)sum.at[X], (double)sum.at[Y], (double)sum.at[Z], (double)height[n],
         (int)flow.simulation->coupled->report.iterations);
    for (PetscInt d = 0; d < DIM; d++)
      momentum[n][d] = sum.at[d];
    assert_success(SceneRunDestroy(&flow));
    for (PetscInt d = 0; d < DIM; d++)
      assert_near(momentum[n][d], momentum[0][d], 1e-8 * PetscAbsReal(momentum[0][Y]));
    assert_near(height[n], height[0], 1e-8 * PetscAbsReal(height[0]));
  }
}

/* A hundredth of the density of water, E = 1 GPa without damping, in steps of 0.9 of a cell: it goes to and
   fro with the water and gains nothing. */
static void what_is_light_and_stiff_is_stable_in_long_steps(void **state)
{
  PetscReal begun, energy = 0., most = 0., largest = 0.;
  SceneRun  flow;

  (void)state;
  only_on_one_rank();
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {size: [1, 1, 1], resolution: 12}\n"
      "run: {end_time: 10, frame_interval: 10}\n"
      "fluid: {density: 1000, cfl: 0.9, initial: {velocity: [\"sin(2*pi*y)\", \"sin(2*pi*z)\", "
      "\"sin(2*pi*x)\"]}, sides: {all: periodic}}\n"
      "coupling: {tolerance: 1e-8}\n"
      "solids:\n"
      "  cfl: 0.9\n"
      "  elasticity: newmark\n"
      "  materials: [{name: foam, young: 1e9, poisson: 0.3, density: 10}]\n"
      "  meshes: [{name: ball, shape: {sphere: {center: [0.41, 0.52, 0.5], radius: 0.25}}, edge: 0.13, "
      "material: "
      "foam}]\n"));
  begun = 0.5 * 1000. * 1.5;
  for (PetscInt n = 0; n < 60; n++) {
    PetscReal dt;

    assert_success(SimulationGetTimeStep(flow.simulation, 10., &dt));
    assert_success(SceneRunStep(&flow, 1, dt));
    largest = PetscMax(largest, dt);
    energy = solid_report(simulation_solid(flow.simulation)).kinetic_energy +
             solid_report(simulation_solid(flow.simulation)).elastic_energy;
    most = PetscMax(most, energy);
  }
  note("steps of up to %.4f s; energy of the ball at most %.3g J, %.3g J in the end, of %.3g J of the water",
       (double)largest, (double)most, (double)energy, (double)begun);
  assert_on_all_ranks(largest > 0.5 * 0.9 / 12.); /* at 1 m/s */
  assert_on_all_ranks(most < 0.05 * begun); /* its place has 6 % of the volume, and a hundredth of the mass */
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(stiffness_and_weight_take_no_iterations),
          cmocka_unit_test(cloth_that_divides_the_box_takes_no_iterations),
          cmocka_unit_test(a_bag_takes_no_iterations), cmocka_unit_test(all_solvers_find_the_same),
          cmocka_unit_test(what_is_light_and_stiff_is_stable_in_long_steps))
