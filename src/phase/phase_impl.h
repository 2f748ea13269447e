#ifndef MILLRACE_PHASE_IMPL_H
#define MILLRACE_PHASE_IMPL_H

#include <millrace/phase.h>
#include <millrace/sums.h>
#include <millrace/visible_stencil.h>

/* What PhaseReturn goes back to. */
typedef struct {
  Vec        *distances; /* null until PhaseKeep */
  Particles  *markers;
  PetscInt64  steps, seedings;
  PetscReal   targets[REGIONS_MAX], losses[REGIONS_MAX];
  Vec         ignition[REACTIONS_MAX]; /* null: see those of the phase */
  Particles   pending[REACTIONS_MAX];  /* in the same way */
  PhaseReport report;
} Kept;

enum { CLOSED_LAYERS = GHOST_WIDTH };

/* Where one region turns into another, with the number of FRONTS_MAX. */
typedef struct {
  PetscInt  first, product;
  PetscInt  partner; /* it burns only beside this region; -1: wherever the two touch */
  PetscReal speed, curvature_speed;
  PetscReal leap;     /* s - 1 for densities of ratio s: velocity of the product over that of the front */
  PetscReal pressure; /* jump from the first to the product over the square of the speed, kg/m^3 */
} ReactionFront;

struct _p_Phase {
  MacGrid            grid;                              /* borrowed */
  const PhaseConfig *config;                            /* borrowed */
  PetscInt           count;                             /* of regions */
  PetscReal          band;                              /* m: what a distance is beyond the band */
  PetscReal          time;                              /* that `material` and `tension` are of, s */
  RegionMaterial     material[REGIONS_MAX];             /* of each region */
  PetscReal          tension[REGIONS_MAX][REGIONS_MAX]; /* N/m, symmetric */

  const VisibilityMap *visibility_map;        /* past the shells; null: there are none */
  VisibilityMap       *visibility_map_memory; /* what it points to, owned; null until needed */

  OuterRegions  outer;                    /* beyond open sides */
  Vector3       up;                       /* direction of their levels */
  Vec           side_marks;               /* of LevelSetSides; null without open sides */
  LevelSetSides level_sides[REGIONS_MAX]; /* as each level set sees them */

  PetscInt  *contact_places;        /* of the contact angles; null: there are none */
  PetscReal *side_slopes;           /* of LevelSetSides, region by region */
  Vec        partners[REGIONS_MAX]; /* of LevelSetSides */

  LevelSet  *level_sets;
  Vec       *distances; /* lent by the level sets */
  Particles *markers;   /* value 0: radius */
  PetscInt64 steps;
  PetscInt64 seedings;             /* keys of the random positions */
  PetscReal  targets[REGIONS_MAX]; /* volumes to be kept, m^3 */
  PetscReal  losses[REGIONS_MAX];  /* of a step, as far as they are known */

  /* Of the present distances, see PhaseUpdate. */
  Vec            regions;     /* 1 + region; ghosts valid */
  unsigned char *region;      /* the same from 0, small */
  unsigned char *mixed;       /* 1 where not all cells around are of one region, two ghost layers deep */
  PetscInt       mixed_count; /* cells with that mark */
  PetscInt      *mixed_cells; /* local indices */
  Mixture        mixture;
  unsigned char  group_of[REGIONS_MAX];      /* the velocity group of each region, or NO_GROUP */
  PetscReal      group_density[REGIONS_MAX]; /* of each group */
  PetscInt       mass_room;                  /* mixed cells that have room in the groups' masses */
  PetscInt      *mixed_number;               /* of every local cell among the mixed ones, or -1 */
  struct {
    unsigned char *of_cell;
    PetscInt      *mixed_number;
    PetscReal     *masses;
    PetscInt       room;
  } groups_before;                   /* the last step */
  struct _p_ElasticRegions *elastic; /* elastic.c; null without any */
  ReactionFront             fronts[FRONTS_MAX];
  signed char               front_of[REGIONS_MAX][REGIONS_MAX]; /* see front_between; of those that act now */
  PetscBool                 any_front;                          /* acts now */
  Vec ignition[REACTIONS_MAX]; /* how much fronts burn in cells around them, 0 to 1; null: all do, wholly */
  Vec burning;                 /* speed of the fronts in cells around them, m/s; null: constants */
  Particles pending[REACTIONS_MAX]; /* layer.c: masses that are still to become product; null: none ever is */
  unsigned char *row_region; /* 1 + region if the mixture's fields are those of one region along a row */
  Vec            scratch[2];

