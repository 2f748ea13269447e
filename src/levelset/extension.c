/* Values carried on from where they are known, constant along the normal: n . grad f = 0, upwind,

     f = sum of d_b f_b / sum of d_b  over the neighbours b that are nearer by d_b = distance - distance_b >
   0.

   Layer by layer, all places of a layer at once, and twice, so that neighbours of the same layer count too; a
   place without a nearer neighbour that is known takes the mean of those that are. */
#include "levelset_impl.h"

/* What is carried on: cell values, or one component of faces. */
typedef struct {
  MacGrid        grid;
  const GridBox *box;
  PetscInt       end[DIM]; /* one past the last owned place */
  PetscReal     *distance; /* there */
  PetscReal     *layer;    /* 0: known, n: filled in layer n, UNKNOWN: not yet */
  PetscReal     *value;
  Vec            values, layers; /* behind the two */
} Carried;

static const PetscReal UNKNOWN = 1e9;

typedef struct {
  PetscInt   count, capacity;
  PetscInt  *place;
  PetscReal *result;
} Front;

static PetscBool touches_known(const Carried *carried, PetscInt c, PetscReal layer)
{
  for (PetscInt a = 0; a < carried->box->dimension; a++)
    for (PetscInt side = -1; side <= 1; side += 2)
      if (carried->layer[c + side * carried->box->stride[a]] < layer)
        return PETSC_TRUE;
  return PETSC_FALSE;
}

/* The places that lie beside those known before `layer`. */
static PetscErrorCode CollectFront(const Carried *carried, PetscReal layer, Front *front)
{
  const GridBox *box = carried->box;
  const PetscInt width = carried->end[X] - box->start[X];

  PetscFunctionBegin;
  front->count = 0;
  for (PetscInt k = box->start[Z]; k < carried->end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < carried->end[Y]; j++) {
      const PetscInt first = box_index(box, box->start[X], j, k);

      for (PetscInt c = first; c < first + width; c++) {
        if (carried->layer[c] < layer || !touches_known(carried, c, layer))
          continue;
        if (front->count == front->capacity) {
          front->capacity = 2 * front->capacity + 256;
          PetscCall(PetscRealloc(front->capacity * sizeof(PetscInt), &front->place));
          PetscCall(PetscRealloc(front->capacity * sizeof(PetscReal), &front->result));
        }
        front->place[front->count++] = c;
      }
    }
  PetscFunctionReturn(0);
}

/* From the neighbours up to `layer`. */
static PetscReal carried_value(const Carried *carried, PetscInt c, PetscReal layer)
{
  PetscReal upwind = 0., weight = 0., sum = 0.;
  PetscInt  count = 0;

  for (PetscInt a = 0; a < carried->box->dimension; a++)
    for (PetscInt side = -1; side <= 1; side += 2) {
      const PetscInt  b = c + side * carried->box->stride[a];
      const PetscReal nearer = carried->distance[c] - carried->distance[b];

      if (carried->layer[b] > layer)
        continue;
      sum += carried->value[b];
      count++;
      if (nearer <= 0.)
        continue;
      upwind += nearer * carried->value[b];
      weight += nearer;
    }
  return weight > 0. ? upwind / weight : sum / count;
}

static PetscErrorCode Exchange(const Carried *carried)
{
  PetscFunctionBegin;
  PetscCall(MacGridExchange(carried->grid, carried->values));
  PetscCall(MacGridExchange(carried->grid, carried->layers));
  PetscFunctionReturn(0);
}

static PetscErrorCode CarryOn(Carried *carried, PetscInt layers)
{
  Front front = {0, 0, NULL, NULL};

  PetscFunctionBegin;
  PetscCall(Exchange(carried));
  for (PetscInt layer = 1; layer <= layers; layer++) {
    PetscCall(CollectFront(carried, layer, &front));
    for (PetscInt pass = 0; pass < 2; pass++) {
      for (PetscInt n = 0; n < front.count; n++)
        front.result[n] = carried_value(carried, front.place[n], pass == 0 ? layer - 1 : layer);
      for (PetscInt n = 0; n < front.count; n++) {
        carried->value[front.place[n]] = front.result[n];
        carried->layer[front.place[n]] = layer;
      }
      PetscCall(Exchange(carried));
    }
  }
  PetscCall(PetscFree(front.place));
  PetscCall(PetscFree(front.result));
  PetscFunctionReturn(0);
}

