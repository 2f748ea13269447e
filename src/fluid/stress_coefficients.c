/* The coefficients of the viscous operator of a mixture: which faces are unknown, where shear passes.

   Shear passes no edge on an open or a slip side, none of an obstacle or body that lets the fluid slip, and
   none beside a face between two void cells: a surface without traction. */
#include "stress_impl.h"

PetscErrorCode StressLevelCreate(MacGrid grid, StressLevel *level)
{
  PetscFunctionBegin;
  level->grid = grid;
  PetscCall(MacGridCreateFaceField(grid, level->mass));
  PetscCall(MacGridCreateFaceField(grid, level->inverse));
  PetscCall(MacGridCreateFaceField(grid, level->image));
  PetscCall(MacGridCreateField(grid, &level->normal));
  for (PetscInt e = grid_box(grid)->dimension == 2 ? Z : X; e < DIM; e++)
    PetscCall(MacGridCreateField(grid, &level->shear[e]));
  PetscFunctionReturn(0);
}

PetscErrorCode StressLevelDestroy(StressLevel *level)
{
  PetscFunctionBegin;
  PetscCall(MacGridDestroyFaceField(level->mass));
  PetscCall(MacGridDestroyFaceField(level->inverse));
  PetscCall(MacGridDestroyFaceField(level->image));
  PetscCall(MacGridDestroyFaceField(level->shear));
  PetscCall(MacGridDestroyFaceField(level->solution));
  PetscCall(MacGridDestroyFaceField(level->residual));
  PetscCall(MacGridDestroyFaceField(level->change));
  PetscCall(VecDestroy(&level->normal));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateStress(Fluid fluid, Stress *stress)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(stress));
  (*stress)->created = (*stress)->count = 1;
  PetscCall(StressLevelCreate(fluid->grid, &(*stress)->levels[0]));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    (*stress)->levels[0].range[d] = free_faces(fluid, d);
  PetscCall(MacGridCreateFaceField(fluid->grid, (*stress)->residual));
  PetscCall(MacGridCreateFaceField(fluid->grid, (*stress)->search));
  PetscFunctionReturn(0);
}

PetscErrorCode StressDestroy(Stress *stress)
{
  PetscFunctionBegin;
  if (!*stress)
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < (*stress)->created; n++) {
    PetscCall(StressLevelDestroy(&(*stress)->levels[n]));
    if (n > 0)
      PetscCall(MacGridDestroy(&(*stress)->levels[n].grid));
  }
  PetscCall(MacGridDestroyFaceField((*stress)->residual));
  PetscCall(MacGridDestroyFaceField((*stress)->search));
  PetscCall(MacGridDestroyFaceField((*stress)->pull));
  PetscCall(SolidUnknownsDestroy(&(*stress)->unknowns));
  PetscCall(PetscFree(*stress));
  PetscFunctionReturn(0);
}

PetscInt no_slip_edge(const GridBox *box, PetscInt d, NoSlipPair pair, PetscInt *edge)
{
  const PetscInt apart = PetscAbsInt(pair.face - pair.inside);
  PetscInt       a = X;

  while (a == d || box->stride[a] != apart)
    a++;
  *edge = PetscMax(pair.face, pair.inside);
  return X + Y + Z - a - d;
}

static void scale_layer(const GridBox *box, const GridRange *layer, PetscReal factor, PetscReal *values)
{
  FOR_CELLS(layer, i, j, k)
    values[box_index(box, i, j, k)] *= factor;
}

VECTOR_CLONES static void fill_mass_row(PetscReal *restrict mass, const PetscReal *restrict density,
                                        const PetscReal *restrict voids, PetscInt back, PetscInt count)
{
  for (PetscInt n = 0; n < count; n++)
    mass[n] = density[n] * (1. - voids[n] * voids[n - back]);
}

