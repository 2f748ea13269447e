/* Random pairs of simple shapes, held against what can be said of any touch, and against distances that are
   found by projecting a point to and fro between the two bodies. */
#include <millrace/base.h>
#include "harness.h"
#include "solid/contact/narrow/touch.h"

#include <math.h>

enum { KINDS = 4, TRIALS = 1500 };

typedef struct {
  Form           form;
  RigidTransform at;
} Thing;

static PetscReal uniform(PetscRandom random, PetscReal low, PetscReal high)
{
  PetscReal value;

  assert_success(PetscRandomGetValueReal(random, &value));
  return low + (high - low) * value;
}

static Vector3 random_vector(PetscRandom random, PetscReal most)
{
  const PetscReal x = uniform(random, -most, most), y = uniform(random, -most, most);

  return vector3(x, y, uniform(random, -most, most));
}

static RigidTransform random_placement(PetscRandom random, PetscReal most)
{
  const Vector3 position = random_vector(random, most);

  return (RigidTransform){position, quaternion_from_rotation(random_vector(random, 3))};
}

static Thing random_thing(PetscRandom random, FormKind kind)
{
  Thing thing = {{.kind = kind}, random_placement(random, kind == FORM_PLANE ? 0.5 : 1.2)};

  if (kind == FORM_SPHERE || kind == FORM_CAPSULE)
    thing.form.radius = uniform(random, 0.2, 1);
  if (kind == FORM_CAPSULE || kind == FORM_BOX)
    thing.form.half = vector3(0, 0, uniform(random, 0.2, 1));
  if (kind == FORM_BOX) {
    thing.form.half.at[X] = uniform(random, 0.2, 1);
    thing.form.half.at[Y] = uniform(random, 0.2, 1);
  }
  return thing;
}

/* The same along the axes of the world, up to a tiny turn: parallel faces, edges and axes, ties. */
static Thing aligned_thing(PetscRandom random, FormKind kind)
{
  const PetscReal tilt = pow(10, uniform(random, -17, -3)), quarter = 0.5 * PETSC_PI;
  Thing           thing = random_thing(random, kind);
  Vector3         turn = vector3(0, 0, 0);

  turn.at[(int)uniform(random, 0, 2.99)] = quarter * floor(uniform(random, 0, 4));
  thing.at.rotation = quaternion_multiply(quaternion_from_rotation(random_vector(random, tilt)),
                                          quaternion_from_rotation(turn));
  for (PetscInt d = X; d < DIM; d++)
    thing.at.position.at[d] = 0.25 * floor(4 * thing.at.position.at[d]);
  for (PetscInt d = X; d < DIM; d++)
    thing.form.half.at[d] = 0.25 * ceil(4 * thing.form.half.at[d]);
  return thing;
}

static PetscRandom new_random(unsigned long seed)
{
  PetscRandom random;

  assert_success(PetscRandomCreate(PETSC_COMM_SELF, &random));
  assert_success(PetscRandomSetSeed(random, seed));
  assert_success(PetscRandomSeed(random));
  return random;
}

static PetscInt touches_of(const Thing *a, const Thing *b, PetscReal reach, Touch touches[])
{
  return find_touches(&a->form, &a->at, &b->form, &b->at, reach, touches);
}

static PetscReal clamp(PetscReal value, PetscReal most)
{
  return PetscMax(PetscMin(value, most), -most);
}

/* The point of the body nearest to a point; the point itself if it is inside. */
static Vector3 projection(const Thing *thing, Vector3 point)
{
  const Form *form = &thing->form;
  Vector3     local = rigid_apply_inverse(&thing->at, point), core = vector3(0, 0, 0);
  PetscReal   distance;

  if (form->kind == FORM_PLANE) {
    local.at[Z] = PetscMin(local.at[Z], 0);
    return rigid_apply(&thing->at, local);
  }
  for (PetscInt d = X; d < DIM; d++)
    core.at[d] = clamp(local.at[d], form->half.at[d]);
  distance = vector3_norm(vector3_subtract(local, core));
  if (distance <= form->radius)
    return point;
  core = vector3_add(core, vector3_scale(form->radius / distance, vector3_subtract(local, core)));
  return rigid_apply(&thing->at, core);
}

/* Distance of two convex bodies by projecting to and fro: an upper bound that converges, slowly where a long
   body leans on a flat one. */
static PetscReal distance_by_projection(const Thing *a, const Thing *b)
{
  enum { ROUNDS = 3000 };
  Vector3 on_a = a->at.position, on_b = b->at.position;

  for (PetscInt round = 0; round < ROUNDS; round++) {
    on_b = projection(b, on_a);
    on_a = projection(a, on_b);
  }
  return vector3_norm(vector3_subtract(on_a, on_b));
}

static Thing moved(const Thing *thing, Vector3 by)
{
  Thing other = *thing;

  other.at.position = vector3_add(other.at.position, by);
  return other;
}

