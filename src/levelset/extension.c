/* Values carried on from where they are known, constant along the normal: n . grad f = 0, upwind,

     f = sum of d_b f_b / sum of d_b  over the neighbours b that are nearer by d_b = distance - distance_b >
   0.

   Layer by layer, all places of a layer at once, and twice, so that neighbours of the same layer count too; a
   place without a nearer neighbour that is known takes the mean of those that are. Neighbours behind a shell
   do not count. */
#include "levelset_impl.h"

enum { CELLS = -1 };             /* in place of the direction of faces */
enum { KNOWN = 0, NEVER = 255 }; /* layers of places that need no value, and of those that have none yet */

/* What is carried on: cell values, or one component of faces, of several fields at once. */
typedef struct {
  MacGrid              grid;
  const VisibilityMap *map; /* null: there are no shells */
  const GridBox       *box;
  PetscInt             direction;
  PetscInt             back;                /* from a place to the other cell whose face it is; 0: cells */
  PetscInt             low[DIM], high[DIM]; /* places in the box, ghosts between ranks included */
  GridRange            owned;               /* places */
  const PetscReal     *distance;
  unsigned char       *layer, *next; /* of all local places */
  PetscInt             count;        /* of fields */
  PetscInt             layers[MOST_EXTENDED];
  PetscReal           *value[MOST_EXTENDED];
  Vec                  field[MOST_EXTENDED]; /* behind them */
} ExtendedField;

/* The owned places of a layer. */
typedef struct {
  PetscInt   count, capacity;
  PetscInt  *place;
  PetscReal *result[MOST_EXTENDED];
} Front;

static void set_ranges(ExtendedField *carried)
{
  const GridBox *box = carried->box;

  for (PetscInt d = 0; d < DIM; d++) {
    const PetscInt ghost = d < box->dimension ? box->ghost : 0;

    carried->low[d] = box->start[d] - ghost;
    carried->high[d] = box->end[d] + ghost;
    if (box->periodic[d])
      continue;
    carried->low[d] = PetscMax(carried->low[d], 0);
    carried->high[d] = PetscMin(carried->high[d], box->cells[d] + (d == carried->direction ? 1 : 0));
  }
}

/* The part of a row of places that has all neighbours in memory. */
static BandRun inner_row(const ExtendedField *carried, PetscInt j, PetscInt k)
{
  const GridBox *box = carried->box;
  const PetscInt first = PetscMax(carried->low[X], box->start[X] - box->ghost + 1);
  const PetscInt last = PetscMin(carried->high[X], box->end[X] + box->ghost - 1);

  return (BandRun){box_index(box, first, j, k), last - first};
}

VECTOR_CLONES static void mark_row(const PetscReal *restrict known, const PetscReal *restrict below,
                                   PetscInt count, unsigned char *restrict layer)
{
  for (PetscInt c = 0; c < count; c++)
    layer[c] = known[c] > 0. || below[c] > 0. ? KNOWN : NEVER;
}

/* Beyond a side nothing is known, whatever the ghosts of `known` hold. */
static void find_known(ExtendedField *carried, const PetscReal *known)
{
  const GridBox *box = carried->box;
  const PetscInt d = carried->direction, back = carried->back;

  memset(carried->layer, NEVER, (size_t)box->length);
  for (PetscInt k = carried->low[Z]; k < carried->high[Z]; k++)
    for (PetscInt j = carried->low[Y]; j < carried->high[Y]; j++) {
      const PetscInt at[DIM] = {carried->low[X], j, k};
      const BandRun  row = inner_row(carried, j, k);

      if (row.first < back)
        continue;
      if (d == CELLS || d == X || box->periodic[d] || (at[d] > 0 && at[d] < box->cells[d]))
        mark_row(known + row.first, known + row.first - back, row.count, carried->layer + row.first);
      else if (at[d] == 0)
        mark_row(known + row.first, known + row.first, row.count, carried->layer + row.first);
      else
        mark_row(known + row.first - back, known + row.first - back, row.count, carried->layer + row.first);
      if (d != X || box->periodic[X])
        continue;
      if (carried->low[X] == 0)
        carried->layer[row.first] = known[row.first] > 0. ? KNOWN : NEVER;
      if (carried->high[X] == box->cells[X] + 1)
        carried->layer[row.first + row.count - 1] = known[row.first + row.count - 2] > 0. ? KNOWN : NEVER;
    }
  memcpy(carried->next, carried->layer, (size_t)box->length);
}

