/* Private to src/solid: contact of points with bodies and walls. */
#ifndef MILLRACE_SOLID_POINT_CONTACT_H
#define MILLRACE_SOLID_POINT_CONTACT_H

#include "../deformable/points.h"

/* A point that touches a body or is about to. */
typedef struct PointContact {
  PetscInt  point, body;
  Vector3   normal; /* unit, out of the body */
  Vector3   arm;    /* to the point from the centre of the body */
  PetscReal gap;    /* m; negative: depth */
  PetscReal friction;
  PetscReal slack;    /* m: gaps below it are closed */
  PetscReal press;    /* N s: normal impulse on the point, of the solve at hand */
  Vector3   rub;      /* N s: and of friction */
  PetscReal hold;     /* kg: impulse over change of the normal velocity */
  PetscBool is_loose; /* it acts in this solve: a copy that is synchronised is a particle */
  PetscBool closing;  /* it would overlap at the end of the step */
  PetscBool sticks;   /* of implicit steps: it does not slide, or it slides */
  Vector3   sliding;  /* along this direction */
  PetscReal bound;    /* N s: against this impulse, */
  PetscReal turning;  /* kg: which turns with the velocity aside by so much */
  PetscBool held;     /* it touches and is pressed: the normal velocity is that of the body */
} PointContact;

/* All points that may meet a body while points and bodies move with `motion` for `dt`. */
PetscErrorCode PointContactsFind(Solid solid, PetscReal dt, const SolidMotion *motion);
/* Of the point against the body. */
Vector3 point_contact_velocity(Solid solid, const PointContact *contact, const SolidMotion *motion);
/* Impulse over change of the normal velocity. */
PetscReal point_contact_hold(Solid solid, const PointContact *contact);
/* Gaps and normals where points and bodies are now. */
void point_contacts_update(Solid solid);
/* Step II: inelastic, on the velocities of the state; `half` follows. */
void point_contacts_collide(Solid solid, PetscReal dt, SolidMotion *half);
/* Steps III (no overlap after `dt`) and V (nothing that touches comes nearer): sweeps that go on from the
   impulses there are. */
typedef enum { POINTS_MOVE, POINTS_REST, POINTS_COLLIDE /* of II, internal */ } PointContactPhase;
void point_contacts_solve(Solid solid, PointContactPhase phase, PetscReal dt, SolidMotion *motion);
void point_contacts_forget(Solid solid); /* the impulses */
/* Step IV: points leave bodies that do not give way. */
void point_contacts_separate(Solid solid);
/* Damping (3.7.1): the contacts that touch and close with `motion` are held, returns their number; and
   motions or changes of them without normal velocities there, by symmetric sweeps of pairs (3.7.3). */
PetscInt point_contacts_hold(Solid solid, const SolidMotion *motion);
void     point_contacts_project(Solid solid, SolidMotion *motion);
/* Whether a body that may give way touches a point. */
PetscBool point_contacts_push(Solid solid);
PetscReal point_contacts_penetration(Solid solid);

/* In words, where a point is deep inside a body at the start; "" if none is. */
PetscErrorCode PointContactsCheckStart(Solid solid, char message[], size_t size);

#endif
