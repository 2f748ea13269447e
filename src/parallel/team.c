/* The split of the world into a fluid and a solid team. */
#include "parallel_impl.h"

#include <petscdm.h>
#include <petscsf.h>

struct _p_Team {
  MPI_Comm    world, fluid, solid;
  PetscMPIInt first_solid_rank;

  struct Sleepers *sleepers; /* null where every rank of the node has a core */
};

PetscInt team_config_solid_ranks(const TeamConfig *config, TeamWork work, PetscMPIInt ranks)
{
  if (work == WORK_SOLIDS)
    return ranks;
  if (ranks == 1)
    return 0;
  if (config->solid_ranks < 0)
    return work == WORK_BOTH && ranks > 2 ? 1 : 0; /* of two, one that waits would cost half */
  return config->solid_ranks;
}

/* Before the teams part, all ranks give PETSc's events the same numbers, whichever they use later: -log_view
   compares them by number. */
static PetscErrorCode RegisterEvents(void)
{
  PetscFunctionBegin;
  PetscCall(ISInitializePackage());
  PetscCall(PetscSFInitializePackage());
  PetscCall(VecInitializePackage());
  PetscCall(MatInitializePackage());
  PetscCall(DMInitializePackage());
  PetscCall(PCInitializePackage());
  PetscCall(KSPInitializePackage());
  PetscFunctionReturn(0);
}

PetscErrorCode TeamCreate(MPI_Comm world, const TeamConfig *config, TeamWork work, Team *team)
{
  PetscMPIInt rank, size, first;
  PetscInt    solid_ranks;
  PetscBool   fluid, solid;

  PetscFunctionBegin;
  PetscCall(RegisterEvents());
  PetscCallMPI(MPI_Comm_rank(world, &rank));
  PetscCallMPI(MPI_Comm_size(world, &size));
  solid_ranks = team_config_solid_ranks(config, work, size);
  PetscCheck(work == WORK_SOLIDS || solid_ranks < size, world, PETSC_ERR_USER_INPUT,
             "parallel.solid_ranks is %" PetscInt_FMT " of %d ranks and leaves none for the fluid",
             solid_ranks, size);
  first = size - (PetscMPIInt)PetscMax(solid_ranks, 1);
  fluid = rank < size - solid_ranks;
  solid = rank >= first;
  PetscCall(PetscNew(team));
  (*team)->first_solid_rank = first;
  PetscCallMPI(MPI_Comm_dup(world, &(*team)->world));
  PetscCallMPI(MPI_Comm_split(world, fluid ? 0 : MPI_UNDEFINED, rank, &(*team)->fluid));
  PetscCallMPI(MPI_Comm_split(world, solid ? 0 : MPI_UNDEFINED, rank, &(*team)->solid));
  PetscCall(SleepersCreate(world, fluid, &(*team)->sleepers));
  PetscFunctionReturn(0);
}

PetscErrorCode TeamDestroy(Team *team)
{
  PetscFunctionBegin;
  if (!*team)
    PetscFunctionReturn(0);
  PetscCall(SleepersDestroy(&(*team)->sleepers));
  if ((*team)->fluid != MPI_COMM_NULL)
    PetscCallMPI(MPI_Comm_free(&(*team)->fluid));
  if ((*team)->solid != MPI_COMM_NULL)
    PetscCallMPI(MPI_Comm_free(&(*team)->solid));
  PetscCallMPI(MPI_Comm_free(&(*team)->world));
  PetscCall(PetscFree(*team));
  PetscFunctionReturn(0);
}

MPI_Comm team_world(Team team)
{
  return team->world;
}

MPI_Comm team_fluid(Team team)
{
  return team->fluid;
}

MPI_Comm team_solid(Team team)
{
  return team->solid;
}

PetscBool team_has_fluid(Team team)
{
  return team->fluid != MPI_COMM_NULL;
}

PetscBool team_has_solids(Team team)
{
  return team->solid != MPI_COMM_NULL;
}

PetscMPIInt team_first_solid_rank(Team team)
{
  return team->first_solid_rank;
}

PetscErrorCode TeamAwaitFluid(Team team)
{
  PetscFunctionBegin;
  PetscCall(SleepersMeet(team->sleepers));
  PetscFunctionReturn(0);
}

PetscErrorCode TeamCheckLauncher(MPI_Comm world, char message[], size_t message_size, PetscBool *good)
{
  const char *tasks = getenv("SLURM_NTASKS");
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(world, &size));
  message[0] = '\0';
  *good = !tasks || atoi(tasks) == size ? PETSC_TRUE : PETSC_FALSE;
  /* mpiexec may start its daemons with srun: their number is then what the ranks are told */
  if (tasks && getenv("SLURM_STEP_ID") && size > atoi(tasks))
    *good = PETSC_TRUE;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, good, 1, MPIU_BOOL, MPI_LAND, world));
  if (!*good)
    PetscCall(PetscSNPrintf(
        message, message_size,
        "Slurm has %s tasks (SLURM_NTASKS) but MPI sees %d rank(s). Use srun --mpi=pmix with Open "
        "MPI, --mpi=pmi2 with MPICH, or mpiexec with as many ranks as --ntasks",
        tasks ? tasks : "other", size));
  PetscFunctionReturn(0);
}
