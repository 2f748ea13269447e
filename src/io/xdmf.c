/* run.xmf: Temporal(Spatial(fluid, meshes)), replaced as a whole after each frame, so that it is valid at any
   moment. A restart takes its members back from the file. */
#include "frames_impl.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char head[] = "<?xml version=\"1.0\" ?>\n"
                           "<!DOCTYPE Xdmf SYSTEM \"Xdmf.dtd\" []>\n"
                           "<Xdmf Version=\"3.0\">\n"
                           " <Domain>\n"
                           "  <Grid Name=\"run\" GridType=\"Collection\" CollectionType=\"Temporal\">\n";
static const char tail[] = "  </Grid>\n"
                           " </Domain>\n"
                           "</Xdmf>\n";
static const char member_start[] = "   <Grid Name=\"frame-";
static const char member_end[] = "\n   </Grid>\n";

/* Also in 2-D three axes, with one layer of cells: ParaView turns a 2DCoRectMesh into the y-z plane. */
PetscErrorCode XdmfGrid(Text *text, const FrameConfig *grid)
{
  PetscFunctionBegin;
  PetscCall(TextAppend(text,
                       "    <Grid Name=\"fluid\" GridType=\"Uniform\">\n"
                       "     <Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"%" PetscInt_FMT
                       " %" PetscInt_FMT " %" PetscInt_FMT "\"/>\n"
                       "     <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n",
                       grid->cells[Z] + 1, grid->cells[Y] + 1, grid->cells[X] + 1));
  for (int row = 0; row < 2; row++) {
    const Vector3 triple = row ? vector3(grid->spacing, grid->spacing, grid->spacing) : grid->origin;

    PetscCall(TextAppend(text,
                         "      <DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" "
                         "Format=\"XML\">%.17g %.17g %.17g</DataItem>\n",
                         triple.at[Z], triple.at[Y], triple.at[X]));
  }
  PetscCall(TextAppend(text, "     </Geometry>\n"));
  PetscFunctionReturn(0);
}

/* A dataset of the frame being written. */
static PetscErrorCode DataItem(Text *text, FrameSeries series, const ArchivePart *part, const char kind[],
                               const char dataset[])
{
  char name[64];

  PetscFunctionBegin;
  snprintf(name, sizeof(name), FRAME_FORMAT, series->index);
  PetscCall(TextAppend(text, "      <DataItem Dimensions=\""));
  for (PetscInt d = 0; d < part->rank; d++) {
    PetscCall(TextAppend(text, "%" PetscInt_FMT "%s", part->global[d], d + 1 < part->rank ? " " : "\" "));
  }
  PetscCall(TextAppend(text, "%s Format=\"HDF\">%s:/%s</DataItem>\n", kind, name, dataset));
  PetscFunctionReturn(0);
}

PetscErrorCode XdmfMesh(Text *text, FrameSeries series, const ArchivePart *vertices, const ArchivePart *cells)
{
  const char *const kinds[] = {"Polyvertex\" NodesPerElement=\"1", "Polyline\" NodesPerElement=\"2",
                               "Triangle", "Tetrahedron"};
  const char       *kind = kinds[cells->global[1] - 1];
  char              dataset[FRAME_NAME_SIZE + 32];

  PetscFunctionBegin;
  PetscCall(TextAppend(text,
                       "    <Grid Name=\"%s\" GridType=\"Uniform\">\n"
                       "     <Topology TopologyType=\"%s\" NumberOfElements=\"%" PetscInt_FMT "\">\n",
                       series->mesh_name, kind, cells->global[0]));
  snprintf(dataset, sizeof(dataset), "meshes/%s/cells", series->mesh_name);
  PetscCall(DataItem(text, series, cells, "NumberType=\"Int\" Precision=\"8\"", dataset));
  PetscCall(TextAppend(text, "     </Topology>\n     <Geometry GeometryType=\"XYZ\">\n"));
  snprintf(dataset, sizeof(dataset), "meshes/%s/vertices", series->mesh_name);
  PetscCall(DataItem(text, series, vertices, "NumberType=\"Float\" Precision=\"8\"", dataset));
  PetscCall(TextAppend(text, "     </Geometry>\n"));
  PetscFunctionReturn(0);
}

