/* A cylinder of 16 cells that is towed through a fluid at rest along x, Re 100: how much its drag depends on
   where it is among the cells. */
#ifndef MILLRACE_TESTS_TOWED_H
#define MILLRACE_TESTS_TOWED_H

#include "scene_run.h"

/* The same thing in three ways; the last has its triangles from the contour of its shape. */
typedef enum { TOWED_BODY, TOWED_OBSTACLE, TOWED_CONTOUR } TowedKind;

typedef struct {
  PetscReal   size[2]; /* of the box, m; a cell has 0.025, the cylinder a diameter of 0.4 */
  PetscReal   start;   /* from the left side to the centre */
  PetscReal   offset;  /* of the centre from a line of the grid, in cells */
  PetscReal   dt;      /* a whole part of 0.025 s, in which it moves by a cell */
  PetscReal   begin, end;
  const char *coupling; /* further keys of that block, such as "faces: tied"; null: none */
  TowedKind   kind;
} Tow;

typedef struct {
  PetscReal mean;
  PetscReal noise, largest; /* less the mean over the time of a cell: root of the mean square, and largest */
} TowedDrag;

/* Between `begin` and `end`, the same on all ranks. Collective: world. */
PetscErrorCode TowCylinder(const Tow *tow, TowedDrag *drag);

#endif
