/* Private to src/solid: points in a fluid, and their contact within its solve. */
#ifndef MILLRACE_SOLID_IN_FLUID_H
#define MILLRACE_SOLID_IN_FLUID_H

#include "../contact/point_contact.h"
#include "../joint/joint.h"
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

/* Joints between bones, within C (docs/numerics.md, section 15). */
typedef struct {
  PetscInt         count;
  JointConstraint *rows;
  PetscReal       *reach;    /* Y = C^-1 J^T: the unknowns of each row */
  PetscReal       *factor;   /* of G = J Y */
  PetscReal       *wanted;   /* G^-1 times the rates that the rows ask for */
  PetscReal       *impulses; /* of the last solve */
} BoneJoints;

struct PointsInFluid {
  SolidOperator motion;
  SolidPatch   *surfaces; /* of the meshes */
  FluidWalls   *walls;    /* of planar ones */
  PetscInt     *unknown;  /* of every point */
  PetscReal    *right_side, *added;
  PetscReal    *velocity, *offset; /* see SolidOperator */
  SolidMotion   shown;             /* velocities of points and bodies that `velocity` has; borrowed */
  PetscBool    *is_bone;           /* of every body */
  Twist        *bones;             /* velocities that the solve goes on from */
  Twist        *carry;        /* impulses of their joints in the move, which belong to the velocity too */
  Twist         bones_pushed; /* momentum that contact and joints gave them so far */
  BoneJoints    joints;
  Vector3      *begun;                  /* velocities that the solve goes on from */
  Vector3      *left;                   /* places before a move */
  PetscReal    *areas;                  /* see SolidOperator */
  PetscReal    *masses;                 /* of points that viscosity moves, else zero */
  PetscBool     is_implicit;            /* elasticity of this step */
  PetscBool     is_asked;               /* this rank solves for the fluid */
  PetscBool     is_set;                 /* the matrix has these weights, added masses and contacts */
  SurfaceRows   rows;                   /* of the stiffened C; owned */
  PetscBool     is_known, is_stiffened; /* whether the matrix with them has a factor, once that is known */
  MatrixWeights weights;                /* of C */
};

/* fluid_surface.c: what a fluid gets of the surface of a mesh, from where it was before to where it is. */
PetscErrorCode FluidSurfaceCreate(Points *points, PetscInt mesh);
PetscErrorCode FluidSurfaceDestroy(FluidWalls *walls);
void           fluid_surface_place(Points *points, PetscInt mesh, const Vector3 before[]);

/* A solve of (5.13): what C takes of damping and stiffness, and which contacts it has. */
typedef struct {
  PointContactPhase phase;
  PetscReal         time, dt, damping, stiffness;
} FluidSolve;

/* in_fluid.c: C^-1 without joints. */
PetscErrorCode PointsSolveInFluid(Solid solid, const PetscReal from[], PetscReal to[]);

/* fluid_bones.c: unknowns behind those of points. */
PetscErrorCode BonesCreate(Solid solid);
PetscErrorCode BonesDestroy(Points *points);
void           bones_pack(Solid solid, const Twist bodies[], PetscReal unknowns[]);
void           bones_unpack(Solid solid, const PetscReal unknowns[], Twist bodies[]);
/* Adds an impulse to the right side of a bone. What they begin a solve with, and that in the right side. */
void  bone_push(const Twist *push, PetscReal right_side[]);
void  bones_begin(Solid solid, const FluidSolve *solve, const Twist bodies[]);
void  bones_fill(Solid solid);
Twist bones_momentum(Solid solid, const Twist bodies[]); /* and that about the origin */
/* Rows of joints for a solve; then, with C known, what follows from them; their part in a solution of C; and
   their impulses when that is the last one. */
void           bone_joints_begin(Solid solid, const FluidSolve *solve);
PetscErrorCode BoneJointsSet(Solid solid);
void           bone_joints_project(Solid solid, PetscReal unknowns[]);
void           bone_joints_found(Solid solid);
Twist          bone_joints_sum(Solid solid); /* about the origin */

/* chamber.c: cloth that closes a chamber moves by what the fluid says that the chamber has grown, in a move
   from `left`. */
void solid_keep_chambers(Solid solid, PetscReal dt);

/* fluid_contact.c: the contacts that hold at first in the solve for the move, or for the velocities after it.
 */
void     fluid_contacts_begin(Solid solid, PointContactPhase phase, PetscReal dt);
PetscInt fluid_contacts_held(Solid solid);
/* What held contacts add to C and, after that, to the right side. */
PetscErrorCode FluidContactsAddTo(Solid solid, PointMatrix matrix);
void           fluid_contacts_push(Solid solid, Twist bodies[], Vector3 impulses[]);
/* Contacts begin or cease to hold, stick or slide, as a solution shows; whether any does. */
PetscBool fluid_contacts_switch(Solid solid, const SolidMotion *motion);
/* The impulse of contact and its moment about the origin, at that solution. */
void fluid_contacts_sum(Solid solid, const SolidMotion *motion, PetscReal impulse[2 * DIM]);

#endif
