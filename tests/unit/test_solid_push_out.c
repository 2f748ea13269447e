/* The simultaneous push-out of bodies that overlap a central one. */
#include "push_out_problem.h"

static void every_outer_body_gets_its_separation(void **state)
{
  (void)state;
  for (PetscInt trial = 0; trial < 200; trial++) {
    Problem p = random_problem(trial, 1 + trial % OUTERS);

    push(&p, PUSH_FULLY);
    for (PetscInt k = 0; k < p.count; k++)
      assert_zero(lack(&p, k), 1e-12);
  }
}

static void normal_separations_come_from_normal_impulses_alone(void **state)
{
  (void)state;
  for (PetscInt trial = 0; trial < 200; trial++) {
    Problem p = random_problem(trial, 1 + trial % OUTERS);

    push(&p, PUSH_ALONG_NORMALS);
    for (PetscInt k = 0; k < p.count; k++) {
      assert_near(vector3_dot(p.outers[k].normal, lack(&p, k)), 0, 1e-12);
      assert_zero(vector3_cross(p.outers[k].normal, impulse(&p, k)), 1e-12);
    }
  }
}

static void momentum_and_angular_momentum_are_kept(void **state)
{
  (void)state;
  for (PetscInt trial = 0; trial < 200; trial++) {
    Problem p = random_problem(trial, 1 + trial % OUTERS);
    Twist   sum;

    push(&p, trial % 2 ? PUSH_FULLY : PUSH_ALONG_NORMALS);
    sum = total_momentum(&p);
    assert_zero(sum.linear, 1e-12);
    assert_zero(sum.angular, 1e-12);
  }
}

/* The 6x6 system is symmetric: impulses for one set of separations do the same work on another set as the
   other way round. And it is definite: the work on their own is positive. */
static void the_work_of_impulses_is_reciprocal(void **state)
{
  (void)state;
  for (PetscInt trial = 0; trial < 50; trial++) {
    Problem   p = random_problem(trial, OUTERS), q = p;
    uint64_t  seed = 1000 + trial;
    PetscReal p_on_q = 0, q_on_p = 0, p_on_p = 0;

    for (PetscInt k = 0; k < OUTERS; k++)
      q.outers[k].separation = random_vector(&seed, 0.1);
    push(&p, trial % 2 ? PUSH_FULLY : PUSH_ALONG_NORMALS);
    push(&q, trial % 2 ? PUSH_FULLY : PUSH_ALONG_NORMALS);
    for (PetscInt k = 0; k < OUTERS; k++) {
      p_on_q += vector3_dot(impulse(&p, k), q.outers[k].separation);
      q_on_p += vector3_dot(impulse(&q, k), p.outers[k].separation);
      p_on_p += vector3_dot(impulse(&p, k), p.outers[k].separation);
    }
    assert_near(p_on_q, q_on_p, 1e-13);
    assert_true(p_on_p > 0);
  }
}

/* A ball of mass 0.001 between two of mass 1000 and 3000 along x, overlapping 0.1 on either side. */
static Problem light_between_heavy(void)
{
  Problem p = {.count = 2};

  p.centres[FIRST] = vector3(-1.9, 0, 0);
  p.centres[FIRST + 1] = vector3(1.9, 0, 0);
  p.mobilities[CENTRAL] = ball(0.001);
  p.mobilities[FIRST] = ball(1000);
  p.mobilities[FIRST + 1] = ball(3000);
  for (PetscInt k = 0; k < 2; k++) {
    const PetscReal side = k == 0 ? -1 : 1;

    p.outers[k] = (Outer){FIRST + k, vector3(side, 0, 0), vector3(0.1 * side, 0, 0), vector3(side, 0, 0)};
  }
  return p;
}

/* The deeper of the two overlaps after that many single pushes in turn. */
static PetscReal overlap_after_pairs(PetscInt pushes)
{
  const Problem p = light_between_heavy();
  PetscReal     overlap[2] = {0.1, 0.1};

  for (PetscInt n = 0; n < pushes; n++) {
    const PetscInt k = n % 2;
    Outer          single = p.outers[k];
    Twist          central, outer;

    single.separation = vector3_scale(overlap[k], single.normal);
    push_out(PUSH_FULLY, p.centres, p.mobilities, CENTRAL, 1, &single, &central, &outer);
    overlap[k] = 0;
    overlap[1 - k] += vector3_dot(p.outers[1 - k].normal, central.linear);
  }
  return PetscMax(overlap[0], overlap[1]);
}

