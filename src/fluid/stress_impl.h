/* The viscous operator of a mixture: private to src/fluid. */
#ifndef MILLRACE_STRESS_IMPL_H
#define MILLRACE_STRESS_IMPL_H

#include "fluid_impl.h"

/* In every unknown face  density u - dt div viscosity (grad u + grad u^T), per unit volume; zero elsewhere.
   Coefficients have what the operator needs of their ghosts. */
struct _p_Stress {
  Vec mass[DIM];    /* on faces: density, half of it on an open side, 0 where the face is no unknown */
  Vec normal;       /* in cells: 2 dt viscosity / h^2; 0 beyond the sides */
  Vec shear[DIM];   /* on edges along d: dt viscosity / h^2; 0 where no shear passes */
  Vec inverse[DIM]; /* of the diagonal; 0 where the face is no unknown */
  Vec residual[DIM], search[DIM], image[DIM];
};

/* stress_coefficients.c */
/* For steps of `dt`; creates what is not there. Collective: fluid. */
PetscErrorCode FluidSetUpStress(Fluid fluid, PetscReal dt);
/* The edge that a face of direction d shares with a place inside an obstacle: its direction and index. */
PetscInt rubbing_edge(const GridBox *box, PetscInt d, Rubbing pair, PetscInt *edge);

/* stress.c: result = take * mass * from - share * (div stress), given ghosts of `from`; `product` is this
   rank's sum of from * result. */
typedef struct {
  PetscReal take, share;
} StressMix;
PetscErrorCode FluidApplyStress(Fluid fluid, const StressMix *mix, Vec from[DIM], Vec result[DIM],
                                PetscReal *product);

#endif