PetscErrorCode XdmfAttribute(Text *text, FrameSeries series, const char group[], const char name[],
                             FrameLocation location, const ArchivePart *part)
{
  /* scalars have rank 3 on the grid and 1 on meshes; components add one */
  const PetscBool vector = part->rank % 2 == 0 ? PETSC_TRUE : PETSC_FALSE;
  const PetscBool twice = series->config.precision == ARCHIVE_DOUBLE ? PETSC_TRUE : PETSC_FALSE;
  char            dataset[3 * FRAME_NAME_SIZE];

  PetscFunctionBegin;
  PetscCall(TextAppend(text, "     <Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"%s\">\n", name,
                       vector ? "Vector" : "Scalar", location == FRAME_CELL ? "Cell" : "Node"));
  snprintf(dataset, sizeof(dataset), "%s/%s", group, name);
  PetscCall(DataItem(text, series, part,
                     twice ? "NumberType=\"Float\" Precision=\"8\"" : "NumberType=\"Float\" Precision=\"4\"",
                     dataset));
  PetscCall(TextAppend(text, "     </Attribute>\n"));
  PetscFunctionReturn(0);
}

/* `*problem` is an errno. Without frames there is nothing a reader could open. */
static PetscErrorCode WriteIndex(FrameSeries series, int *problem)
{
  char path[PETSC_MAX_PATH_LEN];
  Text text = {0};

  PetscFunctionBegin;
  PetscCall(JoinPath(series->directory, "run.xmf", path));
  *problem = 0;
  if (series->members.length == 0) {
    unlink(path);
    PetscFunctionReturn(0);
  }
  PetscCall(TextAppend(&text, "%s%s%s", head, series->members.data, tail));
  *problem = write_file_atomically(path, text.data, text.length);
  PetscCall(TextDestroy(&text));
  PetscFunctionReturn(0);
}

PetscErrorCode XdmfMember(FrameSeries series, Text *member)
{
  PetscFunctionBegin;
  PetscCall(TextAppend(member,
                       "%s%06" PetscInt_FMT "\" GridType=\"Collection\" CollectionType=\"Spatial\">\n",
                       member_start, series->index));
  PetscCall(TextAppend(member, "    <Time Value=\"%.17g\"/>\n", series->time));
  if (series->grid.length)
    PetscCall(TextAppend(member, "%s    </Grid>\n", series->grid.data));
  if (series->meshes.length)
    PetscCall(TextAppend(member, "%s", series->meshes.data));
  PetscCall(TextAppend(member, "%s", member_end + 1));
  PetscFunctionReturn(0);
}

