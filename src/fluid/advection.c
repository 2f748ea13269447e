/* Semi-Lagrangian and MacCormack advection (docs/numerics.md, section 3).

     w(x, t + dt) = w(foot), foot = x - dt u(x - dt/2 u(x))

   Feet are found once a step, at cell centres, and kept as shifts in cells, so that nothing depends on where
   the box or a rank begins; a face takes the mean of its two cells. */
#include "fluid_impl.h"

/* Trajectories of the step through cell centres: shifts, in cells, to where they come from and where they go.
 */
typedef struct {
  const GridBox *box;
  PetscInt       direction; /* of the component that is carried, or CELL_VALUES */
  PetscReal     *feet[DIM], *heads[DIM];
} Trajectories;

/* Largest shift of a foot: with the interpolation it stays within the ghosts. */
static const PetscReal farthest = 2. - 1e-9;

static inline PetscReal clamp(PetscReal value, PetscReal bound)
{
  return PetscMin(PetscMax(value, -bound), bound);
}

static inline PetscReal between(PetscReal a, PetscReal b, PetscReal fraction)
{
  return a + fraction * (b - a);
}

/* Splits a shift into whole cells, added to the index, and a fraction. */
static inline PetscInt whole_cells(const GridBox *box, const PetscReal shift[DIM], PetscReal fraction[DIM],
                                   const PetscInt dimension)
{
  PetscInt index = 0;

  for (PetscInt a = 0; a < dimension; a++) {
    const PetscInt whole = (PetscInt)(shift[a] + 4.) - 4; /* floor for shifts above -4 */

    fraction[a] = shift[a] - whole;
    index += whole * box->stride[a];
  }
  return index;
}

static inline PetscReal interpolate(const GridBox *box, const PetscReal *field, PetscInt c,
                                    const PetscReal fraction[DIM], const PetscInt dimension)
{
  const PetscInt   y = box->stride[Y];
  const PetscReal  low = between(between(field[c], field[c + 1], fraction[X]),
                                 between(field[c + y], field[c + y + 1], fraction[X]), fraction[Y]);
  const PetscReal *top = field + box->stride[Z];

  if (dimension == 2)
    return low;
  return between(low,
                 between(between(top[c], top[c + 1], fraction[X]),
                         between(top[c + y], top[c + y + 1], fraction[X]), fraction[Y]),
                 fraction[Z]);
}

/* Shift of cell c along the flow over `ratio` steps of h, by the midpoint rule; against it when negative. */
static inline void trace(const GridBox *box, PetscReal *const flow[DIM], PetscReal ratio, PetscInt c,
                         PetscReal *const shifts[DIM], const PetscInt dimension)
{
  PetscReal half[DIM], at[DIM], fraction[DIM];

  for (PetscInt a = 0; a < dimension; a++)
    half[a] = clamp(0.25 * ratio * (flow[a][c] + flow[a][c + box->stride[a]]), 0.5 * farthest);
  for (PetscInt e = 0; e < dimension; e++) {
    PetscInt from;

    for (PetscInt a = 0; a < dimension; a++)
      at[a] = half[a] + (a == e ? 0.5 : 0.); /* component e sits on the lower face */
    from = c + whole_cells(box, at, fraction, dimension);
    shifts[e][c] = clamp(ratio * interpolate(box, flow[e], from, fraction, dimension), farthest);
  }
}

/* All owned cells and one layer around them, which faces between ranks and on sides need. */
static inline void trace_all(const GridBox *box, PetscReal *const flow[DIM], PetscReal ratio,
                             PetscReal *const shifts[DIM], const PetscInt dimension)
{
  const PetscInt layer = dimension == 3 ? 1 : 0;

  for (PetscInt k = box->start[Z] - layer; k < box->end[Z] + layer; k++)
    for (PetscInt j = box->start[Y] - 1; j < box->end[Y] + 1; j++) {
      const PetscInt row = box_index(box, 0, j, k);

      for (PetscInt c = row + box->start[X] - 1; c < row + box->end[X] + 1; c++)
        trace(box, flow, ratio, c, shifts, dimension);
    }
}

/* Shift of the value at c: a face takes the mean of its two cells. */
static inline void shift_of(const Trajectories *paths, PetscReal *const shifts[DIM], PetscInt c,
                            PetscReal shift[DIM], const PetscInt dimension)
{
  const PetscInt back = paths->direction == CELL_VALUES ? c : c - paths->box->stride[paths->direction];

  for (PetscInt a = 0; a < dimension; a++)
    shift[a] = 0.5 * (shifts[a][c] + shifts[a][back]);
}

