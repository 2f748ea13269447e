/* What lies beyond the sides of the box (docs/numerics.md, section 1), and the ghosts between ranks. */
#include "fluid_impl.h"

/* How the values beyond a side follow from those inside and from the value v on the side. */
typedef enum { BEYOND_MIRROR, BEYOND_COPY, BEYOND_GIVEN } Beyond;

/* The value on a side where it is given, at the foot of a column of ghosts. */
typedef PetscReal (*SideValue)(Fluid fluid, const void *context, PetscInt axis, PetscInt side,
                               const PetscInt at[DIM]);

typedef struct {
  PetscInt  axis, side;
  PetscBool on_side; /* values sit on the side (normal faces) rather than half a cell inside */
  Beyond    beyond;
} SideFill;

/* Ghosts of one column; `first` is the value on the side or the first one inside. */
static inline void fill_column(PetscReal *field, PetscInt first, PetscInt inward, const SideFill *fill,
                               PetscReal v)
{
  const PetscInt from = fill->on_side ? 1 : 0;
  const PetscInt last =
      fill->on_side && fill->side == 1 ? GHOST_WIDTH - 1 : GHOST_WIDTH; /* the side took one */

  for (PetscInt m = 1; m <= last; m++) {
    const PetscReal inside = field[first + (m - 1 + from) * inward];

    field[first - m * inward] = fill->beyond == BEYOND_GIVEN    ? 2. * v - inside
                                : fill->beyond == BEYOND_MIRROR ? inside
                                                                : field[first];
  }
}

/* The cell whose side value stands for a column: periodic images and corners beyond the box have one inside.
 */
static PetscInt inside_index(const GridBox *box, PetscInt axis, PetscInt index)
{
  const PetscInt n = box->cells[axis];

  if (box->periodic[axis])
    return (index + n) % n;
  return PetscMin(PetscMax(index, 0), n - 1);
}

static void fill_side(Fluid fluid, PetscReal *field, const SideFill *fill, SideValue value,
                      const void *context)
{
  const GridBox *box = grid_box(fluid->grid);
  const PetscInt axis = fill->axis;
  const PetscInt first = fill->side == 0 ? 0 : box->cells[axis] - (fill->on_side ? 0 : 1);
  const PetscInt inward = fill->side == 0 ? box->stride[axis] : -box->stride[axis];
  PetscInt       low[DIM], high[DIM], at[DIM], inside[DIM];

  for (PetscInt d = 0; d < DIM; d++) {
    const PetscInt ghost = d < box->dimension ? box->ghost : 0;

    low[d] = d == axis ? first : box->start[d] - ghost;
    high[d] = d == axis ? first + 1 : box->end[d] + ghost;
  }
  for (at[Z] = low[Z]; at[Z] < high[Z]; at[Z]++)
    for (at[Y] = low[Y]; at[Y] < high[Y]; at[Y]++)
      for (at[X] = low[X]; at[X] < high[X]; at[X]++) {
        PetscReal v = 0.;

        if (value && fill->beyond == BEYOND_GIVEN) {
          for (PetscInt d = 0; d < DIM; d++)
            inside[d] = d == axis ? at[d] : inside_index(box, d, at[d]);
          v = value(fluid, context, axis, fill->side, inside);
        }
        fill_column(field, box_index(box, at[X], at[Y], at[Z]), inward, fill, v);
      }
}

static PetscBool touches(const GridBox *box, PetscInt axis, PetscInt side)
{
  return !box->periodic[axis] && box->neighbour[axis][side] == MPI_PROC_NULL;
}

FaceRange layer_at(const GridBox *box, PetscInt axis, PetscInt index)
{
  FaceRange layer;

  for (PetscInt d = 0; d < DIM; d++) {
    layer.start[d] = d == axis ? index : box->start[d];
    layer.end[d] = d == axis ? index + 1 : box->end[d];
  }
  return layer;
}

typedef struct {
  PetscInt  direction;
  PetscReal time;
} VelocityContext;

