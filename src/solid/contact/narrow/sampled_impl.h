/* Private to contact by points. */
#ifndef MILLRACE_SOLID_SAMPLED_IMPL_H
#define MILLRACE_SOLID_SAMPLED_IMPL_H

#include "samples.h"
#include "touch_kinds.h"

/* One body looks at the other: from its own frame into that of the other one. */
typedef struct {
  const Placed *from, *to;
  PetscInt      side; /* 0: from the first body, 1: from the second */
  Matrix3       turn;
  Vector3       shift;
  PetscReal     skin; /* from the samples to the surface: half the thickness of a shell */
} Sight;

static inline Vector3 sight_through(const Sight *sight, Vector3 point)
{
  return vector3_add(sight->shift, matrix3_apply(&sight->turn, point));
}

/* A point of the body that looks, in its frame. */
typedef struct {
  Vector3   point;
  Vector3   ahead; /* unit, to the other body */
  PetscReal gap;   /* from the body's surface to the other body */
} Spot;

/* Fills in what depends on the point. */
void look_at(const Sight *sight, Spot *spot);
/* The spot in the world, named by the sample and the side. */
Touch spot_touch(const Sight *sight, const Spot *spot, PetscInt sample);

typedef struct {
  Sight     sights[2];
  PetscReal reach;
  PetscReal level; /* samples at most this high may be above touches */
  PetscReal apart; /* touches that are nearer to each other are the same */
  PetscBool is_exact;
} Meeting;

/* Slides the touch along the surface of the body whose sample it is to where it is deepest. Returns the angle
   that is left between the two surfaces: zero where the bodies are nearest, infinite if they face away. */
PetscReal settle_touch(const Meeting *meeting, Touch *touch);

#endif
