/* B = V G^T W: what the unknowns of solids bring into cells through mixed faces and contact faces. It is
   collected face by face in rows of unknowns and weights. That of rigid bodies is kept body by body, one row
   of six numbers for each cell that a body brings flow into; free bodies come first, so that the solvers
   multiply by a part of it. */
#include "../coupling_impl.h"

PetscErrorCode CellRowsAdd(CellRows *list, PetscInt cell, const SolidRow *row)
{
  PetscFunctionBegin;
  PetscCall(GrowList(list->count, &list->room, &list->rows));
  list->rows[list->count++] = (CellRow){(int)cell, *row};
  PetscFunctionReturn(0);
}

void cell_rows_multiply(const CellRows *list, const PetscReal *velocities, PetscReal *cells)
{
  for (PetscInt n = 0; n < list->count; n++)
    cells[list->rows[n].cell] += solid_row_velocity(&list->rows[n].row, velocities);
}

void cell_rows_multiply_transpose(const CellRows *list, const PetscReal *cells, PetscReal *forces)
{
  for (PetscInt n = 0; n < list->count; n++)
    solid_row_add_force(&list->rows[n].row, cells[list->rows[n].cell], forces);
}

PetscErrorCode PlacedSolidsAddRow(const PlacedSolids *solids, PetscInt cell, PetscInt body,
                                  const PetscReal row[TWIST], CellRows *list)
{
  PetscFunctionBegin;
  for (PetscInt half = 0; half < TWIST; half += DIM) {
    const PetscInt first = TWIST * solids->bodies[body].slot + half;
    const SolidRow part = {3, {first, first + 1, first + 2}, {row[half], row[half + 1], row[half + 2]}};

    PetscCall(CellRowsAdd(list, cell, &part));
  }
  PetscFunctionReturn(0);
}

/* The number of a cell in solver vectors, or -1 if it is another rank's or not part of the problem. */
static PetscInt cell_number(Coupling coupling, const PetscInt at[DIM])
{
  const PetscInt number = owned_cell_number(grid_box(coupling->grid), at);

  return number < 0 || coupling->system.labels[number] < 0 ? -1 : number;
}

/* The pressure of the upper cell pulls, that of the lower one pushes. */
static PetscErrorCode AddFace(Coupling coupling, const MixedFace *mixed, CellRows *list)
{
  const PetscInt  d = mixed->direction;
  const PetscReal area = coupling->area * coupling_rest_of_face(coupling, d, mixed->at);
  PetscInt        at[DIM] = {mixed->at[X], mixed->at[Y], mixed->at[Z]};

  PetscFunctionBegin;
  for (PetscInt side = 0; side < 2; side++) {
    PetscInt cell;

    at[d] = mixed->at[d] - 1 + side;
    cell = cell_number(coupling, at);
    for (PetscInt s = mixed->first; s < mixed->first + mixed->count && cell >= 0; s++) {
      const InterpolationEntry *entry = &coupling->faces.entries[s];
      const PetscReal           flow = (side ? area : -area) * entry->weight;
      const SolidRow            row =
          solid_row_of_body(TWIST * coupling->solids.bodies[entry->body].slot, d, entry->arm, flow);

      if (entry->weight != 0.)
        PetscCall(CellRowsAdd(list, cell, &row));
    }
  }
  PetscFunctionReturn(0);
}

/* `order` becomes stably sorted by `key`, 0 <= key < keys. */
static PetscErrorCode SortBy(PetscInt count, const int *key, PetscInt keys, int *order)
{
  PetscInt *start;
  int      *sorted;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(keys + 1, &start));
  PetscCall(PetscMalloc1(count, &sorted));
  for (PetscInt n = 0; n < count; n++)
    start[key[n] + 1]++;
  for (PetscInt k = 0; k < keys; k++)
    start[k + 1] += start[k];
  for (PetscInt n = 0; n < count; n++)
    sorted[start[key[order[n]]]++] = order[n];
  PetscCall(PetscArraycpy(order, sorted, count));
  PetscCall(PetscFree(sorted));
  PetscCall(PetscFree(start));
  PetscFunctionReturn(0);
}

