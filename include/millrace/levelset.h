/* One moving interface: the zero set of a cell field that holds the signed distance, negative inside, in a
   band of cells around the interface, and plus or minus the band's width beyond. */
#ifndef MILLRACE_LEVELSET_H
#define MILLRACE_LEVELSET_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/grid.h>
#include <millrace/io.h>
#include <millrace/particles.h>
#include <millrace/visibility_map.h>

MILLRACE_API_BEGIN

typedef enum { INTERFACE_SEMI_LAGRANGIAN, INTERFACE_WENO5 } InterfaceScheme;

typedef struct {
  InterfaceScheme advection;
  PetscInt        particles; /* markers per cell beside the interface; 0: none */
} InterfaceConfig;

enum { BAND_CELLS = 6 }; /* half the width of the band */

/* In cells: far above what the order of sums changes in a distance, far below what anyone can see. Interfaces
   along the grid put whole rows of cells at a threshold; it is moved by so much, for what lies at it to lie
   on the same side of it on any number of ranks. */
#define MILLRACE_ROUND_OFF 1e-7

/* What a level set finds beyond a side of the box: its mirror image, so that interfaces meet the side at
   right angles; or, beyond an open side, what lies outside: the inside of this interface or the outside of
   it. */
typedef enum { BEYOND_SIDE_MIRROR, BEYOND_SIDE_INSIDE, BEYOND_SIDE_OUTSIDE } BeyondSide;
typedef struct {
  BeyondSide beyond[MILLRACE_DIM][2], above[MILLRACE_DIM][2]; /* `above`: beside cells with that mark */
  Vec        marks; /* of the cells beside open sides, see SideMark; ghosts valid; null without open sides */

  /* Where an interface meets a closed side at a given angle: 1 + the region on its other side, near the line
     of contact, else 0; ghosts valid; null: nowhere. */
  Vec              partners;
  PetscInt         partner_count;
  const PetscReal *slopes; /* outwards, of the distance, for 2 direction + side and each partner; infinite:
                              mirror images */
} LevelSetSides;

/* Marks of a cell beside an open side, for each of the six sides: another region flows in there; the cell
   lies above the level up to which a region stands outside. */
typedef enum { SIDE_MARK_ENTERING, SIDE_MARK_ABOVE, SIDE_MARKS } SideMark;
static inline PetscInt side_bit(SideMark mark, PetscInt direction, PetscInt side)
{
  return 1 << (2 * MILLRACE_DIM * (PetscInt)mark + 2 * direction + side);
}
static inline PetscBool has_side_mark(PetscReal marks, SideMark mark, PetscInt direction, PetscInt side)
{
  return (PetscInt)marks & side_bit(mark, direction, side) ? PETSC_TRUE : PETSC_FALSE;
}

typedef struct _p_LevelSet *LevelSet;

/* Lifetime; `config` must outlive it. Collective: fluid, as all that follows. */
PetscErrorCode LevelSetCreate(MacGrid grid, const InterfaceConfig *config, LevelSet *level_set);
PetscErrorCode LevelSetDestroy(LevelSet *level_set);
/* From now on nothing looks through shells, and distances do not pass them; borrowed; null: there are none.
   Collective: fluid. */
PetscErrorCode LevelSetSetVisibilityMap(LevelSet level_set, const VisibilityMap *map);
/* From now on; borrowed; null: mirror images everywhere. Collective: fluid. */
PetscErrorCode LevelSetSetSides(LevelSet level_set, const LevelSetSides *sides);
/* The field, lent, to be read or changed. Not collective. */
PetscErrorCode LevelSetGetField(LevelSet level_set, Vec *distance);
/* Makes ghosts and band valid again after the field was changed. Collective: fluid. */
PetscErrorCode LevelSetRefresh(LevelSet level_set);

