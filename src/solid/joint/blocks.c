/* LU of a sparse matrix of small dense blocks, without exchanges, in an order of minimum degree.

   The pattern is found once by eliminating the graph: what is next to a block when it goes is its column of L
   and, by symmetry, its row of U, and becomes connected. A chain or a tree has no fill, so that it costs as
   much per block as a single one. */
#include "joint_impl.h"

struct _p_BlockMatrix {
  PetscInt  count;
  PetscInt *position, *owner; /* place of a block in the order, and back; all below is by place */
  PetscInt *start, *row; /* of column k: places later than k, ascending, in start[k] … start[k+1] - 1 */
  PetscInt *update_start, *update; /* of column k: where the products of its rows a > b go, as slots */
  PetscInt *size;
  Block    *diagonal, *lower, *upper;
  PetscReal (*inverse)[ROWS]; /* of the pivots; zero: left out */
};

/* BlockNeighbours that are not yet eliminated, sorted. */
typedef struct {
  PetscInt *at, count;
} BlockNeighbours;

static PetscErrorCode CollectNeighbours(PetscInt count, PetscInt pair_count, const PetscInt (*pairs)[2],
                                        BlockNeighbours nodes[])
{
  PetscFunctionBegin;
  for (PetscInt p = 0; p < pair_count; p++)
    for (PetscInt end = 0; end < 2; end++)
      nodes[pairs[p][end]].count++;
  for (PetscInt i = 0; i < count; i++) {
    PetscCall(PetscMalloc1(nodes[i].count, &nodes[i].at));
    nodes[i].count = 0;
  }
  for (PetscInt p = 0; p < pair_count; p++)
    for (PetscInt end = 0; end < 2; end++) {
      BlockNeighbours *node = &nodes[pairs[p][end]];

      node->at[node->count++] = pairs[p][1 - end];
    }
  for (PetscInt i = 0; i < count; i++)
    PetscCall(PetscSortRemoveDupsInt(&nodes[i].count, nodes[i].at));
  PetscFunctionReturn(0);
}

/* `node` takes over the neighbours of `gone`. */
static PetscErrorCode Inherit(BlockNeighbours nodes[], PetscInt node, PetscInt gone)
{
  const BlockNeighbours *from = &nodes[gone], *to = &nodes[node];
  BlockNeighbours        merged = {NULL, 0};
  PetscInt               a = 0, b = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(from->count + to->count, &merged.at));
  while (a < from->count || b < to->count) {
    PetscInt next;

    if (b == to->count || (a < from->count && from->at[a] <= to->at[b])) {
      next = from->at[a];
      b += b < to->count && to->at[b] == next;
      a++;
    } else {
      next = to->at[b++];
    }
    if (next != node && next != gone)
      merged.at[merged.count++] = next;
  }
  PetscCall(PetscFree(nodes[node].at));
  nodes[node] = merged;
  PetscFunctionReturn(0);
}

/* Nodes by degree: lists linked both ways. */
typedef struct {
  PetscInt *head, *next, *previous;
} Buckets;

static void bucket_add(Buckets *buckets, PetscInt node, PetscInt degree)
{
  buckets->next[node] = buckets->head[degree];
  buckets->previous[node] = -1;
  if (buckets->head[degree] >= 0)
    buckets->previous[buckets->head[degree]] = node;
  buckets->head[degree] = node;
}

static void bucket_remove(Buckets *buckets, PetscInt node, PetscInt degree)
{
  const PetscInt next = buckets->next[node], previous = buckets->previous[node];

  if (previous < 0)
    buckets->head[degree] = next;
  else
    buckets->next[previous] = next;
  if (next >= 0)
    buckets->previous[next] = previous;
}

