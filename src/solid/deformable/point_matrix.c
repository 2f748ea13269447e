/* The matrix of implicit elasticity (point_matrix.h): a sequential AIJ matrix, whose values are written in
   place. */
#include "point_matrix.h"

/* What a point moves with: the velocity of a block, or the spin of a body at an arm. */
typedef struct {
  PetscInt  block, point; /* the point is itself, or a parent */
  PetscReal weight;
  PetscBool is_spin;
} MatrixFooting;

enum { MOST_FOOTINGS = 64, BLOCK = DIM * DIM, CARRIED = -2 };
enum { MOST_CONTACT_FOOTINGS = CONTACT_MOST_POINTS * MOST_FOOTINGS + 2, OF_CONTACT_BODY = -1 };

/* Elements of one force. */
typedef struct {
  const Force *force; /* borrowed */

  const SolidMaterialConfig *material; /* borrowed */

  ElementList list;
  PetscBool   is_planar;
  PetscInt   *places; /* of each pair of nodes: its block in the row; -1: none; CARRIED in the first: other
                         points or bodies carry a node */
} MatrixTerm;

struct _p_PointMatrix {
  PetscInt  block_count;
  PetscInt *block;               /* of each point; -1: another moves it */
  PetscInt  body_count, *bodies; /* with two blocks each, the last ones */
  PetscBool is_added;            /* masses may be added to bound points */
  PetscInt  pair_count;
  PetscInt (*pairs)[2]; /* of a point and a free body in contact */
  PetscInt       contact_count;
  RelativePlace *contacts; /* between points that no element joins */
  PetscInt      *first;    /* block of each row */
  PetscInt      *column;   /* sorted in each row */
  PetscInt       term_count;
  MatrixTerm    *terms;
  Mat            mat;
  PetscReal     *values; /* of mat, while they are written */
  Vec            from, to;
  KSP            ksp;
  KSP            stiffened; /* A + J^T J, or null */
  PetscReal      tolerance;
  PetscInt       solver; /* ElasticSolver that the ksp is set up for; -1: none */
};

static PetscInt nth_body_block(PointMatrix matrix, PetscInt n)
{
  return matrix->block_count - 2 * (matrix->body_count - n);
}

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
  } else if (matrix->block[p] >= 0 && *count < MOST_FOOTINGS)
    footings[(*count)++] = (MatrixFooting){matrix->block[p], p, weight, PETSC_FALSE};
  else if (body >= 0 && *count + 1 < MOST_FOOTINGS) {
    footings[(*count)++] = (MatrixFooting){body, p, weight, PETSC_FALSE};
    footings[(*count)++] = (MatrixFooting){body + 1, p, weight, PETSC_TRUE};
  }
}

static PetscInt find_footings(PointMatrix matrix, const Points *points, PetscInt p, MatrixFooting footings[])
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
    const PetscInt count = find_footings(matrix, points, place->points[n], own);

    for (PetscInt i = 0; i < count; i++) {
      own[i].weight *= place->weights[n];
      if (matrix->is_added || own[i].block < nth_body_block(matrix, 0))
        all[kept++] = own[i];
    }
  }
  if (body >= 0) {
    all[kept++] = (MatrixFooting){body, OF_CONTACT_BODY, -1., PETSC_FALSE};
    all[kept++] = (MatrixFooting){body + 1, OF_CONTACT_BODY, -1., PETSC_TRUE};
  }
  return kept;
}