/* The places of a row that have a neighbour in an earlier layer. */
KERNEL void grow_row(const unsigned char *restrict layer, const PetscInt stride[DIM], PetscInt count,
                     unsigned char number, unsigned char *restrict next, const PetscInt dimension)
{
  for (PetscInt c = 0; c < count; c++) {
    unsigned char least = PetscMin(layer[c - 1], layer[c + 1]);

    least = PetscMin(least, PetscMin(layer[c - stride[Y]], layer[c + stride[Y]]));
    if (dimension == 3)
      least = PetscMin(least, PetscMin(layer[c - stride[Z]], layer[c + stride[Z]]));
    next[c] = layer[c] == NEVER && least < number ? number : layer[c];
  }
}

VECTOR_CLONES static void grow(const ExtendedField *carried, unsigned char number)
{
  const GridBox *box = carried->box;

  for (PetscInt k = carried->low[Z]; k < carried->high[Z]; k++)
    for (PetscInt j = carried->low[Y]; j < carried->high[Y]; j++) {
      const BandRun row = inner_row(carried, j, k);

      if (row.first < box->stride[box->dimension - 1] ||
          row.first + row.count > box->length - box->stride[box->dimension - 1])
        continue;
      if (box->dimension == 2)
        grow_row(carried->layer + row.first, box->stride, row.count, number, carried->next + row.first, 2);
      else
        grow_row(carried->layer + row.first, box->stride, row.count, number, carried->next + row.first, 3);
    }
}

static Vector3 place_of(const ExtendedField *carried, PetscInt c)
{
  PetscInt at[DIM];

  box_at(carried->box, c, at);
  return carried->direction == CELLS
             ? grid_cell_centre(carried->grid, at[X], at[Y], at[Z])
             : grid_face_centre(carried->grid, carried->direction, at[X], at[Y], at[Z]);
}

/* Whether a shell lies between a place and its neighbour b. */
static PetscBool is_hidden(const ExtendedField *carried, PetscInt c, PetscInt b)
{
  const VisibilityMap *map = carried->map;

  if (!is_near_shell(map, c))
    return PETSC_FALSE;
  return map->visibility->blocks(map->visibility->context, STEP_END, place_of(carried, PetscMin(c, b)),
                                 place_of(carried, PetscMax(c, b)));
}

/* Takes places back that have grown through a shell only. */
static void shrink(const ExtendedField *carried, unsigned char number)
{
  const GridBox *box = carried->box;
  const PetscInt last = box->stride[box->dimension - 1];

  for (PetscInt c = last; c < box->length - last; c++) {
    PetscBool reached = PETSC_FALSE;

    if (carried->next[c] != number || !is_near_shell(carried->map, c))
      continue;
    for (PetscInt a = 0; a < box->dimension && !reached; a++)
      for (PetscInt side = -1; side <= 1; side += 2) {
        const PetscInt b = c + side * box->stride[a];

        if (carried->layer[b] < number && !is_hidden(carried, c, b))
          reached = PETSC_TRUE;
      }
    if (!reached)
      carried->next[c] = NEVER;
  }
}

/* Growth is right one ghost layer less deep each time; this makes all of them right again. Collective. */
static PetscErrorCode ExchangeLayers(const ExtendedField *carried)
{
  const GridBox *box = carried->box;
  PetscReal     *number;
  Vec            numbers;
  PetscBool      alone = PETSC_TRUE;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++)
    if (box->neighbour[d][0] != MPI_PROC_NULL || box->neighbour[d][1] != MPI_PROC_NULL)
      alone = PETSC_FALSE;
  if (alone)
    PetscFunctionReturn(0);
  PetscCall(MacGridCreateField(carried->grid, &numbers));
  PetscCall(VecGetArray(numbers, &number));
  for (PetscInt c = 0; c < box->length; c++)
    number[c] = carried->layer[c];
  PetscCall(MacGridExchange(carried->grid, numbers));
  for (PetscInt c = 0; c < box->length; c++)
    carried->layer[c] = (unsigned char)number[c];
  PetscCall(VecRestoreArray(numbers, &number));
  PetscCall(VecDestroy(&numbers));
  PetscFunctionReturn(0);
}

