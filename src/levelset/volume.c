/* The volume inside, from the plane  distance + gradient . (x - centre) = 0  in every cell. With
   m_a = |gradient_a| / sum of all, m_0 >= m_1 >= m_2, and x counted in cells from the corner that is deepest
   inside, the inside is  sum of m_a x_a < alpha;  for alpha <= 1/2 (the rest by symmetry) its part of the
   cube is

     (C(alpha) - C(alpha - m_0) - C(alpha - m_1)) / (6 m_0 m_1),   C(x) = (x_+^3 - (x - m_2)_+^3) / m_2. */
#include "levelset_impl.h"

/* C, without its cancellation. */
static inline PetscReal cut_cube(PetscReal x, PetscReal low)
{
  if (x <= 0.)
    return 0.;
  return x < low ? x * x * x / low : 3. * x * (x - low) + low * low;
}

static PetscReal part_of_square(const PetscReal m[DIM], PetscReal alpha)
{
  return alpha < m[1] ? alpha * alpha / (2. * m[0] * m[1]) : (alpha - 0.5 * m[1]) / m[0];
}

static PetscReal part_of_cube(const PetscReal m[DIM], PetscReal alpha)
{
  const PetscReal beyond = alpha > m[0] ? cut_cube(alpha - m[0], m[2]) / (6. * m[0] * m[1]) : 0.;

  if (alpha - m[1] >= m[2])
    return (2. * alpha - m[1] - m[2]) / (2. * m[0]) - beyond;
  if (m[1] == 0.)
    return 0.;
  return (cut_cube(alpha, m[2]) - cut_cube(alpha - m[1], m[2])) / (6. * m[0] * m[1]) - beyond;
}

static void sort_down(PetscReal m[], PetscInt count)
{
  for (PetscInt i = 1; i < count; i++)
    for (PetscInt j = i; j > 0 && m[j] > m[j - 1]; j--) {
      const PetscReal swap = m[j];

      m[j] = m[j - 1];
      m[j - 1] = swap;
    }
}

PetscReal inside_fraction(PetscInt dimension, PetscReal distance, Vector3 gradient, PetscReal size)
{
  PetscReal m[DIM] = {0., 0., 0.}, sum = 0., alpha, part;

  for (PetscInt a = 0; a < dimension; a++)
    sum += PetscAbsReal(gradient.at[a]);
  if (PetscAbsReal(distance) >= 0.5 * size * sum)
    return distance < 0. ? 1. : 0.;
  for (PetscInt a = 0; a < dimension; a++)
    m[a] = PetscAbsReal(gradient.at[a]) / sum;
  sort_down(m, dimension);
  alpha = 0.5 - PetscAbsReal(distance) / (size * sum);
  part = dimension == 2 ? part_of_square(m, alpha) : part_of_cube(m, alpha);
  return distance < 0. ? 1. - part : part;
}

/* The plane lies at the mean height of the surface over a cell, h^2/24 times its curvature from where it
   touches it; the laplacian of a distance is the curvature. */
static PetscReal cell_part(PetscInt dimension, const PetscInt stride[DIM], const PetscReal *p, PetscReal h)
{
  const PetscReal most = (dimension - 1) * h / 24.;
  PetscReal       bend = 0.;
  Vector3         gradient = {{0., 0., 0.}};

  if (PetscAbsReal(p[0]) > 2. * h)
    return p[0] < 0. ? 1. : 0.;
  for (PetscInt a = 0; a < dimension; a++) {
    const PetscReal low = p[-stride[a]], high = p[stride[a]];

    gradient.at[a] = (high - low) / (2. * h);
    bend += (high - 2. * p[0] + low) / 24.;
  }
  bend = PetscMin(PetscMax(bend, -most), most);
  return inside_fraction(dimension, p[0] + bend, gradient, h);
}

static PetscReal seen_part(const VisibilityMap *map, const PetscReal *value, PetscInt c, PetscReal h)
{
  VisibleStencil stencil;

  visible_stencil_of_cell(map, c, 1, value, &stencil);
  return cell_part(grid_box(map->grid)->dimension, stencil.stride, stencil.value + stencil.centre, h);
}

PetscErrorCode LevelSetGetVolume(LevelSet level_set, Vec closed, PetscReal *volume)
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal h = grid_spacing(level_set->grid), *value, *closed_cells = NULL;
  const PetscInt  width = box->end[X] - box->start[X];
  ReproducibleSum sum = {0};
  PetscReal       whole = 0.; /* cells: their number is exact in any order */

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(level_set->distance, &value));
  if (closed)
    PetscCall(VecGetArrayRead(closed, &closed_cells));
  FOR_ROWS(box, j, k) {
    const PetscInt first = box_index(box, box->start[X], j, k);

    for (PetscInt c = first; c < first + width; c++)
      if (!closed_cells || !(closed_cells[c] > 0.)) {
        const PetscReal part = is_near_shell(level_set->visibility_map, c)
                                   ? seen_part(level_set->visibility_map, value, c, h)
                                   : cell_part(box->dimension, box->stride, value + c, h);

        if (part > 0. && part < 1.)
          sum_add(&sum, part);
        else
          whole += part;
      }
  }
  sum_add(&sum, whole);
  if (closed)
    PetscCall(VecRestoreArrayRead(closed, &closed_cells));
  PetscCall(VecRestoreArrayRead(level_set->distance, &value));
  PetscCall(SumOverRanks(box->comm, 1, &sum, volume));
  *volume *= h * h * (box->dimension == 3 ? h : 1.);
  PetscFunctionReturn(0);
}
