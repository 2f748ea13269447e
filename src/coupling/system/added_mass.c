/* What follows a body when it moves, roughly: enough to weigh impulses by, not to move bodies with.

   Its mass is that of the fluid in the body's place (of a cylinder just that, of a sphere half of it). Its
   inertia goes with how much a spin pushes fluid beside a velocity: by the squares of what both bring into
   the cells at the surface, the spin of a ball next to nothing. */
#include "../coupling_impl.h"

/* Of one body. */
typedef struct {
  PetscReal displaced; /* mass of the fluid in its place, where that is part of the problem */
  PetscReal pushed;    /* square of what velocities along one direction bring into cells, the mean */
  Matrix3   turned;    /* and of what spins do */
} Tally;

static void add_rows(const CouplingMatrix *rows, PetscInt body, PetscInt dimension, Tally *tally)
{
  for (PetscInt r = rows->first[body]; r < rows->first[body + 1]; r++) {
    const PetscReal *by = &rows->values[TWIST * r];

    for (PetscInt i = 0; i < DIM; i++) {
      tally->pushed += by[i] * by[i] / (PetscReal)dimension;
      for (PetscInt j = 0; j < DIM; j++)
        tally->turned.at[i][j] += by[DIM + i] * by[DIM + j];
    }
  }
}

/* `displaced` is null without fluid, and the same on all ranks that have it; the first has. */
PetscErrorCode CouplingFindAdded(Coupling coupling, const PetscReal displaced[])
{
  const PetscInt numbers = sizeof(Tally) / sizeof(PetscReal);
  PetscMPIInt    rank;
  Tally         *tallies;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(coupling->world, &rank));
  PetscCall(PetscCalloc1(coupling->solids.free_count, &tallies));
  for (PetscInt f = 0; f < coupling->solids.free_count && displaced; f++) {
    tallies[f].displaced = rank == 0 ? displaced[coupling->solids.by_slot[f]] : 0.;
    add_rows(&coupling->system.matrix, f, grid_box(coupling->grid)->dimension, &tallies[f]);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, tallies, (PetscMPIInt)(numbers * coupling->solids.free_count),
                             MPIU_REAL, MPI_SUM, coupling->world));
  for (PetscInt f = 0; f < coupling->solids.free_count; f++) {
    const Tally *tally = &tallies[f];
    AddedMass   *added = &coupling->solids.bodies[coupling->solids.by_slot[f]].added;

    *added = (AddedMass){.mass = tally->pushed > 0. ? tally->displaced : 0.};
    for (PetscInt n = 0; n < DIM * DIM && tally->pushed > 0.; n++)
      added->inertia.at[n / DIM][n % DIM] = added->mass / tally->pushed * tally->turned.at[n / DIM][n % DIM];
  }
  PetscCall(PetscFree(tallies));
  PetscFunctionReturn(0);
}

AddedMass coupling_added_mass(Coupling coupling, PetscInt body)
{
  return coupling->solids.bodies[body].added;
}
