#define _GNU_SOURCE /* sched_setaffinity */
#include "harness.h"

#include <millrace/parallel.h>

#include <sched.h>
#include <time.h>

static PetscMPIInt size_of(MPI_Comm comm)
{
  PetscMPIInt size = 0;

  if (comm != MPI_COMM_NULL)
    MPI_Comm_size(comm, &size);
  return size;
}

/* Sizes of the teams and who is in them, for `solid_ranks` of as many ranks as there are. */
static void assert_split(PetscInt solid_ranks)
{
  const TeamConfig  config = {.solid_ranks = solid_ranks};
  const PetscMPIInt rank = harness_rank(), size = harness_size();
  const PetscMPIInt apart = size == 1 ? 0 : (PetscMPIInt)solid_ranks; /* alone, one rank plays both roles */
  const PetscBool   fluid = rank < size - apart, solids = rank >= size - PetscMax(apart, 1);
  Team              team;

  assert_success(TeamCreate(PETSC_COMM_WORLD, &config, WORK_BOTH, &team));
  assert_on_all_ranks(size_of(team_world(team)) == size);
  assert_on_all_ranks(team_has_fluid(team) == fluid);
  assert_on_all_ranks(team_has_solids(team) == solids);
  assert_on_all_ranks(size_of(team_fluid(team)) == (fluid ? size - apart : 0));
  assert_on_all_ranks(size_of(team_solid(team)) == (solids ? PetscMax(apart, 1) : 0));
  assert_on_all_ranks(team_first_solid_rank(team) == size - PetscMax(apart, 1));
  assert_success(TeamDestroy(&team));
  assert_on_all_ranks(!team);
}

static void without_fluid_all_ranks_are_solid(void **state)
{
  for (PetscInt solid_ranks = -1; solid_ranks < 2; solid_ranks++) {
    const TeamConfig config = {.solid_ranks = solid_ranks};
    Team             team;

    assert_success(TeamCreate(PETSC_COMM_WORLD, &config, WORK_SOLIDS, &team));
    assert_on_all_ranks(!team_has_fluid(team) && team_has_solids(team));
    assert_on_all_ranks(size_of(team_solid(team)) == harness_size());
    assert_on_all_ranks(team_first_solid_rank(team) == 0);
    assert_success(TeamDestroy(&team));
  }
  (void)state;
}

static void solids_have_one_rank_of_three_or_more(void **state)
{
  const TeamConfig config = {.solid_ranks = -1};

  (void)state;
  assert_int_equal(team_config_solid_ranks(&config, WORK_BOTH, 1), 0);
  assert_int_equal(team_config_solid_ranks(&config, WORK_BOTH, 2), 0);
  assert_int_equal(team_config_solid_ranks(&config, WORK_BOTH, 3), 1);
  assert_int_equal(team_config_solid_ranks(&config, WORK_BOTH, 4), 1);
  assert_int_equal(team_config_solid_ranks(&config, WORK_FLUID, 4), 0);
  assert_int_equal(team_config_solid_ranks(&config, WORK_SOLIDS, 4), 4);
}

static void solids_live_on_the_last_fluid_rank_unless_told(void **state)
{
  (void)state;
  assert_split(0);
}

static void solids_have_ranks_of_their_own_when_told(void **state)
{
  (void)state;
  assert_split(1);
  if (harness_size() > 2)
    assert_split(2);
}

static void some_rank_must_be_left_for_the_fluid(void **state)
{
  const TeamConfig config = {.solid_ranks = harness_size()};
  Team             team;

  (void)state;
  if (harness_size() == 1)
    skip(); /* one rank alone plays both roles */
  assert_refused(TeamCreate(PETSC_COMM_WORLD, &config, WORK_BOTH, &team));
}

static void destroying_nothing_is_allowed(void **state)
{
  Team team = NULL;

  (void)state;
  assert_success(TeamDestroy(&team));
}

