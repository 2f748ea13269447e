/* The values that shells are near, found once for the trajectories of a step, and what becomes of them. */
#include "look.h"

typedef struct {
  PetscInt  count, room;
  Look     *looks;
  PetscInt  plain_count, plain_room;
  PetscInt *plain; /* places without a correction, in addition */
} Looks;

struct _p_Sighting {
  Looks looks[DIM + 1]; /* by direction; cells last */
  Kept  kept;
};

static PetscErrorCode AddLook(Looks *looks, Look look)
{
  PetscFunctionBegin;
  PetscCall(GrowList(looks->count, &looks->room, &looks->looks));
  looks->looks[looks->count++] = look;
  PetscFunctionReturn(0);
}

static PetscErrorCode AddPlain(Looks *looks, PetscInt place)
{
  PetscFunctionBegin;
  PetscCall(GrowList(looks->plain_count, &looks->plain_room, &looks->plain));
  looks->plain[looks->plain_count++] = place;
  PetscFunctionReturn(0);
}

static Looks *looks_of(Fluid fluid, const Carried *carried)
{
  return &fluid->sighting->looks[carried->direction == CELL_VALUES ? DIM : carried->direction];
}

static PetscErrorCode LookFrom(const Viewer *viewer, PetscInt direction, const PetscInt at[DIM], Looks *looks)
{
  Vector3        start;
  const LookKind kind = look_kind(viewer, direction, at, &start);

  PetscFunctionBegin;
  if (kind == LOOK_BACK)
    PetscCall(AddLook(looks, look_back(viewer, direction, at, start)));
  else if (kind == LOOK_AHEAD)
    PetscCall(AddPlain(looks, box_index(viewer->box, at[X], at[Y], at[Z])));
  PetscFunctionReturn(0);
}

static PetscErrorCode LookFromAll(const Viewer *viewer, const Carried *carried)
{
  Looks          *looks = looks_of(viewer->fluid, carried);
  const GridBox  *box = viewer->box;
  const FaceRange range = carried_range(viewer->fluid, carried);
  const PetscInt  back = carried->direction == CELL_VALUES ? 0 : box->stride[carried->direction];
  PetscInt        at[DIM];

  PetscFunctionBegin;
  for (at[Z] = range.start[Z]; at[Z] < range.end[Z]; at[Z]++)
    for (at[Y] = range.start[Y]; at[Y] < range.end[Y]; at[Y]++) {
      const PetscReal *near = viewer->near + box_index(box, 0, at[Y], at[Z]);

      for (at[X] = range.start[X]; at[X] < range.end[X]; at[X]++)
        if (near[at[X]] > 0. || near[at[X] - back] > 0.)
          PetscCall(LookFrom(viewer, carried->direction, at, looks));
    }
  PetscFunctionReturn(0);
}

PetscErrorCode FluidDropSighting(Fluid fluid)
{
  Sighting found = fluid->sighting;

  PetscFunctionBegin;
  PetscCall(FluidDropWalls(fluid));
  if (!found)
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n <= DIM; n++) {
    PetscCall(PetscFree(found->looks[n].looks));
    PetscCall(PetscFree(found->looks[n].plain));
  }
  PetscCall(PetscFree5(found->kept.glides[X], found->kept.glides[Y], found->kept.glides[Z], found->kept.clear,
                       found->kept.is_traced));
  PetscCall(PetscFree(fluid->sighting));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidSetVisibility(Fluid fluid, const Visibility *visibility)
{
  PetscFunctionBegin;
  PetscCall(FluidDropWalls(fluid));
  if (!visibility)
    PetscCall(FluidDropSighting(fluid));
  fluid->visibility = visibility;
  PetscFunctionReturn(0);
}

static PetscErrorCode StartLooking(Fluid fluid)
{
  const PetscInt length = grid_box(fluid->grid)->length;
  Sighting       found;

  PetscFunctionBegin;
  if (!fluid->sighting) {
    PetscCall(PetscNew(&fluid->sighting));
    found = fluid->sighting;
    PetscCall(PetscMalloc5(length, &found->kept.glides[X], length, &found->kept.glides[Y], length,
                           &found->kept.glides[Z], length, &found->kept.clear, length,
                           &found->kept.is_traced));
  }
  PetscCall(PetscArrayzero(fluid->sighting->kept.is_traced, length));
  for (PetscInt c = 0; c < length; c++)
    fluid->sighting->kept.clear[c] = -1.;
  for (PetscInt n = 0; n <= DIM; n++)
    fluid->sighting->looks[n].count = fluid->sighting->looks[n].plain_count = 0;
  PetscFunctionReturn(0);
}

