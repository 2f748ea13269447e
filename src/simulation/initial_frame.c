/* The velocity and the scalars of a frame, of this scene or another, as those that a fluid begins with
   (docs/numerics.md, 2): (bi-, tri-) linear between the frame's cell centres, and in the same way beyond the
   outermost, so that the grid may be another one. Each rank reads the cells that its own reach. */
#include "simulation_impl.h"

typedef struct {
  PetscInt  cells[DIM];             /* of the frame */
  PetscInt  first[DIM], count[DIM]; /* of what this rank has of it */
  PetscReal spacing;
  Vector3   origin;
} FrameGrid;

struct InitialFrame {
  FrameGrid   grid;
  PetscReal  *velocity; /* DIM numbers for each cell */
  PetscInt    scalar_count;
  PetscReal **scalars; /* null where the frame has none of that name */
};

/* What one reading of a file is about. */
typedef struct {
  const GridConfig    *box;
  const FluidConfig   *fluid;
  MacGrid              grid;
  struct InitialFrame *frame;
} FrameReading;

static ArchivePart window_of(const FrameGrid *grid, PetscInt dimension, PetscInt components)
{
  ArchivePart part = {.rank = dimension + (components > 1)};

  for (PetscInt n = 0; n < dimension; n++) {
    part.global[n] = grid->cells[dimension - 1 - n];
    part.start[n] = grid->first[dimension - 1 - n];
    part.count[n] = grid->count[dimension - 1 - n];
  }
  if (components > 1)
    part.global[dimension] = part.count[dimension] = components;
  return part;
}

static PetscErrorCode ReadGrid(Archive archive, const GridConfig *box, FrameGrid *grid)
{
  const ArchivePart triple = {.rank = 1, .global = {DIM}, .count = {DIM}};
  PetscInt64        dimension, cells[DIM];

  PetscFunctionBegin;
  PetscCall(ArchiveReadInteger(archive, "dimension", &dimension));
  if (dimension != box->dimension)
    PetscCall(ArchiveRefuse(archive, "dimension", "the frame has %d dimensions and the scene %d",
                            (int)dimension, (int)box->dimension));
  PetscCall(ArchiveReadIntegers(archive, "cells", &triple, cells));
  PetscCall(ArchiveReadPart(archive, "origin", &triple, grid->origin.at));
  PetscCall(ArchiveReadRealWithin(archive, "spacing", PETSC_SMALL, PETSC_MAX_REAL, &grid->spacing));
  for (PetscInt d = 0; d < DIM; d++) {
    if (cells[d] < 1 || cells[d] > 1000000)
      PetscCall(ArchiveRefuse(archive, "cells", "%lld cells along %c", (long long)cells[d], "xyz"[d]));
    grid->cells[d] = (PetscInt)cells[d];
  }
  PetscFunctionReturn(0);
}

/* Nothing is made up where the frame says nothing. */
static PetscErrorCode CheckCover(Archive archive, const GridConfig *box, const FrameGrid *grid)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal low = grid->origin.at[d], high = low + grid->spacing * grid->cells[d],
                    slack = 1e-6 * grid->spacing;

    if (low > box->origin.at[d] + slack || high < box->origin.at[d] + box->size.at[d] - slack)
      PetscCall(
          ArchiveRefuse(archive, "origin",
                        "the frame goes from %g to %g m along %c and does not cover the box, from %g to "
                        "%g m: make the box smaller, or take another frame",
                        (double)low, (double)high, "xyz"[d], (double)box -> origin.at[d],
                        (double)(box->origin.at[d] + box->size.at[d])));
  }
  PetscFunctionReturn(0);
}

/* The frame's cells around those of this rank, two at the least where there are two. */
static void choose_window(MacGrid grid, FrameGrid *frame)
{
  const GridBox *box = grid_box(grid);

  for (PetscInt d = 0; d < DIM; d++) {
    const PetscReal low = grid_origin(grid).at[d] + grid_spacing(grid) * box->start[d],
                    high = grid_origin(grid).at[d] + grid_spacing(grid) * box->end[d];
    const PetscReal from = (low - frame->origin.at[d]) / frame->spacing - 1.5,
                    to = (high - frame->origin.at[d]) / frame->spacing + 1.5, most = frame->cells[d];

    frame->first[d] = (PetscInt)PetscMax(0., PetscMin(PetscFloorReal(from), most - 2.));
    frame->count[d] = (PetscInt)PetscMin(most, PetscMax(PetscCeilReal(to), 2.)) - frame->first[d];
  }
}

static PetscErrorCode ReadFields(Archive archive, FrameReading *reading)
{
  struct InitialFrame *frame = reading->frame;
  const PetscInt       dimension = reading->box->dimension,
                 cells = frame->grid.count[X] * frame->grid.count[Y] * frame->grid.count[Z];
  ArchivePart part = window_of(&frame->grid, dimension, DIM);

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((PetscInt)DIM * cells, &frame->velocity));
  PetscCall(ArchiveReadPart(archive, "fields/velocity", &part, frame->velocity));
  part = window_of(&frame->grid, dimension, 1);
  frame->scalar_count = reading->fluid->scalar_count;
  PetscCall(PetscCalloc1(frame->scalar_count, &frame->scalars));
  for (PetscInt s = 0; s < frame->scalar_count; s++) {
    PetscBool has;
    char      name[PETSC_MAX_PATH_LEN];

    PetscCall(PetscSNPrintf(name, sizeof(name), "fields/%s", reading->fluid->scalars[s].name));
    PetscCall(ArchiveHas(archive, name, &has));
    if (!has)
      continue;
    PetscCall(PetscMalloc1(cells, &frame->scalars[s]));
    PetscCall(ArchiveReadPart(archive, name, &part, frame->scalars[s]));
  }
  PetscFunctionReturn(0);
}

