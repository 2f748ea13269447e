/* What follows a body when it moves, roughly: enough to weigh impulses by, not to move bodies with.

   Its mass is that of the fluid in the body's place (of a cylinder just that, of a sphere half of it). Its
   inertia goes with how much a spin pushes fluid beside a velocity: by the squares of what both bring into
   the cells at the surface, the spin of a ball next to nothing. */
#include "../coupling_impl.h"

/* Of one body: the mass of the fluid in its place, where that is part of the problem; the squares of what
   velocities along one direction bring into cells, the mean; and of what spins do, a matrix. */
enum { DISPLACED, PUSHED, TURNED, TALLY = TURNED + DIM * DIM };

static void add_rows(const CouplingMatrix *rows, PetscInt body, PetscInt dimension,
                     ReproducibleSum tally[TALLY])
{
  for (PetscInt r = rows->first[body]; r < rows->first[body + 1]; r++) {
    const PetscReal *by = &rows->values[TWIST * r];

    for (PetscInt i = 0; i < DIM; i++) {
      sum_add(&tally[PUSHED], by[i] * by[i] / (PetscReal)dimension);
      for (PetscInt j = 0; j < DIM; j++)
        sum_add(&tally[TURNED + DIM * i + j], by[DIM + i] * by[DIM + j]);
    }
  }
}

/* `displaced` is null without fluid, and the same on all ranks that have it; the first has. */
PetscErrorCode CouplingFindAdded(Coupling coupling, const PetscReal displaced[])
{
  const PetscInt   count = coupling->solids.free_count;
  PetscMPIInt      rank;
  ReproducibleSum *sums;
  PetscReal       *tallies;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(coupling->world, &rank));
  PetscCall(PetscCalloc1(TALLY * count, &sums));
  PetscCall(PetscMalloc1(TALLY * count, &tallies));
  for (PetscInt f = 0; f < count && displaced; f++) {
    if (rank == 0)
      sum_add(&sums[TALLY * f + DISPLACED], displaced[coupling->solids.by_slot[f]]);
    add_rows(&coupling->system.matrix, f, grid_box(coupling->grid)->dimension, &sums[TALLY * f]);
  }
  PetscCall(SumOverRanks(coupling->world, TALLY * count, sums, tallies));
  for (PetscInt f = 0; f < count; f++) {
    const PetscReal *tally = &tallies[TALLY * f];
    AddedMass       *added = &coupling->solids.bodies[coupling->solids.by_slot[f]].added;

    *added = (AddedMass){.mass = tally[PUSHED] > 0. ? tally[DISPLACED] : 0.};
    for (PetscInt n = 0; n < DIM * DIM && tally[PUSHED] > 0.; n++)
      added->inertia.at[n / DIM][n % DIM] = added->mass / tally[PUSHED] * tally[TURNED + n];
  }
  PetscCall(PetscFree(sums));
  PetscCall(PetscFree(tallies));
  PetscFunctionReturn(0);
}

AddedMass coupling_added_mass(Coupling coupling, PetscInt body)
{
  return coupling->solids.bodies[body].added;
}
