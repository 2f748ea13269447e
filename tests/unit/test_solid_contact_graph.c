/* Levels of the contact graph and the order of contacts. */
#include "harness.h"

#include "solid/contact/solve/graph.h"

/* Sorts with a graph of its own and copies the levels. */
static PetscInt sorted_levels(PetscInt body_count, const PetscBool fixed[], PetscInt edge_count,
                              const PetscInt (*edges)[2], PetscInt levels[])
{
  ContactGraph    graph;
  const PetscInt *lent;
  PetscInt        level_count;

  assert_success(ContactGraphCreate(body_count, &graph));
  assert_success(ContactGraphSort(graph, fixed, edge_count, edges, &level_count, &lent));
  for (PetscInt body = 0; body < body_count; body++)
    levels[body] = lent[body];
  assert_success(ContactGraphDestroy(&graph));
  assert_null(graph);
  return level_count;
}

static void assert_levels(PetscInt count, const PetscInt levels[], const PetscInt expected[])
{
  for (PetscInt body = 0; body < count; body++)
    assert_int_equal(levels[body], expected[body]);
}

static void a_stack_on_the_floor_has_a_level_for_every_body(void **state)
{
  const PetscBool fixed[11] = {PETSC_TRUE};
  PetscInt        edges[10][2], levels[11];

  (void)state;
  for (PetscInt k = 0; k < 10; k++) { /* given from the top to the bottom */
    edges[k][0] = 9 - k;
    edges[k][1] = 10 - k;
  }
  assert_int_equal(sorted_levels(11, fixed, 10, (const PetscInt(*)[2])edges, levels), 11);
  for (PetscInt body = 0; body <= 10; body++)
    assert_int_equal(levels[body], body);
}

static void a_circle_of_bodies_shares_one_level(void **state)
{
  /* the floor carries 1; 1, 2, 3 carry each other in turn; 4 rests on 3 */
  const PetscBool fixed[5] = {PETSC_TRUE};
  const PetscInt  edges[][2] = {{3, 4}, {2, 3}, {0, 1}, {3, 1}, {1, 2}}, expected[5] = {0, 1, 1, 1, 2};
  PetscInt        levels[5];

  (void)state;
  assert_int_equal(sorted_levels(5, fixed, 5, edges, levels), 3);
  assert_levels(5, levels, expected);
}

static void two_stacks_carry_a_plank_above_the_higher_one(void **state)
{
  /* 1 on the floor; 2, 3, 4 on each other; 5 is the plank, 6 lies on it */
  const PetscBool fixed[7] = {PETSC_TRUE};
  const PetscInt  edges[][2] = {{0, 1}, {1, 5}, {0, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}};
  const PetscInt  expected[7] = {0, 1, 1, 2, 3, 4, 5};
  PetscInt        levels[7];

  (void)state;
  assert_int_equal(sorted_levels(7, fixed, 7, edges, levels), 6);
  assert_levels(7, levels, expected);
}

static void what_rests_on_nothing_is_on_level_one(void **state)
{
  /* 1 falls and carries 2; 3 is alone */
  const PetscBool fixed[4] = {PETSC_TRUE};
  const PetscInt  edges[][2] = {{1, 2}}, expected[4] = {0, 1, 2, 1};
  PetscInt        levels[4];

  (void)state;
  assert_int_equal(sorted_levels(4, fixed, 1, edges, levels), 3);
  assert_levels(4, levels, expected);
}

static void fixed_bodies_stay_on_level_zero_and_join_no_circle(void **state)
{
  /* a fixed plank 3 on a stack of 1 and 2, which also hang on it; 4 rests on itself */
  const PetscBool fixed[5] = {PETSC_TRUE, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE};
  const PetscInt edges[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 0}, {4, 4}}, expected[5] = {0, 1, 2, 0, 1};
  PetscInt       levels[5];

  (void)state;
  assert_int_equal(sorted_levels(5, fixed, 6, edges, levels), 3);
  assert_levels(5, levels, expected);
}

enum { RANDOM_BODIES = 14, RANDOM_EDGES = 30, HEIGHT = 200000 };

/* By definition: who reaches whom through bodies that are not fixed, then edges raise their upper ends until
   nothing changes. */
