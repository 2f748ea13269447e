/* Frames for ParaView: an archive per frame, and what run.xmf says about it. */
#include "frames_impl.h"
#include <string.h>

/* Names become paths in HDF5 and attributes in XML. */
static PetscErrorCode CheckName(FrameSeries series, const char name[])
{
  PetscFunctionBegin;
  PetscCheck(name[0] && strlen(name) < FRAME_NAME_SIZE && !strpbrk(name, "/:<>&\"'. \n"), series->comm,
             PETSC_ERR_ARG_WRONG, "\"%s\" cannot be the name of a field or a mesh", name);
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteTriple(FrameSeries series, const char name[], const PetscInt cells[],
                                  const PetscReal values[])
{
  const PetscInt    mine = series->rank == 0 ? DIM : 0;
  const ArchivePart part = {1, {DIM}, {0}, {mine}};
  PetscInt64        integers[DIM];

  PetscFunctionBegin;
  if (values) {
    PetscCall(ArchiveWritePart(series->archive, name, &part, values));
    PetscFunctionReturn(0);
  }
  for (PetscInt d = 0; d < DIM; d++)
    integers[d] = cells[d];
  PetscCall(ArchiveWriteIntegers(series->archive, name, &part, integers));
  PetscFunctionReturn(0);
}

static PetscErrorCode DescribeGrid(FrameSeries series)
{
  const FrameConfig *grid = &series->config;

  PetscFunctionBegin;
  PetscCall(ArchiveEnter(series->archive, "grid"));
  PetscCall(ArchiveWriteInteger(series->archive, "dimension", grid->dimension));
  PetscCall(WriteTriple(series, "cells", grid->cells, NULL));
  PetscCall(WriteTriple(series, "origin", NULL, grid->origin.at));
  PetscCall(ArchiveWriteReal(series->archive, "spacing", grid->spacing));
  PetscCall(ArchiveLeave(series->archive));
  PetscCall(XdmfGrid(&series->grid, grid));
  PetscFunctionReturn(0);
}

PetscErrorCode FrameBegin(FrameSeries series, PetscInt index, PetscReal time)
{
  char name[64], path[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  PetscCheck(!series->archive, series->comm, PETSC_ERR_ORDER,
             "A frame is begun before the last one has ended");
  series->index = index;
  series->time = time;
  snprintf(name, sizeof(name), FRAME_FORMAT, index);
  PetscCall(JoinPath(series->directory, name, path));
  PetscCall(ArchiveCreate(series->comm, path, &series->archive));
  PetscCall(ArchiveWriteReal(series->archive, "time", time));
  PetscCall(ArchiveWriteInteger(series->archive, "frame", index));
  if (series->config.dimension)
    PetscCall(DescribeGrid(series));
  PetscCall(ArchiveSetStorage(series->archive, series->config.precision, FRAME_DEFLATE));
  PetscFunctionReturn(0);
}

PetscErrorCode FrameGetArchive(FrameSeries series, Archive *archive)
{
  PetscFunctionBegin;
  PetscCheck(series->archive, series->comm, PETSC_ERR_ORDER, "There is no frame being written");
  *archive = series->archive;
  PetscFunctionReturn(0);
}

/* Three space dimensions, slowest first, and one for the components of a vector. */
static ArchivePart grid_part(const FrameConfig *grid, PetscInt components, const PetscInt start[DIM],
                             const PetscInt count[DIM])
{
  ArchivePart part = {.rank = components > 1 ? DIM + 1 : DIM};

  for (PetscInt d = 0; d < DIM; d++) {
    part.global[d] = grid->cells[DIM - 1 - d];
    part.start[d] = start[DIM - 1 - d];
    part.count[d] = count[DIM - 1 - d];
  }
  part.global[DIM] = part.count[DIM] = components;
  return part;
}

/* The same without the first dimension, which has one cell in 2-D. */
static ArchivePart plane_part(const ArchivePart *part)
{
  ArchivePart plane = {.rank = part->rank - 1};

  for (PetscInt d = 0; d < plane.rank; d++) {
    plane.global[d] = part->global[d + 1];
    plane.start[d] = part->start[d + 1];
    plane.count[d] = part->count[0] ? part->count[d + 1] : 0;
  }
  return plane;
}

PetscBool frame_series_has(FrameSeries series, const char field[])
{
  PetscInt n = 0;

  while (n < series->config.field_count && strcmp(series->config.fields[n], field))
    n++;
  return !series->config.field_count || n < series->config.field_count ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode FrameWriteGridField(FrameSeries series, const char name[], PetscInt components,
                                   const PetscInt start[DIM], const PetscInt count[DIM],
                                   const PetscReal values[])
{
  const ArchivePart part = grid_part(&series->config, components, start, count);
  const ArchivePart plane = plane_part(&part);

  PetscFunctionBegin;
  PetscCall(CheckName(series, name));
  PetscCheck(series->archive && series->config.dimension, series->comm, PETSC_ERR_ORDER,
             "The field \"%s\" is written outside a frame or without a grid", name);
  PetscCheck(components == 1 || components == 3, series->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "\"%s\" must have 1 or 3 components, not %" PetscInt_FMT, name, components);
  if (!frame_series_has(series, name))
    PetscFunctionReturn(0);
  PetscCall(ArchiveEnter(series->archive, "grid"));
  PetscCall(ArchiveEnter(series->archive, "fields"));
  PetscCall(ArchiveWritePart(series->archive, name, series->config.dimension == 2 ? &plane : &part, values));
  PetscCall(ArchiveLeave(series->archive));
  PetscCall(ArchiveLeave(series->archive));
  PetscCall(XdmfAttribute(&series->grid, series, "grid/fields", name, FRAME_CELL, &part));
  PetscFunctionReturn(0);
}

/* How `count` rows of `width` values on each rank lie in one array. */
static PetscErrorCode LineUp(FrameSeries series, PetscInt count, PetscInt width, ArchivePart *part)
{
  PetscInt ends, total;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Scan(&count, &ends, 1, MPIU_INT, MPI_SUM, series->comm));
  PetscCallMPI(MPI_Allreduce(&count, &total, 1, MPIU_INT, MPI_SUM, series->comm));
  *part = (ArchivePart){2, {total, width}, {ends - count, 0}, {count, width}};
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteCells(FrameSeries series, const FrameMesh *mesh)
{
  const PetscInt count = mesh->cell_count * mesh->cell_size;
  PetscInt64    *cells;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, &cells));
  for (PetscInt i = 0; i < count; i++) {
    cells[i] = (PetscInt64)mesh->cells[i] + series->lines[FRAME_VERTEX].start[0];
  }
  PetscCall(ArchiveWriteIntegers(series->archive, "cells", &series->lines[FRAME_CELL], cells));
  PetscCall(PetscFree(cells));
  PetscFunctionReturn(0);
}

PetscErrorCode FrameBeginMesh(FrameSeries series, const FrameMesh *mesh)
{
  PetscFunctionBegin;
  PetscCall(CheckName(series, mesh->name));
  PetscCheck(series->archive && !series->mesh_name[0], series->comm, PETSC_ERR_ORDER,
             "The mesh \"%s\" is begun outside a frame or inside another mesh", mesh->name);
  PetscCheck(mesh->cell_size >= 1 && mesh->cell_size <= 4, series->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The mesh \"%s\" must have cells of 1 to 4 vertices, not %" PetscInt_FMT, mesh->name,
             mesh->cell_size);
  strcpy(series->mesh_name, mesh->name);
  PetscCall(LineUp(series, mesh->vertex_count, DIM, &series->lines[FRAME_VERTEX]));
  PetscCall(LineUp(series, mesh->cell_count, mesh->cell_size, &series->lines[FRAME_CELL]));
  PetscCall(ArchiveEnter(series->archive, "meshes"));
  PetscCall(ArchiveEnter(series->archive, mesh->name));
  /* positions stay doubles: small bodies far from the origin */
  PetscCall(ArchiveSetStorage(series->archive, ARCHIVE_DOUBLE, FRAME_DEFLATE));
  PetscCall(ArchiveWritePart(series->archive, "vertices", &series->lines[FRAME_VERTEX],
                             (const PetscReal *)mesh->vertices));
  PetscCall(ArchiveSetStorage(series->archive, series->config.precision, FRAME_DEFLATE));
  PetscCall(WriteCells(series, mesh));
  PetscCall(XdmfMesh(&series->mesh, series, &series->lines[FRAME_VERTEX], &series->lines[FRAME_CELL]));
  PetscFunctionReturn(0);
}

PetscErrorCode FrameWriteMeshField(FrameSeries series, const char name[], FrameLocation location,
                                   PetscInt components, const PetscReal values[])
{
  const char *groups[] = {"vertex_fields", "cell_fields"};
  char        group[FRAME_NAME_SIZE + 32];
  ArchivePart part = series->lines[location];

  PetscFunctionBegin;
  PetscCall(CheckName(series, name));
  PetscCheck(series->mesh_name[0], series->comm, PETSC_ERR_ORDER, "\"%s\" is written outside a mesh", name);
  PetscCheck(components == 1 || components == 3, series->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "\"%s\" must have 1 or 3 components, not %" PetscInt_FMT, name, components);
  part.rank = components == 1 ? 1 : 2;
  part.global[1] = part.count[1] = components;
  PetscCall(ArchiveEnter(series->archive, groups[location]));
  PetscCall(ArchiveWritePart(series->archive, name, &part, values));
  PetscCall(ArchiveLeave(series->archive));
  snprintf(group, sizeof(group), "meshes/%s/%s", series->mesh_name, groups[location]);
  PetscCall(XdmfAttribute(&series->mesh, series, group, name, location, &part));
  PetscFunctionReturn(0);
}

PetscErrorCode FrameEndMesh(FrameSeries series)
{
  PetscFunctionBegin;
  PetscCheck(series->mesh_name[0], series->comm, PETSC_ERR_ORDER, "No mesh has been begun");
  PetscCall(ArchiveLeave(series->archive));
  PetscCall(ArchiveLeave(series->archive));
  /* readers do not like grids without cells */
  if (series->lines[FRAME_CELL].global[0] > 0) {
    PetscCall(TextAppend(&series->meshes, "%s    </Grid>\n", series->mesh.data));
  }
  PetscCall(TextDestroy(&series->mesh));
  series->mesh_name[0] = '\0';
  PetscFunctionReturn(0);
}

PetscErrorCode FrameEnd(FrameSeries series, char message[], size_t message_size)
{
  Text member = {0};

  PetscFunctionBegin;
  PetscCheck(series->archive && !series->mesh_name[0], series->comm, PETSC_ERR_ORDER,
             "A frame ends that was not begun, or inside a mesh");
  PetscCall(XdmfMember(series, &member));
  PetscCall(ArchiveWriteText(series->archive, "xdmf", member.data));
  PetscCall(ArchiveTryCommit(&series->archive, message, message_size));
  if (!message[0])
    PetscCall(XdmfAddFrame(series, &member, message, message_size));
  PetscCall(TextDestroy(&member));
  PetscCall(TextDestroy(&series->grid));
  PetscCall(TextDestroy(&series->meshes));
  PetscFunctionReturn(0);
}
