/* Articulated bodies in motion: periods, chains, limits, control. */
#include "harness.h"
#include "linkage.h"
#include "solid/joint/joint_impl.h"

#include <math.h>

static const PetscReal gravity = 9.81;
static const Vector3   down = {{0, -9.81, 0}}, weightless = {{0, 0, 0}};

static PetscReal angle_of(const Linkage *linkage, PetscInt j)
{
  const Joint   *joint = &linkage->joints->joints[j];
  RigidTransform at[SIDES];
  JointGeometry  geometry;

  joint_placements(joint, linkage->solid.placements, at);
  geometry = joint_geometry(joint, at);
  return joint_angle(joint, &geometry);
}

/* A box of length one that hangs at its end from the origin, turned by `angle` from there. */
static void create_pendulum(JointKind kind, PetscReal angle, Linkage *linkage)
{
  assert_success(LinkageCreate(1, 1, linkage));
  linkage_set_body(linkage, 0, 2, vector3(0.5, 0.02, 0.02));
  linkage_place(linkage, 0, vector3(0.5 * PetscSinReal(angle), -0.5 * PetscCosReal(angle), 0),
                vector3(0, 0, angle - PETSC_PI / 2));
  linkage_join(linkage, 0, kind, -1, 0, vector3(0, 0, 0));
  assert_success(LinkageSetUp(linkage));
}

static PetscReal small_period(const Linkage *linkage)
{
  const Body *body = &linkage->solid.bodies[0];

  return 2 * PETSC_PI *
         PetscSqrtReal((body->inertia.at[Z] + 0.25 * body->mass) / (0.5 * body->mass * gravity));
}

/* The time between the first and the third passage of the lowest point, where the speed is steady; `drift` is
   the largest distance of the anchors. */
static PetscReal measure_period(JointKind kind, PetscReal angle, PetscReal steps, PetscReal *drift)
{
  Linkage   linkage;
  PetscReal passages[3], before = angle, dt;
  PetscInt  count = 0;

  create_pendulum(kind, angle, &linkage);
  dt = small_period(&linkage) / steps;
  *drift = 0;
  for (PetscInt step = 0; count < 3 && step < (PetscInt)(5 * steps); step++) {
    PetscReal now;

    assert_success(LinkageStep(&linkage, dt * (PetscReal)step, dt, down));
    *drift = PetscMax(*drift, joint_set_error(linkage.joints));
    now = PetscAtan2Real(linkage.solid.placements[0].position.at[X],
                         -linkage.solid.placements[0].position.at[Y]);
    if (before * now <= 0 && PetscAbsReal(now) < 1)
      passages[count++] = dt * ((PetscReal)step + before / (before - now));
    before = now;
  }
  assert_int_equal(count, 3);
  before = (passages[2] - passages[0]) / small_period(&linkage);
  assert_success(LinkageDestroy(&linkage));
  return before;
}

/* T/T0 = 2 K(sin(angle/2))/pi: by the arithmetic-geometric mean. */
static const PetscReal periods[][2] = {{5, 1.0004762},   {30, 1.0174088},  {60, 1.073182},  {90, 1.1803406},
                                       {120, 1.3728805}, {150, 1.7622037}, {170, 2.4393627}};

static void pendulums_swing_with_the_exact_period(void **state)
{
  const JointKind kinds[] = {JOINT_POINT, JOINT_HINGE};

  (void)state;
  for (PetscInt k = 0; k < 2; k++)
    for (PetscInt row = 0; row < 7; row++) {
      PetscReal       drift;
      const PetscReal period = measure_period(kinds[k], periods[row][0] * PETSC_PI / 180, 200, &drift);

      if (k == 0)
        print_message("# %g degrees: T/T0 %.6f, exact %.6f, drift %.1e\n", (double)periods[row][0],
                      (double)period, (double)periods[row][1], (double)drift);
      assert_near(period / periods[row][1], 1, 0.01);
      assert_near(drift, 0, 1e-9);
    }
}

