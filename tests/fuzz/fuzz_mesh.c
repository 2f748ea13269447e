/* libFuzzer's target: any bytes must be read as a mesh or surface, or refused with a message, never crash. A
   file of Gmsh is read for elements of every kind, others as OBJ, PLY and STL. Run by `make fuzz`. */
#include <millrace/mesh.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char message[1024];

static void require(PetscErrorCode error)
{
  if (error)
    abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc;
  (void)argv;
  require(PetscInitializeNoArguments());
  return 0;
}

static void write_file(const char path[], const uint8_t *data, size_t size)
{
  FILE *file = fopen(path, "wb");

  if (!file || fwrite(data, 1, size, file) != size || fclose(file))
    abort();
}

static void expect_message(const void *result)
{
  if ((result == NULL) != (message[0] != '\0'))
    abort();
}

/* What every mesh is asked before it is used. */
static void use_mesh(Mesh mesh)
{
  MeshFault    fault;
  MeshBoundary boundary;

  require(MeshCheck(mesh, MESH_IN_SPACE, &fault, message, sizeof message));
  if ((fault == MESH_SOUND) != (message[0] == '\0'))
    abort();
  require(MeshFindBoundary(mesh, &boundary));
  require(MeshBoundaryDestroy(&boundary));
  require(MeshDestroy(&mesh));
}

static void read_gmsh(const uint8_t *data, size_t size)
{
  write_file("fuzzed.msh", data, size);
  for (int kind = MESH_POINTS; kind <= MESH_TETRAHEDRA; kind++) {
    Mesh mesh;

    require(MeshReadGmsh("fuzzed.msh", (MeshKind)kind, &mesh, message, sizeof message));
    expect_message(mesh);
    if (mesh)
      use_mesh(mesh);
  }
}

static void read_surface(const char path[], const uint8_t *data, size_t size)
{
  write_file(path, data, size);
  for (int demand = SURFACE_CLOSED; demand <= SURFACE_ANY; demand++) {
    Surface surface;

    require(SurfaceRead(path, (SurfaceDemand)demand, &surface, message, sizeof message));
    expect_message(surface);
    require(SurfaceDestroy(&surface));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size > 0 && data[0] == '$') {
    read_gmsh(data, size);
    return 0;
  }
  if (size > 2 && !memcmp(data, "ply", 3)) {
    read_surface("fuzzed.ply", data, size);
    return 0;
  }
  read_surface("fuzzed.obj", data, size);
  read_surface("fuzzed.stl", data, size);
  return 0;
}
