/* Writes a small run for the readers of tests/unit/xdmf.sh: frames_example DIRECTORY DIMENSION PRECISION
   FIRST.

   Fields are linear in space and time, so that a reader can check them anywhere:
   density = x + 10 y + 100 z + 1000 t, velocity = (x, y, t) at cell centres. A triangle strip rises with
   time, and at frame n there are 3 n particles. */
#include <millrace/io.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 3 };

/* Slabs along y, so that also a 2-D box is shared. */
static void share(const FrameConfig *config, PetscInt start[DIM], PetscInt count[DIM])
{
  PetscMPIInt rank, ranks;

  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  for (PetscInt d = 0; d < DIM; d++) {
    start[d] = 0;
    count[d] = config->cells[d];
  }
  start[Y] = config->cells[Y] * rank / ranks;
  count[Y] = config->cells[Y] * (rank + 1) / ranks - start[Y];
}

static PetscErrorCode WriteFields(FrameSeries series, const FrameConfig *config, PetscReal t)
{
  PetscInt   start[DIM], count[DIM], at = 0;
  PetscReal *density, *velocity;

  PetscFunctionBegin;
  share(config, start, count);
  PetscCall(
      PetscMalloc2(count[X] * count[Y] * count[Z], &density, 3 * count[X] * count[Y] * count[Z], &velocity));
  for (PetscInt k = start[Z]; k < start[Z] + count[Z]; k++) {
    for (PetscInt j = start[Y]; j < start[Y] + count[Y]; j++) {
      for (PetscInt i = start[X]; i < start[X] + count[X]; i++, at++) {
        const PetscReal x = config->origin.at[X] + (i + 0.5) * config->spacing;
        const PetscReal y = config->origin.at[Y] + (j + 0.5) * config->spacing;
        const PetscReal z = config->dimension == 2 ? 0 : config->origin.at[Z] + (k + 0.5) * config->spacing;

        density[at] = x + 10 * y + 100 * z + 1000 * t;
        velocity[3 * at] = x;
        velocity[3 * at + 1] = y;
        velocity[3 * at + 2] = t;
      }
    }
  }
  PetscCall(FrameWriteGridField(series, "density", 1, start, count, density));
  PetscCall(FrameWriteGridField(series, "velocity", 3, start, count, velocity));
  PetscCall(PetscFree2(density, velocity));
  PetscFunctionReturn(0);
}

/* Each rank has two triangles over [rank, rank + 1] x [0, 1]: area 1 per rank. */
static PetscErrorCode WriteStrip(FrameSeries series, PetscReal t)
{
  const PetscInt  cells[] = {0, 1, 2, 1, 3, 2};
  Vector3         vertices[4];
  PetscReal       heights[4], area[2] = {0.5, 0.5};
  const FrameMesh mesh = {"strip", 4, 2, 3, vertices, cells};
  PetscMPIInt     rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (int v = 0; v < 4; v++) {
    vertices[v] = vector3(rank + v % 2, v / 2, t);
    heights[v] = t;
  }
  PetscCall(FrameBeginMesh(series, &mesh));
  PetscCall(FrameWriteMeshField(series, "height", FRAME_VERTEX, 1, heights));
  PetscCall(FrameWriteMeshField(series, "area", FRAME_CELL, 1, area));
  PetscCall(FrameEndMesh(series));
  PetscFunctionReturn(0);
}

/* Each rank has one tetrahedron of volume 1/6. */
static PetscErrorCode WriteWedge(FrameSeries series)
{
  const PetscInt  cells[] = {0, 1, 2, 3};
  const PetscReal volume = 1. / 6.;
  Vector3         vertices[4];
  const FrameMesh mesh = {"wedge", 4, 1, 4, vertices, cells};
  PetscMPIInt     rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (int v = 0; v < 4; v++)
    vertices[v] = vector3(rank + (v == 1), v == 2, v == 3);
  PetscCall(FrameBeginMesh(series, &mesh));
  PetscCall(FrameWriteMeshField(series, "volume", FRAME_CELL, 1, &volume));
  PetscCall(FrameEndMesh(series));
  PetscFunctionReturn(0);
}

/* All on the last rank. */
static PetscErrorCode WriteParticles(FrameSeries series, PetscInt frame)
{
  Vector3     points[3 * FRAMES], velocities[3 * FRAMES];
  PetscInt    cells[3 * FRAMES];
  PetscMPIInt rank, ranks;
  FrameMesh   mesh = {"particles", 0, 0, 1, points, cells};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  for (PetscInt p = 0; p < 3 * frame; p++) {
    points[p] = vector3(p, 0.5, 0.25);
    velocities[p] = vector3(1, 2, p);
    cells[p] = p;
  }
  if (rank == ranks - 1)
    mesh.vertex_count = mesh.cell_count = 3 * frame;
  PetscCall(FrameBeginMesh(series, &mesh));
  PetscCall(FrameWriteMeshField(series, "velocity", FRAME_VERTEX, 3, &velocities[0].at[0]));
  PetscCall(FrameEndMesh(series));
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteFrames(const FrameConfig *config)
{
  char        message[1024];
  FrameSeries series;
  Archive     archive;

  PetscFunctionBegin;
  PetscCall(FrameSeriesCreate(PETSC_COMM_WORLD, config, &series, message, sizeof(message)));
  PetscCheck(series, PETSC_COMM_WORLD, PETSC_ERR_FILE_WRITE, "%s", message);
  for (PetscInt frame = config->first; frame < FRAMES; frame++) {
    const PetscReal t = 0.25 * frame;

    PetscCall(FrameBegin(series, frame, t));
    PetscCall(FrameGetArchive(series, &archive));
    PetscCall(ArchiveWriteText(archive, "title", "frames for readers"));
    PetscCall(WriteFields(series, config, t));
    PetscCall(WriteStrip(series, t));
    PetscCall(WriteWedge(series));
    PetscCall(WriteParticles(series, frame));
    PetscCall(FrameEnd(series, message, sizeof(message)));
    PetscCheck(!message[0], PETSC_COMM_WORLD, PETSC_ERR_FILE_WRITE, "%s", message);
  }
  PetscCall(FrameSeriesDestroy(&series));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  FrameConfig config = {.cells = {6, 5, 4}, .origin = {{1, 2, 3}}, .spacing = 0.5};

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCheck(argc == 5, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Four arguments, not %d", argc - 1);
  config.directory = argv[1];
  config.dimension = atoi(argv[2]);
  config.precision = strcmp(argv[3], "single") ? ARCHIVE_DOUBLE : ARCHIVE_SINGLE;
  config.first = atoi(argv[4]);
  if (config.dimension == 2)
    config.cells[Z] = 1;
  PetscCall(WriteFrames(&config));
  PetscCall(PetscFinalize());
  return 0;
}
