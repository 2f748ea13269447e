/* Surfaces written to a file of the scratch directory and read again. For tests on one rank, in_scratch. */
#ifndef MILLRACE_TESTS_SURFACE_H
#define MILLRACE_TESTS_SURFACE_H

#include "scratch.h"
#include <millrace/geometry.h>

#define CUBE_VERTICES "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\n"
#define CUBE_FACES "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n"

/* What was last said of a file, empty if nothing. */
extern char surface_message[512];

/* The file is surface.`suffix`, and its path scratch.path. */
void write_surface(const char suffix[], const void *bytes, size_t size);

/* A closed surface, or null and a message. */
Surface read_bytes(const char suffix[], const void *bytes, size_t size);
Surface read_text(const char suffix[], const char text[]);

/* The mistake is in this line, or nowhere in particular if 0. */
void assert_refused_at(const char suffix[], const char text[], int line);

/* Destroys the surface. */
void assert_is_unit_cube(Surface surface);

#endif
