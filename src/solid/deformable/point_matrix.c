/* The matrix of implicit elasticity (point_matrix.h): its pattern and its values. */
#include "point_matrix_impl.h"

enum { CARRIED = -2 };
enum { MOST_CONTACT_FOOTINGS = CONTACT_MOST_POINTS * MOST_FOOTINGS + 2, OF_CONTACT_BODY = -1 };

static PetscInt body_block(PointMatrix matrix, PetscInt body)
{
  for (PetscInt n = 0; n < matrix->body_count; n++)
    if (matrix->bodies[n] == body)
      return nth_body_block(matrix, n);
  return -1;
}

static void stand(PointMatrix matrix, const Points *points, PetscInt p, PetscReal weight,
                  MatrixFooting footings[], PetscInt *count)
{
  const PetscInt carrier = points->carrier[p];
  const PetscInt body = carrier >= 0 ? body_block(matrix, carrier) : -1;

  if (carrier == CARRIER_POINTS) {
    const PetscInt k = points->bindings.index[p];

    for (PetscInt n = points->bindings.first[k]; n < points->bindings.first[k + 1]; n++)
      stand(matrix, points, points->bindings.parents[n], weight * points->bindings.weights[n], footings,
            count);
  } else if (points->inverse_mass[p] > 0. && *count < MOST_FOOTINGS)
    footings[(*count)++] = (MatrixFooting){p, p, weight, PETSC_FALSE};
  else if (body >= 0 && *count + 1 < MOST_FOOTINGS) {
    footings[(*count)++] = (MatrixFooting){body, p, weight, PETSC_FALSE};
    footings[(*count)++] = (MatrixFooting){body + 1, p, weight, PETSC_TRUE};
  }
}

PetscInt matrix_footings(PointMatrix matrix, const Points *points, PetscInt p, MatrixFooting footings[])
{
  PetscInt count = 0;

  stand(matrix, points, p, 1., footings, &count);
  return count;
}

/* Of its points, those on bodies only where masses may be on them too; then of its body. */
static PetscInt find_contact_footings(PointMatrix matrix, const Points *points, const RelativePlace *place,
                                      MatrixFooting all[])
{
  const PetscInt body = place->body >= 0 ? body_block(matrix, place->body) : -1;
  PetscInt       kept = 0;

  for (PetscInt n = 0; n < place->count; n++) {
    MatrixFooting *own = all + kept;
    const PetscInt count = matrix_footings(matrix, points, place->points[n], own);

    for (PetscInt i = 0; i < count; i++) {
      own[i].weight *= place->weights[n];
      if (matrix->is_added || !is_body_block(matrix, own[i].block))
        all[kept++] = own[i];
    }
  }
  if (body >= 0) {
    all[kept++] = (MatrixFooting){body, OF_CONTACT_BODY, -1., PETSC_FALSE};
    all[kept++] = (MatrixFooting){body + 1, OF_CONTACT_BODY, -1., PETSC_TRUE};
  }
  return kept;
}

/* Points that move by themselves and that are here, and bodies. */
static PetscErrorCode FindRows(Solid solid, PointMatrix matrix)
{
  const Points *points = solid->points;

  PetscFunctionBegin;
  matrix->point_count = points->count;
  matrix->block_count = points->count + 2 * matrix->body_count;
  matrix->unknown_count = 2 * matrix->body_count;
  PetscCall(PetscMalloc2(matrix->block_count, &matrix->row, matrix->block_count, &matrix->rows));
  for (PetscInt p = 0; p < points->count; p++) {
    matrix->row[p] = -1;
    matrix->unknown_count += points->inverse_mass[p] > 0. ? 1 : 0;
  }
  FOR_POINTS(&points->here, p)
  if (points->inverse_mass[p] > 0.) {
    matrix->row[p] = matrix->row_count;
    matrix->rows[matrix->row_count++] = p;
  }
  matrix->body_row = matrix->row_count;
  for (PetscInt b = points->count; b < matrix->block_count; b++) {
    matrix->row[b] = matrix->row_count;
    matrix->rows[matrix->row_count++] = b;
  }
  PetscFunctionReturn(0);
}