static void brute_force(PetscInt count, const PetscBool fixed[], PetscInt edge_count,
                        const PetscInt (*edges)[2], PetscInt levels[])
{
  PetscBool reaches[RANDOM_BODIES][RANDOM_BODIES] = {{PETSC_FALSE}};

  for (PetscInt e = 0; e < edge_count; e++)
    if (!fixed[edges[e][0]] && !fixed[edges[e][1]])
      reaches[edges[e][0]][edges[e][1]] = PETSC_TRUE;
  for (PetscInt k = 0; k < count; k++)
    for (PetscInt i = 0; i < count; i++)
      for (PetscInt j = 0; j < count; j++)
        if (reaches[i][k] && reaches[k][j])
          reaches[i][j] = PETSC_TRUE;
  for (PetscInt i = 0; i < count; i++)
    levels[i] = fixed[i] ? 0 : 1;
  for (PetscInt pass = 0; pass < count; pass++)
    for (PetscInt e = 0; e < edge_count; e++) {
      const PetscInt from = edges[e][0], to = edges[e][1];

      if (fixed[to] || from == to || (reaches[from][to] && reaches[to][from]))
        continue;
      for (PetscInt i = 0; i < count; i++) /* with all of its circle */
        if (i == to || (reaches[i][to] && reaches[to][i]))
          levels[i] = PetscMax(levels[i], levels[from] + 1);
    }
}

static PetscInt random_below(PetscRandom random, PetscInt bound)
{
  PetscReal value;

  assert_success(PetscRandomGetValueReal(random, &value));
  return PetscMin((PetscInt)(value * (PetscReal)bound), bound - 1);
}

static void random_graphs_agree_with_the_definition(void **state)
{
  PetscRandom  random;
  ContactGraph graph;

  (void)state;
  assert_success(PetscRandomCreate(PETSC_COMM_SELF, &random));
  assert_success(ContactGraphCreate(RANDOM_BODIES, &graph));
  for (PetscInt trial = 0; trial < 2000; trial++) {
    const PetscInt  edge_count = random_below(random, RANDOM_EDGES);
    PetscInt        edges[RANDOM_EDGES][2], expected[RANDOM_BODIES], level_count, highest = 0;
    PetscBool       fixed[RANDOM_BODIES];
    const PetscInt *levels;

    for (PetscInt body = 0; body < RANDOM_BODIES; body++)
      fixed[body] = random_below(random, 5) == 0 ? PETSC_TRUE : PETSC_FALSE;
    for (PetscInt e = 0; e < edge_count; e++)
      for (PetscInt end = 0; end < 2; end++)
        edges[e][end] = random_below(random, RANDOM_BODIES);
    brute_force(RANDOM_BODIES, fixed, edge_count, (const PetscInt(*)[2])edges, expected);
    assert_success(
        ContactGraphSort(graph, fixed, edge_count, (const PetscInt(*)[2])edges, &level_count, &levels));
    assert_levels(RANDOM_BODIES, levels, expected);
    for (PetscInt body = 0; body < RANDOM_BODIES; body++)
      highest = PetscMax(highest, levels[body]);
    assert_int_equal(level_count, highest + 1);
  }
  assert_success(ContactGraphDestroy(&graph));
  assert_success(PetscRandomDestroy(&random));
}

static void a_tower_of_any_height_is_sorted(void **state)
{
  PetscInt(*edges)[2], *levels;
  PetscBool *fixed;

  (void)state;
  assert_success(PetscMalloc3(HEIGHT, &edges, HEIGHT, &levels, HEIGHT, &fixed));
  for (PetscInt k = 0; k < HEIGHT; k++) { /* body 0 is the top, the last one the floor */
    edges[k][0] = k + 1;
    edges[k][1] = k;
    fixed[k] = k == HEIGHT - 1 ? PETSC_TRUE : PETSC_FALSE;
  }
  assert_int_equal(sorted_levels(HEIGHT, fixed, HEIGHT - 1, (const PetscInt(*)[2])edges, levels), HEIGHT);
  assert_int_equal(levels[0], HEIGHT - 1);
  assert_success(PetscFree3(edges, levels, fixed));
}

