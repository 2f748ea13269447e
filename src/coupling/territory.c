/* Which cells keep the fields of which light body: those beside its mixed faces and a few layers around them,
   where no other body is nearer, counted in faces that carry weight, so that nothing reaches through a shell.
   Towards the border of a territory less and less of the fields is kept. */
#include "coupling_impl.h"

enum { REACH = 6 }; /* layers */

typedef struct {
  Coupling   coupling;
  PetscReal *weights[DIM];
  PetscInt   count, *cells; /* found by a sweep */
  PetscReal *values;
} Sweep;

/* The value that a cell takes in a sweep, from values on the grid's box; zero: none. */
typedef PetscReal (*CellRule)(const Sweep *sweep, PetscInt cell, const PetscReal *values, PetscReal layer);

static PetscReal neighbour_of(const Sweep *sweep, PetscInt c, PetscInt n, const PetscReal *values)
{
  const PetscInt d = n / 2, stride = grid_box(sweep->coupling->grid)->stride[d];

  if (sweep->weights[d][n % 2 ? c + stride : c] <= 0.)
    return -1.;
  return values[n % 2 ? c + stride : c - stride];
}

/* The first body among those next to it. */
static PetscReal next_body(const Sweep *sweep, PetscInt c, const PetscReal *values, PetscReal layer)
{
  PetscReal first = 0.;

  (void)layer;
  for (PetscInt n = 0; n < 2 * grid_box(sweep->coupling->grid)->dimension; n++) {
    const PetscReal body = neighbour_of(sweep, c, n, values);

    if (body > 0. && (first == 0. || body < first))
      first = body;
  }
  return first;
}

static PetscReal next_layer(const Sweep *sweep, PetscInt c, const PetscReal *values, PetscReal layer)
{
  for (PetscInt n = 0; n < 2 * grid_box(sweep->coupling->grid)->dimension; n++)
    if (neighbour_of(sweep, c, n, values) == layer - 1.)
      return layer;
  return 0.;
}

/* Cells that are part of the problem, hold zero in `field` and, if it is given, not in `within`. */
static PetscErrorCode Spread(Sweep *sweep, Vec field, const PetscReal *within, CellRule rule, PetscReal layer)
{
  const Coupling coupling = sweep->coupling;
  const GridBox *box = grid_box(coupling->grid);
  PetscReal     *values;
  PetscInt       number = 0;

  PetscFunctionBegin;
  PetscCall(MacGridExchange(coupling->grid, field));
  PetscCall(VecGetArray(field, &values));
  sweep->count = 0;
  for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
      for (PetscInt i = box->start[X]; i < box->end[X]; i++, number++) {
        const PetscInt c = box_index(box, i, j, k);

        if (coupling->labels[number] < 0 || values[c] != 0. || (within && within[c] == 0.))
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

/* The body with the largest part in a face of a cell. */
static PetscErrorCode Settle(Coupling coupling, const char *is_light, Vec bodies, char *is_mixed)
{
  const EntryList *list = &coupling->free_entries;
  PetscReal       *most, *owner;
  Vec              solver;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(coupling->flow, &solver));
  PetscCall(VecSet(solver, 0.));
  PetscCall(VecGetArray(solver, &owner));
  PetscCall(PetscCalloc1(coupling->cell_count, &most));
  for (PetscInt n = 0; n < list->count; n++) {
    const Entry    *entry = &list->entries[n];
    const PetscInt  body = entry->into[0] / TWIST;
    const PetscReal flow = PetscAbsReal(entry->by[0]);

    if (!is_light[body] || entry->into[0] % TWIST >= DIM || flow < most[entry->cell] ||
        (flow == most[entry->cell] && owner[entry->cell] > 0. && owner[entry->cell] <= 1. + (PetscReal)body))
      continue;
    most[entry->cell] = flow;
    owner[entry->cell] = 1. + (PetscReal)body;
    is_mixed[entry->cell] = 1;
  }
  PetscCall(VecRestoreArray(solver, &owner));
  PetscCall(MacGridFromSolver(coupling->grid, solver, bodies));
  PetscCall(VecDestroy(&solver));
  PetscCall(PetscFree(most));
  PetscFunctionReturn(0);
}

/* One where something else begins, else zero. */
static PetscErrorCode FindBorder(const Sweep *sweep, const PetscReal *body, Vec depth)
{
  const GridBox *box = grid_box(sweep->coupling->grid);
  PetscReal     *values;

  PetscFunctionBegin;
  PetscCall(VecSet(depth, 0.));
  PetscCall(VecGetArray(depth, &values));
  for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
      for (PetscInt i = box->start[X]; i < box->end[X]; i++) {
        const PetscInt c = box_index(box, i, j, k);

        for (PetscInt n = 0; n < 2 * box->dimension && body[c] > 0.; n++) {
          const PetscReal other = neighbour_of(sweep, c, n, body);

          if (other >= 0. && other != body[c])
            values[c] = 1.;
        }
      }
  PetscCall(VecRestoreArray(depth, &values));
  PetscFunctionReturn(0);
}

static void take_parts(Coupling coupling, const PetscReal *body, const PetscReal *depth, Territory *territory)
{
  for (PetscInt c = 0; c < grid_box(coupling->grid)->length; c++) {
    territory->owner[c] = (PetscInt)body[c] - 1;
    territory->part[c] = body[c] == 0. ? 0. : depth[c] == 0. ? 1. : depth[c] / (REACH + 1.);
  }
}

PetscErrorCode CouplingFindTerritory(Coupling coupling, const char *is_light, Territory *territory)
{
  Sweep            sweep = {.coupling = coupling};
  const PetscReal *body, *layers;
  Vec              bodies, depth;

  PetscFunctionBegin;
  PetscCall(MacGridCreateField(coupling->grid, &bodies));
  PetscCall(VecSet(bodies, 0.));
  PetscCall(VecDuplicate(bodies, &depth));
  PetscCall(PetscMalloc2(coupling->cell_count + 1, &sweep.cells, coupling->cell_count + 1, &sweep.values));
  PetscCall(MacGridGetFaces(coupling->grid, coupling->weights, sweep.weights));
  PetscCall(Settle(coupling, is_light, bodies, territory->is_mixed));
  for (PetscInt layer = 1; layer <= REACH; layer++)
    PetscCall(Spread(&sweep, bodies, NULL, next_body, layer));
  PetscCall(MacGridExchange(coupling->grid, bodies));
  PetscCall(VecGetArrayRead(bodies, &body));
  PetscCall(FindBorder(&sweep, body, depth));
  for (PetscInt layer = 2; layer <= REACH; layer++)
    PetscCall(Spread(&sweep, depth, body, next_layer, layer));
  PetscCall(VecGetArrayRead(depth, &layers));
  take_parts(coupling, body, layers, territory);
  PetscCall(VecRestoreArrayRead(depth, &layers));
  PetscCall(VecRestoreArrayRead(bodies, &body));
  PetscCall(MacGridRestoreFaces(coupling->grid, coupling->weights, sweep.weights));
  PetscCall(PetscFree2(sweep.cells, sweep.values));
  PetscCall(VecDestroy(&bodies));
  PetscCall(VecDestroy(&depth));
  PetscFunctionReturn(0);
}
