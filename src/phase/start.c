/* Regions at the start, from their shapes, and what is wrong with them. */
#include "phase_impl.h"

enum { BLOCK = 8 }; /* cells along a block that is asked as a whole */

/* Cells low <= index < high. */
typedef struct {
  PetscInt low[DIM], high[DIM];
} CellBlock;

static PetscReal cut_off(PetscReal distance, PetscReal band)
{
  return PetscMax(-band, PetscMin(distance, band));
}

/* A distance changes by no more than the way: a block whose middle is far away is far away as a whole. Its
   corners are asked too, since formulas give distances to first order only. */
static PetscBool block_is_far(Phase phase, Shape shape, const CellBlock *block, PetscReal *distance)
{
  const GridBox *box = grid_box(phase->grid);
  PetscReal      reach = 0.;
  Vector3        low = grid_cell_centre(phase->grid, block->low[X], block->low[Y], block->low[Z]), high;

  high = grid_cell_centre(phase->grid, block->high[X] - 1, block->high[Y] - 1, block->high[Z] - 1);
  *distance = shape_distance(shape, vector3_scale(0.5, vector3_add(low, high)));
  for (PetscInt d = 0; d < box->dimension; d++)
    reach += PetscSqr(0.5 * (high.at[d] - low.at[d]));
  if (PetscAbsReal(*distance) < PetscSqrtReal(reach) + phase->band)
    return PETSC_FALSE;
  for (PetscInt n = 0; n < 1 << box->dimension; n++) {
    const Vector3 corner =
        vector3((n & 1 ? high : low).at[X], (n & 2 ? high : low).at[Y], (n & 4 ? high : low).at[Z]);
    const PetscReal there = shape_distance(shape, corner);

    if (PetscAbsReal(there) < phase->band || (there < 0.) != (*distance < 0.))
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static void fill_block(Phase phase, Shape shape, const CellBlock *block, PetscReal *distance)
{
  const GridBox  *box = grid_box(phase->grid);
  PetscReal       whole;
  const PetscBool far = block_is_far(phase, shape, block, &whole);

  for (PetscInt k = block->low[Z]; k < block->high[Z]; k++)
    for (PetscInt j = block->low[Y]; j < block->high[Y]; j++)
      for (PetscInt i = block->low[X]; i < block->high[X]; i++)
        distance[box_index(box, i, j, k)] =
            cut_off(far ? whole : shape_distance(shape, grid_cell_centre(phase->grid, i, j, k)), phase->band);
}

PetscErrorCode PhaseFillFromShape(Phase phase, Shape shape, Vec distance)
{
  const GridBox *box = grid_box(phase->grid);
  PetscReal     *values;

  PetscFunctionBegin;
  PetscCall(VecGetArray(distance, &values));
  for (PetscInt k = box->start[Z]; k < box->end[Z]; k += BLOCK)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j += BLOCK)
      for (PetscInt i = box->start[X]; i < box->end[X]; i += BLOCK) {
        const CellBlock block = {{i, j, k},
                                 {PetscMin(i + BLOCK, box->end[X]), PetscMin(j + BLOCK, box->end[Y]),
                                  PetscMin(k + BLOCK, box->end[Z])}};

        fill_block(phase, shape, &block, values);
      }
  PetscCall(VecRestoreArray(distance, &values));
  PetscFunctionReturn(0);
}

/* All that the other regions leave. */
static PetscErrorCode FillRest(Phase phase, PetscInt rest)
{
  const PetscInt length = grid_box(phase->grid)->length;
  PetscReal     *distances[REGIONS_MAX];

  PetscFunctionBegin;
  PetscCall(PhaseGetDistances(phase, distances));
  for (PetscInt c = 0; c < length; c++) {
    PetscReal nearest = phase->band;

    for (PetscInt n = 0; n < phase->count; n++)
      if (n != rest)
        nearest = PetscMin(nearest, distances[n][c]);
    distances[rest][c] = -nearest;
  }
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscFunctionReturn(0);
}

/* The worst place; all as numbers, so that ranks can compare. */
typedef struct {
  PetscReal depth; /* of an overlap, or of a void, m; 0: none */
  PetscReal first, second, is_void;
  PetscReal point[DIM];
} Fault;

static Fault fault_at(Phase phase, PetscReal *const distances[], PetscInt c)
{
  PetscInt  first = -1, second = -1;
  PetscReal overlap;
  Fault     fault = {.depth = 0.};

  for (PetscInt n = 0; n < phase->count; n++)
    if (first < 0 || distances[n][c] < distances[first][c]) {
      second = first;
      first = n;
    } else if (second < 0 || distances[n][c] < distances[second][c])
      second = n;
  overlap = -distances[second][c];
  fault.depth = PetscMax(overlap, distances[first][c]);
  fault.is_void = distances[first][c] > overlap ? 1. : 0.;
  fault.first = PetscMin(first, second);
  fault.second = PetscMax(first, second);
  return fault;
}

static Fault worst_fault_here(Phase phase, PetscReal *const distances[], const PetscReal *closed)
{
  const GridBox *box = grid_box(phase->grid);
  Fault          worst = {.depth = 0.};

  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);
    const Fault    fault = fault_at(phase, distances, c);

    if (fault.depth <= worst.depth || (closed && closed[c] > 0.))
      continue;
    worst = fault;
    for (PetscInt d = 0; d < DIM; d++)
      worst.point[d] = grid_cell_centre(phase->grid, i, j, k).at[d];
  }
  return worst;
}

