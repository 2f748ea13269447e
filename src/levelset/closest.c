/* Distance of a cell beside the interface: that of its centre x to the nearest point y of the zero set of the
   interpolant p (Chopp 2001), which has  p(y) = 0  and  x - y parallel to grad p(y). From y the iteration
   takes the Newton step along grad p to the zero set and the part of x - y across grad p. */
#include "interpolant.h"

/* One step from y; returns the square of its length, or a negative number if the field is flat there. */
KERNEL PetscReal approach(const GridBox *box, const PetscReal *value, PetscInt c, PetscReal y[DIM],
                          const PetscInt dimension)
{
  PetscReal      fraction[DIM], square = 0., along = 0., length = 0.;
  const PetscInt corner = find_corner(box->stride, c, y, fraction, dimension);
  const Local    local = interpolate(value + corner, box->stride, fraction, dimension);

  for (PetscInt a = 0; a < dimension; a++) {
    square += PetscSqr(local.gradient[a]);
    along -= y[a] * local.gradient[a];
  }
  if (square < 1e-200)
    return -1.;
  for (PetscInt a = 0; a < dimension; a++) {
    const PetscReal step = -(local.value + along) / square * local.gradient[a] - y[a];

    y[a] += step;
    length += PetscSqr(step);
  }
  return length;
}

KERNEL PetscBool find_closest(const GridBox *box, const PetscReal *value, PetscInt c, PetscReal *distance,
                              const PetscInt dimension)
{
  enum { STEPS = 10 };
  const PetscReal reach = 2., near = 1e-5; /* cells */
  PetscReal       y[DIM] = {0., 0., 0.};

  for (PetscInt s = 0; s < STEPS; s++) {
    const PetscReal moved = approach(box, value, c, y, dimension);
    PetscReal       square = 0.;

    if (moved < 0.)
      return PETSC_FALSE;
    for (PetscInt a = 0; a < dimension; a++) {
      if (!(PetscAbsReal(y[a]) <= reach))
        return PETSC_FALSE;
      square += PetscSqr(y[a]);
    }
    if (moved < PetscSqr(near)) {
      *distance = value[c] < 0. ? -PetscSqrtReal(square) : PetscSqrtReal(square);
      return PETSC_TRUE;
    }
  }
  return PETSC_FALSE;
}

/* From where straight lines along the axes meet the interface, the nearer in each direction: the distance (in
   cells) of the plane through them; false if the cell has no neighbour on the other side. */
KERNEL PetscBool crossing_distance(const GridBox *box, const PetscReal *value, PetscInt c,
                                   PetscReal *distance, const PetscInt dimension)
{
  const PetscReal own = value[c];
  PetscReal       sum = 0.;

  for (PetscInt a = 0; a < dimension; a++) {
    PetscReal nearest = 2.;

    for (PetscInt side = -1; side <= 1; side += 2) {
      const PetscReal other = value[c + side * box->stride[a]];

      if (changes_sign(own, other))
        nearest = PetscMin(nearest, own / (own - other));
    }
    if (nearest < 2.)
      sum += 1. / PetscSqr(PetscMax(nearest, 1e-12));
  }
  if (sum == 0.)
    return PETSC_FALSE;
  *distance = (own < 0. ? -1. : 1.) / PetscSqrtReal(sum);
  return PETSC_TRUE;
}

/* A zero set that is much nearer or farther than expected is another one, or a seam where two shapes were
   joined. */
KERNEL void set_run(LevelSet level_set, Run run, const PetscReal *from, PetscReal *value,
                    const PetscInt dimension)
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal h = grid_spacing(level_set->grid), reach = 2. * h, surprise = 1.;

  for (PetscInt c = run.first; c < run.first + run.count; c++) {
    PetscReal distance, crossing = 0.;
    PetscBool beside, found;

    level_set->mask[c] = CELL_WANTED;
    if (PetscAbsReal(value[c]) >= reach)
      continue;
    beside = crossing_distance(box, from, c, &crossing, dimension);
    found = find_closest(box, from, c, &distance, dimension);
    if (!found || PetscAbsReal(distance - (beside ? crossing : value[c] / h)) > surprise) {
      if (!beside)
        continue;
      distance = crossing;
    }
    level_set->mask[c] = CELL_KNOWN;
    value[c] = distance * h;
  }
}

VECTOR_CLONES void set_near(LevelSet level_set, const PetscReal from[], PetscReal value[])
{
  for (PetscInt r = 0; r < level_set->band.count; r++)
    if (grid_box(level_set->grid)->dimension == 2)
      set_run(level_set, level_set->band.runs[r], from, value, 2);
    else
      set_run(level_set, level_set->band.runs[r], from, value, 3);
}

void set_beside(LevelSet level_set, const PetscReal from[], PetscReal value[])
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal h = grid_spacing(level_set->grid);

  for (PetscInt r = 0; r < level_set->band.count; r++) {
    const Run run = level_set->band.runs[r];

    for (PetscInt c = run.first; c < run.first + run.count; c++) {
      PetscReal distance;

      level_set->mask[c] = CELL_WANTED;
      value[c] = from[c] < 0. ? -BAND_CELLS * h : BAND_CELLS * h;
      if (!crossing_distance(box, from, c, &distance, box->dimension))
        continue;
      level_set->mask[c] = CELL_KNOWN;
      value[c] = distance * h;
    }
  }
}

/* Whether a cell was a distance already, up to the error of the interpolant near a surface that is curved
   like this one. */
static inline PetscBool is_calm(const GridBox *box, const PetscReal *from, const PetscReal *value,
                                PetscReal h)
{
  PetscReal curvature = 0.; /* times h */

  for (PetscInt a = 0; a < box->dimension; a++)
    curvature += PetscAbsReal(from[box->stride[a]] - 2. * from[0] + from[-box->stride[a]]) / h;
  curvature /= box->dimension - 1;
  return PetscAbsReal(value[0] - from[0]) < h * PetscMin(0.5 * curvature * curvature * curvature + 1e-9, 3e-4)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

void keep_calm(LevelSet level_set, const PetscReal from[], PetscReal value[])
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal h = grid_spacing(level_set->grid), width = 1.8 * h;

  for (PetscInt r = 0; r < level_set->band.count; r++) {
    const Run run = level_set->band.runs[r];

    for (PetscInt c = run.first; c < run.first + run.count; c++) {
      PetscBool calm = level_set->mask[c] == CELL_KNOWN && is_calm(box, from + c, value + c, h);

      for (PetscInt a = 0; a < box->dimension && calm; a++)
        for (PetscInt side = -1; side <= 1; side += 2) {
          const PetscInt b = c + side * box->stride[a];

          if (PetscAbsReal(from[b]) < width && !is_calm(box, from + b, value + b, h))
            calm = PETSC_FALSE;
        }
      if (calm)
        value[c] = from[c];
    }
  }
}