static void the_period_converges_with_second_order(void **state)
{
  const PetscReal exact = periods[3][1];
  PetscReal       errors[3], drift;

  (void)state;
  for (PetscInt k = 0; k < 3; k++)
    errors[k] = PetscAbsReal(
        measure_period(JOINT_POINT, PETSC_PI / 2, 50 * PetscPowReal(2, (PetscReal)k), &drift) - exact);
  for (PetscInt k = 0; k < 2; k++) {
    const PetscReal order = log2(errors[k] / errors[k + 1]);

    print_message("# order of the period: %.2f (error %.1e)\n", (double)order, (double)errors[k]);
    assert_near(order, 2, 0.2);
  }
}

/* No loss that adds up: a hundred periods at 50 steps each. */
static void a_pendulum_keeps_its_energy(void **state)
{
  Linkage   linkage;
  PetscReal highest = -1, dt;

  (void)state;
  create_pendulum(JOINT_HINGE, PETSC_PI / 2, &linkage);
  dt = small_period(&linkage) / 50;
  for (PetscInt step = 0; step < 5000; step++) {
    assert_success(LinkageStep(&linkage, 0, dt, down));
    if (step >= 4900)
      highest = PetscMax(highest, linkage.solid.placements[0].position.at[Y]);
  }
  assert_near(highest, 0, 0.005);
  assert_success(LinkageDestroy(&linkage));
}

/* Hangs from its first link, begins horizontally. */
static void a_chain_of_a_hundred_swings_without_drifting_apart(void **state)
{
  Linkage   linkage;
  PetscReal drift = 0;

  (void)state;
  assert_success(LinkageCreate(100, 100, &linkage));
  for (PetscInt j = 0; j < 100; j++)
    linkage_join(&linkage, j, JOINT_POINT, j - 1, j, vector3((PetscReal)j - 0.5, 0, 0));
  assert_success(LinkageSetUp(&linkage));
  for (PetscInt step = 0; step < 200; step++) {
    assert_success(LinkageStep(&linkage, 0, 0.01, down));
    drift = PetscMax(drift, joint_set_error(linkage.joints));
  }
  print_message("# drift of the chain: %.1e\n", (double)drift);
  assert_near(drift, 0, 1e-9);
  assert_true(linkage.solid.placements[99].position.at[Y] < -5);
  assert_success(LinkageDestroy(&linkage));
}

/* Steps until `end`; the smallest and largest angle of joint `j` on the way. */
static void run(Linkage *linkage, PetscInt j, PetscReal dt, PetscReal end, Vector3 pull, PetscReal range[2])
{
  range[0] = range[1] = angle_of(linkage, j);
  for (PetscInt step = 0; (PetscReal)step * dt < end - 0.5 * dt; step++) {
    assert_success(LinkageStep(linkage, (PetscReal)step * dt, dt, pull));
    range[0] = PetscMin(range[0], angle_of(linkage, j));
    range[1] = PetscMax(range[1], angle_of(linkage, j));
  }
}

/* One box held out horizontally; gravity lowers the angle of a hinge. */
static JointConfig *create_arm(JointKind kind, Linkage *linkage)
{
  assert_success(LinkageCreate(1, 1, linkage));
  return linkage_join(linkage, 0, kind, -1, 0, vector3(-0.5, 0, 0));
}

static void a_hinge_stops_at_its_limits(void **state)
{
  for (PetscInt side = 0; side < 2; side++) {
    Linkage      linkage;
    PetscReal    range[2];
    JointConfig *config = create_arm(JOINT_HINGE, &linkage);

    (void)state;
    config->lower = -0.8;
    config->upper = 0.5;
    assert_success(LinkageSetUp(&linkage));
    run(&linkage, 0, 0.007, 2, side ? vector3(0, gravity, 0) : down, range);
    assert_near(range[side], side ? 0.5 : -0.8, 1e-9);
    assert_near(angle_of(&linkage, 0), side ? 0.5 : -0.8, 1e-9);
    assert_near(vector3_norm(linkage.solid.twists[0].angular), 0, 1e-12);
    assert_success(LinkageDestroy(&linkage));
  }
}

static void a_limit_does_not_pull(void **state)
{
  Linkage      linkage;
  JointConfig *config = create_arm(JOINT_HINGE, &linkage);
  Twist        away = {vector3(0, 0.5, 0), vector3(0, 0, 1)};

  (void)state;
  config->lower = 0;
  assert_success(LinkageSetUp(&linkage));
  assert_success(JointSetPoststabilize(linkage.joints, &away));
  assert_near(away.angular.at[Z], 1, 1e-13);
  away = (Twist){vector3(0, -0.5, 0), vector3(0, 0, -1)};
  assert_success(JointSetPoststabilize(linkage.joints, &away));
  assert_near(away.angular.at[Z], 0, 1e-13);
  assert_success(LinkageDestroy(&linkage));
}

