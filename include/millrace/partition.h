/* Work that is shared among ranks: vertices of a graph, whose neighbours need each other's values. */
#ifndef MILLRACE_PARTITION_H
#define MILLRACE_PARTITION_H

#include <petscsys.h>

#include <millrace/api.h>

MILLRACE_API_BEGIN

/* The vertices of this rank. All ranks together number them from 0, one rank after the other; a rank may have
   none. An edge stands with both of its vertices, and no vertex is its own neighbour. */
typedef struct {
  PetscInt  count;
  PetscInt *first;      /* neighbours of the n-th: from first[n] to first[n + 1] - 1 */
  PetscInt *neighbours; /* numbers */
  PetscInt *work;       /* of each vertex, not negative */
} PartitionGraph;

/* ParMETIS where configure has found it, else PT-Scotch where PETSc has it, else consecutive numbers with
   equal work. */
typedef enum { PARTITION_PARMETIS, PARTITION_PTSCOTCH, PARTITION_SLICES } Partitioner;
PetscBool   partitioner_is_there(Partitioner partitioner);
Partitioner partitioner_best(void);

/* The part, from 0 to parts - 1, of each vertex of this rank: about equal work in each, and few edges between
   them. A part may stay empty. Collective: comm. */
PetscErrorCode PartitionFind(MPI_Comm comm, Partitioner partitioner, const PartitionGraph *graph,
                             PetscInt parts, PetscInt part[]);

/* The same of a graph that is divided already, as `part` says when it comes: about equal work again, few
   edges between parts, and little that changes its part. Collective: comm. */
PetscErrorCode PartitionImprove(MPI_Comm comm, Partitioner partitioner, const PartitionGraph *graph,
                                PetscInt parts, PetscInt part[]);

MILLRACE_API_END

#endif
