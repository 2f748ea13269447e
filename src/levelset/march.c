/* |grad v| = 1 away from the cells beside the interface, whose distances are known; v is the distance without
   its sign. Godunov's upwind form: from the smaller neighbour in each direction, as far as it is upwind,

     sum over directions of (a v - b)^2 = h^2,

   with a, b of the one-sided difference of first order (1, v1), second (3/2, 2 v1 - v2/2) or third order
   (11/6, 3 v1 - 3/2 v2 + v3/3), where v1, v2, v3 lie one behind the other. Cells are taken in the order of
   their old distance, half a cell width at a time, all cells of a layer at once; so a single march brings
   the answer outwards, and it does not depend on the ranks. */
#include "levelset_impl.h"

typedef struct {
  PetscReal a, b;
} Difference;

KERNEL void sort_differences(Difference term[DIM], PetscInt count)
{
  for (PetscInt i = 1; i < count; i++)
    for (PetscInt j = i; j > 0 && term[j].b * term[j - 1].a < term[j - 1].b * term[j].a; j--) {
      const Difference swap = term[j];

      term[j] = term[j - 1];
      term[j - 1] = swap;
    }
}

/* Adds direction after direction, smallest neighbour first, while it is upwind of the result. */
KERNEL PetscReal godunov(Difference term[DIM], PetscInt count, PetscReal h)
{
  PetscReal aa = 0., ab = 0., bb = -h * h, v = PETSC_MAX_REAL;

  sort_differences(term, count);
  for (PetscInt n = 0; n < count && term[n].b < v * term[n].a; n++) {
    PetscReal root;

    aa += term[n].a * term[n].a;
    ab += term[n].a * term[n].b;
    bb += term[n].b * term[n].b;
    root = ab * ab - aa * bb;
    if (root < 0.)
      break;
    v = (ab + PetscSqrtReal(root)) / aa;
  }
  return v;
}

/* Along one direction, `sign` makes the distance positive; in cell c + step lies the upwind neighbour. */
KERNEL Difference upwind_difference(const PetscReal *value, PetscReal sign, PetscInt step, PetscReal h)
{
  const PetscReal v0 = sign * value[0];
  const PetscReal v1 = sign * value[step], v2 = sign * value[2 * step], v3 = sign * value[3 * step];
  const PetscReal first_bend = PetscAbsReal(v0 - 2. * v1 + v2), second_bend = PetscAbsReal(v1 - 2. * v2 + v3);
  const PetscReal smooth = 0.1 * h, kinked = 0.3 * h, most = 1.2 * h, equal = MILLRACE_ROUND_OFF * h;

  /* what lies behind is upwind, or the field is so smooth that it makes no difference */
  if ((v2 > v1 + equal || v1 - v2 > most) && first_bend > smooth)
    return (Difference){1., v1};
  if (second_bend > (v3 > v2 + equal ? smooth : kinked))
    return (Difference){1.5, 2. * v1 - 0.5 * v2};
  return (Difference){11. / 6., 3. * v1 - 1.5 * v2 + v3 / 3.};
}

typedef enum { ORDER_FIRST, ORDER_HIGH } Order;

KERNEL PetscReal eikonal(const GridBox *box, const PetscReal *value, PetscReal sign, PetscReal h, Order order,
                         const PetscInt dimension)
{
  Difference term[DIM] = {{1., 0.}, {1., 0.}, {1., 0.}};

  for (PetscInt a = 0; a < dimension; a++) {
    const PetscInt s = box->stride[a], step = sign * value[-s] < sign * value[s] ? -s : s;

    term[a] =
        order == ORDER_HIGH ? upwind_difference(value, sign, step, h) : (Difference){1., sign * value[step]};
  }
  return godunov(term, dimension, h);
}

