/* The contacts of a set of bodies: found once a step, solved for twice. */
#ifndef MILLRACE_SOLID_CONTACT_SET_H
#define MILLRACE_SOLID_CONTACT_SET_H

#include "../../solid_impl.h"
#include "../broad/pairs.h"
#include "../narrow/touch.h"
#include "graph.h"
#include "scale.h"

/* Positions are moved by v^{n+1/2}, which is then forgotten; velocities stay (numerics.md, 8). */
typedef enum { PHASE_POSITION, PHASE_VELOCITY, PHASE_COUNT } SolvePhase;

typedef struct {
  PetscReal friction, restitution, rolling_friction;
} ContactLaw;

/* Two bodies that touch or are about to. */
typedef struct {
  PetscInt   bodies[2];
  PetscInt   first, count; /* of its places */
  ContactLaw law;
  Vector3    rolling[PHASE_COUNT]; /* angular impulse on the second body */
  PetscReal  slack;                /* m: gaps below it are closed */
  PetscBool  met;                  /* touched when the step began, or has collided in it */
  PetscBool  turned;               /* its touch is that of the end of the step, in step III */
} Contact;

typedef struct {
  Touch     touch;
  Vector3   arm;                   /* to it from the centre of the body that moves, when it was found */
  Vector3   impulses[PHASE_COUNT]; /* on the second body, in the last solve of each phase */
  PetscBool taken;                 /* in the list before: its impulses have passed on */
} ContactPlace;

typedef struct {
  PetscInt      count, capacity, place_count, place_capacity;
  Contact      *contacts; /* sorted by bodies */
  ContactPlace *places;
} ContactList;

struct ContactSet {
  PairFinder   finder;
  ContactGraph graph;
  ContactList  now, before;
  PetscBool    valid;    /* `now` belongs to solid->placements */
  PetscReal    smallest; /* m: the size of the smallest body that moves */
  PetscBool   *jointed;  /* bodies that a joint holds, or a spring that acts as one */
  PetscReal   *reaches;  /* how far each body may go until the next search */
  Bounds      *boxes;
  PetscBool   *grounded;      /* bodies that contacts or joints connect with a fixed one */
  PetscBool   *moves, *fixed; /* workspace, as what follows */
  PetscInt    *parents;
  Vector3     *centres;

  PetscInt (*pairs)[2], (*edges)[2]; /* of the graph: contacts, and what rests on what */
  PetscInt        pair_capacity, edge_count;
  PetscInt        level_count;
  const PetscInt *levels, *order; /* of bodies, of contacts; borrowed from the graph */

  /* workspace of a solve, by body: velocities now, as twists have them, before the last sweep, the direction
     of the extrapolation, before shocks */
  Scale          *scales;
  Freedoms       *motions, *known, *last, *search, *swept;
  struct Row     *rows;
  struct Group   *groups;
  struct Rolling *rollings;
  PetscInt        row_capacity, group_capacity;
  struct Impacts *impacts; /* workspace of step II */
};

typedef struct ContactSet *ContactSet;

/* How fast the gap of a touch opens. */
static inline PetscReal opening_speed(Solid solid, const Contact *contact, const Touch *touch,
                                      const Twist twists[])
{
  const PetscInt a = contact->bodies[0], b = contact->bodies[1];
  const Vector3  arm_a = vector3_subtract(touch->point, solid->placements[a].position);
  const Vector3  arm_b = vector3_subtract(touch->point, solid->placements[b].position);

  return vector3_dot(touch->normal,
                     vector3_subtract(twist_at(&twists[b], arm_b), twist_at(&twists[a], arm_a)));
}

/* contact_set.c */
PetscErrorCode ContactSetCreate(Solid solid, ContactSet *set);
PetscErrorCode ContactSetDestroy(ContactSet *set);
PetscErrorCode ContactSetCheck(ContactSet set, PetscInt body_count); /* an error if a contact cannot be */
/* What joints hold, and springs that steps of this length do not resolve. Not collective. */
PetscErrorCode ContactSetMarkJointed(ContactSet set, Solid solid, PetscReal dt);
/* Looks for contacts at solid->placements that may arise while each body moves with `twists` for `dt`. */
PetscErrorCode ContactSetFind(ContactSet set, Solid solid, PetscReal dt, const Twist twists[]);
/* Whether the contacts found last cover such a motion. */
PetscBool contact_set_covers(ContactSet set, Solid solid, PetscReal dt, const Twist twists[]);
/* Drops the contacts of pairs that do not touch, or that part or meet within `dt`. */
PetscErrorCode ContactSetKeepResting(ContactSet set, Solid solid, PetscReal dt);
/* The farthest any point of the body goes in `dt`. */
PetscReal      body_path(const Body *body, const Twist *twist, PetscReal dt);
PetscReal      contact_set_penetration(ContactSet set);
PetscErrorCode ContactSetBroadcast(ContactSet set, Solid solid, MPI_Comm world, PetscMPIInt root);
/* How two bodies touch; false if they pass through each other. */
PetscBool find_contact_law(Solid solid, PetscInt a, PetscInt b, ContactLaw *law);

PetscErrorCode ContactListReserve(ContactList *list, PetscInt contacts, PetscInt places);

/* start_check.c
   Two bodies that overlap by more than a hundredth of their size, in words; "" if there are none. */
PetscErrorCode ContactSetCheckStart(ContactSet set, Solid solid, char message[], size_t size);

/* state.c */
PetscErrorCode ContactSetSave(ContactSet set, Solid solid, Archive archive);
PetscErrorCode ContactSetLoad(ContactSet set, Solid solid, Archive archive);

/* impacts.c: step II, of solid->twists. `change` is what forces add until the middle of the step; `half`, the
   sum of the two, follows the impacts, and so do solid->placements: from there, `half` leads where the bodies
   are at the end of the step. */
PetscErrorCode ContactSetCollide(ContactSet set, Solid solid, PetscReal dt, const Twist change[],
                                 Twist half[], PetscInt *impacts);
struct Impacts;
PetscErrorCode ImpactsCreate(PetscInt bodies, struct Impacts **impacts);
PetscErrorCode ImpactsDestroy(struct Impacts **impacts);

/* solver.c: steps III and V. With joints, each sweep over the contacts is followed by `join`. */
typedef struct ContactSolve ContactSolve;
struct ContactSolve {
  SolvePhase phase;
  PetscReal  time, dt;
  PetscErrorCode (*join)(Solid solid, const ContactSolve *solve, Twist twists[]); /* null without joints */
};
PetscErrorCode ContactSetSolve(ContactSet set, Solid solid, const ContactSolve *solve, Twist twists[],
                               PetscInt *iterations);

/* levels.c: what rests on what, from how forces move each body against neighbours that stay as they are
 * (3.5). */
PetscErrorCode ContactSetLevel(ContactSet set, Solid solid, PetscReal dt, const Twist still[],
                               const Twist falling[]);
/* Room for the graph of so many contacts; the levels and the order that follow from its edges. */
PetscErrorCode ContactSetReserveEdges(ContactSet set, PetscInt contacts);
PetscErrorCode ContactSetSort(ContactSet set, Solid solid);

/* separation.c: step IV, push-out; moves solid->placements and the gaps. */
PetscErrorCode ContactSetSeparate(ContactSet set, Solid solid, PetscInt *push_outs);

#endif
