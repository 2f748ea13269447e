/* Bodies that follow a motion of their own, and what they do to others. */
#include "harness.h"
#include "solid_case.h"

#define G 9.81

static void drive(BodyConfig *body, Vector3 velocity)
{
  body->kind = BODY_KINEMATIC;
  assert_success(MotionCreateSteady(vector3(0, 0, 0), velocity, vector3(0, 0, 0), &body->motion));
}

typedef enum { BELT_PLANE, BELT_BOX } Belt;

/* The belt runs with 2 m/s; the block is dragged with mu g until it rests on it. */
static void ride(Belt belt)
{
  const PetscReal friction = 0.3, dt = 1. / 200, speed = 2;
  SolidCase      *solids = solid_case_new(G);
  BodyConfig     *block;

  if (belt == BELT_PLANE)
    solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 0, 1));
  else
    solid_case_add_box(solids, vector3(0, 0, -1), vector3(20, 2, 1), vector3(0, 0, 0));
  solids->bodies[0].friction = friction;
  drive(&solids->bodies[0], vector3(speed, 0, 0));
  block = solid_case_add_box(solids, vector3(0, 0, 0.25), vector3(0.5, 0.5, 0.25), vector3(0, 0, 0));
  block->friction = friction;
  solid_case_start(solids);
  solid_case_run(solids, dt, 100);
  assert_near(solid_case_velocity(solids, 1).at[X] / (friction * G * 0.5), 1, 1e-6);
  solid_case_run(solids, dt, 200);
  assert_near(solid_case_velocity(solids, 1).at[X], speed, 1e-9);
  /* it fell behind by v^2 / (2 mu g) */
  assert_near(solid_case_position(solids, 1).at[X], speed * 1.5 - speed * speed / (2 * friction * G), 1e-2);
  solid_case_free(solids);
}

static void a_belt_drags_a_block_to_its_speed(void **state)
{
  (void)state;
  ride(BELT_PLANE);
  ride(BELT_BOX);
}

static SolidCase *new_lift(PetscInt count, const Keyframe keyframes[])
{
  SolidCase  *solids = solid_case_new(G);
  BodyConfig *lift = solid_case_add_box(solids, vector3(0, 0, -0.1), vector3(1, 1, 0.1), vector3(0, 0, 0));

  lift->kind = BODY_KINEMATIC;
  lift->friction = 0.5;
  assert_success(MotionCreateKeyframes(vector3(0, 0, 0), count, keyframes, &lift->motion));
  for (PetscInt k = 0; k < 5; k++)
    solid_case_add_box(solids, vector3(0, 0, 0.25 + 0.5 * (PetscReal)k), vector3(0.25, 0.25, 0.25),
                       vector3(0, 0, 0))
        ->friction = 0.5;
  return solids;
}

static void a_lift_carries_a_stack(void **state)
{
  const Keyframe keyframes[] = {
      {0, {{0, 0, 0}}, {{0, 0, 0}}}, {0.5, {{0, 0, 0}}, {{0, 0, 0}}}, {2.5, {{0, 0, 2}}, {{0, 0, 0}}}};
  SolidCase *solids = new_lift(3, keyframes);
  PetscReal  deepest = 0;

  (void)state;
  solid_case_start(solids);
  for (PetscInt k = 0; k < 360; k++) {
    solid_case_run(solids, 1. / 120, 1);
    deepest = PetscMax(deepest, solid_report(solids->solid).largest_penetration);
  }
  assert_true(deepest < 1e-3 * 0.5);
  for (PetscInt k = 0; k < 5; k++) {
    const Vector3 there = vector3(0, 0, 2.25 + 0.5 * (PetscReal)k);

    assert_near(vector3_norm(vector3_subtract(solid_case_position(solids, 1 + k), there)), 0, 2e-3);
  }
  solid_case_free(solids);
}

/* Sinking faster than it can fall, the floor leaves the stack behind: it falls freely. */
static void a_stack_is_not_held_down(void **state)
{
  const Keyframe keyframes[] = {{0, {{0, 0, 0}}, {{0, 0, 0}}}, {1, {{0, 0, -20}}, {{0, 0, 0}}}};
  SolidCase     *solids = new_lift(2, keyframes);

  (void)state;
  solid_case_start(solids);
  solid_case_run(solids, 1. / 120, 60);
  assert_near(solid_case_position(solids, 1).at[Z], 0.25 - 0.5 * G * 0.25, 1e-6);
  solid_case_free(solids);
}

/* The paddle turns by 2 rad/s about z and meets a ball that rests in its way at 1 m from the axis: a ball
   without restitution leaves with the speed of the paddle there, along its normal. */
static void a_paddle_hits_a_ball(void **state)
{
  const Keyframe keyframes[] = {{0, {{0, 0, 0}}, {{0, 0, 0}}}, {4, {{0, 0, 0}}, {{0, 0, 8}}}};
  SolidCase     *solids = solid_case_new(0);
  BodyConfig    *paddle =
      solid_case_add_box(solids, vector3(0.75, 0, 0), vector3(0.75, 0.05, 0.2), vector3(0, 0, 0));
  Vector3   velocity;
  PetscReal spin;

  (void)state;
  paddle->kind = BODY_KINEMATIC;
  assert_success(MotionCreateKeyframes(vector3(0, 0, 0), 2, keyframes, &paddle->motion));
  solid_case_add_sphere(solids, vector3(0.4, 0.8, 0), 0.1);
  solid_case_start(solids);
  solid_case_run(solids, 1. / 500, 1000);
  velocity = solid_case_velocity(solids, 1);
  spin = vector3_norm(solid_case_spin(solids, 1));
  assert_true(solid_report(solids->solid).largest_penetration < 1e-3 * 0.2);
  assert_true(vector3_norm(velocity) > 2 * 0.85);
  assert_near(spin, 0, 1e-9);
  solid_case_free(solids);
}

/* Elastic: twice the speed of the paddle, which is not slowed. */
static void a_bat_throws_a_ball_twice_as_fast(void **state)
{
  SolidCase  *solids = solid_case_new(0);
  BodyConfig *bat = solid_case_add_box(solids, vector3(0, 0, 0), vector3(0.1, 1, 1), vector3(0, 0, 0));
  BodyConfig *ball = solid_case_add_sphere(solids, vector3(0.5, 0, 0), 0.1);

  (void)state;
  bat->restitution = ball->restitution = 1;
  drive(bat, vector3(3, 0, 0));
  solid_case_start(solids);
  solid_case_run(solids, 1. / 200, 100);
  assert_near(solid_case_velocity(solids, 1).at[X], 6, 1e-12);
  assert_near(solid_case_position(solids, 0).at[X], 1.5, 1e-12);
  solid_case_free(solids);
}

TEST_MAIN(cmocka_unit_test(a_belt_drags_a_block_to_its_speed), cmocka_unit_test(a_lift_carries_a_stack),
          cmocka_unit_test(a_stack_is_not_held_down), cmocka_unit_test(a_paddle_hits_a_ball),
          cmocka_unit_test(a_bat_throws_a_ball_twice_as_fast))