/* The order, and in `nodes` the columns: the neighbours each node had when its turn came. */
static PetscErrorCode Eliminate(BlockMatrix matrix, BlockNeighbours nodes[])
{
  const PetscInt count = matrix->count;
  Buckets        buckets;
  PetscInt       degree = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(count + 1, &buckets.head, count, &buckets.next, count, &buckets.previous));
  for (PetscInt d = 0; d <= count; d++)
    buckets.head[d] = -1;
  for (PetscInt i = count; i-- > 0;)
    bucket_add(&buckets, i, nodes[i].count);
  for (PetscInt place = 0; place < count; place++) {
    PetscInt node;

    while (buckets.head[degree] < 0)
      degree++;
    node = buckets.head[degree];
    bucket_remove(&buckets, node, degree);
    matrix->owner[place] = node;
    matrix->position[node] = place;
    for (PetscInt k = 0; k < nodes[node].count; k++) {
      const PetscInt other = nodes[node].at[k];

      bucket_remove(&buckets, other, nodes[other].count);
      PetscCall(Inherit(nodes, other, node));
      bucket_add(&buckets, other, nodes[other].count);
      degree = PetscMin(degree, nodes[other].count);
    }
  }
  PetscCall(PetscFree3(buckets.head, buckets.next, buckets.previous));
  PetscFunctionReturn(0);
}

