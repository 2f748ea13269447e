/* Values around a place as they are seen from there. What is not seen is filled up layer by layer from its
   face neighbours b in earlier layers, with the mean of  2 f_b - f_bb,  bb behind b, or of f_b where bb is
   not known or the sign would change. */
#include <millrace/visible_stencil.h>
#include <millrace/trajectory.h>

enum { SEEN = 0, NEVER = 255 }; /* layers */

/* A stencil being made: where it lies in the field, and who sees whom. */
typedef struct {
  const unsigned char *blocked; /* at the lower corner of the stencil */
  const PetscInt      *outer;   /* strides of the field */
  PetscInt             dimension, count;
  PetscInt      low, high; /* along each direction the cells low … high are around the place itself */
  unsigned char at[VISIBLE_STENCIL_WIDTH * VISIBLE_STENCIL_WIDTH * VISIBLE_STENCIL_WIDTH][DIM];
  unsigned char layer[VISIBLE_STENCIL_WIDTH * VISIBLE_STENCIL_WIDTH * VISIBLE_STENCIL_WIDTH];
} StencilBuilder;

/* Returns whether there is a shell in the stencil at all. */
static PetscBool begin_stencil(const VisibilityMap *map, StepMoment moment, PetscInt corner,
                               const PetscReal *values, StencilBuilder *builder, VisibleStencil *stencil)
{
  const GridBox *box = grid_box(map->grid);
  const PetscInt width = stencil->width;
  PetscInt       n = 0;
  unsigned char  blocked = 0;

  builder->blocked = map->blocked[moment] + corner;
  builder->outer = box->stride;
  builder->dimension = box->dimension;
  for (PetscInt d = 0; d < DIM; d++)
    stencil->stride[d] = d == X ? 1 : d == Y ? width : box->dimension == 3 ? width * width : 0;
  for (PetscInt k = 0; k < (box->dimension == 3 ? width : 1); k++)
    for (PetscInt j = 0; j < width; j++)
      for (PetscInt i = 0; i < width; i++, n++) {
        const PetscInt from = i + j * box->stride[Y] + (box->dimension == 3 ? k * box->stride[Z] : 0);

        builder->at[n][X] = (unsigned char)i;
        builder->at[n][Y] = (unsigned char)j;
        builder->at[n][Z] = (unsigned char)k;
        builder->layer[n] = NEVER;
        stencil->value[n] = values[corner + from];
        blocked |= builder->blocked[from];
      }
  builder->count = n;
  return blocked ? PETSC_TRUE : PETSC_FALSE;
}

/* Steps from the place outwards along a direction: negative below, positive above. */
static PetscInt steps_along(const StencilBuilder *builder, PetscInt n, PetscInt d)
{
  const PetscInt at = builder->at[n][d];

  return at < builder->low ? at - builder->low : at > builder->high ? at - builder->high : 0;
}

