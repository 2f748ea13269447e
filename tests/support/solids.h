/* Surfaces of well-known solids about the origin. For tests on one rank. */
#ifndef MILLRACE_TESTS_SOLIDS_H
#define MILLRACE_TESTS_SOLIDS_H

#include <millrace/geometry.h>

/* Corners x, then y, then z from low to high. */
Surface make_box(Vector3 half);
Surface make_tetrahedron(PetscReal radius);
Surface make_icosahedron(PetscReal radius);
/* Rings about z from bottom to top; a ring of radius zero is one point. Closed if the first and last are. */
Surface make_lathed(PetscInt ring_count, const PetscReal radii[], const PetscReal heights[], PetscInt sides);
Surface make_prism(PetscReal radius, PetscReal half_height, PetscInt sides);
Surface make_ball(PetscReal radius, PetscInt rings, PetscInt sides);
Surface make_disc(PetscReal radius, PetscInt rings, PetscInt sides);
Surface make_ring(PetscReal major, PetscReal minor, PetscInt around, PetscInt sides);

/* A number in [-1, 1) from a seed that moves on. */
PetscReal random_number(uint64_t *seed);
Vector3   random_direction(uint64_t *seed);

#endif