/* Deeper, or as deep and further down in z, y, x: the same place on any number of ranks. */
static PetscBool is_worse(const Fault *a, const Fault *b)
{
  if (a->depth != b->depth)
    return a->depth > b->depth ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt d = Z; d >= X; d--)
    if (a->point[d] != b->point[d])
      return a->point[d] < b->point[d] ? PETSC_TRUE : PETSC_FALSE;
  return PETSC_FALSE;
}

static PetscErrorCode FindWorstFault(Phase phase, Vec closed, Fault *worst)
{
  enum { NUMBERS = sizeof(Fault) / sizeof(PetscReal) };
  const PetscReal *marks = NULL;
  PetscReal       *distances[REGIONS_MAX];
  PetscMPIInt      size;
  Fault           *all, here;

  PetscFunctionBegin;
  PetscCall(PhaseGetDistances(phase, distances));
  if (closed)
    PetscCall(VecGetArrayRead(closed, &marks));
  here = worst_fault_here(phase, distances, marks);
  if (closed)
    PetscCall(VecRestoreArrayRead(closed, &marks));
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscCallMPI(MPI_Comm_size(grid_box(phase->grid)->comm, &size));
  PetscCall(PetscMalloc1(size, &all));
  PetscCallMPI(
      MPI_Allgather(&here, NUMBERS, MPIU_REAL, all, NUMBERS, MPIU_REAL, grid_box(phase->grid)->comm));
  *worst = all[0];
  for (PetscMPIInt rank = 1; rank < size; rank++)
    if (is_worse(&all[rank], worst))
      *worst = all[rank];
  PetscCall(PetscFree(all));
  PetscFunctionReturn(0);
}

static PetscErrorCode TellFault(Phase phase, const Fault *fault, char message[], size_t size)
{
  const char *first = phase->config->regions[(PetscInt)fault->first].name;
  const char *second = phase->config->regions[(PetscInt)fault->second].name;
  const int   flat = grid_box(phase->grid)->dimension == 2;
  char        point[128];

  PetscFunctionBegin;
  snprintf(point, sizeof(point), flat ? "(%g, %g)" : "(%g, %g, %g)", (double)fault->point[X],
           (double)fault->point[Y], (double)fault->point[Z]);
  if (fault->is_void > 0.)
    PetscCall(MessageAtKey(
        message, size, "regions", first,
        "no region holds the point %s; the nearest are \"%s\" and \"%s\", at least %g m away. Give one "
        "region no shape, so that it takes what the others leave, or use interfaces.overlap: project",
        point, first, second, (double)fault->depth));
  else
    PetscCall(MessageAtKey(
        message, size, "regions", first,
        "regions \"%s\" and \"%s\" overlap: the point %s is at least %g m inside of both. Change their "
        "shapes, or use interfaces.overlap: project",
        first, second, point, (double)fault->depth));
  PetscFunctionReturn(0);
}

static PetscErrorCode FillRegions(Phase phase)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < phase->count; n++)
    if (phase->config->regions[n].shape)
      PetscCall(PhaseFillFromShape(phase, phase->config->regions[n].shape, phase->distances[n]));
  for (PetscInt n = 0; n < phase->count; n++)
    if (!phase->config->regions[n].shape)
      PetscCall(FillRest(phase, n));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseStart(Phase phase, Vec closed, char message[], size_t size)
{
  Fault fault;

  PetscFunctionBegin;
  message[0] = 0;
  PetscCall(FillRegions(phase));
  PetscCall(FindWorstFault(phase, closed, &fault));
  if (fault.depth > 0.5 * grid_spacing(phase->grid) * (1. + 1e-9) &&
      phase->config->overlap == OVERLAP_REFUSE) {
    PetscCall(TellFault(phase, &fault, message, size));
    PetscFunctionReturn(0);
  }
  PetscCall(PhaseFindLayers(phase, closed));
  PetscCall(PhaseProject(phase, ALL_REGIONS));
  PetscCall(PhaseFindRegions(phase));
  PetscCall(PhaseFindContacts(phase));
  for (PetscInt n = 0; n < phase->count; n++)
    if (phase->visibility_map) /* a shape's distance knows of no shells */
      PetscCall(LevelSetRebuild(phase->level_sets[n]));
    else
      PetscCall(LevelSetRedistance(phase->level_sets[n]));
  PetscCall(PhaseExtendIntoClosed(phase, CLOSED_FOR_MIXTURE));
  PetscCall(PhaseProject(phase, ALL_REGIONS));
  phase->steps = phase->seedings = 0;
  PetscCall(PetscMemzero(&phase->report, sizeof(phase->report)));
  PetscCall(PhaseSeed(phase, closed));
  PetscCall(PhaseUpdate(phase, closed));
  PetscCall(PetscArraycpy(phase->targets, phase->report.volume, REGIONS_MAX));
  PetscFunctionReturn(0);
}