  /* Closed cells beside the fluid, see obstacles.c; of the last PhaseFindLayers. */
  PetscBool      any_closed;                   /* anywhere */
  unsigned char *depth;                        /* layer of every local cell; null until needed */
  PetscInt       closed_count, closed_room;    /* of the list */
  PetscInt       layer_end[CLOSED_LAYERS + 1]; /* cells up to and with a layer, at the front of the list */
  PetscInt      *closed_cells;
  Vec            closed; /* borrowed; null: none */
  Vec            parts;  /* that walls leave of cells, borrowed; null: all of those that are not closed */

  PhaseReport report;
  Kept        kept;
  PetscBool   looks_ahead; /* what it looks away from is in `kept`, which is free between two steps */
};

enum { MIXTURE_GHOSTS = 2 }; /* layers in which a mixture is computed: its stencils reach one cell further */

static inline PetscBool region_is_empty(Phase phase, PetscInt region)
{
  return phase->material[region].kind == REGION_SIMULATED ? PETSC_FALSE : PETSC_TRUE;
}
static inline PetscReal region_density(Phase phase, PetscInt region)
{
  return region_is_empty(phase, region) ? 0. : phase->material[region].density;
}
/* elastic.c: what elasticity adds to the viscosity within a step; and what is far stretched more than that,
   by its part of cells and edges. */
PetscReal elastic_viscosity(Phase phase, PetscInt region);
PetscReal stretched_viscosity(Phase phase, PetscInt region);

static inline PetscReal region_viscosity(Phase phase, PetscInt region)
{
  return region_is_empty(phase, region)
             ? 0.
             : phase->material[region].viscosity + elastic_viscosity(phase, region);
}

/* The arrays of all distances at once. */
PetscErrorCode PhaseGetDistances(Phase phase, PetscReal *distances[REGIONS_MAX]);
PetscErrorCode PhaseRestoreDistances(Phase phase, PetscReal *distances[REGIONS_MAX]);
PetscErrorCode PhaseRefresh(Phase phase); /* ghosts and bands after a change */
PetscErrorCode PhaseCreateKept(Phase phase);

/* project.c: the projection of 4.2.1 on `width` points, whose distances to region n lie in rows[n]; `work`
   has room for three times as many. Bit n is set if a distance to region n has changed. */
unsigned project_row(PetscInt width, PetscInt count, PetscReal *const rows[], PetscReal band,
                     PetscReal work[]);
/* At all cells; then makes ghosts and band valid of all that changed, here or (bits of `changed`) before. */
#define NO_REGION 0u
#define ALL_REGIONS (~0u)
PetscErrorCode PhaseProject(Phase phase, unsigned changed);
PetscErrorCode PhaseFindRegions(Phase phase); /* the map of regions and the mixed cells */

/* contact.c: finds lines of contact of the present regions and refreshes the ghosts. The slope of the
   distance to a region outwards of a wall; infinite: none is given. */
PetscErrorCode          PhaseFindContacts(Phase phase);
PetscReal               contact_slope(Phase phase, PetscInt region, PetscInt other, PetscInt place);
PetscErrorCode          PhaseDestroyContacts(Phase phase);
PetscErrorCode          PhaseSaveContacts(Phase phase, Archive archive);
PetscErrorCode          PhaseLoadContacts(Phase phase, Archive archive);
PetscErrorCode          PhaseWidenMarks(Phase phase, Vec marks, Vec work); /* by a cell on all sides */
static inline PetscBool is_open_cell(Phase phase, PetscInt c)
{
  return !phase->any_closed || phase->depth[c] == 0 ? PETSC_TRUE : PETSC_FALSE;
}

/* obstacles.c: finds closed cells beside open ones; carries the distances on into them. Ghosts are to be
   refreshed after that. For distances to be found from, surfaces go on straight behind a wall; for the
   mixture none begins there, so that closed cells are of the regions that their free parts hold. */
typedef enum { CLOSED_FOR_DISTANCES, CLOSED_FOR_MIXTURE } ClosedUse;
PetscErrorCode PhaseFindLayers(Phase phase, Vec closed);
PetscErrorCode PhaseExtendIntoClosed(Phase phase, ClosedUse use);

/* markers.c */
PetscErrorCode PhaseSeed(Phase phase, Vec closed);
PetscErrorCode PhaseSeedRegion(Phase phase, PetscInt region, Vec closed);
PetscErrorCode PhaseDropClosed(Phase phase, PetscInt region, Vec closed); /* markers in closed cells */
PetscErrorCode PhaseDropSunk(Phase phase);     /* markers of empty regions in sinks (4.4) */
PetscErrorCode PhaseCountMarkers(Phase phase); /* totals and escaped ones, into the report */