/* The slot of (row, column); both are places, row > column. */
static PetscInt find_slot(BlockMatrix matrix, PetscInt row, PetscInt column)
{
  PetscInt low = matrix->start[column], high = matrix->start[column + 1];

  while (high - low > 1) {
    const PetscInt middle = (low + high) / 2;

    if (matrix->row[middle] <= row)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static PetscErrorCode LayOut(BlockMatrix matrix, const BlockNeighbours nodes[])
{
  const PetscInt count = matrix->count;
  PetscInt       updates = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < count; k++) {
    const PetscInt next = nodes[matrix->owner[k]].count;

    matrix->start[k + 1] = matrix->start[k] + next;
    matrix->update_start[k + 1] = matrix->update_start[k] + next * (next - 1) / 2;
  }
  PetscCall(PetscMalloc4(matrix->start[count], &matrix->row, matrix->update_start[count], &matrix->update,
                         matrix->start[count], &matrix->lower, matrix->start[count], &matrix->upper));
  for (PetscInt k = 0; k < count; k++) {
    PetscInt *column = matrix->row + matrix->start[k];

    for (PetscInt a = 0; a < nodes[matrix->owner[k]].count; a++)
      column[a] = matrix->position[nodes[matrix->owner[k]].at[a]];
    PetscCall(PetscSortInt(nodes[matrix->owner[k]].count, column));
  }
  for (PetscInt k = 0; k < count; k++)
    for (PetscInt a = matrix->start[k]; a < matrix->start[k + 1]; a++)
      for (PetscInt b = matrix->start[k]; b < a; b++)
        matrix->update[updates++] = find_slot(matrix, matrix->row[a], matrix->row[b]);
  PetscFunctionReturn(0);
}

PetscErrorCode BlockMatrixCreate(PetscInt count, PetscInt pair_count, const PetscInt (*pairs)[2],
                                 BlockMatrix *matrix)
{
  BlockMatrix new;
  BlockNeighbours *nodes;

  PetscFunctionBegin;
  PetscCall(PetscNew(&new));
  new->count = count;
  PetscCall(PetscCalloc5(count, &new->position, count, &new->owner, count + 1, &new->start, count + 1,
                         &new->update_start, count, &new->size));
  PetscCall(PetscMalloc2(count, &new->diagonal, count, &new->inverse));
  PetscCall(PetscCalloc1(count, &nodes));
  PetscCall(CollectNeighbours(count, pair_count, pairs, nodes));
  PetscCall(Eliminate(new, nodes));
  PetscCall(LayOut(new, nodes));
  for (PetscInt i = 0; i < count; i++)
    PetscCall(PetscFree(nodes[i].at));
  PetscCall(PetscFree(nodes));
  *matrix = new;
  PetscFunctionReturn(0);
}

PetscErrorCode BlockMatrixDestroy(BlockMatrix *matrix)
{
  PetscFunctionBegin;
  if (!*matrix)
    PetscFunctionReturn(0);
  PetscCall(PetscFree5((*matrix)->position, (*matrix)->owner, (*matrix)->start, (*matrix)->update_start,
                       (*matrix)->size));
  PetscCall(PetscFree2((*matrix)->diagonal, (*matrix)->inverse));
  PetscCall(PetscFree4((*matrix)->row, (*matrix)->update, (*matrix)->lower, (*matrix)->upper));
  PetscCall(PetscFree(*matrix));
  PetscFunctionReturn(0);
}

void block_matrix_clear(BlockMatrix matrix, const PetscInt sizes[])
{
  const size_t slots = (size_t)matrix->start[matrix->count];

  for (PetscInt k = 0; k < matrix->count; k++)
    matrix->size[k] = sizes[matrix->owner[k]];
  memset(matrix->diagonal, 0, (size_t)matrix->count * sizeof(Block));
  if (slots) {
    memset(matrix->lower, 0, slots * sizeof(Block));
    memset(matrix->upper, 0, slots * sizeof(Block));
  }
}

PetscReal (*block_matrix_at(BlockMatrix matrix, PetscInt i, PetscInt j))[ROWS]
{
  const PetscInt row = matrix->position[i], column = matrix->position[j];

  if (row == column)
    return matrix->diagonal[row];
  return row > column ? matrix->lower[find_slot(matrix, row, column)]
                      : matrix->upper[find_slot(matrix, column, row)];
}

PetscBool block_matrix_precedes(BlockMatrix matrix, PetscInt first, PetscInt second)
{
  return matrix->position[first] < matrix->position[second] ? PETSC_TRUE : PETSC_FALSE;
}

/* In place: U and, below the diagonal, L with ones on its own. */
static void factor_block(Block block, PetscInt size, PetscReal smallest, PetscBool kept[ROWS],
                         PetscReal inverse[ROWS])
{
  for (PetscInt p = 0; p < size; p++) {
    if (!kept[p] || PetscAbsReal(block[p][p]) < smallest) {
      kept[p] = PETSC_FALSE;
      inverse[p] = 0;
      for (PetscInt i = 0; i < size; i++)
        block[p][i] = block[i][p] = 0;
      continue;
    }
    inverse[p] = 1 / block[p][p];
    for (PetscInt i = p + 1; i < size; i++) {
      const PetscReal l = block[i][p] * inverse[p];

      block[i][p] = l;
      for (PetscInt j = p + 1; j < size; j++)
        block[i][j] -= l * block[p][j];
    }
  }
}

/* upper := L^-1 upper; what is left out has no row. */
VECTOR_CLONES static void solve_upper(const Block pivot, PetscInt size, const PetscReal inverse[ROWS],
                                      Block upper)
{
  for (PetscInt p = 0; p < size; p++) {
    for (PetscInt q = 0; q < p; q++)
      for (PetscInt j = 0; j < ROWS; j++)
        upper[p][j] -= pivot[p][q] * upper[q][j];
    if (inverse[p] == 0)
      memset(upper[p], 0, sizeof(upper[p]));
  }
}

/* lower := lower U^-1; what is left out has no column, its inverse being zero. */
static void solve_lower(const Block pivot, PetscInt size, const PetscReal inverse[ROWS], PetscInt rows,
                        Block lower)
{
  for (PetscInt i = 0; i < rows; i++)
    for (PetscInt p = 0; p < size; p++) {
      PetscReal value = lower[i][p];

      for (PetscInt q = 0; q < p; q++)
        value -= lower[i][q] * pivot[q][p];
      lower[i][p] = value * inverse[p];
    }
}

/* The same from what solve_upper made of the transposed block. */
static void lower_from_upper(const Block upper, PetscInt size, const PetscReal inverse[ROWS], PetscInt rows,
                             Block lower)
{
  for (PetscInt i = 0; i < rows; i++)
    for (PetscInt p = 0; p < size; p++)
      lower[i][p] = upper[p][i] * inverse[p];
}

/* Columns beyond those of `upper` are zero, and stay so. */
VECTOR_CLONES static void subtract_product(const Block lower, PetscInt rows, PetscInt inner,
                                           const Block upper, Block target)
{
  for (PetscInt i = 0; i < rows; i++)
    for (PetscInt p = 0; p < inner; p++)
      for (PetscInt j = 0; j < ROWS; j++)
        target[i][j] -= lower[i][p] * upper[p][j];
}

static void update_from_column(BlockMatrix matrix, BlockSymmetry symmetry, PetscInt k)
{
  const PetscInt  size = matrix->size[k], first = matrix->start[k], end = matrix->start[k + 1];
  const PetscInt *target = matrix->update + matrix->update_start[k];

  for (PetscInt a = first; a < end; a++) {
    const PetscInt rows = matrix->size[matrix->row[a]];

    for (PetscInt b = first; b < a; b++, target++) {
      subtract_product(matrix->lower[b], matrix->size[matrix->row[b]], size, matrix->upper[a],
                       matrix->upper[*target]);
      if (symmetry == BLOCKS_GENERAL)
        subtract_product(matrix->lower[a], rows, size, matrix->upper[b], matrix->lower[*target]);
    }
    subtract_product(matrix->lower[a], rows, size, matrix->upper[a], matrix->diagonal[matrix->row[a]]);
  }
}

void block_matrix_factor(BlockMatrix matrix, BlockSymmetry symmetry, PetscReal smallest,
                         PetscBool kept[][ROWS])
{
  for (PetscInt k = 0; k < matrix->count; k++) {
    const PetscInt size = matrix->size[k];

    factor_block(matrix->diagonal[k], size, smallest, kept[matrix->owner[k]], matrix->inverse[k]);
    for (PetscInt a = matrix->start[k]; a < matrix->start[k + 1]; a++) {
      const PetscInt rows = matrix->size[matrix->row[a]];

      solve_upper((const PetscReal(*)[ROWS])matrix->diagonal[k], size, matrix->inverse[k], matrix->upper[a]);
      if (symmetry == BLOCKS_GENERAL)
        solve_lower((const PetscReal(*)[ROWS])matrix->diagonal[k], size, matrix->inverse[k], rows,
                    matrix->lower[a]);
      else
        lower_from_upper((const PetscReal(*)[ROWS])matrix->upper[a], size, matrix->inverse[k], rows,
                         matrix->lower[a]);
    }
    update_from_column(matrix, symmetry, k);
  }
}

static void substitute_forward(BlockMatrix matrix, PetscInt k, PetscReal values[][ROWS])
{
  PetscReal     *y = values[matrix->owner[k]];
  const PetscInt size = matrix->size[k];

  for (PetscInt p = 0; p < size; p++) {
    for (PetscInt q = 0; q < p; q++)
      y[p] -= matrix->diagonal[k][p][q] * y[q];
    if (matrix->inverse[k][p] == 0)
      y[p] = 0;
  }
  for (PetscInt a = matrix->start[k]; a < matrix->start[k + 1]; a++) {
    PetscReal *other = values[matrix->owner[matrix->row[a]]];

    for (PetscInt i = 0; i < matrix->size[matrix->row[a]]; i++)
      for (PetscInt p = 0; p < size; p++)
        other[i] -= matrix->lower[a][i][p] * y[p];
  }
}

static void substitute_backward(BlockMatrix matrix, PetscInt k, PetscReal values[][ROWS])
{
  PetscReal     *x = values[matrix->owner[k]];
  const PetscInt size = matrix->size[k];

  for (PetscInt a = matrix->start[k]; a < matrix->start[k + 1]; a++) {
    const PetscReal *other = values[matrix->owner[matrix->row[a]]];

    for (PetscInt p = 0; p < size; p++)
      for (PetscInt j = 0; j < matrix->size[matrix->row[a]]; j++)
        x[p] -= matrix->upper[a][p][j] * other[j];
  }
  for (PetscInt p = size; p-- > 0;) {
    for (PetscInt q = p + 1; q < size; q++)
      x[p] -= matrix->diagonal[k][p][q] * x[q];
    x[p] *= matrix->inverse[k][p];
  }
}

void block_matrix_solve(BlockMatrix matrix, PetscReal values[][ROWS])
{
  for (PetscInt k = 0; k < matrix->count; k++)
    substitute_forward(matrix, k, values);
  for (PetscInt k = matrix->count; k-- > 0;)
    substitute_backward(matrix, k, values);
}
