/* Private to src/solid: what a step works on. */
#ifndef MILLRACE_SOLID_STEP_IMPL_H
#define MILLRACE_SOLID_STEP_IMPL_H

#include "contact/solve/contact_set.h"
#include "joint/joint.h"

typedef struct Step {
  Twist *half;   /* velocities at the middle of the step */
  Twist *change; /* what forces add to them until then */
  Twist *before; /* velocities at its start, after collisions */

  BodyLoad *begun, *ended;  /* loads at its start and at its end */
  PetscBool begun_is_known; /* by SolidPredictHalf, until SolidAccelerate has taken them */
} Step;

/* Forces and torques on all bodies at `time`, where they are now, for a step of `dt`. */
void solid_fill_loads(Solid solid, PetscReal time, PetscReal dt, BodyLoad loads[]);
/* Which mesh has an element inside out that its material cannot bring back, into the report. */
void solid_find_inverted(Solid solid);
/* Counts of contact of meshes begin with a step. */
void solid_clear_mesh_report(SolidReport *report);

#endif
