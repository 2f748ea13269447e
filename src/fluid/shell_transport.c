/* The values that shells are near, found once for the trajectories of a step, and what becomes of them. */
#include "shell_transport.h"

typedef struct {
  PetscInt          count, room;
  DepartureStencil *stencils;
  PetscInt          plain_count, plain_room;
  PetscInt         *plain; /* places without a correction, in addition */
} Departures;

struct _p_ShellTransport {
  Departures departures[DIM + 1]; /* by direction; cells last */
  TraceCache cache;
};

static PetscErrorCode AddStencil(Departures *departures, DepartureStencil departure)
{
  PetscFunctionBegin;
  PetscCall(GrowList(departures->count, &departures->room, &departures->stencils));
  departures->stencils[departures->count++] = departure;
  PetscFunctionReturn(0);
}

static PetscErrorCode AddPlain(Departures *departures, PetscInt place)
{
  PetscFunctionBegin;
  PetscCall(GrowList(departures->plain_count, &departures->plain_room, &departures->plain));
  departures->plain[departures->plain_count++] = place;
  PetscFunctionReturn(0);
}

static Departures *departures_of(Fluid fluid, const AdvectedField *carried)
{
  return &fluid->shell_transport->departures[carried->direction == CELL_VALUES ? DIM : carried->direction];
}

static PetscErrorCode AddDeparture(const ShellTracer *tracer, PetscInt direction, const PetscInt at[DIM],
                                   Departures *departures)
{
  Vector3              start;
  const ShellInfluence kind = shell_influence(tracer, direction, at, &start);

  PetscFunctionBegin;
  if (kind == INFLUENCE_ON_VALUE)
    PetscCall(AddStencil(departures, departure_stencil(tracer, direction, at, start)));
  else if (kind == INFLUENCE_ON_CORRECTION)
    PetscCall(AddPlain(departures, box_index(tracer->box, at[X], at[Y], at[Z])));
  PetscFunctionReturn(0);
}

static PetscErrorCode FindDepartures(const ShellTracer *tracer, const AdvectedField *carried)
{
  Departures     *departures = departures_of(tracer->fluid, carried);
  const GridBox  *box = tracer->box;
  const GridRange range = carried_range(tracer->fluid, carried);
  const PetscInt  back = carried->direction == CELL_VALUES ? 0 : box->stride[carried->direction];
  PetscInt        at[DIM];

  PetscFunctionBegin;
  for (at[Z] = range.start[Z]; at[Z] < range.end[Z]; at[Z]++)
    for (at[Y] = range.start[Y]; at[Y] < range.end[Y]; at[Y]++) {
      const PetscReal *near = tracer->near + box_index(box, 0, at[Y], at[Z]);

      for (at[X] = range.start[X]; at[X] < range.end[X]; at[X]++)
        if (near[at[X]] > 0. || near[at[X] - back] > 0.)
          PetscCall(AddDeparture(tracer, carried->direction, at, departures));
    }
  PetscFunctionReturn(0);
}

PetscErrorCode FluidDropShellTransport(Fluid fluid)
{
  ShellTransport found = fluid->shell_transport;

  PetscFunctionBegin;
  PetscCall(FluidDropSeparatedCells(fluid));
  if (!found)
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n <= DIM; n++) {
    PetscCall(PetscFree(found->departures[n].stencils));
    PetscCall(PetscFree(found->departures[n].plain));
  }
  PetscCall(PetscFree5(found->cache.relative_shifts[X], found->cache.relative_shifts[Y],
                       found->cache.relative_shifts[Z], found->cache.clear, found->cache.is_traced));
  PetscCall(PetscFree(fluid->shell_transport));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidSetVisibility(Fluid fluid, const Visibility *visibility)
{
  PetscFunctionBegin;
  PetscCall(FluidDropSeparatedCells(fluid));
  if (!visibility)
    PetscCall(FluidDropShellTransport(fluid));
  fluid->visibility = visibility;
  PetscFunctionReturn(0);
}

static PetscErrorCode ResetShellTransport(Fluid fluid)
{
  const PetscInt length = grid_box(fluid->grid)->length;
  ShellTransport found;

  PetscFunctionBegin;
  if (!fluid->shell_transport) {
    PetscCall(PetscNew(&fluid->shell_transport));
    found = fluid->shell_transport;
    PetscCall(PetscMalloc5(length, &found->cache.relative_shifts[X], length, &found->cache.relative_shifts[Y],
                           length, &found->cache.relative_shifts[Z], length, &found->cache.clear, length,
                           &found->cache.is_traced));
  }
  PetscCall(PetscArrayzero(fluid->shell_transport->cache.is_traced, length));
  for (PetscInt c = 0; c < length; c++)
    fluid->shell_transport->cache.clear[c] = -1.;
  for (PetscInt n = 0; n <= DIM; n++)
    fluid->shell_transport->departures[n].count = fluid->shell_transport->departures[n].plain_count = 0;
  PetscFunctionReturn(0);
}