/* A distance at a point in cell c, as seen from there; `blind` if nothing is seen. */
PetscReal phase_sample(Phase phase, const PetscReal *distance, PetscInt c, Vector3 point, PetscReal blind);

/* cell_fractions.c: the parts of the cube of one cell's size that are in each of some regions. The cube lies
   around the centre of cell c, or half a cell below it in the directions for which `half` is 1. */
typedef struct {
  PetscInt  count;
  PetscInt  region[REGIONS_MAX];
  PetscReal fraction[REGIONS_MAX]; /* sum: 1 */
  PetscReal distance[REGIONS_MAX];
  Vector3   gradient[REGIONS_MAX];
} CellFractions;
/* The regions within two cells of the centre of a cell, and their distances around it as seen from there. */
typedef struct {
  PetscInt         count;
  PetscInt         region[REGIONS_MAX];
  const PetscReal *distance[REGIONS_MAX]; /* at the centre */
  PetscInt         stride[DIM];           /* of these */
  PetscReal        seen[REGIONS_MAX][27]; /* room for a cell near a shell */
} Nearby;
void find_nearby(Phase phase, PetscReal *const distances[], PetscInt c, Nearby *nearby);
void find_fractions(Phase phase, const Nearby *nearby, const PetscInt half[DIM], CellFractions *fractions);
PetscErrorCode PhaseMeasure(Phase phase, Vec closed); /* volumes, centres and surfaces, into the report */

/* extent.c: the ends of the regions, into the report */
PetscErrorCode PhaseMeasureExtent(Phase phase, Vec closed);

/* mixture.c, surface_tension.c */
PetscErrorCode PhaseUpdateMixture(Phase phase);
PetscErrorCode PhaseUpdateJumps(Phase phase);

/* junction_tension.c: where three regions meet, the jumps become those of each region's own curvature. */
PetscErrorCode PhaseUpdateJunctions(Phase phase);

/* continuation.c: from faces of cells that are `known`, along the gradient of `distance`, with the slope that
   a limiter makes of the last difference and the one before. */
typedef PetscReal (*SlopeLimiter)(PetscReal near, PetscReal next);
PetscReal      smaller_slope(PetscReal near, PetscReal next); /* minmod: nothing new overshoots */
PetscReal      slope_at_end(PetscReal near, PetscReal next);  /* second order; at most twice the smaller */
PetscErrorCode PhaseContinue(Phase phase, Vec distance, Vec known, SlopeLimiter limiter, Vec faces[DIM]);

/* velocity_groups.c: the groups of the configuration; those of the present cells, whose masses in mixed ones
   are left to mixture.c */
PetscErrorCode PhaseCreateGroups(Phase phase);
PetscErrorCode PhaseDestroyGroups(Phase phase);
PetscErrorCode PhaseSetGroups(Phase phase); /* of the present materials */
PetscErrorCode PhaseUpdateGroups(Phase phase);
PetscErrorCode PhaseRememberGroups(Phase phase); /* as those before the step */
/* The mass of a group on a face before the step, over the volume of the dual cell. */
PetscReal mass_before(Phase phase, PetscInt c, PetscInt d, PetscInt group);

/* volume_correction.c */
void           find_shifts(Phase phase, PetscReal shifts[REGIONS_MAX]); /* m, that volumes ask for now */
PetscErrorCode PhaseShift(Phase phase, const PetscReal shifts[]);
/* `velocity` and what carries interfaces as far as shifts do within `dt`, before they are carried. */
PetscErrorCode PhaseAddShifts(Phase phase, const PetscReal shifts[], PetscReal dt, Vec velocity[DIM],
                              Vec faces[DIM]);
PetscErrorCode PhaseAccountOutflow(Phase phase, Vec velocity[DIM], PetscReal dt); /* of the step to come */

