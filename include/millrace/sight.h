/* What cannot be looked through: thin shells, at the start and at the end of a step. `coupling` knows them;
   advection, level sets and particles ask. The third header of the room grid. */
#ifndef MILLRACE_SIGHT_H
#define MILLRACE_SIGHT_H

#include <millrace/grid.h>

typedef enum { SIGHT_BEFORE, SIGHT_AFTER } SightMoment; /* the step */

typedef struct {
  Vec near; /* in cells, ghosts valid: 1 within SIGHT_REACH cells of a shell at either moment, else 0 */
  const void *context;
  /* Whether a shell lies between two points, each within SIGHT_REACH cells of the other. */
  PetscBool (*blocks)(const void *context, SightMoment moment, Vector3 from, Vector3 to);
  /* Where a point of one moment, moved with the shell nearest to it, is at the other. Beyond reach of all
     shells it stays. */
  Vector3 (*carry)(const void *context, SightMoment to, Vector3 point);
  /* Of the shell nearest to the point, at that point, m/s: the way over the step. */
  Vector3 (*velocity)(const void *context, Vector3 point);
} Sight;
enum { SIGHT_REACH = 4 };

#endif
