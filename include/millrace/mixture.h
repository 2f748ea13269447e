/* What fills the box, place by place, where that is not the same everywhere: `phase` computes it, `fluid`
   reads it. */
#ifndef MILLRACE_MIXTURE_H
#define MILLRACE_MIXTURE_H

#include <millrace/api.h>
#include <millrace/grid.h>

MILLRACE_API_BEGIN

/* Fields with valid ghosts. On a face between the lower and the upper cell the pressure accelerates by
   -mobility (p_upper - p_lower - jump) / h. */
typedef struct {
  Vec density[MILLRACE_DIM];  /* on faces: mass in the dual cell over its volume, kg/m^3; > 0 */
  Vec mobility[MILLRACE_DIM]; /* on faces: 1/density as the pressure sees it (4.3.1), over the part of the
                        cell width up to the surface beside empty cells; 0 between two empty cells */
  Vec jump[MILLRACE_DIM];     /* on faces: pressure just above the interface less that just below, Pa */
  Vec empty;                  /* in cells: 1 where there is nothing and p = 0, else 0 */
  Vec light;           /* in cells: 1 where it is empty or much lighter than elsewhere, else 0; null where
                          densities differ little. The caller creates it. */
  Vec       viscosity; /* in cells, Pa s */
  PetscBool uniform;   /* the same everywhere: it floats in itself */
  Vec edge_viscosity[MILLRACE_DIM]; /* on edges along d (in two dimensions only along z), Pa s: at c the edge
                              at the lower ends of cell c in the two other directions */
} Mixture;

/* Lifetime of the fields: zero at first. Collective: fluid. */
PetscErrorCode MixtureCreate(MacGrid grid, Mixture *mixture);
PetscErrorCode MixtureDestroy(Mixture *mixture);
/* The same everywhere. Collective: fluid. */
PetscErrorCode MixtureSetUniform(MacGrid grid, PetscReal density, PetscReal viscosity, Mixture *mixture);

MILLRACE_API_END

#endif