/* Whether this rank has the entry, if there is one. */
static PetscBool keeps(PointMatrix matrix, const Points *points, PetscInt row, PetscInt column)
{
  if (row > column || matrix->row[row] < 0)
    return PETSC_FALSE;
  if (is_body_block(matrix, row) || points_owns(points, row))
    return PETSC_TRUE;
  return !is_body_block(matrix, column) && points_owns(points, column) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode TakeBodies(Solid solid, MatrixBodies which, PointMatrix matrix)
{
  const Points *points = solid->points;

  PetscFunctionBegin;
  matrix->is_added = which == MATRIX_WITH_ADDED ? PETSC_TRUE : PETSC_FALSE;
  matrix->body_count = which == MATRIX_WITH_TOUCHED ? points->body_count : points->carrying_count;
  PetscCall(PetscMalloc1(matrix->body_count, &matrix->bodies));
  PetscCall(PetscArraycpy(matrix->bodies, points->bodies, matrix->body_count));
  PetscCall(PetscMalloc1(points->contact_count, &matrix->pairs));
  for (PetscInt k = 0; k < points->contact_count && which == MATRIX_WITH_TOUCHED; k++)
    if (body_is_free(&solid->bodies[points->contacts[k].body])) {
      matrix->pairs[matrix->pair_count][0] = points->contacts[k].point;
      matrix->pairs[matrix->pair_count++][1] = points->contacts[k].body;
    }
  PetscFunctionReturn(0);
}

PetscBool point_matrix_fits(PointMatrix matrix, Solid solid)
{
  const Points *points = solid->points;
  PetscInt      n = 0;

  for (PetscInt k = 0; k < points->contact_count; k++) {
    const PointContact *contact = &points->contacts[k];

    if (!body_is_free(&solid->bodies[contact->body]))
      continue;
    if (n == matrix->pair_count || matrix->pairs[n][0] != contact->point ||
        matrix->pairs[n][1] != contact->body)
      return PETSC_FALSE;
    n++;
  }
  return n == matrix->pair_count ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode TakeTerms(Solid solid, PointMatrix matrix)
{
  const Points *points = solid->points;

  PetscFunctionBegin;
  for (PetscInt m = 0; m < points->mesh_count; m++)
    matrix->term_count += points->meshes[m].force_count;
  PetscCall(PetscCalloc1(matrix->term_count, &matrix->terms));
  matrix->term_count = 0;
  for (PetscInt m = 0; m < points->mesh_count; m++)
    for (PetscInt k = 0; k < points->meshes[m].force_count; k++) {
      MatrixTerm *term = &matrix->terms[matrix->term_count++];

      term->force = &points->meshes[m].forces[k];
      term->material = points->meshes[m].material;
      term->list = term->force->kind->elements(term->force->data);
      term->is_planar = points->meshes[m].is_planar;
    }
  PetscFunctionReturn(0);
}

/* Calls for every pair of blocks that an element joins; `visit` may count or write. */
typedef struct {
  PointMatrix   matrix;
  const Points *points;
  PetscInt     *lengths, *columns;
  char         *joined; /* of pairs of bodies, that they are */
} RowLists;
typedef void (*PairVisit)(RowLists *lists, PetscInt row, PetscInt column);

static void visit_all(RowLists *lists, const MatrixFooting all[], PetscInt count, PairVisit visit)
{
  for (PetscInt i = 0; i < count; i++)
    for (PetscInt j = 0; j < count; j++)
      if (keeps(lists->matrix, lists->points, all[i].block, all[j].block))
        visit(lists, lists->matrix->row[all[i].block], all[j].block);
}

/* Of points and bodies in contact, and of the parents of points that masses may be added to. */
static void visit_contacts(RowLists *lists, PairVisit visit)
{
  const PointMatrix matrix = lists->matrix;
  const Points     *points = lists->points;

  for (PetscInt k = 0; k < matrix->pair_count; k++) {
    MatrixFooting  all[MOST_FOOTINGS];
    const PetscInt count = matrix_footings(matrix, points, matrix->pairs[k][0], all);
    const PetscInt body = body_block(matrix, matrix->pairs[k][1]);

    for (PetscInt i = 0; i < 2 * count; i++) {
      const PetscInt a = all[i / 2].block, b = body + i % 2;

      if (keeps(matrix, points, PetscMin(a, b), PetscMax(a, b)))
        visit(lists, matrix->row[PetscMin(a, b)], PetscMax(a, b));
    }
  }
  for (PetscInt k = 0; k < points->bindings.count && matrix->is_added; k++) {
    MatrixFooting all[MOST_FOOTINGS];

    visit_all(lists, all, matrix_footings(matrix, points, points->bindings.points[k], all), visit);
  }
  for (PetscInt k = 0; k < matrix->contact_count; k++) {
    MatrixFooting all[MOST_CONTACT_FOOTINGS];

    visit_all(lists, all, find_contact_footings(matrix, points, &matrix->contacts[k], all), visit);
  }
}

/* Two blocks of one by two of the other. */
static void visit_bodies(RowLists *lists, PairVisit visit)
{
  const PointMatrix matrix = lists->matrix;
  const PetscInt    bodies = matrix->body_count;

  for (PetscInt n = 0; n < bodies; n++)
    visit(lists, matrix->row[nth_body_block(matrix, n)], nth_body_block(matrix, n) + 1);
  for (PetscInt k = 0; k < 4 * PetscSqr(bodies); k++) {
    const PetscInt a = k / 4 / bodies, b = k / 4 % bodies;

    if (a < b && lists->joined[k / 4])
      visit(lists, matrix->row[nth_body_block(matrix, a)] + k / 2 % 2, nth_body_block(matrix, b) + k % 2);
  }
}

static void visit_pairs(RowLists *lists, PairVisit visit)
{
  const PointMatrix matrix = lists->matrix;

  for (PetscInt r = 0; r < matrix->row_count; r++)
    if (keeps(matrix, lists->points, matrix->rows[r], matrix->rows[r]))
      visit(lists, r, matrix->rows[r]);
  visit_bodies(lists, visit);
  visit_contacts(lists, visit);
  for (PetscInt t = 0; t < matrix->term_count; t++) {
    const ElementList *list = &matrix->terms[t].list;

    for (PetscInt e = 0; e < list->count; e++) {
      MatrixFooting all[FORCE_MOST_NODES * MOST_FOOTINGS];
      PetscInt      count = 0;

      for (PetscInt a = 0; a < list->nodes; a++)
        count += matrix_footings(matrix, lists->points, list->elements[list->nodes * e + a], all + count);
      visit_all(lists, all, count, visit);
    }
  }
}

static void count_pair(RowLists *lists, PetscInt row, PetscInt column)
{
  (void)column;
  lists->lengths[row + 1]++;
}

static void write_pair(RowLists *lists, PetscInt row, PetscInt column)
{
  lists->columns[lists->lengths[row]++] = column;
}

/* Rows of columns, sorted, each once. */
static PetscErrorCode SortRows(PointMatrix matrix, const PetscInt start[], PetscInt columns[])
{
  PetscInt total = 0;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < matrix->row_count; r++) {
    PetscInt count = start[r + 1] - start[r];

    PetscCall(PetscSortRemoveDupsInt(&count, &columns[start[r]]));
    PetscCall(PetscArraymove(&columns[total], &columns[start[r]], count));
    matrix->first_on_body[r] = total;
    for (PetscInt n = total; n < total + count && columns[n] < matrix->point_count; n++)
      matrix->first_on_body[r]++;
    total += count;
    matrix->first[r + 1] = total;
  }
  matrix->column = columns;
  PetscFunctionReturn(0);
}

static void mark_bodies(RowLists *lists, PetscInt row, PetscInt column)
{
  const PointMatrix matrix = lists->matrix;

  if (row >= matrix->body_row)
    lists->joined[matrix->body_count * ((row - matrix->body_row) / 2) + (column - matrix->point_count) / 2] =
        1;
}

/* Bodies that elements of any rank join. */
static PetscErrorCode FindJoined(Solid solid, RowLists *lists)
{
  const PetscInt bodies = lists->matrix->body_count;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(PetscSqr(bodies), &lists->joined));
  if (!solid->points->distribution || bodies < 2)
    PetscFunctionReturn(0);
  visit_pairs(lists, mark_bodies);
  PetscCall(PointsMark(solid, PetscSqr(bodies), lists->joined));
  PetscFunctionReturn(0);
}

