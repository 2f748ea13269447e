/* Reading files of Gmsh. Private to src/mesh. */
#ifndef MILLRACE_MESH_GMSH_H
#define MILLRACE_MESH_GMSH_H

#include <millrace/source.h>
#include "mesh_impl.h"

typedef enum { GMSH_TEXT, GMSH_BINARY } GmshMode;

/* A kind of element of the format. */
typedef struct {
  PetscInt number, dimension, nodes;
  PetscInt order; /* 1 or 2 of those that we have; 0 of others */
} GmshType;

typedef struct {
  Source    source;
  MeshKind  kind; /* that is wanted */
  GmshMode  mode;
  PetscInt  version;    /* 2 for 2.2, 4 for 4.1 */
  PetscBool is_swapped; /* bytes of numbers are in the other order */

  PetscInt  node_count, node_room, tag_room;
  Vector3  *nodes;
  PetscInt *tags; /* of the nodes */

  PetscInt  order; /* of the elements kept; 0: none yet */
  PetscInt  element_count, entry_count, entry_room, number_room;
  PetscInt *entries; /* tags of the nodes of elements */
  PetscInt *numbers; /* of the elements */
} GmshFile;

/* These note the failure and answer false when there is no such number. `bytes`: 4 or 8, of a binary file. */
PetscBool gmsh_integer(GmshFile *file, int bytes, PetscInt *value);
PetscBool gmsh_coordinate(GmshFile *file, PetscReal *value);
/* A count of things that take at least so many bytes each: refused where the rest of the file is shorter. */
PetscBool gmsh_count(GmshFile *file, int bytes, size_t each, const char what[], PetscInt *value);

PetscErrorCode GmshReadNodes(GmshFile *file);
PetscErrorCode GmshReadElements(GmshFile *file);

#endif
