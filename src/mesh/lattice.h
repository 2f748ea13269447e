/* The body-centred cubic lattice around a shape. Private to src/mesh. */
#ifndef MILLRACE_MESH_LATTICE_H
#define MILLRACE_MESH_LATTICE_H

#include <millrace/geometry.h>
#include "mesh_impl.h"

/* Vertices are the corners of cubes, then their centres. Long edges join neighbours of the same kind, short
   ones a centre with its eight corners. The shape lies at least a cube away from the outer vertices. */
typedef struct {
  Shape      shape; /* borrowed */
  PetscInt   cells[DIM];
  PetscInt   corner_count, vertex_count;
  Vector3    low;
  PetscReal  spacing;  /* of the cubes, the length of a long edge */
  PetscReal *distance; /* of each vertex from the shape, negative inside */
} BccLattice;

/* `message` says what is wrong with shape or spacing, and then the lattice holds nothing. */
PetscErrorCode BccLatticeCreate(Shape shape, PetscReal spacing, BccLattice *lattice, char message[],
                                size_t message_size);
PetscErrorCode BccLatticeDestroy(BccLattice *lattice);

Vector3  lattice_place(const BccLattice *lattice, PetscInt vertex);
PetscInt lattice_corner(const BccLattice *lattice, const PetscInt cell[DIM], PetscInt bits);
PetscInt lattice_centre(const BccLattice *lattice, const PetscInt cell[DIM]);

static inline PetscBool lattice_is_centre(const BccLattice *lattice, PetscInt vertex)
{
  return vertex >= lattice->corner_count ? PETSC_TRUE : PETSC_FALSE;
}

/* Calls `visit` for every tetrahedron: a centre, two corners, the next centre; positive. */
typedef PetscErrorCode (*VisitTetrahedron)(const PetscInt vertices[4], void *context);
PetscErrorCode BccLatticeVisit(const BccLattice *lattice, VisitTetrahedron visit, void *context);

/* Whether the shape may reach into a tetrahedron; false: it does not. */
PetscBool shape_may_reach(Shape shape, const Vector3 corner[4]);

#endif
