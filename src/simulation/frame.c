/* A frame: the fluid's fields at cell centres (velocity, pressure, vorticity, obstacles and scalars) and the
   bodies. */
#include "simulation_impl.h"

#include <millrace/sampling.h>

typedef PetscReal (*CellValue)(const GridBox *box, PetscReal *const u[DIM], PetscInt d, PetscInt c);

static PetscErrorCode WriteOwned(Simulation simulation, FrameSeries frames, const char name[],
                                 PetscInt components, const PetscReal values[])
{
  const GridBox *box = grid_box(simulation->grid);
  PetscInt       count[DIM];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++)
    count[d] = box->end[d] - box->start[d];
  PetscCall(FrameWriteGridField(frames, name, components, box->start, count, values));
  PetscFunctionReturn(0);
}

/* A vector made from the face velocities around each cell, times `factor`. */
static PetscErrorCode WriteVector(Simulation simulation, FrameSeries frames, const char name[],
                                  CellValue value, PetscReal factor, PetscReal buffer[])
{
  const GridBox *box = grid_box(simulation->grid);
  PetscReal     *u[DIM], *next = buffer;
  Vec           *velocity, joined[DIM] = {NULL, NULL, NULL};

  PetscFunctionBegin;
  if (!frame_series_has(frames, name))
    PetscFunctionReturn(0);
  PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
  if (simulation->gas) {
    PetscCall(MacGridCreateFaceField(simulation->grid, joined));
    PetscCall(SimulationJoinVelocities(simulation, joined));
    velocity = joined;
  }
  PetscCall(MacGridGetFaces(simulation->grid, velocity, u));
  FOR_CELLS(box, i, j, k)
    for (PetscInt d = 0; d < DIM; d++)
      *next++ = factor * value(box, u, d, box_index(box, i, j, k));
  PetscCall(MacGridRestoreFaces(simulation->grid, velocity, u));
  PetscCall(MacGridDestroyFaceField(joined));
  PetscCall(WriteOwned(simulation, frames, name, DIM, buffer));
  PetscFunctionReturn(0);
}

/* 1 in every solid cell, whichever obstacle or body it belongs to. */
static PetscErrorCode WriteSolid(Simulation simulation, FrameSeries frames, PetscReal buffer[])
{
  const GridBox   *box = grid_box(simulation->grid);
  const Vec        covered = simulation_covered(simulation);
  const PetscReal *number;
  PetscReal       *next = buffer;

  PetscFunctionBegin;
  if (!covered)
    PetscFunctionReturn(0);
  PetscCall(VecGetArrayRead(covered, &number));
  FOR_CELLS(box, i, j, k)
    *next++ = cell_cover(number[box_index(box, i, j, k)]).kind == CELL_WALL ? 1. : 0.;
  PetscCall(VecRestoreArrayRead(covered, &number));
  PetscCall(WriteOwned(simulation, frames, "solid", 1, buffer));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationWriteFields(Simulation simulation, FrameSeries frames)
{
  const FluidConfig *config = &simulation->config->fluid;
  const GridBox     *box = grid_box(simulation->grid);
  PetscReal         *buffer;
  Vec                pressure, *scalars;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((PetscInt)DIM * box->length, &buffer));
  PetscCall(WriteVector(simulation, frames, "velocity", centred_velocity, 1., buffer));
  PetscCall(WriteVector(simulation, frames, "vorticity", centred_vorticity,
                        0.5 / grid_spacing(simulation->grid), buffer));
  PetscCall(FluidGetPressure(simulation->fluid, &pressure));
  PetscCall(MacGridWriteFrame(simulation->grid, frames, "pressure", pressure));
  PetscCall(WriteSolid(simulation, frames, buffer));
  PetscCall(FluidGetScalars(simulation_carrier(simulation), &scalars));
  for (PetscInt s = 0; s < config->scalar_count; s++)
    PetscCall(MacGridWriteFrame(simulation->grid, frames, config->scalars[s].name, scalars[s]));
  PetscCall(PetscFree(buffer));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationWriteFrame(Simulation simulation, FrameSeries frames, PetscInt number,
                                    const char scene_text[], char message[], size_t message_size)
{
  PetscBool looks;
  Archive   archive;

  PetscFunctionBegin;
  PetscCall(SimulationLookAhead(simulation, &looks));
  PetscCall(FrameBegin(frames, number, simulation->time));
  PetscCall(FrameGetArchive(frames, &archive));
  PetscCall(ArchiveWriteInteger(archive, "step", simulation->step));
  PetscCall(ArchiveWriteText(archive, "title", simulation->config->title));
  PetscCall(ArchiveWriteText(archive, "scene", scene_text));
  PetscCall(PartsWriteFrame(simulation, frames));
  PetscCall(FrameEnd(frames, message, message_size));
  PetscCall(SimulationLookBack(simulation, looks));
  PetscFunctionReturn(0);
}