static void a_light_body_between_heavy_ones_is_freed_in_one_call(void **state)
{
  Problem p = light_between_heavy();

  (void)state;
  push(&p, PUSH_FULLY);
  assert_zero(lack(&p, 0), 1e-14);
  assert_zero(lack(&p, 1), 1e-14);
  assert_near(p.moves[0].linear.at[X], -0.15, 1e-6); /* the heavy ones share 0.2 by their masses */
  assert_near(p.moves[1].linear.at[X], 0.05, 1e-6);
  assert_true(overlap_after_pairs(1000) > 0.19); /* the messenger problem */
}

static void nothing_becomes_undefined_where_nothing_is_given(void **state)
{
  Problem p = random_problem(1, OUTERS), none = p;

  (void)state;
  for (PetscInt k = 0; k < OUTERS; k++)
    p.outers[k].normal = p.outers[k].separation = vector3(0, 0, 0);
  fix(&p, FIRST);
  push(&p, PUSH_ALONG_NORMALS);
  assert_zero(p.central.linear, 0);
  for (PetscInt k = 0; k < OUTERS; k++)
    assert_zero(p.moves[k].linear, 0);
  none.count = 0;
  push(&none, PUSH_FULLY);
  assert_zero(none.central.linear, 0);
  assert_zero(none.central.angular, 0);
}

/* A particle: mass, but nothing that could turn. */
static void particles_are_pushed_as_bodies_are(void **state)
{
  (void)state;
  for (PetscInt trial = 0; trial < 50; trial++) {
    Problem p = random_problem(trial, OUTERS);

    p.mobilities[FIRST].inverse_inertia = p.mobilities[CENTRAL].inverse_inertia = (Matrix3){{{0}}};
    if (trial % 2)
      fix(&p, FIRST + 1);
    push(&p, PUSH_FULLY);
    assert_zero(p.central.angular, 0);
    assert_zero(p.moves[0].angular, 0);
    for (PetscInt k = 0; k < OUTERS; k++)
      assert_zero(lack(&p, k), 1e-12);
  }
}

/* Lengths in millimetres and masses in tonnes give the same moves. */
static void units_do_not_matter(void **state)
{
  const PetscReal length = 1000, mass = 1e-3;

  (void)state;
  for (PetscInt trial = 0; trial < 50; trial++) {
    Problem p = random_problem(trial, OUTERS), q;

    for (PetscInt k = 0; k < trial % 4; k++)
      fix(&p, FIRST + k);
    q = p;
    for (PetscInt b = 0; b < BODIES; b++) {
      q.centres[b] = vector3_scale(length, p.centres[b]);
      q.mobilities[b].inverse_mass /= mass;
      for (PetscInt k = 0; k < DIM * DIM; k++)
        q.mobilities[b].inverse_inertia.at[k / DIM][k % DIM] /= mass * length * length;
    }
    for (PetscInt k = 0; k < OUTERS; k++) {
      q.outers[k].point = vector3_scale(length, p.outers[k].point);
      q.outers[k].separation = vector3_scale(length, p.outers[k].separation);
    }
    push(&p, PUSH_FULLY);
    push(&q, PUSH_FULLY);
    assert_zero(vector3_subtract(vector3_scale(1 / length, q.central.linear), p.central.linear), 1e-11);
    assert_zero(vector3_subtract(q.central.angular, p.central.angular), 1e-11);
  }
}

/* Two bodies with three points each; a body has as many degrees of freedom as they have rows at most. */
static Problem three_points_each(uint64_t seed)
{
  Problem p = random_problem(seed, OUTERS);

  for (PetscInt k = 0; k < OUTERS; k++)
    p.outers[k].body = FIRST + k / 3;
  return p;
}

static void bodies_are_pushed_at_several_points(void **state)
{
  (void)state;
  for (PetscInt trial = 0; trial < 200; trial++) {
    Problem p = three_points_each(trial);
    Twist   sum;

    push(&p, PUSH_ALONG_NORMALS);
    for (PetscInt k = 0; k < OUTERS; k++)
      assert_near(vector3_dot(p.outers[k].normal, lack(&p, k)), 0, 1e-11);
    sum = total_momentum(&p);
    assert_zero(sum.linear, 1e-11);
    assert_zero(sum.angular, 1e-11);
  }
}

