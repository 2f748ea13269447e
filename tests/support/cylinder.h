/* The cylinder of Schaefer and Turek's channel, 2D-1 (F5), as a body: static, or free and held by a joint. */
#ifndef MILLRACE_TESTS_CYLINDER_H
#define MILLRACE_TESTS_CYLINDER_H

#include "scene_run.h"

typedef enum { CYLINDER_STATIC, CYLINDER_JOINED } CylinderHold;
enum { CYLINDER_DRAG, CYLINDER_LIFT, CYLINDER_PRESSURE_DIFFERENCE, CYLINDER_QUANTITIES };
extern const char *const CylinderNames[CYLINDER_QUANTITIES];
/* Nabh 1998, as FeatFlow gives them. */
extern const PetscReal CylinderReference[CYLINDER_QUANTITIES];

/* At a point of the surface, from the two cells before it (outward: -1 or 1 along x). Collective: fluid. */
PetscErrorCode CylinderSurfacePressure(SceneRun *flow, PetscReal x, PetscReal outward, PetscReal *pressure);
/* At t = 8 with so many cells per diameter and per step; the same on all ranks. Collective: world. */
PetscErrorCode CylinderRun(CylinderHold hold, PetscInt per_diameter, PetscReal cfl,
                           PetscReal results[CYLINDER_QUANTITIES]);

#endif