/* fronts.c: 1 + the front at which region a turns into b, less than zero if b turns into a; 0: none does. */
static inline PetscInt front_between(Phase phase, PetscInt a, PetscInt b)
{
  return phase->front_of[a][b];
}
PetscErrorCode PhaseSetFronts(Phase phase);    /* of the present materials and time */
PetscErrorCode PhaseUpdateFronts(Phase phase); /* expansion, leaps and jumps of the present distances */
PetscErrorCode PhaseDestroyFronts(Phase phase);
/* ignition.c: parts of Phase's own functions */
PetscErrorCode PhaseCreateIgnition(Phase phase);
PetscErrorCode PhaseKeepIgnition(Phase phase);
PetscErrorCode PhaseReturnIgnition(Phase phase);
PetscErrorCode PhaseSaveIgnition(Phase phase, Archive archive);
PetscErrorCode PhaseLoadIgnition(Phase phase, Archive archive);
/* layer.c: parts of Phase's own functions */
PetscErrorCode PhaseCreatePending(Phase phase);
PetscErrorCode PhaseDestroyPending(Phase phase);
PetscErrorCode PhaseKeepPending(Phase phase);
PetscErrorCode PhaseReturnPending(Phase phase);
PetscErrorCode PhaseSavePending(Phase phase, Archive archive);
PetscErrorCode PhaseLoadPending(Phase phase, Archive archive);
/* Over `dt` from where it is now it becomes product as the expansion has it; then it is carried along. */
PetscErrorCode PhaseReleasePending(Phase phase, PetscReal dt);
PetscErrorCode PhaseCarryPending(Phase phase, Vec velocity[DIM], PetscReal dt);
PetscErrorCode PhaseExpandPending(Phase phase, Vec expansion); /* ghosts valid afterwards */
PetscReal      pending_limit(Phase phase);                     /* of the step, while there is any */
/* Product comes between regions that meet. */
PetscErrorCode PhasePutLayers(Phase phase, Vec closed);
/* pour.c: where `distance` is negative is `region` now, and the markers of others are dropped. Volumes and
   the mixture are left as they were, as by the next. */
PetscErrorCode PhaseFill(Phase phase, PetscInt region, Vec distance);
/* advance.c: all regions; the latter by the markers of all, if there are any. */
PetscErrorCode PhaseRedistance(Phase phase);
PetscErrorCode PhaseCorrect(Phase phase);
/* What a group sees of the faces of its cells that belong to others. */
PetscErrorCode PhaseAddLeaps(Phase phase, PetscInt group, Vec faces[DIM]);
/* What it sees through fronts of the velocity `from`, into `faces`, which hold what was carried on. */
PetscErrorCode PhaseSeeThroughFronts(Phase phase, PetscInt group, Vec from[DIM], Vec faces[DIM]);
/* Interfaces that burn move with what burns: near them `faces` become its flow. */
PetscErrorCode PhaseCarryFronts(Phase phase, Vec *const groups[], Vec faces[DIM]);
/* Fronts go on for `dt` through regions that were carried along; whether any does, as PhaseProject has it. */
PetscErrorCode PhaseBurn(Phase phase, PetscReal dt, unsigned *changed);
void           find_imbalance(Phase phase); /* into the report */

/* open_sides.c: where another region flows in along `velocity` in a step of `dt`, distances learn of it. */
PetscErrorCode PhaseLetIn(Phase phase, Vec velocity[DIM], PetscReal dt);
/* The part of the way to an open side that the pressure sees. */
PetscErrorCode PhaseUpdateSideMobility(Phase phase, Vec mobility[DIM]);
/* Beside an empty cell nothing is beyond the side either. */
void empty_ghosts_of_sides(Phase phase, PetscReal *regions);
/* What lies outside beside a cell with these marks. */
static inline PetscInt outer_region(Phase phase, PetscReal marks, PetscInt d, PetscInt side)
{
  const OuterRegion *outer = &phase->outer[d][side];

  return has_side_mark(marks, SIDE_MARK_ABOVE, d, side) ? outer->above : outer->region;
}
/* Whether this rank has the cells beside an open side. */
static inline PetscBool side_is_open(Phase phase, PetscInt d, PetscInt side)
{
  return phase->outer[d][side].region != NO_OUTER_REGION &&
                 grid_box(phase->grid)->neighbour[d][side] == MPI_PROC_NULL
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* elastic.c: the parts of Phase's own functions; nothing happens without elastic regions. */
PetscErrorCode PhaseCreateElastic(Phase phase);
PetscErrorCode PhaseDestroyElastic(Phase phase);
PetscErrorCode PhaseForgetStrain(Phase phase, PetscInt region);
PetscErrorCode PhaseKeepElastic(Phase phase);
PetscErrorCode PhaseReturnElastic(Phase phase);
PetscErrorCode PhaseSaveElastic(Phase phase, Archive archive);
PetscErrorCode PhaseLoadElastic(Phase phase, Archive archive);
PetscErrorCode PhaseWriteElastic(Phase phase, FrameSeries frames);

/* advance.c: map, mixture and report of the present distances. */
PetscErrorCode PhaseUpdate(Phase phase, Vec closed);

/* start.c: distance to a shape at the owned cells, cut off at the band. */
PetscErrorCode PhaseFillFromShape(Phase phase, Shape shape, Vec distance);

#endif
