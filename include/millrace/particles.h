/* Particles that live on the grid's ranks, each on the rank that owns the cell it is in.

   They lie in the order of their cells and, within a cell, of their numbers: whatever is summed over them has
   the same order on any number of ranks. */
#ifndef MILLRACE_PARTICLES_H
#define MILLRACE_PARTICLES_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/grid.h>
#include <millrace/grid_box.h>
#include <millrace/io.h>
#include <millrace/visibility_map.h>

MILLRACE_API_BEGIN

typedef struct _p_Particles *Particles;

/* Lifetime; `width` numbers are kept for each particle beside its position. Collective: fluid. */
PetscErrorCode ParticlesCreate(MacGrid grid, PetscInt width, Particles *particles);
PetscErrorCode ParticlesDestroy(Particles *particles);
PetscErrorCode ParticlesCopy(Particles from, Particles to); /* of the same grid and width */

/* This rank's particles, lent until their number or order changes. Those of owned cell c (counted tightly,
   x fastest) are first[c] <= n < first[c + 1]; `first` is null unless ParticlesArrange was the last change.
 */
typedef struct {
  PetscInt        count;
  Vector3        *positions; /* m; z is 0 in two dimensions */
  PetscReal      *values;    /* `width` for each */
  PetscInt64     *numbers;   /* no two alike in the whole set */
  const PetscInt *first;
} ParticleView;
/* Collective: fluid. */
PetscErrorCode ParticlesGetView(Particles particles, ParticleView *view);
PetscErrorCode ParticlesGetTotal(Particles particles, PetscInt64 *total); /* of all ranks. Collective. */

/* Adds particles, or drops the marked ones. Not collective; arrange later. */
PetscErrorCode ParticlesAdd(Particles particles, PetscInt count, const Vector3 positions[],
                            const PetscReal values[], const PetscInt64 numbers[]);
PetscErrorCode ParticlesDrop(Particles particles, const PetscBool drop[]);
/* Of particles in order, drops those in cells that pass one test and at places that pass the other (null: all
   of the cell), puts the rest in order again and adds this rank's number to `dropped`. Collective: fluid. */
typedef struct {
  PetscBool (*cell)(const void *context, const PetscInt at[MILLRACE_DIM]);
  PetscBool (*place)(const void *context, Vector3 position);
  const void *context;
} ParticleTest;
PetscErrorCode ParticlesDropWhere(Particles particles, const ParticleTest *test, PetscInt *dropped);
/* Sends every particle to the rank of its cell, wherever that is, wraps periodic directions, and puts them in
   order. At other sides those that are out by more than half a cell are dropped; the rest was carried there
   by errors and is mirrored back. Collective: fluid. */
PetscErrorCode ParticlesArrange(Particles particles);
/* How many of this rank came to the other side of a shell in the last move: none, unless a shell folds. */
PetscInt particles_crossed(Particles particles);
/* Moves all along `velocity` (faces, ghosts valid) over `dt` by the midpoint rule, cut to two cells in each
   direction, and arranges them. None passes through the shells of `map` (null: there are none), which move
   meanwhile. One that goes through a side is dropped if the velocity on that side points outwards there, too.
   Particles must be in cells of their rank. Collective: fluid. */
PetscErrorCode ParticlesMove(Particles particles, const VisibilityMap *map, Vec velocity[MILLRACE_DIM],
                             PetscReal dt);

/* Arranged particles lie in the order of their cells, in each cell in that of their numbers, no two of which
   are the same there, and each in the cell that it is counted in; an error otherwise. Not collective. */
PetscErrorCode ParticlesCheck(Particles particles);

/* On any number of ranks, the file being the same on all; what is saved is arranged. Collective: fluid. */
PetscErrorCode ParticlesSave(Particles particles, const char name[], Archive archive);
PetscErrorCode ParticlesLoad(Particles particles, const char name[], Archive archive);
/* A mesh of points; the first of the values as field `field`, unless that is null. Collective: fluid. */
PetscErrorCode ParticlesWriteFrame(Particles particles, const char name[], const char field[],
                                   FrameSeries frames);

MILLRACE_API_END

#endif
