/* Private to contact by points. */
#ifndef MILLRACE_SOLID_SAMPLED_IMPL_H
#define MILLRACE_SOLID_SAMPLED_IMPL_H

#include "samples.h"
#include "touch_kinds.h"

/* One body looks at the other: from its own frame into that of the other one. */
typedef struct {
  const PlacedForm *from, *to;
  PetscInt          side; /* 0: from the first body, 1: from the second */
  Matrix3           turn;
  Vector3           shift;
  PetscReal         skin; /* from the samples to the surface: half the thickness of a shell */
} SampleView;

static inline Vector3 view_apply(const SampleView *view, Vector3 point)
{
  return vector3_add(view->shift, matrix3_apply(&view->turn, point));
}

/* A point of the body that looks, in its frame. */
typedef struct {
  Vector3   point;
  Vector3   ahead; /* unit, to the other body */
  PetscReal gap;   /* from the body's surface to the other body */
} SurfacePoint;

/* Fills in what depends on the point. */
void measure_gap(const SampleView *view, SurfacePoint *spot);
/* The spot in the world, named by the sample and the side. */
Touch surface_point_touch(const SampleView *view, const SurfacePoint *spot, PetscInt sample);

typedef struct {
  SampleView views[2];
  PetscReal  reach;
  PetscReal  level; /* samples at most this high may be above touches */
  PetscReal  apart; /* touches that are nearer to each other are the same */
  PetscBool  is_exact;
} SampledPair;

/* Slides the touch along the surface of the body whose sample it is to where it is deepest. Returns the angle
   that is left between the two surfaces: zero where the bodies are nearest, infinite if they face away. */
PetscReal settle_touch(const SampledPair *pair, Touch *touch);

#endif
