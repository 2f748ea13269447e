/* Advection past thin shells (docs/numerics.md, section 15, Shells): first-order semi-Lagrangian in the frame
   of the nearest shell,

     x' = x moved back with the shell,   foot = x' - dt w(x' - dt/2 w(x')),   w = u - velocity of the shell,

   where the way from x' to the foot must be free of shells as they stood before the step, and every
   interpolation takes only nodes that are seen from where it is done. Beyond, w is zero, a velocity that of
   the shell, and a scalar that of the seen nodes. Trajectories belong to cells; a face takes the mean of
   those of its cells that it sees. Places from which no shell can be seen are left to the other schemes. */
#include "shell_transport.h"

#include <millrace/trajectory.h>
#include <millrace/visible_stencil.h>

/* A point of the moment before, and how far around it nothing is hidden. */
typedef struct {
  Vector3   point;
  PetscReal clear;
} ViewPoint;

/* A node and its seven neighbours upwards; the place within. */
typedef struct {
  PetscInt  at[DIM];
  PetscReal fraction[DIM];
} Stencil;

/* Largest shifts, in cells, from a cell to where the flow is sampled and from a value to its foot: both stay
   within the ghosts. */
static const PetscReal sample_farthest = 1.5 - 1e-9, foot_farthest = MOST_CELLS_PER_STEP - 1e-9;

static Vector3 node_of(const ShellTracer *tracer, PetscInt direction, const PetscInt at[DIM])
{
  if (direction == CELL_VALUES)
    return grid_cell_centre(tracer->fluid->grid, at[X], at[Y], at[Z]);
  return grid_face_centre(tracer->fluid->grid, direction, at[X], at[Y], at[Z]);
}

static PetscReal distance_between(Vector3 a, Vector3 b)
{
  return vector3_norm(vector3_subtract(a, b));
}

static PetscBool is_seen(const ShellTracer *tracer, const ViewPoint *eye, Vector3 point)
{
  if (distance_between(eye->point, point) < eye->clear)
    return PETSC_TRUE;
  return tracer->visibility->blocks(tracer->visibility->context, STEP_START, eye->point, point) ? PETSC_FALSE
                                                                                                : PETSC_TRUE;
}

static PetscReal clear_around(const ShellTracer *tracer, PetscReal distance)
{
  return PetscMin(distance, VISIBILITY_REACH * tracer->h) * (1. - 1e-5); /* a shell has a margin */
}

/* Around a point, from the node at `at`. */
static Stencil stencil_around(const ShellTracer *tracer, PetscInt direction, const PetscInt at[DIM],
                              Vector3 point)
{
  const Vector3 node = node_of(tracer, direction, at);
  Stencil       stencil = {{at[X], at[Y], at[Z]}, {0., 0., 0.}};

  for (PetscInt a = 0; a < tracer->box->dimension; a++) {
    const PetscReal shift = (point.at[a] - node.at[a]) / tracer->h, whole = PetscFloorReal(shift);

    stencil.at[a] += (PetscInt)whole;
    stencil.fraction[a] = shift - whole;
  }
  return stencil;
}

/* Index and weight of a corner. */
static PetscReal corner_of(const ShellTracer *tracer, const Stencil *stencil, int n, PetscInt at[DIM])
{
  PetscReal weight = 1.;

  for (PetscInt a = 0; a < DIM; a++) {
    const int side = n >> a & 1;

    at[a] = stencil->at[a] + side;
    if (a < tracer->box->dimension)
      weight *= side ? stencil->fraction[a] : 1. - stencil->fraction[a];
  }
  return weight;
}

static int corner_count(const ShellTracer *tracer)
{
  return tracer->box->dimension == 2 ? 4 : 8;
}

/* Of the shell at a point, from its motion about `start`. */
static PetscReal shell_velocity(const ShellMotion *motion, Vector3 start, Vector3 point, PetscInt e)
{
  const Vector3 arm = vector3_subtract(point, start);

  return motion->velocity.at[e] + motion->slope.at[e][X] * arm.at[X] + motion->slope.at[e][Y] * arm.at[Y] +
         motion->slope.at[e][Z] * arm.at[Z];
}

