/* Step II: impacts in the order of their times (numerics.md, 8). */
#ifndef MILLRACE_SOLID_IMPACTS_H
#define MILLRACE_SOLID_IMPACTS_H

#include "contact_set.h"

/* How bodies fly during a step: from where they are, and `shifts`, by t v + t^2/dt change. Velocities that
   an impact at t changes by w go with a shift by -t w: a body is then at t where it was, and flies on as if
   it had always had its new velocity. */
typedef struct {
  ContactSet   set;
  Solid        solid;
  PetscReal    dt;
  const Twist *change; /* what forces add until the middle of the step */
  Twist       *twists; /* of time n, after the impacts so far */
  Vector3     *shifts;
} Flight;

static inline Vector3 flight_position(const Flight *flight, PetscInt b, PetscReal t)
{
  const Vector3 start = vector3_add(flight->solid->placements[b].position, flight->shifts[b]);
  const Vector3 way = vector3_add(vector3_scale(t, flight->twists[b].linear),
                                  vector3_scale(t * t / flight->dt, flight->change[b].linear));

  return vector3_add(start, way);
}

/* From the centres of both bodies to the point of a touch that follows them, half-way between them, until t.
   Impacts at t leave them as they are. */
static inline void flight_arms(const Flight *flight, const Contact *contact, const Touch *touch, PetscReal t,
                               Vector3 arms[2])
{
  Vector3 ways[2], half;

  for (PetscInt side = 0; side < 2; side++) {
    const Vector3 start = flight->solid->placements[contact->bodies[side]].position;

    arms[side] = vector3_subtract(touch->point, start);
    ways[side] = vector3_subtract(flight_position(flight, contact->bodies[side], t), start);
  }
  half = vector3_scale(0.5, vector3_subtract(ways[1], ways[0]));
  arms[0] = vector3_add(arms[0], half);
  arms[1] = vector3_subtract(arms[1], half);
}

/* How fast the gap of a touch opens. */
static inline PetscReal flight_speed(const Contact *contact, const Touch *touch, const Vector3 arms[2],
                                     const Twist twists[])
{
  return vector3_dot(touch->normal, vector3_subtract(twist_at(&twists[contact->bodies[1]], arms[1]),
                                                     twist_at(&twists[contact->bodies[0]], arms[0])));
}

/* The gap of a touch if the bodies had always flown as they do now, when the step began. */
static inline PetscReal flight_gap(const Flight *flight, const Contact *contact, const Touch *touch)
{
  const Vector3 *shifts = flight->shifts;

  return touch->gap +
         vector3_dot(touch->normal, vector3_subtract(shifts[contact->bodies[1]], shifts[contact->bodies[0]]));
}

/* Of an approach that needs no impact: what forces make in a step, and round-off. */
static inline PetscReal slow_speed(const Flight *flight, const Contact *contact)
{
  PetscReal slow = 0;

  for (PetscInt side = 0; side < 2; side++) {
    const PetscInt b = contact->bodies[side];

    slow += 2 * vector3_norm(flight->change[b].linear) + 1e-12 * vector3_norm(flight->twists[b].linear);
  }
  return slow;
}

/* collision.c
   The places that would be inside at the end of the step, with the speed at which inelastic ones may close
   their gap; none unless one of them approaches faster than forces bring bodies together in a step. The
   impact would be at `time`, from which on both bodies fly as they do now. */
PetscInt approaching_places(const Flight *flight, const Contact *contact, PetscReal time, PetscInt places[],
                            PetscReal bias[]);
/* The impact of a pair at `time` at these places, whose touches are those of that time. */
void strike(const Flight *flight, Contact *contact, PetscReal time, PetscInt count, ContactPlace places[],
            const PetscReal bias[]);

/* impact_queue.c: contacts by the times of their impacts, those of the same time in the order they came. */
typedef struct {
  PetscInt   count, capacity, turn;
  PetscReal *times;
  PetscInt  *turns, *heap, *slots; /* a contact's place in the heap, -1: it is not there */
} ImpactQueue;
PetscErrorCode ImpactQueueStart(ImpactQueue *queue, PetscInt contacts); /* empty */
PetscErrorCode ImpactQueueDestroy(ImpactQueue *queue);
/* An infinite time takes the contact out. */
void     queue_put(ImpactQueue *queue, PetscInt contact, PetscReal time);
PetscInt queue_first(const ImpactQueue *queue); /* -1: none is left */

/* Workspace of a step's impacts. */
typedef struct Impacts {
  ImpactQueue queue;
  PetscInt   *starts, *touching, capacity; /* the contacts of each free body */
  Vector3    *shifts;
  PetscReal  *since; /* s: after the beginning of the step, the last timed impact of each body */
  PetscReal  *paths; /* m: that each body could go, by the fastest it was after an impact */
  PetscBool  *hit, *struck, *struck_before; /* in this step, in this round, in the last one */
  Twist      *kept;
} Impacts;

#endif