static const Touch *deepest(PetscInt count, const Touch touches[])
{
  const Touch *best = touches;

  for (PetscInt k = 1; k < count; k++)
    if (touches[k].gap < best->gap)
      best = &touches[k];
  return best;
}

typedef void (*Claim)(PetscRandom random, const Thing *a, const Thing *b);

/* For all pairs of kinds but plane and plane. */
static void for_pairs_of(Thing (*make)(PetscRandom, FormKind), unsigned long seed, PetscInt trials,
                         Claim claim)
{
  PetscRandom random = new_random(seed);

  for (PetscInt trial = 0; trial < trials; trial++)
    for (int first = 0; first < KINDS; first++)
      for (int second = 0; second < KINDS; second++) {
        const Thing a = make(random, (FormKind)first), b = make(random, (FormKind)second);

        if (first != FORM_PLANE || second != FORM_PLANE)
          claim(random, &a, &b);
      }
  assert_success(PetscRandomDestroy(&random));
}

/* The two surface points of a touch are on the surfaces: the point that belongs to a is not outside of a,
   that of b not outside of b, and they are as far apart as the gap says. */
static void claim_sound(PetscRandom random, const Thing *a, const Thing *b)
{
  const PetscReal reach = uniform(random, 0, 0.3);
  Touch           touches[TOUCH_CAPACITY];
  const PetscInt  count = touches_of(a, b, reach, touches);

  assert_true(count <= 4);
  for (PetscInt k = 0; k < count; k++) {
    const Vector3 half_gap = vector3_scale(0.5 * touches[k].gap, touches[k].normal);
    const Vector3 on_a = vector3_subtract(touches[k].point, half_gap);
    const Vector3 on_b = vector3_add(touches[k].point, half_gap);

    assert_near(vector3_norm(touches[k].normal), 1, 1e-12);
    assert_true(touches[k].gap <= reach);
    assert_true(vector3_norm(vector3_subtract(projection(a, on_a), on_a)) < 2e-6);
    assert_true(vector3_norm(vector3_subtract(projection(b, on_b), on_b)) < 2e-6);
    for (PetscInt n = 0; n < k; n++)
      assert_int_not_equal(touches[k].feature, touches[n].feature);
  }
}

static void both_points_of_a_touch_belong_to_their_bodies(void **state)
{
  (void)state;
  for_pairs_of(random_thing, 1, TRIALS, claim_sound);
  for_pairs_of(aligned_thing, 11, TRIALS, claim_sound);
}

/* Bodies that are apart: the least gap is their distance, and nothing is reported beyond it. */
static void claim_distance(PetscRandom random, const Thing *a, const Thing *b)
{
  const PetscReal distance = distance_by_projection(a, b), reach = 0.5;
  Touch           touches[TOUCH_CAPACITY];
  PetscInt        count;

  (void)random;
  if (distance < 0.01 || distance > 2)
    return;
  count = touches_of(a, b, reach, touches);
  if (distance > reach + 0.01) {
    assert_int_equal(count, 0);
  } else if (distance < reach - 1e-3) {
    assert_true(count > 0);
    assert_near(deepest(count, touches)->gap, distance, 2e-3);
  }
}

static void the_least_gap_is_the_distance_of_bodies_that_are_apart(void **state)
{
  (void)state;
  for_pairs_of(random_thing, 2, 60, claim_distance);
  for_pairs_of(aligned_thing, 12, 60, claim_distance);
}

/* Bodies in each other: going apart by the depth along the normal ends the overlap. */
static void claim_depth(PetscRandom random, const Thing *a, const Thing *b)
{
  Touch          touches[TOUCH_CAPACITY];
  const PetscInt count = touches_of(a, b, 0, touches);
  const Touch   *most = deepest(count, touches);
  Thing          apart, still_in;

  (void)random;
  if (count == 0)
    return;
  apart = moved(b, vector3_scale(0.02 - most->gap, most->normal));
  still_in = moved(b, vector3_scale(-0.02 - most->gap, most->normal));
  assert_true(distance_by_projection(a, &apart) > 5e-3);
  if (most->gap < -0.02)
    assert_true(distance_by_projection(a, &still_in) < 5e-3);
}

static void leaving_by_the_depth_along_the_normal_ends_the_overlap(void **state)
{
  (void)state;
  for_pairs_of(random_thing, 3, 60, claim_depth);
  for_pairs_of(aligned_thing, 13, 60, claim_depth);
}

/* Bodies that overlap touch. */
static void claim_found(PetscRandom random, const Thing *a, const Thing *b)
{
  Touch          touches[TOUCH_CAPACITY];
  const PetscInt count = touches_of(a, b, 2e-6, touches);

  (void)random;
  assert_true(count > 0 || distance_by_projection(a, b) > 1e-6);
}

static void no_overlap_is_missed(void **state)
{
  (void)state;
  for_pairs_of(random_thing, 4, 200, claim_found);
  for_pairs_of(aligned_thing, 14, 200, claim_found);
}

