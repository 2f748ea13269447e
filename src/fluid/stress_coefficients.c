/* The coefficients of the viscous operator of a mixture: which faces are unknown, where shear passes.

   Shear passes no edge on an open or a slip side, none of an obstacle that lets the fluid slip, and none
   beside a face between two hollow cells: a surface without traction. */
#include "stress_impl.h"

static PetscErrorCode CreateStress(Fluid fluid, Stress *stress)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(stress));
  PetscCall(MacGridCreateFaceField(fluid->grid, (*stress)->mass));
  PetscCall(MacGridCreateFaceField(fluid->grid, (*stress)->inverse));
  PetscCall(MacGridCreateFaceField(fluid->grid, (*stress)->residual));
  PetscCall(MacGridCreateFaceField(fluid->grid, (*stress)->search));
  PetscCall(MacGridCreateFaceField(fluid->grid, (*stress)->image));
  PetscCall(MacGridCreateField(fluid->grid, &(*stress)->normal));
  for (PetscInt e = grid_box(fluid->grid)->dimension == 2 ? Z : X; e < DIM; e++)
    PetscCall(MacGridCreateField(fluid->grid, &(*stress)->shear[e]));
  PetscFunctionReturn(0);
}

PetscErrorCode StressDestroy(Stress *stress)
{
  PetscFunctionBegin;
  if (!*stress)
    PetscFunctionReturn(0);
  PetscCall(MacGridDestroyFaceField((*stress)->mass));
  PetscCall(MacGridDestroyFaceField((*stress)->inverse));
  PetscCall(MacGridDestroyFaceField((*stress)->residual));
  PetscCall(MacGridDestroyFaceField((*stress)->search));
  PetscCall(MacGridDestroyFaceField((*stress)->image));
  PetscCall(MacGridDestroyFaceField((*stress)->shear));
  PetscCall(VecDestroy(&(*stress)->normal));
  PetscCall(PetscFree(*stress));
  PetscFunctionReturn(0);
}

PetscInt rubbing_edge(const GridBox *box, PetscInt d, Rubbing pair, PetscInt *edge)
{
  const PetscInt apart = PetscAbsInt(pair.face - pair.inside);
  PetscInt       a = X;

  while (a == d || box->stride[a] != apart)
    a++;
  *edge = PetscMax(pair.face, pair.inside);
  return X + Y + Z - a - d;
}

static void scale_layer(const GridBox *box, const FaceRange *layer, PetscReal factor, PetscReal *values)
{
  for (PetscInt k = layer->start[Z]; k < layer->end[Z]; k++)
    for (PetscInt j = layer->start[Y]; j < layer->end[Y]; j++)
      for (PetscInt i = layer->start[X]; i < layer->end[X]; i++)
        values[box_index(box, i, j, k)] *= factor;
}

VECTOR_CLONES static void fill_mass_row(PetscReal *restrict mass, const PetscReal *restrict density,
                                        const PetscReal *restrict hollow, PetscInt back, PetscInt count)
{
  for (PetscInt n = 0; n < count; n++)
    mass[n] = density[n] * (1. - hollow[n] * hollow[n - back]);
}

static PetscErrorCode SetMass(Fluid fluid, PetscInt d, const PetscReal *hollow)
{
  const GridBox   *box = grid_box(fluid->grid);
  const FaceRange  range = free_faces(fluid, d);
  const PetscReal *density;
  PetscReal       *mass;

  PetscFunctionBegin;
  PetscCall(VecSet(fluid->stress->mass[d], 0.));
  PetscCall(VecGetArrayRead(fluid->mixture->density[d], &density));
  PetscCall(VecGetArray(fluid->stress->mass[d], &mass));
  for (PetscInt k = range.start[Z]; k < range.end[Z]; k++)
    for (PetscInt j = range.start[Y]; j < range.end[Y]; j++) {
      const PetscInt row = box_index(box, range.start[X], j, k);

      fill_mass_row(mass + row, density + row, hollow + row, box->stride[d], range.end[X] - range.start[X]);
    }
  for (PetscInt side = 0; side < 2; side++) {
    const FaceRange layer = layer_at(box, d, side == 0 ? 0 : box->cells[d]);

    if (touches_side(box, d, side)) /* half a cell; on other sides there is nothing to halve */
      scale_layer(box, &layer, 0.5, mass);
  }
  for (PetscInt n = 0; n < fluid->closed_count[d]; n++)
    mass[fluid->closed[d][n]] = 0.;
  PetscCall(VecRestoreArray(fluid->stress->mass[d], &mass));
  PetscCall(VecRestoreArrayRead(fluid->mixture->density[d], &density));
  PetscFunctionReturn(0);
}