static void a_slide_stops_at_its_limit(void **state)
{
  Linkage      linkage;
  PetscReal    range[2];
  JointConfig *config = create_arm(JOINT_PRISMATIC, &linkage);

  (void)state;
  config->axis = vector3(1, -1, 0);
  config->upper = 0.7;
  assert_success(LinkageSetUp(&linkage));
  run(&linkage, 0, 0.01, 1, down, range);
  assert_near(range[1], 0.7, 1e-9);
  assert_near(linkage.solid.placements[0].position.at[Y], -0.7 / PetscSqrtReal(2), 1e-9);
  assert_near(vector3_norm(linkage.solid.twists[0].linear), 0, 1e-12);
  assert_near(joint_set_error(linkage.joints), 0, 1e-9);
  assert_success(LinkageDestroy(&linkage));
}

static void a_point_joint_keeps_within_its_cone(void **state)
{
  Linkage      linkage;
  JointConfig *config = create_arm(JOINT_POINT, &linkage);
  PetscReal    largest = 0;

  (void)state;
  config->axis = vector3(1, 0, 0);
  config->swing = 0.4;
  assert_success(LinkageSetUp(&linkage));
  linkage.solid.twists[0] = (Twist){vector3(0, 0, 0.5), vector3(0, -1, 0)};
  for (PetscInt step = 0; step < 400; step++) {
    const Vector3 along = vector3_add(linkage.solid.placements[0].position, vector3(0.5, 0, 0));

    largest = PetscMax(largest, PetscAcosReal(2 * along.at[X]));
    assert_success(LinkageStep(&linkage, 0, 0.005, down));
  }
  assert_near(largest, 0.4, 1e-7);
  assert_near(linkage.solid.placements[0].position.at[Y], -0.5 * PetscSinReal(0.4), 0.05);
  assert_success(LinkageDestroy(&linkage));
}

static void a_point_joint_twists_to_its_limit(void **state)
{
  Linkage      linkage;
  JointConfig *config = create_arm(JOINT_POINT, &linkage);
  PetscReal    range[2];

  (void)state;
  config->axis = vector3(1, 0, 0);
  config->upper = 0.6;
  config->lower = -0.1;
  assert_success(LinkageSetUp(&linkage));
  linkage.solid.twists[0] = (Twist){vector3(0, 0.5, 0), vector3(3, 0, 1)};
  run(&linkage, 0, 0.005, 1, weightless, range);
  assert_near(range[1], 0.6, 1e-9);
  assert_true(range[0] > -0.1 - 1e-9);
  assert_success(LinkageDestroy(&linkage));
}

/* Eight links fall until all their hinges are at a limit or at rest: many rows that push at once. */
static void a_chain_keeps_within_its_limits(void **state)
{
  Linkage   linkage;
  PetscReal furthest = 0;

  (void)state;
  assert_success(LinkageCreate(8, 8, &linkage));
  for (PetscInt j = 0; j < 8; j++) {
    JointConfig *config = linkage_join(&linkage, j, JOINT_HINGE, j - 1, j, vector3((PetscReal)j - 0.5, 0, 0));

    config->lower = -0.1;
    config->upper = 0.1;
  }
  assert_success(LinkageSetUp(&linkage));
  for (PetscInt step = 0; step < 500; step++) {
    assert_success(LinkageStep(&linkage, 0, 0.01, down));
    for (PetscInt j = 0; j < 8; j++)
      furthest = PetscMax(furthest, PetscAbsReal(angle_of(&linkage, j)));
  }
  assert_near(furthest, 0.1, 1e-9);
  for (PetscInt j = 0; j < 8; j++)
    assert_near(angle_of(&linkage, j), -0.1, 1e-9);
  assert_near(joint_set_error(linkage.joints), 0, 1e-9);
  assert_success(LinkageDestroy(&linkage));
}

static void aim(JointConfig *config, const char target[], PetscReal stiffness, PetscReal damping)
{
  char message[128];

  assert_success(FormulaCreate(target, &config->target, message, sizeof(message)));
  assert_non_null(config->target);
  config->stiffness = stiffness;
  config->damping = damping;
}

