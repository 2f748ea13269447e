/* Lid-driven cavity at Re 100 (F1). */
#include "cavity.h"
#include "harness.h"

static void cavity_at_reynolds_100_converges_to_the_table(void **state)
{
  CavityResult results[3];
  PetscReal    order;

  (void)state;
  for (PetscInt level = 0; level < 3; level++) {
    const PetscInt resolution = 16 << level;

    assert_success(CavityRun(&ghia_tables[0], resolution, 1e-5, 40., &results[level]));
    note("%d^2: largest deviation %.5f, lowest u %.5f, steady after %g s", (int)resolution,
         (double)results[level].deviation, (double)results[level].lowest_u,
         (double)results[level].steady_after);
  }
  /* by themselves: the table's own grid error is as large as the difference to the finest grid */
  order = order_between(PetscAbsReal(results[0].lowest_u - results[1].lowest_u),
                        PetscAbsReal(results[1].lowest_u - results[2].lowest_u));
  note("order of the lowest u %.3f", (double)order);
  assert_on_all_ranks(results[2].deviation <= 0.01);
  assert_on_all_ranks(order >= 1.8);
}

TEST_MAIN(cmocka_unit_test(cavity_at_reynolds_100_converges_to_the_table))
