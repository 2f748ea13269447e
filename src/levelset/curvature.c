/* kappa = div (grad phi / |grad phi|)
         = sum over a, b of (delta_ab |g|^2 - g_a g_b) phi_ab / |g|^3,  g = grad phi, by central differences.
 */
#include "levelset_impl.h"

KERNEL PetscReal curvature_at(const PetscReal *p, const PetscInt stride[DIM], PetscReal h,
                              const PetscInt dimension)
{
  PetscReal g[DIM], second[DIM], square = 1e-200, trace = 0., bent = 0.;

  for (PetscInt a = 0; a < dimension; a++) {
    const PetscInt s = stride[a];

    g[a] = (8. * (p[s] - p[-s]) - (p[2 * s] - p[-2 * s])) / (12. * h);
    second[a] = (16. * (p[s] + p[-s]) - (p[2 * s] + p[-2 * s]) - 30. * p[0]) / (12. * h * h);
    square += g[a] * g[a];
    trace += second[a];
    bent += g[a] * g[a] * second[a];
  }
  for (PetscInt a = 0; a < dimension; a++)
    for (PetscInt b = a + 1; b < dimension; b++) {
      const PetscInt  s = stride[a], t = stride[b];
      const PetscReal near = p[s + t] - p[s - t] - p[t - s] + p[-s - t];
      const PetscReal far = p[2 * (s + t)] - p[2 * (s - t)] - p[2 * (t - s)] + p[-2 * (s + t)];

      bent += 2. * g[a] * g[b] * (16. * near - far) / (48. * h * h);
    }
  return (trace * square - bent) / (square * PetscSqrtReal(square));
}

static PetscBool beside_interface(const PetscReal *p, const PetscInt stride[DIM], PetscInt dimension)
{
  for (PetscInt a = 0; a < dimension; a++)
    if (changes_sign(p[0], p[stride[a]]) || changes_sign(p[0], p[-stride[a]]))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

static PetscReal cell_curvature(const PetscReal *p, const PetscInt stride[DIM], PetscReal h,
                                PetscInt dimension)
{
  const PetscReal most = (dimension - 1) / h;
  PetscReal       kappa;

  if (!beside_interface(p, stride, dimension))
    return 0.;
  kappa = dimension == 2 ? curvature_at(p, stride, h, 2) : curvature_at(p, stride, h, 3);
  return PetscMin(PetscMax(kappa, -most), most);
}

static PetscReal seen_curvature(const VisibilityMap *map, const PetscReal *value, PetscInt c, PetscReal h)
{
  VisibleStencil stencil;

  visible_stencil_of_cell(map, c, 2, value, &stencil);
  return cell_curvature(stencil.value + stencil.centre, stencil.stride, h, grid_box(map->grid)->dimension);
}

PetscErrorCode DistanceGetCurvature(MacGrid grid, const VisibilityMap *map, Vec distance, Vec curvature)
{
  const GridBox   *box = grid_box(grid);
  const PetscReal  h = grid_spacing(grid);
  const PetscReal *value;
  PetscReal       *result;

  PetscFunctionBegin;
  PetscCall(VecSet(curvature, 0.));
  PetscCall(VecGetArrayRead(distance, &value));
  PetscCall(VecGetArray(curvature, &result));
  FOR_ROWS(box, j, k) {
    const PetscInt first = box_index(box, box->start[X], j, k), end = first + box->end[X] - box->start[X];

    for (PetscInt c = first; c < end; c++)
      if (PetscAbsReal(value[c]) <= 2. * h)
        result[c] = is_near_shell(map, c) ? seen_curvature(map, value, c, h)
                                          : cell_curvature(value + c, box->stride, h, box->dimension);
  }
  PetscCall(VecRestoreArray(curvature, &result));
  PetscCall(VecRestoreArrayRead(distance, &value));
  PetscCall(MacGridExchange(grid, curvature));
  PetscFunctionReturn(0);
}

/* The mean with the weights 1, 2, 1 along every axis. */
KERNEL PetscReal smooth_at(const PetscReal *p, const PetscInt stride[DIM], const PetscInt dimension)
{
  const PetscInt deep = dimension == 3 ? stride[Z] : 0;
  PetscReal      sum = 0.;

  for (PetscInt z = -(dimension == 3); z <= (dimension == 3); z++)
    for (PetscInt y = -1; y <= 1; y++) {
      const PetscReal *row = p + y * stride[Y] + z * deep;

      sum += (2 - y * y) * (2 - z * z) * (row[-1] + 2. * row[0] + row[1]);
    }
  return dimension == 3 ? sum / 64. : sum / 32.;
}

/* Cells near shells stay as they are. */
static void smooth(LevelSet level_set, const PetscReal *from, PetscReal *to)
{
  const GridBox *box = grid_box(level_set->grid);

  for (PetscInt r = 0; r < level_set->band.count; r++) {
    const BandRun run = level_set->band.runs[r];

    for (PetscInt c = run.first; c < run.first + run.count; c++)
      if (!is_near_shell(level_set->visibility_map, c))
        to[c] =
            box->dimension == 2 ? smooth_at(from + c, box->stride, 2) : smooth_at(from + c, box->stride, 3);
  }
}

/* `stage` becomes the smoothed distance. */
static PetscErrorCode SmoothDistance(LevelSet level_set, PetscInt passes)
{
  PetscReal *from, *to;

  PetscFunctionBegin;
  PetscCall(VecCopy(level_set->distance, level_set->stage));
  for (PetscInt pass = 0; pass < passes; pass++) {
    PetscCall(VecCopy(level_set->stage, level_set->start));
    PetscCall(VecGetArray(level_set->start, &from));
    PetscCall(VecGetArray(level_set->stage, &to));
    smooth(level_set, from, to);
    PetscCall(VecRestoreArray(level_set->stage, &to));
    PetscCall(VecRestoreArray(level_set->start, &from));
    PetscCall(LevelSetFillGhosts(level_set, level_set->stage));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode LevelSetGetSmoothCurvature(LevelSet level_set, PetscInt passes, PetscReal width, Vec curvature)
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal h = grid_spacing(level_set->grid), most = (box->dimension - 1) / h;
  PetscReal      *value, *result;

  PetscFunctionBegin;
  PetscCall(SmoothDistance(level_set, passes));
  PetscCall(VecSet(curvature, 0.));
  PetscCall(VecGetArray(level_set->stage, &value));
  PetscCall(VecGetArray(curvature, &result));
  for (PetscInt r = 0; r < level_set->band.count; r++) {
    const BandRun run = level_set->band.runs[r];

    for (PetscInt c = run.first; c < run.first + run.count; c++)
      if (is_near_shell(level_set->visibility_map, c))
        result[c] = seen_curvature(level_set->visibility_map, value, c, h);
      else if (PetscAbsReal(value[c]) <= width) {
        const PetscReal kappa = box->dimension == 2 ? curvature_at(value + c, box->stride, h, 2)
                                                    : curvature_at(value + c, box->stride, h, 3);

        result[c] = PetscMin(PetscMax(kappa, -most), most);
      }
  }
  PetscCall(VecRestoreArray(curvature, &result));
  PetscCall(VecRestoreArray(level_set->stage, &value));
  PetscCall(MacGridMirrorGhosts(level_set->grid, curvature));
  PetscFunctionReturn(0);
}
