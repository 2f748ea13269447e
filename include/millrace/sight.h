/* What cannot be looked through: thin shells, at the start and at the end of a step. `coupling` knows them;
   advection, level sets and particles ask. */
#ifndef MILLRACE_SIGHT_H
#define MILLRACE_SIGHT_H

#include <millrace/api.h>
#include <millrace/grid.h>

MILLRACE_API_BEGIN

typedef enum { SIGHT_BEFORE, SIGHT_AFTER } SightMoment; /* the step */

/* How the shell nearest to a point moves over the step, there and around: velocity + slope (x - point). */
typedef struct {
  PetscReal distance; /* to that shell, m; PETSC_INFINITY, and no motion, beyond reach of all */
  Vector3   velocity; /* m/s */
  Matrix3   slope;    /* 1/s */
} SightMotion;

/* Every point has one side of a shell, also one that lies on it; in two dimensions z does not matter. Points
   may lie beyond periodic sides: shells are everywhere that their images are. */
typedef struct {
  Vec near; /* in cells, ghosts valid: 1 within SIGHT_REACH cells of a shell at either moment (and a little
               beyond), else 0 */
  PetscReal   way; /* the farthest that a point within reach of a shell is carried, m */
  const void *context;
  /* Whether a shell lies between two points, each within SIGHT_REACH cells of the other. */
  PetscBool (*blocks)(const void *context, SightMoment moment, Vector3 from, Vector3 to);
  /* To the nearest shell, m; PETSC_INFINITY beyond reach of all. */
  PetscReal (*distance)(const void *context, SightMoment moment, Vector3 point);
  /* Where a point of one moment, moved with the shell nearest to it, is at the other: on the same side of all
     shells. Beyond reach of all shells it stays. */
  Vector3 (*carry)(const void *context, SightMoment to, Vector3 point);
  /* Of the shell nearest to a point of the moment before, there, m/s: the way over the step. */
  Vector3 (*velocity)(const void *context, Vector3 point);
  SightMotion (*motion)(const void *context, Vector3 point); /* the same, with more */
} Sight;
enum { SIGHT_REACH = 4 };

MILLRACE_API_END

#endif
