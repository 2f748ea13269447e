/* How deep boxes lie in each other: one judge for every code that moves them. */
#ifndef MILLRACE_TESTS_BOXES_H
#define MILLRACE_TESTS_BOXES_H

#include <millrace/base.h>

typedef struct {
  Vector3    half; /* extents */
  Vector3    position;
  Quaternion rotation;
  PetscBool  moves;
} PlacedBox;

/* The shortest way out, by the 15 axes that may separate two boxes; not positive if they are apart. */
PetscReal box_depth(const PlacedBox *a, const PlacedBox *b);

/* Over all pairs that overlap and of which one moves. */
typedef struct {
  PetscReal  largest, sum; /* of the depths */
  PetscInt64 pairs;
} Overlaps;

/* What is found goes on top of what `overlaps` holds. */
PetscErrorCode OverlapsAdd(Overlaps *overlaps, PetscInt count, const PlacedBox boxes[]);

#endif