/* e'' = -k e - c e' from a start at a rate, by many small steps of Runge and Kutta. */
static PetscReal exact_deviation(PetscReal start, PetscReal rate, const PetscReal law[2], PetscReal time)
{
  const PetscInt  count = 20000;
  const PetscReal h = time / (PetscReal)count;
  const PetscReal k = law[0], c = law[1];
  PetscReal       e = start, v = rate;

  for (PetscInt step = 0; step < count; step++) {
    const PetscReal v1 = v, a1 = -k * e - c * v;
    const PetscReal v2 = v + 0.5 * h * a1, a2 = -k * (e + 0.5 * h * v1) - c * v2;
    const PetscReal v3 = v + 0.5 * h * a2, a3 = -k * (e + 0.5 * h * v2) - c * v3;
    const PetscReal v4 = v + h * a3, a4 = -k * (e + h * v3) - c * v4;

    e += h / 6 * (v1 + 2 * v2 + 2 * v3 + v4);
    v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
  }
  return e;
}

/* Under-, critically and overdamped, at a large step. */
static void a_controlled_hinge_follows_the_law_exactly(void **state)
{
  const PetscReal laws[][2] = {{20, 3}, {25, 10}, {10, 12}, {25, 10.0001}};

  (void)state;
  for (PetscInt k = 0; k < 4; k++) {
    Linkage   linkage;
    PetscReal range[2];

    aim(create_arm(JOINT_HINGE, &linkage), "0.7", laws[k][0], laws[k][1]);
    assert_success(LinkageSetUp(&linkage));
    run(&linkage, 0, 0.05, 1, weightless, range);
    assert_near(angle_of(&linkage, 0), 0.7 + exact_deviation(-0.7, 0, laws[k], 1), 1e-9);
    assert_success(LinkageDestroy(&linkage));
  }
}

/* Two links with gravity: each joint does what its own law says, and nothing remains of the weight. */
static void coupled_joints_follow_their_laws_against_gravity(void **state)
{
  const PetscReal laws[][2] = {{20, 3}, {9, 6}};
  Linkage         linkage;
  PetscReal       range[2];

  (void)state;
  assert_success(LinkageCreate(2, 2, &linkage));
  aim(linkage_join(&linkage, 0, JOINT_HINGE, -1, 0, vector3(-0.5, 0, 0)), "0.4", laws[0][0], laws[0][1]);
  aim(linkage_join(&linkage, 1, JOINT_HINGE, 0, 1, vector3(0.5, 0, 0)), "-0.9", laws[1][0], laws[1][1]);
  assert_success(LinkageSetUp(&linkage));
  run(&linkage, 0, 0.02, 1, down, range);
  assert_near(angle_of(&linkage, 0), 0.4 + exact_deviation(-0.4, 0, laws[0], 1), 1e-8);
  assert_near(angle_of(&linkage, 1), -0.9 + exact_deviation(0.9, 0, laws[1], 1), 1e-8);
  run(&linkage, 0, 0.02, 20, down, range);
  assert_near(angle_of(&linkage, 0), 0.4, 1e-9);
  assert_near(angle_of(&linkage, 1), -0.9, 1e-9);
  assert_success(LinkageDestroy(&linkage));
}

static void a_moving_target_is_followed(void **state)
{
  Linkage   linkage;
  PetscReal range[2];

  (void)state;
  aim(create_arm(JOINT_HINGE, &linkage), "4*t + 0.3*sin(2*t)", 100, 20);
  assert_success(LinkageSetUp(&linkage));
  run(&linkage, 0, 0.01, 3, down, range);
  assert_near(wrapped_angle(angle_of(&linkage, 0) - (12 + 0.3 * PetscSinReal(6))), 0, 1e-4);
  assert_success(LinkageDestroy(&linkage));
}

/* Without stiffness the rate is driven, by 1 - exp(-c t), and not the angle; against gravity as well. */
static void a_damper_drives_the_rate(void **state)
{
  Linkage   linkage;
  PetscReal range[2];

  (void)state;
  aim(create_arm(JOINT_HINGE, &linkage), "0.5*t", 0, 4);
  assert_success(LinkageSetUp(&linkage));
  run(&linkage, 0, 0.02, 1, down, range);
  assert_near(angle_of(&linkage, 0), 0.5 * (1 - (1 - PetscExpReal(-4)) / 4), 1e-6);
  assert_success(LinkageDestroy(&linkage));
}

