/* Semi-Lagrangian and MacCormack advection (docs/numerics.md, section 3).

     w(x, t + dt) = w(foot), foot = x - dt u(x - dt/2 u(x))

   Feet are found once a step, at cell centres (trajectory.h); a face takes the mean of its two cells. */
#include "fluid_impl.h"

#include <millrace/trajectory.h>

/* A value on its way along the step's trajectories, which are kept at cell centres: shifts, in cells, to
   where they come from and where they go. */
typedef struct {
  const GridBox       *box;
  PetscInt             direction; /* of the component that is carried, or CELL_VALUES */
  const unsigned char *marks;     /* of the places to work on; null: all */
  PetscReal           *feet[DIM], *heads[DIM];
  const PetscReal     *original;
  PetscReal           *carried, *corrected;
} Journey;

/* The search for trajectories along a flow. */
typedef struct {
  const GridBox *box;
  PetscReal     *flow[DIM];
  PetscReal      ratio; /* of the step to the spacing; negative against the flow */
  PetscReal     *shifts[DIM];
} TrajectorySearch;

/* Largest shift of a foot: with the interpolation it stays within the ghosts. */
static const PetscReal farthest = MOST_CELLS_PER_STEP - 1e-9;

KERNEL void trace(const TrajectorySearch *search, PetscInt first, PetscInt count, const PetscInt dimension)
{
  PetscReal *shifts[DIM] = {NULL};

  for (PetscInt a = 0; a < dimension; a++)
    shifts[a] = search->shifts[a] + first;
  trace_cells(search->box->stride, search->flow, search->ratio, farthest, first, count, shifts, dimension);
}

/* Departure points of a run of values along the trajectories: a face takes the mean shift of its two cells.
 */
KERNEL void follow(const Journey *journey, PetscReal *const shifts[DIM], PetscInt first, PetscInt count,
                   DeparturePoints *places, const PetscInt dimension)
{
  const PetscInt   back = journey->direction == CELL_VALUES ? 0 : journey->box->stride[journey->direction];
  PetscReal        mean[DIM][SHIFT_RUN];
  const PetscReal *shift[DIM] = {mean[X], mean[Y], mean[Z]};

  for (PetscInt a = 0; a < dimension; a++) {
    const PetscReal *own = shifts[a] + first, *other = own - back;

    for (PetscInt n = 0; n < count; n++)
      mean[a][n] = 0.5 * (own[n] + other[n]);
  }
  locate_shifts(journey->box->stride, shift, first, count, places, dimension);
}

KERNEL void corner_bounds(const GridBox *box, const PetscReal *field, PetscInt corner, PetscReal *least,
                          PetscReal *most, const PetscInt dimension)
{
  *least = *most = field[corner];
  for (PetscInt n = 1; n < (dimension == 2 ? 4 : 8); n++) {
    const PetscReal value =
        field[corner + (n & 1) + (n >> 1 & 1) * box->stride[Y] + (n >> 2) * box->stride[Z]];

    *least = PetscMin(*least, value);
    *most = PetscMax(*most, value);
  }
}

KERNEL void carry(const Journey *journey, PetscInt first, PetscInt count, const PetscInt dimension)
{
  DeparturePoints feet;

  follow(journey, journey->feet, first, count, &feet, dimension);
  sample_departures(journey->box->stride, journey->original, &feet, count, journey->carried + first,
                    dimension);
}

/* MacCormack's correction by half of what is lost on the way there and back. */
KERNEL void correct(const Journey *journey, PetscInt first, PetscInt count, const PetscInt dimension)
{
  const PetscReal *original = journey->original + first, *carried = journey->carried + first;
  PetscReal *restrict corrected = journey->corrected + first;
  PetscReal       returned[SHIFT_RUN];
  DeparturePoints feet, heads;

  follow(journey, journey->feet, first, count, &feet, dimension);
  follow(journey, journey->heads, first, count, &heads, dimension);
  sample_departures(journey->box->stride, journey->carried, &heads, count, returned, dimension);
  for (PetscInt n = 0; n < count; n++) {
    const PetscReal wanted = carried[n] + 0.5 * (original[n] - returned[n]);
    PetscReal       least, most;

    corner_bounds(journey->box, journey->original, feet.corner[n], &least, &most, dimension);
    corrected[n] = PetscMin(PetscMax(wanted, least), most);
  }
}

