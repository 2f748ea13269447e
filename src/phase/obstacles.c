/* Interfaces at obstacles. In a closed cell the distance goes on from the face neighbours that are one layer
   nearer to the fluid, linearly: a surface meets a wall as it comes, a flat one at rest stays flat at a wall
   of any slope, and there is a region for every cell that may be uncovered. Deeper cells are carried along
   with the obstacle. */
#include "phase_impl.h"

enum { OPEN = 0, DEEP = 100, OUTSIDE = 101 }; /* depths; those of layers are between */

static PetscBool is_inside(const GridBox *box, PetscInt d, PetscInt index)
{
  return d >= box->dimension || box->periodic[d] || (index >= 0 && index < box->cells[d]) ? PETSC_TRUE
                                                                                          : PETSC_FALSE;
}

/* Open, closed or beyond a side, for a row of cells, ghosts included. */
static void mark_row(const GridBox *box, PetscInt width, const PetscReal *closed, unsigned char *depth)
{
  for (PetscInt x = 0; x < width; x++)
    depth[x] = closed[x] > 0. ? DEEP : OPEN;
  for (PetscInt x = 0; x < box->ghost; x++) {
    if (!is_inside(box, X, box->start[X] - 1 - x))
      depth[box->ghost - 1 - x] = OUTSIDE;
    if (!is_inside(box, X, box->end[X] + x))
      depth[width - box->ghost + x] = OUTSIDE;
  }
}

/* Lists the closed cells; not those of the outermost ghosts, whose neighbours are not here. */
static PetscErrorCode ListClosed(Phase phase, const PetscReal *closed)
{
  const GridBox  *box = grid_box(phase->grid);
  const GridRange range = box_grown(box, box->ghost);
  const PetscInt  width = range.end[X] - range.start[X];
  PetscInt        room = phase->closed_room;

  PetscFunctionBegin;
  phase->closed_count = 0;
  FOR_ROWS(&range, j, k) {
    const PetscInt  row = box_index(box, range.start[X], j, k);
    const PetscBool edge = j == range.start[Y] || j == range.end[Y] - 1 ||
                           (box->dimension == 3 && (k == range.start[Z] || k == range.end[Z] - 1));

    if (!is_inside(box, Y, j) || !is_inside(box, Z, k)) {
      memset(phase->depth + row, OUTSIDE, width);
      continue;
    }
    mark_row(box, width, closed + row, phase->depth + row);
    if (phase->closed_count + width > room) {
      room = 2 * (phase->closed_count + width);
      PetscCall(PetscRealloc(room * sizeof(PetscInt), &phase->closed_cells));
    }
    for (PetscInt c = row + 1; c < row + width - 1 && !edge; c++)
      if (phase->depth[c] == DEEP)
        phase->closed_cells[phase->closed_count++] = c;
  }
  phase->closed_room = room;
  PetscFunctionReturn(0);
}

/* Whether the neighbour of a cell along d lies at a depth, and no shell between them. */
static PetscBool neighbour_has_depth(Phase phase, PetscInt c, PetscInt d, PetscInt side, PetscInt wanted)
{
  if (phase->depth[c + side * grid_box(phase->grid)->stride[d]] != wanted)
    return PETSC_FALSE;
  return phase->visibility_map && face_is_blocked(phase->visibility_map, STEP_END, c, d, side) ? PETSC_FALSE
                                                                                               : PETSC_TRUE;
}

