/* Private to src/solid: points and elements of deformable solids, shared among the ranks of the solid team.

   Each point has an owner. A rank computes the elements that touch its points, those at a seam as its
   neighbour does; their other points are copies here. Points have the same numbers on every rank, in arrays
   for all of them: here are the values of own points and copies, and sums over elements are right at own
   points alone. There they have the terms and the order that they have on one rank, so that no bit depends
   on the number of ranks. What is not shared is done by every rank alike, from values that are gathered.
   Without a distribution all points are own and nothing is sent. Collective: the solid's comm. */
#ifndef MILLRACE_SOLID_DISTRIBUTION_H
#define MILLRACE_SOLID_DISTRIBUTION_H

#include "points.h"

#include <millrace/sums.h>

/* When masses, carriers and hard bindings are known, and before there are forces. */
PetscErrorCode PointsDistribute(Solid solid);
PetscErrorCode DistributionDestroy(Points *points);
/* Points are divided anew, where all ranks have the state and between steps; `extra` is the work at points
   beside that of elements, 60 for a tetrahedron; null: there is none. */
PetscErrorCode PointsDivideAnew(Solid solid, const PetscInt extra[]);
/* Again, when more points have come to move by themselves. */
PetscErrorCode PointsFindOwn(Points *points);

PetscBool   points_owns(const Points *points, PetscInt point);
PetscMPIInt points_owner(const Points *points, PetscInt point);
MPI_Comm    points_comm(const Points *points); /* of the ranks that share them */
/* Values at own points that move by themselves go to their copies; bound points have to follow then. */
PetscErrorCode PointsExchange(Solid solid, Vector3 values[]);
/* Values at all points come to every rank; or at those that free bodies carry; or that contacts push. */
PetscErrorCode PointsGather(Solid solid, Vector3 values[]);
PetscErrorCode PointsGatherCarried(Solid solid, Vector3 values[]);
PetscErrorCode PointsGatherTouched(Solid solid, Vector3 values[]);
/* From contacts that each rank has found at its own points to those of all, in the order of one rank. */
PetscErrorCode PointsGatherContacts(Solid solid);
/* Faces of surfaces that meet are those of the owners of their first corners; when the surfaces are known. */
PetscErrorCode PointsShareSurface(Solid solid);
/* Values at points of these surfaces, or of what carries them, come to every rank. */
PetscErrorCode PointsGatherSurface(Solid solid, Vector3 values[]);
/* Items that ranks have found, one rank after the other; to be freed by PetscFree. */
PetscErrorCode PointsGatherItems(Solid solid, size_t size, PetscInt own, const void *items, PetscInt *count,
                                 void **all);
/* Of own values of an element of a mesh, `width` each: those of all elements, on every rank. */
PetscErrorCode MeshGatherElements(Solid solid, const DeformableMesh *mesh, PetscInt width,
                                  const PetscReal own[], PetscReal all[]);
/* And back. */
void mesh_take_elements(const DeformableMesh *mesh, PetscInt width, const PetscReal all[], PetscReal own[]);

/* Of all ranks: sums, that some rank has marked (not 0), and what the last rank says. */
PetscErrorCode PointsSums(Solid solid, PetscInt count, const ReproducibleSum sums[], PetscReal values[]);
PetscErrorCode PointsMark(Solid solid, PetscInt count, char marks[]);
PetscErrorCode PointsTell(Solid solid, PetscInt count, PetscReal values[]);
PetscErrorCode PointsCount(Solid solid, PetscInt *count); /* of all ranks */
PetscErrorCode PointsLargest(Solid solid, PetscInt count, PetscReal values[]);
/* What the forces report, of all ranks, where the points are: for points_report where there is a
   distribution. And the least ratio of the elements of a mesh. */
PetscErrorCode PointsReportForces(Solid solid);
ForceReport    distribution_report(const Points *points);
PetscReal      mesh_least_ratio(const Points *points, PetscInt mesh, PetscInt *element);
/* After a step: the state of all points comes to every rank, and what forces report. */
PetscErrorCode PointsComplete(Solid solid);

/* The time between these counts as work, less what the calls above take in between. */
void distribution_begin(Points *points);
void distribution_end(Points *points);

#endif
