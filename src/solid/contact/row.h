/* Impulses along one direction at one place, and what they do to the two bodies. */
#ifndef MILLRACE_SOLID_ROW_H
#define MILLRACE_SOLID_ROW_H

#include "contacts.h"

typedef struct {
  Vector3   direction;
  Vector3   turn[2];     /* arm x direction */
  Vector3   response[2]; /* inverse inertia times turn */
  PetscReal yield[2];    /* speed along the direction per unit impulse on each body */
} Axis;

typedef struct Row {
  Axis          normal, tangents[2];
  PetscReal     grip; /* impulse per speed of sliding that is sure to brake */
  PetscReal     bias; /* speed at which the gap may close */
  PetscReal     impulse, rub[2];
  PetscReal     last[3], search[3]; /* impulses before the sweep, direction of the extrapolation */
  ContactPlace *place;              /* borrowed */
} Row;

static inline Axis make_axis(Vector3 direction, const Vector3 arms[2], const Mobility *a, const Mobility *b)
{
  const Mobility *mobilities[2] = {a, b};
  Axis            axis = {.direction = direction};

  for (PetscInt k = 0; k < 2; k++) {
    axis.turn[k] = vector3_cross(arms[k], direction);
    axis.response[k] = matrix3_apply(&mobilities[k]->inverse_inertia, axis.turn[k]);
    axis.yield[k] = mobilities[k]->inverse_mass + vector3_dot(axis.turn[k], axis.response[k]);
  }
  return axis;
}

/* How fast body b leaves body a along the direction. */
static inline PetscReal axis_speed(const Axis *axis, const Twist *a, const Twist *b)
{
  return vector3_dot(axis->direction, vector3_subtract(b->linear, a->linear)) +
         vector3_dot(axis->turn[1], b->angular) - vector3_dot(axis->turn[0], a->angular);
}

static inline void axis_push(const Axis *axis, PetscReal j, PetscReal inverse_a, PetscReal inverse_b,
                             Twist *a, Twist *b)
{
  for (PetscInt d = 0; d < DIM; d++) {
    a->linear.at[d] -= j * inverse_a * axis->direction.at[d];
    a->angular.at[d] -= j * axis->response[0].at[d];
    b->linear.at[d] += j * inverse_b * axis->direction.at[d];
    b->angular.at[d] += j * axis->response[1].at[d];
  }
}

/* Without impulses. */
Row make_row(Solid solid, const Contact *contact, ContactPlace *place);

/* Friction: one step towards the impulse within `limit` that ends sliding or, where that is not enough, is
   opposed to it. Returns the change of speed. */
static inline PetscReal row_rub(Row *row, PetscReal limit, PetscReal inverse_a, PetscReal inverse_b, Twist *a,
                                Twist *b)
{
  PetscReal       wanted[2] = {row->rub[0] - row->grip * axis_speed(&row->tangents[0], a, b),
                               row->rub[1] - row->grip * axis_speed(&row->tangents[1], a, b)};
  PetscReal       change = 0;
  const PetscReal square = wanted[0] * wanted[0] + wanted[1] * wanted[1];

  if (square > limit * limit) {
    const PetscReal scale = limit / PetscSqrtReal(square);

    wanted[0] *= scale;
    wanted[1] *= scale;
  }
  for (PetscInt t = 0; t < 2; t++) {
    axis_push(&row->tangents[t], wanted[t] - row->rub[t], inverse_a, inverse_b, a, b);
    change += PetscAbsReal(wanted[t] - row->rub[t]);
    row->rub[t] = wanted[t];
  }
  return change / row->grip;
}

/* The gap closes with `bias` at most; returns the change of speed. */
static inline PetscReal row_press(Row *row, PetscReal inverse_a, PetscReal inverse_b, Twist *a, Twist *b)
{
  const PetscReal yield = row->normal.yield[0] + row->normal.yield[1];
  const PetscReal wanted = PetscMax(0., row->impulse - (axis_speed(&row->normal, a, b) + row->bias) / yield);
  const PetscReal change = wanted - row->impulse;

  axis_push(&row->normal, change, inverse_a, inverse_b, a, b);
  row->impulse = wanted;
  return PetscAbsReal(change) * yield;
}

#endif
