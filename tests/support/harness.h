/* cmocka on all ranks, with one TAP report.

   Every rank runs the whole group; rank 0 alone prints. A failed assertion jumps out of the test, so ranks
   must fail together or the others wait for ever in the next collective call: in tests that run on several
   ranks use the assertions below, on all ranks, and cmocka's own ones only in serial tests. */
#ifndef MILLRACE_TESTS_HARNESS_H
#define MILLRACE_TESTS_HARNESS_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <petscsys.h>

/* True on every rank, or the test fails on every rank. Collective: world. */
#define assert_on_all_ranks(condition)                                                                       \
  harness_agree((condition) ? PETSC_TRUE : PETSC_FALSE, #condition, __FILE__, __LINE__)

/* `call` returns no error on any rank. Collective: world. */
#define assert_success(call) harness_agree((call) ? PETSC_FALSE : PETSC_TRUE, #call, __FILE__, __LINE__)

/* `call` returns an error on every rank, and says nothing. Collective: world. */
#define assert_refused(call)                                                                                 \
  do {                                                                                                       \
    PetscErrorCode refusal;                                                                                  \
    PetscCallAbort(PETSC_COMM_SELF, PetscPushErrorHandler(PetscReturnErrorHandler, NULL));                   \
    refusal = (call);                                                                                        \
    PetscCallAbort(PETSC_COMM_SELF, PetscPopErrorHandler());                                                 \
    harness_agree(refusal ? PETSC_TRUE : PETSC_FALSE, "refused: " #call, __FILE__, __LINE__);                \
  } while (0)

/* |a - b| <= tolerance on every rank, with the numbers in the message. Collective: world. */
#define assert_near(a, b, tolerance) harness_agree_near(a, b, tolerance, #a " = " #b, __FILE__, __LINE__)

/* At the beginning of a test that takes too long for every change: `make check-long` runs it. */
#define only_in_long_runs()                                                                                  \
  do {                                                                                                       \
    if (!getenv("CHECK_LONG"))                                                                               \
      skip();                                                                                                \
  } while (0)

/* At the beginning of a long test whose law no partition can break, in a program that others need ranks for.
 */
#define only_on_one_rank()                                                                                   \
  do {                                                                                                       \
    if (harness_size() > 1)                                                                                  \
      skip();                                                                                                \
  } while (0)

void harness_agree(PetscBool holds, const char *what, const char *file, int line);
void harness_agree_near(PetscReal a, PetscReal b, PetscReal tolerance, const char *what, const char *file,
                        int line);
PetscMPIInt harness_rank(void);
PetscMPIInt harness_size(void);

/* `options` is a string of PETSc options such as "-ksp_type cg", or empty. The environment's TEST_FILTER, a
   pattern such as "a_ball*", chooses tests of the group. */
void harness_start(int *argc, char ***argv, const char *options);
int  harness_finish(void);
/* Tests without fixtures say what they took of the processor, if it is more than a moment. */
void harness_time(struct CMUnitTest group[], size_t count);

/* The main function of a test program: TEST_MAIN(cmocka_unit_test(a), cmocka_unit_test(b)). */
#define TEST_MAIN(...) TEST_MAIN_WITH_OPTIONS("", __VA_ARGS__)
#define TEST_MAIN_WITH_OPTIONS(options, ...)                                                                 \
  int main(int argc, char **argv)                                                                            \
  {                                                                                                          \
    struct CMUnitTest group[] = {__VA_ARGS__};                                                               \
    harness_start(&argc, &argv, options);                                                                    \
    harness_time(group, PETSC_STATIC_ARRAY_LENGTH(group));                                                   \
    (void)cmocka_run_group_tests(group, NULL, NULL);                                                         \
    return harness_finish();                                                                                 \
  }

#endif
