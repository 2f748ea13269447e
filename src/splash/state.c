/* Splashing liquid in checkpoints and frames. */
#include "splash_impl.h"

PetscErrorCode SplashSave(Splash splash, Archive archive)
{
  PetscFunctionBegin;
  PetscCall(ArchiveEnter(archive, "splash"));
  PetscCall(ParticlesSave(splash->particles, "particles", archive));
  PetscCall(MacGridSaveField(splash->grid, "pressure", splash->pressure, archive));
  PetscCall(MacGridSaveField(splash->grid, "correction", splash->potential, archive));
  PetscCall(ArchiveLeave(archive));
  PetscFunctionReturn(0);
}

/* No particle is out of the box, and none faster than light. */
static PetscErrorCode CheckParticles(Splash splash, PetscInt64 stored, Archive archive)
{
  const PetscReal light = 3e8;
  PetscInt64      total;
  PetscInt        bad = 0;
  ParticleView    view;

  PetscFunctionBegin;
  PetscCall(ParticlesGetTotal(splash->particles, &total));
  PetscCall(ParticlesGetView(splash->particles, &view));
  for (PetscInt n = 0; n < view.count * splash->width; n++)
    bad += !(PetscAbsReal(view.values[n]) < light);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPIU_INT, MPI_SUM, grid_box(splash->grid)->comm));
  if (bad || total != stored)
    PetscCall(ArchiveRefuse(archive, "particles", "has particles outside the box or faster than light"));
  PetscFunctionReturn(0);
}

PetscErrorCode SplashLoad(Splash splash, Archive archive)
{
  ArchivePart stored = {0};

  PetscFunctionBegin;
  PetscCall(ArchiveEnter(archive, "splash"));
  PetscCall(ArchiveGetShape(archive, "particles/numbers", &stored));
  PetscCall(ParticlesLoad(splash->particles, "particles", archive));
  PetscCall(CheckParticles(splash, stored.global[0], archive));
  PetscCall(MacGridLoadField(splash->grid, "pressure", splash->pressure, archive));
  PetscCall(MacGridLoadField(splash->grid, "correction", splash->potential, archive));
  PetscCall(ArchiveLeave(archive));
  PetscCall(SplashRasterise(splash));
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteParticles(Splash splash, FrameSeries frames)
{
  ParticleView view;
  FrameMesh    mesh = {.name = "liquid", .cell_size = 1};
  PetscInt    *cells;
  PetscReal   *velocity;

  PetscFunctionBegin;
  PetscCall(ParticlesGetView(splash->particles, &view));
  PetscCall(PetscMalloc2(view.count, &cells, DIM * view.count, &velocity));
  for (PetscInt n = 0; n < view.count; n++) {
    cells[n] = n;
    for (PetscInt d = 0; d < DIM; d++)
      velocity[DIM * n + d] = view.values[n * splash->width + d];
  }
  mesh.vertex_count = mesh.cell_count = view.count;
  mesh.vertices = view.positions;
  mesh.cells = cells;
  PetscCall(FrameBeginMesh(frames, &mesh));
  PetscCall(FrameWriteMeshField(frames, "velocity", FRAME_VERTEX, DIM, velocity));
  PetscCall(FrameEndMesh(frames));
  PetscCall(PetscFree2(cells, velocity));
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteSurface(Splash splash, FrameSeries frames)
{
  FrameMesh   mesh = {.name = "surface", .cell_size = 3};
  ContourMesh surface;

  PetscFunctionBegin;
  PetscCall(SplashFindSurface(splash, splash->config->surface, &surface));
  mesh.vertex_count = surface.vertex_count;
  mesh.cell_count = surface.triangle_count;
  mesh.vertices = surface.vertices;
  mesh.cells = (const PetscInt *)surface.triangles;
  PetscCall(FrameBeginMesh(frames, &mesh));
  PetscCall(FrameEndMesh(frames));
  PetscCall(ContourDestroy(&surface));
  PetscFunctionReturn(0);
}

PetscErrorCode SplashWriteFrame(Splash splash, FrameSeries frames)
{
  PetscFunctionBegin;
  PetscCall(SplashRasterise(splash)); /* of the particles where they are now */
  PetscCall(MacGridWriteFrame(splash->grid, frames, "density", splash->density));
  PetscCall(MacGridWriteFrame(splash->grid, frames, "room", splash->room));
  PetscCall(MacGridWriteFrame(splash->grid, frames, "pressure", splash->pressure));
  PetscCall(WriteParticles(splash, frames));
  if (splash->config->surface)
    PetscCall(WriteSurface(splash, frames));
  PetscFunctionReturn(0);
}