/* Whether a cell is seen through a neighbour that is nearer to the place. */
static PetscBool is_seen(const StencilBuilder *builder, const VisibleStencil *stencil, PetscInt n)
{
  for (PetscInt d = 0; d < builder->dimension; d++) {
    const PetscInt steps = steps_along(builder, n, d);
    PetscInt       upper = 0;

    if (!steps || builder->layer[n + (steps < 0 ? 1 : -1) * stencil->stride[d]] != SEEN)
      continue;
    for (PetscInt e = 0; e < builder->dimension; e++)
      upper += builder->at[n][e] * builder->outer[e];
    if (steps < 0)
      upper += builder->outer[d];
    if (!(builder->blocked[upper] >> d & 1))
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* From the cells around the place, which are decided, outwards; returns how many are not seen. */
static PetscInt look_outwards(StencilBuilder *builder, const VisibleStencil *stencil)
{
  const PetscInt planes = builder->dimension == 3 ? stencil->width : 1;
  PetscInt       order[VISIBLE_STENCIL_WIDTH], count = 0, unseen = 0;

  for (PetscInt at = builder->low; at <= builder->high; at++)
    order[count++] = at;
  for (PetscInt step = 1; count < stencil->width; step++) {
    order[count++] = builder->low - step;
    order[count++] = builder->high + step;
  }
  for (PetscInt k = 0; k < planes; k++)
    for (PetscInt j = 0; j < stencil->width; j++)
      for (PetscInt i = 0; i < stencil->width; i++) {
        const PetscInt n =
            order[i] + order[j] * stencil->stride[Y] + (planes > 1 ? order[k] * stencil->stride[Z] : 0);

        if (builder->layer[n] != SEEN && is_seen(builder, stencil, n))
          builder->layer[n] = SEEN;
        unseen += builder->layer[n] != SEEN;
      }
  return unseen;
}

/* What neighbour b, one step along `step`, says about the value before it. */
static PetscReal continued(const StencilBuilder *builder, const VisibleStencil *stencil, PetscInt b,
                           PetscInt d, PetscInt side, unsigned char layer)
{
  const PetscInt  behind = b + side * stencil->stride[d], place = builder->at[b][d] + side;
  const PetscReal value = stencil->value[b];
  PetscReal       result;

  if (place < 0 || place >= stencil->width || builder->layer[behind] >= layer)
    return value;
  result = 2. * value - stencil->value[behind];
  return (result < 0.) == (value < 0.) ? result : value;
}

static PetscBool fill_one(const StencilBuilder *builder, VisibleStencil *stencil, PetscInt n,
                          unsigned char layer)
{
  PetscReal sum = 0.;
  PetscInt  count = 0;

  for (PetscInt d = 0; d < builder->dimension; d++)
    for (PetscInt side = -1; side <= 1; side += 2) {
      const PetscInt place = builder->at[n][d] + side, b = n + side * stencil->stride[d];

      if (place < 0 || place >= stencil->width || builder->layer[b] >= layer)
        continue;
      sum += continued(builder, stencil, b, d, side, layer);
      count++;
    }
  if (count)
    stencil->value[n] = sum / count;
  return count ? PETSC_TRUE : PETSC_FALSE;
}

static void fill(StencilBuilder *builder, VisibleStencil *stencil, PetscInt unseen)
{
  PetscInt filled[VISIBLE_STENCIL_WIDTH * VISIBLE_STENCIL_WIDTH * VISIBLE_STENCIL_WIDTH], count;

  for (unsigned char layer = 1; unseen > 0; layer++, unseen -= count) {
    count = 0;
    for (PetscInt n = 0; n < builder->count; n++)
      if (builder->layer[n] == NEVER && fill_one(builder, stencil, n, layer))
        filled[count++] = n;
    for (PetscInt m = 0; m < count; m++)
      builder->layer[filled[m]] = layer;
  }
}

void visible_stencil_of_cell(const VisibilityMap *map, PetscInt c, PetscInt reach, const PetscReal values[],
                             VisibleStencil *stencil)
{
  const GridBox *box = grid_box(map->grid);
  PetscInt       corner = c;
  PetscBool      divided;
  StencilBuilder builder;

  builder.low = builder.high = reach;
  stencil->width = 2 * reach + 1;
  stencil->centre = 0;
  for (PetscInt d = 0; d < box->dimension; d++)
    corner -= reach * box->stride[d];
  divided = begin_stencil(map, STEP_END, corner, values, &builder, stencil);
  for (PetscInt d = 0; d < box->dimension; d++) {
    stencil->centre += reach * stencil->stride[d];
    stencil->fraction[d] = 0.;
  }
  if (!divided)
    return;
  builder.layer[stencil->centre] = SEEN;
  fill(&builder, stencil, look_outwards(&builder, stencil));
}

/* The centre of a cell, or of the one whose mirror image it is. */
static Vector3 seen_centre(const VisibilityMap *map, const PetscInt at[DIM])
{
  const GridBox *box = grid_box(map->grid);
  PetscInt       place[DIM] = {at[X], at[Y], at[Z]};

  for (PetscInt d = 0; d < box->dimension; d++)
    if (!box->periodic[d] && at[d] < 0)
      place[d] = -1 - at[d];
    else if (!box->periodic[d] && at[d] >= box->cells[d])
      place[d] = 2 * box->cells[d] - 1 - at[d];
  return grid_cell_centre(map->grid, place[X], place[Y], place[Z]);
}

/* Asks for the cells whose steps from the place are at most `most`; returns how many are seen. */
static PetscInt mark_seen_cells(const VisibilityMap *map, StepMoment moment, Vector3 point,
                                const PetscInt first[DIM], PetscInt most, StencilBuilder *builder)
{
  PetscInt seen = 0;

  for (PetscInt n = 0; n < builder->count; n++) {
    PetscInt at[DIM] = {0, 0, 0}, steps = 0;

    for (PetscInt d = 0; d < builder->dimension; d++) {
      at[d] = first[d] + builder->at[n][d];
      steps = PetscMax(steps, PetscAbsInt(steps_along(builder, n, d)));
    }
    if (steps > most ||
        map->visibility->blocks(map->visibility->context, moment, point, seen_centre(map, at)))
      continue;
    builder->layer[n] = SEEN;
    seen++;
  }
  return seen;
}

/* The cell below and before a point, and where the point lies between its centre and the next ones. */
typedef struct {
  PetscInt  at[DIM];
  PetscReal fraction[DIM];
} StencilPlace;

static StencilPlace place_of(const VisibilityMap *map, Vector3 point)
{
  const Vector3 origin = grid_origin(map->grid);
  StencilPlace  result = {{0, 0, 0}, {0., 0., 0.}};

  for (PetscInt d = 0; d < grid_box(map->grid)->dimension; d++) {
    const PetscReal place = (point.at[d] - origin.at[d]) / grid_spacing(map->grid) - 0.5;

    result.at[d] = (PetscInt)PetscFloorReal(place);
    result.fraction[d] = place - result.at[d];
  }
  return result;
}

static Vector3 flattened(const VisibilityMap *map, Vector3 point)
{
  if (grid_box(map->grid)->dimension == 2)
    point.at[Z] = grid_origin(map->grid).at[Z];
  return point;
}

PetscBool visible_stencil_at_point(const VisibilityMap *map, StepMoment moment, Vector3 point,
                                   const PetscReal values[], VisibleStencil *stencil)
{
  const GridBox     *box = grid_box(map->grid);
  const StencilPlace place = place_of(map, point);
  PetscInt           first[DIM] = {0, 0, 0};
  PetscBool          divided;
  StencilBuilder     builder;

  builder.low = 1;
  builder.high = 2;
  stencil->width = 4;
  stencil->centre = 0;
  for (PetscInt d = 0; d < box->dimension; d++) {
    stencil->fraction[d] = place.fraction[d];
    first[d] = place.at[d] - 1;
  }
  point = flattened(map, point);
  divided =
      begin_stencil(map, moment, box_index(box, first[X], first[Y], first[Z]), values, &builder, stencil);
  for (PetscInt d = 0; d < box->dimension; d++)
    stencil->centre += stencil->stride[d];
  if (!divided)
    return PETSC_TRUE;
  /* in a sliver between a bent shell and the cells' centres nothing but the next cells may be visible
   */
  if (!mark_seen_cells(map, moment, point, first, 0, &builder) &&
      !mark_seen_cells(map, moment, point, first, 1, &builder))
    return PETSC_FALSE;
  fill(&builder, stencil, look_outwards(&builder, stencil));
  return PETSC_TRUE;
}

/* Linear between the cells around a point, from the lower corner on. */
static PetscReal between(const PetscReal *corner, const PetscInt stride[DIM], const PetscReal fraction[DIM],
                         PetscInt dimension)
{
  PetscReal sum = 0.;

  for (PetscInt n = 0; n < 1 << dimension; n++) {
    PetscReal weight = 1.;
    PetscInt  place = 0;

    for (PetscInt d = 0; d < dimension; d++) {
      weight *= n >> d & 1 ? fraction[d] : 1. - fraction[d];
      place += (n >> d & 1) * stride[d];
    }
    sum += weight * corner[place];
  }
  return sum;
}

PetscReal visible_stencil_linear(const VisibleStencil *stencil, PetscInt dimension)
{
  return between(stencil->value + stencil->centre, stencil->stride, stencil->fraction, dimension);
}

/* Whether the point sees all cells around it: with no shell in the stencil, or none between. */
static PetscBool sees_all_around(const VisibilityMap *map, Vector3 point, const StencilPlace *place)
{
  const GridBox       *box = grid_box(map->grid);
  const Visibility    *visibility = map->visibility;
  const PetscInt       planes = box->dimension == 3 ? 4 : 1;
  const unsigned char *blocked = map->blocked[STEP_END] + box_index(box, place->at[X] - 1, place->at[Y] - 1,
                                                                    place->at[Z] - (planes > 1 ? 1 : 0));
  unsigned char        any = 0;

  for (PetscInt k = 0; k < planes; k++)
    for (PetscInt j = 0; j < 4; j++)
      for (PetscInt i = 0; i < 4; i++)
        any |= blocked[i + j * box->stride[Y] + (planes > 1 ? k * box->stride[Z] : 0)];
  for (PetscInt n = 0; any && n < 1 << box->dimension; n++) {
    PetscInt at[DIM];

    for (PetscInt d = 0; d < DIM; d++)
      at[d] = place->at[d] + (n >> d & 1);
    if (visibility->blocks(visibility->context, STEP_END, point, seen_centre(map, at)))
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

PetscBool sample_visible_cells(const VisibilityMap *map, const PetscReal values[], Vector3 point,
                               PetscReal *value)
{
  const GridBox *box = grid_box(map->grid);
  StencilPlace   place = place_of(map, point);
  VisibleStencil stencil;

  if (!sees_all_around(map, flattened(map, point), &place)) {
    if (!visible_stencil_at_point(map, STEP_END, point, values, &stencil))
      return PETSC_FALSE;
    *value = visible_stencil_linear(&stencil, box->dimension);
    return PETSC_TRUE;
  }
  *value = between(values + box_index(box, place.at[X], place.at[Y], place.at[Z]), box->stride,
                   place.fraction, box->dimension);
  return PETSC_TRUE;
}

/* Whether a face of component e counts: if it is seen, or if it lies on the shell itself and moves with it.
 */
static PetscBool face_counts(const VisibilityMap *map, PetscInt e, const PetscInt at[DIM], Vector3 eye)
{
  const Visibility *visibility = map->visibility;

  if (map->blocked[STEP_START][box_index(grid_box(map->grid), at[X], at[Y], at[Z])] >> e & 1)
    return PETSC_TRUE;
  return visibility->blocks(visibility->context, STEP_START, eye,
                            grid_face_centre(map->grid, e, at[X], at[Y], at[Z]))
             ? PETSC_FALSE
             : PETSC_TRUE;
}

/* Whether there is no shell in the way: none between the cells around both points. */
static PetscBool is_clear(const VisibilityMap *map, Vector3 eye, Vector3 point)
{
  const GridBox       *box = grid_box(map->grid);
  const unsigned char *blocked = map->blocked[STEP_START];
  PetscInt             low[DIM] = {0, 0, 0}, high[DIM] = {0, 0, 0};

  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal origin = grid_origin(map->grid).at[d], h = grid_spacing(map->grid);

    low[d] = (PetscInt)PetscFloorReal((PetscMin(eye.at[d], point.at[d]) - origin) / h) - 1;
    high[d] = (PetscInt)PetscFloorReal((PetscMax(eye.at[d], point.at[d]) - origin) / h) + 1;
  }
  for (PetscInt k = low[Z]; k <= high[Z]; k++)
    for (PetscInt j = low[Y]; j <= high[Y]; j++)
      for (PetscInt i = low[X]; i <= high[X]; i++)
        if (blocked[box_index(box, i, j, k)])
          return PETSC_FALSE;
  return PETSC_TRUE;
}

/* Sums over the faces around a point that count: weights, values, and velocities of the shell there. */
typedef struct {
  PetscReal weight, value, shell;
  PetscBool all; /* faces count; then those of the shell are left out */
} Around;

static Around look_around(const VisibilityMap *map, PetscInt e, const PetscReal *face, Vector3 point,
                          const Vector3 *eye)
{
  const GridBox    *box = grid_box(map->grid);
  const Visibility *visibility = map->visibility;
  Around            around = {0., 0., 0., PETSC_TRUE};
  PetscInt          low[DIM] = {0, 0, 0}, at[DIM];
  PetscReal         fraction[DIM], weights[8];

  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal origin = grid_origin(map->grid).at[d];
    const PetscReal place = (point.at[d] - origin) / grid_spacing(map->grid) - (d == e ? 0. : 0.5);

    low[d] = (PetscInt)PetscFloorReal(place);
    fraction[d] = place - low[d];
  }
  for (PetscInt n = 0; n < 1 << box->dimension; n++) {
    weights[n] = 1.;
    for (PetscInt d = 0; d < DIM; d++) {
      at[d] = low[d] + (n >> d & 1);
      if (d < box->dimension)
        weights[n] *= n >> d & 1 ? fraction[d] : 1. - fraction[d];
    }
    if (eye && weights[n] > 0. && !face_counts(map, e, at, *eye)) {
      around.all = PETSC_FALSE;
      weights[n] = 0.;
    }
    around.weight += weights[n];
    around.value += weights[n] * face[box_index(box, at[X], at[Y], at[Z])];
  }
  for (PetscInt n = 0; n < 1 << box->dimension && !around.all; n++) {
    const Vector3 place =
        grid_face_centre(map->grid, e, low[X] + (n & 1), low[Y] + (n >> 1 & 1), low[Z] + (n >> 2 & 1));

    if (weights[n] > 0.)
      around.shell += weights[n] * visibility->velocity(visibility->context, place).at[e];
  }
  return around;
}

/* Relative to the shell, so that what moves with it does. */
Vector3 sample_visible_faces(const VisibilityMap *map, PetscReal *const faces[DIM], Vector3 eye,
                             Vector3 point)
{
  const PetscInt  dimension = grid_box(map->grid)->dimension;
  const PetscBool clear = is_clear(map, eye, point);
  Vector3         result = vector3(0., 0., 0.);

  eye = flattened(map, eye);
  for (PetscInt e = 0; e < dimension; e++) {
    const Around around = look_around(map, e, faces[e], point, clear ? NULL : &eye);

    result.at[e] = around.value;
    if (around.all)
      continue;
    result.at[e] = map->visibility->velocity(map->visibility->context, point).at[e];
    if (around.weight > 1e-3)
      result.at[e] += (around.value - around.shell) / around.weight;
  }
  return result;
}

Vector3 last_visible(const Visibility *visibility, StepMoment moment, Vector3 from, Vector3 to)
{
  enum { HALVINGS = 8 };
  const Vector3 way = vector3_subtract(to, from);
  PetscReal     free = 0., hidden = 1.;
  Vector3       place = from;

  if (!visibility->blocks(visibility->context, moment, from, to))
    return to;
  for (int n = 0; n < HALVINGS; n++) {
    const PetscReal middle = 0.5 * (free + hidden);
    const Vector3   trial = vector3_add(from, vector3_scale(middle, way));

    if (visibility->blocks(visibility->context, moment, from, trial))
      hidden = middle;
    else {
      free = middle;
      place = trial;
    }
  }
  return place;
}

static Vector3 moved(const VisibilityMap *map, Vector3 from, Vector3 way, PetscReal reach)
{
  for (PetscInt d = 0; d < grid_box(map->grid)->dimension; d++)
    from.at[d] += limited_shift(way.at[d], reach);
  return from;
}

Vector3 visible_trajectory(const VisibilityMap *map, PetscReal *const faces[DIM], Vector3 eye, Vector3 start,
                           PetscReal dt, PetscReal reach)
{
  const Vector3 slow = sample_visible_faces(map, faces, eye, start);
  const Vector3 middle = moved(map, start, vector3_scale(0.5 * dt, slow), 0.5 * reach);

  return moved(map, start, vector3_scale(dt, sample_visible_faces(map, faces, eye, middle)), reach);
}

PetscInt visibility_map_cell(const VisibilityMap *map, Vector3 point)
{
  const GridBox *box = grid_box(map->grid);
  PetscInt       at[DIM] = {0, 0, 0};

  for (PetscInt d = 0; d < box->dimension; d++)
    at[d] = (PetscInt)PetscFloorReal((point.at[d] - grid_origin(map->grid).at[d]) / grid_spacing(map->grid));
  return box_index(box, at[X], at[Y], at[Z]);
}