/* The work on a run, for each dimension a constant in it. */
typedef void (*RunWork)(const void *context, PetscInt first, PetscInt count);

VECTOR_CLONES static void trace_2d(const void *search, PetscInt first, PetscInt count)
{
  trace(search, first, count, 2);
}

VECTOR_CLONES static void trace_3d(const void *search, PetscInt first, PetscInt count)
{
  trace(search, first, count, 3);
}

VECTOR_CLONES static void carry_2d(const void *journey, PetscInt first, PetscInt count)
{
  carry(journey, first, count, 2);
}

VECTOR_CLONES static void carry_3d(const void *journey, PetscInt first, PetscInt count)
{
  carry(journey, first, count, 3);
}

VECTOR_CLONES static void correct_2d(const void *journey, PetscInt first, PetscInt count)
{
  correct(journey, first, count, 2);
}

VECTOR_CLONES static void correct_3d(const void *journey, PetscInt first, PetscInt count)
{
  correct(journey, first, count, 3);
}

/* Of a run, from the first to the last place with a mark; null: all have one. */
static void visit_marked(RunWork work, const void *context, const unsigned char *marks, PetscInt first,
                         PetscInt count)
{
  if (marks) {
    const unsigned char *found = memchr(marks + first, 1, count);
    const PetscInt       skipped = found ? (PetscInt)(found - marks) - first : count;

    first += skipped;
    for (count -= skipped; count > 0 && !marks[first + count - 1];)
      count--;
  }
  if (count > 0)
    work(context, first, count);
}

static void visit_runs(const GridBox *box, const GridRange *range, const unsigned char *marks, RunWork work,
                       const void *context)
{
  FOR_ROWS(range, j, k)
    for (PetscInt i = range->start[X]; i < range->end[X]; i += SHIFT_RUN)
      visit_marked(work, context, marks, box_index(box, i, j, k), PetscMin(SHIFT_RUN, range->end[X] - i));
}

static PetscErrorCode TraceShifts(Fluid fluid, PetscReal dt, const unsigned char *marks, Vec shifts[DIM])
{
  const GridBox   *box = grid_box(fluid->grid);
  TrajectorySearch search = {.box = box, .ratio = dt / grid_spacing(fluid->grid)};
  const GridRange  range = box_grown(box, 1); /* faces between ranks and on sides need a layer */

  PetscFunctionBegin;
  if (!shifts[X])
    PetscFunctionReturn(0); /* the scheme has no use for them */
  PetscCall(MacGridGetFaces(fluid->grid, fluid->earlier, search.flow));
  PetscCall(MacGridGetFaces(fluid->grid, shifts, search.shifts));
  visit_runs(box, &range, marks, box->dimension == 2 ? trace_2d : trace_3d, &search);
  PetscCall(MacGridRestoreFaces(fluid->grid, shifts, search.shifts));
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->earlier, search.flow));
  PetscFunctionReturn(0);
}

