/* Private to boxes.c and box_face.c: two boxes seen from the frame of one of them. */
#ifndef MILLRACE_SOLID_BOX_PAIR_H
#define MILLRACE_SOLID_BOX_PAIR_H

#include "touch_kinds.h"

typedef struct {
  Vector3   half[2];        /* of the reference and the incident box */
  PetscReal turn[DIM][DIM]; /* column j: axis j of the incident box in the reference frame */
  Vector3   apart;          /* centre of the incident box in the reference frame */
} BoxPair;

/* Names of touches: which sort, then the faces or edges it is made of. */
enum { FEATURE_FACE = 1 << 16, FEATURE_EDGES = 1 << 17, FEATURE_OTHER_FACE = 1 << 18 };

/* The touches above the face of the reference box across `axis` that looks to the incident one; normals
   out of it. */
PetscInt touch_face(const PlacedForm *reference, const BoxPair *pair, PetscInt axis, PetscReal reach,
                    Touch touches[]);

#endif