static PetscErrorCode SetMass(Fluid fluid, PetscInt d, const PetscReal *voids)
{
  const GridBox   *box = grid_box(fluid->grid);
  const GridRange  range = free_faces(fluid, d);
  const PetscReal *density;
  PetscReal       *mass;

  PetscFunctionBegin;
  PetscCall(VecSet(fluid->stress->levels[0].mass[d], 0.));
  PetscCall(VecGetArrayRead(fluid->mixture->density[d], &density));
  PetscCall(VecGetArray(fluid->stress->levels[0].mass[d], &mass));
  FOR_ROWS(&range, j, k) {
    const PetscInt row = box_index(box, range.start[X], j, k);

    fill_mass_row(mass + row, density + row, voids + row, box->stride[d], range.end[X] - range.start[X]);
  }
  for (PetscInt side = 0; side < 2; side++) {
    const GridRange layer = layer_at(box, d, side == 0 ? 0 : box->cells[d]);

    if (touches_side(box, d, side)) /* half a cell; on other sides there is nothing to halve */
      scale_layer(box, &layer, 0.5, mass);
  }
  for (PetscInt n = 0; n < fluid->closed_count[d]; n++)
    mass[fluid->closed[d][n]] = -1.;
  PetscCall(VecRestoreArray(fluid->stress->levels[0].mass[d], &mass));
  PetscCall(VecRestoreArrayRead(fluid->mixture->density[d], &density));
  PetscFunctionReturn(0);
}

static PetscBool lets_slip(Fluid fluid, const PetscReal *solid, PetscInt c)
{
  const CellCover cover = cell_cover(solid[c]);

  return cover.kind == CELL_WALL && fluid->wall_slips[cover.index];
}

/* Inside bodies that let the fluid slip there is no stress at all; obstacles still hold what meets them. */
static PetscErrorCode CutInSlippingBodies(Fluid fluid, PetscReal *normal)
{
  const PetscInt   length = grid_box(fluid->grid)->length;
  const PetscReal *covered, *solid = NULL;

  PetscFunctionBegin;
  if (!fluid->covered || !fluid->any_slips)
    PetscFunctionReturn(0);
  PetscCall(VecGetArrayRead(fluid->covered, &covered));
  if (fluid->solid)
    PetscCall(VecGetArrayRead(fluid->solid, &solid));
  for (PetscInt c = 0; c < length; c++)
    if (lets_slip(fluid, covered, c) && !(solid && solid[c] > 0.))
      normal[c] = 0.;
  if (fluid->solid)
    PetscCall(VecRestoreArrayRead(fluid->solid, &solid));
  PetscCall(VecRestoreArrayRead(fluid->covered, &covered));
  PetscFunctionReturn(0);
}

/* Owned cells and a layer around them, inside the box. */
static PetscErrorCode SetNormal(Fluid fluid, PetscReal factor, const PetscReal *voids)
{
  const GridBox   *box = grid_box(fluid->grid);
  PetscInt         low[DIM], high[DIM];
  const PetscReal *viscosity;
  PetscReal       *normal;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++) {
    const PetscInt layer = d < box->dimension ? 1 : 0;

    low[d] = box->start[d] - (touches_side(box, d, 0) ? 0 : layer);
    high[d] = box->end[d] + (touches_side(box, d, 1) ? 0 : layer);
  }
  PetscCall(VecSet(fluid->stress->levels[0].normal, 0.));
  PetscCall(VecGetArrayRead(fluid->mixture->viscosity, &viscosity));
  PetscCall(VecGetArray(fluid->stress->levels[0].normal, &normal));
  for (PetscInt k = low[Z]; k < high[Z]; k++)
    for (PetscInt j = low[Y]; j < high[Y]; j++)
      for (PetscInt c = box_index(box, low[X], j, k), n = low[X]; n < high[X]; n++, c++)
        normal[c] = 2. * factor * viscosity[c] * (1. - voids[c]);
  PetscCall(CutInSlippingBodies(fluid, normal));
  PetscCall(VecRestoreArray(fluid->stress->levels[0].normal, &normal));
  PetscCall(VecRestoreArrayRead(fluid->mixture->viscosity, &viscosity));
  PetscFunctionReturn(0);
}

/* Edges along one direction and what decides about them. */
typedef struct {
  PetscInt         a, b; /* the directions across */
  GridRange        range;
  const PetscReal *viscosity, *voids;
  PetscReal       *shear;
} Edges;

/* The edges of owned faces: in both directions across also those at their upper ends. */
static GridRange edge_range(const GridBox *box, PetscInt e)
{
  GridRange range;

  for (PetscInt d = 0; d < DIM; d++) {
    range.start[d] = box->start[d];
    range.end[d] = box->end[d] + (d == e ? 0 : 1);
  }
  return range;
}

