/* Distances from a surface, tabulated on a regular grid around it. */
#ifndef MILLRACE_SOLID_DISTANCE_GRID_H
#define MILLRACE_SOLID_DISTANCE_GRID_H

#include "form.h"

typedef enum {
  DISTANCE_SIGNED,  /* negative inside a closed surface */
  DISTANCE_UNSIGNED /* of any surface */
} DistanceSign;

/* `cells` along the longest side of the surface, which is borrowed. */
PetscErrorCode DistanceGridCreate(Surface surface, DistanceSign sign, PetscInt cells, DistanceGrid *grid);
PetscErrorCode DistanceGridDestroy(DistanceGrid *grid);
PetscReal      distance_grid_spacing(DistanceGrid grid);
/* Where the grid cannot show the surface (thin walls; near a surface without a sign) the surface itself is
   asked up to this distance; 0 if the grid shows it well. */
PetscReal distance_grid_band(DistanceGrid grid);

/* With its gradient (unit). Within a cell of the surface and without sharp edges near by the error falls as
   the square of the spacing; outside the grid the distance is a little too large. */
PetscReal distance_grid_value(DistanceGrid grid, Vector3 point, Vector3 *gradient);

#endif
