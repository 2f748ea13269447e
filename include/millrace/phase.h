/* Which material is where: N regions, each with a level set and markers of its own, projected so that every
   point lies in exactly one (thesis 4.2), and what they make of density, viscosity and pressure jumps. */
#ifndef MILLRACE_PHASE_H
#define MILLRACE_PHASE_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/geometry.h>
#include <millrace/grid.h>
#include <millrace/io.h>
#include <millrace/levelset.h>
#include <millrace/mixture.h>
#include <millrace/schema.h>
#include <millrace/visibility.h>

MILLRACE_API_BEGIN

extern const char *const InterfaceSchemes[]; /* of a level set's advection */
typedef enum { REGION_SIMULATED, REGION_EMPTY, REGION_ONE_WAY } RegionKind;
extern const char *const RegionKinds[];

/* Stress that remembers how a region was strained. */
typedef enum {
  ELASTICITY_NONE,
  ELASTICITY_OLDROYD_B,
  ELASTICITY_ROTATED_STRAIN,
  ELASTICITY_GIESEKUS,
  ELASTICITY_FENE_P
} ElasticityModel;
extern const char *const ElasticityModels[];
typedef struct {
  ElasticityModel model;
  PetscReal       modulus;       /* of shear, Pa */
  PetscReal       relaxation;    /* time, s; infinite: the stress stays */
  PetscReal       yield;         /* strain beyond which it relaxes, of the two first models */
  PetscReal       mobility;      /* of Giesekus: 0 to 1 */
  PetscReal       extensibility; /* of FENE-P: longest over a molecule's length at rest, L */
} RegionElasticity;

/* What a region is made of. */
typedef struct {
  RegionKind       kind;
  PetscReal        density;   /* kg/m^3; not of an empty region */
  PetscReal        viscosity; /* dynamic, Pa s */
  RegionElasticity elasticity;
} RegionMaterial;

/* From `time` on; simulated or empty. */
typedef struct {
  PetscReal      time; /* s, > 0 */
  RegionMaterial material;
} RegionChange;

typedef struct {
  char            *name;
  RegionKind       kind;
  Shape            shape;                  /* at time zero; null: all that the others leave */
  char            *material;               /* only while a scene is read */
  PetscReal        density;                /* kg/m^3; not of an empty region */
  PetscReal        viscosity;              /* dynamic, Pa s */
  Formula          velocity[MILLRACE_DIM]; /* at time zero, m/s; null: that of the fluid */
  RegionElasticity elasticity;
  PetscInt         change_count;
  RegionChange    *changes; /* of what it is made at time zero, in the order of time */
} RegionConfig;

typedef struct {
  char     *first, *second; /* names of regions */
  PetscReal tension;        /* N/m */
  PetscReal from, until;    /* s; `until` > `from` */
} TensionConfig;

/* Where two regions touch the first one turns into the other; or, where the first and the second one touch,
   both turn into a third one, which is put in between. Of the fronts of reaction r the one into its first
   region is number r, the one into its second region number REACTIONS_MAX + r. */
enum { REACTIONS_MAX = 16, FRONTS_MAX = 2 * REACTIONS_MAX };
typedef struct {
  char     *first, *product; /* names of regions */
  char     *second;          /* what the first one reacts with; null: the product itself */
  PetscReal speed;           /* of the front into the first, relative to it, m/s */
  PetscReal second_speed;    /* of that into the second */
  PetscReal layer;           /* of product that is put between the two, in cells */
  PetscReal release;         /* time in which mass that the layer took becomes product, s; 0: the front's */
  PetscReal curvature_speed; /* what curvature of the first one's surface adds to it, m^2/s */
  char     *scalar;          /* of the fluid: the temperature; null: none */
  PetscReal ignition, ramp;  /* it burns above the one, at full speed from their sum on; 0: it always burns */
  PetscReal temperature;     /* of what has just burnt; 0: it brings its own */
  PetscReal from, until;     /* s; `until` > `from` */
} ReactionConfig;

typedef struct {
  char     *first, *second; /* names of regions */
  PetscReal angle;          /* between their interface and a wall, inside of the first, in degrees */
  char     *on;             /* a side, an obstacle or a body; null: every wall that no other one names */
} ContactConfig;

/* What to do where the shapes of two regions overlap or none is: refuse the scene, or project as after every
   step. */
typedef enum { OVERLAP_REFUSE, OVERLAP_PROJECT } RegionOverlap;
extern const char *const RegionOverlaps[];
typedef enum { VOLUME_FREE, VOLUME_KEPT } VolumeCorrection;
extern const char *const VolumeCorrections[];
typedef enum { MARKERS_HIDDEN, MARKERS_WRITTEN } MarkerOutput; /* in frames */
extern const char *const MarkerOutputs[];

