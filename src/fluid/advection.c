/* Semi-Lagrangian and MacCormack advection (docs/numerics.md, section 3).

     w(x, t + dt) = w(foot), foot = x - dt u(x - dt/2 u(x))

   Positions are kept as shifts in cells from the face or cell at hand, so that nothing depends on where the
   box or a rank begins. */
#include "fluid_impl.h"

/* What a trajectory needs: the flow in cells per step. The reversed flow has a negative ratio. */
typedef struct {
  const GridBox   *box;
  const PetscReal *flow[DIM];
  PetscReal        ratio; /* dt / h */
  PetscInt         direction;
} Tracer;

/* Largest shift of a foot: with the interpolation it stays within the ghosts. */
static const PetscReal farthest = 2. - 1e-9;

/* Where a component (or cell value) sits in its cell along an axis. */
static inline PetscReal offset_in_cell(PetscInt direction, PetscInt axis)
{
  return direction == axis ? 0. : 0.5;
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

/* Component `e` of the flow at the place of value c itself. */
static inline PetscReal flow_here(const Tracer *tracer, PetscInt e, PetscInt c)
{
  const PetscReal *u = tracer->flow[e];
  const PetscInt   up = tracer->box->stride[e];

  if (e == tracer->direction)
    return u[c];
  if (tracer->direction == CELL_VALUES)
    return 0.5 * (u[c] + u[c + up]);
  {
    const PetscInt back = c - tracer->box->stride[tracer->direction];

    return 0.25 * (u[c] + u[c + up] + u[back] + u[back + up]);
  }
}

/* Shift from value c to the foot of its trajectory, in cells. */
static inline void trace(const Tracer *tracer, PetscInt c, PetscReal shift[DIM], const PetscInt dimension)
{
  PetscReal half[DIM], at[DIM], fraction[DIM];

  for (PetscInt a = 0; a < dimension; a++) {
    half[a] = -0.5 * tracer->ratio * flow_here(tracer, a, c);
    half[a] = PetscMin(PetscMax(half[a], -0.5 * farthest), 0.5 * farthest);
  }
  for (PetscInt e = 0; e < dimension; e++) {
    PetscInt from;

    for (PetscInt a = 0; a < dimension; a++)
      at[a] = half[a] + offset_in_cell(tracer->direction, a) - offset_in_cell(e, a);
    from = c + whole_cells(tracer->box, at, fraction, dimension);
    shift[e] = -tracer->ratio * interpolate(tracer->box, tracer->flow[e], from, fraction, dimension);
    shift[e] = PetscMin(PetscMax(shift[e], -farthest), farthest);
  }
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

/* The value carried to each place of `range`; `foot`, where asked for, gets the flat index of the foot's
 * cell. */
static inline void carry(const Tracer *tracer, const FaceRange *range, const PetscReal *field,
                         PetscReal *carried, PetscReal *foot, const PetscInt dimension)
{
  PetscReal shift[DIM], fraction[DIM];

  for (PetscInt k = range->start[Z]; k < range->end[Z]; k++)
    for (PetscInt j = range->start[Y]; j < range->end[Y]; j++)
      for (PetscInt i = range->start[X]; i < range->end[X]; i++) {
        const PetscInt c = box_index(tracer->box, i, j, k);
        PetscInt       from;

        trace(tracer, c, shift, dimension);
        from = c + whole_cells(tracer->box, shift, fraction, dimension);
        carried[c] = interpolate(tracer->box, field, from, fraction, dimension);
        if (foot)
          foot[c] = from;
      }
}

/* MacCormack's correction from the value carried there and back. `result` comes in as the feet. */
static inline void correct(const Tracer *back, const FaceRange *range, const PetscReal *field,
                           const PetscReal *carried, PetscReal *result, const PetscInt dimension)
{
  PetscReal shift[DIM], fraction[DIM], least, most;

  for (PetscInt k = range->start[Z]; k < range->end[Z]; k++)
    for (PetscInt j = range->start[Y]; j < range->end[Y]; j++)
      for (PetscInt i = range->start[X]; i < range->end[X]; i++) {
        const PetscInt c = box_index(back->box, i, j, k);
        PetscReal      there_and_back, corrected;

        trace(back, c, shift, dimension);
        there_and_back = interpolate(
            back->box, carried, c + whole_cells(back->box, shift, fraction, dimension), fraction, dimension);
        corrected = carried[c] + 0.5 * (field[c] - there_and_back);
        stencil_bounds(back->box, field, (PetscInt)result[c], &least, &most, dimension);
        result[c] = PetscMin(PetscMax(corrected, least), most);
      }
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

static PetscErrorCode AdvectAlongTrajectories(Fluid fluid, const Carried *carried, Vec field)
{
  const GridBox  *box = grid_box(fluid->grid);
  const FaceRange range = carried_range(fluid, carried);
  const PetscBool correct_it = fluid->config->advection == ADVECT_MACCORMACK;
  Tracer          forth = {box, {NULL}, carried->dt / grid_spacing(fluid->grid), carried->direction}, back;
  PetscReal      *flow[DIM], *w, *once, *result;

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(fluid->grid, fluid->earlier, flow));
  for (PetscInt d = 0; d < DIM; d++)
    forth.flow[d] = flow[d];
  back = forth;
  back.ratio = -forth.ratio;
  PetscCall(VecGetArray(field, &w));
  PetscCall(VecGetArray(fluid->scratch[0], &once));
  PetscCall(VecGetArray(fluid->scratch[1], &result));
  if (box->dimension == 2)
    carry(&forth, &range, w, once, result, 2);
  else
    carry(&forth, &range, w, once, result, 3);
  PetscCall(VecRestoreArray(fluid->scratch[0], &once));
  if (correct_it) {
    PetscCall(FluidFillCarriedGhosts(fluid, carried, fluid->scratch[0], fluid->time + carried->dt));
    PetscCall(VecGetArray(fluid->scratch[0], &once));
    if (box->dimension == 2)
      correct(&back, &range, w, once, result, 2);
    else
      correct(&back, &range, w, once, result, 3);
    PetscCall(VecRestoreArray(fluid->scratch[0], &once));
  }
  PetscCall(VecRestoreArray(fluid->scratch[1], &result));
  PetscCall(VecRestoreArray(field, &w));
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->earlier, flow));
  PetscCall(VecCopy(fluid->scratch[correct_it ? 1 : 0], field));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidAdvect(Fluid fluid, const Carried *carried, Vec field)
{
  PetscFunctionBegin;
  PetscCall(FluidFillCarriedGhosts(fluid, carried, field, fluid->time));
  switch (fluid->config->advection) {
  case ADVECT_SEMI_LAGRANGIAN:
  case ADVECT_MACCORMACK:
    PetscCall(AdvectAlongTrajectories(fluid, carried, field));
    break;
  case ADVECT_WENO5:
    PetscCall(FluidAdvectWeno(fluid, carried, field));
    break;
  case ADVECT_NONE:
    break;
  }
  PetscFunctionReturn(0);
}
