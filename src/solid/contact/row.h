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
  Axis      normal, tangents[2];
  PetscReal hold,
      grip;           /* impulse per speed along the normal, and per speed of sliding that is sure to brake */
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

/* The two bodies of a contact while it is at hand. */
typedef struct {
  Twist     twists[2];
  PetscReal gives[2];   /* 0 for a body that is held */
  PetscReal inverse[2]; /* of the masses; 0 too for a body that is held */
} Partners;

/* How fast the second body leaves the first along the direction. */
KERNEL PetscReal axis_speed(const Axis *axis, const Partners *partners)
{
  const Twist *a = &partners->twists[0], *b = &partners->twists[1];

  return vector3_dot(axis->direction, vector3_subtract(b->linear, a->linear)) +
         vector3_dot(axis->turn[1], b->angular) - vector3_dot(axis->turn[0], a->angular);
}

KERNEL void axis_push(const Axis *axis, PetscReal j, Partners *partners)
{
  const PetscReal shift[2] = {j * partners->inverse[0], j * partners->inverse[1]};
  const PetscReal turn[2] = {j * partners->gives[0], j * partners->gives[1]};

  for (PetscInt d = 0; d < DIM; d++) {
    partners->twists[0].linear.at[d] -= shift[0] * axis->direction.at[d];
    partners->twists[0].angular.at[d] -= turn[0] * axis->response[0].at[d];
    partners->twists[1].linear.at[d] += shift[1] * axis->direction.at[d];
    partners->twists[1].angular.at[d] += turn[1] * axis->response[1].at[d];
  }
}

KERNEL PetscReal axis_yield(const Axis *axis, const Partners *partners)
{
  return partners->gives[0] * axis->yield[0] + partners->gives[1] * axis->yield[1];
}

/* Without impulses. */
Row make_row(Solid solid, const Contact *contact, ContactPlace *place);

/* Friction: one step towards the impulse within `limit` that ends sliding or, where that is not enough, is
   opposed to it. `grip` is impulse per speed of sliding. Returns the change of impulse. */
KERNEL PetscReal row_rub(Row *row, PetscReal grip, PetscReal limit, Partners *partners)
{
  PetscReal       wanted[2] = {row->rub[0] - grip * axis_speed(&row->tangents[0], partners),
                               row->rub[1] - grip * axis_speed(&row->tangents[1], partners)};
  PetscReal       change = 0;
  const PetscReal square = wanted[0] * wanted[0] + wanted[1] * wanted[1];

  if (square > limit * limit) {
    const PetscReal scale = limit / PetscSqrtReal(square);

    wanted[0] *= scale;
    wanted[1] *= scale;
  }
  for (PetscInt t = 0; t < 2; t++) {
    axis_push(&row->tangents[t], wanted[t] - row->rub[t], partners);
    change += PetscAbsReal(wanted[t] - row->rub[t]);
    row->rub[t] = wanted[t];
  }
  return change;
}

/* The gap closes with `bias` at most; `grip` is impulse per speed of approach. Returns the change of impulse.
 */
KERNEL PetscReal row_press(Row *row, PetscReal grip, Partners *partners)
{
  const PetscReal wanted =
      PetscMax(0., row->impulse - grip * (axis_speed(&row->normal, partners) + row->bias));
  const PetscReal change = wanted - row->impulse;

  axis_push(&row->normal, change, partners);
  row->impulse = wanted;
  return PetscAbsReal(change);
}

#endif
