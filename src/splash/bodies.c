/* Rigid bodies in the liquid (docs/numerics.md, 7a).

   A body takes from the room of cells and faces what a lattice of particles in it would fill, by the same hat
   as obstacles: s_f of a face. As it moves, room goes with it: a cell gains dt/h sum s U over its faces, B V
   of the body's six numbers, where the liquid loses dt/h sum (density u). The pressure that holds the sum of
   both back acts on both: liquid gets -h/dt v dP/density, a body the impulse density h^(d+1)/dt B^T P, which
   is that of -grad p in the part of it in each face's cell. With v + s = 1 the two momenta cancel but for
   what sides and obstacles take. */
#include "splash_impl.h"

static const PetscReal reach = 2.; /* cells: how far `near` marks and distances go */

/* A body is far from a point, or its distance. */
static PetscReal body_distance(const Splash splash, PetscInt b, Vector3 point, PetscReal far)
{
  const SplashBody *body = &splash->bodies[b];

  for (PetscInt d = 0; d < grid_box(splash->grid)->dimension; d++)
    if (point.at[d] < body->low.at[d] - far || point.at[d] > body->high.at[d] + far)
      return far;
  return shape_distance(body->shape, rigid_apply_inverse(&body->place, point));
}

PetscReal solid_distance(const Splash splash, Vector3 point, PetscInt *body)
{
  const PetscReal far = reach * grid_spacing(splash->grid);
  PetscReal       least = obstacle_distance(splash, point);

  *body = -1;
  for (PetscInt b = 0; b < splash->body_count; b++) {
    const PetscReal distance = body_distance(splash, b, point, far);

    if (distance < least) {
      least = distance;
      *body = b;
    }
  }
  return least;
}

/* The cells within `range` that a body is at most `cells` cells away from. */
static GridRange cells_around(const Splash splash, const SplashBody *body, PetscReal cells, GridRange range)
{
  const PetscReal h = grid_spacing(splash->grid);
  const Vector3   origin = grid_origin(splash->grid);

  for (PetscInt d = 0; d < grid_box(splash->grid)->dimension; d++) {
    const PetscReal first = PetscFloorReal((body->low.at[d] - origin.at[d]) / h - cells),
                    last = PetscFloorReal((body->high.at[d] - origin.at[d]) / h + cells) + 1.;

    if (first > range.start[d])
      range.start[d] = first < range.end[d] ? (PetscInt)first : range.end[d];
    if (last < range.end[d])
      range.end[d] = last > range.start[d] ? (PetscInt)last : range.start[d];
  }
  return range;
}

/* In a body, and neither in one before it nor in an obstacle. */
static PetscBool belongs_to(const Splash splash, PetscInt b, Vector3 point)
{
  const PetscReal far = grid_spacing(splash->grid);

  if (body_distance(splash, b, point, far) > 0. || is_in_obstacle(splash, point))
    return PETSC_FALSE;
  for (PetscInt other = 0; other < b; other++)
    if (!(body_distance(splash, other, point, far) > 0.))
      return PETSC_FALSE;
  return PETSC_TRUE;
}

/* Beyond a periodic side a cell is the one at the other end. */
static void wrap(const GridBox *box, const PetscInt at[DIM], PetscInt inside[DIM])
{
  for (PetscInt d = 0; d < DIM; d++)
    inside[d] = d < box->dimension && box->periodic[d] ? (at[d] + box->cells[d]) % box->cells[d] : at[d];
}

