/* The coarser levels of the viscous operator, each with cells twice as wide, and the ways between them.

   Coefficients are means over the places that a coarse one covers; 1/h^2 makes stresses a quarter. A coarse
   face of which half is held is held. Velocities are interpolated linearly; beside a side that holds them
   towards zero on it. Restriction is the transpose, over the number of children.

   Which levels there are does not depend on the ranks, nor does a bit of what they hold: those that the ranks
   cannot share, because their bounds are odd or they would have too few cells, each rank holds as a whole. */
#include "stress_impl.h"

/* Values along one direction that make one on another level. */
typedef struct {
  PetscInt  first, count;
  PetscReal weight[4];
} Taps;

/* What a value adds: itself, only if it is not held (negative), or one if it is. */
typedef enum { GATHER_ALL, GATHER_FREE, GATHER_HELD } Addend;

static PetscReal gather(const PetscReal *values, const GridBox *box, const Taps taps[DIM], Addend addend)
{
  PetscReal sum = 0.;

  for (PetscInt k = 0; k < taps[Z].count; k++)
    for (PetscInt j = 0; j < taps[Y].count; j++) {
      const PetscInt  row = box_index(box, taps[X].first, taps[Y].first + j, taps[Z].first + k);
      const PetscReal weight = taps[Y].weight[j] * taps[Z].weight[k];

      for (PetscInt i = 0; i < taps[X].count; i++) {
        const PetscReal value = values[row + i];

        if (addend == GATHER_ALL)
          sum += weight * taps[X].weight[i] * value;
        else if ((value < 0.) == (addend == GATHER_HELD))
          sum += weight * taps[X].weight[i] * (addend == GATHER_HELD ? 1. : value);
      }
    }
  return sum;
}

/* The mean over the two children of a cell. */
static Taps both_children(const GridBox *fine, PetscInt d, PetscInt at)
{
  if (d >= fine->dimension)
    return (Taps){at, 1, {1.}};
  return (Taps){2 * at, 2, {0.5, 0.5}};
}

/* The mean around a face or an edge that both levels have; on a side there is nothing beyond it. */
static Taps around(const GridBox *fine, PetscInt d, PetscInt at, PetscBool only_there)
{
  if (!fine->periodic[d] && (at == 0 || 2 * at == fine->cells[d]) && only_there)
    return (Taps){2 * at, 1, {1.}};
  return (Taps){2 * at - 1, 3, {0.25, 0.5, 0.25}};
}

/* The places of a coarser level whose first child a rank has, out of `range`, which may lie on the upper
   sides. */
static GridRange places_of_rank(const StressLevel *coarse, const GridBox *fine, const GridRange *range)
{
  GridRange mine = *range;

  for (PetscInt d = 0; d < fine->dimension && coarse->is_gathered; d++) {
    mine.start[d] = PetscMax(range->start[d], (fine->start[d] + 1) / 2);
    if (!touches_side(fine, d, 1))
      mine.end[d] = PetscMin(range->end[d], (fine->end[d] + 1) / 2);
  }
  return mine;
}

/* Of a field that is zero but in the places of the rank: those of all ranks, where each has the whole. */
static PetscErrorCode GatherPlaces(const StressLevel *coarse, const GridBox *fine, PetscReal *values)
{
  PetscMPIInt bytes;

  PetscFunctionBegin;
  if (!coarse->is_gathered)
    PetscFunctionReturn(0);
  PetscCall(PetscMPIIntCast(grid_box(coarse->grid)->length * (PetscInt)sizeof(*values), &bytes));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values, bytes, MPI_BYTE, MPI_BOR, fine->comm));
  PetscFunctionReturn(0);
}

/* One coarse field from one fine one: cells, or edges along e. */
typedef struct {
  PetscInt across[2]; /* directions across the edge; -1: cells */
} CoarsePlaces;

static GridRange range_of(const CoarsePlaces *places, const GridBox *box)
{
  GridRange range = box_grown(box, 0);

  for (PetscInt n = 0; n < 2; n++)
    if (places->across[n] >= 0 && touches_side(box, places->across[n], 1))
      range.end[places->across[n]]++;
  return range;
}

