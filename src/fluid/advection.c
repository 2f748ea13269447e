/* Semi-Lagrangian and MacCormack advection (docs/numerics.md, section 3).

     w(x, t + dt) = w(foot), foot = x - dt u(x - dt/2 u(x))

   Positions are kept as shifts in cells from the face or cell at hand, so that nothing depends on where the
   box or a rank begins. */
#include "fluid_impl.h"

/* Where trajectories come from. */
typedef struct {
  const GridBox   *box;
  const PetscReal *flow[DIM];
  const PetscReal *feet[DIM]; /* shift from each cell's centre to the foot of its trajectory, in cells */
  PetscReal        ratio;     /* dt / h */
  PetscInt         direction;
} Tracer;

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

/* The foot of the trajectory that ends at the centre of cell c. */
static inline void trace(const Tracer *tracer, PetscInt c, PetscReal *const feet[DIM],
                         const PetscInt dimension)
{
  PetscReal half[DIM], at[DIM], fraction[DIM];

  for (PetscInt a = 0; a < dimension; a++) {
    const PetscReal *u = tracer->flow[a];

    half[a] = clamp(-0.25 * tracer->ratio * (u[c] + u[c + tracer->box->stride[a]]), 0.5 * farthest);
  }
  for (PetscInt e = 0; e < dimension; e++) {
    PetscInt from;

    for (PetscInt a = 0; a < dimension; a++)
      at[a] = half[a] + (a == e ? 0.5 : 0.); /* component e sits on the lower face */
    from = c + whole_cells(tracer->box, at, fraction, dimension);
    feet[e][c] = clamp(-tracer->ratio * interpolate(tracer->box, tracer->flow[e], from, fraction, dimension),
                       farthest);
  }
}

/* Feet of all owned cells and of one layer around them, which faces between ranks and on sides need. */
static inline void trace_all(const Tracer *tracer, PetscReal *const feet[DIM], const PetscInt dimension)
{
  const GridBox *box = tracer->box;
  const PetscInt layer = dimension == 3 ? 1 : 0;

  for (PetscInt k = box->start[Z] - layer; k < box->end[Z] + layer; k++)
    for (PetscInt j = box->start[Y] - 1; j < box->end[Y] + 1; j++) {
      const PetscInt row = box_index(box, 0, j, k);

      for (PetscInt c = row + box->start[X] - 1; c < row + box->end[X] + 1; c++)
        trace(tracer, c, feet, dimension);
    }
}

/* Shift to the foot of the value at c: a face takes the mean of its two cells. */
static inline void shift_of(const Tracer *tracer, PetscInt c, PetscReal shift[DIM], const PetscInt dimension)
{
  const PetscInt back = tracer->direction == CELL_VALUES ? c : c - tracer->box->stride[tracer->direction];

  for (PetscInt a = 0; a < dimension; a++)
    shift[a] = 0.5 * (tracer->feet[a][c] + tracer->feet[a][back]);
}

