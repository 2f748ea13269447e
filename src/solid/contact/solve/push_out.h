/* Pushes all bodies that overlap a central one out of it at the same time (thesis, 3.6.1). */
#ifndef MILLRACE_SOLID_PUSH_OUT_H
#define MILLRACE_SOLID_PUSH_OUT_H

#include "../../solid_impl.h"

typedef enum {
  PUSH_FULLY,        /* the whole separation, by impulses in any direction: (3.1), (3.2) */
  PUSH_ALONG_NORMALS /* its part along the normal, by impulses along the normal: (3.3), (3.4) */
} PushMode;

/* A point at which a body overlaps the central one. There may be several of a body, one after the other. */
typedef struct {
  PetscInt body;
  Vector3  point;
  Vector3  separation; /* wanted displacement of this body relative to the central one at the point */
  Vector3  normal;     /* unit; used by PUSH_ALONG_NORMALS alone */
} Outer;

/* Small displacements (translation, rotation vector) of the central body and, for every entry of `outers`, of
   its body. Bodies without mobility keep their place and, where they touch the central one, prescribe its
   motion. The others then take their separations; the impulses sum to zero if all can move. What cannot be
   met at all points of a body, or of all that keep their place, is met in the sense of least squares. */
void push_out(PushMode mode, const Vector3 centres[], const Mobility mobilities[], PetscInt central,
              PetscInt count, const Outer outers[], Twist *central_move, Twist outer_moves[]);

#endif