/* Those that central advection needs near surfaces. */
static PetscErrorCode TraceNearSurfaces(Fluid fluid, PetscReal dt)
{
  PetscFunctionBegin;
  PetscCall(FluidFindNearSurfaces(fluid));
  if (!fluid->near.any)
    PetscFunctionReturn(0);
  if (!fluid->near.carried) {
    PetscCall(MacGridCreateField(fluid->grid, &fluid->near.carried));
    PetscCall(MacGridCreateFaceField(fluid->grid, fluid->feet));
    PetscCall(MacGridCreateFaceField(fluid->grid, fluid->heads));
  }
  PetscCall(TraceShifts(fluid, -dt, fluid->near.traced, fluid->feet));
  PetscCall(TraceShifts(fluid, dt, fluid->near.traced, fluid->heads));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidTraceTrajectories(Fluid fluid, PetscReal dt, const unsigned char *marks)
{
  PetscFunctionBegin;
  if (fluid->config->advection == ADVECT_CENTRAL) {
    PetscCall(TraceNearSurfaces(fluid, dt));
    PetscCall(FluidCountParts(fluid, dt));
  } else {
    PetscCall(TraceShifts(fluid, -dt, marks, fluid->feet));
    PetscCall(TraceShifts(fluid, dt, marks, fluid->heads));
  }
  PetscCall(FluidTraceNearShells(fluid, dt));
  PetscFunctionReturn(0);
}

GridRange carried_range(Fluid fluid, const AdvectedField *carried)
{
  return carried->direction == CELL_VALUES ? box_grown(grid_box(fluid->grid), 0)
                                           : free_faces(fluid, carried->direction);
}

PetscErrorCode FluidFillCarriedGhosts(Fluid fluid, const AdvectedField *carried, Vec field, PetscReal time)
{
  const PetscBool has_fluxes = fluid->config->advection == ADVECT_CENTRAL ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  if (carried->direction == CELL_VALUES && carried->scalar == NO_SCALAR) {
    PetscCall(FluidExtendIntoSolids(fluid, NULL, field));
    PetscCall(MacGridMirrorGhosts(fluid->grid, field));
  } else if (carried->direction == CELL_VALUES) {
    PetscCall(FluidExtendIntoSolids(fluid, fluid->scalars[carried->scalar], field));
    PetscCall(FluidFillScalarGhosts(fluid, carried->scalar, field, time,
                                    has_fluxes ? SIDE_VALUES_UPSTREAM : SIDE_VALUES_GIVEN));
  } else {
    PetscCall(FluidSetSideFaces(fluid, carried->direction, field, time));
    PetscCall(FluidSetClosedFaces(fluid, carried->direction, field));
    PetscCall(FluidFillComponentGhosts(fluid, carried->direction, field, time, SIDE_VALUES_GIVEN));
  }
  PetscFunctionReturn(0);
}

/* scratch[0] = field carried along. */
static PetscErrorCode Carry(Fluid fluid, Journey *journey, const GridRange *range, Vec field)
{
  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(fluid->grid, fluid->feet, journey->feet));
  PetscCall(VecGetArrayRead(field, &journey->original));
  PetscCall(VecGetArray(fluid->scratch[0], &journey->carried));
  visit_runs(journey->box, range, journey->marks, journey->box->dimension == 2 ? carry_2d : carry_3d,
             journey);
  PetscCall(VecRestoreArray(fluid->scratch[0], &journey->carried));
  PetscCall(VecRestoreArrayRead(field, &journey->original));
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->feet, journey->feet));
  PetscFunctionReturn(0);
}

/* scratch[1] = scratch[0] corrected. */
static PetscErrorCode Correct(Fluid fluid, Journey *journey, const GridRange *range, Vec field)
{
  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(fluid->grid, fluid->feet, journey->feet));
  PetscCall(MacGridGetFaces(fluid->grid, fluid->heads, journey->heads));
  PetscCall(VecGetArrayRead(field, &journey->original));
  PetscCall(VecGetArray(fluid->scratch[0], &journey->carried));
  PetscCall(VecGetArray(fluid->scratch[1], &journey->corrected));
  visit_runs(journey->box, range, journey->marks, journey->box->dimension == 2 ? correct_2d : correct_3d,
             journey);
  PetscCall(VecRestoreArray(fluid->scratch[1], &journey->corrected));
  PetscCall(VecRestoreArray(fluid->scratch[0], &journey->carried));
  PetscCall(VecRestoreArrayRead(field, &journey->original));
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->heads, journey->heads));
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->feet, journey->feet));
  PetscFunctionReturn(0);
}

