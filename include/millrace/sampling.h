/* Values between those of the grid, and derivatives from them. */
#ifndef MILLRACE_SAMPLING_H
#define MILLRACE_SAMPLING_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/grid_box.h>

MILLRACE_API_BEGIN

/* Velocity or a cell field at a point within one cell of this rank's part, (bi-, tri-) linearly; `origin` is
   the lower corner of the whole box. */
Vector3   sample_faces(const GridBox *box, Vector3 origin, PetscReal spacing,
                       PetscReal *const faces[MILLRACE_DIM], Vector3 point);
PetscReal sample_cells(const GridBox *box, Vector3 origin, PetscReal spacing, const PetscReal *cells,
                       Vector3 point);
/* A field at a place in spacings from its value of index (0, 0, 0) of the whole box. */
PetscReal sample_linear(const GridBox *box, const PetscReal *field, const PetscReal place[MILLRACE_DIM]);

/* Component d of the velocity on faces u at the centre of cell c, and of its vorticity times twice the
   spacing: differences of the former. */
static inline PetscReal centred_velocity(const GridBox *box, PetscReal *const u[MILLRACE_DIM], PetscInt d,
                                         PetscInt c)
{
  return d < box->dimension ? 0.5 * (u[d][c] + u[d][c + box->stride[d]]) : 0.;
}
static inline PetscReal centred_slope(const GridBox *box, PetscReal *const u[MILLRACE_DIM], PetscInt d,
                                      PetscInt a, PetscInt c)
{
  if (a >= box->dimension || d >= box->dimension)
    return 0.;
  return centred_velocity(box, u, d, c + box->stride[a]) - centred_velocity(box, u, d, c - box->stride[a]);
}
static inline PetscReal centred_vorticity(const GridBox *box, PetscReal *const u[MILLRACE_DIM], PetscInt d,
                                          PetscInt c)
{
  const PetscInt next = (d + 1) % MILLRACE_DIM, last = (d + 2) % MILLRACE_DIM;

  return centred_slope(box, u, last, next, c) - centred_slope(box, u, next, last, c);
}

MILLRACE_KERNEL PetscReal linear_between(PetscReal a, PetscReal b, PetscReal fraction)
{
  return a + fraction * (b - a);
}

/* Between a value and its upper neighbours along y and, in three dimensions, z; and the same of its upper
   neighbour along x: in a loop over points the two are one vector. */
MILLRACE_KERNEL void linear_pair_across(const PetscReal *low, const PetscInt stride[], PetscReal y,
                                        PetscReal z, PetscReal pair[2], const PetscInt dimension)
{
  const PetscReal *back = low + stride[1];

  for (PetscInt side = 0; side < 2; side++) {
    pair[side] = linear_between(low[side], back[side], y);
    if (dimension == 3)
      pair[side] =
          linear_between(pair[side], linear_between(low[stride[2] + side], back[stride[2] + side], y), z);
  }
}

/* Between a value and all of its upper neighbours, along x last. */
MILLRACE_KERNEL PetscReal linear_above(const PetscReal *low, const PetscInt stride[],
                                       const PetscReal fraction[MILLRACE_DIM], const PetscInt dimension)
{
  PetscReal pair[2];

  linear_pair_across(low, stride, fraction[1], fraction[2], pair, dimension);
  return linear_between(pair[0], pair[1], fraction[0]);
}

/* The largest whole number not above `place`, which is above -8. */
MILLRACE_KERNEL PetscInt whole_below(PetscReal place)
{
  return (PetscInt)(place + 8.) - 8;
}

/* The fifth-order upwind derivative of Jiang and Peng (2000) from the five slopes that lie upwind, of the
   order of one; the three weights over a common denominator, since divisions are what takes time. */
MILLRACE_KERNEL PetscReal weno_slope(PetscReal a, PetscReal b, PetscReal c, PetscReal d, PetscReal e)
{
  const PetscReal first = 2. * a - 7. * b + 11. * c, second = -b + 5. * c + 2. * d,
                  third = 2. * c + 5. * d - e;
  const PetscReal small = 1e-6 * (a * a + b * b + c * c + d * d + e * e) + 1e-30;
  const PetscReal s1 = small + 13. / 12. * PetscSqr(a - 2. * b + c) + 0.25 * PetscSqr(a - 4. * b + 3. * c);
  const PetscReal s2 = small + 13. / 12. * PetscSqr(b - 2. * c + d) + 0.25 * PetscSqr(b - d);
  const PetscReal s3 = small + 13. / 12. * PetscSqr(c - 2. * d + e) + 0.25 * PetscSqr(3. * c - 4. * d + e);
  const PetscReal w1 = PetscSqr(s2 * s3), w2 = 6. * PetscSqr(s1 * s3), w3 = 3. * PetscSqr(s1 * s2);

  return (w1 * first + w2 * second + w3 * third) / (6. * (w1 + w2 + w3));
}

MILLRACE_API_END

#endif
