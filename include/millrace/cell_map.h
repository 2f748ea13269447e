/* Cells that hold no fluid of their own: a cell field of marks, 0 in open cells, else a kind and a number.
   Marks are exact in a PetscReal, and those of sources are larger than those of walls: of the two cells
   beside a face the larger mark decides. */
#ifndef MILLRACE_CELL_MAP_H
#define MILLRACE_CELL_MAP_H

#include <millrace/api.h>

#include <petscsys.h>

MILLRACE_API_BEGIN

typedef enum {
  CELL_OPEN,
  CELL_WALL,  /* an obstacle, a body, or a liquid as a one-way gas meets it */
  CELL_SOURCE /* a region that gives its velocity and scalars */
} CellKind;

typedef struct {
  CellKind kind;
  PetscInt index; /* among the walls or the sources */
} CellCover;

#define CELL_SOURCE_MARKS 1e12 /* above those of all walls */

static inline PetscReal cell_mark(CellKind kind, PetscInt index)
{
  return kind == CELL_OPEN ? 0. : (kind == CELL_SOURCE ? CELL_SOURCE_MARKS : 0.) + 1. + (PetscReal)index;
}

static inline CellCover cell_cover(PetscReal mark)
{
  if (mark <= 0.)
    return (CellCover){CELL_OPEN, 0};
  if (mark > CELL_SOURCE_MARKS)
    return (CellCover){CELL_SOURCE, (PetscInt)(mark - CELL_SOURCE_MARKS) - 1};
  return (CellCover){CELL_WALL, (PetscInt)mark - 1};
}

MILLRACE_API_END

#endif