/* What a launcher of another MPI does: as many tasks as asked for, each a world of its own. */
static void a_launcher_that_does_not_match_is_told(void **state)
{
  char      message[512], tasks[16];
  PetscBool good;

  (void)state;
  unsetenv("SLURM_NTASKS");
  assert_success(TeamCheckLauncher(PETSC_COMM_WORLD, message, sizeof(message), &good));
  assert_on_all_ranks(good && !message[0]);
  snprintf(tasks, sizeof(tasks), "%d", harness_size());
  setenv("SLURM_NTASKS", tasks, 1);
  assert_success(TeamCheckLauncher(PETSC_COMM_WORLD, message, sizeof(message), &good));
  assert_on_all_ranks(good && !message[0]);
  setenv("SLURM_NTASKS", "64", 1);
  assert_success(TeamCheckLauncher(PETSC_COMM_WORLD, message, sizeof(message), &good));
  assert_on_all_ranks(!good && strstr(message, "64") && strstr(message, "SLURM_NTASKS"));
  unsetenv("SLURM_NTASKS");
}

/* All ranks on the first core that this one may use; `before` is what they had. */
static void crowd_together(cpu_set_t *before)
{
  cpu_set_t one;
  int       core = 0;

  sched_getaffinity(0, sizeof(*before), before);
  while (core < CPU_SETSIZE - 1 && !CPU_ISSET(core, before))
    core++;
  assert_int_equal(MPI_Bcast(&core, 1, MPI_INT, 0, PETSC_COMM_WORLD), MPI_SUCCESS);
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  sched_setaffinity(0, sizeof(one), &one);
}

static PetscReal seconds_of(clockid_t clock)
{
  struct timespec now;

  clock_gettime(clock, &now);
  return (PetscReal)now.tv_sec + 1e-9 * (PetscReal)now.tv_nsec;
}

static void where_cores_are_few_a_rank_without_fluid_sleeps(void **state)
{
  const TeamConfig      config = {.solid_ranks = 1};
  const struct timespec work = {0, 200000000};
  PetscReal             wall, processor;
  PetscErrorCode        code;
  PetscBool             sleeps;
  cpu_set_t             before;
  Team                  team;

  (void)state;
  crowd_together(&before);
  assert_success(TeamCreate(PETSC_COMM_WORLD, &config, WORK_BOTH, &team));
  sleeps = team_has_fluid(team) ? PETSC_FALSE : PETSC_TRUE;
  assert_int_equal(MPI_Barrier(PETSC_COMM_WORLD), MPI_SUCCESS);
  wall = seconds_of(CLOCK_MONOTONIC);
  processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  if (!sleeps)
    nanosleep(&work, NULL);
  code = TeamAwaitFluid(team); /* an assertion would be a meeting of all ranks */
  wall = seconds_of(CLOCK_MONOTONIC) - wall;
  processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - processor;
  assert_success(code);
  assert_on_all_ranks(!sleeps || wall > 0.15); /* a core that others use lets it leave the barrier late */
  assert_on_all_ranks(!sleeps || processor < 0.02);
  assert_success(TeamDestroy(&team));
  sched_setaffinity(0, sizeof(before), &before);
}

/* However fluid ranks and others overtake each other. */
static void nobody_sleeps_for_ever(void **state)
{
  const TeamConfig config = {.solid_ranks = 1};
  cpu_set_t        before;
  Team             team;

  (void)state;
  crowd_together(&before);
  assert_success(TeamCreate(PETSC_COMM_WORLD, &config, WORK_BOTH, &team));
  for (PetscInt n = 0; n < 300; n++) {
    PetscMPIInt told = harness_rank() == 0 ? (PetscMPIInt)n : -1;

    assert_success(TeamAwaitFluid(team));
    if (n % 3) /* the fluid may run ahead */
      continue;
    assert_int_equal(MPI_Bcast(&told, 1, MPI_INT, 0, team_world(team)), MPI_SUCCESS);
    assert_on_all_ranks(told == n);
  }
  assert_success(TeamDestroy(&team));
  sched_setaffinity(0, sizeof(before), &before);
}

TEST_MAIN(cmocka_unit_test(without_fluid_all_ranks_are_solid),
          cmocka_unit_test(solids_have_one_rank_of_three_or_more),
          cmocka_unit_test(solids_live_on_the_last_fluid_rank_unless_told),
          cmocka_unit_test(solids_have_ranks_of_their_own_when_told),
          cmocka_unit_test(some_rank_must_be_left_for_the_fluid),
          cmocka_unit_test(destroying_nothing_is_allowed),
          cmocka_unit_test(where_cores_are_few_a_rank_without_fluid_sleeps),
          cmocka_unit_test(nobody_sleeps_for_ever), cmocka_unit_test(a_launcher_that_does_not_match_is_told))
