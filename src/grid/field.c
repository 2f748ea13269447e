/* Fields on the grid: their life, ghosts, divergence, and their way into solver vectors and archives. */
#include "grid_impl.h"

PetscErrorCode MacGridCreateField(MacGrid grid, Vec *field)
{
  PetscFunctionBegin;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, grid->box.length, field));
  PetscFunctionReturn(0);
}

PetscErrorCode MacGridCreateFaceField(MacGrid grid, Vec faces[DIM])
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++) {
    faces[d] = NULL;
    if (d < grid->box.dimension)
      PetscCall(MacGridCreateField(grid, &faces[d]));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode MacGridDestroyFaceField(Vec faces[DIM])
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++)
    PetscCall(VecDestroy(&faces[d]));
  PetscFunctionReturn(0);
}

PetscErrorCode MacGridGetFaces(MacGrid grid, Vec faces[DIM], PetscReal *values[DIM])
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++) {
    values[d] = NULL;
    if (d < grid->box.dimension)
      PetscCall(VecGetArray(faces[d], &values[d]));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode MacGridRestoreFaces(MacGrid grid, Vec faces[DIM], PetscReal *values[DIM])
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid->box.dimension; d++)
    PetscCall(VecRestoreArray(faces[d], &values[d]));
  PetscFunctionReturn(0);
}

PetscErrorCode MacGridExchange(MacGrid grid, Vec field)
{
  PetscReal *values;

  PetscFunctionBegin;
  PetscCall(VecGetArray(field, &values));
  PetscCall(GridBoxExchange(&grid->box, 1, &values));
  PetscCall(VecRestoreArray(field, &values));
  PetscFunctionReturn(0);
}

PetscErrorCode MacGridExchangeFaces(MacGrid grid, Vec faces[DIM])
{
  PetscReal *values[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(grid, faces, values));
  PetscCall(GridBoxExchange(&grid->box, grid->box.dimension, values));
  PetscCall(MacGridRestoreFaces(grid, faces, values));
  PetscFunctionReturn(0);
}

/* Mirrors first: the exchange carries layers beyond the sides along. */
PetscErrorCode MacGridMirrorGhosts(MacGrid grid, Vec field)
{
  const GridBox *box = &grid->box;
  PetscReal     *value;

  PetscFunctionBegin;
  PetscCall(VecGetArray(field, &value));
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++)
      if (box->neighbour[d][side] == MPI_PROC_NULL)
        box_mirror_side(box, d, side, value);
  PetscCall(VecRestoreArray(field, &value));
  PetscCall(MacGridExchange(grid, field));
  PetscFunctionReturn(0);
}

PetscErrorCode MacGridReduceGhosts(MacGrid grid, Vec field, MPI_Op operation)
{
  PetscReal *values;

  PetscFunctionBegin;
  PetscCall(VecGetArray(field, &values));
  PetscCall(GridBoxReduce(&grid->box, 1, &values, operation));
  PetscCall(VecRestoreArray(field, &values));
  PetscFunctionReturn(0);
}

typedef enum { PACK, UNPACK } PackDirection;

/* Copies rows of x between a ghosted field and the owned values packed tightly. */
static void copy_owned(const GridBox *box, const GridRange *owned, PetscReal *field, PetscReal *packed,
                       PackDirection way)
{
  const PetscInt width = owned->end[X] - owned->start[X];

  FOR_ROWS(owned, j, k) {
    PetscReal *row = field + box_index(box, owned->start[X], j, k);

    if (way == PACK)
      memcpy(packed, row, width * sizeof(*row));
    else
      memcpy(row, packed, width * sizeof(*row));
    packed += width;
  }
}

static PetscErrorCode CopySolver(MacGrid grid, Vec field, Vec solver, PackDirection way)
{
  const GridRange owned = box_grown(&grid->box, 0);
  PetscReal      *values, *packed;

  PetscFunctionBegin;
  PetscCall(VecGetArray(field, &values));
  PetscCall(VecGetArray(solver, &packed));
  copy_owned(&grid->box, &owned, values, packed, way);
  PetscCall(VecRestoreArray(solver, &packed));
  PetscCall(VecRestoreArray(field, &values));
  PetscFunctionReturn(0);
}

PetscErrorCode MacGridToSolver(MacGrid grid, Vec field, Vec solver)
{
  PetscFunctionBegin;
  PetscCall(CopySolver(grid, field, solver, PACK));
  PetscFunctionReturn(0);
}

PetscErrorCode MacGridFromSolver(MacGrid grid, Vec solver, Vec field)
{
  PetscFunctionBegin;
  PetscCall(CopySolver(grid, field, solver, UNPACK));
  PetscFunctionReturn(0);
}

static inline PetscReal cell_outflow(const GridBox *box, PetscReal *const u[DIM], PetscInt c)
{
  PetscReal outflow = 0.;

  for (PetscInt d = 0; d < box->dimension; d++)
    outflow += u[d][c + box->stride[d]] - u[d][c];
  return outflow;
}

PetscErrorCode MacGridDivergence(MacGrid grid, Vec faces[DIM], Vec divergence)
{
  const GridBox *box = &grid->box;
  PetscReal     *u[DIM], *result;

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(grid, faces, u));
  PetscCall(VecGetArray(divergence, &result));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    result[c] = cell_outflow(box, u, c) / grid->spacing;
  }
  PetscCall(VecRestoreArray(divergence, &result));
  PetscCall(MacGridRestoreFaces(grid, faces, u));
  PetscFunctionReturn(0);
}