/* Carries the interface along `velocity` (faces, ghosts valid) over `dt`. Collective: fluid. */
PetscErrorCode LevelSetAdvect(LevelSet level_set, Vec velocity[MILLRACE_DIM], PetscReal dt);
/* The field becomes that of `before`, which it was, carried on by one step of Heun's method: for a look, over
   one short `dt`, past shells. The band remains that of `before`; copying `before` back
   undoes it. Collective: fluid. */
PetscErrorCode LevelSetMoveFrom(LevelSet level_set, Vec before, Vec velocity[MILLRACE_DIM], PetscReal dt);
/* Makes the field a distance again without moving the interface. Collective: fluid. */
PetscErrorCode LevelSetRedistance(LevelSet level_set);
PetscErrorCode
LevelSetRebuild(LevelSet level_set); /* the same for a field of which only the signs are right */
/* Markers: value 0 is the radius (m), positive. Those of `own` mark the inside, those of the other sets the
   outside; a marker that has strayed by more than its radius pulls the field back (particle level set
   method). Collective: fluid. */
PetscErrorCode LevelSetCorrect(LevelSet level_set, PetscInt count, const Particles sets[], PetscInt own);
/* Gives the markers of the inside their radii, drops those far from the interface but not those that have
   strayed, and fills cells that have too few; `salt` and `step` are keys of the random positions, and `step`
   of the numbers: the same one only once between two moves. Collective: fluid. */
PetscErrorCode LevelSetSeed(LevelSet level_set, Particles inside, PetscInt salt, PetscInt64 step);
PetscInt64     level_set_most_seedings(LevelSet level_set); /* the largest `step` that has numbers */
PetscErrorCode LevelSetAdjustRadii(LevelSet level_set, Particles inside);

/* Volume inside over cells for which `closed` (null: none) is not positive; an area in two dimensions.
   Collective: fluid. */
PetscErrorCode LevelSetGetVolume(LevelSet level_set, Vec closed, PetscReal *volume);

/* On any distance field with valid ghosts. Curvature (1/m, positive where the inside is convex) in the cells
   beside the interface, zero elsewhere, from cells that see each other past the shells of `map` (null: there
   are none); ghosts between ranks are valid. Collective: fluid. */
PetscErrorCode DistanceGetCurvature(MacGrid grid, const VisibilityMap *map, Vec distance, Vec curvature);
/* The same of the level lines of the distance, after it was smoothed `passes` times by the weights 1, 2, 1,
   in all cells within `width` of the interface: corners are spread over some cells and keep their turning.
   Ghosts beyond sides are mirror images. Collective: fluid. */
PetscErrorCode LevelSetGetSmoothCurvature(LevelSet level_set, PetscInt passes, PetscReal width,
                                          Vec curvature);
/* Part of the square or cube around `point` of side `size` that is inside, from the value and the gradient
   there. */
PetscReal inside_fraction(PetscInt dimension, PetscReal distance, Vector3 gradient, PetscReal size);

/* Carries values on from the places where `known` is positive, `layers` cells deep, constant along the
   gradient of `distance` (which grows away from them; ghosts valid). `known` is a cell field; a face is known
   if one of its cells is. Faces take values from places that they see past the shells of `map` (null: there
   are none). Ghosts between ranks of all are valid afterwards; nothing beyond a side is used. Several fields
   (at most MOST_EXTENDED) are carried on at once, those of faces with the deepest first. Collective: fluid.
 */
enum { MOST_EXTENDED = 6 };
PetscErrorCode ExtendCells(MacGrid grid, Vec distance, Vec known, PetscInt layers, PetscInt count,
                           const Vec fields[]);
PetscErrorCode ExtendFaces(MacGrid grid, const VisibilityMap *map, Vec distance, Vec known, PetscInt count,
                           const PetscInt layers[], Vec *const faces[]);

/* Collective: fluid. */
PetscErrorCode LevelSetSave(LevelSet level_set, const char name[], Archive archive);
PetscErrorCode LevelSetLoad(LevelSet level_set, const char name[], Archive archive);

MILLRACE_API_END

#endif