enum { REGIONS_MAX = 32 };
typedef struct {
  PetscInt         region_count, tension_count, contact_count, reaction_count;
  RegionConfig    *regions;
  TensionConfig   *tensions;
  ContactConfig   *contacts;
  ReactionConfig  *reactions;
  InterfaceConfig  interface;
  RegionOverlap    overlap;
  VolumeCorrection volume;
  MarkerOutput     markers;
} PhaseConfig;
/* Of the block `interfaces` (all of PhaseConfig but its regions), of a region, of a tension, of a contact, of
   a reaction. */
extern const SchemaKey PhaseKeys[], RegionKeys[], TensionKeys[], ContactKeys[], ReactionKeys[];
/* Says in `message` why a configuration cannot be used; "" when it can. Not collective. */
PetscErrorCode PhaseConfigCheck(const PhaseConfig *config, char message[], size_t size);

/* What a region is made of in a step that begins at `time`; the tension of such a step, 0 where it does not
   act; the first time after `time` at which a material, tension or reaction does, PETSC_MAX_REAL without one;
   whether a region is ever of a kind; the most viscosity that it has while it is simulated. Not collective.
 */
RegionMaterial region_material(const RegionConfig *region, PetscReal time);
PetscReal      tension_at(const TensionConfig *tension, PetscReal time);
PetscReal      phase_next_change(const PhaseConfig *config, PetscReal time);
PetscBool      region_is_ever(const RegionConfig *region, RegionKind kind);
PetscBool      region_is_ever_elastic(const RegionConfig *region);
const char    *elasticity_fault(const RegionElasticity *elasticity); /* key and remedy; null: none */
PetscReal      region_most_viscosity(const RegionConfig *region);
PetscReal phase_first_void(const PhaseConfig *config); /* when no region is simulated, or PETSC_MAX_REAL */

typedef struct _p_Phase *Phase;

/* Lifetime; `config` must outlive it. Collective: fluid, as all that follows. */
PetscErrorCode PhaseCreate(MacGrid grid, const PhaseConfig *config, Phase *phase);
PetscErrorCode PhaseDestroy(Phase *phase);
/* What lies beyond each side that is open, at rest, and flows in: a region up to a level, another one above.
 */
enum { NO_OUTER_REGION = -1 }; /* the side is not open */
typedef struct {
  PetscInt  region, above;
  PetscReal level; /* height in the direction of `up`, m */
} OuterRegion;
typedef OuterRegion OuterRegions[MILLRACE_DIM][2];
/* Before PhaseStart or PhaseLoad; without a call no side is open. `up` is a unit vector. Copies. Collective:
   fluid. */
PetscErrorCode PhaseSetSides(Phase phase, const OuterRegions outer, Vector3 up);
/* Where each contact angle of the configuration holds: everywhere, on a side of the box (2 direction + side),
   or on a wall of the cell map, CONTACT_WALLS and more. Before PhaseStart or PhaseLoad. Copies. Collective:
   fluid. */
enum { CONTACT_NOWHERE = -2, CONTACT_EVERYWHERE = -1, CONTACT_WALLS = 2 * MILLRACE_DIM };
PetscErrorCode PhaseSetContacts(Phase phase, const PetscInt places[]);
/* From now on, until the next call, nothing looks through these shells, which move over the `dt` of
   PhaseAdvance; borrowed; null: there are none. To be called again when they have moved, and before
   PhaseReturn and PhaseLoad. Collective: fluid. */
PetscErrorCode PhaseSetVisibility(Phase phase, const Visibility *visibility);

/* What walls leave free of each cell, 0 to 1, with two layers of ghosts: borrowed, read whenever the regions
   move or are measured; null, as without a call: all of a cell or, where it is closed, nothing. Not
   collective. */
void phase_set_free_parts(Phase phase, Vec parts);

/* Regions from their shapes; `closed` (null: none; ghosts valid) is positive in cells that hold no fluid, but
   not in sources, which PhasePour fills. Overlaps and voids that are not to be projected are told in
   `message`. Collective: fluid. */
PetscErrorCode PhaseStart(Phase phase, Vec closed, char message[], size_t size);
/* Carries all regions along `velocity` over `dt`, corrects, projects and redistances them. Collective: fluid.
 */
PetscErrorCode PhaseAdvance(Phase phase, Vec velocity[MILLRACE_DIM], Vec closed, PetscReal dt);
/* What lies in the shape becomes part of `region`, markers included. Collective: fluid. */
PetscErrorCode PhasePour(Phase phase, PetscInt region, Shape shape, Vec closed);
PetscErrorCode PhaseKeep(Phase phase); /* to return to after a step that went wrong */
PetscErrorCode PhaseReturn(Phase phase);