static PetscBool has_neighbour_of_depth(Phase phase, PetscInt c, PetscInt wanted)
{
  for (PetscInt d = 0; d < grid_box(phase->grid)->dimension; d++)
    if (neighbour_has_depth(phase, c, d, -1, wanted) || neighbour_has_depth(phase, c, d, 1, wanted))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscErrorCode PhaseFindLayers(Phase phase, Vec closed)
{
  const GridBox   *box = grid_box(phase->grid);
  const PetscReal *marks;
  PetscInt         found = 0;

  PetscFunctionBegin;
  phase->any_closed = closed ? PETSC_TRUE : PETSC_FALSE;
  phase->closed = closed;
  phase->closed_count = 0;
  for (PetscInt layer = 0; layer <= CLOSED_LAYERS; layer++)
    phase->layer_end[layer] = 0;
  if (!closed)
    PetscFunctionReturn(0);
  if (!phase->depth)
    PetscCall(PetscMalloc1(box->length, &phase->depth));
  PetscCall(VecGetArrayRead(closed, &marks));
  PetscCall(ListClosed(phase, marks));
  PetscCall(VecRestoreArrayRead(closed, &marks));
  /* moves the cells of each layer to the front of the list */
  for (PetscInt layer = 1; layer <= CLOSED_LAYERS; layer++) {
    for (PetscInt m = found; m < phase->closed_count; m++) {
      const PetscInt c = phase->closed_cells[m];

      if (!has_neighbour_of_depth(phase, c, layer - 1))
        continue;
      phase->depth[c] = (unsigned char)layer;
      phase->closed_cells[m] = phase->closed_cells[found];
      phase->closed_cells[found++] = c;
    }
    phase->layer_end[layer] = found;
  }
  PetscFunctionReturn(0);
}

/* Whether the distance changes steadily towards a cell of a layer: what lies before it is nearer to the
   fluid, or in it. */
static PetscBool has_slope(Phase phase, PetscInt b, PetscInt outwards)
{
  return phase->depth[b + outwards] < PetscMax(phase->depth[b], 1) ? PETSC_TRUE : PETSC_FALSE;
}

/* Whether a cell up to two cells around c that is nearer to the fluid, or in it, has a distance of this sign.
   Shells are not looked through. */
static PetscBool is_beside_sign(Phase phase, const PetscReal *distance, PetscInt c, PetscBool negative)
{
  const GridBox *box = grid_box(phase->grid);
  const PetscInt reach = is_near_shell(phase->visibility_map, c) ? 0 : 2;
  const PetscInt deep = box->dimension == 3 ? reach : 0, least = PetscMin(phase->depth[c], 2);

  for (PetscInt z = -deep; z <= deep; z++)
    for (PetscInt y = -reach; y <= reach; y++)
      for (PetscInt x = -reach; x <= reach; x++) {
        const PetscInt b = c + x + y * box->stride[Y] + (deep ? z * box->stride[Z] : 0);

        if (phase->depth[b] < least && (distance[b] < 0.) == negative)
          return PETSC_TRUE;
      }
  return PETSC_FALSE;
}

typedef struct {
  ClosedUse        use;
  const PetscReal *walls; /* marks of the closed cells */
  const PetscReal *parts; /* that these leave free of cells; null: all or nothing */
} Continuation;

/* Whether an interface between `near` in neighbour b of the layer before and `far` in c begins where it may
   not: for distances before the wall, as if that lay across the way between the centres, and half-way in
   deeper layers; for the mixture anywhere. */
static PetscBool begins_wrongly(Phase phase, const Continuation *way, PetscInt b, PetscInt c, PetscReal near,
                                PetscReal far)
{
  const PetscReal wall = way->parts && phase->depth[c] == 1 ? way->parts[b] + way->parts[c] - 0.5 : 0.5;

  if ((near < 0.) == (far < 0.))
    return PETSC_FALSE;
  return way->use == CLOSED_FOR_MIXTURE || near / (near - far) < wall - MILLRACE_ROUND_OFF ? PETSC_TRUE
                                                                                           : PETSC_FALSE;
}

/* From the neighbours of the layer before: the mean of what goes on linearly past them, by at most a cell in
   a cell; where there is nothing to go on, or an interface would begin wrongly, the mean of theirs. */
static PetscReal continued(Phase phase, const PetscReal *distance, const Continuation *way, PetscInt c)
{
  const GridBox  *box = grid_box(phase->grid);
  const PetscReal h = grid_spacing(phase->grid);
  PetscReal       constant = 0., linear = 0.;
  PetscInt        count = 0, slopes = 0, wrong = 0;

  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = -1; side <= 1; side += 2) {
      const PetscInt outwards = side * box->stride[d], b = c + outwards;
      PetscReal      onward;

      if (!neighbour_has_depth(phase, c, d, side, phase->depth[c] - 1))
        continue;
      constant += distance[b];
      count++;
      if (!has_slope(phase, b, outwards))
        continue;
      onward = distance[b] + PetscMax(-h, PetscMin(distance[b] - distance[b + outwards], h));
      wrong += begins_wrongly(phase, way, b, c, distance[b], onward);
      linear += onward;
      slopes++;
    }
  constant /= count;
  linear = slopes ? linear / slopes : constant;
  if (wrong && (linear < 0.) != (constant < 0.) &&
      !is_beside_sign(phase, distance, c, linear < 0. ? PETSC_TRUE : PETSC_FALSE))
    return constant;
  return linear;
}

/* Whether a shell, the end of the box or a deeper cell hides the neighbour of cell b. */
static PetscBool is_usable(Phase phase, PetscInt b, PetscInt d, PetscInt side)
{
  return phase->depth[b + side * grid_box(phase->grid)->stride[d]] <= phase->depth[b] &&
                 !(phase->visibility_map && face_is_blocked(phase->visibility_map, STEP_END, b, d, side))
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Over a cell, from neighbours that are no deeper. */
static Vector3 gradient_before(Phase phase, const PetscReal *distance, PetscInt b)
{
  const GridBox *box = grid_box(phase->grid);
  Vector3        gradient = vector3(0., 0., 0.);

  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscInt  s = box->stride[d];
    const PetscBool low = is_usable(phase, b, d, -1), high = is_usable(phase, b, d, 1);

    if (low || high)
      gradient.at[d] = (distance[high ? b + s : b] - distance[low ? b - s : b]) / (low && high ? 2. : 1.);
  }
  return gradient;
}