/* From seen neighbours only, and with as many behind each other as are seen, for the higher orders. */
static PetscReal seen_eikonal(const VisibilityMap *map, const PetscReal *value, PetscInt c, PetscReal h,
                              Order order)
{
  const GridBox  *box = grid_box(map->grid);
  const PetscReal sign = value[c] < 0. ? -1. : 1.;
  Difference      term[DIM];
  PetscInt        count = 0;

  for (PetscInt a = 0; a < box->dimension; a++) {
    PetscReal smallest = PETSC_MAX_REAL;
    PetscInt  side = 0, far;

    for (PetscInt s = -1; s <= 1; s += 2)
      if (!face_is_blocked(map, STEP_END, c, a, s) && sign * value[c + s * box->stride[a]] < smallest) {
        smallest = sign * value[c + s * box->stride[a]];
        side = s;
      }
    if (side == 0)
      continue;
    for (far = 1; far < 3 && !face_is_blocked(map, STEP_END, c + far * side * box->stride[a], a, side);)
      far++;
    term[count++] = order == ORDER_HIGH && far == 3
                        ? upwind_difference(value + c, sign, side * box->stride[a], h)
                        : (Difference){1., smallest};
  }
  return godunov(term, count, h);
}

/* The largest change when all unknown cells of the band take what their neighbours say, if that is less. */
VECTOR_CLONES static PetscReal flood_once(const LevelSet level_set, const PetscReal *from, PetscReal *to)
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal h = grid_spacing(level_set->grid);
  PetscReal       change = 0.;

  for (PetscInt r = 0; r < level_set->band.count; r++) {
    const BandRun run = level_set->band.runs[r];

    for (PetscInt c = run.first; c < run.first + run.count; c++) {
      const PetscReal sign = from[c] < 0. ? -1. : 1.;
      PetscReal       v;

      if (level_set->mask[c] == CELL_KNOWN)
        continue;
      v = is_near_shell(level_set->visibility_map, c)
              ? seen_eikonal(level_set->visibility_map, from, c, h, ORDER_FIRST)
              : eikonal(box, from + c, sign, h, ORDER_FIRST, box->dimension);
      if (v >= sign * from[c])
        continue;
      change = PetscMax(change, sign * from[c] - v);
      to[c] = sign * v;
    }
  }
  return change;
}

PetscErrorCode BandFlood(LevelSet level_set)
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal h = grid_spacing(level_set->grid);
  PetscReal      *next, *value;

  PetscFunctionBegin;
  PetscCall(VecGetArray(level_set->distance, &value));
  PetscCall(VecGetArray(level_set->stage, &next));
  for (PetscInt iteration = 0; iteration < 4 * BAND_CELLS; iteration++) {
    PetscReal change;

    PetscCall(PetscArraycpy(next, value, box->length));
    change = flood_once(level_set, next, value);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPIU_REAL, MPIU_MAX, box->comm));
    PetscCall(LevelSetFillGhosts(level_set, level_set->distance));
    if (change < 1e-6 * h)
      break;
  }
  PetscCall(VecRestoreArray(level_set->stage, &next));
  PetscCall(VecRestoreArray(level_set->distance, &value));
  PetscFunctionReturn(0);
}

/* The unknown cells, layer by layer: those of layer n are cell[first[n]] to cell[first[n + 1] - 1]. */
enum { LAYERS = 2 * BAND_CELLS + 1 };
typedef struct {
  PetscInt  *cell, first[LAYERS + 1];
  PetscReal *result;
} Layers;

static inline PetscInt layer_of(PetscReal value, PetscReal h)
{
  return PetscMin((PetscInt)(2. * PetscAbsReal(value) / h + MILLRACE_ROUND_OFF), LAYERS - 1);
}

static PetscErrorCode CollectLayers(LevelSet level_set, const PetscReal value[], Layers *layers)
{
  const PetscReal h = grid_spacing(level_set->grid);
  PetscInt        next[LAYERS] = {0}, total = 0;

  PetscFunctionBegin;
  for (PetscInt pass = 0; pass < 2; pass++) {
    for (PetscInt r = 0; r < level_set->band.count; r++) {
      const BandRun run = level_set->band.runs[r];

      for (PetscInt c = run.first; c < run.first + run.count; c++) {
        if (level_set->mask[c] == CELL_KNOWN)
          continue;
        if (pass == 0)
          next[layer_of(value[c], h)]++;
        else
          layers->cell[next[layer_of(value[c], h)]++] = c;
      }
    }
    if (pass == 1)
      break;
    for (PetscInt n = 0; n < LAYERS; n++) {
      layers->first[n] = total;
      total += next[n];
      next[n] = layers->first[n];
    }
    layers->first[LAYERS] = total;
    PetscCall(PetscMalloc2(total, &layers->cell, total, &layers->result));
  }
  PetscFunctionReturn(0);
}

