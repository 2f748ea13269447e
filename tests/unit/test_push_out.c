/* The simultaneous push-out of bodies that overlap a central one. */
#include "harness.h"

#include "solid/contact/push_out.h"

enum { CENTRAL, FIRST, BODIES = 7, OUTERS = BODIES - 1 };

/* Body 0 is the central one; outer k is body k + 1. */
typedef struct {
  Vector3  centers[BODIES];
  Mobility mobilities[BODIES];
  Outer    outers[OUTERS];
  PetscInt count;
  Twist    central, moves[OUTERS];
} Problem;

static PetscReal random_between(uint64_t *seed, PetscReal low, PetscReal high)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (PetscReal)(*seed >> 11) / (PetscReal)(1ull << 53);
}

static Vector3 random_vector(uint64_t *seed, PetscReal size)
{
  Vector3 v;

  for (PetscInt d = 0; d < DIM; d++)
    v.at[d] = random_between(seed, -size, size);
  return v;
}

static Mobility mobility_of(PetscReal mass, Vector3 gyration, Quaternion rotation)
{
  Vector3 inverse;

  for (PetscInt d = 0; d < DIM; d++)
    inverse.at[d] = 1 / (mass * gyration.at[d] * gyration.at[d]);
  return (Mobility){1 / mass, matrix3_turned_diagonal(rotation, inverse)};
}

static Mobility ball(PetscReal mass)
{
  return mobility_of(mass, vector3(0.6, 0.6, 0.6), quaternion_from_rotation(vector3(0, 0, 0)));
}

static Problem random_problem(uint64_t seed, PetscInt count)
{
  Problem p = {.count = count};

  for (PetscInt b = 0; b < BODIES; b++) {
    const PetscReal mass = random_between(&seed, 0.5, 5);
    const Vector3   turn = random_vector(&seed, 2);
    Vector3         gyration;

    for (PetscInt d = 0; d < DIM; d++)
      gyration.at[d] = random_between(&seed, 0.3, 1);
    p.centers[b] = random_vector(&seed, 3);
    p.mobilities[b] = mobility_of(mass, gyration, quaternion_from_rotation(turn));
  }
  for (PetscInt k = 0; k < OUTERS; k++) {
    p.outers[k].body = FIRST + k;
    p.outers[k].point = vector3_add(p.centers[CENTRAL], random_vector(&seed, 1));
    p.outers[k].separation = random_vector(&seed, 0.1);
    p.outers[k].normal =
        quaternion_rotate(quaternion_from_rotation(random_vector(&seed, 2)), vector3(0, 0, 1));
  }
  return p;
}

static void fix(Problem *p, PetscInt body)
{
  p->mobilities[body] = (Mobility){0};
}

static void push(Problem *p, PushMode mode)
{
  push_out(mode, p->centers, p->mobilities, CENTRAL, p->count, p->outers, &p->central, p->moves);
}

static Vector3 arm_of(const Problem *p, PetscInt k, PetscInt body)
{
  return vector3_subtract(p->outers[k].point, p->centers[body]);
}

/* What outer k still lacks of its separation. */
static Vector3 lack(const Problem *p, PetscInt k)
{
  const Vector3 outer = twist_at(&p->moves[k], arm_of(p, k, p->outers[k].body));
  const Vector3 central = twist_at(&p->central, arm_of(p, k, CENTRAL));

  return vector3_subtract(p->outers[k].separation, vector3_subtract(outer, central));
}

/* The impulse on outer k, from its move. */
static Vector3 impulse(const Problem *p, PetscInt k)
{
  return vector3_scale(1 / p->mobilities[p->outers[k].body].inverse_mass, p->moves[k].linear);
}

/* Mass times motion of the central body, and the moment about its center. */
static Twist central_momentum(const Problem *p)
{
  const Mobility *m = &p->mobilities[CENTRAL];
  const Matrix3   inertia = matrix3_inverse_symmetric(&m->inverse_inertia);

  return (Twist){vector3_scale(1 / m->inverse_mass, p->central.linear),
                 matrix3_apply(&inertia, p->central.angular)};
}

/* Of all bodies, about the center of the central one; the outer bodies' share by their inertia. */
static Twist total_momentum(const Problem *p)
{
  Twist sum = central_momentum(p);

  for (PetscInt k = 0; k < p->count; k++) {
    const PetscInt body = p->outers[k].body;
    const Matrix3  inertia = matrix3_inverse_symmetric(&p->mobilities[body].inverse_inertia);
    const Vector3  away = vector3_subtract(p->centers[body], p->centers[CENTRAL]), linear = impulse(p, k);

    sum.linear = vector3_add(sum.linear, linear);
    sum.angular = vector3_add(sum.angular, matrix3_apply(&inertia, p->moves[k].angular));
    sum.angular = vector3_add(sum.angular, vector3_cross(away, linear));
  }
  return sum;
}

static void assert_zero(Vector3 v, PetscReal tolerance)
{
  for (PetscInt d = 0; d < DIM; d++)
    assert_near(v.at[d], 0, tolerance);
}

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

  p.centers[FIRST] = vector3(-1.9, 0, 0);
  p.centers[FIRST + 1] = vector3(1.9, 0, 0);
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
    push_out(PUSH_FULLY, p.centers, p.mobilities, CENTRAL, 1, &single, &central, &outer);
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
  p.centers[FIRST] = vector3(0, 0, -2);
  p.centers[FIRST + 1] = vector3(0, 0, 2);
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
  p.centers[FIRST + 2] = vector3(0, 2, 0);
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
      q.centers[b] = vector3_scale(length, p.centers[b]);
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

TEST_MAIN(cmocka_unit_test(every_outer_body_gets_its_separation),
          cmocka_unit_test(normal_separations_come_from_normal_impulses_alone),
          cmocka_unit_test(momentum_and_angular_momentum_are_kept),
          cmocka_unit_test(the_work_of_impulses_is_reciprocal),
          cmocka_unit_test(a_light_body_between_heavy_ones_is_freed_in_one_call),
          cmocka_unit_test(a_fixed_central_body_stays_and_the_others_leave_it),
          cmocka_unit_test(a_fixed_body_prescribes_the_motion_at_its_point),
          cmocka_unit_test(motion_that_fixed_bodies_leave_free_keeps_its_momentum),
          cmocka_unit_test(a_body_pressed_down_does_not_enter_the_floor),
          cmocka_unit_test(a_wedge_pushes_out_both_ways_and_leaves_its_edge_free),
          cmocka_unit_test(fixed_bodies_that_disagree_are_met_half_way),
          cmocka_unit_test(the_same_fixed_body_may_be_given_at_many_points),
          cmocka_unit_test(nothing_hopeless_moves_far),
          cmocka_unit_test(nothing_becomes_undefined_where_nothing_is_given),
          cmocka_unit_test(particles_are_pushed_as_bodies_are), cmocka_unit_test(units_do_not_matter))