/* Out of the fluid: towards the closed ones of the cells around, which count in pairs that lie opposite. */
static Vector3 wall_normal(Phase phase, PetscInt c)
{
  const GridBox *box = grid_box(phase->grid);
  const PetscInt reach = phase->depth[c] == 1 ? 2 : 3, deep = box->dimension == 3 ? reach : 0;
  Vector3        normal = vector3(0., 0., 0.);

  for (PetscInt z = -deep; z <= deep; z++)
    for (PetscInt y = -reach; y <= reach; y++)
      for (PetscInt x = -reach; x <= reach; x++) {
        const PetscInt  away = x + y * box->stride[Y] + (deep ? z * box->stride[Z] : 0);
        const PetscInt  there = phase->depth[c + away], opposite = phase->depth[c - away];
        const PetscReal square = x * x + y * y + z * z;

        if (square == 0. || square > reach * reach + 0.5 || there == OUTSIDE || opposite == OUTSIDE)
          continue;
        normal = vector3_add(normal, vector3_scale(((there != OPEN) - (opposite != OPEN)) / square,
                                                   vector3((PetscReal)x, (PetscReal)y, (PetscReal)z)));
      }
  return normal;
}

/* As above where a contact angle gives the slope across the wall: along the wall the distance goes on as it
   does before it. */
static PetscReal tilted(Phase phase, const PetscReal *distance, const Continuation *way, PetscInt c,
                        PetscReal slope)
{
  const GridBox  *box = grid_box(phase->grid);
  const PetscReal h = grid_spacing(phase->grid);
  Vector3         normal = wall_normal(phase, c);
  const PetscReal length = vector3_norm(normal);
  PetscReal       sum = 0.;
  PetscInt        count = 0;

  if (length < 1e-6)
    return continued(phase, distance, way, c);
  normal = vector3_scale(1. / length, normal);
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = -1; side <= 1; side += 2) {
      const PetscInt b = c + side * box->stride[d];
      Vector3        gradient;

      if (!neighbour_has_depth(phase, c, d, side, phase->depth[c] - 1))
        continue;
      gradient = gradient_before(phase, distance, b);
      sum +=
          distance[b] - side * (gradient.at[d] + (slope * h - vector3_dot(gradient, normal)) * normal.at[d]);
      count++;
    }
  return sum / count;
}

/* What a distance is in a closed cell. */
static PetscReal behind_wall(Phase phase, const PetscReal *distance, const Continuation *way,
                             const PetscReal *partners, PetscInt n, PetscInt c)
{
  const PetscInt partner = partners ? (PetscInt)partners[c] : 0;
  PetscReal      slope;

  if (!partner)
    return continued(phase, distance, way, c);
  slope = contact_slope(phase, n, partner - 1, CONTACT_WALLS + (PetscInt)way->walls[c] - 1);
  return slope < PETSC_INFINITY ? tilted(phase, distance, way, c, slope) : continued(phase, distance, way, c);
}

static PetscBool is_in_range(const GridBox *box, const GridRange *range, PetscInt c)
{
  PetscInt at[DIM];

  box_at(box, c, at);
  for (PetscInt d = 0; d < box->dimension; d++)
    if (at[d] < range->start[d] || at[d] >= range->end[d])
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static PetscErrorCode ExtendIntoLayer(Phase phase, PetscInt layer, ClosedUse use)
{
  const GridBox   *box = grid_box(phase->grid);
  const GridRange  range = box_grown(box, 0);
  PetscReal       *distances[REGIONS_MAX];
  const PetscReal *partners[REGIONS_MAX] = {NULL};
  Continuation     way = {use, NULL, NULL};

  PetscFunctionBegin;
  PetscCall(PhaseGetDistances(phase, distances));
  PetscCall(VecGetArrayRead(phase->closed, &way.walls));
  if (phase->parts)
    PetscCall(VecGetArrayRead(phase->parts, &way.parts));
  for (PetscInt n = 0; n < phase->count && phase->contact_places; n++)
    PetscCall(VecGetArrayRead(phase->partners[n], &partners[n]));
  for (PetscInt m = phase->layer_end[layer - 1]; m < phase->layer_end[layer]; m++) {
    const PetscInt c = phase->closed_cells[m];

    if (is_in_range(box, &range, c))
      for (PetscInt n = 0; n < phase->count; n++)
        distances[n][c] = PetscMax(
            -phase->band, PetscMin(behind_wall(phase, distances[n], &way, partners[n], n, c), phase->band));
  }
  for (PetscInt n = 0; n < phase->count && phase->contact_places; n++)
    PetscCall(VecRestoreArrayRead(phase->partners[n], &partners[n]));
  if (phase->parts)
    PetscCall(VecRestoreArrayRead(phase->parts, &way.parts));
  PetscCall(VecRestoreArrayRead(phase->closed, &way.walls));
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseExtendIntoClosed(Phase phase, ClosedUse use)
{
  PetscFunctionBegin;
  if (!phase->any_closed)
    PetscFunctionReturn(0);
  for (PetscInt layer = 1; layer <= CLOSED_LAYERS; layer++) {
    PetscCall(ExtendIntoLayer(phase, layer, use));
    if (layer < CLOSED_LAYERS) /* the next one sees two cells around */
      for (PetscInt n = 0; n < phase->count; n++)
        PetscCall(MacGridExchange(phase->grid, phase->distances[n]));
  }
  PetscFunctionReturn(0);
}