static PetscErrorCode FindPattern(Solid solid, PointMatrix matrix)
{
  const PetscInt rows = matrix->row_count;
  RowLists       lists = {.matrix = matrix, .points = solid->points};
  PetscInt      *start, entries;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(rows + 1, &lists.lengths));
  PetscCall(PetscCalloc2(rows + 1, &matrix->first, rows, &matrix->first_on_body));
  PetscCall(FindJoined(solid, &lists));
  visit_pairs(&lists, count_pair);
  for (PetscInt r = 0; r < rows; r++)
    lists.lengths[r + 1] += lists.lengths[r];
  PetscCall(PetscMalloc1(lists.lengths[rows], &lists.columns));
  PetscCall(PetscMalloc1(rows + 1, &start));
  PetscCall(PetscArraycpy(start, lists.lengths, rows + 1));
  visit_pairs(&lists, write_pair);
  PetscCall(SortRows(matrix, start, lists.columns));
  entries = matrix->first[rows];
  PetscCall(PetscRealloc(sizeof(*matrix->column) * (size_t)(entries + 1), &matrix->column));
  PetscCall(PetscMalloc1(BLOCK * entries, &matrix->values));
  PetscCall(PetscMalloc1(BLOCK * (entries - matrix->first[matrix->body_row]), &matrix->sums));
  PetscCall(PetscFree(start));
  PetscCall(PetscFree(lists.joined));
  PetscCall(PetscFree(lists.lengths));
  PetscFunctionReturn(0);
}

