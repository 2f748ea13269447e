/* Distances from a surface, tabulated on a regular grid around it.

   Each node holds the exact distance and its exact gradient, (x - nearest point) / distance. Between nodes
   both are interpolated trilinearly, which is of second order where the distance is smooth, and the gradient
   is made unit. Across an unsigned surface and in walls thinner than a cell it is not smooth: samples of the
   surface tell, and then the tree of the surface is asked near by. */
#include "distance_grid.h"

enum { PADDING = 3, SAMPLES = 1000 }; /* cells beyond the surface; points to judge the grid by */

typedef struct {
  PetscReal value;
  Vector3   gradient;
} GridNode;

struct _p_DistanceGrid {
  Surface      surface; /* borrowed */
  DistanceSign sign;
  PetscInt     count[DIM]; /* of nodes */
  Vector3      low, high;
  PetscReal    spacing;
  PetscReal    band;       /* see distance_grid_band */
  PetscBool    faces_tell; /* the outer side of each triangle is outside: no piece overlaps another */
  GridNode    *nodes;
};

/* Exact and without a sign, the gradient too, which on the surface is its normal; `normal` as
   surface_nearest gives it. */
static PetscReal exact_distance(DistanceGrid grid, Vector3 point, PetscReal bound, Vector3 *gradient,
                                Vector3 *normal)
{
  Vector3         nearest, arm;
  const PetscReal distance = surface_nearest(grid->surface, point, bound, &nearest, normal);

  arm = vector3_subtract(point, nearest);
  if (distance > 1e-9 * grid->spacing)
    *gradient = vector3_scale(1 / vector3_norm(arm), arm);
  else
    *gradient = vector3_norm(*normal) > 0 ? *normal : vector3(0, 0, 1);
  return distance;
}

/* The side of the nearest triangle tells if the point is straight above or below it; else the winding number
   does, which costs more. */
static PetscBool is_inside_near(DistanceGrid grid, Vector3 point, Vector3 direction, Vector3 normal)
{
  const PetscReal along = vector3_dot(direction, normal);

  if (grid->faces_tell && PetscAbsReal(along) > 1 - 1e-9)
    return along < 0 ? PETSC_TRUE : PETSC_FALSE;
  return surface_is_inside(grid->surface, point);
}

static PetscInt node_number(const struct _p_DistanceGrid *grid, const PetscInt at[DIM])
{
  return (at[Z] * grid->count[Y] + at[Y]) * grid->count[X] + at[X];
}

/* Whether the surface cannot lie between the node and its neighbour, if that is known already. */
static PetscBool has_sign_of(DistanceGrid grid, PetscReal distance, const PetscInt at[DIM],
                             PetscInt direction, PetscBool *is_inside)
{
  PetscInt  beside[DIM] = {at[X], at[Y], at[Z]};
  PetscReal other;

  if (at[direction] == 0)
    return PETSC_FALSE;
  beside[direction]--;
  other = grid->nodes[node_number(grid, beside)].value;
  *is_inside = other < 0 ? PETSC_TRUE : PETSC_FALSE;
  return distance + PetscAbsReal(other) > 1.001 * grid->spacing ? PETSC_TRUE : PETSC_FALSE;
}

static void fill_node(DistanceGrid grid, const PetscInt at[DIM])
{
  GridNode *node = &grid->nodes[node_number(grid, at)];
  PetscBool is_inside = PETSC_FALSE, is_known = PETSC_FALSE;
  PetscReal bound = PETSC_INFINITY;
  Vector3   point, normal;

  for (int d = 0; d < DIM; d++)
    point.at[d] = grid->low.at[d] + grid->spacing * (PetscReal)at[d];
  if (at[X] > 0)
    bound = PetscAbsReal(node[-1].value) + grid->spacing;
  node->value = exact_distance(grid, point, bound, &node->gradient, &normal);
  if (grid->sign == DISTANCE_UNSIGNED)
    return;
  for (int d = 0; d < DIM && !is_known; d++)
    is_known = has_sign_of(grid, node->value, at, d, &is_inside);
  if (!is_known)
    is_inside = surface_is_inside(grid->surface, point);
  if (is_inside && node->value > 1e-9 * grid->spacing) { /* on the surface it is the normal: outwards */
    node->value = -node->value;
    node->gradient = vector3_scale(-1, node->gradient);
  }
}

/* The node below the point in each direction and the fraction of a cell above it; the point is in the grid.
 */