static void assert_same_touch(const Touch *one, const Touch *other, Vector3 normal)
{
  assert_near(one->gap, other->gap, 1e-9);
  for (PetscInt d = X; d < DIM; d++) {
    assert_near(one->point.at[d], other->point.at[d], 1e-9);
    assert_near(one->normal.at[d], normal.at[d], 1e-9);
  }
}

static const Touch *nearest_to(Vector3 point, PetscInt count, const Touch touches[])
{
  const Touch *best = touches;

  for (PetscInt k = 1; k < count; k++)
    if (vector3_norm(vector3_subtract(touches[k].point, point)) <
        vector3_norm(vector3_subtract(best->point, point)))
      best = &touches[k];
  return best;
}

static void claim_symmetric(PetscRandom random, const Thing *a, const Thing *b)
{
  const PetscReal reach = uniform(random, 0, 0.3);
  Touch           forward[TOUCH_CAPACITY], backward[TOUCH_CAPACITY];
  const PetscInt  count = touches_of(a, b, reach, forward);

  assert_int_equal(count, touches_of(b, a, reach, backward));
  for (PetscInt k = 0; k < count; k++) {
    const Touch *other = nearest_to(forward[k].point, count, backward);

    assert_same_touch(&forward[k], other, vector3_scale(-1, other->normal));
  }
}

static void swapping_the_bodies_reverses_the_normals(void **state)
{
  (void)state;
  for_pairs_of(random_thing, 5, TRIALS, claim_symmetric);
}

static Thing carried(const RigidTransform *motion, const Thing *thing)
{
  Thing other = *thing;

  other.at.position = rigid_apply(motion, thing->at.position);
  other.at.rotation = quaternion_multiply(motion->rotation, thing->at.rotation);
  return other;
}

static void claim_carried(PetscRandom random, const Thing *a, const Thing *b)
{
  const PetscReal      reach = uniform(random, 0, 0.3);
  const RigidTransform motion = random_placement(random, 10);
  const Thing          far_a = carried(&motion, a), far_b = carried(&motion, b);
  Touch                here[TOUCH_CAPACITY], there[TOUCH_CAPACITY];
  const PetscInt       count = touches_of(a, b, reach, here);

  assert_int_equal(count, touches_of(&far_a, &far_b, reach, there));
  for (PetscInt k = 0; k < count; k++) {
    const Touch *other;

    here[k].point = rigid_apply(&motion, here[k].point);
    other = nearest_to(here[k].point, count, there);
    assert_same_touch(&here[k], other,
                      quaternion_rotate(quaternion_conjugate(motion.rotation), other->normal));
    assert_int_equal(here[k].feature, other->feature);
  }
}

static void moving_both_bodies_moves_the_touches(void **state)
{
  (void)state;
  for_pairs_of(random_thing, 6, TRIALS, claim_carried);
}

/* A body that slides by has no jumps in its depth but the part by which faces are preferred to edges. */
static void claim_continuous(PetscRandom random, const Thing *a, const Thing *b)
{
  enum { STEPS = 200 };
  const PetscReal step = 5e-3, reach = 0.3;
  const Vector3   way = random_vector(random, 1);
  const Vector3   by = vector3_scale(step / vector3_norm(way), way);
  PetscReal       before = PETSC_INFINITY;
  Thing           sliding = *b;
  Touch           touches[TOUCH_CAPACITY];

  for (PetscInt k = 0; k < STEPS; k++) {
    const PetscInt  count = touches_of(a, &sliding, reach, touches);
    const PetscReal gap = count ? deepest(count, touches)->gap : PETSC_INFINITY;

    if (gap < reach - step && before < reach - step)
      assert_near(gap, before, step + 0.03 * PetscAbsReal(gap) + 1e-3);
    /* nothing comes into sight nearer than the reach */
    if (before == PETSC_INFINITY && k > 0)
      assert_true(gap > reach - 2 * step);
    before = gap;
    sliding = moved(&sliding, by);
  }
}

static void the_depth_has_no_jumps_while_a_body_slides(void **state)
{
  (void)state;
  for_pairs_of(random_thing, 7, 100, claim_continuous);
  for_pairs_of(aligned_thing, 17, 100, claim_continuous);
}

TEST_MAIN(cmocka_unit_test(both_points_of_a_touch_belong_to_their_bodies),
          cmocka_unit_test(the_least_gap_is_the_distance_of_bodies_that_are_apart),
          cmocka_unit_test(leaving_by_the_depth_along_the_normal_ends_the_overlap),
          cmocka_unit_test(no_overlap_is_missed), cmocka_unit_test(swapping_the_bodies_reverses_the_normals),
          cmocka_unit_test(moving_both_bodies_moves_the_touches),
          cmocka_unit_test(the_depth_has_no_jumps_while_a_body_slides))
