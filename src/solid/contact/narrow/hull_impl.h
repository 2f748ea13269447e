/* Private to the contact of hulls. */
#ifndef MILLRACE_SOLID_HULL_IMPL_H
#define MILLRACE_SOLID_HULL_IMPL_H

#include "hull.h"
#include "touch_kinds.h"

/* A hull with its parts turned to the world's axes, about an origin near to it. */
typedef struct {
  Hull      hull; /* borrowed */
  Vector3   corners[HULL_CORNERS];
  Vector3   normals[HULL_FACES];
  PetscReal offsets[HULL_FACES];
  Vector3   directions[HULL_EDGES];
} PlacedHull;

/* The nearest points of two segments, as parts of the way along each. */
void nearest_on_segments(const Vector3 first[2], const Vector3 second[2], PetscReal parts[2]);

static inline Vector3 point_between(Vector3 from, Vector3 to, PetscReal part)
{
  return vector3_add(vector3_scale(1 - part, from), vector3_scale(part, to));
}

/* All places with a gap of at most `reach` on the two faces; see hull_clip.c. */
typedef struct {
  const PlacedHull *reference, *incident;
  PetscInt          face;  /* of the reference */
  PetscReal         sense; /* 1: the reference is the first body, else -1 */
} FaceContact;
PetscInt clip_faces(const FaceContact *contact, PetscReal reach, Touch touches[]);

/* One place where two separate hulls are nearest, if nearer than `reach`. `normal` (from a to b) parts them
   by `separation` at least. */
PetscInt touch_nearest(const PlacedHull *a, const PlacedHull *b, Vector3 normal, PetscReal separation,
                       PetscReal reach, Touch *touch);

#endif