KERNEL void take_layer(const LevelSet level_set, const Layers *layers, PetscInt layer, PetscReal *value,
                       const PetscInt dimension)
{
  const GridBox  *box = grid_box(level_set->grid);
  const PetscReal h = grid_spacing(level_set->grid), most = BAND_CELLS * h;

  for (PetscInt n = layers->first[layer]; n < layers->first[layer + 1]; n++) {
    const PetscInt  c = layers->cell[n];
    const PetscReal sign = value[c] < 0. ? -1. : 1.;
    const PetscReal v = is_near_shell(level_set->visibility_map, c)
                            ? seen_eikonal(level_set->visibility_map, value, c, h, ORDER_HIGH)
                            : eikonal(box, value + c, sign, h, ORDER_HIGH, dimension);

    layers->result[n] = sign * PetscMin(v, most);
  }
  for (PetscInt n = layers->first[layer]; n < layers->first[layer + 1]; n++)
    value[layers->cell[n]] = layers->result[n];
}

VECTOR_CLONES static void march_layer(const LevelSet level_set, const Layers *layers, PetscInt layer,
                                      PetscReal *value)
{
  if (grid_box(level_set->grid)->dimension == 2)
    take_layer(level_set, layers, layer, value, 2);
  else
    take_layer(level_set, layers, layer, value, 3);
}

/* Whether a cell of the band is mirrored in ghosts beyond a side. */
static PetscBool touches_side(LevelSet level_set)
{
  const GridBox *box = grid_box(level_set->grid);

  for (PetscInt r = 0; r < level_set->band.count; r++) {
    PetscInt place = level_set->band.runs[r].first;

    for (PetscInt d = box->dimension - 1; d >= 0; d--) {
      const PetscInt low = place / box->stride[d] - box->ghost; /* from the first owned cell */
      const PetscInt high = d == X ? low + level_set->band.runs[r].count - 1 : low;

      place %= box->stride[d];
      if (box->neighbour[d][0] == MPI_PROC_NULL && low < box->ghost)
        return PETSC_TRUE;
      if (box->neighbour[d][1] == MPI_PROC_NULL && high >= box->end[d] - box->start[d] - box->ghost)
        return PETSC_TRUE;
    }
  }
  return PETSC_FALSE;
}

PetscErrorCode BandMarch(LevelSet level_set)
{
  const PetscBool mirrored = touches_side(level_set);
  PetscInt        size[LAYERS];
  PetscReal      *value;
  Layers          layers;

  PetscFunctionBegin;
  PetscCall(VecGetArray(level_set->distance, &value));
  PetscCall(CollectLayers(level_set, value, &layers));
  for (PetscInt layer = 0; layer < LAYERS; layer++)
    size[layer] = layers.first[layer + 1] - layers.first[layer];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, size, LAYERS, MPIU_INT, MPI_MAX, grid_box(level_set->grid)->comm));
  for (PetscInt layer = 0; layer < LAYERS; layer++)
    /* twice, for the directions in which a neighbour is in the same layer; the last one is wider */
    for (PetscInt pass = 0; size[layer] && pass < (layer == LAYERS - 1 ? 3 : 2); pass++) {
      march_layer(level_set, &layers, layer, value);
      if (mirrored)
        PetscCall(LevelSetFillGhosts(level_set, level_set->distance));
      else
        PetscCall(MacGridExchange(level_set->grid, level_set->distance));
    }
  PetscCall(VecRestoreArray(level_set->distance, &value));
  PetscCall(PetscFree2(layers.cell, layers.result));
  PetscFunctionReturn(0);
}