/* A constant needs no place. */
static PetscBool is_uniform(Formula formula)
{
  return !formula || formula_is_constant(formula) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscReal side_velocity(Fluid fluid, const void *context, PetscInt axis, PetscInt side,
                               const PetscInt at[DIM])
{
  const VelocityContext *c = context;
  const Formula          v = fluid->config->sides[axis][side].velocity[c->direction];
  Vector3                point;

  if (is_uniform(v))
    return formula_value(v, vector3(0., 0., 0.), c->time);
  point = grid_face_center(fluid->grid, c->direction, at[X], at[Y], at[Z]);
  point.at[axis] = grid_origin(fluid->grid).at[axis];
  if (side == 1)
    point.at[axis] += grid_box(fluid->grid)->cells[axis] * grid_spacing(fluid->grid);
  return formula_value(v, point, c->time);
}

static Beyond beyond_of_velocity(SideKind kind, PetscBool normal)
{
  if (kind == SIDE_OPEN)
    return BEYOND_COPY;
  if (kind == SIDE_SLIP && !normal)
    return BEYOND_MIRROR;
  return BEYOND_GIVEN;
}

PetscErrorCode FluidFillComponentGhosts(Fluid fluid, PetscInt direction, Vec component, PetscReal time,
                                        SideValues values)
{
  const GridBox        *box = grid_box(fluid->grid);
  const VelocityContext context = {direction, time};
  PetscReal            *field;

  PetscFunctionBegin;
  PetscCall(MacGridExchange(fluid->grid, component));
  PetscCall(VecGetArray(component, &field));
  for (PetscInt axis = 0; axis < box->dimension; axis++)
    for (PetscInt side = 0; side < 2; side++) {
      const SideKind kind = fluid->config->sides[axis][side].kind;
      const SideFill fill = {axis, side, axis == direction, beyond_of_velocity(kind, axis == direction)};

      if (touches(box, axis, side))
        fill_side(fluid, field, &fill, values == SIDE_VALUES_GIVEN ? side_velocity : NULL, &context);
    }
  PetscCall(VecRestoreArray(component, &field));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidFillVelocityGhosts(Fluid fluid, Vec faces[DIM], PetscReal time)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(FluidFillComponentGhosts(fluid, d, faces[d], time, SIDE_VALUES_GIVEN));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidSetSideFaces(Fluid fluid, PetscInt direction, Vec component, PetscReal time)
{
  const GridBox        *box = grid_box(fluid->grid);
  const VelocityContext context = {direction, time};
  PetscReal            *field;
  FaceRange             layer;
  PetscInt              at[DIM];

  PetscFunctionBegin;
  PetscCall(VecGetArray(component, &field));
  for (PetscInt side = 0; side < 2; side++) {
    if (!touches(box, direction, side) || fluid->config->sides[direction][side].kind == SIDE_OPEN)
      continue;
    layer = layer_at(box, direction, side == 0 ? 0 : box->cells[direction]);
    for (at[Z] = layer.start[Z]; at[Z] < layer.end[Z]; at[Z]++)
      for (at[Y] = layer.start[Y]; at[Y] < layer.end[Y]; at[Y]++)
        for (at[X] = layer.start[X]; at[X] < layer.end[X]; at[X]++)
          field[box_index(box, at[X], at[Y], at[Z])] = side_velocity(fluid, &context, direction, side, at);
  }
  PetscCall(VecRestoreArray(component, &field));
  PetscFunctionReturn(0);
}

/* The largest speed, in direction d, that a side of this rank prescribes. */
PetscReal largest_side_speed(Fluid fluid, PetscInt d, PetscReal time)
{
  const GridBox        *box = grid_box(fluid->grid);
  const VelocityContext context = {d, time};
  PetscReal             largest = 0.;
  FaceRange             layer;
  PetscInt              at[DIM];

  for (PetscInt axis = 0; axis < box->dimension; axis++)
    for (PetscInt side = 0; side < 2; side++) {
      if (!touches(box, axis, side) || !fluid->config->sides[axis][side].velocity[d])
        continue;
      layer = layer_at(box, axis, side == 0 ? 0 : box->cells[axis] - 1);
      for (at[Z] = layer.start[Z]; at[Z] < layer.end[Z]; at[Z]++)
        for (at[Y] = layer.start[Y]; at[Y] < layer.end[Y]; at[Y]++)
          for (at[X] = layer.start[X]; at[X] < layer.end[X]; at[X]++)
            largest = PetscMax(largest, PetscAbsReal(side_velocity(fluid, &context, axis, side, at)));
    }
  return largest;
}

typedef struct {
  Formula   value;
  PetscReal time;
} ScalarContext;

static PetscReal side_scalar(Fluid fluid, const void *context, PetscInt axis, PetscInt side,
                             const PetscInt at[DIM])
{
  const ScalarContext *c = context;
  Vector3              point;

  if (is_uniform(c->value))
    return formula_value(c->value, vector3(0., 0., 0.), c->time);
  point = grid_cell_center(fluid->grid, at[X], at[Y], at[Z]);
  point.at[axis] += (side - 0.5) * grid_spacing(fluid->grid);
  return formula_value(c->value, point, c->time);
}

static Beyond beyond_of_scalar(SideKind kind)
{
  if (kind == SIDE_INFLOW)
    return BEYOND_GIVEN;
  return kind == SIDE_OPEN ? BEYOND_COPY : BEYOND_MIRROR;
}

/* Where the flow enters through an open side it brings the value of the surroundings. */
static PetscErrorCode FillEntering(Fluid fluid, PetscInt axis, PetscInt side, const ScalarContext *context,
                                   PetscReal *field)
{
  const GridBox   *box = grid_box(fluid->grid);
  const PetscInt   inward = side == 0 ? box->stride[axis] : -box->stride[axis];
  FaceRange        layer = layer_at(box, axis, side == 0 ? 0 : box->cells[axis] - 1);
  const PetscReal *u;
  PetscInt         at[DIM], inside[DIM];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++)
    if (d != axis) {
      layer.start[d] -= box->ghost; /* corners, which other ranks know as their columns */
      layer.end[d] += box->ghost;
    }
  PetscCall(VecGetArrayRead(fluid->velocity[axis], &u));
  for (at[Z] = layer.start[Z]; at[Z] < layer.end[Z]; at[Z]++)
    for (at[Y] = layer.start[Y]; at[Y] < layer.end[Y]; at[Y]++)
      for (at[X] = layer.start[X]; at[X] < layer.end[X]; at[X]++) {
        const PetscInt  c = box_index(box, at[X], at[Y], at[Z]);
        const PetscInt  face = side == 0 ? c : c + box->stride[axis];
        const PetscReal into = side == 0 ? u[face] : -u[face];

        if (into <= 0.)
          continue;
        for (PetscInt d = 0; d < DIM; d++)
          inside[d] = d == axis ? at[d] : inside_index(box, d, at[d]);
        for (PetscInt m = 1; m <= GHOST_WIDTH; m++)
          field[c - m * inward] = side_scalar(fluid, context, axis, side, inside);
      }
  PetscCall(VecRestoreArrayRead(fluid->velocity[axis], &u));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidFillScalarGhosts(Fluid fluid, PetscInt scalar, Vec values, PetscReal time,
                                     SideValues given)
{
  const GridBox      *box = grid_box(fluid->grid);
  const ScalarContext context = {fluid->config->scalars[scalar].inflow, time};
  PetscReal          *field;

  PetscFunctionBegin;
  PetscCall(MacGridExchange(fluid->grid, values));
  PetscCall(VecGetArray(values, &field));
  for (PetscInt axis = 0; axis < box->dimension; axis++)
    for (PetscInt side = 0; side < 2; side++) {
      const SideKind kind = fluid->config->sides[axis][side].kind;
      const SideFill fill = {axis, side, PETSC_FALSE, beyond_of_scalar(kind)};

      if (!touches(box, axis, side))
        continue;
      fill_side(fluid, field, &fill, given == SIDE_VALUES_GIVEN ? side_scalar : NULL, &context);
      if (kind == SIDE_OPEN && given == SIDE_VALUES_GIVEN)
        PetscCall(FillEntering(fluid, axis, side, &context, field));
    }
  PetscCall(VecRestoreArray(values, &field));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidFillPressureGhosts(Fluid fluid, Vec values)
{
  const GridBox *box = grid_box(fluid->grid);
  PetscReal     *field;

  PetscFunctionBegin;
  PetscCall(MacGridExchange(fluid->grid, values));
  PetscCall(VecGetArray(values, &field));
  for (PetscInt axis = 0; axis < box->dimension; axis++)
    for (PetscInt side = 0; side < 2; side++) {
      const PetscBool open = fluid->config->sides[axis][side].kind == SIDE_OPEN;
      const SideFill  fill = {axis, side, PETSC_FALSE, open ? BEYOND_GIVEN : BEYOND_MIRROR};

      if (touches(box, axis, side))
        fill_side(fluid, field, &fill, NULL, NULL);
    }
  PetscCall(VecRestoreArray(values, &field));
  PetscFunctionReturn(0);
}

FaceRange free_faces(Fluid fluid, PetscInt d)
{
  const GridBox *box = grid_box(fluid->grid);
  FaceRange      range;

  for (PetscInt a = 0; a < DIM; a++)
    range.start[a] = box->start[a];
  grid_face_end(fluid->grid, d, range.end);
  if (touches(box, d, 0) && fluid->config->sides[d][0].kind != SIDE_OPEN)
    range.start[d]++;
  if (touches(box, d, 1) && fluid->config->sides[d][1].kind != SIDE_OPEN)
    range.end[d]--;
  return range;
}