static PetscErrorCode OpenViewer(Fluid fluid, PetscReal dt, Viewer *viewer)
{
  PetscFunctionBegin;
  *viewer = (Viewer){.fluid = fluid,
                     .visibility = fluid->visibility,
                     .box = grid_box(fluid->grid),
                     .kept = &fluid->sighting->kept,
                     .h = grid_spacing(fluid->grid),
                     .dt = dt};
  PetscCall(VecGetArrayRead(fluid->visibility->near, &viewer->near));
  if (fluid_covered(fluid))
    PetscCall(VecGetArrayRead(fluid_covered(fluid), &viewer->solid));
  PetscCall(MacGridGetFaces(fluid->grid, fluid->earlier, viewer->flow));
  if (fluid->feet[X])
    PetscCall(MacGridGetFaces(fluid->grid, fluid->feet, viewer->feet));
  if (fluid->heads[X])
    PetscCall(MacGridGetFaces(fluid->grid, fluid->heads, viewer->heads));
  PetscFunctionReturn(0);
}

static PetscErrorCode CloseViewer(Viewer *viewer)
{
  const Fluid fluid = viewer->fluid;

  PetscFunctionBegin;
  if (fluid->heads[X])
    PetscCall(MacGridRestoreFaces(fluid->grid, fluid->heads, viewer->heads));
  if (fluid->feet[X])
    PetscCall(MacGridRestoreFaces(fluid->grid, fluid->feet, viewer->feet));
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->earlier, viewer->flow));
  if (fluid_covered(fluid))
    PetscCall(VecRestoreArrayRead(fluid_covered(fluid), &viewer->solid));
  PetscCall(VecRestoreArrayRead(fluid->visibility->near, &viewer->near));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidLookAround(Fluid fluid, PetscReal dt)
{
  const PetscInt dimension = grid_box(fluid->grid)->dimension;
  Viewer         viewer;

  PetscFunctionBegin;
  if (!fluid->visibility || fluid->config->advection == ADVECT_NONE)
    PetscFunctionReturn(0);
  PetscCall(StartLooking(fluid));
  PetscCall(OpenViewer(fluid, dt, &viewer));
  for (PetscInt d = 0; d < dimension; d++)
    PetscCall(LookFromAll(&viewer, &(Carried){d, 0, dt}));
  if (fluid->config->scalar_count > 0)
    PetscCall(LookFromAll(&viewer, &(Carried){CELL_VALUES, 0, dt}));
  PetscCall(CloseViewer(&viewer));
  PetscFunctionReturn(0);
}

/* A mean of equal values is that value, to the last bit. */
static PetscReal value_of(const GridBox *box, const Look *look, const PetscReal *original, PetscInt direction)
{
  PetscReal sum = 0., total = 0.;

  for (PetscInt n = 0; n < 8; n++) {
    if (look->weights[n] == 0.)
      continue;
    sum += look->weights[n] *
           original[look->corner + (n & 1) + (n >> 1 & 1) * box->stride[Y] + (n >> 2) * box->stride[Z]];
    total += look->weights[n];
  }
  if (direction != CELL_VALUES)
    return sum + look->beyond;
  return total > 0. ? sum / total : original[look->instead];
}

PetscErrorCode FluidCarryInSight(Fluid fluid, const Carried *carried, Vec original, Vec result)
{
  const PetscReal *from;
  PetscReal       *to;
  const Looks     *looks;

  PetscFunctionBegin;
  if (!fluid->visibility)
    PetscFunctionReturn(0);
  PetscCheck(fluid->sighting, PETSC_COMM_SELF, PETSC_ERR_ORDER, "Nobody has looked around in this step");
  looks = looks_of(fluid, carried);
  PetscCall(VecGetArrayRead(original, &from));
  PetscCall(VecGetArray(result, &to));
  for (PetscInt n = 0; n < looks->count; n++)
    to[looks->looks[n].place] = value_of(grid_box(fluid->grid), &looks->looks[n], from, carried->direction);
  PetscCall(VecRestoreArray(result, &to));
  PetscCall(VecRestoreArrayRead(original, &from));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidDropCorrections(Fluid fluid, const Carried *carried, Vec uncorrected, Vec result)
{
  const PetscReal *from;
  PetscReal       *to;
  const Looks     *looks;

  PetscFunctionBegin;
  if (!fluid->visibility)
    PetscFunctionReturn(0);
  PetscCheck(fluid->sighting, PETSC_COMM_SELF, PETSC_ERR_ORDER, "Nobody has looked around in this step");
  looks = looks_of(fluid, carried);
  PetscCall(VecGetArrayRead(uncorrected, &from));
  PetscCall(VecGetArray(result, &to));
  for (PetscInt n = 0; n < looks->count; n++)
    to[looks->looks[n].place] = from[looks->looks[n].place];
  for (PetscInt n = 0; n < looks->plain_count; n++)
    to[looks->plain[n]] = from[looks->plain[n]];
  PetscCall(VecRestoreArray(result, &to));
  PetscCall(VecRestoreArrayRead(uncorrected, &from));
  PetscFunctionReturn(0);
}