/* The owned places with the given number. */
static PetscErrorCode CollectFront(const ExtendedField *carried, unsigned char number, Front *front)
{
  const GridBox *box = carried->box;

  PetscFunctionBegin;
  front->count = 0;
  FOR_ROWS(&carried->owned, j, k) {
    const unsigned char *row = carried->layer + box_index(box, box->start[X], j, k);
    const unsigned char *end = row + carried->owned.end[X] - box->start[X];

    while ((row = memchr(row, number, (size_t)(end - row)))) {
      if (front->count == front->capacity) {
        front->capacity = 2 * front->capacity + 256;
        PetscCall(PetscRealloc(front->capacity * sizeof(PetscInt), &front->place));
        for (PetscInt f = 0; f < carried->count; f++)
          PetscCall(PetscRealloc(front->capacity * sizeof(PetscReal), &front->result[f]));
      }
      front->place[front->count++] = (PetscInt)(row++ - carried->layer);
    }
  }
  PetscFunctionReturn(0);
}

static inline PetscReal distance_at(const ExtendedField *carried, PetscInt c)
{
  return carried->distance[c] + carried->distance[c - carried->back];
}

/* Neighbours that a place takes its value from, and how much of each: those that are nearer by how much, or
   else all of them alike. */
typedef struct {
  PetscInt  count;
  PetscInt  place[2 * DIM];
  PetscReal weight[2 * DIM], sum;
} Sources;

/* Among the neighbours up to layer `number`. */
static void find_sources(const ExtendedField *carried, PetscInt c, unsigned char number, Sources *sources)
{
  const PetscReal own = distance_at(carried, c), h = grid_spacing(carried->grid);

  sources->count = 0;
  sources->sum = 0.;
  for (PetscInt a = 0; a < carried->box->dimension; a++)
    for (PetscInt side = -1; side <= 1; side += 2) {
      const PetscInt b = c + side * carried->box->stride[a];
      PetscReal      nearer;

      if (carried->layer[b] > number || is_hidden(carried, c, b))
        continue;
      nearer = own - distance_at(carried, b);
      nearer = nearer > 2. * MILLRACE_ROUND_OFF * h ? nearer : 0.;
      sources->place[sources->count] = b;
      sources->weight[sources->count++] = nearer;
      sources->sum += nearer;
    }
  for (PetscInt n = 0; n < sources->count && sources->sum == 0.; n++)
    sources->weight[n] = 1.;
  sources->sum = sources->sum > 0. ? sources->sum : (PetscReal)sources->count;
}

static PetscReal source_mean(const Sources *sources, const PetscReal *value)
{
  PetscReal sum = 0.;

  for (PetscInt n = 0; n < sources->count; n++)
    sum += sources->weight[n] * value[sources->place[n]];
  return sum / sources->sum;
}

