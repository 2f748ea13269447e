#include "harness.h"

#include <millrace/sums.h>

#include <math.h>
#include <string.h>

enum { COUNT = 1500 };

static uint64_t scrambled(uint64_t n)
{
  n = (n ^ (n >> 30)) * 0xBF58476D1CE4E5B9u;
  n = (n ^ (n >> 27)) * 0x94D049BB133111EBu;
  return n ^ (n >> 31);
}

/* Of either sign and of sizes from 2^-wide to 2^wide. */
static PetscReal term_of(PetscInt n, PetscInt wide)
{
  const uint64_t  bits = scrambled(n + 1);
  const PetscReal part = (PetscReal)(bits >> 12) / 0x1p52;

  return ldexp((bits & 1 ? 1. : -1.) * (1. + part),
               (int)(bits >> 1 & 1023) % (int)(2 * wide + 1) - (int)wide);
}

/* Ways in which terms go to ranks and come to them one after the other. */
enum { IN_BLOCKS, ONE_BY_ONE, IN_TURNS, ALL_TO_ONE, BACKWARDS, IN_PARTS, WAYS };

static PetscReal sum_in_a_way(PetscInt way, PetscInt wide)
{
  const PetscInt  rank = harness_rank(), size = harness_size();
  const PetscInt  first = COUNT * rank / size, last = COUNT * (rank + 1) / size;
  PetscReal       terms[COUNT], value;
  ReproducibleSum sum = {0};

  for (PetscInt n = 0; n < COUNT; n++)
    terms[n] = term_of(n, wide);
  if (way == IN_BLOCKS || way == IN_PARTS)
    for (PetscInt n = first, step; n < last; n += step) {
      ReproducibleSum part = {0};

      step = PetscMin(1 + (PetscInt)(scrambled(n) % 700), last - n);
      sum_add_values(way == IN_PARTS ? &part : &sum, terms + n, step);
      sum_add_sum(&sum, &part);
    }
  else
    for (PetscInt n = 0; n < COUNT; n++)
      if (way == ALL_TO_ONE ? rank == size - 1
                            : (way == IN_TURNS ? n % size == rank : n >= first && n < last))
        sum_add(&sum, terms[way == BACKWARDS ? COUNT - 1 - n : n]);
  assert_success(SumOverRanks(PETSC_COMM_WORLD, 1, &sum, &value));
  return value;
}

static void order_and_ranks_leave_no_trace(void **state)
{
  (void)state;
  for (PetscInt wide = 0; wide <= 500; wide += 20) {
    const PetscReal value = sum_in_a_way(IN_BLOCKS, wide);

    for (PetscInt way = 0; way < WAYS; way++)
      assert_near(sum_in_a_way(way, wide), value, 0.);
  }
}

static void sums_are_as_good_as_long_ones(void **state)
{
  (void)state;
  for (PetscInt wide = 0; wide <= 60; wide += 3) {
    long double sum = 0.L, sizes = 0.L;

    for (PetscInt n = 0; n < COUNT; n++) {
      sum += term_of(n, wide);
      sizes += fabs(term_of(n, wide));
    }
    assert_near(sum_in_a_way(IN_BLOCKS, wide), (PetscReal)sum, (PetscReal)(1e-15 * sizes));
  }
}

/* Terms that lie half-way between two units, and sums in which the large ones cancel. */
static void ties_and_cancellation_leave_no_trace(void **state)
{
  const PetscReal terms[] = {1., 0x1p-33, -0x1p-33, 0x1.8p-65, 1e9, 0x1p-53, -1e9, 0x1p-40, 3., -4.};
  const PetscInt  count = sizeof(terms) / sizeof(*terms);
  ReproducibleSum forth = {0}, back = {0};

  (void)state;
  for (PetscInt n = 0; n < count; n++) {
    sum_add(&forth, terms[n]);
    sum_add_values(&back, &terms[count - 1 - n], 1);
  }
  assert_near(sum_value(&forth), sum_value(&back), 0.);
  assert_near(sum_value(&forth), 0x1p-40 + 0x1p-53, 0x1p-64);
}

