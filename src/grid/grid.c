/* The MAC grid: its geometry, and the DMDA whose vectors and matrices PETSc's solvers see. */
#include "grid_impl.h"

void grid_config_cells(const GridConfig *config, PetscInt cells[DIM])
{
  const PetscReal spacing = config->size.at[X] / config->resolution;

  for (PetscInt d = 0; d < DIM; d++)
    cells[d] = (PetscInt)PetscMin(PetscFloorReal(config->size.at[d] / spacing + 0.5), MOST_CELLS_ALONG + 1.);
  if (config->dimension == 2)
    cells[Z] = 1;
}

/* Whether numbers can tell the cells of a box apart. */
static void check_numbers(const GridConfig *config, const PetscInt cells[DIM], char message[],
                          size_t message_size)
{
  const PetscReal spacing = config->size.at[X] / config->resolution;
  const PetscReal most = 1e9; /* cells between the origin of the axes and the box: round-off of 1e-7 cells */
  const PetscReal count = (PetscReal)cells[X] * cells[Y] * cells[Z];

  if (count > PETSC_MAX_INT)
    snprintf(message, message_size,
             "the grid has %.3g cells, and this PETSc counts to %.3g; lower grid.resolution or take a PETSc "
             "with 64-bit indices",
             (double)count, (double)PETSC_MAX_INT);
  for (PetscInt d = 0; d < config->dimension; d++)
    if (PetscAbsReal(config->origin.at[d]) > most * spacing)
      snprintf(message, message_size,
               "grid.origin along %c is %g, more than %g cells away from 0: places in the box would be "
               "rounded; move the scene",
               "xyz"[d], (double)config -> origin.at[d], (double)most);
}

/* What is wrong with the cells along one axis. */
static void check_axis(const GridConfig *config, PetscInt d, PetscInt cells, char message[],
                       size_t message_size)
{
  const PetscReal spacing = config->size.at[X] / config->resolution, whole = cells * spacing;

  if (cells > MOST_CELLS_ALONG)
    snprintf(message, message_size,
             "the grid has more than %d cells along %c; lower grid.resolution or grid.size", MOST_CELLS_ALONG,
             "xyz"[d]);
  else if (PetscAbsReal(whole - config->size.at[d]) > 1e-6 * spacing)
    snprintf(message, message_size,
             "grid.size along %c is %g, which is not a whole number of cells of %g; %g is", "xyz"[d],
             (double)config -> size.at[d], (double)spacing, (double)PetscMax(whole, spacing));
  else if (cells < LEAST_CELLS_PER_RANK)
    snprintf(message, message_size,
             "the grid has %" PetscInt_FMT " cell%s along %c and needs at least %d; raise grid.resolution",
             cells, cells == 1 ? "" : "s", "xyz"[d], LEAST_CELLS_PER_RANK);
}

PetscErrorCode GridConfigCheck(const GridConfig *config, PetscMPIInt ranks, char message[],
                               size_t message_size)
{
  PetscInt  cells[DIM], layout[DIM];
  PetscBool fits;

  PetscFunctionBegin;
  message[0] = '\0';
  grid_config_cells(config, cells);
  for (PetscInt d = 0; d < config->dimension && !message[0]; d++)
    check_axis(config, d, cells[d], message, message_size);
  if (!message[0])
    check_numbers(config, cells, message, message_size);
  if (message[0])
    PetscFunctionReturn(0);
  box_process_grid(cells, config->dimension, ranks, layout, &fits);
  if (!fits)
    PetscCall(
        PetscSNPrintf(message, message_size,
                      "%d fluid ranks are too many for %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT
                      " cells: each needs %d in every direction; start fewer ranks or raise grid.resolution",
                      ranks, cells[X], cells[Y], cells[Z], LEAST_CELLS_PER_RANK));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateCellDM(MacGrid grid, const GridPartition *partition)
{
  const GridBox *box = &grid->box;
  PetscInt      *widths[DIM];
  DMBoundaryType boundary[DIM];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++) {
    PetscCall(PetscMalloc1(box->ranks[d], &widths[d]));
    for (PetscInt part = 0; part < box->ranks[d]; part++)
      widths[d][part] = partition->start[d][part + 1] - partition->start[d][part];
    boundary[d] = box->periodic[d] ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  }
  PetscCall(DMDACreate3d(grid->comm, boundary[X], boundary[Y], boundary[Z], DMDA_STENCIL_STAR, box->cells[X],
                         box->cells[Y], box->cells[Z], box->ranks[X], box->ranks[Y], box->ranks[Z], 1, 1,
                         widths[X], widths[Y], widths[Z], &grid->cell_dm));
  PetscCall(DMSetUp(grid->cell_dm));
  for (PetscInt d = 0; d < DIM; d++)
    PetscCall(PetscFree(widths[d]));
  PetscFunctionReturn(0);
}