static PetscErrorCode CoarsenStress(const StressLevel *fine, StressLevel *coarse, const CoarsePlaces *places,
                                    Vec from, Vec to)
{
  const GridBox   *box = grid_box(coarse->grid), *fine_box = grid_box(fine->grid);
  const GridRange  whole = range_of(places, box), range = places_of_rank(coarse, fine_box, &whole);
  const PetscReal *values;
  PetscReal       *result;

  PetscFunctionBegin;
  PetscCall(VecSet(to, 0.));
  PetscCall(VecGetArrayRead(from, &values));
  PetscCall(VecGetArray(to, &result));
  FOR_PLACES(&range, at) {
    Taps taps[DIM];

    for (PetscInt d = 0; d < DIM; d++)
      taps[d] = d == places->across[0] || d == places->across[1] ? around(fine_box, d, at[d], PETSC_TRUE)
                                                                 : both_children(fine_box, d, at[d]);
    result[box_index(box, at[X], at[Y], at[Z])] = 0.25 * gather(values, fine_box, taps, GATHER_ALL);
  }
  PetscCall(GatherPlaces(coarse, fine_box, result));
  PetscCall(VecRestoreArray(to, &result));
  PetscCall(VecRestoreArrayRead(from, &values));
  PetscCall(MacGridExchange(coarse->grid, to));
  PetscFunctionReturn(0);
}

static PetscErrorCode CoarsenMass(const StressLevel *fine, StressLevel *coarse, PetscInt d, Vec masses)
{
  const GridBox   *box = grid_box(coarse->grid), *fine_box = grid_box(fine->grid);
  const GridRange  range = places_of_rank(coarse, fine_box, &coarse->range[d]);
  const PetscReal *values;
  PetscReal       *mass;

  PetscFunctionBegin;
  PetscCall(VecSet(coarse->mass[d], 0.));
  PetscCall(VecGetArrayRead(masses, &values));
  PetscCall(VecGetArray(coarse->mass[d], &mass));
  FOR_PLACES(&range, at) {
    const PetscInt c = box_index(box, at[X], at[Y], at[Z]);
    Taps           taps[DIM];

    for (PetscInt a = 0; a < DIM; a++)
      taps[a] = a == d ? around(fine_box, a, at[a], PETSC_FALSE) : both_children(fine_box, a, at[a]);
    mass[c] =
        gather(values, fine_box, taps, GATHER_HELD) < 0.5 ? gather(values, fine_box, taps, GATHER_FREE) : -1.;
  }
  PetscCall(GatherPlaces(coarse, fine_box, mass));
  PetscCall(VecRestoreArray(coarse->mass[d], &mass));
  PetscCall(VecRestoreArrayRead(masses, &values));
  PetscFunctionReturn(0);
}

/* `masses`: those of the fine level, or what stands for them. */
static PetscErrorCode Coarsen(StressLevel *fine, StressLevel *coarse, Vec masses[DIM])
{
  const GridBox     *box = grid_box(fine->grid);
  const CoarsePlaces cells = {{-1, -1}};

  PetscFunctionBegin;
  PetscCall(MacGridExchangeFaces(fine->grid, masses));
  PetscCall(CoarsenStress(fine, coarse, &cells, fine->normal, coarse->normal));
  for (PetscInt e = box->dimension == 2 ? Z : X; e < DIM; e++) {
    const CoarsePlaces edges = {{e == X ? Y : X, e == Z ? Y : Z}};

    PetscCall(MacGridExchange(fine->grid, fine->shear[e]));
    PetscCall(CoarsenStress(fine, coarse, &edges, fine->shear[e], coarse->shear[e]));
  }
  for (PetscInt d = 0; d < box->dimension; d++)
    PetscCall(CoarsenMass(fine, coarse, d, masses[d]));
  PetscCall(StressLevelSetInverse(coarse));
  PetscFunctionReturn(0);
}

/* Half as many cells along each direction; `good` where there are. */
static GridConfig halved_config(const GridBox *box, PetscBool *good)
{
  GridConfig config = {.dimension = box->dimension, .resolution = box->cells[X] / 2};

  *good = PETSC_TRUE;
  for (PetscInt d = 0; d < box->dimension; d++) {
    config.periodic[d] = box->periodic[d];
    config.size.at[d] = (PetscReal)(box->cells[d] / 2);
    if (box->cells[d] % 2)
      *good = PETSC_FALSE;
  }
  return config;
}

