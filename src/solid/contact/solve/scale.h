/* The freedoms of a body, measured by its mass: a motion is u = S y with S S^T = M^-1, so that |y|^2 / 2 is
   an energy (numerics.md, 11). */
#ifndef MILLRACE_SOLID_SCALE_H
#define MILLRACE_SOLID_SCALE_H

#include "../../solid_impl.h"

/* S; zero for what is not free. */
typedef struct {
  PetscReal linear;
  Matrix3   angular; /* lower triangle */
} Scale;

typedef struct {
  PetscReal at[TWIST];
} Freedoms;

Scale    scale_of(const Mobility *mobility);
Freedoms scaled(const Scale *scale, const Twist *twist); /* zero for what is not free */
Twist    unscaled(const Scale *scale, const PetscReal y[TWIST]);

/* S^T: what an angular impulse does to the last three freedoms. */
static inline Vector3 scale_turn(const Scale *scale, Vector3 turn)
{
  const Matrix3 *s = &scale->angular;

  return vector3(s->at[X][X] * turn.at[X] + s->at[Y][X] * turn.at[Y] + s->at[Z][X] * turn.at[Z],
                 s->at[Y][Y] * turn.at[Y] + s->at[Z][Y] * turn.at[Z], s->at[Z][Z] * turn.at[Z]);
}

#endif
