/* From the two ends of an edge to a number. Private to src/mesh. */
#ifndef MILLRACE_MESH_EDGE_MAP_H
#define MILLRACE_MESH_EDGE_MAP_H

#include "mesh_impl.h"

/* A table of open addresses, at most half full; what it answers does not depend on the order of entries. */
typedef struct {
  PetscInt count, room; /* room: a power of two */
  PetscInt (*ends)[2];  /* lower first; -1: free */
  PetscInt *value;
} EdgeMap;

PetscErrorCode EdgeMapCreate(PetscInt expected, EdgeMap *map);
PetscErrorCode EdgeMapDestroy(EdgeMap *map);
/* The edge must not be there yet. */
PetscErrorCode EdgeMapAdd(EdgeMap *map, PetscInt a, PetscInt b, PetscInt value);
PetscInt       edge_map_find(const EdgeMap *map, PetscInt a, PetscInt b); /* -1: not there */

/* The vertices in the middle of edges, by mesh->parents. */
PetscErrorCode EdgeMapCreateMiddles(Mesh mesh, EdgeMap *map);

#endif
