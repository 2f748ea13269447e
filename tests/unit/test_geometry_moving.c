/* Moving triangles: distances, continuous collision, intersection, the tree.

   That continuous collision is never too late is proved for every pair by intervals: the difference of two
   places is linear in time and in each of two parameters, so over a box of the three it lies among its values
   at the corners. Boxes are divided until none of them can hold a zero before the time that was found. */
#include "harness.h"
#include "scene_run.h"
#include "solids.h"

#include <millrace/moving_triangles.h>

enum { CASES = 8, PAIRS = 10000, MANY_PAIRS = 1000000 };

static Vector3 random_vector(uint64_t *seed, PetscReal size)
{
  Vector3 a;

  for (PetscInt d = 0; d < DIM; d++)
    a.at[d] = size * random_number(seed);
  return a;
}

/* Ranges of time and of the two parameters. */
typedef struct {
  PetscReal low[3], high[3];
} Cell;

/* First feature minus second. */
static Vector3 difference(FeatureKind kind, const Vector3 from[4], const Vector3 to[4],
                          const PetscReal place[3])
{
  const PetscReal u = place[1], v = place[2];
  const PetscReal point[4] = {1., u - 1., u * v - u, -u * v}, edge[4] = {1. - u, u, v - 1., -v};
  Vector3         sum = vector3(0, 0, 0);

  for (PetscInt n = 0; n < 4; n++) {
    const Vector3 at = vector3_add(vector3_scale(1. - place[0], from[n]), vector3_scale(place[0], to[n]));

    sum = vector3_add(sum, vector3_scale(kind == FEATURES_POINT_TRIANGLE ? point[n] : edge[n], at));
  }
  return sum;
}

static PetscReal size_of(const Vector3 from[4], const Vector3 to[4])
{
  PetscReal size = 0;

  for (PetscInt n = 0; n < 4; n++)
    size = PetscMax(size, vector3_norm(from[n]) + vector3_norm(to[n]));
  return size;
}