/* By bodies, and by cells within each. */
static PetscErrorCode SortRows(const CellRows *list, PetscInt cells, PetscInt bodies, int *order)
{
  int *key;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(list->count, &key));
  for (PetscInt n = 0; n < list->count; n++) {
    order[n] = (int)n;
    key[n] = list->rows[n].cell;
  }
  PetscCall(SortBy(list->count, key, cells, order));
  for (PetscInt n = 0; n < list->count; n++)
    key[n] = (int)(list->rows[n].row.dof[0] / TWIST);
  PetscCall(SortBy(list->count, key, bodies, order));
  PetscCall(PetscFree(key));
  PetscFunctionReturn(0);
}

/* Rows of one body and cell become one. */
static PetscErrorCode MergeRows(const CellRows *list, PetscInt cells, PetscInt bodies, CouplingMatrix *matrix)
{
  PetscInt count = 0, body = -1;
  int     *order;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(list->count, &order));
  PetscCall(SortRows(list, cells, bodies, order));
  PetscCall(PetscMalloc3(bodies + 1, &matrix->first, list->count, &matrix->cells, TWIST * list->count,
                         &matrix->values));
  for (PetscInt n = 0; n < list->count; n++) {
    const CellRow *from = &list->rows[order[n]];

    if (from->row.dof[0] / TWIST != body || matrix->cells[count - 1] != from->cell) {
      while (body < from->row.dof[0] / TWIST)
        matrix->first[++body] = count;
      PetscCall(PetscArrayzero(&matrix->values[TWIST * count], TWIST));
      matrix->cells[count++] = from->cell;
    }
    for (PetscInt i = 0; i < from->row.count; i++)
      matrix->values[TWIST * (count - 1) + from->row.dof[i] % TWIST] += from->row.weight[i];
  }
  while (body < bodies)
    matrix->first[++body] = count;
  PetscCall(PetscFree(order));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingBuildMatrix(Coupling coupling, Vec fixed)
{
  CellRows list = {0};

  PetscFunctionBegin;
  PetscCall(CouplingMatrixClear(&coupling->system.matrix));
  poisson_label_cells(coupling->system.poisson, coupling->system.labels);
  PetscCall(CouplingMarkPressures(coupling));
  for (PetscInt m = 0; m < coupling->faces.mixed_count; m++)
    PetscCall(AddFace(coupling, &coupling->faces.mixed[m], &list));
  PetscCall(CouplingFindContactFaces(coupling, fixed));
  PetscCall(CouplingAddContactFaces(coupling, &list));
  PetscCall(MergeRows(&list, coupling->cell_count, coupling->solids.count, &coupling->system.matrix));
  PetscCall(PetscFree(list.rows));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingMatrixClear(CouplingMatrix *matrix)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(matrix->first, matrix->cells, matrix->values));
  PetscFunctionReturn(0);
}

VECTOR_CLONES void coupling_matrix_multiply(const CouplingMatrix *matrix, PetscInt bodies,
                                            const PetscReal *restrict twists, PetscReal *restrict cells)
{
  for (PetscInt b = 0; b < bodies; b++) {
    const PetscReal *v = &twists[TWIST * b];

    for (PetscInt r = matrix->first[b]; r < matrix->first[b + 1]; r++) {
      const PetscReal *by = &matrix->values[TWIST * r];

      cells[matrix->cells[r]] +=
          (by[0] * v[0] + by[1] * v[1] + by[2] * v[2]) + (by[3] * v[3] + by[4] * v[4] + by[5] * v[5]);
    }
  }
}

/* What the rows `first` to `last` add to one number of their body. */
static void add_rows(const CouplingMatrix *matrix, PetscInt first, PetscInt last, PetscInt number,
                     const PetscReal *cells, ReproducibleSum *sum)
{
  enum { PART = 256 };
  PetscReal terms[PART];

  for (PetscInt r = first; r < last; r += PART) {
    const PetscInt count = PetscMin(PART, last - r);

    for (PetscInt n = 0; n < count; n++)
      terms[n] = matrix->values[TWIST * (r + n) + number] * cells[matrix->cells[r + n]];
    sum_add_values(sum, terms, count);
  }
}

void coupling_matrix_multiply_transpose(const CouplingMatrix *matrix, PetscInt bodies, const PetscReal *cells,
                                        ReproducibleSum *twists)
{
  for (PetscInt b = 0; b < bodies; b++)
    for (PetscInt n = 0; n < TWIST; n++)
      add_rows(matrix, matrix->first[b], matrix->first[b + 1], n, cells, &twists[TWIST * b + n]);
}