/* The same for the reversed flow: u(x + s/2) = 2 u(x) - u(x - s/2) up to second order. */
static inline void reverse_shift(const Tracer *tracer, PetscInt c, PetscReal shift[DIM],
                                 const PetscInt dimension)
{
  const PetscInt back = tracer->direction == CELL_VALUES ? c : c - tracer->box->stride[tracer->direction];

  for (PetscInt e = 0; e < dimension; e++) {
    const PetscReal *u = tracer->flow[e];
    const PetscInt   up = tracer->box->stride[e];
    const PetscReal  twice =
        e == tracer->direction ? 2. * u[c] : 0.5 * (u[c] + u[c + up] + u[back] + u[back + up]);

    shift[e] = clamp(tracer->ratio * twice + shift[e], farthest);
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

/* The value carried to each place of `range`. */
static inline void carry(const Tracer *tracer, const FaceRange *range, const PetscReal *field,
                         PetscReal *carried, const PetscInt dimension)
{
  const GridBox *box = tracer->box;
  PetscReal      shift[DIM], fraction[DIM];

  for (PetscInt k = range->start[Z]; k < range->end[Z]; k++)
    for (PetscInt j = range->start[Y]; j < range->end[Y]; j++) {
      const PetscInt row = box_index(box, 0, j, k);

      for (PetscInt c = row + range->start[X]; c < row + range->end[X]; c++) {
        PetscInt from;

        shift_of(tracer, c, shift, dimension);
        from = c + whole_cells(box, shift, fraction, dimension);
        carried[c] = interpolate(box, field, from, fraction, dimension);
      }
    }
}

/* MacCormack's correction by half of what is lost on the way there and back. */
static inline void correct(const Tracer *tracer, const FaceRange *range, const PetscReal *field,
                           const PetscReal *carried, PetscReal *result, const PetscInt dimension)
{
  const GridBox *box = tracer->box;
  PetscReal      shift[DIM], fraction[DIM], least, most;

  for (PetscInt k = range->start[Z]; k < range->end[Z]; k++)
    for (PetscInt j = range->start[Y]; j < range->end[Y]; j++) {
      const PetscInt row = box_index(box, 0, j, k);

      for (PetscInt c = row + range->start[X]; c < row + range->end[X]; c++) {
        PetscReal returned;
        PetscInt  from;

        shift_of(tracer, c, shift, dimension);
        stencil_bounds(box, field, c + whole_cells(box, shift, fraction, dimension), &least, &most,
                       dimension);
        reverse_shift(tracer, c, shift, dimension);
        from = c + whole_cells(box, shift, fraction, dimension);
        returned = interpolate(box, carried, from, fraction, dimension);
        result[c] = PetscMin(PetscMax(carried[c] + 0.5 * (field[c] - returned), least), most);
      }
    }
}

/* The loops, for each dimension a constant in them. */
VECTOR_CLONES static void trace_all_2d(const Tracer *tracer, PetscReal *const feet[DIM])
{
  trace_all(tracer, feet, 2);
}

VECTOR_CLONES static void trace_all_3d(const Tracer *tracer, PetscReal *const feet[DIM])
{
  trace_all(tracer, feet, 3);
}

VECTOR_CLONES static void carry_2d(const Tracer *tracer, const FaceRange *range, const PetscReal *field,
                                   PetscReal *carried)
{
  carry(tracer, range, field, carried, 2);
}

VECTOR_CLONES static void carry_3d(const Tracer *tracer, const FaceRange *range, const PetscReal *field,
                                   PetscReal *carried)
{
  carry(tracer, range, field, carried, 3);
}

VECTOR_CLONES static void correct_2d(const Tracer *tracer, const FaceRange *range, const PetscReal *field,
                                     const PetscReal *carried, PetscReal *result)
{
  correct(tracer, range, field, carried, result, 2);
}

VECTOR_CLONES static void correct_3d(const Tracer *tracer, const FaceRange *range, const PetscReal *field,
                                     const PetscReal *carried, PetscReal *result)
{
  correct(tracer, range, field, carried, result, 3);
}

static PetscErrorCode GetTracer(Fluid fluid, const Carried *carried, PetscReal *flow[DIM],
                                PetscReal *feet[DIM], Tracer *tracer)
{
  PetscFunctionBegin;
  *tracer = (Tracer){.box = grid_box(fluid->grid),
                     .ratio = carried->dt / grid_spacing(fluid->grid),
                     .direction = carried->direction};
  PetscCall(MacGridGetFaces(fluid->grid, fluid->earlier, flow));
  PetscCall(MacGridGetFaces(fluid->grid, fluid->feet, feet));
  for (PetscInt d = 0; d < DIM; d++) {
    tracer->flow[d] = flow[d];
    tracer->feet[d] = feet[d];
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode RestoreTracer(Fluid fluid, PetscReal *flow[DIM], PetscReal *feet[DIM])
{
  PetscFunctionBegin;
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->earlier, flow));
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->feet, feet));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidTraceFeet(Fluid fluid, PetscReal dt)
{
  const Carried cells = {CELL_VALUES, 0, dt};
  PetscReal    *flow[DIM], *feet[DIM];
  Tracer        tracer;

  PetscFunctionBegin;
  if (!fluid->feet[X])
    PetscFunctionReturn(0); /* the scheme follows no trajectories */
  PetscCall(GetTracer(fluid, &cells, flow, feet, &tracer));
  if (tracer.box->dimension == 2)
    trace_all_2d(&tracer, feet);
  else
    trace_all_3d(&tracer, feet);
  PetscCall(RestoreTracer(fluid, flow, feet));
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

/* From scratch[0], the value carried there, to scratch[1]. */
static PetscErrorCode Correct(Fluid fluid, const Tracer *tracer, const FaceRange *range,
                              const PetscReal *field)
{
  const PetscReal *carried;
  PetscReal       *result;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid->scratch[0], &carried));
  PetscCall(VecGetArray(fluid->scratch[1], &result));
  if (tracer->box->dimension == 2)
    correct_2d(tracer, range, field, carried, result);
  else
    correct_3d(tracer, range, field, carried, result);
  PetscCall(VecRestoreArray(fluid->scratch[1], &result));
  PetscCall(VecRestoreArrayRead(fluid->scratch[0], &carried));
  PetscFunctionReturn(0);
}

static PetscErrorCode AdvectAlongTrajectories(Fluid fluid, const Carried *carried, Vec *field)
{
  const FaceRange  range = carried_range(fluid, carried);
  const PetscBool  corrected = fluid->config->advection == ADVECT_MACCORMACK ? PETSC_TRUE : PETSC_FALSE;
  PetscReal       *flow[DIM], *feet[DIM], *once;
  const PetscReal *values;
  Tracer           tracer;
  Vec              spent;

  PetscFunctionBegin;
  PetscCall(GetTracer(fluid, carried, flow, feet, &tracer));
  PetscCall(VecGetArrayRead(*field, &values));
  PetscCall(VecGetArray(fluid->scratch[0], &once));
  if (tracer.box->dimension == 2)
    carry_2d(&tracer, &range, values, once);
  else
    carry_3d(&tracer, &range, values, once);
  PetscCall(VecRestoreArray(fluid->scratch[0], &once));
  if (corrected) {
    PetscCall(FluidFillCarriedGhosts(fluid, carried, fluid->scratch[0], fluid->time + carried->dt));
    PetscCall(Correct(fluid, &tracer, &range, values));
  }
  PetscCall(VecRestoreArrayRead(*field, &values));
  PetscCall(RestoreTracer(fluid, flow, feet));
  spent = *field;
  *field = fluid->scratch[corrected ? 1 : 0];
  fluid->scratch[corrected ? 1 : 0] = spent;
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
