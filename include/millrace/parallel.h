/* Who works on what: the ranks of a run, split into a fluid team and a solid team. */
#ifndef MILLRACE_PARALLEL_H
#define MILLRACE_PARALLEL_H

#include <millrace/api.h>
#include <millrace/schema.h>

MILLRACE_API_BEGIN

typedef struct {
  /* Ranks of their own for the solids; 0: they live on the last fluid rank; -1: by the number of ranks. */
  PetscInt solid_ranks;
  /* How the box is divided among the fluid ranks. */
  enum { FLUID_PARTS_BALANCED, FLUID_PARTS_EVEN } fluid_parts;
} TeamConfig;
extern const char *const FluidParts[];
extern const SchemaKey   TeamKeys[];

typedef struct _p_Team *Team;

/* What there is to work on. */
typedef enum { WORK_FLUID, WORK_SOLIDS, WORK_BOTH } TeamWork;

/* Splits `world`; one rank alone plays both roles, and without fluid all ranks are solid ranks. Collective:
   world. */
PetscErrorCode TeamCreate(MPI_Comm world, const TeamConfig *config, TeamWork work, Team *team);
PetscErrorCode TeamDestroy(Team *team);

/* The communicators lend themselves; a rank outside a team gets MPI_COMM_NULL. */
MPI_Comm    team_world(Team team);
MPI_Comm    team_fluid(Team team);
MPI_Comm    team_solid(Team team);
PetscBool   team_has_fluid(Team team);
PetscBool   team_has_solids(Team team);
PetscMPIInt team_first_solid_rank(Team team); /* in the world */
/* How many of `ranks` work on the solids alone; not below `ranks` with fluid: too few. */
PetscInt team_config_solid_ranks(const TeamConfig *config, TeamWork work, PetscMPIInt ranks);

/* Before a call over the world for which the fluid may come late: where ranks share cores, one without fluid
   sleeps until the fluid ranks of its node are there. It orders nothing and moves no data. Every rank calls
   it at the same places. Collective: world. */
PetscErrorCode TeamAwaitFluid(Team team);

/* Refuses a launcher that started N copies of one rank: compares with SLURM_NTASKS. Collective: world. */
PetscErrorCode TeamCheckLauncher(MPI_Comm world, char message[], size_t message_size, PetscBool *good);

MILLRACE_API_END

#endif
