/* Writes files of Gmsh, for tests of the reader. */
#ifndef MILLRACE_TESTS_GMSH_FILE_H
#define MILLRACE_TESTS_GMSH_FILE_H

#include <millrace/mesh.h>

typedef enum { GMSH_FILE_TEXT, GMSH_FILE_BINARY, GMSH_FILE_SWAPPED } GmshFileMode;

typedef struct {
  int          version;   /* 2 or 4 */
  GmshFileMode mode;      /* SWAPPED: binary, of a machine with the other order of bytes */
  PetscInt     first_tag; /* of the nodes; they go on in steps of three */
} GmshFileKind;

/* The mesh with a point element before and a node that nothing has behind; elements count from 100. */
void write_gmsh_file(const char path[], const GmshFileKind *kind, Mesh mesh);

#endif
