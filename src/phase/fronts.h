/* What the files of fronts share. */
#ifndef MILLRACE_PHASE_FRONTS_H
#define MILLRACE_PHASE_FRONTS_H

#include "crossing.h"

/* Where a front crosses the line between two centres. */
typedef struct {
  const ReactionFront *front;
  PetscInt             number;           /* of it, see FRONTS_MAX */
  PetscBool            product_is_above; /* in the upper cell */
  PetscReal            part;             /* component of the normal along the line, not negative */
  PetscReal            theta;            /* of the crossing */
} FrontFace;

/* Whether the lower face of cell c along d has one. */
PetscBool find_front(const Crossings *crossings, PetscInt c, PetscInt d, FrontFace *face);
PetscBool front_acts(Phase phase, PetscInt number); /* now */

/* 1 + the number of the front that a cell is nearest to, within the band; 0: another interface or none. */
PetscInt nearest_front(Phase phase, PetscReal *const distances[], PetscInt c, PetscInt *first,
                       PetscInt *product);

/* Values in the owned cells beside fronts: of those on their faces, by the squares of the normal's parts. */
typedef struct {
  PetscReal *value, *weight;
} FrontValues;
void add_front_value(const FrontValues *cells, PetscInt c, PetscReal part, PetscReal value);
/* Makes means of them and carries these on constantly over the band. Collective: fluid. */
PetscErrorCode PhaseExtendFromFronts(Phase phase, Vec weight, Vec values);

#endif
