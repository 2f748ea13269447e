/* Poses over time and the velocities that go with them. */
#include "harness.h"
#include <math.h>
#include <millrace/geometry.h>

static void assert_vectors_near(Vector3 a, Vector3 b, PetscReal tolerance)
{
  assert_near(vector3_norm(vector3_subtract(a, b)), 0, tolerance);
}

static const Vector3 zero = {{0, 0, 0}}, pivot = {{1, 2, 3}}, there = {{0.3, -0.7, 2}};

static void create_tumbling(Motion *motion)
{
  const Keyframe keyframes[] = {{0.5, {{0, 0, 0}}, {{0, 0, 0}}},
                                {1, {{1, 0, 2}}, {{0, 0, 1}}},
                                {3, {{1, -2, 0}}, {{2, -1, 0.4}}},
                                {3.5, {{0, 0, 0}}, {{-2, 2, 0}}}};

  assert_success(MotionCreateKeyframes(pivot, 4, keyframes, motion));
}

static void no_motion_stands_still(void **state)
{
  (void)state;
  assert_true(motion_is_still(NULL));
  assert_vectors_near(motion_to_rest(NULL, 7, there), there, 0);
  assert_vectors_near(motion_velocity(NULL, 7, there), zero, 0);
  assert_near(motion_speed_bound(NULL, 7, zero, there), 0, 0);
}

static void steady_motion_turns_about_its_moving_pivot(void **state)
{
  Motion motion;
  Pose   pose;

  (void)state;
  assert_success(MotionCreateSteady(pivot, vector3(10, 0, 0), vector3(0, 0, PETSC_PI / 2), &motion));
  pose = motion_pose(motion, 1);
  assert_vectors_near(pose_to_world(&pose, vector3(2, 2, 3)), vector3(11, 3, 3), 1e-14);
  assert_vectors_near(pose_velocity(&pose, vector3(11, 3, 3)), vector3(10 - PETSC_PI / 2, 0, 0), 1e-14);
  assert_vectors_near(motion_to_rest(motion, 1, vector3(11, 3, 3)), vector3(2, 2, 3), 1e-14);
  assert_false(motion_is_still(motion));
  assert_success(MotionDestroy(&motion));
  assert_null(motion);
}

/* The velocity at a world point is how fast the material point there moves. */
static void assert_velocity_is_the_derivative(Motion motion, PetscReal time)
{
  const PetscReal step = 1e-5;
  const Pose      before = motion_pose(motion, time - step), after = motion_pose(motion, time + step);
  const Pose      now = motion_pose(motion, time);
  const Vector3   moved = vector3_subtract(pose_to_world(&after, there), pose_to_world(&before, there));

  assert_vectors_near(motion_velocity(motion, time, pose_to_world(&now, there)),
                      vector3_scale(0.5 / step, moved), 1e-7);
}

static void velocity_is_the_derivative_of_the_pose(void **state)
{
  const PetscReal times[] = {0.2, 0.51, 0.8, 1.1, 1.7, 2.9, 3.2, 3.49, 4};
  Motion          steady, tumbling;

  (void)state;
  create_tumbling(&tumbling);
  assert_success(MotionCreateSteady(pivot, vector3(1, -2, 0.5), vector3(0.5, 3, -1), &steady));
  for (size_t n = 0; n < sizeof times / sizeof *times; n++) {
    assert_velocity_is_the_derivative(tumbling, times[n]);
    assert_velocity_is_the_derivative(steady, times[n]);
  }
  assert_success(MotionDestroy(&tumbling));
  assert_success(MotionDestroy(&steady));
}

static void keyframes_are_met_and_the_ends_are_at_rest(void **state)
{
  Motion     motion;
  Pose       pose;
  Quaternion expected = quaternion_from_rotation(vector3(2, -1, 0.4));

  (void)state;
  create_tumbling(&motion);
  for (PetscReal time = 3 - 1e-12; time < 3.1; time += 1e-12 + (time >= 3)) {
    pose = motion_pose(motion, time);
    assert_vectors_near(pose.translation, vector3(1, -2, 0), 1e-10);
    assert_vectors_near(quaternion_rotate(pose.rotation, there), quaternion_rotate(expected, there), 1e-10);
  }
  assert_vectors_near(motion_velocity(motion, 0.49, there), zero, 0);
  assert_vectors_near(motion_velocity(motion, 3.5, there), zero, 0);
  assert_vectors_near(motion_pose(motion, 99).translation, zero, 0);
  assert_success(MotionDestroy(&motion));
}