static PetscErrorCode NumberBlocks(Solid solid, PointMatrix matrix)
{
  const Points *points = solid->points;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(points->count, &matrix->block));
  for (PetscInt p = 0; p < points->count; p++)
    matrix->block[p] = points->inverse_mass[p] > 0. ? matrix->block_count++ : -1;
  matrix->block_count += 2 * matrix->body_count;
  PetscFunctionReturn(0);
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
typedef void (*PairVisit)(void *context, PetscInt row, PetscInt column);
static void visit_pairs(PointMatrix matrix, const Points *points, PairVisit visit, void *context)
{
  for (PetscInt b = 0; b < matrix->block_count; b++)
    visit(context, b, b);
  for (PetscInt n = 0; n < matrix->body_count; n++) { /* velocity and spin of a body */
    const PetscInt b = nth_body_block(matrix, n);

    visit(context, b, b + 1);
    visit(context, b + 1, b);
  }
  for (PetscInt k = 0; k < matrix->pair_count; k++) {
    MatrixFooting  all[MOST_FOOTINGS];
    const PetscInt count = find_footings(matrix, points, matrix->pairs[k][0], all);

    for (PetscInt i = 0; i < 2 * count; i++) {
      const PetscInt b = body_block(matrix, matrix->pairs[k][1]) + i % 2;

      visit(context, all[i / 2].block, b);
      visit(context, b, all[i / 2].block);
    }
  }
  for (PetscInt k = 0; k < points->bindings.count && matrix->is_added; k++) {
    MatrixFooting  all[MOST_FOOTINGS];
    const PetscInt count = find_footings(matrix, points, points->bindings.points[k], all);

    for (PetscInt i = 0; i < count * count; i++)
      visit(context, all[i / count].block, all[i % count].block);
  }
  for (PetscInt k = 0; k < matrix->contact_count; k++) {
    MatrixFooting  all[MOST_CONTACT_FOOTINGS];
    const PetscInt count = find_contact_footings(matrix, points, &matrix->contacts[k], all);

    for (PetscInt i = 0; i < count * count; i++)
      visit(context, all[i / count].block, all[i % count].block);
  }
  for (PetscInt t = 0; t < matrix->term_count; t++) {
    const ElementList *list = &matrix->terms[t].list;

    for (PetscInt e = 0; e < list->count; e++) {
      MatrixFooting all[FORCE_MOST_NODES * MOST_FOOTINGS];
      PetscInt      count = 0;

      for (PetscInt a = 0; a < list->nodes; a++)
        count += find_footings(matrix, points, list->elements[list->nodes * e + a], all + count);
      for (PetscInt i = 0; i < count; i++)
        for (PetscInt j = 0; j < count; j++)
          visit(context, all[i].block, all[j].block);
    }
  }
}

typedef struct {
  PetscInt *lengths, *columns;
} RowLists;

static void count_pair(void *context, PetscInt row, PetscInt column)
{
  (void)column;
  ((RowLists *)context)->lengths[row + 1]++;
}

static void write_pair(void *context, PetscInt row, PetscInt column)
{
  RowLists *lists = context;

  lists->columns[lists->lengths[row]++] = column;
}

/* Rows of blocks, sorted, each column once. */
static PetscErrorCode FindPattern(Solid solid, PointMatrix matrix)
{
  RowLists  lists;
  PetscInt *start, total = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(matrix->block_count + 1, &lists.lengths));
  PetscCall(PetscCalloc1(matrix->block_count + 1, &matrix->first));
  visit_pairs(matrix, solid->points, count_pair, &lists);
  for (PetscInt b = 0; b < matrix->block_count; b++)
    lists.lengths[b + 1] += lists.lengths[b];
  PetscCall(PetscMalloc1(lists.lengths[matrix->block_count], &lists.columns));
  PetscCall(PetscMalloc1(matrix->block_count + 1, &start));
  PetscCall(PetscArraycpy(start, lists.lengths, matrix->block_count + 1));
  visit_pairs(matrix, solid->points, write_pair, &lists);
  for (PetscInt b = 0; b < matrix->block_count; b++) {
    PetscInt count = start[b + 1] - start[b];

    PetscCall(PetscSortRemoveDupsInt(&count, &lists.columns[start[b]]));
    PetscCall(PetscArraymove(&lists.columns[total], &lists.columns[start[b]], count));
    total += count;
    matrix->first[b + 1] = total;
  }
  matrix->column = lists.columns;
  PetscCall(PetscFree(start));
  PetscCall(PetscFree(lists.lengths));
  PetscFunctionReturn(0);
}

