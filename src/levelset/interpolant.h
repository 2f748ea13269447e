/* The field between the cell centres: cubic in each direction through the four nearest centres; linear
   through the two nearest where the field has a kink, which a cubic would overshoot. */
#ifndef MILLRACE_LEVELSET_INTERPOLANT_H
#define MILLRACE_LEVELSET_INTERPOLANT_H

#include "levelset_impl.h"

/* Value and gradient, the latter per cell width. */
typedef struct {
  PetscReal value, gradient[DIM];
} Local;

KERNEL void cubic_weights(PetscReal f, PetscReal weight[4])
{
  weight[0] = -f * (f - 1.) * (f - 2.) / 6.;
  weight[1] = (f + 1.) * (f - 1.) * (f - 2.) / 2.;
  weight[2] = -(f + 1.) * f * (f - 2.) / 2.;
  weight[3] = (f + 1.) * f * (f - 1.) / 6.;
}

KERNEL void cubic_slopes(PetscReal f, PetscReal slope[4])
{
  slope[0] = -((3. * f - 6.) * f + 2.) / 6.;
  slope[1] = ((3. * f - 4.) * f - 1.) / 2.;
  slope[2] = -((3. * f - 2.) * f - 2.) / 2.;
  slope[3] = (3. * f * f - 1.) / 6.;
}

KERNEL void linear_weights(PetscReal f, PetscReal weight[4], PetscReal slope[4])
{
  weight[0] = weight[3] = slope[0] = slope[3] = 0.;
  weight[1] = 1. - f;
  weight[2] = f;
  slope[1] = -1.;
  slope[2] = 1.;
}

/* How sharply the field bends around the square or cube above `corner`: the largest second difference over
   the largest first one. A circle of radius R has about h/R, a kink 1 or more. */
KERNEL PetscReal roughness(const PetscReal *corner, const PetscInt stride[DIM], const PetscInt dimension)
{
  PetscReal bend = 0., slope = 1e-300;

  for (PetscInt a = 0; a < dimension; a++) {
    const PetscInt s = stride[a], t = stride[(a + 1) % dimension],
                   u = dimension == 3 ? stride[(a + 2) % 3] : 0;

    for (PetscInt n = 0; n < (dimension == 3 ? 4 : 2); n++) {
      const PetscReal *p = corner + (n & 1) * t + (n >> 1) * u;

      bend = PetscMax(bend, PetscAbsReal(p[-s] - 2. * p[0] + p[s]));
      bend = PetscMax(bend, PetscAbsReal(p[0] - 2. * p[s] + p[2 * s]));
      slope = PetscMax(slope, PetscAbsReal(p[s] - p[0]));
    }
  }
  return bend / slope;
}

/* Part of the cubic in the interpolant, the rest is linear. */
KERNEL PetscReal cubic_part(PetscReal rough)
{
  const PetscReal smooth = 0.5, kinked = 1.;

  return PetscMin(PetscMax((kinked - rough) / (kinked - smooth), 0.), 1.);
}

KERNEL void blended_weights(PetscReal f, PetscReal part, PetscReal weight[4], PetscReal slope[4])
{
  PetscReal straight[4], rise[4];

  cubic_weights(f, weight);
  cubic_slopes(f, slope);
  linear_weights(f, straight, rise);
  for (PetscInt n = 0; n < 4; n++) {
    weight[n] = straight[n] + part * (weight[n] - straight[n]);
    slope[n] = rise[n] + part * (slope[n] - rise[n]);
  }
}

/* At `fraction` of the way from `corner` to the opposite one. */
KERNEL Local interpolate(const PetscReal *corner, const PetscInt stride[DIM], const PetscReal fraction[DIM],
                         const PetscInt dimension)
{
  const PetscReal part = cubic_part(roughness(corner, stride, dimension));
  PetscReal       weight[DIM][4] = {{0.}}, slope[DIM][4] = {{0.}};
  Local           local = {0., {0., 0., 0.}};

  for (PetscInt a = 0; a < dimension; a++)
    blended_weights(fraction[a], part, weight[a], slope[a]);
  for (PetscInt k = 0; k < (dimension == 3 ? 4 : 1); k++) {
    const PetscReal *plane = dimension == 3 ? corner + (k - 1) * stride[Z] : corner;
    PetscReal        value = 0., along_x = 0., along_y = 0.;

    for (PetscInt j = 0; j < 4; j++) {
      const PetscReal *row = plane + (j - 1) * stride[Y];
      PetscReal        sum = 0., rise = 0.;

      for (PetscInt i = 0; i < 4; i++) {
        sum += weight[X][i] * row[i - 1];
        rise += slope[X][i] * row[i - 1];
      }
      value += weight[Y][j] * sum;
      along_x += weight[Y][j] * rise;
      along_y += slope[Y][j] * sum;
    }
    if (dimension == 2)
      return (Local){value, {along_x, along_y, 0.}};
    local.value += weight[Z][k] * value;
    local.gradient[X] += weight[Z][k] * along_x;
    local.gradient[Y] += weight[Z][k] * along_y;
    local.gradient[Z] += slope[Z][k] * value;
  }
  return local;
}

/* Splits a shift in cells, at most two, into whole cells and fractions; returns the index of the corner. With
   the cubic's reach it stays within three cells of c. */
KERNEL PetscInt find_corner(const PetscInt stride[DIM], PetscInt c, const PetscReal shift[DIM],
                            PetscReal fraction[DIM], const PetscInt dimension)
{
  for (PetscInt a = 0; a < dimension; a++) {
    const PetscInt whole = PetscMin((PetscInt)(shift[a] + 4.) - 4, 1);

    fraction[a] = shift[a] - whole;
    c += whole * stride[a];
  }
  return c;
}

#endif