/* The lattice of a body, into `shares`. */
static PetscErrorCode RasterBody(Splash splash, PetscInt b)
{
  const GridBox  *box = grid_box(splash->grid);
  const PetscInt  size = lattice_size(splash->config, box->dimension);
  const PetscReal h = grid_spacing(splash->grid);
  const GridRange range = cells_around(splash, &splash->bodies[b], 0., box_grown(box, 1));
  Vector3        *points;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(size, &points));
  FOR_PLACES(&range, at) {
    PetscInt inside[DIM], count = 0;

    if (!is_in_box(box, at))
      continue;
    wrap(box, at, inside);
    for (PetscInt n = 0; n < size; n++) {
      Vector3 point = lattice_point(splash, inside, n);

      if (!belongs_to(splash, b, point))
        continue;
      for (PetscInt d = 0; d < box->dimension; d++)
        point.at[d] += h * (at[d] - inside[d]);
      points[count++] = point;
    }
    raster_points(splash, count, points, NULL, 0, &splash->shares);
  }
  raster_fold_sides(splash, &splash->shares);
  PetscCall(PetscFree(points));
  PetscFunctionReturn(0);
}

/* r x e_d, about the centre of the body. */
static void add_face(const Splash splash, const SplashBody *body, PetscInt d, const PetscInt at[DIM],
                     PetscReal share, PetscReal row[TWIST])
{
  const Vector3 arm = vector3_subtract(grid_face_centre(splash->grid, d, at[X], at[Y], at[Z]), body->centre);
  Vector3       axis = vector3(0., 0., 0.), turn;

  axis.at[d] = 1.;
  turn = vector3_cross(arm, axis);
  row[d] += share;
  for (PetscInt e = 0; e < DIM; e++)
    row[DIM + e] += share * turn.at[e];
}

/* Of faces. */
typedef struct {
  PetscReal *room[DIM], *free_room[DIM], *weights[DIM], *density[DIM];
} BodyFields;

static PetscInt tight_place(const GridBox *box, const PetscInt at[DIM])
{
  PetscInt place = 0;

  for (PetscInt d = DIM - 1; d >= 0; d--)
    place = place * (box->end[d] - box->start[d]) + at[d] - box->start[d];
  return place;
}

/* What of a face belongs to the body, if that has `share` of it: where liquid on a face that bodies have a
   part of is too little to take all of its pressure, they take the rest, so that no momentum is lost. */
static PetscReal part_of_face(const BodyFields *fields, PetscInt d, PetscInt c, PetscReal share)
{
  const PetscReal room = fields->room[d][c], free_room = fields->free_room[d][c],
                  taken = splash_pressed_share(fields->weights[d][c], fields->density[d][c]);

  return free_room > room ? share * (free_room - taken) / (free_room - room) : share;
}

/* The row of B of one cell: upper faces less lower ones. */
static void find_row(const Splash splash, const BodyFields *fields, const BodyCell *cell, BodyRow *row)
{
  const GridBox *box = grid_box(splash->grid);

  *row = (BodyRow){.cell = cell->tight, .body = cell->body};
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      const PetscInt  c = cell->place + side * box->stride[d];
      const PetscReal share = cell->shares[d][side];
      PetscInt        face[DIM] = {cell->at[X], cell->at[Y], cell->at[Z]};

      face[d] += side;
      if (share > 0.)
        add_face(splash, &splash->bodies[cell->body], d, face,
                 (side ? 1. : -1.) * part_of_face(fields, d, c, share), row->row);
    }
}

PetscErrorCode SplashFindRows(Splash splash)
{
  BodyFields fields;

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(splash->grid, splash->face_room, fields.room));
  PetscCall(MacGridGetFaces(splash->grid, splash->free_face_room, fields.free_room));
  PetscCall(MacGridGetFaces(splash->grid, splash->weights, fields.weights));
  PetscCall(MacGridGetFaces(splash->grid, splash->face_density, fields.density));
  for (PetscInt n = 0; n < splash->row_count; n++)
    find_row(splash, &fields, &splash->cells[n], &splash->rows[n]);
  PetscCall(MacGridRestoreFaces(splash->grid, splash->face_density, fields.density));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->weights, fields.weights));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->free_face_room, fields.free_room));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->face_room, fields.room));
  PetscFunctionReturn(0);
}

