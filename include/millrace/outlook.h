/* What cells see of each other past the shells of a Visibility.

   A neighbour is seen if no shell lies between the two centres. A cell further away is seen from a place if
   one comes to it through such neighbours, always away from the place: around no corner. */
#ifndef MILLRACE_OUTLOOK_H
#define MILLRACE_OUTLOOK_H

#include <millrace/api.h>
#include <millrace/visibility.h>

MILLRACE_API_BEGIN

typedef struct {
  MacGrid           grid;       /* borrowed */
  const Visibility *visibility; /* borrowed; null: there are no shells */
  unsigned char *shut[2]; /* by moment, in all local cells: bit d is set if a shell lies between the centres
                             of the cell and of its lower neighbour along d; mirrored beyond sides */
  unsigned char
           *screened; /* in all local cells: 1 if such a face, at either moment, lies within three cells */
  PetscInt  count;    /* of owned cells with that mark */
  PetscInt *cells;    /* these */
  Vec       marks;    /* for exchange */
} Outlook;

/* Lifetime. Collective: fluid, as OutlookUpdate, which is to be called whenever the shells have moved. */
PetscErrorCode OutlookCreate(MacGrid grid, Outlook **outlook);
PetscErrorCode OutlookDestroy(Outlook **outlook);
PetscErrorCode OutlookUpdate(Outlook *outlook, const Visibility *visibility);

/* Whether a cell has shells so near that it has to look where it looks; an outlook that is null has none. */
static inline PetscBool is_screened(const Outlook *outlook, PetscInt c)
{
  return outlook && outlook->screened[c] ? PETSC_TRUE : PETSC_FALSE;
}
/* Whether a shell lies between a cell and its neighbour along d below (side -1) or above (1). */
static inline PetscBool face_is_shut(const Outlook *outlook, StepMoment moment, PetscInt c, PetscInt d,
                                     PetscInt side)
{
  const PetscInt upper = side < 0 ? c : c + grid_box(outlook->grid)->stride[d];

  return outlook->shut[moment][upper] >> d & 1 ? PETSC_TRUE : PETSC_FALSE;
}

/* A square or cube of values around a place as they are seen from there. In cells that are not seen the
   values are carried on from seen ones, linearly but without changing sign: a distance has no interface
   there. */
enum { PATCH_MOST = 7 }; /* cells along a patch */
typedef struct {
  PetscInt  width, stride[MILLRACE_DIM];
  PetscInt  center; /* index of the cell around which it lies, or of the corner below the point */
  PetscReal fraction[MILLRACE_DIM]; /* of the point, from that corner, in cells */
  PetscReal value[PATCH_MOST * PATCH_MOST * PATCH_MOST];
} Patch;

/* Around a cell, `reach` (at most three) cells to every side, at the end of the step. */
void patch_cell(const Outlook *outlook, PetscInt c, PetscInt reach, const PetscReal values[], Patch *patch);
/* Around a point, two cells to every side; false if none of them is seen from it. */
PetscBool patch_point(const Outlook *outlook, StepMoment moment, Vector3 point, const PetscReal values[],
                      Patch *patch);
PetscReal patch_linear(const Patch *patch, PetscInt dimension); /* at the point */
/* A cell field at a point as seen from there at the end of the step; false as above. */
PetscBool sample_seen_cells(const Outlook *outlook, const PetscReal values[], Vector3 point,
                            PetscReal *value);
/* Velocity at a point at the start of the step as seen from `eye`: behind a shell the flow relative to it
   goes on as before it. */
Vector3 sample_seen_faces(const Outlook *outlook, PetscReal *const faces[MILLRACE_DIM], Vector3 eye,
                          Vector3 point);

/* The local cell around a point, which is owned or a ghost. */
PetscInt outlook_cell(const Outlook *outlook, Vector3 point);

MILLRACE_API_END

#endif
