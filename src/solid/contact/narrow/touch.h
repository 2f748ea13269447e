/* Narrow phase: where two bodies touch or are about to. */
#ifndef MILLRACE_SOLID_TOUCH_H
#define MILLRACE_SOLID_TOUCH_H

#include "../../rigid/form.h"

#include <stdint.h>

/* One place where two bodies are nearest to each other. */
typedef struct {
  Vector3   point;   /* world: half-way between the two surfaces */
  Vector3   normal;  /* unit, from the first body to the second */
  PetscReal gap;     /* between the surfaces along the normal; negative: depth */
  uint32_t  feature; /* names the point from step to step (vertex, edges, face); 0 if there is only one */
} Touch;

enum { TOUCH_CAPACITY = 16 };

/* All places with a gap of at most `reach`, at most 4 for two convex forms; returns their
   number. Swapping the bodies gives the same places with the normals reversed. */
PetscInt find_touches(const Form *a, const RigidTransform *at_a, const Form *b, const RigidTransform *at_b,
                      PetscReal reach, Touch touches[TOUCH_CAPACITY]);

#endif
