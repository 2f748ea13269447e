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

/* A contact that the solve has (fluid_contact.c). */
typedef struct {
  uint64_t      key; /* of two features of meshes; else it is one of PointContact, in the order of these */
  RelativePlace at;
  Vector3       normal; /* unit, to the first feature, or out of the body */
  PetscReal     friction;
  PetscReal     slack;      /* m: gaps below it are closed */
  PetscReal     least;      /* m/s: it opens with this */
  PetscReal     opening[2]; /* m/s: where a way of velocities begins and ends */
  PetscBool     may_hold;   /* it can be held in this solve, */
  PetscBool     held;       /* is, */
  PetscBool     sticks;     /* does not slide, */
  PetscBool     has_slid;   /* or has slid in it, and come back */
  Vector3       sliding;    /* it slides along this direction */
  PetscReal     bound;      /* N s: against this impulse, */
  PetscReal     turning;    /* kg: which turns with the velocity aside by so much */
  PetscReal     penalty;    /* kg: by an impulse of this times what is lacking */
} FluidContact;

typedef struct {
  PetscInt      count, room, of_bodies; /* the first are with bodies, then those of meshes by their keys */
  FluidContact *list;                   /* owned */
  PetscBool     rest;                   /* until the next solve begins */
  PointContactPhase phase;
  PetscReal         dt;
  PetscInt          rubs, drags; /* in this solve, so far: friction on bodies and between meshes found anew */
} FluidContacts;

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
  FluidContacts contacts;
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
  PetscReal     springs;                /* of C: stiffness of soft bindings */
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
Twist bone_push_about(Solid solid, PetscInt body, Twist push); /* the origin instead of its centre */
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
PetscErrorCode FluidContactsBegin(Solid solid, PointContactPhase phase, PetscReal dt);
PetscErrorCode FluidContactsForget(Points *points);
PetscInt       fluid_contacts_held(Solid solid);
/* A matrix for these contacts, where there is none or another. What held ones add to it and, after that, to
   the right side: their impulses on points that moved like this. */
PetscErrorCode FluidContactsCreateMatrix(Solid solid, PetscReal tolerance, PointMatrix *matrix);
PetscErrorCode FluidContactsAddTo(Solid solid, PointMatrix matrix);
/* Soft bindings likewise. */
PetscErrorCode FluidSpringsAddTo(Solid solid, PointMatrix matrix);
void           fluid_springs_push(Solid solid, const Vector3 velocity[], Vector3 impulses[]);
void           fluid_contacts_push(Solid solid, const SolidMotion *motion, Vector3 impulses[]);
/* Newton's method for what presses: with the velocities at both ends of a way noted, and the curvature that C
   has along it, the part of the way where the sum of all energies is least; contacts that press there hold,
   the others let go. Whether any does. */
typedef enum { CONTACT_FROM, CONTACT_TO } ContactEnd;
void      fluid_contacts_note(Solid solid, const SolidMotion *motion, ContactEnd end);
PetscReal fluid_contacts_part(Solid solid, PetscReal curvature);
PetscBool fluid_contacts_switch(Solid solid, PetscReal part);
/* Those that come too near by these velocities and were not known join in; the others stick or slide by them.
 */
PetscErrorCode FluidContactsFindNew(Solid solid, const SolidMotion *motion, PetscBool *found);
PetscBool      fluid_contacts_rub(Solid solid, const SolidMotion *motion);
/* Between meshes friction is a drag, of what presses by these velocities over how fast they slide. */
void fluid_contacts_drag(Solid solid, const SolidMotion *motion);
/* m: the least of all; very large without any. */
PetscReal fluid_contacts_slack(Solid solid);

#endif
