/* Impulses along three directions at one place, and what they do to the two bodies.

   The state of the two is in their scaled freedoms y (scale.h): the same twelve numbers say how fast they
   part along a direction and how an impulse along it changes y. */
#ifndef MILLRACE_SOLID_ROW_H
#define MILLRACE_SOLID_ROW_H

#include "contacts.h"

enum { PAIR = 2 * FREEDOMS };

typedef struct {
  PetscReal at[PAIR];
} Axis;

typedef struct Row {
  Axis      normal, tangents[2];
  PetscReal hold,
      grip;           /* impulse per speed along the normal, and per speed of sliding that is sure to brake */
  PetscReal     bias; /* speed at which the gap may close, less what bodies that are not free do */
  PetscReal     drift[2]; /* speed of sliding of bodies that are not free */
  PetscReal     impulse, rub[2];
  PetscReal     last[3], search[3]; /* impulses before the sweep, direction of the extrapolation */
  ContactPlace *place;              /* borrowed */
} Row;

/* The two bodies of a contact while it is at hand. */
typedef struct {
  PetscReal at[PAIR];
  PetscReal gives[2]; /* 0 for a body that is held */
} Partners;

/* How fast the second body leaves the first along the direction. */
KERNEL PetscReal axis_speed(const Axis *axis, const Partners *partners)
{
  PetscReal sums[4]; /* one vector register */

  for (PetscInt i = 0; i < 4; i++)
    sums[i] = axis->at[i] * partners->at[i] + axis->at[i + 4] * partners->at[i + 4] +
              axis->at[i + 8] * partners->at[i + 8];
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

KERNEL void axis_push(const Axis *axis, PetscReal j, const PetscBool held, Partners *partners)
{
  for (PetscInt i = 0; i < PAIR; i++)
    partners->at[i] += (held ? j * partners->gives[i / FREEDOMS] : j) * axis->at[i];
}

/* Speed along the direction per unit impulse. */
KERNEL PetscReal axis_yield(const Axis *axis, const PetscReal gives[2])
{
  PetscReal yield = 0;

  for (PetscInt i = 0; i < PAIR; i++)
    yield += gives[i / FREEDOMS] * axis->at[i] * axis->at[i];
  return yield;
}

/* The directions of a place's row: its normal and two across it. */
typedef struct {
  Vector3 axes[3];
} Directions;
Directions place_directions(const ContactPlace *place);

/* Without impulses; at rest but for bodies that are not free, which move as `twists` say. */
Row make_row(Solid solid, const Contact *contact, ContactPlace *place, const Scale *const scales[2],
             const Twist twists[]);

/* Friction: one step towards the impulse within `limit` that ends sliding or, where that is not enough, is
   opposed to it. Returns the change of impulse. */
KERNEL PetscReal row_rub(Row *row, PetscReal limit, const PetscBool held, Partners *partners)
{
  PetscReal wanted[2], change = 0;
  PetscReal square = 0;

  for (PetscInt t = 0; t < 2; t++) {
    wanted[t] = row->rub[t] - row->grip * (axis_speed(&row->tangents[t], partners) + row->drift[t]);
    square += wanted[t] * wanted[t];
  }
  if (square > limit * limit) {
    const PetscReal scale = limit / PetscSqrtReal(square);

    wanted[0] *= scale;
    wanted[1] *= scale;
  }
  for (PetscInt t = 0; t < 2; t++) {
    axis_push(&row->tangents[t], wanted[t] - row->rub[t], held, partners);
    change += PetscAbsReal(wanted[t] - row->rub[t]);
    row->rub[t] = wanted[t];
  }
  return change;
}

/* The gap closes with `bias` at most. Returns the change of impulse. */
KERNEL PetscReal row_press(Row *row, const PetscBool held, Partners *partners)
{
  const PetscReal speed = axis_speed(&row->normal, partners) + row->bias;
  const PetscReal wanted = PetscMax(0., row->impulse - row->hold * speed);
  const PetscReal change = wanted - row->impulse;

  axis_push(&row->normal, change, held, partners);
  row->impulse = wanted;
  return PetscAbsReal(change);
}

#endif