VECTOR_CLONES static void fill_shear_row(PetscReal *restrict shear, PetscReal                        factor,
                                         const PetscReal *restrict viscosity, const PetscReal *const voids,
                                         const PetscInt back[2], PetscInt count)
{
  const PetscReal *restrict here = voids, *restrict first = voids - back[0];
  const PetscReal *restrict second = voids - back[1], *restrict both = voids - back[0] - back[1];

  for (PetscInt n = 0; n < count; n++)
    shear[n] = factor * viscosity[n] * (1. - here[n] * first[n]) * (1. - here[n] * second[n]) *
               (1. - both[n] * first[n]) * (1. - both[n] * second[n]);
}

static PetscErrorCode CutAtSlipping(Fluid fluid, const Edges *edges)
{
  const GridBox   *box = grid_box(fluid->grid);
  const GridRange *range = &edges->range;
  const PetscInt   a = box->stride[edges->a], b = box->stride[edges->b];
  const PetscReal *solid;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid_covered(fluid), &solid));
  FOR_CELLS(range, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (lets_slip(fluid, solid, c) || lets_slip(fluid, solid, c - a) || lets_slip(fluid, solid, c - b) ||
        lets_slip(fluid, solid, c - a - b))
      edges->shear[c] = 0.;
  }
  PetscCall(VecRestoreArrayRead(fluid_covered(fluid), &solid));
  PetscFunctionReturn(0);
}

static void cut_at_sides(Fluid fluid, const Edges *edges, PetscInt axis)
{
  const GridBox *box = grid_box(fluid->grid);

  for (PetscInt side = 0; side < 2; side++) {
    const SideKind kind = fluid->config->sides[axis][side].kind;
    GridRange      layer = edges->range;

    layer.start[axis] = side == 0 ? 0 : box->cells[axis];
    layer.end[axis] = layer.start[axis] + 1;
    if (touches_side(box, axis, side) && (kind == SIDE_OPEN || kind == SIDE_SLIP))
      scale_layer(box, &layer, 0., edges->shear);
  }
}

static PetscErrorCode SetShear(Fluid fluid, PetscInt e, PetscReal factor, const PetscReal *voids)
{
  const GridBox *box = grid_box(fluid->grid);
  Edges edges = {.a = e == X ? Y : X, .b = e == Z ? Y : Z, .range = edge_range(box, e), .voids = voids};
  const PetscInt back[2] = {box->stride[edges.a], box->stride[edges.b]};

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid->mixture->edge_viscosity[e], &edges.viscosity));
  PetscCall(VecGetArray(fluid->stress->levels[0].shear[e], &edges.shear));
  FOR_ROWS(&edges.range, j, k) {
    const PetscInt row = box_index(box, edges.range.start[X], j, k);

    fill_shear_row(edges.shear + row, factor, edges.viscosity + row, voids + row, back,
                   edges.range.end[X] - edges.range.start[X]);
  }
  cut_at_sides(fluid, &edges, edges.a);
  cut_at_sides(fluid, &edges, edges.b);
  if (fluid_covered(fluid) && fluid->any_slips)
    PetscCall(CutAtSlipping(fluid, &edges));
  PetscCall(VecRestoreArray(fluid->stress->levels[0].shear[e], &edges.shear));
  PetscCall(VecRestoreArrayRead(fluid->mixture->edge_viscosity[e], &edges.viscosity));
  PetscFunctionReturn(0);
}

VECTOR_CLONES static void add_pair_row(PetscReal *restrict diagonal, const PetscReal *restrict coefficient,
                                       PetscInt apart, PetscInt count)
{
  for (PetscInt n = 0; n < count; n++)
    diagonal[n] += coefficient[n] + coefficient[n + apart];
}

VECTOR_CLONES static void invert_row(PetscReal *restrict diagonal, const PetscReal *restrict mass,
                                     PetscInt count)
{
  for (PetscInt n = 0; n < count; n++)
    diagonal[n] = mass[n] > 0. ? 1. / (mass[n] + diagonal[n]) : 0.;
}

/* Adds the coefficients at both ends of every face along a direction: cells along d, edges along others. */
static PetscErrorCode AddPairs(const StressLevel *level, PetscInt d, PetscInt a, PetscReal *diagonal)
{
  const GridBox   *box = grid_box(level->grid);
  const GridRange *range = &level->range[d];
  const Vec        field = a == d ? level->normal : level->shear[X + Y + Z - a - d];
  const PetscInt   apart = a == d ? -box->stride[d] : box->stride[a];
  const PetscReal *coefficient;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(field, &coefficient));
  FOR_ROWS(range, j, k) {
    const PetscInt row = box_index(box, range->start[X], j, k);

    add_pair_row(diagonal + row, coefficient + row, apart, range->end[X] - range->start[X]);
  }
  PetscCall(VecRestoreArrayRead(field, &coefficient));
  PetscFunctionReturn(0);
}