enum { CELLS = -1 }; /* in place of the direction of faces */

/* The owned cells, or faces of one direction, as an archive sees them. */
static ArchivePart owned_part(const GridBox *box, const GridRange *owned, PetscInt direction)
{
  ArchivePart part = {.rank = DIM};

  for (PetscInt d = 0; d < DIM; d++) {
    const PetscInt slot = DIM - 1 - d;

    part.global[slot] = box->cells[d] + (d == direction && !box->periodic[d] ? 1 : 0);
    part.start[slot] = box->start[d];
    part.count[slot] = owned->end[d] - box->start[d];
  }
  return part;
}

static PetscErrorCode TransferField(MacGrid grid, const char name[], PetscInt direction, Vec field,
                                    Archive archive, PackDirection way)
{
  const GridBox  *box = &grid->box;
  const GridRange owned = direction == CELLS ? box_grown(box, 0) : grid_faces(grid, direction);
  PetscReal      *values, *packed;
  ArchivePart     part;

  PetscFunctionBegin;
  part = owned_part(box, &owned, direction);
  PetscCall(PetscMalloc1(part.count[0] * part.count[1] * part.count[2], &packed));
  PetscCall(VecGetArray(field, &values));
  if (way == PACK) {
    copy_owned(box, &owned, values, packed, PACK);
    PetscCall(ArchiveWritePart(archive, name, &part, packed));
  } else {
    PetscCall(ArchiveReadPart(archive, name, &part, packed));
    copy_owned(box, &owned, values, packed, UNPACK);
  }
  PetscCall(VecRestoreArray(field, &values));
  PetscCall(PetscFree(packed));
  PetscFunctionReturn(0);
}

PetscErrorCode MacGridSaveField(MacGrid grid, const char name[], Vec field, Archive archive)
{
  PetscFunctionBegin;
  PetscCall(TransferField(grid, name, CELLS, field, archive, PACK));
  PetscFunctionReturn(0);
}

PetscErrorCode MacGridWriteFrame(MacGrid grid, FrameSeries frames, const char name[], Vec field)
{
  const GridBox   *box = grid_box(grid);
  const PetscReal *value;
  PetscReal       *buffer, *next;
  PetscInt         count[DIM];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++)
    count[d] = box->end[d] - box->start[d];
  PetscCall(PetscMalloc1(count[X] * count[Y] * count[Z], &buffer));
  PetscCall(VecGetArrayRead(field, &value));
  next = buffer;
  FOR_ROWS(box, j, k) {
    PetscCall(PetscArraycpy(next, value + box_index(box, box->start[X], j, k), count[X]));
    next += count[X];
  }
  PetscCall(VecRestoreArrayRead(field, &value));
  PetscCall(FrameWriteGridField(frames, name, 1, box->start, count, buffer));
  PetscCall(PetscFree(buffer));
  PetscFunctionReturn(0);
}

PetscErrorCode MacGridLoadField(MacGrid grid, const char name[], Vec field, Archive archive)
{
  PetscFunctionBegin;
  PetscCall(TransferField(grid, name, CELLS, field, archive, UNPACK));
  PetscFunctionReturn(0);
}

static PetscErrorCode TransferFaces(MacGrid grid, const char name[], Vec faces[DIM], Archive archive,
                                    PackDirection way)
{
  char component[128];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid->box.dimension; d++) {
    PetscCall(PetscSNPrintf(component, sizeof(component), "%s_%c", name, "xyz"[d]));
    PetscCall(TransferField(grid, component, d, faces[d], archive, way));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode MacGridSaveFaces(MacGrid grid, const char name[], Vec faces[DIM], Archive archive)
{
  PetscFunctionBegin;
  PetscCall(TransferFaces(grid, name, faces, archive, PACK));
  PetscFunctionReturn(0);
}

PetscErrorCode MacGridLoadFaces(MacGrid grid, const char name[], Vec faces[DIM], Archive archive)
{
  PetscFunctionBegin;
  PetscCall(TransferFaces(grid, name, faces, archive, UNPACK));
  PetscFunctionReturn(0);
}

PetscErrorCode MacGridCheckField(MacGrid grid, Vec field, const char name[])
{
  const GridBox   *box = grid_box(grid);
  const PetscReal *value, *valid;
  PetscInt         wrong[2] = {0, 0}; /* not finite; of another rank's cells, and not as there */
  Vec              copy;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(field, &copy));
  PetscCall(VecCopy(field, copy));
  PetscCall(MacGridExchange(grid, copy));
  PetscCall(VecGetArrayRead(field, &value));
  PetscCall(VecGetArrayRead(copy, &valid));
  FOR_CELLS(box, i, j, k)
    wrong[0] += PetscIsInfOrNanReal(value[box_index(box, i, j, k)]);
  for (PetscInt c = 0; c < box->length; c++)
    wrong[1] += value[c] != valid[c] && !PetscIsInfOrNanReal(valid[c]);
  PetscCall(VecRestoreArrayRead(copy, &valid));
  PetscCall(VecRestoreArrayRead(field, &value));
  PetscCall(VecDestroy(&copy));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, wrong, 2, MPIU_INT, MPI_SUM, box->comm));
  PetscCheck(!wrong[0], box->comm, PETSC_ERR_PLIB, "%s is not finite in %" PetscInt_FMT " places", name,
             wrong[0]);
  PetscCheck(!wrong[1], box->comm, PETSC_ERR_PLIB,
             "%s has %" PetscInt_FMT " ghosts that are not as on the rank that owns them", name, wrong[1]);
  PetscFunctionReturn(0);
}
