/* What the other tests rely on: ranks fail together, and errors come back as codes. */
#include "harness.h"

static void a_sum_over_the_ranks_is_the_same_everywhere(void **state)
{
  PetscMPIInt mine = harness_rank() + 1;
  PetscMPIInt sum;

  (void)state;
  assert_success(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD));
  assert_on_all_ranks(2 * sum == harness_size() * (harness_size() + 1));
}

static PetscErrorCode Refuse(void)
{
  PetscFunctionBegin;
  PetscCheck(PETSC_FALSE, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "as it should");
  PetscFunctionReturn(0);
}

static void a_refusal_is_an_error_code_and_not_an_abort(void **state)
{
  (void)state;
  assert_refused(Refuse());
}

static void the_options_of_the_test_are_in_the_database(void **state)
{
  PetscInt  value = 0;
  PetscBool found = PETSC_FALSE;

  (void)state;
  assert_success(PetscOptionsGetInt(NULL, NULL, "-harness_number", &value, &found));
  assert_on_all_ranks(found && value == 42);
}

TEST_MAIN_WITH_OPTIONS("-harness_number 42", cmocka_unit_test(a_sum_over_the_ranks_is_the_same_everywhere),
                       cmocka_unit_test(a_refusal_is_an_error_code_and_not_an_abort),
                       cmocka_unit_test(the_options_of_the_test_are_in_the_database))
