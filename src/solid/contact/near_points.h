/* Private to src/solid: points for contact between the vertices of a surface, which come and go. */
#ifndef MILLRACE_SOLID_NEAR_POINTS_H
#define MILLRACE_SOLID_NEAR_POINTS_H

#include "../deformable/points.h"
#include "broad/pairs.h"

Bounds    bounds_empty(void);
void      bounds_include(Bounds *box, Vector3 point);
PetscBool boxes_meet(const Bounds *a, const Bounds *b, PetscReal margin);

PetscBool mesh_has_near_points(const DeformableMesh *mesh);
/* m: how near a body is that they are there for, besides what moves in the step. */
PetscReal near_points_reach(const DeformableMesh *mesh);
/* All of them rest; then those near a body follow their parents again. `margin` is the reach and what the
   body moves. */
void near_points_rest(Points *points, const DeformableMesh *mesh, const SolidMotion *motion);
void near_points_wake(Solid solid, const DeformableMesh *mesh, PetscInt body, PetscReal margin, PetscReal dt,
                      const SolidMotion *motion);

#endif
