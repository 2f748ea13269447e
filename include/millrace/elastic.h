/* Elastic regions (docs/numerics.md, 13a): the strain of each in cells, carried along by whoever has the
   flow, and what it makes of stress. Nothing here knows of a step's order. */
#ifndef MILLRACE_ELASTIC_H
#define MILLRACE_ELASTIC_H

#include <millrace/phase.h>

MILLRACE_API_BEGIN

/* Whether any region is ever elastic. Not collective. */
PetscBool phase_is_elastic(const PhaseConfig *config);
/* Fields of cells that all elastic regions have. Not collective. */
PetscInt phase_strain_count(const PhaseConfig *config, PetscInt dimension);

/* From now on the mixture is as viscous as an elastic region is implicitly within a step of `dt`; to be
   called before PhaseAdvance, whose mixture it enters, and before PhaseLoad with the last step. Collective:
   fluid, as what follows. */
PetscErrorCode PhaseSetElasticStep(Phase phase, PetscReal dt);
/* Lends the fields of all elastic regions, to be carried along the flow; they may be exchanged for others. In
   a region they hold the strain of the thesis or the logarithm of the conformation, around it what is carried
   on from there. None while nothing is elastic. Not collective. */
PetscErrorCode PhaseGetStrains(Phase phase, PetscInt *count, Vec **fields);
/* Lends marks, 1 in all local cells that are up to three cells from an elastic region, which are those whose
   strain decides what that becomes within a step; null: all do. Not collective. */
PetscErrorCode PhaseMarkStrains(Phase phase, const unsigned char **marks);
/* The closed cells, as PhaseAdvance takes them, where it has not told yet. Collective: fluid. */
PetscErrorCode PhaseSetClosed(Phase phase, Vec closed);
/* The stress that the strain, once carried along, will have left after `dt` of relaxation and of stretching
   by `velocity` (the last one, ghosts valid), into the mixture. `slips` of each wall of the closed cells;
   null without any. Collective: fluid. */
PetscErrorCode PhaseFindStress(Phase phase, Vec velocity[MILLRACE_DIM], const PetscBool slips[],
                               PetscReal dt);
/* The strain is stretched by `velocity` (ghosts valid) and relaxes over `dt`. Collective: fluid. */
PetscErrorCode PhaseStretch(Phase phase, Vec velocity[MILLRACE_DIM], const PetscBool slips[], PetscReal dt);

/* Of each elastic region. */
typedef struct {
  PetscReal energy;         /* J (per metre in two dimensions) */
  PetscReal largest_strain; /* root of the sum of squares, of the thesis's strain or of Hencky's, log C / 2 */
  PetscReal yielded;        /* volume where the yield point is passed, m^3 (m^2) */
} ElasticReport;
/* Of the present strain, by region. Collective: fluid. */
PetscErrorCode PhaseMeasureElastic(Phase phase, ElasticReport reports[REGIONS_MAX]);

MILLRACE_API_END

#endif
