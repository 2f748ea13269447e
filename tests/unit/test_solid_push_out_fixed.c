/* The push-out where some bodies cannot move. */
#include "push_out_problem.h"

static void a_fixed_central_body_stays_and_the_others_leave_it(void **state)
{
  Problem p = random_problem(1, OUTERS);

  (void)state;
  fix(&p, CENTRAL);
  fix(&p, FIRST); /* two that cannot move: nothing is possible between them */
  for (PushMode mode = PUSH_FULLY; mode <= PUSH_ALONG_NORMALS; mode++) {
    push(&p, mode);
    assert_zero(p.central.linear, 0);
    assert_zero(p.central.angular, 0);
    assert_zero(p.moves[0].linear, 0);
    for (PetscInt k = 1; k < OUTERS; k++)
      assert_near(vector3_dot(p.outers[k].normal, lack(&p, k)), 0, 1e-14);
  }
}

static void a_fixed_body_prescribes_the_motion_at_its_point(void **state)
{
  (void)state;
  for (PetscInt trial = 0; trial < 200; trial++) {
    Problem p = random_problem(trial, 1 + trial % OUTERS);

    fix(&p, FIRST);
    push(&p, PUSH_FULLY);
    assert_zero(p.moves[0].linear, 0);
    assert_zero(p.moves[0].angular, 0);
    for (PetscInt k = 0; k < p.count; k++)
      assert_zero(lack(&p, k), 1e-12);
  }
}

/* About the point of a fixed body the central one may turn freely: no moment is lost there. */
static void motion_that_fixed_bodies_leave_free_keeps_its_momentum(void **state)
{
  (void)state;
  for (PetscInt trial = 0; trial < 50; trial++) {
    Problem p = random_problem(trial, OUTERS);
    Twist   sum;
    Vector3 to_fixed;

    fix(&p, FIRST);
    push(&p, PUSH_FULLY);
    sum = central_momentum(&p);
    to_fixed = arm_of(&p, 0, CENTRAL);
    sum.angular = vector3_subtract(sum.angular, vector3_cross(to_fixed, sum.linear));
    for (PetscInt k = 1; k < OUTERS; k++) {
      const Vector3 arm = vector3_subtract(arm_of(&p, k, CENTRAL), to_fixed);

      sum.angular = vector3_add(sum.angular, vector3_cross(arm, impulse(&p, k)));
    }
    assert_zero(sum.angular, 1e-12);
  }
}

static void a_body_pressed_down_does_not_enter_the_floor(void **state)
{
  /* a heavy one sits 0.1 deep in the top of the central one, which just touches the floor */
  const Vector3 up = vector3(0, 0, 1);
  Problem       p = {.count = 2};

  (void)state;
  p.mobilities[CENTRAL] = ball(1);
  p.mobilities[FIRST + 1] = ball(100);
  p.centres[FIRST] = vector3(0, 0, -2);
  p.centres[FIRST + 1] = vector3(0, 0, 2);
  p.outers[0] = (Outer){FIRST, vector3(0, 0, -1), vector3(0, 0, 0), vector3_scale(-1, up)};
  p.outers[1] = (Outer){FIRST + 1, up, vector3(0, 0, 0.1), up};
  for (PushMode mode = PUSH_FULLY; mode <= PUSH_ALONG_NORMALS; mode++) {
    push(&p, mode);
    assert_zero(p.central.linear, 1e-15);
    assert_zero(p.central.angular, 1e-15);
    assert_zero(vector3_subtract(p.moves[1].linear, vector3(0, 0, 0.1)), 1e-15);
  }
}

static void a_wedge_pushes_out_both_ways_and_leaves_its_edge_free(void **state)
{
  /* two walls along y, 45 degrees to either side of the vertical; a third body pushes along y */
  const PetscReal h = PetscSqrtReal(0.5);
  const Vector3   normals[3] = {vector3(h, 0, -h), vector3(-h, 0, -h), vector3(0, 1, 0)};
  Problem         p = {.count = 3};

  (void)state;
  p.mobilities[CENTRAL] = ball(2);
  p.mobilities[FIRST + 2] = ball(6);
  p.centres[FIRST + 2] = vector3(0, 2, 0);
  for (PetscInt k = 0; k < 3; k++)
    p.outers[k] =
        (Outer){FIRST + k, normals[k], vector3_scale(0.1 * (PetscReal)(1 + k), normals[k]), normals[k]};
  push(&p, PUSH_ALONG_NORMALS);
  for (PetscInt k = 0; k < 3; k++)
    assert_near(vector3_dot(normals[k], lack(&p, k)), 0, 1e-15);
  /* -0.1 along the first normal and -0.2 along the second; 0.3 shared as 3 to 1 along y */
  assert_zero(vector3_subtract(p.central.linear, vector3(0.1 * h, -0.225, 0.3 * h)), 1e-15);
  assert_zero(p.central.angular, 1e-15);
  assert_zero(vector3_subtract(p.moves[2].linear, vector3(0, 0.075, 0)), 1e-15);
}