/* Without a grid of the run: what of it can be said before there is one. */
static PetscErrorCode ReadFrame(Archive archive, void *context)
{
  FrameReading *reading = context;
  PetscBool     has;

  PetscFunctionBegin;
  PetscCall(ArchiveHas(archive, "grid", &has));
  if (!has)
    PetscCall(ArchiveRefuse(archive, "grid", "it is no frame of a run with a fluid"));
  PetscCall(ArchiveEnter(archive, "grid"));
  PetscCall(ReadGrid(archive, reading->box, &reading->frame->grid));
  PetscCall(CheckCover(archive, reading->box, &reading->frame->grid));
  if (reading->grid) {
    choose_window(reading->grid, &reading->frame->grid);
    PetscCall(ReadFields(archive, reading));
  }
  PetscCall(ArchiveLeave(archive));
  PetscFunctionReturn(0);
}

static PetscErrorCode TryFrame(MPI_Comm comm, FrameReading *reading, char message[], size_t size)
{
  Archive archive;
  char    reason[512] = "";

  PetscFunctionBegin;
  PetscCall(ArchiveOpen(comm, reading->fluid->initial_frame, &archive, reason, sizeof(reason)));
  if (archive) {
    PetscCall(ArchiveTry(archive, ReadFrame, reading, reason, sizeof(reason)));
    PetscCall(ArchiveDestroy(&archive));
  }
  if (reason[0])
    PetscCall(MessageAtKey(message, size, "fluid.initial.frame", NULL,
                           "fluid.initial.frame cannot be used: %.400s", reason));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationReadInitialFrame(Simulation simulation, char message[], size_t size)
{
  const SimulationConfig *config = simulation->config;
  FrameReading            reading = {.box = &config->grid, .fluid = &config->fluid, .grid = simulation->grid};

  PetscFunctionBegin;
  if (simulation->goes_on || !config->fluid.initial_frame || !config->fluid.initial_frame[0])
    PetscFunctionReturn(0);
  PetscCall(PetscNew(&simulation->initial_frame));
  reading.frame = simulation->initial_frame;
  PetscCall(TryFrame(grid_box(simulation->grid)->comm, &reading, message, size));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationCheckInitialFrame(const SimulationConfig *config, char message[], size_t size)
{
  struct InitialFrame frame = {.scalar_count = 0};
  FrameReading        reading = {.box = &config->grid, .fluid = &config->fluid, .frame = &frame};

  PetscFunctionBegin;
  if (config->fluid.initial_frame && config->fluid.initial_frame[0])
    PetscCall(TryFrame(PETSC_COMM_SELF, &reading, message, size));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationDropInitialFrame(Simulation simulation)
{
  struct InitialFrame *frame = simulation->initial_frame;

  PetscFunctionBegin;
  if (!frame)
    PetscFunctionReturn(0);
  for (PetscInt s = 0; s < frame->scalar_count; s++)
    PetscCall(PetscFree(frame->scalars[s]));
  PetscCall(PetscFree(frame->scalars));
  PetscCall(PetscFree(frame->velocity));
  PetscCall(PetscFree(simulation->initial_frame));
  PetscFunctionReturn(0);
}

/* Linear between the centres on both sides of a point, or through the last two beyond them. */
static PetscReal sample(const FrameGrid *grid, const PetscReal values[], PetscInt stride, Vector3 point)
{
  PetscInt  low[DIM];
  PetscReal part[DIM], sum = 0.;

  for (PetscInt d = 0; d < DIM; d++) {
    const PetscReal place = (point.at[d] - grid->origin.at[d]) / grid->spacing - 0.5 - grid->first[d];

    low[d] = (PetscInt)PetscMax(0., PetscMin(PetscFloorReal(place), grid->count[d] - 2.));
    part[d] = grid->count[d] > 1 ? place - low[d] : 0.;
  }
  for (PetscInt corner = 0; corner < 8; corner++) {
    PetscInt  cell = 0;
    PetscReal weight = 1.;

    for (PetscInt d = DIM; d-- > 0;) {
      const PetscInt upper = corner >> d & 1;

      weight *= upper ? part[d] : 1. - part[d];
      cell = cell * grid->count[d] + low[d] + (grid->count[d] > 1 ? upper : 0);
    }
    if (weight != 0.)
      sum += weight * values[cell * stride];
  }
  return sum;
}

PetscBool initial_frame_value(const struct InitialFrame *frame, PetscInt field, Vector3 point,
                              PetscReal *value)
{
  if (field < DIM)
    *value = sample(&frame->grid, frame->velocity + field, DIM, point);
  else if (frame->scalars[field - DIM])
    *value = sample(&frame->grid, frame->scalars[field - DIM], 1, point);
  else
    return PETSC_FALSE;
  return PETSC_TRUE;
}