/* All values at the corners are on one side of a plane through zero, farther from it than round-off. */
static PetscBool has_no_zero(const Vector3 values[8], PetscReal slack)
{
  Vector3 axes[5] = {{{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}, {{0, 0, 0}}, {{0, 0, 0}}};

  for (PetscInt n = 0; n < 8; n++)
    axes[3] = vector3_add(axes[3], values[n]);
  axes[4] = vector3_cross(vector3_subtract(values[6], values[0]), vector3_subtract(values[4], values[2]));
  for (PetscInt k = 3; k < 5; k++)
    axes[k] = vector3_scale(1. / PetscMax(vector3_norm(axes[k]), PETSC_MACHINE_EPSILON), axes[k]);
  for (PetscInt k = 0; k < 5; k++) {
    PetscReal low = PETSC_MAX_REAL, high = -PETSC_MAX_REAL;

    for (PetscInt n = 0; n < 8; n++) {
      low = PetscMin(low, vector3_dot(axes[k], values[n]));
      high = PetscMax(high, vector3_dot(axes[k], values[n]));
    }
    if (low > slack || high < -slack)
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Along which the values change most. */
static PetscInt widest(const Vector3 values[8])
{
  PetscReal most = -1;
  PetscInt  best = 0;

  for (PetscInt d = 0; d < 3; d++)
    for (PetscInt n = 0; n < 8; n++) {
      const PetscReal change = vector3_norm(vector3_subtract(values[n], values[n ^ (1 << d)]));

      if (change > most) {
        most = change;
        best = d;
      }
    }
  return best;
}

/* Proves that the features do not meet before `time`. */
static PetscBool never_meet(FeatureKind kind, const Vector3 from[4], const Vector3 to[4], PetscReal time)
{
  enum { DEPTH = 120, CELLS = 100000 };
  const PetscReal slack = 1e-15 * size_of(from, to);
  Cell            stack[DEPTH] = {{{0, 0, 0}, {time, 1, 1}}};
  PetscInt        height = 1, cells = 0;

  while (height > 0) {
    const Cell cell = stack[--height];
    Vector3    values[8];
    PetscInt   d;

    for (PetscInt n = 0; n < 8; n++) {
      const PetscReal place[3] = {n & 1 ? cell.high[0] : cell.low[0], n & 2 ? cell.high[1] : cell.low[1],
                                  n & 4 ? cell.high[2] : cell.low[2]};

      values[n] = difference(kind, from, to, place);
    }
    if (has_no_zero(values, slack))
      continue;
    if (height + 2 > DEPTH || ++cells > CELLS)
      return PETSC_FALSE;
    d = widest(values);
    stack[height] = stack[height + 1] = cell;
    stack[height].high[d] = stack[height + 1].low[d] = 0.5 * (cell.low[d] + cell.high[d]);
    height += 2;
  }
  return PETSC_TRUE;
}

/* Random ones; in a plane; parallel edges or flat triangles; collapsed; far from the origin; nearly touching;
   fast; grazing. */
static void make_pair(PetscInt number, uint64_t *seed, Vector3 from[4], Vector3 to[4])
{
  const PetscReal speeds[CASES] = {1, 1, 1, 1, 1, 0.01, 20, 2};
  const PetscInt  kind = number % CASES;

  for (PetscInt n = 0; n < 4; n++) {
    from[n] = random_vector(seed, 1);
    to[n] = vector3_add(from[n], random_vector(seed, speeds[kind]));
    if (kind == 1)
      from[n].at[Z] = to[n].at[Z] = 0.25;
    if (kind == 4)
      from[n] = vector3_add(from[n], vector3(1000, -300, 20)),
      to[n] = vector3_add(to[n], vector3(1000, -300, 20));
    if (kind == 7)
      to[n] = vector3_add(from[n], vector3(n ? 0 : 2, 0, 0));
  }
  if (kind == 2) {
    from[3] = vector3_add(from[2], vector3_subtract(from[1], from[0]));
    to[3] = vector3_add(to[2], vector3_subtract(to[1], to[0]));
  } else if (kind == 3) {
    from[3] = from[2];
    to[3] = number & 8 ? to[2] : to[3];
  } else if (kind == 5) {
    from[0] = vector3_add(vector3_scale(0.5, vector3_add(from[2], from[3])), random_vector(seed, 1e-5));
    to[0] = vector3_add(from[0], random_vector(seed, 0.01));
  }
}

/* Also: the features stay apart by the separation, which the places at the time found show. */
static void collisions_are_never_missed(void **state)
{
  const PetscInt pairs = getenv("CHECK_LONG") ? MANY_PAIRS : PAIRS;
  uint64_t       seed = 20;
  PetscInt       stopped = 0, unproved = 0, too_near = 0;

  (void)state;
  for (PetscInt n = 0; n < pairs; n++) {
    const FeatureKind kind = n / CASES % 2 ? FEATURES_EDGE_EDGE : FEATURES_POINT_TRIANGLE;
    Vector3           from[4], to[4], at[4];
    PetscReal         time, first, weights[4];

    make_pair(n, &seed, from, to);
    first = features_distance(kind, from, weights);
    time = features_free_time(kind, from, to, 1e-3);
    for (PetscInt k = 0; k < 4; k++)
      at[k] = vector3_add(vector3_scale(1 - time, from[k]), vector3_scale(time, to[k]));
    stopped += time < 1;
    too_near += features_distance(kind, at, weights) <= PetscMin(1e-3, 0.5 * first) - 1e-12;
    unproved += first > 1e-9 && !never_meet(kind, from, to, time);
  }
  note("%" PetscInt_FMT " pairs, %" PetscInt_FMT " of them stopped", pairs, stopped);
  assert_int_equal(unproved, 0);
  assert_int_equal(too_near, 0);
  assert_true(stopped > pairs / 20 && stopped < pairs / 2);
  assert_true(never_meet(FEATURES_EDGE_EDGE, (Vector3[4]){{{0, 0, 0}}, {{1, 0, 0}}, {{0, 0, 1}}, {{0, 1, 1}}},
                         (Vector3[4]){{{0, 0, 0}}, {{1, 0, 0}}, {{0, 0, 1}}, {{0, 1, 1}}}, 1));
  assert_false(never_meet(FEATURES_EDGE_EDGE,
                          (Vector3[4]){{{0, 0, 0}}, {{1, 0, 0}}, {{0, 0, 1}}, {{0, 1, 1}}},
                          (Vector3[4]){{{0, 0, 2}}, {{1, 0, 2}}, {{0, 0, 1}}, {{0, 1, 1}}}, 1));
}

/* Small whole numbers and parts by eighths: nothing is rounded, and features meet at a known time. */
static void exact_collisions_are_found_before_they_happen(void **state)
{
  uint64_t seed = 21;
  PetscInt late = 0, stuck = 0, count = 0;

  (void)state;
  for (PetscInt n = 0; n < PAIRS; n++) {
    const FeatureKind kind = n % 2 ? FEATURES_EDGE_EDGE : FEATURES_POINT_TRIANGLE;
    const PetscReal   time = (1 + n % 7) / 8., u = (n / 2 % 5) / 4., v = (n / 10 % 5) / 4.;
    Vector3           from[4], to[4], zero[4], gap, way;
    PetscReal         weights[4], found;

    for (PetscInt k = 0; k < 4; k++) {
      from[k] = random_vector(&seed, 8);
      for (PetscInt d = 0; d < DIM; d++)
        from[k].at[d] = 16 * PetscFloorReal(from[k].at[d]);
      zero[k] = from[k];
    }
    gap = difference(kind, zero, zero, (PetscReal[3]){0, u, v});
    for (PetscInt k = 0; k < (kind == FEATURES_EDGE_EDGE ? 2 : 1); k++)
      from[k] = vector3_subtract(from[k], gap); /* where they meet */
    for (PetscInt k = 0; k < 4; k++) {
      way = random_vector(&seed, 4);
      for (PetscInt d = 0; d < DIM; d++)
        way.at[d] = 16 * PetscFloorReal(way.at[d]);
      to[k] = vector3_add(from[k], vector3_scale(1 - time, way));
      from[k] = vector3_subtract(from[k], vector3_scale(time, way));
    }
    if (!(features_distance(kind, from, weights) > 1e-9)) /* they touch all the time */
      continue;
    found = features_free_time(kind, from, to, 0);
    count++;
    late += found >= time;
    stuck += !(found > 0);
  }
  assert_true(count > PAIRS / 2);
  assert_int_equal(late, 0);
  assert_int_equal(stuck, 0);
}

static void a_falling_point_is_stopped_near_the_triangle(void **state)
{
  const Vector3 from[4] = {{{0.2, 0.2, 1}}, {{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}};
  const Vector3 to[4] = {{{0.2, 0.2, -1}}, {{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}};

  (void)state;
  assert_near(features_free_time(FEATURES_POINT_TRIANGLE, from, to, 0), 0.45, 1e-12);
  assert_near(features_free_time(FEATURES_POINT_TRIANGLE, from, from, 0), 1, 0);
}

/* Against the least distance over a fine net of places. */
static void distances_are_the_least(void **state)
{
  enum { PARTS = 40 };
  uint64_t seed = 22;

  (void)state;
  for (PetscInt n = 0; n < 400; n++) {
    const FeatureKind kind = n % 2 ? FEATURES_EDGE_EDGE : FEATURES_POINT_TRIANGLE;
    Vector3           from[4], to[4], apart = vector3(0, 0, 0);
    PetscReal         weights[4], least = PETSC_MAX_REAL, distance, size = 0;

    make_pair(n % 4 == 3 ? n : n / 2, &seed, from, to);
    distance = features_distance(kind, from, weights);
    for (PetscInt k = 0; k < 4; k++) {
      apart = vector3_add(apart, vector3_scale(weights[k], from[k]));
      for (PetscInt j = 0; j < 4; j++)
        size = PetscMax(size, vector3_norm(vector3_subtract(from[k], from[j])));
    }
    for (PetscInt i = 0; i <= PARTS; i++)
      for (PetscInt j = 0; j <= PARTS; j++)
        least = PetscMin(
            least, vector3_norm(difference(kind, from, from,
                                           (PetscReal[3]){0, (PetscReal)i / PARTS, (PetscReal)j / PARTS})));
    assert_near(vector3_norm(apart), distance, 1e-12 * (1 + vector3_norm(from[0])));
    assert_true(distance <= least + 1e-12 * (1 + vector3_norm(from[0])));
    assert_true(distance >= least - size / PARTS);
  }
}

typedef struct {
  PetscInt64 at[DIM];
} Whole;

static Whole whole_subtract(Whole a, Whole b)
{
  return (Whole){{a.at[0] - b.at[0], a.at[1] - b.at[1], a.at[2] - b.at[2]}};
}

static Whole whole_cross(Whole a, Whole b)
{
  return (Whole){{a.at[1] * b.at[2] - a.at[2] * b.at[1], a.at[2] * b.at[0] - a.at[0] * b.at[2],
                  a.at[0] * b.at[1] - a.at[1] * b.at[0]}};
}

/* Exact: an axis between them. */
static PetscBool axis_separates(Whole axis, const Whole a[3], const Whole b[3])
{
  PetscInt64 low[2] = {PETSC_MAX_INT, PETSC_MAX_INT}, high[2] = {PETSC_MIN_INT, PETSC_MIN_INT};

  for (PetscInt n = 0; n < 6; n++) {
    const Whole     *point = n < 3 ? &a[n] : &b[n - 3];
    const PetscInt64 value =
        axis.at[0] * point->at[0] + axis.at[1] * point->at[1] + axis.at[2] * point->at[2];

    low[n / 3] = PetscMin(low[n / 3], value);
    high[n / 3] = PetscMax(high[n / 3], value);
  }
  return low[0] > high[1] || low[1] > high[0] ? PETSC_TRUE : PETSC_FALSE;
}

/* Axes: both normals, all products of edges, and those within both planes; of collapsed triangles also edges,
   lines between corners, and what is left of these across the edges. */
static PetscBool are_apart(const Whole a[3], const Whole b[3])
{
  Whole     edges[6], normals[2];
  PetscBool apart = PETSC_FALSE;

  for (PetscInt n = 0; n < 3; n++) {
    edges[n] = whole_subtract(a[(n + 1) % 3], a[n]);
    edges[3 + n] = whole_subtract(b[(n + 1) % 3], b[n]);
  }
  for (PetscInt k = 0; k < 2; k++) {
    normals[k] = whole_cross(edges[3 * k], edges[3 * k + 1]);
    apart = apart || axis_separates(normals[k], a, b) ? PETSC_TRUE : PETSC_FALSE;
  }
  for (PetscInt n = 0; n < 6; n++)
    if (axis_separates(edges[n], a, b) || axis_separates(whole_cross(normals[n / 3], edges[n]), a, b))
      apart = PETSC_TRUE;
  for (PetscInt n = 0; n < 9; n++) {
    const Whole line = whole_subtract(a[n / 3], b[n % 3]);

    if (axis_separates(whole_cross(edges[n / 3], edges[3 + n % 3]), a, b) || axis_separates(line, a, b))
      apart = PETSC_TRUE;
    for (PetscInt k = 0; k < 6; k++)
      if (axis_separates(whole_cross(whole_cross(edges[k], line), edges[k]), a, b))
        apart = PETSC_TRUE;
  }
  return apart;
}

/* Whole coordinates of few values: many of them touch, lie in one plane or are collapsed. */
static void triangles_meet_unless_an_axis_separates_them(void **state)
{
  const PetscInt a[3] = {0, 1, 2}, b[3] = {3, 4, 5};
  uint64_t       seed = 23;
  PetscInt       apart = 0, wrong = 0;

  (void)state;
  for (PetscInt n = 0; n < 20000; n++) {
    Vector3 at[6];
    Whole   whole[6];

    for (PetscInt k = 0; k < 6; k++) {
      at[k] = random_vector(&seed, n % 3 ? 8 : 2);
      for (PetscInt d = 0; d < DIM; d++) {
        at[k].at[d] = PetscFloorReal(at[k].at[d]);
        if (n % 5 == 0 && d == Z)
          at[k].at[d] = 1;
        whole[k].at[d] = (PetscInt64)at[k].at[d];
      }
    }
    apart += are_apart(whole, whole + 3);
    wrong += triangles_meet(at, a, b) == are_apart(whole, whole + 3);
  }
  assert_true(apart > 4000 && apart < 18000);
  assert_int_equal(wrong, 0);
}

static void neighbours_meet_where_they_fold_through_each_other(void **state)
{
  Vector3        at[5] = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{-1, 0, 0.1}}, {{0, -1, 0.1}}};
  const PetscInt a[3] = {0, 1, 2}, b[3] = {0, 3, 4}, c[3] = {1, 0, 3};

  (void)state;
  assert_false(triangles_meet(at, a, b));
  assert_false(triangles_meet(at, a, c));
  at[3] = vector3(0.3, 0.3, -0.5);
  at[4] = vector3(0.3, 0.3, 0.5);
  assert_true(triangles_meet(at, a, b));
}

static PetscBool boxes_meet_by_hand(const PetscInt a[3], const PetscInt b[3], const Vector3 from[],
                                    const Vector3 to[], PetscReal margin)
{
  for (PetscInt d = 0; d < DIM; d++) {
    PetscReal low[2] = {PETSC_MAX_REAL, PETSC_MAX_REAL}, high[2] = {-PETSC_MAX_REAL, -PETSC_MAX_REAL};

    for (PetscInt n = 0; n < 6; n++) {
      const PetscInt p = n < 3 ? a[n] : b[n - 3];

      low[n / 3] = PetscMin(low[n / 3], PetscMin(from[p].at[d], to[p].at[d]) - margin);
      high[n / 3] = PetscMax(high[n / 3], PetscMax(from[p].at[d], to[p].at[d]) + margin);
    }
    if (low[0] > high[1] || low[1] > high[0])
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* While all go apart, so that it is fitted and built anew; the last round has one triangle alone. */
static void the_tree_finds_all_pairs(void **state)
{
  enum { COUNT = 150 };
  Vector3   from[3 * COUNT], to[3 * COUNT];
  PetscInt  triangles[COUNT][3];
  PetscReal margins[COUNT];
  uint64_t  seed = 24;

  (void)state;
  for (PetscInt n = 0; n < 3 * COUNT; n++) {
    from[n] = vector3_add(vector3_scale(0.1, random_vector(&seed, 1)),
                          vector3(0.13 * (PetscReal)(n / 3 % 10), 0.11 * (PetscReal)(n / 30), 0));
    triangles[n / 3][n % 3] = n;
    margins[n / 3] = 0.01;
  }
  for (PetscInt total = COUNT; total; total = total > 1 ? 1 : 0) {
    MovingTree tree;

    assert_success(MovingTreeCreate(total, (const PetscInt(*)[3])triangles, &tree));
    for (PetscInt round = 0; round < 6; round++) {
      PetscInt count, expected = 0, (*pairs)[2];

      for (PetscInt n = 0; n < 3 * COUNT; n++)
        to[n] = vector3_add(from[n], random_vector(&seed, round == 2 ? 0.5 : 0.02));
      assert_success(MovingTreePlace(tree, from, to, margins));
      assert_success(MovingTreeFindPairs(tree, &count, &pairs));
      for (PetscInt i = 0; i < total; i++)
        for (PetscInt j = i + 1; j < total; j++)
          expected += boxes_meet_by_hand(triangles[i], triangles[j], from, to, 0.01);
      assert_int_equal(count, expected);
      for (PetscInt n = 0; n < count; n++)
        assert_true(pairs[n][0] < pairs[n][1] &&
                    boxes_meet_by_hand(triangles[pairs[n][0]], triangles[pairs[n][1]], from, to, 0.01));
      assert_success(PetscFree(pairs));
      memcpy(from, to, sizeof(from));
    }
    assert_success(MovingTreeDestroy(&tree));
  }
}

TEST_MAIN(cmocka_unit_test(collisions_are_never_missed),
          cmocka_unit_test(exact_collisions_are_found_before_they_happen),
          cmocka_unit_test(a_falling_point_is_stopped_near_the_triangle),
          cmocka_unit_test(distances_are_the_least),
          cmocka_unit_test(triangles_meet_unless_an_axis_separates_them),
          cmocka_unit_test(neighbours_meet_where_they_fold_through_each_other),
          cmocka_unit_test(the_tree_finds_all_pairs))
