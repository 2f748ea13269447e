/* Distance of a cell beside the interface: that of its centre x to the nearest point y of the zero set of the
   interpolant p (Chopp 2001), which has  p(y) = 0  and  x - y parallel to grad p(y). From y the iteration
   takes the Newton step along grad p to the zero set and the part of x - y across grad p. */
#include "interpolant.h"

/* One step from y; returns the square of its length, or a negative number if the field is flat there. */
KERNEL PetscReal approach(const PetscInt stride[DIM], const PetscReal *value, PetscReal y[DIM],
                          const PetscInt dimension)
{
  PetscReal      fraction[DIM], square = 0., along = 0., length = 0.;
  const PetscInt corner = find_corner(stride, 0, y, fraction, dimension);
  const Local    local = interpolate(value + corner, stride, fraction, dimension);

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

KERNEL PetscBool find_closest(const PetscInt stride[DIM], const PetscReal *value, PetscReal *distance,
                              const PetscInt dimension)
{
  enum { STEPS = 10 };
  const PetscReal reach = 2., near = 1e-5; /* cells */
  PetscReal       y[DIM] = {0., 0., 0.};

  for (PetscInt s = 0; s < STEPS; s++) {
    const PetscReal moved = approach(stride, value, y, dimension);
    PetscReal       square = 0.;

    if (moved < 0.)
      return PETSC_FALSE;
    for (PetscInt a = 0; a < dimension; a++) {
      if (!(PetscAbsReal(y[a]) <= reach))
        return PETSC_FALSE;
      square += PetscSqr(y[a]);
    }
    if (moved < PetscSqr(near)) {
      *distance = value[0] < 0. ? -PetscSqrtReal(square) : PetscSqrtReal(square);
      return PETSC_TRUE;
    }
  }
  return PETSC_FALSE;
}

/* From where straight lines along the axes meet the interface, the nearer in each direction: the distance (in
   cells) of the plane through them; false if the cell has no neighbour on the other side. */
KERNEL PetscBool crossing_distance(const PetscInt stride[DIM], const PetscReal *value, PetscReal *distance,
                                   const PetscInt dimension)
{
  const PetscReal own = value[0];
  PetscReal       sum = 0.;

  for (PetscInt a = 0; a < dimension; a++) {
    PetscReal nearest = 2.;

    for (PetscInt side = -1; side <= 1; side += 2) {
      const PetscReal other = value[side * stride[a]];

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

/* The distance (m) of a cell around which the field is `from`; `value` is what it was so far. A zero set that
   is much nearer or farther than expected is another one, or a seam where two shapes were joined. */
KERNEL PetscBool near_distance(const PetscInt stride[DIM], const PetscReal *from, PetscReal h,
                               PetscReal *value, const PetscInt dimension)
{
  const PetscReal surprise = 1.;
  PetscReal       distance, crossing = 0.;
  const PetscBool beside = crossing_distance(stride, from, &crossing, dimension);
  const PetscBool found = find_closest(stride, from, &distance, dimension);

  if (!found || PetscAbsReal(distance - (beside ? crossing : *value / h)) > surprise) {
    if (!beside)
      return PETSC_FALSE;
    distance = crossing;
  }
  *value = distance * h;
  return PETSC_TRUE;
}

/* The same from what the cell sees. */
static PetscBool seen_distance(const VisibilityMap *map, const PetscReal *from, PetscInt c, PetscReal h,
                               PetscReal *value)
{
  VisibleStencil stencil;

  visible_stencil_of_cell(map, c, 3, from, &stencil);
  return grid_box(map->grid)->dimension == 2
             ? near_distance(stencil.stride, stencil.value + stencil.centre, h, value, 2)
             : near_distance(stencil.stride, stencil.value + stencil.centre, h, value, 3);
}

KERNEL void set_run(LevelSet level_set, BandRun run, const PetscReal *from, PetscReal *value,
                    const PetscInt dimension)
{
  const PetscInt *stride = grid_box(level_set->grid)->stride;
  const PetscReal h = grid_spacing(level_set->grid), reach = (2. - MILLRACE_ROUND_OFF) * h;

  for (PetscInt c = run.first; c < run.first + run.count; c++) {
    PetscBool known;

    level_set->mask[c] = CELL_WANTED;
    if (PetscAbsReal(value[c]) >= reach)
      continue;
    known = is_near_shell(level_set->visibility_map, c)
                ? seen_distance(level_set->visibility_map, from, c, h, value + c)
                : near_distance(stride, from + c, h, value + c, dimension);
    if (known)
      level_set->mask[c] = CELL_KNOWN;
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

static PetscBool beside_distance(LevelSet level_set, const PetscReal from[], PetscInt c, PetscReal *distance)
{
  const GridBox *box = grid_box(level_set->grid);
  VisibleStencil stencil;

  if (!is_near_shell(level_set->visibility_map, c))
    return crossing_distance(box->stride, from + c, distance, box->dimension);
  visible_stencil_of_cell(level_set->visibility_map, c, 1, from, &stencil);
  return crossing_distance(stencil.stride, stencil.value + stencil.centre, distance, box->dimension);
}

void set_beside(LevelSet level_set, const PetscReal from[], PetscReal value[])
{
  const PetscReal h = grid_spacing(level_set->grid);

  for (PetscInt r = 0; r < level_set->band.count; r++) {
    const BandRun run = level_set->band.runs[r];

    for (PetscInt c = run.first; c < run.first + run.count; c++) {
      PetscReal distance;

      level_set->mask[c] = CELL_WANTED;
      value[c] = from[c] < 0. ? -BAND_CELLS * h : BAND_CELLS * h;
      if (!beside_distance(level_set, from, c, &distance))
        continue;
      level_set->mask[c] = CELL_KNOWN;
      value[c] = distance * h;
    }
  }
}

/* Whether a cell was a distance already, up to the error of the interpolant near a surface that is curved
   like this one. A direction in which a shell bounds the view counts as flat. */
static PetscBool is_calm(LevelSet level_set, const PetscReal *from, const PetscReal *value, PetscInt c,
                         PetscReal h)
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscBool near_shell = is_near_shell(level_set->visibility_map, c);
  PetscReal       curvature = 0.; /* times h */

  for (PetscInt a = 0; a < box->dimension; a++)
    if (!near_shell || !(face_is_blocked(level_set->visibility_map, STEP_END, c, a, -1) ||
                         face_is_blocked(level_set->visibility_map, STEP_END, c, a, 1)))
      curvature += PetscAbsReal(from[c + box->stride[a]] - 2. * from[c] + from[c - box->stride[a]]) / h;
  curvature /= box->dimension - 1;
  return PetscAbsReal(value[c] - from[c]) < h * PetscMin(0.5 * curvature * curvature * curvature + 1e-9, 3e-4)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

static PetscBool is_calm_around(LevelSet level_set, const PetscReal *from, const PetscReal *value, PetscInt c,
                                PetscReal h)
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal width = 1.8 * h;

  if (!is_calm(level_set, from, value, c, h))
    return PETSC_FALSE;
  for (PetscInt a = 0; a < box->dimension; a++)
    for (PetscInt side = -1; side <= 1; side += 2) {
      const PetscInt b = c + side * box->stride[a];

      if (is_near_shell(level_set->visibility_map, c) &&
          face_is_blocked(level_set->visibility_map, STEP_END, c, a, side))
        continue;
      if (PetscAbsReal(from[b]) < width && !is_calm(level_set, from, value, b, h))
        return PETSC_FALSE;
    }
  return PETSC_TRUE;
}

void restore_calm_cells(LevelSet level_set, const PetscReal from[], PetscReal value[])
{
  const PetscReal h = grid_spacing(level_set->grid);

  for (PetscInt r = 0; r < level_set->band.count; r++) {
    const BandRun run = level_set->band.runs[r];

    for (PetscInt c = run.first; c < run.first + run.count; c++)
      if (level_set->mask[c] == CELL_KNOWN && is_calm_around(level_set, from, value, c, h))
        value[c] = from[c];
  }
}
