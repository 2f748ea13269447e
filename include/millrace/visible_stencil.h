/* Values around a place as they are seen from there, past the shells of a VisibilityMap.

   A cell that is no neighbour is seen from a place if a path through neighbours that see each other leads to
   it, always away from the place: around no corner. In cells that are not seen the values are extrapolated
   from seen ones, linearly but without changing sign: a distance has no interface there. */
#ifndef MILLRACE_VISIBLE_STENCIL_H
#define MILLRACE_VISIBLE_STENCIL_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/visibility.h>
#include <millrace/visibility_map.h>

MILLRACE_API_BEGIN

/* Cells along a stencil, at most. */
enum { VISIBLE_STENCIL_WIDTH = 7 };

/* A square or cube of values. */
typedef struct {
  PetscInt  width, stride[MILLRACE_DIM];
  PetscInt  centre; /* index of the cell around which it lies, or of the corner below the point */
  PetscReal fraction[MILLRACE_DIM]; /* of the point, from that corner, in cells */
  PetscReal value[VISIBLE_STENCIL_WIDTH * VISIBLE_STENCIL_WIDTH * VISIBLE_STENCIL_WIDTH];
} VisibleStencil;

/* Around a cell, `reach` (at most three) cells to every side, at the end of the step. */
void visible_stencil_of_cell(const VisibilityMap *map, PetscInt c, PetscInt reach, const PetscReal values[],
                             VisibleStencil *stencil);
/* Around a point, two cells to every side; false if none of them is seen from it. */
PetscBool visible_stencil_at_point(const VisibilityMap *map, StepMoment moment, Vector3 point,
                                   const PetscReal values[], VisibleStencil *stencil);
PetscReal visible_stencil_linear(const VisibleStencil *stencil, PetscInt dimension); /* at the point */
/* A cell field at a point as seen from there at the end of the step; false as above. */
PetscBool sample_visible_cells(const VisibilityMap *map, const PetscReal values[], Vector3 point,
                               PetscReal *value);
/* Velocity at a point at the start of the step as seen from `eye`: behind a shell the flow relative to it
   goes on as before it. */
Vector3 sample_visible_faces(const VisibilityMap *map, PetscReal *const faces[MILLRACE_DIM], Vector3 eye,
                             Vector3 point);
/* The last point of the way from one point to another that the first one sees, to a 256th of the way. */
Vector3 last_visible(const Visibility *visibility, StepMoment moment, Vector3 from, Vector3 to);
/* The end of a trajectory from `start`, start + dt u(start + dt/2 u(start)), with u as above; `reach` (m) at
   most along each axis. */
Vector3 visible_trajectory(const VisibilityMap *map, PetscReal *const faces[MILLRACE_DIM], Vector3 eye,
                           Vector3 start, PetscReal dt, PetscReal reach);

MILLRACE_API_END

#endif