/* Nine conditions on the six degrees of freedom of a body: they cannot be met, but the momentum is kept. */
static void points_that_disagree_are_met_half_way(void **state)
{
  (void)state;
  for (PetscInt trial = 0; trial < 50; trial++) {
    Problem   p = three_points_each(trial), q;
    Twist     sum;
    PetscReal least = 0;
    uint64_t  seed = 1000 + trial;

    push(&p, PUSH_FULLY);
    sum = total_momentum(&p);
    assert_zero(sum.linear, 1e-11);
    assert_zero(sum.angular, 1e-11);
    for (PetscInt k = 0; k < 3; k++)
      least += vector3_dot(lack(&p, k), lack(&p, k));
    assert_true(least > 1e-6);
    for (PetscInt n = 0; n < 20; n++) {
      const Twist change = {random_vector(&seed, 1e-3), random_vector(&seed, 1e-3)};
      PetscReal   squares = 0;

      q = p;
      for (PetscInt k = 0; k < 3; k++) {
        q.moves[k].linear = vector3_add(p.moves[k].linear, change.linear);
        q.moves[k].angular = vector3_add(p.moves[k].angular, change.angular);
        squares += vector3_dot(lack(&q, k), lack(&q, k));
      }
      assert_true(squares > least);
    }
  }
}

static void points_that_agree_are_all_met(void **state)
{
  (void)state;
  for (PetscInt trial = 0; trial < 50; trial++) {
    Problem  p = random_problem(trial, OUTERS);
    uint64_t seed = 1000 + trial;
    Twist    relative = {random_vector(&seed, 0.1), random_vector(&seed, 0.1)};

    for (PetscInt k = 0; k < OUTERS; k++) {
      p.outers[k].body = FIRST;
      p.outers[k].separation = twist_at(&relative, arm_of(&p, k, CENTRAL));
    }
    push(&p, PUSH_FULLY);
    for (PetscInt k = 0; k < OUTERS; k++)
      assert_zero(lack(&p, k), 1e-12);
  }
}

static void a_point_may_be_given_twice(void **state)
{
  (void)state;
  for (PushMode mode = PUSH_FULLY; mode <= PUSH_ALONG_NORMALS; mode++) {
    Problem p = random_problem(1, 2), q = p;

    push(&p, mode);
    q.count = 3;
    q.outers[2] = q.outers[1];
    push(&q, mode);
    assert_zero(vector3_subtract(p.central.linear, q.central.linear), 1e-14);
    assert_zero(vector3_subtract(p.central.angular, q.central.angular), 1e-14);
    for (PetscInt k = 1; k < 3; k++)
      assert_zero(vector3_subtract(p.moves[1].linear, q.moves[k].linear), 1e-14);
  }
}

/* Four corners at the same depth: up by the share of the masses, without turning. */
static void a_box_leaves_the_box_below_upright(void **state)
{
  Problem p = {.count = 4};

  (void)state;
  p.mobilities[CENTRAL] = ball(3);
  p.mobilities[FIRST] = mobility_of(1, vector3(0.5, 0.6, 0.7), quaternion_from_rotation(vector3(0, 0, 1)));
  p.centres[FIRST] = vector3(0, 0, 2);
  for (PetscInt k = 0; k < 4; k++)
    p.outers[k] =
        (Outer){FIRST, vector3(k % 2 ? 1 : -0.8, k / 2 ? 1 : -0.6, 1), vector3(0, 0, 0.04), vector3(0, 0, 1)};
  for (PushMode mode = PUSH_FULLY; mode <= PUSH_ALONG_NORMALS; mode++) {
    push(&p, mode);
    assert_zero(vector3_subtract(p.central.linear, vector3(0, 0, -0.01)), 1e-15);
    assert_zero(p.central.angular, 1e-15);
    for (PetscInt k = 0; k < 4; k++) {
      assert_zero(vector3_subtract(p.moves[k].linear, vector3(0, 0, 0.03)), 1e-15);
      assert_zero(p.moves[k].angular, 1e-15);
    }
  }
}

TEST_MAIN(cmocka_unit_test(every_outer_body_gets_its_separation),
          cmocka_unit_test(normal_separations_come_from_normal_impulses_alone),
          cmocka_unit_test(momentum_and_angular_momentum_are_kept),
          cmocka_unit_test(the_work_of_impulses_is_reciprocal),
          cmocka_unit_test(a_light_body_between_heavy_ones_is_freed_in_one_call),
          cmocka_unit_test(nothing_becomes_undefined_where_nothing_is_given),
          cmocka_unit_test(particles_are_pushed_as_bodies_are), cmocka_unit_test(units_do_not_matter),
          cmocka_unit_test(bodies_are_pushed_at_several_points),
          cmocka_unit_test(points_that_disagree_are_met_half_way),
          cmocka_unit_test(points_that_agree_are_all_met), cmocka_unit_test(a_point_may_be_given_twice),
          cmocka_unit_test(a_box_leaves_the_box_below_upright))