static void what_is_no_number_stays_none(void **state)
{
  const PetscReal bad[] = {NAN, INFINITY, -INFINITY, 1e300};

  (void)state;
  for (PetscInt n = 0; n < 4; n++) {
    ReproducibleSum sum = {0};
    PetscReal       terms[9] = {0.}, value;

    terms[n] = bad[n];
    if (harness_rank() == harness_size() - 1)
      sum_add_values(&sum, terms, 9);
    sum_add(&sum, 1.);
    assert_success(SumOverRanks(PETSC_COMM_WORLD, 1, &sum, &value));
    assert_on_all_ranks(isnan(value));
  }
}

/* Rows of every length, with others' numbers between them. */
static void rows_are_summed_as_their_terms(void **state)
{
  PetscReal a[COUNT], b[COUNT];

  (void)state;
  for (PetscInt n = 0; n < COUNT; n++) {
    a[n] = term_of(n, 40);
    b[n] = term_of(n + COUNT, 40);
  }
  for (PetscInt count = 0, stride = 30; count <= stride; count++) {
    ReproducibleSum rows = {0}, terms = {0};

    for (PetscInt n = 0; n < COUNT; n++)
      if (n % stride < count)
        sum_add(&terms, a[n] * b[n]);
    sum_add_product_rows(&rows, a, b, count, COUNT / stride, stride);
    assert_near(sum_value(&rows), sum_value(&terms), 0.);
  }
}

static void of_nothing_is_zero(void **state)
{
  const ReproducibleSum none = {0};
  PetscReal             value;

  (void)state;
  assert_success(SumOverRanks(PETSC_COMM_WORLD, 1, &none, &value));
  assert_near(value, 0., 0.);
}

/* A vector's numbers by their global places; the product of its parts on any number of ranks. */
static void vectors_and_their_duplicates_are_summed_so(void **state)
{
  ReproducibleSum product = {0}, square = {0};
  PetscReal       dot, norm;
  PetscInt        first, last;
  Vec             vector, copy;

  (void)state;
  assert_success(VecCreate(PETSC_COMM_WORLD, &vector));
  assert_success(VecSetSizes(vector, PETSC_DECIDE, COUNT));
  assert_success(VecSetType(vector, VECSTANDARD));
  assert_success(VecSumReproducibly(vector));
  assert_success(VecDuplicate(vector, &copy));
  assert_success(VecGetOwnershipRange(vector, &first, &last));
  for (PetscInt n = 0; n < COUNT; n++) {
    if (n >= first && n < last) {
      assert_success(VecSetValue(vector, n, term_of(n, 20), INSERT_VALUES));
      assert_success(VecSetValue(copy, n, term_of(n + COUNT, 20), INSERT_VALUES));
    } else { /* assert_success is collective */
      assert_success(0);
      assert_success(0);
    }
    sum_add(&product, term_of(n, 20) * term_of(n + COUNT, 20));
    sum_add(&square, term_of(n + COUNT, 20) * term_of(n + COUNT, 20));
  }
  assert_success(VecAssemblyBegin(vector) || VecAssemblyEnd(vector));
  assert_success(VecAssemblyBegin(copy) || VecAssemblyEnd(copy));
  assert_success(VecDot(vector, copy, &dot));
  assert_success(VecNorm(copy, NORM_2, &norm));
  assert_near(dot, sum_value(&product), 0.);
  assert_near(norm, PetscSqrtReal(sum_value(&square)), 0.);
  assert_success(VecDestroy(&copy));
  assert_success(VecDestroy(&vector));
}

TEST_MAIN(cmocka_unit_test(order_and_ranks_leave_no_trace), cmocka_unit_test(sums_are_as_good_as_long_ones),
          cmocka_unit_test(ties_and_cancellation_leave_no_trace),
          cmocka_unit_test(what_is_no_number_stays_none), cmocka_unit_test(rows_are_summed_as_their_terms),
          cmocka_unit_test(of_nothing_is_zero), cmocka_unit_test(vectors_and_their_duplicates_are_summed_so))