static PetscErrorCode OpenTracer(Fluid fluid, PetscReal dt, ShellTracer *tracer)
{
  PetscFunctionBegin;
  *tracer = (ShellTracer){.fluid = fluid,
                          .visibility = fluid->visibility,
                          .box = grid_box(fluid->grid),
                          .cache = &fluid->shell_transport->cache,
                          .h = grid_spacing(fluid->grid),
                          .dt = dt};
  PetscCall(VecGetArrayRead(fluid->visibility->near, &tracer->near));
  if (fluid_covered(fluid))
    PetscCall(VecGetArrayRead(fluid_covered(fluid), &tracer->solid));
  PetscCall(MacGridGetFaces(fluid->grid, fluid->earlier, tracer->flow));
  if (fluid->feet[X])
    PetscCall(MacGridGetFaces(fluid->grid, fluid->feet, tracer->feet));
  if (fluid->heads[X])
    PetscCall(MacGridGetFaces(fluid->grid, fluid->heads, tracer->heads));
  PetscFunctionReturn(0);
}

static PetscErrorCode CloseTracer(ShellTracer *tracer)
{
  const Fluid fluid = tracer->fluid;

  PetscFunctionBegin;
  if (fluid->heads[X])
    PetscCall(MacGridRestoreFaces(fluid->grid, fluid->heads, tracer->heads));
  if (fluid->feet[X])
    PetscCall(MacGridRestoreFaces(fluid->grid, fluid->feet, tracer->feet));
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->earlier, tracer->flow));
  if (fluid_covered(fluid))
    PetscCall(VecRestoreArrayRead(fluid_covered(fluid), &tracer->solid));
  PetscCall(VecRestoreArrayRead(fluid->visibility->near, &tracer->near));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidTraceNearShells(Fluid fluid, PetscReal dt)
{
  const PetscInt dimension = grid_box(fluid->grid)->dimension;
  ShellTracer    tracer;

  PetscFunctionBegin;
  if (!fluid->visibility || fluid->config->advection == ADVECT_NONE)
    PetscFunctionReturn(0);
  PetscCall(ResetShellTransport(fluid));
  PetscCall(OpenTracer(fluid, dt, &tracer));
  for (PetscInt d = 0; d < dimension; d++)
    PetscCall(FindDepartures(&tracer, &(AdvectedField){.direction = d, .dt = dt}));
  if (fluid->config->scalar_count > 0)
    PetscCall(FindDepartures(&tracer, &(AdvectedField){.direction = CELL_VALUES, .dt = dt}));
  PetscCall(CloseTracer(&tracer));
  PetscFunctionReturn(0);
}

/* A mean of equal values is that value, to the last bit. */
static PetscReal value_of(const GridBox *box, const DepartureStencil *departure, const PetscReal *original,
                          PetscInt direction)
{
  PetscReal sum = 0., total = 0.;

  for (PetscInt n = 0; n < 8; n++) {
    if (departure->weights[n] == 0.)
      continue;
    sum += departure->weights[n] *
           original[departure->corner + (n & 1) + (n >> 1 & 1) * box->stride[Y] + (n >> 2) * box->stride[Z]];
    total += departure->weights[n];
  }
  if (direction != CELL_VALUES)
    return sum + departure->beyond;
  return total > 0. ? sum / total : original[departure->instead];
}

/* Null without shells. */
static PetscErrorCode GetDepartures(Fluid fluid, const AdvectedField *carried, const Departures **departures)
{
  PetscFunctionBegin;
  PetscCheck(!fluid->visibility || fluid->shell_transport, PETSC_COMM_SELF, PETSC_ERR_ORDER,
             "FluidTraceNearShells must be called in this step before values are advected");
  *departures = fluid->visibility ? departures_of(fluid, carried) : NULL;
  PetscFunctionReturn(0);
}

PetscErrorCode FluidAdvectNearShells(Fluid fluid, const AdvectedField *carried, Vec original, Vec result)
{
  const PetscReal  *from;
  PetscReal        *to;
  const Departures *departures;

  PetscFunctionBegin;
  PetscCall(GetDepartures(fluid, carried, &departures));
  if (!departures)
    PetscFunctionReturn(0);
  PetscCall(VecGetArrayRead(original, &from));
  PetscCall(VecGetArray(result, &to));
  for (PetscInt n = 0; n < departures->count; n++)
    to[departures->stencils[n].place] =
        value_of(grid_box(fluid->grid), &departures->stencils[n], from, carried->direction);
  PetscCall(VecRestoreArray(result, &to));
  PetscCall(VecRestoreArrayRead(original, &from));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidDropCorrections(Fluid fluid, const AdvectedField *carried, Vec uncorrected, Vec result)
{
  const PetscReal  *from;
  PetscReal        *to;
  const Departures *departures;

  PetscFunctionBegin;
  PetscCall(GetDepartures(fluid, carried, &departures));
  if (!departures)
    PetscFunctionReturn(0);
  PetscCall(VecGetArrayRead(uncorrected, &from));
  PetscCall(VecGetArray(result, &to));
  for (PetscInt n = 0; n < departures->count; n++)
    to[departures->stencils[n].place] = from[departures->stencils[n].place];
  for (PetscInt n = 0; n < departures->plain_count; n++)
    to[departures->plain[n]] = from[departures->plain[n]];
  PetscCall(VecRestoreArray(result, &to));
  PetscCall(VecRestoreArrayRead(uncorrected, &from));
  PetscFunctionReturn(0);
}
