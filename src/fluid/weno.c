/* Advection for accuracy studies: dw/dt = -u . grad w with the fifth-order upwind WENO derivative of Jiang
   and Peng (2000) in each direction and the three-stage TVD Runge-Kutta method of Shu and Osher. */
#include "fluid_impl.h"

#include <millrace/sampling.h>

/* Derivative (times h) from the five differences that lie upwind, of any size. */
static inline PetscReal weno_difference(PetscReal a, PetscReal b, PetscReal c, PetscReal d, PetscReal e)
{
  const PetscReal size = PetscMax(PetscMax(PetscAbsReal(a), PetscAbsReal(b)),
                                  PetscMax(PetscAbsReal(c), PetscMax(PetscAbsReal(d), PetscAbsReal(e))));

  return size > 0. ? size * weno_slope(a / size, b / size, c / size, d / size, e / size) : 0.;
}

/* Behind the faces of an open upper side there is one ghost less (the side took it), and no slope. */
typedef enum { REACH_WHOLE, REACH_CUT } StencilReach;

static inline PetscReal upwind_difference(const PetscReal *f, PetscInt s, PetscReal u, StencilReach reach)
{
  if (u > 0.)
    return weno_difference(f[-2 * s] - f[-3 * s], f[-s] - f[-2 * s], f[0] - f[-s], f[s] - f[0],
                           f[2 * s] - f[s]);
  return weno_difference(reach == REACH_CUT ? 0. : f[3 * s] - f[2 * s], f[2 * s] - f[s], f[s] - f[0],
                         f[0] - f[-s], f[-s] - f[-2 * s]);
}

/* Component e of the flow at the place of value c: its own face, the mean of two at a centre or of four at a
 * face. */
static inline PetscReal flow_at(const GridBox *box, PetscReal *const flow[DIM], PetscInt direction,
                                PetscInt e, PetscInt c)
{
  const PetscInt up = box->stride[e];
  const PetscInt back = direction == CELL_VALUES ? c : c - box->stride[direction];

  if (e == direction)
    return flow[e][c];
  return 0.25 * (flow[e][c] + flow[e][c + up] + flow[e][back] + flow[e][back + up]);
}

/* One Euler stage: stage = mix w + (1 - mix) (stage + dt * rate(stage)). */
static PetscErrorCode EulerStage(Fluid fluid, const AdvectedField *carried, PetscReal mix, Vec start,
                                 Vec stage)
{
  const GridBox  *box = grid_box(fluid->grid);
  const GridRange range = carried_range(fluid, carried);
  const PetscReal ratio = carried->dt / grid_spacing(fluid->grid);
  PetscReal      *flow[DIM], *from, *now, *after;

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(fluid->grid, fluid->earlier, flow));
  PetscCall(VecGetArray(start, &from));
  PetscCall(VecGetArray(stage, &now));
  PetscCall(VecGetArray(fluid->scratch[1], &after));
  FOR_CELLS(&range, i, j, k) {
    const PetscInt at[DIM] = {i, j, k}, c = box_index(box, i, j, k);
    PetscReal      rate = 0.;

    for (PetscInt e = 0; e < box->dimension; e++) {
      const PetscReal    u = flow_at(box, flow, carried->direction, e, c);
      const StencilReach reach = at[e] == box->cells[e] ? REACH_CUT : REACH_WHOLE;

      rate -= u * upwind_difference(now + c, box->stride[e], u, reach);
    }
    after[c] = mix * from[c] + (1. - mix) * (now[c] + ratio * rate);
  }
  PetscCall(VecRestoreArray(fluid->scratch[1], &after));
  PetscCall(VecRestoreArray(stage, &now));
  PetscCall(VecRestoreArray(start, &from));
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->earlier, flow));
  PetscCall(VecCopy(fluid->scratch[1], stage));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidAdvectWeno(Fluid fluid, const AdvectedField *carried, Vec field)
{
  const Vec       stage = fluid->scratch[0];
  const PetscReal mix[3] = {0., 0.75, 1. / 3.};
  const PetscReal stamp[3] = {0., 1., 0.5}; /* time of each stage's input, in steps */

  PetscFunctionBegin;
  PetscCall(VecCopy(field, stage));
  for (PetscInt s = 0; s < 3; s++) {
    PetscCall(FluidFillCarriedGhosts(fluid, carried, stage, fluid->time + stamp[s] * carried->dt));
    PetscCall(EulerStage(fluid, carried, mix[s], field, stage));
    PetscCall(FluidAdvectNearShells(fluid, carried, field, stage)); /* no stage looks through a shell */
  }
  PetscCall(VecCopy(stage, field));
  PetscFunctionReturn(0);
}