/* w at a eye that is less than sample_farthest from the centre of cell `at`. */
static Vector3 relative_flow(const ShellTracer *tracer, const PetscInt at[DIM], const ViewPoint *eye,
                             const ShellMotion *motion, Vector3 start)
{
  Vector3 flow = {{0., 0., 0.}};

  for (PetscInt e = 0; e < tracer->box->dimension; e++) {
    const Stencil stencil = stencil_around(tracer, e, at, eye->point);

    for (int n = 0; n < corner_count(tracer); n++) {
      PetscInt        corner[DIM];
      const PetscReal weight = corner_of(tracer, &stencil, n, corner);
      const Vector3   node = node_of(tracer, e, corner);

      if (weight > 0. && is_seen(tracer, eye, node))
        flow.at[e] += weight * (tracer->flow[e][box_index(tracer->box, corner[X], corner[Y], corner[Z])] -
                                shell_velocity(motion, start, node, e));
    }
  }
  return flow;
}

/* The last free point of a way. */
static Vector3 stopped_short(const ShellTracer *tracer, const ViewPoint *from, Vector3 to)
{
  if (distance_between(from->point, to) < from->clear)
    return to;
  return last_visible(tracer->visibility, STEP_START, from->point, to);
}

static Vector3 clamped(const ShellTracer *tracer, Vector3 about, Vector3 point, PetscReal cells)
{
  for (PetscInt a = 0; a < tracer->box->dimension; a++)
    point.at[a] = about.at[a] + limited_shift(point.at[a] - about.at[a], cells * tracer->h);
  return point;
}

