/* The pair finder against the comparison of every box with every other one. */
#include <millrace/base.h>
#include "harness.h"
#include "solid/contact/broad/pairs.h"

#include <math.h>

typedef struct {
  PetscInt    count;
  Bounds     *boxes;
  PetscBool  *moves;
  PetscRandom random;
} Crowd;

static PetscReal uniform(PetscRandom random, PetscReal low, PetscReal high)
{
  PetscReal value;

  assert_success(PetscRandomGetValueReal(random, &value));
  return low + (high - low) * value;
}

static Crowd crowd_of(PetscInt count)
{
  Crowd crowd = {.count = count};

  assert_success(PetscMalloc2(count, &crowd.boxes, count, &crowd.moves));
  assert_success(PetscRandomCreate(PETSC_COMM_SELF, &crowd.random));
  assert_success(PetscRandomSetSeed(crowd.random, 4711));
  assert_success(PetscRandomSeed(crowd.random));
  return crowd;
}

static void crowd_destroy(Crowd *crowd)
{
  assert_success(PetscFree2(crowd->boxes, crowd->moves));
  assert_success(PetscRandomDestroy(&crowd->random));
}

static void place_box(Crowd *crowd, PetscInt body, PetscReal room, PetscReal smallest, PetscReal largest)
{
  for (PetscInt d = X; d < DIM; d++) {
    const PetscReal size = smallest * pow(largest / smallest, uniform(crowd->random, 0, 1));

    crowd->boxes[body].low.at[d] = uniform(crowd->random, -room, room);
    crowd->boxes[body].high.at[d] = crowd->boxes[body].low.at[d] + size;
  }
  crowd->moves[body] = uniform(crowd->random, 0, 1) < 0.8 ? PETSC_TRUE : PETSC_FALSE;
}

static PetscBool overlap(const Bounds *a, const Bounds *b)
{
  for (PetscInt d = X; d < DIM; d++)
    if (a->low.at[d] > b->high.at[d] || b->low.at[d] > a->high.at[d])
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static void assert_finds_all(PairFinder finder, const Crowd *crowd)
{
  const PetscInt(*pairs)[2];
  PetscInt count, seen = 0;

  assert_success(PairFinderFind(finder, crowd->boxes, crowd->moves, &count, &pairs));
  for (PetscInt a = 0; a < crowd->count; a++)
    for (PetscInt b = a + 1; b < crowd->count; b++)
      if ((crowd->moves[a] || crowd->moves[b]) && overlap(&crowd->boxes[a], &crowd->boxes[b])) {
        assert_true(seen < count);
        assert_int_equal(pairs[seen][0], a);
        assert_int_equal(pairs[seen++][1], b);
      }
  assert_int_equal(seen, count);
}

/* `trials` crowds in one finder, which must not remember the crowd before. */
static void try_crowds(PetscInt count, PetscInt trials, PetscReal room, PetscReal smallest, PetscReal largest)
{
  Crowd      crowd = crowd_of(count);
  PairFinder finder;

  assert_success(PairFinderCreate(count, &finder));
  for (PetscInt trial = 0; trial < trials; trial++) {
    for (PetscInt body = 0; body < count; body++)
      place_box(&crowd, body, room, smallest, largest);
    assert_finds_all(finder, &crowd);
  }
  assert_success(PairFinderDestroy(&finder));
  crowd_destroy(&crowd);
}

static void all_overlaps_of_equal_boxes_are_found(void **state)
{
  (void)state;
  try_crowds(700, 10, 4, 1, 1);
}

static void all_overlaps_of_boxes_of_many_sizes_are_found(void **state)
{
  (void)state;
  try_crowds(500, 10, 4, 1e-3, 3);
  try_crowds(300, 10, 1e4, 1e-6, 1e4);
}

static void no_body_and_one_body_have_no_pairs(void **state)
{
  (void)state;
  try_crowds(0, 1, 1, 1, 1);
  try_crowds(1, 1, 1, 1, 1);
}

/* Planes, walls, a point, a body that has fallen very far, boxes that share just a corner. */
static void endless_distant_and_touching_boxes_are_found(void **state)
{
  Crowd      crowd = crowd_of(300);
  PairFinder finder;

  (void)state;
  for (PetscInt body = 0; body < crowd.count; body++)
    place_box(&crowd, body, 3, 0.5, 2);
  for (PetscInt k = 0; k < 12; k++) {
    Bounds *box = &crowd.boxes[20 * k + 7];

    box->low.at[k % DIM] = -PETSC_INFINITY;
    if (k >= 3)
      box->high.at[(k + k / 3) % DIM] = PETSC_INFINITY;
    if (k >= 6)
      box->low.at[(k + 1) % DIM] = -1e3;
  }
  crowd.boxes[1] = (Bounds){{{-1e12, 4e12, -7e13}}, {{-1e12 + 1, 4e12 + 1, -7e13 + 1}}};
  crowd.boxes[2] = crowd.boxes[1];
  crowd.boxes[3] = (Bounds){{{0, 0, 0}}, {{0, 0, 0}}};
  crowd.boxes[4] = (Bounds){{{-1, -1, -1}}, {{0, 0, 0}}};
  crowd.boxes[5] = (Bounds){{{0, 0, 0}}, {{1, 1, 1}}};
  crowd.moves[2] = crowd.moves[3] = crowd.moves[4] = PETSC_TRUE;
  assert_success(PairFinderCreate(crowd.count, &finder));
  assert_finds_all(finder, &crowd);
  assert_success(PairFinderDestroy(&finder));
  crowd_destroy(&crowd);
}

/* Many small bodies between few large ones, in rows that begin and end at the same places. */
static void touching_cubes_of_two_sizes_are_found(void **state)
{
  enum { SIDE = 8 };
  Crowd      crowd = crowd_of(SIDE * SIDE * SIDE + SIDE);
  PairFinder finder;

  (void)state;
  for (PetscInt body = 0; body < crowd.count; body++) {
    const Vector3 low = vector3(body % SIDE, body / SIDE % SIDE, body / (SIDE * SIDE));

    crowd.boxes[body].low = vector3_scale(0.1, low);
    crowd.boxes[body].high = vector3_scale(0.1, vector3_add(low, vector3(1, 1, 1)));
    crowd.moves[body] = PETSC_TRUE;
  }
  for (PetscInt body = SIDE * SIDE * SIDE; body < crowd.count; body++)
    crowd.boxes[body].high = vector3_add(crowd.boxes[body].low, vector3(0.2, 0.7, 0.4));
  assert_success(PairFinderCreate(crowd.count, &finder));
  assert_finds_all(finder, &crowd);
  assert_success(PairFinderDestroy(&finder));
  crowd_destroy(&crowd);
}

TEST_MAIN(cmocka_unit_test(all_overlaps_of_equal_boxes_are_found),
          cmocka_unit_test(all_overlaps_of_boxes_of_many_sizes_are_found),
          cmocka_unit_test(no_body_and_one_body_have_no_pairs),
          cmocka_unit_test(endless_distant_and_touching_boxes_are_found),
          cmocka_unit_test(touching_cubes_of_two_sizes_are_found))