/* Owned cells and a layer around them, inside the box. */
static PetscErrorCode SetNormal(Fluid fluid, PetscReal factor, const PetscReal *hollow)
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
  PetscCall(VecSet(fluid->stress->normal, 0.));
  PetscCall(VecGetArrayRead(fluid->mixture->viscosity, &viscosity));
  PetscCall(VecGetArray(fluid->stress->normal, &normal));
  for (PetscInt k = low[Z]; k < high[Z]; k++)
    for (PetscInt j = low[Y]; j < high[Y]; j++)
      for (PetscInt c = box_index(box, low[X], j, k), n = low[X]; n < high[X]; n++, c++)
        normal[c] = 2. * factor * viscosity[c] * (1. - hollow[c]);
  PetscCall(VecRestoreArray(fluid->stress->normal, &normal));
  PetscCall(VecRestoreArrayRead(fluid->mixture->viscosity, &viscosity));
  PetscFunctionReturn(0);
}

/* Edges along one direction and what decides about them. */
typedef struct {
  PetscInt         a, b; /* the directions across */
  FaceRange        range;
  const PetscReal *viscosity, *hollow;
  PetscReal       *shear;
} Edges;

/* The edges of owned faces: in both directions across also those at their upper ends. */
static FaceRange edge_range(const GridBox *box, PetscInt e)
{
  FaceRange range;

  for (PetscInt d = 0; d < DIM; d++) {
    range.start[d] = box->start[d];
    range.end[d] = box->end[d] + (d == e ? 0 : 1);
  }
  return range;
}

VECTOR_CLONES static void fill_shear_row(PetscReal *restrict shear, PetscReal                        factor,
                                         const PetscReal *restrict viscosity, const PetscReal *const hollow,
                                         const PetscInt back[2], PetscInt count)
{
  const PetscReal *restrict here = hollow, *restrict first = hollow - back[0];
  const PetscReal *restrict second = hollow - back[1], *restrict both = hollow - back[0] - back[1];

  for (PetscInt n = 0; n < count; n++)
    shear[n] = factor * viscosity[n] * (1. - here[n] * first[n]) * (1. - here[n] * second[n]) *
               (1. - both[n] * first[n]) * (1. - both[n] * second[n]);
}

static PetscBool lets_slip(Fluid fluid, const PetscReal *solid, PetscInt c)
{
  const PetscInt number = (PetscInt)solid[c] - 1;

  return solid[c] > 0. && number < fluid->obstacle_count && fluid->obstacle_slips[number];
}

static PetscErrorCode CutAtSlippingObstacles(Fluid fluid, const Edges *edges)
{
  const GridBox   *box = grid_box(fluid->grid);
  const FaceRange *range = &edges->range;
  const PetscInt   a = box->stride[edges->a], b = box->stride[edges->b];
  const PetscReal *solid;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid->solid, &solid));
  for (PetscInt k = range->start[Z]; k < range->end[Z]; k++)
    for (PetscInt j = range->start[Y]; j < range->end[Y]; j++)
      for (PetscInt i = range->start[X]; i < range->end[X]; i++) {
        const PetscInt c = box_index(box, i, j, k);

        if (lets_slip(fluid, solid, c) || lets_slip(fluid, solid, c - a) || lets_slip(fluid, solid, c - b) ||
            lets_slip(fluid, solid, c - a - b))
          edges->shear[c] = 0.;
      }
  PetscCall(VecRestoreArrayRead(fluid->solid, &solid));
  PetscFunctionReturn(0);
}

static void cut_at_sides(Fluid fluid, const Edges *edges, PetscInt axis)
{
  const GridBox *box = grid_box(fluid->grid);

  for (PetscInt side = 0; side < 2; side++) {
    const SideKind kind = fluid->config->sides[axis][side].kind;
    FaceRange      layer = edges->range;

    layer.start[axis] = side == 0 ? 0 : box->cells[axis];
    layer.end[axis] = layer.start[axis] + 1;
    if (touches_side(box, axis, side) && (kind == SIDE_OPEN || kind == SIDE_SLIP))
      scale_layer(box, &layer, 0., edges->shear);
  }
}

static PetscErrorCode SetShear(Fluid fluid, PetscInt e, PetscReal factor, const PetscReal *hollow)
{
  const GridBox *box = grid_box(fluid->grid);
  Edges edges = {.a = e == X ? Y : X, .b = e == Z ? Y : Z, .range = edge_range(box, e), .hollow = hollow};
  const PetscInt back[2] = {box->stride[edges.a], box->stride[edges.b]};

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid->mixture->edge_viscosity[e], &edges.viscosity));
  PetscCall(VecGetArray(fluid->stress->shear[e], &edges.shear));
  for (PetscInt k = edges.range.start[Z]; k < edges.range.end[Z]; k++)
    for (PetscInt j = edges.range.start[Y]; j < edges.range.end[Y]; j++) {
      const PetscInt row = box_index(box, edges.range.start[X], j, k);

      fill_shear_row(edges.shear + row, factor, edges.viscosity + row, hollow + row, back,
                     edges.range.end[X] - edges.range.start[X]);
    }
  cut_at_sides(fluid, &edges, edges.a);
  cut_at_sides(fluid, &edges, edges.b);
  if (fluid->solid && fluid->any_slips)
    PetscCall(CutAtSlippingObstacles(fluid, &edges));
  PetscCall(VecRestoreArray(fluid->stress->shear[e], &edges.shear));
  PetscCall(VecRestoreArrayRead(fluid->mixture->edge_viscosity[e], &edges.viscosity));
  PetscFunctionReturn(0);
}