static PetscErrorCode AdvectAlongTrajectories(Fluid fluid, const AdvectedField *carried, Vec *field)
{
  const GridRange range = carried_range(fluid, carried);
  const PetscInt  answer = fluid->config->advection == ADVECT_MACCORMACK ? 1 : 0;
  Journey journey = {.box = grid_box(fluid->grid), .direction = carried->direction, .marks = carried->marks};
  const Vec original = *field;

  PetscFunctionBegin;
  PetscCall(Carry(fluid, &journey, &range, original));
  PetscCall(FluidAdvectNearShells(fluid, carried, original, fluid->scratch[0]));
  if (fluid->config->advection == ADVECT_MACCORMACK) {
    PetscCall(FluidFillCarriedGhosts(fluid, carried, fluid->scratch[0], fluid->time + carried->dt));
    PetscCall(Correct(fluid, &journey, &range, original));
    PetscCall(FluidDropCorrections(fluid, carried, fluid->scratch[0], fluid->scratch[1]));
  }
  *field = fluid->scratch[answer];
  fluid->scratch[answer] = original;
  PetscFunctionReturn(0);
}

/* near.carried = the field along trajectories, corrected, on faces near surfaces. */
static PetscErrorCode CarryNearSurfaces(Fluid fluid, const AdvectedField *carried, Vec field)
{
  const GridRange range = carried_range(fluid, carried);
  Journey         journey = {
              .box = grid_box(fluid->grid), .direction = carried->direction, .marks = fluid->near.looked_at};
  Vec spare;

  PetscFunctionBegin;
  PetscCall(VecCopy(field, fluid->scratch[0]));
  PetscCall(Carry(fluid, &journey, &range, field));
  PetscCall(FluidAdvectNearShells(fluid, carried, field, fluid->scratch[0]));
  PetscCall(FluidFillCarriedGhosts(fluid, carried, fluid->scratch[0], fluid->time + carried->dt));
  journey.marks = fluid->near.faces;
  PetscCall(Correct(fluid, &journey, &range, field));
  PetscCall(FluidDropCorrections(fluid, carried, fluid->scratch[0], fluid->scratch[1]));
  spare = fluid->near.carried;
  fluid->near.carried = fluid->scratch[1];
  fluid->scratch[1] = spare;
  PetscFunctionReturn(0);
}

static PetscErrorCode TakeNearSurfaces(Fluid fluid, const AdvectedField *carried, Vec field)
{
  const GridBox   *box = grid_box(fluid->grid);
  const GridRange  range = carried_range(fluid, carried);
  const PetscReal *from;
  PetscReal       *to;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid->near.carried, &from));
  PetscCall(VecGetArray(field, &to));
  FOR_CELLS(&range, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (fluid->near.faces[c])
      to[c] = from[c];
  }
  PetscCall(VecRestoreArray(field, &to));
  PetscCall(VecRestoreArrayRead(fluid->near.carried, &from));
  PetscFunctionReturn(0);
}

static PetscErrorCode AdvectCentrally(Fluid fluid, const AdvectedField *carried, Vec *field)
{
  const PetscBool near_surfaces =
      fluid->near.any && carried->direction != CELL_VALUES ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  if (near_surfaces)
    PetscCall(CarryNearSurfaces(fluid, carried, *field));
  PetscCall(FluidAdvectCentrally(fluid, carried, field));
  if (near_surfaces)
    PetscCall(TakeNearSurfaces(fluid, carried, *field));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidAdvect(Fluid fluid, const AdvectedField *carried, Vec *field)
{
  PetscFunctionBegin;
  PetscCall(FluidFillCarriedGhosts(fluid, carried, *field, fluid->time));
  switch (fluid->config->advection) {
  case ADVECT_CENTRAL:
    PetscCall(AdvectCentrally(fluid, carried, field));
    break;
  case ADVECT_SEMI_LAGRANGIAN:
  case ADVECT_MACCORMACK:
    PetscCall(AdvectAlongTrajectories(fluid, carried, field));
    break;
  case ADVECT_WENO5:
    PetscCall(FluidAdvectWeno(fluid, carried, *field));
    break;
  case ADVECT_NONE:
    break;
  }
  PetscFunctionReturn(0);
}