static void poses_are_continuous(void **state)
{
  Motion motion;

  (void)state;
  create_tumbling(&motion);
  for (PetscReal time = 0; time < 4; time += 0.001) {
    const Pose a = motion_pose(motion, time), b = motion_pose(motion, time + 0.001);

    assert_vectors_near(pose_to_world(&a, there), pose_to_world(&b, there), 0.05);
  }
  assert_success(MotionDestroy(&motion));
}

static void create_smooth(Motion *motion)
{
  const Keyframe keyframes[] = {{0.5, {{0, 0, 0}}, {{0, 0, 0}}},
                                {1, {{1, 0, 2}}, {{0, 0, 1}}},
                                {3, {{1, -2, 0}}, {{2, -1, 0.4}}},
                                {5, {{0, 0, 0}}, {{0, 1, 0}}}};

  assert_success(MotionCreateSpline(pivot, 4, keyframes, motion));
}

static void splines_meet_keyframes_and_have_no_jump(void **state)
{
  const PetscReal step = 1e-5, keyframe_times[] = {0.5, 1, 3, 5};
  Motion          motion;

  (void)state;
  create_smooth(&motion);
  assert_vectors_near(motion_pose(motion, 3).translation, vector3(1, -2, 0), 1e-14);
  assert_vectors_near(motion_pose(motion, 1).translation, vector3(1, 0, 2), 1e-14);
  for (PetscInt n = 0; n < 4; n++) {
    const Pose before = motion_pose(motion, keyframe_times[n] - step),
               at = motion_pose(motion, keyframe_times[n]);
    const Pose behind = motion_pose(motion, keyframe_times[n] + step);

    assert_vectors_near(before.velocity, at.velocity, 1e-3);
    assert_vectors_near(before.spin, at.spin, 1e-3);
    if (n == 1 || n == 2) /* accelerations are those of both sides */
      assert_vectors_near(vector3_subtract(at.velocity, before.velocity),
                          vector3_subtract(behind.velocity, at.velocity), 1e-8);
  }
  assert_vectors_near(motion_velocity(motion, 0.5, there), zero, 1e-14);
  assert_vectors_near(motion_velocity(motion, 5, there), zero, 1e-14);
  assert_success(MotionDestroy(&motion));
}

static void the_velocity_of_a_spline_is_its_derivative(void **state)
{
  const PetscReal times[] = {0.2, 0.51, 0.8, 1, 1.7, 2.9, 3.2, 4.99, 6};
  Motion          motion;

  (void)state;
  create_smooth(&motion);
  for (size_t n = 0; n < sizeof times / sizeof *times; n++)
    assert_velocity_is_the_derivative(motion, times[n]);
  assert_success(MotionDestroy(&motion));
}

/* t^2 (3 - 2t) begins and ends at rest, and a cubic is its own spline wherever it is divided. */
static void a_spline_through_points_of_a_cubic_is_the_cubic(void **state)
{
  const PetscReal times[] = {0, 0.2, 0.7, 1};
  Keyframe        keyframes[4] = {{0}};
  Motion          motion;

  (void)state;
  for (PetscInt n = 0; n < 4; n++) {
    keyframes[n].time = times[n];
    keyframes[n].translation = vector3(times[n] * times[n] * (3 - 2 * times[n]), 0, 0);
  }
  assert_success(MotionCreateSpline(zero, 4, keyframes, &motion));
  for (PetscReal t = 0; t <= 1; t += 0.05) {
    assert_near(motion_pose(motion, t).translation.at[X], t * t * (3 - 2 * t), 1e-14);
    assert_near(motion_pose(motion, t).velocity.at[X], 6 * t * (1 - t), 1e-13);
  }
  assert_false(motion_is_still(motion));
  assert_success(MotionDestroy(&motion));
}

static void a_full_turn_about_one_axis_is_a_full_turn(void **state)
{
  const Keyframe keyframes[] = {{0, {{0, 0, 0}}, {{0, 0, 0}}}, {1, {{0, 0, 0}}, {{0, 0, 4 * PETSC_PI}}}};
  Motion         motion;

  (void)state;
  assert_success(MotionCreateKeyframes(zero, 2, keyframes, &motion));
  assert_vectors_near(motion_pose(motion, 0.3).spin, vector3(0, 0, 4 * PETSC_PI), 1e-13);
  assert_vectors_near(motion_to_rest(motion, 0.125, vector3(0, 1, 0)), vector3(1, 0, 0), 1e-14);
  assert_success(MotionDestroy(&motion));
}

