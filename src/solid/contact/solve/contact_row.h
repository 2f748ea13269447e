/* Impulses along three directions at one place, and what they do to the two bodies.

   The state of the two is in their scaled freedoms y (scale.h): the same twelve numbers say how fast they
   part along a direction and how an impulse along it changes y. */
#ifndef MILLRACE_SOLID_CONTACT_ROW_H
#define MILLRACE_SOLID_CONTACT_ROW_H

#include "contact_set.h"

enum { PAIR = 2 * TWIST, LANES = 4 };

/* The twelve numbers of a pair in three registers. Arrays of them would go through memory at every step. */
typedef PetscReal Lanes __attribute__((vector_size(LANES * sizeof(PetscReal)), aligned(sizeof(PetscReal))));
typedef struct {
  Lanes first, middle, second;
} Lanes12;

typedef union {
  Lanes12   lanes;
  PetscReal at[PAIR];
} Axis;

typedef struct Row {
  Axis      normal, tangents[2];
  PetscReal hold,
      grip;           /* impulse per speed along the normal, and per speed of sliding that is sure to brake */
  PetscReal     bias; /* speed at which the gap may close, less what bodies that are not free do */
  PetscReal     drift[2]; /* speed of sliding of bodies that are not free */
  PetscReal     squeeze;  /* impulse that presses beside `impulse` without moving anything */
  PetscReal     impulse, rub[2];
  PetscReal     last[3], search[3]; /* impulses before the sweep, direction of the extrapolation */
  ContactPlace *place;              /* borrowed */
} Row;

/* The two bodies of a contact while it is at hand. */
typedef struct {
  union {
    Lanes12   lanes;
    PetscReal at[PAIR];
  };
  Lanes12 gives; /* 0 for a body that is held */
} Partners;

/* How fast the second body leaves the first along the direction. */
KERNEL PetscReal axis_speed(const Axis *axis, const Partners *partners)
{
  const Lanes sums = axis->lanes.first * partners->lanes.first + axis->lanes.middle * partners->lanes.middle +
                     axis->lanes.second * partners->lanes.second;

  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

KERNEL void axis_push(const Axis *axis, PetscReal j, const PetscBool held, Partners *partners)
{
  if (held) {
    partners->lanes.first += j * partners->gives.first * axis->lanes.first;
    partners->lanes.middle += j * partners->gives.middle * axis->lanes.middle;
    partners->lanes.second += j * partners->gives.second * axis->lanes.second;
  } else {
    partners->lanes.first += j * axis->lanes.first;
    partners->lanes.middle += j * axis->lanes.middle;
    partners->lanes.second += j * axis->lanes.second;
  }
}

KERNEL void load_pair(const PetscReal a[TWIST], const PetscReal b[TWIST], Lanes12 *lanes)
{
  lanes->first = (Lanes){a[0], a[1], a[2], a[3]};
  lanes->middle = (Lanes){a[4], a[5], b[0], b[1]};
  lanes->second = (Lanes){b[2], b[3], b[4], b[5]};
}

KERNEL void store_pair(const Lanes12 *lanes, PetscReal a[TWIST], PetscReal b[TWIST])
{
  for (PetscInt i = 0; i < LANES; i++)
    a[i] = lanes->first[i];
  for (PetscInt i = 0; i < 2; i++) {
    a[LANES + i] = lanes->middle[i];
    b[i] = lanes->middle[2 + i];
  }
  for (PetscInt i = 0; i < LANES; i++)
    b[2 + i] = lanes->second[i];
}

/* Speed along the direction per unit impulse. */
KERNEL PetscReal axis_yield(const Axis *axis, const PetscReal gives[2])
{
  PetscReal yield = 0;

  for (PetscInt i = 0; i < PAIR; i++)
    yield += gives[i / TWIST] * axis->at[i] * axis->at[i];
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
