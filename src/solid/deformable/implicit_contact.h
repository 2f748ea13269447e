/* Private to src/solid: contact with bodies as a part of the solve of an implicit step, in which those that
   are free are unknowns. Contacts are those of the points. */
#ifndef MILLRACE_SOLID_IMPLICIT_CONTACT_H
#define MILLRACE_SOLID_IMPLICIT_CONTACT_H

#include "point_matrix.h"

/* A trial of the solve: velocities u of points and free bodies, of others those of the step. */
typedef struct {
  Solid              solid;
  PetscReal          dt;
  const SolidMotion *motion;
} ContactTrial;

/* What presses sticks at first. */
void implicit_contacts_start(const ContactTrial *trial);
/* After a step of Newton's method: who sticks, who slides, where to and against how much friction. */
void      implicit_contacts_update(const ContactTrial *trial);
PetscBool implicit_contacts_rub(Solid solid); /* some have friction */

/* With that: impulses are added to those of points and free bodies; their potential; and its curvature to a
   matrix, whose diagonal gives the penalties where `is_first`. */
void           implicit_contacts_push(const ContactTrial *trial, SolidMotion *impulses);
PetscReal      implicit_contacts_potential(const ContactTrial *trial);
PetscErrorCode ImplicitContactsAddTo(const ContactTrial *trial, PetscBool is_first, PointMatrix matrix);

/* After the solve: what contact has done is where the sweeps go on from; and the relative velocities at the
   end of the step, `end`, are those of u along the normal where contact presses and wholly where it sticks.
 */
void implicit_contacts_keep(const ContactTrial *trial);
void implicit_contacts_end(const ContactTrial *trial, SolidMotion *end);

/* Sum of m |v|^2 of the bodies where points may touch them. */
PetscReal implicit_contacts_square(const ContactTrial *trial);

#endif