PetscErrorCode StressLevelSetInverse(StressLevel *level)
{
  const GridBox   *box = grid_box(level->grid);
  const PetscReal *mass;
  PetscReal       *diagonal;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange *range = &level->range[d];

    PetscCall(VecSet(level->inverse[d], 0.));
    PetscCall(VecGetArray(level->inverse[d], &diagonal));
    PetscCall(VecGetArrayRead(level->mass[d], &mass));
    for (PetscInt a = 0; a < box->dimension; a++)
      PetscCall(AddPairs(level, d, a, diagonal));
    FOR_ROWS(range, j, k) {
      const PetscInt row = box_index(box, range->start[X], j, k);

      invert_row(diagonal + row, mass + row, range->end[X] - range->start[X]);
    }
    PetscCall(VecRestoreArrayRead(level->mass[d], &mass));
    PetscCall(VecRestoreArray(level->inverse[d], &diagonal));
  }
  PetscFunctionReturn(0);
}

/* A given velocity lies half a cell away: the edges on sides count twice. On open and slip sides none does.
 */
static PetscErrorCode DoubleSideEdges(Fluid fluid, PetscInt e)
{
  const GridBox *box = grid_box(fluid->grid);
  PetscReal     *shear;

  PetscFunctionBegin;
  PetscCall(VecGetArray(fluid->stress->levels[0].shear[e], &shear));
  for (PetscInt axis = 0; axis < box->dimension; axis++)
    for (PetscInt side = 0; side < 2; side++) {
      GridRange layer = edge_range(box, e);

      layer.start[axis] = side == 0 ? 0 : box->cells[axis];
      layer.end[axis] = layer.start[axis] + 1;
      if (axis != e && touches_side(box, axis, side))
        scale_layer(box, &layer, 2., shear);
    }
  PetscCall(VecRestoreArray(fluid->stress->levels[0].shear[e], &shear));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidCloseStress(Fluid fluid)
{
  const GridBox   *box = grid_box(fluid->grid);
  StressLevel     *level = &fluid->stress->levels[0];
  const PetscReal *shear;
  PetscReal       *mass;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscCall(VecGetArray(level->mass[d], &mass));
    for (PetscInt n = 0; n < fluid->no_slip_count[d]; n++) {
      const PetscInt face = fluid->no_slip_pairs[d][n].face;
      PetscInt       edge;
      const PetscInt e = no_slip_edge(box, d, fluid->no_slip_pairs[d][n], &edge);

      PetscCall(VecGetArrayRead(level->shear[e], &shear));
      if (mass[face] > 0.)
        mass[face] += shear[edge];
      PetscCall(VecRestoreArrayRead(level->shear[e], &shear));
    }
    PetscCall(VecRestoreArray(level->mass[d], &mass));
  }
  if (fluid->constraints)
    PetscCall(FluidCloseConstraints(fluid));
  for (PetscInt e = box->dimension == 2 ? Z : X; e < DIM; e++)
    PetscCall(DoubleSideEdges(fluid, e));
  PetscCall(StressLevelSetInverse(level));
  if (fluid->constraints)
    PetscCall(FluidInvertConstraints(fluid));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidSetUpStress(Fluid fluid, PetscReal dt)
{
  const GridBox   *box = grid_box(fluid->grid);
  const PetscReal  factor = dt / PetscSqr(grid_spacing(fluid->grid));
  const PetscReal *voids;

  PetscFunctionBegin;
  if (!fluid->stress)
    PetscCall(CreateStress(fluid, &fluid->stress));
  PetscCall(FluidRefreshMixture(fluid));
  PetscCall(VecGetArrayRead(fluid->voids, &voids));
  for (PetscInt d = 0; d < box->dimension; d++)
    PetscCall(SetMass(fluid, d, voids));
  PetscCall(SetNormal(fluid, factor, voids));
  for (PetscInt e = box->dimension == 2 ? Z : X; e < DIM; e++)
    PetscCall(SetShear(fluid, e, factor, voids));
  PetscCall(VecRestoreArrayRead(fluid->voids, &voids));
  if (fluid->constraints)
    PetscCall(FluidWeighConstraints(fluid));
  PetscFunctionReturn(0);
}
