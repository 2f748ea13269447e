/* Bones in flesh, in a fluid: their joints and control are in the same solve as fluid and flesh. */
#include "scene_run.h"
#include "harness.h"

/* A block of flesh with two bones, whose hinge is bent to and fro. */
#define BONES                                                                                                \
  "    - {name: tail, density: 2000, shape: {capsule: {from: [0.2, 0.24, 0.24], to: [0.32, 0.24, 0.24], "    \
  "radius: 0.015}}}\n"                                                                                       \
  "    - {name: head, density: 2000, shape: {capsule: {from: [0.4, 0.24, 0.24], to: [0.52, 0.24, 0.24], "    \
  "radius: 0.015}}}\n"
#define JOINT                                                                                                \
  "  joints: [{name: hip, type: hinge, parent: head, child: tail, anchor: [0.36, 0.24, 0.24], "              \
  "axis: [0, 1, 0], target: \"0.4*sin(20*t)\", stiffness: 4e4, damping: 100}]\n"
#define FLESH                                                                                                \
  "    - {name: worm, shape: {box: {low: [0.15, 0.17, 0.17], high: [0.57, 0.31, 0.31]}}, edge: 0.06, "       \
  "material: flesh, held: [{inside: {box: {low: [0.18, 0.16, 0.2], high: [0.34, 0.28, 0.28]}}, to: tail}, "  \
  "{inside: {box: {low: [0.38, 0.2, 0.2], high: [0.54, 0.28, 0.28]}}, to: head}]}\n"
#define MATERIAL "  materials: [{name: flesh, young: 5e4, poisson: 0.4, density: 1000, damping: 0.002}]\n"

static const PetscReal dt = 0.005;

static PetscReal record_of(SceneRun *flow, const char name[])
{
  PetscReal value;

  assert_success(SimulationGetRecord(flow->simulation, name, &value));
  return value;
}

/* In water that stirs, with what else is in it. */
static void open_worm(SceneRun *flow, const char solver[], PetscReal viscosity, const char bodies[],
                      const char meshes[])
{
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, flow,
                                "grid: {size: [0.72, 0.48, 0.48], resolution: 18}\n"
                                "run: {end_time: 10, frame_interval: 1, time_step: %g}\n"
                                "fluid: {density: 1000, viscosity: %g, viscosity_tolerance: 1e-11, initial: "
                                "{velocity: [\"0.2*sin(2*pi*y/0.48)\", 0, \"0.2*sin(2*pi*x/0.72)\"]}, "
                                "sides: {all: periodic}}\n"
                                "coupling: {tolerance: 1e-12, solver: %s}\n"
                                "solids:\n" MATERIAL "  bodies:\n" BONES "%s" JOINT "  meshes:\n" FLESH "%s",
                                (double)dt, (double)viscosity, solver, bodies, meshes));
}

/* About y, of the tail. */
static PetscReal angle_of(SceneRun *flow)
{
  Solid            solid = simulation_solid(flow->simulation);
  const Quaternion parent = solid_shape_place(solid, 1).rotation,
                   child = solid_shape_place(solid, 0).rotation,
                   turn = quaternion_multiply(quaternion_conjugate(parent), child);

  return 2. * PetscAtan2Real(turn.vector.at[Y], turn.scalar);
}

/* The law says where the joint is, whatever hangs on it: as without flesh and water, and in one round. */
static void a_joint_in_flesh_keeps_its_law(void **state)
{
  SceneRun  flow, bare;
  PetscReal largest = 0., apart = 0., rounds = 0., gap = 0.;

  (void)state;
  open_worm(&flow, "schur", 0., "", "");
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &bare,
                                "run: {end_time: 10, frame_interval: 1}\n"
                                "solids:\n  bodies:\n" BONES JOINT));
  for (PetscInt n = 0; n < 12; n++) {
    assert_success(SceneRunStep(&flow, 1, dt));
    assert_success(SceneRunStep(&bare, 1, dt));
    largest = PetscMax(largest, PetscAbsReal(angle_of(&bare)));
    apart = PetscMax(apart, PetscAbsReal(angle_of(&flow) - angle_of(&bare)));
    rounds = PetscMax(rounds, record_of(&flow, "coupled_rounds"));
    gap = PetscMax(gap, record_of(&flow, "joint_error_max"));
  }
  note("bent by %.4f, %.2g off the law, joint open by %.2g m, %g rounds", (double)largest, (double)apart,
       (double)gap, (double)rounds);
  assert_on_all_ranks(largest > 0.2);
  assert_near(apart, 0., 1e-8);
  assert_near(gap, 0., 1e-10);
  assert_near(rounds, 1., 0.);
  assert_success(SceneRunDestroy(&flow));
  assert_success(SceneRunDestroy(&bare));
}

