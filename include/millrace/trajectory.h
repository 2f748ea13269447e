/* Trajectories along a velocity on faces, by the midpoint rule:

     end = x + dt u(x + dt/2 u(x)),  u linear between the faces of each component.

   Those that begin at cell centres, here, are kept as shifts in cells, so that nothing depends on where the
   box or a rank begins; loops go through rows in runs, in stages short enough for the compiler to vectorise.
   Those of points are made of the runs of point_run.h, those past shells by visible_stencil.h. */
#ifndef MILLRACE_TRAJECTORY_H
#define MILLRACE_TRAJECTORY_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/sampling.h>

MILLRACE_API_BEGIN

enum { SHIFT_RUN = 128 };

/* Where the values of a run come from: the lower corner of the cell around it, and the place in that. */
typedef struct {
  PetscInt  corner[SHIFT_RUN];
  PetscReal fraction[MILLRACE_DIM][SHIFT_RUN];
} DeparturePoints;

/* Part of a trajectory along an axis, `reach` at most; not a number counts as too far. */
MILLRACE_KERNEL PetscReal limited_shift(PetscReal shift, PetscReal reach)
{
  return PetscMin(PetscMax(shift, -reach), reach);
}

/* Splits the shifts of a run of `count` values from index `first` on into whole cells, added to the index,
   and fractions. A shift that misses a whole number by round-off counts as that number: in a flow that does
   not move along an axis, round-off must not choose the cell whose values limit a correction. */
MILLRACE_KERNEL void locate_shifts(const PetscInt stride[], const PetscReal *const shift[MILLRACE_DIM],
                                   PetscInt first, PetscInt count, DeparturePoints *places,
                                   const PetscInt dimension)
{
  const PetscReal round_off = 1e-10;

  for (PetscInt n = 0; n < count; n++)
    places->corner[n] = first + n;
  for (PetscInt a = 0; a < dimension; a++)
    for (PetscInt n = 0; n < count; n++) {
      const PetscInt whole = (PetscInt)(shift[a][n] + (4. + round_off)) - 4; /* floor for shifts above -4 */

      places->fraction[a][n] = shift[a][n] - whole;
      places->corner[n] += whole * stride[a];
    }
}

/* Along x last, so that two neighbours go through the rest as one vector. */
MILLRACE_KERNEL void sample_departures(const PetscInt stride[], const PetscReal *PETSC_RESTRICT field,
                                       const DeparturePoints *places, PetscInt count,
                                       PetscReal *PETSC_RESTRICT result, const PetscInt dimension)
{
  PetscReal pair[SHIFT_RUN][2];

  for (PetscInt n = 0; n < count; n++) {
    const PetscReal *low = field + places->corner[n];
    const PetscReal  z = dimension == 3 ? places->fraction[2][n] : 0.;

    linear_pair_across(low, stride, places->fraction[1][n], z, pair[n], dimension);
  }
  for (PetscInt n = 0; n < count; n++)
    result[n] = linear_between(pair[n][0], pair[n][1], places->fraction[0][n]);
}

/* Shifts, in cells, of the trajectories that begin at the centres of a run of `count` cells from `first` on,
   `reach` cells at most along each axis. `ratio` is that of the step to the spacing, negative against the
   flow; `shifts` begin at the first cell of the run. */
MILLRACE_KERNEL void trace_cells(const PetscInt stride[], PetscReal *const flow[MILLRACE_DIM],
                                 PetscReal ratio, PetscReal reach, PetscInt first, PetscInt count,
                                 PetscReal *const shifts[MILLRACE_DIM], const PetscInt dimension)
{
  PetscReal       half[MILLRACE_DIM][SHIFT_RUN], from_face[SHIFT_RUN];
  DeparturePoints places;

  for (PetscInt a = 0; a < dimension; a++) {
    const PetscReal *low = flow[a] + first, *high = low + stride[a];

    for (PetscInt n = 0; n < count; n++)
      half[a][n] = limited_shift(0.25 * ratio * (low[n] + high[n]), 0.5 * reach);
  }
  for (PetscInt e = 0; e < dimension; e++) {
    const PetscReal *shift[MILLRACE_DIM] = {half[0], half[1], half[2]};

    shift[e] = from_face; /* component e sits on the lower face */
    for (PetscInt n = 0; n < count; n++)
      from_face[n] = half[e][n] + 0.5;
    locate_shifts(stride, shift, first, count, &places, dimension);
    sample_departures(stride, flow[e], &places, count, shifts[e], dimension);
    for (PetscInt n = 0; n < count; n++)
      shifts[e][n] = limited_shift(ratio * shifts[e][n], reach);
  }
}

MILLRACE_API_END

#endif