/* The cell with the shares of its faces, where they are not closed sides. */
static PetscBool body_cell(const Splash splash, PetscInt b, const PetscInt at[DIM], BodyCell *cell)
{
  const GridBox  *box = grid_box(splash->grid);
  const PetscReal part = 1. / lattice_size(splash->config, box->dimension);
  PetscBool       touches = PETSC_FALSE;

  *cell = (BodyCell){.body = b,
                     .at = {at[X], at[Y], at[Z]},
                     .place = box_index(box, at[X], at[Y], at[Z]),
                     .tight = tight_place(box, at)};
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      const PetscReal share = part * splash->shares.faces[d][2 * (cell->place + side * box->stride[d])];

      const FacePlace face = face_place(splash, d, at[d] + side);

      if (share == 0. || face == FACE_CLOSED)
        continue;
      touches = PETSC_TRUE;
      cell->shares[d][side] = face == FACE_OPEN ? 2. * share : share;
    }
  return touches;
}

static PetscErrorCode AppendCell(Splash splash, const BodyCell *cell)
{
  const PetscInt n = splash->row_count++;

  PetscFunctionBegin;
  if (!(n & (n - 1))) { /* 0 or a power of two: full */
    PetscCall(PetscRealloc(2 * PetscMax(n, 1) * sizeof(*splash->rows), &splash->rows));
    PetscCall(PetscRealloc(2 * PetscMax(n, 1) * sizeof(*splash->cells), &splash->cells));
  }
  splash->cells[n] = *cell;
  PetscFunctionReturn(0);
}

static PetscErrorCode AppendCells(Splash splash, PetscInt b)
{
  const GridRange range =
      cells_around(splash, &splash->bodies[b], reach, box_grown(grid_box(splash->grid), 0));
  BodyCell cell;

  PetscFunctionBegin;
  FOR_PLACES(&range, at)
    if (body_cell(splash, b, at, &cell))
      PetscCall(AppendCell(splash, &cell));
  PetscFunctionReturn(0);
}

/* From the room of owned cells and faces; what is left is no less than 0. */
static PetscErrorCode TakeRoom(Splash splash, PetscInt b)
{
  const GridBox  *box = grid_box(splash->grid);
  const PetscReal part = 1. / lattice_size(splash->config, box->dimension);
  PetscReal      *room, *face_room[DIM];

  PetscFunctionBegin;
  PetscCall(VecGetArray(splash->room, &room));
  PetscCall(MacGridGetFaces(splash->grid, splash->face_room, face_room));
  for (PetscInt component = CELL_CENTRES; component < box->dimension; component++) {
    const GridRange all = component < 0 ? box_grown(box, 0) : grid_faces(splash->grid, component),
                    range = cells_around(splash, &splash->bodies[b], reach, all);

    FOR_CELLS(&range, i, j, k) {
      const PetscInt  c = box_index(box, i, j, k);
      const PetscInt  at = component == X ? i : component == Y ? j : k;
      const PetscReal twice = component >= 0 && face_place(splash, component, at) == FACE_OPEN ? 2. : 1.;
      const PetscReal share =
          twice * part * (component < 0 ? splash->shares.cells[c] : splash->shares.faces[component][2 * c]);
      PetscReal *left = component < 0 ? &room[c] : &face_room[component][c];

      *left = share > 0. ? PetscMax(*left - share, 0.) : *left;
    }
  }
  PetscCall(MacGridRestoreFaces(splash->grid, splash->face_room, face_room));
  PetscCall(VecRestoreArray(splash->room, &room));
  PetscFunctionReturn(0);
}

static void clear_shares(Splash splash, PetscInt b)
{
  const GridBox  *box = grid_box(splash->grid);
  const GridRange range = cells_around(splash, &splash->bodies[b], reach, box_grown(box, box->ghost));

  FOR_CELLS(&range, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    splash->shares.cells[c] = 0.;
    for (PetscInt d = 0; d < box->dimension; d++)
      splash->shares.faces[d][2 * c] = splash->shares.faces[d][2 * c + 1] = 0.;
  }
}

