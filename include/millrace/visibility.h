/* Which points see each other past thin shells, at the start and at the end of a step.

   The room that knows the shells (`coupling`) fills a Visibility; advection, level sets and particles ask it.
   A null Visibility means that there are no shells.

   Every point has one side of a shell, also a point that lies on it. In two dimensions z does not matter.
   Points may lie beyond periodic sides: shells are everywhere that their images are. */
#ifndef MILLRACE_VISIBILITY_H
#define MILLRACE_VISIBILITY_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/grid.h>

MILLRACE_API_BEGIN

/* At which end of a time step. */
typedef enum { STEP_START, STEP_END } StepMoment;

/* Velocity of the shell nearest to a point, there and around it: velocity + slope (x - point). */
typedef struct {
  PetscReal distance; /* to that shell, m; PETSC_INFINITY, and no motion, beyond reach of all */
  Vector3   velocity; /* m/s: displacement over the step, divided by its length */
  Matrix3   slope;    /* 1/s */
} ShellMotion;

/* How far queries reach, in cells. */
enum { VISIBILITY_REACH = 4 };

typedef struct {
  Vec near; /* cell field, ghosts valid: 1 within VISIBILITY_REACH cells of a shell at either moment (and a
               little beyond), else 0 */
  PetscReal   way;     /* the farthest that a point within reach of a shell is carried by it, m */
  const void *context; /* the first argument of all queries */
  /* Whether a shell lies between two points, each within VISIBILITY_REACH cells of the other. */
  PetscBool (*blocks)(const void *context, StepMoment moment, Vector3 from, Vector3 to);
  /* Distance to the nearest shell, m; PETSC_INFINITY beyond reach of all. */
  PetscReal (*distance)(const void *context, StepMoment moment, Vector3 point);
  /* The place at moment `to` of a point of the other moment that moves with the shell nearest to it: on the
     same side of all shells. Beyond reach of all shells the point stays. */
  Vector3 (*carry)(const void *context, StepMoment to, Vector3 point);
  /* Whether a point that is at `from` at the start of the step and at `to` at its end has come to the other
     side of a shell, however it got there: by other means than the rest. */
  PetscBool (*crosses)(const void *context, Vector3 from, Vector3 to);
  /* Velocity at a point of the start of the step of the shell nearest to it, m/s. */
  Vector3 (*velocity)(const void *context, Vector3 point);
  /* That velocity, its slope and the distance of the shell. */
  ShellMotion (*motion)(const void *context, Vector3 point);
} Visibility;

MILLRACE_API_END

#endif
