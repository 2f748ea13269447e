/* The contacts that take part in a solve: their rows, in the order of the sweeps. */
#ifndef MILLRACE_SOLID_ROW_GROUPS_H
#define MILLRACE_SOLID_ROW_GROUPS_H

#include "contact_row.h"

/* The torque against the relative spin of two bodies. */
typedef struct Rolling {
  PetscReal lever;
  PetscReal grip;  /* angular impulse per relative spin that is sure to brake */
  Vector3   drift; /* relative spin of bodies that are not free */
  Vector3   impulse, last, search;
} Rolling;

/* The rows of one contact that take part in a solve. */
typedef struct Group {
  Contact  *contact; /* borrowed */
  PetscInt  a, b, first, count;
  PetscReal friction;
  PetscReal gives[2]; /* in shock propagation: 0 for a body that is held */
  Rolling  *rolling;  /* borrowed; null without rolling friction */
} Group;

KERNEL void gather_partners(const ContactSet set, const Group *group, Partners *partners)
{
  load_pair(set->motions[group->a].at, set->motions[group->b].at, &partners->lanes);
}

KERNEL void scatter_partners(ContactSet set, const Group *group, const Partners *partners)
{
  store_pair(&partners->lanes, set->motions[group->a].at, set->motions[group->b].at);
}

/* Rows and groups of all contacts, from the bottom level to the top. `twists` choose who takes part; the
   velocities in set->motions get the impulses of the last step. */
PetscErrorCode ContactSetMakeGroups(ContactSet set, Solid solid, const ContactSolve *solve,
                                    const Twist twists[], PetscInt *count);
void           keep_impulses(ContactSet set, PetscInt group_count, SolvePhase phase);
/* An angular impulse on the second body, and its opposite on the first. */
void push_rolling(const ContactSet set, const Group *group, Vector3 impulse, const PetscReal gives[2],
                  Partners *partners);

#endif
