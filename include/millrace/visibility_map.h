/* Which neighbouring cells see each other past the shells of a Visibility: one bit per face and moment.

   A neighbour is seen if no shell lies between the two centres. The owner of the upper cell asks once per
   step and tells all who hold the cell as a ghost, so that all ranks agree. A null map means that there are
   no shells. */
#ifndef MILLRACE_VISIBILITY_MAP_H
#define MILLRACE_VISIBILITY_MAP_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/grid.h>
#include <millrace/visibility.h>

MILLRACE_API_BEGIN

typedef struct {
  MacGrid           grid;       /* borrowed */
  const Visibility *visibility; /* borrowed; null: there are no shells */
  /* by moment, in all local cells: bit d is set if a shell lies between the centres of the cell and of its
     lower neighbour along d; mirrored beyond sides */
  unsigned char *blocked[2];
  /* in all local cells: 1 if such a face, at either moment, lies within three cells */
  unsigned char *near_shell;
  PetscInt       count; /* of owned cells with that mark */
  PetscInt      *cells; /* these */
  Vec            marks; /* for exchange */
} VisibilityMap;

/* A map without shells; `grid` is borrowed. Collective: fluid. */
PetscErrorCode VisibilityMapCreate(MacGrid grid, VisibilityMap **map);
/* Frees the map; null is allowed. Collective: fluid. */
PetscErrorCode VisibilityMapDestroy(VisibilityMap **map);
/* Asks `visibility` (borrowed; null: no shells) for all pairs of neighbours; to be called whenever the shells
   have moved. Collective: fluid. */
PetscErrorCode VisibilityMapUpdate(VisibilityMap *map, const Visibility *visibility);

/* Whether a cell has shells so near that its stencils must ask what they see; none with a null map. */
static inline PetscBool is_near_shell(const VisibilityMap *map, PetscInt c)
{
  return map && map->near_shell[c] ? PETSC_TRUE : PETSC_FALSE;
}

/* Whether a shell lies between a cell and its neighbour along d below (side -1) or above (1). */
static inline PetscBool face_is_blocked(const VisibilityMap *map, StepMoment moment, PetscInt c, PetscInt d,
                                        PetscInt side)
{
  const PetscInt upper = side < 0 ? c : c + grid_box(map->grid)->stride[d];

  return map->blocked[moment][upper] >> d & 1 ? PETSC_TRUE : PETSC_FALSE;
}

/* The local cell around a point, which is owned or a ghost. */
PetscInt visibility_map_cell(const VisibilityMap *map, Vector3 point);

MILLRACE_API_END

#endif