static PetscReal largest_of(SceneRun *flow, const char part[])
{
  static const char *const names[] = {"x", "y", "z"};
  PetscReal                largest = 0.;

  for (PetscInt d = 0; d < DIM; d++) {
    char column[64];

    snprintf(column, sizeof(column), "%s_momentum_%s", part, names[d]);
    largest = PetscMax(largest, PetscAbsReal(record_of(flow, column)));
  }
  return largest;
}

/* Pressure, joints and elasticity act between fluid, flesh, bones, cloth and a stone alone. */
static void all_of_them_keep_their_momentum(void **state)
{
  const PetscInt  steps = getenv("CHECK_LONG") ? 200 : 40; /* where cloth and flesh share faces from 10 on */
  const PetscReal scale = 1000. * 0.72 * 0.48 * 0.48 * 0.2;
  SceneRun        flow;
  PetscReal       worst = 0., summed = 0.;

  (void)state;
  open_worm(
      &flow, "minres", 1.,
      "    - {name: stone, density: 2000, shape: {sphere: {center: [0.1, 0.08, 0.4], radius: 0.06}}}\n",
      "    - {name: fin, type: cloth, sheet: {origin: [0.26, 0.24, 0.29], along: [0.2, 0, 0], across: [0, 0, "
      "0.12]}, edge: 0.06, thickness: 0.002, material: flesh}\n"
      "  bindings: [{name: seam, type: hard, from: fin, inside: {box: {low: [0, 0, 0], high: [1, 1, "
      "0.305]}}, "
      "to: worm}]\n");
  for (PetscInt n = 0; n < steps; n++) {
    const PetscReal before = record_of(&flow, "total_momentum_x");

    assert_success(SceneRunStep(&flow, 1, dt));
    worst = PetscMax(worst, largest_of(&flow, "pressure"));
    worst = PetscMax(worst, largest_of(&flow, "viscosity"));
    worst = PetscMax(worst, largest_of(&flow, "forces"));
    worst = PetscMax(worst, largest_of(&flow, "contact"));
    summed = PetscMax(
        summed, PetscAbsReal(
                    record_of(&flow, "total_momentum_x") - before - record_of(&flow, "advection_momentum_x") -
                    record_of(&flow, "viscosity_momentum_x") - record_of(&flow, "forces_momentum_x") -
                    record_of(&flow, "pressure_momentum_x") - record_of(&flow, "contact_momentum_x")));
  }
  note("changed by %.2g of %g at most in %d steps, parts add up to %.2g", (double)worst, (double)scale,
       (int)steps, (double)summed);
  assert_near(worst, 0., 1e-10 * scale);
  assert_near(summed, 0., 1e-10 * scale);
  assert_success(SceneRunDestroy(&flow));
}

static SolidReport report_of(SceneRun *flow)
{
  return solid_report(simulation_solid(flow->simulation));
}

#define BLOCK "box: {low: [0.3, 0.3, 0.3], high: [0.7, 0.6, 0.7]}"

/* A block of flesh in a closed tank. */
static void open_block(SceneRun *flow, PetscReal step, PetscReal young, PetscReal density, PetscReal damping,
                       const char joints[])
{
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, flow,
      "grid: {size: [1, 1, 1], resolution: 12}\n"
      "run: {end_time: 10, frame_interval: 1, time_step: %g}\n"
      "fluid: {density: 1000, gravity: [0, -9.81, 0], sides: {all: slip}}\n"
      "coupling: {tolerance: 1e-9}\n"
      "solids:\n"
      "  materials: [{name: flesh, young: %g, poisson: 0.3, density: %g, damping: %g}]\n"
      "  bodies: [{name: bone, density: 3000, shape: {sphere: {center: [0.5, 0.45, 0.5], radius: 0.08}}}]\n"
      "%s"
      "  meshes: [{name: block, shape: {" BLOCK "}, edge: 0.15, material: flesh, held: [{inside: {sphere: "
      "{center: [0.5, 0.45, 0.5], radius: 0.12}}, to: bone}]}]\n",
      (double)step, (double)young, (double)density, (double)damping, joints));
}

