/* Which bodies rest on which, and the order from the ground upwards in which contacts are worked off. */
#ifndef MILLRACE_SOLID_GRAPH_H
#define MILLRACE_SOLID_GRAPH_H

#include <millrace/base.h>

typedef struct _p_ContactGraph *ContactGraph;

PetscErrorCode ContactGraphCreate(PetscInt body_count, ContactGraph *graph);
PetscErrorCode ContactGraphDestroy(ContactGraph *graph);

/* The level of every body, from 0 to `level_count` - 1; an edge {from, to} says that `to` rests on `from`.
   Bodies that are `fixed` are on level 0; any other is one above the highest it rests on, and on level 1 if
   it rests on none. Bodies that rest on each other in a circle share a level. The order of the edges does
   not matter. `levels` is lent until the next call. */
PetscErrorCode ContactGraphSort(ContactGraph graph, const PetscBool fixed[], PetscInt edge_count,
                                const PetscInt (*edges)[2], PetscInt *level_count, const PetscInt **levels);

/* The pairs of bodies by the levels of the last sort, lowest first: a pair is on the higher level of its two
   bodies, and pairs of the same level stay as they are given. `order` is lent until the next call. */
PetscErrorCode ContactGraphOrder(ContactGraph graph, PetscInt pair_count, const PetscInt (*pairs)[2],
                                 const PetscInt **order);

/* Where the levels begin in the last order: the pairs of level k are order[starts[k]], ...,
   order[starts[k + 1] - 1]. Lent until the next order. */
PetscErrorCode ContactGraphGetStarts(ContactGraph graph, const PetscInt **starts);

#endif
