/* Motors of joints: torques and forces between two bodies, over time, angle and rate. */
#include "harness.h"
#include "solid_case.h"

#include "solid/solid_impl.h"

enum { WORLD = -1 };

typedef struct {
  SolidCase *solids;
  Formula    motor;
} MotorCase;

static Formula formula_of(const char text[])
{
  char    message[256];
  Formula formula;

  assert_success(FormulaCreate(text, &formula, message, sizeof(message)));
  assert_non_null(formula);
  return formula;
}

/* A ball of 10 kg and 0.5 m on a joint to the world. */
static MotorCase new_rotor(JointKind kind, const char motor[])
{
  MotorCase rotor = {solid_case_new(0), formula_of(motor)};

  solid_case_add_sphere(rotor.solids, vector3(0, 0, 0), 0.5)->mass = 10;
  solid_case_add_joint(rotor.solids, kind, WORLD, 0, vector3(0, 0, 0), vector3(0, 0, 1))->motor = rotor.motor;
  return rotor;
}

static void destroy(MotorCase *motor)
{
  solid_case_free(motor->solids);
  assert_success(FormulaDestroy(&motor->motor));
}

static PetscReal spin_of(const MotorCase *motor, PetscInt body)
{
  return motor->solids->solid->twists[body].angular.at[Z];
}

static const PetscReal inertia = 0.4 * 10 * 0.25;

static void a_torque_spins_a_rotor_up(void **state)
{
  MotorCase rotor = new_rotor(JOINT_HINGE, "3*t");

  (void)state;
  solid_case_start(rotor.solids);
  solid_case_run(rotor.solids, 0.05, 40);
  assert_near(spin_of(&rotor, 0), 1.5 * 4 / rotor.solids->solid->bodies[0].inertia.at[Z], 1e-9);
  assert_near(vector3_norm(solid_case_position(rotor.solids, 0)), 0, 1e-9);
  destroy(&rotor);
}

static void a_force_drives_a_slider(void **state)
{
  MotorCase rotor = new_rotor(JOINT_PRISMATIC, "20");

  (void)state;
  solid_case_start(rotor.solids);
  solid_case_run(rotor.solids, 0.05, 40);
  assert_near(solid_case_position(rotor.solids, 0).at[Z], 0.5 * 2 * 4, 1e-9);
  assert_near(solid_case_velocity(rotor.solids, 0).at[Z], 2 * 2, 1e-9);
  destroy(&rotor);
}

/* Two free bodies gain nothing together, wherever the joint is. */
static void a_motor_between_free_bodies_keeps_momentum(void **state)
{
  for (JointKind kind = JOINT_HINGE; kind <= JOINT_PRISMATIC; kind++) {
    MotorCase   pair = {solid_case_new(0), formula_of("4*cos(3*t) - 0.3*y - x")};
    SolidReport report;

    solid_case_add_sphere(pair.solids, vector3(-1, 0, 0), 0.5)->mass = 3;
    solid_case_add_sphere(pair.solids, vector3(1, 0.4, 0.3), 0.5)->mass = 7;
    solid_case_add_joint(pair.solids, kind, 0, 1, vector3(0.2, 0.1, 0), vector3(0.3, -0.2, 1))->motor =
        pair.motor;
    solid_case_start(pair.solids);
    solid_case_run(pair.solids, 0.01, 100);
    report = solid_report(pair.solids->solid);
    assert_near(vector3_norm(report.momentum), 0, 1e-10);
    assert_near(vector3_norm(report.angular_momentum), 0, 1e-8);
    assert_on_all_ranks(report.kinetic_energy > 0.01);
    destroy(&pair);
  }
  (void)state;
}

/* The spin after 1 s of one that began with 8 rad/s. */
static PetscReal damped_spin(const char motor[], int steps)
{
  MotorCase rotor = new_rotor(JOINT_HINGE, motor);
  PetscReal spin;

  rotor.solids->bodies[0].spin = vector3(0, 0, 8);
  solid_case_start(rotor.solids);
  solid_case_run(rotor.solids, 1. / steps, steps);
  spin = spin_of(&rotor, 0);
  destroy(&rotor);
  return spin;
}

static void damping_is_exponential_and_never_overshoots(void **state)
{
  const PetscReal exact = 8 * PetscExpReal(-2. / inertia);
  const PetscReal coarse = damped_spin("-2*y", 40) - exact, fine = damped_spin("-2*y", 80) - exact;

  (void)state;
  assert_near(fine / exact, 0, 0.06);
  assert_near(PetscLog2Real(coarse / fine), 1, 0.15);
  assert_on_all_ranks(damped_spin("-2e6*y", 10) >= 0); /* 2e5 times what an explicit step can do */
  assert_near(damped_spin("-2e6*y", 10), 0, 1e-3);
}

/* Friction takes mu/I from the rate in a second until it rests, and holds it there. */
static void friction_stops_a_rotor(void **state)
{
  (void)state;
  assert_near(damped_spin("-5*tanh(y/0.001)", 200), 8 - 5 / inertia, 1e-6);
  assert_near(damped_spin("-12*tanh(y/0.001)", 200), 0, 1e-3);
}

/* 10 (2 - y) with at most 5 N m: 5 rad/s^2 up to 1.5 rad/s, then to 2. */
static void a_speed_is_held_within_a_torque(void **state)
{
  MotorCase rotor = new_rotor(JOINT_TWIST, "max(-5, min(5, 10*(2 - y)))");

  (void)state;
  solid_case_start(rotor.solids);
  solid_case_run(rotor.solids, 0.01, 20);
  assert_near(spin_of(&rotor, 0), 5 * 0.2 / inertia, 1e-9);
  solid_case_run(rotor.solids, 0.01, 180);
  assert_near(spin_of(&rotor, 0), 2, 1e-4);
  destroy(&rotor);
}

TEST_MAIN(cmocka_unit_test(a_torque_spins_a_rotor_up), cmocka_unit_test(a_force_drives_a_slider),
          cmocka_unit_test(a_motor_between_free_bodies_keeps_momentum),
          cmocka_unit_test(damping_is_exponential_and_never_overshoots),
          cmocka_unit_test(friction_stops_a_rotor), cmocka_unit_test(a_speed_is_held_within_a_torque))
