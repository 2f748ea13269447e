/* What lies beyond the sides of the box (docs/numerics.md, section 1), and the ghosts between ranks. */
#include "fluid_impl.h"

/* How the values beyond a side follow from those inside and from the value v on the side. */
typedef enum { BEYOND_MIRROR, BEYOND_COPY, BEYOND_GIVEN } Beyond;

/* What a side prescribes. */
typedef struct {
  PetscInt  direction; /* of a velocity component, or CELL_VALUES */
  Formula   formula;   /* null: zero */
  PetscReal time;
} Given;

typedef struct {
  PetscInt  axis, side;
  Beyond    beyond;
  PetscInt  layers;
  Given     given;
  PetscBool has_entering; /* where the flow enters, `given` holds instead */
} SideFill;

/* Values sit on the side (normal faces) rather than half a cell inside. */
static PetscBool is_on_side(const SideFill *fill)
{
  return fill->given.direction == fill->axis ? PETSC_TRUE : PETSC_FALSE;
}

/* Columns of ghosts beside each other, whose value on the side is the same. */
typedef struct {
  PetscInt first;       /* index, in the first column, of the value on the side or next to it inside */
  PetscInt inward;      /* stride along a column */
  PetscInt step, count; /* stride between columns */
} GhostColumns;

VECTOR_CLONES static void fill_columns(PetscReal *field, const GhostColumns *columns, const SideFill *fill,
                                       PetscReal v)
{
  const PetscReal sign = fill->beyond == BEYOND_GIVEN ? -1. : 1., twice = 2. * v;
  const PetscInt  from = is_on_side(fill) ? 1 : 0;
  const PetscInt  room = from && fill->side == 1 ? GHOST_WIDTH - 1 : GHOST_WIDTH; /* the side took one */

  for (PetscInt m = 1; m <= PetscMin(room, fill->layers); m++) {
    const PetscInt   depth = fill->beyond == BEYOND_COPY ? 0 : m - 1 + from;
    const PetscReal *inside = field + columns->first + depth * columns->inward;
    PetscReal       *ghosts = field + columns->first - m * columns->inward;

    for (PetscInt n = 0; n < columns->count; n++)
      ghosts[n * columns->step] = twice + sign * inside[n * columns->step];
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

/* A constant needs no place. */
static PetscBool is_uniform(Formula formula)
{
  return !formula || formula_is_constant(formula) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscReal side_value(Fluid fluid, const Given *given, PetscInt axis, PetscInt side,
                            const PetscInt at[DIM])
{
  Vector3 point;

  if (is_uniform(given->formula))
    return formula_value(given->formula, vector3(0., 0., 0.), given->time);
  point = given->direction == CELL_VALUES
              ? grid_cell_centre(fluid->grid, at[X], at[Y], at[Z])
              : grid_face_centre(fluid->grid, given->direction, at[X], at[Y], at[Z]);
  point.at[axis] = grid_origin(fluid->grid).at[axis];
  if (side == 1)
    point.at[axis] += grid_box(fluid->grid)->cells[axis] * grid_spacing(fluid->grid);
  return formula_value(given->formula, point, given->time);
}

static void fill_side(Fluid fluid, PetscReal *field, const SideFill *fill)
{
  const GridBox  *box = grid_box(fluid->grid);
  const PetscInt  axis = fill->axis, along = axis == X ? Y : X;
  const PetscInt  first = fill->side == 0 ? 0 : box->cells[axis] - (is_on_side(fill) ? 0 : 1);
  const PetscBool has_value = fill->beyond == BEYOND_GIVEN;
  GhostColumns    columns = {.inward = fill->side == 0 ? box->stride[axis] : -box->stride[axis],
                             .step = box->stride[along],
                             .count = 1};
  PetscInt        low[DIM], high[DIM], at[DIM], inside[DIM], steps[DIM] = {1, 1, 1};

  for (PetscInt d = 0; d < DIM; d++) {
    const PetscInt ghost = d < box->dimension ? fill->layers : 0;

    low[d] = d == axis ? first : box->start[d] - ghost;
    high[d] = d == axis ? first + 1 : box->end[d] + ghost;
  }
  if (!has_value || is_uniform(fill->given.formula))
    columns.count = steps[along] = high[along] - low[along];
  for (at[Z] = low[Z]; at[Z] < high[Z]; at[Z] += steps[Z])
    for (at[Y] = low[Y]; at[Y] < high[Y]; at[Y] += steps[Y])
      for (at[X] = low[X]; at[X] < high[X]; at[X] += steps[X]) {
        for (PetscInt d = 0; d < DIM; d++)
          inside[d] = d == axis ? at[d] : inside_index(box, d, at[d]);
        columns.first = box_index(box, at[X], at[Y], at[Z]);
        fill_columns(field, &columns, fill,
                     has_value ? side_value(fluid, &fill->given, axis, fill->side, inside) : 0.);
      }
}

GridRange layer_at(const GridBox *box, PetscInt axis, PetscInt index)
{
  GridRange layer;

  for (PetscInt d = 0; d < DIM; d++) {
    layer.start[d] = d == axis ? index : box->start[d];
    layer.end[d] = d == axis ? index + 1 : box->end[d];
  }
  return layer;
}

static Given given_velocity(Fluid fluid, PetscInt direction, PetscInt axis, PetscInt side, PetscReal time)
{
  return (Given){direction, fluid->config->sides[axis][side].velocity[direction], time};
}

static Beyond beyond_of_velocity(SideKind kind, PetscBool normal)
{
  if (kind == SIDE_OPEN)
    return BEYOND_COPY;
  if (kind == SIDE_SLIP && !normal)
    return BEYOND_MIRROR;
  return BEYOND_GIVEN;
}

/* The linear part of an operator reaches one cell far. */
static PetscInt layers_of(SideValues values)
{
  return values == SIDE_VALUES_ZERO ? 1 : GHOST_WIDTH;
}

/* Where the flow enters through an open side it brings the value of the surroundings. */
static PetscErrorCode FillEntering(Fluid fluid, const SideFill *fill, PetscReal *field)
{
  const PetscInt   axis = fill->axis, side = fill->side;
  const GridBox   *box = grid_box(fluid->grid);
  const PetscInt   inward = side == 0 ? box->stride[axis] : -box->stride[axis];
  GridRange        layer = layer_at(box, axis, side == 0 ? 0 : box->cells[axis] - 1);
  const PetscReal *u;
  PetscInt         inside[DIM];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++)
    if (d != axis) {
      layer.start[d] -= box->ghost; /* corners, which other ranks know as their columns */
      layer.end[d] += box->ghost;
    }
  PetscCall(VecGetArrayRead(fluid->velocity[axis], &u));
  FOR_PLACES(&layer, at) {
    const PetscInt  c = box_index(box, at[X], at[Y], at[Z]);
    const PetscInt  face = side == 0 ? c : c + box->stride[axis];
    const PetscReal into = side == 0 ? u[face] : -u[face];

    if (into <= 0.)
      continue;
    for (PetscInt d = 0; d < DIM; d++)
      inside[d] = d == axis ? at[d] : inside_index(box, d, at[d]);
    for (PetscInt m = 1; m <= GHOST_WIDTH; m++)
      field[c - m * inward] = side_value(fluid, &fill->given, axis, side, inside);
  }
  PetscCall(VecRestoreArrayRead(fluid->velocity[axis], &u));
  PetscFunctionReturn(0);
}

/* A field whose ghosts are filled: a component of the velocity, a scalar or a pressure. */
typedef struct {
  PetscInt   direction; /* CELL_VALUES unless it is a velocity */
  SideValues values;
  PetscReal  time;
  Formula    inflow; /* of a scalar */
} GhostField;

/* How ghosts beyond a side follow from what is inside. */
typedef SideFill (*SideRule)(Fluid fluid, const GhostField *ghosts, PetscInt axis, PetscInt side);

static PetscErrorCode FillSides(Fluid fluid, SideRule rule, const GhostField *ghosts, Vec values)
{
  const GridBox *box = grid_box(fluid->grid);
  PetscReal     *field;

  PetscFunctionBegin;
  PetscCall(MacGridExchange(fluid->grid, values));
  PetscCall(VecGetArray(values, &field));
  for (PetscInt axis = 0; axis < box->dimension; axis++)
    for (PetscInt side = 0; side < 2; side++) {
      const SideFill fill = rule(fluid, ghosts, axis, side);

      if (!touches_side(box, axis, side))
        continue;
      fill_side(fluid, field, &fill);
      if (fill.has_entering)
        PetscCall(FillEntering(fluid, &fill, field));
    }
  PetscCall(VecRestoreArray(values, &field));
  PetscFunctionReturn(0);
}

static SideFill velocity_fill(Fluid fluid, const GhostField *ghosts, PetscInt axis, PetscInt side)
{
  const Beyond beyond = beyond_of_velocity(fluid->config->sides[axis][side].kind, axis == ghosts->direction);
  Given        given = given_velocity(fluid, ghosts->direction, axis, side, ghosts->time);

  if (ghosts->values == SIDE_VALUES_ZERO)
    given.formula = NULL;
  return (SideFill){axis, side, beyond, layers_of(ghosts->values), given, PETSC_FALSE};
}

PetscErrorCode FluidFillComponentGhosts(Fluid fluid, PetscInt direction, Vec component, PetscReal time,
                                        SideValues values)
{
  const GhostField ghosts = {direction, values, time, NULL};

  PetscFunctionBegin;
  PetscCall(FillSides(fluid, velocity_fill, &ghosts, component));
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
  const GridBox *box = grid_box(fluid->grid);
  PetscReal     *field;
  GridRange      layer;

  PetscFunctionBegin;
  PetscCall(VecGetArray(component, &field));
  for (PetscInt side = 0; side < 2; side++) {
    const Given given = given_velocity(fluid, direction, direction, side, time);

    if (!touches_side(box, direction, side) || fluid->config->sides[direction][side].kind == SIDE_OPEN)
      continue;
    layer = layer_at(box, direction, side == 0 ? 0 : box->cells[direction]);
    FOR_PLACES(&layer, at)
      field[box_index(box, at[X], at[Y], at[Z])] = side_value(fluid, &given, direction, side, at);
  }
  PetscCall(VecRestoreArray(component, &field));
  PetscFunctionReturn(0);
}

/* The largest speed, in direction d, that a side of this rank prescribes. */
PetscReal largest_side_speed(Fluid fluid, PetscInt d, PetscReal time)
{
  const GridBox *box = grid_box(fluid->grid);
  PetscReal      largest = 0.;
  GridRange      layer;

  for (PetscInt axis = 0; axis < box->dimension; axis++)
    for (PetscInt side = 0; side < 2; side++) {
      const Given given = given_velocity(fluid, d, axis, side, time);

      if (!touches_side(box, axis, side) || !given.formula)
        continue;
      layer = layer_at(box, axis, side == 0 ? 0 : box->cells[axis] - 1);
      FOR_PLACES(&layer, at)
        largest = PetscMax(largest, PetscAbsReal(side_value(fluid, &given, axis, side, at)));
    }
  return largest;
}

static Beyond beyond_of_scalar(SideKind kind)
{
  if (kind == SIDE_INFLOW)
    return BEYOND_GIVEN;
  return kind == SIDE_OPEN ? BEYOND_COPY : BEYOND_MIRROR;
}

static SideFill scalar_fill(Fluid fluid, const GhostField *ghosts, PetscInt axis, PetscInt side)
{
  const SideKind  kind = fluid->config->sides[axis][side].kind;
  const PetscBool is_given = ghosts->values != SIDE_VALUES_ZERO;
  const PetscBool enters =
      kind == SIDE_OPEN || (kind == SIDE_INFLOW && ghosts->values == SIDE_VALUES_UPSTREAM);
  const Given given = {CELL_VALUES, is_given ? ghosts->inflow : NULL, ghosts->time};

  return (SideFill){axis, side, beyond_of_scalar(kind), layers_of(ghosts->values), given, enters && is_given};
}

PetscErrorCode FluidFillScalarGhosts(Fluid fluid, PetscInt scalar, Vec values, PetscReal time,
                                     SideValues given)
{
  const GhostField ghosts = {CELL_VALUES, given, time, fluid->config->scalars[scalar].inflow};

  PetscFunctionBegin;
  PetscCall(FillSides(fluid, scalar_fill, &ghosts, values));
  PetscFunctionReturn(0);
}

static SideFill pressure_fill(Fluid fluid, const GhostField *ghosts, PetscInt axis, PetscInt side)
{
  const Beyond beyond = fluid->config->sides[axis][side].kind == SIDE_OPEN ? BEYOND_GIVEN : BEYOND_MIRROR;

  return (SideFill){axis,       side, beyond, layers_of(ghosts->values), {CELL_VALUES, NULL, ghosts->time},
                    PETSC_FALSE};
}

PetscErrorCode FluidFillPressureGhosts(Fluid fluid, Vec values)
{
  const GhostField ghosts = {CELL_VALUES, SIDE_VALUES_GIVEN, 0., NULL};

  PetscFunctionBegin;
  PetscCall(FillSides(fluid, pressure_fill, &ghosts, values));
  PetscFunctionReturn(0);
}

GridRange free_faces_on(Fluid fluid, MacGrid grid, PetscInt d)
{
  const GridBox *box = grid_box(grid);
  GridRange      range = grid_faces(grid, d);

  if (touches_side(box, d, 0) && fluid->config->sides[d][0].kind != SIDE_OPEN)
    range.start[d]++;
  if (touches_side(box, d, 1) && fluid->config->sides[d][1].kind != SIDE_OPEN)
    range.end[d]--;
  return range;
}

GridRange free_faces(Fluid fluid, PetscInt d)
{
  return free_faces_on(fluid, fluid->grid, d);
}