static PetscErrorCode MarkBody(Splash splash, PetscInt b)
{
  const GridBox  *box = grid_box(splash->grid);
  const PetscReal far = reach * grid_spacing(splash->grid);
  const GridRange range = cells_around(splash, &splash->bodies[b], reach, box_grown(box, box->ghost));
  PetscReal      *near, *solid;

  PetscFunctionBegin;
  PetscCall(VecGetArray(splash->near, &near));
  PetscCall(VecGetArray(splash->solid, &solid));
  FOR_CELLS(&range, i, j, k) {
    const PetscReal distance = body_distance(splash, b, grid_cell_centre(splash->grid, i, j, k), far);

    if (distance < far)
      near[box_index(box, i, j, k)] = 1.;
    if (distance <= 0.)
      solid[box_index(box, i, j, k)] = 1.;
  }
  PetscCall(VecRestoreArray(splash->solid, &solid));
  PetscCall(VecRestoreArray(splash->near, &near));
  PetscFunctionReturn(0);
}

/* C = density h^dimension times the inverse of mass and inertia. */
static void set_block(Splash splash, PetscInt b)
{
  const PetscInt    dimension = grid_box(splash->grid)->dimension;
  const PetscReal   cell = splash->fluid->density * PetscPowRealInt(grid_spacing(splash->grid), dimension);
  const SplashBody *body = &splash->bodies[b];

  for (PetscInt m = 0; m < TWIST; m++)
    for (PetscInt n = 0; n < TWIST; n++)
      splash->blocks[b][m][n] = m < DIM || n < DIM ? (m == n ? cell * body->inverse_mass : 0.)
                                                   : cell * body->inverse_inertia.at[m - DIM][n - DIM];
}