static void find_cell(DistanceGrid grid, Vector3 point, PetscInt cell[DIM], PetscReal fraction[DIM])
{
  for (int d = 0; d < DIM; d++) {
    const PetscReal place = (point.at[d] - grid->low.at[d]) / grid->spacing;

    cell[d] = PetscMin(PetscMax((PetscInt)place, 0), grid->count[d] - 2);
    fraction[d] = PetscMin(PetscMax(place - (PetscReal)cell[d], 0), 1);
  }
}

static PetscReal interpolate(DistanceGrid grid, Vector3 point, Vector3 *gradient)
{
  PetscInt  cell[DIM];
  PetscReal fraction[DIM], value = 0, heaviest = -1, norm;
  Vector3   sum = vector3(0, 0, 0);

  find_cell(grid, point, cell, fraction);
  for (int corner = 0; corner < 8; corner++) {
    const PetscInt  at[DIM] = {cell[X] + (corner & 1), cell[Y] + (corner >> 1 & 1), cell[Z] + (corner >> 2)};
    const GridNode *node = &grid->nodes[node_number(grid, at)];
    PetscReal       weight = 1;

    for (int d = 0; d < DIM; d++)
      weight *= corner >> d & 1 ? fraction[d] : 1 - fraction[d];
    value += weight * node->value;
    sum = vector3_add(sum, vector3_scale(weight, node->gradient));
    if (weight > heaviest) {
      heaviest = weight;
      *gradient = node->gradient;
    }
  }
  norm = vector3_norm(sum);
  if (norm > 1e-3) /* else half-way between two sides: that of the nearest node will do */
    *gradient = vector3_scale(1 / norm, sum);
  return value;
}

/* From the foot of the nearest point of the grid's box. */
static PetscReal extrapolate(DistanceGrid grid, Vector3 point, Vector3 *gradient)
{
  Vector3   entry = point, foot, arm;
  PetscReal distance;

  for (int d = 0; d < DIM; d++)
    entry.at[d] = PetscMin(PetscMax(point.at[d], grid->low.at[d]), grid->high.at[d]);
  distance = interpolate(grid, entry, gradient);
  foot = vector3_subtract(entry, vector3_scale(distance, *gradient));
  arm = vector3_subtract(point, foot);
  distance = vector3_norm(arm);
  *gradient = vector3_scale(1 / distance, arm);
  return distance;
}