static PetscBool is_within(const ShellTracer *tracer, Vector3 about, Vector3 point, PetscReal cells)
{
  for (PetscInt a = 0; a < tracer->box->dimension; a++)
    if (PetscAbsReal(point.at[a] - about.at[a]) > cells * tracer->h)
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static Vector3 trace_relative_shift(const ShellTracer *tracer, const PetscInt at[DIM])
{
  const Vector3     centre = node_of(tracer, CELL_VALUES, at);
  const Vector3     start = tracer->visibility->carry(tracer->visibility->context, STEP_START, centre);
  const ShellMotion motion = tracer->visibility->motion(tracer->visibility->context, start);
  const ViewPoint   here = {start, clear_around(tracer, motion.distance)};
  ViewPoint         middle;
  Vector3           flow;

  if (!is_within(tracer, centre, start, sample_farthest))
    return vector3(0., 0., 0.);
  flow = relative_flow(tracer, at, &here, &motion, start);
  middle.point = vector3_subtract(start, vector3_scale(0.5 * tracer->dt, flow));
  middle.point = stopped_short(tracer, &here, clamped(tracer, centre, middle.point, sample_farthest));
  middle.clear = here.clear - distance_between(start, middle.point);
  flow = relative_flow(tracer, at, &middle, &motion, start);
  return vector3_scale(tracer->dt, flow);
}

static Vector3 relative_shift_of(const ShellTracer *tracer, const PetscInt at[DIM])
{
  const PetscInt c = box_index(tracer->box, at[X], at[Y], at[Z]);
  Vector3        shift;

  if (!tracer->cache->is_traced[c]) {
    shift = trace_relative_shift(tracer, at);
    for (PetscInt a = 0; a < DIM; a++)
      tracer->cache->relative_shifts[a][c] = shift.at[a];
    tracer->cache->is_traced[c] = 1;
  }
  return vector3(tracer->cache->relative_shifts[X][c], tracer->cache->relative_shifts[Y][c],
                 tracer->cache->relative_shifts[Z][c]);
}

/* Of a value: its cell's, or the mean of those of its two cells that are on its side. */
static Vector3 relative_shift_at(const ShellTracer *tracer, PetscInt direction, const PetscInt at[DIM],
                                 Vector3 place)
{
  Vector3   sum = {{0., 0., 0.}};
  PetscReal count = 0.;

  if (direction == CELL_VALUES)
    return relative_shift_of(tracer, at);
  for (int side = 0; side < 2; side++) {
    PetscInt cell[DIM] = {at[X], at[Y], at[Z]};

    cell[direction] -= side;
    if (tracer->visibility->blocks(tracer->visibility->context, STEP_END, place,
                                   node_of(tracer, CELL_VALUES, cell)))
      continue;
    sum = vector3_add(sum, relative_shift_of(tracer, cell));
    count += 1.;
  }
  return count > 0. ? vector3_scale(1. / count, sum) : sum;
}

/* A scalar is not taken from an obstacle, nor from beyond a side if the cell that it mirrors is hidden. */
static PetscBool is_usable(const ShellTracer *tracer, PetscInt direction, const PetscInt at[DIM],
                           const ViewPoint *eye)
{
  const GridBox *box = tracer->box;
  PetscInt       mirrored[DIM] = {at[X], at[Y], at[Z]};
  PetscBool      is_beyond = PETSC_FALSE;

  if (direction != CELL_VALUES)
    return PETSC_TRUE;
  if (tracer->solid && cell_cover(tracer->solid[box_index(box, at[X], at[Y], at[Z])]).kind == CELL_WALL)
    return PETSC_FALSE;
  for (PetscInt a = 0; a < box->dimension; a++) {
    if (box->periodic[a] || (at[a] >= 0 && at[a] < box->cells[a]))
      continue;
    mirrored[a] = at[a] < 0 ? -1 - at[a] : 2 * box->cells[a] - 1 - at[a];
    is_beyond = PETSC_TRUE;
  }
  return !is_beyond || is_seen(tracer, eye, node_of(tracer, CELL_VALUES, mirrored)) ? PETSC_TRUE
                                                                                    : PETSC_FALSE;
}

/* The nearest seen cell of those that this rank knows around `at`; that cell itself if there is none. */
static PetscInt nearest_seen(const ShellTracer *tracer, const PetscInt at[DIM], const ViewPoint *eye)
{
  const PetscInt reach = GHOST_WIDTH, deep = tracer->box->dimension == 3 ? reach : 0;
  PetscReal      least = PETSC_INFINITY;
  PetscInt       found = box_index(tracer->box, at[X], at[Y], at[Z]), n[DIM];

  for (n[Z] = at[Z] - deep; n[Z] <= at[Z] + deep; n[Z]++)
    for (n[Y] = at[Y] - reach; n[Y] <= at[Y] + reach; n[Y]++)
      for (n[X] = at[X] - reach; n[X] <= at[X] + reach; n[X]++) {
        const Vector3   node = node_of(tracer, CELL_VALUES, n);
        const PetscReal distance = distance_between(node, eye->point);

        if (distance >= least || !is_usable(tracer, CELL_VALUES, n, eye) || !is_seen(tracer, eye, node))
          continue;
        least = distance;
        found = box_index(tracer->box, n[X], n[Y], n[Z]);
      }
  return found;
}

DepartureStencil departure_stencil(const ShellTracer *tracer, PetscInt direction, const PetscInt at[DIM],
                                   Vector3 start)
{
  const Vector3     place = node_of(tracer, direction, at);
  const ShellMotion motion = tracer->visibility->motion(tracer->visibility->context, start);
  const ViewPoint   here = {start, clear_around(tracer, motion.distance)};
  DepartureStencil  departure = {.place = box_index(tracer->box, at[X], at[Y], at[Z])};
  PetscReal         total = 0.;
  Stencil           stencil;
  ViewPoint         foot;

  departure.instead = departure.corner = departure.place;
  if (!is_within(tracer, place, start, foot_farthest))
    return departure;
  foot.point = vector3_subtract(start, relative_shift_at(tracer, direction, at, place));
  foot.point = stopped_short(tracer, &here, clamped(tracer, place, foot.point, foot_farthest));
  foot.clear = here.clear - distance_between(start, foot.point);
  stencil = stencil_around(tracer, direction, at, foot.point);
  departure.corner = box_index(tracer->box, stencil.at[X], stencil.at[Y], stencil.at[Z]);
  for (int n = 0; n < corner_count(tracer); n++) {
    PetscInt        corner[DIM];
    const PetscReal weight = corner_of(tracer, &stencil, n, corner);
    const Vector3   node = node_of(tracer, direction, corner);

    if (weight <= 0.)
      continue;
    if (is_usable(tracer, direction, corner, &foot) && is_seen(tracer, &foot, node))
      total += departure.weights[n] = weight;
    else if (direction != CELL_VALUES)
      departure.beyond += weight * shell_velocity(&motion, start, node, direction);
  }
  if (direction == CELL_VALUES && total < 1e-9) {
    PetscArrayzero(departure.weights, 8);
    departure.instead = nearest_seen(tracer, at, &foot);
  }
  return departure;
}

static Vector3 shift_at(const ShellTracer *tracer, PetscReal *const shifts[DIM], PetscInt direction,
                        PetscInt c)
{
  const PetscInt back = direction == CELL_VALUES ? c : c - tracer->box->stride[direction];
  Vector3        shift = {{0., 0., 0.}};

  for (PetscInt a = 0; a < tracer->box->dimension; a++)
    shift.at[a] = 0.5 * tracer->h * (shifts[a][c] + shifts[a][back]);
  return shift;
}

/* How far around a place no shell is after the step. */
static PetscReal clear_after(const ShellTracer *tracer, Vector3 place)
{
  return clear_around(tracer, tracer->visibility->distance(tracer->visibility->context, STEP_END, place));
}

/* At least that far, from what is known of its cell. */
static PetscReal clear_at_least(const ShellTracer *tracer, PetscInt direction, const PetscInt at[DIM])
{
  PetscReal *clear = &tracer->cache->clear[box_index(tracer->box, at[X], at[Y], at[Z])];

  if (*clear < 0.)
    *clear = clear_after(tracer, node_of(tracer, CELL_VALUES, at));
  return direction == CELL_VALUES ? *clear : *clear - 0.5 * tracer->h;
}

/* What must be clear around a foot that is `way` from its value, for interpolation there and half-way, where
   the flow was sampled; a face has its trajectory from cells half a cell away. */
static PetscReal need_at_foot(const ShellTracer *tracer, PetscInt direction, PetscReal way)
{
  return (PetscSqrtReal((PetscReal)tracer->box->dimension) + (direction == CELL_VALUES ? 0. : 0.5)) *
             tracer->h +
         0.5 * way;
}

/* What a place must have clear around it for its foot, and for its head, to see no shell. */
static void find_needs(const ShellTracer *tracer, PetscInt direction, PetscInt c, PetscReal needs[2])
{
  const PetscReal way_of_shell = tracer->visibility->way;
  PetscReal       way;

  needs[0] = GHOST_WIDTH * tracer->h + way_of_shell;
  needs[1] = 0.;
  if (tracer->feet[X]) {
    way = vector3_norm(shift_at(tracer, tracer->feet, direction, c));
    needs[0] = way + way_of_shell + PetscMax(need_at_foot(tracer, direction, way), way + way_of_shell);
  }
  if (tracer->heads[X]) {
    way = vector3_norm(shift_at(tracer, tracer->heads, direction, c));
    needs[1] = way + need_at_foot(tracer, direction, way);
  }
}

/* Cheap answers first. */
ShellInfluence shell_influence(const ShellTracer *tracer, PetscInt direction, const PetscInt at[DIM],
                               Vector3 *start)
{
  const Visibility *visibility = tracer->visibility;
  const PetscInt    c = box_index(tracer->box, at[X], at[Y], at[Z]);
  const Vector3     place = node_of(tracer, direction, at);
  PetscReal         clear = clear_at_least(tracer, direction, at), needs[2];
  Vector3           foot;

  find_needs(tracer, direction, c, needs);
  if (clear > needs[0] && clear > needs[1])
    return INFLUENCE_NONE;
  if (direction != CELL_VALUES)
    clear = clear_after(tracer, place);
  if (clear <= needs[0]) {
    *start = visibility->carry(visibility->context, STEP_START, place);
    if (!tracer->feet[X])
      return INFLUENCE_ON_VALUE;
    foot = vector3_add(place, shift_at(tracer, tracer->feet, direction, c));
    if (clear_around(tracer, visibility->distance(visibility->context, STEP_START, foot)) <=
        PetscMax(need_at_foot(tracer, direction, distance_between(place, foot)),
                 distance_between(foot, *start)))
      return INFLUENCE_ON_VALUE;
  }
  return clear > needs[1] ? INFLUENCE_NONE : INFLUENCE_ON_CORRECTION;
}