static inline void stencil_bounds(const GridBox *box, const PetscReal *field, PetscInt c, PetscReal *least,
                                  PetscReal *most, const PetscInt dimension)
{
  *least = *most = field[c];
  for (PetscInt corner = 1; corner < (dimension == 2 ? 4 : 8); corner++) {
    const PetscReal value =
        field[c + (corner & 1) + (corner >> 1 & 1) * box->stride[Y] + (corner >> 2) * box->stride[Z]];

    *least = PetscMin(*least, value);
    *most = PetscMax(*most, value);
  }
}

/* The value carried to each place of `range`. */
static inline void carry(const Trajectories *paths, const FaceRange *range, const PetscReal *field,
                         PetscReal *carried, const PetscInt dimension)
{
  const GridBox *box = paths->box;
  PetscReal      shift[DIM], fraction[DIM];

  for (PetscInt k = range->start[Z]; k < range->end[Z]; k++)
    for (PetscInt j = range->start[Y]; j < range->end[Y]; j++) {
      const PetscInt row = box_index(box, 0, j, k);

      for (PetscInt c = row + range->start[X]; c < row + range->end[X]; c++) {
        PetscInt from;

        shift_of(paths, paths->feet, c, shift, dimension);
        from = c + whole_cells(box, shift, fraction, dimension);
        carried[c] = interpolate(box, field, from, fraction, dimension);
      }
    }
}

/* MacCormack's correction by half of what is lost on the way there and back. */
static inline void correct(const Trajectories *paths, const FaceRange *range, const PetscReal *field,
                           const PetscReal *carried, PetscReal *result, const PetscInt dimension)
{
  const GridBox *box = paths->box;
  PetscReal      shift[DIM], fraction[DIM], least, most;

  for (PetscInt k = range->start[Z]; k < range->end[Z]; k++)
    for (PetscInt j = range->start[Y]; j < range->end[Y]; j++) {
      const PetscInt row = box_index(box, 0, j, k);

      for (PetscInt c = row + range->start[X]; c < row + range->end[X]; c++) {
        PetscReal returned;
        PetscInt  from;

        shift_of(paths, paths->feet, c, shift, dimension);
        stencil_bounds(box, field, c + whole_cells(box, shift, fraction, dimension), &least, &most,
                       dimension);
        shift_of(paths, paths->heads, c, shift, dimension);
        from = c + whole_cells(box, shift, fraction, dimension);
        returned = interpolate(box, carried, from, fraction, dimension);
        result[c] = PetscMin(PetscMax(carried[c] + 0.5 * (field[c] - returned), least), most);
      }
    }
}

/* The loops, for each dimension a constant in them. */
VECTOR_CLONES static void trace_all_2d(const GridBox *box, PetscReal *const flow[DIM], PetscReal ratio,
                                       PetscReal *const shifts[DIM])
{
  trace_all(box, flow, ratio, shifts, 2);
}

VECTOR_CLONES static void trace_all_3d(const GridBox *box, PetscReal *const flow[DIM], PetscReal ratio,
                                       PetscReal *const shifts[DIM])
{
  trace_all(box, flow, ratio, shifts, 3);
}

VECTOR_CLONES static void carry_2d(const Trajectories *paths, const FaceRange *range, const PetscReal *field,
                                   PetscReal *carried)
{
  carry(paths, range, field, carried, 2);
}

VECTOR_CLONES static void carry_3d(const Trajectories *paths, const FaceRange *range, const PetscReal *field,
                                   PetscReal *carried)
{
  carry(paths, range, field, carried, 3);
}

VECTOR_CLONES static void correct_2d(const Trajectories *paths, const FaceRange *range,
                                     const PetscReal *field, const PetscReal *carried, PetscReal *result)
{
  correct(paths, range, field, carried, result, 2);
}

VECTOR_CLONES static void correct_3d(const Trajectories *paths, const FaceRange *range,
                                     const PetscReal *field, const PetscReal *carried, PetscReal *result)
{
  correct(paths, range, field, carried, result, 3);
}

static PetscErrorCode TraceShifts(Fluid fluid, PetscReal dt, Vec shifts[DIM])
{
  const GridBox  *box = grid_box(fluid->grid);
  const PetscReal ratio = dt / grid_spacing(fluid->grid);
  PetscReal      *flow[DIM], *found[DIM];

  PetscFunctionBegin;
  if (!shifts[X])
    PetscFunctionReturn(0); /* the scheme has no use for them */
  PetscCall(MacGridGetFaces(fluid->grid, fluid->earlier, flow));
  PetscCall(MacGridGetFaces(fluid->grid, shifts, found));
  if (box->dimension == 2)
    trace_all_2d(box, flow, ratio, found);
  else
    trace_all_3d(box, flow, ratio, found);
  PetscCall(MacGridRestoreFaces(fluid->grid, shifts, found));
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->earlier, flow));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidTraceTrajectories(Fluid fluid, PetscReal dt)
{
  PetscFunctionBegin;
  PetscCall(TraceShifts(fluid, -dt, fluid->feet));
  PetscCall(TraceShifts(fluid, dt, fluid->heads));
  PetscFunctionReturn(0);
}