/* Of a grid whose cells are as wide as the unit of its size. */
static PetscReal cells_of(const GridConfig *config)
{
  PetscReal cells = 1.;

  for (PetscInt d = 0; d < config->dimension; d++)
    cells *= config->size.at[d];
  return cells;
}

/* A grid on which each rank has the same part of the box; null when the ranks cannot have that. */
static PetscErrorCode CreateSharedGrid(const GridBox *box, const GridConfig *config, MacGrid *coarse)
{
  GridPartition parts;
  PetscInt      cells[DIM];
  PetscMPIInt   ranks;

  PetscFunctionBegin;
  *coarse = NULL;
  PetscCallMPI(MPI_Comm_size(box->comm, &ranks));
  PetscCall(GridPartitionCreateFrom(box, &parts));
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt part = 0; part <= parts.parts[d]; part++)
      parts.start[d][part] /= 2; /* of even numbers */
  grid_config_cells(config, cells);
  if (!grid_partition_complaint(cells, box->dimension, ranks, &parts))
    PetscCall(MacGridCreateDivided(box->comm, config, &parts, coarse));
  PetscCall(GridPartitionDestroy(&parts));
  PetscFunctionReturn(0);
}

/* A level with more cells than this is not held by each rank as a whole. */
static const PetscReal most_gathered = 1 << 17;

/* Shared by the ranks, or the whole on each; null when it would have too few cells, half ones, or too many
   for one rank. */
