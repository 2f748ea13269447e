/* Which cells keep the fields of which light body: those beside its mixed faces and some layers around them,
   where no other body of its colour is nearer, counted in faces that carry weight, so that nothing reaches
   through a shell. Towards the border of a support less and less of the fields is kept. */
#include "../coupling_impl.h"

enum { LEAST_REACH = 1, MOST_REACH = 8 }; /* layers */

typedef struct {
  Coupling   coupling;
  PetscReal *weights[DIM];
  PetscInt   count, *cells; /* found by a sweep */
  PetscReal *values;
} LayerSweep;

/* A third of the length of a body, in cells. */
static PetscInt reach_of(Coupling coupling, PetscInt free)
{
  const Placed *placed = &coupling->solids.bodies[coupling->solids.by_slot[free]];
  PetscReal     length = 0.;

  for (PetscInt d = 0; d < grid_box(coupling->grid)->dimension; d++)
    length = PetscMax(length, (placed->body.high.at[d] - placed->body.low.at[d]) / coupling->spacing);
  return PetscMin(PetscMax((PetscInt)(length / 3.), LEAST_REACH), MOST_REACH);
}

/* The value that a cell takes in a sweep, from values on the grid's box; zero: none. */
typedef PetscReal (*CellRule)(const LayerSweep *sweep, PetscInt cell, const PetscReal *values,
                              PetscReal layer);

static PetscInt beyond(const GridBox *box, PetscInt c, PetscInt side)
{
  return side % 2 ? c + box->stride[side / 2] : c - box->stride[side / 2];
}

static PetscBool is_joined(const LayerSweep *sweep, PetscInt c, PetscInt side)
{
  const GridBox *box = grid_box(sweep->coupling->grid);

  return sweep->weights[side / 2][side % 2 ? beyond(box, c, side) : c] > 0. ? PETSC_TRUE : PETSC_FALSE;
}

/* The first body among those next to it. */
static PetscReal next_body(const LayerSweep *sweep, PetscInt c, const PetscReal *values, PetscReal layer)
{
  const GridBox *box = grid_box(sweep->coupling->grid);
  PetscReal      first = 0.;

  for (PetscInt side = 0; side < 2 * box->dimension; side++) {
    const PetscReal body = values[beyond(box, c, side)];

    if (body > 0. && (first == 0. || body < first) && is_joined(sweep, c, side) &&
        layer <= reach_of(sweep->coupling, (PetscInt)body - 1))
      first = body;
  }
  return first;
}

static PetscReal next_layer(const LayerSweep *sweep, PetscInt c, const PetscReal *values, PetscReal layer)
{
  const GridBox *box = grid_box(sweep->coupling->grid);

  for (PetscInt side = 0; side < 2 * box->dimension; side++)
    if (values[beyond(box, c, side)] == layer - 1. && is_joined(sweep, c, side))
      return layer;
  return 0.;
}

/* Cells that are part of the problem, hold zero in `field` and, where that is given, not in `within`. */
static PetscErrorCode Spread(LayerSweep *sweep, Vec field, const PetscReal *within, CellRule rule,
                             PetscReal layer)
{
  const Coupling coupling = sweep->coupling;
  const GridBox *box = grid_box(coupling->grid);
  PetscReal     *values;

  PetscFunctionBegin;
  PetscCall(MacGridExchange(coupling->grid, field));
  PetscCall(VecGetArray(field, &values));
  sweep->count = 0;
  FOR_NUMBERED_CELLS(box, number, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (coupling->system.labels[number] < 0 || values[c] != 0. || (within && within[c] == 0.))
      continue;
    sweep->values[sweep->count] = rule(sweep, c, values, layer);
    sweep->cells[sweep->count] = c;
    sweep->count += sweep->values[sweep->count] != 0.;
  }
  for (PetscInt n = 0; n < sweep->count; n++)
    values[sweep->cells[n]] = sweep->values[n];
  PetscCall(VecRestoreArray(field, &values));
  PetscFunctionReturn(0);
}

/* The body that brings most flow into a cell by a velocity. */
static PetscErrorCode Settle(Coupling coupling, const char *is_light, Vec bodies, char *is_mixed)
{
  const CouplingMatrix *matrix = &coupling->system.matrix;
  PetscReal            *most, *owner;
  Vec                   solver;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(is_mixed, coupling->cell_count));
  PetscCall(VecDuplicate(coupling->system.flow, &solver));
  PetscCall(VecSet(solver, 0.));
  PetscCall(VecGetArray(solver, &owner));
  PetscCall(PetscCalloc1(coupling->cell_count, &most));
  for (PetscInt body = 0; body < coupling->solids.free_count; body++)
    for (PetscInt r = matrix->first[body]; r < matrix->first[body + 1] && is_light[body]; r++) {
      const PetscReal *by = &matrix->values[TWIST * r];
      const PetscReal  flow =
          PetscMax(PetscAbsReal(by[X]), PetscMax(PetscAbsReal(by[Y]), PetscAbsReal(by[Z])));
      const int cell = matrix->cells[r];

      is_mixed[cell] = 1;
      if (owner[cell] > 0. && flow <= most[cell])
        continue;
      most[cell] = flow;
      owner[cell] = 1. + (PetscReal)body;
    }
  PetscCall(VecRestoreArray(solver, &owner));
  PetscCall(MacGridFromSolver(coupling->grid, solver, bodies));
  PetscCall(VecDestroy(&solver));
  PetscCall(PetscFree(most));
  PetscFunctionReturn(0);
}

