#include "harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void abort_on_error(PetscErrorCode error)
{
  if (error)
    MPI_Abort(MPI_COMM_WORLD, (int)error);
}

PetscMPIInt harness_rank(void)
{
  PetscMPIInt rank;

  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  return rank;
}

PetscMPIInt harness_size(void)
{
  PetscMPIInt size;

  MPI_Comm_size(PETSC_COMM_WORLD, &size);
  return size;
}

/* The lowest rank on which the assertion fails, or the number of ranks if it holds on all. */
static PetscMPIInt first_failing_rank(PetscBool holds)
{
  PetscMPIInt mine = holds ? harness_size() : harness_rank();
  PetscMPIInt first;

  (void)MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD);
  return first;
}

void harness_agree(PetscBool holds, const char *what, const char *file, int line)
{
  const PetscMPIInt first = first_failing_rank(holds);

  if (first == harness_size())
    return;
  if (harness_rank() == 0)
    print_error("# not so on rank %d: %s\n", first, what);
  _fail(file, line);
}

void harness_agree_near(PetscReal a, PetscReal b, PetscReal tolerance, const char *what, const char *file,
                        int line)
{
  const PetscBool   near = PetscAbsReal(a - b) <= tolerance ? PETSC_TRUE : PETSC_FALSE;
  const PetscMPIInt first = first_failing_rank(near);
  double            values[] = {(double)a, (double)b};

  if (first == harness_size())
    return;
  (void)MPI_Bcast(values, 2, MPI_DOUBLE, first, PETSC_COMM_WORLD);
  if (harness_rank() == 0) {
    print_error("# not so on rank %d within %g: %s (%.17g and %.17g)\n", first, (double)tolerance, what,
                values[0], values[1]);
  }
  _fail(file, line);
}

/* Only rank 0 may speak TAP; the errors of the others still reach the log. */
static void silence_output(void)
{
  const int nowhere = open("/dev/null", O_WRONLY);

  if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
    MPI_Abort(MPI_COMM_WORLD, 1);
  close(nowhere);
}

void harness_start(int *argc, char ***argv, const char *options)
{
  abort_on_error(PetscInitialize(argc, argv, NULL, NULL));
  abort_on_error(PetscOptionsInsertString(NULL, options));
  if (harness_rank() > 0)
    silence_output();
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (getenv("TEST_FILTER"))
    cmocka_set_test_filter(getenv("TEST_FILTER"));
}

static clock_t test_start;

static int start_clock(void **state)
{
  (void)state;
  test_start = clock();
  return 0;
}

/* The state of such a test is its name. */
static int note_processor_time(void **state)
{
  const double seconds = (double)(clock() - test_start) / CLOCKS_PER_SEC;

  if (seconds >= 0.1)
    printf("# %.1f s of this rank's processor: %s\n", seconds, (const char *)*state);
  return 0;
}

void harness_time(struct CMUnitTest group[], size_t count)
{
  for (size_t n = 0; n < count; n++) {
    if (group[n].setup_func || group[n].teardown_func)
      continue;
    group[n].setup_func = start_clock;
    group[n].teardown_func = note_processor_time;
    group[n].initial_state = (void *)group[n].name;
  }
}

/* Zero although tests may have failed: the TAP says that, and any other status means a crash. */
int harness_finish(void)
{
  return (int)PetscFinalize();
}
