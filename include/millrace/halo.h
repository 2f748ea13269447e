/* Copies of the particles in one layer of cells around this rank's part, periodic images included.

   Whoever goes through the cells of `box` in the order of their indices meets the particles of any
   neighbourhood in the same order on any number of ranks: sums have the same bits. */
#ifndef MILLRACE_HALO_H
#define MILLRACE_HALO_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/grid_box.h>
#include <millrace/particles.h>

MILLRACE_API_BEGIN

typedef struct _p_Halo *Halo;

/* Lent until the halo is built again. Particle n of a cell is this rank's own if n < own, else copy n - own.
 */
typedef struct {
  const GridBox    *box;            /* owned cells and one layer around them; box_index counts its cells */
  const PetscInt   *start, *length; /* of each cell; empty beyond sides that are not periodic */
  PetscInt          own;            /* particles of this rank */
  PetscInt          count;          /* copies */
  const Vector3    *positions;      /* of the copies; images are moved by the period */
  const PetscInt64 *numbers;
} HaloView;

/* `particles` is borrowed. Destroy accepts a null halo. Collective: fluid. */
PetscErrorCode HaloCreate(Particles particles, Halo *halo);
PetscErrorCode HaloDestroy(Halo *halo);
/* Of arranged particles, as they are now. Collective: fluid. */
PetscErrorCode HaloBuild(Halo halo);
/* Not collective. */
PetscErrorCode HaloGetView(Halo halo, HaloView *view);
/* `width` numbers of every particle of this rank become known of the copies, of which there is one set per
   copy in `copies`. Collective: fluid. */
PetscErrorCode HaloExchange(Halo halo, PetscInt width, const PetscReal own[], PetscReal copies[]);

MILLRACE_API_END

#endif