/* One where something else begins, else zero. */
static PetscErrorCode FindBorder(const LayerSweep *sweep, const PetscReal *body, Vec depth)
{
  const GridBox *box = grid_box(sweep->coupling->grid);
  PetscReal     *values;

  PetscFunctionBegin;
  PetscCall(VecSet(depth, 0.));
  PetscCall(VecGetArray(depth, &values));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    for (PetscInt side = 0; side < 2 * box->dimension && body[c] > 0.; side++)
      if (body[beyond(box, c, side)] != body[c] && is_joined(sweep, c, side))
        values[c] = 1.;
  }
  PetscCall(VecRestoreArray(depth, &values));
  PetscFunctionReturn(0);
}

static void take_parts(Coupling coupling, const PetscReal *body, const PetscReal *depth,
                       DeflationSupport *support)
{
  for (PetscInt c = 0; c < grid_box(coupling->grid)->length; c++) {
    support->owner[c] = (PetscInt)body[c] - 1;
    support->part[c] = body[c] == 0. ? 0.
                       : depth[c] == 0.
                           ? 1.
                           : PetscMin(1., depth[c] / (reach_of(coupling, support->owner[c]) + 1.));
  }
}

PetscErrorCode CouplingFindDeflationSupport(Coupling coupling, const char *is_light,
                                            DeflationSupport *support)
{
  LayerSweep       sweep = {.coupling = coupling};
  const PetscReal *body, *layers;
  Vec              bodies, depth;

  PetscFunctionBegin;
  PetscCall(MacGridCreateField(coupling->grid, &bodies));
  PetscCall(VecSet(bodies, 0.));
  PetscCall(VecDuplicate(bodies, &depth));
  PetscCall(PetscMalloc2(coupling->cell_count + 1, &sweep.cells, coupling->cell_count + 1, &sweep.values));
  PetscCall(MacGridGetFaces(coupling->grid, coupling->faces.weights, sweep.weights));
  PetscCall(Settle(coupling, is_light, bodies, support->is_mixed));
  for (PetscInt layer = 1; layer <= MOST_REACH; layer++)
    PetscCall(Spread(&sweep, bodies, NULL, next_body, layer));
  PetscCall(MacGridExchange(coupling->grid, bodies));
  PetscCall(VecGetArrayRead(bodies, &body));
  PetscCall(FindBorder(&sweep, body, depth));
  for (PetscInt layer = 2; layer <= MOST_REACH; layer++)
    PetscCall(Spread(&sweep, depth, body, next_layer, layer));
  PetscCall(VecGetArrayRead(depth, &layers));
  take_parts(coupling, body, layers, support);
  PetscCall(VecRestoreArrayRead(depth, &layers));
  PetscCall(VecRestoreArrayRead(bodies, &body));
  PetscCall(MacGridRestoreFaces(coupling->grid, coupling->faces.weights, sweep.weights));
  PetscCall(PetscFree2(sweep.cells, sweep.values));
  PetscCall(VecDestroy(&bodies));
  PetscCall(VecDestroy(&depth));
  PetscFunctionReturn(0);
}

static int compare_left(const void *a, const void *b)
{
  const Placed *const *first = a, *const *second = b;

  return (*first)->body.low.at[X] > (*second)->body.low.at[X]   ? 1
         : (*first)->body.low.at[X] < (*second)->body.low.at[X] ? -1
                                                                : (*first)->free - (*second)->free;
}

/* One where the boxes of two bodies meet, less the farther they are apart, in cells. */
static PetscReal nearness(const Placed *a, const Placed *b, PetscReal spacing)
{
  PetscReal square = 0.;

  for (PetscInt d = 0; d < DIM; d++)
    square += PetscSqr(PetscMax(
        0.,
        PetscMax(a->body.low.at[d] - b->body.high.at[d], b->body.low.at[d] - a->body.high.at[d]) / spacing));
  return 1. / (1. + square);
}

/* From left to right, each body takes the colour that is farther away; only those that may meet its support
   are looked at. Small bodies have one colour: with two, the factor of their common matrix would cost more
   than it saves. */
PetscErrorCode CouplingColour(Coupling coupling, PetscInt count, const PetscInt bodies[], char colours[])
{
  const PetscReal reach = 2. * MOST_REACH * coupling->spacing;
  const Placed  **sorted;
  PetscReal       widest = 0.;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, &sorted));
  for (PetscInt n = 0; n < count; n++) {
    sorted[n] = &coupling->solids.bodies[coupling->solids.by_slot[bodies[n]]];
    widest = PetscMax(widest, sorted[n]->body.high.at[X] - sorted[n]->body.low.at[X]);
  }
  qsort(sorted, (size_t)count, sizeof(*sorted), compare_left);
  for (PetscInt n = 0; n < count; n++) {
    PetscReal near[COLOURS] = {0.};
    PetscInt  best = 0;

    for (PetscInt m = n - 1;
         m >= 0 && sorted[n]->body.low.at[X] - sorted[m]->body.low.at[X] <= widest + reach; m--)
      near[colours[sorted[m]->free] - 1] += nearness(sorted[n], sorted[m], coupling->spacing);
    for (PetscInt colour = 1; colour < COLOURS && reach_of(coupling, sorted[n]->free) > LEAST_REACH; colour++)
      if (near[colour] < near[best])
        best = colour;
    colours[sorted[n]->free] = (char)(best + 1);
  }
  PetscCall(PetscFree(sorted));
  PetscFunctionReturn(0);
}