PetscInt matrix_entry(PointMatrix matrix, PetscInt row, PetscInt column)
{
  const PetscInt r = matrix->row[row];
  PetscInt       low = r < 0 ? 0 : matrix->first[r], high = r < 0 ? 0 : matrix->first[r + 1];
  const PetscInt end = high;

  while (low < high) {
    const PetscInt middle = (low + high) / 2;

    if (matrix->column[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && matrix->column[low] == column && row <= column ? low : -1;
}

/* Where blocks of an element go, if all its nodes are blocks or stand still. */
static void place_element(PointMatrix matrix, const Points *points, MatrixTerm *term, PetscInt element)
{
  const PetscInt n = term->list.nodes, *nodes = &term->list.elements[n * element];
  PetscInt      *places = &term->places[n * n * element];

  for (PetscInt a = 0; a < n; a++) {
    const PetscInt carrier = points->carrier[nodes[a]];

    if (carrier == CARRIER_POINTS || (carrier >= 0 && body_block(matrix, carrier) >= 0)) {
      places[0] = CARRIED;
      return;
    }
  }
  for (PetscInt a = 0; a < n; a++)
    for (PetscInt b = 0; b < n; b++)
      places[n * a + b] = matrix_entry(matrix, nodes[a], nodes[b]);
}

static PetscErrorCode FindPlaces(Solid solid, PointMatrix matrix)
{
  PetscFunctionBegin;
  for (PetscInt t = 0; t < matrix->term_count; t++) {
    MatrixTerm *term = &matrix->terms[t];

    PetscCall(PetscMalloc1(term->list.count * PetscSqr(term->list.nodes), &term->places));
    for (PetscInt e = 0; e < term->list.count; e++)
      place_element(matrix, solid->points, term, e);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PointMatrixCreateWithContacts(Solid solid, MatrixBodies which, PetscInt count,
                                             const RelativePlace contacts[], PointMatrix *matrix)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(matrix));
  (*matrix)->tolerance = 1e-8;
  (*matrix)->inverted = (*matrix)->whole.version = -1;
  (*matrix)->contact_count = count;
  PetscCall(PetscMalloc1(count, &(*matrix)->contacts));
  PetscCall(PetscArraycpy((*matrix)->contacts, contacts, count));
  PetscCall(TakeBodies(solid, which, *matrix));
  PetscCall(FindRows(solid, *matrix));
  PetscCall(TakeTerms(solid, *matrix));
  PetscCall(FindPattern(solid, *matrix));
  PetscCall(FindPlaces(solid, *matrix));
  PetscFunctionReturn(0);
}

PetscErrorCode PointMatrixCreate(Solid solid, MatrixBodies which, PointMatrix *matrix)
{
  PetscFunctionBegin;
  PetscCall(PointMatrixCreateWithContacts(solid, which, 0, NULL, matrix));
  PetscFunctionReturn(0);
}

PetscBool point_matrix_is_of(PointMatrix matrix, PetscInt count, const RelativePlace contacts[])
{
  PetscBool same = matrix->contact_count == count ? PETSC_TRUE : PETSC_FALSE;

  for (PetscInt k = 0; k < count && same; k++)
    same = matrix->contacts[k].count == contacts[k].count && matrix->contacts[k].body == contacts[k].body &&
                   !memcmp(matrix->contacts[k].points, contacts[k].points, sizeof(contacts[k].points))
               ? PETSC_TRUE
               : PETSC_FALSE;
  return same;
}

void point_matrix_set_tolerance(PointMatrix matrix, PetscReal tolerance)
{
  matrix->tolerance = tolerance;
  matrix->whole.solver = -1;
}

PetscErrorCode PointMatrixDestroy(PointMatrix *matrix)
{
  PetscFunctionBegin;
  if (!*matrix)
    PetscFunctionReturn(0);
  for (PetscInt t = 0; t < (*matrix)->term_count; t++)
    PetscCall(PetscFree((*matrix)->terms[t].places));
  PetscCall(PetscFree((*matrix)->terms));
  PetscCall(PetscFree((*matrix)->bodies));
  PetscCall(PetscFree((*matrix)->pairs));
  PetscCall(PetscFree((*matrix)->contacts));
  PetscCall(PetscFree2((*matrix)->row, (*matrix)->rows));
  PetscCall(PetscFree2((*matrix)->first, (*matrix)->first_on_body));
  PetscCall(PetscFree((*matrix)->column));
  PetscCall(PetscFree((*matrix)->values));
  PetscCall(PetscFree((*matrix)->sums));
  PetscCall(PointMatrixDestroySolver(*matrix));
  PetscCall(PetscFree(*matrix));
  PetscFunctionReturn(0);
}

/* values += block, if the entry is here. */
static void add_block(PointMatrix matrix, PetscInt row, PetscInt column, const PetscReal *block)
{
  const PetscInt entry = matrix_entry(matrix, row, column);

  for (PetscInt k = 0; k < BLOCK && entry >= 0; k++)
    matrix->values[BLOCK * entry + k] += block[k];
}

/* The same of an element that one rank counts, between bodies. */
static void sum_block(PointMatrix matrix, PetscInt row, PetscInt column, const PetscReal *block)
{
  const PetscInt entry = matrix_entry(matrix, row, column) - matrix->first[matrix->body_row];

  for (PetscInt k = 0; k < BLOCK && row <= column; k++)
    sum_add(&matrix->sums[BLOCK * entry + k], block[k]);
}

static void take_block(const PetscReal element[], PetscInt nodes, PetscInt a, PetscInt b,
                       PetscReal block[BLOCK])
{
  for (PetscInt n = 0; n < BLOCK; n++)
    block[n] = element[DIM * nodes * (DIM * a + n / DIM) + DIM * b + n % DIM];
}

Matrix3 footing_matrix(Solid solid, const MatrixFooting *footing)
{
  const PetscReal w = footing->weight;
  Vector3         r;

  if (!footing->is_spin)
    return (Matrix3){{{w, 0, 0}, {0, w, 0}, {0, 0, w}}};
  r = vector3_scale(w, vector3_subtract(solid->points->position[footing->point],
                                        solid->placements[solid->points->carrier[footing->point]].position));
  return (Matrix3){{{0, r.at[Z], -r.at[Y]}, {-r.at[Z], 0, r.at[X]}, {r.at[Y], -r.at[X], 0}}};
}

typedef struct {
  PointMatrix       matrix;
  Solid             solid;
  const MatrixTerm *term;
} ElementContext;

/* Where a part of T^T A T goes; between bodies that of an element is summed over those of all ranks. */
typedef enum { PART_OF_ALL, PART_OF_ELEMENT, PART_OF_ANOTHER } MatrixPart;

/* T_a^T A T_b for all that the two points stand on. */
static void add_carried(const ElementContext *context, MatrixPart part, PetscInt a, PetscInt b,
                        const PetscReal block[BLOCK])
{
  MatrixFooting  left[MOST_FOOTINGS], right[MOST_FOOTINGS];
  const PetscInt left_count = matrix_footings(context->matrix, context->solid->points, a, left);
  const PetscInt right_count = matrix_footings(context->matrix, context->solid->points, b, right);
  Matrix3        middle;

  memcpy(middle.at, block, sizeof(middle.at));
  for (PetscInt i = 0; i < left_count; i++)
    for (PetscInt j = 0; j < right_count; j++) {
      Matrix3       t = footing_matrix(context->solid, &left[i]), product;
      const Matrix3 s = footing_matrix(context->solid, &right[j]);

      t = matrix3_transpose(&t);
      product = matrix3_multiply(&t, &middle);
      product = matrix3_multiply(&product, &s);
      if (part == PART_OF_ALL || !is_body_block(context->matrix, left[i].block))
        add_block(context->matrix, left[i].block, right[j].block, &product.at[0][0]);
      else if (part == PART_OF_ELEMENT && is_body_block(context->matrix, right[j].block))
        sum_block(context->matrix, left[i].block, right[j].block, &product.at[0][0]);
    }
}

/* What a plane problem does not move across the plane resists like the rest, and stays. */
static void hold_plane(PetscInt nodes, PetscReal element[])
{
  const PetscInt width = DIM * nodes;

  for (PetscInt a = 0; a < nodes; a++) {
    const PetscInt z = DIM * a + Z;

    for (PetscInt c = 0; c < width; c++)
      element[width * z + c] = element[width * c + z] = 0.;
    element[width * z + z] = element[width * (z - 2) + z - 2] + element[width * (z - 1) + z - 1];
  }
}

/* Of an element whose nodes are all blocks or stand still. */
KERNEL void add_free(PointMatrix matrix, PetscInt n, const PetscInt places[], const PetscReal element[])
{
  for (PetscInt a = 0; a < n; a++)
    for (PetscInt b = 0; b < n; b++) {
      const PetscReal *from = &element[DIM * (DIM * n * a + b)];
      const PetscInt   place = places[n * a + b];
      PetscReal       *at = &matrix->values[BLOCK * PetscMax(place, 0)];

      for (PetscInt i = 0; i < DIM && place >= 0; i++)
        for (PetscInt j = 0; j < DIM; j++)
          at[DIM * i + j] += from[DIM * n * i + j];
    }
}

static void add_element(void *data, PetscInt e, const PetscReal given[])
{
  const ElementContext *context = data;
  const MatrixTerm     *term = context->term;
  const PetscInt        n = term->list.nodes, *nodes = &term->list.elements[n * e];
  const PetscInt       *places = &term->places[n * n * e];
  const MatrixPart      part = element_counts(&term->list, nodes) ? PART_OF_ELEMENT : PART_OF_ANOTHER;
  PetscReal             element[BLOCK * FORCE_MOST_NODES * FORCE_MOST_NODES], block[BLOCK];

  if (places[0] != CARRIED && !term->is_planar) {
    if (n == 4) /* with loops of known length */
      add_free(context->matrix, 4, places, given);
    else
      add_free(context->matrix, n, places, given);
    return;
  }
  memcpy(element, given, (size_t)(BLOCK * n * n) * sizeof(*element));
  if (term->is_planar)
    hold_plane(n, element);
  if (places[0] != CARRIED)
    add_free(context->matrix, n, places, element);
  for (PetscInt a = 0; a < n && places[0] == CARRIED; a++)
    for (PetscInt b = 0; b < n; b++) {
      take_block(element, n, a, b, block);
      add_carried(context, part, nodes[a], nodes[b], block);
    }
}

static void add_diagonal(PointMatrix matrix, PetscInt block, PetscReal value)
{
  const PetscReal unit[BLOCK] = {value, 0, 0, 0, value, 0, 0, 0, value};

  add_block(matrix, block, block, unit);
}

static void add_masses(PointMatrix matrix, Solid solid, PetscReal factor)
{
  const Points *points = solid->points;

  for (PetscInt r = 0; r < matrix->body_row; r++)
    add_diagonal(matrix, matrix->rows[r], factor * points->mass[matrix->rows[r]]);
  for (PetscInt n = 0; n < matrix->body_count; n++) {
    const Mobility *mobility = &solid->mobilities[matrix->bodies[n]];
    const PetscInt  b = nth_body_block(matrix, n);
    Matrix3         inertia = matrix3_inverse(&mobility->inverse_inertia);

    add_diagonal(matrix, b, factor / mobility->inverse_mass);
    for (PetscInt k = 0; k < BLOCK; k++)
      inertia.at[k / DIM][k % DIM] *= factor;
    add_block(matrix, b + 1, b + 1, &inertia.at[0][0]);
  }
}

/* Points that no element has, in a matrix without mass. */
static void fill_empty(PointMatrix matrix)
{
  for (PetscInt r = 0; r < matrix->row_count; r++) {
    const PetscInt entry = matrix_entry(matrix, matrix->rows[r], matrix->rows[r]);

    if (entry >= 0 && matrix->values[BLOCK * entry] == 0.)
      add_diagonal(matrix, matrix->rows[r], 1.);
  }
}

/* With Rayleigh's damping, which has the definite part. */
static void assemble_term(ElementContext *context, const MatrixWeights *weights)
{
  const Force    *force = context->term->force;
  const PetscReal rayleigh = weights->damping * context->term->material->stiffness_damping;
  MatrixSink      sink = {weights->stiffness, weights->damping, weights->part, add_element, context};

  if (weights->part == DIFFERENTIAL_DEFINITE)
    sink.stiffness += rayleigh;
  force->kind->assemble(force->data, &sink);
  if (rayleigh > 0. && weights->part != DIFFERENTIAL_DEFINITE) {
    sink = (MatrixSink){rayleigh, 0., DIFFERENTIAL_DEFINITE, add_element, context};
    force->kind->assemble(force->data, &sink);
  }
}

/* Of Rayleigh's damping by masses. */
static void add_drag(PointMatrix matrix, Solid solid, PetscReal factor)
{
  const Points *points = solid->points;

  for (PetscInt m = 0; m < points->mesh_count; m++) {
    const DeformableMesh *mesh = &points->meshes[m];
    const PetscReal       drag = factor * mesh->material->mass_damping;
    const PetscInt        end = mesh->first + mesh_vertices(mesh);

    for (PetscInt p = mesh->first; p < end && drag > 0.; p++)
      if (matrix->row[p] >= 0)
        add_diagonal(matrix, p, drag * points->mass[p]);
  }
}

/* Of elements whose nodes are on bodies. */
static PetscErrorCode TakeSums(PointMatrix matrix, Solid solid)
{
  const PetscInt start = BLOCK * matrix->first[matrix->body_row],
                 count = BLOCK * matrix->first[matrix->row_count] - start;

  PetscFunctionBegin;
  if (count)
    PetscCall(PointsSums(solid, count, matrix->sums, matrix->values + start));
  PetscFunctionReturn(0);
}

PetscErrorCode PointMatrixSet(PointMatrix matrix, Solid solid, const MatrixWeights *weights)
{
  const PetscInt points_end = matrix->first[matrix->body_row], end = matrix->first[matrix->row_count];

  PetscFunctionBegin;
  matrix->version++;
  PetscCall(PetscArrayzero(matrix->values, BLOCK * end));
  PetscCall(PetscArrayzero(matrix->sums, BLOCK * (end - points_end)));
  for (PetscInt t = 0; t < matrix->term_count; t++) {
    ElementContext context = {matrix, solid, &matrix->terms[t]};

    assemble_term(&context, weights);
  }
  PetscCall(TakeSums(matrix, solid));
  add_drag(matrix, solid, weights->damping);
  if (weights->mass > 0.)
    add_masses(matrix, solid, weights->mass);
  else if (weights->stiffness > 0.)
    fill_empty(matrix);
  PetscFunctionReturn(0);
}

void point_matrix_add_masses(PointMatrix matrix, Solid solid, const PetscReal masses[])
{
  const ElementContext context = {matrix, solid, NULL};

  matrix->version++;
  for (PetscInt p = 0; p < solid->points->count; p++) {
    const PetscReal *m = &masses[DIM * p], block[BLOCK] = {m[X], 0, 0, 0, m[Y], 0, 0, 0, m[Z]};

    if (solid->points->inverse_mass[p] > 0.)
      add_block(matrix, p, p, block);
    else if (m[X] != 0. || m[Y] != 0. || m[Z] != 0.)
      add_carried(&context, PART_OF_ALL, p, p, block);
  }
}

/* From the unknowns of a footing to the relative velocity of a contact. */
static Matrix3 contact_matrix(Solid solid, const RelativePlace *place, const MatrixFooting *footing)
{
  const PetscReal w = footing->weight;
  const Vector3   r = place->arm;

  if (!footing->is_spin || footing->point != OF_CONTACT_BODY)
    return footing_matrix(solid, footing);
  return (Matrix3){
      {{0, w * r.at[Z], -w * r.at[Y]}, {-w * r.at[Z], 0, w * r.at[X]}, {w * r.at[Y], -w * r.at[X], 0}}};
}

/* T_i^T A T_j; two parents without an entry for it have it on the diagonal of the first, and so of both,
   which is more. */
static void add_between(PointMatrix matrix, Solid solid, const RelativePlace *place,
                        const MatrixFooting *from, const MatrixFooting *to, const Matrix3 *curvature)
{
  const PetscInt  a = PetscMin(from->block, to->block), b = PetscMax(from->block, to->block);
  const PetscBool is_pair = matrix->pair_count && is_body_block(matrix, b) ? PETSC_TRUE : PETSC_FALSE;
  const PetscInt  there = is_pair || matrix_entry(matrix, a, b) >= 0 ? to->block : from->block;
  Matrix3         t = contact_matrix(solid, place, from), product;
  const Matrix3   s = contact_matrix(solid, place, to);

  t = matrix3_transpose(&t);
  product = matrix3_multiply(&t, curvature);
  product = matrix3_multiply(&product, &s);
  add_block(matrix, from->block, there, &product.at[0][0]);
}

void point_matrix_add_contact(PointMatrix matrix, Solid solid, const RelativePlace *place,
                              const Matrix3 *curvature)
{
  MatrixFooting  all[MOST_CONTACT_FOOTINGS];
  const PetscInt count = find_contact_footings(matrix, solid->points, place, all);

  matrix->version++;
  for (PetscInt i = 0; i < count; i++)
    for (PetscInt j = 0; j < count; j++)
      add_between(matrix, solid, place, &all[i], &all[j], curvature);
}

PetscReal point_matrix_along(PointMatrix matrix, Solid solid, PetscInt point, Vector3 direction)
{
  MatrixFooting    footings[MOST_FOOTINGS];
  const PetscInt   count = matrix_footings(matrix, solid->points, point, footings);
  const PetscInt   entry = count ? matrix_entry(matrix, footings[0].block, footings[0].block) : -1;
  const PetscReal *values = matrix->values + BLOCK * PetscMax(entry, 0);
  PetscReal        sum = 0.;

  if (!count)
    return 0.;
  if (entry < 0)
    return PETSC_MIN_REAL;
  for (PetscInt n = 0; n < BLOCK; n++)
    sum += direction.at[n / DIM] * direction.at[n % DIM] * values[n];
  return sum;
}

PetscErrorCode PointMatrixFindAlong(PointMatrix matrix, Solid solid, PetscReal entries[])
{
  const Points *points = solid->points;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < points->contact_count; k++)
    entries[k] = point_matrix_along(matrix, solid, points->contacts[k].point, points->contacts[k].normal);
  if (points->contact_count)
    PetscCall(PointsLargest(solid, points->contact_count, entries));
  PetscFunctionReturn(0);
}

PetscInt point_matrix_unknowns(PointMatrix matrix)
{
  return DIM * matrix->unknown_count;
}