static void contacts_are_ordered_by_level_and_stay_in_order_within(void **state)
{
  enum { BODIES = 30, PAIRS = 200 };
  PetscInt        edges[BODIES - 1][2], pairs[PAIRS][2], level_count, seen[PAIRS] = {0};
  PetscBool       fixed[BODIES] = {PETSC_TRUE};
  const PetscInt *levels, *order, *starts;
  PetscRandom     random;
  ContactGraph    graph;

  (void)state;
  assert_success(PetscRandomCreate(PETSC_COMM_SELF, &random));
  for (PetscInt k = 0; k < BODIES - 1; k++) {
    edges[k][0] = random_below(random, k + 1);
    edges[k][1] = k + 1;
  }
  for (PetscInt k = 0; k < PAIRS; k++)
    for (PetscInt end = 0; end < 2; end++)
      pairs[k][end] = random_below(random, BODIES);
  assert_success(ContactGraphCreate(BODIES, &graph));
  assert_success(
      ContactGraphSort(graph, fixed, BODIES - 1, (const PetscInt(*)[2])edges, &level_count, &levels));
  assert_success(ContactGraphOrder(graph, PAIRS, (const PetscInt(*)[2])pairs, &order));
  assert_success(ContactGraphGetStarts(graph, &starts));
  assert_int_equal(starts[0], 0);
  assert_int_equal(starts[level_count], PAIRS);
  for (PetscInt level = 0; level < level_count; level++)
    for (PetscInt k = starts[level]; k < starts[level + 1]; k++) {
      assert_int_equal(PetscMax(levels[pairs[order[k]][0]], levels[pairs[order[k]][1]]), level);
      assert_int_equal(seen[order[k]]++, 0);
      assert_true(k == starts[level] || order[k - 1] < order[k]);
    }
  assert_success(ContactGraphDestroy(&graph));
  assert_success(PetscRandomDestroy(&random));
}

static void no_bodies_and_no_contacts_are_fine(void **state)
{
  const PetscInt *levels, *order, *starts;
  PetscInt        level_count;
  ContactGraph    graph = NULL;

  (void)state;
  assert_success(ContactGraphDestroy(&graph));
  assert_success(ContactGraphCreate(0, &graph));
  assert_success(ContactGraphSort(graph, NULL, 0, NULL, &level_count, &levels));
  assert_int_equal(level_count, 0);
  assert_success(ContactGraphOrder(graph, 0, NULL, &order));
  assert_success(ContactGraphGetStarts(graph, &starts));
  assert_int_equal(starts[0], 0);
  assert_success(ContactGraphDestroy(&graph));
}

static void bodies_that_do_not_exist_and_calls_out_of_order_are_refused(void **state)
{
  const PetscBool fixed[2] = {PETSC_TRUE};
  const PetscInt  edges[][2] = {{0, 1}}, wrong[][2] = {{0, 2}}, negative[][2] = {{-1, 1}};
  const PetscInt *levels, *order;
  PetscInt        level_count;
  ContactGraph    graph;

  (void)state;
  assert_refused(ContactGraphCreate(-1, &graph));
  assert_success(ContactGraphCreate(2, &graph));
  assert_refused(ContactGraphOrder(graph, 1, edges, &order));
  assert_refused(ContactGraphSort(graph, fixed, 1, wrong, &level_count, &levels));
  assert_refused(ContactGraphSort(graph, fixed, 1, negative, &level_count, &levels));
  assert_success(ContactGraphSort(graph, fixed, 1, edges, &level_count, &levels));
  assert_refused(ContactGraphGetStarts(graph, &order));
  assert_refused(ContactGraphOrder(graph, 1, wrong, &order));
  assert_success(ContactGraphDestroy(&graph));
}

TEST_MAIN(cmocka_unit_test(a_stack_on_the_floor_has_a_level_for_every_body),
          cmocka_unit_test(a_circle_of_bodies_shares_one_level),
          cmocka_unit_test(two_stacks_carry_a_plank_above_the_higher_one),
          cmocka_unit_test(what_rests_on_nothing_is_on_level_one),
          cmocka_unit_test(fixed_bodies_stay_on_level_zero_and_join_no_circle),
          cmocka_unit_test(random_graphs_agree_with_the_definition),
          cmocka_unit_test(a_tower_of_any_height_is_sorted),
          cmocka_unit_test(contacts_are_ordered_by_level_and_stay_in_order_within),
          cmocka_unit_test(no_bodies_and_no_contacts_are_fine),
          cmocka_unit_test(bodies_that_do_not_exist_and_calls_out_of_order_are_refused))