/* The fields that reach as far as layer `last`, from the neighbours up to layer `number`. */
static PetscErrorCode FillFront(const ExtendedField *carried, const Front *front, PetscInt last,
                                unsigned char number)
{
  Sources sources;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < front->count; n++) {
    find_sources(carried, front->place[n], number, &sources);
    for (PetscInt f = 0; f < carried->count; f++)
      if (last <= carried->layers[f])
        front->result[f][n] = source_mean(&sources, carried->value[f]);
  }
  for (PetscInt f = 0; f < carried->count; f++) {
    if (last > carried->layers[f])
      continue;
    for (PetscInt n = 0; n < front->count; n++)
      carried->value[f][front->place[n]] = front->result[f][n];
    PetscCall(MacGridExchange(carried->grid, carried->field[f]));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CarryOn(ExtendedField *carried)
{
  const PetscInt layers = carried->layers[0];
  Front          front = {0, 0, NULL, {NULL}};

  PetscFunctionBegin;
  for (PetscInt f = 0; f < carried->count; f++)
    PetscCall(MacGridExchange(carried->grid, carried->field[f]));
  for (PetscInt n = 1; n <= layers; n++) {
    const unsigned char number = (unsigned char)n;
    unsigned char      *swap = carried->layer;

    grow(carried, number);
    if (carried->map)
      shrink(carried, number);
    carried->layer = carried->next;
    carried->next = swap;
    if (n % 2 == 0 && (n < layers || n == 2)) /* what is known is right two layers deep at first */
      PetscCall(ExchangeLayers(carried));
    memcpy(carried->next, carried->layer, (size_t)carried->box->length);
    PetscCall(CollectFront(carried, number, &front));
    PetscCall(FillFront(carried, &front, n, (unsigned char)(number - 1)));
    PetscCall(FillFront(carried, &front, n, number));
  }
  PetscCall(PetscFree(front.place));
  for (PetscInt f = 0; f < carried->count; f++)
    PetscCall(PetscFree(front.result[f]));
  PetscFunctionReturn(0);
}

/* From what `carried` says about grid, map, direction, fields and layers. */
static PetscErrorCode ExtendField(ExtendedField *carried, Vec distance, Vec known)
{
  const GridBox   *box = grid_box(carried->grid);
  const PetscReal *mark;

  PetscFunctionBegin;
  PetscCheck(carried->layers[0] < NEVER, box->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " layers are too many", carried->layers[0]);
  carried->box = box;
  carried->back = carried->direction == CELLS ? 0 : box->stride[carried->direction];
  carried->owned =
      carried->direction == CELLS ? box_grown(box, 0) : grid_faces(carried->grid, carried->direction);
  set_ranges(carried);
  PetscCall(PetscMalloc1(box->length, &carried->layer));
  PetscCall(PetscMalloc1(box->length, &carried->next));
  PetscCall(VecGetArrayRead(known, &mark));
  find_known(carried, mark);
  PetscCall(VecRestoreArrayRead(known, &mark));
  PetscCall(VecGetArrayRead(distance, &carried->distance));
  for (PetscInt f = 0; f < carried->count; f++)
    PetscCall(VecGetArray(carried->field[f], &carried->value[f]));
  PetscCall(CarryOn(carried));
  for (PetscInt f = 0; f < carried->count; f++)
    PetscCall(VecRestoreArray(carried->field[f], &carried->value[f]));
  PetscCall(VecRestoreArrayRead(distance, &carried->distance));
  PetscCall(PetscFree(carried->layer));
  PetscCall(PetscFree(carried->next));
  PetscFunctionReturn(0);
}

PetscErrorCode ExtendCells(MacGrid grid, Vec distance, Vec known, PetscInt layers, PetscInt count,
                           const Vec fields[])
{
  ExtendedField carried = {.grid = grid, .direction = CELLS, .count = count};

  PetscFunctionBegin;
  for (PetscInt f = 0; f < count; f++) {
    carried.layers[f] = layers;
    carried.field[f] = fields[f];
  }
  PetscCall(MacGridExchange(grid, known));
  PetscCall(ExtendField(&carried, distance, known));
  PetscFunctionReturn(0);
}

PetscErrorCode ExtendFaces(MacGrid grid, const VisibilityMap *map, Vec distance, Vec known, PetscInt count,
                           const PetscInt layers[], Vec *const faces[])
{
  PetscFunctionBegin;
  PetscCall(MacGridExchange(grid, known));
  for (PetscInt d = 0; d < grid_box(grid)->dimension; d++) {
    ExtendedField carried = {.grid = grid, .map = map, .direction = d, .count = count};

    for (PetscInt f = 0; f < count; f++) {
      carried.layers[f] = layers[f];
      carried.field[f] = faces[f][d];
    }
    PetscCall(ExtendField(&carried, distance, known));
  }
  PetscFunctionReturn(0);
}