/* Beside a side that gives the velocity it lies half a cell away: the edges count twice there. */
static void add_sides(Fluid fluid, PetscInt d, PetscInt a, const PetscReal *shear, PetscReal *diagonal)
{
  const GridBox *box = grid_box(fluid->grid);

  for (PetscInt side = 0; side < 2; side++) {
    const PetscInt up = side == 0 ? 0 : box->stride[a];
    FaceRange      layer = free_faces(fluid, d);

    if (!touches_side(box, a, side))
      continue;
    layer.start[a] = side == 0 ? 0 : box->cells[a] - 1;
    layer.end[a] = layer.start[a] + 1;
    for (PetscInt k = layer.start[Z]; k < layer.end[Z]; k++)
      for (PetscInt j = layer.start[Y]; j < layer.end[Y]; j++)
        for (PetscInt i = layer.start[X]; i < layer.end[X]; i++)
          diagonal[box_index(box, i, j, k)] += shear[box_index(box, i, j, k) + up];
  }
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
    diagonal[n] = mass[n] > 0. ? 1. / diagonal[n] : 0.;
}

/* Adds the coefficients at both ends of every face along a direction: cells along d, edges along others. */
static PetscErrorCode AddPairs(Fluid fluid, PetscInt d, PetscInt a, PetscReal *diagonal)
{
  const GridBox   *box = grid_box(fluid->grid);
  const FaceRange  range = free_faces(fluid, d);
  const Vec        field = a == d ? fluid->stress->normal : fluid->stress->shear[X + Y + Z - a - d];
  const PetscInt   apart = a == d ? -box->stride[d] : box->stride[a];
  const PetscReal *coefficient;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(field, &coefficient));
  for (PetscInt k = range.start[Z]; k < range.end[Z]; k++)
    for (PetscInt j = range.start[Y]; j < range.end[Y]; j++) {
      const PetscInt row = box_index(box, range.start[X], j, k);

      add_pair_row(diagonal + row, coefficient + row, apart, range.end[X] - range.start[X]);
    }
  if (a != d)
    add_sides(fluid, d, a, coefficient, diagonal);
  PetscCall(VecRestoreArrayRead(field, &coefficient));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetInverse(Fluid fluid, PetscInt d)
{
  const GridBox   *box = grid_box(fluid->grid);
  const FaceRange  range = free_faces(fluid, d);
  const PetscReal *mass, *shear;
  PetscReal       *diagonal;

  PetscFunctionBegin;
  PetscCall(VecCopy(fluid->stress->mass[d], fluid->stress->inverse[d]));
  PetscCall(VecGetArray(fluid->stress->inverse[d], &diagonal));
  for (PetscInt a = 0; a < box->dimension; a++)
    PetscCall(AddPairs(fluid, d, a, diagonal));
  for (PetscInt n = 0; n < fluid->rubbing_count[d]; n++) {
    PetscInt       edge;
    const PetscInt e = rubbing_edge(box, d, fluid->rubbing[d][n], &edge);

    PetscCall(VecGetArrayRead(fluid->stress->shear[e], &shear));
    diagonal[fluid->rubbing[d][n].face] += shear[edge];
    PetscCall(VecRestoreArrayRead(fluid->stress->shear[e], &shear));
  }
  PetscCall(VecGetArrayRead(fluid->stress->mass[d], &mass));
  for (PetscInt k = range.start[Z]; k < range.end[Z]; k++)
    for (PetscInt j = range.start[Y]; j < range.end[Y]; j++) {
      const PetscInt row = box_index(box, range.start[X], j, k);

      invert_row(diagonal + row, mass + row, range.end[X] - range.start[X]);
    }
  PetscCall(VecRestoreArrayRead(fluid->stress->mass[d], &mass));
  PetscCall(VecRestoreArray(fluid->stress->inverse[d], &diagonal));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidSetUpStress(Fluid fluid, PetscReal dt)
{
  const GridBox   *box = grid_box(fluid->grid);
  const PetscReal  factor = dt / PetscSqr(grid_spacing(fluid->grid));
  const PetscReal *hollow;

  PetscFunctionBegin;
  if (!fluid->stress)
    PetscCall(CreateStress(fluid, &fluid->stress));
  PetscCall(FluidRefreshMixture(fluid));
  PetscCall(VecGetArrayRead(fluid->hollow, &hollow));
  for (PetscInt d = 0; d < box->dimension; d++)
    PetscCall(SetMass(fluid, d, hollow));
  PetscCall(SetNormal(fluid, factor, hollow));
  for (PetscInt e = box->dimension == 2 ? Z : X; e < DIM; e++)
    PetscCall(SetShear(fluid, e, factor, hollow));
  PetscCall(VecRestoreArrayRead(fluid->hollow, &hollow));
  for (PetscInt d = 0; d < box->dimension; d++)
    PetscCall(SetInverse(fluid, d));
  PetscFunctionReturn(0);
}