PetscErrorCode XdmfAddFrame(FrameSeries series, const Text *member, char message[], size_t message_size)
{
  int problem = 0;

  PetscFunctionBegin;
  if (series->rank == 0) {
    PetscCall(TextAppend(&series->members, "%s", member->data));
    PetscCall(WriteIndex(series, &problem));
  }
  PetscCallMPI(MPI_Bcast(&problem, 1, MPI_INT, 0, series->comm));
  if (problem) {
    PetscCall(PetscSNPrintf(message, message_size, "%s/run.xmf cannot be written: %s", series->directory,
                            strerror(problem)));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode FramePath(const char directory[], PetscInt index, char path[])
{
  char name[64];

  PetscFunctionBegin;
  snprintf(name, sizeof(name), FRAME_FORMAT, index);
  PetscCall(JoinPath(directory, name, path));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadMember(Archive archive, void *context)
{
  PetscFunctionBegin;
  PetscCall(ArchiveReadText(archive, "xdmf", context));
  PetscFunctionReturn(0);
}

/* The member of a frame that run.xmf does not list, from the frame itself. */
static PetscErrorCode RescueMember(FrameSeries series, PetscInt index)
{
  char    path[PETSC_MAX_PATH_LEN], start[sizeof(member_start) + 16], message[MESSAGE_SIZE];
  char   *member = NULL;
  Archive archive;

  PetscFunctionBegin;
  PetscCall(FramePath(series->directory, index, path));
  if (access(path, F_OK))
    PetscFunctionReturn(0);
  snprintf(start, sizeof(start), "%s%06" PetscInt_FMT "\"", member_start, index);
  PetscCall(ArchiveOpen(PETSC_COMM_SELF, path, &archive, message, sizeof(message)));
  if (archive)
    PetscCall(ArchiveTry(archive, ReadMember, &member, message, sizeof(message)));
  if (!message[0] && strncmp(member, start, strlen(start)))
    snprintf(message, sizeof(message), "%.400s is another frame", path);
  if (!message[0])
    PetscCall(TextAppend(&series->members, "%s", member));
  else
    fprintf(stderr, "millrace: warning: run.xmf cannot list a frame again: %s\n", message);
  PetscCall(PetscFree(member));
  PetscCall(ArchiveDestroy(&archive));
  PetscFunctionReturn(0);
}

/* The members of run.xmf before the first frame to come whose archives are still there; those that it has
   lost are made anew. */
static PetscErrorCode KeepMembers(FrameSeries series)
{
  Text     old = {0};
  char    *at, *end, path[PETSC_MAX_PATH_LEN];
  PetscInt next = 0;

  PetscFunctionBegin;
  PetscCall(JoinPath(series->directory, "run.xmf", path));
  PetscCall(TextRead(&old, path));
  at = old.data ? strstr(old.data, member_start) : NULL;
  while (at && (end = strstr(at, member_end))) {
    const PetscInt index = (PetscInt)strtol(at + sizeof(member_start) - 1, NULL, 10);

    end += sizeof(member_end) - 1;
    for (; next < PetscMin(index, series->config.first); next++)
      PetscCall(RescueMember(series, next));
    PetscCall(FramePath(series->directory, index, path));
    if (index == next && next < series->config.first) {
      next++;
      if (!access(path, R_OK))
        PetscCall(TextAppend(&series->members, "%.*s", (int)(end - at), at));
    }
    at = strstr(end, member_start);
  }
  for (; next < series->config.first; next++)
    PetscCall(RescueMember(series, next));
  PetscCall(TextDestroy(&old));
  PetscFunctionReturn(0);
}

static void remove_later(const char directory[], const char name[], void *context)
{
  const PetscInt *first = context;
  char            path[PETSC_MAX_PATH_LEN];

  if (number_in_name(name, "frame-", FRAME_DIGITS, ".h5") < *first)
    return;
  if (snprintf(path, sizeof(path), "%s/%s", directory, name) < (int)sizeof(path))
    unlink(path);
}

static PetscErrorCode ReadTime(Archive archive, void *context)
{
  PetscFunctionBegin;
  PetscCall(ArchiveReadReal(archive, "time", context));
  PetscFunctionReturn(0);
}

/* The first to be dropped is the earliest. One that cannot be read is no loss. */
PetscErrorCode FrameSeriesCheck(MPI_Comm comm, const FrameConfig *config, PetscReal time, char message[],
                                size_t message_size)
{
  char        path[PETSC_MAX_PATH_LEN], problem[MESSAGE_SIZE];
  PetscReal   dropped;
  PetscMPIInt rank;
  Archive     archive;

  PetscFunctionBegin;
  message[0] = '\0';
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) {
    PetscCall(FramePath(config->directory, config->first, path));
    PetscCall(ArchiveOpen(PETSC_COMM_SELF, path, &archive, problem, sizeof(problem)));
    if (archive)
      PetscCall(ArchiveTry(archive, ReadTime, &dropped, problem, sizeof(problem)));
    if (!problem[0] && dropped <= time)
      snprintf(message, message_size,
               "%s, of t = %g s, is not later than the checkpoint (t = %g s), which counts %" PetscInt_FMT
               " frames before it",
               path, (double)dropped, (double)time, config->first);
    PetscCall(ArchiveDestroy(&archive));
  }
  PetscCallMPI(MPI_Bcast(message, (PetscMPIInt)message_size, MPI_CHAR, 0, comm));
  PetscFunctionReturn(0);
}

PetscErrorCode FrameSeriesCreate(MPI_Comm comm, const FrameConfig *config, FrameSeries *series,
                                 char message[], size_t message_size)
{
  char        frames[PETSC_MAX_PATH_LEN];
  int         problem = 0;
  FrameSeries s;

  PetscFunctionBegin;
  message[0] = '\0';
  PetscCall(PetscNew(series));
  s = *series;
  s->comm = comm;
  s->config = *config;
  PetscCallMPI(MPI_Comm_rank(comm, &s->rank));
  PetscCall(PetscStrncpy(s->directory, config->directory, sizeof(s->directory)));
  PetscCall(JoinPath(s->directory, "frames", frames));
  if (s->rank == 0) {
    problem = make_directories(frames);
    if (!problem)
      PetscCall(KeepMembers(s));
    if (!problem)
      PetscCall(WriteIndex(s, &problem));
    /* only when nothing lists them any more */
    if (!problem)
      visit_names(frames, "frame-", ".h5", remove_later, &s->config.first);
  }
  PetscCallMPI(MPI_Bcast(&problem, 1, MPI_INT, 0, comm));
  if (problem) {
    PetscCall(PetscSNPrintf(message, message_size, "Frames cannot be written to %s: %s", s->directory,
                            strerror(problem)));
    PetscCall(FrameSeriesDestroy(series));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode FrameSeriesDestroy(FrameSeries *series)
{
  PetscFunctionBegin;
  if (!*series)
    PetscFunctionReturn(0);
  PetscCall(ArchiveDestroy(&(*series)->archive));
  PetscCall(TextDestroy(&(*series)->members));
  PetscCall(TextDestroy(&(*series)->grid));
  PetscCall(TextDestroy(&(*series)->meshes));
  PetscCall(TextDestroy(&(*series)->mesh));
  PetscCall(PetscFree(*series));
  PetscFunctionReturn(0);
}

MPI_Comm frame_series_comm(FrameSeries series)
{
  return series->comm;
}