PetscErrorCode MacGridCreateDivided(MPI_Comm comm, const GridConfig *config, const GridPartition *partition,
                                    MacGrid *grid)
{
  GridPartition even = {{0}, {NULL}};
  PetscInt      cells[DIM];
  PetscMPIInt   size;
  PetscBool     fits;
  const char   *complaint;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscNew(grid));
  (*grid)->comm = comm;
  (*grid)->origin = config->origin;
  (*grid)->spacing = config->size.at[X] / config->resolution;
  grid_config_cells(config, cells);
  if (!partition) {
    box_process_grid(cells, config->dimension, size, even.parts, &fits);
    PetscCheck(fits, comm, PETSC_ERR_USER_INPUT, "%d ranks are too many for this grid", size);
    PetscCall(GridPartitionCreateEven(cells, even.parts, &even));
    partition = &even;
  }
  complaint = grid_partition_complaint(cells, config->dimension, size, partition);
  PetscCheck(!complaint, comm, PETSC_ERR_ARG_WRONG, "The parts of the grid %s", complaint);
  PetscCall(GridBoxSetUp(comm, cells, config->dimension, config->periodic, partition, &(*grid)->box));
  PetscCall(CreateCellDM(*grid, partition));
  PetscCall(GridPartitionDestroy(&even));
  PetscFunctionReturn(0);
}

PetscErrorCode MacGridCreate(MPI_Comm comm, const GridConfig *config, MacGrid *grid)
{
  PetscMPIInt size;
  char        message[256];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(GridConfigCheck(config, size, message, sizeof(message)));
  PetscCheck(!message[0], comm, PETSC_ERR_USER_INPUT, "%s", message);
  PetscCall(MacGridCreateDivided(comm, config, NULL, grid));
  PetscFunctionReturn(0);
}

PetscErrorCode MacGridDestroy(MacGrid *grid)
{
  PetscFunctionBegin;
  if (!*grid)
    PetscFunctionReturn(0);
  PetscCall(DMDestroy(&(*grid)->cell_dm));
  PetscCall(PetscFree(*grid));
  PetscFunctionReturn(0);
}

const GridBox *grid_box(MacGrid grid)
{
  return &grid->box;
}

PetscReal grid_spacing(MacGrid grid)
{
  return grid->spacing;
}

Vector3 grid_origin(MacGrid grid)
{
  return grid->origin;
}

DM grid_cell_dm(MacGrid grid)
{
  return grid->cell_dm;
}

Vector3 grid_cell_centre(MacGrid grid, PetscInt i, PetscInt j, PetscInt k)
{
  const PetscReal h = grid->spacing;
  const PetscReal height = grid->box.dimension == 2 ? 0. : (k + 0.5) * h;

  return vector3_add(grid->origin, vector3((i + 0.5) * h, (j + 0.5) * h, height));
}

Vector3 grid_face_centre(MacGrid grid, PetscInt direction, PetscInt i, PetscInt j, PetscInt k)
{
  Vector3 point = grid_cell_centre(grid, i, j, k);

  point.at[direction] -= 0.5 * grid->spacing;
  return point;
}

GridRange grid_faces(MacGrid grid, PetscInt direction)
{
  const GridBox *box = &grid->box;
  GridRange      faces = box_grown(box, 0);

  if (box->end[direction] == box->cells[direction] && !box->periodic[direction])
    faces.end[direction]++;
  return faces;
}