/* Between the two calls the interfaces, and all that is told of them (distances, regions, the report; not the
   mixture and markers), are where `velocity` takes them within `dt`: for who shows them. Not between
   PhaseKeep and PhaseReturn. Collective: fluid. */
PetscErrorCode PhaseLookAhead(Phase phase, Vec velocity[MILLRACE_DIM], Vec closed, PetscReal dt);
PetscErrorCode PhaseLookBack(Phase phase);
PetscBool      phase_looks_ahead(Phase phase);

/* The mixture of the present regions, lent; the `closed` cells count as what they hold beside them. Not
   collective. */
PetscErrorCode PhaseGetMixture(Phase phase, const Mixture **mixture);
/* Regions are made of what the configuration says of steps that begin at `time`: as nothing else has changed
   (the mixture follows), and before PhaseLoad (which makes it follow). They begin at time 0. Collective:
   fluid. */
PetscErrorCode PhaseChangeMaterials(Phase phase, PetscReal time);
PetscErrorCode PhaseSetTime(Phase phase, PetscReal time);
RegionMaterial phase_material(Phase phase, PetscInt region); /* at present; not collective */
/* How many groups of VelocityGroups a configuration makes. Not collective. */
PetscInt phase_group_count(const PhaseConfig *config);
/* Carries the velocity of the liquids on into empty and one-way regions, so that all can be moved along.
   Collective: fluid. */
PetscErrorCode PhaseExtendVelocity(Phase phase, Vec faces[MILLRACE_DIM]);
/* The same from the cells of a group into all others. Collective: fluid. */
PetscErrorCode PhaseExtendGroupVelocity(Phase phase, PetscInt group, Vec faces[MILLRACE_DIM]);
/* Makes what moves interfaces of `faces`, which hold the velocity of all, and the velocities of the groups,
   ghosts valid; those of `faces` are then left to the caller. Collective: fluid. */
PetscErrorCode PhaseFindCarrying(Phase phase, Vec *const groups[], Vec faces[MILLRACE_DIM]);
/* 1 + region of every cell, as a cell field that is lent. Not collective. */
PetscErrorCode PhaseGetRegions(Phase phase, Vec *regions);
PetscErrorCode PhaseGetDistance(Phase phase, PetscInt region, Vec *distance);
/* Of a point within one cell of this rank's part, projected on the fly (4.2.2); not collective. */
PetscErrorCode PhaseFindRegion(Phase phase, Vector3 point, PetscInt *region);

/* The largest step that waves of surface tension and of gravity allow on cells of size h, however small they
   are. */
PetscReal phase_wave_limit(Phase phase, Vector3 gravity, PetscReal h);

/* Every owned cell belongs to one of the regions, distances are finite, and markers are as ParticlesCheck
   demands; an error otherwise. Not collective. */
PetscErrorCode PhaseCheck(Phase phase);

typedef struct {
  PetscReal  volume[REGIONS_MAX];                       /* m^3; m^2 in two dimensions */
  Vector3    centre[REGIONS_MAX];                       /* of the volume; zero if there is none */
  PetscReal  surface[REGIONS_MAX];                      /* m^2; m in two dimensions */
  Vector3    lowest[REGIONS_MAX], highest[REGIONS_MAX]; /* ends along each axis; zero if there is no volume */
  PetscInt64 particles[REGIONS_MAX];                    /* markers */
  PetscInt64 escaped, dropped;       /* markers beyond the interface; lost in sinks; in the last step */
  PetscInt64 crossed;                /* markers that came to the other side of a shell in the last step */
  PetscInt   vanished;               /* 1 + a region that has lost all of its volume in the last step */
  PetscReal  front_area[FRONTS_MAX]; /* of the present fronts, m^2; m in two dimensions */
  PetscReal  burning[FRONTS_MAX];    /* volume of what burns there that turns into the product, m^3/s */
  PetscReal  burnt[FRONTS_MAX];      /* mass of it so far, kg */
  PetscReal  pending[REACTIONS_MAX]; /* of that, what is still to become product, kg */
  PetscReal  excess[REGIONS_MAX];    /* mass more than came, burnt and left, kg; only with reactions */
  PetscReal  imbalance;              /* sum of these */
} PhaseReport;
const PhaseReport *phase_report(Phase phase);
/* So much of a region has come in through a source. Not collective. */
void phase_take_in(Phase phase, PetscInt region, PetscReal volume);

/* Regions and markers, to an archive or to a frame. Collective: fluid. */
PetscErrorCode PhaseSave(Phase phase, Archive archive);
PetscErrorCode PhaseLoad(Phase phase, Archive archive);
PetscErrorCode PhaseWriteFrame(Phase phase, FrameSeries frames);

MILLRACE_API_END

#endif
