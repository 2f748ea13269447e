/* Private to src/solid: forms on ranks outside the solid team. */
#ifndef MILLRACE_SOLID_SHARED_FORMS_H
#define MILLRACE_SOLID_SHARED_FORMS_H

#include "solid_impl.h"

typedef struct FormOutline FormOutline;

/* shared_forms.c: the form of an entry from its outline. */
PetscErrorCode SolidTakeForm(Solid solid, PetscInt entry, RigidTransform *rest);

/* solid.c: a solid without forms of its own; the solid team has found that nothing is wrong with it. Takes
   the outlines, one for each entry. Not collective. */
PetscErrorCode SolidCreateFrom(FormOutline *outlines, const SolidConfig *config, Solid *solid, char message[],
                               size_t size);

#endif
