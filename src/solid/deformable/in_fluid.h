/* Private to src/solid: points in a fluid, and their contact within its solve. */
#ifndef MILLRACE_SOLID_IN_FLUID_H
#define MILLRACE_SOLID_IN_FLUID_H

#include "../contact/point_contact.h"
#include "point_matrix.h"

#include <millrace/solid_step.h>

/* The prism of unit depth over a planar mesh: a wall of four vertices and two triangles for each edge of its
   boundary. */
typedef struct {
  PetscInt  edge_count, *edges; /* points, two for each */
  PetscInt *unknown;
  Vector3  *vertices[3]; /* before, now and their velocity */
  PetscInt (*triangles)[3];
} FluidWalls;

struct PointsInFluid {
  SolidOperator motion;
  SolidPatch   *surfaces; /* of the meshes */
  FluidWalls   *walls;    /* of planar ones */
  PetscInt     *unknown;  /* of every point */
  PetscReal    *right_side, *added;
  Vector3      *begun;       /* velocities that the solve goes on from */
  Vector3      *left;        /* places before a move */
  PetscReal    *areas;       /* see SolidOperator */
  PetscReal    *masses;      /* of points that viscosity moves, else zero */
  Twist        *bodies;      /* velocities of bodies meanwhile; borrowed */
  PetscBool     is_implicit; /* elasticity of this step */
  PetscBool     is_asked;    /* this rank solves for the fluid */
  PetscBool     is_set;      /* the matrix has these weights, added masses and contacts */
  MatrixWeights weights;     /* of C */
};

/* fluid_surface.c: what a fluid gets of the surface of a mesh, from where it was before to where it is. */
PetscErrorCode FluidSurfaceCreate(Points *points, PetscInt mesh);
PetscErrorCode FluidSurfaceDestroy(FluidWalls *walls);
void           fluid_surface_place(Points *points, PetscInt mesh, const Vector3 before[]);

/* chamber.c: cloth that closes a chamber moves by what the fluid says that the chamber has grown, in a move
   from `left`. */
void solid_keep_chambers(Solid solid, PetscReal dt);

/* fluid_contact.c: the contacts that hold at first in the solve for the move, or for the velocities after it.
 */
void     fluid_contacts_begin(Solid solid, PointContactPhase phase, PetscReal dt);
PetscInt fluid_contacts_held(Solid solid);
/* What held contacts add to C and, after that, to the right side. */
PetscErrorCode FluidContactsAddTo(Solid solid, PointMatrix matrix);
void           fluid_contacts_push(Solid solid, Twist bodies[], PetscReal right_side[]);
/* Contacts begin or cease to hold, stick or slide, as a solution shows; whether any does. */
PetscBool fluid_contacts_switch(Solid solid, const SolidMotion *motion);
/* The impulse of contact and its moment about the origin, at that solution. */
void fluid_contacts_sum(Solid solid, const SolidMotion *motion, PetscReal impulse[2 * DIM]);

#endif