static PetscErrorCode CreateCoarserGrid(MacGrid fine, MacGrid *coarse, PetscBool *is_gathered)
{
  PetscBool        good;
  const GridConfig config = halved_config(grid_box(fine), &good);
  char             message[256];

  PetscFunctionBegin;
  *coarse = NULL;
  *is_gathered = PETSC_FALSE;
  PetscCall(GridConfigCheck(&config, 1, message, sizeof(message)));
  if (!good || message[0])
    PetscFunctionReturn(0);
  PetscCall(CreateSharedGrid(grid_box(fine), &config, coarse));
  if (*coarse || cells_of(&config) > most_gathered)
    PetscFunctionReturn(0);
  PetscCall(MacGridCreate(PETSC_COMM_SELF, &config, coarse));
  *is_gathered = PETSC_TRUE;
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateLevels(Fluid fluid)
{
  const Stress stress = fluid->stress;
  MacGrid      grid = NULL;

  PetscFunctionBegin;
  stress->is_complete = PETSC_TRUE;
  while (stress->created < STRESS_LEVELS_MAX) {
    StressLevel *level = &stress->levels[stress->created];

    PetscCall(CreateCoarserGrid(level[-1].grid, &grid, &level->is_gathered));
    if (!grid)
      break;
    PetscCall(StressLevelCreate(grid, level));
    for (PetscInt d = 0; d < grid_box(grid)->dimension; d++)
      level->range[d] = free_faces_on(fluid, grid, d);
    stress->created++;
  }
  for (PetscInt n = 0; n < stress->created && stress->created > 1; n++) {
    PetscCall(MacGridCreateFaceField(stress->levels[n].grid, stress->levels[n].solution));
    PetscCall(MacGridCreateFaceField(stress->levels[n].grid, stress->levels[n].residual));
    PetscCall(MacGridCreateFaceField(stress->levels[n].grid, stress->levels[n].change));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode FluidSetUpStressLevels(Fluid fluid)
{
  const Stress stress = fluid->stress;
  Vec         *masses = stress->levels[0].mass;

  PetscFunctionBegin;
  if (!stress->is_complete)
    PetscCall(CreateLevels(fluid));
  if (fluid->constraints && stress->created > 1) {
    masses = stress->levels[0].change;
    PetscCall(FluidStartSolidCycle(fluid, masses));
  }
  for (PetscInt n = 1; n < stress->created; n++) {
    PetscCall(Coarsen(&stress->levels[n - 1], &stress->levels[n], masses));
    masses = stress->levels[n].mass;
  }
  stress->count = stress->created;
  PetscFunctionReturn(0);
}

/* What a child beside the side takes of its parent: the next one lies beyond. */
static PetscReal share_at_side(Fluid fluid, PetscInt a, PetscInt side)
{
  const SideKind kind = fluid->config->sides[a][side].kind;

  return kind == SIDE_WALL || kind == SIDE_INFLOW ? 0.5 : 1.;
}

/* Of child `at` in the value of its parent. */
static PetscReal own_share(Fluid fluid, const GridBox *fine, PetscInt a, PetscInt at)
{
  if (!fine->periodic[a] && at == 0)
    return share_at_side(fluid, a, 0);
  if (!fine->periodic[a] && at == fine->cells[a] - 1)
    return share_at_side(fluid, a, 1);
  return 0.75;
}

static Taps restriction_taps(Fluid fluid, const GridBox *fine, PetscInt d, PetscInt a, PetscInt at)
{
  if (a >= fine->dimension)
    return (Taps){at, 1, {1.}};
  if (a == d)
    return (Taps){2 * at - 1, 3, {0.25, 0.5, 0.25}};
  return (Taps){
      2 * at - 1,
      4,
      {0.125, 0.5 * own_share(fluid, fine, a, 2 * at), 0.5 * own_share(fluid, fine, a, 2 * at + 1), 0.125}};
}

static Taps interpolation_taps(Fluid fluid, const GridBox *fine, PetscInt d, PetscInt a, PetscInt at)
{
  const PetscInt  parent = at / 2;
  const PetscReal own = a == d ? 0. : own_share(fluid, fine, a, at);

  if (a >= fine->dimension)
    return (Taps){at, 1, {1.}};
  if (a == d)
    return at % 2 ? (Taps){parent, 2, {0.5, 0.5}} : (Taps){parent, 1, {1.}};
  if (own != 0.75)
    return (Taps){parent, 1, {own}};
  return at % 2 ? (Taps){parent, 2, {0.75, 0.25}} : (Taps){parent - 1, 2, {0.25, 0.75}};
}

/* row += weight * from. */
VECTOR_CLONES static void add_row(PetscReal *restrict row, PetscReal weight, const PetscReal *restrict from,
                                  PetscInt count)
{
  for (PetscInt n = 0; n < count; n++)
    row[n] += weight * from[n];
}

/* Every second value from three around it, or from four; added up in the order of along_row, which has the
   ends of a row. */
VECTOR_CLONES static void halve_row(const PetscReal *restrict row, PetscBool around_it, PetscInt count,
                                    PetscReal *restrict result)
{
  if (around_it)
    for (PetscInt n = 0; n < count; n++)
      result[n] = 0.25 * row[2 * n - 1] + 0.5 * row[2 * n] + 0.25 * row[2 * n + 1];
  else
    for (PetscInt n = 0; n < count; n++)
      result[n] =
          0.125 * row[2 * n - 1] + 0.375 * row[2 * n] + 0.375 * row[2 * n + 1] + 0.125 * row[2 * n + 2];
}

/* Values between those of a row; the first lies at its first, or half a cell after that if it is `odd`. */
VECTOR_CLONES static void double_row(const PetscReal *restrict row, PetscBool between, PetscInt odd,
                                     PetscInt count, PetscReal *restrict result)
{
  const PetscReal near = between ? 1. : 0.75, far = 1. - near, low = between ? 0.5 : 0.75, high = 1. - low;

  for (PetscInt n = odd; n < count; n += 2) {
    const PetscInt parent = (n + odd) / 2;

    result[n] = near * row[parent] + far * row[parent - 1];
  }
  for (PetscInt n = 1 - odd; n < count; n += 2) {
    const PetscInt parent = (n + odd) / 2;

    result[n] = low * row[parent] + high * row[parent + 1];
  }
}

VECTOR_CLONES static void mask_row(const PetscReal *restrict mask, PetscInt count, PetscReal *restrict result)
{
  for (PetscInt n = 0; n < count; n++)
    result[n] = mask[n] > 0. ? result[n] : 0.;
}

static inline PetscReal along_row(const PetscReal *row, const Taps *taps, PetscInt first)
{
  PetscReal sum = 0.;

  for (PetscInt n = 0; n < taps->count; n++)
    sum += taps->weight[n] * row[taps->first - first + n];
  return sum;
}

/* A way between two levels for one component. */
typedef struct {
  Fluid          fluid;
  PetscInt       d;
  PetscBool      down;
  const GridBox *from, *to;
  GridRange      range; /* in `to` */
  PetscReal     *row;   /* with `first` and all ghosts along x, of `from` */
} Restriction;

static Taps way_taps(const Restriction *way, PetscInt a, PetscInt at)
{
  return way->down ? restriction_taps(way->fluid, way->from, way->d, a, at)
                   : interpolation_taps(way->fluid, way->to, way->d, a, at);
}

/* Brings the rows across together in way->row. */
static void combine_rows(const Restriction *way, const PetscReal *values, PetscInt j, PetscInt k)
{
  const GridBox *box = way->from;
  const PetscInt first = box->start[X] - box->ghost, count = box->end[X] - first + box->ghost;
  const Taps     y = way_taps(way, Y, j), z = way_taps(way, Z, k);

  for (PetscInt n = 0; n < count; n++)
    way->row[n] = 0.;
  for (PetscInt c = 0; c < z.count; c++)
    for (PetscInt b = 0; b < y.count; b++)
      add_row(way->row, y.weight[b] * z.weight[c], values + box_index(box, first, y.first + b, z.first + c),
              count);
}

static void transfer_row(const Restriction *way, PetscReal *result)
{
  const PetscInt start = way->range.start[X], count = way->range.end[X] - start;
  const PetscInt first = way->from->start[X] - way->from->ghost;

  if (way->down)
    halve_row(way->row + 2 * start - first, way->d == X, count, result);
  else
    double_row(way->row + start / 2 - first, way->d == X, start % 2, count, result);
  for (PetscInt n = 0; n < count; n += PetscMax(count - 1, 1)) { /* beside a side */
    const Taps taps = way_taps(way, X, start + n);

    result[n] = along_row(way->row, &taps, first);
  }
}

/* The unknowns of `to` from those of `from`, whose ghosts are valid. */
static PetscErrorCode Transfer(Fluid fluid, const StressLevel *from, const StressLevel *to, PetscInt d,
                               Vec source, Vec target)
{
  Restriction way = {
      .fluid = fluid, .d = d, .from = grid_box(from->grid), .to = grid_box(to->grid), .range = to->range[d]};
  const PetscBool  has_solids = to == fluid->stress->levels && fluid->constraints ? PETSC_TRUE : PETSC_FALSE;
  const Vec        unknown = has_solids ? fluid->stress->unknowns.mass[d] : to->inverse[d];
  const PetscReal *values, *mask;
  PetscReal       *result;
  PetscInt         count;

  PetscFunctionBegin;
  way.down = way.from->cells[X] > way.to->cells[X] ? PETSC_TRUE : PETSC_FALSE;
  if (way.down)
    way.range = places_of_rank(to, way.from, &to->range[d]);
  count = way.range.end[X] - way.range.start[X];
  if (way.down && to->is_gathered)
    PetscCall(VecSet(target, 0.));
  PetscCall(PetscMalloc1(way.from->end[X] - way.from->start[X] + 2 * way.from->ghost, &way.row));
  PetscCall(VecGetArrayRead(source, &values));
  PetscCall(VecGetArrayRead(unknown, &mask));
  PetscCall(VecGetArray(target, &result));
  FOR_ROWS(&way.range, j, k) {
    const PetscInt c = box_index(way.to, way.range.start[X], j, k);

    combine_rows(&way, values, j, k);
    transfer_row(&way, result + c);
    mask_row(mask + c, count, result + c);
  }
  if (way.down)
    PetscCall(GatherPlaces(to, way.from, result));
  PetscCall(VecRestoreArray(target, &result));
  PetscCall(VecRestoreArrayRead(unknown, &mask));
  PetscCall(VecRestoreArrayRead(source, &values));
  PetscCall(PetscFree(way.row));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidRestrictStress(Fluid fluid, StressLevel *fine, StressLevel *coarse)
{
  PetscFunctionBegin;
  PetscCall(MacGridExchangeFaces(fine->grid, fine->residual));
  for (PetscInt d = 0; d < grid_box(fine->grid)->dimension; d++)
    PetscCall(Transfer(fluid, fine, coarse, d, fine->residual[d], coarse->residual[d]));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidInterpolateStress(Fluid fluid, StressLevel *fine, StressLevel *coarse)
{
  PetscFunctionBegin;
  PetscCall(MacGridExchangeFaces(coarse->grid, coarse->solution));
  for (PetscInt d = 0; d < grid_box(fine->grid)->dimension; d++)
    PetscCall(Transfer(fluid, coarse, fine, d, coarse->solution[d], fine->change[d]));
  PetscFunctionReturn(0);
}