static void other_rotations_take_the_short_way(void **state)
{
  const Keyframe keyframes[] = {{0, {{0, 0, 0}}, {{0, 0, -2.5}}}, {1, {{0, 0, 0}}, {{0.1, 0, 2.5}}}};
  Motion         motion;

  (void)state;
  assert_success(MotionCreateKeyframes(zero, 2, keyframes, &motion));
  assert_near(vector3_norm(motion_pose(motion, 0.5).spin), 2 * PETSC_PI - 5, 0.1);
  assert_success(MotionDestroy(&motion));
}

static void speed_bound_is_reached_at_a_corner(void **state)
{
  Motion motion;

  (void)state;
  assert_success(MotionCreateSteady(zero, vector3(1, 0, 0), vector3(0, 0, 2), &motion));
  assert_near(motion_speed_bound(motion, 0, vector3(-3, -4, 0), zero), hypot(9, 6), 1e-13);
  assert_true(isinf(motion_speed_bound(motion, 0, vector3(-PETSC_INFINITY, 0, 0), zero)));
  assert_success(MotionDestroy(&motion));
}

static void bounds_move_with_the_pose(void **state)
{
  Motion  motion;
  Pose    pose;
  Vector3 low = {{2, 2, 3}}, high = {{4, 3, 4}};

  (void)state;
  assert_success(MotionCreateSteady(pivot, vector3(10, 0, 0), vector3(0, 0, PETSC_PI / 2), &motion));
  pose = motion_pose(motion, 1);
  pose_bounds(&pose, &low, &high);
  assert_vectors_near(low, vector3(10, 3, 3), 1e-14);
  assert_vectors_near(high, vector3(11, 5, 4), 1e-14);
  assert_success(MotionDestroy(&motion));
}

static void bad_motions_are_refused(void **state)
{
  const Keyframe back[] = {{1, {{0}}, {{0}}}, {1, {{0}}, {{0}}}};
  const Keyframe odd[] = {{NAN, {{0}}, {{0}}}};
  Motion         motion = NULL;

  (void)state;
  assert_refused(MotionCreateKeyframes(zero, 2, back, &motion));
  assert_refused(MotionCreateKeyframes(zero, 1, odd, &motion));
  assert_refused(MotionCreateKeyframes(zero, 0, back, &motion));
  assert_refused(MotionCreateSteady(vector3(INFINITY, 0, 0), zero, zero, &motion));
  assert_null(motion);
}

static void one_keyframe_is_a_place_to_stand(void **state)
{
  const Keyframe only[] = {{1, {{1, 2, 3}}, {{0, 0, PETSC_PI}}}};
  Motion         motion;

  (void)state;
  assert_success(MotionCreateKeyframes(zero, 1, only, &motion));
  assert_true(motion_is_still(motion));
  assert_vectors_near(motion_to_rest(motion, 0, vector3(0, 2, 3)), vector3(1, 0, 0), 1e-14);
  assert_success(MotionDestroy(&motion));
}

static void create_by_formulas(const char *const texts[6], Motion *motion)
{
  Formula formulas[6];

  for (int n = 0; n < 6; n++)
    assert_success(FormulaCreate(texts[n], &formulas[n], NULL, 0));
  assert_success(MotionCreateFormulas(pivot, formulas, formulas + 3, motion));
  assert_null(formulas[0]);
}

/* Where the axis turns too, the spin is not the derivative of the rotation. */
static void formulas_are_met_and_their_derivatives_too(void **state)
{
  static const char *const texts[] = {"sin(t)", "t^2", "0", "0.3*t", "sin(2*t)", "1 - t"};
  Motion                   motion;
  Pose                     pose;

  (void)state;
  create_by_formulas(texts, &motion);
  assert_false(motion_is_still(motion));
  pose = motion_pose(motion, 0.7);
  assert_vectors_near(pose.translation, vector3(sin(0.7), 0.49, 0), 1e-15);
  assert_vectors_near(pose.velocity, vector3(cos(0.7), 1.4, 0), 1e-15);
  for (PetscReal time = 0.1; time < 3; time += 0.37)
    assert_velocity_is_the_derivative(motion, time);
  assert_success(MotionDestroy(&motion));
}