/* The sum of squares that the fixed bodies lack if the central one moved otherwise. */
static PetscReal squares_with(const Problem *p, Twist change)
{
  Problem   q = *p;
  PetscReal sum = 0;

  q.central.linear = vector3_add(q.central.linear, change.linear);
  q.central.angular = vector3_add(q.central.angular, change.angular);
  for (PetscInt k = 0; k < q.count; k++)
    if (q.mobilities[q.outers[k].body].inverse_mass <= 0) {
      const Vector3 left = lack(&q, k);

      sum += vector3_dot(left, left);
    }
  return sum;
}

static void fixed_bodies_that_disagree_are_met_half_way(void **state)
{
  (void)state;
  for (PetscInt trial = 0; trial < 50; trial++) {
    Problem   p = random_problem(trial, OUTERS);
    uint64_t  seed = 1000 + trial;
    PetscReal least;

    for (PetscInt k = 0; k < OUTERS - 1; k++) /* 15 conditions on 6 degrees of freedom */
      fix(&p, FIRST + k);
    push(&p, PUSH_FULLY);
    assert_zero(lack(&p, OUTERS - 1), 1e-12);
    least = squares_with(&p, (Twist){{{0}}, {{0}}});
    for (PetscInt k = 0; k < 20; k++) {
      const Twist change = {random_vector(&seed, 1e-3), random_vector(&seed, 1e-3)};

      assert_true(squares_with(&p, change) > least);
    }
  }
}

static void the_same_fixed_body_may_be_given_at_many_points(void **state)
{
  /* a floor under the corners of a box, at the same depth: up, without turning */
  Problem p = {.count = 4};

  (void)state;
  p.mobilities[CENTRAL] = ball(3);
  for (PetscInt k = 0; k < 4; k++)
    p.outers[k] =
        (Outer){FIRST, vector3(k % 2 ? 1 : -1, k / 2 ? 1 : -1, -1), vector3(0, 0, -0.01), vector3(0, 0, -1)};
  for (PushMode mode = PUSH_FULLY; mode <= PUSH_ALONG_NORMALS; mode++) {
    push(&p, mode);
    assert_zero(vector3_subtract(p.central.linear, vector3(0, 0, 0.01)), 1e-15);
    assert_zero(p.central.angular, 1e-15);
  }
}

/* Two walls opposite each other, and a point given twice but for round-off with another depth. */
static void nothing_hopeless_moves_far(void **state)
{
  const Vector3 right = vector3(1, 0, 0), left = vector3(-1, 0, 0);
  Problem       p = {.count = 3};

  (void)state;
  p.mobilities[CENTRAL] = ball(1);
  p.outers[0] = (Outer){FIRST, right, vector3_scale(0.1, right), right};
  p.outers[1] = (Outer){FIRST + 1, left, vector3_scale(0.1, left), left};
  p.outers[2] = (Outer){FIRST, vector3(1, 1e-9, 0), vector3_scale(0.12, right), right};
  for (PushMode mode = PUSH_FULLY; mode <= PUSH_ALONG_NORMALS; mode++) {
    push(&p, mode);
    assert_near(p.central.linear.at[X], -0.04, 1e-9); /* the least squares of -0.1, 0.1 and -0.12 */
    assert_zero(p.central.angular, 1e-9);
  }
}

TEST_MAIN(cmocka_unit_test(a_fixed_central_body_stays_and_the_others_leave_it),
          cmocka_unit_test(a_fixed_body_prescribes_the_motion_at_its_point),
          cmocka_unit_test(motion_that_fixed_bodies_leave_free_keeps_its_momentum),
          cmocka_unit_test(a_body_pressed_down_does_not_enter_the_floor),
          cmocka_unit_test(a_wedge_pushes_out_both_ways_and_leaves_its_edge_free),
          cmocka_unit_test(fixed_bodies_that_disagree_are_met_half_way),
          cmocka_unit_test(the_same_fixed_body_may_be_given_at_many_points),
          cmocka_unit_test(nothing_hopeless_moves_far))