/* A step of the target is approached by the law, not followed within one step of time. */
static void a_target_that_jumps_is_approached(void **state)
{
  const PetscReal law[2] = {25, 10};
  Linkage         linkage;
  PetscReal       range[2];

  (void)state;
  aim(create_arm(JOINT_HINGE, &linkage), "if(t < 0.505, 0, 0.7)", law[0], law[1]);
  assert_success(LinkageSetUp(&linkage));
  run(&linkage, 0, 0.02, 1, weightless, range);
  assert_near(angle_of(&linkage, 0), 0.7 + exact_deviation(-0.7, 0, law, 0.5), 1e-9);
  assert_success(LinkageDestroy(&linkage));
}

static void targets_beyond_a_limit_stop_there(void **state)
{
  Linkage      linkage;
  PetscReal    range[2];
  JointConfig *config = create_arm(JOINT_PRISMATIC, &linkage);

  (void)state;
  config->axis = vector3(0, 1, 0);
  config->upper = 0.3;
  aim(config, "0.5", 30, 2);
  assert_success(LinkageSetUp(&linkage));
  run(&linkage, 0, 0.02, 4, down, range);
  assert_near(range[1], 0.3, 1e-9);
  assert_near(angle_of(&linkage, 0), 0.3, 1e-9);
  assert_success(LinkageDestroy(&linkage));
}

/* A free pair that tumbles while it bends itself. */
static void control_keeps_the_momenta(void **state)
{
  const PetscReal law[2] = {20, 5};
  Linkage         linkage;
  LinkageSums     before, after;
  PetscReal       rate;

  (void)state;
  assert_success(LinkageCreate(2, 1, &linkage));
  aim(linkage_join(&linkage, 0, JOINT_HINGE, 0, 1, vector3(0.5, 0, 0)), "1", law[0], law[1]);
  assert_success(LinkageSetUp(&linkage));
  linkage_shake(&linkage, 1);
  assert_success(JointSetPoststabilize(linkage.joints, linkage.solid.twists));
  rate = linkage.solid.twists[1].angular.at[Z] - linkage.solid.twists[0].angular.at[Z];
  before = linkage_sums(&linkage, linkage.solid.twists);
  for (PetscInt step = 0; step < 100; step++)
    assert_success(LinkageStep(&linkage, 0.01 * (PetscReal)step, 0.01, weightless));
  after = linkage_sums(&linkage, linkage.solid.twists);
  assert_near(vector3_norm(vector3_subtract(after.momentum, before.momentum)), 0, 1e-12);
  assert_near(vector3_norm(vector3_subtract(after.angular_momentum, before.angular_momentum)), 0, 1e-12);
  assert_near(angle_of(&linkage, 0), 1 + exact_deviation(-1, rate, law, 1), 1e-8);
  assert_success(LinkageDestroy(&linkage));
}

TEST_MAIN(cmocka_unit_test(pendulums_swing_with_the_exact_period),
          cmocka_unit_test(the_period_converges_with_second_order),
          cmocka_unit_test(a_pendulum_keeps_its_energy),
          cmocka_unit_test(a_chain_of_a_hundred_swings_without_drifting_apart),
          cmocka_unit_test(a_hinge_stops_at_its_limits), cmocka_unit_test(a_limit_does_not_pull),
          cmocka_unit_test(a_slide_stops_at_its_limit), cmocka_unit_test(a_point_joint_keeps_within_its_cone),
          cmocka_unit_test(a_point_joint_twists_to_its_limit),
          cmocka_unit_test(a_chain_keeps_within_its_limits),
          cmocka_unit_test(a_controlled_hinge_follows_the_law_exactly),
          cmocka_unit_test(coupled_joints_follow_their_laws_against_gravity),
          cmocka_unit_test(a_moving_target_is_followed), cmocka_unit_test(a_damper_drives_the_rate),
          cmocka_unit_test(a_target_that_jumps_is_approached),
          cmocka_unit_test(targets_beyond_a_limit_stop_there), cmocka_unit_test(control_keeps_the_momenta))
