/* Laws that every mesh obeys. Everything aborts the test on trouble. */
#ifndef MILLRACE_TESTS_MESH_H
#define MILLRACE_TESTS_MESH_H

#include <millrace/mesh.h>
#include "harness.h"

/* MeshCheck finds nothing; its message is part of the failure. */
void assert_is_sound(Mesh mesh, MeshPlacement placement);
/* The boundary has no boundary: each of its edges (ends) is run through as often one way as the other. */
void assert_boundary_is_closed(Mesh mesh);
/* The volume within the boundary, by the divergence theorem; the area within it for plane triangles. */
PetscReal measure_within_boundary(Mesh mesh);
/* Vertices - edges + triangles - tetrahedra, of linear elements. */
PetscInt euler_characteristic(Mesh mesh);
/* The same of the boundary's triangles: 2 per sphere, 0 per torus. */
PetscInt boundary_euler_characteristic(Mesh mesh);
/* Bit for bit. */
PetscBool are_equal_meshes(Mesh a, Mesh b);
/* Over all tetrahedra; degrees. */
void extreme_dihedral_angles(Mesh mesh, PetscReal *smallest, PetscReal *largest);

#endif
