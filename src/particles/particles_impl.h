#ifndef MILLRACE_PARTICLES_IMPL_H
#define MILLRACE_PARTICLES_IMPL_H

#include <millrace/particles.h>
#include <millrace/visible_stencil.h>

/* Particles side by side, without an order. */
typedef struct {
  PetscInt    width;
  PetscInt    count, capacity;
  Vector3    *positions;
  PetscReal  *values;
  PetscInt64 *numbers;
} ParticleArrays;

/* A place in the order: first by cell, then by number. */
typedef struct {
  PetscInt64 number;
  PetscInt   from; /* where it now lies */
} OrderedParticle;

struct _p_Particles {
  MacGrid          grid; /* borrowed */
  ParticleArrays   now, spare;
  PetscInt        *cells;          /* of each of `now`; as many as its capacity */
  PetscInt         cells_capacity; /* of `cells` and of `entries` */
  OrderedParticle *entries;
  PetscInt        *first; /* one for each owned cell and two more */
  PetscBool        arranged;
  PetscInt         crossed; /* shells, in the last move */
  GridPartition    parts;   /* of the grid */
};

/* storage.c */
/* Room for `count` at least; what is there stays. */
PetscErrorCode ArraysReserve(ParticleArrays *arrays, PetscInt count);
PetscErrorCode ArraysAppend(ParticleArrays *to, const ParticleArrays *from);
PetscErrorCode ArraysDestroy(ParticleArrays *arrays);

/* deliver.c: sends each of `from` to rank `destination` and appends what comes in to `to`, by rank of origin.
   Collective: comm. */
PetscErrorCode ArraysDeliver(MPI_Comm comm, const ParticleArrays *from, const PetscMPIInt destination[],
                             ParticleArrays *to);

/* sort.c: brings `now` into the order of `cells` and numbers, and sets `first`. */
PetscErrorCode ParticlesSort(Particles particles);
PetscErrorCode ParticlesReserveSort(Particles particles, PetscInt count);
PetscErrorCode ParticlesReleaseSort(Particles particles); /* all that only sorting needs, until it does */

/* passage.c: particles near shells. PassageBegin remembers where they start, PassageEnd moves them past the
   shells, whatever others did with them in between. */
typedef struct {
  const VisibilityMap *map; /* borrowed; null: there are no shells */
  PetscReal           *faces[DIM];
  PetscReal            dt, reach; /* m: what a whole step covers at most in each direction */
  PetscInt             count, crossed, *which;
  Vector3             *starts;
} Passage;
PetscErrorCode PassageBegin(Passage *passage, const ParticleArrays *arrays);
PetscErrorCode PassageEnd(Passage *passage, ParticleArrays *arrays);

/* Cells from the lower side of the box, by the inverse of their width: the same number on any rank. */
KERNEL PetscReal cell_place(PetscReal position, PetscReal origin, PetscReal inverse)
{
  return (position - origin) * inverse;
}
static inline void arrays_copy_one(const ParticleArrays *from, PetscInt source, ParticleArrays *to,
                                   PetscInt target)
{
  to->positions[target] = from->positions[source];
  to->numbers[target] = from->numbers[source];
  for (PetscInt v = 0; v < to->width; v++)
    to->values[target * to->width + v] = from->values[source * to->width + v];
}
static inline PetscInt owned_cells(const GridBox *box)
{
  return (box->end[X] - box->start[X]) * (box->end[Y] - box->start[Y]) * (box->end[Z] - box->start[Z]);
}

#endif