static PetscBool grid_holds(DistanceGrid grid, Vector3 point)
{
  for (int d = 0; d < DIM; d++) {
    if (!(point.at[d] >= grid->low.at[d] && point.at[d] <= grid->high.at[d]))
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

PetscReal distance_grid_value(DistanceGrid grid, Vector3 point, Vector3 *gradient)
{
  PetscReal value, distance;
  Vector3   normal;

  if (!grid_holds(grid, point))
    return extrapolate(grid, point, gradient);
  value = interpolate(grid, point, gradient);
  if (PetscAbsReal(value) >= grid->band)
    return value;
  distance = exact_distance(grid, point, PETSC_INFINITY, gradient, &normal);
  if (grid->sign == DISTANCE_UNSIGNED || distance <= 1e-9 * grid->spacing ||
      !is_inside_near(grid, point, *gradient, normal))
    return distance;
  *gradient = vector3_scale(-1, *gradient);
  return -distance;
}

/* Point `n` of a sequence that fills the triangle evenly, but for a margin along its edges. */
static Vector3 triangle_sample(const Vector3 vertices[], const PetscInt corners[3], PetscInt n)
{
  const Vector3 a = vertices[corners[0]], b = vertices[corners[1]], c = vertices[corners[2]];
  PetscReal     u = (PetscReal)n * 0.7548776662466927 + 0.5, v = (PetscReal)n * 0.5698402909980532 + 0.5;

  u -= PetscFloorReal(u);
  v -= PetscFloorReal(v);
  if (u + v > 1) {
    u = 1 - u;
    v = 1 - v;
  }
  u = 0.94 * u + 0.02;
  v = 0.94 * v + 0.02;
  return vector3_add(
      a, vector3_add(vector3_scale(u, vector3_subtract(b, a)), vector3_scale(v, vector3_subtract(c, a))));
}

/* Twice the area, along the normal. */
static Vector3 triangle_area(const Vector3 vertices[], const PetscInt corners[3])
{
  const Vector3 a = vertices[corners[0]];

  return vector3_cross(vector3_subtract(vertices[corners[1]], a), vector3_subtract(vertices[corners[2]], a));
}

/* Whether the surface separates outside from inside there. */
static PetscBool is_boundary(DistanceGrid grid, Vector3 point, Vector3 area)
{
  const Vector3 step = vector3_scale(1e-3 * grid->spacing / vector3_norm(area), area);

  return surface_is_inside(grid->surface, vector3_subtract(point, step)) &&
                 !surface_is_inside(grid->surface, vector3_add(point, step))
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* At points spread over the surface: the mean of the distance that the grid gives, where it should be zero,
   and in a grid with a sign whether the faces tell it. */
static PetscErrorCode Judge(DistanceGrid grid, PetscReal *mean)
{
  PetscInt       triangle_count, samples = 0;
  const Vector3 *vertices;
  const PetscInt(*triangles)[3];
  PetscReal total = 0, area = 0;
  Vector3   gradient;

  PetscFunctionBegin;
  PetscCall(SurfaceGet(grid->surface, NULL, &vertices, &triangle_count, &triangles));
  for (PetscInt n = 0; n < triangle_count; n++)
    total += vector3_norm(triangle_area(vertices, triangles[n]));
  *mean = 0;
  grid->faces_tell = grid->sign == DISTANCE_SIGNED ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt n = 0; n < triangle_count; n++) {
    const Vector3 along = triangle_area(vertices, triangles[n]);

    area += vector3_norm(along);
    for (; (PetscReal)samples < area / total * SAMPLES; samples++) {
      const Vector3 point = triangle_sample(vertices, triangles[n], samples);

      *mean += PetscAbsReal(interpolate(grid, point, &gradient));
      grid->faces_tell = grid->faces_tell && is_boundary(grid, point, along) ? PETSC_TRUE : PETSC_FALSE;
    }
  }
  *mean /= PetscMax((PetscReal)samples, 1);
  PetscFunctionReturn(0);
}

static void lay_out(DistanceGrid grid, PetscInt cells)
{
  Vector3   low, high;
  PetscReal longest = 0;

  surface_bounds(grid->surface, &low, &high);
  for (int d = 0; d < DIM; d++)
    longest = PetscMax(longest, high.at[d] - low.at[d]);
  grid->spacing = longest / (PetscReal)cells;
  for (int d = 0; d < DIM; d++) {
    const PetscReal middle = 0.5 * (low.at[d] + high.at[d]);

    grid->count[d] =
        1 + 2 * PADDING + (PetscInt)PetscCeilReal((high.at[d] - low.at[d]) / grid->spacing - 1e-9);
    grid->low.at[d] = middle - 0.5 * grid->spacing * (PetscReal)(grid->count[d] - 1);
    grid->high.at[d] = middle + 0.5 * grid->spacing * (PetscReal)(grid->count[d] - 1);
  }
}

PetscErrorCode DistanceGridCreate(Surface surface, DistanceSign sign, PetscInt cells, DistanceGrid *grid)
{
  const PetscReal tolerable = 0.05; /* mean error in cells: a few sharp edges, but no thin walls */
  DistanceGrid    new_grid;
  PetscReal       error = 0;

  PetscFunctionBegin;
  PetscCall(PetscNew(&new_grid));
  new_grid->surface = surface;
  new_grid->sign = sign;
  lay_out(new_grid, cells);
  PetscCall(
      PetscMalloc1((size_t)new_grid->count[X] * new_grid->count[Y] * new_grid->count[Z], &new_grid->nodes));
  for (PetscInt k = 0; k < new_grid->count[Z]; k++) {
    for (PetscInt j = 0; j < new_grid->count[Y]; j++) {
      for (PetscInt i = 0; i < new_grid->count[X]; i++)
        fill_node(new_grid, (const PetscInt[]){i, j, k});
    }
  }
  PetscCall(Judge(new_grid, &error));
  if (sign == DISTANCE_UNSIGNED || error > tolerable * new_grid->spacing)
    new_grid->band = 2 * new_grid->spacing;
  *grid = new_grid;
  PetscFunctionReturn(0);
}

PetscErrorCode DistanceGridDestroy(DistanceGrid *grid)
{
  PetscFunctionBegin;
  if (!*grid)
    PetscFunctionReturn(0);
  PetscCall(PetscFree((*grid)->nodes));
  PetscCall(PetscFree(*grid));
  PetscFunctionReturn(0);
}

PetscReal distance_grid_spacing(DistanceGrid grid)
{
  return grid->spacing;
}

PetscReal distance_grid_band(DistanceGrid grid)
{
  return grid->band;
}
