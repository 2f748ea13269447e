/* Boxes held together by joints, without contact, and their step. */
#ifndef MILLRACE_TESTS_LINKAGE_H
#define MILLRACE_TESTS_LINKAGE_H

#include "solid/joint/joint.h"

enum { LINKAGE_NAME = 16 };

typedef struct {
  struct _p_Solid solid;
  SolidConfig     config;
  char (*names)[LINKAGE_NAME]; /* "0", "1", …: the bodies' */
  Form    *forms;
  Twist   *half;
  JointSet joints;
} Linkage;

/* Dynamic boxes of mass one and half extents (0.5, 0.1, 0.1) along x, at rest at (b, 0, 0). */
PetscErrorCode LinkageCreate(PetscInt bodies, PetscInt joints, Linkage *linkage);
void           linkage_set_body(Linkage *linkage, PetscInt b, PetscReal mass, Vector3 half);
void           linkage_place(Linkage *linkage, PetscInt b, Vector3 position, Vector3 rotation);
/* Between bodies by number, -1 for the world; free of limits and control, axis z. */
JointConfig   *linkage_join(Linkage *linkage, PetscInt j, JointKind kind, PetscInt parent, PetscInt child,
                            Vector3 anchor);
PetscErrorCode LinkageSetUp(Linkage *linkage); /* the joints, where the bodies now are */
PetscErrorCode LinkageDestroy(Linkage *linkage);

/* Twists of all kinds, the same in every run. */
void linkage_shake(Linkage *linkage, PetscReal size);
/* Steps I to V of docs/numerics.md without contact. */
PetscErrorCode LinkageStep(Linkage *linkage, PetscReal time, PetscReal dt, Vector3 gravity);

typedef struct {
  Vector3   momentum, angular_momentum; /* about the origin */
  PetscReal energy;                     /* kinetic */
} LinkageSums;
LinkageSums linkage_sums(const Linkage *linkage, const Twist twists[]);
/* Of two sets of velocities, by the masses. */
PetscReal linkage_product(const Linkage *linkage, const Twist a[], const Twist b[]);

#endif
