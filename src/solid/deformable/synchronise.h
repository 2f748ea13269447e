/* Private to src/solid: soft bound copies that are synchronised with their targets. */
#ifndef MILLRACE_SOLID_SYNCHRONISE_H
#define MILLRACE_SOLID_SYNCHRONISE_H

#include "../contact/point_contact.h"

/* Copies of contacts that are loose become particles with the state of their targets. What has become of them
   goes to the parents of the targets, and they are bound again: returns by how much one was off its target
   then. */
void      synchronised_release(Solid solid, const SolidMotion *motion);
PetscReal synchronised_bind(Solid solid, SolidMotion *motion);

#endif