FaceRange carried_range(Fluid fluid, const Carried *carried)
{
  const GridBox *box = grid_box(fluid->grid);
  FaceRange      range;

  if (carried->direction != CELL_VALUES)
    return free_faces(fluid, carried->direction);
  for (PetscInt d = 0; d < DIM; d++) {
    range.start[d] = box->start[d];
    range.end[d] = box->end[d];
  }
  return range;
}

PetscErrorCode FluidFillCarriedGhosts(Fluid fluid, const Carried *carried, Vec field, PetscReal time)
{
  PetscFunctionBegin;
  if (carried->direction == CELL_VALUES) {
    PetscCall(FluidExtendIntoSolids(fluid, fluid->scalars[carried->scalar], field));
    PetscCall(FluidFillScalarGhosts(fluid, carried->scalar, field, time, SIDE_VALUES_GIVEN));
  } else {
    PetscCall(FluidSetSideFaces(fluid, carried->direction, field, time));
    PetscCall(FluidSetClosedFaces(fluid, carried->direction, field));
    PetscCall(FluidFillComponentGhosts(fluid, carried->direction, field, time, SIDE_VALUES_GIVEN));
  }
  PetscFunctionReturn(0);
}

/* scratch[0] = field carried along. */
static PetscErrorCode Carry(Fluid fluid, Trajectories *paths, const FaceRange *range, Vec field)
{
  const PetscReal *values;
  PetscReal       *carried;

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(fluid->grid, fluid->feet, paths->feet));
  PetscCall(VecGetArrayRead(field, &values));
  PetscCall(VecGetArray(fluid->scratch[0], &carried));
  if (paths->box->dimension == 2)
    carry_2d(paths, range, values, carried);
  else
    carry_3d(paths, range, values, carried);
  PetscCall(VecRestoreArray(fluid->scratch[0], &carried));
  PetscCall(VecRestoreArrayRead(field, &values));
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->feet, paths->feet));
  PetscFunctionReturn(0);
}

/* scratch[1] = scratch[0] corrected. */
static PetscErrorCode Correct(Fluid fluid, Trajectories *paths, const FaceRange *range, Vec field)
{
  const PetscReal *values, *carried;
  PetscReal       *result;

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(fluid->grid, fluid->feet, paths->feet));
  PetscCall(MacGridGetFaces(fluid->grid, fluid->heads, paths->heads));
  PetscCall(VecGetArrayRead(field, &values));
  PetscCall(VecGetArrayRead(fluid->scratch[0], &carried));
  PetscCall(VecGetArray(fluid->scratch[1], &result));
  if (paths->box->dimension == 2)
    correct_2d(paths, range, values, carried, result);
  else
    correct_3d(paths, range, values, carried, result);
  PetscCall(VecRestoreArray(fluid->scratch[1], &result));
  PetscCall(VecRestoreArrayRead(fluid->scratch[0], &carried));
  PetscCall(VecRestoreArrayRead(field, &values));
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->heads, paths->heads));
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->feet, paths->feet));
  PetscFunctionReturn(0);
}

static PetscErrorCode AdvectAlongTrajectories(Fluid fluid, const Carried *carried, Vec *field)
{
  const FaceRange range = carried_range(fluid, carried);
  const PetscInt  answer = fluid->config->advection == ADVECT_MACCORMACK ? 1 : 0;
  Trajectories    paths = {.box = grid_box(fluid->grid), .direction = carried->direction};
  const Vec       original = *field;

  PetscFunctionBegin;
  PetscCall(Carry(fluid, &paths, &range, original));
  if (fluid->config->advection == ADVECT_MACCORMACK) {
    PetscCall(FluidFillCarriedGhosts(fluid, carried, fluid->scratch[0], fluid->time + carried->dt));
    PetscCall(Correct(fluid, &paths, &range, original));
  }
  *field = fluid->scratch[answer];
  fluid->scratch[answer] = original;
  PetscFunctionReturn(0);
}

PetscErrorCode FluidAdvect(Fluid fluid, const Carried *carried, Vec *field)
{
  PetscFunctionBegin;
  PetscCall(FluidFillCarriedGhosts(fluid, carried, *field, fluid->time));
  switch (fluid->config->advection) {
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