/* For the first bodies: fields without them. */
static PetscErrorCode BeginBodies(Splash splash)
{
  const GridBox *box = grid_box(splash->grid);

  PetscFunctionBegin;
  PetscCall(VecDuplicate(splash->room, &splash->free_room));
  PetscCall(VecDuplicate(splash->room, &splash->free_near));
  PetscCall(VecDuplicate(splash->room, &splash->free_solid));
  PetscCall(VecCopy(splash->room, splash->free_room));
  PetscCall(VecCopy(splash->near, splash->free_near));
  PetscCall(VecCopy(splash->solid, splash->free_solid));
  PetscCall(PetscCalloc1(box->length, &splash->shares.cells));
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscCall(VecDuplicate(splash->face_room[d], &splash->free_face_room[d]));
    PetscCall(VecCopy(splash->face_room[d], splash->free_face_room[d]));
    PetscCall(PetscCalloc1(2 * box->length, &splash->shares.faces[d]));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode TakeBodies(Splash splash, PetscInt count, const SplashBody bodies[])
{
  PetscFunctionBegin;
  if (count != splash->body_count) {
    PetscCall(PetscFree3(splash->bodies, splash->blocks, splash->hits));
    PetscCall(PetscCalloc3(count, &splash->bodies, count, &splash->blocks, TWIST * count, &splash->hits));
    splash->body_count = count;
  }
  PetscCall(PetscArraycpy(splash->bodies, bodies, count));
  for (PetscInt b = 0; b < count; b++)
    set_block(splash, b);
  PetscFunctionReturn(0);
}

PetscErrorCode SplashSetBodies(Splash splash, PetscInt count, const SplashBody bodies[])
{
  const PetscInt dimension = grid_box(splash->grid)->dimension;

  PetscFunctionBegin;
  if (!splash->free_room)
    PetscCall(BeginBodies(splash));
  PetscCall(TakeBodies(splash, count, bodies));
  PetscCall(VecCopy(splash->free_room, splash->room));
  PetscCall(VecCopy(splash->free_near, splash->near));
  PetscCall(VecCopy(splash->free_solid, splash->solid));
  for (PetscInt d = 0; d < dimension; d++)
    PetscCall(VecCopy(splash->free_face_room[d], splash->face_room[d]));
  splash->row_count = 0;
  for (PetscInt b = 0; b < count; b++) {
    PetscCall(RasterBody(splash, b));
    PetscCall(TakeRoom(splash, b));
    PetscCall(AppendCells(splash, b));
    clear_shares(splash, b);
    PetscCall(MarkBody(splash, b));
  }
  PetscCall(MacGridExchange(splash->grid, splash->room));
  PetscCall(MacGridExchangeFaces(splash->grid, splash->face_room));
  PetscCall(SplashClearBodies(splash));
  PetscFunctionReturn(0);
}

SplashBody *splash_bodies(Splash splash)
{
  return splash->bodies;
}

PetscErrorCode SplashAddBodyFlux(Splash splash, PetscReal dt)
{
  const PetscReal rate = dt / grid_spacing(splash->grid);
  PetscReal      *right_side;

  PetscFunctionBegin;
  PetscCall(VecGetArray(splash->right_side, &right_side));
  for (PetscInt n = 0; n < splash->row_count; n++) {
    const PetscReal *velocity = (const PetscReal *)&splash->bodies[splash->rows[n].body].velocity;

    for (PetscInt t = 0; t < TWIST; t++)
      right_side[splash->cells[n].place] -= rate * splash->rows[n].row[t] * velocity[t];
  }
  PetscCall(VecRestoreArray(splash->right_side, &right_side));
  PetscFunctionReturn(0);
}

static void push(SplashBody *body, Twist impulse)
{
  body->impulse = twist_add(body->impulse, impulse);
  body->velocity.linear =
      vector3_add(body->velocity.linear, vector3_scale(body->inverse_mass, impulse.linear));
  body->velocity.angular =
      vector3_add(body->velocity.angular, matrix3_apply(&body->inverse_inertia, impulse.angular));
}

PetscErrorCode SplashPushBodies(Splash splash, PetscReal dt)
{
  const PetscInt  dimension = grid_box(splash->grid)->dimension;
  const PetscReal unit =
      splash->fluid->density * PetscPowRealInt(grid_spacing(splash->grid), dimension + 1) / dt;
  Twist *sums;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(splash->body_count, &sums));
  PetscCall(BoundedSumOnBodies(splash->bounded, splash->impulse, (PetscReal *)sums));
  for (PetscInt b = 0; b < splash->body_count; b++) {
    splash->bodies[b].impulse = (Twist){{{0.}}, {{0.}}};
    push(&splash->bodies[b], twist_scale(unit, sums[b]));
  }
  PetscCall(PetscFree(sums));
  PetscFunctionReturn(0);
}

void splash_hit_body(Splash splash, PetscInt body, Vector3 point, Vector3 impulse)
{
  const Vector3 turn = vector3_cross(vector3_subtract(point, splash->bodies[body].centre), impulse);

  for (PetscInt d = 0; d < DIM; d++) {
    sum_add(&splash->hits[TWIST * body + d], impulse.at[d]);
    sum_add(&splash->hits[TWIST * body + DIM + d], turn.at[d]);
  }
}

PetscErrorCode SplashSumHits(Splash splash)
{
  Twist *sums;

  PetscFunctionBegin;
  if (!splash->body_count)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(splash->body_count, &sums));
  PetscCall(SumOverRanks(grid_box(splash->grid)->comm, TWIST * splash->body_count, splash->hits,
                         (PetscReal *)sums));
  for (PetscInt b = 0; b < splash->body_count; b++)
    push(&splash->bodies[b], sums[b]);
  PetscCall(PetscArrayzero(splash->hits, TWIST * splash->body_count));
  PetscCall(PetscFree(sums));
  PetscFunctionReturn(0);
}
