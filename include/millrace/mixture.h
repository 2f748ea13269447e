/* What fills the box, place by place, where that is not the same everywhere: `phase` computes it, `fluid`
   reads it. */
#ifndef MILLRACE_MIXTURE_H
#define MILLRACE_MIXTURE_H

#include <millrace/api.h>
#include <millrace/grid.h>

MILLRACE_API_BEGIN

/* Simulated regions that nothing tells apart, neither density nor viscosity nor a tension, flow as one: a
   group. Each has a velocity of its own, that is carried on into the others. */
enum { NO_GROUP = 255 };
typedef struct {
  PetscInt       count;   /* fewer than two: all flows with one velocity, and the rest is null */
  unsigned char *of_cell; /* of every local cell; NO_GROUP where it is empty */
  /* Cells whose lower faces may have more than one in their dual cells, and the mass of each there over
     h^dimension: at (DIM m + d) count + group for the face of direction d of the m-th. Elsewhere a face
     belongs to the group of its cells. */
  PetscInt        mixed_count;
  const PetscInt *mixed_cells;
  PetscReal      *masses;
  PetscReal      *kept; /* of these masses, what was there before the last step as well */
  PetscReal      *leap; /* what each sees of a face's velocity more than that is, m/s; null: the same */
} VelocityGroups;

enum { MIXTURE_STRESSES = 2 * MILLRACE_DIM };

/* Fields with valid ghosts. On a face between the lower and the upper cell the pressure accelerates by
   -mobility (p_upper - p_lower - jump) / h. */
typedef struct {
  Vec density[MILLRACE_DIM];     /* on faces: mass in the dual cell over its volume, kg/m^3; > 0 */
  Vec mobility[MILLRACE_DIM];    /* on faces: 1/density as the pressure sees it (4.3.1), over the part of the
                           cell width up to the surface beside empty cells; 0 between two empty cells */
  Vec       jump[MILLRACE_DIM];  /* on faces: pressure just above the interface less that just below, Pa */
  Vec       empty;               /* in cells: 1 where there is nothing and p = 0, else 0 */
  Vec       viscosity;           /* in cells, Pa s */
  PetscBool uniform;             /* the same everywhere: it floats in itself */
  PetscBool becomes_viscous;     /* sooner or later: accelerations are kept from the start */
  PetscReal largest_diffusivity; /* viscosity over density, m^2/s */
  VelocityGroups groups;         /* lent by the caller, who fills it */
  Vec edge_viscosity[MILLRACE_DIM]; /* on edges along d (in two dimensions only along z), Pa s: at c the edge
                              at the lower ends of cell c in the two other directions */
  /* What acts within a step beside viscosity, Pa: normal stresses along each direction in cells, then shear
     stresses on edges along each (in two dimensions only along z); null where there are none. */
  Vec stress[MIXTURE_STRESSES];
  Vec expansion; /* in cells, 1/s: the divergence of the velocity where fronts burn; null: none anywhere */
} Mixture;

/* Lifetime of the fields: zero at first. Collective: fluid. */
PetscErrorCode MixtureCreate(MacGrid grid, Mixture *mixture);
PetscErrorCode MixtureDestroy(Mixture *mixture);
PetscErrorCode MixtureCreateStress(MacGrid grid, Mixture *mixture); /* zero; collective: fluid */
/* The same everywhere. Collective: fluid. */
PetscErrorCode MixtureSetUniform(MacGrid grid, PetscReal density, PetscReal viscosity, Mixture *mixture);

MILLRACE_API_END

#endif
