/* What the files of the room share. */
#ifndef MILLRACE_LEVELSET_IMPL_H
#define MILLRACE_LEVELSET_IMPL_H

#include <millrace/levelset.h>
#include <millrace/sums.h>
#include <millrace/visible_stencil.h>

/* Cells of one row: flat indices first <= c < first + count, at most RUN of them. */
enum { RUN = 128 };
typedef struct {
  PetscInt first, count;
} BandRun;

typedef struct {
  BandRun *runs; /* in the order of memory */
  PetscInt count, capacity;
  PetscInt cells;
} Band;

struct _p_LevelSet {
  MacGrid                grid;           /* borrowed */
  const InterfaceConfig *config;         /* borrowed */
  const VisibilityMap   *visibility_map; /* borrowed; null: there are no shells */
  const LevelSetSides   *sides;          /* borrowed; null: mirror images */
  Vec                    distance, stage, start;
  Band                   band;              /* owned cells with |distance| < BAND_CELLS h */
  unsigned char         *mask, *other_mask; /* scratch of all local cells, ghosts included */
};

/* band.c: the owned cells with |value| < width, and those up to `margin` cells beside them. */
PetscErrorCode BandBuild(LevelSet level_set, const PetscReal value[], PetscReal width, PetscInt margin);

/* ghosts.c: ghosts of one of the level set's fields, between ranks and beyond the sides. */
PetscErrorCode LevelSetFillGhosts(LevelSet level_set, Vec field);

/* weno.c, semi_lagrangian.c */
PetscErrorCode LevelSetAdvectWeno(LevelSet level_set, Vec velocity[DIM], PetscReal dt);
PetscErrorCode LevelSetAdvectSemiLagrangian(LevelSet level_set, Vec velocity[DIM], PetscReal dt);

/* shell_transport.c: what the cells near shells hold after a step, in their order; the caller frees it. */
PetscErrorCode LevelSetAdvectNearShells(LevelSet level_set, PetscReal *const flow[DIM], PetscReal dt,
                                        const PetscReal from[], PetscReal **results);

/* closest.c: cells of the band that lie within two cells of the interface, by what `value` says so far, take
   the distance to the zero set of the field `from` and are marked CELL_KNOWN, the others CELL_WANTED. */
void set_near(LevelSet level_set, const PetscReal from[], PetscReal value[]);
/* Gives those back that with their neighbours had a distance already, or the interface would move by the
   error of the interpolant whenever this is repeated. Ghosts are valid. */
void restore_calm_cells(LevelSet level_set, const PetscReal from[], PetscReal value[]);
/* As set_near, for cells with a neighbour on the other side; all others forget their distance. */
void set_beside(LevelSet level_set, const PetscReal from[], PetscReal value[]);

/* march.c: the distance in the rest of the band from the cells that are known. */
enum { CELL_KNOWN = 1, CELL_WANTED = 2 };
PetscErrorCode BandFlood(LevelSet level_set);
PetscErrorCode BandMarch(LevelSet level_set);

static inline PetscBool changes_sign(PetscReal a, PetscReal b)
{
  return (a < 0.) != (b < 0.) ? PETSC_TRUE : PETSC_FALSE;
}

#endif
