/* Pushes all bodies that overlap a central one out of it at the same time (thesis, 3.6.1). */
#ifndef MILLRACE_SOLID_PUSH_OUT_H
#define MILLRACE_SOLID_PUSH_OUT_H

#include "../solid_impl.h"

typedef enum {
  PUSH_FULLY,        /* the whole separation, by impulses in any direction: (3.1), (3.2) */
  PUSH_ALONG_NORMALS /* its part along the normal, by impulses along the normal: (3.3), (3.4) */
} PushMode;

/* A body that overlaps the central one. What moves is given at most once; what does not, at as many points as
   are known. */
typedef struct {
  PetscInt body;
  Vector3  point;
  Vector3  separation; /* wanted displacement of this body relative to the central one at the point */
  Vector3  normal;     /* unit; used by PUSH_ALONG_NORMALS alone */
} Outer;

/* Small displacements (translation, rotation vector) of the central body and of every outer one. Bodies
   without mobility keep their place and, where they touch the central one, prescribe its motion, in the sense
   of least squares if they disagree. The others take the separations exactly, and if all can move the
   impulses sum to zero. */
void push_out(PushMode mode, const Vector3 centers[], const Mobility mobilities[], PetscInt central,
              PetscInt count, const Outer outers[], Twist *central_move, Twist outer_moves[]);

#endif