static void about_one_axis_the_spin_is_the_rate(void **state)
{
  static const char *const texts[] = {"0", "0", "0", "0", "0", "20*t + cos(t)"};
  Motion                   motion;

  (void)state;
  create_by_formulas(texts, &motion);
  assert_vectors_near(motion_pose(motion, 2).spin, vector3(0, 0, 20 - sin(2)), 1e-13);
  assert_vectors_near(motion_pose(motion, 0).spin, vector3(0, 0, 20), 1e-13);
  assert_success(MotionDestroy(&motion));
}

static void create_by_speeds(const char *const texts[6], Motion *motion)
{
  Formula formulas[6];

  for (int n = 0; n < 6; n++)
    assert_success(FormulaCreate(texts[n], &formulas[n], NULL, 0));
  assert_success(MotionCreateSpeeds(pivot, formulas, formulas + 3, motion));
}

static void speeds_are_integrated(void **state)
{
  static const char *const texts[] = {"cos(20*t)", "exp(-t)", "if(t < pi, 0, 2)", "0", "0", "5*sin(3*t)"};
  Motion                   motion;

  (void)state;
  create_by_speeds(texts, &motion);
  assert_false(motion_is_still(motion));
  for (PetscReal time = 0; time < 9; time += 0.37) {
    const Pose pose = motion_pose(motion, time);

    assert_vectors_near(pose.translation,
                        vector3(sin(20 * time) / 20, 1 - exp(-time), 2 * PetscMax(0, time - PETSC_PI)),
                        2e-11);
    assert_vectors_near(pose.velocity, vector3(cos(20 * time), exp(-time), time < PETSC_PI ? 0 : 2), 1e-14);
    assert_vectors_near(pose.spin, vector3(0, 0, 5 * sin(3 * time)), 1e-14);
    assert_vectors_near(quaternion_rotate(pose.rotation, vector3(1, 0, 0)),
                        vector3(cos(5 * (1 - cos(3 * time)) / 3), sin(5 * (1 - cos(3 * time)) / 3), 0),
                        1e-12);
  }
  assert_success(MotionDestroy(&motion));
}

/* A resumed run asks for other times than the one that was not stopped. */
static void integrals_do_not_depend_on_what_was_asked_before(void **state)
{
  static const char *const texts[] = {"cos(t^2)", "abs(sin(7*t))", "0", "0", "sin(1e9*t)", "0"};
  Motion                   one, other;

  (void)state;
  create_by_speeds(texts, &one);
  create_by_speeds(texts, &other);
  for (PetscReal time = 0; time < 5; time += 0.73)
    (void)motion_pose(one, time);
  for (PetscReal time = 4.9; time > -2; time -= 0.31) {
    const Pose first = motion_pose(one, time), second = motion_pose(other, time);

    assert_memory_equal(&first, &second, sizeof(Pose));
    (void)motion_pose(other, 0.1 - time);
  }
  assert_success(MotionDestroy(&one));
  assert_success(MotionDestroy(&other));
}

TEST_MAIN(cmocka_unit_test(no_motion_stands_still),
          cmocka_unit_test(steady_motion_turns_about_its_moving_pivot),
          cmocka_unit_test(velocity_is_the_derivative_of_the_pose),
          cmocka_unit_test(keyframes_are_met_and_the_ends_are_at_rest),
          cmocka_unit_test(poses_are_continuous), cmocka_unit_test(a_full_turn_about_one_axis_is_a_full_turn),
          cmocka_unit_test(splines_meet_keyframes_and_have_no_jump),
          cmocka_unit_test(the_velocity_of_a_spline_is_its_derivative),
          cmocka_unit_test(a_spline_through_points_of_a_cubic_is_the_cubic),
          cmocka_unit_test(other_rotations_take_the_short_way),
          cmocka_unit_test(speed_bound_is_reached_at_a_corner), cmocka_unit_test(bounds_move_with_the_pose),
          cmocka_unit_test(bad_motions_are_refused), cmocka_unit_test(one_keyframe_is_a_place_to_stand),
          cmocka_unit_test(formulas_are_met_and_their_derivatives_too),
          cmocka_unit_test(about_one_axis_the_spin_is_the_rate), cmocka_unit_test(speeds_are_integrated),
          cmocka_unit_test(integrals_do_not_depend_on_what_was_asked_before))