static PetscInt find_place(PointMatrix matrix, PetscInt row, PetscInt column)
{
  PetscInt low = matrix->first[row], high = matrix->first[row + 1] - 1;

  while (low < high) {
    const PetscInt middle = (low + high) / 2;

    if (matrix->column[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
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
    for (PetscInt b = 0; b < n; b++) {
      const PetscInt row = matrix->block[nodes[a]], column = matrix->block[nodes[b]];

      places[n * a + b] = row >= 0 && column >= 0 ? find_place(matrix, row, column) : -1;
    }
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

static PetscErrorCode CreateMat(PointMatrix matrix)
{
  const PetscInt rows = DIM * matrix->block_count;
  PetscInt      *lengths, *columns, widest = 0;
  PetscReal     *zeros;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(rows, &lengths));
  for (PetscInt r = 0; r < rows; r++) {
    lengths[r] = DIM * (matrix->first[r / DIM + 1] - matrix->first[r / DIM]);
    widest = PetscMax(widest, lengths[r]);
  }
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, rows, rows, 0, lengths, &matrix->mat));
  PetscCall(MatSetBlockSize(matrix->mat, DIM));
  PetscCall(PetscMalloc1(widest, &columns));
  PetscCall(PetscCalloc1(widest, &zeros));
  for (PetscInt r = 0; r < rows; r++) {
    for (PetscInt n = 0; n < lengths[r]; n++)
      columns[n] = DIM * matrix->column[matrix->first[r / DIM] + n / DIM] + n % DIM;
    PetscCall(MatSetValues(matrix->mat, 1, &r, lengths[r], columns, zeros, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(matrix->mat, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix->mat, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(matrix->mat, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(matrix->mat, MAT_SPD, PETSC_TRUE));
  PetscCall(MatCreateVecs(matrix->mat, &matrix->to, &matrix->from));
  PetscCall(PetscFree(lengths));
  PetscCall(PetscFree(columns));
  PetscCall(PetscFree(zeros));
  PetscFunctionReturn(0);
}

/* For multigrid: the rigid motions of the points, where no body is among the unknowns. */
static PetscErrorCode SetRigidMotions(Solid solid, PointMatrix matrix)
{
  const Points *points = solid->points;
  MatNullSpace  motions;
  PetscReal    *places;
  Vec           coordinates;

  PetscFunctionBegin;
  if (matrix->body_count || !matrix->block_count)
    PetscFunctionReturn(0);
  PetscCall(VecDuplicate(matrix->to, &coordinates));
  PetscCall(VecSetBlockSize(coordinates, DIM));
  PetscCall(VecGetArrayWrite(coordinates, &places));
  for (PetscInt p = 0; p < points->count; p++)
    for (PetscInt d = 0; d < DIM && matrix->block[p] >= 0; d++)
      places[DIM * matrix->block[p] + d] = points->rest[p].at[d];
  PetscCall(VecRestoreArrayWrite(coordinates, &places));
  PetscCall(MatNullSpaceCreateRigidBody(coordinates, &motions));
  PetscCall(MatSetNearNullSpace(matrix->mat, motions));
  PetscCall(MatNullSpaceDestroy(&motions));
  PetscCall(VecDestroy(&coordinates));
  PetscFunctionReturn(0);
}

PetscErrorCode PointMatrixCreateWithContacts(Solid solid, MatrixBodies which, PetscInt count,
                                             const RelativePlace contacts[], PointMatrix *matrix)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(matrix));
  (*matrix)->tolerance = 1e-8;
  (*matrix)->solver = -1;
  (*matrix)->contact_count = count;
  PetscCall(PetscMalloc1(count, &(*matrix)->contacts));
  PetscCall(PetscArraycpy((*matrix)->contacts, contacts, count));
  PetscCall(TakeBodies(solid, which, *matrix));
  PetscCall(NumberBlocks(solid, *matrix));
  PetscCall(TakeTerms(solid, *matrix));
  PetscCall(FindPattern(solid, *matrix));
  PetscCall(FindPlaces(solid, *matrix));
  PetscCall(CreateMat(*matrix));
  PetscCall(SetRigidMotions(solid, *matrix));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &(*matrix)->ksp));
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
  matrix->solver = -1;
}

PetscErrorCode PointMatrixDestroy(PointMatrix *matrix)
{
  PetscFunctionBegin;
  if (!*matrix)
    PetscFunctionReturn(0);
  for (PetscInt t = 0; t < (*matrix)->term_count; t++)
    PetscCall(PetscFree((*matrix)->terms[t].places));
  PetscCall(PetscFree((*matrix)->terms));
  PetscCall(PetscFree((*matrix)->block));
  PetscCall(PetscFree((*matrix)->bodies));
  PetscCall(PetscFree((*matrix)->pairs));
  PetscCall(PetscFree((*matrix)->contacts));
  PetscCall(PetscFree((*matrix)->first));
  PetscCall(PetscFree((*matrix)->column));
  PetscCall(KSPDestroy(&(*matrix)->ksp));
  PetscCall(KSPDestroy(&(*matrix)->stiffened));
  PetscCall(MatDestroy(&(*matrix)->mat));
  PetscCall(VecDestroy(&(*matrix)->from));
  PetscCall(VecDestroy(&(*matrix)->to));
  PetscCall(PetscFree(*matrix));
  PetscFunctionReturn(0);
}

/* values += block, by rows. */
static void add_block(PointMatrix matrix, PetscInt row, PetscInt place, const PetscReal *block)
{
  const PetscInt width = DIM * (matrix->first[row + 1] - matrix->first[row]);
  PetscReal     *at = matrix->values + BLOCK * matrix->first[row] + DIM * (place - matrix->first[row]);

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      at[width * i + j] += block[DIM * i + j];
}

static void take_block(const PetscReal element[], PetscInt nodes, PetscInt a, PetscInt b,
                       PetscReal block[BLOCK])
{
  for (PetscInt n = 0; n < BLOCK; n++)
    block[n] = element[DIM * nodes * (DIM * a + n / DIM) + DIM * b + n % DIM];
}

/* From the unknowns of a footing to the velocity of the point: 1, or the cross product with its arm. */
static Matrix3 footing_matrix(Solid solid, const MatrixFooting *footing)
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

/* T_a^T A T_b for all that the two points stand on. */
static void add_carried(const ElementContext *context, PetscInt a, PetscInt b, const PetscReal block[BLOCK])
{
  MatrixFooting  left[MOST_FOOTINGS], right[MOST_FOOTINGS];
  const PetscInt left_count = find_footings(context->matrix, context->solid->points, a, left);
  const PetscInt right_count = find_footings(context->matrix, context->solid->points, b, right);
  Matrix3        middle;

  memcpy(middle.at, block, sizeof(middle.at));
  for (PetscInt i = 0; i < left_count; i++)
    for (PetscInt j = 0; j < right_count; j++) {
      Matrix3       t = footing_matrix(context->solid, &left[i]), product;
      const Matrix3 s = footing_matrix(context->solid, &right[j]);

      t = matrix3_transpose(&t);
      product = matrix3_multiply(&t, &middle);
      product = matrix3_multiply(&product, &s);
      add_block(context->matrix, left[i].block, find_place(context->matrix, left[i].block, right[j].block),
                &product.at[0][0]);
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
KERNEL void add_free(PointMatrix matrix, PetscInt n, const PetscInt nodes[], const PetscInt places[],
                     const PetscReal element[])
{
  for (PetscInt a = 0; a < n; a++) {
    const PetscInt row = matrix->block[nodes[a]];
    const PetscInt first = row < 0 ? 0 : matrix->first[row],
                   width = row < 0 ? 0 : DIM * (matrix->first[row + 1] - first);

    for (PetscInt b = 0; b < n; b++) {
      const PetscReal *from = &element[DIM * (DIM * n * a + b)];
      const PetscInt   place = places[n * a + b];
      PetscReal       *at = matrix->values + BLOCK * first + DIM * (PetscMax(place, first) - first);

      for (PetscInt i = 0; i < DIM && place >= 0; i++)
        for (PetscInt j = 0; j < DIM; j++)
          at[width * i + j] += from[DIM * n * i + j];
    }
  }
}

static void add_element(void *data, PetscInt e, const PetscReal given[])
{
  const ElementContext *context = data;
  const MatrixTerm     *term = context->term;
  const PetscInt        n = term->list.nodes, *nodes = &term->list.elements[n * e];
  const PetscInt       *places = &term->places[n * n * e];
  PetscReal             element[BLOCK * FORCE_MOST_NODES * FORCE_MOST_NODES], block[BLOCK];

  if (places[0] != CARRIED && !term->is_planar) {
    if (n == 4) /* with loops of known length */
      add_free(context->matrix, 4, nodes, places, given);
    else
      add_free(context->matrix, n, nodes, places, given);
    return;
  }
  memcpy(element, given, (size_t)(BLOCK * n * n) * sizeof(*element));
  if (term->is_planar)
    hold_plane(n, element);
  for (PetscInt a = 0; a < n; a++)
    for (PetscInt b = 0; b < n; b++) {
      take_block(element, n, a, b, block);
      if (places[0] == CARRIED)
        add_carried(context, nodes[a], nodes[b], block);
      else if (places[n * a + b] >= 0)
        add_block(context->matrix, context->matrix->block[nodes[a]], places[n * a + b], block);
    }
}

static void add_diagonal(PointMatrix matrix, PetscInt block, PetscReal value)
{
  const PetscReal unit[BLOCK] = {value, 0, 0, 0, value, 0, 0, 0, value};

  add_block(matrix, block, find_place(matrix, block, block), unit);
}

static void add_masses(PointMatrix matrix, Solid solid, PetscReal factor)
{
  const Points *points = solid->points;

  for (PetscInt p = 0; p < points->count; p++)
    if (matrix->block[p] >= 0)
      add_diagonal(matrix, matrix->block[p], factor * points->mass[p]);
  for (PetscInt n = 0; n < matrix->body_count; n++) {
    const Mobility *mobility = &solid->mobilities[matrix->bodies[n]];
    const PetscInt  b = nth_body_block(matrix, n);
    Matrix3         inertia = matrix3_inverse(&mobility->inverse_inertia);

    add_diagonal(matrix, b, factor / mobility->inverse_mass);
    for (PetscInt k = 0; k < BLOCK; k++)
      inertia.at[k / DIM][k % DIM] *= factor;
    add_block(matrix, b + 1, find_place(matrix, b + 1, b + 1), &inertia.at[0][0]);
  }
}

/* Points that no element has, in a matrix without mass. */
static void fill_empty(PointMatrix matrix)
{
  for (PetscInt b = 0; b < matrix->block_count; b++) {
    const PetscInt place = find_place(matrix, b, b);

    if (matrix->values[BLOCK * matrix->first[b] + DIM * (place - matrix->first[b])] == 0.)
      add_diagonal(matrix, b, 1.);
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
      if (matrix->block[p] >= 0)
        add_diagonal(matrix, matrix->block[p], drag * points->mass[p]);
  }
}

PetscErrorCode PointMatrixSet(PointMatrix matrix, Solid solid, const MatrixWeights *weights)
{
  PetscFunctionBegin;
  PetscCall(MatZeroEntries(matrix->mat));
  PetscCall(MatSeqAIJGetArray(matrix->mat, &matrix->values));
  for (PetscInt t = 0; t < matrix->term_count; t++) {
    ElementContext context = {matrix, solid, &matrix->terms[t]};

    assemble_term(&context, weights);
  }
  add_drag(matrix, solid, weights->damping);
  if (weights->mass > 0.)
    add_masses(matrix, solid, weights->mass);
  else if (weights->stiffness > 0.)
    fill_empty(matrix);
  PetscCall(MatSeqAIJRestoreArray(matrix->mat, &matrix->values));
  PetscCall(MatAssemblyBegin(matrix->mat, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix->mat, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

PetscErrorCode PointMatrixAddMasses(PointMatrix matrix, Solid solid, const PetscReal masses[])
{
  const ElementContext context = {matrix, solid, NULL};

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArray(matrix->mat, &matrix->values));
  for (PetscInt p = 0; p < solid->points->count; p++) {
    const PetscReal *m = &masses[DIM * p], block[BLOCK] = {m[X], 0, 0, 0, m[Y], 0, 0, 0, m[Z]};
    const PetscInt   row = matrix->block[p];

    if (row >= 0)
      add_block(matrix, row, find_place(matrix, row, row), block);
    else if (m[X] != 0. || m[Y] != 0. || m[Z] != 0.)
      add_carried(&context, p, p, block);
  }
  PetscCall(MatSeqAIJRestoreArray(matrix->mat, &matrix->values));
  PetscCall(MatAssemblyBegin(matrix->mat, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix->mat, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
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
static void add_between(PointMatrix matrix, Solid solid, const RelativePlace *contact,
                        const MatrixFooting *from, const MatrixFooting *to, const Matrix3 *curvature)
{
  const PetscInt place = find_place(matrix, from->block, to->block);
  const PetscInt there = matrix->column[place] == to->block ? to->block : from->block;
  Matrix3        t = contact_matrix(solid, contact, from), product;
  const Matrix3  s = contact_matrix(solid, contact, to);

  t = matrix3_transpose(&t);
  product = matrix3_multiply(&t, curvature);
  product = matrix3_multiply(&product, &s);
  add_block(matrix, from->block, find_place(matrix, from->block, there), &product.at[0][0]);
}

PetscErrorCode PointMatrixAddContact(PointMatrix matrix, Solid solid, const RelativePlace *place,
                                     const Matrix3 *curvature)
{
  MatrixFooting  all[MOST_CONTACT_FOOTINGS];
  const PetscInt count = find_contact_footings(matrix, solid->points, place, all);

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArray(matrix->mat, &matrix->values));
  for (PetscInt i = 0; i < count; i++)
    for (PetscInt j = 0; j < count; j++)
      add_between(matrix, solid, place, &all[i], &all[j], curvature);
  PetscCall(MatSeqAIJRestoreArray(matrix->mat, &matrix->values));
  PetscCall(MatAssemblyBegin(matrix->mat, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix->mat, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

PetscReal point_matrix_along(PointMatrix matrix, Solid solid, PetscInt point, Vector3 direction)
{
  MatrixFooting    footings[MOST_FOOTINGS];
  const PetscInt   count = find_footings(matrix, solid->points, point, footings);
  const PetscReal *values;
  PetscReal        sum = 0.;

  if (!count || MatSeqAIJGetArrayRead(matrix->mat, &values))
    return 0.;
  for (PetscInt n = 0; n < BLOCK; n++) {
    const PetscInt row = footings[0].block, first = matrix->first[row];
    const PetscInt width = DIM * (matrix->first[row + 1] - first);
    const PetscInt at = BLOCK * first + DIM * (find_place(matrix, row, row) - first);

    sum += direction.at[n / DIM] * direction.at[n % DIM] * values[at + width * (n / DIM) + n % DIM];
  }
  return MatSeqAIJRestoreArrayRead(matrix->mat, &values) ? 0. : sum;
}

PetscInt point_matrix_unknowns(PointMatrix matrix)
{
  return DIM * matrix->block_count;
}

/* CHOLMOD where PETSc has it, MUMPS, or PETSc's own. */
static PetscErrorCode SetFactor(Mat mat, PC pc)
{
  const MatSolverType types[] = {MATSOLVERCHOLMOD, MATSOLVERMUMPS, MATSOLVERPETSC};
  PetscBool           is_there = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCSetType(pc, PCCHOLESKY));
  for (size_t n = 0; n < sizeof(types) / sizeof(types[0]) && !is_there; n++) {
    PetscCall(MatGetFactorAvailable(mat, types[n], MAT_FACTOR_CHOLESKY, &is_there));
    if (is_there)
      PetscCall(PCFactorSetMatSolverType(pc, types[n]));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode SetSolver(PointMatrix matrix, ElasticSolver kind)
{
  PC pc;

  PetscFunctionBegin;
  if (matrix->solver == (PetscInt)kind)
    PetscFunctionReturn(0);
  matrix->solver = (PetscInt)kind;
  PetscCall(KSPReset(matrix->ksp));
  PetscCall(KSPSetOperators(matrix->ksp, matrix->mat, matrix->mat));
  PetscCall(KSPSetType(matrix->ksp, kind == SOLVER_CHOLESKY ? KSPPREONLY : KSPCG));
  PetscCall(KSPSetTolerances(matrix->ksp, matrix->tolerance, PETSC_DEFAULT, PETSC_DEFAULT, 20000));
  PetscCall(KSPGetPC(matrix->ksp, &pc));
  if (kind == SOLVER_CHOLESKY)
    PetscCall(SetFactor(matrix->mat, pc));
  else if (kind == SOLVER_CG) {
    PetscCall(PCSetType(pc, PCICC));
    PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_POSITIVE_DEFINITE));
  } else
    PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(KSPSetOptionsPrefix(matrix->ksp, "elastic_"));
  PetscCall(KSPSetFromOptions(matrix->ksp));
  PetscFunctionReturn(0);
}

/* A matrix without a factor is an answer here, and an error of CHOLMOD's. Then the solver is no more. */
static PetscErrorCode SetUpSolver(KSP *ksp, PetscBool *good)
{
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  error = KSPSetUp(*ksp);
  PetscCall(PetscPopErrorHandler());
  *good = error ? PETSC_FALSE : PETSC_TRUE;
  if (error)
    PetscCall(KSPDestroy(ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode Pack(PointMatrix matrix, Solid solid, const SolidMotion *motion, Vec vec)
{
  const Points *points = solid->points;
  PetscReal    *values;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(vec, &values));
  for (PetscInt p = 0; p < points->count; p++)
    if (matrix->block[p] >= 0)
      memcpy(&values[DIM * matrix->block[p]], motion->points[p].at, sizeof(motion->points[p].at));
  for (PetscInt n = 0; n < matrix->body_count; n++)
    memcpy(&values[DIM * nth_body_block(matrix, n)], &motion->bodies[matrix->bodies[n]], sizeof(Twist));
  PetscCall(VecRestoreArrayWrite(vec, &values));
  PetscFunctionReturn(0);
}

static PetscErrorCode Unpack(PointMatrix matrix, Solid solid, Vec vec, SolidMotion *motion)
{
  const Points    *points = solid->points;
  const PetscReal *values;

  PetscFunctionBegin;
  motion_clear(solid, motion);
  PetscCall(VecGetArrayRead(vec, &values));
  for (PetscInt p = 0; p < points->count; p++)
    if (matrix->block[p] >= 0)
      memcpy(motion->points[p].at, &values[DIM * matrix->block[p]], sizeof(motion->points[p].at));
  for (PetscInt n = 0; n < matrix->body_count; n++)
    memcpy(&motion->bodies[matrix->bodies[n]], &values[DIM * nth_body_block(matrix, n)], sizeof(Twist));
  PetscCall(VecRestoreArrayRead(vec, &values));
  PetscFunctionReturn(0);
}

PetscErrorCode PointMatrixSolve(PointMatrix matrix, Solid solid, ElasticSolver kind, const SolidMotion *from,
                                SolidMotion *to, PetscInt *iterations, PetscBool *good)
{
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(SetSolver(matrix, kind));
  PetscCall(KSPSetOperators(matrix->ksp, matrix->mat, matrix->mat)); /* or their values count as the same */
  PetscCall(SetUpSolver(&matrix->ksp, good));
  *iterations = 0;
  if (!*good) { /* it begins anew */
    PetscCall(KSPCreate(PETSC_COMM_SELF, &matrix->ksp));
    matrix->solver = -1;
    PetscFunctionReturn(0);
  }
  PetscCall(Pack(matrix, solid, from, matrix->from));
  PetscCall(KSPSolve(matrix->ksp, matrix->from, matrix->to));
  PetscCall(KSPGetConvergedReason(matrix->ksp, &reason));
  PetscCall(KSPGetIterationNumber(matrix->ksp, iterations));
  *good = reason > 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(Unpack(matrix, solid, matrix->to, to));
  points_follow_change(solid, to);
  PetscFunctionReturn(0);
}

/* The numbers of J for one velocity of a point, by the unknowns of what carries it. */
static PetscErrorCode AddToRow(PointMatrix matrix, Solid solid, PetscInt row, PetscInt number,
                               PetscReal weight, Mat rows)
{
  MatrixFooting  all[MOST_FOOTINGS];
  const PetscInt count = find_footings(matrix, solid->points, number / DIM, all);

  PetscFunctionBegin;
  for (PetscInt f = 0; f < count; f++) {
    const Matrix3 by = footing_matrix(solid, &all[f]);

    for (PetscInt j = 0; j < DIM; j++)
      if (by.at[number % DIM][j] != 0.)
        PetscCall(
            MatSetValue(rows, row, DIM * all[f].block + j, weight * by.at[number % DIM][j], ADD_VALUES));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateRows(PointMatrix matrix, Solid solid, const SurfaceRows *from, Mat *rows)
{
  PetscInt *lengths;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(from->count, &lengths));
  for (PetscInt r = 0; r < from->count; r++)
    for (PetscInt n = from->first[r]; n < from->first[r + 1]; n++) {
      const PetscInt p = from->numbers[n] / DIM;
      MatrixFooting  all[MOST_FOOTINGS];

      lengths[r] += matrix->block[p] >= 0 ? 1 : DIM * find_footings(matrix, solid->points, p, all);
    }
  for (PetscInt r = 0; r < from->count; r++)
    lengths[r] = PetscMin(lengths[r], DIM * matrix->block_count);
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, from->count, DIM * matrix->block_count, 0, lengths, rows));
  for (PetscInt r = 0; r < from->count; r++)
    for (PetscInt n = from->first[r]; n < from->first[r + 1]; n++)
      PetscCall(AddToRow(matrix, solid, r, from->numbers[n], from->weights[n], *rows));
  PetscCall(MatAssemblyBegin(*rows, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*rows, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(lengths));
  PetscFunctionReturn(0);
}

static PetscErrorCode AddsEnough(Mat mat, Mat added, PetscReal least, PetscBool *enough)
{
  const PetscReal *has, *gains;
  PetscInt         rows;
  Vec              diagonal, gain;

  PetscFunctionBegin;
  *enough = PETSC_FALSE;
  PetscCall(MatGetSize(mat, &rows, NULL));
  PetscCall(MatCreateVecs(mat, &diagonal, &gain));
  PetscCall(MatGetDiagonal(mat, diagonal));
  PetscCall(MatGetDiagonal(added, gain));
  PetscCall(VecGetArrayRead(diagonal, &has));
  PetscCall(VecGetArrayRead(gain, &gains));
  for (PetscInt r = 0; r < rows; r++)
    if (gains[r] > least * has[r])
      *enough = PETSC_TRUE;
  PetscCall(VecRestoreArrayRead(gain, &gains));
  PetscCall(VecRestoreArrayRead(diagonal, &has));
  PetscCall(VecDestroy(&diagonal));
  PetscCall(VecDestroy(&gain));
  PetscFunctionReturn(0);
}

/* Without the places of elements that this matrix has no terms of. */
static PetscErrorCode CreateWithoutZeros(Mat mat, Mat *kept)
{
  const PetscScalar *values;
  const PetscInt    *columns;
  PetscInt           rows, count, *lengths;

  PetscFunctionBegin;
  PetscCall(MatGetSize(mat, &rows, NULL));
  PetscCall(PetscCalloc1(rows, &lengths));
  for (PetscInt r = 0; r < rows; r++) {
    PetscCall(MatGetRow(mat, r, &count, &columns, &values));
    for (PetscInt n = 0; n < count; n++)
      lengths[r] += values[n] != 0. || columns[n] == r ? 1 : 0;
    PetscCall(MatRestoreRow(mat, r, &count, &columns, &values));
  }
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, rows, rows, 0, lengths, kept));
  for (PetscInt r = 0; r < rows; r++) {
    PetscCall(MatGetRow(mat, r, &count, &columns, &values));
    for (PetscInt n = 0; n < count; n++)
      if (values[n] != 0. || columns[n] == r)
        PetscCall(MatSetValue(*kept, r, columns[n], values[n], INSERT_VALUES));
    PetscCall(MatRestoreRow(mat, r, &count, &columns, &values));
  }
  PetscCall(MatAssemblyBegin(*kept, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*kept, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(lengths));
  PetscFunctionReturn(0);
}

PetscErrorCode PointMatrixStiffen(PointMatrix matrix, Solid solid, const SurfaceRows *rows, PetscReal least,
                                  PetscBool *good)
{
  Mat added, sum, product;
  PC  pc;

  PetscFunctionBegin;
  PetscCall(KSPDestroy(&matrix->stiffened));
  PetscCall(CreateRows(matrix, solid, rows, &added));
  PetscCall(MatTransposeMatMult(added, added, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &product));
  PetscCall(MatDestroy(&added));
  PetscCall(AddsEnough(matrix->mat, product, least, good));
  if (*good) {
    PetscCall(CreateWithoutZeros(matrix->mat, &sum));
    PetscCall(MatAXPY(sum, 1., product, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatSetOption(sum, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(MatSetOption(sum, MAT_SPD, PETSC_TRUE));
    PetscCall(KSPCreate(PETSC_COMM_SELF, &matrix->stiffened));
    PetscCall(KSPSetOperators(matrix->stiffened, sum, sum));
    PetscCall(KSPSetType(matrix->stiffened, KSPPREONLY));
    PetscCall(KSPGetPC(matrix->stiffened, &pc));
    PetscCall(SetFactor(sum, pc));
    PetscCall(MatDestroy(&sum));
    PetscCall(SetUpSolver(&matrix->stiffened, good));
  }
  PetscCall(MatDestroy(&product));
  PetscFunctionReturn(0);
}

PetscErrorCode PointMatrixSolveStiffened(PointMatrix matrix, Solid solid, const SolidMotion *from,
                                         SolidMotion *to)
{
  PetscFunctionBegin;
  PetscCall(Pack(matrix, solid, from, matrix->from));
  PetscCall(KSPSolve(matrix->stiffened, matrix->from, matrix->to));
  PetscCall(Unpack(matrix, solid, matrix->to, to));
  points_follow_change(solid, to);
  PetscFunctionReturn(0);
}

PetscErrorCode PointMatrixApply(PointMatrix matrix, Solid solid, const SolidMotion *motion,
                                SolidMotion *image)
{
  PetscFunctionBegin;
  PetscCall(Pack(matrix, solid, motion, matrix->to));
  PetscCall(MatMult(matrix->mat, matrix->to, matrix->from));
  PetscCall(Unpack(matrix, solid, matrix->from, image));
  PetscFunctionReturn(0);
}