/* Whether a place is in the box or its periodic images; what lies beyond a side is never known. */
static PetscBool in_box(const GridBox *box, const PetscInt at[DIM], PetscInt direction)
{
  for (PetscInt d = 0; d < box->dimension; d++)
    if (!box->periodic[d] && (at[d] < 0 || at[d] >= box->cells[d] + (d == direction)))
      return PETSC_FALSE;
  return PETSC_TRUE;
}

enum { CELLS = -1 };

/* Marks the owned places that are known; all others, ghosts too, are unknown. */
static void find_known(Carried *carried, const PetscReal *known, PetscInt direction)
{
  const GridBox *box = carried->box;
  const PetscInt back = direction == CELLS ? 0 : box->stride[direction];
  PetscInt       at[DIM];

  for (PetscInt c = 0; c < box->length; c++)
    carried->layer[c] = UNKNOWN;
  for (at[Z] = box->start[Z]; at[Z] < carried->end[Z]; at[Z]++)
    for (at[Y] = box->start[Y]; at[Y] < carried->end[Y]; at[Y]++)
      for (at[X] = box->start[X]; at[X] < carried->end[X]; at[X]++) {
        const PetscInt c = box_index(box, at[X], at[Y], at[Z]);
        PetscInt       below[DIM] = {at[X], at[Y], at[Z]};
        PetscBool      is_known = in_box(box, at, CELLS) && known[c] > 0. ? PETSC_TRUE : PETSC_FALSE;

        if (direction != CELLS) {
          below[direction]--;
          if (in_box(box, below, CELLS) && known[c - back] > 0.)
            is_known = PETSC_TRUE;
        }
        if (is_known)
          carried->layer[c] = 0.;
      }
}

/* The distance at faces: the mean of the two cells; ghosts of the distance are valid. */
static void distance_at_faces(const GridBox *box, const PetscReal *distance, PetscInt direction,
                              PetscReal *at_faces)
{
  const PetscInt back = box->stride[direction];

  for (PetscInt c = 0; c < box->length; c++)
    at_faces[c] = c < back ? distance[c] : 0.5 * (distance[c] + distance[c - back]);
}

static PetscErrorCode ExtendField(MacGrid grid, PetscInt direction, PetscReal *distance,
                                  const PetscReal known[], PetscInt layers, Vec field)
{
  const GridBox *box = grid_box(grid);
  Carried        carried = {
             .grid = grid, .box = box, .values = field, .end = {box->end[X], box->end[Y], box->end[Z]}};
  PetscReal *between;

  PetscFunctionBegin;
  if (direction != CELLS)
    grid_face_end(grid, direction, carried.end);
  PetscCall(PetscMalloc1(box->length, &between));
  carried.distance = distance;
  if (direction != CELLS) {
    distance_at_faces(box, distance, direction, between);
    carried.distance = between;
  }
  PetscCall(MacGridCreateField(grid, &carried.layers));
  PetscCall(VecGetArray(carried.layers, &carried.layer));
  find_known(&carried, known, direction);
  PetscCall(VecGetArray(field, &carried.value));
  PetscCall(CarryOn(&carried, layers));
  PetscCall(VecRestoreArray(field, &carried.value));
  PetscCall(VecRestoreArray(carried.layers, &carried.layer));
  PetscCall(VecDestroy(&carried.layers));
  PetscCall(PetscFree(between));
  PetscFunctionReturn(0);
}

PetscErrorCode ExtendCells(MacGrid grid, Vec distance, Vec known, PetscInt layers, Vec field)
{
  const PetscReal *mark;
  PetscReal       *value;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(known, &mark));
  PetscCall(VecGetArray(distance, &value));
  PetscCall(ExtendField(grid, CELLS, value, mark, layers, field));
  PetscCall(VecRestoreArray(distance, &value));
  PetscCall(VecRestoreArrayRead(known, &mark));
  PetscFunctionReturn(0);
}

PetscErrorCode ExtendFaces(MacGrid grid, Vec distance, Vec known, PetscInt layers, Vec faces[DIM])
{
  const PetscReal *mark;
  PetscReal       *value;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(known, &mark));
  PetscCall(VecGetArray(distance, &value));
  for (PetscInt d = 0; d < grid_box(grid)->dimension; d++)
    PetscCall(ExtendField(grid, d, value, mark, layers, faces[d]));
  PetscCall(VecRestoreArray(distance, &value));
  PetscCall(VecRestoreArrayRead(known, &mark));
  PetscFunctionReturn(0);
}
