/* Fronts at which regions turn into others (docs/numerics.md, 13b): what a configuration of them says. The
   fronts themselves are parts of PhaseAdvance and of the mixture. */
#ifndef MILLRACE_REACTION_H
#define MILLRACE_REACTION_H

#include <millrace/phase.h>

MILLRACE_API_BEGIN

/* Whether it acts in a step that begins at `time`. Not collective, as what follows. */
PetscBool reaction_acts(const ReactionConfig *reaction, PetscReal time);
/* A region of the reaction that is not simulated while it acts; null: all always are. */
const char *reaction_idle_region(const PhaseConfig *config, const ReactionConfig *reaction);
/* An earlier reaction at an interface of the same two regions as one of this one's fronts, or as where its
   two regions meet, that acts at the same time; -1: there is none. */
PetscInt reaction_with_same_regions(const PhaseConfig *config, PetscInt number);
/* Whether its product ever takes another volume than what has burnt. */
PetscBool reaction_expands(const PhaseConfig *config, const ReactionConfig *reaction);
/* What burns at a front (see FRONTS_MAX); null: there is no such front. */
const char *front_fuel(const PhaseConfig *config, PetscInt front);
/* The time in which what a layer took becomes product, on cells of size h. */
PetscReal reaction_release(const ReactionConfig *reaction, PetscReal h);
/* Whether it needs the temperature to burn; whether what has burnt is held at one. */
PetscBool reaction_ignites(const ReactionConfig *reaction);
PetscBool reaction_heats(const ReactionConfig *reaction);

/* Where the present fronts of a reaction burn, by the temperature (a cell field, ghosts valid): from the next
   mixture on. A reaction that ignites does not burn before the first call. Collective: fluid, as the next. */
PetscErrorCode PhaseIgnite(Phase phase, PetscInt reaction, Vec temperature);
/* What has just burnt has its temperature at least, between that and the reference where it burns in part.
   Ghosts are left to the caller. Collective: fluid. */
PetscErrorCode PhaseHoldTemperature(Phase phase, PetscInt reaction, PetscReal reference, Vec temperature);
/* The largest step in which no present front goes too far through cells of size h, and none gives back more
   than it has. */
PetscReal phase_front_limit(Phase phase, PetscReal h);

MILLRACE_API_END

#endif