static const PetscReal bone_mass = 3000. * 4. / 3. * PETSC_PI * 0.08 * 0.08 * 0.08;

/* At rest it bears what the water does not. */
static void a_joint_bears_bone_and_flesh(void **state)
{
  const PetscReal density = 2000., g = 9.81;
  PetscReal       volume, expected;
  JointLoad       load;
  SceneRun        flow;

  (void)state;
  open_block(&flow, 0.02, 1e5, density, 0.05,
             "  joints: [{name: pin, type: rigid, parent: \"\", child: bone, anchor: [0.5, 0.45, 0.5]}]\n");
  volume = report_of(&flow).volume;
  assert_success(SceneRunStep(&flow, 40, 0.02));
  load = solid_joint_load(simulation_solid(flow.simulation), scene_config(flow.scene)->solids.joints, 0);
  expected = g * (bone_mass + density * volume - 1000. * report_of(&flow).volume);
  note("the joint bears %.4f N, the rest of the weight is %.4f N", (double)load.force.at[Y],
       (double)expected);
  assert_near(load.force.at[Y], expected, 2e-3 * expected);
  assert_success(SceneRunDestroy(&flow));
}

/* As a rigid block of the same weight. */
static void a_stiff_block_with_a_bone_rises_like_a_rigid_one(void **state)
{
  const PetscReal density = 300., step = 0.005, steps = 10.;
  PetscReal       mass, soft, rigid;
  SceneRun        flow;

  (void)state;
  open_block(&flow, step, 1e8, density, 1e-4, "");
  mass = bone_mass + density * report_of(&flow).volume;
  assert_success(SceneRunStep(&flow, (PetscInt)steps, step));
  soft = report_of(&flow).momentum.at[Y] / (mass * step * steps);
  assert_success(SceneRunDestroy(&flow));
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {size: [1, 1, 1], resolution: 12}\n"
                                "run: {end_time: 10, frame_interval: 1, time_step: %g}\n"
                                "fluid: {density: 1000, gravity: [0, -9.81, 0], sides: {all: slip}}\n"
                                "coupling: {tolerance: 1e-9}\n"
                                "solids: {bodies: [{name: block, density: %.10g, shape: {" BLOCK "}}]}\n",
                                (double)step, (double)(mass / (0.4 * 0.3 * 0.4))));
  assert_success(SceneRunStep(&flow, (PetscInt)steps, step));
  rigid = report_of(&flow).momentum.at[Y] / (mass * step * steps);
  note("%.4f m/s^2, rigid %.4f", (double)soft, (double)rigid);
  assert_near(soft, rigid, 0.01 * rigid);
  assert_success(SceneRunDestroy(&flow));
}

/* A free body that is not all in the flesh that it holds. */
static void only_bones_hold_flesh(void **state)
{
  SceneRun flow;

  (void)state;
  assert_refused(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {size: [1, 1, 1], resolution: 8}\n"
      "fluid: {density: 1000}\n"
      "solids:\n"
      "  materials: [{name: flesh, young: 1e4, poisson: 0.3, density: 1000}]\n"
      "  bodies: [{name: bone, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.2}}}]\n"
      "  meshes: [{name: block, shape: {" BLOCK "}, edge: 0.15, material: flesh, held: [{inside: {sphere: "
      "{center: [0.5, 0.45, 0.5], radius: 0.12}}, to: bone}]}]\n"));
}

TEST_MAIN(cmocka_unit_test(a_joint_in_flesh_keeps_its_law), cmocka_unit_test(all_of_them_keep_their_momentum),
          cmocka_unit_test(a_joint_bears_bone_and_flesh),
          cmocka_unit_test(a_stiff_block_with_a_bone_rises_like_a_rigid_one),
          cmocka_unit_test(only_bones_hold_flesh))
